/* What the operating system knows of a file beside its bytes: locks, on which node this process runs, and whether other
 * nodes can access the file. */
#ifndef PNC_HOST_HOST_H
#define PNC_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hold.h"

/* Types of file systems, statfs(2). */
#define PNC_HOST_TMPFS 0x01021994
#define PNC_HOST_RAMFS 0x858458F6
#define PNC_HOST_NFS 0x6969

/* Hold the file of a descriptor until it is closed, or the process ends: the kernel releases it then, also after a
 * kill. Never waits. The lock is of the open file, not of the process: other descriptors neither have it nor lose it.
 * It is of one byte beyond any data: locks of data do not meet it. */
pnc_held pnc_host_file_hold(int fd, pnc_hold hold);

/* The same for a file that has a burst buffer, by a lock of its own: each process that has values in a log shares it,
 * and a replay of the logs holds it exclusively. */
pnc_held pnc_host_logs_hold(int fd, pnc_hold hold);
/* Whether one kernel makes all accesses to the file of a descriptor, so that its locks are those of all programs. */
bool pnc_host_file_is_local(int fd);
/* Whether the file at this path is on NFS. */
bool pnc_host_path_is_nfs(const char *path);

/* A path with a suffix: that of the file, if the path is a symbolic link. Freed by pnc_memory_free; NULL: no memory. */
char *pnc_host_path_extend(const char *path, const char *suffix);
/* When the file at this path was made, in nanoseconds; 0: the system does not know. */
int64_t pnc_host_file_get_birth(const char *path);
/* When the file of a descriptor was last changed, as the file system counts that, in nanoseconds; 0: that is not known.
 * Programs cannot set it, unlike the time of modification. */
int64_t pnc_host_file_get_change(int fd);
int64_t pnc_host_path_get_change(const char *path);

/* What was written to a descriptor survives the death of the node. A signal does not end it. Returns errno or 0. Of the
 * second one, what does not matter for reading, such as times, may be lost. */
int pnc_host_file_sync(int fd);
int pnc_host_file_sync_data(int fd);
/* The entry of the file at this path in its folder survives the death of the node, where the file system has a call for
 * that. Returns errno or 0. */
int pnc_host_file_sync_entry(const char *path);

/* Whether all accesses to files of this type are made by one kernel, so that its locks are those of all programs. False
 * if the type is not known. */
bool pnc_host_type_is_local(uint32_t type);

/* The node, since it was started; zeros: unknown. Processes with the same one share a kernel, and so its locks. */
void pnc_host_node_get(int64_t node[2]);

/* Whether this process can open so many more files. */
bool pnc_host_has_descriptors(int n);

/* A number, not negative, that no other call on any node returns. */
int64_t pnc_host_id_create(void);

#endif

/* How the file system distributes an open file: from the file system, or else from hints. */
#include "drivers/mpiio/mpiio.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/memory.h"
#include "host/host.h"

/* Types of file systems (statfs(2), and the headers of the file systems). */
#define LUSTRE 0x0BD00BD0
#define GPFS 0x47504653
#define BEEGFS 0x19830326
#define CEPH 0x00C36400
#define PANFS 0xAAD7AAEA
#define PVFS2 0x20030528

/* Users can read the first attribute, the superuser also the second. */
static const char *const layout_names[] = {"lustre.lov", "trusted.lov"};
#define LAYOUT_NAMES 2

/* Read an attribute until `parse` takes its bytes, which may be none. */
static bool read_layout(const char *path, bool (*parse)(const unsigned char *bytes, size_t n, void *out), void *out)
{
    bool found = false;

    for (int i = 0; i < LAYOUT_NAMES && !found; i++) {
        ssize_t size = getxattr(path, layout_names[i], NULL, 0);
        unsigned char *bytes = size > 0 ? pnc_memory_alloc(size, 1) : NULL;

        size = bytes != NULL ? getxattr(path, layout_names[i], bytes, (size_t)size) : -1;
        found = parse(bytes, size > 0 ? (size_t)size : 0, out);
        pnc_memory_free(bytes);
    }
    return found;
}

static bool parse_of_file(const unsigned char *bytes, size_t n, void *out)
{
    return pnc_mpiio_lustre_parse(bytes, n, out);
}

static bool parse_of_folder(const unsigned char *bytes, size_t n, void *out)
{
    return pnc_mpiio_lustre_parse_default(bytes, n, out);
}

void pnc_mpiio_striping_find_default(const char *folder, pnc_striping_default *out)
{
    (void)read_layout(folder, parse_of_folder, out);
}

bool pnc_mpiio_striping_is_on_lustre(const char *path)
{
    char folder[PNC_MPIIO_PATH_BYTES];
    struct statfs system;

    pnc_mpiio_path_find_folder(path, folder);
    return statfs(folder, &system) == 0 && (uint32_t)system.f_type == LUSTRE;
}

static bool read_block_size(const char *path, pnc_striping *out)
{
    struct stat facts;

    if (stat(path, &facts) != 0 || facts.st_blksize <= 0)
        return false;
    out->unit = facts.st_blksize;
    return true;
}

/* GPFS and BeeGFS report the size of their blocks and chunks as the preferred size of accesses. That of NFS and of
 * local file systems is about caches; below FUSE there may be any file system. */
bool pnc_mpiio_striping_find(const char *path, pnc_striping *out)
{
    const char *local = pnc_path_strip(path);
    struct statfs system;

    if (statfs(local, &system) != 0)
        return false;
    out->is_local = pnc_host_type_is_local((uint32_t)system.f_type);
    switch ((uint32_t)system.f_type) {
    case LUSTRE: out->on_servers = true; return read_layout(local, parse_of_file, out);
    case GPFS:
    case BEEGFS: out->on_servers = true; return read_block_size(local, out);
    case CEPH:
    case PANFS:
    case PVFS2:
    case PNC_HOST_NFS: out->on_servers = true; return false;
    case PNC_HOST_TMPFS:
    case PNC_HOST_RAMFS: out->in_memory = true; return false;
    default: return false;
    }
}

int64_t pnc_mpiio_striping_get_hint(MPI_Info info, const char *key)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    long long number = 0;

    if (info != MPI_INFO_NULL && MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found)
        number = strtoll(value, NULL, 10);
    return number > 0 ? number : 0;
}

void pnc_mpiio_striping_derive(MPI_Info hints, pnc_striping *out)
{
    out->unit = pnc_mpiio_striping_get_hint(hints, "striping_unit");
    out->factor = pnc_mpiio_striping_get_hint(hints, "striping_factor");
    out->on_servers = out->on_servers || out->unit > 0;
}

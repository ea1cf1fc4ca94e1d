/* The extents that a delegate accesses by one collective call of the driver, and memory for their bytes, both bounded.
 * The extents are ascending and disjoint; adjacent ones are merged. */
#ifndef PNC_IO_ACCESS_LIST_H
#define PNC_IO_ACCESS_LIST_H

#include "convert/convert.h"
#include "file/file.h"

typedef struct pnc_access_list {
    pnc_extent *extents;
    int64_t n, max_extents;
    char *bytes; /* those of the extents, one after the other */
    int64_t nbytes, max_bytes;
} pnc_access_list;

/* An extent of a list, and the position of its bytes. */
typedef struct pnc_list_cursor {
    int64_t extent, position;
} pnc_list_cursor;

/* NC_ENOMEM. After a failure, too, the list must be freed. */
int pnc_io_access_list_init(pnc_access_list *list, pnc_file *file, int64_t max_bytes);
void pnc_io_access_list_free(pnc_access_list *list);

static inline bool pnc_io_access_list_has_space(const pnc_access_list *list)
{
    return list->n < list->max_extents && list->nbytes < list->max_bytes;
}

/* The file offset after the last extent; 0 if there is none. */
static inline int64_t pnc_io_access_list_get_end(const pnc_access_list *list)
{
    return list->n > 0 ? list->extents[list->n - 1].offset + list->extents[list->n - 1].length : 0;
}

/* Append a piece, or as much of it as there is space for. It begins at or after the beginning of the last piece;
 * without space, before the end of the list. Returns the length of what the list now contains. */
int64_t pnc_io_access_list_append(pnc_access_list *list, pnc_extent piece);
/* Cut the list at a file offset. Returns the number of extents below it. */
int64_t pnc_io_access_list_find_end(pnc_access_list *list, int64_t limit);
/* Remove the first n extents. */
void pnc_io_access_list_remove(pnc_access_list *list, int64_t n);
/* Copy the bytes of n pieces, which the list contains: for a put from `bytes` to the list, for a get in reverse. Pieces
 * ascend by their first bytes; the cursor is at or before the first one. Where pieces of puts overlap, the last one
 * wins. */
void pnc_io_access_list_copy(const pnc_access_list *list, pnc_direction direction, pnc_list_cursor *cursor,
                             const pnc_extent *pieces, int64_t n, char *bytes);

#endif

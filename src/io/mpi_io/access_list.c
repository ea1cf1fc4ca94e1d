/* The extents of a collective call of the driver. */
#include "io/mpi_io/access_list.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define MAX_EXTENTS (64 << 10) /* bounds the file view, too: MPI libraries need several times this memory */

int pnc_io_access_list_init(pnc_access_list *list, pnc_file *file, int64_t max_bytes)
{
    *list = (pnc_access_list){.max_extents = MAX_EXTENTS, .max_bytes = max_bytes};
    list->extents = pnc_memory_alloc(MAX_EXTENTS + 1, sizeof *list->extents); /* one more where the list is cut */
    list->bytes = pnc_memory_alloc(max_bytes, 1);
    if (list->extents != NULL && list->bytes != NULL)
        return NC_NOERR;
    return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a collective buffer of %lld bytes", file->path,
                         (long long)max_bytes);
}

void pnc_io_access_list_free(pnc_access_list *list)
{
    pnc_memory_free(list->extents);
    pnc_memory_free(list->bytes);
    *list = (pnc_access_list){0};
}

int64_t pnc_io_access_list_append(pnc_access_list *list, pnc_extent piece)
{
    int64_t end = pnc_io_access_list_get_end(list), space = list->max_bytes - list->nbytes, more;

    assert(piece.length > 0 && (pnc_io_access_list_has_space(list) || piece.offset < end));
    assert(list->n == 0 || piece.offset >= list->extents[list->n - 1].offset);
    if (list->n == 0 || piece.offset > end) {
        list->extents[list->n++] = (pnc_extent){piece.offset, 0};
        end = piece.offset;
    }
    more = piece.offset + piece.length - end;
    if (more <= 0)
        return piece.length;
    if (more > space) {
        piece.length -= more - space;
        more = space;
    }
    list->extents[list->n - 1].length += more;
    list->nbytes += more;
    return piece.length;
}

int64_t pnc_io_access_list_find_end(pnc_access_list *list, int64_t limit)
{
    pnc_extent *extent = list->extents;
    int64_t n = 0, below;

    while (n < list->n && extent[n].offset + extent[n].length <= limit)
        n++;
    if (n == list->n || extent[n].offset >= limit)
        return n;
    below = limit - extent[n].offset;
    memmove(extent + n + 1, extent + n, (size_t)(list->n - n) * sizeof *extent);
    list->n++;
    extent[n].length = below;
    extent[n + 1].offset += below;
    extent[n + 1].length -= below;
    return n + 1;
}

void pnc_io_access_list_remove(pnc_access_list *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        list->nbytes -= list->extents[i].length;
    list->n -= n;
    memmove(list->extents, list->extents + n, (size_t)list->n * sizeof *list->extents);
}

void pnc_io_access_list_copy(const pnc_access_list *list, pnc_direction direction, pnc_list_cursor *cursor,
                             const pnc_extent *pieces, int64_t n, char *bytes)
{
    for (int64_t i = 0; i < n; i++) {
        const pnc_extent *extent = &list->extents[cursor->extent];
        char *at;

        for (; extent->offset + extent->length <= pieces[i].offset; extent++) {
            cursor->position += extent->length;
            cursor->extent++;
        }
        assert(cursor->extent < list->n && pieces[i].offset >= extent->offset);
        assert(pieces[i].offset + pieces[i].length <= extent->offset + extent->length);
        at = list->bytes + cursor->position + (pieces[i].offset - extent->offset);
        memcpy(direction == PNC_PUT ? at : bytes, direction == PNC_PUT ? bytes : at, (size_t)pieces[i].length);
        bytes += pieces[i].length;
    }
}

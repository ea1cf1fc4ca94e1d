/* A rank's requests as one sequence of pieces in the order of the file, however they were posted.
 *
 * The requests are not expanded. A list of single requests, each one extent, is taken as it is (singles.h). Of other
 * requests that are posted in the order of the file, only the current source is in memory; other lists are sorted by
 * source, stretch by stretch, and the sources that touch the same range of the file are merged. */
#ifndef PNC_IO_FILE_ORDER_H
#define PNC_IO_FILE_ORDER_H

#include "io/order/singles.h"
#include "io/order/sorted_sources.h"

#define PNC_END_OF_ORDER INT64_MAX

typedef struct pnc_file_order {
    pnc_io_context *io;
    const pnc_request_list *list;
    int64_t low, high;           /* range of the file that the requests touch; low == high: nothing */
    pnc_singles singles;         /* of a list that consists of them; else: */
    pnc_source_finder finder;    /* finds the sources, if they are posted in the order of the file */
    pnc_source_sorter *sorter;   /* else sorts them; NULL: not needed */
    bool is_copy;                /* it is that of another order */
    pnc_source_stretch *stretch; /* of sorted sources; NULL: none is left */
    int64_t at;                  /* the one after the next: of the stretch, or of the singles */
    pnc_source next;             /* the next source that becomes active */
    bool has_next;
    pnc_request *single; /* of it, if the list has singles */
    pnc_target target;
    struct pnc_stream **heap; /* active sources; the one with the lowest offset at the front */
    int64_t nactive, capacity;
    struct pnc_stream *spare; /* one that is not active, to be used again */
    pnc_packer packer;        /* of requests that need no stream */
    const pnc_request *last;  /* the last one of them; NULL: none */
} pnc_file_order;

/* Memory for pieces, and for their bytes in the same order. */
typedef struct pnc_portion {
    pnc_extent *extents;
    char *bytes;
    int64_t max_extents, max_bytes;
    int64_t nextents, nbytes;
} pnc_portion;

/* What happens to the values of the pieces: nothing, memory to bytes, or bytes to memory. */
typedef enum pnc_value_action { PNC_VALUES_KEEP, PNC_VALUES_PACK, PNC_VALUES_UNPACK } pnc_value_action;

/* The list must outlive the order. After a failure, too, the order must be freed. */
int pnc_io_file_order_init(pnc_file_order *order, pnc_io_context *io, const pnc_request_list *list);
/* The same pieces as those of `from`, of which nothing was taken; `from` must outlive the copy. */
int pnc_io_file_order_init_copy(pnc_file_order *order, const pnc_file_order *from);
void pnc_io_file_order_free(pnc_file_order *order);

/* File offset of the next byte; PNC_END_OF_ORDER at the end. */
int64_t pnc_io_file_order_get_next(const pnc_file_order *order);
/* Take the next pieces below `limit` that fit the portion; a piece is cut at any byte. Pieces of puts are disjoint and
 * ascend, those of gets ascend by their first bytes. A value out of range sets the status of its request. */
int pnc_io_file_order_take(pnc_file_order *order, int64_t limit, pnc_value_action action, pnc_portion *portion);

#endif

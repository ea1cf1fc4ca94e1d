/* Pending nonblocking requests of a dataset. */
#ifndef PNC_IO_QUEUE_H
#define PNC_IO_QUEUE_H

#include "base/arena.h"
#include "io/request.h"

typedef struct pnc_queue_entry {
    int id;
    pnc_request *request; /* NULL once done */
} pnc_queue_entry;

typedef struct pnc_queue {
    pnc_arena arena;          /* of the requests and their numbers */
    pnc_queue_entry *entries; /* in the order of posting: ids ascend */
    int64_t n, capacity, pending;
    int next_id;
    int64_t buffer_size; /* of the attached buffer, -1 without one */
    int64_t buffer_used;
    int64_t kept; /* bytes of iputs that were packed when they were posted */
} pnc_queue;

int pnc_io_queue_init(pnc_dataset *ds);
/* Discard all pending requests; returns the numbers of puts and gets among them. */
void pnc_io_queue_clear(pnc_dataset *ds, int64_t *puts, int64_t *gets);
void pnc_io_queue_free(pnc_dataset *ds);

#endif

/* Pending nonblocking requests. */
#ifndef PNC_IO_QUEUE_H
#define PNC_IO_QUEUE_H

#include "base/arena.h"
#include "io/request/request.h"

/* The requests of so many successive ids; NULL once completed or cancelled. */
#define PNC_QUEUE_BLOCK 512
typedef struct pnc_queue_block {
    int first_id;
    int npending[2]; /* by pnc_direction */
    pnc_request *at[PNC_QUEUE_BLOCK];
} pnc_queue_block;

/* The pending puts or gets. */
typedef struct pnc_queue_kind {
    int64_t n;
    pnc_request_summary summary; /* of those that were posted since there was none */
    bool is_reduced;             /* some of them are not pending any more */
} pnc_queue_kind;

typedef struct pnc_queue {
    pnc_arena arena;          /* of the requests and their numbers, and of blocks; of lists of a wait call */
    pnc_queue_block **blocks; /* by id. Those without pending requests are freed when there are `most` */
    int64_t nblocks, capacity, most;
    int64_t recent; /* the block in which an id was found last */
    int64_t pending;
    pnc_queue_kind kinds[2]; /* by pnc_direction */
    int next_id;             /* ids are in the order of posting */
    int64_t buffer_size;     /* of the attached buffer, -1 without one */
    int64_t buffer_used;
    int64_t kept; /* bytes of iputs that were packed when they were posted */
} pnc_queue;

int pnc_io_queue_create(pnc_queue **out); /* NC_ENOMEM */
/* Discards pending requests. queue may be NULL. */
void pnc_io_queue_free(pnc_queue *queue);
/* Discard all pending requests; *puts and *gets are their numbers. */
void pnc_io_queue_clear(pnc_queue *queue, int64_t *puts, int64_t *gets);

/* Ensure capacity for one more request: NC_EINTOVERFLOW NC_ENOMEM */
int pnc_io_queue_reserve(pnc_queue *queue, pnc_error *error);
/* Add a request, which is in the arena, and set its id. The caller has reserved its place. */
void pnc_io_queue_add(pnc_queue *queue, pnc_request *request);
/* The pending request with an id, or NULL. */
pnc_request *pnc_io_queue_find(pnc_queue *queue, int id);
/* Take a pending request from the queue; it is not freed. */
void pnc_io_queue_remove(pnc_queue *queue, pnc_request *request);
/* Take the pending requests of a kind, in the order of posting. */
void pnc_io_queue_kind_remove(pnc_queue *queue, pnc_request_list *list);
/* A request that was taken is pending again; none was posted meanwhile. */
void pnc_io_queue_return(pnc_queue *queue, pnc_request *request);
/* Free a request that is completed, cancelled, or was never added. */
void pnc_io_queue_release(pnc_io_context *io, pnc_request *request);
/* Release all requests at once: none is pending, and none has memory outside the arena. */
void pnc_io_queue_all_release(pnc_queue *queue);

/* iput, iget and bput: check the arguments, add a request to the queue, and set *call->reqid, if it is not NULL, to its
 * id. A request without elements completes at once, without an id. NC_ERANGE of a put is returned here, though its
 * request is pending. */
int pnc_io_call_post(pnc_io_context *io, const pnc_call *call);

/* The attached buffer: an upper bound on the bytes of pending buffered puts. */
int pnc_io_buffer_check(const pnc_io_context *io); /* NC_ENULLABUF without an attached buffer */
int pnc_io_buffer_attach(pnc_io_context *io, int64_t size);
int pnc_io_buffer_release(pnc_io_context *io);

#endif

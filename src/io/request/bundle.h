/* The requests of one blocking call, with the memory that they need. */
#ifndef PNC_IO_BUNDLE_H
#define PNC_IO_BUNDLE_H

#include "io/request/request.h"

#define PNC_NUMBERS_INLINE 48

typedef struct pnc_bundle {
    pnc_request_list list;
    pnc_request single, *single_at; /* of a call with one request */
    pnc_selection selection;        /* likewise, of one hyperslab */
    pnc_request *many, **many_at;   /* of mput and mget */
    int64_t few_numbers[PNC_NUMBERS_INLINE], *many_numbers;
} pnc_bundle;

/* Make requests of the arguments. After an error the list is empty: in a collective call the rank still takes part.
 * Free the bundle in any case; it must not be moved. */
int pnc_io_bundle_init_call(pnc_bundle *bundle, pnc_io_context *io, const pnc_call *call);
int pnc_io_bundle_init_multi(pnc_bundle *bundle, pnc_io_context *io, const pnc_multi *multi);
int pnc_io_bundle_init_vard(pnc_bundle *bundle, pnc_io_context *io, const pnc_vard *vard);
void pnc_io_bundle_free(pnc_bundle *bundle);

#endif

/* Values between hyperslabs, chunks and packed boxes: run by run. */
#include "drivers/chunks/values.h"

#include <string.h>

static void copy_packed(void *own, int64_t first, int64_t n, void *to)
{
    const pnc_packed_values *packed = own;

    memcpy(to, packed->bytes + first * packed->size, (size_t)(n * packed->size));
}

static const void *look_at_packed(void *own, int64_t first)
{
    const pnc_packed_values *packed = own;

    return packed->bytes + first * packed->size;
}

pnc_chunk_values pnc_chunks_packed_get_values(pnc_packed_values *packed)
{
    return (pnc_chunk_values){.own = packed, .pack = copy_packed, .look = look_at_packed};
}

void pnc_chunks_values_scatter(const pnc_box *box, const pnc_chunk_values *values, int size, unsigned char *chunk)
{
    pnc_box_run run = pnc_array_run_begin(box);

    do
        values->pack(values->own, run.value, box->run, chunk + run.at * size);
    while (pnc_array_run_next(box, &run));
}

void pnc_chunks_values_pack(const pnc_box *box, const pnc_chunk_values *values, int size, char *to)
{
    pnc_box_run run = pnc_array_run_begin(box);

    do {
        values->pack(values->own, run.value, box->run, to);
        to += box->run * size;
    } while (pnc_array_run_next(box, &run));
}

void pnc_chunks_values_gather(const pnc_box *box, int size, const unsigned char *chunk, char *to)
{
    pnc_box_run run = pnc_array_run_begin(box);

    do {
        memcpy(to, chunk + run.at * size, (size_t)(box->run * size));
        to += box->run * size;
    } while (pnc_array_run_next(box, &run));
}

/* Heads of packed boxes. */
#include "drivers/chunks/packing.h"

#include <string.h>

int64_t pnc_chunks_head_pack(const pnc_box *box, char *to)
{
    const pnc_packed_box head = {(uint32_t)box->at, (uint32_t)box->run, (uint32_t)box->naxes};

    memcpy(to, &head, sizeof head);
    to += PNC_BOX_HEAD;
    for (int i = 0; i < box->naxes; i++, to += sizeof(pnc_packed_axis)) {
        const pnc_packed_axis axis = {(uint32_t)box->axes[i].count, (uint32_t)box->axes[i].in_chunk};

        memcpy(to, &axis, sizeof axis);
    }
    return pnc_chunks_head_count(box->naxes);
}

int64_t pnc_chunks_head_unpack(const char *from, int64_t chunk, pnc_box *box)
{
    pnc_packed_box head;

    memcpy(&head, from, sizeof head);
    from += PNC_BOX_HEAD;
    box->chunk = chunk;
    box->at = head.at;
    box->value = 0;
    box->run = box->n = head.run;
    box->naxes = 0;
    for (uint32_t i = 0; i < head.naxes; i++, from += sizeof(pnc_packed_axis)) {
        pnc_packed_axis axis;

        memcpy(&axis, from, sizeof axis);
        pnc_array_axis_add(box, axis.count, axis.in_chunk, box->n);
    }
    return pnc_chunks_head_count(head.naxes);
}

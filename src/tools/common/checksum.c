#include "tools/common/checksum.h"

#include <string.h>

#include "base/memory.h"
#include "tools/common/blocks.h"
#include "tools/common/message.h"

int tool_checksum_check(void)
{
    if (pnc_digest_has_xxh3())
        return NC_NOERR;
    tool_error_print("--checksum: this program was built without xxHash (Debian: libxxhash-dev)");
    return NC_ENOTBUILT;
}

/* --- a variable of a file, from begin to end --- */

typedef struct summing {
    int type;
    int64_t size;         /* of a value */
    char *values, *bytes; /* of the block in progress, and for its digest */
    int64_t n;            /* values in it */
    unsigned char *digests;
    int64_t nblocks, capacity;
} summing;

static int finish_block(summing *s)
{
    if (!pnc_memory_grow(&s->digests, &s->capacity, s->nblocks + 1, PNC_XXH3_BYTES))
        return NC_ENOMEM;
    pnc_convert_checksum_compute(s->type, s->values, s->n, s->bytes, s->digests + s->nblocks * PNC_XXH3_BYTES);
    s->nblocks++;
    s->n = 0;
    return NC_NOERR;
}

static int add_values(summing *s, const char *values, int64_t n)
{
    const int64_t most = PNC_CHECKSUM_BLOCK / s->size;

    for (int64_t now; n > 0; n -= now, values += now * s->size) {
        now = n < most - s->n ? n : most - s->n;
        memcpy(s->values + s->n * s->size, values, (size_t)(now * s->size));
        s->n += now;
        if (s->n == most)
            PNC_TRY(finish_block(s));
    }
    return NC_NOERR;
}

static int add_var(const tool_file *file, const pnc_var *var, summing *s, tool_blocks *blocks, char *read)
{
    int err = NC_NOERR;

    while (err == NC_NOERR && tool_blocks_next(blocks)) {
        PNC_TRY(tool_file_read_block(file, var, blocks->start, blocks->count, true, read));
        err = add_values(s, read, blocks->length);
    }
    if (err == NC_NOERR && s->n > 0)
        err = finish_block(s);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory for a checksum", file->path);
    return err;
}

int tool_checksum_compute(const tool_file *file, const pnc_var *var, char text[PNC_CHECKSUM_TEXT])
{
    summing s = {.type = var->type, .size = (int64_t)pnc_type_get_size(var->type)};
    int64_t *shape = pnc_memory_alloc(var->ndims, sizeof *shape);
    char *read = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, s.size);
    tool_blocks blocks = {0};
    int err = NC_ENOMEM;

    s.values = pnc_memory_alloc(PNC_CHECKSUM_BLOCK, 1);
    s.bytes = pnc_memory_alloc(PNC_CHECKSUM_BLOCK, 1);
    if (shape != NULL && read != NULL && s.values != NULL && s.bytes != NULL) {
        tool_file_get_shape(file, var, shape);
        err = tool_blocks_init(var->ndims, shape, &blocks);
    }
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory for a checksum", file->path);
    else
        err = add_var(file, var, &s, &blocks, read);
    if (err == NC_NOERR)
        pnc_convert_checksum_format(s.digests, s.nblocks, text);
    tool_blocks_free(&blocks);
    pnc_memory_free(s.digests);
    pnc_memory_free(s.bytes);
    pnc_memory_free(s.values);
    pnc_memory_free(read);
    pnc_memory_free(shape);
    return err;
}

/* Random hyperslabs of small variables, as requests and as a naive model: the place in the file of each byte. */
#ifndef SLABS_H
#define SLABS_H

#include <stdlib.h>

#include "format/layout.h"
#include "format/mapping.h"
#include "io/request/request.h"
#include "../harness.h"

enum { SLAB_VARIABLES = 5, SLAB_FIXED = 2 /* the first ones; the others are record variables */ };

/* Lengths of the dimensions. A variable has x columns, and y rows or records. */
typedef struct slab_lengths {
    int64_t y, x, records;
} slab_lengths;

/* What a request reads or writes: a hyperslab of a variable. */
typedef struct slab {
    int varid;
    MPI_Offset start[2], count[2], stride[2];
    char *values;
    int64_t numbers[6];
} slab;

static inline int64_t random_in(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

static inline void slabs_make_model(slab_lengths l, pnc_model *model)
{
    static const int types[SLAB_VARIABLES] = {NC_SHORT, NC_DOUBLE, NC_BYTE, NC_INT, NC_DOUBLE};
    static const char *const names[SLAB_VARIABLES] = {"a", "b", "c", "d", "e"};
    const pnc_layout_hints defaults = {0, 0, 0, 0};
    pnc_error error = {0};
    enum { TIME, Y, X };

    t_local(pnc_format_model_init(model, 2, &error) == NC_NOERR, "model");
    pnc_format_dim_add(model, "time", NC_UNLIMITED, &error);
    pnc_format_dim_add(model, "y", l.y, &error);
    pnc_format_dim_add(model, "x", l.x, &error);
    for (int v = 0; v < SLAB_VARIABLES; v++) {
        const int dims[2] = {v < SLAB_FIXED ? Y : TIME, X};

        t_local(pnc_format_var_add(model, names[v], types[v], 2, dims, &error) == NC_NOERR, "variable");
    }
    model->numrecs = l.records;
    t_local(pnc_format_layout_compute(model, NULL, &defaults, &error) == NC_NOERR, "layout");
}

static inline int64_t slab_get_size(const slab *s, const pnc_model *model)
{
    return (int64_t)pnc_type_get_size(model->vars[s->varid]->type);
}

/* A hyperslab that may be empty; its values are not set. */
static inline void slab_draw(slab_lengths l, slab *s)
{
    s->varid = (int)random_in(0, SLAB_VARIABLES - 1);
    for (int i = 0; i < 2; i++) {
        int64_t rows = s->varid < SLAB_FIXED ? l.y : l.records, length = i == 0 ? rows : l.x;

        s->stride[i] = random_in(1, 3);
        s->start[i] = random_in(0, length - 1);
        s->count[i] = random_in(0, (length - 1 - s->start[i]) / s->stride[i] + 1);
    }
}

static inline void slab_make_request(slab *s, pnc_op op, pnc_io_context *io, pnc_request *out)
{
    pnc_call call = {.op = op, .shape = PNC_VARS, .buf = s->values, .varid = s->varid};

    call.start = s->start;
    call.count = s->count;
    call.stride = s->stride[0] == 1 && s->stride[1] == 1 ? NULL : s->stride;
    call.mem = pnc_type_get_mem_type(io->model->vars[s->varid]->type);
    t_local(pnc_io_request_init(io, &call, s->numbers, NULL, out) == NC_NOERR, "request: %s", io->file->error->text);
}

static inline pnc_request_list slabs_make_list(pnc_direction direction, pnc_request **requests, int n)
{
    pnc_request_list list = {.direction = direction, .at = requests};

    for (int i = 0; i < n; i++)
        pnc_io_request_list_add(&list, requests[i]);
    return list;
}

static inline int64_t slab_find_offset(const slab *s, const pnc_model *model, slab_lengths l, int64_t i, int64_t k)
{
    int64_t size = slab_get_size(s, model), row = s->start[0] + i * s->stride[0];
    int64_t distance = s->varid < SLAB_FIXED ? l.x * size : model->classic.recsize;

    return model->vars[s->varid]->classic.begin + row * distance + (s->start[1] + k * s->stride[1]) * size;
}

/* Each byte of each of n hyperslabs, in their order: bytes in memory are those of the file in reverse order. */
static inline void slabs_for_each_byte(slab *slabs, int n, const pnc_model *model, slab_lengths l,
                                       void (*access)(int64_t offset, char *value))
{
    for (slab *s = slabs; s < slabs + n; s++) {
        int64_t size = slab_get_size(s, model), at = 0;

        for (int64_t i = 0; i < s->count[0]; i++)
            for (int64_t k = 0; k < s->count[1]; k++, at += size)
                for (int64_t b = 0; b < size; b++)
                    access(slab_find_offset(s, model, l, i, k) + b, &s->values[at + size - 1 - b]);
    }
}

#endif

/* Flattened datatypes against MPI_Pack: random nested MPI datatypes must visit the bytes that MPI_Pack copies from a
 * buffer of random bytes, in the same order. Also the codes for datatypes that cannot be used. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/request/call.h"
#include "mpitype/flatten.h"
#include "../harness.h"

#define CASES 3000
#define LARGEST (256 * 1024) /* bytes that a random type may span */

static uint64_t state;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static bool packs_backwards; /* what MPI_Pack makes of blocks that are -1 byte apart can be trusted */
static bool packs_structs;   /* and of structs with blocks that overlap */

/* Open MPI 4.1 packs blocks that are -1 byte apart as if they were 1 byte apart. */
static void try_backwards(void)
{
    const char digits[3] = {'0', '1', '2'};
    char packed[3];
    MPI_Datatype back;
    int at = 0;

    MPI_Type_vector(3, 1, -1, MPI_SIGNED_CHAR, &back);
    MPI_Type_commit(&back);
    MPI_Pack(digits + 2, 1, back, packed, sizeof packed, &at, MPI_COMM_SELF);
    MPI_Type_free(&back);
    packs_backwards = memcmp(packed, "210", 3) == 0;
    if (!packs_backwards && t_rank == 0)
        t_skip("blocks that are -1 byte apart: this MPI library packs them wrongly");
}

/* MPICH 4.0 on 32-bit processors packs 24 to 63 of this struct in place of 24 to 31, 24 to 47 and 56 to 63. It also
 * packs some darrays wrongly, and an assertion of MPI_Type_commit can end the program for a type without elements. */
static void try_structs(void)
{
    char base[64], packed[40];
    const int lengths[3] = {1, 3, 1};
    const MPI_Aint bytes[3] = {24, 24, 56};
    const MPI_Datatype olds[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
    MPI_Datatype type;
    int at = 0;

    for (int i = 0; i < 64; i++)
        base[i] = (char)i;
    MPI_Type_create_struct(3, lengths, bytes, olds, &type);
    MPI_Type_commit(&type);
    MPI_Pack(base, 1, type, packed, sizeof packed, &at, MPI_COMM_SELF);
    MPI_Type_free(&type);
    packs_structs = memcmp(packed, base + 24, 8) == 0 && memcmp(packed + 8, base + 24, 24) == 0 &&
                    memcmp(packed + 32, base + 56, 8) == 0;
    if (!packs_structs && t_rank == 0)
        t_skip("structs, darrays and blocks without elements: this MPI library packs them wrongly");
}

/* Arguments of a random constructor. */
typedef struct arguments {
    MPI_Datatype old, olds[4];
    MPI_Aint low, extent;
    int n, equal, order, nprocs, rank, ndims;
    MPI_Count stride, hstride, new_low, new_extent;
    int lengths[4], places[4], size[3], sub[3], start[3], dist[3], darg[3], procs[3];
    MPI_Aint bytes[4];
} arguments;

static void draw_places(arguments *a)
{
    for (int i = 0, at = 0; i < a->n; i++) {
        a->lengths[i] = packs_structs ? below(4) : 1 + below(3);
        at += below(5);
        a->places[i] = below(5) == 0 ? -at : at;
        a->bytes[i] = a->places[i] * a->extent + 8 * below(3);
        at += a->lengths[i];
    }
}

static void draw_grid(arguments *a)
{
    a->ndims = 1 + a->n % 3;
    a->nprocs = 1;
    for (int i = 0; i < a->ndims; i++) {
        a->size[i] = 1 + below(6);
        a->sub[i] = 1 + below(a->size[i]);
        a->start[i] = below(a->size[i] - a->sub[i] + 1);
        a->dist[i] = MPI_DISTRIBUTE_NONE;
        if (below(3) != 0)
            a->dist[i] = below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        a->procs[i] = a->dist[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        a->darg[i] = a->dist[i] == MPI_DISTRIBUTE_CYCLIC && below(2) ? 1 + below(3) : MPI_DISTRIBUTE_DFLT_DARG;
        a->nprocs *= a->procs[i];
    }
    a->rank = below(a->nprocs);
}

static void draw(arguments *a, MPI_Datatype old)
{
    a->old = old;
    for (int i = 0; i < 4; i++)
        a->olds[i] = old;
    MPI_Type_get_extent(old, &a->low, &a->extent);
    a->n = 1 + below(4);
    a->equal = 1 + below(3);
    a->order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    a->stride = below(9) - 4;
    a->hstride = (below(9) - 4) * a->extent + 8;
    if (!packs_backwards) {
        a->stride = a->stride * a->extent == -1 ? -2 : a->stride;
        a->hstride = a->hstride == -1 ? -2 : a->hstride;
    }
    a->new_low = a->low - 8 * below(2);
    a->new_extent = a->extent + 8 * below(3);
    draw_places(a);
    draw_grid(a);
}

/* Open MPI 4.1 makes no darray of a type without elements: a copy of that type takes its place. */
static void create_darray(const arguments *a, MPI_Datatype *type)
{
    int bytes, code;

    MPI_Type_size(a->old, &bytes);
    if (bytes == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Type_create_darray(a->nprocs, a->rank, a->ndims, a->size, a->dist, a->darg, a->procs, a->order, a->old,
                                  type);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (code != MPI_SUCCESS)
        MPI_Type_dup(a->old, type);
}

static void create(int kind, const arguments *a, MPI_Datatype *type)
{
    switch (kind) {
    case 0: MPI_Type_contiguous(a->n, a->old, type); break;
    case 1: MPI_Type_vector(a->n, a->equal, (int)a->stride, a->old, type); break;
    case 2: MPI_Type_create_hvector(a->n, a->equal, (MPI_Aint)a->hstride, a->old, type); break;
    case 3: MPI_Type_indexed(a->n, a->lengths, a->places, a->old, type); break;
    case 4: MPI_Type_create_hindexed(a->n, a->lengths, a->bytes, a->old, type); break;
    case 5: MPI_Type_create_indexed_block(a->n, a->equal, a->places, a->old, type); break;
    case 6: MPI_Type_create_hindexed_block(a->n, a->equal, a->bytes, a->old, type); break;
    case 7: MPI_Type_create_struct(a->n, a->lengths, a->bytes, a->olds, type); break;
    case 8: MPI_Type_create_resized(a->old, (MPI_Aint)a->new_low, (MPI_Aint)a->new_extent, type); break;
    case 9: create_darray(a, type); break;
    case 10: MPI_Type_create_subarray(a->ndims, a->size, a->sub, a->start, a->order, a->old, type); break;
    default: MPI_Type_dup(a->old, type); break;
    }
}

#if MPI_VERSION >= 4
/* The same with counts of type MPI_Count, as mpi4py makes all its types. */
static void create_large(int kind, const arguments *a, MPI_Datatype *type)
{
    MPI_Count lengths[4], places[4], bytes[4], size[3], sub[3], start[3];

    for (int i = 0; i < a->n; i++) {
        lengths[i] = a->lengths[i];
        places[i] = a->places[i];
        bytes[i] = a->bytes[i];
    }
    for (int i = 0; i < a->ndims; i++) {
        size[i] = a->size[i];
        sub[i] = a->sub[i];
        start[i] = a->start[i];
    }
    switch (kind) {
    case 0: MPI_Type_contiguous_c(a->n, a->old, type); break;
    case 1: MPI_Type_vector_c(a->n, a->equal, a->stride, a->old, type); break;
    case 2: MPI_Type_create_hvector_c(a->n, a->equal, a->hstride, a->old, type); break;
    case 3: MPI_Type_indexed_c(a->n, lengths, places, a->old, type); break;
    case 4: MPI_Type_create_hindexed_c(a->n, lengths, bytes, a->old, type); break;
    case 5: MPI_Type_create_indexed_block_c(a->n, a->equal, places, a->old, type); break;
    case 6: MPI_Type_create_hindexed_block_c(a->n, a->equal, bytes, a->old, type); break;
    case 7: MPI_Type_create_struct_c(a->n, lengths, bytes, a->olds, type); break;
    case 8: MPI_Type_create_resized_c(a->old, a->new_low, a->new_extent, type); break;
    case 9:
        MPI_Type_create_darray_c(a->nprocs, a->rank, a->ndims, size, a->dist, a->darg, a->procs, a->order, a->old,
                                 type);
        break;
    case 10: MPI_Type_create_subarray_c(a->ndims, size, sub, start, a->order, a->old, type); break;
    default: MPI_Type_dup(a->old, type); break;
    }
}
#endif

static int draw_constructor(void)
{
    enum { STRUCT = 7, DARRAY = 9 };
    int kind = below(12);

    while (!packs_structs && (kind == STRUCT || kind == DARRAY))
        kind = below(12);
    return kind;
}

/* One constructor on top of `old`, which has a positive extent. */
static MPI_Datatype wrap(MPI_Datatype old)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    arguments a;

    draw(&a, old);
#if MPI_VERSION >= 4
    if (below(2)) {
        create_large(draw_constructor(), &a, &type);
        return type;
    }
#endif
    create(draw_constructor(), &a, &type);
    return type;
}

static MPI_Datatype random_type(MPI_Datatype element, char *story, size_t room)
{
    MPI_Datatype type = element, next;
    int levels = 1 + below(4);

    snprintf(story, room, "state %llx, %d levels", (unsigned long long)state, levels);
    for (int i = 0; i < levels; i++) {
        next = wrap(type);
        if (type != element)
            MPI_Type_free(&type);
        type = next;
    }
    MPI_Type_commit(&type);
    return type;
}

/* What the map visits, side by side. False if it visits more than `bytes`. */
static bool gather(const pnc_flat_type *map, const char *base, char *out, int64_t bytes, int size)
{
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int64_t done = 0;

    if (pnc_select_run_cursor_init(&cursor, map) != NC_NOERR)
        return false;
    while (pnc_select_run_cursor_next(&cursor, 1 + below(50), &run))
        for (int64_t i = 0; i < run.count && done < bytes; i++, done += size)
            memcpy(out + done, base + run.offset + i * run.stride, (size_t)size);
    pnc_select_run_cursor_free(&cursor);
    return done == bytes;
}

/* Compare one type; false where the map differs from MPI. */
static bool compare(MPI_Datatype type, MPI_Datatype element, pnc_mem_type expected, int instances)
{
    MPI_Aint low, extent, true_low, true_extent;
    int size, element_size, at = 0;
    pnc_flat_type *map = NULL;
    pnc_mem_type mem;
    pnc_error error = {0};

    MPI_Type_size(type, &size);
    MPI_Type_size(element, &element_size);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    int64_t reach = (int64_t)instances * (llabs((long long)extent) + llabs((long long)true_low) + true_extent) + 64;
    int64_t bytes = (int64_t)instances * size;
    if (reach > LARGEST || bytes > LARGEST)
        return true;
    char *buffer = malloc((size_t)(2 * reach)), *base = buffer + reach, *packed = malloc((size_t)bytes + 1);
    char *gathered = calloc(1, (size_t)bytes + 1);
    for (int64_t i = 0; i < 2 * reach; i++)
        buffer[i] = (char)below(256);
    MPI_Pack(base, instances, type, packed, (int)bytes, &at, MPI_COMM_SELF);
    int err =
        pnc_mpitype_buffer_flatten((pnc_mpi_buffer){instances, type}, NC_INT, bytes / element_size, &map, &mem, &error);
    bool same = t_local(err == NC_NOERR, "pnc_mpitype_buffer_flatten: %d %s", err, error.text) &&
                t_local(bytes == 0 || mem == expected, "memory type %d, not %d", (int)mem, (int)expected) &&
                t_local(pnc_select_flat_count_elements(map) == bytes / element_size, "%lld elements, not %lld",
                        (long long)pnc_select_flat_count_elements(map), (long long)(bytes / element_size)) &&
                t_local(gather(map, base, gathered, bytes, element_size), "the map visits too few") &&
                t_local(memcmp(packed, gathered, (size_t)bytes) == 0, "the map visits other bytes than MPI_Pack");
    pnc_select_flat_free(map);
    free(buffer);
    free(packed);
    free(gathered);
    return same;
}

static void test_random(MPI_Datatype element, pnc_mem_type expected, const char *name)
{
    char story[80];
    bool same = true;

    for (int i = 0; i < CASES && same; i++) {
        MPI_Datatype type = random_type(element, story, sizeof story);

        same = t_local(compare(type, element, expected, below(4)), "case %d: %s", i, story);
        MPI_Type_free(&type);
    }
    t_check(same, "maps of %d random types of %s are what MPI_Pack picks", CASES, name);
}

static int code_of(MPI_Offset bufcount, MPI_Datatype type, int xtype, int64_t elements, pnc_mem_type *mem)
{
    pnc_flat_type *map = NULL;
    int err = pnc_mpitype_buffer_flatten((pnc_mpi_buffer){bufcount, type}, xtype, elements, &map, mem, NULL);

    pnc_select_flat_free(map);
    return err;
}

static void test_mixed(void)
{
    MPI_Datatype mixed, named, twice, types[2] = {MPI_INT, MPI_FLOAT}, same[2] = {MPI_INT, MPI_INT32_T};
    MPI_Aint places[2] = {0, 8};
    int one[2] = {1, 1}, only[2] = {1, 0};
    pnc_mem_type mem;

    MPI_Type_create_struct(2, one, places, types, &mixed);
    t_check(code_of(2, mixed, NC_INT, 4, &mem) == NC_EMULTITYPES, "int and float in one type: NC_EMULTITYPES");
    MPI_Type_contiguous(2, mixed, &twice);
    t_check(code_of(1, twice, NC_INT, 4, &mem) == NC_EMULTITYPES, "the same one level deeper");
    MPI_Type_free(&twice);
    MPI_Type_free(&mixed);
    MPI_Type_create_struct(2, only, places, types, &mixed);
    t_check(code_of(2, mixed, NC_INT, 2, &mem) == NC_NOERR && mem == PNC_INT, "a block of no floats does not count");
    MPI_Type_free(&mixed);
    MPI_Type_create_struct(2, one, places, same, &mixed);
    t_check(code_of(2, mixed, NC_INT, 4, &mem) == NC_NOERR && mem == PNC_INT, "MPI_INT and MPI_INT32_T are one type");
    MPI_Type_free(&mixed);
    MPI_Type_contiguous(2, MPI_C_DOUBLE_COMPLEX, &named);
    t_check(code_of(1, named, NC_DOUBLE, 2, &mem) == NC_EUNSPTETYPE, "complex numbers: NC_EUNSPTETYPE");
    MPI_Type_free(&named);
    t_check(code_of(1, MPI_2INT, NC_INT, 2, &mem) == NC_EUNSPTETYPE, "MPI_2INT: NC_EUNSPTETYPE");
}

static void test_counts(void)
{
    MPI_Datatype every_other, empty;
    pnc_mem_type mem;

    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    t_check(code_of(3, every_other, NC_INT, 4, &mem) == NC_EIOMISMATCH, "6 values for 4: NC_EIOMISMATCH");
    t_check(code_of(4, MPI_INT, NC_INT, 0, &mem) == NC_EIOMISMATCH, "4 values for none: NC_EIOMISMATCH");
    t_check(code_of(-2, MPI_INT, NC_INT, 4, &mem) == NC_ENEGATIVECNT, "bufcount -2: NC_ENEGATIVECNT");
    t_check(code_of(0, every_other, NC_INT, 0, &mem) == NC_NOERR, "nothing for nothing");
    t_check(code_of(0, MPI_2INT, NC_INT, 0, &mem) == NC_NOERR && mem == PNC_INT, "nothing of any type for nothing");
    t_check(code_of(1, MPI_2INT, NC_INT, 0, &mem) == NC_EUNSPTETYPE, "MPI_2INT for nothing: NC_EUNSPTETYPE");
    t_check(code_of(7, empty, NC_INT, 0, &mem) == NC_NOERR, "7 empty types for nothing");
    t_check(code_of(7, empty, NC_INT, 1, &mem) == NC_EIOMISMATCH, "7 empty types for a value: NC_EIOMISMATCH");
    t_check(code_of(-1, every_other, NC_INT, 4, &mem) == NC_EBADTYPE,
            "NC_COUNT_IGNORE with a derived type: NC_EBADTYPE");
    t_check(code_of(-1, MPI_SHORT, NC_INT, 4, &mem) == NC_NOERR && mem == PNC_SHORT, "NC_COUNT_IGNORE with MPI_SHORT");
    t_check(code_of(-9, MPI_DATATYPE_NULL, NC_FLOAT, 4, &mem) == NC_NOERR && mem == PNC_FLOAT,
            "MPI_DATATYPE_NULL is the variable's type");
    t_check(code_of(4, MPI_BYTE, NC_BYTE, 4, &mem) == NC_NOERR && mem == PNC_SCHAR, "MPI_BYTE for a byte variable");
    t_check(code_of(16, MPI_BYTE, NC_INT, 16, &mem) == NC_EBADTYPE, "MPI_BYTE for an int variable: NC_EBADTYPE");
    MPI_Type_free(&every_other);
    MPI_Type_free(&empty);
}

/* What is found without flattening is what flattening finds. */
static void test_predefined(void)
{
    const MPI_Datatype types[] = {MPI_CHAR,           MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE,
                                  MPI_SHORT,          MPI_INT,         MPI_LONG,          MPI_LONG_LONG,
                                  MPI_UNSIGNED_SHORT, MPI_UNSIGNED,    MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                                  MPI_FLOAT,          MPI_DOUBLE,      MPI_LONG_DOUBLE,   MPI_C_DOUBLE_COMPLEX,
                                  MPI_INT8_T,         MPI_UINT8_T,     MPI_INT64_T,       MPI_UINT64_T,
                                  MPI_AINT,           MPI_OFFSET,      MPI_WCHAR,         MPI_C_BOOL,
                                  MPI_2INT,           MPI_DOUBLE_INT,  MPI_DATATYPE_NULL};
    MPI_Datatype copy;
    pnc_mem_type mem;
    int n = sizeof types / sizeof types[0], found = 0, same = 0;

    for (int i = 0; i < n; i++) {
        pnc_mem_type first = pnc_mpitype_buffer_find_type((pnc_mpi_buffer){6, types[i]}, 6);
        int err = code_of(6, types[i], NC_INT, 6, &mem);

        found += first != PNC_MEM_TYPE_COUNT;
        same += first == PNC_MEM_TYPE_COUNT || (err == NC_NOERR && first == mem);
    }
    t_check(same == n && found >= 17, "%d of %d predefined types are found as they are flattened", found, n);
    MPI_Type_dup(MPI_INT, &copy);
    t_check(pnc_mpitype_buffer_find_type((pnc_mpi_buffer){6, copy}, 6) == PNC_MEM_TYPE_COUNT &&
                pnc_mpitype_buffer_find_type((pnc_mpi_buffer){6, MPI_INT}, 5) == PNC_MEM_TYPE_COUNT &&
                pnc_mpitype_buffer_find_type((pnc_mpi_buffer){-1, MPI_INT}, 6) == PNC_MEM_TYPE_COUNT &&
                pnc_mpitype_buffer_find_type((pnc_mpi_buffer){0, MPI_INT}, 0) == PNC_MEM_TYPE_COUNT,
            "copies of types, other counts, and nothing are flattened");
    MPI_Type_free(&copy);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    state = 12345 + (uint64_t)t_rank;
    try_backwards();
    try_structs();
    test_random(MPI_INT, PNC_INT, "MPI_INT");
    test_random(MPI_DOUBLE, PNC_DOUBLE, "MPI_DOUBLE");
    test_random(MPI_SIGNED_CHAR, PNC_SCHAR, "MPI_SIGNED_CHAR");
    test_mixed();
    test_counts();
    test_predefined();
    return t_finish();
}

/* Maps of random nested MPI datatypes, held against MPI_Pack: what the map visits, in its order, must be the bytes that
 * MPI picks from a buffer of random bytes. Also the codes for datatypes that cannot be a buffer of values. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/call.h"
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

static void create_hvector(int n, int length, MPI_Aint bytes, MPI_Datatype old, MPI_Datatype *type)
{
    MPI_Type_create_hvector(n, length, bytes == -1 && !packs_backwards ? -2 : bytes, old, type);
}

static void create_vector(int n, int length, int stride, MPI_Aint extent, MPI_Datatype old, MPI_Datatype *type)
{
    MPI_Type_vector(n, length, stride * extent == -1 && !packs_backwards ? -2 : stride, old, type);
}

/* Open MPI 4.1 makes no darray of a type without elements: a copy of that type takes its place. */
static void create_darray(int nprocs, int rank, int ndims, const int *size, const int *dist, const int *darg,
                          const int *procs, int order, MPI_Datatype old, MPI_Datatype *type)
{
    int bytes, code;

    MPI_Type_size(old, &bytes);
    if (bytes == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Type_create_darray(nprocs, rank, ndims, size, dist, darg, procs, order, old, type);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (code != MPI_SUCCESS)
        MPI_Type_dup(old, type);
}

/* One constructor on top of `old`, which has a positive extent. */
static MPI_Datatype wrap(MPI_Datatype old)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, olds[4] = {old, old, old, old};
    MPI_Aint low, extent, bytes[4];
    int lengths[4], places[4], n = 1 + below(4), kind = below(12), size[3], sub[3], start[3], dist[3], darg[3], procs[3];
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, nprocs = 1;

    MPI_Type_get_extent(old, &low, &extent);
    for (int i = 0, at = 0; i < n; i++) {
        lengths[i] = below(4);
        at += below(5);
        places[i] = below(5) == 0 ? -at : at;
        bytes[i] = places[i] * extent + 8 * below(3);
        at += lengths[i];
    }
    for (int i = 0; i < 3; i++) {
        size[i] = 1 + below(6);
        sub[i] = 1 + below(size[i]);
        start[i] = below(size[i] - sub[i] + 1);
        dist[i] = below(3) == 0 ? MPI_DISTRIBUTE_NONE : below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        procs[i] = dist[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        darg[i] = dist[i] == MPI_DISTRIBUTE_CYCLIC && below(2) ? 1 + below(3) : MPI_DISTRIBUTE_DFLT_DARG;
        nprocs *= procs[i];
    }
    if (kind == 10) { /* all dimensions of a darray count */
        nprocs = 1;
        for (int i = 0; i < 1 + n % 3; i++)
            nprocs *= procs[i];
    }
    switch (kind) {
    case 0: MPI_Type_contiguous(n, old, &type); break;
    case 1: create_vector(n, 1 + below(3), below(9) - 4, extent, old, &type); break;
    case 2: create_hvector(n, 1 + below(3), (below(9) - 4) * extent + 8, old, &type); break;
    case 3: MPI_Type_indexed(n, lengths, places, old, &type); break;
    case 4: MPI_Type_create_hindexed(n, lengths, bytes, old, &type); break;
    case 5: MPI_Type_create_indexed_block(n, 1 + below(3), places, old, &type); break;
    case 6: MPI_Type_create_hindexed_block(n, 1 + below(3), bytes, old, &type); break;
    case 7: MPI_Type_create_struct(n, lengths, bytes, olds, &type); break;
    case 8: MPI_Type_create_resized(old, low - 8 * below(2), extent + 8 * below(3), &type); break;
    case 9: MPI_Type_dup(old, &type); break;
    case 10: create_darray(nprocs, below(nprocs), 1 + n % 3, size, dist, darg, procs, order, old, &type); break;
    default: MPI_Type_create_subarray(1 + n % 3, size, sub, start, order, old, &type); break;
    }
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
static bool gather(const pnc_memmap *map, const char *base, char *out, int64_t bytes, int size)
{
    pnc_memcursor cursor;
    pnc_memrun run;
    int64_t done = 0;

    if (pnc_memcursor_start(&cursor, map) != NC_NOERR)
        return false;
    while (pnc_memcursor_next(&cursor, 1 + below(50), &run))
        for (int64_t i = 0; i < run.count && done < bytes; i++, done += size)
            memcpy(out + done, base + run.offset + i * run.stride, (size_t)size);
    pnc_memcursor_end(&cursor);
    return done == bytes;
}

/* Compare one type; false where the map differs from MPI. */
static bool compare(MPI_Datatype type, MPI_Datatype element, pnc_mem expected, int instances)
{
    MPI_Aint low, extent, true_low, true_extent;
    int size, element_size, at = 0;
    pnc_memmap *map = NULL;
    pnc_mem mem;
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
    int err = pnc_buftype_map(instances, type, NC_INT, bytes / element_size, &map, &mem, &error);
    bool same = t_local(err == NC_NOERR, "pnc_buftype_map: %d %s", err, error.text) &&
                t_local(bytes == 0 || mem == expected, "memory type %d, not %d", (int)mem, (int)expected) &&
                t_local(pnc_memmap_elements(map) == bytes / element_size, "%lld elements, not %lld",
                        (long long)pnc_memmap_elements(map), (long long)(bytes / element_size)) &&
                t_local(gather(map, base, gathered, bytes, element_size), "the map visits too few") &&
                t_local(memcmp(packed, gathered, (size_t)bytes) == 0, "the map visits other bytes than MPI_Pack");
    pnc_memmap_free(map);
    free(buffer);
    free(packed);
    free(gathered);
    return same;
}

static void test_random(MPI_Datatype element, pnc_mem expected, const char *name)
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

static int code_of(MPI_Offset bufcount, MPI_Datatype type, int xtype, int64_t elements, pnc_mem *mem)
{
    pnc_memmap *map = NULL;
    int err = pnc_buftype_map(bufcount, type, xtype, elements, &map, mem, NULL);

    pnc_memmap_free(map);
    return err;
}

static void test_mixed(void)
{
    MPI_Datatype mixed, named, twice, types[2] = {MPI_INT, MPI_FLOAT}, same[2] = {MPI_INT, MPI_INT32_T};
    MPI_Aint places[2] = {0, 8};
    int one[2] = {1, 1}, only[2] = {1, 0};
    pnc_mem mem;

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
    pnc_mem mem;

    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    t_check(code_of(3, every_other, NC_INT, 4, &mem) == NC_EIOMISMATCH, "6 values for 4: NC_EIOMISMATCH");
    t_check(code_of(4, MPI_INT, NC_INT, 0, &mem) == NC_EIOMISMATCH, "4 values for none: NC_EIOMISMATCH");
    t_check(code_of(-2, MPI_INT, NC_INT, 4, &mem) == NC_EIOMISMATCH, "bufcount -2: NC_EIOMISMATCH");
    t_check(code_of(0, every_other, NC_INT, 0, &mem) == NC_NOERR, "nothing for nothing");
    t_check(code_of(7, empty, NC_INT, 0, &mem) == NC_NOERR, "7 empty types for nothing");
    t_check(code_of(7, empty, NC_INT, 1, &mem) == NC_EIOMISMATCH, "7 empty types for a value: NC_EIOMISMATCH");
    t_check(code_of(-1, every_other, NC_INT, 4, &mem) == NC_EBADTYPE, "NC_COUNT_IGNORE with a derived type: NC_EBADTYPE");
    t_check(code_of(-1, MPI_SHORT, NC_INT, 4, &mem) == NC_NOERR && mem == PNC_SHORT, "NC_COUNT_IGNORE with MPI_SHORT");
    t_check(code_of(-9, MPI_DATATYPE_NULL, NC_FLOAT, 4, &mem) == NC_NOERR && mem == PNC_FLOAT,
            "MPI_DATATYPE_NULL is the variable's type");
    t_check(code_of(4, MPI_BYTE, NC_BYTE, 4, &mem) == NC_NOERR && mem == PNC_SCHAR, "MPI_BYTE for a byte variable");
    t_check(code_of(16, MPI_BYTE, NC_INT, 16, &mem) == NC_EBADTYPE, "MPI_BYTE for an int variable: NC_EBADTYPE");
    MPI_Type_free(&every_other);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    state = 12345 + (uint64_t)t_rank;
    try_backwards();
    test_random(MPI_INT, PNC_INT, "MPI_INT");
    test_random(MPI_DOUBLE, PNC_DOUBLE, "MPI_DOUBLE");
    test_random(MPI_SIGNED_CHAR, PNC_SCHAR, "MPI_SIGNED_CHAR");
    test_mixed();
    test_counts();
    return t_finish();
}

/* Writes a netCDF-4 file by a random sequence of calls on several ranks, for test_netcdf4_write.py, and keeps all
 * values in memory. Every rank draws the same calls; each puts its part of a box.
 *
 * netcdf4_write FILE SEED STEPS [append]: create FILE, or with `append` change it again, after which values that were
 *     there are not known: only variables that this run adds are checked.
 *
 * Rank 0 writes FILE.expected: for each variable its name, type, number of dimensions and lengths as a line of text,
 * and then its bytes in host order. A read that differs, or an unexpected code, is printed as a line "wrong ..". */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum {
    MOST_DIMS = 8,
    MOST_VARS = 40,
    RANK = 3,
    MOST_LENGTH = 13,
    STORED = 16, /* other programs may add a record */
    MOST_VALUES = STORED * STORED * STORED
};

typedef struct dim {
    int id;
    MPI_Offset length; /* current */
    bool unlimited;
} dim;

typedef struct var {
    int id, ndims, dims[RANK];
    nc_type type;
    size_t size;
    MPI_Datatype memory;
    char name[64];
    unsigned char *values; /* STORED along each dimension */
} var;

typedef struct box {
    MPI_Offset start[RANK], count[RANK], stride[RANK];
} box;

static int rank, nprocs, ncid, ndims, nvars, generation;
static dim dims[MOST_DIMS];
static var vars[MOST_VARS];
static uint64_t state;
static const char *path;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return below <= 0 ? 0 : (int)((state >> 33) % (uint64_t)below);
}

static void check(int err, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("wrong: rank %d: %s: %s %s\n", rank, what, ncmpi_strerrno(err), message);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- definitions --- */

static void add_dim(void)
{
    char name[16];
    dim *d = &dims[ndims];

    if (ndims == MOST_DIMS)
        return;
    d->unlimited = ndims == 0 || draw(4) == 0;
    d->length = d->unlimited ? 0 : 1 + draw(MOST_LENGTH);
    snprintf(name, sizeof name, "d%d", ndims);
    check(ncmpi_def_dim(ncid, name, d->unlimited ? NC_UNLIMITED : d->length, &d->id), "def_dim");
    ndims++;
}

static void set_storage(const var *v)
{
    MPI_Offset chunk[RANK];
    bool unlimited = false;

    for (int i = 0; i < v->ndims; i++) {
        const dim *d = &dims[v->dims[i]];

        unlimited = unlimited || d->unlimited;
        chunk[i] = 1 + draw(d->unlimited ? 6 : (int)d->length);
    }
    if (v->ndims == 0)
        return;
    if (draw(3) > 0)
        check(ncmpi_def_var_chunking(ncid, v->id, NC_CHUNKED, chunk), "def_var_chunking");
    switch (draw(5)) {
    case 0: check(ncmpi_def_var_deflate(ncid, v->id, 1, 1, 1 + draw(9)), "def_var_deflate"); break;
    case 1: check(ncmpi_def_var_deflate(ncid, v->id, 0, 1, 1), "def_var_deflate"); break;
    case 2:
        check(ncmpi_def_var_fletcher32(ncid, v->id, NC_FLETCHER32), "def_var_fletcher32");
        check(ncmpi_def_var_deflate(ncid, v->id, 1, 1, 2), "def_var_deflate");
        break;
    default: break;
    }
    if (draw(4) == 0 && v->type != NC_CHAR)
        check(ncmpi_def_var_endian(ncid, v->id, NC_ENDIAN_BIG), "def_var_endian");
}

static void set_fill_values(var *v)
{
    static const struct {
        nc_type type;
        union {
            signed char b;
            char c;
            short s;
            int i;
            float f;
            double d;
            unsigned char ub;
            unsigned short us;
            unsigned u;
            long long ll;
            unsigned long long ull;
        } value;
    } fills[] = {
        {NC_BYTE, {.b = NC_FILL_BYTE}},    {NC_CHAR, {.c = NC_FILL_CHAR}},      {NC_SHORT, {.s = NC_FILL_SHORT}},
        {NC_INT, {.i = NC_FILL_INT}},      {NC_FLOAT, {.f = NC_FILL_FLOAT}},    {NC_DOUBLE, {.d = NC_FILL_DOUBLE}},
        {NC_UBYTE, {.ub = NC_FILL_UBYTE}}, {NC_USHORT, {.us = NC_FILL_USHORT}}, {NC_UINT, {.u = NC_FILL_UINT}},
        {NC_INT64, {.ll = NC_FILL_INT64}}, {NC_UINT64, {.ull = NC_FILL_UINT64}}};
    unsigned char own[8];

    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (fills[i].type == v->type)
            memcpy(own, &fills[i].value, v->size);
    if (draw(3) == 0) {
        for (size_t i = 0; i < v->size; i++)
            own[i] = (unsigned char)(7 * i + 3);
        check(ncmpi_def_var_fill(ncid, v->id, 0, own), "def_var_fill");
    } else {
        check(ncmpi_def_var_fill(ncid, v->id, 0, NULL), "def_var_fill");
    }
    for (int i = 0; i < MOST_VALUES; i++)
        memcpy(v->values + (size_t)i * v->size, own, v->size);
}

static void add_var(void)
{
    static const struct {
        nc_type type;
        size_t size;
        MPI_Datatype memory;
    } types[] = {{NC_BYTE, 1, MPI_SIGNED_CHAR},
                 {NC_CHAR, 1, MPI_CHAR},
                 {NC_SHORT, 2, MPI_SHORT},
                 {NC_INT, 4, MPI_INT},
                 {NC_FLOAT, 4, MPI_FLOAT},
                 {NC_DOUBLE, 8, MPI_DOUBLE},
                 {NC_UBYTE, 1, MPI_UNSIGNED_CHAR},
                 {NC_USHORT, 2, MPI_UNSIGNED_SHORT},
                 {NC_UINT, 4, MPI_UNSIGNED},
                 {NC_INT64, 8, MPI_LONG_LONG},
                 {NC_UINT64, 8, MPI_UNSIGNED_LONG_LONG}};
    var *v = &vars[nvars];
    int dimids[RANK], kind = draw(11);

    if (nvars == MOST_VARS)
        return;
    *v = (var){.ndims = draw(RANK + 1),
               .type = types[kind].type,
               .size = types[kind].size,
               .memory = types[kind].memory,
               .values = malloc(MOST_VALUES * types[kind].size)};
    for (int i = 0; i < v->ndims; i++) {
        v->dims[i] = draw(ndims);
        for (int k = 0; k < i; k++) /* one dimension twice is another test */
            if (v->dims[k] == v->dims[i]) {
                v->dims[i] = (v->dims[i] + 1) % ndims;
                k = -1;
            }
        dimids[i] = dims[v->dims[i]].id;
    }
    if (draw(5) == 0 && v->ndims > 0)
        ncmpi_inq_dimname(ncid, dimids[draw(v->ndims)], v->name); /* a coordinate variable, or not one */
    else
        snprintf(v->name, sizeof v->name, "v%d_%llx", nvars, (unsigned long long)(state >> 48));
    if (ncmpi_inq_varid(ncid, v->name, &v->id) == NC_NOERR)
        snprintf(v->name, sizeof v->name, "w%d_%llx", nvars, (unsigned long long)(state >> 48));
    check(ncmpi_def_var(ncid, v->name, v->type, v->ndims, dimids, &v->id), "def_var");
    set_storage(v);
    set_fill_values(v);
    nvars++;
}

static void change_definitions(void)
{
    char name[32], text[64];

    for (int i = draw(3); i > 0; i--)
        add_dim();
    for (int i = draw(4); i >= 0; i--)
        add_var();
    snprintf(name, sizeof name, "a%d", draw(5));
    snprintf(text, sizeof text, "in generation %d", generation);
    check(ncmpi_put_att_text(ncid, NC_GLOBAL, name, (MPI_Offset)strlen(text), text), "put_att");
    check(ncmpi_put_att_int(ncid, vars[draw(nvars)].id, name, NC_INT, 1, &generation), "put_att");
}

/* --- values --- */

static size_t place_of(const var *v, const MPI_Offset *at)
{
    size_t place = 0;

    for (int i = 0; i < v->ndims; i++)
        place = place * STORED + (size_t)at[i];
    return place * v->size;
}

/* The element at a number within the box. */
static void find_element(const var *v, const box *b, MPI_Offset number, MPI_Offset *at)
{
    for (int i = v->ndims - 1; i >= 0; i--) {
        at[i] = b->start[i] + number % b->count[i] * b->stride[i];
        number /= b->count[i];
    }
}

static MPI_Offset count_elements(const var *v, const box *b)
{
    MPI_Offset n = 1;

    for (int i = 0; i < v->ndims; i++)
        n *= b->count[i];
    return n;
}

/* A box with strides; a put may extend unlimited dimensions. False: there is none. */
static bool draw_box(const var *v, bool is_put, bool strided, box *b)
{
    for (int i = 0; i < v->ndims; i++) {
        const dim *d = &dims[v->dims[i]];
        int most = is_put && d->unlimited ? (int)d->length + 3 : (int)d->length;

        most = most > MOST_LENGTH ? MOST_LENGTH : most;
        if (most == 0)
            return false;
        b->stride[i] = strided ? 1 + draw(3) : 1;
        b->start[i] = draw(most);
        b->count[i] = 1 + draw((most - 1 - (int)b->start[i]) / (int)b->stride[i] + 1);
    }
    return true;
}

/* The part of this rank: a share along one dimension. Whole for a scalar on rank 0. */
static bool take_part(const var *v, const box *whole, int along, box *part)
{
    MPI_Offset first, end;

    *part = *whole;
    if (v->ndims == 0)
        return rank == 0;
    along %= v->ndims;
    first = whole->count[along] * rank / nprocs;
    end = whole->count[along] * (rank + 1) / nprocs;
    part->start[along] += first * whole->stride[along];
    part->count[along] = end - first;
    return end > first;
}

/* Every rank keeps all values of the box; out: those of the part, in its order. */
static void make_values(const var *v, const box *whole, const box *part, bool has_part, unsigned char *out)
{
    MPI_Offset at[RANK], n = count_elements(v, whole);

    generation++;
    for (MPI_Offset i = 0; i < n; i++) {
        find_element(v, whole, i, at);
        for (size_t k = 0; k < v->size; k++) /* floats have no exponent that makes a NaN */
            v->values[place_of(v, at) + k] = (unsigned char)((generation * 31 + (int)i * 7 + (int)k * 5) % 100);
        for (int d = 0; d < v->ndims; d++)
            if (dims[v->dims[d]].unlimited && dims[v->dims[d]].length <= at[d])
                dims[v->dims[d]].length = at[d] + 1;
    }
    for (MPI_Offset i = 0; has_part && i < count_elements(v, part); i++) {
        find_element(v, part, i, at);
        memcpy(out + (size_t)i * v->size, v->values + place_of(v, at), v->size);
    }
}

static void put_box(const var *v, bool collective, bool strided)
{
    unsigned char values[MOST_VALUES * 8];
    box whole, part;
    int along = draw(RANK);
    bool has_part;

    if (!draw_box(v, true, strided, &whole))
        return;
    has_part = take_part(v, &whole, along, &part);
    make_values(v, &whole, &part, has_part, values);
    if (!has_part)
        for (int i = 0; i < v->ndims; i++)
            part.start[i] = part.count[i] = 0;
    if (v->ndims == 0 && !has_part && !collective)
        return;
    if (v->ndims == 0 && !has_part) { /* a scalar has no empty part: the value is that of rank 0 */
        memcpy(values, v->values, v->size);
    }
    if (collective)
        check(ncmpi_put_vars_all(ncid, v->id, part.start, part.count, strided ? part.stride : NULL, values,
                                 has_part || v->ndims == 0 ? count_elements(v, &part) : 0, v->memory),
              "put_vars_all");
    else if (has_part)
        check(ncmpi_put_vars(ncid, v->id, part.start, part.count, strided ? part.stride : NULL, values,
                             count_elements(v, &part), v->memory),
              "put_vars");
}

/* Requests of different variables, completed together. */
static void put_nonblocking(bool buffered)
{
    int n = 1 + draw(4), first = draw(nvars), requests[4], statuses[4], posted = 0;
    unsigned char *memory[4];

    if (buffered)
        check(ncmpi_buffer_attach(ncid, 4 * MOST_VALUES * 8), "buffer_attach");
    for (int k = 0; k < n && k < nvars; k++) {
        const var *v = &vars[(first + k) % nvars];
        box whole, part;
        int along = draw(RANK);

        if (!draw_box(v, true, false, &whole))
            continue;
        memory[posted] = malloc(MOST_VALUES * 8);
        if (!take_part(v, &whole, along, &part)) {
            make_values(v, &whole, &part, false, memory[posted]);
            free(memory[posted]);
            continue;
        }
        make_values(v, &whole, &part, true, memory[posted]);
        check(buffered ? ncmpi_bput_vara(ncid, v->id, part.start, part.count, memory[posted], count_elements(v, &part),
                                         v->memory, &requests[posted])
                       : ncmpi_iput_vara(ncid, v->id, part.start, part.count, memory[posted], count_elements(v, &part),
                                         v->memory, &requests[posted]),
              "iput_vara");
        posted++;
    }
    check(ncmpi_wait_all(ncid, posted, requests, statuses), "wait_all");
    for (int k = 0; k < posted; k++) {
        check(statuses[k], "a request");
        free(memory[k]);
    }
    if (buffered)
        check(ncmpi_buffer_detach(ncid), "buffer_detach");
}

static void get_box(bool collective)
{
    const var *v = &vars[draw(nvars)];
    unsigned char values[MOST_VALUES * 8];
    MPI_Offset at[RANK];
    box b;

    if (!draw_box(v, false, draw(2) == 0, &b))
        return;
    check(collective
              ? ncmpi_get_vars_all(ncid, v->id, b.start, b.count, b.stride, values, count_elements(v, &b), v->memory)
              : ncmpi_get_vars(ncid, v->id, b.start, b.count, b.stride, values, count_elements(v, &b), v->memory),
          "get_vars");
    for (MPI_Offset i = 0; i < count_elements(v, &b); i++) {
        find_element(v, &b, i, at);
        if (memcmp(values + (size_t)i * v->size, v->values + place_of(v, at), v->size) == 0)
            continue;
        printf("wrong: rank %d: %s: element %lld of a box differs (%lld, %lld, %lld), generation %d, %s\n", rank,
               v->name, (long long)i, (long long)(v->ndims > 0 ? at[0] : 0), (long long)(v->ndims > 1 ? at[1] : 0),
               (long long)(v->ndims > 2 ? at[2] : 0), generation, collective ? "collective" : "independent");
        return;
    }
}

static void access_independently(void)
{
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int i = draw(4), first = draw(nvars); i >= 0; i--) /* puts of two ranks to the same values have no order */
        put_box(&vars[(first + i) % nvars], false, draw(3) == 0);
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int i = draw(3); i > 0; i--)
        get_box(false);
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static void reopen(void)
{
    check(ncmpi_close(ncid), "close");
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
}

static void redefine(void)
{
    check(ncmpi_redef(ncid), "redef");
    change_definitions();
    check(ncmpi_enddef(ncid), "enddef");
}

static void take_step(void)
{
    switch (draw(16)) {
    case 0:
    case 1:
    case 2: put_box(&vars[draw(nvars)], true, false); break;
    case 3: put_box(&vars[draw(nvars)], true, true); break;
    case 4:
    case 5:
    case 6: put_nonblocking(false); break;
    case 7: put_nonblocking(true); break;
    case 8: access_independently(); break;
    case 9: check(ncmpi_sync(ncid), "sync"); break;
    case 10: redefine(); break;
    case 11: reopen(); break;
    default: get_box(true); break;
    }
}

/* An index whose variable would have more than 2^62 bytes. */
static void put_too_far(void)
{
    const unsigned char value[8] = {0};

    for (const var *v = vars; v < vars + nvars; v++) {
        MPI_Offset start = (MPI_Offset)(((int64_t)7 << 60) / (int64_t)v->size);
        int err;

        if (v->ndims != 1 || !dims[v->dims[0]].unlimited)
            continue;
        err = ncmpi_put_var1_all(ncid, v->id, &start, value, 1, v->memory);
        if (err != NC_EINVALCOORDS)
            printf("wrong: rank %d: %s: put of element %lld: %s\n", rank, v->name, (long long)start,
                   ncmpi_strerrno(err));
    }
}

/* --- what is expected --- */

static void write_expected(void)
{
    char name[4096];
    FILE *out;

    if (rank != 0)
        return;
    snprintf(name, sizeof name, "%s.expected", path);
    out = fopen(name, "wb");
    if (out == NULL)
        exit(1);
    for (const var *v = vars; v < vars + nvars; v++) {
        box all = {.start = {0}};
        MPI_Offset at[RANK];

        fprintf(out, "%s %d %d", v->name, v->type, v->ndims);
        for (int i = 0; i < v->ndims; i++) {
            all.count[i] = dims[v->dims[i]].length;
            all.stride[i] = 1;
            fprintf(out, " %lld", (long long)all.count[i]);
        }
        fprintf(out, "\n");
        for (MPI_Offset i = 0; i < count_elements(v, &all); i++) {
            find_element(v, &all, i, at);
            fwrite(v->values + place_of(v, at), 1, v->size, out);
        }
    }
    fclose(out);
}

static void know_dims(void)
{
    int n, unlimited[MOST_DIMS], nunlimited;

    check(ncmpi_inq_ndims(ncid, &n), "inq_ndims");
    check(ncmpi_inq_unlimdims(ncid, &nunlimited, NULL), "inq_unlimdims");
    if (nunlimited <= MOST_DIMS)
        check(ncmpi_inq_unlimdims(ncid, NULL, unlimited), "inq_unlimdims");
    for (int i = 0; i < n && ndims < MOST_DIMS; i++) {
        dim *d = &dims[ndims++];

        d->id = i;
        check(ncmpi_inq_dimlen(ncid, i, &d->length), "inq_dimlen");
        d->unlimited = false;
        for (int k = 0; k < nunlimited; k++)
            d->unlimited = d->unlimited || unlimited[k] == i;
    }
}

int main(int argc, char **argv)
{
    bool appends = argc > 4;
    int steps = argc > 3 ? atoi(argv[3]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc < 4)
        return 2;
    path = argv[1];
    state = (uint64_t)atoll(argv[2]) * 7919 + 17;
    draw(2);
    if (appends) {
        check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
        know_dims();
        check(ncmpi_redef(ncid), "redef");
    } else {
        check(ncmpi_create(MPI_COMM_WORLD, path, NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
        for (int i = 0; i < 4; i++)
            add_dim();
    }
    for (int i = 0; i < 5; i++)
        add_var();
    change_definitions();
    check(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < steps; i++)
        take_step();
    put_too_far();
    check(ncmpi_close(ncid), "close");
    write_expected();
    MPI_Finalize();
    return 0;
}

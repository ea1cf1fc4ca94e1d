/* netcdf_program SCRIPT NAME PAR: make the calls of netCDF that a script lists, a line each, on the file NAME, and
 * print for each its code and what it returned, without what differs between ranks. PAR is 0: on one rank, nc_create
 * and nc_open; 1: on all ranks, nc_create_par and nc_open_par, where a collective put or get has a part of the values
 * on each rank. */
#include <mpi.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);

enum { MOST_DIMS = 8, MOST_WORDS = 64 };

static int rank, nprocs, is_parallel, root = -1, nc = -1; /* nc: the group in use */
static char *words[MOST_WORDS];
static int nwords;

static int number(int i)
{
    return i < nwords ? atoi(words[i]) : 0;
}

static size_t size_of(nc_type type)
{
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char *)};

    return sizes[type];
}

/* Small numbers, that all types have. */
static void set_value(void *values, nc_type type, size_t i, unsigned seed)
{
    unsigned n = (seed * 2654435761u + (unsigned)i * 40503u) >> 7;
    int value = type == NC_CHAR ? 'a' + (int)(n % 26) : (int)(n % 120);

    switch (type) {
    case NC_BYTE: ((signed char *)values)[i] = (signed char)value; break;
    case NC_CHAR: ((char *)values)[i] = (char)value; break;
    case NC_SHORT: ((short *)values)[i] = (short)value; break;
    case NC_INT: ((int *)values)[i] = value; break;
    case NC_FLOAT: ((float *)values)[i] = (float)value; break;
    case NC_DOUBLE: ((double *)values)[i] = value; break;
    case NC_UBYTE: ((unsigned char *)values)[i] = (unsigned char)value; break;
    case NC_USHORT: ((unsigned short *)values)[i] = (unsigned short)value; break;
    case NC_UINT: ((unsigned *)values)[i] = (unsigned)value; break;
    case NC_INT64: ((long long *)values)[i] = value; break;
    default: ((unsigned long long *)values)[i] = (unsigned long long)value; break;
    }
}

/* Of one value and its place: sums do not depend on the order. */
static unsigned long long digest(const void *values, size_t size, size_t i, size_t place)
{
    const unsigned char *bytes = (const unsigned char *)values + i * size;
    unsigned long long h = 1469598103934665603ull + place * 1099511628211ull;

    for (size_t k = 0; k < size; k++)
        h = (h ^ bytes[k]) * 1099511628211ull;
    return h;
}

/* The same on all ranks: the worst code, and the sum of digests. */
static void print_result(const char *what, int err, unsigned long long sum)
{
    if (is_parallel) {
        MPI_Allreduce(MPI_IN_PLACE, &err, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("%s %d %llx\n", what, err, err == NC_NOERR ? sum : 0);
        fflush(stdout);
    }
}

/* --- put and get --- */

typedef struct region {
    size_t start[MOST_DIMS], count[MOST_DIMS], place[MOST_DIMS], whole[MOST_DIMS];
    ptrdiff_t stride[MOST_DIMS], imap[MOST_DIMS];
    size_t n;
} region;

/* Words from `at` on: start, count, stride of each dimension. Of a collective call, this rank has a part of the first
 * dimension, perhaps none. */
static void read_region(region *r, int ndims, int at, int divides)
{
    r->n = 1;
    for (int d = 0; d < ndims; d++) {
        r->start[d] = (size_t)number(at + d);
        r->count[d] = r->whole[d] = (size_t)number(at + ndims + d);
        r->stride[d] = number(at + 2 * ndims + d);
        r->place[d] = 0;
    }
    if (ndims > 0 && divides) {
        size_t low = r->count[0] * (size_t)rank / (size_t)nprocs,
               high = r->count[0] * ((size_t)rank + 1) / (size_t)nprocs;

        r->place[0] = low;
        r->start[0] += low * (size_t)r->stride[0];
        r->count[0] = high - low;
        if (r->count[0] == 0)
            r->start[0] = 0;
    }
    for (int d = ndims - 1; d >= 0; d--) {
        r->imap[d] = (ptrdiff_t)r->n;
        r->n *= r->count[d];
    }
}

/* Where a value of this rank's part is in the whole region. */
static size_t find_place(const region *r, int ndims, size_t i)
{
    size_t place = 0, index[MOST_DIMS];

    for (int d = ndims - 1; d >= 0; d--) {
        index[d] = i % r->count[d] + r->place[d];
        i /= r->count[d];
    }
    for (int d = 0; d < ndims; d++)
        place = place * r->whole[d] + index[d];
    return place;
}

/* In memory the first dimension is the fastest, by imap. */
static size_t find_transposed(region *r, int ndims, size_t i)
{
    size_t at = 0, step = 1;

    for (int d = 0; d < ndims; d++) {
        r->imap[d] = (ptrdiff_t)step;
        step *= r->count[d];
    }
    for (int d = ndims - 1; d >= 0; d--) {
        at += i % r->count[d] * (size_t)r->imap[d];
        i /= r->count[d];
    }
    return at;
}

#define CALL_TYPED(op, name, ctype)                                                               \
    (kind == 0   ? nc_##op##_vara_##name(nc, var, r->start, r->count, (ctype *)values)            \
     : kind == 1 ? nc_##op##_vars_##name(nc, var, r->start, r->count, r->stride, (ctype *)values) \
                 : nc_##op##_varm_##name(nc, var, r->start, r->count, r->stride, r->imap, (ctype *)values))
#define CALL(op)                                                   \
    switch (type) {                                                \
    case NC_BYTE: return CALL_TYPED(op, schar, signed char);       \
    case NC_CHAR: return CALL_TYPED(op, text, char);               \
    case NC_SHORT: return CALL_TYPED(op, short, short);            \
    case NC_INT: return CALL_TYPED(op, int, int);                  \
    case NC_FLOAT: return CALL_TYPED(op, float, float);            \
    case NC_DOUBLE: return CALL_TYPED(op, double, double);         \
    case NC_UBYTE: return CALL_TYPED(op, uchar, unsigned char);    \
    case NC_USHORT: return CALL_TYPED(op, ushort, unsigned short); \
    case NC_UINT: return CALL_TYPED(op, uint, unsigned);           \
    case NC_INT64: return CALL_TYPED(op, longlong, long long);     \
    default: return CALL_TYPED(op, ulonglong, unsigned long long); \
    }

static int call_put(int kind, int var, nc_type type, const region *r, void *values)
{
    CALL(put)
}

static int call_get(int kind, int var, nc_type type, const region *r, void *values)
{
    CALL(get)
}

/* put|get KIND VAR TYPE SEED RANK NDIMS start.. count.. stride..; RANK -1: collective */
static void put_or_get(int is_put)
{
    int kind = number(1), var = number(2), alone = number(5), ndims = number(6), err = NC_NOERR;
    nc_type type = number(3);
    unsigned long long sum = 0;
    region r;
    char *values;

    read_region(&r, ndims, 7, is_parallel && alone < 0);
    values = calloc(r.n + 1, 8);
    for (size_t i = 0; is_put && i < r.n; i++) {
        char one[8];
        size_t at = kind == 2 ? find_transposed(&r, ndims, i) : i;

        set_value(one, type, 0, (unsigned)number(4) + (unsigned)find_place(&r, ndims, i));
        memcpy(values + at * size_of(type), one, size_of(type));
    }
    if (kind == 2 && r.n > 0)
        (void)find_transposed(&r, ndims, 0);
    if (!is_parallel || alone < 0 || rank == alone % nprocs) {
        err = is_put ? call_put(kind, var, type, &r, values) : call_get(kind, var, type, &r, values);
        for (size_t i = 0; !is_put && err == NC_NOERR && i < r.n && (ndims > 0 || alone >= 0 || rank == 0); i++)
            sum +=
                digest(values, size_of(type), kind == 2 ? find_transposed(&r, ndims, i) : i, find_place(&r, ndims, i));
    }
    free(values);
    print_result(is_put ? "put" : "get", err, sum);
}

/* --- attributes --- */

/* att VAR NAME TYPE N MEMORY SEED */
static int put_attribute(void)
{
    char values[8 * 64];
    size_t n = (size_t)number(4);
    nc_type type = number(3);

    for (size_t i = 0; i < n; i++)
        set_value(values, number(5), i, (unsigned)number(6));
    switch (number(5)) {
    case NC_CHAR: return nc_put_att_text(nc, number(1), words[2], n, values);
    case NC_BYTE: return nc_put_att_schar(nc, number(1), words[2], type, n, (signed char *)values);
    case NC_SHORT: return nc_put_att_short(nc, number(1), words[2], type, n, (short *)(void *)values);
    case NC_INT: return nc_put_att_int(nc, number(1), words[2], type, n, (int *)(void *)values);
    case NC_FLOAT: return nc_put_att_float(nc, number(1), words[2], type, n, (float *)(void *)values);
    case NC_DOUBLE: return nc_put_att_double(nc, number(1), words[2], type, n, (double *)(void *)values);
    default: return nc_put_att_longlong(nc, number(1), words[2], type, n, (long long *)(void *)values);
    }
}

/* satt VAR NAME N SEED: strings of different lengths, some empty, some NULL */
static int put_strings(void)
{
    static const char *texts[] = {"", "a", "two words", NULL, "h\xc3\xa9", "and a longer one, for a change"};
    const char *values[64];
    int n = number(3);

    for (int i = 0; i < n; i++) {
        values[i] = texts[(number(4) + i * 7) % 6];
        if (values[i] == NULL && getenv("PNC_TEST_NO_NULL") != NULL)
            values[i] = "";
    }
    return nc_put_att_string(nc, number(1), words[2], (size_t)n, values);
}

static unsigned long long digest_text(const char *text)
{
    unsigned long long h = 7;

    for (; *text != '\0'; text++)
        h = h * 31 + (unsigned char)*text;
    return h;
}

/* Of an attribute, whose strings are freed. */
static unsigned long long digest_strings(char **strings, size_t n)
{
    unsigned long long h = 3;

    for (size_t i = 0; i < n; i++)
        h = h * 131 + (strings[i] != NULL ? digest_text(strings[i]) : 1);
    nc_free_string(n, strings);
    return h;
}

/* --- inquiries: of one rank, as all have the same --- */

static unsigned long long look_at_atts(int var, int natts)
{
    unsigned long long sum = 0;

    for (int i = 0; i < natts; i++) {
        char name[NC_MAX_NAME + 1];
        long long values[128] = {0};
        nc_type type;
        size_t n;
        int err = nc_inq_attname(nc, var, i, name), id = -1;

        if (err == NC_NOERR)
            err = nc_inq_att(nc, var, name, &type, &n);
        if (err == NC_NOERR && n < 100)
            err = nc_get_att(nc, var, name, values);
        if (err == NC_NOERR)
            err = nc_inq_attid(nc, var, name, &id);
        if (rank == 0)
            printf("  att %d %d %s type %d length %zu id %d code %d value %llx\n", var, i, name, type, n, id, err,
                   type == NC_STRING ? digest_strings((char **)(void *)values, n)
                                     : digest(values, n < 100 ? n * size_of(type) : 0, 0, 0));
        else if (err == NC_NOERR && type == NC_STRING)
            nc_free_string(n, (char **)(void *)values);
        sum += (unsigned)err;
    }
    return sum;
}

static void look_at_var(int var)
{
    char name[NC_MAX_NAME + 1];
    int ndims, dimids[NC_MAX_VAR_DIMS], natts, shuffle = -1, deflate = -1, level = -1, fletcher = -1, storage = -1,
                                               no_fill = -1, endian = -1, mode = -1, digits = -1, e[7];
    long long fill = 0;
    nc_type type;

    e[0] = nc_inq_var(nc, var, name, &type, &ndims, dimids, &natts);
    e[1] = nc_inq_var_deflate(nc, var, &shuffle, &deflate, &level);
    e[2] = nc_inq_var_fletcher32(nc, var, &fletcher);
    e[3] = nc_inq_var_chunking(nc, var, &storage, NULL);
    e[4] = nc_inq_var_fill(nc, var, &no_fill, &fill);
    e[5] = nc_inq_var_endian(nc, var, &endian);
    e[6] = nc_inq_var_quantize(nc, var, &mode, &digits);
    if (rank == 0) {
        printf("  var %d %s type %d ndims %d", var, name, type, ndims);
        for (int d = 0; d < ndims; d++)
            printf(" %d", dimids[d]);
        printf(
            " natts %d shuffle %d deflate %d %d fletcher %d storage %d no_fill %d %llx endian %d quantize %d %d codes",
            natts, shuffle, deflate, level, fletcher, storage, no_fill, (unsigned long long)fill, endian, mode, digits);
        for (int i = 0; i < 7; i++)
            printf(" %d", e[i]);
        printf("\n");
    }
    look_at_atts(var, natts);
}

static void look_at_dims(void)
{
    char name[NC_MAX_NAME + 1];
    int n = 0, ids[NC_MAX_DIMS], id;
    size_t length;

    nc_inq_dimids(nc, &n, ids, 1);
    for (int i = 0; i < n; i++) {
        int err = nc_inq_dim(nc, ids[i], name, &length);

        id = -1;
        nc_inq_dimid(nc, name, &id);
        if (rank == 0)
            printf("  dim %d %s %zu code %d id %d\n", ids[i], name, length, err, id);
    }
}

/* Of one group. */
static void look_at_group(void)
{
    int ndims = -1, nvars = -1, natts = -1, unlimited = -1, format = -1, nunlimited = -1, ids[NC_MAX_DIMS],
        extended = -1, mode = -1, err = nc_inq(nc, &ndims, &nvars, &natts, &unlimited);
    char name[NC_MAX_NAME + 1], full[NC_MAX_NAME + 1];
    size_t length = 0;

    nc_inq_format(nc, &format);
    nc_inq_unlimdims(nc, &nunlimited, ids);
    nc_inq_format_extended(nc, &extended, &mode);
    nc_inq_grpname(nc, name);
    nc_inq_grpname_full(nc, &length, full);
    if (rank == 0)
        printf("  group %s %s %zu %d: %d %d %d %d format %d extended %d unlimited %d\n", name, full, length, err, ndims,
               nvars, natts, nunlimited > 1 ? -2 : unlimited, format, extended,
               nunlimited); /* of several, any may be the first */
    look_at_dims();
    for (int i = 0; i < nvars; i++)
        look_at_var(i);
    look_at_atts(NC_GLOBAL, natts);
}

/* The group, and those in it. */
static void look_at_all(void)
{
    int own = nc, n = 0, groups[64], parent = -1, found = -1;
    char name[NC_MAX_NAME + 1];

    look_at_group();
    nc_inq_grps(own, &n, groups);
    for (int i = 0; i < n; i++) {
        nc = groups[i];
        nc_inq_grpname(nc, name);
        if (rank == 0 && (nc_inq_grp_parent(nc, &parent) != NC_NOERR || parent != own ||
                          nc_inq_ncid(own, name, &found) != NC_NOERR || found != nc))
            printf("  the group %s has another parent\n", name);
        look_at_all();
    }
    nc = own;
}

/* --- calls --- */

static int define_var(void)
{
    int dimids[MOST_DIMS], id;

    for (int d = 0; d < number(3); d++)
        dimids[d] = number(4 + d);
    return nc_def_var(nc, words[1], number(2), number(3), dimids, &id);
}

static int define_chunks(void)
{
    size_t lengths[MOST_DIMS];

    for (int d = 0; 3 + d < nwords && d < MOST_DIMS; d++)
        lengths[d] = (size_t)number(3 + d);
    return nc_def_var_chunking(nc, number(1), number(2), nwords > 3 ? lengths : NULL);
}

static int call_definition(const char *what)
{
    int id, old;

    if (strcmp(what, "def_dim") == 0)
        return nc_def_dim(nc, words[1], (size_t)number(2), &id);
    if (strcmp(what, "def_var") == 0)
        return define_var();
    if (strcmp(what, "chunking") == 0)
        return define_chunks();
    if (strcmp(what, "deflate") == 0)
        return nc_def_var_deflate(nc, number(1), number(2), number(3), number(4));
    if (strcmp(what, "fletcher32") == 0)
        return nc_def_var_fletcher32(nc, number(1), number(2));
    if (strcmp(what, "endian") == 0)
        return nc_def_var_endian(nc, number(1), number(2));
    if (strcmp(what, "quantize") == 0)
        return nc_def_var_quantize(nc, number(1), number(2), number(3));
    if (strcmp(what, "fill") == 0)
        return nc_def_var_fill(nc, number(1), number(2), NULL);
    if (strcmp(what, "set_fill") == 0)
        return nc_set_fill(nc, number(1), &old);
    if (strcmp(what, "access") == 0)
        return is_parallel ? nc_var_par_access(nc, number(1), number(2)) : NC_NOERR;
    if (strcmp(what, "rename_var") == 0)
        return nc_rename_var(nc, number(1), words[2]);
    if (strcmp(what, "rename_dim") == 0)
        return nc_rename_dim(nc, number(1), words[2]);
    if (strcmp(what, "rename_att") == 0)
        return nc_rename_att(nc, number(1), words[2], words[3]);
    if (strcmp(what, "del_att") == 0)
        return nc_del_att(nc, number(1), words[2]);
    if (strcmp(what, "satt") == 0)
        return put_strings();
    return strcmp(what, "att") == 0 ? put_attribute() : 1;
}

/* get_att TYPE VAR NAME: only the code */
static int get_attribute(void)
{
    char values[64 * 8];
    char *strings[64];

    if (number(1) == NC_STRING)
        return nc_get_att_string(nc, number(2), words[3], strings);
    return number(1) == NC_CHAR ? nc_get_att_text(nc, number(2), words[3], values)
                                : nc_get_att_double(nc, number(2), words[3], (double *)(void *)values);
}

/* use PATH: of the group for the calls that follow */
static int call_on_group(const char *what)
{
    int id = -1;

    if (strcmp(what, "use") == 0)
        return nc_inq_grp_full_ncid(root, words[1], &nc);
    if (strcmp(what, "def_grp") == 0)
        return nc_def_grp(nc, words[1], &id);
    if (strcmp(what, "varid") == 0)
        return nc_inq_varid(nc, words[1], &id);
    if (strcmp(what, "dimid") == 0)
        return nc_inq_dimid(nc, words[1], &id);
    if (strcmp(what, "ncid") == 0)
        return nc_inq_ncid(nc, words[1], &id);
    return strcmp(what, "get_att") == 0 ? get_attribute() : call_definition(what);
}

static int call_on_file(const char *what, const char *path)
{
    if (strcmp(what, "create") == 0 || strcmp(what, "open") == 0) {
        int creates = what[0] == 'c', err;

        if (is_parallel)
            err = creates ? nc_create_par(path, number(1), MPI_COMM_WORLD, MPI_INFO_NULL, &root)
                          : nc_open_par(path, number(1), MPI_COMM_WORLD, MPI_INFO_NULL, &root);
        else
            err = creates ? nc_create(path, number(1), &root) : nc_open(path, number(1), &root);
        nc = root;
        return err;
    }
    if (strcmp(what, "close") == 0)
        return nc_close(root);
    if (strcmp(what, "enddef") == 0)
        return nc_enddef(nc);
    if (strcmp(what, "redef") == 0)
        return nc_redef(nc);
    if (strcmp(what, "sync") == 0)
        return nc_sync(nc);
    return strcmp(what, "abort") == 0 ? nc_abort(nc) : call_on_group(what);
}

static void execute(const char *path)
{
    if (strcmp(words[0], "put") == 0 || strcmp(words[0], "get") == 0)
        put_or_get(words[0][0] == 'p');
    else if (strcmp(words[0], "look") == 0)
        look_at_all();
    else
        print_result(words[0], call_on_file(words[0], path), rank == 0 && nwords > 1 ? digest_text(words[1]) : 0);
    if (is_parallel)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char line[1024];
    FILE *script;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    script = argc == 4 ? fopen(argv[1], "r") : NULL;
    if (script == NULL) {
        fprintf(stderr, "usage: netcdf_program SCRIPT NAME PAR\n");
        return 2;
    }
    is_parallel = atoi(argv[3]);
    while (fgets(line, sizeof line, script) != NULL) {
        nwords = 0;
        for (char *word = strtok(line, " \n"); word != NULL && nwords < MOST_WORDS; word = strtok(NULL, " \n"))
            words[nwords++] = word;
        if (nwords > 0)
            execute(argv[2]);
    }
    fclose(script);
    MPI_Finalize();
    return 0;
}

/* Calls with right and wrong arguments, each printed with its code and what it returned: test_peer.py compiles this for
 * another libpnetcdf too, and compares. Only calls on which the libraries agree and the other one does not crash.
 *
 *     peer_calls FILE      one line a call, "section| call: code values"; rank 0 prints
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *path, *section;
static int rank, ncid, number, values[16];
static MPI_Offset size;
static char text[NC_MAX_NAME + 1], long_name[NC_MAX_NAME + 2];

static void show(const char *call, int code, const char *more)
{
    if (rank == 0)
        printf("%s| %s: %s%s\n", section, call, ncmpi_strerrno(code), more);
}

/* A call alone, with an int, with an MPI_Offset, or with a name that it sets; set before, to see whether it did. */
#define CALL(call) show(#call, call, "")
#define INT(call)                                     \
    do {                                              \
        int code_ = (number = -77, call);             \
        char more_[40];                               \
        snprintf(more_, sizeof more_, " %d", number); \
        show(#call, code_, more_);                    \
    } while (0)
#define SIZE(call)                                               \
    do {                                                         \
        int code_ = (size = -77, call);                          \
        char more_[40];                                          \
        snprintf(more_, sizeof more_, " %lld", (long long)size); \
        show(#call, code_, more_);                               \
    } while (0)
#define TEXT(call)                                     \
    do {                                               \
        int code_ = (strcpy(text, "untouched"), call); \
        char more_[sizeof text + 1];                   \
        snprintf(more_, sizeof more_, " %s", text);    \
        show(#call, code_, more_);                     \
    } while (0)

enum { TIME, X };    /* dimensions */
enum { V, S, C, R }; /* variables: fixed, scalar, text, with records */
static MPI_Offset at[2] = {0, 0}, far[2] = {9, 9}, two[2] = {2, 2}, four[2] = {1, 4}, none[2] = {0, 0};
static MPI_Offset *const blocks[2] = {at, at};

static void create(int mode)
{
    int dims[2], id;

    ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid);
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[TIME]);
    ncmpi_def_dim(ncid, "x", 4, &dims[X]);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dims[X], &id);
    ncmpi_def_var(ncid, "s", NC_SHORT, 0, NULL, &id);
    ncmpi_def_var(ncid, "c", NC_CHAR, 1, &dims[X], &id);
    ncmpi_def_var(ncid, "r", NC_INT, 2, dims, &id);
    ncmpi_put_att_text(ncid, V, "a", 3, "abc");
}

static void test_modes(void)
{
    section = "modes of create and open";
    for (int bit = 0; bit < 31; bit++) {
        char call[40];
        int code = ncmpi_create(MPI_COMM_WORLD, path, 1 << bit, MPI_INFO_NULL, &ncid);

        snprintf(call, sizeof call, "create 0x%x", 1u << bit);
        show(call, code, "");
        if (code == NC_NOERR)
            ncmpi_close(ncid);
        if (rank == 0)
            unlink(path);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CALL(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA | NC_64BIT_OFFSET, MPI_INFO_NULL, &ncid));
    CALL(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    INT(ncmpi_inq_file_format("no such file", &number));
    INT(ncmpi_inq_file_format("/dev/null", &number));
}

static void test_names(void)
{
    const char *const names[] = {"", "bad/name", " lead", "trail ", "\xff", "tab\tin", long_name, "nosuch", NULL};

    section = "names";
    create(0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        INT(ncmpi_get_att_int(ncid, V, names[i], &number));
        INT(ncmpi_inq_attid(ncid, V, names[i], &number));
        INT(ncmpi_inq_dimid(ncid, names[i], &number));
        INT(ncmpi_inq_varid(ncid, names[i], &number));
        CALL(ncmpi_del_att(ncid, V, names[i]));
        CALL(ncmpi_rename_att(ncid, V, names[i], "b"));
        CALL(ncmpi_copy_att(ncid, V, names[i], ncid, 55));
        CALL(ncmpi_rename_dim(ncid, 55, names[i]));
        CALL(ncmpi_rename_var(ncid, 55, names[i]));
    }
    CALL(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 1, "t"));
    INT(ncmpi_inq_var(ncid, NC_GLOBAL, NULL, NULL, NULL, NULL, &number));
    INT(ncmpi_inq_var(ncid, NC_GLOBAL, NULL, NULL, &number, NULL, NULL));
    TEXT(ncmpi_inq_var(ncid, NC_GLOBAL, text, NULL, NULL, NULL, NULL));
    TEXT(ncmpi_inq_attname(ncid, V, 0, text));
    TEXT(ncmpi_inq_attname(ncid, V, 1, text));
    TEXT(ncmpi_inq_dimname(ncid, X, text));
    ncmpi_abort(ncid);
}

static void test_define(void)
{
    section = "define mode";
    create(NC_64BIT_DATA);
    INT(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &number));
    INT(ncmpi_def_dim(ncid, "t", -1, &number));
    INT(ncmpi_def_var(ncid, "w", 99, 1, &(int){X}, &number));
    INT(ncmpi_def_var(ncid, "w", NC_INT, 2, (int[]){X, TIME}, &number));
    INT(ncmpi_def_var(ncid, "w", NC_INT, 1, &(int){7}, &number));
    INT(ncmpi_set_fill(ncid, NC_FILL, &number));
    INT(ncmpi_inq_var_fill(ncid, V, &number, values));
    CALL(ncmpi_def_var_fill(ncid, NC_GLOBAL, 0, NULL));
    CALL(ncmpi_put_att_int(ncid, V, "_FillValue", NC_INT, 2, values));
    CALL(ncmpi_put_att_double(ncid, V, "_FillValue", NC_DOUBLE, 1, &(double){1}));
    CALL(ncmpi_put_att_int(ncid, V, "n", NC_INT, -1, values));
    CALL(ncmpi_put_att_int(ncid, V, "n", NC_BYTE, 1, &(int){1000}));
    INT(ncmpi_get_att_int(ncid, V, "n", &number));
    CALL(ncmpi_sync(ncid));
    CALL(ncmpi_begin_indep_data(ncid));
    CALL(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    CALL(ncmpi_put_var_int_all(ncid, V, values));
    CALL(ncmpi__enddef(ncid, 0, 100, 0, 8));
    for (int i = V; i <= R; i++)
        SIZE(ncmpi_inq_varoffset(ncid, i, &size));
    SIZE(ncmpi_inq_header_size(ncid, &size));
    SIZE(ncmpi_inq_header_extent(ncid, &size));
    SIZE(ncmpi_inq_recsize(ncid, &size));
    INT(ncmpi_get_var1_int_all(ncid, V, &(MPI_Offset){3}, &number));
    CALL(ncmpi_rename_dim(ncid, X, "longer"));
    CALL(ncmpi_rename_dim(ncid, X, "time"));
    CALL(ncmpi_close(ncid));
}

/* In data mode a name that is in use outranks one that is too long. */
static void test_renames(void)
{
    const char *const names[] = {"v", "x", "a", "longer", "longest", "time", "new", "much longer", "bad/name", ""};
    int id;

    section = "renames in data mode";
    create(0);
    ncmpi_def_dim(ncid, "longer", 3, &id);
    ncmpi_def_var(ncid, "longer", NC_INT, 0, NULL, &id);
    for (int varid = NC_GLOBAL; varid <= V; varid++) {
        ncmpi_put_att_text(ncid, varid, "a", 3, "abc");
        ncmpi_put_att_text(ncid, varid, "longer", 3, "abc");
        ncmpi_put_att_text(ncid, varid, "longest", 3, "abc");
    }
    CALL(ncmpi_enddef(ncid));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CALL(ncmpi_rename_dim(ncid, X, names[i]));
        CALL(ncmpi_rename_var(ncid, V, names[i]));
        CALL(ncmpi_rename_att(ncid, V, "longer", names[i]));
        CALL(ncmpi_rename_att(ncid, NC_GLOBAL, "a", names[i]));
        TEXT(ncmpi_inq_dimname(ncid, X, text));
        TEXT(ncmpi_inq_varname(ncid, V, text));
        TEXT(ncmpi_inq_attname(ncid, V, 1, text));
        TEXT(ncmpi_inq_attname(ncid, NC_GLOBAL, 0, text));
    }
    CALL(ncmpi_close(ncid));
}

/* A rank without values may pass any datatype with a bufcount of 0. */
static void test_empty(void)
{
    CALL(ncmpi_put_vara_all(ncid, V, at, none, values, 0, MPI_CHAR));
    CALL(ncmpi_put_vara_all(ncid, C, at, none, values, 0, MPI_INT));
    CALL(ncmpi_get_vara_all(ncid, V, at, none, values, 0, MPI_BYTE));
    CALL(ncmpi_iget_vara(ncid, C, at, none, NULL, 0, MPI_C_BOOL, NULL));
    CALL(ncmpi_iput_varm(ncid, V, at, none, NULL, NULL, values, 0, MPI_PACKED, NULL));
    CALL(ncmpi_iget_varn(ncid, C, 0, NULL, NULL, values, 0, MPI_DOUBLE, NULL));
    CALL(ncmpi_bput_varn_int(ncid, V, 0, NULL, NULL, values, NULL));
    CALL(ncmpi_bput_varn(ncid, V, 0, NULL, NULL, values, 0, MPI_INT, NULL));
    CALL(ncmpi_put_vara_all(ncid, V, at, none, values, 1, MPI_INT));
    CALL(ncmpi_put_vara_all(ncid, V, far, none, values, 0, MPI_CHAR));
}

static void test_access(void)
{
    section = "put and get";
    create(0);
    CALL(ncmpi_enddef(ncid));
    CALL(ncmpi_put_vara_int_all(ncid, 99, at, two, values));
    CALL(ncmpi_put_vara_int_all(ncid, C, far, two, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, NULL, NULL, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, at, NULL, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, far, none, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, &(MPI_Offset){4}, none, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, &(MPI_Offset){4}, &(MPI_Offset){-1}, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, &(MPI_Offset){5}, &(MPI_Offset){-1}, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, at, far, values));
    CALL(ncmpi_put_vara_int_all(ncid, V, at, &(MPI_Offset){-1}, values));
    CALL(ncmpi_put_vars_int_all(ncid, V, at, two, &(MPI_Offset){0}, values));
    CALL(ncmpi_put_varn_int_all(ncid, S, 2, NULL, NULL, values));
    CALL(ncmpi_put_varn_int_all(ncid, V, 1, NULL, NULL, values));
    CALL(ncmpi_put_varn_int_all(ncid, V, 2, blocks, NULL, values));
    CALL(ncmpi_put_vara_int_all(ncid, R, at, four, values));
    CALL(ncmpi_get_vara_int_all(ncid, R, two, four, values));
    CALL(ncmpi_put_var_int(ncid, V, values));
    CALL(ncmpi_put_var_all(ncid, V, values, 3, MPI_INT));
    CALL(ncmpi_put_vara_all(ncid, V, far, two, values, 2, MPI_CHAR)); /* the place outranks the datatype */
    CALL(ncmpi_put_var_all(ncid, V, values, 0, MPI_DATATYPE_NULL));
    CALL(ncmpi_mput_var_int_all(ncid, 2, (int[]){V, C}, (int *const[]){values, values}));
    CALL(ncmpi_fill_var_rec(ncid, V, 0));
    CALL(ncmpi_fill_var_rec(ncid, R, 0));
    CALL(ncmpi_put_vara_all(ncid, V, at, two, values, 0, MPI_INT));
    CALL(ncmpi_get_vara_all(ncid, V, at, two, values, 0, MPI_INT));
    test_empty();
    CALL(ncmpi_begin_indep_data(ncid));
    CALL(ncmpi_put_var_int_all(ncid, V, values));
    CALL(ncmpi_put_vara(ncid, V, at, two, values, 0,
                        MPI_INT)); /* only in independent calls does it mean that there is nothing to do */
    CALL(ncmpi_get_var1(ncid, V, at, values, 0, MPI_INT));
    CALL(ncmpi_end_indep_data(ncid));
    CALL(ncmpi_close(ncid));
}

static void test_requests(void)
{
    section = "requests";
    create(0);
    CALL(ncmpi_bput_var_int(ncid, 99, values, NULL));
    CALL(ncmpi_bput_var_int(ncid, C, values, NULL));
    CALL(ncmpi_bput_vara_int(ncid, V, far, two, values, NULL));
    CALL(ncmpi_iput_vara(ncid, V, at, two, values, 0, MPI_INT, NULL));
    CALL(ncmpi_enddef(ncid));
    CALL(ncmpi_buffer_attach(ncid, 0));
    CALL(ncmpi_buffer_detach(ncid));
    CALL(ncmpi_buffer_attach(ncid, 16));
    CALL(ncmpi_buffer_attach(ncid, 16));
    CALL(ncmpi_bput_var_int(ncid, V, values, NULL));
    SIZE(ncmpi_inq_buffer_usage(ncid, &size));
    CALL(ncmpi_bput_var_int(ncid, V, values, NULL));
    CALL(ncmpi_buffer_detach(ncid));
    INT(ncmpi_inq_nreqs(ncid, &number));
    CALL(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL));
    CALL(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    CALL(ncmpi_buffer_detach(ncid));
    CALL(ncmpi_iput_var_int(ncid, V, values, NULL));
    CALL(ncmpi_redef(ncid));
    CALL(ncmpi_abort(ncid));
    CALL(ncmpi_close(ncid));
}

static void test_read_only(void)
{
    section = "read-only";
    CALL(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    INT(ncmpi_inq_var_fill(ncid, V, &number, values));
    CALL(ncmpi_redef(ncid));
    CALL(ncmpi_enddef(ncid));
    CALL(ncmpi_put_var_int_all(ncid, 99, NULL));
    CALL(ncmpi_iput_var_int(ncid, V, values, NULL));
    CALL(ncmpi_put_att_int(ncid, 99, NULL, 99, -1, NULL));
    CALL(ncmpi_rename_var(ncid, V, "w"));
    CALL(ncmpi_set_fill(ncid, NC_FILL, NULL));
    CALL(ncmpi_sync(ncid));
    CALL(ncmpi_begin_indep_data(ncid));
    CALL(ncmpi_close(ncid));
    CALL(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path = argc > 1 ? argv[1] : "peer_calls.nc";
    memset(long_name, 'n', sizeof long_name - 1);
    test_modes();
    test_names();
    test_define();
    test_renames();
    test_access();
    test_requests();
    test_read_only();
    MPI_Finalize();
    return 0;
}

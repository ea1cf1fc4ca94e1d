/* Attributes: every memory type into every external type and back, order and ids, rename, delete, copy, overwriting in
 * data mode, and all of it again after close and open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"
#include "../naive.h"

static char path[4096], other[4096];

#define PUT(upper, lower) [M_##upper] = put_##lower,
#define GET(upper, lower) [M_##upper] = get_##lower,
#define WRAP(upper, lower)                                                                                        \
    static int put_##lower(int ncid, int varid, const char *name, nc_type type, MPI_Offset n, const void *values) \
    {                                                                                                             \
        return ncmpi_put_att_##lower(ncid, varid, name, type, n, values);                                         \
    }                                                                                                             \
    static int get_##lower(int ncid, int varid, const char *name, void *values)                                   \
    {                                                                                                             \
        return ncmpi_get_att_##lower(ncid, varid, name, values);                                                  \
    }
/* clang-format off */
#define NUMBERS(DO)                                                                                                    \
    DO(SCHAR, schar)                                                                                                   \
    DO(UCHAR, uchar) DO(SHORT, short) DO(USHORT, ushort) DO(INT, int) DO(UINT, uint) DO(LONG, long) DO(FLOAT, float)   \
        DO(DOUBLE, double) DO(LONGLONG, longlong) DO(ULONGLONG, ulonglong)
/* clang-format on */

NUMBERS(WRAP)

static int put(int ncid, int varid, const char *name, nc_type type, MPI_Offset n, enum memory memory,
               const void *buffer)
{
    static int (*const puts_by_memory[MEMORIES])(int, int, const char *, nc_type, MPI_Offset,
                                                 const void *) = {NUMBERS(PUT)};
    if (memory == M_TEXT)
        return ncmpi_put_att_text(ncid, varid, name, n, buffer);
    return puts_by_memory[memory](ncid, varid, name, type, n, buffer);
}

static int get(int ncid, int varid, const char *name, enum memory memory, void *buffer)
{
    static int (*const gets_by_memory[MEMORIES])(int, int, const char *, void *) = {NUMBERS(GET)};
    return gets_by_memory[memory](ncid, varid, name, buffer);
}

enum { LENGTH = 7 };
static const int values[LENGTH] = {0, 1, 2, 42, 99, 120, 127};

static void attribute_name(char name[40], int type, int memory)
{
    snprintf(name, 40, "%s_of_%s", type_names[type], memory_types[memory].name);
}

static void put_all(int ncid, int types)
{
    char name[40], buffer[LENGTH * 8];
    for (int type = 1; type <= types; type++)
        for (enum memory m = M_TEXT; m < MEMORIES; m++) {
            attribute_name(name, type, m);
            for (int i = 0; i < LENGTH; i++)
                naive_store(m, buffer + i * (int)memory_types[m].size, values[i]);
            int code = put(ncid, NC_GLOBAL, name, type, LENGTH, m, buffer);
            int wanted = (type == NC_CHAR) == (m == M_TEXT) || m == M_TEXT ? NC_NOERR : NC_ECHAR;
            t_local(code == wanted, "put %s: %s", name, ncmpi_strerrno(code));
        }
    t_check(true, "put attributes of %d types from every memory type", types);
}

static void get_all(int ncid, int types, const char *when)
{
    char name[40], buffer[LENGTH * 8 + 1];
    for (int type = 1; type <= types; type++)
        for (enum memory from = M_SCHAR; from < MEMORIES && type != NC_CHAR; from++)
            for (enum memory to = M_SCHAR; to < MEMORIES; to++) {
                attribute_name(name, type, from);
                memset(buffer, 0x55, sizeof buffer);
                int code = get(ncid, NC_GLOBAL, name, to, buffer);
                bool ok = code == NC_NOERR && buffer[LENGTH * memory_types[to].size] == 0x55;
                for (int i = 0; i < LENGTH; i++)
                    ok = ok && naive_load(to, buffer + i * (int)memory_types[to].size) == values[i];
                t_local(ok, "get %s as %s: %s", name, memory_types[to].name, ncmpi_strerrno(code));
            }
    t_check(true, "%s: get them as every memory type", when);
}

/* An empty text is read as an empty list of numbers, and the other way round; nothing is written to the buffer. What is
 * put has to be of the right kind all the same. */
static void test_empty(int ncid)
{
    char name[40], buffer[8];
    expect_ok(ncmpi_redef(ncid), "redef");
    for (int type = 1; type <= 11; type++) {
        snprintf(name, sizeof name, "empty_%s", type_names[type]);
        t_local(ncmpi_put_att(ncid, NC_GLOBAL, name, type, 0, NULL) == NC_NOERR, "put_att %s", name);
        for (enum memory m = M_TEXT; m < MEMORIES; m++) {
            memset(buffer, 0x55, sizeof buffer);
            int code =
                m == M_TEXT ? ncmpi_get_att_text(ncid, NC_GLOBAL, name, buffer) : get(ncid, NC_GLOBAL, name, m, buffer);
            t_local(code == NC_NOERR && buffer[0] == 0x55, "get %s as %s: %s", name, memory_types[m].name,
                    ncmpi_strerrno(code));
            code = m == M_TEXT ? ncmpi_get_att_text(ncid, NC_GLOBAL, name, NULL) : get(ncid, NC_GLOBAL, name, m, NULL);
            t_local(code == NC_NOERR, "get %s as %s into NULL: %s", name, memory_types[m].name, ncmpi_strerrno(code));
        }
    }
    t_check(true, "empty attributes of every type are read as every memory type");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "empty", NC_CHAR, 0, NULL), NC_ECHAR, "put no integers as text");
    expect_ok(ncmpi_enddef(ncid), "enddef");
}

static void check_text(int ncid, int varid, const char *name, const char *wanted, const char *when)
{
    char got[200] = "";
    nc_type type = 0;
    MPI_Offset n = -1;
    int code = ncmpi_inq_att(ncid, varid, name, &type, &n);
    t_local(code == NC_NOERR && type == NC_CHAR && n == (MPI_Offset)strlen(wanted),
            "inq_att %s: %s, type %d, length %lld", name, ncmpi_strerrno(code), type, (long long)n);
    if (code == NC_NOERR && n < 200)
        ncmpi_get_att_text(ncid, varid, name, got);
    t_check(strcmp(got, wanted) == 0, "%s: %s is \"%s\"", when, name, wanted);
}

/* Ids follow the order of definition; deletion closes the gap. */
static void test_order(int ncid, int var)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    char name[NC_MAX_NAME + 1];
    int id, n;
    for (int i = 0; i < 4; i++)
        t_local(ncmpi_put_att_text(ncid, var, names[i], 1, names[i]) == NC_NOERR, "put_att_text");
    for (int i = 0; i < 4; i++) {
        t_local(ncmpi_inq_attid(ncid, var, names[i], &id) == NC_NOERR && id == i, "attribute %s has id %d", names[i],
                id);
        t_local(ncmpi_inq_attname(ncid, var, i, name) == NC_NOERR && strcmp(name, names[i]) == 0, "name of id %d: %s",
                i, name);
    }
    t_check(true, "attribute ids follow the order of definition");
    expect_ok(ncmpi_del_att(ncid, var, "b"), "del_att");
    t_check(ncmpi_inq_varnatts(ncid, var, &n) == NC_NOERR && n == 3, "three are left (%d)", n);
    t_check(ncmpi_inq_attid(ncid, var, "c", &id) == NC_NOERR && id == 1, "ids close the gap (%d)", id);
    expect_code(ncmpi_inq_attname(ncid, var, 3, name), NC_ENOTATT, "no attribute 3");
    expect_ok(ncmpi_rename_att(ncid, var, "c", "a_longer_name"), "rename_att");
    t_check(ncmpi_inq_attid(ncid, var, "a_longer_name", &id) == NC_NOERR && id == 1, "it keeps its id (%d)", id);
    expect_ok(ncmpi_put_att_text(ncid, var, "d", 9, "nine char"), "overwrite an attribute by a longer one");
    check_text(ncid, var, "d", "nine char", "in define mode");
}

static void test_data_mode(int ncid, int var)
{
    expect_ok(ncmpi_put_att_text(ncid, var, "d", 4, "four"), "data mode: a shorter value");
    check_text(ncid, var, "d", "four", "in data mode");
    expect_ok(ncmpi_put_att_text(ncid, var, "a", 1, "z"), "data mode: the same length");
    expect_ok(ncmpi_rename_att(ncid, var, "a_longer_name", "shorter"), "data mode: a shorter name");
    expect_code(ncmpi_rename_att(ncid, var, "shorter", "longer_again"), NC_ENOTINDEFINE, "data mode: a longer name");
}

static void test_copy(int ncid, int var)
{
    int out;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, other, NC_CLOBBER, MPI_INFO_NULL, &out), "create another file");
    expect_ok(ncmpi_copy_att(ncid, var, "d", out, NC_GLOBAL), "copy_att to another file");
    check_text(out, NC_GLOBAL, "d", "four", "in the other file");
    expect_ok(ncmpi_copy_att(ncid, NC_GLOBAL, "short_of_int", out, NC_GLOBAL), "copy_att of numbers");
    int code = ncmpi_copy_att(ncid, NC_GLOBAL, "uint64_of_int", out, NC_GLOBAL);
    t_check(code == NC_ESTRICTCDF2, "copy_att of uint64 to CDF-1: %s", ncmpi_strerrno(code));
    expect_ok(ncmpi_close(out), "close it");
}

static void test_after_reopen(void)
{
    int ncid, var, n;
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open again");
    get_all(ncid, 11, "after open");
    t_local(ncmpi_inq_varid(ncid, "v", &var) == NC_NOERR, "inq_varid");
    check_text(ncid, var, "a", "z", "after open");
    check_text(ncid, var, "shorter", "c", "after open");
    check_text(ncid, var, "d", "four", "after open");
    check_text(ncid, NC_GLOBAL, "empty", "", "after open");
    check_text(ncid, NC_GLOBAL, "sp\xc3\xa4t", "Gr\xc3\xbc\xc3\x9f", "after open");
    t_check(ncmpi_inq_varnatts(ncid, var, &n) == NC_NOERR && n == 3, "three attributes (%d)", n);
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    int ncid, var;
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("attributes.nc"));
    snprintf(other, sizeof other, "%s", t_path("attributes_other.nc"));
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    t_local(ncmpi_def_var(ncid, "v", NC_FLOAT, 0, NULL, &var) == NC_NOERR, "def_var");
    put_all(ncid, 11);
    get_all(ncid, 11, "in define mode");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "empty", 0, NULL), "an attribute of length 0");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "spa\xcc\x88t", 6, "Gr\xc3\xbc\xc3\x9f"),
              "a name that is not in normal form");
    check_text(ncid, NC_GLOBAL, "sp\xc3\xa4t", "Gr\xc3\xbc\xc3\x9f", "found under its normal form");
    test_order(ncid, var);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    test_data_mode(ncid, var);
    test_copy(ncid, var);
    test_empty(ncid);
    expect_ok(ncmpi_close(ncid), "close");
    test_after_reopen();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        t_local(unlink(path) == 0 && unlink(other) == 0, "unlink");
    return t_finish();
}

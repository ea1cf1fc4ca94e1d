/* Offsets of variables, through inq_header_size, inq_header_extent and inq_varoffset, against the rules of the
 * interface: header sizes counted by the format specification, alignment by hint, argument of _enddef or default. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

static char path[4096];

static MPI_Offset up(MPI_Offset n, MPI_Offset unit)
{
    return (n + unit - 1) / unit * unit;
}
static MPI_Offset most(MPI_Offset a, MPI_Offset b)
{
    return a > b ? a : b;
}

/* A file of `fixed` variables of 3 ints (fixed0, ...) and `record` variables of 5 shorts a record (record0, ...). */
struct shape {
    int format, fixed, record;
};

/* Header bytes of such a file, by the grammar of the CDF formats. */
static MPI_Offset header_of(struct shape s)
{
    MPI_Offset count = s.format == 5 ? 8 : 4, offset = s.format == 1 ? 4 : 8, list = 4 + count;
    MPI_Offset dim = count + 4 + count;                             /* names of up to 4 letters */
    MPI_Offset var = count + 8 + count + list + 4 + count + offset; /* names of 5 to 8 letters */
    return 4 + count + list + 3 * dim + list + list + s.fixed * (var + count) + s.record * (var + 2 * count);
}

struct places {
    MPI_Offset header, extent, fixed, record;
};

/* What the rules say; before is the layout before redef, or all zero. */
static struct places places_of(struct shape s, MPI_Offset v_align, MPI_Offset r_align, MPI_Offset h_free,
                               MPI_Offset v_free, struct places before)
{
    struct places p = {header_of(s), 0, 0, 0};
    MPI_Offset next = p.header + h_free;
    if (s.fixed > 0) {
        p.fixed = up(most(next, before.fixed), up(v_align > 0 ? v_align : 512, 4));
        next = p.fixed + s.fixed * 12 + v_free;
    }
    if (r_align <= 0)
        r_align = s.fixed > 0 ? 4 : 512;
    p.extent = p.header;
    if (s.record > 0)
        p.extent = p.record = up(most(next, before.record), up(r_align, 4));
    if (s.fixed > 0)
        p.extent = p.fixed;
    return p;
}

static void define(int ncid, struct shape from, struct shape to)
{
    char name[24];
    int dims[3], id;
    if (from.format == 0) {
        t_local(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
        t_local(ncmpi_def_dim(ncid, "x", 3, &dims[1]) == NC_NOERR, "def_dim");
        t_local(ncmpi_def_dim(ncid, "y", 5, &dims[2]) == NC_NOERR, "def_dim");
    }
    for (int i = from.fixed; i < to.fixed; i++) {
        snprintf(name, sizeof name, "fixed%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_INT, 1, (int[]){1}, &id) == NC_NOERR, "def_var");
    }
    for (int i = from.record; i < to.record; i++) {
        snprintf(name, sizeof name, "record%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_SHORT, 2, (int[]){0, 2}, &id) == NC_NOERR, "def_var");
    }
}

static void check_header(int ncid, struct shape s, struct places wanted)
{
    struct places got = {0, 0, 0, 0};
    t_local(ncmpi_inq_header_size(ncid, &got.header) == NC_NOERR, "inq_header_size");
    t_local(ncmpi_inq_header_extent(ncid, &got.extent) == NC_NOERR, "inq_header_extent");
    t_local(got.header == wanted.header, "header size %lld, expected %lld", (long long)got.header,
            (long long)wanted.header);
    t_local(got.extent == wanted.extent || s.fixed + s.record == 0, "header extent %lld, expected %lld",
            (long long)got.extent, (long long)wanted.extent);
}

static void check_places(int ncid, struct shape s, struct places wanted, const char *text)
{
    MPI_Offset offset = 0, record_bytes = s.record == 1 ? 10 : 12, recsize = -1;
    char name[24];
    int id;
    check_header(ncid, s, wanted);
    for (int i = 0; i < s.fixed + s.record; i++) {
        bool fixed = i < s.fixed;
        int k = fixed ? i : i - s.fixed;
        MPI_Offset expected = fixed ? wanted.fixed + 12 * k : wanted.record + 12 * k;
        snprintf(name, sizeof name, "%s%d", fixed ? "fixed" : "record", k);
        t_local(ncmpi_inq_varid(ncid, name, &id) == NC_NOERR && ncmpi_inq_varoffset(ncid, id, &offset) == NC_NOERR,
                "offset");
        t_local(offset == expected, "%s at %lld, expected %lld", name, (long long)offset, (long long)expected);
    }
    t_local(ncmpi_inq_recsize(ncid, &recsize) == NC_NOERR && recsize == record_bytes * s.record,
            "record size %lld, not %lld", (long long)recsize, (long long)(record_bytes * s.record));
    t_check(true, "%s: CDF-%d, %d fixed and %d record variables", text, s.format, s.fixed, s.record);
}

/* In define mode: the layout of the last enddef, when the file had the shape `old`, but the header with the definitions
 * so far. Variables defined since lie nowhere yet. */
static void check_define_mode(int ncid, struct shape old, struct places wanted, MPI_Offset header, const char *text)
{
    MPI_Offset offset = -1, recsize = -1;
    int nvars = 0;
    t_local(ncmpi_inq_nvars(ncid, &nvars) == NC_NOERR, "inq_nvars");
    wanted.header = header;
    check_header(ncid, (struct shape){old.format, 1, 1}, wanted);
    for (int i = 0; i < nvars; i++) {
        MPI_Offset expected = 0;
        if (i < old.fixed)
            expected = wanted.fixed + 12 * i;
        else if (i < old.fixed + old.record)
            expected = wanted.record + 12 * (i - old.fixed);
        t_local(ncmpi_inq_varoffset(ncid, i, &offset) == NC_NOERR, "inq_varoffset");
        t_local(offset == expected, "%s: variable %d at %lld, expected %lld", text, i, (long long)offset,
                (long long)expected);
    }
    t_local(ncmpi_inq_recsize(ncid, &recsize) == NC_NOERR, "inq_recsize");
    t_local(recsize == (old.record == 1 ? 10 : 12) * old.record, "%s: record size %lld", text, (long long)recsize);
    t_check(true, "in define mode, %s: CDF-%d, %d fixed and %d record variables", text, old.format, old.fixed,
            old.record);
}

static int create(struct shape s, const char *v_hint, const char *r_hint)
{
    static const int modes[6] = {0, 0, NC_64BIT_OFFSET, 0, 0, NC_64BIT_DATA};
    MPI_Info info;
    int ncid;
    MPI_Info_create(&info);
    if (v_hint != NULL)
        MPI_Info_set(info, "nc_var_align_size", v_hint);
    if (r_hint != NULL)
        MPI_Info_set(info, "nc_record_align_size", r_hint);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | modes[s.format], info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    define(ncid, (struct shape){0, 0, 0}, s);
    return ncid;
}

static void test_shape(struct shape s)
{
    static const struct places none = {0, 0, 0, 0};
    int ncid = create(s, NULL, NULL);
    struct places first = places_of(s, 0, 0, 0, 0, none), grown;
    struct shape larger = {s.format, s.fixed + 40, s.record};
    check_define_mode(ncid, (struct shape){s.format, 0, 0}, none, header_of(s), "before the first enddef");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    check_places(ncid, s, first, "defaults");
    t_local(ncmpi_redef(ncid) == NC_NOERR && ncmpi_enddef(ncid) == NC_NOERR, "redef");
    check_places(ncid, s, places_of(s, 0, 0, 0, 0, first), "redef without a change moves nothing");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    define(ncid, s, larger);
    grown = places_of(larger, 0, 0, 0, 0, first);
    check_define_mode(ncid, s, first, header_of(larger), "after redef");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    check_places(ncid, larger, grown, "forty variables more move data up");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    check_places(ncid, larger, grown, "after open");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");

    ncid = create(s, NULL, NULL);
    t_local(ncmpi__enddef(ncid, 100, 64, 50, 30) == NC_NOERR, "_enddef");
    check_places(ncid, s, places_of(s, 64, 30, 100, s.fixed > 0 ? 50 : 0, none), "_enddef(100, 64, 50, 30)");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");

    ncid = create(s, "1000", "6");
    t_local(ncmpi__enddef(ncid, 0, 64, 0, 128) == NC_NOERR, "_enddef");
    check_places(ncid, s, places_of(s, 1000, 6, 0, 0, none), "hints 1000 and 6 outrank _enddef(0, 64, 0, 128)");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* Free space that an earlier _enddef left takes a larger header without moving data. */
static void test_free_space(void)
{
    struct shape s = {2, 2, 1};
    int ncid = create(s, NULL, NULL);
    struct places first = places_of(s, 4, 4, 2000, 0, (struct places){0, 0, 0, 0}), second;
    t_local(ncmpi__enddef(ncid, 2000, 4, 0, 4) == NC_NOERR, "_enddef");
    check_places(ncid, s, first, "2000 bytes left free");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 1000, (char[1000]){'n'}) == NC_NOERR, "put_att");
    t_local(ncmpi__enddef(ncid, 0, 4, 0, 4) == NC_NOERR, "_enddef");
    second = first;
    second.header += 4 + 4 + 4 + 4 + 1000; /* length of the name, name, type, count, values */
    check_places(ncid, s, second, "an attribute of 1000 bytes moves nothing");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* An enddef that fails leaves the layout of the one before. */
static void test_failed_enddef(void)
{
    static const struct places none = {0, 0, 0, 0};
    struct shape s = {1, 2, 2};
    struct places first = places_of(s, 0, 0, 0, 0, none);
    int ncid = create(s, NULL, NULL), dim, id;
    t_local(ncmpi_enddef(ncid) == NC_NOERR && ncmpi_redef(ncid) == NC_NOERR, "enddef, redef");
    t_local(ncmpi_def_dim(ncid, "large", NC_MAX_INT - 3, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "large1", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "large2", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "enddef with variables that are too large");
    check_define_mode(ncid, s, first, header_of((struct shape){1, 4, 2}) + 16, "after an enddef that failed");
    t_local(ncmpi_abort(ncid) == NC_NOERR, "abort");
}

static void test_environment(void)
{
    struct shape s = {1, 1, 1};
    setenv("PNETCDF_HINTS", " nc_var_align_size = 2048 ; nonsense ; nc_record_align_size=100", 1);
    int ncid = create(s, "16", "16");
    unsetenv("PNETCDF_HINTS");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    check_places(ncid, s, places_of(s, 2048, 100, 0, 0, (struct places){0, 0, 0, 0}),
                 "PNETCDF_HINTS outranks the info object");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* --- the reserve of large files --- */

enum { LARGE = 1 << 20 };

/* A file with one variable of these bytes, in define mode. */
static int create_large(MPI_Offset bytes, const char *reserve)
{
    MPI_Info info;
    int ncid, dim, id;

    MPI_Info_create(&info);
    if (reserve != NULL)
        MPI_Info_set(info, "nc_header_reserve", reserve);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "x", bytes, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id) == NC_NOERR, "def_var");
    return ncid;
}

static void check_extent(int ncid, MPI_Offset extent, const char *reported, const char *what)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Offset got = -1;
    MPI_Info used;
    int flag;

    t_local(ncmpi_inq_header_extent(ncid, &got) == NC_NOERR && got == extent, "%s: header extent %lld, expected %lld",
            what, (long long)got, (long long)extent);
    t_local(ncmpi_inq_file_info(ncid, &used) == NC_NOERR, "inq_file_info");
    MPI_Info_get(used, "nc_header_reserve", MPI_MAX_INFO_VAL, value, &flag);
    MPI_Info_free(&used);
    t_local(strcmp(value, reported) == 0, "%s: nc_header_reserve is reported as %s, expected %s", what, value,
            reported);
    t_check(true, "%s: the header extent is %lld", what, (long long)extent);
}

/* By default, by hint and by argument; the header has 80 bytes. */
static void test_reserve_of_new_files(void)
{
    static const struct {
        MPI_Offset bytes;
        const char *hint;
        int h_minfree; /* of ncmpi__enddef; -1: ncmpi_enddef */
        MPI_Offset extent;
        const char *reported; /* by ncmpi_inq_file_info: only what was given, as programs pass it to other files */
    } rows[] = {
        {LARGE - 4, NULL, -1, 512, ""},
        {LARGE, NULL, -1, 8704, ""},
        {LARGE, "0", -1, 512, "0"},
        {LARGE, "100000", -1, 100352, "100000"},
        {LARGE - 4, "100000", -1, 100352, "100000"},
        {LARGE, "-5", -1, 8704, ""},
        {LARGE, NULL, 0, 512, ""},
        {LARGE, NULL, 1000, 1536, ""},
        {LARGE, "0", 1000, 512, "0"},
        {LARGE, "2000", 1000, 2560, "2000"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int ncid = create_large(rows[i].bytes, rows[i].hint);
        char what[120];

        snprintf(what, sizeof what, "%lld bytes, hint %s, h_minfree %d", (long long)rows[i].bytes,
                 rows[i].hint != NULL ? rows[i].hint : "not given", rows[i].h_minfree);
        t_local((rows[i].h_minfree < 0 ? ncmpi_enddef(ncid) : ncmpi__enddef(ncid, rows[i].h_minfree, 0, 0, 0)) ==
                    NC_NOERR,
                "enddef");
        check_extent(ncid, rows[i].extent, rows[i].reported, what);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    }
}

/* What one file reports is given to another one: only hints that were given are. */
static void test_reported_hints(void)
{
    int first = create_large(LARGE, NULL), second, dim, var;
    MPI_Offset extent = -1;
    MPI_Info used;

    expect_ok(ncmpi_enddef(first), "enddef");
    expect_ok(ncmpi_inq_file_info(first, &used), "inq_file_info");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, t_path("second.nc"), NC_CLOBBER | NC_64BIT_DATA, used, &second), "create");
    MPI_Info_free(&used);
    ncmpi_def_dim(second, "x", 4, &dim);
    ncmpi_def_var(second, "v", NC_INT, 1, &dim, &var);
    expect_ok(ncmpi__enddef(second, 65536, 4, 0, 4), "__enddef");
    expect_ok(ncmpi_inq_header_extent(second, &extent), "inq_header_extent");
    /* 65664 bytes, aligned by the reported hint nc_var_align_size, which takes precedence over v_align */
    t_check(extent == 129 * 512, "the reported hints do not replace h_minfree: %lld", (long long)extent);
    expect_ok(ncmpi_close(first), "close");
    expect_ok(ncmpi_close(second), "close");
}

/* Redefine: an attribute of these bytes. Returns the bytes that all ranks have written during ncmpi_enddef. */
static MPI_Offset add_text(int ncid, const char *name, int bytes)
{
    char *text = calloc(1, (size_t)bytes);
    MPI_Offset before = 0, after = 0, all = 0;

    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, name, bytes, text) == NC_NOERR, "put_att");
    free(text);
    t_local(ncmpi_inq_put_size(ncid, &before) == NC_NOERR, "inq_put_size");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_inq_put_size(ncid, &after) == NC_NOERR, "inq_put_size");
    after -= before;
    MPI_Allreduce(&after, &all, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void test_reserve_is_used(void)
{
    int ncid = create_large(LARGE, NULL);
    MPI_Offset written, header = 0;
    MPI_Info info;

    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    written = add_text(ncid, "first", 4000);
    t_local(ncmpi_inq_header_size(ncid, &header) == NC_NOERR, "inq_header_size");
    t_check(written > 4000 && written <= header,
            "4000 bytes of text go into the reserve: %lld bytes are written, the header has %lld", (long long)written,
            (long long)header);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_header_reserve", "100000"); /* is for new files */
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid) == NC_NOERR, "open");
    MPI_Info_free(&info);
    written = add_text(ncid, "second", 4000);
    t_check(written < 2 * 8300 + 4200, "so do 4000 more, after the file was opened again: %lld bytes are written",
            (long long)written);
    check_extent(ncid, 8704, "100000", "the reserve is nearly full");
    written = add_text(ncid, "third", 4000);
    t_check(written >= LARGE, "and then data move: %lld bytes are written", (long long)written);
    check_extent(ncid, 12288, "100000", "the reserve is used up");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* The extent and the first value after an attribute that does not fit has moved 1 MiB. */
static void check_move(const char *reserve, bool with_arguments, MPI_Offset extent, const char *what)
{
    int ncid = create_large(LARGE, "0");
    signed char first = 17;
    MPI_Offset got = -1, written;
    MPI_Info info;

    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_var1_schar_all(ncid, 0, (MPI_Offset[]){0}, &first) == NC_NOERR, "put");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Info_create(&info);
    if (reserve != NULL)
        MPI_Info_set(info, "nc_header_reserve", reserve);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid) == NC_NOERR, "open");
    MPI_Info_free(&info);
    if (with_arguments) {
        t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
        t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", 4000, (char[4000]){'n'}) == NC_NOERR, "put_att");
        t_local(ncmpi__enddef(ncid, 0, 0, 0, 0) == NC_NOERR, "_enddef");
    } else
        (void)add_text(ncid, "text", 4000);
    first = 0;
    t_local(ncmpi_get_var1_schar_all(ncid, 0, (MPI_Offset[]){0}, &first) == NC_NOERR && first == 17, "%s: value %d",
            what, first);
    t_local(ncmpi_inq_header_extent(ncid, &got) == NC_NOERR, "inq_header_extent");
    t_check(got == extent, "%s: the header extent is %lld, expected %lld", what, (long long)got, (long long)extent);
    if (extent > 30000) {
        written = add_text(ncid, "more", 4000);
        t_check(written < 30000, "%s: 4000 more bytes of text move nothing: %lld bytes are written", what,
                (long long)written);
    }
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* The header has 80 bytes, and 4096 with the attribute. */
static void test_space_where_data_move(void)
{
    check_move(NULL, false, 36864, "a move of 1 MiB leaves 32 KiB");
    check_move("0", false, 4096, "nc_header_reserve=0: a move leaves nothing");
    check_move("70000", false, 4096, "nc_header_reserve=70000 is for new files: a move leaves nothing");
    check_move(NULL, true, 4096, "ncmpi__enddef with h_minfree 0: a move leaves nothing");
}

/* Sizes in define mode, as measured with PnetCDF 1.15.0; the extent is that of the last enddef. */
static void expect_sizes(int ncid, MPI_Offset size, MPI_Offset extent, const char *what)
{
    MPI_Offset got = -1, allocated = -1;

    t_local(ncmpi_inq_header_size(ncid, &got) == NC_NOERR, "inq_header_size");
    t_local(ncmpi_inq_header_extent(ncid, &allocated) == NC_NOERR, "inq_header_extent");
    t_check(got == size && allocated == extent, "%s: size %lld, extent %lld", what, (long long)got,
            (long long)allocated);
}

static void test_size_while_defining(void)
{
    int ncid, dim, id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    expect_sizes(ncid, 32, 0, "nothing defined");
    t_local(ncmpi_def_dim(ncid, "x", 3, &dim) == NC_NOERR, "def_dim");
    expect_sizes(ncid, 44, 0, "a dimension");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    expect_sizes(ncid, 80, 0, "a variable");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_sizes(ncid, 80, 512, "data mode");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    expect_sizes(ncid, 80, 512, "redef");
    t_local(ncmpi_def_var(ncid, "w", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    expect_sizes(ncid, 116, 512, "a second variable");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

int main(int argc, char **argv)
{
    static const int formats[] = {1, 2, 5};
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("layout.nc"));
    for (int f = 0; f < 3; f++) {
        test_shape((struct shape){formats[f], 2, 0});
        test_shape((struct shape){formats[f], 0, 2});
        test_shape((struct shape){formats[f], 3, 2});
        test_shape((struct shape){formats[f], 1, 1});
    }
    test_free_space();
    test_failed_enddef();
    test_environment();
    test_reserve_of_new_files();
    test_reported_hints();
    test_reserve_is_used();
    test_space_where_data_move();
    test_size_while_defining();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}

/* Data do not change when the header grows at enddef: fixed-size and record variables, several records, new variables
 * of both kinds in between, one record variable that was packed before a second one was defined; in small and large
 * pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"
#include "dataset/registry.h"

enum { NX = 37, RECORDS = 9, MAX_VARS = 40 };

static char path[4096];
static struct {
    bool record;
    nc_type type;
    int known_records;
} vars[MAX_VARS];
static int nvars, records;

/* Each element's value follows from its place. */
static int value_at(int var, int record, int x)
{
    return (var * 31 + record * 7 + x) % 101 + 1;
}

static void put_var(int ncid, int var, int first, int end)
{
    for (int r = first; r < end; r++) {
        signed char values[NX];
        MPI_Offset low = (MPI_Offset)NX * t_rank / t_nprocs, high = (MPI_Offset)NX * (t_rank + 1) / t_nprocs;
        MPI_Offset start[2] = {r, low}, count[2] = {1, high - low};
        for (MPI_Offset x = low; x < high; x++)
            values[x - low] = (signed char)value_at(var, r, (int)x);
        int skip = !vars[var].record;
        t_local(ncmpi_put_vara_schar_all(ncid, var, start + skip, count + skip, values) == NC_NOERR, "put variable %d",
                var);
    }
    vars[var].known_records = end;
}

static void add_var(int ncid, bool record, nc_type type)
{
    char name[24];
    int id;
    snprintf(name, sizeof name, "%s_%d", record ? "record" : "fixed", nvars);
    t_local(ncmpi_def_var(ncid, name, type, 1 + record, (int[]){0, 1} + !record, &id) == NC_NOERR && id == nvars,
            "def_var");
    vars[nvars].record = record;
    vars[nvars].known_records = 0;
    vars[nvars++].type = type;
}

static void check_all(int ncid, const char *when)
{
    for (int v = 0; v < nvars; v++)
        for (int r = 0; r < vars[v].known_records; r++) {
            signed char values[NX] = {0};
            MPI_Offset start[2] = {r, 0}, count[2] = {1, NX};
            int skip = !vars[v].record, bad = -1;
            int code = ncmpi_get_vara_schar_all(ncid, v, start + skip, count + skip, values);
            for (int x = 0; x < NX; x++)
                if (values[x] != value_at(v, r, x))
                    bad = x;
            t_local(code == NC_NOERR && bad < 0, "variable %d record %d element %d: %d, expected %d (%s)", v, r, bad,
                    bad < 0 ? 0 : values[bad], bad < 0 ? 0 : value_at(v, r, bad), ncmpi_strerrno(code));
        }
    t_check(true, "%s: all values of %d variables are as they were put", when, nvars);
}

static void fill_new(int ncid, int first)
{
    for (int v = first; v < nvars; v++)
        put_var(ncid, v, 0, vars[v].record ? records : 1);
}

/* One redefinition: more attributes, more variables; then everything is compared. */
static void grow(int ncid, int step)
{
    char text[3000], when[60];
    int first = nvars;
    memset(text, 't', sizeof text);
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    snprintf(when, sizeof when, "note_%d", step);
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, when, step * 700, text) == NC_NOERR, "put_att");
    if (step != 2)
        add_var(ncid, step % 2 == 1, step % 2 ? NC_SHORT : NC_DOUBLE);
    if (step == 3)
        add_var(ncid, false, NC_BYTE);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    snprintf(when, sizeof when, "redefinition %d", step);
    check_all(ncid, when);
    fill_new(ncid, first);
    check_all(ncid, "after filling the new variables");
    records++;
    for (int v = 0; v < nvars; v++)
        if (vars[v].record)
            put_var(ncid, v, records - 1, records);
}

/* Pieces smaller than the hint nc_data_move_chunk_size allows: a small file has many of them. */
static void run(int cmode, int64_t chunk, bool only_records)
{
    MPI_Info info;
    int ncid, dims[2];
    nvars = 0;
    records = RECORDS;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", "4");
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    pnc_dataset_registry_peek(ncid)->hints.format.data_move_chunk = chunk;
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", NX, &dims[1]) == NC_NOERR, "def_dim");
    if (!only_records)
        add_var(ncid, false, NC_INT);
    add_var(ncid, true, NC_BYTE); /* 37 bytes: packed while it is the only record variable */
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    fill_new(ncid, 0);
    for (int step = 1; step <= 4; step++)
        grow(ncid, step);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    check_all(ncid, "after open");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* A file with one variable of `NX` rows of 4000 bytes, in define mode with attributes that need more than its space. */
static int open_grown(const char *limit)
{
    char text[6000] = "";
    MPI_Info info;
    int ncid, dims[2];

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_data_move_limit", limit);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "y", NX, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", 1000, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &dims[0]) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    /* the last value makes the file as long as its data */
    t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR &&
                ncmpi_put_var1_int(ncid, 0, (MPI_Offset[]){NX - 1, 999}, &(int){77}) == NC_NOERR &&
                ncmpi_end_indep_data(ncid) == NC_NOERR,
            "put");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", sizeof text, text) == NC_NOERR, "put_att");
    return ncid;
}

static int get_last(int ncid)
{
    int value = 0;

    t_local(ncmpi_get_var1_int_all(ncid, 0, (MPI_Offset[]){NX - 1, 999}, &value) == NC_NOERR, "get");
    return value;
}

/* NX * 4000 bytes move. */
static void test_limit(void)
{
    char limit[40], message[NC_MAX_MESSAGE] = "";
    int ncid;

    snprintf(limit, sizeof limit, "%d", NX * 4000 - 1);
    ncid = open_grown(limit);
    expect_code(ncmpi_enddef(ncid), NC_EMOVELIMIT, "enddef that would move one byte more than the limit");
    t_check(ncmpi_inq_last_error(ncid, NULL, message) == NC_NOERR && strstr(message, "nc_header_reserve") != NULL,
            "the message names the hint for new files");
    t_local(ncmpi_del_att(ncid, NC_GLOBAL, "text") == NC_NOERR, "del_att: still in define mode");
    expect_ok(ncmpi_enddef(ncid), "enddef without the attribute");
    t_check(get_last(ncid) == 77, "the value before");
    expect_ok(ncmpi_close(ncid), "close");
    snprintf(limit, sizeof limit, "%d", NX * 4000);
    ncid = open_grown(limit);
    expect_ok(ncmpi_enddef(ncid), "enddef that moves as much as the limit permits");
    t_check(get_last(ncid) == 77, "the value after the move");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Ends define mode with PNETCDF_VERBOSE, and receives what this rank prints. */
static void end_verbosely(int ncid, char text[1500])
{
    char caught[4200];
    int saved = dup(2);
    FILE *f;

    snprintf(caught, sizeof caught, "%s.%d", t_path("stderr"), t_rank);
    setenv("PNETCDF_VERBOSE", "1", 1);
    fflush(stderr);
    if (freopen(caught, "w", stderr) == NULL)
        abort();
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    unsetenv("PNETCDF_VERBOSE");
    memset(text, 0, 1500);
    f = fopen(caught, "r");
    if (f != NULL && fread(text, 1, 1499, f) == 0)
        text[0] = '\0';
    if (f != NULL)
        fclose(f);
    unlink(caught);
}

static void test_report(void)
{
    char text[1500], wanted[100];
    int ncid = open_grown("1000000000");

    end_verbosely(ncid, text);
    snprintf(wanted, sizeof wanted, "%d bytes of data move", NX * 4000);
    t_check(t_rank == 0 ? strstr(text, wanted) != NULL && strstr(text, "have moved in") != NULL : text[0] == '\0',
            "rank 0 reports a move: %s", text);
    expect_ok(ncmpi_close(ncid), "close");
}

/* A new file with one variable of these bytes. */
static void check_reserve_report(MPI_Offset bytes, bool expected)
{
    char text[1500];
    int ncid, dim, id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", bytes, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id) == NC_NOERR, "def_var");
    end_verbosely(ncid, text);
    t_check((strstr(text, "8192 bytes after the header are reserved") != NULL) == (expected && t_rank == 0) &&
                (text[0] != '\0') == (expected && t_rank == 0),
            "%lld bytes of data: rank 0 reports %s reserve: %s", (long long)bytes, expected ? "a" : "no", text);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- causes of moves: what is advised suffices, and not less --- */

/* Definitions after the first enddef: bytes of an attribute and of a fixed-size variable, whether there is one before
 * records, and a record variable. */
typedef struct later {
    int attribute, fixed;
    bool had_fixed, record;
} later;

/* Free space that is reserved at the first enddef; -1: none. */
typedef struct reserved {
    long long hint, h_minfree, v_minfree;
} reserved;

static void define_later(int ncid, const later *what)
{
    static const char text[20000];
    int dims[2] = {0}, id;

    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    if (what->attribute > 0)
        t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", what->attribute, text) == NC_NOERR, "put_att");
    if (what->fixed > 0)
        t_local(ncmpi_def_dim(ncid, "more", what->fixed, &dims[1]) == NC_NOERR &&
                    ncmpi_def_var(ncid, "later", NC_BYTE, 1, &dims[1], &id) == NC_NOERR,
                "a fixed-size variable");
    if (what->record)
        t_local(ncmpi_def_var(ncid, "another", NC_INT, 1, dims, &id) == NC_NOERR, "a record variable");
}

/* Bytes that moved; text: what rank 0 prints. Statistics count them on rank 0. */
static MPI_Offset move_for(const later *what, const reserved *space, char text[1500])
{
    char number[40];
    MPI_Offset moved = 0;
    MPI_Info info;
    int ncid, dims[2], ids[2];

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stats", "keep");
    snprintf(number, sizeof number, "%lld", space->hint);
    if (space->hint >= 0)
        MPI_Info_set(info, "nc_header_reserve", number);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "r", NC_INT, 1, dims, &ids[0]) == NC_NOERR, "def_var");
    if (what->had_fixed)
        t_local(ncmpi_def_dim(ncid, "x", 1000, &dims[1]) == NC_NOERR &&
                    ncmpi_def_var(ncid, "f", NC_INT, 1, &dims[1], &ids[1]) == NC_NOERR,
                "a fixed-size variable");
    if (space->h_minfree < 0 && space->v_minfree < 0)
        t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    else
        t_local(ncmpi__enddef(ncid, space->h_minfree > 0 ? space->h_minfree : 0, 0,
                              space->v_minfree > 0 ? space->v_minfree : 0, 0) == NC_NOERR,
                "_enddef");
    t_local(ncmpi_put_vara_int_all(ncid, 0, (MPI_Offset[]){0}, (MPI_Offset[]){4}, (int[]){1, 2, 3, 4}) == NC_NOERR,
            "put");
    define_later(ncid, what);
    end_verbosely(ncid, text);
    t_local(ncmpi_inq_stats(ncid, "moved_bytes", &moved) == NC_NOERR, "inq_stats");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Bcast(&moved, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
    MPI_Bcast(text, 1500, MPI_CHAR, 0, MPI_COMM_WORLD);
    return moved;
}

/* The number that follows `begin`, or that precedes " bytes suffice" behind it if `suffice`; -1: there is none. */
static long long find_number(const char *text, const char *begin, bool suffice)
{
    const char *at = strstr(text, begin), *end = at == NULL ? NULL : strstr(at, " bytes suffice");

    if (at == NULL || (suffice && end == NULL))
        return -1;
    if (!suffice)
        return atoll(at + strlen(begin));
    while (end > at && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return atoll(end);
}

/* `given`: a pointer to the member of `space` that reserves what is lacking; `asked`: how the text names it. */
static void test_space(const char *what, const later *definitions, reserved *space, long long *given,
                       const char *advice, const char *asked, int slack)
{
    char text[1500];
    long long first, second;

    t_check(move_for(definitions, space, text) > 0, "%s moves data", what);
    first = find_number(text, advice, false);
    t_check(first > 0, "%s: %s and a number: %s", what, advice, text);
    *given = 100;
    t_check(move_for(definitions, space, text) > 0, "%s with 100 bytes moves data", what);
    second = find_number(text, asked, true);
    t_check(second == first && strstr(text, advice) == NULL,
            "%s: %lld bytes suffice (%lld), and what was given is not advised: %s", what, first, second, text);
    *given = first;
    t_check(move_for(definitions, space, text) == 0, "%s with %lld bytes moves no data: %s", what, first, text);
    *given = first - slack;
    t_check(move_for(definitions, space, text) > 0, "%s with %d bytes less does", what, slack);
}

static bool names_only(const char *text, const char *wanted)
{
    static const char *const words[] = {"nc_header_reserve", "v_minfree", "new record variables", "asked for"};
    bool good = strstr(text, wanted) != NULL;

    for (int i = 0; i < 4; i++)
        good = good && (strcmp(words[i], wanted) == 0 || strstr(text, words[i]) == NULL);
    return good;
}

/* An opened file: the hint is too late. And a move that the program asks for. */
static void test_opened(void)
{
    const later attribute = {.attribute = 6000}, none = {.had_fixed = true};
    const reserved space = {-1, -1, -1};
    char text[1500];
    MPI_Info info;
    int ncid;

    move_for(&none, &space, text);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_header_reserve", "50000");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid) == NC_NOERR, "open");
    MPI_Info_free(&info);
    define_later(ncid, &attribute);
    end_verbosely(ncid, text);
    t_check(t_rank != 0 || (strstr(text, "nc_header_reserve only decides when the file is created") != NULL &&
                            find_number(text, "nc_header_reserve", true) >= 6000),
            "the hint has no effect on a file that exists: %s", text);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", "65536");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid) == NC_NOERR, "open");
    MPI_Info_free(&info);
    define_later(ncid, &none);
    end_verbosely(ncid, text);
    t_check(t_rank != 0 || names_only(text, "asked for"), "an alignment that the file does not have: %s", text);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void test_causes(void)
{
    const later attribute = {.attribute = 6000}, fixed = {.fixed = 5001, .had_fixed = true}, first = {.fixed = 5001};
    const later record = {.record = true, .had_fixed = true}, both = {6000, 5001, true, false};
    reserved hint = {-1, -1, -1}, argument = {-1, -1, -1}, space = {-1, -1, -1}, none = {-1, -1, -1};
    char text[1500];

    test_space("an attribute", &attribute, &hint, &hint.hint, "the hint nc_header_reserve=", "nc_header_reserve is",
               512);
    test_space("an attribute", &attribute, &argument, &argument.h_minfree,
               "the hint nc_header_reserve=", "h_minfree of ncmpi__enddef is", 512);
    test_space("a fixed-size variable", &fixed, &space, &space.v_minfree, "v_minfree=", "v_minfree of ncmpi__enddef is",
               4);
    move_for(&attribute, &none, text);
    t_check(names_only(text, "nc_header_reserve"), "an attribute: the header only: %s", text);
    move_for(&fixed, &none, text);
    t_check(names_only(text, "v_minfree"), "a fixed-size variable: v_minfree only: %s", text);
    move_for(&first, &none, text);
    t_check(strstr(text, "define one of them before the first ncmpi_enddef") != NULL,
            "the first fixed-size variable: %s", text);
    move_for(&record, &none, text);
    t_check(names_only(text, "new record variables") && strstr(text, "record 4 bytes longer") != NULL,
            "a record variable: no reserve helps: %s", text);
    move_for(&both, &none, text);
    t_check(strstr(text, "nc_header_reserve=") != NULL && strstr(text, "v_minfree=") != NULL, "both: %s", text);
    none.hint = find_number(text, "the hint nc_header_reserve=", false);
    none.v_minfree = find_number(text, "v_minfree=", false);
    t_check(move_for(&both, &none, text) == 0, "with both, nothing moves: %s", text);
    test_opened();
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("redef_move.nc"));
    run(0, 1048576, false);
    run(NC_64BIT_OFFSET, 100, false);
    run(NC_64BIT_DATA, 1, false);
    run(NC_64BIT_DATA, INT64_MAX, true);
    run(0, 64, true);
    test_limit();
    test_report();
    test_causes();
    check_reserve_report(1 << 20, true);
    check_reserve_report(1000, false);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}

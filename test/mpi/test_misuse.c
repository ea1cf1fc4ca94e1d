/* Collective calls that do not match: one rank calls another function than the others, makes a call less or more, or
 * passes other arguments. No rank hangs, what is not harmless is an error, and the file keeps its values. After calls
 * that do not match, each rank can close the file without the others. In safe mode whatever differs is an error on
 * every rank, except different functions and variables in a put or get.
 *
 * test_misuse NUMBER MODE tries one case only. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

enum { WIDTH = 6, LIMIT = 30, FIXED = 0, OTHER = 1, RECORD = 2 };

/* What the ranks begin with: a file in data mode, the same read-only or in independent mode; a new one in define mode,
 * or one that exists; no file. */
typedef enum initial_state { DATA, READ_ONLY, INDEPENDENT, NEW, REDEFINED, NO_FILE } initial_state;

static bool is_odd; /* the rank that makes the mistake: the last one */

/* --- the calls; values are those that the file has already --- */

static MPI_Offset first(void)
{
    return WIDTH * t_rank;
}

static int access_values(int ncid, int varid, bool puts)
{
    MPI_Offset start = first(), count = WIDTH;
    int values[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        values[i] = (int)start + i;
    return puts ? ncmpi_put_vara_int_all(ncid, varid, &start, &count, values)
                : ncmpi_get_vara_int_all(ncid, varid, &start, &count, values);
}

static int put(int *ncid)
{
    return access_values(*ncid, FIXED, true);
}

static int put_other(int *ncid)
{
    return access_values(*ncid, OTHER, true);
}

static int put_float(int *ncid)
{
    MPI_Offset start = first(), count = WIDTH;
    float values[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        values[i] = (float)(start + i);
    return ncmpi_put_vara_float_all(*ncid, FIXED, &start, &count, values);
}

static int put_varn(int *ncid)
{
    MPI_Offset start = first(), count = WIDTH, *starts[] = {&start}, *counts[] = {&count};
    int values[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        values[i] = (int)start + i;
    return ncmpi_put_varn_int_all(*ncid, FIXED, 1, starts, counts, values);
}

static int put_record(int *ncid)
{
    MPI_Offset start[] = {0, first()}, count[] = {1, WIDTH};
    int values[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        values[i] = (int)start[1] + i;
    return ncmpi_put_vara_int_all(*ncid, RECORD, start, count, values);
}

static int get(int *ncid)
{
    return access_values(*ncid, FIXED, false);
}

static int get_other(int *ncid)
{
    return access_values(*ncid, OTHER, false);
}

static int wait_none(int *ncid)
{
    return ncmpi_wait_all(*ncid, NC_REQ_ALL, NULL, NULL);
}

/* Post `n` puts, and wait for them by their ids. A wait that fails leaves them pending: the next one completes them. */
static int wait_posted(int ncid, int n)
{
    int ids[2], statuses[2], value = (int)first(), err;
    MPI_Offset start = first(), count = 1;

    for (int i = 0; i < n; i++)
        t_local(ncmpi_iput_vara_int(ncid, FIXED, &start, &count, &value, &ids[i]) == NC_NOERR, "iput");
    err = ncmpi_wait_all(ncid, n, ids, statuses);
    for (int i = 0; i < n; i++)
        t_local(statuses[i] == err && (ids[i] == NC_REQ_NULL) == (err == NC_NOERR), "status %d, id %d after %d",
                statuses[i], ids[i], err);
    if (err != NC_NOERR)
        t_local(ncmpi_cancel(ncid, n, ids, statuses) == NC_NOERR, "the requests are still pending");
    return err;
}

static int wait_one(int *ncid)
{
    return wait_posted(*ncid, 1);
}

static int wait_two(int *ncid)
{
    return wait_posted(*ncid, 2);
}

static int fill_record(int *ncid)
{
    return ncmpi_fill_var_rec(*ncid, RECORD, 0);
}

static int begin_and_end(int *ncid)
{
    int err = ncmpi_begin_indep_data(*ncid);

    return err != NC_NOERR ? err : ncmpi_end_indep_data(*ncid);
}

/* Fails without a collective step: the other ranks meet this one in its next call. */
static int begin_and_put(int *ncid)
{
    int err = ncmpi_begin_indep_data(*ncid);

    return err != NC_NOERR ? err : put(ncid);
}

static int attach(int *ncid)
{
    return is_odd ? ncmpi_buffer_attach(*ncid, 100) : NC_NOERR;
}

static int close_twice(int *ncid)
{
    int err = ncmpi_close(*ncid);

    return err == NC_NOERR && is_odd ? ncmpi_close(*ncid) : err;
}

#define CALL_OF_FILE(name)            \
    static int call_##name(int *ncid) \
    {                                 \
        return ncmpi_##name(*ncid);   \
    }
/* clang-format off */
CALL_OF_FILE(enddef)
CALL_OF_FILE(close)
CALL_OF_FILE(abort)
CALL_OF_FILE(redef)
CALL_OF_FILE(sync)
CALL_OF_FILE(flush)
CALL_OF_FILE(sync_numrecs)
CALL_OF_FILE(begin_indep_data)
CALL_OF_FILE(end_indep_data)
/* clang-format on */

static int put_note(int *ncid)
{
    return ncmpi_put_att_text(*ncid, NC_GLOBAL, "note", 1, is_odd ? "b" : "a");
}

static int put_note_again(int *ncid)
{
    return ncmpi_put_att_text(*ncid, NC_GLOBAL, "note", 1, "a");
}

static int put_named_note(int *ncid)
{
    return ncmpi_put_att_text(*ncid, NC_GLOBAL, is_odd ? "mark" : "remark", 1, "a");
}

/* Functions of different memory types, with other types, other lengths, and the same value. */
static int put_typed_note(int *ncid)
{
    return is_odd ? ncmpi_put_att_short(*ncid, NC_GLOBAL, "note", NC_SHORT, 1, &(short){1}) : put_note_again(ncid);
}

static int put_long_note(int *ncid)
{
    return is_odd ? ncmpi_put_att_double(*ncid, NC_GLOBAL, "numbers", NC_INT, 2, (double[]){1, 2})
                  : ncmpi_put_att_int(*ncid, NC_GLOBAL, "numbers", NC_INT, 1, &(int){1});
}

static int put_valued_note(int *ncid)
{
    return is_odd ? ncmpi_put_att_double(*ncid, NC_GLOBAL, "numbers", NC_INT, 1, &(double){2})
                  : ncmpi_put_att_int(*ncid, NC_GLOBAL, "numbers", NC_INT, 1, &(int){1});
}

static int put_same_note(int *ncid)
{
    return is_odd ? ncmpi_put_att_double(*ncid, NC_GLOBAL, "numbers", NC_INT, 1, &(double){1})
                  : ncmpi_put_att_int(*ncid, NC_GLOBAL, "numbers", NC_INT, 1, &(int){1});
}

static int delete_note(int *ncid)
{
    return is_odd ? ncmpi_del_att(*ncid, NC_GLOBAL, "note") : NC_NOERR;
}

static int rename_var(int *ncid)
{
    return ncmpi_rename_var(*ncid, FIXED, is_odd ? "z" : "y");
}

static int rename_dim(int *ncid)
{
    return ncmpi_rename_dim(*ncid, 0, "s");
}

static int layout(int *ncid)
{
    return ncmpi__enddef(*ncid, is_odd ? 8192 : 0, 4, 0, 4);
}

static int define_dim(int *ncid)
{
    return ncmpi_def_dim(*ncid, "length", is_odd ? 20 : 10, &(int){0});
}

static int define_named_dim(int *ncid)
{
    return ncmpi_def_dim(*ncid, is_odd ? "m" : "n", 10, &(int){0});
}

static int define_var(int *ncid)
{
    return ncmpi_def_var(*ncid, "new", is_odd ? NC_INT : NC_FLOAT, 0, NULL, &(int){0});
}

static int define_named_var(int *ncid)
{
    return ncmpi_def_var(*ncid, is_odd ? "new" : "fresh", NC_INT, 0, NULL, &(int){0});
}

static int define_shaped_var(int *ncid)
{
    return ncmpi_def_var(*ncid, "new", NC_INT, 1, &(int){is_odd}, &(int){0});
}

/* The other ranks go on. */
static int define_on_one(int *ncid)
{
    return is_odd ? define_var(ncid) : NC_NOERR;
}

static int define_dim_or_var(int *ncid)
{
    return is_odd ? define_var(ncid) : define_dim(ncid);
}

static int set_fill(int *ncid)
{
    return ncmpi_set_fill(*ncid, is_odd ? NC_FILL : NC_NOFILL, &(int){0});
}

static int set_var_fill(int *ncid)
{
    return ncmpi_def_var_fill(*ncid, FIXED, is_odd, NULL);
}

/* --- opening --- */

static char path[4096];

static int open_modes(int *ncid)
{
    return ncmpi_open(MPI_COMM_WORLD, path, is_odd ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL, ncid);
}

static int open_paths(int *ncid)
{
    char other[sizeof path + 8];

    snprintf(other, sizeof other, "%s%s", path, is_odd ? ".other" : "");
    return ncmpi_open(MPI_COMM_WORLD, other, NC_NOWRITE, MPI_INFO_NULL, ncid);
}

static int create_modes(int *ncid)
{
    return ncmpi_create(MPI_COMM_WORLD, path, is_odd ? NC_64BIT_DATA : NC_CLOBBER, MPI_INFO_NULL, ncid);
}

static int open_or_create(int *ncid)
{
    return is_odd ? ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, ncid)
                  : ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, ncid);
}

/* --- the table --- */

/* The codes of the other ranks and of the odd one. */
typedef struct expected {
    int others, odd;
} expected;

#define CALLS                        \
    {                                \
        NC_EMULTICALL, NC_EMULTICALL \
    }
#define FINE               \
    {                      \
        NC_NOERR, NC_NOERR \
    }
#define ODD(code)      \
    {                  \
        NC_NOERR, code \
    }
#define ALL(code)  \
    {              \
        code, code \
    }

/* `late`: the call itself has no collective step; the code is that of the next one, ncmpi_enddef or ncmpi_close. */
static const struct {
    const char *text;
    initial_state state;
    int (*others)(int *), (*odd)(int *);
    expected in_default, in_safe;
    bool late;
} cases[] = {
    /* clang-format off */
    {"put, get", DATA, put, get, CALLS, CALLS, false},
    {"put, enddef", DATA, put, call_enddef, {NC_EMULTICALL, NC_ENOTINDEFINE}, {NC_EMULTICALL, NC_ENOTINDEFINE}, false},
    {"put, close", DATA, put, call_close, CALLS, CALLS, false},
    {"put, abort", DATA, put, call_abort, CALLS, CALLS, false},
    {"put, redef", DATA, put, call_redef, CALLS, CALLS, false},
    {"put, sync", DATA, put, call_sync, CALLS, CALLS, false},
    {"put, flush", DATA, put, call_flush, CALLS, CALLS, false},
    {"put, sync_numrecs", DATA, put, call_sync_numrecs, CALLS, CALLS, true},
    {"put, wait_all without requests", DATA, put, wait_none, CALLS, CALLS, false},
    {"put, wait_all", DATA, put, wait_one, CALLS, CALLS, false},
    {"wait_all, put", DATA, wait_one, put, CALLS, CALLS, false},
    {"put, begin_indep_data and end_indep_data", DATA, put, begin_and_end, CALLS, CALLS, false},
    {"put, fill_var_rec", DATA, put, fill_record, CALLS, CALLS, false},
    {"put of a record, fill_var_rec", DATA, put_record, fill_record, CALLS, CALLS, false},
    {"put, put of another variable", DATA, put, put_other, FINE, FINE, false},
    {"put, put of another type", DATA, put, put_float, FINE, FINE, false},
    {"put_vara, put_varn", DATA, put, put_varn, FINE, FINE, false},
    {"get, get of another variable", DATA, get, get_other, FINE, FINE, false},
    {"get, close", DATA, get, call_close, CALLS, CALLS, false},
    {"get, close of a file that is read-only", READ_ONLY, get, call_close, CALLS, CALLS, false},
    {"close, get of a file that is read-only", READ_ONLY, call_close, get, CALLS, CALLS, false},
    {"redef, close", DATA, call_redef, call_close, CALLS, CALLS, false},
    {"redef, sync", DATA, call_redef, call_sync, CALLS, CALLS, false},
    {"sync, close", DATA, call_sync, call_close, CALLS, CALLS, false},
    {"flush, sync", DATA, call_flush, call_sync, CALLS, CALLS, false},
    {"sync, sync_numrecs", DATA, call_sync, call_sync_numrecs, CALLS, CALLS, true},
    {"abort, close", DATA, call_abort, call_close, CALLS, CALLS, false},
    {"end_indep_data, sync", INDEPENDENT, call_end_indep_data, call_sync, CALLS, CALLS, false},
    {"end_indep_data, close", INDEPENDENT, call_end_indep_data, call_close, CALLS, CALLS, false},
    {"put_att, put_att of another value", DATA, put_note, put_note, ALL(NC_EMULTIDEFINE_ATTR_VAL),
     ALL(NC_EMULTIDEFINE_ATTR_VAL), false},
    {"put_att_text, put_att_short", DATA, put_typed_note, put_typed_note, ALL(NC_EMULTIDEFINE_ATTR_TYPE),
     ALL(NC_EMULTIDEFINE_ATTR_TYPE), false},
    {"put_att, rename_dim", DATA, put_note_again, rename_dim, CALLS, CALLS, false},
    {"put, put_att", DATA, put, put_note, CALLS, CALLS, false},
    {"rename_var, another name", DATA, rename_var, rename_var, ALL(NC_EMULTIDEFINE_VAR_NAME),
     ALL(NC_EMULTIDEFINE_VAR_NAME), false},
    {"wait_all of one request, of two", DATA, wait_one, wait_two, FINE, FINE, false},
    {"buffer_attach on one rank", DATA, attach, attach, FINE, FINE, false},
    {"close, close twice", DATA, close_twice, close_twice, ODD(NC_EBADID), ODD(NC_EBADID), false},
    {"put, put in independent mode", DATA, put, begin_and_put, {NC_EMULTICALL, NC_EINDEP}, {NC_EMULTICALL, NC_EINDEP},
     false},
    {"put, begin_indep_data and close", DATA, put, call_begin_indep_data, CALLS, CALLS, true},
    {"get, sync and close of a file that is read-only", READ_ONLY, get, call_sync, CALLS, CALLS, true},
    {"enddef, _enddef", NEW, call_enddef, layout, CALLS, CALLS, false},
    {"enddef, close", NEW, call_enddef, call_close, CALLS, CALLS, false},
    {"enddef, abort", NEW, call_enddef, call_abort, CALLS, CALLS, false},
    {"close, abort", NEW, call_close, call_abort, CALLS, CALLS, false},
    {"enddef, close of a file that exists", REDEFINED, call_enddef, call_close, CALLS, CALLS, false},
    {"enddef, abort of a file that exists", REDEFINED, call_enddef, call_abort, CALLS, CALLS, false},
    {"_enddef, another h_minfree", NEW, layout, layout, FINE, ALL(NC_EMULTIDEFINE_FNC_ARGS), false},
    {"def_dim, another length", NEW, define_dim, define_dim, ODD(NC_EMULTIDEFINE), ALL(NC_EMULTIDEFINE_DIM_SIZE),
     true},
    {"def_dim, another name", NEW, define_named_dim, define_named_dim, ODD(NC_EMULTIDEFINE),
     ALL(NC_EMULTIDEFINE_DIM_NAME), true},
    {"def_var, another type", NEW, define_var, define_var, ODD(NC_EMULTIDEFINE), ALL(NC_EMULTIDEFINE_VAR_TYPE), true},
    {"def_var, another name", NEW, define_named_var, define_named_var, ODD(NC_EMULTIDEFINE),
     ALL(NC_EMULTIDEFINE_VAR_NAME), true},
    {"def_var, another dimension", NEW, define_shaped_var, define_shaped_var, ODD(NC_EMULTIDEFINE),
     ALL(NC_EMULTIDEFINE_VAR_DIMIDS), true},
    {"def_var on one rank", NEW, define_on_one, define_on_one, ODD(NC_EMULTIDEFINE), CALLS, true},
    {"def_dim, def_var", REDEFINED, define_dim_or_var, define_dim_or_var, ODD(NC_EMULTIDEFINE), CALLS, true},
    {"put_att, another value", NEW, put_note, put_note, FINE, ALL(NC_EMULTIDEFINE_ATTR_VAL), true},
    {"put_att, another name", NEW, put_named_note, put_named_note, FINE, ALL(NC_EMULTIDEFINE_ATTR_NAME), true},
    {"put_att_text, put_att_short in define mode", NEW, put_typed_note, put_typed_note, FINE,
     ALL(NC_EMULTIDEFINE_ATTR_TYPE), true},
    {"put_att_int, put_att_double, another length", NEW, put_long_note, put_long_note, FINE,
     ALL(NC_EMULTIDEFINE_ATTR_LEN), true},
    {"put_att_int, put_att_double, another value", NEW, put_valued_note, put_valued_note, FINE,
     ALL(NC_EMULTIDEFINE_ATTR_VAL), true},
    {"put_att_int, put_att_double, the same value", NEW, put_same_note, put_same_note, FINE, FINE, true},
    {"del_att on one rank", REDEFINED, delete_note, delete_note, FINE, CALLS, true},
    {"rename_var, another name in define mode", NEW, rename_var, rename_var, ODD(NC_EMULTIDEFINE),
     ALL(NC_EMULTIDEFINE_VAR_NAME), true},
    {"set_fill, another mode", NEW, set_fill, set_fill, FINE, ALL(NC_EMULTIDEFINE_FILL_MODE), true},
    {"def_var_fill, another mode", NEW, set_var_fill, set_var_fill, FINE, ALL(NC_EMULTIDEFINE_VAR_FILL_MODE), true},
    {"open, another mode", NO_FILE, open_modes, open_modes, ODD(NC_EMULTIDEFINE_OMODE), ALL(NC_EMULTIDEFINE_OMODE),
     false},
    {"open, another path", NO_FILE, open_paths, open_paths, CALLS, CALLS, false},
    {"open, create", NO_FILE, open_or_create, open_or_create, CALLS, CALLS, false},
    {"create, another mode", NO_FILE, create_modes, create_modes, ODD(NC_EMULTIDEFINE_CMODE),
     ALL(NC_EMULTIDEFINE_CMODE), false},
    /* clang-format on */
};

enum { NCASES = sizeof cases / sizeof *cases };

/* --- one case --- */

static char under_way[200];

static void report_hang(int signal)
{
    (void)signal;
    (void)!write(2, under_way, strlen(under_way));
    _exit(3);
}

static void define(int ncid)
{
    int dims[2], id;

    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", WIDTH * t_nprocs, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "fixed", NC_INT, 1, &dims[1], &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "other", NC_INT, 1, &dims[1], &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var_fill(ncid, RECORD, 0, NULL) == NC_NOERR, "def_var_fill");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 1, "a") == NC_NOERR, "put_att");
}

/* The file that the calls find, or -1. */
static int prepare(initial_state state)
{
    int ncid;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    define(ncid);
    if (state == NEW)
        return ncid;
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(put(&ncid) == NC_NOERR && put_other(&ncid) == NC_NOERR && put_record(&ncid) == NC_NOERR, "put");
    if (!t_classic()) /* what is not in the file yet is lost when calls do not match */
        t_local(ncmpi_sync(ncid) == NC_NOERR, "sync");
    if (state == READ_ONLY || state == NO_FILE)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    if (state == READ_ONLY)
        t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    if (state == INDEPENDENT)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    if (state == REDEFINED)
        t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    return state == NO_FILE ? -1 : ncid;
}

/* The message of an error in the calls names both. The file may be closed. */
static void check_message(void)
{
    char text[NC_MAX_MESSAGE] = "";

    t_local(ncmpi_inq_last_error(NC_GLOBAL, NULL, text) == NC_NOERR, "inq_last_error");
    t_local(strstr(text, "rank 0 called ncmpi_") != NULL && strstr(text, ", rank ") != NULL, "the message is %s", text);
}

/* After calls that do not match, ncmpi_close returns the error, and the file is closed. */
static int close_file(int ncid)
{
    int err = ncmpi_close(ncid);

    t_local(err == NC_NOERR || err == NC_EBADID || err == NC_EMULTIDEFINE || err == NC_EMULTICALL, "%s: close: %s",
            under_way, ncmpi_strerrno(err));
    t_local(ncmpi_close(ncid) == NC_EBADID, "%s: the file is still open", under_way);
    return err;
}

static bool has_values(int ncid, int varid)
{
    MPI_Offset start[] = {0, 0}, count[] = {1, WIDTH * t_nprocs};
    int got[WIDTH * 16], code;

    code = ncmpi_get_vara_int_all(ncid, varid, varid == RECORD ? start : start + 1, varid == RECORD ? count : count + 1,
                                  got);
    for (int i = 0; i < WIDTH * t_nprocs && code == NC_NOERR; i++)
        if (got[i] != i)
            code = NC_EREAD;
    return code == NC_NOERR;
}

/* All ranks can open the file, and read its values. */
static void check_file(initial_state state)
{
    int ncid, err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);

    t_local(err == NC_NOERR, "%s: open later: %s", under_way, ncmpi_strerrno(err));
    if (err != NC_NOERR)
        return;
    t_local(state == NEW || (has_values(ncid, FIXED) && has_values(ncid, OTHER) && has_values(ncid, RECORD)),
            "%s: wrong values", under_way);
    t_local(ncmpi_close(ncid) == NC_NOERR, "%s: close later", under_way);
}

/* Make the calls. Returns the first error of this rank. */
static int make_calls(int k, int *ncid)
{
    int (*call)(int *) = is_odd ? cases[k].odd : cases[k].others, err = call(ncid), next;

    if (err == NC_EMULTICALL)
        check_message();
    if (cases[k].state == NEW || cases[k].state == REDEFINED) {
        next = ncmpi_enddef(*ncid);
        return cases[k].late && err == NC_NOERR ? next : err;
    }
    next = *ncid < 0 ? NC_NOERR : close_file(*ncid);
    return cases[k].late && err == NC_NOERR ? next : err;
}

/* Whether the file is there at the end. */
static bool is_kept(int k)
{
    return cases[k].others != create_modes && cases[k].state != NEW;
}

static void try_case(int k, bool safe)
{
    expected wanted = safe ? cases[k].in_safe : cases[k].in_default;
    int code = is_odd ? wanted.odd : wanted.others, ncid, got;

    snprintf(under_way, sizeof under_way, "hang: %s, %s\n", cases[k].text, safe ? "safe mode" : "default mode");
    alarm(LIMIT);
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    ncid = prepare(cases[k].state);
    got = make_calls(k, &ncid);
    t_local(got == code, "got %s, expected %s", ncmpi_strerrno(got), ncmpi_strerrno(code));
    if (cases[k].state == NEW || cases[k].state == REDEFINED)
        close_file(ncid);
    if (is_kept(k))
        check_file(cases[k].state);
    t_check(true, "%s: %s", safe ? "safe mode" : "default mode", cases[k].text);
    alarm(0);
}

/* --- after calls that do not match --- */

static bool is_refused(int err)
{
    return err == NC_EMULTICALL;
}

/* Make calls and close the file while the other ranks do nothing. */
static void use_alone(int ncid)
{
    MPI_Offset start = first(), one = 1;
    int pending = -1, id, value = -1 - t_rank;

    t_local(is_refused(put(&ncid)) && is_refused(get(&ncid)) && is_refused(ncmpi_sync(ncid)) &&
                is_refused(ncmpi_redef(ncid)) && is_refused(ncmpi_rename_var(ncid, FIXED, "y")),
            "a collective call is possible");
    check_message();
    t_local(is_refused(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL)), "wait_all");
    t_local(ncmpi_inq_varid(ncid, "other", &id) == NC_NOERR && id == OTHER, "inq_varid");
    t_local(ncmpi_inq_nreqs(ncid, &pending) == NC_NOERR && pending == 1, "%d requests are pending", pending);
    t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR && ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL) == NC_NOERR, "wait");
    t_local(ncmpi_put_vara_int(ncid, OTHER, &start, &one, &value) == NC_NOERR, "put");
    t_local(is_refused(ncmpi_end_indep_data(ncid)) &&
                is_refused(t_rank % 2 == 0 ? ncmpi_close(ncid) : ncmpi_abort(ncid)),
            "end_indep_data and close");
    t_local(ncmpi_close(ncid) == NC_EBADID, "the file is still open");
}

/* The values of pending and independent puts of each rank are in the file. */
static void test_alone(bool safe)
{
    int ncid, value = -1 - t_rank, got = 0, err;
    MPI_Offset start = first(), one = 1;

    snprintf(under_way, sizeof under_way, "hang: calls of one rank after a mismatch\n");
    alarm(LIMIT);
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    ncid = prepare(DATA);
    t_local(ncmpi_iput_vara_int(ncid, FIXED, &start, &one, &value, NULL) == NC_NOERR, "iput");
    err = is_odd ? ncmpi_sync(ncid) : ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    t_local(is_refused(err), "wait_all and sync: %s", ncmpi_strerrno(err));
    for (int r = 0; r < t_nprocs; r++) {
        if (r == t_rank)
            use_alone(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    for (int varid = FIXED; varid <= OTHER; varid++)
        t_local(ncmpi_get_vara_int_all(ncid, varid, &start, &one, &got) == NC_NOERR && got == value,
                "variable %d has the value %d", varid, got);
    close_file(ncid);
    t_check(true, "calls of each rank alone after calls that do not match, in %s mode", safe ? "safe" : "default");
    alarm(0);
}

/* Only the odd rank knows its records until the calls are compared. */
static void test_records(void)
{
    int ncid = prepare(INDEPENDENT), values[WIDTH] = {1, 2, 3, 4, 5, 6}, err;
    MPI_Offset start[] = {7, 0}, count[] = {1, WIDTH}, n = 0;

    alarm(LIMIT);
    if (is_odd)
        t_local(ncmpi_put_vara_int(ncid, RECORD, start, count, values) == NC_NOERR, "put");
    err = is_odd ? ncmpi_close(ncid) : ncmpi_end_indep_data(ncid);
    t_local(is_refused(err), "end_indep_data and close: %s", ncmpi_strerrno(err));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_odd) { /* in independent mode still; a record more would not be counted */
        t_local(ncmpi_put_vara_int(ncid, RECORD, start, count, values) == NC_NOERR, "put of a record that is counted");
        start[0] = 9;
        t_local(is_refused(ncmpi_put_vara_int(ncid, RECORD, start, count, values)), "put of another record");
        t_local(is_refused(ncmpi_close(ncid)), "close");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_inq_dimlen(ncid, 0, &n) == NC_NOERR && n == 8, "the file has %lld records", (long long)n);
    close_file(ncid);
    t_check(true, "records of one rank are counted, although the calls do not match");
    alarm(0);
}

/* --- one call less --- */

/* `compares`: it has an agreement in each mode in which it can succeed. */
static const struct {
    const char *name;
    int (*make)(int *);
    bool compares;
} steps[] = {
    {"put_att", put_note_again, false},
    {"enddef", call_enddef, true},
    {"put", put, true},
    {"put of a record", put_record, true},
    {"wait_all", wait_none, true},
    {"redef", call_redef, true},
    {"put_att after redef", put_note_again, false},
    {"enddef after redef", call_enddef, true},
    {"flush", call_flush, true},
    {"begin_indep_data", call_begin_indep_data, false},
    {"end_indep_data", call_end_indep_data, false},
    {"put_att in data mode", put_note_again, false},
    {"sync", call_sync, true},
    {"get", get, true},
};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* The odd rank leaves one step out, or all others do. From the first error on, no call that compares succeeds. */
static void try_without(int k, bool odd_leaves, bool safe)
{
    int ncid, found = NC_NOERR, closed;

    snprintf(under_way, sizeof under_way, "hang: without %s, %s mode\n", steps[k].name, safe ? "safe" : "default");
    alarm(LIMIT);
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    ncid = prepare(NEW);
    for (int i = 0; i < NSTEPS; i++) {
        int err = i == k && is_odd == odd_leaves ? NC_NOERR : steps[i].make(&ncid);

        t_local(found == NC_NOERR || !steps[i].compares || i == k || err != NC_NOERR, "%s: %s succeeds", under_way,
                steps[i].name);
        if (err == NC_EMULTICALL)
            found = err;
    }
    closed = close_file(ncid);
    t_local(found == NC_NOERR || closed == found, "%s: close: %s after %s", under_way, ncmpi_strerrno(closed),
            ncmpi_strerrno(found));
    found = found == NC_NOERR ? closed : found;
    t_local(steps[k].make == put_note_again ? !safe || is_refused(found) : is_refused(found), "%s: no error",
            under_way);
    t_check(true, "without %s on %s, %s mode", steps[k].name, odd_leaves ? "one rank" : "the others",
            safe ? "safe" : "default");
    alarm(0);
}

/* The others put, and the odd rank gets: the message has the variables of both calls. A wrong id names none; a rank
 * that passes one has an error of its own. */
static void try_objects(int varid, int odd_varid, const char *of_var, const char *of_odd_var)
{
    char text[NC_MAX_MESSAGE] = "", own[200], other[200];
    int ncid = prepare(DATA), passed = is_odd ? odd_varid : varid, err = access_values(ncid, passed, !is_odd);
    bool wrong = passed < 0 || passed > RECORD;

    t_local(wrong ? err != NC_NOERR : err == NC_EMULTICALL, "put and get: %s", ncmpi_strerrno(err));
    t_local(ncmpi_inq_last_error(ncid, NULL, text) == NC_NOERR, "inq_last_error");
    snprintf(own, sizeof own, "rank 0 called ncmpi_put_vara_int_all%s, ", of_var);
    snprintf(other, sizeof other, "rank %d called ncmpi_get_vara_int_all%s; ", t_nprocs - 1, of_odd_var);
    t_local(wrong || (strstr(text, own) != NULL && strstr(text, other) != NULL), "the message is %s", text);
    t_local(is_refused(close_file(ncid)), "close");
    t_check(true, "the message about a put of variable %d and a get of variable %d", varid, odd_varid);
}

static void test_objects(bool safe)
{
    static const int wrong[] = {-1, -1000000, RECORD + 1, 100000000};

    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    try_objects(FIXED, FIXED, " of \"fixed\"", " of \"fixed\"");
    try_objects(OTHER, FIXED, " of \"other\"", " of \"fixed\"");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        try_objects(FIXED, wrong[i], " of \"fixed\"", "");
        try_objects(wrong[i], OTHER, "", " of \"other\"");
    }
}

/* In the same call, a wrong id is the error of the ranks that pass it, in safe mode of all. */
static void test_wrong_ids(bool safe)
{
    static const int wrong[] = {-1, RECORD + 1}, codes[] = {NC_EGLOBAL, NC_ENOTVAR};
    int ncid;

    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    ncid = prepare(DATA);
    for (int i = 0; i < 2; i++)
        for (int puts = 0; puts < 2; puts++) {
            int err = access_values(ncid, is_odd ? wrong[i] : FIXED, puts != 0);

            if (is_odd)
                t_local(err == codes[i], "the rank with the wrong id: %s", ncmpi_strerrno(err));
            else
                t_local(err == (safe ? codes[i] : NC_NOERR), "the others: %s", ncmpi_strerrno(err));
            expect_code(access_values(ncid, wrong[i], puts != 0), codes[i], puts ? "put by a wrong id" : "get by it");
        }
    t_local(has_values(ncid, FIXED), "wrong values");
    close_file(ncid);
}

/* Whether ncmpi_begin_indep_data compares the calls of the ranks: it writes what waits in memory or in logs. */
static bool has_compared_begin(void)
{
    const char *hints = getenv("PNETCDF_HINTS");

    return !t_classic() || (hints != NULL && strstr(hints, "=enable") != NULL);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    is_odd = t_rank == t_nprocs - 1;
    signal(SIGALRM, report_hang);
    snprintf(path, sizeof path, "%s", t_path("misuse.nc"));
    if (t_nprocs == 1)
        t_skip("one rank");
    else if (argc > 2)
        try_case(atoi(argv[1]), atoi(argv[2]) != 0);
    else
        for (int k = 0; k < NCASES; k++)
            for (int safe = 0; safe < 2; safe++)
                if (!has_compared_begin() || cases[k].odd != begin_and_put)
                    try_case(k, safe != 0);
    if (t_nprocs > 1) {
        if (t_classic())
            test_records();
        for (int k = 0; k < NSTEPS; k++)
            for (int which = 0; which < 4; which++)
                try_without(k, which % 2 != 0, which / 2 != 0);
        for (int safe = 0; safe < 2; safe++) {
            if (t_classic())
                test_alone(safe != 0);
            test_objects(safe != 0);
            test_wrong_ids(safe != 0);
        }
    }
    unlink(path);
    return t_finish();
}

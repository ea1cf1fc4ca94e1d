/* The hint nc_timeout and PNETCDF_TIMEOUT: a collective call that one rank does not make returns NC_ETIMEOUT on all
 * others, and the text on stderr names that rank, and the call of the others. A slow rank within the limit is no error.
 *
 * test_timeout HOW is for test/tools/test_timeout_end.py: "threads" opens files under MPI_THREAD_MULTIPLE; "abort" ends
 * the program; "finalize" ends one rank while the others wait. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../expect.h"

enum { HANG = 60, TEXT = 8192 };

static int odd;                                       /* the rank that does not make the call */
static char path[4096], caught[4200], under_way[200]; /* file, file for stderr, the case */
static int saved_stderr;

static void report_hang(int signal)
{
    (void)signal;
    (void)!write(saved_stderr > 0 ? saved_stderr : 2, under_way, strlen(under_way));
    _exit(3);
}

static void begin_case(const char *text, int rank)
{
    odd = rank;
    snprintf(under_way, sizeof under_way, "hang: %s, without rank %d\n", text, rank);
    alarm(HANG);
}

static void pause_for(double seconds)
{
    time_t whole = (time_t)seconds;

    nanosleep(&(struct timespec){whole, (long)((seconds - (double)whole) * 1e9)}, NULL);
}

/* --- stderr --- */

static void catch_stderr(void)
{
    fflush(stderr);
    saved_stderr = dup(2);
    if (freopen(caught, "w", stderr) == NULL)
        abort();
}

static void release_stderr(char *text)
{
    FILE *f;

    fflush(stderr);
    dup2(saved_stderr, 2);
    close(saved_stderr);
    saved_stderr = 0;
    memset(text, 0, TEXT);
    f = fopen(caught, "r");
    if (f != NULL && fread(text, 1, TEXT - 1, f) == 0)
        text[0] = '\0';
    if (f != NULL)
        fclose(f);
    unlink(caught);
}

/* --- the calls --- */

static int put(int ncid)
{
    MPI_Offset start = t_rank, count = 1;
    int value = t_rank;

    return ncmpi_put_vara_int_all(ncid, 0, &start, &count, &value);
}

static int wait_all(int ncid)
{
    return ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
}

static int rename_var(int ncid)
{
    return ncmpi_rename_var(ncid, 0, "y");
}

/* `defines`: the call is made in define mode; `closes`: it closes the file. */
static const struct {
    const char *name;
    int (*make)(int ncid);
    bool defines, closes;
} calls[] = {
    {"ncmpi_put_vara_int_all", put, false, false}, {"ncmpi_close", ncmpi_close, false, true},
    {"ncmpi_enddef", ncmpi_enddef, true, false},   {"ncmpi_sync", ncmpi_sync, false, false},
    {"ncmpi_flush", ncmpi_flush, false, false},    {"ncmpi_redef", ncmpi_redef, false, false},
    {"ncmpi_wait_all", wait_all, false, false},    {"ncmpi_rename_var", rename_var, false, false},
    {"ncmpi_abort", ncmpi_abort, true, true},
};

enum { NCALLS = sizeof calls / sizeof *calls };

static int create(const char *timeout, bool defines)
{
    int ncid, dim, id;
    MPI_Info info;

    MPI_Info_create(&info);
    if (timeout != NULL)
        MPI_Info_set(info, "nc_timeout", timeout);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "x", t_nprocs, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "x", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    t_local(defines || (ncmpi_enddef(ncid) == NC_NOERR && put(ncid) == NC_NOERR), "enddef and put");
    return ncid;
}

/* After a timeout nothing of the file is left; other files are not affected. */
static void check_new_file(void)
{
    int ncid = create("30", false), got = -1;
    MPI_Offset start = t_rank;

    t_local(ncmpi_get_var1_int_all(ncid, 0, &start, &got) == NC_NOERR && got == t_rank, "value %d", got);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* --- one rank does not make a call --- */

/* One rank prints, once: the rank that is missing, and the call of the others. */
static void check_text(int k, const char *text)
{
    char missing[60], wanted[160];
    int printed = strstr(text, "PnetCDF: ") != NULL, sum = 0;

    snprintf(missing, sizeof missing, "rank %d: no call, and no answer\n", odd);
    snprintf(wanted, sizeof wanted, ": waiting in %s", calls[k].name);
    if (printed)
        t_local(strstr(text, missing) != NULL && strstr(text, wanted) != NULL && strstr(text, "within 1 s") != NULL &&
                    strstr(strstr(text, "PnetCDF: ") + 1, "PnetCDF: ") == NULL,
                "the text is %s", text);
    MPI_Allreduce(&printed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_local(sum == 1, "%d ranks printed a text", sum);
}

static void check_message(int ncid, const char *part)
{
    char message[NC_MAX_MESSAGE] = "";
    int code = 0;

    t_local(ncmpi_inq_last_error(ncid, &code, message) == NC_NOERR && code == NC_ETIMEOUT &&
                strstr(message, part) != NULL,
            "%d: %s", code, message);
}

static void check_missing(int ncid)
{
    char missing[60];

    snprintf(missing, sizeof missing, "rank %d: no call", odd);
    check_message(ncid, missing);
}

static void expect_timeout(int err, const char *call)
{
    t_local(err == NC_ETIMEOUT, "%s: %s", call, ncmpi_strerrno(err));
}

static void expect_closed(int ncid)
{
    int err = ncmpi_close(ncid);

    t_local(err == NC_EBADID, "close of a file that is closed: %s", ncmpi_strerrno(err));
}

/* The missing rank makes the call when the others have given up. */
static void test_missing(int k, int rank)
{
    char text[TEXT];
    int ncid, err = NC_NOERR, value = 1;

    begin_case(calls[k].name, rank);
    ncid = create("1", calls[k].defines);
    catch_stderr();
    if (t_rank != rank)
        err = calls[k].make(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == rank)
        err = calls[k].make(ncid);
    release_stderr(text);
    expect_timeout(err, calls[k].name);
    check_text(k, text);
    if (t_rank != rank)
        check_missing(calls[k].closes ? NC_GLOBAL : ncid);
    if (!calls[k].closes)
        expect_timeout(t_rank % 2 == 0 ? ncmpi_close(ncid) : ncmpi_abort(ncid), "close after it");
    expect_closed(ncid);
    check_new_file();
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(value == t_nprocs, "%s, without rank %d", calls[k].name, rank);
    alarm(0);
}

/* --- opening --- */

/* Without a communicator of the file ranks 0 and 1 print, each for itself; with that of an earlier file a rank prints
 * for all that wait. */
static void check_opening_text(const char *text, const char *name, bool is_known, int rank)
{
    char waits[100];
    int printed, sum = 0;

    if (is_known)
        snprintf(waits, sizeof waits, " waiting in %s of ", name);
    else
        snprintf(waits, sizeof waits, "Rank %d of %d waits in %s\n", t_rank, t_nprocs, name);
    printed = strstr(text, waits) != NULL;
    t_local(is_known || t_rank == rank || printed == (t_rank < 2), "the text is %s", text);
    MPI_Allreduce(&printed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_local(is_known ? sum == 1 : sum > 0, "%d ranks printed a text", sum);
}

/* A communicator of which files have been opened and closed, or a new one. */
static MPI_Comm create_communicator(bool is_known)
{
    MPI_Comm comm;
    int ncid = -1;

    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm);
    for (int i = 0; i < 2 && is_known; i++)
        t_local(ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR && ncmpi_close(ncid) == NC_NOERR,
                "an earlier file");
    return comm;
}

/* One rank opens the file when the others have given up. */
static void test_opening(bool creates, int rank, bool is_known)
{
    const char *name = creates ? "ncmpi_create" : "ncmpi_open";
    char text[TEXT];
    int ncid = -1, err = NC_NOERR, value = 1;
    double begin;
    MPI_Comm comm;
    MPI_Info info;

    begin_case(name, rank);
    t_local(ncmpi_close(create(NULL, false)) == NC_NOERR, "close");
    comm = create_communicator(is_known);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_timeout", "1");
    catch_stderr();
    begin = MPI_Wtime();
    for (int late = 0; late < 2; late++) {
        if ((t_rank == rank) == late)
            err = creates ? ncmpi_create(comm, path, NC_CLOBBER, info, &ncid)
                          : ncmpi_open(comm, path, NC_NOWRITE, info, &ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    t_local(MPI_Wtime() - begin >= 1, "the call did not wait for the limit");
    release_stderr(text);
    MPI_Info_free(&info);
    expect_timeout(err, name);
    t_local(ncid == -1, "ncid is %d", ncid);
    check_opening_text(text, name, is_known, rank);
    check_message(NC_GLOBAL, "not all ranks have opened this file within 1 s");
    check_new_file();
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(value == t_nprocs, "%s, without rank %d, with a %s communicator", name, rank, is_known ? "known" : "new");
    alarm(0);
}

static void test_slow_opening(void)
{
    int ncid;
    char text[TEXT];

    begin_case("a rank that opens a file within the limit", t_nprocs - 1);
    catch_stderr();
    if (t_rank == odd)
        pause_for(1.5);
    ncid = create("40", false);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    release_stderr(text);
    t_check(text[0] == '\0', "a rank that opens a file within the limit: %s", text);
    alarm(0);
}

/* Independent access needs no other rank. */
static void test_state(void)
{
    int ncid, value = 7 + t_rank, got = 0;
    MPI_Offset start = t_rank;

    begin_case("independent access after a timeout", 0);
    ncid = create("1", false);
    t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    catch_stderr();
    if (t_rank != 0)
        expect_timeout(ncmpi_end_indep_data(ncid), "end_indep_data");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(ncmpi_put_var1_int(ncid, 0, &start, &value) == NC_NOERR, "independent put");
    t_local(ncmpi_get_var1_int(ncid, 0, &start, &got) == NC_NOERR && got == value, "independent get");
    expect_timeout(ncmpi_sync(ncid), "sync");
    expect_timeout(ncmpi_close(ncid), "close");
    release_stderr((char[TEXT]){0});
    expect_closed(ncid);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_get_var1_int_all(ncid, 0, &start, &got) == NC_NOERR && got == value, "the value is %d", got);
    t_check(ncmpi_close(ncid) == NC_NOERR, "independent access after a timeout");
    alarm(0);
}

/* --- slow ranks --- */

static void test_slow(void)
{
    int ncid;
    char text[TEXT];

    begin_case("a slow rank within the limit", t_nprocs - 1);
    ncid = create("40", false);
    catch_stderr();
    for (int i = 0; i < 3; i++) {
        if (t_rank == odd)
            pause_for(0.7 * i);
        t_local(put(ncid) == NC_NOERR, "put");
    }
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    release_stderr(text);
    t_check(text[0] == '\0', "a slow rank within the limit: %s", text);
    alarm(0);
}

/* --- without a limit --- */

static bool prints_warnings(void)
{
    return t_rank != odd && (t_rank == 0 || t_rank == 1 || t_rank == 2 || t_rank == 4 || t_rank == 8);
}

/* Ranks 0, 1, 2, 4 and so on that wait print one line for the file, about this call, and all continue. */
static void check_warning(const char *call)
{
    char text[TEXT], wanted[4300], *found, *again;

    release_stderr(text);
    snprintf(wanted, sizeof wanted, "PnetCDF warning: %s: rank %d of %d has waited for ", path, t_rank, t_nprocs);
    found = strstr(text, wanted);
    again = found == NULL ? NULL : strstr(found + 1, "PnetCDF");
    t_local((found != NULL) == prints_warnings() && again == NULL, "%s: the text is %s", call, text);
    t_local(found == NULL || (strstr(found, call) != NULL && strstr(found, "PNETCDF_TIMEOUT=") != NULL),
            "%s: the text is %s", call, text);
    t_local(found != NULL || text[0] == '\0', "%s: the text is %s", call, text);
}

static void test_warning(int rank)
{
    int ncid;

    begin_case("a warning", rank);
    setenv("PNETCDF_TIMEOUT", "1,warn", 1);
    ncid = create(NULL, false);
    catch_stderr();
    for (int i = 0; i < 2; i++) {
        if (t_rank == odd)
            pause_for(2.5);
        t_local(put(ncid) == NC_NOERR, "put");
    }
    check_warning(" in ncmpi_put_vara_int_all for ");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Barrier(MPI_COMM_WORLD);
    catch_stderr();
    if (t_rank == odd)
        pause_for(2.5);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    check_warning(" in ncmpi_open for ");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    unsetenv("PNETCDF_TIMEOUT");
    t_check(true, "ranks that wait for rank %d print a warning", rank);
    alarm(0);
}

static double delay; /* of writes, seconds */

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buf, int n, MPI_Datatype type, MPI_Status *status)
{
    if (delay > 0)
        pause_for(delay);
    return PMPI_File_write_at(file, offset, buf, n, type, status);
}

/* The limit is for ranks that do not make the call, not for those that write for long. */
static void test_slow_access(void)
{
    int ncid;
    char text[TEXT];

    begin_case("a slow access", t_nprocs - 1);
    ncid = create("1", false);
    catch_stderr();
    delay = t_rank == odd ? 2.5 : 0;
    t_local(put(ncid) == NC_NOERR, "put");
    delay = 0;
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    release_stderr(text);
    t_check(text[0] == '\0', "a slow access: %s", text);
    alarm(0);
}

/* Whatever happens near the limit, the ranks decide alike. */
static void test_late(double seconds)
{
    int ncid, err, least, most, end;

    begin_case("a rank that arrives near the limit", t_nprocs - 1);
    ncid = create("1", false);
    catch_stderr();
    if (t_rank == odd)
        pause_for(seconds);
    err = put(ncid);
    MPI_Allreduce(&err, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&err, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    end = ncmpi_close(ncid);
    release_stderr((char[TEXT]){0});
    t_check(least == most && end == err && (err == NC_NOERR || err == NC_ETIMEOUT),
            "a rank that arrives after %.1f s, limit 1 s: all %s", seconds, err == NC_NOERR ? "complete" : "return");
    alarm(0);
}

static bool hides_messages; /* as if they were still under way */
static int left_in_comm;    /* messages not received when a communicator was freed */

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (!hides_messages)
        return PMPI_Iprobe(source, tag, comm, flag, status);
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    for (int i = 0, found = 0; i < 20; i++, found = 0) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *comm, &found, MPI_STATUS_IGNORE);
        left_in_comm += found;
    }
    return PMPI_Comm_free(comm);
}

/* The warning arrives when the last rank has begun to close the file: it must not outlive the communicator, as the next
 * one could take it for its own. */
static void test_crossing(bool aborts)
{
    char text[TEXT];
    int ncid, value = 1;

    begin_case("a warning that crosses with close", t_nprocs - 1);
    ncid = create("1", false);
    catch_stderr();
    left_in_comm = 0;
    hides_messages = t_rank == odd;
    if (t_rank == odd)
        pause_for(1.3);
    t_local((aborts ? ncmpi_abort(ncid) : ncmpi_close(ncid)) == NC_NOERR, "close");
    hides_messages = false;
    release_stderr(text);
    t_local(text[0] == '\0', "stderr: %s", text);
    t_local(left_in_comm == 0, "a message was left in a communicator");
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(value == t_nprocs, "a warning that crosses with the last rank's %s", aborts ? "abort" : "close");
    alarm(0);
}

static double delay_of_opening; /* after the duplication of the communicator, seconds */

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out)
{
    if (delay_of_opening > 0)
        pause_for(delay_of_opening);
    return PMPI_Comm_create_group(comm, group, tag, out);
}

/* Only one rank has a limit. Its warning does not stop the others, which do not look for it, and must not outlive the
 * opening. The limit of rank 0 becomes that of all. */
static void test_limit_of_one(int limited, bool exists)
{
    int ncid = -1, err, late = limited == 0 ? t_nprocs - 1 : 0;
    MPI_Info info = MPI_INFO_NULL;

    begin_case("one rank with a limit", late);
    t_local(ncmpi_close(create(NULL, false)) == NC_NOERR, "close");
    if (t_rank == limited) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_timeout", "1");
    }
    left_in_comm = 0;
    delay_of_opening = t_rank == late ? 1.5 : 0;
    err = ncmpi_open(MPI_COMM_WORLD, exists ? path : "missing.nc", NC_NOWRITE, info, &ncid);
    delay_of_opening = 0;
    t_local(err == (exists ? NC_NOERR : NC_ENOENT), "open: %s", ncmpi_strerrno(err));
    if (err == NC_NOERR)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    if (t_rank == limited)
        MPI_Info_free(&info);
    t_local(left_in_comm == 0, "%d messages were left in a communicator", left_in_comm);
    t_check(true, "rank %d with a limit, which others do not have, opens %s", limited, exists ? "a file" : "no file");
    alarm(0);
}

static void test_mismatch(void)
{
    int ncid, err;

    begin_case("calls that do not match", 0);
    ncid = create("40", false);
    err = t_rank == 0 ? put(ncid) : ncmpi_sync(ncid);
    t_local(err == NC_EMULTICALL, "%s", ncmpi_strerrno(err));
    t_check(ncmpi_close(ncid) == NC_EMULTICALL, "calls that do not match, with a limit");
    alarm(0);
}

/* --- values --- */

/* Environment and hint, and what is in effect; `remark`: part of the message after ncmpi_create on rank 0. */
static const struct {
    const char *variable, *hints, *hint, *seconds, *action, *remark;
} values[] = {
    {NULL, NULL, NULL, "0", "error", NULL},
    {NULL, NULL, "7", "7", "error", NULL},
    {"5", NULL, "7", "5", "error", NULL},
    {"5,abort", "nc_timeout=9", "7", "9", "abort", NULL},
    {"5,error", NULL, NULL, "5", "error", NULL},
    {"5,warn", NULL, NULL, "5", "warn", NULL},
    {"0", NULL, "7", "0", "error", NULL},
    {"", NULL, "7", "7", "error", NULL},
    {"soon", NULL, NULL, "0", "error", "PNETCDF_TIMEOUT: soon is ignored"},
    {"-3", NULL, NULL, "0", "error", "PNETCDF_TIMEOUT: -3 is ignored"},
    {"1.5", NULL, NULL, "0", "error", "PNETCDF_TIMEOUT: 1.5 is ignored"},
    {"5,explode", NULL, NULL, "5", "error", "PNETCDF_TIMEOUT: explode is ignored"},
    {",abort", NULL, NULL, "0", "abort", NULL},
    {"99999999999999999999", NULL, NULL, "0", "error", "PNETCDF_TIMEOUT: 9999"},
    {NULL, NULL, "x", "0", "error", "nc_timeout=x is ignored"},
};

static void set_variable(const char *name, const char *value)
{
    if (value == NULL)
        unsetenv(name);
    else
        setenv(name, value, 1);
}

static void test_value(int k)
{
    int ncid, found;
    char got[MPI_MAX_INFO_VAL + 1] = "", message[NC_MAX_MESSAGE] = "";
    MPI_Info info;

    set_variable("PNETCDF_TIMEOUT", t_rank == 0 ? values[k].variable : NULL); /* launchers may set it there only */
    set_variable("PNETCDF_HINTS", values[k].hints);
    ncid = create(values[k].hint, true);
    if (values[k].remark != NULL && t_rank == 0)
        t_local(ncmpi_inq_last_error(ncid, NULL, message) == NC_NOERR && strstr(message, values[k].remark) != NULL,
                "the remark is %s", message);
    t_local(ncmpi_inq_file_info(ncid, &info) == NC_NOERR, "inq_file_info");
    MPI_Info_get(info, "nc_timeout", MPI_MAX_INFO_VAL, got, &found);
    t_local(found && strcmp(got, values[k].seconds) == 0, "nc_timeout is %s", got);
    MPI_Info_get(info, "nc_timeout_action", MPI_MAX_INFO_VAL, got, &found);
    t_local(found && strcmp(got, values[k].action) == 0, "nc_timeout_action is %s", got);
    MPI_Info_free(&info);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    t_check(true, "PNETCDF_TIMEOUT=%s, hint %s", values[k].variable != NULL ? values[k].variable : "(unset)",
            values[k].hint != NULL ? values[k].hint : "(none)");
    unsetenv("PNETCDF_TIMEOUT");
    unsetenv("PNETCDF_HINTS");
}

/* --- what ends the program --- */

static int end_program(bool aborts)
{
    int ncid, err = NC_NOERR;

    setenv("PNETCDF_TIMEOUT", aborts ? "1,abort" : "1", 1);
    ncid = create(NULL, false);
    if (aborts) {
        if (t_rank > 0)
            put(ncid);
        pause_for(HANG); /* ended before */
    } else if (t_rank > 0) {
        err = put(ncid);
        fprintf(stderr, "put: %s; close: %s\n", ncmpi_strerrno(err),
                err == NC_NOERR ? "" : ncmpi_strerrno(ncmpi_close(ncid)));
    }
    MPI_Finalize();
    return 0;
}

/* With threads, no file leaves a communicator for the next. */
static void test_openings(bool threads)
{
    for (int rank = 0; rank < t_nprocs; rank += t_nprocs - 1)
        for (int creates = 0; creates < 2; creates++) {
            if (!t_quick() || (rank == 0) == creates)
                test_opening(creates, rank, false);
            if (!threads && (rank == 0) != creates)
                test_opening(creates, rank, true);
        }
    test_slow_opening();
    for (int rank = t_quick(); rank < 2; rank++) {
        test_limit_of_one(rank, true);
        test_limit_of_one(rank, false);
    }
}

static void test_open_file(void)
{
    for (int k = 0; k < NCALLS; k++)
        if (k < 2 || !t_quick())
            test_missing(k, k % t_nprocs);
    if (!t_quick())
        test_missing(0, t_nprocs - 1);
    test_state();
    test_warning(0);
    if (!t_quick())
        test_warning(t_nprocs - 1);
    test_slow();
    test_slow_access();
    test_late(1.3);
    if (!t_quick())
        test_late(3.2);
    test_crossing(false);
    test_crossing(true);
    test_mismatch();
}

int main(int argc, char **argv)
{
    bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;

    if (!t_start_threaded(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE)) {
        t_skip("this MPI library does not provide MPI_THREAD_MULTIPLE");
        return t_finish();
    }
    signal(SIGALRM, report_hang);
    snprintf(path, sizeof path, "%s", t_path("timeout.nc"));
    snprintf(caught, sizeof caught, "%s.%d", t_path("stderr"), t_rank);
    if (argc > 1 && !threads)
        return end_program(strcmp(argv[1], "abort") == 0);
    for (int k = 0; k < (int)(sizeof values / sizeof *values) && !threads; k++)
        test_value(k);
    if (t_nprocs == 1)
        t_skip("one rank");
    else
        test_openings(threads);
    if (t_nprocs > 1 && !threads)
        test_open_file();
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(path);
    return t_finish();
}

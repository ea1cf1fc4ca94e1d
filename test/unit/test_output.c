/* Output files of the tools and their progress line, as another process, or a terminal, sees them. */
#include "config.h" /* system extensions: pseudo-terminals */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/common/progress.h"

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_content(const char *path, const char *text)
{
    char read[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(read, 1, sizeof read - 1, file) > 0);
    fclose(file);
    assert_string_equal(read, text);
}

static void assert_no_partial(void)
{
    glob_t found;
    assert_int_equal(glob("*partial*", 0, NULL, &found), GLOB_NOMATCH);
    globfree(&found);
}

static int begin(const char *path, bool overwrite, tool_output *output, pnc_error *error)
{
    return tool_output_begin(&(tool_output_request){.path = path, .overwrite = overwrite}, output, error);
}

static void test_commit(void **state)
{
    tool_output output;
    pnc_error error = {0};
    struct stat status;
    (void)state;
    assert_int_equal(begin("new", false, &output, &error), NC_NOERR);
    assert_int_equal(access("new", F_OK), -1); /* not before it is complete */
    assert_int_equal(access(output.temporary, F_OK), 0);
    put(output.temporary, "made");
    assert_int_equal(tool_output_commit(&output, &error), NC_NOERR);
    assert_content("new", "made");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640); /* main sets the mask */
    assert_no_partial();
}

static void test_overwrite(void **state)
{
    tool_output output;
    pnc_error error = {0};
    struct stat status;
    (void)state;
    put("old", "before");
    chmod("old", 0600);
    assert_int_equal(symlink("old", "link"), 0);
    assert_int_equal(begin("old", false, &output, &error), NC_EEXIST);
    assert_string_equal(error.text, "old: exists already");
    assert_int_equal(begin("link", true, &output, NULL), NC_NOERR);
    put(output.temporary, "after");
    assert_content("old", "before");
    assert_int_equal(tool_output_commit(&output, NULL), NC_NOERR);
    assert_content("old", "after");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("old", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* a private file stays private */
    assert_no_partial();
}

static bool has_null_device(void)
{
    struct stat facts;
    return stat("/dev/null", &facts) == 0 && S_ISCHR(facts.st_mode);
}

static void test_refused(void **state)
{
    tool_output output;
    (void)state;
    if (has_null_device())
        assert_int_equal(begin("/dev/null", true, &output, NULL), NC_EACCESS);
    assert_int_equal(begin(".", true, &output, NULL), NC_EACCESS);
    assert_int_equal(begin("missing/new", false, &output, NULL), NC_ENOENT);
    assert_int_equal(symlink("nowhere", "loose"), 0);
    assert_int_equal(begin("loose", true, &output, NULL), NC_ENOENT);
    assert_no_partial();
}

static bool is_short(const char *head, size_t n)
{
    (void)head;
    return n < 5;
}

static void test_kinds(void **state)
{
    const char *inputs[] = {"other", "input"};
    tool_output_request request = {.path = "kind", .is_kind = is_short, .kind = "short", .option = "-O"};
    tool_output output;
    pnc_error error = {0};
    (void)state;
    put("kind", "long text");
    assert_int_equal(tool_output_check(&request, &error), NC_EEXIST);
    assert_string_equal(error.text, "kind: exists already and is not short (-O replaces it)");
    put("kind", "text");
    assert_int_equal(tool_output_check(&request, NULL), NC_NOERR);
    put("kind", "");
    request.is_kind = NULL;
    assert_int_equal(tool_output_check(&request, NULL), NC_NOERR);
    put("input", "precious");
    assert_int_equal(link("input", "alias"), 0);
    request = (tool_output_request){.path = "alias", .inputs = inputs, .ninputs = 2, .overwrite = true};
    assert_int_equal(tool_output_begin(&request, &output, &error), NC_EINVAL);
    assert_content("input", "precious");
    assert_false(tool_path_is_among("alias", inputs, 1));
    assert_no_partial();
}

static void test_stream(void **state)
{
    tool_output_request request = {.path = "/dev/null", .streams = true};
    tool_output output;
    (void)state;
    if (!has_null_device())
        skip();
    assert_int_equal(tool_output_begin(&request, &output, NULL), NC_NOERR);
    assert_string_equal(output.temporary, "/dev/null");
    assert_int_equal(tool_output_commit(&output, NULL), NC_NOERR);
    assert_int_equal(access("/dev/null", W_OK), 0);
    assert_no_partial();
}

static void test_netcdf(void **state)
{
    (void)state;
    assert_true(tool_netcdf_is_head("CDF\1", 4) && tool_netcdf_is_head("CDF\5....", 8));
    assert_true(tool_netcdf_is_head("CDF\x81", 4)); /* its header is growing */
    assert_true(tool_netcdf_is_head("\x89HDF\r\n\x1a\n", 8));
    assert_false(tool_netcdf_is_head("CDF\3", 4) || tool_netcdf_is_head("CDF\1", 3) || tool_netcdf_is_head("", 0));
}

static void test_discard(void **state)
{
    tool_output output;
    (void)state;
    assert_int_equal(begin("never", false, &output, NULL), NC_NOERR);
    tool_output_discard(&output);
    assert_int_equal(begin("race", false, &output, NULL), NC_NOERR);
    put("race", "another program");
    assert_int_equal(tool_output_commit(&output, NULL), NC_EEXIST);
    assert_content("race", "another program");
    assert_int_equal(access("never", F_OK), -1);
    assert_no_partial();
}

static void test_signal(void **state)
{
    (void)state;
    for (int watcher = 0; watcher < 2; watcher++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            tool_output output;
            if (begin("ended", false, &output, NULL) != NC_NOERR)
                _exit(1);
            if (watcher) { /* as another rank, which received the name */
                tool_output_watch(NULL);
                tool_output_watch(output.temporary);
            }
            raise(SIGTERM);
            _exit(2);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        assert_no_partial();
    }
}

static void test_hold(void **state)
{
    int status;
    pid_t child = fork();
    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        tool_output output;
        tool_signals_hold();
        raise(SIGINT);
        raise(SIGTERM); /* the first one counts */
        if (begin("held", false, &output, NULL) != NC_NOERR || access(output.temporary, F_OK) != 0)
            _exit(1);
        tool_signals_release();
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    assert_no_partial();
}

static void test_progress_line(void **state)
{
    char line[100];
    (void)state;
    tool_progress_format("x", 1 << 20, 4 << 20, 2, line, sizeof line);
    assert_string_equal(line, "x: 25 % of 4 MiB, 0 MiB/s, 0:06 left");
    tool_progress_format("x", INT64_C(1) << 40, INT64_C(3) << 40, 4096, line, sizeof line);
    assert_string_equal(line, "x: 33 % of 3145728 MiB, 256 MiB/s, 2:16:32 left");
    tool_progress_format("x", 0, 1 << 20, 2, line, sizeof line);
    assert_string_equal(line, "x: 0 % of 1 MiB, 0 MiB/s");
}

/* What is written to the result can be read from *terminal. NULL: this machine has no terminals. */
static FILE *open_terminal(int *terminal)
{
    *terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (*terminal < 0)
        return NULL;
    assert_int_equal(grantpt(*terminal) | unlockpt(*terminal), 0);
    FILE *out = fopen(ptsname(*terminal), "w");
    assert_non_null(out);
    return out;
}

/* The kernel passes on what was written in pieces. */
static void assert_shows(int terminal, const char *text)
{
    char seen[200] = "";
    size_t n = 0;
    while (n < strlen(text)) {
        ssize_t more = read(terminal, seen + n, sizeof seen - 1 - n);
        assert_true(more > 0);
        n += (size_t)more;
    }
    assert_string_equal(seen, text);
}

static void test_progress_terminal(void **state)
{
    tool_progress progress;
    int terminal;
    FILE *out = open_terminal(&terminal);
    (void)state;
    if (out == NULL)
        skip();
    tool_progress_begin(out, "work", 100, &progress);
    tool_progress_update(&progress, 10); /* short work shows nothing */
    progress.begin -= 2;
    progress.next -= 2;
    tool_progress_update(&progress, 99);
    progress.next += 60;
    tool_progress_update(&progress, 100); /* too soon again */
    tool_progress_wipe();
    assert_shows(terminal, "work: 99 % of 0 MiB, 0 MiB/s, 0:00 left\033[K\r\033[K");
    fclose(out);
    close(terminal);
}

/* A message in the middle of work has a line of its own. */
static void test_progress_message(void **state)
{
    tool_progress progress;
    int terminal, before = dup(STDERR_FILENO);
    FILE *out = open_terminal(&terminal);
    (void)state;
    if (out == NULL)
        skip();
    assert_true(before >= 0 && dup2(fileno(out), STDERR_FILENO) >= 0);
    tool_progress_begin(stderr, "work", 100, &progress);
    progress.begin -= 2;
    progress.next -= 2;
    tool_progress_update(&progress, 99);
    tool_error_print("no room");
    tool_progress_wipe(); /* nothing any more */
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_shows(terminal, "work: 99 % of 0 MiB, 0 MiB/s, 0:00 left\033[K\r\033[Kpnetcdf: no room\r\n");
    fclose(out);
    close(terminal);
    close(before);
}

static void test_progress_pipe(void **state)
{
    tool_progress progress;
    FILE *out = fopen("piped", "w");
    (void)state;
    assert_non_null(out);
    tool_progress_begin(out, "work", 100, &progress);
    progress.next = 0;
    tool_progress_update(&progress, 50);
    tool_progress_wipe();
    assert_int_equal(ftell(out), 0);
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit),
        cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_netcdf),
        cmocka_unit_test(test_discard),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_progress_line),
        cmocka_unit_test(test_progress_terminal),
        cmocka_unit_test(test_progress_message),
        cmocka_unit_test(test_progress_pipe),
    };
    const char *folder = getenv("PNC_TEST_TMP");
    if (folder != NULL && chdir(folder) != 0)
        return 99;
    umask(0027);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

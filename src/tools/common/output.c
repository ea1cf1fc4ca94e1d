/* Write to a temporary file, then rename it: rename() is atomic (POSIX). */
#include "config.h" /* system extensions */

#include "tools/common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "drivers/folder/folder.h"
#include "format/codec.h"
#include "formats/reader.h"
#include "host/writer.h"
#include "tools/common/message.h"

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* The state is the number of a pending signal, or one of these. A handler may run on any thread. */
enum { WATCHING = 0, HOLDING = -1, ENDING = -2 };
static atomic_int state = WATCHING;
static int holds;              /* nesting depth */
static char watched[PATH_MAX]; /* the file that a signal removes; "": none. Changes only while HOLDING */

static void remove_and_end(int number)
{
    if (*watched)
        unlink(watched);
    signal(number, SIG_DFL);
    raise(number); /* so that the exit status shows the signal */
}

static void take_signal(int number)
{
    int now = WATCHING;
    if (atomic_compare_exchange_strong(&state, &now, ENDING))
        remove_and_end(number);
    else if (now == HOLDING)
        atomic_compare_exchange_strong(&state, &now, number);
}

static void install_handler(void)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        /* keep ignored signals ignored, as nohup expects */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* makes a file size limit (setrlimit) an ordinary write error */
}

void tool_signals_hold(void)
{
    if (holds++ > 0)
        return;
    install_handler();
    for (int now = WATCHING; !atomic_compare_exchange_strong(&state, &now, HOLDING); now = WATCHING)
        pause(); /* another thread is about to end the process */
}

void tool_signals_release(void)
{
    if (--holds > 0)
        return;
    int number = atomic_exchange(&state, WATCHING);
    if (number > 0)
        take_signal(number);
}

void tool_output_watch(const char *temporary)
{
    tool_signals_hold();
    snprintf(watched, sizeof watched, "%s", temporary ? temporary : "");
    tool_signals_release();
}

static int code_of(int number)
{
    switch (number) {
    case EEXIST: return NC_EEXIST;
    case EACCES:
    case EPERM:
    case EROFS: return NC_EACCESS;
    case ENOENT:
    case ENOTDIR: return NC_ENOENT;
    case ENOMEM: return NC_ENOMEM;
    case ENOSPC: return NC_ENO_SPACE;
    case EDQUOT: return NC_EQUOTA;
    default: return NC_EFILE;
    }
}

static int fail(pnc_error *error, const char *path, const char *what)
{
    int number = errno;
    return pnc_error_set(error, code_of(number), "%s: %s: %s", path, what, strerror(number));
}

/* --- what may be replaced --- */

bool tool_netcdf_is_head(const char *head, size_t n)
{
    return pnc_format_kind_identify(head, n) != PNC_KIND_UNKNOWN ||
           (n >= PNC_MAGIC_BYTES && pnc_format_magic_is_marked(head)); /* its header is growing */
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool tool_path_is_stdout(const char *path)
{
    struct stat there, out;
    return stat(path, &there) == 0 && fstat(STDOUT_FILENO, &out) == 0 && is_same(&there, &out);
}

bool tool_path_is_among(const char *path, const char *const *others, int n)
{
    struct stat there, other;
    if (stat(pnc_path_strip(path), &there) != 0)
        return false;
    for (int i = 0; i < n; i++)
        if (stat(pnc_path_strip(others[i]), &other) == 0 && is_same(&there, &other))
            return true;
    return false;
}

bool tool_input_is_stdout(const char *path)
{
    struct stat out;
    if (!tool_path_is_stdout(path) || fstat(STDOUT_FILENO, &out) != 0 || !S_ISREG(out.st_mode))
        return false;
    tool_error_print("%s: is the input and the output", path);
    return true;
}

enum { HEAD_BYTES = 4096 };

/* -1: the file cannot be read. */
static ssize_t read_head(const char *path, char *head)
{
    ssize_t n = -1;
    int file = open(pnc_path_strip(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
        n = read(file, head, HEAD_BYTES);
        close(file);
    }
    return n;
}

static bool is_store(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is = folder >= 0 && pnc_formats_readers_find_folder(folder) != NULL;
    if (folder >= 0)
        close(folder);
    return is;
}

/* Of a folder that is there. */
static int check_folder(const tool_output_request *request, pnc_error *error)
{
    const char *path = request->path;
    if (!request->is_folder || !is_store(pnc_path_strip(path)))
        return pnc_error_set(error, NC_EACCESS, "%s: is a folder%s: choose another output", path,
                             request->is_folder ? ", and no Zarr store" : "");
    if (request->overwrite)
        return NC_NOERR;
    return pnc_error_set(error, NC_EEXIST, "%s: exists already%s%s%s", path, request->option != NULL ? " (" : "",
                         request->option != NULL ? request->option : "",
                         request->option != NULL ? " replaces it)" : "");
}

/* A file that cannot be read is of no known kind. */
static bool has_kind(const tool_output_request *request)
{
    char head[HEAD_BYTES];
    ssize_t n = read_head(request->path, head);
    return n >= 0 && request->is_kind(head, (size_t)n);
}

/* What a program would still write to a file of chunks that is replaced would be lost. */
static int check_writer(const char *path, pnc_error *error)
{
    char head[HEAD_BYTES], why[PNC_HOST_WHY_BYTES];
    ssize_t n = read_head(path, head);
    pnc_host_writer *writer;
    pnc_held held;
    if (n <= 0 || pnc_formats_readers_find(head, n) == NULL)
        return NC_NOERR;
    held = pnc_host_writer_begin(pnc_path_strip(path), &writer, why, sizeof why);
    if (held == PNC_HELD_BY_OTHERS)
        return pnc_error_set(error, NC_EACCESS, "%s: is not replaced: %s", path, why);
    if (held == PNC_HELD)
        pnc_host_writer_end(writer);
    return NC_NOERR;
}

static int check_existing(const tool_output_request *request, const struct stat *there, pnc_error *error)
{
    const char *path = request->path, *option = request->option;
    if (tool_path_is_among(path, request->inputs, request->ninputs))
        return pnc_error_set(error, NC_EINVAL, "%s: is an input: choose another name for the output", path);
    if (request->streams && (S_ISCHR(there->st_mode) || S_ISFIFO(there->st_mode)))
        return NC_NOERR;
    if (S_ISDIR(there->st_mode))
        return check_folder(request, error);
    if (!S_ISREG(there->st_mode) || request->is_folder)
        return pnc_error_set(error, NC_EACCESS, "%s: not a %s: choose another output", path,
                             request->is_folder ? "folder" : "regular file");
    if (there->st_size == 0 || request->overwrite || (request->is_kind != NULL && has_kind(request)))
        return check_writer(path, error);
    return pnc_error_set(error, NC_EEXIST, "%s: exists already%s%s%s%s%s", path,
                         request->is_kind != NULL ? " and is not " : "", request->is_kind != NULL ? request->kind : "",
                         option != NULL ? " (" : "", option != NULL ? option : "",
                         option != NULL ? " replaces it)" : "");
}

int tool_output_check(const tool_output_request *request, pnc_error *error)
{
    struct stat there;
    return stat(pnc_path_strip(request->path), &there) == 0 ? check_existing(request, &there, error) : NC_NOERR;
}

/* Sets output->path, and *mode to the permissions of the file to be replaced, or of a new file. */
static int choose_path(const tool_output_request *request, tool_output *output, mode_t *mode, pnc_error *error)
{
    const char *path = pnc_path_strip(request->path); /* for the system, which makes the temporary name */
    struct stat there;
    if (stat(path, &there) == 0) {
        PNC_TRY(check_existing(request, &there, error));
        *mode = there.st_mode & 0777;
        output->replaces = true;
        output->direct = !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
        output->path = realpath(path, NULL);
        if (output->path == NULL && output->direct) /* /dev/stdout is a link to a pipe, which has no name */
            output->path = pnc_string_copy(path);
        return output->path != NULL ? NC_NOERR : fail(error, path, "cannot be replaced");
    }
    if (lstat(path, &there) == 0)
        return pnc_error_set(error, NC_ENOENT, "%s: is a symbolic link without a target", path);
    if (errno != ENOENT)
        return fail(error, path, "cannot be written");
    mode_t mask = umask(0);
    umask(mask);
    *mode = (request->is_folder ? 0777 : 0666) & ~mask;
    output->path = pnc_string_copy(path);
    return output->path != NULL ? NC_NOERR : pnc_error_set(error, NC_ENOMEM, "%s: not enough memory", path);
}

/* --- the file --- */

/* A folder is not removed by signals: it has objects by then. */
static int make_temporary(char *temporary, bool is_folder)
{
    tool_signals_hold();
    int file = is_folder && mkdtemp(temporary) != NULL ? open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (!is_folder)
        file = mkstemp(temporary);
    if (file >= 0 && !is_folder)
        tool_output_watch(temporary);
    tool_signals_release();
    return file;
}

static void free_names(tool_output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (tool_output){0};
}

static int create_temporary(const tool_output_request *request, mode_t mode, tool_output *output, pnc_error *error)
{
    const char *path = request->path;
    int err = NC_NOERR, file = make_temporary(output->temporary, request->is_folder);
    if (file < 0) {
        err = fail(error, path, "cannot be created");
        free_names(output);
        return err;
    }
    if (fchmod(file, mode) != 0)
        err = fail(error, path, "its permissions cannot be set");
    if (close(file) != 0 && err == NC_NOERR)
        err = fail(error, path, "cannot be created");
    if (err != NC_NOERR)
        tool_output_discard(output);
    return err;
}

int tool_output_begin(const tool_output_request *request, tool_output *output, pnc_error *error)
{
    static const char ending[] = ".partial-XXXXXX";
    mode_t mode = 0;
    *output = (tool_output){.is_folder = request->is_folder};
    PNC_TRY(choose_path(request, output, &mode, error));
    size_t capacity = strlen(output->path) + sizeof ending;
    output->temporary = malloc(capacity);
    if (output->temporary == NULL) {
        free_names(output);
        return pnc_error_set(error, NC_ENOMEM, "%s: not enough memory", request->path);
    }
    snprintf(output->temporary, capacity, "%s%s", output->path, output->direct ? "" : ending);
    return output->direct ? NC_NOERR : create_temporary(request, mode, output, error);
}

static int remove_folder(const char *path)
{
    pnc_folder folder;
    pnc_error error = {0};
    int err = pnc_folder_root_open(&folder, path, &error);
    if (err == NC_NOERR) {
        err = pnc_folder_content_delete(&folder, &error);
        pnc_folder_root_close(&folder);
    }
    return err == NC_NOERR && rmdir(path) == 0 ? 0 : -1;
}

/* Of the store that the new one replaces; another program may have put something else in its place. */
static void remove_replaced(const char *path)
{
    if (!is_store(path) || remove_folder(path) != 0)
        tool_warning_print("%s: what the output has replaced is here: it was not deleted", path);
}

/* A folder that is there changes places with the new one, and is deleted. Where the file system cannot do that, there
 * is a moment without a folder of that name. */
static int rename_output(const tool_output *output)
{
    if (!output->is_folder || !output->replaces)
        return rename(output->temporary, output->path);
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_EXCHANGE) == 0) {
        remove_replaced(output->temporary);
        return 0;
    }
    if (!is_store(output->path)) {
        errno = EEXIST;
        return -1;
    }
    return remove_folder(output->path) != 0 ? -1 : rename(output->temporary, output->path);
}

int tool_output_commit(tool_output *output, pnc_error *error)
{
    struct stat there;
    int err = NC_NOERR;
    if (output->direct) {
        free_names(output);
        return NC_NOERR;
    }
    if (!output->replaces && lstat(output->path, &there) == 0)
        err = pnc_error_set(error, NC_EEXIST, "%s: was created by another program meanwhile", output->path);
    else if (rename_output(output) != 0)
        err = fail(error, output->path, "cannot be renamed from its temporary name");
    if (err != NC_NOERR) {
        tool_output_discard(output);
        return err;
    }
    tool_output_watch(NULL);
    free_names(output);
    return NC_NOERR;
}

void tool_output_discard(tool_output *output)
{
    if (output->temporary != NULL && output->is_folder)
        (void)remove_folder(output->temporary);
    else if (output->temporary != NULL && !output->direct)
        unlink(output->temporary);
    tool_output_watch(NULL);
    free_names(output);
}

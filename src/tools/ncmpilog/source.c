/* Logs and marks in files. */
#include "tools/ncmpilog/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "host/host.h"
#include "host/bytes.h"
#include "tools/common/message.h"

#define MARK_MOST (INT64_C(1) << 30) /* bytes of a mark: that of ten million ranks */

static bool read_log(void *file, int64_t at, void *bytes, int64_t n)
{
    const log_source *source = file;

    return pnc_host_bytes_read(source->fd, at, bytes, n) == 0;
}

static int get_code(int number)
{
    switch (number) {
    case ENOENT: return NC_ENOENT;
    case EACCES: return NC_EACCESS;
    default: return NC_EFILE;
    }
}

int log_source_open(const char *path, log_source *out)
{
    struct stat facts;

    *out = (log_source){.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), .path = pnc_string_copy(path)};
    if (out->fd < 0)
        return get_code(errno);
    if (out->path == NULL)
        return NC_ENOMEM;
    if (fstat(out->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return NC_EFILE;
    out->reader = (pnc_log_reader){.file = out, .read = read_log, .size = facts.st_size};
    return pnc_log_reader_begin(&out->reader) ? NC_NOERR : NC_EBADLOG;
}

void log_source_close(log_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    pnc_memory_free(source->path);
    *source = (log_source){.fd = -1};
}

bool log_source_is_held(const log_source *source)
{
    return pnc_host_file_hold(source->fd, PNC_HOLD_INQUIRE) == PNC_HELD_BY_OTHERS;
}

/* A copy has no locks. */
static bool is_original(const log_source *source)
{
    const pnc_log_front *front = &source->reader.front;
    struct stat facts;
    int64_t birth = pnc_host_file_get_birth(source->path);

    return fstat(source->fd, &facts) == 0 && (int64_t)facts.st_ino == front->inode &&
           (birth == 0 || front->birth == 0 || birth == front->birth);
}

bool log_source_has_locks(const log_source *source, bool file_shows)
{
    const pnc_log_front *front = &source->reader.front;
    int64_t node[2];
    bool is_here;

    pnc_host_node_get(node);
    is_here = node[0] == front->node[0] && node[1] == front->node[1] && (node[0] != 0 || node[1] != 0);
    if (is_original(source))
        return pnc_host_file_is_local(source->fd) || is_here;
    return file_shows && is_here;
}

bool log_source_is_own(const log_source *source)
{
    struct stat facts;

    return fstat(source->fd, &facts) == 0 && facts.st_uid == geteuid();
}

/* In both slots in turns, so that one remains if this program dies. */
int log_source_write_time(log_source *source, int64_t time)
{
    char slot[PNC_LOG_SLOT_BYTES];
    int fd = open(source->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC), number;

    if (fd < 0)
        return errno;
    pnc_log_time_encode(&source->reader.front, time, slot);
    number = pnc_host_bytes_write(fd, PNC_LOG_TIMES_AT + source->time_slot * (int64_t)sizeof slot, slot, sizeof slot);
    source->time_slot = 1 - source->time_slot;
    close(fd);
    return number;
}

char *log_mark_locate(const char *file)
{
    char *mark = pnc_host_path_extend(pnc_path_strip(file), PNC_LOG_MARK_SUFFIX);

    if (mark == NULL)
        tool_error_print("%s: not enough memory", file);
    return mark;
}

static int load_text(const char *path, int fd, pnc_log_mark *out)
{
    pnc_error error = {0};
    struct stat facts;
    char *text = NULL;
    int err = NC_EREAD, number = 0;

    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > MARK_MOST)
        number = EINVAL;
    if (number == 0)
        text = pnc_memory_alloc(facts.st_size + 1, 1);
    if (number == 0)
        number = text == NULL ? ENOMEM : pnc_host_bytes_read(fd, 0, text, facts.st_size);
    if (number == 0)
        err = pnc_log_mark_decode(text, facts.st_size, out, &error);
    if (err != NC_NOERR)
        tool_error_print("%s: %s", path, number > 0 ? strerror(number) : error.text);
    pnc_memory_free(text);
    return err;
}

int log_mark_load(const char *path, bool *found, pnc_log_mark *out)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;

    *out = (pnc_log_mark){.stamp = 0};
    *found = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return NC_NOERR;
    if (fd < 0) {
        tool_error_print("%s: %s", path, strerror(errno));
        return get_code(errno);
    }
    err = load_text(path, fd, out);
    close(fd);
    return err;
}

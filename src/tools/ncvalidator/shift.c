/* Find the offset at which a move of data up by a distance D stopped.
 *
 * The last byte is moved first. If all bytes from P on have moved, and none before, then for each offset x of the old
 * data
 *
 *   x < P: x holds the old byte;
 *
 *   P <= x < P + D: x holds the old byte, not yet overwritten, and x + D holds the same byte;
 *
 *   P + D <= x: x holds the byte that was at x - D, and x + D the old byte at x.
 *
 * So the D bytes from P equal the D bytes from P + D: this function searches for such a run. A longer run of equal
 * bytes gives the same result for every P in it; two runs are ambiguous. D is the growth of the file, because the bytes
 * beyond its end are moved first. */
#include "tools/ncvalidator/shift.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "host/bytes.h"
#include "tools/common/message.h"

enum { PORTION = 1 << 20, LEAST = 32 }; /* fewer equal bytes may be chance */

typedef struct search {
    shift *s;
    int64_t run;   /* equal bytes up to this offset */
    bool constant; /* they are all the same: that may be chance */
    char last;
} search;

static void end_run(search *q, int64_t at)
{
    shift *s = q->s;

    if (q->run >= s->distance) {
        s->found = s->found > 0 || q->constant ? 2 : 1;
        s->from = at;
    }
    q->run = 0;
    q->constant = true;
}

static void compare(search *q, int64_t at, const char *low, const char *high, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (low[i] != high[i]) {
            end_run(q, at + i);
            continue;
        }
        if (q->run > 0 && low[i] != q->last)
            q->constant = false;
        q->last = low[i];
        q->run++;
    }
}

/* distance: bytes of the file after `end`. */
static int try_distance(const tool_file *file, int64_t first, int64_t end, char *buffer, shift *s)
{
    search q = {s, 0, true, 0};
    int err = NC_NOERR;

    for (int64_t at = first, n; at < end && err == NC_NOERR; at += n) {
        n = end - at < PORTION ? end - at : PORTION;
        err = tool_file_read(file, at, buffer, n);
        if (err == NC_NOERR)
            err = tool_file_read(file, at + s->distance, buffer + PORTION, n);
        if (err == NC_NOERR)
            compare(&q, at, buffer, buffer + PORTION, n);
    }
    end_run(&q, end);
    return err;
}

int validator_shift_find(const tool_file *file, int64_t first, int64_t end, int64_t old_size, shift *s)
{
    char *buffer = pnc_memory_alloc(2, PORTION);
    int err = NC_NOERR;

    *s = (shift){.found = 0};
    if (buffer == NULL) {
        tool_error_print("%s: not enough memory to search for moved data", file->path);
        return NC_ENOMEM;
    }
    /* the last variable moves with its padding if it is a record variable, else without */
    for (int64_t tried = old_size; s->found == 0 && err == NC_NOERR; tried = end) {
        s->distance = file->size - tried;
        if (s->distance >= LEAST)
            err = try_distance(file, first, tried, buffer, s);
        if (tried == end)
            break;
    }
    pnc_memory_free(buffer);
    return err;
}

int validator_shift_undo(const tool_file *file, const shift *s, int64_t end, int fd)
{
    char *buffer = pnc_memory_alloc(PORTION, 1);
    int err = buffer == NULL ? ENOMEM : 0;

    for (int64_t at = s->from, n; at < end && err == 0; at += n) {
        n = file->size - s->distance - at;
        n = n < PORTION ? n : PORTION;
        if (n <= 0)
            break;
        if (tool_file_read(file, at + s->distance, buffer, n) != NC_NOERR)
            err = EIO;
        else
            err = pnc_host_bytes_write(fd, at, buffer, n);
    }
    pnc_memory_free(buffer);
    return err;
}

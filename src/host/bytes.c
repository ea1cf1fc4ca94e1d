#include "config.h" /* system extensions */

#include "host/bytes.h"

#include <errno.h>
#include <unistd.h>

enum { LARGEST = 1 << 30 }; /* a call of Linux transfers at most 2 GiB */

static size_t limit_bytes(int64_t n)
{
    return (size_t)(n < LARGEST ? n : LARGEST);
}

int pnc_host_bytes_read(int file, int64_t offset, void *bytes, int64_t n)
{
    for (int64_t done = 0; done < n;) {
        ssize_t got = pread(file, (char *)bytes + done, limit_bytes(n - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : -1;
        done += got;
    }
    return 0;
}

int pnc_host_bytes_write(int file, int64_t offset, const void *bytes, int64_t n)
{
    for (int64_t done = 0; done < n;) {
        ssize_t put = pwrite(file, (const char *)bytes + done, limit_bytes(n - done), (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : ENOSPC;
        done += put;
    }
    return 0;
}

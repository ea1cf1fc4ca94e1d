/* Accesses to contiguous bytes, and messages. */
#include "growth/io.h"

#include <string.h>

#include "format/codec.h"
#include "growth/life.h"

enum { LARGEST_ACCESS = 1 << 29 };

static pnc_extent portion_of(int64_t at, int64_t n, int64_t done)
{
    return (pnc_extent){at + done, n - done < LARGEST_ACCESS ? n - done : LARGEST_ACCESS};
}

int pnc_growth_extents_write(const pnc_growth_io *io, const pnc_extent *extents, int64_t n, const void *bytes)
{
    PNC_TRY(pnc_growth_life_check(io));
    return io->write(io->file, extents, n, bytes);
}

int pnc_growth_bytes_read(const pnc_growth_io *io, int64_t at, char *bytes, int64_t n)
{
    for (int64_t done = 0; done < n; done += LARGEST_ACCESS) {
        pnc_extent extent = portion_of(at, n, done);

        PNC_TRY(io->read(io->file, &extent, 1, bytes + done));
    }
    return NC_NOERR;
}

int pnc_growth_bytes_write(const pnc_growth_io *io, int64_t at, const char *bytes, int64_t n)
{
    for (int64_t done = 0; done < n; done += LARGEST_ACCESS) {
        pnc_extent extent = portion_of(at, n, done);

        PNC_TRY(pnc_growth_extents_write(io, &extent, 1, bytes + done));
    }
    return NC_NOERR;
}

void pnc_growth_writer_begin(pnc_growth_writer *w, const pnc_growth_io *io, int64_t at)
{
    w->io = io;
    w->at = at;
    w->held = 0;
    w->digest = pnc_growth_digest_begin();
}

int pnc_growth_writer_end(pnc_growth_writer *w)
{
    int64_t at = w->at, n = w->held;

    w->at += n;
    w->held = 0;
    return n > 0 ? pnc_growth_bytes_write(w->io, at, w->bytes, n) : NC_NOERR;
}

int pnc_growth_writer_put(pnc_growth_writer *w, const char *bytes, int64_t n)
{
    pnc_growth_digest_add(&w->digest, bytes, n);
    if (n > (int64_t)sizeof w->bytes - w->held)
        PNC_TRY(pnc_growth_writer_end(w));
    if (n > (int64_t)sizeof w->bytes) {
        w->at += n;
        return pnc_growth_bytes_write(w->io, w->at - n, bytes, n);
    }
    memcpy(w->bytes + w->held, bytes, (size_t)n);
    w->held += n;
    return NC_NOERR;
}

int pnc_growth_mark_write(const pnc_growth_io *io, int format, bool marked)
{
    char byte = (char)(format | (marked ? PNC_MAGIC_MARK : 0));

    return pnc_growth_bytes_write(io, PNC_MAGIC_BYTES - 1, &byte, 1);
}

int pnc_growth_memory_fail(const pnc_growth_io *io, int64_t bytes)
{
    return pnc_error_set(io->error, NC_ENOMEM, "%s: no memory for %lld bytes to change the header", io->path,
                         (long long)bytes);
}

void pnc_growth_size_restore(const pnc_growth_io *io, int64_t size)
{
    pnc_error before = pnc_growth_cause_get(io);

    if (io->set_size(io->file, size) != NC_NOERR && io->error != NULL)
        *io->error = before;
}

pnc_error pnc_growth_cause_get(const pnc_growth_io *io)
{
    return io->error == NULL ? (pnc_error){0} : *io->error;
}

void pnc_growth_undo_fail(const pnc_growth_io *io, const pnc_error *cause)
{
    if (io->error == NULL)
        return;
    pnc_error_clear(io->error);
    pnc_error_set(io->error, cause->code,
                  "%.250s; restoring the file failed too: no data are lost; free space: the next ncmpi_enddef, "
                  "ncmpi_sync, ncmpi_close, ncmpi_abort or collective put restores it first; or the next open for "
                  "writing, or ncvalidator --repair, completes the change",
                  cause->text);
}

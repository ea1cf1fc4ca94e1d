/* Reading a log. */
#include "log/reader.h"

#include <string.h>

#include "base/digest.h"
#include "base/minmax.h"

enum { PORTION = 1 << 16, ATTEMPTS = 1000 };

bool pnc_log_reader_begin(pnc_log_reader *reader)
{
    char bytes[PNC_LOG_FRONT_BYTES];

    reader->next = PNC_LOG_FRONT_BYTES;
    reader->call = 0;
    if (reader->size < PNC_LOG_FRONT_BYTES || !reader->read(reader->file, 0, bytes, sizeof bytes) ||
        !pnc_log_front_decode(bytes, &reader->front))
        return false;
    reader->time = pnc_log_time_decode(&reader->front, bytes);
    return true;
}

/* Whether the bytes of the current record are those that were put. */
static bool has_bytes(const pnc_log_reader *reader, uint64_t wanted)
{
    uint64_t digest = pnc_log_record_digest_begin(&reader->front, &reader->record);
    char bytes[PORTION];

    for (int64_t done = 0; done < reader->record.extent.length; done += PORTION) {
        int64_t n = pnc_min64(PORTION, reader->record.extent.length - done);

        if (!reader->read(reader->file, reader->bytes_at + done, bytes, n))
            return false;
        digest = pnc_digest_add(digest, bytes, n);
    }
    return digest == wanted;
}

/* The record at this offset becomes the current one. */
static bool read_record(pnc_log_reader *reader, int64_t at)
{
    char bytes[PNC_LOG_RECORD_BYTES];
    uint64_t digest;

    if (reader->size - at < PNC_LOG_RECORD_BYTES || !reader->read(reader->file, at, bytes, sizeof bytes) ||
        !pnc_log_record_decode(&reader->front, bytes, &reader->record, &digest))
        return false;
    reader->bytes_at = at + PNC_LOG_RECORD_BYTES;
    return reader->record.extent.length <= reader->size - reader->bytes_at && has_bytes(reader, digest);
}

/* Calls ascend. */
bool pnc_log_reader_find_next(pnc_log_reader *reader)
{
    if (!read_record(reader, reader->next) || reader->record.call < reader->call)
        return false;
    reader->call = reader->record.call;
    reader->next = reader->bytes_at + reader->record.extent.length;
    return true;
}

/* After the end: a torn record has none behind it. Old laps are passed over. */
static bool has_later(pnc_log_reader *reader)
{
    static const char magic[] = "PncRec1\n";
    char bytes[PORTION];
    int attempts = 0;

    for (int64_t at = reader->next + 1; at < reader->size && attempts < ATTEMPTS; at += PORTION - 8) {
        int64_t n = pnc_min64(PORTION, reader->size - at);

        if (!reader->read(reader->file, at, bytes, n))
            return false;
        for (int64_t i = 0; i + 8 <= n && attempts < ATTEMPTS; i++)
            if (bytes[i] == magic[0] && memcmp(bytes + i, magic, 8) == 0 && ++attempts > 0 &&
                read_record(reader, at + i))
                return true;
    }
    return attempts == ATTEMPTS;
}

void pnc_log_reader_examine(pnc_log_reader *reader, pnc_log_summary *out)
{
    *out = (pnc_log_summary){.call = reader->front.call, .numrecs = reader->front.numrecs};
    while (pnc_log_reader_find_next(reader)) {
        const pnc_log_record *record = &reader->record;

        if (record->kind == PNC_LOG_END) {
            out->call = record->call;
            out->numrecs = record->numrecs;
            continue;
        }
        out->blocks++;
        out->bytes += record->extent.length;
        out->first = out->first == 0 ? record->call : out->first;
        out->last = record->call;
    }
    out->end = reader->next;
    out->is_damaged = has_later(reader);
}

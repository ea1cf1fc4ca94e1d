/* Fronts and records of a log. */
#include "log/record.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"

static const char front_magic[8] = "PNCLOG2\n", record_magic[8] = "PncRec1\n";
#define BYTE_ORDER_WORD UINT64_C(0x0102030405060708)

/* As they are in a log: without gaps. */
typedef struct front_bytes {
    char magic[8];
    uint64_t order;
    pnc_log_front front;
    char reserved[PNC_LOG_SLOT_BYTES - 8 - 8 - sizeof(pnc_log_front) - 8];
    uint64_t digest; /* of all before */
} front_bytes;
_Static_assert(sizeof(front_bytes) == PNC_LOG_SLOT_BYTES, "the front has a gap");

typedef struct time_bytes {
    int64_t time;
    char reserved[PNC_LOG_SLOT_BYTES - 8 - 8];
    uint64_t digest; /* of the stamp, the rank, and all before */
} time_bytes;
_Static_assert(sizeof(time_bytes) == PNC_LOG_SLOT_BYTES, "the time has a gap");

typedef struct record_bytes {
    char magic[8];
    int64_t kind, lap, call, offset, length, numrecs;
    uint64_t digest; /* of the stamp, the rank, all before, and the bytes that follow */
} record_bytes;
_Static_assert(sizeof(record_bytes) == PNC_LOG_RECORD_BYTES, "the record has a gap");

void pnc_log_front_encode(const pnc_log_front *front, char slot[PNC_LOG_SLOT_BYTES])
{
    front_bytes f;

    memset(&f, 0, sizeof f);
    memcpy(f.magic, front_magic, sizeof f.magic);
    f.order = BYTE_ORDER_WORD;
    f.front = *front;
    f.digest = pnc_digest_add(PNC_DIGEST_START, &f, offsetof(front_bytes, digest));
    memcpy(slot, &f, sizeof f);
}

static bool decode_slot(const char slot[PNC_LOG_SLOT_BYTES], pnc_log_front *out)
{
    front_bytes f;

    memcpy(&f, slot, sizeof f);
    if (memcmp(f.magic, front_magic, sizeof f.magic) != 0 || f.order != BYTE_ORDER_WORD ||
        f.digest != pnc_digest_add(PNC_DIGEST_START, &f, offsetof(front_bytes, digest)))
        return false;
    *out = f.front;
    return out->rank >= 0 && out->rank < out->nranks && out->lap > 0 && out->call >= 0 && out->numrecs >= 0;
}

bool pnc_log_front_decode(const char bytes[PNC_LOG_FRONT_BYTES], pnc_log_front *out)
{
    pnc_log_front first, second;
    bool has_first = decode_slot(bytes, &first), has_second = decode_slot(bytes + PNC_LOG_SLOT_BYTES, &second);

    if (!has_first && !has_second)
        return false;
    if (!has_first || (has_second && (second.lap > first.lap || (second.lap == first.lap && second.call > first.call))))
        first = second;
    *out = first;
    return true;
}

/* What follows belongs to this log. */
static uint64_t begin_own_digest(const pnc_log_front *front)
{
    return pnc_digest_word_add(pnc_digest_word_add(PNC_DIGEST_START, front->stamp), (uint64_t)front->rank);
}

void pnc_log_time_encode(const pnc_log_front *front, int64_t time, char slot[PNC_LOG_SLOT_BYTES])
{
    time_bytes t;

    memset(&t, 0, sizeof t);
    t.time = time;
    t.digest = pnc_digest_add(begin_own_digest(front), &t, offsetof(time_bytes, digest));
    memcpy(slot, &t, sizeof t);
}

int64_t pnc_log_time_decode(const pnc_log_front *front, const char bytes[PNC_LOG_FRONT_BYTES])
{
    int64_t latest = 0;

    for (int i = 0; i < 2; i++) {
        time_bytes t;

        memcpy(&t, bytes + PNC_LOG_TIMES_AT + i * PNC_LOG_SLOT_BYTES, sizeof t);
        if (t.digest == pnc_digest_add(begin_own_digest(front), &t, offsetof(time_bytes, digest)))
            latest = pnc_max64(latest, t.time);
    }
    return latest;
}

static void fill_record(const pnc_log_front *front, const pnc_log_record *record, record_bytes *r)
{
    memset(r, 0, sizeof *r);
    memcpy(r->magic, record_magic, sizeof r->magic);
    r->kind = record->kind;
    r->lap = front->lap;
    r->call = record->call;
    r->offset = record->extent.offset;
    r->length = record->extent.length;
    r->numrecs = record->numrecs;
}

static uint64_t begin_digest(const pnc_log_front *front, const record_bytes *r)
{
    return pnc_digest_add(begin_own_digest(front), r, offsetof(record_bytes, digest));
}

uint64_t pnc_log_record_digest_begin(const pnc_log_front *front, const pnc_log_record *record)
{
    record_bytes r;

    fill_record(front, record, &r);
    return begin_digest(front, &r);
}

void pnc_log_record_encode(const pnc_log_front *front, const pnc_log_record *record, const char *bytes,
                           char out[PNC_LOG_RECORD_BYTES])
{
    record_bytes r;

    fill_record(front, record, &r);
    r.digest = pnc_digest_add(begin_digest(front, &r), bytes, record->extent.length);
    memcpy(out, &r, sizeof r);
}

bool pnc_log_record_decode(const pnc_log_front *front, const char bytes[PNC_LOG_RECORD_BYTES], pnc_log_record *out,
                           uint64_t *digest)
{
    record_bytes r;
    int64_t end;

    memcpy(&r, bytes, sizeof r);
    if (memcmp(r.magic, record_magic, sizeof r.magic) != 0 || r.lap != front->lap || r.call <= front->call ||
        r.call == PNC_LOG_EVERYTHING || r.numrecs < 0)
        return false;
    if (r.kind == PNC_LOG_END ? r.offset != 0 || r.length != 0
                              : (r.kind != PNC_LOG_BLOCK && r.kind != PNC_LOG_VALUES) || r.length <= 0 ||
                                    pnc_size_add(r.offset, r.length, &end) != 0)
        return false;
    *out = (pnc_log_record){
        .kind = (pnc_log_kind)r.kind, .call = r.call, .extent = {r.offset, r.length}, .numrecs = r.numrecs};
    *digest = r.digest;
    return true;
}

void pnc_log_name_format(const char *file, uint64_t stamp, int64_t rank, char out[PNC_LOG_NAME_BYTES])
{
    snprintf(out, PNC_LOG_NAME_BYTES, "%.100s.%016llx.%lld.log", pnc_path_get_name(file), (unsigned long long)stamp,
             (long long)rank);
}

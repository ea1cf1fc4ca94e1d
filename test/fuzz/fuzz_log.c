/* Fuzz target of logs of a burst buffer and their marks: whatever they have, their digests being right, reading ends,
 * reads nothing beyond the end, and what it returns makes sense.
 *
 * An input:
 *     'l', the stamp and 5 numbers of the front, then records: 6 numbers, one byte with the length of what follows them
 *     'm', a mark without its last line
 *     'r', a log with its digests, 's', a mark with its digest
 * The target puts a log or a mark together, and computes the digests. Numbers have 8 bytes, little-endian.
 *
 * For longer runs with clang's libFuzzer, from a build folder, as for fuzz_codec.c:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc -I$SRC/test/fuzz $SRC/test/fuzz/fuzz_log.c
 *         $SRC/src/base/[a-z]*.c $SRC/src/log/[a-z]*.c -lutf8proc    (one command)
 * make_logs.py writes the corpus in test/fuzz/logs. */
#include <string.h>

#include "base/digest.h"
#include "log/mark.h"
#include "log/reader.h"
#include "log/values.h"
#include "replay.h"

enum { MOST = 1 << 18, FIELDS = 6 };

typedef struct image {
    char *bytes;
    int64_t size, transferred;
} image;

static bool read_image(void *file, int64_t at, void *bytes, int64_t n)
{
    image *f = file;

    REQUIRE(at >= 0 && n >= 0);
    f->transferred += n;
    if (n > f->size || at > f->size - n)
        return false;
    memcpy(bytes, f->bytes + at, (size_t)n);
    return true;
}

/* Of variables with several numbers of dimensions: what is accepted are indices that they have. */
static void read_values(const char *bytes, const pnc_log_record *record)
{
    static const int64_t lengths[] = {-1, 5, 7, -1};
    int64_t *copy = malloc((size_t)record->extent.length + 8);

    REQUIRE(copy != NULL);
    memcpy(copy, bytes, (size_t)record->extent.length);
    for (int ndims = 0; ndims <= 4; ndims++)
        for (int size = 1; size <= 8; size *= 2) {
            pnc_log_values v;
            int64_t n = 1;

            if (!pnc_log_values_decode(copy, record->extent.length, ndims, size, &v))
                continue;
            for (int d = 0; d < ndims; d++)
                n *= v.count[d];
            REQUIRE(v.n == n && v.bytes + n * size == (char *)copy + record->extent.length);
            if (!pnc_log_values_is_inside(&v, ndims, lengths))
                continue;
            for (int d = 0; d < ndims; d++) {
                int64_t step = v.stride != NULL ? v.stride[d] : 1;

                REQUIRE(v.start[d] >= 0 && step > 0 && v.count[d] - 1 <= (INT64_MAX - 1 - v.start[d]) / step);
                REQUIRE(lengths[d] < 0 || v.start[d] + (v.count[d] - 1) * step < lengths[d]);
            }
        }
    free(copy);
}

static void read_log(char *bytes, int64_t size)
{
    image f = {bytes, size, 0};
    pnc_log_reader reader = {.file = &f, .read = read_image, .size = size};
    pnc_log_summary s;
    int64_t blocks = 0, sum = 0, call = 0;

    if (!pnc_log_reader_begin(&reader))
        return;
    REQUIRE(reader.front.rank >= 0 && reader.front.rank < reader.front.nranks);
    while (pnc_log_reader_find_next(&reader)) {
        const pnc_log_record *r = &reader.record;

        REQUIRE(r->call > reader.front.call && r->call >= call && r->numrecs >= 0);
        REQUIRE(r->extent.offset >= 0 && r->extent.length <= INT64_MAX - r->extent.offset);
        REQUIRE(reader.bytes_at + r->extent.length <= size && reader.next <= size);
        REQUIRE((r->kind != PNC_LOG_END) == (r->extent.length > 0));
        call = r->call;
        blocks += r->kind != PNC_LOG_END;
        if (r->kind == PNC_LOG_VALUES)
            read_values(bytes + reader.bytes_at, r);
        sum += r->extent.length;
    }
    REQUIRE(f.transferred <= 3 * size + 300);
    REQUIRE(pnc_log_reader_begin(&reader));
    pnc_log_reader_examine(&reader, &s);
    REQUIRE(s.blocks == blocks && s.bytes == sum && s.call >= reader.front.call && s.numrecs >= 0 && s.end <= size);
    REQUIRE(f.transferred <= 1100 * (size + 1000));
}

static void read_mark(const char *text, int64_t n)
{
    pnc_error error = {0};
    pnc_log_mark mark;

    if (pnc_log_mark_decode(text, n, &mark, &error) == NC_NOERR) {
        REQUIRE(mark.nranks > 0 && mark.nranks <= n && mark.inode >= 0 && strchr(mark.file, '/') == NULL);
        for (int64_t i = 0; i < mark.nranks; i++)
            REQUIRE(strlen(mark.nodes[i]) < PNC_LOG_NODE_BYTES);
    } else {
        REQUIRE(error.text[0] != '\0');
    }
    pnc_log_mark_free(&mark);
}

/* --- from an input --- */

static int64_t take_number(const uint8_t **at, size_t *left)
{
    uint64_t number = 0;

    for (int i = 0; i < 8 && *left > 0; i++, ++*at, --*left)
        number |= (uint64_t) * *at << 8 * i;
    return (int64_t)number;
}

/* As in src/log/record.c. */
static int64_t put_record(const pnc_log_front *front, const uint8_t **at, size_t *left, char *to)
{
    int64_t fields[FIELDS];
    uint64_t digest = pnc_digest_word_add(pnc_digest_word_add(PNC_DIGEST_START, front->stamp), (uint64_t)front->rank);
    size_t length;

    for (int i = 0; i < FIELDS; i++)
        fields[i] = take_number(at, left);
    length = *left > 0 ? *(*at)++ : 0;
    *left -= *left > 0;
    length = length < *left ? length : *left;
    memcpy(to, "PncRec1\n", 8);
    memcpy(to + 8, fields, sizeof fields);
    memcpy(to + PNC_LOG_RECORD_BYTES, *at, length);
    digest = pnc_digest_add(digest, to, PNC_LOG_RECORD_BYTES - 8);
    digest = pnc_digest_add(digest, to + PNC_LOG_RECORD_BYTES, (int64_t)length);
    memcpy(to + PNC_LOG_RECORD_BYTES - 8, &digest, 8);
    *at += length;
    *left -= length;
    return PNC_LOG_RECORD_BYTES + (int64_t)length;
}

static void make_and_read_log(const uint8_t *data, size_t size)
{
    pnc_log_front front = {.stamp = 0};
    char *bytes = calloc(1, MOST);
    int64_t n = PNC_LOG_FRONT_BYTES;

    REQUIRE(bytes != NULL);
    front.stamp = (uint64_t)take_number(&data, &size);
    front.rank = take_number(&data, &size);
    front.nranks = take_number(&data, &size);
    front.lap = take_number(&data, &size);
    front.call = take_number(&data, &size);
    front.numrecs = take_number(&data, &size);
    pnc_log_front_encode(&front, bytes);
    pnc_log_front_encode(&front, bytes + PNC_LOG_SLOT_BYTES);
    while (size > 0 && n < MOST - 400)
        n += put_record(&front, &data, &size, bytes + n);
    read_log(bytes, n);
    free(bytes);
}

static void make_and_read_mark(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 32);

    REQUIRE(text != NULL);
    memcpy(text, data, size);
    snprintf(text + size, 32, "digest %016llx\n",
             (unsigned long long)pnc_digest_add(PNC_DIGEST_START, text, (int64_t)size));
    read_mark(text, (int64_t)(size + strlen("digest \n") + 16));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy;

    if (size == 0 || size > MOST / 2)
        return 0;
    copy = malloc(size);
    REQUIRE(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    switch (data[0]) {
    case 'l': make_and_read_log(data + 1, size - 1); break;
    case 'm': make_and_read_mark(data + 1, size - 1); break;
    case 'r': read_log(copy, (int64_t)size - 1); break;
    case 's': read_mark(copy, (int64_t)size - 1); break;
    default: break;
    }
    free(copy);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
int main(int argc, char **argv)
{
    return replay(argc, argv, "logs");
}
#endif

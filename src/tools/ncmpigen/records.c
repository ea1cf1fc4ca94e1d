/* The spool is a sequence of segments, in the order of the text. At the end, the records are assembled in batches: each
 * batch reads its part of every segment. */
#include "config.h" /* system extensions */

#include "tools/ncmpigen/records.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/layout.h"
#include "host/bytes.h"
#include "tools/common/output.h"

enum { LARGEST_RECORD = 1 << 20, BATCH_BYTES = 1 << 22, PORTION_BYTES = 1 << 16 };

/* Consecutive elements of one variable at an offset of the spool. */
typedef struct segment {
    int varid;
    int64_t first, n, offset;
} segment;

struct gen_records {
    const pnc_model *model;
    FILE *spool;
    int64_t size; /* bytes in it */
    segment *segments;
    int64_t n, capacity;
};

bool gen_records_is_worthwhile(const pnc_model *model)
{
    int records = 0;
    for (int i = 0; i < model->nvars; i++)
        records += model->vars[i]->is_record;
    return records > 1 && model->classic.recsize <= LARGEST_RECORD;
}

int gen_spool_fail(const char *verb, pnc_error *error)
{
    return pnc_error_set(error, errno == ENOSPC ? NC_ENO_SPACE : NC_EFILE,
                         "a temporary file for the values cannot be %s: %s", verb, strerror(errno));
}

/* The file is unlinked at once; signals are held until then. */
static FILE *open_unlinked(char *path)
{
    tool_signals_hold();
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    tool_signals_release();
    FILE *spool = file >= 0 ? fdopen(file, "w+") : NULL;
    if (spool == NULL && file >= 0)
        close(file);
    return spool;
}

int gen_spool_create(const char *beside, FILE **spool, pnc_error *error)
{
    static const char ending[] = ".records-XXXXXX";
    size_t capacity = strlen(beside) + sizeof ending;
    char *path = pnc_memory_alloc((int64_t)capacity, 1);
    if (path == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    snprintf(path, capacity, "%s%s", beside, ending);
    *spool = open_unlinked(path);
    int err = *spool != NULL ? NC_NOERR : gen_spool_fail("created", error);
    pnc_memory_free(path);
    return err;
}

int gen_records_begin(const char *beside, const pnc_model *model, gen_records **records, pnc_error *error)
{
    gen_records *created = pnc_memory_alloc_zeroed(1, sizeof *created);
    if (created == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    created->model = model;
    int err = gen_spool_create(beside, &created->spool, error);
    if (err == NC_NOERR)
        *records = created;
    else
        pnc_memory_free(created);
    return err;
}

void gen_records_free(gen_records *records)
{
    if (records == NULL)
        return;
    fclose(records->spool);
    pnc_memory_free(records->segments);
    pnc_memory_free(records);
}

/* The last segment if these elements continue it, else a new one. */
static segment *find_segment(gen_records *records, int varid, int64_t first, pnc_error *error)
{
    segment *last = records->n > 0 ? &records->segments[records->n - 1] : NULL;
    if (last != NULL && last->varid == varid && last->first + last->n == first)
        return last;
    if (!pnc_memory_grow(&records->segments, &records->capacity, records->n + 1, sizeof *records->segments)) {
        pnc_error_set(error, NC_ENOMEM, "not enough memory");
        return NULL;
    }
    records->segments[records->n] = (segment){.varid = varid, .first = first, .offset = records->size};
    return &records->segments[records->n++];
}

int gen_records_keep(gen_records *records, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error)
{
    size_t size = (size_t)n * pnc_type_get_size(records->model->vars[varid]->type);
    segment *to = find_segment(records, varid, first, error);
    if (to == NULL)
        return NC_ENOMEM;
    if (fwrite(bytes, 1, size, records->spool) != size)
        return gen_spool_fail("written", error);
    to->n += n;
    records->size += (int64_t)size;
    return NC_NOERR;
}

/* --- records in the order of the file --- */

typedef struct batch {
    const pnc_model *model;
    int64_t first, n; /* records */
    char *bytes;
} batch;

/* A record of fill values. */
static void fill_record(const pnc_model *model, char *record)
{
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t size = (int64_t)pnc_type_get_size(var->type), bytes = pnc_format_var_get_padded_size(model, var);
        char value[8];
        pnc_format_var_get_fill_value(model, var, value);
        for (int64_t at = 0; var->is_record && at < bytes; at++)
            record[var->classic.begin - model->classic.begin_rec + at] = value[at % size];
    }
}

static int read_spool(const gen_records *records, int64_t offset, char *bytes, int64_t n, pnc_error *error)
{
    int number = pnc_host_bytes_read(fileno(records->spool), offset, bytes, n);
    errno = number > 0 ? number : EIO; /* -1: the file was truncated by another program */
    return number == 0 ? NC_NOERR : gen_spool_fail("read", error);
}

/* Copy n elements of a variable, from element `first`, to their offsets in the batch, which contains all of them. */
static void scatter(const batch *to, const pnc_var *var, int64_t first, const char *bytes, int64_t n)
{
    int64_t size = (int64_t)pnc_type_get_size(var->type), unit = gen_var_count_elements(var);
    int64_t begin = var->classic.begin - to->model->classic.begin_rec; /* offset in a record */
    while (n > 0) {
        int64_t within = first % unit, some = n < unit - within ? n : unit - within;
        memcpy(to->bytes + (first / unit - to->first) * to->model->classic.recsize + begin + within * size, bytes,
               (size_t)(some * size));
        bytes += some * size;
        first += some;
        n -= some;
    }
}

static int load_segment(const gen_records *records, const segment *from, const batch *to, pnc_error *error)
{
    char portion[PORTION_BYTES];
    const pnc_var *var = to->model->vars[from->varid];
    int64_t size = (int64_t)pnc_type_get_size(var->type), unit = gen_var_count_elements(var);
    int64_t first = from->first, end = from->first + from->n;
    int err = NC_NOERR;
    first = first > to->first * unit ? first : to->first * unit;
    end = end < (to->first + to->n) * unit ? end : (to->first + to->n) * unit;
    while (err == NC_NOERR && first < end) {
        int64_t some = end - first < PORTION_BYTES / size ? end - first : PORTION_BYTES / size;
        err = read_spool(records, from->offset + (first - from->first) * size, portion, some * size, error);
        if (err == NC_NOERR)
            scatter(to, var, first, portion, some);
        first += some;
    }
    return err;
}

static int load_batch(const gen_records *records, const char *empty, const batch *to, pnc_error *error)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < to->n; i++)
        memcpy(to->bytes + i * to->model->classic.recsize, empty, (size_t)to->model->classic.recsize);
    for (int64_t i = 0; err == NC_NOERR && i < records->n; i++)
        err = load_segment(records, &records->segments[i], to, error);
    return err;
}

int gen_records_write(gen_records *records, const pnc_model *model, bool fill,
                      int (*put)(void *with, int64_t at, const char *bytes, int64_t n, pnc_error *error), void *with,
                      pnc_error *error)
{
    int64_t size = model->classic.recsize, most = size > 0 ? BATCH_BYTES / size : 1;
    batch to = {.model = model, .n = most < model->numrecs ? most : model->numrecs};
    char *empty = pnc_memory_alloc_zeroed(size, 1);
    int err = NC_NOERR;
    to.bytes = pnc_memory_alloc(to.n * size, 1);
    if (empty == NULL || to.bytes == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "not enough memory");
    else if (fflush(records->spool) != 0)
        err = gen_spool_fail("written", error);
    else if (fill)
        fill_record(model, empty);
    while (err == NC_NOERR && to.first < model->numrecs) {
        if (to.n > model->numrecs - to.first)
            to.n = model->numrecs - to.first;
        err = load_batch(records, empty, &to, error);
        if (err == NC_NOERR)
            err = put(with, model->classic.begin_rec + to.first * size, to.bytes, to.n * size, error);
        to.first += to.n;
    }
    pnc_memory_free(empty);
    pnc_memory_free(to.bytes);
    return err;
}

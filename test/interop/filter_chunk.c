/* Passes one chunk through the filters of this library, for test_filters.py.
 *
 * filter_chunk decode FILTERS MASK BYTES: a stored chunk from stdin to BYTES bytes on stdout
 * filter_chunk encode FILTERS: a chunk from stdin to the mask (4 bytes, little-endian) and the stored chunk on stdout
 *
 * FILTERS: "2:4/1:6/3:", each an id and its parameters, separated by commas. An error goes to stderr, status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "host/codecs.h"

enum { MOST = 8 };

static uint32_t parameters[PNC_FILTER_MOST][MOST];
static pnc_filter filters[PNC_FILTER_MOST];

static int parse_filters(char *text)
{
    int n = 0;

    for (char *word = strtok(text, "/"); word != NULL && n < PNC_FILTER_MOST; word = strtok(NULL, "/"), n++) {
        char *at;
        filters[n] = (pnc_filter){(int)strtol(word, &at, 10), true, 0, parameters[n]};
        while (*at != '\0' && at[1] != '\0' && filters[n].nparameters < MOST)
            parameters[n][filters[n].nparameters++] = (uint32_t)strtoul(at + 1, &at, 10);
    }
    return n;
}

static char *read_all(int64_t *n)
{
    size_t capacity = 1 << 20, size = 0, got;
    char *bytes = malloc(capacity);

    while (bytes != NULL && (got = fread(bytes + size, 1, capacity - size, stdin)) > 0) {
        size += got;
        if (size == capacity) {
            capacity *= 2;
            bytes = realloc(bytes, capacity);
        }
    }
    *n = (int64_t)size;
    return bytes;
}

int main(int argc, char **argv)
{
    bool decodes = argc == 5 && strcmp(argv[1], "decode") == 0;
    pnc_filter_chain chain = {argc > 2 ? parse_filters(argv[2]) : 0, filters};
    pnc_filter_worker worker;
    pnc_error error = {0};
    int64_t n, bytes = decodes ? atoll(argv[4]) : 0;
    uint32_t mask = decodes ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    char *in = read_all(&n);
    char *chunk = malloc((size_t)bytes + 1);
    const void *out = chunk;
    int err;

    if (argc < 3 || in == NULL || chunk == NULL)
        return 2;
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    if (decodes) {
        err = pnc_filter_chunk_decode(&worker, &chain, in, n, mask, chunk, bytes, &error);
    } else {
        err = pnc_filter_chunk_encode(&worker, &chain, in, n, &out, &bytes, &mask, &error);
        for (int i = 0; i < 4; i++)
            putchar((int)(mask >> 8 * i & 0xFF));
    }
    if (err == NC_NOERR)
        fwrite(out, 1, (size_t)bytes, stdout);
    else
        fprintf(stderr, "%s: %s\n", pnc_error_get_name(err), error.text);
    pnc_filter_worker_free(&worker);
    free(in);
    free(chunk);
    return err != NC_NOERR;
}

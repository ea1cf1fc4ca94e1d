/* Fuzz target of the header codec: whatever the bytes, decoding neither crashes nor takes more than its share of
 * memory; what it accepts can be written, and is read back the same.
 *
 * For longer runs with clang's libFuzzer, from a build folder:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc $SRC/test/fuzz/fuzz_codec.c
 *         $SRC/src/base/[a-z]*.c $SRC/src/format/[a-z]*.c -lutf8proc    (one command)
 *     ./a.out -malloc_limit_mb=64 NEW_INPUTS $SRC/test/fuzz/corpus
 * With PNC_FUZZ_REPLAY defined it is an ordinary test: every file of the folders given (default: test/fuzz/corpus below
 * PNC_SOURCE) goes through it once. */
#include <string.h>

#include "format/codec.h"
#include "format/layout.h"
#include "format/observe.h"
#include "replay.h"

/* The same model must give the same bytes; so equality is looked for there, and in what the header does not hold. */
static void require_equal(pnc_model *a, pnc_model *b)
{
    int64_t n = pnc_format_header_get_size(a);
    unsigned char *one = malloc((size_t)n), *two = malloc((size_t)n);

    REQUIRE(one != NULL && two != NULL);
    REQUIRE(pnc_format_header_get_size(b) == n);
    pnc_format_header_encode(a, one);
    pnc_format_header_encode(b, two);
    REQUIRE(memcmp(one, two, (size_t)n) == 0);
    REQUIRE(a->numrecs == b->numrecs && a->recdim == b->recdim && a->nrecvars == b->nrecvars);
    REQUIRE(a->classic.recsize == b->classic.recsize);
    if (a->classic.header_size ==
        b->classic.header_size) /* else odd names: sections without a variable then end with the header */
        REQUIRE(a->classic.begin_rec == b->classic.begin_rec && a->classic.header_extent == b->classic.header_extent);
    REQUIRE(pnc_format_layout_get_data_end(a) - a->classic.header_size >= 0 &&
            pnc_format_layout_get_data_end(b) - b->classic.header_size >= 0);
    free(one);
    free(two);
}

/* Encode, decode, compare. The header may have become shorter (odd names), so sizes of files are not compared. */
static void check_accepted(pnc_model *model, size_t size)
{
    int64_t n = pnc_format_header_get_size(model), need = 0, file_size = n > (int64_t)size ? n : (int64_t)size;
    unsigned char *bytes = malloc((size_t)n);
    pnc_error error = {0};
    pnc_model again, copy;

    REQUIRE(bytes != NULL);
    REQUIRE(n <= model->classic.header_size);
    REQUIRE(model->classic.header_size <= (int64_t)size);
    pnc_format_header_encode(model, bytes);
    REQUIRE(pnc_format_header_decode(bytes, n, file_size, &again, &need, &error) == NC_NOERR);
    require_equal(model, &again);
    REQUIRE(pnc_format_model_copy(&copy, model) == NC_NOERR);
    require_equal(model, &copy);
    if (pnc_format_layout_compute(&copy, model, NULL, NULL) == NC_NOERR)
        for (int i = 0; i < copy.nvars; i++)
            REQUIRE(copy.vars[i]->classic.begin >= model->vars[i]->classic.begin);
    pnc_format_model_free(&copy);
    pnc_format_model_free(&again);
    free(bytes);
}

/* The answer must not depend on how many bytes are at hand. */
static void check_pieces(const uint8_t *data, int64_t size, int expected)
{
    int64_t n = size / 3, need = 0;

    for (;;) {
        pnc_model model;
        int code = pnc_format_header_decode(data, n, size, &model, &need, NULL);
        pnc_format_model_free(&model);
        if (code != PNC_NEED_MORE_BYTES) {
            REQUIRE(code == expected);
            return;
        }
        REQUIRE(need > n && need <= size);
        n = need;
    }
}

typedef struct seen {
    int64_t violations, end; /* end of the last field */
} seen;

static void see_finding(void *who, const pnc_finding *finding)
{
    ((seen *)who)->violations += finding->severity == PNC_VIOLATION;
    REQUIRE(finding->found[0] != '\0' && finding->expected[0] != '\0' && finding->at >= 0);
    REQUIRE((finding->severity == PNC_VIOLATION) == (finding->code != NC_NOERR));
}

static void see_field(void *who, const pnc_field *field)
{
    REQUIRE(field->at >= 0 && field->n >= 0);
    ((seen *)who)->end = field->at + field->n;
}

/* An observer gets at least one violation if the decoder fails, and no field beyond the end of the file. */
static void check_examined(const uint8_t *data, int64_t size, int expected)
{
    seen s = {0, 0};
    pnc_observer observer = {&s, see_field, see_finding};
    pnc_model model;
    int64_t need = 0;
    int code = pnc_format_header_examine(data, size, size, &observer, &model, &need);

    REQUIRE(code <= 0);
    REQUIRE((code == NC_NOERR) == (s.violations == 0));
    REQUIRE(expected == NC_NOERR || code != NC_NOERR);
    REQUIRE(s.end <= size);
    pnc_format_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pnc_error error = {0};
    pnc_model model;
    int64_t need = 0;
    int code = pnc_format_header_decode(data, (int64_t)size, (int64_t)size, &model, &need, &error);

    REQUIRE(code <= 0);
    REQUIRE((code == NC_NOERR) == (error.code == NC_NOERR) && error.code == code);
    REQUIRE((error.text[0] == '\0') == (code == NC_NOERR));
    check_pieces(data, (int64_t)size, code);
    check_examined(data, (int64_t)size, code);
    if (code == NC_NOERR)
        check_accepted(&model, size);
    pnc_format_model_free(&model);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
int main(int argc, char **argv)
{
    return replay(argc, argv, "corpus");
}
#endif

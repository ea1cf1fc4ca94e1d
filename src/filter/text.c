/* The texts of hints and options that name a filter. Parameters are those that the plugins' documentation gives, from
 * which a plugin makes others when a dataset is created. */
#include "filter/text.h"

#include <limits.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Ids as registered with The HDF Group. */
enum {
    BZIP2 = 307,
    BLOSC = 32001,
    LZ4 = 32004,
    BITSHUFFLE = 32008,
    ZFP = 32013,
    SZ = 32017,
    SZ3 = 32024,
    BLOSC2 = 32026
};
enum { ID_MOST = 65535 }; /* H5Z_FILTER_MAX */

/* --- words: "" or ":WORD:WORD.." remains --- */

/* If the next word is this one: move behind it. */
static bool take_filter_word(const char **at, const char *name)
{
    size_t n = strlen(name);

    if (**at != ':' || strncmp(*at + 1, name, n) != 0 || ((*at)[1 + n] != ':' && (*at)[1 + n] != '\0'))
        return false;
    *at += 1 + n;
    return true;
}

static bool take_integer(const char **at, int64_t least, int64_t most, int64_t *number)
{
    const char *digit = *at + 1;
    bool is_negative = **at == ':' && *digit == '-';
    int64_t value = 0;

    digit += is_negative;
    if (**at != ':' || *digit < '0' || *digit > '9')
        return false;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (value > INT32_MAX)
            return false;
        value = 10 * value + (*digit - '0');
    }
    value = is_negative ? -value : value;
    if ((*digit != ':' && *digit != '\0') || value < least || value > most)
        return false;
    *number = value;
    *at = digit;
    return true;
}

/* At the end, `number` keeps its value. */
static bool take_last_integer(const char **at, int64_t least, int64_t most, int64_t *number)
{
    return **at == '\0' || take_integer(at, least, most, number);
}

enum { DIGITS_MOST = 15, POWER_MOST = 22 }; /* 10^15 and 10^22 are exact in a double */

/* "" or "e-3": changes the power of ten. */
static bool take_exponent(const char **at, int *power)
{
    const char *c = *at;
    bool is_negative;
    int exponent = 0;

    if (*c != 'e' && *c != 'E')
        return true;
    is_negative = c[1] == '-';
    c += 1 + (c[1] == '-' || c[1] == '+');
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9' && exponent <= POWER_MOST; c++)
        exponent = 10 * exponent + (*c - '0');
    *power += is_negative ? -exponent : exponent;
    *at = c;
    return true;
}

/* A decimal number above 0, rounded correctly: its digits and the power of ten are exact (strtod needs the point of the
 * program's locale). */
static bool take_real(const char **at, double *number)
{
    const char *c = *at + 1;
    int digits = 0, power = 0;
    bool has_point = false;
    double value = 0, ten = 1;

    for (; **at == ':' && ((*c >= '0' && *c <= '9') || (*c == '.' && !has_point)); c++) {
        has_point = has_point || *c == '.';
        if (*c == '.')
            continue;
        value = 10 * value + (*c - '0');
        digits += value > 0;
        power -= has_point;
    }
    if (digits == 0 || digits > DIGITS_MOST || !take_exponent(&c, &power) || (*c != ':' && *c != '\0') ||
        power < -POWER_MOST || power > POWER_MOST)
        return false;
    for (int i = power < 0 ? -power : power; i > 0; i--)
        ten *= 10;
    *number = power < 0 ? value / ten : value * ten;
    *at = c;
    return true;
}

/* --- parameters --- */

static void add_parameter(pnc_filter_text *out, int64_t value)
{
    out->parameters[out->nparameters++] = (uint32_t)value;
}

/* The bits of a double in two parameters: those that a big-endian number has first, or as they are in memory. */
static void add_high_first(pnc_filter_text *out, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    add_parameter(out, (int64_t)(bits >> 32));
    add_parameter(out, (int64_t)(bits & 0xFFFFFFFF));
}

static void add_as_in_memory(pnc_filter_text *out, double number)
{
    memcpy(&out->parameters[out->nparameters], &number, sizeof number);
    out->nparameters += 2;
}

/* --- filters --- */

static bool parse_level(const char **at, int64_t least, int64_t most, int64_t level, pnc_filter_text *out)
{
    if (!take_last_integer(at, least, most, &level))
        return false;
    add_parameter(out, level);
    return true;
}

/* 1 to 9: level 0 does not compress. */
static bool parse_deflate(const char **at, pnc_filter_text *out)
{
    return parse_level(at, 1, NC_MAX_DEFLATE_LEVEL, 1, out);
}

static bool parse_zstd(const char **at, pnc_filter_text *out)
{
    return parse_level(at, PNC_FILTER_ZSTD_LEVEL_LEAST, PNC_FILTER_ZSTD_LEVEL_MOST, 3, out);
}

static bool parse_bzip2(const char **at, pnc_filter_text *out)
{
    return parse_level(at, 1, 9, 9, out);
}

/* The size of a block: 0 is the plugin's choice. */
static bool parse_lz4(const char **at, pnc_filter_text *out)
{
    (void)at;
    add_parameter(out, 0);
    return true;
}

/* Four parameters of the plugin; level, shuffle, codec. */
static bool parse_blosc(const char **at, pnc_filter_text *out)
{
    static const struct {
        const char *name;
        int codec;
        bool is_in_blosc2;
    } codecs[] = {{"blosclz", 0, true}, {"lz4", 1, true},  {"lz4hc", 2, true},
                  {"snappy", 3, false}, {"zlib", 4, true}, {"zstd", 5, true}};
    int64_t level = 5;

    for (size_t i = 0; i < COUNT(codecs); i++) {
        if ((out->id == BLOSC2 && !codecs[i].is_in_blosc2) || !take_filter_word(at, codecs[i].name))
            continue;
        if (!take_last_integer(at, 0, 9, &level))
            return false;
        out->nparameters = 4;
        add_parameter(out, level);
        add_parameter(out, 1);
        add_parameter(out, codecs[i].codec);
        return true;
    }
    return false;
}

void pnc_filter_text_shuffle_remove(pnc_filter_text *filter)
{
    filter->parameters[5] = 0;
}

/* The size of a block, 0 by choice of the plugin; the codec; a level. */
static bool parse_bitshuffle(const char **at, pnc_filter_text *out)
{
    enum { CODEC_LZ4 = 2, CODEC_ZSTD = 3 };
    bool is_zstd = take_filter_word(at, "zstd");

    if (!is_zstd && !take_filter_word(at, "lz4"))
        return false;
    add_parameter(out, 0);
    add_parameter(out, is_zstd ? CODEC_ZSTD : CODEC_LZ4);
    return !is_zstd || parse_level(at, PNC_FILTER_ZSTD_LEVEL_LEAST, PNC_FILTER_ZSTD_LEVEL_MOST, 3, out);
}

/* The mode, and what it needs, from the third parameter on. */
static bool parse_zfp(const char **at, pnc_filter_text *out)
{
    enum { RATE = 1, PRECISION = 2, ACCURACY = 3, REVERSIBLE = 5 };
    int64_t bits;
    double number;

    if (take_filter_word(at, "reversible")) {
        add_parameter(out, REVERSIBLE);
        out->is_lossy = false;
    } else if (take_filter_word(at, "precision")) {
        if (!take_integer(at, 1, 64, &bits))
            return false;
        add_parameter(out, PRECISION);
        add_parameter(out, 0);
        add_parameter(out, bits);
    } else {
        bool is_rate = take_filter_word(at, "rate");

        if ((!is_rate && !take_filter_word(at, "accuracy")) || !take_real(at, &number) || (is_rate && number > 64))
            return false;
        add_parameter(out, is_rate ? RATE : ACCURACY);
        add_parameter(out, 0);
        add_as_in_memory(out, number);
    }
    while (out->nparameters < 6)
        add_parameter(out, 0);
    return true;
}

/* The mode, and four bounds: of the error, of the error over the range of values, and others. */
static bool parse_sz3(const char **at, pnc_filter_text *out)
{
    bool is_absolute = take_filter_word(at, "abs");
    double bound;

    if ((!is_absolute && !take_filter_word(at, "rel")) || !take_real(at, &bound))
        return false;
    add_parameter(out, is_absolute ? 0 : 1);
    add_high_first(out, is_absolute ? bound : 0);
    add_high_first(out, is_absolute ? 0 : bound);
    add_high_first(out, 0);
    add_high_first(out, 0);
    return true;
}

static const struct named_filter {
    const char *name;
    int id;
    bool (*parse)(const char **at, pnc_filter_text *out);
    pnc_filter_shuffling shuffling;
    bool takes_reals, is_lossy;
} named_filters[] = {{"deflate", PNC_FILTER_DEFLATE, parse_deflate, PNC_SHUFFLED_BEFORE, false, false},
                     {"zstd", PNC_FILTER_ZSTD, parse_zstd, PNC_SHUFFLED_BEFORE, false, false},
                     {"bzip2", BZIP2, parse_bzip2, PNC_SHUFFLED_BEFORE, false, false},
                     {"lz4", LZ4, parse_lz4, PNC_SHUFFLED_BEFORE, false, false},
                     {"blosc", BLOSC, parse_blosc, PNC_SHUFFLED_WITHIN, false, false},
                     {"blosc2", BLOSC2, parse_blosc, PNC_SHUFFLED_WITHIN, false, false},
                     {"bitshuffle", BITSHUFFLE, parse_bitshuffle, PNC_NOT_SHUFFLED, false, false},
                     {"zfp", ZFP, parse_zfp, PNC_NOT_SHUFFLED, true, true},
                     {"sz3", SZ3, parse_sz3, PNC_NOT_SHUFFLED, true, true}};

/* Filters that this library has itself are named. */
static bool parse_id(const char **at, pnc_filter_text *out)
{
    int64_t number;

    if (!take_integer(at, 1, ID_MOST, &number) || pnc_filter_is_own((int)number))
        return false;
    out->id = (int)number;
    out->shuffling = PNC_NOT_SHUFFLED;
    while (out->nparameters < PNC_FILTER_TEXT_PARAMETERS && take_integer(at, INT32_MIN, UINT32_MAX, &number))
        add_parameter(out, number);
    return true;
}

/* The text after a separator, as every other word has one. */
static bool parse_words(const char *at, pnc_filter_text *out)
{
    bool is_found = take_filter_word(&at, "none");

    for (size_t i = 0; i < COUNT(named_filters) && !is_found; i++) {
        const struct named_filter *f = &named_filters[i];

        if (!take_filter_word(&at, f->name))
            continue;
        *out = (pnc_filter_text){
            .id = f->id, .shuffling = f->shuffling, .takes_reals = f->takes_reals, .is_lossy = f->is_lossy};
        if (!f->parse(&at, out))
            return false;
        is_found = true;
    }
    return (is_found || parse_id(&at, out)) && *at == '\0';
}

bool pnc_filter_text_parse(const char *text, pnc_filter_text *out)
{
    char words[1024] = ":"; /* MPI_MAX_INFO_VAL of MPICH and Open MPI is at most so long */
    size_t n = strlen(text);

    *out = (pnc_filter_text){.id = 0};
    if (n + 2 > sizeof words)
        return false;
    memcpy(words + 1, text, n + 1);
    return parse_words(words, out);
}

/* Others replace parameters at the same place, or recognise their own. */
const uint32_t *pnc_filter_text_find_given(int id, const uint32_t *parameters, int *n)
{
    enum { OWN_BITSHUFFLE = 3, GIVEN_SZ = 9 };
    int own = 0;

    if (id == BITSHUFFLE)
        own = *n < OWN_BITSHUFFLE ? *n : OWN_BITSHUFFLE;
    else if ((id == SZ || id == SZ3) && *n > GIVEN_SZ)
        own = *n - GIVEN_SZ;
    *n -= own;
    return parameters + own;
}

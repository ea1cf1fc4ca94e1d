/* Names of C and their counterparts in Fortran. */
#include "base/language.h"

#include <string.h>

typedef struct word {
    const char *in_c, *in_f77, *in_f90;
} word;

/* Brackets are those of an index: they enclose a conversion of a format. */
static const word words[] = {
    {"NC_", "NF_", "NF90_"},
    {"ncmpi_", "nfmpi_", "nf90mpi_"},
    {"[%", "(%", "(%"},
    {"d]", "d)", "d)"},
};

/* The word that `text` begins with, or NULL. */
static const word *find_word(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i].in_c, strlen(words[i].in_c)) == 0)
            return &words[i];
    return NULL;
}

const char *pnc_language_translate(pnc_language language, const char *text, char *out, size_t capacity)
{
    size_t used = 0;

    if (language == PNC_LANGUAGE_C)
        return text;
    for (const char *at = text; *at != '\0';) {
        const word *found = find_word(at);
        const char *from = at;
        size_t length = 1;

        if (found != NULL) {
            from = language == PNC_LANGUAGE_F77 ? found->in_f77 : found->in_f90;
            length = strlen(from);
        }
        if (used + length >= capacity)
            return text;
        memcpy(out + used, from, length);
        used += length;
        at += found != NULL ? strlen(found->in_c) : 1;
    }
    out[used] = '\0';
    return out;
}

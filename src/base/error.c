/* The error object and the texts of the public codes, which come from the rows of src/spec/errors.m4. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define PNC_UNKNOWN_SIZE 48
#define PNC_FORMAT_SIZE 1024

PNC_PRINTF(4, 0) static void set_error(pnc_error *error, int code, bool remote, const char *format, va_list args)
{
    char translation[PNC_FORMAT_SIZE];

    if (error == NULL || error->code != NC_NOERR)
        return;
    error->code = code;
    error->remote = remote;
    error->others = 0;
    format = pnc_language_translate(error->language, format, translation, sizeof translation);
    if (vsnprintf(error->text, sizeof error->text, format, args) < 0)
        error->text[0] = '\0';
    pnc_text_make_plain(error->text);
}

int pnc_error_set(pnc_error *error, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_error(error, code, false, format, args);
    va_end(args);
    return code;
}

int pnc_error_set_remote(pnc_error *error, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_error(error, code, true, format, args);
    va_end(args);
    return code;
}

void pnc_error_share(pnc_error *error, int64_t others)
{
    if (others < 0)
        error->remote = true;
    else if (others > 0)
        error->others = others;
}

int pnc_error_copy(pnc_error *error, const pnc_error *from, bool remote)
{
    if (from->code == NC_NOERR)
        return NC_NOERR;
    return remote ? pnc_error_set_remote(error, from->code, "%s", from->text)
                  : pnc_error_set(error, from->code, "%s", from->text);
}

void pnc_error_add_context(pnc_error *error, const char *format, ...)
{
    char text[sizeof error->text];
    va_list args;

    if (error == NULL || error->code == NC_NOERR)
        return;
    memcpy(text, error->text, sizeof text);
    va_start(args, format);
    int length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length < 0)
        length = 0;
    pnc_text_make_plain(error->text);
    if ((size_t)length >= sizeof error->text) /* the context alone fills the message */
        return;
    if (snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s", text) < 0)
        error->text[length] = '\0';
}

static bool is_fortran(const pnc_error *error)
{
    return pnc_error_get_language(error) != PNC_LANGUAGE_C;
}

pnc_translation pnc_error_translate(const pnc_error *error, const char *text)
{
    pnc_translation out;
    const char *translated = pnc_language_translate(pnc_error_get_language(error), text, out.text, sizeof out.text);

    if (translated != out.text)
        snprintf(out.text, sizeof out.text, "%s", translated);
    return out;
}

int pnc_error_get_id(const pnc_error *error, int id)
{
    return is_fortran(error) ? (int)((unsigned)id + 1) : id;
}

int64_t pnc_error_get_index(const pnc_error *error, int64_t index)
{
    return is_fortran(error) ? (int64_t)((uint64_t)index + 1) : index;
}

int pnc_error_get_position(const pnc_error *error, int dim, int ndims)
{
    return is_fortran(error) ? ndims - dim : dim;
}

/* The first of two integers is the lower half on all processors that are in use. Few numbers above 2^32 have one in
 * which only 24 bits are set. */
const char *pnc_error_explain_kind(const pnc_error *error, int64_t number)
{
    uint32_t low = (uint32_t)number;
    bool is_pair = (number > INT32_MAX || number < INT32_MIN) && low > 0 && low < UINT32_C(1) << 24;

    return is_fortran(error) && is_pair ? " (integer of kind MPI_OFFSET_KIND?)" : "";
}

const char *pnc_error_get_text(int code)
{
    static _Thread_local char unknown[PNC_UNKNOWN_SIZE];

    if (code > 0) /* errno values pass through the API unchanged */
        return strerror(code);
    switch (code) {
/* clang-format off */
#define PNC_ERROR_ROW(name, value, text) case value: return text;
#include "spec/error_table.h"
        /* clang-format on */
    default: break;
    }
    snprintf(unknown, sizeof unknown, "Unknown Error %d", code);
    return unknown;
}

const char *pnc_error_get_name(int code)
{
    static _Thread_local char unknown[PNC_UNKNOWN_SIZE];

    switch (code) {
/* clang-format off */
#define PNC_ERROR_ROW(name, value, text) case value: return #name;
#include "spec/error_table.h"
        /* clang-format on */
    default: break;
    }
    snprintf(unknown, sizeof unknown, "Unknown Error %d", code);
    return unknown;
}

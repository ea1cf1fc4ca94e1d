/* Compressed files, pages and pointers that servers send in place of a file, other formats, and what a transfer as text
 * makes of a file. */
#include "format/foreign.h"

#include <string.h>
#include <strings.h>

#include "format/codec.h"
#include "format/entries.h"

#define AS_TEXT ": it was transferred or stored as text: transfer it again, as binary"

typedef struct signature {
    size_t n;
    const char *bytes, *meaning;
} signature;

/* The signature of HDF5 was made to show such damage (HDF5 File Format Specification, II.A). */
static const signature signatures[] = {
    {2, "\x1f\x8b", "it is compressed by gzip: decompress it by gunzip"},
    {3, "BZh", "it is compressed by bzip2: decompress it by bunzip2"},
    {6,
     "\xfd"
     "7zXZ\0",
     "it is compressed by xz: decompress it by unxz"},
    {4, "\x28\xb5\x2f\xfd", "it is compressed by zstd: decompress it by unzstd"},
    {4, "PK\3\4", "it is a ZIP archive: unpack it by unzip"},
    {40, "version https://git-lfs.github.com/spec/", "it is a pointer of Git LFS: `git lfs pull' gets the file"},
    {15, "/annex/objects/", "it is a pointer of git-annex: `git annex get' gets the file"},
    {4, "GRIB", "it is GRIB: convert it, for example by `cdo -f nc copy'"},
    {4, "BUFR", "it is BUFR"},
    {4, "\x0e\x03\x13\x01", "it is HDF4: convert it by h4toh5"},
    {7, "netcdf ", "it is CDL, the text of a netCDF file: make one of it by ncmpigen"},
    {7, "\x89HDF\n\x1a\n", "it is an HDF5 or netCDF-4 file with damaged line ends" AS_TEXT},
    {8, "\x89HDF\n\n\x1a\n", "it is an HDF5 or netCDF-4 file with damaged line ends" AS_TEXT},
    {9, "\x89HDF\r\r\n\x1a\r", "it is an HDF5 or netCDF-4 file with damaged line ends" AS_TEXT},
    {6, "\tHDF\r\n", "it is an HDF5 or netCDF-4 file without the highest bit of its bytes" AS_TEXT},
    {5, "\xc2\x89HDF", "it is an HDF5 or netCDF-4 file that was converted to UTF-8" AS_TEXT},
    {6, "\xef\xbf\xbdHDF", "it is an HDF5 or netCDF-4 file that was converted to UTF-8" AS_TEXT},
};

/* Words with which a page begins, after blanks and a byte order mark. */
static const char *const pages[] = {"<!doctype html", "<html", "<head", "<?xml"};

static bool is_page(const char *text, size_t n)
{
    size_t at = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < n && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (n - at >= strlen(pages[i]) && strncasecmp(text + at, pages[i], strlen(pages[i])) == 0)
            return true;
    return false;
}

const char *pnc_format_foreign_explain(const void *bytes, size_t n)
{
    const size_t of_tar = 257;

    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (n >= signatures[i].n && memcmp(bytes, signatures[i].bytes, signatures[i].n) == 0)
            return signatures[i].meaning;
    if (is_page(bytes, n))
        return "it is a page in HTML or XML, as servers send after an error or for a login: look at it, and download "
               "the file again";
    if (n >= of_tar + 5 && memcmp((const char *)bytes + of_tar, "ustar", 5) == 0)
        return "it is an archive of tar: unpack it by tar -xf";
    return NULL;
}

bool pnc_format_foreign_is_converted(const void *bytes, size_t n, size_t tag)
{
    const unsigned char *p = bytes;

    if (n < tag + 5 || pnc_format_word_load(p + tag) == 0 || pnc_format_word_load(p + tag) == '\n')
        return false;
    for (size_t i = PNC_MAGIC_BYTES; i < tag + 5; i++)
        if (p[i] == '\n')
            return p[i - 1] == '\r';
    return false;
}

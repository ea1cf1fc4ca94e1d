/* Maps MPI error classes to netCDF error codes and messages. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static int code_of_class(int class, int otherwise)
{
    const struct {
        int class, code;
    } rows[] = {
        {MPI_ERR_NO_SUCH_FILE, NC_ENOENT}, {MPI_ERR_FILE_EXISTS, NC_EEXIST}, {MPI_ERR_ACCESS, NC_EACCESS},
        {MPI_ERR_READ_ONLY, NC_EPERM},     {MPI_ERR_NO_SPACE, NC_ENO_SPACE}, {MPI_ERR_QUOTA, NC_EQUOTA},
        {MPI_ERR_BAD_FILE, NC_EBAD_FILE},  {MPI_ERR_NO_MEM, NC_ENOMEM},      {MPI_ERR_NOT_SAME, NC_EMULTIDEFINE},
        {MPI_ERR_AMODE, NC_EINVAL_OMODE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].class == class)
            return rows[i].code;
    return otherwise;
}

/* ROMIO reports a full disk, or an offset beyond the largest one of the file system, as "other I/O error": only the
 * text has the cause. */
static int code_of_text(const char *text, int otherwise)
{
    const struct {
        int number, code;
    } rows[] = {{ENOSPC, NC_ENO_SPACE}, {EFBIG, NC_ENO_SPACE}, {EDQUOT, NC_EQUOTA}, {EACCES, NC_EACCESS},
                {EROFS, NC_EPERM},      {EMFILE, NC_ENFILE},   {ENFILE, NC_ENFILE}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(text, strerror(rows[i].number)) != NULL)
            return rows[i].code;
    return otherwise;
}

/* A function of its own: its caller is called after each read, and clearing the text took 15 ns. */
static bool has_text_of_interruption(int mpi_code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;

    MPI_Error_string(mpi_code, text, &length);
    return strstr(text, strerror(EINTR)) != NULL;
}

bool pnc_mpiio_error_is_interruption(int mpi_code)
{
    return mpi_code != MPI_SUCCESS && has_text_of_interruption(mpi_code);
}

int pnc_mpiio_error_set(pnc_error *error, int mpi_code, int otherwise, const char *what, const char *path)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int class = MPI_ERR_OTHER, length = 0, code;

    MPI_Error_class(mpi_code, &class);
    MPI_Error_string(mpi_code, text, &length);
    code = code_of_class(class, code_of_text(text, otherwise));
    if (code == NC_ENO_SPACE && strstr(text, strerror(EFBIG)) != NULL)
        return pnc_error_set(error, code,
                             "cannot %s %s: the offset exceeds the largest file size of the file system, "
                             "or the limit of the process (ulimit -f)",
                             what, path);
    switch (code) {
    case NC_ENO_SPACE: return pnc_error_set(error, code, "cannot %s %s: no space left on its file system", what, path);
    case NC_ENFILE:
        return pnc_error_set(error, code,
                             "cannot %s %s: too many files are open in this process (ulimit "
                             "-n): close some",
                             what, path);
    case NC_EQUOTA: return pnc_error_set(error, code, "cannot %s %s: disk quota exceeded", what, path);
    default: return pnc_error_set(error, code, "cannot %s %s: %s", what, path, text);
    }
}

int pnc_mpiio_error_set_short(pnc_error *error, int moved, pnc_extent extent, const char *path)
{
    return pnc_error_set(error, NC_ENO_SPACE,
                         "%s: only %d of %lld bytes were written at offset %lld: the file system "
                         "is full, or the file exceeds its largest file size or the process limit (ulimit -f)",
                         path, moved, (long long)extent.length, (long long)extent.offset);
}

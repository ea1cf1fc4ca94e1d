/* Strings: netCDF-C frees them by free(). */
#include <stdlib.h>
#include <string.h>

#include "binding/netcdf/door.h"

static void free_given(MPI_Offset n, char **strings)
{
    for (MPI_Offset i = 0; i < n; i++) {
        free(strings[i]);
        strings[i] = NULL;
    }
}

int pnc_door_strings_convert(MPI_Offset n, char **strings)
{
    for (MPI_Offset i = 0; i < n; i++) {
        char *own = strings[i] != NULL ? strdup(strings[i]) : NULL;

        if (strings[i] != NULL && own == NULL) {
            ncmpi_free_string(n - i, strings + i);
            free_given(i, strings);
            return NC_ENOMEM;
        }
        ncmpi_free_string(1, strings + i);
        strings[i] = own;
    }
    return NC_NOERR;
}

/* --- access --- */

/* The file is read by each rank, and written by the first one. */
typedef struct door_strings {
    const pnc_door_file *f;
    int varid, ndims;
    bool collective; /* of several ranks */
    const MPI_Offset *start, *count, *stride;
    MPI_Offset n;
} door_strings;

#define STRINGS_CALL(s, what, ...)                                                                                    \
    ((s)->collective                                                                                                  \
         ? PNC_DOOR_CALL((s)->f, "nc_" #what "_vara_string", ncmpi_##what##_vara_string_all, (s)->varid, __VA_ARGS__) \
         : PNC_DOOR_CALL((s)->f, "nc_" #what "_vara_string", ncmpi_##what##_vara_string, (s)->varid, __VA_ARGS__))

/* The next element in row-major order; `at` is its place in the variable. */
static void find_element(const door_strings *s, const MPI_Offset *index, MPI_Offset *at)
{
    for (int d = 0; d < s->ndims; d++)
        at[d] = s->start[d] + index[d] * s->stride[d];
}

static void step_index(const door_strings *s, MPI_Offset *index)
{
    for (int d = s->ndims - 1; d >= 0 && ++index[d] == s->count[d]; d--)
        index[d] = 0;
}

/* One by one; where ranks wait for each other, they meet in a put of nothing, with which all have them. */
static int put_strided(const door_strings *s, char **strings)
{
    static const MPI_Offset none[NC_MAX_VAR_DIMS];
    MPI_Offset index[NC_MAX_VAR_DIMS] = {0}, at[NC_MAX_VAR_DIMS];
    int err = strings == NULL && s->n > 0 ? NC_EINVAL : NC_NOERR, met;

    for (MPI_Offset i = 0; err == NC_NOERR && i < s->n; i++) {
        find_element(s, index, at);
        err = PNC_DOOR_CALL(s->f, "nc_put_vars_string", ncmpi_put_var1_string, s->varid, at,
                            (const char *const *)strings + i);
        step_index(s, index);
    }
    if (!s->collective)
        return err;
    met = STRINGS_CALL(s, put, none, none, (const char *const *)strings);
    return err != NC_NOERR ? err : met;
}

static int get_strided_here(const door_strings *s, char **strings)
{
    MPI_Offset index[NC_MAX_VAR_DIMS] = {0}, at[NC_MAX_VAR_DIMS];

    for (MPI_Offset i = 0; i < s->n; i++) {
        int err;

        find_element(s, index, at);
        err = PNC_DOOR_CALL(s->f, "nc_get_vars_string", ncmpi_get_var1_string, s->varid, at, strings + i);
        if (err != NC_NOERR) {
            ncmpi_free_string(i, strings);
            return err;
        }
        step_index(s, index);
    }
    return NC_NOERR;
}

/* With those between them. Without memory, the get that all ranks make has no place for them, and fails. */
static int get_strided_collectively(const door_strings *s, char **strings)
{
    MPI_Offset span[NC_MAX_VAR_DIMS], index[NC_MAX_VAR_DIMS] = {0}, all = 1;
    char **between;
    int err;

    for (int d = 0; d < s->ndims; d++) {
        span[d] = s->count[d] > 0 ? (s->count[d] - 1) * s->stride[d] + 1 : s->count[d];
        all *= span[d];
    }
    between = all > 0 ? calloc((size_t)all, sizeof *between) : NULL;
    err = STRINGS_CALL(s, get, s->start, span, between);
    for (MPI_Offset i = 0; err == NC_NOERR && i < s->n; i++) {
        MPI_Offset place = 0;

        for (int d = 0; d < s->ndims; d++)
            place = place * span[d] + index[d] * s->stride[d];
        strings[i] = between[place];
        between[place] = NULL;
        step_index(s, index);
    }
    if (between != NULL && err == NC_NOERR)
        ncmpi_free_string(all, between);
    free(between);
    return err;
}

static int get_string_list(const door_strings *s, char **strings)
{
    if (s->stride == NULL)
        return STRINGS_CALL(s, get, s->start, s->count, strings);
    return s->collective ? get_strided_collectively(s, strings) : get_strided_here(s, strings);
}

static int put_string_list(const door_strings *s, char **strings)
{
    return s->stride == NULL ? STRINGS_CALL(s, put, s->start, s->count, (const char *const *)strings)
                             : put_strided(s, strings);
}

/* Whether all elements are within fixed dimensions: otherwise no memory of the program is read or written. */
static bool is_inside(const door_strings *s, bool is_put)
{
    int dimids[NC_MAX_VAR_DIMS], unlimited[NC_MAX_DIMS], n = 0;
    MPI_Offset length;

    if (ncmpi_inq_vardimid(s->f->id, s->varid, dimids) != NC_NOERR ||
        ncmpi_inq_unlimdims(s->f->id, &n, NULL) != NC_NOERR || n > NC_MAX_DIMS ||
        ncmpi_inq_unlimdims(s->f->id, NULL, unlimited) != NC_NOERR)
        return false;
    for (int d = 0; d < s->ndims; d++) {
        bool grows = false;

        for (int i = 0; i < n && is_put; i++)
            grows = grows || unlimited[i] == dimids[d];
        if (s->start[d] < 0 || s->count[d] < 0 || ncmpi_inq_dimlen(s->f->id, dimids[d], &length) != NC_NOERR ||
            (!grows && s->count[d] > 0 &&
             s->start[d] + (s->count[d] - 1) * (s->stride != NULL ? s->stride[d] : 1) >= length))
            return false;
    }
    return true;
}

/* The strings of an array with these distances to one without, or back. */
static void map_strings(const door_strings *s, const MPI_Offset *imap, char **mapped, char **list, bool is_put)
{
    MPI_Offset index[NC_MAX_VAR_DIMS] = {0};

    for (MPI_Offset i = 0; i < s->n; i++) {
        MPI_Offset place = 0;

        for (int d = 0; d < s->ndims; d++)
            place += index[d] * imap[d];
        if (is_put)
            list[i] = mapped[place];
        else
            mapped[place] = list[i];
        step_index(s, index);
    }
}

static int access_mapped(const door_strings *s, const MPI_Offset *imap, bool is_put, char **strings)
{
    char **list = is_inside(s, is_put) && strings != NULL ? calloc((size_t)s->n + 1, sizeof *list) : NULL;
    int err;

    if (is_put && list != NULL)
        map_strings(s, imap, strings, list, true);
    err = is_put ? put_string_list(s, list) : get_string_list(s, list);
    if (!is_put && err == NC_NOERR)
        err = pnc_door_strings_convert(s->n, list);
    if (!is_put && err == NC_NOERR && list != NULL)
        map_strings(s, imap, strings, list, false);
    free(list);
    return err;
}

int pnc_door_strings_transfer(const pnc_door_file *f, int varid, bool is_put, const MPI_Offset *start,
                              const MPI_Offset *count, const MPI_Offset *stride, const MPI_Offset *imap, char **strings)
{
    door_strings s = {f,      varid, f->vars[varid].ndims, f->nprocs > 1 && f->vars[varid].is_collective, start, count,
                      stride, 1};

    for (int d = 0; d < s.ndims; d++)
        s.n *= count[d];
    if (imap != NULL)
        return access_mapped(&s, imap, is_put, strings);
    if (is_put)
        return put_string_list(&s, strings);
    PNC_DOOR_TRY(get_string_list(&s, strings));
    return pnc_door_strings_convert(s.n, strings);
}

int pnc_door_strings_fill(const pnc_door_file *f, int varid, char **fill_value)
{
    PNC_DOOR_TRY(ncmpi_inq_var_fill(f->id, varid, NULL, fill_value));
    return pnc_door_strings_convert(1, fill_value);
}

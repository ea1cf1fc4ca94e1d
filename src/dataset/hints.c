/* Hints: from MPI_Info and PNETCDF_HINTS into the dataset, and back as a report. */
#include "dataset/hints.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Our own integer hints: where each is kept and what range makes sense. A later row of the same field is an older name
 * that counts only where the first is absent. */
static const struct own_hint {
    const char *name;
    size_t field;
    int64_t otherwise, least, most;
} own_hints[] = {
    {"nc_var_align_size", offsetof(pnc_hints, layout.v_align), -1, 1, INT64_C(1) << 40},
    {"nc_header_align_size", offsetof(pnc_hints, layout.v_align), -1, 1, INT64_C(1) << 40},
    {"nc_record_align_size", offsetof(pnc_hints, layout.r_align), -1, 0, INT64_C(1) << 40},
    {"nc_header_read_chunk_size", offsetof(pnc_hints, header_read_chunk), 262144, 48, INT32_MAX},
    {"nc_data_move_chunk_size", offsetof(pnc_hints, data_move_chunk), 1048576, 1, 1 << 28},
    {"nc_ibuf_size", offsetof(pnc_hints, buffer_size), 16777216, 65536, INT64_C(1) << 40},
};
#define OWN_HINTS ((int)(sizeof own_hints / sizeof own_hints[0]))

int64_t pnc_hints_integer(MPI_Info info, const char *key, int64_t otherwise)
{
    char value[MPI_MAX_INFO_VAL + 1], *end;
    long long number;
    int found = 0;

    if (info == MPI_INFO_NULL || MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS || !found)
        return otherwise;
    errno = 0;
    number = strtoll(value, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    return errno != 0 || end == value || *end != '\0' ? otherwise : number;
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* PNETCDF_HINTS is a list "key=value;key=value"; blanks around tokens do not count. */
static int add_environment(pnc_dataset *ds)
{
    const char *list = getenv("PNETCDF_HINTS");
    char *copy, *entry, *rest = NULL;
    int err = NC_NOERR;

    if (list == NULL || *list == '\0')
        return NC_NOERR;
    copy = pnc_strdup(list);
    if (copy == NULL)
        return pnc_fail(&ds->error, NC_ENOMEM, "no memory to read PNETCDF_HINTS");
    for (entry = strtok_r(copy, ";", &rest); entry != NULL; entry = strtok_r(NULL, ";", &rest)) {
        char *equals = strchr(entry, '='), *key;
        const char *value;

        if (equals != NULL)
            *equals = '\0';
        key = trim(entry);
        value = equals == NULL ? "" : trim(equals + 1);
        if (*key == '\0' && equals == NULL)
            continue;
        if (*key == '\0' || *value == '\0' || strlen(key) > MPI_MAX_INFO_KEY || strlen(value) > MPI_MAX_INFO_VAL) {
            if (ds->rank == 0)
                fprintf(stderr, "PnetCDF: PNETCDF_HINTS: \"%s\" is not of the form key=value and is ignored\n", entry);
        } else if (MPI_Info_set(ds->info, key, value) != MPI_SUCCESS) {
            err = pnc_fail(&ds->error, NC_EMPI, "MPI refused the hint %s=%s", key, value);
        }
    }
    pnc_free(copy);
    return err;
}

static int64_t *field_of(pnc_dataset *ds, const struct own_hint *hint)
{
    return (int64_t *)((char *)&ds->hints + hint->field);
}

static void read_own_hints(pnc_dataset *ds)
{
    const int64_t unset = INT64_MIN;

    ds->hints.layout = (pnc_layout_wish){-1, unset, -1, unset};
    ds->hints.header_read_chunk = ds->hints.data_move_chunk = ds->hints.buffer_size = unset;
    for (int i = 0; i < OWN_HINTS; i++) {
        const struct own_hint *hint = &own_hints[i];
        int64_t value = pnc_hints_integer(ds->info, hint->name, unset);

        if (value != unset && *field_of(ds, hint) == unset)
            *field_of(ds, hint) = value < hint->least ? hint->least : value > hint->most ? hint->most : value;
    }
    for (int i = 0; i < OWN_HINTS; i++)
        if (*field_of(ds, &own_hints[i]) == unset)
            *field_of(ds, &own_hints[i]) = own_hints[i].otherwise;
    if (ds->hints.header_read_chunk % 4 != 0) /* a header is made of words of 4 bytes */
        ds->hints.header_read_chunk += 4 - ds->hints.header_read_chunk % 4;
}

int pnc_hints_load(pnc_dataset *ds, MPI_Info user)
{
    int status = user == MPI_INFO_NULL ? MPI_Info_create(&ds->info) : MPI_Info_dup(user, &ds->info);
    int err;

    if (status != MPI_SUCCESS) {
        ds->info = MPI_INFO_NULL;
        return pnc_fail(&ds->error, NC_EMPI, "%s: the info object with the hints could not be copied", ds->path);
    }
    err = add_environment(ds);
    read_own_hints(ds);
    return err;
}

int pnc_hints_report(pnc_dataset *ds, MPI_Info *out)
{
    int err = ds->store->ops->hints(ds->store, out, &ds->error);

    for (int i = 0; i < OWN_HINTS && err == NC_NOERR; i++) {
        char value[32];
        int64_t number = *field_of(ds, &own_hints[i]);

        if (number < 0)
            continue;
        snprintf(value, sizeof value, "%lld", (long long)number);
        if (MPI_Info_set(*out, own_hints[i].name, value) != MPI_SUCCESS)
            err = pnc_fail(&ds->error, NC_EMPI, "the hints of %s could not be reported", ds->path);
    }
    return err;
}

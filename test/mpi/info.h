/* Hints of files in tests. */
#ifndef TEST_INFO_H
#define TEST_INFO_H

#include <stdbool.h>
#include <string.h>

#include "../expect.h"

/* Pairs of key and value, NULL at the end. */
static inline MPI_Info make_info(const char *const *pairs)
{
    MPI_Info info;

    MPI_Info_create(&info);
    for (; pairs[0] != NULL; pairs += 2)
        MPI_Info_set(info, pairs[0], pairs[1]);
    return info;
}

/* Whether a hint of an open file is "enable", as this rank sees it. */
static inline bool is_enabled(int ncid, const char *key)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info used;
    int found = 0;

    ncmpi_inq_file_info(ncid, &used);
    MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&used);
    return found && strcmp(value, "enable") == 0;
}

#endif

/* Comparing the arguments of collective calls. */
#include "dataset/agree.h"

#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "file/agree.h"

/* All arguments as one record of length and bytes for each: two ranks passed the same arguments if their records are
 * equal. */
static char *pack_arguments(const pnc_argument *args, int n, int64_t *size)
{
    char *record, *p;

    *size = 0;
    for (int i = 0; i < n; i++)
        *size += (int64_t)sizeof(int64_t) + args[i].length;
    record = p = pnc_memory_alloc(*size, 1);
    for (int i = 0; i < n && record != NULL; i++) {
        memcpy(p, &args[i].length, sizeof(int64_t));
        p += sizeof(int64_t);
        if (args[i].length > 0)
            memcpy(p, args[i].bytes, (size_t)args[i].length);
        p += args[i].length;
    }
    return record;
}

/* The code of the first argument that differs from rank 0's record. */
static int compare_arguments(const char *root, int64_t size, const pnc_argument *args, int n)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        int64_t length;

        if (size - at < (int64_t)sizeof(int64_t))
            return args[i].code;
        memcpy(&length, root + at, sizeof length);
        at += (int64_t)sizeof length;
        if (length != args[i].length || (length > 0 && memcmp(root + at, args[i].bytes, (size_t)length) != 0))
            return args[i].code;
        at += length;
    }
    return NC_NOERR;
}

/* Compare the arguments with those of rank 0. Collective, on several ranks. */
static int compare_with_root(pnc_dataset *ds, const pnc_argument *args, int n)
{
    int64_t size = 0, root_size;
    char *record = pack_arguments(args, n, &size), *root;
    int err = NC_NOERR, code = NC_NOERR;

    root_size = record == NULL ? -1 : size;
    pnc_file_bytes_broadcast(&ds->file, &root_size, sizeof root_size, "the size of the arguments");
    root = ds->file.rank == 0 ? record : pnc_memory_alloc(root_size < 0 ? 0 : root_size, 1);
    if (record == NULL || root == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory to compare the arguments of the ranks");
    /* if a rank has no memory, no rank enters the broadcast */
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR)
        pnc_file_bytes_broadcast(&ds->file, root, root_size, "the arguments");
    if (err == NC_NOERR)
        code = compare_arguments(root, root_size, args, n);
    if (code != NC_NOERR)
        err = pnc_error_set(&ds->error, code,
                            "%s: rank %d and rank 0 passed different arguments to a collective call: %s", ds->file.path,
                            ds->file.rank, pnc_error_get_text(code));
    if (ds->file.rank != 0)
        pnc_memory_free(root);
    pnc_memory_free(record);
    return err;
}

static uint64_t digest_arguments(const pnc_argument *args, int n)
{
    uint64_t hash = PNC_DIGEST_START;

    for (int i = 0; i < n; i++) {
        hash = pnc_digest_add(hash, &args[i].length, sizeof args[i].length);
        hash = pnc_digest_add(hash, args[i].bytes, args[i].length);
    }
    return hash;
}

/* Whether no rank has an error, and the arguments of all ranks are equal: the usual case, with one reduction. Else
 * whether a rank has no memory, perhaps for its arguments: those cannot be compared. */
static int find_agreement(pnc_dataset *ds, int local, const pnc_argument *args, int n, bool *out, bool *lacks_memory)
{
    int64_t digest = (int64_t)(digest_arguments(args, n) >> 1);
    int64_t values[] = {local == NC_ENOMEM ? 2 : local != NC_NOERR, digest, -digest};

    PNC_TRY(pnc_file_maxima_agree(&ds->file, values, 3, "the arguments"));
    *out = values[0] == 0 && values[1] == -values[2];
    *lacks_memory = values[0] == 2;
    return NC_NOERR;
}

/* Collective, on several ranks. */
static int agree_arguments(pnc_dataset *ds, int local, const pnc_argument *args, int n)
{
    bool all_agree, lacks_memory;
    int err = find_agreement(ds, local, args, n, &all_agree, &lacks_memory);

    if (err != NC_NOERR)
        return pnc_error_keep_first(local, err);
    if (all_agree)
        return NC_NOERR;
    if (!lacks_memory)
        err = compare_with_root(ds, args, n);
    return pnc_file_status_agree(&ds->file, pnc_error_keep_first(local, err));
}

int pnc_dataset_arguments_agree(pnc_dataset *ds, int local, const pnc_argument *args, int n,
                                pnc_consequence consequence)
{
    if (local == NC_NOERR)
        local = pnc_error_check_arguments(&ds->error);
    /* these errors depend on the mode of the file, which is the same on all ranks */
    if (ds->file.nprocs == 1 || local == NC_EPERM || local == NC_EINDEFINE)
        return local;
    if (!ds->safe && consequence == PNC_STAYS_LOCAL)
        return local;
    if (!ds->safe && consequence == PNC_IS_COLLECTIVE)
        return pnc_file_status_agree(&ds->file, local);
    return agree_arguments(ds, local, args, n);
}

/* The end of the file. */
#include "dataset/file_end.h"

int pnc_dataset_file_end_check(pnc_dataset *ds, int64_t size)
{
    int64_t known = ds->file.store->end->least_size;

    if (size >= known)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EREAD,
                         "%s was truncated while it was open: it has %lld bytes and had at least %lld; it is not "
                         "changed, as the values beyond are lost",
                         ds->file.path, (long long)size, (long long)known);
}

int pnc_dataset_file_end_write(pnc_dataset *ds)
{
    int64_t size, end = pnc_format_layout_get_file_end(&ds->model);
    pnc_extent last = {end - 1, 1};

    PNC_TRY(pnc_file_get_size(&ds->file, &size));
    PNC_TRY(pnc_dataset_file_end_check(ds, size));
    return size >= end ? NC_NOERR : pnc_file_extents_write(&ds->file, &last, 1, "");
}

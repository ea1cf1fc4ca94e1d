/* The end of the file. */
#include "formats/classic/file_end.h"

#include "file/agree.h"
#include "format/layout.h"

int pnc_classic_file_end_check(pnc_format *f, int64_t size)
{
    int64_t known = f->file->store->end->least_size;

    if (size >= known)
        return NC_NOERR;
    return pnc_error_set(f->file->error, NC_EREAD,
                         "%s was truncated while it was open: it has %lld bytes and had at least %lld; it is not "
                         "changed, as the values beyond are lost",
                         f->file->path, (long long)size, (long long)known);
}

/* After calls that do not match, another rank may be writing its last values just now: a byte more is the end. */
int pnc_classic_file_end_write(pnc_format *f)
{
    int64_t size, end = pnc_format_layout_get_file_end(f->model);
    pnc_extent last = {pnc_file_is_stopped(f->file) ? end : end - 1, 1};

    PNC_TRY(pnc_file_get_size(f->file, &size));
    PNC_TRY(pnc_classic_file_end_check(f, size));
    return size >= end ? NC_NOERR : pnc_file_extents_write(f->file, &last, 1, "");
}

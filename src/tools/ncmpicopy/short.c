/* Inputs that are short. */
#include "tools/ncmpicopy/short.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/codec.h"
#include "host/bytes.h"
#include "tools/common/file.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/storage.h"

int copy_inputs_inspect(copy_plan *plan)
{
    const copy_options *options = plan->options;
    int err;
    plan->sizes = pnc_memory_alloc(options->ninputs, sizeof *plan->sizes);
    err = tool_status_agree(plan->sizes != NULL ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        return copy_error_print(plan, err, "not enough memory for the sizes of %d inputs", options->ninputs);
    for (int i = 0; i < options->ninputs; i++) {
        pnc_shortage_kind kind;
        plan->sizes[i] = tool_input_inspect(options->inputs[i], &kind);
        plan->is_short |= kind != PNC_SHORTAGE_NONE;
        plan->lacks_records |= kind == PNC_SHORTAGE_RECORDS;
        if (pnc_format_shortage_is_large(kind) && !options->allow_short)
            err = copy_error_print(plan, NC_EFILE, "%s: not copied: --allow-short copies what is there",
                                   options->inputs[i]);
    }
    if (plan->rank == 0)
        tool_warnings_finish();
    return err;
}

int64_t copy_selected_count(int ndims, const int64_t *lengths, const int64_t *first, const MPI_Offset *stride,
                            const int64_t *count, int64_t present)
{
    int64_t inner = 1, selected_inner = 1, before = 0;
    for (int d = 0; d < ndims; d++)
        if (lengths[d] == 0 || count[d] == 0)
            return 0;
    for (int d = 1; d < ndims; d++) {
        inner *= lengths[d];
        selected_inner *= count[d];
    }
    if (ndims == 0)
        return present > 0;
    for (int d = 0; d < ndims; d++) { /* index: of the first element that is missing */
        int64_t index = present / inner, n = index <= first[d] ? 0 : (index - first[d] - 1) / stride[d] + 1;
        n = n < count[d] ? n : count[d];
        before += n * selected_inner;
        if (n == count[d] || index != first[d] + n * stride[d])
            break;
        present %= inner;
        inner /= d + 1 < ndims ? lengths[d + 1] : 1;
        selected_inner /= d + 1 < ndims ? count[d + 1] : 1;
    }
    return before;
}

static int write_count(const char *path, pnc_model *model)
{
    char bytes[PNC_FRONT_BYTES];
    int n = pnc_format_numrecs_encode(model, bytes), fd = open(path, O_WRONLY | O_CLOEXEC), number;
    if (fd < 0)
        return errno;
    number = pnc_host_bytes_write(fd, PNC_MAGIC_BYTES, bytes, n);
    if (close(fd) != 0 && number == 0)
        number = errno;
    return number;
}

/* On rank 0. */
static int set_count(const copy_plan *plan, const char *path)
{
    tool_file file;
    int number, err = tool_file_open(path, &file);
    int64_t n = plan->record >= 0 ? plan->dims[plan->record].count : 0;
    if (err == NC_NOERR && file.model.nrecvars > 0 && file.model.numrecs < n) {
        file.model.numrecs = n;
        number = write_count(path, &file.model);
        tool_file_close(&file);
        if (number != 0)
            return copy_error_print(plan, NC_EWRITE, "%s: cannot write the number of records: %s",
                                    plan->options->output, strerror(number));
        err = tool_file_open(path, &file); /* the records must end within the limits of the format */
    }
    tool_file_close(&file);
    return err;
}

int copy_records_count(const copy_plan *plan, const char *path)
{
    int err = NC_NOERR;
    if (!plan->lacks_records || copy_format_has_storage(plan->format)) /* which has all records */
        return NC_NOERR;
    if (plan->rank == 0)
        err = set_count(plan, path);
    return tool_status_agree(err);
}

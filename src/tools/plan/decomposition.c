/* The variables of a call, and the grid of ranks that divides them. */
#include "config.h" /* system extensions */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/cdl.h"
#include "format/codec.h"
#include "format/layout.h"
#include "tools/common/message.h"
#include "tools/plan/map.h"
#include "tools/plan/pieces.h"

/* --- the file --- */

typedef struct text_input {
    int fd;
    const char *path;
} text_input;

static int64_t read_text(void *with, void *bytes, int64_t capacity, pnc_error *error)
{
    const text_input *input = with;
    ssize_t n;

    do
        n = read(input->fd, bytes, (size_t)capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pnc_error_set(error, NC_EREAD, "%s: cannot be read: %s", input->path, strerror(errno));
    return n;
}

static int compute_layout(pnc_model *model, pnc_error *error)
{
    pnc_layout_hints hints = {.h_minfree = -1, .v_minfree = -1};

    return pnc_format_layout_compute_new(model, &hints, error);
}

/* The offsets are those of a file that the library creates. */
static int read_cdl(int fd, const char *path, pnc_model *model)
{
    text_input input = {.fd = fd, .path = path};
    const pnc_cdl_source source = {.name = path, .read = read_text, .with = &input};
    pnc_error error = {0};
    int err = pnc_format_cdl_read(&source, NULL, model, &error);

    if (err == NC_NOERR)
        err = compute_layout(model, &error);
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return err;
}

/* As classic variables have them: a call has records, however many the file has. */
static void derive_records(pnc_model *model)
{
    for (int v = 0; v < model->nvars; v++) {
        pnc_var *var = model->vars[v];

        var->is_record = var->ndims > 0 && model->dims[var->dimids[0]]->unlimited;
        if (var->is_record)
            var->shape[0] = 0;
        for (int i = 1; i < var->ndims; i++)
            var->inner_unlimited = var->inner_unlimited || model->dims[var->dimids[i]]->unlimited;
    }
}

/* A file with a reader remains open: that has the storage of its variables. */
static int read_file(plan_decomposition *d, const char *path)
{
    int err = tool_file_open(path, &d->file);

    if (err == NC_NOERR && d->file.reader == NULL)
        (void)tool_file_report_short(&d->file, true);
    d->model = d->file.model;
    d->file.model = (pnc_model){.ndims = 0};
    if (d->file.reader != NULL)
        derive_records(&d->model);
    else
        tool_file_close(&d->file);
    return err;
}

const pnc_stored *plan_storage_get(const plan_decomposition *d, int varid)
{
    return pnc_formats_reader_get_stored(d->file.reader, varid);
}

static int read_model(plan_decomposition *d, const char *path)
{
    char magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC), err;
    ssize_t n = fd >= 0 ? read(fd, magic, sizeof magic) : -1;

    if (n < 0 || lseek(fd, 0, SEEK_SET) != 0) {
        tool_error_print("%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NC_EFILE;
    }
    if (pnc_format_kind_identify(magic, (size_t)n) == PNC_KIND_UNKNOWN)
        err = read_cdl(fd, path, &d->model);
    else
        err = read_file(d, path);
    close(fd);
    return err;
}

/* --- the variables --- */

static int check_variable(const plan_options *o, const pnc_var *var)
{
    if (var->ndims > PLAN_MOST_DIMS) {
        tool_error_print("%s: variable \"%s\" has %d dimensions: must be at most %d", o->path, var->name, var->ndims,
                         PLAN_MOST_DIMS);
        return NC_EMAXDIMS;
    }
    if (var->ndims == 0 && o->map != NULL) {
        tool_error_print("%s: variable \"%s\" has no dimensions: --map divides dimensions", o->path, var->name);
        return NC_EINVAL;
    }
    return NC_NOERR;
}

/* Insert a variable in the order of the file. */
static void insert_variable(plan_decomposition *d, int varid)
{
    int at = d->nvars++;

    for (; at > 0 && d->model.vars[d->varids[at - 1]]->classic.begin > d->model.vars[varid]->classic.begin; at--)
        d->varids[at] = d->varids[at - 1];
    d->varids[at] = varid;
}

/* The records of several variables are followed one by one. */
static int check_records(const plan_decomposition *d)
{
    if (d->nvars == 1 || d->options->records <= PLAN_MOST_RECORDS / d->nvars)
        return NC_NOERR;
    tool_error_print("--records=%lld: must be at most %d with %d variables", (long long)d->options->records,
                     PLAN_MOST_RECORDS / d->nvars, d->nvars);
    return NC_EINVAL;
}

static int find_variables(plan_decomposition *d)
{
    const plan_options *o = d->options;

    PNC_TRY(tool_names_check(&o->variables, o->path, &d->model));
    d->varids = pnc_memory_alloc(o->variables.n, sizeof *d->varids);
    if (d->varids == NULL) {
        tool_error_print("%s: no memory for a list of variables", o->path);
        return NC_ENOMEM;
    }
    for (int i = 0; i < o->variables.n; i++) {
        int varid = pnc_format_var_find(&d->model, o->variables.at[i]);

        for (int k = 0; k < d->nvars; k++)
            if (d->varids[k] == varid) {
                tool_error_print("-v: variable \"%s\" is listed twice", o->variables.at[i]);
                return NC_EINVAL;
            }
        PNC_TRY(check_variable(o, d->model.vars[varid]));
        insert_variable(d, varid);
    }
    return check_records(d);
}

int plan_decomposition_open(const plan_options *options, plan_decomposition *out)
{
    *out = (plan_decomposition){.options = options};
    PNC_TRY(read_model(out, options->path));
    PNC_TRY(find_variables(out));
    if (options->map != NULL)
        PNC_TRY(plan_map_read(options->map, out->model.vars[out->varids[0]], &out->map));
    return NC_NOERR;
}

void plan_decomposition_free(plan_decomposition *d)
{
    pnc_format_model_free(&d->model);
    pnc_format_model_free(&d->scaled);
    pnc_memory_free(d->varids);
    plan_map_free(d->map);
    if (d->file.reader != NULL)
        tool_file_close(&d->file);
    *d = (plan_decomposition){.nvars = 0};
}

/* --- the grid --- */

static int compare_descending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

static int64_t find_largest_prime(int64_t n)
{
    for (int64_t prime = 2; prime * prime <= n;) {
        if (n % prime == 0)
            n /= prime;
        else
            prime++;
    }
    return n;
}

/* Divide n ranks among k dimensions about equally, as MPI_Dims_create does: the largest number first. */
static void divide(int64_t n, int k, int64_t *out)
{
    for (int i = 0; i < k; i++)
        out[i] = 1;
    while (n > 1) {
        int64_t prime = find_largest_prime(n);
        int least = 0;

        for (int i = 1; i < k; i++)
            least = out[i] < out[least] ? i : least;
        out[least] *= prime;
        n /= prime;
    }
    qsort(out, (size_t)k, sizeof *out, compare_descending);
}

/* The first one of those with most dimensions. */
static const pnc_var *find_widest(const plan_decomposition *d)
{
    const pnc_var *widest = d->model.vars[d->varids[0]];

    for (int i = 1; i < d->nvars; i++)
        if (d->model.vars[d->varids[i]]->ndims > widest->ndims)
            widest = d->model.vars[d->varids[i]];
    return widest;
}

/* Returns the dimensions of the grid. */
static int choose_default(const plan_decomposition *d, int64_t *grid)
{
    const plan_options *o = d->options;
    const pnc_var *var = find_widest(d);

    if (o->ngrid > 0) {
        memcpy(grid, o->grid, (size_t)o->ngrid * sizeof *grid);
        return o->ngrid;
    }
    grid[0] = 0; /* without dimensions, the first rank has the value */
    for (int i = 0; i < var->ndims; i++)
        grid[i] = var->is_record && i == 0 ? 1 : 0;
    return var->ndims > 0 ? var->ndims : 1;
}

/* The length of the dimension that number i of the grid divides; INT64_MAX: there is no limit. */
static int64_t get_length(const plan_decomposition *d, int i)
{
    const pnc_var *var = find_widest(d);
    int dim = var->ndims - d->ngrid + i;

    if (dim < 0 || (d->options->weak && !(var->is_record && dim == 0)))
        return INT64_MAX;
    return var->is_record && dim == 0 ? d->options->records : var->shape[dim];
}

/* Set the zeros of the grid to these numbers, in this order. False: a dimension is shorter than its number. */
static bool set_free(const plan_decomposition *d, const int64_t *numbers, int64_t *grid)
{
    bool fits = true;
    int next = 0;

    for (int i = 0; i < d->ngrid; i++) {
        grid[i] = d->grid[i] > 0 ? d->grid[i] : numbers[next++];
        fits = fits && (d->grid[i] > 0 || grid[i] <= get_length(d, i));
    }
    return fits;
}

/* Set the zeros of the grid, whose product is n: each prime factor goes to the dimension with most elements left for a
 * rank. */
static void set_free_by_length(const plan_decomposition *d, int64_t n, int64_t *grid)
{
    for (int i = 0; i < d->ngrid; i++)
        grid[i] = d->grid[i] > 0 ? d->grid[i] : 1;
    while (n > 1) {
        int64_t prime = find_largest_prime(n);
        int best = -1;

        for (int i = 0; i < d->ngrid; i++)
            if (d->grid[i] == 0 && (best < 0 || get_length(d, i) / grid[i] > get_length(d, best) / grid[best]))
                best = i;
        grid[best] *= prime;
        n /= prime;
    }
}

/* The zeros of the grid become numbers whose product with the others is the number of ranks. */
static int fill_grid(plan_decomposition *d, int64_t nranks)
{
    int64_t given = 1, numbers[PLAN_MOST_DIMS], grid[PLAN_MOST_DIMS];
    int nfree = 0;

    for (int i = 0; i < d->ngrid; i++) {
        nfree += d->grid[i] == 0;
        if (pnc_size_multiply(given, d->grid[i] > 0 ? d->grid[i] : 1, &given) != 0)
            given = INT64_MAX;
    }
    if (nranks == 0)
        nranks = given;
    if (nranks > PLAN_MOST_RANKS) {
        tool_error_print("%lld ranks are more than %d", (long long)nranks, PLAN_MOST_RANKS);
        return NC_EINVAL;
    }
    if (nranks % given != 0 || (nfree == 0 && nranks != given)) {
        tool_error_print("%lld ranks do not fit the grid: it has %lld%s", (long long)nranks, (long long)given,
                         nfree > 0 ? ", and dimensions with any number" : "");
        return NC_EINVAL;
    }
    divide(nranks / given, nfree, numbers);
    if (!set_free(d, numbers, grid))
        set_free_by_length(d, nranks / given, grid);
    memcpy(d->grid, grid, (size_t)d->ngrid * sizeof *grid);
    d->nranks = (int)nranks;
    return NC_NOERR;
}

/* --- weak scaling --- */

/* The length of each dimension of the variables, multiplied by the grid once. */
static int scale_dims(const plan_decomposition *d, pnc_model *model)
{
    for (int v = 0; v < d->nvars; v++) {
        const pnc_var *var = model->vars[d->varids[v]];

        for (int i = 0; i < d->ngrid && i < var->ndims; i++) {
            int dimid = var->dimids[var->ndims - 1 - i];
            int64_t before = d->model.dims[dimid]->len, *len = &model->dims[dimid]->len, after;

            if (pnc_size_multiply(before, d->grid[d->ngrid - 1 - i], &after) != 0 || (*len != before && *len != after))
                return NC_EINVAL;
            *len = after;
        }
    }
    return NC_NOERR;
}

static int update_sizes(pnc_model *model)
{
    for (int v = 0; v < model->nvars; v++) {
        pnc_var *var = model->vars[v];

        var->size = (int64_t)pnc_type_get_size(var->type);
        for (int i = 0; i < var->ndims; i++) {
            var->shape[i] = model->dims[var->dimids[i]]->len;
            if (!(var->is_record && i == 0) && pnc_size_multiply(var->size, var->shape[i], &var->size) != 0)
                return NC_EVARSIZE;
        }
    }
    return NC_NOERR;
}

static int scale(const plan_decomposition *d, pnc_model *model)
{
    pnc_error error = {0};
    int err = pnc_format_model_copy(model, &d->model);

    if (err == NC_NOERR) {
        model->format = 5; /* which can hold the larger variables */
        err = scale_dims(d, model);
    }
    if (err == NC_NOERR)
        err = update_sizes(model);
    if (err == NC_NOERR)
        err = compute_layout(model, &error);
    if (err != NC_NOERR) {
        tool_error_print("%s: the dimensions cannot be multiplied by the grid: %s", d->options->path,
                         error.code != NC_NOERR ? error.text : pnc_error_get_text(err));
        pnc_format_model_free(model);
    }
    return err;
}

int plan_decomposition_start(plan_decomposition *d, int64_t nranks)
{
    d->whole = &d->model;
    if (d->map != NULL) {
        d->nranks = d->map->nranks;
        return NC_NOERR;
    }
    d->ngrid = choose_default(d, d->grid);
    PNC_TRY(fill_grid(d, nranks));
    pnc_format_model_free(&d->scaled);
    if (!d->options->weak)
        return NC_NOERR;
    PNC_TRY(scale(d, &d->scaled));
    d->whole = &d->scaled;
    return NC_NOERR;
}

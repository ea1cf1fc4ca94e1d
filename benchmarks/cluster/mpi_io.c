/* The accesses of a plan by MPI-IO alone: one file view with the runs of all requests of a call, and one collective
 * access from a contiguous buffer. This is the least that a library above MPI-IO costs. */
#define _POSIX_C_SOURCE 200809L
#include "mpi_io.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Contiguous elements of the file. */
typedef struct run {
    MPI_Offset offset; /* in bytes */
    double *values;
    int length; /* in elements */
} run;

typedef struct run_list {
    run *runs;
    int n;
    MPI_Offset elements;
} run_list;

static void check_mpi(int code, const char *what)
{
    if (code != MPI_SUCCESS)
        check(NC_EMPI, what);
}

/* --- hints --- */

/* "key=value;key=value" */
static MPI_Info parse_hints(const char *text)
{
    char *copy = strdup(text != NULL ? text : "");
    MPI_Info info;

    if (copy == NULL)
        check(NC_ENOMEM, "hints");
    MPI_Info_create(&info);
    for (char *hint = strtok(copy, ";"); hint != NULL; hint = strtok(NULL, ";")) {
        char *value = strchr(hint, '=');

        if (value == NULL)
            check(NC_EINVAL, hint);
        *value++ = '\0';
        MPI_Info_set(info, hint, value);
    }
    free(copy);
    return info;
}

void mpi_io_open(const char *path, MPI_File *file)
{
    MPI_Info info = parse_hints(getenv("PNETCDF_HINTS"));

    check_mpi(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, file), path);
    MPI_Info_free(&info);
}

/* --- runs --- */

/* The rows of a hyperslab. Rows that adjoin stay apart, which MPI-IO does not notice in a file view. */
static void add_rows(run_list *list, const variable *v, MPI_Offset begin, const slab *s, double **values)
{
    int last = v->ndims - 1;
    MPI_Offset rows = 1;

    for (int d = 0; d < last; d++)
        rows *= s->count[d];
    for (MPI_Offset row = 0; row < rows; row++) {
        MPI_Offset rest = row, size = v->shape[last], position = s->start[last];

        for (int d = last - 1; d >= 0; d--) {
            position += (s->start[d] + rest % s->count[d]) * size;
            rest /= s->count[d];
            size *= v->shape[d];
        }
        list->runs[list->n++] = (run){begin + position * (MPI_Offset)sizeof(double), *values, (int)s->count[last]};
        *values += s->count[last];
        list->elements += s->count[last];
    }
}

static int count_rows(const plan *p, const request *r)
{
    int rows = 0, last = p->variables[r->variable].ndims - 1;

    for (const slab *s = p->slabs + r->first_slab; s < p->slabs + r->first_slab + r->nslabs; s++) {
        int of_slab = 1;

        for (int d = 0; d < last; d++)
            of_slab *= (int)s->count[d];
        rows += of_slab;
    }
    return rows;
}

static int compare_runs(const void *a, const void *b)
{
    const run *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The runs of n requests, whose values lie one after the other, in the order of the file. */
static void make_runs(run_list *list, const plan *p, const request *requests, int n, const MPI_Offset *begins,
                      double *values)
{
    int rows = 0;

    for (int i = 0; i < n; i++)
        rows += count_rows(p, &requests[i]);
    *list = (run_list){.runs = malloc(((size_t)rows + 1) * sizeof *list->runs)};
    if (list->runs == NULL)
        check(NC_ENOMEM, "a list of runs");
    for (const request *r = requests; r < requests + n; r++)
        for (int i = 0; i < r->nslabs; i++)
            add_rows(list, &p->variables[r->variable], begins[r->variable], &p->slabs[r->first_slab + i], &values);
    qsort(list->runs, (size_t)list->n, sizeof *list->runs, compare_runs);
}

static MPI_Datatype make_filetype(const run_list *list)
{
    MPI_Aint *offsets = malloc(((size_t)list->n + 1) * sizeof *offsets);
    int *lengths = malloc(((size_t)list->n + 1) * sizeof *lengths);
    MPI_Datatype type;

    if (offsets == NULL || lengths == NULL)
        check(NC_ENOMEM, "a file view");
    for (int i = 0; i < list->n; i++) {
        offsets[i] = (MPI_Aint)list->runs[i].offset;
        lengths[i] = list->runs[i].length;
    }
    check_mpi(MPI_Type_create_hindexed(list->n, lengths, offsets, MPI_DOUBLE, &type), "a file view");
    MPI_Type_commit(&type);
    free(offsets);
    free(lengths);
    return type;
}

/* --- values --- */

/* The file has the byte order of netCDF. */
static uint64_t swap(uint64_t value)
{
    const union {
        uint16_t number;
        char first;
    } order = {1};

    return order.first == 1 ? __builtin_bswap64(value) : value;
}

static void copy_values(const run_list *list, uint64_t *buf, direction direction)
{
    for (const run *r = list->runs; r < list->runs + list->n; r++)
        for (int i = 0; i < r->length; i++, buf++) {
            uint64_t value;

            if (direction == PUT) {
                memcpy(&value, &r->values[i], sizeof value);
                *buf = swap(value);
            } else {
                value = swap(*buf);
                memcpy(&r->values[i], &value, sizeof value);
            }
        }
}

void mpi_io_access(MPI_File file, const plan *p, const request *requests, int n, const MPI_Offset *begins,
                   double *values, direction direction)
{
    run_list list;
    uint64_t *buf;
    MPI_Datatype type;

    make_runs(&list, p, requests, n, begins, values);
    type = make_filetype(&list);
    buf = malloc(((size_t)list.elements + 1) * sizeof *buf);
    if (buf == NULL)
        check(NC_ENOMEM, "a buffer");
    check_mpi(MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL), "MPI_File_set_view");
    if (direction == PUT) {
        copy_values(&list, buf, PUT);
        check_mpi(MPI_File_write_at_all(file, 0, buf, (int)list.elements, MPI_DOUBLE, MPI_STATUS_IGNORE), "a write");
    } else {
        check_mpi(MPI_File_read_at_all(file, 0, buf, (int)list.elements, MPI_DOUBLE, MPI_STATUS_IGNORE), "a read");
        copy_values(&list, buf, GET);
    }
    free(buf);
    free(list.runs);
    MPI_Type_free(&type);
}

/* Makes the calls that a script says, for tests in Python: netcdf4_calls SCRIPT, on any number of ranks. One call a
 * line; lists have commas, "-" is an empty one:
 *
 * open PATH WRITE | close | redef | enddef | sync
 * dim NAME LENGTH | var NAME TYPE DIMENSIONS | filter VARIABLE ID PARAMETERS | chunks VARIABLE LENGTHS
 * att VARIABLE NAME TEXT: "-" is the file
 * put VARIABLE START COUNT VALUES: collective, each rank its part of the first dimension
 * put_alone VARIABLE START COUNT VALUES: independent, the last rank
 * puts VARIABLE START COUNT STRIDE VALUES: collective, all on the last rank
 * get VARIABLE | get_alone VARIABLE: all of it on each rank, "NAME VALUES" on rank 0; ranks that read other values say
 *     so
 *
 * What fails is printed as "error NAME CALL: MESSAGE" by rank 0, or "rank N: NAME" where ranks differ; the script goes
 * on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { DIMS = 32, LINE = 1 << 16, WORDS = 8 };

static int rank, nprocs, ncid = -1;
static char *words[WORDS];

/* All ranks must have the same code. */
static int report(int err)
{
    char message[NC_MAX_MESSAGE] = "";
    int codes[2] = {err, -err}, most[2];

    MPI_Allreduce(codes, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (most[0] != -most[1])
        printf("rank %d: %s\n", rank, ncmpi_strerrno(err));
    if (err != NC_NOERR && rank == 0) {
        ncmpi_inq_last_error(ncid >= 0 ? ncid : NC_GLOBAL, NULL, message);
        printf("error %s %s %s: %s\n", ncmpi_strerrno(err), words[0], words[1] != NULL ? words[1] : "", message);
    }
    return err;
}

static int split_list(const char *word, MPI_Offset *out, int most)
{
    int n = 0;

    for (char *end; word != NULL && word[0] != '-' && word[0] != '\0' && n < most; word = end + (*end == ','))
        out[n++] = strtoll(word, &end, 10);
    return n;
}

static double *read_values(char *word)
{
    double *values = calloc(strlen(word) + 1, sizeof *values);
    int n = 0;

    for (char *end; values != NULL && word[0] != '\0' && strcmp(word, "-") != 0; word = end + (*end == ','))
        values[n++] = strtod(word, &end);
    return values;
}

static int find_var(const char *name)
{
    int varid = NC_GLOBAL;

    if (strcmp(name, "-") != 0)
        report(ncmpi_inq_varid(ncid, name, &varid));
    return varid;
}

static void define_var(void)
{
    static const char *const types[] = {"",       "byte",  "char",   "short", "int",   "float",
                                        "double", "ubyte", "ushort", "uint",  "int64", "uint64"};
    int dimids[DIMS], n = 0, type = 1, varid;

    while (type < NC_UINT64 && strcmp(types[type], words[2]) != 0)
        type++;
    for (char *name = strtok(words[3], ","); name != NULL && strcmp(name, "-") != 0; name = strtok(NULL, ","))
        report(ncmpi_inq_dimid(ncid, name, &dimids[n++]));
    report(ncmpi_def_var(ncid, words[1], type, n, dimids, &varid));
}

static int define_filter(void)
{
    MPI_Offset list[64];
    unsigned parameters[64];
    int n = split_list(words[3], list, 64);

    for (int i = 0; i < n; i++)
        parameters[i] = (unsigned)list[i];
    return ncmpi_def_var_filter(ncid, find_var(words[1]), (unsigned)atoi(words[2]), (size_t)n, parameters);
}

static int define_chunks(void)
{
    MPI_Offset lengths[DIMS];

    split_list(words[2], lengths, DIMS);
    return ncmpi_def_var_chunking(ncid, find_var(words[1]), NC_CHUNKED, lengths);
}

static int put_var(int is_alone, int is_strided)
{
    MPI_Offset start[DIMS] = {0}, count[DIMS] = {0}, stride[DIMS], first = 0, row = 1;
    int varid = find_var(words[1]), ndims = split_list(words[2], start, DIMS), is_last = rank == nprocs - 1, err;
    double *values = read_values(words[is_strided ? 5 : 4]);

    split_list(words[3], count, DIMS);
    split_list(is_strided ? words[4] : NULL, stride, DIMS);
    for (int d = 1; d < ndims; d++)
        row *= count[d];
    if (!is_alone && !is_strided && ndims > 0) {
        first = count[0] * rank / nprocs;
        count[0] = count[0] * (rank + 1) / nprocs - first;
        start[0] += first;
    }
    if (is_alone) {
        report(ncmpi_begin_indep_data(ncid));
        err = is_last ? ncmpi_put_vara_double(ncid, varid, start, count, values) : NC_NOERR;
        MPI_Bcast(&err, 1, MPI_INT, nprocs - 1, MPI_COMM_WORLD);
        report(ncmpi_end_indep_data(ncid));
    } else if (is_strided) {
        if (!is_last)
            memset(count, 0, sizeof count);
        err = ncmpi_put_vars_double_all(ncid, varid, start, count, stride, values);
    } else {
        err = ncmpi_put_vara_double_all(ncid, varid, start, count, values + first * row);
    }
    free(values);
    return err;
}

static int get_var(int is_alone)
{
    int varid = find_var(words[1]), ndims = 0, dimids[DIMS], err;
    MPI_Offset n = 1, length;
    double *values, *first;

    ncmpi_inq_varndims(ncid, varid, &ndims);
    ncmpi_inq_vardimid(ncid, varid, dimids);
    for (int d = 0; d < ndims; d++) {
        ncmpi_inq_dimlen(ncid, dimids[d], &length);
        n *= length;
    }
    values = calloc((size_t)n + 1, sizeof *values);
    first = calloc((size_t)n + 1, sizeof *first);
    if (values == NULL || first == NULL)
        exit(1);
    if (is_alone)
        report(ncmpi_begin_indep_data(ncid));
    err = is_alone ? ncmpi_get_var_double(ncid, varid, values) : ncmpi_get_var_double_all(ncid, varid, values);
    if (is_alone)
        report(ncmpi_end_indep_data(ncid));
    memcpy(first, values, (size_t)n * sizeof *values);
    MPI_Bcast(first, (int)n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (memcmp(first, values, (size_t)n * sizeof *values) != 0)
        printf("rank %d reads other values of %s\n", rank, words[1]);
    if (err == NC_NOERR && rank == 0) {
        printf("%s", words[1]);
        for (MPI_Offset i = 0; i < n; i++)
            printf(" %.17g", values[i]);
        printf("\n");
    }
    free(values);
    free(first);
    return err;
}

static int make_call(void)
{
    const char *call = words[0];
    int id;

    if (strcmp(call, "open") == 0)
        return ncmpi_open(MPI_COMM_WORLD, words[1], atoi(words[2]) ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (strcmp(call, "redef") == 0)
        return ncmpi_redef(ncid);
    if (strcmp(call, "enddef") == 0)
        return ncmpi_enddef(ncid);
    if (strcmp(call, "sync") == 0)
        return ncmpi_sync(ncid);
    if (strcmp(call, "close") == 0)
        return ncmpi_close(ncid);
    if (strcmp(call, "dim") == 0)
        return ncmpi_def_dim(ncid, words[1], atoll(words[2]), &id);
    if (strcmp(call, "filter") == 0)
        return define_filter();
    if (strcmp(call, "chunks") == 0)
        return define_chunks();
    if (strcmp(call, "att") == 0)
        return ncmpi_put_att_text(ncid, find_var(words[1]), words[2], (MPI_Offset)strlen(words[3]), words[3]);
    if (strcmp(call, "put") == 0 || strcmp(call, "put_alone") == 0 || strcmp(call, "puts") == 0)
        return put_var(strcmp(call, "put_alone") == 0, strcmp(call, "puts") == 0);
    if (strcmp(call, "get") == 0 || strcmp(call, "get_alone") == 0)
        return get_var(strcmp(call, "get_alone") == 0);
    if (rank == 0)
        printf("unknown: %s\n", call);
    return NC_NOERR;
}

int main(int argc, char **argv)
{
    static char line[LINE];
    FILE *script;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    script = argc == 2 ? fopen(argv[1], "r") : NULL;
    while (script != NULL && fgets(line, sizeof line, script) != NULL) {
        int n = 0;

        memset(words, 0, sizeof words);
        for (char *word = strtok(line, " \n"); word != NULL && n < WORDS; word = strtok(NULL, " \n"))
            words[n++] = word;
        if (n == 0)
            continue;
        if (strcmp(words[0], "var") == 0)
            define_var();
        else if (report(make_call()) != NC_NOERR && strcmp(words[0], "open") == 0)
            break;
        if (strcmp(words[0], "close") == 0)
            ncid = -1;
    }
    if (script != NULL)
        fclose(script);
    MPI_Finalize();
    return script == NULL;
}

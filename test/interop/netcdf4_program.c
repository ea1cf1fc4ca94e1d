/* Carries out a list of calls, for test_netcdf4_programs.py, which knows what each of them should do.
 *
 * netcdf4_program FILE CALLS LOG [kill RANK N | half RANK N | moment MICROSECONDS | fail RANK N ERRNO]: each rank reads
 * CALLS, a line for each call, and makes those that are its own:
 *     NUMBER WHO CALL ARGUMENTS..        WHO: a rank, or * for all ranks of the file
 * It writes to LOG.RANK before and after a call, and what it has read:
 *     b NUMBER | e NUMBER CODE | v NUMBER VALUES..
 * kill: when rank RANK makes its Nth write of FILE, all ranks are killed; half: when it has written about half of it;
 * moment: at this time after the first call; fail: its Nth write fails with ERRNO, once. N 0: none. At the end a line
 * "w WRITES" in the log. The functions of the system that write are replaced here, for all libraries. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { MOST_DIMS = 8, MOST_BOXES = 64, MOST_RANKS = 16, MOST_REQUESTS = 256 };

typedef enum shape { VAR1, VARA, VARS, VARM, VARN, MVARA } shape;

/* A type of values in memory, which has the name of numpy; "c" is text. */
typedef struct kind {
    const char *name;
    nc_type type;
    size_t size;
    MPI_Datatype memory;
} kind;

/* The elements of a request, and their values. */
typedef struct values {
    long number, n;
    const kind *kind;
    void *bytes;
    int request;
    bool is_get;
} values;

typedef struct call {
    int ndims, nboxes, varid;
    shape shape;
    char mode; /* c, i, n, b: collective, independent, nonblocking, buffered */
    MPI_Offset start[MOST_BOXES][MOST_DIMS], count[MOST_BOXES][MOST_DIMS], stride[MOST_DIMS], imap[MOST_DIMS];
    values values;
} call;

static const char *path, *log_name;
static int rank, nprocs, ncid, nused, log_file;
static kind kinds[11];
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Info info;
static values requests[MOST_REQUESTS];
static int nrequests;

/* --- what goes wrong --- */

static enum { LIVE, KILL, HALF, FAIL } harm;
static int harm_at, harm_errno, writes;
static int pids[MOST_RANKS];

static void kill_all(void)
{
    for (int i = 0; i < nprocs; i++)
        if (i != rank)
            kill(pids[i], SIGKILL);
    raise(SIGKILL);
}

static bool is_of_file(int fd)
{
    struct stat of_fd, of_path;

    return path != NULL && fstat(fd, &of_fd) == 0 && S_ISREG(of_fd.st_mode) && stat(path, &of_path) == 0 &&
           of_fd.st_ino == of_path.st_ino && of_fd.st_dev == of_path.st_dev;
}

/* Whether this write of the file fails. */
static bool is_harmed(int fd, const char *name)
{
    if (!is_of_file(fd) || ++writes != harm_at || harm == LIVE)
        return false;
    if (harm == KILL)
        kill_all();
    fprintf(stderr, "rank %d: write %d, of %s, %s\n", rank, writes, name, harm == HALF ? "ends half way" : "fails");
    errno = harm_errno;
    return true;
}

/* About half of the bytes, up to the end of a page: the kernel writes those of a page all or not at all. */
static size_t cut(size_t n, long long offset)
{
    size_t end = (size_t)offset + n / 2;

    return end / 4096 * 4096 > (size_t)offset ? end / 4096 * 4096 - (size_t)offset : 0;
}

/* clang-format off */
#define REPLACE(result, name, parameters, arguments, partly)           \
    result name parameters                                             \
    {                                                                  \
        static result (*real) parameters;                              \
                                                                       \
        if (real == NULL)                                              \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                 \
        if (is_harmed(fd, #name)) {                                    \
            if (harm == HALF) {                                        \
                partly;                                                \
                kill_all();                                            \
            }                                                          \
            return -1;                                                 \
        }                                                              \
        return real arguments;                                         \
    }
REPLACE(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t offset), (fd, bytes, n, offset),
        (void)!real(fd, bytes, cut(n, offset), offset))
REPLACE(ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t offset), (fd, bytes, n, offset),
        (void)!real(fd, bytes, cut(n, offset), offset))
REPLACE(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t offset), (fd, v, n, offset),
        (void)!pwrite(fd, v->iov_base, cut(v->iov_len, offset), offset))
REPLACE(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n), (void)0)
REPLACE(int, ftruncate, (int fd, off_t size), (fd, size), (void)0)
REPLACE(int, ftruncate64, (int fd, off64_t size), (fd, size), (void)0)
REPLACE(int, fsync, (int fd), (fd), (void)0)
REPLACE(int, fdatasync, (int fd), (fd), (void)0)
/* clang-format on */

static void end_by_alarm(int number)
{
    (void)number;
    kill_all();
}

static void set_alarm(long microseconds)
{
    struct itimerval value = {.it_value = {microseconds / 1000000, microseconds % 1000000}};

    signal(SIGALRM, end_by_alarm);
    setitimer(ITIMER_REAL, &value, NULL);
}

static void prepare_harm(int argc, char **argv)
{
    int pid = (int)getpid();

    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (argc > 5 && strcmp(argv[4], "moment") == 0 && rank == 0)
        set_alarm(atol(argv[5]));
    if (argc <= 6 || atoi(argv[5]) != rank)
        return;
    if (strcmp(argv[4], "fail") == 0)
        harm = FAIL;
    else
        harm = strcmp(argv[4], "half") == 0 ? HALF : KILL;
    harm_at = atoi(argv[6]);
    harm_errno = argc > 7 ? atoi(argv[7]) : 0;
}

/* --- the log --- */

static void put_log(const char *text, size_t n)
{
    if (syscall(SYS_write, log_file, text, n) != (long)n)
        exit(3);
}

static void say(const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_log(text, strlen(text));
}

static void print_value(FILE *out, const values *v, long i)
{
    const void *at = (const char *)v->bytes + (size_t)i * v->kind->size;

    switch (v->kind->type) {
    case NC_BYTE: fprintf(out, " %d", *(const signed char *)at); break;
    case NC_CHAR:
    case NC_UBYTE: fprintf(out, " %d", *(const unsigned char *)at); break;
    case NC_SHORT: fprintf(out, " %d", *(const short *)at); break;
    case NC_USHORT: fprintf(out, " %d", *(const unsigned short *)at); break;
    case NC_INT: fprintf(out, " %d", *(const int *)at); break;
    case NC_UINT: fprintf(out, " %u", *(const unsigned *)at); break;
    case NC_INT64: fprintf(out, " %lld", *(const long long *)at); break;
    case NC_UINT64: fprintf(out, " %llu", *(const unsigned long long *)at); break;
    case NC_FLOAT: fprintf(out, " %.17g", (double)*(const float *)at); break;
    default: fprintf(out, " %.17g", *(const double *)at); break;
    }
}

static void say_values(const values *v)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (out == NULL)
        exit(3);
    fprintf(out, "v %ld", v->number);
    for (long i = 0; i < v->n; i++)
        print_value(out, v, i);
    fprintf(out, "\n");
    fclose(out);
    put_log(text, n);
    free(text);
}

/* --- words of a line --- */

static char *next_word(void)
{
    char *word = strtok(NULL, " \n");

    if (word == NULL) {
        fprintf(stderr, "a word is missing\n");
        exit(2);
    }
    return word;
}

static long next_number(void)
{
    return strtol(next_word(), NULL, 10);
}

static int next_var(void)
{
    const char *name = next_word();
    int varid = -2;

    if (strcmp(name, ".") == 0)
        return NC_GLOBAL;
    if (ncmpi_inq_varid(ncid, name, &varid) != NC_NOERR)
        say("n %s\n", name);
    return varid;
}

static const kind *find_kind(const char *name)
{
    for (int i = 0; i < 11; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    exit(2);
}

static void fill_kinds(void)
{
    const kind all[] = {
        {"i1", NC_BYTE, 1, MPI_SIGNED_CHAR},
        {"c", NC_CHAR, 1, MPI_CHAR},
        {"i2", NC_SHORT, 2, MPI_SHORT},
        {"i4", NC_INT, 4, MPI_INT},
        {"f4", NC_FLOAT, 4, MPI_FLOAT},
        {"f8", NC_DOUBLE, 8, MPI_DOUBLE},
        {"u1", NC_UBYTE, 1, MPI_UNSIGNED_CHAR},
        {"u2", NC_USHORT, 2, MPI_UNSIGNED_SHORT},
        {"u4", NC_UINT, 4, MPI_UNSIGNED},
        {"i8", NC_INT64, 8, MPI_LONG_LONG},
        {"u8", NC_UINT64, 8, MPI_UNSIGNED_LONG_LONG},
    };

    memcpy(kinds, all, sizeof kinds);
}

static void store_value(const kind *k, void *at, double value)
{
    switch (k->type) {
    case NC_BYTE: *(signed char *)at = (signed char)value; break;
    case NC_CHAR:
    case NC_UBYTE: *(unsigned char *)at = (unsigned char)value; break;
    case NC_SHORT: *(short *)at = (short)value; break;
    case NC_USHORT: *(unsigned short *)at = (unsigned short)value; break;
    case NC_INT: *(int *)at = (int)value; break;
    case NC_UINT: *(unsigned *)at = (unsigned)value; break;
    case NC_INT64: *(long long *)at = (long long)value; break;
    case NC_UINT64: *(unsigned long long *)at = (unsigned long long)value; break;
    case NC_FLOAT: *(float *)at = (float)value; break;
    default: *(double *)at = value; break;
    }
}

/* --- definitions --- */

static int define_dim(void)
{
    const char *name = next_word();
    long length = next_number();
    int dimid;

    return ncmpi_def_dim(ncid, name, length < 0 ? NC_UNLIMITED : length, &dimid);
}

static int define_var(void)
{
    const char *name = next_word();
    const kind *k = find_kind(next_word());
    int ndims = (int)next_number(), dims[MOST_DIMS], varid;

    for (int i = 0; i < ndims; i++) { /* ncmpi_redef or ncmpi_def_dim may have failed */
        int err = ncmpi_inq_dimid(ncid, next_word(), &dims[i]);

        if (err != NC_NOERR)
            return err;
    }
    return ncmpi_def_var(ncid, name, k->type, ndims, dims, &varid);
}

static int choose_storage(void)
{
    int varid = next_var(), storage = (int)next_number(), ndims = (int)next_number();
    MPI_Offset chunk[MOST_DIMS];

    for (int i = 0; i < ndims; i++)
        chunk[i] = next_number();
    return ncmpi_def_var_chunking(ncid, varid, storage, storage == NC_CHUNKED ? chunk : NULL);
}

static int add_filter(void)
{
    int varid = next_var();
    unsigned id = (unsigned)next_number(), words[8];
    int n = (int)next_number();

    for (int i = 0; i < n; i++)
        words[i] = (unsigned)next_number();
    return ncmpi_def_var_filter(ncid, varid, id, (MPI_Offset)n, words);
}

static int set_fill(void)
{
    int varid = next_var(), no_fill = (int)next_number();
    const kind *k = find_kind(next_word());
    const char *word = next_word();
    double value[1];

    store_value(k, value, strtod(word, NULL));
    return ncmpi_def_var_fill(ncid, varid, no_fill, strcmp(word, "default") == 0 ? NULL : value);
}

static int put_attribute(void)
{
    int varid = next_var(), numbers[64];
    const char *name = next_word(), *type = next_word();
    long n;

    if (strcmp(type, "text") == 0) {
        const char *text = next_word();

        return ncmpi_put_att_text(ncid, varid, name, (MPI_Offset)strlen(text), text);
    }
    n = next_number();
    for (long i = 0; i < n; i++)
        numbers[i] = (int)next_number();
    return ncmpi_put_att_int(ncid, varid, name, NC_INT, n, numbers);
}

/* --- puts and gets --- */

static void read_box(call *c, int box)
{
    for (int i = 0; i < c->ndims; i++)
        c->start[box][i] = next_number();
    for (int i = 0; i < c->ndims; i++)
        c->count[box][i] = next_number();
    if (c->shape == VARS || c->shape == VARM)
        for (int i = 0; i < c->ndims; i++)
            c->stride[i] = next_number();
    if (c->shape == VARM)
        for (int i = 0; i < c->ndims; i++)
            c->imap[i] = next_number();
}

static void read_boxes(call *c)
{
    static const char *const names[] = {"var1", "vara", "vars", "varm", "varn", "mvara"};
    const char *name;

    c->varid = next_var();
    c->values.kind = find_kind(next_word());
    c->mode = next_word()[0];
    name = next_word();
    for (c->shape = VAR1; strcmp(names[c->shape], name) != 0;)
        c->shape++;
    c->ndims = (int)next_number();
    c->nboxes = (int)next_number();
    c->values.n = 0;
    for (int box = 0; box < c->nboxes; box++) {
        long n = 1;

        read_box(c, box);
        for (int i = 0; i < c->ndims; i++)
            n *= (long)c->count[box][i];
        c->values.n += n;
    }
    c->values.bytes = calloc((size_t)c->values.n + 1, c->values.kind->size);
}

/* Where element i of the box, in the order of C, is in memory. */
static long find_place(const call *c, long i)
{
    long place = 0;

    if (c->shape != VARM)
        return i;
    for (int d = c->ndims; d-- > 0; i /= (long)c->count[0][d])
        place += i % (long)c->count[0][d] * (long)c->imap[d];
    return place;
}

static void set_values(call *c, long low, long base, long modulus)
{
    for (long i = 0; i < c->values.n; i++)
        store_value(c->values.kind, (char *)c->values.bytes + (size_t)find_place(c, i) * c->values.kind->size,
                    (double)(low + (base + 13 * i) % modulus));
}

/* What was read by an imap, in the order of C. */
static void order_values(call *c)
{
    size_t size = c->values.kind->size;
    char *ordered = malloc((size_t)c->values.n * size + 1);

    for (long i = 0; i < c->values.n; i++)
        memcpy(ordered + (size_t)i * size, (char *)c->values.bytes + (size_t)find_place(c, i) * size, size);
    free(c->values.bytes);
    c->values.bytes = ordered;
}

/* clang-format off */
#define BLOCKING(verb, all)                                                                                    \
    switch (c->shape) {                                                                                        \
    case VAR1: return ncmpi_##verb##_var1##all(ncid, c->varid, start, bytes, n, type);                         \
    case VARA: return ncmpi_##verb##_vara##all(ncid, c->varid, start, count, bytes, n, type);                  \
    case VARS: return ncmpi_##verb##_vars##all(ncid, c->varid, start, count, stride, bytes, n, type);          \
    case VARM: return ncmpi_##verb##_varm##all(ncid, c->varid, start, count, stride, imap, bytes, n, type);    \
    case VARN: return ncmpi_##verb##_varn##all(ncid, c->varid, c->nboxes, starts, counts, bytes, n, type);     \
    default: return ncmpi_m##verb##_vara##all(ncid, c->nboxes, varids, starts, counts, parts, ns, types);       \
    }

#define NONBLOCKING(verb)                                                                                      \
    switch (c->shape) {                                                                                        \
    case VAR1: return ncmpi_##verb##_var1(ncid, c->varid, start, bytes, n, type, request);                     \
    case VARA: return ncmpi_##verb##_vara(ncid, c->varid, start, count, bytes, n, type, request);              \
    case VARS: return ncmpi_##verb##_vars(ncid, c->varid, start, count, stride, bytes, n, type, request);      \
    case VARM: return ncmpi_##verb##_varm(ncid, c->varid, start, count, stride, imap, bytes, n, type, request); \
    default: return ncmpi_##verb##_varn(ncid, c->varid, c->nboxes, starts, counts, bytes, n, type, request);   \
    }
/* clang-format on */

static int access_var(call *c, bool is_get)
{
    const MPI_Offset *start = c->start[0], *count = c->count[0], *stride = c->stride, *imap = c->imap;
    MPI_Offset *starts[MOST_BOXES], *counts[MOST_BOXES], ns[MOST_BOXES], n = c->values.n;
    MPI_Datatype types[MOST_BOXES], type = c->values.kind->memory;
    void *parts[MOST_BOXES], *bytes = c->values.bytes;
    int *request = &c->values.request, varids[MOST_BOXES];
    char *at = bytes;

    for (int box = 0; box < c->nboxes; box++) {
        varids[box] = c->varid;
        starts[box] = c->start[box];
        counts[box] = c->count[box];
        parts[box] = at;
        types[box] = type;
        ns[box] = 1;
        for (int i = 0; i < c->ndims; i++)
            ns[box] *= c->count[box][i];
        at += (size_t)ns[box] * c->values.kind->size;
    }
    if (is_get && c->mode == 'c')
        BLOCKING(get, _all)
    if (is_get && c->mode == 'i')
        BLOCKING(get, )
    if (is_get)
        NONBLOCKING(iget)
    if (c->mode == 'c')
        BLOCKING(put, _all)
    if (c->mode == 'i')
        BLOCKING(put, )
    if (c->mode == 'n')
        NONBLOCKING(iput)
    NONBLOCKING(bput)
}

static int make_access(long number, bool is_get)
{
    static call c;
    int err;

    memset(&c, 0, sizeof c);
    c.values.number = number;
    c.values.is_get = is_get;
    c.values.request = NC_REQ_NULL;
    read_boxes(&c);
    if (!is_get) {
        long low = next_number(), base = next_number();

        set_values(&c, low, base, next_number());
    }
    err = access_var(&c, is_get);
    if (c.mode == 'n' || c.mode == 'b') {
        if (nrequests == MOST_REQUESTS)
            exit(2);
        requests[nrequests++] = c.values;
        return err;
    }
    if (is_get && err == NC_NOERR) {
        order_values(&c);
        say_values(&c.values);
    }
    free(c.values.bytes);
    return err;
}

static int find_request(long number)
{
    for (int i = 0; i < nrequests; i++)
        if (requests[i].number == number)
            return i;
    exit(2);
}

/* wait c|i all, or wait c|i N NUMBERS: the calls that posted the requests. */
static int wait_requests(void)
{
    bool is_collective = next_word()[0] == 'c';
    const char *word = next_word();
    bool is_all = strcmp(word, "all") == 0;
    int n = is_all ? nrequests : atoi(word), ids[MOST_REQUESTS], codes[MOST_REQUESTS] = {0}, which[MOST_REQUESTS];
    int err;

    for (int i = 0; i < n; i++) {
        which[i] = is_all ? i : find_request(next_number());
        ids[i] = requests[which[i]].request;
    }
    if (is_all)
        err = is_collective ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) : ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL);
    else
        err = is_collective ? ncmpi_wait_all(ncid, n, ids, codes) : ncmpi_wait(ncid, n, ids, codes);
    for (int i = 0; i < n; i++) {
        if (err == NC_NOERR)
            err = codes[i];
        if (err == NC_NOERR && requests[which[i]].is_get)
            say_values(&requests[which[i]]);
        free(requests[which[i]].bytes);
        requests[which[i]].number = -1;
    }
    for (int i = n = 0; i < nrequests; i++)
        if (requests[i].number >= 0)
            requests[n++] = requests[i];
    nrequests = n;
    return err;
}

/* --- the file --- */

static int use_ranks(void)
{
    nused = (int)next_number();
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank < nused ? 0 : MPI_UNDEFINED, rank, &comm);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Info_create(&info);
    return NC_NOERR;
}

static int give_hint(void)
{
    char *name = next_word();

    MPI_Info_set(info, name, next_word());
    return NC_NOERR;
}

static int show_length(long number)
{
    MPI_Offset length = -1;
    int dimid, err = ncmpi_inq_dimid(ncid, next_word(), &dimid);

    if (err == NC_NOERR)
        err = ncmpi_inq_dimlen(ncid, dimid, &length);
    if (err == NC_NOERR)
        say("v %ld %lld\n", number, (long long)length);
    return err;
}

static int pass(int err)
{
    MPI_Barrier(comm);
    return err;
}

static int make_definition(const char *name)
{
    if (strcmp(name, "def_dim") == 0)
        return define_dim();
    if (strcmp(name, "def_var") == 0)
        return define_var();
    if (strcmp(name, "storage") == 0)
        return choose_storage();
    if (strcmp(name, "filter") == 0)
        return add_filter();
    if (strcmp(name, "fill") == 0)
        return set_fill();
    if (strcmp(name, "att") == 0)
        return put_attribute();
    if (strcmp(name, "endian") == 0) {
        int varid = next_var();

        return ncmpi_def_var_endian(ncid, varid, (int)next_number());
    }
    fprintf(stderr, "no call \"%s\"\n", name);
    exit(2);
}

static int make_call(long number, const char *name)
{
    if (strcmp(name, "ranks") == 0)
        return use_ranks();
    if (strcmp(name, "hint") == 0)
        return give_hint();
    if (strcmp(name, "create") == 0)
        return ncmpi_create(comm, path, NC_NETCDF4 | NC_CLOBBER | (int)next_number(), info, &ncid);
    if (strcmp(name, "open") == 0)
        return ncmpi_open(comm, path, next_number() ? NC_WRITE : NC_NOWRITE, info, &ncid);
    if (strcmp(name, "close") == 0)
        return pass(ncmpi_close(ncid));
    if (strcmp(name, "attach") == 0)
        return ncmpi_buffer_attach(ncid, next_number());
    if (strcmp(name, "put") == 0 || strcmp(name, "get") == 0)
        return make_access(number, name[0] == 'g');
    if (strcmp(name, "wait") == 0)
        return wait_requests();
    if (strcmp(name, "redef") == 0)
        return ncmpi_redef(ncid);
    if (strcmp(name, "enddef") == 0)
        return pass(ncmpi_enddef(ncid));
    if (strcmp(name, "begin") == 0)
        return pass(ncmpi_begin_indep_data(ncid));
    if (strcmp(name, "end") == 0)
        return pass(ncmpi_end_indep_data(ncid));
    if (strcmp(name, "sync") == 0)
        return pass(ncmpi_sync(ncid));
    if (strcmp(name, "order") == 0)
        return pass(ncmpi_flush(ncid));
    if (strcmp(name, "length") == 0)
        return show_length(number);
    return make_definition(name);
}

static void run(const char *calls)
{
    static char line[1 << 16];
    FILE *in = fopen(calls, "r");

    if (in == NULL)
        exit(2);
    while (fgets(line, sizeof line, in) != NULL) {
        long number = strtol(strtok(line, " \n"), NULL, 10);
        const char *who = next_word(), *name = next_word();
        bool is_mine = who[0] == '*' ? rank < nused || strcmp(name, "ranks") == 0 : atoi(who) == rank;
        int err;

        if (!is_mine)
            continue;
        say("b %ld\n", number);
        err = make_call(number, name);
        say("e %ld %s\n", number, err == NC_NOERR ? "0" : ncmpi_strerrno(err));
        if (err != NC_NOERR) {
            char message[NC_MAX_MESSAGE] = "";

            ncmpi_inq_last_error(strcmp(name, "open") == 0 ? NC_GLOBAL : ncid, NULL, message);
            fprintf(stderr, "call %ld, rank %d, %s: %s\n", number, rank, name, message);
        }
    }
    fclose(in);
}

int main(int argc, char **argv)
{
    char name[4096];

    if (argc < 4)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    fill_kinds();
    info = MPI_INFO_NULL;
    log_name = argv[3];
    snprintf(name, sizeof name, "%s.%d", log_name, rank);
    log_file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    path = argv[1];
    prepare_harm(argc, argv);
    run(argv[2]);
    say("w %d\n", writes);
    MPI_Finalize();
    return 0;
}

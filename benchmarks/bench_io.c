/* Puts and gets beside the raw limit of the same extents: options, the cases and their table. See README.md. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_library.h"
#include "bench_limit.h"
#include "bench_measure.h"

static struct {
    const char *dir, *only;
    size_t bytes, piece;
    struct bench_report report;
    char path[4096];
    char *source, *sink;
} bench = {.bytes = (size_t)64 << 20, .piece = (size_t)256 << 10, .report = {.rounds = 5}};

static const char usage_text[] =
    "usage: bench_io [--dir FOLDER] [--size MIB] [--rounds N] [--piece KIB] [--only TEXT] [--tabs]\n"
    "  --dir     scratch folder (default /dev/shm where it can be written, else .)\n"
    "  --size    payload of a case, all ranks together (default 64)\n"
    "  --rounds  interleaved runs, of which the median is shown (default 5, at least 5)\n"
    "  --piece   piece of the fused limits (default 256)\n"
    "  --only    only cases whose name contains TEXT\n"
    "  --tabs    tab-separated rows: case, op, subject, limit, limit ms, cpu ms, MB/s, cpu ratio, wall ratio, goal\n";

static size_t number(const char *text, const char *option, size_t least, size_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < least || value > most)
        bench_fail("--%s takes a number from %zu to %zu, not '%s'", option, least, most, text);
    return value;
}

static void options_read(int argc, char **argv)
{
    static const struct option options[] = {{"dir", 1, NULL, 'd'},   {"size", 1, NULL, 's'}, {"rounds", 1, NULL, 'r'},
                                            {"piece", 1, NULL, 'p'}, {"only", 1, NULL, 'o'}, {"tabs", 0, NULL, 't'},
                                            {"help", 0, NULL, 'h'},  {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            bench.dir = optarg;
        else if (c == 's')
            bench.bytes = number(optarg, "size", 1, 8192) << 20;
        else if (c == 'r')
            bench.report.rounds = (int)number(optarg, "rounds", 5, BENCH_ROUNDS_MAX);
        else if (c == 'p')
            bench.piece = number(optarg, "piece", 4, 1 << 20) << 10;
        else if (c == 'o')
            bench.only = optarg;
        else if (c == 't')
            bench.report.tabs = true;
        else {
            if (bench.report.rank == 0)
                fputs(usage_text, c == 'h' ? stdout : stderr);
            MPI_Finalize();
            exit(c == 'h' ? 0 : 2);
        }
    }
    if (bench.bytes >> 20 < (size_t)bench.report.nprocs)
        bench_fail("--size must give each of the %d ranks 1 MiB at least", bench.report.nprocs);
    if (bench.dir == NULL)
        bench.dir = access("/dev/shm", W_OK) ? "." : "/dev/shm";
    int run = (int)getpid(); /* two runs at once must not share a file */
    MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if ((size_t)snprintf(bench.path, sizeof bench.path, "%s/bench_io_%d.nc", bench.dir, run) >= sizeof bench.path)
        bench_fail("the name of the folder is too long: %s", bench.dir);
}

static bool wanted(const char *title)
{
    return !bench.only || strstr(title, bench.only);
}

/* Every rank's pages are touched once, so that no case pays for them. */
static void buffers_allocate(void)
{
    size_t bytes = bench.bytes / (size_t)bench.report.nprocs * 9 / 8 + (1 << 20); /* the halo case has gaps */
    if (posix_memalign((void **)&bench.source, 4096, bytes) || posix_memalign((void **)&bench.sink, 4096, bytes))
        bench_fail("no memory for two buffers of %zu bytes; try a smaller --size", bytes);
    memset(bench.source, 1, bytes);
    memset(bench.sink, 2, bytes);
}

static struct bench_job job_of(const char *memory, const char *external, int ndims)
{
    struct bench_job job = {.path = bench.path,
                            .rank = bench.report.rank,
                            .nprocs = bench.report.nprocs,
                            .memory = bench_type_find(memory),
                            .external = bench_type_find(external),
                            .ndims = ndims,
                            .stride = {1, 1, 1},
                            .buftype = MPI_DATATYPE_NULL,
                            .plan = {.planes = 1, .rows = 1, .run = 1, .stride = 1},
                            .source = bench.source,
                            .sink = bench.sink};
    return job;
}

/* Sizes that follow from the plan. */
static void job_size(struct bench_job *job)
{
    size_t n = job->plan.planes * job->plan.rows * job->plan.run;
    job->bytes = n * job->external->size * (size_t)job->nprocs;
    if (!job->memory_bytes)
        job->memory_bytes = n * job->memory->size;
}

/* Elements per rank, for a payload that neither the file's nor the memory's side exceeds. */
static size_t elements_per_rank(const struct bench_job *job, size_t bytes)
{
    size_t size = job->memory->size > job->external->size ? job->memory->size : job->external->size;
    return bytes / size / (size_t)job->nprocs / 64 * 64;
}

/* A rank's share of a one-dimensional variable, or of one with two columns. */
static void slab(struct bench_job *job, size_t n)
{
    MPI_Offset columns = job->ndims == 2 ? 2 : 1, rows = (MPI_Offset)n / columns;
    job->shape[0] = rows * job->nprocs;
    job->start[0] = rows * job->rank;
    job->count[0] = rows;
    job->shape[1] = job->count[1] = columns;
    job->plan.run = n;
    job->plan.base = (off_t)((size_t)job->rank * n * job->external->size);
    job_size(job);
}

static struct bench_contender contender(const char *name, void (*run)(void *), struct bench_job *job, int base,
                                        double goal)
{
    return (struct bench_contender){.name = name, .run = run, .job = job, .base = base, .goal = goal};
}

static void put_and_get(struct bench_job *job, const char *title, const char *limit, double goal, bool mpiio)
{
    const struct bench_contender put[] = {
        contender(limit, bench_raw_put, job, 0, 0),
        contender("library", bench_library_put, job, 0, goal),
        contender("MPI-IO collective", bench_mpiio_put_all, job, 0, 0),
    };
    const struct bench_contender get[] = {
        contender(limit, bench_raw_get, job, 0, 0),
        contender("library", bench_library_get, job, 0, goal),
        contender("MPI-IO collective", bench_mpiio_get_all, job, 0, 0),
    };
    bench_job_open(job);
    bench_job_verify(job);
    if (mpiio)
        bench_mpiio_view(job);
    bench_group_run(&bench.report, title, "put", job->bytes, put, mpiio ? 3 : 2);
    bench_group_run(&bench.report, title, "get", job->bytes, get, mpiio ? 3 : 2);
    bench_job_close(job);
}

/* Bytes as they are: what memory, the kernel and MPI-IO cost before any library. */
static void case_raw(void)
{
    struct bench_job job = job_of("double", "double", 1);
    if (!wanted("raw bytes"))
        return;
    slab(&job, elements_per_rank(&job, bench.bytes));
    bench_job_open(&job);
    bench_job_fill(&job, 1);
    struct bench_job bytes = job; /* the same file, taken as bytes */
    bytes.plan.codec = bench_codec_find("text", "text");
    bytes.plan.run *= 8;
    const struct bench_contender put[] = {
        contender("pwrite", bench_raw_put, &bytes, 0, 0),
        contender("memcpy", bench_memcpy, &job, 0, 0),
        contender("swap + pwrite", bench_raw_put, &job, 0, 0),
        contender("MPI_File_write_at", bench_mpiio_put, &job, 0, 0),
        contender("MPI_File_write_at_all", bench_mpiio_put_all, &job, 0, 0),
    };
    const struct bench_contender get[] = {
        contender("pread", bench_raw_get, &bytes, 0, 0),
        contender("pread + swap", bench_raw_get, &job, 0, 0),
        contender("MPI_File_read_at", bench_mpiio_get, &job, 0, 0),
        contender("MPI_File_read_at_all", bench_mpiio_get_all, &job, 0, 0),
    };
    bench_group_run(&bench.report, "raw bytes", "put", job.bytes, put, 5);
    bench_group_run(&bench.report, "raw bytes", "get", job.bytes, get, 4);
    bench_job_close(&job);
}

static void case_contiguous(const char *memory, const char *external, const char *title, double goal)
{
    struct bench_job job = job_of(memory, external, 1);
    if (!wanted(title))
        return;
    slab(&job, elements_per_rank(&job, bench.bytes));
    put_and_get(&job, title, "fused", goal, false);
}

static void cases_contiguous(void)
{
    char title[64];
    for (size_t i = 0; i < bench_type_count(); i++) {
        const char *name = bench_type_at(i)->name;
        snprintf(title, sizeof title, "contiguous %s", name);
        case_contiguous(name, name, title, 0.8);
    }
}

static void cases_converting(void)
{
    static const char *const pairs[][2] = {{"double", "int"},   {"double", "float"}, {"double", "short"},
                                           {"float", "double"}, {"float", "short"},  {"int", "double"},
                                           {"short", "float"},  {"int", "short"},    {"longlong", "int"}};
    char title[64];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(title, sizeof title, "convert %s NC_%s", pairs[i][0], pairs[i][1]);
        case_contiguous(pairs[i][0], pairs[i][1], title, 0.6);
    }
}

/* Rows of two elements are contiguous all the same; they must not cost more than one dimension does. Each file has its
   limit run right before the library, so that both find the same of it in cache. */
static void case_slab_of_two(const char *type)
{
    char title[64], path[sizeof bench.path + 8];
    struct bench_job flat = job_of(type, type, 1), two = job_of(type, type, 2);
    snprintf(title, sizeof title, "slab [N][2] %s", type);
    if (!wanted(title))
        return;
    snprintf(path, sizeof path, "%s.flat", bench.path);
    flat.path = path;
    slab(&flat, elements_per_rank(&flat, bench.bytes));
    slab(&two, elements_per_rank(&two, bench.bytes));
    const struct bench_contender put[] = {
        contender("fused", bench_raw_put, &flat, 0, 0),
        contender("library [2N]", bench_library_put, &flat, 0, 0.8),
        contender("fused", bench_raw_put, &two, 2, 0),
        contender("library [N][2]", bench_library_put, &two, 1, 0.8),
    };
    const struct bench_contender get[] = {
        contender("fused", bench_raw_get, &flat, 0, 0),
        contender("library [2N]", bench_library_get, &flat, 0, 0.8),
        contender("fused", bench_raw_get, &two, 2, 0),
        contender("library [N][2]", bench_library_get, &two, 1, 0.8),
    };
    bench_job_open(&flat);
    bench_job_open(&two);
    bench_job_verify(&flat);
    bench_job_verify(&two);
    bench_group_run(&bench.report, title, "put", two.bytes, put, 4);
    bench_group_run(&bench.report, title, "get", two.bytes, get, 4);
    bench_job_close(&two);
    bench_job_close(&flat);
}

/* Every rank has a block of columns; with one rank the other half of the columns stays untouched. */
static void case_block_2d(size_t row_bytes)
{
    char title[64];
    struct bench_job job = job_of("double", "double", 2);
    snprintf(title, sizeof title, "columns, rows of %zu B", row_bytes);
    size_t columns = row_bytes / 8, rows = bench.bytes / row_bytes / (size_t)job.nprocs;
    MPI_Offset blocks = job.nprocs > 1 ? job.nprocs : 2;
    if (!wanted(title) || rows == 0)
        return;
    job.shape[0] = job.count[0] = (MPI_Offset)rows;
    job.shape[1] = blocks * (MPI_Offset)columns;
    job.count[1] = (MPI_Offset)columns;
    job.start[1] = job.rank * (MPI_Offset)columns;
    job.plan.rows = rows;
    job.plan.run = job.plan.memory_row = columns;
    job.plan.row_step = blocks * (off_t)row_bytes;
    job.plan.base = (off_t)row_bytes * job.rank;
    job_size(&job);
    put_and_get(&job, title, "row-wise", 0.5, true);
}

/* Half of the rows of every plane, and a block of columns of each: extents that are short and far apart. */
static void case_block_3d(size_t row_bytes)
{
    char title[64];
    struct bench_job job = job_of("double", "double", 3);
    snprintf(title, sizeof title, "block 3D, rows of %zu B", row_bytes);
    size_t nx = row_bytes / 8, ny = 64, nz = bench.bytes / row_bytes / ny / (size_t)job.nprocs;
    MPI_Offset blocks = job.nprocs > 1 ? job.nprocs : 2;
    if (!wanted(title) || nz == 0)
        return;
    job.shape[0] = job.count[0] = (MPI_Offset)nz;
    job.shape[1] = 2 * (MPI_Offset)ny;
    job.count[1] = (MPI_Offset)ny;
    job.start[1] = (MPI_Offset)ny / 2;
    job.shape[2] = blocks * (MPI_Offset)nx;
    job.count[2] = (MPI_Offset)nx;
    job.start[2] = job.rank * (MPI_Offset)nx;
    job.plan.planes = nz;
    job.plan.rows = ny;
    job.plan.run = job.plan.memory_row = nx;
    job.plan.memory_plane = nx * ny;
    job.plan.row_step = blocks * (off_t)row_bytes;
    job.plan.plane_step = job.plan.row_step * 2 * (off_t)ny;
    job.plan.base = job.start[1] * job.plan.row_step + (off_t)row_bytes * job.rank;
    job_size(&job);
    put_and_get(&job, title, "row-wise", 0.5, true);
}

/* A quarter of the payload: the file's extent is `stride` times as long, and some libraries are slow here. */
static void case_stride(int stride)
{
    char title[64];
    struct bench_job job = job_of("double", "double", 1);
    snprintf(title, sizeof title, "stride %d double", stride);
    if (!wanted(title))
        return;
    slab(&job, elements_per_rank(&job, bench.bytes / 4));
    job.shape[0] *= stride;
    job.start[0] *= stride;
    job.stride[0] = stride;
    job.plan.stride = (size_t)stride;
    job.plan.base *= stride;
    put_and_get(&job, title, "sieve in pieces", 0, false);
}

/* Memory is [x][y], the file [y][x]. */
static void case_transpose(void)
{
    struct bench_job job = job_of("double", "double", 2);
    MPI_Offset nx = 1000, ny = (MPI_Offset)elements_per_rank(&job, bench.bytes / 2) / nx;
    if (!wanted("varm transpose double"))
        return;
    job.shape[0] = ny * job.nprocs;
    job.start[0] = ny * job.rank;
    job.count[0] = ny;
    job.shape[1] = job.count[1] = nx;
    job.imap[0] = 1;
    job.imap[1] = ny;
    job.plan.transposed = 1;
    job.plan.rows = (size_t)ny;
    job.plan.run = (size_t)nx;
    job.plan.base = job.start[0] * nx * 8;
    job_size(&job);
    put_and_get(&job, "varm transpose double", "tiles", 0, false);
}

/* The interior of an array with ghost cells, described by an MPI datatype. */
static void case_halo(void)
{
    struct bench_job job = job_of("double", "double", 2);
    MPI_Offset nx = 500, ny = (MPI_Offset)elements_per_rank(&job, bench.bytes / 2) / nx;
    if (!wanted("ghost cells double"))
        return;
    int shape[2] = {(int)ny, (int)nx + 4}, count[2] = {(int)ny, (int)nx}, start[2] = {0, 0};
    job.shape[0] = ny * job.nprocs;
    job.start[0] = ny * job.rank;
    job.count[0] = ny;
    job.shape[1] = job.count[1] = nx;
    job.plan.rows = (size_t)ny;
    job.plan.run = (size_t)nx;
    job.plan.row_step = nx * 8;
    job.plan.memory_row = (size_t)nx + 4;
    job.plan.base = job.start[0] * nx * 8;
    job.memory_bytes = (size_t)ny * job.plan.memory_row * 8;
    job_size(&job);
    MPI_Type_create_subarray(2, shape, count, start, MPI_ORDER_C, MPI_DOUBLE, &job.buftype);
    MPI_Type_commit(&job.buftype);
    put_and_get(&job, "ghost cells double", "fused", 0, false);
    MPI_Type_free(&job.buftype);
}

/* Two variables, record after record, to a file that grows: both sides allocate its pages and publish numrecs. */
static void case_records(size_t record_bytes, size_t payload)
{
    char title[64];
    struct bench_job job = job_of("double", "double", 2);
    snprintf(title, sizeof title, "append records of %zu KiB", record_bytes >> 10);
    if (!wanted(title))
        return;
    job.records = (MPI_Offset)(payload / 2 / record_bytes);
    job.shape[1] = (MPI_Offset)record_bytes / 8 / job.nprocs * job.nprocs;
    job.count[1] = job.shape[1] / job.nprocs;
    job.start[1] = job.rank * job.count[1];
    job.variable_bytes = job.shape[1] * 8;
    job.record_bytes = 2 * job.variable_bytes;
    job.plan.run = (size_t)job.count[1];
    job.plan.codec = bench_codec_find("double", "double");
    job.bytes = (size_t)(job.records * job.record_bytes);
    job.memory_bytes = job.bytes / (size_t)job.nprocs;
    bench_job_fill(&job, 3);
    const struct bench_contender put[] = {
        {"fused", bench_records_raw_put, &job, 0, 0, bench_records_raw_create, bench_records_raw_close},
        {"library", bench_records_put, &job, 0, 0, bench_records_create, bench_records_close}};
    const struct bench_contender get[] = {
        contender("fused", bench_records_raw_get, &job, 0, 0),
        contender("library", bench_records_get, &job, 0, 0),
    };
    bench_records_create(&job); /* sets the offset at which the records begin */
    bench_records_close(&job);
    bench_group_run(&bench.report, title, "put", job.bytes, put, 2);
    bench_records_reopen(&job);
    bench_group_run(&bench.report, title, "get", job.bytes, get, 2);
    bench_records_raw_close(&job);
    bench_records_close(&job);
    if (memcmp(job.source, job.sink, job.memory_bytes))
        bench_fail("rank %d: records differ from what was appended", job.rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job.rank == 0)
        unlink(job.path);
}

int main(int argc, char **argv)
{
    static const size_t row_bytes[] = {512, 4096, 32768};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.report.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.report.nprocs);
    options_read(argc, argv);
    bench_limit_init(bench.piece);
    buffers_allocate();
    bench_report_begin(&bench.report, ncmpi_inq_libvers());
    case_raw();
    cases_contiguous();
    cases_converting();
    case_slab_of_two("double");
    case_slab_of_two("float");
    for (size_t i = 0; i < sizeof row_bytes / sizeof *row_bytes; i++)
        case_block_2d(row_bytes[i]);
    case_block_3d(2048);
    case_stride(2);
    case_stride(3);
    case_transpose();
    case_halo();
    case_records((size_t)256 << 10, bench.bytes);
    case_records((size_t)4 << 10, bench.bytes / 4);
    free(bench.source);
    free(bench.sink);
    bench_limit_free();
    return MPI_Finalize();
}

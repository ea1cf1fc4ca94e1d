/* The command line of ncmpistat --plan. */
#include "tools/plan/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/choose/sizes.h"
#include "tools/common/message.h"
#include "tools/common/size.h"
#include "tools/plan/machine.h"

#define RANKS_PER_NODE 8
#define DEFAULT_BUFFER (16 << 20) /* of nc_ibuf_size */
#define MACHINES "aurora, cori, frontier, fugaku, intrepid or perlmutter"
#define MESSAGE_US 2
#define MOST_BYTES (1 << 30) /* of a stripe, or of a buffer */
#define NETWORK_MBS 10000
/* About those of deflate 1 with ISA-L on data with noise (docs/compression.md): others differ. */
#define FILTER_MBS 500
#define RATIO 2

enum {
    OPTION_VERSION = 1,
    OPTION_GRID,
    OPTION_MAP,
    OPTION_WEAK,
    OPTION_GET,
    OPTION_RECORDS,
    OPTION_RANKS,
    OPTION_RANKS_PER_NODE,
    OPTION_STRATEGY,
    OPTION_MACHINE,
    OPTION_AGGREGATORS,
    OPTION_BUFFER,
    OPTION_STRIPE,
    OPTION_STRIPE_COUNT,
    OPTION_SERVERS,
    OPTION_SERVER_MBS,
    OPTION_LINK_MBS,
    OPTION_LATENCY,
    OPTION_REQUEST,
    OPTION_LOCK,
    OPTION_DISK_MBS,
    OPTION_DISK_LATENCY,
    OPTION_NETWORK_MBS,
    OPTION_MESSAGE,
    OPTION_FILTER_MBS,
    OPTION_RATIO,
    OPTION_JSON
};

static const char usage[] = "usage: ncmpistat --plan file -v var1,... [--grid=n,... | --map=file] [option...]\n";

static const char help[] =
    "Print what a collective put or get would do: strategy, aggregators, rounds, accesses, messages, time, memory.\n"
    "Nothing is run. file is CDL, or a netCDF file: of a netCDF-4 file the plan is that of one variable in chunks.\n"
    "\n"
    "  -v var1,...           variables of the call; several are posted, and one ncmpi_wait_all completes them;\n"
    "                        the last -v is used\n"
    "      --grid=n,...      ranks along the last dimensions of the variables, the last one fastest; 0: any number\n"
    "                        that fits; default: 0 for all dimensions but that of the records. Ranks beyond the\n"
    "                        length of a dimension have no values; a variable without dimensions is that of rank 0\n"
    "      --map=file        the hyperslabs of ranks instead: lines of rank, start and count, as in 3 0,8,0 1,4,16\n"
    "      --weak            the lengths in the file are those of one rank: the grid multiplies them\n"
    "      --get             a get instead of a put\n"
    "      --records=N       records of a record variable in the call; default 1\n"
    "      --ranks=N,...     one plan for each of these numbers of ranks; default: those of the grid or the map\n"
    "      --ranks-per-node=N   default 8. Ranks N*i to N*i + N - 1 are on node i: neighbours in rank share a node\n"
    "\n"
    "Hints\n"
    "      --strategy=NAME   nc_strategy\n"
    "      --aggregators=N   cb_nodes\n"
    "      --buffer=N        cb_buffer_size\n"
    "\n"
    "      --machine=NAME    " MACHINES
    ":\n"
    "                        ranks of a node, and all that follows, by figures that were published or assumed;\n"
    "                        options behind it change single ones\n"
    "\n"
    "The file system; suffixes k, M, G of bytes: 1024, 1024^2, 1024^3; MB/s: 10^6 bytes per second\n"
    "      --stripe=N        bytes of a stripe; default 1M\n"
    "      --stripe-count=N  servers with stripes of the file, which the library is informed of, as on Lustre\n"
    "      --servers=N       default 8, or the stripe count\n"
    "      --server-mbs=N    MB/s of a server; default 3000\n"
    "      --link-mbs=N      MB/s between a node and all servers; default 8000\n"
    "      --latency-us=N    microseconds of an access beside its bytes; default 500\n"
    "      --request-us=N    microseconds that a server is busy with a request, beside its bytes; default 100\n"
    "      --lock-us=N       microseconds to move the lock of a stripe between nodes; default 5000\n"
    "      --disk-mbs=N      MB/s of the disk of a node, for logs of a burst buffer; default 2000\n"
    "      --disk-latency-us=N  microseconds of an access of it, beside its bytes; default 20\n"
    "      --network-mbs=N   MB/s of a node to the others; default 10000\n"
    "      --message-us=N    microseconds of a message; default 2\n"
    "\n"
    "Chunks with filters\n"
    "      --filter-mbs=N    MB/s of values that a rank compresses or decompresses; default 500\n"
    "      --ratio=N         bytes of values for each byte in the file; default 2\n"
    "\n"
    "      --json            print the plans as one JSON object\n"
    "  -h, --help\n"
    "      --version\n";

static int fail_value(const char *option, const char *text, const char *what)
{
    tool_error_print("%s=%s: must be %s", option, text, what);
    return 1;
}

static int fail_number(const char *option, int64_t least, int64_t most)
{
    tool_error_print("%s=%s: must be a number from %lld to %lld", option, optarg, (long long)least, (long long)most);
    return 1;
}

/* A number in this range. Returns the text behind it, or NULL. */
static const char *parse_count(const char *text, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    long long number = strtoll(text, &end, 10);

    if (end == text || number < least || number > most)
        return NULL;
    *out = number;
    return end;
}

static int parse_number(const char *option, int64_t most, int64_t *out)
{
    const char *end = parse_count(optarg, 1, most, out);

    return end == NULL || *end != '\0' ? fail_number(option, 1, most) : -1;
}

/* Numbers from `least` to PLAN_MOST_RANKS. */
static int parse_list(const char *option, int64_t least, int most, int64_t *out, int *n)
{
    const char *at = optarg;

    for (*n = 0; *n < most; at++) {
        at = parse_count(at, least, PLAN_MOST_RANKS, &out[(*n)++]);
        if (at == NULL || (*at != ',' && *at != '\0')) {
            tool_error_print("%s=%s: must be numbers from %lld to %d with commas between them", option, optarg,
                             (long long)least, PLAN_MOST_RANKS);
            return 1;
        }
        if (*at == '\0')
            return -1;
    }
    tool_error_print("%s=%s: more than %d numbers", option, optarg, most);
    return 1;
}

static int parse_size(const char *option, int64_t *out)
{
    if (!tool_size_parse(optarg, 1, out) || *out > MOST_BYTES)
        return fail_value(option, optarg, "a number of bytes such as 4096, 4k or 1M, at most 1G");
    return -1;
}

/* A positive number; least 0: or 0. */
static int parse_real(const char *option, bool or_0, double *out)
{
    char *end;
    double value = strtod(optarg, &end);

    if (end == optarg || *end != '\0' || !(or_0 ? value >= 0 : value > 0) || value > 1e12)
        return fail_value(option, optarg, or_0 ? "a number from 0 to 1e12" : "a number above 0, at most 1e12");
    *out = value;
    return -1;
}

static int parse_microseconds(const char *option, int64_t *out)
{
    double value = 0;
    int status = parse_real(option, true, &value);

    *out = (int64_t)(1e3 * value);
    return status;
}

/* 10^6 bytes in a second: nanoseconds of a byte. */
static int parse_rate(const char *option, double *out)
{
    double value = 1;
    int status = parse_real(option, false, &value);

    *out = 1e3 / value;
    return status;
}

static int parse_strategy(plan_options *out)
{
    for (int i = 0; pnc_strategy_names[i] != NULL; i++) {
        out->hints.strategy = i;
        if (strcmp(pnc_strategy_names[i], optarg) == 0 && i != PNC_MPI_IO + 1)
            return -1;
    }
    return fail_value("--strategy", optarg, "automatic, direct, merged, shared, separate, within_nodes or two_phase");
}

static int set_machine(const plan_machine *m, plan_options *out)
{
    out->machine = m->name;
    out->most_nodes = m->nodes;
    out->ranks_per_node = m->ranks_per_node;
    out->stripe_count = m->is_known ? m->servers : 0;
    out->fs = (plan_file_system){.servers = m->servers,
                                 .unit = m->unit,
                                 .latency = (int64_t)(1e3 * m->latency_us),
                                 .request = (int64_t)(1e3 * m->request_us),
                                 .lock = (int64_t)(1e3 * m->lock_us),
                                 .server_byte = 1e3 / m->server_mbs,
                                 .link_byte = 1e3 / m->link_mbs};
    out->message = 1e3 * m->message_us;
    out->network_byte = 1e3 / m->network_mbs;
    return -1;
}

static int parse_machine(plan_options *out)
{
    const plan_machine *m = plan_machine_find(optarg);

    return m != NULL ? set_machine(m, out) : fail_value("--machine", optarg, MACHINES);
}

static int parse_servers(plan_options *out)
{
    int64_t n = 1;
    int status = parse_number("--servers", PLAN_MOST_SERVERS, &n);

    out->fs.servers = (int)n;
    return status;
}

static int parse_file_system(int letter, plan_options *out)
{
    switch (letter) {
    case OPTION_STRIPE: return parse_size("--stripe", &out->fs.unit);
    case OPTION_STRIPE_COUNT: return parse_number("--stripe-count", PLAN_MOST_SERVERS, &out->stripe_count);
    case OPTION_SERVERS: return parse_servers(out);
    case OPTION_SERVER_MBS: return parse_rate("--server-mbs", &out->fs.server_byte);
    case OPTION_LINK_MBS: return parse_rate("--link-mbs", &out->fs.link_byte);
    case OPTION_LATENCY: return parse_microseconds("--latency-us", &out->fs.latency);
    case OPTION_REQUEST: return parse_microseconds("--request-us", &out->fs.request);
    case OPTION_LOCK: return parse_microseconds("--lock-us", &out->fs.lock);
    case OPTION_DISK_MBS: return parse_rate("--disk-mbs", &out->disk.byte);
    case OPTION_DISK_LATENCY: return parse_microseconds("--disk-latency-us", &out->disk.latency);
    case OPTION_NETWORK_MBS: return parse_rate("--network-mbs", &out->network_byte);
    case OPTION_FILTER_MBS: return parse_rate("--filter-mbs", &out->filter_byte);
    case OPTION_RATIO: return parse_real("--ratio", false, &out->ratio);
    default: fprintf(stderr, "%sTry `ncmpistat --plan --help'.\n", usage); return 2; /* getopt has printed the error */
    }
}

static int parse_message(plan_options *out)
{
    double value = 0;
    int status = parse_real("--message-us", true, &value);

    out->message = 1e3 * value;
    return status;
}

static int parse_option(int letter, plan_options *out)
{
    switch (letter) {
    case 'v': return tool_names_parse("-v", optarg, &out->variables) == NC_NOERR ? -1 : 1;
    case OPTION_GRID: return parse_list("--grid", 0, PLAN_MOST_DIMS, out->grid, &out->ngrid);
    case OPTION_MAP: out->map = optarg; return -1;
    case OPTION_WEAK: out->weak = true; return -1;
    case OPTION_GET: out->direction = PNC_GET; return -1;
    case OPTION_RECORDS: return parse_number("--records", INT32_MAX, &out->records);
    case OPTION_RANKS: return parse_list("--ranks", 1, PLAN_MOST_RUNS, out->ranks, &out->nranks);
    case OPTION_RANKS_PER_NODE: return parse_number("--ranks-per-node", PLAN_MOST_RANKS, &out->ranks_per_node);
    case OPTION_STRATEGY: return parse_strategy(out);
    case OPTION_MACHINE: return parse_machine(out);
    case OPTION_AGGREGATORS: return parse_number("--aggregators", INT32_MAX, &out->hints.aggregators);
    case OPTION_BUFFER: return parse_size("--buffer", &out->hints.buffer_size);
    case OPTION_MESSAGE: return parse_message(out);
    case OPTION_JSON: return -1; /* the only form that this program prints */
    case 'h': printf("%s\n%s", usage, help); return 0;
    case OPTION_VERSION: tool_version_print(); return 0;
    default: return parse_file_system(letter, out);
    }
}

static int fail_usage(const char *what)
{
    tool_error_print("%s", what);
    fputs(usage, stderr);
    return 1;
}

static int check(int argc, char **argv, plan_options *out)
{
    if (optind + 1 != argc)
        return fail_usage(optind == argc ? "no file is given" : "more than one file is given");
    if (out->variables.n == 0)
        return fail_usage("no variable is given: -v");
    out->path = argv[optind];
    if (out->map != NULL && (out->ngrid > 0 || out->weak || out->nranks > 0 || out->variables.n > 1)) {
        tool_error_print("--map excludes --grid, --weak, --ranks and more than one variable");
        return 1;
    }
    if (out->fs.servers == 0)
        out->fs.servers = out->stripe_count > 0 ? (int)out->stripe_count : PLAN_SERVERS;
    if (out->stripe_count > 0 && out->fs.servers > out->stripe_count)
        out->fs.servers = (int)out->stripe_count; /* the others have no stripe of the file */
    return -1;
}

static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                      {"version", no_argument, NULL, OPTION_VERSION},
                                      {"variable", required_argument, NULL, 'v'},
                                      {"grid", required_argument, NULL, OPTION_GRID},
                                      {"map", required_argument, NULL, OPTION_MAP},
                                      {"weak", no_argument, NULL, OPTION_WEAK},
                                      {"get", no_argument, NULL, OPTION_GET},
                                      {"records", required_argument, NULL, OPTION_RECORDS},
                                      {"ranks", required_argument, NULL, OPTION_RANKS},
                                      {"ranks-per-node", required_argument, NULL, OPTION_RANKS_PER_NODE},
                                      {"strategy", required_argument, NULL, OPTION_STRATEGY},
                                      {"machine", required_argument, NULL, OPTION_MACHINE},
                                      {"aggregators", required_argument, NULL, OPTION_AGGREGATORS},
                                      {"buffer", required_argument, NULL, OPTION_BUFFER},
                                      {"stripe", required_argument, NULL, OPTION_STRIPE},
                                      {"stripe-count", required_argument, NULL, OPTION_STRIPE_COUNT},
                                      {"servers", required_argument, NULL, OPTION_SERVERS},
                                      {"server-mbs", required_argument, NULL, OPTION_SERVER_MBS},
                                      {"link-mbs", required_argument, NULL, OPTION_LINK_MBS},
                                      {"latency-us", required_argument, NULL, OPTION_LATENCY},
                                      {"request-us", required_argument, NULL, OPTION_REQUEST},
                                      {"lock-us", required_argument, NULL, OPTION_LOCK},
                                      {"disk-mbs", required_argument, NULL, OPTION_DISK_MBS},
                                      {"disk-latency-us", required_argument, NULL, OPTION_DISK_LATENCY},
                                      {"network-mbs", required_argument, NULL, OPTION_NETWORK_MBS},
                                      {"message-us", required_argument, NULL, OPTION_MESSAGE},
                                      {"filter-mbs", required_argument, NULL, OPTION_FILTER_MBS},
                                      {"ratio", required_argument, NULL, OPTION_RATIO},
                                      {"json", no_argument, NULL, OPTION_JSON},
                                      {0}};

int plan_options_parse(int argc, char **argv, plan_options *out)
{
    int letter, status;

    *out = (plan_options){.direction = PNC_PUT,
                          .records = 1,
                          .ranks_per_node = RANKS_PER_NODE,
                          .most_buffer = DEFAULT_BUFFER,
                          .fs = {.unit = PLAN_UNIT,
                                 .latency = INT64_C(1000) * PLAN_LATENCY_US,
                                 .request = INT64_C(1000) * PLAN_REQUEST_US,
                                 .lock = INT64_C(1000) * PLAN_LOCK_US,
                                 .server_byte = 1e3 / PLAN_SERVER_MBS,
                                 .link_byte = 1e3 / PLAN_LINK_MBS},
                          .disk = {.latency = INT64_C(1000) * PLAN_DISK_LATENCY_US, .byte = 1e3 / PLAN_DISK_MBS},
                          .message = 1e3 * MESSAGE_US,
                          .network_byte = 1e3 / NETWORK_MBS,
                          .filter_byte = 1e3 / FILTER_MBS,
                          .ratio = RATIO};
    while ((letter = getopt_long(argc, argv, "v:h", longs, NULL)) != -1) {
        status = parse_option(letter, out);
        if (status >= 0)
            return status;
    }
    return check(argc, argv, out);
}

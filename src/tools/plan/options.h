/* The command line of the program behind ncmpistat --plan. */
#ifndef PNC_TOOLS_PLAN_OPTIONS_H
#define PNC_TOOLS_PLAN_OPTIONS_H

#include "io/choose/strategy.h"
#include "tools/common/names.h"
#include "tools/plan/file_system.h"

enum {
    PLAN_MOST_DIMS = 64,
    PLAN_MOST_RUNS = 64,
    PLAN_MOST_RANKS = 1 << 24,
    PLAN_MOST_RECORDS = 1 << 20, /* of several variables */
    PLAN_MOST_SERVERS = 1 << 20,
    PLAN_MOST_STRIPES = 1 << 28
};

typedef struct plan_options {
    const char *path; /* CDL, or a netCDF file */
    tool_names variables;
    pnc_direction direction;
    int64_t records;              /* of a record variable, in the call */
    int64_t grid[PLAN_MOST_DIMS]; /* ranks along each dimension; 0: any number */
    int ngrid;
    bool weak;                     /* the file has the part of one rank */
    const char *map;               /* file with the hyperslabs of each rank, instead of a grid */
    int64_t ranks[PLAN_MOST_RUNS]; /* a plan for each number of ranks */
    int nranks;
    int64_t ranks_per_node;
    const char *machine; /* its name; NULL: none is given */
    int64_t most_nodes;  /* that it has */
    pnc_access_hints hints;
    int64_t most_buffer; /* hint nc_ibuf_size */
    plan_file_system fs;
    plan_disk disk;       /* of a node, for logs of a burst buffer */
    int64_t stripe_count; /* servers that the library knows of, as on Lustre; 0: it knows of none */
    double message;       /* nanoseconds of a message */
    double network_byte;  /* nanoseconds of a byte between nodes */
    double filter_byte;   /* of a byte that a rank encodes or decodes */
    double ratio;         /* of the bytes of values to those that chunks with filters have in the file */
} plan_options;

/* Returns -1 if there is something to plan, else the exit status, after all output. */
int plan_options_parse(int argc, char **argv, plan_options *out);

#endif

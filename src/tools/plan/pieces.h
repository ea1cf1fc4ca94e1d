/* Which pieces of the file a rank accesses: by a grid of ranks, or by a map. */
#ifndef PNC_TOOLS_PLAN_PIECES_H
#define PNC_TOOLS_PLAN_PIECES_H

#include "format/model.h"
#include "io/choose/placement.h"
#include "select/selection.h"
#include "tools/common/file.h"
#include "tools/plan/options.h"

/* The hyperslabs of the ranks in a call. */
typedef struct plan_decomposition {
    const plan_options *options;
    pnc_model model, scaled; /* of the file; with --weak, its dimensions multiplied by the grid */
    const pnc_model *whole;  /* the one whose variables the ranks divide */
    int nvars;
    int *varids; /* in the order of the file */
    int nranks;
    int ngrid;
    int64_t grid[PLAN_MOST_DIMS]; /* without zeros */
    struct plan_map *map;         /* instead of the grid, or NULL */
    tool_file file;               /* of a netCDF-4 file, which is open; its definitions are in `model` */
} plan_decomposition;

/* The pieces of a rank, or of all ranks, in the order of the file: selections, or extents. */
typedef struct plan_pieces {
    pnc_selection *selections;
    int nselections;
    pnc_extent *extents;
    int64_t nextents;
    int64_t slabs, runs, reads, bytes; /* as the library counts them */
    pnc_range range;                   /* of the file; 0 bytes: low == high */
} plan_pieces;

/* All functions return NC_NOERR, or a code after an error message. */

/* Read the file, and the map. */
int plan_decomposition_open(const plan_options *options, plan_decomposition *out);
void plan_decomposition_free(plan_decomposition *d);
/* Choose the grid for a number of ranks; 0: the number that follows from the options. */
int plan_decomposition_start(plan_decomposition *d, int64_t nranks);

/* How a variable of a netCDF-4 file is stored. */
const pnc_stored *plan_storage_get(const plan_decomposition *d, int varid);
/* The part of a rank in a variable, by the grid: start and count. false: it has none. */
bool plan_block_find(const plan_decomposition *d, const pnc_var *var, int rank, int64_t *start, int64_t *count);

int plan_pieces_init(const plan_decomposition *d, int rank, plan_pieces *out);
/* Those of all ranks, without duplicates. */
int plan_pieces_init_all(const plan_decomposition *d, plan_pieces *out);
void plan_pieces_free(plan_pieces *pieces);

/* The next pieces. Zeros: at the begin. */
enum { PLAN_AHEAD = 64 };
typedef struct plan_cursor {
    const plan_pieces *pieces;
    int64_t next; /* selection or extent */
    bool open;
    pnc_selection_cursor cursor; /* of a selection */
    pnc_extent ahead[PLAN_AHEAD];
    int at, n;
} plan_cursor;

void plan_cursor_begin(plan_cursor *cursor, const plan_pieces *pieces);
void plan_cursor_end(plan_cursor *cursor);
/* Leave out what is before a file offset; the cursor must not be behind it. */
void plan_cursor_seek(plan_cursor *cursor, int64_t offset);
/* The next extent; NULL at the end. */
const pnc_extent *plan_cursor_peek(plan_cursor *cursor);
/* Take pieces below `limit`, as many as fit; the last one is cut. Returns their number, and their bytes. */
int64_t plan_cursor_take(plan_cursor *cursor, int64_t limit, int64_t max_bytes, int64_t max_extents, pnc_extent *out,
                         int64_t *bytes);

/* Ascending; overlapping and adjacent ones become one. Returns their number. */
int64_t plan_extents_merge(pnc_extent *extents, int64_t n);

#endif

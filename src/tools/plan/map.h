/* A map: the hyperslabs of each rank, in a text. */
#ifndef PNC_TOOLS_PLAN_MAP_H
#define PNC_TOOLS_PLAN_MAP_H

#include "tools/plan/pieces.h"

/* A hyperslab; start and count have the dimensions of the variable. */
typedef struct plan_slab {
    int rank;
    int64_t at; /* of its numbers */
} plan_slab;

typedef struct plan_map {
    int ndims, nranks;
    plan_slab *slabs; /* sorted by rank */
    int64_t n, capacity;
    int64_t *numbers; /* start and count of each */
    int64_t nnumbers, numbers_capacity;
} plan_map;

/* NC_NOERR, or a code after an error message that names the line. */
int plan_map_read(const char *path, const pnc_var *var, plan_map **out);
void plan_map_free(plan_map *map);
/* The hyperslabs of a rank are *first .. *end - 1. */
void plan_map_find(const plan_map *map, int rank, int64_t *first, int64_t *end);

#endif

/* The stripes of a new file: what is chosen, and why. Pure arithmetic, by which plans count as well. */
#ifndef PNC_DRIVERS_NEW_STRIPING_H
#define PNC_DRIVERS_NEW_STRIPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ROW(reason, text): what decides. The text of those without a choice of the library says what the file has. */
/* clang-format off */
#define PNC_STRIPING_REASONS(ROW) \
    ROW(UNASKED, "nothing is chosen on this file system") \
    ROW(KEPT, "the file existed and keeps its stripes") \
    ROW(INHERITED, "those of the folder, as file_striping=inherit says") \
    ROW(BY_MPI, "left to the MPI library, as its own hints or variables may name stripes") \
    ROW(COMPOSITE, "the composite layout of the folder or of the file system stays") \
    ROW(OF_FOLDER, "the folder has stripes of its own, which stay") \
    ROW(ONE_NODE, "those of the folder, as the ranks are on one node") \
    ROW(OF_RANK, "one, as ranks create files of their own") \
    ROW(GIVEN, "as the hint striping_factor says") \
    ROW(AS_SYSTEM, "as many as the file system gives to a new file") \
    ROW(AS_BYTES, "as many as nc_expected_size needs") \
    ROW(AS_SERVERS, "the same number on each server, which are fewer than the nodes") \
    ROW(AS_NODES, "as many as nodes")
/* clang-format on */

#define PNC_STRIPING_REASON(name, text) PNC_STRIPING_##name,
typedef enum pnc_striping_reason { PNC_STRIPING_REASONS(PNC_STRIPING_REASON) } pnc_striping_reason;
#undef PNC_STRIPING_REASON

#define PNC_STRIPING_ALL (-1)
#define PNC_STRIPING_MOST 2000 /* stripes that Lustre allows */

/* What a folder, or a file system, says about new files. */
typedef struct pnc_striping_default {
    bool is_composite; /* the stripes change within a file, or the layout is not one of stripes */
    int64_t factor;    /* number of stripes; PNC_STRIPING_ALL: one on each server; 0: it does not say */
    int64_t unit;      /* bytes of a stripe; 0: likewise */
} pnc_striping_default;

/* What the choice depends on. */
typedef struct pnc_striping_case {
    int nnodes;
    bool is_of_rank; /* one rank of several opens the file */
    bool inherits;   /* hint file_striping */
    bool is_by_mpi;  /* the MPI library has been given stripes in other ways than by the two hints below */
    int64_t given_factor, given_unit; /* hints striping_factor and striping_unit; 0: not given */
    int64_t expected;                 /* bytes of the file; 0: not known */
    int64_t servers;                  /* 0: not known */
    pnc_striping_default folder, system;
} pnc_striping_case;

typedef struct pnc_striping_choice {
    pnc_striping_reason reason;
    int64_t factor, unit; /* 0: nothing is chosen, and the file has what its folder says */
    int64_t on_server;    /* stripes on each server, where they are more than one; otherwise 0 */
} pnc_striping_choice;

/* Stripes of 1 MiB, as many as nodes. */
pnc_striping_choice pnc_driver_striping_choose(const pnc_striping_case *given);
const char *pnc_driver_striping_explain(pnc_striping_reason reason);

/* The choice, and what became of it. Plain bytes: the ranks broadcast it. */
#define PNC_STRIPING_OBSTACLE_BYTES 96
typedef struct pnc_new_striping {
    pnc_striping_choice choice;
    bool is_created;                            /* by rank 0, before MPI opens it */
    int64_t device, inode;                      /* of the file that rank 0 has created */
    char obstacle[PNC_STRIPING_OBSTACLE_BYTES]; /* why it does not have the choice, if that was tried */
} pnc_new_striping;

/* A sentence: stripes that the file has, their reason, and if others were chosen, what prevents these. factor, unit: as
 * the file system reports; 0: it does not. */
void pnc_driver_striping_describe(const pnc_new_striping *new_striping, int64_t factor, int64_t unit, char *text,
                                  size_t capacity);

#endif

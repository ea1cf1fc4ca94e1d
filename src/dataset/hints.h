/* Hints: from MPI_Info and PNETCDF_HINTS into the dataset, and back as a report. src/spec/hints.m4 describes each
 * hint. */
#ifndef PNC_DATASET_HINTS_H
#define PNC_DATASET_HINTS_H

#include <stddef.h>
#include "dataset/dataset.h"

typedef enum pnc_hint_kind {
    PNC_HINT_SIZE,   /* an integer that the library uses */
    PNC_HINT_CHOICE, /* one of several words */
    PNC_HINT_TEXT,   /* a text that the library uses */
    PNC_HINT_FIXED,  /* without effect: the library always behaves as `value` says */
    PNC_HINT_FREE,   /* without effect, whatever its value */
    PNC_HINT_OUTPUT, /* reported by other libraries, never given */
    PNC_HINT_PASSED, /* for MPI-IO */
    PNC_HINT_NUMBER  /* an integer for MPI-IO */
} pnc_hint_kind;

/* How a number less than `least` is read. */
typedef enum pnc_hint_below {
    PNC_BELOW_LEAST,    /* as `least` */
    PNC_BELOW_MOST,     /* as `most` if it is negative, otherwise as `least` */
    PNC_BELOW_SENSELESS /* the hint is ignored */
} pnc_hint_below;

typedef struct pnc_hint {
    const char *name;
    pnc_hint_kind kind;
    const char *value; /* the default; of PNC_HINT_FIXED the only value */
    const char *text;  /* what it means, or why it has no effect */
    /* of PNC_HINT_SIZE and PNC_HINT_CHOICE: */
    size_t field; /* of pnc_hints, an int64_t */
    /* writes the value in effect; NULL: MPI-IO uses the hint, too, and reports its value */
    void (*report)(const pnc_dataset *ds, const struct pnc_hint *hint, char *value);
    /* of PNC_HINT_CHOICE: */
    const char *const *words; /* the field is the index; the default is the first, NULL ends them */
    /* of PNC_HINT_TEXT: sets the field from the text; false: it is not valid */
    bool (*read)(const char *text, pnc_hints *out);
    /* of PNC_HINT_SIZE and PNC_HINT_NUMBER: */
    int64_t least, most;
    /* of PNC_HINT_SIZE: */
    int64_t otherwise; /* the value without the hint */
    pnc_hint_below below;
    int64_t multiple; /* the number is rounded up to a multiple of this one */
} pnc_hint;

#define PNC_HINTS_MOST 96 /* upper bound of the rows in the table */
extern const pnc_hint pnc_hint_table[];
extern const int pnc_hint_count;
const pnc_hint *pnc_dataset_hint_find(const char *name); /* or NULL */
/* True for a hint that the MPI library reports. */
static inline bool pnc_dataset_hint_is_passed(const pnc_hint *hint)
{
    return hint->kind == PNC_HINT_PASSED || hint->kind == PNC_HINT_NUMBER ||
           ((hint->kind == PNC_HINT_SIZE || hint->kind == PNC_HINT_CHOICE) && hint->report == NULL);
}

/* Set the hints about time that this rank finds in its hints and environment, before it knows those of rank 0. */
void pnc_dataset_hints_find_timeout(MPI_Info info, pnc_hints *hints);
/* The time limit, and the time after which a rank that waits prints a warning, in seconds. 0: no limit. */
int64_t pnc_dataset_hints_get_limit(const pnc_hints *hints);
int64_t pnc_dataset_hints_get_patience(const pnc_hints *hints, bool safe);

/* Merge the user's info and the list, in the form of PNETCDF_HINTS, which outranks it, into ds->info. list may be NULL.
 * Local. */
int pnc_dataset_hints_merge(pnc_dataset *ds, MPI_Info user, const char *list);
/* After it, on rank 0: merge PNETCDF_TIMEOUT and PNETCDF_STATS, which outrank the MPI_Info, but not PNETCDF_HINTS.
 * Local. */
int pnc_dataset_hints_merge_environment(pnc_dataset *ds);
/* Set ds->hints from ds->info. Local: the ranks adopt those of rank 0. */
void pnc_dataset_hints_set(pnc_dataset *ds);
/* Whether a hint can have the value `text`: the library uses it, or passes it to the MPI library. True for a hint whose
 * values are not checked. */
bool pnc_dataset_hint_is_valid(const pnc_hint *hint, const char *text);
/* The hints for the MPI library: those of ds->info, without the numbers by which MPI libraries abort, divide by zero or
 * loop forever. The caller frees it; MPI_INFO_NULL if MPI has no memory for it. */
MPI_Info pnc_dataset_hints_create_passed(const pnc_dataset *ds);
/* Hints in effect: those that the MPI library reports and those of this library. The caller frees *out. */
int pnc_dataset_hints_report(pnc_dataset *ds, MPI_Info *out);
/* The driver for a file that need not be open, or the first one of *stack. Local. */
int pnc_dataset_hints_choose_driver(const char *path, MPI_Info user, pnc_driver_stack *stack, const pnc_store_ops **out,
                                    pnc_error *error);
/* The value of a hint as text of at most MPI_MAX_INFO_VAL characters; false if the info does not have it. */
bool pnc_dataset_hints_get(MPI_Info info, const char *key, char *value);
/* The value that a PNC_HINT_SIZE takes from a text, within its limits; false if the text is ignored. */
bool pnc_dataset_hint_parse_size(const pnc_hint *hint, const char *text, int64_t *out);
/* The index of a word of a PNC_HINT_CHOICE, or -1; of nc_driver, what pnc_driver_find returns. */
int pnc_dataset_hint_find_choice(const pnc_hint *hint, const char *text);
/* Aliases are rows with the same field. The row that decides the field of `hint` is the first one with a valid value,
 * in PNETCDF_HINTS and then in the MPI_Info; *source names which of the two, *out is the value. NULL: none is given. */
const pnc_hint *pnc_dataset_hint_find_decisive(const pnc_dataset *ds, const pnc_hint *hint, const char **source,
                                               int64_t *out);

#endif

/* The plan of a copy: dimensions and variables of the output, and their sources in the inputs. */
#ifndef PNC_TOOLS_NCMPICOPY_PLAN_H
#define PNC_TOOLS_NCMPICOPY_PLAN_H

#include <pnetcdf.h>

#include "tools/common/adaptation.h"
#include "tools/ncmpicopy/convert.h"
#include "tools/ncmpicopy/options.h"

/* A range of longitudes is an arc of the circle, or more than all of it. It is cut where the dimension starts, where
 * its values jump by a full turn, and at the ends of a range of more than a full turn: more runs are not one arc. */
enum { COPY_RUNS = 4 };

/* Longitudes to which degrees are added. */
typedef struct copy_turn {
    int64_t first, last; /* indices in all inputs together */
    int degrees;
} copy_turn;

typedef struct copy_dim {
    char name[NC_MAX_NAME + 1];
    int64_t total;                /* length in all inputs together */
    int64_t first, stride, count; /* the selected indices; count is the length in the output */
    int64_t wrapped;              /* the last ones of the selected indices, which go on at index 0; else 0 */
    bool unlimited;               /* in the output */
} copy_dim;

typedef struct copy_var {
    char name[NC_MAX_NAME + 1];
    int id;       /* in the first input; in the output it is the index in the plan */
    int type, to; /* in the inputs, in the output */
    int ndims, natts;
    int *dimids;                /* the same in the first input and the output */
    int64_t *shape;             /* in the output */
    bool joined;                /* read from all inputs, not only from the first one */
    copy_conversion conversion; /* where type and to differ */
    pnc_quantizer quantizer;    /* mode 0: values are copied as they are */
    double stated_error;        /* with a bound: what the attribute says, with that of the input */
    int64_t lost;               /* values of this rank that cannot be read, and became fill values */
    int nturns;
    copy_turn turns[COPY_RUNS]; /* of longitudes along its first dimension */
} copy_var;

/* How the values of a variable in a later input become those of the first input. */
typedef struct copy_adapted {
    int input, var;
    tool_adaptation adaptation;
} copy_adapted;

typedef struct copy_plan {
    const copy_options *options;
    int rank, nprocs;
    int format;
    int ndims, nvars, natts;
    copy_dim *dims;
    copy_var *vars;
    int record;         /* the first unlimited dimension of the output, or -1 */
    int join;           /* the dimension along which inputs are joined, or -1 */
    int64_t *lengths;   /* of it in each input */
    int64_t *sizes;     /* of the inputs in bytes */
    bool is_short;      /* an input lacks data at its end */
    bool lacks_records; /* an input lacks whole records */
    bool changed;       /* names or attributes differ in the output, after a message */
    bool left_out;      /* later inputs have data that the output has not, after a message */
    copy_adapted *adapted;
    int nadapted;
    int64_t capacity;
} copy_plan;

/* Collective: reads the headers of all inputs. Returns NC_NOERR or, on all ranks, a code after an error message of rank
 * 0. The plan may be freed in any case. */
int copy_plan_init(const copy_options *options, copy_plan *plan);
void copy_plan_free(copy_plan *plan);

/* Opens an input for reading; reports errors like copy_plan_init. */
int copy_input_open(const copy_plan *plan, const char *path, int *ncid);
/* Like tool_error_print_last, on rank 0. */
int copy_failure_print(const copy_plan *plan, const char *path, int code);
/* Prints an error message on rank 0, with a format of printf, and returns code. */
int copy_error_print(const copy_plan *plan, int code, const char *format, ...) PNC_PRINTF(3, 4);

#endif

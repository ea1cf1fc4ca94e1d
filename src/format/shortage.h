/* What a file lacks that ends before the data that its header describes. Such values read as zeros. */
#ifndef PNC_FORMAT_SHORTAGE_H
#define PNC_FORMAT_SHORTAGE_H

#include <stddef.h>

#include "format/model.h"

/* Of variables without values, and of records that do not exist, nothing is missing. */
typedef enum pnc_shortage_kind {
    PNC_SHORTAGE_NONE,
    PNC_SHORTAGE_NO_DATA,   /* no variable has a value: as a file that was only defined; no records are counted */
    PNC_SHORTAGE_VALUES,    /* the last values of variables, which no-fill mode may leave unwritten */
    PNC_SHORTAGE_VARIABLES, /* variables begin at or beyond the end of the file, and others do not */
    PNC_SHORTAGE_RECORDS    /* counted records begin at or beyond the end of the file: writers count what they wrote */
} pnc_shortage_kind;

typedef struct pnc_shortage {
    pnc_shortage_kind kind;
    int64_t file_size, data_end; /* offsets: where the file ends, and where its data should */
    int64_t missing, total;      /* of variables or records, as the kind says */
    int varid;                   /* VARIABLES: the first of those that are missing */
} pnc_shortage;

void pnc_format_shortage_find(const pnc_model *model, int64_t file_size, pnc_shortage *out);

/* Whether more is missing than last values that were never written explain. */
bool pnc_format_shortage_is_large(pnc_shortage_kind kind);

/* A sentence without the name of the file: "the file ends at byte ..". Returns text. */
enum { PNC_SHORTAGE_TEXT = 512 };
const char *pnc_format_shortage_explain(const pnc_model *model, const pnc_shortage *shortage,
                                        char text[PNC_SHORTAGE_TEXT]);

/* Bytes of a variable that precede the end of the file; those after them are missing. Data of records count without
 * what is between them. `records` parts of `size` bytes each begin at `begin`, and then every `step` bytes. */
int64_t pnc_format_data_count_present(int64_t begin, int64_t size, int64_t records, int64_t step, int64_t file_size);

/* The same for a variable of a model. */
int64_t pnc_format_var_count_present(const pnc_model *model, const pnc_var *var, int64_t file_size);

#endif

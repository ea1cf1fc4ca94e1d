/* What a binding of another language says about a call, and what it asks before the call. Questions are no public
 * calls, which profilers would count, and produce no message. */
#ifndef PNC_DATASET_CALLER_H
#define PNC_DATASET_CALLER_H

#include <stdatomic.h>

#include "base/error.h"

/* The call that a program in another language has in progress on this thread. */
typedef struct pnc_caller {
    const char *name;     /* of the call, in that language */
    const char *function; /* the public function that carries it out */
    int ncid;             /* -1: a call without a dataset */
    pnc_error error;      /* set by the binding: wrong arguments, or results that do not fit */
    struct pnc_caller *outer;
} pnc_caller;

/* Around a call of the public function. The function then reports its errors by the name of the program's call, and
 * with the ids and indices of the language. If the binding has set an error before the call, the function takes part in
 * collective steps, changes nothing, and fails with that error unless it finds one that precedes it. */
void pnc_dataset_caller_begin(pnc_caller *caller, pnc_language language, const char *name, const char *function,
                              int ncid);
/* `err` is the status of the public function. Reports the binding's error if the function has succeeded. Returns the
 * status of the program's call. */
int pnc_dataset_caller_end(pnc_caller *caller, int err);

/* Set by the first call in another language, and never cleared: before it, the functions below look for none on this
 * thread. */
extern atomic_bool pnc_dataset_caller_was_other;
static inline bool pnc_dataset_caller_has_other(void)
{
    return atomic_load_explicit(&pnc_dataset_caller_was_other, memory_order_relaxed);
}
const char *pnc_dataset_caller_identify_other(const char *function, pnc_error *error);

static inline void pnc_dataset_caller_set_c(pnc_error *error)
{
    error->language = PNC_LANGUAGE_C;
    error->of_arguments = NULL;
}

/* The name under which the program made the call of a public function. Sets what `error` knows of that call. */
static inline const char *pnc_dataset_caller_identify(const char *function, pnc_error *error)
{
    if (pnc_dataset_caller_has_other())
        return pnc_dataset_caller_identify_other(function, error);
    pnc_dataset_caller_set_c(error);
    return function;
}

/* The text that the public function returns for a code to a program in a language. */
const char *pnc_dataset_caller_explain(pnc_language language, int code);

/* A variable; false if there is none with this id. */
typedef struct pnc_var_facts {
    const char *name;
    int type, ndims;
} pnc_var_facts;
bool pnc_dataset_caller_inquire_var(int ncid, int varid, pnc_var_facts *facts);

/* An attribute; false if there is none of this name. */
typedef struct pnc_att_facts {
    int number, type;
    int64_t length;
} pnc_att_facts;
bool pnc_dataset_caller_inquire_att(int ncid, int varid, const char *name, pnc_att_facts *facts);

/* A dataset; false if there is none with this id. */
typedef struct pnc_file_facts {
    int format;
    size_t path_length;
} pnc_file_facts;
bool pnc_dataset_caller_inquire_file(int ncid, pnc_file_facts *facts);

#endif

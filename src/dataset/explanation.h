/* The text of a code and the sentence of a failure as one text for ncmpi_strerror. */
#ifndef PNC_DATASET_EXPLANATION_H
#define PNC_DATASET_EXPLANATION_H

#include <stddef.h>

#include "dataset/dataset.h"

/* "meaning: sentence", as much as fits. */
void pnc_dataset_explanation_print(const pnc_failure *failure, const char *meaning, char *out, size_t capacity);

/* For a program that has few characters: cause and cure without the name of the file, after the meaning if all of it
 * fits. What is too long ends behind a part of the sentence, or with dots. The capacity is at least 64. */
void pnc_dataset_explanation_truncate(const pnc_failure *failure, const char *meaning, char *out, size_t capacity);

#endif

/* Texts that a program may keep: ncmpi_strerror returns the address of one. */
#ifndef PNC_DATASET_KEPT_TEXT_H
#define PNC_DATASET_KEPT_TEXT_H

/* A copy of the text that stays until the program ends, for all threads. Without memory, or once there are many of
 * them: `otherwise`. */
const char *pnc_dataset_text_keep(const char *text, const char *otherwise);

#endif

/* Switches in the environment. */
#ifndef PNC_DATASET_ENVIRONMENT_H
#define PNC_DATASET_ENVIRONMENT_H

#include <stdbool.h>

/* Whether an environment variable is on: its value does not begin with 0. `otherwise` if it is not set. */
bool pnc_dataset_environment_is_on(const char *name, bool otherwise);

#endif

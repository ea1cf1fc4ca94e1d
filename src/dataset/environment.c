/* Switches in the environment. */
#include "dataset/environment.h"

#include <stdlib.h>

bool pnc_dataset_environment_is_on(const char *name, bool otherwise)
{
    const char *value = getenv(name);

    return value == NULL ? otherwise : value[0] != '0';
}

/* Compression libraries, opened at first use and never closed. */
#ifndef PNC_HOST_CODECS_H
#define PNC_HOST_CODECS_H

#include "filter/codecs.h"

const pnc_codecs *pnc_host_codecs_get(void);

#endif

/* A wrapper that keeps all writes in memory until it is flushed: the smallest example of one that defers data. */
#ifndef KEEPING_WRAPPER_H
#define KEEPING_WRAPPER_H

#include "drivers/store.h"

extern const pnc_store_ops keeping_wrapper;
extern int keeping_writes_kept; /* of all stores of this process */

#endif

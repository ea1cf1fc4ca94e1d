/* What the entry points see: the public header and the room below. */
#ifndef PNC_API_API_H
#define PNC_API_API_H

#include "pnetcdf.h"
#include "dataset/attribute.h"
#include "dataset/call.h"
#include "dataset/dataset.h"

#endif

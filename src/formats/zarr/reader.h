/* The reader of Zarr stores (formats/reader.h). */
#ifndef PNC_ZARR_READER_H
#define PNC_ZARR_READER_H

#include "formats/reader.h"

extern const pnc_reader_ops pnc_zarr_reader;

#endif

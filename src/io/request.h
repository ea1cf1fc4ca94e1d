/* What a call of the put/get family comes down to: hyperslabs of one variable, and where their values lie in memory.
 *
 * A request is small and flat, so that a million of them can wait in an arena. File offsets are not in it: a request
 * may be posted in define mode, before the file has a layout. */
#ifndef PNC_IO_REQUEST_H
#define PNC_IO_REQUEST_H

#include "io/call.h"

typedef struct pnc_request {
    pnc_direction way;
    pnc_mem_type mem;
    int varid;
    int ndims;          /* numbers of each hyperslab: start[ndims], count[ndims] and, if strided, stride[ndims] */
    bool strided;
    /* instead of hyperslabs: the elements, in bytes from the variable's begin (put_vard, get_vard) */
    pnc_flat_type *filetype;
    bool external;      /* memory holds external bytes already, packed when the request was posted */
    bool buffered;      /* which count as used of the attached buffer (buffered put) */
    int status;         /* NC_NOERR or NC_ERANGE once carried out */
    int id;             /* of a pending request */
    int64_t nslabs;     /* with a filetype: the runs of it, which have no numbers */
    int64_t *numbers;
    int64_t elements;   /* of all hyperslabs */
    int64_t numrecs;    /* number of records after a put, 0 where it concerns none */
    char *memory;
    pnc_flat_type *flat; /* NULL: the elements lie side by side */
} pnc_request;

/* How many numbers the hyperslabs of a call need; 0 where its varid names nothing. */
int64_t pnc_io_request_count_numbers(const pnc_dataset *ds, const pnc_call *call);

/* What is looked at first: whether there is such a variable, and text meets text (where the memory type is known). */
int pnc_io_request_check_target(pnc_dataset *ds, const pnc_call *call);
/* Check a call's arguments, in the documented order of errors, and fill in *r with memory for its numbers. On failure r
 * is empty, but may be released. */
int pnc_io_request_init(pnc_dataset *ds, const pnc_call *call, int64_t *numbers, pnc_request *r);
/* Give back what it holds; the numbers are the caller's. */
void pnc_io_request_free(pnc_request *r);

/* What the two makers of requests share. Where the elements lie in memory (NC_ECHAR NC_EIOMISMATCH ..), once
 * r->elements is known, and all numbers where imap needs them. */
int pnc_io_request_set_memory(pnc_dataset *ds, const pnc_call *call, pnc_request *r);
/* Whether the format can count so many records; `first` is the one that the request begins with. */
int pnc_io_request_check_records(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t records);

/* Bytes that it moves in the file. */
int64_t pnc_io_request_count_bytes(const pnc_dataset *ds, const pnc_request *r);
/* Where hyperslab number i lies in the file; for requests without a filetype. */
int pnc_io_request_get_selection(pnc_dataset *ds, const pnc_request *r, int64_t i, pnc_selection *out);
/* A packer over all its values. */
int pnc_io_request_init_packer(pnc_dataset *ds, const pnc_request *r, pnc_packer *packer);

/* The sentence for status NC_ERANGE in ds->error; returns r->status. */
int pnc_io_request_report_status(pnc_dataset *ds, const pnc_request *r);

#endif

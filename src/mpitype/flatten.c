/* Flattening of MPI datatypes. Each constructor becomes loops, as the MPI standard defines it (MPI-3.1, 4.1).
 * Regular structure stays a loop: the flattened datatype is at most as large as the arguments of the constructors. */
#include "mpitype/flatten.h"

#include <assert.h>

#include "base/memory.h"
#include "mpitype/contents.h"

/* State of one flattening. All elements of a datatype must have the same type. */
typedef struct decoder {
    int xtype;
    bool known; /* mem is set */
    pnc_mem_type mem;
    pnc_error *error;
} decoder;

static int flatten_type(decoder *d, MPI_Datatype type, pnc_flat_type **flat);

static pnc_mem_type integer_of(int size, bool is_signed)
{
    switch (size) {
    case 1: return is_signed ? PNC_SCHAR : PNC_UCHAR;
    case 2: return is_signed ? PNC_SHORT : PNC_USHORT;
    case 4: return is_signed ? PNC_INT : PNC_UINT;
    case 8: return is_signed ? PNC_LONGLONG : PNC_ULONGLONG;
    default: return PNC_MEM_TYPE_COUNT;
    }
}

static pnc_mem_type real_of(int size)
{
    switch (size) {
    case sizeof(float): return PNC_FLOAT;
    case sizeof(double): return PNC_DOUBLE;
    default: return PNC_MEM_TYPE_COUNT;
    }
}

static bool is_any(MPI_Datatype type, const MPI_Datatype *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == type)
            return true;
    return false;
}
#define IS_ANY(type, list) is_any(type, list, sizeof(list) / sizeof((list)[0]))

/* The memory type of a predefined datatype by its class and size, or PNC_MEM_TYPE_COUNT. If MPI was built without
 * Fortran, the Fortran types are MPI_DATATYPE_NULL, which equals no type here. */
static pnc_mem_type mem_of_named(MPI_Datatype type, int size)
{
    const MPI_Datatype text[] = {MPI_CHAR, MPI_CHARACTER};
    const MPI_Datatype signed_integer[] = {MPI_SIGNED_CHAR, MPI_SHORT,    MPI_INT,      MPI_LONG_LONG_INT,
                                           MPI_INT8_T,      MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T,
                                           MPI_AINT,        MPI_OFFSET,   MPI_COUNT,    MPI_INTEGER,
                                           MPI_INTEGER1,    MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8};
    const MPI_Datatype unsigned_integer[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
                                             MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                                             MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T};
    const MPI_Datatype real[] = {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8};

    if (IS_ANY(type, text))
        return PNC_TEXT;
    if (type == MPI_LONG) /* long has a type of its own: its fill value for a get out of range differs */
        return PNC_LONG;
    if (IS_ANY(type, signed_integer))
        return integer_of(size, true);
    if (IS_ANY(type, unsigned_integer))
        return integer_of(size, false);
    return IS_ANY(type, real) ? real_of(size) : PNC_MEM_TYPE_COUNT;
}

static int fail_flatten(decoder *d)
{
    return pnc_error_set(d->error, NC_ENOMEM,
                         "no memory to flatten an MPI datatype, or its extent exceeds the "
                         "address space");
}

/* Set *out to `made`, which is NULL if creating it failed. */
static int return_flat(decoder *d, pnc_flat_type *made, pnc_flat_type **out)
{
    if (made == NULL)
        return fail_flatten(d);
    *out = made;
    return NC_NOERR;
}

static int fail_unsupported(decoder *d, MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    MPI_Type_get_name(type, name, &length);
    if (type == MPI_BYTE)
        return pnc_error_set(d->error, NC_EBADTYPE,
                             "the buffer has datatype MPI_BYTE, which has no type of values, "
                             "the variable has type %s: use MPI_INT, MPI_DOUBLE ..",
                             pnc_type_get_name(d->xtype));
    return pnc_error_set(d->error, NC_EUNSPTETYPE,
                         "the MPI datatype %s has no netCDF counterpart: use an integer, "
                         "real or character type of 1 to 8 bytes",
                         name);
}

/* Flatten an element: a predefined type, or one from MPI_Type_create_f90_*. */
static int flatten_element(decoder *d, MPI_Datatype type, pnc_mem_type mem, pnc_flat_type **flat)
{
    if (type == MPI_BYTE && pnc_type_get_size(d->xtype) == 1)
        mem = pnc_type_get_mem_type(d->xtype);
    if (mem == PNC_MEM_TYPE_COUNT)
        return fail_unsupported(d, type);
    if (d->known && d->mem != mem)
        return pnc_error_set(d->error, NC_EMULTITYPES,
                             "the datatype of the buffer has elements of types %s and %s: "
                             "all must have the same type",
                             pnc_mem_type_get_name(d->mem), pnc_mem_type_get_name(mem));
    d->known = true;
    d->mem = mem;
    return return_flat(d, pnc_select_flat_create_block(1, (int)pnc_mem_type_get_size(mem)), flat);
}

static int64_t get_extent(MPI_Datatype type)
{
    MPI_Aint low, extent = 0;

    MPI_Type_get_extent(type, &low, &extent);
    return extent;
}

/* Blocks: lengths[i] (or `equal`) copies of types[i] (or types[0]) at byte_displacements[i], or displacements[i] in
 * extents of the type. */
typedef struct blocks {
    int64_t n, equal;
    const int64_t *lengths, *displacements, *byte_displacements;
    const MPI_Datatype *types;
    bool many_types;
} blocks;

static int flatten_block(decoder *d, const blocks *b, int64_t i, pnc_flat_type *shared, pnc_flat_type **out)
{
    MPI_Datatype type = b->types[b->many_types ? i : 0];
    int64_t extent = get_extent(type), length = b->lengths != NULL ? b->lengths[i] : b->equal;
    int64_t offset = b->byte_displacements != NULL ? b->byte_displacements[i] : b->displacements[i] * extent;
    pnc_flat_type *flat = NULL;

    if (shared != NULL)
        flat = pnc_select_flat_share(shared);
    else if (length == 0) /* the type of an empty block is irrelevant */
        flat = pnc_select_flat_create_block(0, 1);
    else
        PNC_TRY(flatten_type(d, type, &flat));
    flat = pnc_select_flat_create_vector(flat, length, extent);
    return return_flat(d, pnc_select_flat_create_shifted(flat, offset), out);
}

static int flatten_blocks(decoder *d, const blocks *b, pnc_flat_type **flat)
{
    pnc_flat_type **children = pnc_memory_alloc(b->n, sizeof *children), *shared = NULL;
    int64_t done = 0;
    int err = NC_NOERR;

    if (children == NULL)
        return fail_flatten(d);
    if (!b->many_types)
        err = flatten_type(d, b->types[0], &shared);
    while (err == NC_NOERR && done < b->n) {
        err = flatten_block(d, b, done, shared, &children[done]);
        done += err == NC_NOERR;
    }
    if (err == NC_NOERR)
        err = return_flat(d, pnc_select_flat_create_sequence(children, done), flat);
    else
        for (int64_t i = 0; i < done; i++)
            pnc_select_flat_free(children[i]);
    pnc_select_flat_free(shared);
    pnc_memory_free(children);
    return err;
}

/* A vector: `count` blocks, `stride` bytes apart, of `length` adjacent copies of `type`. */
static int flatten_vector(decoder *d, MPI_Datatype type, int64_t count, int64_t length, int64_t stride,
                          pnc_flat_type **flat)
{
    pnc_flat_type *block = NULL;

    PNC_TRY(flatten_type(d, type, &block));
    block = pnc_select_flat_create_vector(block, length, get_extent(type));
    return return_flat(d, pnc_select_flat_create_vector(block, count, stride), flat);
}

/* numbers: ndims, sizes, subsizes, starts, order. */
static int flatten_subarray(decoder *d, const pnc_type_contents *c, pnc_flat_type **flat)
{
    int64_t n = c->numbers[0];
    const int64_t *sizes = c->numbers + 1, *subsizes = sizes + n, *starts = subsizes + n;
    bool c_order = starts[n] == MPI_ORDER_C;
    int64_t distance = get_extent(c->types[0]), offset = 0;
    pnc_flat_type *made = NULL;

    PNC_TRY(flatten_type(d, c->types[0], &made));
    for (int64_t k = 0; k < n; k++) { /* fastest dimension first */
        int64_t i = c_order ? n - 1 - k : k;

        made = pnc_select_flat_create_vector(made, subsizes[i], distance);
        offset += starts[i] * distance;
        distance *= sizes[i];
    }
    return return_flat(d, pnc_select_flat_create_shifted(made, offset), flat);
}

/* One dimension of a distributed array: the elements of the process at coordinate `at` of `procs`, out of `size`
 * elements `distance` bytes apart. Blocks of `block` elements are assigned round-robin; the last block may be
 * shorter. */
static pnc_flat_type *flatten_cyclic(pnc_flat_type *child, int64_t size, int64_t block, int64_t procs, int64_t at,
                                     int64_t distance)
{
    int64_t round = block * procs, full = size / round, rest = size - full * round - at * block;
    pnc_flat_type *parts[2];

    if (child == NULL)
        return NULL;
    if (rest >= block)
        full++;
    rest = rest >= block || rest < 0 ? 0 : rest;
    parts[0] = pnc_select_flat_create_vector(
        pnc_select_flat_create_vector(pnc_select_flat_share(child), block, distance), full, round * distance);
    parts[1] =
        pnc_select_flat_create_shifted(pnc_select_flat_create_vector(child, rest, distance), full * round * distance);
    return pnc_select_flat_create_shifted(pnc_select_flat_create_sequence(parts, 2), at * block * distance);
}

/* numbers: size, rank, ndims, gsizes, distribs, dargs, psizes, order. The process grid is always in C order. */
static int flatten_darray(decoder *d, const pnc_type_contents *c, pnc_flat_type **flat)
{
    int64_t rank = c->numbers[1], n = c->numbers[2];
    const int64_t *gsizes = c->numbers + 3, *distribs = gsizes + n, *dargs = distribs + n, *psizes = dargs + n;
    bool c_order = psizes[n] == MPI_ORDER_C;
    int64_t distance = get_extent(c->types[0]), *coords = pnc_memory_alloc(n, sizeof *coords);
    pnc_flat_type *made = NULL;
    int err = coords != NULL ? NC_NOERR : fail_flatten(d);

    if (err == NC_NOERR)
        err = flatten_type(d, c->types[0], &made);
    for (int64_t i = n - 1; i >= 0 && err == NC_NOERR; i--) {
        coords[i] = rank % psizes[i];
        rank /= psizes[i];
    }
    for (int64_t k = 0; k < n && err == NC_NOERR; k++) {
        int64_t i = c_order ? n - 1 - k : k;
        int64_t block = dargs[i];

        if (distribs[i] == MPI_DISTRIBUTE_NONE)
            block = gsizes[i];
        else if (dargs[i] == MPI_DISTRIBUTE_DFLT_DARG)
            block = distribs[i] == MPI_DISTRIBUTE_BLOCK ? (gsizes[i] + psizes[i] - 1) / psizes[i] : 1;
        made = flatten_cyclic(made, gsizes[i], block, psizes[i], coords[i], distance);
        distance *= gsizes[i];
    }
    pnc_memory_free(coords);
    return err == NC_NOERR ? return_flat(d, made, flat) : err;
}

static int flatten_contents(decoder *d, MPI_Datatype type, const pnc_type_contents *c, pnc_flat_type **flat)
{
    const int64_t *numbers = c->numbers;
    int64_t extent = c->ntypes > 0 ? get_extent(c->types[0]) : 0;
    blocks b = {.types = c->types};

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: /* only the extent differs, and get_extent reads it where it is used */
        return flatten_type(d, c->types[0], flat);
    case MPI_COMBINER_CONTIGUOUS: return flatten_vector(d, c->types[0], 1, numbers[0], 0, flat);
    case MPI_COMBINER_VECTOR: return flatten_vector(d, c->types[0], numbers[0], numbers[1], numbers[2] * extent, flat);
    case MPI_COMBINER_HVECTOR: return flatten_vector(d, c->types[0], numbers[0], numbers[1], numbers[2], flat);
    case MPI_COMBINER_SUBARRAY: return flatten_subarray(d, c, flat);
    case MPI_COMBINER_DARRAY: return flatten_darray(d, c, flat);
    case MPI_COMBINER_INDEXED: b.lengths = numbers + 1, b.displacements = b.lengths + numbers[0]; break;
    case MPI_COMBINER_HINDEXED: b.lengths = numbers + 1, b.byte_displacements = b.lengths + numbers[0]; break;
    case MPI_COMBINER_INDEXED_BLOCK: b.equal = numbers[1], b.displacements = numbers + 2; break;
    case MPI_COMBINER_HINDEXED_BLOCK: b.equal = numbers[1], b.byte_displacements = numbers + 2; break;
    case MPI_COMBINER_STRUCT:
        b.lengths = numbers + 1, b.byte_displacements = b.lengths + numbers[0], b.many_types = true;
        break;
    default: return fail_unsupported(d, type);
    }
    b.n = numbers[0];
    return flatten_blocks(d, &b, flat);
}

/* Flatten one instance of a datatype. */
static int flatten_type(decoder *d, MPI_Datatype type, pnc_flat_type **flat)
{
    pnc_type_contents c = {0};
    int size = 0, combiner = pnc_mpitype_combiner_get(type), err;

    MPI_Type_size(type, &size);
    if (size == 0) /* no elements; includes MPI_LB and MPI_UB in old struct types */
        return return_flat(d, pnc_select_flat_create_block(0, 1), flat);
    switch (combiner) {
    case MPI_COMBINER_NAMED: return flatten_element(d, type, mem_of_named(type, size), flat);
    case MPI_COMBINER_F90_REAL: return flatten_element(d, type, real_of(size), flat);
    case MPI_COMBINER_F90_INTEGER: return flatten_element(d, type, integer_of(size, true), flat);
    case MPI_COMBINER_F90_COMPLEX: return fail_unsupported(d, type);
    default: break;
    }
    err = pnc_mpitype_contents_get(type, &c);
    if (err != NC_NOERR)
        return err == NC_ENOMEM ? fail_flatten(d) : fail_unsupported(d, type);
    err = flatten_contents(d, type, &c, flat);
    pnc_mpitype_contents_free(&c);
    return err;
}

/* A contiguous buffer of as many elements as the request. */
static int flatten_contiguous(int64_t elements, pnc_mem_type type, pnc_flat_type **flat, pnc_mem_type *mem,
                              pnc_error *error)
{
    pnc_flat_type *made = pnc_select_flat_create_block(elements, (int)pnc_mem_type_get_size(type));

    if (made == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory to flatten the type of the buffer");
    *flat = made;
    *mem = type;
    return NC_NOERR;
}

/* The count may be NC_COUNT_IGNORE only for a predefined type, where an instance is an element. */
static int flatten_uncounted(decoder *d, MPI_Datatype buftype, int64_t elements, pnc_flat_type **flat,
                             pnc_mem_type *mem)
{
    pnc_flat_type *one = NULL;

    if (pnc_mpitype_combiner_get(buftype) != MPI_COMBINER_NAMED)
        return pnc_error_set(d->error, NC_EBADTYPE,
                             "bufcount is NC_COUNT_IGNORE (-1), but the datatype of the buffer "
                             "is not predefined: pass the number of instances");
    PNC_TRY(flatten_type(d, buftype, &one));
    pnc_select_flat_free(one);
    if (!d->known)
        return fail_unsupported(d, buftype);
    return flatten_contiguous(elements, d->mem, flat, mem, d->error);
}

/* The instances of a buffer must have as many elements as the request. */
static int check_elements(pnc_mpi_buffer buffer, const pnc_flat_type *one, int64_t elements, pnc_error *error)
{
    int64_t of_one = pnc_select_flat_count_elements(one), total;

    if (pnc_size_multiply(buffer.count, of_one, &total) == 0 && total == elements)
        return NC_NOERR;
    return pnc_error_set(error, NC_EIOMISMATCH,
                         "the request has %lld elements, but the buffer has %lld instances "
                         "of an MPI datatype with %lld elements",
                         (long long)elements, (long long)buffer.count, (long long)of_one);
}

pnc_mem_type pnc_mpitype_buffer_find_type(pnc_mpi_buffer buffer, int64_t elements)
{
    int size = 0;

    if (elements == 0 || buffer.count != elements || buffer.type == MPI_DATATYPE_NULL)
        return PNC_MEM_TYPE_COUNT;
    MPI_Type_size(buffer.type, &size);
    return mem_of_named(buffer.type, size);
}

int pnc_mpitype_buffer_flatten(pnc_mpi_buffer buffer, int xtype, int64_t elements, pnc_flat_type **flat,
                               pnc_mem_type *mem, pnc_error *error)
{
    decoder d = {.xtype = xtype, .error = error};
    pnc_flat_type *one = NULL;
    int err;

    if (buffer.type == MPI_DATATYPE_NULL)
        return flatten_contiguous(elements, pnc_type_get_mem_type(xtype), flat, mem, error);
    if (buffer.count == NC_COUNT_IGNORE)
        return flatten_uncounted(&d, buffer.type, elements, flat, mem);
    if (buffer.count < 0)
        return pnc_error_set(error, NC_ENEGATIVECNT, "bufcount is %lld: must not be negative", (long long)buffer.count);
    if (buffer.count == 0 && elements == 0) /* measured: the datatype of an empty request is not looked at */
        return flatten_contiguous(0, pnc_type_get_mem_type(xtype), flat, mem, error);
    PNC_TRY(flatten_type(&d, buffer.type, &one));
    err = check_elements(buffer, one, elements, error);
    if (err != NC_NOERR || elements == 0)
        pnc_select_flat_free(one);
    if (err != NC_NOERR)
        return err;
    if (elements == 0) /* an empty request; its element type may be unknown */
        return flatten_contiguous(0, d.known ? d.mem : pnc_type_get_mem_type(xtype), flat, mem, error);
    one = pnc_select_flat_create_vector(one, buffer.count, get_extent(buffer.type));
    if (one == NULL)
        return fail_flatten(&d);
    assert(d.known && pnc_select_flat_count_elements(one) == elements);
    *flat = one;
    *mem = d.mem;
    return NC_NOERR;
}

/* MPI datatypes to maps of memory. Each constructor is taken apart as the MPI standard defines it (MPI-3.1, 4.1) and
 * becomes loops of the map; what is regular stays a loop, so that the map is no larger than what the user gave. */
#include "dataset/call.h"

#include "base/memory.h"
#include "dataset/recipe.h"

/* All elements of a datatype must be of one kind. */
typedef struct decoder {
    int xtype;
    bool known;  /* mem is set */
    pnc_mem_type mem;
    pnc_error *error;
} decoder;

static int map_type(decoder *d, MPI_Datatype type, pnc_memmap **map);

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
    return size == (int)sizeof(float) ? PNC_FLOAT : size == (int)sizeof(double) ? PNC_DOUBLE : PNC_MEM_TYPE_COUNT;
}

static bool is_any(MPI_Datatype type, const MPI_Datatype *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == type)
            return true;
    return false;
}
#define IS_ANY(type, list) is_any(type, list, sizeof(list) / sizeof((list)[0]))

/* The memory type of a predefined datatype by its class and size, or PNC_MEM_TYPE_COUNT. Fortran's types are
 * MPI_DATATYPE_NULL where MPI was built without Fortran, which no type equals. */
static pnc_mem_type mem_of_named(MPI_Datatype type, int size)
{
    const MPI_Datatype text[] = {MPI_CHAR, MPI_CHARACTER};
    const MPI_Datatype signed_integer[] = {
        MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG_INT, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
        MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4,
        MPI_INTEGER8};
    const MPI_Datatype unsigned_integer[] = {
        MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
        MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
    const MPI_Datatype real[] = {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8};

    if (IS_ANY(type, text))
        return PNC_TEXT;
    if (type == MPI_LONG) /* not by its size: a get that is out of range leaves the fill value of long */
        return PNC_LONG;
    if (IS_ANY(type, signed_integer))
        return integer_of(size, true);
    if (IS_ANY(type, unsigned_integer))
        return integer_of(size, false);
    return IS_ANY(type, real) ? real_of(size) : PNC_MEM_TYPE_COUNT;
}

static int no_memory(decoder *d)
{
    return pnc_error_set(d->error, NC_ENOMEM, "no memory to describe an MPI datatype (or it spans more than any "
                         "memory)");
}

static int unsupported(decoder *d, MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    MPI_Type_get_name(type, name, &length);
    if (type == MPI_BYTE)
        return pnc_error_set(d->error, NC_EBADTYPE, "MPI_BYTE does not say which type the values in memory have, and "
                             "the variable is of type %s: use MPI_INT, MPI_DOUBLE ..", pnc_type_get_name(d->xtype));
    return pnc_error_set(d->error, NC_EUNSPTETYPE, "the MPI datatype %s is neither an integer, a real nor a character "
                         "type that netCDF knows", name);
}

/* A predefined type or one of Fortran 90's by precision: an element. */
static int map_element(decoder *d, MPI_Datatype type, pnc_mem_type mem, pnc_memmap **map)
{
    if (type == MPI_BYTE && pnc_type_get_size(d->xtype) == 1)
        mem = pnc_type_get_mem_type(d->xtype);
    if (mem == PNC_MEM_TYPE_COUNT)
        return unsupported(d, type);
    if (d->known && d->mem != mem)
        return pnc_error_set(d->error, NC_EMULTITYPES, "the MPI datatype of the buffer mixes elements of types %s and "
                             "%s", pnc_mem_type_get_name(d->mem), pnc_mem_type_get_name(mem));
    d->known = true;
    d->mem = mem;
    *map = pnc_memmap_block(1, (int)pnc_mem_type_get_size(mem));
    return *map != NULL ? NC_NOERR : no_memory(d);
}

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent = 0;

    MPI_Type_get_extent(type, &low, &extent);
    return extent;
}

/* Blocks of lengths[i] (or `equal`) copies of types[i] (or the only one) at bytes[i], or at places[i] extents. */
typedef struct blocks {
    int64_t n, equal;
    const int64_t *lengths, *places, *bytes;
    const MPI_Datatype *types;
    bool many_types;
} blocks;

static int map_block(decoder *d, const blocks *b, int64_t i, pnc_memmap *shared, pnc_memmap **out)
{
    MPI_Datatype type = b->types[b->many_types ? i : 0];
    int64_t extent = extent_of(type), length = b->lengths != NULL ? b->lengths[i] : b->equal;
    int64_t offset = b->bytes != NULL ? b->bytes[i] : b->places[i] * extent;
    pnc_memmap *map = NULL;
    int err;

    if (shared != NULL)
        map = pnc_memmap_share(shared);
    else if (length == 0) /* its type does not matter */
        map = pnc_memmap_block(0, 1);
    else if ((err = map_type(d, type, &map)) != NC_NOERR)
        return err;
    map = pnc_memmap_shift(pnc_memmap_vector(map, length, extent), offset);
    *out = map;
    return map != NULL ? NC_NOERR : no_memory(d);
}

static int map_blocks(decoder *d, const blocks *b, pnc_memmap **map)
{
    pnc_memmap **children = pnc_memory_alloc(b->n, sizeof *children), *shared = NULL;
    int64_t done = 0;
    int err = NC_NOERR;

    if (children == NULL)
        return no_memory(d);
    if (!b->many_types)
        err = map_type(d, b->types[0], &shared);
    for (; done < b->n && err == NC_NOERR; done++)
        if ((err = map_block(d, b, done, shared, &children[done])) != NC_NOERR)
            break;
    if (err == NC_NOERR) {
        *map = pnc_memmap_sequence(children, done);
        err = *map != NULL ? NC_NOERR : no_memory(d);
    } else {
        for (int64_t i = 0; i < done; i++)
            pnc_memmap_free(children[i]);
    }
    pnc_memmap_free(shared);
    pnc_memory_free(children);
    return err;
}

/* count copies of (length copies of type, one extent apart), `stride` bytes apart. */
static int map_vector(decoder *d, MPI_Datatype type, int64_t count, int64_t length, int64_t stride, pnc_memmap **map)
{
    int err = map_type(d, type, map);

    if (err != NC_NOERR)
        return err;
    *map = pnc_memmap_vector(pnc_memmap_vector(*map, length, extent_of(type)), count, stride);
    return *map != NULL ? NC_NOERR : no_memory(d);
}

/* numbers: ndims, sizes, subsizes, starts, order. */
static int map_subarray(decoder *d, const pnc_recipe *r, pnc_memmap **map)
{
    int64_t n = r->numbers[0];
    const int64_t *sizes = r->numbers + 1, *subsizes = sizes + n, *starts = subsizes + n;
    bool c_order = starts[n] == MPI_ORDER_C;
    int64_t distance = extent_of(r->types[0]), offset = 0;
    int err = map_type(d, r->types[0], map);

    if (err != NC_NOERR)
        return err;
    for (int64_t k = 0; k < n; k++) { /* from the fastest dimension outwards */
        int64_t i = c_order ? n - 1 - k : k;

        *map = pnc_memmap_vector(*map, subsizes[i], distance);
        offset += starts[i] * distance;
        distance *= sizes[i];
    }
    *map = pnc_memmap_shift(*map, offset);
    return *map != NULL ? NC_NOERR : no_memory(d);
}

/* One dimension of a distributed array: what coordinate `at` of `procs` owns of `size` elements that lie `distance`
 * bytes apart. Blocks of `block` go round the processes; the last block may be cut. */
static pnc_memmap *map_cyclic(pnc_memmap *child, int64_t size, int64_t block, int64_t procs, int64_t at,
                              int64_t distance)
{
    int64_t round = block * procs, full = size / round, rest = size - full * round - at * block;
    pnc_memmap *parts[2];

    if (child == NULL)
        return NULL;
    if (rest >= block)
        full++;
    rest = rest >= block || rest < 0 ? 0 : rest;
    parts[0] = pnc_memmap_vector(pnc_memmap_vector(pnc_memmap_share(child), block, distance), full, round * distance);
    parts[1] = pnc_memmap_shift(pnc_memmap_vector(child, rest, distance), full * round * distance);
    return pnc_memmap_shift(pnc_memmap_sequence(parts, 2), at * block * distance);
}

/* numbers: size, rank, ndims, gsizes, distribs, dargs, psizes, order. The process grid is in C order always. */
static int map_darray(decoder *d, const pnc_recipe *r, pnc_memmap **map)
{
    int64_t rank = r->numbers[1], n = r->numbers[2];
    const int64_t *gsizes = r->numbers + 3, *distribs = gsizes + n, *dargs = distribs + n, *psizes = dargs + n;
    bool c_order = psizes[n] == MPI_ORDER_C;
    int64_t distance = extent_of(r->types[0]), *coords = pnc_memory_alloc(n, sizeof *coords);
    int err = coords != NULL ? NC_NOERR : no_memory(d);

    if (err == NC_NOERR)
        err = map_type(d, r->types[0], map);
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
        *map = map_cyclic(*map, gsizes[i], block, psizes[i], coords[i], distance);
        distance *= gsizes[i];
        if (*map == NULL)
            err = no_memory(d);
    }
    pnc_memory_free(coords);
    return err;
}

static int map_recipe(decoder *d, MPI_Datatype type, const pnc_recipe *r, pnc_memmap **map)
{
    const int64_t *numbers = r->numbers;
    int64_t extent = r->ntypes > 0 ? extent_of(r->types[0]) : 0;
    blocks b = {.types = r->types};

    switch (r->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: /* only the extent is another, and that is asked for where it matters */
        return map_type(d, r->types[0], map);
    case MPI_COMBINER_CONTIGUOUS: return map_vector(d, r->types[0], 1, numbers[0], 0, map);
    case MPI_COMBINER_VECTOR: return map_vector(d, r->types[0], numbers[0], numbers[1], numbers[2] * extent, map);
    case MPI_COMBINER_HVECTOR: return map_vector(d, r->types[0], numbers[0], numbers[1], numbers[2], map);
    case MPI_COMBINER_SUBARRAY: return map_subarray(d, r, map);
    case MPI_COMBINER_DARRAY: return map_darray(d, r, map);
    case MPI_COMBINER_INDEXED: b.lengths = numbers + 1, b.places = b.lengths + numbers[0]; break;
    case MPI_COMBINER_HINDEXED: b.lengths = numbers + 1, b.bytes = b.lengths + numbers[0]; break;
    case MPI_COMBINER_INDEXED_BLOCK: b.equal = numbers[1], b.places = numbers + 2; break;
    case MPI_COMBINER_HINDEXED_BLOCK: b.equal = numbers[1], b.bytes = numbers + 2; break;
    case MPI_COMBINER_STRUCT:
        b.lengths = numbers + 1, b.bytes = b.lengths + numbers[0], b.many_types = true;
        break;
    default: return unsupported(d, type);
    }
    b.n = numbers[0];
    return map_blocks(d, &b, map);
}

/* One instance of a datatype; *map is set only on success. */
static int map_type(decoder *d, MPI_Datatype type, pnc_memmap **map)
{
    pnc_recipe r = {0};
    int size = 0, combiner = pnc_recipe_combiner(type), err;

    MPI_Type_size(type, &size);
    if (size == 0) { /* no elements, whatever it was made of; also the markers of bounds in old struct types */
        *map = pnc_memmap_block(0, 1);
        return *map != NULL ? NC_NOERR : no_memory(d);
    }
    switch (combiner) {
    case MPI_COMBINER_NAMED: return map_element(d, type, mem_of_named(type, size), map);
    case MPI_COMBINER_F90_REAL: return map_element(d, type, real_of(size), map);
    case MPI_COMBINER_F90_INTEGER: return map_element(d, type, integer_of(size, true), map);
    case MPI_COMBINER_F90_COMPLEX: return unsupported(d, type);
    default: break;
    }
    err = pnc_recipe_get(type, &r);
    if (err != NC_NOERR)
        return err == NC_ENOMEM ? no_memory(d) : unsupported(d, type);
    err = map_recipe(d, type, &r, map);
    pnc_recipe_free(&r);
    return err;
}

/* A contiguous buffer that fits the request. */
static int map_plain(int64_t elements, pnc_mem_type type, pnc_memmap **map, pnc_mem_type *mem, pnc_error *error)
{
    *mem = type;
    *map = pnc_memmap_block(elements, (int)pnc_mem_type_get_size(type));
    return *map != NULL ? NC_NOERR : pnc_error_set(error, NC_ENOMEM, "no memory to describe the buffer");
}

/* bufcount may be left to us only where one element is one instance of the type. */
static int map_uncounted(decoder *d, MPI_Datatype buftype, int64_t elements, pnc_memmap **map, pnc_mem_type *mem)
{
    pnc_memmap *one = NULL;
    int err;

    if (pnc_recipe_combiner(buftype) != MPI_COMBINER_NAMED)
        return pnc_error_set(d->error, NC_EBADTYPE, "bufcount is -1 (NC_COUNT_IGNORE), but the buffer's datatype is "
                             "not a predefined one: pass the number of instances");
    err = map_type(d, buftype, &one);
    pnc_memmap_free(one);
    if (err == NC_NOERR && !d->known)
        err = unsupported(d, buftype);
    return err == NC_NOERR ? map_plain(elements, d->mem, map, mem, d->error) : err;
}

int pnc_buftype_map(int64_t bufcount, MPI_Datatype buftype, int xtype, int64_t elements, pnc_memmap **map,
                    pnc_mem_type *mem, pnc_error *error)
{
    decoder d = {.xtype = xtype, .error = error};
    pnc_memmap *one = NULL;
    int64_t total;
    int err;

    if (buftype == MPI_DATATYPE_NULL)
        return map_plain(elements, pnc_type_get_mem_type(xtype), map, mem, error);
    if (bufcount == NC_COUNT_IGNORE)
        return map_uncounted(&d, buftype, elements, map, mem);
    if (bufcount < 0)
        return pnc_error_set(error, NC_ENEGATIVECNT, "bufcount %lld is negative", (long long)bufcount);
    err = map_type(&d, buftype, &one);
    if (err != NC_NOERR)
        return err;
    if (pnc_size_multiply(bufcount, pnc_memmap_elements(one), &total) != 0 || total != elements) {
        err = pnc_error_set(error, NC_EIOMISMATCH, "the request selects %lld values, but the buffer holds %lld times "
                            "an MPI datatype of %lld", (long long)elements, (long long)bufcount,
                            (long long)pnc_memmap_elements(one));
        pnc_memmap_free(one);
        return err;
    }
    if (elements == 0) { /* nothing to move, and perhaps no type to move it as */
        pnc_memmap_free(one);
        return map_plain(0, d.known ? d.mem : pnc_type_get_mem_type(xtype), map, mem, error);
    }
    one = pnc_memmap_vector(one, bufcount, extent_of(buftype));
    if (one == NULL)
        return no_memory(&d);
    *map = one;
    *mem = d.mem;
    return NC_NOERR;
}

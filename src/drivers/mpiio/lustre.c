/* The layout of a file on Lustre, as the extended attribute lustre.lov holds it: a struct lov_user_md_v1 or _v3, or a
 * struct lov_comp_md_v1 with several of them (lustre_user.h). Numbers are little-endian. */
#include "drivers/mpiio/mpiio.h"

#include <stddef.h>

enum { /* magic numbers */
       PLAIN = 0x0BD10BD0,
       IN_POOL = 0x0BD30BD0,
       COMPOSITE = 0x0BD60BD0
};
enum { /* bytes of lov_user_md, and where its members begin */
       MAGIC = 0,
       PATTERN = 4,
       UNIT = 24,
       COUNT = 28,
       PLAIN_BYTES = 32
};
enum { /* the same of lov_comp_md_v1 and its entries */
       ENTRY_COUNT = 14,
       ENTRIES = 32,
       ENTRY_OFFSET = 24,
       ENTRY_SIZE = 28,
       ENTRY_BYTES = 48
};
#define PATTERN_RAID0 0x001 /* other patterns store data on the metadata server */
#define COUNT_ALL 0xffff    /* all servers, before the stripes are allocated */

static uint32_t decode_number(const unsigned char *bytes, int n)
{
    uint32_t number = 0;

    for (int i = n - 1; i >= 0; i--)
        number = number << 8 | bytes[i];
    return number;
}

static bool parse_plain(const unsigned char *bytes, size_t n, pnc_striping *out)
{
    uint32_t magic = n >= PLAIN_BYTES ? decode_number(bytes + MAGIC, 4) : 0, unit, count;

    if ((magic != PLAIN && magic != IN_POOL) || (decode_number(bytes + PATTERN, 4) & PATTERN_RAID0) == 0)
        return false;
    unit = decode_number(bytes + UNIT, 4);
    count = decode_number(bytes + COUNT, 2);
    if (unit == 0)
        return false;
    out->unit = unit;
    out->factor = count == COUNT_ALL ? 0 : count;
    out->round_robin = true;
    return true;
}

/* The last component has no upper bound: most bytes of a large file are in it. */
static bool parse_composite(const unsigned char *bytes, size_t n, pnc_striping *out)
{
    size_t count = decode_number(bytes + ENTRY_COUNT, 2);

    for (size_t i = count; i > 0; i--) {
        const unsigned char *entry = bytes + ENTRIES + (i - 1) * ENTRY_BYTES;
        size_t offset, size;

        if (ENTRIES + i * ENTRY_BYTES > n)
            continue;
        offset = decode_number(entry + ENTRY_OFFSET, 4);
        size = decode_number(entry + ENTRY_SIZE, 4);
        if (offset <= n && size <= n - offset && parse_plain(bytes + offset, size, out))
            return true;
    }
    return false;
}

bool pnc_mpiio_lustre_parse(const unsigned char *bytes, size_t n, pnc_striping *out)
{
    if (n >= ENTRIES && decode_number(bytes + MAGIC, 4) == COMPOSITE)
        return parse_composite(bytes, n, out);
    return parse_plain(bytes, n, out);
}

/* A default may leave anything unsaid, as zeros; its objects are not allocated. */
bool pnc_mpiio_lustre_parse_default(const unsigned char *bytes, size_t n, pnc_striping_default *out)
{
    uint32_t magic = n >= PLAIN_BYTES ? decode_number(bytes + MAGIC, 4) : 0, pattern, count;

    if (magic == 0)
        return false;
    pattern = decode_number(bytes + PATTERN, 4);
    *out = (pnc_striping_default){.is_composite = true};
    if ((magic != PLAIN && magic != IN_POOL) || (pattern != 0 && (pattern & PATTERN_RAID0) == 0))
        return true;
    count = decode_number(bytes + COUNT, 2);
    /* a larger one stands for all servers, once or several times */
    *out = (pnc_striping_default){.factor = count > PNC_STRIPING_MOST ? PNC_STRIPING_ALL : (int64_t)count,
                                  .unit = decode_number(bytes + UNIT, 4)};
    return true;
}

/* A filter plugin of HDF5, for test_plugins.py: id 32845 (from 32768 on ids are for tests) exclusive-ors all bytes with
 * its first parameter, and puts 3 bytes in front of them. When a dataset is created it adds a second parameter, the
 * size of an element, without which it fails. Some values of the first parameter have a meaning of their own. */
#include <stdlib.h>
#include <string.h>

#include <H5PLextern.h>
#include <hdf5.h>

enum { ID = 32845, ADDED = 3 };
enum { REFUSES = 201, FAILS = 202, SKIPS = 203 }; /* datasets; all chunks; those whose third byte is 250 */

static htri_t accept_dataset(hid_t dcpl, hid_t type, hid_t space)
{
    unsigned values[2] = {0, 0}, flags;
    size_t n = 2;

    (void)type, (void)space;
    if (H5Pget_filter_by_id2(dcpl, ID, &flags, &n, values, 0, NULL, NULL) < 0)
        return -1;
    return values[0] != REFUSES;
}

static herr_t add_size(hid_t dcpl, hid_t type, hid_t space)
{
    unsigned values[2] = {0, 0}, flags;
    size_t n = 2;

    (void)space;
    if (H5Pget_filter_by_id2(dcpl, ID, &flags, &n, values, 0, NULL, NULL) < 0)
        return -1;
    values[1] = (unsigned)H5Tget_size(type);
    return H5Pmodify_filter(dcpl, ID, flags, 2, values);
}

static size_t filter_bytes(unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *capacity,
                           void **buffer)
{
    const int reverse = (flags & H5Z_FLAG_REVERSE) != 0;
    const unsigned char *from = *buffer;
    unsigned char *to;
    size_t result;

    if (n != 2 || values[1] < 1 || values[1] > 8 || (reverse && (bytes <= ADDED || memcmp(from, "xor", ADDED) != 0)))
        return 0;
    if (!reverse && (values[0] == FAILS || (values[0] == SKIPS && from[2] == 250)))
        return 0;
    result = reverse ? bytes - ADDED : bytes + ADDED;
    to = malloc(result);
    if (to == NULL)
        return 0;
    if (!reverse)
        memcpy(to, "xor", ADDED);
    for (size_t i = 0; i < (reverse ? result : bytes); i++)
        to[reverse ? i : i + ADDED] = (unsigned char)(from[reverse ? i + ADDED : i] ^ values[0]);
    free(*buffer);
    *buffer = to;
    *capacity = result;
    return result;
}

H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    static const H5Z_class2_t xor_filter = {H5Z_CLASS_T_VERS, ID, 1, 1, "xor", accept_dataset, add_size, filter_bytes};

    return &xor_filter;
}

/* Layouts of Lustre, byte by byte as lustre_user.h describes them; what is known of other file systems. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <cmocka.h>

#include "drivers/mpiio/mpiio.h"

/* lov_user_md_v1: magic, pattern, object, 1 MiB stripes, count 4, generation; then the objects, which do not matter. */
static const unsigned char plain[32 + 4 * 24] = {0xd0, 0x0b, 0xd1, 0x0b, 1, 0, 0, 0, [24] = 0, 0, 0x10, 0, 4, 0};
/* lov_user_md_v3, in the pool "fast": 65536 * 3 bytes, overstriped over 300 objects */
static const unsigned char in_pool[48] = {0xd0, 0x0b, 0xd3, 0x0b, 1, 2,          0,   0,   [24] = 0,
                                          0,    3,    0,    0x2c, 1, [32] = 'f', 'a', 's', 't'};

/* lov_comp_md_v1 with three entries: data on the metadata server; 1 stripe; 8 stripes of 4 MiB. */
/* clang-format off */
static const unsigned char composite[32 + 3 * 48 + 3 * 32] = {
    0xd0, 0x0b, 0xd6, 0x0b, 0x10, 1, 0, 0, [14] = 3, 0,
    /* entries: the last 24 bytes have offset and size of the component */
    [32 + 24] = 176, 0, 0, 0, 32,
    [80 + 24] = 208, 0, 0, 0, 32,
    [128 + 24] = 240, 0, 0, 0, 32,
    /* components */
    [176] = 0xd0, 0x0b, 0xd1, 0x0b, 0, 1, [176 + 26] = 0x10,
    [208] = 0xd0, 0x0b, 0xd1, 0x0b, 1, 0, [208 + 26] = 0x10, 0, 1,
    [240] = 0xd0, 0x0b, 0xd1, 0x0b, 1, 0, [240 + 26] = 0x40, 0, 8};
/* clang-format on */

static void expect(const unsigned char *bytes, size_t n, int64_t unit, int64_t factor)
{
    pnc_striping got = {.unit = -1, .factor = -1, .on_servers = true};

    assert_true(pnc_mpiio_lustre_parse(bytes, n, &got));
    assert_int_equal(got.unit, unit);
    assert_int_equal(got.factor, factor);
    assert_true(got.round_robin);
    assert_true(got.on_servers); /* as set before */
}

static void reject(const unsigned char *bytes, size_t n)
{
    pnc_striping got = {.unit = -1, .factor = -1};

    assert_false(pnc_mpiio_lustre_parse(bytes, n, &got));
    assert_int_equal(got.unit, -1);
}

static void test_plain(void **state)
{
    unsigned char bytes[sizeof plain];
    (void)state;
    expect(plain, sizeof plain, 1 << 20, 4);
    expect(in_pool, sizeof in_pool, 3 << 16, 300);
    memcpy(bytes, plain, sizeof plain);
    bytes[28] = bytes[29] = 0xff; /* all servers */
    expect(bytes, sizeof bytes, 1 << 20, 0);
    bytes[27] = 0x80; /* 2 GiB and 1 MiB: no sign */
    expect(bytes, sizeof bytes, (INT64_C(1) << 31) + (1 << 20), 0);
}

static void test_composite(void **state)
{
    unsigned char bytes[sizeof composite];
    (void)state;
    expect(composite, sizeof composite, 4 << 20, 8);
    memcpy(bytes, composite, sizeof composite);
    bytes[14] = 2; /* entries */
    expect(bytes, sizeof bytes, 1 << 20, 1);
    bytes[14] = 1; /* only that of the metadata server is left */
    reject(bytes, sizeof bytes);
}

static pnc_striping_default parse_default(const unsigned char *bytes, size_t n)
{
    pnc_striping_default got = {.factor = 77, .unit = 77};

    assert_true(pnc_mpiio_lustre_parse_default(bytes, n, &got));
    return got;
}

/* What a folder says about new files may leave number and size unsaid. */
static void test_defaults(void **state)
{
    unsigned char bytes[32];
    pnc_striping_default got = parse_default(plain, 32);
    (void)state;
    assert_true(!got.is_composite && got.factor == 4 && got.unit == 1 << 20);
    got = parse_default(in_pool, sizeof in_pool); /* overstriped */
    assert_true(!got.is_composite && got.factor == 300 && got.unit == 3 << 16);
    assert_true(parse_default(composite, sizeof composite).is_composite);
    memcpy(bytes, plain, sizeof bytes);
    memset(bytes + 24, 0, 6);
    got = parse_default(bytes, sizeof bytes);
    assert_true(!got.is_composite && got.factor == 0 && got.unit == 0);
    bytes[28] = 0xfe; /* -2: two on each server */
    bytes[29] = 0xff;
    assert_int_equal(parse_default(bytes, sizeof bytes).factor, PNC_STRIPING_ALL);
    bytes[28] = bytes[29] = 0;
    bytes[4] = 0; /* the pattern is not said, or is data on the metadata server */
    assert_false(parse_default(bytes, sizeof bytes).is_composite);
    bytes[5] = 1;
    assert_true(parse_default(bytes, sizeof bytes).is_composite);
    bytes[2] = 0xd7; /* a layout of another file system */
    assert_true(parse_default(bytes, sizeof bytes).is_composite);
}

/* Damaged attributes: cut at each length (at the end of its memory, for valgrind), and with each byte changed. */
static void test_damage(void **state)
{
    pnc_striping unused;
    pnc_striping_default also_unused;
    (void)state;
    for (size_t n = 0; n < 32; n++) {
        pnc_striping_default got = {.factor = 77};
        reject(plain, n);
        assert_false(pnc_mpiio_lustre_parse_default(plain, n, &got));
        assert_int_equal(got.factor, 77);
    }
    for (size_t n = 0; n <= sizeof composite; n++) {
        unsigned char *cut = test_malloc(n + 1);
        memcpy(cut + 1, composite, n);
        pnc_mpiio_lustre_parse(cut + 1, n, &unused);
        pnc_mpiio_lustre_parse_default(cut + 1, n, &also_unused);
        test_free(cut);
    }
    for (size_t i = 0; i < sizeof composite; i++) {
        unsigned char bytes[sizeof composite];
        memcpy(bytes, composite, sizeof composite);
        bytes[i] ^= 0xff;
        pnc_mpiio_lustre_parse(bytes, sizeof bytes, &unused);
    }
    reject((const unsigned char *)"user.attribute of another kind, long enough", 43);
}

/* --- the file system, which the test simulates --- */

static long type; /* of the file system of all files */

int statfs(const char *path, struct statfs *out)
{
    (void)path;
    *out = (struct statfs){.f_type = type};
    return 0;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    (void)path;
    if (strcmp(name, "trusted.lov") != 0) {
        errno = ENODATA;
        return -1;
    }
    if (size > 0)
        memcpy(value, plain, sizeof plain);
    return sizeof plain;
}

static pnc_striping find(long file_system, bool reports)
{
    pnc_striping found = {.unit = 0};

    type = file_system;
    assert_int_equal(pnc_mpiio_striping_find(".", &found), reports);
    return found;
}

static void test_file_systems(void **state)
{
    static const long others[] = {0x00C36400, 0xAAD7AAEA, 0x20030528, 0x6969}; /* Ceph, PanFS, OrangeFS, NFS */
    struct stat facts;
    pnc_striping found;
    pnc_striping_default said = {.factor = 0};

    (void)state;
    assert_int_equal(stat(".", &facts), 0);
    found = find(0x0BD00BD0, true); /* Lustre */
    assert_true(found.on_servers && found.round_robin && found.unit == 1 << 20 && found.factor == 4);
    assert_true(pnc_mpiio_striping_is_on_lustre("new"));
    pnc_mpiio_striping_find_default(".", &said);
    assert_true(!said.is_composite && said.factor == 4 && said.unit == 1 << 20);
    found = find(0x47504653, true); /* GPFS */
    assert_true(found.on_servers && !found.round_robin && found.unit == facts.st_blksize);
    assert_false(pnc_mpiio_striping_is_on_lustre("new"));
    found = find(0x19830326, true); /* BeeGFS */
    assert_true(found.on_servers && !found.round_robin && found.unit == facts.st_blksize);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        found = find(others[i], false);
        assert_true(found.on_servers && found.unit == 0 && !found.in_memory);
    }
    found = find(0x01021994, false); /* tmpfs */
    assert_true(!found.on_servers && found.in_memory);
    found = find(0xEF53, false); /* ext4 */
    assert_true(!found.on_servers && !found.in_memory && found.unit == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),        cmocka_unit_test(test_composite), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_file_systems), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

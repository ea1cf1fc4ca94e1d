/* The stripes of new files, by the rules of pnetcdf_hints(7), counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "drivers/new_striping.h"

#define MIB (INT64_C(1) << 20)

static pnc_striping_choice check(const pnc_striping_case *c, pnc_striping_reason reason, int64_t factor, int64_t unit)
{
    pnc_striping_choice got = pnc_driver_striping_choose(c);

    assert_string_equal(pnc_driver_striping_explain(got.reason), pnc_driver_striping_explain(reason));
    assert_int_equal(got.factor, factor);
    assert_int_equal(got.unit, unit);
    return got;
}

static void test_nodes(void **state)
{
    pnc_striping_case c = {.nnodes = 1};
    (void)state;
    check(&c, PNC_STRIPING_ONE_NODE, 0, 0);
    c.nnodes = 2;
    check(&c, PNC_STRIPING_AS_NODES, 2, MIB);
    c.nnodes = 8;
    check(&c, PNC_STRIPING_AS_NODES, 8, MIB);
    c.nnodes = 64;
    check(&c, PNC_STRIPING_AS_NODES, 64, MIB);
    c.nnodes = 9408; /* Lustre allows 2000 */
    check(&c, PNC_STRIPING_AS_NODES, 2000, MIB);
}

/* One of one stripe is a default that was not chosen for many nodes; its longer stripes stay. */
static void test_folders(void **state)
{
    static const int nodes[] = {1, 2, 8, 64};
    (void)state;
    for (int i = 0; i < 4; i++) {
        pnc_striping_case c = {.nnodes = nodes[i], .folder = {.factor = 4, .unit = 4 * MIB}};
        check(&c, PNC_STRIPING_OF_FOLDER, 0, 0);
        c.folder.factor = PNC_STRIPING_ALL;
        check(&c, PNC_STRIPING_OF_FOLDER, 0, 0);
        c.folder = (pnc_striping_default){.is_composite = true};
        check(&c, PNC_STRIPING_COMPOSITE, 0, 0);
        c.folder = (pnc_striping_default){.factor = 1, .unit = 4 * MIB};
        if (nodes[i] > 1)
            check(&c, PNC_STRIPING_AS_NODES, nodes[i], 4 * MIB);
        else
            check(&c, PNC_STRIPING_ONE_NODE, 0, 0);
    }
}

/* The file system gives a least number, unless the folder says another. */
static void test_file_systems(void **state)
{
    pnc_striping_case c = {.nnodes = 8, .system = {.factor = 4, .unit = 65536}};
    (void)state;
    check(&c, PNC_STRIPING_AS_NODES, 8, MIB);
    c.nnodes = 2;
    check(&c, PNC_STRIPING_AS_SYSTEM, 4, MIB);
    c.system.factor = PNC_STRIPING_ALL;
    check(&c, PNC_STRIPING_AS_SYSTEM, 0, 0);
    c.system = (pnc_striping_default){.is_composite = true};
    check(&c, PNC_STRIPING_COMPOSITE, 0, 0);
    c.folder.factor = 1;
    check(&c, PNC_STRIPING_AS_NODES, 2, MIB);
}

static void test_servers(void **state)
{
    static const struct {
        int nodes, servers, factor, on_server;
    } rows[] = {{8, 8, 8, 0},   {8, 9, 8, 0},    {10, 8, 8, 0},        {16, 8, 16, 2},
                {64, 8, 32, 4}, {30, 10, 30, 3}, {9408, 900, 1800, 2}, {4000, 1500, 1500, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pnc_striping_case c = {.nnodes = rows[i].nodes, .servers = rows[i].servers};
        bool fits = rows[i].nodes <= rows[i].servers;
        pnc_striping_choice got =
            check(&c, fits ? PNC_STRIPING_AS_NODES : PNC_STRIPING_AS_SERVERS, rows[i].factor, MIB);
        assert_int_equal(got.on_server, rows[i].on_server);
    }
}

/* A stripe for each 16 MiB. */
static void test_sizes(void **state)
{
    pnc_striping_case c = {.nnodes = 64, .expected = 1};
    (void)state;
    check(&c, PNC_STRIPING_AS_BYTES, 1, MIB);
    c.expected = 160 * MIB;
    check(&c, PNC_STRIPING_AS_BYTES, 10, MIB);
    c.expected++;
    check(&c, PNC_STRIPING_AS_BYTES, 11, MIB);
    c.expected = INT64_MAX;
    check(&c, PNC_STRIPING_AS_NODES, 64, MIB);
    c.expected = 160 * MIB;
    c.system.factor = 12;
    check(&c, PNC_STRIPING_AS_SYSTEM, 12, MIB);
    c.system.factor = 0;
    c.servers = 4;
    assert_int_equal(check(&c, PNC_STRIPING_AS_SERVERS, 8, MIB).on_server, 2);
}

/* What the user says outranks folder and nodes. */
static void test_hints(void **state)
{
    pnc_striping_case c = {.nnodes = 8, .given_factor = 3, .folder = {.factor = 4}, .system = {.is_composite = true}};
    (void)state;
    check(&c, PNC_STRIPING_GIVEN, 3, 0);
    c.given_unit = 65536;
    check(&c, PNC_STRIPING_GIVEN, 3, 65536);
    c.is_by_mpi = true;
    check(&c, PNC_STRIPING_BY_MPI, 0, 0);
    c.inherits = true;
    check(&c, PNC_STRIPING_INHERITED, 0, 0);
    c = (pnc_striping_case){.nnodes = 8, .given_unit = 2 * MIB, .folder = {.unit = 4 * MIB}};
    check(&c, PNC_STRIPING_AS_NODES, 8, 2 * MIB);
}

/* Files of single ranks have one where the file system gives several, unless the folder has stripes of its own. */
static void test_ranks(void **state)
{
    pnc_striping_case c = {.nnodes = 1, .is_of_rank = true};
    (void)state;
    check(&c, PNC_STRIPING_ONE_NODE, 0, 0);
    c.system.factor = 8;
    check(&c, PNC_STRIPING_OF_RANK, 1, 0);
    c.system.factor = PNC_STRIPING_ALL;
    check(&c, PNC_STRIPING_OF_RANK, 1, 0);
    c.expected = INT64_C(1) << 30; /* one that gathers the values of the others */
    check(&c, PNC_STRIPING_ONE_NODE, 0, 0);
    c.expected = 0;
    c.folder.factor = 1;
    check(&c, PNC_STRIPING_ONE_NODE, 0, 0);
    c.folder.factor = 2;
    check(&c, PNC_STRIPING_OF_FOLDER, 0, 0);
}

static void test_sentences(void **state)
{
    pnc_new_striping s = {.choice = {.reason = PNC_STRIPING_AS_SERVERS, .factor = 16, .unit = MIB, .on_server = 2},
                          .obstacle = "there is no liblustreapi"};
    char text[400];
    (void)state;
    pnc_driver_striping_describe(&s, 16, MIB, text, sizeof text);
    assert_string_equal(text,
                        "16 of 1048576 bytes: the same number on each server, which are fewer than the nodes, "
                        "2 on each");
    pnc_driver_striping_describe(&s, 1, MIB, text, sizeof text);
    assert_string_equal(text,
                        "1 of 1048576 bytes: the MPI library ignores the hints, and there is no liblustreapi; "
                        "chosen: 16 of 1048576 bytes, the same number on each server, which are fewer than the "
                        "nodes, 2 on each");
    s = (pnc_new_striping){.choice = {.reason = PNC_STRIPING_GIVEN, .factor = 16}, .is_created = true};
    pnc_driver_striping_describe(&s, 8, MIB, text, sizeof text);
    assert_string_equal(text,
                        "8 of 1048576 bytes: the file system gives no others; chosen: 16, as the hint "
                        "striping_factor says");
    pnc_driver_striping_describe(&s, 16, 0, text, sizeof text);
    assert_string_equal(text, "16: as the hint striping_factor says");
    pnc_driver_striping_describe(&s, 0, 0, text, sizeof text);
    assert_string_equal(text, "unknown; chosen: 16, as the hint striping_factor says");
    for (size_t n = 1; n < 200; n++) { /* a short buffer */
        memset(text, 'x', sizeof text);
        pnc_driver_striping_describe(&s, 8, MIB, text, n);
        assert_true(strlen(text) < n && text[n] == 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),   cmocka_unit_test(test_folders),   cmocka_unit_test(test_file_systems),
        cmocka_unit_test(test_servers), cmocka_unit_test(test_sizes),     cmocka_unit_test(test_hints),
        cmocka_unit_test(test_ranks),   cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The choice of a strategy: known cases, hints, and costs that agree with the choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/choose/file_domains.h"
#include "io/choose/placement.h"
#include "io/choose/sizes.h"
#include "io/choose/costs.h"

static const pnc_access_hints none;

enum { PROCESSORS = 2 }; /* of a node */

static pnc_access_pattern pattern_of(pnc_direction direction, int nprocs, int nnodes, int64_t runs, int64_t bytes)
{
    return (pnc_access_pattern){.direction = direction,
                                .slabs = 1,
                                .runs = runs,
                                .bytes = bytes,
                                .nprocs = nprocs,
                                .nnodes = nnodes,
                                .nwriters = pnc_io_strategy_count_writers(nprocs, PROCESSORS),
                                .sieves = nnodes == 1 && (direction == PNC_GET || nprocs == 1),
                                .on_servers = nnodes > 1,
                                .all_nodes = true,
                                .has_mpi_io = true,
                                .buffer = 16 << 20,
                                .striping_unit = 1 << 20};
}

/* Of a rank: own, or with others. */
static pnc_strategy choose_one(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy own = pnc_io_strategy_choose_independent(p, hints);

    return own != PNC_STRATEGIES ? own : pnc_io_strategy_choose_collective(p, hints);
}

static pnc_strategy choose(pnc_direction direction, int nprocs, int nnodes, int64_t runs, int64_t bytes)
{
    pnc_access_pattern p = pattern_of(direction, nprocs, nnodes, runs, bytes);

    return choose_one(&p, &none);
}

static void test_one_node(void **state)
{
    (void)state;
    assert_int_equal(choose(PNC_PUT, 1, 1, 1000, 64000), PNC_DIRECT); /* the store sieves */
    assert_int_equal(choose(PNC_PUT, 2, 1, 4, 4 * 64), PNC_DIRECT);   /* few runs */
    assert_int_equal(choose(PNC_PUT, 2, 1, 1000, 1000 * 64), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_PUT, 2, 1, 1000, 1000 * 1024), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_PUT, 2, 1, 1000, 1000 * 4096), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_PUT, 2, 1, 1000, 1000 * 16384), PNC_DIRECT); /* long runs */
    assert_int_equal(choose(PNC_PUT, 4, 1, 8, 8 * 64), PNC_DIRECT);          /* few runs, more ranks to wait for */
    assert_int_equal(choose(PNC_GET, 4, 1, 1000, 1000 * 64), PNC_DIRECT);    /* reads are local */
    assert_int_equal(choose(PNC_PUT, 4, 1, 0, 0), PNC_DIRECT);
}

/* The more ranks write at the same time, the longer runs are exchanged. */
static void test_writers(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_PUT, 64, 1, 1000, 1000 * 65536);

    (void)state;
    assert_int_equal(pnc_io_strategy_count_writers(64, 128), 64);
    assert_int_equal(pnc_io_strategy_count_writers(64, 2), 2);
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    p.nwriters = 64;
    assert_int_equal(choose_one(&p, &none), PNC_TWO_PHASE);
    p.bytes = 1000 * (1 << 20);
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    for (int n = 2; n <= 1024; n *= 2) { /* without knowledge of the runs */
        p = pattern_of(PNC_PUT, n, 1, 0, 0);
        p.ranks_apart = true;
        p.nwriters = n;
        assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_SEPARATE);
    }
}

static double get_seconds(pnc_direction direction, int nwriters)
{
    pnc_access_pattern p = pattern_of(direction, 64, 1, 1000, 1000 * 65536);

    p.nwriters = nwriters;
    return pnc_io_strategy_compute_cost(PNC_DIRECT, &p).seconds;
}

static void test_waits(void **state)
{
    (void)state;
    assert_true(get_seconds(PNC_PUT, 64) > 31 * get_seconds(PNC_PUT, 2));
    assert_true(get_seconds(PNC_GET, 64) == get_seconds(PNC_GET, 2)); /* reads do not lock */
}

/* One node, and a file on servers: each row is an access, as far as data sieving does not join them. */
static void test_servers(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_GET, 8, 1, 512, 2 << 20);

    (void)state;
    p.reads = 512;
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    p.on_servers = true;
    assert_int_equal(choose_one(&p, &none), PNC_TWO_PHASE);
    p.runs = 1 << 18; /* every second element */
    p.reads = 2;
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    p.reads = p.runs = 1;
    p.bytes = INT64_C(1) << 30;
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    p = pattern_of(PNC_PUT, 8, 1, 64, 64 * 65536);
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    p.on_servers = true;
    assert_int_equal(choose_one(&p, &none), PNC_TWO_PHASE);
}

static void expect_accesses(const pnc_access_pattern *p, pnc_strategy strategy, double accesses)
{
    pnc_estimate e = pnc_io_strategy_compute_cost(strategy, p);

    assert_true(e.accesses > 0.999 * accesses && e.accesses < 1.001 * accesses);
    assert_true(e.lock_changes == 0); /* on one node */
}

/* An access of servers is one of a stripe at most, here of 4 MiB. */
static void test_accesses_of_servers(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_PUT, 8, 1, 64, 64 << 20);

    (void)state;
    p.striping_unit = 4 << 20;
    expect_accesses(&p, PNC_DIRECT, 64);
    p.on_servers = true;
    expect_accesses(&p, PNC_DIRECT, 64 + 16);
    expect_accesses(&p, PNC_MERGED, 1 + 64 / 8 + 64); /* 1 MiB at a time */
    expect_accesses(&p, PNC_SEPARATE, 1 + 64.0 / 40 + 16);
    expect_accesses(&p, PNC_TWO_PHASE, 1 + 16);
    p.buffer = 65536;
    expect_accesses(&p, PNC_TWO_PHASE, 1 + 1024);
    p.direction = PNC_GET;
    p.sieves = true;
    p.reads = 1;
    expect_accesses(&p, PNC_DIRECT, 16);
    p.reads = 50;
    expect_accesses(&p, PNC_DIRECT, 50);
}

/* `lines` of `count` runs of so many bytes, `stride` bytes apart; after each line a gap of so many bytes. */
static int64_t count_reads(int64_t run, int64_t elem_size, int64_t count, int64_t stride, int64_t lines, int64_t gap)
{
    pnc_selection s = {.run = run,
                       .nruns = lines * count,
                       .bytes = lines * run * count,
                       .rank = 2,
                       .small = {{lines, count * stride + gap}, {count, stride}}};

    return pnc_io_reads_count(&s, elem_size);
}

static void test_reads(void **state)
{
    (void)state;
    assert_int_equal(count_reads(8, 8, 1 << 17, 32, 1, 0), 2);     /* single values: 4 MiB in windows of 2 MiB */
    assert_int_equal(count_reads(8, 8, 1 << 14, 32, 8, 0), 2);     /* the same in 8 lines */
    assert_int_equal(count_reads(8, 8, 1 << 17, 32, 3, 8192), 96); /* large gaps between lines: lists of 4096 */
    assert_int_equal(count_reads(8, 8, 32, 32, 4096, 0), 32);      /* short lines: lists of 4096 */
    assert_int_equal(count_reads(16, 8, 1 << 17, 32, 1, 0), 32);   /* lists of 4096 runs */
    assert_int_equal(count_reads(16, 8, 4096, 2048, 1, 0), 16);    /* 8 MiB in sieve buffers of 512 KiB */
    assert_int_equal(count_reads(1024, 8, 100, 8192, 1, 0), 100);  /* large gaps */
    assert_int_equal(count_reads(8, 8, 100, 8192, 1, 0), 100);
}

/* Ranks on one node that put compare their ranges, unless aggregators would access a stripe fewer times. */
static void test_comparison_on_one_node(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_PUT, 8, 1, 0, 0);
    pnc_access_hints separate = {.strategy = PNC_SEPARATE + 1};

    (void)state;
    assert_true(pnc_io_ranks_has_node_comparison(&p, &none, INT64_MAX));
    p.on_servers = true;
    assert_false(pnc_io_ranks_has_node_comparison(&p, &none, INT64_MAX));
    assert_true(pnc_io_ranks_has_node_comparison(&p, &separate, INT64_MAX));
    assert_true(pnc_io_ranks_has_node_comparison(&p, &none, 1 << 20));
    p.direction = PNC_GET;
    assert_false(pnc_io_ranks_has_node_comparison(&p, &separate, 1 << 20));
    p = pattern_of(PNC_PUT, 8, 2, 0, 0);
    assert_false(pnc_io_ranks_has_node_comparison(&p, &separate, 1 << 20));
}

/* The short cut of a small call leads to the same choice. */
static void test_one_hyperslab(void **state)
{
    pnc_access_hints hints = none;

    (void)state;
    assert_true(pnc_io_strategy_is_certain(1, &none));
    assert_false(pnc_io_strategy_is_certain(2, &none));
    for (int nnodes = 1; nnodes < 3; nnodes++)
        for (int64_t runs = 1; runs < 1000000; runs *= 10)
            for (pnc_switch s = PNC_AUTOMATIC; s <= PNC_DISABLE; s++) {
                pnc_access_pattern put = pattern_of(PNC_PUT, 1, nnodes, runs, 8 * runs), get = put;

                get.direction = PNC_GET;
                hints.cb_read = hints.cb_write = s;
                assert_int_equal(choose_one(&put, &hints), PNC_DIRECT);
                assert_int_equal(choose_one(&get, &hints), PNC_DIRECT);
            }
    hints.strategy = PNC_MERGED + 1;
    assert_false(pnc_io_strategy_is_certain(1, &hints));
}

static void test_lists(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_PUT, 1, 1, 10000, 320000);

    (void)state;
    p.slabs = 10000;
    assert_int_equal(choose_one(&p, &none), PNC_MERGED);
    p.bytes = INT64_C(10000) << 16;
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
}

static void test_nodes(void **state)
{
    (void)state;
    assert_int_equal(choose(PNC_PUT, 64, 8, 512, 2 << 20), PNC_TWO_PHASE); /* rows of a block */
    assert_int_equal(choose(PNC_GET, 64, 8, 512, 2 << 20), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_PUT, 64, 8, 1, 2 << 20), PNC_TWO_PHASE); /* stripes shared by two ranks */
    assert_int_equal(choose(PNC_GET, 64, 8, 32, 2 << 20), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_GET, 64, 8, 1, 2 << 20), PNC_TWO_PHASE);
    assert_int_equal(choose(PNC_GET, 64, 8, 1, 16 << 20), PNC_DIRECT);
    assert_int_equal(choose(PNC_PUT, 64, 8, 1, INT64_C(1) << 30), PNC_DIRECT); /* sending costs more than a lock */
    assert_int_equal(choose(PNC_PUT, 10000, 100, 512, INT64_C(2) << 20), PNC_TWO_PHASE);
}

static void test_collective(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_PUT, 64, 8, 512, 2 << 20);

    (void)state;
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_TWO_PHASE);
    p.nodes_apart = true;
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_WITHIN_NODES);
    p.nodes_apart = false;
    p.nodes_range = 1.1; /* with halos: nodes may read, but not write, the same bytes */
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_TWO_PHASE);
    p.direction = PNC_GET;
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_WITHIN_NODES);
    p.nodes_range = 8; /* all nodes have a part of every row */
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_TWO_PHASE);
    p = pattern_of(PNC_PUT, 2, 1, 1000, 64000);
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_TWO_PHASE);
    p.ranks_apart = true;
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_SEPARATE);
    p.direction = PNC_GET; /* each rank reads on its own anyway */
    assert_false(pnc_io_strategy_is_suitable(PNC_SEPARATE, &p));
}

/* Between nodes: ranks with stripes of their own, also if the nodes are apart, unless a hint asks for aggregators. */
static void test_ranks_apart(void **state)
{
    pnc_access_hints hints = {.cb_write = PNC_ENABLE};

    (void)state;
    for (int get = 0; get < 2; get++) {
        pnc_access_pattern p = pattern_of(get ? PNC_GET : PNC_PUT, 64, 8, 1, 256 << 10);

        p.ranks_apart = p.nodes_apart = true;
        assert_int_equal(choose_one(&p, &none), PNC_SEPARATE);
        assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_SEPARATE);
        assert_int_equal(pnc_io_strategy_choose_collective(&p, &hints), get ? PNC_SEPARATE : PNC_WITHIN_NODES);
        hints.no_independent = true;
        assert_int_equal(pnc_io_strategy_choose_collective(&p, &hints), PNC_WITHIN_NODES);
        hints.no_independent = false;
    }
}

/* The ranges of ranks in some order; {0, 0}: nothing. */
static void test_ranges(void **state)
{
    static const struct row {
        pnc_range ranges[4];
        bool apart;
    } rows[] = {
        {{{0, 10}, {10, 20}, {20, 30}, {40, 50}}, true}, {{{20, 30}, {40, 50}, {0, 10}, {10, 20}}, true},
        {{{40, 50}, {0, 10}, {10, 20}, {20, 40}}, true}, {{{40, 50}, {0, 10}, {10, 20}, {20, 41}}, false},
        {{{0, 10}, {0, 0}, {0, 0}, {10, 11}}, true},     {{{0, 0}, {30, 40}, {0, 0}, {10, 11}}, true},
        {{{0, 0}, {0, 0}, {0, 0}, {0, 0}}, true},        {{{0, 11}, {0, 0}, {10, 20}, {30, 40}}, false},
        {{{40, 50}, {20, 30}, {10, 20}, {0, 5}}, false}, {{{20, 30}, {0, 10}, {40, 50}, {10, 20}}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int half = 1; half < 4; half++) { /* in any grouping */
            pnc_sequence parts[2] = {pnc_io_sequence_init(rows[i].ranges[0]), pnc_io_sequence_init((pnc_range){0, 0})};

            for (int r = 1; r < 4; r++)
                parts[r >= half] = pnc_io_sequences_join(parts[r >= half], pnc_io_sequence_init(rows[i].ranges[r]));
            assert_int_equal(pnc_io_sequence_is_apart(pnc_io_sequences_join(parts[0], parts[1])), rows[i].apart);
        }
}

/* A rank and what it reads or writes of the range [1000, 2001), of 1001 bytes, on 4 ranks: shares begin at 1000, 1250,
 * 1500 and 1750. */
static void test_shares(void **state)
{
    static const struct row {
        int rank;
        pnc_range range;
        bool in_share;
    } rows[] = {
        {0, {1000, 1250}, true},  {0, {1000, 1251}, false}, {1, {1249, 1300}, false},
        {1, {1250, 1500}, true},  {3, {1750, 2001}, true},  {3, {1749, 2001}, false},
        {2, {1000, 1010}, false}, {2, {0, 0}, true},        {2, {1500, 1501}, true},
    };
    pnc_access_pattern p = pattern_of(PNC_GET, 4, 2, 1, 1);
    pnc_access_hints separate = {.strategy = PNC_SEPARATE + 1};
    const pnc_range all = {1000, 2001};

    (void)state;
    p.striping_unit = 100;
    p.window = 1001;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pnc_range range = rows[i].range;
        pnc_sequence s = pnc_io_sequence_init_rank(&p, &none, all, range, rows[i].rank);

        assert_int_equal(pnc_io_sequence_is_apart(s), rows[i].in_share);
        assert_int_equal(s.first, range.low / 100 * 100); /* whole stripes */
        assert_int_equal(s.last, (range.high + 99) / 100 * 100);
        assert_true(pnc_io_sequence_is_apart(pnc_io_sequence_init_rank(&p, &separate, all, range, rows[i].rank)));
        p.direction = PNC_PUT;
        assert_true(pnc_io_sequence_is_apart(pnc_io_sequence_init_rank(&p, &none, all, range, rows[i].rank)));
        p.direction = PNC_GET;
    }
    p.window = 1000; /* aggregators would need two rounds */
    assert_true(pnc_io_sequence_is_apart(pnc_io_sequence_init_rank(&p, &none, all, (pnc_range){1030, 1040}, 3)));
    p.nnodes = 1;
    assert_int_equal(pnc_io_sequence_init_rank(&p, &none, all, (pnc_range){1030, 1040}, 3).first, 1030);
    assert_true(pnc_io_sequence_is_apart(pnc_io_sequence_init_rank(&p, &none, all, (pnc_range){1030, 1040}, 3)));
}

/* The buffer and a bit for each of its bytes take at most 2 MiB more than the hint; above 16 MiB, all of that. */
static void test_large_buffers(void **state)
{
    (void)state;
    for (int64_t mib = 1; mib <= 512; mib *= 2) {
        pnc_buffer_shape b = {.nnodes = 1, .given = mib << 20, .most = 16 << 20, .striping_unit = 1 << 20};
        int64_t size = pnc_io_buffer_compute_size(&b);

        assert_true(mib > 16 || size == mib << 20);
        assert_true(mib <= 16 || (size + size / 8 <= (mib + 2) << 20 && size + size / 8 > ((mib + 2) << 20) - 8192));
    }
}

static void test_default_buffers(void **state)
{
    pnc_buffer_shape b = {.nnodes = 1, .most = 16 << 20, .striping_unit = 1 << 20};

    (void)state;
    assert_int_equal(pnc_io_buffer_compute_size(&b), 2 << 20);
    b.on_servers = true;
    assert_int_equal(pnc_io_buffer_compute_size(&b), 4 << 20);
    b.nnodes = 2;
    assert_int_equal(pnc_io_buffer_compute_size(&b), 17 << 20);
    b.most = 1 << 20;
    assert_int_equal(pnc_io_buffer_compute_size(&b), 1 << 20);
}

/* How the rounds of calls use buffers of 16 MiB and a stripe. */
static void test_rounds(void **state)
{
    enum { MIB = 1 << 20, WINDOW = 4 * 17 };
    static const struct row {
        pnc_direction direction;
        int nnodes;
        bool on_servers;
        bool within_nodes, can_overlap;
        int64_t length, bytes;
        bool reads_blocks, overlaps, in_background, may_wrap;
        int buffer; /* MiB */
    } rows[] = {
        {PNC_PUT, 4, true, false, true, WINDOW * MIB, 0, false, false, false, true, 17},
        {PNC_PUT, 4, true, false, true, WINDOW * MIB + 1, 0, false, true, true, true, 8},
        {PNC_PUT, 4, true, false, false, WINDOW * MIB + 1, 0, false, false, false, true, 17},
        {PNC_PUT, 4, true, true, true, WINDOW * MIB + 1, 0, false, true, true, false, 8},
        {PNC_PUT, 1, false, false, true, WINDOW * MIB + 1, 0, false, false, false, false, 16},
        {PNC_GET, 4, true, false, true, 100, 50, true, false, true, true, 17},
        {PNC_GET, 4, true, false, true, 100, 49, false, false, true, false, 17},
        {PNC_GET, 4, true, false, true, WINDOW * MIB + 2, WINDOW * MIB / 2 + 1, true, true, true, true, 8},
        {PNC_GET, 4, true, false, true, WINDOW * MIB + 2, WINDOW * MIB / 2, false, false, true, false, 17},
        {PNC_GET, 4, true, true, true, 100, 50, true, false, true, false, 17},
        {PNC_GET, 4, true, false, false, 100, 49, false, false, false, false, 17},
        {PNC_GET, 1, false, false, true, 100, 100, false, false, false, false, 16},
        {PNC_PUT, 1, true, false, true, 64 * MIB, 0, false, false, false, false, 16},
        {PNC_PUT, 1, true, false, true, 64 * MIB + 1, 0, false, true, true, false, 8},
        {PNC_GET, 1, true, false, true, 100, 100, true, false, true, false, 16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        pnc_buffer_shape buffer = {.nnodes = r->nnodes,
                                   .on_servers = r->on_servers,
                                   .given = 16 * MIB,
                                   .most = INT64_MAX,
                                   .striping_unit = MIB};
        pnc_rounds_shape call = {.direction = r->direction,
                                 .naggregators = 4,
                                 .buffer = pnc_io_buffer_compute_size(&buffer),
                                 .within_nodes = r->within_nodes,
                                 .can_overlap = r->can_overlap,
                                 .length = r->length,
                                 .bytes = r->bytes};
        pnc_rounds found = pnc_io_rounds_choose(&buffer, &call);

        assert_int_equal(found.reads_blocks, r->reads_blocks);
        assert_int_equal(found.overlaps, r->overlaps);
        assert_int_equal(found.in_background, r->in_background);
        assert_int_equal(found.domains.may_wrap, r->may_wrap);
        assert_int_equal(found.domains.buffer, r->buffer * MIB);
    }
}

static void test_range_lengths(void **state)
{
    (void)state;
    assert_int_equal(pnc_io_range_extend((pnc_range){99, 201}, 100).low, 0);
    assert_int_equal(pnc_io_range_extend((pnc_range){99, 201}, 100).high, 300);
    assert_int_equal(pnc_io_range_extend((pnc_range){100, 200}, 100).low, 100);
    assert_int_equal(pnc_io_range_extend((pnc_range){100, 200}, 100).high, 200);
    assert_int_equal(pnc_io_range_extend((pnc_range){5, INT64_MAX - 2}, 100).high, INT64_MAX);
    assert_int_equal(pnc_io_range_compute_length((pnc_range){99, 201}, 1, 100), 102);
    assert_int_equal(pnc_io_range_compute_length((pnc_range){99, 201}, 3, 100), 102); /* in 3 stripes */
    assert_int_equal(pnc_io_range_compute_length((pnc_range){99, 201}, 4, 100), INT64_MAX);
    assert_int_equal(pnc_io_range_compute_length((pnc_range){100, 200}, 2, 100), INT64_MAX);
    assert_int_equal(pnc_io_range_compute_length((pnc_range){100, 100}, 2, 100), 0);
    assert_true(pnc_io_range_is_sparse((pnc_range){0, 80}, 10, 4));
    assert_false(pnc_io_range_is_sparse((pnc_range){0, 80}, 11, 4));
    assert_int_equal(pnc_io_range_join((pnc_range){5, 9}, (pnc_range){7, 12}).low, 5);
    assert_int_equal(pnc_io_range_join((pnc_range){5, 9}, (pnc_range){7, 12}).high, 12);
    assert_int_equal(pnc_io_range_join((pnc_range){0, 0}, (pnc_range){7, 12}).low, 7);
    assert_int_equal(pnc_io_range_join((pnc_range){7, 12}, (pnc_range){0, 0}).low, 7);
}

static void test_hints(void **state)
{
    pnc_access_pattern small = pattern_of(PNC_PUT, 64, 8, 512, 2 << 20), one = pattern_of(PNC_PUT, 1, 1, 512, 1 << 20);
    pnc_access_hints hints = none;

    (void)state;
    for (int i = 1; pnc_strategy_names[i] != NULL; i++) {
        hints.strategy = i;
        small.ranks_apart = small.same = true;
        assert_int_equal(choose_one(&small, &hints), i - 1);
        small.same = small.ranks_apart = small.all_nodes = small.has_mpi_io = false;
        if (pnc_io_strategy_is_collective((pnc_strategy)(i - 1))) /* what is not possible */
            assert_int_equal(choose_one(&small, &hints), PNC_TWO_PHASE);
        small.all_nodes = small.has_mpi_io = true;
        if (pnc_io_strategy_is_collective((pnc_strategy)(i - 1)))
            assert_int_equal(choose_one(&one, &hints), PNC_DIRECT);
    }
    hints = (pnc_access_hints){.cb_write = PNC_DISABLE};
    assert_int_equal(choose_one(&small, &hints), PNC_DIRECT);
    hints = (pnc_access_hints){.cb_read = PNC_DISABLE};
    assert_int_equal(choose_one(&small, &hints), PNC_TWO_PHASE);
    small.runs = 1;
    small.bytes = INT64_C(1) << 30;
    hints = (pnc_access_hints){.cb_write = PNC_ENABLE};
    assert_int_equal(choose_one(&small, &hints), PNC_TWO_PHASE);
    hints = (pnc_access_hints){.no_independent = 1};
    assert_int_equal(choose_one(&small, &hints), PNC_TWO_PHASE);
}

/* All ranks get the same bytes: the figures of costs.c decide. 1 MiB in one run takes two accesses and 5 ms for a lock,
 * and more on eight nodes; shared it takes two accesses, and 0.6 ms to copy, send and wait. */
static void test_same(void **state)
{
    pnc_access_pattern p = pattern_of(PNC_GET, 64, 8, 1, 1 << 20), put = pattern_of(PNC_PUT, 64, 8, 1, 1 << 20);
    pnc_access_hints hints = none;
    pnc_costs costs;
    double shared;

    (void)state;
    assert_int_equal(pnc_io_strategy_choose_independent(&p, &none), PNC_STRATEGIES); /* 7 ms, 5 of them for a lock */
    assert_true(pnc_io_strategy_may_share(&p, &none, PNC_DIRECT));
    assert_false(pnc_io_strategy_may_share(&put, &none, PNC_DIRECT));
    p.same = true;
    shared = pnc_io_strategy_compute_cost(PNC_SHARED, &p).seconds;
    assert_true(shared > 2.6e-3 && shared < 2.7e-3);
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_SHARED);
    p.same = false;
    assert_int_equal(pnc_io_strategy_choose_collective(&p, &none), PNC_TWO_PHASE);
    assert_true(pnc_io_costs_parse("sent_ps:1000000", &costs)); /* 1 s for 1 MiB */
    p.given = &costs;
    assert_false(pnc_io_strategy_may_share(&p, &none, PNC_DIRECT));
    p.given = NULL;
    p.runs = p.reads = 1000; /* an aggregator reads them in one access */
    assert_false(pnc_io_strategy_may_share(&p, &none, PNC_STRATEGIES));
    p.runs = p.reads = 1;
    assert_true(pnc_io_strategy_may_share(&p, &none, PNC_STRATEGIES));
    hints.cb_read = PNC_ENABLE;
    assert_false(pnc_io_strategy_may_share(&p, &hints, PNC_STRATEGIES));
    hints = (pnc_access_hints){.strategy = PNC_DIRECT + 1};
    assert_false(pnc_io_strategy_may_share(&p, &hints, PNC_DIRECT));
    p.nnodes = 1;
    assert_false(pnc_io_strategy_may_share(&p, &none, PNC_DIRECT));
    hints.strategy = PNC_SHARED + 1;
    assert_true(pnc_io_strategy_may_share(&p, &hints, PNC_STRATEGIES));
    p.bytes = 0;
    assert_false(pnc_io_strategy_may_share(&p, &hints, PNC_STRATEGIES));
}

static void test_readers(void **state)
{
    (void)state;
    assert_int_equal(pnc_io_shared_count_readers(4 << 20, 4 << 20, 8, 1 << 20), 1);
    assert_int_equal(pnc_io_shared_count_readers((4 << 20) + 1, 4 << 20, 8, 1 << 20), 4);
    assert_int_equal(pnc_io_shared_count_readers(1 << 30, 4 << 20, 3, 1 << 20), 3);
    assert_int_equal(pnc_io_shared_count_readers(1 << 30, 4 << 20, 8, 2 << 20), 2);
    assert_int_equal(pnc_io_shared_count_readers(1 << 30, 4 << 20, 8, 8 << 20), 1);
    assert_int_equal(pnc_io_shared_count_readers(1 << 20, 8192, 8, 4096), 2);
}

static void test_costs(void **state)
{
    static const char *const wrong[] = {"",          "run_ns",
                                        "run_ns:",   "run_ns:0",
                                        "run_ns:-1", "run:7",
                                        "run_ns:7,", "run_ns:7;sent_ps:1",
                                        "run_ns:7 ", "run_ns:7,nonsense:1"};
    pnc_access_pattern p = pattern_of(PNC_PUT, 2, 1, 4, 4 * 64);
    pnc_costs costs, again;
    char text[PNC_COSTS_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pnc_io_costs_parse(wrong[i], &costs));
    assert_true(costs.run == 0);
    for (int nnodes = 1; nnodes < 3; nnodes++) {
        pnc_io_costs_print(pnc_io_costs_find(true, nnodes), text);
        assert_true(strlen(text) < PNC_COSTS_TEXT - 1);
    }
    assert_true(pnc_io_costs_parse(text, &costs)); /* no figure of several nodes is 0 */
    pnc_io_costs_print(&costs, text);
    assert_true(pnc_io_costs_parse(text, &again));
    assert_memory_equal(&costs, &again, sizeof costs);
    assert_int_equal(choose_one(&p, &none), PNC_DIRECT);
    assert_true(pnc_io_costs_parse("synchronisation_ns:1,access_ns:5000", &costs));
    p.given = &costs;
    assert_true(pnc_io_costs_get(&p).run > 0); /* as without the hint */
    assert_int_equal(choose_one(&p, &none), PNC_TWO_PHASE);
}

/* More runs never make a rank prefer direct access; more bytes never make it prefer aggregators. */
static void test_monotonic(void **state)
{
    (void)state;
    for (int nnodes = 1; nnodes <= 64; nnodes *= 4)
        for (int64_t bytes = 1 << 10; bytes < INT64_C(1) << 36; bytes *= 4) {
            bool collective = false;

            for (int64_t runs = 1; runs <= bytes; runs *= 4) {
                bool now = pnc_io_strategy_is_collective(choose(PNC_PUT, nnodes * 8, nnodes, runs, bytes));

                assert_true(now || !collective);
                collective = now;
            }
            assert_true(collective);
        }
}

static void test_fit(void **state)
{
    (void)state;
    assert_int_equal(pnc_io_file_domains_choose_count(8, 0), 8);
    assert_int_equal(pnc_io_file_domains_choose_count(10, 8), 8);
    assert_int_equal(pnc_io_file_domains_choose_count(20, 8), 16);
    assert_int_equal(pnc_io_file_domains_choose_count(10, 48), 8);
    assert_int_equal(pnc_io_file_domains_choose_count(6, 7), 6);
}

static int count_aggregators(int nnodes, int nranks, int64_t servers, const pnc_access_hints *hints)
{
    int all = 0;

    for (int i = 0; i < nnodes; i++) {
        pnc_node_shape shape = {nnodes, i, nranks / nnodes, nranks, INT64_MAX, servers};

        all += pnc_io_aggregators_count(&shape, hints);
    }
    return all;
}

/* One for each 16 ranks of a node, at most 8, and at most 8 of a server if there are more than nodes. */
static void test_aggregators_of_nodes(void **state)
{
    const pnc_access_hints one = {.aggregators_a_node = 1}, total = {.aggregators = 20};

    (void)state;
    assert_int_equal(count_aggregators(1, 7, 0, &none), 7);
    assert_int_equal(count_aggregators(8, 64, 0, &none), 8);
    assert_int_equal(count_aggregators(10, 480, 0, &none), 30);
    assert_int_equal(count_aggregators(10, 1280, 0, &none), 80);
    assert_int_equal(count_aggregators(10, 2560, 0, &none), 80);
    assert_int_equal(count_aggregators(10, 1280, 80, &none), 80);
    assert_int_equal(count_aggregators(10, 1280, 3, &none), 18);
    assert_int_equal(count_aggregators(10, 1280, 1, &none), 10);
    assert_int_equal(count_aggregators(10, 1280, 0, &one), 10);
    assert_int_equal(count_aggregators(10, 1280, 0, &total), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_accesses_of_servers),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_comparison_on_one_node),
        cmocka_unit_test(test_one_hyperslab),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_monotonic),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_aggregators_of_nodes),
        cmocka_unit_test(test_collective),
        cmocka_unit_test(test_ranks_apart),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_range_lengths),
        cmocka_unit_test(test_default_buffers),
        cmocka_unit_test(test_large_buffers),
        cmocka_unit_test(test_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

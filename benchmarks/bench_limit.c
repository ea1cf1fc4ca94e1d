/* The raw limits: conversion and byte swap in pieces that stay in cache, fused with pread and pwrite. No library, no
   MPI-IO: the fastest known plain code for the same extents. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif
#include "bench_limit.h"

#include <errno.h>
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench_measure.h"

#define TARGET
#define NAME(x) x##_plain
#include "bench_kernels.inc"
#undef TARGET
#undef NAME

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#include "bench_kernels.inc"
#undef TARGET
#undef NAME
#endif

static struct {
    char *piece;
    size_t bytes;
    const struct bench_codec *codecs;
    /* to[c][r] = swapped from[r][c] for 8-byte values; steps between rows in elements */
    void (*transpose)(const uint64_t *from, size_t from_step, uint64_t *to, size_t to_step, size_t rows, size_t cols);
} limit;

static void transpose_edge(const uint64_t *from, size_t from_step, uint64_t *to, size_t to_step, size_t rows,
                           size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            to[c * to_step + r] = __builtin_bswap64(from[r * from_step + c]);
}

/* 8 x 8 tiles: whole cache lines on both sides. */
static void transpose_plain(const uint64_t *from, size_t from_step, uint64_t *to, size_t to_step, size_t rows,
                            size_t cols)
{
    for (size_t r = 0; r < rows; r += 8)
        for (size_t c = 0; c < cols; c += 8)
            transpose_edge(from + r * from_step + c, from_step, to + c * to_step + r, to_step,
                           rows - r < 8 ? rows - r : 8, cols - c < 8 ? cols - c : 8);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static inline void transpose4_avx2(const uint64_t *from, size_t from_step, uint64_t *to,
                                                                   size_t to_step)
{
    const __m256i order = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                                           15, 14, 13, 12, 11, 10, 9, 8);
    __m256i row[4];
    for (int i = 0; i < 4; i++)
        row[i] = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(from + (size_t)i * from_step)), order);
    __m256i a = _mm256_unpacklo_epi64(row[0], row[1]), b = _mm256_unpackhi_epi64(row[0], row[1]);
    __m256i c = _mm256_unpacklo_epi64(row[2], row[3]), d = _mm256_unpackhi_epi64(row[2], row[3]);
    _mm256_storeu_si256((__m256i *)to, _mm256_permute2x128_si256(a, c, 0x20));
    _mm256_storeu_si256((__m256i *)(to + to_step), _mm256_permute2x128_si256(b, d, 0x20));
    _mm256_storeu_si256((__m256i *)(to + 2 * to_step), _mm256_permute2x128_si256(a, c, 0x31));
    _mm256_storeu_si256((__m256i *)(to + 3 * to_step), _mm256_permute2x128_si256(b, d, 0x31));
}

__attribute__((target("avx2"))) static void transpose_avx2(const uint64_t *from, size_t from_step, uint64_t *to,
                                                           size_t to_step, size_t rows, size_t cols)
{
    size_t r = 0, c = 0;
    for (r = 0; r + 8 <= rows; r += 8) {
        for (c = 0; c + 8 <= cols; c += 8)
            for (size_t half = 0; half < 4; half++) {
                size_t dr = half / 2 * 4, dc = half % 2 * 4;
                transpose4_avx2(from + (r + dr) * from_step + c + dc, from_step, to + (c + dc) * to_step + r + dr,
                                to_step);
            }
        transpose_edge(from + r * from_step + c, from_step, to + c * to_step + r, to_step, 8, cols - c);
    }
    transpose_plain(from + r * from_step, from_step, to + r, to_step, rows - r, cols);
}
#endif

void bench_limit_init(size_t piece_bytes)
{
    limit.bytes = piece_bytes;
    if (posix_memalign((void **)&limit.piece, 4096, piece_bytes))
        bench_fail("no memory for a piece of %zu bytes", piece_bytes);
    memset(limit.piece, 0, piece_bytes);
    limit.codecs = codecs_plain;
    limit.transpose = transpose_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        limit.codecs = codecs_avx2;
        limit.transpose = transpose_avx2;
    }
#endif
}

void bench_limit_free(void)
{
    free(limit.piece);
}

const struct bench_codec *bench_codec_find(const char *memory, const char *external)
{
    for (size_t i = 0; i < sizeof codecs_plain / sizeof *codecs_plain; i++)
        if (!strcmp(limit.codecs[i].memory, memory) && !strcmp(limit.codecs[i].external, external))
            return &limit.codecs[i];
    return NULL;
}

void bench_pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    for (const char *p = from; bytes > 0;) {
        ssize_t done = pwrite(fd, p, bytes, at);
        if (done <= 0)
            bench_fail("pwrite of %zu bytes at %lld: %s", bytes, (long long)at, strerror(errno));
        p += done;
        at += done;
        bytes -= (size_t)done;
    }
}

void bench_pread(int fd, void *to, size_t bytes, off_t at)
{
    for (char *p = to; bytes > 0;) {
        ssize_t done = pread(fd, p, bytes, at);
        if (done <= 0)
            bench_fail("pread of %zu bytes at %lld: %s", bytes, (long long)at, done ? strerror(errno) : "end of file");
        p += done;
        at += done;
        bytes -= (size_t)done;
    }
}

static void put_run(const struct bench_plan *plan, const char *from, size_t n, off_t at)
{
    const struct bench_codec *codec = plan->codec;
    size_t most = limit.bytes / codec->external_size;
    if (!codec->put) {
        bench_pwrite(plan->fd, from, n, at);
        return;
    }
    for (size_t part; n > 0; n -= part) {
        part = n < most ? n : most;
        if (codec->put(from, limit.piece, part))
            bench_fail("the limit found a value out of range: %s to %s", codec->memory, codec->external);
        bench_pwrite(plan->fd, limit.piece, part * codec->external_size, at);
        from += part * codec->memory_size;
        at += (off_t)(part * codec->external_size);
    }
}

static void get_run(const struct bench_plan *plan, char *to, size_t n, off_t at)
{
    const struct bench_codec *codec = plan->codec;
    size_t most = limit.bytes / codec->external_size;
    if (!codec->swap && !codec->get) {
        bench_pread(plan->fd, to, n, at);
        return;
    }
    for (size_t part; n > 0; n -= part) {
        part = n < most ? n : most;
        bench_pread(plan->fd, codec->swap ? to : limit.piece, part * codec->external_size, at);
        if (codec->swap)
            codec->swap(to, part);
        else if (codec->get(limit.piece, to, part))
            bench_fail("the limit found a value out of range: %s to %s", codec->external, codec->memory);
        to += part * codec->memory_size;
        at += (off_t)(part * codec->external_size);
    }
}

/* Rows that are adjacent in the file but not in memory: as many rows as fit go into one piece. */
static void packed_rows(const struct bench_plan *plan, char *memory, int put)
{
    const struct bench_codec *codec = plan->codec;
    size_t row = plan->run * codec->external_size, most = limit.bytes / row;
    size_t pitch = plan->memory_row * codec->memory_size;
    bench_convert_fn *get = codec->get ? codec->get : codec->put; /* a byte swap is its own inverse */
    for (size_t first = 0, n; first < plan->rows; first += n) {
        n = plan->rows - first < most ? plan->rows - first : most;
        off_t at = plan->base + (off_t)(first * row);
        if (put) {
            for (size_t i = 0; i < n; i++)
                codec->put(memory + (first + i) * pitch, limit.piece + i * row, plan->run);
            bench_pwrite(plan->fd, limit.piece, n * row, at);
            continue;
        }
        bench_pread(plan->fd, limit.piece, n * row, at);
        for (size_t i = 0; i < n; i++)
            get(limit.piece + i * row, memory + (first + i) * pitch, plan->run);
    }
}

static void transposed_rows(const struct bench_plan *plan, uint64_t *memory, int put)
{
    size_t row = plan->run * sizeof *memory, most = limit.bytes / row & ~(size_t)7;
    most = most ? most : 1;
    for (size_t first = 0, n; first < plan->rows; first += n) {
        n = plan->rows - first < most ? plan->rows - first : most;
        off_t at = plan->base + (off_t)(first * row);
        uint64_t *piece = (uint64_t *)limit.piece;
        if (put) {
            limit.transpose(memory + first, plan->rows, piece, plan->run, plan->run, n);
            bench_pwrite(plan->fd, piece, n * row, at);
        } else {
            bench_pread(plan->fd, piece, n * row, at);
            limit.transpose(piece, plan->run, memory + first, plan->rows, n, plan->run);
        }
    }
}

/* Strides of 8-byte values: read a piece with its gaps, put or take the elements, write it back. */
static void strided_run(const struct bench_plan *plan, uint64_t *memory, int put)
{
    uint64_t *piece = (uint64_t *)limit.piece;
    size_t stride = plan->stride, most = limit.bytes / sizeof *piece / stride;
    for (size_t first = 0, n; first < plan->run; first += n) {
        n = plan->run - first < most ? plan->run - first : most;
        size_t span = ((n - 1) * stride + 1) * sizeof *piece;
        off_t at = plan->base + (off_t)(first * stride * sizeof *piece);
        bench_pread(plan->fd, piece, span, at);
        for (size_t i = 0; i < n; i++)
            if (put)
                piece[i * stride] = __builtin_bswap64(memory[first + i]);
            else
                memory[first + i] = __builtin_bswap64(piece[i * stride]);
        if (put)
            bench_pwrite(plan->fd, piece, span, at);
    }
}

static void special_or_runs(const struct bench_plan *plan, char *memory, int put)
{
    const struct bench_codec *codec = plan->codec;
    off_t run = (off_t)(plan->run * codec->external_size);
    if (plan->transposed) {
        transposed_rows(plan, (uint64_t *)(void *)memory, put);
        return;
    }
    if (plan->stride > 1) {
        strided_run(plan, (uint64_t *)(void *)memory, put);
        return;
    }
    if (plan->planes == 1 && plan->rows > 1 && plan->row_step == run && run <= (off_t)limit.bytes) {
        packed_rows(plan, memory, put);
        return;
    }
    for (size_t p = 0; p < plan->planes; p++)
        for (size_t r = 0; r < plan->rows; r++) {
            char *row = memory + (p * plan->memory_plane + r * plan->memory_row) * codec->memory_size;
            off_t at = plan->base + (off_t)p * plan->plane_step + (off_t)r * plan->row_step;
            if (put)
                put_run(plan, row, plan->run, at);
            else
                get_run(plan, row, plan->run, at);
        }
}

void bench_limit_put(const struct bench_plan *plan, const void *source)
{
    special_or_runs(plan, (char *)(size_t)source, 1); /* put only reads it */
}

void bench_limit_get(const struct bench_plan *plan, void *sink)
{
    special_or_runs(plan, sink, 0);
}

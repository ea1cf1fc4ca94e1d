/* Writes of metadata that wait for a commit. */
#include "formats/netcdf4/unwritten.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* The first page whose number is not less. */
static int64_t find_page(const pnc_unwritten *p, int64_t number)
{
    int64_t low = 0, high = p->n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (p->pages[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static pnc_unwritten_page *get_page(const pnc_unwritten *p, int64_t number)
{
    int64_t at = find_page(p, number);

    return at < p->n && p->pages[at]->number == number ? p->pages[at] : NULL;
}

static pnc_unwritten_page *insert_page(pnc_unwritten *p, int64_t number)
{
    int64_t at = find_page(p, number);
    pnc_unwritten_page *page;

    if (at < p->n && p->pages[at]->number == number)
        return p->pages[at];
    page = pnc_memory_grow(&p->pages, &p->capacity, p->n + 1, sizeof(pnc_unwritten_page *))
               ? pnc_memory_alloc(1, sizeof *page)
               : NULL;
    if (page == NULL)
        return NULL;
    page->number = number;
    memset(page->marks, 0, sizeof page->marks);
    memmove(&p->pages[at + 1], &p->pages[at], (size_t)(p->n - at) * sizeof(pnc_unwritten_page *));
    p->pages[at] = page;
    p->n++;
    return page;
}

static void mark_bytes(pnc_unwritten_page *page, int64_t first, int64_t n)
{
    for (int64_t some; n > 0; first += some, n -= some) {
        int64_t shift = first % PNC_UNWRITTEN_WORD;

        some = pnc_min64(PNC_UNWRITTEN_WORD - shift, n);
        page->marks[first / PNC_UNWRITTEN_WORD] |= ~UINT64_C(0) >> (PNC_UNWRITTEN_WORD - some) << shift;
    }
}

/* The first byte from `at` on that is marked, or that is not; the end of the page if there is none. */
static int64_t find_byte(const pnc_unwritten_page *page, int64_t at, bool is_marked)
{
    while (at < PNC_UNWRITTEN_PAGE) {
        uint64_t word = page->marks[at / PNC_UNWRITTEN_WORD];

        word = (is_marked ? word : ~word) >> at % PNC_UNWRITTEN_WORD;
        if (word != 0)
            return at + __builtin_ctzll(word);
        at += PNC_UNWRITTEN_WORD - at % PNC_UNWRITTEN_WORD;
    }
    return PNC_UNWRITTEN_PAGE;
}

/* The part of an extent in its first page, which is taken off. */
typedef struct page_part {
    int64_t number, within, n;
} page_part;

static page_part take_page_part(pnc_extent *rest)
{
    page_part part = {.number = rest->offset / PNC_UNWRITTEN_PAGE, .within = rest->offset % PNC_UNWRITTEN_PAGE};

    part.n = pnc_min64(rest->length, PNC_UNWRITTEN_PAGE - part.within);
    rest->offset += part.n;
    rest->length -= part.n;
    return part;
}

bool pnc_netcdf4_unwritten_write(pnc_unwritten *p, pnc_extent extent, const void *bytes)
{
    const char *from = bytes;

    while (extent.length > 0) {
        page_part part = take_page_part(&extent);
        pnc_unwritten_page *page = insert_page(p, part.number);

        if (page == NULL)
            return false;
        memcpy(page->bytes + part.within, from, (size_t)part.n);
        mark_bytes(page, part.within, part.n);
        from += part.n;
    }
    return true;
}

bool pnc_netcdf4_unwritten_has(const pnc_unwritten *p, pnc_extent extent)
{
    while (extent.length > 0) {
        page_part part = take_page_part(&extent);
        const pnc_unwritten_page *page = get_page(p, part.number);

        if (page == NULL || find_byte(page, part.within, false) < part.within + part.n)
            return false;
    }
    return true;
}

static void copy_marked(const pnc_unwritten_page *page, const page_part *part, char *out)
{
    int64_t end = part->within + part->n, next;

    for (int64_t at = find_byte(page, part->within, true); at < end; at = find_byte(page, next, true)) {
        next = pnc_min64(find_byte(page, at, false), end);
        memcpy(out + (at - part->within), page->bytes + at, (size_t)(next - at));
    }
}

void pnc_netcdf4_unwritten_read(const pnc_unwritten *p, pnc_extent extent, void *to)
{
    char *out = to;

    while (extent.length > 0) {
        page_part part = take_page_part(&extent);
        const pnc_unwritten_page *page = get_page(p, part.number);

        if (page != NULL)
            copy_marked(page, &part, out);
        out += part.n;
    }
}

int64_t pnc_netcdf4_unwritten_get_bytes(const pnc_unwritten *p)
{
    return p->n * (int64_t)sizeof(pnc_unwritten_page);
}

/* The next run of marks at or after *at of a page; false: there is none. */
static bool find_run(const pnc_unwritten_page *page, int64_t *at, int64_t *length)
{
    *at = find_byte(page, *at, true);
    *length = find_byte(page, *at, false) - *at;
    return *length > 0;
}

/* Both may be NULL, to count. */
static void list_runs(const pnc_unwritten *p, pnc_extent *extents, char *bytes, int64_t *n, int64_t *nbytes)
{
    int64_t end = -1, length;

    *n = *nbytes = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const pnc_unwritten_page *page = p->pages[i];

        for (int64_t at = 0; at < PNC_UNWRITTEN_PAGE && find_run(page, &at, &length); at += length) {
            int64_t offset = page->number * PNC_UNWRITTEN_PAGE + at;

            if (offset != end) {
                (*n)++;
                if (extents != NULL)
                    extents[*n - 1] = (pnc_extent){offset, 0};
            }
            if (extents != NULL) {
                extents[*n - 1].length += length;
                memcpy(bytes + *nbytes, page->bytes + at, (size_t)length);
            }
            *nbytes += length;
            end = offset + length;
        }
    }
}

bool pnc_netcdf4_unwritten_list(const pnc_unwritten *p, pnc_extent **extents, int64_t *n, char **bytes)
{
    int64_t nbytes;

    list_runs(p, NULL, NULL, n, &nbytes);
    *extents = pnc_memory_alloc(*n, sizeof **extents);
    *bytes = pnc_memory_alloc(nbytes, 1);
    if (*extents != NULL && *bytes != NULL) {
        list_runs(p, *extents, *bytes, n, &nbytes);
        return true;
    }
    pnc_memory_free(*extents);
    pnc_memory_free(*bytes);
    return false;
}

void pnc_netcdf4_unwritten_clear(pnc_unwritten *p)
{
    for (int64_t i = 0; i < p->n; i++)
        pnc_memory_free(p->pages[i]);
    pnc_memory_free(p->pages);
    *p = (pnc_unwritten){0};
}

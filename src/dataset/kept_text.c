/* Texts that stay until the program ends. A thread may pass the address of one to another, and end: so a text is not
 * changed and not freed, and their number is bounded. */
#include "dataset/kept_text.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#define MOST_TEXTS 1000

typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;

/* Newest first. Nothing is removed, so that a reader needs no lock. */
static _Atomic(kept_text *) newest;
static atomic_int text_count;

static const char *find_text(const char *text)
{
    for (const kept_text *at = atomic_load(&newest); at != NULL; at = at->next)
        if (strcmp(at->text, text) == 0)
            return at->text;
    return NULL;
}

const char *pnc_dataset_text_keep(const char *text, const char *otherwise)
{
    const char *found = find_text(text);
    size_t bytes = strlen(text) + 1;
    kept_text *added;

    if (found != NULL)
        return found;
    if (atomic_load(&text_count) >= MOST_TEXTS)
        return otherwise;
    added = pnc_memory_alloc((int64_t)(sizeof *added + bytes), 1);
    if (added == NULL)
        return otherwise;
    atomic_fetch_add(&text_count, 1);
    memcpy(added->text, text, bytes);
    added->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &added->next, added)) {
    }
    return added->text;
}

/* The bytes of the journal. Numbers are big-endian, as in headers. */
#include "growth/journal.h"

#include <string.h>

#include "base/digest.h"

enum { NUMBERS = 8 };

static const char magic[9] = "PNCgrow1";

static char *put64(char *to, int64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)((uint64_t)value >> (56 - 8 * i));
    return to + 8;
}

static int64_t get64(const char *from)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | (unsigned char)from[i];
    return (int64_t)value;
}

static int64_t digest(const char *bytes, int64_t n)
{
    return (int64_t)pnc_digest_add(PNC_DIGEST_START, bytes, n);
}

int64_t pnc_growth_journal_get_size(const pnc_journal *j)
{
    return PNC_JOURNAL_SLOTS + j->old_header + j->new_header + j->nvars + PNC_JOURNAL_FOOT;
}

int64_t pnc_growth_journal_get_end(const pnc_journal *j)
{
    return j->at + pnc_growth_journal_get_size(j);
}

/* In their order in the foot of the journal. */
static void list_numbers(const pnc_journal *j, int64_t *numbers)
{
    const int64_t list[NUMBERS] = {j->old_size, j->new_size,   j->scratch,    j->half,
                                   j->at,       j->old_header, j->new_header, j->nvars};

    memcpy(numbers, list, sizeof list);
}

void pnc_growth_journal_encode(const pnc_journal *j, char *bytes)
{
    int64_t numbers[NUMBERS];
    int64_t n = pnc_growth_journal_get_size(j);
    char *to = bytes + n - PNC_JOURNAL_FOOT;

    list_numbers(j, numbers);
    memcpy(to, magic, 8);
    to += 8;
    for (size_t i = 0; i < NUMBERS; i++)
        to = put64(to, numbers[i]);
    put64(to, digest(bytes + PNC_JOURNAL_SLOTS, to - bytes - PNC_JOURNAL_SLOTS));
}

/* No number of a damaged file leads to an overflow or to more memory than the file has bytes. */
static bool is_possible(const pnc_journal *j, int64_t file_size)
{
    int64_t numbers[NUMBERS];

    list_numbers(j, numbers);
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i] < 0 || numbers[i] > file_size)
            return false;
    return file_size < INT64_MAX / 8 && j->old_size <= j->new_size && j->new_size <= j->scratch &&
           j->scratch + 2 * j->half == j->at && pnc_growth_journal_get_end(j) == file_size;
}

bool pnc_growth_journal_decode(const char *foot, int64_t file_size, pnc_journal *out)
{
    pnc_journal j = {get64(foot + 8),  get64(foot + 16), get64(foot + 24), get64(foot + 32),
                     get64(foot + 40), get64(foot + 48), get64(foot + 56), get64(foot + 64)};

    if (memcmp(foot, magic, 8) != 0 || !is_possible(&j, file_size))
        return false;
    *out = j;
    return true;
}

bool pnc_growth_journal_is_whole(const pnc_journal *j, const char *bytes)
{
    int64_t n = pnc_growth_journal_get_size(j);

    return get64(bytes + n - 8) == digest(bytes + PNC_JOURNAL_SLOTS, n - 8 - PNC_JOURNAL_SLOTS);
}

int64_t pnc_growth_state_encode(const pnc_growth_state *state, int64_t seq, char *slot)
{
    char *to = slot;

    memset(slot, 0, PNC_JOURNAL_SLOT);
    to = put64(to, seq);
    to = put64(to, state->first);
    to = put64(to, state->end);
    to = put64(to, state->half);
    put64(to, digest(slot, to - slot));
    return seq % 2 * PNC_JOURNAL_SLOT;
}

bool pnc_growth_state_decode(const char *slots, int64_t *seq, pnc_growth_state *out)
{
    *seq = -1;
    for (const char *slot = slots; slot < slots + PNC_JOURNAL_SLOTS; slot += PNC_JOURNAL_SLOT) {
        if (get64(slot + 32) != digest(slot, 32) || get64(slot) <= *seq)
            continue;
        *seq = get64(slot);
        *out = (pnc_growth_state){get64(slot + 8), get64(slot + 16), get64(slot + 24)};
    }
    return *seq >= 0;
}

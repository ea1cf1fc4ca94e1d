/* The bytes of the journal. Numbers are big-endian, as in headers. */
#include "growth/journal.h"

#include <string.h>

#include "growth/life.h"
#include "growth/number.h"

enum { NUMBERS = 8 };

/* With slots for the owner, and without. */
static const char magic[9] = "PNCgrow2", magic_without[9] = "PNCgrow1";

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

void pnc_growth_journal_encode_foot(const pnc_journal *j, pnc_growth_digest *digest, char *foot)
{
    int64_t numbers[NUMBERS];
    char *to = foot + 8;

    list_numbers(j, numbers);
    memcpy(foot, j->owner >= 0 ? magic : magic_without, 8);
    for (size_t i = 0; i < NUMBERS; i++)
        to = pnc_growth_number_encode(to, numbers[i]);
    pnc_growth_digest_add(digest, foot, to - foot);
    pnc_growth_number_encode(to, pnc_growth_digest_end(digest));
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
           j->old_header <= j->old_size && j->new_header <= j->new_size &&
           j->scratch + 2 * j->half + (j->owner >= 0 ? PNC_OWNER_BYTES : 0) == j->at &&
           pnc_growth_journal_get_end(j) == file_size;
}

bool pnc_growth_journal_decode(const char *foot, int64_t file_size, pnc_journal *out)
{
    bool has_owner = memcmp(foot, magic, 8) == 0;
    pnc_journal j = {.old_size = pnc_growth_number_decode(foot + 8),
                     .new_size = pnc_growth_number_decode(foot + 16),
                     .scratch = pnc_growth_number_decode(foot + 24),
                     .half = pnc_growth_number_decode(foot + 32),
                     .at = pnc_growth_number_decode(foot + 40),
                     .old_header = pnc_growth_number_decode(foot + 48),
                     .new_header = pnc_growth_number_decode(foot + 56),
                     .nvars = pnc_growth_number_decode(foot + 64)};

    if (!has_owner && memcmp(foot, magic_without, 8) != 0)
        return false;
    j.owner = has_owner ? 0 : -1;
    if (!is_possible(&j, file_size))
        return false;
    j.owner = has_owner ? j.at - PNC_OWNER_BYTES : -1;
    *out = j;
    return true;
}

bool pnc_growth_journal_is_whole(const pnc_journal *j, const char *bytes)
{
    int64_t n = pnc_growth_journal_get_size(j);

    return pnc_growth_number_decode(bytes + n - 8) ==
           pnc_growth_digest_get(bytes + PNC_JOURNAL_SLOTS, n - 8 - PNC_JOURNAL_SLOTS);
}

int64_t pnc_growth_state_encode(const pnc_growth_state *state, int64_t seq, char *slot)
{
    char *to = slot;

    memset(slot, 0, PNC_JOURNAL_SLOT);
    to = pnc_growth_number_encode(to, seq);
    to = pnc_growth_number_encode(to, state->first);
    to = pnc_growth_number_encode(to, state->end);
    to = pnc_growth_number_encode(to, state->half);
    pnc_growth_number_encode(to, pnc_growth_digest_get(slot, to - slot));
    return seq % 2 * PNC_JOURNAL_SLOT;
}

bool pnc_growth_state_decode(const char *slots, int64_t *seq, pnc_growth_state *out)
{
    *seq = -1;
    for (const char *slot = slots; slot < slots + PNC_JOURNAL_SLOTS; slot += PNC_JOURNAL_SLOT) {
        if (pnc_growth_number_decode(slot + 32) != pnc_growth_digest_get(slot, 32) ||
            pnc_growth_number_decode(slot) <= *seq ||
            pnc_growth_number_decode(slot) % 2 != (slot - slots) / PNC_JOURNAL_SLOT)
            continue;
        *seq = pnc_growth_number_decode(slot);
        *out = (pnc_growth_state){pnc_growth_number_decode(slot + 8), pnc_growth_number_decode(slot + 16),
                                  pnc_growth_number_decode(slot + 24)};
    }
    return *seq >= 0;
}

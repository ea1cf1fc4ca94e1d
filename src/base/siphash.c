/* Keys that cannot be guessed. */
#include "config.h"

#include "base/siphash.h"

#include <time.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

/* Where the system has no random numbers (C libraries of before 2017): what differs from run to run, and from table to
 * table, is harder to guess than a constant. */
static pnc_siphash_key make_guessable(void)
{
    struct timespec now = {0, 0};
    pnc_siphash_key key;

    clock_gettime(CLOCK_REALTIME, &now);
    key.low = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    key.high = (uint64_t)(uintptr_t)&key ^ (uint64_t)clock() << 32;
    return key;
}

pnc_siphash_key pnc_siphash_key_make(void)
{
#ifdef HAVE_GETENTROPY
    pnc_siphash_key key;

    if (getentropy(&key, sizeof key) == 0)
        return key;
#endif
    return make_guessable();
}

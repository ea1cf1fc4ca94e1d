/* Locks by which the programs that change a file show that they run: what is asked for, and what follows. */
#ifndef PNC_BASE_HOLD_H
#define PNC_BASE_HOLD_H

typedef enum pnc_hold {
    PNC_HOLD_NOTHING, /* release */
    PNC_HOLD_SHARED,
    PNC_HOLD_EXCLUSIVE,
    PNC_HOLD_INQUIRE /* whether it could be held exclusively; nothing changes */
} pnc_hold;

/* UNKNOWN: the file has no such locks. */
typedef enum pnc_held { PNC_HELD, PNC_HELD_BY_OTHERS, PNC_HELD_UNKNOWN } pnc_held;

#endif

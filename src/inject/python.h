/* Where the calling thread stands in Python code, if the process is an interpreter of it.
 *
 * Nothing of Python is linked: the interpreter's functions are found in the process. Its lock is
 * not taken, since the thread may hold locks of the program's: a thread reads its own frames only,
 * which nobody else changes while it is in our hands. Where frames lie is known of the versions in
 * python.c; whether it is true here is seen in the first walk, which cannot fail hard. Where it is
 * not, stacks have no Python frames. */
#ifndef WL_INJECT_PYTHON_H
#define WL_INJECT_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* Puts Python's frames where the interpreter's own begin in a stack of `count` return addresses:
 * those are left out, with all that called them. A frame is CAP_FIRST_PLACE + the number of a place. At
 * most `limit` in all; returns how many there are. Needs no lock. */
uint32_t inj_python_frames(uint64_t *pcs, uint32_t count, uint32_t limit);

typedef struct inj_place {
    uint32_t number;
    const char *file, *function; /* as Python has them, in UTF-8; they last */
    uint32_t line;
} inj_place;

/* The place after number `last`, or false: there are no more yet. */
bool inj_python_place(uint32_t last, inj_place *out);
/* In a child after a fork: a thread that is gone may have held our lock. */
void inj_python_after_fork(void);

#endif

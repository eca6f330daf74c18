/* What of a state a kernel may write to: everything else, the room between tables above all, is as
 * the host left it. */
#ifndef TESTS_REWRITE_GUARDS_H
#define TESTS_REWRITE_GUARDS_H

#include "rewrite/layout.h"

enum { GUARD_BYTE = 0xa5 /* the pool is full of it before the launch; the rest is zero */ };

/* Fails the test where the launch wrote to bytes of the state that belong to no table, to elements
 * of a table that its object does not have, or to rows of the trace well after those that it
 * says it used. */
void check_guards(const char *kernel, const rewrite_copy *copy);

#endif

/* Memory that runs out at a chosen request, so that a test can try every failure in turn. Of a program
 * that links test_scarce, what its own parts ask of the heap and of arenas comes here; what libc
 * asks for itself does not. */
#ifndef TESTS_SUPPORT_SCARCE_H
#define TESTS_SUPPORT_SCARCE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the request number `n` (the first is 1) fails, and all others succeed; 0: none. */
void scarce_fail(size_t n);

/* Whether that request has come and failed. */
bool scarce_failed(void);

#endif

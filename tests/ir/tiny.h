/* A second front end, imagined: a language of eleven instructions, a line each, that is no PTX. */
#ifndef TESTS_IR_TINY_H
#define TESTS_IR_TINY_H

#include "ir/front.h"

/* A text of it begins with "tiny KERNEL PARAMETER...". Names are single letters; t, b, n, m, i are
 * 32-bit registers, all others are addresses. */
extern const ir_front tiny_front;

#endif

/* Compares modules: what was printed and parsed again must be what it was. */
#ifndef TESTS_PTX_EQUAL_H
#define TESTS_PTX_EQUAL_H

#include "ir/module.h"

#include <stdbool.h>

/* Equal in everything but positions. */
bool modules_equal(const ir_module *a, const ir_module *b);

#endif

/* What tests look up in a module, and nobody else does. */
#ifndef TESTS_SUPPORT_MODULE_H
#define TESTS_SUPPORT_MODULE_H

#include "ir/module.h"

#include <string.h>

/* The module's variable with this name that is defined there, else a declaration, else NULL. */
static inline const ir_var *module_var(const ir_module *module, const char *name)
{
    const ir_var *declared = NULL;
    for (uint32_t i = 0; i < module->nvars; i++) {
        const ir_var *var = module->vars[i];
        if (strcmp(var->name, name) != 0)
            continue;
        if (var->linkage != IR_LINK_EXTERN)
            return var;
        declared = var;
    }
    return declared;
}

#endif

/* Any bytes as PTX. */
#ifndef FUZZ_PTX_INPUT_H
#define FUZZ_PTX_INPUT_H

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* Calls `use` with the module where the bytes parse; `verified`: and where it is one that ptxas
 * would take. */
static void use_ptx(const uint8_t *data, size_t size,
                    void (*use)(const ir_module *module, bool verified))
{
    char *text = malloc(size + 1);
    ir_module *module;
    wl_error err;
    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = 0;
    if (ptx_parse(text, size, "input", &module, &err) == WL_OK) {
        use(module, ptx_verify(module, "input", &err) == WL_OK);
        ir_module_free(module);
    }
    free(text);
}

#endif

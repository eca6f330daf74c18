/* What parses must verify or be refused without harm, and print as PTX that parses to an equal
 * module. */
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const ptx_module *module)
{
    char *printed;
    size_t length;
    ptx_module *again;
    wl_error err;
    if (ptx_print(module, &printed, &length) != WL_OK)
        return;
    if (ptx_parse(printed, length, "printed", &again, &err) != WL_OK ||
        !ptx_module_equal(module, again))
        abort();
    ptx_module_free(again);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    ptx_module *module;
    wl_error err;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (ptx_parse(text, size, "input", &module, &err) == WL_OK) {
        (void)ptx_verify(module, "input", &err);
        check_round_trip(module);
        ptx_module_free(module);
    }
    free(text);
    return 0;
}

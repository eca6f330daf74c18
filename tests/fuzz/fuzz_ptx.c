/* What parses must verify or be refused without harm, and print as PTX that parses to an equal
 * module. */
#include "../ptx/equal.h"
#include "ptx_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const ir_module *module, bool verified)
{
    char *printed;
    size_t length;
    ir_module *again;
    wl_error err;
    (void)verified;
    if (ptx_print(module, &printed, &length) != WL_OK)
        return;
    if (ptx_parse(printed, length, "printed", &again, &err) != WL_OK ||
        !modules_equal(module, again))
        abort();
    ir_module_free(again);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_ptx(data, size, check_round_trip);
    return 0;
}

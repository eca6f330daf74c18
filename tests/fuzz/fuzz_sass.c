/* Any bytes as words of machine code, the first of which chooses the device: what is known of an instruction can be
 * printed, in whatever room there is. */
#include "sass/operands.h"

#include <stdlib.h>
#include <string.h>

static void check_print(const sass_details *insn, uint32_t sm)
{
    char whole[512], part[512];
    size_t length = sass_print(insn, sm, whole, sizeof whole);
    if (length >= sizeof whole || strlen(whole) != length)
        abort();
    for (size_t room = 1; room <= length; room += 7)
        if (sass_print(insn, sm, part, room) != length || strlen(part) != room - 1 ||
            memcmp(part, whole, room - 1) != 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t devices[] = {70, 80, 86, 89, 90, 100, 120};
    if (!size)
        return 0;
    uint32_t sm = devices[*data++ % (sizeof devices / sizeof *devices)];
    for (size_t i = 0; i < (size - 1) / SASS_BYTES; i++) {
        sass_details insn;
        bool known = sass_read(&data[i * SASS_BYTES], (uint32_t)i, sm, &insn);
        if (known != (insn.form != NULL) || insn.operands > SASS_MAX_OPERANDS ||
            insn.modifiers > SASS_MAX_MODIFIERS)
            abort();
        if (known)
            check_print(&insn, sm);
    }
    return 0;
}

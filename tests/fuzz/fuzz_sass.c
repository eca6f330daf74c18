/* Any bytes as words of machine code, the first of which chooses the device: what is known of an instruction can be
 * printed, in whatever room there is; taken for a kernel's code, what is lifted of them can be read as PTX. */
#include "ptx/ptx.h"
#include "sass/lift.h"
#include "sass/operands.h"

#include <stdio.h>

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

static void check_parse(const sass_lifted *lifted)
{
    ir_module *module;
    wl_error err;
    if (strlen(lifted->text) != lifted->length)
        abort();
    if (ptx_parse(lifted->text, lifted->length, "lifted", &module, &err) != WL_OK) {
        fputs(err.text, stderr);
        abort();
    }
    ir_module_free(module);
}

static void check_lift(const uint8_t *words, size_t size, uint32_t sm)
{
    static const unsigned char constants[256];
    sass_code code = {.sm = sm,
                      .registers = 40,
                      .stack = 64,
                      .count = (uint32_t)(size / SASS_BYTES),
                      .bytes = words,
                      .places = {.param_base = sm < 90    ? 0x160
                                               : sm < 100 ? 0x210
                                                          : 0x380,
                                 .param_bytes = 64,
                                 .shared = 2048}};
    wl_arena *arena = wl_arena_new();
    sass_lifted lifted;
    wl_error err;
    code.places.banks[3] = (sass_bank){constants, sizeof constants};
    code.insns = wl_new_array(arena, sass_insn, code.count + 1);
    for (uint32_t i = 0; i < code.count; i++)
        code.insns[i] = sass_decode(words + (size_t)i * SASS_BYTES, i, sm);
    if (sass_lift_code(&code, "kernel", arena, &lifted, &err) == WL_OK)
        check_parse(&lifted);
    wl_arena_free(arena);
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
    check_lift(data, size - 1, sm);
    return 0;
}

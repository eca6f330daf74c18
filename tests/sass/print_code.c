/* Prints the instructions of kernels as src/sass reads them: print_code CUBIN SM [--places] KERNEL... A line
 * "kernel NAME registers" for each, then one for each instruction: class, control flow, whether it is
 * conditional, target, line, name. */
#include "sass/code.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[SASS_COSTS] = {
    [IR_COST_INT] = "int",       [IR_COST_FP32] = "fp32",       [IR_COST_FP64] = "fp64",
    [IR_COST_HALF] = "half",     [IR_COST_SFU] = "sfu",         [IR_COST_CONVERT] = "convert",
    [IR_COST_MOVE] = "move",     [IR_COST_COMPARE] = "compare", [IR_COST_CONTROL] = "control",
    [IR_COST_MEMORY] = "memory", [IR_COST_ATOMIC] = "atomic",   [IR_COST_SYNC] = "sync",
    [IR_COST_TENSOR] = "tensor", [IR_COST_WARP] = "warp",       [SASS_PADDING] = "padding",
    [SASS_UNKNOWN] = "unknown"};

typedef struct named_opcode {
    uint16_t bits, since;
    const char *name;
} named_opcode;

static const named_opcode named_opcodes[] = {
#define X(bits, since, name, cost) {bits, since, name},
#include "sass/opcodes.def"
#undef X
};

static const char *opcode_name(uint16_t opcode, uint32_t sm)
{
    const char *found = "?";
    for (size_t i = 0; i < sizeof named_opcodes / sizeof *named_opcodes; i++)
        if (named_opcodes[i].bits == (opcode & 0x1ff) && named_opcodes[i].since <= sm)
            found = named_opcodes[i].name;
    return found;
}

/* After the instructions: banks, relocations and jump tables. */
static void print_places(const sass_places *places)
{
    printf("params %u %u\n", places->param_base, places->param_bytes);
    for (unsigned i = 0; i < SASS_BANKS; i++)
        if (places->banks[i].bytes)
            printf("bank %u %zu\n", i, places->banks[i].size);
    for (uint32_t i = 0; i < places->nlinks; i++)
        printf("link %u %llu %s\n", places->links[i].bank,
               (unsigned long long)places->links[i].offset, places->links[i].symbol);
    for (uint32_t i = 0; i < places->njumps; i++) {
        printf("jump %u", places->jumps[i].from);
        for (uint32_t k = 0; k < places->jumps[i].count; k++)
            printf(" %u", places->jumps[i].targets[k]);
        putchar('\n');
    }
}

static void print_kernel(const sass_code *code, const char *name, bool with_places)
{
    printf("kernel %s %u\n", name, code->registers);
    for (uint32_t i = 0; i < code->count; i++) {
        const sass_insn *insn = &code->insns[i];
        printf("%s %u %d %d %u %s\n", class_names[insn->cost], insn->flow, insn->conditional,
               insn->target == SASS_NOWHERE ? -1 : (int)insn->target, insn->line,
               opcode_name(insn->opcode, code->sm));
    }
    if (with_places)
        print_places(&code->places);
}

int main(int argc, char **argv)
{
    size_t size;
    char *cubin = argc > 3 ? file_read(argv[1], &size) : NULL;
    bool with_places = argc > 3 && strcmp(argv[3], "--places") == 0;
    int failed = !cubin;
    for (int i = 3 + with_places; i < argc && cubin; i++) {
        wl_error err;
        sass_code code;
        wl_arena *arena = wl_arena_new();
        if (arena && sass_code_read(cubin, size, (uint32_t)strtoul(argv[2], NULL, 10), argv[i],
                                    arena, &code, &err) == WL_OK)
            print_kernel(&code, argv[i], with_places);
        else
            failed = 1;
        wl_arena_free(arena);
    }
    free(cubin);
    return failed;
}

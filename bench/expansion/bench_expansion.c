/* What the kernels of a PTX file are expected to become: for compare.py.
 *
 *   bench_expansion FILE.ptx
 *
 * A line a kernel, separated by tabs: its name, its PTX instructions by class (ir_cost), and the
 * machine instructions by class that are expected of them. */
#include "base/arena.h"
#include "ir/expansion.h"
#include "ir/kernel.h"
#include "ptx/ptx.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>

static void print_kernel(const ir_module *module, const ir_func *func, wl_arena *arena)
{
    ir_kernel kernel;
    double ptx[IR_COST_COUNT] = {0}, machine[IR_COST_COUNT] = {0};
    if (ir_kernel_of(module, func, arena, &kernel) != WL_OK)
        exit(1);
    for (uint32_t pc = 0; pc < kernel.npcs; pc++) {
        const ir_insn *insn = ir_kernel_at(&kernel, pc).insn;
        ptx[ir_insn_cost(insn)]++;
        ir_add_expansion(insn, machine);
    }
    printf("%s", func->name);
    for (unsigned cost = 0; cost < IR_COST_COUNT; cost++)
        printf("\t%g", ptx[cost]);
    for (unsigned cost = 0; cost < IR_COST_COUNT; cost++)
        printf("\t%g", machine[cost]);
    printf("\n");
}

int main(int argc, char **argv)
{
    size_t length;
    char *text = argc == 2 ? file_read(argv[1], &length) : NULL;
    ir_module *module;
    wl_error err;
    wl_arena *arena = wl_arena_new();
    if (!text || !arena)
        return 2;
    if (ptx_parse(text, length, argv[1], &module, &err) != WL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (uint32_t i = 0; i < module->nfuncs; i++)
        if (module->funcs[i]->entry && module->funcs[i]->has_body)
            print_kernel(module, module->funcs[i], arena);
    wl_arena_free(arena);
    ir_module_free(module);
    free(text);
    return 0;
}

/* What instructions without a layout write is lost, and nothing else. */
#include "lifting.h"

#include "base/arena.h"
#include "sass/lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCT = 0x1f0, WIDEST = 128 };

/* A product of a warpgroup with `columns` columns, all of which are stored. */
static char *product_ptx(unsigned columns)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    fputs(".version 8.8\n.target sm_90a\n.address_size 64\n"
          ".visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b)\n{\n"
          ".reg .f32 %f<128>; .reg .b64 %d<4>; .reg .pred %p;\n"
          "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b];\n"
          "setp.ne.u64 %p, %d1, 5;\n",
          out);
    for (unsigned i = 0; i < columns / 2; i++)
        fprintf(out, "ld.global.f32 %%f%u, [%%d0+%u];\n", i, 4 * i);
    fprintf(out, "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n%uk16.f32.f16.f16 {",
            columns);
    for (unsigned i = 0; i < columns / 2; i++)
        fprintf(out, "%s%%f%u", i ? ", " : "", i);
    fputs("}, %d1, %d2, %p, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n",
          out);
    for (unsigned i = 0; i < columns / 2; i++)
        fprintf(out, "st.global.f32 [%%d0+%u], %%f%u;\n", 4 * i, i);
    fputs("ret;\n}\n", out);
    fclose(out);
    return text;
}

static unsigned field(const sass_lifted *l, uint32_t insn, unsigned byte)
{
    return l->code.bytes[(size_t)insn * SASS_BYTES + byte];
}

static unsigned opcode(const sass_lifted *l, uint32_t insn)
{
    return field(l, insn, 0) | (field(l, insn, 1) & 1) << 8;
}

/* Checks an instruction's lines: it loses registers from its first one on, in order; no predicate, and it stores nothing. */
static void check_lost(const sass_lifted *l, uint32_t insn, unsigned registers)
{
    unsigned next = field(l, insn, 2), found = 0, number;
    const char *at = l->text;
    for (uint32_t line = 1; line <= l->lines; line++, at = strchr(at, '\n') + 1) {
        if (l->insn_of_line[line] != insn)
            continue;
        assert_int_not_equal(strncmp(at, "st.", 3), 0);
        assert_int_not_equal(strncmp(at, "mov.pred", 8), 0);
        if (sscanf(at, "mov.b32 %%r%u,", &number) == 1) {
            assert_int_equal(number, next + found);
            found++;
        }
    }
    assert_int_equal(found, registers);
}

static void check_columns(unsigned columns)
{
    size_t size;
    sass_lifted lifted;
    wl_error err;
    unsigned products = 0;
    char *ptx = product_ptx(columns);
    char *cubin = lifting_assemble(ptx, "-arch=sm_90a", false, &size);
    wl_arena *arena = wl_arena_new();
    assert_int_equal(sass_lift(cubin, size, 90, "k", arena, &lifted, &err), WL_OK);
    for (uint32_t i = 0; i < lifted.code.count; i++) {
        bool product = opcode(&lifted, i) == PRODUCT;
        products += product;
        if (lifted.known[i])
            continue;
        assert_true(product);
        check_lost(&lifted, i, columns / 2);
    }
    assert_int_equal(products, 1);
    assert_int_equal(lifted.unknown, 1);
    wl_arena_free(arena);
    free(cubin);
    free(ptx);
}

static void product_loses_its_registers(void **state)
{
    (void)state;
    lifting_need_ptxas();
    check_columns(8);
    check_columns(32);
    check_columns(WIDEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(product_loses_its_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

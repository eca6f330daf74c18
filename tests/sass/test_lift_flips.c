/* Machine code with bits turned: whatever is known of an instruction, what is lifted of it can be read as PTX, and
 * what is not known leaves text that can be read, too. Instructions of programs of tests/ptx/corpus, which ptxas
 * compiles for three devices; those that turn control elsewhere are left out, so that all of them are lifted. */
#include "lifting.h"
#include "ptx/ptx.h"
#include "sass/operands.h"
#include "support/random.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLIPS = 24, BATCH = 256, BITS = 105 }; /* above them are the fields of control */

static const unsigned targets[] = {80, 90, 100};

typedef struct flips {
    unsigned sm;
    uint64_t seed, known, all;
    uint32_t count; /* in words */
    unsigned char words[(BATCH + 1) * SASS_BYTES];
} flips;

static void put_exit(flips *f)
{
    static const uint64_t exits[2] = {0x000000000000794d, 0x000fea0003800000};
    memcpy(f->words + (size_t)f->count * SASS_BYTES, exits, sizeof exits);
    sass_details in;
    assert_true(sass_read((const unsigned char *)exits, f->count, f->sm, &in));
    assert_string_equal(in.form->name, "EXIT");
    f->count++;
}

/* What is lifted of the words so far can be read. */
static void check_words(flips *f)
{
    static const unsigned char constants[256];
    sass_insn insns[BATCH + 1];
    sass_lifted lifted;
    ir_module *module;
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    assert_non_null(arena);
    put_exit(f);
    sass_code code = {.sm = f->sm,
                      .registers = 255,
                      .stack = 64,
                      .count = f->count,
                      .bytes = f->words,
                      .insns = insns,
                      .places = {.param_base = f->sm < 90    ? 0x160
                                               : f->sm < 100 ? 0x210
                                                             : 0x380,
                                 .param_bytes = 64,
                                 .shared = 2048}};
    code.places.banks[3] = (sass_bank){constants, sizeof constants};
    for (uint32_t i = 0; i < f->count; i++)
        insns[i] = sass_decode(f->words + (size_t)i * SASS_BYTES, i, f->sm);
    if (sass_lift_code(&code, "k", arena, &lifted, &err) != WL_OK)
        fail_msg("%s", err.text);
    if (ptx_parse(lifted.text, lifted.length, "lifted", &module, &err) != WL_OK)
        fail_msg("sm_%u: %s", f->sm, err.text);
    ir_module_free(module);
    wl_arena_free(arena);
    f->count = 0;
}

static void add_word(flips *f, const unsigned char word[SASS_BYTES])
{
    sass_details in;
    bool known = sass_read(word, f->count, f->sm, &in);
    sass_insn insn = sass_decode(word, f->count, f->sm);
    f->all++;
    f->known += known;
    if (insn.flow != SASS_NEXT || (known && strcmp(in.form->name, "BPT") == 0) ||
        (!known && random_below(&f->seed, 8) != 0)) /* a few of these will do */
        return;
    memcpy(f->words + (size_t)f->count++ * SASS_BYTES, word, SASS_BYTES);
    if (f->count == BATCH)
        check_words(f);
}

static void flip_code(flips *f, const sass_code *code)
{
    for (uint32_t i = 0; i < code->count; i++)
        for (unsigned n = 0; n < FLIPS; n++) {
            unsigned char word[SASS_BYTES];
            memcpy(word, code->bytes + (size_t)i * SASS_BYTES, SASS_BYTES);
            for (unsigned turned = 0; turned < n % 4; turned++) {
                uint64_t bit = random_below(&f->seed, BITS - 12) + 12; /* not the opcode */
                word[bit / 8] ^= (unsigned char)(1U << bit % 8);
            }
            add_word(f, word);
        }
}

static void flip_file(flips *f, const char *path)
{
    size_t size;
    ir_module *module;
    wl_error err = {0};
    char options[40], own[40], *ptx = test_read(path, NULL);
    snprintf(own, sizeof own, ".target sm_%ua", f->sm);
    snprintf(options, sizeof options, "-arch=sm_%u%s", f->sm, strstr(ptx, own) ? "a" : "");
    char *cubin = lifting_assemble(ptx, options, true, &size);
    if (ptx_parse(ptx, strlen(ptx), path, &module, &err) != WL_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; cubin && i < module->nfuncs; i++) {
        sass_code code;
        wl_arena *arena = wl_arena_new();
        assert_non_null(arena);
        if (module->funcs[i]->entry &&
            sass_code_read(cubin, size, f->sm, module->funcs[i]->name, arena, &code, &err) == WL_OK)
            flip_code(f, &code);
        wl_arena_free(arena);
    }
    ir_module_free(module);
    free(cubin);
    free(ptx);
}

static void lifted_words_parse(void **state)
{
    (void)state;
    lifting_need_ptxas();
    glob_t files;
    assert_int_equal(glob(WL_SOURCE_DIR "/tests/ptx/corpus/*.ptx", 0, NULL, &files), 0);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        flips f = {.sm = targets[t], .seed = 11};
        for (size_t i = 0; i < files.gl_pathc; i++)
            flip_file(&f, files.gl_pathv[i]);
        check_words(&f);
        print_message("sm_%u: %llu words, %llu of them known\n", f.sm, (unsigned long long)f.all,
                      (unsigned long long)f.known);
        assert_true(f.known > 1000 && f.known < f.all);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lifted_words_parse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

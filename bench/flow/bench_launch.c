/* How many kernels that are not proven as they are would be for some launch: each is asked about
 * launches whose parameters and shapes are drawn. What it finds says of how many kernels launches may
 * decide, not of how many launches do: a drawn one may be of no use to anybody.
 *
 *     bench_launch FILE.ptx...
 *
 * prints one line of CSV after its header. */
#include "flow/launch.h"
#include "ir/lookup.h"
#include "ptx/ptx.h"
#include "support/file.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 24, MAX_PARAMS = 8192 };

typedef struct tally {
    unsigned long long kernels, independent, unproven; /* unproven: with memory, not independent */
    unsigned long long decided, more, whole;           /* of these, for some launch */
    unsigned long long accesses, proven, best;
} tally;

/* Pointers mostly lead somewhere; numbers are small, large, or the bits of 1.0f. */
static uint64_t draw_value(uint64_t *seed, uint64_t bytes)
{
    static const uint64_t wide[] = {0, 1, 1000},
                          narrow[] = {0, 1, 2, 3, 16, 1000, 1000000, 0x3f800000};
    if (bytes == 8 && random_below(seed, 7) < 4)
        return UINT64_C(0x7f0000000000);
    return bytes == 8 ? wide[random_below(seed, 3)] : narrow[random_below(seed, 8)];
}

static uint64_t draw_params(uint64_t *seed, const ir_func *kernel, uint8_t *params)
{
    uint64_t at = 0;
    memset(params, 0, MAX_PARAMS);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        uint32_t align = ir_var_align(kernel->params[i]);
        uint64_t bytes = ir_var_size(kernel->params[i]), end;
        at = align > 1 ? (at + align - 1) & ~(uint64_t)(align - 1) : at;
        end = at + bytes;
        for (uint64_t part = bytes > 8 ? 4 : bytes; part && at + part <= end && end <= MAX_PARAMS;
             at += part) {
            uint64_t value = draw_value(seed, part);
            memcpy(params + at, &value, part);
        }
        at = end;
    }
    return at < MAX_PARAMS ? at : MAX_PARAMS;
}

static flow_launch draw_launch(uint64_t *seed, const ir_func *kernel, uint8_t *params)
{
    uint64_t nparams = draw_params(seed, kernel, params);
    return (flow_launch){.params = params,
                         .nparams = nparams,
                         .grid = {random_below(seed, 4) ? 1000 : 1, 1, 1},
                         .block = {32u << random_below(seed, 6), 1, 1}};
}

static bool decides_some(const uint8_t *decided, uint32_t count)
{
    for (uint32_t pc = 0; pc < count; pc++)
        if (decided[pc] != FLOW_DECIDED_OPEN)
            return true;
    return false;
}

/* Accesses of the kernel that are proven for the launch, or do not run then; 0 where none runs. */
static uint32_t proven_for(const ir_kernel *code, const uint8_t *decided, uint32_t memory)
{
    wl_arena *arena = wl_arena_new();
    flow_proof proof = {0};
    bool done = arena && flow_prove_decided(code, decided, arena, &proof) == WL_OK;
    wl_arena_free(arena);
    return done && proof.memory ? memory - (proof.memory - proof.proven) : 0;
}

static void ask_about_launches(const ir_kernel *code, const flow_proof *as_it_is, wl_arena *arena,
                               tally *t)
{
    static uint8_t params[MAX_PARAMS];
    flow_kernel *kernel = flow_kernel_new(code, arena);
    uint8_t *decided = wl_new_array(arena, uint8_t, code->npcs + 1);
    uint64_t seed = 1;
    uint32_t best = as_it_is->proven;
    bool any = false;
    for (int n = 0; kernel && decided && n < LAUNCHES; n++) {
        flow_launch launch = draw_launch(&seed, code->funcs[0], params);
        if (flow_decide(kernel, &launch, decided) != WL_OK || !decides_some(decided, code->npcs))
            continue;
        uint32_t proven = proven_for(code, decided, as_it_is->memory);
        best = proven > best ? proven : best;
        any = true;
    }
    t->unproven++;
    t->decided += any;
    t->more += best > as_it_is->proven;
    t->whole += best == as_it_is->memory;
    t->best += best;
}

static void take_kernel(const ir_module *module, const ir_func *func, tally *t)
{
    wl_arena *arena = wl_arena_new();
    ir_kernel code;
    flow_proof proof;
    if (arena && ir_kernel_of(module, func, arena, &code) == WL_OK &&
        flow_prove(&code, arena, &proof) == WL_OK) {
        t->kernels++;
        t->independent += proof.class_ == FLOW_INDEPENDENT;
        t->accesses += proof.memory;
        t->proven += proof.proven;
        if (proof.memory && proof.class_ != FLOW_INDEPENDENT)
            ask_about_launches(&code, &proof, arena, t);
        else
            t->best += proof.proven;
    }
    wl_arena_free(arena);
}

static void take_file(const char *path, tally *t)
{
    size_t length;
    char *text = file_read(path, &length);
    ir_module *module = NULL;
    wl_error err = {0};
    if (text && ptx_parse(text, length, path, &module, &err) == WL_OK)
        for (uint32_t i = 0; i < module->nfuncs; i++)
            if (module->funcs[i]->entry && module->funcs[i]->has_body)
                take_kernel(module, module->funcs[i], t);
    ir_module_free(module);
    free(text);
}

int main(int argc, char **argv)
{
    tally t = {0};
    for (int i = 1; i < argc; i++)
        take_file(argv[i], &t);
    printf("kernels,independent,unproven,decided,more,whole,accesses,proven,best\n");
    printf("%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", t.kernels, t.independent, t.unproven,
           t.decided, t.more, t.whole, t.accesses, t.proven, t.best);
    return t.kernels ? 0 : 1;
}

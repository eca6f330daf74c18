/* Which of the handlers' builds is used. */
#include "emu/handlers.h"

#include <stdlib.h>
#include <string.h>

#define EXTERN(file, isa) extern const emu_handler emu_ops_##file##_##isa[];
#define GENERIC(file) EXTERN(file, generic)
EMU_OP_FILES(GENERIC)
#if defined(EMU_X86)
#define AVX2(file) EXTERN(file, avx2)
EMU_OP_FILES(AVX2)
#define AVX512(file) EXTERN(file, avx512)
EMU_OP_FILES(AVX512)
#endif

typedef struct isa {
    const char *name;
    const emu_handler *files[8];
} isa;

#define NAME(file, set) emu_ops_##file##_##set,
static const isa sets[] = {
#if defined(EMU_X86)
#define ROW512(file) NAME(file, avx512)
    {"avx512", {EMU_OP_FILES(ROW512)}},
#define ROW2(file) NAME(file, avx2)
    {"avx2", {EMU_OP_FILES(ROW2)}},
#endif
#define ROW(file) NAME(file, generic)
    {"generic", {EMU_OP_FILES(ROW)}},
};

static emu_handler table[EMU_H_COUNT];
static const isa *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool supported(const isa *s)
{
#if defined(EMU_X86)
    __builtin_cpu_init();
    if (strcmp(s->name, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    if (strcmp(s->name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#endif
    (void)s;
    return true;
}

static void choose_isa(void)
{
    static const uint32_t first[] = {0,
                                     EMU_H_INT_END,
                                     EMU_H_FLOAT_END,
                                     EMU_H_HALF_END,
                                     EMU_H_CONVERT_END,
                                     EMU_H_MEMORY_END,
                                     EMU_H_ATOMIC_END,
                                     EMU_H_WARP_END,
                                     EMU_H_MISC_END};
    const char *wanted = getenv("WARPLENS_ISA");
    for (size_t k = 0; k < sizeof sets / sizeof *sets && !chosen; k++)
        if (supported(&sets[k]) && (!wanted || strcmp(wanted, sets[k].name) == 0))
            chosen = &sets[k];
    if (!chosen)
        chosen = &sets[sizeof sets / sizeof *sets - 1];
    for (size_t f = 0; f < 8; f++)
        memcpy(table + first[f], chosen->files[f], (first[f + 1] - first[f]) * sizeof *table);
}

const emu_handler *emu_handlers(void)
{
    pthread_once(&once, choose_isa);
    return table;
}

const char *emu_isa(void)
{
    pthread_once(&once, choose_isa);
    return chosen->name;
}

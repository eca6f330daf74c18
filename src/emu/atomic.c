/* What atomic operations compute. */
#include "emu/atomic.h"

#include "emu/ops_fp.h"

#define COMBINE(name, T, expr)                 \
    static u64 name##_##T(u64 x, u64 y, u64 z) \
    {                                          \
        T a = (T)x, b = (T)y, c = (T)z;        \
        (void)a;                               \
        (void)b;                               \
        (void)c;                               \
        return (u64)(expr);                    \
    }
COMBINE(op_and, u64, a &b)
COMBINE(op_or, u64, a | b)
COMBINE(op_xor, u64, a ^ b)
COMBINE(op_exch, u64, b)
COMBINE(op_cas, u16, a == c ? b : a)
COMBINE(op_cas, u32, a == c ? b : a)
COMBINE(op_cas, u64, a == c ? b : a)
COMBINE(op_add, u64, a + b)
COMBINE(op_inc, u32, a >= b ? 0 : a + 1)
COMBINE(op_dec, u32, a == 0 || a > b ? b : a - 1)
COMBINE(op_min, u32, a < b ? a : b)
COMBINE(op_min, s32, a < b ? a : b)
COMBINE(op_min, u64, a < b ? a : b)
COMBINE(op_min, s64, a < b ? a : b)
COMBINE(op_max, u32, a > b ? a : b)
COMBINE(op_max, s32, a > b ? a : b)
COMBINE(op_max, u64, a > b ? a : b)
COMBINE(op_max, s64, a > b ? a : b)

/* Single-precision atomic addition flushes subnormal numbers in global memory only: see
 * emu_decode_atom. */
static u64 add_f32(u64 a, u64 b, u64 c)
{
    (void)c;
    return f32_bits(emu_nan32(emu_z32(emu_z32(f32_of((u32)a)) + emu_z32(f32_of((u32)b)))));
}

static u64 add_f64(u64 a, u64 b, u64 c)
{
    (void)c;
    if (emu_is_nan64(a) || emu_is_nan64(b)) /* kept as it is, signalling or not */
        return emu_is_nan64(b) ? b : a;
    return f64_bits(f64_of(a) + f64_of(b));
}

static u16 add_h(u16 a, u16 b)
{
    return emu_h_of_f(emu_f_of_h(a) + emu_f_of_h(b));
}

static u16 add_b(u16 a, u16 b)
{
    return emu_b_of_f(emu_f_of_b(a) + emu_f_of_b(b));
}

static u16 min_h(u16 a, u16 b)
{
    f32 x = emu_f_of_h(a), y = emu_f_of_h(b);
    return x != x ? (y != y ? 0x7fff : b) : y != y ? a : x < y ? a : x > y ? b : (u16)(a | b);
}

static u16 max_h(u16 a, u16 b)
{
    f32 x = emu_f_of_h(a), y = emu_f_of_h(b);
    return x != x ? (y != y ? 0x7fff : b) : y != y ? a : x > y ? a : x < y ? b : (u16)(a & b);
}

static u16 min_b(u16 a, u16 b)
{
    f32 x = emu_f_of_b(a), y = emu_f_of_b(b);
    return x != x ? (y != y ? 0x7fff : b) : y != y ? a : x < y ? a : x > y ? b : (u16)(a | b);
}

static u16 max_b(u16 a, u16 b)
{
    f32 x = emu_f_of_b(a), y = emu_f_of_b(b);
    return x != x ? (y != y ? 0x7fff : b) : y != y ? a : x > y ? a : x < y ? b : (u16)(a & b);
}

#define HALVES(name)                                                                \
    static u64 one_##name(u64 a, u64 b, u64 c)                                      \
    {                                                                               \
        (void)c;                                                                    \
        return name((u16)a, (u16)b);                                                \
    }                                                                               \
    static u64 two_##name(u64 a, u64 b, u64 c)                                      \
    {                                                                               \
        (void)c;                                                                    \
        return emu_two(name((u16)a, (u16)b), name((u16)(a >> 16), (u16)(b >> 16))); \
    }
HALVES(add_h)
HALVES(add_b)
HALVES(min_h)
HALVES(max_h)
HALVES(min_b)
HALVES(max_b)

emu_combine emu_combine_of(emu_atomic_op op, ir_type type)
{
    static const struct {
        emu_atomic_op op;
        ir_type type;
        emu_combine combine;
    } table[] = {
        {EMU_ATOMIC_AND, IR_T_b32, op_and_u64},   {EMU_ATOMIC_AND, IR_T_b64, op_and_u64},
        {EMU_ATOMIC_OR, IR_T_b32, op_or_u64},     {EMU_ATOMIC_OR, IR_T_b64, op_or_u64},
        {EMU_ATOMIC_XOR, IR_T_b32, op_xor_u64},   {EMU_ATOMIC_XOR, IR_T_b64, op_xor_u64},
        {EMU_ATOMIC_EXCH, IR_T_b32, op_exch_u64}, {EMU_ATOMIC_EXCH, IR_T_b64, op_exch_u64},
        {EMU_ATOMIC_CAS, IR_T_b16, op_cas_u16},   {EMU_ATOMIC_CAS, IR_T_b32, op_cas_u32},
        {EMU_ATOMIC_CAS, IR_T_b64, op_cas_u64},   {EMU_ATOMIC_CAS, IR_T_u32, op_cas_u32},
        {EMU_ATOMIC_CAS, IR_T_u64, op_cas_u64},   {EMU_ATOMIC_ADD, IR_T_u32, op_add_u64},
        {EMU_ATOMIC_ADD, IR_T_s32, op_add_u64},   {EMU_ATOMIC_ADD, IR_T_u64, op_add_u64},
        {EMU_ATOMIC_ADD, IR_T_s64, op_add_u64},   {EMU_ATOMIC_ADD, IR_T_f32, add_f32},
        {EMU_ATOMIC_ADD, IR_T_f64, add_f64},      {EMU_ATOMIC_ADD, IR_T_f16, one_add_h},
        {EMU_ATOMIC_ADD, IR_T_f16x2, two_add_h},  {EMU_ATOMIC_ADD, IR_T_bf16, one_add_b},
        {EMU_ATOMIC_ADD, IR_T_bf16x2, two_add_b}, {EMU_ATOMIC_INC, IR_T_u32, op_inc_u32},
        {EMU_ATOMIC_DEC, IR_T_u32, op_dec_u32},   {EMU_ATOMIC_MIN, IR_T_u32, op_min_u32},
        {EMU_ATOMIC_MIN, IR_T_s32, op_min_s32},   {EMU_ATOMIC_MIN, IR_T_u64, op_min_u64},
        {EMU_ATOMIC_MIN, IR_T_s64, op_min_s64},   {EMU_ATOMIC_MAX, IR_T_u32, op_max_u32},
        {EMU_ATOMIC_MAX, IR_T_s32, op_max_s32},   {EMU_ATOMIC_MAX, IR_T_u64, op_max_u64},
        {EMU_ATOMIC_MAX, IR_T_s64, op_max_s64},   {EMU_ATOMIC_MIN, IR_T_f16, one_min_h},
        {EMU_ATOMIC_MIN, IR_T_f16x2, two_min_h},  {EMU_ATOMIC_MIN, IR_T_bf16, one_min_b},
        {EMU_ATOMIC_MIN, IR_T_bf16x2, two_min_b}, {EMU_ATOMIC_MAX, IR_T_f16, one_max_h},
        {EMU_ATOMIC_MAX, IR_T_f16x2, two_max_h},  {EMU_ATOMIC_MAX, IR_T_bf16, one_max_b},
        {EMU_ATOMIC_MAX, IR_T_bf16x2, two_max_b},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].op == op && table[k].type == type)
            return table[k].combine;
    return NULL;
}

#define APPLY(T)                                                                             \
    {                                                                                        \
        T *at = host;                                                                        \
        if (!shared) {                                                                       \
            T old = *at;                                                                     \
            *at = (T)combine(old, value, compare);                                           \
            return old;                                                                      \
        }                                                                                    \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                       \
        while (!__atomic_compare_exchange_n(at, &old, (T)combine(old, value, compare), true, \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}          \
        return old;                                                                          \
    }
u64 emu_apply(emu_combine combine, void *host, u32 size, u64 value, u64 compare, bool shared)
{
    switch (size) {
    case 2: APPLY(u16)
    case 4: APPLY(u32)
    default: APPLY(u64)
    }
}

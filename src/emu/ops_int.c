/* Integer handlers: the functions that ops_int.def's expressions use, and the handlers themselves.
 */
#include "emu/ops.h"

static inline s32 emu_clamp_s32(s64 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x;
}

static inline s32 emu_s24(u32 x)
{
    return (s32)(x << 8) >> 8;
}

static inline s32 emu_relu(s32 x)
{
    return x < 0 ? 0 : x;
}

static inline s32 emu_min(s32 a, s32 b)
{
    return a < b ? a : b;
}

static inline s32 emu_max(s32 a, s32 b)
{
    return a > b ? a : b;
}

static inline u32 emu_select16(bool first, s32 a, s32 b)
{
    return (u32)b ^ (((u32)a ^ (u32)b) & (0 - (u32)first));
}

static inline u32 emu_pair(s32 low, s32 high)
{
    return ((u32)low & 0xffff) | (u32)high << 16;
}

/* A quotient of 32-bit integers is exact in double: it cannot be rounded over an integer. */
static inline u32 emu_div_u32(u32 a, u32 b)
{
    u32 q = (u32)(s64)((f64)a / (f64)(b ? b : 1));
    return b ? q : UINT32_MAX;
}

static inline s32 emu_div_s32(s32 a, s32 b)
{
    s32 q = (s32)(s64)((f64)a / (f64)(b ? b : 1));
    return b ? q : -1;
}

static inline u32 emu_rem_u32(u32 a, u32 b)
{
    return b ? a - emu_div_u32(a, b) * b : UINT32_MAX;
}

static inline s32 emu_rem_s32(s32 a, s32 b)
{
    return b ? (s32)((u32)a - (u32)emu_div_s32(a, b) * (u32)b) : -1;
}

static inline s64 emu_div_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? (s64)(0 - (u64)a) : a / b;
}

static inline s64 emu_rem_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}

static inline s32 emu_bfind_s32(s32 a)
{
    u32 x = (u32)(a < 0 ? ~a : a);
    return x ? 31 - __builtin_clz(x) : -1;
}

static inline s32 emu_bfind_s64(s64 a)
{
    u64 x = (u64)(a < 0 ? ~a : a);
    return x ? 63 - __builtin_clzll(x) : -1;
}

static inline u32 emu_brev(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

/* Position of the n-th set bit of mask, counted from base upwards (n > 0) or downwards (n < 0). */
static inline u32 emu_fns(u32 mask, u32 base, s32 n)
{
    if (base > 31)
        return UINT32_MAX;
    if (n == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int step = n > 0 ? 1 : -1;
    s64 count = n > 0 ? n : -(s64)n;
    for (int at = (int)base; at >= 0 && at <= 31; at += step)
        if ((mask >> at & 1) && --count == 0)
            return (u32)at;
    return UINT32_MAX;
}

/* Of position and length the low eight bits count, in 64-bit fields all of them (as GPUs do it). */
static inline u64 emu_bfe_u(u64 a, u32 b, u32 c, u32 bits)
{
    u32 pos = bits == 64 ? b : b & 0xff, len = bits == 64 ? c : c & 0xff;
    u64 x = pos >= bits ? 0 : a >> pos;
    return len >= 64 ? x : x & ((UINT64_C(1) << len) - 1);
}

/* a is sign-extended to 64 bits. The field's sign bit is its highest one, or the highest of a where
 * the field leaves it. */
static inline u64 emu_bfe_s(s64 a, u32 b, u32 c, u32 bits)
{
    u32 pos = bits == 64 ? b : b & 0xff, len = bits == 64 ? c : c & 0xff;
    if (len == 0)
        return 0;
    s64 x = a >> (pos > 63 ? 63 : pos);
    if ((u64)pos + len >= bits || len >= 64)
        return (u64)x;
    return (u64)((s64)((u64)x << (64 - len)) >> (64 - len));
}

static inline u32 emu_ones(u32 n)
{
    return n > 31 ? UINT32_MAX : (1u << n) - 1;
}

static inline u32 emu_bmsk(u32 pos, u32 len, bool clamp)
{
    if (clamp)
        return pos > 31 ? 0 : emu_ones(len) << pos;
    return emu_ones(len & 31) << (pos & 31);
}

static inline u32 emu_szext_u(u32 a, u32 n)
{
    return a & emu_ones(n);
}

static inline u32 emu_szext_s(u32 a, u32 n)
{
    u32 field = a & emu_ones(n);
    u32 sign = n == 0 ? 0 : a >> (n - 1) & 1;
    return sign ? field | ~emu_ones(n) : field;
}

/* imm: bit 0 a signed, bit 1 b signed, bit 2 the high half of b (dp2a). */
static inline u32 emu_dp4a(u32 a, u32 b, u32 c, s64 imm)
{
    for (int k = 0; k < 32; k += 8) {
        s32 x = imm & 1 ? (s8)(a >> k) : (s32)(a >> k & 0xff);
        s32 y = imm & 2 ? (s8)(b >> k) : (s32)(b >> k & 0xff);
        c += (u32)(x * y);
    }
    return c;
}

static inline u32 emu_dp2a(u32 a, u32 b, u32 c, s64 imm)
{
    b >>= imm & 4 ? 16 : 0;
    for (int k = 0; k < 2; k++) {
        s32 x = imm & 1 ? (s16)(a >> 16 * k) : (s32)(a >> 16 * k & 0xffff);
        s32 y = imm & 2 ? (s8)(b >> 8 * k) : (s32)(b >> 8 * k & 0xff);
        c += (u32)x * (u32)y;
    }
    return c;
}

static inline u32 emu_lop3(u32 a, u32 b, u32 c, s64 table)
{
    u32 r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}

static inline u32 emu_prmt_byte(u64 bytes, u32 selector)
{
    u32 byte = (u32)(bytes >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static inline u32 emu_prmt(u32 a, u32 b, u32 c)
{
    u64 bytes = (u64)b << 32 | a;
    return emu_prmt_byte(bytes, c) | emu_prmt_byte(bytes, c >> 4) << 8 |
           emu_prmt_byte(bytes, c >> 8) << 16 | emu_prmt_byte(bytes, c >> 12) << 24;
}

static inline u32 emu_prmt_mode(u32 a, u32 b, u32 c, s64 mode)
{
    static const u16 selectors[EMU_PRMT_COUNT][4] = {
        [EMU_PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543},
        [EMU_PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
        [EMU_PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333},
        [EMU_PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
        [EMU_PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210},
        [EMU_PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
    };
    return emu_prmt(a, b, selectors[mode][c & 3]);
}

#define V1(...) EMU_DEFINE_V1(__VA_ARGS__)
#define V2(...) EMU_DEFINE_V2(__VA_ARGS__)
#define V3(...) EMU_DEFINE_V3(__VA_ARGS__)
#define S3(...) EMU_DEFINE_S3(__VA_ARGS__)
#define P2(...) EMU_DEFINE_P2(__VA_ARGS__)
#include "emu/ops_int.def"

const emu_handler EMU_ISA_NAME(emu_ops_int)[] = {
#define V1(id, ...) EMU_ROW_BOTH(id)
#define V2(id, ...) EMU_ROW_BOTH(id)
#define V3(id, ...) EMU_ROW_BOTH(id)
#define S3(id, ...) EMU_ROW_BOTH(id)
#define P2(id, ...) EMU_ROW_ONE(id)
#include "emu/ops_int.def"
};

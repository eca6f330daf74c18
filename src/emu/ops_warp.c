/* Shuffles, votes, matches, reductions. The scheduler has seen to it that all lanes of the member
 * mask are here. */
#include "emu/ops_fp.h"

/* PTX ISA, "shfl.sync": where a lane reads from, -1 where it is out of its segment. */
static inline s32 source_up(s32 lane, s32 b, s32 low, s32 limit)
{
    (void)low;
    return lane - b >= limit ? lane - b : -1;
}

static inline s32 source_down(s32 lane, s32 b, s32 low, s32 limit)
{
    (void)low;
    return lane + b <= limit ? lane + b : -1;
}

static inline s32 source_bfly(s32 lane, s32 b, s32 low, s32 limit)
{
    (void)low;
    return (lane ^ b) <= limit ? lane ^ b : -1;
}

static inline s32 source_idx(s32 lane, s32 b, s32 low, s32 limit)
{
    (void)lane;
    return (low | b) <= limit ? low | b : -1;
}

/* imm: the reference of the predicate that says whether the source was in range. PTX leaves open
 * what a lane gets from one that is not here; zero is a value that does not depend on what that
 * lane did before. */
#define SHFL(mode)                                                                   \
    static void shfl_##mode(emu_warp *w, const emu_insn *in, u32 mask)               \
    {                                                                                \
        VECTOR(u32, d, in->dst);                                                     \
        VECTOR(const u32, pa, in->src[0]);                                           \
        VECTOR(const u32, pb, in->src[1]);                                           \
        VECTOR(const u32, pc, in->src[2]);                                           \
        u32 a[EMU_LANES], r[EMU_LANES];                                              \
        u8 inside[EMU_LANES];                                                        \
        memcpy(a, pa, sizeof a);                                                     \
        for (s32 i = 0; i < EMU_LANES; i++) {                                        \
            const u32 segment = pc[i] >> 8 & 31, clamp = pc[i] & 31;                 \
            s32 b = (s32)(pb[i] & 31);                                               \
            const s32 low = i & (s32)segment, limit = low | (s32)(clamp & ~segment); \
            if (#mode[0] == 'i')                                                     \
                b &= (s32)~segment;                                                  \
            const s32 from = source_##mode(i, b, low, limit);                        \
            inside[i] = from >= 0;                                                   \
            const s32 at = from >= 0 ? from : i;                                     \
            r[i] = ON(mask, at) ? a[at] : 0;                                         \
        }                                                                            \
        EACH_LANE                                                                    \
        d[i] = ON(mask, i) ? r[i] : d[i];                                            \
        if (in->imm != EMU_NOREF)                                                    \
            emu_set_pred(w, (emu_ref)in->imm, mask, emu_pack(inside));               \
    }
SHFL(up)
SHFL(down)
SHFL(bfly)
SHFL(idx)

static void vote_all(emu_warp *w, const emu_insn *in, u32 mask)
{
    emu_set_pred(w, in->dst, mask, (emu_pred(w, in->src[0]) & mask) == mask ? mask : 0);
}

static void vote_any(emu_warp *w, const emu_insn *in, u32 mask)
{
    emu_set_pred(w, in->dst, mask, emu_pred(w, in->src[0]) & mask ? mask : 0);
}

static void vote_uni(emu_warp *w, const emu_insn *in, u32 mask)
{
    u32 on = emu_pred(w, in->src[0]) & mask;
    emu_set_pred(w, in->dst, mask, on == mask || on == 0 ? mask : 0);
}

static void set_all(emu_warp *w, emu_ref ref, u32 mask, u32 value)
{
    VECTOR(u32, d, ref);
    EACH_LANE
    d[i] = ON(mask, i) ? value : d[i];
}

static void vote_ballot(emu_warp *w, const emu_insn *in, u32 mask)
{
    set_all(w, in->dst, mask, emu_pred(w, in->src[0]) & mask);
}

#define MATCH(T, bits)                                                           \
    static u32 equal_##bits(const T *a, u32 mask, T value)                       \
    {                                                                            \
        u8 flags[EMU_LANES];                                                     \
        EACH_LANE                                                                \
        flags[i] = a[i] == value;                                                \
        return emu_pack(flags) & mask;                                           \
    }                                                                            \
    static void match_any_##bits(emu_warp *w, const emu_insn *in, u32 mask)      \
    {                                                                            \
        const T *a = emu_at(w, in->src[0]);                                      \
        u32 groups[EMU_LANES] = {0};                                             \
        for (u32 rest = mask; rest;) {                                           \
            const u32 group = equal_##bits(a, rest, a[__builtin_ctz(rest)]);     \
            for (u32 m = group; m; m &= m - 1)                                   \
                groups[__builtin_ctz(m)] = group;                                \
            rest &= ~group;                                                      \
        }                                                                        \
        VECTOR(u32, d, in->dst);                                                 \
        EACH_LANE                                                                \
        d[i] = ON(mask, i) ? groups[i] : d[i];                                   \
    }                                                                            \
    static void match_all_##bits(emu_warp *w, const emu_insn *in, u32 mask)      \
    {                                                                            \
        const T *a = emu_at(w, in->src[0]);                                      \
        const bool same = equal_##bits(a, mask, a[__builtin_ctz(mask)]) == mask; \
        set_all(w, in->dst, mask, same ? mask : 0);                              \
        if (in->imm != EMU_NOREF)                                                \
            emu_set_pred(w, (emu_ref)in->imm, mask, same ? mask : 0);            \
    }
MATCH(u32, 32)
MATCH(u64, 64)

static f32 extreme(f32 a, f32 b, s64 op)
{
    bool nan = op & EMU_REDUX_NAN;
    if (a != a || b != b)
        return nan || (a != a && b != b) ? f32_of(0x7fffffff) : a != a ? b : a;
    bool low = (op & 7) == EMU_REDUX_MIN;
    if (a == b)
        return f32_of(low ? f32_bits(a) | f32_bits(b) : f32_bits(a) & f32_bits(b));
    return (a < b) == low ? a : b;
}

static u32 redux_pair(u32 a, u32 b, s64 op)
{
    if (op & EMU_REDUX_F32)
        return f32_bits(extreme(f32_of(a), f32_of(b), op));
    bool less = op & EMU_REDUX_SIGNED ? (s32)a < (s32)b : a < b;
    switch (op & 7) {
    case EMU_REDUX_ADD: return a + b;
    case EMU_REDUX_AND: return a & b;
    case EMU_REDUX_OR: return a | b;
    case EMU_REDUX_XOR: return a ^ b;
    case EMU_REDUX_MIN: return less ? a : b;
    default: return less ? b : a;
    }
}

static void redux(emu_warp *w, const emu_insn *in, u32 mask)
{
    const u32 *a = emu_at(w, in->src[0]);
    const u32 drop = in->imm & EMU_REDUX_ABS ? 0x7fffffff : EMU_ALL;
    u32 m = mask, r = a[__builtin_ctz(m)] & drop;
    for (m &= m - 1; m; m &= m - 1)
        r = redux_pair(r, a[__builtin_ctz(m)] & drop, in->imm);
    if (in->imm & EMU_REDUX_F32)
        r = f32_bits(emu_nan32(f32_of(r)));
    set_all(w, in->dst, mask, r);
}

static void elect(emu_warp *w, const emu_insn *in, u32 mask)
{
    if (in->dst != EMU_NOREF)
        set_all(w, in->dst, mask, (u32)__builtin_ctz(mask));
    emu_set_pred(w, (emu_ref)in->imm, mask, mask & -mask);
}

static void activemask(emu_warp *w, const emu_insn *in, u32 mask)
{
    set_all(w, in->dst, mask, mask);
}

/* ---- lanes that part and meet in machine code ---- */

static void bssy(emu_warp *w, const emu_insn *in, u32 mask)
{
    for (u32 m = mask; m; m &= m - 1)
        w->meeting[in->imm][__builtin_ctz(m)] = mask;
}

static void bbreak(emu_warp *w, const emu_insn *in, u32 mask)
{
    for (int i = 0; i < EMU_LANES; i++)
        w->meeting[in->imm][i] &= ~mask;
    emu_wake_lanes(w);
}

static void bget(emu_warp *w, const emu_insn *in, u32 mask)
{
    u32 *to = emu_at(w, in->dst);
    for (u32 m = mask; m; m &= m - 1)
        to[__builtin_ctz(m)] = w->meeting[in->imm][__builtin_ctz(m)];
}

static void bput(emu_warp *w, const emu_insn *in, u32 mask)
{
    const u32 *from = emu_at(w, in->src[0]);
    for (u32 m = mask; m; m &= m - 1)
        w->meeting[in->imm][__builtin_ctz(m)] = from[__builtin_ctz(m)];
}

/* An 8x8 matrix of 16-bit numbers, lane l holding row l / 4, columns 2 (l % 4) and the next, is
 * transposed. */
static void movmatrix(emu_warp *w, const emu_insn *in, u32 mask)
{
    const u16 *a = emu_at(w, in->src[0]);
    u16 r[2 * EMU_LANES];
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            r[8 * row + column] = a[8 * column + row];
    const u32 *words = (const u32 *)(const void *)r;
    VECTOR(u32, d, in->dst);
    u32 result[EMU_LANES];
    memcpy(result, words, sizeof result);
    EACH_LANE
    d[i] = ON(mask, i) ? result[i] : d[i];
}

const emu_handler EMU_ISA_NAME(emu_ops_warp)[] = {
#define F(id) EMU_ROW_ONE(id)
#include "emu/ops_warp.def"
};

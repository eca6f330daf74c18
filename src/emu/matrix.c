/* Matrix instructions. Sums of products of 16 bits and fewer are formed in double precision and
 * rounded once: GPUs add in an order and with a precision that PTX leaves open. */
#include "emu/matrix.h"

#include "emu/ops_fp.h"

uint32_t emu_element_bits(emu_element e)
{
    switch (e) {
    case EMU_E_F16:
    case EMU_E_BF16: return 16;
    case EMU_E_F64: return 64;
    case EMU_E_S8:
    case EMU_E_U8:
    case EMU_E_E4M3:
    case EMU_E_E5M2: return 8;
    case EMU_E_S4:
    case EMU_E_U4: return 4;
    case EMU_E_B1: return 1;
    default: return 32;
    }
}

static bool is_integer_element(emu_element e)
{
    return e == EMU_E_S8 || e == EMU_E_U8 || e == EMU_E_S4 || e == EMU_E_U4 || e == EMU_E_B1 ||
           e == EMU_E_S32;
}

/* ---- values ---- */

typedef union value {
    double real;
    int64_t whole;
} value;

static double fp8(uint32_t bits, int exponent_bits)
{
    int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t m = bits & ((1u << mantissa_bits) - 1),
             e = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    double sign = bits & 0x80 ? -1 : 1;
    if (exponent_bits == 5 && e == 31)
        return m ? (double)NAN : sign * (double)INFINITY;
    if (exponent_bits == 4 && (bits & 0x7f) == 0x7f)
        return (double)NAN;
    return sign * (e ? ldexp((double)(m | 1u << mantissa_bits), (int)e - bias - mantissa_bits)
                     : ldexp((double)m, 1 - bias - mantissa_bits));
}

static value decode_element(emu_element type, uint64_t bits)
{
    switch (type) {
    case EMU_E_F16: return (value){.real = (double)emu_f_of_h((u16)bits)};
    case EMU_E_BF16: return (value){.real = (double)emu_f_of_b((u16)bits)};
    case EMU_E_TF32: return (value){.real = (double)f32_of((u32)bits & ~0x1fffu)};
    case EMU_E_F32: return (value){.real = (double)f32_of((u32)bits)};
    case EMU_E_F64: return (value){.real = f64_of(bits)};
    case EMU_E_E4M3: return (value){.real = fp8((uint32_t)bits, 4)};
    case EMU_E_E5M2: return (value){.real = fp8((uint32_t)bits, 5)};
    case EMU_E_S8: return (value){.whole = (int8_t)bits};
    case EMU_E_S4: return (value){.whole = (int8_t)(bits << 4) >> 4};
    case EMU_E_S32: return (value){.whole = (int32_t)bits};
    default: return (value){.whole = (int64_t)bits};
    }
}

static uint64_t encode(emu_element type, value v)
{
    switch (type) {
    case EMU_E_F16: return emu_h_of_f(emu_odd32(v.real));
    case EMU_E_F32: return f32_bits(emu_nan32((f32)v.real));
    case EMU_E_F64: return f64_bits(v.real);
    default: return (uint64_t)v.whole & UINT32_MAX;
    }
}

/* ---- fragments ---- */

static uint64_t get_register(const emu_warp *w, const emu_fragment *f, uint32_t reg, uint32_t lane)
{
    const void *v = emu_at(w, f->regs[reg]);
    return f->reg_bytes == 8 ? ((const uint64_t *)v)[lane] : ((const uint32_t *)v)[lane];
}

static void set_register(const emu_warp *w, const emu_fragment *f, uint32_t reg, uint32_t lane,
                         uint64_t bits)
{
    void *v = emu_at(w, f->regs[reg]);
    if (f->reg_bytes == 8)
        ((uint64_t *)v)[lane] = bits;
    else
        ((uint32_t *)v)[lane] = (uint32_t)bits;
}

/* PTX ISA, "Matrix Fragments for mma": row and column of element `e` of register `reg` of a lane.
 */
static uint32_t mma_place(const emu_fragment *f, uint32_t reg, uint32_t e, uint32_t lane)
{
    uint32_t group = lane / 4, quad = lane % 4, per = f->reg_bytes * 8u / emu_element_bits(f->type),
             row, column;
    if (f->role == 'a') {
        bool tall = f->rows == 16;
        row = group + (tall ? 8 * (reg & 1) : 0);
        column = (tall ? reg / 2 : reg) * 4 * per + quad * per + e;
    } else if (f->role == 'b') {
        row = reg * 4 * per + quad * per + e;
        column = group;
    } else if (per == 2) { /* pairs of f16 */
        row = group + 8 * reg;
        column = 2 * quad + e;
    } else {
        row = group + 8 * (reg / 2);
        column = 2 * quad + reg % 2;
    }
    return row * f->columns + column;
}

/* In memory order; a fragment that has room for more holds everything several times. */
static uint32_t wmma_place(const emu_fragment *f, uint32_t reg, uint32_t e, uint32_t lane)
{
    uint32_t per = f->reg_bytes * 8u / emu_element_bits(f->type),
             total = (uint32_t)f->rows * f->columns;
    uint32_t n = (lane * f->nregs * per + reg * per + e) % total;
    return f->column_major ? n % f->rows * f->columns + n / f->rows : n;
}

static uint32_t element_place(const emu_fragment *f, emu_layout layout, uint32_t reg, uint32_t e,
                              uint32_t lane)
{
    return layout == EMU_LAYOUT_MMA ? mma_place(f, reg, e, lane) : wmma_place(f, reg, e, lane);
}

static void gather_fragment(const emu_warp *w, const emu_fragment *f, emu_layout layout, value *to)
{
    uint32_t bits = emu_element_bits(f->type), per = f->reg_bytes * 8u / bits;
    uint64_t ones = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (uint32_t lane = 0; lane < EMU_LANES; lane++)
        for (uint32_t r = 0; r < f->nregs; r++) {
            uint64_t reg = get_register(w, f, r, lane);
            for (uint32_t e = 0; e < per; e++)
                to[element_place(f, layout, r, e, lane)] = decode_element(f->type,
                                                                          reg >> e * bits & ones);
        }
}

static void scatter(const emu_warp *w, const emu_fragment *f, emu_layout layout, const value *from)
{
    uint32_t bits = emu_element_bits(f->type), per = f->reg_bytes * 8u / bits;
    for (uint32_t lane = 0; lane < EMU_LANES; lane++)
        for (uint32_t r = 0; r < f->nregs; r++) {
            uint64_t reg = 0;
            for (uint32_t e = 0; e < per; e++)
                reg |= encode(f->type, from[element_place(f, layout, r, e, lane)]) << e * bits;
            set_register(w, f, r, lane, reg);
        }
}

/* ---- products ---- */

static int64_t integer_dot(const emu_mma *m, const value *a, const value *b, uint32_t n,
                           uint32_t stride)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        int64_t x = a[k].whole, y = b[(size_t)k * stride].whole;
        sum += m->dot == EMU_DOT_XOR_POPC ? x ^ y
                                          : x * y; /* one bit: the product is the conjunction */
    }
    return sum;
}

static double real_dot(const value *a, const value *b, uint32_t n, uint32_t stride, double sum,
                       bool twice)
{
    for (uint32_t k = 0; k < n; k++) {
        double x = a[k].real, y = b[(size_t)k * stride].real;
        sum = twice ? fma(x, y, sum) : sum + x * y;
    }
    return sum;
}

static value one_element(const emu_mma *m, const value *a, const value *b, value c)
{
    uint32_t n = m->a.columns, stride = m->b.columns;
    if (!is_integer_element(m->a.type))
        return (value){.real = real_dot(a, b, n, stride, c.real, m->a.type == EMU_E_F64)};
    int64_t sum = integer_dot(m, a, b, n, stride) + c.whole;
    if (m->saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (value){.whole = sum};
}

void emu_run_mma(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_mma *m = in->extra;
    value *a = w->worker->matrices, *b = a + EMU_MATRIX_ELEMENTS, *c = b + EMU_MATRIX_ELEMENTS;
    (void)mask;
    gather_fragment(w, &m->a, m->layout, a);
    gather_fragment(w, &m->b, m->layout, b);
    gather_fragment(w, &m->c, m->layout, c);
    for (uint32_t row = 0; row < m->c.rows; row++)
        for (uint32_t column = 0; column < m->c.columns; column++) {
            value *at = &c[row * m->c.columns + column];
            *at = one_element(m, a + row * m->a.columns, b + column, *at);
        }
    scatter(w, &m->d, m->layout, c);
}

/* ---- wmma.load and wmma.store ---- */

enum { PIECE = 16 }; /* bytes that a lane moves at once */

/* Bits of a lane's elements lie one behind the other in its registers. */
static void move_register_bytes(const emu_warp *w, const emu_fragment *f, uint32_t lane,
                                uint32_t at, void *memory, uint32_t bytes, bool load)
{
    for (uint32_t n = 0; n < bytes; n++) {
        uint32_t reg = (at + n) / f->reg_bytes, byte = (at + n) % f->reg_bytes;
        uint8_t *v = (uint8_t *)emu_at(w, f->regs[reg]) + (size_t)lane * f->reg_bytes + byte;
        if (load)
            *v = ((const uint8_t *)memory)[n];
        else
            ((uint8_t *)memory)[n] = *v;
    }
}

/* Checks one piece of every lane and moves it. */
static void move_piece(emu_warp *w, const emu_insn *in, const u64 *addr, uint32_t mask, uint32_t at,
                       uint32_t bytes, bool load)
{
    const emu_wmma *x = in->extra;
    for (u32 rest = mask, part; rest; rest &= ~part) {
        emu_span span;
        memcpy(span.addr, addr, sizeof span.addr);
        part = rest;
        span.stride = ACC_IRREGULAR;
        if (x->mem.space == IR_SPACE_GENERIC) {
            u32 found;
            part = emu_same_space(w, rest, addr, &found);
            emu_locate_generic(w, in, part, bytes, found, &span);
        } else {
            emu_locate(w, in, part, bytes, ir_request_space(x->mem.space), &span);
        }
        for (u32 m = x->mem.look ? 0 : part; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctz(m);
            move_register_bytes(w, &x->fragment, lane, at,
                                (void *)(uintptr_t)(span.at[lane] + span.bias), bytes, load);
        }
        if (part == EMU_ALL)
            span.stride = emu_stride(span.addr);
        emu_watch(w, in, part, bytes, &span);
    }
}

/* Byte offset of the element that stands n-th in a fragment's order. */
static u64 element_offset(const emu_wmma *x, uint32_t n, u64 stride)
{
    const emu_fragment *f = &x->fragment;
    uint32_t total = (uint32_t)f->rows * f->columns, bits = emu_element_bits(f->type);
    if (!total)
        return 0;
    n %= total;
    u64 row = f->column_major ? n % f->rows : n / f->columns,
        column = f->column_major ? n / f->rows : n % f->columns;
    return (x->column_major ? column * stride + row : row * stride + column) * bits / 8;
}

static void move_fragment(emu_warp *w, const emu_insn *in, uint32_t mask, bool load)
{
    const emu_wmma *x = in->extra;
    const emu_fragment *f = &x->fragment;
    uint32_t bits = emu_element_bits(f->type), total = (uint32_t)f->rows * f->columns;
    uint32_t per_lane = f->nregs * f->reg_bytes * 8u / bits,
             run = f->column_major ? f->rows : f->columns;
    bool contiguous = f->column_major == x->column_major;
    uint32_t piece = contiguous ? PIECE * 8 / bits : 1;
    piece = piece > per_lane ? per_lane : piece;
    piece = piece > run ? run : piece;
    u64 base[EMU_LANES], addr[EMU_LANES];
    emu_addresses(w, in, base);
    const u32 *strides = emu_at(w, x->stride);
    for (uint32_t e = 0; e < per_lane; e += piece) {
        u32 lanes = 0;
        for (u32 m = mask; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctz(m);
            uint32_t n = lane * per_lane + e;
            addr[lane] = base[lane] + element_offset(x, n, strides[lane]);
            lanes |= load || n < total ? 1u << lane : 0; /* copies are not stored */
        }
        if (lanes)
            move_piece(w, in, addr, lanes, e * bits / 8, piece * bits / 8, load);
    }
}

void emu_run_wmma_load(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    move_fragment(w, in, mask, true);
}

void emu_run_wmma_store(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    move_fragment(w, in, mask, false);
}

/* ---- ldmatrix and stmatrix: 8x8 matrices of 16 bits; lane l names the address of row l % 8 of
 * matrix l / 8 ---- */

static void locate_rows(emu_warp *w, const emu_insn *in, uint32_t lanes, emu_span *span)
{
    const emu_matrices *x = in->extra;
    emu_addresses(w, in, span->addr);
    span->stride = lanes == EMU_ALL ? emu_stride(span->addr) : ACC_IRREGULAR;
    if (x->mem.space == IR_SPACE_GENERIC) {
        u32 space;
        if (emu_same_space(w, lanes, span->addr, &space) != lanes || space != ACC_SHARED)
            emu_raise(w, in->pc, EMU_FAULT_ADDRESS_SPACE, (u32)__builtin_ctz(lanes),
                      span->addr[__builtin_ctz(lanes)], 16,
                      "a matrix that is not in shared memory");
        emu_locate_generic(w, in, lanes, 16, space, span);
    } else {
        emu_locate_shared(w, in, lanes, 16, span);
    }
}

static u16 *element_at(const emu_span *span, uint32_t matrix, uint32_t row, uint32_t column)
{
    uint32_t lane = matrix * 8 + row;
    return (u16 *)(uintptr_t)(span->at[lane] + span->bias) + column;
}

static void move_matrices(emu_warp *w, const emu_insn *in, bool load)
{
    const emu_matrices *x = in->extra;
    u32 lanes = x->count == 4 ? EMU_ALL : (1u << 8 * x->count) - 1;
    emu_span span;
    u32 result[4][EMU_LANES];
    locate_rows(w, in, lanes, &span);
    for (uint32_t r = 0; r < x->count && !x->mem.look; r++) {
        u32 *v = emu_at(w, x->regs[r]);
        for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
            uint32_t row = lane / 4, column = lane % 4 * 2;
            u16 *low = x->transposed ? element_at(&span, r, column, row)
                                     : element_at(&span, r, row, column);
            u16 *high = x->transposed ? element_at(&span, r, column + 1, row)
                                      : element_at(&span, r, row, column + 1);
            if (load) {
                result[r][lane] = emu_two(*low, *high);
            } else {
                *low = (u16)v[lane];
                *high = (u16)(v[lane] >> 16);
            }
        }
    }
    for (uint32_t r = 0; load && !x->mem.look && r < x->count && r < 4; r++)
        memcpy(emu_at(w, x->regs[r]), result[r], sizeof result[r]);
    emu_watch(w, in, lanes, 16, &span);
}

void emu_run_ldmatrix(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    (void)mask;
    move_matrices(w, in, true);
}

void emu_run_stmatrix(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    (void)mask;
    move_matrices(w, in, false);
}

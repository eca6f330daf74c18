/* Bulk copies of boxes of tensors, and instructions that change tensor maps. */
#include "emu/async.h"

enum { SECTOR = 32, SHARED_ALIGN = 128, MOST_ROW = 2048 };

/* ---- maps ---- */

/* Where machine code has its parameters they begin in a constant bank, at a multiple of 16 only. */
static uint64_t map_align(const emu_warp *w, const emu_alloc *holds)
{
    const emu_run_state *run = w->worker->run;
    bool param = holds->base == run->machine->params;
    return run->kernel->diverges && param ? 16 : ACC_TENSOR_MAP_ALIGN;
}

/* The 128 bytes of a map in parameters, constant or global memory; NULL where a slice cannot know
 * them, since no more than their address was on the device. */
static const void *map_bytes(emu_warp *w, const emu_end *end, u32 lane, bool look)
{
    u64 addr[EMU_LANES];
    emu_addresses(w, &end->insn, addr);
    const emu_alloc *holds = emu_memory_holding(&w->worker->run->machine->memory, addr[lane],
                                                ACC_TENSOR_MAP_BYTES);
    if (look && (!holds || (holds->kind != EMU_ALLOC_CONST && holds->kind != EMU_ALLOC_INTERNAL)))
        return NULL;
    if (!holds || addr[lane] % map_align(w, holds))
        emu_raise(w, end->insn.pc, holds ? EMU_FAULT_MISALIGNED : EMU_FAULT_ILLEGAL_ADDRESS, lane,
                  addr[lane], ACC_TENSOR_MAP_BYTES,
                  holds ? "a tensor map is not aligned to 64 bytes"
                        : "a tensor map lies outside of the parameters and any allocation");
    return (const void *)(uintptr_t)addr[lane];
}

static bool decode_map(const emu_warp *w, u32 pc, const void *map, acc_tensor *out)
{
    const emu_launch *l = w->worker->run->launch;
    return l->tensor ? l->tensor(l->tensor_ctx, pc, map, out) : acc_tensor_decode(map, out);
}

/* False: a slice, and nobody knows the map. */
static bool read_map(emu_warp *w, const emu_tensor *t, u32 lane, acc_tensor *out)
{
    const bool look = t->global.mem.look;
    const void *map = map_bytes(w, &t->map, lane, look);
    const bool known = map && decode_map(w, t->map.insn.pc, map, out);
    if (look && !known)
        return false;
    const char *fault = known ? acc_tensor_fault(out) : "no cuTensorMapEncodeTiled made it";
    if (!fault && out->rank != t->rank)
        fault = "it has another number of dimensions than the instruction";
    if (!fault && out->interleave)
        fault = "interleaved layouts are not emulated";
    if (fault)
        emu_raise(w, t->map.insn.pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, (uint64_t)(uintptr_t)map,
                  ACC_TENSOR_MAP_BYTES, "a tensor map cannot be used: %s", fault);
    return true;
}

/* ---- what is shown of a box ---- */

/* Pieces of a box, as lanes of requests; one more than a request holds, to find where to cut. */
typedef struct pieces {
    emu_warp *w;
    const emu_end *end;
    uint64_t addr[EMU_LANES + 1];
    uint32_t count, bytes, space;
    const emu_alloc *alloc; /* that all lie in, or NULL */
    const emu_alloc *shown; /* of the request before, of this box */
    bool begun, apart;      /* a request was shown; the pieces lie in several allocations */
} pieces;

static void show_first(pieces *p, uint32_t count)
{
    emu_span span = {.stride = ACC_IRREGULAR, .space = p->space};
    emu_mem mem = p->end->mem;
    emu_insn in = p->end->insn;
    span.alloc = p->apart ? NULL : p->alloc;
    bool goes_on = p->begun && (p->space != ACC_GLOBAL || (span.alloc && span.alloc == p->shown));
    mem.flags = (uint16_t)(mem.flags | ACC_BOX | (goes_on ? ACC_GOES_ON : 0));
    in.extra = &mem;
    for (uint32_t i = 0; i < EMU_LANES; i++)
        span.addr[i] = p->addr[i < count ? i : 0];
    if (count == EMU_LANES)
        span.stride = emu_stride(span.addr);
    emu_watch(p->w, &in, count == EMU_LANES ? EMU_ALL : (1u << count) - 1, p->bytes, &span);
    p->begun = true;
    p->shown = span.alloc;
    p->count -= count;
    memmove(p->addr, p->addr + count, p->count * sizeof *p->addr);
}

/* Where no sector is in two requests, if there is such a place: it counts once. */
static uint32_t place_to_cut(const pieces *p)
{
    for (uint32_t i = EMU_LANES; i > EMU_LANES / 2; i--)
        if ((p->addr[i - 1] + p->bytes - 1) / SECTOR < p->addr[i] / SECTOR)
            return i;
    return EMU_LANES;
}

static void add_piece(pieces *p, uint64_t address, const emu_alloc *alloc)
{
    if (!p->w->cta->observed)
        return;
    p->apart = p->count ? p->apart || alloc != p->alloc : false;
    p->alloc = alloc;
    p->addr[p->count++] = address;
    if (p->count > EMU_LANES)
        show_first(p, place_to_cut(p));
}

static void show_rest(pieces *p)
{
    if (p->count > EMU_LANES)
        show_first(p, place_to_cut(p));
    if (p->count)
        show_first(p, p->count);
}

/* The bytes of a box in shared memory that begins at `at`: in one piece where rows leave no gaps,
 * else by row, or by 16 bytes where a swizzle tears rows apart. */
static void show_shared(emu_warp *w, const emu_tensor *t, const acc_box *box, uint64_t at)
{
    pieces p = {.w = w, .end = &t->shared, .space = ACC_SHARED};
    bool whole = box->pitch == box->row_bytes;
    bool rows = whole || (box->row_bytes & (box->row_bytes - 1)) == 0;
    if (!w->cta->observed)
        return;
    p.bytes = whole ? acc_box_extent(box) : rows ? box->row_bytes : 16;
    if (whole)
        add_piece(&p, at, NULL);
    for (uint32_t row = 0; !whole && row < box->rows; row++)
        for (uint32_t byte = 0; byte < box->row_bytes; byte += p.bytes) {
            uint64_t place = acc_box_place(box, at, row, byte);
            add_piece(&p, rows ? place & ~(uint64_t)(p.bytes - 1) : place, NULL);
        }
    show_rest(&p);
}

/* ---- moving ---- */

typedef struct move {
    const emu_tensor *t;
    const acc_box *box;
    u32 lane;
    uint64_t at;           /* of the box in shared memory */
    uint8_t *const *hosts; /* where that is on the host, of each block that gets it */
    u32 nhosts;
    emu_combine combine;
} move;

static void fill_row_of_box(const move *m, u32 row, const void *from)
{
    uint8_t data[MOST_ROW];
    acc_tensor_fill(m->box->tensor, data, m->box->row_bytes);
    if (from) {
        memcpy(data + m->box->first, from, m->box->bytes);
        acc_tensor_convert(m->box->tensor, data + m->box->first, m->box->bytes);
    }
    for (u32 byte = 0; byte < m->box->row_bytes; byte += 16) {
        uint64_t place = acc_box_place(m->box, m->at, row, byte) - m->at;
        for (u32 i = 0; i < m->nhosts; i++)
            memcpy(m->hosts[i] + place, data + byte, 16);
    }
}

static void reduce_row(emu_warp *w, const move *m, uint8_t *to, const uint8_t *from)
{
    u32 bytes = acc_element_bytes((acc_element)m->box->tensor->element);
    for (u32 at = 0; at < m->box->bytes; at += bytes) {
        u64 value = 0;
        memcpy(&value, from + at, bytes);
        emu_apply(m->combine, to + at, bytes, value, 0, w->worker->run->parallel);
    }
}

static void take_row_of_box(emu_warp *w, const move *m, u32 row, void *to)
{
    uint8_t data[MOST_ROW];
    for (u32 byte = 0; byte < m->box->row_bytes; byte += 16)
        memcpy(data + byte, m->hosts[0] + acc_box_place(m->box, m->at, row, byte) - m->at, 16);
    if (m->combine)
        reduce_row(w, m, to, data + m->box->first);
    else
        memcpy(to, data + m->box->first, m->box->bytes);
}

/* Row by row: checked, moved, and shown. */
static void move_rows(emu_warp *w, const move *m)
{
    const emu_end *end = &m->t->global;
    pieces p = {.w = w, .end = end, .space = ACC_GLOBAL, .bytes = m->box->bytes};
    for (u32 row = 0; row < m->box->rows; row++) {
        emu_span span;
        bool inside = acc_box_row(m->box, row, &span.addr[m->lane]);
        void *host = (void *)(uintptr_t)span.addr[m->lane];
        if (inside) {
            emu_check_global(w, &end->insn, 1u << m->lane, m->box->bytes, &span);
            add_piece(&p, span.addr[m->lane], span.alloc);
        }
        if (end->mem.look)
            continue;
        if (m->t->loads)
            fill_row_of_box(m, row, inside ? host : NULL);
        else if (inside)
            take_row_of_box(w, m, row, host);
    }
    show_rest(&p);
}

/* Elements of FTZ types are reduced as others: subnormal results stay. */
static emu_combine combine_of(emu_warp *w, const emu_tensor *t, const acc_tensor *map, u32 lane)
{
    static const ir_type types[ACC_ELEMENT_COUNT] = {
#define X(id, ptx, bytes, floating, reduced) [ACC_ELEMENT_##id] = IR_T_##reduced,
#include "access/elements.def"
#undef X
    };
    bool bitwise = t->reduction == EMU_ATOMIC_AND || t->reduction == EMU_ATOMIC_OR ||
                   t->reduction == EMU_ATOMIC_XOR;
    ir_type type = !bitwise                                            ? types[map->element]
                   : acc_element_bytes((acc_element)map->element) == 4 ? IR_T_b32
                                                                       : IR_T_b64;
    bool known = !bitwise || acc_element_bytes((acc_element)map->element) >= 4;
    emu_combine combine = known ? emu_combine_of((emu_atomic_op)t->reduction, type) : NULL;
    if (!combine)
        emu_raise(w, t->global.insn.pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, map->address, 0,
                  "elements of the tensor's type cannot be reduced so");
    return combine;
}

/* ---- blocks of a cluster ---- */

enum { MOST_BLOCKS = 16 };

/* The box's place in the shared memory of each block that gets it, and what each barrier is told. */
typedef struct targets {
    uint8_t *hosts[MOST_BLOCKS];
    uint64_t at; /* in the block's own, or in the one that the address names */
    u32 count;
    emu_span barriers[MOST_BLOCKS];
} targets;

static void locate_one(emu_warp *w, const emu_tensor *t, u32 lane, u32 bytes, targets *out)
{
    emu_span span;
    emu_locate_end(w, &t->shared, lane, bytes, &span);
    if (span.space != ACC_SHARED)
        emu_raise(w, t->shared.insn.pc, EMU_FAULT_ADDRESS_SPACE, lane, span.addr[lane], bytes,
                  "a box is copied to or from memory that is not shared");
    if (span.addr[lane] % SHARED_ALIGN)
        emu_raise(w, t->shared.insn.pc, EMU_FAULT_MISALIGNED, lane, span.addr[lane], bytes,
                  "a box in shared memory begins at a multiple of 128");
    out->at = span.addr[lane];
    out->hosts[0] = (uint8_t *)(uintptr_t)(span.at[lane] + span.bias);
    out->count = 1;
    if (t->has_barrier && !t->global.mem.look)
        emu_locate_barrier(w, &t->barrier, lane, &out->barriers[0]);
}

/* `at` within the shared memory of block `rank`. */
static uint8_t *in_block(emu_warp *w, const emu_tensor *t, u32 lane, u32 rank, uint64_t at,
                         u32 bytes)
{
    const uint64_t own = at & ((UINT64_C(1) << EMU_SHARED_SLOT_BITS) - 1);
    uint64_t offset;
    emu_cta *peer = emu_cluster_peer(w->cta, (uint64_t)(rank + 1) << EMU_SHARED_SLOT_BITS | own,
                                     &offset);
    if (!peer || offset + bytes > peer->shared_bytes)
        emu_raise(w, t->shared.insn.pc, EMU_FAULT_SHARED_BOUNDS, lane, own, bytes,
                  "a box is sent to block %u of the cluster, which has not this much shared memory",
                  rank);
    return peer->shared + offset;
}

static void locate_many(emu_warp *w, const emu_tensor *t, u32 lane, u32 bytes, targets *out)
{
    const u32 blocks = ((const u16 *)emu_at(w, t->blocks))[lane];
    emu_span barrier = {0};
    locate_one(w, t, lane, bytes, out);
    if (t->global.mem.look)
        return;
    barrier = out->barriers[0];
    out->count = 0;
    for (u32 rest = blocks; rest; rest &= rest - 1) {
        u32 rank = (u32)__builtin_ctz(rest);
        emu_span *b = &out->barriers[out->count];
        out->hosts[out->count++] = in_block(w, t, lane, rank, out->at, bytes);
        b->host[lane] = (uint64_t)(uintptr_t)in_block(w, t, lane, rank, barrier.addr[lane], 8);
        b->at = b->host;
        b->bias = 0;
    }
}

/* Shown is each block's copy, at the address that a cluster gives it; the own one as it is. */
static void show_targets(emu_warp *w, const emu_tensor *t, const acc_box *box, u32 lane,
                         uint64_t at)
{
    if (t->blocks == EMU_NOREF) {
        show_shared(w, t, box, at);
        return;
    }
    const uint64_t own = at & ((UINT64_C(1) << EMU_SHARED_SLOT_BITS) - 1);
    for (u32 rest = ((const u16 *)emu_at(w, t->blocks))[lane]; rest; rest &= rest - 1) {
        u32 rank = (u32)__builtin_ctz(rest);
        show_shared(w, t, box,
                    rank == w->cta->cluster_rank
                        ? own
                        : (uint64_t)(rank + 1) << EMU_SHARED_SLOT_BITS | own);
    }
}

/* ---- the instructions ---- */

static void move_box(emu_warp *w, const emu_tensor *t, const acc_tensor *map, u32 lane)
{
    int32_t at[ACC_TENSOR_RANK] = {0};
    for (u32 i = 0; i < t->rank; i++)
        at[i] = ((const s32 *)emu_at(w, t->at[i]))[lane];
    acc_box box = acc_box_of(map, at);
    targets to;
    if (t->blocks == EMU_NOREF)
        locate_one(w, t, lane, acc_box_extent(&box), &to);
    else
        locate_many(w, t, lane, acc_box_extent(&box), &to);
    move m = {.t = t,
              .box = &box,
              .lane = lane,
              .at = to.at,
              .hosts = to.hosts,
              .nhosts = to.count,
              .combine = t->reduces && !t->global.mem.look ? combine_of(w, t, map, lane) : NULL};
    if (!t->loads)
        show_targets(w, t, &box, lane, to.at);
    move_rows(w, &m);
    if (t->loads)
        show_targets(w, t, &box, lane, to.at);
    for (u32 i = 0; t->has_barrier && !t->global.mem.look && i < to.count; i++)
        emu_complete_tx(&to.barriers[i], lane, acc_box_bytes(&box));
}

void emu_run_tensor(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_tensor *t = in->extra;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        acc_tensor map;
        if (read_map(w, t, lane, &map))
            move_box(w, t, &map, lane);
    }
}

static void change(acc_tensor *t, const emu_map_edit *e, u64 value)
{
    u32 i = e->index;
    switch (e->field) {
    case EMU_MAP_ADDRESS: t->address = value; break;
    case EMU_MAP_RANK: t->rank = (uint8_t)(value + 1); break; /* as PTX has it */
    case EMU_MAP_BOX: t->box[i] = (uint16_t)value; break;
    case EMU_MAP_DIM: t->dim[i] = (u32)value; break;
    case EMU_MAP_STRIDE: t->stride[i + 1] = value; break; /* counted from dimension 1 on */
    case EMU_MAP_STEP: t->step[i] = (uint8_t)value; break;
    case EMU_MAP_ELEMENT: t->element = (uint8_t)acc_element_of_ptx((u32)value); break;
    case EMU_MAP_INTERLEAVE: t->interleave = (uint8_t)value; break;
    case EMU_MAP_SWIZZLE: t->swizzle = (uint8_t)value; break;
    case EMU_MAP_FILL: t->nan = value != 0; break;
    }
}

static u64 edit_value(const emu_warp *w, const emu_map_edit *e, u32 lane)
{
    const void *v = emu_at(w, e->value);
    return e->bits == 64 ? ((const u64 *)v)[lane] : ((const u32 *)v)[lane];
}

void emu_run_map_edit(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_map_edit *e = in->extra;
    emu_end end = {.mem = e->mem, .insn = *in};
    end.insn.extra = &end.mem;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        emu_span span;
        acc_tensor map;
        emu_locate_end(w, &end, lane, ACC_TENSOR_MAP_BYTES, &span);
        void *at = (void *)(uintptr_t)(span.at[lane] + span.bias);
        if (!acc_tensor_decode(at, &map))
            emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, span.addr[lane],
                      ACC_TENSOR_MAP_BYTES, "what is changed is no tensor map");
        change(&map, e, edit_value(w, e, lane));
        acc_tensor_encode(&map, at);
        emu_watch(w, &end.insn, 1u << lane, ACC_TENSOR_MAP_BYTES, &span);
    }
}

/* All lanes of the warp name the same maps: it is copied once. */
void emu_run_map_copy(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_map_copy *c = in->extra;
    u32 lane = (u32)__builtin_ctz(mask);
    emu_span from, to;
    emu_locate_end(w, &c->from, lane, ACC_TENSOR_MAP_BYTES, &from);
    emu_locate_end(w, &c->to, lane, ACC_TENSOR_MAP_BYTES, &to);
    memcpy((void *)(uintptr_t)(to.at[lane] + to.bias),
           (const void *)(uintptr_t)(from.at[lane] + from.bias), ACC_TENSOR_MAP_BYTES);
    emu_watch(w, &c->from.insn, 1u << lane, ACC_TENSOR_MAP_BYTES, &from);
    emu_watch(w, &c->to.insn, 1u << lane, ACC_TENSOR_MAP_BYTES, &to);
}

/* Texture fetches and surface accesses of a warp. A lane at a time: what a fetch costs is the
 * arithmetic of sample.c.
 *
 * The observer is told of one request an instruction: each lane's first texel, with the bytes of a
 * texel. Further texels of a filtered fetch are neighbours that the hardware reads along with it;
 * lanes that read border colour alone access nothing. */
#include "emu/atomic.h"
#include "emu/ops_fp.h"
#include "emu/texture.h"

typedef struct reader { /* a lane that reads texels */
    emu_warp *w;
    const emu_insn *in;
    uint32_t lane, mask; /* mask: lanes that have read one */
    uint32_t bytes;
    bool several; /* allocations */
    emu_span span;
} reader;

/* Where the bytes lie on the host; notes the lane's first access. */
static void *reach_texel_bytes(reader *r, uint64_t address, uint32_t bytes)
{
    const emu_mem *mem = r->in->extra;
    const emu_cache *cache = &r->w->worker->caches[mem->cache];
    uint32_t epoch = atomic_load_explicit(&r->w->worker->run->machine->memory.epoch,
                                          memory_order_relaxed);
    bool inside = address >= cache->base && address < cache->end && bytes <= cache->end - address &&
                  cache->epoch == epoch && (mem->op == ACC_LOAD || cache->writable);
    if (!inside) {
        emu_span one;
        one.addr[r->lane] = address;
        emu_check_global(r->w, r->in, 1u << r->lane, bytes, &one);
    }
    if (!(r->mask >> r->lane & 1)) {
        r->several |= r->mask && r->span.alloc != cache->alloc;
        r->span.alloc = cache->alloc;
        r->span.addr[r->lane] = address;
        r->mask |= 1u << r->lane;
        r->bytes = bytes;
    }
    return (void *)(uintptr_t)address;
}

static const void *read_texel(void *ctx, uint64_t address, uint32_t bytes)
{
    return reach_texel_bytes(ctx, address, bytes);
}

static void begin_texel_reads(reader *r, emu_warp *w, const emu_insn *in)
{
    r->w = w;
    r->in = in;
    r->mask = r->bytes = 0;
    r->several = false;
    r->span.space = ACC_GLOBAL;
    r->span.alloc = NULL;
}

static void report_request(reader *r)
{
    if (!r->mask || !r->w->cta->observed)
        return;
    r->span.stride = r->mask == EMU_ALL ? emu_stride(r->span.addr) : ACC_IRREGULAR;
    if (r->several)
        r->span.alloc = NULL;
    emu_observe(r->w, r->in, r->mask, r->bytes, &r->span);
}

static uint32_t lane_word(const emu_warp *w, emu_ref ref, uint32_t lane)
{
    return ref == EMU_NOREF ? 0 : ((const uint32_t *)emu_at(w, ref))[lane];
}

static uint64_t handle_at(const emu_warp *w, const emu_tex *x, uint32_t lane)
{
    return ((const uint64_t *)emu_at(w, x->handle))[lane];
}

/* The emu_texture, or a surface's emu_image, that the lane's handle names. */
static const void *object_at(emu_warp *w, const emu_insn *in, uint32_t lane, bool surface)
{
    emu_machine *machine = w->worker->run->machine;
    uint64_t handle = handle_at(w, in->extra, lane);
    const void *object = surface ? (const void *)emu_surface_find(machine, handle)
                                 : (const void *)emu_texture_find(machine, handle);
    if (!object)
        emu_raise(w, in->pc, EMU_FAULT_BAD_TEXTURE, lane, handle, 0,
                  "uses 0x%llx, which is no %s object that exists", (unsigned long long)handle,
                  surface ? "surface" : "texture");
    return object;
}

/* ---- textures ---- */

static void gather_coordinates(const emu_warp *w, const emu_tex *x, uint32_t lane, emu_fetch *f)
{
    for (int k = 0; k < 3; k++) {
        uint32_t word = lane_word(w, x->at[k], lane);
        f->index[k] = (int32_t)word;
        f->at[k] = f32_of(word);
    }
    f->layer = (int32_t)lane_word(w, x->layer, lane);
}

static void set_fetch_level(const emu_warp *w, const emu_tex *x, uint32_t lane, emu_fetch *f)
{
    float d[2][3];
    uint32_t word = lane_word(w, x->level, lane);
    f->base = x->lod == EMU_LOD_BASE;
    f->level = x->integer ? (float)(int32_t)word : f32_of(word);
    if (x->lod != EMU_LOD_GRADIENT)
        return;
    for (int k = 0; k < 3; k++) {
        d[0][k] = f32_of(lane_word(w, x->dx[k], lane));
        d[1][k] = f32_of(lane_word(w, x->dy[k], lane));
    }
    f->level = emu_gradient_level(f, d[0], d[1]);
}

static void prepare_fetch(emu_warp *w, const emu_insn *in, uint32_t lane, reader *r, emu_fetch *f)
{
    const emu_tex *x = in->extra;
    const emu_texture *t = object_at(w, in, lane, false);
    r->lane = lane;
    *f = (emu_fetch){
        .texture = t, .integer = x->integer, .cube = x->cube, .read = read_texel, .ctx = r};
    if (x->cube != t->image.cube)
        emu_raise(w, in->pc, EMU_FAULT_BAD_TEXTURE, lane, handle_at(w, x, lane), 0,
                  t->image.cube ? "reads a cube map otherwise than by a direction"
                                : "reads as a cube map what is none");
    if (t->image.linear && !x->integer)
        emu_raise(w, in->pc, EMU_FAULT_BAD_TEXTURE, lane, handle_at(w, x, lane), 0,
                  "reads linear memory with coordinates that are no integers");
    gather_coordinates(w, x, lane, f);
    set_fetch_level(w, x, lane, f);
}

static void deliver(emu_warp *w, const emu_tex *x, uint32_t mask, uint32_t results[EMU_LANES][4])
{
    for (uint32_t k = 0; k < x->mem.count; k++) {
        if (x->mem.data[k] == EMU_NOREF)
            continue;
        uint32_t *to = emu_at(w, x->mem.data[k]);
        for (uint32_t m = mask; m; m &= m - 1) {
            int lane = __builtin_ctz(m);
            const uint32_t *c = results[lane];
            to[lane] = x->packed
                           ? emu_two(emu_h_of_f(f32_of(c[2 * k])), emu_h_of_f(f32_of(c[2 * k + 1])))
                           : c[k];
        }
    }
    if (x->resident != EMU_NOREF)
        emu_set_pred(w, x->resident, mask, mask);
}

void emu_run_tex(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    uint32_t results[EMU_LANES][4];
    reader r;
    begin_texel_reads(&r, w, in);
    for (uint32_t m = mask; m; m &= m - 1) {
        emu_fetch f;
        prepare_fetch(w, in, (uint32_t)__builtin_ctz(m), &r, &f);
        emu_sample(&f, results[r.lane]);
    }
    deliver(w, in->extra, mask, results);
    report_request(&r);
}

void emu_run_gather(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_tex *x = in->extra;
    uint32_t results[EMU_LANES][4];
    reader r;
    begin_texel_reads(&r, w, in);
    for (uint32_t m = mask; m; m &= m - 1) {
        emu_fetch f;
        prepare_fetch(w, in, (uint32_t)__builtin_ctz(m), &r, &f);
        emu_gather(&f, x->channel, results[r.lane]);
    }
    deliver(w, x, mask, results);
    report_request(&r);
}

static uint32_t layers_of(const emu_image *image)
{
    return image->cube ? image->slices / 6 : image->slices;
}

/* As the hardware keeps sizes: layers stand behind the dimensions, memory without shape has a width
 * alone. */
static uint32_t image_dimension(const emu_image *image, const emu_image_level *l, unsigned dim)
{
    if (image->layered && dim == image->dims)
        return layers_of(image);
    return dim < image->dims || (dim == 1 && !image->linear) ? l->size[dim] : 0;
}

static uint32_t answer(const emu_image *image, bool normalized, const emu_tex *x, uint32_t level)
{
    const emu_image_level *l = &image->level[level < image->nlevels ? level : image->nlevels - 1];
    switch ((emu_query)x->query) {
    case EMU_QUERY_WIDTH: return image_dimension(image, l, 0);
    case EMU_QUERY_HEIGHT: return image_dimension(image, l, 1);
    case EMU_QUERY_DEPTH: return image_dimension(image, l, 2);
    case EMU_QUERY_LAYERS: return layers_of(image);
    case EMU_QUERY_LEVELS: return image->nlevels;
    default: return normalized;
    }
}

void emu_run_texture_query(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_tex *x = in->extra;
    uint32_t *to = emu_at(w, in->dst);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), level = lane_word(w, x->level, lane);
        if (x->surface) {
            to[lane] = answer(object_at(w, in, lane, true), false, x, level);
        } else {
            const emu_texture *t = object_at(w, in, lane, false);
            to[lane] = answer(&t->image, t->normalized, x, level);
        }
    }
}

/* ---- surfaces ---- */

static int64_t clamp_coordinate(int64_t at, int64_t last)
{
    return at < 0 ? 0 : at > last ? last : at;
}

/* The address of an access of `bytes`; false where it is dropped. The first coordinate counts
 * bytes. */
static bool place_surface_access(emu_warp *w, const emu_insn *in, uint32_t lane, uint32_t bytes,
                                 uint64_t *address)
{
    const emu_tex *x = in->extra;
    const emu_image *image = object_at(w, in, lane, true);
    const emu_image_level *l = &image->level[0];
    int64_t at[4], last[4] = {(int64_t)l->size[0] * emu_texel_bytes(image) - bytes, l->size[1] - 1,
                              l->size[2] - 1, (int64_t)image->slices - 1};
    bool inside = last[0] >= 0;
    for (int k = 0; k < 4; k++) {
        uint32_t word = lane_word(w, k < 3 ? x->at[k] : x->layer, lane);
        at[k] = k < 3 ? (int64_t)(int32_t)word : (int64_t)word; /* a layer's number has no sign */
        inside &= at[k] >= 0 && at[k] <= last[k];
        if (k == 0 && at[0] % bytes)
            emu_raise(w, in->pc, EMU_FAULT_MISALIGNED, lane, (uint64_t)at[0], bytes,
                      "byte %lld of a surface's row for an access of %u bytes", (long long)at[0],
                      bytes);
        if (x->boundary == EMU_CLAMPED)
            at[k] = clamp_coordinate(at[k], last[k]);
    }
    if (!inside && (x->boundary == EMU_TRAP || last[0] < 0))
        emu_raise(w, in->pc, EMU_FAULT_SURFACE_BOUNDS, lane, (uint64_t)at[0], bytes,
                  "accesses byte %lld, row %lld, slice %lld of a surface of %lld x %u x %lld",
                  (long long)at[0], (long long)at[1], (long long)at[2] + at[3],
                  (long long)last[0] + bytes, l->size[1], (long long)last[2] + last[3] + 1);
    *address = l->address + (uint64_t)(at[2] + at[3]) * l->slice + (uint64_t)at[1] * l->pitch +
               (uint64_t)at[0];
    return inside || x->boundary == EMU_CLAMPED;
}

static uint64_t raw_element(const void *at, uint32_t width)
{
    uint64_t value = 0;
    memcpy(&value, at, width);
    return value;
}

static void load_surface_lane(emu_warp *w, const emu_tex *x, uint32_t lane, const char *from)
{
    for (uint32_t k = 0; k < x->mem.count; k++) {
        uint64_t value = from ? raw_element(from + k * x->mem.size, x->mem.size) : 0;
        if (x->mem.data[k] != EMU_NOREF)
            memcpy((char *)emu_at(w, x->mem.data[k]) + lane * x->mem.width, &value, x->mem.width);
    }
}

static void store_surface_lane(emu_warp *w, const emu_tex *x, uint32_t lane, char *to)
{
    bool parallel = w->worker->run->parallel;
    for (uint32_t k = 0; k < x->mem.count; k++) {
        uint64_t value = raw_element((char *)emu_at(w, x->mem.data[k]) + lane * x->mem.width,
                                     x->mem.width);
        if (x->combine)
            emu_apply(x->combine, to, x->mem.size, value, 0, parallel);
        else
            memcpy(to + k * x->mem.size, &value, x->mem.size);
    }
}

void emu_run_surface(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_tex *x = in->extra;
    uint32_t bytes = (uint32_t)x->mem.size * x->mem.count;
    char *at[EMU_LANES] = {NULL}; /* found before a register that is also a coordinate is written */
    reader r;
    begin_texel_reads(&r, w, in);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t address;
        r.lane = (uint32_t)__builtin_ctz(m);
        if (place_surface_access(w, in, r.lane, bytes, &address))
            at[r.lane] = reach_texel_bytes(&r, address, bytes);
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (x->mem.op == ACC_LOAD)
            load_surface_lane(w, x, lane, at[lane]);
        else if (at[lane])
            store_surface_lane(w, x, lane, at[lane]);
    }
    report_request(&r);
}

#include "kernels.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- drawing ---- */

static uint64_t state;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)random_below(&state, n);
}

static uint32_t between(uint32_t low, uint32_t high)
{
    return low + pick(high - low + 1);
}

static char load_or_store(void)
{
    return pick(3) ? 'l' : 's';
}

/* What a family is told and fills in. */
typedef struct draft {
    kernel *k;
    kernel_object *o;
    uint32_t threads, warps, all; /* of a block; of the grid */
} draft;

static use *add(draft *d, use u)
{
    u.object = (uint32_t)(d->o - d->k->objects);
    u.steps = u.steps ? u.steps : 1;
    u.bytes = u.bytes ? u.bytes : 4;
    d->k->uses[d->k->nuses] = u;
    return &d->k->uses[d->k->nuses++];
}

static void in_order(draft *d)
{
    uint32_t steps = between(1, 4);
    use *u = add(d, (use){.op = load_or_store(), .bytes = 4u << pick(3), .a_tid = 1});
    u->ac = (int32_t)d->threads;
    u->ak = (int32_t)d->all;
    u->steps = steps;
    d->o->bytes = (uint64_t)d->all * steps * u->bytes;
}

static void in_order_guarded(draft *d)
{
    in_order(d);
    use *u = &d->k->uses[d->k->nuses - 1];
    u->guard = pick(2) ? TAIL : pick(2) ? EVEN_LANES : FEW_LANES;
    u->limit = u->guard == TAIL ? between(1, d->all) : between(1, 31);
}

static void shifted(draft *d)
{
    in_order(d);
    use *u = &d->k->uses[d->k->nuses - 1];
    u->e = (int32_t)between(1, 7);
    d->o->bytes += 8 * u->bytes;
}

static void skewed(draft *d) /* the allocation's part begins off the boundary */
{
    in_order(d);
    d->o->skew = 16 * between(0, 1);
    d->o->skew = d->o->skew ? d->o->skew : 4 * between(1, 7);
    use *u = &d->k->uses[d->k->nuses - 1];
    d->o->bytes = d->o->bytes / u->bytes * 4;
    u->bytes = 4;
}

static void stencil(draft *d)
{
    for (int32_t e = 0; e < 3; e++)
        add(d, (use){.op = 'l', .e = e, .a_tid = 1, .ac = (int32_t)d->threads});
    d->o->bytes = (d->all + 2) * 4ull;
}

static void at_stride(draft *d)
{
    int32_t stride = (int32_t)between(2, 40);
    use *u = add(d, (use){.op = load_or_store(), .bytes = pick(3) ? 4 : 8, .a_tid = stride});
    u->ac = stride * (int32_t)d->threads;
    u->steps = between(1, 3);
    u->ak = stride * (int32_t)d->all;
    d->o->bytes = (uint64_t)d->all * (uint32_t)stride * u->steps * u->bytes;
}

static void structures(draft *d) /* all fields, one an instruction */
{
    uint32_t fields = between(2, 10);
    use *u = add(d,
                 (use){.op = load_or_store(), .a_tid = (int32_t)fields, .ak = 1, .steps = fields});
    u->ac = (int32_t)(fields * d->threads);
    d->o->bytes = (uint64_t)d->all * fields * 4;
}

static void chunks(draft *d) /* a thread walks through its own piece */
{
    uint32_t length = 8 * between(1, 6);
    use *u = add(d,
                 (use){.op = load_or_store(), .a_tid = (int32_t)length, .ak = 1, .steps = length});
    u->ac = (int32_t)(length * d->threads);
    d->o->bytes = (uint64_t)d->all * length * 4;
}

static void chunks_of_few(draft *d) /* the same, and most lanes have none */
{
    chunks(d);
    use *u = &d->k->uses[d->k->nuses - 1];
    u->guard = FEW_LANES;
    u->limit = between(2, 3);
}

static void same_for_all(draft *d) /* a table that every warp goes through, or a row of a matrix */
{
    uint32_t steps = between(8, 32);
    bool row = pick(2);
    use *u = add(d, (use){.op = 'l', .al = row, .ak = row ? 32 : 1, .steps = steps});
    u->bytes = pick(4) ? 4 : 8;
    d->o->bytes = (uint64_t)steps * (row ? 32 : 1) * u->bytes;
}

static void part_for_all(draft *d) /* each block its own rows */
{
    uint32_t steps = between(4, 16);
    add(d, (use){.op = 'l', .al = 1, .ak = 32, .ac = (int32_t)(32 * steps), .steps = steps});
    d->o->bytes = (uint64_t)d->k->blocks * steps * 32 * 4;
}

static void down_columns(draft *d)
{
    uint32_t pitch = (d->warps * d->k->blocks + 7 + 8 * pick(8)) / 8 * 8;
    use *u = add(d, (use){.op = load_or_store(), .al = (int32_t)pitch, .aw = 1});
    u->ac = (int32_t)d->warps;
    u->op = pick(4) ? u->op : 'r';
    d->o->bytes = 32ull * pitch * 4;
}

static void word_a_warp(draft *d)
{
    uint32_t steps = between(4, 32);
    use *u = add(d, (use){.op = load_or_store(), .aw = 1, .ak = (int32_t)d->warps, .steps = steps});
    u->ac = pick(2) ? (int32_t)(d->warps * steps) : 0;
    d->o->bytes = (uint64_t)d->warps * steps * 4 * (u->ac ? d->k->blocks : 1);
}

static void gather(draft *d)
{
    use *u = add(d, (use){.op = pick(4) ? 'l' : 'r', .a_tid = 1, .ak = 4096, .ac = 65536});
    u->steps = between(8, 24);
    u->range = between(600, 1800);
    d->o->bytes = u->range * 4ull;
}

static void gather_far(draft *d)
{
    use *u = add(d, (use){.op = load_or_store(), .a_tid = 1, .ak = 4096, .ac = 65536});
    u->steps = between(1, 4);
    u->range = between(1 << 16, 1 << 18);
    d->o->bytes = u->range * 4ull;
}

static void odd_block(draft *d) /* block 0 does something else than the others */
{
    static void (*const odd[])(draft *) = {at_stride, chunks, in_order};
    uint32_t first = d->k->nuses;
    uint64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        odd[i ? 2 : pick(2)](d);
        bytes = d->o->bytes > bytes ? d->o->bytes : bytes;
    }
    bool usual = pick(2);
    d->k->uses[first].guard = usual ? OTHER_BLOCKS : FIRST_BLOCK;
    d->k->uses[first + 1].guard = usual ? FIRST_BLOCK : OTHER_BLOCKS;
    d->o->bytes = bytes;
}

/* ---- atomic updates ---- */

static char update(void)
{
    return pick(2) ? 'r' : 'a';
}

static void one_counter(draft *d) /* by all lanes, or by one of each warp */
{
    use *u = add(d, (use){.op = update(), .e = (int32_t)pick(16), .steps = between(1, 4)});
    u->guard = pick(2) ? ALWAYS : FEW_LANES;
    u->limit = 1;
    d->o->bytes = 64;
}

static void counter_a_block(draft *d)
{
    use *u = add(d, (use){.op = update(), .ac = 1, .steps = between(1, 3)});
    u->guard = pick(2) ? ALWAYS : FEW_LANES;
    u->limit = 1;
    d->o->bytes = 4ull * d->k->blocks;
}

static void segments(draft *d) /* neighbouring lanes update one element */
{
    use *u = add(d, (use){.op = update(), .a_tid = 1, .ac = (int32_t)d->threads});
    u->shift = between(1, 4);
    u->steps = between(1, 2);
    d->o->bytes = d->all * 4ull;
}

static void updates_in_order(draft *d) /* of the same elements, step by step */
{
    use *u = add(d, (use){.op = update(), .a_tid = 1, .ac = (int32_t)d->threads});
    u->steps = between(1, 4);
    d->o->bytes = d->all * 4ull;
}

static void small_histogram(draft *d)
{
    use *u = add(d, (use){.op = update(), .a_tid = 1, .ak = 4096, .ac = 65536});
    u->steps = between(1, 8);
    u->range = 8u << pick(6);
    d->o->bytes = u->range * 4ull;
}

/* ---- orders of indices, and other ways to miss neighbours ---- */

static void index_order(draft *d) /* neighbouring blocks take what lies between the lanes' words */
{
    uint32_t gap = pick(3) ? 1 : 2u << pick(2); /* with a gap nobody takes the rest */
    use *u = add(d, (use){.op = load_or_store(), .bytes = pick(3) ? 4 : 8, .ac = (int32_t)gap});
    uint32_t pitch = gap * d->k->blocks + (pick(2) ? 0 : 8 * between(0, 2));
    u->a_tid = (int32_t)pitch;
    d->o->bytes = (uint64_t)pitch * d->threads * u->bytes;
}

static void lane_0_writes(draft *d)
{
    use *u = add(d, (use){.op = 's', .aw = 1, .ac = (int32_t)d->warps, .guard = FEW_LANES});
    u->limit = 1;
    d->o->bytes = 4ull * d->warps * d->k->blocks;
}

static void broadcast(draft *d) /* an element for each warp, or one for all */
{
    use *u = add(d, (use){.op = 'l', .aw = (int32_t)pick(2), .bytes = 4u << pick(3)});
    u->steps = between(1, 16);
    u->ak = (int32_t)d->warps;
    d->o->bytes = (uint64_t)d->warps * u->steps * u->bytes;
}

static void plane(draft *d) /* five points of a stencil on rows */
{
    int32_t pitch = (int32_t)(d->threads + 8 * between(0, 2) + (pick(2) ? 0 : 4));
    const int32_t points[] = {1, pitch, pitch + 1, pitch + 2, 2 * pitch + 1};
    for (uint32_t i = 0; i < 5; i++)
        add(d, (use){.op = 'l', .e = points[i], .a_tid = 1, .ac = pitch});
    d->o->bytes = 4ull * (uint32_t)pitch * (d->k->blocks + 2) + 32;
}

/* ---- close to thresholds ---- */

static void partial_end(draft *d) /* the last warp has one to three lanes left, or lacks some */
{
    static void (*const any[])(draft *) = {in_order, shifted, at_stride, structures, chunks};
    any[pick(5)](d);
    use *u = &d->k->uses[d->k->nuses - 1];
    u->guard = TAIL;
    u->limit = pick(2) ? d->all - between(1, 3) : d->all - 32 + between(1, 3);
}

/* Rows of blocks of 4 to 16 threads in x, off the boundary now and then, which the next block goes
 * on with; or a matrix a block. */
static void narrow_block(draft *d)
{
    kernel *k = d->k;
    if (k->nuses == 0 && d->threads % 32 == 0) {
        k->block[0] = 4u << pick(3);
        k->block[1] = d->threads / k->block[0];
    }
    bool ends = pick(4) == 0;
    uint32_t width = k->block[0], height = k->block[1];
    int32_t pitch = (int32_t)((ends ? width : width * k->blocks) + 8 * between(1, 4));
    use *u = add(d,
                 (use){.op = load_or_store(), .e = (int32_t)between(0, 3), .ax = 1, .ay = pitch});
    u->bytes = pick(3) ? 4 : 8;
    u->ac = ends ? pitch * (int32_t)height : (int32_t)width;
    d->o->bytes = ((uint64_t)height * (uint32_t)pitch * (ends ? k->blocks : 1) + 8) * u->bytes;
}

static void half_of_the_warps(draft *d) /* or one more, or one less, read what all lanes read */
{
    same_for_all(d);
    use *u = &d->k->uses[d->k->nuses - 1];
    u->guard = FEW_WARPS;
    u->limit = (d->warps + 1) / 2 + pick(3);
    u->limit -= u->limit > 1;
}

static void pieces_of_sectors(draft *d) /* two, four, eight warps in a sector, each its own words */
{
    use *u = add(d, (use){.op = load_or_store(), .a_tid = 1, .ac = (int32_t)d->threads});
    u->shift = between(2, 5);
    u->steps = between(1, 2);
    d->o->bytes = d->all * 4ull;
}

static void every_second(draft *d) /* twice the fewest sectors, and half of their words */
{
    use *u = add(d, (use){.op = load_or_store(), .a_tid = 2, .ac = 2 * (int32_t)d->threads});
    u->guard = pick(2) ? ALWAYS : TAIL;
    u->limit = d->all - between(1, 33);
    d->o->bytes = d->all * 8ull;
}

static void rows_off_the_boundary(draft *d) /* one of two, or three of four, start off it */
{
    int32_t pitch = 32 + (pick(2) ? 4 : 2);
    use *u = add(d, (use){.op = load_or_store(), .al = 1, .aw = pitch, .steps = between(1, 4)});
    u->ac = pitch * (int32_t)d->warps;
    u->ak = u->ac * (int32_t)d->k->blocks;
    d->o->bytes = (uint64_t)u->ak * u->steps * 4 + 128;
}

/* ---- shared memory ---- */

static void own_words(draft *d) /* private memory of each thread */
{
    uint32_t each = between(1, 8), apart = pick(2) ? 1 : each;
    d->o->shared = true;
    use u = {.op = 's', .a_tid = (int32_t)apart, .ak = apart == 1 ? (int32_t)d->threads : 1};
    u.steps = each;
    add(d, u);
    u.op = 'l';
    add(d, u)->steps = each;
    d->o->bytes = (uint64_t)d->threads * each * 4;
}

static void within_warps(draft *d)
{
    d->o->shared = true;
    add(d, (use){.op = 's', .a_tid = 1});
    use u = {.op = 'l',
             .al = pick(2) ? 1 : -1,
             .ak = (int32_t)between(1, 5),
             .e = (int32_t)between(1, 31)};
    u.rotate = true;
    u.steps = between(1, 32);
    add(d, u);
    d->o->bytes = d->warps * 32 * 4;
}

static void sum_of_warp(draft *d)
{
    d->o->shared = true;
    use *u = add(d, (use){.op = 's', .aw = 1, .guard = FEW_LANES, .limit = 1});
    bool all = pick(2); /* of all warps, by all: then it is a true exchange */
    u = add(d, (use){.op = 'l', .aw = !all, .ak = all, .barrier = true});
    u->steps = all ? d->warps : 1;
    d->o->bytes = d->warps * 4;
}

static void tile(draft *d) /* stored by rows, read by columns */
{
    uint32_t pitch = between(32, 40);
    d->o->shared = true;
    add(d, (use){.op = 's', .al = 1, .aw = (int32_t)pitch});
    add(d, (use){.op = 'l', .al = (int32_t)pitch, .aw = 1, .barrier = true})->guard = FEW_LANES;
    d->k->uses[d->k->nuses - 1].limit = d->warps;
    d->o->bytes = 32ull * pitch * 4;
}

static void backwards(draft *d)
{
    d->o->shared = true;
    uint32_t bytes = pick(2) ? 4 : 8;
    add(d, (use){.op = 's', .a_tid = 1, .bytes = bytes});
    use u = {.op = 'l', .a_tid = -1, .e = (int32_t)d->threads - 1, .bytes = bytes, .barrier = true};
    add(d, u);
    d->o->bytes = (uint64_t)d->threads * bytes;
}

static void shared_stride(draft *d)
{
    int32_t stride = (int32_t)between(2, 9);
    d->o->shared = true;
    add(d, (use){.op = 's', .a_tid = stride});
    use u = {.op = 'l', .a_tid = -stride, .barrier = true};
    u.e = stride * ((int32_t)d->threads - 1);
    add(d, u);
    d->o->bytes = (uint64_t)d->threads * (uint32_t)stride * 4;
}

static void histogram(draft *d)
{
    d->o->shared = true;
    use *u = add(d, (use){.op = 'r', .a_tid = 1, .ak = 4096, .steps = between(4, 16)});
    u->range = between(64, 1024);
    d->o->bytes = u->range * 4ull;
}

static void shared_counter(draft *d) /* by all lanes, or by one of each warp */
{
    d->o->shared = true;
    use *u = add(d, (use){.op = update(), .e = (int32_t)pick(4), .steps = between(1, 4)});
    u->guard = pick(2) ? ALWAYS : FEW_LANES;
    u->limit = 1;
    d->o->bytes = 16;
}

static void pool(draft *d);

typedef struct family {
    const char *name;
    void (*draw)(draft *d);
} family;

static const family families[] = {
    {"in order", in_order},
    {"in order, guarded", in_order_guarded},
    {"shifted", shifted},
    {"skewed", skewed},
    {"stencil", stencil},
    {"stride", at_stride},
    {"structures", structures},
    {"chunks", chunks},
    {"chunks, few lanes", chunks_of_few},
    {"same for all warps", same_for_all},
    {"same for the block's warps", part_for_all},
    {"columns", down_columns},
    {"word a warp", word_a_warp},
    {"gather, near", gather},
    {"gather, far", gather_far},
    {"odd block 0", odd_block},
    {"one counter", one_counter},
    {"counter a block", counter_a_block},
    {"segments", segments},
    {"updates in order", updates_in_order},
    {"small histogram", small_histogram},
    {"index order", index_order},
    {"lane 0 writes", lane_0_writes},
    {"broadcast", broadcast},
    {"plane", plane},
    {"partial end", partial_end},
    {"half of the warps", half_of_the_warps},
    {"pieces of sectors", pieces_of_sectors},
    {"every second", every_second},
    {"rows off the boundary", rows_off_the_boundary},
    {"pool", pool},
    {"shared, own words", own_words},
    {"shared, within warps", within_warps},
    {"shared, sum of a warp", sum_of_warp},
    {"shared, tile", tile},
    {"shared, backwards", backwards},
    {"shared, stride", shared_stride},
    {"shared, histogram", histogram},
    {"shared, counter", shared_counter},
    {"narrow block", narrow_block},
};

/* ---- pools ---- */

static kernel_object *begin_object(kernel *k, const char *name)
{
    uint32_t n = k->nobjects++;
    k->objects[n] = (kernel_object){.family = name, .pool = n};
    return &k->objects[n];
}

/* Two or three arrays in one allocation, each used in its own way. */
static void pool(draft *d)
{
    static const uint32_t suited[] = {0, 2, 5, 6, 7, 9, 11, 13, 14, 21, 22};
    uint32_t leader = (uint32_t)(d->o - d->k->objects), arrays = between(2, 3);
    uint64_t at = 0;
    for (uint32_t i = 0; i < arrays; i++) {
        const family *f = &families[suited[pick(sizeof suited / sizeof *suited)]];
        d->o = i ? begin_object(d->k, f->name) : d->o;
        d->o->family = f->name;
        d->o->pool = leader;
        d->o->offset = at;
        f->draw(d);
        at += (d->o->bytes + d->o->skew + 255) / 256 * 256;
    }
    d->k->objects[leader].room = at;
}

uint32_t kernel_families(void)
{
    return sizeof families / sizeof *families;
}

/* Blocks of one or two dimensions, now and then with a last warp that is not full. */
static void draw_shape(kernel *k)
{
    static const uint32_t sizes[] = {32, 64, 128, 256, 512, 1024};
    uint32_t threads = sizes[pick(6)];
    k->blocks = between(2, 24);
    k->block[0] = threads;
    k->block[1] = 1;
    if (pick(3) == 0) {
        k->block[0] = 16u << pick(2);
        k->block[1] = threads / k->block[0];
    } else if (pick(6) == 0) {
        k->block[0] = threads > 32 ? threads - 8 * between(1, 3) : 48;
    }
}

void kernel_draw(uint32_t seed, uint32_t first, kernel *out)
{
    *out = (kernel){.seed = seed};
    state = seed * 0x2545f4914f6cdd1dull + 1;
    draw_shape(out);
    draft d = {.k = out};
    d.threads = out->block[0] * out->block[1];
    d.warps = (d.threads + 31) / 32;
    d.all = d.threads * out->blocks;
    uint32_t n = between(1, 3);
    for (uint32_t i = 0; i < n && out->nobjects + 3 <= MAX_OBJECTS; i++) {
        const family *f = &families[i ? pick(kernel_families()) : first];
        d.o = begin_object(out, f->name);
        f->draw(&d);
    }
    for (uint32_t i = 0; i < out->nobjects; i++)
        if (out->objects[i].pool == i && !out->objects[i].room)
            out->objects[i].room = out->objects[i].bytes + out->objects[i].skew;
}

/* ---- PTX ---- */

static void put_term(FILE *f, const char *name, int32_t factor)
{
    if (factor)
        fprintf(f, "    mad.lo.s32 %%i, %s, %d, %%i;\n", name, factor);
}

static void put_index(FILE *f, const use *u)
{
    fprintf(f, "    mov.s32 %%i, %d;\n", u->e);
    put_term(f, "%tid1", u->a_tid);
    put_term(f, "%tx", u->ax);
    put_term(f, "%ty", u->ay);
    put_term(f, "%lane", u->al);
    put_term(f, "%warp", u->aw);
    put_term(f, "%cta", u->ac);
    put_term(f, "%k", u->ak);
    if (u->shift)
        fprintf(f, "    shr.u32 %%i, %%i, %u;\n", u->shift);
    if (u->rotate)
        fputs("    and.b32 %i, %i, 31;\n    mad.lo.s32 %i, %warp, 32, %i;\n", f);
    if (u->range)
        fprintf(
            f,
            "    mul.lo.u32 %%i, %%i, 2654435769;\n    shr.u32 %%h, %%i, 15;\n"
            "    xor.b32 %%i, %%i, %%h;\n    mul.lo.u32 %%i, %%i, 2246822507;\n"
            "    shr.u32 %%h, %%i, 13;\n    xor.b32 %%i, %%i, %%h;\n    rem.u32 %%i, %%i, %u;\n",
            u->range);
}

static void put_access(FILE *f, const kernel *k, const use *u)
{
    bool shared = k->objects[u->object].shared;
    const char *space = shared ? "shared" : "global";
    const char *type = u->bytes == 8 ? "u64" : u->bytes == 16 ? "v4.u32" : "u32";
    const char *value = u->bytes == 8 ? "%d" : u->bytes == 16 ? "{%v0, %v1, %v2, %v3}" : "%v0";
    /* Integers that all lanes of a warp update are no cost: the compiler combines them. */
    const char *update_type = shared ? "f32" : "u32", *one = shared ? "0f3F800000" : "1";
    fprintf(f, "    cvt.s64.s32 %%o, %%i;\n    mad.lo.s64 %%a, %%o, %u, %%b%u;\n", u->bytes,
            u->object);
    if (u->op == 'l')
        fprintf(f, "    ld.%s.%s %s, [%%a];\n", space, type, value);
    else if (u->op == 's')
        fprintf(f, "    st.%s.%s [%%a], %s;\n", space, type, value);
    else if (u->op == 'a')
        fprintf(f, "    atom.%s.add.%s %%v0, [%%a], %s;\n", space, update_type, one);
    else
        fprintf(f, "    red.%s.add.%s [%%a], %s;\n", space, update_type, one);
}

/* Jumps over the instruction where the guard does not hold. */
static void put_guard(FILE *f, const kernel *k, const use *u, uint32_t n)
{
    switch (u->guard) {
    case ALWAYS: return;
    case TAIL:
        fprintf(f, "    mad.lo.s32 %%h, %%cta, %u, %%tid1;\n    setp.ge.u32 %%p, %%h, %u;\n",
                k->block[0] * k->block[1], u->limit);
        break;
    case EVEN_LANES: fputs("    and.b32 %h, %lane, 1;\n    setp.ne.u32 %p, %h, 0;\n", f); break;
    case FEW_LANES: fprintf(f, "    setp.ge.u32 %%p, %%lane, %u;\n", u->limit); break;
    case FEW_WARPS: fprintf(f, "    setp.ge.u32 %%p, %%warp, %u;\n", u->limit); break;
    case FIRST_BLOCK: fputs("    setp.ne.u32 %p, %cta, 0;\n", f); break;
    case OTHER_BLOCKS: fputs("    setp.eq.u32 %p, %cta, 0;\n", f); break;
    }
    fprintf(f, "    @%%p bra end%u;\n", n);
}

static void put_use(FILE *f, const kernel *k, uint32_t n)
{
    const use *u = &k->uses[n];
    if (u->barrier)
        fputs("    bar.sync 0;\n", f);
    put_guard(f, k, u, n);
    fprintf(f, "    mov.s32 %%k, 0;\nloop%u:\n", n);
    put_index(f, u);
    put_access(f, k, u);
    fprintf(f, "    add.s32 %%k, %%k, 1;\n    setp.lt.s32 %%p, %%k, %u;\n    @%%p bra loop%u;\n",
            u->steps, n);
    fprintf(f, "end%u:\n", n);
}

static void put_head(FILE *f, const kernel *k)
{
    fputs(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(", f);
    for (uint32_t i = 0, n = 0; i < k->nobjects; i++)
        if (!k->objects[i].shared)
            fprintf(f, "%s.param .u64 p%u", n++ ? ", " : "", i);
    fputs(
        ")\n{\n    .reg .pred %p;\n    .reg .b32 %i, %h, %k, %tid1, %tx, %ty, %lane, %warp, %cta, "
        "%n, %v0, %v1, %v2, %v3;\n    .reg .b64 %a, %o, %d, %b0, %b1, %b2, %b3, "
        "%b4, %b5, %b6, %b7;\n",
        f);
    for (uint32_t i = 0; i < k->nobjects; i++)
        if (k->objects[i].shared)
            fprintf(f, "    .shared .align 16 .b8 s%u[%llu];\n", i,
                    (unsigned long long)k->objects[i].bytes);
    fputs("    mov.u32 %tx, %tid.x;\n    mov.u32 %ty, %tid.y;\n    mov.u32 %n, %ntid.x;\n"
          "    mad.lo.s32 %tid1, %ty, %n, %tx;\n    and.b32 %lane, %tid1, 31;\n"
          "    shr.u32 %warp, %tid1, 5;\n    mov.u32 %cta, %ctaid.x;\n    mov.u64 %d, 1;\n"
          "    mov.u32 %v0, 1;\n    mov.u32 %v1, 1;\n    mov.u32 %v2, 1;\n    mov.u32 %v3, 1;\n",
          f);
    for (uint32_t i = 0; i < k->nobjects; i++)
        fprintf(f,
                k->objects[i].shared ? "    mov.u64 %%b%u, s%u;\n"
                                     : "    ld.param.u64 %%b%u, [p%u];\n",
                i, i);
}

char *kernel_ptx(const kernel *k)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    put_head(f, k);
    for (uint32_t n = 0; n < k->nuses; n++)
        put_use(f, k, n);
    fputs("    ret;\n}\n", f);
    fclose(f);
    return text;
}

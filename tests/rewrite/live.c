/* A plain reference for live ranges: of each word of an array whether the block has filled it, of each
 * thread where it read last. */
#include "live.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WARPS = 32 };

typedef struct reference {
    const flow_fills *fills;
    uint64_t base, bytes;
    bool *filled;                                                  /* by word of the array */
    uint64_t (*last)[MOST_WARPS][32], (*last_end)[MOST_WARPS][32]; /* [pc]: bytes read */
    rewrite_live live;
} reference;

static const flow_fill *fill_of(const reference *r, uint32_t pc)
{
    uint32_t at = pc < r->fills->npcs ? r->fills->at[pc] : FLOW_NONE;
    return at == FLOW_NONE ? NULL : &r->fills->fills[at];
}

/* Did the thread read the word by a load that the store depends on? */
static bool has_read(const reference *r, const flow_fill *fill, const seen *a, uint32_t lane,
                     uint64_t word)
{
    for (uint32_t i = fill->first; i < fill->first + fill->count; i++) {
        uint32_t pc = r->fills->reads[i].pc;
        uint64_t first = r->last[pc][a->warp][lane] / 4,
                 end = (r->last_end[pc][a->warp][lane] + 3) / 4;
        if (word >= first && word < end)
            return true;
    }
    return false;
}

static void take_word(reference *r, const seen *a, uint32_t lane, uint64_t word)
{
    const flow_fill *fill = a->op == ACC_LOAD ? NULL : fill_of(r, a->pc);
    bool *filled = &r->filled[word - r->base / 4];
    if (fill && !fill->updates && !has_read(r, fill, a, lane, word)) {
        r->live.begins[fill->origin]++;
        *filled = true;
        return;
    }
    r->live.unfilled += !*filled;
}

static void take_seen(reference *r, const seen *a)
{
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t from = a->addr[lane], end = from + a->bytes;
        for (uint64_t w = from / 4; w < (end + 3) / 4; w++)
            if (w >= r->base / 4 && w < (r->base + r->bytes + 3) / 4)
                take_word(r, a, lane, w);
    }
    for (uint32_t m = a->op == ACC_STORE ? 0 : a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        r->last[a->pc][a->warp][lane] = a->addr[lane];
        r->last_end[a->pc][a->warp][lane] = a->addr[lane] + a->bytes;
    }
}

static void take_block(reference *r, const shot *original, uint64_t block)
{
    memset(r->filled, 0, r->bytes / 4 + 2);
    memset(r->last, 0, r->fills->npcs * sizeof *r->last);
    memset(r->last_end, 0, r->fills->npcs * sizeof *r->last_end);
    for (size_t i = 0; i < original->count; i++)
        if (original->list[i].block == block && original->list[i].space == ACC_SHARED)
            take_seen(r, &original->list[i]);
}

/* All accesses to the array's words. */
static void list_words(const reference *r, const shot *original, wl_spans *out)
{
    uint64_t words = (r->bytes + 3) / 4, *times = calloc(3 * words + 1, sizeof *times);
    for (size_t i = 0; i < original->count; i++) {
        const seen *a = &original->list[i];
        int class_ = a->op == ACC_LOAD ? WL_LOADS : a->op == ACC_STORE ? WL_STORES : WL_ATOMICS;
        for (uint32_t m = a->space == ACC_SHARED ? a->mask : 0; m; m &= m - 1) {
            uint64_t from = a->addr[__builtin_ctz(m)];
            for (uint64_t w = from / 4; w < (from + a->bytes + 3) / 4; w++)
                if (w - r->base / 4 < words)
                    times[3 * (w - r->base / 4) + (uint64_t)class_]++;
        }
    }
    for (uint64_t w = 0; w < words; w++) {
        wl_span span = {.first = w, .count = 1};
        memcpy(span.times, &times[3 * w], sizeof span.times);
        wl_spans_add(out, &span);
    }
    assert_true(wl_spans_finish(out));
    free(times);
}

static bool compare_array(const char *name, const shot *original, const rewrite_copy *copy,
                          const flow_fills *fills, uint32_t var)
{
    const ir_var *v = copy->kernel->vars[var].var;
    reference r = {.fills = fills,
                   .base = rewrite_var_address(copy, var),
                   .bytes = ir_var_size(v),
                   .filled = calloc(ir_var_size(v) / 4 + 2, 1),
                   .last = calloc(fills->npcs + 1, sizeof *r.last),
                   .last_end = calloc(fills->npcs + 1, sizeof *r.last_end)};
    wl_spans spans = {.counted = true};
    rewrite_live live;
    list_words(&r, original, &spans);
    bool told = rewrite_read_live(copy, v->name, wl_spans_read(spans.data, spans.size, true),
                                  &live);
    for (uint64_t block = 0; told && block < copy->layout->blocks; block++)
        take_block(&r, original, block);
    if (told && memcmp(&live, &r.live, sizeof live) != 0)
        fail_msg(
            "%s: live ranges of %s: %llu, %llu, %llu begin, %llu unfilled, told as %llu, %llu, "
            "%llu, %llu",
            name, v->name, (unsigned long long)r.live.begins[0],
            (unsigned long long)r.live.begins[1], (unsigned long long)r.live.begins[2],
            (unsigned long long)r.live.unfilled, (unsigned long long)live.begins[0],
            (unsigned long long)live.begins[1], (unsigned long long)live.begins[2],
            (unsigned long long)live.unfilled);
    wl_spans_free(&spans);
    free(r.filled), free(r.last), free(r.last_end);
    return told;
}

uint64_t compare_live(const char *name, const ir_module *module, const shot *original,
                      const rewrite_copy *copy)
{
    const rewrite_kernel *k = copy->kernel;
    wl_arena *arena = wl_arena_new();
    ir_kernel code;
    flow_fills fills;
    uint64_t told = 0;
    assert_int_equal(ir_kernel_of(module, k->func, arena, &code), WL_OK);
    assert_int_equal(flow_find_fills(&code, arena, &fills), WL_OK);
    for (uint32_t i = 0; rewrite_has_probe(k, REWRITE_SHARED) && i < k->nvars; i++)
        if (k->vars[i].var->space == IR_SPACE_SHARED && ir_var_size(k->vars[i].var))
            told += compare_array(name, original, copy, &fills, i);
    wl_arena_free(arena);
    return told;
}

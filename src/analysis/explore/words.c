/* Reasons, and sets of warps, as people would say them. */
#include "analysis/explore/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- pieces of text ---- */

typedef struct text {
    char *at;
    size_t left;
} text;

static void say(text *t, const char *words)
{
    size_t n = strlen(words);
    n = n < t->left ? n : t->left - 1;
    memcpy(t->at, words, n);
    t->at += n;
    t->left -= n;
    *t->at = '\0';
}

#define TENTHS "%.1f"

static void say_number(text *t, double number)
{
    char digits[40];
    bool whole = fabs(number - round(number)) < 0.005;
    snprintf(digits, sizeof digits, whole ? "%.0f" : TENTHS, number);
    say(t, digits);
}

bool explore_told_alike(double a, double b)
{
    char x[40], y[40];
    snprintf(x, sizeof x, TENTHS, a);
    snprintf(y, sizeof y, TENTHS, b);
    return strcmp(x, y) == 0;
}

static void say_range(text *t, double least, double most)
{
    say_number(t, least);
    if (most > least) {
        say(t, " to ");
        say_number(t, most);
    }
}

/* ---- reasons ---- */

static const char *file_name(const explore_facts *f, uint32_t id)
{
    const prof_file *file = prof_find_file(&f->files, id);
    const char *slash = file ? strrchr(file->path, '/') : NULL;
    return file ? slash ? slash + 1 : file->path : NULL;
}

static bool is_of_branch(explore_why why)
{
    return why == EXPLORE_SKIPS_BRANCH || why == EXPLORE_ENTERS_BRANCH || why == EXPLORE_TIMES ||
           why == EXPLORE_ENDS_EARLY;
}

/* The first from `pc` on that has a line after `after`; NULL: none of its block has. */
static const prof_code *next_line(const explore_facts *f, uint32_t pc, const prof_code *after)
{
    const prof_static_block *b = explore_block_at(f, pc);
    uint32_t end = b ? b->first_pc + b->ninsns : pc + 1;
    for (uint32_t at = pc; at < end && at < f->code.count; at++) {
        const prof_code *code = &f->code.rows[at];
        if (code->line && (!after || (code->file == after->file && code->line > after->line)))
            return code;
    }
    return NULL;
}

/* A branch begins with what compilers moved there from lines before it, mostly addresses. */
const prof_code *explore_code_of(const explore_facts *f, const explore_reason *r)
{
    uint32_t pc = r->pc;
    const prof_code *before = pc > 0 && pc <= f->code.count ? &f->code.rows[pc - 1] : NULL;
    const prof_code *code = is_of_branch(r->why) && before && before->line
                                ? next_line(f, pc, before)
                                : NULL;
    code = code ? code : next_line(f, pc, NULL);
    return code || pc >= f->code.count ? code : &f->code.rows[pc];
}

static void say_place(text *t, const explore_facts *f, const explore_reason *r)
{
    char number[80];
    const prof_code *code = explore_code_of(f, r);
    const char *file = code && code->line ? file_name(f, code->file) : NULL;
    if (file) {
        snprintf(number, sizeof number, ":%u", code->line);
        say(t, file);
    } else {
        snprintf(number, sizeof number, "instruction %u (%.40s)", r->pc,
                 code ? code->op : "unknown");
    }
    say(t, number);
}

static void say_object(text *t, const explore_facts *f, uint32_t id)
{
    const prof_object *o = prof_find_object(&f->objects, id);
    if (!o)
        return;
    say(t, " (");
    say(t, o->variable[0] ? o->variable : o->name);
    say(t, ")");
}

static void say_part(text *t, const explore_facts *f, const explore_reason *r, char part)
{
    const char plain[] = {part, '\0'};
    switch (part) {
    case '@': say_place(t, f, r); break;
    case '&': say_object(t, f, r->object); break;
    case '#': say_range(t, r->least, r->most); break;
    case '=': say_range(t, r->than_least, r->than_most); break;
    default: say(t, plain);
    }
}

const char *explore_reason_text(const explore_facts *f, const explore_reason *r, bool many,
                                wl_arena *arena)
{
    static const struct {
        const char *many, *one, *tail;
    } words[EXPLORE_WHYS] = {
#define X(id, many, one, tail) [EXPLORE_##id] = {many, one, tail},
#include "analysis/explore/reasons.def"
#undef X
    };
    char line[400];
    text t = {line, sizeof line};
    say(&t, many ? words[r->why].many : words[r->why].one);
    for (const char *at = words[r->why].tail; *at; at++)
        say_part(&t, f, r, *at);
    return wl_arena_strdup(arena, line);
}

/* ---- places ---- */

ana_warp_place ana_warp_place_of(const uint32_t grid[3], uint64_t block, uint32_t warp)
{
    uint64_t x = grid[0] ? grid[0] : 1, y = grid[1] ? grid[1] : 1;
    return (ana_warp_place){
        .block = block,
        .index = {(uint32_t)(block % x), (uint32_t)(block / x % y), (uint32_t)(block / x / y)},
        .warp = warp};
}

ana_block_name ana_block_name_of(const uint32_t grid[3], const ana_warp_place *place)
{
    const uint32_t *at = place->index;
    ana_block_name name;
    if (grid[2] > 1)
        snprintf(name.text, sizeof name.text, "block (%u, %u, %u)", at[0], at[1], at[2]);
    else if (grid[1] > 1)
        snprintf(name.text, sizeof name.text, "block (%u, %u)", at[0], at[1]);
    else
        snprintf(name.text, sizeof name.text, "block %u", at[0]);
    return name;
}

/* ---- sets of warps ---- */

/* Numbers that ascend, as "3", "12 to 15", "0, 2 and 4 to 7"; false where these are too many
 * pieces. */
static bool say_set(text *t, const uint64_t *numbers, uint32_t count)
{
    enum { MOST_PIECES = 3 };
    uint32_t pieces = count > 0;
    for (uint32_t i = 1; i < count; i++)
        pieces += numbers[i] != numbers[i - 1] + 1;
    for (uint32_t i = 0, end, n = 0; i < count && pieces <= MOST_PIECES; i = end, n++) {
        for (end = i + 1; end < count && numbers[end] == numbers[end - 1] + 1;)
            end++;
        say(t, n == 0 ? "" : n + 1 == pieces ? " and " : ", ");
        say_number(t, (double)numbers[i]);
        if (end - i > 1)
            say(t, end - i == 2 && pieces == 1 ? " and " : " to ");
        if (end - i > 1)
            say_number(t, (double)numbers[end - 1]);
    }
    return pieces <= MOST_PIECES;
}

static void say_block(text *t, const explore_facts *f, uint64_t block)
{
    ana_warp_place place = ana_warp_place_of(f->grid, block, 0);
    say(t, ana_block_name_of(f->grid, &place).text);
}

typedef struct warp_set { /* the same numbers in each of some blocks */
    uint32_t nblocks, nnumbers;
    uint64_t *blocks, *numbers;
    bool whole; /* else the numbers are not the same */
} warp_set;

/* The rows come by block, number. */
static bool find_set(const prof_warp_rows *warps, const uint32_t *rows, uint32_t count,
                     wl_arena *arena, warp_set *out)
{
    uint32_t in_block = 0;
    *out = (warp_set){.blocks = wl_new_array(arena, uint64_t, count + 1),
                      .numbers = wl_new_array(arena, uint64_t, count + 1),
                      .whole = true};
    if (!out->blocks || !out->numbers)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const prof_warp *w = &warps->rows[rows[i]];
        if (!out->nblocks || w->block != out->blocks[out->nblocks - 1]) {
            out->whole &= out->nblocks <= 1 || in_block == out->nnumbers;
            out->blocks[out->nblocks++] = w->block;
            in_block = 0;
        }
        if (out->nblocks == 1)
            out->numbers[out->nnumbers++] = w->number;
        out->whole &= in_block < out->nnumbers && out->numbers[in_block] == w->number;
        in_block++;
    }
    out->whole &= in_block == out->nnumbers;
    return true;
}

static void say_count(text *t, uint64_t count, const char *one, const char *many)
{
    say_number(t, (double)count);
    say(t, count == 1 ? one : many);
}

static void say_blocks(text *t, const explore_facts *f, const warp_set *s)
{
    char pieces[200];
    text set = {pieces, sizeof pieces};
    uint64_t all = (uint64_t)f->grid[0] * f->grid[1] * f->grid[2];
    bool line = f->grid[1] <= 1 && f->grid[2] <= 1;
    if (s->nblocks == 1)
        say_block(t, f, s->blocks[0]);
    else if (s->nblocks == all)
        say(t, "every block");
    else if (line && say_set(&set, s->blocks, s->nblocks))
        say(t, "blocks "), say(t, pieces);
    else
        say_count(t, s->nblocks, " block", " blocks");
}

static bool takes_whole_block(const explore_facts *f, const warp_set *s)
{
    uint64_t threads = (uint64_t)f->block[0] * f->block[1] * f->block[2];
    return s->whole && s->nnumbers > 1 && s->nnumbers == (threads + 31) / 32;
}

const char *explore_warps_text(const explore_facts *f, const prof_warp_rows *warps,
                               const uint32_t *rows, uint32_t count, wl_arena *arena)
{
    warp_set s;
    char line[400] = "", pieces[200];
    text t = {line, sizeof line}, set = {pieces, sizeof pieces};
    if (!find_set(warps, rows, count, arena, &s))
        return NULL;
    if (takes_whole_block(f, &s))
        say(&t, "all warps of ");
    else if (s.whole && say_set(&set, s.numbers, s.nnumbers))
        say(&t, s.nnumbers == 1 ? "warp " : "warps "), say(&t, pieces), say(&t, " of ");
    else
        say_count(&t, count, " warp of ", " warps of ");
    say_blocks(&t, f, &s);
    return wl_arena_strdup(arena, line);
}

/* A kernel of machine code, put together as PTX. */
#include "sass/lift.h"

#include "sass/lifter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static const struct lift_row {
    const char *name;
    lift_function *function;
} rows[] = {
#define X(name, function) {name, lift_##function},
#include "sass/lift.def"
#undef X
};

static int compare_rows(const void *name, const void *row)
{
    return strcmp(name, ((const struct lift_row *)row)->name);
}

/* NULL: there is none. */
static lift_function *find_function(const char *name)
{
    const struct lift_row *row = bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows,
                                         compare_rows);
    return row ? row->function : NULL;
}

/* ---- an instruction ---- */

static bool writes_guard(const lifter *l)
{
    unsigned kind = l->in.guard_uniform ? SASS_UNIFORM_PREDICATE : SASS_PREDICATE;
    for (unsigned i = 0; i < l->in.operands; i++) {
        const sass_operand *op = lift_operand(l, i);
        if (op->flags & SASS_WRITTEN && op->kind == kind && op->reg == l->in.guard)
            return true;
    }
    return false;
}

/* A copy of a guard that the instruction itself writes. */
static void set_guard(lifter *l)
{
    const sass_details *in = &l->in;
    char own[16];
    l->guarded = in->guard != SASS_ALWAYS;
    snprintf(own, sizeof own, "%%%sp%u", in->guard_uniform ? "u" : "", in->guard);
    l->guard_pred = l->guarded ? lift_text_of(own) : lift_text_of("%pt");
    if (l->guarded && writes_guard(l)) {
        l->guard_pred = lift_new(l, LIFT_PRED);
        lift_put(l, "mov.pred %s, %s", l->guard_pred.at, own);
    }
}

static void lose_result(lifter *l, unsigned i, const char *value)
{
    const sass_operand *op = lift_operand(l, i);
    unsigned width = lift_result_width(&l->in);
    if (op->kind == SASS_REGISTER || op->kind == SASS_UNIFORM)
        for (unsigned word = 0; word < width && op->reg + word < SASS_NO_REGISTER; word++)
            lift_set(l, i, word, value);
    if (op->kind == SASS_PREDICATE || op->kind == SASS_UNIFORM_PREDICATE) {
        lift_text q = lift_new(l, LIFT_PRED);
        lift_put(l, "setp.eq.u32 %s, %s, 0", q.at, value);
        lift_set_pred(l, i, q.at);
    }
}

static void lose_everything(lifter *l, const char *value)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.u32 %s, %s, 0", q.at, value);
    for (uint32_t r = 0; r < l->code->registers && r < SASS_NO_REGISTER; r++)
        lift_do(l, "mov.b32 %%r%" PRIu32 ", %s", r, value);
    for (unsigned u = 0; u < 63; u++)
        lift_do(l, "mov.b32 %%u%u, %s", u, value);
    for (unsigned p = 0; p < SASS_ALWAYS; p++)
        lift_do(l, "mov.pred %%p%u, %s", p, q.at), lift_do(l, "mov.pred %%up%u, %s", p, q.at);
}

/* ---- instructions without a layout ---- */

typedef enum lost_results {
    LOST_REGISTERS,
    LOST_UNIFORMS,
    LOST_MATRIX,
    LOST_PREDICATE
} lost_results;

typedef struct lost_row {
    uint16_t bits, since, before;
    const char *kinds;
    lost_results results;
    uint8_t count;
} lost_row;

static const lost_row lost_rows[] = {
#define X(bits, kinds, since, before, name, results, count) \
    {bits, since, before, kinds, LOST_##results, count},
#include "sass/lost.def"
#undef X
};

/* A field of at most 16 bits that lies within one byte or two. */
static unsigned field_of(const lifter *l, unsigned first, unsigned count)
{
    const unsigned char *at = l->code->bytes + (size_t)l->at * SASS_BYTES + first / 8;
    return (at[0] | (unsigned)at[1] << 8) >> first % 8 & ((1U << count) - 1);
}

/* NULL: nobody knows what it writes. */
static const lost_row *lost_row_of(const lifter *l)
{
    uint32_t sm = l->code->sm;
    for (size_t i = 0; i < sizeof lost_rows / sizeof *lost_rows; i++) {
        const lost_row *row = &lost_rows[i];
        if (row->bits == field_of(l, 0, 9) && row->since <= sm && sm < row->before &&
            strchr(row->kinds, '0' + (int)field_of(l, 9, 3)))
            return row;
    }
    return NULL;
}

static void lose_uniform_pred(lifter *l, unsigned first, const char *q)
{
    unsigned pred = field_of(l, first, 3);
    if (pred != SASS_ALWAYS)
        lift_do(l, "mov.pred %%up%u, %s", pred, q);
}

static void lose_row(lifter *l, const lost_row *row, const char *value)
{
    bool uniform = row->results == LOST_UNIFORMS;
    unsigned first = field_of(l, 16, 8);
    unsigned count = row->results == LOST_MATRIX ? 4 * (field_of(l, 53, 5) + 1) : row->count;
    unsigned none = uniform ? 63 : SASS_NO_REGISTER;
    for (unsigned r = first; r < first + count && r < none; r++)
        lift_do(l, "mov.b32 %%%c%u, %s", uniform ? 'u' : 'r', r, value);
    if (!uniform && row->results != LOST_PREDICATE)
        return;
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.u32 %s, %s, 0", q.at, value);
    lose_uniform_pred(l, 81, q.at);
    if (uniform)
        lose_uniform_pred(l, 84, q.at);
}

static bool may_store(const lifter *l)
{
    unsigned cost = l->code->insns[l->at].cost;
    return cost == IR_COST_MEMORY || cost == IR_COST_ATOMIC || cost == IR_COST_SYNC ||
           cost == SASS_UNKNOWN;
}

static void lose_operands(lifter *l, const char *value)
{
    for (unsigned i = 0; i < l->in.operands; i++)
        if (lift_operand(l, i)->flags & SASS_WRITTEN)
            lose_result(l, i, value);
}

static void lose_memory(lifter *l, const char *value)
{
    /* What is loaded from elsewhere follows from nothing as it is. */
    lift_do(l, "st.shared.b32 [%s], %s", value, value);
    lift_do(l, "st.local.b32 [%s], %s", value, value);
}

/* Nobody knows what it does: what it writes is lost, and memory, where it may write there. Without a layout it is not known
 * either whether its guard is uniform: it is lost as if there were none. */
static void lose_insn(lifter *l)
{
    lift_text value = lift_unknown(l);
    const lost_row *row = l->in.form ? NULL : lost_row_of(l);
    l->known = false;
    l->guarded &= l->in.form != NULL;
    if (l->in.form)
        lose_operands(l, value.at);
    else if (row)
        lose_row(l, row, value.at);
    else
        lose_everything(l, value.at);
    if (!row && may_store(l))
        lose_memory(l, value.at);
}

static void lift_insn(lifter *l)
{
    memset(l->used, 0, sizeof l->used);
    if (l->ways.labels[l->at])
        lift_label(l, l->at);
    lift_source(l);
    bool read = sass_read(l->code->bytes + (size_t)l->at * SASS_BYTES, l->at, l->code->sm, &l->in);
    lift_function *function = read ? find_function(l->in.form->name) : NULL;
    l->known = true;
    l->elsewhere = false;
    if (l->in.guard == SASS_ALWAYS && l->in.guard_negated)
        return;
    set_guard(l);
    if (l->ways.ways[l->at].goes == LIFT_ANYWHERE)
        l->problem = "control goes where nobody knows";
    l->known = function != NULL;
    if (function)
        function(l);
    if (!l->known && !l->elsewhere)
        lose_insn(l);
}

/* ---- the kernel ---- */

static void write_bank(FILE *out, unsigned number, const sass_bank *bank)
{
    fprintf(out, ".const .align 128 .b8 __bank%u[%zu] = {", number, bank->size);
    for (size_t i = 0; i < bank->size; i++)
        fprintf(out, "%s%u", i ? "," : "", bank->bytes[i]);
    fputs("};\n", out);
}

/* What the kernel declares and what the system reserves before it, then what the launch adds. Each is named once: the
 * emulator lays out what code names. */
static void write_shared_arrays(const lifter *l, FILE *out)
{
    uint64_t reserved = l->code->sm >= 90 ? 1024 : 16, bytes = l->code->places.shared;
    fprintf(out,
            ".extern .shared .align 16 .b8 " SASS_DYNAMIC "[];\n.shared .align 16 .b8 " SASS_SHARED
            "[%" PRIu64 "];\nmov.u64 %%d0, " SASS_SHARED ";\nmov.u64 %%d0, " SASS_DYNAMIC ";\n",
            bytes > reserved ? bytes : reserved);
}

/* Variables in global memory, each once; what they hold at first is not known here. */
static void write_variables(const lifter *l, FILE *out)
{
    const sass_places *p = &l->code->places;
    for (uint32_t i = 0; i < p->nlinks; i++) {
        bool first = l->linked[i];
        for (uint32_t j = 0; j < i && first; j++)
            first = !l->linked[j] || strcmp(p->links[i].symbol, p->links[j].symbol) != 0;
        if (first)
            fprintf(out, ".visible .global .align 16 .b8 %s[%" PRIu64 "];\n", p->links[i].symbol,
                    p->links[i].bytes);
    }
}

static void write_head(const lifter *l, FILE *out, const char *kernel, const char *body)
{
    const sass_places *p = &l->code->places;
    fprintf(out, ".version 8.8\n.target sm_%" PRIu32 "\n.address_size 64\n", l->code->sm);
    for (unsigned bank = 1; bank < SASS_BANKS; bank++)
        if (l->banks >> bank & 1)
            write_bank(out, bank, &p->banks[bank]);
    write_variables(l, out);
    if (l->asks_heap)
        fputs(".extern .func (.param .b64 result) malloc(.param .b64 bytes);\n"
              ".extern .func free(.param .b64 address);\n",
              out);
    for (uint32_t i = 0; i < l->code->nfiles; i++)
        if (lift_can_name(l->code->files[i]))
            fprintf(out, ".file %" PRIu32 " \"%s\"\n", i + 1, l->code->files[i]);
    fprintf(out, ".visible .entry %s(", kernel);
    if (p->param_bytes)
        fprintf(out, ".param .align 16 .b8 __params[%" PRIu32 "]", p->param_bytes);
    fprintf(out,
            ")\n{\n.reg .b32 %%r<264>;\n.reg .b32 %%u<264>;\n.reg .b32 %%stack;\n"
            ".reg .b32 %%result;\n.reg .pred %%resultp;\n"
            ".reg .pred %%p<8>;\n.reg .pred %%up<8>;\n.reg .pred %%pt;\n"
            ".reg .b32 %%t<%u>;\n.reg .b64 %%d<%u>;\n.reg .b16 %%h<%u>;\n.reg .pred %%q<%u>;\n",
            l->most[LIFT_B32] + 1, l->most[LIFT_B64] + 1, l->most[LIFT_B16] + 1,
            l->most[LIFT_PRED] + 1);
    if (l->asks_heap)
        fputs(".param .b64 __asked;\n.param .b64 __given;\n", out);
    if (strstr(body, ".shared"))
        write_shared_arrays(l, out);
    if (l->code->stack)
        fprintf(out,
                ".local .align 16 .b8 __local[%" PRIu32 "];\nmov.u64 %%d0, __local;\n"
                "cvt.u32.u64 %%stack, %%d0;\nadd.u32 %%stack, %%stack, %" PRIu32 ";\n",
                l->code->stack, l->code->stack);
    else
        fputs("mov.u32 %stack, 0;\n", out);
    fputs("setp.eq.u32 %pt, 0, 0;\ndiverge;\n", out);
}

static uint32_t lines_of_text(const char *text, size_t length)
{
    uint32_t lines = 0;
    for (const char *end = text + length; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        lines++;
    return lines;
}

static bool note_lines(const lifter *l, uint32_t head, sass_lifted *out)
{
    out->lines = head + (uint32_t)l->lines.count + 1;
    out->insn_of_line = wl_new_array(l->arena, uint32_t, out->lines + 1);
    if (!out->insn_of_line)
        return false;
    for (uint32_t line = 0; line <= out->lines; line++) {
        bool own = line > head && line - head <= l->lines.count &&
                   l->lines.data[line - head - 1] < l->code->count;
        out->insn_of_line[line] = own ? l->lines.data[line - head - 1] : SASS_NOWHERE;
    }
    return true;
}

/* The head, which says what the body needs, before the body. */
static bool assemble_kernel(const lifter *l, const char *body, size_t length, const char *kernel,
                            sass_lifted *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return false;
    write_head(l, file, kernel, body);
    bool good = fflush(file) == 0 && note_lines(l, lines_of_text(text, size), out);
    good = good && fwrite(body, 1, length, file) == length && fputs("}\n", file) >= 0;
    good = fclose(file) == 0 && good;
    out->length = size;
    out->text = good ? wl_arena_copy(l->arena, text, size + 1) : NULL;
    free(text);
    return out->text != NULL;
}

/* What the copy's first instruction leads to. */
static void lift_copied(lifter *l, uint32_t copy, sass_lifted *out)
{
    l->copy = copy;
    uint32_t number = lift_ways_reach(&l->ways, copy);
    if (copy)
        lift_put(l, "trap"); /* nothing comes here: a copy begins by its label */
    for (l->at = 0; l->at < l->code->count && !l->problem; l->at++) {
        if (l->ways.seen[l->at] != number)
            continue;
        lift_insn(l);
        out->known[l->at] &= l->known;
    }
}

static void lift_body(lifter *l, sass_lifted *out)
{
    memset(out->known, true, l->code->count);
    for (uint32_t copy = 0; copy < l->ways.copies.count; copy++)
        lift_copied(l, copy, out);
    lift_put(l, "trap"); /* likewise */
    out->undone = l->undone;
    for (uint32_t i = 0; i < l->code->count; i++)
        out->unknown += !out->known[i];
}

static bool lift_kernel(lifter *l, const char *kernel, sass_lifted *out)
{
    char *body = NULL;
    size_t length = 0;
    out->known = wl_new_array(l->arena, bool, l->code->count + 1);
    l->linked = wl_new_array(l->arena, bool, l->code->places.nlinks + 1);
    if (!lift_ways_find(&l->ways, l->code, l->arena) || !out->known || !l->linked)
        return false;
    l->out = open_memstream(&body, &length);
    if (!l->out)
        return false;
    lift_body(l, out);
    bool good = fclose(l->out) == 0 && !l->nomem;
    good = good && (l->problem || assemble_kernel(l, body, length, kernel, out));
    free(body);
    return good;
}

wl_status sass_lift_code(const sass_code *code, const char *kernel, wl_arena *arena,
                         sass_lifted *out, wl_error *err)
{
    *out = (sass_lifted){.code = *code};
    lifter l = {.code = &out->code, .arena = arena};
    bool good = lift_kernel(&l, kernel, out);
    wl_vec_free(&l.lines);
    wl_vec_free(&l.ways.copies);
    if (!good)
        return wl_fail(err, WL_NOMEM, "There is no memory for the machine code of %s.", kernel);
    return l.problem ? wl_fail(err, WL_UNSUPPORTED, "in its machine code, %s", l.problem) : WL_OK;
}

wl_status sass_lift(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                    wl_arena *arena, sass_lifted *out, wl_error *err)
{
    sass_code code;
    wl_status status = sass_code_read(cubin, size, sm, kernel, arena, &code, err);
    *out = (sass_lifted){.code = code};
    return status == WL_OK ? sass_lift_code(&code, kernel, arena, out, err) : status;
}

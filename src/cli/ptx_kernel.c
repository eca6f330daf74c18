/* What is said about a kernel's instructions, and the totals. */
#include "cli/machine.h"
#include "cli/ptx.h"
#include "flow/affine.h"
#include "ir/front.h"

#include <string.h>

const ir_insn *ptx_insn_at(const ptx_subject *s, uint32_t pc, const flow_function **f)
{
    ir_place place = ir_kernel_at(s->code, pc);
    if (f)
        *f = &s->kernel->funcs[place.index];
    return place.insn;
}

uint32_t ptx_machine_insn(const ptx_subject *s, uint32_t pc)
{
    uint32_t line = ptx_insn_at(s, pc, NULL)->pos.line;
    return s->lifted && line <= s->lifted->lines ? s->lifted->insn_of_line[line] : SASS_NOWHERE;
}

static bool has_flags(const ptx_subject *s, uint32_t pc, uint8_t flags)
{
    return !flags || s->proof->flags[pc] & flags;
}

uint32_t ptx_count_insns(const ptx_subject *s, uint8_t flags)
{
    uint32_t count = 0, last = SASS_NOWHERE;
    for (uint32_t pc = 0; pc < s->proof->npcs; pc++) {
        uint32_t insn = ptx_machine_insn(s, pc);
        if (!has_flags(s, pc, flags) || (s->lifted && (insn == SASS_NOWHERE || insn == last)))
            continue;
        last = insn;
        count++;
    }
    return count;
}

char *ptx_op(const ptx_subject *s, uint32_t pc, char *buffer, size_t size)
{
    uint32_t i = ptx_machine_insn(s, pc);
    return i < SASS_NOWHERE ? machine_text(&s->lifted->code, i, buffer, size)
                            : ir_insn_name(ptx_insn_at(s, pc, NULL), buffer, size);
}

char *ptx_place(const ptx_subject *s, uint32_t pc, char *buffer, size_t size)
{
    const ir_insn *insn = ptx_insn_at(s, pc, NULL);
    const ir_loc *loc = insn->loc == IR_NONE ? NULL : &s->module->locs[insn->loc];
    const char *file = loc ? ir_module_file(s->module, loc->file) : NULL;
    uint32_t machine = ptx_machine_insn(s, pc);
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file)
        snprintf(buffer, size, "%s:%u", slash ? slash + 1 : file, loc->line);
    else if (machine != SASS_NOWHERE)
        snprintf(buffer, size, "0x%04x", machine * SASS_BYTES);
    else
        snprintf(buffer, size, "PTX:%u", insn->pos.line);
    return buffer;
}

/* The first address that the instruction touches memory at. */
static const flow_address *address_of(const ptx_subject *s, uint32_t pc, const flow_function **f)
{
    const ir_insn *insn = ptx_insn_at(s, pc, f);
    const flow_address *a = &(*f)->addresses[(*f)->address_first[insn->pc]];
    while (!a->touch)
        a++;
    return a;
}

char *ptx_address(const ptx_subject *s, uint32_t pc, char *buffer, size_t size)
{
    const flow_function *f;
    const flow_address *a = address_of(s, pc, &f);
    return flow_address_text(s->kernel, f, a, buffer, size);
}

static size_t add_text(char *buffer, size_t size, size_t at, const char *text)
{
    if (at < size)
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", at ? ", " : "", text);
    return at;
}

static size_t append_object_name(const ptx_subject *s, uint32_t object, char *buffer, size_t size,
                                 size_t at)
{
    char name[160];
    const flow_object *o = &s->kernel->objects[object];
    snprintf(name, sizeof name, "%s (%s)", o->var->name, ir_space_text(o->space));
    return add_text(buffer, size, at, name);
}

char *ptx_origin(const ptx_subject *s, uint32_t pc, char *buffer, size_t size)
{
    const flow_function *f;
    const flow_address *a = address_of(s, pc, &f);
    size_t at = 0;
    snprintf(buffer, size, "%s", "");
    flow_reach r = flow_reach_of(s->kernel, f, a);
    if (r.object != FLOW_NONE)
        append_object_name(s, r.object, buffer, size, at);
    const uint64_t *set = a->value == FLOW_NONE ? NULL : f->points[a->value].set;
    for (uint32_t e = 0; set && r.object == FLOW_NONE && e < s->kernel->nelements; e++) {
        const flow_element *element = &s->kernel->elements[e];
        char name[64];
        if (!flow_bit(set, e))
            continue;
        if (element->kind == FLOW_TO_OBJECT) {
            at = append_object_name(s, element->object, buffer, size, at);
            continue;
        }
        if (element->kind == FLOW_TO_PARAM)
            snprintf(name, sizeof name, element->offset ? "param %u+%u" : "param %u",
                     element->param, element->offset);
        else
            snprintf(name, sizeof name, "%s",
                     element->kind == FLOW_TO_SHARED  ? "some shared memory"
                     : element->kind == FLOW_TO_LOCAL ? "some local memory"
                                                      : "a loaded pointer");
        at = add_text(buffer, size, at, name);
    }
    return buffer;
}

/* ---- totals ---- */

static void hash_characters(uint64_t *hash, const char *text)
{
    for (; *text; text++)
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
}

/* Of the kernel's name and all its code. */
static uint64_t hash_kernel(const ptx_subject *s)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash_characters(&hash, s->code->funcs[0]->name);
    for (uint32_t k = 0; k < s->code->count; k++)
        for (uint32_t i = 0; i < s->code->funcs[k]->ninsns; i++) {
            char line[400];
            hash_characters(&hash, ir_insn_text(s->module, s->code->funcs[k],
                                                &s->code->funcs[k]->insns[i], line, sizeof line));
        }
    return hash;
}

static bool seen_before(ptx_totals *t, uint64_t hash)
{
    for (size_t i = 0; i < t->seen.count; i++)
        if (t->seen.data[i] == hash)
            return true;
    return !wl_push(&t->seen, hash);
}

void ptx_count(ptx_totals *t, const ptx_subject *s)
{
    const flow_proof *p = s->proof;
    bool met[FLOW_REASON_COUNT][4] = {{false}};
    if (seen_before(t, hash_kernel(s))) {
        t->duplicates++;
        return;
    }
    t->kernels++;
    t->classes[p->class_]++;
    t->mostly += p->class_ == FLOW_PARTLY && 2 * p->proven >= p->memory;
    t->accesses += p->memory;
    t->proven += p->proven;
    for (uint32_t pc = 0; pc < p->npcs; pc++) {
        const flow_verdict *v = &p->verdicts[pc];
        if (v->reason == FLOW_CLEAN)
            continue;
        t->causes[v->reason][v->through].accesses++;
        t->causes[v->reason][v->through].kernels += !met[v->reason][v->through];
        met[v->reason][v->through] = true;
    }
}

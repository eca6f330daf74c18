/* Loops, forms and arrays in what `warplens ptx` prints. */
#include "cli/ptx.h"

#include "ir/front.h"

#include <string.h>

enum { TEXT = 2048 };

/* ---- accesses ---- */

/* ", through the calls at a.cu:12 and b.cu:7" */
static void print_calls(const ptx_subject *s, uint32_t context, FILE *out)
{
    char place[160];
    const char *before = ", called at ";
    for (const flow_context *c = &s->counts->contexts[context]; c->parent != FLOW_NONE;
         c = &s->counts->contexts[c->parent]) {
        uint32_t func = s->counts->contexts[c->parent].func;
        fprintf(out, "%s%s", before,
                ptx_place(s, s->kernel->funcs[func].first_pc + c->call, place, sizeof place));
        before = " from ";
    }
}

static void print_use(const ptx_subject *s, const flow_use_count *use, FILE *out)
{
    char text[TEXT], origin[TEXT], rules[80];
    uint32_t base = flow_base_of(use->form);
    fprintf(out, "  %-24s   ", "");
    if (*ptx_form(s, use, text, sizeof text))
        fprintf(out, "at %s, ", text);
    if (base == FLOW_NONE && *ptx_origin(s, use->pc, origin, sizeof origin))
        fprintf(out, "in %s, ", origin);
    flow_count_text(s->counts, &use->count, text, sizeof text);
    if (use->count.kind == FLOW_SOMETIMES)
        fprintf(out, "how often is unknown");
    else
        fprintf(out, "%s time%s a thread", text, strcmp(text, "1") ? "s" : "");
    if (*ptx_conditions(s, use, text, sizeof text))
        fprintf(out, ", where %s", text);
    print_calls(s, use->context, out);
    fprintf(out, ": %s\n", flow_rules_text(use->rules, rules, sizeof rules));
}

void ptx_print_uses(const ptx_subject *s, uint32_t pc, FILE *out)
{
    for (uint32_t i = 0; i < s->counts->count; i++)
        if (s->counts->uses[i].pc == pc)
            print_use(s, &s->counts->uses[i], out);
}

/* ---- loops ---- */

static const flow_function *function_of(const ptx_subject *s, uint32_t context)
{
    return &s->kernel->funcs[s->counts->contexts[context].func];
}

static void print_end(const ptx_subject *s, const flow_loop_count *l, FILE *out)
{
    char place[160], text[TEXT];
    flow_count_text(s->counts, &l->count, text, sizeof text);
    if (l->count.kind != FLOW_SOMETIMES)
        fprintf(out, "%s times", text);
    else
        fprintf(out, "unknown");
    if (l->end == FLOW_END_DATA) {
        fprintf(out, ": %s decides", flow_reason_text((flow_reason)l->source.reason));
        if (l->source.pc != IR_NONE)
            fprintf(out, ", from %s", ptx_place(s, l->source.pc, place, sizeof place));
    } else if (l->end == FLOW_END_FORM)
        fprintf(out, ": it has no counter that moves by one step");
    else if (l->end == FLOW_END_NEVER)
        fprintf(out, ": there is no way out");
    fputc('\n', out);
}

void ptx_print_loops(const ptx_subject *s, FILE *out)
{
    char place[160], name[200];
    if (s->counts->nloops)
        fprintf(out, "  loops\n");
    for (uint32_t i = 0; i < s->counts->nloops; i++) {
        const flow_loop_count *l = &s->counts->loops[i];
        const flow_function *f = function_of(s, l->context);
        const flow_loop *loop = &f->loops.loops[l->loop];
        fprintf(out, "    %-24s %s",
                ptx_place(s, f->first_pc + f->blocks[loop->header].first, place, sizeof place),
                flow_counter_text(s->counts, l, name, sizeof name));
        if (loop->parent != FLOW_NONE) {
            flow_loop_count outer = {.context = l->context, .loop = loop->parent};
            fprintf(out, " in %s", flow_counter_text(s->counts, &outer, name, sizeof name));
        }
        print_calls(s, l->context, out);
        fprintf(out, ": ");
        print_end(s, l, out);
    }
}

/* ---- arrays ---- */

static void print_reads_of(const ptx_subject *s, const flow_fill *fill, FILE *out)
{
    char place[160];
    for (uint32_t i = fill->first; i < fill->first + fill->count; i++)
        fprintf(out, "%s%s", i == fill->first ? ", if the word is one that is read at " : ", ",
                ptx_place(s, s->fills->reads[i].pc, place, sizeof place));
}

static void print_write(const ptx_subject *s, const flow_array_use *use, FILE *out)
{
    static const char *const words[] = {"", "filled", "updated", "filled or updated"};
    char place[160];
    uint32_t pc = s->counts->uses[use->use].pc;
    const flow_fill *fill = &s->fills->fills[s->fills->at[pc]];
    fprintf(out, "      %s at %s: %s%s%s", words[use->write], ptx_place(s, pc, place, sizeof place),
            flow_origin_name((flow_origin)fill->origin), fill->copied ? ", copied" : "",
            fill->unknown ? ", or what is not known" : "");
    if (use->write == FLOW_EITHER)
        print_reads_of(s, fill, out);
    print_calls(s, s->counts->uses[use->use].context, out);
    fputc('\n', out);
}

static void print_rules_of(const ptx_subject *s, const flow_array *array, FILE *out)
{
    char rules[80];
    const char *before = "";
    for (unsigned set = 0; set < 16; set++) {
        uint32_t count = 0;
        for (uint32_t i = array->first; i < array->first + array->count; i++)
            count += s->counts->uses[s->arrays->uses[i].use].rules == set;
        if (!count)
            continue;
        fprintf(out, "%s%u %s", before, count, flow_rules_text(set, rules, sizeof rules));
        before = "; ";
    }
}

static void print_array(const ptx_subject *s, const flow_array *array, FILE *out)
{
    char text[TEXT];
    const flow_object *o = array->object == FLOW_NONE ? NULL : &s->kernel->objects[array->object];
    fprintf(out, "    %s", o ? o->var->name : "no array, by number");
    if (o && o->bytes)
        fprintf(out, ", %llu bytes", (unsigned long long)o->bytes);
    else if (o)
        fprintf(out, ", as many bytes as the launch says");
    fprintf(out, "; accesses: ");
    print_rules_of(s, array, out);
    fputc('\n', out);
    if (*ptx_total(s, array, false, text, sizeof text))
        fprintf(out, "      a thread reads %s\n", text);
    if (*ptx_total(s, array, true, text, sizeof text))
        fprintf(out, "      a thread writes %s\n", text);
    for (uint32_t i = array->first; i < array->first + array->count; i++)
        if (s->arrays->uses[i].write != FLOW_NO_WRITE)
            print_write(s, &s->arrays->uses[i], out);
}

void ptx_print_arrays(const ptx_subject *s, FILE *out)
{
    if (s->arrays->count)
        fprintf(out, "  shared arrays\n");
    for (uint32_t i = 0; i < s->arrays->count; i++)
        print_array(s, &s->arrays->arrays[i], out);
}

/* Loops, uses and arrays in `warplens ptx --format json`: docs/flow.md. */
#include "cli/ptx.h"

#include <string.h>

enum { TEXT = 2048 };

static void put_if_any(json_t *object, const char *key, const char *text)
{
    if (*text)
        json_object_set_new(object, key, json_string(text));
}

static const flow_function *function_of(const ptx_subject *s, uint32_t context)
{
    return &s->kernel->funcs[s->counts->contexts[context].func];
}

/* The calls that lead to the context, the kernel's first. */
static json_t *calls_json(const ptx_subject *s, uint32_t context)
{
    json_t *calls = json_array();
    for (const flow_context *c = &s->counts->contexts[context]; c->parent != FLOW_NONE;
         c = &s->counts->contexts[c->parent])
        json_array_insert_new(calls, 0,
                              ptx_place_json(s, function_of(s, c->parent)->first_pc + c->call));
    return calls;
}

static void put_calls_of(json_t *object, const ptx_subject *s, uint32_t context)
{
    if (s->counts->contexts[context].parent != FLOW_NONE)
        json_object_set_new(object, "calls", calls_json(s, context));
}

static void put_count(json_t *object, const ptx_subject *s, const flow_count *count)
{
    static const char *const bounds[] = {"exact", "most", "unknown"};
    char text[TEXT];
    flow_count plain = *count;
    json_object_set_new(object, "bound", json_string(bounds[count->kind]));
    if (count->kind == FLOW_SOMETIMES)
        return;
    plain.kind = FLOW_EXACTLY;
    put_if_any(object, "times", flow_count_text(s->counts, &plain, text, sizeof text));
}

/* ---- loops ---- */

static void put_counter(json_t *object, const char *key, const ptx_subject *s, uint32_t context,
                        uint32_t loop)
{
    char text[256];
    flow_loop_count l = {.context = context, .loop = loop};
    put_if_any(object, key, flow_counter_text(s->counts, &l, text, sizeof text));
}

static json_t *loop_json(const ptx_subject *s, const flow_loop_count *l)
{
    const flow_function *f = function_of(s, l->context);
    const flow_loop *loop = &f->loops.loops[l->loop];
    json_t *out = ptx_place_json(s, f->first_pc + f->blocks[loop->header].first);
    json_object_del(out, "op");
    put_counter(out, "counter", s, l->context, l->loop);
    if (loop->parent != FLOW_NONE)
        put_counter(out, "inside", s, l->context, loop->parent);
    put_calls_of(out, s, l->context);
    put_count(out, s, &l->count);
    json_object_set_new(out, "end", json_string(flow_end_name(l->end)));
    if (l->end != FLOW_END_DATA)
        return out;
    json_object_set_new(out, "reason",
                        json_string(flow_reason_name((flow_reason)l->source.reason)));
    if (l->source.pc != IR_NONE)
        json_object_set_new(out, "source", ptx_place_json(s, l->source.pc));
    return out;
}

json_t *ptx_loops_json(const ptx_subject *s)
{
    json_t *loops = json_array();
    for (uint32_t i = 0; i < s->counts->nloops; i++)
        json_array_append_new(loops, loop_json(s, &s->counts->loops[i]));
    return loops;
}

/* ---- accesses ---- */

static json_t *rules_json(unsigned rules)
{
    json_t *out = json_array();
    char text[40];
    for (unsigned rule = 1; rule < 16; rule *= 2)
        if (rules & rule)
            json_array_append_new(out, json_string(flow_rules_text(rule, text, sizeof text)));
    return out;
}

/* Each once: several branches may be said to depend on the same. */
static json_t *conditions_json(const ptx_subject *s, const flow_use_count *use)
{
    json_t *out = json_array();
    char text[TEXT];
    for (uint32_t i = 0; i < use->nconditions; i++) {
        bool had = false;
        flow_condition_text(s->counts, &use->conditions[i], text, sizeof text);
        for (size_t n = 0; n < json_array_size(out); n++)
            had |= strcmp(json_string_value(json_array_get(out, n)), text) == 0;
        if (!had)
            json_array_append_new(out, json_string(text));
    }
    if (use->more)
        json_array_append_new(out, json_string("more"));
    return out;
}

/* The counters of the loops in which each iteration accesses the same. */
static json_t *invariant_json(const ptx_subject *s, const flow_use_count *use)
{
    json_t *out = json_array();
    char text[TEXT];
    for (uint32_t n = 0; n < use->nloops && n < 32; n++) {
        const flow_loop_count *loop = &s->counts->loops[s->counts->around[use->first_loop + n]];
        if (use->invariant >> n & 1)
            json_array_append_new(out, json_string(flow_counter_text(s->counts, loop, text,
                                                                     sizeof text)));
    }
    return out;
}

static json_t *one_use_json(const ptx_subject *s, const flow_use_count *use)
{
    json_t *out = json_object();
    char text[TEXT];
    put_if_any(out, "form", ptx_form(s, use, text, sizeof text));
    put_calls_of(out, s, use->context);
    put_count(out, s, &use->count);
    json_object_set_new(out, "conditions", conditions_json(s, use));
    json_object_set_new(out, "rules", rules_json(use->rules));
    json_object_set_new(out, "invariant_in", invariant_json(s, use));
    return out;
}

json_t *ptx_uses_json(const ptx_subject *s, uint32_t pc)
{
    json_t *uses = json_array();
    for (uint32_t i = 0; i < s->counts->count; i++)
        if (s->counts->uses[i].pc == pc)
            json_array_append_new(uses, one_use_json(s, &s->counts->uses[i]));
    return uses;
}

/* ---- arrays ---- */

static json_t *reads_json(const ptx_subject *s, const flow_fill *fill)
{
    static const char *const scopes[] = {"thread", "warp", "block"};
    json_t *reads = json_array();
    for (uint32_t i = fill->first; i < fill->first + fill->count; i++) {
        const flow_read *r = &s->fills->reads[i];
        json_t *read = ptx_place_json(s, r->pc);
        json_object_set_new(read, "scope", json_string(scopes[r->scope]));
        json_object_set_new(read, "decides", json_boolean(r->decides));
        json_object_set_new(read, "earlier", json_boolean(r->earlier));
        json_array_append_new(reads, read);
    }
    return reads;
}

static json_t *array_write_json(const ptx_subject *s, const flow_array_use *use)
{
    const flow_use_count *u = &s->counts->uses[use->use];
    const flow_fill *fill = &s->fills->fills[s->fills->at[u->pc]];
    json_t *out = ptx_place_json(s, u->pc);
    put_calls_of(out, s, u->context);
    json_object_set_new(out, "write", json_string(flow_write_name((flow_write)use->write)));
    json_object_set_new(out, "origin", json_string(flow_origin_name((flow_origin)fill->origin)));
    json_object_set_new(out, "copied", json_boolean(fill->copied));
    json_object_set_new(out, "unknown", json_boolean(fill->unknown));
    json_object_set_new(out, "certain", json_boolean(use->certain));
    json_object_set_new(out, "reads", reads_json(s, fill));
    return out;
}

static json_t *array_rules_json(const ptx_subject *s, const flow_array *array)
{
    json_t *rules = json_object();
    for (unsigned rule = 0; rule < 16; rule = rule ? rule * 2 : 1) {
        uint32_t count = 0;
        char text[40];
        for (uint32_t i = array->first; i < array->first + array->count; i++) {
            unsigned has = s->counts->uses[s->arrays->uses[i].use].rules;
            count += rule ? (has & rule) != 0 : has == 0;
        }
        json_object_set_new(rules, flow_rules_text(rule, text, sizeof text), json_integer(count));
    }
    return rules;
}

static json_t *array_json(const ptx_subject *s, const flow_array *array)
{
    json_t *out = json_object(), *writes = json_array();
    char text[TEXT];
    put_if_any(out, "array", ptx_array_name(s, array));
    if (array->object != FLOW_NONE && s->kernel->objects[array->object].bytes)
        json_object_set_new(out, "bytes",
                            json_integer((json_int_t)s->kernel->objects[array->object].bytes));
    json_object_set_new(out, "accesses", json_integer(array->count));
    json_object_set_new(out, "rules", array_rules_json(s, array));
    put_if_any(out, "thread_reads", ptx_total(s, array, false, text, sizeof text));
    put_if_any(out, "thread_writes", ptx_total(s, array, true, text, sizeof text));
    for (uint32_t i = array->first; i < array->first + array->count; i++)
        if (s->arrays->uses[i].write != FLOW_NO_WRITE)
            json_array_append_new(writes, array_write_json(s, &s->arrays->uses[i]));
    json_object_set_new(out, "writes", writes);
    return out;
}

json_t *ptx_arrays_json(const ptx_subject *s)
{
    json_t *arrays = json_array();
    for (uint32_t i = 0; i < s->arrays->count; i++)
        json_array_append_new(arrays, array_json(s, &s->arrays->arrays[i]));
    return arrays;
}

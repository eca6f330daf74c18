/* `warplens ptx --format json`, schema "warplens-ptx/1": docs/flow.md. */
#include "cli/ptx.h"

static void put_place(json_t *object, const ptx_subject *s, uint32_t pc)
{
    const ir_insn *insn = ptx_insn_at(s, pc, NULL);
    const ir_loc *loc = insn->loc == IR_NONE ? NULL : &s->module->locs[insn->loc];
    const char *file = loc ? ir_module_file(s->module, loc->file) : NULL;
    uint32_t machine = ptx_machine_insn(s, pc);
    char op[160];
    json_object_set_new(object, "pc", json_integer(machine == SASS_NOWHERE ? pc : machine));
    json_object_set_new(object, "op", json_string(ptx_op(s, pc, op, sizeof op)));
    if (file) {
        json_object_set_new(object, "file", json_string(file));
        json_object_set_new(object, "line", json_integer(loc->line));
    }
    if (!s->lifted)
        json_object_set_new(object, "ptx_line", json_integer(insn->pos.line));
}

json_t *ptx_place_json(const ptx_subject *s, uint32_t pc)
{
    json_t *place = json_object();
    put_place(place, s, pc);
    return place;
}

static json_t *access_json(const ptx_subject *s, uint32_t pc)
{
    const flow_verdict *v = &s->proof->verdicts[pc];
    json_t *access = json_object();
    char text[1024];
    put_place(access, s, pc);
    json_object_set_new(access, "space",
                        json_string(ir_space_text(ptx_insn_at(s, pc, NULL)->space)));
    json_object_set_new(access, "proven", json_boolean(v->reason == FLOW_CLEAN));
    if (*ptx_origin(s, pc, text, sizeof text))
        json_object_set_new(access, "points_to", json_string(text));
    if (*ptx_address(s, pc, text, sizeof text))
        json_object_set_new(access, "address", json_string(text));
    json_object_set_new(access, "uses", ptx_uses_json(s, pc));
    if (v->reason == FLOW_CLEAN)
        return access;
    json_object_set_new(access, "reason", json_string(flow_reason_name(v->reason)));
    json_object_set_new(access, "through", json_string(flow_through_name(v->through)));
    if (v->source != IR_NONE)
        json_object_set_new(access, "source", ptx_place_json(s, v->source));
    if (v->branch != IR_NONE)
        json_object_set_new(access, "branch", ptx_place_json(s, v->branch));
    return access;
}

json_t *ptx_kernel_json(const ptx_subject *s)
{
    const flow_proof *p = s->proof;
    json_t *kernel = json_object(), *list = json_array();
    json_object_set_new(kernel, "kernel", json_string(s->name));
    json_object_set_new(kernel, "symbol", json_string(s->code->funcs[0]->name));
    json_object_set_new(kernel, "class", json_string(flow_class_name(p->class_)));
    json_object_set_new(kernel, "instructions", json_integer(ptx_count_insns(s, 0)));
    json_object_set_new(kernel, "slice", json_integer(ptx_count_insns(s, FLOW_PC_SLICE)));
    json_object_set_new(kernel, "memory", json_integer(p->memory));
    json_object_set_new(kernel, "proven", json_integer(p->proven));
    for (uint32_t pc = 0; pc < p->npcs; pc++)
        if (p->flags[pc] & FLOW_PC_MEMORY)
            json_array_append_new(list, access_json(s, pc));
    json_object_set_new(kernel, "accesses", list);
    json_object_set_new(kernel, "loops", ptx_loops_json(s));
    json_object_set_new(kernel, "arrays", ptx_arrays_json(s));
    return kernel;
}

json_t *ptx_totals_json(const ptx_totals *t)
{
    json_t *totals = json_object(), *causes = json_array();
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"files", t->files},
        {"unread", t->unread},
        {"kernels", t->kernels},
        {"duplicates", t->duplicates},
        {"independent", t->classes[FLOW_INDEPENDENT]},
        {"half_or_more", t->mostly},
        {"less_than_half", t->classes[FLOW_PARTLY] - t->mostly},
        {"none", t->classes[FLOW_DEPENDENT]},
        {"no_memory", t->classes[FLOW_NO_MEMORY]},
        {"accesses", t->accesses},
        {"proven", t->proven},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(totals, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    for (int r = 1; r < FLOW_REASON_COUNT; r++)
        for (int w = 1; w < 4; w++) {
            if (!t->causes[r][w].accesses)
                continue;
            json_t *cause = json_object();
            json_object_set_new(cause, "reason", json_string(flow_reason_name((flow_reason)r)));
            json_object_set_new(cause, "through", json_string(flow_through_name((flow_through)w)));
            json_object_set_new(cause, "accesses",
                                json_integer((json_int_t)t->causes[r][w].accesses));
            json_object_set_new(cause, "kernels",
                                json_integer((json_int_t)t->causes[r][w].kernels));
            json_array_append_new(causes, cause);
        }
    json_object_set_new(totals, "reasons", causes);
    return totals;
}

#include "replay/trials/forms.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading { /* a form that is being read */
    const trial_work *t;
    const emu_alloc *object;
    trial_form *out;
} reading;

/* The value of a whole parameter of the kernel; false where only a part of it is read. */
static bool parameter_value(const trial_work *t, flow_symbol s, int64_t *out)
{
    const replay_tried *l = t->launch;
    const ir_func *kernel = l->facts->code.funcs[0];
    uint32_t from, to;
    if (s.b || !ir_param_place(kernel, kernel->params[s.a], &from, &to))
        return false;
    int32_t narrow = 0;
    bool wide = to - from == sizeof *out;
    const char *bytes = (const char *)l->run.launch.params + from;
    if (wide)
        memcpy(out, bytes, sizeof *out);
    else if (to - from == sizeof narrow)
        memcpy(&narrow, bytes, sizeof narrow);
    *out = wide ? *out : narrow;
    return wide || to - from == sizeof narrow;
}

/* The launch's size that a special register holds. */
static bool size_value(const trial_work *t, flow_symbol s, int64_t *out)
{
    const emu_launch *l = &t->launch->run.launch;
    const emu_dim d = s.a == IR_SR_ntid ? l->block : l->grid;
    *out = s.b == 1 ? d.x : s.b == 2 ? d.y : d.z;
    return s.a == IR_SR_ntid || s.a == IR_SR_nctaid;
}

static bool is_index(flow_symbol s)
{
    return s.kind == FLOW_SYM_LOOP ||
           (s.kind == FLOW_SYM_SREG && (s.a == IR_SR_tid || s.a == IR_SR_ctaid));
}

static bool is_lane_index(flow_symbol s)
{
    return s.kind == FLOW_SYM_SREG && s.a == IR_SR_tid && s.b == 1;
}

/* A product, its numbers put in. */
typedef struct product {
    trial_step step;
    uint32_t indices, lanes; /* lanes: of these, threadIdx.x */
    bool base;               /* a variable's address is a factor */
} product;

static bool put_in(const trial_work *t, flow_symbol s, product *p)
{
    int64_t value = 1;
    p->indices += is_index(s);
    p->lanes += is_lane_index(s);
    if (is_index(s))
        return true;
    bool parameter = s.kind == FLOW_SYM_PARAM && parameter_value(t, s, &value);
    bool size = s.kind == FLOW_SYM_SREG && size_value(t, s, &value);
    p->base |= s.kind == FLOW_SYM_BASE;
    p->step.given |= parameter;
    p->step.sized |= size;
    return (parameter || size || s.kind == FLOW_SYM_BASE) &&
           !__builtin_mul_overflow(p->step.bytes, value, &p->step.bytes);
}

static bool leads_into(const emu_alloc *object, uint64_t address)
{
    return address >= object->base && address - object->base < object->size;
}

/* A product without any index: a pointer into the object, or bytes from there. */
static void add_start(const reading *r, const flow_term *term, const product *p)
{
    trial_form *f = r->out;
    uint64_t pointer = p->base ? r->object->base : (uint64_t)p->step.bytes;
    bool leads = term->coefficient == 1 && term->nfactors == 1 && leads_into(r->object, pointer);
    if (leads) {
        f->whole &= !f->pointer;
        f->pointer = pointer;
    } else {
        f->whole &= !p->base && !__builtin_add_overflow(f->start, p->step.bytes, &f->start);
    }
}

static void add_lane(trial_step *lane, const trial_step *more)
{
    lane->bytes += more->bytes;
    lane->given |= more->given;
    lane->sized |= more->sized;
}

static void read_form_term(const reading *r, const flow_term *term)
{
    product p = {.step.bytes = term->coefficient};
    bool known = true;
    for (uint8_t i = 0; i < term->nfactors && known; i++)
        known = put_in(r->t, term->factors[i], &p);
    if (!known)
        r->out->whole = false;
    else if (!p.indices)
        add_start(r, term, &p);
    else if (p.lanes == 1 && p.indices == 1 && !p.base)
        add_lane(&r->out->lane, &p.step);
    else if (!p.base)
        r->out->steps[r->out->nsteps++] = p.step;
}

static trial_form read_address(const trial_work *t, const flow_function *f, const flow_address *a,
                               const emu_alloc *object)
{
    const flow_affine *form = a->value == FLOW_NONE ? NULL : f->affine[a->value];
    trial_form out = {.bytes = a->bytes, .whole = form && a->operand->kind == IR_OPD_ADDR};
    reading r = {t, object, &out};
    for (uint32_t i = 0; form && i < form->nterms; i++)
        read_form_term(&r, &form->terms[i]);
    out.start += a->operand->kind == IR_OPD_ADDR ? (int64_t)a->operand->imm : 0;
    out.whole &= out.pointer != 0;
    return out;
}

/* The address in global memory of the instruction; a form that tells nothing where there is none. */
static trial_form form_of_pc(const trial_work *t, uint32_t pc, const emu_alloc *object)
{
    ir_place place = ir_kernel_at(t->flow->code, pc);
    const flow_function *f = &t->flow->funcs[place.index];
    uint32_t insn = pc - f->first_pc;
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++)
        if (f->addresses[a].touch &&
            (f->addresses[a].space == IR_SPACE_GLOBAL || f->addresses[a].space == IR_SPACE_GENERIC))
            return read_address(t, f, &f->addresses[a], object);
    return (trial_form){0};
}

wl_status trial_forms_of(const trial_work *t, const trial_rows *rows, const emu_alloc *object,
                         trial_forms *out)
{
    *out = (trial_forms){.rows = wl_new_array(t->arena, trial_form, (size_t)rows->count + 1),
                         .count = rows->count,
                         .whole = true};
    for (uint32_t i = 0; out->rows && i < rows->count; i++) {
        trial_form *f = &out->rows[i];
        *f = form_of_pc(t, rows->rows[i].pc, object);
        f->pc = rows->rows[i].pc;
        f->bytes = rows->rows[i].bytes;
        out->whole &= f->whole;
        if (i == 0)
            out->pointer = f->pointer;
        out->pointer = out->pointer == f->pointer ? out->pointer : 0;
    }
    out->whole &= out->pointer != 0;
    return out->rows ? WL_OK : WL_NOMEM;
}

bool trial_form_strays(const trial_form *f, int64_t unit)
{
    for (uint32_t i = 0; i < f->nsteps; i++)
        if (f->steps[i].bytes % unit)
            return true;
    return false;
}

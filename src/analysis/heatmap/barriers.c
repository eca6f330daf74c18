/* Proves barriers needless, or leaves them alone.
 *
 * Every access to shared memory must be a plain load or store whose address depends on nothing but
 * the thread's index. Then it is written down for each thread of a block which words it may touch;
 * whether a guard keeps it from doing so is not asked. Words that one thread alone may touch need
 * no barrier, those of one warp's threads at most __syncwarp. Device memory must not carry anything
 * from thread to thread either: of an object that is written, only the one store is allowed. */
#include "analysis/heatmap/barriers.h"

#include "analysis/forms.h"

#include <string.h>

enum { MOST_ARRAYS = 16, MOST_WORDS = 65536, WORD = 4, LANES = 32, MOST_THREADS = 1024 };

/* ---- instructions ---- */

/* Whether the opcode, such as "ld.shared.f32", has the part between dots, or begins with it. */
static bool op_has(const char *op, const char *part)
{
    size_t n = strlen(part);
    for (const char *at = op; at; at = strchr(at, '.')) {
        at += *at == '.';
        if (strncmp(at, part, n) == 0 && (at[n] == '.' || at[n] == '\0'))
            return true;
    }
    return false;
}

static bool op_is(const char *op, const char *name)
{
    size_t n = strlen(name);
    return strncmp(op, name, n) == 0 && (op[n] == '.' || op[n] == '\0');
}

static bool is_barrier(const char *op)
{
    return (op_is(op, "bar") || op_is(op, "barrier")) && !op_has(op, "warp");
}

/* Orders or moves memory in a way that is not followed here, or runs code that is not. */
static bool is_beyond(const char *op)
{
    static const char *const names[] = {"atom",       "red",
                                        "cp",         "mbarrier",
                                        "fence",      "membar",
                                        "ldmatrix",   "stmatrix",
                                        "multimem",   "tcgen05",
                                        "wgmma",      "st.async",
                                        "call",       "clusterlaunchcontrol",
                                        "isspacep",   "mapa",
                                        "getctarank", "griddepcontrol",
                                        "red.async",  "sured",
                                        "sust"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (op_is(op, names[i]))
            return true;
    bool matrix = op_is(op, "wmma") && (op_has(op, "load") || op_has(op, "store"));
    bool counts = is_barrier(op) && !op_has(op, "sync");
    return matrix || counts || op_has(op, "volatile") || op_has(op, "acquire") ||
           op_has(op, "release") || op_has(op, "relaxed") || op_has(op, "cluster");
}

/* A load or store of shared memory, or one whose memory its opcode does not tell. */
static bool may_be_shared(const char *op)
{
    bool moves = op_is(op, "ld") || op_is(op, "st");
    return moves && !op_has(op, "global") && !op_has(op, "local") && !op_has(op, "param") &&
           !op_has(op, "const") && !op_has(op, "param::entry") && !op_has(op, "param::func");
}

/* ---- words and who may touch them ---- */

typedef struct array { /* found by the name that forms call it */
    const char *name;
    uint32_t length;
    uint16_t *owner; /* of each word: thread + 1; of warps alike */
    uint16_t *warp;
} array;

typedef struct proof {
    const ana_input *input;
    uint32_t narrays;
    array arrays[MOST_ARRAYS];
    barriers_order order;
} proof;

static array *array_of(proof *p, const ana_place *place)
{
    for (uint32_t i = 0; i < p->narrays; i++) {
        array *a = &p->arrays[i];
        if (a->length == place->base_length && memcmp(a->name, place->base, a->length) == 0)
            return a;
    }
    if (p->narrays == MOST_ARRAYS)
        return NULL;
    array *a = &p->arrays[p->narrays];
    *a = (array){.name = place->base,
                 .length = place->base_length,
                 .owner = wl_new_array(p->input->scratch, uint16_t, MOST_WORDS),
                 .warp = wl_new_array(p->input->scratch, uint16_t, MOST_WORDS)};
    p->narrays += a->owner && a->warp;
    return a->owner && a->warp ? a : NULL;
}

static barriers_order worse(barriers_order a, barriers_order b)
{
    return a > b ? a : b;
}

/* What the word needs now that this thread may touch it, too. */
static barriers_order touch(array *a, uint64_t word, uint32_t thread)
{
    uint16_t own = (uint16_t)(thread + 1), warp = (uint16_t)(thread / LANES + 1);
    bool other_thread = a->owner[word] && a->owner[word] != own;
    bool other_warp = a->warp[word] && a->warp[word] != warp;
    a->owner[word] = own;
    a->warp[word] = warp;
    return other_warp     ? BARRIERS_MAY_ORDER
           : other_thread ? BARRIERS_ORDER_WARPS
                          : BARRIERS_ORDER_NOTHING;
}

static barriers_order touch_all(array *a, const ana_place *place, uint32_t bytes,
                                const uint32_t block[3])
{
    barriers_order order = BARRIERS_ORDER_NOTHING;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    for (uint32_t t = 0; t < threads && order != BARRIERS_MAY_ORDER; t++) {
        int64_t at = place->constant + place->thread[0] * (t % block[0]) +
                     place->thread[1] * (t / block[0] % block[1]) +
                     place->thread[2] * (t / block[0] / block[1]);
        if (at < 0 || at + bytes > (int64_t)MOST_WORDS * WORD)
            return BARRIERS_MAY_ORDER;
        for (int64_t word = at / WORD; word <= (at + bytes - 1) / WORD; word++)
            order = worse(order, touch(a, (uint64_t)word, t));
    }
    return order;
}

static bool stays_within(const ana_place *place)
{
    enum { FAR = MOST_WORDS * WORD };
    for (int d = 0; d < 3; d++)
        if (place->block[d] || place->thread[d] > FAR || place->thread[d] < -FAR)
            return false;
    return place->constant <= FAR && place->constant >= -FAR;
}

static barriers_order follow_access(proof *p, uint32_t pc, const prof_launch *l)
{
    const prof_form *form = ana_form_at(&p->input->forms, pc);
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    ana_place place;
    if (!form || form->bytes == 0 || !ana_place_of(form, l, &place) ||
        !ana_place_is_exact(&place) || !place.base || *place.base != '&' || !stays_within(&place) ||
        threads > MOST_THREADS) {
        return BARRIERS_MAY_ORDER;
    }
    array *a = array_of(p, &place);
    return a ? touch_all(a, &place, form->bytes, l->block) : BARRIERS_MAY_ORDER;
}

static barriers_order follow_launch(proof *p, const prof_launch *l)
{
    barriers_order order = BARRIERS_ORDER_NOTHING;
    p->narrays = 0;
    for (uint32_t i = 0; i < p->input->code.count && order != BARRIERS_MAY_ORDER; i++) {
        const prof_code *code = &p->input->code.rows[i];
        if (may_be_shared(code->op))
            order = worse(order, follow_access(p, code->pc, l));
    }
    return order;
}

/* ---- the kernel ---- */

/* Can a thread see through device memory what another wrote? */
static bool talks_through_objects(const ana_input *input)
{
    for (uint32_t g = 0; g < input->ngroups; g++) {
        const ana_group *group = &input->groups[g];
        for (uint32_t i = 0; i < group->ninsns && group->space == ACC_GLOBAL; i++)
            if (group->insns[i].c.op != ACC_LOAD && (group->ninsns > 1 || !group->object))
                return true;
    }
    return false;
}

/* Launches with blocks of one shape are alike here. */
static bool has_shape_before(const prof_launch_rows *launches, uint32_t at)
{
    const prof_launch *l = &launches->rows[at];
    for (uint32_t i = 0; i < at; i++) {
        const prof_launch *other = &launches->rows[i];
        if (other->kernel == l->kernel && memcmp(other->block, l->block, sizeof l->block) == 0)
            return true;
    }
    return false;
}

static barriers_order follow_kernel(const ana_input *input)
{
    enum { MOST_SHAPES = 8 };
    const prof_launch_rows *launches = &input->program->launches;
    proof p = {.input = input};
    barriers_order order = BARRIERS_ORDER_NOTHING;
    for (uint32_t i = 0, shapes = 0; i < launches->count && order != BARRIERS_MAY_ORDER; i++) {
        if (launches->rows[i].kernel == input->kernel->id && !has_shape_before(launches, i)) {
            order = shapes++ < MOST_SHAPES ? worse(order, follow_launch(&p, &launches->rows[i]))
                                           : BARRIERS_MAY_ORDER;
        }
    }
    return order;
}

barriers_order barriers_of(const ana_input *input)
{
    bool barriers = false, beyond = input->code.count == 0;
    for (uint32_t i = 0; i < input->code.count; i++) {
        barriers |= is_barrier(input->code.rows[i].op);
        beyond |= is_beyond(input->code.rows[i].op);
    }
    if (beyond || talks_through_objects(input))
        return barriers || input->code.count == 0 ? BARRIERS_MAY_ORDER : BARRIERS_NONE;
    return barriers ? follow_kernel(input) : BARRIERS_NONE;
}

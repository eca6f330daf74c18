/* What caches keep of what a launch asks for. */
#include "analysis/model/parts.h"

#include <math.h>

/* ---- lines ---- */

static double size_of_object(const prof_object *object)
{
    return object ? (double)object->bytes : INFINITY;
}

double model_lines_of(const obs_insn *c, const prof_object *object)
{
    double dense = (double)(c->uniform + c->contiguous + c->misaligned);
    double part = c->requests ? dense / (double)c->requests : 1;
    double apart = fabs((double)c->stride), of_line = 1;
    if (c->strided && apart < MODEL_LINE)
        of_line = MODEL_LINE / at_least(apart, MODEL_SECTOR);
    double a_line = (double)MODEL_LINE / MODEL_SECTOR;
    double lines = at_least((double)c->sectors * (part / a_line + (1 - part) / of_line),
                            (double)c->requests);
    return at_most(lines, (double)c->requests * ceil(size_of_object(object) / MODEL_LINE + 1));
}

/* ---- one object ---- */

typedef struct object_traffic { /* sectors and lines, by all blocks */
    double loaded, loaded_lines;
    double stored; /* those that are written in part count twice: the rest must be read */
} object_traffic;

static bool is_written_in_part(const obs_insn *c)
{
    return (double)c->active_lanes * c->bytes < (double)c->sectors * MODEL_SECTOR;
}

static object_traffic traffic_of_object(const prof_instruction *rows, uint32_t count,
                                        uint32_t object, const prof_object *known)
{
    object_traffic sum = {0};
    for (uint32_t i = 0; i < count; i++) {
        const obs_insn *c = &rows[i].c;
        if (c->space != ACC_GLOBAL || c->object != object)
            continue;
        if (c->op == ACC_LOAD) {
            sum.loaded += (double)c->sectors;
            sum.loaded_lines += model_lines_of(c, known);
        } else if (c->op == ACC_STORE) {
            sum.stored += (double)c->sectors * (is_written_in_part(c) ? 2 : 1);
        }
    }
    return sum;
}

typedef struct object_reuse {        /* parts of its loads, or its stores, that blocks do */
    double first;                    /* for the first time */
    double gone_from_l1;             /* again, after more than L1 holds */
    double loaded_anew, stored_anew; /* again, after more than L2 holds */
    double waits;                    /* bursts of loads of which it has the farthest */
    double first_waits, gone_waits;  /* of these, where that is as above */
} object_reuse;

/* Whether a cache that so many blocks share, all at the same pace, holds a line that each comes back
 * to after so many others. */
static bool cache_holds(double bytes, double blocks, double distance)
{
    return (distance + 1) * blocks * MODEL_LINE <= bytes;
}

static void add_uses(const model_device *d, const prof_reuse *r, object_reuse *sum)
{
    if (r->distance == OBS_FIRST_USE) {
        sum->first += r->loads;
        sum->first_waits += r->waits;
        return;
    }
    if (!cache_holds(d->l1_bytes, d->of_sm, r->distance)) {
        sum->gone_from_l1 += r->loads;
        sum->gone_waits += r->waits;
    }
    if (!cache_holds(d->l2_bytes, d->resident, r->distance)) {
        sum->loaded_anew += r->loads;
        sum->stored_anew += r->stores;
    }
}

/* False where the order of accesses to it is not known. */
static bool reuse_of_object(const model_device *d, const prof_reuse *rows, uint32_t count,
                            uint32_t object, object_reuse *out)
{
    double loads = 0, stores = 0;
    *out = (object_reuse){0};
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].object == object) {
            loads += rows[i].loads;
            stores += rows[i].stores;
            out->waits += rows[i].waits;
            add_uses(d, &rows[i], out);
        }
    out->first = part_of(out->first, loads);
    out->gone_from_l1 = part_of(out->gone_from_l1, loads);
    out->loaded_anew = part_of(out->loaded_anew, loads);
    out->stored_anew = part_of(out->stored_anew, stores);
    return loads + stores > 0;
}

/* Of its loads, the part that are of a sector that no block of the multiprocessor has loaded. Each block
 * loads each of its sectors for the first time, but a small object stays in L1, from block to block. */
static double first_part(const model_device *d, const object_traffic *t, const object_reuse *r,
                         const prof_object *object)
{
    double first = r->first * t->loaded;
    if (object && (double)object->bytes <= d->l1_bytes)
        first = at_most(first, d->sms * ceil((double)object->bytes / MODEL_SECTOR));
    return part_of(first, t->loaded);
}

typedef struct
    wait_counts { /* of bursts of loads, by all blocks: those that are known, and those that L1 holds up */
    double all, longer;
} wait_counts;

static void add_waits(const object_reuse *r, double first, wait_counts *sum)
{
    sum->all += r->waits;
    sum->longer += r->gone_waits + r->first_waits * part_of(first, r->first);
}

static void add_object(const model_device *d, model_traffic *t, const object_traffic *of,
                       const object_reuse *reuse, const prof_object *object, double touched,
                       wait_counts *waits)
{
    double size = size_of_object(object), first = first_part(d, of, reuse, object);
    double part = at_most(1, first + reuse->gone_from_l1);
    add_waits(reuse, first, waits);
    t->missed += part * of->loaded;
    t->missed_lines += part * of->loaded_lines;
    t->moved_again += reuse->loaded_anew * of->loaded + reuse->stored_anew * of->stored;
    t->again_loaded += reuse->loaded_anew * of->loaded;
    t->footprint += at_most(touched * MODEL_SECTOR, size);
    t->first_loaded += at_most(at_most(touched, size / MODEL_SECTOR), part * of->loaded);
}

/* What the maps do not tell of: each launch's are not kept where many are alike. It is taken from
 * the kernel's last launch that has some; else L1 has nothing twice. */
static void add_unmapped(model_kept *last, uint32_t kernel, const object_traffic *mapped,
                         const wait_counts *waits, model_traffic *t)
{
    double asked = t->sectors * MODEL_SECTOR;
    bool any = t->footprint > 0 && asked > 0;
    if (any)
        *last = (model_kept){kernel,
                             mapped->loaded > 0 ? t->missed / mapped->loaded : 1,
                             t->footprint / asked,
                             t->moved_again / t->sectors,
                             part_of(t->first_loaded, mapped->loaded),
                             part_of(t->again_loaded, mapped->loaded),
                             waits->all > 0 ? 1 - waits->longer / waits->all : -1};
    else if (last->kernel != kernel)
        *last = (model_kept){kernel, 1, 1, 0, 1, 0, -1};
    t->waits_known = last->short_waits >= 0;
    t->short_waits = at_least(last->short_waits, 0);
    t->missed += last->missed * (t->loaded - mapped->loaded);
    t->missed_lines += last->missed * (t->loaded_lines - mapped->loaded_lines);
    t->first_loaded += last->first_loaded * (t->loaded - mapped->loaded);
    t->again_loaded += last->again_loaded * (t->loaded - mapped->loaded);
    if (!any) {
        t->footprint = last->footprint * asked;
        t->moved_again = last->again * t->sectors;
    }
}

/* What of an object is loaded for the first time stays so, however close its sectors lie after a
 * change: it is another part of fewer. */
static double first_of_fewer(double first, const object_traffic *before,
                             const object_traffic *after, double touched)
{
    return at_most(1, part_of(first * before->loaded * touched, after->loaded));
}

void model_add_objects(model_rows *rows, const model_device *d, const model_launch_rows *l,
                       const prof_instruction *now, const model_change *change, model_work *w)
{
    object_traffic mapped = {0};
    wait_counts waits = {0};
    for (uint32_t i = 0; i < l->ntouched; i++) {
        uint32_t object = l->touched[i].object;
        const prof_object *known = prof_find_object(&rows->objects, object);
        object_traffic before = traffic_of_object(l->insns, l->ninsns, object, known);
        object_traffic of = traffic_of_object(now, l->ninsns, object, known);
        double sectors = l->touched[i].sectors * w->blocks,
               part = model_touched_after(change, object);
        object_reuse reuse;
        if (!reuse_of_object(d, l->reuses, l->nreuses, object, &reuse)) /* L1 has it all */
            reuse = (object_reuse){.first = at_most(1, part_of(sectors, before.loaded))};
        if (change)
            reuse.first = first_of_fewer(reuse.first, &before, &of, part);
        mapped.loaded += of.loaded;
        mapped.loaded_lines += of.loaded_lines;
        add_object(d, &w->traffic, &of, &reuse, known, part * sectors, &waits);
    }
    if (l->ninsns)
        add_unmapped(&rows->last, l->insns->kernel, &mapped, &waits, &w->traffic);
}

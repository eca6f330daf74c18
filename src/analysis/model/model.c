/* How long launches take on their device, and what bounds them. */
#include "analysis/model/model.h"
#include "analysis/model/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const struct {
    const char *name, *words;
} resources[MODEL_RESOURCES] = {
#define X(id, name, words) [MODEL_##id] = {name, words},
#include "analysis/model/resources.def"
#undef X
};

const char *model_resource_name(model_resource resource)
{
    return resources[resource].name;
}

const char *model_resource_words(model_resource resource)
{
    return resources[resource].words;
}

static const struct {
    const char *name, *words;
} unsure[MODEL_UNSURE_COUNT] = {
#define X(id, name, words) [MODEL_##id] = {name, words},
#include "analysis/model/unsure.def"
#undef X
};

const char *model_unsure_name(model_unsure what)
{
    return unsure[what].name;
}

const char *model_unsure_words(model_unsure what)
{
    return unsure[what].words;
}

/* ---- all launches ---- */

typedef struct devices {
    prof_device_rows rows;
    cuda_device *known; /* of each row; id "" where there is no description */
} devices;

/* A profile may come from anywhere, and has no say in which files are opened: only the descriptions
 * that were installed. */
static bool is_id(const char *file)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *file && !file[strspn(file, letters)];
}

static wl_status load_devices(prof_db *profile, wl_arena *arena, devices *out, wl_error *err)
{
    wl_status status = prof_load_devices(profile, arena, &out->rows, err);
    if (status != WL_OK)
        return status;
    out->known = wl_new_array(arena, cuda_device, (size_t)out->rows.count + 1);
    if (!out->known)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0; i < out->rows.count; i++) {
        wl_error ignored;
        if (!is_id(out->rows.rows[i].file) ||
            cuda_device_load(out->rows.rows[i].file, &out->known[i], &ignored) != WL_OK)
            out->known[i] = (cuda_device){0};
    }
    return WL_OK;
}

static const cuda_device *device_of(const devices *all, const prof_launch *l)
{
    for (uint32_t i = 0; i < all->rows.count; i++)
        if (all->rows.rows[i].process == l->process && all->rows.rows[i].ordinal == l->device)
            return *all->known[i].id ? &all->known[i] : NULL;
    return NULL;
}

static cuda_footprint with_less_shared(const cuda_footprint *own, int64_t bytes)
{
    cuda_footprint block = *own;
    uint32_t less = bytes < own->static_shared ? (uint32_t)bytes : own->static_shared;
    int64_t rest = bytes - less;
    block.static_shared -= less;
    block.dynamic_shared -= rest < own->dynamic_shared ? (uint32_t)rest : own->dynamic_shared;
    return block;
}

/* Of shared memory that several changes ask for together, as much as a block can have. */
static cuda_footprint with_shared(const cuda_device *d, const cuda_footprint *own,
                                  const model_change *change)
{
    cuda_footprint block = *own;
    if (!change || !change->shared)
        return block;
    if (change->shared < 0)
        return with_less_shared(own, -change->shared);
    block.static_shared += (uint32_t)change->shared;
    if (!cuda_occupancy_of(d, &block).blocks) {
        block = *own;
        block.dynamic_shared = cuda_occupancy_shared(d, own, 1);
    }
    return block;
}

static model_device as_launched(const cuda_device *d, const prof_launch *l,
                                const cuda_footprint *block, const cuda_occupancy *occupancy)
{
    double each = (double)block->static_shared + block->dynamic_shared, sms = model_sms(d);
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    double of_sm = fmin(occupancy->blocks, ceil(blocks / sms));
    return (model_device){.sms = sms,
                          .l1_bytes = d->limits.l1_bytes - occupancy->blocks * each,
                          .l2_bytes = model_l2_bytes(d),
                          .of_sm = of_sm,
                          .resident = fmin(of_sm * sms, blocks)};
}

double model_hit_rate(double asked, double lacked)
{
    return asked > 0 ? 1 - lacked / asked : -1;
}

static ana_model model_of_launch(model_rows *rows, const devices *all, const prof_launch *l,
                                 const model_change *change, model_size size)
{
    model_work work;
    ana_model m = {.kernel = l->kernel, .kind = l->kind, .launches = l->count};
    const cuda_device *d = device_of(all, l);
    if (d)
        m.occupancy = model_occupancy_of(d, l);
    if (!d || !d->measured.processes) {
        m.missing = "No figures were measured of its device.";
        return m;
    }
    cuda_footprint own = model_footprint_of(l), block = with_shared(d, &own, change);
    cuda_occupancy occupancy = cuda_occupancy_of(d, &block);
    model_device device = as_launched(d, l, &block, &occupancy);
    if (!occupancy.blocks)
        m.missing = "Its blocks do not fit on the device.";
    else if (!model_work_of(rows, &device, l, change, &work))
        m.missing = "What its time follows from is not known in full.";
    if (m.missing)
        return m;
    if (size == MODEL_FULL)
        model_work_fill(&work, device.sms * cuda_occupancy_of(d, &own).blocks);
    model_predict(d, &work, occupancy.blocks, &m);
    m.benefits = model_benefits_of(d, &work, occupancy.blocks);
    m.roofline = model_roofline_of(d, &work, l);
    return m;
}

static void add_model(ana_model *sum, const ana_model *m)
{
    double n = (double)m->launches;
    if (m->missing)
        return;
    sum->missing = NULL;
    sum->launches += m->launches;
    model_roofline_add(&sum->roofline, &m->roofline, n);
    sum->seconds += n * m->seconds;
    sum->next_launch += n * m->next_launch;
    sum->low += n * m->low;
    sum->high += n * m->high;
    sum->unsure |= m->unsure;
    sum->from_l1 += n * m->from_l1;
    sum->from_l2 += n * m->from_l2;
    sum->from_dram += n * m->from_dram;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        sum->resources[r] += n * m->resources[r];
#define X(member, cost) sum->benefits.member += n * m->benefits.member;
#include "analysis/model/benefits.def"
#undef X
}

static void make_mean(ana_model *sum)
{
    double n = sum->launches ? (double)sum->launches : 1;
    model_roofline all = sum->roofline;
    sum->roofline = (model_roofline){0};
    model_roofline_add(&sum->roofline, &all, 1 / n);
    sum->seconds /= n;
    sum->next_launch /= n;
    sum->low /= n;
    sum->high /= n;
    sum->from_l1 /= n;
    sum->from_l2 /= n;
    sum->from_dram /= n;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        sum->resources[r] /= n;
#define X(member, cost) sum->benefits.member /= n;
#include "analysis/model/benefits.def"
#undef X
    sum->bound = model_longest(sum);
}

/* Launches come by kernel. */
static void add_to_kernels(ana_models *out, const ana_model *m)
{
    if (m->missing)
        return;
    if (!out->nkernels || out->kernels[out->nkernels - 1].kernel != m->kernel)
        out->kernels[out->nkernels++] = (ana_model){.kernel = m->kernel};
    add_model(&out->kernels[out->nkernels - 1], m);
}

static int longest_first(const void *a, const void *b)
{
    double x = ((const ana_model *)a)->seconds, y = ((const ana_model *)b)->seconds;
    return (y > x) - (y < x);
}

static void finish_kernels(ana_models *out)
{
    if (out->nkernels)
        qsort(out->kernels, out->nkernels, sizeof *out->kernels, longest_first);
    for (uint32_t i = 0; i < out->nkernels; i++)
        make_mean(&out->kernels[i]);
}

/* Rows of the profile come by kernel. */
static int kernel_by_kernel(const void *a, const void *b)
{
    const prof_launch *const *x = a, *const *y = b;
    if ((*x)->kernel != (*y)->kernel)
        return (*x)->kernel < (*y)->kernel ? -1 : 1;
    return (*x)->id<(*y)->id ? -1 : (*x)->id>(*y)->id;
}

static const prof_launch **sorted_by_kernel(const prof_launch_rows *launches, wl_arena *arena)
{
    size_t count = launches->count;
    const prof_launch **order = wl_new_array(arena, const prof_launch *, count + 1);
    for (size_t i = 0; order && i < count; i++)
        order[i] = &launches->rows[i];
    if (order && count)
        qsort(order, count, sizeof *order, kernel_by_kernel);
    return order;
}

/* ---- the lab ---- */

struct model_lab {
    devices devices;
    model_rows *rows;
    prof_launch_rows launches;
    const prof_launch **order; /* by kernel */
};

wl_status model_lab_open(prof_db *profile, wl_arena *arena, model_lab **out, wl_error *err)
{
    model_lab *lab = *out = wl_new(arena, model_lab);
    wl_status status = lab ? WL_OK
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK)
        status = model_rows_load(profile, arena, &lab->rows, err);
    if (status == WL_OK)
        status = load_devices(profile, arena, &lab->devices, err);
    if (status == WL_OK)
        status = prof_load_launch_kinds(profile, PROF_ALL, arena, &lab->launches, err);
    if (status != WL_OK)
        return status;
    model_rows_combine(lab->rows, &lab->launches);
    lab->order = sorted_by_kernel(&lab->launches, arena);
    return lab->order ? WL_OK
                      : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

static uint32_t first_of_kernel(const model_lab *lab, uint32_t kernel)
{
    uint32_t low = 0, high = lab->launches.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lab->order[middle]->kernel < kernel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ana_model model_try(model_lab *lab, uint32_t kernel, const model_change *change, model_size size)
{
    ana_model sum = {.kernel = kernel, .missing = "It was not launched."};
    model_rows_rewind(lab->rows, kernel);
    for (uint32_t i = first_of_kernel(lab, kernel);
         i < lab->launches.count && lab->order[i]->kernel == kernel; i++) {
        ana_model m = model_of_launch(lab->rows, &lab->devices, lab->order[i], change, size);
        if (m.missing && !sum.launches)
            sum.missing = m.missing;
        add_model(&sum, &m);
    }
    make_mean(&sum);
    return sum;
}

/* ---- all launches ---- */

wl_status model_of_all(model_lab *lab, wl_arena *arena, ana_models *out, wl_error *err)
{
    uint32_t count = lab->launches.count;
    *out = (ana_models){.count = count,
                        .rows = wl_new_array(arena, ana_model, (size_t)count + 1),
                        .kernels = wl_new_array(arena, ana_model, (size_t)count + 1)};
    if (!out->rows || !out->kernels)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    model_rows_rewind(lab->rows, 0);
    for (uint32_t i = 0; i < count; i++) {
        ana_model *m = &out->rows[lab->order[i] - lab->launches.rows];
        *m = model_of_launch(lab->rows, &lab->devices, lab->order[i], NULL, MODEL_AS_RUN);
        add_to_kernels(out, m);
    }
    finish_kernels(out);
    return WL_OK;
}

wl_status ana_model_table(prof_db *profile, wl_arena *arena, ana_models *out, wl_error *err)
{
    model_lab *lab = NULL;
    *out = (ana_models){0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch
                           ? model_lab_open(profile, scratch, &lab, err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK)
        status = model_of_all(lab, arena, out, err);
    wl_arena_free(scratch);
    return status;
}

double ana_efficiency(const ana_model *m, double measured)
{
    bool known = measured > 0 && !m->missing && m->bound != MODEL_LAUNCH;
    return known ? m->resources[m->bound] / measured : -1;
}

const ana_model *ana_model_of(const ana_models *models, uint32_t kind)
{
    uint32_t low = 0, high = models->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (models->rows[middle].kind < kind)
            low = middle + 1;
        else
            high = middle;
    }
    return low < models->count && models->rows[low].kind == kind ? &models->rows[low] : NULL;
}

const ana_model *ana_model_of_kernel(const ana_models *models, uint32_t kernel)
{
    for (uint32_t i = 0; i < models->nkernels; i++)
        if (models->kernels[i].kernel == kernel)
            return &models->kernels[i];
    return NULL;
}

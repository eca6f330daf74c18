/* Kernels that are instances of one template, together. */
#include "analysis/tables/families.h"

#include <stdlib.h>
#include <string.h>

static void add_known_time(double *sum, double seconds)
{
    if (seconds >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + seconds;
}

static void add_member(ana_family *f, const ana_kernel *k)
{
    f->members[f->count++] = (ana_member){.kernel = k, .label = ""};
    f->launches += k->launches;
    f->counts.executions += k->counts.executions;
    f->counts.thread_instructions += k->counts.thread_instructions;
    f->counts.requests += k->counts.requests;
    f->counts.active_lanes += k->counts.active_lanes;
    f->counts.sectors += k->counts.sectors;
    f->counts.sectors_min += k->counts.sectors_min;
    f->counts.wavefronts += k->counts.wavefronts;
    f->counts.wavefronts_min += k->counts.wavefronts_min;
    add_known_time(&f->host_seconds, k->host_seconds);
    add_known_time(&f->device_seconds, k->device.timed ? k->device.seconds : -1);
    f->device_launches += k->device.timed ? k->device.launches : 0;
    f->excess_sectors += k->excess_sectors;
    f->excess_wavefronts += k->excess_wavefronts;
    f->nfindings += k->nfindings;
    f->left_over |= k->left_over;
}

static const char *short_name_of(const prof_kernel_rows *names, uint32_t kernel)
{
    const prof_kernel *k = prof_find_kernel(names, kernel);
    return k ? k->short_name : "";
}

static ana_family *family_named(ana_families *all, const char *name, uint32_t most, wl_arena *arena)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->rows[i].name, name) == 0)
            return &all->rows[i];
    ana_member *members = wl_new_array(arena, ana_member, most);
    if (!members)
        return NULL;
    ana_family *f = &all->rows[all->count++];
    *f = (ana_family){.name = name, .members = members, .host_seconds = -1, .device_seconds = -1};
    return f;
}

static bool label_members(ana_family *f, const prof_kernel_rows *names, wl_arena *arena)
{
    const char **of = wl_new_array(arena, const char *, f->count);
    const char **texts = wl_new_array(arena, const char *, f->count);
    if (!of || !texts)
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        of[i] = short_name_of(names, f->members[i].kernel->kernel);
    if (!ana_family_labels(arena, of, f->count, texts))
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        f->members[i].label = texts[i];
    return true;
}

static int by_family_cost(const void *a, const void *b)
{
    const ana_family *x = a, *y = b;
    uint64_t p = x->excess_sectors + x->excess_wavefronts,
             q = y->excess_sectors + y->excess_wavefronts;
    if (p == q) {
        p = x->counts.sectors + x->counts.wavefronts;
        q = y->counts.sectors + y->counts.wavefronts;
    }
    if (p != q)
        return p > q ? -1 : 1;
    return x->members[0].kernel < y->members[0].kernel ? -1 : 1;
}

bool ana_family_table(const ana_kernels *kernels, const prof_kernel_rows *names, wl_arena *arena,
                      ana_families *out)
{
    *out = (ana_families){.rows = wl_new_array(arena, ana_family, (size_t)kernels->count + 1)};
    if (!out->rows)
        return false;
    for (uint32_t i = 0; i < kernels->count; i++) {
        const ana_kernel *k = &kernels->rows[i];
        const char *name = ana_family_name(arena, short_name_of(names, k->kernel));
        ana_family *f = name ? family_named(out, name, kernels->count - i, arena) : NULL;
        if (!f)
            return false;
        add_member(f, k);
    }
    for (uint32_t i = 0; i < out->count; i++)
        if (!label_members(&out->rows[i], names, arena))
            return false;
    if (out->count)
        qsort(out->rows, out->count, sizeof *out->rows, by_family_cost);
    return true;
}

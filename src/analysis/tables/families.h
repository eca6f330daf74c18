/* Kernels that are instances of one template, together. Pure functions; everything lies in the caller's
 * arena. docs/names.md has the rules. */
#ifndef WL_ANALYSIS_TABLES_FAMILIES_H
#define WL_ANALYSIS_TABLES_FAMILIES_H

#include "analysis/tables.h"

typedef struct ana_member {
    const ana_kernel *kernel;
    const char *label; /* by which arguments it differs from the others; "" where it is alone */
} ana_member;

typedef struct ana_family {
    const char *name; /* of the template, without arguments: "at::native::reduce_kernel" */
    uint32_t count;
    ana_member *members; /* in the order of the kernels' table */
    uint32_t launches;
    ana_counts counts;
    double host_seconds,
        device_seconds;       /* negative: not measured; device: an estimate, as of kernels */
    uint64_t device_launches; /* of those of which that is known */
    uint64_t excess_sectors, excess_wavefronts;
    uint32_t nfindings; /* of its members, added up */
    bool left_over;     /* as a kernel's, of any of them */
} ana_family;

typedef struct ana_families {
    uint32_t count;
    ana_family *rows; /* costliest first, as kernels are */
} ana_families;

/* What it gives points into `kernels` and has texts of its own. False when memory is exhausted. */
bool ana_family_table(const ana_kernels *kernels, const prof_kernel_rows *names, wl_arena *arena,
                      ana_families *out);

/* "at::native::reduce_kernel<512, 1, ...>" -> "at::native::reduce_kernel". NULL when memory is
 * exhausted. */
const char *ana_family_name(wl_arena *arena, const char *short_name);

/* By which template arguments each of these names of one family differs from the others, briefly: without
 * namespaces and lists of parameters, and within an argument that all have likewise the same. False
 * when memory is exhausted. */
bool ana_family_labels(wl_arena *arena, const char *const *short_names, uint32_t count,
                       const char **labels);

#endif

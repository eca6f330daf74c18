/* What fixing a finding is worth: gains.def. The excess counts transfers; whether the kernel waits
 * for them, and whether anybody waits for the kernel, is judged here. */
#ifndef WL_ANALYSIS_GAIN_H
#define WL_ANALYSIS_GAIN_H

#include "analysis/finding.h"

typedef struct gain_input {
    const ana_thresholds *thresholds;
    const prof_launch_rows *launches; /* of all kernels */
    const double *seconds;            /* theirs: ana_launch_seconds */
    const prof_device_rows *devices;
    wl_arena *arena; /* of the notes */
} gain_input;

typedef struct gain_kernel {
    double time_share; /* of the program's device time; negative: not measured */
    double share;      /* of its time, else of its instructions or its traffic, whichever is more */
    double warps;      /* of its largest launch, for its multiprocessors */
    uint32_t sms;      /* 0: not known */
} gain_kernel;

/* `traffic_share`: the kernel's part of the program's sectors and wavefronts. */
gain_kernel gain_of_kernel(const gain_input *in, uint32_t kernel, double traffic_share);
/* Sets gain, its figures and note, and kernel_share_of_time; `object` may be NULL. False when
 * memory is exhausted. */
bool gain_set(const gain_input *in, const gain_kernel *k, const prof_object *object,
              ana_finding *f);

#endif

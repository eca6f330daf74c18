/* What fixing a finding is worth: seconds, and the verdict of gains.def.
 *
 * The excess counts transfers; whether the kernel waits for them, and whether anybody waits for the
 * kernel, is judged here: by the model, which predicts the kernel's time with the remedy followed;
 * where the device has no model, by rules of thumb. */
#ifndef WL_ANALYSIS_GAIN_H
#define WL_ANALYSIS_GAIN_H

#include "analysis/finding.h"

typedef struct gain_input {
    const ana_thresholds *thresholds;
    const prof_launch_rows *launches; /* of all kernels */
    const double *seconds;            /* theirs: ana_launch_seconds */
    const prof_device_rows *devices;
    model_lab *lab;
    const ana_models *models; /* of all kernels, as they are */
    wl_arena *arena;          /* of the notes */
} gain_input;

typedef struct gain_kernel {
    double time_share; /* of the program's device time; negative: not measured */
    double share;      /* of its time, else of its instructions or its traffic, whichever is more */
    double warps;      /* of its largest launch, for its multiprocessors */
    uint32_t sms;      /* 0: not known */
    double seconds;    /* measured of its launches; negative: not */
    const ana_model *model; /* as it is; NULL: none */
} gain_kernel;

/* `traffic_share`: the kernel's part of the program's sectors and wavefronts. */
gain_kernel gain_of_kernel(const gain_input *in, uint32_t kernel, double traffic_share);
/* What the change would save, where there is a model. */
ana_worth gain_worth(const gain_input *in, const gain_kernel *k, const model_change *change);
/* Of the kernel's time, its launch apart, the part that the change would save once `given` has been
 * done: as it was run, or where it takes hardly longer than its launch with a grid that fills the
 * device. 0 without a model. */
double gain_part(const gain_input *in, const gain_kernel *k, const model_change *given,
                 const model_change *change);
/* Of the findings of a kernel. */
typedef struct gain_changes {
    model_change alike;  /* of the finding and those that its remedy mends, too */
    model_change others; /* of all the rest */
} gain_changes;

/* Under which condition it saves what it is judged by (of_full): " with a grid that fills the device",
 * " once the other changes are made"; "" as the program is. */
const char *gain_when_judged(const ana_worth *worth);

/* Sets worth, gain, its figures and note, and kernel_share_of_time, for the first of its remedies;
 * `object` may be NULL. It is
 * judged by what the remedy saves for all that it mends: by itself, or after all others have been
 * followed, where two resources are busy equally long. False when memory is exhausted. */
bool gain_set(const gain_input *in, const gain_kernel *k, const prof_object *object,
              const gain_changes *changes, ana_finding *f);

#endif

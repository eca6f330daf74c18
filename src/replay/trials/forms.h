/* Addresses of a launch's accesses to an object: what the code tells of them (docs/flow.md), with the
 * launch's parameters and sizes put in. */
#ifndef WL_REPLAY_TRIALS_FORMS_H
#define WL_REPLAY_TRIALS_FORMS_H

#include "replay/trials/trial.h"

typedef struct
    trial_step { /* what one more of an index, of an iteration or of a product of them adds */
    int64_t bytes;
    bool given; /* a parameter is a factor, so that the program says how far it is */
    bool sized; /* the launch's size is a factor */
} trial_step;

typedef struct trial_form {
    uint32_t pc, bytes; /* bytes: that a lane takes */
    bool whole;         /* nothing but what follows moves the address */
    uint64_t pointer;   /* into the object, as the kernel was given it; 0: not known */
    int64_t start;      /* from there, with all indices and iterations 0 */
    trial_step lane;    /* bytes from one threadIdx.x to the next */
    uint32_t nsteps;
    trial_step steps[FLOW_MAX_TERMS]; /* of all other indices and iterations */
} trial_form;

typedef struct trial_forms {
    uint32_t count;
    trial_form *rows;
    bool whole;       /* every access has a whole form with the same pointer */
    uint64_t pointer; /* of all of them; 0 where that is not one */
} trial_forms;

/* Of the instructions of `rows`, which all access the object alone. Needs `flow`. WL_NOMEM is the
 * only failure. */
wl_status trial_forms_of(const trial_work *t, const trial_rows *rows, const emu_alloc *object,
                         trial_forms *out);

/* Does any index of the form but threadIdx.x move it by no multiple of `unit`? */
bool trial_form_strays(const trial_form *form, int64_t unit);

#endif

/* The process as it stands at one point of its capture: live objects as ghosts, modules,
 * constants. */
#ifndef WL_REPLAY_WORLD_H
#define WL_REPLAY_WORLD_H

#include "base/vec.h"
#include "capture/capture.h"
#include "emu/slice.h"
#include "flow/launch.h"
#include "replay/arrays.h"
#include "replay/code.h"
#include "replay/facts.h"
#include "replay/fills.h"
#include "replay/followed.h"
#include "replay/maps.h"
#include "replay/ordered.h"
#include "replay/sampling.h"

#include <uthash.h>

typedef struct replay_world_object {
    uint32_t id;
    uint64_t base, bytes;
    bool part;  /* of another object */
    char *name; /* of a variable, else NULL */
    /* A constant variable has memory, at the same place in 512 bytes as on the device. */
    uint8_t *memory; /* allocated; NULL: none */
    uint64_t at;     /* address in it that stands for `base` */
    bool known;      /* what it holds */
    UT_hash_handle hh;
} replay_world_object;

typedef struct replay_world_kernel {
    char *name;
    uint64_t number;
    wl_arena *arena;
    wl_status status; /* WL_OK: facts and slice are there; else `error` says why not */
    wl_error error;
    replay_source *source; /* what its code is of */
    const replay_code *code;
    replay_facts facts;
    replay_fills fills;
    replay_arrays arrays;
    replay_path path;
    replay_doors doors;
    emu_kernel *slice;
    replay_shapes *shapes; /* that it was launched with */
    replay_shapes *tried;  /* of these, those that trials were made of */
    uint32_t shown;        /* memory instructions that the slice shows */
    uint32_t ngaps;
    cap_gap *gaps;
    uint32_t ntold; /* the same by the numbers that users know */
    cap_gap *told;
    /* Of a kernel as launches have it that decide some of its guards: what they say of each. */
    const uint8_t *decided;
    struct replay_world_kernel *variants, *next; /* those of the kernel as it is */
    flow_kernel *asked;                          /* to find out; NULL before */
    bool remarked; /* of machine code: the report says why launches are not counted by it */
    UT_hash_handle hh;
} replay_world_kernel;

typedef struct replay_world_module {
    uint32_t id;
    replay_source source;
    wl_vec(uint32_t) variables; /* objects */
    replay_world_kernel *kernels;
    /* The machine code that came beside its PTX, which is what ran; its kernels have the module's variables.
     * Number 0: there is none. */
    uint32_t beside_number;
    replay_source beside;
    replay_world_kernel *machine;
    UT_hash_handle hh;
} replay_world_module;

typedef struct replay_world {
    emu_machine *machine;     /* NULL before the first device */
    uint32_t multiprocessors; /* 0: not known */
    replay_world_object *objects;
    replay_world_module *modules;
    replay_maps maps;
    uint64_t nkernels;
} replay_world;

void replay_world_clear(replay_world *w);

/* DEVICE, MODULE, OBJECT, FREE, SYMBOL, TENSOR; all others are ignored. WL_NOMEM is the only failure. */
wl_status replay_world_see(replay_world *w, const cap_record *record, wl_error *err);

/* The innermost live object at an address, and that with a number: replay_find and replay_find_object with
 * the world as ctx. */
bool replay_world_find(void *ctx, uint64_t address, emu_alloc *out);
bool replay_world_find_object(void *ctx, uint32_t object, emu_alloc *out);

/* The kernel with all that is known of it. Where it cannot be replayed err ends a sentence that
 * says why; *out may be there all the same, with its gaps. */
wl_status replay_world_find_kernel(replay_world *w, uint32_t module, const char *name,
                                   replay_world_kernel **out, wl_error *err);
/* The same of the machine code that the module has beside its PTX, with the number that this has. WL_NOENT without a
 * text: there is none. */
wl_status replay_world_find_machine(replay_world *w, uint32_t module, const char *name,
                                    replay_world_kernel **out, uint32_t *number, wl_error *err);
/* Whether the first was asked for before, so that it takes no time. */
bool replay_world_has_kernel(const replay_world *w, uint32_t module, const char *name);
/* Puts in the place of the kernel what is left of it in launches that decide as this one does, where
 * more of that follows from the launch: with a number of its own, so that its launches are told
 * apart from others. Leaves it where there is no such thing. WL_NOMEM is the only failure. */
wl_status replay_world_decide(replay_world *w, uint32_t module, const flow_launch *launch,
                              replay_world_kernel **kernel);
/* The same for less than a kernel depends on by itself: parameters that the launch does not get to, such as
 * the unused rest of an array, are none of its facts. A kernel that was decided stays. */
wl_status replay_world_narrow(replay_world *world, uint32_t module, const flow_launch *launch,
                              replay_world_kernel **kernel);
/* Hash of what the kernel's constants hold; false, with the name of the first one, where one of
 * them is not known. */
bool replay_world_constants(replay_world *w, uint32_t module, const replay_world_kernel *kernel,
                            uint64_t *hash, const char **unknown);
/* Where a constant of the module lies in the replay's memory; 0: nowhere. */
uint64_t replay_world_constant(replay_world *w, uint32_t module, const char *name);
/* Heat maps of constants get the addresses that they have on the device. */
void replay_world_place_constants(replay_world *w, obs_summary *summary);

#endif

/* A kernel as a list of warp accesses, written down by a test: goes through observation into a
 * profile, and stays at hand for the naive detectors of reference.h. */
#ifndef TESTS_ANALYSIS_SIM_H
#define TESTS_ANALYSIS_SIM_H

#include "analysis/finding.h"
#include "observe/observe.h"

enum { SIM_MAX_OBJECTS = 16, SIM_MAX_SAMPLED = 64, SIM_MAX_PCS = 64 };

typedef struct sim_thread {
    uint32_t block[3], thread[3]; /* blockIdx, threadIdx */
    uint32_t index;               /* in the block, x fastest */
    uint64_t linear_block;
} sim_thread;

/* Byte offset in the object that the thread accesses; negative: not active. */
typedef int64_t sim_offset(const sim_thread *t, const void *args);

typedef struct sim_request {
    uint32_t pc, warp, object, bytes, mask, flags;
    uint8_t op, space;
    uint64_t block;
    uint64_t addr[32];
} sim_request;

typedef struct sim_object {
    const char *name;
    uint64_t base, bytes;
    bool shared, local;
} sim_object;

typedef struct sim {
    wl_arena *arena;
    uint32_t grid[3], block[3];
    uint32_t nobjects;
    /* 1 ..; for shared memory the index is that of the array */
    sim_object objects[SIM_MAX_OBJECTS];
    uint32_t nshared;
    uint64_t next;
    uint32_t flags; /* acc_flag of the accesses that follow */
    uint32_t nsampled;
    uint64_t sampled[SIM_MAX_SAMPLED];
    uint32_t mapped;                /* launches that have heat maps, the first ones; 0: all */
    const char *forms[SIM_MAX_PCS]; /* of addresses, by pc, as the code tells them; NULL: none */
    struct {
        sim_request *data;
        size_t count, capacity;
    } log;
} sim;

void sim_begin(sim *s, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by);
void sim_end(sim *s);
static inline uint32_t sim_warps(const sim *s)
{
    return (s->block[0] * s->block[1] + 31) / 32;
}
/* An object of device memory; the returned number goes to sim_access. `skew`: bytes off the
 * 256-byte boundary. One of a name that there is already counts as allocated after that one was
 * freed. */
uint32_t sim_alloc(sim *s, const char *name, uint64_t bytes, uint32_t skew);
uint32_t sim_shared(sim *s, const char *name, uint64_t bytes);
/* The local memory of each thread. */
uint32_t sim_local(sim *s, uint64_t bytes);

/* Every warp of every block executes the instruction once. */
void sim_access(sim *s, uint32_t pc, acc_op op, uint32_t object, uint32_t bytes, sim_offset *offset,
                const void *args);

/* Makes a profile with `launches` equal launches and finds in it; everything lies in s->arena. */
void sim_find(sim *s, uint32_t launches, ana_findings *out);

/* The finding of the pattern on the object; NULL without one. */
const ana_finding *sim_finding(const sim *s, const ana_findings *all, const char *object,
                               ana_pattern pattern);
/* Findings on an object, as a set of 1 << pattern. */
uint32_t sim_patterns(const sim *s, const ana_findings *all, const char *object);
/* "" for findings that are about no object. */
const char *sim_object_of(const sim *s, const ana_finding *f);

#endif

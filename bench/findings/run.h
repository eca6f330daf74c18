/* One kernel in the emulator: every access as it was, and what warplens finds by the way that it
 * always goes (observation, choice of blocks, profile, analysis). */
#ifndef BENCH_FINDINGS_RUN_H
#define BENCH_FINDINGS_RUN_H

#include "../../tests/analysis/sim.h"
#include "kernels.h"

typedef struct run {
    const kernel *kernel;
    sim accesses;       /* as they were; object i of the kernel is number i + 1, all blocks count as
                           sampled */
    ana_findings found; /* object: index in kernel->objects, of a pool that of its first */
} run;

/* Runs `k`, which must outlive *out; ends the program with a message where that fails. `elements`:
 * as `profile --probes touch` does. `scratch`: a file for the profile. */
void run_kernel(const kernel *k, bool elements, const char *scratch, run *out);
void run_clear(run *r);

#endif

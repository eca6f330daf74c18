/* The equations of the paper's model, each in a line of its own with its number. */
#include "analysis/model/paper.h"

#include <math.h>

/* Warps that one multiprocessor runs, one after the other or at once. */
static double warps_of_one(const paper_launch *l)
{
    return l->warps / l->multiprocessors;
}

static void set_latencies(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    c->dram_latency = d->dram_latency + (l->transactions - 1) * d->departure_delay; /* (13) */
    c->access_latency = c->dram_latency * l->miss_ratio + d->hit_latency;           /* (12) */
    c->itilp_most = l->instruction_latency / (d->warp_lanes / d->simd_lanes);       /* (5) */
    c->itilp = fmin(l->ilp * l->resident_warps, c->itilp_most);                     /* (4) */
}

static void set_warps_at_once(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    double n = l->resident_warps;
    c->bandwidth_of_warp = d->clock * d->transaction_bytes / c->dram_latency;         /* A.7 */
    c->mwp_bandwidth = d->bandwidth / (c->bandwidth_of_warp * l->multiprocessors);    /* A.6 */
    c->mwp = fmin(fmin(c->dram_latency / d->departure_delay, c->mwp_bandwidth), n);   /* A.5 */
    c->memory_period = l->memory_instructions * c->access_latency / l->mlp;           /* A.4 */
    c->computation_period = l->instructions * l->instruction_latency / c->itilp;      /* A.3 */
    c->cwp_full = (c->memory_period + c->computation_period) / c->computation_period; /* A.2 */
    c->cwp = fmin(c->cwp_full, n);                                                    /* A.1 */
}

static void set_barriers(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    double memory_part = l->memory_instructions / l->instructions;
    c->barrier_cycles = d->barrier_cycles > 0
                            ? d->barrier_cycles
                            : d->barrier_factor * c->dram_latency * memory_part; /* (8) */
    c->barriers = l->barriers * warps_of_one(l) * c->barrier_cycles;             /* (7) */
}

static void set_special_functions(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    double part = l->special_instructions / l->instructions;
    double hidden = d->special_lanes / d->simd_lanes;
    c->special_visible = fmin(fmax(part - hidden, 0), 1); /* (10) */
    c->special = l->special_instructions * warps_of_one(l) * d->warp_lanes / d->special_lanes *
                 c->special_visible; /* (9) */
}

static void set_computation(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    set_barriers(d, l, c);
    set_special_functions(d, l, c);
    c->bank_conflicts = l->extra_wavefronts / l->multiprocessors * d->wavefront_cycles;
    c->serial = c->barriers + c->special + c->bank_conflicts + l->contention;            /* (6) */
    c->parallel = l->instructions * warps_of_one(l) * l->instruction_latency / c->itilp; /* (3) */
    c->computation = c->parallel + c->serial;                                            /* (2) */
}

static void set_memory(const paper_launch *l, paper_costs *c)
{
    c->mwp_cp = fmin(fmax(1, c->cwp - 1), c->mwp);                                       /* (15) */
    c->itmlp = fmin(l->mlp * c->mwp_cp, c->mwp_bandwidth);                               /* (14) */
    c->memory = l->memory_instructions * warps_of_one(l) / c->itmlp * c->access_latency; /* (11) */
}

static void set_total(const paper_launch *l, paper_costs *c)
{
    double n = l->resident_warps, zeta = c->cwp <= c->mwp ? 1 : 0;
    c->overlap_part = (n - zeta) / n;                               /* (17) */
    c->overlap = fmin(c->computation * c->overlap_part, c->memory); /* (16) */
    c->total = c->computation + c->memory - c->overlap;             /* (1) */
}

static void set_benefits(const paper_device *d, const paper_launch *l, paper_costs *c)
{
    double transactions = l->data_bytes / d->transaction_bytes / l->multiprocessors;
    double at_most = l->instructions * warps_of_one(l) * l->instruction_latency / c->itilp_most;
    c->least_computation = l->float_instructions * warps_of_one(l) * d->float_latency /
                           c->itilp;                                     /* (18) */
    c->least_memory = transactions * c->dram_latency / c->mwp_bandwidth; /* (19) */
    c->benefit_parallelism = c->parallel - at_most;                      /* (20) */
    c->benefit_serial = c->serial;                                       /* (21) */
    c->benefit_float = c->computation - c->least_computation - c->benefit_parallelism -
                       c->benefit_serial;                                  /* (22) */
    c->benefit_memory = fmax(c->memory - c->overlap - c->least_memory, 0); /* (23) */
}

paper_costs paper_costs_of(const paper_device *device, const paper_launch *launch)
{
    paper_costs costs = {0};
    set_latencies(device, launch, &costs);
    set_warps_at_once(device, launch, &costs);
    set_computation(device, launch, &costs);
    set_memory(launch, &costs);
    set_total(launch, &costs);
    set_benefits(device, launch, &costs);
    return costs;
}

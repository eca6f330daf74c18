/* The model of Sim et al., "A Performance Analysis Framework for Identifying Potential Benefits in
 * GPGPU Applications" (PPoPP 2012), to the letter: equations (1) to (23) and A.1 to A.7 as a pure
 * function. Comments give the paper's symbols. Where the paper leaves something open, this was
 * chosen:
 *
 *   (6)   O_CFdiv is 0: instructions are counted for each part of a diverged warp by itself, so
 *         that both paths are in the counts, and another term would count divergence twice.
 *   (6)   O_bank, of which the paper gives no equation, is the wavefronts of shared memory beyond
 *         the fewest possible, of one multiprocessor, times the cycles of a wavefront.
 *   (6)   has a fifth term, contention, which the paper does not know: cycles in which all wait for
 *         one unit, such as the atomics on one word. It is 0 where the paper itself is tested.
 *   (8)   Gamma is a figure of the device. The paper has 64 for the C2050, from a simulator. Where
 *         a barrier was measured, its cycles stand in place of F_sync.
 *   (19)  size_of_data is in transactions of one multiprocessor; only then are the units cycles.
 *         It is given in bytes of the whole launch, and divided by the bytes of a transaction and
 *         by the multiprocessors.
 *   (22)  is not clamped, as printed: where few warps run, (18) divides by ITILP what the rest has
 *         at ITILP_max, and B_fp may come out below zero.
 *
 * Costs are in cycles of one multiprocessor. As printed, the time is not continuous: where CWP
 * passes MWP, (17) takes away T_comp / N at once. */
#ifndef WL_ANALYSIS_MODEL_PAPER_H
#define WL_ANALYSIS_MODEL_PAPER_H

/* Figures of a device. All but the last two are above zero. */
typedef struct paper_device {
    double clock;             /* freq: cycles a second */
    double bandwidth;         /* mem_peak_bandwidth: bytes a second, of all multiprocessors */
    double transaction_bytes; /* transaction_size */
    double dram_latency;      /* DRAM_lat */
    double departure_delay;   /* Delta: between two transactions */
    double hit_latency;       /* hit_lat */
    double float_latency;     /* FP_lat */
    double warp_lanes;        /* warp_size */
    double simd_lanes;        /* SIMD_width: lanes that a multiprocessor starts in a cycle */
    double special_lanes;     /* SFU_width: of these, those of special functions */
    double wavefront_cycles;  /* that a wavefront keeps shared memory busy */
    double barrier_factor;    /* Gamma */
    double barrier_cycles;    /* F_sync as it was measured; 0: equation (8) */
} paper_device;

/* What a launch asks for. Counts of instructions are those of one warp, the mean of all. Those that
 * say "at least" must be so; the others are zero or more. */
typedef struct paper_launch {
    double instructions;         /* #insts, without those of special functions; above 0 */
    double memory_instructions;  /* #mem_insts */
    double barriers;             /* #sync_insts */
    double special_instructions; /* #SFU_insts */
    double float_instructions;   /* #FP_insts */
    double warps;                /* #total_warps */
    double multiprocessors;      /* #active_SMs, at least 1 */
    double resident_warps;       /* N, of a multiprocessor at once, at least 1 */
    double instruction_latency;  /* avg_inst_lat, above 0 */
    double transactions;         /* avg_trans_warp, of a memory instruction, at least 1 */
    double miss_ratio;           /* 0 to 1 */
    double data_bytes;           /* size_of_data, of the launch */
    double ilp, mlp;             /* ILP, MLP of a warp, at least 1 */
    double extra_wavefronts;     /* of shared memory, beyond the fewest; of all warps */
    double contention;           /* cycles, see (6) above */
} paper_launch;

/* Every quantity that has an equation, in cycles where nothing else is said. */
typedef struct paper_costs {
    double total;               /* T_exec (1) */
    double computation;         /* T_comp (2) */
    double parallel;            /* W_parallel (3) */
    double itilp, itilp_most;   /* ITILP (4), ITILP_max (5): instructions at once */
    double serial;              /* W_serial (6) */
    double barriers;            /* O_sync (7) */
    double barrier_cycles;      /* F_sync (8) */
    double special;             /* O_SFU (9) */
    double special_visible;     /* F_SFU (10): a part, 0 to 1 */
    double bank_conflicts;      /* O_bank */
    double memory;              /* T_mem (11) */
    double access_latency;      /* AMAT (12) */
    double dram_latency;        /* avg_DRAM_lat (13) */
    double itmlp;               /* ITMLP (14): requests at once */
    double mwp_cp;              /* MWP_cp (15): warps */
    double overlap;             /* T_overlap (16) */
    double overlap_part;        /* F_overlap (17): a part, 0 to 1 */
    double least_computation;   /* T_fp (18) */
    double least_memory;        /* T_mem_min (19) */
    double benefit_parallelism; /* B_itilp (20) */
    double benefit_serial;      /* B_serial (21) */
    double benefit_float;       /* B_fp (22) */
    double benefit_memory;      /* B_memlp (23) */
    double cwp, cwp_full;       /* CWP (A.1), CWP_full (A.2): warps */
    double computation_period;  /* comp_cycles (A.3) */
    double memory_period;       /* mem_cycles (A.4) */
    double mwp, mwp_bandwidth;  /* MWP (A.5), MWP_peak_bw (A.6): warps */
    double bandwidth_of_warp;   /* BW_per_warp (A.7): bytes a second */
} paper_costs;

paper_costs paper_costs_of(const paper_device *device, const paper_launch *launch);

#endif

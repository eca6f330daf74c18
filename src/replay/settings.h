/* What is asked of replay. The room reads neither the environment nor the process's options:
 * whoever calls it says. */
#ifndef WL_REPLAY_SETTINGS_H
#define WL_REPLAY_SETTINGS_H

#include "program/options.h"

typedef struct replay_settings {
    uint32_t threads; /* of the host, for a launch; 0: all cores */
    /* Those that get heat maps. The list belongs to the caller, and must outlive the settings. */
    prog_blocks blocks;
    uint64_t heat_launches;  /* of a kernel and shape that get heat maps first; 0: all */
    uint64_t heat_limit;     /* sectors that one heat map holds at most; 0: no limit */
    uint64_t sequence_limit; /* bytes of a launch's sequences; 0: none are kept */
    bool all_warps;          /* of all blocks; else of those that get a heat map */
    uint32_t probes;         /* what is counted of elements: bits, 1 << rewrite_probe */
    bool memo; /* a launch that does what an earlier one did is not worked out again */
    /* Time for all replays together, and memory that the process may take meanwhile. */
    prog_budget budget;
} replay_settings;

/* As the options say; the settings refer to their list of blocks. */
replay_settings replay_settings_of(const prog_options *options);

#endif

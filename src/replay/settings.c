/* What the options say to replay. */
#include "replay/settings.h"

#include <string.h>

replay_settings replay_settings_of(const prog_options *options)
{
    return (replay_settings){.threads = (uint32_t)options->threads,
                             .blocks = options->blocks,
                             .heat_launches = options->heat_launches,
                             .heat_limit = options->heat_limit,
                             .sequence_limit = (uint64_t)options->sequence_limit,
                             .all_warps = strcmp(options->set, "sequences") == 0,
                             .probes = options->probes,
                             .memo = options->memo,
                             .budget = options->replay_budget};
}

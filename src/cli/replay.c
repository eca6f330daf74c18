#include "replay/replay.h"
#include "base/log.h"
#include "cli/cli.h"
#include "program/options.h"

#include <signal.h>

static bool progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    cli_progress("working out what the launches did (Ctrl-C: leave the rest out)", done, total);
    return cli_interrupt() == 0;
}

wl_status cli_replay(const char *const *captures, uint32_t count, wl_error *err)
{
    replay_options options = {.progress = progress};
    if (!replay_budget(prog_options_get()->replay_budget, &options.seconds, &options.bytes))
        return wl_fail(err, WL_ARG, "the replay budget \"%s\" cannot be read",
                       prog_options_get()->replay_budget);
    wl_status status = replay_captures(captures, count, &options, err);
    cli_progress_end();
    if (status == WL_OK && cli_interrupt() == SIGINT) {
        wl_log(WL_LOG_WARN,
               "interrupted: launches that were not worked out are counted as skipped");
        cli_note_interrupts(); /* another one ends the import */
    }
    return status;
}

/* Replay on behalf of profile and import: its progress line, and its end by Ctrl-C. */
#include "replay/replay.h"
#include "base/log.h"
#include "cli/cli.h"

#include <signal.h>

static bool tell_replay(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    char what[128] = "trying changes of kernels (Ctrl-C leaves the rest out)";
    if (total) /* launches that the emulator ran are known */
        snprintf(what, sizeof what,
                 "computing the accesses of launch %llu of %llu (Ctrl-C leaves the rest out)",
                 (unsigned long long)(done < total ? done + 1 : total), (unsigned long long)total);
    cli_progress(what, done, total);
    return cli_interrupt() == 0;
}

wl_status cli_replay(const char *const *captures, uint32_t count, const replay_settings *settings,
                     wl_error *err)
{
    replay_progress progress = {.tell = tell_replay};
    wl_status status = replay_captures(captures, count, settings, &progress, err);
    cli_progress_end();
    if (status == WL_OK && cli_interrupt() == SIGINT) {
        wl_log(WL_LOG_WARN, "interrupted: the launches that are left count as not observed");
        cli_note_interrupts(); /* another one ends the import */
    }
    return status;
}

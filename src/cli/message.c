/* What stderr may be told: messages, colours, the progress line. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_fail(const wl_error *err)
{
    cli_progress_end();
    wl_log(WL_LOG_ERROR, "%s", err->text);
    return CLI_FAILED;
}

static bool is_quiet(void)
{
    return wl_log_get_level() < WL_LOG_INFO;
}

static bool is_terminal(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_color(FILE *stream)
{
    const char *off = getenv("NO_COLOR");
    return is_terminal(stream) && !(off && *off);
}

unsigned cli_width(FILE *stream)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= 40)
        return size.ws_col;
    return columns && atoi(columns) >= 40 ? (unsigned)atoi(columns) : 100;
}

static wl_progress progress;

wl_progress_kind cli_progress_kind(void)
{
    return is_quiet()            ? WL_PROGRESS_NONE
           : is_terminal(stderr) ? WL_PROGRESS_TERMINAL
                                 : WL_PROGRESS_LINES;
}

void cli_progress(const char *what, uint64_t done, uint64_t total)
{
    char text[256], left[64] = "", part[16] = "";
    progress.kind = cli_progress_kind();
    if (!wl_progress_due(&progress))
        return;
    wl_progress_left(progress.last - progress.from, done, total, left, sizeof left);
    if (total)
        snprintf(part, sizeof part, ", %.0f %%", 100.0 * (double)done / (double)total);
    snprintf(text, sizeof text, "%s%s%s", what, part, left);
    wl_progress_show(&progress, text);
}

void cli_progress_step(const char *what)
{
    if (cli_progress_kind() == WL_PROGRESS_TERMINAL)
        wl_progress_show(&progress, what);
    else
        cli_progress(what, 0, 0);
}

void cli_progress_end(void)
{
    wl_progress_clear(&progress);
    progress = (wl_progress){0};
}

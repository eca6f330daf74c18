/* What stderr may be told: messages, colours, the progress line. */
#include "base/clock.h"
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool progress_shown;

int cli_fail(const wl_error *err)
{
    cli_progress_end();
    wl_log(WL_LOG_ERROR, "%s", err->text);
    return CLI_FAILED;
}

bool cli_quiet(void)
{
    return wl_log_get_level() < WL_LOG_INFO;
}

bool cli_terminal(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_color(FILE *stream)
{
    const char *off = getenv("NO_COLOR");
    return cli_terminal(stream) && !(off && *off);
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

static bool due(void)
{
    static double last = -1;
    double now = wl_seconds();
    if (now - last < 0.1)
        return false;
    last = now;
    return true;
}

void cli_progress(const char *what, uint64_t done, uint64_t total)
{
    if (cli_quiet() || !cli_terminal(stderr) || !due())
        return;
    progress_shown = true;
    fprintf(stderr, "\r==WARPLENS== %s %3.0f %%\033[K", what,
            total ? 100.0 * (double)done / (double)total : 0);
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

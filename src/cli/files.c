/* Files that the commands write: refused, published whole, or left as they were. */
#include "cli/cli.h"
#include "profile/publish.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_prefix(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return path;
}

/* The file being written under another name; one at a time. */
static struct {
    FILE *file; /* NULL: none */
    char *temp;
    bool force;
} unfinished;

static void forget_unfinished(int signal_number)
{
    unlink(unfinished.temp);
    raise(signal_number); /* by now to its default: SA_RESETHAND */
}

static void on_interrupt(void (*handler)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* A pipe, a terminal, /dev/null: written as it is. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

FILE *cli_create(const char *path, bool force, wl_error *err)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    bool special = is_special(path);
    char *temp = NULL;
    if (!special && publish_begin(path, force, &temp, err) != WL_OK)
        return NULL;
    FILE *file = fopen(special ? path : temp, "we");
    if (!file) {
        wl_fail_errno(err, "cannot write %s", path);
        publish_discard(temp);
    } else if (!special) {
        unfinished.file = file;
        unfinished.temp = temp;
        unfinished.force = force;
        on_interrupt(forget_unfinished);
    }
    return file;
}

static wl_status close_output(FILE *file, const char *path, wl_error *err)
{
    bool failed = fflush(file) != 0 || ferror(file);
    if (failed)
        wl_fail_errno(err, "cannot write %s", path);
    if (file != stdout && fclose(file) != 0 && !failed)
        return wl_fail_errno(err, "cannot write %s", path);
    return failed ? WL_IO : WL_OK;
}

int cli_finish(FILE *file, const char *path, wl_status status, wl_error *err)
{
    bool publish = file == unfinished.file;
    wl_error closing;
    if (close_output(file, path, &closing) != WL_OK && status == WL_OK) {
        *err = closing;
        status = closing.status;
    }
    if (publish) {
        unfinished.file = NULL;
        on_interrupt(SIG_DFL);
        if (status == WL_OK)
            status = publish_end(unfinished.temp, path, unfinished.force, err);
        else
            publish_discard(unfinished.temp);
    }
    return status == WL_OK ? CLI_OK : cli_fail(err);
}

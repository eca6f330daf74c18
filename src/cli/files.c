/* Files that the commands write: refused, published whole, or left as they were. */
#include "cli/cli.h"
#include "profile/publish.h"

#include <errno.h>
#include <fcntl.h>
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

/* What ends us by default and is no crash. */
static const int interrupts[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                                 SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};

static void forget_unfinished(int signal_number)
{
    unlink(unfinished.temp);
    raise(signal_number); /* by now to its default: SA_RESETHAND */
}

/* What the process was told to ignore, it goes on to ignore. */
static void on_interrupt(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND}, before;
    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++)
        if (sigaction(interrupts[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(interrupts[i], &action, NULL);
}

/* Until `release_interrupts` they wait: there is no moment at which an interrupt would leave the
 * unfinished file behind. */
static void hold_interrupts(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++)
        sigaddset(&held, interrupts[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

static void release_interrupts(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* A pipe that somebody reads, a terminal, /dev/null: written as it is. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A pipe without a reader is refused rather than waited for. */
static FILE *open_special(const char *path, wl_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENXIO)
        wl_fail(err, WL_ARG, "cannot write %s: it is a pipe that nobody reads", path);
    else if (fd < 0)
        wl_fail_errno(err, "cannot write %s", path);
    if (fd < 0)
        return NULL;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    FILE *file = fdopen(fd, "w");
    if (!file) {
        wl_fail_errno(err, "cannot write %s", path);
        close(fd);
    }
    return file;
}

/* With interrupts held. */
static FILE *create_unfinished(const char *path, bool force, wl_error *err)
{
    char *temp = NULL;
    if (publish_begin(path, force, &temp, err) != WL_OK)
        return NULL;
    FILE *file = fopen(temp, "we");
    if (!file) {
        wl_fail_errno(err, "cannot write %s", path);
        publish_discard(temp);
        return NULL;
    }
    unfinished.file = file;
    unfinished.temp = temp;
    unfinished.force = force;
    on_interrupt(forget_unfinished);
    return file;
}

FILE *cli_create(const char *path, bool force, wl_error *err)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    if (is_special(path))
        return open_special(path, err);
    sigset_t before;
    hold_interrupts(&before);
    FILE *file = create_unfinished(path, force, err);
    release_interrupts(&before);
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

/* Under its name, or gone. */
static wl_status end_unfinished(const char *path, bool publish, wl_error *err)
{
    wl_status status = WL_OK;
    sigset_t before;
    hold_interrupts(&before);
    unfinished.file = NULL;
    if (publish)
        status = publish_end(unfinished.temp, path, unfinished.force, err);
    else
        publish_discard(unfinished.temp);
    on_interrupt(SIG_DFL);
    release_interrupts(&before);
    return status;
}

void cli_discard(FILE *file)
{
    bool unpublished = file == unfinished.file;
    if (file != stdout)
        fclose(file);
    if (unpublished)
        (void)end_unfinished(NULL, false, NULL);
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
        wl_status ended = end_unfinished(path, status == WL_OK, err);
        status = status == WL_OK ? ended : status;
    }
    return status == WL_OK ? CLI_OK : cli_fail(err);
}

/* `warplens explore` as a server. The page is made once, and each launch when the page asks for it; a
 * profile is read by one request at a time. */
#include "cli/serve.h"

#include "base/log.h"
#include "cli/server.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct served_page {
    explored_profiles *profiles;
    char *text;
    size_t size;
    pthread_mutex_t lock; /* of the profiles */
} served_page;

/* ---- answers ---- */

static wl_status make_served_page(served_page *page, wl_error *err)
{
    uint32_t left_out;
    FILE *out = open_memstream(&page->text, &page->size);
    if (!out)
        return wl_fail(err, WL_NOMEM, "not enough memory for the explorer's page");
    wl_status status = rep_explorer(page->profiles->data, page->profiles->count, &left_out, out,
                                    err);
    if (fclose(out) != 0 && status == WL_OK)
        status = wl_fail(err, WL_NOMEM, "not enough memory for the explorer's page");
    return status;
}

/* "launch/PROFILE/ID", as the page asks: the profile's place on the command line, from 0. */
static bool parse_launch_path(const char *path, const explored_profiles *profiles, uint32_t *which,
                              uint32_t *launch)
{
    char first[2], second[11];
    int end = -1;
    if (sscanf(path, "launch/%1[0-9]/%10[0-9]%n", first, second, &end) != 2 || path[end] != '\0')
        return false;
    unsigned long long number = strtoull(second, NULL, 10);
    *which = (uint32_t)(first[0] - '0');
    *launch = (uint32_t)number;
    return *which < profiles->count && number <= UINT32_MAX;
}

/* The profile could be read when the server began. */
static void say_what_helps(const char *path, wl_error *err)
{
    wl_error why = *err;
    wl_fail(err, why.status,
            "%s: %s The file was changed, or is damaged: profile the program again, and start "
            "'warplens explore' with the new profile.",
            path, why.text);
}

static wl_status answer_explorer(void *ctx, const char *path, FILE *out, const char **type,
                                 wl_error *err)
{
    served_page *page = ctx;
    uint32_t which, launch;
    if (*path == '\0') {
        *type = "text/html; charset=utf-8";
        fwrite(page->text, 1, page->size, out);
        return WL_OK;
    }
    if (!parse_launch_path(path, page->profiles, &which, &launch))
        return wl_fail(err, WL_NOENT, "The explorer has no such page.");
    cli_profile *profile = &page->profiles->rows[which];
    *type = "text/plain; charset=us-ascii";
    pthread_mutex_lock(&page->lock);
    wl_status status = rep_serve_launch(profile->db, &profile->data, launch, out, err);
    pthread_mutex_unlock(&page->lock);
    if (status != WL_OK && status != WL_NOENT && status != WL_NOMEM)
        say_what_helps(page->profiles->paths[which], err);
    return status;
}

/* ---- the browser ---- */

/* Other users can read the arguments of a program that runs, so the browser is not given the address
 * with its token, but a file that only we can read, and that leads there. Beside the profile, where
 * reports stand, too: not every browser may read other folders. NULL where none can be written. */
static char *write_way(const char *profile, const char *url)
{
    const char *slash = strrchr(profile, '/');
    const char *folders[] = {slash ? profile : "./", "/tmp/"};
    int lengths[] = {slash ? (int)(slash - profile) + 1 : 2, 5};
    char *path = NULL;
    int fd = -1;
    for (size_t i = 0; i < 2 && fd < 0; i++) {
        free(path);
        if (asprintf(&path, "%.*swarplens-explore-XXXXXX.html", lengths[i], folders[i]) < 0)
            return NULL;
        fd = mkstemps(path, (int)strlen(".html"));
    }
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        free(path);
        return NULL;
    }
    fprintf(file,
            "<!doctype html><title>warplens</title>"
            "<meta name=\"referrer\" content=\"no-referrer\">"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
            url);
    fclose(file);
    return path;
}

static char *open_served(const served_page *page, const char *url)
{
    char *way = write_way(page->profiles->paths[0], url);
    if (way)
        cli_open_in_browser(way, url);
    else
        wl_log(WL_LOG_WARN, "cannot start a browser here; open %s by hand", url);
    return way;
}

/* ---- until an interrupt ---- */

/* What the process was told to ignore, it goes on to ignore. The signals wait from now on, also in
 * threads that begin later. */
static sigset_t hold_ends(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void serve_until_end(served_page *page, cli_server *server, bool open, const sigset_t *ends)
{
    int ended;
    printf("%s\n", cli_server_url(server));
    fflush(stdout);
    wl_log(WL_LOG_INFO, "explorer: at this address until Ctrl-C ends it; from another machine, "
                        "forward its port (ssh -L)");
    char *way = open ? open_served(page, cli_server_url(server)) : NULL;
    sigwait(ends, &ended);
    pthread_sigmask(SIG_UNBLOCK, ends, NULL); /* a second one ends us at once */
    if (way)
        unlink(way);
    free(way);
}

int explore_serve(explored_profiles *profiles, uint16_t port, bool open)
{
    served_page page = {.profiles = profiles, .lock = PTHREAD_MUTEX_INITIALIZER};
    wl_error err = {0};
    sigset_t ends = hold_ends();
    cli_server *server = NULL;
    if (make_served_page(&page, &err) == WL_OK)
        server = cli_server_start(port, answer_explorer, &page, &err);
    if (server)
        serve_until_end(&page, server, open, &ends);
    int status = server ? CLI_OK : cli_fail(&err);
    cli_server_stop(server);
    free(page.text);
    return status;
}

/* HTML files that commands write, and the browser that shows them. */
#include "base/log.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *cli_html_path(const char *profile, const char *end)
{
    const char *dot = strrchr(profile, '.'), *slash = strrchr(profile, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - profile) : (int)strlen(profile);
    char *path;
    return asprintf(&path, "%.*s%s", stem, profile, end) < 0 ? NULL : path;
}

bool cli_has_page(void)
{
    if (!rep_html_available())
        wl_log(WL_LOG_ERROR, "this warplens was built without its report page; install nodejs and "
                             "npm and build again");
    return rep_html_available();
}

void cli_open_in_browser(const char *path, const char *by_hand)
{
    pid_t child = fork();
    if (child == 0) {
        sigset_t none; /* the browser is none of ours: signals that wait here do not there */
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        wl_log(WL_LOG_WARN, "cannot start a browser here; open %s by hand", by_hand);
}

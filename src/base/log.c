#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic int max_level = WL_LOG_INFO;

void wl_log_set_level(wl_log_level most)
{
    max_level = most;
}

wl_log_level wl_log_get_level(void)
{
    return (wl_log_level)max_level;
}

static void write_to_stderr(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, text, size);
        if (n <= 0)
            return; /* nowhere to say it */
        text += n;
        size -= (size_t)n;
    }
}

/* Builds the whole message first: one write keeps lines of different threads and processes apart.
 */
void wl_log(wl_log_level level, const char *format, ...)
{
    if ((int)level > max_level)
        return;
    char body[3072], out[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    size_t used = 0;
    for (char *line = body, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        int n = snprintf(out + used, sizeof out - used, "==WARPLENS== %s\n", line);
        if (n < 0 || (size_t)n >= sizeof out - used)
            break;
        used += (size_t)n;
    }
    write_to_stderr(out, used);
}

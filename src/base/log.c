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

/* Where a control character of one byte, or of the two that UTF-8 gives C1's, stands at `text`: its
 * bytes; else 0. */
static size_t control_length(const char *text)
{
    unsigned char first = (unsigned char)text[0], second = first ? (unsigned char)text[1] : 0;
    if ((first < 0x20 && first && first != '\t') || first == 0x7f)
        return 1;
    return first == 0xc2 && second >= 0x80 && second < 0xa0 ? 2 : 0;
}

/* The line with what a terminal would obey written as \x1b; cut where it does not fit. */
static void put_escaped(const char *line, char *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    while (*line && used + 4 < size) {
        if (control_length(line)) {
            unsigned char c = (unsigned char)line[control_length(line) - 1];
            const char escaped[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
            memcpy(out + used, escaped, sizeof escaped);
            used += sizeof escaped;
            line += control_length(line);
        } else {
            out[used++] = *line++;
        }
    }
    out[used] = '\0';
}

/* Builds the whole message first: one write keeps lines of different threads and processes apart.
 */
void wl_log(wl_log_level level, const char *format, ...)
{
    if ((int)level > max_level)
        return;
    char body[3072], shown[3072], out[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    size_t used = 0;
    for (char *line = body, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        put_escaped(line, shown, sizeof shown);
        int n = snprintf(out + used, sizeof out - used, "==WARPLENS== %s\n", shown);
        if (n < 0 || (size_t)n >= sizeof out - used)
            break;
        used += (size_t)n;
    }
    write_to_stderr(out, used);
}

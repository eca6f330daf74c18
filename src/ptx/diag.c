/* Messages: where, what, the line itself and a caret. */
#include "ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_SHOWN = 120 }; /* bytes of a line that a message shows */

/* The part of the line around `column` that is shown, without what a terminal might not print. */
static void copy_line(char *out, const char *line, size_t start, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)line[start + i];
        out[i] = c == '\t' ? '\t' : c < 0x20 || c >= 0x7f ? '?' : (char)c;
    }
    out[count] = 0;
}

static size_t line_length(const char *line, const char *end)
{
    size_t n = 0;
    while (line + n < end && line[n] != '\n' && line[n] != '\r')
        n++;
    return n;
}

/* The caret's line: blanks, tabs where the line has tabs, and "^". */
static void put_caret(char *out, const char *shown, size_t column)
{
    for (size_t i = 0; i < column; i++)
        out[i] = shown[i] == '\t' ? '\t' : ' ';
    out[column] = '^';
    out[column + 1] = 0;
}

static const char *find_line(const char *text, const char *end, uint32_t line)
{
    while (line > 1 && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return end;
        text = newline + 1;
        line--;
    }
    return text;
}

/* "name:line:column: message", the line and a caret into err; without text only the message. */
static void diagnose_at(wl_error *err, wl_status status, const char *name, const char *text,
                        const char *end, ir_pos pos, const char *hint, const char *message)
{
    char shown[MAX_SHOWN + 1] = "", caret[MAX_SHOWN + 2] = "";
    if (text) {
        const char *line = find_line(text, end, pos.line);
        size_t length = line_length(line, end), column = pos.column ? pos.column - 1 : 0;
        if (column > length)
            column = length;
        size_t start = column > MAX_SHOWN - 20 ? column - (MAX_SHOWN - 20) : 0;
        size_t count = length - start < MAX_SHOWN ? length - start : MAX_SHOWN;
        copy_line(shown, line, start, count);
        put_caret(caret, shown, column - start);
    }
    wl_fail(err, status, "%.200s:%u:%u: %s%s%s%s%s%s%s", name ? name : "ptx", pos.line, pos.column,
            message, text ? "\n" : "", shown, text ? "\n" : "", caret, hint ? "\nhint: " : "",
            hint ? hint : "");
}

void ptx_fail_at(ptx_lexer *x, ir_pos pos, wl_status status, const char *hint, const char *format,
                 ...)
{
    if (x->failed)
        return;
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diagnose_at(x->err, status, x->name, x->text, x->end, pos, hint, message);
    x->failed = true;
    x->status = status;
    x->tok.kind = TOK_EOF;
}

void ptx_fail_memory(ptx_lexer *x)
{
    if (x->failed)
        return;
    x->failed = true;
    x->status = wl_fail(x->err, WL_NOMEM, "%.200s:%u: out of memory", x->name ? x->name : "ptx",
                        x->line);
    x->tok.kind = TOK_EOF;
}

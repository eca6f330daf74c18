/* Text to tokens. The text is NUL-terminated, so a look ahead of one character is always safe. */
#include "ptx/internal.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define fail(x, ...) ptx_fail_at((x), ptx_tok_pos(x), WL_PARSE, NULL, __VA_ARGS__)

enum { C_SPACE = 1, C_FIRST = 2, C_WORD = 4, C_DIGIT = 8, C_HEX = 16 };

/* Classes of the characters that PTX uses; everything else is 0. */
static const uint8_t classes[256] = {
    [' '] = C_SPACE,
    ['\t'] = C_SPACE,
    ['\r'] = C_SPACE,
    ['\f'] = C_SPACE,
    ['\v'] = C_SPACE,
    ['0' ... '9'] = C_WORD | C_DIGIT | C_HEX,
    ['a' ... 'f'] = C_FIRST | C_WORD | C_HEX,
    ['g' ... 'z'] = C_FIRST | C_WORD,
    ['A' ... 'F'] = C_FIRST | C_WORD | C_HEX,
    ['G' ... 'Z'] = C_FIRST | C_WORD,
    ['_'] = C_FIRST | C_WORD,
    ['$'] = C_FIRST | C_WORD,
};

static inline bool is_class(char c, uint8_t class)
{
    return classes[(unsigned char)c] & class;
}

static void set_place(ptx_lexer *x, const char *from)
{
    x->tok.text = from;
    x->tok.line = x->line;
    x->tok.column = (uint32_t)(from - x->line_start) + 1;
}

static void newline(ptx_lexer *x, const char *after)
{
    x->line++;
    x->line_start = after;
}

/* Behind a comment that starts at `at`. */
static const char *skip_comment(ptx_lexer *x, const char *at)
{
    ir_pos start = {x->line, (uint32_t)(at - x->line_start) + 1};
    for (at += 2; at < x->end; at++)
        if (*at == '\n')
            newline(x, at + 1);
        else if (at[0] == '*' && at[1] == '/')
            return at + 2;
    ptx_fail_at(x, start, WL_TRUNCATED, NULL, "this comment is not closed");
    return x->end;
}

static const char *skip_line(const ptx_lexer *x, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(x->end - at));
    return end ? end : x->end;
}

static const char *skip_blank(ptx_lexer *x, const char *at)
{
    for (;;)
        if (is_class(*at, C_SPACE))
            at++;
        else if (*at == '\n')
            newline(x, ++at);
        else if (at[0] == '/' && at[1] == '/')
            at = skip_line(x, at);
        else if (at[0] == '/' && at[1] == '*')
            at = skip_comment(x, at);
        else if (*at == '#' && at == x->line_start)
            at = skip_line(x, at); /* a line marker of a preprocessor */
        else
            return at;
}

/* --- Words --- */

static const char *word_end(const char *at, uint32_t *hash)
{
    uint32_t h = *hash;
    while (is_class(*at, C_WORD))
        h = ir_hash_step(h, (unsigned char)*at++);
    *hash = h;
    return at;
}

static void lex_name(ptx_lexer *x, const char *from)
{
    x->tok.kind = TOK_NAME;
    x->tok.hash = ir_hash_step(IR_HASH_START, (unsigned char)*from);
    x->at = word_end(from + 1, &x->tok.hash);
    x->tok.length = (uint32_t)(x->at - from);
}

/* A directive or suffix with its parts: .shared::cta */
static void lex_dot(ptx_lexer *x, const char *from)
{
    x->tok.kind = TOK_DOT;
    x->tok.text = from + 1;
    x->tok.hash = IR_HASH_START;
    const char *at = word_end(from + 1, &x->tok.hash);
    while (at[0] == ':' && at[1] == ':' && is_class(at[2], C_WORD)) {
        x->tok.hash = ir_hash_step(ir_hash_step(x->tok.hash, ':'), ':');
        at = word_end(at + 2, &x->tok.hash);
    }
    x->at = at;
    x->tok.length = (uint32_t)(at - from - 1);
}

/* --- Numbers --- */

static bool is_float_start(const char *at)
{
    return at[0] == '0' && (at[1] == 'f' || at[1] == 'F' || at[1] == 'd' || at[1] == 'D') &&
           is_class(at[2], C_HEX);
}

/* 0f or 0d and 8 or 16 hexadecimal digits. */
static void lex_ieee(ptx_lexer *x, const char *from)
{
    bool is_double = from[1] == 'd' || from[1] == 'D';
    const char *at = from + 2;
    uint64_t bits = 0;
    while (is_class(*at, C_HEX) && at - from < 19)
        bits = bits << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10), at++;
    x->tok.kind = is_double ? TOK_F64 : TOK_F32;
    x->tok.value = bits;
    x->at = at;
    if (at - from != (is_double ? 18 : 10) || is_class(*at, C_WORD))
        fail(x, "a number that starts with 0%c has %d hexadecimal digits after it", from[1],
             is_double ? 16 : 8);
}

static bool is_decimal_float(const char *at)
{
    while (is_class(*at, C_DIGIT))
        at++;
    if (*at == '.')
        return is_class(at[1], C_DIGIT) || !is_class(at[1], C_WORD);
    if (*at != 'e' && *at != 'E')
        return false;
    at += at[1] == '+' || at[1] == '-' ? 2 : 1;
    return is_class(*at, C_DIGIT);
}

static locale_t c_locale;
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod, whatever the application's locale writes for a decimal point. */
static double to_double(const char *text, char **stop)
{
    pthread_once(&locale_once, make_locale);
    return c_locale ? strtod_l(text, stop, c_locale) : strtod(text, stop);
}

/* The value of [digits][.digits][e[+-]digits]; read from a copy, because strtod would take more
 * than PTX has. */
static void lex_decimal_float(ptx_lexer *x, const char *from)
{
    char copy[64];
    const char *at = from;
    while (is_class(*at, C_DIGIT) || *at == '.')
        at++;
    if ((*at == 'e' || *at == 'E') && is_class(at[at[1] == '+' || at[1] == '-' ? 2 : 1], C_DIGIT)) {
        at += 2;
        while (is_class(*at, C_DIGIT))
            at++;
    }
    x->tok.kind = TOK_F64;
    x->at = at;
    if ((size_t)(at - from) >= sizeof copy || is_class(*at, C_WORD)) {
        fail(x, "this floating-point number is not written as PTX writes it");
        return;
    }
    memcpy(copy, from, (size_t)(at - from));
    copy[at - from] = 0;
    char *stop;
    double value = to_double(copy, &stop);
    if (*stop)
        fail(x, "this floating-point number is not written as PTX writes it");
    memcpy(&x->tok.value, &value, sizeof value);
}

static unsigned number_base(const char **at)
{
    if (**at != '0')
        return 10;
    char second = (*at)[1] | 0x20;
    if ((second == 'x' && is_class((*at)[2], C_HEX)) || (second == 'b' && ((*at)[2] | 1) == '1')) {
        *at += 2;
        return second == 'x' ? 16 : 2;
    }
    return 8;
}

static unsigned digit_of(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

/* Decimal, 0x, 0b or octal, with U or without. What does not fit in 64 bits wraps, as in ptxas. */
static void lex_integer(ptx_lexer *x, const char *from)
{
    const char *at = from;
    unsigned base = number_base(&at);
    uint64_t value = 0;
    for (; is_class(*at, C_HEX) && digit_of(*at) < base; at++)
        value = value * base + digit_of(*at);
    x->tok.kind = TOK_INT;
    x->tok.value = value;
    x->tok.hex = base == 16;
    x->tok.is_unsigned = value > INT64_MAX;
    if (*at == 'U' || *at == 'u') {
        x->tok.is_unsigned = true;
        at++;
    }
    x->at = at;
    if (is_class(*at, C_WORD))
        fail(x, "this number has a letter or digit that does not belong to it");
}

bool ptx_lex_number(ptx_lexer *x, const char *from)
{
    x->tok.text = from;
    if (is_float_start(from))
        lex_ieee(x, from);
    else if (is_decimal_float(from))
        lex_decimal_float(x, from);
    else
        lex_integer(x, from);
    x->tok.length = (uint32_t)(x->at - from);
    return !x->failed;
}

/* --- The rest --- */

static void lex_string(ptx_lexer *x, const char *from)
{
    const char *at = from + 1;
    while (at < x->end && *at != '"' && *at != '\n' && *at)
        at += at[0] == '\\' && at + 1 < x->end && at[1] != '\n' && at[1] ? 2 : 1;
    x->tok.kind = TOK_STRING;
    x->tok.text = from + 1;
    x->tok.length = (uint32_t)(at - from - 1);
    x->at = at + 1;
    if (at >= x->end || *at != '"') {
        x->at = at;
        fail(x, "this string is not closed");
    }
}

static bool is_double_punct(char a, char b)
{
    switch (a) {
    case '<': return b == '<' || b == '=';
    case '>': return b == '>' || b == '=';
    case '=':
    case '!': return b == '=';
    case '&':
    case '|': return b == a;
    default: return false;
    }
}

static void lex_punct(ptx_lexer *x, const char *from)
{
    x->tok.kind = TOK_PUNCT;
    x->tok.punct = (unsigned char)*from;
    x->at = from + 1;
    if (strchr(",;(){}[]<>|!@+-*/%&^~?:=", *from) == NULL || *from == 0) {
        unsigned char c = (unsigned char)*from;
        if (c > 0x20 && c < 0x7f)
            fail(x, "unexpected character '%c'", c);
        else
            fail(x, "unexpected byte 0x%02x", c);
    } else if (is_double_punct(from[0], from[1])) {
        x->tok.punct = PUNCT2((unsigned char)from[0], (unsigned char)from[1]);
        x->at = from + 2;
    }
    x->tok.length = (uint32_t)(x->at - from);
}

ptx_lexer ptx_lexer_of(const char *text, size_t length, const char *name, wl_error *err)
{
    return (ptx_lexer){.name = name,
                       .text = text,
                       .end = text + length,
                       .at = text,
                       .line_start = text,
                       .line = 1,
                       .err = err};
}

void ptx_next(ptx_lexer *x)
{
    if (x->failed)
        return;
    const char *at = skip_blank(x, x->at);
    set_place(x, at);
    if (x->failed)
        return;
    x->at = at;
    if (at >= x->end) {
        x->tok.kind = TOK_EOF;
        x->tok.length = 0;
    } else if (is_class(*at, C_FIRST) || (*at == '%' && is_class(at[1], C_WORD))) {
        lex_name(x, at);
    } else if (is_class(*at, C_DIGIT)) {
        ptx_lex_number(x, at);
    } else if (*at == '.' && is_class(at[1], C_WORD)) {
        lex_dot(x, at);
    } else if (*at == '"') {
        lex_string(x, at);
    } else {
        lex_punct(x, at);
    }
    if (x->failed)
        x->tok.kind = TOK_EOF;
}

bool ptx_is(const ptx_lexer *x, uint32_t punct)
{
    return x->tok.kind == TOK_PUNCT && x->tok.punct == punct;
}

bool ptx_accept(ptx_lexer *x, uint32_t punct)
{
    if (!ptx_is(x, punct))
        return false;
    ptx_next(x);
    return true;
}

bool ptx_expect(ptx_lexer *x, uint32_t punct, const char *after)
{
    if (ptx_accept(x, punct))
        return true;
    char found[64];
    ptx_describe(x, found, sizeof found);
    fail(x, "expected '%c' %s, found %s", (int)punct, after, found);
    return false;
}

static bool has_text(const ptx_lexer *x, const char *text)
{
    size_t length = strlen(text);
    return x->tok.length == length && memcmp(x->tok.text, text, length) == 0;
}

bool ptx_is_dot(const ptx_lexer *x, const char *text)
{
    return x->tok.kind == TOK_DOT && has_text(x, text);
}

bool ptx_accept_dot(ptx_lexer *x, const char *text)
{
    if (!ptx_is_dot(x, text))
        return false;
    ptx_next(x);
    return true;
}

bool ptx_is_word(const ptx_lexer *x, const char *text)
{
    return x->tok.kind == TOK_NAME && has_text(x, text);
}

const char *ptx_tok_start(const ptx_lexer *x)
{
    bool marked = x->tok.kind == TOK_DOT || x->tok.kind == TOK_STRING;
    return x->tok.text - (marked ? 1 : 0);
}

const char *ptx_rest_of_line(ptx_lexer *x, size_t *length)
{
    const char *from = ptx_tok_start(x);
    const char *end = skip_line(x, from);
    x->at = end;
    while (end > from && is_class(end[-1], C_SPACE))
        end--;
    *length = (size_t)(end - from);
    return from;
}

void ptx_describe(const ptx_lexer *x, char *buffer, size_t size)
{
    if (x->tok.kind == TOK_EOF) {
        snprintf(buffer, size, "the end of the text");
        return;
    }
    char copy[41];
    size_t n = x->tok.length < sizeof copy - 1 ? x->tok.length : sizeof copy - 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = x->tok.text[i] > 0x20 && x->tok.text[i] < 0x7f ? x->tok.text[i] : '?';
    copy[n] = 0;
    snprintf(buffer, size,
             x->tok.kind == TOK_STRING ? "\"%s\""
             : x->tok.kind == TOK_DOT  ? "'.%s'"
                                       : "'%s'",
             copy);
}

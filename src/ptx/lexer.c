/* Text to tokens. The text is NUL-terminated, so a look ahead of one character is always safe. */
#include "ptx/internal.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

static void set_place(ptx_parser *p, const char *from)
{
    p->tok.text = from;
    p->tok.line = p->line;
    p->tok.column = (uint32_t)(from - p->line_start) + 1;
}

static void newline(ptx_parser *p, const char *behind)
{
    p->line++;
    p->line_start = behind;
}

/* Behind a comment that starts at `at`. */
static const char *skip_comment(ptx_parser *p, const char *at)
{
    ir_pos start = {p->line, (uint32_t)(at - p->line_start) + 1};
    for (at += 2; at < p->end; at++) {
        if (*at == '\n')
            newline(p, at + 1);
        else if (at[0] == '*' && at[1] == '/')
            return at + 2;
    }
    ptx_fail_at(p, start, WL_TRUNCATED, NULL, "this comment is not closed");
    return p->end;
}

static const char *skip_line(const ptx_parser *p, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(p->end - at));
    return end ? end : p->end;
}

static const char *skip_blank(ptx_parser *p, const char *at)
{
    for (;;) {
        if (is_class(*at, C_SPACE)) {
            at++;
        } else if (*at == '\n') {
            newline(p, ++at);
        } else if (at[0] == '/' && at[1] == '/') {
            at = skip_line(p, at);
        } else if (at[0] == '/' && at[1] == '*') {
            at = skip_comment(p, at);
        } else if (*at == '#' && at == p->line_start) {
            at = skip_line(p, at); /* a line marker of a preprocessor */
        } else {
            return at;
        }
    }
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

static void lex_name(ptx_parser *p, const char *from)
{
    p->tok.kind = TOK_NAME;
    p->tok.hash = ir_hash_step(IR_HASH_START, (unsigned char)*from);
    p->at = word_end(from + 1, &p->tok.hash);
    p->tok.length = (uint32_t)(p->at - from);
}

/* A directive or suffix with its parts: .shared::cta */
static void lex_dot(ptx_parser *p, const char *from)
{
    p->tok.kind = TOK_DOT;
    p->tok.text = from + 1;
    p->tok.hash = IR_HASH_START;
    const char *at = word_end(from + 1, &p->tok.hash);
    while (at[0] == ':' && at[1] == ':' && is_class(at[2], C_WORD)) {
        p->tok.hash = ir_hash_step(ir_hash_step(p->tok.hash, ':'), ':');
        at = word_end(at + 2, &p->tok.hash);
    }
    p->at = at;
    p->tok.length = (uint32_t)(at - from - 1);
}

/* --- Numbers --- */

static bool is_float_start(const char *at)
{
    return at[0] == '0' && (at[1] == 'f' || at[1] == 'F' || at[1] == 'd' || at[1] == 'D') &&
           is_class(at[2], C_HEX);
}

/* 0f or 0d and 8 or 16 hexadecimal digits. */
static void lex_ieee(ptx_parser *p, const char *from)
{
    bool is_double = from[1] == 'd' || from[1] == 'D';
    const char *at = from + 2;
    uint64_t bits = 0;
    while (is_class(*at, C_HEX) && at - from < 19)
        bits = bits << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10), at++;
    p->tok.kind = is_double ? TOK_F64 : TOK_F32;
    p->tok.value = bits;
    p->at = at;
    if (at - from != (is_double ? 18 : 10) || is_class(*at, C_WORD))
        ptx_fail(p, "a number that starts with 0%c has %d hexadecimal digits behind it", from[1],
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
static void lex_decimal_float(ptx_parser *p, const char *from)
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
    p->tok.kind = TOK_F64;
    p->at = at;
    if ((size_t)(at - from) >= sizeof copy || is_class(*at, C_WORD)) {
        ptx_fail(p, "this floating-point number is not written as PTX writes it");
        return;
    }
    memcpy(copy, from, (size_t)(at - from));
    copy[at - from] = 0;
    char *stop;
    double value = to_double(copy, &stop);
    if (*stop)
        ptx_fail(p, "this floating-point number is not written as PTX writes it");
    memcpy(&p->tok.value, &value, sizeof value);
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
static void lex_integer(ptx_parser *p, const char *from)
{
    const char *at = from;
    unsigned base = number_base(&at);
    uint64_t value = 0;
    for (; is_class(*at, C_HEX) && digit_of(*at) < base; at++)
        value = value * base + digit_of(*at);
    p->tok.kind = TOK_INT;
    p->tok.value = value;
    p->tok.hex = base == 16;
    p->tok.is_unsigned = value > INT64_MAX;
    if (*at == 'U' || *at == 'u') {
        p->tok.is_unsigned = true;
        at++;
    }
    p->at = at;
    if (is_class(*at, C_WORD))
        ptx_fail(p, "this number has a letter or digit that does not belong to it");
}

bool ptx_lex_number(ptx_parser *p, const char *from)
{
    p->tok.text = from;
    if (is_float_start(from))
        lex_ieee(p, from);
    else if (is_decimal_float(from))
        lex_decimal_float(p, from);
    else
        lex_integer(p, from);
    p->tok.length = (uint32_t)(p->at - from);
    return !p->failed;
}

/* --- The rest --- */

static void lex_string(ptx_parser *p, const char *from)
{
    const char *at = from + 1;
    while (at < p->end && *at != '"' && *at != '\n' && *at)
        at += at[0] == '\\' && at + 1 < p->end && at[1] != '\n' && at[1] ? 2 : 1;
    p->tok.kind = TOK_STRING;
    p->tok.text = from + 1;
    p->tok.length = (uint32_t)(at - from - 1);
    p->at = at + 1;
    if (at >= p->end || *at != '"') {
        p->at = at;
        ptx_fail(p, "this string is not closed");
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

static void lex_punct(ptx_parser *p, const char *from)
{
    p->tok.kind = TOK_PUNCT;
    p->tok.punct = (unsigned char)*from;
    p->at = from + 1;
    if (strchr(",;(){}[]<>|!@+-*/%&^~?:=", *from) == NULL || *from == 0) {
        unsigned char c = (unsigned char)*from;
        if (c > 0x20 && c < 0x7f)
            ptx_fail(p, "unexpected character '%c'", c);
        else
            ptx_fail(p, "unexpected byte 0x%02x", c);
    } else if (is_double_punct(from[0], from[1])) {
        p->tok.punct = PUNCT2((unsigned char)from[0], (unsigned char)from[1]);
        p->at = from + 2;
    }
    p->tok.length = (uint32_t)(p->at - from);
}

void ptx_next(ptx_parser *p)
{
    if (p->failed)
        return;
    const char *at = skip_blank(p, p->at);
    set_place(p, at);
    if (p->failed)
        return;
    p->at = at;
    if (at >= p->end) {
        p->tok.kind = TOK_EOF;
        p->tok.length = 0;
    } else if (is_class(*at, C_FIRST) || (*at == '%' && is_class(at[1], C_WORD))) {
        lex_name(p, at);
    } else if (is_class(*at, C_DIGIT)) {
        ptx_lex_number(p, at);
    } else if (*at == '.' && is_class(at[1], C_WORD)) {
        lex_dot(p, at);
    } else if (*at == '"') {
        lex_string(p, at);
    } else {
        lex_punct(p, at);
    }
    if (p->failed)
        p->tok.kind = TOK_EOF;
}

bool ptx_is(const ptx_parser *p, uint32_t punct)
{
    return p->tok.kind == TOK_PUNCT && p->tok.punct == punct;
}

bool ptx_accept(ptx_parser *p, uint32_t punct)
{
    if (!ptx_is(p, punct))
        return false;
    ptx_next(p);
    return true;
}

bool ptx_expect(ptx_parser *p, uint32_t punct, const char *after)
{
    if (ptx_accept(p, punct))
        return true;
    char found[64];
    ptx_describe(p, found, sizeof found);
    ptx_fail(p, "expected '%c' %s, found %s", (int)punct, after, found);
    return false;
}

static bool has_text(const ptx_parser *p, const char *text)
{
    size_t length = strlen(text);
    return p->tok.length == length && memcmp(p->tok.text, text, length) == 0;
}

bool ptx_is_dot(const ptx_parser *p, const char *text)
{
    return p->tok.kind == TOK_DOT && has_text(p, text);
}

bool ptx_accept_dot(ptx_parser *p, const char *text)
{
    if (!ptx_is_dot(p, text))
        return false;
    ptx_next(p);
    return true;
}

bool ptx_is_word(const ptx_parser *p, const char *text)
{
    return p->tok.kind == TOK_NAME && has_text(p, text);
}

const char *ptx_tok_text(ptx_parser *p)
{
    const char *copy = wl_arena_strndup(p->arena, p->tok.text, p->tok.length);
    if (!copy)
        ptx_fail_memory(p);
    return copy ? copy : "";
}

const char *ptx_rest_of_line(ptx_parser *p, size_t *length)
{
    const char *from = p->tok.kind == TOK_DOT ? p->tok.text - 1 : p->tok.text;
    const char *end = skip_line(p, from);
    p->at = end;
    while (end > from && is_class(end[-1], C_SPACE))
        end--;
    *length = (size_t)(end - from);
    return from;
}

void ptx_describe(const ptx_parser *p, char *buffer, size_t size)
{
    if (p->tok.kind == TOK_EOF) {
        snprintf(buffer, size, "the end of the text");
        return;
    }
    char copy[41];
    size_t n = p->tok.length < sizeof copy - 1 ? p->tok.length : sizeof copy - 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = p->tok.text[i] > 0x20 && p->tok.text[i] < 0x7f ? p->tok.text[i] : '?';
    copy[n] = 0;
    snprintf(buffer, size,
             p->tok.kind == TOK_STRING ? "\"%s\""
             : p->tok.kind == TOK_DOT  ? "'.%s'"
                                       : "'%s'",
             copy);
}

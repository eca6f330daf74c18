/* printf of kernels: CUDA's conversions over arguments in a buffer, each at its own alignment (int
 * and char promoted to 4 bytes, float to 8). */
#include "emu/builtin.h"
#include "emu/printer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096, SPEC = 64 };

typedef struct cursor {
    emu_warp *w;
    uint32_t lane;
    uint64_t args, at; /* address of the buffer, offset of the next argument */
    bool ok;
} cursor;

static uint64_t take_argument(cursor *c, uint32_t bytes)
{
    uint64_t value = 0;
    c->at = (c->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    c->ok &= emu_read_generic(c->w, c->lane, c->args + c->at, &value, bytes);
    c->at += bytes;
    return value;
}

/* A conversion as C's printf takes it: flags, width and precision kept, '*' replaced by its
 * argument. */
typedef struct spec {
    char text[SPEC];
    uint32_t length;
    uint32_t longs, shorts;
    char conversion;
} spec;

static void put_spec_char(spec *s, char ch)
{
    if (s->length + 8 < SPEC)
        s->text[s->length++] = ch;
}

static void put_number(spec *s, int n)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", n);
    for (const char *p = digits; *p; p++)
        put_spec_char(s, *p);
}

static const char *parse(const char *p, spec *s, cursor *c)
{
    *s = (spec){.text = "%", .length = 1};
    for (p++; *p && !isalpha((unsigned char)*p) && *p != '%'; p++)
        if (*p == '*')
            put_number(s, (int)(uint32_t)take_argument(c, 4));
        else
            put_spec_char(s, *p);
    for (; *p && strchr("hljztLq", *p); p++) {
        s->longs += *p == 'l' || *p == 'j' || *p == 'z' || *p == 't' || *p == 'L' || *p == 'q';
        s->shorts += *p == 'h';
    }
    s->conversion = *p;
    return *p ? p + 1 : p;
}

static int64_t narrowed(const spec *s, uint64_t bits)
{
    if (s->longs)
        return (int64_t)bits;
    return s->shorts >= 2 ? (int8_t)bits : s->shorts ? (int16_t)bits : (int32_t)bits;
}

static int print_integer(char *to, size_t size, spec *s, uint64_t bits)
{
    int64_t value = narrowed(s, bits);
    bool is_signed = s->conversion == 'd' || s->conversion == 'i';
    uint64_t mask = s->longs         ? UINT64_MAX
                    : s->shorts >= 2 ? UINT8_MAX
                    : s->shorts      ? UINT16_MAX
                                     : UINT32_MAX;
    put_spec_char(s, 'l');
    put_spec_char(s, 'l');
    put_spec_char(s, s->conversion);
    s->text[s->length] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return is_signed ? snprintf(to, size, s->text, (long long)value)
                     : snprintf(to, size, s->text, (unsigned long long)((uint64_t)value & mask));
}

static int print_string(char *to, size_t size, spec *s, cursor *c)
{
    char text[MOST];
    uint64_t address = take_argument(c, 8);
    if (address == 0)
        strcpy(text, "(null)");
    else if (!emu_read_string(c->w, c->lane, address, text, sizeof text))
        strcpy(text, "(invalid)");
    put_spec_char(s, 's');
    s->text[s->length] = '\0';
    return snprintf(to, size, s->text, text);
}

static int print_double(char *to, size_t size, spec *s, uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    put_spec_char(s, s->conversion);
    s->text[s->length] = '\0';
    return snprintf(to, size, s->text, value);
}

static int print_other(char *to, size_t size, spec *s, uint64_t bits)
{
    put_spec_char(s, s->conversion);
    s->text[s->length] = '\0';
    return s->conversion == 'p' ? snprintf(to, size, s->text, (void *)(uintptr_t)bits)
                                : snprintf(to, size, s->text, (int)(uint32_t)bits);
#pragma GCC diagnostic pop
}

/* Returns false for what is no conversion: it is printed as it stands. */
static bool convert(char *to, size_t size, spec *s, cursor *c, int *length)
{
    switch (s->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': *length = print_integer(to, size, s, take_argument(c, s->longs ? 8 : 4)); return true;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': *length = print_double(to, size, s, take_argument(c, 8)); return true;
    case 'c': *length = print_other(to, size, s, take_argument(c, 4)); return true;
    case 'p': *length = print_other(to, size, s, take_argument(c, 8)); return true;
    case 's': *length = print_string(to, size, s, c); return true;
    default: return false;
    }
}

int32_t emu_printf(emu_warp *w, uint32_t lane, uint64_t format, uint64_t args)
{
    char text[MOST], out[2 * MOST];
    if (!emu_read_string(w, lane, format, text, sizeof text))
        return -1;
    cursor c = {.w = w, .lane = lane, .args = args, .ok = true};
    int32_t count = 0;
    for (const char *p = text; *p;) {
        size_t plain = strcspn(p, "%");
        if (plain) {
            emu_text_append(w->cta, p, plain);
            p += plain;
            continue;
        }
        if (p[1] == '%') {
            emu_text_append(w->cta, "%", 1);
            p += 2;
            continue;
        }
        spec s;
        int length = 0;
        const char *after = parse(p, &s, &c);
        if (convert(out, sizeof out, &s, &c, &length)) {
            size_t n = length < 0                    ? 0
                       : (size_t)length < sizeof out ? (size_t)length
                                                     : sizeof out - 1;
            emu_text_append(w->cta, out, n);
            count++;
        } else {
            emu_text_append(w->cta, p, (size_t)(after - p));
        }
        p = after;
    }
    return c.ok ? count : -1;
}

/* Text that may come from an untrusted profile: cleaned, measured, shortened. */
#include "report/impl.h"

#include <string.h>

enum { REPLACEMENT = 0xfffd };

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Bytes of the character at *text, at least 1; *code is U+FFFD for what is no UTF-8. */
static size_t decode_utf8(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    size_t length = sequence_length(p[0]);
    *code = REPLACEMENT;
    if (length == 0)
        return 1;
    uint32_t value = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 1;
    *code = value;
    return length;
}

static bool is_in_ranges(uint32_t code, const uint32_t (*ranges)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* Unicode's East Asian wide ranges and combining marks, as far as source code is likely to hold
 * them. */
static size_t width_of_code(uint32_t code)
{
    static const uint32_t none[][2] = {{0x300, 0x36f},   {0x200b, 0x200f}, {0x202a, 0x202e},
                                       {0x2060, 0x2069}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}};
    static const uint32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (code < 0x300)
        return 1;
    if (is_in_ranges(code, none, sizeof none / sizeof *none))
        return 0;
    return is_in_ranges(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t rep_width(const char *text)
{
    size_t width = 0;
    for (uint32_t code; *text;) {
        text += decode_utf8(text, &code);
        width += width_of_code(code);
    }
    return width;
}

/* What a terminal could obey, and what would turn the direction of the text around it. */
static bool is_control_code(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

char *rep_clean(wl_arena *arena, const char *text, bool printable)
{
    size_t room = strlen(text) * 3 + 1; /* each byte may become a U+FFFD */
    char *copy = wl_arena_alloc(arena, room), *to = copy;
    if (!copy)
        return NULL;
    for (uint32_t code; *text;) {
        size_t length = decode_utf8(text, &code);
        if (printable && is_control_code(code)) {
            *to++ = ' ';
        } else if (code == REPLACEMENT) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
        } else {
            memcpy(to, text, length);
            to += length;
        }
        text += length;
    }
    *to = '\0';
    return copy;
}

/* Bytes of the longest start of `text` that fits into `columns`. */
static size_t head_bytes(const char *text, size_t columns)
{
    size_t bytes = 0, width = 0;
    for (uint32_t code; text[bytes];) {
        size_t length = decode_utf8(text + bytes, &code);
        width += width_of_code(code);
        if (width > columns)
            break;
        bytes += length;
    }
    return bytes;
}

/* The longest end of `text` that fits into `columns`. */
static const char *tail(const char *text, size_t columns)
{
    size_t width = rep_width(text);
    for (uint32_t code; width > columns;) {
        text += decode_utf8(text, &code);
        width -= width_of_code(code);
    }
    return text;
}

static char *shortened(wl_arena *arena, const char *text, size_t columns, size_t behind)
{
    if (rep_width(text) <= columns)
        return wl_arena_strdup(arena, text);
    if (columns == 0)
        return wl_arena_strdup(arena, "");
    size_t head = head_bytes(text, columns - 1 - behind);
    return wl_arena_printf(arena, "%.*s…%s", (int)head, text, tail(text, behind));
}

char *rep_shorten_middle(wl_arena *arena, const char *text, size_t columns)
{
    return shortened(arena, text, columns, columns > 4 ? (columns - 1) / 3 : 0);
}

char *rep_shorten_end(wl_arena *arena, const char *text, size_t columns)
{
    return shortened(arena, text, columns, 0);
}

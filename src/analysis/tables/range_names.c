/* What ranges that are opened over and over are called. */
#include "analysis/tables/ranges.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Where what PyTorch adds to the name of an operation begins: which call of it this is, on what. */
static size_t without_number_of_call(const char *name)
{
    static const char *const added[] = {
        ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = strstr(name, added[i]);
        if (at && at != name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

static bool ends_in_counter(const char *name, size_t length)
{
    static const char *const words[] = {
#define X(word) word,
#include "analysis/counters.def"
#undef X
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (length >= n && strncasecmp(name + length - n, words[i], n) == 0)
            return true;
    }
    return false;
}

const char *ana_range_name(wl_arena *arena, const char *name)
{
    size_t length = without_number_of_call(name), number = length, word;
    while (number && isdigit((unsigned char)name[number - 1]))
        number--;
    for (word = number; word && strchr(" #:_=-", name[word - 1]);)
        word--;
    if (number < length && ends_in_counter(name, word))
        return wl_arena_printf(arena, "%.*s*", (int)number, name);
    return wl_arena_strndup(arena, name, length);
}

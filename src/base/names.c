#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char word_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.";

/* Writes the word that `text` begins with and returns what is behind it. */
static const char *put_word(FILE *out, const char *text, wl_demangle *demangle)
{
    int status = 0;
    size_t length = strspn(text, word_characters);
    while (length && text[length - 1] == '.') /* of the sentence */
        length--;
    char *word = strncmp(text, "_Z", 2) == 0 ? strndup(text, length) : NULL;
    char *name = word ? demangle(word, NULL, NULL, &status) : NULL;
    if (name)
        fputs(name, out);
    else
        fwrite(text, 1, length, out);
    free(name);
    free(word);
    return text + length;
}

char *wl_demangle_words(const char *text, wl_demangle *demangle)
{
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        return NULL;
    while (*text) {
        text = put_word(out, text, demangle);
        if (*text)
            fputc(*text++, out);
    }
    if (fclose(out) == 0)
        return result;
    free(result);
    return NULL;
}

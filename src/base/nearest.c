/* Distances between words: optimal string alignment, one row of its table at a time. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_LETTERS = 40 }; /* longer words are compared exactly */

static unsigned fewer_letters(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* a[i - 1] and b[j - 1] are each other's neighbours, swapped. */
static bool is_swap(const char *a, size_t i, const char *b, size_t j)
{
    return i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
}

static unsigned letters_changed(const char *a, const char *b)
{
    unsigned rows[3][MOST_LETTERS + 1]; /* of the last two letters of a and this one */
    size_t na = strlen(a), nb = strlen(b);
    if (na > MOST_LETTERS || nb > MOST_LETTERS)
        return strcmp(a, b) == 0 ? 0 : MOST_LETTERS;
    for (unsigned j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = fewer_letters(fewer_letters(last[j], now[j - 1]) + 1,
                                   last[j - 1] + (a[i - 1] != b[j - 1]));
            if (is_swap(a, i, b, j))
                now[j] = fewer_letters(now[j], before[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

void wl_nearest_try(wl_nearest *search, const char *word)
{
    size_t typed = strlen(search->typed);
    unsigned most = typed < 6 ? 1 : (unsigned)typed / 3;
    bool begun = typed > 1 && strncmp(word, search->typed, typed) == 0 && word[typed];
    unsigned distance = begun ? 1 : letters_changed(search->typed, word);
    if (distance > most || (search->word && distance >= search->distance))
        return;
    search->word = word;
    search->distance = distance;
}

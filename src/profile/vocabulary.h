/* Words for numbers, from vocabulary.def. */
#ifndef WL_PROFILE_VOCABULARY_H
#define WL_PROFILE_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

typedef struct word {
    const char *kind;
    uint32_t value;
    const char *text;
} word;

const word *vocabulary(size_t *count);

#endif

/* Prints instructions of machine code as src/sass reads them: print_words SM, and on its input a
 * line of each: the number that its 16 bytes are, in 32 hexadecimal digits, and its place in the
 * code. */
#include "sass/operands.h"

#include <stdio.h>
#include <stdlib.h>

static bool take_word(const char *line, unsigned char bytes[SASS_BYTES], uint32_t *index)
{
    unsigned long long high, low;
    bool all = sscanf(line, "%16llx%16llx %u", &high, &low, index) == 3;
    for (unsigned i = 0; i < SASS_BYTES; i++)
        bytes[i] = (unsigned char)((i < 8 ? low : high) >> i % 8 * 8);
    return all;
}

int main(int argc, char **argv)
{
    char line[128], text[512];
    uint32_t sm = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0, index;
    unsigned char bytes[SASS_BYTES];
    while (sm && fgets(line, sizeof line, stdin)) {
        sass_details insn;
        if (!take_word(line, bytes, &index))
            return 1;
        (void)sass_read(bytes, index, sm, &insn);
        (void)sass_print(&insn, sm, text, sizeof text);
        puts(text);
    }
    return sm == 0;
}

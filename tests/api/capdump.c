/* Prints captures: capdump [-r] [-a] [-s] FILE ... (rows, addresses, only what is stable; see
 * dump.h) */
#include "dump.h"

#include <string.h>

int main(int argc, char **argv)
{
    unsigned flags = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        wl_error err = {0};
        if (strcmp(argv[i], "-r") == 0)
            flags |= DUMP_ROWS;
        else if (strcmp(argv[i], "-a") == 0)
            flags |= DUMP_ADDRESSES;
        else if (strcmp(argv[i], "-s") == 0)
            flags |= DUMP_STABLE;
        else if (dump_capture(argv[i], flags, stdout, &err) != WL_OK && ++failed)
            fprintf(stderr, "%s: %s\n", argv[i], err.text);
    }
    return failed != 0;
}

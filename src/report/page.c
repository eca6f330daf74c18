/* The page of the HTML report, put into the library by the assembler: WL_PAGE names the file that
 * viewer/ builds. */
#include "report/impl.h"

#ifdef WL_PAGE

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "rep_page_start:\n"
        ".incbin \"" WL_PAGE "\"\n"
        "rep_page_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char rep_page_start[] __attribute__((visibility("hidden")));
extern const char rep_page_end[] __attribute__((visibility("hidden")));

const char *rep_page(size_t *size)
{
    *size = (size_t)(rep_page_end - rep_page_start);
    return rep_page_start;
}

#else

const char *rep_page(size_t *size)
{
    *size = 0;
    return NULL;
}

#endif

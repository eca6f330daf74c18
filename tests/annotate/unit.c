/* One of several translation units that annotate, as C and as C++, with all warnings on. */
#include <warplens/annotate.h>

#ifndef UNIT
#define UNIT annotate_in_c
#endif

#ifdef __cplusplus
extern "C"
#endif
    void UNIT(char *block, size_t bytes);

#ifdef __cplusplus
extern "C"
#endif
    void UNIT(char *block, size_t bytes)
{
    warplens_alloc(block, bytes, WARPLENS_TEST_NAME, 8);
    warplens_alloc(block + 64, 16, NULL, 0);
    warplens_free(block + 64);
    warplens_name(block, WARPLENS_TEST_NAME " of a unit", 4);
}

/* Annotates memory that is none of CUDA's, in a program that nobody profiles. */
#include <warplens/annotate.h>

#ifdef __cplusplus
extern "C" {
#endif
void annotate_in_c(char *block, size_t bytes);
void annotate_in_cpp(char *block, size_t bytes);
#ifdef __cplusplus
}
#endif

int main(void)
{
    static char block[4096];
    warplens_pool(block, sizeof block, "block");
    annotate_in_c(block, 1024);
    annotate_in_cpp(block + 1024, 1024);
    warplens_free(block);
    warplens_free(NULL);
    warplens_pool_end(block);
    return warplens_find_collector() != NULL;
}

/* A tool of somebody else's, as NVTX loads it: it tells that it was asked. */
#include <stdio.h>

int InitializeInjectionNvtx2(const void *get_export_table)
{
    (void)get_export_table;
    return 0;
}

int InitializeInjectionNvtxExtension(void *module)
{
    (void)module;
    puts("the user's tool");
    return 0;
}

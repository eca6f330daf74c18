/* Uses library.cu: linked with it (-DLINKED), or by dlopen of the path given. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
int run_twice(void);
#endif

int main(int argc, char **argv)
{
#ifdef LINKED
    (void)argc, (void)argv;
    printf("%d\n", run_twice());
#else
    for (int i = 0; argc > 1 && i < 2; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*run)(void) = library ? (int (*)(void))dlsym(library, "run_twice") : NULL;
        if (!run)
            return 1;
        printf("%d\n", run());
        dlclose(library);
    }
#endif
    return 0;
}

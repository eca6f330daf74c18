/* Our declarations of CUDA's types against the toolkit's: sizes, offsets and numbers, compiled with
 * the toolkit's headers on the spot. Passes over without a toolkit. */
#include "cuda/types.h"
#include "support/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_sizes(FILE *out)
{
#define SIZE(ours, theirs) fprintf(out, "SAME(sizeof(%s), %zu);\n", theirs, sizeof(ours));
#define FIELD(ours, theirs, field)                                                            \
    fprintf(out, "SAME(offsetof(%s, %s), %zu);\nSAME(sizeof(((%s *)0)->%s), %zu);\n", theirs, \
            #field, offsetof(ours, field), theirs, #field, sizeof(((ours *)0)->field));
#include "layout.def"
#undef SIZE
#undef FIELD
}

static void check_properties(FILE *out)
{
#define FIELD(type, name, count, attribute)                                      \
    if (strncmp(#name, "reserved1", 9) != 0)                                     \
        fprintf(out, "SAME(offsetof(struct cudaDeviceProp, %s), %zu);\n", #name, \
                offsetof(cudaDeviceProp_v13, name));
#define NO_FIELD(type, name, count, attribute)
#define ALL FIELD
#define OLD NO_FIELD
#define NEW FIELD
#define V12 NO_FIELD
#define V13 FIELD
#include "cuda/device_prop.def"
#undef ALL
#undef OLD
#undef NEW
#undef V12
#undef V13
}

/* What came after 13.0 is looked for in later toolkits only. */
static const char *since(bool newer)
{
    return newer ? "#if CUDART_VERSION >= 13020\n" : "#if 1\n";
}

static void check_numbers(FILE *out)
{
#define X(number, id, source, value)                                                         \
    fprintf(out, "%sSAME(CU_DEVICE_ATTRIBUTE_%s, %d);\n#endif\n", since(number == 148), #id, \
            number);
#include "cuda/attributes.def"
#undef X
#define BOTH(number, driver, runtime, text)                                                 \
    fprintf(out, "%sSAME(%s, %d);\nSAME(%s, %d);\n#endif\n", since(number == 917), #driver, \
            number, #runtime, number);
#define DRIVER(number, driver, text) \
    fprintf(out, "%sSAME(%s, %d);\n#endif\n", since(number == 916), #driver, number);
#define RUNTIME(number, runtime, text) \
    fprintf(out, "%sSAME(%s, %d);\n#endif\n", since(number == 10), #runtime, number);
#include "cuda/errors.def"
#undef BOTH
#undef DRIVER
#undef RUNTIME
}

static void declarations_are_the_toolkits(void **state)
{
    char path[] = "/tmp/wl_layout_XXXXXX.c", command[1024];
    (void)state;
    if (!*WL_CUDA_HOME)
        skip();
    int file = mkstemps(path, 2);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs("#include <cuda.h>\n#include <cuda_runtime_api.h>\n#include <stddef.h>\n"
          "#if CUDART_VERSION >= 13000 /* of older releases only parts are the same */\n"
          "#define SAME(a, b) _Static_assert((a) == (b), #a)\n",
          out);
    check_sizes(out);
    check_properties(out);
    check_numbers(out);
    fputs("#endif\n", out);
    fclose(out);
    snprintf(command, sizeof command, "cc -std=gnu17 -fsyntax-only -I%s/include %s", WL_CUDA_HOME,
             path);
    int status = system(command);
    unlink(path);
    assert_int_equal(status, 0);
}

/* The layouts of releases whose headers are not at hand, as read from them once. */
static void older_layouts(void **state)
{
    (void)state;
    assert_int_equal(sizeof(cudaDeviceProp_v11), 728);
    assert_int_equal(offsetof(cudaDeviceProp_v11, reservedSharedMemPerBlock), 720);
    assert_int_equal(sizeof(cudaDeviceProp_v12), 1032);
    assert_int_equal(offsetof(cudaDeviceProp_v12, hostRegisterSupported), 728);
    assert_int_equal(sizeof(cudaDeviceProp_v13), 1008);
    assert_int_equal(sizeof(struct cudaFuncAttributes_v11), 56);
    assert_int_equal(sizeof(struct cudaPointerAttributes_v12), 24);
    assert_int_equal(sizeof(struct cudaResourceDesc_v12), 64);
    assert_int_equal(offsetof(struct cudaResourceDesc_v12, res),
                     offsetof(struct cudaResourceDesc_v13, res));
    assert_int_equal(sizeof(struct cudaResourceViewDesc_v12), 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_are_the_toolkits),
        cmocka_unit_test(older_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

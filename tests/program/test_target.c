/* Which programs are accepted before they run. */
#include "program/elf.h"
#include "program/target.h"
#include "support/test.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/warplens-target-XXXXXX";

static const char *write_file(const char *name, const void *data, size_t size, mode_t mode)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write(path, data, size);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void refuse(const char *program, wl_status status, const char *text)
{
    wl_error err = {0};
    assert_int_equal(prog_check_program(program, true, &err), status);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" does not contain \"%s\"", err.text, text);
}

static void test_scripts(void **state)
{
    prog_target t;
    wl_error err = {0};
    (void)state;
    static const char shell[] = "#!/bin/sh -e\nexit 0\n", env[] = "#! /usr/bin/env -S sh\n",
                      lost[] = "#!/no/such/interpreter\n", text[] = "exit 0\n";
    assert_int_equal(prog_target_read(write_file("a", shell, sizeof shell, 0755), &t, &err), WL_OK);
    assert_true(t.script);
    assert_string_equal(t.path, "/bin/sh");
    assert_int_equal(prog_target_read(write_file("b", env, sizeof env, 0755), &t, &err), WL_OK);
    assert_non_null(strstr(t.path, "/sh"));
    refuse(write_file("c", lost, sizeof lost, 0755), WL_NOENT, "/no/such/interpreter");
    refuse(write_file("d", text, sizeof text, 0755), WL_UNSUPPORTED,
           "neither a program nor a script");
    refuse(write_file("e", shell, sizeof shell, 0644), WL_NOENT, "is not executable");
}

static void test_found_along_path(void **state)
{
    prog_target t;
    (void)state;
    assert_int_equal(prog_target_read("sh", &t, NULL), WL_OK);
    assert_true(t.path[0] == '/' && !t.script);
    assert_false(t.static_cudart || t.shared_cudart || t.device_code);
    refuse("no-such-program-anywhere", WL_NOENT, "there is no such program in PATH");
    refuse("/no/such/program", WL_NOENT, "/no/such/program");
}

static void test_other_machines(void **state)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_386};
    (void)state;
    refuse(write_file("i386", &header, sizeof header, 0755), WL_UNSUPPORTED, "32-bit");
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_AARCH64;
    refuse(write_file("arm", &header, sizeof header, 0755), WL_UNSUPPORTED, "another processor");
    header.e_machine = EM_X86_64;
    refuse(write_file("static", &header, sizeof header, 0755), WL_UNSUPPORTED, "linked statically");
}

static void test_setuid(void **state)
{
    (void)state;
    static const char shell[] = "#!/bin/sh\n";
    refuse(write_file("u", shell, sizeof shell, 04755), WL_UNSUPPORTED, "setuid");
}

/* Whatever the bytes, reading ends and stays within the file. */
static void test_damaged_files(void **state)
{
    unsigned char data[20000];
    (void)state;
    FILE *file = fopen("/proc/self/exe", "rb");
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    srand(1);
    for (int i = 0; i < 300; i++) {
        unsigned char damaged[sizeof data];
        prog_elf elf;
        memcpy(damaged, data, size);
        for (int k = 0; k < 1 + i % 8; k++)
            damaged[(size_t)rand() % (k % 2 ? size : 64)] = (unsigned char)rand();
        const char *path = write_file("x", damaged, 1 + (size_t)rand() % size, 0755);
        if (prog_elf_read(path, &elf, NULL) == WL_OK)
            prog_elf_clear(&elf);
    }
}

static void test_cuda_programs(void **state)
{
    prog_target t;
    (void)state;
    if (!*API_PROGRAMS)
        skip();
    assert_int_equal(prog_target_read(API_PROGRAMS "/vecadd_static", &t, NULL), WL_OK);
    assert_true(t.static_cudart && t.device_code && !t.shared_cudart);
    assert_int_equal(t.runtime_major, 13);
    assert_int_equal(prog_target_read(API_PROGRAMS "/vecadd_shared", &t, NULL), WL_OK);
    assert_true(t.shared_cudart && t.device_code && !t.static_cudart);
    assert_int_equal(prog_target_read(API_PROGRAMS "/vecadd_driver", &t, NULL), WL_OK);
    assert_true(t.driver && !t.static_cudart && !t.shared_cudart);
    refuse(API_PROGRAMS "/vecadd_stripped", WL_UNSUPPORTED, "-cudart shared");
    assert_int_equal(prog_check_program(API_PROGRAMS "/vecadd_stripped", false, NULL), WL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts),        cmocka_unit_test(test_found_along_path),
        cmocka_unit_test(test_other_machines), cmocka_unit_test(test_setuid),
        cmocka_unit_test(test_damaged_files),  cmocka_unit_test(test_cuda_programs),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const files[] = {"a", "b", "c", "d", "e", "i386", "arm", "static", "u", "x"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}

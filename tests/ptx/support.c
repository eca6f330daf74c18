#include "support.h"
#include "equal.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ir_module *parse_ok(const char *text, const char *name)
{
    ir_module *module;
    wl_error err;
    if (ptx_parse(text, strlen(text), name, &module, &err) != WL_OK)
        fail_msg("%s", err.text);
    return module;
}

char *check_round_trip(const ir_module *module, const char *name, size_t *length)
{
    char *printed, *again;
    size_t n;
    assert_int_equal(ptx_print(module, &printed, length), WL_OK);
    ir_module *second = parse_ok(printed, "printed");
    if (!modules_equal(module, second))
        fail_msg("%s: what was printed parses to another module", name);
    assert_int_equal(ptx_print(second, &again, &n), WL_OK);
    assert_string_equal(printed, again);
    free(again);
    ir_module_free(second);
    return printed;
}

char *wrap_body(const char *body, const char *target)
{
    const char *split = strstr(body, "##");
    int before = split ? (int)(split - body) : 0;
    char *text;
    if (asprintf(&text,
                 ".version 9.0\n.target %s\n.address_size 64\n%.*s\n"
                 ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                 ".reg .pred %%p<9>; .reg .b16 %%rs<9>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg "
                 ".b64 %%rd<9>; "
                 ".reg .f64 %%fd<9>; .reg .u32 %%u<4>; .reg .s32 %%s<4>; .reg .b128 %%q<3>;\n"
                 ".shared .align 16 .b8 sm[1024];\n%s\nret;\n}\n",
                 target, before, body, split ? split + 2 : body) < 0)
        fail_msg("out of memory");
    return text;
}

int run_quietly(const char *format, ...)
{
    char command[4096], full[5000], log[300];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(log, sizeof log, "%s/log", scratch_dir());
    snprintf(full, sizeof full, "( %s ) > %s 2>&1", command, log);
    return system(full);
}

const char *command_output(void)
{
    static char text[1024];
    char log[300];
    snprintf(log, sizeof log, "%s/log", scratch_dir());
    FILE *file = fopen(log, "rb");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = 0;
    if (file)
        fclose(file);
    return text;
}

const char *cuda_tool(const char *name)
{
    static char path[4096];
    if (!*WL_CUDA_HOME)
        return NULL;
    snprintf(path, sizeof path, "%s/bin/%s", WL_CUDA_HOME, name);
    return access(path, X_OK) == 0 ? path : NULL;
}

static char scratch[256];

static void remove_scratch(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", scratch);
}

const char *scratch_dir(void)
{
    if (*scratch)
        return scratch;
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/wl-ptx-XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
    if (!mkdtemp(scratch))
        fail_msg("cannot make %s", scratch);
    atexit(remove_scratch);
    return scratch;
}

/* As cuda_tool(), for commands: what is not there fails. */
static const char *tool(const char *name)
{
    const char *path = cuda_tool(name);
    return path ? path : "false";
}

static int assemble(const ir_module *module, const char *path, const char *out)
{
    int n = (int)strcspn(module->written->target, ",");
    const char *flags = strstr(module->written->target, "debug") ? "-g -O0" : "-O1";
    /* ptxas no longer assembles for what is older than sm_75; PTX for it runs on what is newer */
    if (module->sm < 75)
        return run_quietly("'%s' -c -arch=sm_75 %s '%s' -o '%s'", tool("ptxas"), flags, path, out);
    return run_quietly("'%s' -c -arch=%.*s %s '%s' -o '%s'", tool("ptxas"), n,
                       module->written->target, flags, path, out);
}

/* The code and data sections as text, without the numbers that ptxas appends to local names. */
static void disassemble(const char *cubin, const char *out)
{
    run_quietly("'%s' '%s' | awk '/\\.section/ { quiet = /[.\"](nv_)?(debug|rel)/ } !quiet && "
                "!/\\.string/' | "
                "sed -E 's/__[0-9]+(\\$[0-9]+)?//g' | sort > '%s'",
                tool("nvdisasm"), cubin, out);
}

static bool same_code(const char *a, const char *b)
{
    char text_a[320], text_b[320];
    if (run_quietly("cmp '%s' '%s'", a, b) == 0 || !cuda_tool("nvdisasm"))
        return true;
    snprintf(text_a, sizeof text_a, "%s.txt", a);
    snprintf(text_b, sizeof text_b, "%s.txt", b);
    disassemble(a, text_a);
    disassemble(b, text_b);
    return run_quietly("test -s '%s' && diff '%s' '%s'", text_a, text_a, text_b) == 0;
}

const char *machine_code_problem(const ir_module *module, const char *path, const char *printed,
                                 size_t length)
{
    static char problem[2000];
    char mine[300], a[300], b[300];
    const char *what = NULL;
    snprintf(mine, sizeof mine, "%s/printed.ptx", scratch_dir());
    snprintf(a, sizeof a, "%s/original.cubin", scratch_dir());
    snprintf(b, sizeof b, "%s/printed.cubin", scratch_dir());
    test_write(mine, printed, length);
    if (assemble(module, path, a) != 0)
        what = "ptxas refuses the original";
    else if (assemble(module, mine, b) != 0)
        what = "ptxas refuses what is printed";
    else if (!same_code(a, b))
        what = "what is printed becomes other machine code";
    snprintf(problem, sizeof problem, "%s: %s:\n%s", path, what ? what : "", command_output());
    return what ? problem : NULL;
}

void check_machine_code(const ir_module *module, const char *path, const char *printed,
                        size_t length)
{
    const char *problem = machine_code_problem(module, path, printed, length);
    if (problem)
        fail_msg("%s", problem);
}

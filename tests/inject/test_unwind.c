/* Walking stacks by rules: the rules are those that elfutils finds in the same tables, and the
 * stacks those of libgcc. */
#include "inject/stack.h"
#include "inject/stack_path.h"
#include "inject/unwind.h"
#include "support/test.h"

#include <alloca.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* ---- rules, against elfutils ---- */

enum { BP = 6, SP = 7, RA = 16, STEP = 5 /* bytes from one place that is compared to the next */ };

static uint64_t compared, unknown;

/* *base is -1 for the CFA, else a register; `deref`: what lies there. False for anything else. */
static bool read_ops(const Dwarf_Op *ops, size_t n, int *base, int64_t *offset, bool *deref)
{
    *offset = 0;
    *deref = false;
    if (!n)
        return false;
    if (ops[0].atom == DW_OP_call_frame_cfa) {
        *base = -1;
    } else if (ops[0].atom == DW_OP_bregx) {
        *base = (int)ops[0].number;
        *offset = (int64_t)ops[0].number2;
    } else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
        *base = ops[0].atom - DW_OP_breg0;
        *offset = (int64_t)ops[0].number;
    } else {
        return false;
    }
    size_t i = 1;
    if (i < n && ops[i].atom == DW_OP_plus_uconst)
        *offset += (int64_t)ops[i++].number;
    if (i < n && ops[i].atom == DW_OP_deref) {
        *deref = true;
        i++;
    }
    return i == n;
}

static void compare_cfa(Dwarf_Frame *frame, unwind_rule rule)
{
    Dwarf_Op *ops;
    size_t n;
    int base;
    int64_t offset;
    bool deref;
    assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
    assert_true(read_ops(ops, n, &base, &offset, &deref));
    assert_int_equal(base, rule.cfa == UNWIND_SP ? SP : BP);
    assert_int_equal(offset, rule.cfa_at);
    assert_int_equal(deref, rule.cfa == UNWIND_AT_BP);
}

static void compare_bp(Dwarf_Frame *frame, unwind_rule rule)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    int base;
    int64_t offset;
    bool deref;
    assert_int_equal(dwarf_frame_register(frame, BP, memory, &ops, &n), 0);
    if (!n) { /* unsaid, or the same */
        assert_int_equal(rule.bp, UNWIND_BP_KEPT);
        return;
    }
    assert_true(read_ops(ops, n, &base, &offset, &deref));
    assert_false(deref);
    assert_int_equal(base, rule.bp == UNWIND_BP_AT_CFA ? -1 : BP);
    assert_int_equal(offset, rule.bp_at);
}

/* Whether the frame has a caller, whose address lies where it always does. */
static bool has_caller(Dwarf_Frame *frame, bool *usual)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    int base;
    int64_t offset;
    bool deref;
    assert_int_equal(dwarf_frame_register(frame, RA, memory, &ops, &n), 0);
    *usual = n && read_ops(ops, n, &base, &offset, &deref) && base == -1 && offset == -8 && !deref;
    return n || ops != memory;
}

static void compare_place(Dwarf_CFI *cfi, uint64_t bias, uint64_t pc)
{
    Dwarf_Frame *frame;
    bool usual, interrupted;
    unwind_rule rule = unwind_find(pc), remembered = unwind_find(pc);
    assert_memory_equal(&rule, &remembered, sizeof rule);
    if (dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0) {
        assert_int_equal(rule.cfa, UNWIND_END);
        return;
    }
    compared++;
    dwarf_frame_info(frame, NULL, NULL, &interrupted);
    bool caller = has_caller(frame, &usual);
    if (rule.cfa == UNWIND_UNKNOWN) {
        unknown++;
    } else if (rule.cfa == UNWIND_END) {
        assert_false(caller);
    } else {
        assert_true(caller && usual && !interrupted);
        compare_cfa(frame, rule);
        compare_bp(frame, rule);
    }
    free(frame);
}

typedef struct mapped { /* code of a file */
    char path[4096];
    uint64_t bias, start, end;
} mapped;

enum { MOST_FILES = 64 };
static mapped files[MOST_FILES];
static uint32_t nfiles;

static void compare_file(const mapped *file)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
    for (uint64_t pc = file->start; cfi && pc < file->end; pc += STEP)
        compare_place(cfi, file->bias, pc);
    if (cfi)
        dwarf_cfi_end(cfi);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
}

static int list_file(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum && nfiles < MOST_FILES; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        mapped *file = &files[nfiles++];
        snprintf(file->path, sizeof file->path, "%s",
                 *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
        file->bias = info->dlpi_addr;
        file->start = info->dlpi_addr + p->p_vaddr;
        file->end = file->start + p->p_memsz;
    }
    return 0;
}

static void test_rules(void **state)
{
    (void)state;
    elf_version(EV_CURRENT);
    dl_iterate_phdr(list_file, NULL);
    for (uint32_t i = 0; i < nfiles; i++)
        compare_file(&files[i]);
    assert_true(compared > 100000);
    print_message("%lu places, %lu of them without a simple rule\n", compared, unknown);
    assert_true(unknown * 100 < compared);
}

/* ---- stacks, against libgcc ---- */

enum { DEEP = 40, MOST = 32 };

static atomic_bool checked;

typedef struct reference {
    uint64_t pcs[DEEP];
    uint32_t count;
} reference;

static _Unwind_Reason_Code keep(struct _Unwind_Context *context, void *data)
{
    reference *r = data;
    if (_Unwind_GetIP(context) && r->count < DEEP)
        r->pcs[r->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Both stacks, from the caller of this function on: within it each has a place of its own. */
static __attribute__((noinline)) void check(void)
{
    reference r = {.count = 0};
    uint64_t pcs[MOST];
    _Unwind_Backtrace(keep, &r);
    uint32_t count = inj_stack(pcs, MOST);
    assert_true(r.count > 2 && count > 1);
    assert_int_equal(count, r.count < MOST ? r.count : MOST);
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(pcs[i], r.pcs[i]);
    checked = true;
}

static __attribute__((noinline)) int nested(int depth)
{
    if (depth == 0)
        check();
    else
        nested(depth - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return depth;
}

/* As large, elsewhere. */
static __attribute__((noinline)) int other(int depth)
{
    if (depth == 0)
        check();
    else
        other(depth - 1);
    __asm__ volatile("nop" ::: "memory");
    return depth;
}

/* %rbp says where the frame is. */
static __attribute__((noinline)) int with_room(size_t bytes)
{
    volatile char *room = alloca(bytes);
    room[0] = 1;
    nested(3);
    return room[0];
}

/* The stack is aligned anew: the CFA lies in memory. */
static __attribute__((noinline)) int aligned(size_t bytes)
{
    _Alignas(128) volatile char buffer[256];
    buffer[0] = 1;
    return with_room(bytes) + buffer[0];
}

static void test_stacks(void **state)
{
    (void)state;
    nested(0);
    nested(5);
    nested(100);
    for (size_t bytes = 16; bytes < 4096; bytes += 240) {
        with_room(bytes);
        aligned(bytes);
    }
}

/* Frames that differ at the same stack pointer, again and again: what is remembered of one must not
 * be taken for another. */
static void test_again(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++)
        for (int depth = 0; depth < 12; depth++)
            for (size_t bytes = 16; bytes <= 400; bytes += 16) {
                with_room(bytes);
                nested(depth);
                other(depth);
                aligned(bytes);
            }
}

static int compare_numbers(const void *a, const void *b)
{
    nested(2);
    return *(const int *)a - *(const int *)b;
}

static void test_callback(void **state)
{
    int numbers[] = {3, 1, 2};
    (void)state;
    checked = false;
    qsort(numbers, 3, sizeof *numbers, compare_numbers);
    assert_true(checked);
}

static void on_signal(int number)
{
    (void)number;
    nested(2);
}

static void test_signal(void **state)
{
    (void)state;
    checked = false;
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    assert_true(checked);
}

static void *in_thread(void *unused)
{
    nested(3);
    aligned(64);
    return unused;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static ucontext_t outside, inside;

static void in_context(void)
{
    checked = false;
    nested(3);
}

/* A stack that is not the thread's. */
static void test_other_stack(void **state)
{
    enum { BYTES = 256 << 10 };
    void *memory = malloc(BYTES);
    (void)state;
    assert_non_null(memory);
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, in_context, 0);
    swapcontext(&outside, &inside);
    assert_true(checked);
    free(memory);
}

/* What is remembered of a file goes with it. */
static void test_unmapped(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        nested(3);
        if (library)
            dlclose(library);
        nested(3);
    }
    unwind_forget();
    nested(3);
    stack_path_forget();
    nested(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_again),       cmocka_unit_test(test_callback),
        cmocka_unit_test(test_signal),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_other_stack), cmocka_unit_test(test_unmapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* Never run: its tables have the instructions that compilers seldom write. Each line holds for more
 * bytes than lie between two places that are compared. */
__asm__(".text\n.type seldom_written, @function\nseldom_written:\n.cfi_startproc\n"
        ".skip 8, 0x90\n.cfi_escape 0x05, 6, 2\n"          /* offset_extended: %rbp at CFA - 16 */
        ".skip 8, 0x90\n.cfi_escape 0x06, 6\n"             /* restore_extended: %rbp */
        ".skip 8, 0x90\n.cfi_escape 0x11, 6, 3\n"          /* offset_extended_sf: at CFA - 24 */
        ".skip 8, 0x90\n.cfi_escape 0x08, 6\n"             /* same_value */
        ".skip 8, 0x90\n.cfi_escape 0x09, 6, 3\n"          /* register: in %rbx */
        ".skip 8, 0x90\n.cfi_escape 0xc6\n"                /* restore: %rbp */
        ".skip 8, 0x90\n.cfi_escape 0x12, 7, 0x7d\n"       /* def_cfa_sf: %rsp + 24 */
        ".skip 8, 0x90\n.cfi_escape 0x13, 0x7c\n"          /* def_cfa_offset_sf: %rsp + 32 */
        ".skip 8, 0x90\n.cfi_escape 0x0a, 0x0c, 6, 16\n"   /* remember_state, def_cfa: %rbp + 16 */
        ".skip 8, 0x90\n.cfi_escape 0x0b\n"                /* restore_state */
        ".skip 8, 0x90\n.cfi_escape 0x16, 6, 2, 0x77, 0\n" /* val_expression: %rbp is %rsp */
        ".skip 8, 0x90\n.cfi_escape 0x06, 6\n"             /* restore_extended: %rbp */
        ".skip 8, 0x90\n.cfi_escape 0x07, 16\n"            /* undefined: the return address */
        ".skip 8, 0x90\n.cfi_escape 0x06, 16\n"            /* restore_extended: it, too */
        ".skip 8, 0x90\n.cfi_endproc\n.size seldom_written, . - seldom_written\n");
extern const uint8_t seldom_written[];

static void test_rules(void **state)
{
    (void)state;
    assert_int_equal(unwind_find((uint64_t)(uintptr_t)seldom_written).cfa, UNWIND_SP);
    elf_version(EV_CURRENT);
    dl_iterate_phdr(list_file, NULL);
    for (uint32_t i = 0; i < nfiles; i++)
        compare_file(&files[i]);
    assert_true(compared > 100000);
    print_message("%lu places, %lu of them without a simple rule\n", compared, unknown);
    assert_true(unknown * 100 < compared);
}

/* ---- tables that were made here ---- */

/* libgcc's: tables of code that no file holds. */
extern void __register_frame(void *tables), __deregister_frame(void *tables);

static uint8_t made_code[64];

/* What the CIE, the entry that others build on, says of itself. */
typedef struct made_cie {
    uint8_t version, return_address;
    const char *letters;
    uint8_t length, data[9]; /* of the augmentation */
} made_cie;

typedef struct made_tables {
    uint8_t bytes[128];
    uint32_t count;
} made_tables;

static void put_bytes(made_tables *t, const void *bytes, size_t count)
{
    memcpy(t->bytes + t->count, bytes, count);
    t->count += (uint32_t)count;
}

/* An entry is preceded by its length. */
static void end_entry(made_tables *t, uint32_t start)
{
    while (t->count % 8 != 4)
        t->bytes[t->count++] = 0; /* does nothing */
    uint32_t length = t->count - start - 4;
    memcpy(t->bytes + start, &length, sizeof length);
}

/* Tables of made_code: the CFA is %rsp + 8, and after 32 bytes %rsp + 16. */
static void make_tables(const made_cie *cie, made_tables *t)
{
    *t = (made_tables){.count = 4}; /* so that entries end at multiples of 8 bytes */
    uint32_t start = t->count;
    t->count += 8; /* the length; 0 says that it is a CIE */
    put_bytes(t, &cie->version, 1);
    put_bytes(t, cie->letters, strlen(cie->letters) + 1);
    put_bytes(t, (uint8_t[]){1, 0x78, cie->return_address}, 3); /* units: 1 byte, -8 bytes */
    if (*cie->letters == 'z') {
        put_bytes(t, &cie->length, 1);
        put_bytes(t, cie->data, cie->length);
    }
    put_bytes(t, (uint8_t[]){0x0c, SP, 8, 0x80 | RA, 1}, 5);
    end_entry(t, start);
    uint32_t fde = t->count, back = fde + 4 - start;
    uint64_t range[] = {(uint64_t)(uintptr_t)made_code, sizeof made_code};
    t->count += 4;
    put_bytes(t, &back, sizeof back);
    put_bytes(t, range, sizeof range);
    if (*cie->letters == 'z')
        put_bytes(t, (uint8_t[]){0}, 1);
    put_bytes(t, (uint8_t[]){0x40 | 32, 0x0c, SP, 16}, 4);
    end_entry(t, fde);
    t->count += 4; /* the end of all */
}

static unwind_rule find_in_made(uint32_t at)
{
    return unwind_find((uint64_t)(uintptr_t)made_code + at);
}

/* Of what is not read, libgcc has to be asked: frames of signals (S), other versions, others'
 * registers. */
static void test_entries(void **state)
{
    static const struct {
        made_cie cie;
        bool known;
    } rows[] = {
        {{1, RA, "", 0, {0}}, true},       {{3, RA, "", 0, {0}}, true},
        {{1, RA, "z", 0, {0}}, true},      {{3, RA, "zR", 1, {0}}, true},
        {{1, RA, "zPR", 9, {0}}, false}, /* a byte short */
        {{1, RA, "zP", 9, {0}}, true},     {{1, RA, "zL", 1, {0xff}}, true},
        {{1, RA, "zS", 0, {0}}, false},    {{1, RA, "zRS", 1, {0}}, false},
        {{1, RA, "zX", 0, {0}}, false},    {{2, RA, "z", 0, {0}}, false},
        {{1, RA - 1, "z", 0, {0}}, false},
    };
    static made_tables tables; /* known to libgcc even where the test fails */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_tables(&rows[i].cie, &tables);
        __register_frame(tables.bytes + 4);
        for (uint32_t at = 1; at < sizeof made_code; at += 31) { /* 1, 32, 63 */
            unwind_rule rule = find_in_made(at);
            assert_int_equal(rule.cfa, rows[i].known ? UNWIND_SP : UNWIND_UNKNOWN);
            assert_int_equal(rule.cfa_at, !rows[i].known ? 0 : at < 32 ? 8 : 16);
        }
        __deregister_frame(tables.bytes + 4);
        unwind_forget();
    }
}

/* Rules outlive the tables, until they are to be forgotten. */
static void test_rules_are_remembered(void **state)
{
    static made_tables tables; /* known to libgcc even where the test fails */
    (void)state;
    make_tables(&(made_cie){1, RA, "z", 0, {0}}, &tables);
    __register_frame(tables.bytes + 4);
    for (uint32_t at = 1; at < 5; at++)
        assert_int_equal(find_in_made(at).cfa, UNWIND_SP);
    __deregister_frame(tables.bytes + 4);
    for (uint32_t at = 1; at < 5; at++)
        assert_int_equal(find_in_made(at).cfa, UNWIND_SP);
    unwind_forget();
    for (uint32_t at = 1; at < 5; at++)
        assert_int_equal(find_in_made(at).cfa, UNWIND_END);
    unwind_forget();
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
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_rules_are_remembered),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_other_stack),
        cmocka_unit_test(test_unmapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

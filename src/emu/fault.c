/* What went wrong, in words. */
#include "emu/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int cuda;
    const char *text;
} kinds[] = {
#define X(id, cuda, text) {cuda, text},
#include "emu/faults.def"
#undef X
};

void emu_source_line(const emu_kernel *kernel, uint32_t pc, char *buffer, size_t size)
{
    const emu_code code = emu_kernel_code(kernel, pc);
    const ir_module *ptx = kernel->module->ptx;
    const ir_loc *loc = code.insn && code.insn->loc != IR_NONE ? &ptx->locs[code.insn->loc] : NULL;
    const char *path = loc ? ir_module_file(ptx, loc->file) : NULL;
    if (path)
        snprintf(buffer, size, "%s:%u", path, loc->line);
    else
        snprintf(buffer, size, "PTX line %u", code.insn ? code.insn->pos.line : 0);
}

static emu_dim thread_of(const emu_warp *w, uint32_t lane)
{
    const emu_dim block = w->worker->run->launch->block;
    uint32_t linear = w->index * EMU_LANES + lane;
    return (emu_dim){linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

const char *emu_fault_text(emu_fault_kind kind)
{
    return kinds[kind].text;
}

/* The first page is no memory: its addresses come from null pointers. */
static bool is_in_memory(emu_fault_kind kind, uint64_t address)
{
    return (kind == EMU_FAULT_ILLEGAL_ADDRESS || kind == EMU_FAULT_USE_AFTER_FREE) &&
           address >= 4096;
}

static void fill_fault(emu_fault *f, emu_warp *w, uint32_t pc, emu_fault_kind kind, uint32_t lane,
                       uint64_t address, uint32_t bytes, const char *what)
{
    const emu_kernel *k = w->worker->run->kernel;
    char place[160], at[48] = "";
    emu_source_line(k, pc, place, sizeof place);
    *f = (emu_fault){.kind = kind,
                     .cuda_error = kinds[kind].cuda,
                     .pc = pc,
                     .block = w->cta->id,
                     .thread = thread_of(w, lane),
                     .in_memory = is_in_memory(kind, address),
                     .address = address,
                     .bytes = bytes};
    if (address || bytes)
        snprintf(at, sizeof at, " at address 0x%llx", (unsigned long long)address);
    int head = snprintf(f->text, sizeof f->text,
                        "%s: kernel %s at %s, block (%u,%u,%u), thread (%u,%u,%u)%s: ",
                        kinds[kind].text, k->func->name, place, f->block.x, f->block.y, f->block.z,
                        f->thread.x, f->thread.y, f->thread.z, at);
    f->what = head > 0 && (size_t)head < sizeof f->text ? (size_t)head : sizeof f->text - 1;
    snprintf(f->text + f->what, sizeof f->text - f->what, "%s", what);
}

_Noreturn void emu_raise(emu_warp *w, uint32_t pc, emu_fault_kind kind, uint32_t lane,
                         uint64_t address, uint32_t bytes, const char *format, ...)
{
    emu_run_state *run = w->worker->run;
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    pthread_mutex_lock(&run->lock);
    /* Of several blocks that fail at about the same time the first one speaks, however many threads
     * there are: those that were started before go on for a while. */
    if (run->fault.kind == EMU_FAULT_NONE || w->cta->turn < run->fault_turn) {
        run->fault_turn = w->cta->turn;
        fill_fault(&run->fault, w, pc, kind, lane, address, bytes, what);
    }
    pthread_mutex_unlock(&run->lock);
    emu_end_from(run, w->cta->turn);
    longjmp(w->worker->fault, 1);
}

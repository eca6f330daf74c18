/* Kernels that run from their machine code, lifted (sass/body.h), in place of their PTX: what
 * `--code machine` asks for. */
#ifndef WL_DEVICE_LIFTED_H
#define WL_DEVICE_LIFTED_H

#include "device/impl.h"

/* Before each launch: sets `function->lifted` where it is the kernel's machine code that runs, with what constant
 * variables hold now. The first time the report says why it does not, where the options ask for it. The function is decoded. */
void dev_lifted_choose(dev_function *function, bool clusters);
void dev_lifted_free(dev_lifted *lifted); /* NULL is allowed */
void dev_cubin_clear(dev_cubin *cubin);
/* The file that the module's image is part of. Lives until the next call. */
const char *dev_module_file(const dev_module *module);

/* The kernel that runs: of machine code or of PTX. */
static inline emu_kernel *dev_running_kernel(const dev_function *function)
{
    return function->lifted ? function->lifted->kernel : function->kernel;
}

/* The number by which users know an instruction of it. */
static inline uint32_t dev_running_pc(const dev_function *function, uint32_t pc)
{
    return function->lifted ? function->lifted->body.insn_of[pc] : pc;
}

#endif

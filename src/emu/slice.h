/* Address slices: what a launch does to memory, worked out without the memory.
 *
 * A slice is a kernel decoded with a proof (flow/flow.h). Instructions of the slice run truly;
 * proven accesses outside of it compute their addresses and mask and are shown to the observer, and
 * touch nothing; branches whose outcome is unknown go on where their sides join again; everything
 * else is not even decoded. So global memory may be ghosts: live ranges without memory behind them,
 * at the addresses that they had on the device.
 *
 * emu_run runs slices. Counts of basic blocks behind unknown branches are not those of the launch.
 */
#ifndef WL_EMU_SLICE_H
#define WL_EMU_SLICE_H

#include "emu/emu.h"
#include "flow/flow.h"

/* A machine whose own memory is small and lies where no driver puts any, so that ghosts may lie
 * anywhere else. */
wl_status emu_machine_new_replay(const emu_device *device, emu_machine **out, wl_error *err);

/* A live range that only slices may run on; emu_mem_free ends it. WL_EXISTS where something lives
 * there. */
wl_status emu_mem_ghost(emu_machine *m, uint64_t base, uint64_t size, emu_alloc_kind kind,
                        uint32_t id);

/* Loads a module whose variables lie where `address_of` says; 0: nowhere, and what names the
 * variable cannot be decoded. Constants must be backed by memory at their address, and get their
 * initial values; all others may be ghosts. */
typedef uint64_t (*emu_address_of)(void *ctx, const ir_var *var, uint64_t size);
wl_status emu_module_load_at(emu_machine *m, const ir_module *ptx, emu_address_of address_of,
                             void *ctx, emu_module **out, wl_error *err);

/* Decodes the slice of a kernel, or gives the one decoded before. Errors as emu_module_kernel's; an
 * instruction that is not supported fails it only where the slice needs its result. The proof must
 * live as long as the module. */
wl_status emu_module_slice(emu_module *module, const char *name, const flow_proof *proof,
                           emu_kernel **out, wl_error *err);

/* Whether the slice shows what the instruction accesses: proven, and an instruction that the
 * emulator knows. Textures and surfaces are not shown: nobody tells where their texels lie. */
bool emu_slice_shows(const emu_kernel *slice, uint32_t pc);

/* Whether the counts of the instruction's basic block are those of the launch. A guarded end of a
 * block counts the lanes that its guard lets through, and so must have run truly. */
bool emu_slice_counts(const emu_kernel *slice, uint32_t pc);

#endif

/* A test of replay inside the emulator (WARPLENS_CHECK_REPLAY): what a launch did is compared with
 * what its slice shows on memory that is not there. Each launch gets a line on stderr. */
#ifndef WL_DEVICE_CHECK_H
#define WL_DEVICE_CHECK_H

#include "device/impl.h"
#include "replay/watch.h"

/* Of a launch that ran to its end, before anything else changes. */
void dev_check_replay(const dev_op *op, const obs_summary *whole);

/* The launch as the emulator runs it, without an observer, and the beginning of one: of the kernel,
 * or of its slice with the proof of it (launch.c). `mapped`: its blocks may get heat maps. */
emu_launch dev_launch_emulated(const dev_op *op);
wl_status dev_launch_watch(const dev_op *op, emu_machine *machine, emu_kernel *kernel,
                           const flow_proof *proof, bool mapped, replay_watch *watch);

#endif

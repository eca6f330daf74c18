/* Device-side malloc and free: what kernels allocate are objects, up to a bound. A block of a
 * launch may have an equal share of them, so that their numbers do not depend on the emulator's
 * threads. */
#ifndef WL_DEVICE_HEAP_H
#define WL_DEVICE_HEAP_H

#include "device/impl.h"

enum { DEV_HEAP_OF_LAUNCH = 256, DEV_HEAP_OF_PROCESS = 4096 }; /* objects, at most */

/* A launch begins: what it is to be watched with; NULL where nobody records. One launch at a time.
 */
const emu_heap_observer *dev_heap_begin(const dev_op *op);
/* It ran: writes OBJECT for what it made, and LEFT_OUT where that was too much. Before its LAUNCH.
 */
void dev_heap_write_made(const dev_op *op, uint32_t call);
/* Writes FREE for what it freed. After its LAUNCH. */
void dev_heap_write_freed(uint32_t call);
/* The context goes, and with it what its kernels made and did not free: writes FREE. */
void dev_heap_release(const dev_context *context);

#endif

/* The capture of this process, its clock and its PROCESS record: what all collectors share. */
#ifndef WL_RECORD_PROCESS_H
#define WL_RECORD_PROCESS_H

#include "capture/capture.h"

int64_t rec_now(void); /* nanoseconds, monotonic */

/* Creates <capture_dir>/<pid>-<n>.wlcap with the first free n, since a process that called exec keeps its number, and
 * writes PROCESS. `start_ns`: when the process began, by rec_now(). NULL where the options ask for no capture, and,
 * said on stderr, where none can be written. */
cap_writer *rec_open_capture(const char *collector, int64_t start_ns);

#endif

/* The capture of this process, and its PROCESS record: the recorder's own. */
#ifndef WL_RECORD_OPEN_H
#define WL_RECORD_OPEN_H

#include "capture/capture.h"

/* Creates <capture_dir>/<pid>-<n>.wlcap with the first free n, since a process that called exec
 * keeps its number, and writes PROCESS. `start_ns`: when the process began, by rec_now(). NULL
 * where the options ask for no capture, and, said on stderr, where none can be written. */
cap_writer *rec_open_capture(const char *collector, int64_t start_ns);

#endif

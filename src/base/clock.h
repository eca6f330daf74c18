/* Time that only goes forward. */
#ifndef WL_BASE_CLOCK_H
#define WL_BASE_CLOCK_H

/* Seconds since some moment before the process began; for differences. */
double wl_seconds(void);

#endif

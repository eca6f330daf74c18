/* What the driver's functions lead to where NVIDIA's static runtime is left as it is: it would not
 * work on the emulator's driver, which lacks the private tables that it asks for. */
#ifndef WL_API_BOTH_ASIDE_H
#define WL_API_BOTH_ASIDE_H

#include "inject/front.h"

/* From now on the driver in front of the emulator is not the emulator's. Before its first call. */
void api_stand_aside(void);
bool api_stands_aside(void);
/* A function of NVIDIA's driver. Where there is none, one that fails: the runtime then says
 * cudaErrorInsufficientDriver, as it does where it finds no driver. */
inj_code api_aside_find(const char *symbol);

#endif

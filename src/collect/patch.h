/* Redirects NVIDIA's static runtime where it is inside the program or one of its libraries. */
#ifndef WL_COLLECT_PATCH_H
#define WL_COLLECT_PATCH_H

/* Writes jumps over the runtime's functions in everything that is loaded now, and sees to it that what dlopen loads later is
 * treated so before its constructors run. Called once, before the program's own constructors. */
void collect_patch_start(void);

#endif

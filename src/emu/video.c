/* Video instructions. */
#include "emu/video.h"

uint32_t emu_video_run(const emu_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    (void)v;
    (void)a;
    (void)b;
    return c;
}

/* What kernels print: collected by block, handed out in the blocks' order. */
#ifndef WL_EMU_PRINTER_H
#define WL_EMU_PRINTER_H

#include "emu/internal.h"

typedef struct emu_text { /* of one block; grows */
    char *data;
    size_t length, capacity;
} emu_text;

void emu_text_free(emu_text *text);
bool emu_text_append(emu_cta *cta, const char *data, size_t length);

/* A block has ended: its text, and that of later blocks that waited for it, goes out. */
void emu_text_done(emu_run_state *run, emu_cta *cta);
/* All that is left, in the blocks' order: the launch has ended. */
void emu_text_flush(emu_run_state *run);

#endif

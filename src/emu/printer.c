/* What kernels print, in the blocks' order. */
#include "emu/printer.h"

#include <stdio.h>
#include <string.h>

void emu_text_free(emu_text *text)
{
    if (text)
        free(text->data);
    free(text);
}

bool emu_text_append(emu_cta *cta, const char *data, size_t length)
{
    if (!cta->text && !(cta->text = calloc(1, sizeof *cta->text)))
        return false;
    emu_text *t = cta->text;
    if (!length)
        return true;
    if (t->length + length > t->capacity) {
        size_t capacity = 2 * (t->length + length) + 256;
        char *grown = realloc(t->data, capacity);
        if (!grown)
            return false;
        t->data = grown;
        t->capacity = capacity;
    }
    memcpy(t->data + t->length, data, length);
    t->length += length;
    return true;
}

static void hand_out(emu_run_state *run, const emu_text *text)
{
    const emu_launch *l = run->launch;
    if (!text || !text->length)
        return;
    if (l->print)
        l->print(l->print_ctx, text->data, text->length);
    else
        fwrite(text->data, 1, text->length, stdout);
}

/* Text waits in run->texts, and a block that has ended without any leaves a mark in run->ended,
 * until all blocks before it have ended. Nothing is kept while no block has printed. */
static bool reserve_texts(emu_run_state *run)
{
    if (run->texts)
        return true;
    run->texts = calloc(run->nblocks, sizeof *run->texts);
    return run->texts != NULL;
}

void emu_text_done(emu_run_state *run, emu_cta *cta)
{
    emu_text *text = cta->text;
    cta->text = NULL;
    if (!run->kernel->prints)
        return;
    pthread_mutex_lock(&run->lock);
    if (!run->ended)
        run->ended = calloc(run->nblocks, 1);
    if (!run->ended || !reserve_texts(run)) { /* no memory: out of order is better than lost */
        hand_out(run, text);
        emu_text_free(text);
    } else {
        run->texts[cta->index] = text;
        run->ended[cta->index] = 1;
        for (; run->next_text < run->nblocks && run->ended[run->next_text]; run->next_text++) {
            hand_out(run, run->texts[run->next_text]);
            emu_text_free(run->texts[run->next_text]);
            run->texts[run->next_text] = NULL;
        }
    }
    pthread_mutex_unlock(&run->lock);
}

void emu_text_flush(emu_run_state *run)
{
    for (uint64_t b = run->next_text; run->texts && b < run->nblocks; b++) {
        hand_out(run, run->texts[b]);
        emu_text_free(run->texts[b]);
    }
    free(run->texts);
    free(run->ended);
    run->texts = NULL;
    run->ended = NULL;
    if (!run->launch->print && run->kernel->prints)
        fflush(stdout);
}

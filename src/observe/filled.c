/* Words that blocks have stored to by a barrier. */
#include "observe/filled.h"

#include "observe/internal.h"

#include <stdlib.h>

static uint64_t words_of_array(const obs_config *config, uint32_t number)
{
    const obs_shared *array = &config->shared[config->filled[number].array];
    return ((uint64_t)array->offset % OBS_WORD_BYTES + array->bytes + OBS_WORD_BYTES - 1) /
           OBS_WORD_BYTES;
}

void obs_filled_free(obs_filled *filled, uint32_t count)
{
    for (uint32_t i = 0; filled->lacking && i < count; i++)
        free(filled->lacking[i]);
    free(filled->lacking);
}

static uint64_t *lacking_words(obs_worker *worker, uint32_t number)
{
    const obs_config *config = &worker->launch->config;
    obs_filled *f = &worker->filled;
    if (!f->lacking)
        f->lacking = calloc(config->nfilled, sizeof *f->lacking);
    if (f->lacking && !f->lacking[number])
        f->lacking[number] = calloc(words_of_array(config, number) / 64 + 1, sizeof(uint64_t));
    f->lost |= !f->lacking || !f->lacking[number];
    return f->lost ? NULL : f->lacking[number];
}

/* What the block did to the array; NULL: nothing. */
static const obs_part *part_of_array(const obs_block *block, uint32_t array)
{
    const obs_uses *uses = &block->worker->uses;
    const obs_frame *frame = block->frame;
    uint32_t at = obs_table_get(&uses->by_object, (uint64_t)ACC_SHARED << 32 | array);
    uint32_t table = at ? uses->tables[at - 1]->number : 0;
    const obs_part *part = at && frame && table < frame->count ? frame->parts[table] : NULL;
    return part && part->epoch == frame->epoch ? part : NULL;
}

static void note_lacking(obs_block *block, uint32_t number)
{
    const obs_config *config = &block->worker->launch->config;
    const obs_part *part = part_of_array(block, config->filled[number].array);
    uint64_t words = words_of_array(config, number),
             *lacking = lacking_words(block->worker, number);
    for (uint64_t w = 0; lacking && w < words; w++)
        if (!part || w >= part->elements || !part->origins[w])
            lacking[w / 64] |= UINT64_C(1) << w % 64;
}

/* Only the first time tells. */
void obs_filled_pass(obs_block *block, uint32_t pc)
{
    const obs_config *config = &block->worker->launch->config;
    for (uint32_t i = 0; i < config->nfilled; i++)
        if (config->filled[i].pc == pc && !(block->passed >> i & 1)) {
            block->passed |= UINT64_C(1) << i;
            note_lacking(block, i);
        }
}

bool obs_is_filled(const obs_launch *launch, uint32_t array, uint64_t word)
{
    const obs_config *config = &launch->config;
    uint32_t number = 0;
    while (number < config->nfilled && config->filled[number].array != array)
        number++;
    bool filled = number < config->nfilled && word < words_of_array(config, number);
    for (const obs_worker *w = launch->workers; w && filled; w = w->next) {
        const uint64_t *lacking = w->filled.lacking ? w->filled.lacking[number] : NULL;
        filled = !w->filled.lost && !(lacking && lacking[word / 64] >> word % 64 & 1);
    }
    return filled;
}

/* The rows of an object made longer, so that each begins where a sector does. */
#include "replay/trials/objects.h"

#include <stdlib.h>
#include <string.h>

enum {
    LENGTHS = 3,    /* that are tried of an object */
    LEAST_ROW = 256 /* bytes: shorter ones would grow by too much */
};

typedef struct spreading {
    uint64_t pointer;
    int64_t row, more; /* `more` bytes after each `row`, from the pointer on */
} spreading;

bool trial_has_misaligned(const obs_summary *s)
{
    return trial_any_pays(s, trial_is_misaligned);
}

/* The rows before the pointer, too. */
static uint64_t spread_address(const void *how, uint64_t address)
{
    const spreading *s = how;
    int64_t at = (int64_t)(address - s->pointer), row = at / s->row - (at % s->row < 0);
    return address + (uint64_t)(row * s->more);
}

/* Full lines where that costs little. */
static int64_t bytes_to_add(int64_t row)
{
    enum { LITTLE = 16 }; /* a part of the row */
    int64_t sector = (OBS_SECTOR_BYTES - row % OBS_SECTOR_BYTES) % OBS_SECTOR_BYTES;
    int64_t line = (OBS_LINE_BYTES - row % OBS_LINE_BYTES) % OBS_LINE_BYTES;
    return line * LITTLE <= row ? line : sector;
}

/* Is the step the length of a row? Not what the launch's size says, nor what all threads of a block
 * take side by side, where the next block may go on. */
static bool is_row_length(const trial_work *t, const trial_form *f, const trial_step *s)
{
    int64_t row = llabs(s->bytes), block = llabs(f->lane.bytes) * t->launch->run.launch.block.x;
    return !s->sized && row >= LEAST_ROW && row % OBS_SECTOR_BYTES && f->bytes &&
           row % f->bytes == 0 && (s->given || (block && row % block));
}

/* The shortest ones, ascending, each once. */
static uint32_t add_length(int64_t *lengths, uint32_t count, int64_t row)
{
    uint32_t at = 0;
    while (at < count && lengths[at] < row)
        at++;
    if ((at < count && lengths[at] == row) || at == LENGTHS)
        return count;
    count += count < LENGTHS;
    memmove(&lengths[at + 1], &lengths[at], (count - 1 - at) * sizeof *lengths);
    lengths[at] = row;
    return count;
}

static uint32_t lengths_of(const trial_work *t, const trial_object *o, int64_t lengths[LENGTHS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->forms.count; i++) {
        const trial_form *f = &o->forms.rows[i];
        for (uint32_t s = 0; s < f->nsteps; s++)
            if (is_row_length(t, f, &f->steps[s]))
                count = add_length(lengths, count, llabs(f->steps[s].bytes));
    }
    return count;
}

static wl_status spread_object(trial_work *t, const trial_object *o)
{
    int64_t lengths[LENGTHS];
    uint32_t count = o->forms.pointer ? lengths_of(t, o, lengths) : 0;
    obs_trial trial = {.kind = OBS_TRIAL_SPREAD, .object = o->alloc.id};
    trial_rows best = {0};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        const spreading s = {o->forms.pointer, lengths[i], bytes_to_add(lengths[i])};
        trial_rows rows;
        status = trial_move_object(t, o, spread_address, &s, &rows);
        if (rows.count && (!best.count || trial_sectors(&rows) < trial_sectors(&best))) {
            best = rows;
            trial.pitch = (uint32_t)s.row;
            trial.pad = (uint32_t)s.more;
        }
    }
    if (status == WL_OK)
        trial_add(t, trial, &o->rows, &best);
    return status;
}

wl_status trial_spread(trial_work *t)
{
    return trial_each_object(t, trial_is_misaligned, spread_object);
}

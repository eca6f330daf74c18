/* Launches as a GPU ran them, of which nothing but shape and time is known. */
#include "profile/builder.h"

static const char *reason_of(const cap_note *note)
{
    return note->module ? "it ran on the GPU and was not observed there"
                        : "it ran on the GPU, and there is no PTX of it to tell what it accessed";
}

wl_status builder_note(prof_builder *b, const cap_note *note, wl_error *err)
{
    cap_launch launch = {.id = note->id,
                         .call = note->call,
                         .module = note->module,
                         .kernel = note->kernel,
                         .dynamic_shared = note->dynamic_shared,
                         .static_shared = note->static_shared,
                         .local_bytes = note->local_bytes,
                         .registers = note->registers,
                         .stream = note->stream,
                         .host_seconds = -1,
                         .device_seconds = -1,
                         .fault = ""};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = note->grid[i];
        launch.block[i] = note->block[i];
        launch.cluster[i] = note->cluster[i];
    }
    wl_status status = builder_launch(b, &launch, err);
    if (status != WL_OK) {
        return status;
    }
    id_entry *entry = NULL;
    HASH_FIND(hh, b->process.launches_by_note, &note->id, sizeof note->id, entry);
    if (!entry) {
        entry = wl_new(b->process.arena, id_entry);
        if (!entry) {
            return NOMEM(err);
        }
        entry->key = note->id;
        HASH_ADD(hh, b->process.launches_by_note, key, sizeof entry->key, entry);
    }
    entry->id = b->nlaunches;
    cap_skipped skipped = {.kernel = note->kernel, .reason = reason_of(note), .call = note->call};
    return builder_skipped(b, &skipped, err);
}

wl_status builder_times(prof_builder *b, const cap_times *times, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < times->count && status == WL_OK; i++) {
        id_entry *entry = NULL;
        HASH_FIND(hh, b->process.launches_by_note, &times->times[i].note, sizeof entry->key, entry);
        if (entry) {
            status = db_run(b->stmt[ST_LAUNCH_TIME], err, db_int(entry->id),
                            db_real(times->times[i].seconds));
        }
    }
    return status;
}

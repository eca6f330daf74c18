/* A new profile: its file and statements, processes one after the other, sources at the end. */
#include "profile/builder.h"

#include "base/log.h"
#include "base/version.h"
#include "profile/publish.h"
#include "profile/vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const statement_texts[ST_COUNT] = {
#define X(id, text) [ST_##id] = text,
#include "profile/statements.def"
#undef X
};

/* ---- beginning ---- */

static wl_status open_profile_file(prof_builder *b, wl_error *err)
{
    int rc = sqlite3_open_v2(b->temp, &b->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return db_fail(b->sql, rc, "write the profile", err);
    /* The file is nobody's until it is published: no journal, no waiting for the disk before
     * then. */
    wl_status status = db_exec(b->sql,
                               "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                               "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; "
                               "PRAGMA temp_store = MEMORY; PRAGMA encoding = 'UTF-8'",
                               err);
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN",
             PROF_APPLICATION_ID, PROF_VERSION);
    status = status == WL_OK ? db_exec(b->sql, pragmas, err) : status;
    return status == WL_OK ? db_exec(b->sql, prof_schema, err) : status;
}

static wl_status prepare_statements(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (int i = 0; i < ST_COUNT && status == WL_OK; i++)
        status = db_prepare(b->sql, statement_texts[i], &b->stmt[i], err);
    for (int i = 0; i < TABLE_COUNT && status == WL_OK; i++)
        status = table_prepare(b->sql, i, &b->insert[i], err);
    return status;
}

static wl_status write_profile_head(prof_builder *b, wl_error *err)
{
    const char *command = b->options.command ? b->options.command : "";
    const row_info facts[] = {{"version", WARPLENS_VERSION}, {"command", command}};
    wl_status status = table_insert_info(b->insert[TABLE_info], &facts[0], err);
    if (status == WL_OK)
        status = table_insert_info(b->insert[TABLE_info], &facts[1], err);
    size_t n;
    const word *words = vocabulary(&n);
    for (size_t i = 0; i < n && status == WL_OK; i++)
        status = table_insert_names(b->insert[TABLE_names], &words[i], err);
    return status;
}

static bool allocate_builder(prof_builder *b, const char *path, const prof_options *options)
{
    b->options = options ? *options : (prof_options){0};
    b->path = strdup(path);
    b->arena = wl_arena_new();
    b->sources = sources_new(&b->options);
    b->symbols = symbols_new();
    return b->path && b->arena && b->sources && b->symbols;
}

wl_status prof_create(const char *path, const prof_options *options, prof_builder **out,
                      wl_error *err)
{
    *out = NULL;
    prof_builder *b = calloc(1, sizeof *b);
    if (!b || !allocate_builder(b, path, options)) {
        prof_discard(b);
        return NOMEM(err);
    }
    wl_status status = prof_check_path(path, err);
    status = status == WL_OK
                 ? publish_begin(path, b->options.force || b->options.older, &b->temp, err)
                 : status;
    status = status == WL_OK ? open_profile_file(b, err) : status;
    status = status == WL_OK ? prepare_statements(b, err) : status;
    status = status == WL_OK ? write_profile_head(b, err) : status;
    if (status != WL_OK) {
        prof_discard(b);
        return status;
    }
    *out = b;
    return WL_OK;
}

/* ---- ending ---- */

static void id_map_clear(id_map *map)
{
    HASH_CLEAR(hh, map->others);
    wl_vec_free(&map->ids);
}

static void process_clear(process *p)
{
    id_map_clear(&p->objects_by_number);
    id_map_clear(&p->graphs);
    id_map_clear(&p->ranges);
    id_map_clear(&p->range_lists);
    id_map_clear(&p->calls_by_number);
    HASH_CLEAR(hh, p->modules);
    HASH_CLEAR(hh, p->stacks);
    HASH_CLEAR(hh, p->streams);
    HASH_CLEAR(hh, p->threads);
    HASH_CLEAR(hh, p->skips);
    HASH_CLEAR(hh, p->kinds);
    HASH_CLEAR(hh, p->reaches);
    HASH_CLEAR(hh, p->gaps);
    HASH_CLEAR(hh, p->texts);
    wl_vec_free(&p->launches);
    HASH_CLEAR(hh, p->moves);
    wl_vec_free(&p->objects);
    wl_vec_free(&p->places);
    wl_vec_free(&p->sms);
    wl_vec_free(&p->calls);
    wl_vec_free(&p->last_arrays);
    wl_vec_free(&p->last_sequences);
    wl_arena_free(p->arena);
    *p = (process){0};
}

static wl_status close_profile_file(prof_builder *b, wl_error *err)
{
    int rc = db_close(b->sql);
    b->sql = NULL;
    return rc == SQLITE_OK ? WL_OK : db_fail(NULL, rc, "write the profile", err);
}

/* All but the names of the file. */
static void builder_clear(prof_builder *b)
{
    process_clear(&b->process);
    builder_modules_free(b);
    for (kernel *k = b->kernels; k; k = k->hh.next)
        HASH_CLEAR(hh, k->shared);
    HASH_CLEAR(hh, b->kernels);
    HASH_CLEAR(hh, b->stacks);
    HASH_CLEAR(hh, b->locs);
    HASH_CLEAR(hh, b->contents);
    HASH_CLEAR(hh, b->spans);
    HASH_CLEAR(hh, b->sequences);
    blob_free(&b->packed);
    blob_free(&b->compressed);
    sources_free(b->sources);
    symbols_free(b->symbols);
    wl_arena_free(b->arena);
    b->sources = NULL;
    b->symbols = NULL;
    b->arena = NULL;
}

void prof_discard(prof_builder *b)
{
    if (!b)
        return;
    if (b->sql)
        close_profile_file(b, NULL);
    publish_discard(b->temp);
    builder_clear(b);
    free(b->path);
    free(b);
}

wl_status builder_message(prof_builder *b, uint32_t process_id, uint32_t level, const char *text,
                          wl_error *err)
{
    const prof_message row = {.process = process_id, .level = level, .text = text};
    return table_insert_messages(b->insert[TABLE_messages], &row, err);
}

static wl_status warn_changed(prof_builder *b, uint32_t file, wl_error *err)
{
    const char *text = wl_arena_printf(b->arena,
                                       "%s was changed after the program was built: the lines "
                                       "shown may not be those that ran. Build it again.",
                                       sources_name(sources_path(b->sources, file)));
    return text ? builder_message(b, b->nprocesses, WL_LOG_WARN, text, err) : NOMEM(err);
}

static wl_status write_file(prof_builder *b, uint32_t id, wl_error *err)
{
    size_t length = 0;
    const char *why = "left out by an option", *text = NULL;
    if (!b->options.no_sources)
        text = sources_text(b->sources, id, &length, &why);
    if (text && blob_compress(text, length, &b->compressed) != WL_OK)
        return NOMEM(err);
    wl_status status = text && sources_changed(b->sources, id) ? warn_changed(b, id, err) : WL_OK;
    if (status != WL_OK)
        return status;
    const row_file row = {.id = id,
                          .path = sources_path(b->sources, id),
                          .system = sources_system(b->sources, id),
                          .bytes = length,
                          .missing = text ? "" : why,
                          .text = {text ? b->compressed.data : NULL, b->compressed.size}};
    return table_insert_files(b->insert[TABLE_files], &row, err);
}

static wl_status write_files(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t id = 1; id <= sources_count(b->sources) && status == WL_OK; id++)
        status = write_file(b, id, err);
    return status;
}

wl_status prof_finish(prof_builder *b, wl_error *err)
{
    wl_status status = b->process.open ? prof_end_process(b, NULL, err) : WL_OK;
    status = status == WL_OK ? builder_kernel_objects(b, err) : status;
    status = status == WL_OK ? builder_callers(b, err) : status;
    status = status == WL_OK ? write_files(b, err) : status;
    status = status == WL_OK ? db_exec(b->sql, "COMMIT", err) : status;
    status = status == WL_OK ? close_profile_file(b, err) : status;
    builder_clear(b); /* the check takes memory, too */
    if (status == WL_OK && b->options.check)
        status = b->options.check(b->options.check_ctx, b->temp, err);
    if (status == WL_OK) {
        char *temp = b->temp;
        b->temp = NULL;
        status = b->options.older ? publish_end_beside(temp, b->path, b->options.older, err)
                                  : publish_end(temp, b->path, b->options.force, err);
    }
    prof_discard(b);
    return status;
}

/* ---- processes ---- */

wl_status prof_begin_process(prof_builder *b, wl_error *err)
{
    wl_status status = b->process.open ? prof_end_process(b, NULL, err) : WL_OK;
    if (status != WL_OK)
        return status;
    b->process = (process){.open = true, .id = ++b->nprocesses, .first_call = b->ncalls + 1};
    b->process.arena = wl_arena_new();
    b->process.directory = "";
    symbols_reset(b->symbols, "");
    return b->process.arena ? WL_OK : NOMEM(err);
}

wl_status prof_add(prof_builder *b, const cap_record *record, wl_error *err)
{
    process *p = &b->process;
    if (!p->open)
        return wl_fail(err, WL_STATE, "No process has begun.");
    if (!p->named && record->type != CAP_PROCESS)
        return wl_fail(err, WL_CORRUPT, "The capture does not begin with its process.");
    if (record->type == CAP_LAUNCH) {
        wl_status status = builder_launch(b, &record->launch, err);
        return status == WL_OK ? builder_keep_arrays(b, &record->launch, err) : status;
    }
    if (record->type == CAP_USES)
        return builder_uses(b, &record->uses, err);
    if (record->type == CAP_SEQUENCES)
        return builder_sequences(b, &record->sequences, err);
    if (record->type == CAP_PATHS)
        return builder_paths(b, &record->paths, err);
    wl_status status = builder_add_small(b, record, err);
    return status == WL_OK && b->nomem ? NOMEM(err) : status;
}

static wl_status write_skips(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (skip *s = b->process.skips; s && status == WL_OK; s = s->hh.next) {
        const prof_skip row = {
            .process = b->process.id, .kernel = s->kernel, .reason = s->reason, .count = s->count};
        status = table_insert_skips(b->insert[TABLE_skips], &row, err);
    }
    return status;
}

wl_status prof_end_process(prof_builder *b, const char *cut_off, wl_error *err)
{
    process *p = &b->process;
    if (!p->open)
        return wl_fail(err, WL_STATE, "No process has begun.");
    if (!cut_off && !p->ended)
        cut_off = "the program did not exit normally";
    wl_status status = builder_settle_left(b, err);
    status = status == WL_OK ? builder_launches(b, err) : status;
    status = status == WL_OK ? builder_notes_left(b, err) : status;
    status = status == WL_OK ? builder_objects(b, err) : status;
    status = status == WL_OK ? write_skips(b, err) : status;
    if (status == WL_OK && p->named) {
        p->row.end_ns = p->ended ? p->end_ns : -1;
        p->row.cut_off = cut_off;
        status = table_insert_processes(b->insert[TABLE_processes], &p->row, err);
    }
    process_clear(p);
    return status;
}

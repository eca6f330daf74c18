/* Looks things up in what was loaded: names, places, samples. */
#include "report/impl.h"
#include "report/keys.h"

#include <string.h>

const char *rep_kernel_name(const rep_data *data, uint32_t kernel)
{
    const prof_kernel *found = prof_find_kernel(&data->kernels, kernel);
    return found ? found->name : NULL;
}

const char *rep_object_name(const rep_data *data, uint32_t object)
{
    const prof_object *found = prof_find_object(&data->objects, object);
    return found ? found->name : NULL;
}

const char *rep_pool_name(const rep_data *data, uint32_t object)
{
    const prof_object *found = prof_find_object(&data->objects, object);
    return found && found->tag[0] ? found->tag : rep_object_name(data, object);
}

const prof_passed *rep_passed(const rep_data *data, uint32_t kernel, uint32_t object,
                              uint32_t *count)
{
    const prof_passed_rows *all = &data->passed;
    uint32_t first = 0;
    *count = 0;
    while (first < all->count &&
           (all->rows[first].kernel != kernel || all->rows[first].object != object))
        first++;
    while (first + *count < all->count && all->rows[first + *count].kernel == kernel &&
           all->rows[first + *count].object == object)
        ++*count;
    return *count ? &all->rows[first] : NULL;
}

char *rep_parameters(const rep_data *data, wl_arena *arena, uint32_t kernel, uint32_t object)
{
    uint32_t count;
    const prof_passed *rows = rep_passed(data, kernel, object, &count);
    char *text = rows ? wl_arena_strdup(arena, rows[0].parameter) : NULL;
    for (uint32_t i = 1; text && i < count; i++)
        text = wl_arena_printf(arena, "%s%s%s", text, i + 1 == count ? " and " : ", ",
                               rows[i].parameter);
    return text;
}

char *rep_passed_text(const rep_data *data, wl_arena *arena, uint32_t kernel, uint32_t object)
{
    enum { COLUMNS = 40 };
    uint32_t count;
    const char *names = rep_parameters(data, arena, kernel, object);
    const prof_kernel *of = prof_find_kernel(&data->kernels, kernel);
    rep_passed(data, kernel, object, &count);
    return names && of
               ? wl_arena_printf(arena, "%s %s of %s", count == 1 ? "parameter" : "parameters",
                                 names, rep_shorten_name(arena, of->short_name, COLUMNS))
               : NULL;
}

json_t *rep_passed_json(const rep_data *data, uint32_t kernel, uint32_t object)
{
    uint32_t count;
    const prof_passed *rows = rep_passed(data, kernel, object, &count);
    json_t *names = rows ? json_array() : NULL;
    for (uint32_t i = 0; rows && i < count; i++)
        json_array_append_new(names, rep_text_json(rows[i].parameter));
    return names;
}

const char *rep_device_name(const rep_data *data, uint32_t process, uint32_t ordinal)
{
    for (uint32_t i = 0; i < data->devices.count; i++) {
        const prof_device *device = &data->devices.rows[i];
        if (device->process == process && device->ordinal == ordinal)
            return device->name;
    }
    return NULL;
}

const ana_use *rep_use_of(const rep_data *data, uint32_t object)
{
    for (uint32_t i = 0; i < data->uses.count; i++)
        if (data->uses.rows[i].object == object)
            return &data->uses.rows[i];
    return NULL;
}

const char *rep_file_path(const rep_data *data, uint32_t file)
{
    const prof_file *found = prof_find_file(&data->files, file);
    return found ? found->path : NULL;
}

const prof_file *rep_file_by_path(const rep_data *data, const char *path)
{
    const prof_file *by_name = NULL;
    for (uint32_t i = 0; path && i < data->files.count; i++) {
        const prof_file *file = &data->files.rows[i];
        if (strcmp(file->path, path) == 0)
            return file;
        if (!by_name && strcmp(file->name, path) == 0)
            by_name = file;
    }
    return by_name;
}

const char *rep_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *rep_place(wl_arena *arena, const char *path, uint32_t line)
{
    return path && line ? wl_arena_printf(arena, "%s:%u", rep_base_name(path), line) : NULL;
}

bool rep_loaded_text(const rep_data *data, uint32_t file, const char **text, size_t *length)
{
    for (uint32_t i = 0; data->sources && i < data->files.count; i++) {
        const rep_source *source = &data->sources[i];
        if (source->file != file || !source->text)
            continue;
        *text = source->text;
        *length = source->length;
        return true;
    }
    return false;
}

char *rep_source_line(const rep_data *data, wl_arena *arena, uint32_t file, uint32_t line)
{
    const char *text;
    size_t length;
    if (!file || !line || !rep_loaded_text(data, file, &text, &length))
        return NULL;
    const char *end = text + length;
    for (uint32_t n = 1; n < line && text < end; n++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        text = newline ? newline + 1 : end;
    }
    if (text >= end)
        return NULL;
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t bytes = (size_t)((newline ? newline : end) - text);
    if (bytes > 0 && text[bytes - 1] == '\r')
        bytes--;
    return wl_arena_strndup(arena, text, bytes);
}

char *rep_call_text(const rep_data *data, wl_arena *arena, uint32_t call)
{
    const prof_call *found = prof_find_call(&data->calls, call);
    if (!found)
        return NULL;
    const char *place = rep_place(arena, rep_file_path(data, found->file), found->line);
    return place ? wl_arena_printf(arena, "%s (%s)", found->api, place)
                 : wl_arena_strdup(arena, found->api);
}

bool rep_has_gaps(const rep_data *data, uint32_t kernel)
{
    bool gaps = false, observed = false;
    for (uint32_t i = 0; i < data->gaps.count && !gaps; i++)
        gaps = data->gaps.rows[i].kernel == kernel;
    for (uint32_t i = 0; i < data->kernel_table.count && gaps; i++)
        observed |= data->kernel_table.rows[i].kernel == kernel &&
                    data->kernel_table.rows[i].launches > 0;
    return gaps && observed;
}

bool rep_is_about(const ana_finding *f, uint32_t kernel, uint32_t object)
{
    return f->scope == ANA_SCOPE_KERNEL_AND_OBJECT && f->access && f->kernel == kernel &&
           f->object == object;
}

uint64_t rep_excess(uint64_t now, uint64_t min)
{
    return now > min ? now - min : 0;
}

/* ---- sampled blocks ---- */

const prof_sample *rep_samples(const rep_data *data, uint32_t launch, uint32_t *count)
{
    const prof_sample_rows *all = &data->samples;
    uint32_t low = 0, high = all->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all->rows[middle].launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < all->count && all->rows[low + *count].launch == launch)
        ++*count;
    return *count ? &all->rows[low] : NULL;
}

char *rep_why(wl_arena *arena, const prof_sample *p)
{
    const char *blocks = rep_plural(arena, p->of, "block", "blocks");
    if (p->s.why == OBS_WHY_ASKED)
        return wl_arena_printf(arena, "asked for with --block, of %s", blocks);
    if (p->s.why == OBS_WHY_TRACED)
        return wl_arena_printf(arena, "recorded on the GPU, of %s", blocks);
    if (p->s.why == OBS_WHY_OUTLIER && p->s.alike <= 1)
        return wl_arena_printf(arena, "unlike the others: the only one of its kind among %s",
                               blocks);
    if (p->s.why == OBS_WHY_OUTLIER)
        return wl_arena_printf(arena, "unlike the others: one of %s of its kind among %s",
                               rep_count(arena, p->s.alike), blocks);
    if (p->s.alike == p->of && p->of == 1)
        return wl_arena_strdup(arena, "the only block");
    if (p->s.alike == p->of)
        return wl_arena_printf(arena, "stands for all %s", blocks);
    return wl_arena_printf(arena, "stands for %s of %s", rep_count(arena, p->s.alike), blocks);
}

void rep_put_sample(json_t *row, const prof_sample *p)
{
    rep_put_text(row, K(picked, why), prof_why_text(p->s.why));
    if (p->s.alike)
        rep_put_count(row, K(picked, alike), p->s.alike);
    rep_put_count(row, K(picked, of), p->of);
    if (p->s.instructions)
        rep_put_count(row, K(picked, instructions), p->s.instructions);
    if (p->s.requests)
        rep_put_number(row, K(picked, sectors_per_request),
                       (double)p->s.sectors / (double)p->s.requests);
    rep_put(row, K(picked, mapped), json_boolean(p->s.mapped));
}

void rep_put_benefits(json_t *row, const model_benefits *b)
{
    rep_put_seconds(row, K(benefits, parallelism), b->parallelism);
    rep_put_seconds(row, K(benefits, serialisation), b->serialisation);
    rep_put_seconds(row, K(benefits, floating_point), b->floating_point);
    rep_put_seconds(row, K(benefits, memory_parallelism), b->memory_parallelism);
}

const prof_launch *rep_costliest_launch(const rep_data *d, uint32_t kernel)
{
    const prof_launch *best = NULL;
    for (uint32_t i = 0; i < d->launches.count; i++) {
        const prof_launch *l = &d->launches.rows[i];
        if (l->kernel == kernel && (!best || l->thread_instructions > best->thread_instructions))
            best = l;
    }
    return best;
}

double rep_measured_seconds(const ana_kernel *k, const ana_model *m)
{
    const ana_device_time *t = &k->device;
    return t->timed && t->launches == m->launches ? t->seconds / (double)t->launches : -1;
}

const ana_family *rep_family_of(const rep_data *d, uint32_t kernel, const ana_member **member)
{
    static const ana_family none = {.name = ""};
    for (uint32_t i = 0; i < d->families.count; i++)
        for (uint32_t k = 0; k < d->families.rows[i].count; k++) {
            if (d->families.rows[i].members[k].kernel->kernel != kernel)
                continue;
            if (member)
                *member = &d->families.rows[i].members[k];
            return &d->families.rows[i];
        }
    return &none;
}

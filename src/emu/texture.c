/* The objects that texture and surface handles name. */
#include "emu/texture.h"

#include <stdlib.h>

/* A handle is a slot's number + 1 and, above, how often the slot has been used. Slots are never
 * freed, so that a lookup needs no lock; a freed object's slot has another handle or none. */
enum { SLOT_BITS = 20, CHUNK = 256, CHUNKS = (1 << SLOT_BITS) / CHUNK };

typedef struct slot {
    _Atomic uint64_t handle; /* 0: free */
    uint64_t uses;
    bool surface;
    emu_texture texture; /* of a surface only the image */
    struct slot *next;   /* free one */
} slot;

struct emu_texture_table {
    pthread_mutex_t lock;
    _Atomic(slot *) chunks[CHUNKS];
    uint32_t count;
    slot *free;
};

static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;

static struct emu_texture_table *table_of(emu_machine *m)
{
    pthread_mutex_lock(&creating);
    if (!m->textures && (m->textures = calloc(1, sizeof *m->textures)))
        pthread_mutex_init(&m->textures->lock, NULL);
    struct emu_texture_table *table = m->textures;
    pthread_mutex_unlock(&creating);
    return table;
}

void emu_texture_table_free(struct emu_texture_table *table)
{
    if (!table)
        return;
    for (uint32_t k = 0; k < CHUNKS; k++)
        free(atomic_load(&table->chunks[k]));
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static slot *slot_at(struct emu_texture_table *table, uint32_t index)
{
    slot *chunk = atomic_load_explicit(&table->chunks[index / CHUNK], memory_order_acquire);
    return chunk ? &chunk[index % CHUNK] : NULL;
}

/* A free slot and its number. */
static slot *take_free_slot(struct emu_texture_table *table, uint32_t *index)
{
    slot *s = table->free;
    if (s) {
        table->free = s->next;
        *index = (uint32_t)(s->uses & ((1 << SLOT_BITS) - 1));
        return s;
    }
    if (table->count == (1 << SLOT_BITS) - 1)
        return NULL;
    *index = table->count;
    if (!slot_at(table, *index)) {
        slot *chunk = calloc(CHUNK, sizeof *chunk);
        if (!chunk)
            return NULL;
        for (uint32_t k = 0; k < CHUNK; k++)
            chunk[k].uses = *index + k;
        atomic_store_explicit(&table->chunks[*index / CHUNK], chunk, memory_order_release);
    }
    table->count++;
    return slot_at(table, *index);
}

static wl_status add_texture_object(emu_machine *m, const emu_texture *texture, bool surface,
                                    uint64_t *handle)
{
    struct emu_texture_table *table = table_of(m);
    if (!table)
        return WL_NOMEM;
    uint32_t index;
    pthread_mutex_lock(&table->lock);
    slot *s = take_free_slot(table, &index);
    if (s) {
        s->surface = surface;
        s->texture = *texture;
        *handle = s->uses + 1;
        atomic_store_explicit(&s->handle, *handle, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    return s ? WL_OK : WL_NOMEM;
}

static const slot *find(const emu_machine *m, uint64_t handle, bool surface)
{
    struct emu_texture_table *table = m->textures;
    if (!table || !handle)
        return NULL;
    const slot *s = slot_at(table, (uint32_t)((handle - 1) & ((1 << SLOT_BITS) - 1)));
    return s && atomic_load_explicit(&s->handle, memory_order_acquire) == handle &&
                   s->surface == surface
               ? s
               : NULL;
}

static wl_status drop_texture_object(emu_machine *m, uint64_t handle, bool surface)
{
    slot *s = (slot *)find(m, handle, surface);
    if (!s)
        return WL_NOENT;
    pthread_mutex_lock(&m->textures->lock);
    atomic_store(&s->handle, 0);
    s->uses += 1 << SLOT_BITS;
    s->next = m->textures->free;
    m->textures->free = s;
    pthread_mutex_unlock(&m->textures->lock);
    return WL_OK;
}

wl_status emu_texture_new(emu_machine *m, const emu_texture *texture, uint64_t *handle)
{
    return add_texture_object(m, texture, false, handle);
}

wl_status emu_surface_new(emu_machine *m, const emu_image *image, uint64_t *handle)
{
    return add_texture_object(m, &(emu_texture){.image = *image}, true, handle);
}

wl_status emu_texture_free(emu_machine *m, uint64_t handle)
{
    return drop_texture_object(m, handle, false);
}

wl_status emu_surface_free(emu_machine *m, uint64_t handle)
{
    return drop_texture_object(m, handle, true);
}

const emu_texture *emu_texture_find(const emu_machine *m, uint64_t handle)
{
    const slot *s = find(m, handle, false);
    return s ? &s->texture : NULL;
}

const emu_image *emu_surface_find(const emu_machine *m, uint64_t handle)
{
    const slot *s = find(m, handle, true);
    return s ? &s->texture.image : NULL;
}

/* What is said of accesses by thread and by array, as text and as JSON. */
#include "cli/ptx.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char *ptx_form(const ptx_subject *s, const flow_use_count *use, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", "");
    return use->form ? flow_form_text(s->counts, use->form, buffer, size) : buffer;
}

/* Truncates; the length that it would have. */
static size_t append(char *buffer, size_t size, size_t at, const char *text)
{
    size_t length = strlen(text), room = at + 1 < size ? size - 1 - at : 0;
    size_t copied = length < room ? length : room;
    if (room) {
        memcpy(buffer + at, text, copied);
        buffer[at + copied] = 0;
    }
    return at + length;
}

char *ptx_conditions(const ptx_subject *s, const flow_use_count *use, char *buffer, size_t size)
{
    char text[512];
    size_t at = 0;
    snprintf(buffer, size, "%s", "");
    for (uint32_t i = 0; i < use->nconditions; i++) {
        flow_condition_text(s->counts, &use->conditions[i], text, sizeof text);
        if (strstr(buffer, text))
            continue;
        at = append(buffer, size, at, at ? " and " : "");
        at = append(buffer, size, at, text);
    }
    append(buffer, size, at, use->more ? " and more" : "");
    return buffer;
}

/* "3*param2 where tid.x == 0" */
static char *times_text(const ptx_subject *s, const flow_use_count *use, char *buffer, size_t size)
{
    char text[2048];
    size_t at = strlen(flow_count_text(s->counts, &use->count, buffer, size));
    if (*ptx_conditions(s, use, text, sizeof text)) {
        at = append(buffer, size, at, " where ");
        append(buffer, size, at, text);
    }
    return buffer;
}

static uint8_t touch_of_pc(const ptx_subject *s, uint32_t pc)
{
    ir_place place = ir_kernel_at(s->code, pc);
    const flow_function *f = &s->kernel->funcs[place.index];
    uint8_t touch = 0;
    for (uint32_t a = f->address_first[place.insn->pc]; a < f->address_first[place.insn->pc + 1];
         a++)
        touch |= f->addresses[a].space == IR_SPACE_SHARED ||
                         f->addresses[a].space == IR_SPACE_SHARED_CLUSTER ||
                         f->addresses[a].space == IR_SPACE_GENERIC
                     ? f->addresses[a].touch
                     : 0;
    return touch;
}

/* Does the instruction read memory, does it write? */
static bool ptx_reads(const ptx_subject *s, uint32_t pc)
{
    return touch_of_pc(s, pc) & FLOW_READ;
}

static bool ptx_writes(const ptx_subject *s, uint32_t pc)
{
    return touch_of_pc(s, pc) & FLOW_WRITE;
}

const char *ptx_array_name(const ptx_subject *s, const flow_array *array)
{
    return array->object == FLOW_NONE ? "" : s->kernel->objects[array->object].var->name;
}

/* ---- totals ---- */

/* Accesses with the same number of executions, which `times` is taken out of. */
typedef struct part {
    uint64_t times;
    flow_use_count use;
    char text[700];
} part;

typedef struct parts {
    part *data;
    uint32_t count, unknown;
} parts;

static void add_to_parts(const ptx_subject *s, parts *p, const flow_use_count *use)
{
    flow_use_count one = *use;
    char text[sizeof p->data->text];
    if (use->count.kind == FLOW_SOMETIMES) {
        p->unknown++;
        return;
    }
    one.count.times = 1;
    times_text(s, &one, text, sizeof text);
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->data[i].text, text) == 0) {
            p->data[i].times += use->count.times;
            return;
        }
    p->data[p->count].times = use->count.times;
    p->data[p->count].use = *use;
    memcpy(p->data[p->count++].text, text, sizeof text);
}

static void write_parts(const ptx_subject *s, parts *p, char *buffer, size_t size)
{
    char text[700];
    size_t at = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        p->data[i].use.count.times = p->data[i].times;
        at = append(buffer, size, at, i ? "; " : "");
        at = append(buffer, size, at, times_text(s, &p->data[i].use, text, sizeof text));
    }
    if (!p->unknown)
        return;
    snprintf(text, sizeof text, "%s%u access%s of which the number is not known", at ? " + " : "",
             p->unknown, p->unknown == 1 ? "" : "es");
    append(buffer, size, at, text);
}

char *ptx_total(const ptx_subject *s, const flow_array *array, bool writes, char *buffer,
                size_t size)
{
    parts p = {.data = calloc(array->count, sizeof *p.data)};
    snprintf(buffer, size, "%s", "");
    for (uint32_t i = array->first; p.data && i < array->first + array->count; i++) {
        const flow_use_count *use = &s->counts->uses[s->arrays->uses[i].use];
        if (writes ? ptx_writes(s, use->pc) : ptx_reads(s, use->pc))
            add_to_parts(s, &p, use);
    }
    if (p.data)
        write_parts(s, &p, buffer, size);
    free(p.data);
    return buffer;
}

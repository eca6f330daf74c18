/* Reads and loads the code of kernels. */
#include "replay/code.h"

#include "base/vec.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BANK_ALIGNMENT = 256, BANK_OF_PROGRAM = 3 };

typedef struct lifted_bank { /* memory of a constant bank */
    unsigned number;
    void *memory;
    uint64_t at, bytes;
} lifted_bank;

typedef struct replay_lifted {
    wl_arena *arena;
    sass_body body;
    emu_machine *machine;
    wl_vec(lifted_bank) banks;
} replay_lifted;

/* ---- modules ---- */

wl_status replay_source_take(const cap_module *r, replay_source *out)
{
    *out = (replay_source){.kind = r->kind,
                           .name = strdup(r->name),
                           .bytes = malloc(r->length + 1),
                           .length = r->length};
    if (!out->name || !out->bytes)
        return WL_NOMEM;
    memcpy(out->bytes, r->code, r->length);
    out->bytes[r->length] = '\0';
    if (out->kind == CAP_MODULE_CUBIN)
        cuda_cubin_variables(out->bytes, out->length, &out->variables);
    return WL_OK;
}

static void lifted_free(replay_lifted *l)
{
    if (!l)
        return;
    sass_body_clear(&l->body);
    for (size_t i = 0; i < l->banks.count; i++) {
        emu_mem_free(l->machine, l->banks.data[i].at);
        free(l->banks.data[i].memory);
    }
    wl_vec_free(&l->banks);
    wl_arena_free(l->arena);
    free(l);
}

static void code_free(replay_code *c)
{
    if (!c->machine)
        ir_module_free(c->ir);
    lifted_free(c->lifted);
    free(c->kernel);
    free(c);
}

void replay_source_unload(replay_source *s)
{
    for (replay_code *c = s->codes; c; c = c->hh.next) {
        emu_module_unload(c->loaded);
        c->loaded = NULL;
    }
}

void replay_source_clear(replay_source *s)
{
    replay_code *c, *next;
    HASH_ITER (hh, s->codes, c, next) {
        HASH_DEL(s->codes, c);
        code_free(c);
    }
    cuda_variables_clear(&s->variables);
    free(s->name);
    free(s->bytes);
    *s = (replay_source){0};
}

bool replay_source_tried(const replay_source *s)
{
    return s->codes != NULL;
}

/* ---- PTX ---- */

typedef struct code_place { /* where the variables of what is read lie */
    emu_machine *machine;
    emu_address_of address_of;
    void *ctx;
} code_place;

static wl_status load_ptx_code(replay_code *c, const replay_source *s, const code_place *place)
{
    wl_status status = ir_read(&ptx_front, s->bytes, s->length, s->name, &c->ir, &c->error);
    return status == WL_OK ? emu_module_load_at(place->machine, c->ir, place->address_of,
                                                place->ctx, &c->loaded, &c->error)
                           : status;
}

/* ---- machine code ---- */

typedef struct lifted_place {
    replay_lifted *lifted;
    const code_place *place;
} lifted_place;

/* The number of the bank that lifted code has as an array of that name; 0: it is another variable. */
static unsigned bank_number(const ir_var *var)
{
    unsigned number = 0;
    bool bank = var->space == IR_SPACE_CONST && sscanf(var->name, "__bank%u", &number) == 1;
    return bank ? number : 0;
}

static uint64_t add_bank(replay_lifted *l, unsigned number, uint64_t size)
{
    lifted_bank bank = {
        .number = number, .memory = calloc(1, size + 2 * BANK_ALIGNMENT), .bytes = size};
    if (!bank.memory)
        return 0;
    bank.at = ((uint64_t)(uintptr_t)bank.memory + BANK_ALIGNMENT - 1) &
              ~(uint64_t)(BANK_ALIGNMENT - 1);
    if (!wl_push(&l->banks, bank)) {
        free(bank.memory);
        return 0;
    }
    return emu_mem_ghost(l->machine, bank.at, size, EMU_ALLOC_CONST, 0) == WL_OK ? bank.at : 0;
}

/* Constant banks have memory of their own; what else has a name lies in global memory. */
static uint64_t lifted_address(void *ctx, const ir_var *var, uint64_t size)
{
    const lifted_place *p = ctx;
    unsigned number = bank_number(var);
    return number ? add_bank(p->lifted, number, size)
                  : p->place->address_of(p->place->ctx, var, size);
}

static wl_status load_lifted(replay_code *c, const replay_source *s, const code_place *place)
{
    replay_lifted *l = c->lifted = calloc(1, sizeof *l);
    if (!l || !(l->arena = wl_arena_new()))
        return wl_fail(&c->error, WL_NOMEM, "out of memory");
    l->machine = place->machine;
    wl_status status = sass_body_read(s->bytes, s->length, cuda_cubin_sm(s->bytes, s->length),
                                      c->kernel, l->arena, &l->body, &c->error);
    if (status != WL_OK)
        return status;
    c->machine = &l->body;
    c->ir = l->body.module;
    lifted_place lies = {l, place};
    return emu_module_load_at(place->machine, c->ir, lifted_address, &lies, &c->loaded, &c->error);
}

bool replay_code_settled(const replay_code *c, const ir_var *constant)
{
    unsigned number = bank_number(constant);
    return c->machine && number && number != BANK_OF_PROGRAM;
}

bool replay_code_is_program_bank(const replay_code *c, const ir_var *constant)
{
    return c->machine && bank_number(constant) == BANK_OF_PROGRAM;
}

unsigned char *replay_code_program_bank(const replay_code *c, uint64_t *bytes)
{
    for (size_t i = 0; c->lifted && i < c->lifted->banks.count; i++)
        if (c->lifted->banks.data[i].number == BANK_OF_PROGRAM) {
            *bytes = c->lifted->banks.data[i].bytes;
            return (unsigned char *)(uintptr_t)c->lifted->banks.data[i].at;
        }
    return NULL;
}

const cuda_variable *replay_source_constant(const replay_source *s, const char *name)
{
    for (size_t i = 0; i < s->variables.count; i++)
        if (s->variables.list[i].constant && strcmp(s->variables.list[i].name, name) == 0)
            return &s->variables.list[i];
    return NULL;
}

/* ---- both ---- */

replay_code *replay_code_of(replay_source *s, const char *kernel, emu_machine *machine,
                            emu_address_of address_of, void *ctx)
{
    const code_place place = {machine, address_of, ctx};
    const char *key = s->kind == CAP_MODULE_CUBIN ? kernel : "";
    replay_code *c = NULL;
    HASH_FIND_STR(s->codes, key, c);
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c || !(c->kernel = strdup(key))) {
        free(c);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, s->codes, c->kernel, strlen(c->kernel), c);
    c->status = *key ? load_lifted(c, s, &place) : load_ptx_code(c, s, &place);
    return c;
}

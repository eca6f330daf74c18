#include "ops_form.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void split_slots(char *field, ops_form *form, bool source)
{
    uint32_t n = 0;
    for (char *save, *slot = strtok_r(field, " ", &save); slot && n < OPS_MAX_SLOTS;
         slot = strtok_r(NULL, " ", &save), n++) {
        if (!source) {
            form->dst[n] = slot;
            continue;
        }
        char *colon = strchr(slot, ':');
        *colon = '\0';
        form->src[n] = slot;
        form->pool[n] = colon + 1;
    }
    *(source ? &form->nsrc : &form->ndst) = n;
}

static bool parse_row(char *line, ops_form *form)
{
    char *field[5];
    for (int i = 0; i < 5; i++) {
        field[i] = line;
        line = strchr(line, '\t');
        if (!line && i < 4)
            return false;
        if (line)
            *line++ = '\0';
    }
    *form = (ops_form){.family = field[0], .text = field[1], .tolerance = field[4]};
    split_slots(field[2], form, false);
    split_slots(field[3], form, true);
    return true;
}

bool ops_forms_read(const char *path, ops_forms *out)
{
    *out = (ops_forms){.storage = file_read(path, NULL)};
    if (!out->storage) {
        perror(path);
        return false;
    }
    size_t lines = 0;
    for (const char *c = out->storage; *c; c++)
        lines += *c == '\n';
    out->rows = calloc(lines + 1, sizeof *out->rows);
    for (char *save, *line = strtok_r(out->storage, "\n", &save); line && out->rows;
         line = strtok_r(NULL, "\n", &save)) {
        if (!parse_row(line, &out->rows[out->count])) {
            fprintf(stderr, "%s: row %u is malformed\n", path, out->count + 1);
            ops_forms_free(out);
            return false;
        }
        out->count++;
    }
    return out->rows != NULL;
}

void ops_forms_free(ops_forms *forms)
{
    free(forms->rows);
    free(forms->storage);
    *forms = (ops_forms){0};
}

uint32_t ops_width(const char *reg)
{
    return (uint32_t)atoi(reg + 1) / 8;
}

/* The form's text with {d0}, {s1}, {t0:b32} and {m0} as registers, "{{" and "}}" as braces. */
static void expand(FILE *out, const char *text, bool declare)
{
    for (const char *c = text; *c; c++) {
        if ((c[0] == '{' || c[0] == '}') && c[1] == c[0]) {
            if (!declare)
                fputc(*c, out);
            c++;
        } else if (*c == '{') {
            const char *end = strchr(c, '}'), *colon = memchr(c, ':', (size_t)(end - c));
            const char *stop = colon ? colon : end;
            if (!declare)
                fprintf(out, "%%%.*s", (int)(stop - c - 1), c + 1);
            else if (colon)
                fprintf(out, "%.*s %.*s\n", (int)(end - colon - 1), colon + 1, (int)(stop - c - 1),
                        c + 1);
            c = end;
        } else if (!declare) {
            if (c[0] == ';' && c[1] == ' ') {
                fputs(";\n", out);
                c++;
            } else {
                fputc(*c, out);
            }
        }
    }
}

/* Declares each scratch register once. */
static void declare_scratch(FILE *out, const char *text)
{
    char *list = NULL, *save;
    size_t size;
    FILE *names = open_memstream(&list, &size);
    expand(names, text, true);
    fclose(names);
    char seen[OPS_MAX_SLOTS][24];
    int n = 0;
    for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        bool known = false;
        for (int i = 0; i < n; i++)
            known |= strcmp(seen[i], line) == 0;
        if (known || n == OPS_MAX_SLOTS)
            continue;
        snprintf(seen[n++], sizeof seen[0], "%s", line);
        char *name = strchr(line, ' ');
        fprintf(out, "  .reg .%.*s %%%s;\n", (int)(name - line), line, name + 1);
    }
    free(list);
}

static void slot_access(FILE *out, bool load, uint32_t slot, const char *reg)
{
    const char *type = reg;
    uint32_t at = slot * OPS_THREADS * 8;
    if (load)
        fprintf(out, "  ld.global.%s %%s%u, [%%in+%u];\n", type, slot, at);
    else
        fprintf(out, "  st.global.%s [%%out+%u], %%d%u;\n", type, at, slot);
}

char *ops_form_ptx(const ops_form *form)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(".version 8.0\n.target sm_90\n.address_size 64\n"
          ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 pmem)\n{\n"
          "  .reg .b64 %in, %out, %m0, %wide;\n  .reg .b32 %i, %b, %n;\n",
          out);
    for (uint32_t i = 0; i < form->ndst; i++)
        fprintf(out, "  .reg .%s %%d%u;\n", form->dst[i], i);
    for (uint32_t i = 0; i < form->nsrc; i++)
        fprintf(out, "  .reg .%s %%s%u;\n", form->src[i], i);
    declare_scratch(out, form->text);
    fprintf(
        out,
        "  ld.param.u64 %%in, [pin];\n  ld.param.u64 %%out, [pout];\n  ld.param.u64 %%m0, [pmem];\n"
        "  mov.u32 %%i, %%tid.x;\n  mov.u32 %%b, %%ctaid.x;\n  mov.u32 %%n, %%ntid.x;\n"
        "  mad.lo.s32 %%i, %%b, %%n, %%i;\n"
        "  mul.wide.u32 %%wide, %%i, 8;\n  add.s64 %%in, %%in, %%wide;\n  add.s64 %%out, %%out, "
        "%%wide;\n"
        "  mul.wide.u32 %%wide, %%i, %d;\n  add.s64 %%m0, %%m0, %%wide;\n",
        OPS_CELL);
    for (uint32_t i = 0; i < form->nsrc; i++)
        slot_access(out, true, i, form->src[i]);
    expand(out, form->text, false);
    fputs(";\n", out);
    for (uint32_t i = 0; i < form->ndst; i++)
        slot_access(out, false, i, form->dst[i]);
    fputs("  ret;\n}\n", out);
    fclose(out);
    return text;
}

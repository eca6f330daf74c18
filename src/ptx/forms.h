/* The grammars of ops.def, read once: which forms an opcode has, which suffixes and operands each
 * takes. */
#ifndef WL_PTX_FORMS_H
#define WL_PTX_FORMS_H

#include "ptx/ir.h"

enum { PTX_SUFFIX_WORDS = PTX_SUFFIX_COUNT / 64 + 1, PTX_MAX_SLOTS = 20, PTX_MAX_ROLES = 12 };

typedef struct ptx_slot {
    uint64_t admits[PTX_SUFFIX_WORDS]; /* bit set over ptx_suffix */
    bool is_type, optional;
} ptx_slot;

typedef enum ptx_role_type {
    PTX_ROLE_INDEX,
    PTX_ROLE_WIDE,
    PTX_ROLE_NAMED,
    PTX_ROLE_UNCHECKED
} ptx_role_type;

typedef struct ptx_role {
    char letter;
    ptx_role_type by;
    uint8_t index; /* of the type suffix */
    ptx_type type; /* PTX_ROLE_NAMED */
    bool wider, optional;
    bool pair, pair_optional; /* "|q" and "|q?" */
} ptx_role;

typedef struct ptx_form_info {
    ptx_form form;
    uint16_t first_slot, nslots;
    uint16_t first_role, nroles;
} ptx_form_info;

/* The forms of an opcode. */
const ptx_form_info *ptx_forms_of(ptx_op op, unsigned *count);
const ptx_slot *ptx_slots_of(const ptx_form_info *form);
const ptx_role *ptx_roles_of(const ptx_form_info *form);
/* The form that the suffixes fit. Where none does: NULL, *closest is the form that gets furthest,
 * *bad the number of the first suffix that it does not take (nsuffixes where one is missing) and
 * *missing the slot that stays empty or -1. */
const ptx_form_info *ptx_match_form(const ptx_insn *insn, const ptx_form_info **closest,
                                    unsigned *bad, int *missing);
/* What is wrong with ops.def, or NULL. */
const char *ptx_forms_problem(void);
/* The text of a form's slot, without "?". */
void ptx_slot_text(const ptx_form_info *form, int slot, char *buffer, size_t size);

#endif

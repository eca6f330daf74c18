/* The grammars of ops.def, read once: which forms an opcode has, which suffixes and operands each
 * takes. */
#ifndef WL_IR_FORMS_H
#define WL_IR_FORMS_H

#include "ir/code.h"

enum { IR_SUFFIX_WORDS = IR_SUFFIX_COUNT / 64 + 1, IR_MAX_SLOTS = 20, IR_MAX_ROLES = 12 };

typedef struct ir_slot {
    uint64_t admits[IR_SUFFIX_WORDS]; /* bit set over ir_suffix */
    bool is_type, optional;
} ir_slot;

typedef enum ir_role_type {
    IR_ROLE_INDEX,
    IR_ROLE_WIDE,
    IR_ROLE_NAMED,
    IR_ROLE_UNCHECKED
} ir_role_type;

typedef struct ir_role {
    char letter;
    ir_role_type by;
    uint8_t index; /* of the type suffix */
    ir_type type;  /* IR_ROLE_NAMED */
    bool wider, optional;
    bool pair, pair_optional; /* "|q" and "|q?" */
} ir_role;

typedef struct ir_form_info {
    ir_form form;
    uint16_t first_slot, nslots;
    uint16_t first_role, nroles;
} ir_form_info;

const ir_role *ir_roles_of(const ir_form_info *form);
/* The form that the suffixes fit. Where none does: NULL, *closest is the form that gets furthest,
 * *bad the number of the first suffix that it does not take (nsuffixes where one is missing) and
 * *missing the slot that stays empty or -1. */
const ir_form_info *ir_match_form(const ir_insn *insn, const ir_form_info **closest, unsigned *bad,
                                  int *missing);
/* What is wrong with ops.def, or NULL. */
const char *ir_forms_problem(void);
/* The text of a form's slot, without "?". */
void ir_slot_text(const ir_form_info *form, int slot, char *buffer, size_t size);

#endif

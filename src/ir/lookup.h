/* Finding the words of the vocabulary by their text, for front ends that read text. */
#ifndef WL_IR_LOOKUP_H
#define WL_IR_LOOKUP_H

#include "ir/ops.h"

/* Looks up a text without its dot or percent sign by hash; 0 where there is none. */
ir_op ir_find_op(const char *text, size_t length, uint32_t hash);
ir_suffix ir_find_suffix(const char *text, size_t length, uint32_t hash);
/* `index` receives the number of a member of an indexed family. */
ir_sreg ir_find_sreg(const char *text, size_t length, uint32_t hash, uint32_t *index);

/* FNV-1a, a byte at a time. */
#define IR_HASH_START 2166136261u
static inline uint32_t ir_hash_step(uint32_t hash, unsigned char c)
{
    return (hash ^ c) * 16777619u;
}

static inline uint32_t ir_hash(const char *text, size_t length)
{
    uint32_t hash = IR_HASH_START;
    for (size_t i = 0; i < length; i++)
        hash = ir_hash_step(hash, (unsigned char)text[i]);
    return hash;
}

/* The member of a vocabulary that looks most like the text, for hints; NULL where none does. */
typedef enum ir_vocabulary { IR_VOC_OPS, IR_VOC_SUFFIXES, IR_VOC_SREGS } ir_vocabulary;
const char *ir_nearest(ir_vocabulary vocabulary, const char *text, size_t length);

#endif

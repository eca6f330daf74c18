/* The decoders of unsupported.def's opcodes: each says why. */
#include "emu/decode.h"

#define X(id, reason)                                     \
    void emu_decode_##id(emu_decode *d, const ir_insn *i) \
    {                                                     \
        (void)i;                                          \
        emu_unsupported(d, "%s", reason);                 \
    }
#include "emu/unsupported.def"
#undef X

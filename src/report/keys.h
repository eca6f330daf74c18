/* The keys of both JSON outputs by the rows of keys.def: K(launch, id) is "id". A key without a row
 * does not compile; tools/gen_keys.py complains about a row that nothing writes. */
#ifndef WL_REPORT_KEYS_H
#define WL_REPORT_KEYS_H

#define TYPE(type, interface, text)
#define SAME(type, other, need)
#define WORDS(name, ...)

typedef enum rep_key {
#define KEY(type, key, shape, need, text) REP_KEY_##type##_##key,
#include "report/keys.def"
#undef KEY
    REP_KEY_COUNT
} rep_key;

static const char *const rep_key_texts[REP_KEY_COUNT] = {
#define KEY(type, key, shape, need, text) #key,
#include "report/keys.def"
#undef KEY
};

#undef TYPE
#undef SAME
#undef WORDS

#define K(type, key) (rep_key_texts[REP_KEY_##type##_##key])

#endif

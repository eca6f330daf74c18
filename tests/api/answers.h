/* CUDA's functions in the test's own process, called by name; the arguments decide the type. */
#ifndef WL_TESTS_API_ANSWERS_H
#define WL_TESTS_API_ANSWERS_H

#include "api/both/entry.h"
#include "cuda/types.h"
#include "support/test.h"

#define ARGS(...) (__VA_ARGS__)
/* A function of the runtime of this major release; of the driver where that is 0. */
#define CALL_OF(release, symbol, types, ...) \
    ((int(*) types)(void *)entry_named(#symbol, release))(__VA_ARGS__)
#define CALL(symbol, types, ...) CALL_OF(13, symbol, types, __VA_ARGS__)
#define DRIVER(symbol, types, ...) CALL_OF(0, symbol, types, __VA_ARGS__)
/* The result, by its number in CUDA's headers. */
#define EXPECT(code, call)                                            \
    do {                                                              \
        int result_ = (call);                                         \
        if (result_ != (code))                                        \
            fail_msg("%s: %d instead of %d", #call, result_, (code)); \
    } while (0)
#define OK(call) EXPECT(0, call)

static inline inj_code entry_named(const char *symbol, int release)
{
    bool implemented;
    inj_code found = api_entry_find(symbol, release, &implemented);
    if (!found || !implemented)
        fail_msg("%s is not there", symbol);
    return found;
}

#endif

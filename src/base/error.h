/* Status codes and error messages.
 *
 * Every function that can fail returns a wl_status. A function that can say more than the code
 * takes a wl_error and fills it on failure only; the message is a full sentence without a final
 * newline that says what to do where that is known. */
#ifndef WL_BASE_ERROR_H
#define WL_BASE_ERROR_H

typedef enum wl_status {
#define X(id, text) WL_##id,
#include "base/errors.def"
#undef X
    WL_STATUS_COUNT
} wl_status;

typedef struct wl_error {
    wl_status status;
    char text[1024];
} wl_error;

/* The text of a status code; never NULL. */
const char *wl_status_text(wl_status status);

/* Fills `err` (which may be NULL) and returns `status`, so that a failing function can end with one
 * statement. */
wl_status wl_fail(wl_error *err, wl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As wl_fail, with the text of errno appended and the status derived from it (ENOSPC -> WL_NOSPACE,
 * ENOENT, ...). */
wl_status wl_fail_errno(wl_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The analyzer does not see into these two and must know that a failure is never WL_OK. */
static inline wl_status wl_failure(wl_status status)
{
    if (status == WL_OK)
        __builtin_unreachable();
    return status;
}
#define wl_fail(...) wl_failure(wl_fail(__VA_ARGS__))
#define wl_fail_errno(...) wl_failure(wl_fail_errno(__VA_ARGS__))
#endif

#endif

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wl_status_text(wl_status status)
{
    static const char *const texts[] = {
#define X(id, text) [WL_##id] = text,
#include "base/errors.def"
#undef X
    };
    return (unsigned)status < WL_STATUS_COUNT ? texts[status] : "unknown status";
}

wl_status(wl_fail)(wl_error *err, wl_status status, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

static wl_status status_of_errno(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT: return WL_NOSPACE;
    case ENOENT: return WL_NOENT;
    case EEXIST: return WL_EXISTS;
    case ENOMEM: return WL_NOMEM;
    default: return WL_IO;
    }
}

wl_status(wl_fail_errno)(wl_error *err, const char *format, ...)
{
    int code = errno;
    wl_status status = status_of_errno(code);
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = status;
    const char *reason = strerror(code), *cut = "";
    size_t room = sizeof err->text - sizeof "...: " - strlen(reason);
    if (used >= 0 && (size_t)used > room) { /* a long name may be cut, the reason not */
        used = (int)room;
        cut = "...";
    }
    if (used >= 0)
        snprintf(err->text + used, sizeof err->text - (size_t)used, "%s: %s", cut, reason);
    return status;
}

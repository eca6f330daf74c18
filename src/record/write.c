/* Records, what is said when one is lost, and which launches are observed. */
#include "base/log.h"
#include "base/names.h"
#include "program/kernel_name.h"
#include "program/options.h"
#include "record/parts.h"
#include "record/record.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- failures ---- */

/* A record that is too large or finds no memory is lost alone; other failures end the recording. */
void rec_not_written(wl_status status)
{
    static bool said_lost, said_end;
    wl_error err = {0};
    if (cap_state(rec_g.writer, &err) != WL_OK) {
        if (!said_end)
            wl_log(WL_LOG_ERROR, "Recording ends here: %s", err.text);
        said_end = true;
        rec_g.observe = false;
    } else if (!said_lost) {
        said_lost = true;
        wl_log(WL_LOG_ERROR, "Something could not be recorded (%s).", wl_status_text(status));
    }
}

/* ---- messages ---- */

/* A program with C++ kernels has the demangler of its own C++ library; without one names stay as
 * they are. */
void rec_say(wl_log_level level, const char *text)
{
    wl_demangle *demangle = strstr(text, "_Z")
                                ? (wl_demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle")
                                : NULL;
    char *plain = demangle ? wl_demangle_words(text, demangle) : NULL;
    wl_log(level, "%s", plain ? plain : text);
    free(plain);
}

static void write_message(wl_log_level level, const char *text)
{
    cap_message message = {.level = level, .text = text};
    REC_WRITE(message, &message);
}

void rec_message(wl_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rec_say(level, text);
    write_message(level, text);
}

void rec_remark(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_message(WL_LOG_INFO, text);
}

void rec_skipped(uint32_t call, const char *kernel, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cap_skipped record = {.kernel = kernel, .reason = text, .call = call};
    REC_WRITE(skipped, &record);
}

void rec_stop_observing(const char *format, ...)
{
    if (!rec_g.observe)
        return;
    rec_g.observe = false;
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rec_message(WL_LOG_ERROR, "Launches are no longer observed: %s", text);
}

/* ---- objects, streams and modules ---- */

uint32_t rec_object_new(void)
{
    return ++rec_g.next_object;
}

void rec_object_unused(void)
{
    rec_g.next_object--;
}

void rec_freed(uint32_t object, uint32_t call, cap_freed_how how)
{
    rec_parts_end_with(object, call, how);
    cap_free record = {.object = object, .call = call, .how = how};
    REC_WRITE(free, &record);
}

uint64_t rec_stream(cap_stream *stream)
{
    static bool has_default;
    bool first = stream->kind == CAP_STREAM_LEGACY && !has_default;
    has_default |= first;
    stream->id = first ? 0 : ++rec_g.next_stream;
    REC_WRITE(stream, stream);
    return stream->id;
}

uint32_t rec_pool(cap_pool_kind kind, uint32_t device)
{
    cap_pool record = {.id = ++rec_g.next_pool, .kind = kind, .device = device};
    REC_WRITE(pool, &record);
    return record.id;
}

void rec_pool_state(cap_pool_state *told, const cap_pool_state *now)
{
    if (!now->pool || (told->reserved == now->reserved && told->used == now->used))
        return;
    *told = *now;
    REC_WRITE(pool_state, now);
}

void rec_refused(uint32_t call, uint64_t free_bytes, uint64_t total)
{
    cap_refusal record = {.call = call, .free = free_bytes, .total = total};
    REC_WRITE(refusal, &record);
}

uint32_t rec_module(cap_module_kind kind, const char *name, const char *code, uint64_t length,
                    uint32_t beside)
{
    cap_module record = {.id = ++rec_g.next_module,
                         .kind = kind,
                         /* What is too long is not written, nor read. */
                         .hash = length <= CAP_MAX_PAYLOAD ? XXH64(code, length, 0) : 0,
                         .name = name,
                         .code = code,
                         .length = length,
                         .beside = beside};
    REC_WRITE(module, &record);
    return record.id;
}

/* ---- launches ---- */

static bool profiler_on; /* by the program's own calls; atomic */

void rec_profiler(bool on)
{
    __atomic_store_n(&profiler_on, on, __ATOMIC_RELAXED);
}

/* True where the option leaves the choice to the program, and it has not begun. */
static bool before_profiler(const prog_options *options)
{
    return strcmp(options->from_start, "off") == 0 &&
           !__atomic_load_n(&profiler_on, __ATOMIC_RELAXED);
}

static const char *why_left_out(bool asked, bool in_ranges)
{
    const prog_options *options = prog_options_get();
    if (!rec_g.observe)
        return "observation was switched off";
    if (!asked)
        return "left out by --kernel-name or --kernel-name-exclude";
    if (before_profiler(options))
        return "left out by --profile-from-start off: not between cudaProfilerStart and Stop";
    if (!in_ranges)
        return "left out by --nvtx-include or --nvtx-exclude";
    if (rec_g.matched < options->launch_skip)
        return "left out by --launch-skip";
    if (options->launch_count && rec_g.matched - options->launch_skip >= options->launch_count)
        return "left out by --launch-count";
    return NULL;
}

const char *rec_left_out(const char *kernel, bool in_ranges)
{
    return why_left_out(prog_kernel_asked(kernel), in_ranges);
}

const char *rec_choose(const char *kernel, bool in_ranges)
{
    bool asked = prog_kernel_asked(kernel);
    const char *reason = why_left_out(asked, in_ranges);
    rec_g.matched += asked && in_ranges && rec_g.observe && !before_profiler(prog_options_get());
    return reason;
}

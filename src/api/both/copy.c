/* Copies and sets on streams. */
#include "api/both/copy.h"

dev_place api_place(api_where where, uint64_t address)
{
    return (dev_place){.address = address,
                       .given = where != ANYWHERE,
                       .expect = where == ON_HOST ? DEV_MEMORY_HOST : DEV_MEMORY_DEVICE};
}

dev_result api_copy(dev_call *call, CUstream handle, bool per_thread, const dev_copy *copy,
                    bool blocking)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_do_copy(call, stream, copy, blocking);
}

dev_result api_copy_bytes(dev_call *call, CUstream stream, bool per_thread, dev_place to,
                          dev_place from, size_t bytes, bool blocking)
{
    dev_copy copy = {.from = from, .to = to, .width = bytes, .height = 1, .depth = 1};
    return api_copy(call, stream, per_thread, &copy, blocking);
}

dev_set api_rows(uint64_t address, size_t pitch, unsigned value, unsigned element, size_t width,
                 size_t height)
{
    return (dev_set){.address = address,
                     .pitch = pitch,
                     .value = value,
                     .element = element,
                     .width = width,
                     .height = height,
                     .depth = 1};
}

dev_result api_set(dev_call *call, CUstream handle, bool per_thread, dev_set set, bool blocking)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_do_set(call, stream, &set, blocking);
}

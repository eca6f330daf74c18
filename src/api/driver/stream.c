/* Streams in the driver interface: waits for values in memory, and writes of them. */
#include "api/driver/driver.h"

dev_result dr_wait_value(dev_call *call, CUstream handle, bool per_thread, CUdeviceptr address,
                         uint64_t value, unsigned bytes, unsigned flags)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_do_wait_value(call, stream, address, value, bytes, flags);
}

dev_result dr_write_value(dev_call *call, CUstream handle, bool per_thread, CUdeviceptr address,
                          uint64_t value, unsigned bytes)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_do_write_value(call, stream, address, value, bytes);
}

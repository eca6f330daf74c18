/* Streams that are being captured: while there is one, most of what asks about a whole context is
 * forbidden, and ends the capture. Streams that join one later are not listed; the first of them
 * is. */
#include "shim/driver/driver.h"

#include "record/record.h"

static wl_vec(uint64_t) streams;

bool drv_capturing(void)
{
    return streams.count != 0;
}

bool drv_in_capture(uint64_t stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = DRIVER(CUDA_SUCCESS, cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *),
                             drv_stream_handle(stream), &status);
    /* Another failure is one of earlier work on the device. */
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool drv_is_captured(uint64_t stream)
{
    pthread_mutex_lock(&rec_g.lock);
    bool any = streams.count != 0;
    pthread_mutex_unlock(&rec_g.lock);
    return any && drv_in_capture(stream);
}

static void remove_captured_stream(uint64_t stream, bool once)
{
    pthread_mutex_lock(&rec_g.lock);
    for (size_t i = streams.count; i-- > 0;)
        if (streams.data[i] == stream) {
            streams.data[i] = streams.data[--streams.count];
            if (once)
                break;
        }
    pthread_mutex_unlock(&rec_g.lock);
}

void drv_capture_ended(uint64_t stream)
{
    remove_captured_stream(stream, false);
}

void drv_capture_begins(uint64_t stream)
{
    pthread_mutex_lock(&rec_g.lock);
    (void)wl_push(&streams, stream);
    pthread_mutex_unlock(&rec_g.lock);
}

void drv_capture_refused(uint64_t stream)
{
    remove_captured_stream(stream, true);
}

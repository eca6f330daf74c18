/* Hostile captures made into profiles. The input is a capture without its frames: type, two bytes
 * of length, payload, and so on; each record gets a frame with the right checksum, so that what is
 * fuzzed lies behind the reader. A profile that comes out of it must open. */
#include "../support/records.h"
#include "capture/records.h"
#include "profile/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], capture[80], profile[80];

static void remove_files(void)
{
    unlink(capture);
    unlink(profile);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    snprintf(folder, sizeof folder, "%s/warplens-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        abort();
    snprintf(capture, sizeof capture, "%s/capture", folder);
    snprintf(profile, sizeof profile, "%s/profile", folder);
    atexit(remove_files);
    return 0;
}

static void frame(cap_buffer *b, uint32_t type, const uint8_t *payload, size_t size)
{
    put_number(b, type, 4);
    put_number(b, 0, 4);
    put_number(b, size, 8);
    put_number(b, cap_hash(type, 0, payload, size), 8);
    put_bytes(b, payload, size);
}

static void write_capture(const uint8_t *data, size_t size)
{
    cap_buffer b = {0};
    put_bytes(&b, cap_magic, 8);
    put_number(&b, CAP_VERSION, 8);
    while (size >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;
        length = length < size - 3 ? length : size - 3;
        frame(&b, data[0], data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    int fd = open(capture, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, b.data, b.size) != (ssize_t)b.size)
        abort();
    close(fd);
    cap_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *captures[] = {capture};
    prof_options options = {.force = true, .no_sources = true};
    prof_db *db;
    wl_error err;
    write_capture(data, size);
    if (prof_import(captures, 1, profile, &options, &err) == WL_OK) {
        if (prof_open(profile, &db, &err) != WL_OK)
            abort();
        prof_close(db);
    }
    return 0;
}

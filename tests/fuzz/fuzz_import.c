/* Hostile captures made into profiles. The input is a capture without its frames (see
 * unframed.h); each record gets one with the right checksum, so that what is fuzzed lies behind the
 * reader. A profile that comes out of it must open. */
#include "profile/profile.h"
#include "unframed.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *captures[] = {capture};
    prof_options options = {.force = true, .no_sources = true};
    prof_db *db;
    wl_error err;
    if (!write_framed(capture, data, size))
        abort();
    if (prof_import(captures, 1, profile, &options, &err) == WL_OK) {
        if (prof_open(profile, &db, &err) != WL_OK)
            abort();
        prof_close(db);
    }
    return 0;
}

#include "capture/capture.h"
#include "capture/records.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum {
    HIGH_FD = 200,         /* applications and shells use the low ones, some of them by number */
    COMPRESS_ABOVE = 4096, /* bytes of payload */
    COMPRESS_LEVEL = 1,
    HOLD_BYTES = 1 << 20,
    MOST_RECORDS = 2048 /* bytes that hold most records */
};

struct cap_writer {
    pthread_mutex_t lock; /* guards all below */
    int fd;               /* -1: abandoned */
    dev_t device;         /* of our file: what fd must still be */
    ino_t inode;
    char *path; /* absolute */
    off_t size; /* of whole records */
    uint64_t written;
    wl_error error; /* status WL_OK while all is well */
    ZSTD_CCtx *zstd;
    uint8_t *held; /* records that wait for the next write; HOLD_BYTES, or NULL */
    size_t nheld;
    bool hold;
};

/* ---- frames ---- */

static void put_frame_start(uint8_t *at, uint32_t type, uint32_t flags, uint64_t size)
{
    at = cap_put_at(at, type, 4);
    at = cap_put_at(at, flags, 4);
    cap_put_at(at, size, 8);
}

/* Puts the hash into a frame that is whole but for it; returns the bytes of frame and payload. */
static size_t seal_frame(uint8_t *at)
{
    uint32_t type = (uint32_t)cap_get_at(at, 4), flags = (uint32_t)cap_get_at(at + 4, 4);
    uint64_t size = cap_get_at(at + 8, 8);
    cap_put_at(at + 16, cap_hash(type, flags, at + CAP_FRAME_BYTES, size), 8);
    return CAP_FRAME_BYTES + size;
}

/* ---- the file ---- */

/* An absolute name, so that a change of directory does not lose the file. */
static char *absolute(const char *path)
{
    char *joined = NULL;
    if (path[0] == '/')
        return strdup(path);
    char *folder = getcwd(NULL, 0);
    if (folder && asprintf(&joined, "%s/%s", folder, path) < 0)
        joined = NULL;
    free(folder);
    return joined;
}

/* The descriptor moved out of the way, or the same where that is not possible. */
static int move_high(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* For as long as the descriptor is open, in any process: what cap_in_use() asks about. Where the
 * file system has no locks the capture counts as left. */
static void lock_capture(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    (void)fcntl(fd, F_OFD_SETLK, &whole);
}

bool cap_in_use(const char *path)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool used = fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return used;
}

static bool is_capture_fd(const cap_writer *w, int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == w->device && st.st_ino == w->inode;
}

/* The application may have closed the descriptor, and its number may belong to a file of its own
 * since. */
static bool reopen(cap_writer *w)
{
    int fd = open(w->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && !is_capture_fd(w, fd)) {
        close(fd);
        errno = ESTALE;
        return false;
    }
    w->fd = fd < 0 ? -1 : move_high(fd);
    if (fd >= 0)
        lock_capture(w->fd);
    return fd >= 0;
}

/* ---- signals and cancellation: a limit on file sizes must not kill the application, and a thread
 * that is cancelled must not take the lock with it ---- */

typedef struct shelter {
    sigset_t before;
    bool pending;
    int cancel;
} shelter;

static void shelter_begin(shelter *s)
{
    sigset_t limit, pending;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &s->cancel);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    s->pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &limit, &s->before);
}

/* `limited`: a write failed with EFBIG, so that the signal came and is ours to take. */
static void shelter_end(const shelter *s, bool limited)
{
    sigset_t limit;
    const struct timespec now = {0};
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (limited && !s->pending)
        sigtimedwait(&limit, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    pthread_setcancelstate(s->cancel, NULL);
}

/* All of it; false with errno where that fails. */
static bool write_fully(int fd, const uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : EIO;
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static wl_status fail_writing(cap_writer *w, const char *what)
{
    int code = errno;
    wl_status status = wl_fail_errno(&w->error, "%s %s", what, w->path);
    if (code == EFBIG)
        status = w->error.status = WL_NOSPACE;
    return status;
}

/* Appends whole records; a torn one is taken back. */
static wl_status append_now(cap_writer *w, const uint8_t *data, size_t size)
{
    shelter s;
    wl_status status = WL_OK;
    bool limited = false;
    int code = errno;
    shelter_begin(&s);
    if (!is_capture_fd(w, w->fd) && !reopen(w)) {
        status = fail_writing(w, "Cannot open again");
    } else if (!write_fully(w->fd, data, size)) {
        limited = errno == EFBIG;
        status = fail_writing(w, "Cannot write to");
        if (ftruncate(w->fd, w->size) < 0)
            status = w->error.status; /* the reader finds the last record cut off */
    } else {
        w->size += (off_t)size;
    }
    shelter_end(&s, limited);
    errno = code;
    return status;
}

/* Hashes were left for when there is time. */
static void seal_held(cap_writer *w)
{
    for (size_t at = 0; at < w->nheld;)
        at += seal_frame(w->held + at);
}

static wl_status flush_held(cap_writer *w)
{
    seal_held(w);
    size_t size = w->nheld;
    w->nheld = 0;
    return size && w->fd >= 0 && !w->error.status ? append_now(w, w->held, size) : WL_OK;
}

static wl_status append_or_hold(cap_writer *w, const uint8_t *data, size_t size)
{
    bool hold = w->hold && size <= HOLD_BYTES;
    wl_status status = !hold || w->nheld + size > HOLD_BYTES ? flush_held(w) : WL_OK;
    if (status || !hold)
        return status ? status : append_now(w, data, size);
    memcpy(w->held + w->nheld, data, size);
    w->nheld += size;
    return WL_OK;
}

wl_status cap_hold(cap_writer *w, bool hold)
{
    wl_status status = WL_OK;
    pthread_mutex_lock(&w->lock);
    if (hold && !w->held)
        w->held = malloc(HOLD_BYTES);
    w->hold = hold && w->held;
    if (!hold)
        status = flush_held(w);
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* ---- creating, closing ---- */

static wl_status create_file(cap_writer *w, const char *path, wl_error *err)
{
    uint8_t header[CAP_HEADER_BYTES] = {0};
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return wl_fail_errno(err, "Cannot create %s", path);
    w->fd = move_high(fd);
    lock_capture(w->fd);
    memcpy(header, cap_magic, sizeof cap_magic);
    header[8] = CAP_VERSION;
    wl_status status = fstat(w->fd, &st) < 0 ? fail_writing(w, "Cannot look at") : WL_OK;
    w->device = st.st_dev;
    w->inode = st.st_ino;
    status = status ? status : append_or_hold(w, header, sizeof header);
    if (status) {
        unlink(path);
        if (err)
            *err = w->error;
    }
    return status;
}

static wl_status open_again(cap_writer *w, const char *path, uint64_t size, wl_error *err)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return wl_fail_errno(err, "Cannot open %s", path);
    w->fd = move_high(fd);
    if (fstat(w->fd, &st) < 0)
        return wl_fail_errno(err, "Cannot look at %s", path);
    w->device = st.st_dev;
    w->inode = st.st_ino;
    w->size = (off_t)size;
    if ((uint64_t)st.st_size < size)
        return wl_fail(err, WL_TRUNCATED, "%s was cut short.", path);
    return ftruncate(w->fd, w->size) < 0 ? wl_fail_errno(err, "Cannot write to %s", path) : WL_OK;
}

static void writer_free(cap_writer *w)
{
    flush_held(w);
    if (w->fd >= 0 && is_capture_fd(w, w->fd))
        close(w->fd);
    free(w->held);
    ZSTD_freeCCtx(w->zstd);
    pthread_mutex_destroy(&w->lock);
    free(w->path);
    free(w);
}

static cap_writer *new_writer(const char *path)
{
    cap_writer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->fd = -1;
    w->path = absolute(path);
    w->zstd = ZSTD_createCCtx();
    if (w->path && w->zstd)
        return w;
    writer_free(w);
    return NULL;
}

wl_status cap_create(const char *path, cap_writer **out, wl_error *err)
{
    cap_writer *w = new_writer(path);
    wl_status status = w ? create_file(w, path, err)
                         : wl_fail(err, WL_NOMEM, "Cannot create %s: out of memory.", path);
    if (status == WL_OK)
        *out = w;
    else if (w)
        writer_free(w);
    return status;
}

wl_status cap_append(const char *path, uint64_t size, cap_writer **out, wl_error *err)
{
    cap_writer *w = new_writer(path);
    wl_status status = w ? open_again(w, path, size, err)
                         : wl_fail(err, WL_NOMEM, "Cannot write to %s: out of memory.", path);
    if (status == WL_OK)
        *out = w;
    else if (w)
        writer_free(w);
    return status;
}

void cap_close(cap_writer *w)
{
    if (w)
        writer_free(w);
}

void cap_abandon(cap_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0 && is_capture_fd(w, w->fd))
        close(w->fd);
    w->fd = -1;
}

/* ---- records ---- */

/* The record compressed, on the heap, where that makes it smaller; else NULL. */
static uint8_t *compress(cap_writer *w, const cap_buffer *plain, size_t *size)
{
    size_t payload = plain->size - CAP_FRAME_BYTES, room = ZSTD_compressBound(payload);
    uint8_t *data = payload > COMPRESS_ABOVE ? malloc(CAP_FRAME_BYTES + room) : NULL;
    if (!data)
        return NULL;
    size_t n = ZSTD_compressCCtx(w->zstd, data + CAP_FRAME_BYTES, room,
                                 plain->data + CAP_FRAME_BYTES, payload, COMPRESS_LEVEL);
    if (ZSTD_isError(n) || n >= payload) {
        free(data);
        return NULL;
    }
    *size = n;
    return data;
}

static wl_status append_record(cap_writer *w, uint32_t type, cap_buffer *plain)
{
    size_t size = plain->size - CAP_FRAME_BYTES;
    uint8_t *packed = compress(w, plain, &size), *data = packed ? packed : plain->data;
    put_frame_start(data, type, packed ? CAP_FLAG_ZSTD : 0, size);
    seal_frame(data);
    wl_status status = append_or_hold(w, data, CAP_FRAME_BYTES + size);
    free(packed);
    return status;
}

static wl_status finish_record(cap_writer *w, uint32_t type, cap_buffer *plain)
{
    pthread_mutex_lock(&w->lock);
    wl_status status = plain->status;
    if (w->error.status)
        status = w->error.status;
    else if (w->fd < 0)
        status = WL_STATE;
    else if (!status)
        status = append_record(w, type, plain);
    w->written += !status;
    pthread_mutex_unlock(&w->lock);
    cap_buffer_free(plain);
    return status;
}

/* Room for the payload of one more record after those that are held, with the lock, which
 * end_held() gives back. NULL, without it, where none are held or the record is too large. */
static uint8_t *begin_held(cap_writer *w, uint32_t type, size_t size)
{
    if (size > COMPRESS_ABOVE)
        return NULL;
    pthread_mutex_lock(&w->lock);
    if (!w->hold || w->fd < 0 || w->error.status ||
        HOLD_BYTES - w->nheld < CAP_FRAME_BYTES + size) {
        pthread_mutex_unlock(&w->lock);
        return NULL;
    }
    uint8_t *at = w->held + w->nheld;
    put_frame_start(at, type, 0, size);
    w->nheld += CAP_FRAME_BYTES + size;
    w->written++;
    return at + CAP_FRAME_BYTES;
}

static void end_held(cap_writer *w)
{
    pthread_mutex_unlock(&w->lock);
}

/* A record that is not held. */
#define X(id, number, type)                                                                \
    static __attribute__((noinline)) wl_status append_##type(cap_writer *w,                \
                                                             const cap_##type *record)     \
    {                                                                                      \
        uint8_t room[MOST_RECORDS];                                                        \
        cap_buffer b = {                                                                   \
            .data = room, .capacity = sizeof room, .size = CAP_FRAME_BYTES, .lent = true}; \
        cap_put_cap_##type(&b, record);                                                    \
        return finish_record(w, number, &b);                                               \
    }
#include "capture/events.def"
#undef X

#define X(id, number, type)                                                  \
    wl_status cap_write_##type(cap_writer *writer, const cap_##type *record) \
    {                                                                        \
        uint8_t *at = begin_held(writer, number, cap_size_##type(record));   \
        if (!at)                                                             \
            return append_##type(writer, record);                            \
        cap_encode_##type(at, record);                                       \
        end_held(writer);                                                    \
        return WL_OK;                                                        \
    }
#include "capture/events.def"
#undef X

uint64_t cap_written(cap_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t written = w->written;
    pthread_mutex_unlock(&w->lock);
    return written;
}

wl_status cap_state(cap_writer *w, wl_error *err)
{
    pthread_mutex_lock(&w->lock);
    wl_status status = w->error.status;
    if (status && err)
        *err = w->error;
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* Opening a profile that may come from anywhere, and copying one. */
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A path as an SQLite URI. immutable: no journal beside the file is looked at, nothing is locked or
 * written. */
static char *sqlite_uri_of(const char *path)
{
    static const char ending[] = "?immutable=1";
    char *uri = malloc(3 * strlen(path) + sizeof "file:" + sizeof ending);
    if (!uri)
        return NULL;
    char *to = stpcpy(uri, "file:");
    for (const char *p = path; *p; p++)
        if (strchr("%?#", *p))
            to += sprintf(to, "%%%02X", (unsigned)*p);
        else
            *to++ = *p;
    strcpy(to, ending);
    return uri;
}

wl_status prof_check_path(const char *path, wl_error *err)
{
    static const char endings[] = "/.XXXXXX-journal";
    const char *slash = strrchr(path, '/');
    size_t most = (size_t)sqlite3_vfs_find(NULL)->mxPathname - sizeof endings;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *full = folder ? realpath(folder, NULL) : NULL;
    size_t length = (full ? strlen(full) : 0) + strlen(slash ? slash + 1 : path);
    free(folder);
    free(full); /* without it, whoever opens the file says what is wrong */
    return length <= most ? WL_OK
                          : wl_fail(err, WL_ARG,
                                    "The name is too long for a profile: %zu bytes with its "
                                    "folders, %zu are possible; give a shorter one.",
                                    length, most);
}

static wl_status check_file(const char *path, wl_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return wl_fail_errno(err, "Cannot open %s", path);
    wl_status status = prof_check_path(path, err);
    if (status != WL_OK)
        return status;
    return S_ISREG(st.st_mode) ? WL_OK : wl_fail(err, WL_ARG, "%s is not a file.", path);
}

/* Nothing that the file says is run: no triggers, no functions in its schema, and no views until
 * check_schema has found them to be ours. */
static void harden(sqlite3 *sql)
{
    sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, DB_MAX_VALUE);
    sqlite3_limit(sql, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(sql, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

static bool is_capture(const char *path)
{
    char start[8] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    return n == sizeof start && memcmp(start, "WLCAPTUR", sizeof start) == 0;
}

static wl_status pragma(sqlite3 *sql, const char *text, int64_t *value)
{
    sqlite3_stmt *stmt = NULL;
    *value = 0;
    int rc = sqlite3_prepare_v2(sql, text, -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? WL_OK : WL_CORRUPT;
}

static wl_status check_ids(sqlite3 *sql, const char *path, wl_error *err)
{
    int64_t application, version;
    wl_status status = pragma(sql, "PRAGMA application_id", &application);
    if (status != WL_OK || application != PROF_APPLICATION_ID) {
        return wl_fail(
            err, WL_CORRUPT,
            is_capture(path)
                ? "%s is a capture: 'warplens import' makes a profile of the folder that it is in."
                : "%s is not a warplens profile.",
            path);
    }
    status = pragma(sql, "PRAGMA user_version", &version);
    if (status == WL_OK && version != PROF_VERSION) {
        return wl_fail(err, WL_VERSION,
                       "%s has schema %lld, and this warplens reads schema %d only: profile the "
                       "program again, or read it with the warplens that wrote it.",
                       path, (long long)version, PROF_VERSION);
    }
    return status == WL_OK ? WL_OK : wl_fail(err, WL_CORRUPT, "%s is damaged.", path);
}

/* The text of the definition of a table or view; "" where there is no such one. */
static wl_status definition(sqlite3 *sql, const char *type, const char *name, wl_arena *arena,
                            const char **text)
{
    sqlite3_stmt *stmt = NULL;
    *text = "";
    int rc = sqlite3_prepare_v2(sql, "SELECT sql FROM sqlite_schema WHERE type = ? AND name = ?",
                                -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC) : rc;
    rc = rc == SQLITE_OK ? sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC) : rc;
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    if (rc == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(stmt, 0);
        *text = wl_arena_strdup(arena, found ? found : "");
    }
    sqlite3_finalize(stmt);
    return *text ? WL_OK : WL_NOMEM;
}

/* Each table and view of ours must be defined as we define it: a profile cannot bring a view, a
 * virtual table or computed columns under a table's name, nor another statement under a view's. */
static wl_status check_definitions(sqlite3 *sql, sqlite3 *reference, wl_arena *arena,
                                   const char *path, wl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    wl_status status = db_prepare(reference,
                                  "SELECT type, name, sql FROM sqlite_schema "
                                  "WHERE type IN ('table', 'view')",
                                  &stmt, err);
    while (status == WL_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *found, *type = (const char *)sqlite3_column_text(stmt, 0);
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        const char *expected = (const char *)sqlite3_column_text(stmt, 2);
        status = definition(sql, type, name, arena, &found);
        if (status == WL_OK && expected && strcmp(found, expected) != 0) {
            status = wl_fail(
                err, *found ? WL_VERSION : WL_CORRUPT,
                *found ? "%s: %s %s is not as this warplens writes it. Use the warplens that wrote "
                         "the profile."
                       : "%s is damaged: it has no %s %s.",
                path, type, name);
        }
    }
    sqlite3_finalize(stmt);
    return status;
}

static wl_status check_schema(sqlite3 *sql, const char *path, wl_error *err)
{
    sqlite3 *reference = NULL;
    wl_arena *arena = wl_arena_new();
    int rc = sqlite3_open_v2(":memory:", &reference, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
                             NULL);
    wl_status status = rc == SQLITE_OK && arena
                           ? db_exec(reference, prof_schema, err)
                           : wl_fail(err, WL_NOMEM, "Cannot open %s: out of memory.", path);
    if (status == WL_OK)
        status = check_definitions(sql, reference, arena, path, err);
    if (status == WL_OK)
        sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
    sqlite3_close(reference);
    wl_arena_free(arena);
    return status;
}

wl_status prof_open(const char *path, prof_db **out, wl_error *err)
{
    *out = NULL;
    wl_status status = check_file(path, err);
    if (status != WL_OK)
        return status;
    prof_db *db = calloc(1, sizeof *db);
    char *uri = sqlite_uri_of(path);
    if (!db || !uri) {
        free(db);
        free(uri);
        return wl_fail(err, WL_NOMEM, "Cannot open %s: out of memory.", path);
    }
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(uri, &db->sql, flags, NULL);
    free(uri);
    if (rc != SQLITE_OK) {
        status = db_fail(db->sql, rc, "open the profile", err);
    } else {
        harden(db->sql);
        status = check_ids(db->sql, path, err);
        status = status == WL_OK ? check_schema(db->sql, path, err) : status;
    }
    if (status != WL_OK) {
        prof_close(db);
        return status;
    }
    *out = db;
    return WL_OK;
}

void prof_close(prof_db *db)
{
    if (db) {
        db_close(db->sql);
        wl_arena_free(db->arena);
        blob_unpacker_free(db->unpacker);
        free(db);
    }
}

/* Some pages at a time. SQLITE_INTERRUPT where `stop` ended it. */
static int copy_pages(sqlite3_backup *backup, bool (*stop)(void))
{
    enum { PAGES = 1024 };
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK)
        rc = stop && stop() ? SQLITE_INTERRUPT : sqlite3_backup_step(backup, PAGES);
    int end = sqlite3_backup_finish(backup);
    return rc == SQLITE_INTERRUPT ? rc : end;
}

static wl_status copy_to(prof_db *db, const char *temp, bool (*stop)(void), wl_error *err)
{
    sqlite3 *to = NULL;
    int rc = sqlite3_open_v2(temp, &to, SQLITE_OPEN_READWRITE, NULL);
    sqlite3_backup *backup = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", db->sql, "main")
                                             : NULL;
    if (backup)
        rc = copy_pages(backup, stop);
    else
        rc = rc == SQLITE_OK ? sqlite3_errcode(to) : rc;
    wl_status status = rc == SQLITE_OK          ? WL_OK
                       : rc == SQLITE_INTERRUPT ? wl_fail(err, WL_STATE, "The copy was cancelled.")
                                                : db_fail(to, rc, "copy the profile", err);
    sqlite3_close(to);
    return status;
}

wl_status prof_copy(prof_db *db, const char *path, bool force, bool (*stop)(void), wl_error *err)
{
    char *temp;
    wl_status status = prof_check_path(path, err);
    status = status == WL_OK ? publish_begin(path, force, &temp, err) : status;
    if (status != WL_OK)
        return status;
    status = copy_to(db, temp, stop, err);
    if (status != WL_OK) {
        publish_discard(temp);
        return status;
    }
    return publish_end(temp, path, force, err);
}

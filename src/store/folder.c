// folder.c -- files of a folder that are there completely or not at all.
//
// A file is written under a temporary name, its bytes are forced to the disk (fsync), then it is renamed, and the entry
// of the folder is forced to the disk, too.  A process that is killed leaves a temporary file at most.
#define _XOPEN_SOURCE 700
#include "store/folder.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, LARGEST = 1 << 30 };

char *lwi_folder_path(lwi_arena *arena, const char *folder, const char *name)
{
    const size_t n = strlen(folder), m = strlen(name);
    char *path = lwi_arena_chars(arena, n + m + 2);
    if (!path) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

static lw_status fail_write(lw_error *error, const char *path, int reason)
{
    return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s",
                       strerror(reason ? reason : EIO));
}

lw_status lwi_folder_make(const char *folder, lw_error *error)
{
    struct stat about;
    if (!mkdir(folder, 0777)) return LW_OK;
    const int reason = errno;
    if (!stat(folder, &about) && S_ISDIR(about.st_mode)) return LW_OK;
    return lwi_fail_at(error, LW_ERR_IO, folder, 0, 0, "cannot be created: %s", strerror(reason));
}

// ------------------------------------------------------------------------------------------ reading

static lw_status read_bytes(int file, const char *path, lwi_arena *arena, char **text, size_t *size,
                            lw_error *error)
{
    struct stat about;
    if (fstat(file, &about))
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (about.st_size > LARGEST)
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "has %lld bytes, expected at most %d",
                           (long long)about.st_size, LARGEST);
    const size_t room = (size_t)about.st_size;
    char *all = lwi_arena_chars(arena, room + 1);
    if (!all) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a file of %zu bytes", room);
    size_t n = 0;
    for (ssize_t got = 1; n < room && got != 0;) {
        got = read(file, all + n, room - n);
        if (got < 0 && errno != EINTR)
            return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
        n += got > 0 ? (size_t)got : 0;
    }
    all[n] = 0;
    *text = all;
    *size = n;
    return LW_OK;
}

lw_status lwi_folder_read(const char *path, lwi_arena *arena, char **text, size_t *size,
                          lw_error *error)
{
    int file;
    TRY(lwi_open_input(path, &file, error));
    const lw_status status = read_bytes(file, path, arena, text, size, error);
    close(file);
    return status;
}

// ------------------------------------------------------------------------------------------ writing

// A new file of a name that no other process uses.
static int create(const char *folder, lwi_arena *arena, char **path)
{
    for (int i = 0; i < TRIES; i++) {
        struct timespec now;
        char name[80];
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, sizeof name, LWI_FOLDER_TEMPORARY "%ld-%lld-%09ld", (long)getpid(),
                 (long long)now.tv_sec, now.tv_nsec);
        *path = lwi_folder_path(arena, folder, name);
        if (!*path) {
            errno = ENOMEM;
            return -1;
        }
        const int file = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

// 0 or the reason.
static int put_bytes(int file, const char *text, size_t size)
{
    for (size_t n = 0; n < size;) {
        const ssize_t put = write(file, text + n, size - n);
        if (put < 0 && errno != EINTR) return errno;
        n += put > 0 ? (size_t)put : 0;
    }
    return fsync(file) ? errno : 0;
}

// Some file systems have no fsync of folders: they are as safe as they can be.
static void sync_folder(const char *folder)
{
    const int f = open(folder, O_RDONLY | O_CLOEXEC);
    if (f < 0) return;
    (void)!fsync(f);
    close(f);
}

// The temporary file gets its name; 0 or the reason.  A file system without hard links may replace a file that another
// process has just written.
static int give_name(const char *temporary, const char *path, bool once, bool *kept)
{
    if (!once) return rename(temporary, path) ? errno : 0;
    if (!link(temporary, path)) {
        unlink(temporary);
        return 0;
    }
    *kept = errno == EEXIST || !access(path, F_OK);
    if (!*kept) return rename(temporary, path) ? errno : 0;
    unlink(temporary);
    return 0;
}

static lw_status put(const char *folder, const char *path, const void *text, size_t size, bool once,
                     bool *kept, lwi_arena *arena, lw_error *error)
{
    char *temporary;
    const int file = create(folder, arena, &temporary);
    if (file < 0) return fail_write(error, path, errno);
    int reason = put_bytes(file, text, size);
    if (close(file) && !reason) reason = errno;
    if (!reason) reason = give_name(temporary, path, once, kept);
    if (!reason) {
        sync_folder(folder);
        return LW_OK;
    }
    unlink(temporary);
    return fail_write(error, path, reason);
}

lw_status lwi_folder_write(const char *folder, const char *name, const void *text, size_t size,
                           bool once, bool *kept, lw_error *error)
{
    lwi_arena arena;
    bool found = false;
    lwi_arena_init(&arena, NULL);
    const char *path = lwi_folder_path(&arena, folder, name);
    const lw_status status =
        path ? put(folder, path, text, size, once, &found, &arena, error)
             : lwi_fail(error, LW_ERR_MEMORY, "no memory for the name of a file");
    lwi_arena_free(&arena);
    if (status == LW_OK && kept) *kept = found;
    return status;
}

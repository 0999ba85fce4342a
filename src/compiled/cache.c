// cache.c -- files of compiled models: found, kept, and the oldest removed.
#define _XOPEN_SOURCE 700
#include "compiled/cache.h"

#include "base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// At the end of each file: this and the checksum of the bytes before it, which loaders of shared objects ignore.
#define MARK "linkwork check "
enum { MARK_SIZE = sizeof MARK - 1, CHECK = 16, END = MARK_SIZE + CHECK, LARGEST = 1 << 28 };

enum { MAX_FILES = 2000 }; // that are kept: for each model a shared object and its entry

// A folder of a compiler that has not ended after so many seconds belongs to a program that was stopped.
enum { ABANDONED = 24 * 3600 };

// ---------------------------------------------------------------------------------------- the folder

static bool join(char path[LWI_CACHE_PATH], const char *folder, const char *name)
{
    return snprintf(path, LWI_CACHE_PATH, "%s/%s", folder, name) < LWI_CACHE_PATH;
}

// The place of the folder and of its parent, which may be missing, too; false: there is none.
static bool find_place(const char *given, char *parent, char *path)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    parent[0] = 0;
    if (given) return snprintf(path, LWI_CACHE_PATH, "%s", given) < LWI_CACHE_PATH && *given;
    if (base && base[0] == '/') { // others are to be ignored, says the standard of the variable
        if (snprintf(parent, LWI_CACHE_PATH, "%s", base) >= LWI_CACHE_PATH) return false;
    } else if (!home || home[0] != '/' || !join(parent, home, ".cache")) {
        return false;
    }
    return join(path, parent, "linkwork");
}

static bool is_private(const struct stat *about)
{
    return about->st_uid == geteuid() && !(about->st_mode & (S_IWGRP | S_IWOTH));
}

lw_status lwi_cache_open(const char *given, lwi_cache *cache, lw_error *error)
{
    char parent[LWI_CACHE_PATH], path[LWI_CACHE_PATH];
    struct stat about;
    cache->path[0] = 0;
    if (!find_place(given, parent, path)) return LW_OK;
    if (parent[0]) mkdir(parent, 0700);
    mkdir(path, 0700);
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) return LW_OK;
    if (!is_private(&about))
        return lwi_fail(
            error, LW_ERR_IO,
            "the folder of compiled models, %s, %s (mode %04o): expected a folder of this "
            "user in which no other can write; XDG_CACHE_HOME names another place",
            path,
            about.st_uid == geteuid() ? "can be written by others" : "belongs to another user",
            (unsigned)about.st_mode & 07777u);
    strcpy(cache->path, path);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- finding

static const char *const kinds[] = {[LWI_CACHE_OBJECT] = ".so",
                                    [LWI_CACHE_GPU] = ".cubin",
                                    [LWI_CACHE_INDEX] = ".index",
                                    [LWI_CACHE_VERSION] = ".version"};

static bool file_of(const lwi_cache *cache, const char *key, lwi_cache_kind kind,
                    char path[LWI_CACHE_PATH])
{
    char name[LWI_SHA256_SIZE + 16];
    snprintf(name, sizeof name, "%s%s", key, kinds[kind]);
    return cache->path[0] && join(path, cache->path, name);
}

static bool read_all(int file, char *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        const ssize_t got = read(file, bytes + n, size - n);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        n += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        const ssize_t put = write(file, bytes + n, size - n);
        if (put < 0 && errno != EINTR) return false;
        n += put > 0 ? (size_t)put : 0;
    }
    return true;
}

// A checksum as 16 hexadecimal digits, different wherever a single word is.  It finds damage, not manipulation: the folder is private.
static void check_of(const char *bytes, size_t size, char digits[CHECK + 1])
{
    uint64_t sum = size, word;
    for (size_t i = 0; i < size; i += sizeof word) {
        const size_t n = size - i < sizeof word ? size - i : sizeof word;
        word = 0;
        memcpy(&word, bytes + i, n);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    snprintf(digits, CHECK + 1, "%016llx", (unsigned long long)sum);
}

// MARK and the checksum of what is before it.
static bool is_whole(const char *bytes, size_t size)
{
    char digits[CHECK + 1];
    check_of(bytes, size - END, digits);
    const char *end = bytes + size - END;
    return !memcmp(end, MARK, MARK_SIZE) && !memcmp(end + MARK_SIZE, digits, CHECK);
}

// All bytes of a whole file, with the mark; NULL: it is not whole.
static char *take(int file, const lw_allocator *allocator, size_t *size)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || !is_private(&about)) return NULL;
    if (about.st_size <= END || about.st_size > LARGEST) return NULL;
    *size = (size_t)about.st_size;
    char *bytes = lwi_allocate(allocator, *size);
    if (bytes && read_all(file, bytes, *size) && is_whole(bytes, *size)) {
        futimens(file, NULL); // used: not among the oldest
        return bytes;
    }
    if (bytes) lwi_release(allocator, bytes);
    return NULL;
}

static char *open_and_take(const lwi_cache *cache, const char *key, lwi_cache_kind kind,
                           const lw_allocator *allocator, char path[LWI_CACHE_PATH], size_t *size)
{
    if (!file_of(cache, key, kind, path)) return NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return NULL;
    char *bytes = take(file, allocator, size);
    close(file);
    return bytes;
}

bool lwi_cache_find(const lwi_cache *cache, const char *key, char path[LWI_CACHE_PATH])
{
    lwi_arena arena; // an allocator that is NULL is malloc
    size_t size;
    lwi_arena_init(&arena, NULL);
    char *bytes = open_and_take(cache, key, LWI_CACHE_OBJECT, &arena.allocator, path, &size);
    if (bytes) lwi_release(&arena.allocator, bytes);
    return bytes != NULL;
}

bool lwi_cache_read(const lwi_cache *cache, lwi_cache_kind kind, const char *key,
                    const lw_allocator *allocator, char **bytes, size_t *size)
{
    char path[LWI_CACHE_PATH];
    *bytes = open_and_take(cache, key, kind, allocator, path, size);
    if (*bytes) *size -= END;
    return *bytes != NULL;
}

// ------------------------------------------------------------------------------------------- keeping

lw_status lwi_cache_begin(const lwi_cache *cache, char folder[LWI_CACHE_PATH], lw_error *error)
{
    const char *variable = getenv("TMPDIR");
    const char *temporary = variable && variable[0] == '/' ? variable : "/tmp";
    if (cache->path[0] && join(folder, cache->path, "new-XXXXXX") && mkdtemp(folder)) return LW_OK;
    if (join(folder, temporary, "linkwork-XXXXXX") && mkdtemp(folder)) return LW_OK;
    return lwi_fail(error, LW_ERR_IO, "no folder to compile in: %s: %s", temporary,
                    strerror(errno));
}

// Adds the mark: the file is then whole.
static bool finish(const char *path)
{
    char end[END + 1];
    struct stat about;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    bool done = fstat(file, &about) == 0 && about.st_size > 0 && about.st_size < LARGEST;
    const size_t size = done ? (size_t)about.st_size : 0;
    char *bytes = malloc(size + 1);
    done = done && bytes && read_all(file, bytes, size);
    if (done) {
        memcpy(end, MARK, MARK_SIZE);
        check_of(bytes, size, end + MARK_SIZE);
        done = write_all(file, end, END) && fchmod(file, 0600) == 0;
    }
    free(bytes);
    return close(file) == 0 && done;
}

static bool is_kept(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < LWI_COUNT(kinds); i++)
        if (strcmp(dot, kinds[i]) == 0) return true;
    return false;
}

// Removes the file that was not used for the longest time, where there are too many.
static void remove_oldest(const char *folder)
{
    char path[LWI_CACHE_PATH], oldest[LWI_CACHE_PATH] = "";
    struct timespec when = {0};
    struct stat about;
    int files = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!is_kept(entry->d_name) || !join(path, folder, entry->d_name)) continue;
        if (stat(path, &about) != 0) continue;
        files++;
        const struct timespec t = about.st_mtim;
        if (oldest[0] &&
            (t.tv_sec > when.tv_sec || (t.tv_sec == when.tv_sec && t.tv_nsec >= when.tv_nsec)))
            continue;
        when = t;
        strcpy(oldest, path);
    }
    if (list) closedir(list);
    if (files > MAX_FILES) unlink(oldest);
}

// Removes folders of lwi_cache_begin that programs left which were stopped before lwi_cache_end.
static void remove_abandoned(const char *folder)
{
    char path[LWI_CACHE_PATH];
    struct stat about;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, "new-", 4) != 0 || !join(path, folder, entry->d_name)) continue;
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) &&
            difftime(time(NULL), about.st_mtim.tv_sec) > ABANDONED)
            lwi_cache_end(path);
    }
    if (list) closedir(list);
}

static void keep(const lwi_cache *cache, const char *key, lwi_cache_kind kind, const char *built,
                 char path[LWI_CACHE_PATH])
{
    if (file_of(cache, key, kind, path) && !strncmp(built, cache->path, strlen(cache->path)) &&
        finish(built) && rename(built, path) == 0) {
        remove_oldest(cache->path);
        remove_abandoned(cache->path);
    } else {
        snprintf(path, LWI_CACHE_PATH, "%s", built);
    }
}

void lwi_cache_keep(const lwi_cache *cache, const char *key, const char *built,
                    char path[LWI_CACHE_PATH])
{
    keep(cache, key, LWI_CACHE_OBJECT, built, path);
}

void lwi_cache_write(const lwi_cache *cache, lwi_cache_kind kind, const char *key,
                     const char *bytes, size_t size)
{
    char folder[LWI_CACHE_PATH], built[LWI_CACHE_PATH], path[LWI_CACHE_PATH];
    if (!cache->path[0] || lwi_cache_begin(cache, folder, NULL) != LW_OK) return;
    const int file = join(built, folder, "code")
                         ? open(built, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                         : -1;
    bool done = file >= 0 && write_all(file, bytes, size);
    if (file >= 0) done = close(file) == 0 && done;
    if (done) keep(cache, key, kind, built, path);
    lwi_cache_end(folder);
}

void lwi_cache_end(const char *folder)
{
    char path[LWI_CACHE_PATH];
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (join(path, folder, entry->d_name)) unlink(path); // "." and ".." stay
    if (list) closedir(list);
    rmdir(folder);
}

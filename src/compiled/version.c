// version.c -- which program a command calls, and its version as it was found before.
#define _XOPEN_SOURCE 700
#include "compiled/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat about;
    return access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// Without links, as posix_spawnp finds it; the caller frees it.  NULL: it is not there
static char *program_of(const char *command)
{
    char path[LWI_CACHE_PATH];
    const char *folders = getenv("PATH");
    if (strchr(command, '/')) return realpath(command, NULL);
    for (const char *at = folders; at;) {
        const size_t n = strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", n ? (int)n : 1, n ? at : ".", command) <
                (int)sizeof path &&
            is_program(path))
            return realpath(path, NULL);
        at = at[n] ? at + n + 1 : NULL;
    }
    return NULL;
}

// Its name is that of a compiler, and it is no script.
static bool is_compiler(const char *path, int file)
{
    char start[4];
    const char *name = strrchr(path, '/');
    return name && (strstr(name, "gcc") || strstr(name, "clang")) &&
           read(file, start, sizeof start) == (ssize_t)sizeof start &&
           memcmp(start,
                  "\x7f"
                  "ELF",
                  sizeof start) == 0;
}

static void add_state(lwi_sha256 *hash, const struct stat *about)
{
    const long long state[] = {(long long)about->st_dev,  (long long)about->st_ino,
                               (long long)about->st_size, about->st_mtim.tv_sec,
                               about->st_mtim.tv_nsec,    about->st_ctim.tv_sec,
                               about->st_ctim.tv_nsec};
    lwi_sha256_add(hash, state, sizeof state);
}

bool lwi_version_key(const char *command, char key[LWI_SHA256_SIZE])
{
    struct stat about;
    lwi_sha256 hash;
    char *path = program_of(command);
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool good = file >= 0 && fstat(file, &about) == 0 && is_compiler(path, file);
    if (good) {
        lwi_sha256_begin(&hash);
        lwi_sha256_add(&hash, command, strlen(command) + 1);
        lwi_sha256_add(&hash, path, strlen(path) + 1);
        add_state(&hash, &about);
        lwi_sha256_end(&hash, key);
    }
    if (file >= 0) close(file);
    free(path);
    return good;
}

bool lwi_version_find(const lwi_cache *cache, const char *key, char *version, size_t size)
{
    lwi_arena arena; // an allocator that is NULL is malloc
    char *bytes = NULL;
    size_t n = 0;
    lwi_arena_init(&arena, NULL);
    if (!lwi_cache_read(cache, LWI_CACHE_VERSION, key, &arena.allocator, &bytes, &n)) return false;
    const bool fits = n > 0 && n < size && !memchr(bytes, 0, n);
    if (fits) memcpy(version, bytes, n), version[n] = 0;
    lwi_release(&arena.allocator, bytes);
    return fits;
}

void lwi_version_write(const lwi_cache *cache, const char *key, const char *version)
{
    lwi_cache_write(cache, LWI_CACHE_VERSION, key, version, strlen(version));
}

// paths.c -- where the files of meshes are, and a table by names.
#define _XOPEN_SOURCE 700 // realpath
#include "io/mesh/paths.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct search {
    const char *package, *rest; // "arm", "meshes/link.stl"
    size_t length;              // of the package's name
    lwi_arena *arena;
} search;

// "a/b/c" of some of its parts; NULL: no memory.
static char *join(lwi_arena *arena, const char *a, size_t na, const char *b, size_t nb,
                  const char *c)
{
    const size_t nc = strlen(c);
    char *path = lwi_arena_chars(arena, na + nb + nc + 3), *to = path;
    if (!path) return NULL;
    memcpy(to, a, na), to += na;
    if (na) *to++ = '/';
    memcpy(to, b, nb), to += nb;
    if (nb) *to++ = '/';
    memcpy(to, c, nc + 1);
    return path;
}

// The absolute path of a regular file, or NULL.
static const char *regular(const char *path, lwi_arena *arena)
{
    struct stat info;
    if (!path || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
    char *whole = realpath(path, NULL);
    const char *copy = whole ? lwi_arena_text(arena, whole) : NULL;
    free(whole);
    return copy;
}

// In a folder that is the package, or has it.
static const char *in_folder(const search *s, const char *folder, size_t length)
{
    while (length > 1 && folder[length - 1] == '/') length--;
    size_t last = length;
    while (last > 0 && folder[last - 1] != '/') last--;
    const bool is_package =
        length - last == s->length && memcmp(folder + last, s->package, s->length) == 0;
    const char *found =
        is_package ? regular(join(s->arena, folder, length, "", 0, s->rest), s->arena) : NULL;
    return found
               ? found
               : regular(join(s->arena, folder, length, s->package, s->length, s->rest), s->arena);
}

// In one of the folders of a list, separated by colons; with `share` in this folder of each.
static const char *in_list(const search *s, const char *list, bool share)
{
    const char *found = NULL;
    while (list && *list && !found) {
        const size_t n = strcspn(list, ":");
        const char *inside = share && n ? join(s->arena, list, n, "", 0, "share") : NULL;
        if (n) found = inside ? in_folder(s, inside, strlen(inside)) : in_folder(s, list, n);
        list += n + (list[n] == ':');
    }
    return found;
}

static const char *above(const search *s, const char *folder)
{
    const char *found = NULL;
    char *whole = realpath(folder, NULL);
    for (size_t n = whole ? strlen(whole) : 0; n > 0 && !found;) {
        found = in_folder(s, whole, n);
        while (n > 0 && whole[n - 1] != '/') n--;
        while (n > 0 && whole[n - 1] == '/') n--;
    }
    free(whole);
    return found;
}

static const char *in_package(const lwi_mesh_places *places, const char *name, lwi_arena *arena)
{
    static const char *const variables[] = {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH",
                                            "GAZEBO_MODEL_PATH"};
    name += strspn(name, "/"); // package:///NAME occurs in files of real robots
    const size_t length = strcspn(name, "/");
    const search s = {name, name + length + 1, length, arena};
    if (!length || !name[length]) return NULL;
    const char *found = in_list(&s, places->packages, false);
    for (int i = 0; i < LWI_COUNT(variables) && !found; i++)
        found = in_list(&s, getenv(variables[i]), false);
    if (!found) found = in_list(&s, getenv("AMENT_PREFIX_PATH"), true);
    return found ? found : above(&s, places->folder);
}

const char *lwi_mesh_find(const lwi_mesh_places *places, const char *name, lwi_arena *arena)
{
    static const char *const schemes[] = {"package://", "model://"};
    if (!places->folder || !*name) return NULL;
    for (int i = 0; i < LWI_COUNT(schemes); i++)
        if (strncmp(name, schemes[i], strlen(schemes[i])) == 0)
            return in_package(places, name + strlen(schemes[i]), arena);
    if (strncmp(name, "file://", 7) == 0) name += 7;
    if (*name == '/') return regular(name, arena);
    return regular(join(arena, places->folder, strlen(places->folder), "", 0, name), arena);
}

// ------------------------------------------------------------------------------------------- table

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash ^ hash >> 32;
}

static int slot_of(const lwi_mesh_table *t, const char *key)
{
    const uint64_t mask = (uint64_t)t->room - 1;
    uint64_t at = hash_of(key) & mask;
    while (t->key[at] && strcmp(t->key[at], key) != 0) at = (at + 1) & mask;
    return (int)at;
}

static bool grow(lwi_mesh_table *t)
{
    lwi_mesh_table larger = {
        .arena = t->arena, .count = t->count, .room = t->room ? 2 * t->room : 64};
    larger.key = lwi_arena_push(t->arena, (size_t)larger.room, sizeof *larger.key);
    larger.value = LWI_PUSH(t->arena, int, larger.room);
    if (!larger.key || !larger.value) return false;
    for (int i = 0; i < t->room; i++) {
        if (!t->key[i]) continue;
        const int at = slot_of(&larger, t->key[i]);
        larger.key[at] = t->key[i];
        larger.value[at] = t->value[i];
    }
    *t = larger;
    return true;
}

int *lwi_mesh_table_at(lwi_mesh_table *t, const char *key)
{
    if (2 * t->count >= t->room && !grow(t)) return NULL;
    const int at = slot_of(t, key);
    if (!t->key[at]) {
        t->key[at] = lwi_arena_text(t->arena, key);
        if (!t->key[at]) return NULL;
        t->count++;
    }
    return &t->value[at];
}

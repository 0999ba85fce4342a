// index.c -- names and contents of the entries.
#define _XOPEN_SOURCE 700 // open_memstream
#include "compiled/index.h"

#include "base/build_id.h"
#include "codegen/sources.h"
#include "io/yaml/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_model(lwi_sha256 *hash, const lw_model *model)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return false;
    lw_model plain = *model;
    lwi_arena_init(&plain.arena, NULL); // malloc: other threads may use the model's allocator
    const lw_status status = lwi_yaml_write(&plain, true, NULL, file, NULL);
    const bool good = fclose(file) == 0 && status == LW_OK;
    if (good) lwi_sha256_add(hash, text, size);
    free(text);
    return good;
}

// States of signals are numbered in the order of the functions.  A file does not preserve it: functions without a name are written
// where they are used, functions and signals in two sections.  false: several unnamed functions have states.
static bool add_order_of_states(lwi_sha256 *hash, const lw_model *model)
{
    int unnamed = 0;
    for (int i = 0; i < model->desc.nfunction; i++) {
        const char *name = model->desc.function[i].name;
        if (model->function[i].nstate == 0) continue;
        if (!name) unnamed++;
        lwi_sha256_add(hash, name ? name : "", name ? strlen(name) + 1 : 1);
    }
    return unnamed < 2;
}

bool lwi_index_key(const lwi_index_entry *entry, const lwi_compiler *compiler,
                   char key[LWI_SHA256_SIZE])
{
    const unsigned char *build;
    const size_t size = lwi_build_id(&build);
    const lwi_partition *partition = entry->partition;
    const int how[] = {(int)size, (int)entry->functions, entry->lanes, entry->packs,
                       partition ? partition->n : -1};
    lwi_sha256 hash;
    if (size == 0) return false;
    lwi_sha256_begin(&hash);
    lwi_sha256_add(&hash, how, sizeof how);
    lwi_sha256_add(&hash, build, size);
    if (partition)
        lwi_sha256_add(&hash, partition->code, (size_t)partition->n * sizeof *partition->code);
    lwi_compiler_add(compiler, &hash);
    if (!add_order_of_states(&hash, entry->model) || !add_model(&hash, entry->model)) return false;
    lwi_sha256_end(&hash, key);
    return true;
}

bool lwi_index_find(const lwi_cache *cache, const char *key, char object[LWI_SHA256_SIZE],
                    size_t *letters)
{
    lwi_arena arena; // an allocator that is NULL is malloc
    char text[LWI_SHA256_SIZE + 24], *bytes = NULL;
    size_t size = 0;
    lwi_arena_init(&arena, NULL);
    if (!lwi_cache_read(cache, LWI_CACHE_INDEX, key, &arena.allocator, &bytes, &size)) return false;
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : 0), bytes);
    lwi_release(&arena.allocator, bytes);
    return sscanf(text, "%64[0-9a-f] %zu", object, letters) == 2 &&
           strlen(object) == LWI_SHA256_SIZE - 1;
}

void lwi_index_write(const lwi_cache *cache, const char *key, const char *object, size_t letters)
{
    char text[LWI_SHA256_SIZE + 24];
    const int n = snprintf(text, sizeof text, "%s %zu\n", object, letters);
    lwi_cache_write(cache, LWI_CACHE_INDEX, key, text, (size_t)n);
}

// build.c -- writing and compiling in a folder that is removed.
#include "compiled/build.h"

#include "base/assert.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 8, PATH = LWI_CACHE_PATH + 32 }; // files; bytes of a path

static lw_status write_file(const char *path, const lwi_source_file *f, lw_error *error)
{
    FILE *file;
    TRY(lwi_open_output_stream(path, &file, error));
    if (f->head) fputs(f->head, file);
    fputs(f->text, file);
    return lwi_close_output(file, path, error);
}

static lw_status build_in(const char *folder, const lwi_source_file *files, int n,
                          const lwi_compiler *compiler, char object[PATH], lw_error *error)
{
    char path[MOST][PATH], log[PATH];
    const char *compiled[MOST + 1];
    int count = 0;
    LWI_ASSERT(n <= MOST);
    for (int i = 0; i < n; i++) {
        if (!files[i].text) continue;
        snprintf(path[i], PATH, "%s/%s", folder, files[i].name);
        TRY(write_file(path[i], &files[i], error));
        if (files[i].name[strlen(files[i].name) - 1] == 'c') compiled[count++] = path[i];
    }
    compiled[count] = NULL;
    snprintf(object, PATH, "%s/model.so", folder);
    snprintf(log, PATH, "%s/messages", folder);
    return lwi_compiler_build(compiler, compiled, object, log, error);
}

lw_status lwi_build(const lwi_source_file *files, int n, const lwi_compiler *compiler,
                    const lwi_cache *cache, const char *key,
                    lw_status (*load)(void *object, const char *path, lw_error *error),
                    void *object, lw_error *error)
{
    char folder[LWI_CACHE_PATH], built[PATH], path[LWI_CACHE_PATH];
    TRY(lwi_cache_begin(cache, folder, error));
    lw_status status = build_in(folder, files, n, compiler, built, error);
    if (status == LW_OK) {
        lwi_cache_keep(cache, key, built, path);
        status = load(object, path, error);
    }
    lwi_cache_end(folder);
    return status;
}

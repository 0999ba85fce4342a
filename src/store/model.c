// model.c -- the model of a study as a file of its folder.
//
// In canonical form a model has all its numbers, but what follows from a parameter may be written as a number.  Where
// a parameter varies, the folder keeps the model's own file; files that it includes stay where they are,
// and a hash of the model in canonical form shows whether they are still the same.
#define _XOPEN_SOURCE 700 // realpath
#include "store/store.h"

#include "batch/vary.h"
#include "io/readers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
}

static lw_status canonical(const lw_model *model, char **text, size_t *size, lw_error *error)
{
    *text = NULL;
    FILE *file = open_memstream(text, size);
    if (!file) return no_memory(error);
    const lw_status status = lw_model_write(model, NULL, file, error);
    if ((fclose(file) || !*text) && status == LW_OK) return no_memory(error);
    return status;
}

static lw_status find_hash(const lw_model *model, char hash[LWI_SHA256_SIZE], lw_error *error)
{
    char *text;
    size_t size;
    const lw_status status = canonical(model, &text, &size, error);
    if (status == LW_OK) lwi_sha256_of(text, size, hash);
    free(text);
    return status;
}

static bool varies_by_file(const lw_model *model, const lw_table *variants)
{
    for (int k = 0; k < variants->columns; k++) {
        lwi_vary vary;
        if (lwi_vary_resolve(model, variants->name[k], &vary, NULL) == LW_OK &&
            vary.kind == LWI_VARY_FILE)
            return true;
    }
    return false;
}

static const char *copied(lwi_arena *arena, const char *text, bool *ok)
{
    const char *copy = text ? lwi_arena_text(arena, text) : NULL;
    *ok = *ok && (!text || copy);
    return copy;
}

// The description as the manifest has it: own strings, an absolute folder.
static lw_status keep_desc(const lw_read_desc *from, lw_read_desc *to, lwi_arena *arena,
                           lw_error *error)
{
    bool ok = true;
    const char **set = LWI_PUSH(arena, const char *, from->nset);
    char *folder = from->folder ? realpath(from->folder, NULL) : NULL;
    if (from->folder && !folder)
        return lwi_fail_at(error, LW_ERR_IO, from->folder, 0, 0, "cannot be opened: %s",
                           strerror(errno));
    *to = (lw_read_desc){.format = "yaml",
                         .base = from->base,
                         .limits = from->limits,
                         .limits_time = from->limits_time,
                         .open = from->open,
                         .set = set,
                         .nset = from->nset};
    to->folder = copied(arena, folder, &ok);
    to->cut = copied(arena, from->cut, &ok);
    to->inertia_check = copied(arena, from->inertia_check, &ok);
    to->package_path = copied(arena, from->package_path, &ok);
    to->missing_mesh = copied(arena, from->missing_mesh, &ok);
    for (int i = 0; i < from->nset && set; i++) set[i] = copied(arena, from->set[i], &ok);
    free(folder);
    return ok && set ? LW_OK : no_memory(error);
}

static lw_status keep_text(const char *from, size_t n, lwi_arena *arena, const char **text,
                           size_t *size, lw_error *error)
{
    char *copy = lwi_arena_chars(arena, n + 1);
    if (!copy) return no_memory(error);
    memcpy(copy, from, n);
    copy[n] = 0;
    *text = copy;
    *size = n;
    return LW_OK;
}

static lw_status choose_text(const lw_model *model, const lw_table *variants, lwi_manifest *m,
                             lwi_arena *arena, const char **text, size_t *size, lw_error *error)
{
    const char *source;
    const lw_read_desc *desc;
    size_t n;
    m->read.desc = (lw_read_desc){.format = "yaml"};
    m->read.as_given =
        varies_by_file(model, variants) && lwi_reader_source(model, &source, &n, &desc);
    if (m->read.as_given) {
        TRY(keep_desc(desc, &m->read.desc, arena, error));
        return keep_text(source, n, arena, text, size, error);
    }
    char *block;
    lw_status status = canonical(model, &block, &n, error);
    if (status == LW_OK) status = keep_text(block, n, arena, text, size, error);
    free(block);
    return status;
}

lw_status lwi_store_model_text(const lw_model *model, const lw_table *variants,
                               lwi_manifest *manifest, lwi_arena *arena, const char **text,
                               size_t *size, lw_error *error)
{
    TRY(choose_text(model, variants, manifest, arena, text, size, error));
    TRY(find_hash(model, manifest->read.canonical, error));
    if (lwi_manifest_name(&manifest->model, "model", ".yaml", *text, *size, arena) != LW_OK)
        return no_memory(error);
    return LW_OK;
}

lw_status lwi_store_model_parse(const lwi_manifest *m, const char *text, size_t size,
                                lw_model **model, lw_error *error)
{
    char hash[LWI_SHA256_SIZE];
    lw_model *read;
    TRY(lw_model_parse(text, size, m->model.name, &m->read.desc, &read, NULL, error));
    lw_status status = find_hash(read, hash, error);
    if (status == LW_OK && strcmp(hash, m->read.canonical) != 0)
        status = lwi_fail_at(error, LW_ERR_MODEL, m->model.name, 0, 0,
                             "files that it includes have changed since the study was begun");
    if (status == LW_OK)
        *model = read;
    else
        lw_model_destroy(read);
    return status;
}

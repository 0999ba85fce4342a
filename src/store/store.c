// store.c -- a study in a folder: made, opened, counted.
#include "store/store.h"

#include "io/result/csv.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a study");
}

// ---------------------------------------------------------------------------------------- creation

typedef struct creating {
    lw_store *store;
    const lw_model *model; // of the caller
    lw_store_desc desc;
    const char *text[2]; // the model, the variants
    size_t size[2];
    char *block; // of the variants
    lw_error *error;
} creating;

enum { MODEL, VARIANTS };

static lw_status put_variants(creating *c)
{
    FILE *file = open_memstream(&c->block, &c->size[VARIANTS]);
    if (!file) return no_memory(c->error);
    const lw_status status = lwi_csv_table_put(file, c->desc.variants, c->error);
    if ((fclose(file) || !c->block) && status == LW_OK) return no_memory(c->error);
    c->text[VARIANTS] = c->block;
    return status;
}

static lw_status check_variants(const creating *c)
{
    const lw_table *t = c->desc.variants;
    for (int k = 0; k < t->columns; k++) TRY(lw_vary_check(c->model, t->name[k], c->error));
    for (int i = 0; i < t->rows; i++)
        for (int k = 0; k < t->columns; k++)
            if (!isfinite(lwi_table_row(t, i)[k]))
                return lwi_fail(c->error, LW_ERR_NOT_FINITE, "variant %d: %.120s is not finite", i,
                                t->name[k]);
    return LW_OK;
}

static lw_status name_columns(lwi_manifest *m, const lw_table *table, lwi_arena *arena)
{
    m->columns = lw_table_columns(table);
    m->name = LWI_PUSH(arena, const char *, m->columns);
    m->unit = LWI_PUSH(arena, const char *, m->columns);
    if (!m->name || !m->unit) return LW_ERR_MEMORY;
    for (int k = 0; k < m->columns; k++) {
        m->name[k] = lwi_arena_text(arena, lw_table_names(table)[k]);
        m->unit[k] = lwi_arena_text(arena, lw_table_unit(table, k));
        if (!m->name[k] || !m->unit[k]) return LW_ERR_MEMORY;
    }
    return LW_OK;
}

// Options that are resolved, and the columns of the table, by one variant.
static lw_status determine_by(creating *c, lw_sweep *sweep)
{
    lwi_manifest *m = &c->store->manifest;
    lw_study *study = NULL;
    lw_table *table = NULL;
    lw_status status = lw_study_create(sweep, m->statistics, &study, c->error);
    if (status == LW_OK) status = lw_study_table(study, &table, c->error);
    if (status == LW_OK && name_columns(m, table, &c->store->arena) != LW_OK)
        status = no_memory(c->error);
    lw_table_free(table);
    lw_study_destroy(study);
    m->options = *lw_sweep_options(sweep);
    m->options.threads = 0;
    return status;
}

// The first variant that can run; where none can, the reason of the first.
static lw_status determine(creating *c)
{
    lwi_manifest *m = &c->store->manifest;
    const lw_table *t = c->desc.variants;
    lw_error first = {0};
    lw_status status = LW_OK;
    lw_batch_desc desc = {.options = c->desc.options,
                          .instances = 1,
                          .threads = 1,
                          .nvary = t->columns,
                          .vary = lw_table_names(t)};
    for (m->reference = 0; m->reference < t->rows; m->reference++) {
        lw_sweep *sweep;
        lw_error why = {0};
        desc.values = lwi_table_row(t, m->reference);
        status = lw_sweep_create(c->store->model, &desc, &sweep, &why);
        if (status == LW_OK) {
            status = determine_by(c, sweep);
            lw_sweep_destroy(sweep);
            return status;
        }
        if (status == LW_ERR_MEMORY) {
            *c->error = why;
            return status;
        }
        if (m->reference == 0) first = why;
    }
    *c->error = first;
    return first.status;
}

static lw_status choose_size(creating *c)
{
    lwi_manifest *m = &c->store->manifest;
    const int parts = c->desc.parts > 0 ? c->desc.parts : 1;
    const int largest = (m->rows + parts - 1) / parts;
    m->part_rows = c->desc.part_rows;
    if (m->part_rows == 0)
        TRY(lwi_store_size(c->store->model, m, c->desc.variants, c->desc.threads, &m->part_rows,
                           c->error));
    if (c->desc.part_rows == 0 && m->part_rows > largest) m->part_rows = largest;
    if (m->part_rows > m->rows) m->part_rows = m->rows;
    return LW_OK;
}

static lw_status describe(creating *c)
{
    lw_store *s = c->store;
    lwi_manifest *m = &s->manifest;
    TRY(check_variants(c));
    TRY(lwi_store_model_text(c->model, c->desc.variants, m, &s->arena, &c->text[MODEL],
                             &c->size[MODEL], c->error));
    TRY(put_variants(c));
    m->version = lw_version();
    m->rows = c->desc.variants->rows;
    m->about = lwi_arena_text(&s->arena, c->desc.about ? c->desc.about : "");
    m->statistics = c->desc.columns ? lwi_arena_text(&s->arena, c->desc.columns) : NULL;
    if (!m->about || (c->desc.columns && !m->statistics)) return no_memory(c->error);
    if (lwi_manifest_name(&m->variants, "variants", ".csv", c->text[VARIANTS], c->size[VARIANTS],
                          &s->arena) != LW_OK)
        return no_memory(c->error);
    TRY(lwi_store_model_parse(m, c->text[MODEL], c->size[MODEL], &s->model, c->error));
    return determine(c);
}

static lw_status read_manifest(const char *folder, lwi_arena *arena, lwi_manifest *m,
                               lw_error *error)
{
    char *text;
    size_t size;
    const char *path = lwi_folder_path(arena, folder, LWI_MANIFEST_FILE);
    if (!path) return no_memory(error);
    TRY(lwi_folder_read(path, arena, &text, &size, error));
    return lwi_manifest_read(text, size, path, arena, m, error);
}

static lw_status other_size(const creating *c, int there)
{
    return lwi_fail_at(c->error, LW_ERR_ARGUMENT, c->store->folder, 0, 0,
                       "has parts of %d variants, which cannot become %d", there,
                       c->desc.part_rows);
}

// The study in the folder is the one that is to be made.
static lw_status compare(const creating *c, const lwi_manifest *there)
{
    const char *difference = lwi_manifest_difference(&c->store->manifest, there);
    if (difference)
        return lwi_fail_at(c->error, LW_ERR_ARGUMENT, c->store->folder, 0, 0,
                           "has another study: its %s differs; expected the same study, or another "
                           "folder",
                           difference);
    if (c->desc.part_rows > 0 && c->store->manifest.part_rows != there->part_rows)
        return other_size(c, there->part_rows);
    return LW_OK;
}

static lw_status compare_there(creating *c)
{
    lwi_manifest there;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    lw_status status = read_manifest(c->store->folder, &arena, &there, c->error);
    if (status == LW_OK) status = compare(c, &there);
    lwi_arena_free(&arena);
    return status;
}

static bool has_manifest(lw_store *s)
{
    const char *path = lwi_folder_path(&s->arena, s->folder, LWI_MANIFEST_FILE);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (file) fclose(file);
    return file != NULL;
}

static lw_status read_stored(lw_store *s, const lwi_stored_file *file, char **text, size_t *size,
                             const char **path, lwi_arena *arena, lw_error *error);

static lw_status write_file(creating *c, int which, const lwi_stored_file *file)
{
    return lwi_folder_write(c->store->folder, file->name, c->text[which], c->size[which], false,
                            NULL, c->error);
}

// A file of a study that is there, if it is damaged or missing.
static lw_status repair(creating *c, int which, const lwi_stored_file *file)
{
    lwi_arena arena;
    lw_error why = {0};
    const char *path;
    char *text;
    size_t size;
    lwi_arena_init(&arena, NULL);
    const lw_status status = read_stored(c->store, file, &text, &size, &path, &arena, &why);
    lwi_arena_free(&arena);
    if (status == LW_OK || status == LW_ERR_MEMORY) return status;
    return write_file(c, which, file);
}

// The manifest last: with it the folder is a study.  Of two processes that make it the first one's counts, unless it is
// damaged.
static lw_status write_files(creating *c, bool once)
{
    const lw_store *s = c->store;
    char *text;
    size_t size;
    bool kept;
    TRY(lwi_folder_make(s->folder, c->error));
    TRY(lwi_folder_make(s->parts, c->error));
    TRY(write_file(c, MODEL, &s->manifest.model));
    TRY(write_file(c, VARIANTS, &s->manifest.variants));
    if (lwi_manifest_write(&c->store->manifest, &c->store->arena, &text, &size) != LW_OK)
        return no_memory(c->error);
    TRY(lwi_folder_write(s->folder, LWI_MANIFEST_FILE, text, size, once, &kept, c->error));
    return kept ? compare_there(c) : LW_OK;
}

// The manifest of a new study, or of one with a manifest that is missing or damaged.
static lw_status write_missing(creating *c, bool once)
{
    int rows = c->desc.part_rows;
    TRY(lwi_store_repair_size(c->store, &rows, c->error));
    if (c->desc.part_rows > 0 && rows != c->desc.part_rows) return other_size(c, rows);
    c->desc.part_rows = rows;
    TRY(choose_size(c));
    return write_files(c, once);
}

static lw_status create(creating *c)
{
    TRY(describe(c));
    c->store->manifest.part_rows = c->desc.part_rows;
    if (!has_manifest(c->store)) return write_missing(c, true);
    const lw_status status = compare_there(c);
    if (status == LW_ERR_PARSE) return write_missing(c, false);
    TRY(status);
    TRY(repair(c, MODEL, &c->store->manifest.model));
    return repair(c, VARIANTS, &c->store->manifest.variants);
}

static lw_status begin(const char *folder, lw_store **store, lw_error *error)
{
    lw_store *s = lwi_allocate(NULL, sizeof *s);
    if (!s) return no_memory(error);
    *s = (lw_store){.model = NULL};
    lwi_arena_init(&s->arena, NULL);
    s->folder = lwi_arena_text(&s->arena, folder);
    s->parts = lwi_folder_path(&s->arena, folder, LWI_MANIFEST_PARTS);
    *store = s;
    if (s->folder && s->parts) return LW_OK;
    lw_store_close(s);
    return no_memory(error);
}

static lw_status check_desc(const lw_store_desc *desc, lw_error *error)
{
    if (!desc->variants || desc->variants->rows < 1)
        return lwi_fail(error, LW_ERR_ARGUMENT, "variants are missing");
    if (desc->part_rows < 0 || desc->parts < 0 || desc->threads < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "part_rows %d, parts %d, threads %d: expected no negative number",
                        desc->part_rows, desc->parts, desc->threads);
    return LW_OK;
}

lw_status lw_store_create(const char *folder, const lw_model *model, const lw_store_desc *desc,
                          lw_store **store, lw_error *error)
{
    LWI_DESC(lw_store_desc, desc, error);
    if (!folder || !*folder || !model || !store)
        return lwi_fail(error, LW_ERR_ARGUMENT, "folder, model, description or store is missing");
    lw_error own = {0};
    if (!error) error = &own;
    TRY(check_desc(desc, error));
    creating c = {.model = model, .desc = *desc, .error = error};
    TRY(begin(folder, &c.store, error));
    const lw_status status = create(&c);
    lw_store_close(c.store);
    free(c.block);
    TRY(status);
    return lw_store_open(folder, store, error);
}

// ------------------------------------------------------------------------------------------ opening

// A file of the folder with the hash that the manifest states.
static lw_status read_stored(lw_store *s, const lwi_stored_file *file, char **text, size_t *size,
                             const char **path, lwi_arena *arena, lw_error *error)
{
    char hash[LWI_SHA256_SIZE];
    *path = lwi_folder_path(arena, s->folder, file->name);
    if (!*path) return no_memory(error);
    TRY(lwi_folder_read(*path, arena, text, size, error));
    lwi_sha256_of(*text, *size, hash);
    if (!strcmp(hash, file->hash)) return LW_OK;
    return lwi_fail_at(error, LW_ERR_PARSE, *path, 0, 0,
                       "is damaged: its hash is not that of the manifest");
}

static lw_status read_files(lw_store *s, lwi_arena *arena, lw_error *error)
{
    const lwi_manifest *m = &s->manifest;
    const char *path;
    char *text;
    size_t size;
    TRY(read_stored(s, &m->model, &text, &size, &path, arena, error));
    TRY(lwi_store_model_parse(m, text, size, &s->model, error));
    TRY(read_stored(s, &m->variants, &text, &size, &path, arena, error));
    TRY(lw_table_read_study(path, &s->variants, error));
    if (s->variants->rows != m->rows)
        return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0, "has %d variants, the manifest %d",
                           s->variants->rows, m->rows);
    for (int k = 0; k < s->variants->columns; k++)
        TRY(lw_vary_check(s->model, s->variants->name[k], error));
    return LW_OK;
}

lw_status lw_store_open(const char *folder, lw_store **store, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!folder || !store)
        return lwi_fail(error, LW_ERR_ARGUMENT, "folder and store must be given");
    lw_store *s;
    lwi_arena arena;
    TRY(begin(folder, &s, error));
    lwi_arena_init(&arena, NULL);
    lw_status status = read_manifest(folder, &s->arena, &s->manifest, error);
    if (status == LW_OK) status = read_files(s, &arena, error);
    lwi_arena_free(&arena);
    if (status == LW_OK)
        *store = s;
    else
        lw_store_close(s);
    return status;
}

void lw_store_close(lw_store *s)
{
    if (!s) return;
    lw_model_destroy(s->model);
    lw_table_free(s->variants);
    lwi_arena_free(&s->arena);
    lwi_release(NULL, s);
}

// ----------------------------------------------------------------------------------------- counting

const char *lw_store_hash(const lw_store *s)
{
    if (!s) return "";
    return s->manifest.hash;
}
int lw_store_variants(const lw_store *s)
{
    if (!s) return 0;
    return s->manifest.rows;
}
int lw_store_parts(const lw_store *s)
{
    if (!s) return 0;
    return lwi_store_parts(&s->manifest);
}
const lw_model *lw_store_model(const lw_store *s)
{
    if (!s) return NULL;
    return s->model;
}
const lw_options *lw_store_options(const lw_store *s)
{
    if (!s) return NULL;
    return &s->manifest.options;
}
const lw_error *lw_store_error(const lw_store *s)
{
    if (!s) return NULL;
    return &s->error;
}

int lw_store_part_rows(const lw_store *s, int part, int *first)
{
    if (!s || part < 0 || part >= lwi_store_parts(&s->manifest)) return 0;
    if (first) *first = lwi_store_first(&s->manifest, part);
    return lwi_store_count(&s->manifest, part);
}

// The part of a file of this name; -1: none, which is not of this study or temporary.
static int part_of(const lwi_manifest *m, const char *name)
{
    char expected[LWI_PART_NAME];
    if (strlen(name) < 10 || strspn(name, "0123456789") < 10) return -1;
    const long first = strtol(name, NULL, 10);
    if (first >= m->rows || first % m->part_rows) return -1;
    const int part = (int)(first / m->part_rows);
    lwi_part_name(m, part, expected);
    return strcmp(name, expected) == 0 ? part : -1;
}

lw_status lw_store_count(lw_store *s, lw_store_state *state)
{
    if (!s) return LW_ERR_ARGUMENT;
    if (!state) return lwi_fail(&s->error, LW_ERR_ARGUMENT, "state is missing");
    const lwi_manifest *m = &s->manifest;
    DIR *folder = opendir(s->parts);
    if (!folder)
        return lwi_fail_at(&s->error, LW_ERR_IO, s->parts, 0, 0, "cannot be read: %s",
                           strerror(errno));
    lw_store_state now = {.parts = lwi_store_parts(m), .variants = m->rows};
    for (const struct dirent *entry; (entry = readdir(folder));) {
        now.temporary +=
            !strncmp(entry->d_name, LWI_FOLDER_TEMPORARY, strlen(LWI_FOLDER_TEMPORARY));
        const int part = part_of(m, entry->d_name);
        if (part < 0) continue;
        const int failed = lwi_part_failed(s, part);
        now.done++;
        now.rows += lwi_store_count(m, part);
        now.failed += failed > 0 ? failed : 0;
    }
    closedir(folder);
    *state = now;
    return LW_OK;
}

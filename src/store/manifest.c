// manifest.c -- the manifest of a study as JSON.
#include "store/manifest.h"

#include "store/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, NAME_DIGITS = 16, MAX_ROWS = 100000000 };

lw_status lwi_manifest_name(lwi_stored_file *file, const char *kind, const char *ending,
                            const char *text, size_t size, lwi_arena *arena)
{
    char name[80];
    lwi_sha256_of(text, size, file->hash);
    snprintf(name, sizeof name, "%s-%.*s%s", kind, NAME_DIGITS, file->hash, ending);
    file->name = lwi_arena_text(arena, name);
    return file->name ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ writing

static void put_number(FILE *file, const char *key, double value)
{
    fprintf(file, "  \"%s\": ", key);
    lwi_json_number(file, value);
    fputs(",\n", file);
}

// Strings of a description, where they are given.
#define READ_LIST(X) X(folder) X(cut) X(inertia_check) X(package_path) X(missing_mesh)

static void put_read(FILE *file, const lw_read_desc *d)
{
    fprintf(file, "  \"read_base\": %d,\n  \"read_open\": %d,\n", (int)d->base, (int)d->open);
    put_number(file, "read_limits_stiffness", d->limits.stiffness);
    put_number(file, "read_limits_damping", d->limits.damping);
    put_number(file, "read_limits_time", d->limits_time);
#define X(key)                                                                                     \
    if (d->key) lwi_json_member(file, "read_" #key, d->key);
    READ_LIST(X)
#undef X
    lwi_json_strings(file, "read_set", d->set, d->nset);
}

static void put_members(FILE *file, const lwi_manifest *m)
{
    fprintf(file, "{\n  \"linkwork_study\": %d,\n", FORMAT);
    lwi_json_member(file, "version", m->version);
    lwi_json_member(file, "model", m->model.name);
    lwi_json_member(file, "model_sha256", m->model.hash);
    lwi_json_member(file, "canonical_sha256", m->read.canonical);
    if (m->read.as_given) put_read(file, &m->read.desc);
    lwi_json_member(file, "variants", m->variants.name);
    lwi_json_member(file, "variants_sha256", m->variants.hash);
    lwi_json_member(file, "about", m->about);
    fprintf(file, "  \"rows\": %d,\n  \"part_rows\": %d,\n  \"reference\": %d,\n", m->rows,
            m->part_rows, m->reference);
    if (m->statistics) lwi_json_member(file, "statistics", m->statistics);
    lwi_json_strings(file, "columns", m->name, m->columns);
    lwi_json_strings(file, "units", m->unit, m->columns);
    lwi_json_options(file, &m->options);
}

lw_status lwi_manifest_write(lwi_manifest *m, lwi_arena *arena, char **text, size_t *size)
{
    char *members = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&members, &n);
    if (!file) return LW_ERR_MEMORY;
    put_members(file, m);
    if (fclose(file) || !members) {
        free(members);
        return LW_ERR_MEMORY;
    }
    const lw_status status = lwi_json_close(members, n, arena, m->hash, text, size);
    free(members);
    return status;
}

// ------------------------------------------------------------------------------------------ reading

// The name of a file of the folder, never a path out of it.
static lw_status read_file(const lwi_json *r, const char *key, const char *hash_of,
                           lwi_stored_file *file)
{
    const char *hash = "";
    TRY(lwi_json_read_string(r, key, &file->name));
    TRY(lwi_json_read_string(r, hash_of, &hash));
    if (!*file->name || strchr(file->name, '/') || *file->name == '.')
        return lwi_json_wrong(r, key, "the name of a file in the folder");
    if (strlen(hash) != LWI_SHA256_SIZE - 1)
        return lwi_json_wrong(r, hash_of, "64 hexadecimal digits");
    lwi_copy_text(file->hash, sizeof file->hash, hash);
    return LW_OK;
}

static lw_status read_model(const lwi_json *r, lwi_stored_model *m)
{
    int base, open;
    const char *hash = "";
    lw_read_desc *d = &m->desc;
    *m = (lwi_stored_model){.desc = {.format = "yaml"}};
    TRY(lwi_json_read_string(r, "canonical_sha256", &hash));
    lwi_copy_text(m->canonical, sizeof m->canonical, hash);
    m->as_given = lwi_json_find(r, "read_base") != NULL;
    if (!m->as_given) return LW_OK;
    TRY(lwi_json_read_integer(r, "read_base", LW_BASE_AUTO, LW_BASE_FLOATING, &base));
    TRY(lwi_json_read_integer(r, "read_open", 0, 1, &open));
    d->base = (lw_base)base;
    d->open = open;
    TRY(lwi_json_read_real(r, "read_limits_stiffness", &d->limits.stiffness));
    TRY(lwi_json_read_real(r, "read_limits_damping", &d->limits.damping));
    TRY(lwi_json_read_real(r, "read_limits_time", &d->limits_time));
#define X(key)                                                                                     \
    if (lwi_json_find(r, "read_" #key)) TRY(lwi_json_read_string(r, "read_" #key, &d->key));
    READ_LIST(X)
#undef X
    const char **set;
    TRY(lwi_json_read_strings(r, "read_set", &d->nset, &set));
    d->set = set;
    return LW_OK;
}

static lw_status read_members(const lwi_json *r, lwi_manifest *m)
{
    int format, units;
    TRY(lwi_json_read_integer(r, "linkwork_study", FORMAT, FORMAT, &format));
    TRY(lwi_json_read_string(r, "version", &m->version));
    TRY(read_file(r, "model", "model_sha256", &m->model));
    TRY(read_model(r, &m->read));
    TRY(read_file(r, "variants", "variants_sha256", &m->variants));
    TRY(lwi_json_read_string(r, "about", &m->about));
    TRY(lwi_json_read_integer(r, "rows", 1, MAX_ROWS, &m->rows));
    TRY(lwi_json_read_integer(r, "part_rows", 1, m->rows, &m->part_rows));
    TRY(lwi_json_read_integer(r, "reference", 0, m->rows - 1, &m->reference));
    m->statistics = NULL;
    if (lwi_json_find(r, "statistics")) TRY(lwi_json_read_string(r, "statistics", &m->statistics));
    TRY(lwi_json_read_strings(r, "columns", &m->columns, &m->name));
    TRY(lwi_json_read_strings(r, "units", &units, &m->unit));
    if (units != m->columns) return lwi_json_wrong(r, "units", "as many as columns");
    return lwi_json_read_options(r, &m->options);
}

lw_status lwi_manifest_read(const char *text, size_t size, const char *path, lwi_arena *arena,
                            lwi_manifest *manifest, lw_error *error)
{
    lwi_json r = {.path = path,
                  .arena = arena,
                  .error = error,
                  .remedy = "; the command that began the study, given again, writes it again and "
                            "keeps the parts"};
    TRY(lwi_json_open(&r, text, size, manifest->hash));
    return read_members(&r, manifest);
}

// --------------------------------------------------------------------------------------- comparison

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

// The first option that differs.
static const char *option_difference(const lw_options *a, const lw_options *b)
{
    for (int i = 0; i < lw_option_count(); i++) {
        char one[LW_OPTION_STRING_SIZE] = "", other[LW_OPTION_STRING_SIZE] = "";
        const char *key = lw_option_at(i).key;
        lw_options_get(a, key, one, sizeof one);
        lw_options_get(b, key, other, sizeof other);
        if (strcmp(one, other) != 0) return key;
    }
    return NULL;
}

const char *lwi_manifest_difference(const lwi_manifest *a, const lwi_manifest *b)
{
    if (!same_text(a->version, b->version)) return "version";
    if (!same_text(a->model.hash, b->model.hash) ||
        !same_text(a->read.canonical, b->read.canonical))
        return "model";
    if (!same_text(a->variants.hash, b->variants.hash)) return "variants";
    if (!same_text(a->statistics, b->statistics)) return "columns";
    return option_difference(&a->options, &b->options);
}

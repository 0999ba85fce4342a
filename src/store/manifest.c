// manifest.c -- the manifest of a study as JSON.
//
// Its last member is the hash of all text before it: a file that is damaged, or was changed by hand, is refused.
#include "store/manifest.h"

#include "base/numbers.h"
#include "io/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, NAME_DIGITS = 16, MAX_ROWS = 100000000 };

static const char hash_key[] = "  \"hash\": \"";

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

// [rfc8259, 7]
static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            fprintf(file, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void put_member(FILE *file, const char *key, const char *text)
{
    fprintf(file, "  \"%s\": ", key);
    put_string(file, text);
    fputs(",\n", file);
}

static void put_strings(FILE *file, const char *key, const char *const *text, int n)
{
    fprintf(file, "  \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", file);
        put_string(file, text[i]);
    }
    fputs("],\n", file);
}

static void put_options(FILE *file, const lw_options *options)
{
    fputs("  \"options\": {", file);
    for (int i = 0; i < lw_option_count(); i++) {
        char text[LW_OPTION_STRING_SIZE] = "";
        const char *key = lw_option_at(i).key;
        lw_options_get(options, key, text, sizeof text);
        fprintf(file, "%s\n    \"%s\": ", i ? "," : "", key);
        put_string(file, text);
    }
    fputs("\n  },\n", file);
}

static void put_number(FILE *file, const char *key, double value)
{
    char text[40];
    lwi_number_write(value, text, sizeof text);
    fprintf(file, "  \"%s\": %s,\n", key, text);
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
    if (d->key) put_member(file, "read_" #key, d->key);
    READ_LIST(X)
#undef X
    put_strings(file, "read_set", d->set, d->nset);
}

static void put_members(FILE *file, const lwi_manifest *m)
{
    fprintf(file, "{\n  \"linkwork_study\": %d,\n", FORMAT);
    put_member(file, "version", m->version);
    put_member(file, "model", m->model.name);
    put_member(file, "model_sha256", m->model.hash);
    put_member(file, "canonical_sha256", m->read.canonical);
    if (m->read.as_given) put_read(file, &m->read.desc);
    put_member(file, "variants", m->variants.name);
    put_member(file, "variants_sha256", m->variants.hash);
    put_member(file, "about", m->about);
    fprintf(file, "  \"rows\": %d,\n  \"part_rows\": %d,\n  \"reference\": %d,\n", m->rows,
            m->part_rows, m->reference);
    if (m->statistics) put_member(file, "statistics", m->statistics);
    put_strings(file, "columns", m->name, m->columns);
    put_strings(file, "units", m->unit, m->columns);
    put_options(file, &m->options);
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
    lwi_sha256_of(members, n, m->hash);
    const size_t room = n + sizeof hash_key + LWI_SHA256_SIZE + 8;
    *text = lwi_arena_chars(arena, room);
    if (*text) *size = (size_t)snprintf(*text, room, "%s%s%s\"\n}\n", members, hash_key, m->hash);
    free(members);
    return *text ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ reading

typedef struct reading {
    const char *path;
    const lwi_document_value *root;
    lwi_arena *arena;
    lw_error *error;
} reading;

static lw_status wrong(const reading *r, const char *key, const char *expected)
{
    return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 0, 0, "'%s': expected %s", key, expected);
}

static const lwi_document_value *member(const reading *r, const char *key)
{
    const int i = lwi_document_find(r->root, key);
    return i < 0 ? NULL : r->root->item[i];
}

static lw_status read_string(const reading *r, const char *key, const char **text)
{
    const lwi_document_value *value = member(r, key);
    if (!value || value->kind != LWI_DOCUMENT_SCALAR) return wrong(r, key, "a string");
    *text = value->text;
    return LW_OK;
}

static lw_status read_number(const reading *r, const char *key, int from, int to, int *number)
{
    const char *text = "";
    double value;
    TRY(read_string(r, key, &text));
    if (!lwi_number_read(text, &value) || !(value >= from && value <= to) || value != floor(value))
        return wrong(r, key, "a whole number in its range");
    *number = (int)value;
    return LW_OK;
}

// The name of a file of the folder, never a path out of it.
static lw_status read_file(const reading *r, const char *key, const char *hash_of,
                           lwi_stored_file *file)
{
    const char *hash = "";
    TRY(read_string(r, key, &file->name));
    TRY(read_string(r, hash_of, &hash));
    if (!*file->name || strchr(file->name, '/') || *file->name == '.')
        return wrong(r, key, "the name of a file in the folder");
    if (strlen(hash) != LWI_SHA256_SIZE - 1) return wrong(r, hash_of, "64 hexadecimal digits");
    lwi_copy_text(file->hash, sizeof file->hash, hash);
    return LW_OK;
}

static lw_status read_strings(const reading *r, const char *key, int *n, const char ***text)
{
    const lwi_document_value *value = member(r, key);
    if (!value || value->kind != LWI_DOCUMENT_LIST) return wrong(r, key, "a list of strings");
    *n = value->count;
    *text = LWI_PUSH(r->arena, const char *, value->count);
    if (!*text) return lwi_fail(r->error, LW_ERR_MEMORY, "no memory for a manifest");
    for (int i = 0; i < value->count; i++) {
        if (value->item[i]->kind != LWI_DOCUMENT_SCALAR) return wrong(r, key, "a list of strings");
        (*text)[i] = value->item[i]->text;
    }
    return LW_OK;
}

static lw_status read_options(const reading *r, lw_options *options)
{
    const lwi_document_value *value = member(r, "options");
    if (!value || value->kind != LWI_DOCUMENT_MAP) return wrong(r, "options", "a map");
    lw_options_default(options);
    for (int i = 0; i < value->count; i++) {
        lw_error why = {0};
        if (value->item[i]->kind != LWI_DOCUMENT_SCALAR) return wrong(r, "options", "strings");
        if (lw_options_set(options, value->key[i], value->item[i]->text, &why) != LW_OK)
            return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 0, 0, "'options': %s", why.text);
    }
    return LW_OK;
}

static lw_status read_real(const reading *r, const char *key, double *value)
{
    const char *text = "";
    TRY(read_string(r, key, &text));
    return lwi_number_read(text, value) ? LW_OK : wrong(r, key, "a number");
}

static lw_status read_model(const reading *r, lwi_stored_model *m)
{
    int base, open;
    const char *hash = "";
    lw_read_desc *d = &m->desc;
    *m = (lwi_stored_model){.desc = {.format = "yaml"}};
    TRY(read_string(r, "canonical_sha256", &hash));
    lwi_copy_text(m->canonical, sizeof m->canonical, hash);
    m->as_given = member(r, "read_base") != NULL;
    if (!m->as_given) return LW_OK;
    TRY(read_number(r, "read_base", LW_BASE_AUTO, LW_BASE_FLOATING, &base));
    TRY(read_number(r, "read_open", 0, 1, &open));
    d->base = (lw_base)base;
    d->open = open;
    TRY(read_real(r, "read_limits_stiffness", &d->limits.stiffness));
    TRY(read_real(r, "read_limits_damping", &d->limits.damping));
    TRY(read_real(r, "read_limits_time", &d->limits_time));
#define X(key)                                                                                     \
    if (member(r, "read_" #key)) TRY(read_string(r, "read_" #key, &d->key));
    READ_LIST(X)
#undef X
    const char **set;
    TRY(read_strings(r, "read_set", &d->nset, &set));
    d->set = set;
    return LW_OK;
}

static lw_status read_members(const reading *r, lwi_manifest *m)
{
    int format, units;
    if (r->root->kind != LWI_DOCUMENT_MAP)
        return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 1, 1, "is no manifest of a study");
    TRY(read_number(r, "linkwork_study", FORMAT, FORMAT, &format));
    TRY(read_string(r, "version", &m->version));
    TRY(read_file(r, "model", "model_sha256", &m->model));
    TRY(read_model(r, &m->read));
    TRY(read_file(r, "variants", "variants_sha256", &m->variants));
    TRY(read_string(r, "about", &m->about));
    TRY(read_number(r, "rows", 1, MAX_ROWS, &m->rows));
    TRY(read_number(r, "part_rows", 1, m->rows, &m->part_rows));
    TRY(read_number(r, "reference", 0, m->rows - 1, &m->reference));
    m->statistics = NULL;
    if (member(r, "statistics")) TRY(read_string(r, "statistics", &m->statistics));
    TRY(read_strings(r, "columns", &m->columns, &m->name));
    TRY(read_strings(r, "units", &units, &m->unit));
    if (units != m->columns) return wrong(r, "units", "as many as columns");
    return read_options(r, &m->options);
}

// The hash is right and nothing follows it.
static lw_status check_hash(const char *text, size_t size, const char *path, lwi_manifest *m,
                            lw_error *error)
{
    const char *at = text, *found = NULL;
    while ((at = strstr(at, hash_key))) found = at++;
    if (found) lwi_sha256_of(text, (size_t)(found - text), m->hash);
    char end[sizeof hash_key + LWI_SHA256_SIZE + 8];
    if (found) snprintf(end, sizeof end, "%s%s\"\n}\n", hash_key, m->hash);
    if (found && strlen(text) == size && !strcmp(found, end)) return LW_OK;
    return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0,
                       "is damaged: its hash is not that of its text");
}

lw_status lwi_manifest_read(const char *text, size_t size, const char *path, lwi_arena *arena,
                            lwi_manifest *manifest, lw_error *error)
{
    reading r = {.path = path, .arena = arena, .error = error};
    TRY(check_hash(text, size, path, manifest, error));
    TRY(lwi_document_parse(text, size, path, arena, &r.root, error));
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

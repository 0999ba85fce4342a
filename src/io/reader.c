// reader.c -- a model from a file or from memory: format by name or ending, builder, checks.
#define _XOPEN_SOURCE 700 // realpath
#include "base/file.h"
#include "io/document.h"
#include "io/limits.h"
#include "io/readers.h"
#include "io/text.h"
#include "model/model.h"

#include <linkwork/result.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// A model of 100 000 bodies takes about 50 MB.
enum { LARGEST_FILE = 256 << 20 };

typedef struct format {
    const char *name, *endings;
    lwi_reader read;
} format;

#define X(name, endings) {#name, endings, lwi_read_##name},
static const format formats[] = {LWI_READER_LIST(X)};
#undef X
#define X(name, endings) " " #name
static const char known_names[] = LWI_READER_LIST(X);
#undef X
#define X(name, endings) " " endings
static const char known_endings[] = LWI_READER_LIST(X);
#undef X

static bool has_ending(const char *path, const char *endings)
{
    const size_t length = strlen(path);
    for (const char *e = endings; *e;) {
        const size_t n = strcspn(e, " ");
        if (length > n && strncasecmp(path + length - n, e, n) == 0) return true;
        e += n;
        e += strspn(e, " ");
    }
    return false;
}

static lw_status find_format(const char *name, const char *path, const format **found,
                             lw_error *error)
{
    for (int i = 0; i < LWI_COUNT(formats); i++)
        if (name ? strcmp(formats[i].name, name) == 0 : has_ending(path, formats[i].endings)) {
            *found = &formats[i];
            return LW_OK;
        }
    if (name)
        return lwi_fail(error, LW_ERR_ARGUMENT, "unknown model format '%s', known:%s", name,
                        known_names);
    return lwi_fail(error, LW_ERR_ARGUMENT, "unknown file ending, known endings:%s", known_endings);
}

// Adds the file name to errors without one.
static lw_status with_file(lw_status status, const char *name, lw_error *error)
{
    if (status == LW_OK || !error) return status;
    if (error->status == LW_OK) lwi_fail(error, status, "%s", lw_status_text(status));
    if (!*error->file) lwi_copy_text(error->file, sizeof error->file, name);
    return status;
}

// Index of the word in the list of checks; -1: unknown.
static int inertia_check_of(const char *word)
{
#define X(name, text) text,
    static const char *const words[] = {LW_INERTIA_CHECK_LIST(X)};
#undef X
    for (int i = 0; i < LWI_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) return i;
    return -1;
}

static void set_inertia_checks(lw_builder *builder, const char *word)
{
    const int check = word ? inertia_check_of(word) : -1;
    for (int i = 1; check >= 0 && i < builder->desc.nbody; i++)
        builder->desc.body[i].inertia_check = (lw_inertia_check)check;
}

// ---- models of files with parameters, remade with other values

struct lwi_remake_source {
    const char *text, *name;
    size_t length;
    lw_read_desc desc;         // strings in the arena
    lw_options before, stated; // options without and with those of the file
};

static const char *copied(lwi_arena *arena, const char *text, bool *ok)
{
    const char *copy = text ? lwi_arena_text(arena, text) : NULL;
    *ok = *ok && (!text || copy);
    return copy;
}

static bool copy_source(lwi_remake *remake, lwi_arena *arena)
{
    const struct lwi_remake_source *from = remake->source;
    struct lwi_remake_source *to = LWI_PUSH(arena, struct lwi_remake_source, 1);
    char *text = lwi_arena_chars(arena, from->length + 1);
    const char **set = LWI_PUSH(arena, const char *, from->desc.nset);
    bool ok = to && text && set;
    if (!ok) return false;
    *to = *from;
    memcpy(text, from->text, from->length);
    text[from->length] = 0;
    to->text = text;
    to->name = copied(arena, from->name, &ok);
    to->desc.format = copied(arena, from->desc.format, &ok);
    to->desc.folder = copied(arena, from->desc.folder, &ok);
    to->desc.cut = copied(arena, from->desc.cut, &ok);
    to->desc.inertia_check = copied(arena, from->desc.inertia_check, &ok);
    to->desc.package_path = copied(arena, from->desc.package_path, &ok);
    to->desc.missing_mesh = copied(arena, from->desc.missing_mesh, &ok);
    for (int i = 0; i < from->desc.nset; i++) set[i] = copied(arena, from->desc.set[i], &ok);
    to->desc.set = set;
    to->desc.allocator = NULL;
    remake->source = to;
    return ok;
}

// Options of runs do not follow parameters that vary.
static void compare_options(const struct lwi_remake_source *s, const lw_options *again,
                            const lw_options *used, char *note)
{
    char stated[LW_OPTION_STRING_SIZE], now[LW_OPTION_STRING_SIZE], own[LW_OPTION_STRING_SIZE];
    *note = 0;
    for (int i = 0; i < lw_option_count() && !*note; i++) {
        const char *key = lw_option_at(i).key;
        lw_options_get(&s->stated, key, stated, sizeof stated);
        lw_options_get(again, key, now, sizeof now);
        lw_options_get(used, key, own, sizeof own);
        if (strcmp(now, stated) != 0 && !strcmp(own, stated))
            snprintf(note, LWI_REMAKE_NOTE,
                     "%s depends on what varies in the file; all runs have %.40s", key, own);
    }
}

static lw_status parse_model(const char *text, size_t length, const char *name,
                             const lw_read_desc *desc, const lwi_parsed_document *document,
                             lw_model **model, lw_options *options, lw_error *error);

static lw_status remake(const lwi_remake *how, const lwi_parsed_document *document,
                        const char *const *set, int nset, const lw_options *options, char *note,
                        const lw_allocator *allocator, lw_model **model, lw_error *error)
{
    lw_options again = how->source->before;
    const struct lwi_remake_source *s = how->source;
    lwi_arena arena;
    lw_read_desc desc = s->desc;
    lwi_arena_init(&arena, allocator);
    const char **all = LWI_PUSH(&arena, const char *, s->desc.nset + nset);
    lw_status status = LW_ERR_MEMORY;
    if (all) {
        for (int i = 0; i < s->desc.nset; i++) all[i] = s->desc.set[i];
        for (int i = 0; i < nset; i++) all[s->desc.nset + i] = set[i];
        desc.set = all;
        desc.nset = s->desc.nset + nset;
        desc.allocator = allocator;
        status = parse_model(s->text, s->length, s->name, &desc, document, model, &again, error);
    } else {
        lwi_fail(error, status, "no memory for parameters");
    }
    lwi_arena_free(&arena);
    if (status == LW_OK && options && note) compare_options(s, &again, options, note);
    return status;
}

bool lwi_reader_source(const lw_model *model, const char **text, size_t *length,
                       const lw_read_desc **desc)
{
    const lwi_remake *r = &model->desc.remake;
    if (r->make != remake) return false;
    *text = r->source->text;
    *length = r->source->length;
    *desc = &r->source->desc;
    return true;
}

static lw_status parse_document(const lwi_remake *how, lwi_arena *arena,
                                const lwi_parsed_document **document, lw_error *error)
{
    const struct lwi_remake_source *s = how->source;
    return lwi_document_parse(s->text, s->length, s->name, arena, document, error);
}

static const lwi_remake remaking = {.make = remake, .parse = parse_document, .copy = copy_source};

// Compares the measures with the columns that results of the model have.
static lw_status check_measures(lw_model **model, lw_error *error)
{
    lw_measures *measures;
    if ((*model)->desc.nmeasure == 0) return LW_OK;
    const lw_status status = lw_measures_create(*model, &measures, error);
    if (status == LW_OK) {
        lw_measures_destroy(measures);
        return LW_OK;
    }
    lw_model_destroy(*model);
    *model = NULL;
    return status;
}

static lw_status build(const format *f, const char *text, size_t length, const char *name,
                       const lw_read_desc *desc, const lwi_parsed_document *document,
                       lw_model **model, lw_options *options, lw_error *error)
{
    lw_builder *builder;
    lwi_numbers numbers;
    const lw_options before = *options;
    if (lw_builder_create(desc->allocator, &builder) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a builder");
    builder->document = document;
    lw_status status = lw_builder_set_source(builder, name);
    if (status == LW_OK && !lwi_numbers_begin(&numbers)) status = LW_ERR_MEMORY;
    if (status == LW_OK) {
        status = f->read(text, length, name, desc, builder, options, error);
        lwi_numbers_end(&numbers);
    }
    set_inertia_checks(builder, desc->inertia_check);
    if (status == LW_OK) status = lw_builder_cut(builder, desc->cut, error);
    const struct lwi_remake_source source = {text, name, length, *desc, before, *options};
    if (builder->desc.stated.nparameter) {
        builder->desc.remake = remaking;
        builder->desc.remake.source = &source; // the model copies it
    }
    if (status == LW_OK)
        status = lwi_limits_apply(builder, &desc->limits, desc->limits_time, error);
    if (status == LW_OK)
        status = (desc->open ? lw_model_create_open : lw_model_create)(builder, model, error);
    if (status == LW_OK) status = check_measures(model, error);
    lw_builder_destroy(builder);
    return status;
}

static lw_status parse_model(const char *text, size_t length, const char *name,
                             const lw_read_desc *desc, const lwi_parsed_document *document,
                             lw_model **model, lw_options *options, lw_error *error)
{
    const format *f;
    lw_options resolved; // on failure the caller's options are unchanged
    lw_model *made = NULL;
    if (error) memset(error, 0, sizeof *error);
    if (!text || !name || !desc || !desc->format || !model)
        return lwi_fail(error, LW_ERR_ARGUMENT, "text, name, desc->format and model must be given");
    TRY(find_format(desc->format, name, &f, error));
    if (!(desc->limits_time >= 0 && desc->limits_time < INFINITY))
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "limits: time constant %g, expected a finite number >= 0",
                                  desc->limits_time),
                         name, error);
    if (!(desc->limits.stiffness >= 0 && desc->limits.stiffness < INFINITY) ||
        !(desc->limits.damping >= 0 && desc->limits.damping < INFINITY))
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "limits of stiffness %g and damping %g, expected "
                                  "finite numbers >= 0",
                                  desc->limits.stiffness, desc->limits.damping),
                         name, error);
    if (desc->keyframe && strcmp(f->name, "mjcf") != 0)
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "keyframe '%.80s': only MJCF has keyframes, this is %s",
                                  desc->keyframe, f->name),
                         name, error);
    if (desc->missing_mesh && strcmp(desc->missing_mesh, "error") != 0 &&
        strcmp(desc->missing_mesh, "massless") != 0)
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "missing mesh '%.80s': expected error or massless",
                                  desc->missing_mesh),
                         name, error);
    if (desc->nset && (!desc->set || strcmp(f->name, "yaml") != 0))
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "'%.80s': only native model files have parameters, this is %s",
                                  desc->set ? desc->set[0] : "", f->name),
                         name, error);
    if (desc->inertia_check && inertia_check_of(desc->inertia_check) < 0)
        return with_file(lwi_fail(error, LW_ERR_ARGUMENT,
                                  "inertia check '%.80s': expected error, warn, accept or repair",
                                  desc->inertia_check),
                         name, error);
    if (options)
        resolved = *options;
    else
        lw_options_default(&resolved);
    TRY(with_file(build(f, text, length, name, desc, document, &made, &resolved, error), name,
                  error));
    if (options) *options = resolved;
    *model = made;
    return LW_OK;
}

lw_status lw_model_parse(const char *text, size_t length, const char *name,
                         const lw_read_desc *desc, lw_model **model, lw_options *options,
                         lw_error *error)
{
    LWI_DESC(lw_read_desc, desc, error);
    return parse_model(text, length, name, desc, NULL, model, options, error);
}

// ------------------------------------------------------------------------------------------- files

static lw_status io_error(lw_error *error, const char *path, const char *what)
{
    const int number = errno;
    lwi_fail(error, LW_ERR_IO, "%s: %s", what, strerror(number));
    if (error) lwi_copy_text(error->file, sizeof error->file, path);
    return LW_ERR_IO;
}

// Reads the whole stream into one block of the allocator, without its size in advance: it may be growing.
static lw_status read_stream(FILE *file, const char *path, const lw_allocator *allocator,
                             char **text, size_t *length, lw_error *error)
{
    size_t room = 1 << 16, used = 0;
    char *block = lwi_allocate(allocator, room);
    while (block) {
        errno = 0;
        used += fread(block + used, 1, room - used, file);
        if (ferror(file)) {
            lwi_release(allocator, block);
            return io_error(error, path, "cannot be read");
        }
        if (used < room) {
            *text = block;
            *length = used;
            return LW_OK;
        }
        if (room >= LARGEST_FILE) {
            lwi_release(allocator, block);
            return lwi_fail(error, LW_ERR_IO, "larger than %d MiB", (int)(LARGEST_FILE >> 20));
        }
        char *larger = lwi_allocate(allocator, 2 * room);
        if (larger) memcpy(larger, block, used);
        lwi_release(allocator, block);
        block = larger;
        room *= 2;
    }
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the file");
}

lw_status lwi_reader_file(const char *path, const lw_allocator *allocator, char **text,
                          size_t *length, lw_error *error)
{
    FILE *file;
    TRY(lwi_open_input_stream(path, &file, error));
    const lw_status status = read_stream(file, path, allocator, text, length, error);
    fclose(file);
    return status;
}

// Resolved by the system: `..` and links cannot lead out of the folder.
const char *lwi_reader_path_inside(const char *folder, const char *name, lwi_arena *arena)
{
    const size_t n = strlen(folder), m = strlen(name);
    char *path = LWI_PUSH(arena, char, n + m + 2);
    if (!path || !*name) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m);
    char *real_folder = realpath(folder, NULL), *real_path = realpath(path, NULL);
    const size_t length = real_folder ? strlen(real_folder) : 0;
    const bool inside =
        real_folder && real_path && strncmp(real_folder, real_path, length) == 0 &&
        (real_path[length] == '/' || (length > 0 && real_folder[length - 1] == '/'));
    free(real_folder);
    free(real_path);
    return inside ? path : NULL;
}

// "a/b" of "a/b/c.urdf", "." of "c.urdf"
static const char *folder_of(const char *path, lwi_arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    char *folder = lwi_arena_text(arena, path);
    if (folder) folder[slash == path ? 1 : slash - path] = 0;
    return folder;
}

static lw_status parse_in_folder(const char *text, size_t length, const char *path,
                                 const lw_read_desc *desc, lw_model **model, lw_options *options,
                                 lw_error *error)
{
    lwi_arena arena;
    lw_read_desc with_folder = *desc;
    lwi_arena_init(&arena, desc->allocator);
    if (!desc->folder) with_folder.folder = folder_of(path, &arena);
    const lw_status status =
        with_folder.folder ? lw_model_parse(text, length, path, &with_folder, model, options, error)
                           : lwi_fail(error, LW_ERR_MEMORY, "no memory for the name of a folder");
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_model_read(const char *path, const lw_read_desc *desc, lw_model **model,
                        lw_options *options, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_read_desc, desc, error);
    const format *f;
    char *text = NULL;
    size_t length = 0;
    if (error) memset(error, 0, sizeof *error);
    if (!path || !model) return lwi_fail(error, LW_ERR_ARGUMENT, "path and model must be given");
    lw_read_desc with_format = *desc;
    TRY(with_file(find_format(with_format.format, path, &f, error), path, error));
    with_format.format = f->name;
    TRY(with_file(lwi_reader_file(path, with_format.allocator, &text, &length, error), path,
                  error));
    const lw_status status =
        parse_in_folder(text, length, path, &with_format, model, options, error);
    lwi_release(with_format.allocator, text);
    return status;
}

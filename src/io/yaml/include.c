// include.c -- native files that are parts of others: opened as a tree of readings, names with prefixes.
#define _XOPEN_SOURCE 700 // realpath
#include "io/yaml/include.h"

#include "io/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16, MOST = 1000 }; // files inside each other; files in all

const char *lwi_yaml_full_name(lwi_yaml_reading *r, const char *name)
{
    return *r->prefix ? lwi_yaml_joined(r, r->prefix, name, "") : name;
}

// The file with the prefix that the name begins with, and what follows the prefix.
static const lwi_yaml_reading *child_of(const lwi_yaml_reading *child, const char *name,
                                        const char **rest)
{
    for (; child; child = child->next) {
        const size_t n = strlen(child->own_prefix);
        if (strncmp(name, child->own_prefix, n) != 0 || !name[n]) continue;
        *rest = name + n;
        return child;
    }
    return NULL;
}

int lwi_yaml_find_body(const lwi_yaml_reading *r, const char *name)
{
    const int k = r->bodies ? lwi_document_find(r->bodies, name) : -1;
    if (k >= 0) return r->body ? r->body[k] : 0;
    const char *rest = NULL;
    const lwi_yaml_reading *c = child_of(r->child, name, &rest);
    return c ? lwi_yaml_find_body(c, rest) : -1;
}

int lwi_yaml_find_joint(const lwi_yaml_reading *r, const char *name)
{
    const int k = r->joints ? lwi_document_find(r->joints, name) : -1;
    if (k >= 0) return r->joint[k];
    const char *rest = NULL;
    const lwi_yaml_reading *c = child_of(r->child, name, &rest);
    return c ? lwi_yaml_find_joint(c, rest) : -1;
}

const lwi_document_value *lwi_yaml_find_joint_entry(const lwi_yaml_reading **r, const char *name)
{
    while (*r) {
        const int k = (*r)->joints ? lwi_document_find((*r)->joints, name) : -1;
        if (k >= 0) return (*r)->joints->item[k];
        *r = child_of((*r)->child, name, &name);
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------ opening

static bool same_file(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    const bool same = x && y ? strcmp(x, y) == 0 : strcmp(a, b) == 0;
    free(x);
    free(y);
    return same;
}

static lw_status check_cycle(lwi_yaml_reading *r, const lwi_yaml_include *entry, const char *path,
                             const lwi_document_value *subsystem)
{
    const lw_place place = subsystem ? entry->subsystem_place : entry->file_place;
    for (const lwi_yaml_reading *up = r; up; up = up->parent)
        if (subsystem ? up->root == subsystem : same_file(up->file, path))
            return lwi_yaml_fail(r, LW_ERR_MODEL, place, "'%.120s' includes itself%s",
                                 subsystem ? entry->subsystem : path,
                                 up == r ? "" : " through others");
    if (r->depth == DEEPEST)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place, "more than %d files inside each other",
                             (int)DEEPEST);
    if (++*r->total > MOST)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place, "more than %d files are included", (int)MOST);
    return LW_OK;
}

static const char *folder_of(lwi_yaml_reading *r, const char *path)
{
    char *folder = (char *)lwi_yaml_joined(r, path, "", "");
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (!slash) return folder ? "." : NULL;
    slash[slash == folder] = 0;
    return folder;
}

// Path of the file that an entry names.
static lw_status find_file(lwi_yaml_reading *r, const lwi_yaml_include *entry, const char **path)
{
    if (!r->folder)
        return lwi_yaml_fail(r, LW_ERR_ARGUMENT, entry->file_place,
                             "'%.120s' is not read: the folder of this model is not known",
                             entry->file);
    *path = lwi_reader_path_inside(r->folder, entry->file, &r->arena);
    if (*path) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_IO, entry->file_place,
                         "there is no file '%.120s' in the folder of this file, or below it",
                         entry->file);
}

// The subsystem that an entry names, and the file that has it; NULL: it names a file.
static lw_status find_subsystem(lwi_yaml_reading *r, const lwi_yaml_include *entry, lw_place place,
                                const lwi_yaml_reading **owner, const lwi_document_value **found)
{
    *owner = r;
    *found = NULL;
    if (!entry->file == !entry->subsystem)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place,
                             entry->file ? "both 'file' and 'subsystem', expected one of them"
                                         : "key 'file' is missing, or 'subsystem': a native model "
                                           "file, or the name of a subsystem");
    if (entry->file) return LW_OK;
    *found = lwi_yaml_find_subsystem(owner, entry->subsystem);
    if (*found) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_MODEL, entry->subsystem_place,
                         "there is no subsystem '%.80s' in the section `subsystems`",
                         entry->subsystem);
}

static lw_status parse_file(lwi_yaml_reading *c)
{
    char *text = NULL;
    size_t length = 0;
    TRY(lwi_reader_file(c->file, &c->arena.allocator, &text, &length, c->error));
    const lw_status status =
        lwi_document_parse(text, length, c->file, &c->arena, &c->root, c->error);
    lwi_release(&c->arena.allocator, text);
    return status;
}

static lw_status check_prefix(lwi_yaml_reading *r, const lwi_yaml_reading *c, lw_place place)
{
    for (const lwi_yaml_reading *other = r->child; other; other = other->next) {
        const size_t n = strlen(other->own_prefix), m = strlen(c->own_prefix);
        if (other == c || strncmp(other->own_prefix, c->own_prefix, n < m ? n : m) != 0) continue;
        return lwi_yaml_fail(
            r, LW_ERR_MODEL, place,
            "the prefixes '%.60s' and '%.60s' begin alike, expected different ones",
            other->own_prefix, c->own_prefix);
    }
    return LW_OK;
}

static lw_status open_entry(lwi_yaml_reading *r, const char *name, lw_place place,
                            const lwi_document_value *map, lwi_yaml_reading ***end,
                            lw_status (*open)(lwi_yaml_reading *, const lwi_document_value *))
{
    lwi_yaml_include entry = {.prefix = NULL};
    const char *path = NULL;
    lwi_yaml_set_item(r, "include", name);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_include_object, 0, map, place, &entry));
    const lwi_yaml_reading *owner;
    const lwi_document_value *subsystem;
    TRY(find_subsystem(r, &entry, place, &owner, &subsystem));
    if (subsystem)
        path = owner->file;
    else
        TRY(find_file(r, &entry, &path));
    TRY(check_cycle(r, &entry, path, subsystem));
    const char *folder = subsystem ? owner->folder : folder_of(r, path);
    if (!subsystem && !folder) return lwi_yaml_no_memory(r);
    lwi_yaml_reading *c = LWI_PUSH(&r->arena, lwi_yaml_reading, 1);
    const char *prefix = entry.prefix ? entry.prefix : lwi_yaml_joined(r, name, ".", "");
    if (!c || !prefix) return lwi_yaml_no_memory(r);
    *c = (lwi_yaml_reading){.file = path,
                            .builder = r->builder,
                            .options = r->options,
                            .error = r->error,
                            .alternative = -1,
                            .parent = r,
                            .entry = name,
                            .own_prefix = prefix,
                            .prefix = lwi_yaml_joined(r, r->prefix, prefix, ""),
                            .folder = folder,
                            .subsystem = entry.subsystem,
                            .place_of_include = place,
                            .depth = r->depth + 1,
                            .total = r->total,
                            .places = {folder, r->places.packages}};
    lwi_arena_init(&c->arena, &r->arena.allocator);
    c->meshes.arena = &c->arena;
    **end = c; // closed with the others, also after a failure
    *end = &c->next;
    if (!c->prefix) return lwi_yaml_no_memory(r);
    TRY(check_prefix(r, c, place));
    const int s = lwi_document_find(map, "parameters");
    c->settings = s < 0 ? NULL : map->item[s];
    c->ground_name = entry.ground;
    c->ground_place = entry.ground_place;
    lwi_yaml_place_in(&r->placement, &entry.pose, entry.mirror, &c->placement);
    c->root = subsystem;
    if (!subsystem) TRY(parse_file(c));
    return open(c, c->root);
}

lw_status lwi_yaml_open_includes(lwi_yaml_reading *r, const lwi_document_value *section,
                                 lw_status (*open)(lwi_yaml_reading *, const lwi_document_value *))
{
    lwi_yaml_reading **end = &r->child;
    for (int i = 0; section && i < section->count; i++) {
        const void *base = r->base;
        r->base = NULL; // nothing is kept of an entry
        TRY(open_entry(r, section->key[i], section->key_place[i], section->item[i], &end, open));
        r->base = base;
    }
    lwi_yaml_set_item(r, "", "");
    return LW_OK;
}

void lwi_yaml_close_includes(lwi_yaml_reading *r)
{
    for (lwi_yaml_reading *c = r->child; c; c = c->next) {
        lwi_yaml_close_includes(c);
        lwi_arena_free(&c->arena);
    }
}

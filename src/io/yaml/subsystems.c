// subsystems.c -- models of several files as one file: included files become entries of the section `subsystems`.
//
// The text has what the files state, not what was computed from it, so that parameters act as in the files.  The writer
// uses it only if the model that it makes is the same (write_files.c).
#include "io/yaml/flow.h"
#include "io/yaml/include.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

const lwi_document_value *lwi_yaml_find_subsystem(const lwi_yaml_reading **r, const char *name)
{
    for (; *r; *r = (*r)->parent) {
        const int s = lwi_document_find((*r)->root, "subsystems");
        const lwi_document_value *all = s < 0 ? NULL : (*r)->root->item[s];
        const int k = all && all->kind == LWI_DOCUMENT_MAP ? lwi_document_find(all, name) : -1;
        if (k >= 0) return all->item[k];
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------- names

typedef struct parts {
    const lwi_yaml_reading **part; // [n] one for each file or subsystem
    const char **name;             // [n]
    int n;
} parts;

// Are both made from the same place of the same file?
static bool same_text(const lwi_yaml_reading *a, const lwi_yaml_reading *b)
{
    return a->root->place.line == b->root->place.line &&
           a->root->place.column == b->root->place.column && strcmp(a->file, b->file) == 0;
}

static const char *name_of(const parts *p, const lwi_yaml_reading *c)
{
    for (int i = 0; i < p->n; i++)
        if (same_text(p->part[i], c)) return p->name[i];
    return NULL;
}

static bool is_taken(const parts *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->name[i], name) == 0) return true;
    return false;
}

// "leg" of "models/leg.yaml", or the name of a subsystem; with a number where that is the name of another one.
static const char *make_name(lwi_yaml_reading *r, const parts *p, const lwi_yaml_reading *c)
{
    enum { DIGITS = 16 };
    char *first = (char *)c->subsystem;
    if (!first) {
        const char *slash = strrchr(c->file, '/');
        first = (char *)lwi_yaml_joined(r, slash ? slash + 1 : c->file, "", "");
        char *dot = first ? strrchr(first, '.') : NULL;
        if (dot && dot != first) *dot = 0;
    }
    const char *name = first;
    for (int i = 2; name && is_taken(p, name); i++) {
        char number[DIGITS];
        snprintf(number, sizeof number, "_%d", i);
        name = lwi_yaml_joined(r, first, number, "");
    }
    return name;
}

static lw_status collect(lwi_yaml_reading *r, const lwi_yaml_reading *parent, parts *p)
{
    for (const lwi_yaml_reading *c = parent->child; c; c = c->next) {
        if (name_of(p, c)) continue;
        const char *name = make_name(r, p, c);
        if (!name) return lwi_yaml_no_memory(r);
        p->part[p->n] = c, p->name[p->n++] = name;
        TRY(collect(r, c, p));
    }
    return LW_OK;
}

// --------------------------------------------------------------------------------------------- text

static void put_include(lwi_yaml_text *t, int indent, const lwi_yaml_reading *r, const parts *p)
{
    const lwi_document_value *section = r->root->item[lwi_document_find(r->root, "include")];
    const lwi_yaml_reading *c = r->child; // in the order of the section
    lwi_yaml_put(t, indent ? "    include:\n" : "include:\n");
    for (int i = 0; i < section->count; i++, c = c->next) {
        const lwi_document_value *entry = section->item[i];
        lwi_yaml_put(t, indent ? "      " : "  ");
        lwi_yaml_put_name(t, section->key[i]);
        lwi_yaml_put(t, ": {subsystem: ");
        lwi_yaml_put_name(t, name_of(p, c));
        for (int k = 0; k < entry->count; k++) {
            if (!strcmp(entry->key[k], "file") || !strcmp(entry->key[k], "subsystem")) continue;
            lwi_yaml_put(t, ", ");
            lwi_yaml_put_name(t, entry->key[k]);
            lwi_yaml_put(t, ": ");
            lwi_yaml_put_flow(t, entry->item[k]);
        }
        lwi_yaml_put(t, "}\n");
    }
}

static void put_file(lwi_yaml_text *t, int indent, const lwi_yaml_reading *r, const parts *p)
{
    static const char *const of_main[] = {"linkwork", "parameters", "simulation"}; // by the writer
    t->places = &r->places;
    for (int k = 0; k < r->root->count; k++) {
        const char *key = r->root->key[k];
        bool skip = strcmp(key, "subsystems") == 0;
        for (int i = 0; i < LWI_COUNT(of_main); i++)
            skip = skip || (!r->parent && strcmp(key, of_main[i]) == 0);
        if (skip) continue;
        if (strcmp(key, "include") == 0 && r->child)
            put_include(t, indent, r, p);
        else
            lwi_yaml_put_entry(t, indent, key, r->root->item[k]);
    }
}

static void put_all(lwi_yaml_text *t, const lwi_yaml_reading *r, const parts *p)
{
    enum { INDENT = 4 };
    put_file(t, 0, r, p);
    lwi_yaml_put(t, "subsystems:\n");
    for (int i = 0; i < p->n; i++) {
        lwi_yaml_put(t, "  ");
        lwi_yaml_put_name(t, p->name[i]);
        lwi_yaml_put(t, ":\n");
        put_file(t, INDENT, p->part[i], p);
    }
}

lw_status lwi_yaml_keep_files(lwi_yaml_reading *r)
{
    parts p = {LWI_PUSH(&r->arena, const lwi_yaml_reading *, *r->total),
               LWI_PUSH(&r->arena, const char *, *r->total), 0};
    lwi_yaml_text t = {.arena = &r->arena};
    if (!p.part || !p.name) return lwi_yaml_no_memory(r);
    TRY(collect(r, r, &p));
    put_all(&t, r, &p);
    if (!lwi_yaml_text_room(&t, &r->builder->arena)) return lwi_yaml_no_memory(r);
    put_all(&t, r, &p);
    r->builder->desc.stated.files = t.text;
    return LW_OK;
}

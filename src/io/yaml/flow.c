// flow.c -- values of a document as text that reads back to the same document.
#include "io/yaml/flow.h"

#include "io/text.h"

#include <stdio.h>
#include <string.h>

bool lwi_yaml_text_room(lwi_yaml_text *t, lwi_arena *arena)
{
    t->room = t->length + 1;
    t->length = 0;
    t->text = LWI_PUSH(arena, char, t->room);
    return t->text != NULL;
}

static void put(lwi_yaml_text *t, char c)
{
    if (t->length < t->room) t->text[t->length] = c;
    t->length++;
}

void lwi_yaml_put(lwi_yaml_text *t, const char *text)
{
    for (; *text; text++) put(t, *text);
}

// Does a scalar read back without quotes in any place?
static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
                               "+-*/^() ";
    const size_t n = strlen(text);
    return n > 0 && text[strspn(text, safe)] == 0 && text[n - 1] != ' ' &&
           !strchr("*+./^) ", text[0]) && !(text[0] == '-' && strchr("- ", text[1]));
}

// Characters that YAML refuses or changes between quotes.
static bool is_printable(long code)
{
    return code >= 0x20 && !(code >= 0x7F && code < 0xA0) && code < 0xFFFE && code != 0xFEFF &&
           code != 0x2028 && code != 0x2029;
}

static void put_quoted(lwi_yaml_text *t, const char *text)
{
    char escaped[16];
    put(t, '"');
    for (int bytes = 1; *text; text += bytes) {
        const long code = lwi_text_utf8_next(text, &bytes);
        if (code == '"' || code == '\\') put(t, '\\');
        if (code == '\n') {
            lwi_yaml_put(t, "\\n");
        } else if (is_printable(code)) {
            for (int i = 0; i < bytes; i++) put(t, text[i]);
        } else {
            snprintf(escaped, sizeof escaped, "\\U%08lX", (unsigned long)code);
            lwi_yaml_put(t, escaped);
        }
    }
    put(t, '"');
}

void lwi_yaml_put_name(lwi_yaml_text *t, const char *name)
{
    if (is_plain(name))
        lwi_yaml_put(t, name);
    else
        put_quoted(t, name);
}

// The file of a mesh by its absolute path, so that it is found from any folder.
static void put_mesh(lwi_yaml_text *t, const lwi_document_value *v)
{
    const char *path = lwi_mesh_find(t->places, v->text, t->arena);
    put_quoted(t, path ? path : v->text);
}

static void put_map(lwi_yaml_text *t, const lwi_document_value *v)
{
    put(t, '{');
    for (int i = 0; i < v->count; i++) {
        if (i) lwi_yaml_put(t, ", ");
        lwi_yaml_put_name(t, v->key[i]);
        lwi_yaml_put(t, ": ");
        if (t->places && !strcmp(v->key[i], "mesh") && v->item[i]->kind == LWI_DOCUMENT_SCALAR)
            put_mesh(t, v->item[i]);
        else
            lwi_yaml_put_flow(t, v->item[i]);
    }
    put(t, '}');
}

void lwi_yaml_put_flow(lwi_yaml_text *t, const lwi_document_value *v)
{
    if (v->kind == LWI_DOCUMENT_MAP) {
        put_map(t, v);
    } else if (v->kind == LWI_DOCUMENT_LIST) {
        put(t, '[');
        for (int i = 0; i < v->count; i++) {
            if (i) lwi_yaml_put(t, ", ");
            lwi_yaml_put_flow(t, v->item[i]);
        }
        put(t, ']');
    } else if (v->quoted) {
        put_quoted(t, v->text);
    } else {
        lwi_yaml_put_name(t, v->text);
    }
}

static bool is_long(const lwi_yaml_text *t, const lwi_document_value *v)
{
    enum { LONG = 100 };
    lwi_yaml_text measured = {.places = t->places, .arena = t->arena};
    lwi_yaml_put_flow(&measured, v);
    return measured.length > LONG;
}

// A section, an item, its keys: deeper maps are on one line.
static void put_entry(lwi_yaml_text *t, int indent, int level, const char *key,
                      const lwi_document_value *v)
{
    for (int i = 0; i < indent; i++) put(t, ' ');
    lwi_yaml_put_name(t, key);
    put(t, ':');
    if (v->kind != LWI_DOCUMENT_MAP || v->count == 0 || level > 1 || (level && !is_long(t, v))) {
        put(t, ' ');
        lwi_yaml_put_flow(t, v);
        put(t, '\n');
        return;
    }
    put(t, '\n');
    for (int i = 0; i < v->count; i++) put_entry(t, indent + 2, level + 1, v->key[i], v->item[i]);
}

void lwi_yaml_put_entry(lwi_yaml_text *t, int indent, const char *key, const lwi_document_value *v)
{
    put_entry(t, indent, 0, key, v);
}

const char *lwi_yaml_flow(lwi_yaml_reading *r, const lwi_document_value *v)
{
    lwi_yaml_text t = {.places = &r->places, .arena = &r->arena};
    lwi_yaml_put_flow(&t, v);
    if (!lwi_yaml_text_room(&t, &r->arena)) return NULL;
    lwi_yaml_put_flow(&t, v);
    return t.text;
}

const char *lwi_yaml_joined(lwi_yaml_reading *r, const char *a, const char *b, const char *c)
{
    const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = LWI_PUSH(&r->arena, char, size);
    if (text) snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

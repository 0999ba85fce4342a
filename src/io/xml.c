// xml.c -- a tree of elements from the events of expat.
//
// Expat itself uses malloc (its hooks have no user pointer) and frees everything when parsing ends; the
// tree is in an arena of the caller's allocator, one block for each element.
#include "base/assert.h"
#include "io/xml.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parsing {
    lwi_xml *xml;
    XML_Parser parser;
    lwi_xml_element *open; // innermost open element
    int depth, count;
    char *text; // of the open element since its start tag
    size_t ntext, room;
    lw_status status;
    lw_error *error;
} parsing;

static const char blank[] = " \t\r\n";

// -------------------------------------------------------------------------------------- the events

static void give_up(parsing *p, lw_status status, const char *why, const char *name)
{
    if (p->status != LW_OK) return;
    p->status =
        lwi_fail_at(p->error, status, p->xml->file, (int)XML_GetCurrentLineNumber(p->parser),
                    (int)XML_GetCurrentColumnNumber(p->parser) + 1, "%s%s%s%s", why,
                    *name ? " '" : "", name, *name ? "'" : "");
    XML_StopParser(p->parser, XML_FALSE);
}

static char *put(char **end, const char *text)
{
    char *start = *end;
    const size_t size = strlen(text) + 1;
    memcpy(start, text, size);
    *end += size;
    return start;
}

// One block: the element, its attributes and their strings.
static lwi_xml_element *new_element(lwi_arena *arena, const char *name, const char **attribute,
                                    int nattribute)
{
    size_t bytes = sizeof(lwi_xml_element) + (size_t)nattribute * sizeof(lwi_xml_attribute);
    bytes += strlen(name) + 1;
    for (int i = 0; i < 2 * nattribute; i++) bytes += strlen(attribute[i]) + 1;
    lwi_xml_element *e = lwi_arena_push(arena, 1, bytes);
    if (!e) return NULL;
    lwi_xml_attribute *a = (lwi_xml_attribute *)(e + 1);
    char *end = (char *)(a + nattribute);
    for (int i = 0; i < nattribute; i++) {
        a[i].name = put(&end, attribute[2 * i]);
        a[i].value = put(&end, attribute[2 * i + 1]);
    }
    LWI_ASSERT(end + strlen(name) + 1 == (char *)e + bytes);
    *e = (lwi_xml_element){.text = "", .attribute = a, .nattribute = nattribute};
    e->name = put(&end, name);
    return e;
}

static void on_start(void *user, const char *name, const char **attribute)
{
    parsing *p = user;
    if (p->status != LW_OK) return;
    int nattribute = 0;
    while (attribute[2 * nattribute]) nattribute++;
    if (nattribute > LWI_XML_MAX_ATTRIBUTES) {
        give_up(p, LW_ERR_PARSE, "too many attributes of", name);
        return;
    }
    if (++p->depth > LWI_XML_MAX_DEPTH) {
        give_up(p, LW_ERR_PARSE, "elements are nested too deeply at", name);
        return;
    }
    if (++p->count > LWI_XML_MAX_ELEMENTS) {
        give_up(p, LW_ERR_PARSE, "too many elements at", name);
        return;
    }
    lwi_xml_element *e = new_element(&p->xml->arena, name, attribute, nattribute);
    if (!e) {
        give_up(p, LW_ERR_MEMORY, "out of memory", "");
        return;
    }
    e->line = (int)XML_GetCurrentLineNumber(p->parser);
    e->column = (int)XML_GetCurrentColumnNumber(p->parser) + 1;
    e->file = p->xml->file;
    e->parent = p->open;
    if (!p->open)
        p->xml->root = e;
    else if (p->open->last)
        p->open->last->next = e;
    else
        p->open->first = e;
    if (p->open) p->open->last = e;
    p->open = e;
    p->ntext = 0;
}

static void on_end(void *user, const char *name)
{
    (void)name;
    parsing *p = user;
    if (p->status != LW_OK) return;
    lwi_xml_element *e = p->open;
    LWI_ASSERT(e && p->depth > 0);
    if (!e->first && p->ntext) {
        p->text[p->ntext] = 0;
        char *start = p->text + strspn(p->text, blank);
        char *end = p->text + p->ntext;
        while (end > start && strchr(blank, end[-1])) end--;
        *end = 0;
        if (*start) e->text = lwi_arena_text(&p->xml->arena, start);
        if (!e->text) {
            e->text = "";
            give_up(p, LW_ERR_MEMORY, "out of memory", "");
        }
    }
    p->ntext = 0;
    p->open = e->parent;
    p->depth--;
}

static void on_text(void *user, const char *text, int length)
{
    parsing *p = user;
    if (p->status != LW_OK) return;
    const size_t need = p->ntext + (size_t)length + 1;
    if (need > p->room) {
        const size_t room = 2 * need;
        char *wider = lwi_allocate(&p->xml->arena.allocator, room);
        if (!wider) {
            give_up(p, LW_ERR_MEMORY, "out of memory", "");
            return;
        }
        if (p->ntext) memcpy(wider, p->text, p->ntext);
        lwi_release(&p->xml->arena.allocator, p->text);
        p->text = wider;
        p->room = room;
    }
    LWI_ASSERT(length >= 0 && p->ntext + (size_t)length < p->room);
    memcpy(p->text + p->ntext, text, (size_t)length);
    p->ntext += (size_t)length;
}

static void on_doctype(void *user, const char *name, const char *system, const char *public,
                       int has_internal)
{
    (void)system, (void)public, (void)has_internal;
    give_up(user, LW_ERR_PARSE, "document type declarations are not accepted, found", name);
}

// ---------------------------------------------------------------------------------------- the tree

static lw_status run_parser(parsing *p, const char *text, size_t length)
{
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, on_start, on_end);
    XML_SetCharacterDataHandler(p->parser, on_text);
    XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
    if (XML_Parse(p->parser, text, (int)length, 1) == XML_STATUS_OK || p->status != LW_OK)
        return p->status;
    const enum XML_Error code = XML_GetErrorCode(p->parser);
    return lwi_fail_at(p->error, code == XML_ERROR_NO_MEMORY ? LW_ERR_MEMORY : LW_ERR_PARSE,
                       p->xml->file, (int)XML_GetCurrentLineNumber(p->parser),
                       (int)XML_GetCurrentColumnNumber(p->parser) + 1, "not valid XML: %s",
                       XML_ErrorString(code));
}

lw_status lwi_xml_parse(lwi_xml *xml, const char *text, size_t length, const char *file,
                        const lw_allocator *allocator, lw_error *error)
{
    if (length > LWI_XML_MAX_BYTES)
        return lwi_fail_at(error, LW_ERR_PARSE, file, 0, 0,
                           "the file has %zu bytes, expected at most %d", length,
                           LWI_XML_MAX_BYTES);
    if (length == 0)
        return lwi_fail_at(error, LW_ERR_PARSE, file, 1, 1, "the file is empty, expected a model");
    *xml = (lwi_xml){.file = file};
    lwi_arena_init(&xml->arena, allocator);
    parsing p = {.xml = xml, .error = error, .parser = XML_ParserCreate(NULL)};
    lw_status status =
        p.parser ? run_parser(&p, text, length) : lwi_fail(error, LW_ERR_MEMORY, "out of memory");
    lwi_release(&xml->arena.allocator, p.text);
    if (p.parser) XML_ParserFree(p.parser);
    if (status != LW_OK) lwi_xml_free(xml);
    return status;
}

void lwi_xml_free(lwi_xml *xml)
{
    lwi_arena_free(&xml->arena);
    *xml = (lwi_xml){0};
}

const lwi_xml_element *lwi_xml_child(const lwi_xml_element *element, const char *name)
{
    const lwi_xml_element *e = element->first;
    while (e && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

const lwi_xml_element *lwi_xml_next(const lwi_xml_element *element, const char *name)
{
    const lwi_xml_element *e = element->next;
    while (e && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

const char *lwi_xml_get(const lwi_xml_element *element, const char *attribute)
{
    for (int i = 0; i < element->nattribute; i++)
        if (strcmp(element->attribute[i].name, attribute) == 0) return element->attribute[i].value;
    return NULL;
}

// ----------------------------------------------------------------------------------------- reading

lw_status lwi_xml_fail(const lwi_xml *xml, const lwi_xml_element *element, lw_status status,
                       lw_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lwi_fail_v(error, status, format, arguments);
    va_end(arguments);
    if (error) {
        const char *file = element->file ? element->file : xml->file;
        lwi_copy_text(error->file, sizeof error->file, file ? file : "");
        error->line = element->line;
        error->column = element->column;
    }
    return status;
}

// The next number of a list, or false.  "inf", "nan" and hexadecimal numbers are refused.
static bool next_number(const char **text, double *x)
{
    const char *start = *text + strspn(*text, blank);
    const size_t length = strspn(start, "+-.0123456789eE");
    if (!length) return false;
    char *end = NULL;
    *x = strtod(start, &end);
    *text = end;
    return end == start + length && isfinite(*x);
}

int lwi_xml_list(const char *text, int max, double *x)
{
    int n = 0;
    LWI_ASSERT(max >= 0);
    while (n < max && text[strspn(text, blank)])
        if (!next_number(&text, x + n++)) return -1;
    return text[strspn(text, blank)] ? -1 : n;
}

static bool read_list(const char *text, int count, double *x)
{
    return lwi_xml_list(text, count, x) == count;
}

lw_status lwi_xml_numbers(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                          int count, double *x, lw_error *error)
{
    const char *value = lwi_xml_get(element, attribute);
    if (!value || read_list(value, count, x)) return LW_OK;
    return lwi_xml_fail(xml, element, LW_ERR_PARSE, error,
                        "<%.60s %.60s>: '%.80s' is not %d finite number%s", element->name,
                        attribute, value, count, count > 1 ? "s" : "");
}

lw_status lwi_xml_text_numbers(const lwi_xml *xml, const lwi_xml_element *element, int count,
                               double *x, lw_error *error)
{
    if (read_list(element->text, count, x)) return LW_OK;
    return lwi_xml_fail(xml, element, LW_ERR_PARSE, error,
                        "<%.60s>: '%.80s' is not %d finite number%s", element->name, element->text,
                        count, count > 1 ? "s" : "");
}

lw_status lwi_xml_need(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                       const char **value, lw_error *error)
{
    *value = lwi_xml_get(element, attribute);
    if (*value) return LW_OK;
    return lwi_xml_fail(xml, element, LW_ERR_PARSE, error, "<%.60s> has no attribute '%s'",
                        element->name, attribute);
}

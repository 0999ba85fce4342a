// text.c -- included files, classes of defaults, and names of MJCF.
//
// The contents of an included file replace the <include>.  Files are in the folder of the model or below
// it, and each is included once.
#include "base/assert.h"
#include "io/mjcf/mjcf.h"

#include "io/readers.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>

lw_status lwi_mjcf_no_memory(const lwi_mjcf *u)
{
    return lwi_fail(u->error, LW_ERR_MEMORY, "out of memory");
}

// Index of the included file that contains an element; -1: the main file.
static int file_of(const lwi_mjcf *u, const lwi_xml_element *e)
{
    for (int i = 0; i < u->nincluded; i++)
        if (e->file == u->included[i].file) return i;
    return -1;
}

lw_status lwi_mjcf_fail(const lwi_mjcf *u, const lwi_xml_element *e, lw_status status,
                        const char *format, ...)
{
    char text[sizeof u->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_xml_fail(&u->xml, e, status, u->error, "%s", text);
}

lw_place lwi_mjcf_place(const lwi_mjcf *u, const lwi_xml_element *e)
{
    const int file = file_of(u, e);
    return file < 0 ? (lw_place){e->line, e->column} : u->included_at[file];
}

void lwi_mjcf_begin_notes(const lwi_mjcf *u, const lwi_xml_element *e)
{
    const int file = file_of(u, e);
    u->notes->part = file < 0 ? NULL : u->included[file].file;
    if (file >= 0) u->notes->part_place = u->included_at[file];
}

// --------------------------------------------------------------------------------------- includes

static lw_status open_file(lwi_mjcf *u, const lwi_xml_element *include, lwi_xml **opened)
{
    const char *name, *path;
    char *text = NULL;
    size_t length = 0;
    const lw_allocator *allocator = &u->arena->allocator;
    TRY(lwi_xml_need(&u->xml, include, "file", &name, u->error));
    if (!u->desc->folder)
        return lwi_mjcf_fail(
            u, include, LW_ERR_PARSE,
            "<include>: '%.200s' cannot be read: the model is parsed from memory without a folder",
            name);
    if (u->nincluded == LWI_MJCF_MAX_FILES)
        return lwi_mjcf_fail(u, include, LW_ERR_PARSE, "more than %d files are included",
                             LWI_MJCF_MAX_FILES);
    path = lwi_reader_path_inside(u->desc->folder, name, u->arena);
    if (!path)
        return lwi_mjcf_fail(u, include, LW_ERR_PARSE,
                             "<include>: '%.200s' does not exist in the folder of the model", name);
    for (int i = 0; i < u->nincluded; i++)
        if (strcmp(u->included[i].file, path) == 0)
            return lwi_mjcf_fail(u, include, LW_ERR_PARSE,
                                 "<include>: '%.200s' is included a second time", name);
    TRY(lwi_reader_file(path, allocator, &text, &length, u->error));
    LWI_ASSERT_INDEX(u->nincluded, LWI_MJCF_MAX_FILES);
    lwi_xml *xml = &u->included[u->nincluded];
    const lw_status status = lwi_xml_parse(xml, text, length, path, allocator, u->error);
    lwi_release(allocator, text);
    TRY(status);
    u->included_at[u->nincluded++] = lwi_mjcf_place(u, include);
    *opened = xml;
    return LW_OK;
}

// Replaces `include`, which follows `before` (NULL: it is the first), by the children of `root` in its
// parent.
static void splice(lwi_xml_element *include, lwi_xml_element *before, lwi_xml_element *root)
{
    lwi_xml_element *parent = include->parent;
    for (lwi_xml_element *e = root->first; e; e = e->next) e->parent = parent;
    lwi_xml_element *first = root->first ? root->first : include->next;
    if (before)
        before->next = first;
    else
        parent->first = first;
    if (root->first) root->last->next = include->next;
    if (parent->last == include) parent->last = root->first ? root->last : before;
}

// The recursion depth is that of nested elements, which xml.c limits in every file.
static lw_status include_below(lwi_mjcf *u, lwi_xml_element *parent, int depth)
{
    lwi_xml_element *before = NULL, *e = parent->first;
    if (depth > LWI_XML_MAX_DEPTH)
        return lwi_mjcf_fail(u, parent, LW_ERR_PARSE, "elements are nested too deeply");
    while (e) {
        if (strcmp(e->name, "include") != 0) {
            TRY(include_below(u, e, depth + 1));
            before = e;
            e = e->next;
            continue;
        }
        lwi_xml *xml = NULL;
        TRY(open_file(u, e, &xml));
        splice(e, before, xml->root);
        e = before ? before->next : parent->first; // again: the contents may have <include>s
    }
    return LW_OK;
}

lw_status lwi_mjcf_include(lwi_mjcf *u)
{
    return include_below(u, u->xml.root, 1);
}

// ---------------------------------------------------------------------------------------- classes

static int count_classes(const lwi_xml_element *parent)
{
    int count = 0;
    for (const lwi_xml_element *e = lwi_xml_child(parent, "default"); e;
         e = lwi_xml_next(e, "default"))
        count += 1 + count_classes(e);
    return count;
}

// Tendons of both kinds share their defaults; those of actuators are read by actuators.c.
static lwi_mjcf_kind kind_in_class(const lwi_xml_element *e)
{
    static const char *const names[LWI_MJCF_KINDS] = {"joint",    "geom", "site",    "tendon",
                                                      "equality", "mesh", "material"};
    for (int k = 0; k < LWI_MJCF_KINDS; k++)
        if (strcmp(e->name, names[k]) == 0) return (lwi_mjcf_kind)k;
    return LWI_MJCF_PLAIN;
}

static lw_status read_class(lwi_mjcf *u, const lwi_xml_element *e, int outer)
{
    const int index = u->nclass++;
    LWI_ASSERT(index < LWI_MJCF_MAX_CLASSES && outer < index);
    lwi_mjcf_class *c = &u->classes[index];
    *c = (lwi_mjcf_class){.name = lwi_xml_get(e, "class"), .e = e, .outer = outer};
    c->depth = outer < 0 ? 0 : u->classes[outer].depth + 1;
    const bool top = e->parent == u->xml.root;
    if (!c->name && !top)
        return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "a nested <default> has no class");
    if (c->depth > LWI_MJCF_MAX_NESTED && !top)
        return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "more than %d nested classes",
                             LWI_MJCF_MAX_NESTED);
    if (top) u->main_class = index;
    for (const lwi_xml_element *child = e->first; child; child = child->next) {
        const lwi_mjcf_kind kind = kind_in_class(child);
        if (kind != LWI_MJCF_PLAIN) u->classes[index].of[kind] = child;
    }
    for (const lwi_xml_element *child = lwi_xml_child(e, "default"); child;
         child = lwi_xml_next(child, "default"))
        TRY(read_class(u, child, index));
    return LW_OK;
}

static lw_status check_class_names(const lwi_mjcf *u)
{
    const lwi_names *names = &u->class_names;
    const int k = lwi_names_repeated(names);
    if (!k) return LW_OK;
    const int a = names->order[k - 1], b = names->order[k]; // classes are in the order of the file
    return lwi_mjcf_fail(u, u->classes[names->item[b]].e, LW_ERR_PARSE,
                         "<default>: a second class '%.100s', the first is in line %d",
                         names->name[b], u->classes[names->item[a]].e->line);
}

// A second <default> of the model extends the first.
lw_status lwi_mjcf_read_classes(lwi_mjcf *u)
{
    const int count = count_classes(u->xml.root);
    u->main_class = -1;
    if (count > LWI_MJCF_MAX_CLASSES)
        return lwi_mjcf_fail(u, u->xml.root, LW_ERR_PARSE, "more than %d classes of defaults",
                             LWI_MJCF_MAX_CLASSES);
    u->classes = LWI_PUSH(u->arena, lwi_mjcf_class, count + 1);
    if (!u->classes || lwi_names_create(count, u->arena, &u->class_names) != LW_OK)
        return lwi_mjcf_no_memory(u);
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "default"); e;
         e = lwi_xml_next(e, "default"))
        TRY(read_class(u, e, u->main_class));
    for (int i = 0; i < count; i++) {
        const bool main = i == u->main_class;
        if (u->classes[i].depth == 0 && !main) continue; // the last one encloses other classes
        const char *name = u->classes[i].name;
        lwi_names_add(&u->class_names, main && !name ? "main" : name, i);
    }
    lwi_names_sort(&u->class_names);
    return check_class_names(u);
}

lw_status lwi_mjcf_find_class(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                              int *of_class)
{
    const char *name = lwi_xml_get(e, attribute);
    if (!name) return LW_OK;
    return lwi_mjcf_find(u, e, attribute, &u->class_names, "class", of_class);
}

// ------------------------------------------------------------------------------------------ names

lw_status lwi_mjcf_find(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                        const lwi_names *names, const char *what, int *index)
{
    const char *name;
    TRY(lwi_xml_need(&u->xml, e, attribute, &name, u->error));
    *index = lwi_names_find(names, name);
    if (*index >= 0) return LW_OK;
    const char *near = lwi_nearest(name, names->name, names->count);
    return lwi_mjcf_fail(u, e, LW_ERR_MODEL, "<%.40s>: %s '%.100s' does not exist%s%.100s%s",
                         e->name, what, name, near ? " (did you mean '" : "", near ? near : "",
                         near ? "'?)" : "");
}

int lwi_mjcf_quote(char *to, int room, const char *name)
{
    int n = 0;
    to[n++] = '\'';
    for (; *name && n < room - 3; name++) {
        if (*name == '\'') to[n++] = '\'';
        to[n++] = *name;
    }
    to[n++] = '\'';
    to[n] = 0;
    return n;
}

// notes.c -- notes about ignored parts of a file, and the survey that finds them.
#include "base/assert.h"
#include "io/notes.h"
#include "io/mesh/mesh.h"
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- notes

static lwi_notes_kind *kind_of(lwi_notes *notes, const char *text, lw_place place)
{
    int i = 0;
    while (i < notes->nkind && strcmp(notes->kind[i].text, text) != 0) i++;
    if (i == LWI_NOTES_MAX_KINDS) return NULL;
    LWI_ASSERT(i >= 0 && i < LWI_NOTES_MAX_KINDS);
    lwi_notes_kind *kind = &notes->kind[i];
    if (i < notes->nkind) return kind;
    notes->nkind++;
    lwi_copy_text(kind->text, sizeof kind->text, text);
    kind->first = place;
    return kind;
}

void lwi_notes_add(lwi_notes *notes, const lwi_xml_element *element, const char *name,
                   const char *format, ...)
{
    char text[LWI_NOTE_BYTES] = "";
    va_list arguments;
    if (notes->part) snprintf(text, sizeof text, "in %.120s: ", notes->part);
    const size_t head = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + head, sizeof text - head, format, arguments);
    va_end(arguments);
    const lw_place here = {element->line, element->column};
    lwi_notes_kind *kind = kind_of(notes, text, notes->part ? notes->part_place : here);
    if (!kind) {
        notes->left_out++;
        return;
    }
    kind->count++;
    if (!name) return;
    // bytes reserved after the text, " (COUNT): " and ", and COUNT more"
    const size_t room = sizeof kind->names - strlen(kind->text) - 64, used = strlen(kind->names);
    LWI_ASSERT(strlen(kind->text) + 64 < sizeof kind->names && used < room);
    LWI_ASSERT(kind->nlisted <= kind->nname);
    const bool whole = kind->nlisted == kind->nname++; // no name was left out so far
    if (!whole || used + strlen(name) + sizeof ", " > room) return;
    snprintf(kind->names + used, room - used, "%s%s", used ? ", " : "", name);
    kind->nlisted++;
}

static lw_status report_kind(const lwi_notes_kind *kind, lw_builder *builder)
{
    char more[32] = "";
    if (!kind->nname)
        return lw_builder_warn(builder, kind->first, "%s (%ld times, the first here)", kind->text,
                               kind->count);
    if (kind->nname > kind->nlisted)
        snprintf(more, sizeof more, " and %ld more", kind->nname - kind->nlisted);
    return lw_builder_warn(builder, kind->first, "%s (%ld): %s%s", kind->text, kind->count,
                           kind->names, more);
}

void lwi_notes_friction(lwi_notes *notes, const lwi_xml_element *element, const char *name,
                        double force, lw_friction_desc *friction)
{
    if (force == 0) return;
    friction->coulomb = force;
    friction->speed = LWI_FRICTION_SPEED;
    lwi_notes_add(notes, element, name,
                  "dry friction F has no speed scale in this format and acts as -F tanh(qd / %g), "
                  "joints",
                  LWI_FRICTION_SPEED);
}

lw_status lwi_notes_mesh(lwi_notes *notes, const lwi_xml_element *element, const char *file,
                         const lwi_mesh_places *places, lw_builder *builder, lw_place place,
                         lw_mesh *mesh, lw_error *error)
{
    lwi_arena arena;
    mesh->index = 0;
    if (!lwi_mesh_is_known(file)) {
        lwi_notes_add(notes, element, file,
                      "meshes other than STL, OBJ, MSH and COLLADA are not read and not drawn");
        return LW_OK;
    }
    lwi_arena_init(&arena, &builder->allocator);
    const char *path = lwi_mesh_find(places, file, &arena);
    lw_status status = LW_OK;
    if (path)
        status = lw_builder_add_mesh(
            builder, &(lw_mesh_desc){.file = path, .uri = file, .place = place}, mesh, error);
    else
        lwi_notes_add(notes, element, file, "meshes are not found and not drawn");
    lwi_arena_free(&arena);
    return status;
}

lw_status lwi_notes_report(const lwi_notes *notes, lw_builder *builder)
{
    for (int i = 0; i < notes->nkind; i++) TRY(report_kind(&notes->kind[i], builder));
    if (notes->left_out)
        TRY(lw_builder_warn(builder, (lw_place){0, 0}, "%ld more notes of other kinds",
                            notes->left_out));
    if (notes->ncollision)
        TRY(lw_builder_warn(builder, (lw_place){0, 0},
                            "note: %ld <collision> elements are not read, there is no contact "
                            "between bodies",
                            notes->ncollision));
    return LW_OK;
}

// -------------------------------------------------------------------------------------- the survey

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if (at > words && at[-1] == ' ' && at[length] == ' ') return true;
    return false;
}

static int find_known(const lwi_survey *s, const char *parent, const char *name)
{
    for (int i = 0; i < s->nknown; i++)
        if (strcmp(s->known[i].parent, parent) == 0 && strcmp(s->known[i].name, name) == 0)
            return i;
    return -1;
}

static void survey_attributes(const lwi_xml_element *e, const char *attributes, bool text,
                              lwi_notes *notes)
{
    for (int i = 0; i < e->nattribute; i++) {
        const lwi_xml_attribute *a = &e->attribute[i];
        if (strncmp(a->name, "xmlns", 5) == 0 || has_word(attributes, a->name)) continue;
        lwi_notes_add(notes, e, NULL, "attribute '%.60s' of <%.60s> is not read", a->name, e->name);
    }
    if (*e->text && !text)
        lwi_notes_add(notes, e, NULL, "text inside <%.60s> is not read", e->name);
}

// The recursion depth is the depth of nested elements, which xml.c limits.
static lw_status survey_children(const lwi_survey *s, const lwi_xml *xml,
                                 const lwi_xml_element *parent, lwi_notes *notes, lw_error *error)
{
    bool seen[LWI_SURVEY_MAX] = {false};
    for (const lwi_xml_element *e = parent->first; e; e = e->next) {
        if (s->refuse) TRY(s->refuse(xml, e, error));
        const int i = find_known(s, parent->name, e->name);
        if (i < 0) {
            lwi_notes_add(notes, e, lwi_xml_get(e, "name"), "<%.60s> in <%.60s> is not read",
                          e->name, parent->name);
            continue;
        }
        const lwi_survey_element *known = &s->known[i];
        if (strcmp(e->name, "collision") == 0) notes->ncollision++;
        if (known->kind & LWI_KNOWN_VISUAL) continue;
        if (known->kind & LWI_KNOWN_ONCE && seen[i]) {
            lwi_notes_add(notes, e, NULL, "a second <%.60s> in <%.60s> is not read", e->name,
                          parent->name);
            continue;
        }
        seen[i] = true;
        survey_attributes(e, known->attributes, (known->kind & LWI_KNOWN_CONTENT) != 0, notes);
        TRY(survey_children(s, xml, e, notes, error));
    }
    return LW_OK;
}

lw_status lwi_survey_run(const lwi_survey *survey, const lwi_xml *xml,
                         const lwi_xml_element *element, const char *attributes, lwi_notes *notes,
                         lw_error *error)
{
    if (survey->refuse) TRY(survey->refuse(xml, element, error));
    survey_attributes(element, attributes, false, notes);
    return survey_children(survey, xml, element, notes, error);
}

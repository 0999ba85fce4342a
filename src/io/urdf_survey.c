// urdf_survey.c -- nothing in a URDF is dropped silently.
//
// One table says what the reader takes: an element, where it stands, its attributes.  Whatever is
// not in the table is noted by name; subtrees of unknown elements are not entered.
#include "io/urdf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ONCE = 1, PICTURE = 2 }; // at most one in its parent; of no use without a viewer

typedef struct known {
    const char *parent, *name, *attributes;
    int kind;
} known;

static const known table[] = {
    {"robot", "link", " name type ", 0},
    {"robot", "joint", " name type ", 0},
    {"robot", "material", "", PICTURE},
    {"link", "inertial", "", ONCE},
    {"link", "visual", " name ", 0},
    {"link", "collision", "", PICTURE},
    {"inertial", "origin", " xyz rpy ", ONCE},
    {"inertial", "mass", " value ", ONCE},
    {"inertial", "inertia", " ixx iyy izz ixy ixz iyz ", ONCE},
    {"visual", "origin", "", PICTURE},
    {"visual", "geometry", "", ONCE},
    {"visual", "material", "", PICTURE},
    {"geometry", "box", " size ", ONCE},
    {"geometry", "sphere", " radius ", ONCE},
    {"geometry", "cylinder", " radius length ", ONCE},
    {"geometry", "capsule", " radius length ", ONCE},
    {"geometry", "mesh", "", PICTURE},
    {"joint", "origin", " xyz rpy ", ONCE},
    {"joint", "parent", " link ", ONCE},
    {"joint", "child", " link ", ONCE},
    {"joint", "axis", " xyz ", ONCE},
    {"joint", "dynamics", " damping friction ", ONCE},
    {"joint", "limit", " lower upper effort velocity ", ONCE},
    {"joint", "mimic", " joint multiplier offset ", ONCE},
};

// ----------------------------------------------------------------------------------------- notes

void lwi_urdf_note(lwi_urdf_notes *notes, const lwi_xml_element *element, const char *name,
                   const char *format, ...)
{
    char text[LWI_URDF_NOTE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int i = 0;
    while (i < notes->nkind && strcmp(notes->kind[i].text, text) != 0) i++;
    if (i == LWI_URDF_MOST_KINDS) {
        notes->left_out++;
        return;
    }
    lwi_urdf_kind *kind = &notes->kind[i];
    if (i == notes->nkind) {
        notes->nkind++;
        memcpy(kind->text, text, sizeof text);
        kind->first = (lw_place){element->line, element->column};
    }
    kind->count++;
    if (!name) return;
    // room beside the text, " (COUNT): " and ", and COUNT more"
    const size_t room = sizeof kind->names - strlen(kind->text) - 64, used = strlen(kind->names);
    const bool whole = kind->nlisted == kind->nname++; // the list has no gap
    if (!whole || used + strlen(name) + sizeof ", " > room) return;
    snprintf(kind->names + used, room - used, "%s%s", used ? ", " : "", name);
    kind->nlisted++;
}

static lw_status tell_kind(const lwi_urdf_kind *kind, lw_builder *builder)
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

lw_status lwi_urdf_tell(const lwi_urdf_notes *notes, lw_builder *builder)
{
    for (int i = 0; i < notes->nkind; i++) TRY(tell_kind(&notes->kind[i], builder));
    if (notes->left_out)
        TRY(lw_builder_warn(builder, (lw_place){0, 0}, "%ld more notes of other kinds",
                            notes->left_out));
    if (notes->nmesh || notes->ncollision)
        TRY(lw_builder_warn(builder, (lw_place){0, 0},
                            "note: %ld visual meshes and %ld <collision> elements are not read, "
                            "bodies pass through each other",
                            notes->nmesh, notes->ncollision));
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

static int find_known(const char *parent, const char *name)
{
    for (int i = 0; i < LWI_COUNT(table); i++)
        if (strcmp(table[i].parent, parent) == 0 && strcmp(table[i].name, name) == 0) return i;
    return -1;
}

static lw_status fail_xacro(const lwi_xml *xml, const lwi_xml_element *e, lw_error *error)
{
    return lwi_xml_fail(xml, e, LW_ERR_PARSE, error,
                        "<%.80s>: this is a xacro source; expand it first "
                        "(`xacro FILE -o FILE.urdf`)",
                        e->name);
}

static lw_status survey_attributes(const lwi_xml *xml, lwi_urdf_notes *notes,
                                   const lwi_xml_element *e, const char *attributes,
                                   lw_error *error)
{
    for (int i = 0; i < e->nattribute; i++) {
        const lwi_xml_attribute *a = &e->attribute[i];
        if (strstr(a->value, "${")) return fail_xacro(xml, e, error);
        if (strncmp(a->name, "xmlns", 5) == 0 || has_word(attributes, a->name)) continue;
        lwi_urdf_note(notes, e, NULL, "attribute '%.60s' of <%.60s> is not read", a->name, e->name);
    }
    if (*e->text) lwi_urdf_note(notes, e, NULL, "text inside <%.60s> is not read", e->name);
    return LW_OK;
}

// Recursion is as deep as the table: robot, link, visual, geometry, box.
static lw_status survey_children(const lwi_xml *xml, lwi_urdf_notes *notes,
                                 const lwi_xml_element *parent, lw_error *error)
{
    bool seen[LWI_COUNT(table)] = {false};
    for (const lwi_xml_element *e = parent->first; e; e = e->next) {
        if (strncmp(e->name, "xacro:", 6) == 0) return fail_xacro(xml, e, error);
        const int i = find_known(parent->name, e->name);
        if (i < 0) {
            lwi_urdf_note(notes, e, lwi_xml_get(e, "name"), "<%.60s> in <%.60s> is not read",
                          e->name, parent->name);
            continue;
        }
        if (strcmp(e->name, "mesh") == 0) notes->nmesh++;
        if (strcmp(e->name, "collision") == 0) notes->ncollision++;
        if (table[i].kind == PICTURE) continue;
        if (table[i].kind == ONCE && seen[i]) {
            lwi_urdf_note(notes, e, NULL, "a second <%.60s> in <%.60s> is not read", e->name,
                          parent->name);
            continue;
        }
        seen[i] = true;
        TRY(survey_attributes(xml, notes, e, table[i].attributes, error));
        TRY(survey_children(xml, notes, e, error));
    }
    return LW_OK;
}

lw_status lwi_urdf_survey(const lwi_xml *xml, lwi_urdf_notes *notes, lw_error *error)
{
    const lwi_xml_element *robot = xml->root;
    if (strcmp(robot->name, "robot") != 0)
        return lwi_xml_fail(xml, robot, LW_ERR_PARSE, error,
                            "the file starts with <%.80s>, expected <robot>", robot->name);
    TRY(survey_attributes(xml, notes, robot, " name version ", error));
    return survey_children(xml, notes, robot, error);
}

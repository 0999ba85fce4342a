// notes.h -- contents of a file that the model ignores: counted, and reported once per kind.
#ifndef LWI_IO_NOTES_H
#define LWI_IO_NOTES_H

#include "io/mesh/paths.h"
#include "io/xml.h"

#include <linkwork/model.h>

enum {
    LWI_NOTES_MAX_KINDS = 100, ///< kinds of notes; further ones are only counted
    LWI_NOTE_BYTES = 320,
    LWI_NOTE_WARNING_BYTES = 1024, ///< of a warning, names included
};

/** Speed scale of dry friction in formats that have none [m/s, rad/s]. */
#define LWI_FRICTION_SPEED 0.01

/** Notes of one kind: text, count, first place, and the names that fit into a warning. */
typedef struct lwi_notes_kind {
    char text[LWI_NOTE_BYTES];
    char names[LWI_NOTE_WARNING_BYTES];
    long count;
    long nname, nlisted; ///< names in all, names in `names`
    lw_place first;
} lwi_notes_kind;

typedef struct lwi_notes {
    lwi_notes_kind kind[LWI_NOTES_MAX_KINDS];
    int nkind;
    long left_out;   ///< notes of further kinds
    long ncollision; ///< ignored <collision> elements
    const char
        *part; ///< included file that is being read, prefix of the notes; NULL: the main file
    lw_place part_place; ///< where the main file includes it
} lwi_notes;

/** Counts one note of the kind given by the formatted text; `name`: of the item, or NULL. */
void lwi_notes_add(lwi_notes *notes, const lwi_xml_element *element, const char *name,
                   const char *format, ...) LW_PRINTF(4, 5);
/** Dry friction `force` >= 0 of a format that has no speed scale: `coulomb` with the scale LWI_FRICTION_SPEED, noted. */
void lwi_notes_friction(lwi_notes *notes, const lwi_xml_element *element, const char *name,
                        double force, lw_friction_desc *friction);
/** Adds a mesh that is only drawn to the builder.  One that is not found or of no kind that is read is noted, and
 *  mesh->index is 0. */
lw_status lwi_notes_mesh(lwi_notes *notes, const lwi_xml_element *element, const char *file,
                         const lwi_mesh_places *places, lw_builder *builder, lw_place place,
                         lw_mesh *mesh, lw_error *error);
/** Adds one warning per kind to the builder. */
lw_status lwi_notes_report(const lwi_notes *notes, lw_builder *builder);

// ---------------------------------------------------------------------------------------- survey

/** An element that a reader supports, its parent, its attributes (" a b "). */
typedef struct lwi_survey_element {
    const char *parent, *name, *attributes;
    unsigned kind;
} lwi_survey_element;

enum {
    LWI_KNOWN_ONCE = 1,   ///< at most one in its parent
    LWI_KNOWN_VISUAL = 2, ///< visual only: not entered
    LWI_KNOWN_CONTENT = 4 ///< its text is its value
};

typedef struct lwi_survey {
    const lwi_survey_element *known;
    int nknown; ///< at most LWI_SURVEY_MAX
    /** Checks an element or its attributes, fails if it is not supported; may be NULL. */
    lw_status (*refuse)(const lwi_xml *xml, const lwi_xml_element *element, lw_error *error);
} lwi_survey;

enum { LWI_SURVEY_MAX = 160 };

/** Visits an element with the supported attributes `attributes` and its descendants.  Notes every element,
 *  attribute and text that is not supported; descendants of such elements are not visited. */
lw_status lwi_survey_run(const lwi_survey *survey, const lwi_xml *xml,
                         const lwi_xml_element *element, const char *attributes, lwi_notes *notes,
                         lw_error *error);

#endif

// notes.h -- what a file in another format says and a model does not take: counted, told once per
// kind.
#ifndef LWI_IO_NOTES_H
#define LWI_IO_NOTES_H

#include "io/xml.h"

#include <linkwork/model.h>

enum {
    LWI_NOTES_MOST_KINDS = 100, ///< a file with more is not a robot
    LWI_NOTE_BYTES = 320,
    LWI_NOTE_WARNING_BYTES = 1024, ///< of a warning with the names in it
};

/** Notes of one kind: what, how often, the first place, the names as far as a warning holds them.
 */
typedef struct lwi_note_kind {
    char text[LWI_NOTE_BYTES];
    char names[LWI_NOTE_WARNING_BYTES];
    long count;
    long nname, nlisted; ///< names there were, names in `names`
    lw_place first;
} lwi_note_kind;

typedef struct lwi_notes {
    lwi_note_kind kind[LWI_NOTES_MOST_KINDS];
    int nkind;
    long left_out;          ///< notes of further kinds
    long nmesh, ncollision; ///< geometry that the model has no use for
    const char *part;       ///< file that is included now: begins the texts; NULL: the main one
    lw_place part_place;    ///< where the main file includes it
} lwi_notes;

/** Counts one thing of the kind that the text names; `name` says which one, or NULL. */
void lwi_note(lwi_notes *notes, const lwi_xml_element *element, const char *name,
              const char *format, ...) LW_PRINTF(4, 5);
/** One warning per kind. */
lw_status lwi_notes_tell(const lwi_notes *notes, lw_builder *builder);

// ---------------------------------------------------------------------------------------- survey

/** An element that a reader knows, where it stands, its attributes (" a b "). */
typedef struct lwi_known {
    const char *parent, *name, *attributes;
    unsigned kind;
} lwi_known;

enum {
    LWI_KNOWN_ONCE = 1,    ///< at most one in its parent
    LWI_KNOWN_PICTURE = 2, ///< of no use without a viewer: not entered
    LWI_KNOWN_TEXT = 4     ///< its text is its value
};

typedef struct lwi_survey {
    const lwi_known *known;
    int nknown; ///< at most LWI_SURVEY_MOST
    /** What the format refuses by an element or its attributes; NULL: nothing. */
    lw_status (*refuse)(const lwi_xml *xml, const lwi_xml_element *element, lw_error *error);
} lwi_survey;

enum { LWI_SURVEY_MOST = 160 };

/** Walks the element, whose own attributes are `attributes`: notes every element, attribute and
 * text that is not known; subtrees of unknown elements are not entered. */
lw_status lwi_survey_run(const lwi_survey *survey, const lwi_xml *xml,
                         const lwi_xml_element *element, const char *attributes, lwi_notes *notes,
                         lw_error *error);

#endif

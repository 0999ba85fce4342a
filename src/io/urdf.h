// urdf.h -- what a URDF says and a model does not take: counted, told once per kind.
#ifndef LWI_URDF_H
#define LWI_URDF_H

#include "io/xml.h"

#include <linkwork/model.h>

enum {
    LWI_URDF_MOST_KINDS = 100, ///< of notes; a file with more is not a robot
    LWI_URDF_NOTE_BYTES = 320,
    LWI_URDF_WARNING_BYTES = 1024, ///< what lw_builder_warn takes
};

/** Notes of one kind: what, how often, the first place, the names as far as a warning holds them. */
typedef struct lwi_urdf_kind {
    char text[LWI_URDF_NOTE_BYTES];
    char names[LWI_URDF_WARNING_BYTES];
    long count;
    long nname, nlisted; ///< names there were, names in `names`
    lw_place first;
} lwi_urdf_kind;

typedef struct lwi_urdf_notes {
    lwi_urdf_kind kind[LWI_URDF_MOST_KINDS];
    int nkind;
    long left_out;          ///< notes of further kinds
    long nmesh, ncollision; ///< geometry that the model has no use for
} lwi_urdf_notes;

/** Counts one thing of the kind that the text names; `name` says which one, or NULL. */
void lwi_urdf_note(lwi_urdf_notes *notes, const lwi_xml_element *element, const char *name,
                   const char *format, ...) LW_PRINTF(4, 5);
/** Walks the file: notes every element, attribute and text that the reader does not read.
 *  @return LW_ERR_PARSE where the root is not <robot> or the file is a xacro source */
lw_status lwi_urdf_survey(const lwi_xml *xml, lwi_urdf_notes *notes, lw_error *error);
/** One warning per kind. */
lw_status lwi_urdf_tell(const lwi_urdf_notes *notes, lw_builder *builder);

#endif

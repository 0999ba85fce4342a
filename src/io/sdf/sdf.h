// sdf.h -- what the reader of SDFormat consists of: files, models and frames (frames.c), bodies
// (read.c), joints and couplings (joints.c), and what is not read (survey.c).
#ifndef LWI_IO_SDF_SDF_H
#define LWI_IO_SDF_SDF_H

#include "io/document.h"
#include "io/notes.h"
#include "io/text.h"

#include <linkwork/io.h>

enum {
    LWI_SDF_MAX_DEPTH = 64, ///< models inside each other, files that include each other
    LWI_SDF_MAX_FILES = 256 ///< that are included: a small file must not become a large one
};

/** An XML text: the main one, or one that is included. */
typedef struct lwi_sdf_file {
    lwi_xml xml;
    double version;     ///< 1.11 is 1011
    const char *part;   ///< as of notes; NULL: the main file
    lw_place place;     ///< where the main file includes it
    const char *folder; ///< that of the file; NULL: nothing more is read
} lwi_sdf_file;

typedef enum lwi_sdf_kind {
    LWI_SDF_WORLD, ///< item 0
    LWI_SDF_MODEL,
    LWI_SDF_LINK,
    LWI_SDF_FRAME,
    LWI_SDF_JOINT,
    LWI_SDF_KINDS
} lwi_sdf_kind;

typedef struct lwi_sdf_type {
    const char *name;
    lw_joint_type type;
    int naxis;
    bool gear; ///< a relation of two joints, not one of its own
} lwi_sdf_type;

/** Whatever has a frame.  Items of a model follow it without a gap. */
typedef struct lwi_sdf_item {
    lwi_sdf_kind kind;
    const char *name;  ///< with those of the models around it, "arm::hand"
    const char *scope; ///< model: what names inside begin with, "arm::" or ""
    int model;         ///< in which it stands; the world is in none: -1
    int end;           ///< model: the first item behind it
    int depth;
    bool fixed; ///< model: static, or in one that is
    const lwi_sdf_file *file;
    const lwi_xml_element *e;        ///< what describes it
    const lwi_xml_element *placed;   ///< what has its <pose>: `e`, or the <include> of a model,
    const lwi_sdf_file *placed_file; ///< and the file of that
    lw_place place;                  ///< in the main file
    // its frame
    int base;              ///< item that its pose is relative to; -1: none
    double X_R[9], X_r[3]; ///< pose in that
    double R[9], r[3];     ///< in the world
    enum { LWI_SDF_UNSEEN, LWI_SDF_ON_THE_WAY, LWI_SDF_PLACED } seen;
    int back;                 ///< while a chain is followed
    int carrier;              ///< item that it moves with; links and the world: itself
    lw_body body;             ///< link
    lw_joint joint;           ///< joint: as added
    const lwi_sdf_type *type; ///< of a joint
    int parent, child;        ///< of a joint: links, or the world
    int follows[2];           ///< of a joint: coupling of each coordinate, from 1; 0: none
} lwi_sdf_item;

/** q_joint = c[0] + c[1] q_of. */
typedef struct lwi_sdf_coupling {
    int joint, coordinate, of, with; ///< items
    double c[2];
    lw_place place;
    double start; ///< where the coordinate starts
    enum { LWI_SDF_OPEN, LWI_SDF_FOLLOWED, LWI_SDF_STARTED } seen;
    int back; ///< while a chain of couplings is followed
} lwi_sdf_coupling;

typedef struct lwi_sdf {
    lwi_arena *arena; ///< of the main file
    lwi_notes *notes;
    lw_builder *builder;
    lw_error *error;
    const lw_read_desc *desc;
    lwi_sdf_file *file[LWI_SDF_MAX_FILES + 1];
    int nfile;
    lwi_sdf_item *item;
    int nitem, room;
    const char **name[LWI_SDF_KINDS]; ///< of the items of a kind, in their order,
    int *which[LWI_SDF_KINDS];        ///< the items,
    int *order[LWI_SDF_KINDS];        ///< and their order by name
    int count[LWI_SDF_KINDS];
    lwi_sdf_coupling *coupling;
    int ncoupling, coupling_room;
} lwi_sdf;

// ---- survey.c

/** Notes what is not read of a <model> or <world>. */
lw_status lwi_sdf_survey(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e);

// ---- frames.c

/** Models, links, frames and joints of the file and of those it includes, and where they are. */
lw_status lwi_sdf_collect(lwi_sdf *u);
/** The item that a name means inside a model; "world", "__model__" too.  -1: there is none. */
int lwi_sdf_find(const lwi_sdf *u, int model, const char *name);
/** The link that an item moves with, or the world (0). */
lw_status lwi_sdf_link_of(const lwi_sdf *u, int item, int *link);
/** <pose> below `e`; the identity where there is none. */
lw_status lwi_sdf_pose(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                       double *R, double *r);
lw_status lwi_sdf_fail(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                       lw_status status, const char *format, ...) LW_PRINTF(5, 6);
lw_status lwi_sdf_no_memory(const lwi_sdf *u);
/** Notes about things of the item's file. */
void lwi_sdf_begin_notes(const lwi_sdf *u, const lwi_sdf_file *file);
/** Number in <name> below e; what is missing leaves x alone. */
lw_status lwi_sdf_number(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                         const char *name, double *x);
/** 1011 for "1.11", 0 for nothing. */
double lwi_sdf_version(const char *text);
/** Truth of <name> below e. */
bool lwi_sdf_true(const lwi_xml_element *e, const char *name);

// ---- joints.c

/** Joints, gears and mimics, after the bodies. */
lw_status lwi_sdf_add_joints(lwi_sdf *u);

#endif

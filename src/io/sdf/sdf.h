// sdf.h -- parts of the SDFormat reader: files, models and frames (frames.c), bodies (read.c), their inertia
// (inertia.c) and shapes (shapes.c), joints and couplings (joints.c), and notes of what is not read (survey.c).
#ifndef LWI_IO_SDF_SDF_H
#define LWI_IO_SDF_SDF_H

#include "io/mesh/mesh.h"
#include "io/names.h"
#include "io/notes.h"
#include "model/joints/joint.h"
#include "io/text.h"

#include <linkwork/io.h>

enum {
    LWI_SDF_MAX_DEPTH = 64, ///< nested models, nested includes
    LWI_SDF_MAX_FILES = 256 ///< included files
};

/** An XML file: the main one, or an included one. */
typedef struct lwi_sdf_file {
    lwi_xml xml;
    double version;     ///< 1.11 is 1011
    const char *part;   ///< as in lwi_notes; NULL: the main file
    lw_place place;     ///< where the main file includes it
    const char *folder; ///< folder of the file; NULL: includes are not read
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
    bool gear; ///< a coupling of two joints, not a joint
} lwi_sdf_type;

/** Anything with a frame.  The items in a model follow it contiguously. */
typedef struct lwi_sdf_item {
    lwi_sdf_kind kind;
    const char *name;  ///< with the names of the enclosing models, "arm::hand"
    const char *scope; ///< model: prefix of the names inside, "arm::" or ""
    int model;         ///< enclosing model; -1: of the world
    int end;           ///< model: index after its last item
    int depth;
    bool fixed; ///< model: static, or in a static one
    const lwi_sdf_file *file;
    const lwi_xml_element *e;        ///< its element
    const lwi_xml_element *placed;   ///< element with its <pose>: `e`, or the <include> of a model,
    const lwi_sdf_file *placed_file; ///< and its file
    lw_place place;                  ///< in the main file
    // its frame
    int base;              ///< item that its pose is relative to; -1: none
    double X_R[9], X_r[3]; ///< pose relative to the base
    double R[9], r[3];     ///< world pose
    enum { LWI_SDF_UNSEEN, LWI_SDF_ON_THE_WAY, LWI_SDF_PLACED } seen;
    int back;          ///< scratch of following a chain
    int carrier;       ///< item that it is attached to; links and the world: itself
    lw_body body;      ///< link
    lw_joint joint;    ///< joint: as added
    lwi_sdf_type type; ///< of a joint
    int parent, child; ///< of a joint: links, or the world
    int follows[2];    ///< of a joint: coupling that determines each coordinate, from 1; 0: none
} lwi_sdf_item;

/** q_joint = c[0] + c[1] q_of. */
typedef struct lwi_sdf_coupling {
    int joint, coordinate, of, with; ///< items
    double c[2];
    lw_place place;
    double start; ///< initial coordinate
    enum { LWI_SDF_OPEN, LWI_SDF_FOLLOWED, LWI_SDF_STARTED } seen;
    int back; ///< scratch of following a chain of couplings
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
    lwi_names names[LWI_SDF_KINDS]; ///< of the items of a kind
    lwi_mesh_table meshes;          ///< by the names of their files, of each folder; -1: not drawn
    lwi_sdf_coupling *coupling;
    int ncoupling, coupling_room;
} lwi_sdf;

// ---- shapes.c

/** Adds the shapes of a link. */
lw_status lwi_sdf_shapes(lwi_sdf *u, const lwi_sdf_item *link, lw_body_desc *d);
/** The primitive of a <geometry>; shape->type is NONE if it has none. */
lw_status lwi_sdf_geometry(const lwi_sdf *u, const lwi_sdf_item *link,
                           const lwi_xml_element *geometry, lw_shape *shape);
/** Volume and inertia of a <mesh>, of unit density.  @param known  out: false, with a note: it may be left out */
lw_status lwi_sdf_solid_of_mesh(const lwi_sdf *u, const lwi_sdf_item *link,
                                const lwi_xml_element *mesh, lwi_mesh_solid *solid, bool *known);

// ---- inertia.c

/** Sets mass, mass centre and inertia of a link. */
lw_status lwi_sdf_inertia(const lwi_sdf *u, const lwi_sdf_item *link, lw_body_desc *d);

// ---- survey.c

/** Notes the parts of a <model> or <world> that are not read. */
lw_status lwi_sdf_survey(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e);

// ---- frames.c

/** Collects models, links, frames and joints of the file and its includes, with their poses. */
lw_status lwi_sdf_collect(lwi_sdf *u);
/** The item with a name in the scope of a model, also "world", "__model__"; -1: none. */
int lwi_sdf_find(const lwi_sdf *u, int model, const char *name);
/** The link that an item is attached to, or the world (0). */
lw_status lwi_sdf_link_of(const lwi_sdf *u, int item, int *link);
/** Reads the <pose> of `e`; identity if it has none. */
lw_status lwi_sdf_pose(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                       double *R, double *r);
lw_status lwi_sdf_fail(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                       lw_status status, const char *format, ...) LW_PRINTF(5, 6);
lw_status lwi_sdf_no_memory(const lwi_sdf *u);
/** Adds a note to the file of the item. */
void lwi_sdf_begin_notes(const lwi_sdf *u, const lwi_sdf_file *file);
/** Reads the number in <name> below e; *x is unchanged if it is missing. */
lw_status lwi_sdf_number(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                         const char *name, double *x);
/** 1011 for "1.11", 0 for an empty string. */
double lwi_sdf_version(const char *text);
/** Truth of <name> below e. */
bool lwi_sdf_true(const lwi_xml_element *e, const char *name);

// ---- joints.c

/** Adds joints, gears and mimics, after the bodies. */
lw_status lwi_sdf_add_joints(lwi_sdf *u);

#endif

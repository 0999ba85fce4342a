// urdf.h -- parts of the URDF reader: links, joints and mimics (read.c), shapes (shapes.c),
// loops in the robot (loops.c) and in a file next to it (companion.c), notes of what is not read (survey.c).
#ifndef LWI_IO_URDF_URDF_H
#define LWI_IO_URDF_URDF_H

#include "io/document.h"
#include "io/names.h"
#include "io/notes.h"
#include "model/joints/joint.h"

#include <linkwork/io.h>

typedef struct lwi_urdf_kind {
    const char *name;
    lw_joint_type type;
    bool axis;        ///< moves about or along <axis>
    bool scalar;      ///< one coordinate: supports damping and mimics
    const char *axes; ///< universal: letters of the axes of the joint's frame of its rotations
} lwi_urdf_kind;

typedef struct lwi_urdf_link {
    const char *name;
    const lwi_xml_element *e;
    int parent;        ///< joint to the parent; -1: a root
    int first;         ///< first joint with this parent; -1: none
    double R[9], r[3]; ///< world pose
    lw_body body;
} lwi_urdf_link;

typedef struct lwi_urdf_joint {
    const char *name;
    const lwi_xml_element *e;
    lwi_urdf_kind kind;
    int parent, child;            ///< links
    int next;                     ///< next joint with the same parent; -1: none
    const lwi_xml_element *mimic; ///< NULL: none
    int of;                       ///< joint that it mimics; -1: none, it is fixed
    double c[2];                  ///< q = c[0] + c[1] q_of
    enum { LWI_URDF_UNSEEN, LWI_URDF_ON_THE_WAY, LWI_URDF_COMPOSED } seen;
    int back; ///< scratch of following a chain of mimics
    lw_joint added;
} lwi_urdf_joint;

/** State of reading one robot. */
typedef struct lwi_urdf {
    lwi_xml *xml;
    lwi_notes *notes;
    lw_builder *builder;
    lw_error *error;
    lwi_urdf_link *links;
    lwi_urdf_joint *joints;
    lwi_names link_names, joint_names;
    int nlink, njoint;
    lw_limits_desc limits; ///< stiffness and damping of limits; zero: see io/limits.h
    bool has_limits;       ///< they become stops
    lwi_mesh_places places;
    lwi_mesh_table meshes; ///< by the names of their files; -1: not drawn
    // the file with loops next to the robot
    const char *companion;           ///< its path, for messages
    const lwi_document_value *loops; ///< its map; NULL: no such file
} lwi_urdf;

/** Notes every element, attribute and text that is not read.
 *  @return LW_ERR_PARSE: the root is not <robot>, or the file is a xacro source */
lw_status lwi_urdf_survey(const lwi_xml *xml, lwi_notes *notes, lw_error *error);

// ---- read.c, for its other parts

/** Reads <e xyz rpy>: R = Rz Ry Rx; a missing attribute is zero. */
lw_status lwi_urdf_pose(const lwi_urdf *u, const lwi_xml_element *e, double *R, double *r);
/** Rotation that takes z to the axis of a joint, by default x. */
lw_status lwi_urdf_axis(const lwi_urdf *u, const lwi_xml_element *joint, const char *name,
                        double *R);
/** The link named by <end link="">. */
lw_status lwi_urdf_end(const lwi_urdf *u, const lwi_xml_element *end, const char *joint, int *link);
/** "first_second", made distinct from all joints of the file; NULL: no memory. */
const char *lwi_urdf_new_name(const lwi_urdf *u, const char *first, const char *second);

// ---- shapes.c

/** Adds the shapes of a link. */
lw_status lwi_urdf_shapes(lwi_urdf *u, const lwi_xml_element *link, lw_body_desc *d);

// ---- loops.c

/** Adds the joints of <loop_joint> and of the companion file, after bodies and joints. */
lw_status lwi_urdf_add_loops(lwi_urdf *u);
/** The joint type of a loop by its name in files, or NULL. */
const lwi_joint_type *lwi_urdf_loop_type(const char *name);
extern const char lwi_urdf_loop_types[]; ///< the names, for messages

// ---- companion.c

/** Finds and parses the companion file with loops in `folder`; NULL: none. */
lw_status lwi_urdf_read_beside(lwi_urdf *u, const char *robot, const char *folder);
/** Applies the joint types of the companion file, before the joints are added. */
lw_status lwi_urdf_change_joints(lwi_urdf *u);
/** Adds the loop-closing joints of the companion file, after bodies and joints. */
lw_status lwi_urdf_add_beside(lwi_urdf *u);

#endif

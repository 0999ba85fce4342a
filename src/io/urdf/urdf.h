// urdf.h -- what the reader of URDF consists of: links, joints and mimics (read.c), what
// links look like (shapes.c), loops (loops.c), and what is not read (survey.c).
#ifndef LWI_IO_URDF_URDF_H
#define LWI_IO_URDF_URDF_H

#include "io/document.h"
#include "io/notes.h"

#include <linkwork/io.h>

typedef struct lwi_urdf_kind {
    const char *name;
    lw_joint_type type;
    bool axis;   ///< turns or slides along <axis>
    bool scalar; ///< one coordinate: may be damped, may mimic and be mimicked
} lwi_urdf_kind;

typedef struct lwi_urdf_link {
    const char *name;
    const lwi_xml_element *e;
    int parent;        ///< joint; -1: a root
    int first;         ///< first joint of which it is the parent; -1: none
    double R[9], r[3]; ///< world pose
    lw_body body;
} lwi_urdf_link;

typedef struct lwi_urdf_joint {
    const char *name;
    const lwi_xml_element *e;
    const lwi_urdf_kind *kind;
    int parent, child;            ///< links
    int next;                     ///< joint of the same parent; -1: the last
    const lwi_xml_element *mimic; ///< NULL: follows nothing
    int of;                       ///< the joint it mimics; -1: none, it is held
    double c[2];                  ///< q = c[0] + c[1] q_of
    enum { LWI_URDF_UNSEEN, LWI_URDF_ON_THE_WAY, LWI_URDF_COMPOSED } seen;
    int back; ///< while a chain of mimics is followed
    lw_joint added;
} lwi_urdf_joint;

typedef struct lwi_urdf_names {
    const char **text;
    int *order, count;
} lwi_urdf_names;

/** One robot while it is read. */
typedef struct lwi_urdf {
    lwi_xml *xml;
    lwi_notes *notes;
    lw_builder *builder;
    lw_error *error;
    lwi_urdf_link *links;
    lwi_urdf_joint *joints;
    lwi_urdf_names link_names, joint_names;
    int nlink, njoint;
    lw_limits_desc limits; ///< how stiff limits are; zero: they are not enforced
    // the file of loops beside the robot
    const char *beside;              ///< its path in messages
    const lwi_document_value *loops; ///< its map; NULL: there is none
} lwi_urdf;

/** Walks the file: notes every element, attribute and text that the reader does not read.
 *  @return LW_ERR_PARSE where the root is not <robot> or the file is a xacro source */
lw_status lwi_urdf_survey(const lwi_xml *xml, lwi_notes *notes, lw_error *error);

// ---- read.c, for its other parts

/** <e xyz rpy>: R = Rz Ry Rx; what is missing is zero. */
lw_status lwi_urdf_pose(const lwi_urdf *u, const lwi_xml_element *e, double *R, double *r);
/** Turn that takes z to the axis of a joint; x where the file names none. */
lw_status lwi_urdf_axis(const lwi_urdf *u, const lwi_xml_element *joint, const char *name,
                        double *R);
int lwi_urdf_find(const lwi_urdf_names *names, const char *name);
/** The link that <end link=""> names. */
lw_status lwi_urdf_end(const lwi_urdf *u, const lwi_xml_element *end, const char *joint, int *link);
/** "FIRST_SECOND", made different from all joints of the file; NULL: no memory. */
const char *lwi_urdf_new_name(const lwi_urdf *u, const char *first, const char *second);

// ---- shapes.c

/** What a link looks like. */
lw_status lwi_urdf_shapes(const lwi_urdf *u, const lwi_xml_element *link, lw_body_desc *d);

// ---- loops.c

/** Finds the file of loops beside the robot at `folder` (NULL: none is looked for) and parses it.
 */
lw_status lwi_urdf_read_beside(lwi_urdf *u, const char *robot, const char *folder);
/** Types of joints that the file beside the robot changes; before joints are added. */
lw_status lwi_urdf_change_joints(lwi_urdf *u);
/** Joints of <loop_joint> and of the file beside the robot; after bodies and joints. */
lw_status lwi_urdf_add_loops(lwi_urdf *u);

#endif

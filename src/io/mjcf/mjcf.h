// mjcf.h -- what the reader of MJCF consists of: files and defaults (text.c), attributes and
// poses (values.c), inertia from geometry (inertia.c), bodies and their joints (read.c),
// equalities (equality.c), named starts (keyframe.c), and what is not read (survey.c).
#ifndef LWI_IO_MJCF_MJCF_H
#define LWI_IO_MJCF_MJCF_H

#include "io/document.h"
#include "io/notes.h"

#include <linkwork/io.h>

enum {
    LWI_MJCF_MAX_FILES = 256, ///< that are included
    LWI_MJCF_MAX_CLASSES = 4096,
    LWI_MJCF_MAX_NESTED = 64 ///< classes inside each other; a look-up walks outwards
};

/** Elements that have defaults. */
typedef enum lwi_mjcf_kind {
    LWI_MJCF_JOINT,
    LWI_MJCF_GEOM,
    LWI_MJCF_SITE,
    LWI_MJCF_MOTOR,
    LWI_MJCF_EQUALITY,
    LWI_MJCF_KINDS,
    LWI_MJCF_PLAIN ///< has none
} lwi_mjcf_kind;

/** A class of defaults.  What it does not say, the one around it says. */
typedef struct lwi_mjcf_class {
    const char *name;
    const lwi_xml_element *e;
    int outer; ///< -1: none
    int depth;
    const lwi_xml_element *of[LWI_MJCF_KINDS]; ///< NULL: says nothing of this kind
} lwi_mjcf_class;

/** An element with the defaults it has. */
typedef struct lwi_mjcf_at {
    const lwi_xml_element *e;
    lwi_mjcf_kind kind;
    int of_class;
} lwi_mjcf_at;

/** What stands in a body, <frame>s resolved. */
typedef struct lwi_mjcf_part {
    lwi_mjcf_at at;
    double R[9], r[3]; ///< of the frames around it, in the body
    struct lwi_mjcf_part *next;
} lwi_mjcf_part;

typedef struct lwi_mjcf_body {
    const char *name; ///< NULL: it has none
    const lwi_xml_element *e;
    int parent;        ///< 0 is the world
    double R[9], r[3]; ///< in the parent
    double W[9], w[3]; ///< in the world
    lwi_mjcf_part *part;
    lw_body_desc desc;
    lw_body body;
} lwi_mjcf_body;

typedef struct lwi_mjcf_joint {
    const char *name;
    const lwi_xml_element *e;
    int body;
    lw_joint_desc desc;
    double ref; ///< coordinate where the file places the bodies
    int input;  ///< a motor drives it
    lw_joint joint;
} lwi_mjcf_joint;

typedef struct lwi_mjcf_site {
    const char *name;
    const lwi_xml_element *e;
    int body;
    double R[9], r[3]; ///< in the body
} lwi_mjcf_site;

/** Names of one kind of item, for look-ups. */
typedef struct lwi_mjcf_names {
    const char **name;
    int *which, *order, count;
} lwi_mjcf_names;

typedef enum lwi_mjcf_from_geom {
    LWI_MJCF_AUTO,
    LWI_MJCF_NEVER,
    LWI_MJCF_ALWAYS
} lwi_mjcf_from_geom;

typedef struct lwi_mjcf {
    lwi_xml xml; ///< the main file; included elements hang in its tree
    lwi_xml included[LWI_MJCF_MAX_FILES];
    lw_place included_at[LWI_MJCF_MAX_FILES]; ///< in the main file
    int nincluded;
    lwi_arena *arena;
    lwi_notes *notes;
    lw_builder *builder;
    lw_error *error;
    const lw_read_desc *desc;
    // <compiler>
    double unit; ///< radians in what the file calls an angle
    char euler[4];
    lwi_mjcf_from_geom from_geom;
    bool auto_limits;
    double min_mass, total_mass; ///< total: 0 leaves masses alone
    double group[2];             ///< geoms of these groups have inertia

    lwi_mjcf_class *classes;
    int nclass, main_class;
    lwi_mjcf_names class_names;

    lwi_mjcf_body *body; ///< [0] is the world
    int nbody;
    lwi_mjcf_joint *joint;
    int njoint;
    lwi_mjcf_site *site;
    int nsite;
    lwi_mjcf_names body_names, joint_names, site_names;
} lwi_mjcf;

// ---- text.c

lw_status lwi_mjcf_no_memory(const lwi_mjcf *u);
lw_status lwi_mjcf_fail(const lwi_mjcf *u, const lwi_xml_element *e, lw_status status,
                        const char *format, ...) LW_PRINTF(4, 5);
/** Where an element stands in the main file, or where that includes it. */
lw_place lwi_mjcf_place(const lwi_mjcf *u, const lwi_xml_element *e);
/** The next notes are about things of the element's file. */
void lwi_mjcf_begin_notes(const lwi_mjcf *u, const lwi_xml_element *e);
/** Puts the contents of included files in the place of <include>s. */
lw_status lwi_mjcf_include(lwi_mjcf *u);
lw_status lwi_mjcf_read_classes(lwi_mjcf *u);
/** The class an attribute names, or -1 with an error. */
lw_status lwi_mjcf_find_class(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                              int *of_class);
/** Sorts names[count] (some may be NULL) for look-ups. */
lw_status lwi_mjcf_sort_names(const lwi_mjcf *u, lwi_mjcf_names *names, int count);
/** Index of the item with the name that an attribute says, or an error that names the nearest. */
lw_status lwi_mjcf_find(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                        const lwi_mjcf_names *names, const char *what, int *index);

// ---- survey.c

/** Notes what is not read, refuses what would change the mechanism if it were left out. */
lw_status lwi_mjcf_survey(const lwi_mjcf *u);

// ---- values.c

/** Value of an attribute with the defaults, or NULL; `from` is the element that says it. */
const char *lwi_mjcf_get(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                         const lwi_xml_element **from);
/** Numbers of an attribute: at least `least`, at most `most`; what is missing is left alone.
 *  @param n  how many there were, 0 where the attribute is missing; may be NULL */
lw_status lwi_mjcf_numbers(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                           int least, int most, double *x, int *n);
lw_status lwi_mjcf_number(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                          double *x);
/** true, false or auto; what is missing leaves *value alone (auto is 2). */
lw_status lwi_mjcf_flag(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                        int *value);
/** pos, and the rotation by quat, axisangle, euler, xyaxes or zaxis. */
lw_status lwi_mjcf_pose(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r);
/** fromto: the middle of the line between two ends, z along it; *length: 0 where it is missing. */
lw_status lwi_mjcf_ends(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r,
                        double *length);

// ---- inertia.c

/** Mass, mass centre and inertia of a body by <inertial> or its geoms, and its shape. */
lw_status lwi_mjcf_inertia(const lwi_mjcf *u, lwi_mjcf_body *b);

// ---- keyframe.c

/** The start that desc->keyframe names, before the joints are added; the others are told. */
lw_status lwi_mjcf_apply_keyframe(lwi_mjcf *u);

// ---- equality.c

/** connect, weld and joint, after the joints. */
lw_status lwi_mjcf_add_equalities(lwi_mjcf *u);

#endif

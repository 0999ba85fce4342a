// mjcf.h -- parts of the MJCF reader: files and defaults (text.c), attributes and
// poses (values.c), inertia from geometry (inertia.c), meshes (mesh.c), bodies and their joints (read.c),
// actuators (actuators.h), tendons (tendons.c), equalities (equality.c), keyframes (keyframe.c), and notes of what
// is not read (survey.c).
#ifndef LWI_IO_MJCF_MJCF_H
#define LWI_IO_MJCF_MJCF_H

#include "io/mesh/mesh.h"
#include "io/mesh/paths.h"
#include "io/names.h"
#include "io/notes.h"
#include "model/joints/joint.h"

#include <linkwork/io.h>

enum {
    LWI_MJCF_MAX_FILES = 256, ///< included files
    LWI_MJCF_MAX_CLASSES = 4096,
    LWI_MJCF_MAX_NESTED = 64 ///< nested classes
};

/** Elements that have defaults. */
typedef enum lwi_mjcf_kind {
    LWI_MJCF_JOINT,
    LWI_MJCF_GEOM,
    LWI_MJCF_SITE,
    LWI_MJCF_TENDON,
    LWI_MJCF_EQUALITY,
    LWI_MJCF_MESH,
    LWI_MJCF_MATERIAL,
    LWI_MJCF_KINDS,
    LWI_MJCF_PLAIN ///< without defaults
} lwi_mjcf_kind;

/** A class of defaults; attributes it lacks are taken from the enclosing class. */
typedef struct lwi_mjcf_class {
    const char *name;
    const lwi_xml_element *e;
    int outer; ///< enclosing class; -1: none
    int depth;
    const lwi_xml_element *of[LWI_MJCF_KINDS]; ///< NULL: no defaults of this kind
} lwi_mjcf_class;

/** An element with its defaults. */
typedef struct lwi_mjcf_at {
    const lwi_xml_element *e;
    lwi_mjcf_kind kind;
    int of_class;
} lwi_mjcf_at;

/** An element in a body, <frame>s resolved. */
typedef struct lwi_mjcf_part {
    lwi_mjcf_at at;
    double R[9], r[3]; ///< pose of the enclosing frames, in the body
    struct lwi_mjcf_part *next;
} lwi_mjcf_part;

typedef struct lwi_mjcf_body {
    const char *name; ///< NULL: none
    const lwi_xml_element *e;
    int parent;        ///< 0 is the world
    double R[9], r[3]; ///< in the parent
    double W[9], w[3]; ///< in the world
    lwi_mjcf_part *part;
    lw_body_desc desc;
    double compensation; ///< gravcomp: part of the weight that a force at the mass centre carries
    lw_body body;
} lwi_mjcf_body;

typedef struct lwi_mjcf_joint {
    const char *name;
    const lwi_xml_element *e;
    int body;
    lw_joint_desc desc;
    double ref;             ///< coordinate at the poses of the file
    double spring_at;       ///< coordinate without spring force
    double range[2];        ///< of the coordinate; equal: none
    double effort_range[2]; ///< of its actuators together
    bool has_effort_range;
    bool compensated;   ///< compensation of gravity is a part of its actuators
    const char *weight; ///< formula of that part; NULL: none is needed
    int nactuator;
    double stiffness;                 ///< of a ball or free joint, along and about all axes
    double spring_time, spring_ratio; ///< springdamper: time constant, damping ratio; 0: none
    lw_joint joint;
} lwi_mjcf_joint;

typedef struct lwi_mjcf_site {
    const char *name;
    const lwi_xml_element *e;
    int body;
    double R[9], r[3]; ///< in the body
} lwi_mjcf_site;

/** A geom with a name. */
typedef struct lwi_mjcf_geom {
    const lwi_mjcf_part *part;
    int body;
} lwi_mjcf_geom;

typedef struct lwi_mjcf_tendon {
    const lwi_xml_element *e;
    const char *name;
    lw_servo_term
        *term; ///< [n] of a fixed one; `joint` counts those of the file until they are added
    int n;
    lw_path_element *path; ///< [npath] of a spatial one
    int npath;
    double range[2];
    bool limited;
} lwi_mjcf_tendon;

/** A mesh of <asset>. */
typedef struct lwi_mjcf_mesh {
    const char *name;
    lwi_mjcf_at at;
    const char *file, *path; ///< as in the file, and where it is; NULL: not found, or no file
    lwi_mesh own;            ///< its vertices are in the model; without: NULL
    lwi_mesh_map map;
    lwi_mesh_fill fill;
    lw_mesh added; ///< to the builder, for drawing
    // mass properties, when they have been asked for
    bool tried, known;
    char reason[240]; ///< why they are not known
    lwi_mesh_solid solid;
    double principal[3], axes[9]; ///< principal moments, the largest first, and axes
    double low[3], high[3];       ///< extent in these axes, from the mass centre
} lwi_mjcf_mesh;

typedef enum lwi_mjcf_from_geom {
    LWI_MJCF_AUTO,
    LWI_MJCF_NEVER,
    LWI_MJCF_ALWAYS
} lwi_mjcf_from_geom;

typedef struct lwi_mjcf {
    lwi_xml xml; ///< the main file, with the elements of included files
    lwi_xml included[LWI_MJCF_MAX_FILES];
    lw_place included_at[LWI_MJCF_MAX_FILES]; ///< in the main file
    int nincluded;
    lwi_arena *arena;
    lwi_notes *notes;
    lw_builder *builder;
    lw_error *error;
    const lw_read_desc *desc;
    // <compiler>
    double unit; ///< radians per unit of angle
    char euler[4];
    lwi_mjcf_from_geom from_geom;
    bool auto_limits;
    double min_mass, total_mass; ///< total: 0: masses are not scaled
    double group[2];             ///< range of the groups of geoms with inertia
    const char *mesh_folder;     ///< "": that of the model
    bool strip_path, exact_meshes,
        fit_boxes;     ///< fit: to the extent of meshes, not to their inertia
    double last_drawn; ///< geoms of higher groups are not drawn

    lwi_mjcf_class *classes;
    int nclass, main_class;
    lwi_names class_names;

    lwi_mjcf_body *body; ///< [0] is the world
    int nbody;
    lwi_mjcf_joint *joint;
    int njoint;
    lwi_mjcf_site *site;
    int nsite;
    lwi_mjcf_geom *geom; ///< with names; NULL until a tendon may need them
    int ngeom;
    lwi_mjcf_tendon *tendon;
    int ntendon;
    struct lwi_mjcf_actuator *actuator; ///< those that are read
    int nactuator;
    bool acts; ///< the file has actuators, read or not
    double gravity[3];
    lwi_names body_names, joint_names, site_names, geom_names, tendon_names;
    lwi_names taken_inputs; ///< names of actuators in the file
    lwi_names taken_joints; ///< names of joints and equalities in the file
    lwi_mjcf_mesh *mesh;
    int nmesh;
    lwi_names mesh_names;
    lwi_mjcf_at *material; ///< of <asset>
    lwi_names material_names;
} lwi_mjcf;

static inline bool lwi_mjcf_is_scalar(const lwi_mjcf_joint *joint)
{
    return joint->desc.type == LW_JOINT_REVOLUTE || joint->desc.type == LW_JOINT_PRISMATIC;
}

// ---- text.c

lw_status lwi_mjcf_no_memory(const lwi_mjcf *u);
lw_status lwi_mjcf_fail(const lwi_mjcf *u, const lwi_xml_element *e, lw_status status,
                        const char *format, ...) LW_PRINTF(4, 5);
/** NAME in a formula: in quotes, a quote inside is doubled.  @return characters, without the end */
int lwi_mjcf_quote(char *to, int room, const char *name);
/** Place of an element in the main file, or of the <include> that contains it. */
lw_place lwi_mjcf_place(const lwi_mjcf *u, const lwi_xml_element *e);
/** Attributes the next notes to the file of the element. */
void lwi_mjcf_begin_notes(const lwi_mjcf *u, const lwi_xml_element *e);
/** Replaces <include>s by the contents of the files. */
lw_status lwi_mjcf_include(lwi_mjcf *u);
lw_status lwi_mjcf_read_classes(lwi_mjcf *u);
/** The class named by an attribute, or -1 with an error. */
lw_status lwi_mjcf_find_class(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                              int *of_class);
/** Index of the item named by an attribute; an error has the nearest name. */
lw_status lwi_mjcf_find(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                        const lwi_names *names, const char *what, int *index);

// ---- survey.c

/** Notes what is not read; refuses elements without which the mechanism would differ. */
lw_status lwi_mjcf_survey(const lwi_mjcf *u);

// ---- values.c

/** Value of an attribute or of its default, or NULL.  @param from  out: element that has it */
const char *lwi_mjcf_get(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                         const lwi_xml_element **from);
/** Reads `min` to `max` numbers of an attribute; missing ones leave `x` unchanged.
 *  @param n  out: how many were read, 0: the attribute is missing; may be NULL */
lw_status lwi_mjcf_numbers(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute, int min,
                           int max, double *x, int *n);
lw_status lwi_mjcf_number(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                          double *x);
/** Values of flags; auto: true if a range is given. */
enum { LWI_MJCF_FLAG_FALSE, LWI_MJCF_FLAG_TRUE, LWI_MJCF_FLAG_AUTO };
/** Reads a flag; *value is unchanged if the attribute is missing. */
lw_status lwi_mjcf_flag(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                        int *value);
/** Reads pos, and the rotation from quat, axisangle, euler, xyaxes or zaxis. */
lw_status lwi_mjcf_pose(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r);
/** Reads fromto: frame in the middle of two points, z along their line; *length: 0 if it is missing. */
lw_status lwi_mjcf_ends(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r,
                        double *length);

// ---- names.c

/** Sets the names of the bodies' descriptions, and lists the names of joints in the file. */
lw_status lwi_mjcf_make_names(lwi_mjcf *u);
/** A name of a joint that has none: BODY_KIND, BODY_KIND2, ...  @return NULL: no memory */
const char *lwi_mjcf_joint_name(const lwi_mjcf *u, int body, const char *kind, int number);
/** A name of a force that no actuator of the file has.  @return NULL: no memory */
const char *lwi_mjcf_force_name(const lwi_mjcf *u, const char *item, const char *kind);
/** The name of the joint of an equality: its own, or derived from its first body.  @return NULL: no memory */
const char *lwi_mjcf_equality_name(const lwi_mjcf *u, const lwi_xml_element *e, int body,
                                   int number);

// ---- inertia.c

/** Sets mass, centre of mass and inertia of a body from <inertial> or its geoms, and its shapes. */
lw_status lwi_mjcf_inertia(const lwi_mjcf *u, lwi_mjcf_body *b);
/** Decides which groups of geoms are drawn, after the bodies are collected. */
lw_status lwi_mjcf_find_groups(lwi_mjcf *u);

// ---- mesh.c

/** Reads the meshes and materials of <asset>, after the classes; files are not opened. */
lw_status lwi_mjcf_read_meshes(lwi_mjcf *u);
/** The mesh that a geom names, or NULL. */
lw_status lwi_mjcf_mesh_of(const lwi_mjcf *u, const lwi_mjcf_at *geom, lwi_mjcf_mesh **mesh);
/** Opens the file of a mesh for its mass properties, once.  @param known  out: they are known, else m->reason */
lw_status lwi_mjcf_solid_of_mesh(const lwi_mjcf *u, lwi_mjcf_mesh *m, bool *known);
/** The mass of a body depends on a mesh that is not known: an error, or a note if the reader may leave it out. */
lw_status lwi_mjcf_mesh_missing(const lwi_mjcf *u, const lwi_mjcf_body *b, const lwi_mjcf_at *geom,
                                const lwi_mjcf_mesh *m);
/** Makes a shape of a mesh in a geom with pose (R, r) in the body; a mesh that cannot be drawn is noted. */
lw_status lwi_mjcf_draw_mesh(const lwi_mjcf *u, const lwi_xml_element *geom, lwi_mjcf_mesh *m,
                             const double *R, const double *r, lw_shape *shape);

/** Frame and radius of a sphere or cylinder.  @param radius  out: 0: it is none */
lw_status lwi_mjcf_round_geom(const lwi_mjcf *u, const lwi_mjcf_part *geom, double R[9],
                              double r[3], double *radius, bool *cylinder);

// ---- tendons.c

/** Is a range in effect?  @param limited  of lwi_mjcf_flag */
bool lwi_mjcf_in_effect(const lwi_mjcf *u, int limited, const double range[2]);
/** Elements in all sections of this name. */
int lwi_mjcf_count_children(const lwi_mjcf *u, const char *section);
/** Reads the tendons, before the joints are added. */
lw_status lwi_mjcf_read_tendons(lwi_mjcf *u);
/** Terms of a fixed tendon with the joints of the model; after these are added.  @return NULL: no memory */
const lw_servo_term *lwi_mjcf_tendon_terms(const lwi_mjcf *u, const lwi_mjcf_tendon *tendon);
/** Adds springs, dampers and friction, after the joints. */
lw_status lwi_mjcf_add_tendons(const lwi_mjcf *u);
/** Adds stops at their limits, if the reader is asked for them, after everything that has inertia is added. */
lw_status lwi_mjcf_add_tendon_limits(const lwi_mjcf *u);

// ---- read.c

/** The compensation of gravity: a force f [3] at the mass centre, in axes of the world, against a part of the weight [N].
 *  @return whether there is one */
bool lwi_mjcf_compensating(const lwi_mjcf *u, const lwi_mjcf_body *b, double f[3]);

// ---- actuators.c

bool lwi_mjcf_is_actuator(const char *element);
/** Reads actuators and tendons and adds the inputs, before the joints are added. */
lw_status lwi_mjcf_read_actuators(lwi_mjcf *u);
/** Adds servos and wrenches, after the joints. */
lw_status lwi_mjcf_add_actuators(const lwi_mjcf *u);

// ---- springs.c

struct lwi_effective;
/** Reads `springdamper` of a joint. */
lw_status lwi_mjcf_read_springdamper(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_joint *j);
/** Sets the springs and dampers that `springdamper` states, after everything that has inertia is added. */
lw_status lwi_mjcf_set_springdampers(lwi_mjcf *u);
/** Factors the mass matrix with hinges and slides at the placement of the bodies; other joints and keyframes keep the
 *  start. */
void lwi_mjcf_factor(const lwi_mjcf *u, struct lwi_effective *e);

// ---- keyframe.c

/** Sets the initial state to the keyframe named in desc, before the joints are added; notes the others. */
lw_status lwi_mjcf_apply_keyframe(lwi_mjcf *u);

// ---- equality.c

/** Adds the equalities connect, weld and joint, after the joints. */
lw_status lwi_mjcf_add_equalities(lwi_mjcf *u);

#endif

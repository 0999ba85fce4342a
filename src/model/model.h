// model.h -- the immutable model: what a description becomes once it has been checked.
#ifndef LWI_MODEL_MODEL_H
#define LWI_MODEL_MODEL_H

#include "base/base.h"
#include "model/forces/force.h"
#include "model/signals/functions.h"
#include "model/joints/joint.h"
#include "model/statements.h"

#include <linkwork/model.h>

/** The descriptions of one kind of force: structs of the public interface, by lwi_force_desc. */
typedef struct lwi_force_list {
    void *desc;
    int n;
} lwi_force_list;

enum { LWI_REMAKE_NOTE = 200 };
/** A model file that has been parsed, not yet read: values without their meaning. */
typedef struct lwi_document_value lwi_parsed_document;
/** Makes the model of a file again with other values of its parameters; NULL: not possible.  Set by the reader, in a
 *  room above this one.
 *  @param document  of the file; NULL: it is parsed again
 *  @param set      [nset] "NAME=VALUE"
 *  @param options  of the runs of the model; NULL: not compared
 *  @param note     [LWI_REMAKE_NOTE] out, which option that the file states would change with the parameters, if
 *                  `options` has that of the file without them; else "" */
typedef struct lwi_remake {
    lw_status (*make)(const struct lwi_remake *remake, const lwi_parsed_document *document,
                      const char *const *set, int nset, const lw_options *options, char *note,
                      const lw_allocator *allocator, lw_model **model, lw_error *error);
    /** Parses the file for several models. */
    lw_status (*parse)(const struct lwi_remake *remake, lwi_arena *arena,
                       const lwi_parsed_document **document, lw_error *error);
    const struct lwi_remake_source *source;                    ///< in the arena of the model
    bool (*copy)(struct lwi_remake *remake, lwi_arena *arena); ///< of the source; false: no memory
} lwi_remake;

/** The items as they were added, deep-copied; the builder holds one, the model a normalised one. */
typedef struct lwi_description {
    const char *source; ///< file name or NULL
    double gravity[3];
    lw_function_desc *function;
    const char **input;
    lw_body_desc *body; ///< [0] is the ground
    lw_joint_desc *joint;
    lwi_force_list force[LWI_FORCE_ITEMS];
    lw_coupling_desc *coupling;
    lw_marker_desc *marker;
    lw_measure_desc *measure;
    lw_impulse_desc *impulse; ///< of a model in the order of their times
    lw_event_desc *event;
    const char **warning;
    lw_mesh_desc *mesh;
    lwi_statements stated; ///< what the file states by expressions
    lwi_remake remake;     ///< of a model file with parameters
    int nfunction, ninput, nbody, njoint, ncoupling, nmarker, nmeasure, nimpulse, nevent, nwarning,
        nmesh;
} lwi_description;

/** The functions and inputs that formulas may name. */
static inline lwi_signal_names lwi_names_of(const lwi_description *d)
{
    return (lwi_signal_names){d->function, d->nfunction, (const char *const *)d->input, d->ninput,
                              NULL};
}
/** Description i of a kind of force, LWI_ITEM_spring ... */
const void *lwi_force_desc(const lwi_description *desc, int item, int i);
static inline const lw_spring_desc *lwi_spring_desc(const lwi_description *desc, int i)
{
    return (const lw_spring_desc *)lwi_force_desc(desc, LWI_ITEM_spring, i); // C++ in bench/ops
}
static inline const lw_wrench_desc *lwi_wrench_desc(const lwi_description *desc, int i)
{
    return (const lw_wrench_desc *)lwi_force_desc(desc, LWI_ITEM_wrench, i);
}

typedef struct lwi_body {
    const char *name;
    double mass;
    double inertia[6];   ///< about the mass centre, body axes: xx yy zz xy xz yz
    double com[3];       ///< mass centre in the body frame
    int carrier;         ///< body that it is rigidly merged with; itself: not merged
    double carrier_R[9]; ///< axes of this body in those of the carrier
    double carrier_r[3]; ///< this mass centre from that of the carrier, axes of the carrier
    int holder;          ///< merged: the fixed joint that holds it; else -1
    // at the start: mass centre and its velocity in world axes, angular velocity in body axes
    double r0[3], quat0[4], v0[3], w0[3];
} lwi_body;

typedef struct lwi_mount {
    bool present;
    lw_signal shift[3], turn;
    double about[3]; ///< unit, F1 axes
} lwi_mount;

typedef struct lwi_joint {
    const char *name;
    const lwi_joint_type *type;
    lwi_joint_par par;
    int body1, body2;    ///< carriers; 0 is the ground
    double R1[9], r1[3]; ///< F1 in body1: axes -> body axes, origin from the mass centre
    double R2[9], r2[3]; ///< F2 in body2; ground: world
    int iq, iv;          ///< first index in the joint arrays [model nq], [model nv]
    lw_signal motion[LW_JOINT_MAX_NV]; ///< functions; index 0: free
    int ndriven;
    double
        rotor[LW_JOINT_MAX_NV]; ///< inertias on free coordinates; those on driven ones are forces
    int nrotor;                 ///< how many are not zero
    lw_signal length_of;
    lwi_mount mount;
    bool merged; ///< fixed joint inside a rigid group: without dynamics
    int node;    ///< of the tree; -1: closes a loop, or merged
} lwi_joint;

typedef struct lwi_coupling {
    int joint, coordinate, of, with;
    const double *c; ///< [n]
    int n;
} lwi_coupling;

/** One moving body of the spanning tree.  Nodes are in sweep order: parent < node, branches contiguous.
 *
 *  The link frame is the joint frame that the tree joint has on this body: F2, or F1 when the joint is
 *  reversed (this body is body1).  A floating base has its link frame in the mass centre, body axes.
 *  Coordinates and speeds are those of the joint as the model states it, reversed or not. */
typedef struct lwi_node {
    int parent; ///< node, -1: ground
    int body;
    int joint; ///< -1: floating base
    bool reversed;
    const lwi_joint_type *type;
    const lwi_joint_par *par;
    int nq, nv;                          ///< free ones (nq of the type when nothing is driven)
    int iq, iv;                          ///< first index in tree q, tree v
    signed char column[LW_JOINT_MAX_NV]; ///< [nv] which speed of the joint is the j-th free one
    bool driven;             ///< has driven coordinates or a mount: sigma != 0 is possible
    double X_R[9], X_r[3];   ///< inboard joint frame in the parent's link frame (ground: world)
    double mass, h[3], J[6]; ///< first moment and inertia about the link frame's origin, its axes
    double c_R[9], c_r[3];   ///< body axes -> link axes; mass centre in the link frame
} lwi_node;

// How well the start must close, in m, rad, m/s and rad/s relative to 1 plus the quantity's size: files
// are written by hand with six digits and more; dynamics keep what is there.
#define LWI_CLOSURE_TOLERANCE 1e-6

/** A force or drive with numbers in lw_observation.output. */
typedef struct lwi_force_output {
    const char *item;             ///< name of the force or joint
    const lwi_quantity *quantity; ///< [nquantity]
    int nquantity;
    int first; ///< index of its first number
    int joint,
        coordinate; ///< -1: it acts between bodies; coordinate -1: the joint as a whole; of a signal its function
} lwi_force_output;

struct lw_model {
    lwi_arena arena;
    lwi_description desc;
    double gravity[3];
    double
        length; ///< largest distance of a joint point from the mass centre of a moving body, else 1 [m]
    int nbody, njoint, nnode;
    int nq, nv;           ///< of all joints
    int tree_nq, tree_nv; ///< free ones of the tree
    int nloop;            ///< joints that close loops
    lwi_body *body;       ///< [nbody], [0] ground
    lwi_joint *joint;     ///< [njoint]
    lwi_node *node;       ///< [nnode]
    int *body_node;       ///< [nbody] -1 for the ground and merged bodies
    int *merged;          ///< [nmerged] merged bodies, each after the one it is held by
    int nmerged;
    int *loop; ///< [nloop] joints
    lwi_function *function;
    int nstate;     ///< states of signals
    double *state0; ///< [nstate] at the start
    bool limited;   ///< some integral has a range
    lwi_force *force;
    int nforce;
    lwi_force_output *output; ///< [noutput] in the order of their numbers
    int noutput, noutput_value;
    unsigned long output_code; ///< equal where models have the same outputs
    struct lwi_event *event;   ///< [desc nevent] conditions (events.h)
    int *relay, nrelay;        ///< functions that are relays
    unsigned force_needs;      ///< LWI_NEEDS_* over all forces
    bool jumps;                ///< the rate of some drive, mount or length jumps: an impact
    int nmode;                 ///< forces that have modes
    bool carries_work;         ///< some force, drive or mount can do non-conservative work
    bool driven;               ///< some joint of the tree or loop is driven or mounted
    lwi_coupling *coupling;
    int ncoupling;
    int nrotor;         ///< free coordinates with rotor inertia, of all joints
    double *tree_rotor; ///< [tree_nv] inertia on each free speed of the tree, 0 where there is none
    double *q0, *v0;    ///< [nq], [nv] all joints at the start
    double *tree_q0, *tree_v0; ///< [tree_nq], [tree_nv]
    const char *open;          ///< what the start breaks, of lw_model_create_open; NULL: nothing
    int nfollowed;             ///< joints with speeds at the start computed from those specified
};

// ---- builder and checks (description.h, check.c), used by readers through the public API only

struct lw_builder {
    lw_allocator allocator;
    lwi_arena arena; ///< strings and arrays of the items
    lwi_description desc;
    const lwi_parsed_document *document; ///< of the file that is read; NULL: not parsed yet
    int room[11 + LWI_FORCE_ITEMS];      ///< capacity of each list, by LWI_LIST_ (description.h)
};

/** lw_model_remake, which compares options too.
 *  @param document       by lwi_model_parse; NULL: the file is parsed again
 *  @param options, note  of lwi_remake; may be NULL */
lw_status lwi_model_remake(const lw_model *model, const lwi_parsed_document *document,
                           const char *const *set, int nset, const lw_options *options, char *note,
                           const lw_allocator *allocator, lw_model **remade, lw_error *error);
/** Parses the model's file, for many models with other values of its parameters.  Threads may share it.
 *  @param document  out, in the arena; NULL: of no file with parameters */
lw_status lwi_model_parse(const lw_model *model, lwi_arena *arena,
                          const lwi_parsed_document **document, lw_error *error);
/** Fails with the item's place: "joint 'elbow': ...". */
lw_status lwi_model_fail(const lwi_description *desc, lw_place place, lw_error *error,
                         const char *format, ...) LW_PRINTF(4, 5);
/** Adds a warning to those of the model.
 *  @return LW_ERR_MEMORY */
lw_status lwi_model_warn(lw_model *model, lw_place place, const char *format, ...) LW_PRINTF(3, 4);
/** "file:line:column: text" of any length; NULL: no memory. */
const char *lwi_warning_text(lwi_arena *arena, const char *source, lw_place place,
                             const char *format, va_list arguments);
/** Checks between items: names, references, drives, connectivity.  Merges nothing. */
lw_status lwi_description_check(const lwi_description *desc, lw_error *error);

/** May formulas read the state: any joint, and the bodies that are marked?
 *  @param body  [nbody] set to true where a formula reads the body; others are left as they are */
bool lwi_reads_state(const lw_model *model);
void lwi_mark_bodies_read(const lw_model *model, bool *body);
/** What a signal of a force may depend on at a state. */
static inline lwi_now lwi_now_at(const lwi_kin *kin, double t, const double *inputs)
{
    return (lwi_now){.t = t,
                     .inputs = inputs,
                     .q = kin->q,
                     .qd = kin->qd,
                     .kin = kin,
                     .states = kin->states ? kin->states->value : NULL};
}

// ---- the steps of lw_model_create, in this order

/** Fixed joints between bodies: those of body i are joint[first[i]] ... joint[first[i + 1] - 1]. */
typedef struct lwi_rigid_graph {
    int *first, *joint;
} lwi_rigid_graph;

/** Pose of body b in body a across a fixed joint between them, from mass centre to mass centre. */
void lwi_rigid_pose(const lw_model *model, const lw_joint_desc *joint, int a, int b, double R[9],
                    double r[3]);
/** Checks that mass distributions have the inertia of bodies, and repairs it where asked. */
lw_status lwi_check_inertias(lw_model *model, const lwi_rigid_graph *graph, lw_error *error);

/** Warns of bodies the mass of which probably has a wrong unit. */
lw_status lwi_check_masses(lw_model *model, const lwi_rigid_graph *graph, lw_error *error);

lw_status lwi_compile_bodies(lw_model *model, lw_error *error);   ///< inertia, poses, merging
lw_status lwi_compile_joints(lw_model *model, lw_error *error);   ///< frames on carriers, drives
lw_status lwi_compile_formulas(lw_model *model, lw_error *error); ///< items that formulas read
lw_status lwi_compile_topology(lw_model *model, lw_error *error); ///< spanning tree, sweep order
lw_status lwi_compile_forces(lw_model *model, lw_error *error);

/** States of signals at the start; after lwi_compile_start. */
lw_status lwi_compile_states(lw_model *model, lw_error *error);

/** What a start breaks, first of positions and of velocities; status LW_OK: nothing. */
typedef struct lwi_unclosed {
    lw_error position, velocity;
} lwi_unclosed;
/** Initial state; a start that does not close is reported separately from failures. */
lw_status lwi_compile_start(lw_model *model, lwi_unclosed *unclosed, lw_error *error);
/** The first joint with a motion that starts with a speed; -1: there is none. */
int lwi_moving_drive(const lw_model *model, int *coordinate, double *speed);

/** All these steps for a description: copies it.  lw_model_create decides about what is unclosed. */
lw_status lwi_model_compile(const lwi_description *desc, const lw_allocator *allocator,
                            lwi_unclosed *unclosed, lw_model **model, lw_error *error);

#endif

// lanes.h -- the step of index3 for eight bodies and eight joints at a time.
//
// The equations of step.c, tangent.c and project.c [malczyk2019] for joints with point rows (spherical,
// universal, revolute), written for vector lanes; rows of all other kinds and loads come from the scalar
// fallback, step by step (fallback.h), and are in lanes as well.  Contributions of joints and bodies to
// Newton's equations are blocks x[entry][lane] on every machine.  Blocks of the matrix are written to where
// the elimination needs them (assembled.h).  Joints that the elimination has side by side form a block, their
// bodies too: then no data change lanes.
//
// The scalar code remains in use: lwi_index3_lanes_create leaves NULL if a model does not qualify, and a step
// with a lost pivot is repeated by the scalar code.
//
// Point rows are in world axes here, in axes of frame F1 there: equal up to a rotation, which changes nothing
// in a step.  With d from P1 to P2, x~ y = x cross y:
//     phi = d,    J2 = [1, -(P2 - C2)~],   J1 = -[1, -(P1 - C1)~] in Newton's iterations,
//                                          J1 = -[1, -(P2 - C1)~] in the projections
//     gamma = 2 (vP2 - vP1) x w1 + w1 x (w1 x d) + w2 x (w2 x arm2) - w1 x (w1 x arm1)
// and for rows that hold axis a1 normal to axis a2:
//     phi = a1.a2,  J2 = -J1 = [0, a2 x a1]
//
// Bodies with many joints are split into parts for the elimination (elimination/split.h).  Here all parts are the
// body itself, with its K in their blocks times their number; links between them are edges with constant rows.
// Their right sides are zero, and their multipliers are not used, because they cancel in the body.
#ifndef LWI_METHODS_INDEX3_LANES_H
#define LWI_METHODS_INDEX3_LANES_H

#include "elimination/assembled.h"
#include "methods/index3/index3.h"
#include "tree/normal_form/plan.h"

enum { LWI_INDEX3_AXES = 2, LWI_INDEX3_MAX_ROWS = LWI_EDGE_ROWS, LWI_INDEX3_FULL_ENTRIES = 36 };

/** Eight bodies. */
typedef struct lwi_index3_lane_body {
    // constants; for the ground and for unused lanes: no weight, no motion, not counted
    lwi_lanes mass, inverse_mass, weight[3], free, counts, reach2, J[6], mobility[6];
    // at the beginning of the step; w0, al0 body axes
    lwi_lanes r0[3], quat[4], v0[3], w0[3], R0[9];
    lwi_lanes a0[3],
        al0[3]; ///< constant part of the trapezoidal rule for accelerations: 4/h v0 + a0
    lwi_lanes theta[3], factor; ///< rotation vector of the step, c of T^-1
    lwi_lanes R[9], r[3];       ///< at the end; used for the rows
    lwi_lanes v[3], w[3];       ///< world axes; v of the projections
    lwi_lanes K[9], lin;
    lwi_lanes x[6];
    lwi_lanes size; ///< square of the increment; reach2: square of the reach
} lwi_index3_lane_body;

/** A joint at one of its bodies, world axes. */
typedef struct lwi_index3_lane_side {
    lwi_lanes F[3], f[LWI_INDEX3_AXES];           ///< multipliers as they act on this body
    lwi_lanes arm[3], normal[LWI_INDEX3_AXES][3]; ///< arms of the points; a2 x a1
    lwi_lanes rr[9];                              ///< stiffness of axis rows
} lwi_index3_lane_side;

/** Rows of eight edges at one body of each, [force; torque], world axes: all kinds. */
typedef struct lwi_index3_lane_rows {
    lwi_lanes J[6 * LWI_INDEX3_MAX_ROWS]; ///< row r from entry 6 r on
    lwi_lanes f[LWI_INDEX3_MAX_ROWS];     ///< multipliers that act on this body
    lwi_lanes rr[9];                      ///< stiffness of points and axes
} lwi_index3_lane_rows;

/** Kinds of the rows of eight edges; masks are 1 or 0. */
typedef struct lwi_index3_lane_mixed {
    lwi_lanes base
        [LWI_INDEX3_MAX_ROWS]; ///< rows of points and axes, computed in lanes; others come from the fallback
    lwi_lanes
        hard[LWI_INDEX3_MAX_ROWS]; ///< constraint rows: multipliers of the others are not stored
    lwi_lanes soft[LWI_INDEX3_MAX_ROWS]; ///< compliances of the others
    lwi_lanes c[LWI_INDEX3_MAX_ROWS];    ///< fallback's part of the right side of projections
    lwi_lanes parts[LWI_EDGE_BODIES];    ///< number of parts of each body, 1: not split
} lwi_index3_lane_mixed;

/** Fallback's additions to eight bodies: wrench about the mass centre, stiffness. */
typedef struct lwi_index3_lane_load {
    lwi_lanes f[6], rr[9], tr[9], rt[9], tt[9];
} lwi_index3_lane_load;

/** Full K [6][6] of eight bodies with coupled translations and rotations. */
typedef struct lwi_index3_lane_full {
    lwi_lanes K[LWI_INDEX3_FULL_ENTRIES];
} lwi_index3_lane_full;

/** Eight joints. */
typedef struct lwi_index3_lane_edge {
    lwi_lanes r1[3], r2[3], axis1[LWI_INDEX3_AXES][3], axis2[LWI_INDEX3_AXES][3]; ///< body axes
    lwi_lanes relative; ///< eps by the trace of the rows
    lwi_lanes eps;      ///< of the factors
    lwi_lanes
        follows; ///< 1: the next step starts from multipliers of the projection (regularise.c)
    lwi_lanes phi[LWI_INDEX3_MAX_ROWS], lambda[LWI_INDEX3_MAX_ROWS];
    lwi_lanes own[3]; ///< P1 from C1
    lwi_lanes a1[LWI_INDEX3_AXES][3], a2[LWI_INDEX3_AXES][3];
    lwi_index3_lane_side side[2];
} lwi_index3_lane_edge;

/** Source of eight lanes in other blocks: offsets in doubles from the first block of a kind. */
typedef struct lwi_index3_lane_source {
    int at[LWI_LANES];
    bool straight; ///< at[l] = at[0] + l
} lwi_index3_lane_source;

/** Offsets of bodies or joints in x; unused lanes: < 0. */
typedef struct lwi_index3_lane_offset {
    int at[LWI_LANES];
} lwi_index3_lane_offset;

/** Target of a block of the elimination's matrix. */
typedef struct lwi_index3_lane_target {
    double *R[LWI_LANES], *Q[LWI_LANES];
    int down[LWI_LANES], right;
    bool straight;
} lwi_index3_lane_target;

typedef struct lwi_index3_lane_joint {
    int edge[LWI_LANES], lanes, axes; ///< edges of the graph; axes: rows after the point rows
    bool mixed; ///< rows of all kinds: `count` of them, in rows[0] ... rows[sides - 1]
    bool full;  ///< K of some body is full
    bool split; ///< some body is split into parts (mixed blocks only)
    int count, sides;
    lwi_index3_lane_rows
        *rows; ///< also of other joints that share a body with rows of all kinds; else NULL
    lwi_index3_lane_source body[LWI_EDGE_BODIES], full_of[LWI_EDGE_BODIES];
    lwi_index3_lane_target place;
    double *v[LWI_LANES]; ///< y and lambda of the elimination
    int step;
    bool straight;
} lwi_index3_lane_joint;

/** Two joints of a body: eight blocks of the matrix. */
typedef struct lwi_index3_lane_pair {
    int lanes, axes[2];
    bool add, mixed, full, split;
    int count[2]; ///< mixed: rows
    lwi_index3_lane_source side[2],
        body; ///< mixed: lwi_index3_lane_rows; full: lwi_index3_lane_full
    lwi_index3_lane_target place;
    _Alignas(sizeof(lwi_lanes)) lwi_lanes
        sign; ///< -1: the body is the first of one joint and the second of the other; mixed: number
              ///< of parts of the body
} lwi_index3_lane_pair;

/** The joints that act on eight bodies, one after the other. */
typedef struct lwi_index3_lane_incident {
    int n;
    lwi_index3_lane_source *from; ///< [n] sides
    bool *axes;                   ///< [n] some of them have axis rows
    int nmixed;
    lwi_index3_lane_source *mixed; ///< [nmixed] lwi_index3_lane_rows
} lwi_index3_lane_incident;

/** Items of a pass: a joint; a body after all its joints; a joint after both its bodies; a body and a joint
 *  once more; a pair after the second pass of its body; a task of the elimination with all its blocks.
 *  Related items follow each other closely: a pass through a long chain reads all data once. */
enum {
    LWI_INDEX3_JOINT,
    LWI_INDEX3_BODY,
    LWI_INDEX3_AFTER,
    LWI_INDEX3_BODY_AGAIN,
    LWI_INDEX3_LAST,
    LWI_INDEX3_PAIR,
    LWI_INDEX3_TASK,
    LWI_INDEX3_KINDS
};
typedef struct lwi_index3_lane_item {
    int kind, block;
} lwi_index3_lane_item;

typedef struct lwi_index3_lanes {
    const struct lwi_index3_kernels *kernels;
    lwi_elim *elim;
    int nbody, nedge, npair; ///< blocks; the last body is the ground, a last edge has zeros
    lwi_index3_lane_body *body;
    lwi_index3_lane_edge *edge;
    lwi_index3_lane_joint *joint; ///< [nedge]
    lwi_index3_lane_pair *pair;
    lwi_index3_lane_incident *incident;                           ///< [nbody]
    lwi_index3_lane_offset *pose, *speed, *acceleration, *lambda; ///< [nbody], [nedge]
    double *state;                                                ///< x of the current step
    lwi_index3_lane_rows *rows;           ///< [nrows + 1] the last has zeros
    lwi_index3_lane_mixed *mixed;         ///< [nedge], or NULL
    lwi_index3_lane_load *load;           ///< [nbody], or NULL
    lwi_index3_lane_full *full;           ///< [nbody + 1], or NULL
    bool *is_full;                        ///< [nbody + 1]
    struct lwi_index3_fallback *fallback; ///< scalar fallback; NULL: none
    double t;                             ///< at the end of the current step
    const double *inputs;
    int nrows;
    int nitem;
    lwi_index3_lane_item *item;
    // Threads: rounds one after the other.  A round is one place, for the caller's thread, or a place for each thread,
    // processed concurrently.  First come items without dependencies on parts of the elimination, then those of each
    // part, then those that depend on several parts, kind by kind, then tasks of the parts that waited for these, and
    // last the tasks above several parts, level by level.  A task that is too large for one thread is eliminated by all
    // together, in a round with one place.
    lwi_pool *pool;               ///< parts > 1
    int parts;                    ///< 1: one thread
    int nround, *round;           ///< [nround + 1] first places
    unsigned *kinds;              ///< [nround] one bit for each kind of item in the round
    bool *together;               ///< [nround] all threads eliminate its tasks together
    lwi_barrier barrier;          ///< of these
    double (*largest)[LWI_LANES]; ///< [places] largest squared increment; NaN if there is one
    int *first, *first_task;      ///< [places + 1] first of each place, in `item`, in `task`
    int *task;                    ///< tasks in the order of `item`
    int *body_at, *edge_at;       ///< [nnode], [nedge of the graph] lane of a block: 8 block + lane
    int level;
    bool follow;        ///< some multipliers follow those of the motion
    double unit;        ///< of the projections' multipliers (lwi_index3_projection_unit)
    bool keep;          ///< K and the factors of an earlier iteration are used
    bool ahead;         ///< the first half of the next iteration, or of the projections, is done
    double h, absolute; ///< absolute > 0: eps of every row
} lwi_index3_lanes;

/** Kernel phases, applied to blocks first ... end - 1 of bodies, joints or pairs. */
typedef enum lwi_index3_lane_phase {
    LWI_INDEX3_MULTIPLIERS, ///< joints: from x
    LWI_INDEX3_BEGIN,       ///< bodies: from x; attitudes, predictor, the motion there
    LWI_INDEX3_ROWS_FORCES, ///< joints: rows, wrenches and stiffnesses of the multipliers
    LWI_INDEX3_BALANCE,     ///< bodies: K, x = K (Q - M a + J' lambda)
    LWI_INDEX3_NEWTON,      ///< joints: diagonal blocks, y = -phi - J x
    LWI_INDEX3_PAIRS,       ///< pairs: off-diagonal blocks
    LWI_INDEX3_IMPULSES,    ///< joints: wrenches of the elimination's lambda
    LWI_INDEX3_FORCES,      ///< the same, and lambda is added to the stored multipliers
    LWI_INDEX3_TAKE,        ///< bodies: x += K J' lambda is added to r and theta, new motion
    LWI_INDEX3_ROWS,        ///< joints: rows alone
    LWI_INDEX3_MASSES,      ///< bodies: K = M^-1, x = velocities
    LWI_INDEX3_SPEEDS,      ///< joints: diagonal blocks, symmetric, y = -J x
    LWI_INDEX3_PAIRS_ONCE,  ///< pairs, symmetric
    LWI_INDEX3_TAKE_SPEEDS, ///< bodies: x += K J' lambda, velocities; then x = accelerations
    LWI_INDEX3_GAMMAS,      ///< joints: y = -gamma - J x
    LWI_INDEX3_FINISH,      ///< bodies: x += K J' lambda, accelerations; the state, to x
    LWI_INDEX3_PUT,         ///< joints: multipliers to x
    LWI_INDEX3_PHASES,
    LWI_INDEX3_ELIMINATE = LWI_INDEX3_PHASES, ///< tasks: matrix and y
    LWI_INDEX3_UP,                            ///< tasks: y
    LWI_INDEX3_NOTHING
} lwi_index3_lane_phase;

typedef struct lwi_index3_kernels {
    void (*phase[LWI_INDEX3_PHASES])(const lwi_index3_lanes *lanes, int first, int end);
} lwi_index3_kernels;

/** Creates d->lanes for up to so many threads; the caller sets its pool if it has several parts.  Or leaves NULL: the
 *  model or the method does not qualify for lanes.
 *  @return LW_ERR_MEMORY */
lw_status lwi_index3_lanes_create(lwi_index3 *d, int threads, lwi_arena *arena);
/** Vector width: 1, 4, 8; 0: the widest; the bits do not depend on it.
 *  @return false: this machine does not have it */
bool lwi_index3_lanes_width(lwi_index3_lanes *lanes, int width);
/** Parts of a step: begin from x, which is unchanged until the end; iteration number i (LW_ERR_SINGULAR: the
 *  scalar code decides), *size as in step.c; projections, and x at the end (same errors). */
void lwi_index3_lanes_begin(lwi_index3 *d, double end, double h, double *x, const double *inputs);
lw_status lwi_index3_lanes_iterate(lwi_index3 *d, int i, double *size);
lw_status lwi_index3_lanes_finish(lwi_index3 *d, double *x);
/** Copies increments and residuals of the last iteration to `system`. */
void lwi_index3_lanes_export(const lwi_index3 *d);

#endif

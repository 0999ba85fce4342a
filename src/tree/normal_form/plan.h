// plan.h -- a tree in kernel normal form, and the blocks that the SIMD kernels work on.
//
// Problem: describe any supported tree by bodies with few joint kinds, laid out for SIMD lanes.
// Input: the tree of a model (joints, inertias, rotors, gravity).  Output: lwi_kernel_plan, which is
// constant, and lwi_k_state, the blocks of one state or of a batch.  Memory: O(n).
//
// Normal form.  A joint with several degrees of freedom is a product of joints with one, and massless
// bodies between them.  Bodies on fixed joints are merged with their parents.  Three kinds remain:
// `screws`, bodies with one degree of freedom along and about the z axis of their frame, `balls`
// (spherical joints) and `bases` (free joints).  From the parent's frame to the frame of a screw:
//
//     screw_z(phi, 0)  shift(0, b, delta)  screw_x(alpha, a)  screw_z(theta, d)
//
// The first two factors are the identity for the first child of most bodies: the parent's frame is
// rotated about and shifted along its axis until x is the common normal of both axes (Denavit and
// Hartenberg).  The factors are needed for further children and for bodies on the ground, on balls and
// on bases.  b is needed where two axes are nearly parallel: their common normal would be far away,
// and inertias about such a point lose digits.  A step that needs the factors is `realigned`.
//
// Storage.  All data of the kernels are doubles in blocks of LWI_LANES lanes,
//     x[block][entry][lane],
// aligned to 64 bytes for every register width: width 4 processes a block in two halves, width 1 in
// eight parts.  The constants of a body are at its slot = block * LWI_LANES + lane.  The plan defines
// the meaning of a lane of the state; the kernels are independent of it:
//
//   single recursion    the state of a body is at its slot.  Slots of a kind are in sweep order
//                       (parent before child, branches contiguous), blocks uniform in kind: hinges,
//                       other screws, balls, bases.  Phases without recursion process slots in
//                       lanes, the recursions process one slot after the other
//   segments of a       the same, slot = first + R j + r for body j of segment r: the recursions,
//   branch              too, process R = 4 or 8 segments in lanes
//   parallel branches   the same, with the bodies at one position in consecutive slots (branches.h):
//                       the recursions, too, process four or eight branches in lanes
//   batch               the state of a body is the whole block of that number, block = slot,
//                       lane = instance; the constants are at the slot, one for all lanes
//
// Padding has zero inertia and a pivot of 1, which makes it an exact no-op.
#ifndef LWI_TREE_NORMAL_FORM_PLAN_H
#define LWI_TREE_NORMAL_FORM_PLAN_H

#include "tree/normal_form/branches.h"
#include "tree/normal_form/parts.h"

#include <stdint.h>

/** Minimum number of bodies of a branch that is cut into segments: from this length they are faster than a single
 *  recursion with registers of four lanes and of eight (docs/benchmarks.md).  The limit must not depend on the machine:
 *  results would differ between machines. */
enum { LWI_K_MIN_FOR_SEGMENTS = 96 };

/** Minimum number of bodies of a tree that is divided into sections for threads: one thread evaluates fewer in some
 *  hundred microseconds. */
enum { LWI_K_MIN_FOR_SECTIONS = 1024 };

// ------------------------------------------------------------------------------------- constants

/** Constants of a body: rigid inertia about the frame's origin, in the frame's axes. */
typedef struct lwi_k_body {
    lwi_lanes m, h[3], J[6];   ///< J: xx yy zz xy xz yz
    lwi_lanes pivot;           ///< J zz, or 1 for padding: added to the articulated inertia
    lwi_lanes beyond;          ///< mass of the subtree
    lwi_lanes first_moment[3]; ///< h + masses of the children's subtrees at their origins, q = 0
} lwi_k_body;

/** Constants of a screw: `theta = angle + turn sign q`, `d = shift + slide sign q`,
 *  `S = [slide z; turn z]`. */
typedef struct lwi_k_screw {
    lwi_lanes ca, sa;             ///< cos alpha, sin alpha
    lwi_lanes csa, ssa, c2a, s2a; ///< ca sa, sa^2, cos 2 alpha, sin 2 alpha
    lwi_lanes a;
    lwi_lanes cphi, sphi, b, delta;
    lwi_lanes angle, shift;
    lwi_lanes reach[3];         ///< origin for d = 0, in the axes before the rotation by theta
    lwi_lanes minus_gravity[3]; ///< parent is the ground: gravity in these axes
    lwi_lanes sign;             ///< -1: the tree passes the joint backwards
    lwi_lanes turn, slide;      ///< revolute 1, 0; prismatic 0, 1; screw 1, pitch in m/rad
    lwi_lanes rotor;            ///< reflected inertia of the rotor, added to D
    lwi_lanes driven;           ///< 1: its motion is prescribed and `rotor` is 1; else 0
} lwi_k_screw;

/** Constants of a hinge without children: its elimination, which is the same in every state. */
typedef struct lwi_k_tip {
    lwi_lanes g[5], U[5], Di, diagonal; ///< as in lwi_k_pivot
    lwi_lanes A[6], B[9], C[6];         ///< M'
} lwi_k_tip;

/** Constants of a ball or base: its joint frame in the parent's frame. */
typedef struct lwi_k_ball {
    lwi_lanes R[9], r[3];
} lwi_k_ball;

// ----------------------------------------------------------------------------------------- state

/** Input of a screw, gathered from the caller's arrays with the model's signs.  The momenta kernels have
 *  the joint momentum in v. */
typedef struct lwi_k_joint {
    lwi_lanes q, v, tau;
} lwi_k_joint;

/** Input of a ball (quaternion; angular velocity and torque in its frame, the last three of v and tau)
 *  or of a base (quaternion; velocity and angular velocity; force and torque). */
typedef struct lwi_k_ball_joint {
    lwi_lanes q[4], v[6], tau[6];
} lwi_k_ball_joint;

/** Pose of a screw, output of phase `pose`.  v and tau have been multiplied by `sign`. */
typedef struct lwi_k_pose {
    lwi_lanes c, s;           ///< of theta
    lwi_lanes cs, ss, c2, s2; ///< c s, s^2, cos 2 theta, sin 2 theta
    lwi_lanes d, v, tau;
} lwi_k_pose;

/** Pose of a ball or base. */
typedef struct lwi_k_ball_pose {
    lwi_lanes R[9], r[3]; ///< axes -> parent's; origin, parent's axes
} lwi_k_ball_pose;

/** Velocity terms of accelerations. */
typedef struct lwi_k_bias {
    lwi_lanes w[3]; ///< angular velocity: outward recursion `turning`
    lwi_lanes b[3]; ///< bias acceleration of the origin, and   }
    lwi_lanes k[3]; ///< of the angular velocity (screws: k_z = 0) } phase `bias`
    lwi_lanes p[6]; ///< bias wrench of the body                }
} lwi_k_bias;

/** Output of the inward recursion for a screw, with U = M S, D = S'U:
 *  g = U/D, y = (tau - S'p)/D, Di = 1/D.  g_5 of a hinge is 1 or not needed; it is never stored. */
typedef struct lwi_k_pivot {
    lwi_lanes g[6], y, Di;
    lwi_lanes diagonal; ///< from the diagonal of M: the rounding error of D is relative to it
} lwi_k_pivot;

/** The same for a ball, with C = L diag(1/i) L' eliminated: Z = L^-1 B' (row by row),
 *  y = i L^-1 (tau - p_n), l: l10 l20 l21.  Phase `rows` sets Z := C^-1 B', y := C^-1 (tau - p_n).
 *  A base has vdot only. */
typedef struct lwi_k_ball_pivot {
    lwi_lanes Z[9], y[3], i[3], l[3], diagonal;
    lwi_lanes vdot[6]; ///< of a ball the last three
} lwi_k_ball_pivot;

/** A hinge or screw with prescribed motion: U = M S and S'p before its elimination. */
typedef struct lwi_k_driven {
    lwi_lanes U[6], along;
} lwi_k_driven;

/** Segments: the components of the columns of T along a body's joint axis. */
typedef struct lwi_k_row {
    lwi_lanes t[6];
} lwi_k_row;

/** Output of the outward recursion: acceleration of the origin (the classical acceleration of the point,
 *  minus gravity), angular acceleration, and vdot. */
typedef struct lwi_k_motion {
    lwi_lanes A[6], vdot;
} lwi_k_motion;

/** Sum of the articulated inertias of the branches at a branch point; h in the momenta kernels only. */
typedef struct lwi_k_art {
    lwi_lanes A[6], B[9], C[6], p[6], h[3];
} lwi_k_art;

/** Momenta: M' and D' of screws and balls.  For hinges the terms of the derivative of M' by theta:
 *  A_0 := xx - yy of A, B_0 := xx - yy and B_1 := xy + yx of B, C_0 := xx - yy of C.  h: mass times
 *  center of mass of the subtree; g: gravity in the body's axes; pdot without efforts (pdot[0] of a
 *  screw, 3..5 of a ball). */
typedef struct lwi_k_momentum {
    lwi_lanes A[6], B[9], C[6], D[6], h[3], g[3], pdot[6];
} lwi_k_momentum;

/** Wrench transmitted at the tip of a segment: f = Q T'A_base + q (join.inl). */
typedef struct lwi_k_join {
    lwi_lanes Q[6], q; ///< by rows, the last two places of each unused
} lwi_k_join;

/** Coupling of the segments of a branch (segments.inl); one lane for each segment. */
typedef struct lwi_k_segment {
    lwi_lanes C[9], w[3];  ///< prefix; later w: angular velocity at the base
    lwi_k_art art;         ///< articulated inertia at the base
    lwi_lanes T[36], e[6]; ///< columns: row by row
    lwi_lanes L[21];       ///< lower triangle row by row
    lwi_lanes A[6], f[6];  ///< acceleration or velocity of the base, wrench or momentum at the tip
    lwi_lanes g[3], h[3];  ///< momenta: gravity at the base, h of the bodies beyond the tip
    lwi_lanes w_base[3];   ///< base of the first segment } in the first lane
    lwi_k_art left;        ///< output of the branch      }
    lwi_k_join join[LWI_LANES];
} lwi_k_segment;

// ------------------------------------------------------------------------------------------ plan

typedef enum lwi_k_kind {
    LWI_K_HINGE, ///< screw with `turn` = 1, `slide` = 0
    LWI_K_SCREW, ///< any other
    LWI_K_BALL,
    LWI_K_BASE
} lwi_k_kind;

/** Shape of a hinge: the form of the fixed transform from its parent's frame, and whether it has a rotor.
 *  Each shape has a kernel variant, which contains the terms that are not zero.  Many machines have
 *  perpendicular and parallel axes only. */
enum {
    LWI_K_OBLIQUE = 0,  ///< any alpha
    LWI_K_PARALLEL = 1, ///< alpha = 0
    LWI_K_SQUARE = 2,   ///< alpha = pi/2
    LWI_K_AXIS = 3,     ///< mask of the three above
    LWI_K_APART = 4,    ///< a is not zero
    LWI_K_ALONG = 8,    ///< d is not zero
    LWI_K_ANY = LWI_K_OBLIQUE | LWI_K_APART | LWI_K_ALONG,
    LWI_K_FORM = 15,  ///< mask of those above
    LWI_K_ROTOR = 16, ///< has a rotor; with it there are fewer kernel variants
    LWI_K_DRIVEN = 32 ///< while a plan is made: `drives`; always with LWI_K_ROTOR
};

/** One body in sweep order. */
typedef struct lwi_k_step {
    int32_t slot, parent; ///< slots; parent -1: the ground
    int32_t iq, iv;       ///< first coordinate and speed in tree q, tree v
    int8_t kind;          ///< lwi_k_kind
    int8_t shape;         ///< of a hinge
    bool
        drives; ///< its motion, or that of another lane, is prescribed; hinges have a rotor's shape
    bool tip;   ///< its articulated inertia starts at zero: all children have stored theirs in art
    bool realigned; ///< has phi, b or delta
    int8_t stride;  ///< > 0: continues a run of hinges; slots from its parent, the previous step
    bool on;        ///< inward: a free hinge on a free hinge, which is next and has no other child
    bool last;      ///< a hinge on a hinge on the ground that has no other child
    bool first;     ///< inward: the first step that stores to its place in art
    bool
        begins; ///< of parallel branches, at the step of the first one: shorter ones begin here (`begin`)
    bool driven; ///< prescribed motion: iq, iv are tree nq, nv + its number in `drive`
    // places, numbered like slots: block * LWI_LANES + lane
    int32_t park;  ///< >= 0: place in art to which the inertia for the parent is added.  The parent
                   ///< is not the previous body in sweep order, or this is a parallel branch
    int32_t leaf;  ///< >= 0: place in tip of a hinge without children
    int32_t fetch; ///< >= 0: place in art that has the sum of the children's inertias
} lwi_k_step;

/** The trunk or some subtrees of a tree.  Without sections all of the tree is the trunk.  A section has its own blocks,
 *  so that threads share none. */
typedef struct lwi_k_section {
    int first_stage, end_stage;
    int first, end;                   ///< steps
    int first_block[4], end_block[4]; ///< by kind, without those of segments
    int tail[4];                      ///< lanes in use of the last of them
} lwi_k_section;

/** Block and lane of a slot or of a place; unsigned: a shift and a mask. */
static inline int lwi_k_block(int32_t slot)
{
    return (int)((uint32_t)slot / LWI_LANES);
}
static inline int lwi_k_lane(int32_t slot)
{
    return (int)((uint32_t)slot % LWI_LANES);
}

/** A subtree on the trunk has its own place in art, from which the trunk takes its inertia. */
typedef struct lwi_k_subtree {
    int32_t from, to; ///< places in art: of the subtree, of the body that carries it
    bool first;       ///< the first one that is stored to its place
} lwi_k_subtree;

typedef struct lwi_kernel_plan {
    int nscrew, nball, nbase; ///< blocks
    int nhinge;               ///< blocks of hinges, the first of the screws
    int nsegment;             ///< blocks of hinges in segments, the first of the hinges
    int first_ball;           ///< slot: balls follow screws, bases follow balls
    int nblock, nstep, nart;  ///< of all kinds; bodies; blocks of parking places
    lwi_k_step *step;         ///< [nstep]
    lwi_k_body *body;         ///< [nblock]
    lwi_k_screw *screw;       ///< [nscrew]
    lwi_k_ball *ball;         ///< [nball + nbase], first that of block nscrew
    lwi_k_tip *tip;           ///< [ntip] blocks
    int ntip;
    lwi_k_stage *stage; ///< [nstage] of the recursions over one state
    int nstage;
    lwi_k_section *section; ///< [nsection] the trunk first
    int nsection;
    lwi_k_subtree *subtree; ///< [nsubtree] those on the trunk, in the order of summation
    int nsubtree;
    int64_t (*begin)[LWI_LANES]; ///< [nstep] of parallel branches, at the steps of the first one:
                                 ///< lanes in which shorter branches begin have all bits set
    double gravity[3];
    bool forward;       ///< every sign is 1
    bool rotors;        ///< some screw has a rotor
    bool straight;      ///< screws only; slot i has tree q and v number i, and sign 1
    int segments;       ///< number of stages that are branches in segments
    lwi_k_drive *drive; ///< [ndrive] prescribed coordinates
    int ndrive;
} lwi_kernel_plan;

/** Which bodies are processed in lanes. */
typedef struct lwi_k_choice {
    int segments; ///< of a branch of any length: 0, 4 or 8; or LWI_K_AUTO
    int branches; ///< minimum number of branches of a stage; 0: no stages; or LWI_K_AUTO
    /** Also plans for models with drives, mounts and forces on bodies.  The caller evaluates their functions
     *  (`driven` of the steps) and converts such forces to efforts (tree/body_forces.h). */
    bool prescribed;
    int min_bodies; ///< of a tree that is divided into sections; 0: LWI_K_MIN_FOR_SECTIONS
} lwi_k_choice;

enum {
    LWI_K_AUTO = -1 ///< segments by the length of the branch, branches by their estimated gain
};

/** Brings the model's tree into normal form.
 *  @param plan  out; NULL if some joint, drive, mount or force of the model has no kernel: custom joints,
 *  reversed spherical and free joints, mounts of reversed joints, free joints between bodies or on mounts;
 *  unless `prescribed` also drives, mounts, springs between points, wrenches
 *  @return LW_ERR_MEMORY */
lw_status lwi_kernel_plan_create_chosen(const lw_model *model, lwi_k_choice choice,
                                        lwi_arena *arena, lwi_kernel_plan **plan);
/** The same with LWI_K_AUTO for both choices. */
lw_status lwi_kernel_plan_create(const lw_model *model, lwi_arena *arena, lwi_kernel_plan **plan);

/** Blocks of one state of a tree; arrays are [nblock] unless stated otherwise.  A batch has LWI_LANES
 *  blocks for each one of the plan. */
typedef struct lwi_k_state {
    lwi_k_joint *joint;           ///< [nscrew]
    lwi_k_ball_joint *ball_joint; ///< [nball + nbase]
    lwi_k_pose *pose;             ///< [nscrew]
    lwi_k_ball_pose *ball_pose;   ///< [nball + nbase]
    lwi_k_bias *bias;
    lwi_k_pivot *pivot;           ///< [nscrew]
    lwi_k_ball_pivot *ball_pivot; ///< [nball + nbase]
    lwi_k_row *row;               ///< [nsegment]
    lwi_k_motion *motion;
    lwi_k_art *art;         ///< [nart + nsection]; the last ones are scratch for parallel branches
    lwi_k_segment *segment; ///< [segments]
    lwi_k_momentum *momentum;
    lwi_k_driven *driven; ///< [nscrew] if the plan has drives
} lwi_k_state;

/** Allocates the blocks of one state, or of a batch of LWI_LANES states, and sets all entries that no
 *  kernel writes.  @return LW_ERR_MEMORY */
lw_status lwi_k_state_create(const lwi_kernel_plan *plan, bool batch, lwi_arena *arena,
                             lwi_k_state *state);

#endif

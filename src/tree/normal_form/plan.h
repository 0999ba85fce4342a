// plan.h -- a tree in kernel normal form, and the blocks that kernels work on.
//
// Normal form.  Joints of several freedoms are products of joints of one freedom with massless
// bodies between; fixed joints are gone, their bodies merged.  What is left are `screws`, bodies of
// one freedom along and about the z axis of their frame, `balls` (spherical) and `bases` (free).
// From the parent's frame to that of a screw:
//
//     turn_z(phi)  shift(0, b, delta)  screw_x(alpha, a)  screw_z(theta, d)
//
// The first two are the identity for the first child of most bodies: the parent's own frame is
// turned about and shifted along its axis until x is the common normal of both axes (Denavit and
// Hartenberg).  They are needed for further children, below the ground, balls and bases, and b
// where two axes are nearly parallel: their common normal would be far away, and inertias about
// such a point lose digits.  A step that needs them is `turned`.
//
// Storage.  Everything a kernel touches is doubles in blocks of LWI_LANES lanes,
//     x[block][entry][lane],
// aligned to 64 bytes, whatever the width of the machine: width 4 works on a block in two halves,
// width 1 in eight.  Constants of a body stand at its slot = block * LWI_LANES + lane.  What a lane
// of the state means is the plan's business, never the kernel's:
//
//   one recursion     the state of a body stands at its slot.  Slots of a kind are in sweep order
//                     (parent before child, limbs contiguous), blocks uniform in kind: hinges,
//                     other screws, balls, bases.  Phases without recursion run over slots in
//                     lanes, the recursions over one slot after the other
//   runs of a limb    the same, slot = first + R j + r for body j of run r: the recursions run over
//                     R = 4 or 8 runs in lanes, too
//   limbs of a tree   the same, slots of the bodies at one position side by side (branches.h): the
//                     recursions run over four or eight limbs in lanes, too
//   batch             the state of a body is the whole block of that number, block = slot,
//                     lane = instance; the constants are still at the slot, one for all lanes
//
// Padding has no inertia and 1 on its pivot, which makes it an exact no-op.
#ifndef LWI_TREE_NORMAL_FORM_PLAN_H
#define LWI_TREE_NORMAL_FORM_PLAN_H

#include "tree/normal_form/branches.h"
#include "model/model.h"

#include <stdint.h>

/** Fewest bodies of a limb for eight runs: where they win over one recursion, measured with
 *  registers of four and of eight lanes (docs/benchmarks.md), for accelerations and for momenta,
 * whose recursion is shorter.  They must not depend on the machine: chains would have other bits on
 *  another one. */
enum { LWI_K_MIN_FOR_SEGMENTS = 256, LWI_K_MIN_FOR_MOMENTA = 512 };

/** One entry of a block. */

// ------------------------------------------------------------------------------------- constants

/** Of every body: rigid inertia about the frame's origin, its axes. */
typedef struct lwi_k_body {
    lwi_lanes m, h[3], J[6]; ///< J: xx yy zz xy xz yz
    lwi_lanes pivot;         ///< zz again, 1 for padding: what articulated inertias get
    lwi_lanes beyond;        ///< mass of the body and everything beyond it
    lwi_lanes moment[3];     ///< h, and the masses beyond as if they stood where they are hinged
} lwi_k_body;

/** Of a screw.  theta = angle + turn sign q, d = shift + slide sign q; S = [slide z; turn z]. */
typedef struct lwi_k_screw {
    lwi_lanes ca, sa;             ///< cos alpha, sin alpha
    lwi_lanes csa, ssa, c2a, s2a; ///< ca sa, sa^2, cos 2 alpha, sin 2 alpha
    lwi_lanes a;
    lwi_lanes cphi, sphi, b, delta;
    lwi_lanes angle, shift;
    lwi_lanes reach[3];         ///< origin for d = 0, in the axes that theta turns
    lwi_lanes minus_gravity[3]; ///< on the ground: gravity in these axes
    lwi_lanes sign;             ///< -1: the tree passes the joint backwards
    lwi_lanes turn, slide;      ///< revolute 1, 0; prismatic 0, 1; screw 1, pitch in m/rad
    lwi_lanes rotor;            ///< inertia that the coordinate drives beside the bodies
} lwi_k_screw;

/** Of a hinge with nothing beyond it: the elimination, which is the same in every state. */
typedef struct lwi_k_tip {
    lwi_lanes g[5], U[5], Di, diagonal; ///< as in lwi_k_pivot
    lwi_lanes A[6], B[9], C[6];         ///< M'
} lwi_k_tip;

/** Of a ball or base: its joint frame in the parent's frame. */
typedef struct lwi_k_ball {
    lwi_lanes R[9], r[3];
} lwi_k_ball;

// ----------------------------------------------------------------------------------------- state

/** Of a screw, gathered from the caller's arrays as the model states them; v: p with momenta. */
typedef struct lwi_k_joint {
    lwi_lanes q, v, tau;
} lwi_k_joint;

/** Of a ball (quaternion, angular velocity, torque in its frame: the last three of v and tau) or a
 *  base (quaternion; velocity and angular velocity; force and torque). */
typedef struct lwi_k_ball_joint {
    lwi_lanes q[4], v[6], tau[6];
} lwi_k_ball_joint;

/** Phase `pose`: from here on v and tau are signed. */
typedef struct lwi_k_pose {
    lwi_lanes c, s;           ///< of theta
    lwi_lanes cs, ss, c2, s2; ///< c s, s^2, cos 2 theta, sin 2 theta
    lwi_lanes d, v, tau;
} lwi_k_pose;

/** Of a ball or base. */
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

/** What the inward recursion leaves of a screw: with U = M S, D = S'U
 *  g = U/D, y = (tau - S'p)/D, Di = 1/D.  g_5 of a hinge is 1, or not asked for, and never stored. */
typedef struct lwi_k_pivot {
    lwi_lanes g[6], y, Di;
    lwi_lanes diagonal; ///< from the diagonal of M: with D, what D's rounding error is relative to
} lwi_k_pivot;

/** The same of a ball, whose C = L diag(1/i) L' is eliminated: Z = L^-1 B' (row by row),
 *  y = i L^-1 (tau - p_n), l: l10 l20 l21.  Phase `rows` makes Z := C^-1 B', y := C^-1 (tau - p_n).
 *  A base leaves vdot only. */
typedef struct lwi_k_ball_pivot {
    lwi_lanes Z[9], y[3], i[3], l[3], diagonal;
    lwi_lanes vdot[6]; ///< of a ball the last three
} lwi_k_ball_pivot;

/** Runs: entries of the columns of T along a body's freedom. */
typedef struct lwi_k_row {
    lwi_lanes t[6];
} lwi_k_row;

/** What the outward recursion finds: acceleration of the origin (classical: of the point; in a
 *  frame that falls with gravity), angular acceleration, and vdot. */
typedef struct lwi_k_motion {
    lwi_lanes A[6], vdot;
} lwi_k_motion;

/** An articulated inertia that waits for the other limbs of its body; h with momenta only. */
typedef struct lwi_k_art {
    lwi_lanes A[6], B[9], C[6], p[6], h[3];
} lwi_k_art;

/** Momenta: M' and D' of screws and balls; of hinges what the derivative of M' by theta is made of,
 *  A_0 := xx - yy of A, B_0 := xx - yy and B_1 := xy + yx of B, C_0 := xx - yy of C.  First moment
 * of the subtree, gravity in the body's axes, and pdot without efforts (a screw's is pdot[0], a
 *  ball's 3..5). */
typedef struct lwi_k_momentum {
    lwi_lanes A[6], B[9], C[6], D[6], h[3], g[3], pdot[6];
} lwi_k_momentum;

/** What is transmitted at the tip of a run: f = Q T'A_base + q (join.inl). */
typedef struct lwi_k_join {
    double Q[6][6], q[6];
} lwi_k_join;

/** What the runs of a limb know of each other (segments.inl): a lane is a run. */
typedef struct lwi_k_segment {
    lwi_lanes C[9], w[3];  ///< prefix; w: then what the run starts with
    lwi_k_art art;         ///< articulated inertia at the base
    lwi_lanes T[36], e[6]; ///< columns: row by row
    lwi_lanes L[21];       ///< lower triangle row by row
    lwi_lanes A[6], f[6];  ///< acceleration or velocity of the base, wrench or momentum at the tip
    lwi_lanes g[3], h[3];  ///< momenta: gravity at the base, first moment of what is beyond the tip
    lwi_lanes w_base[3];   ///< of the first run's base } in the first lane
    lwi_k_art left;        ///< by the limb             }
    lwi_k_join join[LWI_LANES];
} lwi_k_segment;

// ------------------------------------------------------------------------------------------ plan

typedef enum lwi_k_kind {
    LWI_K_HINGE, ///< screw with turn = 1, slide = 0
    LWI_K_SCREW, ///< any other
    LWI_K_BALL,
    LWI_K_BASE
} lwi_k_kind;

/** How a hinge stands to its parent's frame, and whether it has a rotor; what is named is in the texts,
 *  all else is folded away. Many machines have square and parallel axes only. */
enum {
    LWI_K_OBLIQUE = 0,  ///< any alpha
    LWI_K_PARALLEL = 1, ///< alpha = 0
    LWI_K_SQUARE = 2,   ///< alpha = pi/2
    LWI_K_AXIS = 3,     ///< mask of these
    LWI_K_APART = 4,    ///< a is not zero
    LWI_K_ALONG = 8,    ///< d is not zero
    LWI_K_ANY = LWI_K_OBLIQUE | LWI_K_APART | LWI_K_ALONG,
    LWI_K_ROTOR = 16 ///< drives one; there are fewer texts then
};

/** One body in sweep order. */
typedef struct lwi_k_step {
    int32_t slot, parent; ///< slots; parent -1: the ground
    int32_t iq, iv;       ///< first coordinate and speed in tree q, tree v
    int8_t kind;          ///< lwi_k_kind
    int8_t shape;         ///< of a hinge
    bool tip;             ///< its articulated inertia starts at zero: what is beyond has parked
    bool realigned;       ///< has phi, b or delta
    bool on;    ///< inward: a hinge, and so is its parent, which is next and has no other child
    bool last;  ///< a hinge on a hinge on the ground that has no other child
    bool first; ///< of those that park there (counted inward)
    // places, as slots are: block * LWI_LANES + lane
    int32_t park;  ///< >= 0: the parent is not the body before this one in sweep order, or this is
                   ///< one of limbs side by side; the inertia for it is added up in art there
    int32_t leaf;  ///< >= 0: a hinge with nothing beyond it, in tip
    int32_t fetch; ///< >= 0: children of this body have parked in art there
} lwi_k_step;

typedef struct lwi_kernel_plan {
    int nscrew, nball, nbase; ///< blocks
    int nhinge;               ///< blocks of hinges, the first of the screws
    int nsegment;             ///< blocks of hinges in runs, the first of these
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
    int64_t (*begin)[LWI_LANES]; ///< [nstep] of limbs side by side, at steps of the first: the
                                 ///< lanes in which shorter ones begin have all bits set
    double gravity[3];
    bool forward;  ///< every sign is 1
    bool rotors;   ///< there are any
    bool straight; ///< screws only, and slot i has tree q and v number i and sign 1
    int segments;  ///< stages that are limbs in runs
} lwi_kernel_plan;

/** What is to stand side by side. */
typedef struct lwi_k_choice {
    int segments; ///< of a limb: 0 none, however long it is; 4, 8, however short it is
    int branches; ///< of a tree: stages of as many or more; 0 none
} lwi_k_choice;

enum {
    LWI_K_AUTO = -1,        ///< runs as the length says, limbs as pays
    LWI_K_AUTO_MOMENTA = -2 ///< runs as the length says for momenta
};

/** Brings the model's tree into normal form.
 *  @param plan  out; NULL when some joint, drive, mount or force of the model has no kernel:
 * drives, mounts, springs between points, wrenches, custom joints, spherical and free joints that
 * the tree passes backwards, free joints between bodies
 *  @return LW_ERR_MEMORY */
lw_status lwi_kernel_plan_create_chosen(const lw_model *model, lwi_k_choice choice,
                                        lwi_arena *arena, lwi_kernel_plan **plan);
/** The same with everything as lengths and numbers say. */
lw_status lwi_kernel_plan_create(const lw_model *model, lwi_arena *arena, lwi_kernel_plan **plan);

/** Blocks of one state of a tree; arrays [nblock] but where said otherwise. */
typedef struct lwi_k_state {
    lwi_k_joint *joint;           ///< [nscrew]
    lwi_k_ball_joint *ball_joint; ///< [nball + nbase]
    lwi_k_pose *pose;             ///< [nscrew]
    lwi_k_ball_pose *ball_pose;   ///< [nball + nbase]
    lwi_k_bias *bias;
    lwi_k_pivot *pivot;           ///< [nscrew]
    lwi_k_ball_pivot *ball_pivot; ///< [nball + nbase]
    lwi_k_row *row;               ///< [nrun]
    lwi_k_motion *motion;
    lwi_k_art *art;         ///< [nart], and one for limbs on their way there
    lwi_k_segment *segment; ///< [runs] of limbs in runs
    lwi_k_momentum *momentum;
} lwi_k_state;

/** Blocks for one state, or for a batch of LWI_LANES, with everything that no kernel writes. */
lw_status lwi_k_state_create(const lwi_kernel_plan *plan, bool batch, lwi_arena *arena,
                             lwi_k_state *state);

#endif

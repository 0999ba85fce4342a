// tree_state.h -- shared by the recursive formulations: evaluation of the tree with its forces,
// the Newton-Euler pass, and snapshots from tree coordinates.
//
// State of a tree formulation: x = (tree q, tree u or p, [work]).  Spatial vectors are linear part
// first, in link frames about their origins (tree.h).
#ifndef LWI_KINEMATICS_TREE_STATE_H
#define LWI_KINEMATICS_TREE_STATE_H

#include "base/threads.h"
#include "kinematics/formulation.h"
#include "kinematics/passes.h"
#include "kinematics/subtrees.h"
#include "kinematics/tree.h"
#include "model/forces/shares.h"
#include "spatial/inertia.h"

#include <float.h>

/** The tree at one instant.  The parts are filled by the functions below, in their order. */
typedef struct lwi_tree_work {
    lwi_link *link;      ///< [nnode] lwi_tree_position, lwi_tree_rates
    double (*V)[6];      ///< [nnode] velocities
    double (*wrench)[6]; ///< [nnode] applied by springs between points and wrenches; not gravity
    double *effort; ///< [tree_nv] of joint springs, dampers, signals on free speeds; with `added`
    const double *added; ///< [tree_nv] efforts added to those of the model; NULL: none
    double power;        ///< of the non-conservative forces [W]; not of drives and mounts
    double (*g)[3];      ///< [nnode] gravity in link axes, by lwi_tree_gravity
    double (*A)[6];      ///< [nnode] accelerations in a frame that falls with g: base has -g
    double (*F)[6];      ///< [nnode] wrench that the node's joint transmits to it
    // in world axes; valid after lwi_tree_loads where forces need them, and after observe
    double (*R)[9], (*r)[3];           ///< [nnode] link frames
    double (*body_R)[9], (*body_r)[3]; ///< [nbody] mass centres
    double (*body_v)[3], (*body_w)[3]; ///< [nbody] world axes
    double *joint_q, *joint_qd;        ///< [model nq], [model nv]; those of tree joints
    lwi_loads loads;                   ///< wrench [nbody], effort [model nv]
    lwi_force_shares *shares;          ///< threads of the loads, set by the user; NULL: one
    lwi_pool *
        pool; ///< of what lwi_tree_evaluate and rows do node by node, set by the user; NULL: one thread
    lwi_subtrees *subtrees;  ///< of its threads, for recursions along the tree; NULL: one thread
    lwi_tree_passes *passes; ///< instead, with other bits, of any number of threads; NULL: none
    const unsigned char *const *mode; ///< of lwi_kin: that of an lwi_work; NULL: by the state
    const lwi_law_tangent *tangent;   ///< of lwi_kin, set by the user; NULL: none
    const lwi_states *states;         ///< the same of signals
    // for the round-off of pivots, by lwi_tree_factor
    double (*size)[6]; ///< [nnode] diagonal of the articulated inertia before the joint is released
    bool *passes_on;   ///< [nnode] round-off from beyond is still to be added to it
    int *child, *sibling; ///< [nnode] first child, next one of the same parent; -1: none
    // from the formulation, for lwi_tree_observe
    bool has_A;           ///< A is not to be computed from vdot
    unsigned char *has_F; ///< then: [nnode] 1: F of the node is set too; NULL: none
    bool has_world;       ///< R and r are those of the links
    bool found_A;         ///< A is that of vdot, as lwi_tree_accelerations would compute it
} lwi_tree_work;

lw_status lwi_tree_work_create(const lw_model *model, lwi_arena *arena, lwi_tree_work *work);

/** wrench, effort and power of the model's forces; after link (position) and V are there.
 *  @param v  free speeds [tree_nv] */
void lwi_tree_loads(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                    const double *inputs);
/** The motion that forces read, without the forces. */
void lwi_tree_motion(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                     const double *v);
/** As lwi_tree_loads where the arrays of bodies and joints and R are current. */
void lwi_tree_loads_placed(const lw_model *model, lwi_tree_work *work, double t,
                           const double *inputs);
/** The same where every force acts on joints and nothing is driven: needs no links. */
void lwi_tree_joint_loads(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                          const double *v, const double *inputs);
/** Coordinates and speeds of tree joints in the joint arrays, where nothing is driven. */
void lwi_tree_joint_motion(const lw_model *model, lwi_tree_work *work, const double *q,
                           const double *v);
/** loads, effort and power of the motion in the arrays of bodies and joints. */
void lwi_tree_apply(const lw_model *model, lwi_tree_work *work, double t, const double *inputs);
/** The motion that forces read: arrays of the workspace. */
lwi_kin lwi_tree_kin(const lwi_tree_work *work);
/** Everything up to the loads: positions, rates of S and sigma, velocities, loads. */
void lwi_tree_evaluate(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                       const double *v, const double *inputs);
/** Its two parts: positions, and the rest. */
void lwi_tree_place(const lw_model *model, lwi_tree_work *work, double t, const double *q);
void lwi_tree_evaluate_placed(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                              const double *inputs);
/** Gravity g in the axes of the links, for formulations that need it as the wrench [m g; h x g]. */
void lwi_tree_gravity(const lw_model *model, lwi_tree_work *work);

/** S'MS has the round-off of M, some units in the last place of what it is summed from.  Below this share nothing of it
 *  is known. */
#define LWI_PIVOT_UNKNOWN (64 * DBL_EPSILON)
/** Factor L of D = S'U + diag(rotor [nv of the node]) of node k, where U = M S, for cholesky6_forward and _backward.
 *  Children first; also for nodes without speeds.
 *  @return LW_ERR_SINGULAR naming the joint and the time */
lw_status lwi_tree_factor(const lw_model *model, const lwi_tree_work *work, int k, double t,
                          const lwi_inertia *M, double (*U)[6], const double *rotor, double (*L)[6],
                          lw_error *error);
/** A bound of the terms that are summed to S'MS, from M's diagonal: its round-off is some units in the last place of
 *  this. */
double lwi_tree_terms(const double diagonal[6], const double S[6]);
/** The inertia of the body of node k alone against S, and the rotor's. */
double lwi_tree_own_inertia(const lwi_node *node, const double S[6], double rotor);
/** LW_ERR_NOT_FINITE with the name of the joint that has an entry of v [tree_nv] that is not finite; `what` is the
 *  name of the quantity v. */
lw_status lwi_tree_finite(const lw_model *model, double t, const double *v, const char *what,
                          lw_error *error);

/** A and F from the accelerations of the free speeds, by the Newton-Euler recursion:
 *      A = X A_parent + S vdot + Sdot v + sigma_dot + V x (S v + sigma)
 *      F = M A + V x* M V - wrench + sum over children X' F
 *  After lwi_tree_evaluate at (t, q, v). */
void lwi_tree_newton_euler(const lw_model *model, lwi_tree_work *work, const double *v,
                           const double *vdot);
/** A alone. */
void lwi_tree_accelerations(const lw_model *model, lwi_tree_work *work, const double *v,
                            const double *vdot);
/** X of each node := the sum over its path from the ground of motions relative to the parents, in link frames; by
 *  passes, after the world frames. */
void lwi_tree_sum_motions(const lw_model *model, lwi_tree_work *work, double (*X)[6],
                          double (*scratch)[6]);
/** F alone, from A; of nodes with has_F it is kept. */
void lwi_tree_wrenches(const lw_model *model, lwi_tree_work *work);
/** F alone, in place, from M A + V x* M V - wrench of the bodies. */
void lwi_tree_sum_wrenches(const lw_model *model, lwi_tree_work *work);
/** V x (S v + sigma) + Sdot v + sigma_dot of node k. */
void lwi_tree_bias(const lw_model *model, int k, const lwi_tree_work *work, const double *v,
                   double c[6]);
/** Power of one node's drives and mount: F . sigma less that of its springs on driven coordinates.
 */
double lwi_tree_drive_power(const lw_model *model, int k, const lwi_tree_work *work,
                            const double F[6]);
/** qdot [tree_nq]; after the links. */
void lwi_tree_kinematics(const lw_model *model, const lwi_link *link, const double *v,
                         double *qdot);

/** The same without links, where nothing is driven. */
void lwi_tree_kinematics_free(const lw_model *model, const double *q, const double *v,
                              double *qdot);
/** The same by the threads of a pool; NULL: one. */
void lwi_tree_kinematics_shared(const lw_model *model, lwi_pool *pool, const double *q,
                                const double *v, double *qdot);

/** Fills the snapshot up to `level`: bodies that are not merged, tree joints, reactions.
 *  After lwi_tree_evaluate at the same (t, q, v).
 *  @param vdot  [tree_nv] read at levels ACCELERATION and REACTION */
void lwi_tree_observe(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                      const double *vdot, lw_observe level, lwi_snapshot *snapshot);
/** At level REACTION, but the reactions are not taken of F yet. */
void lwi_tree_observe_wrenches(const lw_model *model, lwi_tree_work *work, double t,
                               const double *v, const double *vdot, lwi_snapshot *snapshot);
/** The reactions of F; once for each evaluation. */
void lwi_tree_take_reactions(const lw_model *model, lwi_tree_work *work, const double *vdot,
                             lwi_snapshot *snapshot);
/** Wrench of constraint and drive on body 2 about P2, world axes, of the tree joint of node k: what
 *  F transmits less the joint's own efforts.  After lwi_tree_world and lwi_tree_newton_euler. */
void lwi_tree_reaction(const lw_model *model, const lwi_tree_work *work, int k, double out[6]);
/** State components q and work of x from a snapshot (the formulation fills the second block), and the
 *  free speeds v [tree_nv]. */
void lwi_tree_enter(const lw_model *model, const lwi_snapshot *snapshot, double *x, double *v);
/** A magnitude of the model's energies for the tolerance of WORK [J]: the maximum of the present
 *  kinetic energy and of the weight of the mechanism lifted by one metre; never 0. */
double lwi_tree_energy_scale(const lw_model *model, const lwi_tree_work *work);

#endif

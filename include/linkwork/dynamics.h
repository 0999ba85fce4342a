// dynamics.h -- dynamics at a given state: forward, inverse, mass matrix, constraint rows of loops.
//
// Arrays q [tree nq] and v [tree nv] hold the coordinates and speeds of the spanning tree that are
// not driven, in sweep order (floating bases first where they are); lw_model_joint_tree gives the
// indices of a joint.  With loops or couplings q must satisfy them (lw_model_assemble finds such coordinates,
// lw_dynamics_gap measures the violation).  v is first projected onto the velocity constraints; a v that satisfies
// them changes by rounding errors only.  A caller that integrates v must continue each step from speeds that satisfy
// them: accelerations are those of the projected v, and the difference would grow and change the energy.  lw_momenta of v,
// then lw_momenta_rates give the projected v.  States of signals (integrals, lags, controllers) have their values of the
// model's start.
#ifndef LINKWORK_DYNAMICS_H
#define LINKWORK_DYNAMICS_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_dynamics lw_dynamics; ///< workspace; one thread at a time

/** @param allocator  NULL: malloc and free; copied      @return LW_ERR_UNSUPPORTED, LW_ERR_MEMORY */
LW_API lw_status lw_dynamics_create(const lw_model *model, const lw_allocator *allocator,
                                    lw_dynamics **dynamics, lw_error *error);
LW_API void lw_dynamics_destroy(lw_dynamics *dynamics);
LW_API const lw_model *lw_dynamics_model(const lw_dynamics *dynamics);
/** Of the last failed call: joint and reason. */
LW_API const lw_error *lw_dynamics_error(const lw_dynamics *dynamics);

LW_API int lw_model_tree_nq(const lw_model *model);
LW_API int lw_model_tree_nv(const lw_model *model);
/** First index of the joint's free coordinates in q and speeds in v, and how many; outputs
 *  may be NULL.
 *  @return LW_ERR_ARGUMENT for a joint that closes a loop */
LW_API lw_status lw_model_joint_tree(const lw_model *model, lw_joint joint, int *q_first, int *nq,
                                     int *v_first, int *nv);
/** Axes of F1 of a joint, as its body 1 carries it (a mount does not move them): the rotation that takes components in F1
 *  to components in `body`, row-major.  Components of reactions that are not unique (`reaction_undetermined`) are along
 *  these axes.      @return LW_ERR_ARGUMENT: there is no such joint */
LW_API lw_status lw_model_joint_axes(const lw_model *model, lw_joint joint, lw_body *body,
                                     double R[9]);
/** Floating bases: bodies with pose and twist in q and v, one for each part of the mechanism that moves freely
 *  in the world.  Where no joint holds it, the base is the first body of that part in the file, of a URDF robot its root
 *  link (if that has no mass, the body with which it moves: lw_model_body); where a free joint does (`<freejoint>` of
 *  MJCF), the body of that joint. */
LW_API int lw_model_base_count(const lw_model *model);
typedef struct lw_base_info {
    lw_body body;
    lw_joint
        joint; ///< free joint with these coordinates; -1: none, the base's point is its mass centre
    int q_first; ///< of 7 coordinates: the point [m], then the unit quaternion w, x, y, z (body axes to world; of a
        ///< joint: F2 axes to F1)
    int v_first; ///< of 6 speeds: velocity of the point [m/s], then angular velocity [rad/s], both in body (F2) axes
} lw_base_info;
/** The base with this index, from 0; body 0: there is none. */
LW_API lw_base_info lw_model_base(const lw_model *model, int index);
/** The model's initial state. */
LW_API void lw_model_tree_start(const lw_model *model, double *q, double *v);

/** Accelerations from efforts: of a tree by the articulated-body recursion [featherstone2008], with loops or couplings by
 *  recursive coordinate reduction; a function of the state alone: earlier calls do not change a bit of it.
 *  At an angle a [rad] from a singular position, round-off of the velocities in the loops is multiplied by 1/a^2;
 *  below some 3e-7 the state is refused, as by simulations and batches.
 *  @param tau  [tree nv] efforts added to those of the model's springs, or NULL
 *  @param inputs [inputs] or NULL for zeros
 *  @cost O(n), with loops O(n + m) where few are open at once
 *  @return LW_ERR_SINGULAR, also where the rank of the loops drops; LW_ERR_NOT_FINITE */
LW_API lw_status lw_forward_dynamics(lw_dynamics *dynamics, double t, const double *q,
                                     const double *v, const double *tau, const double *inputs,
                                     double *vdot);
/** The same for `count` states one after the other, several in SIMD lanes; each result has the bits of a single
 *  call.
 *  @param q  [count][tree nq], v, tau (or NULL), vdot [count][tree nv]
 *  @return the status of the first state that failed; its vdot is unchanged, those of the others are filled */
LW_API lw_status lw_forward_dynamics_many(lw_dynamics *dynamics, int count, double t,
                                          const double *q, const double *v, const double *tau,
                                          const double *inputs, double *vdot);
/** Upper bound of the position residual of loops and couplings at q [m, rad], which forward dynamics does not check:
 *  0 for trees, infinite where no bound is known (couplings of joints outside the tree, q not finite); then
 *  lw_constraints_evaluate gives the residuals.      @cost less than forward dynamics */
LW_API double lw_dynamics_gap(lw_dynamics *dynamics, double t, const double *q);
/** Efforts that the joints must supply (beyond the model's own forces) for given accelerations;
 *  recursive Newton-Euler.      @cost O(n)      @return LW_ERR_UNSUPPORTED with loops: not unique */
LW_API lw_status lw_inverse_dynamics(lw_dynamics *dynamics, double t, const double *q,
                                     const double *v, const double *vdot, const double *inputs,
                                     double *tau);
/** Derivatives of the efforts tau of lw_inverse_dynamics at (q, v, vdot); with loops or couplings of
 *  M vdot + h = tau + J' lambda (lw_constraints_tree).  Columns are displacements of q along
 *  the speeds: of a ball joint rotations about the axes of F2, of a floating base (F2 of a free joint) displacements and
 *  rotations along its own axes; else of the coordinates.  Inertia, gravity, drives and mounts: exact
 *  [carpentier2018, singh2022]; forces of the model and signals: exact.  Models with servos, tendons, stops, forces on
 *  joints that close loops, or corners in signals: differences of order six of the forces alone, with steps of 3e-3
 *  rad or lengths of the mechanism and 3e-3 (1 + |v|), which smooth corners.
 *  @param by_q, by_v  [tree nv][tree nv] out: row: effort, column: speed;  @param M  the mass matrix, dtau/dvdot
 *  The first call allocates memory.      @cost O(n depth); of each force between bodies the square of the speeds
 *  between them, of each signal that forces read n for what it reads; of forces by differences O(n) for each column
 *  @return LW_ERR_UNSUPPORTED: joints defined by callbacks; LW_ERR_NOT_FINITE */
LW_API lw_status lw_inverse_dynamics_derivatives(lw_dynamics *dynamics, double t, const double *q,
                                                 const double *v, const double *vdot,
                                                 const double *inputs, double *by_q, double *by_v,
                                                 double *M);
/** Derivatives of the accelerations vdot of lw_forward_dynamics, as above.  With loops or couplings those of
 *      M vdot + h = tau + J' lambda,   J vdot + gamma = 0
 *  so that by_q dq + by_v dv is the change of vdot for every change of the state along the constraints, J dq = 0 and
 *  J dv = -d(J v + b); rows may be redundant.  lw_linearize gives derivatives by independent coordinates.
 *  @param tau     [tree nv] or NULL;  @param vdot  [tree nv] out
 *  @param by_tau  of trees the inverse of the mass matrix
 *  @cost O(n^2), in trees of at most some 12 speeds on the way to the ground O(n^2 depth); with m rows of loops and
 *        couplings O(n^2 (n + m)); forces as in lw_inverse_dynamics_derivatives
 *  @return the same, and LW_ERR_SINGULAR */
LW_API lw_status lw_forward_dynamics_derivatives(lw_dynamics *dynamics, double t, const double *q,
                                                 const double *v, const double *tau,
                                                 const double *inputs, double *vdot, double *by_q,
                                                 double *by_v, double *by_tau);
/** Joint-space mass matrix M [tree nv][tree nv], symmetric, by the composite-body recursion; with loops
 *  that of the spanning tree.      @return LW_ERR_NOT_FINITE; M is then not valid */
LW_API lw_status lw_mass_matrix(lw_dynamics *dynamics, double t, const double *q, double *M);

/** Joint momenta p = dT/du from speeds, and back, and their rates: Hamilton's equations, of trees [naudet2003], of
 *  mechanisms with loops or couplings [chadaj2017].
 *  @param p, pdot [tree nv] kg m/s, kg m^2/s and N, N m; free joints: axes of F2;  @param qdot [tree nq]
 *  @param tau  [tree nv] efforts added to those of the model, or NULL;  @param inputs [inputs] or NULL for zeros
 *  With loops, impulses sigma of the cut joints are a part of the momenta:
 *      M v = p + J' sigma,   J v + b = 0
 *  with M, J, b of lw_constraints_tree and lw_constraints_evaluate.  These equations give v and sigma: every p is
 *  admissible, and all p that differ by J' sigma have the same v.  lw_momenta gives p = M v, where sigma = 0 (v is not
 *  projected).  pdot is that with sigmadot = lambda, less rotations of sigma with the rows of their joint, which do
 *  no work (docs/theory/hdca.md, option `kappa: none`).
 *  The first call of lw_momenta_rates with loops, or of lw_momenta with rotors on cut joints, allocates memory.
 *  @return LW_ERR_NOT_FINITE; LW_ERR_SINGULAR, also where the rank of the loops drops or the model's start is
 *          singular; outputs are then unchanged */
LW_API lw_status lw_momenta(lw_dynamics *dynamics, double t, const double *q, const double *v,
                            double *p);
LW_API lw_status lw_momenta_rates(lw_dynamics *dynamics, double t, const double *q, const double *p,
                                  const double *tau, const double *inputs, double *v, double *qdot,
                                  double *pdot);

// ------------------------------------------------------------------------------ closed mechanisms

/** Equations of any mechanism in the speeds v of its tree, the joints that close loops being cut:
 *      M vdot + h = tau + J' lambda,   phi = 0,   J v + b = 0,   J vdot + gamma = 0
 *  Rows are those of cut joints (their type's, then driven coordinates), then of couplings; they may
 *  depend on each other.  Angles of cut joints are the ones nearest to those of the start. */
typedef struct lw_constraints lw_constraints; ///< workspace; one thread at a time

LW_API lw_status lw_constraints_create(const lw_model *model, const lw_allocator *allocator,
                                       lw_constraints **constraints, lw_error *error);
LW_API void lw_constraints_destroy(lw_constraints *constraints);
LW_API int lw_constraints_count(const lw_constraints *constraints); ///< rows m; 0 for trees
/** The joint a row belongs to; of a coupling the one that follows; index -1: no such row. */
LW_API lw_joint lw_constraints_joint(const lw_constraints *constraints, int row);
/** @param phi, rate, gamma  [m] out: phi, its time derivative J v + b, gamma; may be NULL
 *  @param J  [m][tree nv] out; may be NULL      @cost O(m (m + n))
 *  @return LW_ERR_NOT_FINITE where q or v is not */
LW_API lw_status lw_constraints_evaluate(lw_constraints *constraints, double t, const double *q,
                                         const double *v, double *phi, double *rate, double *J,
                                         double *gamma);
/** @param M  [tree nv][tree nv] out, h [tree nv] out: what the tree needs at vdot = 0, less the efforts
 *            of the model's own forces; may be NULL
 *  @param inputs [inputs] or NULL for zeros
 *  @return LW_ERR_NOT_FINITE where q, v or h is not */
LW_API lw_status lw_constraints_tree(lw_constraints *constraints, double t, const double *q,
                                     const double *v, const double *inputs, double *M, double *h);

#ifdef __cplusplus
}
#endif
#endif

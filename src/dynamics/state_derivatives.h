// state_derivatives.h -- derivatives of inverse and forward dynamics at a state, with the model's forces.
//
// Problem: by_q, by_v of efforts (inverse) or accelerations (forward).  Inertia, gravity, drives and mounts by the
// recursion of tree/derivatives.h; forces of the model exactly (force_derivatives.h), or where some have no derivatives, or
// corners, by central differences of order six of their generalised forces alone.  With loops the efforts are
// M vdot + h = tau + J'lambda of the spanning tree, and the rows come with them (loops/cut_derivatives.h).
// Cost: O(n depth), forward O(n^2 depth), forces on bodies O(n) for each column.
#ifndef LWI_DYNAMICS_STATE_DERIVATIVES_H
#define LWI_DYNAMICS_STATE_DERIVATIVES_H

#include "dynamics/force_derivatives.h"
#include "loops/cut_derivatives.h"
#include "tree/derivatives.h"

typedef struct lwi_state_derivatives {
    lwi_tree_derivatives tree;
    bool closed; ///< there are loops or couplings
    lwi_cut cut; ///< rows alone, of `closed`
    lwi_cut_derivatives rows;
    lwi_force_derivatives forces; ///< exact where they are known
    bool along_run;               ///< set by the user: corners of signals are not smoothed
    bool local;                   ///< each force depends on the one coordinate that it acts on
    int *spring_speed; ///< [nforce] tree speed of each, where all are springs of joints; else NULL
    double *q, *v;     ///< [tree_nq], [tree_nv] displaced
    double *plus, *minus; ///< [tree_nv + nz] generalised forces, rates of the states of signals
    double *six, *four, *size, *gap, *best; ///< [tree_nv + nz] of their differences
    double *effort;                         ///< [tree_nv] M vdot + h at the state, of `closed`
    double *M;                              ///< [tree_nv]^2
    lwi_law_tangent *tangent;               ///< [model nmode] at the state, where `work` has modes
    // states z of signals; nz = 0 before lwi_state_derivatives_add_signals
    int nz;
    double *z, *zdot;              ///< [nz] displaced; their rates
    double *force_by_z;            ///< [tree_nv][nz] of the generalised forces
    double *rate_by_q, *rate_by_v; ///< [nz][tree_nv] of the rates of z
    double *rate_by_z;             ///< [nz][nz]
} lwi_state_derivatives;

/** @return LW_ERR_UNSUPPORTED for a joint with callbacks, which is named; LW_ERR_MEMORY */
lw_status lwi_state_derivatives_create(const lw_model *model, lwi_arena *arena,
                                       lwi_state_derivatives *d, lw_error *error);
/** Tangents of the laws of a model's forces that are singular at ends of their modes.
 *  @param at  x and rates of another model's; NULL: those of the motion      @param tangent  [nmode] out */
void lwi_law_tangents(const lw_model *model, const lwi_kin *kin, const lwi_law_tangent *at,
                      lwi_law_tangent *tangent);
/** lwi_inverse_derivatives then gives those by and of the states of signals, too; `work->states` must have values.
 *  @return LW_ERR_MEMORY */
lw_status lwi_state_derivatives_add_signals(const lw_model *model, lwi_arena *arena,
                                            lwi_state_derivatives *d);
/** Does it depend on the one coordinate of the tree that it acts on, and on its speed, alone? */
bool lwi_force_is_local(const lw_model *model, const lwi_force *force);
/** Is speed iv one of a joint of the tree?  Coordinates of others depend on those of the whole loop. */
bool lwi_is_speed_of_tree(const lw_model *model, int iv);
/** Speed of the tree with this index in the arrays of joints; -1: it is driven, or its joint closes a loop. */
int lwi_tree_speed(const lw_model *model, int iv);
/** Q [tree_nv] := generalised forces of the model, gravity excepted; `work` is evaluated at (t, q, v).
 *  @param inputs  [inputs] */
void lwi_generalised_forces(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                            double t, const double *q, const double *v, const double *inputs,
                            double *Q);
/** As lwi_inverse_derivatives, without the forces of the model. */
void lwi_inertial_derivatives(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                              double t, const double *q, const double *v, const double *vdot,
                              double *by_q, double *by_v, double *M);
/** Of tau = ID(q, v, vdot).  With loops also the rows and `effort`; `work` is then evaluated at (t, q, v), forces
 *  included.
 *  @param by_q, by_v, M  [tree_nv][tree_nv] out */
void lwi_inverse_derivatives(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                             double t, const double *q, const double *v, const double *vdot,
                             const double *inputs, double *by_q, double *by_v, double *M);
/** Do lwi_inverse_products give the derivatives of this tree, with the modes and states of `work`? */
bool lwi_inverse_has_products(const lw_model *model, const lwi_state_derivatives *d,
                              const lwi_tree_work *work);
/** Evaluates a state; then any number of products. */
void lwi_inverse_products_begin(const lw_model *model, lwi_state_derivatives *d,
                                lwi_tree_work *work, double t, const double *q, const double *v,
                                const double *vdot, const double *inputs);
/** by_q, by_v [tree_nv] := derivatives of  u'tau - w'g,  tau = ID(q, v, vdot) and g the rates of the states of signals; by_z
 *  [nz] too, where there are states.  At the state of lwi_inverse_products_begin. */
void lwi_inverse_products(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                          double t, const double *q, const double *inputs,
                          const lwi_force_rows *rows, double *by_q, double *by_v, double *by_z);
/** Of vdot = FD(q, v, tau) of a tree, given with vdot.
 *  @param by_q, by_v, by_tau  [tree_nv][tree_nv] out
 *  @return LW_ERR_SINGULAR: a speed without inertia, by name */
lw_status lwi_forward_derivatives(const lw_model *model, lwi_state_derivatives *d,
                                  lwi_tree_work *work, double t, const double *q, const double *v,
                                  const double *vdot, const double *inputs, double *by_q,
                                  double *by_v, double *by_tau, lw_error *error);

#endif

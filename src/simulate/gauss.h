// gauss.h -- Gauss-Legendre steps on the constraints: symmetric collocation with projected stages.
#ifndef LWI_SIMULATE_GAUSS_H
#define LWI_SIMULATE_GAUSS_H

#include "initial/assemble.h"
#include "kinematics/formulation.h"

enum { LWI_GAUSS_STAGES = 6 };

/** A collocation method: nodes, weights, and the integrals of the Lagrange polynomials up to the nodes. */
typedef struct lwi_gauss_rule {
    int stages;
    double c[LWI_GAUSS_STAGES], b[LWI_GAUSS_STAGES], A[LWI_GAUSS_STAGES][LWI_GAUSS_STAGES];
} lwi_gauss_rule;

/** Coordinates and speeds at the nodes of steps. */
typedef struct lwi_gauss {
    lwi_work *work, *own;          ///< own: NULL if it is the run's
    lwi_assembler *assembler;      ///< puts motions on the constraints
    lwi_gauss_rule rule4, rule6;   ///< orders 8 and 12
    lwi_snapshot moved, node;      ///< scratch: a motion on the constraints; a state
    double *x;                     ///< [nx] of a step
    double *before, *stage, *rate; ///< [stages][nx]: before and after projection, rates
    unsigned char *discrete;       ///< of the work, kept meanwhile
} lwi_gauss;

/** Memory, and a workspace for states with rates and without momenta: `work`, or else one of `dca`.  gauss->work is NULL
 *  if neither is possible.
 *  @param assembler  of the run; NULL: a separate one */
lw_status lwi_gauss_create(lwi_work *work, lwi_assembler *assembler, lwi_arena *arena,
                           lwi_gauss *gauss);
void lwi_gauss_release(lwi_gauss *gauss);
/** Keeps the discrete state of the work before steps, and restores it after them. */
void lwi_gauss_keep(lwi_gauss *gauss);
void lwi_gauss_restore(lwi_gauss *gauss);

/** gauss->moved := the motion of m after dt at its velocities, with positions and velocities on the constraints. */
void lwi_gauss_move(lwi_gauss *gauss, const lwi_snapshot *m, double dt);
/** x := the state of this motion. */
bool lwi_gauss_enter(lwi_gauss *gauss, const lwi_snapshot *m, double dt, double *x);
/** to := the state x at time t on the constraints, its motion in gauss->moved.  `to` may be x. */
bool lwi_gauss_project(lwi_gauss *gauss, double t, const double *x, const double *inputs,
                       double *to);
/** A step of length h from gauss->x at time m->t + offset.
 *  @param guess  rule of the last step, from the same x and of the same length: the stages start from its polynomial;
 *                NULL: from the motion m moved by offset + c h
 *  @return false: it does not converge; gauss->x is lost then */
bool lwi_gauss_step(lwi_gauss *gauss, const lwi_gauss_rule *rule, const lwi_gauss_rule *guess,
                    const lwi_snapshot *m, double offset, double h, const double *inputs);
/** y [n] := the collocation polynomial of a step from x0 with these rates [stages][n], at the part s of it. */
void lwi_gauss_polynomial(const lwi_gauss_rule *rule, int n, double h, double s, const double *x0,
                          const double *rate, double *y);

#endif

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

/** From where the stages of a step start. */
typedef enum lwi_gauss_guess {
    LWI_GUESS_MOTION, ///< the motion moved along itself, by offset + c h
    LWI_GUESS_RATES,  ///< predicted from those at the beginning, after lwi_gauss_begin
    LWI_GUESS_STEP,   ///< the polynomial of the last step, from the same x and of the same length
} lwi_gauss_guess;

/** Coordinates and speeds at the nodes of steps. */
typedef struct lwi_gauss {
    lwi_work *work, *own;               ///< own: NULL if it is the run's
    lwi_assembler *assembler;           ///< puts motions on the constraints
    lwi_gauss_rule rule1, rule4, rule6; ///< orders 2, 8 and 12
    const lwi_gauss_rule *last;         ///< of the last step
    lwi_snapshot moved, node;           ///< scratch: a motion on the constraints; a state
    double *x;                          ///< [nx] of a step
    double *before, *stage, *rate;      ///< [stages][nx]: before and after projection, rates
    double *begin;                      ///< [nx] rates at the beginning of a step
    unsigned char *discrete;            ///< of the work, kept meanwhile
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
/** to := the state x at time t on the constraints by the formulation (lwi_formulation.close), its motion unknown.
 *  @return false: it cannot; `to` is undefined */
bool lwi_gauss_close(const lwi_gauss *gauss, double t, const double *x, double *to);
/** By lwi_gauss_close, else as lwi_gauss_project, after which velocities are on the constraints too; `to` is not x. */
bool lwi_gauss_satisfy(lwi_gauss *gauss, double t, const double *x, const double *inputs,
                       double *to);
/** gauss->x := x, and gauss->rate its rates.  false: there are none */
bool lwi_gauss_begin(lwi_gauss *gauss, double t, const double *x, const double *inputs);
/** gauss->moved := the poses of the motion m, the state x of the run, after dt at its rates or velocities, on the
 *  constraints.  The last step is lost. */
void lwi_gauss_glide(lwi_gauss *gauss, const lwi_snapshot *m, const double *x, double dt,
                     const double *inputs);
/** A step of length h from gauss->x at time m->t + offset.
 *  @return false: it does not converge; gauss->x is lost then */
bool lwi_gauss_step(lwi_gauss *gauss, const lwi_gauss_rule *rule, lwi_gauss_guess guess,
                    const lwi_snapshot *m, double offset, double h, const double *inputs);
/** gauss->x := the state at the part `to` of a step with six stages from x0 at time t, of length h, from that at the part `from`,
 *  which is gauss->x: a step of the same order between both, where the polynomial has that of its stages. */
bool lwi_gauss_part(lwi_gauss *gauss, double t, double h, const double *x0, const double *rate,
                    double from, double to, const double *inputs);
/** An estimate of the largest error of the polynomial of such a step, by how its coefficients fall; at both ends it has none. */
double lwi_gauss_inside(const lwi_gauss *gauss, double h, const double *rate);
/** y [n] := the collocation polynomial of a step from x0 with these rates [stages][n], at the part s of it. */
void lwi_gauss_polynomial(const lwi_gauss_rule *rule, int n, double h, double s, const double *x0,
                          const double *rate, double *y);

#endif

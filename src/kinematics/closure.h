// closure.h -- all constraint equations of a mechanism between its bodies, joint by joint.
//
// A joint's rows are those of its type and one more for each driven coordinate; a coupling has one row
// between the bodies of two joints.  Rows connect carriers (bodies that are not merged), in world axes
// about the mass centres:
//     phi = 0,   J V + b = 0,   J A + gamma = 0,     V = [v of the mass centre; w],  A = dV/dt
// They are exact derivatives of phi also where positions have drifted; those of custom joints on the joint
// only, gamma there at velocities that it admits.  Internal forces balance: for any multipliers the
// wrenches J_1' lambda and J_2' lambda are opposite about any common point, drift or not, and so are their
// derivatives.
#ifndef LWI_KINEMATICS_CLOSURE_H
#define LWI_KINEMATICS_CLOSURE_H

#include "model/model.h"

enum { LWI_CLOSURE_ROWS = 6, LWI_CLOSURE_BODIES = 4 };

/** Motion of all bodies, world axes, [nbody]; merged bodies are not read. */
typedef struct lwi_motion {
    const double (*R)[9]; ///< body -> world
    const double (*r)[3]; ///< mass centre
    const double (*v)[3]; ///< its velocity; may be NULL at LWI_CLOSURE_POSITION
    const double (*w)[3]; ///< angular velocity, WORLD axes; likewise
    const double *q;      ///< [model nq] coordinates of all joints: what `read` continues from
    const double *states; ///< of signals; NULL: unknown
} lwi_motion;

typedef enum lwi_closure_level {
    LWI_CLOSURE_PHI,      ///< phi alone
    LWI_CLOSURE_POSITION, ///< phi, J, b
    LWI_CLOSURE_GAMMA,    ///< and gamma
    LWI_CLOSURE_RATES     ///< and Jdot
} lwi_closure_level;

typedef struct lwi_closure {
    int n; ///< rows
    int nbody;
    int body[LWI_CLOSURE_BODIES]; ///< carriers, the ground left out
    double phi[LWI_CLOSURE_ROWS], b[LWI_CLOSURE_ROWS], gamma[LWI_CLOSURE_ROWS];
    double J[LWI_CLOSURE_BODIES][LWI_CLOSURE_ROWS][6];
    /** Time derivative of the wrench that unit multipliers put on the body, as a wrench about a point
     *  fixed in space that coincides with the mass centre now: d/dt(J' lambda) at constant lambda, that
     *  is, [fdot; ndot + v_C x f] of J' lambda = [f; n] about the moving mass centre.  Exact; of custom
     *  joints, and couplings between them, up to what the joints' rows span (for impulses that is only a
     *  choice of gauge). */
    double Jdot[LWI_CLOSURE_BODIES][LWI_CLOSURE_ROWS][6];
} lwi_closure;

/** Rows of joint j (those of the type, then driven coordinates in their order); 0 for merged joints. */
int lwi_joint_row_count(const lw_model *model, int joint);
void lwi_joint_closure(const lw_model *model, int joint, double t, const lwi_motion *motion,
                       lwi_closure_level level, lwi_closure *closure);
/** Only some rows of positions, in their order: those of which the bit is set. */
void lwi_joint_closure_of_rows(const lw_model *model, int joint, double t, const lwi_motion *motion,
                               unsigned rows, lwi_closure *closure);
/** n, nbody and body of lwi_joint_closure alone, which are the same for all motions. */
void lwi_joint_closure_shape(const lw_model *model, int joint, lwi_closure *closure);
/** Rows of the speeds of coordinates with rotors, J V + b = u_k and J A + gamma = du_k/dt with phi = 0, appended
 *  to the rows in the closure of this joint; bodies and order are the same. */
void lwi_joint_rotor_rows(const lw_model *model, int joint, double t, const lwi_motion *motion,
                          lwi_closure_level level, lwi_closure *closure);
/** gamma alone [n], for callers that have J of this motion: half of the cost. */
void lwi_joint_closure_gamma(const lw_model *model, int joint, double t, const lwi_motion *motion,
                             double *gamma);
/** Where the residuals of rows go: of positions, velocities and accelerations. */
typedef struct lwi_residuals {
    double *phi, *phidot, *phiddot;
} lwi_residuals;
/** phi, J V + b and J A + gamma of the rows of a joint, at a third of the cost of lwi_joint_closure.
 *  @param acceleration  [2] of the mass centres of body1 and body2, and angular, world axes; NULL: no phiddot
 *  @return the number of rows */
int lwi_joint_closure_residual(const lw_model *model, int joint, double t, const lwi_motion *motion,
                               const double (*acceleration)[6], const lwi_residuals *residuals);
/** The row of a coupling. */
void lwi_coupling_closure(const lw_model *model, int coupling, double t, const lwi_motion *motion,
                          lwi_closure_level level, lwi_closure *closure);

/** Wrench on body2 about P2 = origin of F2, world axes, of multipliers lambda [n] of a joint. */
void lwi_joint_reaction(const lw_model *model, int joint, const lwi_motion *motion,
                        const lwi_closure *closure, const double *lambda, double F[6]);
/** F with its torque about P2 in place of that about the mass centre of body2, or of body1 if body2 is the ground. */
void lwi_joint_reaction_at_point(const lw_model *model, int joint, const lwi_motion *motion,
                                 double F[6]);
/** F := a wrench of world axes in those of the joint's F1, which body1 carries. */
void lwi_joint_to_axes(const lw_model *model, int joint, const double (*R)[9],
                       const double world[6], double F[6]);

/** Coordinates and speeds of joint j from the motion: q [nq] continued from motion->q, u [nv] may be NULL.
 *  Speeds are the exact derivatives of the coordinates where the joint has scalar ones, also off the
 *  joint; those of spherical, free and custom joints are T.V of the relative velocity. */
void lwi_joint_read_motion(const lw_model *model, int joint, double t, const lwi_motion *motion,
                           double *q, double *u);
/** qdd [nv] of joint j from the accelerations of the mass centres a and al (world axes, d/dt of w). */
void lwi_joint_read_acceleration(const lw_model *model, int joint, double t,
                                 const lwi_motion *motion, const double (*a)[3],
                                 const double (*al)[3], double *qdd);
/** The same of a hinge without mount in a mechanism that is closed: the relative w and al along the axis of F2.  Where the
 *  axes of F1 and F2 have an angle, the difference is of its second order.  @param q  NULL: only the speed */
void lwi_joint_read_hinge(const lw_model *model, int joint, const lwi_motion *motion, double *q,
                          double *u);
double lwi_joint_hinge_acceleration(const lw_model *model, int joint, const lwi_motion *motion,
                                    const double (*al)[3]);
/** Puts efforts tau [nv] on the joint's speeds as wrenches on the two bodies about their mass centres:
 *  adds to wrench [nbody][6], + on body2, - on body1. */
void lwi_joint_apply_effort(const lw_model *model, int joint, double t, const lwi_motion *motion,
                            const double *tau, double (*wrench)[6]);
/** The same, to the wrenches on[0] of body1 and on[1] of body2. */
void lwi_joint_apply_effort_on(const lw_model *model, int joint, double t, const lwi_motion *motion,
                               const double *tau, double *const on[2]);

#endif

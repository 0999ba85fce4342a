// assemble.h -- the nearest configuration and velocities that satisfy all joints.
//
// All bodies that are not merged may move, all joints and couplings are rows.  What the user gives
// to keep (coordinates, speeds, bodies) are rows too, which give way where they cannot be met:
// `holds`.
//
// Every step is the smallest x with  J x = -residual  in the sense
//     x = -K J'(J K J' + eps)^-1 residual
// of regularised least squares; repeated, it converges to the nearest solution, and nowhere is a
// rank decided: redundant rows and singular positions are ordinary.
#ifndef LWI_INITIAL_ASSEMBLE_H
#define LWI_INITIAL_ASSEMBLE_H

#include "elimination/elimination.h"
#include "elimination/split.h"
#include "kinematics/closure.h"
#include "system/shared.h"

/** A wish: one joint's coordinates or speeds, or one body's pose or twist. */
typedef struct lwi_hold {
    int joint, body; ///< one of them; body 0: the joint
    /** joint: q [nq], or speeds [nv];  body: mass centre and quaternion, or [v; w] in world axes */
    double value[LW_JOINT_MAX_NQ];
} lwi_hold;

typedef struct lwi_assembler_edge {
    int joint, coupling, hold; ///< one of them; others -1
} lwi_assembler_edge;

/** K of a body, world axes: 1/m and 1/I, or 1 and 1/length^2. */
typedef struct lwi_assembler_metric {
    double lin, ang[6];
} lwi_assembler_metric;

typedef struct lwi_assembler {
    const lw_model *model;
    double t;                    ///< at which drives and mounts count; 0 unless the caller says
    double length;               ///< of the mechanism [m]
    double compliance;           ///< of rows that hold, relative to their size; 0: 1e-9
    int nedge, nrow, first_hold; ///< holds are the last edges
    int ngiven;                  ///< the first holds are coordinates that the user gives
    lwi_assembler_edge *edge;
    lwi_hold *hold;
    lwi_split split; ///< of bodies with many joints: their other parts are bodies nnode, ...
    lwi_plan plan;   ///< the links of parts are its last edges, with residuals 0
    lwi_elim *elim;
    lwi_assembler_metric *metric; ///< [nnode]
    int *component;               ///< [nnode] lowest node of its component; -1: the ground
    double (*momenta)[6]; ///< [nnode] speed of the mass centre and angular momentum about it of a
                          ///< component, at its lowest node
    bool held;            ///< holds take part
    // motion of all bodies, world axes, [nbody]; q, qd of all joints
    double (*R)[9], (*r)[3], (*v)[3], (*w)[3], *q, *qd;
    lwi_motion motion;
    double (*old_R)[9], (*old_r)[3], *old_q; ///< where a step began
    double *drawn;                           ///< q of the first start
    int *given;  ///< [njoint] hold with the user's coordinates; -1: none
    bool *moves; ///< [njoint] scratch of a restart
    double *residual, *size, *eps, *c, *lambda; ///< [nrow]
    double *prescribed;                         ///< [nrow] rates at zero velocity, of the last rows
    double *given_up;    ///< [nrow] what speeds of holds that contradict each other differ by
    const double *shift; ///< [nrow] positions hold where rows have this residual; NULL: 0
    double (*x)[6];      ///< [nnode + parts]
    double (*unit)[6];   ///< [nbody] scratch: wrenches of a unit effort
    lwi_closure closure; ///< scratch
} lwi_assembler;

/** @param shared  may have the plan; NULL: nothing is shared */
lw_status lwi_assembler_create(const lw_model *model, int nhold, const lwi_hold *hold,
                               lwi_shared *shared, lwi_arena *arena, lwi_assembler *assembler);

/** The poses at which assembly begins: those of the description, except that a body is placed by
 * the coordinates given for its joint if they do not fit those poses; q are the coordinates there,
 * whole revolutions taken from those given.  (assemble_start.c) */
void lwi_assembler_place(lwi_assembler *assembler);

/** Another start, from poses that do not close: the joints of the loops that are open there get other coordinates, the
 *  others stay.  The first start is in the middle of the ranges of coordinates, the next ones are spread over the ranges,
 *  or, where none is known, more and more about the coordinates of the first start; the sequence is always the same.
 *  (assemble_restart.c)
 *  @param tolerance  joints with larger residuals are open
 *  @param number     from 1 */
void lwi_assembler_restart(lwi_assembler *assembler, double tolerance, int number);
/** Damped steps to the nearest minimum of the gaps, then as lwi_assembler_close if it closes.   @return steps */
int lwi_assembler_descend(lwi_assembler *assembler);
/** Angles by the revolutions that are nearest to the middle of their ranges, else to the first start; not those of drives
 *  and couplings. */
void lwi_assembler_unwind(lwi_assembler *assembler);
/** Root of the sum of squares of all residuals of joints and couplings.  After lwi_assembler_residual. */
double lwi_assembler_gap(const lwi_assembler *assembler);
/** How many joints and couplings have a larger residual.  After lwi_assembler_residual. */
int lwi_assembler_open(const lwi_assembler *assembler, double tolerance);
/** Moves the body of node k where coordinates q of its joint put it on its parent. */
void lwi_assembler_place_by(lwi_assembler *assembler, int k, const double *q);
/** Moves the body of node k to the pose relative to its parent's that both have in old_R, old_r. */
void lwi_assembler_place_as_before(lwi_assembler *assembler, int k);
/** Moves the bodies until positions hold, along the shortest way that brings coordinates
 * to those held.      @return Newton steps */
int lwi_assembler_close(lwi_assembler *assembler);
/** v, w, qd at the current poses: speeds held, the rest with minimum kinetic energy; what rows and holds determine, or holds
 * that contradict each other give up, does not depend on masses. */
void lwi_assembler_speeds(lwi_assembler *assembler);
/** The nearest motion that holds, in the metric of the masses: a small correction of the current
 * poses, then of v and w; q and qd follow.  Holds do not take part.  Components that float keep
 * their momentum and angular momentum.  (assemble_correct.c)
 * @param enough  of velocities, see lwi_assembler_project; above 0, positions end where the next step would be round-off */
void lwi_assembler_correct(lwi_assembler *assembler, double enough);
/** The same for positions alone: v and w are left as they are. */
void lwi_assembler_correct_positions(lwi_assembler *assembler, double enough);
/** Metric of the masses at the current poses; mass or inertia that a body lacks is a thousandth of
 * the average. */
void lwi_assembler_weigh(lwi_assembler *assembler);
/** Metric without masses: displacements, and rotations in lengths of the mechanism. */
void lwi_assembler_geometric(lwi_assembler *assembler);
/** One damped Newton step of the positions in the current metric; false where it is the last. */
bool lwi_assembler_step(lwi_assembler *assembler);
/** The longest displacement of the last step, before it was limited: lengths of the mechanism, radians. */
double lwi_assembler_step_size(const lwi_assembler *assembler);
/** v, w to the nearest that hold, in the current metric: repeated, the error of the
 * regularisation is corrected, and contradicting holds end at the minimum sum of squares.
 * @param enough  residuals, relative to the speeds, at which the repetitions end; 0: where they do not fall any more
 */
void lwi_assembler_project(lwi_assembler *assembler, double enough);
/** One step of Levenberg and Marquardt, by the same rows with more compliance; `damping` begins at about 1e-3 and is
 *  adapted.  False where no step reduces the residuals. */
bool lwi_assembler_damped_step(lwi_assembler *assembler, double *damping);
/** Largest residual of joints and couplings at the motion; edge: where, may be NULL. */
double lwi_assembler_residual(lwi_assembler *assembler, bool velocity, int *edge);
/** The largest of |v| and |w| of all bodies. */
double lwi_assembler_speed(const lwi_assembler *assembler);
/** Residual of one edge. */
double lwi_assembler_edge_residual(const lwi_assembler *assembler, int edge);
/** Largest deviation of a coordinate, speed, or body of a hold; after the residuals. */
double lwi_assembler_hold_residual(lwi_assembler *assembler, int hold, bool velocity);
/** Coordinates of all joints at the poses, continued from q. */
void lwi_assembler_read(lwi_assembler *assembler);

#endif

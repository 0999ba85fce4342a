// assemble.h -- other starts of a mechanism: loops assembled, the nearest configuration and velocities at which all
// constraints hold; or the state of a simulation.
#ifndef LINKWORK_ASSEMBLE_H
#define LINKWORK_ASSEMBLE_H

#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Report of an assembly.  Residuals are maxima over all constraint equations [m, rad] and [m/s, rad/s]. */
typedef struct lw_assembly {
    int iterations;             ///< Newton steps
    int starts;                 ///< how many starts were tried
    double before[2], after[2]; ///< residuals of positions, velocities
    double moved, rotated; ///< largest displacement of a mass centre [m], rotation of a body [rad]
    lw_body moved_body, rotated_body; ///< the bodies of these maxima; 0: nothing moved
    double changed;                   ///< largest change of a specified coordinate [m, rad]
    double changed_speed;             ///< largest change of a specified speed [m/s, rad/s]
    lw_joint changed_joint, changed_speed_joint; ///< the joints of these maxima; -1: none
} lw_assembly;

/** Coordinates of a joint. */
typedef struct lw_joint_q {
    const char *joint;
    double q[LW_JOINT_MAX_NQ];
    int nq; ///< how many are given, which must be those of the joint; 0: not checked
} lw_joint_q;

typedef struct lw_assemble_desc {
    size_t size;             ///< sizeof this struct, or 0: see linkwork.h
    const char *const *hold; ///< names of bodies and joints to keep in place
    int nhold;
    const lw_joint_q *near; ///< coordinates to assemble near, as if specified by `q` in the model
    int nnear;
    int starts; ///< most starts to try; 0: 40
} lw_assemble_desc;

/** A model with an initial state that satisfies all constraints, near that of `model` (which may come from
 *  lw_model_create_open).
 *
 *  Positions: bodies move as little as possible from their given poses (minimum of the sum of squared displacements
 *  and of squared rotations times the mechanism's length).  Specified coordinates (`q`) and the items of `hold` are
 *  kept where possible and approximated otherwise.  Drives and couplings hold at t = 0.
 *  Where that leaves loops open, these are started again from other coordinates of their joints (those not specified):
 *  the middle of their ranges (`limits`), then a fixed sequence over the ranges, or about the given poses.
 *  Velocities: specified joint speeds (`qd`) and body velocities are kept where possible; the others have minimum
 *  kinetic energy.  Joints outside of loops and floating bodies without specified velocities stay at rest.  In the new
 *  model every joint has its `q`, and its `qd` where anything moves.
 *
 *  @param desc    may be NULL
 *  @param report  may be NULL; also filled where loops stay open
 *  @return LW_ERR_MODEL: the text names the joints that stay open and their gaps; LW_ERR_ARGUMENT: a name of
 *          `hold` or `near` does not exist, or cannot have these coordinates */
LW_API lw_status lw_model_assemble(const lw_model *model, const lw_assemble_desc *desc,
                                   lw_model **assembled, lw_assembly *report, lw_error *error);

/** The same mechanism with a motion as its start, at t = 0: poses of the bodies, coordinates and speeds of the joints.
 *  Functions of time are not shifted.
 *  @param motion  of the same mechanism, level TWIST or more
 *  @return LW_ERR_MODEL: the motion violates constraints, those of drives at t = 0 included */
LW_API lw_status lw_model_restart(const lw_model *model, const lw_observation *motion,
                                  lw_model **restarted, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif

// input_slopes.h -- derivatives of inputs by a motion, as a caller gives them, and their products with small changes.
//
//     du = by_q dq + by_qd dqd + by_states dc + sum over bodies (by_pose dpose + by_twist dtwist)
// Changes of joint coordinates are along the joint speeds; of poses displacements of mass centres in world axes and
// rotation vectors in body axes; of twists velocities in world axes and angular velocities in body axes.
#ifndef LWI_KINEMATICS_INPUT_SLOPES_H
#define LWI_KINEMATICS_INPUT_SLOPES_H

#include "kinematics/formulation.h"

#include <linkwork/simulate.h>

/** A small change of a motion. */
typedef struct lwi_motion_change {
    double *q, *qd, *states;        ///< [model nv], [model nv], [model nstate]
    double (*pose)[6], (*twist)[6]; ///< [model nbody]
} lwi_motion_change;

typedef struct lwi_input_slopes {
    const lw_model *model;
    lw_input_slopes by;
    double *numbers; ///< all entries of `by`
    size_t count;
    lwi_snapshot motion;      ///< at which they hold
    double *inputs;           ///< [ninput] there
    lwi_motion_change change; ///< scratch
} lwi_input_slopes;

/** What a reading is, for messages and steps of differences. */
typedef enum lwi_observed_kind {
    LWI_OBSERVED_Q,
    LWI_OBSERVED_QD,
    LWI_OBSERVED_STATE,
    LWI_OBSERVED_POSE,
    LWI_OBSERVED_TWIST
} lwi_observed_kind;
/** A number that inputs may follow. */
typedef struct lwi_observed {
    lwi_observed_kind kind;
    int item;      ///< joint, state or body
    int component; ///< of the joint's speeds, or 0 to 5 of the body
    int index;     ///< in the row of its array
} lwi_observed;

lw_status lwi_input_slopes_create(const lw_model *model, lwi_arena *arena, lwi_input_slopes *s);
/** How many readings there are, ground left out; reading k. */
int lwi_input_slopes_readings(const lw_model *model);
lwi_observed lwi_input_slopes_reading(const lw_model *model, int k);
/** "joint.A.q0", "body.rod.x", "body.rod.rx" (rotation about the axis x of the body), ... */
void lwi_observed_name(const lw_model *model, lwi_observed r, char *text, size_t size);
/** The derivative of input i by a reading. */
double *lwi_input_slopes_entry(const lwi_input_slopes *s, int i, lwi_observed r);
/** Changes one reading of a snapshot, and nothing that would follow from it. */
void lwi_observed_move(const lw_model *model, lwi_observed r, double by, lwi_snapshot *motion);

/** All derivatives zero. */
void lwi_input_slopes_clear(lwi_input_slopes *s);
/** @return LW_ERR_NOT_FINITE; the message names the input and what it is derived by */
lw_status lwi_input_slopes_check(const lwi_input_slopes *s, lw_error *error);
/** out [ninput] := the derivatives times a change. */
void lwi_input_slopes_product(const lwi_input_slopes *s, const lwi_motion_change *change,
                              double *out);
/** value [ninput] := the inputs at a motion close to s->motion, to first order.  Uses s->change. */
void lwi_input_slopes_predict(lwi_input_slopes *s, const lwi_snapshot *motion, double *value);

#endif

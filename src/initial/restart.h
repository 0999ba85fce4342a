// restart.h -- descriptions and models of mechanisms with another motion as their start.
#ifndef LWI_INITIAL_RESTART_H
#define LWI_INITIAL_RESTART_H

#include "kinematics/closure.h"

#include <linkwork/assemble.h>

/** The model's items with the coordinates and, where anything moves, the speeds of a motion, and with the states of
 *  signals, where it has them, as their start; lists that change are in the arena.
 *  @param motion  of all bodies that are not merged, world axes; q of all joints
 *  @param qd      [model nv]
 *  @param places  with the bodies' poses and the joints' coordinates, otherwise speeds only */
lw_status lwi_describe_motion(const lw_model *model, const lwi_motion *motion, const double *qd,
                              bool places, lwi_arena *arena, lwi_description *desc);
/** The same mechanism with the motion as its start.
 *  @return LW_ERR_MODEL: the motion does not satisfy the constraints */
lw_status lwi_model_restart(const lw_model *model, const lwi_motion *motion, const double *qd,
                            lw_model **restarted, lw_error *error);

/** The model that is assembled near the motion (lw_model_assemble), which may be of another mechanism: at t = 0.
 *  @return LW_ERR_MODEL: loops stay open */
lw_status lwi_model_near(const lw_model *model, const lw_observation *motion, lw_model **near,
                         lw_assembly *report, lw_error *error);

#endif

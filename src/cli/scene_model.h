// scene_model.h -- the scenes of scenes.h as models.
#ifndef LWI_CLI_SCENE_MODEL_H
#define LWI_CLI_SCENE_MODEL_H

#include "cli/scenes.h"

#include <linkwork/linkwork.h>

/** Joint i carries body i of the scene. */
lw_status scene_model(scene_kind kind, int n, lw_model **model, lw_error *error);
/** The same of bodies that are no scene. */
lw_status scene_model_of(const scene_body *scene, int nbody, lw_model **model, lw_error *error);
/** Coordinates q and speeds v of the tree from a scene's state (scene_state), tau alike.
 *  @param q [tree nq]  @param v, tau [tree nv] */
lw_status scene_place(const lw_model *model, const scene_body *body, int nbody,
                      const double *scene_q, const double *scene_v, const double *scene_tau,
                      double *q, double *v, double *tau);
/** Coordinates q and speeds v of all joints from a scene's state; zeros of those that close loops.
 *  @param q [model nq]  @param v [model nv] */
void scene_place_joints(const lw_model *model, const scene_body *body, int nbody,
                        const double *scene_q, const double *scene_v, double *q, double *v);

#endif

// root.h -- the inner end of a path: the ground, or a body on a free or spherical joint to the ground.
//
// Problem: the motion of the first head, and the rates of the base's own momenta, or its accelerations.
// Input: (1) of the whole path, momenta or velocity of the base.  Equations (n): docs/theory/segments.md.
// Cost: constant.
#ifndef LWI_METHODS_DCA_SEGMENTS_ROOT_H
#define LWI_METHODS_DCA_SEGMENTS_ROOT_H

#include "methods/dca/segments/plan.h"

/** The base at one state. Motions [w; v], wrenches [n; f] in its axes about its origin. */
typedef struct lwi_path_root {
    const lwi_path_base *base;
    double gravity[3]; ///< world
    double R[9], g[3]; ///< base -> world; gravity in its axes
    double X[5][6];    ///< motion of the head, five components, from the first nv of the base
    double I[6][6];    ///< inertia of the base
    double L[6][6];    ///< Cholesky factor of the inertia of the whole (9)
    double P[6];       ///< momenta; of accelerations: efforts less the wrench of the velocities
    double V[6];       ///< velocity
    double A[6];       ///< accelerations, as if without weight: less gravity
    double axial;      ///< speed, or acceleration, of the base about the first joint's axis
} lwi_path_root;

void lwi_path_root_init(const lwi_path_base *base, const double gravity[3], lwi_path_root *root);
/** Pose of the base.  @param q  [tree] */
void lwi_path_root_place(lwi_path_root *root, const double *q);

// ----------------------------------------------------------------------------------------- momenta

/** V0, f0, g, hb, mb of the whole path, in lane 0 of `whole`; first solution.
 *  @param p  [tree]    @param first  momentum of the first joint of the path
 *  @return false: the inertia is singular */
bool lwi_path_root_solve(lwi_path_root *root, lwi_path_end *whole, const double *p, double first);
/** V, f of the second pass. */
void lwi_path_root_again(lwi_path_root *root, lwi_path_end *whole, double first);
/** Speeds u and rates of the momenta [tree] of the base.  @return false: not finite */
bool lwi_path_root_rates(const lwi_path_root *root, const lwi_path_end *whole, const double *p,
                         double *u, double *pdot);
/** Adds the efforts [tree] on the base. */
void lwi_path_root_efforts(const lwi_path_root *root, const double *effort, double *pdot);

// ----------------------------------------------------------------------------------- accelerations

/** W0 of the whole path.  @param u  [tree] */
void lwi_path_root_velocity(lwi_path_root *root, lwi_path_end *whole, const double *u);
/** No velocity, no weight; at the pose of the last evaluation. */
void lwi_path_root_rest(lwi_path_root *root);
/** V0, f0 of the accelerations.
 *  @param effort  [tree]    @param first  effort on the first joint of the path
 *  @return false: the inertia is singular */
bool lwi_path_root_accelerate(lwi_path_root *root, lwi_path_end *whole, const double *effort,
                              double first);
/** V, f of the second pass. */
void lwi_path_root_accelerate_again(lwi_path_root *root, lwi_path_end *whole, double first);
/** Rates of the base's speeds [tree].  @return false: not finite */
bool lwi_path_root_accelerations(const lwi_path_root *root, double *udot);

#endif

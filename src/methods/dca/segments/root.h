// root.h -- the inner end of a path: the ground, or a body on a free or spherical joint to the ground.
//
// Problem: the motion of the first head, and the rates of the base's own momenta.
// Input: (1) of the whole path, momenta of the base.  Equations (n): docs/theory/segments.md.  Cost: constant.
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
    double p[6];       ///< momenta
    double V[6];       ///< velocity
    double axial;      ///< speed of the base about the first joint's axis
} lwi_path_root;

void lwi_path_root_init(const lwi_path_base *base, const double gravity[3], lwi_path_root *root);
/** Poses of the base, q and p [tree]. */
void lwi_path_root_place(lwi_path_root *root, const double *q, const double *p);
/** V0, f0, g, hb, mb of the whole path, in lane 0 of `whole`.
 *  @param first  momentum of the first joint of the path
 *  @return false: the inertia is singular */
bool lwi_path_root_solve(lwi_path_root *root, lwi_path_end *whole, double first);
/** V, f of the second pass. */
void lwi_path_root_again(lwi_path_root *root, lwi_path_end *whole, double first);
/** Speeds u and rates of the momenta [tree] of the base.  @return false: not finite */
bool lwi_path_root_rates(const lwi_path_root *root, const lwi_path_end *whole, const double *p,
                         double *u, double *pdot);
/** Adds the efforts [tree] on the base. */
void lwi_path_root_efforts(const lwi_path_root *root, const double *effort, double *pdot);

#endif

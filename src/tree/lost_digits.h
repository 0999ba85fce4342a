// lost_digits.h -- digits that recursions along a tree lose where bodies differ very much in mass.
//
// The inertia that a node passes on to its parent, M - U D^-1 U', is zero along the motions S of its joint, except for
// round-off.  If the node is heavy and its parent light, this round-off is large compared with the inertia of the parent.
// With all inertias and forces times three the motion is the same, and everything is rounded differently: the difference
// of the two solutions is about their error.
#ifndef LWI_TREE_LOST_DIGITS_H
#define LWI_TREE_LOST_DIGITS_H

#include "kinematics/formulation.h"
#include "kinematics/tree_state.h"

/** Do masses or inertias differ so much that digits may be lost? */
bool lwi_bodies_differ(const lw_model *model);

typedef struct lwi_lost_digits {
    const lw_model
        *tripled; ///< a view of the model with inertias times three; NULL: digits are not lost
    double *xdot; ///< [layout.nx] scratch
    double *v, *tripled_p; ///< [tree_nv] scratch: speeds or rates, momenta
} lwi_lost_digits;

/** After the layout: memory, if bodies differ.  @return LW_ERR_MEMORY */
lw_status lwi_lost_digits_create(lwi_work *work, lwi_lost_digits *digits);
/** Wrenches and efforts of the workspace times three. */
void lwi_triple_loads(const lw_model *model, lwi_tree_work *work);
/** Gravity, or the largest w x v of a link's origin or mass centre if that is larger [m/s^2]: rates of speeds are sums of such
 *  terms.  Without gravity they may cancel, and what is left is round-off. */
double lwi_acceleration_scale(const lw_model *model, double (*V)[6]);
/** The largest difference of the motions of bodies by the speeds or rates a and b [tree_nv], relative to the largest motion by
 *  b, or to `minimum` [m/s, m/s^2] if that is larger; overwrites the scratch V [nnode].  After the links. */
double lwi_motion_difference(const lw_model *model, const lwi_link *link, const double *a,
                             const double *b, double minimum, double (*V)[6]);

#endif

// chosen.h -- a manifold in independent coordinates that are chosen again where they become bad.
#ifndef LWI_ANALYSIS_CHOSEN_H
#define LWI_ANALYSIS_CHOSEN_H

#include "analysis/manifold.h"

typedef struct lwi_chosen {
    const lw_model *model;
    const char *names; ///< of the user: they are kept; "": chosen
    const double *inputs;
    lwi_manifold manifold;
    lwi_arena arena; ///< of the manifold
    bool there;
} lwi_chosen;

/** Independent coordinates at (t, q), in place of the present ones. */
lw_status lwi_chosen_choose(lwi_chosen *chosen, double t, const double *q, lw_error *error);
/** The rows at (t, q), and the bodies' motions at v; NULL: zeros. */
lw_status lwi_chosen_rows(lwi_chosen *chosen, double t, const double *q, const double *v,
                          lw_error *error);
/** The tangent from these rows, in coordinates that are independent at (t, q).
 *  @return LW_ERR_SINGULAR: a singular position, or one where the named coordinates do not determine the others */
lw_status lwi_chosen_factor(lwi_chosen *chosen, double t, const double *q, const double *v,
                            lw_error *error);
/** Both, at zero speeds. */
lw_status lwi_chosen_tangent(lwi_chosen *chosen, double t, const double *q, lw_error *error);
void lwi_chosen_leave(lwi_chosen *chosen);

#endif

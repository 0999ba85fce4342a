// independent.h -- independent coordinates that the user names (option `independent`).
#ifndef LWI_METHODS_RCR_INDEPENDENT_H
#define LWI_METHODS_RCR_INDEPENDENT_H

#include "methods/rcr/rcr.h"

/** Reads the option into `independent` of the elimination; leaves it NULL if it is `auto`.
 *  @return LW_ERR_ARGUMENT with the wrong name */
lw_status lwi_rcr_independent_create(lwi_work *work, lwi_rcr *e);
/** @return LW_ERR_ARGUMENT with the names, if they are too many or too few; after the ranks */
lw_status lwi_rcr_independent_count(const lwi_rcr *e);
/** `status` of an elimination, or LW_ERR_SINGULAR with the names if the coordinates depend on each other there. */
lw_status lwi_rcr_independent_check(const lwi_rcr *e, lw_status status, double t);
/** Is the speed named? */
bool lwi_rcr_is_independent(const lwi_rcr *e, int speed);

#endif

// options.h -- checks of a run's options.
#ifndef LWI_SIMULATE_OPTIONS_H
#define LWI_SIMULATE_OPTIONS_H

#include "base/base.h"

#include <linkwork/simulate.h>

/** Every value in its range, every name known.
 *  @return LW_ERR_ARGUMENT with "rtol: -1 is not positive" */
lw_status lwi_options_check(const lw_options *options, lw_error *error);
/** Does the option of this key differ from its default? */
bool lwi_options_differ(const lw_options *options, const char *key);
bool lwi_options_interpolate(const lw_options *options);

#endif

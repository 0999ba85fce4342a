// singular.h -- what is said of a singular position: whose constraints depend on each other there.
#ifndef LWI_SYSTEM_SINGULAR_H
#define LWI_SYSTEM_SINGULAR_H

#include "model/model.h"

/** "joint 'a'", or "the coupling of joints 'a' and 'b'" where joint is -1 - coupling. */
void lwi_singular_owner(const lw_model *model, int joint, char *text, size_t size);
/** The same, "and those of 'b', 'c'": the other joints of the loops through it, as far as they fit. */
void lwi_singular_names(const lw_model *model, int joint, char *text, size_t size);
/** Fails with time, those names and the smallest pivot.
 *  @param pivot  in whatever measure the caller has: 1 at right angles, 0 dependent */
lw_status lwi_singular_fail(const lw_model *model, int joint, double t, double pivot,
                            lw_error *error);
/** Fails at a start near a singular position, with the same names, where the velocities given are those of
 *  no motion that leads on.
 *  @param body, off  whose velocity would change most, and by how much [m/s, rad/s] */
lw_status lwi_singular_fail_speeds(const lw_model *model, int joint, double t, double pivot,
                                   int body, double off, lw_error *error);
/** Fails where a mechanism is driven into such a position and cannot go on, with the same names and those of the
 *  joints that are driven. */
lw_status lwi_singular_fail_driven(const lw_model *model, int joint, double t, double pivot,
                                   lw_error *error);

#endif

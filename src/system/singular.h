// singular.h -- messages about singular positions: which constraints depend on each other.
#ifndef LWI_SYSTEM_SINGULAR_H
#define LWI_SYSTEM_SINGULAR_H

#include "model/model.h"

/** "joint 'a'", or "the coupling of joints 'a' and 'b'" where joint is -1 - coupling. */
void lwi_singular_owner(const lw_model *model, int joint, char *text, size_t size);
/** The same, followed by "and those of 'b', 'c'": the other joints of the smallest loop through it, as far as
 *  they fit. */
void lwi_singular_names(const lw_model *model, int joint, char *text, size_t size);
/** Fails with time, these names and the smallest pivot.
 *  @param pivot  in the measure of the caller: 1 at right angles, 0 dependent */
lw_status lwi_singular_fail(const lw_model *model, int joint, double t, double pivot,
                            lw_error *error);
/** Fails at a start near a singular position, with the same names, if the specified velocities belong to no
 *  motion through it.
 *  @param body, off  body with the largest change of velocity, and the change [m/s, rad/s]
 *  @param choices    "", or text that names the motions (branches.h) */
lw_status lwi_singular_fail_speeds(const lw_model *model, int joint, double t, double pivot,
                                   int body, double off, const char *choices, lw_error *error);
/** Fails at a start from rest at a singular position where no motion, or more than one, leads on. */
lw_status lwi_singular_fail_rest(const lw_model *model, int joint, double t, double pivot,
                                 const char *choices, lw_error *error);
/** Fails because the caller asked for an end at singular positions, with the same names.
 *  @param end  "the run ends before it" */
lw_status lwi_singular_fail_stop(const lw_model *model, int joint, double t, double pivot,
                                 const char *end, lw_error *error);
/** Fails because no step leads across such a position, and many ordinary ones have not left it, with the same names. */
lw_status lwi_singular_fail_pass(const lw_model *model, int joint, double t, double pivot,
                                 int steps, lw_error *error);
/** Fails if a mechanism is driven into such a position and cannot continue, with the same names and those of
 *  the driven joints. */
lw_status lwi_singular_fail_driven(const lw_model *model, int joint, double t, double pivot,
                                   lw_error *error);

#endif

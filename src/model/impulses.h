// impulses.h -- impulses of a model, and the times at which velocities jump.
#ifndef LWI_MODEL_IMPULSES_H
#define LWI_MODEL_IMPULSES_H

#include "model/model.h"

/** Checks an impulse except for its time: "impulse 'strike': ...". */
lw_status lwi_impulse_check(const lwi_description *desc, const lw_impulse_desc *impulse,
                            lw_error *error);
/** Sorts the impulses by time, and sets model->jumps; after the joints. */
void lwi_compile_impulses(lw_model *model);

/** The first joint with a jump in the rate of a drive, mount or length; -1: there is none. */
int lwi_model_first_jump(const lw_model *model);

/** A time at which velocities jump. */
typedef struct lwi_impact_time {
    double t;     ///< INFINITY: never again
    int first, n; ///< impulses of the model at this time
    bool jumps;   ///< the rate of a drive, mount or length jumps there too
} lwi_impact_time;
/** The next one after t. */
lwi_impact_time lwi_model_next_impact(const lw_model *model, double t);

#endif

// tendon.h -- a tendon as the model has it (tendon.c).
#ifndef LWI_MODEL_FORCES_TENDON_H
#define LWI_MODEL_FORCES_TENDON_H

#include "model/forces/path.h"
#include "model/forces/servo_law.h"

/** A slider-crank in place of a path. */
typedef struct lwi_slider_crank_par {
    int crank, slider;
    double point[3], at[3], axis[3]; ///< from the mass centres, body axes
    double rod;                      ///< 0: there is a path
} lwi_slider_crank_par;

typedef struct lwi_tendon_par {
    const lwi_path_part *part; ///< [n]
    int n;
    lwi_slider_crank_par crank;
    double stiffness, damping, lower, upper, coulomb, speed;
    lwi_servo_law law;
    bool works; ///< it has more than a spring
} lwi_tendon_par;

#endif

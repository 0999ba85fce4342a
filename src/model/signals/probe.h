// probe.h -- what formulas read of bodies, markers and springs.
#ifndef LWI_MODEL_SIGNALS_PROBE_H
#define LWI_MODEL_SIGNALS_PROBE_H

#include "model/forces/force.h"
#include "model/signals/formula.h"

/** A reading of the motion of bodies.  Points are from mass centres, body axes. */
typedef struct lwi_probe {
    lwi_reading kind;
    int component;
    int n, body[2]; ///< bodies
    double point[2][3];
    double axes[9]; ///< of a marker in those of its body
    int spring;     ///< its number in the description; -1: none
} lwi_probe;

/** @param kin  NULL: the value is NAN */
double lwi_probe_value(const lwi_probe *probe, const lwi_kin *kin);
/** Derivative along a seed: of the probe itself 1, else not zero for the length and the rate of its spring only. */
double lwi_probe_slope(const lwi_probe *probe, const lwi_seed *seed);
/** Derivatives by the motion of its bodies, as lwi_motion_pair. */
void lwi_probe_derivatives(const lwi_probe *probe, const lwi_kin *kin, double by_pose[2][6],
                           double by_twist[2][6]);
/** LWI_NEEDS_POSE, LWI_NEEDS_TWIST */
unsigned lwi_probe_needs(const lwi_probe *probe);

#endif

// actuators.h -- what the elements of an actuator say (actuators.c), and efforts of joints as formulas (efforts.c).
#ifndef LWI_IO_MJCF_ACTUATORS_H
#define LWI_IO_MJCF_ACTUATORS_H

#include "io/mjcf/mjcf.h"

enum { LWI_MJCF_NONE, LWI_MJCF_AFFINE, LWI_MJCF_OTHER };

typedef struct lwi_mjcf_drive {
    double gear[6], control[2], force[2], gain[10], bias[10], damping[3], armature, inherit;
    int control_limited, force_limited;
    int gaintype, biastype, dyntype; ///< gain: NONE is fixed
} lwi_mjcf_drive;

typedef enum lwi_mjcf_acts_on {
    LWI_MJCF_ON_JOINT,
    LWI_MJCF_ON_TENDON,
    LWI_MJCF_ON_SITE,
    LWI_MJCF_ON_CRANK
} lwi_mjcf_acts_on;

typedef struct lwi_mjcf_actuator {
    const lwi_xml_element *e;
    const char *name;
    lwi_mjcf_drive d;
    lwi_mjcf_acts_on on;
    int target; ///< joint, tendon or site; the crank's site
    int slider; ///< site of a slider
    double rod;
    lw_signal input;
    bool plain;  ///< the effort of its coordinate
    bool summed; ///< a term of the formulas of its joints
    double kd;   ///< of a damping ratio, once it is known
    int servo;   ///< its number among the servos; -1: none
} lwi_mjcf_actuator;

/** A positive b2 of a position servo is a damping ratio. */
static inline bool lwi_mjcf_has_ratio(const lwi_mjcf_drive *d)
{
    return d->biastype == LWI_MJCF_AFFINE && d->gain[0] > 0 && d->gain[0] == -d->bias[1] &&
           d->bias[2] > 0;
}

// ---- efforts.c

/** Terms of the length of an actuator, without its gear; joints are those of the file.  @return 0: not along coordinates */
int lwi_mjcf_term_count(const lwi_mjcf *u, const lwi_mjcf_actuator *a);
lw_servo_term lwi_mjcf_term_at(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int k);
/** Adds the efforts that are formulas, before the joints are added. */
lw_status lwi_mjcf_add_efforts(const lwi_mjcf *u);
/** Writes these formulas with the dampers `kd`, once they are known. */
lw_status lwi_mjcf_renew_efforts(const lwi_mjcf *u);

#endif

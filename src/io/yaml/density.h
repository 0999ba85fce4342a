// density.h -- mass, mass centre and inertia of a body from its shapes.
#ifndef LWI_IO_YAML_DENSITY_H
#define LWI_IO_YAML_DENSITY_H

#include "io/yaml/values.h"

/** Completes a body with a density; others are unchanged.
 *  @param place  of the body, for errors */
lw_status lwi_yaml_mass_of_shapes(lwi_yaml_reading *r, lwi_yaml_body *body, lw_place place);

#endif

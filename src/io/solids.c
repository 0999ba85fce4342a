// solids.c -- volume and inertia of the shapes that robot formats know.
#include "io/solids.h"

#include "spatial/vec3.h"

static const double PI = 3.14159265358979323846;

// A cylinder with hemispheres at its ends.
static void capsule(double r, double h, double *volume, double *unit)
{
    *volume = PI * r * r * (h + 4 * r / 3);
    const double ball = 4 * r / (4 * r + 3 * h), rod = 1 - ball;
    const double along = rod * r * r / 2 + ball * 2 * r * r / 5;
    const double across =
        rod * (3 * r * r + h * h) / 12 + ball * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8);
    v3_set(unit, across, across, along);
}

// A box with these edges, or an ellipsoid with these half axes: `part` is the factor of the sums of their squares.
static void three_axes(const double *a, double part, double *unit)
{
    v3_set(unit, (a[1] * a[1] + a[2] * a[2]) / part, (a[0] * a[0] + a[2] * a[2]) / part,
           (a[0] * a[0] + a[1] * a[1]) / part);
}

void lwi_solid_of_shape(lw_shape_type type, const double *a, double *volume, double unit[3])
{
    *volume = 0;
    v3_set(unit, 0, 0, 0);
    switch (type) {
    case LW_SHAPE_SPHERE:
        *volume = 4 * PI / 3 * a[0] * a[0] * a[0];
        v3_set(unit, 0.4 * a[0] * a[0], 0.4 * a[0] * a[0], 0.4 * a[0] * a[0]);
        return;
    case LW_SHAPE_CAPSULE:
        capsule(a[0], a[1], volume, unit);
        return;
    case LW_SHAPE_CYLINDER: {
        const double across = (3 * a[0] * a[0] + a[1] * a[1]) / 12;
        *volume = PI * a[0] * a[0] * a[1];
        v3_set(unit, across, across, a[0] * a[0] / 2);
        return;
    }
    case LW_SHAPE_ELLIPSOID:
        *volume = 4 * PI / 3 * a[0] * a[1] * a[2];
        three_axes(a, 5, unit);
        return;
    case LW_SHAPE_BOX:
        *volume = a[0] * a[1] * a[2];
        three_axes(a, 12, unit);
        return;
    case LW_SHAPE_NONE:
    case LW_SHAPE_MESH:
    case LW_SHAPE_COUNT:
        return;
    }
}

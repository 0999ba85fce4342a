// units.h -- units of measurement and dimensions: "45 N/mm", "3000 rpm".
//
//   unit   = factor { ("*" | "/" | space) factor }      a space multiplies, not behind a "/"
//   factor = [prefix] name [ "^" ["-"] digits ]
//
// A dimension has the powers of six base units.  The angle is one of them, so that a torque and an energy, or a
// stiffness and a rotational stiffness differ; but an angle is also a pure number (the length of an arc is angle times
// radius), so that dimensions that differ only in it are compatible.
#ifndef LWI_MODEL_SIGNALS_UNITS_H
#define LWI_MODEL_SIGNALS_UNITS_H

#include "base/base.h"

enum {
    LWI_BASE_UNITS = 6, ///< m, kg, s, rad, A, K
    LWI_BASE_TIME = 2,  ///< index of s
    LWI_BASE_ANGLE = 3, ///< index of rad
    LWI_POWER = 12      ///< powers are multiples of 1/12: a square root of a length has 6
};

typedef enum lwi_dimension_kind {
    LWI_DIMENSION_NONE, ///< of a number without a unit: fits everywhere, a pure factor in products
    LWI_DIMENSION_UNKNOWN, ///< depends on something of an unknown unit: fits everywhere
    LWI_DIMENSION_KNOWN
} lwi_dimension_kind;

typedef struct lwi_dimension {
    lwi_dimension_kind kind;
    short power[LWI_BASE_UNITS]; ///< in 1/LWI_POWER; zeros unless known
} lwi_dimension;

/** x of a unit is x 10^ten times/per in SI. */
typedef struct lwi_unit {
    int ten;
    double times, per;
    lwi_dimension dimension; ///< known
} lwi_unit;

/** The unit of one name, with a prefix: "N", "mm", "rpm".  @return false: there is none */
bool lwi_unit_find(const char *name, int length, lwi_unit *unit);
/** A unit and nothing else: "N s/m", "m/s^2", "1" for a pure number.  @return false: it is none */
bool lwi_unit_read(const char *text, int length, lwi_unit *unit);
/** Multiplies `unit` by another one to a whole power.  @return false: too high a power */
bool lwi_unit_multiply(lwi_unit *unit, const lwi_unit *other, int power);
/** Names of units, for suggestions. */
const char *const *lwi_unit_names(int *count);

/** Value of a decimal number in SI: rounded once where the unit is a power of ten. */
double lwi_unit_value(const char *number, int length, const lwi_unit *unit);

/** One over a time: of Hz, which are cycles and not radians. */
bool lwi_dimension_is_frequency(lwi_dimension dimension);
bool lwi_dimension_same(lwi_dimension a, lwi_dimension b);
/** The same except for angles, or one of them fits everywhere. */
bool lwi_dimension_fits(lwi_dimension a, lwi_dimension b);
/** a^p b^r, p and r in 1/LWI_POWER. */
lwi_dimension lwi_dimension_product(lwi_dimension a, int p, lwi_dimension b, int r);
/** "a force [N]", "a pure number", "[m^2/s]" for one without a name. */
const char *lwi_dimension_text(lwi_dimension dimension, char *text, size_t size);

#endif

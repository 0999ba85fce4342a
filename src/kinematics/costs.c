// costs.c -- the table of costs.
#include "kinematics/costs.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

// Nanoseconds per unit of each feature; made by tools/calibrate_auto.py, see docs/methods.md.
typedef struct row {
    const char *name;
    lwi_cost_features ns;
} row;

static const row table[] = {
#include "kinematics/costs.def"
};

double lwi_cost_estimate(const char *name, const lwi_cost_features *features)
{
    for (int i = 0; i < LWI_COUNT(table); i++) {
        if (strcmp(name, table[i].name) != 0) continue;
        double ns = 0;
#define X(feature) ns += table[i].ns.feature * features->feature;
        LWI_COST_FEATURES(X)
#undef X
        return 1e-9 * ns;
    }
    return NAN;
}

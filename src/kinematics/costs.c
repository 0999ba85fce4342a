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

// Long paths; `one`: what segments cost besides.  From bench_paths, docs/theory/segments.md; those of hubs and of loops
// between paths from its counts of instructions, at 11 to the nanosecond as for hinges.
static const row paths[] = {
    {"aba", {.hinges = 54, .square = 29, .balls = 81, .hubs = 54}},
    {"momenta", {.hinges = 48, .square = 28, .balls = 81, .hubs = 48}},
    {"hdca", {.one = 2000, .hinges = 36, .square = 36, .balls = 45, .hubs = 950, .closures = 6200}},
    {"dca", {.one = 2000, .hinges = 40, .square = 40, .balls = 46, .hubs = 950, .closures = 6200}},
};

static double nanoseconds(const lwi_cost_features *per, const lwi_cost_features *features)
{
    double ns = 0;
#define X(feature) ns += per->feature * features->feature;
    LWI_COST_FEATURES(X)
#undef X
    return ns;
}

const lwi_cost_features *lwi_cost_row(const char *name)
{
    for (int i = 0; i < LWI_COUNT(table); i++)
        if (strcmp(name, table[i].name) == 0) return &table[i].ns;
    return NULL;
}

double lwi_cost_by_row(const lwi_cost_features *per, const lwi_cost_features *features)
{
    return per ? 1e-9 * nanoseconds(per, features) : NAN;
}

double lwi_cost_estimate(const char *name, const lwi_cost_features *features)
{
    return lwi_cost_by_row(lwi_cost_row(name), features);
}

double lwi_cost_of_path(const char *name, const lwi_cost_features *features)
{
    const double joints = features->hinges + features->square + features->balls;
    for (int i = 0; joints > 0 && i < LWI_COUNT(paths); i++)
        if (strcmp(name, paths[i].name) == 0) return 1e-9 * nanoseconds(&paths[i].ns, features);
    return NAN;
}

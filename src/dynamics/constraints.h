// constraints.h -- the workspace of the public constraint equations, for analyses that need more of the state.
#ifndef LWI_DYNAMICS_CONSTRAINTS_H
#define LWI_DYNAMICS_CONSTRAINTS_H

#include "loops/cut.h"
#include "tree/crba.h"

#include <linkwork/dynamics.h>

struct lw_constraints {
    const lw_model *model;
    lwi_arena arena;
    lwi_tree_work
        tree; ///< at the state of the last call: poses, velocities, coordinates of all joints
    lwi_inertia *composite; ///< [nnode]
    lwi_cut cut;
    lwi_cut spun;      ///< the same with rows of rotors
    double *unit, *JA; ///< [m], with rotors
    double *column;    ///< [tree nv]
    double *inputs;    ///< [inputs] zeros
    double *still;     ///< [tree nv] zeros
};

#endif

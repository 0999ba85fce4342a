// shared.h -- what the parts of a simulation have in common: the plan of a mechanism and its generic ranks.
//
// The choice of a formulation, the formulation and the singularity monitor each need both; the first of them finds
// them, the others take them over.
#ifndef LWI_SYSTEM_SHARED_H
#define LWI_SYSTEM_SHARED_H

#include "elimination/plan.h"
#include "kinematics/closure.h"

typedef struct lwi_shared {
    lwi_arena arena; ///< all memory
    bool planned, rotors;
    lw_plan kind;  ///< the kind that the caller requested
    lwi_plan plan; ///< of the system without the caller's edges, with bodies split
    bool ranked;
    int start_redundant, redundant; ///< dependent rows at the start, and at the configuration
    double (*R)[9], (*r)[3], *q;    ///< configuration of the generic ranks: [nbody], [nq]
} lwi_shared;

void lwi_shared_init(const lw_allocator *allocator, lwi_shared *shared);
/** After all who took something over. */
void lwi_shared_free(lwi_shared *shared);
/** Keeps ranks and their configuration, unless there are some.  @return LW_ERR_MEMORY */
lw_status lwi_shared_keep_ranks(lwi_shared *shared, const lw_model *model, int start_redundant,
                                int redundant, const lwi_motion *motion);

#endif

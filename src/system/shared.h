// shared.h -- what the parts of a simulation have in common: the plan of a mechanism, its generic ranks, an elimination.
//
// The choice of a formulation, the formulation and the singularity monitor each need both; the first of them finds
// them, the others take them over.  The assembler needs the plan.  Parts that need no factors after a call use
// one elimination, one part after the other.
#ifndef LWI_SYSTEM_SHARED_H
#define LWI_SYSTEM_SHARED_H

#include "elimination/elimination.h"
#include "kinematics/closure.h"

typedef struct lwi_shared {
    lwi_arena arena; ///< all memory
    bool planned;
    lw_plan kind;  ///< the kind that the first caller requested
    lwi_plan plan; ///< of the first graph
    bool ranked;
    int start_redundant, redundant; ///< dependent rows at the start, and at the configuration
    int *
        loop_dependent; ///< [nloop] dependent rows of the joint of each loop, if no others are; NULL: not known
    double (*mobility)[6];       ///< inverse inertias (system.h); NULL: not known yet
    double (*R)[9], (*r)[3], *q; ///< configuration of the generic ranks: [nbody], [nq]
    lwi_elim *elim;              ///< with this plan, of several parts; NULL: not created yet
    lwi_elim_updates updates;    ///< of all eliminations with this plan
    // of eliminations with this plan; NULL: not known yet
    int *node_rank;                ///< [plan nodes] generic ranks
    double *reference;             ///< [plan nodes] reference pivots
    double tree_pivot;             ///< lwi_elim_tree_pivot, in the metric of masses; NAN: not known
    unsigned char *undetermined;   ///< [njoint] components of reactions that are not unique
    lwi_ranks *ranks;              ///< processes of the simulation; NULL: this one alone
    struct lwi_min_norm *min_norm; ///< with the edges of this plan; NULL: none yet
    // division of the model into segments (methods/dca/segments/divide.h)
    bool divided; ///< it is known
    lwi_arena segments;
    struct lwi_path_plan *path;
    struct lwi_net_plan *net;
} lwi_shared;

void lwi_shared_init(const lw_allocator *allocator, lwi_shared *shared);
/** After all who took something over. */
void lwi_shared_free(lwi_shared *shared);
/** lwi_plan_create; the plan of `shared`, which the first call makes, if kind and graph are the same.
 *  @param shared  NULL: a new plan in any case     @param arena  of a new plan */
lw_status lwi_shared_plan(lwi_shared *shared, const lwi_plan_graph *graph, lw_plan kind,
                          lwi_arena *arena, lwi_plan *plan);
/** An elimination with the plan; the common one if the plan is that of `shared`: its rows, except those of links, and
 *  its factors are those that another part has left.
 *  @param shared  NULL: a new one in `arena`     @return LW_ERR_MEMORY */
lw_status lwi_shared_elim(lwi_shared *shared, const lwi_plan *plan, lwi_arena *arena,
                          lwi_elim **elim);
/** A new elimination in `arena`.  Its matrix passes use the memory of the common one's if the plan is that of `shared`:
 *  the parts of a simulation work one after the other. */
lw_status lwi_shared_own_elim(lwi_shared *shared, const lwi_plan *plan, lwi_arena *arena,
                              lwi_elim **elim);
/** Whether the plan is that of `shared`, so that results of one elimination are those of the other; NULL: false. */
bool lwi_shared_has(const lwi_shared *shared, const lwi_plan *plan);
/** Keeps ranks and their configuration, unless there are some.  @return LW_ERR_MEMORY */
lw_status lwi_shared_keep_ranks(lwi_shared *shared, const lw_model *model, int start_redundant,
                                int redundant, const lwi_motion *motion);

#endif

// ranks.c -- evaluations of dca and hdca by several processes (ranks.h).
#include "methods/dca/ranks.h"

static lwi_ranks *ranks_of(const lwi_work *work)
{
    return work->shared ? work->shared->ranks : NULL;
}

lw_status lwi_dca_share_ranks(lwi_work *work, lwi_system *system, lwi_path *path, lwi_net *net)
{
    lwi_ranks *ranks = ranks_of(work);
    if (!ranks) return LW_OK;
    if (path) TRY(lwi_path_ranks(path, ranks, &work->arena));
    if (net) TRY(lwi_net_ranks(net, ranks, &work->arena));
    if (system->elim) TRY(lwi_elim_share_ranks(system->elim, ranks, &work->arena));
    work->on_ranks = path || net || (system->elim && lwi_elim_worth_threads(system->elim));
    return LW_OK;
}

bool lwi_dca_on_ranks(const lwi_work *work)
{
    return lwi_ranks_share(ranks_of(work));
}

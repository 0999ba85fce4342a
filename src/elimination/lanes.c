// lanes.c -- the kernels of this machine, and one task of a sweep: a batch in lanes, a join or single nodes.
#include "elimination/lanes.h"
#include "base/cpu.h"

#include <stdatomic.h>

LWI_ISA_BUILDS(lwi_elim_kernels, lwi_elim_kernels);

const lwi_elim_kernels *lwi_elim_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

void lwi_elim_read_rows(lwi_elim *elim)
{
    if (!elim->laned || !atomic_exchange_explicit(&elim->J_changed, false, memory_order_relaxed))
        return;
    for (int u = 0; u < elim->nbatch; u++) elim->kernels->rows(elim, elim->task[u].batch);
}

const lwi_elim_single *lwi_elim_task_single(const lwi_elim *elim, int task)
{
    LWI_ASSERT_INDEX(task, elim->ntask);
    return elim->assembled && elim->kernels ? elim->task[task].single : NULL;
}

static void eliminate_single(lwi_elim *elim, int task, const lwi_elim_single *single)
{
    const int node = elim->task[task].node[0];
    lwi_elim_state *state = &elim->state[node];
    const bool kept =
        elim->kernels->single_matrix(single, elim->S + elim->front[node].row, elim->unsymmetric);
    *state = (lwi_elim_state){.status = kept ? LW_OK : LW_ERR_SINGULAR, .kept = single->join.m};
}

void lwi_elim_task_eliminate(lwi_elim *elim, int task, const lwi_team *team)
{
    LWI_ASSERT(elim->kernels || !elim->laned);
    const lwi_elim_task *u = &elim->task[task];
    const lwi_elim_single *single = lwi_elim_task_single(elim, task);
    LWI_ASSERT(team->parts == 1 || (u->lanes == 1 && !u->single));
    if (single) {
        eliminate_single(elim, task, single);
        return;
    }
    if (u->batch && elim->laned) {
        elim->kernels->matrix(elim, u->batch);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_eliminate(elim, u->node[l], team);
}

void lwi_elim_task_up(lwi_elim *elim, int task)
{
    LWI_ASSERT(elim->kernels || !elim->laned);
    const lwi_elim_task *u = &elim->task[task];
    const lwi_elim_single *single = lwi_elim_task_single(elim, task);
    if (single) {
        elim->kernels->single_up(single, elim->unsymmetric);
        return;
    }
    if (u->batch && elim->laned) {
        elim->kernels->up(elim, u->batch);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_up(elim, u->node[l]);
}

void lwi_elim_task_down(lwi_elim *elim, int task)
{
    LWI_ASSERT(elim->kernels || !elim->laned);
    const lwi_elim_task *u = &elim->task[task];
    const lwi_elim_single *single = lwi_elim_task_single(elim, task);
    if (single) {
        elim->kernels->single_down(single);
        return;
    }
    if (u->batch && elim->laned) {
        elim->kernels->down(elim, u->batch);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_down(elim, u->node[l]);
}

// lanes.c -- the texts of this machine, and what a unit is.
#include "elimination/lanes.h"
#include "base/cpu.h"

#include <stdatomic.h>

LWI_ISA_BUILDS(lwi_elim_kernels, lwi_elim_kernels);

const lwi_elim_kernels *lwi_elim_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

void lwi_elim_read_rows(lwi_elim *dual)
{
    if (!dual->laned || !atomic_exchange_explicit(&dual->touched, false, memory_order_relaxed))
        return;
    for (int u = 0; u < dual->ngroup; u++) dual->texts->rows(dual, dual->unit[u].group);
}

const lwi_elim_single *lwi_elim_unit_lone(const lwi_elim *dual, int unit)
{
    return dual->given && dual->texts ? dual->unit[unit].lone : NULL;
}

static void eliminate_lone(lwi_elim *dual, int unit, const lwi_elim_single *lone)
{
    const int node = dual->unit[unit].node[0];
    lwi_elim_state *state = &dual->state[node];
    const bool kept = dual->texts->lone_matrix(lone, dual->S + dual->front[node].row, dual->two);
    *state = (lwi_elim_state){.status = kept ? LW_OK : LW_ERR_SINGULAR, .kept = lone->join.m};
}

void lwi_elim_unit_eliminate(lwi_elim *dual, int unit)
{
    const lwi_elim_unit *u = &dual->unit[unit];
    const lwi_elim_single *lone = lwi_elim_unit_lone(dual, unit);
    if (lone) {
        eliminate_lone(dual, unit, lone);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->matrix(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_eliminate(dual, u->node[l]);
}

void lwi_elim_unit_up(lwi_elim *dual, int unit)
{
    const lwi_elim_unit *u = &dual->unit[unit];
    const lwi_elim_single *lone = lwi_elim_unit_lone(dual, unit);
    if (lone) {
        dual->texts->lone_up(lone, dual->two);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->up(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_up(dual, u->node[l]);
}

void lwi_elim_unit_down(lwi_elim *dual, int unit)
{
    const lwi_elim_unit *u = &dual->unit[unit];
    const lwi_elim_single *lone = lwi_elim_unit_lone(dual, unit);
    if (lone) {
        dual->texts->lone_down(lone);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->down(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_elim_down(dual, u->node[l]);
}

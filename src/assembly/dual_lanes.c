// dual_lanes.c -- the texts of this machine, and what a unit is.
#include "assembly/dual_lanes.h"
#include "kernel/kernels.h"

#include <stdatomic.h>

extern const lwi_dual_texts lwi_dual_texts_scalar;
#if LWI_X86_KERNELS
extern const lwi_dual_texts lwi_dual_texts_fma, lwi_dual_texts_avx2, lwi_dual_texts_avx512;
#endif

const lwi_dual_texts *lwi_dual_texts_of(int width)
{
#if LWI_X86_KERNELS
    const int most = lwi_kernels_of(0)->width; // of this machine
    if (most == 8 && (width == 0 || width == 8)) return &lwi_dual_texts_avx512;
    if (most >= 4 && (width == 0 || width == 4)) return &lwi_dual_texts_avx2;
    if (most >= 4 && width == 1) return &lwi_dual_texts_fma;
#endif
    return width == 0 || width == 1 ? &lwi_dual_texts_scalar : NULL;
}

void lwi_dual_read_rows(lwi_dual *dual)
{
    if (!dual->laned || !atomic_exchange_explicit(&dual->touched, false, memory_order_relaxed))
        return;
    for (int u = 0; u < dual->ngroup; u++) dual->texts->rows(dual, dual->unit[u].group);
}

const lwi_dual_lone *lwi_dual_unit_lone(const lwi_dual *dual, int unit)
{
    return dual->given && dual->texts ? dual->unit[unit].lone : NULL;
}

static void eliminate_lone(lwi_dual *dual, int unit, const lwi_dual_lone *lone)
{
    const int node = dual->unit[unit].node[0];
    lwi_dual_state *state = &dual->state[node];
    const bool kept = dual->texts->lone_matrix(lone, dual->S + dual->front[node].row, dual->two);
    *state = (lwi_dual_state){.status = kept ? LW_OK : LW_ERR_SINGULAR, .kept = lone->join.m};
}

void lwi_dual_unit_eliminate(lwi_dual *dual, int unit)
{
    const lwi_dual_unit *u = &dual->unit[unit];
    const lwi_dual_lone *lone = lwi_dual_unit_lone(dual, unit);
    if (lone) {
        eliminate_lone(dual, unit, lone);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->matrix(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_dual_eliminate(dual, u->node[l]);
}

void lwi_dual_unit_up(lwi_dual *dual, int unit)
{
    const lwi_dual_unit *u = &dual->unit[unit];
    const lwi_dual_lone *lone = lwi_dual_unit_lone(dual, unit);
    if (lone) {
        dual->texts->lone_up(lone, dual->two);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->up(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_dual_up(dual, u->node[l]);
}

void lwi_dual_unit_down(lwi_dual *dual, int unit)
{
    const lwi_dual_unit *u = &dual->unit[unit];
    const lwi_dual_lone *lone = lwi_dual_unit_lone(dual, unit);
    if (lone) {
        dual->texts->lone_down(lone);
        return;
    }
    if (u->group && dual->laned) {
        dual->texts->down(dual, u->group);
        return;
    }
    for (int l = 0; l < u->lanes; l++) lwi_dual_down(dual, u->node[l]);
}

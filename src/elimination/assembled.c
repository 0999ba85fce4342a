// assembled.c -- the engine with the matrix itself from the caller.
#include "elimination/assembled.h"
#include "elimination/lanes.h"

#include <string.h>

// Groups have their numbers in lanes where nothing is known to depend.
static bool in_lanes(const lwi_elim *dual)
{
    return dual->ngroup > 0 && dual->whole;
}

static void list_block(const lwi_elim *dual, const lwi_plan *plan, const lwi_elim_unit *u, int l,
                       int i, lwi_given_block *to)
{
    const lwi_elim_front *N = &dual->front[u->node[l]];
    const lwi_elim_block *b = &dual->block[N->block.first + i];
    *to = (lwi_given_block){.row = -1,
                            .column = -1,
                            .add = b->add,
                            .unit = (int)(u - dual->unit),
                            .lane = l,
                            .set = -1};
    // slots are in the order of edges
    for (int side = 0; side < 2; side++) {
        const int slot = side ? b->G : b->J;
        int low = 0, high = plan->graph.nedge - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (plan->slot[middle] <= slot)
                low = middle;
            else
                high = middle - 1;
        }
        if (side)
            to->column = low, to->column_body = slot - plan->slot[low];
        else
            to->row = low, to->row_body = slot - plan->slot[low];
    }
    if (u->group && in_lanes(dual)) {
        const lwi_elim_batch *g = u->group;
        const int at = g->block[i].at;
        to->R = g->R[at] + l;
        to->Q = g->Q ? g->Q[at] + l : NULL;
        to->down = LWI_ELIM_LANES * (g->nc + g->no);
        to->right = LWI_ELIM_LANES;
    } else {
        to->R = N->R + b->at;
        to->Q = N->Q ? N->Q + b->at : NULL;
        to->down = N->ld;
        to->right = 1;
    }
}

static void list_edge(const lwi_elim *dual, const lwi_elim_unit *u, int l, int i, int at,
                      lwi_given_edge *to)
{
    const lwi_elim_front *N = &dual->front[u->node[l]];
    *to = (lwi_given_edge){.edge = dual->edge[N->edge.first + i].edge,
                           .unit = (int)(u - dual->unit),
                           .lane = l,
                           .set = -1};
    if (u->group && in_lanes(dual))
        to->v = u->group->v[at] + l, to->step = LWI_ELIM_LANES;
    else
        to->v = N->v + at, to->step = 1;
}

int lwi_elim_assembled_list(const lwi_elim *dual, lwi_given_block *block, lwi_given_edge *edge)
{
    int nblock = 0, nedge = 0, block_set = 0, edge_set = 0;
    for (int k = 0; k < dual->nunit; k++) {
        const lwi_elim_unit *u = &dual->unit[k];
        const lwi_elim_front *N = &dual->front[u->node[0]];
        const bool side_by_side = u->group && in_lanes(dual);
        for (int i = 0; i < N->block.n; i++, block_set++)
            for (int l = 0; l < u->lanes; l++, nblock++) {
                if (!block) continue;
                list_block(dual, dual->plan, u, l, i, &block[nblock]);
                if (side_by_side) block[nblock].set = block_set;
            }
        for (int i = 0, at = 0; i < N->edge.n; at += dual->edge[N->edge.first + i++].m, edge_set++)
            for (int l = 0; l < u->lanes; l++, nedge++) {
                if (!edge) continue;
                list_edge(dual, u, l, i, at, &edge[nedge]);
                if (side_by_side) edge[nedge].set = edge_set;
            }
    }
    return nblock;
}

// The blocks of a front that are not all written: zeros.  Joins know what they have.
static void clear(const lwi_elim *dual, const lwi_elim_unit *u, bool laned, bool symmetric)
{
    if (u->group && laned) {
        const lwi_elim_batch *g = u->group;
        const size_t bytes = (size_t)g->nc * (size_t)(g->nc + g->no) * sizeof *g->R;
        if (!g->clear || g->join.m) return;
        memset(g->R, 0, bytes);
        if (!symmetric) memset(g->Q, 0, bytes);
        return;
    }
    if (u->lone && dual->texts) return;
    for (int l = 0; l < u->lanes; l++) {
        const lwi_elim_front *N = &dual->front[u->node[l]];
        const size_t bytes = (size_t)N->nc * (size_t)N->ld * sizeof *N->R;
        if (!N->clear) continue;
        memset(N->R, 0, bytes);
        if (!symmetric) memset(N->Q, 0, bytes);
    }
}

lw_status lwi_elim_assembled_begin(lwi_elim *dual, bool symmetric)
{
    const bool laned = in_lanes(dual);
    if ((laned && !dual->texts) || (!symmetric && !dual->both)) return LW_ERR_UNSUPPORTED;
    for (int k = 0; k < dual->nunit; k++) clear(dual, &dual->unit[k], laned, symmetric);
    dual->learn = dual->regular = false; // eps is in the diagonal
    dual->two = !symmetric;
    lwi_elim_set_laned(dual, laned);
    return LW_OK;
}

int lwi_elim_assembled_units(const lwi_elim *dual)
{
    return dual->nunit;
}

void lwi_elim_assembled_sweep(lwi_elim *dual, bool on)
{
    dual->given = on;
}

void lwi_elim_assembled_up(lwi_elim *dual, int unit, bool matrix)
{
    if (matrix) lwi_elim_unit_eliminate(dual, unit);
    lwi_elim_unit_up(dual, unit);
}

void lwi_elim_assembled_down(lwi_elim *dual, int unit)
{
    lwi_elim_unit_down(dual, unit);
}

lw_status lwi_elim_assembled_kept(const lwi_elim *dual)
{
    return lwi_elim_all_kept(dual) ? LW_OK : LW_ERR_SINGULAR;
}

// assembled.c -- elimination with blocks of the matrix assembled by the caller (assembled.h).
#include "elimination/assembled.h"
#include "elimination/lanes.h"

#include <string.h>

// Whether batches hold their numbers in lanes: all their rows are independent.
static bool in_lanes(const lwi_elim *elim)
{
    return elim->nbatch > 0 && elim->full_rank;
}

static void list_block(const lwi_elim *elim, const lwi_plan *plan, const lwi_elim_task *u, int l,
                       int i, lwi_elim_assembled_block *to)
{
    const lwi_elim_front *N = &elim->front[u->node[l]];
    const lwi_elim_block *b = &elim->block[N->block.first + i];
    *to = (lwi_elim_assembled_block){.row = -1,
                                     .column = -1,
                                     .add = b->add,
                                     .task = (int)(u - elim->task),
                                     .lane = l,
                                     .set = -1};
    LWI_ASSERT(i < N->block.n && l < u->lanes);
    // slots are in the order of the edges: binary search for the edge
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
    if (u->batch && in_lanes(elim)) {
        const lwi_elim_batch *g = u->batch;
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

static void list_edge(const lwi_elim *elim, const lwi_elim_task *u, int l, int i, int at,
                      lwi_elim_assembled_edge *to)
{
    const lwi_elim_front *N = &elim->front[u->node[l]];
    *to = (lwi_elim_assembled_edge){.edge = elim->edge[N->edge.first + i].edge,
                                    .task = (int)(u - elim->task),
                                    .lane = l,
                                    .set = -1};
    if (u->batch && in_lanes(elim))
        to->v = u->batch->v[at] + l, to->step = LWI_ELIM_LANES;
    else
        to->v = N->v + at, to->step = 1;
}

int lwi_elim_assembled_list(const lwi_elim *elim, lwi_elim_assembled_block *block,
                            lwi_elim_assembled_edge *edge)
{
    int nblock = 0, nedge = 0, block_set = 0, edge_set = 0;
    for (int k = 0; k < elim->ntask; k++) {
        const lwi_elim_task *u = &elim->task[k];
        const lwi_elim_front *N = &elim->front[u->node[0]];
        const bool side_by_side = u->batch && in_lanes(elim);
        for (int i = 0; i < N->block.n; i++, block_set++)
            for (int l = 0; l < u->lanes; l++, nblock++) {
                if (!block) continue;
                list_block(elim, elim->plan, u, l, i, &block[nblock]);
                if (side_by_side) block[nblock].set = block_set;
            }
        for (int i = 0, at = 0; i < N->edge.n; at += elim->edge[N->edge.first + i++].m, edge_set++)
            for (int l = 0; l < u->lanes; l++, nedge++) {
                if (!edge) continue;
                list_edge(elim, u, l, i, at, &edge[nedge]);
                if (side_by_side) edge[nedge].set = edge_set;
            }
    }
    return nblock;
}

// Clears the entries of a front that no block covers.  Joins skip those entries.
static void clear(const lwi_elim *elim, const lwi_elim_task *u, bool laned, bool symmetric)
{
    if (u->batch && laned) {
        const lwi_elim_batch *g = u->batch;
        const size_t bytes = (size_t)g->nc * (size_t)(g->nc + g->no) * sizeof *g->R;
        if (!g->clear || g->join.m) return;
        memset(g->R, 0, bytes);
        if (!symmetric) memset(g->Q, 0, bytes);
        return;
    }
    if (u->single && elim->kernels) return;
    for (int l = 0; l < u->lanes; l++) {
        const lwi_elim_front *N = &elim->front[u->node[l]];
        const size_t bytes = (size_t)N->nc * (size_t)N->ld * sizeof *N->R;
        if (!N->clear) continue;
        memset(N->R, 0, bytes);
        if (!symmetric) memset(N->Q, 0, bytes);
    }
}

typedef struct clear_job {
    const lwi_elim *elim;
    bool laned, symmetric;
    int parts;
} clear_job;

// Large fronts are next to each other: every thread takes some of all.
static void clear_some(void *user, int part)
{
    const clear_job *of = user;
    for (int k = part; k < of->elim->ntask; k += of->parts)
        clear(of->elim, &of->elim->task[k], of->laned, of->symmetric);
}

lw_status lwi_elim_assembled_begin(lwi_elim *elim, bool symmetric, lwi_pool *pool)
{
    const bool laned = in_lanes(elim);
    if ((laned && !elim->kernels) || (!symmetric && !elim->has_unsymmetric))
        return LW_ERR_UNSUPPORTED;
    clear_job of = {elim, laned, symmetric, pool ? lwi_pool_count(pool) : 1};
    if (pool)
        lwi_pool_run(pool, clear_some, &of);
    else
        clear_some(&of, 0);
    elim->find_ranks = elim->regular = false; // eps is included in the diagonal
    elim->unsymmetric = !symmetric;
    lwi_elim_set_laned(elim, laned);
    return LW_OK;
}

int lwi_elim_assembled_tasks(const lwi_elim *elim)
{
    return elim->ntask;
}

void lwi_elim_assembled_sweep(lwi_elim *elim, bool on)
{
    elim->assembled = on;
}

void lwi_elim_assembled_up(lwi_elim *elim, int task, bool matrix, const lwi_team *team)
{
    LWI_ASSERT(elim->assembled);
    LWI_ASSERT_INDEX(task, elim->ntask);
    if (matrix) lwi_elim_task_eliminate(elim, task, team);
    lwi_team_meet(team);
    if (team->part == 0) lwi_elim_task_up(elim, task);
}

void lwi_elim_assembled_down(lwi_elim *elim, int task)
{
    LWI_ASSERT(elim->assembled);
    LWI_ASSERT_INDEX(task, elim->ntask);
    lwi_elim_task_down(elim, task);
}

lw_status lwi_elim_assembled_kept(const lwi_elim *elim)
{
    return lwi_elim_all_kept(elim) ? LW_OK : LW_ERR_SINGULAR;
}

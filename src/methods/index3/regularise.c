// regularise.c -- eps of the rows in S = J K J' + eps: 1/alpha of [malczyk2019, (34)-(35)], relative to the
// rows.
//
// Newton's increments of forces contract by eps / (eps + sigma) along a direction in which J K J' has the
// eigenvalue sigma.  Long chains have small ones, 1.5e-4 of a row's diagonal for 128 links, 2e-6 for 1024,
// and there an eps of 1e-8 costs an iteration.  Rows that depend on others need eps.  Rows of a joint that
// connects a free substructure to the other bodies cannot depend on others: the substructure has its six
// rigid motions, which meet every wrench at the joint.  There eps is nearly zero.
//
// Those joints are found by removing bodies held by one edge until there are none: loops and what is between
// them remain.
#include "methods/index3/index3.h"

#include "spatial/motion.h"

#include <string.h>

// eps of rows that cannot depend on others, relative to that in loops: with 1e-8 there, 1e-12 of a row is
// still a thousand times the round-off of a pivot.
#define INDEPENDENT 1e-4

// Whether the rows of the edge's joint are independent of each other at any pose.
static bool sound(const lwi_system *s, int e)
{
    const int j = s->edge_joint[e];
    if (j < 0) return false;
    const lwi_joint_type *type = s->model->joint[j].type;
    return !type->callbacks && !type->loop_only && s->plan.graph.edge[e].rows == type->nc;
}

// eps of the links between the parts of a split body, which are independent: for the elimination only, which
// decides no rank where every row has eps.
#define LINK 1e-20

typedef struct leaves {
    int *edges,
        *which; ///< [nnode] number of edges at a body, and their numbers combined by exclusive or
    int *queue, n; ///< bodies held by one edge
} leaves;

static void count_edge(leaves *l, const lwi_system *s, int e, int by)
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    for (int i = 0; i < edge->n; i++) {
        const int k = lwi_system_node_of(s, edge->body[i]);
        if (k >= s->model->nnode) continue; // an extension
        l->edges[k] += by, l->which[k] ^= e;
        if (by < 0 && l->edges[k] == 1) l->queue[l->n++] = k;
    }
}

static lw_status find(lwi_index3 *d, lwi_arena *scratch)
{
    const lwi_system *s = &d->system;
    const int nnode = s->model->nnode, nedge = s->nedge - d->ncoupler;
    leaves l = {.edges = LWI_PUSH(scratch, int, nnode),
                .which = LWI_PUSH(scratch, int, nnode),
                .queue = LWI_PUSH(scratch, int, nnode)};
    if (!l.edges || !l.which || !l.queue) return LW_ERR_MEMORY;
    for (int e = 0; e < nedge; e++) {
        count_edge(&l, s, e, 1);
        d->relative[e] = d->method.regularisation;
    }
    for (int k = 0; k < nnode; k++)
        if (l.edges[k] == 1) l.queue[l.n++] = k;
    for (int i = 0; i < l.n; i++) {
        const int k = l.queue[i], e = l.which[k];
        LWI_ASSERT(l.n <= nnode);
        if (l.edges[k] != 1 || s->edge_joint[e] < 0)
            continue; // couplings connect up to four bodies
        if (sound(s, e)) d->relative[e] *= INDEPENDENT;
        count_edge(&l, s, e, -1);
    }
    return LW_OK;
}

lw_status lwi_index3_find_relative(lwi_index3 *d, lwi_arena *arena)
{
    lwi_arena scratch;
    d->relative = LWI_PUSH(arena, double, d->system.nedge);
    if (!d->relative) return LW_ERR_MEMORY;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = find(d, &scratch);
    lwi_arena_free(&scratch);
    return status;
}

// Sum of the diagonal of J K J' of an edge, K those of whole bodies.
static double trace_of(const lwi_system *s, int e)
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    double all = 0;
    for (int i = 0; i < edge->n; i++) {
        const int first = 6 * (s->plan.slot[e] + i);
        const int parts =
            s->split.npart ? lwi_system_parts_of(s, lwi_system_node_of(s, edge->body[i])) : 1;
        const double(*J)[6] = (const double(*)[6])lwi_elim_J(s->elim) + first;
        const double(*G)[6] = (const double(*)[6])lwi_elim_G(s->elim) + first;
        for (int k = 0; k < edge->rows; k++)
            all += parts > 1 ? v6_dot(J[k], G[k]) / parts : v6_dot(J[k], G[k]);
    }
    return all;
}

// eps of every row: relative to the mean diagonal of J K J' of its edge, or 1/penalty, for K of eta times a
// mobility.
void lwi_index3_regularise(lwi_index3 *d, double eta)
{
    lwi_system *s = &d->system;
    const bool absolute = d->method.penalty > 0;
    for (int e = s->nedge; e < s->plan.graph.nedge; e++) {
        const double eps = LINK * trace_of(s, e);
        for (int k = 0; k < 6; k++) d->eps[s->plan.row[e] + k] = eps;
    }
    for (int e = 0; e < s->nedge - d->ncoupler; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        LWI_ASSERT(edge->rows > 0 && d->relative[e] > 0);
        const double eps =
            absolute ? 1 / (d->method.penalty * eta) : d->relative[e] * trace_of(s, e) / edge->rows;
        LWI_ASSERT(!(eps < 0));
        for (int k = 0; k < edge->rows; k++) d->eps[s->plan.row[e] + k] = eps;
    }
    if (d->ncoupler)
        memcpy(d->eps + d->first_compliance, d->compliance,
               (size_t)(s->nrow - d->first_compliance) * sizeof *d->eps);
}

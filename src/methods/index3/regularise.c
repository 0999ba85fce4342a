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
//
// Loops in a row have small eigenvalues too: torques in a long wave along n bodies on hinges bend the row, with some
// n^-4 of a row's diagonal.  With an eps above it the errors of such waves do not contract within a step and grow
// from step to step (rows of 4000 loops diverge within 100 steps of any size).  There eps is smaller.
//
// Multipliers that are carried from step to step add up residuals of positions.  Along a direction in which Newton's
// iterations leave more than half of a residual (sigma < eps) that is unstable: one iteration a step multiplies errors
// by up to 1.28, six by up to 1.36, at any length of the step.  A loop close to a singular position has such a direction
// for as long as it stays there.  So in loops a step starts from multipliers mu that no residual of positions enters.
// The projection of accelerations corrects mu in place of lambda, the multipliers of Newton's last iteration:
//     (J K J' + eps) kappa = -(J a + gamma) - eps (lambda - mu),     the next mu = lambda + kappa
// Errors of mu, positions, velocities and accelerations then are multiplied by eps / (eps + sigma) in every step.
// With a penalty the published method is kept: the next step starts from lambda.
//
// Light bodies in a loop of heavy ones, as the pieces of a spherical joint, have the same effect: eps is a share of a
// row's own diagonal, which is that of the light body, and the smallest sigma that of the heavy ones.  Newton's
// iteration then does not contract at any length of the step, so there eps is smaller as well.
//
// With eps / (eps + sigma) = c accelerations lag behind by c / (1 - c) h da/dt: an error of order one in h, which jumps
// where h changes.  The error control takes jumps for errors of the steps, and would reduce h to 1e-6 s and below.  The
// round-off of redundant rows, which have no other pivot than eps, grows as eps decreases, and it too is an error that
// shorter steps do not reduce.  Under error control eps in loops is therefore between the two.
#include "methods/index3/index3.h"

#include "base/components.h"
#include "spatial/motion.h"

#include <math.h>
#include <string.h>

// eps of rows that cannot depend on others, relative to that in loops: with 1e-8 there, 1e-12 of a row is
// still a thousand times the round-off of a pivot.
#define INDEPENDENT 1e-4

// Largest eps in loops under error control, relative to that of equal steps.
#define CONTROLLED 1e-3

// Loops with more bodies than this have a smaller eps.
#define FEW 100.0

// Loops with bodies lighter than this share of the heaviest have a smaller eps, at least CONTROLLED of it.
#define LIGHT 1e-2
// It is not below this share of the rows, or the `regularisation` that is asked for.
#define LOWEST 1e-11

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

// The bodies of a set of connected loops: their number, the smallest and largest mass and moment of inertia.
typedef struct loop_set {
    int count;
    double minimum[2], maximum[2];
} loop_set;

static void add_body(const lwi_index3 *d, int k, loop_set *set)
{
    const lwi_system *s = &d->system;
    const lwi_body *body = &s->model->body[s->model->node[k].body];
    const double size[2] = {body->mass,
                            (body->inertia[0] + body->inertia[1] + body->inertia[2]) / 3};
    set->count++;
    for (int i = 0; i < 2; i++) {
        if (!(size[i] > 0)) continue; // it borrows
        set->minimum[i] = set->maximum[i] > 0 ? fmin(set->minimum[i], size[i]) : size[i];
        set->maximum[i] = fmax(set->maximum[i], size[i]);
    }
}

// The share of the usual eps that loops with light bodies have.
static double share_of_light(const loop_set *set, double regularisation)
{
    double ratio = 1;
    for (int i = 0; i < 2; i++)
        if (set->maximum[i] > 0) ratio = fmin(ratio, set->minimum[i] / set->maximum[i]);
    const double share = fmax(ratio / LIGHT, CONTROLLED), lowest = LOWEST / regularisation;
    return fmin(1, fmax(share, lowest));
}

// Reduces eps where many bodies or bodies of small mass are connected by loops; counts are those that remain.
static lw_status adapt(lwi_index3 *d, const int *edges, const bool *removed, lwi_arena *scratch)
{
    const lwi_system *s = &d->system;
    const int nnode = s->model->nnode, nedge = s->nedge - d->ncoupler;
    int *joined = LWI_PUSH(scratch, int, nnode);
    loop_set *set = LWI_PUSH(scratch, loop_set, nnode);
    if (!joined || !set) return LW_ERR_MEMORY;
    for (int k = 0; k < nnode; k++) joined[k] = k;
    for (int e = 0; e < nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        const int first = lwi_component_of(joined, lwi_system_node_of(s, edge->body[0]));
        for (int i = 1; i < edge->n && !removed[e]; i++) {
            const int k = lwi_system_node_of(s, edge->body[i]);
            if (k < nnode) joined[lwi_component_of(joined, k)] = first;
        }
    }
    for (int k = 0; k < nnode; k++)
        if (edges[k] > 0) add_body(d, k, &set[lwi_component_of(joined, k)]);
    for (int e = 0; e < nedge; e++) {
        const int k = lwi_system_node_of(s, s->plan.graph.edge[e].body[0]);
        const loop_set *in = &set[lwi_component_of(joined, k)];
        const double share = FEW / fmax(FEW, in->count);
        if (removed[e]) continue;
        const double limit =
            d->controls ? CONTROLLED : share_of_light(in, d->method.regularisation);
        d->relative[e] *= fmin(limit, fmax(share * share * share, INDEPENDENT));
        if (!(d->method.penalty > 0)) d->follows[e] = d->any_follows = true;
    }
    return LW_OK;
}

static lw_status find(lwi_index3 *d, lwi_arena *scratch)
{
    const lwi_system *s = &d->system;
    const int nnode = s->model->nnode, nedge = s->nedge - d->ncoupler;
    leaves l = {.edges = LWI_PUSH(scratch, int, nnode),
                .which = LWI_PUSH(scratch, int, nnode),
                .queue = LWI_PUSH(scratch, int, nnode)};
    bool *removed = LWI_PUSH(scratch, bool, nedge);
    if (!l.edges || !l.which || !l.queue || !removed) return LW_ERR_MEMORY;
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
        removed[e] = true;
        count_edge(&l, s, e, -1);
    }
    return adapt(d, l.edges, removed, scratch);
}

lw_status lwi_index3_find_relative(lwi_index3 *d, lwi_arena *arena)
{
    lwi_arena scratch;
    d->relative = LWI_PUSH(arena, double, d->system.nedge);
    d->follows = LWI_PUSH(arena, bool, d->system.nedge);
    if (!d->relative || !d->follows) return LW_ERR_MEMORY;
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

void lwi_index3_follow(lwi_index3 *d, double unit)
{
    lwi_system *s = &d->system;
    const double *start = d->start;
    double *step = d->impulse;
    if (!d->any_follows) return;
    for (int i = 0; i < s->nrow; i++) step[i] = d->lambda[i] - start[i];
    lwi_index3_multipliers_from_world(d, step, step);
    for (int e = 0; e < s->nedge - d->ncoupler; e++)
        for (int i = s->plan.row[e]; i < s->plan.row[e] + s->plan.graph.edge[e].rows; i++)
            if (d->follows[e]) s->c[i] -= d->eps[i] / unit * step[i];
}

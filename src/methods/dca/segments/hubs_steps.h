// hubs_steps.h -- what the files of the hubs of a net share (hubs.h): hubs.c has the mechanism and poses,
// hubs_matrices.c inertias and rows, hubs_solve.c the solution, hubs_momenta.c speeds and rates of momenta,
// hubs_accelerations.c accelerations.
#ifndef LWI_METHODS_DCA_SEGMENTS_HUBS_STEPS_H
#define LWI_METHODS_DCA_SEGMENTS_HUBS_STEPS_H

#include "base/block_cholesky.h"
#include "methods/dca/segments/hubs.h"
#include "spatial/inertia.h"
#include "tree/normal_form/build.h"

#include <string.h>

void lwi_hubs_closure(const lwi_hubs *hubs, int joint, double t, lwi_closure_level level,
                      lwi_closure *closure);
lw_status lwi_hubs_make_core(lwi_hubs *hubs, lwi_pool *pool, lwi_arena *arena);
/** The body at the tip of path i: the hub there, or its last one at a tie; -1: the tip is free. */
int lwi_hubs_body_at_tip(const lwi_hubs *hubs, int i);
/** A wrench T about the mass centre of that body, about the point of the tip and in its axes: [n; f]. */
void lwi_hubs_wrench_at_tip(const lwi_hubs *hubs, int i, const double T[6], double out[6]);

/** Momenta of the hubs' own joints, W = S (S'S)^-1 p: + on the hub and - on the one that carries it, also if this is
 *  through a path: of that, p of the first joint at its head.                            [chadaj2017, (10)]
 *  @param world  momenta of free bodies are in world axes */
void lwi_hubs_put_momenta(lwi_hubs *hubs, bool world, const double *p);
/** @param known  heads and tips have known parts of motion and wrench: kX, kY, known of lwi_hub_path */
void lwi_hubs_solve_first(lwi_hubs *hubs, bool known);
void lwi_hubs_solve_again(lwi_hubs *hubs);
/** The velocity of a hub, for the rows of its joints and in its link. */
void lwi_hubs_give_velocity(lwi_hubs *hubs, int h);
/** Velocities of the bodies merged with hubs that forces act on or read. */
void lwi_hubs_move_merged(lwi_hubs *hubs);
/** What the joint of a hub transmits, in axes of its link about its origin: W and its multipliers. */
void lwi_hubs_transmitted(const lwi_hubs *hubs, int h, double P[6]);
/** Coordinates and speeds of the joint of a hub if it is driven, for forces. */
void lwi_hubs_give_driven(lwi_hubs *hubs, int h, const double *u);

/** Speed, or acceleration, of the joint at the tip of a path that carries hub h. */
double lwi_hubs_relative_at_tip(const lwi_hubs *hubs, int h);
/** Speeds, or accelerations, of the first joints of paths: less those of the hubs that carry them. */
void lwi_hubs_less_heads(const lwi_hubs *hubs, double *u);

// to += s from, by pairs: the compiler cannot know that they are different rows.
static inline void add_row(double to[6], double s, const double from[6])
{
    for (int c = 0; c < 6; c += 2) {
        const lwi_pair sum = lwi_pair_load(to + c) + s * lwi_pair_load(from + c);
        memcpy(to + c, &sum, sizeof sum);
    }
}

// to += J's of n rows; the sum stays in registers.
static inline void add_rows(double to[6], int n, const double *s, const double (*J)[6])
{
    lwi_pair sum[3];
    memcpy(sum, to, sizeof sum);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < 3; c++) sum[c] = sum[c] + s[r] * lwi_pair_load(J[r] + 2 * c);
    memcpy(to, sum, sizeof sum);
}

static inline lwi_k_frame frame_of(const double R[9], const double r[3])
{
    lwi_k_frame f;
    memcpy(f.R, R, sizeof f.R);
    v3_copy(f.r, r);
    return f;
}

static inline int body_of(const lwi_hubs *hubs, int hub)
{
    return hubs->model->node[hubs->plan->hub[hub].node].body;
}

// Has the edge a body of the elimination with the mobility of its paths?
static inline bool has_compliance(const lwi_hubs *hubs, const lwi_hub_edge *edge)
{
    return edge->joint < 0 || edge->bar >= 0 || edge->nrotor > 0 ||
           (edge->loop >= 0 && hubs->closing[edge->loop].compliant);
}

// x := K x, by rows of L and, above its diagonal, of L'.
static inline void apply_mobility(const lwi_hub *hub, double x[6])
{
    const double(*L)[6] = hub->L;
    lwi_pair y[3];
    memcpy(y, x, sizeof y);
#pragma GCC unroll 3
    for (int p = 0; p < 3; p++) {
        const double *first = L[2 * p], *second = L[2 * p + 1], a = y[p][0] * first[2 * p],
                     b = (y[p][1] - first[2 * p + 1] * a) * second[2 * p + 1];
        y[p] = (lwi_pair){a, b};
#pragma GCC unroll 3
        for (int c = p + 1; c < 3; c++)
            y[c] = y[c] - a * lwi_pair_load(first + 2 * c) - b * lwi_pair_load(second + 2 * c);
    }
#pragma GCC unroll 3
    for (int p = 2; p >= 0; p--) {
        const double *first = L[2 * p], *second = L[2 * p + 1], b = y[p][1] * second[2 * p + 1],
                     a = (y[p][0] - second[2 * p] * b) * first[2 * p];
        y[p] = (lwi_pair){a, b};
#pragma GCC unroll 3
        for (int c = 0; c < p; c++)
            y[c] = y[c] - b * lwi_pair_load(second + 2 * c) - a * lwi_pair_load(first + 2 * c);
    }
    memcpy(x, y, sizeof y);
}

// x := (S'S)^-1 x, S of the hub's joint.
static inline void apply_metric(lwi_hub *hub, int nv, double *x)
{
    if (nv == 1) {
        x[0] /= hub->metric[0][0];
        return;
    }
    cholesky6_forward(hub->metric, nv, x);
    cholesky6_backward(hub->metric, nv, x);
}

static inline int triangle(int i, int k)
{
    return i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

// Number of the hub among the bodies of its edge.
static inline int side_of(const lwi_hub_edge *edge, int h)
{
    return edge->n > 1 && edge->body[1] == h;
}

// Rows J on a hub, and J_to on the hub `to` on their other side, -1: the ground.
typedef struct lwi_hub_rows {
    const lwi_hub_edge *edge; // NULL: none
    const double (*J)[6], (*J_to)[6];
    int to;
} lwi_hub_rows;

static inline lwi_hub_rows own_rows(const lwi_hubs *hubs, int h)
{
    const int e = hubs->hub[h].edge;
    if (e < 0) return (lwi_hub_rows){.to = -1};
    const lwi_hub_edge *edge = &hubs->edge[e];
    const int side = side_of(edge, h);
    return (lwi_hub_rows){edge, edge->J[side], edge->J[1 - side],
                          edge->n > 1 ? edge->body[1 - side] : -1};
}

static inline lwi_hub_rows rows_of_loop(const lwi_hubs *hubs, int h)
{
    const lwi_hub *hub = &hubs->hub[h];
    if (hub->through < 0) return (lwi_hub_rows){.to = -1};
    const lwi_hub_edge *edge = &hubs->edge[hubs->loop_edge[hub->through]];
    const int at = hubs->closing[hub->through].at[1 - hub->side];
    return (lwi_hub_rows){edge, (const double(*)[6])hub->Jt, edge->J[at > 0],
                          at < 0 ? -1 : edge->body[at]};
}

// The rows that are eliminated with a hub, and those that are left of it for others.
static inline lwi_hub_rows rows_with(const lwi_hubs *hubs, int h)
{
    return hubs->hub[h].bar < 0 ? own_rows(hubs, h) : rows_of_loop(hubs, h);
}
static inline lwi_hub_rows rows_left(const lwi_hubs *hubs, int h)
{
    return hubs->hub[h].bar < 0 ? rows_of_loop(hubs, h) : own_rows(hubs, h);
}

static inline bool is_free(const lwi_node *node)
{
    return node->parent < 0 && lwi_joint_is_free(node->type) && !node->reversed && !node->driven;
}

// Whether x [n] are all finite.
static inline bool finite_entries(const double *x, int n)
{
    double nothing = 0;
    for (int i = 0; i < n; i++) nothing += 0 * x[i];
    return nothing == 0;
}

#endif

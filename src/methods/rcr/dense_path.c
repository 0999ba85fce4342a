// dense_path.c -- evaluations of `rcr` with all rows at once, for small systems of rows.
// Equations: dense_path.h.
#include "methods/rcr/dense_path.h"

#include "base/assert.h"
#include "loops/row_factor.h"

#include <math.h>
#include <string.h>

// Smallest pivot of the rows, relative to the largest: a sine in the metric of the masses.  Its inverse bounds the
// amplification of speed errors, here a hundred at most; closer to a singular position the elimination takes over.
#define DENSE_PIVOT 0.01

struct lwi_rcr_dense {
    lwi_articulated *node; // [nnode]
    lwi_cut cut;           // its rows, with their decomposition
    bool in_lanes;         // no row is redundant: that of `rows` in its place
    lwi_row_factor rows;
};

// ------------------------------------------------------------------------------------------ create

bool lwi_rcr_dense_pays(const lwi_rcr_work *d)
{
    lwi_cost_features f = {.one = 1};
    lwi_rcr_count(d, &f);
    return lwi_cost_estimate(LWI_RCR_DENSE_PATH, &f) < lwi_cost_estimate(LWI_RCR_ELIMINATION, &f);
}

lw_status lwi_rcr_dense_create(lwi_rcr_work *d, lwi_arena *arena, lwi_rcr_dense **out)
{
    const lw_model *model = d->e.model;
    lw_error error;
    *out = NULL;
    LWI_ASSERT(!d->momenta); // speeds are the state
    if (d->cut.m == 0) return LW_OK;
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0) return LW_OK;
    lwi_rcr_dense *dense = LWI_PUSH(arena, lwi_rcr_dense, 1);
    if (!dense) return LW_ERR_MEMORY;
    dense->node = LWI_PUSH(arena, lwi_articulated, model->nnode);
    if (!dense->node) return LW_ERR_MEMORY;
    const lw_status status =
        lwi_cut_create(model, LWI_CUT_RANK, arena, &d->tree, dense->node, &dense->cut, &error);
    memcpy(d->tree.joint_q, model->q0, (size_t)model->nq * sizeof(double));
    dense->cut.at_rest = d->cut.at_rest;
    dense->in_lanes = status == LW_OK && dense->cut.rank == dense->cut.m;
    if (dense->in_lanes) TRY(lwi_row_factor_create(&dense->cut, arena, &dense->rows));
    if (status == LW_OK) *out = dense;
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

// Inertias of the bodies alone.
static void take_inertias(lwi_rcr_dense *dense, const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++)
        inertia_rigid(&dense->node[k].M, model->node[k].mass, model->node[k].h, model->node[k].J);
}

// @param rotor  [tree_nv] inertias of rotors
static bool factor(lwi_rcr_dense *dense, lwi_rcr_work *d, double t, const double *rotor)
{
    const lw_model *model = d->e.model;
    lwi_cut *cut = &dense->cut;
    lw_error error;
    if (lwi_cut_factor_tree(model, &d->tree, dense->node, t, rotor, &error) != LW_OK) return false;
    LWI_ASSERT(cut->m > 0 && cut->nrotor == 0 && cut->n == model->tree_nv);
    lwi_cut_rows(cut, &d->tree, t, LWI_CLOSURE_POSITION);
    if (dense->in_lanes)
        return lwi_row_factor_place(&dense->rows, cut, &d->tree, dense->node) > DENSE_PIVOT;
    lwi_cut_factor(cut, &d->tree, dense->node, cut->rank, 0);
    return cut->rank == 0 || (cut->cod.rank == cut->rank && cut->cod.small > DENSE_PIVOT);
}

bool lwi_rcr_dense_factor(lwi_rcr_dense *dense, lwi_rcr_work *d, double t)
{
    take_inertias(dense, d->e.model);
    return factor(dense, d, t, d->e.model->tree_rotor);
}

// J V + b of the velocities in the tree.
static void rates_of_rows(lwi_cut *cut, const lwi_tree_work *tree, double *rate)
{
    for (int i = 0; i < cut->count; i++) {
        const lwi_closure *c = &cut->closure[i];
        for (int r = 0; r < c->n; r++) {
            double sum = c->b[r];
            for (int s = 0; s < c->nbody; s++)
                sum += v3_dot(c->J[s][r], tree->body_v[c->body[s]]) +
                       v3_dot(c->J[s][r] + 3, tree->body_w[c->body[s]]);
            rate[cut->first[i] + r] = sum;
        }
    }
}

void lwi_rcr_dense_speeds(lwi_rcr_dense *dense, lwi_rcr_work *d, const double *u)
{
    const lw_model *model = d->e.model;
    lwi_cut *cut = &dense->cut;
    const size_t size = (size_t)model->tree_nv * sizeof *u;
    if (size) memcpy(d->v, u, size);
    lwi_tree_velocity(model, d->tree.link, u, d->tree.V);
    lwi_tree_body_velocities(model, (const double(*)[9])d->tree.R, (const double(*)[6])d->tree.V,
                             d->tree.body_R, d->tree.body_r, d->tree.body_v, d->tree.body_w);
    rates_of_rows(cut, &d->tree, cut->gamma);
    for (int r = 0; r < cut->m; r++) cut->gamma[r] = -cut->gamma[r];
    if (dense->in_lanes) {
        for (int r = 0; r < cut->m; r++) cut->gamma[r] /= cut->len[r];
        memset(cut->y, 0, (size_t)cut->n * sizeof *cut->y);
        lwi_row_factor_nearest(&dense->rows, cut->gamma, cut->y);
    } else {
        lwi_cut_solve(cut, cut->gamma);
    }
    lwi_cut_apply(cut, &d->tree, dense->node, cut->y, d->v);
    for (int k = 0; k < model->nnode; k++) v6_add(d->tree.V[k], d->tree.V[k], cut->transmitted[k]);
}

// y [n] := N^-1 (efforts + residual forces); overwrites d->residual.
static void forces_inward(const lwi_rcr_dense *dense, lwi_rcr_work *d, double *y)
{
    const lw_model *model = d->e.model;
    const lwi_tree_work *tree = &d->tree;
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &tree->link[k];
        LWI_ASSERT(node->parent < k);
        lwi_articulated_inward(node, link, &dense->node[k], tree->effort + node->iv, d->residual[k],
                               y + node->iv);
        if (node->parent >= 0)
            force_add_from(d->residual[node->parent], link->R, link->r, d->residual[k]);
    }
}

void lwi_rcr_dense_multipliers(const lwi_rcr_dense *dense, double *lambda)
{
    const lwi_cut *cut = &dense->cut;
    if (dense->in_lanes) lwi_row_factor_multipliers(&dense->rows, cut->lambda);
    for (int r = 0; r < cut->m; r++) lambda[r] = -cut->lambda[r] / cut->len[r];
}

// d->vdot from the residual forces, which it overwrites.
static void accelerate(lwi_rcr_dense *dense, lwi_rcr_work *d, double t)
{
    const lw_model *model = d->e.model;
    lwi_cut *cut = &dense->cut;
    const size_t size = (size_t)model->tree_nv * sizeof *d->vdot;
    lwi_rcr_gamma(cut, &d->tree, t);
    lwi_cut_accelerations(cut, &d->tree, cut->phi);
    forces_inward(dense, d, cut->y);
    for (int r = 0; r < cut->m; r++) cut->lambda[r] = -(cut->phi[r] + cut->gamma[r]) / cut->len[r];
    if (dense->in_lanes)
        lwi_row_factor_nearest(&dense->rows, cut->lambda, cut->y);
    else
        lwi_cod_nearest(&cut->cod, cut->y, cut->lambda);
    if (size) memset(d->vdot, 0, size);
    lwi_cut_apply(cut, &d->tree, dense->node, cut->y, d->vdot);
}

void lwi_rcr_dense_accelerations(lwi_rcr_dense *dense, lwi_rcr_work *d, double t)
{
    lwi_rcr_residual_forces(d);
    accelerate(dense, d, t);
}

static void triple(double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] *= 3;
}

bool lwi_rcr_dense_tripled(lwi_rcr_dense *dense, lwi_rcr_work *d, double t, double *rotor)
{
    const lw_model *model = d->e.model;
    const int n = model->tree_nv;
    for (int i = 0; i < n; i++) rotor[i] = 3 * model->tree_rotor[i];
    take_inertias(dense, model);
    for (int k = 0; k < model->nnode; k++) {
        lwi_inertia *M = &dense->node[k].M;
        triple(M->A, LWI_COUNT(M->A)), triple(M->B, LWI_COUNT(M->B));
        triple(M->C, LWI_COUNT(M->C));
    }
    if (!factor(dense, d, t, rotor)) return false;
    lwi_rcr_residual_forces(d);
    for (int k = 0; k < model->nnode; k++) triple(d->residual[k], 6);
    triple(d->tree.effort, n);
    accelerate(dense, d, t);
    return true;
}

const lwi_cut *lwi_rcr_dense_rows(const lwi_rcr_dense *dense)
{
    return &dense->cut;
}

// loop_rates.c -- accelerations of a mechanism with loops at a given state.
#include "dynamics/loop_rates.h"

#include "base/assert.h"
#include "dynamics/state_derivatives.h"
#include "kinematics/auxiliary.h"
#include "system/singular.h"
#include "system/system.h"

// Stores the partition of the start; a singular start has none.
static lw_status choose_at_start(lwi_loop_rates *c, const lw_model *model, lwi_arena *arena)
{
    double *inputs = LWI_PUSH(arena, double, model->desc.ninput);
    if (!inputs) return LW_ERR_MEMORY;
    lwi_snapshot_start(model, &c->snapshot);
    const lwi_formulation *rcr = c->work->formulation;
    if (rcr->enter(c->work, &c->snapshot, c->start) != LW_OK ||
        rcr->rates(c->work, c->snapshot.t, c->start, inputs, c->xdot) != LW_OK)
        return LW_OK;
    memcpy(c->start_partition, c->work->discrete, c->work->ndiscrete);
    return LW_OK;
}

lw_status lwi_loop_rates_create(const lw_model *model, const lw_allocator *allocator,
                                lwi_arena *arena, lwi_loop_rates *c, lw_error *error)
{
    *c = (lwi_loop_rates){0};
    TRY(lwi_work_create(model, &lwi_formulation_rcr, allocator, &c->work, error));
    const int nx = c->work->layout.nx;
    c->local = true;
    for (int i = 0; i < model->nforce; i++)
        c->local = c->local && lwi_force_is_local(model, &model->force[i]);
    c->tree = &((lwi_rcr_work *)c->work->data)->tree;
    c->start = LWI_PUSH(arena, double, nx);
    c->x = LWI_PUSH(arena, double, nx);
    c->xdot = LWI_PUSH(arena, double, nx);
    c->zeros = LWI_PUSH(arena, double, model->tree_nv);
    c->start_partition = LWI_PUSH(arena, unsigned char, c->work->ndiscrete);
    lw_status status =
        c->start && c->x && c->xdot && c->zeros && c->start_partition ? LW_OK : LW_ERR_MEMORY;
    if (status == LW_OK) status = lwi_snapshot_create(model, arena, &c->snapshot);
    if (status == LW_OK) status = choose_at_start(c, model, arena);
    if (status != LW_OK) lwi_loop_rates_destroy(c);
    return status;
}

void lwi_loop_rates_destroy(lwi_loop_rates *c)
{
    lwi_work_destroy(c->work);
    c->work = NULL;
}

// x from (q, v).  For forces that read them, auxiliary coordinates are read from the poses, nearest to those of the
// start.
static lw_status enter(lwi_loop_rates *c, double t, const double *q, const double *v,
                       const double *inputs)
{
    const lw_model *model = c->work->model;
    const lwi_auxiliary *auxiliary = &((lwi_rcr_work *)c->work->data)->auxiliary;
    LWI_ASSERT(c->work->layout.nx >= model->tree_nq + model->tree_nv);
    memcpy(c->x, c->start, (size_t)c->work->layout.nx * sizeof *c->x);
    memcpy(c->x, q, (size_t)model->tree_nq * sizeof *q);
    memcpy(c->x + model->tree_nq, v, (size_t)model->tree_nv * sizeof *v);
    if (c->states && model->nstate)
        memcpy(c->x + c->work->layout.nx - model->nstate, c->states->value,
               (size_t)model->nstate * sizeof *c->x);
    if (auxiliary->n == 0 || c->local) return LW_OK;
    TRY(c->work->formulation->observe(c->work, t, c->x, inputs, LW_OBSERVE_POSE, &c->snapshot));
    lwi_auxiliary_store(model, auxiliary, c->snapshot.q, c->x);
    return LW_OK;
}

// With the partition of the start if its pivots are above the limit that a run uses, else with a
// new one.
static lw_status evaluate(lwi_loop_rates *c, double t, const double *inputs)
{
    const lwi_formulation *rcr = c->work->formulation;
    lwi_rcr_choice *choice = c->work->discrete;
    LWI_ASSERT(c->work->ndiscrete >= sizeof *choice);
    memcpy(choice, c->start_partition, c->work->ndiscrete);
    if (choice->made) {
        choice->min_pivot = 2; // above any pivot
        const lw_status status = rcr->rates(c->work, t, c->x, inputs, c->xdot);
        if (status == LW_OK && choice->min_pivot >= ((lwi_rcr_work *)c->work->data)->keep)
            return LW_OK;
        memset(choice, 0, c->work->ndiscrete);
    }
    return rcr->rates(c->work, t, c->x, inputs, c->xdot);
}

// Where simulations do not begin: the pivots of the monitor are squares of rows.  Clusters in lanes leave rows that
// become dependent to the elimination.
static lw_status check_rows(lwi_loop_rates *c, double t)
{
    const lw_model *model = c->work->model;
    const lwi_rcr *e = &((lwi_rcr_work *)c->work->data)->e;
    const double pivot = e->min_row * e->min_row;
    if (!(pivot < LWI_SYSTEM_RANK)) return LW_OK;
    const int joint = e->min_row_node < 0 ? -1 : model->node[e->min_row_node].joint;
    return lwi_singular_fail(model, joint, t, pivot, &c->work->error);
}

lw_status lwi_loop_rates_evaluate(lwi_loop_rates *c, double t, const double *q, const double *v,
                                  const double *tau, const double *inputs, double *vdot)
{
    const lw_model *model = c->work->model;
    TRY(enter(c, t, q, v, inputs));
    LWI_ASSERT(c->tree == &((lwi_rcr_work *)c->work->data)->tree);
    c->tree->added = tau ? tau : c->zeros;
    ((lwi_rcr_work *)c->work->data)->e.min_row = 1; // until the elimination has evaluated it
    lw_status status = evaluate(c, t, inputs);
    if (status == LW_OK) status = check_rows(c, t);
    if (status == LW_OK)
        memcpy(vdot, c->xdot + model->tree_nq, (size_t)model->tree_nv * sizeof *vdot);
    if (status == LW_OK && c->states && c->states->rate && model->nstate)
        memcpy(c->states->rate, c->xdot + c->work->layout.nx - model->nstate,
               (size_t)model->nstate * sizeof *c->xdot);
    return status;
}

// Uses the partition of the start, so that the bound depends on the state alone.
double lwi_loop_rates_gap(lwi_loop_rates *c, double t, const double *q)
{
    const lw_model *model = c->work->model;
    for (int i = 0; i < model->ncoupling; i++) // the winding number of such a joint is not in q
        if (model->joint[model->coupling[i].joint].node < 0 ||
            model->joint[model->coupling[i].of].node < 0)
            return INFINITY;
    memcpy(c->x, c->start, (size_t)c->work->layout.nx * sizeof *c->x);
    memcpy(c->x, q, (size_t)model->tree_nq * sizeof *q);
    memcpy(c->work->discrete, c->start_partition, c->work->ndiscrete);
    return c->work->formulation->gap(c->work, t, c->x);
}

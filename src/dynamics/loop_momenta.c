// loop_momenta.c -- joint momenta of a mechanism with loops and their rates at a given state.
#include "dynamics/loop_momenta.h"

#include "methods/dca/hdca.h"

#include <string.h>

// The ranks of the elimination are determined at the model's start, as at the start of a run.
static lw_status begin(lwi_loop_momenta *m, const lw_model *model)
{
    lwi_snapshot snapshot;
    const int nx = m->work->layout.nx;
    m->start = LWI_PUSH(&m->arena, double, nx);
    m->x = LWI_PUSH(&m->arena, double, nx);
    m->xdot = LWI_PUSH(&m->arena, double, nx);
    m->v = LWI_PUSH(&m->arena, double, model->tree_nv);
    if (!m->start || !m->x || !m->xdot || !m->v) return LW_ERR_MEMORY;
    TRY(lwi_snapshot_create(model, &m->arena, &snapshot));
    lwi_snapshot_start(model, &snapshot);
    m->at_start = m->work->formulation->enter(m->work, &snapshot, m->start);
    m->why = m->work->error;
    return LW_OK;
}

lw_status lwi_loop_momenta_create(const lw_model *model, const lw_allocator *allocator,
                                  lwi_loop_momenta *m, lw_error *error)
{
    *m = (lwi_loop_momenta){0};
    lw_options_default(&m->options);
    m->options.kappa = LW_KAPPA_NONE;
    m->options.threads = 1;
    TRY(lwi_work_create_options(model, &lwi_formulation_hdca, allocator, 0, &m->options, &m->work,
                                error));
    lwi_arena_init(&m->arena, allocator);
    const lw_status status = begin(m, model);
    if (status != LW_OK) lwi_loop_momenta_destroy(m);
    return status;
}

void lwi_loop_momenta_destroy(lwi_loop_momenta *m)
{
    if (!m->work) return;
    lwi_work_destroy(m->work);
    lwi_arena_free(&m->arena);
    m->work = NULL;
}

static void restart(lwi_loop_momenta *m)
{
    memcpy(m->x, m->start, (size_t)m->work->layout.nx * sizeof *m->x);
}

void lwi_loop_momenta_of_speeds(lwi_loop_momenta *m, double t, const double *q, const double *v,
                                double *p)
{
    restart(m);
    lwi_hdca_link_momenta(m->work, t, q, v, m->x, p);
}

lw_status lwi_loop_momenta_evaluate(lwi_loop_momenta *m, double t, const double *q, const double *p,
                                    const double *tau, const double *inputs, double *v,
                                    double *qdot, double *pdot)
{
    const lw_model *model = m->work->model;
    const int nq = model->tree_nq, nv = model->tree_nv;
    if (m->at_start != LW_OK) return m->at_start;
    restart(m);
    const lw_status status = lwi_hdca_link_rates(m->work, t, q, p, inputs, m->x, m->v, m->xdot);
    if (status != LW_OK) {
        m->why = m->work->error;
        return status;
    }
    memcpy(v, m->v, (size_t)nv * sizeof *v);
    memcpy(qdot, m->xdot, (size_t)nq * sizeof *qdot);
    for (int i = 0; i < nv; i++) pdot[i] = m->xdot[nq + i] + (tau ? tau[i] : 0);
    return LW_OK;
}

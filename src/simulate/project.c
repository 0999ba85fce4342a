// project.c -- positions that have drifted from loops and couplings are put back on them.
//
// Formulations hold the constraints by their derivatives, so positions leave them at the
// integration error.  Before a step the motion at hand is looked at; where it is too far off, the
// bodies go the shortest way back in the metric of their masses, velocities follow [assemble.h],
// and the formulation enters the motion anew.  Nothing but the state at hand decides, so a run that
// is continued is the same.
#include "simulate/simulation.h"

#include "spatial/rotation.h"

#include <string.h>

// `auto` waits until positions are off by so many tolerances: what is put back is then known to one
// digit, and multistep methods, which lose their history, are left alone for long.
#define PATIENCE 10
// A mechanism whose redundant joints contradict each other is never closed better than its start.
#define ABOVE_START 3

static void take_motion(lwi_assembler *a, const lwi_snapshot *m)
{
    const lw_model *model = a->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        memcpy(a->R[b], m->R[b], sizeof a->R[b]);
        v3_copy(a->r[b], m->r[b]);
        v3_copy(a->v[b], m->v[b]);
        m3_mul_v(a->w[b], m->R[b], m->w[b]);
    }
    if (model->nq) memcpy(a->q, m->q, (size_t)model->nq * sizeof *a->q);
    a->t = m->t;
}

static void give_motion(const lwi_assembler *a, lwi_snapshot *m)
{
    const lw_model *model = a->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double quat[4];
        memcpy(m->R[b], a->R[b], sizeof m->R[b]);
        quat_from_matrix(quat, a->R[b]);
        quat_continue(quat, m->quat[b]);
        memcpy(m->quat[b], quat, sizeof quat);
        v3_copy(m->r[b], a->r[b]);
        v3_copy(m->v[b], a->v[b]);
        m3_tmul_v(m->w[b], a->R[b], a->w[b]);
    }
    if (model->nq) memcpy(m->q, a->q, (size_t)model->nq * sizeof *m->q);
    if (model->nv) memcpy(m->qd, a->qd, (size_t)model->nv * sizeof *m->qd);
}

lw_status lwi_sim_prepare_projection(lw_sim *sim)
{
    const lw_model *model = sim->model;
    const lw_options *o = &sim->options;
    lwi_projection *p = &sim->projection;
    if (o->project == LW_PROJECT_NEVER || (model->nloop == 0 && model->ncoupling == 0))
        return LW_OK;
    if (sim->work->formulation->step) return LW_OK; // does so in each step
    TRY(lwi_snapshot_create(model, &sim->arena, &p->moment));
    TRY(lwi_assembler_create(model, 0, NULL, &sim->arena, &p->assembler));
    p->active = true;
    if (o->project == LW_PROJECT_ALWAYS) return LW_OK;
    lwi_snapshot_start(model, &p->moment);
    take_motion(&p->assembler, &p->moment);
    lwi_assembler_correct(&p->assembler);
    const double closed = lwi_assembler_residual(&p->assembler, false, NULL);
    p->limit = fmax(PATIENCE * (o->atol + o->rtol * p->assembler.length), ABOVE_START * closed);
    return LW_OK;
}

lw_status lwi_sim_project(lw_sim *sim, double t, double *x, bool *changed)
{
    lwi_work *work = sim->work;
    lwi_projection *p = &sim->projection;
    const lwi_formulation *f = work->formulation;
    // a bound that is small enough spares the poses; whether to correct is decided by the rows
    p->seen = !(f->gap && f->gap(work, t, x) <= p->limit);
    if (!p->seen) return LW_OK;
    p->moment.t = t;
    p->poses = f->can & LWI_POSES_FIRST;
    TRY(f->observe(work, t, x, sim->inputs, p->poses ? LW_OBSERVE_POSE : LW_OBSERVE_TWIST,
                   &p->moment));
    take_motion(&p->assembler, &p->moment);
    const double before = lwi_assembler_residual(&p->assembler, false, NULL);
    if (!(before > p->limit)) return LW_OK;
    if (p->poses) {
        TRY(f->observe(work, t, x, sim->inputs, LW_OBSERVE_TWIST, &p->moment));
        take_motion(&p->assembler, &p->moment);
        p->poses = false;
    }
    lwi_assembler_correct(&p->assembler);
    if (!(lwi_assembler_residual(&p->assembler, false, NULL) < before)) return LW_OK;
    give_motion(&p->assembler, &p->moment);
    work->goes_on = true;
    const lw_status status = f->enter(work, &p->moment, x);
    work->goes_on = false;
    p->count += status == LW_OK;
    *changed = true;
    return status;
}

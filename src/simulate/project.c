// project.c -- projects positions that have drifted from loops and couplings onto the constraint manifold.
//
// Formulations enforce the constraints by their derivatives, so positions drift with the integration error.
// Before a step the constraint violation is checked.  If it is too large, a formulation that has factors of the loops
// moves its dependent coordinates, of which the others are independent; its speeds satisfy the rows at every
// evaluation.  Else, or where a component floats, the bodies are moved by the smallest displacement in the mass metric,
// velocities are corrected [assemble.h], and the formulation enters the new motion.  The decision depends on the present
// state only, so a resumed run is the same.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// `auto` projects if positions are off by this many tolerances: the correction is then known to one digit, and
// multistep methods, which lose their history, are rarely restarted.
#define PATIENCE 10
// What may be left, relative to the limit.
#define ENOUGH 1e-2
// With loose tolerances positions are projected if they are off by this part of the mechanism's length.
#define FARTHEST 1e-3
// Inconsistent redundant joints are never closed better than at the start: factor over its residual, found where it is
// needed first.
#define ABOVE_START 3
// Nor better than by this part of the mechanism's length.
#define ROUND_OFF 1e-13
// Below this sine of the angle to dependence, relative to the largest of the run, the limit decreases with its square:
// a distance of d from the constraints rotates the velocity by d over the square of the sine.
#define CLOSE 0.5

void lwi_sim_take_motion(lwi_assembler *a, const lwi_snapshot *m)
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

void lwi_sim_give_motion(const lwi_assembler *a, lwi_snapshot *m)
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

static void place_start(lwi_assembler *a)
{
    const lw_model *model = a->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const lwi_body *body = &model->body[b];
        quat_matrix(a->R[b], body->quat0);
        v3_copy(a->r[b], body->r0);
        v3_copy(a->v[b], body->v0);
        m3_mul_v(a->w[b], a->R[b], body->w0);
    }
    if (model->nq) memcpy(a->q, model->q0, (size_t)model->nq * sizeof *a->q);
    a->t = 0;
}

// The floor.  Leaves the assembler at the start.
static double find_floor(lwi_projection *p)
{
    lwi_assembler *a = &p->assembler;
    if (!isnan(p->floor)) return p->floor;
    place_start(a);
    double closed = lwi_assembler_residual(a, false, NULL);
    if (ABOVE_START * closed > ROUND_OFF * a->length) {
        lwi_assembler_correct_positions(a, 0);
        closed = lwi_assembler_residual(a, false, NULL);
    }
    return p->floor = fmax(ABOVE_START * closed, ROUND_OFF * a->length);
}

// Whether a component that moves freely has a momentum, which the assembler keeps.
static bool floats(const lwi_assembler *a)
{
    for (int k = 0; k < a->model->nnode; k++)
        if (a->component[k] >= 0) return true;
    return false;
}

lw_status lwi_projection_create(const lwi_work *work, const lw_options *o, lwi_arena *arena,
                                lwi_projection *p)
{
    const lw_model *model = work->model;
    if (o->project == LW_PROJECT_NEVER || (model->nloop == 0 && model->ncoupling == 0))
        return LW_OK;
    if (work->formulation->flags & LWI_PROJECTS) return LW_OK; // it projects in each step
    TRY(lwi_snapshot_create(model, arena, &p->snapshot));
    TRY(lwi_assembler_create(model, 0, NULL, work->shared, arena, &p->assembler));
    if (work->formulation->close && !floats(&p->assembler) &&
        !(p->closed = LWI_PUSH(arena, double, work->layout.nx)))
        return LW_ERR_MEMORY;
    p->active = true;
    if (o->project == LW_PROJECT_ALWAYS) return LW_OK;
    const double allowed = PATIENCE * (o->atol + o->rtol * p->assembler.length);
    p->limit = fmin(allowed, FARTHEST * p->assembler.length);
    p->limit = fmax(p->limit, ROUND_OFF * p->assembler.length);
    p->floor = NAN;
    return LW_OK;
}

// The limit of this mechanism: few starts are so open that it is above that of the tolerances, and few states are so far
// off that it matters.
static double find_limit(lwi_projection *p)
{
    return p->limit = fmax(p->limit, find_floor(p));
}

double lwi_sim_projection_limit(lw_sim *sim)
{
    lwi_projection *p = &sim->projection;
    const lwi_sine *last = &sim->crossing.last;
    if (!last->valid) return p->limit;
    const double s = last->sine / fmax(sqrt(sim->monitor.largest), last->sine);
    return s < CLOSE ? fmin(find_limit(p), fmax(find_floor(p), s * s * p->limit)) : p->limit;
}

// By the formulation, with the coordinates that are independent in it as they are.
static bool close_loops(lwi_projection *p, lwi_work *work, double limit, double t, double *x)
{
    const size_t bytes = (size_t)work->layout.nx * sizeof *x;
    if (!p->closed) return false;
    memcpy(p->closed, x, bytes);
    if (!work->formulation->close(work, t, p->closed, ENOUGH * limit, true)) return false;
    memcpy(x, p->closed, bytes);
    return true;
}

lw_status lwi_projection_apply(lwi_projection *p, lwi_work *work, double limit, double t, double *x,
                               const double *inputs, bool *changed)
{
    LWI_ASSERT(p->active);
    const lwi_formulation *f = work->formulation;
    // if an upper bound is below the limit, poses are not needed; otherwise the rows decide
    p->observed = !(f->gap && f->gap(work, t, x) <= limit);
    if (!p->observed) return LW_OK;
    if (close_loops(p, work, limit, t, x)) {
        p->observed = false;
        p->count++;
        *changed = true;
        return LW_OK;
    }
    p->snapshot.t = t;
    p->poses = f->flags & LWI_POSES_FIRST;
    TRY(f->observe(work, t, x, inputs, p->poses ? LW_OBSERVE_POSE : LW_OBSERVE_TWIST,
                   &p->snapshot));
    lwi_sim_take_motion(&p->assembler, &p->snapshot);
    const double before = lwi_assembler_residual(&p->assembler, false, NULL);
    if (!(before > limit)) return LW_OK;
    if (isnan(p->floor)) {
        if (!(before > find_limit(p))) return LW_OK;
        lwi_sim_take_motion(&p->assembler, &p->snapshot);
    }
    if (p->poses) {
        TRY(f->observe(work, t, x, inputs, LW_OBSERVE_TWIST, &p->snapshot));
        lwi_sim_take_motion(&p->assembler, &p->snapshot);
        p->poses = false;
    }
    lwi_assembler_correct(&p->assembler, 0);
    if (!(lwi_assembler_residual(&p->assembler, false, NULL) < before)) return LW_OK;
    lwi_sim_give_motion(&p->assembler, &p->snapshot);
    work->resumed = true;
    const lw_status status = f->enter(work, &p->snapshot, x);
    work->resumed = false;
    p->count += status == LW_OK;
    *changed = true;
    return status;
}

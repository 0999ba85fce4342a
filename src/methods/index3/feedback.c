// feedback.c -- derivatives of inputs that follow from the motion, in Newton's equations.
//
// With S the solution of Newton's equations at constant inputs, x = S(r) for a right side r, B [6 nbody][n] the wrenches of
// unit inputs and K [n][6 nbody] the derivatives of the inputs by increments of the bodies,
//     x = S(r + B K x)   so that   x = S(r) + Z y,   Z = S(B),   (1 - K Z) y = K S(r)             (1)
// by Woodbury's formula: one more solution for each input, and a dense system of their number.  The derivatives by coordinates and
// speeds of joints come from the increments by the joints' own kinematics, which is linear in velocities; velocities change
// by 2/h times the increments, as by the trapezoidal rule.  The change of their Jacobians over an increment is omitted.
#include "methods/index3/index3.h"

#include "kinematics/input_slopes.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

lw_status lwi_index3_take_slopes(lwi_work *work)
{
    lwi_index3 *d = work->data;
    lwi_index3_inputs *u = &d->fed;
    const lw_model *model = work->model;
    const size_t n = (size_t)model->desc.ninput, bodies = (size_t)d->system.nbody,
                 rows = (size_t)d->system.plan.nrow, all = (size_t)model->nbody;
    lwi_arena *arena = &work->arena;
    if (u->n > 0 || d->euler || !d->method.tangent) return LW_OK;
    u->x = lwi_arena_push(arena, n * bodies, sizeof *u->x);
    u->base = lwi_arena_push(arena, bodies, sizeof *u->base);
    u->kept = lwi_arena_push(arena, bodies, sizeof *u->kept);
    u->lambda = LWI_PUSH(arena, double, n *rows);
    u->inputs = LWI_PUSH(arena, double, n);
    u->y = LWI_PUSH(arena, double, n);
    u->matrix = LWI_PUSH(arena, double, n *n);
    u->motion = lwi_arena_push(arena, 2 * all, sizeof *u->motion);
    u->still = LWI_PUSH(arena, double, model->nv);
    const size_t cod = lwi_cod_doubles((int)n, (int)n);
    double *a = LWI_PUSH(arena, double, n *n), *rest = LWI_PUSH(arena, double, cod);
    int *pivot = LWI_PUSH(arena, int, n);
    if (!u->x || !u->base || !u->kept || !u->lambda || !u->inputs || !u->y || !u->matrix ||
        !u->motion || !u->still || !a || !rest || !pivot)
        return LW_ERR_MEMORY;
    lwi_cod_init(&u->cod, (int)n, (int)n, a, rest, pivot);
    u->n = (int)n;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- K x

// Velocities of all bodies: those of nodes from `x`, NULL: zeros.
static void set_velocities(lwi_system *s, const double (*x)[6])
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        for (int i = 0; i < 3; i++) {
            s->v[b][i] = x ? x[k][i] : 0;
            s->w[b][i] = x ? x[k][3 + i] : 0;
        }
    }
    lwi_system_place_merged(s);
}

// The change of a motion over increments x of the bodies in a step h.
static void change_of(lwi_index3 *d, double t, double h, const double (*x)[6], lwi_motion_change *c)
{
    lwi_system *s = &d->system;
    const lw_model *model = s->model;
    set_velocities(s, x);
    lwi_system_read_joints(s, t);
    for (int i = 0; i < model->nv; i++) {
        c->q[i] = s->qd[i] - d->fed.still[i];
        c->qd[i] = 2 / h * c->q[i];
    }
    for (int b = 1; b < model->nbody; b++) {
        v3_copy(c->pose[b], s->v[b]);
        m3_tmul_v(c->pose[b] + 3, s->R[b], s->w[b]);
        for (int i = 0; i < 6; i++) c->twist[b][i] = 2 / h * c->pose[b][i];
    }
    for (int i = 0; i < model->nstate; i++) c->states[i] = 0; // found in separate iterations
}

// out [n] := K x.  The motion of the system is that of the increments until it is restored.
static void product(lwi_index3 *d, double t, double h, const double (*x)[6], double *out)
{
    lwi_input_slopes *slopes = d->system.feedback->slopes;
    change_of(d, t, h, x, &slopes->change);
    lwi_input_slopes_product(slopes, &slopes->change, out);
}

static void keep_motion(lwi_index3 *d, double t)
{
    lwi_system *s = &d->system;
    const size_t n = (size_t)s->model->nbody;
    memcpy(d->fed.motion, s->v, n * sizeof *s->v);
    memcpy(d->fed.motion + n, s->w, n * sizeof *s->w);
    set_velocities(s, NULL); // speeds of joints between frames that move by themselves
    lwi_system_read_joints(s, t);
    if (s->model->nv) memcpy(d->fed.still, s->qd, (size_t)s->model->nv * sizeof *s->qd);
}

static void restore_motion(lwi_index3 *d, double t)
{
    lwi_system *s = &d->system;
    const size_t n = (size_t)s->model->nbody;
    memcpy(s->v, d->fed.motion, n * sizeof *s->v);
    memcpy(s->w, d->fed.motion + n, n * sizeof *s->w);
    lwi_system_read_joints(s, t);
}

// --------------------------------------------------------------------------------------------- B

// Loads at the inputs, without asking for others and without rates of signals.
static void loads_at(lwi_index3 *d, double t, const double *inputs, double (*x)[6])
{
    lwi_system *s = &d->system;
    const lwi_states silent = {.value = s->states->value}, *const states = s->states;
    lwi_feedback *const feedback = s->feedback;
    s->states = &silent;
    s->feedback = NULL;
    lwi_system_forces(s, t, inputs);
    s->states = states;
    s->feedback = feedback;
    lwi_system_applied(s, t, &s->loads, x);
}

// u->x := B; the loads of the system are those before.
static void unit_wrenches(lwi_index3 *d, double t, const double *inputs)
{
    lwi_system *s = &d->system;
    lwi_index3_inputs *u = &d->fed;
    const int nnode = s->model->nnode;
    memset(u->x, 0, (size_t)u->n * (size_t)s->nbody * sizeof *u->x);
    memcpy(u->inputs, inputs, (size_t)u->n * sizeof *inputs);
    loads_at(d, t, inputs, u->base);
    for (int i = 0; i < u->n; i++) {
        double(*x)[6] = u->x + (size_t)i * (size_t)s->nbody;
        u->inputs[i] = inputs[i] + cbrt(DBL_EPSILON) * fmax(1, fabs(inputs[i]));
        loads_at(d, t, u->inputs, x);
        for (int k = 0; k < nnode; k++)
            for (int c = 0; c < 6; c++)
                x[k][c] = (x[k][c] - u->base[k][c]) / (u->inputs[i] - inputs[i]);
        u->inputs[i] = inputs[i];
    }
    loads_at(d, t, inputs, u->base);
}

// ------------------------------------------------------------------------------------- equations

lw_status lwi_index3_feedback_columns(lwi_index3 *d, double t, double h, const double *inputs,
                                      void (*solve)(lwi_index3 *, double))
{
    lwi_system *s = &d->system;
    lwi_feedback *f = s->feedback;
    lwi_index3_inputs *u = &d->fed;
    u->active = false;
    if (!f->apply || !f->differentiate || u->n == 0) return LW_OK;
    f->status = f->differentiate(f->user);
    TRY(f->status);
    const size_t n = (size_t)u->n, nbody = (size_t)s->nbody, nrow = (size_t)s->plan.nrow;
    memcpy(u->kept, s->x, nbody * sizeof *s->x);
    unit_wrenches(d, t, inputs);
    keep_motion(d, t);
    for (size_t i = 0; i < n; i++) {
        memcpy(s->x, u->x + i * nbody, nbody * sizeof *s->x);
        memset(s->c, 0, nrow * sizeof *s->c);
        solve(d, h);
        memcpy(u->x + i * nbody, s->x, nbody * sizeof *s->x);
        if (nrow) memcpy(u->lambda + i * nrow, s->lambda, nrow * sizeof *s->lambda);
        product(d, t, h, (const double(*)[6])s->x, u->matrix + i * n);
    }
    restore_motion(d, t);
    memcpy(s->x, u->kept, nbody * sizeof *s->x);
    for (size_t i = 0; i < n; i++) // columns of 1 - K Z
        for (size_t j = 0; j < n; j++) u->cod.a[i * n + j] = (i == j) - u->matrix[i * n + j];
    lwi_cod_factor(&u->cod, -1, DBL_EPSILON);
    u->active = u->cod.rank == u->n;
    return LW_OK;
}

void lwi_index3_feedback_correct(lwi_index3 *d, double t, double h)
{
    lwi_system *s = &d->system;
    lwi_index3_inputs *u = &d->fed;
    const size_t nbody = (size_t)s->nbody, nrow = (size_t)s->plan.nrow;
    if (!u->active) return;
    keep_motion(d, t);
    product(d, t, h, (const double(*)[6])s->x, u->y);
    restore_motion(d, t);
    lwi_cod_solve(&u->cod, u->y, u->inputs);
    for (size_t i = 0; i < (size_t)u->n; i++) {
        for (size_t k = 0; k < nbody; k++) v6_axpy(s->x[k], u->inputs[i], u->x[i * nbody + k]);
        for (size_t k = 0; k < nrow; k++) s->lambda[k] += u->inputs[i] * u->lambda[i * nrow + k];
    }
}

// step.c -- one step of rattle, and its compositions.
//
// From a state on the rows at both levels [reich1996], A = J of the rows, both parts of a kick for each body alone:
//     1 kick    P^ = P + h/2 (f(q, v) + A' lambda)
//     2 drift   (q1, P~) = drift(q, P^)                                               drift.c
//     3 Newton  1 and 2 with other lambda until Phi(q1, t1) = 0                       newton.c
//     4 rows    A1 = A(q1), S1 = A1 M^-1 A1', factored: for 5 and for 3 of the next step
//     5 kick    P1 = P~ + h/2 (f(q1, v1) + A1' mu),  A1 M^-1 P1 + b = 0               kick.c
// Forces are explicit in 1 and implicit in 5, so that the step is its own inverse with -h: order two, also with
// dampers.  Additions to r, quaternion and P carry what they round off.
//
// Symmetric compositions of steps gamma_i h have order 4 [suzuki1990], 6 and 8 [kahan1997].
#include "methods/rattle/rattle.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// -------------------------------------------------------------------------------------------- state

// Positions of a part that no joint holds to the ground are those from one of its bodies.
static void put_origins(lwi_rattle *d, bool end)
{
    for (int k = 0; k < d->system.model->nnode; k++) {
        const int root = d->root[k];
        if (root < 0) continue;
        v3_copy(d->body[k].origin, end ? d->body[root].r1 : d->body[root].r);
    }
}

void lwi_rattle_place(lwi_rattle *d, bool local)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_rattle_body *p = &d->body[k];
        if (local) lwi_rattle_put_local(p, false);
        v3_copy(s->r[b], local ? p->local : p->r);
        memcpy(s->R[b], p->R, sizeof s->R[b]);
    }
}

// Velocities of momenta.
void lwi_rattle_put_velocity(lwi_rattle *d, int k, const double P[3], const double Pi[3])
{
    lwi_system *s = &d->system;
    const int b = s->model->node[k].body;
    double w[3];
    if (d->nmassless && d->massless_of[k] >= 0) {
        const lwi_rattle_massless *m = &d->massless[d->massless_of[k]];
        v3_copy(s->v[b], m->v);
        v3_copy(s->w[b], m->w);
        return;
    }
    v3_scale(s->v[b], 1 / s->model->body[b].mass, P);
    s3_mul_v(w, s->mobility[k], Pi);
    m3_mul_v(s->w[b], s->R[b], w);
}

void lwi_rattle_load(lwi_rattle *d, double t, const double *x)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        lwi_rattle_body *p = &d->body[k];
        const double *pose = x + 7 * k, *u = x + d->at_momentum + 6 * k;
        const double *left = x + d->at_memory + LWI_RATTLE_REMAINDERS * k;
        v3_copy(p->r, pose);
        memcpy(p->quat, pose + 3, sizeof p->quat);
        quat_matrix(p->R, p->quat);
        v3_copy(p->P, u), v3_copy(p->Pi, u + 3);
        v3_copy(p->er, left);
        memcpy(p->eq, left + 3, sizeof p->eq);
        v3_copy(p->eP, left + 7), v3_copy(p->ePi, left + 10);
    }
    put_origins(d, false);
    lwi_rattle_place(d, false);
    lwi_rattle_load_massless(d, x + d->at_massless);
    for (int k = 0; k < s->model->nnode; k++)
        lwi_rattle_put_velocity(d, k, d->body[k].P, d->body[k].Pi);
    lwi_system_place_merged(s);
    lwi_auxiliary_load(s->model, &d->auxiliary, x, s->q);
    if (d->coordinates) lwi_system_read_joints(s, t);
}

static void store(const lwi_rattle *d, double *x)
{
    const lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_rattle_body *p = &d->body[k];
        double *pose = x + 7 * k, *u = x + d->at_momentum + 6 * k;
        double *left = x + d->at_memory + LWI_RATTLE_REMAINDERS * k;
        v3_copy(pose, p->r);
        memcpy(pose + 3, p->quat, sizeof p->quat);
        v3_copy(u, p->P), v3_copy(u + 3, p->Pi);
        v3_copy(left, p->er);
        memcpy(left + 3, p->eq, sizeof p->eq);
        v3_copy(left + 7, p->eP), v3_copy(left + 10, p->ePi);
    }
    lwi_auxiliary_store(s->model, &d->auxiliary, s->q, x);
    lwi_rattle_store_massless(d, x + d->at_massless);
    const size_t bytes = (size_t)s->nrow * sizeof *x;
    if (!bytes) return;
    memcpy(x + d->at_lambda, d->lambda, bytes);
    memcpy(x + d->at_lambda + s->nrow, d->mu, bytes);
    memcpy(x + d->at_lambda + 2 * s->nrow, d->before, 2 * bytes);
}

// --------------------------------------------------------------------------------- rows and factors

// Notes the poses of the current rows; false: they have these already.
static bool note_poses(lwi_rattle *d, double t, bool end)
{
    bool same = d->factored && (d->at_time == t || !d->system.model->driven);
    for (int k = 0; k < d->system.model->nnode; k++) {
        const lwi_rattle_body *p = &d->body[k];
        double pose[7];
        v3_copy(pose, end ? p->r1 : p->r);
        memcpy(pose + 3, end ? p->quat1 : p->quat, 4 * sizeof *pose);
        same = same && !memcmp(d->at + 7 * k, pose, sizeof pose);
        memcpy(d->at + 7 * k, pose, sizeof pose);
    }
    d->at_time = t;
    return !same;
}

static lw_status factor_here(lwi_rattle *d, double t, lw_error *error)
{
    lwi_system *s = &d->system;
    d->factored = false;
    lwi_system_rows(s, t);
    TRY(lwi_system_factor(s, t, error));
    d->factored = true;
    return LW_OK;
}

lw_status lwi_rattle_factor(lwi_rattle *d, double t, lw_error *error)
{
    lwi_rattle_place(d, true);
    return note_poses(d, t, false) ? factor_here(d, t, error) : LW_OK;
}

// Rows of links between parts of bodies are constant; those that Newton's matrix has left out return.
static void leave_full(lwi_rattle *d)
{
    lwi_system *s = &d->system;
    if (!d->full) return;
    for (int at = 6 * s->plan.slot[s->nedge]; at < 6 * s->plan.slot[s->plan.graph.nedge]; at++)
        v6_copy(lwi_elim_J(s->elim)[at], d->J0[at]);
    d->full = false;
}

// ------------------------------------------------------------------------------------------- forces

double lwi_rattle_forces(lwi_rattle *d, double t, const double *inputs, bool end)
{
    lwi_system *s = &d->system;
    const lw_model *model = s->model;
    double power = 0;
    if (model->nforce) {
        lwi_system_forces(s, t, inputs);
        lwi_system_gather(s, t, &s->loads);
    }
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        lwi_rattle_body *p = &d->body[k];
        double *f = end ? p->f1 : p->f;
        v6_zero(f);
        if (model->nforce) {
            v3_copy(f, s->wrench[b]);
            m3_tmul_v(f + 3, end ? p->R1 : p->R, s->wrench[b] + 3);
        }
        v3_axpy(f, model->body[b].mass, model->gravity);
    }
    if (!model->nforce || d->at_work < 0) return 0;
    power = s->loads.power;
    for (int j = 0; j < model->njoint; j++)
        power += lwi_system_mount_power(s, j, t, s->loads.effort);
    return power;
}

// ------------------------------------------------------------------------------------------- a step

// The end of the step becomes the state.
static void take_end(lwi_rattle *d, double h)
{
    for (int k = 0; k < d->system.model->nnode; k++) {
        lwi_rattle_body *p = &d->body[k];
        for (int i = 0; i < 3; i++) {
            const double change = p->kick[i] + (0.5 * h * p->f1[i] + d->impulse[k][i]);
            p->P[i] = lwi_rattle_add(p->P[i], change, &p->eP[i]);
            const double turn = p->dPi[i] + (0.5 * h * p->f1[3 + i] + d->impulse[k][3 + i]);
            p->Pi[i] = lwi_rattle_add(p->Pi[i], turn, &p->ePi[i]);
        }
        v3_copy(p->r, p->r1), v3_copy(p->er, p->er1);
        memcpy(p->quat, p->quat1, sizeof p->quat), memcpy(p->eq, p->eq1, sizeof p->eq);
        memcpy(p->R, p->R1, sizeof p->R);
        lwi_rattle_put_velocity(d, k, p->P, p->Pi);
    }
    lwi_rattle_clear_momenta(d);
    for (int i = 0; i < d->system.nrow; i++) d->mu[i] *= 2 / h; // impulses so far
}

static lw_status check_momenta(const lwi_rattle *d, double t, lw_error *error)
{
    const lw_model *model = d->system.model;
    for (int k = 0; k < model->nnode; k++)
        for (int i = 0; i < 3; i++)
            if (!isfinite(d->body[k].P[i]) || !isfinite(d->body[k].Pi[i]))
                return lwi_fail(error, LW_ERR_NOT_FINITE,
                                "body '%s', t = %.9g s: its momentum is not a finite number",
                                model->body[model->node[k].body].name, t);
    return LW_OK;
}

// Power of drives and mounts by multipliers of rows J V = -b.
static double power_of(int n, const double *lambda, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum -= lambda[i] * b[i];
    return sum;
}

typedef struct carry_job {
    lwi_rattle *d;
    double t;
} carry_job;

static void carry_some(void *user, int first, int end)
{
    const carry_job *of = user;
    lwi_system_carry_coordinates(&of->d->system, &of->d->auxiliary, first, end, of->t);
}

// Coordinates of joints at the end of a step: all that forces depend on, or those of the state.
static void continue_joints(lwi_rattle *d, double t)
{
    carry_job of = {d, t};
    if (d->coordinates)
        lwi_system_read_joints(&d->system, t);
    else
        lwi_pool_for(d->system.pool, d->auxiliary.n, carry_some, &of);
}

// Multipliers from which Newton's iteration starts are not much larger than mu of the step before, which has minimum norm.
// Along rows that nearly depend on others they jump from step to step: extrapolated, they would move bodies so far that the iteration
// ends on another branch.  Of redundant rows, what does nothing at one position does something at the next, where increments that
// are orthogonal to it there make up for it: extrapolated, it grows to 10^6 times the others in some seconds.
#define MUCH_LARGER 2
static void limit_multipliers(lwi_rattle *d)
{
    const lwi_system *s = &d->system;
    double lambda = 0, mu = 0;
    for (int i = 0; i < s->nrow; i++)
        lambda += d->lambda[i] * d->lambda[i], mu += d->mu[i] * d->mu[i];
    if (!(lambda <= MUCH_LARGER * MUCH_LARGER * mu) && s->nrow && !s->transfer)
        memcpy(d->lambda, d->mu, (size_t)s->nrow * sizeof *d->mu);
}

// One step of length h, which may be negative, from d->body.
static lw_status step(lwi_work *work, double t, double end, double h, const double *inputs,
                      double *done)
{
    lwi_rattle *d = work->data;
    lwi_system *s = &d->system;
    double power1;
    const double power0 = lwi_rattle_forces(d, t, inputs, false); // s has the motion of d->body
    TRY(work->feedback.status);
    put_origins(d, false);
    TRY(lwi_rattle_factor(d, t, &work->error));
    if (d->at_work >= 0) memcpy(d->b0, s->b, (size_t)s->nrow * sizeof *d->b0);
    limit_multipliers(d);
    const lw_status status = lwi_rattle_newton(d, end, h, &work->error);
    leave_full(d);
    if (status != LW_OK) {
        d->factored = false;
        return status;
    }
    put_origins(d, true);
    for (int k = 0; k < s->model->nnode; k++) {
        lwi_rattle_put_local(&d->body[k], true);
        v3_copy(s->r[s->model->node[k].body], d->body[k].local);
    }
    if (d->coordinates) lwi_system_read_joints(s, end);
    note_poses(d, end, true);
    TRY(factor_here(d, end, &work->error));
    const lw_status kicked = lwi_rattle_end_kick(work, end, h, inputs, &power1);
    TRY(work->feedback.status);
    TRY(kicked);
    take_end(d, h);
    TRY(check_momenta(d, end, &work->error));
    lwi_rattle_place(d, false);
    lwi_system_place_merged(s);
    continue_joints(d, end);
    d->counts.steps++;
    if (d->at_work < 0) return LW_OK;
    power1 += power_of(s->nrow, d->mu, s->b);
    *done += 0.5 * h * (power0 + power_of(s->nrow, d->lambda, d->b0) + power1);
    return LW_OK;
}

// ------------------------------------------------------------------------------------ states of signals

// The states in x by h/2 at the present motion.  Half of them before a step of the mechanism, in which they rest, and half
// behind it: each part is its own inverse with -h, so the whole is, and has the order of the composition.
static void move_signals(lwi_work *work, double t, double h, double *x, const double *inputs)
{
    lwi_rattle *d = work->data;
    lwi_signals_at of = {work, &d->system, t, inputs};
    if (d->signals.n == 0) return;
    lwi_signal_steps_midpoint(&d->signals, 0.5 * h, x + work->layout.nx - d->signals.n,
                              lwi_system_signal_rates, &of);
    lwi_states_set(work, x, NULL);
}

// --------------------------------------------------------------------------------------- composition

enum { MAX_HALF = 8 };

// gamma_1 ... of the first half; the middle one is 1 - 2 sum.
typedef struct composition {
    int order, n;
    double gamma[MAX_HALF];
} composition;

static const composition *find_composition(int order)
{
    static const composition all[] = {
        {2, 0, {0}},
        {4, 2, {0.41449077179437573714, 0.41449077179437573714}},
        {6,
         4,
         {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
          0.08221359629355080023}},
        {8,
         8,
         {0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641,
          0.15884190665515560090, -0.39590389413323757734, 0.18453964097831570709,
          0.25837438768632204729, 0.29501172360931029887}},
    };
    for (int i = 0; i < LWI_COUNT(all); i++)
        if (all[i].order == order) return &all[i];
    return &all[0];
}

// lambda from which Newton starts: of equal steps extrapolated from the last three, else that of the last.
static void guess(lwi_rattle *d, const double *memory)
{
    const int n = d->system.nrow;
    const double *last = memory, *before = memory + 2 * n, *first = before + n;
    if (n) memcpy(d->mu, memory + n, (size_t)n * sizeof *d->mu);
    for (int i = 0; i < n; i++) {
        d->before[i] = last[i];
        d->before[n + i] = before[i];
        d->lambda[i] = d->order == 2 ? 3 * (last[i] - before[i]) + first[i] : last[i];
    }
}

lw_status lwi_rattle_step(lwi_work *work, double t, double h, double *x, const double *inputs)
{
    lwi_rattle *d = work->data;
    const composition *c = find_composition(d->order);
    double middle = 1, done = 0, at = 0;
    for (int i = 0; i < c->n; i++) middle -= 2 * c->gamma[i];
    lwi_states_set(work, x, NULL);
    lwi_rattle_load(d, t, x);
    guess(d, x + d->at_lambda);
    for (int i = 0; i < 2 * c->n + 1; i++) {
        const int mirrored = i < c->n ? i : 2 * c->n - i;
        const double part = i == c->n ? middle : c->gamma[mirrored];
        const double begin = t + at * h;
        at = i == 2 * c->n ? 1 : at + part;
        move_signals(work, begin, part * h, x, inputs);
        TRY(step(work, begin, t + at * h, part * h, inputs, &done));
        move_signals(work, t + at * h, part * h, x, inputs);
    }
    TRY(work->feedback.status);
    if (d->at_work >= 0) x[d->at_work] += done;
    store(d, x);
    return LW_OK;
}

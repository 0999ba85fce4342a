// state_derivatives.c -- derivatives of the dynamics at a state; of trees d vdot = -M^-1 dID, d vdot/d tau = M^-1.
#include "dynamics/state_derivatives.h"

#include "base/assert.h"
#include "base/differences.h"
#include "kinematics/displacement.h"

#include <math.h>
#include <string.h>

// Steps of the differences of forces: in rad or lengths of the mechanism, and of speeds relative to 1 + |v|.  The
// error of order six is some 1e-13 of a smooth force.
static const double STEP = 3e-3;
static const double AGREE = 1e-7, ROUND_OFF = 1e-12;
enum { SHORTER = 3 }; // steps of a tenth, at most

// -------------------------------------------------------------------------------------- forces

bool lwi_is_speed_of_tree(const lw_model *model, int iv)
{
    int j = model->njoint - 1;
    while (j >= 0 && model->joint[j].iv > iv) j--;
    while (j >= 0 && model->joint[j].type->nv == 0) j--;
    return j >= 0 && model->joint[j].node >= 0;
}

bool lwi_force_is_local(const lw_model *model, const lwi_force *force)
{
    const int iv = lwi_force_acts_on(force).iv;
    if (iv < 0 || !lwi_is_speed_of_tree(model, iv)) return false;
    if (force->type == &lwi_force_joint_stop || force->type == &lwi_force_joint_friction)
        return true;
    if (force->type != &lwi_force_joint_spring) return false;
    const lwi_joint_spring_par *p = force->par;
    return !lwi_function_of_state(model->desc.function, p->force) &&
           !lwi_function_of_state(model->desc.function, p->effort);
}

int lwi_tree_speed(const lw_model *model, int iv)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int j = 0; node->joint >= 0 && j < node->nv; j++)
            if (model->joint[node->joint].iv + node->column[j] == iv) return node->iv + j;
    }
    return -1;
}

// Are all forces springs and dampers of joints of the tree?
static lw_status find_springs(const lw_model *model, lwi_arena *arena, lwi_state_derivatives *d)
{
    int *speed = LWI_PUSH(arena, int, model->nforce);
    if (!speed) return LW_ERR_MEMORY;
    d->spring_speed = d->local ? speed : NULL;
    for (int i = 0; i < model->nforce && d->spring_speed; i++) {
        speed[i] = lwi_tree_speed(model, lwi_force_acts_on(&model->force[i]).iv);
        if (model->force[i].type != &lwi_force_joint_spring) d->spring_speed = NULL;
    }
    return LW_OK;
}

static lw_status create_rows(const lw_model *model, lwi_arena *arena, lwi_state_derivatives *d,
                             lw_error *error)
{
    d->closed = model->nloop + model->ncoupling > 0;
    if (!d->closed) return LW_OK;
    d->effort = LWI_PUSH(arena, double, model->tree_nv);
    if (!d->effort) return LW_ERR_MEMORY;
    TRY(lwi_cut_create_rows(model, arena, &d->cut));
    return lwi_cut_derivatives_create(model, &d->cut, arena, &d->rows, error);
}

lw_status lwi_state_derivatives_create(const lw_model *model, lwi_arena *arena,
                                       lwi_state_derivatives *d, lw_error *error)
{
    const size_t n = (size_t)model->tree_nv;
    *d = (lwi_state_derivatives){.local = true};
    TRY(lwi_tree_derivatives_create(model, arena, &d->tree, error));
    TRY(create_rows(model, arena, d, error));
    for (int i = 0; i < model->nforce; i++)
        d->local = d->local && lwi_force_is_local(model, &model->force[i]);
    TRY(find_springs(model, arena, d));
    TRY(lwi_force_derivatives_create(model, arena, &d->forces));
    d->q = LWI_PUSH(arena, double, model->tree_nq);
    d->v = LWI_PUSH(arena, double, n);
    d->plus = LWI_PUSH(arena, double, n);
    d->minus = LWI_PUSH(arena, double, n);
    d->M = LWI_PUSH(arena, double, n *n);
    d->tangent = LWI_PUSH(arena, lwi_law_tangent, model->nmode);
    if (!d->tangent) return LW_ERR_MEMORY;
    double **const column[] = {&d->six, &d->four, &d->size, &d->gap, &d->best};
    for (int i = 0; i < LWI_COUNT(column); i++)
        if (!(*column[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    return d->q && d->v && d->plus && d->minus && d->M ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_state_derivatives_add_signals(const lw_model *model, lwi_arena *arena,
                                            lwi_state_derivatives *d)
{
    const size_t n = (size_t)model->tree_nv, nz = (size_t)model->nstate;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&d->plus, n + nz},      {&d->minus, n + nz},
                  {&d->six, n + nz},       {&d->four, n + nz},
                  {&d->size, n + nz},      {&d->gap, n + nz},
                  {&d->best, n + nz},      {&d->z, nz},
                  {&d->zdot, nz},          {&d->force_by_z, n * nz},
                  {&d->rate_by_q, nz * n}, {&d->rate_by_v, nz * n},
                  {&d->rate_by_z, nz * nz}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count))) return LW_ERR_MEMORY;
    d->nz = model->nstate;
    return LW_OK;
}

// Coordinates of cut joints are those nearest to the start's; only forces that are not local and couplings read them.
static void place(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work, double t,
                  const double *q, const double *v)
{
    memcpy(work->joint_q, model->q0, (size_t)model->nq * sizeof *work->joint_q);
    if (d->local && model->ncoupling == 0)
        lwi_cut_place_tree(model, work, t, q, v);
    else
        lwi_cut_place(&d->cut, work, t, q, v);
}

static void evaluate_forces(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                            double t, const double *q, const double *v, const double *inputs)
{
    if (!d->closed) {
        if (model->driven || (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)))
            lwi_tree_evaluate(model, work, t, q, v, inputs);
        else // forces read joints alone
            lwi_tree_joint_loads(model, work, t, q, v, inputs);
        return;
    }
    place(model, d, work, t, q, v);
    lwi_cut_loads(&d->cut, work, t, v, inputs);
}

// Q of the forces that `work` has.
static void sum_forces(const lw_model *model, const lwi_state_derivatives *d, lwi_tree_work *work,
                       double *Q)
{
    memcpy(Q, work->effort, (size_t)model->tree_nv * sizeof *Q);
    if (!(model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)) && !d->closed) return;
    if (d->local) return;
    memcpy(work->F, work->wrench, (size_t)model->nnode * sizeof *work->F);
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        for (int j = 0; j < node->nv; j++)
            Q[node->iv + j] += v6_dot(work->link[k].S[j], work->F[k]);
        if (node->parent >= 0)
            force_add_from(work->F[node->parent], work->link[k].R, work->link[k].r, work->F[k]);
    }
}

void lwi_generalised_forces(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                            double t, const double *q, const double *v, const double *inputs,
                            double *Q)
{
    evaluate_forces(model, d, work, t, q, v, inputs);
    sum_forces(model, d, work, Q);
}

/** What a column of differences displaces: one speed, or all. */
enum { ALL = -1 };
typedef enum displaced { POSITION, SPEED, SIGNAL } displaced;

static bool displaces(int which, int i)
{
    return which == ALL || which == i;
}

// q := q + step along the speeds; `scratch` [tree_nv].
static void displace_q(const lw_model *model, const double *q, int which, double step,
                       double *scratch, double *out)
{
    memcpy(out, q, (size_t)model->tree_nq * sizeof *q);
    for (int i = 0; i < model->tree_nv; i++) scratch[i] = displaces(which, i) ? step : 0;
    lwi_displace(model, out, scratch);
}

static void displace_v(const lw_model *model, const double *v, int which, double step, double *out)
{
    for (int i = 0; i < model->tree_nv; i++) out[i] = v[i] + (displaces(which, i) ? step : 0);
}

/** A state and where its forces are evaluated. */
typedef struct difference {
    const lw_model *model;
    lwi_state_derivatives *d;
    lwi_tree_work *work;
    double t;
    const double *q, *v, *inputs;
} difference;

// out [tree_nv + nz] := Q, and the rates of the states of signals, at a displaced state.
static void evaluate_at(const difference *of, displaced what, int which, double h, double *out)
{
    lwi_state_derivatives *d = of->d;
    const lwi_states *own = of->work->states, moved = {d->z, d->zdot};
    if (d->nz > 0) {
        memcpy(d->z, own->value, (size_t)d->nz * sizeof *d->z);
        if (what == SIGNAL) d->z[which] += h;
        of->work->states = &moved;
    }
    if (what == SPEED) displace_v(of->model, of->v, which, h, d->v);
    if (what == POSITION) displace_q(of->model, of->q, which, h, d->v, d->q);
    lwi_generalised_forces(of->model, d, of->work, of->t, what == POSITION ? d->q : of->q,
                           what == SPEED ? d->v : of->v, of->inputs, out);
    if (d->nz > 0) memcpy(out + of->model->tree_nv, d->zdot, (size_t)d->nz * sizeof *out);
    of->work->states = own;
}

// d->six, d->four [tree_nv + nz] := derivatives of Q and of rates by speed `which` of q, v or by a state of a signal, of ALL
// each component by its own coordinate, by differences of orders six and four; d->size: the largest values.
static void difference_of(const difference *of, displaced what, int which, double step)
{
    lwi_state_derivatives *d = of->d;
    const size_t n = (size_t)(of->model->tree_nv + d->nz);
    memset(d->six, 0, n * sizeof *d->six);
    memset(d->four, 0, n * sizeof *d->four);
    memset(d->size, 0, n * sizeof *d->size);
    for (int far = 0; far < LWI_DIFFERENCE_SIDES; far++) {
        for (int side = 1; side >= -1; side -= 2)
            evaluate_at(of, what, which, side * (far + 1) * step, side > 0 ? d->plus : d->minus);
        for (size_t i = 0; i < n; i++) {
            const double change = (d->plus[i] - d->minus[i]) / step;
            d->six[i] += lwi_difference_weight[far] * change;
            d->four[i] += lwi_difference_fourth[far] * change;
            d->size[i] = fmax(d->size[i], fmax(fabs(d->plus[i]), fabs(d->minus[i])));
        }
    }
}

// By how much both orders differ in components first to end - 1, relative to the largest; 0: they agree.
static double disagreement(const lwi_state_derivatives *d, int first, int end, double step)
{
    double apart = 0, largest = 0, size = 0;
    for (int i = first; i < end; i++) {
        apart = fmax(apart, fabs(d->six[i] - d->four[i]));
        largest = fmax(largest, fabs(d->six[i]));
        size = fmax(size, d->size[i]);
    }
    return apart <= AGREE * largest + ROUND_OFF * size / step ? 0 : apart / largest;
}

// d->best: the derivatives of Q and of rates; of ALL, each component by its own coordinate.  Where the orders disagree, as
// near corners and with friction at small speeds, shorter steps follow.  Components of Q are checked together.
static void find_best(const difference *of, displaced what, int which, double step)
{
    lwi_state_derivatives *d = of->d;
    const int nv = of->model->tree_nv, n = nv + d->nz;
    double worst = INFINITY;
    for (int i = 0; i < n; i++) d->gap[i] = INFINITY, d->best[i] = 0;
    for (int shorter = 0; worst > 0 && shorter <= SHORTER; shorter++, step /= 10) {
        difference_of(of, what, which, step);
        const double all = disagreement(d, 0, nv, step);
        worst = 0;
        for (int i = 0; i < n; i++) {
            const double own = which == ALL || i >= nv ? disagreement(d, i, i + 1, step) : all;
            if (own < d->gap[i]) d->gap[i] = own, d->best[i] = d->six[i];
            worst = fmax(worst, d->gap[i]);
        }
    }
}

// matrix -= dQ by q or v, `rates` [nz][tree_nv] := the column of the rates.
static void add_difference(const difference *of, displaced what, int which, double step,
                           double *matrix, double *rates)
{
    const lwi_state_derivatives *d = of->d;
    const size_t n = (size_t)of->model->tree_nv;
    find_best(of, what, which, step);
    for (size_t i = 0; i < n; i++) matrix[i * n + (which == ALL ? i : (size_t)which)] -= d->best[i];
    for (size_t i = 0; rates && i < (size_t)d->nz; i++)
        rates[i * n + (size_t)which] = d->best[n + i];
}

static void find_signal_columns(const difference *of)
{
    lwi_state_derivatives *d = of->d;
    const size_t n = (size_t)of->model->tree_nv, nz = (size_t)d->nz;
    for (size_t k = 0; k < nz; k++) {
        find_best(of, SIGNAL, (int)k, STEP * (1 + fabs(of->work->states->value[k])));
        for (size_t i = 0; i < n; i++) d->force_by_z[i * nz + k] = d->best[i];
        for (size_t i = 0; i < nz; i++) d->rate_by_z[i * nz + k] = d->best[n + i];
    }
}

static double step_of_speeds(const double *v, int first, int end)
{
    double largest = 0;
    for (int i = first; i < end; i++) largest = fmax(largest, fabs(v[i]));
    return STEP * (1 + largest);
}

static void subtract_springs(const lw_model *model, const int *speed, double *by_q, double *by_v)
{
    for (int i = 0; i < model->nforce; i++) {
        const lwi_joint_spring_par *p = model->force[i].par;
        if (speed[i] < 0) continue;
        const size_t at = (size_t)speed[i] * (size_t)(model->tree_nv + 1);
        if (p->iq >= 0) by_q[at] += p->stiffness;
        by_v[at] += p->damping;
    }
}

void lwi_law_tangents(const lw_model *model, const lwi_kin *kin, const lwi_law_tangent *at,
                      lwi_law_tangent *tangent)
{
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes || !modes->measure) continue;
        const int k = modes->index(f->par);
        double x, rate;
        if (at)
            x = at[k].x, rate = at[k].rate;
        else
            modes->measure(f->par, kin, &x, &rate);
        modes->tangent(f->par, kin->mode[k], x, rate, &tangent[k]);
    }
}

// Laws become their tangents at the state.
static void set_tangents(const difference *of)
{
    lwi_tree_work *work = of->work;
    if (of->model->nmode == 0 || !work->mode || !*work->mode) return;
    evaluate_forces(of->model, of->d, work, of->t, of->q, of->v, of->inputs);
    const lwi_kin kin = lwi_tree_kin(work);
    lwi_law_tangents(of->model, &kin, NULL, of->d->tangent);
    work->tangent = of->d->tangent;
}

// Are all forces local but contacts that are open?
static bool local_here(const difference *of)
{
    const lw_model *model = of->model;
    if (of->d->local) return true;
    bool local = of->work->tangent && of->d->nz == 0;
    for (int i = 0; local && i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (lwi_force_is_local(model, f)) continue;
        local = modes && modes->measure;
        if (!local) break;
        const lwi_law_tangent *t = &of->work->tangent[modes->index(f->par)];
        local = t->f == 0 && t->by_x == 0 && t->by_rate == 0;
    }
    return local;
}

// Are derivatives of all forces known?  Laws with modes are smooth while these are given; else differences give a mean over
// the corner, as of signals with corners.
static bool exact_here(const difference *of)
{
    const bool modes = of->work->mode && *of->work->mode;
    return of->d->forces.exact && (of->model->nmode == 0 || modes) &&
           (!of->d->forces.kinked || of->d->along_run) && of->d->nz == of->model->nstate;
}

static void subtract_exact(const difference *of, double *by_q, double *by_v)
{
    lwi_state_derivatives *d = of->d;
    const lwi_force_sums to = {by_q, by_v, d->force_by_z, d->rate_by_q, d->rate_by_v, d->rate_by_z};
    evaluate_forces(of->model, d, of->work, of->t, of->q, of->v, of->inputs);
    lwi_force_derivatives_subtract(of->model, &d->forces, &d->tree, of->work, of->t, of->q,
                                   of->inputs, d->nz, &to);
}

static void subtract_forces(const difference *of, double *by_q, double *by_v)
{
    const int n = of->model->tree_nv;
    const double step = STEP * fmin(1, of->model->length);
    if (of->d->spring_speed) {
        subtract_springs(of->model, of->d->spring_speed, by_q, by_v);
        return;
    }
    if (exact_here(of)) {
        subtract_exact(of, by_q, by_v);
        return;
    }
    if (local_here(of)) {
        add_difference(of, POSITION, ALL, step, by_q, NULL);
        add_difference(of, SPEED, ALL, step_of_speeds(of->v, 0, n), by_v, NULL);
        return;
    }
    for (int i = 0; i < n; i++) {
        add_difference(of, POSITION, i, step, by_q, of->d->rate_by_q);
        add_difference(of, SPEED, i, step_of_speeds(of->v, i, i + 1), by_v, of->d->rate_by_v);
    }
    find_signal_columns(of);
}

// ------------------------------------------------------------------------------------- derivatives

// M vdot + h less the forces of the model, and the rows.
static void add_rows(const lw_model *model, lwi_state_derivatives *d, const lwi_tree_work *work,
                     double t, const double *vdot, double *by_q, double *by_v, double *M)
{
    const lwi_screws *s = &d->tree.screws;
    for (int i = 0; i < model->tree_nv; i++)
        d->effort[i] = v6_dot(s->S[i], d->tree.subtree[s->screw[s->of_speed[i]].node].f) +
                       model->tree_rotor[i] * vdot[i];
    lwi_cut_derivatives_evaluate(model, &d->rows, &d->tree, work, t);
    lwi_cut_derivatives_rotors(&d->rows, &d->tree, by_q, by_v, M, d->effort);
}

void lwi_inertial_derivatives(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                              double t, const double *q, const double *v, const double *vdot,
                              double *by_q, double *by_v, double *M)
{
    if (d->closed) {
        place(model, d, work, t, q, v);
    } else {
        lwi_tree_position(model, t, q, work->link);
        lwi_tree_rates(model, t, v, work->link);
        lwi_tree_world(model, work->link, work->R, work->r);
    }
    lwi_tree_inertial_derivatives(model, &d->tree, work, t, v, vdot, by_q, by_v, M);
    if (d->closed) add_rows(model, d, work, t, vdot, by_q, by_v, M);
}

void lwi_inverse_derivatives(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                             double t, const double *q, const double *v, const double *vdot,
                             const double *inputs, double *by_q, double *by_v, double *M)
{
    lwi_inertial_derivatives(model, d, work, t, q, v, vdot, by_q, by_v, M);
    if (model->nforce == 0 || (model->tree_nv == 0 && d->nz == 0)) return;
    const difference of = {model, d, work, t, q, v, inputs};
    set_tangents(&of);
    subtract_forces(&of, by_q, by_v);
    work->tangent = NULL;
    if (!d->closed) return;
    if (d->spring_speed) // nothing was displaced
        lwi_cut_loads(&d->cut, work, t, v, inputs);
    else if (!exact_here(&of)) // else they are there
        evaluate_forces(model, d, work, t, q, v, inputs);
    sum_forces(model, d, work, d->plus);
    for (int i = 0; i < model->tree_nv; i++) d->effort[i] -= d->plus[i];
}

// Are there no forces but springs and dampers of joints of the tree?
static bool springs_alone(const lw_model *model, const lwi_state_derivatives *d)
{
    return model->nforce == 0 || (d->spring_speed && d->nz == 0);
}

bool lwi_inverse_has_products(const lw_model *model, const lwi_state_derivatives *d,
                              const lwi_tree_work *work)
{
    const difference of = {.model = model,
                           .d = (lwi_state_derivatives *)(uintptr_t)d,
                           .work = (lwi_tree_work *)(uintptr_t)work};
    return !d->closed && (springs_alone(model, d) || exact_here(&of));
}

void lwi_inverse_products_begin(const lw_model *model, lwi_state_derivatives *d,
                                lwi_tree_work *work, double t, const double *q, const double *v,
                                const double *vdot, const double *inputs)
{
    const difference of = {model, d, work, t, q, v, inputs};
    if (springs_alone(model, d)) { // they read coordinates of links alone
        lwi_tree_position(model, t, q, work->link);
        lwi_tree_rates(model, t, v, work->link);
    } else {
        set_tangents(&of);
        work->tangent = NULL;
        lwi_tree_motion(model, work, t, q, v);
    }
    lwi_tree_world(model, work->link, work->R, work->r);
    lwi_tree_inertial_begin(model, &d->tree, work, t, v, vdot);
}

static void add_spring_products(const lw_model *model, const int *speed, const double *u,
                                double *by_q, double *by_v)
{
    for (int i = 0; i < model->nforce; i++) {
        const lwi_joint_spring_par *p = model->force[i].par;
        if (speed[i] < 0) continue;
        if (p->iq >= 0) by_q[speed[i]] += p->stiffness * u[speed[i]];
        by_v[speed[i]] += p->damping * u[speed[i]];
    }
}

void lwi_inverse_products(const lw_model *model, lwi_state_derivatives *d, lwi_tree_work *work,
                          double t, const double *q, const double *inputs,
                          const lwi_force_rows *rows, double *by_q, double *by_v, double *by_z)
{
    const size_t n = (size_t)model->tree_nv;
    lwi_tree_inertial_products(model, &d->tree, rows->u, by_q, by_v);
    if (d->nz) memset(by_z, 0, (size_t)d->nz * sizeof *by_z);
    if (springs_alone(model, d)) {
        add_spring_products(model, d->spring_speed, rows->u, by_q, by_v);
        return;
    }
    for (size_t i = 0; i < n; i++) by_q[i] = -by_q[i], by_v[i] = -by_v[i];
    if (model->nmode && work->mode && *work->mode) work->tangent = d->tangent;
    lwi_force_products_add(model, &d->forces, &d->tree, work, t, q, inputs, rows, by_q, by_v, by_z);
    work->tangent = NULL;
    for (size_t i = 0; i < n; i++) by_q[i] = -by_q[i], by_v[i] = -by_v[i];
    for (int i = 0; i < d->nz; i++) by_z[i] = -by_z[i];
}

static lw_status no_inertia(const lw_model *model, int speed, double t, lw_error *error)
{
    const lwi_node *node = model->node;
    while (speed < node->iv || speed >= node->iv + node->nv) node++;
    return lwi_fail(error, LW_ERR_SINGULAR, "%s '%s': nothing resists its speed %d at t = %.9g s",
                    node->joint < 0 ? "floating body" : "joint",
                    node->joint < 0 ? model->body[node->body].name : model->joint[node->joint].name,
                    speed - node->iv, t);
}

lw_status lwi_forward_derivatives(const lw_model *model, lwi_state_derivatives *d,
                                  lwi_tree_work *work, double t, const double *q, const double *v,
                                  const double *vdot, const double *inputs, double *by_q,
                                  double *by_v, double *by_tau, lw_error *error)
{
    const int n = model->tree_nv;
    double *M = lwi_tree_factors_mass(&d->tree) ? d->M : NULL;
    lwi_inverse_derivatives(model, d, work, t, q, v, vdot, inputs, by_q, by_v, M);
    const int bad = lwi_tree_factor_mass(model, &d->tree, M);
    if (bad >= 0) return no_inertia(model, bad, t, error);
    lwi_tree_solve_mass(&d->tree, n, M, by_q, by_v, by_tau);
    return LW_OK;
}

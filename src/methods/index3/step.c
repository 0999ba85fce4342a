// step.c -- one step of the index-3 formulation.  Numbers (n) are those of [malczyk2019];
// docs/theory/index3.md has the differences.
//
// Trapezoidal rule (15)-(16) with the positions at the end of the step as unknowns, bars for its beginning;
// here for six coordinates, the rotation vector theta in place of Euler parameters:
//     v = 2/h (r - rbar) - vbar,            a = 4/h^2 (r - rbar) - 4/h vbar - abar
//     R = Rbar exp(theta~),   w' = 2/h theta - wbar',   dw' = 4/h^2 theta - 4/h wbar' - dwbar'
// (primes: body axes).  Newton for the equations of motion (12)-(14), (17)-(18) and the joints (1) at the
// end,
//     M a - Q - J' lambda = 0,   phi = 0,
// with eta = h^2/4 and K = eta (M + eta stiffness)^-1, linearised (19)-(20), (34), is the problem of the
// elimination:
//     x = K (Q + J' lambda - M a + J' dlambda),   J x = -phi - eps dlambda
// eps = 1/alpha of (34)-(35) is relative to the size of the rows: redundant rows and singular positions never
// fail, and because dlambda goes to zero eps does not change the solution.
//
// Rows that make points coincide follow frame F1.  Their forces are kept in world axes between iterations:
// they then do not rotate with the bodies, and Newton has their complete derivative.
//
// Then the velocities are projected onto J v + b = 0 (40)-(54), and the accelerations onto J a + gamma = 0
// (55)-(69), by the change of minimum kinetic energy (project.c).
// Cost: O(n) for each iteration and projection.
#include "methods/index3/lanes.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// ----------------------------------------------------------------------- multipliers in world axes

int lwi_index3_body_of_edge(const lwi_index3 *d, int e, int node)
{
    const lwi_system *s = &d->system;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    LWI_ASSERT(edge->n >= 1);
    return lwi_system_node_of(s, edge->body[0]) == node ? 0 : 1;
}

// Rows of edge e, a joint's, on the second body, or (`*sign` < 0) those on the first.
static const double (*rows_of(const lwi_index3 *d, int e, double *sign))[6]
{
    const lwi_system *s = &d->system;
    const int j = s->edge_joint[e], slot = s->plan.slot[e];
    LWI_ASSERT_INDEX(e, s->nedge);
    LWI_ASSERT(j >= 0);
    const lwi_joint *joint = &s->model->joint[j];
    const bool second = joint->body2 != 0;
    const int body = s->model->body_node[second ? joint->body2 : joint->body1];
    const int i = lwi_index3_body_of_edge(d, e, body);
    *sign = second ? 1 : -1;
    return (const double(*)[6])lwi_elim_J(s->elim) + 6 * (slot + i);
}

void lwi_index3_row_wrench(const lwi_index3 *d, int e, int k, double w[6])
{
    double sign;
    const double *J = rows_of(d, e, &sign)[k];
    for (int c = 0; c < 6; c++) w[c] = sign * J[c];
}

static void convert_points(lwi_index3 *d, const double *from, double *to, bool hold)
{
    const lwi_system *s = &d->system;
    memmove(to, from, (size_t)s->nrow * sizeof *to);
    for (int e = 0; e < s->nedge; e++) {
        if (!d->points[e]) continue;
        const int row = s->plan.row[e];
        double sign, sum[3] = {0, 0, 0};
        const double(*f)[6] = rows_of(d, e, &sign);
        for (int k = 0; k < 3; k++) {
            if (hold)
                v3_axpy(sum, from[row + k], f[k]);
            else
                sum[k] = v3_dot(f[k], from + row);
        }
        v3_scale(to + row, sign, sum);
    }
}

void lwi_index3_multipliers_to_world(lwi_index3 *d, const double *rows, double *held)
{
    convert_points(d, rows, held, true);
}

void lwi_index3_multipliers_from_world(lwi_index3 *d, const double *held, double *rows)
{
    convert_points(d, held, rows, false);
}

// ------------------------------------------------------------------------------------------ motion

// R = exp(theta~)
static void exponential(double R[9], const double theta[3])
{
    const double angle = v3_norm(theta);
    double axis[3] = {1, 0, 0};
    if (angle > 0) v3_scale(axis, 1 / angle, theta);
    rot_axis(R, axis, angle);
}

// theta += T^-1(theta) dtheta,  T^-1 = 1 + theta~/2 + c theta~^2
static void add_rotation(double theta[3], const double dtheta[3])
{
    const double c = rotation_vector_factor(theta);
    double once[3], twice[3];
    v3_cross(once, theta, dtheta);
    v3_cross(twice, theta, once);
    for (int i = 0; i < 3; i++) theta[i] += dtheta[i] + 0.5 * once[i] + c * twice[i];
}

// Velocities and accelerations at the end from the positions and rotation vectors: the difference equations
// (15)-(16), step 3b of the listing.
static void move(lwi_index3 *d, double h)
{
    LWI_ASSERT(h > 0);
    lwi_system *s = &d->system;
    const double one = 2 / h, two = 4 / (h * h);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        for (int i = 0; i < 3; i++) {
            const double dr = s->r[b][i] - p->r[i];
            p->vn[i] = one * dr - p->v[i];
            p->an[i] = two * dr - 2 * one * p->v[i] - p->a[i];
            p->wn[i] = one * p->theta[i] - p->w[i];
            p->aln[i] = two * p->theta[i] - 2 * one * p->w[i] - p->al[i];
        }
        if (d->euler) {
            lwi_index3_euler_move(d, k, h);
        } else {
            double E[9];
            exponential(E, p->theta);
            m3_mul(s->R[b], p->R, E);
        }
        v3_copy(s->v[b], p->vn);
        m3_mul_v(s->w[b], s->R[b], p->wn);
    }
    lwi_system_place_merged(s);
}

static void predict(lwi_index3 *d, double h)
{
    lwi_system *s = &d->system;
    if (d->euler) lwi_index3_euler_predict(d, h);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        for (int i = 0; i < 3; i++) {
            s->r[b][i] = p->r[i] + h * (p->v[i] + 0.5 * h * p->a[i]);
            p->theta[i] = h * (p->w[i] + 0.5 * h * p->al[i]);
        }
    }
}

// ---------------------------------------------------------------------------------------- matrix

lw_status lwi_index3_factor(lwi_index3 *d, double t, double eta, bool symmetric, lw_error *error)
{
    LWI_ASSERT(eta > 0);
    lwi_system *s = &d->system;
    if (s->transfer && s->transfer->loose >= 0)
        return lwi_transfer_fails(s, t, LW_ERR_SINGULAR, error);
    lwi_index3_multiply(d);
    if (s->nrow == 0) return LW_OK;
    lwi_index3_regularise(d, eta);
    const lw_status status =
        symmetric ? lwi_elim_factor(s->elim, d->eps) : lwi_elim_factor_unsymmetric(s->elim, d->eps);
    return status == LW_OK ? LW_OK : lwi_system_fails(s, t, status, error);
}

// x := K x, the bias terms of the bodies (27); then the vector pass for J x = c - eps lambda (28)-(33), (35).
static void solve(lwi_index3 *d, double h)
{
    lwi_system *s = &d->system;
    const double unit = 4 / (h * h);
    if (s->transfer)
        lwi_index3_apply_borrowed(d, unit, s->c, s->x);
    else
        lwi_index3_apply(d, s->x);
    if (s->nrow) lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    if (s->transfer) lwi_transfer_multipliers(s, unit, NULL, (const double(*)[6])s->x, s->lambda);
}

// ------------------------------------------------------------------------------------------ Newton

// Residual x := Q - M a + J' lambda at the current motion: -g of (12)-(14), with the active forces of (8) in
// six coordinates.
static void residual(lwi_index3 *d, double t, double h, const double *inputs, const double *lambda)
{
    lwi_system *s = &d->system;
    lwi_system_forces(s, t, inputs);
    lwi_system_applied(s, t, &s->loads, s->x);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const lwi_body *body = &s->model->body[b];
        double L[3], n[3];
        s3_mul_v(L, body->inertia, d->body[k].aln);
        m3_mul_v(n, s->R[b], L);
        v3_axpy(s->x[k], -body->mass, d->body[k].an);
        v3_sub(s->x[k] + 3, s->x[k] + 3, n);
    }
    if (d->euler) lwi_index3_euler_residual(d, h);
    lwi_index3_rotor_residual(d, t);
    for (int k = s->nbody - s->split.npart; k < s->nbody; k++) v6_zero(s->x[k]);
    lwi_system_add_wrenches(s, 1, lambda, s->x);
    lwi_system_gather_parts(s, s->x);
}

// Newton's rows of points (14): the gap in world axes, each body loaded at its own point,
//     J x = dr2 + dt2 x s2 - dr1 - dt1 x s1,
// so that all have their complete derivative.  Those of the closure follow frame F1 and load body 1 at body
// 2's point: if the points are apart, as predicted ones are, torques are off by gap x force, and next to
// singular positions the branch by gap x rotation over the distance.
void lwi_index3_own_points(lwi_index3 *d, int e)
{
    lwi_system *s = &d->system;
    const int j = s->edge_joint[e];
    if (!d->points[e] || !s->model->joint[j].body1) return;
    const int body1 = s->model->body_node[s->model->joint[j].body1];
    const int i = lwi_index3_body_of_edge(d, e, body1);
    double(*J)[6] = lwi_elim_J(s->elim) + 6 * (s->plan.slot[e] + i);
    double gap[3] = {0, 0, 0}, back[3]; // J of body 1: -f, and f is orthonormal
    for (int k = 0; k < 3; k++) v3_axpy(gap, -s->phi[s->plan.row[e] + k], J[k]);
    for (int k = 0; k < 3; k++) {
        v3_scale(back, -1, J[k]);
        v3_cross_add(J[k] + 3, gap, back);
    }
}

// The larger of two squares, NaN if one of them is.
static double larger(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

// One iteration of Newton, step 3 of the listing: (19)-(20), (24)-(27), (34)-(39); *size: largest increment of a
// body, rotations times its reach.
static lw_status iterate(lwi_index3 *d, double t, double h, const double *inputs, bool first,
                         double *size, lw_error *error)
{
    lwi_system *s = &d->system;
    double *lambda = d->row, square = 0;
    if (d->coordinates) lwi_system_read_joints(s, t);
    lwi_system_rows(s, t);
    for (int e = 0; e < s->nedge; e++) lwi_index3_own_points(d, e);
    if (d->euler) lwi_index3_euler_rows(d);
    lwi_index3_multipliers_from_world(d, d->lambda, lambda);
    residual(d, t, h, inputs, lambda);
    TRY(d->system.feedback->status);
    if (d->method.tangent)
        lwi_index3_force_rows(d, t, h, inputs);
    else
        lwi_index3_no_force_rows(d);
    lwi_index3_rotor_rows(d, t, h);
    if (first || !d->method.newton) {
        if (d->method.tangent) lwi_index3_stiffnesses(d, t, inputs, lambda);
        lwi_index3_leaves(d, h);
        TRY(lwi_index3_factor(d, t, 1, d->method.tangent < 2, error));
        TRY(lwi_index3_feedback_columns(d, t, h, inputs, solve));
    }
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->phi[i];
    const double began = lwi_clock();
    solve(d, h);
    lwi_index3_feedback_correct(d, t, h);
    d->times.solve += lwi_clock() - began;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double theta[3];
        v3_add(s->r[b], s->r[b], s->x[k]);
        m3_tmul_v(theta, s->R[b], s->x[k] + 3);
        if (d->euler)
            lwi_index3_euler_update(d, k, h);
        else
            add_rotation(d->body[k].theta, theta);
        square = larger(square, v3_dot(s->x[k], s->x[k]) +
                                    d->reach[k] * d->reach[k] * v3_dot(theta, theta));
    }
    if (d->method.stop) { // forces as displacements of the lightest body
        const double unit = 0.25 * h * h / d->mass;
        for (int i = 0; i < s->nrow; i++)
            square = larger(square, unit * unit * s->lambda[i] * s->lambda[i]);
    }
    // forces of couplers are in the next residual
    for (int i = 0; i < d->first_compliance; i++) lambda[i] += s->lambda[i];
    lwi_index3_multipliers_to_world(d, lambda, d->lambda);
    *size = sqrt(square);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- step

static void begin(lwi_index3 *d, const double *x)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        const double *u = x + d->at_speed + 6 * k;
        const double *a = x + d->at_acceleration + d->nmemory * k;
        v3_copy(p->r, s->r[b]);
        memcpy(p->R, s->R[b], sizeof p->R);
        v3_copy(p->v, u), v3_copy(p->w, u + 3);
        v3_copy(p->a, a), v3_copy(p->al, a + 3);
    }
    memcpy(d->lambda, x + d->at_lambda, (size_t)s->nrow * sizeof *d->lambda);
    d->start = x + d->at_lambda;
    lwi_index3_friction_begins(d);
    if (d->euler) lwi_index3_euler_begin(d, x);
}

// Multipliers that the next step starts from, and those for observations.
static void put_multipliers(lwi_index3 *d, double *x)
{
    const lwi_system *s = &d->system;
    double *held = x + d->at_lambda, *corrected = d->impulse;
    lwi_index3_multipliers_to_world(d, s->lambda, corrected);
    for (int i = d->first_compliance; i < s->nrow; i++) corrected[i] = 0; // no constraints
    if (d->at_output >= 0) {
        const bool newton = d->method.output == LW_INDEX3_OUTPUT_NEWTON;
        memcpy(x + d->at_output, newton ? d->lambda : corrected, (size_t)s->nrow * sizeof *x);
    }
    memcpy(held, d->lambda, (size_t)s->nrow * sizeof *x);
    for (int e = 0; e < s->nedge - d->ncoupler; e++)
        if (d->follows[e])
            memcpy(held + s->plan.row[e], corrected + s->plan.row[e],
                   (size_t)s->plan.graph.edge[e].rows * sizeof *x);
}

// State at the end; quaternions keep their sign.
static void finish(lwi_index3 *d, double t, double h, double *x)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double *pose = x + 7 * k, *u = x + d->at_speed + 6 * k;
        double *a = x + d->at_acceleration + d->nmemory * k, quat[4];
        v3_copy(pose, s->r[b]);
        v3_copy(a, s->x[k]);
        v3_copy(u, s->v[b]);
        m3_tmul_v(u + 3, s->R[b], s->w[b]);
        if (d->euler) {
            lwi_index3_euler_finish(d, k, x);
            continue;
        }
        m3_tmul_v(a + 3, s->R[b], s->x[k] + 3);
        quat_from_matrix(quat, s->R[b]);
        quat_continue(quat, pose + 3);
        memcpy(pose + 3, quat, sizeof quat);
    }
    put_multipliers(d, x);
    if (d->auxiliary.n) lwi_system_read_joints(s, t);
    lwi_auxiliary_store(s->model, &d->auxiliary, s->q, x);
    if (d->at_work < 0) return;
    lwi_index3_rotor_loads(d, t);
    const double power = s->loads.power + lwi_system_drive_power(s, t);
    x[d->at_work] += 0.5 * h * (x[d->at_work + 1] + power);
    x[d->at_work + 1] = power;
}

// A larger increment, as a share of the mechanism's length, is no solution.
#define ASTRAY 1e-3
// One above the whole length, or a multiple of it, is no motion of the mechanism.
#define LOST 1.0
// Smaller ones are round-off.
#define ROUND_OFF 1e-9

// Largest increment of the first iteration, the one before the last, and the last.
typedef struct increments {
    double first, previous, last;
} increments;

static void add(increments *n, int i, double size)
{
    if (i == 0) n->first = size;
    n->previous = n->last, n->last = size;
}

// All iterations are done in every step: there is no tolerance.
static bool has_fixed_work(const lwi_index3 *d)
{
    return !(d->method.tolerance > 0);
}

// Without the derivatives of inputs that follow from the motion in Newton's matrix, increments fall by a factor only.
enum { FEEDBACK_ITERATIONS = 10 };

static int max_iterations(const lwi_index3 *d)
{
    const bool more = d->system.feedback->apply && !has_fixed_work(d);
    return d->method.iterations * (more ? FEEDBACK_ITERATIONS : 1);
}

static bool grows(const lwi_index3 *d, const increments *n)
{
    return n->last > n->first && n->last > ROUND_OFF * d->system.length;
}

static bool is_large(const lwi_index3 *d, const increments *n)
{
    return n->last > ASTRAY * d->system.length;
}

// Is the last increment of iteration i none that a step may end with?  With fixed work, which passes over single steps
// that are hard, only if it is large and grows, or is larger than the mechanism.
static bool diverges(const lwi_index3 *d, int i, const increments *n)
{
    if (n->last > LOST * d->system.length) return true;
    const bool g = grows(d, n), large = is_large(d, n);
    return i > 0 && (has_fixed_work(d) ? g && large : g || large);
}

// Fails if increments are not finite, or if the step diverges in its last iteration.
static lw_status check(lwi_work *work, double t, double h, int i, const increments *n)
{
    const lwi_index3 *d = work->data;
    const bool last = i + 1 == max_iterations(d) && n->last > d->method.tolerance;
    char where[300];
    int node, edge;
    if (isfinite(n->last) && !(last && diverges(d, i, n))) return LW_OK;
    lwi_index3_worst(d, &node, &edge);
    lwi_index3_describe_worst(d, node, edge, where, sizeof where);
    return lwi_fail(
        &work->error, isfinite(n->last) ? LW_ERR_INTEGRATOR : LW_ERR_NOT_FINITE,
        "t = %.9g s: Newton's iteration number %d in a step of %.3g s diverges (%.1e m, the "
        "first %.1e m): %s; a smaller step helps, or more iterations%s",
        t, i + 1, h, n->last, n->first, where,
        d->method.projection ? "" : "; without a projection the rule is unstable");
}

// Increments that contract by c in each iteration are followed by others, c / (1 - c) of the last one together
// [hairer1996, IV.8].  The increment of a single iteration is the error of the prediction, not of the result.
static bool is_unreliable(const lwi_index3 *d, const increments *n)
{
    const double contraction = n->last / n->previous, length = d->system.length;
    if (!is_large(d, n) || d->method.iterations == 1) return false;
    return !(contraction < 1) || n->last * contraction > ASTRAY * length * (1 - contraction);
}

// With fixed work, steps that end with a large remaining error or with an increment larger than the first did not
// converge.
static bool converged(const lwi_index3 *d, const increments *n)
{
    if (!has_fixed_work(d)) return n->last < d->method.tolerance;
    return !is_unreliable(d, n) && !grows(d, n);
}

static void count(lwi_work *work, double t, double h, int iterations, const increments *i)
{
    lwi_index3 *d = work->data;
    LWI_ASSERT(iterations >= 0 && iterations <= max_iterations(d));
    lwi_index3_counts *n = &d->counts;
    n->steps++;
    n->iterations += iterations;
    if (converged(d, i)) return;
    n->unconverged++;
    if (is_unreliable(d, i)) work->valid_until = fmin(work->valid_until, t - h);
    if (i->last <= n->size) return;
    n->size = i->last, n->t = t;
    lwi_index3_worst(d, &n->body, &n->edge);
}

// ---- states of signals, by the same rule, in the iterations of the mechanism

// The states at the beginning and a prediction of those at the end, which the forces read from here on.
static void begin_signals(lwi_work *work, double t, double h, const double *x, const double *inputs)
{
    lwi_index3 *d = work->data;
    lwi_signal_steps *c = &d->signals;
    lwi_signals_at of = {work, &d->system, t, inputs};
    if (c->n == 0) return;
    memcpy(c->c0, x + work->layout.nx - c->n, (size_t)c->n * sizeof *x);
    memcpy(c->c, c->c0, (size_t)c->n * sizeof *x);
    lwi_system_signal_rates(&of, c->c0, c->g0);
    lwi_signal_steps_linearise(c, h, lwi_system_signal_rates, &of);
    memcpy(c->g, c->g0, (size_t)c->n * sizeof *x);
    lwi_signal_steps_trapezoidal(c, h);
    work->states = (lwi_states){.value = c->c, .rate = c->g};
}

// The states at the motion that the step ends with, of which the forces have been evaluated.
static void finish_signals(lwi_work *work, double h, double *x)
{
    lwi_index3 *d = work->data;
    lwi_signal_steps *c = &d->signals;
    if (c->n == 0) return;
    lwi_signal_steps_trapezoidal(c, h);
    memcpy(x + work->layout.nx - c->n, c->c, (size_t)c->n * sizeof *x);
    lwi_states_set(work, x, NULL);
}

// A step in lanes.  LW_ERR_SINGULAR: the scalar code has to decide, x is unchanged.
static lw_status step_in_lanes(lwi_work *work, double end, double h, double *x,
                               const double *inputs)
{
    lwi_index3 *d = work->data;
    const lwi_index3_method *m = &d->method;
    increments n = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    double size;
    const double began = lwi_clock();
    int i = 0;
    d->in_lanes = true;
    lwi_index3_lanes_begin(d, end, h, x, inputs);
    for (; i < m->iterations && !(i >= d->min_iterations && n.last < m->tolerance); i++) {
        TRY(lwi_index3_lanes_iterate(d, i, &size));
        add(&n, i, size);
        TRY(check(work, end, h, i, &n));
    }
    TRY(lwi_index3_lanes_finish(d, x));
    count(work, end, h, i, &n);
    d->times.total += lwi_clock() - began;
    return LW_OK;
}

lw_status lwi_index3_step(lwi_work *work, double t, double h, double *x, const double *inputs)
{
    lwi_index3 *d = work->data;
    const lwi_index3_method *m = &d->method;
    increments n = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    double size;
    const double end = t + h, began = lwi_clock();
    lwi_states_set(work, x, NULL);
    if (d->lanes && !work->feedback.apply) {
        const lw_status status = step_in_lanes(work, end, h, x, inputs);
        if (status != LW_ERR_SINGULAR) return status;
    }
    d->in_lanes = false;
    lwi_index3_read(d, &d->system, x);
    if (d->coordinates || d->auxiliary.n) lwi_system_read_joints(&d->system, t);
    begin(d, x);
    begin_signals(work, t, h, x, inputs);
    TRY(work->feedback.status);
    predict(d, h);
    int i = 0;
    double change = 0; // of states of signals
    for (; i < max_iterations(d) && !(i >= d->min_iterations && n.last < m->tolerance &&
                                      change * d->system.length <= m->tolerance);
         i++) {
        move(d, h);
        const lw_status status = iterate(d, end, h, inputs, i == 0, &size, &work->error);
        TRY(work->feedback.status);
        if (status != LW_OK && status != LW_ERR_NOT_FINITE) return status;
        add(&n, i, status == LW_OK && isfinite(size) ? size : HUGE_VAL);
        TRY(check(work, end, h, i, &n));
        if (d->signals.n) change = lwi_signal_steps_trapezoidal(&d->signals, h);
    }
    count(work, end, h, i, &n);
    move(d, h);
    const double solved = lwi_clock();
    TRY(lwi_index3_project(d, end, h, &work->error));
    d->times.projection += lwi_clock() - solved;
    if (d->at_work >= 0 || d->signals.n) lwi_system_forces(&d->system, end, inputs);
    TRY(work->feedback.status);
    finish(d, end, h, x);
    finish_signals(work, h, x);
    d->times.total += lwi_clock() - began;
    return LW_OK;
}

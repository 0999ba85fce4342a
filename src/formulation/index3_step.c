// index3_step.c -- one step of the index-3 formulation [malczyk2019].
//
// Trapezoidal rule with the positions at the end of the step as unknowns, bars for its beginning:
//     v = 2/h (r - rbar) - vbar,            a = 4/h^2 (r - rbar) - 4/h vbar - abar
//     R = Rbar exp(theta~),   w' = 2/h theta - wbar',   dw' = 4/h^2 theta - 4/h wbar' - dwbar'
// (primes: body axes).  Newton for the equations of motion and the joints at the end,
//     M a - Q - J' lambda = 0,   phi = 0,
// with eta = h^2/4 and K = eta (M + eta stiffness)^-1 is the engine's problem:
//     x = K (Q + J' lambda - M a + J' dlambda),   J x = -phi - eps dlambda
// eps is relative to the rows' own size: redundant rows and singular positions never fail, and as
// dlambda goes to zero eps changes nothing in the solution.
//
// Rows that make points meet follow frame F1.  Their forces are held in world axes from one
// iteration to the next: then they do not turn with the bodies, and Newton sees their whole
// derivative.
//
// Then the velocities are put on the joints, J v + b = 0, and the accelerations, J a + gamma = 0,
// by the least kinetic energy of the change.
#include "formulation/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// --------------------------------------------------------------------------------- held
// multipliers

// Force of row k of edge e on its second body, from the slot of either.
static void row_force(const lwi_index3 *d, int e, int k, double f[3])
{
    const lwi_closed *s = &d->closed;
    const int j = s->edge_joint[e], slot = s->plan.slot[e];
    const lwi_joint *joint = &s->model->joint[j];
    const bool second = joint->body2 != 0;
    const int body = s->model->body_node[second ? joint->body2 : joint->body1];
    const int i = s->plan.graph.edge[e].body[0] == body ? 0 : 1;
    v3_scale(f, second ? 1 : -1, lwi_dual_J(s->dual)[6 * (slot + i) + k]);
}

static void turn_points(lwi_index3 *d, const double *from, double *to, bool hold)
{
    const lwi_closed *s = &d->closed;
    memmove(to, from, (size_t)s->nrow * sizeof *to);
    for (int e = 0; e < s->nedge; e++) {
        if (!d->points[e]) continue;
        const int row = s->plan.row[e];
        double f[3][3], sum[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) row_force(d, e, k, f[k]);
        for (int k = 0; k < 3; k++) {
            if (hold)
                v3_axpy(sum, from[row + k], f[k]);
            else
                sum[k] = v3_dot(f[k], from + row);
        }
        v3_copy(to + row, sum);
    }
}

void lwi_index3_hold(lwi_index3 *d, const double *rows, double *held)
{
    turn_points(d, rows, held, true);
}

void lwi_index3_release(lwi_index3 *d, const double *held, double *rows)
{
    turn_points(d, held, rows, false);
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

// theta += T^-1(theta) dtheta,  T^-1 = 1 + theta~/2 + c theta~^2,
// c = 1/theta^2 - (1 + cos)/(2 theta sin) -> 1/12; cot(theta/2) in place of (1 + cos)/sin
static void turn_on(double theta[3], const double dtheta[3])
{
    const double square = v3_dot(theta, theta), angle = sqrt(square);
    // below this the series' next term, theta^2/720, is round-off of 1/12
    const double c = angle < 1e-4 ? 1.0 / 12 : 1 / square - 1 / (2 * angle * tan(angle / 2));
    double once[3], twice[3];
    v3_cross(once, theta, dtheta);
    v3_cross(twice, theta, once);
    for (int i = 0; i < 3; i++) theta[i] += dtheta[i] + 0.5 * once[i] + c * twice[i];
}

// Positions, velocities and accelerations at the end from r of the motion and the turns.
static void move(lwi_index3 *d, double h)
{
    lwi_closed *s = &d->closed;
    const double one = 2 / h, two = 4 / (h * h);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        double E[9];
        exponential(E, p->turn);
        m3_mul(s->R[b], p->R, E);
        for (int i = 0; i < 3; i++) {
            const double dr = s->r[b][i] - p->r[i];
            p->vn[i] = one * dr - p->v[i];
            p->an[i] = two * dr - 2 * one * p->v[i] - p->a[i];
            p->wn[i] = one * p->turn[i] - p->w[i];
            p->aln[i] = two * p->turn[i] - 2 * one * p->w[i] - p->al[i];
        }
        v3_copy(s->v[b], p->vn);
        m3_mul_v(s->w[b], s->R[b], p->wn);
    }
    lwi_closed_place_merged(s);
}

static void predict(lwi_index3 *d, double h)
{
    lwi_closed *s = &d->closed;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        for (int i = 0; i < 3; i++) {
            s->r[b][i] = p->r[i] + h * (p->v[i] + 0.5 * h * p->a[i]);
            p->turn[i] = h * (p->w[i] + 0.5 * h * p->al[i]);
        }
    }
}

// ----------------------------------------------------------------------------------------- tangent

// The part that is symmetric of -d(s x f)/d turn at constant f, ds = turn x s:
//   -(turn x s) x f = -(f~ s~) turn = ((s.f) 1 - (s f' + f s')/2) turn + ...
static void add_arm(double K[6], const double s[3], const double f[3])
{
    const double sf = v3_dot(s, f);
    for (int i = 0; i < 3; i++) K[i] += sf - s[i] * f[i];
    K[3] -= 0.5 * (s[0] * f[1] + s[1] * f[0]);
    K[4] -= 0.5 * (s[0] * f[2] + s[2] * f[0]);
    K[5] -= 0.5 * (s[1] * f[2] + s[2] * f[1]);
}

// Every joint's force acts at a point that its bodies carry.
static void geometric_stiffness(lwi_index3 *d, const double *lambda)
{
    lwi_closed *s = &d->closed;
    memset(d->stiffness, 0, (size_t)s->model->nnode * sizeof *d->stiffness);
    for (int e = 0; e < s->nedge; e++) {
        const int j = s->edge_joint[e];
        if (j < 0) continue;
        const lwi_joint *joint = &s->model->joint[j];
        double f[3] = {0, 0, 0}, arm[3], row[3];
        for (int k = 0; k < s->plan.graph.edge[e].rows; k++) {
            row_force(d, e, k, row);
            v3_axpy(f, lambda[s->plan.row[e] + k], row);
        }
        if (joint->body2) {
            m3_mul_v(arm, s->R[joint->body2], joint->r2);
            add_arm(d->stiffness[s->model->body_node[joint->body2]], arm, f);
        }
        if (joint->body1) {
            m3_mul_v(arm, s->R[joint->body1], joint->r1);
            v3_scale(f, -1, f);
            add_arm(d->stiffness[s->model->body_node[joint->body1]], arm, f);
        }
    }
}

// Inverse of a symmetric matrix; false where it is not positive definite.
static bool invert(const double J[6], double I[6])
{
    const double xx = J[0], yy = J[1], zz = J[2], xy = J[3], xz = J[4], yz = J[5];
    const double minor = xx * yy - xy * xy;
    const double cx = yy * zz - yz * yz, cy = xz * yz - xy * zz, cz = xy * yz - xz * yy;
    const double det = xx * cx + xy * cy + xz * cz;
    if (!(xx > 0 && minor > 0 && det > 0)) return false;
    const double inverse = 1 / det;
    I[0] = cx * inverse;
    I[1] = (xx * zz - xz * xz) * inverse;
    I[2] = minor * inverse;
    I[3] = cy * inverse;
    I[4] = cz * inverse;
    I[5] = (xy * xz - xx * yz) * inverse;
    return true;
}

// metric := eta (M + eta stiffness)^-1; compression that outweighs the inertia is left out.
static void tangent(lwi_index3 *d, double eta)
{
    lwi_closed *s = &d->closed;
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_body *body = &s->model->body[s->model->node[k].body];
        double J[6], A[6];
        s->metric[k].lin = eta / body->mass;
        s3_rotate(J, s->R[s->model->node[k].body], body->inertia);
        for (int i = 0; i < 6; i++)
            A[i] = J[i] + (d->method.tangent ? eta * d->stiffness[k][i] : 0);
        if (!invert(A, s->metric[k].ang))
            s3_rotate(s->metric[k].ang, s->R[s->model->node[k].body], s->mobility[k]);
        for (int i = 0; i < 6; i++) s->metric[k].ang[i] *= eta;
    }
}

// eps of every row: relative to the mean diagonal of J K J' of its edge.
void lwi_index3_regularise(lwi_index3 *d)
{
    lwi_closed *s = &d->closed;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_edge *edge = &s->plan.graph.edge[e];
        double sum = 0;
        for (int i = 0; i < edge->n; i++) {
            const int first = 6 * (s->plan.slot[e] + i);
            const double(*J)[6] = (const double(*)[6])lwi_dual_J(s->dual) + first;
            const double(*G)[6] = (const double(*)[6])lwi_dual_G(s->dual) + first;
            for (int k = 0; k < edge->rows; k++) sum += v6_dot(J[k], G[k]);
        }
        const int spring = e - (s->nedge - d->nspring);
        for (int k = 0; k < edge->rows; k++)
            d->eps[s->plan.row[e] + k] =
                spring >= 0 ? d->compliance[spring] : d->method.regularisation * sum / edge->rows;
    }
}

static lw_status factor(lwi_index3 *d, double t, lw_error *error)
{
    lwi_closed *s = &d->closed;
    lwi_closed_multiply(s);
    if (s->nrow == 0) return LW_OK;
    lwi_index3_regularise(d);
    const lw_status status = lwi_dual_factor(s->dual, d->eps);
    return status == LW_OK ? LW_OK : lwi_closed_fails(s, t, status, error);
}

// x := metric x, then the vector pass for J x = c - eps lambda
static void solve(lwi_index3 *d)
{
    lwi_closed *s = &d->closed;
    lwi_closed_apply_metric(s, s->x);
    if (s->nrow) lwi_dual_solve(s->dual, s->x, s->c, s->lambda, 0);
}

// ------------------------------------------------------------------------------------------ Newton

// x := Q - M a + J' lambda at the motion
static void residual(lwi_index3 *d, double t, const double *inputs, const double *lambda)
{
    lwi_closed *s = &d->closed;
    lwi_closed_forces(s, t, inputs);
    lwi_closed_applied(s, t, &s->loads, s->x);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const lwi_body *body = &s->model->body[b];
        double L[3], n[3];
        s3_mul_v(L, body->inertia, d->body[k].aln);
        m3_mul_v(n, s->R[b], L);
        v3_axpy(s->x[k], -body->mass, d->body[k].an);
        v3_sub(s->x[k] + 3, s->x[k] + 3, n);
    }
    lwi_closed_add_wrenches(s, 1, lambda, s->x);
}

// One iteration; *size: 2-norm of the increments, turns times the mechanism's length.
static lw_status iterate(lwi_index3 *d, double t, double h, const double *inputs, bool first,
                         double *size, lw_error *error)
{
    lwi_closed *s = &d->closed;
    double *lambda = d->row, sum = 0;
    if (d->coordinates) lwi_closed_read_joints(s, t);
    lwi_closed_rows(s, t);
    lwi_index3_spring_none(d);
    lwi_index3_release(d, d->lambda, lambda);
    residual(d, t, inputs, lambda);
    lwi_index3_spring_rows(d, t, h);
    if (first || !d->method.newton) {
        if (d->method.tangent) geometric_stiffness(d, lambda);
        tangent(d, h * h / 4);
        TRY(factor(d, t, error));
    }
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->phi[i];
    const double began = lwi_index3_clock();
    solve(d);
    d->times.solve += lwi_index3_clock() - began;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double turn[3];
        v3_add(s->r[b], s->r[b], s->x[k]);
        m3_tmul_v(turn, s->R[b], s->x[k] + 3);
        turn_on(d->body[k].turn, turn);
        sum += v3_dot(s->x[k], s->x[k]) + s->length * s->length * v3_dot(turn, turn);
    }
    if (d->method.stop) { // forces as displacements of the lightest body
        double forces = 0;
        for (int i = 0; i < s->nrow; i++) forces += s->lambda[i] * s->lambda[i];
        sum += h * h * h * h / 16 * forces / (d->mass * d->mass);
    }
    // what springs have added is in the next residual
    for (int i = 0; i < s->nrow - d->nspring; i++) lambda[i] += s->lambda[i];
    lwi_index3_hold(d, lambda, d->lambda);
    *size = sqrt(sum);
    return LW_OK;
}

// ------------------------------------------------------------------------------------- projections

static void masses(lwi_closed *s)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        s->metric[k].lin = 1 / s->model->body[b].mass;
        s3_rotate(s->metric[k].ang, s->R[b], s->mobility[k]);
    }
}

// Velocities, then accelerations onto the joints; the multipliers of the second belong to the
// reactions: lambda + those is of second order in h where lambda alone is of first.
static lw_status project(lwi_index3 *d, double t, double h, lw_error *error)
{
    lwi_closed *s = &d->closed;
    const lwi_node *node = s->model->node;
    const int n = s->model->nnode;
    if (d->coordinates) lwi_closed_read_joints(s, t);
    lwi_closed_rates(s, t);
    lwi_index3_spring_none(d);
    if (d->method.projection == LWI_PROJECT_MASS) masses(s);
    if (d->method.projection) TRY(factor(d, t, error));
    if (d->method.projection) {
        for (int k = 0; k < n; k++) {
            v3_copy(s->x[k], s->v[node[k].body]);
            v3_copy(s->x[k] + 3, s->w[node[k].body]);
        }
        for (int i = 0; i < s->nrow; i++) s->c[i] = -s->b[i];
        if (s->nrow) lwi_dual_solve(s->dual, s->x, s->c, s->lambda, 0);
        for (int k = 0; k < n; k++) {
            v3_copy(s->v[node[k].body], s->x[k]);
            v3_copy(s->w[node[k].body], s->x[k] + 3);
        }
        lwi_closed_place_merged(s);
        if (!d->method.order) {
            lwi_closed_rates(s, t); // gamma at the new velocities
            lwi_index3_spring_none(d);
        }
    }
    for (int k = 0; k < n; k++) {
        v3_copy(s->x[k], d->body[k].an);
        m3_mul_v(s->x[k] + 3, s->R[node[k].body], d->body[k].aln);
    }
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->gamma[i], s->lambda[i] = 0;
    if (d->method.projection && s->nrow) lwi_dual_solve(s->dual, s->x, s->c, s->lambda, 0);
    lwi_index3_release(d, d->lambda, d->row);
    // the tangent's metric is eta K: forces are eta times its multipliers
    const double unit = d->method.projection == LWI_PROJECT_TANGENT ? h * h / 4 : 1;
    for (int i = 0; i < s->nrow; i++) s->lambda[i] = d->row[i] + unit * s->lambda[i];
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- step

static void begin(lwi_index3 *d, const double *x)
{
    lwi_closed *s = &d->closed;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        lwi_index3_body *p = &d->body[k];
        const double *u = x + d->at_speed + 6 * k, *a = x + d->at_acceleration + 6 * k;
        v3_copy(p->r, s->r[b]);
        memcpy(p->R, s->R[b], sizeof p->R);
        v3_copy(p->v, u), v3_copy(p->w, u + 3);
        v3_copy(p->a, a), v3_copy(p->al, a + 3);
    }
    memcpy(d->lambda, x + d->at_lambda, (size_t)s->nrow * sizeof *d->lambda);
}

// The state at the end; quaternions continue in sign.
static void finish(lwi_index3 *d, double t, double h, double *x)
{
    lwi_closed *s = &d->closed;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double *pose = x + 7 * k, *u = x + d->at_speed + 6 * k, *a = x + d->at_acceleration + 6 * k;
        double quat[4];
        v3_copy(pose, s->r[b]);
        quat_from_matrix(quat, s->R[b]);
        quat_continue(quat, pose + 3);
        memcpy(pose + 3, quat, sizeof quat);
        v3_copy(u, s->v[b]);
        m3_tmul_v(u + 3, s->R[b], s->w[b]);
        v3_copy(a, s->x[k]);
        m3_tmul_v(a + 3, s->R[b], s->x[k] + 3);
    }
    memcpy(x + d->at_lambda, d->lambda, (size_t)s->nrow * sizeof *x);
    if (d->carried.n) lwi_closed_read_joints(s, t);
    lwi_carried_store(s->model, &d->carried, s->q, x);
    if (d->at_work < 0) return;
    const double power = s->loads.power + lwi_closed_drive_power(s, t);
    x[d->at_work] += 0.5 * h * (x[d->at_work + 1] + power);
    x[d->at_work + 1] = power;
}

// An increment of this part of the mechanism's length in the last iteration is no solution.
#define ASTRAY 1e-3

// Does Newton go anywhere?  Increments that are not numbers, or in the end large or larger than the
// first, do not.
static lw_status check(lwi_work *work, double t, double h, int i, double size, double first)
{
    const lwi_index3 *d = work->data;
    const bool last = i + 1 == d->method.iterations && i > 0 && size > d->method.tolerance;
    const bool far = size > first || size > ASTRAY * d->closed.length;
    char where[300];
    int node, edge;
    if (isfinite(size) && !(last && far && d->method.tolerance > 0)) return LW_OK;
    lwi_index3_worst(d, &node, &edge);
    lwi_index3_tell(d, node, edge, where, sizeof where);
    return lwi_fail(
        &work->error, isfinite(size) ? LW_ERR_INTEGRATOR : LW_ERR_NOT_FINITE,
        "t = %.9g s: Newton's iteration number %d in a step of %.3g s goes astray (%.1e m, the "
        "first %.1e m): %s; a smaller step helps",
        t, i + 1, h, size, first, where);
}

static void count(lwi_index3 *d, double t, int iterations, double size)
{
    lwi_index3_counts *n = &d->counts;
    n->steps++;
    n->iterations += iterations;
    if (!(d->method.tolerance > 0) || size < d->method.tolerance) return;
    n->unconverged++;
    if (size <= n->size) return;
    n->size = size, n->t = t;
    lwi_index3_worst(d, &n->body, &n->edge);
}

lw_status lwi_index3_step(lwi_work *work, double t, double h, double *x, const double *inputs)
{
    lwi_index3 *d = work->data;
    const lwi_index3_method *m = &d->method;
    double size = HUGE_VAL, first = HUGE_VAL;
    const double end = t + h, began = lwi_index3_clock();
    lwi_index3_read(d, &d->closed, x);
    if (d->coordinates || d->carried.n) lwi_closed_read_joints(&d->closed, t);
    begin(d, x);
    predict(d, h);
    int i = 0;
    for (; i < m->iterations && !(size < m->tolerance); i++) {
        move(d, h);
        TRY(iterate(d, end, h, inputs, i == 0, &size, &work->error));
        if (i == 0) first = size;
        TRY(check(work, end, h, i, size, first));
    }
    count(d, end, i, size);
    move(d, h);
    const double solved = lwi_index3_clock();
    TRY(project(d, end, h, &work->error));
    d->times.projection += lwi_index3_clock() - solved;
    if (d->at_work >= 0) lwi_closed_forces(&d->closed, end, inputs);
    finish(d, end, h, x);
    lwi_index3_timed(&d->times, lwi_index3_clock() - began);
    return LW_OK;
}

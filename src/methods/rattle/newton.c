// newton.c -- multipliers lambda of the first kick, so that positions at the end are on the constraints.
//
//     P^ = P + h/2 (f + A0' lambda),   (q1, P~) = drift(q, P^),   Phi(q1, t1) = 0                (1)
// A0 are the rows at the beginning.  Newton's matrix is h^2/2 K,
//     K = A1 D A0',   D = diag(1/m, R1 T(theta) G'^-1 R0')                                      (2)
// which is not symmetric.  Usually S0 = A0 M^-1 A0' is close enough, and the step before has left its factors: linear
// convergence, an iteration is a vector pass and a drift.  Close to a singular position it is not: along a row that
// nearly depends on others S0 has the square of the sine there, and K the product of the sines at both ends, which
// changes its sign across.  K is taken where increments fall slowly, or where a pivot is much smaller than usual.
//
// Iterations end when increments fall no more, and not at a tolerance: what a tolerance leaves is no random error and
// adds up over millions of steps.  Where the rows depend on each other lambda is not unique, but A0' lambda is.
#include "methods/rattle/kernels.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Increments that fall slower than this are slow; where loops are closed, a pivot below this share of the reference pivot is
// small: the square of a fifth of the sine.
#define SLOW 0.3
#define SMALL_PIVOT 0.04

// Increments that fall no more can be round-off below this share of the multipliers, or of residuals below this share of
// the mechanism's length.  They are where residuals are within some last places of the positions, or where K does not let
// them fall either; with S0 they can rise for an iteration, long before.  Those that fall slowly are round-off where residuals
// or they themselves are below what is rounded off.  Remainders would let both fall further, slowly, to no effect.
#define ROUND_OFF 1e-6
#define CLOSED 1e-12
enum { LAST_PLACES = 16, MAX_STALLS = 3 };

// Residual of a row that is left out, in lengths of the mechanism, at which it is not met.  Below it are those of a geometry
// given to six or seven digits, of which redundant rows are met as exactly as they agree: 1e-6 for axes that are tilted by 1e-7.
#define OPEN 1e-4

enum { MAX_ITERATIONS = 30, MAX_HALVINGS = 12 };

// ------------------------------------------------------------------------------------------- drift

void lwi_rattle_wrench(const lwi_rattle *d, int k, const double *lambda, double W[6])
{
    const double(*J)[6] = d->full ? (const double(*)[6])d->J0 : lwi_elim_rows(d->system.elim);
    double sum[6] = {0}; // in registers: W could be a part of J
    for (int i = d->first[k]; i < d->first[k + 1]; i++) {
        const lwi_rattle_slot *at = &d->slot[i];
        for (int n = 0; n < at->rows; n++) v6_axpy(sum, lambda[at->row + n], J[6 * at->slot + n]);
    }
    v6_copy(W, sum);
}

void lwi_rattle_put_local(lwi_rattle_body *p, bool end)
{
    for (int i = 0; i < 3; i++) {
        const double left = end ? p->er1[i] : p->er[i];
        const double rounded = (end ? p->r1[i] : p->r[i]) - p->origin[i];
        p->local[i] = rounded + left;
        p->off[i] = left - (p->local[i] - rounded);
    }
}

void lwi_rattle_put_rotation(lwi_rattle_body *p, bool end)
{
    double back[4], turn[4];
    quat_conjugate(back, end ? p->quat1 : p->quat);
    quat_mul(turn, back, end ? p->eq1 : p->eq);
    m3_mul_v(p->off + 3, end ? p->R1 : p->R, turn + 1);
    for (int i = 3; i < 6; i++) p->off[i] *= 2;
}

void lwi_rattle_rotate(lwi_rattle_body *p)
{
    double dq[4];
    lwi_rattle_turn(p->quat, p->theta, dq);
    memcpy(p->eq1, p->eq, sizeof p->eq1);
    for (int i = 0; i < 4; i++) p->quat1[i] = p->quat[i] + (p->eq[i] + dq[i]);
    const double longer = 0.5 * (quat_norm2(p->quat1) - 1);
    for (int i = 0; i < 4; i++)
        p->quat1[i] = lwi_rattle_add(p->quat[i], dq[i] - longer * p->quat1[i], &p->eq1[i]);
    quat_matrix(p->R1, p->quat1);
    lwi_rattle_put_local(p, true);
    lwi_rattle_put_rotation(p, true);
}

// As the kernel has it (simd/drift.inl).
static void drift_body(lwi_rattle_body *p, double h)
{
    double torque[3], a[3], y[3], z[3];
    m3_tmul_v(torque, p->R, p->wrench + 3);
    for (int i = 0; i < 3; i++) {
        p->kick[i] = 0.5 * h * (p->f[i] + p->wrench[i]);
        p->kick[3 + i] = 0.5 * h * (p->f[3 + i] + torque[i]);
        a[i] = h * (p->Pi[i] + (p->ePi[i] + p->kick[3 + i]));
    }
    if (!lwi_rattle_rotation(p->J, p->mobility, a, p->theta)) p->theta[0] = NAN;
    s3_mul_v(y, p->J, p->theta);
    v3_cross(z, p->theta, y);
    v3_copy(p->er1, p->er);
    for (int i = 0; i < 3; i++) {
        p->dPi[i] = p->kick[3 + i] - z[i] / h;
        p->Pi1[i] = p->Pi[i] + (p->ePi[i] + p->dPi[i]);
        const double P = p->P[i] + (p->eP[i] + p->kick[i]);
        p->r1[i] = lwi_rattle_add(p->r[i], h / p->mass * P, &p->er1[i]);
    }
    lwi_rattle_rotate(p);
}

typedef struct drift_job {
    lwi_rattle *d;
    double h;
    bool first; ///< in this step
} drift_job;

// Bodies of blocks first ... end - 1.
static void drift_bodies(void *user, int first, int end)
{
    const drift_job *of = user;
    lwi_rattle *d = of->d;
    lwi_system *s = &d->system;
    for (int block = first; block < end; block++) {
        const int begin = block * LWI_LANES;
        const int stop = begin + LWI_LANES < s->model->nnode ? begin + LWI_LANES : s->model->nnode;
        for (int k = begin; k < stop; k++) lwi_rattle_wrench(d, k, d->lambda, d->body[k].wrench);
        for (int k = begin; k < stop; k += d->kernels ? d->kernels->width : 1) {
            if (d->kernels)
                d->kernels->drift(&d->body[k], of->h, of->first);
            else
                drift_body(&d->body[k], of->h);
        }
        for (int k = begin; k < stop; k++) {
            const int b = s->model->node[k].body;
            if (d->nmassless && d->massless_of[k] >= 0) lwi_rattle_drift_massless(d, k, of->h);
            v3_copy(s->r[b], d->body[k].local);
            memcpy(s->R[b], d->body[k].R1, sizeof s->R[b]);
        }
    }
}

// Speeds of rotors after the kick.
static void drift_rotors(lwi_rattle *d, double h)
{
    const lwi_system *s = &d->system;
    for (int i = 0; i < s->nrotor; i++) {
        const lwi_joint *joint = &s->model->joint[s->rotor[i].joint];
        const int first = s->rotor[i].first;
        double W[6];
        lwi_rattle_wrench(d, s->model->nnode + i, d->lambda, W);
        for (int k = first; k < first + 3; k++)
            if (joint->rotor[k] > 0)
                d->speed[joint->iv + k] =
                    s->qd[joint->iv + k] + 0.5 * h * W[3 + k - first] / joint->rotor[k];
    }
}

void lwi_rattle_drift(lwi_rattle *d, double h, bool first)
{
    drift_job of = {d, h, first};
    const int blocks = (d->system.model->nnode + LWI_LANES - 1) / LWI_LANES;
    lwi_pool_for(d->system.pool, blocks, drift_bodies, &of);
    if (d->system.nrotor) drift_rotors(d, h);
}

static lw_status check_rotations(const lwi_rattle *d, double t, double h, lw_error *error)
{
    const lw_model *model = d->system.model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_rattle_body *p = &d->body[k];
        const char *name = model->body[model->node[k].body].name;
        double x[3];
        if (isfinite(p->theta[0])) continue;
        for (int i = 0; i < 3; i++) x[i] = h * (p->Pi[i] + p->kick[3 + i]);
        s3_mul_v(x, p->mobility, x);
        const double turn = v3_norm(x);
        if (!isfinite(turn))
            return lwi_fail(error, LW_ERR_NOT_FINITE,
                            "body '%s', t = %.9g s: its motion is not a finite number", name, t);
        return lwi_fail(error, LW_ERR_INTEGRATOR,
                        "body '%s' rotates by %.3g rad in a step of %.3g s: steps below pi are "
                        "needed; try --step %.2g",
                        name, turn, h, fabs(h) / fmax(1, turn));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- phi

typedef struct phi_job {
    lwi_rattle *d;
    double t, h;
} phi_job;

// Rows of rotors: the coordinate has moved as far as its rotor.
static void put_rotors(const phi_job *of, int j, int row)
{
    const lwi_rattle *d = of->d;
    const lwi_system *s = &d->system;
    const lwi_joint *joint = &s->model->joint[j];
    double q[LW_JOINT_MAX_NQ];
    lwi_joint_read_motion(s->model, j, of->t, &s->motion, q, NULL);
    for (int k = 0; k < joint->type->nv; k++)
        if (joint->rotor[k] > 0)
            s->phi[row++] = q[k] - s->q[joint->iq + k] - of->h * d->speed[joint->iv + k];
}

static void phi_of_edge(const phi_job *of, int e)
{
    lwi_system *s = &of->d->system;
    const int j = s->edge_joint[e], row = s->plan.row[e];
    const double(*J)[6] = of->d->full ? (const double(*)[6])of->d->J0 : lwi_elim_rows(s->elim);
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    lwi_closure closure;
    if (j >= 0)
        lwi_joint_closure(s->model, j, of->t, &s->motion, LWI_CLOSURE_PHI, &closure);
    else
        lwi_coupling_closure(s->model, -1 - j, of->t, &s->motion, LWI_CLOSURE_PHI, &closure);
    memcpy(s->phi + row, closure.phi, (size_t)closure.n * sizeof(double));
    if (closure.n < edge->rows) put_rotors(of, j, row + closure.n);
    for (int i = 0; i < edge->n; i++) {
        const int body = edge->body[i];
        if (body >= s->model->nnode && body < s->model->nnode + s->nrotor) continue;
        const double *off = of->d->body[lwi_system_node_of(s, body)].off;
        for (int k = 0; k < closure.n; k++)
            s->phi[row + k] += v6_dot(J[6 * (s->plan.slot[e] + i) + k], off);
    }
}

// Item i: a block of joints in lanes, then the other edges one by one.
static void phi_of_item(void *user, int i)
{
    const phi_job *of = user;
    const lwi_rattle *d = of->d;
    const int blocks = d->kernels ? d->njoint / d->kernels->width : 0;
    if (i < blocks)
        d->kernels->phi(&d->joint[i * d->kernels->width]);
    else
        phi_of_edge(of, d->edge[i - blocks]);
}

static void find_phi(phi_job *of)
{
    const lwi_rattle *d = of->d;
    const int blocks = d->kernels ? d->njoint / d->kernels->width : 0;
    lwi_system_for(&of->d->system, blocks + d->nedge, phi_of_item, of);
}

// ---------------------------------------------------------------------------------- Newton's matrix

// G := A0 D' of all rows of edge e.
static void put_tangents(void *user, int e)
{
    const phi_job *of = user;
    lwi_rattle *d = of->d;
    lwi_system *s = &d->system;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    for (int i = 0; i < edge->n; i++) {
        const int at = 6 * (s->plan.slot[e] + i), body = edge->body[i];
        double(*G)[6] = lwi_elim_G(s->elim) + at;
        const double(*J)[6] = (const double(*)[6])d->J0 + at;
        if (body >= s->model->nnode && body < s->model->nnode + s->nrotor) {
            const lwi_system_metric *K = &s->metric[body];
            for (int k = 0; k < edge->rows; k++) {
                v3_set(G[k], 0, 0, 0);
                for (int c = 0; c < 3; c++) G[k][3 + c] = K->ang[c] * J[k][3 + c];
            }
            continue;
        }
        const double *own = lwi_rattle_mobility(d, body);
        if (own) {
            for (int k = 0; k < edge->rows; k++) lwi_rattle_multiply(own, J[k], G[k]);
            continue;
        }
        const int node = lwi_system_node_of(s, body), parts = lwi_system_parts_of(s, node);
        const lwi_rattle_body *p = &d->body[node];
        double D[9], A[9], B[9];
        if (!lwi_rattle_tangent(p->J, p->theta, D)) memset(D, 0, sizeof D);
        m3_mul(A, p->R1, D);
        m3_mul_t(B, A, p->R);
        for (int k = 0; k < edge->rows; k++) {
            v3_scale(G[k], parts / p->mass, J[k]);
            m3_mul_v(G[k] + 3, B, J[k] + 3);
            v3_scale(G[k] + 3, parts, G[k] + 3);
        }
    }
}

// Rows that depend on others are left out: their multipliers stay as they are.
static void drop_rows(lwi_rattle *d)
{
    lwi_system *s = &d->system;
    double(*J)[6] = lwi_elim_J(s->elim), (*G)[6] = lwi_elim_G(s->elim);
    for (int e = 0; e < s->plan.graph.nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int k = 0; k < edge->rows; k++) {
            const int row = s->plan.row[e] + k;
            d->eps[row] = d->dropped[row] ? 1 : 0;
            for (int i = 0; i < edge->n && d->dropped[row]; i++) {
                const int at = 6 * (s->plan.slot[e] + i) + k;
                v6_zero(J[at]), v6_zero(G[at]);
            }
        }
    }
}

// K of (2) at the current end of the step.
static lw_status factor_full(phi_job *of, lw_error *error)
{
    lwi_rattle *d = of->d;
    lwi_system *s = &d->system;
    lwi_system_rows(s, of->t);
    lwi_system_for(s, s->plan.graph.nedge, put_tangents, of);
    drop_rows(d);
    d->counts.full++;
    d->factored = false;
    const lw_status status = lwi_elim_factor_indefinite(s->elim, d->eps);
    return status == LW_OK ? LW_OK : lwi_system_fails(s, of->t, status, error);
}

// From now on with K, in this step.
static void begin_full(lwi_rattle *d)
{
    const lwi_system *s = &d->system;
    const size_t slots = (size_t)s->plan.slot[s->plan.graph.nedge];
    lwi_elim_dropped_rows(s->elim, d->dropped);
    memcpy(d->J0, lwi_elim_rows(s->elim), 6 * slots * sizeof *d->J0);
    lwi_rattle_find_mobilities(d);
    d->full = true;
}

// ------------------------------------------------------------------------------------------ Newton

static bool near_singular(const lwi_rattle *d)
{
    return lwi_elim_relative_pivot(d->system.elim) < SMALL_PIVOT;
}

// The drift with the current multipliers.  An increment, in s->lambda, after which a body rotates too far is halved.
static lw_status try_drift(const phi_job *of, bool first, lw_error *error)
{
    lwi_rattle *d = of->d;
    lwi_system *s = &d->system;
    lwi_rattle_drift(d, of->h, first);
    lw_status status = check_rotations(d, of->t - of->h, of->h, error);
    for (int i = 0; i < MAX_HALVINGS && status != LW_OK && !first; i++) {
        for (int k = 0; k < s->nrow; k++) {
            s->lambda[k] *= 0.5;
            d->lambda[k] -= s->lambda[k];
        }
        lwi_rattle_move_massless(d, of->h, -exp2(-1 - i));
        lwi_rattle_drift(d, of->h, true);
        status = check_rotations(d, of->t - of->h, of->h, error);
    }
    return status;
}

// Of the multipliers: their norm, and the root of the kinetic energy, up to a constant, of what they do to the bodies.  Where
// rows nearly depend on others the norm hardly falls while residuals do.
typedef struct increment {
    double size, energy;
    double lambda, residual; ///< norm of the multipliers before it, largest |phi| with them
    double open;             ///< largest |phi| of the rows that are left out
    int open_row;            ///< and its row
} increment;

// Phi at the end of the step with the current multipliers, and their increments in s->lambda; `again`: by K at this end,
// not by the factors of an iteration before.
static lw_status iterate(phi_job *of, bool first, bool again, increment *found, lw_error *error)
{
    lwi_rattle *d = of->d;
    lwi_system *s = &d->system;
    const double unit = -2 / (of->h * of->h);
    double sum = 0, work = 0, all = 0, residual = 0, open = 0;
    int open_row = 0;
    TRY(try_drift(of, first, error));
    find_phi(of);
    if (d->full && again) {
        for (int i = 0; i < s->nrow; i++) s->row[1][i] = s->phi[i];
        TRY(factor_full(of, error));
        for (int i = 0; i < s->nrow; i++) s->phi[i] = s->row[1][i];
    }
    for (int i = 0; i < s->nrow && d->full; i++) {
        if (!d->dropped[i]) continue;
        if (fabs(s->phi[i]) > open) open = fabs(s->phi[i]), open_row = i;
        s->phi[i] = 0;
    }
    for (int i = 0; i < s->nrow; i++) s->c[i] = unit * s->phi[i];
    for (int i = s->nrow; i < s->plan.nrow; i++) s->c[i] = 0;
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    if (s->transfer)
        lwi_rattle_solve_massless(d);
    else if (s->nrow)
        lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    for (int i = 0; i < s->nrow; i++) {
        sum += s->lambda[i] * s->lambda[i];
        work += s->lambda[i] * s->phi[i];
        all += d->lambda[i] * d->lambda[i];
        residual = fmax(residual, fabs(s->phi[i]));
    }
    *found = (increment){sqrt(sum), sqrt(fabs(work)), sqrt(all), residual, open, open_row};
    if (isfinite(found->size)) return LW_OK;
    return lwi_fail(error, LW_ERR_NOT_FINITE,
                    "t = %.9g s: multipliers of a step of %.3g s are not finite numbers", of->t,
                    of->h);
}

static int edge_of_row(const lwi_system *s, int row)
{
    int e = 0;
    while (s->plan.row[e] + s->plan.graph.edge[e].rows <= row) e++;
    return e;
}

static lw_status diverges(const lwi_rattle *d, const phi_job *of, double size, lw_error *error)
{
    const lwi_system *s = &d->system;
    char name[200];
    int worst = 0;
    for (int i = 0; i < s->nrow; i++)
        if (fabs(s->phi[i]) > fabs(s->phi[worst])) worst = i;
    lwi_system_edge_name(s, edge_of_row(s, worst), name, sizeof name);
    return lwi_fail(error, LW_ERR_INTEGRATOR,
                    "t = %.9g s: %d iterations of a step of %.3g s do not converge (last increment "
                    "%.1e of the multipliers): %s is off most; a smaller step helps",
                    of->t, MAX_ITERATIONS, of->h, size, name);
}

// Rows that are left out are met by the others, but not on branches that these alone allow.
static lw_status check_open(const lwi_rattle *d, const phi_job *of, const increment *now,
                            lw_error *error)
{
    char name[200];
    if (now->open <= OPEN * d->system.length) return LW_OK;
    lwi_system_edge_name(&d->system, edge_of_row(&d->system, now->open_row), name, sizeof name);
    return lwi_fail(error, LW_ERR_INTEGRATOR,
                    "t = %.9g s: a step of %.3g s next to a singular position leaves %s open by "
                    "%.1e m or rad; a smaller step helps",
                    of->t, of->h, name, now->open);
}

// What positions at the end of the step are rounded to, in units of the last place, of a mechanism far from its origin.
static double last_place(const lwi_rattle *d)
{
    double far = d->system.length;
    for (int k = 0; k < d->system.model->nnode; k++)
        for (int i = 0; i < 3; i++) far = fmax(far, fabs(d->body[k].r1[i] - d->body[k].origin[i]));
    return DBL_EPSILON * far;
}

// Residuals, or increments, are what positions or multipliers are rounded to.
static bool at_last_places(const lwi_rattle *d, const increment *now)
{
    return now->residual <= LAST_PLACES * last_place(d) ||
           now->size <= LAST_PLACES * DBL_EPSILON * now->lambda;
}

// The increment does not fall any more.
static bool stalls(const lwi_rattle *d, const increment *now, const increment *last)
{
    const bool exact =
        now->residual <= DBL_EPSILON * d->system.length || now->size <= DBL_EPSILON * now->lambda;
    return !(now->size < (exact ? SLOW : 1) * last->size);
}

static bool is_small(const lwi_rattle *d, const increment *now)
{
    return now->size <= ROUND_OFF * now->lambda || now->residual <= CLOSED * d->system.length;
}

lw_status lwi_rattle_newton(lwi_rattle *d, double t, double h, lw_error *error)
{
    lwi_system *s = &d->system;
    phi_job of = {d, t, h};
    increment last = {.size = INFINITY, .energy = INFINITY}, now = {0};
    bool again = true;
    int stalled = 0;
    lwi_rattle_guess_massless(d, h);
    if (near_singular(d)) begin_full(d);
    for (int i = 0; i < MAX_ITERATIONS; i++) {
        TRY(iterate(&of, i == 0, again, &now, error));
        d->counts.iterations++;
        const bool small = is_small(d, &now), stall = small && stalls(d, &now, &last);
        if (stall && (at_last_places(d, &now) || ++stalled == MAX_STALLS))
            return check_open(d, &of, &now, error);
        for (int k = 0; k < s->nrow; k++) d->lambda[k] += s->lambda[k];
        lwi_rattle_move_massless(d, h, 1);
        const bool compares = isfinite(last.size) && !(i == 1 && d->nmassless);
        const bool slow = stall || (!small && compares && now.energy > SLOW * last.energy);
        again = slow || i == 0 || (d->full && !small);
        last = now;
        if (!slow || d->full) continue;
        begin_full(d);
        last.size = last.energy = INFINITY;
    }
    if (at_last_places(d, &now)) return check_open(d, &of, &now, error);
    return diverges(d, &of, now.size, error);
}

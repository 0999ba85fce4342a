// kick.c -- the second kick of a step of rattle: velocities on the rows, with loads at the velocities that it ends with.
//
//     P1 = P~ + h/2 (f(q1, v1) + A1' mu),   A1 M^-1 P1 + b = 0                                    (1)
// With G(f) the loads at the velocities that (1) leads to from the loads f, the loads are those with G(f) = f.  Without
// damping they are f = G(0).  With mild damping f := G(f) converges, by h/2 times its rates.  With stiff damping it does not,
// and Newton's method takes its place [knoll2004]:
//     (1 - G'(f)) df = G(f) - f,   G'(f) x = (G(f + e x) - G(f)) / e
// by GMRES [saad1986], which needs as many kicks as there are different rates.
#include "methods/rattle/rattle.h"

#include "base/linear.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "system/transfer.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------- velocities on the rows

// x := momenta of the bodies and rotors after the second kick so far, world axes.
static void put_momenta(lwi_rattle *d, double h)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_rattle_body *p = &d->body[k];
        double *x = s->x[k], Pi[3];
        for (int i = 0; i < 3; i++) {
            x[i] = p->P[i] + (p->eP[i] + (p->kick[i] + 0.5 * h * p->f1[i] + d->impulse[k][i]));
            Pi[i] = p->Pi1[i] + (0.5 * h * p->f1[3 + i] + d->impulse[k][3 + i]);
        }
        m3_mul_v(x + 3, p->R1, Pi);
    }
    for (int i = 0; i < s->nrotor; i++) {
        const lwi_joint *joint = &s->model->joint[s->rotor[i].joint];
        double *x = s->x[s->model->nnode + i], W[6];
        v6_zero(x);
        lwi_rattle_wrench(d, s->model->nnode + i, d->mu, W);
        for (int k = 0; k < 3; k++) {
            const int of = s->rotor[i].first + k;
            if (joint->rotor[of] > 0)
                x[3 + k] = joint->rotor[of] * d->speed[joint->iv + of] + W[3 + k];
        }
    }
}

void lwi_rattle_solve_once(lwi_system *s)
{
    lwi_system_share(s, true, s->x);
    if (s->transfer) lwi_transfer_load(s, 1, NULL, s->c, s->x);
    lwi_system_apply_metric(s, s->x);
    if (s->nrow) lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    if (s->transfer) lwi_transfer_multipliers(s, 1, NULL, (const double(*)[6])s->x, s->lambda);
}

// Adds to the impulses mu of the rows what puts velocities on them; returns its norm.
static double project(lwi_rattle *d, double h, bool careful)
{
    lwi_system *s = &d->system;
    double sum = 0;
    put_momenta(d, h);
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->b[i];
    for (int i = s->nrow; i < s->plan.nrow; i++) s->c[i] = 0;
    if (careful)
        lwi_system_solve(s);
    else
        lwi_rattle_solve_once(s);
    lwi_rattle_take_velocities(d);
    for (int i = 0; i < s->nrow; i++) {
        d->mu[i] += s->lambda[i];
        sum += s->lambda[i] * s->lambda[i];
    }
    for (int k = 0; k < s->model->nnode; k++) {
        double W[6];
        lwi_rattle_wrench(d, k, d->mu, W);
        v3_copy(d->impulse[k], W);
        m3_tmul_v(d->impulse[k] + 3, d->body[k].R1, W + 3);
    }
    return sqrt(sum);
}

// A refinement above this share of the solution shows that digits are lost.
#define LOST 1e-6
enum { MAX_REFINEMENTS = 3 };

// The impulses of the second kick for the loads f1: twice, as refinement, and more often where digits are lost.
static void kick(lwi_rattle *d, double h)
{
    const lwi_system *s = &d->system;
    memset(d->impulse, 0, (size_t)s->model->nnode * sizeof *d->impulse);
    for (int i = 0; i < s->nrow; i++) d->mu[i] = 0;
    const double first = project(d, h, false);
    double next = project(d, h, false);
    for (int i = 0; i < MAX_REFINEMENTS && s->careful && !(next <= LOST * first); i++)
        next = project(d, h, true);
}

// The motion of the system at the end of the second kick, without origins: what forces depend on.
static void put_motion(lwi_rattle *d, double t, double h)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_rattle_body *p = &d->body[k];
        double P[3], Pi[3];
        for (int i = 0; i < 3; i++) {
            P[i] = p->P[i] + (p->kick[i] + 0.5 * h * p->f1[i] + d->impulse[k][i]);
            Pi[i] = p->Pi1[i] + (0.5 * h * p->f1[3 + i] + d->impulse[k][3 + i]);
        }
        v3_copy(s->r[s->model->node[k].body], p->r1);
        lwi_rattle_put_velocity(d, k, P, Pi);
    }
    lwi_system_place_merged(s);
    if (d->coordinates) lwi_system_read_joints(s, t);
}

// -------------------------------------------------------------------------- loads that velocities change

typedef struct end_job {
    lw_error *error;
    lwi_rattle *d;
    double t, h;
    const double *inputs;
    double power;
} end_job;

static int size_of(const lwi_rattle *d)
{
    return 6 * d->system.model->nnode;
}

static void get_loads(const lwi_rattle *d, double *f)
{
    for (int k = 0; k < d->system.model->nnode; k++) v6_copy(f + 6 * k, d->body[k].f1);
}

static void set_loads(lwi_rattle *d, const double *f)
{
    for (int k = 0; k < d->system.model->nnode; k++) v6_copy(d->body[k].f1, f + 6 * k);
}

// r := G(f) - f; returns its norm, *size that of G(f).  The impulses are those for f.
static double residual(end_job *of, const double *f, double *r, double *size)
{
    lwi_rattle *d = of->d;
    const int n = size_of(d);
    set_loads(d, f);
    kick(d, of->h);
    put_motion(d, of->t, of->h);
    of->power = lwi_rattle_forces(d, of->t, of->inputs, true);
    get_loads(d, r);
    *size = sqrt(lwi_dot(n, r, r));
    for (int i = 0; i < n; i++) r[i] -= f[i];
    set_loads(d, f);
    return sqrt(lwi_dot(n, r, r));
}

#define DIFFERENCE 1e-7 // e, as a share of the loads
#define REDUCED 1e-9    // the residual of GMRES, as a share of the right side

typedef struct gmres {
    int n, vectors;
    double *basis[LWI_RATTLE_KRYLOV + 1], H[LWI_RATTLE_KRYLOV + 1][LWI_RATTLE_KRYLOV];
    double cosine[LWI_RATTLE_KRYLOV], sine[LWI_RATTLE_KRYLOV], right[LWI_RATTLE_KRYLOV + 1];
} gmres;

// Column k of H in the basis so far, orthogonalised twice; basis[k + 1].
static void orthogonalise(gmres *g, int k)
{
    double *w = g->basis[k + 1];
    for (int i = 0; i <= k; i++) g->H[i][k] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= k; i++) {
            const double part = lwi_dot(g->n, g->basis[i], w);
            g->H[i][k] += part;
            for (int j = 0; j < g->n; j++) w[j] -= part * g->basis[i][j];
        }
    g->H[k + 1][k] = sqrt(lwi_dot(g->n, w, w));
    for (int j = 0; j < g->n && g->H[k + 1][k] > 0; j++) w[j] /= g->H[k + 1][k];
}

// Column k becomes upper triangular; the residual is then |right[k + 1]|.
static void rotate(gmres *g, int k)
{
    for (int i = 0; i < k; i++) {
        const double a = g->H[i][k], b = g->H[i + 1][k];
        g->H[i][k] = g->cosine[i] * a + g->sine[i] * b;
        g->H[i + 1][k] = g->cosine[i] * b - g->sine[i] * a;
    }
    const double length = hypot(g->H[k][k], g->H[k + 1][k]);
    g->cosine[k] = length > 0 ? g->H[k][k] / length : 1;
    g->sine[k] = length > 0 ? g->H[k + 1][k] / length : 0;
    g->H[k][k] = length;
    g->right[k + 1] = -g->sine[k] * g->right[k];
    g->right[k] *= g->cosine[k];
}

// df := the combination of the first k vectors.
static void combine(const gmres *g, int k, double *df)
{
    double y[LWI_RATTLE_KRYLOV];
    for (int i = k - 1; i >= 0; i--) {
        double sum = g->right[i];
        for (int j = i + 1; j < k; j++) sum -= g->H[i][j] * y[j];
        y[i] = g->H[i][i] > 0 ? sum / g->H[i][i] : 0;
    }
    memset(df, 0, (size_t)g->n * sizeof *df);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < g->n; j++) df[j] += y[i] * g->basis[i][j];
}

// df with (1 - G'(f)) df = r.
static void solve(end_job *of, const double *f, const double *r, double *df)
{
    lwi_rattle *d = of->d;
    gmres g = {.n = size_of(d), .vectors = d->nkrylov};
    double *moved = d->trial, *found = d->answer, ignored;
    const double length = sqrt(lwi_dot(g.n, r, r));
    for (int i = 0; i <= g.vectors; i++) g.basis[i] = d->krylov + (size_t)i * (size_t)g.n;
    for (int j = 0; j < g.n; j++) g.basis[0][j] = r[j] / length;
    g.right[0] = length;
    const double e = DIFFERENCE * (sqrt(lwi_dot(g.n, f, f)) + length);
    int k = 0;
    while (k < g.vectors && fabs(g.right[k]) > REDUCED * length) {
        for (int j = 0; j < g.n; j++) moved[j] = f[j] + e * g.basis[k][j];
        residual(of, moved, found, &ignored); // G(f + e x) - f - e x
        for (int j = 0; j < g.n; j++) g.basis[k + 1][j] = -(found[j] - r[j]) / e;
        orthogonalise(&g, k);
        rotate(&g, k++);
    }
    combine(&g, k, df);
}

enum { MAX_NEWTON = 30, MAX_HALVINGS = 10 };
#define ROUND_OFF 1e-6    // share of the loads
#define LAST_DIGITS 1e-13 // of it, where nothing is kept anyway

// f + df, or a shorter way where the residual does not fall; returns its norm.
static double take_step(end_job *of, double *f, const double *df, double *r, double before,
                        double *size)
{
    lwi_rattle *d = of->d;
    const int n = size_of(d);
    double share = 1, gap = INFINITY;
    for (int i = 0; i <= MAX_HALVINGS; i++, share *= 0.5) {
        for (int j = 0; j < n; j++) d->trial[j] = f[j] + share * df[j];
        gap = residual(of, d->trial, d->answer, size);
        if (gap < before) break;
    }
    if (!(gap < before)) return gap;
    memcpy(f, d->trial, (size_t)n * sizeof *f);
    memcpy(r, d->answer, (size_t)n * sizeof *r);
    return gap;
}

// Newton's method from the loads f1; false: it does not converge.
static bool newton(end_job *of, double *gap, double *size)
{
    lwi_rattle *d = of->d;
    double *f = d->loads, *r = d->gap, *df = d->change;
    get_loads(d, f);
    *gap = residual(of, f, r, size);
    for (int i = 0; i<MAX_NEWTON && * gap> 0 && isfinite(*gap); i++) {
        solve(of, f, r, df);
        const double next = take_step(of, f, df, r, *gap, size);
        if (!(next < *gap)) break;
        *gap = next;
    }
    const double left = *gap;
    *gap = residual(of, f, r, size); // the impulses and the motion are those of f
    return left <= ROUND_OFF * *size;
}

// ------------------------------------------------------------------------------------------- second kick

enum { MAX_ITERATIONS = 50 };

// A change above this share of the one before falls too slowly.
#define SLOW 0.5

// f := G(f) until the change falls no more; false: it falls slowly, or not at all.
static bool iterate(end_job *of, double *gap, double *size)
{
    lwi_rattle *d = of->d;
    double last = INFINITY;
    for (int i = 0; i < MAX_ITERATIONS; i++) {
        get_loads(d, d->loads);
        *gap = residual(of, d->loads, d->gap, size);
        if (*gap == 0) return true;
        const bool small = *gap <= ROUND_OFF * *size;
        if (!(*gap < last) && small) return true; // round-off: those of the last kick
        if (!isfinite(*gap) || (*gap > SLOW * last && !small)) return false;
        for (int j = 0; j < size_of(d); j++) d->loads[j] += d->gap[j];
        set_loads(d, d->loads);
        last = *gap;
    }
    return false;
}

lw_status lwi_rattle_end_kick(lwi_work *work, double t, double h, const double *inputs,
                              double *power)
{
    lwi_rattle *d = work->data;
    lwi_system *s = &d->system;
    end_job of = {.d = d, .t = t, .h = h, .inputs = inputs};
    double gap = 0, size = 0;
    memset(d->impulse, 0, (size_t)s->model->nnode * sizeof *d->impulse);
    for (int k = 0; k < s->model->nnode; k++) v6_zero(d->body[k].f1);
    if (s->model->nforce) put_motion(d, t, h);
    *power = lwi_rattle_forces(d, t, inputs, true);
    if (!d->dissipates) {
        kick(d, h);
        return LW_OK;
    }
    bool found = iterate(&of, &gap, &size);
    if (!found) { // from those of the beginning
        for (int k = 0; k < s->model->nnode; k++) v6_copy(d->body[k].f1, d->body[k].f);
        found = newton(&of, &gap, &size);
        d->counts.stiff++;
    }
    *power = of.power;
    if (found) return LW_OK;
    return lwi_fail(&work->error, LW_ERR_INTEGRATOR,
                    "t = %.9g s: the loads at the end of a step of %.3g s do not converge (last "
                    "change %.1e of %.1e): damping or friction is too stiff for this step; try a "
                    "smaller --step, or formulation index3",
                    t, h, gap, size);
}

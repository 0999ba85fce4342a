// projection.c -- states of a recorded run, and their derivatives, on the manifold of loops and couplings.
#include "analysis/projection.h"

#include "base/linear.h"
#include "kinematics/displacement.h"

#include <string.h>

#define SINGULAR 1e-6 // pivots below it: next to a singular position nothing is moved

// ------------------------------------------------------------------------------------------- states

// The rows at (t, x); s->scratch [m] := -phi, or with `speeds` -(J v + b).
static void evaluate(lwi_recording *s, double t, const double *x, bool speeds)
{
    const lw_model *model = s->model;
    lwi_cut *cut = &s->loops.cut;
    memcpy(s->tree.joint_q, model->q0, (size_t)model->nq * sizeof *s->tree.joint_q);
    lwi_cut_place(cut, &s->tree, t, x, x + s->nq);
    lwi_cut_rows(cut, &s->tree, t, LWI_CLOSURE_POSITION);
    for (int i = 0; i < cut->m; i++) s->scratch[i] = speeds ? -cut->rate[i] : -cut->phi[i];
}

static bool factor(lwi_recording *s, double t)
{
    const lw_model *model = s->model;
    lwi_cut *cut = &s->loops.cut;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        inertia_rigid(&s->loops.node[k].M, node->mass, node->h, node->J);
    }
    if (lwi_cut_factor_tree(model, &s->tree, s->loops.node, t, model->tree_rotor, NULL) != LW_OK)
        return false;
    lwi_cut_factor(cut, &s->tree, s->loops.node, cut->rank, 0);
    return cut->rank > 0 && cut->cod.rank == cut->rank && cut->cod.small > SINGULAR;
}

// to += the change of minimum kinetic energy.
static void correct(lwi_recording *s, double *to)
{
    lwi_cut_solve(&s->loops.cut, s->scratch);
    lwi_cut_apply(&s->loops.cut, &s->tree, s->loops.node, s->loops.cut.y, to);
}

// One step of Newton's method is enough: positions are off by what one step of the run makes.
void lwi_projection_state(lwi_recording *s, double t, double *x)
{
    if (!s->d.closed) return;
    evaluate(s, t, x, false);
    if (!factor(s, t)) return;
    memset(s->increment, 0, (size_t)s->n * sizeof *s->increment);
    correct(s, s->increment);
    lwi_displace(s->model, x, s->increment);
    evaluate(s, t, x, true);
    correct(s, x + s->nq);
}

// -------------------------------------------------------------------------------------- derivatives

// to [n] -= A' x, A [m][n]
static void subtract(const lwi_recording *s, const double *A, const double *x, double *to)
{
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) to[j] -= A[(size_t)i * (size_t)s->n + (size_t)j] * x[i];
}

void lwi_projection_back(lwi_recording *s, const lwi_slope_state *at, int c, int nby, double *bar,
                         double *gradient, double *factors)
{
    const lwi_number_state numbers = lwi_recording_number_state(s, at);
    double *mu = factors, *kappa = mu + s->m, *rows = s->scratch;
    lwi_loop_multipliers(&s->loops, &s->d, bar + s->n, kappa);
    subtract(s, s->d.rows.rate_by_q, kappa, bar);
    subtract(s, s->d.rows.J, kappa, bar + s->n);
    lwi_loop_multipliers(&s->loops, &s->d, bar, mu);
    subtract(s, s->d.rows.J, mu, bar);
    lwi_number_constraints(&s->numbers, &numbers, mu, kappa, -1,
                           s->by_numbers + (size_t)c * (size_t)s->numbers.n);
    for (int k = 0; k < nby; k++) {
        if (s->slope[k].local) continue;
        lwi_slope_constraints(&s->slope[k], at, rows);
        gradient[k] -= lwi_dot(2 * s->m, factors, rows);
    }
}

void lwi_projection_rows(lwi_recording *s, const lwi_slope_state *at, int nby, double *by_numbers,
                         double *factors, double *rows)
{
    const lwi_number_state numbers = lwi_recording_number_state(s, at);
    memset(factors, 0, 2 * (size_t)s->m * sizeof *factors);
    for (int i = 0; i < 2 * s->m; i++) {
        memset(by_numbers, 0, (size_t)s->numbers.n * sizeof *by_numbers);
        factors[i] = 1;
        lwi_number_constraints(&s->numbers, &numbers, factors, factors + s->m, 1, by_numbers);
        factors[i] = 0;
        for (int k = 0; k < nby; k++)
            rows[i * nby + k] = lwi_slope_by_numbers(&s->slope[k], by_numbers);
    }
    for (int k = 0; k < nby; k++) {
        if (s->slope[k].local) continue;
        lwi_slope_constraints(&s->slope[k], at, s->scratch);
        for (int i = 0; i < 2 * s->m; i++) rows[i * nby + k] = s->scratch[i];
    }
}

void lwi_projection_forward(lwi_recording *s, int nby, int k, const double *rows, double *S,
                            double *factors)
{
    const lwi_cut_derivatives *d = &s->d.rows;
    const size_t n = (size_t)s->n, m = (size_t)s->m, by = (size_t)nby, at = (size_t)k;
    double *rest = factors, *change = rest + m;
    for (size_t i = 0; i < m; i++) rest[i] = -rows[i * by + at] - lwi_dot(s->n, d->J + i * n, S);
    lwi_loop_particular(&s->loops, &s->d, rest, change);
    for (size_t i = 0; i < n; i++) S[i] += change[i];
    for (size_t i = 0; i < m; i++)
        rest[i] = -rows[(m + i) * by + at] - lwi_dot(s->n, d->J + i * n, S + n) -
                  lwi_dot(s->n, d->rate_by_q + i * n, S);
    lwi_loop_particular(&s->loops, &s->d, rest, change);
    for (size_t i = 0; i < n; i++) S[n + i] += change[i];
}

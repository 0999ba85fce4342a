// least_squares.c -- linkwork optimize --fit: the method of Levenberg and Marquardt in a box.
//
// With the Jacobian J of the residuals r by the design t, steps of the coordinates that no bound holds are
//
//     (JᵀJ + mu diag(JᵀJ)) s = -Jᵀr.
//
// A step ends at the bounds that it reaches.  A bound holds a coordinate that the gradient would move beyond it.  mu follows the ratio of the
// decrease of |r|² to that of the model (Nielsen's rule).
#include "cli/optimize.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE_T 1e-8
#define TOLERANCE_F 1e-9
#define FIRST_MU 1e-3
#define SINGULAR (4 * DBL_EPSILON) // pivots of JᵀJ relative to its diagonal: round-off
#define UNDETERMINED 1e-10         // and errors of the Jacobian, 1e-5 of a column

typedef struct fit {
    optimization *o;
    int n, m;
    double *A, *L, *g, *s, *t, *trial; // [n][n] JᵀJ, its factor; [n] Jᵀr, step, design, next design
    bool *held, *fixed;                // [n] by a bound; or by one that the step has reached
    double squares;
} fit;

static void normal_equations(fit *f)
{
    const optimization *o = f->o;
    const size_t n = (size_t)f->n;
    memset(f->A, 0, n * n * sizeof *f->A);
    memset(f->g, 0, n * sizeof *f->g);
    for (int i = 0; i < f->m; i++) {
        const double *row = o->jacobian + (size_t)i * n;
        for (size_t j = 0; j < n; j++) {
            const double a = row[j] * (o->upper[j] - o->lower[j]);
            f->g[j] += a * o->value[i];
            for (size_t k = 0; k <= j; k++)
                f->A[j * n + k] += a * row[k] * (o->upper[k] - o->lower[k]);
        }
    }
    for (size_t j = 0; j < n; j++)
        f->held[j] = (f->t[j] <= 0 && f->g[j] > 0) || (f->t[j] >= 1 && f->g[j] < 0) ||
                     f->A[j * n + j] == 0; // without effect
}

// L Lᵀ = A + mu diag(A) of what is not held; false: a pivot is below `smallest` of its diagonal.
static bool factor(fit *f, double mu, double smallest)
{
    const size_t n = (size_t)f->n;
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++) {
            const bool held = f->fixed[j] || f->fixed[k];
            double sum = j == k ? (held ? 1 : f->A[j * n + j] * (1 + mu))
                         : held ? 0
                                : f->A[j * n + k];
            for (size_t i = 0; i < k; i++) sum -= f->L[j * n + i] * f->L[k * n + i];
            if (j == k && !held && !(sum > smallest * f->A[j * n + j])) return false;
            f->L[j * n + k] = j == k ? sqrt(sum) : sum / f->L[k * n + k];
        }
    return true;
}

static void solve(const fit *f, double *x)
{
    const size_t n = (size_t)f->n;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++) x[j] -= f->L[j * n + k] * x[k];
        x[j] /= f->L[j * n + j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t k = j + 1; k < n; k++) x[j] -= f->L[k * n + j] * x[k];
        x[j] /= f->L[j * n + j];
    }
}

// A coordinate that the step would move beyond a bound ends there, and the others are solved for again.
static bool cut_one(fit *f)
{
    bool any = false;
    for (int j = 0; j < f->n; j++) {
        const double to = f->t[j] + f->s[j];
        if (f->fixed[j] || (to >= 0 && to <= 1)) continue;
        f->fixed[j] = any = true;
        f->s[j] = (to < 0 ? 0 : 1) - f->t[j];
    }
    return any;
}

// The next design and its distance; false: not with this mu.
static bool propose(fit *f, double mu, double *far)
{
    const size_t n = (size_t)f->n;
    double *s = f->trial;
    memcpy(f->fixed, f->held, n * sizeof *f->fixed);
    memset(f->s, 0, n * sizeof *f->s);
    do {
        if (!factor(f, mu, SINGULAR)) return false;
        for (size_t j = 0; j < n; j++) {
            s[j] = f->fixed[j] ? 0 : -f->g[j];
            for (size_t k = 0; k < n && !f->fixed[j]; k++)
                if (f->fixed[k]) s[j] -= f->A[j > k ? j * n + k : k * n + j] * f->s[k];
        }
        solve(f, s);
        for (size_t j = 0; j < n; j++)
            if (!f->fixed[j]) f->s[j] = s[j];
    } while (cut_one(f));
    *far = 0;
    for (size_t j = 0; j < n; j++) {
        f->trial[j] = fmin(1, fmax(0, f->t[j] + f->s[j]));
        *far = fmax(*far, fabs(f->s[j]));
    }
    return true;
}

// Decrease of |r|² that the linear model predicts.
static double predicted(const fit *f)
{
    const size_t n = (size_t)f->n;
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum -= 2 * f->g[j] * f->s[j];
        for (size_t k = 0; k < n; k++)
            sum -= f->s[j] * f->A[j > k ? j * n + k : k * n + j] * f->s[k];
    }
    return sum;
}

static bool stop(optimization *o, const char *reason)
{
    o->reason = reason;
    o->converged = true;
    return false;
}

// One step from f->t, where the Jacobian is known; false: the end.
static bool step(fit *f, double *mu, double *nu)
{
    optimization *o = f->o;
    for (;;) {
        double far, expected;
        while (!propose(f, *mu, &far) || (expected = predicted(f)) < 0) *mu = fmax(10 * *mu, 1e-12);
        if (far < TOLERANCE_T) return stop(o, "the parameters no longer change");
        if (expected <= TOLERANCE_F * f->squares) return stop(o, "the residuals no longer change");
        if (!optimize_evaluate(o, f->trial, false)) return false;
        const double squares = o->infeasible ? HUGE_VAL : optimize_objective(o);
        const double ratio = (f->squares - squares) / expected;
        if (ratio > 1e-4) {
            const double closer = 2 * ratio - 1;
            *mu *= fmax(1.0 / 3, 1 - closer * closer * closer);
            *nu = 2;
            memcpy(f->t, f->trial, (size_t)f->n * sizeof *f->t);
            f->squares = squares;
            return true;
        }
        *mu *= *nu;
        *nu *= 2;
        if (*mu > 1e12) return stop(o, "the residuals no longer change");
    }
}

// Of the parameters, by the last Jacobian, if errors of the data are independent and of the same variance: that of the residuals.
static void find_deviations(fit *f)
{
    optimization *o = f->o;
    const double variance = f->m > f->n ? f->squares / (f->m - f->n) : NAN;
    memcpy(f->fixed, f->held, (size_t)f->n * sizeof *f->fixed);
    if (!factor(f, 0, UNDETERMINED)) return;
    for (int k = 0; k < f->n; k++) {
        if (f->held[k]) continue;
        for (int j = 0; j < f->n; j++) f->s[j] = j == k;
        solve(f, f->s);
        o->deviation[k] = sqrt(variance * f->s[k]) * (o->upper[k] - o->lower[k]);
    }
}

static void search(fit *f)
{
    double mu = FIRST_MU, nu = 2;
    if (!optimize_evaluate(f->o, f->t, true) || f->o->infeasible) return;
    f->squares = optimize_objective(f->o);
    do {
        if (!optimize_evaluate(f->o, f->t, true)) return;
        if (f->o->infeasible) {
            f->o->reason = "no derivatives here";
            return;
        }
        normal_equations(f);
    } while (step(f, &mu, &nu));
    if (f->o->converged) find_deviations(f);
}

cli_exit optimize_fit(optimization *o)
{
    const size_t n = (size_t)o->n;
    double *room = malloc((2 * n * n + 4 * n) * sizeof *room);
    fit f = {.o = o, .n = o->n, .m = o->m, .held = malloc(2 * n * sizeof *f.held)};
    if (room && f.held) {
        f.A = room, f.L = f.A + n * n, f.g = f.L + n * n, f.s = f.g + n, f.t = f.s + n;
        f.trial = f.t + n, f.fixed = f.held + n;
        memcpy(f.t, o->work, n * sizeof *f.t);
        search(&f);
    }
    const bool memory = room && f.held;
    free(room);
    free(f.held);
    return memory ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
}

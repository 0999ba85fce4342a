// integrator.h -- the interface of an integrator.
//
// Problem: advance x' = f(t, x) from (t, x) to a given time.  Input: lwi_problem.  Output: t, x and counts
// of steps, rates and restarts.
//
// Adding one: a row in integrators.def and a tableau, or a new file and a row.
#ifndef LWI_INTEGRATE_INTEGRATOR_H
#define LWI_INTEGRATE_INTEGRATOR_H

#include "base/base.h"

#include <stdbool.h>

/** The problem and its tolerances. */
typedef struct lwi_problem {
    int n; ///< may be 0
    lw_status (*rates)(void *user, double t, const double *x, double *xdot);
    /** Before each step, with the state that it begins with; NULL: none.  Where x is changed, rates
     *  there are unchanged except for round-off: one-step methods continue; multistep ones restart, or continue from
     *  the x before if the change is a few tolerances. */
    lw_status (*pre_step)(void *user, double t, double *x, bool *changed);
    /** Latest end of a step from t; t or less: none begins there, and `advance` returns without one.  NULL: no
     *  bound.  Only where the type has `crosses`. */
    double (*bound)(void *user, double t);
    /** After a step from (t0, x0) to (t1, x1).  False: it is repeated, with an end at the latest at *end; *end <= t0:
     *  none begins, `advance` returns.  NULL: every step is accepted.  Only where the type has `crosses`. */
    bool (*accept)(void *user, double t0, const double *x0, double t1, const double *x1,
                   double *end);
    /** In place of rates: the problem's own time step; on failure x is unchanged.  NULL: the problem has
     *  rates. */
    lw_status (*step)(void *user, double t, double h, double *x);
    /** Estimated local error of a step of length h by `step`, in units of the allowed error.  `last` is x at
     *  the start of the previous step, of length last_h; 0: no previous step.  NULL: equal steps. */
    double (*error)(void *user, double h, const double *before, const double *after, double last_h,
                    const double *last);
    /** Around the differences of a Jacobian by (t, x): what is costly in the rates may be linear there.  NULL: rates are
     *  the same everywhere. */
    lw_status (*difference)(void *user, bool begin, double t, const double *x);
    /** After every LWI_TOLERANCE_STEPS steps from a state that was set: raises components of `atol` that are below the
     *  round-off of x, of which the error estimate has `amplified` times as much.  False: none.  NULL: atol stays as it is. */
    bool (*raise_tolerances)(void *user, double amplified, double t, const double *x);
    void *user;
    const lw_error *why; ///< of the last failed `rates`, quoted in messages; may be NULL
    double rtol;
    const double *atol; ///< [n] > 0
    bool once;          ///< a step that fails is not divided into halves
    double max_step;    ///< adaptive: largest step; fixed-step: the step; 0: none given
    long max_steps;     ///< maximum number of accepted steps; 0: no limit
    int order;          ///< 0: the integrator's own; of those that have several
    bool dense_output;  ///< `advance` may be called with limit > to
} lwi_problem;

typedef struct lwi_integrator_stats {
    long steps, evaluations, rejected, restarts;
} lwi_integrator_stats;

/** The discontinuity at a restart. */
typedef enum lwi_jump {
    LWI_JUMP_RATES, ///< f: one-step methods keep their step size, multistep ones restart
    LWI_JUMP_STATE  ///< t or x: all restart without history
} lwi_jump;

typedef struct lwi_integrator lwi_integrator;

enum { LWI_TOLERANCE_STEPS = 1000 };
enum { LWI_STEP_NUMBERS = 2 }; ///< of a step control: step proposed [s], error of the last step

typedef struct lwi_integrator_type {
    const char *name, *summary, *cite;
    int order; ///< the maximum if it varies
    bool adaptive;
    bool multistep; ///< has a history, which a change of the state by `pre_step` ends
    bool crosses;   ///< calls `bound` and `accept` of the problem
    bool steps;     ///< calls `step` of the problem in place of `rates`
    /** Takes all memory; keeps pointers of `problem`'s arrays, copies the struct. */
    lw_status (*create)(const struct lwi_integrator_type *, const lwi_problem *, double t,
                        const double *x, const lw_allocator *, lwi_integrator **, lw_error *);
    void (*destroy)(lwi_integrator *);
    /** From (*t, x) as the last call left them to `to`, exactly.  No rate is evaluated beyond
     *  `limit` >= to (except for round-off); with limit > to (dense output) a step may pass `to`, and
     *  x is interpolated.  `one_step`: return after one accepted step, *t is its time.  On failure
     *  *t and x are those of the last accepted step. */
    lw_status (*advance)(lwi_integrator *, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *);
    /** Continues from (t, x).  Counted in `restarts` where history is lost. */
    lw_status (*restart)(lwi_integrator *, double t, const double *x, lwi_jump, lw_error *);
    void (*stats)(const lwi_integrator *, lwi_integrator_stats *);
    /** What a step depends on besides x, as numbers [numbers(n, order)], from which `recall`, after a restart, continues
     *  with the same bits; the first 0: no step yet.  NULL: history is not stored. */
    int (*numbers)(int n, int order);
    void (*keep)(const lwi_integrator *, double *kept);
    void (*recall)(lwi_integrator *, const double *kept);
} lwi_integrator_type;

/** NULL if there is no integrator of that name. */
const lwi_integrator_type *lwi_integrator_find(const char *name);
int lwi_integrator_type_count(void);
const lwi_integrator_type *lwi_integrator_type_at(int index);

/** Every integrator begins with this. */
struct lwi_integrator {
    const lwi_integrator_type *type;
};

// ---- shared by integrators (integrators.c)

/** Steps that end where the method chose them, in succession and each below LWI_SHORT_STEP of the time, end the
 *  integration: it is stuck at a jump or a singular point, where rounding decides between refused and accepted. */
#define LWI_SHORT_STEP 1e-13
enum { LWI_SHORT_STEPS = 1000 };

/** Rates with a check of every component: LW_ERR_NOT_FINITE if one is not finite.  The message of a
 *  failure is in *why. */
lw_status lwi_problem_rates(const lwi_problem *problem, double t, const double *x, double *xdot,
                            lw_error *why);
/** Length of `count` equal steps, each at most max_step, from t to `to`.  Where `to` is a multiple of max_step away, up to
 *  the rounding of times, it is max_step to the last bit: with steps that differ by the rounding of t the energy of a
 *  symplectic method drifts as a random walk.  @param count  out */
double lwi_equal_step(double t, double to, double max_step, double *count);
/** "integration stops at t = 1.25 with step 3e-17: ..." */
lw_status lwi_integrator_fail(lw_error *error, lw_status status, double t, double step,
                              const char *format, ...) LW_PRINTF(5, 6);
/** What follows the colon. */
const char *lwi_integrator_cause(const char *text);

/** Explicit Runge-Kutta pair: strictly lower triangular A [stages][stages], weights b of `order`,
 *  weights d of `embedded` for the error estimate, nodes c. */
typedef struct lwi_tableau {
    int stages, order, embedded;
    const double *A, *b, *d, *c;
} lwi_tableau;

extern const lwi_tableau lwi_tableau_dopri5, lwi_tableau_bs3, lwi_tableau_fehlberg8; ///< tableaux.c
extern const lwi_tableau lwi_tableau_verner87;                                       ///< verner87.c

#endif

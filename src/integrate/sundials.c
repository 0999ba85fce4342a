// sundials.c -- adaptive integrators of SUNDIALS: explicit Runge-Kutta pairs (ARKODE's ERKStep) and
// multistep methods (CVODE).  This file and sundials_*.c use SUNDIALS. [hindmarsh2005, reynolds2023]
//
// SUNDIALS is always asked for one step.  The stop time of a step is `limit`, on which it ends
// exactly; between calls the solver may be past the caller's time (dense output), never before
// it by more than round-off.
//
// Memory: what grows with n is the caller's allocator's (sundials_memory.h).  SUNDIALS takes the rest by malloc, while an
// integrator is created: its context, solver, the copy of a Butcher table and lists of pointers to stages.
#include "integrate/integrator.h"

#include "integrate/sundials_memory.h"

#include "base/assert.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(sizeof(sunrealtype) == sizeof(double), "SUNDIALS must be built for double");
_Static_assert(ARK_ONE_STEP == CV_ONE_STEP && ARK_TOO_MUCH_ACC == CV_TOO_MUCH_ACC &&
                   ARK_RHSFUNC_FAIL == CV_RHSFUNC_FAIL,
               "both solvers have the same tasks and flags");

// An unforeseen impact may ask for a step ten decades smaller; the error test cuts by 0.3 or more.
#define MAX_FAILURES 40
// A stop that is so near, relative to the time, is reached: no step could resolve it.
#define NEAR (16 * DBL_EPSILON)
// Where rates are not finite the step of a Runge-Kutta method shrinks so much, as CVODE does it.
#define SHRINK 0.25
// Degree of ERKStep's Hermite interpolation: 5 is the highest (it is cut to order - 1 and costs
// rates); at a stop time it is evaluated at its own node, where degree 1 has the same bits for
// nothing.
enum { DENSE_DEGREE = 5, STOP_DEGREE = 1 };

/** The calls that ERKStep and CVODE share. */
typedef struct calls {
    int (*evolve)(void *, sunrealtype, N_Vector, sunrealtype *, int);
    int (*set_stop_time)(void *, sunrealtype);
    int (*derivative)(void *, sunrealtype, int, N_Vector);
    int (*current_step)(void *, sunrealtype *);
    int (*error_test_failures)(void *, long *);
} calls;

static const calls erk_calls = {ERKStepEvolve, ERKStepSetStopTime, ERKStepGetDky,
                                ERKStepGetCurrentStep, ERKStepGetNumErrTestFails};
static const calls cvode_calls = {CVode, CVodeSetStopTime, CVodeGetDky, CVodeGetCurrentStep,
                                  CVodeGetNumErrTestFails};

/** Entries of the list in addition to the public type. */
typedef struct method {
    const calls *call;
    const lwi_tableau *tableau;
    bool keeps; ///< last stage = first stage of the next step
    int family; ///< CV_ADAMS, CV_BDF; 0: one-step
} method;

typedef struct solver {
    lwi_integrator base;
    const method *method;
    lw_allocator allocator;
    lwi_problem problem;
    SUNContext context;
    lwi_sundials_memory arrays;
    void *memory;               ///< of ERKStep or CVODE; NULL for n = 0
    N_Vector y, accepted, atol; ///< output of a step; state at `t`; tolerances
    SUNNonlinearSolver nonlinear;
    SUNLinearSolver linear;
    SUNMatrix jacobian;
    double t;          ///< time of SUNDIALS
    bool rehearsing;   ///< rates are zero and not counted
    lw_status failure; ///< of the rates in the present step, and its text
    lw_error why;
    bool halted;     ///< no step begins at t
    bool at_start;   ///< the failure is at the state that the step begins with
    bool unfinite;   ///< rates were not finite in one of the last short steps
    int short_steps; ///< in succession
    lwi_integrator_stats stats;
    long rejected;  ///< before the last restart
    long since_set; ///< steps from the last state that was set
} solver;

// ----------------------------------------------------------------------------- SUNDIALS calls back

// A failure of the rates that no smaller step can help.
static bool hopeless(const solver *self)
{
    return self->failure != LW_OK && self->failure != LW_ERR_NOT_FINITE;
}

// > 0: try a smaller step; < 0: give up
static int fail(solver *self, lw_status status)
{
    self->failure = status;
    self->unfinite |= status == LW_ERR_NOT_FINITE;
    return status == LW_ERR_NOT_FINITE ? 1 : -1;
}

// 0: done; others as those of `fail`
static int rates(sunrealtype t, N_Vector y, N_Vector ydot, void *user)
{
    solver *self = user;
    if (hopeless(self) || self->arrays.exhausted)
        return -1; // CVODE's fixed-point iteration tries on
    if (self->rehearsing) {
        N_VConst(0, ydot);
        return 0;
    }
    self->stats.evaluations++;
    const lw_status status = lwi_problem_rates(&self->problem, t, N_VGetArrayPointer(y),
                                               N_VGetArrayPointer(ydot), &self->why);
    if (status == LW_OK) return 0;
    self->at_start =
        t == self->t && !memcmp(N_VGetArrayPointer(y), N_VGetArrayPointer(self->accepted),
                                (size_t)self->problem.n * sizeof(double));
    return fail(self, status);
}

// Messages of SUNDIALS become a status.  Up to version 6 every solver has its own handler,
// from 7 on the context has it.
#if SUNDIALS_VERSION_MAJOR < 7
static void say_nothing(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function, (void)text, (void)user;
}
static bool create_context(solver *self)
{
    return !SUNContext_Create(NULL, &self->context);
}
static bool silence(solver *self)
{
    return self->method->family ? !CVodeSetErrHandlerFn(self->memory, say_nothing, NULL)
                                : !ERKStepSetErrHandlerFn(self->memory, say_nothing, NULL);
}
#else
static void say_nothing(int line, const char *function, const char *file, const char *text,
                        SUNErrCode code, void *user, SUNContext context)
{
    (void)line, (void)function, (void)file, (void)text, (void)code, (void)user, (void)context;
}
static bool create_context(solver *self)
{
    return !SUNContext_Create(SUN_COMM_NULL, &self->context) &&
           !SUNContext_ClearErrHandlers(self->context) &&
           !SUNContext_PushErrHandler(self->context, say_nothing, NULL);
}
static bool silence(solver *self)
{
    return self->memory != NULL;
}
#endif

static int do_nothing(sunrealtype t, N_Vector y, void *user)
{
    (void)t, (void)y, (void)user;
    return 0;
}

// ------------------------------------------------------------------------------------------ create

// ERKStepSetTableNum does not check whether its table could be made.
static int set_table(solver *self)
{
    const lwi_tableau *own = self->method->tableau;
    // the arguments are read only
    ARKodeButcherTable table = ARKodeButcherTable_Create(
        own->stages, own->order, own->embedded, (sunrealtype *)own->c, (sunrealtype *)own->A,
        (sunrealtype *)own->b, (sunrealtype *)own->d);
    if (!table) return ARK_MEM_FAIL;
    const int flag = ERKStepSetTable(self->memory, table);
    ARKodeButcherTable_Free(table);
    return flag;
}

// SUNDIALS copies the tolerances.
static bool set_tolerances(solver *self)
{
    const double rtol = self->problem.rtol;
    return self->method->family ? !CVodeSVtolerances(self->memory, rtol, self->atol)
                                : !ERKStepSVtolerances(self->memory, rtol, self->atol);
}

static bool create_erk(solver *self)
{
    void *m = self->memory = ERKStepCreate(rates, self->t, self->accepted, self->context);
    if (!m) return false;
    // Versions before 6.6 take every last stage with c = 1 for the first stage of the next step,
    // which is wrong for pairs of order 8.  With a function to run after each step, even an empty
    // one, the first stage is evaluated again.
    if (!self->method->keeps && ERKStepSetPostprocessStepFn(m, do_nothing)) return false;
    return silence(self) && !set_table(self) && !ERKStepSetUserData(m, self) &&
           set_tolerances(self) && !ERKStepSetMaxErrTestFails(m, MAX_FAILURES) &&
           !ERKStepSetMaxStep(m, self->problem.max_step) &&
           !ERKStepSetInterpolantDegree(m, self->problem.dense_output ? DENSE_DEGREE : STOP_DEGREE);
}

// Jacobian by forward differences, column by column.  CVODE's own allocates a vector header each
// time.  A component is moved by sqrt(eps) of its magnitude, or of the one at which its absolute
// tolerance equals the relative one.
static int differences(solver *self, double t, N_Vector y, N_Vector ydot, SUNMatrix J,
                       N_Vector moved_, N_Vector rate_)
{
    double *moved = N_VGetArrayPointer(moved_);
    const double *rate = N_VGetArrayPointer(rate_), *f = N_VGetArrayPointer(ydot);
    N_VScale(1, y, moved_);
    for (int j = 0; j < self->problem.n; j++) {
        const double at = moved[j];
        const double size = fmax(fabs(at), self->problem.atol[j] / self->problem.rtol);
        moved[j] = at + sqrt(DBL_EPSILON) * size;
        const int flag = rates(t, moved_, rate_, self);
        if (flag) return flag;
        double *column = SUNDenseMatrix_Column(J, j);
        for (int i = 0; i < self->problem.n; i++) column[i] = (rate[i] - f[i]) / (moved[j] - at);
        moved[j] = at;
    }
    return 0;
}

static int jacobian(sunrealtype t, N_Vector y, N_Vector ydot, SUNMatrix J, void *user,
                    N_Vector moved, N_Vector rate, N_Vector unused)
{
    solver *self = user;
    const lwi_problem *p = &self->problem;
    (void)unused;
    if (hopeless(self)) return -1;
    const lw_status status =
        p->difference ? p->difference(p->user, true, t, N_VGetArrayPointer(y)) : LW_OK;
    if (status != LW_OK && p->why) self->why = *p->why;
    const int flag =
        status == LW_OK ? differences(self, t, y, ydot, J, moved, rate) : fail(self, status);
    if (p->difference) p->difference(p->user, false, t, NULL);
    return flag;
}

static bool set_newton(solver *self)
{
    self->jacobian = lwi_sundials_matrix(&self->arrays);
    if (!self->jacobian) return false;
    self->linear = lwi_sundials_solver(&self->arrays);
    return self->linear && !CVodeSetLinearSolver(self->memory, self->linear, self->jacobian) &&
           !CVodeSetJacFn(self->memory, jacobian);
}

static bool set_fixed_point(solver *self)
{
    self->nonlinear = SUNNonlinSol_FixedPoint(self->y, 0, self->context);
    return self->nonlinear && !CVodeSetNonlinearSolver(self->memory, self->nonlinear);
}

static bool create_multistep(solver *self)
{
    void *m = self->memory = CVodeCreate(self->method->family, self->context);
    return m && silence(self) && !CVodeInit(m, rates, self->t, self->accepted) &&
           !CVodeSetUserData(m, self) && set_tolerances(self) &&
           !CVodeSetMaxErrTestFails(m, MAX_FAILURES) && !CVodeSetMaxConvFails(m, MAX_FAILURES) &&
           !CVodeSetMaxStep(m, self->problem.max_step) &&
           (self->method->family == CV_BDF ? set_newton(self) : set_fixed_point(self));
}

// Restarts at (t, y) without history.
static int begin(solver *self, double t, const double *x)
{
    self->short_steps = 0;
    self->unfinite = false;
    self->t = t;
    memcpy(N_VGetArrayPointer(self->accepted), x, (size_t)self->problem.n * sizeof *x);
    if (self->method->family) return CVodeReInit(self->memory, t, self->accepted);
    const int flag = ERKStepReInit(self->memory, rates, t, self->accepted);
    return flag ? flag : ERKStepSetInitStep(self->memory, 0); // one of an earlier retry
}

// SUNDIALS allocates within its first step: one step of x' = 0 from x = 0 takes that out of the
// simulation.  Its length is given, so that none is searched for; `begin` takes that back.
static bool rehearse(solver *self)
{
    sunrealtype reached;
    const double stop = self->t + 1 + fabs(self->t);
    if (!self->method->family && ERKStepSetInitStep(self->memory, stop - self->t)) return false;
    self->rehearsing = true;
    const int flag =
        self->method->call->evolve(self->memory, stop, self->y, &reached, ARK_ONE_STEP);
    self->rehearsing = false;
    return flag >= 0 && !self->arrays.exhausted;
}

static void destroy(lwi_integrator *integrator)
{
    solver *self = (solver *)integrator;
    if (!self) return;
    if (self->memory && self->method->family) CVodeFree(&self->memory);
    if (self->memory) ERKStepFree(&self->memory);
    if (self->nonlinear) SUNNonlinSolFree(self->nonlinear);
    lwi_sundials_memory_destroy(&self->arrays);
    if (self->context) SUNContext_Free(&self->context);
    const lw_allocator allocator = self->allocator;
    lwi_release(&allocator, self);
}

static bool build(solver *self, const double *x)
{
    const int n = self->problem.n;
    if (n == 0) return true; // SUNDIALS has no vectors without components
    if (!create_context(self)) return false;
    lwi_sundials_memory *arrays = &self->arrays;
    if (!lwi_sundials_memory_create(arrays, n, &self->allocator, self->context)) return false;
    self->y = lwi_sundials_vector(arrays, NULL);
    self->accepted = lwi_sundials_vector(arrays, NULL);
    self->atol = lwi_sundials_vector(arrays, (double *)self->problem.atol); // read only
    if (!self->y || !self->accepted || !self->atol) return false;
    return (self->method->family ? create_multistep(self) : create_erk(self)) &&
           !arrays->exhausted && rehearse(self) && begin(self, self->t, x) >= 0;
}

static const method *method_of(const lwi_integrator_type *type);

static lw_status create(const lwi_integrator_type *type, const lwi_problem *problem, double t,
                        const double *x, const lw_allocator *allocator, lwi_integrator **integrator,
                        lw_error *error)
{
    solver *self = lwi_allocate(allocator, sizeof *self);
    if (self) {
        *self = (solver){.base = {type}, .method = method_of(type), .problem = *problem, .t = t};
        if (allocator) self->allocator = *allocator;
        if (build(self, x)) {
            *integrator = &self->base;
            return LW_OK;
        }
        destroy(&self->base);
    }
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for %s of %d states", type->name, problem->n);
}

// ------------------------------------------------------------------------------------------- steps

static lw_status report(solver *self, int flag, lw_error *error)
{
    sunrealtype h = 0;
    self->method->call->current_step(self->memory, &h);
    if (self->failure != LW_OK)
        return lwi_integrator_fail(error, self->failure, self->t, h, "%s", self->why.text);
    if (flag == ARK_TOO_MUCH_ACC)
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, self->t, h,
                                   "the tolerances are below round-off (rtol %.3g): loosen rtol "
                                   "or atol",
                                   self->problem.rtol);
    return lwi_integrator_fail(
        error, LW_ERR_INTEGRATOR, self->t, h,
        "no step is small enough for the tolerances: the motion jumps or is singular there, or "
        "rtol %.3g and atol ask for too much; loosen them, or take bdf if the model is stiff",
        self->problem.rtol);
}

// ERKStep gives up where a stage's rates are not finite: start the step again, shorter.  *h: the length of the
// last attempt, 0 before the first; ERKStep has only the one before.
static bool shorten(solver *self, sunrealtype *h)
{
    sunrealtype proposed = 0;
    ERKStepGetCurrentStep(self->memory, &proposed);
    *h = SHRINK * (*h > 0 ? fmin(*h, proposed) : proposed);
    if (self->at_start || !(self->t + *h > self->t)) return false;
    self->rejected++;
    return !ERKStepReset(self->memory, self->t, self->accepted) &&
           !ERKStepSetInitStep(self->memory, *h);
}

// Counts short steps; true: too many, the integration does not advance.
static bool is_stuck(solver *self, double reached, double limit)
{
    const bool is_short =
        reached < limit && reached - self->t < LWI_SHORT_STEP * fmax(fabs(reached), fabs(self->t));
    self->short_steps = is_short ? self->short_steps + 1 : 0;
    if (!is_short) self->unfinite = false;
    return self->short_steps >= LWI_SHORT_STEPS;
}

static long rejected(const solver *self)
{
    long failures = 0, unsolved = 0;
    if (!self->memory) return 0;
    self->method->call->error_test_failures(self->memory, &failures);
    if (self->method->family) CVodeGetNumStepSolveFails(self->memory, &unsolved);
    return self->rejected + failures + unsolved;
}

// Multistep methods lose their history by a change of the state: one below this many tolerances is not made, and is
// left to a later pre-step.
#define SMALL_CHANGE 10

// Is a multistep method's state so close to that of y that it continues from y, with its history?
static bool is_small_change(const solver *self)
{
    const double *x = N_VGetArrayPointer(self->accepted), *y = N_VGetArrayPointer(self->y);
    const lwi_problem *p = &self->problem;
    for (int i = 0; i < p->n; i++)
        if (!(fabs(x[i] - y[i]) <= SMALL_CHANGE * (p->rtol * fabs(y[i]) + p->atol[i])))
            return false;
    return true;
}

// The round-off of stages in the error estimate, compared with a tenth of that of one stage, which most methods have; weights of
// verner87 are up to 30.
#define USUAL_AMPLIFICATION 0.1

static double amplification(const method *m)
{
    double sum = 0;
    for (int i = 0; m->tableau && i < m->tableau->stages; i++) {
        const double weight = m->tableau->b[i] - m->tableau->d[i];
        sum += weight * weight;
    }
    return fmax(1, sqrt(sum) / USUAL_AMPLIFICATION);
}

// Lets the problem raise tolerances that are below round-off.
static bool raise_tolerances(solver *self)
{
    const lwi_problem *p = &self->problem;
    if (!p->raise_tolerances || self->since_set == 0 || self->since_set % LWI_TOLERANCE_STEPS)
        return true;
    if (!p->raise_tolerances(p->user, amplification(self->method), self->t,
                             N_VGetArrayPointer(self->accepted)))
        return true;
    if (!set_tolerances(self)) return false;
    if (!self->method->family) return true;
    // CVODE takes other tolerances with its first step only
    self->stats.restarts++;
    self->rejected = rejected(self);
    return !CVodeReInit(self->memory, self->t, self->accepted);
}

// Lets the problem change its state between steps.
static lw_status pre_step(solver *self, lw_error *error)
{
    const lwi_problem *p = &self->problem;
    double *x = N_VGetArrayPointer(self->accepted);
    bool changed = false;
    if (!p->pre_step) return LW_OK;
    if (self->method->family) N_VScale(1, self->accepted, self->y);
    const lw_status status = p->pre_step(p->user, self->t, x, &changed);
    if (status != LW_OK)
        return lwi_integrator_fail(error, status, self->t, 0, "%s", p->why ? p->why->text : "");
    if (!changed) return LW_OK;
    if (!self->method->family)
        return ERKStepReset(self->memory, self->t, self->accepted) ? LW_ERR_INTERNAL : LW_OK;
    if (is_small_change(self)) {
        N_VScale(1, self->y, self->accepted);
        return LW_OK;
    }
    self->stats.restarts++;
    self->rejected = rejected(self); // the counters of SUNDIALS start from zero
    return CVodeReInit(self->memory, self->t, self->accepted) ? LW_ERR_INTERNAL : LW_OK;
}

static bool accept(const solver *self, double reached, double *end)
{
    const lwi_problem *p = &self->problem;
    double earlier = *end;
    if (!p->accept || p->accept(p->user, self->t, N_VGetArrayPointer(self->accepted), reached,
                                N_VGetArrayPointer(self->y), &earlier))
        return true;
    *end = fmin(*end, earlier);
    return false;
}

// Back to the beginning of the step.
static bool repeat(solver *self)
{
    if (!self->method->family) {
        self->rejected++;
        return !ERKStepReset(self->memory, self->t, self->accepted);
    }
    self->stats.restarts++;
    self->rejected = rejected(self) + 1; // the counters of SUNDIALS start from zero
    return !CVodeReInit(self->memory, self->t, self->accepted);
}

// One accepted step towards `to`, not past `limit`; `t` and `accepted` give its end.
static lw_status step(solver *self, double to, double limit, lw_error *error)
{
    LWI_ASSERT(limit >= to);
    const lwi_problem *p = &self->problem;
    if (p->max_steps && self->stats.steps >= p->max_steps)
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, self->t, 0,
                                   "max_steps: %ld steps are done", p->max_steps);
    if (!raise_tolerances(self)) return LW_ERR_INTERNAL;
    TRY(pre_step(self, error));
    sunrealtype h = 0; // of the last attempt that was shortened
    double end = p->bound ? fmin(limit, p->bound(p->user, self->t)) : limit;
    for (;;) {
        sunrealtype reached = self->t;
        self->failure = LW_OK;
        self->halted = end <= self->t;
        if (self->halted) return LW_OK;
        int flag = self->method->call->set_stop_time(self->memory, end);
        if (flag >= 0)
            flag = self->method->call->evolve(self->memory, to, self->y, &reached, ARK_ONE_STEP);
        if (flag >= 0 && reached > self->t && !hopeless(self)) {
            if (!accept(self, reached, &end)) {
                if (!repeat(self)) return report(self, flag, error);
                continue;
            }
            const bool stuck = is_stuck(self, reached, limit);
            self->t = reached;
            N_VScale(1, self->y, self->accepted);
            self->stats.steps++;
            self->since_set++;
            if (!stuck) return LW_OK;
            self->failure = self->unfinite ? LW_ERR_NOT_FINITE : LW_OK;
            return report(self, flag, error);
        }
        const bool retry = !self->method->family && self->failure == LW_ERR_NOT_FINITE;
        if (!retry || !shorten(self, &h)) return report(self, flag, error);
    }
}

static void hand_over(const solver *self, const N_Vector from, double *x)
{
    memcpy(x, N_VGetArrayPointer(from), (size_t)self->problem.n * sizeof *x);
}

static lw_status advance(lwi_integrator *integrator, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *error)
{
    LWI_ASSERT(to >= *t && limit >= to);
    solver *self = (solver *)integrator;
    self->halted = false;
    if (self->problem.n == 0) {
        self->stats.steps += to > *t;
        *t = self->t = fmax(to, *t);
        return LW_OK;
    }
    while (*t < to) {
        if (self->t <= *t && to - self->t > NEAR * fmax(fabs(to), fabs(self->t)))
            TRY(step(self, to, limit, error));
        if (self->halted) break;
        if (self->t <= *t) { // `to` is reached except for round-off, SUNDIALS continues from there
            *t = to;
        } else if (self->t <= to) {
            *t = self->t;
            hand_over(self, self->accepted, x);
        } else {
            if (self->method->call->derivative(self->memory, to, 0, self->y))
                return report(self, 0, error);
            *t = to;
            hand_over(self, self->y, x);
        }
        if (one_step) break;
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------- restart, statistics

static lw_status restart(lwi_integrator *integrator, double t, const double *x, lwi_jump jump,
                         lw_error *error)
{
    solver *self = (solver *)integrator;
    const bool restart = jump == LWI_JUMP_STATE || self->method->family;
    self->stats.restarts += restart;
    if (self->problem.n == 0) {
        self->t = t;
        return LW_OK;
    }
    int flag;
    if (jump == LWI_JUMP_STATE) self->since_set = 0;
    if (jump == LWI_JUMP_STATE && self->problem.raise_tolerances && !set_tolerances(self)) {
        flag = ARK_MEM_FAIL;
    } else if (restart) {
        self->rejected = rejected(self); // the counters of SUNDIALS start from zero
        flag = begin(self, t, x);
    } else {
        self->t = t;
        memcpy(N_VGetArrayPointer(self->accepted), x, (size_t)self->problem.n * sizeof *x);
        flag = ERKStepReset(self->memory, t, self->accepted);
    }
    return flag < 0 ? lwi_fail(error, LW_ERR_INTERNAL, "%s: restart at t = %.10g fails (flag %d)",
                               self->base.type->name, t, flag)
                    : LW_OK;
}

static void stats(const lwi_integrator *integrator, lwi_integrator_stats *s)
{
    const solver *self = (const solver *)integrator;
    *s = self->stats;
    s->rejected = rejected(self);
}

// ---------------------------------------------------------------------------------------- the rows

#define TYPE(name_, order_, multistep_, summary_, cite_)                                           \
    extern const lwi_integrator_type lwi_integrator_##name_;                                       \
    const lwi_integrator_type lwi_integrator_##name_ = {.name = #name_,                            \
                                                        .summary = summary_,                       \
                                                        .cite = cite_,                             \
                                                        .order = order_,                           \
                                                        .adaptive = true,                          \
                                                        .multistep = multistep_,                   \
                                                        .crosses = true,                           \
                                                        .create = create,                          \
                                                        .destroy = destroy,                        \
                                                        .advance = advance,                        \
                                                        .restart = restart,                        \
                                                        .stats = stats};
#define LWI_ERK(name, order, keeps, summary, cite) TYPE(name, order, false, summary, cite)
#define LWI_MULTISTEP(name, family, order, summary, cite) TYPE(name, order, true, summary, cite)
#define LWI_OWN(name)
#include "integrate/integrators.def"
#undef LWI_ERK
#undef LWI_MULTISTEP

static const struct {
    const lwi_integrator_type *type;
    method method;
} rows[] = {
#define LWI_ERK(name, order, keeps_, summary, cite)                                                \
    {&lwi_integrator_##name, {.call = &erk_calls, .tableau = &lwi_tableau_##name, .keeps = keeps_}},
#define LWI_MULTISTEP(name, family_, order, summary, cite)                                         \
    {&lwi_integrator_##name, {.call = &cvode_calls, .family = family_}},
#include "integrate/integrators.def"
#undef LWI_ERK
#undef LWI_MULTISTEP
#undef LWI_OWN
};

static const method *method_of(const lwi_integrator_type *type)
{
    int i = 0;
    while (rows[i].type != type) i++;
    return &rows[i].method;
}

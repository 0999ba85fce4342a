// batch_stepper.c -- memory and failures of batched steppers, and the integrators of single states:
// a stepper of width 1.
#include "integrate/batch_stepper.h"

#include "base/assert.h"
#include "base/cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- steppers

enum { ALIGNMENT = 64, VECTOR = 4 };

lw_status lwi_stepper_create(int n, int stride, const lw_allocator *allocator, lwi_stepper *stepper)
{
    LWI_ASSERT(n >= 0 && stride >= 1);
    const int rows = stride > 1 ? n : (n + VECTOR - 1) / VECTOR * VECTOR;
    const size_t size = (size_t)rows * (size_t)stride, arrays = 3 + LWI_STEPPER_STAGES;
    *stepper = (lwi_stepper){.n = n, .stride = stride, .rows = rows};
    const size_t bytes = (arrays * size + LWI_STEPPER_LANES) * sizeof(double) + ALIGNMENT;
    stepper->block = lwi_allocate(allocator, bytes);
    if (!stepper->block) return LW_ERR_MEMORY;
    memset(stepper->block, 0, bytes);
    double *at =
        (double *)(((uintptr_t)stepper->block + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    stepper->tried_step = at;
    at += LWI_STEPPER_LANES;
    stepper->atol = at;
    stepper->x = at + size;
    stepper->y = at + 2 * size;
    for (size_t s = 0; s < LWI_STEPPER_STAGES; s++) stepper->k[s] = at + (3 + s) * size;
    for (int l = 0; l < LWI_STEPPER_LANES; l++) stepper->last_error[l] = LWI_STEPPER_MIN_REMEMBERED;
    return LW_OK;
}

void lwi_stepper_destroy(lwi_stepper *stepper, const lw_allocator *allocator)
{
    lwi_release(allocator, stepper->block);
    stepper->block = NULL;
}

void lwi_step_control_reset(lwi_step_control *control)
{
    control->h = 0;
    control->error = LWI_STEPPER_MIN_REMEMBERED;
    control->rejected = control->slope = control->arrived = control->failed = false;
    control->unfinite = false;
    control->short_steps = 0;
}

void lwi_step_control_keep(const lwi_step_control *control, double *kept)
{
    kept[0] = control->h;
    kept[1] = control->h > 0 ? control->error : 0;
}

void lwi_step_control_recall(lwi_step_control *control, const double *kept)
{
    if (!(kept[0] > 0 && isfinite(kept[0]) && kept[1] >= LWI_STEPPER_MIN_REMEMBERED)) return;
    control->h = kept[0];
    control->error = kept[1];
}

void lwi_stepper_fail(lwi_stepper *stepper, int lane, lw_status status, double step,
                      const char *format, ...)
{
    char detail[sizeof stepper->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    lwi_integrator_fail(&stepper->error[lane], status, stepper->t[lane], step, "%s", detail);
    stepper->status[lane] = status;
    stepper->control[lane].failed = true;
    stepper->busy &= ~(1u << lane);
}

void lwi_stepper_unwell(lwi_stepper *m, int l, const double *xdot)
{
    const lw_error *why = m->why[l];
    if (m->status[l] != LW_OK) {
        const bool explained = why && why->text[0];
        lwi_fail(&m->error[l], m->status[l], "%s",
                 explained ? why->text : lw_status_text(m->status[l]));
        return;
    }
    int i = 0;
    while (isfinite(xdot[i * m->stride + l])) i++;
    m->status[l] =
        lwi_fail(&m->error[l], LW_ERR_NOT_FINITE,
                 "the rate of state component %d is not finite (%g)", i, xdot[i * m->stride + l]);
}

// ----------------------------------------------------------------------------------------- methods

enum { METHODS = 2 };
static const lwi_stepper_method methods[METHODS] = {{"dopri54", true}, {"rk4", false}};

const lwi_stepper_method *lwi_stepper_find(const char *integrator)
{
    for (int i = 0; i < METHODS; i++)
        if (!strcmp(methods[i].name, integrator)) return &methods[i];
    return NULL;
}

LWI_ISA_BUILDS(lwi_stepper_lanes, lwi_stepper_lanes);

lwi_stepper_part lwi_stepper_part_of(const lwi_stepper_method *method, int width)
{
    const int isa = lwi_isa_of(0);
    const lwi_stepper_lanes *lanes =
        builds[isa < 0 ? LWI_ISA_SCALAR : isa]; // always built: Kernels.cmake
    const int i = (int)(method - methods);
    LWI_ASSERT_INDEX(i, METHODS);
    LWI_ASSERT(width == 1 || width == 4 || width == LWI_STEPPER_LANES);
    return width == 1 ? lanes->width1[i] : width == 4 ? lanes->width4[i] : lanes->width8[i];
}

void lwi_stepper_attempt(lwi_stepper *m, lwi_stepper_part part)
{
    m->phase = LWI_STEPPER_BEGIN;
    while (part(m))
        m->rates(m->user, m->request.t, m->request.x, m->request.xdot, m->request.lanes, m->status);
}

// ----------------------------------------------------------------------------------- single states

typedef struct single {
    lwi_integrator base;
    lw_allocator allocator;
    lwi_problem problem;
    lwi_stepper_part part;
    lwi_stepper stepper;
    long restarts;
    bool dense;         // steps may pass a row: x is interpolated
    bool keeps;         // x0 is known
    bool halted;        // no step begins at the present time
    double before, *x0; // [n] the last step began here
} single;

static void rates(void *user, const double *t, const double *x, double *xdot, unsigned lanes,
                  lw_status *status)
{
    const lwi_problem *p = user;
    (void)lanes; // the only one
    *status = p->rates(p->user, *t, x, xdot);
}

static void destroy(lwi_integrator *integrator)
{
    single *self = (single *)integrator;
    if (!self) return;
    const lw_allocator allocator = self->allocator;
    lwi_stepper_destroy(&self->stepper, &allocator);
    lwi_release(&allocator, self);
}

static lw_status create(const lwi_integrator_type *type, const lwi_problem *problem, double t,
                        const double *x, const lw_allocator *allocator, lwi_integrator **integrator,
                        lw_error *error)
{
    if (!type->adaptive && !(problem->max_step > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: a fixed step is needed", type->name);
    const size_t n = (size_t)problem->n;
    single *self = lwi_allocate(allocator, sizeof *self + n * sizeof(double));
    if (self) {
        *self = (single){.base = {type}, .problem = *problem, .x0 = (double *)(self + 1)};
        if (allocator) self->allocator = *allocator;
    }
    if (!self || lwi_stepper_create(problem->n, 1, allocator, &self->stepper) != LW_OK) {
        lwi_release(allocator, self);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for %s of %d states", type->name,
                        problem->n);
    }
    self->part = lwi_stepper_part_of(lwi_stepper_find(type->name), 1);
    self->dense = type->adaptive && problem->dense_output;
    self->keeps = self->dense || problem->accept;
    lwi_stepper *m = &self->stepper;
    m->rates = rates;
    m->user = &self->problem;
    m->why[0] = problem->why;
    m->rtol = problem->rtol;
    m->max_step = problem->max_step;
    m->max_steps = problem->max_steps;
    m->t[0] = t;
    for (size_t i = 0; i < n; i++) {
        m->x[i] = x[i];
        m->atol[i] = problem->atol ? problem->atol[i] : 1;
    }
    *integrator = &self->base;
    return LW_OK;
}

// One attempt after the other until one is accepted.
static lw_status attempt_until_accepted(single *self, lw_error *error)
{
    lwi_stepper *m = &self->stepper;
    const long steps = m->control[0].steps;
    m->busy = 1;
    m->control[0].failed = false;
    while (m->control[0].steps == steps && !m->control[0].failed) {
        self->before = m->t[0];
        if (self->keeps) memcpy(self->x0, m->x, (size_t)m->n * sizeof *m->x);
        lwi_stepper_attempt(m, self->part);
    }
    if (!m->control[0].failed) return LW_OK;
    if (error) *error = m->error[0];
    return m->status[0];
}

// Back to the beginning of the last step.
static void repeat(single *self)
{
    lwi_stepper *m = &self->stepper;
    m->t[0] = self->before;
    memcpy(m->x, self->x0, (size_t)m->n * sizeof *m->x);
    m->control[0].slope = false;
    m->control[0].steps--;
    m->control[0].rejections++;
}

// One accepted step towards `stop`; halted: none begins.
static lw_status step(single *self, double stop, lw_error *error)
{
    lwi_stepper *m = &self->stepper;
    const lwi_problem *p = &self->problem;
    bool changed = false;
    if (p->pre_step && p->pre_step(p->user, m->t[0], m->x, &changed) != LW_OK)
        return lwi_fail(error, LW_ERR_SINGULAR, "%s", p->why ? p->why->text : "");
    if (changed) m->control[0].slope = false;
    double end = p->bound ? fmin(stop, p->bound(p->user, m->t[0])) : stop;
    for (;;) {
        self->halted = end <= m->t[0];
        if (self->halted) return LW_OK;
        m->stop[0] = end;
        TRY(attempt_until_accepted(self, error));
        double earlier = end;
        if (!p->accept || p->accept(p->user, self->before, self->x0, m->t[0], m->x, &earlier))
            return LW_OK;
        repeat(self);
        end = fmin(end, earlier);
    }
}

// Hairer's fourth-order polynomial over the last step; c0 ... c4 of each component.
static void interpolate(const single *self, double t, double *x)
{
    static const double d[LWI_STEPPER_STAGES] = {
        -12715105075. / 11282082432,  0,
        87487479700. / 32700410799,   -10690763975. / 1880347072,
        701980252875. / 199316789632, -1453857185. / 822651844,
        69997945. / 29380423};
    const lwi_stepper *m = &self->stepper;
    const double *k0 = m->k[1]; // of the beginning; k[0] is of the end by now
    const double h = m->t[0] - self->before, s = (t - self->before) / h, s1 = 1 - s;
    for (int i = 0; i < m->n; i++) {
        const double moved = m->x[i] - self->x0[i], c2 = h * k0[i] - moved;
        const double c3 = moved - h * m->k[6][i] - c2;
        double c4 = d[0] * k0[i];
        for (int j = 2; j < LWI_STEPPER_STAGES; j++) c4 += d[j] * m->k[j][i];
        x[i] = self->x0[i] + s * (moved + s1 * (c2 + s * (c3 + s1 * h * c4)));
    }
}

static lw_status advance(lwi_integrator *integrator, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *error)
{
    single *self = (single *)integrator;
    lwi_stepper *m = &self->stepper;
    self->halted = false;
    while (*t < to) {
        if (m->t[0] <= *t) TRY(step(self, self->dense ? limit : to, error));
        if (self->halted) break;
        if (m->t[0] <= to) {
            *t = m->t[0];
            for (int i = 0; i < m->n; i++) x[i] = m->x[i];
        } else {
            interpolate(self, to, x);
            *t = to;
        }
        if (one_step) break;
    }
    return LW_OK;
}

static lw_status restart(lwi_integrator *integrator, double t, const double *x, lwi_jump jump,
                         lw_error *error)
{
    single *self = (single *)integrator;
    lwi_stepper *m = &self->stepper;
    (void)error;
    m->t[0] = t;
    for (int i = 0; i < m->n; i++) m->x[i] = x[i];
    m->control[0].slope = false;
    if (jump != LWI_JUMP_STATE) return LW_OK;
    self->restarts++;
    lwi_step_control_reset(&m->control[0]);
    m->h[0] = m->control[0].h;
    m->last_error[0] = m->control[0].error;
    return LW_OK;
}

static void stats(const lwi_integrator *integrator, lwi_integrator_stats *s)
{
    const single *self = (const single *)integrator;
    const lwi_step_control *control = &self->stepper.control[0];
    *s = (lwi_integrator_stats){.steps = control->steps,
                                .evaluations = control->evaluations,
                                .rejected = control->rejections,
                                .restarts = self->restarts};
}

static int numbers(int n, int order)
{
    (void)n, (void)order;
    return LWI_STEP_NUMBERS;
}

static void keep(const lwi_integrator *integrator, double *kept)
{
    const lwi_stepper *m = &((const single *)integrator)->stepper;
    lwi_step_control control = m->control[0];
    control.h = m->h[0];
    control.error = m->last_error[0];
    lwi_step_control_keep(&control, kept);
}

static void recall(lwi_integrator *integrator, const double *kept)
{
    lwi_stepper *m = &((single *)integrator)->stepper;
    lwi_step_control_recall(&m->control[0], kept);
    m->h[0] = m->control[0].h;
    m->last_error[0] = m->control[0].error;
}

#define STEPPING(name_, order_, adaptive_, summary_, cite_)                                        \
    extern const lwi_integrator_type lwi_integrator_##name_;                                       \
    const lwi_integrator_type lwi_integrator_##name_ = {.name = #name_,                            \
                                                        .summary = summary_,                       \
                                                        .cite = cite_,                             \
                                                        .order = order_,                           \
                                                        .adaptive = adaptive_,                     \
                                                        .crosses = true,                           \
                                                        .create = create,                          \
                                                        .destroy = destroy,                        \
                                                        .advance = advance,                        \
                                                        .restart = restart,                        \
                                                        .stats = stats,                            \
                                                        .numbers = adaptive_ ? numbers : NULL,     \
                                                        .keep = adaptive_ ? keep : NULL,           \
                                                        .recall = adaptive_ ? recall : NULL};
STEPPING(dopri54, 5, true,
         "explicit Runge-Kutta 5(4), adaptive; own implementation, bitwise the same alone and in "
         "batches",
         "dormand1980")
STEPPING(rk4, 4, false, "classical Runge-Kutta of order 4, fixed step; also in batches",
         "kutta1901")

// run.c -- the rates of a simulation's steps by compiled code.
//
// The state is x = (tree q, tree v, what the formulation adds, states of signals).  Coordinates, speeds and
// signals have compiled rates; those of angles of cut joints and of the work are the formulation's, at the same speeds.
#include "batch/batch.h"
#include "compiled/compiled.h"
#include "model/events.h"
#include "simulate/simulation.h"

#include <math.h>
#include <string.h>

static bool finite(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += 0 * x[i]; // NAN where one is not finite
    return sum == 0;
}

/** One workspace's use of it. */
typedef struct use {
    const lw_compiled *compiled;
    double *v;        ///< [tree nv]
    int angles;       ///< first in x
    bool is_complete; ///< all rates are compiled; else the formulation adds some
} use;

// The next evaluation by the formulation chooses its partition again: it has evaluated none of the states since the last one.
static void clear_choice(void *discrete, size_t n)
{
    if (n) memset(discrete, 0, n);
}

static bool rates(void *user, lwi_work *work, double t, const double *x, const double *inputs,
                  double *xdot)
{
    const use *mine = user;
    const lw_compiled *c = mine->compiled;
    const lw_compiled_info *n = &c->info;
    const int nx = work->layout.nx, states = nx - n->nstate;
    if (c->calls->rates(t, x, x + n->nq, x + states, inputs, xdot, xdot + n->nq, xdot + states,
                        mine->v, xdot + mine->angles))
        return false;
    if (!mine->is_complete &&
        work->formulation->rates_beside(work, t, x, mine->v, inputs, xdot) != LW_OK)
        return false;
    if (!finite(xdot, nx)) return false; // its message names what
    clear_choice(work->discrete, work->ndiscrete);
    return true;
}

static double margin(void *user, const double *x)
{
    const use *mine = user;
    return sqrt(fmax(0, mine->compiled->calls->margin(x)));
}

// Lanes with finite rates.
static unsigned finite_lanes(const double *xdot, int nx, int stride, unsigned lanes)
{
    unsigned good = 0;
    for (int l = 0; lanes >> l; l++) {
        double sum = 0;
        for (int i = 0; i < nx; i++) sum += 0 * xdot[i * stride + l];
        good |= (unsigned)(sum == 0) << l;
    }
    return lanes & good;
}

static unsigned rates_in_lanes(void *user, lwi_work *work, int stride, const double *t,
                               const double *x, const double *const *inputs, double *xdot,
                               unsigned lanes)
{
    const use *mine = user;
    const lw_compiled *c = mine->compiled;
    const lw_compiled_info *n = &c->info;
    const int nx = work->layout.nx, states = nx - n->nstate, width = n->lanes;
    unsigned done = lanes;
    if (!mine->is_complete || stride % width != 0) return 0;
    for (int l = 0; l < stride; l += width) {
        const unsigned part = ((1u << width) - 1) << l;
        if (!(lanes & part)) continue;
        const double *q = x + l, *v = q + n->nq * stride;
        double *rate = xdot + l;
        done &= ~(c->calls->rates_lanes(stride, t + l, q, v, q + states * stride, inputs + l, rate,
                                        rate + n->nq * stride, rate + states * stride,
                                        rate + mine->angles * stride)
                  << l);
    }
    return finite_lanes(xdot, nx, stride, done);
}

// Why the simulation cannot use it; NULL: it can.
static const char *unfit(const lw_sim *sim, const lw_compiled *c)
{
    const lwi_work *work = sim->work;
    const lw_model *m = work->model;
    const lw_compiled_info *n = &c->info;
    if (m->tree_nq != n->nq || m->tree_nv != n->nv || m->nstate != n->nstate ||
        m->desc.ninput != n->ninput)
        return "it is another model's";
    if (!work->formulation->rates_beside || lwi_layout_has(&work->layout, LWI_MOMENTUM))
        return "the formulation has another state than coordinates and speeds of the tree";
    return NULL;
}

// Memory of the workspace's arena.
static lw_status attach(lwi_work *work, const void *compiled)
{
    const lw_compiled *c = compiled;
    use *u = LWI_PUSH(&work->arena, use, 1);
    if (!u) return LW_ERR_MEMORY;
    *u = (use){.compiled = c,
               .v = LWI_PUSH(&work->arena, double, c->info.nv),
               .angles = c->info.nq + c->info.nv + work->model->carries_work,
               .is_complete = c->calls->angles >= 0 && !work->model->carries_work};
    if (!u->v) return LW_ERR_MEMORY;
    work->source = (lwi_rates_source){.rates = rates,
                                      .margin = margin,
                                      .rates_in_lanes = c->info.lanes > 1 ? rates_in_lanes : NULL,
                                      .user = u};
    return LW_OK;
}

lw_status lw_sim_use_compiled(lw_sim *sim, const lw_compiled *c)
{
    if (!sim || !c) return LW_ERR_ARGUMENT;
    const char *why = unfit(sim, c);
    if (why)
        return lwi_fail(&sim->error, LW_ERR_UNSUPPORTED,
                        "formulation %s cannot use compiled rates: %s", sim->options.formulation,
                        why);
    if (attach(sim->work, c) == LW_OK) return LW_OK;
    return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for compiled rates");
}

// Why the instances cannot use it; NULL: they can.
static const char *batch_unfit(const lw_batch *b, const lw_compiled *c)
{
    const lw_sim *first = lwi_batch_sim(b);
    if (!first) return "no instance could begin";
    if (b->alone)
        return lwi_has_events(b->model)
                   ? "instances of a model with events have separate simulations"
                   : "instances have separate simulations by the options; expected the integrator "
                     "dopri54 or rk4, and singular other than stop";
    for (int v = 0; v < b->nvariant; v++)
        if (b->variant[v].own) return "instances have different parameters";
    return unfit(first, c);
}

lw_status lw_batch_use_compiled(lw_batch *b, const lw_compiled *c)
{
    if (!b || !c) return LW_ERR_ARGUMENT;
    const char *why = batch_unfit(b, c);
    if (why)
        return lwi_fail(&b->error, LW_ERR_UNSUPPORTED, "compiled rates cannot be used: %s", why);
    for (int i = 0; i < b->nworker; i++)
        if (lwi_worker_each_work(b->worker[i], attach, c) != LW_OK) return lwi_batch_no_memory(b);
    return LW_OK;
}

static lw_status use_in_group(lw_batch *b, const void *compiled)
{
    return lw_batch_use_compiled(b, compiled);
}

lw_status lw_sweep_use_compiled(lw_sweep *s, const lw_compiled *c)
{
    if (!s || !c) return LW_ERR_ARGUMENT;
    const char *parameter = lwi_sweep_parameter(s);
    if (parameter)
        return lwi_fail(
            lwi_sweep_failure(s), LW_ERR_UNSUPPORTED,
            "compiled rates cannot be used: %.120s changes the model, and they are of one "
            "model; expected inputs (input.NAME) and starts (joint.NAME.q0, .qd0) to vary",
            parameter);
    return lwi_sweep_each_batch(s, use_in_group, c);
}

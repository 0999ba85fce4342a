// run.c -- the rates of a simulation's steps by compiled code.
//
// The state is x = (tree q, tree v, what the formulation adds, states of signals).  Coordinates, speeds and
// signals have compiled rates; those of angles of cut joints and of the work are the formulation's, at the same speeds.
#include "compiled/compiled.h"
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
    double *v; ///< [tree nv]
} use;

static bool rates(void *user, lwi_work *work, double t, const double *x, const double *inputs,
                  double *xdot)
{
    const use *mine = user;
    const lw_compiled *c = mine->compiled;
    const lw_compiled_info *n = &c->info;
    const int nx = work->layout.nx, states = nx - n->nstate;
    if (c->calls->rates(t, x, x + n->nq, x + states, inputs, xdot, xdot + n->nq, xdot + states,
                        mine->v))
        return false;
    if (work->formulation->rates_beside(work, t, x, mine->v, inputs, xdot) != LW_OK) return false;
    if (!finite(xdot, nx)) return false; // its message names what
    // a partition that is only used between steps: the next evaluation by the formulation chooses again
    if (work->ndiscrete) memset(work->discrete, 0, work->ndiscrete);
    return true;
}

// Why the simulation cannot use it; NULL: it can.
static const char *unfit(const lwi_work *work, const lw_compiled *c)
{
    const lw_model *m = work->model;
    const lw_compiled_info *n = &c->info;
    if (m->tree_nq != n->nq || m->tree_nv != n->nv || m->nstate != n->nstate ||
        m->desc.ninput != n->ninput)
        return "it is another model's";
    if (!work->formulation->rates_beside || lwi_layout_has(&work->layout, LWI_MOMENTUM))
        return "the formulation has another state than coordinates and speeds of the tree";
    if (m->driven) return "motions that are prescribed do work that is not compiled";
    if (m->nmode) return "forces with modes are not compiled";
    return NULL;
}

lw_status lw_sim_use_compiled(lw_sim *sim, const lw_compiled *c)
{
    if (!sim || !c) return LW_ERR_ARGUMENT;
    const char *why = unfit(sim->work, c);
    if (why)
        return lwi_fail(&sim->error, LW_ERR_UNSUPPORTED,
                        "formulation %s cannot use compiled rates: %s", sim->options.formulation,
                        why);
    lwi_work *work = sim->work;
    use *u = LWI_PUSH(&work->arena, use, 1);
    if (u) *u = (use){c, LWI_PUSH(&work->arena, double, c->info.nv)};
    if (!u || !u->v) return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for compiled rates");
    work->source = (lwi_rates_source){.rates = rates, .user = u};
    return LW_OK;
}

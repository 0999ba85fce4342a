// signal_states.c -- states of signals, which every formulation carries as the last components of its state.
#include "kinematics/formulation.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

void lwi_states_layout(const lw_model *model, lwi_layout *layout)
{
    if (model->nstate == 0) return;
    layout->block[layout->nblock++] =
        (lwi_block){.kind = LWI_SIGNAL, .first = layout->nx, .n = model->nstate};
    layout->nx += model->nstate;
}

void lwi_states_enter(const lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    const int n = work->model->nstate;
    LWI_ASSERT(work->layout.nx >= n);
    if (n > 0) memcpy(x + work->layout.nx - n, snapshot->states, (size_t)n * sizeof *x);
}

void lwi_states_observe(lwi_work *work, const double *x, lwi_snapshot *snapshot)
{
    const int n = work->model->nstate;
    lwi_states_set(work, x, NULL);
    if (n > 0) memcpy(snapshot->states, x + work->layout.nx - n, (size_t)n * sizeof *x);
}

// Error control ends a step within its tolerance of the place where the rate jumps.
bool lwi_states_limit(const lwi_work *work, double *x)
{
    const lw_model *model = work->model;
    double *z = x + work->layout.nx - model->nstate;
    bool changed = false;
    for (int i = 0; model->limited && i < model->desc.nfunction; i++) {
        const lwi_function *f = &model->function[i];
        if (f->desc.type != LW_FUNCTION_INTEGRAL || !f->desc.has_range) continue;
        const double within = fmin(fmax(z[f->state], f->desc.range[0]), f->desc.range[1]);
        changed |= within != z[f->state];
        z[f->state] = within;
    }
    return changed;
}

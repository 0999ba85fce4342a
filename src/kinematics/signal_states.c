// signal_states.c -- states of signals, which every formulation carries as the last components of its state.
#include "kinematics/formulation.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void lwi_states_layout(const lw_model *model, lwi_layout *layout)
{
    lwi_layout_add(layout, LWI_SIGNAL, model->nstate);
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

static int states_of_functions(const lw_model *model)
{
    int n = 0;
    for (int k = 0; k < model->desc.nfunction; k++) n += model->function[k].nstate;
    return n;
}

int lw_model_signal_states(const lw_model *model)
{
    return model ? model->nstate : 0;
}

void lw_model_signal_state_name(const lw_model *model, int index, char *text, size_t size)
{
    if (!model || !text || !size) return;
    text[0] = 0;
    if (index >= 0 && index < model->nstate) lwi_state_name(model, index, text, size);
}

// Those of functions, then of servos with a lag, in the order of the file.
void lwi_state_name(const lw_model *model, int i, char *text, size_t size)
{
    for (int k = 0; k < model->desc.nfunction; k++) {
        const lwi_function *f = &model->function[k];
        if (i < f->state || i >= f->state + f->nstate) continue;
        if (f->desc.name)
            snprintf(text, size, "signal.%s.state%d", f->desc.name, i - f->state);
        else
            snprintf(text, size, "function%d.state%d", k, i - f->state);
        return;
    }
    int servo = 0;
    for (int k = 0; k < model->desc.force[LWI_ITEM_servo].n; k++) {
        const lw_servo_desc *d = lwi_force_desc(&model->desc, LWI_ITEM_servo, k);
        servo += d->lag > 0;
        if (d->lag > 0 && servo == i - states_of_functions(model) + 1)
            snprintf(text, size, "servo.%s.state", d->name);
    }
}

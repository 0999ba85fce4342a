// not_finite.c -- which functions of a model are no numbers at a state, and what they read there.
#include "simulate/simulation.h"
#include "spatial/motion.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_to_message(lwi_work *work, const char *format, ...) LW_PRINTF(2, 3);
static void add_to_message(lwi_work *work, const char *format, ...)
{
    char *text = work->error.text;
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof work->error.text - used, format, arguments);
    va_end(arguments);
}

// The joint coordinates and speeds that a formula reads, and what they are.
static void name_readings(lwi_work *work, int function, const lwi_now *now)
{
    const lwi_formula *formula = work->model->function[function].formula;
    for (int k = 0; formula && k < formula->nname; k++) {
        const lwi_formula_name *name = &formula->name[k];
        if (name->kind != LWI_READ_JOINT) {
            add_to_message(work, "%s%.*s = %.9g", k ? ", " : " at ", name->length,
                           formula->text + name->at, lwi_formula_reading(name, now));
            continue;
        }
        add_to_message(work, "%sjoint '%s' %s%d = %.9g", k ? ", " : " at ", name->joint,
                       name->speed ? "qd" : "q", name->coordinate,
                       (name->speed ? now->qd : now->q)[name->index]);
    }
}

// The range of a curve or map that has no values beyond it.
static void name_range(lwi_work *work, int function)
{
    const lw_function_desc *d = &work->model->desc.function[function];
    if (!d->npoint) return;
    if (d->ends == LW_ENDS_ERROR)
        add_to_message(work, ", expected %s from %.9g to %.9g",
                       d->type == LW_FUNCTION_TABLE ? "t" : "x", d->t[0], d->t[d->npoint - 1]);
    if (d->type == LW_FUNCTION_MAP && d->ends2 == LW_ENDS_ERROR)
        add_to_message(work, ", expected x2 from %.9g to %.9g", d->x2[0], d->x2[d->npoint2 - 1]);
}

bool lwi_name_functions(lwi_work *work, double t, const double *x, const double *inputs,
                        lwi_snapshot *snapshot)
{
    enum { NAMED = 3 };
    int named = 0;
    const lw_model *m = work->model;
    lwi_now now = {.t = t, .inputs = inputs};
    const lw_error error = work->error;
    if (!m->desc.nfunction) return false;
    lwi_kin kin = {.R = NULL};
    now.functions = m->function;
    if (work->formulation->observe(work, t, x, inputs, LW_OBSERVE_TWIST, snapshot) == LW_OK) {
        for (int b = 0; b < m->nbody; b++)
            m3_mul_v(snapshot->w_world[b], snapshot->R[b], snapshot->w[b]);
        kin = (lwi_kin){.R = (const double(*)[9])snapshot->R,
                        .r = (const double(*)[3])snapshot->r,
                        .v = (const double(*)[3])snapshot->v,
                        .w = (const double(*)[3])snapshot->w_world};
        now.q = snapshot->q, now.qd = snapshot->qd, now.kin = &kin, now.states = snapshot->states;
    }
    work->error = error;
    for (int i = 0; i < m->desc.nfunction && named < NAMED; i++) {
        const lw_signal s = {i + 1};
        if (!now.q && lwi_function_of_state(m->desc.function, s)) continue;
        const double value = lwi_signal_value(m->function, s, &now, 0);
        if (isfinite(value)) continue;
        const char *name = m->desc.function[i].name; // none: a formula where it is used
        add_to_message(work, "%s%s%s%s is %g", *work->error.text ? "; " : "",
                       name ? "function '" : "a formula", name ? name : "", name ? "'" : "",
                       isnan(value) ? fabs(value) : value); // without the sign of a NaN
        name_readings(work, i, &now);
        name_range(work, i);
        named++;
    }
    return named > 0;
}

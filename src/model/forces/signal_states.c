// signal_states.c -- rates of the states of signals.  They follow from what forces read, so they are evaluated together
// with the forces, by a force without a load.
#include "model/signals/states.h"

#include "model/model.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    (void)par, (void)loads;
    if (!kin->states || !kin->states->rate) return;
    lwi_now now = lwi_now_at(kin, t, inputs);
    now.functions = model->function;
    for (int i = 0; i < model->desc.nfunction; i++) {
        const lwi_function *f = &model->function[i];
        if (f->nstate > 0) lwi_signal_states_rates(f, &now, kin->states->rate + f->state);
    }
}

// One of one place, the ground: the others may be shared by threads.
static lwi_force_place place(const void *par)
{
    (void)par;
    return (lwi_force_place){.iv = -1, .n = 1, .body = {0}};
}

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    (void)model, (void)par, (void)kin, (void)t, (void)inputs, (void)value;
}

static const lwi_force_outputs outputs = {NULL, 0, add_outputs};

const lwi_force_type lwi_force_signal_states = {
    .name = "signal_states",
    .summary = "rates of the states of signals; no load",
    .needs = 0,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = NULL, .next_break = NULL,
                    .modes = NULL, .varies = NULL, .rate = NULL, .nrow = 0, .rows = NULL,
                    .actions = NULL, .outputs = &outputs),
};

// Motion of the start, for formulas.
static bool start_motion(const lw_model *m, lwi_arena *arena, lwi_kin *kin)
{
    double(*R)[9] = lwi_arena_push(arena, (size_t)m->nbody, sizeof *R);
    double(*v)[3][3] = lwi_arena_push(arena, 3, (size_t)m->nbody * sizeof(double[3]));
    if (!R || !v) return false;
    double(*r)[3] = (double(*)[3])v, (*w)[3] = r + m->nbody, (*velocity)[3] = w + m->nbody;
    for (int b = 0; b < m->nbody; b++) {
        const lwi_body *body = &m->body[b];
        if (b)
            quat_matrix(R[b], body->quat0);
        else
            m3_identity(R[b]);
        v3_copy(r[b], body->r0);
        v3_copy(velocity[b], body->v0);
        m3_mul_v(w[b], R[b], body->w0);
    }
    *kin = (lwi_kin){.R = (const double(*)[9])R,
                     .r = (const double(*)[3])r,
                     .v = (const double(*)[3])velocity,
                     .w = (const double(*)[3])w,
                     .q = m->q0,
                     .qd = m->v0};
    return true;
}

// Those of servos are the last ones, in the order of the file.
static void start_servos(lw_model *m)
{
    int i = m->nstate;
    for (int k = m->desc.force[LWI_ITEM_servo].n - 1; k >= 0; k--) {
        const lw_servo_desc *d = lwi_force_desc(&m->desc, LWI_ITEM_servo, k);
        if (d->lag > 0) m->state0[--i] = d->initial;
    }
}

// In the order of the functions: formulas name those before.
lw_status lwi_compile_states(lw_model *m, lw_error *error)
{
    lwi_arena scratch;
    lwi_kin kin;
    m->state0 = LWI_PUSH(&m->arena, double, m->nstate);
    if (!m->state0) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the states of signals");
    if (m->nstate == 0) return LW_OK;
    lwi_arena_init(&scratch, &m->arena.allocator);
    const bool ok = start_motion(m, &scratch, &kin);
    lwi_now now = {.functions = m->function};
    if (ok) {
        now = lwi_now_at(&kin, 0, NULL);
        now.functions = m->function;
    }
    for (int i = 0; ok && i < m->desc.nfunction; i++) {
        lwi_function *f = &m->function[i];
        if (f->nstate == 0) continue;
        lwi_signal_states_start(f, &now, f->start);
        memcpy(m->state0 + f->state, f->start, (size_t)f->nstate * sizeof *f->start);
    }
    start_servos(m);
    lwi_arena_free(&scratch);
    return ok ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for the states of signals");
}

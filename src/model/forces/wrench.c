// wrench.c -- a force at a point of a body and a torque, in world or body axes, times scale(t).
//
// It has no potential; its power is force . (velocity of the point) + torque . w.
#include "model/model.h"
#include "spatial/motion.h"

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_wrench_par *p = par;
    const lwi_now now = {.t = t, .inputs = inputs, .q = kin->q, .qd = kin->qd};
    const double scale = lwi_signal_value(model->function, p->scale, &now, 1);
    const double *R = kin->R[p->body];
    double f[6], arm[3];
    v3_scale(f, scale, p->force);
    v3_scale(f + 3, scale, p->torque);
    if (p->body_axes) {
        m3_mul_v(f, R, f);
        m3_mul_v(f + 3, R, f + 3);
    }
    m3_mul_v(arm, R, p->point);
    v3_cross_add(f + 3, arm, f); // moment about the mass centre
    v6_axpy(loads->wrench[p->body], 1, f);
    loads->power += v3_dot(f, kin->v[p->body]) + v3_dot(f + 3, kin->w[p->body]);
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const lwi_wrench_par *p = par;
    return lwi_function_next_break(model->function, p->scale, t);
}

static lwi_force_place place(const void *par)
{
    const lwi_wrench_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 1, .body = {p->body}};
}

const lwi_force_type lwi_force_wrench = {
    .name = "wrench",
    .summary = "force at a point of a body and torque, in world or body axes",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    .place = place,
    .dissipates = dissipates,
    .next_break = next_break,
};

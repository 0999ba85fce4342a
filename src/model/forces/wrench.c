// wrench.c -- a force at a point of a body and a torque, in world or body axes, times scale(t).
//
// It has no potential; its power is force . (velocity of the point) + torque . w.
#include "model/forces/points.h"
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

static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const lwi_wrench_par *p = par;
    double own[3], point[3], T[3];
    m3_mul_v(own, s->kin->R[p->body], p->point);
    point_of(point, s->kin, p->body, p->point);
    v3_copy(T, s->load[0] + 3);
    v3_cross_add(T, s->load[0], own); // less own x F
    act(&action[0], 0, p->body_axes ? LWI_FOLLOWS_BODY : LWI_FOLLOWS_POINT, point, s->load[0]);
    if (p->body_axes) return 1;
    act(&action[1], 0, LWI_FOLLOWS_TORQUE, point, T);
    return 2;
}

const lwi_force_type lwi_force_wrench = {
    .name = "wrench",
    .summary = "force at a point of a body and torque, in world or body axes",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = NULL, .rate = NULL,
                    .nrow = 0, .rows = NULL, .actions = actions),
};

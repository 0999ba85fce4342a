// mechanism.h -- small mechanisms built in code, and the dynamic balance of every body from
// observed values.
#ifndef LWT_MECHANISM_H
#define LWT_MECHANISM_H

#include "kinematics/formulation.h"
#include "kinematics/observe.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_body lwt_ground = {0};

static inline lw_builder *lwt_builder(void)
{
    lw_builder *b;
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    return b;
}

static inline void lwt_ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s", error->text);
}

/** Destroys the builder. */
static inline lw_model *lwt_model(lw_builder *b)
{
    lw_model *model;
    lw_error error;
    lwt_ok(lw_model_create(b, &model, &error), &error);
    lw_builder_destroy(b);
    return model;
}

static inline void lwt_add_mechanism(lw_builder *b, lw_mechanism_desc desc)
{
    lw_error error;
    lwt_ok(lw_builder_add_mechanism(b, &desc, &error), &error);
}

/** One mechanism of a generator. */
static inline lw_model *lwt_generated(lw_mechanism_desc desc)
{
    lw_builder *b = lwt_builder();
    lwt_add_mechanism(b, desc);
    return lwt_model(b);
}

static inline lw_body lwt_body(lw_builder *b, const lw_body_desc *desc)
{
    lw_body body;
    lw_error error;
    lwt_ok(lw_builder_add_body(b, desc, &body, &error), &error);
    return body;
}

/** A rod from (x1, y1) to (x2, y2) in the plane z = 0; its frame is at the middle with x along the
 *  rod. */
static inline lw_body lwt_rod(lw_builder *b, const char *name, double x1, double y1, double x2,
                              double y2, double mass)
{
    const double l2 = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1);
    const double half = 0.5 * atan2(y2 - y1, x2 - x1);
    return lwt_body(
        b, &(lw_body_desc){.name = name,
                           .mass = mass,
                           .inertia = {0.002 * mass, mass * l2 / 12, mass * l2 / 12, 0, 0, 0},
                           .pose = {.position = {(x1 + x2) / 2, (y1 + y2) / 2, 0},
                                    .orientation = {cos(half), 0, 0, sin(half)}}});
}

static inline lw_joint lwt_add(lw_builder *b, const lw_joint_desc *desc)
{
    lw_joint joint;
    lw_error error;
    lwt_ok(lw_builder_add_joint(b, desc, &joint, &error), &error);
    return joint;
}

/** A joint at (x, y, 0) with axis z; universal: x2 along y. */
static inline lw_joint lwt_joint(lw_builder *b, lw_joint_type type, const char *name, lw_body body1,
                                 lw_body body2, double x, double y)
{
    return lwt_add(b, &(lw_joint_desc){.name = name,
                                       .type = type,
                                       .body1 = body1,
                                       .body2 = body2,
                                       .at = {x, y, 0},
                                       .axis = {0, 0, 1},
                                       .axis2 = {0, 1, 0}});
}

/** A revolute joint at (x, y, 0) with axis z and a speed; one of 0 is not specified. */
static inline void lwt_revolute(lw_builder *b, const char *name, lw_body body1, lw_body body2,
                                double x, double y, double speed)
{
    lwt_add(b, &(lw_joint_desc){.name = name,
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = body1,
                                .body2 = body2,
                                .at = {x, y, 0},
                                .axis = {0, 0, 1},
                                .has_qd = speed != 0,
                                .qd = {speed}});
}

/** lwt_spring, lwt_wrench, ...: add one element as described. */
#define LWT_ADDER(kind)                                                                            \
    static inline void lwt_##kind(lw_builder *b, const lw_##kind##_desc *desc)                     \
    {                                                                                              \
        lw_error error;                                                                            \
        lwt_ok(lw_builder_add_##kind(b, desc, &error), &error);                                    \
    }
LWT_ADDER(spring)
LWT_ADDER(wrench)
LWT_ADDER(bushing)
LWT_ADDER(stop)
LWT_ADDER(coupling)

static inline lw_signal lwt_function(lw_builder *b, const lw_function_desc *desc)
{
    lw_signal signal;
    lw_error error;
    lwt_ok(lw_builder_add_function(b, desc, &signal, &error), &error);
    return signal;
}

static inline lwi_work *lwt_work(const lw_model *model, const lwi_formulation *formulation)
{
    lwi_work *work;
    lw_error error;
    lwt_ok(lwi_work_create(model, formulation, NULL, &work, &error), &error);
    return work;
}

static inline double *lwt_vector(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/** Classical Runge-Kutta steps of size h. */
static inline void lwt_integrate(lwi_work *work, double *t, double *x, const double *inputs,
                                 double h, int steps)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const int n = work->layout.nx;
    double *k = lwt_vector(n), *y = lwt_vector(n), *sum = lwt_vector(n);
    for (int step = 0; step < steps; step++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < n; i++) y[i] = x[i] + at[s] * h * k[i];
            lwt_ok(work->formulation->rates(work, *t + at[s] * h, y, inputs, k), &work->error);
            for (int i = 0; i < n; i++) sum[i] += weight[s] * k[i];
        }
        for (int i = 0; i < n; i++) x[i] += h * sum[i];
        *t += h;
    }
    free(k);
    free(y);
    free(sum);
}

/** A complete snapshot: the values computed by the formulation, and those of merged bodies. Memory
 *  is in `arena`. */
static inline void lwt_observe(lwi_work *work, double t, const double *x, const double *inputs,
                               lwi_arena *arena, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    lwi_loads loads = {.wrench = lwi_arena_push(arena, (size_t)model->nbody, 6 * sizeof(double)),
                       .effort = lwi_arena_push(arena, (size_t)model->nv, sizeof(double))};
    assert_int_equal(lwi_snapshot_create(model, arena, snapshot), LW_OK);
    lwt_ok(work->formulation->observe(work, t, x, inputs, LW_OBSERVE_REACTION, snapshot),
           &work->error);
    lwi_observe_merged(model, LW_OBSERVE_REACTION, inputs, &loads, snapshot);
}

/** Largest residual of the Newton-Euler equations over all bodies as described, from a snapshot
 *  alone: forces, gravity, reactions and joint efforts against mass times acceleration. */
static inline double lwt_imbalance(const lw_model *model, const double *inputs,
                                   const lwi_snapshot *m)
{
    const size_t nbody = (size_t)model->nbody;
    double(*w)[3] = calloc(nbody, sizeof *w);
    lwi_loads loads = {.wrench = calloc(nbody, sizeof *loads.wrench),
                       .effort = lwt_vector(model->nv)};
    for (size_t b = 0; b < nbody; b++) m3_mul_v(w[b], m->R[b], m->w[b]);
    const lwi_kin kin = {.R = (const double(*)[9])m->R,
                         .r = (const double(*)[3])m->r,
                         .v = (const double(*)[3])m->v,
                         .w = (const double(*)[3])w,
                         .q = m->q,
                         .qd = m->qd};
    lwi_forces_apply(model, &kin, m->t, inputs, &loads);
    for (int j = 0; j < model->njoint;
         j++) // rotors on free coordinates; on driven ones they are forces
        for (int k = 0; k < model->joint[j].type->nv; k++)
            loads.effort[model->joint[j].iv + k] -=
                model->joint[j].rotor[k] * m->qdd[model->joint[j].iv + k];
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int bodies[2] = {model->desc.joint[j].body2.index, model->desc.joint[j].body1.index};
        double R2[9], p[3], T[6][6], wrench[6];
        m3_mul(R2, m->R[joint->body2], joint->R2);
        m3_mul_v(p, m->R[joint->body2], joint->r2);
        v3_add(p, p, m->r[joint->body2]);
        v6_copy(wrench, m->reaction[j]);
        joint->type->effort(&joint->par, m->q + joint->iq, T);
        for (int k = 0; k < joint->type->nv; k++) {
            double f[6];
            m3_mul_v(f, R2, T[k]);
            m3_mul_v(f + 3, R2, T[k] + 3);
            v6_axpy(wrench, loads.effort[joint->iv + k], f);
        }
        for (int side = 0; side < 2; side++) {
            double arm[3], n[3];
            const double sign = side ? -1 : 1;
            v3_sub(arm, p, m->r[bodies[side]]);
            v3_cross(n, arm, wrench);
            v3_add(n, n, wrench + 3);
            v3_axpy(loads.wrench[bodies[side]], sign, wrench);
            v3_axpy(loads.wrench[bodies[side]] + 3, sign, n);
        }
    }
    double largest = 0;
    for (size_t b = 1; b < nbody; b++) {
        const lwi_body *body = &model->body[b];
        double f[3], n[3], L[3], c[3];
        v3_sub(f, m->a[b], model->gravity);
        v3_scale(f, body->mass, f);
        v3_sub(f, f, loads.wrench[b]);
        s3_mul_v(n, body->inertia, m->al[b]);
        s3_mul_v(L, body->inertia, m->w[b]);
        v3_cross(c, m->w[b], L);
        v3_add(n, n, c);
        m3_mul_v(n, m->R[b], n);
        v3_sub(n, n, loads.wrench[b] + 3);
        for (int i = 0; i < 3; i++) largest = fmax(largest, fmax(fabs(f[i]), fabs(n[i])));
    }
    free(w);
    free(loads.wrench);
    free(loads.effort);
    return largest;
}

/** Index of the work integral in a state; fails the test where there is none. */
static inline int lwt_work_index(const lwi_work *work)
{
    for (int i = 0; i < work->layout.nblock; i++)
        if (work->layout.block[i].kind == LWI_WORK) return work->layout.block[i].first;
    fail_msg("the state carries no work");
    return -1;
}

/** Power [W]: the rate at which the reported work changes along the flow of the state, by differences of order
 *  eight.  A state with momenta has the work of drives less what they have in the momenta. */
static inline double lwt_power(lwi_work *work, double t, const double *x, const double *inputs)
{
    static const double weight[4] = {4 / 5.0, -1 / 5.0, 4 / 105.0, -1 / 280.0};
    const int nx = work->layout.nx;
    const double h = 5e-4;
    double *xdot = lwt_vector(nx), *y = lwt_vector(nx), power = 0;
    lwi_snapshot m;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(work->model, &arena, &m), LW_OK);
    lwt_ok(work->formulation->rates(work, t, x, inputs, xdot), &work->error);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (int i = 0; i < nx; i++) y[i] = x[i] + k * h * xdot[i];
        lwt_ok(work->formulation->observe(work, t + k * h, y, inputs, LW_OBSERVE_TWIST, &m),
               &work->error);
        power += (k > 0 ? weight[k - 1] : -weight[-k - 1]) / h * m.work;
    }
    lwi_arena_free(&arena);
    free(xdot);
    free(y);
    return power;
}

#endif

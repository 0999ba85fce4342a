// input_slopes.c -- derivatives of inputs by a motion: products, first-order prediction, names of readings.
#include "kinematics/input_slopes.h"

#include "base/assert.h"
#include "kinematics/displacement.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ memory

static lw_status create_change(const lw_model *model, lwi_arena *arena, lwi_motion_change *c)
{
    c->q = LWI_PUSH(arena, double, model->nv);
    c->qd = LWI_PUSH(arena, double, model->nv);
    c->states = LWI_PUSH(arena, double, model->nstate);
    c->pose = lwi_arena_push(arena, (size_t)model->nbody, sizeof *c->pose);
    c->twist = lwi_arena_push(arena, (size_t)model->nbody, sizeof *c->twist);
    return c->q && c->qd && c->states && c->pose && c->twist ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_input_slopes_create(const lw_model *model, lwi_arena *arena, lwi_input_slopes *s)
{
    const size_t n = (size_t)model->desc.ninput, nv = (size_t)model->nv,
                 nbody = (size_t)model->nbody, nstate = (size_t)model->nstate;
    *s = (lwi_input_slopes){.model = model, .count = n * (2 * nv + nstate + 12 * nbody)};
    s->inputs = LWI_PUSH(arena, double, n);
    double *at = s->numbers = LWI_PUSH(arena, double, s->count);
    if (!s->inputs || !at) return LW_ERR_MEMORY;
    s->by = (lw_input_slopes){.ninput = model->desc.ninput,
                              .nv = model->nv,
                              .nstate = model->nstate,
                              .nbody = model->nbody,
                              .by_pose = (double(*)[6])at};
    s->by.by_twist = s->by.by_pose + n * nbody;
    s->by.by_q = at + 12 * n * nbody;
    s->by.by_qd = s->by.by_q + n * nv;
    s->by.by_states = s->by.by_qd + n * nv;
    TRY(create_change(model, arena, &s->change));
    return lwi_snapshot_create(model, arena, &s->motion);
}

void lwi_input_slopes_clear(lwi_input_slopes *s)
{
    memset(s->numbers, 0, s->count * sizeof *s->numbers);
}

// ---------------------------------------------------------------------------------------- readings

int lwi_input_slopes_readings(const lw_model *model)
{
    return 2 * model->nv + model->nstate + 12 * (model->nbody - 1);
}

static int joint_of(const lw_model *model, int speed)
{
    int j = 0;
    while (speed >= model->joint[j].iv + model->joint[j].type->nv) j++;
    return j;
}

lwi_observed lwi_input_slopes_reading(const lw_model *model, int k)
{
    const int nv = model->nv, nstate = model->nstate, bodies = 6 * (model->nbody - 1);
    LWI_ASSERT_INDEX(k, lwi_input_slopes_readings(model));
    if (k < 2 * nv) {
        const int index = k % nv, j = joint_of(model, index);
        return (lwi_observed){k < nv ? LWI_OBSERVED_Q : LWI_OBSERVED_QD, j,
                              index - model->joint[j].iv, index};
    }
    k -= 2 * nv;
    if (k < nstate) return (lwi_observed){LWI_OBSERVED_STATE, k, 0, k};
    k -= nstate;
    return (lwi_observed){k < bodies ? LWI_OBSERVED_POSE : LWI_OBSERVED_TWIST, 1 + k % bodies / 6,
                          k % 6, 6 + k % bodies};
}

void lwi_observed_name(const lw_model *model, lwi_observed r, char *text, size_t size)
{
    static const char *const pose[] = {"x", "y", "z", "rx", "ry", "rz"};
    static const char *const twist[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    switch (r.kind) {
    case LWI_OBSERVED_Q:
    case LWI_OBSERVED_QD: {
        const lwi_joint *joint = &model->joint[r.item];
        const char *kind = joint->type->scalar ? "q" : "d"; // as lw_linear_state_name
        snprintf(text, size, "joint.%s.%s%d", joint->name, r.kind == LWI_OBSERVED_QD ? "qd" : kind,
                 r.component);
        return;
    }
    case LWI_OBSERVED_STATE:
        lwi_state_name(model, r.index, text, size);
        return;
    case LWI_OBSERVED_POSE:
        snprintf(text, size, "body.%s.%s", model->body[r.item].name, pose[r.component]);
        return;
    case LWI_OBSERVED_TWIST:
        snprintf(text, size, "body.%s.%s", model->body[r.item].name, twist[r.component]);
        return;
    }
}

double *lwi_input_slopes_entry(const lwi_input_slopes *s, int i, lwi_observed r)
{
    const lw_input_slopes *by = &s->by;
    const size_t row = (size_t)i, at = (size_t)r.index;
    switch (r.kind) {
    case LWI_OBSERVED_Q:
        return by->by_q + row * (size_t)by->nv + at;
    case LWI_OBSERVED_QD:
        return by->by_qd + row * (size_t)by->nv + at;
    case LWI_OBSERVED_STATE:
        return by->by_states + row * (size_t)by->nstate + at;
    case LWI_OBSERVED_POSE:
        return (double *)by->by_pose + row * 6 * (size_t)by->nbody + at;
    case LWI_OBSERVED_TWIST:
        return (double *)by->by_twist + row * 6 * (size_t)by->nbody + at;
    }
    return NULL;
}

// quat := quat exp(angle about an axis of the body)
static void rotate(double quat[4], int axis, double angle)
{
    double turn[4] = {cos(0.5 * angle), 0, 0, 0}, rotated[4];
    turn[1 + axis] = sin(0.5 * angle);
    quat_mul(rotated, quat, turn);
    quat_normalize(quat, rotated);
}

void lwi_observed_move(const lw_model *model, lwi_observed r, double by, lwi_snapshot *m)
{
    double du[LW_JOINT_MAX_NV] = {0};
    switch (r.kind) {
    case LWI_OBSERVED_Q:
        du[r.component] = by;
        lwi_displace_joint(&model->joint[r.item], m->q + model->joint[r.item].iq, du);
        return;
    case LWI_OBSERVED_QD:
        m->qd[r.index] += by;
        return;
    case LWI_OBSERVED_STATE:
        m->states[r.index] += by;
        return;
    case LWI_OBSERVED_POSE:
        if (r.component < 3)
            m->r[r.item][r.component] += by;
        else
            rotate(m->quat[r.item], r.component - 3, by);
        return;
    case LWI_OBSERVED_TWIST:
        (r.component < 3 ? m->v : m->w)[r.item][r.component % 3] += by;
        return;
    }
}

// ---------------------------------------------------------------------------------------- products

lw_status lwi_input_slopes_check(const lwi_input_slopes *s, lw_error *error)
{
    size_t bad = 0;
    while (bad < s->count && isfinite(s->numbers[bad])) bad++;
    if (bad == s->count) return LW_OK;
    for (int i = 0; i < s->by.ninput; i++)
        for (int k = 0; k < lwi_input_slopes_readings(s->model); k++) {
            const lwi_observed r = lwi_input_slopes_reading(s->model, k);
            const double value = *lwi_input_slopes_entry(s, i, r);
            char name[300];
            if (isfinite(value)) continue;
            lwi_observed_name(s->model, r, name, sizeof name);
            return lwi_fail(error, LW_ERR_NOT_FINITE,
                            "input '%s': its Jacobian gives %g by %s at t = %.10g s",
                            s->model->desc.input[i], value, name, s->motion.t);
        }
    return lwi_fail(error, LW_ERR_NOT_FINITE,
                    "the Jacobian of inputs by the pose or twist of the ground is not finite");
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

void lwi_input_slopes_product(const lwi_input_slopes *s, const lwi_motion_change *c, double *out)
{
    const lw_input_slopes *by = &s->by;
    const size_t nv = (size_t)by->nv, nstate = (size_t)by->nstate, nbody = 6 * (size_t)by->nbody;
    for (size_t i = 0; i < (size_t)by->ninput; i++)
        out[i] = dot(nv, by->by_q + i * nv, c->q) + dot(nv, by->by_qd + i * nv, c->qd) +
                 dot(nstate, by->by_states + i * nstate, c->states) +
                 dot(nbody, (const double *)by->by_pose + i * nbody, (const double *)c->pose) +
                 dot(nbody, (const double *)by->by_twist + i * nbody, (const double *)c->twist);
}

// The rotation vector from quaternion a to b, close to it, in the axes that b gives.
static void rotation_between(const double a[4], const double b[4], double out[3])
{
    double back[4], turn[4];
    quat_conjugate(back, a);
    quat_mul(turn, back, b);
    v3_scale(out, turn[0] < 0 ? -2 : 2, turn + 1);
}

static void joint_change(const lwi_joint *joint, const double *from, const double *to, double *out)
{
    const lwi_joint_type *type = joint->type;
    const int quaternion = type->quaternion;
    if (quaternion < 0) {
        for (int i = 0; i < type->nv; i++) out[i] = to[i] - from[i];
        return;
    }
    rotation_between(from + quaternion, to + quaternion, out + type->nv - 3);
    if (quaternion == 0) return;
    double d[3], R[9]; // a free joint: displacement in axes of F2
    v3_sub(d, to, from);
    quat_matrix(R, from + quaternion);
    m3_tmul_v(out, R, d);
}

void lwi_input_slopes_predict(lwi_input_slopes *s, const lwi_snapshot *to, double *value)
{
    const lw_model *model = s->model;
    const lwi_snapshot *from = &s->motion;
    lwi_motion_change *c = &s->change;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        joint_change(joint, from->q + joint->iq, to->q + joint->iq, c->q + joint->iv);
    }
    for (int i = 0; i < model->nv; i++) c->qd[i] = to->qd[i] - from->qd[i];
    for (int i = 0; i < model->nstate; i++) c->states[i] = to->states[i] - from->states[i];
    for (int b = 1; b < model->nbody; b++) {
        v3_sub(c->pose[b], to->r[b], from->r[b]);
        rotation_between(from->quat[b], to->quat[b], c->pose[b] + 3);
        v3_sub(c->twist[b], to->v[b], from->v[b]);
        v3_sub(c->twist[b] + 3, to->w[b], from->w[b]);
    }
    lwi_input_slopes_product(s, c, value);
    for (int i = 0; i < s->by.ninput; i++) value[i] += s->inputs[i];
}

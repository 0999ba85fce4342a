// restart.c -- the description of a mechanism with another motion as its start, and the model of it.
#include "initial/restart.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <linkwork/assemble.h>

#include <math.h>
#include <string.h>

// Round-off of values that were kept: what is written again is what was given.
#define SAME 1e-12

static void take(double *given, const double *values, int n, bool is_given)
{
    bool same = is_given;
    for (int i = 0; i < n; i++) same = same && fabs(given[i] - values[i]) <= SAME;
    if (!same) memcpy(given, values, (size_t)n * sizeof *given);
}

static bool anything_moves(const lw_model *model, const lwi_motion *motion, const double *qd)
{
    for (int i = 0; i < model->nv; i++)
        if (fabs(qd[i]) > 0) return true;
    for (int b = 1; b < model->nbody; b++)
        if (v3_norm(motion->v[b]) > 0 || v3_norm(motion->w[b]) > 0) return true;
    return false;
}

static void place_body(const lw_model *model, const lwi_motion *motion, int b, lw_body_desc *d)
{
    const lwi_body *body = &model->body[b];
    double R[9], r[3], quat[4], arm[3];
    m3_mul(R, motion->R[body->carrier], body->carrier_R);
    m3_mul_v(r, motion->R[body->carrier], body->carrier_r);
    v3_add(r, r, motion->r[body->carrier]);
    quat_from_matrix(quat, R);
    quat_normalize(quat, quat);
    m3_mul_v(arm, R, body->com);
    v3_sub(r, r, arm);
    d->in = (lw_body){0};
    d->pose.position = (lw_vec3){r[0], r[1], r[2]};
    d->pose.orientation = (lw_quat){quat[0], quat[1], quat[2], quat[3]};
}

static void move_body(const lwi_motion *motion, int b, lw_body_desc *d)
{
    double w[3];
    m3_tmul_v(w, motion->R[b], motion->w[b]);
    d->has_velocity = 1;
    d->velocity = (lw_vec3){motion->v[b][0], motion->v[b][1], motion->v[b][2]};
    d->angular_velocity = (lw_vec3){w[0], w[1], w[2]};
}

static void set_joint(const lwi_joint *joint, const double *q, const double *qd, bool places,
                      bool moves, lw_joint_desc *d)
{
    if (places && joint->type->has_length) d->length = joint->par.length;
    if (joint->merged || joint->type->nv == 0) return;
    if (places) {
        take(d->q, q + joint->iq, joint->type->nq, d->has_q);
        d->has_q = 1;
    }
    if (!moves && !d->has_qd) return;
    take(d->qd, qd + joint->iv, joint->type->nv, d->has_qd);
    d->has_qd = 1;
}

// A state of a signal at the start: by the key that people write where it has one.
static void set_signal(const lwi_function *f, const double *state, lw_function_desc *d)
{
    switch (d->type) {
    case LW_FUNCTION_SWITCH:
        take(&d->value, state, 1, true);
        return;
    case LW_FUNCTION_INTEGRAL:
    case LW_FUNCTION_LAG:
    case LW_FUNCTION_RATE_LIMIT:
    case LW_FUNCTION_RELAY:
        d->states = NULL, d->nstate = 0;
        take(&d->initial, state, 1, d->has_initial || d->type == LW_FUNCTION_INTEGRAL);
        d->has_initial = true;
        return;
    default:
        d->has_initial = false, d->initial = 0;
        d->states = state, d->nstate = f->nstate;
    }
}

static lw_status set_signals(const lw_model *model, const double *state, lwi_arena *arena,
                             lwi_description *desc)
{
    if (!state || model->nstate == 0) return LW_OK;
    lw_function_desc *function = LWI_PUSH(arena, lw_function_desc, desc->nfunction);
    lwi_force_list *servos = &desc->force[LWI_ITEM_servo];
    lw_servo_desc *servo = LWI_PUSH(arena, lw_servo_desc, servos->n);
    if (!function || !servo) return LW_ERR_MEMORY;
    if (desc->nfunction)
        memcpy(function, model->desc.function, (size_t)desc->nfunction * sizeof *function);
    if (servos->n) memcpy(servo, servos->desc, (size_t)servos->n * sizeof *servo);
    for (int i = 0; i < desc->nfunction; i++)
        if (model->function[i].nstate > 0)
            set_signal(&model->function[i], state + model->function[i].state, &function[i]);
    for (int i = servos->n - 1, at = model->nstate; i >= 0; i--) // the last states
        if (servo[i].lag > 0) take(&servo[i].initial, state + --at, 1, true);
    desc->function = function;
    servos->desc = servo;
    return LW_OK;
}

lw_status lwi_describe_motion(const lw_model *model, const lwi_motion *motion, const double *qd,
                              bool places, lwi_arena *arena, lwi_description *desc)
{
    *desc = model->desc;
    desc->body = LWI_PUSH(arena, lw_body_desc, desc->nbody);
    desc->joint = LWI_PUSH(arena, lw_joint_desc, desc->njoint);
    if (!desc->body || !desc->joint) return LW_ERR_MEMORY;
    memcpy(desc->body, model->desc.body, (size_t)desc->nbody * sizeof *desc->body);
    if (desc->njoint)
        memcpy(desc->joint, model->desc.joint, (size_t)desc->njoint * sizeof *desc->joint);
    const bool moves = anything_moves(model, motion, qd);
    for (int b = 1; b < model->nbody; b++) {
        lw_body_desc *d = &desc->body[b];
        const int node = model->body_node[b];
        if (places) place_body(model, motion, b, d);
        const bool floats = node >= 0 && model->node[node].joint < 0;
        if (node >= 0 && (d->has_velocity || (moves && floats))) move_body(motion, b, d);
    }
    for (int j = 0; j < model->njoint; j++)
        set_joint(&model->joint[j], motion->q, qd, places, moves, &desc->joint[j]);
    return set_signals(model, motion->states, arena, desc);
}

static lw_status restart(const lw_model *model, const lwi_motion *motion, const double *qd,
                         lwi_arena *arena, lw_model **restarted, lw_error *error)
{
    lwi_description desc;
    lwi_unclosed unclosed;
    TRY(lwi_describe_motion(model, motion, qd, true, arena, &desc));
    TRY(lwi_model_compile(&desc, &model->arena.allocator, &unclosed, restarted, error));
    const lw_error *why = unclosed.position.status ? &unclosed.position : &unclosed.velocity;
    if (why->status == LW_OK) return LW_OK;
    if (error) *error = *why;
    lw_model_destroy(*restarted);
    *restarted = NULL;
    return why->status;
}

lw_status lwi_model_restart(const lw_model *model, const lwi_motion *motion, const double *qd,
                            lw_model **restarted, lw_error *error)
{
    lwi_arena arena;
    lw_model *made = NULL;
    lwi_arena_init(&arena, &model->arena.allocator);
    const lw_status status = restart(model, motion, qd, &arena, &made, error);
    lwi_arena_free(&arena);
    if (status == LW_ERR_MEMORY) return lwi_fail(error, status, "no memory for the model");
    if (status == LW_OK) *restarted = made;
    return status;
}

// World axes and matrices of an observation.
static lw_status motion_of(const lw_model *model, const lw_observation *o, lwi_arena *arena,
                           lwi_motion *motion)
{
    double(*R)[9] = lwi_arena_push(arena, (size_t)model->nbody, sizeof *R);
    double(*w)[3] = lwi_arena_push(arena, (size_t)model->nbody, sizeof *w);
    if (!R || !w) return LW_ERR_MEMORY;
    for (int b = 0; b < model->nbody; b++) {
        quat_matrix(R[b], o->quaternion[b]);
        m3_mul_v(w[b], R[b], o->angular_velocity[b]);
    }
    *motion = (lwi_motion){.R = (const double(*)[9])R,
                           .r = o->position,
                           .v = o->velocity,
                           .w = (const double(*)[3])w,
                           .q = o->q,
                           .states = o->states};
    return LW_OK;
}

lw_status lw_model_restart(const lw_model *model, const lw_observation *motion,
                           lw_model **restarted, lw_error *error)
{
    if (!model || !motion || !restarted)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_restart: a model, a motion and a result are needed");
    if (motion->level < LW_OBSERVE_TWIST)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_restart: the motion has no velocities (level twist or more)");
    lwi_arena arena;
    lwi_motion world;
    lwi_arena_init(&arena, &model->arena.allocator);
    lw_status status = motion_of(model, motion, &arena, &world);
    if (status == LW_OK)
        status = lwi_model_restart(model, &world, motion->qd, restarted, error);
    else
        lwi_fail(error, status, "no memory for the model");
    lwi_arena_free(&arena);
    return status;
}

static lw_status assemble_near(const lw_model *model, const lw_observation *motion,
                               lwi_arena *arena, lw_model **near, lw_assembly *report,
                               lw_error *error)
{
    lwi_motion world;
    lw_model *open = NULL;
    struct lw_builder builder = {.allocator = model->arena.allocator};
    if (motion_of(model, motion, arena, &world) != LW_OK ||
        lwi_describe_motion(model, &world, motion->qd, true, arena, &builder.desc) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    TRY(lw_model_create_open(&builder, &open, error));
    const lw_status status = lw_model_assemble(open, NULL, near, report, error);
    lw_model_destroy(open);
    return status;
}

lw_status lwi_model_near(const lw_model *model, const lw_observation *motion, lw_model **near,
                         lw_assembly *report, lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, &model->arena.allocator);
    const lw_status status = assemble_near(model, motion, &arena, near, report, error);
    lwi_arena_free(&arena);
    return status;
}

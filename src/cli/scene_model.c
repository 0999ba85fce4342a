// scene_model.c -- builds scenes through the public API.
#include "cli/scene_model.h"

#include <stdlib.h>

// unit quaternions that take z to x, y, z
static const lw_quat turn[3] = {{0.70710678118654752, 0, 0.70710678118654752, 0},
                                {0.70710678118654752, -0.70710678118654752, 0, 0},
                                {1, 0, 0, 0}};

static lw_joint_type type_of(scene_joint joint)
{
    return joint == SCENE_REVOLUTE ? LW_JOINT_REVOLUTE
           : joint == SCENE_BALL   ? LW_JOINT_SPHERICAL
                                   : LW_JOINT_FREE;
}

static lw_vec3 vec3(const double x[3])
{
    return (lw_vec3){x[0], x[1], x[2]};
}

static lw_status add(lw_builder *builder, const scene_body *b, lw_body parent, lw_body *body,
                     lw_error *error)
{
    const lw_body_desc desc = {
        .mass = b->mass,
        .inertia = {b->inertia[0], b->inertia[1], b->inertia[2]},
        .com = vec3(b->com),
        .pose = {.position = vec3(b->at)},
        .in = parent,
    };
    lw_status status = lw_builder_add_body(builder, &desc, body, error);
    if (status != LW_OK) return status;
    const lw_quat axes = turn[b->joint == SCENE_REVOLUTE ? b->axis : 2];
    const lw_joint_desc joint_desc = {
        .type = type_of(b->joint),
        .body1 = parent,
        .body2 = *body,
        .placement = LW_PLACED_FRAMES,
        .frame1 = {vec3(b->at), axes},
        .frame2 = {{0, 0, 0}, axes},
    };
    lw_joint joint;
    return lw_builder_add_joint(builder, &joint_desc, &joint, error);
}

static lw_status build(const scene_body *scene, int nbody, lw_body *body, lw_model **model,
                       lw_error *error)
{
    lw_builder *builder;
    lw_status status = lw_builder_create(NULL, &builder);
    if (status != LW_OK) return status;
    for (int i = 0; i < nbody && status == LW_OK; i++) {
        const lw_body parent = scene[i].parent < 0 ? (lw_body){0} : body[scene[i].parent];
        status = add(builder, &scene[i], parent, &body[i], error);
    }
    if (status == LW_OK) status = lw_model_create(builder, model, error);
    lw_builder_destroy(builder);
    return status;
}

lw_status scene_model_of(const scene_body *scene, int nbody, lw_model **model, lw_error *error)
{
    lw_body *body = calloc((size_t)nbody, sizeof *body);
    const lw_status status = body ? build(scene, nbody, body, model, error) : LW_ERR_MEMORY;
    free(body);
    return status;
}

lw_status scene_model(scene_kind kind, int n, lw_model **model, lw_error *error)
{
    const int nbody = scene_size(kind, n);
    scene_body *scene = calloc((size_t)nbody, sizeof *scene);
    lw_status status = LW_ERR_MEMORY;
    if (scene) {
        scene_fill(kind, n, scene);
        status = scene_model_of(scene, nbody, model, error);
    }
    free(scene);
    return status;
}

// Position and attitude of balls and free bodies are zero, the quaternion is the unit one.
static void place_coordinates(scene_joint joint, const double *scene_q, double *q)
{
    const int quaternion = joint == SCENE_FREE ? 3 : 0;
    if (joint == SCENE_REVOLUTE) {
        q[0] = scene_q[0];
        return;
    }
    for (int i = 0; i < quaternion + 4; i++) q[i] = i == quaternion;
}

lw_status scene_place(const lw_model *model, const scene_body *body, int nbody,
                      const double *scene_q, const double *scene_v, const double *scene_tau,
                      double *q, double *v, double *tau)
{
    int from = 0;
    for (int i = 0; i < nbody; i++) {
        int q_at, nq, v_at, nv;
        const lw_status status = lw_model_joint_tree(model, (lw_joint){i}, &q_at, &nq, &v_at, &nv);
        if (status != LW_OK) return status;
        place_coordinates(body[i].joint, scene_q + from, q + q_at);
        for (int k = 0; k < nv; k++) {
            v[v_at + k] = scene_v[from + k];
            tau[v_at + k] = scene_tau[from + k];
        }
        from += nv;
    }
    return LW_OK;
}

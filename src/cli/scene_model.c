// scene_model.c -- builds scenes through the public API.
#include "cli/scene_model.h"

#include <stdlib.h>

enum { UNIVERSAL_AXES = 3, WORLD_AXES = 2 };

// unit quaternions that take z to x, y, z; last: z to x, x to y
static const lw_quat turn[4] = {{0.70710678118654752, 0, 0.70710678118654752, 0},
                                {0.70710678118654752, -0.70710678118654752, 0, 0},
                                {1, 0, 0, 0},
                                {0.5, 0.5, 0.5, 0.5}};

static lw_quat product(lw_quat a, lw_quat b)
{
    return (lw_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                     a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static lw_joint_type type_of(scene_joint joint)
{
    return joint == SCENE_REVOLUTE    ? LW_JOINT_REVOLUTE
           : joint == SCENE_UNIVERSAL ? LW_JOINT_UNIVERSAL
           : joint == SCENE_BALL      ? LW_JOINT_SPHERICAL
                                      : LW_JOINT_FREE;
}

static lw_vec3 vec3(const double x[3])
{
    return (lw_vec3){x[0], x[1], x[2]};
}

static lw_status add(lw_builder *builder, const scene_body *b, lw_body parent, lw_body *body,
                     lw_error *error)
{
    double to_parent[4];
    scene_orientation(b, to_parent);
    const lw_quat rotated = {to_parent[0], to_parent[1], to_parent[2], to_parent[3]};
    const lw_body_desc desc = {
        .mass = b->mass,
        .inertia = {b->inertia[0], b->inertia[1], b->inertia[2]},
        .com = vec3(b->com),
        .pose = {vec3(b->at), rotated},
        .in = parent,
    };
    lw_status status = lw_builder_add_body(builder, &desc, body, error);
    if (status != LW_OK) return status;
    const lw_quat axes = turn[b->joint == SCENE_REVOLUTE    ? b->axis
                              : b->joint == SCENE_UNIVERSAL ? UNIVERSAL_AXES
                                                            : WORLD_AXES];
    const lw_joint_desc joint_desc = {
        .type = type_of(b->joint),
        .body1 = parent,
        .body2 = *body,
        .placement = LW_PLACED_FRAMES,
        .frame1 = {vec3(b->at), product(rotated, axes)},
        .frame2 = {{0, 0, 0}, axes},
    };
    lw_joint joint;
    return lw_builder_add_joint(builder, &joint_desc, &joint, error);
}

static lw_status close_loop(lw_builder *builder, const scene_loop *l, const lw_body *body,
                            lw_error *error)
{
    const lw_quat axes = turn[l->joint == SCENE_REVOLUTE ? l->axis : WORLD_AXES];
    const lw_joint_desc desc = {
        .type = type_of(l->joint),
        .body1 = body[l->body[0]],
        .body2 = body[l->body[1]],
        .placement = LW_PLACED_FRAMES,
        .frame1 = {vec3(l->at[0]), axes},
        .frame2 = {vec3(l->at[1]), axes},
        .cut = LW_CUT_PREFER,
    };
    lw_joint joint;
    return lw_builder_add_joint(builder, &desc, &joint, error);
}

typedef struct mechanism {
    int nbody, nloop;
    const scene_body *body;
    const scene_loop *loop;
    double gravity[3];
} mechanism;

static lw_status build(const mechanism *m, lw_body *body, lw_model **model, lw_error *error)
{
    lw_builder *builder;
    lw_status status = lw_builder_create(NULL, &builder);
    if (status != LW_OK) return status;
    lw_builder_gravity(builder, vec3(m->gravity));
    for (int i = 0; i < m->nbody && status == LW_OK; i++) {
        const scene_body *b = &m->body[i];
        const lw_body parent = b->parent < 0 ? (lw_body){0} : body[b->parent];
        status = add(builder, b, parent, &body[i], error);
    }
    for (int i = 0; i < m->nloop && status == LW_OK; i++)
        status = close_loop(builder, &m->loop[i], body, error);
    if (status == LW_OK) status = lw_model_create(builder, model, error);
    lw_builder_destroy(builder);
    return status;
}

static lw_status model_of(const mechanism *m, lw_model **model, lw_error *error)
{
    lw_body *body = calloc((size_t)m->nbody, sizeof *body);
    const lw_status status = body ? build(m, body, model, error) : LW_ERR_MEMORY;
    free(body);
    return status;
}

lw_status scene_model_of(const scene_body *body, int nbody, lw_model **model, lw_error *error)
{
    mechanism tree = {.nbody = nbody, .body = body};
    scene_gravity(SCENE_CHAIN, tree.gravity);
    return model_of(&tree, model, error);
}

lw_status scene_model(scene_kind kind, int n, lw_model **model, lw_error *error)
{
    const int nbody = scene_size(kind, n), nloop = scene_loops(kind, n);
    scene_body *body = calloc((size_t)nbody, sizeof *body);
    scene_loop *loop = calloc((size_t)nloop + 1, sizeof *loop); // + 1: none is no failure
    lw_status status = LW_ERR_MEMORY;
    if (body && loop) {
        mechanism all = {.nbody = nbody, .nloop = nloop, .body = body, .loop = loop};
        scene_fill(kind, n, body);
        scene_close(kind, n, loop);
        scene_gravity(kind, all.gravity);
        status = model_of(&all, model, error);
    }
    free(body);
    free(loop);
    return status;
}

// Position and attitude of balls and free bodies are zero, the quaternion is the unit one.
static void place_coordinates(scene_joint joint, const double *scene_q, double *q)
{
    const int quaternion = joint == SCENE_FREE ? 3 : 0;
    if (joint <= SCENE_UNIVERSAL) {
        for (int i = 0; i < (int)joint; i++) q[i] = scene_q[i];
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

void scene_place_joints(const lw_model *model, const scene_body *body, int nbody,
                        const double *scene_q, const double *scene_v, double *q, double *v)
{
    for (int i = 0; i < lw_model_nq(model); i++) q[i] = 0;
    for (int i = 0; i < lw_model_nv(model); i++) v[i] = 0;
    for (int i = 0, from = 0; i < nbody; from += (int)body[i++].joint) {
        const lw_joint_info joint = lw_model_joint(model, (lw_joint){i});
        place_coordinates(body[i].joint, scene_q + from, q + joint.q_first);
        for (int k = 0; k < joint.nv; k++) v[joint.v_first + k] = scene_v[from + k];
    }
}

// kinematics.c -- generates poses of the model's bodies and rates of its coordinates.
//
// The frames are those of the model (lwi_node), not of the normal form: joint frame on the
// parent, joint, body.  R [nbody][9] takes body components to the world's, r [nbody][3] are the
// mass centres; body 0 is the ground.
#include "codegen/algebra.h"
#include "codegen/functions.h"
#include "codegen/paths.h"

#include <string.h>

typedef struct pose {
    val R[9], r[3];
} pose;

static pose identity(lwi_codegen_graph *g)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    pose p;
    lwi_literals(g, 9, p.R, one);
    lwi_zero(g, 3, p.r);
    return p;
}

// Literals with zeros and ones as such.
static pose literal_pose(lwi_codegen_graph *g, const double R[9], const double r[3])
{
    pose p;
    double exact[9];
    for (int i = 0; i < 9; i++) exact[i] = lwi_whole(R[i]);
    lwi_literals(g, 9, p.R, exact);
    lwi_literals(g, 3, p.r, r);
    return p;
}

// a b: the pose b in the frame of a
static pose compose(lwi_codegen_graph *g, const pose *a, const pose *b)
{
    pose c;
    lwi_product(g, c.R, a->R, b->R);
    lwi_rotate(g, c.r, a->R, b->r);
    lwi_add(g, 3, c.r, a->r);
    return c;
}

static pose invert(lwi_codegen_graph *g, const pose *a)
{
    pose c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) c.R[3 * i + j] = a->R[3 * j + i];
    lwi_rotate_back(g, c.r, a->R, a->r);
    for (int i = 0; i < 3; i++) c.r[i] = neg(g, c.r[i]);
    return c;
}

// rotation by x about z or x
static void turn(lwi_codegen_graph *g, pose *p, int axis, val x)
{
    const val c = lwi_codegen_graph_op(g, LWI_OP_COS, x, x),
              s = lwi_codegen_graph_op(g, LWI_OP_SIN, x, x);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    *p = identity(g);
    p->R[3 * i + i] = p->R[3 * j + j] = c;
    p->R[3 * i + j] = neg(g, s);
    p->R[3 * j + i] = s;
}

// Rotation and displacement of one factor of a joint (model/joints/joint.h).
static pose factor_pose(lwi_codegen_graph *g, const lwi_node *node, const lwi_joint_factor *factor,
                        const val *q)
{
    pose p = identity(g);
    const val *x = q + factor->coordinate;
    switch (factor->kind) {
    case LWI_FACTOR_TURN:
        turn(g, &p, factor->axis, *x);
        break;
    case LWI_FACTOR_SLIDE:
        p.r[factor->axis] = *x;
        break;
    case LWI_FACTOR_SCREW:
        turn(g, &p, factor->axis, *x);
        p.r[factor->axis] = mul(g, lit(g, node->par->pitch), *x);
        break;
    case LWI_FACTOR_PLACE:
        for (int i = 0; i < 3; i++) p.r[i] = x[i];
        break;
    case LWI_FACTOR_BALL:
        lwi_quaternion(g, p.R, x);
        break;
    }
    return p;
}

// F2 in F1 of a joint; q its coordinates.
static pose joint_pose(lwi_codegen_graph *g, const lwi_node *node, const val *q)
{
    pose p = identity(g);
    for (int i = 0; i < node->type->nfactor; i++) {
        const pose x = factor_pose(g, node, &node->type->factor[i], q);
        p = i == 0 ? x : compose(g, &p, &x);
    }
    return p;
}

// All coordinates of the joint of a node, free and prescribed.
static void read_coordinates(const lwi_walk *walk, const lwi_node *node, val *x)
{
    const bool quaternion = node->type->quaternion >= 0;
    for (int i = 0; i < (quaternion ? node->nq : node->type->nv); i++)
        x[i] = lwi_walk_coordinate(
            walk, quaternion ? node->iq + i : lwi_walk_coordinate_index(walk->elements, node, i));
}

// A joint frame on a moving mount.
static void move_mount(const lwi_walk *walk, int joint, pose *p)
{
    lwi_place place;
    lwi_zero(walk->graph, 3, place.v);
    lwi_zero(walk->graph, 3, place.w);
    lwi_zero(walk->graph, 3, place.a);
    lwi_zero(walk->graph, 3, place.al);
    memcpy(place.R, p->R, sizeof place.R);
    memcpy(place.r, p->r, sizeof place.r);
    lwi_place_mount(walk, joint, &place);
    memcpy(p->R, place.R, sizeof place.R);
    memcpy(p->r, place.r, sizeof place.r);
}

lw_status lwi_generate_kinematics(lwi_codegen_graph *g, const lwi_elements *elements,
                                  lwi_arena *arena, lw_error *error)
{
    (void)error;
    const lw_model *model = elements->model;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, 0, arena, &walk));
    const int R = lwi_codegen_graph_result(g, "R"), r = lwi_codegen_graph_result(g, "r");
    pose *link = LWI_PUSH(arena, pose, model->nnode), *body = LWI_PUSH(arena, pose, model->nbody);
    if (!link || !body) return LW_ERR_MEMORY;
    body[0] = identity(g);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        val x[LW_JOINT_MAX_NQ];
        read_coordinates(&walk, node, x);
        const pose in = literal_pose(g, node->X_R, node->X_r);
        const pose centre = literal_pose(g, node->c_R, node->c_r);
        pose joint = joint_pose(g, node, x);
        if (node->reversed) joint = invert(g, &joint);
        link[k] = node->parent < 0 ? in : compose(g, &link[node->parent], &in);
        if (node->joint >= 0) move_mount(&walk, node->joint, &link[k]);
        link[k] = compose(g, &link[k], &joint);
        body[node->body] = compose(g, &link[k], &centre);
    }
    for (int b = 1; b < model->nbody; b++) { // merged bodies move with the bodies that carry them
        const lwi_body *it = &model->body[b];
        if (it->carrier == b) continue;
        const pose held = literal_pose(g, it->carrier_R, it->carrier_r);
        body[b] = compose(g, &body[it->carrier], &held);
    }
    for (int b = 0; b < model->nbody; b++) {
        for (int i = 0; i < 9; i++) lwi_codegen_graph_output(g, R, 9 * b + i, body[b].R[i]);
        for (int i = 0; i < 3; i++) lwi_codegen_graph_output(g, r, 3 * b + i, body[b].r[i]);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- rates

// edot = e w/2 + (1 - e.e) e: the second term drives the length to one.
static void quaternion_rate(lwi_codegen_graph *g, const val e[4], const val w[3], val rate[4])
{
    const val half = lit(g, 0.5);
    const val pull = sub(g, lit(g, 1), lwi_codegen_dot(g, 4, e, e));
    val h[3], c[3];
    for (int i = 0; i < 3; i++) h[i] = mul(g, half, w[i]);
    lwi_cross(g, c, e + 1, h);
    rate[0] = neg(g, lwi_codegen_dot(g, 3, e + 1, h));
    for (int i = 0; i < 3; i++) rate[1 + i] = madd(g, c[i], e[0], h[i]);
    for (int i = 0; i < 4; i++) rate[i] = madd(g, rate[i], pull, e[i]);
}

void lwi_coordinate_rates(const lwi_walk *walk, int qdot)
{
    lwi_codegen_graph *g = walk->graph;
    const lw_model *model = walk->elements->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        val x[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], rate[LW_JOINT_MAX_NQ], R[9];
        lwi_codegen_graph_mark(g);
        for (int i = 0; i < node->nq; i++) x[i] = lwi_walk_coordinate(walk, node->iq + i);
        for (int i = 0; i < node->nv; i++) rate[i] = u[i] = lwi_walk_speed(walk, node->iv + i);
        if (lwi_joint_is_ball(node->type)) quaternion_rate(g, x, u, rate);
        if (lwi_joint_is_free(node->type)) {
            lwi_quaternion(g, R, x + 3);
            lwi_rotate(g, rate, R, u);
            quaternion_rate(g, x + 3, u + 3, rate + 3);
        }
        for (int i = 0; i < node->nq; i++) lwi_codegen_graph_output(g, qdot, node->iq + i, rate[i]);
    }
}

lw_status lwi_generate_coordinate_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                        lwi_arena *arena, lw_error *error)
{
    (void)error;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS, arena, &walk));
    lwi_coordinate_rates(&walk, lwi_codegen_graph_result(g, "qdot"));
    return LW_OK;
}

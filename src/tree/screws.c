// screws.c -- screws, velocities and accelerations of the elementary motions of a tree.
//
// The screw of a rotation about a line through p along e is [p x e; e]: the velocity of the point of the body at the
// world's origin, and the angular velocity.  The elements of a reversed joint are those of the joint from its last
// factor to its first, with the opposite signs.
#include "tree/screws.h"

#include "base/assert.h"
#include "spatial/rotation.h"

static bool has_mount(const lw_model *model, const lwi_node *node)
{
    return node->joint >= 0 && model->joint[node->joint].mount.present;
}

static bool is_group(const lwi_joint_type *type)
{
    return lwi_joint_is_ball(type) || lwi_joint_is_free(type);
}

static int elements_of(const lw_model *model, const lwi_node *node)
{
    return has_mount(model, node) + (is_group(node->type) ? 1 : node->type->nfactor);
}

static lw_status check(const lw_model *model, int *count, lw_error *error)
{
    *count = 0;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->type->nfactor < 0)
            return lwi_fail(
                error, LW_ERR_UNSUPPORTED,
                "derivatives: joint '%s' is defined by functions of the caller; expected joints of "
                "the library",
                model->joint[node->joint].name);
        *count += elements_of(model, node);
    }
    return LW_OK;
}

// Index among the free speeds of the node of coordinate c of its joint; -1: it is driven.
static int free_speed(const lwi_node *node, int c)
{
    for (int j = 0; j < node->nv; j++)
        if (node->column[j] == c) return node->iv + j;
    return -1;
}

static void append(lwi_screws *s, int k, int before, lwi_screw element)
{
    element.node = k;
    element.before = before;
    for (int i = 0; element.speed >= 0 && i < element.nspeed; i++)
        s->of_speed[element.speed + i] = s->n;
    s->screw[s->n++] = element;
}

static void append_motion(const lwi_node *node, lwi_screws *s, int k, int i)
{
    const int before = s->last[k];
    if (is_group(node->type)) {
        append(s, k, before,
               (lwi_screw){.kind = LWI_SCREW_GROUP,
                           .nspeed = (signed char)node->nv,
                           .speed = node->iv,
                           .follows = !node->reversed});
    } else {
        const int c = node->type->factor[i].coordinate;
        append(s, k, before,
               (lwi_screw){.kind = LWI_SCREW_FACTOR,
                           .factor = (signed char)i,
                           .nspeed = 1,
                           .speed = free_speed(node, c)});
    }
    s->last[k] = s->n - 1;
}

static void append_mount(lwi_screws *s, int k)
{
    append(s, k, s->last[k], (lwi_screw){.kind = LWI_SCREW_MOUNT, .speed = -1});
    s->last[k] = s->n - 1;
}

lw_status lwi_screws_create(const lw_model *model, lwi_arena *arena, lwi_screws *s, lw_error *error)
{
    int count;
    TRY(check(model, &count, error));
    *s = (lwi_screws){.screw = LWI_PUSH(arena, lwi_screw, count),
                      .last = LWI_PUSH(arena, int, model->nnode),
                      .of_speed = LWI_PUSH(arena, int, model->tree_nv),
                      .S = lwi_arena_push(arena, (size_t)model->tree_nv, sizeof *s->S)};
    if (!s->screw || !s->last || !s->of_speed || !s->S) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const int motions = is_group(node->type) ? 1 : node->type->nfactor;
        s->last[k] = node->parent < 0 ? -1 : s->last[node->parent];
        if (has_mount(model, node) && !node->reversed) append_mount(s, k);
        for (int i = 0; i < motions; i++)
            append_motion(node, s, k, node->reversed ? motions - 1 - i : i);
        if (has_mount(model, node) && node->reversed) append_mount(s, k);
    }
    LWI_ASSERT(s->n == count);
    return LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

/** A frame in the world. */
typedef struct frame {
    double R[9], p[3];
} frame;

// The motion of the axes e of a frame at p: [p x w + v; w].
static void to_world(const frame *f, const double local[6], double out[6])
{
    m3_mul_v(out, f->R, local);
    m3_mul_v(out + 3, f->R, local + 3);
    v3_cross_add(out, f->p, out + 3);
}

static void advance(frame *f, const double R[9], const double r[3])
{
    double rotated[9], d[3];
    m3_mul(rotated, f->R, R);
    m3_mul_v(d, f->R, r);
    v3_add(f->p, f->p, d);
    memcpy(f->R, rotated, sizeof rotated);
}

// The frame of the joint on the parent, F1, or F2 of a reversed joint.
static frame inboard_frame(const lwi_node *node, const lwi_tree_work *work)
{
    frame f;
    if (node->parent < 0) {
        memcpy(f.R, node->X_R, sizeof f.R);
        v3_copy(f.p, node->X_r);
        return f;
    }
    memcpy(f.R, work->R[node->parent], sizeof f.R);
    v3_copy(f.p, work->r[node->parent]);
    advance(&f, node->X_R, node->X_r);
    return f;
}

// The frame of the joint on the body of node k.
static frame link_frame(const lwi_tree_work *work, int k)
{
    frame f;
    memcpy(f.R, work->R[k], sizeof f.R);
    v3_copy(f.p, work->r[k]);
    return f;
}

/** What all elements of a node need. */
typedef struct node_motion {
    const lw_model *model;
    const lwi_node *node;
    const lwi_link *link;
    const double *v, *vdot;
    lwi_screws *s;
    double sign;
} node_motion;

// The motion of a factor about or along an axis of the frame (R, p).
static void factor_screw(const node_motion *m, const lwi_joint_factor *factor, const double R[9],
                         const double p[3], double screw[6])
{
    const double along = factor->kind == LWI_FACTOR_SCREW ? m->node->par->pitch : 1;
    double axis[3];
    for (int i = 0; i < 3; i++) axis[i] = m->sign * R[3 * i + factor->axis];
    v6_zero(screw);
    if (factor->kind != LWI_FACTOR_SLIDE) {
        v3_copy(screw + 3, axis);
        v3_cross(screw, p, axis);
    }
    if (factor->kind != LWI_FACTOR_TURN) v3_axpy(screw, along, axis);
}

static void move_beyond(const node_motion *m, const lwi_screw *e, frame *f)
{
    const lwi_joint_factor *factor = &m->node->type->factor[e->factor];
    const double q = m->link->q[factor->coordinate];
    double R[9], r[3] = {0}, axis[3] = {0};
    axis[factor->axis] = 1;
    m3_identity(R);
    if (factor->kind != LWI_FACTOR_SLIDE) rot_axis(R, axis, q);
    if (factor->kind != LWI_FACTOR_TURN)
        v3_scale(r, (factor->kind == LWI_FACTOR_SCREW ? m->node->par->pitch : 1) * q, axis);
    advance(f, R, r);
}

// One factor at its place in the product.
static void evaluate_factor(const node_motion *m, lwi_screw *e, const double R[9],
                            const double p[3])
{
    const lwi_joint_factor *factor = &m->node->type->factor[e->factor];
    const int c = factor->coordinate;
    double screw[6];
    factor_screw(m, factor, R, p, screw);
    const double v = e->speed < 0 ? m->link->drive[c][1] : m->v[e->speed],
                 vdot = e->speed < 0 ? m->link->drive[c][2] : m->vdot[e->speed];
    if (e->speed >= 0) v6_copy(m->s->S[e->speed], screw);
    for (int i = 0; i < 6; i++) e->nu[i] = v * screw[i], e->alpha[i] = vdot * screw[i];
}

static void evaluate_group(const node_motion *m, lwi_screw *e, const frame *f2)
{
    double S[LW_JOINT_MAX_NV][6];
    m->node->type->subspace(m->node->par, m->link->q, S);
    v6_zero(e->nu);
    v6_zero(e->alpha);
    for (int i = 0; i < e->nspeed; i++) {
        double *screw = m->s->S[e->speed + i];
        to_world(f2, S[i], screw);
        for (int j = 0; j < 6; j++) screw[j] *= m->sign;
        v6_axpy(e->nu, m->v[e->speed + i], screw);
        v6_axpy(e->alpha, m->vdot[e->speed + i], screw);
    }
}

// Vm and Am are components in the axes of the moved F1.
static void evaluate_mount(const node_motion *m, lwi_screw *e, double t, frame *f)
{
    double R[9], r[3], V[6], A[6];
    lwi_mount_eval(m->model, &m->model->joint[m->node->joint].mount, t, R, r, V, A);
    advance(f, R, r);
    to_world(f, V, e->nu);
    to_world(f, A, e->alpha);
    for (int i = 0; i < 6; i++) e->nu[i] *= m->sign, e->alpha[i] *= m->sign;
}

// The elements of node k in the order of the joint: mount, factors.
static void evaluate_node(const node_motion *m, const lwi_tree_work *work, int k, int first,
                          int end, double t)
{
    if (first + 1 == end && m->s->screw[first].kind == LWI_SCREW_FACTOR) {
        evaluate_factor(m, &m->s->screw[first], work->R[k], work->r[k]); // it keeps its axis
        return;
    }
    const frame inboard = inboard_frame(m->node, work), link = link_frame(work, k);
    const frame f2 = m->node->reversed ? inboard : link;
    frame f = m->node->reversed ? link : inboard;
    for (int i = first; i < end; i++) {
        lwi_screw *e = &m->s->screw[m->node->reversed ? end - 1 - (i - first) : i];
        if (e->kind == LWI_SCREW_MOUNT)
            evaluate_mount(m, e, t, &f);
        else if (e->kind == LWI_SCREW_GROUP)
            evaluate_group(m, e, &f2);
        else
            evaluate_factor(m, e, f.R, f.p);
        if (e->kind == LWI_SCREW_FACTOR && i + 1 < end) move_beyond(m, e, &f);
    }
}

static void accumulate(const lw_model *model, lwi_screws *s)
{
    const double base[6] = {-model->gravity[0], -model->gravity[1], -model->gravity[2]};
    static const double rest[6];
    for (int i = 0; i < s->n; i++) {
        lwi_screw *e = &s->screw[i];
        const double *V = e->before < 0 ? rest : s->screw[e->before].V;
        const double *A = e->before < 0 ? base : s->screw[e->before].A;
        LWI_ASSERT(e->before < i);
        v6_add(e->V, V, e->nu);
        motion_cross(e->A, V, e->nu);
        v6_add(e->A, e->A, e->alpha);
        v6_add(e->A, e->A, A);
    }
}

void lwi_screws_evaluate(const lw_model *model, lwi_screws *s, const lwi_tree_work *work, double t,
                         const double *v, const double *vdot)
{
    for (int first = 0, end; first < s->n; first = end) {
        const int k = s->screw[first].node;
        const lwi_node *node = &model->node[k];
        for (end = first; end < s->n && s->screw[end].node == k;) end++;
        evaluate_node(
            &(node_motion){model, node, &work->link[k], v, vdot, s, node->reversed ? -1.0 : 1.0},
            work, k, first, end, t);
    }
    accumulate(model, s);
}

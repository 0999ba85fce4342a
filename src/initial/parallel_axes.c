// parallel_axes.c -- axes of loops that are parallel, or at right angles, except for the digits in which they are given.
//
// A loop of hinges moves in a plane where its axes are parallel; three of its rows depend on others then.  Where the axes
// enclose 1e-8 rad, as in files that other programs write, these rows are independent, but with pivots of 1e-16, and the loop
// can only move if it breaks them.  Ranks take them for dependent or not, by the limit of each search.  Geometry is not known
// better than the closure of the start (LWI_CLOSURE_TOLERANCE), so the mechanism that was meant has parallel axes.
//
// An axis is fixed in both bodies of its joint.  Axes that are parallel in one body are parallel in every configuration, and
// so are all that follow from one to the next: a group.  The frames of its joints are rotated, at the start, such that all axes
// have the direction of the first one; the same rotation in both bodies, about the origin of the second frame, so that joints
// that close keep closed.  Guides that are at right angles to an axis in one of their bodies are treated alike.  Bodies that
// guides connect keep their attitude to each other, so axes in them are compared as if in one body.
#include "initial/parallel_axes.h"

#include "base/assert.h"
#include "base/components.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Directions that are distinguished on one body, or bodies that guides connect: axes in others are left.
enum { DIRECTIONS = 8 };
// Sines of round-off: rows that tilt by them are found dependent.
#define ROUND_OFF 1e-11
// Up to this angle axes were perhaps meant to be parallel: five digits of pi/2 are off by 4e-6.
#define ALMOST 1e-4

typedef struct search {
    const lw_model *model;
    double (*R)[9]; // [nbody] at the start
    // [njoint] of its frames, about which the joint rotates or along which it slides; -1: not examined
    signed char *axis;
    bool *slides;  // [njoint] without rotation
    bool *rotated; // [njoint] the first joint of a group with axes that are made parallel
    int *group;    // [njoint] components
    int *attitude; // [nbody] components: bodies that guides of the tree connect
    // [nbody] of each first body: ends of joints, 2 joint + side, with axes in different directions; -1: none
    int (*on)[DIRECTIONS];
    double angle;      // the largest by which an axis is rotated
    int joint, other;  // that axis, and the one which it follows
    double almost;     // the largest between two axes that may be meant to be parallel
    int first, second; // those two
} search;

// ------------------------------------------------------------------------------------------- loops

// The first node on the way from k to the ground with a joint that is not marked; -1: none.  `skip` [nnode]
// shortens the ways.
static int unmarked(int *skip, int k)
{
    while (k >= 0 && skip[k] != k) {
        if (skip[k] >= 0) skip[k] = skip[skip[k]];
        k = skip[k];
    }
    return k;
}

// Marks the joints of the loop that joint j closes.
static void mark_loop(const lw_model *model, int j, int *skip, bool *in_loop)
{
    int a = unmarked(skip, model->body_node[model->joint[j].body1]);
    int b = unmarked(skip, model->body_node[model->joint[j].body2]);
    in_loop[j] = true;
    while (a != b) { // parents have lower numbers
        int *further = a > b ? &a : &b;
        const lwi_node *node = &model->node[*further];
        if (node->joint >= 0) in_loop[node->joint] = true;
        skip[*further] = node->parent;
        *further = unmarked(skip, node->parent);
    }
}

// Every joint of the tree is marked once, in any number of loops.
void lwi_mark_loops(const lw_model *model, int *skip, bool *in_loop)
{
    for (int k = 0; k < model->nnode; k++) skip[k] = k;
    for (int i = 0; i < model->nloop; i++) mark_loop(model, model->loop[i], skip, in_loop);
    for (int i = 0; i < model->ncoupling; i++)
        in_loop[model->coupling[i].joint] = in_loop[model->coupling[i].of] = true;
}

// ------------------------------------------------------------------------------------------ groups

// The axis that is fixed in both bodies; -1: there is none.
static int fixed_axis(const lwi_joint *joint, bool *slides)
{
    const lwi_joint_type *type = joint->type;
    int turn = -1;
    if (joint->merged || joint->mount.present || type->nfactor <= 0) return -1;
    for (int i = 0; i < type->nfactor; i++) {
        const lwi_joint_factor *f = &type->factor[i];
        if (f->kind != LWI_FACTOR_TURN && f->kind != LWI_FACTOR_SLIDE) return -1;
        if (f->kind == LWI_FACTOR_SLIDE) continue;
        if (turn >= 0 && turn != f->axis) return -1;
        turn = f->axis;
    }
    *slides = turn < 0;
    if (turn < 0 && type->nfactor == 1) turn = type->factor[0].axis;
    return turn;
}

static int body_of(const lw_model *model, int end)
{
    const lwi_joint *joint = &model->joint[end / 2];
    return end % 2 ? joint->body2 : joint->body1;
}

// In world axes, as the body of this end has it.
static void direction(const search *s, int end, double d[3])
{
    const lwi_joint *joint = &s->model->joint[end / 2];
    const double *R = end % 2 ? joint->R2 : joint->R1;
    const int i = s->axis[end / 2];
    m3_mul_v(d, s->R[body_of(s->model, end)], (const double[3]){R[i], R[3 + i], R[6 + i]});
}

// Axes in the bodies that have the attitude of this one.
static int *axes_on(const search *s, int end)
{
    return s->on[lwi_component_of(s->attitude, body_of(s->model, end))];
}

static double sine(const double a[3], const double b[3])
{
    double c[3];
    v3_cross(c, a, b);
    return v3_norm(c);
}

static void join(search *s, int j, int k, bool askew)
{
    const int a = lwi_component_of(s->group, j), b = lwi_component_of(s->group, k);
    const int first = a < b ? a : b;
    s->group[a] = s->group[b] = first;
    s->rotated[first] = s->rotated[a] || s->rotated[b] || askew;
}

// Joins the axis to a parallel one in the same body, or in one that guides connect with it.
static void compare_in_body(search *s, int end)
{
    int *on = axes_on(s, end);
    double own[3], other[3];
    direction(s, end, own);
    for (int i = 0; i < DIRECTIONS; i++) {
        if (on[i] < 0) {
            on[i] = end;
            return;
        }
        direction(s, on[i], other);
        const double angle = sine(own, other);
        if (angle > LWI_CLOSURE_TOLERANCE && angle < ALMOST && angle > s->almost)
            s->almost = angle, s->first = on[i] / 2, s->second = end / 2;
        if (angle > LWI_CLOSURE_TOLERANCE) continue;
        join(s, end / 2, on[i] / 2, angle > ROUND_OFF);
        return;
    }
}

// Groups in which angles add up to more than the tolerance are left as they are, with a warning.
static void check_groups(search *s)
{
    double first[3], own[3];
    for (int end = 0; end < 2 * s->model->njoint; end++) {
        if (s->axis[end / 2] < 0) continue;
        const int group = lwi_component_of(s->group, end / 2);
        if (!s->rotated[group]) continue;
        direction(s, 2 * group, first);
        direction(s, end, own);
        const double angle = sine(own, first);
        if (angle <= 2 * LWI_CLOSURE_TOLERANCE) continue;
        s->rotated[group] = false;
        if (angle > s->almost) s->almost = angle, s->first = group, s->second = end / 2;
    }
}

// The direction of the axis among those of its group; returns the joint that it is taken from.
static int direction_in_group(search *s, int end, double d[3])
{
    double first[3];
    const int group = lwi_component_of(s->group, end / 2);
    direction(s, end, d);
    if (!s->rotated[group]) return end / 2;
    direction(s, 2 * group, first);
    v3_scale(d, v3_dot(d, first) < 0 ? -1 : 1, first);
    return group;
}

// A guide at right angles to axes in its bodies.
static int across_axes(search *s, int end, double d[3], int of)
{
    const int first = end - end % 2;
    for (int side = 0; side < 2; side++) {
        const int *on = axes_on(s, first + side);
        for (int i = 0; i < DIRECTIONS && on[i] >= 0; i++) {
            double n[3];
            if (s->slides[on[i] / 2]) continue;
            direction_in_group(s, on[i], n);
            const double along = v3_dot(d, n);
            if (!(fabs(along) > ROUND_OFF && fabs(along) <= LWI_CLOSURE_TOLERANCE)) continue;
            for (int k = 0; k < 3; k++) d[k] -= along * n[k];
            of = on[i] / 2;
        }
    }
    v3_scale(d, 1 / v3_norm(d), d);
    return of;
}

// ------------------------------------------------------------------------------------------ frames

// The frame on the first body is rotated about the origin of that on the second, so that the coordinates stay.
static void shift_frame(const search *s, int j, const double from[3], const double to[3],
                        lw_pose *frame)
{
    const lwi_joint *joint = &s->model->joint[j];
    const int b1 = joint->body1, b2 = joint->body2;
    double c[3], d[3], r[3];
    m3_mul_v(d, s->R[b2], joint->r2);
    m3_mul_v(r, s->R[b1], joint->r1);
    for (int i = 0; i < 3; i++) d[i] += s->model->body[b2].r0[i] - s->model->body[b1].r0[i] - r[i];
    v3_cross(c, from, to);
    v3_cross(r, d, c);
    const lw_body body = s->model->desc.joint[j].body1;
    m3_tmul_v(d, s->R[body.index], r);
    frame->position.x += d[0], frame->position.y += d[1], frame->position.z += d[2];
}

// Rotates the frame on its body, at the start, by the small angle that takes `from` to `to`.
static void rotate_frame(const lw_model *model, int body, const double from[3], const double to[3],
                         lw_pose *frame)
{
    double c[3], turn[4], back[4],
        q[4] = {frame->orientation.w, frame->orientation.x, frame->orientation.y,
                frame->orientation.z};
    const double *pose = model->body[body].quat0;
    v3_cross(c, from, to);
    const double small[4] = {1, c[0] / 2, c[1] / 2, c[2] / 2};
    quat_conjugate(back, pose);
    quat_mul(turn, back, small);
    quat_mul(back, turn, pose);
    quat_mul(turn, back, q);
    quat_normalize(q, turn);
    frame->orientation.w = q[0], frame->orientation.x = q[1];
    frame->orientation.y = q[2], frame->orientation.z = q[3];
}

static void rotate_end(search *s, int end, lw_joint_desc *joint)
{
    double from[3], to[3];
    direction(s, end, from);
    int of = direction_in_group(s, end, to);
    if (s->slides[end / 2]) of = across_axes(s, end, to, of);
    if (of == end / 2 && !s->rotated[of]) return;
    const double angle = sine(from, to);
    const int body = end % 2 ? joint->body2.index : joint->body1.index;
    rotate_frame(s->model, body, from, to, end % 2 ? &joint->frame2 : &joint->frame1);
    if (end % 2 == 0) shift_frame(s, end / 2, from, to, &joint->frame1);
    if (angle > s->angle) s->angle = angle, s->joint = end / 2, s->other = of;
}

// Loops in which all joints have such an axis: others need no parallel ones.  component [nnode]: the first node of those that
// such joints of the tree connect; -1: the ground.
static void mark_loops_of_axes(const search *s, int *component, int *skip, bool *in_loop)
{
    const lw_model *model = s->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const bool within = node->joint >= 0 && s->axis[node->joint] >= 0;
        component[k] = !within ? k : node->parent < 0 ? -1 : component[node->parent];
        skip[k] = k;
    }
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const int a = model->body_node[joint->body1], b = model->body_node[joint->body2];
        if (s->axis[model->loop[i]] >= 0 &&
            (a < 0 ? -1 : component[a]) == (b < 0 ? -1 : component[b]))
            mark_loop(model, model->loop[i], skip, in_loop);
    }
}

// Guides of the tree keep the attitude of their bodies to each other exactly, those that close loops up to the closure.  Bodies
// on the ground stay alone: any number of mechanisms are joined to it, with more directions than are distinguished.
static void connect_bodies(search *s)
{
    for (int b = 0; b < s->model->nbody; b++) s->attitude[b] = b;
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        if (s->axis[j] < 0 || !s->slides[j] || joint->node < 0) continue;
        if (joint->body1 == 0 || joint->body2 == 0) continue;
        const int a = lwi_component_of(s->attitude, joint->body1);
        const int b = lwi_component_of(s->attitude, joint->body2);
        s->attitude[a] = s->attitude[b] = a < b ? a : b;
    }
}

static bool prepare(search *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    const int n = model->njoint;
    int *skip = LWI_PUSH(arena, int, model->nnode), *component = LWI_PUSH(arena, int, model->nnode);
    bool *in_loop = LWI_PUSH(arena, bool, n);
    s->axis = LWI_PUSH(arena, signed char, n);
    s->slides = LWI_PUSH(arena, bool, n);
    s->rotated = LWI_PUSH(arena, bool, n);
    s->group = LWI_PUSH(arena, int, n);
    s->attitude = LWI_PUSH(arena, int, model->nbody);
    s->R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->R);
    s->on = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->on);
    if (!skip || !component || !in_loop || !s->axis || !s->slides || !s->rotated || !s->group ||
        !s->attitude || !s->R || !s->on)
        return false;
    for (int j = 0; j < n; j++)
        s->group[j] = j, s->axis[j] = (signed char)fixed_axis(&model->joint[j], &s->slides[j]);
    mark_loops_of_axes(s, component, skip, in_loop);
    for (int j = 0; j < n; j++)
        if (!in_loop[j]) s->axis[j] = -1;
    connect_bodies(s);
    memset(s->on, -1, (size_t)model->nbody * sizeof *s->on);
    for (int b = 0; b < model->nbody; b++) quat_matrix(s->R[b], model->body[b].quat0);
    return true;
}

// joint: out, [njoint] those of the description, with other frames where s->angle > 0.
static bool find_axes(search *s, const lwi_description *desc, lwi_arena *arena, lw_joint_desc **out)
{
    const int n = s->model->njoint;
    if (!prepare(s, arena)) return false;
    for (int end = 0; end < 2 * n; end++)
        if (s->axis[end / 2] >= 0) compare_in_body(s, end);
    check_groups(s);
    lw_joint_desc *joint = LWI_PUSH(arena, lw_joint_desc, n);
    if (!joint) return false;
    if (n) memcpy(joint, desc->joint, (size_t)n * sizeof *joint);
    for (int end = 0; end < 2 * n; end++)
        if (s->axis[end / 2] >= 0) rotate_end(s, end, &joint[end / 2]);
    *out = joint;
    return true;
}

static lw_status warn_of_rotated(lw_model *model, const search *s)
{
    return lwi_model_warn(
        model, model->desc.joint[s->joint].place,
        "joint '%s': its axis is %.1e rad from parallel, or from a right angle, to that of joint "
        "'%s'; in loops, axes within %.0e rad of it are taken to be exactly so",
        model->joint[s->joint].name, s->angle, model->joint[s->other].name, LWI_CLOSURE_TOLERANCE);
}

// A loop of hinges with almost parallel axes can hardly move.
static lw_status warn_of_almost(lw_model *model, const search *s)
{
    if (s->almost == 0) return LW_OK;
    return lwi_model_warn(model, model->desc.joint[s->second].place,
                          "joint '%s': its axis encloses %.1e rad with that of joint '%s' in a "
                          "loop, which can hardly "
                          "move then; expected parallel axes within %.0e rad, if that is meant",
                          model->joint[s->second].name, s->almost, model->joint[s->first].name,
                          LWI_CLOSURE_TOLERANCE);
}

static lw_status warn_of_kept(lw_model *model, const search *s)
{
    return lwi_model_warn(
        model, model->desc.joint[s->joint].place,
        "joint '%s': its axis is %.1e rad from parallel, or from a right angle, to that of joint "
        "'%s' in a loop, which can hardly move then; it is left, as the start would be open else",
        model->joint[s->joint].name, s->angle, model->joint[s->other].name);
}

// The model again, with such frames.  Starts that are open by nearly the tolerance may be open by more then: they stay.
static lw_status compile_again(const lwi_description *desc, const search *s, lwi_unclosed *unclosed,
                               lw_model **model, lw_error *error)
{
    lwi_unclosed now;
    lw_model *made;
    TRY(lwi_model_compile(desc, &(*model)->arena.allocator, &now, &made, error));
    const bool moves = now.velocity.status == LW_OK || unclosed->velocity.status != LW_OK;
    if (now.position.status != LW_OK || !moves) {
        lw_model_destroy(made);
        return warn_of_kept(*model, s);
    }
    lw_model_destroy(*model);
    *model = made;
    *unclosed = now;
    return warn_of_rotated(made, s);
}

static lw_status make_parallel(const lwi_description *desc, lwi_arena *arena,
                               lwi_unclosed *unclosed, lw_model **model, lw_error *error)
{
    search s = {.model = *model};
    lwi_description other = *desc;
    if (!find_axes(&s, desc, arena, &other.joint)) return LW_ERR_MEMORY;
    if (s.angle > 0) TRY(compile_again(&other, &s, unclosed, model, error));
    return warn_of_almost(*model, &s);
}

lw_status lwi_compile_parallel(const lwi_description *desc, const lw_allocator *allocator,
                               lwi_unclosed *unclosed, lw_model **model, lw_error *error)
{
    lw_model *m;
    lwi_arena arena;
    TRY(lwi_model_compile(desc, allocator, unclosed, &m, error));
    lwi_arena_init(&arena, allocator);
    lw_status status = LW_OK;
    if (m->nloop && unclosed->position.status == LW_OK)
        status = make_parallel(desc, &arena, unclosed, &m, error);
    lwi_arena_free(&arena);
    if (status == LW_OK) {
        *model = m;
        return LW_OK;
    }
    lw_model_destroy(m);
    return status == LW_ERR_MEMORY ? lwi_fail(error, status, "no memory for the model") : status;
}

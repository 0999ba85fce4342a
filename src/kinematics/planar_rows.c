// planar_rows.c -- rows that depend on others because bodies move in a plane.
//
// Bodies that joints connect which only rotate about parallel axes n and slide across them move in planes across n relative to
// each other, in every configuration.  The rows of such a joint are three across the motions in the plane (a displacement
// along n, two rotations), and those that constrain the motions in it.  The two kinds do not mix.  The multipliers of the
// first are wrenches of a space W of three dimensions, the same for all of these bodies, so they depend on each other as the
// edges of a graph do: three for each independent loop of the graph, in every configuration and in every part of it.
//
// Hence: if a configuration has no more dependent rows than these, the rows of the second kind and all others are
// independent there, so are those of each part of the mechanism, and no configuration has a larger rank of any part.  The
// reactions of the joints of these loops are then undetermined by W, all others are unique.
#include "kinematics/planar_rows.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Number of planes that are distinguished: loops in others are not counted.
enum { PLANES = 4 };
// Largest sine of the angle between axes that are parallel: round-off.  Rows that tilt by it are still found dependent.
#define PARALLEL 1e-11
// Components of unit vectors below this are round-off (of null vectors: system/min_norm.c).
#define CHANGED 1e-8

typedef struct search {
    const lw_model *model;
    double (*R)[9]; // [nbody] at the start
    double n[PLANES][3];
    int count;
    signed char *plane; // [njoint] in which the joint moves; -1: none
    int *
        component; // [nnode] of bodies that joints of a plane connect in the tree: its first node; -1: the ground's
} search;

// The axis about which the joint rotates; -1: it only slides, or is rigid.  False: it does not move in a plane, or that is
// not known.
static bool find_turn(const lwi_joint *joint, int *turn)
{
    const lwi_joint_type *type = joint->type;
    *turn = -1;
    if (type->nfactor < 0 || joint->mount.present) return false;
    for (int i = 0; i < type->nfactor; i++) {
        const lwi_joint_factor *f = &type->factor[i];
        if (f->kind != LWI_FACTOR_TURN && f->kind != LWI_FACTOR_SLIDE) return false;
        if (f->kind == LWI_FACTOR_SLIDE) continue;
        if (*turn >= 0 && *turn != f->axis) return false;
        *turn = f->axis;
    }
    for (int i = 0; i < type->nfactor; i++)
        if (type->factor[i].kind == LWI_FACTOR_SLIDE && type->factor[i].axis == *turn) return false;
    return true;
}

// Axis i of a joint frame on a body, at the start.
static void axis_at_start(const search *s, int body, const double R[9], int i, double axis[3])
{
    const double own[3] = {R[i], R[3 + i], R[6 + i]};
    if (body)
        m3_mul_v(axis, s->R[body], own);
    else
        v3_copy(axis, own);
}

static bool is_parallel(const double a[3], const double b[3])
{
    double c[3];
    v3_cross(c, a, b);
    return v3_norm(c) <= PARALLEL;
}

// The plane across the axis, a new one if there is room; -1: none.
static int plane_across(search *s, const double axis[3])
{
    for (int p = 0; p < s->count; p++)
        if (is_parallel(axis, s->n[p])) return p;
    if (s->count == PLANES) return -1;
    v3_copy(s->n[s->count], axis);
    return s->count++;
}

// The first plane in which the joint slides.
static int plane_of_slides(const search *s, const lwi_joint *joint)
{
    for (int p = 0; p < s->count; p++) {
        bool within = true;
        for (int i = 0; i < joint->type->nfactor; i++) {
            double axis[3];
            axis_at_start(s, joint->body1, joint->R1, joint->type->factor[i].axis, axis);
            within = within && fabs(v3_dot(axis, s->n[p])) <= PARALLEL;
        }
        if (within) return p;
    }
    return -1;
}

// The plane in which the joint moves; both of its frames have to agree, as they do where the start is closed.
static int plane_of(search *s, const lwi_joint *joint, int turn)
{
    double axis[3];
    for (int i = 0; i < 3; i++) {
        double other[3];
        if (turn >= 0 && turn != i) continue;
        axis_at_start(s, joint->body1, joint->R1, i, axis);
        axis_at_start(s, joint->body2, joint->R2, i, other);
        if (!is_parallel(axis, other)) return -1;
    }
    return turn < 0 ? plane_of_slides(s, joint) : plane_across(s, axis);
}

static bool find_planes(search *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    s->plane = LWI_PUSH(arena, signed char, model->njoint);
    s->component = LWI_PUSH(arena, int, model->nnode);
    s->R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->R);
    if (!s->plane || !s->component || !s->R) return false;
    for (int b = 1; b < model->nbody; b++) quat_matrix(s->R[b], model->body[b].quat0);
    memset(s->plane, -1, (size_t)model->njoint);
    // those that rotate first: they determine the planes
    for (int slides = 0; slides < 2; slides++)
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            int turn;
            if (joint->merged || !find_turn(joint, &turn) || (turn < 0) != (slides == 1)) continue;
            s->plane[j] = (signed char)plane_of(s, joint, turn);
        }
    return true;
}

// Components of the tree in a plane.
static void find_components(const search *s, int plane)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *node = &s->model->node[k];
        const bool within = node->joint >= 0 && s->plane[node->joint] == plane;
        LWI_ASSERT(node->parent < k);
        s->component[k] = !within ? k : node->parent < 0 ? -1 : s->component[node->parent];
    }
}

static int component_of(const search *s, int body)
{
    const int node = s->model->body_node[body];
    return node < 0 ? -1 : s->component[node];
}

// Whether joint j closes a loop with joints of the tree that all move in the plane.
static bool closes_within(const search *s, int j, int plane)
{
    const lwi_joint *joint = &s->model->joint[j];
    return s->plane[j] == plane && component_of(s, joint->body1) == component_of(s, joint->body2);
}

// ---------------------------------------------------------------------------------------- reactions

// Components of W in the axes of F1: forces along n, torques across it.
static unsigned char components(const search *s, int j)
{
    const lwi_joint *joint = &s->model->joint[j];
    unsigned bits = 0;
    const double *n = s->n[s->plane[j]];
    for (int i = 0; i < 3; i++) {
        double axis[3], across[3];
        axis_at_start(s, joint->body1, joint->R1, i, axis);
        v3_cross(across, axis, n);
        if (fabs(v3_dot(axis, n)) > CHANGED) bits |= 1u << i;
        if (v3_norm(across) > CHANGED) bits |= 8u << i;
    }
    return (unsigned char)bits;
}

// The first node on the way from k to the ground with a joint that is not marked; `skip` [nnode] shortens the ways.
static int unmarked(int *skip, int k)
{
    while (k >= 0 && skip[k] != k) {
        if (skip[k] >= 0) skip[k] = skip[skip[k]];
        k = skip[k];
    }
    return k;
}

// Marks the joints of the loop that joint j closes.
static void mark_loop(const search *s, int j, int *skip, unsigned char *undetermined)
{
    const lw_model *model = s->model;
    int a = unmarked(skip, model->body_node[model->joint[j].body1]);
    int b = unmarked(skip, model->body_node[model->joint[j].body2]);
    undetermined[j] = components(s, j);
    while (a != b) { // parents have lower numbers
        int *further = a > b ? &a : &b;
        const lwi_node *node = &model->node[*further];
        undetermined[node->joint] = components(s, node->joint);
        skip[*further] = node->parent;
        *further = unmarked(skip, node->parent);
    }
}

lw_status lwi_planar_rows(const lw_model *model, const lw_allocator *allocator, int *count,
                          unsigned char *undetermined)
{
    lwi_arena arena;
    search s = {.model = model};
    *count = 0;
    lwi_arena_init(&arena, allocator);
    int *skip = LWI_PUSH(&arena, int, model->nnode);
    const bool room = skip && find_planes(&s, &arena);
    if (undetermined) memset(undetermined, 0, (size_t)model->njoint);
    for (int k = 0; k < model->nnode && room; k++) skip[k] = k;
    for (int p = 0; p < s.count && room; p++) {
        find_components(&s, p);
        for (int i = 0; i < model->nloop; i++) {
            if (!closes_within(&s, model->loop[i], p)) continue;
            *count += 3;
            if (undetermined) mark_loop(&s, model->loop[i], skip, undetermined);
        }
    }
    lwi_arena_free(&arena);
    return room ? LW_OK : LW_ERR_MEMORY;
}

// --------------------------------------------------------------------------------- rows by their kind

// The axis of F1 along the normal n; -1: none is.
static int axis_along(const search *s, const lwi_joint *joint, const double n[3])
{
    for (int i = 2; i >= 0; i--) { // of most hinges the z axis
        double axis[3];
        axis_at_start(s, joint->body1, joint->R1, i, axis);
        if (is_parallel(axis, n)) return i;
    }
    return -1;
}

static bool has_plain_rows(const lwi_joint_type *type)
{
    for (int k = 0; k < type->nc; k++)
        if (type->row[k].kind < LWI_ROW_POINT || type->row[k].kind > LWI_ROW_ATTITUDE) return false;
    return true;
}

lw_status lwi_planar_axes(const lw_model *model, const lw_allocator *allocator, signed char *axis,
                          bool *planar)
{
    lwi_arena arena;
    search s = {.model = model};
    lwi_arena_init(&arena, allocator);
    const bool room = find_planes(&s, &arena);
    *planar = room && s.count == 1;
    for (int j = 0; j < model->njoint && *planar; j++) {
        const lwi_joint *joint = &model->joint[j];
        axis[j] = -1;
        if (joint->merged || joint->type->nc + joint->ndriven == 0) continue;
        if (s.plane[j] == 0) axis[j] = (signed char)axis_along(&s, joint, s.n[0]);
        *planar = axis[j] >= 0 && has_plain_rows(joint->type);
    }
    lwi_arena_free(&arena);
    return room ? LW_OK : LW_ERR_MEMORY;
}

bool lwi_planar_is_across(const lwi_joint *joint, int k, int axis)
{
    if (k >= joint->type->nc) return false;
    const lwi_row_form *form = &joint->type->row[k];
    if (form->kind == LWI_ROW_AXES) return form->i == axis || form->j == axis;
    return (form->kind == LWI_ROW_ATTITUDE) != (form->i == axis);
}

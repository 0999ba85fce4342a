// planar_rows.c -- rows that depend on others because bodies move in a plane.
//
// Bodies that joints connect which only rotate about parallel axes n and slide across them move in planes across n relative to
// each other, in every configuration.  The rows of such a joint are three across the motions in the plane (a displacement
// along n, two rotations), and those that constrain the motions in it.  The two kinds do not mix.  The multipliers of the
// first are wrenches of a space W of three dimensions, the same for all of these bodies, so they depend on each other as the
// edges of a graph do: three for each independent loop of the graph, in every configuration and in every part of it.
//
// Hence: if a configuration has no more dependent rows than these, the rows of the second kind and all others are
// independent there, so are those of each part of the mechanism, and no configuration has a larger rank of any part.
#include "kinematics/planar_rows.h"

#include "base/assert.h"
#include "base/components.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>

// Number of planes that are distinguished: loops in others are not counted.
enum { PLANES = 4 };
// Largest sine of the angle between axes that are parallel: round-off.  Rows that tilt by it are still found dependent.
#define PARALLEL 1e-11

typedef struct search {
    const lw_model *model;
    double n[PLANES][3];
    int count;
    int *component[PLANES]; // [nbody] of bodies that joints of this plane connect
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

// Axes of a joint frame on a body, at the start.
static void frame_at_start(const lw_model *model, int body, const double R[9], double world[9])
{
    double own[9];
    quat_matrix(own, model->body[body].quat0);
    if (body)
        m3_mul(world, own, R);
    else
        memcpy(world, R, sizeof own);
}

static void column(const double R[9], int i, double a[3])
{
    v3_set(a, R[i], R[3 + i], R[6 + i]);
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
static int plane_of_slides(const search *s, const lwi_joint *joint, const double R[9])
{
    for (int p = 0; p < s->count; p++) {
        bool within = true;
        for (int i = 0; i < joint->type->nfactor; i++) {
            double axis[3];
            column(R, joint->type->factor[i].axis, axis);
            within = within && fabs(v3_dot(axis, s->n[p])) <= PARALLEL;
        }
        if (within) return p;
    }
    return -1;
}

// The plane in which the joint moves; both of its frames have to agree, as they do where the start is closed.
static int plane_of(search *s, const lwi_joint *joint, int turn)
{
    double R1[9], R2[9];
    frame_at_start(s->model, joint->body1, joint->R1, R1);
    frame_at_start(s->model, joint->body2, joint->R2, R2);
    for (int i = 0; i < 3; i++) {
        double a[3], b[3];
        column(R1, i, a), column(R2, i, b);
        if ((turn < 0 || turn == i) && !is_parallel(a, b)) return -1;
    }
    if (turn < 0) return plane_of_slides(s, joint, R1);
    double axis[3];
    column(R1, turn, axis);
    return plane_across(s, axis);
}

// Rows that depend because of the joint: it closes a loop in its plane, or it connects two components.
static int add_joint(search *s, const lwi_joint *joint, int turn)
{
    const int p = plane_of(s, joint, turn);
    if (p < 0) return 0;
    LWI_ASSERT_INDEX(p, s->count);
    int *of = s->component[p];
    const int a = lwi_component_of(of, joint->body1), b = lwi_component_of(of, joint->body2);
    of[a] = b;
    return a == b ? 3 : 0;
}

static bool prepare(search *s, lwi_arena *arena)
{
    for (int p = 0; p < PLANES; p++) {
        s->component[p] = LWI_PUSH(arena, int, s->model->nbody);
        if (!s->component[p]) return false;
        for (int b = 0; b < s->model->nbody; b++) s->component[p][b] = b;
    }
    return true;
}

lw_status lwi_planar_rows(const lw_model *model, const lw_allocator *allocator, int *count)
{
    lwi_arena arena;
    search s = {.model = model};
    *count = 0;
    lwi_arena_init(&arena, allocator);
    const bool room = prepare(&s, &arena);
    // those that rotate first: they determine the planes
    for (int slides = 0; slides < 2 && room; slides++)
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            int turn;
            if (joint->merged || !find_turn(joint, &turn) || (turn < 0) != (slides == 1)) continue;
            *count += add_joint(&s, joint, turn);
        }
    lwi_arena_free(&arena);
    return room ? LW_OK : LW_ERR_MEMORY;
}

// random_loops.c -- random mechanisms with loops through the public builder.
//
// Bodies are placed at random. Then joints connect them, each with frames on its two bodies such
// that the relative pose is that of the coordinates chosen for the joint, so every joint is
// satisfied at the start, whichever loops it is in. The model is first built at rest. Its
// constraint rows give the consistent velocities nearest to random ones, and the model is built
// again with those. Mechanisms that are near a singular position, rigid, or redundant where this is
// not intended are discarded.
#include "support/random_loops.h"

#include "base/linear.h"
#include "kinematics/closure.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BODIES = 64, MAX_JOINTS = 2 * MAX_BODIES, MAX_TRIES = 60 };

typedef struct frame {
    double R[9], r[3];
} frame;

typedef struct placed {
    lw_joint id;
    lw_joint_type type;
    double q[LW_JOINT_MAX_NQ];
    bool taken; // one of its coordinates is driven or coupled
} placed;

typedef struct draft {
    lw_builder *builder;
    uint64_t state;
    unsigned flags;
    lw_error error;
    const double (*velocity)[6]; // of the mass centres, angular part in body axes; NULL: at rest
    int nbody, njoint;           // moving bodies, joints
    lw_body body[MAX_BODIES];
    frame at[MAX_BODIES]; // [0] the ground
    bool massless[MAX_BODIES];
    placed joint[MAX_JOINTS];
    int first;  // first body that may carry branches: 0 the ground, 1 if all bodies float
    int nspare; // rows that are redundant by construction
    lw_signal input;
} draft;

// ---------------------------------------------------------------------------------------- frames

static bool chance(draft *d, double probability)
{
    return lwt_random(&d->state, 0, 1) < probability;
}

static void fill(draft *d, double size, double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = lwt_random(&d->state, -size, size);
}

static lw_vec3 vector(draft *d, double size)
{
    double v[3];
    fill(d, size, v, 3);
    return (lw_vec3){v[0], v[1], v[2]};
}

static void attitude(draft *d, double q[4])
{
    do fill(d, 1, q, 4);
    while (quat_norm2(q) < 0.05 ||
           quat_norm2(q) > 1); // a point of the unit ball, not too near its centre
    quat_normalize(q, q);
}

static void turn_any(draft *d, double R[9])
{
    double q[4];
    attitude(d, q);
    quat_matrix(R, q);
}

// c = a b, frame b expressed in a
static void times(frame *c, const frame *a, const frame *b)
{
    m3_mul(c->R, a->R, b->R);
    m3_mul_v(c->r, a->R, b->r);
    v3_add(c->r, c->r, a->r);
}

// c: frame b in a, both expressed in one common frame
static void within(frame *c, const frame *a, const frame *b)
{
    m3_tmul(c->R, a->R, b->R);
    v3_sub(c->r, b->r, a->r);
    m3_tmul_v(c->r, a->R, c->r);
}

static lw_pose pose_of(const frame *f)
{
    double q[4];
    quat_from_matrix(q, f->R);
    return (lw_pose){.position = {f->r[0], f->r[1], f->r[2]},
                     .orientation = {q[0], q[1], q[2], q[3]}};
}

// ---------------------------------------------------------------------------------------- elements

// A function of time with value `start` at t = 0; the value is random where start is NaN.
static lw_status add_sine(draft *d, double size, double start, lw_signal *signal, double *value)
{
    lw_function_desc desc = {.type = LW_FUNCTION_SINE,
                             .offset = lwt_random(&d->state, -0.3, 0.3),
                             .amplitude = lwt_random(&d->state, 0.1, size),
                             .omega = lwt_random(&d->state, 0.5, 3),
                             .phase = lwt_random(&d->state, 0, 6)};
    const double now = desc.offset + desc.amplitude * sin(desc.phase);
    if (!isnan(start)) desc.offset += start - now;
    if (value) *value = now;
    return lw_builder_add_function(d->builder, &desc, signal, &d->error);
}

// Body number d->nbody + 1 at `at`. Ixx = b + c, ... with second moments a, b, c > 0 is a physical
// inertia.
static lw_status add_body(draft *d, const frame *at, bool massless)
{
    const int i = ++d->nbody;
    const double m = lwt_random(&d->state, 0.3, 2);
    double a[3];
    for (int k = 0; k < 3; k++) a[k] = lwt_random(&d->state, 0.01, 0.06);
    lw_body_desc desc = {
        .mass = m,
        .inertia = {m * (a[1] + a[2]), m * (a[0] + a[2]), m * (a[0] + a[1]), 0, 0, 0},
        .com = vector(d, 0.2),
        .pose = pose_of(at)};
    double q[4];
    attitude(d, q);
    desc.inertia_axes = (lw_quat){q[0], q[1], q[2], q[3]};
    if (massless) {
        desc.mass = 0;
        for (int k = 0; k < 6; k++) desc.inertia[k] = 0;
    } else if (d->velocity) {
        const double *V = d->velocity[i];
        desc.has_velocity = 1;
        desc.velocity = (lw_vec3){V[0], V[1], V[2]};
        desc.angular_velocity = (lw_vec3){V[3], V[4], V[5]};
    }
    d->at[i] = *at;
    d->massless[i] = massless;
    return lw_builder_add_body(d->builder, &desc, &d->body[i], &d->error);
}

// A body at a random pose near body `from`.
static lw_status add_body_near(draft *d, int from, bool massless)
{
    frame at;
    turn_any(d, at.R);
    fill(d, 0.6, at.r, 3);
    v3_add(at.r, at.r, d->at[from].r);
    return add_body(d, &at, massless);
}

static lw_status add_mount(draft *d, lw_joint_desc *joint, frame *moved)
{
    double value;
    for (int i = 0; i < 3; i++) {
        moved->r[i] = 0;
        if (!chance(d, 0.6)) continue;
        TRY(add_sine(d, 0.3, NAN, &joint->mount_shift[i], &value));
        moved->r[i] = value;
    }
    m3_identity(moved->R);
    if (!chance(d, 0.6)) return LW_OK;
    double about[3];
    fill(d, 1, about, 3);
    about[2] += 1.1; // not the zero vector
    v3_scale(about, 1 / v3_norm(about), about);
    TRY(add_sine(d, 0.6, NAN, &joint->mount_turn, &value));
    joint->mount_about = (lw_vec3){about[0], about[1], about[2]};
    rot_axis(moved->R, about, value);
    return LW_OK;
}

static bool has_quaternion(lw_joint_type type)
{
    return type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE;
}

static int dof_of(lw_joint_type type)
{
    return type == LW_JOINT_CUSTOM ? lwt_bead.nv : lwi_joint_type_of(type)->nv;
}

static lw_status add_joint_forces(draft *d, lw_joint_desc *joint)
{
    if (has_quaternion(joint->type)) {
        joint->damping = lwt_random(&d->state, 0, 0.2);
        return LW_OK;
    }
    for (int i = 0; i < dof_of(joint->type); i++) {
        lw_coordinate_desc *c = &joint->coordinate[i];
        if (!chance(d, 0.4)) continue;
        c->stiffness = lwt_random(&d->state, 0, 20);
        c->damping = lwt_random(&d->state, 0, 0.5);
        c->at = lwt_random(&d->state, -0.5, 0.5);
        if (chance(d, 0.3)) TRY(add_sine(d, 2, NAN, &c->force, NULL));
        if (chance(d, 0.3)) c->effort = d->input;
    }
    return LW_OK;
}

// Coordinates, the pose of F2 in F1 at these coordinates, and the value of a drive.
static lw_status choose_coordinates(draft *d, lw_joint_desc *joint, placed *record, bool drive,
                                    frame *f2)
{
    lwi_joint_par par = {.pitch = joint->pitch / 6.283185307179586};
    double *q = record->q;
    fill(d, 1, q, LW_JOINT_MAX_NQ);
    if (has_quaternion(joint->type)) attitude(d, q + (joint->type == LW_JOINT_FREE ? 3 : 0));
    for (int i = 0; drive && i < dof_of(joint->type) && !has_quaternion(joint->type); i++) {
        if (!chance(d, 0.5)) continue;
        TRY(add_sine(d, 0.6, q[i], &joint->coordinate[i].motion, NULL));
        record->taken = true;
    }
    if (joint->type == LW_JOINT_CUSTOM)
        lwt_bead.pose(lwt_bead.user, q, f2->R, f2->r);
    else
        lwi_joint_type_of(joint->type)->pose(&par, q, f2->R, f2->r);
    return LW_OK;
}

// A joint between bodies a and b; `f1` is the pose of frame F1 after the motion of its mount.
static lw_status add_joint_at(draft *d, lw_joint_type type, int a, int b, const frame *f1,
                              bool plain)
{
    lw_joint_desc joint = {.type = type,
                           .body1 = d->body[a],
                           .body2 = d->body[b],
                           .placement = LW_PLACED_FRAMES,
                           .pitch = type == LW_JOINT_SCREW ? lwt_random(&d->state, -1, 1) : 0,
                           .custom = type == LW_JOINT_CUSTOM ? &lwt_bead : NULL};
    frame unmoved = *f1, q, f2, on;
    placed *record = &d->joint[d->njoint++];
    *record = (placed){.type = type};
    const bool drive = !plain && (d->flags & LWT_DRIVES) && chance(d, 0.15);
    TRY(choose_coordinates(d, &joint, record, drive, &q));
    if (!plain && (d->flags & LWT_MOUNTS) && !d->massless[a] && !d->massless[b] &&
        chance(d, 0.15)) {
        frame mount, back, still;
        TRY(add_mount(d, &joint, &mount));
        m3_identity(still.R);
        v3_set(still.r, 0, 0, 0);
        within(&back, &mount, &still);
        times(&unmoved, f1, &back);
    }
    if (!plain && (d->flags & LWT_FORCES) && type != LW_JOINT_FIXED)
        TRY(add_joint_forces(d, &joint));
    within(&on, &d->at[a], &unmoved);
    joint.frame1 = pose_of(&on);
    times(&f2, f1, &q);
    within(&on, &d->at[b], &f2);
    joint.frame2 = pose_of(&on);
    return lw_builder_add_joint(d->builder, &joint, &record->id, &d->error);
}

// A joint of random orientation between the two bodies; either may be body1.
static lw_status add_joint(draft *d, lw_joint_type type, int a, int b)
{
    frame f1;
    turn_any(d, f1.R);
    fill(d, 0.2, f1.r, 3);
    for (int i = 0; i < 3; i++) f1.r[i] += 0.5 * (d->at[a].r[i] + d->at[b].r[i]);
    const bool reversed = chance(d, 0.4);
    return add_joint_at(d, type, reversed ? b : a, reversed ? a : b, &f1, false);
}

static lw_status add_distance(draft *d, int a, int b)
{
    lw_joint_desc joint = {.type = LW_JOINT_DISTANCE,
                           .body1 = d->body[a],
                           .body2 = d->body[b],
                           .placement = LW_PLACED_FRAMES};
    frame point[2], world[2];
    double gap[3];
    for (int i = 0; i < 2; i++) {
        m3_identity(point[i].R);
        fill(d, 0.3, point[i].r, 3);
        times(&world[i], &d->at[i ? b : a], &point[i]);
    }
    joint.frame1 = pose_of(&point[0]);
    joint.frame2 = pose_of(&point[1]);
    v3_sub(gap, world[1].r, world[0].r);
    if ((d->flags & LWT_DRIVES) && chance(d, 0.5))
        TRY(add_sine(d, 0.3, v3_norm(gap), &joint.length_of, NULL));
    lw_joint added;
    d->joint[d->njoint++] = (placed){.type = LW_JOINT_DISTANCE};
    return lw_builder_add_joint(d->builder, &joint, &added, &d->error);
}

// ------------------------------------------------------------------------------ branches and loops

static lw_joint_type choose_type(draft *d)
{
    static const struct {
        lw_joint_type type;
        unsigned needs;
    } choice[] = {{LW_JOINT_REVOLUTE, 0},          {LW_JOINT_REVOLUTE, 0},
                  {LW_JOINT_PRISMATIC, 0},         {LW_JOINT_SCREW, 0},
                  {LW_JOINT_CYLINDRICAL, 0},       {LW_JOINT_UNIVERSAL, LWT_MULTI},
                  {LW_JOINT_PLANAR, LWT_MULTI},    {LW_JOINT_SPHERICAL, LWT_QUASI},
                  {LW_JOINT_SPHERICAL, LWT_QUASI}, {LW_JOINT_FREE, LWT_QUASI},
                  {LW_JOINT_CUSTOM, LWT_CUSTOM}};
    for (;;) {
        const int i = lwt_random_below(&d->state, (int)(sizeof choice / sizeof choice[0]));
        if ((choice[i].needs & d->flags) == choice[i].needs) return choice[i].type;
    }
}

// A random body of the mechanism, or the ground, that can carry a branch.
static int any_body(draft *d)
{
    for (;;) {
        const int i = d->first + lwt_random_below(&d->state, d->nbody + 1 - d->first);
        if (!d->massless[i]) return i;
    }
}

// A branch of several bodies on an existing body; its last body may be joined to another existing
// body.
static lw_status add_branch(draft *d)
{
    // with joints of one degree of freedom a movable loop has at least six bodies
    const int max = d->flags & (LWT_MULTI | LWT_QUASI) ? 3 : 6;
    const int from = any_body(d), length = 1 + lwt_random_below(&d->state, max);
    int to = any_body(d), last = from, free_ = 0;
    for (int i = 0; i < length; i++) {
        const lw_joint_type type = choose_type(d);
        free_ += dof_of(type);
        TRY(add_body_near(d, last, false));
        TRY(add_joint(d, type, last, d->nbody));
        last = d->nbody;
    }
    if ((d->flags & LWT_DISTANCE) && chance(d, 0.3)) return add_distance(d, last, to);
    lw_joint_type type = choose_type(d);
    for (int i = 0; i < 20 && free_ + dof_of(type) < 6; i++) type = choose_type(d);
    if (free_ + dof_of(type) < 6 || (to == from && free_ + dof_of(type) < 7)) return LW_OK;
    return add_joint(d, type, last, to);
}

// A massive or massless body on a fixed joint.
static lw_status add_fixed(draft *d)
{
    const int from = any_body(d);
    const bool massless = chance(d, 0.5);
    TRY(add_body_near(d, from, massless));
    frame f1 = d->at[d->nbody];
    return add_joint_at(d, LW_JOINT_FIXED, from, d->nbody, &f1, true);
}

// A loop of four or five joints with parallel axes (one may slide normal to them), or with axes
// through one point, on one body: it is mobile, and three of its equations are redundant.
static lw_status add_redundant(draft *d)
{
    const int base = any_body(d), length = 3 + lwt_random_below(&d->state, 2);
    const bool spherical = chance(d, 0.5);
    const int slide = !spherical && chance(d, 0.4) ? lwt_random_below(&d->state, length + 1) : -1;
    frame plane;
    turn_any(d, plane.R);
    fill(d, 0.5, plane.r, 3);
    v3_add(plane.r, plane.r, d->at[base].r);
    int last = base;
    for (int i = 0; i <= length; i++) {
        frame in = {.r = {0}}, f1;
        int next = base;
        if (i < length) {
            TRY(add_body_near(d, base, false));
            next = d->nbody;
        }
        const double around =
            6.283185307179586 * (i + lwt_random(&d->state, -0.3, 0.3)) / (length + 1);
        if (spherical) { // z towards a point on a circle about the axis of the cone
            const double axis[3] = {-sin(around), cos(around), 0};
            rot_axis(in.R, axis, lwt_random(&d->state, 0.5, 1.2));
        } else {
            rot_z(in.R, cos(around), sin(around));
            v3_set(in.r, 0.6 * cos(around), 0.6 * sin(around), lwt_random(&d->state, -0.3, 0.3));
            if (i == slide) { // z into the plane
                const double x[9] = {1, 0, 0, 0, 0, 1, 0, -1, 0};
                double R[9];
                m3_mul(R, in.R, x);
                memcpy(in.R, R, sizeof R);
            }
        }
        times(&f1, &plane, &in);
        TRY(add_joint_at(d, i == slide ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE, last, next, &f1,
                         true));
        last = next;
    }
    d->nspare += 3;
    return LW_OK;
}

// q_a = c0 + c1 q_b + c2 q_b^2 between free coordinates with rates that are speeds.
static lw_status add_coupling(draft *d)
{
    int pick[2], with[2];
    for (int i = 0; i < 2; i++) {
        int tries = 0;
        do pick[i] = lwt_random_below(&d->state, d->njoint);
        while (++tries < 50 && (d->joint[pick[i]].taken || has_quaternion(d->joint[pick[i]].type) ||
                                dof_of(d->joint[pick[i]].type) == 0));
        if (tries == 50) return LW_OK;
        with[i] = lwt_random_below(&d->state, dof_of(d->joint[pick[i]].type));
    }
    if (pick[0] == pick[1]) return LW_OK;
    const double x = d->joint[pick[1]].q[with[1]];
    double c[3] = {0, lwt_random(&d->state, 0.5, 1.5), lwt_random(&d->state, -0.3, 0.3)};
    c[0] = d->joint[pick[0]].q[with[0]] - c[1] * x - c[2] * x * x;
    const lw_coupling_desc coupling = {.joint = d->joint[pick[0]].id,
                                       .of = d->joint[pick[1]].id,
                                       .coordinate = with[0],
                                       .with = with[1],
                                       .polynomial = c,
                                       .npolynomial = 3};
    d->joint[pick[0]].taken = true;
    return lw_builder_add_coupling(d->builder, &coupling, &d->error);
}

static lw_status add_forces(draft *d)
{
    for (int i = 0; i < 1 + d->nbody / 4; i++) {
        const int a = lwt_random_below(&d->state, d->nbody + 1);
        const int b = lwt_random_below(&d->state, d->nbody + 1);
        lw_spring_desc spring = {.body1 = d->body[a],
                                 .body2 = d->body[b],
                                 .point1 = vector(d, 0.4),
                                 .point2 = vector(d, 0.4),
                                 .stiffness = lwt_random(&d->state, 0, 10),
                                 .damping = lwt_random(&d->state, 0, 0.5),
                                 .length = lwt_random(&d->state, 0.2, 1)};
        lw_wrench_desc wrench = {.body = d->body[1 + lwt_random_below(&d->state, d->nbody)],
                                 .point = vector(d, 0.4),
                                 .force = vector(d, 3),
                                 .torque = vector(d, 1),
                                 .body_axes = chance(d, 0.5)};
        if (chance(d, 0.5)) TRY(add_sine(d, 1, NAN, &wrench.scale, NULL));
        if (a != b) TRY(lw_builder_add_spring(d->builder, &spring, &d->error));
        TRY(lw_builder_add_wrench(d->builder, &wrench, &d->error));
    }
    return LW_OK;
}

static lw_status build(draft *d, int nbody)
{
    lw_builder_gravity(d->builder, vector(d, 9));
    if (d->flags & LWT_FORCES) TRY(lw_builder_add_input(d->builder, "input", &d->input, &d->error));
    m3_identity(d->at[0].R);
    if ((d->flags & LWT_FLOATING) && chance(d, 0.4)) {
        TRY(add_body_near(d, 0, false));
        d->first = 1;
    }
    while (d->nbody < nbody) {
        if ((d->flags & LWT_FIXED) && d->nbody > 0 && chance(d, 0.15))
            TRY(add_fixed(d));
        else if ((d->flags & LWT_REDUNDANT) && chance(d, 0.35))
            TRY(add_redundant(d));
        else
            TRY(add_branch(d));
    }
    for (int i = 0; (d->flags & LWT_COUPLINGS) && i < 1 + nbody / 8; i++)
        if (chance(d, 0.7)) TRY(add_coupling(d));
    return (d->flags & LWT_FORCES) ? add_forces(d) : LW_OK;
}

// ----------------------------------------------------------------------- initial state, velocities

// Constraint rows of the initial state of the model as columns [nrow][6 nbody], and b; returns the
// number of rows.
static int start_rows(const lw_model *model, double *A, double *b)
{
    const size_t n = 6 * (size_t)model->nbody;
    double(*R)[9] = calloc((size_t)model->nbody, sizeof *R),
    (*r)[3] = calloc((size_t)model->nbody, sizeof *r);
    int nrow = 0;
    for (int i = 0; i < model->nbody; i++) {
        quat_matrix(R[i], model->body[i].quat0);
        v3_copy(r[i], model->body[i].r0);
    }
    const lwi_motion motion = {
        .R = (const double(*)[9])R, .r = (const double(*)[3])r, .q = model->q0};
    for (int e = 0; e < model->njoint + model->ncoupling; e++) {
        lwi_closure c;
        if (e < model->njoint)
            lwi_joint_closure(model, e, 0, &motion, LWI_CLOSURE_POSITION, &c);
        else
            lwi_coupling_closure(model, e - model->njoint, 0, &motion, LWI_CLOSURE_POSITION, &c);
        for (int k = 0; k < c.n; k++, nrow++) {
            memset(A + (size_t)nrow * n, 0, n * sizeof *A);
            for (int i = 0; i < c.nbody; i++)
                memcpy(A + (size_t)nrow * n + 6 * (size_t)c.body[i], c.J[i][k], sizeof c.J[i][k]);
            b[nrow] = -c.b[k];
        }
    }
    free(R);
    free(r);
    return nrow;
}

static int row_bound(const lw_model *model)
{
    int n = model->ncoupling;
    for (int j = 0; j < model->njoint; j++) n += lwi_joint_row_count(model, j);
    return n;
}

// Pivots are sines of the angles to the rows before: independent rows have pivots above KEPT,
// redundant ones below DROPPED.
#define KEPT 0.01
#define DROPPED 1e-10

// Velocities nearest to random ones that satisfy all rows, [nbody][6], body axes below. False where
// rank or degrees of freedom are not as intended.
static bool consistent_velocities(draft *d, const lw_model *model, lwt_loops *loops, double (*V)[6])
{
    const int n = 6 * model->nbody, m = row_bound(model);
    double *A = calloc((size_t)(n * (m + 1)), sizeof *A),
           *lambda = calloc((size_t)m + 1, sizeof *lambda);
    double *rest = calloc(lwi_cod_doubles(n, m) + 1, sizeof *rest);
    int *pivot = calloc((size_t)m + 1, sizeof *pivot), carriers = 0;
    lwi_cod cod;
    start_rows(model, A, lambda);
    lwi_cod_init(&cod, n, m, A, rest, pivot);
    lwi_cod_factor(&cod, -1, 1e-6);
    fill(d, 1, V[0], n);
    lwi_cod_nearest(&cod, V[0], lambda);
    for (int b = 1; b < model->nbody; b++) {
        double R[9];
        quat_matrix(R, model->body[b].quat0);
        m3_tmul_v(V[b] + 3, R, V[b] + 3);
        carriers += model->body[b].carrier == b;
    }
    *loops = (lwt_loops){
        .nrow = m, .rank = cod.rank, .dof = 6 * carriers - cod.rank, .nredundant = m - cod.rank};
    const bool good = cod.small > KEPT && cod.next < DROPPED;
    free(A);
    free(lambda);
    free(rest);
    free(pivot);
    return good && loops->dof > 0 && loops->nredundant == d->nspare;
}

static lw_status attempt(uint64_t seed, int nbody, unsigned flags, const double (*velocity)[6],
                         draft *d, lw_model **model)
{
    *d = (draft){.state = seed, .flags = flags, .velocity = velocity};
    *model = NULL;
    TRY(lw_builder_create(NULL, &d->builder));
    lw_status status = build(d, nbody);
    if (status == LW_OK)
        status = velocity ? lw_model_create(d->builder, model, &d->error)
                          : lw_model_create_open(d->builder, model, &d->error);
    lw_builder_destroy(d->builder);
    return status;
}

lw_status lwt_random_loops(uint64_t seed, int nbody, unsigned flags, lwt_loops *loops)
{
    static const uint64_t stride = 0x9e3779b97f4a7c15u; // no attempt repeats another seed
    draft *d = malloc(sizeof *d);
    double(*V)[6] = calloc(MAX_BODIES, sizeof *V);
    lw_status status = d && V ? LW_ERR_ARGUMENT : LW_ERR_MEMORY;
    *loops = (lwt_loops){0};
    for (uint64_t try = 0; d && V && nbody <= MAX_BODIES - 8 && try < MAX_TRIES; try++) {
        lw_model *model;
        status = attempt(seed + try * stride, nbody, flags, NULL, d, &model);
        if (status != LW_OK) break;
        const bool good = consistent_velocities(d, model, loops, V);
        lw_model_destroy(model);
        status = LW_ERR_MODEL;
        if (!good) continue;
        status =
            attempt(seed + try * stride, nbody, flags, (const double(*)[6])V, d, &loops->model);
        break;
    }
    if (status != LW_OK)
        (void)fprintf(stderr, "random loops, seed %llu, %d bodies, flags %u: %s: %s\n",
                      (unsigned long long)seed, nbody, flags, lw_status_text(status),
                      d ? d->error.text : "");
    free(d);
    free(V);
    return status;
}

lwt_loops lwt_loops_create(uint64_t seed, int nbody, unsigned flags)
{
    lwt_loops loops;
    if (lwt_random_loops(seed, nbody, flags, &loops) != LW_OK) abort();
    return loops;
}

// random_model.c -- random open trees through the public builder.
#include "support/random_model.h"

#include <math.h>
#include <stdio.h>

#define MAX_BODIES 1024

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const lw_status status_ = (call);                                                          \
        if (status_ != LW_OK) return status_;                                                      \
    } while (0)

// ----------------------------------------------------------------------------------------- numbers

// splitmix64: every seed gives a good sequence
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double lwt_random(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(next(state) >> 11) * 0x1p-53);
}

int lwt_random_below(uint64_t *state, int count)
{
    return (int)(next(state) % (uint64_t)count);
}

static int chance(uint64_t *state, double probability)
{
    return lwt_random(state, 0, 1) < probability;
}

static lw_vec3 vector(uint64_t *state, double size)
{
    lw_vec3 v;
    v.x = lwt_random(state, -size, size);
    v.y = lwt_random(state, -size, size);
    v.z = lwt_random(state, -size, size);
    return v;
}

static lw_quat attitude(uint64_t *state)
{
    double q[4], n2;
    do {
        n2 = 0;
        for (int i = 0; i < 4; i++) q[i] = lwt_random(state, -1, 1), n2 += q[i] * q[i];
    } while (n2 < 0.05 || n2 > 1); // a point of the unit ball, not too near its centre
    const double s = 1 / sqrt(n2);
    return (lw_quat){s * q[0], s * q[1], s * q[2], s * q[3]};
}

static lw_pose place(uint64_t *state, double size)
{
    lw_pose pose;
    pose.position = vector(state, size);
    pose.orientation = attitude(state);
    return pose;
}

// Quaternion product a b.
static lw_quat times(lw_quat a, lw_quat b)
{
    return (lw_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                     a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// Pose of a body B in a body A when frame `a` of A and frame `b` of B coincide.
static lw_pose from_frames(const lw_pose *a, const lw_pose *b)
{
    const lw_quat q = b->orientation, back = {q.w, -q.x, -q.y, -q.z};
    lw_pose pose = {.orientation = times(a->orientation, back)};
    // R v is the vector part of r v r*
    const lw_quat r = pose.orientation, mirrored = {r.w, -r.x, -r.y, -r.z};
    const lw_quat v = {0, b->position.x, b->position.y, b->position.z};
    const lw_quat rotated = times(times(r, v), mirrored);
    pose.position.x = a->position.x - rotated.x;
    pose.position.y = a->position.y - rotated.y;
    pose.position.z = a->position.z - rotated.z;
    return pose;
}

// ------------------------------------------------------------------------------------ custom joint

// A bead on a curve: rotates by q0 about z1 and slides along r(q1) = (a sin q1, b q1^2, c q1).
static const double curve[3] = {0.3, 0.2, 0.5};

static void bead_tangent(double q0, const double d[3], double v[3])
{
    const double c = cos(q0), s = sin(q0);
    v[0] = c * d[0] + s * d[1], v[1] = -s * d[0] + c * d[1], v[2] = d[2];
}

static void bead_pose(const void *user, const double *q, double R[9], double r[3])
{
    const double *k = user, c = cos(q[0]), s = sin(q[0]);
    const double turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    for (int i = 0; i < 9; i++) R[i] = turn[i];
    r[0] = k[0] * sin(q[1]), r[1] = k[1] * q[1] * q[1], r[2] = k[2] * q[1];
}

static void bead_subspace(const void *user, const double *q, double S[][6])
{
    const double *k = user, d[3] = {k[0] * cos(q[1]), 2 * k[1] * q[1], k[2]};
    for (int i = 0; i < 6; i++) S[0][i] = i == 5, S[1][i] = 0;
    bead_tangent(q[0], d, S[1]);
}

static void bead_subspace_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    const double *k = user, d[3] = {k[0] * cos(q[1]), 2 * k[1] * q[1], k[2]};
    const double e[3] = {-k[0] * sin(q[1]) * u[1], 2 * k[1] * u[1], 0};
    double v[3], a[3];
    bead_tangent(q[0], d, v);
    bead_tangent(q[0], e, a);
    for (int i = 0; i < 6; i++) Sdot[0][i] = Sdot[1][i] = 0;
    Sdot[1][0] = a[0] + u[0] * v[1]; // -(u0 z) x v
    Sdot[1][1] = a[1] - u[0] * v[0];
    Sdot[1][2] = a[2];
}

static void bead_read(const void *user, const double R[9], const double r[3], const double *near,
                      double *q)
{
    const double *k = user, turn = 6.283185307179586;
    q[0] = atan2(R[3], R[0]);
    q[0] += turn * rint((near[0] - q[0]) / turn);
    q[1] = r[2] / k[2];
}

const lw_custom_joint lwt_bead = {.name = "bead",
                                  .nq = 2,
                                  .nv = 2,
                                  .pose = bead_pose,
                                  .subspace = bead_subspace,
                                  .subspace_rate = bead_subspace_rate,
                                  .read = bead_read,
                                  .user = curve};

// ---------------------------------------------------------------------------------------- elements

typedef struct draft {
    lw_builder *builder;
    uint64_t state;
    unsigned flags;
    lw_error error;
    lw_body body[MAX_BODIES + 1];
    int nbody;
    lw_signal input;
} draft;

static lw_status add_sine(draft *d, double size, lw_signal *signal, double start[2])
{
    const lw_function_desc desc = {.type = LW_FUNCTION_SINE,
                                   .offset = lwt_random(&d->state, -0.3, 0.3),
                                   .amplitude = lwt_random(&d->state, 0.1, size),
                                   .omega = lwt_random(&d->state, 0.5, 3),
                                   .phase = lwt_random(&d->state, 0, 6)};
    if (start != NULL) {
        start[0] = desc.offset + desc.amplitude * sin(desc.phase);
        start[1] = desc.amplitude * desc.omega * cos(desc.phase);
    }
    return lw_builder_add_function(d->builder, &desc, signal, &d->error);
}

// Ixx = b + c, ... of second moments a, b, c > 0 satisfies the triangle inequalities
static lw_status add_body(draft *d, int massless, int floating, const lw_pose *fixed, int parent)
{
    const double m = lwt_random(&d->state, 0.3, 2);
    const double a = lwt_random(&d->state, 0.01, 0.06), b = lwt_random(&d->state, 0.01, 0.06),
                 c = lwt_random(&d->state, 0.01, 0.06);
    lw_body_desc desc = {.mass = m,
                         .inertia = {m * (b + c), m * (a + c), m * (a + b), 0, 0, 0},
                         .com = vector(&d->state, 0.3),
                         .inertia_axes = attitude(&d->state)};
    if (fixed != NULL) { // a fixed joint has no coordinates to define the pose of the body
        desc.pose = *fixed;
        desc.in = d->body[parent];
    }
    if (floating) { // otherwise the coordinates and speeds of the joint define them
        desc.pose = place(&d->state, 2);
        desc.has_velocity = 1;
        desc.velocity = vector(&d->state, 1);
        desc.angular_velocity = vector(&d->state, 1);
    }
    if (massless) {
        desc.mass = 0;
        for (int i = 0; i < 6; i++) desc.inertia[i] = 0;
    }
    d->nbody++;
    return lw_builder_add_body(d->builder, &desc, &d->body[d->nbody], &d->error);
}

static lw_joint_type choose_type(draft *d)
{
    static const struct {
        lw_joint_type type;
        unsigned needs;
    } choice[] = {{LW_JOINT_REVOLUTE, 0},
                  {LW_JOINT_PRISMATIC, 0},
                  {LW_JOINT_SCREW, 0},
                  {LW_JOINT_CYLINDRICAL, 0},
                  {LW_JOINT_UNIVERSAL, LWT_MULTI},
                  {LW_JOINT_PLANAR, LWT_MULTI},
                  {LW_JOINT_SPHERICAL, LWT_QUASI},
                  {LW_JOINT_FREE, LWT_QUASI},
                  {LW_JOINT_FIXED, LWT_FIXED},
                  {LW_JOINT_CUSTOM, LWT_CUSTOM}};
    for (;;) {
        const int i = lwt_random_below(&d->state, (int)(sizeof choice / sizeof choice[0]));
        if ((choice[i].needs & d->flags) == choice[i].needs) return choice[i].type;
    }
}

static int speeds_of(lw_joint_type type)
{
#define X(name, text, nq, nv, nc, help) nv,
    static const int nv[] = {LW_JOINT_LIST(X)};
#undef X
    return type == LW_JOINT_CUSTOM ? lwt_bead.nv : nv[type];
}

static void start_values(draft *d, lw_joint_desc *joint)
{
    uint64_t *s = &d->state;
    joint->has_q = joint->has_qd = 1;
    for (int i = 0; i < LW_JOINT_MAX_NQ; i++) joint->q[i] = lwt_random(s, -1, 1);
    for (int i = 0; i < LW_JOINT_MAX_NV; i++) joint->qd[i] = lwt_random(s, -1.5, 1.5);
    if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE) {
        const lw_quat a = attitude(s);
        double *q = joint->q + (joint->type == LW_JOINT_FREE ? 3 : 0);
        q[0] = a.w, q[1] = a.x, q[2] = a.y, q[3] = a.z;
    }
}

static lw_status add_drives(draft *d, lw_joint_desc *joint)
{
    if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE) return LW_OK;
    for (int i = 0; i < speeds_of(joint->type); i++) {
        double start[2];
        if (!chance(&d->state, 0.25)) continue;
        TRY(add_sine(d, 0.6, &joint->coordinate[i].motion, start));
        joint->q[i] = start[0], joint->qd[i] = start[1];
    }
    return LW_OK;
}

static lw_status add_mount(draft *d, lw_joint_desc *joint)
{
    for (int i = 0; i < 3; i++)
        if (chance(&d->state, 0.6)) TRY(add_sine(d, 0.3, &joint->mount_shift[i], NULL));
    if (chance(&d->state, 0.6)) {
        TRY(add_sine(d, 0.6, &joint->mount_turn, NULL));
        joint->mount_about = vector(&d->state, 1);
        joint->mount_about.z += 1.1; // not the zero vector
    }
    return LW_OK;
}

static lw_status add_joint_forces(draft *d, lw_joint_desc *joint)
{
    if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE) {
        joint->damping = lwt_random(&d->state, 0, 0.2);
        return LW_OK;
    }
    for (int i = 0; i < speeds_of(joint->type); i++) {
        lw_coordinate_desc *c = &joint->coordinate[i];
        if (!chance(&d->state, 0.5)) continue;
        c->stiffness = lwt_random(&d->state, 0, 20);
        c->damping = lwt_random(&d->state, 0, 0.5);
        c->at = lwt_random(&d->state, -0.5, 0.5);
        if (chance(&d->state, 0.3)) TRY(add_sine(d, 2, &c->force, NULL));
        if (chance(&d->state, 0.3)) c->effort = d->input;
    }
    return LW_OK;
}

// Connects body `child` (the last one added) with body `parent` by frames on the two bodies.
static lw_status add_joint(draft *d, lw_joint_type type, int parent, const lw_pose *on_parent,
                           int child, const lw_pose *on_child, int massless)
{
    const int reversed = (d->flags & LWT_REVERSED) != 0 && chance(&d->state, 0.4);
    lw_joint_desc joint = {.type = type,
                           .body1 = d->body[reversed ? child : parent],
                           .body2 = d->body[reversed ? parent : child],
                           .placement = LW_PLACED_FRAMES,
                           .frame1 = reversed ? *on_child : *on_parent,
                           .frame2 = reversed ? *on_parent : *on_child,
                           .pitch = lwt_random(&d->state, -1, 1),
                           .custom = type == LW_JOINT_CUSTOM ? &lwt_bead : NULL};
    if (type != LW_JOINT_SCREW) joint.pitch = 0;
    if (type != LW_JOINT_FIXED) {
        start_values(d, &joint);
        if (d->flags & LWT_FORCES) TRY(add_joint_forces(d, &joint));
        if ((d->flags & LWT_DRIVES) && chance(&d->state, 0.3)) TRY(add_drives(d, &joint));
    }
    // a massless body with a movable joint to its neighbour could not be merged with it
    if ((d->flags & LWT_MOUNTS) && !massless && chance(&d->state, 0.2)) TRY(add_mount(d, &joint));
    lw_joint added;
    return lw_builder_add_joint(d->builder, &joint, &added, &d->error);
}

static lw_status add_body_forces(draft *d)
{
    for (int i = 0; i < 1 + d->nbody / 3; i++) {
        const int a = lwt_random_below(&d->state, d->nbody + 1);
        const int b = lwt_random_below(&d->state, d->nbody + 1);
        lw_spring_desc spring = {.body1 = d->body[a],
                                 .body2 = d->body[b],
                                 .point1 = vector(&d->state, 0.4),
                                 .point2 = vector(&d->state, 0.4),
                                 .stiffness = lwt_random(&d->state, 0, 10),
                                 .damping = lwt_random(&d->state, 0, 0.5),
                                 .length = lwt_random(&d->state, 0.2, 1)};
        if (a == b) continue;
        if (chance(&d->state, 0.3)) TRY(add_sine(d, 2, &spring.force, NULL));
        TRY(lw_builder_add_spring(d->builder, &spring, &d->error));
    }
    for (int i = 0; i < 1 + d->nbody / 4; i++) {
        lw_wrench_desc wrench = {.body = d->body[1 + lwt_random_below(&d->state, d->nbody)],
                                 .point = vector(&d->state, 0.4),
                                 .force = vector(&d->state, 3),
                                 .torque = vector(&d->state, 1),
                                 .body_axes = chance(&d->state, 0.5)};
        if (chance(&d->state, 0.5)) TRY(add_sine(d, 1, &wrench.scale, NULL));
        if (chance(&d->state, 0.3)) wrench.scale = d->input;
        TRY(lw_builder_add_wrench(d->builder, &wrench, &d->error));
    }
    return LW_OK;
}

static lw_status build(draft *d, int nbody)
{
    lw_builder_gravity(d->builder, vector(&d->state, 9));
    if (d->flags & LWT_FORCES) TRY(lw_builder_add_input(d->builder, "input", &d->input, &d->error));
    // chains, combs and bushes: the parent is one of the last `reach` bodies
    const int reach = 1 + lwt_random_below(&d->state, 4);
    for (int k = 1; k <= nbody; k++) {
        const int root = k == 1 || chance(&d->state, 0.06);
        const int back = 1 + lwt_random_below(&d->state, reach);
        const int parent = root || back >= k ? 0 : k - back;
        const lw_joint_type type = choose_type(d);
        const int massless = type == LW_JOINT_FIXED && nbody > 1 && chance(&d->state, 0.5);
        // a floating base has no joint to the ground; a massless body cannot be one
        const int floating =
            parent == 0 && !massless && (d->flags & LWT_FLOATING) && chance(&d->state, 0.3);
        const lw_pose on_parent = place(&d->state, 0.4), on_child = place(&d->state, 0.4);
        const lw_pose fixed = from_frames(&on_parent, &on_child);
        TRY(add_body(d, massless, floating, type == LW_JOINT_FIXED ? &fixed : NULL, parent));
        if (!floating) TRY(add_joint(d, type, parent, &on_parent, k, &on_child, massless));
    }
    return (d->flags & LWT_FORCES) ? add_body_forces(d) : LW_OK;
}

lw_status lwt_random_tree(uint64_t seed, int nbody, unsigned flags, lw_model **model)
{
    draft d = {.state = seed, .flags = flags};
    if (nbody < 1 || nbody > MAX_BODIES) return LW_ERR_ARGUMENT;
    TRY(lw_builder_create(NULL, &d.builder));
    lw_status status = build(&d, nbody);
    if (status == LW_OK) status = lw_model_create(d.builder, model, &d.error);
    if (status != LW_OK)
        (void)fprintf(stderr, "random tree, seed %llu, %d bodies, flags %u: %s: %s\n",
                      (unsigned long long)seed, nbody, flags, lw_status_text(status), d.error.text);
    lw_builder_destroy(d.builder);
    return status;
}

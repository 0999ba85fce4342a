// mechanism.c -- mechanisms of many equal rods, for studies of size: chains, trees, loops,
// N-four-bars, ladders, nets.
//
// Everything is added through the public builder.  Bodies are placed where they start, so that any
// joint may be cut, and joints get their coordinates and speeds too, so that they are exact.
#include "model/model.h"

#include "base/assert.h"
#include "base/numbers.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RODS = 1 << 20, NAME = 300 };

// A frame in the world.
typedef struct frame {
    double R[9], r[3];
} frame;

typedef struct making {
    lw_builder *builder;
    const lw_mechanism_desc *d;
    lw_error *error;
    const char *prefix, *axes;
    double length, mass, radius;
    int n;
    uint64_t random;
    double (*start)[2]; // [ndof] random coordinates and speeds, NULL: none
    int drawn;
} making;

// What joins two bodies: the place of the joint in the first one, its type, axis and start.
typedef struct hinge {
    const char *name;
    int number;
    lw_joint_type type;
    int axis;           // 0 x, 1 y, 2 z; universal: the second axis is the next one
    double at[3], turn; // in the first body: origin, rotation about z
    double q[3], qd[3];
    lw_cut cut;
} hinge;

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static lw_status fail(const making *m, const char *format, ...) LW_PRINTF(2, 3);
static lw_status fail(const making *m, const char *format, ...)
{
    char text[sizeof m->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_model_fail(&m->builder->desc, m->d->place, m->error, "mechanism: %s", text);
}

// ----------------------------------------------------------------------------------------- numbers

// Knuth's 64-bit generator; its upper 53 bits make a double in [-1, 1).
static double draw(making *m)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(m->random >> 11) / 9007199254740992.0 * 2 - 1;
}

// All coordinates first, then all speeds.
static lw_status draw_start(making *m, int ndof)
{
    m->start = calloc((size_t)ndof + 1, sizeof *m->start);
    if (!m->start) return lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a mechanism");
    m->random = (uint64_t)m->d->seed * 7919 + 12345;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < ndof; i++) m->start[i][k] = draw(m);
    return LW_OK;
}

static void take_start(making *m, int n, hinge *h)
{
    for (int i = 0; m->start && i < n; i++, m->drawn++) {
        h->q[i] = m->start[m->drawn][0];
        h->qd[i] = m->start[m->drawn][1];
    }
}

// ------------------------------------------------------------------------------------------- parts

static lw_pose pose_of(const double R[9], const double r[3])
{
    double q[4];
    quat_from_matrix(q, R);
    return (lw_pose){{r[0], r[1], r[2]}, {q[0], q[1], q[2], q[3]}};
}

// Joint frame with z along the axis; x along the second axis of a universal joint, which is the
// next one of x, y, z.
static void axis_frame(double R[9], int axis)
{
    static const double rotated[3][9] = {
        {0, 0, 1, 1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    memcpy(R, rotated[axis], sizeof rotated[axis]);
}

// "PREFIXrod12"; snprintf would take a third of the time of a large mechanism.
static void put_name(const making *m, const char *kind, int number, char name[NAME])
{
    const size_t before = strlen(m->prefix), length = strlen(kind);
    LWI_ASSERT(before + length + 12 <= NAME);
    memcpy(name, m->prefix, before);
    memcpy(name + before, kind, length);
    *lwi_integer_put(name + before + length, number) = 0;
}

// A rod along an axis of its frame, which lies at its lower end.
static lw_status add_rod(const making *m, const char *kind, int number, int along, const frame *f,
                         lw_body *body)
{
    char name[NAME];
    const double a = 0.5 * m->mass * m->radius * m->radius;
    const double c = m->mass * (3 * m->radius * m->radius + m->length * m->length) / 12;
    double com[3] = {0}, J[3] = {c, c, c};
    com[along] = 0.5 * m->length;
    J[along] = a;
    put_name(m, kind, number, name);
    lw_body_desc d = {.name = name,
                      .mass = m->mass,
                      .inertia = {J[0], J[1], J[2]},
                      .com = {com[0], com[1], com[2]},
                      .pose = pose_of(f->R, f->r),
                      .place = m->d->place};
    const double half = 0.70710678118654752440; // 90 degrees from z to x or y
    const lw_shape shape = {
        .type = LW_SHAPE_CYLINDER,
        .size = {m->radius, m->length},
        .orientation = {along == 2 ? 1 : half, along == 1 ? half : 0, along == 0 ? half : 0, 0}};
    d.shapes = &shape;
    d.nshape = 1;
    return lw_builder_add_body(m->builder, &d, body, m->error);
}

// Pose of the second body of a joint; its frame at the joint: `R1 Rz(turn) A R(q) A'`.
static void follow(const hinge *h, const frame *first, frame *second)
{
    static const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    double A[9], turn[9], Q[9], P[9], T[9];
    rot_axis(turn, z, h->turn);
    axis_frame(A, h->axis);
    rot_axis(Q, z, h->q[0]);
    if (h->type == LW_JOINT_UNIVERSAL) {
        rot_axis(P, x, h->q[1]);
        m3_mul(T, Q, P);
        memcpy(Q, T, sizeof Q);
    } else if (h->type == LW_JOINT_SPHERICAL) {
        memcpy(Q, identity, sizeof Q);
    }
    m3_mul(T, A, Q);
    m3_mul_t(P, T, A);
    m3_mul(T, turn, P);
    m3_mul(second->R, first->R, T);
    m3_mul_v(second->r, first->R, h->at);
    v3_add(second->r, second->r, first->r);
}

// Joint between two bodies; `at2` and `turn2` place it in the second one.
static lw_status add_joint(const making *m, const hinge *h, lw_body body1, lw_body body2,
                           const double at2[3])
{
    static const double z[3] = {0, 0, 1};
    char name[NAME];
    double A[9], turn[9], F[9];
    put_name(m, h->name, h->number, name);
    lw_joint_desc d = {.name = name,
                       .type = h->type,
                       .placement = LW_PLACED_FRAMES,
                       .body1 = body1,
                       .body2 = body2,
                       .cut = h->cut,
                       .place = m->d->place};
    rot_axis(turn, z, h->turn);
    axis_frame(A, h->axis);
    m3_mul(F, turn, A);
    d.frame1 = pose_of(F, h->at);
    d.frame2 = pose_of(A, at2);
    const int n = h->type == LW_JOINT_REVOLUTE ? 1 : h->type == LW_JOINT_UNIVERSAL ? 2 : 3;
    for (int i = 0; i < n; i++) {
        if (h->q[i] != 0) d.has_q = 1;
        if (h->qd[i] != 0) d.has_qd = 1;
        d.q[i] = h->q[i], d.qd[i] = h->qd[i];
    }
    return lw_builder_add_joint(m->builder, &d, NULL, m->error);
}

// -------------------------------------------------------------------------------------- mechanisms

static lw_joint_type joint_type(const making *m)
{
    static const lw_joint_type types[] = {LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL,
                                          LW_JOINT_SPHERICAL};
    return types[m->d->joint];
}

static int axis_of(const making *m, int i)
{
    return m->axes[(size_t)i % strlen(m->axes)] - 'x';
}

// Rods of a chain, a tree or a loop, by the parent of rod i and the angle between them.
static lw_status add_rods(making *m, int (*parent)(int i), double (*turn)(const making *, int i),
                          frame *f, lw_body *body)
{
    static const double origin[3] = {0, 0, 0};
    const frame ground = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int i = 0; i < m->n; i++) {
        const int p = parent(i);
        hinge h = {.name = "joint", .number = i + 1, .type = joint_type(m), .axis = axis_of(m, i)};
        h.at[0] = p < 0 ? 0 : m->length;
        h.turn = turn(m, i);
        take_start(m, m->d->joint + 1, &h);
        if (i == 0)
            for (int k = 0; k < 3; k++) h.qd[k] += m->d->qd[k];
        follow(&h, p < 0 ? &ground : &f[p], &f[i]);
        TRY(add_rod(m, "rod", i + 1, 0, &f[i], &body[i]));
        TRY(add_joint(m, &h, p < 0 ? (lw_body){0} : body[p], body[i], origin));
    }
    return LW_OK;
}

static int previous(int i)
{
    return i - 1;
}
static int half(int i)
{
    return i > 0 ? (i - 1) / 2 : -1;
}
static double straight(const making *m, int i)
{
    (void)m, (void)i;
    return 0;
}
static double fork(const making *m, int i)
{
    (void)m;
    return i == 0 ? 0 : i % 2 ? 0.5 : -0.5;
}
static double corner(const making *m, int i)
{
    (void)i;
    return 6.283185307179586 / (m->n + 1);
}

static lw_status make_chain(making *m, frame *f, lw_body *body)
{
    return add_rods(m, previous, straight, f, body);
}

static lw_status make_tree(making *m, frame *f, lw_body *body)
{
    return add_rods(m, half, fork, f, body);
}

// The last rod ends at (-length, 0, 0); the joint frame there has world axes.
static lw_status make_loop(making *m, frame *f, lw_body *body)
{
    const double ground[3] = {-m->length, 0, 0};
    TRY(add_rods(m, previous, corner, f, body));
    const hinge h = {.name = "joint",
                     .number = m->n + 1,
                     .type = joint_type(m),
                     .axis = axis_of(m, m->n),
                     .at = {m->length, 0, 0},
                     .turn = corner(m, m->n)};
    return add_joint(m, &h, body[m->n - 1], (lw_body){0}, ground);
}

/** What an N-four-bar and a ladder differ in: uprights on the ground, spans between their tips. */
typedef struct span_plan {
    const char *upright, *span;
    int along; // axis that uprights lie along
    lw_joint_type foot;
    int foot_axis, axis; // of the feet; of the joints of the spans
    int angle;           // which coordinate of a foot the spans take back
} span_plan;

static lw_status add_upright(making *m, const span_plan *c, int i, frame *f, lw_body *body)
{
    static const double origin[3] = {0, 0, 0};
    const frame ground = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    hinge foot = {.name = "foot", .number = i, .type = c->foot, .axis = c->foot_axis};
    foot.at[0] = i * m->length;
    for (int k = 0; k < 3; k++) foot.q[k] = m->d->q[k], foot.qd[k] = m->d->qd[k];
    follow(&foot, &ground, f);
    TRY(add_rod(m, c->upright, i, c->along, f, body));
    return add_joint(m, &foot, (lw_body){0}, *body, origin);
}

// Span i is attached to the tip of upright i - 1, rotated back by its angle, and closes at that of upright i.
static lw_status add_span(making *m, const span_plan *c, int i, frame *f, lw_body *upright)
{
    static const double origin[3] = {0, 0, 0};
    frame span_frame;
    lw_body span, next;
    double tip[3] = {0};
    tip[c->along] = m->length;
    hinge h = {.name = "hinge", .number = i, .type = LW_JOINT_REVOLUTE, .axis = c->axis};
    v3_copy(h.at, tip);
    h.q[0] = -m->d->q[c->angle], h.qd[0] = -m->d->qd[c->angle];
    follow(&h, f, &span_frame);
    TRY(add_rod(m, c->span, i, 0, &span_frame, &span));
    TRY(add_joint(m, &h, *upright, span, origin));
    TRY(add_upright(m, c, i, f, &next));
    hinge close = {.name = "close",
                   .number = i,
                   .type = LW_JOINT_REVOLUTE,
                   .axis = c->axis,
                   .at = {m->length, 0, 0},
                   .q = {m->d->q[c->angle]},
                   .qd = {m->d->qd[c->angle]},
                   .cut = LW_CUT_PREFER};
    *upright = next;
    return add_joint(m, &close, span, next, tip);
}

static lw_status make_spans(making *m, const span_plan *c)
{
    frame f;
    lw_body upright;
    TRY(add_upright(m, c, 0, &f, &upright));
    for (int i = 1; i <= m->n; i++) TRY(add_span(m, c, i, &f, &upright));
    return LW_OK;
}

static lw_status make_four_bars(making *m, frame *f, lw_body *body)
{
    static const span_plan spans = {"rod", "coupler", 1, LW_JOINT_REVOLUTE, 2, 2, 0};
    (void)f, (void)body;
    return make_spans(m, &spans);
}

static lw_status make_ladder(making *m, frame *f, lw_body *body)
{
    static const span_plan spans = {"post", "rung", 2, LW_JOINT_UNIVERSAL, 0, 1, 1};
    (void)f, (void)body;
    return make_spans(m, &spans);
}

// ---------------------------------------------------------------------------------------------- nets

// A joint of a net: its second body is rotated by `angle` about z relative to the first one and has the
// angular velocity w (world axes) relative to it; the first one is rotated by `before`.
static hinge net_joint(const making *m, const char *name, int number, const double at[3],
                       double before, double angle, const double w[3])
{
    hinge h = {.name = name, .number = number, .type = joint_type(m), .axis = 2};
    v3_copy(h.at, at);
    if (h.type == LW_JOINT_REVOLUTE) {
        h.q[0] = angle, h.qd[0] = w[2];
        return h;
    }
    static const double z[3] = {0, 0, 1};
    double R[9];
    rot_axis(R, z, before + angle); // the joint frame at the start
    h.turn = angle;
    m3_tmul_v(h.qd, R, w);
    return h;
}

// One row: uprights on the tips of those before it (the ground's points in the first one), rods between
// their tips, each of which closes a mesh.
static lw_status add_row(const making *m, int row, frame *f, lw_body *upright)
{
    static const double origin[3] = {0, 0, 0}, still[3] = {0, 0, 0};
    const frame ground = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    const double *w = m->d->qd, angle = m->d->q[0], back[3] = {-w[0], -w[1], -w[2]};
    const double tip[3] = {0, m->length, 0}, end[3] = {m->length, 0, 0};
    for (int i = 0; i <= m->n; i++) {
        const int number = (row - 1) * (m->n + 1) + i;
        const lw_body below = upright[i];
        const double at[3] = {i * m->length, 0, 0};
        frame own, span_frame;
        lw_body span;
        const hinge foot = row == 1 ? net_joint(m, "foot", number, at, 0, angle, w)
                                    : net_joint(m, "foot", number, tip, angle, 0, still);
        follow(&foot, row == 1 ? &ground : &f[i], &own);
        TRY(add_rod(m, "upright", number, 1, &own, &upright[i]));
        TRY(add_joint(m, &foot, row == 1 ? (lw_body){0} : below, upright[i], origin));
        f[i] = own;
        if (i == 0) continue;
        const int mesh = (row - 1) * m->n + i;
        const hinge h = net_joint(m, "hinge", mesh, tip, angle, -angle, back);
        hinge close = net_joint(m, "close", mesh, end, 0, angle, w);
        close.cut = LW_CUT_PREFER;
        follow(&h, &f[i - 1], &span_frame);
        TRY(add_rod(m, "span", mesh, 0, &span_frame, &span));
        TRY(add_joint(m, &h, upright[i - 1], span, origin));
        TRY(add_joint(m, &close, span, upright[i], tip));
    }
    return LW_OK;
}

static lw_status make_net(making *m, frame *f, lw_body *body)
{
    const int rows = m->d->m != 0 ? m->d->m : m->d->n;
    for (int row = 1; row <= rows; row++) TRY(add_row(m, row, f, body));
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ checks

static lw_status check_net(const making *m)
{
    const lw_mechanism_desc *d = m->d;
    const int rows = d->m != 0 ? d->m : d->n;
    if (d->mechanism != LW_MECHANISM_NET)
        return d->m == 0 ? LW_OK : fail(m, "m is %d: only a net has it", d->m);
    if (rows < 1 || (double)rows * (2.0 * d->n + 1) > MAX_RODS)
        return fail(m, "m is %d, expected a whole number from 1 on, and at most %d rods", rows,
                    MAX_RODS);
    if (d->joint == 1) return fail(m, "a net has revolute or spherical joints");
    if (d->q[1] != 0 || d->q[2] != 0) return fail(m, "rods of a net are rotated by q[0] alone");
    if (d->joint == 0 && (d->qd[0] != 0 || d->qd[1] != 0))
        return fail(m, "rods on revolute joints rotate about z alone: qd is [0, 0, speed]");
    return LW_OK;
}

static lw_status check(const making *m)
{
    const lw_mechanism_desc *d = m->d;
    if (d->n < 1 || d->n > MAX_RODS)
        return fail(m, "n is %d, expected a whole number from 1 to %d", d->n, MAX_RODS);
    if (!(m->length > 0 && m->mass > 0 && m->radius > 0) ||
        !isfinite(m->length + m->mass + m->radius))
        return fail(m, "length %g, mass %g, radius %g; expected numbers > 0", m->length, m->mass,
                    m->radius);
    if (d->joint < 0 || d->joint > 2) return fail(m, "unknown joint %d", d->joint);
    if (!*m->axes || m->axes[strspn(m->axes, "xyz")])
        return fail(m, "axes are '%.40s', expected letters x, y, z", m->axes);
    if (d->seed < 0 || d->seed > 1000000000)
        return fail(m, "seed is %d, expected a whole number from 0 to 1e9", d->seed);
    if (d->seed > 0 && d->joint == 2)
        return fail(m, "spherical joints have no random start; give qd of the first one");
    for (int i = 0; i < 3; i++)
        if (!isfinite(d->q[i]) || !isfinite(d->qd[i])) return fail(m, "q or qd is not finite");
    const bool spans = d->mechanism == LW_MECHANISM_N_FOUR_BAR ||
                       d->mechanism == LW_MECHANISM_LADDER || d->mechanism == LW_MECHANISM_NET;
    if (!spans && (d->q[0] != 0 || d->q[1] != 0 || d->q[2] != 0))
        return fail(m, "only ladders, N-four-bars and nets are placed by q");
    if (d->mechanism == LW_MECHANISM_LOOP &&
        (d->seed > 0 || d->qd[0] != 0 || d->qd[1] != 0 || d->qd[2] != 0))
        return fail(m, "a loop starts at rest");
    return check_net(m);
}

static lw_status make(making *m)
{
    static lw_status (*const makers[LW_MECHANISM_COUNT])(making *, frame *, lw_body *) = {
        [LW_MECHANISM_CHAIN] = make_chain,   [LW_MECHANISM_TREE] = make_tree,
        [LW_MECHANISM_LOOP] = make_loop,     [LW_MECHANISM_N_FOUR_BAR] = make_four_bars,
        [LW_MECHANISM_LADDER] = make_ladder, [LW_MECHANISM_NET] = make_net,
    };
    if (m->d->seed > 0) TRY(draw_start(m, m->n * (m->d->joint + 1)));
    frame *f = calloc((size_t)m->n + 1, sizeof *f);
    lw_body *body = calloc((size_t)m->n + 1, sizeof *body);
    const lw_status status = f && body
                                 ? makers[m->d->mechanism](m, f, body)
                                 : lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a mechanism");
    free(body);
    free(f);
    return status;
}

lw_status lw_builder_add_mechanism(lw_builder *builder, const lw_mechanism_desc *desc,
                                   lw_error *error)
{
    if (!builder) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    LWI_DESC(lw_mechanism_desc, desc, error);
    making m = {.builder = builder,
                .d = desc,
                .error = error,
                .prefix = desc->name ? desc->name : "",
                .axes = desc->axes ? desc->axes : "xyz",
                .length = desc->length != 0 ? desc->length : 1,
                .mass = desc->mass != 0 ? desc->mass : 1};
    m.radius = desc->radius != 0 ? desc->radius : m.length / 20;
    if ((int)desc->mechanism < 0 || desc->mechanism >= LW_MECHANISM_COUNT)
        return fail(&m, "unknown kind %d", (int)desc->mechanism);
    if (strlen(m.prefix) > 200) return fail(&m, "name is longer than 200 bytes");
    TRY(check(&m));
    m.n = desc->n;
    const lw_status status = make(&m);
    free(m.start);
    return status;
}

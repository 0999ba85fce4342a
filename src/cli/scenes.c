// scenes.c -- the tables behind scenes.h.
#include "cli/scenes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define PI 3.14159265358979323846

const scene_case *scene_cases(int *count)
{
    static const scene_case cases[] = {
        {"chain-7", SCENE_EVALUATION, SCENE_CHAIN, 7, 1}, // a robot arm
        {"chain-16", SCENE_EVALUATION, SCENE_CHAIN, 16, 0},
        {"chain-32", SCENE_EVALUATION, SCENE_CHAIN, 32, 0},
        {"chain-64", SCENE_EVALUATION, SCENE_CHAIN, 64, 0},
        {"chain-128", SCENE_EVALUATION, SCENE_CHAIN, 128, 1},
        {"chain-256", SCENE_EVALUATION, SCENE_CHAIN, 256, 0},
        {"chain-1024", SCENE_EVALUATION, SCENE_CHAIN, 1024, 1}, // beyond the first cache
        {"humanoid", SCENE_EVALUATION, SCENE_HUMANOID, 0, 1},
        {"ur5", SCENE_EVALUATION, SCENE_UR5, 0, 0},
        {"quadruped", SCENE_EVALUATION, SCENE_QUADRUPED, 0, 1},
        {"centipede-20", SCENE_EVALUATION, SCENE_CENTIPEDE, 20, 0}, // forty equal branches
        {"tail-512", SCENE_EVALUATION, SCENE_TAIL, 512, 0},         // one long branch of a tree
        {"spherical-128", SCENE_EVALUATION, SCENE_SPHERICAL, 128, 1},
        {"spherical-1024", SCENE_EVALUATION, SCENE_SPHERICAL, 1024, 0},
        {"four-bars-1", SCENE_EVALUATION, SCENE_FOUR_BARS, 1, 1},
        {"four-bars-10", SCENE_EVALUATION, SCENE_FOUR_BARS, 10, 0},
        {"four-bars-40", SCENE_EVALUATION, SCENE_FOUR_BARS, 40, 0},
        {"four-bars-100", SCENE_EVALUATION, SCENE_FOUR_BARS, 100, 1},
        {"ladder-1", SCENE_EVALUATION, SCENE_LADDER, 1, 0},
        {"ladder-10", SCENE_EVALUATION, SCENE_LADDER, 10, 0},
        {"ladder-40", SCENE_EVALUATION, SCENE_LADDER, 40, 1},
        {"ladder-100", SCENE_EVALUATION, SCENE_LADDER, 100, 0},
        {"delta", SCENE_EVALUATION, SCENE_DELTA, 0, 0},
        {"path-256", SCENE_EVALUATION, SCENE_PATH, 256, 0},
        {"path-1024", SCENE_EVALUATION, SCENE_PATH, 1024, 0},
        {"path-4096", SCENE_EVALUATION, SCENE_PATH, 4096, 0},
        {"path-16384", SCENE_EVALUATION, SCENE_PATH, 16384, 0},
        {"path-131072", SCENE_EVALUATION, SCENE_PATH, 131072, 0},
        {"rope-1024", SCENE_EVALUATION, SCENE_ROPE, 1024, 0},
        {"rope-16384", SCENE_EVALUATION, SCENE_ROPE, 16384, 0},
        {"branches-63", SCENE_EVALUATION, SCENE_BRANCHES, 63, 0},
        {"ring-320", SCENE_EVALUATION, SCENE_RING, 320, 0},
        {"ring-4096", SCENE_EVALUATION, SCENE_RING, 4096, 0},
        {"arms", SCENE_BATCH, SCENE_CHAIN, 7, 1}, // states of many arms: branches and caches work
        {"fall-128", SCENE_FALL, SCENE_SPHERICAL, 128, 0},
        {"fall-1024", SCENE_FALL, SCENE_SPHERICAL, 1024, 0},
        {"run-chain-7", SCENE_RUN, SCENE_CHAIN, 7, 0},
        {"run-chain-32", SCENE_RUN, SCENE_CHAIN, 32, 0},
        {"run-ur5", SCENE_RUN, SCENE_UR5, 0, 0},
        {"run-humanoid", SCENE_RUN, SCENE_HUMANOID, 0, 0},
        {"run-four-bars-1", SCENE_RUN, SCENE_FOUR_BARS, 1, 0},
        {"run-four-bars-10", SCENE_RUN, SCENE_FOUR_BARS, 10, 0},
        {"run-ladder-1", SCENE_RUN, SCENE_LADDER, 1, 0},
        {"run-ladder-10", SCENE_RUN, SCENE_LADDER, 10, 0},
        {"run-delta", SCENE_RUN, SCENE_DELTA, 0, 0},
    };
    *count = (int)(sizeof cases / sizeof cases[0]);
    return cases;
}

static scene_body rod(int i, scene_joint joint)
{
    return (scene_body){.parent = i - 1,
                        .joint = joint,
                        .axis = joint == SCENE_REVOLUTE ? i % 3 : 0,
                        .at = {i ? 1 : 0, 0, 0},
                        .mass = 1,
                        .com = {0.5, 0, 0},
                        .inertia = {0.00125, 0.0839583333333333333, 0.0839583333333333333}};
}

enum { X, Y, Z, UR5_BODIES = 6, DELTA_BODIES = 10, DELTA_LOOPS = 5 };

// parent, joint, axis, at, mass, com, inertia; right branches are left ones with y mirrored
static const scene_body pelvis = {-1,           SCENE_FREE,         0,  {0, 0, 1}, 10,
                                  {0, 0, 0.05}, {0.10, 0.08, 0.06}, {0}};

static const scene_body leg[6] = {
    {0, SCENE_REVOLUTE, Z, {0, 0.1, -0.1}, 1, {0, 0, -0.02}, {0.004, 0.004, 0.003}, {0}}, // hip yaw
    {0, SCENE_REVOLUTE, X, {0, 0, 0}, 1, {0, 0, -0.02}, {0.004, 0.004, 0.003}, {0}},     // hip roll
    {0, SCENE_REVOLUTE, Y, {0, 0, 0}, 5, {0, 0, -0.2}, {0.08, 0.08, 0.01}, {0}},         // thigh
    {0, SCENE_REVOLUTE, Y, {0, 0, -0.4}, 3, {0, 0, -0.2}, {0.05, 0.05, 0.005}, {0}},     // shank
    {0, SCENE_REVOLUTE, Y, {0, 0, -0.4}, 0.3, {0, 0, 0.01}, {0.001, 0.001, 0.001}, {0}}, // ankle
    {0, SCENE_REVOLUTE, X, {0, 0, 0}, 1, {0.04, 0, -0.05}, {0.002, 0.005, 0.005}, {0}},  // foot
};
static const scene_body trunk[2] = {
    {0, SCENE_REVOLUTE, Z, {0, 0, 0.15}, 1, {0, 0, 0.02}, {0.004, 0.004, 0.004}, {0}}, // waist
    {0, SCENE_REVOLUTE, Y, {0, 0, 0}, 20, {0, 0, 0.25}, {0.6, 0.5, 0.3}, {0}},         // torso
};
static const scene_body arm[5] = {
    {0, SCENE_REVOLUTE, Y, {0, 0.2, 0.4}, 0.8, {0, 0.02, 0}, {0.002, 0.002, 0.002}, {0}}, // pitch
    {0, SCENE_REVOLUTE, X, {0, 0.05, 0}, 0.8, {0, 0, -0.02}, {0.002, 0.002, 0.002}, {0}}, // roll
    {0, SCENE_REVOLUTE, Z, {0, 0, 0}, 1.5, {0, 0, -0.15}, {0.012, 0.012, 0.002}, {0}}, // upper arm
    {0, SCENE_REVOLUTE, Y, {0, 0, -0.3}, 1, {0, 0, -0.1}, {0.006, 0.006, 0.001}, {0}}, // forearm
    {0, SCENE_REVOLUTE, Z, {0, 0, -0.25}, 0.5, {0, 0, -0.05}, {0.001, 0.001, 0.0005}, {0}}, // hand
};

// Appends a branch to `parent`; returns its last body.
static int append(scene_body *body, int *count, const scene_body *branch, int n, int parent,
                  int side)
{
    for (int i = 0; i < n; i++) {
        scene_body *b = &body[*count];
        *b = branch[i];
        b->parent = parent;
        b->at[1] *= side;
        b->com[1] *= side;
        parent = (*count)++;
    }
    return parent;
}

static void humanoid(scene_body *body)
{
    int count = 1;
    body[0] = pelvis;
    for (int side = -1; side <= 1; side += 2) append(body, &count, leg, 6, 0, side);
    const int torso = append(body, &count, trunk, 2, 0, 1);
    for (int side = -1; side <= 1; side += 2) append(body, &count, arm, 5, torso, side);
}

static const scene_body walker = {-1,           SCENE_FREE,        0,  {0, 0, 0.5}, 12,
                                  {0, 0, 0.02}, {0.08, 0.3, 0.34}, {0}};

// hip roll, hip pitch, knee
static const scene_body hind[3] = {
    {0, SCENE_REVOLUTE, X, {-0.25, 0.1, 0}, 1, {0, 0.03, 0}, {0.002, 0.002, 0.002}, {0}},
    {0, SCENE_REVOLUTE, Y, {0, 0.08, 0}, 1.2, {0, 0, -0.1}, {0.008, 0.008, 0.001}, {0}},
    {0, SCENE_REVOLUTE, Y, {0, 0, -0.25}, 0.3, {0, 0, -0.12}, {0.002, 0.002, 0.0001}, {0}},
};

// Two legs under a body, `at` ahead of the hind ones.
static void legs(scene_body *body, int *count, int parent, double at)
{
    for (int side = -1; side <= 1; side += 2) {
        scene_body *hip = &body[*count];
        append(body, count, hind, 3, parent, side);
        hip->at[0] += at;
    }
}

static void quadruped(scene_body *body)
{
    int count = 1;
    body[0] = walker;
    legs(body, &count, 0, 0);
    legs(body, &count, 0, 0.5);
}

// Segments hinged end to end, about z and y in turn, two legs under each.
static void centipede(int n, scene_body *body)
{
    int count = 0, segment = -1;
    for (int i = 0; i < n; i++) {
        scene_body *b = &body[count];
        *b = walker;
        b->parent = segment;
        segment = count++;
        if (i > 0) {
            b->joint = SCENE_REVOLUTE;
            b->axis = i % 2 ? Z : Y;
            b->at[0] = 0.5, b->at[2] = 0;
        }
        legs(body, &count, segment, 0.25);
    }
}

// The first rod of the tail is hinged to the back of the trunk.
static void tailed(int n, scene_body *body)
{
    quadruped(body);
    for (int i = 0; i < n; i++) {
        scene_body *b = &body[13 + i];
        *b = rod(i, SCENE_REVOLUTE);
        b->parent = i ? 12 + i : 0;
        if (i == 0) b->at[0] = -0.3;
    }
}

// The long axis of an upright is its own.
static scene_body upright(int i, scene_joint joint, int along)
{
    scene_body b = rod(0, joint);
    b.parent = -1;
    b.axis = joint == SCENE_REVOLUTE ? Z : 0;
    b.at[0] = i;
    b.com[0] = 0, b.com[along] = 0.5;
    const double thin = b.inertia[0];
    b.inertia[0] = b.inertia[along], b.inertia[along] = thin;
    return b;
}

// The first upright, then for every loop what lies between and the next upright.
static void row(int n, scene_joint foot, int along, scene_body *body)
{
    body[0] = upright(0, foot, along);
    for (int i = 1; i <= n; i++) {
        scene_body *between = &body[2 * i - 1];
        *between = rod(0, SCENE_REVOLUTE);
        between->parent = 2 * i - 2;
        between->axis = along == Y ? Z : Y;
        between->at[along] = 1;
        body[2 * i] = upright(i, foot, along);
    }
}

// The branch of rods that starts at the end of the last rod of another one.
static void branches(int n, scene_body *body)
{
    for (int i = 0; i < n * SCENE_BRANCH; i++) {
        const int branch = i / SCENE_BRANCH;
        body[i] = rod(i, SCENE_REVOLUTE);
        if (i % SCENE_BRANCH == 0 && i > 0) body[i].parent = (branch + 1) / 2 * SCENE_BRANCH - 1;
    }
}

// Direction of rod i of a ring.
static void side_of_ring(int n, int i, double d[3])
{
    const int k = 4 * i / n;
    d[X] = d[Y] = d[Z] = 0;
    d[k % 2 ? Y : X] = k < 2 ? 1 : -1;
}

static void ring(int n, scene_body *body)
{
    double d[3];
    for (int i = 0; i < n; i++) {
        scene_body *b = &body[i];
        *b = rod(i, SCENE_REVOLUTE);
        side_of_ring(n, i, d);
        for (int k = 0; k < 3; k++) b->com[k] = d[k] / 2;
        const double thin = b->inertia[X], thick = b->inertia[Y];
        for (int k = 0; k < 3; k++) b->inertia[k] = d[k] != 0 ? thin : thick;
        if (i == 0) continue;
        side_of_ring(n, i - 1, d);
        for (int k = 0; k < 3; k++) b->at[k] = d[k];
    }
}

static const scene_body ur5[UR5_BODIES] = {
    {-1,
     SCENE_REVOLUTE,
     Z,
     {0, 0, 0.089159},
     3.7,
     {0},
     {0.010267495893, 0.010267495893, 0.00666},
     {0}},
    {0,
     SCENE_REVOLUTE,
     Y,
     {0, 0.13585, 0},
     8.393,
     {0, 0, 0.28},
     {0.22689067591, 0.22689067591, 0.0151074},
     {0, PI / 2}},
    {1,
     SCENE_REVOLUTE,
     Y,
     {0, -0.1197, 0.425},
     2.275,
     {0, 0, 0.25},
     {0.049443313556, 0.049443313556, 0.004095},
     {0}},
    {2,
     SCENE_REVOLUTE,
     Y,
     {0, 0, 0.39225},
     1.219,
     {0},
     {0.111172755531, 0.111172755531, 0.21942},
     {0, PI / 2}},
    {3,
     SCENE_REVOLUTE,
     Z,
     {0, 0.093, 0},
     1.219,
     {0},
     {0.111172755531, 0.111172755531, 0.21942},
     {0}},
    {4,
     SCENE_REVOLUTE,
     Y,
     {0, 0, 0.09465},
     0.1879,
     {0},
     {0.0171364731454, 0.0171364731454, 0.033822},
     {0}},
};

// The arm in the plane x z of a delta [m]: axis of the motor and joints of the platform from the middle, arm, bar, half
// the distance of the bars; the arm is inclined at the start [rad].
static const double reach = 0.2, plate = 0.05, upper = 0.3, bar = 0.6, half = 0.06,
                    incline = PI / 9;

// Of a bar at the start: its top from the middle and its angle from the vertical.
static double elbow(void)
{
    return reach + upper * cos(incline);
}

static double slant(void)
{
    return asin((elbow() - plate) / bar);
}

static double heading(int k)
{
    return 2 * PI / 3 * k;
}

// From the plane of an arm, and across it, to world axes.
static void out_of_plane(int k, double along, double across, double x[3])
{
    const double c = cos(heading(k)), s = sin(heading(k));
    x[X] = c * along - s * across;
    x[Y] = s * along + c * across;
}

// Arms with their two bars, the platform at last, on the first bar.
static void delta(scene_body *body)
{
    for (int i = 0; i < 3; i++) {
        scene_body *own = &body[3 * i];
        *own = (scene_body){-1,
                            SCENE_REVOLUTE,
                            Y,
                            {0},
                            1.2,
                            {upper / 2, 0, 0},
                            {0.001, 0.01, 0.01},
                            {heading(i), incline}};
        out_of_plane(i, reach, 0, own->at);
        for (int side = 0; side < 2; side++)
            own[1 + side] = (scene_body){3 * i,
                                         SCENE_UNIVERSAL,
                                         0,
                                         {upper, side ? -half : half, 0},
                                         0.08,
                                         {0, 0, -bar / 2},
                                         {0.0024005, 0.0024005, 1e-6}, // a radius of 5 mm
                                         {0, slant() - incline}};
    }
    body[9] = (scene_body){1,
                           SCENE_BALL,
                           0,
                           {0, 0, -bar},
                           0.4,
                           {-plate, -half, 0},
                           {0.001, 0.001, 0.002},
                           {0, -slant()}};
}

// The other bars' ends on the platform. Its frame is at the end of the first bar.
static void close_delta(scene_loop *loop)
{
    for (int i = 0; i < DELTA_LOOPS; i++) {
        const int k = (i + 1) / 2, side = (i + 1) % 2;
        loop[i] =
            (scene_loop){.joint = SCENE_BALL, .body = {3 * k + 1 + side, 9}, .at = {{0, 0, -bar}}};
        out_of_plane(k, plate, side ? -half : half, loop[i].at[1]);
        loop[i].at[1][X] -= plate;
        loop[i].at[1][Y] -= half;
    }
}

// Speeds at q = 0 with which the platform moves so, without turning: the arm's follows from the length of its bars, the
// bars' from the difference of the speeds of their ends.
static void glide(const double speed[3], double *v)
{
    const double p = slant(), e[2] = {-sin(p), -cos(p)};                    // along a bar, x and z
    const double moved[2] = {-upper * sin(incline), -upper * cos(incline)}; // of the elbow
    for (int i = 0; i < 3; i++) {
        const double c = cos(heading(i)), s = sin(heading(i));
        const double along = c * speed[X] + s * speed[Y], across = c * speed[Y] - s * speed[X];
        const double rate = (e[0] * along + e[1] * speed[Z]) / (e[0] * moved[0] + e[1] * moved[1]);
        const double x = along - rate * moved[0], z = speed[Z] - rate * moved[1];
        double *own = v + 5 * i;
        own[0] = rate;
        for (int side = 0; side < 2; side++) {
            own[1 + 2 * side] = across / bar;
            own[2 + 2 * side] = (z * sin(p) - x * cos(p)) / bar - rate;
        }
    }
    const double tilt = v[1];
    v[15] = -tilt * cos(p), v[16] = -(v[0] + v[2]), v[17] = tilt * sin(p);
}

int scene_is_long(scene_kind kind)
{
    return kind == SCENE_PATH || kind == SCENE_ROPE || kind == SCENE_BRANCHES || kind == SCENE_RING;
}

int scene_loops(scene_kind kind, int n)
{
    if (kind == SCENE_RING) return 1;
    if (kind == SCENE_DELTA) return DELTA_LOOPS;
    return kind == SCENE_FOUR_BARS || kind == SCENE_LADDER ? n : 0;
}

void scene_close(scene_kind kind, int n, scene_loop *loop)
{
    const int along = kind == SCENE_FOUR_BARS ? Y : Z;
    if (kind == SCENE_RING) {
        loop[0] = (scene_loop){.joint = SCENE_BALL, .body = {n - 1, 0}};
        side_of_ring(n, n - 1, loop[0].at[0]);
        return;
    }
    if (kind == SCENE_DELTA) {
        close_delta(loop);
        return;
    }
    for (int i = 0; i < scene_loops(kind, n); i++) {
        loop[i] = (scene_loop){.joint = SCENE_REVOLUTE,
                               .body = {2 * i + 1, 2 * i + 2},
                               .at = {{1}},
                               .axis = along == Y ? Z : Y};
        loop[i].at[1][along] = 1;
    }
}

void scene_gravity(scene_kind kind, double g[3])
{
    g[0] = g[1] = g[2] = 0;
    g[kind == SCENE_FOUR_BARS ? Y : Z] = -9.81;
}

const double scene_steps[SCENE_STEPS] = {0.1, 0.05, 0.02, 0.01, 0.005, 0.0025, 1e-3, 5e-4, 2e-4};

double scene_duration(scene_kind kind, int n)
{
    if (kind == SCENE_CHAIN && n > 7) return 0.25;
    if (kind == SCENE_DELTA) return 0.2;
    return kind == SCENE_FOUR_BARS ? 0.4 : kind == SCENE_LADDER ? 0.5 : 1;
}

int scene_size(scene_kind kind, int n)
{
    switch (kind) {
    case SCENE_FOUR_BARS:
    case SCENE_LADDER:
        return 2 * n + 1;
    case SCENE_HUMANOID:
        return 25;
    case SCENE_QUADRUPED:
        return 13;
    case SCENE_CENTIPEDE:
        return 7 * n;
    case SCENE_TAIL:
        return 13 + n;
    case SCENE_BRANCHES:
        return SCENE_BRANCH * n;
    case SCENE_UR5:
        return UR5_BODIES;
    case SCENE_DELTA:
        return DELTA_BODIES;
    default:
        return n;
    }
}

void scene_fill(scene_kind kind, int n, scene_body *body)
{
    switch (kind) {
    case SCENE_HUMANOID:
        humanoid(body);
        break;
    case SCENE_QUADRUPED:
        quadruped(body);
        break;
    case SCENE_CENTIPEDE:
        centipede(n, body);
        break;
    case SCENE_TAIL:
        tailed(n, body);
        break;
    case SCENE_FOUR_BARS:
        row(n, SCENE_REVOLUTE, Y, body);
        break;
    case SCENE_LADDER:
        row(n, SCENE_UNIVERSAL, Z, body);
        break;
    case SCENE_BRANCHES:
        branches(n, body);
        break;
    case SCENE_RING:
        ring(n, body);
        break;
    case SCENE_UR5:
        memcpy(body, ur5, sizeof ur5);
        break;
    case SCENE_DELTA:
        delta(body);
        break;
    default:
        for (int i = 0; i < n; i++)
            body[i] =
                rod(i, kind == SCENE_CHAIN || kind == SCENE_PATH ? SCENE_REVOLUTE : SCENE_BALL);
        if (kind == SCENE_ROPE) body[n - 1].mass = 1000;
    }
}

int scene_dof(const scene_body *body, int nbody)
{
    int nv = 0;
    for (int i = 0; i < nbody; i++) nv += (int)body[i].joint;
    return nv;
}

void scene_orientation(const scene_body *body, double quaternion[4])
{
    const double z = body->turn[0] / 2, y = body->turn[1] / 2;
    quaternion[0] = cos(z) * cos(y);
    quaternion[1] = -sin(z) * sin(y);
    quaternion[2] = cos(z) * sin(y);
    quaternion[3] = sin(z) * cos(y);
}

double scene_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static void lean(const scene_body *body, int nbody, double *q, double *v)
{
    int at = 0;
    for (int i = 0; i < nbody; i++) {
        const int side = body[i].parent < 0 ? 1 : -1;
        if (body[i].joint == SCENE_UNIVERSAL) q[at] = 0.2, v[at++] = 0.5;
        q[at] = 0.3 * side, v[at++] = side;
    }
}

void scene_state(scene_kind kind, const scene_body *body, int nbody, double *q, double *v,
                 double *tau)
{
    const int nv = scene_dof(body, nbody);
    const size_t size = (size_t)nv * sizeof *q;
    uint64_t state = 1 * 7919 + 12345;
    if (kind == SCENE_SPHERICAL || kind == SCENE_ROPE || kind == SCENE_RING) {
        memset(q, 0, size), memset(v, 0, size), memset(tau, 0, size);
        if (kind != SCENE_RING) v[2] = 0.1;
        return;
    }
    if (kind == SCENE_FOUR_BARS || kind == SCENE_LADDER) {
        memset(tau, 0, size);
        lean(body, nbody, q, v);
        return;
    }
    if (kind == SCENE_DELTA) {
        memset(q, 0, size), memset(tau, 0, size);
        glide((const double[3]){0.5, 0.3, -0.2}, v);
        return;
    }
    for (int i = 0; i < nv; i++) q[i] = scene_draw(&state);
    for (int i = 0; i < nv; i++) v[i] = scene_draw(&state);
    for (int i = 0; i < nv; i++) tau[i] = scene_draw(&state);
    if (body[0].joint == SCENE_FREE) memset(q, 0, 6 * sizeof *q);
    if (scene_is_long(kind)) memset(tau, 0, size);
}

void scene_batch_state(uint64_t *state, int n, double *q, double *v, double *tau)
{
    for (int i = 0; i < n; i++) {
        q[i] = scene_draw(state);
        v[i] = scene_draw(state);
        tau[i] = scene_draw(state);
    }
}

scene_digest scene_digest_of(const double *a, int nv)
{
    scene_digest d = {0, 0, a[0], a[nv - 1]};
    for (int i = 0; i < nv; i++) {
        d.sum += a[i] * (1 + i % 7);
        d.max = fmax(d.max, fabs(a[i]));
    }
    return d;
}

const scene_digest *scene_published(scene_kind kind, int n)
{
    static const struct {
        int n;
        scene_digest values;
    } chains[] = {
        {7, {-3369.36005, 485.819347, 16.1831586, -485.819347}},
        {16, {569.540535, 270.323984, 27.5523786, 270.323984}},
        {32, {48.1568292, 86.7176954, 31.5641985, -3.34216124}},
        {64, {59.7884453, 313.161444, 26.5239735, 313.161444}},
        {128, {8363.89605, 1100.44574, 31.294926, -161.258461}},
        {256, {14405.3469, 1746.82661, 20.624701, 14.377366}},
        {1024, {394271.048, 14514.1386, 38.471004, -238.903145}},
    };
    static const struct {
        scene_kind kind;
        int n;
        scene_digest values;
    } rows[] = {
        {SCENE_FOUR_BARS, 1, {6.95251336, 3.47625668, 3.47625668, 3.47625668}},
        {SCENE_FOUR_BARS, 10, {13.1451898, 3.28629744, 3.28629744, 3.28629744}},
        {SCENE_FOUR_BARS, 40, {19.5997654, 3.26662757, 3.26662757, 3.26662757}},
        {SCENE_FOUR_BARS, 100, {9.78781553, 3.26260518, 3.26260518, 3.26260518}},
        {SCENE_LADDER, 1, {27.1082436, 3.33648847, 2.75245794, 3.33648847}},
        {SCENE_LADDER, 10, {115.755079, 3.15028096, 2.61871624, 3.15028096}},
        {SCENE_LADDER, 40, {440.248743, 3.13099956, 2.6048696, 3.13099956}},
        {SCENE_LADDER, 100, {1048.09633, 3.12705661, 2.60203808, 3.12705661}},
    };
    static const scene_digest of_humanoid = {-6563.50227, 1015.68945, -28.3125265, -943.062514};
    static const scene_digest of_ur5 = {-12.9613457, 41.4870258, -3.48498471, 2.21035262};
    static const scene_digest of_delta = {-435.738254, 45.2803240, 36.7196569, -0.0208822687};
    if (kind == SCENE_HUMANOID) return &of_humanoid;
    if (kind == SCENE_UR5) return &of_ur5;
    if (kind == SCENE_DELTA) return &of_delta;
    for (size_t i = 0; kind == SCENE_CHAIN && i < sizeof chains / sizeof chains[0]; i++)
        if (chains[i].n == n) return &chains[i].values;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == kind && rows[i].n == n) return &rows[i].values;
    return NULL;
}

static double in_ninth_digit(double found, double published)
{
    return fabs(found - published) / pow(10, floor(log10(fabs(published))) - 8);
}

double scene_ninth_digit(const scene_digest *found, const scene_digest *published)
{
    const double sum = in_ninth_digit(found->sum, published->sum);
    const double max = in_ninth_digit(found->max, published->max);
    const double first = in_ninth_digit(found->first, published->first);
    return fmax(fmax(sum, max), fmax(first, in_ninth_digit(found->last, published->last)));
}

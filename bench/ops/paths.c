// paths.c -- benchmark: long paths of hinges, divide and conquer in segments against the recursions.
//
// usage: bench_paths [THREADS]                          hdca and dca on 1 and THREADS threads (default 2), momenta, aba
//        bench_paths FORMULATION[:row] N LANES TIMES [SHAPE]
//                                                       TIMES evaluations, or rows of results with all reactions, for
//                                                       valgrind --tool=callgrind: instructions of one are the
//                                                       difference of two calls
//
// Shapes of about n bodies:  random, square  a path with axes at random, and at right angles as most machines have them
//                            driven, mounts, wrenches  a random path whose first, middle and last hinge are driven or
//                                            have moving mounts; wrenches on the bodies there
//                            rotors          driven, with rotors on the hinges beyond
//                            balls           a rope of balls, the last link of 1000 times the others' mass
//                            limbs           a tree, each limb of 64 links carries two
//                            crane           a rope on a trolley on a jib, a hook of 1000 links' mass at its end
//                            ring            closed, one of its links on the ground
//                            net, long_net   square meshes with bars of 64 and 256 links, the first row of knots on the
//                                            ground
// Evaluations alternate; the minimum is printed in ns per body of wall-clock time.
#include "kinematics/formulation.h"
#include "methods/dca/segments/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 200, WAYS = 6 };

static void stop(const char *why)
{
    fprintf(stderr, "bench_paths: %s\n", why);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// In [-1, 1).
static double pseudorandom(void)
{
    static unsigned long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static lw_quat about(double angle, double x, double y, double z)
{
    const double s = sin(angle / 2);
    return (lw_quat){cos(angle / 2), s * x, s * y, s * z};
}

// ------------------------------------------------------------------------------------------ shapes

enum { BAR = 64 };

static lw_body add_body(lw_builder *b, double m, lw_vec3 com, lw_vec3 at)
{
    lw_error error;
    lw_body body;
    const lw_body_desc rod = {
        .mass = m, .inertia = {0.05 * m, 0.09 * m, 0.12 * m}, .com = com, .pose.position = at};
    if (lw_builder_add_body(b, &rod, &body, &error) != LW_OK) stop(error.text);
    return body;
}

static void add_joint(lw_builder *b, const lw_joint_desc *desc)
{
    lw_error error;
    lw_joint joint;
    if (lw_builder_add_joint(b, desc, &joint, &error) != LW_OK) stop(error.text);
}

// What acts on the first, the middle and the last link of a path.
typedef enum effect { NONE, DRIVES, ROTORS, MOUNTS, WRENCHES } effect;

static lw_signal swing(lw_builder *b)
{
    lw_error error;
    lw_signal signal;
    const lw_function_desc sine = {.type = LW_FUNCTION_SINE, .amplitude = 0.1, .omega = 3};
    if (lw_builder_add_function(b, &sine, &signal, &error) != LW_OK) stop(error.text);
    return signal;
}

static void prescribe(lw_builder *b, effect what, lw_joint_desc *joint)
{
    if (what == DRIVES || what == ROTORS) joint->coordinate[0].motion = swing(b), joint->has_q = 0;
    if (what == MOUNTS) joint->mount_turn = swing(b), joint->mount_about = (lw_vec3){1, 0, 0};
}

static void push(lw_builder *b, lw_body body)
{
    lw_error error;
    const lw_wrench_desc wrench = {.body = body, .force = {1, 2, 3}, .torque = {3, 2, 1}};
    if (lw_builder_add_wrench(b, &wrench, &error) != LW_OK) stop(error.text);
}

// Axes at random or at right angles.
static void path(lw_builder *b, int n, bool square, effect what)
{
    lw_body body = {0};
    for (int i = 0; i < n; i++) {
        const double m = 1 + 0.5 * pseudorandom();
        const lw_quat on =
            square ? about(i % 2 ? -acos(0) : 0, 1, 0, 0) : about(3 * pseudorandom(), 0.6, 0, 0.8);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = body,
                               .placement = LW_PLACED_FRAMES,
                               .frame1 = {{i ? 1 : 0, 0, 0}, on},
                               .frame2 = {{0, 0, 0}, on},
                               .has_q = 1,
                               .q = {3 * pseudorandom()}};
        const bool here = i == 0 || i == n / 2 || i == n - 1;
        hinge.body2 = body = add_body(b, m, (lw_vec3){0.5, 0.1, 0}, (lw_vec3){0, 0, 0});
        if (here) prescribe(b, what, &hinge);
        if (what == ROTORS && (i == 1 || i == n / 2 + 1)) hinge.coordinate[0].rotor = 0.3;
        add_joint(b, &hinge);
        if (here && what == WRENCHES) push(b, body);
    }
}
static void random_path(lw_builder *b, int n)
{
    path(b, n, false, NONE);
}
static void square_path(lw_builder *b, int n)
{
    path(b, n, true, NONE);
}
static void driven_path(lw_builder *b, int n)
{
    path(b, n, false, DRIVES);
}
static void geared_path(lw_builder *b, int n)
{
    path(b, n, false, ROTORS);
}
static void mounted_path(lw_builder *b, int n)
{
    path(b, n, false, MOUNTS);
}
static void pushed_path(lw_builder *b, int n)
{
    path(b, n, false, WRENCHES);
}

static void balls(lw_builder *b, int n)
{
    lw_body body = {0};
    for (int i = 0; i < n; i++) {
        const lw_quat turned = about(0.5 * pseudorandom(), 0, 0.6, 0.8);
        const double m = (1 + 0.5 * pseudorandom()) * (i < n - 1 ? 1 : 1000);
        lw_joint_desc ball = {.type = LW_JOINT_SPHERICAL,
                              .body1 = body,
                              .placement = LW_PLACED_FRAMES,
                              .frame1 = {{i ? 1 : 0, 0, 0}, {1, 0, 0, 0}},
                              .frame2 = {{0, 0, 0}, {1, 0, 0, 0}},
                              .has_q = 1,
                              .q = {turned.w, turned.x, turned.y, turned.z}};
        ball.body2 = body = add_body(b, m, (lw_vec3){0.5, 0.1, 0}, (lw_vec3){0, 0, 0});
        add_joint(b, &ball);
    }
}

static lw_joint_desc joint_at(lw_joint_type type, lw_body body1, lw_body body2, lw_vec3 at)
{
    return (lw_joint_desc){.type = type,
                           .body1 = body1,
                           .body2 = body2,
                           .at = at,
                           .axis = {pseudorandom(), pseudorandom(), 2 + pseudorandom()}};
}

// Links in a zigzag between two points, the first on a hinge at `from`; returns the last.
static lw_body bar(lw_builder *b, lw_body carrier, int n, lw_vec3 from, lw_vec3 to)
{
    lw_vec3 at = from;
    for (int i = 1; i <= n; i++) {
        const double s = (double)i / n, off = i < n ? 0.3 : 0;
        const lw_vec3 next = {from.x + s * (to.x - from.x) + off * pseudorandom(),
                              from.y + s * (to.y - from.y) + off * pseudorandom(),
                              from.z + s * (to.z - from.z) + off * pseudorandom()};
        const lw_vec3 middle = {(at.x + next.x) / 2, (at.y + next.y) / 2, (at.z + next.z) / 2};
        const lw_body link = add_body(b, 1 + 0.5 * pseudorandom(), (lw_vec3){0.1, 0.05, 0}, middle);
        const lw_joint_desc hinge = joint_at(LW_JOINT_REVOLUTE, carrier, link, at);
        add_joint(b, &hinge);
        carrier = link;
        at = next;
    }
    return carrier;
}

static lw_body hub(lw_builder *b, lw_body carrier, lw_joint_type type, lw_vec3 at, double mass)
{
    const lw_body body = add_body(b, mass, (lw_vec3){0.1, 0.2, 0}, at);
    const lw_joint_desc joint = joint_at(type, carrier, body, at);
    add_joint(b, &joint);
    return body;
}

static void grow(lw_builder *b, lw_body carrier, lw_vec3 at, int n)
{
    if (n < BAR) return;
    const lw_vec3 tip = {at.x + 20 * pseudorandom(), at.y + 0.6 * BAR, at.z + 20 * pseudorandom()};
    const lw_body last = bar(b, carrier, BAR, at, tip);
    for (int i = 0; i < 2; i++) grow(b, last, tip, (n - BAR) / 2);
}
static void limbs(lw_builder *b, int n)
{
    const lw_vec3 origin = {0, 0, 0};
    grow(b, hub(b, (lw_body){0}, LW_JOINT_FREE, origin, 10), origin, n);
}

static void crane(lw_builder *b, int n)
{
    const lw_vec3 top = {5, 0, 0}, hook = {5, -0.8 * n, 0};
    const lw_body jib = hub(b, (lw_body){0}, LW_JOINT_REVOLUTE, (lw_vec3){0, 0, 0}, 1000);
    const lw_body trolley = hub(b, jib, LW_JOINT_PRISMATIC, top, 50);
    hub(b, bar(b, trolley, n, top, hook), LW_JOINT_REVOLUTE, hook, 1000);
}

static void ring(lw_builder *b, int n)
{
    const lw_vec3 left = {0, 0, 0}, right = {0.2 * n, 0, 0}, top = {0, 0.4 * n, 0};
    const lw_body first = hub(b, (lw_body){0}, LW_JOINT_REVOLUTE, left, 1);
    const lw_body a = bar(b, first, n / 2, left, top), c = bar(b, first, n - n / 2, right, top);
    const lw_joint_desc joint = joint_at(LW_JOINT_REVOLUTE, a, c, top);
    add_joint(b, &joint);
}

static void meshes(lw_builder *b, int n, int links)
{
    enum { MOST = 64 };
    static lw_body knot[MOST][MOST];
    int m = 1;
    while (m + 1 < MOST && (2 * (m + 1) + 1) * (m + 1) * links <= n) m++;
    for (int j = 0; j <= m; j++)
        for (int i = 0; i <= m; i++) {
            const double size = 0.8 * links;
            const lw_vec3 at = {i * size, j * size, 0}, left = {(i - 1) * size, j * size, 0},
                          below = {i * size, (j - 1) * size, 0};
            knot[i][j] = j ? bar(b, knot[i][j - 1], links, below, at)
                           : hub(b, (lw_body){0}, LW_JOINT_SPHERICAL, at, 10);
            if (i == 0) continue;
            const lw_body last = bar(b, knot[i - 1][j], links, left, at);
            const lw_joint_desc joint = joint_at(LW_JOINT_SPHERICAL, last, knot[i][j], at);
            add_joint(b, &joint);
        }
}

static void net(lw_builder *b, int n)
{
    meshes(b, n, BAR);
}
static void long_net(lw_builder *b, int n)
{
    meshes(b, n, 4 * BAR);
}

static const struct shape {
    const char *name;
    void (*build)(lw_builder *b, int n);
    bool tree;
} shapes[] = {
    {"random", random_path, true},   {"square", square_path, true}, {"balls", balls, true},
    {"driven", driven_path, true},   {"rotors", geared_path, true}, {"mounts", mounted_path, true},
    {"wrenches", pushed_path, true}, {"limbs", limbs, true},        {"crane", crane, true},
    {"ring", ring, false},           {"net", net, false},           {"long_net", long_net, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static lw_model *model_of(const struct shape *shape, int n)
{
    lw_builder *b;
    lw_error error;
    lw_model *model;
    if (lw_builder_create(NULL, &b) != LW_OK) stop("no memory");
    shape->build(b, n);
    if (lw_model_create(b, &model, &error) != LW_OK) stop(error.text);
    lw_builder_destroy(b);
    return model;
}

// ----------------------------------------------------------------------------------------- measure

typedef struct way {
    lw_options options;
    lwi_work *work;
    double *x, *xdot, best;
    lwi_snapshot *row; // NULL: rates
} way;

static void start(way *w, const lw_model *model, const char *formulation, int threads, int lanes)
{
    lw_error error;
    lw_options_default(&w->options);
    w->options.threads = threads;
    const lwi_formulation *f = lwi_formulation_find(formulation);
    if (!f) stop("no such formulation");
    if (lwi_work_create_options(model, f, NULL, lanes, &w->options, &w->work, &error) != LW_OK)
        stop(error.text);
    w->x = calloc((size_t)(2 * w->work->layout.nx), sizeof *w->x);
    if (!w->x) stop("no memory");
    w->xdot = w->x + w->work->layout.nx;
    w->best = 1e30;
    memcpy(w->x, model->tree_q0, (size_t)model->tree_nq * sizeof *w->x);
    for (int i = 0; i < model->tree_nv; i++) w->x[model->tree_nq + i] = pseudorandom();
}

static void evaluate(way *w)
{
    const double before = seconds();
    const lwi_formulation *f = w->work->formulation;
    const lw_status status = w->row
                                 ? f->observe(w->work, 0, w->x, NULL, LW_OBSERVE_REACTION, w->row)
                                 : f->rates(w->work, 0, w->x, NULL, w->xdot);
    if (status != LW_OK) stop(w->work->error.text);
    w->best = fmin(w->best, seconds() - before);
}

static void finish(way *w)
{
    lwi_work_destroy(w->work);
    free(w->x);
}

static void row(const struct shape *shape, int n, int threads)
{
    static const char *const name[WAYS] = {"hdca", "hdca", "dca", "dca", "momenta", "aba"};
    lw_model *model = model_of(shape, n);
    const int used = shape->tree ? WAYS : WAYS - 2; // the recursions are for trees
    way ways[WAYS];
    for (int i = 0; i < used; i++) start(&ways[i], model, name[i], i < 4 && i % 2 ? threads : 1, 0);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < 2 * used; i++) evaluate(&ways[i / 2]); // twice: warm
    printf("%6d  %-12s", model->nnode, shape->name);
    for (int i = 0; i < used; i++) {
        printf("  %10.1f", 1e9 * ways[i].best / model->nnode);
        finish(&ways[i]);
    }
    printf("\n");
    lw_model_destroy(model);
}

static const struct shape *find_shape(const char *name)
{
    for (int i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
    stop("no such shape");
    return NULL;
}

static int number(const char *what, const char *text, int least)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end != text && *end == 0 && value >= least && value <= 1 << 24) return (int)value;
    fprintf(stderr, "bench_paths: %s is '%s', expected a number from %d on\n", what, text, least);
    exit(1);
}

// Width of the kernels.
static int width(const char *text)
{
    const int lanes = number("LANES", text, LWI_NO_KERNEL);
    if (lanes != LWI_NO_KERNEL && !lwi_path_kernels_of(lanes)) {
        fprintf(stderr,
                "bench_paths: LANES is %d, but this processor has no such kernels; expected 1, 4 "
                "or 8, as far as it "
                "has them, 0 for the most it has, or %d for the general elimination\n",
                lanes, LWI_NO_KERNEL);
        exit(1);
    }
    return lanes;
}

// FORMULATION:row makes rows of results with all reactions.
static void repeat(char **argv, const char *shape)
{
    way w = {0};
    lwi_arena arena;
    lwi_snapshot snapshot;
    char name[32], *row;
    const int lanes = width(argv[3]), times = number("TIMES", argv[4], 1);
    lw_model *model = model_of(find_shape(shape), number("N", argv[2], 1));
    printf("%d bodies\n", model->nnode);
    snprintf(name, sizeof name, "%s", argv[1]);
    if ((row = strchr(name, ':'))) *row = 0;
    start(&w, model, name, 1, lanes);
    lwi_arena_init(&arena, NULL);
    if (lwi_snapshot_create(model, &arena, &snapshot) != LW_OK) stop("no memory");
    lwi_snapshot_start(model, &snapshot);
    if (row) w.row = &snapshot;
    for (int i = 0; i < times; i++) evaluate(&w);
    finish(&w);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {256, 512, 1024, 4096, 8192};
    if (argc == 5 || argc == 6) {
        repeat(argv, argc > 5 ? argv[5] : "random");
        return 0;
    }
    if (argc > 2) stop("expected [THREADS], or FORMULATION[:row] N LANES TIMES [SHAPE]");
    const int threads = argc > 1 ? number("THREADS", argv[1], 1) : 2;
    printf("ns per body\n     n  shape               hdca  %d threads         dca  %d threads     "
           "momenta         aba\n",
           threads, threads);
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            row(&shapes[shape], sizes[i], threads);
    return 0;
}

// paths.c -- benchmark: long paths of hinges, divide and conquer in segments against the recursions.
//
// usage: bench_paths [THREADS]                     hdca and dca on 1 and THREADS threads (default 2), momenta, aba
//        bench_paths FORMULATION N LANES TIMES     TIMES evaluations, for valgrind --tool=callgrind: instructions of one
//                                                  are the difference of two calls
//
// Axes at random, and at right angles as most machines have them.  Evaluations alternate; the minimum is printed in ns
// per body of wall-clock time.
#include "kinematics/formulation.h"

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

static lw_model *path(int n, bool square)
{
    lw_builder *b;
    lw_error error;
    lw_model *model;
    lw_body body = {0};
    lw_joint joint;
    if (lw_builder_create(NULL, &b) != LW_OK) stop("no memory");
    for (int i = 0; i < n; i++) {
        const double m = 1 + 0.5 * pseudorandom();
        const lw_body_desc rod = {
            .mass = m, .inertia = {0.05 * m, 0.09 * m, 0.12 * m}, .com = {0.5, 0.1, 0}};
        const lw_quat on =
            square ? about(i % 2 ? -acos(0) : 0, 1, 0, 0) : about(3 * pseudorandom(), 0.6, 0, 0.8);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = body,
                               .placement = LW_PLACED_FRAMES,
                               .frame1 = {{i ? 1 : 0, 0, 0}, on},
                               .frame2 = {{0, 0, 0}, on},
                               .has_q = 1,
                               .q = {3 * pseudorandom()}};
        if (lw_builder_add_body(b, &rod, &body, &error) != LW_OK) stop(error.text);
        hinge.body2 = body;
        if (lw_builder_add_joint(b, &hinge, &joint, &error) != LW_OK) stop(error.text);
    }
    if (lw_model_create(b, &model, &error) != LW_OK) stop(error.text);
    lw_builder_destroy(b);
    return model;
}

typedef struct way {
    lw_options options;
    lwi_work *work;
    double *x, *xdot, best;
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
    if (w->work->formulation->rates(w->work, 0, w->x, NULL, w->xdot) != LW_OK)
        stop(w->work->error.text);
    w->best = fmin(w->best, seconds() - before);
}

static void finish(way *w)
{
    lwi_work_destroy(w->work);
    free(w->x);
}

static void row(int n, bool square, int threads)
{
    static const char *const name[WAYS] = {"hdca", "hdca", "dca", "dca", "momenta", "aba"};
    lw_model *model = path(n, square);
    way ways[WAYS];
    for (int i = 0; i < WAYS; i++) start(&ways[i], model, name[i], i < 4 && i % 2 ? threads : 1, 0);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < 2 * WAYS; i++) evaluate(&ways[i / 2]); // twice: warm
    printf("%6d  %-12s", n, square ? "right angles" : "random");
    for (int i = 0; i < WAYS; i++) {
        printf("  %10.1f", 1e9 * ways[i].best / n);
        finish(&ways[i]);
    }
    printf("\n");
    lw_model_destroy(model);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {256, 512, 1024, 4096, 8192};
    if (argc == 5) {
        way w;
        lw_model *model = path(atoi(argv[2]), false);
        start(&w, model, argv[1], 1, atoi(argv[3]));
        for (int i = atoi(argv[4]); i > 0; i--) evaluate(&w);
        finish(&w);
        lw_model_destroy(model);
        return 0;
    }
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    printf("ns per body\n     n  axes                hdca  %d threads         dca  %d threads     "
           "momenta      "
           "   aba\n",
           threads, threads);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int square = 0; square < 2; square++) row(sizes[i], square, threads);
    return 0;
}

// loops.c -- benchmark: evaluations of mechanisms with many loops.
//
// Compares `rcr` by loop clusters in lanes, `rcr` by the general elimination, `hdca` and `dca`.
// Evaluations alternate; a table gives the minimum [us] and the exponent of its growth from one size
// to the next.
//
// usage: bench_loops [WIDTH]    kernels of that width (1, 4, 8); default: the widest
#include "cli/stopwatch.h"
#include "kinematics/formulation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 40, BUDGET_US = 150 }; // BUDGET_US: time of one formulation in a round

static void stop(const char *what)
{
    fprintf(stderr, "loops: %s\n", what);
    exit(1);
}

// In the states at which other libraries were measured: docs/benchmarks.md.
static lw_model *mechanism(lw_mechanism kind, int n)
{
    lw_model *model = NULL;
    lw_builder *b;
    lw_error error = {.text = "no memory"};
    const bool ladder = kind == LW_MECHANISM_LADDER;
    lw_mechanism_desc d = {.mechanism = kind, .n = n, .q = {0.3}, .qd = {1}};
    if (ladder) d.q[0] = 0.2, d.q[1] = 0.3, d.qd[0] = 0.5, d.qd[1] = 1;
    if (lw_builder_create(NULL, &b) != LW_OK) stop(error.text);
    if (!ladder) lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    if (lw_builder_add_mechanism(b, &d, &error) != LW_OK ||
        lw_model_create(b, &model, &error) != LW_OK)
        stop(error.text);
    lw_builder_destroy(b);
    return model;
}

typedef struct way {
    const char *name;
    const lwi_formulation *formulation;
    bool kernel;
} way;

static const way ways[] = {{"rcr, clusters", &lwi_formulation_rcr, true},
                           {"rcr, general", &lwi_formulation_rcr, false},
                           {"hdca", &lwi_formulation_hdca, true},
                           {"dca", &lwi_formulation_dca, true}};

enum { NWAY = sizeof ways / sizeof ways[0] };

typedef struct subject {
    lwi_work *work;
    double *x, *xdot, least;
    int times;
} subject;

// Seconds of an evaluation; infinite if the formulation fails at the state.
static double evaluate(subject *s)
{
    const double start = stopwatch();
    for (int i = 0; i < s->times; i++)
        if (s->work->formulation->rates(s->work, 0, s->x, NULL, s->xdot) != LW_OK) return INFINITY;
    return (stopwatch() - start) / s->times;
}

static void begin(subject *s, const way *w, const lw_model *model, const lwi_snapshot *moment,
                  int width)
{
    lw_error error = {.text = ""};
    if (lwi_work_create_lanes(model, w->formulation, NULL, w->kernel ? width : LWI_NO_KERNEL,
                              &s->work, &error) != LW_OK)
        stop(error.text);
    s->x = calloc(2 * (size_t)s->work->layout.nx, sizeof *s->x);
    if (!s->x) stop("no memory");
    s->xdot = s->x + s->work->layout.nx;
    s->times = 1;
    s->least = INFINITY;
    if (w->formulation->enter(s->work, moment, s->x) == LW_OK) s->least = evaluate(s);
    if (isinf(s->least)) fprintf(stderr, "%s: %s\n", w->name, s->work->error.text);
    if (isfinite(s->least)) s->times = (int)fmax(1, 1e-6 * BUDGET_US / evaluate(s));
}

static void measure(lw_mechanism kind, int n, int width, double least[NWAY])
{
    lw_model *model = mechanism(kind, n);
    lwi_arena arena;
    lwi_snapshot moment;
    subject s[NWAY];
    lwi_arena_init(&arena, NULL);
    if (lwi_snapshot_create(model, &arena, &moment) != LW_OK) stop("no memory");
    lwi_snapshot_start(model, &moment);
    for (int w = 0; w < NWAY; w++) begin(&s[w], &ways[w], model, &moment, width);
    for (int turn = 0; turn < TURNS; turn++)
        for (int w = 0; w < NWAY; w++)
            if (isfinite(s[w].least)) s[w].least = fmin(s[w].least, evaluate(&s[w]));
    for (int w = 0; w < NWAY; w++) {
        least[w] = s[w].least;
        lwi_work_destroy(s[w].work);
        free(s[w].x);
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

static void table(const char *name, lw_mechanism kind, int width)
{
    static const int sizes[] = {1, 4, 16, 40, 64, 100, 256, 1024};
    double last[NWAY] = {0};
    printf("%s, us per evaluation (exponent)\n     n", name);
    for (int w = 0; w < NWAY; w++) printf("  %16s", ways[w].name);
    printf("\n");
    for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
        double least[NWAY];
        measure(kind, sizes[i], width, least);
        printf("%6d", sizes[i]);
        for (int w = 0; w < NWAY; w++) {
            printf("  %9.3f", 1e6 * least[w]);
            if (i)
                printf(" (%4.2f)", log(least[w] / last[w]) / log((double)sizes[i] / sizes[i - 1]));
            else
                printf("       ");
            last[w] = least[w];
        }
        printf("\n");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 0;
    table("n-four-bar", LW_MECHANISM_N_FOUR_BAR, width);
    table("ladder", LW_MECHANISM_LADDER, width);
    return 0;
}

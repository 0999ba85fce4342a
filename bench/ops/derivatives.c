// derivatives.c -- benchmark: the derivatives of forward dynamics, in evaluations of forward dynamics.
//
// usage: bench_derivatives CASE evaluation|derivatives|inverse TIMES
//        bench_derivatives CASE
//
// CASE is one of `linkwork bench`: chain-7, chain-32, chain-128, humanoid, four-bars-10, ..., at its state, or a model
// file, at its start with other speeds.  TIMES calls after one more.  Under valgrind --tool=callgrind --instr-atstart=no only the TIMES are
// counted: count_derivatives.py.  Without TIMES: the least time of each call [us] in turns.
#include "cli/scene_model.h"
#include "cli/stopwatch.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION (void)0
#endif

enum { ROUNDS = 200 };

static void stop(const char *why)
{
    fprintf(stderr, "bench_derivatives: %s\n", why);
    exit(1);
}

/** A mechanism at a state, and room for every result. */
typedef struct subject {
    lw_dynamics *d;
    int n;
    double *q, *v, *tau, *vdot, *by_q, *by_v, *by_tau;
} subject;

static void evaluation(subject *s)
{
    if (lw_forward_dynamics(s->d, 0, s->q, s->v, s->tau, NULL, s->vdot) != LW_OK)
        stop(lw_dynamics_error(s->d)->text);
}

static void derivatives(subject *s)
{
    if (lw_forward_dynamics_derivatives(s->d, 0, s->q, s->v, s->tau, NULL, s->vdot, s->by_q,
                                        s->by_v, s->by_tau) != LW_OK)
        stop(lw_dynamics_error(s->d)->text);
}

static void inverse(subject *s)
{
    if (lw_inverse_dynamics_derivatives(s->d, 0, s->q, s->v, s->vdot, NULL, s->by_q, s->by_v,
                                        s->by_tau) != LW_OK)
        stop(lw_dynamics_error(s->d)->text);
}

static const struct call {
    const char *name;
    void (*make)(subject *s);
} calls[] = {{"evaluation", evaluation}, {"derivatives", derivatives}, {"inverse", inverse}};
enum { CALLS = sizeof calls / sizeof *calls };

// NULL: none has that name.
static const scene_case *case_of(const char *name)
{
    int count;
    const scene_case *cases = scene_cases(&count);
    for (int i = 0; i < count; i++)
        if (!strcmp(cases[i].name, name)) return &cases[i];
    return NULL;
}

static double *reals(int count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x) stop("no memory");
    return x;
}

// The scene's own state.
static void place(const lw_model *model, const scene_case *c, subject *s)
{
    const int nbody = scene_size(c->kind, c->n);
    scene_body *body = calloc((size_t)nbody, sizeof *body);
    if (!body) stop("no memory");
    scene_fill(c->kind, c->n, body);
    double *q = reals(7 * nbody), *v = reals(6 * nbody), *tau = reals(6 * nbody);
    scene_state(c->kind, body, nbody, q, v, tau);
    if (scene_place(model, body, nbody, q, v, tau, s->q, s->v, s->tau) != LW_OK)
        stop("no such state");
    free(q), free(v), free(tau), free(body);
}

static void place_start(const lw_model *model, subject *s)
{
    lw_model_tree_start(model, s->q, s->v);
    for (int i = 0; i < s->n; i++) s->v[i] += 0.1 * (i % 5 - 2);
}

// @param c  NULL: the model has a start
static subject create(const lw_model *model, const scene_case *c)
{
    lw_error error;
    subject s = {.n = lw_model_tree_nv(model)};
    if (lw_dynamics_create(model, NULL, &s.d, &error) != LW_OK) stop(error.text);
    s.q = reals(lw_model_tree_nq(model));
    double **const vector[] = {&s.v, &s.tau, &s.vdot};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = reals(s.n);
    double **const square[] = {&s.by_q, &s.by_v, &s.by_tau};
    for (size_t i = 0; i < sizeof square / sizeof *square; i++) *square[i] = reals(s.n * s.n);
    if (c)
        place(model, c, &s);
    else
        place_start(model, &s);
    for (int i = 0; i < CALLS; i++) calls[i].make(&s); // the first call allocates
    return s;
}

static void destroy(subject *s)
{
    double *const all[] = {s->q, s->v, s->tau, s->vdot, s->by_q, s->by_v, s->by_tau};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    lw_dynamics_destroy(s->d);
}

static void repeat(subject *s, const char *name, int times)
{
    int i = 0;
    while (i < CALLS && strcmp(calls[i].name, name) != 0) i++;
    if (i == CALLS) stop("expected evaluation, derivatives or inverse");
    CALLGRIND_START_INSTRUMENTATION;
    for (int k = 0; k < times; k++) calls[i].make(s);
    CALLGRIND_STOP_INSTRUMENTATION;
}

static void time_all(subject *s)
{
    double best[CALLS] = {1e30, 1e30, 1e30};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CALLS; i++) {
            const double before = stopwatch();
            for (int k = 0; k < 20; k++) calls[i].make(s);
            const double took = (stopwatch() - before) / 20;
            if (took < best[i]) best[i] = took;
        }
    for (int i = 0; i < CALLS; i++) printf("%-12s %10.3f us\n", calls[i].name, 1e6 * best[i]);
}

int main(int argc, char **argv)
{
    lw_error error;
    lw_model *model;
    if (argc != 2 && argc != 4) stop("usage: bench_derivatives CASE [CALL TIMES]");
    const scene_case *c = case_of(argv[1]);
    const lw_status status = c ? scene_model(c->kind, c->n, &model, &error)
                               : lw_model_read(argv[1], NULL, &model, NULL, &error);
    if (status != LW_OK) stop(error.text);
    subject s = create(model, c);
    printf("%d speeds\n", s.n);
    if (argc == 4)
        repeat(&s, argv[2], atoi(argv[3]));
    else
        time_all(&s);
    destroy(&s);
    lw_model_destroy(model);
    return 0;
}

// derivatives.c -- benchmark: derivatives of forward and inverse dynamics, by the library and by a compiled model.
//
// usage: bench_compiled_derivatives MODEL
//        bench_compiled_derivatives MODEL CALL TIMES
//
// Each prints the number of speeds, the lanes and the seconds of the compiler.  Without CALL: the least time of each call in
// turns, per state [us].  With it: TIMES of that call; under valgrind --tool=callgrind --instr-atstart=no only these are counted.
// The model is near its start, on its loops.  Calls in lanes have a state for each.
#include "cli/stopwatch.h"

#include <linkwork/compiled.h>
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

enum { ROUNDS = 60, LANES = 8 };

static void stop(const char *why)
{
    fprintf(stderr, "bench_compiled_derivatives: %s\n", why);
    exit(1);
}

/** A model at LANES equal states, and room for every result. */
typedef struct subject {
    lw_dynamics *dynamics;
    lw_compiled *compiled;
    int lanes, nq, nv;
    double t[LANES], *q, *v, *x, *tau, *vdot, *by_q, *by_v, *by;
} subject;

static lw_status library_forward(subject *s)
{
    return lw_forward_dynamics_derivatives(s->dynamics, 0, s->q, s->v, s->tau, NULL, s->vdot,
                                           s->by_q, s->by_v, s->by);
}

static lw_status compiled_forward(subject *s)
{
    return lw_compiled_forward_dynamics_derivatives(s->compiled, 0, s->q, s->v, s->x, s->tau, NULL,
                                                    s->vdot, s->by_q, s->by_v, s->by);
}

static lw_status lanes_forward(subject *s)
{
    return lw_compiled_forward_dynamics_derivatives_many(s->compiled, s->lanes, s->t, s->q, s->v,
                                                         s->x, s->tau, NULL, s->vdot, s->by_q,
                                                         s->by_v, s->by, NULL);
}

static lw_status library_inverse(subject *s)
{
    return lw_inverse_dynamics_derivatives(s->dynamics, 0, s->q, s->v, s->vdot, NULL, s->by_q,
                                           s->by_v, s->by);
}

static lw_status compiled_inverse(subject *s)
{
    return lw_compiled_inverse_dynamics_derivatives(s->compiled, 0, s->q, s->v, s->x, s->vdot, NULL,
                                                    s->by_q, s->by_v, s->by);
}

static lw_status lanes_inverse(subject *s)
{
    return lw_compiled_inverse_dynamics_derivatives_many(s->compiled, s->lanes, s->t, s->q, s->v,
                                                         s->x, s->vdot, NULL, s->by_q, s->by_v,
                                                         s->by, NULL);
}

static const struct call {
    const char *name;
    lw_status (*make)(subject *s);
    int repeats; // between two readings of the clock
    bool in_lanes;
} calls[] = {{"library-forward", library_forward, 2, false},
             {"compiled-forward", compiled_forward, 10, false},
             {"lanes-forward", lanes_forward, 10, true},
             {"library-inverse", library_inverse, 2, false},
             {"compiled-inverse", compiled_inverse, 10, false},
             {"lanes-inverse", lanes_inverse, 10, true}};
enum { CALLS = sizeof calls / sizeof *calls };

static double *reals(int count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x) stop("no memory");
    return x;
}

static void place(const lw_model *model, subject *s)
{
    lw_model_tree_start(model, s->q, s->v);
    for (int i = 0; i < s->nv; i++) s->v[i] += 0.1 * (i % 5 - 2);
    if (lw_compiled_project(s->compiled, 0, s->q, s->v) != LW_OK) stop("the loops do not close");
    for (int l = 1; l < LANES; l++) {
        memcpy(s->q + l * s->nq, s->q, (size_t)s->nq * sizeof *s->q);
        memcpy(s->v + l * s->nv, s->v, (size_t)s->nv * sizeof *s->v);
    }
}

static subject create(const lw_model *model)
{
    lw_error error = {0};
    const lw_compiled_desc desc = {.derivatives = true};
    subject s = {.nq = lw_model_tree_nq(model), .nv = lw_model_tree_nv(model)};
    if (lw_dynamics_create(model, NULL, &s.dynamics, &error) != LW_OK) stop(error.text);
    if (lw_compiled_create(model, &desc, &s.compiled, &error) != LW_OK) stop(error.text);
    const lw_compiled_info about = lw_compiled_about(s.compiled);
    s.lanes = about.lanes;
    s.q = reals(LANES * s.nq), s.x = reals(LANES * about.nstate);
    double **const vector[] = {&s.v, &s.tau, &s.vdot};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = reals(LANES * s.nv);
    double **const square[] = {&s.by_q, &s.by_v, &s.by};
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = reals(LANES * s.nv * s.nv);
    place(model, &s);
    printf("%d speeds, %d lanes, %g s\n", s.nv, s.lanes, about.compiling);
    return s;
}

static void destroy(subject *s)
{
    double *const all[] = {s->q, s->v, s->x, s->tau, s->vdot, s->by_q, s->by_v, s->by};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    lw_compiled_destroy(s->compiled);
    lw_dynamics_destroy(s->dynamics);
}

// Twice, for the first call allocates.
static bool is_there(subject *s, const struct call *call)
{
    return call->make(s) == LW_OK && call->make(s) == LW_OK;
}

static void count(subject *s, const char *name, int times)
{
    int i = 0;
    while (i < CALLS && strcmp(calls[i].name, name) != 0) i++;
    if (i == CALLS) stop("there is no such call");
    if (!is_there(s, &calls[i])) stop("the call fails");
    CALLGRIND_START_INSTRUMENTATION;
    for (int k = 0; k < times; k++) calls[i].make(s);
    CALLGRIND_STOP_INSTRUMENTATION;
}

static void time_all(subject *s)
{
    double best[CALLS];
    bool there[CALLS];
    for (int i = 0; i < CALLS; i++) best[i] = 1e30, there[i] = is_there(s, &calls[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CALLS; i++) {
            const double before = stopwatch();
            for (int k = 0; there[i] && k < calls[i].repeats; k++) calls[i].make(s);
            const double took = (stopwatch() - before) / calls[i].repeats;
            if (took < best[i]) best[i] = took;
        }
    for (int i = 0; i < CALLS; i++)
        if (there[i])
            printf("%s %g\n", calls[i].name, 1e6 * best[i] / (calls[i].in_lanes ? s->lanes : 1));
}

int main(int argc, char **argv)
{
    lw_error error = {0};
    lw_model *model;
    if (argc != 2 && argc != 4) stop("usage: bench_compiled_derivatives MODEL [CALL TIMES]");
    if (lw_model_read(argv[1], NULL, &model, NULL, &error) != LW_OK) stop(error.text);
    subject s = create(model);
    if (argc == 4)
        count(&s, argv[2], atoi(argv[3]));
    else
        time_all(&s);
    destroy(&s);
    lw_model_destroy(model);
    return 0;
}

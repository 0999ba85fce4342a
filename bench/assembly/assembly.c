// assembly.c -- what the engine costs: microseconds per body of planning, creation, the matrix pass
// and one vector pass, by graph, plan and threads.
//
//     bench_assembly [threads]        minima of interleaved repetitions, one line each
#include "assembly/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };

typedef struct subject {
    const char *name;
    problem p;
    lwi_plan_kind kind;
    lwi_strategy strategy;
    int threads;
    lwi_arena arena;
    lwi_plan plan;
    lwi_dual *dual;
    lwi_pool *pool;
    double (*x)[6], *lambda;
    double prepare, factor, solve; ///< seconds, least
} subject;

// Real time: threads count by what they save.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double since(double start)
{
    return now() - start;
}

static void prepare(subject *s)
{
    const double start = now();
    lwi_arena_init(&s->arena, NULL);
    if (lwi_plan_create(&s->p.graph, s->kind, &s->arena, &s->plan) ||
        lwi_dual_create(&s->plan, &s->arena, &s->dual))
        exit(1);
    s->prepare = since(start);
    if (s->threads > 1 && (lwi_pool_create(s->threads, NULL, &s->pool, NULL) ||
                           lwi_dual_threads(s->dual, s->pool, s->strategy, &s->arena)))
        exit(1);
    s->x = (double(*)[6])LWI_PUSH(&s->arena, double, 6 * s->p.graph.nbody);
    s->lambda = LWI_PUSH(&s->arena, double, s->p.nrow);
    problem_load(&s->p, s->dual);
    int rank;
    if (!s->x || !s->lambda || lwi_dual_learn(s->dual, LWI_DUAL_RANK, &rank)) exit(1);
    s->factor = s->solve = HUGE_VAL;
}

static void measure(subject *s)
{
    const int n = s->p.graph.nbody, turns = 1 + 20000 / n;
    for (int i = 0; i < turns; i++) {
        memcpy(s->x, s->p.x0, (size_t)n * sizeof *s->x);
        double start = now();
        if (lwi_dual_factor(s->dual, NULL)) exit(1);
        double t = since(start);
        if (t < s->factor) s->factor = t;
        start = now();
        lwi_dual_solve(s->dual, s->x, s->p.c, s->lambda, 0);
        t = since(start);
        if (t < s->solve) s->solve = t;
    }
}

static void report(subject *s)
{
    const double us = 1e6 / s->p.graph.nbody;
    printf("%-14s %6d %-9s %7d %7d %6d %8.3f %8.3f %8.3f %8.3f %9.1e\n", s->name, s->p.graph.nbody,
           lwi_plan_kind_name(s->plan.kind), s->threads, s->plan.nlevel, s->plan.width,
           s->prepare * us, s->factor * us, s->solve * us, (s->factor + s->solve) * us,
           problem_residual(&s->p, s->x, NULL, NULL));
    lwi_pool_destroy(s->pool);
    lwi_arena_free(&s->arena);
    fflush(stdout);
}

static void compare(const char *name, problem p, int threads)
{
    subject s[] = {{.name = name, .p = p, .kind = LWI_PLAN_COMB, .threads = 1},
                   {.name = name, .p = p, .kind = LWI_PLAN_BALANCED, .threads = 1},
                   {.name = name, .p = p, .kind = LWI_PLAN_MIXED, .threads = 1},
                   {.name = name, .p = p, .kind = LWI_PLAN_BALANCED, .threads = threads},
                   {.name = name, .p = p, .kind = LWI_PLAN_MIXED, .threads = threads}};
    const int count = threads > 1 ? 5 : 3;
    for (int i = 0; i < count; i++) prepare(&s[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) measure(&s[i]);
    for (int i = 0; i < count; i++) report(&s[i]);
    problem_free(&p);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    printf("%-14s %6s %-9s %7s %7s %6s %8s %8s %8s %8s %9s\n", "graph", "bodies", "plan", "threads",
           "levels", "width", "create", "factor", "solve", "both", "residual");
    for (int n = 16; n <= 16384; n *= 4) {
        problem p;
        problem_chain(&p, n, 5);
        problem_numbers(&p);
        compare("chain, 5 rows", p, threads);
    }
    for (int n = 16; n <= 4096; n *= 16) {
        problem p;
        problem_chain(&p, n, 3);
        problem_numbers(&p);
        compare("chain, 3 rows", p, threads);
    }
    for (int n = 8; n <= 2048; n *= 16) {
        problem p;
        problem_four_bars(&p, n, 0.6); // three dependent rows in each loop
        compare("four-bars", p, threads);
    }
    for (int n = 8; n <= 2048; n *= 16) {
        problem p;
        problem_ladder(&p, n, 3);
        problem_numbers(&p);
        compare("ladder, 3 rows", p, threads);
    }
    return 0;
}

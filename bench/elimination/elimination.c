// elimination.c -- benchmark of the elimination: microseconds per body of planning and creation, of the
// matrix pass and of one vector pass, by graph, plan and threads.
//
//     bench_elimination [threads]        minima of interleaved repetitions, one line each
//
// With several threads both strategies of the divide-and-conquer papers are measured, level by level
// and subtree by subtree; the first line is the speedup of pure arithmetic with as many threads.
#include "elimination/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };

typedef struct subject {
    const char *name;
    problem p;
    lw_plan kind;
    lwi_elim_strategy strategy;
    int threads, width; ///< width: of lwi_elim_lanes
    lwi_arena arena;
    lwi_plan plan;
    lwi_elim *elim;
    lwi_pool *pool;
    double (*x)[6], *lambda;
    double prepare, factor, solve; ///< seconds, minimum
} subject;

// Wall-clock time [s].
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
        lwi_elim_create(&s->plan, &s->arena, &s->elim))
        exit(1);
    s->prepare = since(start);
    if (s->threads > 1 && (lwi_pool_create(s->threads, NULL, &s->pool, NULL) ||
                           lwi_elim_threads(s->elim, s->pool, s->strategy, &s->arena)))
        exit(1);
    s->x = (double(*)[6])LWI_PUSH(&s->arena, double, 6 * s->p.graph.nbody);
    s->lambda = LWI_PUSH(&s->arena, double, s->p.nrow);
    problem_load(&s->p, s->elim);
    lwi_elim_lanes(s->elim, s->width);
    int rank;
    if (!s->x || !s->lambda || lwi_elim_find_ranks(s->elim, LWI_ELIM_RANK, &rank)) exit(1);
    s->factor = s->solve = HUGE_VAL;
}

static void measure(subject *s)
{
    const int n = s->p.graph.nbody, turns = 1 + 20000 / n;
    for (int i = 0; i < turns; i++) {
        memcpy(s->x, s->p.x0, (size_t)n * sizeof *s->x);
        double start = now();
        if (lwi_elim_factor(s->elim, NULL)) exit(1);
        double t = since(start);
        if (t < s->factor) s->factor = t;
        start = now();
        lwi_elim_solve(s->elim, s->x, s->p.c, s->lambda, 0);
        t = since(start);
        if (t < s->solve) s->solve = t;
    }
}

static void report(subject *s)
{
    const double us = 1e6 / s->p.graph.nbody;
    const char *how = s->threads == 1                    ? (s->width < 0 ? "nodes" : "lanes")
                      : s->strategy == LWI_ELIM_BY_LEVEL ? "levels"
                                                         : "subtrees";
    printf("%-14s %6d %-9s %-9s %7d %6d %6d %8.3f %8.3f %8.3f %8.3f %9.1e\n", s->name,
           s->p.graph.nbody, lwi_plan_kind_name(s->plan.kind), how, s->threads, s->plan.nlevel,
           s->plan.width, s->prepare * us, s->factor * us, s->solve * us,
           (s->factor + s->solve) * us, problem_residual(&s->p, s->x, NULL, NULL));
    lwi_pool_destroy(s->pool);
    lwi_arena_free(&s->arena);
    fflush(stdout);
}

static void compare(const char *name, problem p, int threads)
{
    static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};
    subject s[12];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const subject one = {.name = name, .p = p, .kind = kinds[k], .threads = 1};
        s[count] = one;
        s[count++].width = -1;
        if (k) s[count++] = one; // sequential plans of chains have no isomorphic nodes
        for (int way = 0; way < 2 && threads > 1 && k; way++) {
            s[count] = one;
            s[count].threads = threads;
            s[count++].strategy = (lwi_elim_strategy)way;
        }
    }
    for (int i = 0; i < count; i++) prepare(&s[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) measure(&s[i]);
    for (int i = 0; i < count; i++) report(&s[i]);
    problem_free(&p);
}

// Arithmetic in registers only.
static void compute(void *user, int part)
{
    double x[8], *out = user;
    for (int i = 0; i < 8; i++) x[i] = 1e-3 * (part + i);
    for (int k = 0; k < 20000; k++) // some 50 microseconds
        for (int i = 0; i < 8; i++) x[i] = x[i] * 0.999999 + 1e-9;
    for (int i = 0; i < 8; i++) out[8 * part + i] = x[i];
}

// Prints the speedup of pure arithmetic by a number of threads.
static void limit(int threads)
{
    lwi_pool *pool;
    double *out = malloc((size_t)threads * 8 * sizeof *out), alone = HUGE_VAL, all = HUGE_VAL;
    if (!out || lwi_pool_create(threads, NULL, &pool, NULL)) exit(1);
    for (int i = 0; i < 5000; i++) {
        double start = now();
        compute(out, 0);
        alone = fmin(alone, since(start));
        start = now();
        lwi_pool_run(pool, compute, out);
        all = fmin(all, since(start));
    }
    printf("%d threads do arithmetic %.2f times as fast as one\n\n", threads,
           threads * alone / all);
    lwi_pool_destroy(pool);
    free(out);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads > 1) limit(threads);
    printf("%-14s %6s %-9s %-9s %7s %6s %6s %8s %8s %8s %8s %9s\n", "graph", "bodies", "plan",
           "how", "threads", "levels", "width", "create", "factor", "solve", "both", "residual");
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

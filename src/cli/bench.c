// bench.c -- linkwork bench: what one evaluation costs on this machine.
//
// Cases are the chains of chain.h.  Every evaluation is timed in samples of at least a millisecond
// of this thread's CPU time, from a warmed state; reported are minimum and median of the samples.
#include "cli/chain.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int sizes[] = {7, 128, 1024}; // a robot arm, a long chain, beyond the first cache

typedef struct bench {
    int n;
    lw_dynamics *dynamics;
    double *q, *v, *tau, *p, *out, *qdot; ///< [n]
} bench;

static lw_status evaluate_aba(bench *b)
{
    return lw_forward_dynamics(b->dynamics, 0, b->q, b->v, b->tau, NULL, b->out);
}

static lw_status evaluate_momenta(bench *b)
{
    return lw_momenta_rates(b->dynamics, 0, b->q, b->p, b->tau, NULL, b->out, b->qdot, b->out);
}

static lw_status evaluate_rnea(bench *b)
{
    return lw_inverse_dynamics(b->dynamics, 0, b->q, b->v, b->tau, NULL, b->out);
}

typedef struct method {
    const char *name;
    lw_status (*evaluate)(bench *);
} method;

static const method methods[] = {
    {"aba", evaluate_aba}, {"momenta", evaluate_momenta}, {"rnea", evaluate_rnea}};

typedef struct timing {
    const char *method;
    int n, samples;
    double least, median; ///< [ns per body]
} timing;

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sample(bench *b, const method *m, long repeats)
{
    const double start = cpu_time();
    for (long i = 0; i < repeats; i++) m->evaluate(b);
    return (cpu_time() - start) / (double)repeats;
}

static lw_status measure(bench *b, const method *m, double seconds, timing *result)
{
    enum { FEWEST = 5, MOST = 200 };
    double seen[MOST];
    lw_status status = LW_OK;
    for (int i = 0; i < 2 && status == LW_OK; i++) status = m->evaluate(b); // warm
    if (status != LW_OK) return status;

    const double once = sample(b, m, 1) + 1e-9;
    const long repeats = 1 + (long)(1e-3 / once);
    const double wanted = seconds / (once * (double)repeats);
    const int n = wanted < FEWEST ? FEWEST : wanted > MOST ? MOST : (int)wanted;
    for (int i = 0; i < n; i++) seen[i] = sample(b, m, repeats);
    qsort(seen, (size_t)n, sizeof *seen, by_size);
    *result = (timing){m->name, b->n, n, 1e9 * seen[0] / b->n, 1e9 * seen[n / 2] / b->n};
    return LW_OK;
}

// The chain's draws are in the order of its hinges, which need not be the tree's.
static lw_status place(const lw_model *model, const double *of_hinge, double *of_tree, int n)
{
    for (int i = 0; i < n; i++) {
        int q, nq, v, nv;
        const lw_status status = lw_model_joint_tree(model, (lw_joint){i}, &q, &nq, &v, &nv);
        if (status != LW_OK) return status;
        of_tree[v] = of_hinge[i];
    }
    return LW_OK;
}

static lw_status prepare(bench *b, const lw_model *model, double *draws, lw_error *error)
{
    const int n = b->n;
    lw_status status = lw_dynamics_create(model, NULL, &b->dynamics, error);
    if (status != LW_OK) return status;
    chain_state(n, draws, draws + n, draws + 2 * n);
    if ((status = place(model, draws, b->q, n)) != LW_OK) return status;
    if ((status = place(model, draws + n, b->v, n)) != LW_OK) return status;
    if ((status = place(model, draws + 2 * n, b->tau, n)) != LW_OK) return status;
    return lw_momenta(b->dynamics, 0, b->q, b->v, b->p);
}

static lw_status bench_chain(int n, double seconds, timing *result, lw_error *error)
{
    lw_model *model = NULL;
    const size_t size = (size_t)n;
    double *room = calloc(9 * size, sizeof *room);
    bench b = {.n = n, .q = room};
    if (!room) return LW_ERR_MEMORY;
    b.v = room + size, b.tau = room + 2 * size, b.p = room + 3 * size;
    b.out = room + 4 * size, b.qdot = room + 5 * size;

    lw_status status = chain_model(n, &model, error);
    if (status == LW_OK) status = prepare(&b, model, room + 6 * size, error);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0] && status == LW_OK; i++)
        status = measure(&b, &methods[i], seconds, &result[i]);
    lw_dynamics_destroy(b.dynamics);
    lw_model_destroy(model);
    free(room);
    return status;
}

static void processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

static void print(const timing *result, int n, bool as_json)
{
    char cpu[128];
    cli_json json = {.file = stdout};
    processor(cpu, sizeof cpu);
    if (!as_json) {
        printf("linkwork %s, %s, %s %s\n\n", lw_version(), cpu, CLI_COMPILER, CLI_FLAGS);
        printf("one evaluation, ns per body%14s%10s\n", "minimum", "median");
        for (int i = 0; i < n; i++)
            printf("  chain %5d  %-8s      %12.1f%10.1f\n", result[i].n, result[i].method,
                   result[i].least, result[i].median);
        return;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "version", lw_version());
    json_text(&json, "cpu", cpu);
    json_text(&json, "compiler", CLI_COMPILER);
    json_text(&json, "flags", CLI_FLAGS);
    json_text(&json, "unit", "ns per body of one evaluation");
    json_open(&json, "cases", '[');
    for (int i = 0; i < n; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "case", "chain");
        json_integer(&json, "n", result[i].n);
        json_text(&json, "method", result[i].method);
        json_integer(&json, "samples", result[i].samples);
        json_number(&json, "minimum", result[i].least);
        json_number(&json, "median", result[i].median);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

cli_exit cli_bench(const cli_arguments *arguments)
{
    enum { NSIZE = sizeof sizes / sizeof sizes[0], NMETHOD = sizeof methods / sizeof methods[0] };
    timing result[NSIZE * NMETHOD];
    for (int i = 0; i < NSIZE; i++) {
        lw_error error = {0};
        const lw_status status =
            bench_chain(sizes[i], arguments->seconds, result + i * NMETHOD, &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            return CLI_FAILED;
        }
    }
    print(result, NSIZE * NMETHOD, arguments->json);
    return CLI_DONE;
}

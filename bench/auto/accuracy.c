// accuracy.c -- what runs cost and how right they are: the measure that the choice of `auto` is judged by.
//
// usage: bench_accuracy [--duration S] [--sample S] [--tolerances FROM,TO[,N]] [--repeat N] [--limit S]
//                       [--whole] [--with NAME[/INTEGRATOR[/PROJECT]],...] FILE...
//
// One line of JSON per model.  Each contender makes the run at tolerances 10^-FROM ... 10^-TO, N of them in a decade
// (1); of each run: CPU seconds, the least of --repeat where it is short, of the steps and rows with positions
// alone, with --whole of the set-up and rows with everything up to reactions, as the program's `run` has them;
// evaluations; the largest error of a body's position in all rows [m].  What is right are two runs at the tightest
// tolerances by different formulations; `doubt` is by how much they differ.
#include "cli/stopwatch.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTENDERS = 32, MAX_TOLERANCES = 64 };

// Runs of so many CPU seconds are not repeated: what disturbs a machine is shorter.
#define LONG_RUN 0.005

typedef struct contender {
    char text[80]; // as given
    char formulation[32], integrator[32], project[32];
} contender;

typedef struct setting {
    double duration, limit; // of one run, CPU [s]
    char sample[32];
    int from, to, per_decade, repeat, ncontender;
    bool whole;
    contender contender[MAX_CONTENDERS];
} setting;

// Positions of bodies in all rows.
typedef struct path {
    int bodies;
    size_t rows, room;
    double *at; // [rows][bodies][3]
    double start, limit;
} path;

typedef struct result {
    double seconds, error;
    long evaluations;
    char formulation[32];
} result;

static void stop(const char *what)
{
    fprintf(stderr, "bench_accuracy: %s\n", what);
    exit(1);
}

static lw_status write_row(void *user, const lw_observation *o)
{
    path *p = user;
    const size_t n = 3 * (size_t)p->bodies;
    if (p->rows == p->room) {
        p->room = 2 * p->room + 64;
        p->at = realloc(p->at, p->room * n * sizeof *p->at + 1);
        if (!p->at) stop("no memory");
    }
    memcpy(p->at + p->rows++ * n, o->position, n * sizeof *p->at);
    return LW_OK;
}

static int too_long(void *user, double time, double end)
{
    const path *p = user;
    (void)time, (void)end;
    return stopwatch() - p->start > p->limit;
}

// The largest distance of a body in both; infinite where one of them is not whole.
static double difference(const path *a, const path *b)
{
    double most = 0;
    if (a->rows != b->rows) return INFINITY;
    for (size_t i = 0; i < a->rows * (size_t)a->bodies; i++) {
        double d = 0;
        for (size_t k = 3 * i; k < 3 * i + 3; k++) d = hypot(d, a->at[k] - b->at[k]);
        if (!(d <= most)) most = isnan(d) ? INFINITY : d;
    }
    return most;
}

static void set(lw_options *options, const char *key, const char *value)
{
    lw_error error;
    if (lw_options_set(options, key, value, &error) != LW_OK) stop(error.text);
}

// One run into `p`; false where it was refused, failed or took too long.
static bool run(const lw_model *model, const setting *s, const contender *c, const char *tolerance,
                path *p, result *out)
{
    lw_options options;
    lw_error error;
    lw_sim *sim = NULL;
    lw_summary summary;
    lw_options_default(&options);
    set(&options, "formulation", c->formulation);
    set(&options, "integrator", c->integrator);
    set(&options, "project", c->project);
    set(&options, "rtol", tolerance);
    set(&options, "atol", tolerance);
    set(&options, "sample", s->sample);
    options.duration = s->duration;
    const lw_sim_desc desc = {.options = &options};
    p->rows = 0;
    p->bodies = lw_model_body_count(model);
    p->start = stopwatch();
    p->limit = s->limit;
    lw_status status = lw_sim_create(model, &desc, &sim, &error);
    if (!s->whole) p->start = stopwatch();
    const lw_observe level = s->whole ? LW_OBSERVE_REACTION : LW_OBSERVE_POSE;
    if (status == LW_OK) status = lw_sim_run(sim, level, write_row, p, too_long, p);
    out->seconds = stopwatch() - p->start;
    if (status == LW_OK) {
        lw_sim_summary(sim, &summary);
        out->evaluations = summary.evaluations;
        snprintf(out->formulation, sizeof out->formulation, "%s", lw_sim_options(sim)->formulation);
    }
    lw_sim_destroy(sim);
    return status == LW_OK;
}

// What is right: `rcr` or `aba`, and another one to compare with.
static double find_truth(const lw_model *model, const setting *s, path *truth)
{
    static const contender closed[] = {
        {.formulation = "rcr", .integrator = "verner87", .project = "auto"},
        {.formulation = "hdca", .integrator = "verner87", .project = "auto"},
        {.formulation = "lagrange", .integrator = "dopri5", .project = "always"}};
    setting patient = *s;
    path other = {0};
    result unused;
    double doubt = INFINITY;
    patient.limit = 2 * s->limit;
    if (!run(model, &patient, &closed[0], "1e-12", truth, &unused)) return INFINITY;
    for (int i = 1; i < 3; i++)
        if (run(model, &patient, &closed[i], "1e-12", &other, &unused))
            doubt = fmin(doubt, difference(truth, &other));
    free(other.at);
    return doubt;
}

static double exponent(const setting *s, int j)
{
    return s->from + j / (double)s->per_decade;
}

static void measure(const char *file, const setting *s)
{
    lw_model *model = NULL;
    lw_error error;
    path truth = {0}, tried = {0};
    if (lw_model_read(file, NULL, &model, NULL, &error) != LW_OK) stop(error.text);
    const double doubt = find_truth(model, s, &truth);
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    printf("{\"model\": \"%.*s\", \"duration\": %g, \"doubt\": %.2g, \"runs\": {",
           (int)strcspn(name, "."), name, s->duration, isfinite(doubt) ? doubt : -1);
    static result all[MAX_CONTENDERS][MAX_TOLERANCES];
    static bool done[MAX_CONTENDERS][MAX_TOLERANCES];
    const int n = (s->to - s->from) * s->per_decade + 1;
    for (int turn = 0; turn < s->repeat; turn++) // in turns: they share the machine's good moments
        for (int j = 0; j < n; j++)
            for (int i = 0; i < s->ncontender; i++) {
                char tolerance[16];
                result r;
                if (turn && (!done[i][j] || all[i][j].seconds > LONG_RUN)) continue;
                snprintf(tolerance, sizeof tolerance, "%.3g", pow(10, -exponent(s, j)));
                done[i][j] =
                    isfinite(doubt) && run(model, s, &s->contender[i], tolerance, &tried, &r);
                if (!done[i][j]) continue;
                r.error = difference(&truth, &tried);
                if (turn) r.seconds = fmin(r.seconds, all[i][j].seconds);
                all[i][j] = r;
            }
    for (int i = 0; i < s->ncontender; i++) {
        const char *before = "";
        printf("%s\"%s\": [", i ? ", " : "", s->contender[i].text);
        for (int j = 0; j < n; j++) {
            if (!done[i][j] || !isfinite(all[i][j].error)) continue;
            printf("%s[%.3g, %.4g, %.3g, %ld, \"%s\"]", before, exponent(s, j), all[i][j].seconds,
                   all[i][j].error, all[i][j].evaluations, all[i][j].formulation);
            before = ", ";
        }
        printf("]");
    }
    printf("}}\n");
    fflush(stdout);
    free(truth.at);
    free(tried.at);
    lw_model_destroy(model);
}

// "rcr", "lagrange/dopri5", "lagrange/auto/always": of formulation, integrator, project.
static void read_contenders(setting *s, const char *list)
{
    s->ncontender = 0;
    while (*list && s->ncontender < MAX_CONTENDERS) {
        contender *c = &s->contender[s->ncontender++];
        const size_t n = strcspn(list, ",");
        *c = (contender){.integrator = "auto", .project = "auto"};
        snprintf(c->text, sizeof c->text, "%.*s", (int)n, list);
        if (sscanf(c->text, "%31[^/]/%31[^/]/%31[^/]", c->formulation, c->integrator, c->project) <
            1)
            stop("--with FORMULATION/INTEGRATOR/PROJECT,...");
        list += n + (list[n] == ',');
    }
}

int main(int argc, char **argv)
{
    static setting s = {.duration = 1,
                        .limit = 5,
                        .sample = "0.05",
                        .from = 5,
                        .to = 11,
                        .per_decade = 1,
                        .repeat = 3};
    read_contenders(&s, "auto,rcr,hdca,lagrange,lagrange/auto/always,dca");
    for (int i = 1; i < argc; i++) {
        const char *key = argv[i];
        const bool more = i + 1 < argc;
        if (!strcmp(key, "--whole"))
            s.whole = true;
        else if (!strcmp(key, "--duration") && more)
            s.duration = atof(argv[++i]);
        else if (!strcmp(key, "--limit") && more)
            s.limit = atof(argv[++i]);
        else if (!strcmp(key, "--sample") && more)
            snprintf(s.sample, sizeof s.sample, "%s", argv[++i]);
        else if (!strcmp(key, "--repeat") && more)
            s.repeat = atoi(argv[++i]);
        else if (!strcmp(key, "--with") && more)
            read_contenders(&s, argv[++i]);
        else if (!strcmp(key, "--tolerances") && more) {
            s.per_decade = 1;
            if (sscanf(argv[++i], "%d,%d,%d", &s.from, &s.to, &s.per_decade) < 2 || s.from < 1 ||
                s.to > 15 || s.to < s.from || s.per_decade < 1 ||
                (s.to - s.from) * s.per_decade >= MAX_TOLERANCES)
                stop("--tolerances FROM,TO[,N]");
        } else
            measure(key, &s);
    }
    return 0;
}

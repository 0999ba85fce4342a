// auto.c -- what the choice of `auto` is calibrated on: every formulation that takes a model, and `rcr` by each of
// its ways whichever it would go, one evaluation at its start, in turns, and a short run; and what `auto` would
// choose.
//
// usage: bench_auto [--turns N] [--run SECONDS] FILE...
//
// One line of JSON per model.  Times are CPU seconds of this thread, the least of all turns.
#include "cli/stopwatch.h"
#include "kinematics/formulation.h"
#include "methods/rcr/dense_path.h"
#include "simulate/cost.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A turn is short, so that formulations share the machine's good moments; evaluations that take longer than
// COSTLY are turned less often, and those of more than REFUSED never again; runs of
// loops are made where one takes less than LONG.
static const double TURN = 1.5e-4, COSTLY = 5e-3, REFUSED = 0.5, LONG = 2e-4;

enum { MOST = 16, FEW_TURNS = 3 };

static void stop(const char *what)
{
    fprintf(stderr, "bench_auto: %s\n", what);
    exit(1);
}

typedef struct subject {
    const char *name; // a row of the table of costs
    const lwi_formulation *formulation;
    lwi_work *work;
    double *x, *xdot, least;
    int times;
} subject;

// Time of one; infinite where the formulation refuses the state.
static double evaluate(subject *s, const double *inputs)
{
    const double start = stopwatch();
    for (int i = 0; i < s->times; i++)
        if (s->formulation->rates(s->work, 0, s->x, inputs, s->xdot) != LW_OK) return INFINITY;
    return (stopwatch() - start) / s->times;
}

// Those that are cubic in the size of the mechanism are left out where it has this many bodies.
enum { LARGE = 130 };

static bool too_large(const lw_model *model, const subject *s)
{
    const lwi_formulation *f = s->formulation;
    return model->nnode > LARGE && (f == &lwi_formulation_dense || f == &lwi_formulation_lagrange ||
                                    !strcmp(s->name, LWI_RCR_DENSE_PATH));
}

// Does rcr take all rows at once where it is told to?  Near a singular position it does not.
static bool strays(const subject *s)
{
    return !strcmp(s->name, LWI_RCR_DENSE_PATH) && !((const lwi_rcr_work *)s->work->data)->by_dense;
}

// The way of `rcr` that it is told to go; false where it cannot.
static bool force(lwi_work *work, const char *way)
{
    lwi_rcr_work *d = work->data;
    d->clusters = NULL;
    d->dense = NULL;
    if (!strcmp(way, LWI_RCR_ELIMINATION)) return true;
    return lwi_rcr_dense_create(d, &work->arena, &d->dense) == LW_OK && d->dense;
}

// False where the formulation does not take the model or its start.
static bool begin(subject *s, const lw_model *model, const lwi_snapshot *moment,
                  const double *inputs)
{
    lw_error error;
    if (!s->formulation->rates || too_large(model, s) ||
        lwi_formulation_accepts(s->formulation, model, &error) != LW_OK ||
        lwi_work_create(model, s->formulation, NULL, &s->work, &error) != LW_OK)
        return false;
    if (strchr(s->name, ' ') && !force(s->work, s->name)) {
        lwi_work_destroy(s->work);
        return false;
    }
    const size_t nx = (size_t)s->work->layout.nx;
    s->x = calloc(2 * nx + 1, sizeof *s->x);
    if (!s->x) stop("no memory");
    s->xdot = s->x + nx;
    s->times = 1;
    s->least = INFINITY;
    if (s->formulation->enter(s->work, moment, s->x) == LW_OK) s->least = evaluate(s, inputs);
    if (isfinite(s->least) && s->least < REFUSED) s->least = evaluate(s, inputs);
    if (strays(s)) s->least = INFINITY;
    s->times = (int)fmax(1, fmin(TURN / s->least, 1000));
    return true;
}

static void end(subject *s)
{
    lwi_work_destroy(s->work);
    free(s->x);
}

// A run by the library alone, nothing observed on the way; how far energy and joints are off in the end.
static void run(const lw_model *model, const subject *s, double duration)
{
    lw_options options;
    lw_error error = {.text = ""};
    lw_sim *sim = NULL;
    lw_summary summary;
    const lw_observation *o;
    lw_options_default(&options);
    lw_options_set(&options, "formulation", s->name, NULL);
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK ||
        lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o) != LW_OK)
        return;
    const double start = stopwatch();
    const lw_status status = lw_sim_step(sim, duration);
    const double seconds = stopwatch() - start;
    if (status == LW_OK && lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o) == LW_OK) {
        lw_sim_summary(sim, &summary);
        printf(", \"run\": %.6g, \"evaluations\": %ld, \"energy\": %.2g, \"position\": %.2g, "
               "\"velocity\": %.2g",
               seconds, summary.evaluations, summary.energy_error, summary.residual[0],
               summary.residual[1]);
    }
    lw_sim_destroy(sim);
}

static void measure(const char *path, int turns, double duration)
{
    lw_model *model = NULL;
    lw_error error = {.text = ""};
    lwi_arena arena;
    lwi_snapshot moment;
    subject s[MOST] = {0};
    int n = 0;
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) stop(error.text);
    lwi_arena_init(&arena, NULL);
    double *inputs = LWI_PUSH(&arena, double, model->desc.ninput + 1);
    if (!inputs || lwi_snapshot_create(model, &arena, &moment) != LW_OK) stop("no memory");
    lwi_snapshot_start(model, &moment);
    for (int i = 0; i < lw_formulation_count() && n < MOST; i++) {
        s[n].name = lw_formulation_info(i).name;
        s[n].formulation = lwi_formulation_find(s[n].name);
        if (begin(&s[n], model, &moment, inputs)) n++;
    }
    static const char *const ways[] = {LWI_RCR_DENSE_PATH, LWI_RCR_ELIMINATION};
    for (int i = 0; i < 2 && n < MOST && model->nloop + model->ncoupling > 0; i++) {
        s[n].name = ways[i];
        s[n].formulation = &lwi_formulation_rcr;
        if (begin(&s[n], model, &moment, inputs)) n++;
    }
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < n; i++)
            if (isfinite(s[i].least) && s[i].least < REFUSED &&
                (turn < FEW_TURNS || s[i].least < COSTLY))
                s[i].least = fmin(s[i].least, evaluate(&s[i], inputs));
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    printf("{\"model\": \"%.*s\", \"features\": ", (int)strcspn(name, "."), name);
    lwi_cost_survey survey;
    lwi_cost_choice choice;
    if (lwi_cost_measure(model, NULL, NULL, NULL, &survey) != LW_OK) stop("no memory");
    lwi_cost_choose(model, &survey, &choice);
    for (int i = 0; i < n && !survey.rcr_way && !survey.tree; i++) { // the choice has left it out
        if (strcmp(s[i].name, "rcr") != 0) continue;
        lwi_rcr_count(s[i].work->data, &survey.features);
        survey.rcr_way = lwi_rcr_evaluation_name(s[i].work->data);
    }
    lwi_work_destroy(survey.work);
    const char *before = "{";
#define X(name) printf("%s\"%s\": %.6g", before, #name, survey.features.name), before = ", ";
    LWI_COST_FEATURES(X)
#undef X
    printf("}, \"formulations\": {");
    for (int i = 0; i < n; i++) {
        printf("%s\"%s\": {", i ? ", " : "", s[i].name);
        if (isfinite(s[i].least)) printf("\"evaluation\": %.6g", s[i].least);
        if (s[i].least < LONG && duration > 0 && !survey.tree && !strchr(s[i].name, ' '))
            run(model, &s[i], duration);
        printf("}");
    }
    printf("}, \"momenta_take\": %.3g, \"way\": \"%s\", \"auto\": \"%s\", \"why\": \"%s\"}\n",
           survey.momenta_take, survey.rcr_way ? survey.rcr_way : "", choice.formulation,
           choice.why);
    fflush(stdout);
    for (int i = 0; i < n; i++) end(&s[i]);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

int main(int argc, char **argv)
{
    int turns = 40;
    double duration = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--turns") && i + 1 < argc)
            turns = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--run") && i + 1 < argc)
            duration = atof(argv[++i]);
        else
            measure(argv[i], turns, duration);
    }
    return 0;
}

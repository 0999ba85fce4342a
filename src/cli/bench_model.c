// bench_model.c -- times a model of the user's: what each formulation takes to set up, to step and to observe it.
//
// Steps are those of a run: by the integrator that a run would take, to each output row, from the start over the
// duration and from the start again, until the time to spend is over.  Rows are observations of the last state with all
// that a result has.  Processor time of this thread, or the clock if others work too.
#include "cli/bench.h"
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FORMULATIONS = 16 };

/** A formulation is left out if an evaluation is predicted to take so many of the cheapest one, and so large a part of
 *  the time to spend. */
enum { MAX_EVALUATIONS = 10 };
#define MAX_PART 0.04

typedef enum outcome { TIMED, LEFT_OUT, REFUSED, FAILED, OUTCOMES } outcome;

/** What is measured of one formulation. */
typedef struct figures {
    char name[80];      ///< as it was asked for: NAME or NAME:INTEGRATOR
    lw_options options; ///< resolved, once it is created
    outcome outcome;
    double predicted;                ///< time of an evaluation, of that of the cheapest formulation
    double setup;                    ///< [s]
    double stepping, simulated, row; ///< [s] in steps; in simulated time; of a row
    long steps, evaluations;
    size_t memory;                         ///< [bytes]
    char why[sizeof((lw_error *)0)->text]; ///< of a refusal or a failure
} figures;

typedef struct bench {
    const cli_arguments *arguments;
    lw_model *model;
    lw_options options;
    bool chosen; ///< formulations are named
    figures *of; ///< [n]
    int n;
    figures run; ///< what a run takes; its name is "" where a run is refused
} bench;

// ------------------------------------------------------------------------------------------ memory

typedef struct meter {
    size_t live, peak; // bytes
} meter;

enum { HEADER = 64 }; // bytes before a block, which keep its size

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    size_t *block = bytes < SIZE_MAX - HEADER ? malloc(bytes + HEADER) : NULL;
    if (!block) return NULL;
    *block = bytes;
    m->live += bytes;
    if (m->live > m->peak) m->peak = m->live;
    return (char *)block + HEADER;
}

static void give(void *user, void *block)
{
    size_t *start = (size_t *)(void *)((char *)block - HEADER);
    ((meter *)user)->live -= *start;
    free(start);
}

// ------------------------------------------------------------------------------------------- times

static double now(const bench *b)
{
    struct timespec t;
    if (b->options.threads <= 1) return stopwatch();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct budget {
    const bench *bench;
    double end;  // of the time to spend
    double from; // simulated time at the call
} budget;

// A call that takes long ends after the time to spend, but not before its first step.
static int is_over(void *user, double time, double end)
{
    const budget *l = user;
    (void)end;
    return time > l->from && now(l->bench) > l->end;
}

// Simulates a few rows, as long as a millisecond or so takes.  At the end of the duration from the start again.
static lw_status step_rows(lw_sim *sim, budget *limit, const double *start, long count,
                           double *simulated)
{
    const lw_options *o = lw_sim_options(sim);
    const bool stops = o->sample > 0 && o->sample_mode == LW_SAMPLE_STOP;
    const double end = o->duration > 0 ? o->duration : 1, row = stops ? o->sample : end;
    for (long i = 0; i < count; i++) {
        if (lw_sim_time(sim) >= end) {
            const lw_status again = lw_sim_set_state(sim, 0, start);
            if (again != LW_OK) return again;
        }
        limit->from = lw_sim_time(sim);
        const double to = fmin(end, row * (floor(limit->from / row + 1e-9) + 1));
        const lw_status status = lw_sim_step_progress(sim, to, is_over, limit);
        *simulated += lw_sim_time(sim) - limit->from;
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

static lw_status time_steps(const bench *b, lw_sim *sim, figures *f)
{
    double *start = calloc((size_t)lw_sim_state_size(sim) + 1, sizeof *start);
    if (!start) return LW_ERR_MEMORY;
    lw_sim_get_state(sim, NULL, start);
    const double began = now(b);
    budget limit = {.bench = b, .end = began + b->arguments->seconds};
    lw_status status = LW_OK;
    double spent = 0;
    for (long count = 1; status == LW_OK && now(b) < limit.end;) {
        const double before = now(b);
        status = step_rows(sim, &limit, start, count, &f->simulated);
        const double took = now(b) - before;
        spent += took;
        if (took < 1e-3) count *= 2;
    }
    free(start);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    f->stepping = spent;
    f->steps = summary.steps;
    f->evaluations = cli_has_own_step(f->options.integrator) ? 0 : summary.evaluations;
    return status == LW_ERR_INTERRUPTED ? LW_OK : status;
}

static lw_status time_rows(const bench *b, lw_sim *sim, figures *f)
{
    const lw_observation *o;
    const double end = now(b) + b->arguments->seconds / 4;
    double best = INFINITY;
    for (long count = 1, rounds = 0; rounds < 3 || now(b) < end; rounds++) {
        const double before = now(b);
        for (long i = 0; i < count; i++) {
            const lw_status status = lw_sim_observe(sim, LW_OBSERVE_REACTION, &o);
            if (status != LW_OK) return status;
        }
        const double took = now(b) - before;
        best = fmin(best, took / (double)count);
        if (took < 1e-3) count *= 2, rounds = 0;
        if (took > b->arguments->seconds) break;
    }
    f->row = best;
    return LW_OK;
}

// ------------------------------------------------------------------------------------ formulations

static void keep_reason(figures *f, lw_status status, const lw_error *error)
{
    const char *text = error && error->text[0] ? error->text : lw_status_text(status);
    snprintf(f->why, sizeof f->why, "%s", text);
}

static lw_status measure(const bench *b, figures *f)
{
    meter m = {0};
    const lw_allocator metered = {take, give, &m};
    lw_sim *sim = NULL;
    lw_error error = {0};
    const double before = now(b);
    lw_status status = lw_sim_create(
        b->model, &(lw_sim_desc){.options = &f->options, .allocator = &metered}, &sim, &error);
    f->setup = now(b) - before;
    if (status != LW_OK) {
        const bool wrong = status == LW_ERR_UNSUPPORTED || status == LW_ERR_ARGUMENT;
        f->outcome = wrong ? REFUSED : FAILED;
        keep_reason(f, status, &error);
        return status;
    }
    f->options = *lw_sim_options(sim);
    status = time_rows(b, sim, f);
    if (status == LW_OK) status = time_steps(b, sim, f);
    f->memory = m.peak;
    f->outcome = status == LW_OK ? TIMED : FAILED;
    if (status != LW_OK) keep_reason(f, status, lw_sim_error(sim));
    lw_sim_destroy(sim);
    return status;
}

// The formulation and integrator of a run with these options.
static void find_run(bench *b)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    const lw_status status =
        lw_sim_create(b->model, &(lw_sim_desc){.options = &b->options}, &sim, &error);
    if (status == LW_OK) b->run.options = *lw_sim_options(sim);
    if (status == LW_OK)
        snprintf(b->run.name, sizeof b->run.name, "%s", b->run.options.formulation);
    if (status != LW_OK) keep_reason(&b->run, status, &error);
    lw_sim_destroy(sim);
}

// Formulations with their own step and the integrators do not mix.
static void set_formulation(const bench *b, int index, lw_options *options)
{
    const bool own = lw_formulation_flags(index) & LW_FORMULATION_OWN_STEP;
    *options = b->options;
    snprintf(options->formulation, sizeof options->formulation, "%s",
             lw_formulation_info(index).name);
    if (own != cli_has_own_step(options->integrator))
        snprintf(options->integrator, sizeof options->integrator, "auto");
}

// All of them, those that are predicted to be too dear marked.
static lw_status list_all(bench *b, lw_error *error)
{
    double seconds[MAX_FORMULATIONS], cheapest = INFINITY;
    b->n = lw_formulation_count();
    if (b->n > MAX_FORMULATIONS) return LW_ERR_INTERNAL;
    const lw_status status = lw_model_costs(b->model, seconds, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < b->n; i++) cheapest = fmin(cheapest, seconds[i]);
    const double limit = fmax(MAX_PART * b->arguments->seconds, MAX_EVALUATIONS * cheapest);
    for (int i = 0; i < b->n; i++) {
        figures *f = &b->of[i];
        snprintf(f->name, sizeof f->name, "%s", lw_formulation_info(i).name);
        set_formulation(b, i, &f->options);
        f->predicted = seconds[i] / cheapest;
        if (seconds[i] > limit) f->outcome = LEFT_OUT;
    }
    return LW_OK;
}

static cli_exit list_named(bench *b, const char *list)
{
    for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        figures *f = &b->of[b->n];
        char name[sizeof f->name];
        lw_error error = {0};
        if (b->n++ == MAX_FORMULATIONS)
            return cli_complain(CLI_USE, "--formulations: at most %d", MAX_FORMULATIONS);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ","), word);
        snprintf(f->name, sizeof f->name, "%s", name);
        char *integrator = strchr(name, ':');
        if (integrator) *integrator++ = 0;
        f->options = b->options;
        f->predicted = NAN;
        int index = 0;
        lw_status status = lw_options_set(&f->options, "formulation", name, &error);
        while (index < lw_formulation_count() && strcmp(lw_formulation_info(index).name, name) != 0)
            index++;
        if (status == LW_OK && index < lw_formulation_count())
            set_formulation(b, index, &f->options);
        if (status == LW_OK && integrator)
            status = lw_options_set(&f->options, "integrator", integrator, &error);
        if (status != LW_OK) return cli_fail(status, &error);
    }
    return CLI_DONE;
}

static cli_exit list_formulations(bench *b)
{
    const char *list = b->arguments->formulations;
    lw_error error = {0};
    if (!list && strcmp(b->options.formulation, "auto") != 0) list = b->options.formulation;
    b->chosen = list != NULL;
    if (list) return list_named(b, list);
    const lw_status status = list_all(b, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

// ------------------------------------------------------------------------------------------- print

static bool is_of_run(const bench *b, const figures *f)
{
    return b->run.name[0] && !strcmp(b->run.options.formulation, f->options.formulation) &&
           !strcmp(b->run.options.integrator, f->options.integrator);
}

static double rate(double count, double seconds)
{
    return count > 0 && seconds > 0 ? count / seconds : NAN;
}

// "-" for a number that does not exist; three digits at least.
static void print_number(int width, double value)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else if (value < 0.1)
        printf("%*.3g", width, value);
    else
        printf("%*.*f", width, value < 10 ? 3 : value < 100 ? 1 : 0, value);
}

static void print_figures(const bench *b, const figures *f)
{
    printf("%c %-18s %-9s", is_of_run(b, f) ? '*' : ' ', f->name, f->options.integrator);
    print_number(11, 1e3 * f->setup);
    print_number(15, rate((double)f->evaluations, f->stepping));
    print_number(13, rate(1, f->row));
    print_number(13, rate((double)f->steps, f->stepping));
    print_number(13, rate(f->simulated, f->stepping));
    print_number(12, 1e-6 * (double)f->memory);
    putchar('\n');
}

// Without the name, which the library puts before a refusal, and the advice after it.
static void print_reason(const figures *f, const char *label)
{
    char before[64];
    const char *text = f->why;
    const int n = snprintf(before, sizeof before, "formulation %s: ", f->options.formulation);
    if (!strncmp(text, before, (size_t)n)) text += n;
    printf("%-12s %s: %.*s\n", label, f->name, (int)strcspn(text, ";"), text);
}

static void print_others(const bench *b, outcome what, const char *label)
{
    for (int i = 0; i < b->n; i++) {
        const figures *f = &b->of[i];
        if (f->outcome != what) continue;
        if (what == LEFT_OUT)
            printf("%-12s %s: predicted to take more than %d times as long as the fastest (with "
                   "--formulations %s it is timed)\n",
                   label, f->name, MAX_EVALUATIONS, f->name);
        else
            print_reason(f, label);
    }
}

static void print_text(const bench *b)
{
    const int threads = b->options.threads > 1 ? (int)b->options.threads : 1;
    bench_print_machine();
    printf("model        %s\n", b->arguments->operand);
    printf("             bodies %d, joints %d, loops %d; threads %d, %s\n",
           lw_model_body_count(b->model) - 1, lw_model_joint_count(b->model),
           lw_model_loop_count(b->model), threads,
           threads > 1 ? "wall-clock time" : "processor time");
    if (!b->run.name[0]) printf("             a run is refused: %s\n", b->run.why);
    printf("\n  %-18s %-9s %10s %14s %12s %12s %12s %11s\n", "formulation", "by", "setup ms",
           "evaluations/s", "rows/s", "steps/s", "x real time", "memory MB");
    bool marked = false;
    for (int i = 0; i < b->n; i++) {
        if (b->of[i].outcome != TIMED) continue;
        print_figures(b, &b->of[i]);
        marked |= is_of_run(b, &b->of[i]);
    }
    putchar('\n');
    if (marked) printf("*            a run takes this one\n");
    print_others(b, LEFT_OUT, "left out");
    print_others(b, REFUSED, "refused");
    print_others(b, FAILED, "failed");
}

static void json_figures(cli_json *json, const figures *f)
{
    static const char *const outcomes[OUTCOMES] = {"timed", "left out", "refused", "failed"};
    json_open(json, NULL, '{');
    json_text(json, "name", f->name);
    json_text(json, "formulation", f->options.formulation);
    json_text(json, "integrator", f->options.integrator);
    json_text(json, "outcome", outcomes[f->outcome]);
    json_number(json, "predicted", f->predicted);
    if (f->outcome == TIMED) {
        json_number(json, "setup", f->setup);
        json_number(json, "evaluations_per_second", rate((double)f->evaluations, f->stepping));
        json_number(json, "rows_per_second", rate(1, f->row));
        json_number(json, "steps_per_second", rate((double)f->steps, f->stepping));
        json_number(json, "real_time", rate(f->simulated, f->stepping));
        json_integer(json, "memory", (long)f->memory);
        json_integer(json, "steps", f->steps);
        json_integer(json, "evaluations", f->evaluations);
        json_number(json, "simulated", f->simulated);
    } else if (f->outcome != LEFT_OUT) {
        json_text(json, "reason", f->why);
    }
    json_close(json, '}');
}

static void print_json(const bench *b)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    bench_json_machine(&json);
    json_text(&json, "model", b->arguments->operand);
    json_integer(&json, "bodies", lw_model_body_count(b->model) - 1);
    json_integer(&json, "joints", lw_model_joint_count(b->model));
    json_integer(&json, "loops", lw_model_loop_count(b->model));
    json_integer(&json, "threads", b->options.threads > 1 ? (long)b->options.threads : 1);
    json_open(&json, "run", '{');
    if (b->run.name[0]) {
        json_text(&json, "formulation", b->run.options.formulation);
        json_text(&json, "integrator", b->run.options.integrator);
    } else {
        json_text(&json, "reason", b->run.why);
    }
    json_close(&json, '}');
    json_open(&json, "formulations", '[');
    for (int i = 0; i < b->n; i++) json_figures(&json, &b->of[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

// -------------------------------------------------------------------------------------------- verb

static int count_timed(const bench *b)
{
    int n = 0;
    for (int i = 0; i < b->n; i++) n += b->of[i].outcome == TIMED && b->of[i].stepping > 0;
    return n;
}

// Of the formulations that were named each must be timed, else one at least.
static cli_exit measure_all(bench *b)
{
    lw_status first = LW_OK;
    const figures *failed = NULL;
    for (int i = 0; i < b->n; i++) {
        figures *f = &b->of[i];
        if (f->outcome == LEFT_OUT) continue;
        const lw_status status = measure(b, f);
        if (status == LW_OK || failed) continue;
        first = status, failed = f;
    }
    if (!failed || (count_timed(b) && !b->chosen)) return CLI_DONE;
    lw_error error = {.status = first};
    const bool named = strstr(failed->why, failed->options.formulation) != NULL;
    snprintf(error.text, sizeof error.text, "%s%s%.*s", named ? "" : failed->name,
             named ? "" : ": ", 400, failed->why);
    return cli_fail(first, &error);
}

static cli_exit bench_read(bench *b)
{
    const cli_exit code = cli_read(b->arguments, &b->model, &b->options);
    b->options.pace = 0; // as fast as possible
    return code;
}

cli_exit bench_model(const cli_arguments *arguments)
{
    bench b = {.arguments = arguments};
    if (arguments->cases || arguments->samples)
        return cli_complain(CLI_USE, "bench: --%s is for the built-in cases, got MODEL %s",
                            arguments->cases ? "case" : "samples", arguments->operand);
    b.of = calloc(MAX_FORMULATIONS + 1, sizeof *b.of);
    if (!b.of) return cli_complain(CLI_FAILED, "no memory");
    cli_exit code = bench_read(&b);
    if (!code) code = list_formulations(&b);
    if (!code) {
        find_run(&b);
        code = measure_all(&b);
        if (arguments->json)
            print_json(&b);
        else if (count_timed(&b) || !code)
            print_text(&b);
    }
    lw_model_destroy(b.model);
    free(b.of);
    return code;
}

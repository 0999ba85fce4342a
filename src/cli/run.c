// run.c -- linkwork run: simulate, write rows, summarise.
#include "cli/analysis.h"
#include "cli/batch.h"
#include "cli/compiled.h"
#include "cli/ranks.h"
#include "cli/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double real_time_factor(const lw_summary *s)
{
    return (s->end - s->start) / (s->wall > 0 ? s->wall : 1e-9); // a clock tick at least
}

// What is chosen, ignored or taken over has several lines.
static void print_lines(const char *head, const char *text)
{
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        printf("%-12s %.*s\n", head, (int)n, line);
        line += n + (line[n] == '\n');
    }
}

// Inputs are those of a controller: the program has none, so they are zero, unless a result has their values.
static int count_unset(const lw_model *model, const char *start)
{
    return *start ? 0 : lw_model_input_count(model);
}

static void print_unset(const lw_model *model, const char *start)
{
    enum { MAX = 6 };
    const int n = count_unset(model, start);
    if (!n) return;
    printf("inputs       %d never set, zero: ", n);
    for (int i = 0; i < n && i < MAX; i++)
        printf("%s%s", i ? ", " : "", lw_model_input_name(model, i));
    puts(n > MAX ? ", ..." : "");
}

static void print_choice(const cli_arguments *arguments, const lw_sim *sim, const char *start)
{
    const lw_options *o = lw_sim_options(sim);
    const lw_model *model = lw_sim_model(sim);
    const int ignored = lw_model_warning_count(model);
    printf("model        %s\n", arguments->operand);
    if (ignored)
        printf(
            "file         %d kind%s of contents ignored or changed; `linkwork check` lists them\n",
            ignored, ignored == 1 ? "" : "s");
    print_unset(model, start);
    printf("method       %s, %s\n", o->formulation, o->integrator);
    print_lines("", lw_sim_notice(sim));
    if (*start) printf("start        %s\n", start);
    fflush(stdout);
}

// With equal steps the time of each step is reported.
static bool has_equal_steps(const cli_arguments *arguments, const lw_sim *sim)
{
    const lw_options *o = lw_sim_options(sim);
    return arguments->real_time || o->pace > 0 || cli_has_own_step(o->formulation);
}

static void print_times(const lw_sim *sim, const lw_summary *s)
{
    lw_step_times times;
    lw_sim_times(sim, &times);
    printf("step times   %.3g s (median), %.3g s (99 %%), %.3g s (99.9 %%), %.3g s at most; %ld of "
           "%ld took longer than they simulate\n",
           times.median, times.p99, times.p999, times.max, times.slow, times.steps);
    if (lw_sim_options(sim)->pace > 0)
        printf("pace         %ld steps ended late, by at most %.3g s\n", s->late, s->behind);
}

// Of integrators that keep a mean energy: it oscillates with the motion, and what counts is its drift.
static void print_drift(const lw_sim *sim, const lw_summary *s)
{
    const char *integrator = lw_sim_options(sim)->integrator;
    const bool keeps = !strcmp(integrator, "rattle") || !strcmp(integrator, "gauss");
    if (!keeps || isnan(s->energy_drift)) return;
    printf("             within %.2e J, oscillating; drift %.1e J over %g s\n", s->energy_range,
           s->energy_drift, s->end - s->start);
}

// Events of the model: how often each happened, and the one that ended the run.
static void print_events(const lw_sim *sim, const lw_summary *s)
{
    const lw_model *model = lw_sim_model(sim);
    const int stopped = lw_sim_stopped(sim);
    for (int i = 0; i < lw_model_event_count(model); i++)
        printf("%-12s %s: %ld times\n", i ? "" : "events", lw_model_event_name(model, i),
               lw_sim_event_count(sim, i));
    if (stopped >= 0)
        printf("stopped      by event '%s' at t = %.10g s\n", lw_model_event_name(model, stopped),
               s->end);
}

static void print_ranks(const cli_ranks *r)
{
    printf("processes    %d; %.0f messages, %.4g MB, at most %.0f and %.4g MB from one\n",
           r->of.count, r->messages[0], r->bytes[0] / 1e6, r->messages[1], r->bytes[1] / 1e6);
}

static void json_ranks(cli_json *json, const cli_ranks *r)
{
    json_open(json, "ranks", '{');
    json_integer(json, "count", r->of.count);
    json_number(json, "messages", r->messages[0]);
    json_number(json, "most_messages", r->messages[1]);
    json_number(json, "bytes", r->bytes[0]);
    json_number(json, "most_bytes", r->bytes[1]);
    json_close(json, '}');
}

static void print_summary(const cli_arguments *arguments, const lw_sim *sim, const lw_summary *s,
                          const char *warnings, const cli_rows *w)
{
    char report[512];
    lw_sim_report(sim, report, sizeof report);
    printf("simulated    %g s in %.3g s of wall time (real-time factor %.4g)\n", s->end - s->start,
           s->wall, real_time_factor(s));
    printf("steps        %ld, rejected %ld, restarts %ld, evaluations %ld\n", s->steps, s->rejected,
           s->restarts, s->evaluations);
    printf("energy       E - Wnc kept to %.2e J; largest kinetic energy %.3g J\n", s->energy_error,
           s->energy_scale);
    print_drift(sim, s);
    print_lines("work", report);
    if (has_equal_steps(arguments, sim)) print_times(sim, s);
    if (s->events) printf("contacts     %ld: stops touched or left\n", s->events);
    print_events(sim, s);
    if (s->impulses) printf("impulses     %ld, their work %.6g J\n", s->impulses, s->impulse_work);
    if (s->projections)
        printf("positions    restored to the constraints %ld times\n", s->projections);
    printf("constraints  residual: position %.1e, velocity %.1e", s->residual[0], s->residual[1]);
    if (w->level >= LW_OBSERVE_REACTION) printf(", acceleration %.1e", s->residual[2]);
    putchar('\n');
    print_lines("warning", warnings + (*warnings == '\n'));
    if (arguments->processes && !arguments->processes->lost) print_ranks(arguments->processes);
    printf("rows         %ld\n", w->rows);
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
    if (arguments->events) printf("written      %s\n", arguments->events);
    cli_rows_print_measures(w);
}

static void json_options(cli_json *json, const lw_options *options)
{
    json_open(json, "options", '{');
    for (int i = 0; i < lw_option_count(); i++) {
        const lw_option_info o = lw_option_at(i);
        char text[LW_OPTION_STRING_SIZE] = "";
        lw_options_get(options, o.key, text, sizeof text);
        if (o.is_real || o.is_integer)
            json_number(json, o.key, strtod(text, NULL));
        else
            json_text(json, o.key, text);
    }
    json_close(json, '}');
}

static void json_times(cli_json *json, const lw_sim *sim, const lw_summary *s)
{
    lw_step_times times;
    lw_sim_times(sim, &times);
    json_open(json, "step_times", '{');
    json_integer(json, "steps", times.steps);
    json_number(json, "total", times.total);
    json_number(json, "least", times.min);
    json_number(json, "median", times.median);
    json_number(json, "p99", times.p99);
    json_number(json, "p999", times.p999);
    json_number(json, "worst", times.max);
    json_integer(json, "slow", times.slow);
    json_integer(json, "late", s->late);
    json_number(json, "behind", s->behind);
    json_close(json, '}');
}

// What of the file is ignored or changed, and inputs that nothing sets.
static void json_file(cli_json *json, const lw_model *model, const char *start)
{
    json_open(json, "ignored", '[');
    for (int i = 0; i < lw_model_warning_count(model); i++)
        json_text(json, NULL, lw_model_warning(model, i));
    json_close(json, ']');
    json_open(json, "inputs_unset", '[');
    for (int i = 0; i < count_unset(model, start); i++)
        json_text(json, NULL, lw_model_input_name(model, i));
    json_close(json, ']');
}

static void json_events(cli_json *json, const lw_sim *sim, const cli_rows *w)
{
    const lw_model *model = lw_sim_model(sim);
    const int stopped = lw_sim_stopped(sim);
    if (!lw_model_event_count(model)) return;
    json_open(json, "model_events", '{');
    for (int i = 0; i < lw_model_event_count(model); i++)
        json_integer(json, lw_model_event_name(model, i), lw_sim_event_count(sim, i));
    json_close(json, '}');
    cli_rows_json_events(w, json);
    if (stopped >= 0) json_text(json, "stopped_by", lw_model_event_name(model, stopped));
}

static void json_summary(const cli_arguments *arguments, const lw_sim *sim, const char *start,
                         const lw_summary *s, const cli_rows *w, const char *ended)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "version", lw_version());
    json_text(&json, "ended", ended);
    json_options(&json, lw_sim_options(sim));
    json_text(&json, "notice", lw_sim_notice(sim));
    char report[512];
    lw_sim_report(sim, report, sizeof report);
    json_text(&json, "report", report);
    if (*start) json_text(&json, "initial", start);
    json_file(&json, lw_sim_model(sim), start);
    json_number(&json, "start", s->start);
    json_number(&json, "end", s->end);
    json_number(&json, "valid_until", s->valid_until);
    json_integer(&json, "steps", s->steps);
    json_integer(&json, "rejected", s->rejected);
    json_integer(&json, "restarts", s->restarts);
    json_integer(&json, "projections", s->projections);
    json_integer(&json, "events", s->events);
    json_integer(&json, "impulses", s->impulses);
    json_number(&json, "impulse_work", s->impulse_work);
    json_events(&json, sim, w);
    json_integer(&json, "evaluations", s->evaluations);
    json_number(&json, "wall", s->wall);
    json_times(&json, sim, s);
    json_number(&json, "real_time_factor", real_time_factor(s));
    json_number(&json, "energy_error", s->energy_error);
    json_number(&json, "energy_scale", s->energy_scale);
    json_array(&json, "residual", s->residual, w->level >= LW_OBSERVE_REACTION ? 3 : 2);
    if (arguments->processes && !arguments->processes->lost)
        json_ranks(&json, arguments->processes);
    json_integer(&json, "rows", w->rows);
    cli_rows_json_measures(w, &json);
    json_open(&json, "files", '[');
    for (int i = 0; i < arguments->noutput; i++) json_text(&json, NULL, arguments->output[i]);
    if (arguments->events) json_text(&json, NULL, arguments->events);
    json_close(&json, ']');
    json_close(&json, '}');
}

// Why the run ended before its time.
static cli_exit report_end(const lw_sim *sim, const cli_rows *w, lw_status status)
{
    if (w->failed)
        return cli_complain(CLI_FAILED, "the run ended at t = %g s, for its results cannot be kept",
                            lw_sim_time(sim));
    if (status == LW_ERR_INTERRUPTED)
        return cli_complain(CLI_FAILED, "stopped at t = %g s; %s", lw_sim_time(sim),
                            w->rows ? "what was computed is kept" : "no row was written");
    cli_fail(status, lw_sim_error(sim));
    return cli_complain(CLI_FAILED, "the run ended at t = %g s; what was computed is kept",
                        lw_sim_time(sim));
}

// One run after the other from checkpoint to checkpoint, to the end.  *sim is a new one after each.
static lw_status run_all(const cli_arguments *arguments, lw_sim **sim, cli_rows *w, cli_exit *code)
{
    for (;;) {
        const lw_status status = lw_sim_run(*sim, w->level, cli_rows_write, w, cli_rows_poll, w);
        if (status != LW_ERR_INTERRUPTED) return status;
        if (!w->saving.due) {
            *code = cli_saving_stop(w);
            if (w->saving.file && !*code)
                cli_complain(CLI_FAILED, "`linkwork run --resume %s` continues",
                             arguments->checkpoint);
            return status;
        }
        *code = cli_saving_renew(w, sim);
        if (*code) return status;
    }
}

static cli_exit open_rows(const cli_arguments *arguments, lw_sim *sim, lw_result *after,
                          const lw_checkpoint *from, cli_rows *w)
{
    lw_error error = {0};
    cli_exit code = cli_rows_open(arguments, sim, after, lw_checkpoint_about(from).rows, w);
    if (!code && from) {
        const lw_status status = lw_checkpoint_restore(from, sim, w->measures, &error);
        if (status != LW_OK) code = cli_fail(status, &error);
    }
    if (!code) code = cli_saving_begin(arguments, sim, from, &w->saving);
    return code;
}

static void describe_start(const lw_checkpoint *from, char *start, size_t size)
{
    if (from) snprintf(start, size, "continues at t = %.10g s", lw_checkpoint_about(from).time);
}

// Runs *sim for its whole duration; the files are valid up to its end, also of a run that fails.
// `start` describes the row that the run resumes from, `after` is its result, `from` its checkpoint; "", NULL: none.
static cli_exit simulate(const cli_arguments *arguments, lw_sim **sim, char *start, size_t size,
                         lw_result *after, const lw_checkpoint *from)
{
    cli_rows w = {0};
    cli_ranks *processes = arguments->processes;
    if (processes) // before there are files
        cli_signals_of_processes(processes->of.rank == 0);
    else
        cli_catch_signals();
    cli_exit code = cli_ranks_agree(processes, open_rows(arguments, *sim, after, from, &w));
    cli_exit ended = CLI_DONE;
    if (code) {
        cli_rows_close(&w);
        cli_saving_end(&w.saving);
        cli_rows_free(&w);
        return code;
    }
    describe_start(from, start, size);
    if (!arguments->quiet && !arguments->json) print_choice(arguments, *sim, start);

    const size_t said = strlen(lw_sim_notice(*sim)); // a run adds its warnings
    w.said = arguments->quiet ? SIZE_MAX : said;
    w.progress = cli_progress_start("run", arguments->quiet, lw_sim_time(*sim));
    w.level = cli_rows_level(arguments, *sim, &w);
    if (processes)
        w.level = (lw_observe)processes->mpi->largest((int)w.level); // all observe the same
    const lw_status status = run_all(arguments, sim, &w, &ended);
    cli_progress_end(&w.progress);
    if (processes) processes->lost = w.failed || status == LW_ERR_INTERRUPTED;
    if (processes && !processes->lost)
        processes->mpi->totals(processes->messages, processes->bytes);
    const cli_exit closed = cli_rows_close(&w);

    lw_summary summary;
    lw_sim_summary(*sim, &summary);
    if (status != LW_OK && !ended) code = report_end(*sim, &w, status);
    const char *notice = lw_sim_notice(*sim);
    const size_t length = strlen(notice);
    if (arguments->json)
        json_summary(arguments, *sim, start, &summary, &w,
                     status == LW_OK                             ? "done"
                     : status == LW_ERR_INTERRUPTED && !w.failed ? "stopped"
                                                                 : "failed");
    else if (!arguments->quiet)
        print_summary(arguments, *sim, &summary, notice + (said < length ? said : length), &w);
    if (!code && summary.valid_until < summary.end)
        code = cli_complain(CLI_FAILED,
                            "results after t = %g s are unreliable, for the reason that the "
                            "warnings have",
                            summary.valid_until);
    cli_saving_end(&w.saving);
    cli_rows_free(&w);
    return code ? code : ended ? ended : closed;
}

// Sets the simulation to the row of --initial, and describes it.
static cli_exit go_on(const cli_arguments *arguments, lw_sim *sim, lw_result **after, char *start,
                      size_t size)
{
    lw_error error = {0};
    start[0] = 0;
    if (!arguments->initial) return CLI_DONE;
    lw_status status = lw_result_open(arguments->initial, after, &error);
    if (status == LW_OK) status = lw_result_restore(*after, -1, sim, start, size, &error);
    if (status == LW_OK) return CLI_DONE;
    cli_fail(status, &error);
    return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
}

// Options that a single run has no use for, or a batch.
static cli_exit check_kind(const cli_arguments *arguments)
{
    if (arguments->batch && arguments->initial)
        return cli_complain(CLI_USE, "--initial resumes one run, --batch starts many");
    if (arguments->from && strcmp(arguments->from, "start") != 0 &&
        strcmp(arguments->from, "rest") != 0)
        return cli_complain(CLI_USE, "--from %s: expected start or rest", arguments->from);
    if (arguments->from && (arguments->batch || arguments->initial))
        return cli_complain(CLI_USE, "--from %s is of one run that begins at t = 0",
                            arguments->from);
    if (arguments->batch && arguments->real_time)
        return cli_complain(CLI_USE, "--real-time is of one run, --batch starts many");
    if (!arguments->operand && !arguments->resume)
        return cli_complain(CLI_USE, "run: MODEL is missing (linkwork run --help)");
    if ((arguments->every > 0 || arguments->every_steps) && !arguments->checkpoint &&
        !arguments->resume)
        return cli_complain(CLI_USE, "--every is for --checkpoint FILE");
    if (arguments->events && (arguments->batch || arguments->checkpoint || arguments->resume))
        return cli_complain(
            CLI_USE,
            "--events is of one run without checkpoints; write a result, -o FILE.h5, "
            "and `linkwork convert FILE.h5 --events %s`",
            arguments->events);
    if (arguments->batch && (arguments->checkpoint || arguments->resume))
        return cli_complain(CLI_USE, "checkpoints are of one run, --batch starts many");
    if (!arguments->batch && (arguments->observed || arguments->ntable || arguments->lanes))
        return cli_complain(CLI_USE,
                            "--watch, --table and --lanes are for many runs: give --batch TABLE");
    return CLI_DONE;
}

// --real-time: the formulation with its own step, and its mode before what else is said of it.
static cli_exit set_real_time(lw_options *options)
{
    lw_error error = {0};
    lw_status status = LW_OK;
    int own = 0;
    while (!(lw_formulation_flags(own) & LW_FORMULATION_OWN_STEP)) own++;
    const char *name = lw_formulation_info(own).name;
    if (!strcmp(options->formulation, "auto"))
        status = lw_options_set(options, "formulation", name, &error);
    if (strcmp(options->formulation, name) != 0)
        return cli_complain(CLI_USE, "--real-time is a mode of %s, not of %s", name,
                            options->formulation);
    options->index3.mode = LW_INDEX3_MODE_REAL_TIME;
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

// --from rest: the model with its static equilibrium as the start.
static cli_exit begin_at_rest(const cli_arguments *arguments, lw_model **model)
{
    lw_model *balanced = NULL;
    lw_equilibrium equilibrium;
    lw_error error = {0};
    if (!arguments->from || strcmp(arguments->from, "rest") != 0) return CLI_DONE;
    const lw_status status = lw_model_equilibrium(*model, NULL, &balanced, &equilibrium, &error);
    if (status != LW_OK)
        return cli_complain(CLI_FAILED, "%s: --from rest: %s", arguments->operand, error.text);
    lw_model_destroy(*model);
    *model = balanced;
    if (!arguments->quiet) cli_analysis_warn(&equilibrium);
    return CLI_DONE;
}

static cli_exit resume(const cli_arguments *given)
{
    cli_arguments arguments = *given;
    lw_checkpoint *from = NULL;
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    char start[80] = "";
    cli_exit code = cli_resume_read(&arguments, &from, &model, &sim);
    if (!code) code = simulate(&arguments, &sim, start, sizeof start, NULL, from);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    lw_checkpoint_destroy(from);
    return code;
}

static cli_exit read_model(const cli_arguments *arguments, lw_model **model, lw_options *options)
{
    cli_exit code = cli_check_results(arguments);
    if (!code) code = cli_check_checkpoint(arguments);
    if (!code) code = cli_read(arguments, model, options);
    if (!code) code = begin_at_rest(arguments, model);
    if (!code && arguments->real_time) code = set_real_time(options);
    return code;
}

static cli_exit run_model(const cli_arguments *arguments)
{
    cli_ranks *processes = arguments->processes;
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    lw_result *after = NULL;
    lw_compiled *compiled = NULL;
    lw_options options;
    char start[1024];
    cli_exit code = read_model(arguments, &model, &options);
    code = cli_ranks_agree(processes, code);
    if (!code) {
        const lw_sim_desc desc = {.options = &options, .ranks = processes ? &processes->of : NULL};
        code = cli_compiled_create(arguments, model, &desc, &options, &sim, &compiled);
        if (!code) code = go_on(arguments, sim, &after, start, sizeof start);
        code = cli_ranks_agree(processes, code);
    }
    if (!code && !arguments->quiet && !arguments->json) cli_compiled_print(compiled);
    if (!code) code = simulate(arguments, &sim, start, sizeof start, after, NULL);
    lw_result_close(after);
    lw_sim_destroy(sim);
    lw_compiled_destroy(compiled);
    lw_model_destroy(model);
    return code;
}

// By the processes that mpirun has started.
static cli_exit run_on_ranks(const cli_arguments *given)
{
    cli_arguments arguments = *given;
    cli_ranks ranks = {0};
    cli_exit code = cli_ranks_begin(&ranks, &arguments);
    arguments.processes = &ranks;
    if (!code) code = run_model(&arguments);
    cli_ranks_end(&ranks, code);
    return code;
}

cli_exit cli_run(const cli_arguments *arguments)
{
    const cli_exit kind = check_kind(arguments);
    if (kind) return kind;
    if (arguments->ranks) return run_on_ranks(arguments);
    if (arguments->batch) return cli_batch(arguments);
    if (arguments->resume) return resume(arguments);
    return run_model(arguments);
}

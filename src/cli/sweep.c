// sweep.c -- linkwork sweep: one run for every combination of values; and `run --batch`.
#include "cli/batch.h"
#include "cli/compiled.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINES = 64 }; // of the table at the end; --json has them all

typedef struct sweep {
    const cli_arguments *arguments;
    cases cases;
    lw_sweep *all;
    lw_compiled *compiled; // of all of them; NULL: none
    lw_batch_writer *writer[CLI_MAX];
    int nwriter;
    long rows;      // output times
    double reached; // the last one of any instance
    bool failed;    // a file cannot be written
    cli_progress progress;
    lw_study *study; // quantities with reported statistics
} sweep;

// ----------------------------------------------------------------------------------------- outputs

static cli_exit open_outputs(sweep *s)
{
    const cli_arguments *a = s->arguments;
    lw_error error = {0};
    for (int i = 0; i < a->noutput; i++) {
        const lw_status status =
            lw_sweep_writer_create(a->output[i], s->all, a->level, &s->writer[i], &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            return CLI_FAILED;
        }
        lw_batch_writer_set_interrupt(s->writer[i], cli_is_stopped, NULL);
        s->nwriter++;
    }
    return CLI_DONE;
}

static cli_exit close_outputs(sweep *s)
{
    cli_exit code = CLI_DONE;
    lw_error error = {0};
    for (int i = 0; i < s->nwriter; i++) {
        const lw_status status = lw_batch_writer_close(s->writer[i], &error);
        if (status == LW_OK) continue;
        cli_fail(status, &error);
        code = CLI_FAILED;
    }
    s->nwriter = 0;
    return code;
}

// --------------------------------------------------------------------------- observed columns

static cli_exit create_study(sweep *s)
{
    lw_error error = {0};
    const lw_status status = lw_study_create(s->all, s->arguments->observed, &s->study, &error);
    if (status == LW_OK) return CLI_DONE;
    if (status != LW_ERR_ARGUMENT) return cli_fail(status, &error);
    return cli_complain(CLI_USE, "--watch: %s", error.text);
}

// Tables are written when all runs have ended: those that cannot be are refused before.
static cli_exit check_table(const sweep *s, const char *file)
{
    const char *slash = NULL;
    for (int k = 0; k < s->cases.columns; k++)
        if (strchr(s->cases.name[k], '/')) slash = s->cases.name[k];
    for (int k = 0; k < lw_study_columns(s->study); k++)
        if (strchr(lw_study_column(s->study, k).name, '/'))
            slash = lw_study_column(s->study, k).name;
    if (slash && cli_ends_in(file, ".h5"))
        return cli_complain(CLI_USE,
                            "%s: column '%s' has a slash, which names in HDF5 cannot have; "
                            "expected a table as .csv",
                            file, slash);
    return cli_check_place(file);
}

static cli_exit check_tables(const sweep *s)
{
    cli_exit code = CLI_DONE;
    for (int i = 0; i < s->arguments->ntable && !code; i++)
        code = check_table(s, s->arguments->table[i]);
    return code;
}

// --------------------------------------------------------------------------------------------- run

static lw_status write_rows(void *user, lw_batch *batch, double time)
{
    sweep *s = user;
    for (int i = 0; i < s->nwriter; i++) {
        const lw_status status = lw_batch_writer_rows(s->writer[i]);
        s->failed |= status == LW_ERR_IO;
        if (status != LW_OK) return status;
    }
    const lw_status counted = lw_study_row(s->study, batch, time);
    if (counted != LW_OK) return counted;
    if (s->rows == 0 || time > s->reached) s->rows++, s->reached = time;
    return LW_OK;
}

static int look_up(void *user, double time, double end)
{
    sweep *s = user;
    return cli_progress_step(&s->progress, time, end);
}

static cli_exit create(sweep *s, const lw_model *model, lw_options *options)
{
    const cli_arguments *a = s->arguments;
    const lw_batch_desc desc = {.options = options,
                                .instances = s->cases.n,
                                .threads = (int)options->threads,
                                .lanes = a->lanes,
                                .nvary = s->cases.columns,
                                .vary = s->cases.name,
                                .values = s->cases.value,
                                .unordered = a->noutput == 0};
    cli_name_signals(); // models of many variants take a while
    return cli_compiled_sweep(a, model, &desc, options, &s->all, &s->compiled);
}

// ----------------------------------------------------------------------------------------- summary

static const char *watched_name(const sweep *s, int k)
{
    return lw_study_column(s->study, k).name;
}

static void print_head(const sweep *s)
{
    const lw_options *o = lw_sweep_options(s->all);
    printf("model        %s\n", s->arguments->operand);
    printf("method       %s, %s; %d instances, %d thread%s\n", o->formulation, o->integrator,
           s->cases.n, lw_sweep_threads(s->all), lw_sweep_threads(s->all) > 1 ? "s" : "");
    for (const char *line = lw_sweep_notice(s->all); *line;) {
        const size_t n = strcspn(line, "\n");
        printf("             %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    fflush(stdout);
}

static const char *ending_of(const sweep *s, int i, const lw_summary *summary)
{
    if (lw_sweep_status(s->all, i) != LW_OK) return "failed";
    return summary->end < lw_sweep_options(s->all)->duration ? "stopped" : "done";
}

// NAN: no row had energies, or nothing has moved.
static double energy_error(const lw_summary *summary)
{
    return summary->energy_scale > 0 || summary->energy_error > 0 ? summary->energy_error : NAN;
}

static void print_instance(const sweep *s, int i)
{
    lw_summary summary;
    lw_sweep_summary(s->all, i, &summary);
    printf("%8d", i);
    for (int k = 0; k < s->cases.columns; k++)
        printf(" %14.6g", s->cases.value[(size_t)i * (size_t)s->cases.columns + (size_t)k]);
    printf(" %8ld ", summary.steps);
    if (isnan(energy_error(&summary)))
        printf("%10s", "-");
    else
        printf("%10.2e", summary.energy_error);
    for (int k = 0; k < lw_study_columns(s->study); k++) {
        const lw_statistics of = lw_study_statistics(s->study, i, k);
        printf(" %14.6g %14.6g", of.min, of.max);
    }
    const char *ending = ending_of(s, i, &summary);
    if (strcmp(ending, "done") != 0) printf("  %s at t = %g", ending, summary.end);
    putchar('\n');
}

static void print_table(const sweep *s)
{
    printf("\n%8s", "instance");
    for (int k = 0; k < s->cases.columns; k++) printf(" %14s", s->cases.name[k]);
    printf(" %8s %10s", "steps", "E - Wnc");
    for (int k = 0; k < lw_study_columns(s->study); k++) printf(" %29s", watched_name(s, k));
    printf("\n");
    if (lw_study_columns(s->study)) {
        printf("%8s", "");
        for (int k = 0; k < s->cases.columns; k++) printf(" %14s", "");
        printf(" %8s %10s", "", "J");
        for (int k = 0; k < lw_study_columns(s->study); k++) printf(" %14s %14s", "least", "most");
        printf("\n");
    }
    const int lines = s->cases.n < MAX_LINES ? s->cases.n : MAX_LINES;
    for (int i = 0; i < lines; i++) print_instance(s, i);
    if (lines < s->cases.n) printf("     ... %d more (all with --json)\n", s->cases.n - lines);
}

static void print_totals(const sweep *s)
{
    lw_summary one;
    double evaluations = 0, simulated = 0, wall = 0;
    for (int i = 0; i < s->cases.n; i++) {
        lw_sweep_summary(s->all, i, &one);
        evaluations += (double)one.evaluations;
        simulated += one.end - one.start;
        wall = one.wall;
    }
    printf("simulated    %g s in all in %.3g s of wall time; %.0f evaluations, %.0f ns each\n",
           simulated, wall, evaluations, evaluations > 0 ? 1e9 * wall / evaluations : 0);
    printf("rows         %ld output times\n", s->rows);
    for (int i = 0; i < s->arguments->noutput; i++)
        printf("written      %s\n", s->arguments->output[i]);
    for (int i = 0; i < s->arguments->ntable; i++)
        printf("table        %s\n", s->arguments->table[i]);
}

// ------------------------------------------------------------------------------------------ table

static cli_exit write_table(const sweep *s)
{
    const cli_arguments *a = s->arguments;
    lw_table *table = NULL;
    lw_error error = {0};
    if (!a->ntable) return CLI_DONE;
    lw_status status = lw_study_table(s->study, &table, &error);
    for (int i = 0; i < a->ntable && status == LW_OK; i++)
        status = lw_table_write(table, a->table[i], &error);
    lw_table_free(table);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

static void json_instance(const sweep *s, cli_json *json, int i)
{
    lw_summary summary;
    lw_sweep_summary(s->all, i, &summary);
    json_open(json, NULL, '{');
    json_integer(json, "instance", i);
    json_open(json, "values", '{');
    for (int k = 0; k < s->cases.columns; k++)
        json_number(json, s->cases.name[k],
                    s->cases.value[(size_t)i * (size_t)s->cases.columns + (size_t)k]);
    json_close(json, '}');
    json_text(json, "ended", ending_of(s, i, &summary));
    if (lw_sweep_status(s->all, i) != LW_OK)
        json_text(json, "failure", lw_sweep_failure(s->all, i));
    json_number(json, "end", summary.end);
    json_integer(json, "steps", summary.steps);
    json_integer(json, "rejected", summary.rejected);
    json_integer(json, "evaluations", summary.evaluations);
    json_number(json, "energy_error", energy_error(&summary));
    for (int k = 0; k < lw_study_columns(s->study); k++) {
        const lw_statistics of = lw_study_statistics(s->study, i, k);
        const double range[2] = {of.min, of.max};
        json_array(json, watched_name(s, k), range, 2);
    }
    json_close(json, '}');
}

static void print_json(const sweep *s, const char *ended)
{
    const lw_options *o = lw_sweep_options(s->all);
    lw_summary first;
    cli_json json = {.file = stdout};
    lw_sweep_summary(s->all, 0, &first);
    json_open(&json, NULL, '{');
    json_text(&json, "model", s->arguments->operand);
    json_text(&json, "version", lw_version());
    json_text(&json, "ended", ended);
    json_text(&json, "formulation", o->formulation);
    json_text(&json, "integrator", o->integrator);
    json_integer(&json, "threads", lw_sweep_threads(s->all));
    json_number(&json, "wall", first.wall);
    json_integer(&json, "moments", s->rows);
    json_open(&json, "instances", '[');
    for (int i = 0; i < s->cases.n; i++) json_instance(s, &json, i);
    json_close(&json, ']');
    json_open(&json, "files", '[');
    for (int i = 0; i < s->arguments->noutput; i++) json_text(&json, NULL, s->arguments->output[i]);
    for (int i = 0; i < s->arguments->ntable; i++) json_text(&json, NULL, s->arguments->table[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static int count_done(const sweep *s)
{
    int done = 0;
    for (int i = 0; i < s->cases.n; i++) {
        lw_summary summary;
        lw_sweep_summary(s->all, i, &summary);
        done += !strcmp(ending_of(s, i, &summary), "done");
    }
    return done;
}

// Why runs ended before their time.
static cli_exit report_end(const sweep *s, lw_status status)
{
    const int failed = lw_sweep_failed(s->all);
    for (int i = 0, printed = 0; i < s->cases.n && printed < 8; i++)
        if (lw_sweep_status(s->all, i) != LW_OK) {
            cli_complain(CLI_FAILED, "instance %d: %s", i, lw_sweep_failure(s->all, i));
            printed++;
        }
    if (failed) cli_complain(CLI_FAILED, "%d of %d instances failed", failed, s->cases.n);
    if (status == LW_ERR_INTERRUPTED)
        cli_complain(CLI_FAILED, "%d of %d instances were done", count_done(s), s->cases.n);
    const cli_exit code =
        status != LW_OK && !s->failed ? cli_fail(status, lw_sweep_error(s->all)) : CLI_DONE;
    return code ? code : status != LW_OK || failed ? CLI_FAILED : CLI_DONE;
}

static cli_exit simulate(sweep *s)
{
    const cli_arguments *a = s->arguments;
    cli_exit code = create_study(s);
    if (!code) code = check_tables(s);
    cli_catch_signals();
    if (!code) code = open_outputs(s);
    if (code) {
        close_outputs(s);
        return code;
    }
    if (!a->quiet && !a->json) cli_compiled_print(s->compiled), print_head(s);
    s->progress = cli_progress_start(a->verb, a->quiet, 0);
    const lw_status status = lw_sweep_run(s->all, write_rows, s, look_up, s);
    cli_progress_end(&s->progress);
    cli_compiled_warn(a, s->compiled);
    code = report_end(s, status);
    const cli_exit written = write_table(s); // first: the reader of what is printed may end early
    if (a->json) {
        print_json(s, status == LW_OK                ? "done"
                      : status == LW_ERR_INTERRUPTED ? "stopped"
                                                     : "failed");
    } else if (!a->quiet) {
        print_totals(s);
        print_table(s);
    }
    const cli_exit closed = close_outputs(s);
    return code ? code : written ? written : closed;
}

cli_exit cli_batch(const cli_arguments *arguments)
{
    sweep s = {.arguments = arguments};
    lw_model *model = NULL;
    lw_options options;
    cli_exit code = cli_check_results(arguments);
    if (!code) code = cli_read(arguments, &model, &options);
    if (!code) code = cases_read(arguments, model, &s.cases);
    if (!code) code = create(&s, model, &options);
    if (!code) code = simulate(&s);
    lw_study_destroy(s.study);
    lw_sweep_destroy(s.all);
    lw_compiled_destroy(s.compiled);
    lw_model_destroy(model);
    cases_free(&s.cases);
    return code;
}

cli_exit cli_sweep(const cli_arguments *arguments)
{
    if (cli_has_folder(arguments)) return cli_folder(arguments);
    if (!arguments->operand)
        return cli_complain(CLI_USE, "sweep: MODEL is missing (linkwork sweep --help)");
    if (arguments->nvary || arguments->batch) return cli_batch(arguments);
    return cli_complain(CLI_USE,
                        "sweep: nothing differs; give --vary NAME=FROM:TO:COUNT or --batch FILE");
}

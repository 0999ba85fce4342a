// sweep.c -- linkwork sweep: one run for every combination of values; and `run --batch`.
#include "cli/batch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 64 }; // of the table at the end; --json has them all

typedef struct sweep {
    const cli_arguments *arguments;
    cases cases;
    lw_sweep *all;
    lw_batch_writer *writer[CLI_MAX]; // at least one, that of no file if need be
    int nwriter;
    long rows;      // output times
    double reached; // the last one of any instance
    bool failed;    // a file cannot be written
    cli_progress progress;
    // quantities with reported ranges
    char *names;                      // --watch, cut at the commas
    int nobserved, observed[CLI_MAX]; // columns
    lw_running *running;              // [n][nobserved]
} sweep;

// ----------------------------------------------------------------------------------------- outputs

static cli_exit open_outputs(sweep *s)
{
    const cli_arguments *a = s->arguments;
    lw_error error = {0};
    for (int i = 0; i < (a->noutput ? a->noutput : 1); i++) {
        const lw_status status = lw_sweep_writer_create(a->noutput ? a->output[i] : NULL, s->all,
                                                        a->level, &s->writer[i], &error);
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

// Name of the level that adds a quantity to rows, by the last part of its name; NULL: there is no such quantity.
static const char *level_of(const char *name)
{
    const char *last = strrchr(name, '.');
    if (!last++) return NULL;
    for (int i = 0; i < lw_quantity_count(); i++) {
        const lw_quantity_info q = lw_quantity_at(i);
        const size_t n = strlen(q.item);
        if (n == 0 || strncmp(name, q.item, n) != 0 || name[n] != '.') continue;
        for (int k = 0; k < q.size; k++) {
            const size_t part = strlen(q.part[k]);
            if (strncmp(last, q.part[k], part) == 0 &&
                last[part + strspn(last + part, q.numbered ? "0123456789" : "")] == 0)
                return k == q.size - 1 ? q.last_level : q.level;
        }
    }
    return NULL;
}

static cli_exit find_watched(sweep *s, const char *name)
{
    const lw_batch_writer *w = s->writer[0];
    const int n = lw_batch_writer_columns(w);
    for (int i = 0; i < n; i++)
        if (!strcmp(lw_batch_writer_column(w, i).name, name)) {
            s->observed[s->nobserved++] = i;
            return CLI_DONE;
        }
    const char *level = level_of(name);
    if (level && cli_level(level) > (int)s->arguments->level)
        return cli_complain(CLI_USE, "--watch %s: needs --level %s; the rows are of level %s", name,
                            level, cli_levels[s->arguments->level]);
    const char **names = n > 0 ? calloc((size_t)n, sizeof *names) : NULL;
    char room[300];
    for (int i = 0; names && i < n; i++) names[i] = lw_batch_writer_column(w, i).name;
    cli_complain(CLI_USE, "--watch: results have no quantity '%s'%s", name,
                 names ? cli_suggestion(room, sizeof room, name, names, n) : "");
    free(names);
    return CLI_USE;
}

// Without --watch the measures.
static cli_exit find_measures(sweep *s)
{
    static const char kind[] = "measure.";
    const int n = lw_batch_writer_columns(s->writer[0]);
    for (int i = 0; i < n && s->nobserved < CLI_MAX; i++)
        if (!strncmp(lw_batch_writer_column(s->writer[0], i).name, kind, sizeof kind - 1))
            s->observed[s->nobserved++] = i;
    return CLI_DONE;
}

static cli_exit find_observed(sweep *s)
{
    const char *text = s->arguments->observed;
    if (!text) return find_measures(s);
    s->names = malloc(strlen(text) + 1);
    if (!s->names) return cli_complain(CLI_FAILED, "no memory");
    strcpy(s->names, text);
    for (char *name = s->names, *next; name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = 0;
        if (s->nobserved == CLI_MAX) return cli_complain(CLI_USE, "--watch: too many quantities");
        const cli_exit code = find_watched(s, name);
        if (code) return code;
    }
    return CLI_DONE;
}

static cli_exit prepare_observed(sweep *s)
{
    const cli_exit code = find_observed(s);
    if (code || s->nobserved == 0) return code;
    s->running = calloc((size_t)s->cases.n * (size_t)s->nobserved, sizeof *s->running);
    return s->running ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
}

static lw_running *running_of(const sweep *s, int instance, int k)
{
    return &s->running[(size_t)instance * (size_t)s->nobserved + (size_t)k];
}

static void observe_rows(sweep *s, const lw_batch *group)
{
    for (int i = 0; i < lw_batch_instances(group) && s->nobserved; i++) {
        const double *row = lw_batch_writer_last(s->writer[0], i);
        const int instance = lw_batch_number(group, i);
        if (!row || lw_batch_status(group, i) != LW_OK) continue; // its last row is an old one
        for (int k = 0; k < s->nobserved; k++)
            lw_running_add(running_of(s, instance, k), row[0], row[s->observed[k]]);
    }
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
    observe_rows(s, batch);
    if (s->rows == 0 || time > s->reached) s->rows++, s->reached = time;
    return LW_OK;
}

static int look_up(void *user, double time, double end)
{
    sweep *s = user;
    return cli_progress_step(&s->progress, time, end);
}

static cli_exit create(sweep *s, const lw_model *model, const lw_options *options)
{
    const cli_arguments *a = s->arguments;
    lw_error error = {0};
    const lw_batch_desc desc = {.options = options,
                                .instances = s->cases.n,
                                .threads = (int)options->threads,
                                .lanes = a->lanes,
                                .nvary = s->cases.columns,
                                .vary = s->cases.name,
                                .values = s->cases.value};
    const lw_status status = lw_sweep_create(model, &desc, &s->all, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

// ----------------------------------------------------------------------------------------- summary

static const char *watched_name(const sweep *s, int k)
{
    return lw_batch_writer_column(s->writer[0], s->observed[k]).name;
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

static void print_instance(const sweep *s, int i)
{
    lw_summary summary;
    lw_sweep_summary(s->all, i, &summary);
    printf("%8d", i);
    for (int k = 0; k < s->cases.columns; k++)
        printf(" %14.6g", s->cases.value[(size_t)i * (size_t)s->cases.columns + (size_t)k]);
    printf(" %8ld %10.2e", summary.steps, summary.energy_error);
    for (int k = 0; k < s->nobserved; k++) {
        const lw_statistics of = lw_running_statistics(running_of(s, i, k));
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
    for (int k = 0; k < s->nobserved; k++) printf(" %29s", watched_name(s, k));
    printf("\n");
    if (s->nobserved) {
        printf("%8s", "");
        for (int k = 0; k < s->cases.columns; k++) printf(" %14s", "");
        printf(" %8s %10s", "", "J");
        for (int k = 0; k < s->nobserved; k++) printf(" %14s %14s", "least", "most");
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
}

// ------------------------------------------------------------------------------------------ table

static void put_field(FILE *file, const char *text)
{
    fputs(",\"", file);
    for (const char *c = text; *c; c++) {
        if (*c == '"') fputc('"', file);
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
    }
    fputc('"', file);
}

// A number that is not known is an empty field.
static void put_value(FILE *file, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    fprintf(file, ",%s", isfinite(value) ? text : "");
}

static void put_head(const sweep *s, FILE *file)
{
    static const char *const parts[] = {"min", "max",  "range",       "mean",
                                        "rms", "last", "time_of_min", "time_of_max"};
    fputs("instance", file);
    for (int k = 0; k < s->cases.columns; k++) put_field(file, s->cases.name[k]);
    for (int k = 0; k < s->nobserved; k++)
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            char name[600];
            snprintf(name, sizeof name, "%s.%s", watched_name(s, k), parts[i]);
            put_field(file, name);
        }
    fputs(",end,steps,evaluations,energy_error,failure\n", file);
}

static void put_instance(const sweep *s, FILE *file, int i)
{
    lw_summary summary;
    lw_sweep_summary(s->all, i, &summary);
    fprintf(file, "%d", i);
    for (int k = 0; k < s->cases.columns; k++)
        put_value(file, s->cases.value[(size_t)i * (size_t)s->cases.columns + (size_t)k]);
    for (int k = 0; k < s->nobserved; k++) {
        const lw_statistics of = lw_running_statistics(running_of(s, i, k));
        const double values[] = {of.min, of.max,  of.range,       of.mean,
                                 of.rms, of.last, of.time_of_min, of.time_of_max};
        for (size_t n = 0; n < sizeof values / sizeof values[0]; n++) put_value(file, values[n]);
    }
    put_value(file, summary.end);
    fprintf(file, ",%ld,%ld", summary.steps, summary.evaluations);
    put_value(file, summary.energy_error);
    put_field(file, lw_sweep_status(s->all, i) != LW_OK         ? lw_sweep_failure(s->all, i)
                    : strcmp(ending_of(s, i, &summary), "done") ? "stopped"
                                                                : "");
    fputc('\n', file);
}

static cli_exit write_table(const sweep *s)
{
    const char *path = s->arguments->table;
    if (!path) return CLI_DONE;
    FILE *file = fopen(path, "w");
    if (!file) return cli_complain(CLI_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    put_head(s, file);
    for (int i = 0; i < s->cases.n; i++) put_instance(s, file, i);
    const bool failed = ferror(file) != 0;
    if (fclose(file) || failed)
        return cli_complain(CLI_FAILED, "%s: cannot be written completely: %s", path,
                            strerror(errno));
    return CLI_DONE;
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
    json_number(json, "energy_error", summary.energy_error);
    for (int k = 0; k < s->nobserved; k++) {
        const lw_statistics of = lw_running_statistics(running_of(s, i, k));
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
    cli_exit code = open_outputs(s);
    if (!code) code = prepare_observed(s);
    if (code) {
        close_outputs(s);
        return code;
    }
    cli_catch_signals();
    if (!a->quiet && !a->json) print_head(s);
    s->progress = cli_progress_start(a->verb, a->quiet, 0);
    const lw_status status = lw_sweep_run(s->all, write_rows, s, look_up, s);
    cli_progress_end(&s->progress);
    code = report_end(s, status);
    if (a->json) {
        print_json(s, status == LW_OK                ? "done"
                      : status == LW_ERR_INTERRUPTED ? "stopped"
                                                     : "failed");
    } else if (!a->quiet) {
        print_totals(s);
        print_table(s);
    }
    const cli_exit written = write_table(s), closed = close_outputs(s);
    return code ? code : written ? written : closed;
}

cli_exit cli_batch(const cli_arguments *arguments)
{
    sweep s = {.arguments = arguments};
    lw_model *model = NULL;
    lw_options options;
    cli_exit code = cli_check_results(arguments);
    if (!code) code = cases_read(arguments, &s.cases);
    if (!code) code = cli_read(arguments, &model, &options);
    if (!code) code = create(&s, model, &options);
    if (!code) code = simulate(&s);
    lw_sweep_destroy(s.all);
    lw_model_destroy(model);
    cases_free(&s.cases);
    free(s.names);
    free(s.running);
    return code;
}

cli_exit cli_sweep(const cli_arguments *arguments)
{
    if (arguments->nvary || arguments->batch) return cli_batch(arguments);
    return cli_complain(CLI_USE,
                        "sweep: nothing differs; give --vary NAME=FROM:TO:COUNT or --batch FILE");
}

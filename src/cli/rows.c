// rows.c -- rows of a run or of kinematics into files.
#include "cli/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status keep_event(cli_rows *w, const lw_observation *o)
{
    if (w->noccurrence == w->room) {
        const size_t room = w->room ? 2 * w->room : 64;
        cli_occurrence *list = realloc(w->occurrence, room * sizeof *list);
        if (!list) return LW_ERR_MEMORY;
        w->occurrence = list, w->room = room;
    }
    w->occurrence[w->noccurrence++] = (cli_occurrence){o->time, o->event - 1};
    return LW_OK;
}

lw_status cli_rows_write(void *user, const lw_observation *observation)
{
    cli_rows *w = user;
    const lw_status measured = lw_measures_row(w->measures, observation);
    if (measured != LW_OK) return measured;
    for (int i = 0; i < w->n; i++) {
        const lw_status status = lw_writer_row(w->writer[i], observation);
        w->failed |= status != LW_OK && status != LW_ERR_INTERRUPTED;
        if (status != LW_OK) return status;
    }
    if (!cli_events_row(w, observation)) {
        w->failed = true;
        return LW_ERR_IO;
    }
    w->rows++;
    if (observation->event && w->lists_events && keep_event(w, observation) != LW_OK)
        return LW_ERR_MEMORY;
    return w->saving.file ? cli_saving_row(w, observation) : LW_OK;
}

// Prints the warning that a run has added since the last call; its summary has them all.
static void print_warnings(cli_rows *w)
{
    const char *notice = lw_sim_notice(w->sim);
    if (w->said >= strlen(notice)) return;
    if (w->progress.bar) fputs("\r\033[K", stderr); // back to the margin, clear the line
    const char *line = notice + w->said;
    fprintf(stderr, "linkwork: warning: %s\n", line + (*line == '\n'));
    w->said = strlen(notice);
}

int cli_rows_poll(void *user, double time, double end)
{
    cli_rows *w = user;
    for (int i = 0; i < w->n; i++) w->failed |= lw_writer_poll(w->writer[i]) != LW_OK;
    print_warnings(w);
    return cli_progress_step(&w->progress, time, end) || w->failed;
}

cli_exit cli_rows_open(const cli_arguments *arguments, const lw_sim *sim, lw_result *after,
                       long keep, cli_rows *w)
{
    lw_error error = {0};
    const lw_writer_desc desc = {.sim = sim,
                                 .level = arguments->level,
                                 .after = after,
                                 .interrupt = cli_is_stopped,
                                 .keep = keep};
    w->model = lw_sim_model(sim);
    w->sim = sim;
    w->said = SIZE_MAX;
    w->rows = keep;
    w->lists_events = arguments->json;
    const lw_status made = lw_measures_create(w->model, &w->measures, &error);
    if (made != LW_OK) return cli_fail(made, &error);
    const cli_exit code = cli_events_open(arguments, w); // what it refuses leaves earlier results
    if (code) return code;
    for (int i = 0; i < arguments->noutput; i++) {
        const lw_status status =
            lw_writer_create(arguments->output[i], &desc, &w->writer[i], &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            // a column that does not exist; or the file is not that of the run that is continued
            return status == LW_ERR_ARGUMENT && !keep ? CLI_USE : CLI_FAILED;
        }
        w->n++;
    }
    return CLI_DONE;
}

cli_exit cli_rows_close(cli_rows *w)
{
    cli_exit code = CLI_DONE;
    lw_error error = {0};
    for (int i = 0; i < w->n; i++) {
        const lw_status status = lw_writer_close(w->writer[i], &error);
        if (status == LW_OK) continue;
        cli_fail(status, &error);
        code = CLI_FAILED;
    }
    return cli_events_close(w, code);
}

lw_observe cli_rows_level(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *w)
{
    const bool chosen = strcmp(lw_sim_options(sim)->columns, "auto") != 0;
    lw_observe level = chosen && w->n ? LW_OBSERVE_ENERGY : arguments->level;
    if (lw_measures_level(w->measures) > level) level = lw_measures_level(w->measures);
    for (int i = 0; i < w->n; i++)
        if (lw_writer_level(w->writer[i]) > level) level = lw_writer_level(w->writer[i]);
    return level > LW_OBSERVE_ENERGY ? level : LW_OBSERVE_ENERGY;
}

void cli_rows_free(cli_rows *w)
{
    lw_measures_destroy(w->measures);
    w->measures = NULL;
    free(w->occurrence);
    w->occurrence = NULL;
}

// ------------------------------------------------------------------------------------------ events

void cli_rows_json_events(const cli_rows *w, cli_json *json)
{
    json_open(json, "occurrences", '[');
    for (size_t i = 0; i < w->noccurrence; i++) {
        json_open(json, NULL, '{');
        json_text(json, "event", lw_model_event_name(w->model, w->occurrence[i].event));
        json_number(json, "time", w->occurrence[i].time);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// ---------------------------------------------------------------------------------------- measures

void cli_rows_print_measures(const cli_rows *w)
{
    const lw_model *model = w->model;
    const int n = lw_model_measure_count(model);
    if (n)
        printf("\n%-20s %-8s %13s %13s %13s %13s %13s %10s %10s\n", "measure", "unit", "min", "max",
               "mean", "rms", "last", "t of min", "t of max");
    for (int i = 0; i < n; i++) {
        const lw_statistics s = lw_measures_statistics(w->measures, i);
        printf("%-20s %-8s %13.6g %13.6g %13.6g %13.6g %13.6g %10.4g %10.4g\n",
               lw_model_measure_name(model, i), lw_measures_unit(w->measures, i), s.min, s.max,
               s.mean, s.rms, s.last, s.time_of_min, s.time_of_max);
    }
}

void cli_rows_json_measures(const cli_rows *w, cli_json *json)
{
    const lw_model *model = w->model;
    if (lw_model_measure_count(model) == 0) return;
    json_open(json, "measures", '{');
    for (int i = 0; i < lw_model_measure_count(model); i++) {
        const lw_statistics s = lw_measures_statistics(w->measures, i);
        json_open(json, lw_model_measure_name(model, i), '{');
        json_text(json, "unit", lw_measures_unit(w->measures, i));
        json_number(json, "min", s.min);
        json_number(json, "max", s.max);
        json_number(json, "range", s.range);
        json_number(json, "mean", s.mean);
        json_number(json, "rms", s.rms);
        json_number(json, "last", s.last);
        json_number(json, "time_of_min", s.time_of_min);
        json_number(json, "time_of_max", s.time_of_max);
        json_number(json, "integral", s.integral);
        json_close(json, '}');
    }
    json_close(json, '}');
}

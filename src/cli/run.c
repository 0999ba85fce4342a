// run.c -- linkwork run: simulate, write rows, summarise.
#include "cli/cli.h"

#include <string.h>

typedef struct writers {
    lw_csv *csv[CLI_MOST];
    int ncsv;
    long rows;
} writers;

static lw_status write_row(void *user, const lw_observation *observation)
{
    writers *w = user;
    for (int i = 0; i < w->ncsv; i++) {
        const lw_status status = lw_csv_row(w->csv[i], observation);
        if (status != LW_OK) return status;
    }
    w->rows++;
    return LW_OK;
}

static cli_exit check_outputs(const cli_arguments *arguments)
{
    for (int i = 0; i < arguments->noutput; i++) {
        const char *file = arguments->output[i];
        if (cli_ends_in(file, ".csv")) continue;
        if (cli_ends_in(file, ".h5"))
            return cli_complain(CLI_USE, "%s: HDF5 results are not supported yet, use .csv", file);
        return cli_complain(CLI_USE, "%s: results are written as .csv", file);
    }
    return CLI_DONE;
}

static cli_exit open_outputs(const cli_arguments *arguments, const lw_model *model, writers *w)
{
    lw_error error = {0};
    for (int i = 0; i < arguments->noutput; i++) {
        const lw_status status = lw_csv_create(model, LW_OBSERVE_REACTION, arguments->output[i],
                                               &w->csv[i], &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            return CLI_FAILED;
        }
        w->ncsv++;
    }
    return CLI_DONE;
}

static cli_exit close_outputs(const cli_arguments *arguments, writers *w)
{
    cli_exit code = CLI_DONE;
    for (int i = 0; i < w->ncsv; i++)
        if (lw_csv_close(w->csv[i]) != LW_OK)
            code = cli_complain(CLI_FAILED, "%s: cannot be written whole (disk full?)",
                                arguments->output[i]);
    return code;
}

static double real_time_factor(const lw_summary *s)
{
    return (s->end - s->start) / (s->wall > 0 ? s->wall : 1e-9); // a clock tick at least
}

static void print_choice(const cli_arguments *arguments, const lw_sim *sim)
{
    const lw_options *o = lw_sim_options(sim);
    const char *notice = lw_sim_notice(sim);
    printf("model        %s\n", arguments->operand);
    printf("method       %s, %s\n", o->formulation, o->integrator);
    for (const char *line = notice; line && *line;) { // the notice may have several lines
        const size_t n = strcspn(line, "\n");
        printf("             %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    fflush(stdout);
}

static void print_summary(const cli_arguments *arguments, const lw_summary *s, long rows)
{
    printf("simulated    %g s in %.3g s of wall time (real-time factor %.4g)\n", s->end - s->start,
           s->wall, real_time_factor(s));
    printf("steps        %ld, rejected %ld, restarts %ld, evaluations %ld\n", s->steps, s->rejected,
           s->restarts, s->evaluations);
    printf("energy       E - Wnc kept to %.2e J; largest kinetic energy %.3g J\n", s->energy_error,
           s->energy_scale);
    printf("constraints  residual: position %.1e, velocity %.1e, acceleration %.1e\n",
           s->residual[0], s->residual[1], s->residual[2]);
    printf("rows         %ld\n", rows);
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
}

static void json_options(cli_json *json, const lw_options *options)
{
    json_open(json, "options", '{');
#define JSON_WORD(key) json_text(json, #key, options->key);
#define JSON_REAL(key) json_number(json, #key, options->key);
#define X(key, kind, fallback, value, help) JSON_##kind(key)
    LW_OPTION_LIST(X)
#undef X
    json_close(json, '}');
}

static void json_summary(const cli_arguments *arguments, const lw_sim *sim, const lw_summary *s,
                         long rows, const char *ended)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "version", lw_version());
    json_text(&json, "ended", ended);
    json_options(&json, lw_sim_options(sim));
    json_text(&json, "notice", lw_sim_notice(sim));
    json_number(&json, "start", s->start);
    json_number(&json, "end", s->end);
    json_integer(&json, "steps", s->steps);
    json_integer(&json, "rejected", s->rejected);
    json_integer(&json, "restarts", s->restarts);
    json_integer(&json, "evaluations", s->evaluations);
    json_number(&json, "wall", s->wall);
    json_number(&json, "real_time_factor", real_time_factor(s));
    json_number(&json, "energy_error", s->energy_error);
    json_number(&json, "energy_scale", s->energy_scale);
    json_array(&json, "residual", s->residual, 3);
    json_integer(&json, "rows", rows);
    json_open(&json, "files", '[');
    for (int i = 0; i < arguments->noutput; i++) json_text(&json, NULL, arguments->output[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

// Moves `sim` through its whole duration; whatever ends it, the files are valid up to there.
static cli_exit simulate(const cli_arguments *arguments, lw_sim *sim)
{
    writers w = {0};
    cli_exit code = open_outputs(arguments, lw_sim_model(sim), &w);
    if (code) {
        close_outputs(arguments, &w);
        return code;
    }
    if (!arguments->quiet && !arguments->json) print_choice(arguments, sim);

    cli_progress progress = cli_progress_start("run", arguments->quiet, lw_sim_time(sim));
    const lw_status status = lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, &w, cli_progress_step,
                                        &progress);
    cli_progress_end(&progress);
    const cli_exit closed = close_outputs(arguments, &w);

    lw_summary summary;
    lw_sim_summary(sim, &summary);
    if (status == LW_ERR_INTERRUPTED) {
        code = cli_complain(CLI_FAILED, "stopped at t = %g s; what was computed is kept",
                            lw_sim_time(sim));
    } else if (status != LW_OK) {
        cli_fail(status, lw_sim_error(sim));
        code = cli_complain(CLI_FAILED, "the run ended at t = %g s; what was computed is kept",
                            lw_sim_time(sim));
    }
    if (arguments->json)
        json_summary(arguments, sim, &summary, w.rows,
                     status == LW_OK                ? "done"
                     : status == LW_ERR_INTERRUPTED ? "stopped"
                                                    : "failed");
    else if (!arguments->quiet)
        print_summary(arguments, &summary, w.rows);
    return code ? code : closed;
}

cli_exit cli_run(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    lw_options options;
    lw_error error = {0};
    cli_exit code = check_outputs(arguments);
    if (!code) code = cli_read(arguments, &model, &options);
    if (code) return code;

    const lw_sim_desc desc = {.options = &options};
    const lw_status status = lw_sim_create(model, &desc, &sim, &error);
    cli_catch_signals();
    code = status == LW_OK ? simulate(arguments, sim) : cli_fail(status, &error);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return code;
}

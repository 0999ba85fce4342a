// kinematics.c -- linkwork kinematics: the motion of a fully driven mechanism, without integration.
#include "cli/analysis.h"
#include "cli/rows.h"

#include <string.h>

static void print_report(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *rows,
                         const lw_summary *s)
{
    printf("model        %s\n", arguments->operand);
    printf("kinematics   t = %g to %g s, %ld rows, no integration; reactions by %s\n", 0.0,
           lw_sim_time(sim), rows->rows, lw_sim_options(sim)->formulation);
    printf("residuals    position %.1e, velocity %.1e\n", s->residual[0], s->residual[1]);
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
    cli_rows_print_measures(rows);
}

static void json_report(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *rows,
                        const lw_summary *s)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "formulation", lw_sim_options(sim)->formulation);
    json_number(&json, "end", lw_sim_time(sim));
    json_integer(&json, "rows", rows->rows);
    json_array(&json, "residual", s->residual, 2);
    cli_rows_json_measures(rows, &json);
    json_open(&json, "files", '[');
    for (int i = 0; i < arguments->noutput; i++) json_text(&json, NULL, arguments->output[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static cli_exit write_motion(const cli_arguments *arguments, lw_sim *sim, cli_rows *rows)
{
    lw_summary summary;
    cli_exit code = cli_rows_open(arguments, sim, NULL, 0, rows);
    if (code) {
        cli_rows_close(rows);
        return code;
    }
    cli_catch_signals();
    rows->progress = cli_progress_start("kinematics", arguments->quiet, lw_sim_time(sim));
    const lw_status status = lw_sim_kinematics(sim, cli_rows_level(arguments, sim, rows),
                                               cli_rows_write, rows, cli_rows_poll, rows);
    cli_progress_end(&rows->progress);
    code = cli_rows_close(rows);
    if (status == LW_ERR_ARGUMENT || status == LW_ERR_MODEL)
        return cli_complain(CLI_USE, "%s: %s", arguments->operand, lw_sim_error(sim)->text);
    if (status != LW_OK)
        return cli_complain(CLI_FAILED, "%s: %s; %ld rows are kept", arguments->operand,
                            lw_sim_error(sim)->text, rows->rows);
    lw_sim_summary(sim, &summary);
    if (!code && arguments->json)
        json_report(arguments, sim, rows, &summary);
    else if (!code && !arguments->quiet)
        print_report(arguments, sim, rows, &summary);
    return code;
}

static cli_exit move(const cli_arguments *arguments, lw_sim *sim)
{
    cli_rows rows = {0};
    const cli_exit code = write_motion(arguments, sim, &rows);
    cli_rows_free(&rows);
    return code;
}

cli_exit cli_kinematics(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    lw_options options;
    lw_error error = {0};
    cli_exit code = cli_check_results(arguments);
    if (!code) code = cli_read(arguments, &model, &options);
    if (code) return code;
    const lw_sim_desc desc = {.options = &options};
    const lw_status status = lw_sim_create(model, &desc, &sim, &error);
    code = status == LW_OK ? move(arguments, sim) : cli_fail(status, &error);
    if (!code && !arguments->quiet) cli_analysis_leaves_out(model, false);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return code;
}

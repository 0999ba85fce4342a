// rows.c -- rows of a run or of kinematics into files.
#include "cli/rows.h"

#include <string.h>

lw_status cli_rows_write(void *user, const lw_observation *observation)
{
    cli_rows *w = user;
    for (int i = 0; i < w->n; i++) {
        const lw_status status = lw_writer_row(w->writer[i], observation);
        w->failed |= status != LW_OK && status != LW_ERR_INTERRUPTED;
        if (status != LW_OK) return status;
    }
    w->rows++;
    return LW_OK;
}

int cli_rows_poll(void *user, double time, double end)
{
    cli_rows *w = user;
    for (int i = 0; i < w->n; i++) w->failed |= lw_writer_poll(w->writer[i]) != LW_OK;
    return cli_progress_step(&w->progress, time, end) || w->failed;
}

cli_exit cli_rows_open(const cli_arguments *arguments, const lw_sim *sim, lw_result *after,
                       cli_rows *w)
{
    lw_error error = {0};
    const lw_writer_desc desc = {
        .sim = sim, .level = arguments->level, .after = after, .interrupt = cli_is_stopped};
    for (int i = 0; i < arguments->noutput; i++) {
        const lw_status status =
            lw_writer_create(arguments->output[i], &desc, &w->writer[i], &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            return CLI_FAILED;
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
    return code;
}

lw_observe cli_rows_level(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *w)
{
    const bool chosen = strcmp(lw_sim_options(sim)->columns, "auto") != 0;
    lw_observe level = chosen && w->n ? LW_OBSERVE_ENERGY : arguments->level;
    for (int i = 0; i < w->n; i++)
        if (lw_writer_level(w->writer[i]) > level) level = lw_writer_level(w->writer[i]);
    return level > LW_OBSERVE_ENERGY ? level : LW_OBSERVE_ENERGY;
}

// events.c -- the table of events (--events): a line for each, in the order in which they happened.
#include "cli/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A name in quotes where a comma, a quote or a line end would divide it.
static void put_name(FILE *file, const char *name)
{
    if (strpbrk(name, ",\"\r\n"))
        cli_put_quoted(file, name);
    else
        fputs(name, file);
}

static void put_event(FILE *file, double time, const char *name, const char *action, long row)
{
    fprintf(file, "%.17g,", time);
    put_name(file, name);
    fputc(',', file);
    put_name(file, action);
    fprintf(file, ",%ld", row);
}

static cli_exit open_table(const char *path, const char *more, FILE **file)
{
    *file = fopen(path, "w");
    if (!*file) return cli_complain(CLI_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    fprintf(*file, "time,event,action,row%s\n", more);
    return CLI_DONE;
}

static cli_exit close_table(const char *path, FILE *file, cli_exit code)
{
    const int reason = cli_finish(file);
    return reason ? cli_complain(CLI_FAILED, "%s: cannot be written: %s", path, strerror(reason))
                  : code;
}

cli_exit cli_events_open(const cli_arguments *arguments, cli_rows *w)
{
    if (!arguments->events) return CLI_DONE;
    if (!lw_model_event_count(w->model))
        return cli_complain(CLI_USE, "--events %s: the model has no events", arguments->events);
    w->events_path = arguments->events;
    return open_table(arguments->events, "", &w->events);
}

bool cli_events_row(const cli_rows *w, const lw_observation *o)
{
    if (!w->events) return true;
    for (int i = 0; i < o->noccurrence; i++) {
        const int event = o->occurrence[i].event;
        put_event(w->events, o->occurrence[i].time, lw_model_event_name(w->model, event),
                  lw_model_event_action(w->model, event), w->rows);
        fputc('\n', w->events);
    }
    return !ferror(w->events);
}

cli_exit cli_events_close(cli_rows *w, cli_exit code)
{
    FILE *file = w->events;
    w->events = NULL;
    return file ? close_table(w->events_path, file, code) : code;
}

// Rows of events without a table of them: written before results had one.
static bool is_older(lw_result *result, long count)
{
    int column;
    lw_statistics rows;
    return count == 0 && lw_result_find_column(result, "sys.event", &column, NULL) == LW_OK &&
           lw_result_statistics(result, column, &rows, NULL) == LW_OK && rows.max > 0;
}

cli_exit cli_events_convert(const cli_arguments *arguments, lw_result *result)
{
    const lw_result_event *event;
    long count;
    int column;
    FILE *file;
    lw_error error = {0};
    const bool many = lw_result_find_column(result, "instance", &column, NULL) == LW_OK;
    const lw_status status = lw_result_events(result, &event, &count, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return CLI_INPUT;
    }
    if (!lw_result_model(result))
        return cli_complain(CLI_INPUT, "%s: has no events; those of a run are in its .h5 file",
                            arguments->operand);
    if (is_older(result, count))
        return cli_complain(
            CLI_INPUT,
            "%s: has rows of events but no table of all, which earlier versions did "
            "not write; run the model again",
            arguments->operand);
    const cli_exit code = open_table(arguments->events, many ? ",instance" : "", &file);
    if (code) return code;
    for (long i = 0; i < count; i++) {
        put_event(file, event[i].time, event[i].name, event[i].action, event[i].row);
        if (many) fprintf(file, ",%d", event[i].instance);
        fputc('\n', file);
    }
    return close_table(arguments->events, file, CLI_DONE);
}

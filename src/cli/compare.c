// compare.c -- linkwork compare: the same run by several formulations.
#include "cli/cli.h"
#include "cli/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 16 };

typedef struct method {
    char label[80];
    lw_options options;
    lw_summary summary;
    double difference[TRACK_COUNT]; ///< against the first; unused in the first
} method;

// "aba:rk4" into the options of a run
static cli_exit parse_method(const char *word, size_t length, const lw_options *base, method *m)
{
    char text[sizeof m->label];
    lw_error error = {0};
    if (length == 0 || length >= sizeof text)
        return cli_complain(CLI_USE, "--formulations: expected NAME or NAME:INTEGRATOR, got '%.*s'",
                            (int)length, word);
    memcpy(text, word, length);
    text[length] = 0;
    memcpy(m->label, text, sizeof text);
    m->options = *base;
    char *integrator = strchr(text, ':');
    if (integrator) *integrator++ = 0;
    lw_status status = lw_options_set(&m->options, "formulation", text, &error);
    if (status == LW_OK && integrator)
        status = lw_options_set(&m->options, "integrator", integrator, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

static cli_exit parse_methods(const char *list, const lw_options *base, method *m, int *count)
{
    *count = 0;
    for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        if (*count == METHODS) return cli_complain(CLI_USE, "--formulations: at most %d", METHODS);
        const cli_exit code = parse_method(word, strcspn(word, ","), base, &m[(*count)++]);
        if (code) return code;
    }
    if (*count >= 2) return CLI_DONE;
    return cli_complain(CLI_USE, "--formulations: at least two are needed, as in aba,momenta");
}

static cli_exit run_method(const lw_model *model, method *m, bool quiet, lw_row row, void *user)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    const lw_sim_desc desc = {.options = &m->options};
    lw_status status = lw_sim_create(model, &desc, &sim, &error);
    if (status != LW_OK) {
        lw_error named = error;
        const char *text = error.text[0] ? error.text : lw_status_text(status);
        snprintf(named.text, sizeof named.text, "%s: %.*s", m->label,
                 (int)(sizeof named.text - sizeof m->label - 3), text);
        return cli_fail(status, &named);
    }
    m->options = *lw_sim_options(sim);
    cli_progress progress = cli_progress_start(m->label, quiet, lw_sim_time(sim));
    status = lw_sim_run(sim, LW_OBSERVE_REACTION, row, user, cli_progress_step, &progress);
    cli_progress_end(&progress);
    cli_exit code = CLI_DONE;
    if (status == LW_ERR_INTERRUPTED) {
        code = cli_complain(CLI_FAILED, "%s: stopped at t = %g s", m->label, lw_sim_time(sim));
    } else if (status != LW_OK) {
        code = cli_complain(CLI_FAILED, "%s: ended at t = %g s", m->label, lw_sim_time(sim));
        cli_fail(status, lw_sim_error(sim));
    }
    lw_sim_summary(sim, &m->summary);
    lw_sim_destroy(sim);
    return code;
}

// The first method leaves its rows in `first`, the others their distance from them.
static cli_exit run_methods(const cli_arguments *arguments, const lw_model *model, method *m,
                            int count, cli_track *first)
{
    cli_exit code = run_method(model, &m[0], arguments->quiet, track_record, first);
    double *row = calloc(first->width, sizeof *row);
    if (!row) return cli_complain(CLI_FAILED, "%s", lw_status_text(LW_ERR_MEMORY));
    for (int i = 1; i < count && !code; i++) {
        track_compare compare = {.reference = first, .row = row};
        code = run_method(model, &m[i], arguments->quiet, track_difference, &compare);
        memcpy(m[i].difference, compare.difference, sizeof compare.difference);
        if (!code && compare.nrow != first->nrow)
            code = cli_complain(CLI_FAILED, "%s has %ld rows, %s %ld", m[i].label, compare.nrow,
                                m[0].label, first->nrow);
    }
    free(row);
    return code;
}

static void print_difference(double value)
{
    if (isnan(value))
        printf("%18s", "-");
    else
        printf("%18.3e", value);
}

static void print_differences(const method *m, int count, const cli_track *first)
{
    printf("largest difference from %s (%s), %ld rows\n\n%-30s%12s", m[0].label,
           m[0].options.integrator, first->nrow, "", "scale");
    for (int i = 1; i < count; i++) printf("%18s", m[i].label);
    putchar('\n');
    for (int g = 0; g < TRACK_COUNT; g++) {
        char name[64];
        snprintf(name, sizeof name, "%s [%s]", track_group_name((track_group)g),
                 track_group_unit((track_group)g));
        printf("%-30s%12.4g", name, first->scale[g]);
        for (int i = 1; i < count; i++) print_difference(m[i].difference[g]);
        putchar('\n');
    }
}

/** Rows of the second table: name, value of a method. */
#define FIGURE_LIST(X)                                                                             \
    X("energy_error", "energy error [J]", summary.energy_error)                                    \
    X("residual_position", "constraint residual: position", summary.residual[0])                   \
    X("residual_velocity", "                     velocity", summary.residual[1])                   \
    X("residual_acceleration", "                     acceleration", summary.residual[2])           \
    X("valid_until", "results are valid until [s]", summary.valid_until)                           \
    X("steps", "steps", summary.steps)                                                             \
    X("rejected", "rejected", summary.rejected)                                                    \
    X("evaluations", "evaluations", summary.evaluations)                                           \
    X("wall", "wall time [s]", summary.wall)

static void print_figures(const method *m, int count)
{
    printf("\n%-30s", "");
    for (int i = 0; i < count; i++) printf("%18s", m[i].label);
#define X(key, text, value)                                                                        \
    printf("\n%-30s", text);                                                                       \
    for (int i = 0; i < count; i++) printf("%18.4g", (double)m[i].value);
    FIGURE_LIST(X)
#undef X
    putchar('\n');
}

static void json_compare(const cli_arguments *arguments, const method *m, int count,
                         const cli_track *first)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "version", lw_version());
    json_integer(&json, "rows", first->nrow);
    json_open(&json, "methods", '[');
    for (int i = 0; i < count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", m[i].label);
        json_text(&json, "formulation", m[i].options.formulation);
        json_text(&json, "integrator", m[i].options.integrator);
#define X(key, text, value) json_number(&json, key, (double)m[i].value);
        FIGURE_LIST(X)
#undef X
        json_open(&json, i ? "difference" : "scale", '{');
        for (int g = 0; g < TRACK_COUNT; g++)
            json_number(&json, track_group_name((track_group)g),
                        i ? m[i].difference[g] : first->scale[g]);
        json_close(&json, '}');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static cli_exit refuse(const cli_arguments *arguments)
{
    if (!arguments->formulations)
        return cli_complain(CLI_USE, "compare: --formulations A,B,... is missing");
    for (int i = 0; i < arguments->nsetting; i++)
        if (!strcmp(arguments->setting[i].key, "formulation"))
            return cli_complain(CLI_USE, "compare: name them in --formulations A,B,...");
    return CLI_DONE;
}

// Differences of results that are not valid are no measure of either method.
static cli_exit check_validity(const method *m, int count)
{
    cli_exit code = CLI_DONE;
    for (int i = 0; i < count; i++)
        if (m[i].summary.valid_until < m[i].summary.end)
            code = cli_complain(CLI_FAILED,
                                "%s: results after t = %g s are unreliable; `linkwork run` has the "
                                "reason among its warnings",
                                m[i].label, m[i].summary.valid_until);
    return code;
}

cli_exit cli_compare(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_options options;
    method m[METHODS] = {0};
    int count = 0;
    cli_track first;
    cli_exit code = refuse(arguments);
    if (!code) code = cli_read(arguments, &model, &options);
    if (code) return code;
    code = parse_methods(arguments->formulations, &options, m, &count);
    if (!code && options.sample == LW_SAMPLE_STEPS)
        code = cli_complain(CLI_USE, "compare: rows must be at equal times, so not --sample steps");

    track_start(&first, model);
    cli_catch_signals();
    if (!code) code = run_methods(arguments, model, m, count, &first);
    if (!code && arguments->json) {
        json_compare(arguments, m, count, &first);
    } else if (!code && !arguments->quiet) {
        print_differences(m, count, &first);
        print_figures(m, count);
    }
    if (!code) code = check_validity(m, count);
    track_end(&first);
    lw_model_destroy(model);
    return code;
}

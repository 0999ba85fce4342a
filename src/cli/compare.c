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
    double difference[TRACK_COUNT]; ///< against the reference; unused in the reference
    double default_step;            ///< of equal steps, as none is given; 0: others
    lw_status refused;              ///< why it cannot simulate the model, LW_OK: it can
    lw_error reason;
} method;

/** Methods in the order given; the reference is the first that can simulate the model. */
typedef struct comparison {
    method method[METHODS];
    int count, reference, nrun;
} comparison;

// Equal steps have no tolerances: those that are given are for the others.
static void drop_tolerances(lw_options *options)
{
    lw_options without;
    lw_options_default(&without);
    options->rtol = without.rtol, options->atol = without.atol;
}

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
    if (status != LW_OK) return cli_fail(status, &error);
    if (!strcmp(m->options.formulation, "rattle")) drop_tolerances(&m->options);
    return CLI_DONE;
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

// A formulation that cannot simulate the model is left out with its reason; the others are compared.
static cli_exit leave_out(method *m, lw_status status, const lw_error *error)
{
    m->refused = status;
    m->reason = *error;
    if (!error->text[0])
        snprintf(m->reason.text, sizeof m->reason.text, "%s", lw_status_text(status));
    for (int g = 0; g < TRACK_COUNT; g++) m->difference[g] = NAN;
    if (status == LW_ERR_MEMORY) return cli_fail(status, error);
    return CLI_DONE;
}

static cli_exit run_method(const lw_model *model, method *m, bool quiet, lw_row row, void *user)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    const lw_sim_desc desc = {.options = &m->options};
    lw_status status = lw_sim_create(model, &desc, &sim, &error);
    if (status != LW_OK) return leave_out(m, status, &error);
    m->default_step = m->options.step > 0 ? 0 : lw_sim_options(sim)->step;
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

static cli_exit compare_to_first(const cli_arguments *arguments, const lw_model *model,
                                 const comparison *c, method *m, cli_track *first)
{
    double *row = calloc(first->width, sizeof *row);
    if (!row) return cli_complain(CLI_FAILED, "%s", lw_status_text(LW_ERR_MEMORY));
    track_compare compare = {.reference = first, .row = row};
    cli_exit code = run_method(model, m, arguments->quiet, track_difference, &compare);
    free(row);
    if (code || m->refused) return code;
    memcpy(m->difference, compare.difference, sizeof compare.difference);
    if (compare.nrow != first->nrow)
        code = cli_complain(CLI_FAILED, "%s has %ld rows, %s %ld", m->label, compare.nrow,
                            c->method[c->reference].label, first->nrow);
    return code;
}

// The reference leaves its rows in `first`, the others their distance from them.
static cli_exit run_methods(const cli_arguments *arguments, const lw_model *model, comparison *c,
                            cli_track *first)
{
    cli_exit code = CLI_DONE;
    c->reference = -1;
    for (int i = 0; i < c->count && !code; i++) {
        method *m = &c->method[i];
        code = c->reference < 0 ? run_method(model, m, arguments->quiet, track_record, first)
                                : compare_to_first(arguments, model, c, m, first);
        if (m->refused) continue;
        if (c->reference < 0) c->reference = i;
        c->nrun++;
    }
    if (code || c->nrun >= 2) return code;
    for (int i = 0; i < c->count; i++) {
        lw_error named = c->method[i].reason;
        if (!c->method[i].refused) continue;
        snprintf(named.text, sizeof named.text, "%s: %.*s", c->method[i].label,
                 (int)(sizeof named.text - sizeof c->method[i].label - 3),
                 c->method[i].reason.text);
        code = cli_fail(c->method[i].refused, &named);
    }
    return code;
}

static void print_difference(double value)
{
    if (isnan(value))
        printf("%18s", "-");
    else
        printf("%18.3e", value);
}

static void print_differences(const comparison *c, const cli_track *first)
{
    const method *reference = &c->method[c->reference];
    printf("largest difference from %s (%s), %ld rows\n\n%-30s%12s", reference->label,
           reference->options.integrator, first->nrow, "", "scale");
    for (int i = 0; i < c->count; i++)
        if (i != c->reference) printf("%18s", c->method[i].label);
    putchar('\n');
    for (int g = 0; g < TRACK_COUNT; g++) {
        char name[64];
        snprintf(name, sizeof name, "%s [%s]", track_group_name((track_group)g),
                 track_group_unit((track_group)g));
        printf("%-30s%12.4g", name, first->scale[g]);
        for (int i = 0; i < c->count; i++)
            if (i != c->reference) print_difference(c->method[i].difference[g]);
        putchar('\n');
    }
}

static void print_reasons(const comparison *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->method[i].refused)
            printf("\n%s is left out: %s\n", c->method[i].label, c->method[i].reason.text);
}

// Equal steps have no tolerance: the length that they have where none is given.
static void print_steps(const comparison *c)
{
    for (int i = 0; i < c->count; i++) {
        const method *m = &c->method[i];
        if (m->default_step > 0)
            printf("\n%s takes equal steps, of %g s as none is given: differences that shrink with "
                   "--step %g are errors of the step\n",
                   m->label, m->default_step, m->default_step / 2);
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
    for (int i = 0; i < count; i++)                                                                \
        m[i].refused ? printf("%18s", "-") : printf("%18.4g", (double)m[i].value);
    FIGURE_LIST(X)
#undef X
    putchar('\n');
}

static void json_method(cli_json *json, const method *m, const double *numbers, const char *what)
{
    json_open(json, NULL, '{');
    json_text(json, "name", m->label);
    json_text(json, "formulation", m->options.formulation);
    json_text(json, "integrator", m->options.integrator);
    if (m->refused) {
        json_text(json, "left_out", m->reason.text);
        json_close(json, '}');
        return;
    }
#define X(key, text, value) json_number(json, key, (double)m->value);
    FIGURE_LIST(X)
#undef X
    if (m->default_step > 0) json_number(json, "default_step", m->default_step);
    json_open(json, what, '{');
    for (int g = 0; g < TRACK_COUNT; g++)
        json_number(json, track_group_name((track_group)g), numbers[g]);
    json_close(json, '}');
    json_close(json, '}');
}

static void json_compare(const cli_arguments *arguments, const comparison *c,
                         const cli_track *first)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "version", lw_version());
    json_integer(&json, "rows", first->nrow);
    json_open(&json, "methods", '[');
    for (int i = 0; i < c->count; i++) {
        const bool other = i != c->reference;
        json_method(&json, &c->method[i], other ? c->method[i].difference : first->scale,
                    other ? "difference" : "scale");
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
        if (!m[i].refused && m[i].summary.valid_until < m[i].summary.end)
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
    comparison *c = calloc(1, sizeof *c);
    cli_track first;
    cli_exit code = refuse(arguments);
    if (!code && !c) code = cli_complain(CLI_FAILED, "%s", lw_status_text(LW_ERR_MEMORY));
    if (!code) code = cli_read(arguments, &model, &options);
    if (code) return free(c), code;
    code = parse_methods(arguments->formulations, &options, c->method, &c->count);
    if (!code && options.sample == LW_SAMPLE_STEPS)
        code = cli_complain(CLI_USE, "compare: rows must be at equal times, so not --sample steps");

    track_start(&first, model);
    cli_catch_signals();
    if (!code) code = run_methods(arguments, model, c, &first);
    if (!code && arguments->json) {
        json_compare(arguments, c, &first);
    } else if (!code && !arguments->quiet) {
        print_differences(c, &first);
        print_figures(c->method, c->count);
        print_reasons(c);
        print_steps(c);
    }
    if (!code) code = check_validity(c->method, c->count);
    track_end(&first);
    lw_model_destroy(model);
    free(c);
    return code;
}

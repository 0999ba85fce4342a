// linearize.c -- linkwork linearize: matrices of a mechanism for small deviations from a state.
#include "cli/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef const char *(*name_of)(const lw_linear *, int);

static void json_names(cli_json *json, const char *key, const lw_linear *linear, int n,
                       name_of name)
{
    json_open(json, key, '[');
    for (int i = 0; i < n; i++) json_text(json, NULL, name(linear, i));
    json_close(json, ']');
}

static void json_matrix(cli_json *json, const char *key, const double *x, int rows, int columns)
{
    json_open(json, key, '[');
    for (int i = 0; i < rows; i++) json_array(json, NULL, x + (size_t)i * (size_t)columns, columns);
    json_close(json, ']');
}

static void json_report(FILE *file, const cli_arguments *arguments, const cli_analysis *a,
                        const lw_linear *linear)
{
    const int n = lw_linear_states(linear), p = lw_linear_inputs(linear),
              r = lw_linear_outputs(linear);
    cli_json json = {.file = file};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "at", cli_analysis_state(a));
    json_names(&json, "states", linear, n, lw_linear_state_name);
    json_names(&json, "inputs", linear, p, lw_linear_input_name);
    json_names(&json, "outputs", linear, r, lw_linear_output_name);
    json_matrix(&json, "A", lw_linear_A(linear), n, n);
    json_matrix(&json, "B", lw_linear_B(linear), n, p);
    json_matrix(&json, "C", lw_linear_C(linear), r, n);
    json_matrix(&json, "D", lw_linear_D(linear), r, p);
    json_matrix(&json, "mass_matrix", lw_linear_mass(linear), lw_linear_dof(linear),
                lw_linear_dof(linear));
    json_array(&json, "accelerations", lw_linear_accelerations(linear), lw_linear_dof(linear));
    json_close(&json, '}');
}

enum { COLUMNS = 6 }; // of a matrix that one block of the table has

static void print_matrix(const char *name, const double *x, int rows, int columns,
                         const lw_linear *linear, name_of row, name_of column)
{
    for (int first = 0; first < columns; first += COLUMNS) {
        const int last = first + COLUMNS < columns ? first + COLUMNS : columns;
        printf("\n%-20s", name);
        for (int j = first; j < last; j++) printf(" %18.18s", column(linear, j));
        for (int i = 0; i < rows; i++) {
            printf("\n%-20.20s", row(linear, i));
            for (int j = first; j < last; j++)
                printf(" %18.10g", x[(size_t)i * (size_t)columns + (size_t)j]);
        }
        putchar('\n');
    }
}

static void print_report(const cli_arguments *arguments, const cli_analysis *a,
                         const lw_linear *linear)
{
    const int n = lw_linear_states(linear), p = lw_linear_inputs(linear),
              r = lw_linear_outputs(linear);
    printf("model        %s\n", arguments->operand);
    cli_print_state(a, linear);
    printf("system       %d states, %d input%s, %d outputs\n", n, p, p == 1 ? "" : "s", r);
    print_matrix("A", lw_linear_A(linear), n, n, linear, lw_linear_state_name,
                 lw_linear_state_name);
    print_matrix("B", lw_linear_B(linear), n, p, linear, lw_linear_state_name,
                 lw_linear_input_name);
    if (arguments->outputs) {
        print_matrix("C", lw_linear_C(linear), r, n, linear, lw_linear_output_name,
                     lw_linear_state_name);
        print_matrix("D", lw_linear_D(linear), r, p, linear, lw_linear_output_name,
                     lw_linear_input_name);
    }
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
}

static cli_exit write_hdf5(const cli_arguments *arguments, const lw_linear *linear)
{
    const char *path;
    lw_error error = {0};
    cli_exit code = cli_begin_file(arguments, &path);
    if (code) return code;
    const lw_status status = lw_linear_write_hdf5(linear, path, &error);
    if (status != LW_OK) code = cli_fail_file(status, &error);
    const cli_exit ended = cli_end_file(arguments, status == LW_OK);
    return code ? code : ended;
}

static cli_exit write_file(const cli_arguments *arguments, const cli_analysis *a,
                           const lw_linear *linear)
{
    FILE *file = NULL;
    if (!arguments->noutput) return CLI_DONE;
    if (cli_ends_in(arguments->output[0], ".h5")) return write_hdf5(arguments, linear);
    const cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    if (!cli_ends_in(arguments->output[0], ".mat")) {
        json_report(file, arguments, a, linear);
        return cli_close(arguments, file, true);
    }
    lw_error error = {0};
    const lw_status status = lw_linear_write_mat(linear, file, &error);
    const cli_exit closed = cli_close(arguments, file, status == LW_OK);
    return closed || status == LW_OK ? closed : cli_fail(status, &error);
}

static cli_exit report(const cli_arguments *arguments, const cli_analysis *a)
{
    lw_linear *linear = NULL;
    lw_error error = {0};
    const lw_linear_desc desc = cli_analysis_linear(arguments, a);
    const lw_status status = lw_linearize(a->model, &desc, &linear, &error);
    if (status != LW_OK) return cli_analysis_fail(arguments, status, &error);
    const cli_exit code = write_file(arguments, a, linear);
    if (!code && arguments->json)
        json_report(stdout, arguments, a, linear);
    else if (!code && !arguments->quiet)
        print_report(arguments, a, linear);
    lw_linear_destroy(linear);
    return code;
}

// --actuators: inputs for the efforts of coordinates, after those of the model.
static cli_exit add_actuators(const cli_arguments *arguments, cli_analysis *a)
{
    lw_model *actuated = NULL;
    lw_error error = {0};
    if (!arguments->actuators) return CLI_DONE;
    const lw_status status =
        lw_model_actuate(a->model, arguments->actuators, false, &actuated, &error);
    if (status == LW_ERR_ARGUMENT) return cli_complain(CLI_USE, "%s", error.text);
    if (status != LW_OK) return cli_fail(status, &error);
    if (a->q && (lw_model_tree_nq(actuated) != lw_model_tree_nq(a->model))) {
        lw_model_destroy(actuated);
        return cli_complain(CLI_USE, "--actuators: a driven coordinate has no state in --initial");
    }
    const int before = lw_model_input_count(a->model), n = lw_model_input_count(actuated);
    double *inputs = calloc((size_t)n + 1, sizeof *inputs);
    for (int i = 0; inputs && i < before; i++) inputs[i] = a->inputs[i];
    lw_model_destroy(a->model);
    a->model = actuated;
    free(a->inputs);
    a->inputs = inputs;
    return inputs ? CLI_DONE : cli_complain(CLI_FAILED, "no memory");
}

cli_exit cli_linearize(const cli_arguments *arguments)
{
    cli_analysis a;
    bool balance;
    for (int i = 0; i < arguments->noutput; i++)
        if (!cli_ends_in(arguments->output[i], ".json") &&
            !cli_ends_in(arguments->output[i], ".mat") && !cli_ends_in(arguments->output[i], ".h5"))
            return cli_complain(CLI_USE, "%s: linear systems are written as .json, .mat or .h5",
                                arguments->output[i]);
    cli_exit code = cli_analysis_at(arguments, false, &balance);
    if (code) return code;
    code = cli_analysis_begin(arguments, balance, &a);
    if (!code) code = add_actuators(arguments, &a);
    if (!code) code = report(arguments, &a);
    if (!code && a.balanced && !arguments->quiet) cli_analysis_warn(&a.equilibrium);
    if (!code && !arguments->quiet) cli_analysis_leaves_out(a.model, false);
    cli_analysis_end(&a);
    return code;
}

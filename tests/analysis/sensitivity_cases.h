// sensitivity_cases.h -- sensitivities of models in YAML, by each method.
#ifndef LWT_ANALYSIS_SENSITIVITY_CASES_H
#define LWT_ANALYSIS_SENSITIVITY_CASES_H

#include "analysis/analysis_cases.h"

#include <linkwork/io.h>

// The model and the options of a text.
static inline lw_model *parse(const char *text, lw_options *options)
{
    lw_error error;
    lw_model *model = NULL;
    lw_options_default(options);
    lwt_ok(lw_model_parse(text, strlen(text), "model.yaml", &(lw_read_desc){.format = "yaml"},
                          &model, options, &error),
           &error);
    return model;
}

static inline lw_sensitivity *differentiate(const lw_model *model, const lw_options *options, int n,
                                            const char *const *by, const char *columns)
{
    lw_error error;
    lw_sensitivity *s = NULL;
    const lw_sensitivity_desc desc = {.options = options, .nby = n, .by = by, .columns = columns};
    lwt_ok(lw_sensitivity_create(model, &desc, &s, &error), &error);
    return s;
}

static inline lw_sensitivity *by_method(const lw_model *model, const lw_options *options, int n,
                                        const char *const *by, lw_statistic statistic,
                                        lw_sensitivity_method method)
{
    lw_error error;
    lw_sensitivity *s = NULL;
    const lw_sensitivity_desc desc = {
        .options = options, .nby = n, .by = by, .method = method, .statistic = statistic};
    lwt_ok(lw_sensitivity_create(model, &desc, &s, &error), &error);
    return s;
}

static inline lw_sensitivity *by_adjoint(const lw_model *model, const lw_options *options, int n,
                                         const char *const *by, lw_statistic statistic)
{
    return by_method(model, options, n, by, statistic, LW_SENSITIVITY_ADJOINT);
}

// Both differentiate the same steps.
static inline void same_forward(const lw_sensitivity *adjoint, const lw_model *model,
                                const lw_options *options, int n, const char *const *by,
                                lw_statistic statistic)
{
    lw_sensitivity *s = by_method(model, options, n, by, statistic, LW_SENSITIVITY_FORWARD);
    for (int c = 0; c < lw_sensitivity_columns(s); c++)
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(adjoint, k, c, statistic, NULL);
            lwt_near(lw_sensitivity_at(s, k, c, statistic, NULL), expected,
                     1e-9 * (1 + fabs(expected)));
        }
    lw_sensitivity_destroy(s);
}

// The last values of all columns depend on all parameters, by more than `smallest`, as by differences.
static inline void same_derivatives(const lw_sensitivity *s, const lw_sensitivity *differences,
                                    int n, double smallest, double tolerance)
{
    for (int c = 0; c < lw_sensitivity_columns(s); c++)
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(differences, k, c, LW_STATISTIC_LAST, NULL);
            assert_true(fabs(expected) > smallest);
            lwt_near(lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL), expected, tolerance);
        }
}

static inline void adjoint_agrees(const char *text, int n, const char *const *by, double smallest,
                                  double tolerance)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *differences = differentiate(model, &options, n, by, NULL);
    options.rtol = options.atol = 1e-12;
    lw_sensitivity *s = by_adjoint(model, &options, n, by, LW_STATISTIC_LAST);
    same_derivatives(s, differences, n, smallest, tolerance);
    lw_sensitivity_destroy(s);
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
}

// Derivatives of all columns by both methods are those of differences of runs, within `tolerance` of 1 + their size.
static inline void all_methods_agree(const char *text, int n, const char *const *by,
                                     lw_statistic statistic, double tolerance)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *differences = differentiate(model, &options, n, by, NULL);
    options.rtol = options.atol = 1e-12;
    lw_sensitivity *s = by_adjoint(model, &options, n, by, statistic);
    assert_string_equal(lw_sensitivity_warning(s), "");
    for (int c = 0; c < lw_sensitivity_columns(s); c++) {
        lwt_near(lw_sensitivity_value(s, c, statistic),
                 lw_sensitivity_value(differences, c, statistic), 1e-8);
        double largest = 0;
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(differences, k, c, statistic, NULL);
            largest = fmax(largest, fabs(expected));
            lwt_near(lw_sensitivity_at(s, k, c, statistic, NULL), expected,
                     tolerance * (1 + fabs(expected)));
        }
        assert_true(largest > 1e-3); // it depends on something
    }
    same_forward(s, model, &options, n, by, statistic);
    lw_sensitivity_destroy(s);
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
}

// An event ends this run at a time that depends on all parameters.
__attribute__((unused)) static const char cart[] =
    "linkwork: 1\n"
    "parameters: {m: 2, F: 3, d: 0.75}\n"
    "functions: {push: {type: constant, value: F}}\n"
    "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],\n"
    "  effort: {q0: push}}}\n"
    "events: {end: {when: A.q0 > d, stop: true}}\n"
    "measures: {v: joint.A.qd0}\n"
    "simulation: {duration: 5, sample: 0.1}\n";

#endif

// given.h -- inputs of tests: models from strings and files, options one by one.
#ifndef LWT_GIVEN_H
#define LWT_GIVEN_H

#include <linkwork/linkwork.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/** The model of a YAML string. The caller destroys it. */
static inline lw_model *lwt_yaml(const char *text)
{
    static const lw_read_desc yaml = {.format = "yaml"};
    lw_model *model;
    lw_error error;
    if (lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, NULL, &error) != LW_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return model;
}

/** The model of a file below tests/. The caller destroys it. */
static inline lw_model *lwt_test_model(const char *folder, const char *name)
{
    char path[512];
    lw_model *model;
    lw_error error;
    snprintf(path, sizeof path, "%s/tests/%s/%s.yaml", LW_SOURCE_DIR, folder, name);
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

static inline lw_model *lwt_golden(const char *name)
{
    return lwt_test_model("golden", name);
}

static inline lw_model *lwt_structure(const char *name)
{
    return lwt_test_model("models/structure", name);
}

static inline void lwt_set(lw_options *options, const char *key, const char *value)
{
    lw_error error;
    if (lw_options_set(options, key, value, &error) != LW_OK) fail_msg("%s", error.text);
}

/** A simulation with options: keys and values in turn, NULL at the end. The caller destroys it. */
static inline lw_sim *lwt_simulate(const lw_model *model, const char *const *settings)
{
    lw_options options;
    lw_sim *sim;
    lw_error error;
    lw_options_default(&options);
    for (; *settings; settings += 2) lwt_set(&options, settings[0], settings[1]);
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    return sim;
}
#define LWT_SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/** Of the present state; the observation is lost. */
static inline double lwt_energy(lw_sim *sim)
{
    const lw_observation *o;
    if (lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    return o->kinetic + o->potential;
}

#endif

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

/** The model of a file of the sources. The caller destroys it. */
static inline lw_model *lwt_read(const char *name)
{
    char path[512];
    lw_model *model;
    lw_error error;
    snprintf(path, sizeof path, "%s/%s", LW_SOURCE_DIR, name);
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

/** The model of a file below tests/. The caller destroys it. */
static inline lw_model *lwt_test_model(const char *below, const char *name)
{
    char file[256];
    snprintf(file, sizeof file, "tests/%s/%s.yaml", below, name);
    return lwt_read(file);
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

/** The caller destroys it. */
static inline lw_sim *lwt_sim(const lw_model *model, const lw_options *options)
{
    lw_sim *sim;
    lw_error error;
    if (lw_sim_create(model, &(lw_sim_desc){.options = options}, &sim, &error) != LW_OK)
        fail_msg("%s", error.text);
    return sim;
}

/** A simulation with options: keys and values in turn, NULL at the end. The caller destroys it. */
static inline lw_sim *lwt_simulate(const lw_model *model, const char *const *settings)
{
    lw_options options;
    lw_options_default(&options);
    for (; *settings; settings += 2) lwt_set(&options, settings[0], settings[1]);
    return lwt_sim(model, &options);
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

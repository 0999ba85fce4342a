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

/** The model of tests/golden/NAME.yaml. The caller destroys it. */
static inline lw_model *lwt_golden(const char *name)
{
    char path[512];
    lw_model *model;
    lw_error error;
    snprintf(path, sizeof path, "%s/tests/golden/%s.yaml", LW_SOURCE_DIR, name);
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

static inline void lwt_set(lw_options *options, const char *key, const char *value)
{
    lw_error error;
    if (lw_options_set(options, key, value, &error) != LW_OK) fail_msg("%s", error.text);
}

#endif

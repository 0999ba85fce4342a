// test_index.c -- names of entries: equal for the same code alone.
#include "compiled/index.h"

#include "base/build_id.h"
#include "codegen/element_models.h"
#include "codegen/sources.h"
#include "support/random_model.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdlib.h>

static const lwi_compiler gcc = {.version = "gcc 1.0"}, clang = {.version = "clang 1.0"};

typedef char name[LWI_SHA256_SIZE];

static void name_of(const lw_model *model, name key)
{
    const lwi_index_entry entry = {model, 1u << LW_CODEGEN_rates, 4, 4, NULL};
    assert_true(lwi_index_key(&entry, &gcc, key));
}

static void skip_without_mark(void)
{
    const unsigned char *id;
    if (lwi_build_id(&id) == 0) skip();
}

static bool begins_number(const char *text, size_t i)
{
    return text[i] >= '0' && text[i] <= '9' && i > 0 && strchr(" [-", text[i - 1]);
}

// The text with the next number behind `from` replaced by the next double, read again.  NULL: it is no model.
static lw_model *changed(const char *text, size_t *from)
{
    static const lw_read_desc yaml = {.format = "yaml"};
    lw_model *model = NULL;
    while (text[*from] && !begins_number(text, *from)) ++*from;
    if (!text[*from]) return NULL;
    char *end, *other = malloc(strlen(text) + 40);
    const double value = strtod(text + *from, &end);
    sprintf(other, "%.*s%.17g%s", (int)*from, text, nextafter(value, 1e9), end);
    lw_model_parse(other, strlen(other), "m.yaml", &yaml, &model, NULL, NULL);
    free(other);
    *from = (size_t)(end - text);
    return model;
}

static char *written(const lw_model *model)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_int_equal(LW_OK, lw_model_write(model, NULL, file, NULL));
    fclose(file);
    return text;
}

static bool same_code(const lw_model *a, const lw_model *b)
{
    lwi_codegen_sources x, y;
    bool same = true;
    if (lwi_codegen_print_sources(a, 1u << LW_CODEGEN_rates, 0, 0, NULL, NULL, &x, NULL) != LW_OK)
        return true;
    if (lwi_codegen_print_sources(b, 1u << LW_CODEGEN_rates, 0, 0, NULL, NULL, &y, NULL) == LW_OK)
        for (int i = 0; i < 2; i++) same = same && !strcmp(x.text[i], y.text[i]);
    lwi_codegen_free_sources(&x);
    lwi_codegen_free_sources(&y);
    return same;
}

// Of every kind of force, signal, motion and mount: where a number changes and the name does not, the code does not either.
static void each_number_of_a_model_is_in_the_name(void **unused)
{
    (void)unused;
    int models = 0;
    skip_without_mark();
    for (int i = 0; i < LWI_COUNT(elements); i++) {
        lw_model *model = element_model(&elements[i]), *other;
        char *text = written(model);
        name key, its;
        name_of(model, key);
        lw_model *again = lwt_yaml(text);
        name_of(again, its);
        assert_string_equal(key, its);
        for (size_t from = 0; text[from];) {
            if (!(other = changed(text, &from))) continue;
            name_of(other, its);
            models += strcmp(key, its) != 0;
            if (!strcmp(key, its) && !same_code(model, other))
                fail_msg("%s: the number before '%.40s'", elements[i].name, text + from);
            lw_model_destroy(other);
        }
        free(text);
        lw_model_destroy(again);
        lw_model_destroy(model);
    }
    assert_true(models > 1000);
}

static void what_is_generated_is_in_the_name(void **unused)
{
    (void)unused;
    skip_without_mark();
    int code[2] = {1, 2}, other_code[2] = {1, 3};
    const lwi_partition partition = {2, code}, other = {2, other_code}, shorter = {1, code};
    lw_model *model = lwt_read("examples/models/four_bar.yaml");
    const lwi_index_entry entry[] = {
        {model, 1, 4, 4, NULL},       {model, 3, 4, 4, NULL},   {model, 1, 8, 4, NULL},
        {model, 1, 4, 4, &partition}, {model, 1, 4, 4, &other}, {model, 1, 4, 4, &shorter},
        {model, 1, 4, 4, &partition}, {model, 1, 4, 8, NULL},   {model, 1, 4, 4, NULL}};
    name key[LWI_COUNT(entry)];
    for (int i = 0; i < LWI_COUNT(entry); i++)
        assert_true(lwi_index_key(&entry[i], i < 8 ? &gcc : &clang, key[i]));
    for (int i = 0; i < LWI_COUNT(entry); i++)
        for (int k = 0; k < i; k++) assert_int_equal(i == 6 && k == 3, !strcmp(key[i], key[k]));
    lw_model_destroy(model);
}

// A file with parameters and one with the numbers that they have are one model.
static void parameters_are_not_in_the_name_but_their_values(void **unused)
{
    (void)unused;
    skip_without_mark();
    static const char body[] = "bodies: {a: {mass: %s, inertia: [1, 1, 1, 0, 0, 0], position: "
                               "[1, 0, 0]}}\njoints: {A: {type: revolute, between: [ground, a], "
                               "at: [0, 0, 0], axis: [0, 0, 1]}}\n";
    char text[3][400];
    name key[3];
    int n = snprintf(text[0], sizeof text[0], "linkwork: 1\nparameters: {m: 2}\n");
    snprintf(text[0] + n, sizeof text[0] - (size_t)n, body, "m + 1");
    n = snprintf(text[1], sizeof text[1], "linkwork: 1\n");
    snprintf(text[1] + n, sizeof text[1] - (size_t)n, body, "3");
    n = snprintf(text[2], sizeof text[2], "linkwork: 1\nparameters: {m: 2.5}\n");
    snprintf(text[2] + n, sizeof text[2] - (size_t)n, body, "m + 1");
    for (int i = 0; i < 3; i++) {
        lw_model *model = lwt_yaml(text[i]);
        name_of(model, key[i]);
        lw_model_destroy(model);
    }
    assert_string_equal(key[0], key[1]);
    assert_string_not_equal(key[0], key[2]);
}

static lw_model *with_states(const char *signals, const char *scale)
{
    char text[900];
    snprintf(
        text, sizeof text,
        "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
        "%sforces: {f: {type: wrench, body: a, torque: [0, 0, 1], scale: {type: lag, of: t, "
        "time: 1}}, g: {type: wrench, body: a, torque: [0, 0, 1], scale: %s}}\n",
        signals, scale);
    return lwt_yaml(text);
}

// The states of two unnamed signals may be in either order: such models have no name.
static void the_order_of_states_is_in_the_name(void **unused)
{
    (void)unused;
    skip_without_mark();
    static const char *const signals[] = {
        "signals: {p: {type: lag, of: t, time: 1}, q: {type: lag, of: t, time: 1}}\n",
        "signals: {q: {type: lag, of: t, time: 1}, p: {type: lag, of: t, time: 1}}\n"};
    name key[2];
    for (int i = 0; i < 2; i++) {
        lw_model *model = with_states(signals[i], "p");
        name_of(model, key[i]);
        lw_model_destroy(model);
    }
    assert_string_not_equal(key[0], key[1]);
    lw_model *model = with_states("", "{type: lag, of: t, time: 1}");
    const lwi_index_entry entry = {model, 1u << LW_CODEGEN_rates, 4, 4, NULL};
    assert_false(lwi_index_key(&entry, &gcc, key[0]));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_of_a_model_is_in_the_name),
        cmocka_unit_test(what_is_generated_is_in_the_name),
        cmocka_unit_test(parameters_are_not_in_the_name_but_their_values),
        cmocka_unit_test(the_order_of_states_is_in_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_options.c -- options of a run: defaults, values from text, refusals; the lists of parts.
#include "simulate/options.h"

#include "base/numbers.h"

#include <linkwork/simulate.h>

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void defaults_are_those_of_the_list(void **state)
{
    (void)state;
    lw_options o;
    lw_options_default(&o);
    assert_true(lw_option_count() == 23);
    for (int i = 0; i < lw_option_count(); i++) {
        const lw_option_info info = lw_option_at(i);
        char text[LW_OPTION_STRING_SIZE];
        double number, expected;
        assert_int_equal(lw_options_get(&o, info.key, text, sizeof text), LW_OK);
        if (lwi_number_read(info.fallback, &expected)) // "1e-9" is written as "1e-09"
            assert_true(lwi_number_read(text, &number) && number == expected);
        else
            assert_string_equal(text, info.fallback);
        assert_false(lwi_options_differ(&o, info.key));
    }
    assert_null(lw_option_at(lw_option_count()).key);
    assert_null(lw_option_at(-1).key);
    assert_string_equal(o.formulation, "auto");
    assert_true(o.duration == 10 && o.rtol == 1e-9 && o.atol == 1e-9 && o.threads == 0);
    assert_true(o.kappa == LW_KAPPA_AUTO && o.state == LW_STATE_AUTO && o.plan == LW_PLAN_AUTO);
    assert_true(o.baumgarte[0] == 0 && o.baumgarte[1] == 0);
    assert_true(o.index3.regularisation == 1e-8 && o.index3.coordinates == 6);
    assert_int_equal(lwi_options_check(&o, NULL), LW_OK);
    assert_true(o.sample == 0.01);
    assert_false(lwi_options_interpolate(&o));
}

static void values_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
    } settings[] = {
        {"formulation", "dense"}, {"integrator", "rk4"}, {"duration", "2.5"},
        {"step", "1e-3"},         {"rtol", "1e-12"},     {"atol", "1E-11"},
        {"atol-p", "3e-9"},       {"sample", "0.25"},    {"sample-mode", "interpolate"},
        {"max_steps", "1000"},
    };
    lw_options o;
    lw_error error = {0};
    lw_options_default(&o);
    for (int i = 0; i < LWI_COUNT(settings); i++)
        assert_int_equal(lw_options_set(&o, settings[i].key, settings[i].value, &error), LW_OK);
    assert_string_equal(o.formulation, "dense");
    assert_string_equal(o.integrator, "rk4");
    assert_true(o.duration == 2.5 && o.step == 1e-3 && o.rtol == 1e-12 && o.atol == 1e-11);
    assert_true(o.atol_p == 3e-9 && o.max_steps == 1000);
    assert_true(o.sample == 0.25 && lwi_options_interpolate(&o));
    assert_int_equal(lw_options_set(&o, "sample", "steps", &error), LW_OK);
    assert_true(o.sample == LW_SAMPLE_STEPS);
    assert_int_equal(lw_options_set(&o, "duration", "0", &error), LW_OK); // one row
    assert_int_equal(lwi_options_check(&o, &error), LW_OK);
}

// A refused value leaves the options alone and says what was expected.
static void rejections_name_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *expected;
    } cases[] = {
        {"duratoin", "1", "did you mean 'duration'"},
        {"sample_rate", "1", "did you mean 'sample"},
        {"zzzzzzzzzzzzz", "1", "there is no option"},
        {"rtol_________________________________", "1", "there is no option"},
        {"integrator", "dopri", "did you mean 'dopri5'"},
        {"integrator", "xyzzyxyzzyxyzzy", "auto, dopri5, bs3"},
        {"formulation", "momentum", "did you mean 'momenta'"},
        {"formulation", "", "auto, momenta, aba, dense"},
        {"rtol", "0", "positive"},
        {"rtol", "-1e-9", "positive"},
        {"rtol", "1", "below 1"},
        {"atol", "nan", "finite"},
        {"atol", "1e999", "finite"},
        {"atol", "0x1p-3", "finite"},
        {"atol", "1e-9 ", "finite"},
        {"atol", "1,5", "finite"},
        {"atol", "", "finite"},
        {"step", "-1", "zero or a positive"},
        {"duration", "inf", "finite"},
        {"duration", "-2", "positive"},
        {"max_steps", "2.5", "whole number"},
        {"kappa", "0", "positive rate"},
        {"kappa", "nan", "auto, nor none"},
        {"kappa", "-2", "positive rate"},
        {"sample", "0", "positive number of seconds"},
        {"sample", "-0.1", "steps"},
        {"sample", "step", "steps"},
        {"sample_mode", "linear", "none of stop, interpolate"},
        {"compiled", "always", "none of off, on, auto"},
        {"formulation", "a_name_of_more_than_thirty_one_letters", "longer than 31"},
        {"state", "momentum", "none of auto, speeds, momenta; did you mean 'momenta'?"},
        {"project", "alway", "did you mean 'always'?"},
        {"plan", "tree", "none of auto, comb, balanced, mixed"},
        {"baumgarte", "10", "two gains"},
        {"baumgarte", "10,-1", "two gains"},
        {"index3", "tangent=3", "tangent: '3' is not 0, 1 or 2"},
        {"index3", "mode=real-time,control=error", "mode=real-time"},
    };
    lw_options o, before;
    lw_options_default(&o);
    before = o;
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_error error = {0};
        assert_int_equal(lw_options_set(&o, cases[i].key, cases[i].value, &error), LW_ERR_ARGUMENT);
        if (!strstr(error.text, cases[i].expected))
            fail_msg("%s=%s: '%s', expected '%s'", cases[i].key, cases[i].value, error.text,
                     cases[i].expected);
        assert_memory_equal(&o, &before, sizeof o);
    }
    assert_int_equal(lw_options_set(&o, "rtol", NULL, NULL), LW_ERR_ARGUMENT);
}

// Values that a caller writes into the struct are checked too.
static void struct_is_checked(void **state)
{
    (void)state;
    lw_options o;
    lw_error error = {0};
    lw_options_default(&o);
    o.atol = NAN;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "atol"));
    lw_options_default(&o);
    o.sample = -0.01;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    lw_options_default(&o);
    o.project = LW_PROJECT_COUNT;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "project: 3 is none of its 3 choices"));
    lw_options_default(&o);
    o.kappa = -2;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    lw_options_default(&o);
    o.threads = 257;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    lw_options_default(&o);
    o.index3.coordinates = 8;
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "index3: coordinates: 8 is not 6 or 7"));
    lw_options_default(&o);
    memset(o.formulation, 'a', sizeof o.formulation);
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
    lw_options_default(&o);
    strcpy(o.integrator, "euler");
    assert_int_equal(lwi_options_check(&o, &error), LW_ERR_ARGUMENT);
}

// lw_options_get and lw_options_set are inverse to each other.
static void text_and_value_are_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *text; // text NULL: the value itself
    } cases[] = {
        {"formulation", "rcr", NULL},
        {"duration", "2.50", "2.5"},
        {"rtol", "0.1", NULL},
        {"atol", "3e-7", "3e-07"},
        {"step", "0.30000000000000004", NULL},
        {"threads", "3", NULL},
        {"max_steps", "1e6", "1000000"},
        {"state", "momenta", NULL},
        {"kappa", "none", NULL},
        {"kappa", "2.5", NULL},
        {"independent", "A, B.q0", NULL},
        {"columns", "joint.*.f*, spring.strut.force,joint.A.fx@F1", NULL},
        {"sample", "steps", NULL},
        {"sample", "0.001", NULL},
        {"sample_mode", "interpolate", NULL},
        {"baumgarte", "10, 25", "10,25"},
        {"project", "always", NULL},
        {"plan", "balanced", NULL},
        {"compiled", "auto", NULL},
        {"index3", "iterations=4,coordinates=7,projection=none,stop=q+lambda", NULL},
        {"index3", "tangent=2,newton=full", "auto"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        const char *expected = cases[i].text ? cases[i].text : cases[i].value;
        lw_options o, again;
        char text[LW_OPTION_STRING_SIZE];
        lw_options_default(&o);
        lw_options_default(&again);
        assert_int_equal(lw_options_set(&o, cases[i].key, cases[i].value, NULL), LW_OK);
        assert_int_equal(lw_options_get(&o, cases[i].key, text, sizeof text), LW_OK);
        assert_string_equal(text, expected);
        assert_int_equal(lw_options_set(&again, cases[i].key, text, NULL), LW_OK);
        assert_memory_equal(&o, &again, sizeof o);
    }
    char text[8];
    lw_options o;
    lw_options_default(&o);
    assert_int_equal(lw_options_get(&o, "duratoin", text, sizeof text), LW_ERR_ARGUMENT);
    assert_int_equal(lw_options_set(&o, "formulation", "lagrange", NULL), LW_OK);
    assert_int_equal(lw_options_get(&o, "formulation", text, 4), LW_OK);
    assert_string_equal(text, "lag"); // cut to fit
}

// A decimal point is a decimal point wherever the program runs.
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) skip();
    lw_options o;
    lw_options_default(&o);
    assert_int_equal(lw_options_set(&o, "rtol", "2.5e-3", NULL), LW_OK);
    assert_true(o.rtol == 2.5e-3);
    setlocale(LC_NUMERIC, "C");
}

typedef lw_part_info (*info)(int);
static void check_list(int count, info get, bool cited)
{
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        const lw_part_info part = get(i);
        assert_true(part.name[0] && part.summary[0] && (!cited || part.cite[0]));
        for (int j = 0; j < i; j++) assert_string_not_equal(part.name, get(j).name);
    }
    assert_string_equal(get(-1).name, "");
    assert_string_equal(get(count).summary, "");
}

static void parts_are_listed(void **state)
{
    (void)state;
    check_list(lw_formulation_count(), lw_formulation_info, true);
    for (int i = -1; i <= lw_formulation_count(); i++) {
        const char *name = lw_formulation_info(i).name;
        const bool cubic = !strcmp(name, "dense") || !strcmp(name, "lagrange");
        const unsigned flags = lw_formulation_flags(i);
        assert_true(!(flags & LW_FORMULATION_CUBIC) == !cubic);
        const bool own = !strcmp(name, "index3") || !strcmp(name, "rattle");
        assert_true(!(flags & LW_FORMULATION_OWN_STEP) == !own);
    }
    check_list(lw_integrator_count(), lw_integrator_info, true);
    check_list(lw_joint_type_count(), lw_joint_type_info, false);
    check_list(lw_force_type_count(), lw_force_type_info, false);
    assert_int_equal(lw_joint_type_count(), LW_JOINT_COUNT);
    assert_string_equal(lw_joint_type_info(LW_JOINT_SCREW).name, "screw");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_list),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(text_and_value_are_the_same),
        cmocka_unit_test(rejections_name_what_was_expected),
        cmocka_unit_test(struct_is_checked),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(parts_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

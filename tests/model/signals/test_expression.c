// test_expression.c -- expressions of names and units: values, dimensions, mistakes, other names.
#include "model/signals/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

// ---- a scope of a few constants, one point, and two outputs

static const char *const names[] = {"rho", "r", "l", "n", "free", "m", "A.x", "joint.A.fx"};
static const double values[] = {7850, 0.01, 0.5, 3, 42, 2, 1.5, 0};
static const char *const units[] = {"kg/m^3", "m", "m", "1", "", "kg", "m", "N"};

static lw_status find(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                      lw_error *error)
{
    for (int i = 0; i < LWI_COUNT(names); i++) {
        if ((int)strlen(names[i]) != length || memcmp(names[i], name, (size_t)length) != 0)
            continue;
        if (!symbol) return LW_OK;
        lwi_unit unit = {.dimension.kind = LWI_DIMENSION_UNKNOWN};
        if (*units[i]) assert_true(lwi_unit_read(units[i], (int)strlen(units[i]), &unit));
        *symbol = (lwi_formula_symbol){.value = values[i], .dimension = unit.dimension};
        if (user && !strcmp(names[i], "joint.A.fx")) symbol->variable = true, symbol->index = 1;
        return LW_OK;
    }
    if (length == 6 && !memcmp(name, "broken", 6))
        return lwi_fail(error, LW_ERR_MODEL, "parameter 'broken' has no value");
    return LW_ERR_ARGUMENT;
}

static const lwi_formula_scope scope = {
    .find = find, .names = names, .nname = LWI_COUNT(names), .constant = true};

static lwi_formula_result number_in(const char *text, const lwi_formula_scope *in)
{
    lwi_formula_result result = {0};
    lw_error error = {0};
    if (lwi_formula_number(text, in, &result, &error) != LW_OK)
        fail_msg("%s: %s", text, error.text);
    return result;
}

static lwi_formula_result number(const char *text)
{
    return number_in(text, &scope);
}

// ----------------------------------------------------------------------------------------- values

static void expressions_have_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *dimension;
    } cases[] = {
        {"2*rho*pi*r^2*l", 2 * 7850 * 3.14159265358979323846 * 0.0001 * 0.5, "a mass [kg]"},
        {"l/2 + 0.1", 0.35, "a length [m]"},
        {"-l", -0.5, "a length [m]"},
        {"A.x - 2*l", 0.5, "a length [m]"},
        {"sqrt(l*r)", 0.070710678118654752440, "a length [m]"},
        {"sqrt(9.81 m/s^2/l)", 4.4294469180700204, "a frequency [Hz]"},
        {"max(l, r, 2)", 2, "a length [m]"},
        {"where(l > r, l, 1 m)", 0.5, "a length [m]"},
        {"hypot(l, l)", 1.4142135623730951 * 0.5, "a length [m]"},
        {"atan2(l, l)", 0.78539816339744831, "an angle [rad]"},
        {"sin(30 deg)", 0.5, "a number without a unit"},
        {"2*3 rpm*l", 0.31415926535897931, "[m rad/s]"},
        {"free*l", 21, "a number of an unknown unit"},
        {"(r*l)^0.5", 0.070710678118654752440, "a length [m]"},
        {"2^n", 8, "a number without a unit"},
        {"l/r", 50, "a pure number"},
        {"m*(9.81 m/s^2)", 19.62, "a force [N]"},
        {"5 N*l", 2.5, "a torque or an energy [N m]"},
        {"min(1 min, 30 s)", 30, "a time [s]"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[128];
        const lwi_formula_result r = number(cases[i].text);
        if (fabs(r.value - cases[i].value) > 1e-14 * fabs(cases[i].value))
            fail_msg("%s: %.17g, not %.17g", cases[i].text, r.value, cases[i].value);
        assert_string_equal(lwi_dimension_text(r.dimension, text, sizeof text), cases[i].dimension);
        assert_false(r.literal);
    }
}

// A decimal prefix moves the point of the number, so that it is rounded once: 0.3 mm is the 0.0003 of a file.
static void quantities_are_in_si(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *dimension;
    } cases[] = {
        {"0.3 mm", 0.0003, "a length [m]"},
        {"-0.3mm", -0.0003, "a length [m]"},
        {"1.1e2 um", 110e-6, "a length [m]"},
        {"45 N/mm", 45000, "a stiffness [N/m]"},
        {"0.3 kN*s/m", 300, "a damping coefficient [N s/m]"},
        {"0.3 kN s/m", 300, "a damping coefficient [N s/m]"},
        {"2 kg", 2, "a mass [kg]"},
        {"7.85 g/cm^3", 7850, "a density [kg/m^3]"},
        {"36 km/h", 10, "a speed [m/s]"},
        {"12 deg", 12 * (3.14159265358979323846 / 180), "an angle [rad]"},
        {"12\xC2\xB0", 12 * (3.14159265358979323846 / 180), "an angle [rad]"},
        {"1 rev", 2 * 3.14159265358979323846, "an angle [rad]"},
        {"3000 rpm", 100 * 3.14159265358979323846, "an angular speed [rad/s]"},
        {"50 Hz", 50, "a frequency [Hz]"},
        {"9.81 m s^-2", 9.81, "an acceleration [m/s^2]"},
        {"2 N m/rad", 2, "a rotational stiffness [N m/rad]"},
        {"3 Nm", 3, "a torque or an energy [N m]"},
        {"1 bar", 1e5, "a pressure [Pa]"},
        {"210 GPa", 210e9, "a pressure [Pa]"},
        {"12 inch", 0.3048, "a length [m]"},
        {"1 lbf", 4.4482216152605, "a force [N]"},
        {"2.5 kW", 2500, "a power [W]"},
        {"4 m^2/s^2/K", 4, "[m^2/s^2/K]"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[128];
        const lwi_formula_result r = number_in(cases[i].text, NULL);
        if (r.value != cases[i].value &&
            fabs(r.value - cases[i].value) > 2e-16 * fabs(cases[i].value))
            fail_msg("%s: %.17g, not %.17g", cases[i].text, r.value, cases[i].value);
        assert_string_equal(lwi_dimension_text(r.dimension, text, sizeof text), cases[i].dimension);
        assert_true(r.literal);
    }
    assert_true(number("0.3 mm").value == 0.0003);
    assert_true(number("2.3e-5 mm").value == 2.3e-8);
}

// ---------------------------------------------------------------------------------------- mistakes

static void mistakes_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"2*roh", "unknown name 'roh', did you mean 'rho'? (character 3)"},
        {"l + m", "'+' of a length [m] and a mass [kg], expected the same kind of quantity"},
        {"l + 2 kg", "'+' of a length [m] and a mass [kg]"},
        {"min(l, 3 s)", "'min' of a length [m] and a time [s]"},
        {"sin(l)", "'sin' of a length [m], expected a pure number or an angle"},
        {"2^l", "the exponent is a length [m], expected a pure number"},
        {"l < m", "'<' of a length [m] and a mass [kg]"},
        {"step(l, 0, 1 kg)", "'step' of a length [m] and a mass [kg]"},
        {"3000 rmp", "unknown unit 'rmp', did you mean 'rpm'?"},
        {"3 florin", "unknown unit 'florin', expected one such as mm"},
        {"5 N*m", "'m' is a unit and a name here"},
        {"5 m/s kg", "is 'kg' above or below the '/'?"},
        {"5 m^x", "expected a power of the unit from -9 to 9"},
        {"5 m^12", "expected a power of the unit from -9 to 9"},
        {"2 l", "expected an operator or the end, found 'l'"},
        {"2 + t", "'t' varies during a run"},
        {"A.q0", "'A.q0' varies during a run"},
        {"mm", "unknown name 'mm'; a unit follows a number, as in `1 mm`"},
        {"broken + 1", "parameter 'broken' has no value"},
        {"1/(l - l)", "'/' of these numbers is infinite"},
        {"1e300 km*1e300", "'*' of these numbers is infinite"},
        {"1e306 km", "expected a number below 1.8e308"},
        {"1e-200*1e-200", "'*' of these numbers is below 4.9e-324"},
        {"1e-200/1e200", "'/' of these numbers is below 4.9e-324"},
        {"1e-200^2", "'^' of these numbers is below 4.9e-324"},
        {"2 + exp(-800)", "'exp' of these numbers is below 4.9e-324"},
        {"2 + 1e-400", "expected 0 or a number of at least 4.9e-324"},
        {"3e-322 mm", "expected 0 or a number of at least 4.9e-324"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lwi_formula_result result;
        lw_error error = {0};
        assert_int_equal(lwi_formula_number(cases[i].text, &scope, &result, &error), LW_ERR_MODEL);
        if (!strstr(error.text, cases[i].message))
            fail_msg("%s: '%s', not '%s'", cases[i].text, error.text, cases[i].message);
    }
}

static void hostile_expressions_are_refused(void **state)
{
    (void)state;
    static char text[1 << 16];
    lwi_formula_result result;
    lw_error error = {0};
    const char *const pieces[] = {"(", "-", "2^", "sin(", "l+", "2 m*", "rho^", "not ", "A.", "'"};
    for (int i = 0; i < LWI_COUNT(pieces); i++) {
        text[0] = 0;
        for (size_t n = strlen(pieces[i]), used = 0; used + n + 2 < sizeof text; used += n)
            memcpy(text + used, pieces[i], n + 1);
        assert_int_equal(lwi_formula_number(text, &scope, &result, &error), LW_ERR_MODEL);
        text[3988] = 0; // within the length
        assert_int_equal(lwi_formula_number(text, &scope, &result, &error), LW_ERR_MODEL);
    }
}

// ------------------------------------------------------------------------------------- other names

static bool negated(void *user, const char *joint, int coordinate, bool speed)
{
    (void)user, (void)speed;
    return !strcmp(joint, "slide") && coordinate == 1;
}

static void names_become_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rewritten;
    } cases[] = {
        {"-m*9*sin(3*t)", "-2*9*sin(3*t)"},
        {"n*A.q0 - 'left knee'.qd1", "3*'left.A'.q0 - 'left.left knee'.qd1"},
        {"slide.q1 + slide.q0", "(-'left.slide'.q1) + 'left.slide'.q0"},
        {"'it''s'.q0", "'left.it''s'.q0"},
        {"45 N/mm*A.x", "45 N/mm*1.5"},
        {"t", "t"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lwi_formula_scope other = scope;
        lwi_arena arena;
        const char *text = NULL;
        lw_error error = {0};
        other.constant = false, other.prefix = "left.", other.negated = negated;
        lwi_arena_init(&arena, NULL);
        if (lwi_formula_rewrite(cases[i].text, &other, &arena, &text, &error) != LW_OK)
            fail_msg("%s: %s", cases[i].text, error.text);
        assert_string_equal(text, cases[i].rewritten);
        assert_int_equal(lwi_formula_check(text, &error), LW_OK);
        lwi_arena_free(&arena);
    }
}

// Outputs of a run as names: read from an array, with exact derivatives of t too.
static void variables_are_read(void **state)
{
    (void)state;
    lwi_formula_scope outputs = {.user = &outputs, .find = find};
    lwi_formula f;
    lwi_arena arena;
    lw_error error = {0};
    const double variables[] = {7, 5};
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_formula_build("2*joint.A.fx + l*t", &outputs, &arena, &f, &error), LW_OK);
    assert_true(lwi_formula_value(&f, &(lwi_now){.t = 4, .variables = variables}) == 12);
    assert_true(isnan(lwi_formula_value(&f, &(lwi_now){.t = 4})));
    assert_int_equal(lwi_formula_build("joint.A.fx + 1 m", &outputs, &arena, &f, &error),
                     LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "'+' of a force [N] and a length [m]"));
    lwi_arena_free(&arena);
}

static void units_are_read(void **state)
{
    (void)state;
    lwi_unit unit;
    char text[64];
    assert_true(lwi_unit_read("1", 1, &unit));
    assert_string_equal(lwi_dimension_text(unit.dimension, text, sizeof text), "a pure number");
    assert_true(lwi_unit_read("1/s", 3, &unit));
    assert_string_equal(lwi_dimension_text(unit.dimension, text, sizeof text), "a frequency [Hz]");
    static const char *const wrong[] = {"",    "angle", "N m/", "m/s kg", "m^",  "m^0",
                                        "2 m", "m*",    "m,s",  "> 0",    "m  s"};
    for (int i = 0; i < LWI_COUNT(wrong); i++)
        if (lwi_unit_read(wrong[i], (int)strlen(wrong[i]), &unit)) fail_msg("%s", wrong[i]);
    int n;
    const char *const *known = lwi_unit_names(&n);
    for (int i = 0; i < n; i++)
        if (!lwi_unit_find(known[i], (int)strlen(known[i]), &unit)) fail_msg("%s", known[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_values),
        cmocka_unit_test(quantities_are_in_si),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(hostile_expressions_are_refused),
        cmocka_unit_test(names_become_values),
        cmocka_unit_test(variables_are_read),
        cmocka_unit_test(units_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

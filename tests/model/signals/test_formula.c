// test_formula.c -- formulas: values, exact derivatives, right-hand slopes, errors, limits.
#include "model/signals/formula.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct built {
    lwi_arena arena;
    lwi_formula f;
} built;

static built build(const char *text)
{
    built b;
    lw_error error = {0};
    lwi_arena_init(&b.arena, NULL);
    assert_int_equal(lwi_formula_check(text, &error), LW_OK);
    if (lwi_formula_build(text, NULL, &b.arena, &b.f, &error) != LW_OK) fail_msg("%s", error.text);
    return b;
}

static void end(built *b)
{
    lwi_arena_free(&b->arena);
}

// The k-th name reads the k-th element of its array.
static built build_state(const char *text)
{
    built b = build(text);
    for (int k = 0; k < b.f.nname; k++) b.f.name[k].index = k;
    lwi_formula_link(&b.f);
    return b;
}

static double value(const built *b, double t)
{
    return lwi_formula_value(&b->f, &(lwi_now){.t = t});
}

static void assert_near(const char *what, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s: %.17g and %.17g differ by more than %g", what, a, b, tolerance);
}

// ------------------------------------------------------------------------------------- derivatives

typedef double complex number;

// The formulas of the table below, written in C.
static number f_poly(number t)
{
    return 2 + 3 * t - t * t / 4;
}
static number f_sin(number t)
{
    return 2 * csin(3 * t + 0.4);
}
static number f_cos(number t)
{
    return t * ccos(t * t);
}
static number f_tan(number t)
{
    return ctan(0.4 * t);
}
static number f_asin(number t)
{
    return casin(t / 4);
}
static number f_acos(number t)
{
    return cacos(0.9 * csin(t));
}
static number f_atan(number t)
{
    return catan(3 * t - 1);
}
static number f_hypot(number t)
{
    return csqrt(csin(t) * csin(t) + (2 + ccos(t)) * (2 + ccos(t)));
}
static number f_atan2(number t)
{
    return catan(csin(t) / (2 + ccos(t)));
}
static number f_sinh(number t)
{
    return csinh(t) - ccosh(t / 2) * ctanh(3 * t);
}
static number f_exp(number t)
{
    return cexp(-t) * csin(5 * t);
}
static number f_log(number t)
{
    return clog(1 + t * t) + clog(3 + t) / 2.3025850929940456840;
}
static number f_sqrt(number t)
{
    return csqrt(4 + csin(t));
}
static number f_abs(number t)
{
    return creal(csin(t)) < 0 ? -csin(t) : csin(t);
}
static number f_sign(number t)
{
    return creal(t - 1) < 0 ? -t : creal(t - 1) > 0 ? t : 0;
}
static number f_min(number t)
{
    const number a = t * t, b = 1 + t / 2, c = 2 - t;
    const number m = creal(a) < creal(b) ? a : b;
    return creal(m) < creal(c) ? m : c;
}
static number f_max(number t)
{
    return creal(t - 1) > 0 ? cpow(t - 1, 3) : 0;
}
static number f_mod(number t)
{
    const double x = creal(t);
    return (x < 0 ? t + 4 : t) * (x < 0 ? t + 4 : t) - (x < 0 ? t : t - 4);
}
static number f_floor(number t)
{
    const double x = creal(t) / 2;
    return (double)floor(x) * t - (double)ceil(x);
}
static number f_step(number t)
{
    const number s = (t - 0.5) / (1.5 - 0.5);
    return creal(s) <= 0   ? 0
           : creal(s) >= 1 ? 7
                           : 7 * (10 * s * s * s - 15 * s * s * s * s + 6 * s * s * s * s * s);
}
static number f_moving_step(number t)
{
    const number s = (t * t - t) / (4 + t - t);
    return creal(s) <= 0 ? 0 : creal(s) >= 1 ? 1 : s * s * s * (10 - 15 * s + 6 * s * s);
}
static number f_where(number t)
{
    const double x = creal(t);
    return (x > 0.3 && x <= 1) || !(x < 2.5) ? t * t : -t;
}
static number f_compare(number t)
{
    const double x = creal(t);
    return (x >= 1 ? 1 : 0) + 2 * t * (x == 0.25 || x != 0.75 ? 1 : 0);
}
static number f_power(number t)
{
    return cpow(3 + t, 2.5) + 1 / (4 + t) / (4 + t) + t * t * t;
}
static number f_divide(number t)
{
    return (3 * t - t * t) / (2 + csin(t) * t) / 5;
}
static number f_tower(number t)
{
    return cpow(2 + t * t, csin(t)) + cpow(2, t);
}

// Valid on (from, to); a derivative of order up to three jumps at `kinks`.
static const struct {
    const char *text;
    number (*f)(number);
    double from, to, kinks[3];
} table[] = {
    {"2 + 3*t - t*t/4", f_poly, -3, 3, {0}},
    {"2*sin(3*t + 0.4)", f_sin, -3, 3, {0}},
    {"t*cos(t*t)", f_cos, -2, 2, {0}},
    {"tan(0.4*t)", f_tan, -3, 3, {0}},
    {"asin(t/4)", f_asin, -3, 3, {0}},
    {"acos(0.9*sin(t))", f_acos, -3, 3, {0}},
    {"atan(3*t - 1)", f_atan, -3, 3, {0}},
    {"atan2(sin(t), 2 + cos(t))", f_atan2, -3, 3, {0}},
    {"hypot(sin(t), 2 + cos(t))", f_hypot, -3, 3, {0}},
    {"sinh(t) - cosh(t/2)*tanh(3*t)", f_sinh, -2, 2, {0}},
    {"exp(-t)*sin(5*t)", f_exp, -1, 3, {0}},
    {"log(1 + t^2) + log10(3 + t)", f_log, -2, 3, {0}},
    {"sqrt(4 + sin(t))", f_sqrt, -3, 3, {0}},
    {"abs(sin(t))", f_abs, -3, 3, {0}},
    {"t*sign(t - 1)", f_sign, -3, 3, {1}},
    {"min(t^2, 1 + t/2, 2 - t)", f_min, -3, 3, {-0.7807764064044151, 1}},
    {"max(0, t - 1)^3", f_max, -3, 3, {1}},
    {"mod(t, 4)^2 - mod(t, -4)", f_mod, -3, 3, {0}},
    {"floor(t/2)*t - ceil(t/2)", f_floor, -3, 3, {-2, 0, 2}},
    {"7*step(t, 0.5, 1.5)", f_step, -1, 3, {0.5, 1.5}},
    {"step(t^2, t, 4 + t)", f_moving_step, -1, 3, {0, 1, 2.5615528128088303}},
    {"where(t > 0.3 and t <= 1 or not t < 2.5, t^2, -t)", f_where, -3, 3, {0.3, 1, 2.5}},
    {"(t >= 1) + 2*t*(t == 0.25 or t != 0.75)", f_compare, -3, 3, {0.25, 0.75, 1}},
    {"(3 + t)^2.5 + (4 + t)^-2 + t^3", f_power, -2, 3, {0}},
    {"(3*t - t^2)/(2 + sin(t)*t)/5", f_divide, -3, 3, {0}},
    {"(2 + t^2)^sin(t) + 2^t", f_tower, -2, 2, {0}},
};
enum { NTABLE = sizeof table / sizeof table[0] };

static bool near_a_kink(int i, double t, double h)
{
    for (int k = 0; k < 3; k++)
        if (fabs(t - table[i].kinks[k]) <= h) return true; // unused: 0, no effect
    return false;
}

// The value is compared with C, the slope with the complex step Im f(t + ih)/h, which has no
// cancellation. The curvature is compared with fourth-order differences of complex steps:
// truncation h^4/30 f^(6) with f^(6) < 2e5 here, and rounding.
static void derivatives_match_the_complex_step(void **state)
{
    (void)state;
    const double h = 1e-3, tiny = 1e-40;
    for (int i = 0; i < NTABLE; i++) {
        built b = build(table[i].text);
        for (double t = table[i].from + 0.0137; t < table[i].to; t += 0.0413) {
            double f[3], slope[4];
            lwi_formula_rates(&b.f, t, f);
            for (int k = 0; k < 4; k++)
                slope[k] = cimag(table[i].f(t + (double[]){-2, -1, 1, 2}[k] * h + tiny * I)) / tiny;
            const double scale = 1 + fabs(f[0]) + fabs(f[1]) + fabs(f[2]);
            assert_true(value(&b, t) == f[0]);
            assert_near(table[i].text, f[0], creal(table[i].f(t)), 1e-14 * scale);
            assert_near(table[i].text, f[1], cimag(table[i].f(t + tiny * I)) / tiny, 4e-14 * scale);
            if (near_a_kink(i, t, 2 * h)) continue;
            const double curve = (8 * (slope[2] - slope[1]) - slope[3] + slope[0]) / (12 * h);
            assert_near(table[i].text, f[2], curve, 2e5 * h * h * h * h / 30 + 1e-11 * scale);
        }
        end(&b);
    }
}

// The table covers every operation of the language.
static void every_operation_is_in_the_table(void **state)
{
    (void)state;
    bool used[LWI_FORMULA_OPERATION_COUNT] = {0};
    used[LWI_FORMULA_COORDINATE] = used[LWI_FORMULA_SPEED] = true; // partial derivatives
    used[LWI_FORMULA_VARIABLE] = true;                             // test_expression.c
    used[LWI_FORMULA_READ] = true;                                 // test_signals.c
    for (int i = 0; i < NTABLE; i++) {
        built b = build(table[i].text);
        for (int k = 0; k < b.f.ncode; k++) used[b.f.code[k].operation] = true;
        end(&b);
    }
    for (int i = 0; i < LWI_FORMULA_OPERATION_COUNT; i++)
        if (!used[i]) fail_msg("operation %d is in no formula of the table", i);
}

// Partial derivatives by fourth-order differences, truncation h^4/30 f^(5) with f^(5) < 1e3.
static void partials_match_differences(void **state)
{
    (void)state;
    static const char *const formulas[] = {
        "-40*A.q0 - 3*A.qd0",
        "sin(A.q0*B.qd1)*exp(-A.q0)/(2 + cos(t*B.qd1))",
        "hypot(A.q0, B.qd0) + atan2(A.q0, 1 + B.q1^2) + where(A.qd0 > 0, A.qd0^2, 0)",
        "sqrt(1 + 'a long name'.q2^2)*step(A.q0, -2, 2)",
    };
    const double h = 1e-3;
    for (int i = 0; i < LWI_COUNT(formulas); i++) {
        built b = build_state(formulas[i]);
        double q[4] = {0.3, -0.7, 1.1, 0.2}, qd[4] = {0.9, 0.4, -0.8, 0.6};
        const lwi_now now = {.t = 0.8, .q = q, .qd = qd};
        assert_true(b.f.nname > 0);
        for (int k = 0; k < b.f.nname; k++) {
            double *x = (b.f.name[k].speed ? qd : q) + k, f[4];
            const double at = *x;
            for (int j = 0; j < 4; j++) {
                *x = at + (double[]){-2, -1, 1, 2}[j] * h;
                f[j] = lwi_formula_value(&b.f, &now);
            }
            *x = at;
            assert_near(formulas[i], lwi_formula_partial(&b.f, &now, k),
                        (8 * (f[2] - f[1]) - f[3] + f[0]) / (12 * h),
                        1e3 * h * h * h * h / 30 + 1e-11);
        }
        end(&b);
    }
}

// At a kink the derivatives are right-hand derivatives; a constant argument gives zero derivatives
// even where the slope of the function is infinite.
static void kinks_have_the_slopes_to_come(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double t, f[3];
    } list[] = {
        {"abs(t - 1)", 1, {0, 1, 0}},
        {"abs((t - 1)^2)", 1, {0, 0, 2}},
        {"abs(1 - t)", 1, {0, 1, 0}},
        {"max(t, 1)", 1, {1, 1, 0}},
        {"min(t, 1)", 1, {1, 0, 0}},
        {"max(0, (t - 1)*3)", 1, {0, 3, 0}},
        {"min(t^2, t)", 1, {1, 1, 0}},
        {"max(t^2, t)", 1, {1, 2, 2}},
        {"sign(t - 1)", 1, {0, 0, 0}},
        {"where(t >= 1, 5*t, 0)", 1, {5, 5, 0}},
        {"t*sqrt(0*t)", 1, {0, 0, 0}},
        {"t^2", 0, {0, 0, 2}},
        {"t^1", 0, {0, 1, 0}},
        {"t^0", 0, {1, 0, 0}},
        {"(t - 2)^3", 1, {-1, 3, -6}},
        {"3*step(t, 1, 2)", 1, {0, 0, 0}},
        {"3*step(t, 2, 1)", 2, {0, 0, 0}},
        {"3*step(t, 1, 2)", 2, {3, 0, 0}},
    };
    for (int i = 0; i < LWI_COUNT(list); i++) {
        built b = build(list[i].text);
        double f[3];
        lwi_formula_rates(&b.f, list[i].t, f);
        for (int k = 0; k < 3; k++) assert_near(list[i].text, f[k], list[i].f[k], 0);
        end(&b);
    }
}

// An undefined value is NaN, and every operation propagates it.
static void what_is_not_a_number_stays_so(void **state)
{
    (void)state;
    static const char *const formulas[] = {
        "sqrt(-t)",
        "log(-t)",
        "asin(2*t)",
        "(-t)^0.5",
        "min(sqrt(-t), 1)",
        "min(1, sqrt(-t))",
        "max(sqrt(-t), 1)",
        "max(1, sqrt(-t))",
        "abs(sqrt(-t))",
        "sign(sqrt(-t))",
        "step(sqrt(-t), 1, 2)",
        "A.q0",
        "A.qd0 + t",
    };
    for (int i = 0; i < LWI_COUNT(formulas); i++) {
        built b = build_state(formulas[i]);
        if (!isnan(value(&b, 1))) fail_msg("%s is %g", formulas[i], value(&b, 1));
        end(&b);
    }
}

// ------------------------------------------------------------------------------------------
// grammar

static void operators_bind_as_in_mathematics(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double at_two;
    } list[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"2*t^3", 16},
        {"-t^2", -4},
        {"t^-1", 0.5},
        {"2^3^2", 512},
        {"(2^3)^2", 64},
        {"8/4/2", 1},
        {"8 - 4 - 2", 2},
        {"-t - -t", 0},
        {"- -+t", 2},
        {"2*-t", -4},
        {"t < 3", 1},
        {"t < 2", 0},
        {"t <= 2", 1},
        {"t > 2", 0},
        {"t >= 2", 1},
        {"t == 2", 1},
        {"t != 2", 0},
        {"1 + 1 < t + 1", 1},
        {"not t > 3", 1},
        {"not not t", 1},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"t > 1 and t < 3", 1},
        {"not t and 0", 0},
        {"min(3, t)", 2},
        {"max(1, 2, 3, t, 5)", 5},
        {"where(t > 3, 1, 2)", 2},
        {"pi/e", 3.14159265358979323846 / 2.71828182845904523536},
        {"1e3 + 2E-1 + 0.5", 1000.7},
        {"\n t\t+\r\n1 ", 3},
        {"3*(step(t, 0, 4))", 1.5},
        {"atan2(1, 0)", 1.57079632679489661923},
        {"hypot(3, -4)", 5},
        {"((((t))))", 2},
        {"min(t, max(t, 1), 9)*2", 4},
        {"e^1", 2.71828182845904523536},
    };
    for (int i = 0; i < LWI_COUNT(list); i++) {
        built b = build(list[i].text);
        assert_near(list[i].text, value(&b, 2), list[i].at_two, 0);
        end(&b);
    }
}

static void numbers_are_worked_out_at_once(void **state)
{
    (void)state;
    built b = build("2*sin(pi/6)*(3 - 1)^2*t + -4");
    assert_int_equal(b.f.ncode, 5); // number t * number +
    assert_near("at 3", value(&b, 3), 2 * sin(3.14159265358979323846 / 6) * 4 * 3 - 4, 0);
    end(&b);
}

static void names_of_joints_are_words_or_quoted(void **state)
{
    (void)state;
    built b = build("A.q0 + 'left knee'.qd1 + A.q0 + Knöchel_2.q6 + 'it''s'.q1 + A.qd0 + t.q0");
    static const struct {
        const char *joint;
        int coordinate;
        bool speed;
    } expected[] = {{"A", 0, false},    {"left knee", 1, true}, {"Knöchel_2", 6, false},
                    {"it's", 1, false}, {"A", 0, true},         {"t", 0, false}};
    assert_int_equal(b.f.nname, LWI_COUNT(expected));
    for (int k = 0; k < b.f.nname; k++) {
        assert_string_equal(b.f.name[k].joint, expected[k].joint);
        assert_int_equal(b.f.name[k].coordinate, expected[k].coordinate);
        assert_int_equal(b.f.name[k].speed, expected[k].speed);
    }
    end(&b);
    const lwi_formula_facts facts = lwi_formula_facts_of("2*t + abs('left knee'.qd1)");
    assert_true(facts.reads_state && facts.kinked && facts.at == 10 && facts.length == 15);
    const lwi_formula_facts plain = lwi_formula_facts_of("2*t + 'step' . q0");
    assert_false(plain.reads_state || plain.kinked); // an invalid formula has no flags
    assert_false(lwi_formula_facts_of("step(t, 1, 2)").kinked);
}

// -----------------------------------------------------------------------------------------
// errors

static void mistakes_are_named_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int character;
        const char *says;
    } list[] = {
        {"2*sine(3*t)", 3, "unknown function 'sine', did you mean 'sin'?"},
        {"2*(3 + t", 9, "expected an operator or ')', the formula ends"},
        {"2*t)", 4, "expected an operator or the end, found ')'"},
        {"2 t", 3, "expected an operator or the end, found 't'"},
        {"2t", 2, "expected an operator or the end, found 't'"},
        {"3*t + ", 7, "expected a number, a name or '(', the formula ends"},
        {"t*/2", 3, "expected a number, a name or '(', found '/'"},
        {"x", 1, "unknown name 'x', expected t, pi, e"},
        {"t*pie", 3, "unknown name 'pie', did you mean 'pi'?"},
        {"sqr(t)", 1, "unknown function 'sqr', did you mean 'sqrt'?"},
        {"3 + sin", 5, "'sin' is a function, expected sin(x)"},
        {"sin(t, 1)", 1, "'sin' has too many arguments, expected sin(x)"},
        {"atan2(t)", 1, "'atan2' has too few arguments, expected atan2(y, x)"},
        {"where(t > 1, 2)", 1, "expected where(condition, yes, no)"},
        {"max(t)", 1, "expected max(x, y, ...)"},
        {"sin()", 5, "found ')'"},
        {"sin(t", 6, "expected ')', the formula ends"},
        {"max(t, 1 2)", 10, "expected ',' or ')', found '2'"},
        {"t(2)", 2, "found '('"},
        {"1 < t < 2", 7, "comparisons do not chain"},
        {"t = 1", 3, "found '='"},
        {"t ** 2", 3, "'**' is no operator, expected '^'"},
        {"t*.5", 3, "expected a number written as in JSON"},
        {"5.", 1, "expected a number written as in JSON"},
        {"007", 1, "expected a number written as in JSON"},
        {"1.2.3", 1, "expected a number written as in JSON"},
        {"1e", 1, "expected a number written as in JSON"},
        {"t + 1e999", 5, "expected a number below 1.8e308"},
        {"t + 1/0", 6, "'/' of these numbers is infinite"},
        {"t*sqrt(-1)", 3, "'sqrt' of these numbers is not a number"},
        {"t*(0/0)", 5, "not a number"},
        {"step(t, 2, 2)", 1, "the step starts and ends at 2"},
        {"t and or 1", 7, "found 'or'"},
        {"A.x", 3,
         "expected a coordinate (q0, q1, ...) or a speed (qd0, qd1, ...) of a joint: reactions and "
         "energies are known in rows only"},
        {"A.q", 3, "found 'q'"},
        {"A.q12", 3, "found 'q12'"},
        {"A. q0", 4, "expected a coordinate"},
        {"'A'", 4, "expected '.' and a coordinate behind the joint"},
        {"2*'A.q0", 3, "the name of this joint does not end"},
        {"'Knöchel'.q0 + + + $", 20, "found '$'"},
        {"t + \x01", 5, "found control character 1"},
        {"schön", 1, "unknown name 'schön'"},
        {"", 0, "the formula is empty"},
        {" \n ", 0, "the formula is empty"},
    };
    for (int i = 0; i < LWI_COUNT(list); i++) {
        lw_error error = {0};
        char place[32] = "";
        if (list[i].character) snprintf(place, sizeof place, "(character %d)\n", list[i].character);
        if (lwi_formula_check(list[i].text, &error) != LW_ERR_MODEL)
            fail_msg("'%s' passes", list[i].text);
        if (!strstr(error.text, list[i].says) || !strstr(error.text, place))
            fail_msg("'%s' says '%s', not '%s' %s", list[i].text, error.text, list[i].says, place);
    }
    lw_error error = {0};
    assert_int_equal(lwi_formula_check(NULL, &error), LW_ERR_MODEL);
    assert_int_equal(lwi_formula_check("x", NULL), LW_ERR_MODEL);
}

// The marker is below the word, also in a long formula; columns count characters, not bytes.
static void the_mark_is_below_the_mistake(void **state)
{
    (void)state;
    lw_error error = {0};
    char text[2000] = "";
    lwi_formula_check("'Knö'.q0\n+ cosn(t)", &error);
    assert_string_equal(error.text, "unknown function 'cosn', did you mean 'cos'? (character 12)\n"
                                    "    'Knö'.q0 + cosn(t)\n"
                                    "               ^^^^");
    for (int i = 0; i < 100; i++) strcat(text, "t + ä.q0 + ");
    strcat(text, "wrong + t");
    lwi_formula_check(text, &error);
    const char *line = strchr(error.text, '\n') + 1, *mark = strchr(line, '\n') + 1;
    int column = 0;
    for (const char *c = line; strncmp(c, "wrong", 5) != 0; c++) column += (*c & 0xC0) != 0x80;
    assert_int_equal(strspn(mark, " "), column);
    assert_string_equal(mark + column, "^^^^^");
}

static char *repeat(char *room, const char *before, int n, const char *middle, const char *after)
{
    char *to = room;
    for (int i = 0; i < n; i++) to += sprintf(to, "%s", before);
    to += sprintf(to, "%s", middle);
    for (int i = 0; i < n; i++) to += sprintf(to, "%s", after);
    return room;
}

// The stacks of the program and of the parser are bounded for every formula.
static void limits_hold(void **state)
{
    (void)state;
    static char room[250000]; // the longest string below has 200001 characters
    static const struct {
        const char *before, *after;
        int fits;
    } nests[] = {{"(", ")", 64},    {"-", "", 64},    {"2^", "", 64},     {"not ", "", 64},
                 {"sin(", ")", 64}, {"t+(", ")", 64}, {"max(t,", ")", 64}};
    for (int i = 0; i < LWI_COUNT(nests); i++) {
        for (int n = 1; n <= nests[i].fits; n++) {
            built b = build(repeat(room, nests[i].before, n, "t", nests[i].after));
            assert_true(n > 2 && nests[i].before[1] == '^' ? isinf(value(&b, 9))
                                                           : isfinite(value(&b, 9)));
            end(&b);
        }
        for (int n = 66; n < 1500; n = 2 * n + 1) {
            lw_error error = {0};
            const char *text = repeat(room, nests[i].before, n, "t", nests[i].after);
            if (lwi_formula_check(text, &error) == LW_OK)
                fail_msg("%s %d times passes", nests[i].before, n);
            assert_true(strstr(error.text, "nested too deep") ||
                        strstr(error.text, "too involved") ||
                        strstr(error.text, "more than 4000 characters"));
        }
    }
    lw_error error = {0};
    built flat = build(repeat(room, "t+", 499, "t", "")); // 500 names, 499 operations
    assert_near("500 t", value(&flat, 2), 1000, 0);
    end(&flat);
    assert_int_equal(lwi_formula_check(repeat(room, "t+", 500, "t", ""), &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "at most 1000 numbers, names and operations"));
    assert_int_equal(lwi_formula_check(repeat(room, " ", 4000, "t", ""), &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "more than 4000 characters"));
    assert_int_equal(lwi_formula_check(repeat(room, "(", 100000, "t", ")"), &error), LW_ERR_MODEL);
    char *to = room;
    for (int i = 0; i < 65; i++) to += sprintf(to, "+ J%d.q0", i);
    assert_int_equal(lwi_formula_check(room, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "more than 64 joint coordinates"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_the_complex_step),
        cmocka_unit_test(every_operation_is_in_the_table),
        cmocka_unit_test(partials_match_differences),
        cmocka_unit_test(kinks_have_the_slopes_to_come),
        cmocka_unit_test(what_is_not_a_number_stays_so),
        cmocka_unit_test(operators_bind_as_in_mathematics),
        cmocka_unit_test(numbers_are_worked_out_at_once),
        cmocka_unit_test(names_of_joints_are_words_or_quoted),
        cmocka_unit_test(mistakes_are_named_where_they_are),
        cmocka_unit_test(the_mark_is_below_the_mistake),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests_name("formula", tests, NULL, NULL);
}

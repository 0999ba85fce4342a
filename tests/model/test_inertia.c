// test_inertia.c -- inertia that no mass distribution has: errors, warnings, rigid groups, round-off, repair.
#include "model/model.h"
#include "spatial/rotation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LINK(name, mass, ixx, iyy, izz)                                                            \
    "<link name='" name "'><inertial><origin xyz='0 0 .1'/><mass value='" mass                     \
    "'/><inertia ixx='" ixx "' iyy='" iyy "' izz='" izz                                            \
    "' ixy='0' ixz='0' iyz='0'/></inertial></link>"
#define WELD(parent, child)                                                                        \
    "<joint name='" child                                                                          \
    "_weld' type='fixed'><origin xyz='.1 0 0' rpy='.3 0 1'/><parent link='" parent                 \
    "'/><child link='" child "'/></joint>"
#define HINGE(parent, child)                                                                       \
    "<joint name='" child "_hinge' type='continuous'><parent link='" parent                        \
    "'/><child link='" child "'/></joint>"

// An arm, and a thin link of indefinite inertia.
#define THIN LINK("thin", ".01", "-1e-8", "2e-8", "3e-8")
#define ARM LINK("base", "1", "1", "1", "1") LINK("arm", "1", ".1", ".1", ".1") HINGE("base", "arm")

static lw_status read_text(const char *text, const char *check, lw_model **model, lw_error *error)
{
    const lw_read_desc desc = {.format = "urdf", .base = LW_BASE_FIXED, .inertia_check = check};
    return lw_model_parse(text, strlen(text), "bot.urdf", &desc, model, NULL, error);
}

// The model is refused for a reason that contains `part`, or warns with it.
static void expect(const char *robot, const char *check, const char *refusal, const char *warning)
{
    char text[4096];
    lw_model *model = NULL;
    lw_error error = {0};
    bool found = false;
    snprintf(text, sizeof text, "<robot name='bot'>%s</robot>", robot);
    const lw_status status = read_text(text, check, &model, &error);
    if (refusal) {
        assert_int_not_equal(status, LW_OK);
        if (!strstr(error.text, refusal)) fail_msg("'%s' lacks '%s'", error.text, refusal);
        return;
    }
    if (status) fail_msg("%s", error.text);
    for (int i = 0; i < model->desc.nwarning; i++) {
        const bool named = strstr(model->desc.warning[i], "inertia") != NULL;
        if (named && !warning) fail_msg("%s", model->desc.warning[i]);
        found |= named && strstr(model->desc.warning[i], warning);
    }
    if (warning && !found) fail_msg("no warning has '%s'", warning);
    lw_model_destroy(model);
}

static void one_that_is_not_possible_is_refused_unless_accepted(void **state)
{
    (void)state;
    expect(ARM THIN HINGE("arm", "thin"), NULL, "body 'thin': inertia is indefinite", NULL);
    expect(ARM THIN HINGE("arm", "thin"), "warn", "--inertia-check repair", NULL);
    expect(ARM THIN HINGE("arm", "thin"), "error", "indefinite", NULL);
    expect(ARM THIN HINGE("arm", "thin"), "accept", NULL, "body 'thin': inertia is indefinite");
    expect(ARM THIN HINGE("arm", "thin"), "repair", NULL, "repaired: 2e-08 is added");
    const char *flat = ARM LINK("flat", "1", "1", "1", "3") HINGE("arm", "flat");
    expect(flat, NULL, NULL, "triangle inequality");
    expect(flat, "error", "triangle inequality", NULL);
    expect(flat, "repair", NULL, "repaired: 1 is added");
    expect(ARM, "precise", "expected error, warn, accept or repair", NULL);
}

// Fixed to an arm that carries it, to the ground, or to a body that is too light.
static void bodies_that_are_fixed_count_together(void **state)
{
    (void)state;
    const char *together = "together with the bodies fixed to it, it is possible";
    expect(ARM THIN WELD("arm", "thin"), NULL, NULL, together);
    expect(ARM THIN WELD("arm", "thin"), "error", NULL, together);
    expect(ARM THIN WELD("arm", "thin"), "repair", NULL, together);
    expect(ARM THIN WELD("base", "thin"), NULL, NULL, together);
    expect(ARM THIN LINK("tip", "1e-12", "1e-9", "1e-9", "1e-9") HINGE("arm", "thin")
               WELD("thin", "tip"),
           NULL, "body 'thin': inertia is indefinite", NULL);
}

// ixx = -1e-20 in a model with inertia of 0.1 is what an exporter's rotation leaves of zero.
static void round_off_is_zero(void **state)
{
    (void)state;
    expect(ARM LINK("tip", "1", "-1.4e-20", "0", "1.4e-20") HINGE("arm", "tip"), NULL, NULL, NULL);
    expect(ARM LINK("tip", "1", "-1.4e-12", "0", "1.4e-12") HINGE("arm", "tip"), NULL, "indefinite",
           NULL);
}

// 2.5 = 3 - 1 + 0.5 is added to each.
static void repaired_inertia_satisfies_the_inequality(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error;
    const char *text =
        "<robot name='bot'>" ARM LINK("flat", "1", "1", "-.5", "3") HINGE("arm", "flat") "</robot>";
    lw_body body;
    assert_int_equal(read_text(text, "repair", &model, &error), LW_OK);
    assert_int_equal(lw_model_find_body(model, "flat", &body), LW_OK);
    const double *J = model->body[body.index].inertia;
    assert_float_equal(J[0], 3.5, 1e-12);
    assert_float_equal(J[1], 2, 1e-12);
    assert_float_equal(J[2], 5.5, 1e-12);
    lw_model_destroy(model);
}

// A ball of 25 mm that weighs 654 t; the same of steel, as heavy on the ground, in a world as heavy; a frame
// without weight.
static void a_mass_that_no_material_has_is_a_warning(void **state)
{
    (void)state;
    const char *dense = "bodies 'ball', 'ball2': 654498 kg of the first are 6.5e+05 times";
#define BALL(name, inertia) LINK(name, "654498.5", inertia, inertia, inertia)
#define DENSE BALL("ball", "163.6") HINGE("arm", "ball")
    expect(ARM DENSE BALL("ball2", "163.6") HINGE("base", "ball2") LINK("hand", "1", "1", "1", "1")
               HINGE("ball", "hand") LINK("tip", "1", "1", "1", "1") HINGE("hand", "tip"),
           NULL, NULL, dense);
#define N50 "a_name_of_fifty_letters_as_exporters_of_CAD_write_"
#define N200 N50 N50 N50 N50
    expect(ARM BALL(N200 "1", "163.6") HINGE("arm", N200 "1") BALL(N200 "2", "163.6")
               HINGE("base", N200 "2") LINK("hand", "1", "1", "1", "1") HINGE("arm", "hand")
                   LINK("tip", "1", "1", "1", "1") HINGE("hand", "tip"),
           NULL, NULL, "bodies '" N200 "1', '" N200 "2': 654498 kg of the first are");
    expect(ARM BALL("ball", "1.92e6") HINGE("arm", "ball"), NULL, NULL, NULL);
    expect(ARM BALL("ball", "163.6") WELD("base", "ball"), NULL, NULL, NULL);
    expect(ARM DENSE BALL("ball2", "163.6") HINGE("ball", "ball2"), NULL, NULL, NULL);
    expect(ARM LINK("frame", "1e-9", "0", "0", "0") WELD("arm", "frame"), NULL, NULL, NULL);
}

// Principal moments of which the largest is a thousandth less, or more, than the sum of the others, in any order, along any
// axes.
static void the_inequality_decides_along_any_axes(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        const double small = 0.01 + 0.11 * (i % 9),
                     q[4] = {sin(i + 1.0), cos(2.3 * i), sin(3.1 * i), cos(4.7 * i + 1)};
        const bool possible = i % 2;
        double unit[4], R[9], J[6], e[6] = {0};
        e[i % 3] = small, e[(i + 1) % 3] = 1,
              e[(i + 2) % 3] = (1 + small) * (possible ? 0.999 : 1.001);
        char body[1024];
        quat_normalize(unit, q);
        quat_matrix(R, unit);
        s3_rotate(J, R, e);
        snprintf(body, sizeof body,
                 ARM
                 "<link name='body'><inertial><mass value='1'/><inertia ixx='%.17g' iyy='%.17g' "
                 "izz='%.17g' ixy='%.17g' ixz='%.17g' iyz='%.17g'/></inertial></link>" HINGE(
                     "arm", "body"),
                 J[0], J[1], J[2], J[3], J[4], J[5]);
        expect(body, "error", possible ? NULL : "triangle inequality", NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_not_possible_is_refused_unless_accepted),
        cmocka_unit_test(the_inequality_decides_along_any_axes),
        cmocka_unit_test(bodies_that_are_fixed_count_together),
        cmocka_unit_test(round_off_is_zero),
        cmocka_unit_test(repaired_inertia_satisfies_the_inequality),
        cmocka_unit_test(a_mass_that_no_material_has_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// analysis_cases.h -- mechanisms with known equilibria and frequencies.
#ifndef LWT_ANALYSIS_CASES_H
#define LWT_ANALYSIS_CASES_H

#include "support/mechanism.h"

#include <linkwork/analysis.h>

#define LWT_PI 3.14159265358979323846

/** Four-bar: pivots (0, 0), (1, 0); crank 0.4, coupler 1, rocker 0.8 m; thin rods of 1 kg/m; a torsion spring of
 *  20 N m/rad on the crank, free at 60 degrees; drawn at the crank angle given, so that joint A reads the angle less
 *  this one.  Its four parallel hinges have three redundant rows. */
static inline lw_model *lwt_sprung_four_bar(double crank, double speed)
{
    double p[3] = {crank, 0.48, 1.42};
    for (int i = 0; i < 60; i++) { // coupler and rocker by Newton's method
        const double f0 = 0.4 * cos(p[0]) + cos(p[1]) - 1 - 0.8 * cos(p[2]),
                     f1 = 0.4 * sin(p[0]) + sin(p[1]) - 0.8 * sin(p[2]);
        const double a = -sin(p[1]), b = 0.8 * sin(p[2]), c = cos(p[1]), d = -0.8 * cos(p[2]);
        p[1] -= (d * f0 - b * f1) / (a * d - b * c);
        p[2] -= (a * f1 - c * f0) / (a * d - b * c);
    }
    const double x1 = 0.4 * cos(crank), y1 = 0.4 * sin(crank), x2 = 1 + 0.8 * cos(p[2]),
                 y2 = 0.8 * sin(p[2]);
    lw_builder *b = lwt_builder();
    const lw_body rod[] = {lwt_rod(b, "crank", 0, 0, x1, y1, 0.4),
                           lwt_rod(b, "coupler", x1, y1, x2, y2, 1),
                           lwt_rod(b, "rocker", 1, 0, x2, y2, 0.8)};
    lwt_add(b, &(lw_joint_desc){.name = "A",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = rod[0],
                                .axis = {0, 0, 1},
                                .has_qd = true,
                                .qd = {speed},
                                .coordinate[0] = {.stiffness = 20, .at = LWT_PI / 3 - crank}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", rod[0], rod[1], x1, y1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", rod[1], rod[2], x2, y2);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", lwt_ground, rod[2], 1, 0);
    return lwt_model(b);
}

/** n point masses of 1 kg on massless rods of 1 m, at angles from straight down. */
static inline lw_model *lwt_pendulum(int n, const double *angle)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    double x = 0, y = 0;
    for (int i = 0; i < n; i++) {
        char name[20];
        const double x0 = x, y0 = y;
        x += sin(angle[i]), y -= cos(angle[i]);
        snprintf(name, sizeof name, "m%d", i + 1);
        const lw_body mass =
            lwt_body(b, &(lw_body_desc){.name = name, .mass = 1, .pose.position = {x, y, 0}});
        snprintf(name, sizeof name, "j%d", i + 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, name, last, mass, x0, y0);
        last = mass;
    }
    return lwt_model(b);
}

static inline lw_linear *lwt_linearize(const lw_model *model, const lw_linear_desc *desc)
{
    lw_linear *linear;
    lw_error error;
    lwt_ok(lw_linearize(model, desc, &linear, &error), &error);
    return linear;
}

static inline lw_model *lwt_balance(const lw_model *model, bool any, lw_equilibrium *report)
{
    lw_model *balanced;
    lw_error error;
    const lw_equilibrium_desc desc = {.any = any};
    lwt_ok(lw_model_equilibrium(model, &desc, &balanced, report, &error), &error);
    return balanced;
}

static inline lw_modes *lwt_modes(const lw_linear *linear)
{
    lw_modes *modes;
    lw_error error;
    lwt_ok(lw_modes_create(linear, &modes, &error), &error);
    return modes;
}

static inline void lwt_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.15g, expected %.15g", value, expected);
}

/** A call ended as expected, and its error says so. */
static inline void lwt_refused(lw_status status, lw_status expected, const lw_error *error,
                               const char *text)
{
    assert_int_equal(status, expected);
    if (!strstr(error->text, text)) fail_msg("'%s' has no '%s'", error->text, text);
}

#endif

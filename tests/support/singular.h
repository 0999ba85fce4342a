// singular.h -- mechanisms that pass singular positions.
#ifndef LWT_SINGULAR_H
#define LWT_SINGULAR_H

#include "support/mechanism.h"

/** N + 1 upright rods of 1 m and 1 kg, which carry N level ones and fall with 1 rad/s (benchmark A02 of the IFToMM).
 *  With N = 2 all of them come into a line at 0.714356 s, 1.228 s and 2.657 s.  Bodies: the upright rods, then the
 *  level ones. */
static inline lw_model *lwt_four_bars(int n)
{
    enum { MOST = 8 };
    lw_builder *b = lwt_builder();
    lw_body upright[MOST + 1];
    char name[16];
    assert_in_range(n, 1, MOST);
    for (int i = 0; i <= n; i++) {
        snprintf(name, sizeof name, "v%d", i);
        upright[i] = lwt_rod(b, name, i, 0, i, 1, 1);
        snprintf(name, sizeof name, "g%d", i);
        const lw_joint_desc pivot = {.name = name,
                                     .type = LW_JOINT_REVOLUTE,
                                     .body2 = upright[i],
                                     .at = {i, 0, 0},
                                     .axis = {0, 0, 1},
                                     .has_qd = i == 0,
                                     .qd = {-1}};
        lwt_add(b, &pivot);
    }
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d", i);
        const lw_body level = lwt_rod(b, name, i, 1, i + 1, 1, 1);
        snprintf(name, sizeof name, "a%d", i);
        lwt_joint(b, LW_JOINT_REVOLUTE, name, upright[i], level, i, 1);
        snprintf(name, sizeof name, "b%d", i);
        lwt_joint(b, LW_JOINT_REVOLUTE, name, level, upright[i + 1], i + 1, 1);
    }
    return lwt_model(b);
}

#define LWT_RHOMBUS_MASS 1.0
#define LWT_RHOMBUS_INERTIA 1.0

/** Two bars of 1 m on pivots one above the other, from rest at 45 degrees, and a coupler between their tips, body 2.  All
 *  of them come into a line at 1.0137 s.  The upper pivot is higher by `gap` [m], so they miss it by 1.7 times as much. */
static inline lw_model *lwt_rhombus(double gap)
{
    const double c = sqrt(0.5), inertia = LWT_RHOMBUS_INERTIA;
    lw_builder *b = lwt_builder();
    lw_body_desc bar = {.mass = LWT_RHOMBUS_MASS, .inertia = {inertia, inertia, inertia}};
    bar.name = "lower", bar.pose.position = (lw_vec3){c / 2, c / 2, 0};
    const lw_body lower = lwt_body(b, &bar);
    bar.name = "coupler", bar.pose.position = (lw_vec3){c, c + 0.5, 0};
    const lw_body coupler = lwt_body(b, &bar);
    bar.name = "upper", bar.pose.position = (lw_vec3){c / 2, c / 2 + 1, 0};
    const lw_body upper = lwt_body(b, &bar);
    lwt_joint(b, LW_JOINT_REVOLUTE, "foot", lwt_ground, lower, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "tip", lower, coupler, c, c);
    lwt_joint(b, LW_JOINT_REVOLUTE, "top", upper, coupler, c, c + 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "pivot", lwt_ground, upper, 0, 1 + gap);
    return lwt_model(b);
}

#endif

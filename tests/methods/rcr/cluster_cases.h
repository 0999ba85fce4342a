// cluster_cases.h -- mechanisms with loops that `rcr` evaluates by loop clusters in lanes, and their evaluations by
// clusters, by the general elimination and by absolute coordinates.
//
// Mechanisms start at rest under gravity of any direction, so their states satisfy the constraints to the error of
// Runge and Kutta (below 1e-12 here).  Clusters lose the digits that normal equations lose: those of the smallest
// pivot they accept.
#ifndef LWT_CLUSTER_CASES_H
#define LWT_CLUSTER_CASES_H

#include "methods/rcr/clusters/clusters.h"
#include "methods/rcr/rcr_cases.h"

#include "methods/rcr/clusters/evaluate.h"
#include "tree/simd/kernels.h"
#include "kinematics/closure.h"

#include <float.h>

// Rounding of a few dozen operations, magnified by the smallest pivot that clusters accept.
#define TOLERANCE (64 * DBL_EPSILON / LWI_CLUSTER_PIVOT)

static const int widths[] = {1, 4, 8, 0}; // 0: by the number of clusters in a block

static double step_size = 1e-3; // its fifth power: local errors far below the tolerance

// -------------------------------------------------------------------------------------- mechanisms

/** A pose in space: points and directions of a mechanism drawn near the origin are transformed by
 *  it. */
typedef struct site {
    lw_builder *b;
    double R[9];
    int nbody;
    lw_body base; ///< body that carries the mechanisms; the ground
} site;

static inline lw_vec3 rotated(const site *s, double x, double y, double z)
{
    const double a[3] = {x, y, z};
    double r[3];
    m3_mul_v(r, s->R, a);
    return (lw_vec3){r[0], r[1], r[2]};
}

static inline double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static inline site new_site(uint64_t *seed, bool straight)
{
    site s = {.b = lwt_builder(), .base = lwt_ground};
    step_size = 1e-3;
    double q[4] = {1, 0, 0, 0};
    for (int i = 0; i < 4 && !straight; i++) q[i] = draw(seed);
    quat_matrix(s.R, q);
    const double g[3] = {5 * draw(seed), -9 + draw(seed), 5 * draw(seed)};
    lw_builder_gravity(s.b, rotated(&s, g[0], g[1], g[2]));
    return s;
}

/** A body with its mass centre there and principal axes in no special direction. */
static inline lw_body blob(site *s, double x, double y, double z, double mass)
{
    const double i = 0.02 * (1 + 0.3 * (s->nbody++ % 4)) * mass;
    return lwt_body(s->b,
                    &(lw_body_desc){.mass = mass,
                                    .inertia = {i, 1.3 * i, 1.7 * i, 0.1 * i, -0.2 * i, 0.15 * i},
                                    .pose = {.position = rotated(s, x, y, z)}});
}

static inline lw_joint pin(site *s, lw_joint_type type, lw_body a, lw_body b, const double at[3],
                           const double axis[3], lw_cut cut)
{
    return lwt_add(s->b, &(lw_joint_desc){.type = type,
                                          .body1 = a,
                                          .body2 = b,
                                          .at = rotated(s, at[0], at[1], at[2]),
                                          .axis = rotated(s, axis[0], axis[1], axis[2]),
                                          .cut = cut});
}

#define AT(x, y, z)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        x, y, z                                                                                    \
    }
static const double X[3] = {1, 0, 0}, Y[3] = {0, 1, 0}, Z[3] = {0, 0, 1};

static inline lw_joint universal(site *s, lw_body a, lw_body b, const double at[3],
                                 const double axis[3], const double axis2[3], bool reversed,
                                 lw_cut cut);

/** Crank, coupler and rocker on `base` with their first pivot at (x, y, z); the rocker.  `cross`: a universal joint closes
 *  the loop: two of its four rows are redundant. */
static inline lw_body add_four_bar(site *s, lw_body base, double x, double y, double z, bool cross)
{
    const lw_body crank = blob(s, x + 0.05, y + 0.1, z, 1),
                  coupler = blob(s, x + 0.5, y + 0.4, z + 0.1, 2);
    const lw_body rocker = blob(s, x + 0.8, y + 0.2, z - 0.1, 1.5);
    pin(s, LW_JOINT_REVOLUTE, base, crank, AT(x, y, z), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, coupler, AT(x + 0.1, y + 0.25, z), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, base, rocker, AT(x + 0.7, y - 0.1, z), Z, LW_CUT_AUTO);
    const double *end = AT(x + 0.9, y + 0.5, z);
    if (cross)
        universal(s, coupler, rocker, end, Z, AT(0.3, 1, 0), false, LW_CUT_ALWAYS);
    else
        pin(s, LW_JOINT_REVOLUTE, coupler, rocker, end, Z, LW_CUT_PREFER);
    return rocker;
}

static inline lw_body four_bar(site *s, lw_body base, double x, double y, double z)
{
    return add_four_bar(s, base, x, y, z, false);
}

/** A crank on the ground, a slider along a tilted rail, a rod between. */
static inline void crank_slider(site *s, double x, double y)
{
    const lw_body crank = blob(s, x, y + 0.1, 0, 1), rod = blob(s, x + 0.4, y + 0.2, 0.05, 0.7);
    const lw_body slider = blob(s, x + 0.9, y, 0, 2);
    pin(s, LW_JOINT_REVOLUTE, s->base, crank, AT(x, y, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, rod, AT(x + 0.05, y + 0.25, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_PRISMATIC, s->base, slider, AT(x + 0.9, y, 0), AT(1, 0.2, 0), LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, slider, rod, AT(x + 0.85, y, 0), Z, LW_CUT_PREFER);
}

/** Inclined posts on universal joints with rungs between their tips. */
static inline void ladder(site *s, int n, double y)
{
    lw_body last = {0};
    for (int i = 0; i <= n; i++) {
        const lw_body post = blob(s, i + 0.1, y + 0.05, 0.5, 1);
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                       .body1 = s->base,
                                       .body2 = post,
                                       .at = rotated(s, i, y, 0),
                                       .axis = rotated(s, 1, 0, 0),
                                       .axis2 = rotated(s, 0, 1, 0)});
        if (i > 0) {
            const lw_body rung = blob(s, i - 0.3, y + 0.2, 0.9, 0.8);
            pin(s, LW_JOINT_REVOLUTE, last, rung, AT(i - 0.75, y + 0.2, 1), Y, LW_CUT_AUTO);
            pin(s, LW_JOINT_REVOLUTE, rung, post, AT(i + 0.25, y + 0.2, 1), Y, LW_CUT_PREFER);
        }
        last = post;
    }
}

/** Two legs of three parallel hinges each: the platform translates along one line.  One of five rows is redundant, four
 *  speeds depend on the fifth. */
static inline void sarrus(site *s, double x)
{
    const lw_body a1 = blob(s, x - 0.6, 0, 0.3, 1), a2 = blob(s, x - 0.6, 0, 0.8, 1);
    const lw_body b1 = blob(s, x, -0.6, 0.3, 1), b2 = blob(s, x, -0.6, 0.8, 1);
    const lw_body top = blob(s, x, 0, 1.1, 2);
    pin(s, LW_JOINT_REVOLUTE, s->base, a1, AT(x - 0.5, 0, 0), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, a1, a2, AT(x - 0.9, 0, 0.5), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, a2, top, AT(x - 0.5, 0, 1), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, s->base, b1, AT(x, -0.5, 0), X, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, b1, b2, AT(x, -0.9, 0.5), X, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, b2, top, AT(x, -0.5, 1), X, LW_CUT_PREFER);
}

/** Rotates about `axis`, fixed in a, and about axis2, fixed in b; reversed: the same joint with b as its first body. */
static inline lw_joint universal(site *s, lw_body a, lw_body b, const double at[3],
                                 const double axis[3], const double axis2[3], bool reversed,
                                 lw_cut cut)
{
    const lw_vec3 one = rotated(s, axis[0], axis[1], axis[2]),
                  two = rotated(s, axis2[0], axis2[1], axis2[2]);
    return lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                          .body1 = reversed ? b : a,
                                          .body2 = reversed ? a : b,
                                          .at = rotated(s, at[0], at[1], at[2]),
                                          .axis = reversed ? two : one,
                                          .axis2 = reversed ? one : two,
                                          .cut = cut});
}

/** Seven hinges in no special position: five speeds depend on the sixth.  With `cross` a universal joint in place of the
 *  fourth one closes the loop: four depend on two. */
static inline void add_chain(site *s, double x, bool cross, bool reversed)
{
    static const double at[7][3] = {{0, 0, 0},       {0.3, 0.5, 0.2},  {0.8, 0.7, -0.1},
                                    {1.3, 0.4, 0.3}, {1.4, -0.2, 0.1}, {1, -0.6, -0.2},
                                    {0.4, -0.5, 0.1}};
    static const double axis[7][3] = {{0, 0, 1},      {1, 0.2, 0.3}, {0.1, 1, 0.2}, {0.3, -0.2, 1},
                                      {1, 0.4, -0.3}, {0.2, 1, 0.5}, {-0.4, 0.3, 1}};
    lw_body last = s->base;
    for (int i = 0; i < 7; i++) {
        const lw_body next =
            i == 6 ? s->base
                   : blob(s, x + (at[i][0] + at[i + 1][0]) / 2, (at[i][1] + at[i + 1][1]) / 2,
                          (at[i][2] + at[i + 1][2]) / 2, 1);
        const double *here = AT(x + at[i][0], at[i][1], at[i][2]);
        if (i == 3 && cross)
            universal(s, last, next, here, axis[i], AT(0.2, 0.3, 0), reversed, LW_CUT_ALWAYS);
        else
            pin(s, LW_JOINT_REVOLUTE, last, next, here, axis[i],
                i == 6 && !cross ? LW_CUT_PREFER : LW_CUT_AUTO);
        last = next;
    }
}

static inline void add_hinges(site *s, double x)
{
    add_chain(s, x, false, false);
}

/** A body cut into halves that a fixed joint holds together: eight hinges in space, of which six speeds depend on two,
 *  and on the last body of that loop a coupler in a plane, where three of six rows are redundant. */
static inline void halves(site *s, double x)
{
    static const double at[9][3] = {{0, 0, 0},        {0.3, 0.5, 0.2},  {0.8, 0.7, -0.1},
                                    {1.3, 0.4, 0.3},  {1.4, -0.2, 0.1}, {1, -0.6, -0.2},
                                    {0.4, -0.5, 0.1}, {0.1, -0.3, 0.2}, {0, 0, 0}};
    static const double axis[8][3] = {{0, 0, 1},      {1, 0.2, 0.3}, {0.1, 1, 0.2},  {0.3, -0.2, 1},
                                      {1, 0.4, -0.3}, {0.2, 1, 0.5}, {-0.4, 0.3, 1}, {1, 1, -0.5}};
    lw_body last = s->base, half = s->base;
    for (int i = 0; i < 8; i++) { // the halves of body 3 are between hinges 3 and 4
        const lw_body next =
            i == 7 ? s->base
                   : blob(s, x + (at[i][0] + at[i + 1][0]) / 2, (at[i][1] + at[i + 1][1]) / 2,
                          (at[i][2] + at[i + 1][2]) / 2, 1);
        if (i == 3) {
            half = blob(s, x + 1.3, 0.2, 0.2, 0.7);
            pin(s, LW_JOINT_REVOLUTE, last, half, AT(x + at[i][0], at[i][1], at[i][2]), axis[i],
                LW_CUT_AUTO);
            pin(s, LW_JOINT_FIXED, half, next, AT(x + 1.35, 0.1, 0.2), AT(0.3, 0.5, 1),
                LW_CUT_ALWAYS);
        } else {
            pin(s, LW_JOINT_REVOLUTE, last, next, AT(x + at[i][0], at[i][1], at[i][2]), axis[i],
                LW_CUT_AUTO);
        }
        last = next;
    }
    const lw_body crank = blob(s, x + 0.05, 2.1, 0, 1), rocker = blob(s, x + 0.8, 2.2, -0.1, 1.5);
    const lw_body left = blob(s, x + 0.3, 2.3, 0.1, 1), right = blob(s, x + 0.6, 2.4, 0.1, 1.2);
    pin(s, LW_JOINT_REVOLUTE, half, crank, AT(x, 2, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, left, AT(x + 0.1, 2.25, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, half, rocker, AT(x + 0.7, 1.9, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, rocker, right, AT(x + 0.9, 2.5, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_FIXED, left, right, AT(x + 0.5, 2.4, 0.2), AT(1, 0.2, 0.3), LW_CUT_ALWAYS);
}

/** A chain of hinges on a body. */
static inline void branch(site *s, lw_body base, double x, double y, int n)
{
    for (int i = 0; i < n; i++) {
        const lw_body next = blob(s, x + 0.2 * i + 0.1, y, 0.1, 0.5);
        pin(s, LW_JOINT_REVOLUTE, base, next, AT(x + 0.2 * i, y, 0), i % 2 ? Y : Z, LW_CUT_AUTO);
        base = next;
    }
}

/** A loop closed by a spherical joint: three speeds depend on the others. */
static inline void ball_loop(site *s, double x)
{
    const lw_body a = blob(s, x + 0.1, 0.3, 0.1, 1), b = blob(s, x + 0.6, 0.6, 0, 1);
    const lw_body c = blob(s, x + 1, 0.2, 0.1, 1);
    pin(s, LW_JOINT_REVOLUTE, s->base, a, AT(x, 0, 0), AT(0.1, 0.2, 1), LW_CUT_AUTO);
    lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                   .body1 = a,
                                   .body2 = b,
                                   .at = rotated(s, x + 0.2, 0.5, 0),
                                   .axis = rotated(s, 0, 0, 1),
                                   .axis2 = rotated(s, 0, 1, 0)});
    pin(s, LW_JOINT_REVOLUTE, s->base, c, AT(x + 1, 0, 0), AT(0.3, 0, 1), LW_CUT_AUTO);
    pin(s, LW_JOINT_SPHERICAL, b, c, AT(x + 1, 0.5, 0.1), Z, LW_CUT_PREFER);
}

/** n times two four-bars on one crank with bars between their rockers: the coordinates of each loop come from two
 *  clusters that the crank moves. */
static inline void leg(site *s, lw_body crank, double x, double side)
{
    const lw_body upper = blob(s, x + 0.5 * side, 0.5, 0, 1),
                  lower = blob(s, x + 0.5 * side, -0.5, 0, 1);
    const lw_body top = blob(s, x + side, 0.6, 0.1, 1), bottom = blob(s, x + side, -0.6, 0, 1);
    const lw_body front = blob(s, x + 1.5 * side, 0.7, 0, 0.5),
                  foot = blob(s, x + 1.4 * side, -0.6, 0, 0.7);
    pin(s, LW_JOINT_REVOLUTE, crank, upper, AT(x + 0.15, 0.1, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, lower, AT(x + 0.15, 0.1, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, s->base, top, AT(x + 0.9 * side, 0, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, s->base, bottom, AT(x + 0.9 * side, 0, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, upper, top, AT(x + 0.9 * side, 1, 0), Z, LW_CUT_PREFER);
    pin(s, LW_JOINT_REVOLUTE, lower, bottom, AT(x + 0.9 * side, -1, 0), Z, LW_CUT_PREFER);
    pin(s, LW_JOINT_REVOLUTE, top, front, AT(x + 1.6 * side, 0.9, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, bottom, foot, AT(x + 1.2 * side, -1, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, front, foot, AT(x + 1.7 * side, -0.3, 0), Z, LW_CUT_PREFER);
}

/** A ball between the end of a leg and the platform: the first leg carries the platform, others close loops; reversed: on
 *  the platform's frame. */
static inline void wrist(site *s, lw_body leg, lw_body platform, const double at[3], bool carries,
                         bool reversed)
{
    pin(s, LW_JOINT_SPHERICAL, reversed ? platform : leg, reversed ? leg : platform, at, Z,
        carries ? LW_CUT_NEVER : LW_CUT_ALWAYS);
}

/** A Delta robot: three arms on hinges, two bars on universal joints to each, and the platform on balls at their ends.
 *  Fifteen speeds of five loops depend on three together. */
static inline void delta_robot(site *s, double x, bool reversed)
{
    const lw_body platform = blob(s, x + 0.02, 0.01, -0.5, 1);
    for (int i = 0; i < 3; i++) {
        const double c = cos(2 * i + 0.1), d = sin(2 * i + 0.1), reach = 0.5 + 0.02 * i;
        const lw_body arm = blob(s, x + 0.35 * c, 0.35 * d, 0.02, 1);
        pin(s, LW_JOINT_REVOLUTE, s->base, arm, AT(x + 0.2 * c, 0.2 * d, 0), AT(-d, c, 0.1 * i),
            LW_CUT_AUTO);
        for (int side = -1; side < 2; side += 2) {
            const double across = 0.08 * side, up = 0.05;
            const double *top = AT(x + reach * c - across * d, reach * d + across * c, up);
            const double *end = AT(x + 0.1 * c - across * d, 0.1 * d + across * c, -0.5);
            const lw_body bar = blob(s, (top[0] + end[0]) / 2, (top[1] + end[1]) / 2, -0.2, 0.5);
            universal(s, arm, bar, top, AT(-d, c, 0), AT(c, d, 0.5), false, LW_CUT_AUTO);
            wrist(s, bar, platform, end, i == 0 && side < 0, reversed);
        }
    }
}

/** What closes the loops of robots with universal joints, and which body of these is the first. */
typedef enum lwt_crosses { AT_ENDS, AT_FEET, AT_FEET_REVERSED, NCROSSES } lwt_crosses;

/** A Delta robot with one bar on each arm, on universal joints at both ends with parallel axes, which close its loops at
 *  the platform or at the arms: the platform does not rotate, eight speeds depend on three. */
static inline void delta_on_crosses(site *s, double x, lwt_crosses at)
{
    const lw_body platform = blob(s, x + 0.02, 0.01, -0.5, 1);
    for (int i = 0; i < 3; i++) {
        const double c = cos(2 * i + 0.1), d = sin(2 * i + 0.1), reach = 0.5 + 0.02 * i;
        const double *top = AT(x + reach * c, reach * d, 0.05),
                     *end = AT(x + 0.1 * c, 0.1 * d, -0.5);
        const double side[3] = {-d, c, 0.1 * i},
                     along[3] = {end[0] - top[0], end[1] - top[1], -0.55};
        const lw_body arm = blob(s, x + 0.35 * c, 0.35 * d, 0.02, 1);
        const lw_body bar = blob(s, (top[0] + end[0]) / 2, (top[1] + end[1]) / 2, -0.2, 0.5);
        const bool reversed = i > 0 && at == AT_FEET_REVERSED;
        double across[3];
        v3_cross(across, side, along);
        pin(s, LW_JOINT_REVOLUTE, s->base, arm, AT(x + 0.2 * c, 0.2 * d, 0), side, LW_CUT_NEVER);
        universal(s, arm, bar, top, side, across, reversed,
                  i > 0 && at != AT_ENDS ? LW_CUT_ALWAYS : LW_CUT_NEVER);
        universal(s, platform, bar, end, side, across, false,
                  i > 0 && at == AT_ENDS ? LW_CUT_ALWAYS : LW_CUT_NEVER);
    }
}

/** A Stewart platform: six legs that slide, on universal joints, to balls on the platform; balls close its loops, or the
 *  universal joints. */
static inline void stewart_closed(site *s, double x, bool reversed, lwt_crosses at)
{
    const lw_body platform = blob(s, x + 0.02, 0.01, 1, 2);
    for (int i = 0; i < 6; i++) {
        const double low = 1.05 * i + (i % 2 ? 0.3 : -0.1), high = 1.05 * i + (i % 2 ? -0.2 : 0.35);
        const double *foot = AT(x + 0.8 * cos(low), 0.8 * sin(low), 0.02 * i);
        const double *end = AT(x + 0.45 * cos(high), 0.45 * sin(high), 1);
        const double along[3] = {end[0] - foot[0], end[1] - foot[1], end[2] - foot[2]};
        const lw_body lower = blob(s, foot[0] + 0.3 * along[0], foot[1] + 0.3 * along[1], 0.3, 1);
        const lw_body upper = blob(s, foot[0] + 0.7 * along[0], foot[1] + 0.7 * along[1], 0.7, 1);
        double side[3];
        v3_cross(side, along, X);
        universal(s, s->base, lower, foot, side, X, i > 0 && at == AT_FEET_REVERSED,
                  i > 0 && at != AT_ENDS ? LW_CUT_ALWAYS : LW_CUT_NEVER);
        pin(s, LW_JOINT_PRISMATIC, lower, upper, foot, along, LW_CUT_AUTO);
        wrist(s, upper, platform, end, i == 0 || at != AT_ENDS, reversed);
    }
}

static inline void stewart(site *s, double x, bool reversed)
{
    stewart_closed(s, x, reversed, AT_ENDS);
}

/** A platform on eight cranks: rods have universal joints at the cranks and balls at the platform, and rotate more than ten
 *  times as fast as the platform at every position. */
static inline void platform_on_cranks(site *s, double x)
{
    const lw_body platform = blob(s, x + 0.01, 0.02, 0.8, 2);
    for (int i = 0; i < 8; i++) {
        const double angle = 1.5707963 * (i / 2) + (i % 2 ? 0.19 : -0.19);
        const double c = cos(angle), d = sin(angle);
        const double *knee = AT(x + 0.85 * c, 0.85 * d, 0.1), *tip = AT(x + 0.4 * c, 0.4 * d, 0.8);
        const double along[3] = {tip[0] - knee[0], tip[1] - knee[1], 0.7}, side[3] = {-d, c, 0};
        const lw_body crank = blob(s, x + 0.72 * c, 0.72 * d, 0.05, 0.3);
        const lw_body rod = blob(s, (knee[0] + tip[0]) / 2, (knee[1] + tip[1]) / 2, 0.45, 0.3);
        double across[3];
        v3_cross(across, side, along);
        pin(s, LW_JOINT_REVOLUTE, s->base, crank, AT(x + 0.6 * c, 0.6 * d, 0), side, LW_CUT_NEVER);
        universal(s, crank, rod, knee, side, across, false, LW_CUT_NEVER);
        wrist(s, rod, platform, tip, i == 0, false);
    }
}

/** A platform in a plane, `radius` wide, on three legs of two links.  `type` hinges close its two loops; LW_JOINT_FIXED: halves of small
 *  bodies on hinges.  Neither loop determines its speeds alone, and rows are redundant. */
static inline void plane_platform(site *s, double x, lw_joint_type type, double radius)
{
    const lw_body platform = blob(s, x + 0.02, 0.03, 0.1, 1);
    for (int i = 0; i < 3; i++) {
        const double c = cos(2.1 * i), d = sin(2.1 * i);
        const double *foot = AT(x + c, d, 0), *end = AT(x + radius * c, radius * d, 0);
        const double *knee = AT(x + 0.9 * c - 0.4 * d, 0.9 * d + 0.4 * c, 0);
        const lw_body upper = blob(s, (foot[0] + knee[0]) / 2, (foot[1] + knee[1]) / 2, 0, 1),
                      lower = blob(s, (end[0] + knee[0]) / 2, (end[1] + knee[1]) / 2, 0.1, 1);
        pin(s, LW_JOINT_REVOLUTE, s->base, upper, foot, Z, LW_CUT_NEVER);
        pin(s, LW_JOINT_REVOLUTE, upper, lower, knee, Z, LW_CUT_NEVER);
        if (i == 0 || type != LW_JOINT_FIXED) {
            pin(s, LW_JOINT_REVOLUTE, lower, platform, end, Z, i ? LW_CUT_ALWAYS : LW_CUT_NEVER);
            continue;
        }
        const lw_body half = blob(s, end[0], end[1], 0.05, 0.3),
                      other = blob(s, end[0], end[1], -0.05, 0.2);
        pin(s, LW_JOINT_REVOLUTE, lower, half, end, Z, LW_CUT_NEVER);
        pin(s, LW_JOINT_REVOLUTE, platform, other, end, Z, LW_CUT_NEVER);
        pin(s, LW_JOINT_FIXED, half, other, end, AT(1, 0.2, 0.3), LW_CUT_ALWAYS);
    }
}

typedef enum lwt_base {
    GROUND,
    FLOATING, ///< without a joint
    FREE,     ///< by a reversed joint
    BALL,     ///< on a spherical joint at the ground
    NBASE
} lwt_base;

/** Body that carries the mechanisms from now on: a rotating body, or the ground. */
static inline void place_on(site *s, lwt_base kind, uint64_t *seed)
{
    s->base = lwt_ground;
    if (kind == GROUND) return;
    const double v[3] = {draw(seed), draw(seed), draw(seed)},
                 w[3] = {draw(seed), draw(seed), draw(seed)};
    s->nbody++;
    s->base = lwt_body(s->b, &(lw_body_desc){.mass = 3,
                                             .inertia = {0.4, 0.5, 0.6, 0.05, -0.04, 0.03},
                                             .com = {0.1, -0.05, 0.02},
                                             .pose = {.position = rotated(s, 0.3, 0.2, 0.1)},
                                             .has_velocity = kind == FLOATING,
                                             .velocity = {v[0], v[1], v[2]},
                                             .angular_velocity = {w[0], w[1], w[2]}});
    if (kind == FREE)
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_FREE,
                                       .body1 = s->base,
                                       .body2 = lwt_ground,
                                       .at = rotated(s, 0.5, 0.1, 0),
                                       .has_qd = 1,
                                       .damping = 0.2,
                                       .qd = {v[0], v[1], v[2], w[0], w[1], w[2]}});
    if (kind == BALL)
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_SPHERICAL,
                                       .body1 = lwt_ground,
                                       .body2 = s->base,
                                       .at = rotated(s, 0.5, 0.1, 0.2),
                                       .has_qd = 1,
                                       .damping = 0.2,
                                       .qd = {w[0], w[1], w[2]}});
}

typedef enum lwt_kind {
    FOUR_BARS,     ///< a chain of n: each cluster on the rod of the one before
    CRANK_SLIDERS, ///< a row, each on the ground
    LADDER,
    SARRUS,
    SEVEN_HINGES,
    BALLS,
    HALVES,
    TREE,  ///< four-bars on rockers, branches before and behind
    MIXED, ///< some of all
    DELTA, ///< loops that are coupled
    STEWART,
    REVERSED, ///< one of each, the platform's balls passed backwards
    PLANE,    ///< platforms in a plane, on hinges
    PLANE_HALVES,
    CROSSES, ///< loops closed by universal joints, in space and in planes
    DELTA_CROSSES,
    DELTA_FEET,
    STEWART_FEET,
    CRANKS,
    NKIND
} lwt_kind;

static inline void add_tree(site *s, int n)
{
    lw_body rocker[16] = {four_bar(s, s->base, 0, 0, 0)};
    for (int i = 1; i < n; i++)
        rocker[i] = four_bar(s, rocker[(i - 1) / 2], 0.7 + i, 0.3 - i % 2, 0.2 * i);
    branch(s, rocker[n - 1], 2, 2, 1);
    branch(s, s->base, -1, -1, 3);
}

static inline void populate(site *s, lwt_kind kind, int n)
{
    if (kind == PLANE_HALVES) step_size = 1e-4; // light bodies between hinges move fast
    switch (kind) {
    case FOUR_BARS: {
        lw_body last = s->base;
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                       .body1 = s->base,
                                       .body2 = last = blob(s, 0, 0.5, 0, 1),
                                       .at = rotated(s, 0, 0, 0),
                                       .axis = rotated(s, 0, 0, 1)});
        for (int i = 1; i <= n; i++) { // rods of the same size alternate in inclination
            const double lean = 0.1 * (i % 3);
            const lw_body span = blob(s, i - 0.5, 1, 0, 1), rod = blob(s, i, 0.4, 0.1, 1);
            const double before = 0.1 * ((i - 1) % 3);
            pin(s, LW_JOINT_REVOLUTE, last, span, AT(i - 1 + before, 1, 0), Z, LW_CUT_AUTO);
            pin(s, LW_JOINT_REVOLUTE, s->base, rod, AT(i, 0, 0), Z, LW_CUT_AUTO);
            pin(s, LW_JOINT_REVOLUTE, span, rod, AT(i + lean, 1, 0), Z, LW_CUT_PREFER);
            last = rod;
        }
        break;
    }
    case CRANK_SLIDERS:
        for (int i = 0; i < n; i++) crank_slider(s, 2 * i, 0.1 * (i % 3));
        break;
    case LADDER:
        ladder(s, n, 0);
        break;
    case SARRUS:
        for (int i = 0; i < n; i++) sarrus(s, 3 * i);
        break;
    case SEVEN_HINGES:
        for (int i = 0; i < n; i++) add_hinges(s, 3 * i);
        break;
    case BALLS:
        for (int i = 0; i < n; i++) ball_loop(s, 3 * i);
        break;
    case HALVES:
        for (int i = 0; i < n; i++) halves(s, 3 * i);
        break;
    case TREE:
        add_tree(s, n);
        break;
    case DELTA:
        for (int i = 0; i < n; i++) delta_robot(s, 3 * i, false);
        break;
    case STEWART:
        for (int i = 0; i < n; i++) stewart(s, 3 * i, false);
        break;
    case REVERSED:
        delta_robot(s, 0, true);
        stewart(s, 3, true);
        break;
    case PLANE:
        for (int i = 0; i < n; i++) plane_platform(s, 3 * i, LW_JOINT_REVOLUTE, 0.3);
        break;
    case CROSSES:
        for (int i = 0; i < n; i++) {
            add_chain(s, 3 * i, true, i % 2);
            add_four_bar(s, s->base, 3 * i, 3, 0, true);
        }
        break;
    case DELTA_CROSSES:
        for (int i = 0; i < n; i++) delta_on_crosses(s, 3 * i, AT_ENDS);
        break;
    case DELTA_FEET:
        for (int i = 0; i < n; i++) delta_on_crosses(s, 3 * i, AT_FEET_REVERSED);
        break;
    case STEWART_FEET:
        for (int i = 0; i < n; i++)
            stewart_closed(s, 3 * i, false, i % 2 ? AT_FEET : AT_FEET_REVERSED);
        break;
    case CRANKS:
        for (int i = 0; i < n; i++) platform_on_cranks(s, 3 * i);
        break;
    case PLANE_HALVES:
        for (int i = 0; i < n; i++) plane_platform(s, 3 * i, LW_JOINT_FIXED, 0.3);
        break;
    default:
        for (int i = 0; i < n; i++) {
            four_bar(s, s->base, 2 * i, 5, 0);
            crank_slider(s, 2 * i, 7);
        }
        ladder(s, n, 10);
        add_hinges(s, 0);
        add_tree(s, 2);
        break;
    }
}

static inline lw_model *build_on(lwt_base base, lwt_kind kind, int n, bool straight, uint64_t *seed)
{
    site s = new_site(seed, straight);
    place_on(&s, base, seed);
    populate(&s, kind, n);
    return lwt_model(s.b);
}

static inline lw_model *build(lwt_kind kind, int n, bool straight, uint64_t *seed)
{
    return build_on(GROUND, kind, n, straight, seed);
}

// --------------------------------------------------------------------------------------
// evaluations

static inline lwi_work *work_of(const lw_model *model, int lanes)
{
    lwi_work *work;
    lw_error error;
    lwt_ok(lwi_work_create_lanes(model, RCR, NULL, lanes, &work, &error), &error);
    return work;
}

// A run from the model's start.
static inline lwt_run drop(const lw_model *model, int lanes)
{
    lwi_snapshot start;
    lwt_run r = {.model = model, .work = work_of(model, lanes)};
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    assert_int_equal(lwi_snapshot_create(model, &r.arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    lwt_ok(RCR->enter(r.work, &start, r.x), &r.work->error);
    return r;
}

static inline void step_on(lwt_run *r, int steps, const double *inputs)
{
    lwt_integrate(r->work, &r->t, r->x, inputs, step_size, steps);
}

// Kinetic and potential energy, from an observation.
static inline double energy_of(lwt_run *r)
{
    double sum = 0;
    lwt_run_observe(r);
    for (int b = 1; b < r->model->nbody; b++) {
        const lwi_body *body = &r->model->body[b];
        double L[3];
        s3_mul_v(L, body->inertia, r->now.w[b]);
        sum += 0.5 * (body->mass * v3_dot(r->now.v[b], r->now.v[b]) + v3_dot(r->now.w[b], L)) -
               body->mass * v3_dot(r->model->gravity, r->now.r[b]);
    }
    return sum;
}

// By clusters with the partition of `from`; false: the elimination has to decide.
static inline bool by_clusters(const lwt_run *from, int lanes, const double *inputs, double *xdot,
                               double *min)
{
    lwi_work *work = work_of(from->model, lanes);
    lwi_rcr_work *d = work->data;
    bool done = false;
    memcpy(work->discrete, from->work->discrete, work->ndiscrete);
    if (d->clusters) done = lwi_rcr_clusters_rates(work, from->t, from->x, inputs, xdot, min);
    lwi_work_destroy(work);
    return done;
}

// By the elimination with that partition and the rows of clusters; its smallest pivot.
static inline double by_elimination(const lwt_run *from, const double *inputs, double *xdot)
{
    lwi_work *work = work_of(from->model, widths[0]);
    lwi_rcr_work *d = work->data;
    d->clusters = NULL, d->dense = NULL;
    memcpy(work->discrete, from->work->discrete, work->ndiscrete);
    lwt_ok(RCR->rates(work, from->t, from->x, inputs, xdot), &work->error);
    const double min = lwt_rcr(&(lwt_run){.work = work})->e.min_pivot;
    lwi_work_destroy(work);
    return min;
}

static inline double difference(int n, const double *a, const double *b)
{
    double max = 1, off = 0;
    for (int i = 0; i < n; i++) {
        max = fmax(max, fabs(a[i]));
        off = fmax(off, fabs(a[i] - b[i]));
    }
    return off / max;
}

// Rates of the speeds of a body without a joint, link axes about the link's origin, from accelerations of
// its mass centre.
static inline void floating_rates(const lw_model *model, int k, const lwi_snapshot *m, double *vdot)
{
    const lwi_node *node = &model->node[k];
    double R[9], body[9], c[3], v[3], w[3], al[3], a[3], turn[3];
    quat_matrix(body, m->quat[node->body]);
    m3_mul_t(R, body, node->c_R); // link -> world
    m3_mul_v(w, node->c_R, m->w[node->body]);
    m3_mul_v(al, node->c_R, m->al[node->body]);
    m3_tmul_v(a, R, m->a[node->body]);
    m3_tmul_v(v, R, m->v[node->body]);
    v3_copy(c, node->c_r);
    v3_cross(turn, w, c);
    v3_sub(v, v, turn); // of the origin
    v3_cross(c, w, turn);
    v3_sub(a, a, c);
    v3_cross(c, al, node->c_r);
    v3_sub(a, a, c);
    v3_cross(c, w, v);
    v3_sub(vdot, a, c);
    v3_copy(vdot + 3, al);
}

// Accelerations of tree joints by absolute coordinates at the run's state.
static inline void by_dense(lwt_run *r, const double *inputs, double *vdot)
{
    lwi_snapshot a, b;
    lwt_observe(r->work, r->t, r->x, inputs, &r->arena, &a);
    lwt_run d = lwt_run_from(r->model, DENSE, &a);
    lwt_observe(d.work, r->t, d.x, inputs, &d.arena, &b);
    for (int k = 0; k < r->model->nnode; k++) {
        const lwi_node *node = &r->model->node[k];
        if (node->joint < 0) floating_rates(r->model, k, &b, vdot + node->iv);
        for (int j = 0; j < node->nv && node->joint >= 0; j++)
            vdot[node->iv + j] = b.qdd[r->model->joint[node->joint].iv + node->column[j]];
    }
    lwt_run_end(&d);
}

// A row at the run's state with its partition.  @return true: without the elimination
static inline bool observe_by(const lwt_run *from, int lanes, const double *inputs,
                              lwi_arena *arena, lwi_snapshot *row)
{
    const double none = 7; // no pivot is that large
    lwi_work *work = work_of(from->model, lanes);
    lwi_rcr_work *d = work->data;
    lwi_snapshot twists;
    memcpy(work->discrete, from->work->discrete, work->ndiscrete);
    d->dense = NULL;
    d->e.min_pivot = none;
    lwt_observe(work, from->t, from->x, inputs, arena, row);
    const bool done = d->e.min_pivot == none;
    assert_int_equal(lwi_snapshot_create(from->model, arena, &twists), LW_OK);
    lwt_ok(RCR->observe(work, from->t, from->x, inputs, LW_OBSERVE_TWIST, &twists), &work->error);
    assert_memory_equal(row->qd, twists.qd, (size_t)from->model->nv * sizeof *row->qd);
    lwi_work_destroy(work);
    return done;
}

// Largest difference of two rows, relative to the largest number of its kind.
static inline double row_difference(const lw_model *model, const lwi_snapshot *a,
                                    const lwi_snapshot *b)
{
    const int n = model->nbody;
    double off = difference(model->nv, a->qd, b->qd);
    off = fmax(off, difference(model->nv, a->qdd, b->qdd));
    off = fmax(off, difference(3 * n, a->v[0], b->v[0]));
    off = fmax(off, difference(3 * n, a->w[0], b->w[0]));
    off = fmax(off, difference(3 * n, a->a[0], b->a[0]));
    off = fmax(off, difference(3 * n, a->al[0], b->al[0]));
    return fmax(off, difference(6 * model->njoint, a->reaction[0], b->reaction[0]));
}

typedef struct findings {
    double generic, dense, ratio, rows;
    int done, requested;
} findings;

// The largest row of positions at the observed poses of the run.
static inline double open_by(lwt_run *r, const double *inputs)
{
    lwi_snapshot m;
    double max = 0;
    lwt_observe(r->work, r->t, r->x, inputs, &r->arena, &m);
    const lwi_motion motion = {
        .R = (const double(*)[9])m.R, .r = (const double(*)[3])m.r, .q = m.q};
    for (int i = 0; i < r->model->nloop + r->model->ncoupling; i++) {
        lwi_closure c;
        if (i < r->model->nloop)
            lwi_joint_closure(r->model, r->model->loop[i], r->t, &motion, LWI_CLOSURE_POSITION, &c);
        else
            lwi_coupling_closure(r->model, i - r->model->nloop, r->t, &motion, LWI_CLOSURE_POSITION,
                                 &c);
        for (int k = 0; k < c.n; k++) max = fmax(max, fabs(c.phi[k]));
    }
    return max;
}

// Up to a residual, with auxiliary coordinates: these are the coordinates of cut joints at the poses then.
static inline void compare_closing_to(lwt_run *r, const double *inputs, double gap,
                                      const char *what)
{
    const lw_model *model = r->model;
    const lwi_auxiliary *auxiliary = &lwt_rcr(r)->auxiliary;
    lwi_snapshot m;
    assert_true(RCR->close(r->work, r->t, r->x, gap, true));
    const double open = open_by(r, inputs), round_off = 64 * DBL_EPSILON * (1 + model->nnode);
    if (!(open <= gap + round_off)) fail_msg("%s: closed to %.3g of %.3g", what, open, gap);
    lwt_observe(r->work, r->t, r->x, inputs, &r->arena, &m);
    for (int i = 0; i < auxiliary->n; i++) {
        const lwi_auxiliary_item *item = &auxiliary->item[i];
        const double q = m.q[model->joint[item->joint].iq + item->coordinate];
        lwt_near(what, i, r->x[auxiliary->at + i], q, round_off);
    }
}

// From coordinates that are off, dependent ones are moved until all rows are closed, by other code than the clusters'; the
// others, speeds and auxiliary coordinates stay.  All widths have the same bits.
static inline void compare_closing(lwt_run *r, const double *inputs, const char *what)
{
    const lw_model *model = r->model;
    const lwi_rcr_choice *choice = r->work->discrete;
    const int nx = r->work->layout.nx;
    double *kept = lwt_vector(nx), *one = lwt_vector(nx), *more = lwt_vector(nx),
           *off = lwt_vector(nx);
    uint64_t seed = 3;
    memcpy(kept, r->x, (size_t)nx * sizeof *kept);
    for (int k = 0; k < model->nnode; k++)
        for (int i = 0; i < model->node[k].nq && model->node[k].nq == model->node[k].nv; i++)
            r->x[model->node[k].iq + i] += 1e-3 * draw(&seed);
    memcpy(off, r->x, (size_t)nx * sizeof *off);
    for (int w = 0; w < LWI_COUNT(widths); w++) {
        double *x = w ? more : one;
        if (!lwi_kernels_of(widths[w])) continue;
        lwi_work *work = work_of(model, widths[w]);
        memcpy(work->discrete, r->work->discrete, work->ndiscrete);
        memcpy(x, r->x, (size_t)nx * sizeof *x);
        assert_true(RCR->close(work, r->t, x, 0, false));
        assert_memory_equal(one, x, (size_t)nx * sizeof *x);
        lwi_work_destroy(work);
    }
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        bool moves = false; // a quaternion of a ball of a loop
        for (int i = 0; i < node->nv && node->nq != node->nv; i++)
            moves = moves || choice->dependent[node->iv + i];
        for (int i = 0; i < node->nq && !moves; i++)
            if (node->nq != node->nv || !choice->dependent[node->iv + i])
                assert_true(one[node->iq + i] == r->x[node->iq + i]);
    }
    assert_memory_equal(one + model->tree_nq, r->x + model->tree_nq,
                        (size_t)(nx - model->tree_nq) * sizeof *one);
    memcpy(r->x, one, (size_t)nx * sizeof *one);
    const double open = open_by(r, inputs);
    if (!(open <= 64 * DBL_EPSILON * (1 + model->nnode)))
        fail_msg("%s: closed to %.3g", what, open);
    for (int tight = 0; tight < 2; tight++) {
        memcpy(r->x, off, (size_t)nx * sizeof *off);
        compare_closing_to(r, inputs, tight ? 0 : 1e-5, what);
    }
    memcpy(r->x, kept, (size_t)nx * sizeof *kept);
    free(kept);
    free(off);
    free(one);
    free(more);
}

// Rows of redundant loops by clusters: those of the elimination, with the same bits in all widths.
static inline void compare_rows(lwt_run *r, const double *inputs, const char *what, findings *worst)
{
    const lw_model *model = r->model;
    lwi_arena arena;
    lwi_snapshot rows, one, more;
    if (!lwt_rcr(r)->reactions) return;
    lwi_arena_init(&arena, NULL);
    assert_false(observe_by(r, LWI_NO_KERNEL, inputs, &arena, &rows));
    assert_true(observe_by(r, widths[0], inputs, &arena, &one));
    const double off = row_difference(model, &rows, &one);
    worst->rows = fmax(worst->rows, off);
    if (!(off <= TOLERANCE)) fail_msg("%s, t = %g: rows are %.3g off", what, r->t, off);
    for (int w = 1; w < LWI_COUNT(widths); w++) {
        if (!lwi_kernels_of(widths[w])) continue;
        assert_true(observe_by(r, widths[w], inputs, &arena, &more));
        if (row_difference(model, &one, &more) > 0)
            fail_msg("%s: rows in %d lanes have other bits than in one", what, widths[w]);
    }
    lwi_arena_free(&arena);
}

static inline void compare(lwt_run *r, const double *inputs, const char *what, findings *worst)
{
    const int n = r->work->layout.nx, nv = r->model->tree_nv;
    double *generic = lwt_vector(n), *clusters = lwt_vector(n), *other = lwt_vector(n);
    double min, general = by_elimination(r, inputs, generic);
    worst->requested++;
    if (by_clusters(r, widths[0], inputs, clusters, &min)) {
        worst->done++;
        worst->ratio = fmax(worst->ratio, min / general);
        const double off = difference(n, generic, clusters);
        worst->generic = fmax(worst->generic, off);
        if (!(off <= TOLERANCE)) fail_msg("%s, t = %g: clusters are %.3g off", what, r->t, off);
        by_dense(r, inputs, other);
        const double dense = difference(nv, other, clusters + r->model->tree_nq);
        worst->dense = fmax(worst->dense, dense);
        // absolute coordinates have larger errors: those of the square of 6 n equations
        if (!(dense <= 100 * TOLERANCE)) fail_msg("%s: clusters are %.3g off dense", what, dense);
        for (int w = 1; w < LWI_COUNT(widths); w++) {
            if (!lwi_kernels_of(widths[w])) continue;
            assert_true(by_clusters(r, widths[w], inputs, other, &min));
            if (memcmp(clusters, other, (size_t)n * sizeof *clusters))
                fail_msg("%s: %d lanes give other bits than one", what, widths[w]);
        }
        compare_rows(r, inputs, what, worst);
        compare_closing(r, inputs, what);
    }
    free(generic);
    free(clusters);
    free(other);
}

// With a position error of this size: the elimination gives the largest row, clusters the length of the vector
// that it is a component of, with the same bits in all widths.
static inline void compare_gaps(lwt_run *r, const double *inputs, double off, const char *what)
{
    uint64_t seed = 7;
    for (int i = 0; i < r->model->tree_nq; i++) r->x[i] += off * draw(&seed);
    const double open = open_by(r, inputs), size = 1 + r->model->nnode;
    double reported[LWI_COUNT(widths)] = {0};
    lwi_work *general = work_of(r->model, LWI_NO_KERNEL);
    lwt_near(what, 0, RCR->gap(general, r->t, r->x), open, 4 * DBL_EPSILON * size);
    lwi_work_destroy(general);
    for (int w = 0; w < LWI_COUNT(widths); w++) {
        if (!lwi_kernels_of(widths[w])) continue;
        lwi_work *work = work_of(r->model, widths[w]);
        memcpy(work->discrete, r->work->discrete, work->ndiscrete);
        reported[w] = lwi_rcr_clusters_gap(work, r->t, r->x);
        assert_true(RCR->gap(work, r->t, r->x) == reported[w]);
        lwi_work_destroy(work);
        assert_true(reported[w] == reported[0]);
    }
    // one of three components is at least so large
    const double rounding = 16 * DBL_EPSILON * size;
    if (!(open <= reported[0] + rounding && reported[0] <= sqrt(3) * open + rounding))
        fail_msg("%s: clusters report %.17g, rows %.17g", what, reported[0], open);
}

#endif

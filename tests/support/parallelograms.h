// parallelograms.h -- parallelograms that pass singular positions, and runs of them.
#ifndef LWT_PARALLELOGRAMS_H
#define LWT_PARALLELOGRAMS_H

#include "simulate/simulation.h"
#include "support/given.h"
#include "support/mechanism.h"
#include "support/random_model.h"

#define LWT_PASSING_SPEED 5.0 // of cranks [rad/s]
#define LWT_FIRST_PASSES 0.24 // time of the first position [s]

/** A rod without inertia about its axis. */
static inline lw_body lwt_thin_rod(lw_builder *b, const char *name, double x1, double y1, double x2,
                                   double y2, double mass)
{
    const double l2 = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1);
    const double half = 0.5 * atan2(y2 - y1, x2 - x1);
    return lwt_body(b, &(lw_body_desc){.name = name,
                                       .mass = mass,
                                       .inertia = {0, mass * l2 / 12, mass * l2 / 12, 0, 0, 0},
                                       .pose = {.position = {(x1 + x2) / 2, (y1 + y2) / 2, 0},
                                                .orientation = {cos(half), 0, 0, sin(half)}}});
}

typedef lw_body lwt_make_rod(lw_builder *b, const char *name, double x1, double y1, double x2,
                             double y2, double mass);

/** A parallelogram on `base`, number k of a row, with its crank at an angle. */
static inline void lwt_add_parallelogram_of(lw_builder *b, lwt_make_rod *make, int k, lw_body base,
                                            double angle, double speed, double crank, double ground)
{
    const double x0 = 3 * k, x = x0 + crank * cos(angle), y = crank * sin(angle);
    char name[7][64];
    static const char *const part[] = {"crank", "coupler", "rocker", "A", "B", "C", "D"};
    for (int i = 0; i < 7; i++) snprintf(name[i], sizeof name[i], "%s%d", part[i], k);
    const lw_body rod[] = {make(b, name[0], x0, 0, x, y, 1),
                           make(b, name[1], x, y, x + ground, y, 1),
                           make(b, name[2], x0 + ground, 0, x + ground, y, 1)};
    lwt_revolute(b, name[3], base, rod[0], x0, 0, speed);
    lwt_revolute(b, name[4], rod[0], rod[1], x, y, -speed);
    lwt_revolute(b, name[5], rod[1], rod[2], x + ground, y, speed);
    lwt_revolute(b, name[6], base, rod[2], x0 + ground, 0, speed);
}

static inline void lwt_add_parallelogram(lw_builder *b, int k, lw_body base, double angle,
                                         double speed, double crank, double ground)
{
    lwt_add_parallelogram_of(b, lwt_rod, k, base, angle, speed, crank, ground);
}

/** The same with its rods in a line at the time `passes`, without gravity. */
static inline void lwt_add_passing(lw_builder *b, int k, lw_body base, double passes)
{
    lwt_add_parallelogram(b, k, base, LWT_PASSING_SPEED * passes, -LWT_PASSING_SPEED, 0.6,
                          1 + 0.1 * k);
}

/** n of them. */
static inline lw_model *lwt_passing(int n, const double *passes)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int k = 0; k < n; k++) lwt_add_passing(b, k, lwt_ground, passes[k]);
    return lwt_model(b);
}

/** With errors far below those of the steps across. */
static inline lw_sim *lwt_crossing(const lw_model *model, const char *formulation,
                                   const char *tolerance, const char *threads)
{
    const char *integrator = strtod(tolerance, NULL) < 1e-9 ? "verner87" : "dopri5";
    return lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "integrator", integrator,
                                            "rtol", tolerance, "atol", tolerance, "threads",
                                            threads, "max_steps", "3000"));
}

/** Largest error of an angle of their rods. */
static inline double lwt_passing_error(lw_sim *sim, int n, const double *passes)
{
    const lw_observation *o;
    double largest = 0;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            const double *quat = o->quaternion[1 + 3 * k + i];
            const double angle = i == 1 ? 0 : LWT_PASSING_SPEED * (passes[k] - lw_sim_time(sim));
            const double off = remainder(2 * atan2(quat[3], quat[0]) - angle, 2 * acos(-1));
            largest = fmax(largest, fabs(off));
        }
    return largest;
}

/** n parallelograms of random lengths, angles and directions, and how many positions they come to without gravity; those from the
 *  second on have speeds between slowest and fastest.  The builder is destroyed. */
static inline lw_model *lwt_add_random_parallelograms(uint64_t *random, lw_builder *b, int n,
                                                      double first, double slowest, double fastest,
                                                      double end, long *expected)
{
    const double pi = acos(-1);
    *expected = 0;
    for (int k = 0; k < n; k++) {
        double angle = lwt_random(random, 0.3, 2.8);
        double speed = first > 0 && k == 0 ? first : lwt_random(random, slowest, fastest);
        if (!lwt_random_below(random, 2)) speed = -speed;
        const double crank = lwt_random(random, 0.3, 0.8);
        const double ground = lwt_random(random, 0.9, 1.3);
        if (lwt_random_below(random, 2)) angle = -angle;
        *expected += labs(lrint(floor((angle + speed * end) / pi) - floor(angle / pi)));
        lwt_add_parallelogram(b, k, lwt_ground, angle, speed, crank, ground);
    }
    return lwt_model(b);
}

/** Up to five, and how many positions they come to; `slow`: the first one is fast, the others are slow. */
static inline lw_model *lwt_random_parallelograms(int seed, bool slow, double end, long *expected)
{
    uint64_t random = (uint64_t)seed;
    const int n = 1 + lwt_random_below(&random, 5);
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    return lwt_add_random_parallelograms(&random, b, n, slow ? 30 : 0, slow ? 0.3 : 3,
                                         slow ? 1.5 : 7, end, expected);
}

#endif

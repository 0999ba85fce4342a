// test_force_laws.c -- properties of every force between two bodies, for any law: the wrenches are
// opposite, and the power of the force equals the rate of loss of its potential plus its
// non-conservative power.
#include "model/forces/item.h"
#include "model/model.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))

static uint64_t seed = 1;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0 * 2 - 1;
}

typedef struct motion {
    double R[3][9], r[3][3], v[3][3], w[3][3];
} motion;

static lwi_kin kin_of(const motion *s)
{
    return (lwi_kin){.R = (const double(*)[9])s->R,
                     .r = (const double(*)[3])s->r,
                     .v = (const double(*)[3])s->v,
                     .w = (const double(*)[3])s->w};
}

// Two moving bodies near each other, rotated by up to `angle`.
static void random_state(motion *s, double angle)
{
    *s = (motion){0};
    m3_identity(s->R[0]);
    for (int b = 1; b < 3; b++) {
        double axis[3] = {draw(), draw(), draw()};
        v3_scale(axis, 1 / v3_norm(axis), axis);
        rot_axis(s->R[b], axis, angle * draw());
        for (int i = 0; i < 3; i++) {
            s->r[b][i] = draw();
            s->v[b][i] = draw();
            s->w[b][i] = draw();
        }
    }
}

static void moved(const motion *s, double h, motion *to)
{
    *to = *s;
    for (int b = 1; b < 3; b++) {
        const double rate = v3_norm(s->w[b]);
        double axis[3], turn[9];
        v3_scale(axis, 1 / rate, s->w[b]);
        rot_axis(turn, axis, h * rate);
        m3_mul(to->R[b], turn, s->R[b]);
        v3_axpy(to->r[b], h, s->v[b]);
    }
}

static lw_model *model_with(const char *forces)
{
    char text[2000];
    lw_model *model;
    lw_error error = {0};
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, 0, 0]\nbodies:\n"
             "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [0.1, 0.2, -0.1]}\n"
             "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [0, -0.3, 0.1]}\nforces:\n%s",
             forces);
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d: %s", error.line, error.text);
    return model;
}

static double potential(const lw_model *model, const motion *s)
{
    const lwi_kin kin = kin_of(s);
    return lwi_forces_potential(model, &kin);
}

static void check_laws(const char *forces, double angle, int min_active)
{
    lw_model *model = model_with(forces);
    double wrench[3][6];
    lwi_loads loads = {.wrench = wrench};
    int active = 0;
    for (int n = 0; n < 400; n++) {
        motion s, before, after;
        double total[6] = {0}, power = 0, size = 0;
        random_state(&s, angle);
        const lwi_kin kin = kin_of(&s);
        lwi_forces_apply(model, &kin, 0, NULL, &loads);
        for (int b = 0; b < 3; b++) {
            for (int i = 0; i < 6; i++) total[i] += wrench[b][i];
            v3_cross_add(total + 3, s.r[b], wrench[b]);
            power += v3_dot(wrench[b], s.v[b]) + v3_dot(wrench[b] + 3, s.w[b]);
            size = fmax(size, v3_norm(wrench[b]) + v3_norm(wrench[b] + 3));
        }
        active += size > 0;
        // rounding of about thirty products of the wrench with lengths up to 2
        assert_true(v3_norm(total) <= 1e-14 * size && v3_norm(total + 3) <= 1e-13 * size);
        // central difference: the third derivatives are up to 1e3 times the potential here
        const double h = 1e-5, scale = fmax(size, 1);
        moved(&s, -h, &before);
        moved(&s, h, &after);
        const double loss = (potential(model, &before) - potential(model, &after)) / (2 * h);
        if (fabs(power - loss - loads.power) > 2e-6 * scale)
            fail_msg("%s: power %g, potential %g, other %g", forces, power, loss, loads.power);
        assert_true(loads.power <= 1e-12 * scale); // non-conservative parts only dissipate
    }
    assert_true(active >= min_active);
    lw_model_destroy(model);
}

static void bushings_obey(void **state)
{
    (void)state;
    check_laws("  f: {type: bushing, between: [a, b], stiffness: [30, 20, 10, 3, 2, 1]}\n", 1.2,
               400);
    check_laws("  f: {type: bushing, between: [a, b], frame1: {position: [0.1, 0.2, 0.3], "
               "orientation: [0.5, 0.5, 0.5, 0.5]}, frame2: {position: [-0.3, 0, 0.1]}, "
               "stiffness: [3, 2, 1, 30, 20, 10], damping: [1, 2, 3, 4, 5, 6]}\n",
               0.3, 400);
    check_laws(
        "  f: {type: bushing, between: [ground, b], at: [0.1, 0.2, 0.3], stiffness: [1, 1, 1, "
        "0, 0, 0], damping: [0, 0, 0, 1, 2, 3]}\n",
        1.5, 400);
}

static void contacts_obey(void **state)
{
    (void)state;
    check_laws("  f: {type: stop, between: [a, b], radius: 0.6, radius2: 0.5, stiffness: 20, "
               "point1: [0.1, 0, 0], point2: [0, 0.1, 0], dissipation: 0.4}\n",
               3, 100);
    check_laws(
        "  f: {type: stop, between: [a, b], radius: 0.3, normal2: [0.6, 0, 0.8], point2: [0, "
        "0.2, 0.1], stiffness: 20, exponent: 2, dissipation: 2}\n",
        3, 100);
    check_laws("  f: {type: stop, between: [a, ground], radius: 0.3, normal: [0, 0, 2], to: [0, 0, "
               "0.1], stiffness: 20, exponent: 1}\n",
               3, 100);
}

// F1 is rotated by a and F2 is fixed: the torque about the axis is -K a, that of a spring.
static void a_bushing_is_a_torsion_spring_about_one_axis(void **state)
{
    (void)state;
    lw_model *model =
        model_with("  f: {type: bushing, between: [ground, b], stiffness: [0, 0, 0, 0, 0, 5]}\n");
    double wrench[3][6];
    lwi_loads loads = {.wrench = wrench};
    static const double z[3] = {0, 0, 1};
    for (double a = -3; a <= 3; a += 0.5) {
        motion s = {0};
        for (int b = 0; b < 3; b++) m3_identity(s.R[b]);
        rot_axis(s.R[2], z, a);
        const lwi_kin kin = kin_of(&s);
        lwi_forces_apply(model, &kin, 0, NULL, &loads);
        assert_true(fabs(wrench[2][5] + 5 * a) < 1e-13 && fabs(wrench[2][3]) < 1e-13);
        assert_true(fabs(potential(model, &s) - 2.5 * a * a) < 1e-13);
    }
    lw_model_destroy(model);
}

// A sphere is in equilibrium on a plane at the depth where k x^n = m g; the time of its impact is
// known in closed form.
static void a_sphere_falls_on_a_plane(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies: {b: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, "
        "1.1]}}\n"
        "forces: {f: {type: stop, between: [b, ground], radius: 0.1, normal: [0, 0, 1], stiffness: "
        "1e6, dissipation: 1}}\n";
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model;
    lw_sim *sim;
    lw_summary summary;
    const lw_observation *o;
    OK(lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, NULL));
    OK(lw_sim_create(model, NULL, &sim, NULL));
    const double hit = sqrt(2 / 9.81);
    OK(lw_sim_step(sim, hit - 1e-6));
    lw_sim_summary(sim, &summary);
    assert_int_equal(0, summary.events);
    OK(lw_sim_step(sim, hit + 1e-6));
    lw_sim_summary(sim, &summary);
    assert_int_equal(1, summary.events);
    OK(lw_sim_step(sim, 20)); // at rest
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    const double depth = pow(2 * 9.81 / 1e6, 1 / 1.5);
    assert_true(fabs(o->position[1][2] - (0.1 - depth)) < 1e-7);
    assert_true(fabs(o->velocity[1][2]) < 1e-5);
    const double E = 2 * 9.81 * 1.1; // initial energy
    assert_true(fabs(o->kinetic + o->potential - o->work - E) < 1e-5);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Far above `speed` friction has its full value; below it, it is a damper coulomb / speed.
static void friction_slows_as_it_says(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, 0, 0]\nbodies: {b: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {s: {type: prismatic, between: [ground, b], frame1: {}, frame2: {}, qd: [3], "
        "friction: {q0: {coulomb: 4, speed: 0.001}}}}\n";
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model;
    lw_sim *sim;
    const lw_observation *o;
    OK(lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, NULL));
    OK(lw_sim_create(model, NULL, &sim, NULL));
    OK(lw_sim_step(sim, 1)); // 3 - 4/2 t
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    assert_true(fabs(o->qd[0] - 1) < 1e-9 && fabs(o->q[0] - 2) < 1e-9);
    assert_true(fabs(o->work + 8) < 1e-7); // 4 N over 2 m
    OK(lw_sim_step(sim, 2));
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    assert_true(fabs(o->qd[0]) < 1e-6);
    assert_true(fabs(o->work + 9) < 1e-6); // the whole initial energy 1/2 2 3^2
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *force, *part;
    } cases[] = {
        {"{type: bushing, between: [a, a], stiffness: [1, 1, 1, 1, 1, 1]}", "itself"},
        {"{type: bushing, between: [a, b]}", "stiffness"},
        {"{type: bushing, between: [a, b], stiffness: [1, 1, 1]}", "6 numbers"},
        {"{type: bushing, between: [a, b], stiffness: [1, 1, 1, 1, 1, -1]}", ">= 0"},
        {"{type: bushing, between: [a, b], at: [0, 0, 0], frame1: {}, stiffness: [1, 1, 1, 1, 1, "
         "1]}",
         "alternatives"},
        {"{type: stop, between: [a, b], radius: 1, stiffness: 1}", "one of both"},
        {"{type: stop, between: [a, b], radius: 1, radius2: 1, normal: [0, 0, 1], stiffness: 1}",
         "alternatives"},
        {"{type: stop, between: [a, b], radius: 0, radius2: 1, stiffness: 1}", "radius is 0"},
        {"{type: stop, between: [a, b], radius: 1, radius2: 1, stiffness: 0}", "stiffness is 0"},
        {"{type: stop, between: [a, b], radius: 1, radius2: 1, stiffness: 1, exponent: 0.5}",
         "exponent is 0.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        lw_model *model;
        lw_error error = {0};
        snprintf(text, sizeof text,
                 "linkwork: 1\nbodies: {a: {mass: 1}, b: {mass: 1}}\nforces: {f: %s}\n",
                 cases[i].force);
        const lw_read_desc desc = {.format = "yaml"};
        assert_int_not_equal(
            LW_OK, lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error));
        if (!strstr(error.text, cases[i].part)) fail_msg("%zu: %s", i, error.text);
    }
}

// Not checked by the compiler: a table row without its function, keys of another force.
static void every_force_states_every_fact(void **state)
{
    (void)state;
    static const lwi_force_type *const types[] = {
#define X(name) &lwi_force_##name,
        LWI_FORCE_LIST(X)
#undef X
    };
    enum { BEFORE = 4 }; // of joints; those of the file follow, then states of signals
    for (int i = 0; i < LWI_COUNT(types); i++) {
        const lwi_force_type *type = types[i];
        const bool item = i >= BEFORE && i < BEFORE + LWI_FORCE_ITEMS;
        assert_true(type->name && type->apply);
        assert_true(!item || type->summary); // `place` is NULL of forces at several places
        assert_int_equal(type->nrow > 0, type->rows != NULL);
        assert_true(type->nrow <= LWI_FORCE_ROWS);
        assert_int_equal(type->varies != NULL, type->rate != NULL);
    }
    for (int i = 0; i < LWI_FORCE_ITEMS; i++) {
        const lwi_force_item *item = lwi_force_items[i];
        assert_ptr_equal(item->type, types[BEFORE + i]);
        assert_true(item->keys && item->add && item->compile && item->acts);
        assert_true(item->type->actions || strstr(item->acts, "coordinates") ||
                    !item->type->place); // on bodies, on joints, at several places
        assert_int_equal(item->keys->ntype, 1);
        assert_string_equal(item->keys->type[0], item->type->name);
        assert_string_equal(item->keys->title, item->type->name);
        for (int k = 0; k < item->keys->nkey; k++)
            assert_true(item->keys->key[k].offset < item->desc_size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bushings_obey),
        cmocka_unit_test(contacts_obey),
        cmocka_unit_test(a_bushing_is_a_torsion_spring_about_one_axis),
        cmocka_unit_test(a_sphere_falls_on_a_plane),
        cmocka_unit_test(friction_slows_as_it_says),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_force_states_every_fact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

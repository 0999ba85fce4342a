// test_lost_digits.c -- digits that `rcr`, `aba` and `momenta` lose on ropes with heavy loads: the estimate is the error, compared
// with `dca`, which recovers the digits; runs warn of it, and runs that lose none do not.
#include "support/given.h"
#include "support/run.h"

typedef enum shape { HANGING, CLOSED } shape;

enum { LINKS = 12, LOAD = 6 };
#define LINK 0.05 // m

// Rods of 10 g on balls along an arc, number LOAD with so many times their mass, from the ground, and to it if it is closed.
static lw_model *rope(shape kind, double ratio, bool moves)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    const int n = kind == CLOSED ? LINKS : LOAD + 1;
    double angle = -1, x = 0, z = 0;
    lw_builder_gravity(b, (lw_vec3){0.3, 1, -9.81});
    for (int i = 0; i < n; i++) {
        const double m = i == LOAD ? 0.01 * ratio : 0.01, J = m * LINK * LINK / 12;
        const double dx = LINK * cos(angle), dz = LINK * sin(angle);
        const lw_body body = lwt_body(
            b, &(lw_body_desc){.mass = m,
                               .inertia = {i == LOAD ? J : 0.3 * J, J, J},
                               .pose = {.position = {x + dx / 2, 0, z + dz / 2},
                                        .orientation = {cos(angle / 2), 0, -sin(angle / 2), 0}}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_SPHERICAL,
                                    .body1 = last,
                                    .body2 = body,
                                    .at = {x, 0, z},
                                    .has_qd = moves,
                                    .qd = {sin(i), cos(2 * i), 0.3}});
        last = body;
        x += dx, z += dz;
        angle += 2.0 / LINKS;
    }
    if (kind == CLOSED)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_SPHERICAL,
                                    .body1 = last,
                                    .body2 = lwt_ground,
                                    .at = {x, 0, z}});
    return lwt_model(b);
}

static const lwi_formulation *const formulations[] = {&lwi_formulation_rcr, &lwi_formulation_aba,
                                                      &lwi_formulation_momenta};

// `rcr` alone takes loops.
static int count_for(shape kind)
{
    return kind == CLOSED ? 1 : LWI_COUNT(formulations);
}

// Largest difference of velocities or accelerations of mass centres from those of dca, by the largest.
static double difference(const lw_model *model, double (*const found)[3], double (*const exact)[3])
{
    double off = 0, size = 0;
    for (int b = 1; b < model->nbody; b++)
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(found[b][i] - exact[b][i]));
            size = fmax(size, fabs(exact[b][i]));
        }
    return off / size;
}

// The same of the rates of joint speeds.  Those of `aba` in rows have more digits than those of its steps.
static double difference_of_rates(lwt_run *r, lwt_run *dca)
{
    const int nq = r->model->tree_nq;
    double off = 0, size = 0, *found = lwt_vector(r->work->layout.nx),
           *exact = lwt_vector(dca->work->layout.nx);
    lwt_ok(r->work->formulation->rates(r->work, r->t, r->x, NULL, found), &r->work->error);
    lwt_ok(dca->work->formulation->rates(dca->work, dca->t, dca->x, NULL, exact),
           &dca->work->error);
    for (int i = nq; i < nq + r->model->tree_nv; i++) {
        off = fmax(off, fabs(found[i] - exact[i]));
        size = fmax(size, fabs(exact[i]));
    }
    free(found), free(exact);
    return off / size;
}

static double true_error(lwt_run *r)
{
    lwt_run dca = lwt_run_start(r->model, &lwi_formulation_dca);
    const lwi_formulation *f = r->work->formulation;
    lwt_run_observe(&dca), lwt_run_observe(r);
    const double error = f == &lwi_formulation_aba ? difference_of_rates(r, &dca)
                         : f == &lwi_formulation_momenta
                             ? difference(r->model, r->now.v, dca.now.v)
                             : difference(r->model, r->now.a, dca.now.a);
    lwt_run_end(&dca);
    return error;
}

static double estimate(const lwi_formulation *f, const lw_model *model, double *error)
{
    lwt_run r = lwt_run_start(model, f);
    if (error) *error = true_error(&r);
    double *before = lwt_vector(r.work->layout.nx), *after = lwt_vector(r.work->layout.nx);
    lwt_ok(r.work->formulation->rates(r.work, r.t, r.x, NULL, before), &r.work->error);
    const double lost = r.work->formulation->lost_digits(r.work, r.t, r.x, NULL);
    lwt_ok(r.work->formulation->rates(r.work, r.t, r.x, NULL, after), &r.work->error);
    for (int i = 0; i < r.work->layout.nx; i++) assert_true(before[i] == after[i]);
    free(before), free(after);
    lwt_run_end(&r);
    return lost;
}

// Both are samples of round-off, the estimate of two solutions.
static void the_estimate_is_the_error(void **state)
{
    (void)state;
    for (int s = HANGING; s <= CLOSED; s++)
        for (int f = 0; f < count_for((shape)s); f++)
            for (double ratio = 1e6; ratio < 2e12; ratio *= 100) {
                lw_model *model = rope((shape)s, ratio, s == HANGING);
                const char *name = formulations[f]->name;
                double error;
                const double lost = estimate(formulations[f], model, &error);
                if (getenv("LW_SHOW"))
                    printf("%s %d %.0e: %.1e, error %.1e\n", name, s, ratio, lost, error);
                if (!(lost < 100 * error && error < 20 * lost))
                    fail_msg("%s, shape %d, ratio %g: %.1e, error %.1e", name, s, ratio, lost,
                             error);
                lw_model_destroy(model);
            }
}

static bool warns(const lw_model *model, const char *formulation, const char *what)
{
    lw_sim *sim =
        lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "state", what, "duration",
                                         "1e-3", "rtol", "1e-4", "atol", "1e-4"));
    if (lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    const bool found = strstr(lw_sim_notice(sim), "inertias differ so much") != NULL;
    lw_sim_destroy(sim);
    return found;
}

static void runs_warn_where_digits_are_lost(void **state)
{
    (void)state;
    for (int s = HANGING; s <= CLOSED; s++)
        for (int heavy = 0; heavy < 2; heavy++) {
            lw_model *model = rope((shape)s, heavy ? 1e9 : 1e4, false);
            assert_int_equal(warns(model, "rcr", "speeds"), heavy);
            if (heavy) assert_true(warns(model, "rcr", "momenta"));
            if (s == HANGING) {
                assert_int_equal(warns(model, "aba", "auto"), heavy);
                assert_int_equal(warns(model, "momenta", "auto"), heavy);
            }
            lw_model_destroy(model);
        }
}

// Light bodies behind heavy ones, and alternating ones: joints keep the inertia of both.
static void masses_alone_are_no_reason(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        lw_builder *b = lwt_builder();
        lw_body last = lwt_ground;
        for (int i = 0; i < LINKS; i++) {
            const double m = kind ? pow(10, 6 - i) : i % 2 ? 1e-6 : 1e6;
            const lw_body rod = lwt_body(b, &(lw_body_desc){.mass = m,
                                                            .inertia = {m / 12, m / 12, m / 12},
                                                            .com = {0.5, 0, 0}});
            lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                        .placement = LW_PLACED_FRAMES,
                                        .body1 = last,
                                        .body2 = rod,
                                        .frame1 = {{i > 0, 0, 0}, {1, 0, 0, 0}},
                                        .frame2 = {{0, 0, 0}, {1, 0, 0, 0}},
                                        .has_q = 1,
                                        .q = {0.4 * i},
                                        .has_qd = 1,
                                        .qd = {cos(i)}});
            last = rod;
        }
        lw_model *model = lwt_model(b);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            double error;
            const double lost = estimate(formulations[f], model, &error);
            if (getenv("LW_SHOW"))
                printf("%s, kind %d: %.1e, error %.1e\n", formulations[f]->name, kind, lost, error);
            if (!(error < 1e-11 && lost < 1e-10))
                fail_msg("%s, kind %d: %.1e, error %.1e", formulations[f]->name, kind, lost, error);
        }
        lw_model_destroy(model);
    }
}

// A heavy body that rotates, floating or driven, with three light arms at rest on it, without gravity.
static lw_model *hub_with_arms(bool driven)
{
    const double rate = 0.7;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body hub = lwt_body(b, &(lw_body_desc){.mass = 3e5,
                                                    .inertia = {1e5, 1e5, 2e5},
                                                    .has_velocity = true,
                                                    .angular_velocity = {0, 0, rate}});
    const double angle_of[] = {0, rate};
    if (driven) {
        lw_joint_desc hinge = {
            .type = LW_JOINT_REVOLUTE, .body1 = lwt_ground, .body2 = hub, .axis = {0, 0, 1}};
        hinge.coordinate[0].motion = lwt_function(
            b, &(lw_function_desc){
                   .type = LW_FUNCTION_POLYNOMIAL, .coefficients = angle_of, .ncoefficient = 2});
        lwt_add(b, &hinge);
    }
    for (int i = 0; i < 3; i++) {
        const double angle = 2.1 + i * 2 * acos(-1) / 3, x = cos(angle), y = sin(angle);
        const lw_body arm = lwt_body(
            b, &(lw_body_desc){.mass = 0.1,
                               .inertia = {1e-4, 1e-2, 1e-2},
                               .pose = {.position = {1.5 * x, 1.5 * y, 0},
                                        .orientation = {cos(angle / 2), 0, 0, sin(angle / 2)}},
                               .has_velocity = true,
                               .velocity = {-rate * 1.5 * y, rate * 1.5 * x, 0},
                               .angular_velocity = {0, 0, rate}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body1 = hub,
                                    .body2 = arm,
                                    .at = {x, y, 0},
                                    .axis = {0, 0, 1}});
    }
    return lwt_model(b);
}

// All rates of speeds, and speeds relative to the drive, are zero except for round-off, which is no error.
static void round_off_alone_is_no_reason(void **state)
{
    (void)state;
    for (int driven = 0; driven < 2; driven++) {
        lw_model *model = hub_with_arms(driven);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            const double lost = estimate(formulations[f], model, NULL);
            if (getenv("LW_SHOW"))
                printf("%s, driven %d: %.1e\n", formulations[f]->name, driven, lost);
            if (!(lost < 1e-10))
                fail_msg("%s, driven %d: %.1e", formulations[f]->name, driven, lost);
        }
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_is_the_error),
        cmocka_unit_test(runs_warn_where_digits_are_lost),
        cmocka_unit_test(masses_alone_are_no_reason),
        cmocka_unit_test(round_off_alone_is_no_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

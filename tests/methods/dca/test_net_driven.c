// test_net_driven.c -- driven joints, moving mounts and forces on bodies between long paths in segments: agree with the
// general elimination and other formulations.
#include "methods/dca/net_checks.h"

#include "support/run.h"

// Errors were 2e-12 at most of the largest rate, in mechanisms of 300 bodies.
#define TOLERANCE 1e-11

// Accelerations by `rcr` agree as well, but its power of drives, a sum over the accelerations of all bodies, had errors
// of 6e-11 of it.
#define RCR_TOLERANCE 1e-9

// Rates and second derivatives at the start and later.
static const double polynomial[] = {0, 0.7, -0.9, 0.4};

static lw_signal motion(lw_builder *b, double scale)
{
    double own[4];
    for (int i = 0; i < 4; i++) own[i] = scale * polynomial[i];
    return lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                               .coefficients = own,
                                               .ncoefficient = 4});
}

// ------------------------------------------------------------------------------------- what changes

// Which hinges of the bars, counted from 1, and what they become.
static struct {
    int at[4], n;
    bool mount, wrench, spring;
    int rotor;          // 1 + number of hinges beyond, for one that has a rotor there; 0: none
    lw_joint_type type; // of driven ones; the first coordinate is driven
} change_of;

static void change(lwt_net *net, lw_joint_desc *hinge, lw_body rod)
{
    lw_error error;
    for (int i = 0; i < change_of.n; i++) {
        const int k = change_of.at[i];
        if (change_of.rotor && net->count == k + change_of.rotor - 1)
            hinge->coordinate[change_of.type == LW_JOINT_CYLINDRICAL].rotor = 0.3;
        if (net->count != k) continue;
        if (change_of.mount) {
            hinge->mount_shift[1] = motion(net->builder, 0.5);
            hinge->mount_turn = motion(net->builder, 1);
            hinge->mount_about = (lw_vec3){0.6, 0, 0.8};
        } else if (!change_of.wrench) {
            if (change_of.type) hinge->type = change_of.type;
            hinge->coordinate[0].motion = motion(net->builder, 1 + i);
            if (change_of.spring)
                hinge->coordinate[0].stiffness = 7, hinge->coordinate[0].damping = 2;
        }
        if (change_of.wrench)
            lwt_ok(lw_builder_add_wrench(net->builder,
                                         &(lw_wrench_desc){.body = rod,
                                                           .point = {0.1, 0.2, 0.3},
                                                           .force = {1, 20, -3},
                                                           .torque = {2, 1, -4},
                                                           .body_axes = i & 1},
                                         &error),
                   &error);
    }
}

static lwt_net begin(uint64_t seed)
{
    lwt_net net = lwt_net_begin(seed);
    net.change = change;
    return net;
}

/** At the root, in the middle, at the tip, two adjacent, several. */
static const struct {
    int at[4], n;
} places[] = {{{1}, 1}, {{150}, 1}, {{290}, 1}, {{150, 151}, 2}, {{1, 80, 200, 288}, 4}};

// Drives at these places, until another effect is set.
static void set_places(int place)
{
    memset(&change_of, 0, sizeof change_of);
    memcpy(change_of.at, places[place].at, sizeof change_of.at);
    change_of.n = places[place].n;
}

// -------------------------------------------------------------------------------------------- checks

static void check_tree(lwt_net *net)
{
    lw_model *model = lwt_model(net->builder);
    assert_true(lwt_has_net(model));
    for (int i = 0; i < 2; i++) {
        const double t = 0.3 * i;
        lwt_net_check_rates(model, "hdca", "hdca", t, true, true, TOLERANCE);
        lwt_net_check_rates(model, "dca", "dca", t, true, true, TOLERANCE);
        lwt_net_check_rates(model, "dca", "aba", t, true, true, TOLERANCE);
        lwt_net_check_rates(model, "dca", "rcr", t, true, true, RCR_TOLERANCE);
        if (model->tree_nq == model->tree_nv)
            lwt_net_check_rates(model, "hdca", "momenta", t, true, true, TOLERANCE);
        lwt_net_check_observations(model, "hdca", t, true, TOLERANCE);
        lwt_net_check_observations(model, "dca", t, true, TOLERANCE);
    }
    lw_model_destroy(model);
}

static void check_path(uint64_t seed)
{
    lwt_net net = begin(seed);
    lwt_net_bar(&net, lwt_ground, 290, (lw_vec3){0, 0, 0}, (lw_vec3){100, 3, 2});
    check_tree(&net);
}

static void check_closed(lwt_net *net)
{
    lw_model *model = lwt_model(net->builder);
    assert_true(lwt_has_net(model));
    lwt_net_check_rates(model, "hdca", "hdca", 0, false, true, TOLERANCE);
    lwt_net_check_rates(model, "dca", "dca", 0, false, true, TOLERANCE);
    lw_model_destroy(model);
}

static void check_ring(uint64_t seed)
{
    lwt_net net = begin(seed);
    lwt_net_ring(&net, false, 290);
    check_closed(&net);
}

// --------------------------------------------------------------------------------------------- cases

static void drives(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(places); i++) {
        set_places(i);
        change_of.spring = i & 1;
        check_path((uint64_t)i);
        check_ring((uint64_t)i);
    }
}

/** Of joints with other coordinates, which are free. */
static void drives_of_some_coordinates(void **state)
{
    (void)state;
    static const lw_joint_type type[] = {LW_JOINT_UNIVERSAL, LW_JOINT_CYLINDRICAL, LW_JOINT_PLANAR};
    for (int i = 0; i < LWI_COUNT(type); i++) {
        memset(&change_of, 0, sizeof change_of);
        change_of.at[0] = 100, change_of.at[1] = 203, change_of.n = 2;
        change_of.type = type[i];
        check_path((uint64_t)i);
        check_ring((uint64_t)i);
    }
}

static void mounts(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(places); i++) {
        set_places(i);
        change_of.mount = true;
        check_path((uint64_t)i);
        check_ring((uint64_t)i);
    }
}

/** A rotor on the third hinge beyond, on the next one, which begins a path, and on the hinge of the hub. */
static void drives_beside_rotors(void **state)
{
    (void)state;
    static const struct {
        int beyond;
        bool mount, wrench;
        lw_joint_type type;
    } cases[] = {{3, false, false, 0}, {1, false, false, 0},
                 {0, true, false, 0},  {0, false, true, 0},
                 {1, false, true, 0},  {0, false, false, LW_JOINT_CYLINDRICAL}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        memset(&change_of, 0, sizeof change_of);
        change_of.at[0] = 1, change_of.at[1] = 120, change_of.n = 2;
        change_of.rotor = 1 + cases[i].beyond;
        change_of.mount = cases[i].mount;
        change_of.wrench = cases[i].wrench;
        change_of.type = cases[i].type;
        check_path((uint64_t)i);
        check_ring((uint64_t)i);
    }
}

/** On hinges of several bars of a mesh, next to its knots and within: hubs that loops close through. */
static void rotors_in_meshes(void **state)
{
    (void)state;
    static const int first[] = {42, 54};
    for (int i = 0; i < LWI_COUNT(first); i++) {
        memset(&change_of, 0, sizeof change_of);
        change_of.at[0] = first[i], change_of.at[1] = first[i] + 80, change_of.n = 2;
        change_of.rotor = 1;
        change_of.wrench = true;
        lwt_net net = begin((uint64_t)i);
        lwt_net_meshes(&net, 2, 2, 60);
        check_closed(&net);
    }
}

/** On the joint of a hub with fewer rows than the hinge that closes a loop through it: it becomes a bar (21). */
static void rotors_of_bars(void **state)
{
    (void)state;
    memset(&change_of, 0, sizeof change_of);
    lwt_net net = begin(4);
    const lw_vec3 end = {100, 3, 2};
    net.rotor = 0.4;
    const lw_body hub = lwt_net_hub(&net, lwt_ground, LW_JOINT_PLANAR, (lw_vec3){0, 0, 0});
    net.rotor = 0;
    const lw_body last = lwt_net_bar(&net, hub, 300, (lw_vec3){0, 0, 0}, end);
    lwt_net_close(&net, LW_JOINT_REVOLUTE, lwt_ground, last, end);
    check_closed(&net);
}

// M x + sign h = 0 in every row: M the dense mass matrix; relative to the terms of the row.
static void check_rows(int n, const double *M, const double *x, const double *h, double sign)
{
    for (int i = 0; i < n; i++) {
        double sum = sign * h[i], size = 1 + fabs(h[i]);
        for (int k = 0; k < n; k++) {
            sum += M[n * i + k] * x[k];
            size += fabs(M[n * i + k] * x[k]);
        }
        if (!(fabs(sum) <= TOLERANCE * size)) fail_msg("row %d: %.3g of %.3g", i, sum, size);
    }
}

/** By the dense mass matrix of composite bodies and Newton-Euler's recursion, which share nothing with segments:
 *  M v' + h = 0, and M v = p without drives. */
static void mass_matrix_agrees(void **state)
{
    (void)state;
    for (int wrench = 0; wrench < 2; wrench++) {
        memset(&change_of, 0, sizeof change_of);
        change_of.at[0] = 120, change_of.n = 1;
        change_of.rotor = 2 - wrench;
        change_of.wrench = wrench;
        lwt_net net = begin(3);
        lwt_net_bar(&net, lwt_ground, 256, (lw_vec3){0, 0, 0}, (lw_vec3){100, 3, 2});
        lw_model *model = lwt_model(net.builder);
        assert_true(lwt_has_net(model));
        const int n = model->tree_nv;
        lw_dynamics *dynamics;
        lw_error error;
        lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
        double *M = lwt_reals(n * n), *h = lwt_reals(n), *zero = lwt_reals(n);
        for (int momenta = 0; momenta <= wrench; momenta++) {
            lwi_work *work = lwt_net_work(model, momenta ? "hdca" : "dca", 0, 1);
            double *x = lwt_net_state(model, work->layout.nx, true);
            double *rate = lwt_reals(work->layout.nx), *v = x + model->tree_nq;
            lwt_ok(work->formulation->rates(work, 0.3, x, NULL, rate), &work->error);
            assert_int_equal(lw_mass_matrix(dynamics, 0.3, x, M), LW_OK);
            assert_int_equal(lw_inverse_dynamics(dynamics, 0.3, x, v, zero, NULL, h), LW_OK);
            if (momenta)
                check_rows(n, M, rate, v, -1);
            else
                check_rows(n, M, rate + model->tree_nq, h, 1);
            lwi_work_destroy(work);
            free(x), free(rate);
        }
        free(M), free(h), free(zero);
        lw_dynamics_destroy(dynamics);
        lw_model_destroy(model);
    }
}

static void wrenches(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(places); i++) {
        set_places(i);
        change_of.wrench = true;
        check_path((uint64_t)i);
        check_ring((uint64_t)i);
    }
}

// A ring with a drive in it, and what closes it: a driven hinge, a mount that moves, a bar of varying length (at the
// start `length`, 0: any).
typedef enum closing { DRIVEN_HINGE, MOVING_MOUNT, VARYING_BAR, CLOSINGS } closing;

static lwt_net closed_by(closing what, double length)
{
    const lw_vec3 top = {0, 150, 0}, bottom = {60, 0, 0}, beyond = {3, 150, 1};
    lwt_net net = begin(what);
    const lw_body first = lwt_net_hub(&net, lwt_ground, LW_JOINT_REVOLUTE, (lw_vec3){0, 0, 0});
    const lw_body left = lwt_net_bar(&net, first, 140, (lw_vec3){0, 0, 0}, top);
    const lw_body right = lwt_net_bar(&net, first, 140, bottom, what == VARYING_BAR ? beyond : top);
    lw_joint_desc joint = lwt_net_hinge(&net, left, right, top);
    joint.cut = LW_CUT_ALWAYS;
    joint.coordinate[0] = (lw_coordinate_desc){.stiffness = 3, .damping = 1};
    if (what == DRIVEN_HINGE) joint.coordinate[0].motion = motion(net.builder, 1);
    if (what == MOVING_MOUNT) {
        joint.mount_turn = motion(net.builder, 1);
        joint.mount_about = (lw_vec3){1, 0, 0};
    }
    if (what == VARYING_BAR) { // between mass centres
        joint = (lw_joint_desc){.type = LW_JOINT_DISTANCE,
                                .body1 = left,
                                .body2 = right,
                                .placement = LW_PLACED_FRAMES};
        if (length > 0)
            joint.length_of = lwt_function(
                net.builder, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                 .coefficients = (double[]){length, 0.2, 0.1},
                                                 .ncoefficient = 3});
    }
    lwt_add(net.builder, &joint);
    return net;
}

static void driven_loops(void **state)
{
    (void)state;
    memset(&change_of, 0, sizeof change_of);
    change_of.at[0] = 40, change_of.n = 1;
    lwt_net any = closed_by(VARYING_BAR, 0);
    lw_model *model = lwt_model(any.builder);
    const double length = model->joint[model->loop[0]].par.length;
    lw_model_destroy(model);
    for (int i = 0; i < CLOSINGS; i++) {
        lwt_net net = closed_by(i, length);
        check_closed(&net);
    }
}

/** Branches on a floating body, with a drive, a mount and a wrench. */
static void branches(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const lw_joint_type base[] = {LW_JOINT_FREE, LW_JOINT_SPHERICAL, LW_JOINT_PRISMATIC};
        memset(&change_of, 0, sizeof change_of);
        change_of.at[0] = 30, change_of.at[1] = 200, change_of.at[2] = 333, change_of.n = 3;
        change_of.mount = i == 1;
        change_of.wrench = i == 2;
        lwt_net net = begin((uint64_t)i);
        const lw_vec3 origin = {1, 2, 3};
        const lw_body hub = lwt_net_hub(&net, lwt_ground, base[i], origin);
        lwt_net_branches(&net, hub, origin, 40, 2, 3);
        check_tree(&net);
    }
}

static void bits_are_those_of_any_lanes_and_threads(void **state)
{
    (void)state;
    static const int width[] = {1, 4, 8}, threads[] = {1, 2, 8};
    static const char *const formulation[] = {"hdca", "dca"};
    memset(&change_of, 0, sizeof change_of);
    change_of.at[0] = 1, change_of.at[1] = 700, change_of.at[2] = 1500, change_of.n = 3;
    change_of.mount = true;
    lwt_net net = begin(1);
    lwt_net_bar(&net, lwt_ground, 1500, (lw_vec3){0, 0, 0}, (lw_vec3){500, 3, 2});
    change_of.mount = false;
    lw_model *model = lwt_model(net.builder);
    assert_true(lwt_has_net(model));
    for (int f = 0; f < LWI_COUNT(formulation); f++) {
        double *first = NULL;
        for (int i = 0; i < LWI_COUNT(width) * LWI_COUNT(threads); i++) {
            const int w = width[i / 3], n = threads[i % 3];
            if (!lwi_path_kernels_of(w)) continue;
            lwi_work *work = lwt_net_work(model, formulation[f], w, n);
            const int nx = work->layout.nx;
            double *x = lwt_net_state(model, nx, true), *out = lwt_reals(nx);
            lwt_ok(work->formulation->rates(work, 0.2, x, NULL, out), &work->error);
            if (first && memcmp(first, out, (size_t)nx * sizeof *out) != 0)
                fail_msg("%s: other bits with %d lanes and %d threads", formulation[f], w, n);
            if (first)
                free(out);
            else
                first = out;
            free(x);
            lwi_work_destroy(work);
        }
        free(first);
    }
    lw_model_destroy(model);
}

/** Energy less the work of drives, mounts and wrenches is kept: of rk4 the error of steps of h is h^5. */
static void check_balance(const lw_model *model, const char *formulation)
{
    lwi_work *work = lwt_net_work(model, formulation, 0, 1);
    lwt_run run = lwt_run_work(work, NULL);
    const int nx = work->layout.nx;
    const double h = 5e-5;
    double *k[4], *at = lwt_reals(nx);
    for (int s = 0; s < 4; s++) k[s] = lwt_reals(nx);
    lwt_run_observe(&run);
    const double before = lwt_net_energy(model, &run.now) - run.now.work;
    for (int i = 0; i < 40; i++) lwt_net_step(work, i * h, h, run.x, k, at);
    run.t = 40 * h;
    lwt_run_observe(&run);
    const double after = lwt_net_energy(model, &run.now) - run.now.work;
    if (getenv("LW_SHOW"))
        printf("%s: energy less work %.9g + %.3g, work %.3g\n", formulation, before, after - before,
               run.now.work);
    assert_true(fabs(run.now.work) > 1e-4);
    if (!(fabs(after - before) <= 1e-7))
        fail_msg("%s: %.12g + %.3g, work %.3g", formulation, before, after - before, run.now.work);
    for (int s = 0; s < 4; s++) free(k[s]);
    free(at);
    lwt_run_end(&run);
}

static void work_balances_energy(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        set_places(4);
        change_of.mount = i == 1;
        change_of.wrench = i == 2;
        lwt_net net = begin((uint64_t)i);
        lwt_net_bar(&net, lwt_ground, 290, (lw_vec3){0, 0, 0}, (lw_vec3){100, 3, 2});
        lw_model *model = lwt_model(net.builder);
        assert_true(lwt_has_net(model));
        check_balance(model, "dca");
        check_balance(model, "hdca");
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drives),
        cmocka_unit_test(drives_of_some_coordinates),
        cmocka_unit_test(mounts),
        cmocka_unit_test(drives_beside_rotors),
        cmocka_unit_test(rotors_in_meshes),
        cmocka_unit_test(rotors_of_bars),
        cmocka_unit_test(mass_matrix_agrees),
        cmocka_unit_test(wrenches),
        cmocka_unit_test(driven_loops),
        cmocka_unit_test(branches),
        cmocka_unit_test(bits_are_those_of_any_lanes_and_threads),
        cmocka_unit_test(work_balances_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

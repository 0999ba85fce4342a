// test_independent.c -- independent coordinates that are named: the mechanisms of figures 5 and 8 of [anderson2003] with
// the coordinates that the paper prescribes, against absolute coordinates; wrong names, counts and singular choices.
#include "methods/rcr/rcr_cases.h"

#include "simulate/simulation.h"
#include "support/random_loops.h"

static lw_status create(const lw_model *model, const char *formulation, const char *independent,
                        const char *state, lw_sim **sim, lw_error *error)
{
    lw_options o;
    lw_options_default(&o);
    lwi_copy_text(o.formulation, sizeof o.formulation, formulation);
    lwt_ok(lw_options_set(&o, "independent", independent, error), error);
    lwt_ok(lw_options_set(&o, "state", state, error), error);
    o.rtol = o.atol = 1e-11;
    return lw_sim_create(model, &(lw_sim_desc){.options = &o}, sim, error);
}

static lw_sim *sim_of(const lw_model *model, const char *formulation, const char *independent,
                      const char *state)
{
    lw_error error;
    lw_sim *sim;
    lwt_ok(create(model, formulation, independent, state, &sim, &error), &error);
    return sim;
}

static const lwi_rcr_choice *choice_of(const lw_sim *sim)
{
    return sim->work->discrete;
}

// The same motion as by `dense`; the named joints, 0 to n - 1, are independent in the whole run, and no others.
static void check_motion(lw_model *model, const char *names, const char *state, int n, double end)
{
    lw_sim *dense = sim_of(model, "dense", "auto", "auto"),
           *sim = sim_of(model, "auto", names, state);
    assert_string_equal(lw_sim_options(sim)->formulation, "rcr");
    for (int k = 1; k <= 5; k++) {
        const lw_observation *a, *b;
        lwt_ok(lw_sim_step(sim, k * end / 5), lw_sim_error(sim));
        lwt_ok(lw_sim_step(dense, k * end / 5), lw_sim_error(dense));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &a), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(dense, LW_OBSERVE_ACCELERATION, &b), lw_sim_error(dense));
        for (int i = 0; i < 3 * model->nbody; i++) {
            const int body = i / 3, c = i % 3;
            lwt_near("position", i, a->position[body][c], b->position[body][c], 1e-7);
            lwt_near("velocity", i, a->velocity[body][c], b->velocity[body][c], 1e-6);
            lwt_near("acceleration", i, a->acceleration[body][c], b->acceleration[body][c], 1e-4);
        }
        assert_true(choice_of(sim)->made && choice_of(sim)->switches == 0);
        for (int i = 0; i < model->tree_nv; i++)
            assert_int_equal(choice_of(sim)->dependent[i], i >= n);
    }
    lw_sim_destroy(sim);
    lw_sim_destroy(dense);
}

static void the_crank_of_a_four_bar(void **unused)
{
    (void)unused;
    lw_model *model = lwt_standard_four_bar();
    check_motion(model, model->joint[0].name, "speeds", 1, 2);
    check_motion(model, model->joint[0].name, "momenta", 1, 2);
    lw_model_destroy(model);
}

static void the_arm_of_a_five_bar(void **unused)
{
    (void)unused;
    for (int legs = 1; legs <= 2; legs++) {
        lw_model *model = lwt_five_bar(legs);
        char names[200];
        snprintf(names, sizeof names, " %s , %s.q0", model->joint[0].name, model->joint[1].name);
        check_motion(model, names, "speeds", 2, 0.3);
        check_motion(model, names, "momenta", 2, 0.3);
        lw_model_destroy(model);
    }
}

// Adds a coordinate to the names, unless it is in no loop.
static void add_name(lw_model *model, const char *joint, int k, char *names, size_t size)
{
    char name[120];
    lw_sim *sim = NULL;
    lw_error error = {0};
    snprintf(name, sizeof name, "%s.q%d", joint, k);
    const bool alone = create(model, "rcr", name, "auto", &sim, &error) == LW_OK;
    if (alone) lw_sim_destroy(sim);
    if (!alone && strstr(error.text, "is in no loop")) return;
    const size_t used = strlen(names);
    assert_true(used + strlen(name) + 2 < size);
    snprintf(names + used, size - used, "%s%s", used ? "," : "", name);
}

// The coordinates that are chosen for random mechanisms can be named, and lead to the same motion.
static void chosen_coordinates_can_be_named(void **unused)
{
    (void)unused;
    int count = 0;
    LWT_FOR_LOOPS(c, 40, LWT_LOOP_ALL)
    {
        char names[LW_OPTION_STRING_SIZE] = "";
        lw_sim *free = sim_of(c.model, "rcr", "auto", "momenta");
        lwt_ok(lw_sim_step(free, 1e-3), lw_sim_error(free));
        for (int k = 0; k < c.model->nnode; k++) {
            const lwi_node *node = &c.model->node[k];
            for (int i = 0; i < node->nv && node->joint >= 0; i++)
                if (!choice_of(free)->dependent[node->iv + i])
                    add_name(c.model, c.model->joint[node->joint].name, node->column[i], names,
                             sizeof names);
        }
        if (*names) {
            lw_sim *sim = sim_of(c.model, "rcr", names, "momenta");
            lwt_ok(lw_sim_step(sim, 1e-3), lw_sim_error(sim));
            for (int i = 0; i < c.model->tree_nq; i++)
                lwt_near("coordinate", (int)seed_ * 100 + i, sim->x[i], free->x[i], 1e-9);
            lw_sim_destroy(sim);
            count++;
        }
        lw_sim_destroy(free);
    }
    assert_true(count > 20);
}

// A state from a run that chose others has the named ones after it is set.
static void a_state_of_other_coordinates(void **unused)
{
    (void)unused;
    lw_model *model = lwt_standard_four_bar();
    lw_sim *free = sim_of(model, "rcr", "auto", "auto"),
           *sim = sim_of(model, "rcr", model->joint[2].name, "auto");
    double x[64], t;
    assert_true(lw_sim_state_size(free) <= 64);
    lwt_ok(lw_sim_step(free, 0.05), lw_sim_error(free));
    lw_sim_get_state(free, &t, x);
    lwt_ok(lw_sim_set_state(sim, t, x), lw_sim_error(sim));
    lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
    assert_true(choice_of(sim)->made && choice_of(sim)->dependent[2] == 0);
    lw_sim_destroy(free);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- refusals

static void refused(lw_model *model, const char *names, lw_status status, const char *text)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    assert_int_equal(create(model, "auto", names, "auto", &sim, &error), status);
    assert_null(sim);
    if (!strstr(error.text, text)) fail_msg("'%s' in: %s", text, error.text);
}

static void wrong_names_and_counts(void **unused)
{
    (void)unused;
    lw_builder *b = lwt_builder();
    static const char *const joint[] = {"A", "B", "C", "D", "arm"};
    lwt_four_bar f = lwt_standard_bars();
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    lwt_pin(b, f.bar[0], (lw_vec3){0.3, 0, 0}, lwt_bar(b, NULL, 0.2, 1), (lw_vec3){0}, 0, 0,
            LW_CUT_NEVER);
    lw_model *bare = lwt_model(b);
    lwi_description desc = bare->desc;
    lw_joint_desc named[5];
    lwi_unclosed unclosed;
    lw_model *model;
    lw_error error;
    assert_int_equal(desc.njoint, 5);
    for (int j = 0; j < 5; j++) named[j] = desc.joint[j], named[j].name = joint[j];
    desc.joint = named;
    lwt_ok(lwi_model_compile(&desc, NULL, &unclosed, &model, &error), &error);
    refused(model, "arms", LW_ERR_ARGUMENT, "there is no joint 'arms', did you mean 'arm'?");
    refused(model, "A.q1", LW_ERR_ARGUMENT, "joint 'A' has no coordinate q1");
    refused(model, "A.x", LW_ERR_ARGUMENT, "there is no joint 'A.x'");
    refused(model, "D", LW_ERR_ARGUMENT, "joint 'D' closes a loop");
    refused(model, "arm", LW_ERR_ARGUMENT, "joint 'arm' is in no loop");
    refused(model, "A,A.q0", LW_ERR_ARGUMENT, "q0 of joint 'A' is named twice");
    refused(model, "A,", LW_ERR_ARGUMENT, "a name is missing");
    refused(model, "A, C", LW_ERR_ARGUMENT,
            "2 coordinates are named (A, C), but the loops have 1 degree of freedom: name as many "
            "of A.q0, B.q0, C.q0");
    lw_model_destroy(model);
    lw_model_destroy(bare);
    model = lwt_five_bar(1);
    refused(model, model->joint[0].name, LW_ERR_ARGUMENT, "1 coordinate is named");
    lw_model_destroy(model);
    lw_options o;
    char text[LW_OPTION_STRING_SIZE + 1];
    memset(text, 'a', sizeof text);
    text[LW_OPTION_STRING_SIZE] = 0;
    lw_options_default(&o);
    assert_int_equal(lw_options_set(&o, "independent", text, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "512 letters together"));
    assert_non_null(strstr(error.text, "at most 511"));
    assert_int_equal(lw_options_set(&o, "independent", "", &error), LW_ERR_ARGUMENT);
    assert_string_equal(o.independent, "auto");
}

// Crank and coupler in line: the rocker, first in the tree here, is at a dead point.
static lw_model *dead_rocker(void)
{
    const double pi = 3.141592653589793, reach = 1.1;
    const double a = acos((reach * reach + 0.49 - 0.36) / (2 * reach * 0.7));
    const double rocker = atan2(reach * sin(a), reach * cos(a) - 0.7);
    lwt_four_bar f = {
        .l = {0.6, 0.8, 0.3, -0.7}, .m = {1.5, 2, 1}, .q = {rocker, a + pi - rocker, 0, -(a + pi)}};
    lw_builder *b = lwt_builder();
    lwt_add_four_bar(b, lwt_ground, 0.7, 0, &f);
    return lwt_model(b);
}

static void dependent_choices_are_singular(void **unused)
{
    (void)unused;
    lw_model *model = dead_rocker();
    char text[160];
    snprintf(text, sizeof text, "independent coordinates %s do not determine the motion",
             model->joint[0].name);
    refused(model, model->joint[0].name, LW_ERR_SINGULAR, text);
    lw_sim_destroy(sim_of(model, "auto", model->joint[2].name, "auto"));
    lw_model_destroy(model);
}

// A run over dead points of the named coordinate says so.
static void small_pivots_are_reported(void **unused)
{
    (void)unused;
    lw_model *model = lwt_standard_four_bar();
    for (int j = 0; j < 3; j += 2) {
        const char *name = model->joint[j].name;
        lw_sim *sim = sim_of(model, "rcr", name, "auto");
        char text[160];
        snprintf(text, sizeof text, "independent coordinates %s came close to a singular", name);
        lw_sim_set_duration(sim, 3);
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        const bool said = strstr(lw_sim_notice(sim), text) != NULL;
        if (said != (j > 0)) fail_msg("joint %d: %s", j, lw_sim_notice(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

static void others_ignore_the_option(void **unused)
{
    (void)unused;
    lw_model *model = lwt_standard_four_bar();
    lw_sim *sim = sim_of(model, "hdca", model->joint[0].name, "auto");
    assert_non_null(strstr(lw_sim_notice(sim), "independent is ignored: it is an option of rcr"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_crank_of_a_four_bar),
        cmocka_unit_test(the_arm_of_a_five_bar),
        cmocka_unit_test(chosen_coordinates_can_be_named),
        cmocka_unit_test(a_state_of_other_coordinates),
        cmocka_unit_test(wrong_names_and_counts),
        cmocka_unit_test(dependent_choices_are_singular),
        cmocka_unit_test(small_pivots_are_reported),
        cmocka_unit_test(others_ignore_the_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

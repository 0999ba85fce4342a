// test_feedback.c -- linearisation with a callback of the inputs: A + B K, against the same feedback by formulas of the file.
#include "simulate/controller_cases.h"

#include <linkwork/analysis.h>

// A crank and a rod, with or without a guide that closes a loop; `left` and `right` are inputs or signals.
static const char text_of_model[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "%s"
    "bodies:\n"
    "  crank: {mass: 1.5, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.4, 0, 0]}\n"
    "  rod: {mass: 1, inertia: [0.01, 0.02, 0.03, 0, 0, 0], position: [0.8, 0, 0], com: [0.3, 0, "
    "0]}\n"
    "%s"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], qd: [0.3], effort: {q0: "
    "left}}\n"
    "  B: {type: revolute, between: [crank, rod], at: [0.8, 0, 0], effort: {q0: right}}\n"
    "%s";
static const char lag[] = "  slow: {type: lag, of: A.q0, time: 0.2, initial: 0.1}\n";
static const char formulas[] =
    "  left: 20*(0.3 - A.q0) - 2*A.qd0 + B.q0*A.qd0 + 3*body.rod.y + 6*slow\n"
    "  right: -20*B.q0 - B.qd0 - 0.2*A.qd0 - 0.1*body.rod.vy\n";
static const char guide[] =
    "  guide: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [1.4, 0, 0]}\n";
static const char closing[] =
    "  C: {type: revolute, between: [rod, guide], at: [1.4, 0, 0]}\n"
    "  D: {type: prismatic, between: [ground, guide], at: [1.4, 0, 0], axis: [1, 0.2, 0]}\n";

static lw_model *model_of(bool by_file, bool loop)
{
    char head[600], text[4000];
    snprintf(head, sizeof head, "%ssignals:\n%s%s", by_file ? "" : "inputs: [left, right]\n", lag,
             by_file ? formulas : "");
    snprintf(text, sizeof text, text_of_model, head, loop ? guide : "", loop ? closing : "");
    return parse(text);
}

typedef struct caller {
    double wrong;
    lw_status status;
} caller;

static lw_status feedback(void *user, const lw_observation *o, double *u)
{
    const caller *c = user;
    u[0] = 20 * (0.3 - o->q[0]) - 2 * o->qd[0] + o->q[1] * o->qd[0] + 3 * o->position[2][1] +
           6 * o->states[0];
    u[1] = -20 * o->q[1] - o->qd[1] - 0.2 * o->qd[0] - 0.1 * o->velocity[2][1];
    return c->status;
}

static lw_status slopes(void *user, const lw_observation *o, const lw_input_slopes *by)
{
    const caller *c = user;
    const int nv = by->nv;
    by->by_q[0] = -20, by->by_q[1] = o->qd[0], by->by_qd[0] = -2 + o->q[1];
    by->by_q[nv + 1] = -20 + c->wrong, by->by_qd[nv] = -0.2, by->by_qd[nv + 1] = -1;
    by->by_states[0] = 6;
    by->by_pose[2][1] = 3;
    by->by_twist[by->nbody + 2][1] = -0.1;
    return LW_OK;
}

static void close_to(const double *a, const double *b, int n, double tolerance)
{
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
    for (int i = 0; i < n; i++) assert_near(a[i], b[i], tolerance * size);
}

// A and C with K by the Jacobian and by differences are those of the formulas; the values of the callback hold the state.
static void the_closed_loop_is_that_of_formulas(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const bool loop = k / 2, given = k % 2;
        lw_model *a = model_of(true, loop), *b = model_of(false, loop);
        lw_linear *formula, *closed;
        lw_error error;
        caller c = {0};
        const char *outputs = "joint.A.qdd0,body.rod.y,joint.B.fx,body.crank.vy";
        lwt_ok(lw_linearize(a, &(lw_linear_desc){.outputs = outputs}, &formula, &error), &error);
        const lw_linear_desc desc = {.outputs = outputs,
                                     .callback = feedback,
                                     .jacobian = given ? slopes : NULL,
                                     .callback_user = &c};
        lwt_ok(lw_linearize(b, &desc, &closed, &error), &error);
        const int n = lw_linear_states(closed), r = lw_linear_outputs(closed);
        assert_int_equal(n, loop ? 3 : 5);
        assert_int_equal(lw_linear_states(formula), n);
        close_to(lw_linear_accelerations(closed), lw_linear_accelerations(formula), n / 2, 1e-12);
        close_to(lw_linear_A(closed), lw_linear_A(formula), n * n, 1e-9);
        close_to(lw_linear_C(closed), lw_linear_C(formula), n * r, 1e-8);
        assert_int_equal(lw_linear_inputs(closed), 2);
        lw_linear_destroy(formula), lw_linear_destroy(closed);
        lw_model_destroy(a), lw_model_destroy(b);
    }
}

static void a_wrong_jacobian_is_refused(void **state)
{
    (void)state;
    lw_model *m = model_of(false, true);
    lw_linear *linear;
    lw_error error;
    caller c = {.wrong = 0.1};
    const lw_linear_desc desc = {.callback = feedback, .jacobian = slopes, .callback_user = &c};
    assert_int_equal(lw_linearize(m, &desc, &linear, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "input 'right' by joint.B.q0: the Jacobian gives -19.9"));
    c.wrong = NAN;
    assert_int_equal(lw_linearize(m, &desc, &linear, &error), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(error.text, "its Jacobian gives nan by joint.B.q0"));
    c = (caller){.status = LW_ERR_IO};
    assert_int_equal(lw_linearize(m, &desc, &linear, &error), LW_ERR_IO);
    assert_non_null(strstr(error.text, "the callback of inputs failed"));
    lw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_loop_is_that_of_formulas),
        cmocka_unit_test(a_wrong_jacobian_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

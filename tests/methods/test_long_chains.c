// test_long_chains.c -- chains of 1000 and 10 000 bodies by all formulations of linear cost, against Newton-Euler equations
// in long double.
//
// Bounds are what the last bits of the state change in the reference: a formulation that is stable differs from the exact
// result by some multiple of that.  Speeds are determined badly by momenta, accelerations well by speeds.
#include "support/long_chain.h"
#include "support/mechanism.h"

#include <float.h>

typedef struct chain {
    lw_model *model;
    int nq, nv;
    lwi_arena arena;
    lwi_snapshot start;
    lwt_chain_reference *exact;
    lwt_real *q, *y, *u, *udot,
        *change; // y: second half of a state;  speeds and accelerations of the state
    lwt_real (*force)[3];
    double bound[2]; // what the last bits change: speeds, accelerations
    uint64_t seed;
} chain;

static void *push(chain *c, int n, size_t size)
{
    void *room = lwi_arena_push(&c->arena, (size_t)n, size);
    assert_non_null(room);
    return room;
}

static chain create(lwt_long_chain_kind kind, int n)
{
    chain c = {.seed = 7};
    lw_error error = {.text = "no memory"};
    c.model = lwt_long_chain(kind, n, &error);
    if (!c.model) fail_msg("%s", error.text);
    c.nq = c.model->tree_nq, c.nv = c.model->tree_nv;
    lwi_arena_init(&c.arena, NULL);
    lwt_real **const room[] = {&c.q, &c.y, &c.u, &c.udot, &c.change};
    for (int i = 0; i < LWI_COUNT(room); i++) *room[i] = push(&c, c.nq + c.nv, sizeof **room[i]);
    c.force = push(&c, n, sizeof *c.force);
    assert_int_equal(lwi_snapshot_create(c.model, &c.arena, &c.start), LW_OK);
    lwi_snapshot_start(c.model, &c.start);
    for (int i = 0; i < c.nv; i++) c.start.qd[i] = lwt_draw(&c.seed);
    lwi_snapshot_from_joints(c.model, 0, &c.start);
    return c;
}

static void destroy(chain *c)
{
    lwt_chain_reference_destroy(c->exact);
    lwi_arena_free(&c->arena);
    lw_model_destroy(c->model);
}

// Speeds and accelerations of the state (q, y), and what its last bits change.
static void solve(chain *c, bool momenta)
{
    lwt_real *q = push(c, c->nq, sizeof *q), *y = push(c, c->nv, sizeof *y),
             *u = push(c, c->nv, sizeof *u);
    lwt_chain_reference_destroy(c->exact);
    c->exact = lwt_chain_reference_create(c->model, c->q);
    assert_non_null(c->exact);
    if (momenta)
        lwt_chain_reference_speeds(c->exact, c->y, c->u, NULL);
    else
        memcpy(c->u, c->y, (size_t)c->nv * sizeof *c->u);
    lwt_chain_reference_accelerations(c->exact, c->u, c->udot, c->force);
    lwt_last_bits(c->q, c->nq, &c->seed, q);
    lwt_last_bits(c->y, c->nv, &c->seed, y);
    lwt_chain_reference *near = lwt_chain_reference_create(c->model, q);
    assert_non_null(near);
    if (momenta)
        lwt_chain_reference_speeds(near, y, u, NULL);
    else
        memcpy(u, y, (size_t)c->nv * sizeof *u);
    lwt_chain_reference_accelerations(near, u, c->change, NULL);
    c->bound[0] = lwt_off(u, c->u, c->nv);
    c->bound[1] = lwt_off(c->change, c->udot, c->nv);
    lwt_chain_reference_destroy(near);
}

// ------------------------------------------------------------------------------------ comparison

typedef struct method {
    const lwi_formulation *formulation;
    int lanes;
    double loss[3]; ///< largest error of speeds, accelerations, forces, in changes by the last bits
} method;

static double force_error(const chain *c, const lwi_snapshot *now)
{
    lwt_real off = 0, size = 0;
    for (int j = 0; j < c->model->njoint; j++)
        for (int i = 0; i < 3; i++) {
            const lwt_real exact = c->force[c->model->joint[j].node][i];
            if (!(fabsl(now->reaction[j][i] - exact) <= off))
                off = fabsl(now->reaction[j][i] - exact);
            size = fmaxl(size, fabsl(exact));
        }
    return (double)(off / size);
}

static void check(const chain *c, const method *m, const char *what, double error, double bound)
{
    if (getenv("LW_SHOW"))
        printf("%d %s%s: error of %s %.1e, bound %.1e\n", c->model->nnode, m->formulation->name,
               m->lanes < 0 ? " without kernels" : "", what, error, bound);
    if (!(error <= bound))
        fail_msg("%d bodies, %s%s: error of %s %.2e, expected at most %.2e", c->model->nnode,
                 m->formulation->name, m->lanes < 0 ? " without kernels" : "", what, error, bound);
}

// Rates and a row of results of a formulation at the state.
static void compare(const chain *c, const method *m, bool momenta)
{
    lwi_work *work;
    lwi_arena arena;
    lwi_snapshot now;
    lw_error error;
    lwi_arena_init(&arena, NULL);
    lwt_ok(lwi_work_create_lanes(c->model, m->formulation, NULL, m->lanes, &work, &error), &error);
    double *x = lwt_vector(work->layout.nx), *xdot = lwt_vector(work->layout.nx);
    lwt_ok(m->formulation->enter(work, &c->start, x), &work->error);
    if (momenta)
        for (int i = 0; i < c->nv; i++) x[c->nq + i] = (double)c->y[i];
    const double last = 8 * DBL_EPSILON, bound[2] = {c->bound[0] + last, c->bound[1] + last};
    if (m->formulation->rates) {
        lwt_ok(m->formulation->rates(work, 0, x, NULL, xdot), &work->error);
        if (!momenta)
            check(c, m, "accelerations", lwt_off_double(xdot + c->nq, c->udot, c->nv),
                  m->loss[1] * bound[1]);
    }
    lwt_observe(work, 0, x, NULL, &arena, &now);
    check(c, m, "speeds of a row", lwt_off_double(now.qd, c->u, c->nv), m->loss[0] * bound[0]);
    check(c, m, "accelerations of a row", lwt_off_double(now.qdd, c->udot, c->nv),
          m->loss[1] * bound[1]);
    check(c, m, "forces of a row", force_error(c, &now), m->loss[2] * bound[1]);
    free(x), free(xdot);
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
}

// Measured: aba and dca at most 200 changes by the last bits, rcr 1500, little compared with those by momenta.  The state of
// index3 has the velocities of all bodies, which are large at the tip: speeds have the error of their last bits.
static const method of_speeds[] = {
    {&lwi_formulation_aba, 0, {1, 500, 500}},
    {&lwi_formulation_aba, LWI_NO_KERNEL, {1, 500, 500}},
    {&lwi_formulation_rcr, 0, {1, 5000, 5000}},
    {&lwi_formulation_index3, 0, {1e5, 2e5, 2e5}},
    {&lwi_formulation_dca, 0, {1, 30, 500}},
    {&lwi_formulation_dca, LWI_NO_KERNEL, {1, 500, 500}},
};

// Measured: at most 10, by the elimination 30.
static const method of_momenta[] = {
    {&lwi_formulation_momenta, 0, {15, 15, 15}},
    {&lwi_formulation_momenta, LWI_NO_KERNEL, {15, 15, 15}},
    {&lwi_formulation_hdca, 0, {20, 20, 20}},
    {&lwi_formulation_hdca, LWI_NO_KERNEL, {80, 80, 80}},
};

static void check_chain(lwt_long_chain_kind kind, int n)
{
    chain c = create(kind, n);
    for (int k = 0; k < c.model->nnode; k++) { // tree order is that of the joints
        assert_int_equal(c.model->joint[k].node, k);
        assert_int_equal(c.model->joint[k].iv, c.model->node[k].iv);
    }
    for (int i = 0; i < c.nq; i++) c.q[i] = c.start.q[i];
    for (int i = 0; i < c.nv; i++) c.y[i] = c.start.qd[i];
    solve(&c, false);
    for (int i = 0; i < LWI_COUNT(of_speeds); i++) compare(&c, &of_speeds[i], false);
    lwt_real *p = push(&c, c.nv, sizeof *p);
    lwt_chain_reference_momenta(c.exact, c.u, p);
    for (int i = 0; i < c.nv; i++) c.y[i] = (double)p[i];
    solve(&c, true);
    for (int i = 0; i < LWI_COUNT(of_momenta); i++) compare(&c, &of_momenta[i], true);
    destroy(&c);
}

static void axes_at_random(void **state)
{
    (void)state;
    check_chain(LWT_CHAIN_RANDOM, 1000);
    check_chain(LWT_CHAIN_RANDOM, 10000);
}

static void axes_at_right_angles(void **state)
{
    (void)state;
    check_chain(LWT_CHAIN_SQUARE, 1000);
}

static void hinges_and_balls(void **state)
{
    (void)state;
    check_chain(LWT_CHAIN_BALLS, 1000);
}

int main(void)
{
    if (LDBL_EPSILON > 1e-18L) {
        print_message("SKIPPED: long double has no more digits than double here\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_at_random),
        cmocka_unit_test(axes_at_right_angles),
        cmocka_unit_test(hinges_and_balls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

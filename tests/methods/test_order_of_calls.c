// test_order_of_calls.c -- calls of a formulation at a few states in any order: each has the bits that it has as the only
// call.  Evaluations that calls share, and what they leave in the workspace, are not seen.
#include "methods/dca/net_cases.h"
#include "methods/rcr/cluster_cases.h"
#include "support/run.h"

#include "base/simd/lanes.h"

enum { STATES = 3, MANY = 6000, FEW = 200 }; // calls: of small mechanisms, of long ones

typedef enum call { RATES, POSES, VELOCITIES, ACCELERATIONS, ROW, SCALE, GAP, CLOSE, NCALL } call;

static const char *const call_names[NCALL] = {"rates", "poses", "velocities", "accelerations",
                                              "a row", "scale", "gap",        "close"};

/** What calls return; of those that were not made zeros. */
typedef struct answer {
    int n;
    double *value;
} answer;

static void put(answer *to, const double *x, int n)
{
    to->value = realloc(to->value, (size_t)(to->n + n) * sizeof *x);
    assert_non_null(to->value);
    memcpy(to->value + to->n, x, (size_t)n * sizeof *x);
    to->n += n;
}

static void put_snapshot(answer *to, const lw_model *model, lw_observe level, const lwi_snapshot *m)
{
    const int nbody = model->nbody;
    put(to, m->r[0], 3 * nbody);
    put(to, m->R[0], 9 * nbody);
    put(to, m->quat[0], 4 * nbody);
    put(to, m->q, model->nq);
    if (level < LW_OBSERVE_TWIST) return;
    put(to, m->v[0], 3 * nbody);
    put(to, m->w[0], 3 * nbody);
    put(to, m->qd, model->nv);
    put(to, &m->work, 1);
    if (level < LW_OBSERVE_ACCELERATION) return;
    put(to, m->a[0], 3 * nbody);
    put(to, m->al[0], 3 * nbody);
    put(to, m->qdd, model->nv);
    if (level < LW_OBSERVE_REACTION) return;
    put(to, m->reaction[0], 6 * model->njoint);
    for (int j = 0; j < model->njoint; j++) put(to, &(double){m->undetermined[j]}, 1);
}

static void observe(lwt_run *r, const double *x, lw_observe level, answer *to)
{
    lwi_snapshot m;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(r->model, &arena, &m), LW_OK);
    lwt_ok(r->work->formulation->observe(r->work, r->t, x, NULL, level, &m), &r->work->error);
    put_snapshot(to, r->model, level, &m);
    lwi_arena_free(&arena);
}

static answer make_call(lwt_run *r, call what, const double *x)
{
    static const lw_observe level[NCALL] = {[POSES] = LW_OBSERVE_POSE,
                                            [VELOCITIES] = LW_OBSERVE_TWIST,
                                            [ACCELERATIONS] = LW_OBSERVE_ACCELERATION,
                                            [ROW] = LW_OBSERVE_REACTION};
    const lwi_formulation *f = r->work->formulation;
    const int nx = r->work->layout.nx;
    double *out = lwt_vector(nx);
    answer to = {0};
    switch (what) {
    case RATES:
        lwt_ok(f->rates(r->work, r->t, x, NULL, out), &r->work->error);
        put(&to, out, nx);
        put(&to, &(double){lwi_work_margin(r->work, r->t, x)}, 1);
        break;
    case SCALE:
        if (f->scale) lwt_ok(f->scale(r->work, r->t, x, out), &r->work->error);
        put(&to, out, nx);
        break;
    case GAP:
        put(&to, &(double){f->gap ? f->gap(r->work, r->t, x) : 0}, 1);
        break;
    case CLOSE:
        memcpy(out, x, (size_t)nx * sizeof *x);
        if (f->close && f->close(r->work, r->t, out, 0, true)) put(&to, out, nx);
        break;
    default:
        observe(r, x, level[what], &to);
    }
    free(out);
    return to;
}

// The start, the same place with other speeds, a place some steps later.
static void find_states(const lw_model *model, const lwi_formulation *f, double *x[STATES])
{
    lwt_run r = lwt_run_start(model, f);
    const size_t bytes = (size_t)r.work->layout.nx * sizeof(double);
    double t = 0;
    for (int i = 0; i < STATES; i++) {
        x[i] = lwt_vector(r.work->layout.nx);
        memcpy(x[i], r.x, bytes);
        if (i == 0) lwt_integrate(r.work, &t, r.x, NULL, 1e-3, 10);
    }
    memcpy(x[1], x[0], bytes);
    for (int i = 0; i < model->tree_nv; i++) x[1][model->tree_nq + i] *= 0.5;
    lwt_run_end(&r);
}

static void check(const char *what, const lw_model *model, const char *formulation, int calls)
{
    const lwi_formulation *f = lwi_formulation_find(formulation);
    double *x[STATES];
    answer alone[STATES][NCALL];
    uint64_t seed = 9;
    find_states(model, f, x);
    for (int s = 0; s < STATES; s++)
        for (int k = 0; k < NCALL; k++) {
            lwt_run r = lwt_run_start(model, f);
            alone[s][k] = make_call(&r, (call)k, x[s]);
            lwt_run_end(&r);
        }
    lwt_run r = lwt_run_start(model, f);
    call before = NCALL;
    for (int n = 0; n < calls; n++) {
        const int s = (int)lwt_random(&seed, 0, STATES);
        const call k = (call)lwt_random(&seed, 0, NCALL);
        const answer *expected = &alone[s][k];
        answer found = make_call(&r, k, x[s]);
        assert_int_equal(found.n, expected->n);
        for (int i = 0; i < found.n; i++)
            if (memcmp(&found.value[i], &expected->value[i], sizeof(double)))
                fail_msg(
                    "%s by %s, call %d: %s at state %d after %s: number %d is %.17g, alone %.17g",
                    what, formulation, n, call_names[k], s,
                    before < NCALL ? call_names[before] : "nothing", i, found.value[i],
                    expected->value[i]);
        free(found.value);
        before = k;
    }
    lwt_run_end(&r);
    for (int s = 0; s < STATES; s++) {
        for (int k = 0; k < NCALL; k++) free(alone[s][k].value);
        free(x[s]);
    }
}

static void check_all(const char *what, lw_model *model, const char *const *names, int n)
{
    const int calls = model->nbody < 100 ? MANY : FEW;
    for (int i = 0; i < n; i++) check(what, model, names[i], calls);
    lw_model_destroy(model);
}

#define CHECK(what, model, ...)                                                                    \
    check_all(what, model, (const char *const[]){__VA_ARGS__},                                     \
              LWI_COUNT(((const char *const[]){__VA_ARGS__})))

static void loops(void **state)
{
    (void)state;
    CHECK("four-bars",
          lwt_generated((lw_mechanism_desc){
              .mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 3, .q = {0.3}, .qd = {1}}),
          "rcr", "dca", "hdca", "lagrange", "dense");
    CHECK("a ladder",
          lwt_generated((lw_mechanism_desc){
              .mechanism = LW_MECHANISM_LADDER, .n = 3, .q = {0.2, 0.3}, .qd = {0.5, 1}}),
          "rcr", "dca", "hdca", "lagrange", "dense");
    CHECK("a ring", lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 9}),
          "rcr", "dca", "hdca", "lagrange", "dense");
}

// Loop clusters find velocities and the elimination all else, where no rows are redundant.
static void loops_in_space(void **state)
{
    (void)state;
    static const lwt_kind kinds[] = {BALLS, SEVEN_HINGES, HALVES, DELTA, CROSSES, MIXED};
    static const char *const names[] = {"balls",  "seven hinges", "fixed joints",
                                        "Deltas", "crosses",      "a mixture"};
    for (int base = GROUND; base <= FLOATING; base++)
        for (int i = 0; i < LWI_COUNT(kinds); i++) {
            uint64_t seed = 7;
            CHECK(names[i], build_on((lwt_base)base, kinds[i], 1, false, &seed), "rcr");
        }
}

// Kinetic energies are the scale of the work of the drive.
static void driven_loops(void **state)
{
    (void)state;
    uint64_t seed = 7;
    site s = new_site(&seed, false);
    const double c[] = {0, 60};
    const lw_signal fast = lwt_function(
        s.b,
        &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 2});
    const lw_body table = blob(&s, 0.5, 0, 0, 3);
    lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                  .body1 = lwt_ground,
                                  .body2 = table,
                                  .axis = rotated(&s, 0, 0, 1),
                                  .coordinate[0].motion = fast});
    four_bar(&s, table, 2, 5, 0);
    CHECK("a four-bar on a driven table", lwt_model(s.b), "rcr");
}

static void trees(void **state)
{
    (void)state;
    CHECK("a tree", lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_TREE, .n = 15}),
          "aba", "momenta", "rcr", "dca", "hdca");
}

static void segments(void **state)
{
    (void)state;
    for (int ring = 0; ring < 2; ring++) {
        lwt_net net = lwt_net_begin(4);
        net.stiffness = 2;
        if (ring)
            lwt_net_ring(&net, false, 270);
        else
            lwt_net_bar(&net, lwt_ground, 300, (lw_vec3){0, 0, 0}, (lw_vec3){100, 3, 2});
        CHECK(ring ? "a long ring" : "a long path", lwt_model(net.builder), "dca", "hdca");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops), cmocka_unit_test(loops_in_space), cmocka_unit_test(driven_loops),
        cmocka_unit_test(trees), cmocka_unit_test(segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

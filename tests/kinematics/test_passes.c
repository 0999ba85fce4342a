// test_passes.c -- recursions along the tree as prefix sums agree with the plain recursions; the bits do not depend on
// threads; several threads work.
#include "tree/tree_cases.h"

#include "kinematics/passes.h"
#include "kinematics/tree_state.h"
#include "spatial/motion.h"

enum { NTREES = 6, SMALL = 256 };

typedef struct sums {
    lwi_arena arena;
    lwi_tree_work w;
    lwi_tree_passes passes;
    double (*F)[6]; // [nnode]
} sums;

static void sums_create(sums *s, const lwt_tree *c)
{
    lwi_arena_init(&s->arena, NULL);
    assert_int_equal(lwi_tree_work_create(c->model, &s->arena, &s->w), LW_OK);
    assert_int_equal(lwi_tree_passes_create(c->model, &s->arena, &s->passes), LW_OK);
    s->F = s->w.F;
    lwi_tree_position(c->model, c->t, c->q, s->w.link);
    uint64_t state = c->seed;
    for (int k = 0; k < c->model->nnode; k++)
        for (int i = 0; i < 6; i++) s->F[k][i] = lwt_random(&state, -1, 1);
}

static void by_recursion(sums *s, const lwt_tree *c)
{
    const lw_model *m = c->model;
    lwi_tree_work *w = &s->w;
    lwi_tree_world(m, w->link, w->R, w->r);
    lwi_tree_velocity(m, w->link, c->v, w->V);
    for (int k = 0; k < m->nnode; k++) { // world axes
        m3_mul_v(w->A[k], w->R[k], w->V[k]);
        m3_mul_v(w->A[k] + 3, w->R[k], w->V[k] + 3);
        memcpy(w->V[k], w->A[k], sizeof w->V[k]);
    }
    for (int k = m->nnode - 1; k >= 0; k--)
        if (m->node[k].parent >= 0)
            force_add_from(s->F[m->node[k].parent], w->link[k].R, w->link[k].r, s->F[k]);
}

static void by_passes(sums *s, const lwt_tree *c, lwi_pool *pool)
{
    s->passes.pool = pool;
    lwi_tree_pass_world(&s->passes, s->w.link, s->w.R, s->w.r);
    memcpy(s->w.A, s->F, (size_t)c->model->nnode * sizeof *s->F);
    lwi_tree_pass_sum(&s->passes, s->w.link,
                      s->w.A); // a second evaluation finds nothing of the first
    lwi_tree_pass_world(&s->passes, s->w.link, s->w.R, s->w.r);
    lwi_tree_pass_velocity(&s->passes, s->w.link, (const double(*)[9])s->w.R,
                           (const double(*)[3])s->w.r, c->v, s->w.V);
    lwi_tree_pass_sum(&s->passes, s->w.link, s->F);
}

// By entries of the same kind, which grow along the tree; a path of n nodes has round-off of n such entries.
static void check(const lwt_tree *c, const char *what, int n, const double *a, const double *b)
{
    double largest = 1;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(b[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-13 * largest))
            fail_msg("seed %llu: %s, entry %d: %.17g, expected %.17g", (unsigned long long)c->seed,
                     what, i, a[i], b[i]);
}

static bool same(const sums *a, const sums *b, int n)
{
    const size_t nodes = (size_t)n;
    return !memcmp(a->w.R, b->w.R, nodes * sizeof *a->w.R) &&
           !memcmp(a->w.r, b->w.r, nodes * sizeof *a->w.r) &&
           !memcmp(a->F, b->F, nodes * sizeof *a->F);
}

// Each tree by recursion, and by passes on 1, 2 and 8 threads.
static void compare(const lwt_tree *c, bool exactly)
{
    static const int threads[] = {1, 2, 8};
    const int n = c->model->nnode;
    sums expected, found[3];
    sums_create(&expected, c);
    by_recursion(&expected, c);
    for (int i = 0; i < 3; i++) {
        lwi_pool *pool = NULL;
        sums_create(&found[i], c);
        assert_int_equal(lwi_pool_create(threads[i], NULL, &pool, NULL), LW_OK);
        by_passes(&found[i], c, threads[i] > 1 ? pool : NULL);
        assert_true(threads[i] == 1 || exactly || lwi_pool_rounds(pool) == 10);
        lwi_pool_destroy(pool);
        assert_true(same(&found[i], &found[0], n));
        assert_memory_equal(found[i].w.V, found[0].w.V, (size_t)n * sizeof *found[0].w.V);
    }
    check(c, "R", 9 * n, &found[0].w.R[0][0], &expected.w.R[0][0]);
    check(c, "r", 3 * n, &found[0].w.r[0][0], &expected.w.r[0][0]);
    check(c, "V", 6 * n, &found[0].w.V[0][0], &expected.w.V[0][0]);
    check(c, "F", 6 * n, &found[0].F[0][0], &expected.F[0][0]);
    if (exactly) assert_true(same(&found[0], &expected, n));
    assert_true(exactly == (found[0].passes.first_border[found[0].passes.segments] == 0));
    lwi_arena_free(&expected.arena);
    for (int i = 0; i < 3; i++) lwi_arena_free(&found[i].arena);
}

static void passes_agree_with_recursions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NTREES; seed++) {
        lwt_tree c = lwt_tree_create(seed, 450 + 90 * (int)seed, LWT_ALL);
        compare(&c, false);
        lwt_tree_destroy(&c);
    }
}

static void small_trees_keep_the_bits_of_recursions(void **state)
{
    (void)state;
    lwt_tree c = lwt_tree_create(7, SMALL, LWT_ALL);
    assert_true(c.model->nnode <= SMALL);
    compare(&c, true);
    lwt_tree_destroy(&c);
}

// A path of n bodies (children 1), or a hub with n - 1 arms.
static lwt_tree regular(int n, bool path)
{
    lw_builder *b;
    lw_error error;
    lw_body last = {0}, hub = {0};
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    for (int i = 0; i < n; i++) {
        lw_body body;
        lw_joint joint;
        const lw_body_desc rod = {
            .mass = 1, .inertia = {0.1, 0.1, 0.1}, .pose = {.position = {i, 0.5 * (i % 2), 0}}};
        assert_int_equal(lw_builder_add_body(b, &rod, &body, &error), LW_OK);
        const lw_joint_desc ball = {.type = LW_JOINT_SPHERICAL,
                                    .body1 = i == 0 ? (lw_body){0}
                                             : path ? last
                                                    : hub,
                                    .body2 = body,
                                    .at = {i, 0, 0}};
        assert_int_equal(lw_builder_add_joint(b, &ball, &joint, &error), LW_OK);
        if (i == 0) hub = body;
        last = body;
    }
    lwt_tree c = {.seed = 3, .state = 5, .t = 0};
    assert_int_equal(lw_model_create(b, &c.model, &error), LW_OK);
    lw_builder_destroy(b);
    c.q = lwt_reals(c.model->tree_nq);
    c.v = lwt_reals(c.model->tree_nv);
    c.input = lwt_reals(1);
    for (int k = 0; k < c.model->nnode; k++) { // unit quaternions
        double *q = c.q + c.model->node[k].iq;
        q[0] = lwt_random(&c.state, 0.9, 1), q[1 + k % 3] = sqrt(1 - q[0] * q[0]);
    }
    for (int i = 0; i < c.model->tree_nv; i++) c.v[i] = lwt_random(&c.state, -1, 1);
    return c;
}

// On a path every node is between a border and a head; a hub is the border that all segments are attached to.
static void paths_and_stars_agree_with_recursions(void **state)
{
    (void)state;
    for (int path = 0; path < 2; path++) {
        lwt_tree c = regular(1000, path);
        compare(&c, false);
        lwt_tree_destroy(&c);
    }
}

static void a_path_is_as_deep_as_a_segment_and_its_borders(void **state)
{
    (void)state;
    lwt_tree c = regular(2000, true);
    sums s;
    double longest, all;
    sums_create(&s, &c);
    lwi_tree_pass_depth(&s.passes, &longest, &all);
    assert_true(longest <= 128 + 31 && all >= 2000); // a segment twice, and its borders
    lwi_arena_free(&s.arena);
    lwt_tree_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_agree_with_recursions),
        cmocka_unit_test(small_trees_keep_the_bits_of_recursions),
        cmocka_unit_test(paths_and_stars_agree_with_recursions),
        cmocka_unit_test(a_path_is_as_deep_as_a_segment_and_its_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

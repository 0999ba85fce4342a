// test_speed_terms.c -- the factors of derivatives of inverse dynamics: their products, as speed_terms.h states them, are the derivatives
// and the mass matrix of the library, which computes them in link frames.
#include "codegen/speed_terms.h"
#include "support/mechanism.h"
#include "support/random_model.h"

enum { TREES = 60, BODIES = 9 };

/** A tree at a state, and the terms of its speeds. */
typedef struct sample {
    const lw_model *model;
    int nv;
    double *q, *v, *vdot, *term, *by_q, *by_v, *M;
} sample;

static double dot(const sample *s, int n, int a, int i, int b, int j)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += s->term[(a + k) * s->nv + i] * s->term[(b + k) * s->nv + j];
    return sum;
}

// False: code generation does not take the tree, which has a free joint between bodies or a reversed ball.
static bool find_terms(sample *s)
{
    lwi_arena arena;
    lwi_elements elements;
    lwi_codegen_graph graph;
    lwi_walk walk;
    lw_error error;
    const int nv = s->nv;
    val *vdot = calloc((size_t)nv, sizeof *vdot),
        *term = calloc((size_t)nv * LWI_TERMS, sizeof *term);
    assert_true(vdot && term);
    lwi_arena_init(&arena, NULL);
    lwi_codegen_graph_init(&graph, NULL);
    const lw_status status = lwi_elements_read(s->model, &arena, &elements, &error);
    if (status != LW_OK) {
        assert_int_equal(status, LW_ERR_UNSUPPORTED);
        free(vdot), free(term);
        lwi_arena_free(&arena);
        return false;
    }
    assert_int_equal(lwi_walk_begin(&graph, &elements, LWI_READS_SPEEDS, &arena, &walk), LW_OK);
    const int array = lwi_codegen_graph_array(&graph, "vdot");
    for (int i = 0; i < nv; i++) vdot[i] = lwi_codegen_graph_input(&graph, array, i);
    assert_int_equal(lwi_speed_terms(&walk, vdot, term, &arena), LW_OK);
    const double *input[LWI_GRAPH_ARRAYS] = {NULL};
    input[walk.q] = s->q, input[walk.v] = s->v, input[array] = s->vdot;
    double *number = lwt_vector(graph.nvertex);
    lwi_codegen_graph_evaluate(&graph, input, number);
    for (int i = 0; i < nv * LWI_TERMS; i++) s->term[i] = number[term[i].index];
    free(number), free(vdot), free(term);
    lwi_codegen_graph_free(&graph);
    lwi_arena_free(&arena);
    return true;
}

static int node_of(const lw_model *model, int speed)
{
    int k = 0;
    while (model->node[k].iv + model->node[k].nv <= speed) k++;
    return k;
}

// Is node b behind node a?
static bool is_outboard(const lw_model *model, int b, int a)
{
    while (b > a) b = model->node[b].parent;
    return b == a;
}

static void near(const char *what, int tree, int i, int j, double found, double expected,
                 double size)
{
    if (!(fabs(found - expected) <= 1e-12 * size))
        fail_msg("tree %d, %s %d %d: %.15g, expected %.15g", tree, what, i, j, found, expected);
}

static double largest(int n, const double *x)
{
    double size = 1;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return size;
}

// All pairs of speeds of different joints, j outboard of i, and the mass matrix within joints.
static int compare(const sample *s, int tree)
{
    const int n = s->nv;
    const double sizes[] = {largest(n * n, s->by_q), largest(n * n, s->by_v), largest(n * n, s->M)};
    int pairs = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            const int a = node_of(s->model, i), b = node_of(s->model, j);
            if (!is_outboard(s->model, b, a)) continue;
            const double rotor = i == j ? s->model->tree_rotor[i] : 0;
            near("M", tree, i, j, rotor + dot(s, 6, LWI_TERM_S, i, LWI_TERM_IS, j), s->M[i * n + j],
                 sizes[2]);
            if (a == b) continue;
            pairs++;
            near("by q", tree, i, j, dot(s, 6, LWI_TERM_S, i, LWI_TERM_BY_Q, j), s->by_q[i * n + j],
                 sizes[0]);
            near("by v", tree, i, j, dot(s, 6, LWI_TERM_S, i, LWI_TERM_BY_V, j), s->by_v[i * n + j],
                 sizes[1]);
            near("by q", tree, j, i,
                 dot(s, 6, LWI_TERM_ACCEL_Q, i, LWI_TERM_IS, j) +
                     dot(s, 3, LWI_TERM_RATE_Q, i, LWI_TERM_BS, j),
                 s->by_q[j * n + i], sizes[0]);
            near("by v", tree, j, i,
                 dot(s, 6, LWI_TERM_ACCEL_V, i, LWI_TERM_IS, j) +
                     dot(s, 3, LWI_TERM_S + 3, i, LWI_TERM_BS, j),
                 s->by_v[j * n + i], sizes[1]);
        }
    return pairs;
}

static void products_are_the_derivatives(void **state)
{
    (void)state;
    int pairs = 0;
    for (int tree = 0; tree < TREES; tree++) {
        lw_model *model;
        lw_dynamics *dynamics;
        lw_error error;
        uint64_t random = (uint64_t)tree + 1;
        const unsigned flags = LWT_MULTI | LWT_FIXED | (tree % 2 ? LWT_QUASI : LWT_REVERSED);
        assert_int_equal(lwt_random_tree(random, BODIES, flags, &model), LW_OK);
        lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
        const int n = model->tree_nv;
        sample s = {model,
                    n,
                    lwt_vector(model->tree_nq),
                    lwt_vector(n),
                    lwt_vector(n),
                    lwt_vector(n * LWI_TERMS),
                    lwt_vector(n * n),
                    lwt_vector(n * n),
                    lwt_vector(n * n)};
        lw_model_tree_start(model, s.q, s.v);
        for (int i = 0; i < n; i++) s.vdot[i] = lwt_random(&random, -1, 1);
        assert_int_equal(lw_inverse_dynamics_derivatives(dynamics, 0, s.q, s.v, s.vdot, NULL,
                                                         s.by_q, s.by_v, s.M),
                         LW_OK);
        if (find_terms(&s)) pairs += compare(&s, tree);
        double *const all[] = {s.q, s.v, s.vdot, s.term, s.by_q, s.by_v, s.M};
        for (int i = 0; i < LWI_COUNT(all); i++) free(all[i]);
        lw_dynamics_destroy(dynamics);
        lw_model_destroy(model);
    }
    assert_true(pairs > 20 * TREES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_long_branches.c -- long branches of a tree, cut into segments.
//
// The trees have a trunk with a few small branches and tails, each a chain of hinges, with another joint or with small
// branches at the tip in some cases.
#include "tree/kernel_cases.h"

#include "tree/chain_cases.h"

enum { MAX_TAILS = 3 };

typedef struct creature {
    lw_joint_type trunk;
    int tails, length[MAX_TAILS]; ///< bodies
    lwt_chain_shape shape;
    int slider; ///< index of the slider in every tail; -1: none
    int hands;  ///< of two hinges each, on every tip
    int fins;   ///< of one hinge each, on the trunk
} creature;

typedef struct living {
    lw_model *model;
    double *x; ///< [tree nq + tree nv + 1]
} living;

typedef struct growth {
    lw_builder *builder;
    uint64_t seed;
} growth;

static lw_body grow(growth *g, lw_body parent, lw_joint_type type, lwt_chain_shape shape, int i)
{
    const double quarter = acos(0);
    const lw_quat axis[3] = {lwt_axis_angle(-quarter, 1, 0, 0), lwt_axis_angle(0, 0, 0, 1),
                             lwt_axis_angle(quarter, 0, 1, 0)};
    lw_quat on = axis[shape == LWT_CHAIN_ACROSS ? i % 3 : 0], in = on;
    lw_error error;
    lw_body body;
    lw_joint joint;
    if (shape == LWT_CHAIN_MIXED) {
        on = lwt_axis_angle(lwt_random(&g->seed, 0.5, 2.5), 0.6, 0, 0.8);
        in = lwt_axis_angle(lwt_random(&g->seed, 0.5, 2.5), 0, 1, 0);
    }
    const lw_body_desc rod = {.mass = 1, .inertia = {0.02, 0.09, 0.09}, .com = {0.5, 0, 0}};
    const double out = parent.index ? 1 : 0; // the trunk is at the origin
    assert_int_equal(lw_builder_add_body(g->builder, &rod, &body, &error), LW_OK);
    const lw_joint_desc desc = {.type = type,
                                .body1 = parent,
                                .body2 = body,
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {{out, out * 0.1 * (i % 2), 0}, on},
                                .frame2 = {{0, 0, 0}, in},
                                .has_q = parent.index || type == LW_JOINT_REVOLUTE};
    if (lw_builder_add_joint(g->builder, &desc, &joint, &error) != LW_OK)
        fail_msg("%s", error.text);
    return body;
}

static living bring_to_life(const creature *c)
{
    living l = {0};
    growth g = {.seed = 3};
    lw_error error;
    assert_int_equal(lw_builder_create(NULL, &g.builder), LW_OK);
    const lw_body trunk = grow(&g, (lw_body){0}, c->trunk, LWT_CHAIN_ACROSS, 1);
    for (int i = 0; i < c->fins; i++) grow(&g, trunk, LW_JOINT_REVOLUTE, LWT_CHAIN_MIXED, 0);
    for (int t = 0; t < c->tails; t++) {
        lw_body tip = trunk;
        for (int i = 0; i < c->length[t]; i++)
            tip =
                grow(&g, tip, i == c->slider ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE, c->shape, i);
        for (int k = 0; k < c->hands; k++)
            grow(&g, grow(&g, tip, LW_JOINT_REVOLUTE, LWT_CHAIN_MIXED, 0), LW_JOINT_REVOLUTE,
                 LWT_CHAIN_ACROSS, k);
    }
    if (lw_model_create(g.builder, &l.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(g.builder);
    const int nq = l.model->tree_nq, nv = l.model->tree_nv;
    l.x = lwt_reals(nq + nv + 1);
    for (int i = 0; i < nq + nv; i++) l.x[i] = lwt_random(&g.seed, -1, 1);
    return l; // the length of a quaternion has no effect
}

static void bury(living *l)
{
    lw_model_destroy(l->model);
    free(l->x);
}

static lwi_kernel *kernel_of(const lw_model *model, int width, int segments, int branches,
                             lwi_arena *arena)
{
    lwi_kernel *kernel;
    assert_int_equal(lwi_kernel_create_chosen(model, width,
                                              (lwi_k_choice){segments, branches, false, 0}, arena,
                                              &kernel),
                     LW_OK);
    assert_non_null(kernel);
    return kernel;
}

enum { PARTS = 4 };

/** Accelerations, speeds, rates of momenta, efforts [PARTS nv]. */
static void evaluate(const living *l, const lwi_kernel *kernel, double *out)
{
    const int nq = l->model->tree_nq, nv = l->model->tree_nv;
    assert_true(lwi_kernel_aba(kernel, l->x, l->x + nq, NULL, out));
    assert_true(lwi_kernel_momenta(kernel, l->x, l->x + nq, out + nv, out + 2 * nv));
    assert_true(lwi_kernel_rnea(kernel, l->x, l->x + nq, l->x + nq, out + 3 * nv));
}

// The compliance L of a segment of fewer than six hinges is singular up to rounding, which has an effect if the
// inertia I beyond is large: tails were off by up to 1.6e-9, those with longer segments by 1.4e-12.
static double tolerance_of(const lwi_kernel_plan *plan)
{
    for (int s = 0; s < plan->nstage; s++)
        if (plan->stage[s].segments && plan->stage[s].length < 6) return 1e-8;
    return 1e-11;
}

/** Cut into segments of any length, in every width: equal to one recursion, and the same bits.
 *  @return number of branches that were cut */
static int check_segments(const living *l, int segments, const char *what, int number)
{
    lwi_arena arena;
    const int nv = l->model->tree_nv;
    double *one = lwt_reals(PARTS * nv), *first = lwt_reals(PARTS * nv),
           *other = lwt_reals(PARTS * nv);
    lwi_arena_init(&arena, NULL);
    evaluate(l, kernel_of(l->model, 1, 0, 0, &arena), one);
    const lwi_kernel *kernel = kernel_of(l->model, 1, segments, 0, &arena);
    const int cut = kernel->plan->segments;
    evaluate(l, kernel, first);
    for (int part = 0; part < PARTS; part++) {
        const double tolerance = part == 3 ? 1e-13 : tolerance_of(kernel->plan);
        double max = 0, off = 0;
        for (int i = part * nv; i < (part + 1) * nv; i++) {
            max = fmax(max, fabs(one[i]));
            off = fmax(off, fabs(first[i] - one[i]));
        }
        if (!(off <= tolerance * (1 + max)))
            fail_msg("%s %d in segments: part %d is %.3g off", what, number, part, off / (1 + max));
    }
    for (int w = 1; w < LWI_COUNT(widths); w++) {
        if (!lwi_kernels_of(widths[w])) continue;
        evaluate(l, kernel_of(l->model, widths[w], segments, 0, &arena), other);
        if (memcmp(first, other, PARTS * (size_t)nv * sizeof *first))
            fail_msg("%s %d in segments: width %d differs", what, number, widths[w]);
    }
    free(one);
    free(first);
    free(other);
    lwi_arena_free(&arena);
    return cut;
}

// ------------------------------------------------------------------------------------------- tests

static const lw_joint_type trunks[] = {LW_JOINT_FREE, LW_JOINT_REVOLUTE, LW_JOINT_SPHERICAL,
                                       LW_JOINT_PRISMATIC};

// For any bodies before and behind the tail, any place of a slider, any length of segments.
static void short_tails_in_segments_agree_with_one_recursion(void **state)
{
    int cut = 0;
    (void)state;
    for (int k = 0; k < 384; k++) {
        const int length = 2 + k % 16 * 5;
        const creature c = {.trunk = trunks[k / 3 % 4],
                            .tails = 1 + k / 48 % 2,
                            .length = {length, length + 3},
                            .shape = (lwt_chain_shape)(k % 3),
                            .slider = k / 12 % 4 == 1 ? length / 4 : -1,
                            .hands = k / 96 % 3,
                            .fins = k / 24 % 2};
        living l = bring_to_life(&c);
        cut += check_segments(&l, k % 2 ? 4 : 8, "tail", k);
        bury(&l);
    }
    assert_true(cut > 350);
}

// At the lengths from which on tails are cut, by the formulations: against the generic recursion.
static void long_tails_agree_with_the_generic_recursion(void **state)
{
    enum { MIN = LWI_K_MIN_FOR_SEGMENTS };
    static const int sizes[] = {MIN - 1, MIN, MIN + 5, 512};
    (void)state;
    for (int i = 0; i < LWI_COUNT(sizes); i++)
        for (int k = 0; k < 3; k++) {
            lwi_arena arena;
            const creature c = {.trunk = trunks[(i + k) % 4],
                                .tails = 1 + (i + k) % 2,
                                .length = {sizes[i], 7},
                                .shape = (lwt_chain_shape)k,
                                .slider = -1,
                                .hands = i % 2,
                                .fins = 2};
            living l = bring_to_life(&c);
            lwi_arena_init(&arena, NULL);
            const lwi_kernel *kernel = kernel_of(l.model, 0, LWI_K_AUTO, LWI_K_AUTO, &arena);
            // a revolute trunk without other branches would be a part of the tail
            assert_int_equal(kernel->plan->segments, sizes[i] >= MIN);
            check_model(l.model, 0, l.x, NULL, 1e-10, "tail of", (unsigned long long)sizes[i]);
            lwi_arena_free(&arena);
            bury(&l);
        }
}

// One tail is cut, two equal ones from a length on, three are batched.
static void check_equal_tails(int tails, int n, int cut)
{
    lwi_arena arena;
    const creature c = {.trunk = LW_JOINT_FREE,
                        .tails = tails,
                        .length = {n, n, n},
                        .shape = LWT_CHAIN_ACROSS,
                        .slider = -1};
    living l = bring_to_life(&c);
    lwi_arena_init(&arena, NULL);
    const lwi_kernel *kernel = kernel_of(l.model, 0, LWI_K_AUTO, LWI_K_AUTO, &arena);
    assert_int_equal(kernel->plan->segments, cut);
    check_model(l.model, 0, l.x, NULL, 1e-10, "tails", (unsigned long long)tails);
    lwi_arena_free(&arena);
    bury(&l);
}

static void many_tails_are_batched(void **state)
{
    (void)state;
    check_equal_tails(1, 191, 1);
    check_equal_tails(2, 191, 0);
    check_equal_tails(2, 192, 2);
    check_equal_tails(2, 512, 2);
    check_equal_tails(MAX_TAILS, 192, 0);
    check_equal_tails(MAX_TAILS, 512, 0);
}

// The massless body of a universal joint has no pivot: no segment ends with it.
static void universal_joints_are_not_cut_in_two(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) { // a hinge before them, or none
        lwi_arena arena;
        growth g = {.seed = 5};
        lw_error error;
        living l;
        lw_body tip = {0};
        assert_int_equal(lw_builder_create(NULL, &g.builder), LW_OK);
        if (first) tip = grow(&g, tip, LW_JOINT_REVOLUTE, LWT_CHAIN_MIXED, 0);
        for (int i = 0; i < 24; i++) tip = grow(&g, tip, LW_JOINT_UNIVERSAL, LWT_CHAIN_ACROSS, 0);
        assert_int_equal(lw_model_create(g.builder, &l.model, &error), LW_OK);
        lw_builder_destroy(g.builder);
        l.x = lwt_reals(2 * l.model->tree_nv + 1);
        for (int i = 0; i < 2 * l.model->tree_nv; i++) l.x[i] = lwt_random(&g.seed, -1, 1);
        assert_int_equal(check_segments(&l, LWI_LANES, "universal joints", first), 1);
        lwi_arena_init(&arena, NULL);
        const lwi_kernel_plan *plan = kernel_of(l.model, 0, LWI_LANES, 0, &arena)->plan;
        for (int s = 0; s < plan->nstage; s++)
            for (int r = 1; r <= plan->stage[s].segments; r++) {
                const lwi_k_stage *stage = &plan->stage[s];
                const int at = stage->first + r * stage->length - 1;
                if (at >= stage->end) continue;
                const int slot = plan->step[at].slot;
                assert_true(plan->body[slot / LWI_LANES].m[slot % LWI_LANES] > 0);
            }
        lwi_arena_free(&arena);
        bury(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_tails_in_segments_agree_with_one_recursion),
        cmocka_unit_test(long_tails_agree_with_the_generic_recursion),
        cmocka_unit_test(many_tails_are_batched),
        cmocka_unit_test(universal_joints_are_not_cut_in_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_branches.c -- isomorphic branches of a tree, batched in lanes.
//
// The trees have a few species of branches, each with several branches of the same joints on one body, or on the
// tips of other branches: legs, arms, fingers.
#include "tree/kernel_cases.h"
#include "support/rotors.h"

enum {
    NTREES = 120,
    MAX_SPECIES = 3,
    MAX_LENGTH = 6,
    MAX_BRANCHES = 64,
    MAX_BODIES = 1 + MAX_BRANCHES * MAX_LENGTH
};

typedef struct link {
    lw_joint_type type;
    lw_quat axis;
} link;

typedef struct species {
    int length, on; ///< on: species with tips that carry it; -1: the trunk
    link link[MAX_LENGTH];
} species;

typedef struct branch {
    int species, parent; ///< branch; -1: the trunk
    uint64_t seed;       ///< of masses and places
} branch;

/** A tree, drawn from a seed; branches can be added to a model in any order. */
typedef struct creature {
    lw_joint_type trunk;
    int nspecies, nbranch;
    species species[MAX_SPECIES];
    branch branch[MAX_BRANCHES];
} creature;

typedef struct living {
    lw_model *model;
    lw_joint joint[MAX_BODIES]; ///< trunk, then the branches in the creature's order
    int njoint;
    bool driven; ///< every fourth scalar joint or so has a prescribed motion
} living;

static lw_quat axis_of(uint64_t *seed)
{
    static const double right = 0.70710678118654752;
    static const lw_quat square[3] = {{1, 0, 0, 0}, {right, -right, 0, 0}, {right, 0, right, 0}};
    if (lwt_random_below(seed, 5)) return square[lwt_random_below(seed, 3)];
    const double half = lwt_random(seed, -1, 1);
    return (lw_quat){cos(half), 0.6 * sin(half), 0.8 * sin(half), 0};
}

static lw_joint_type type_of(uint64_t *seed)
{
    switch (lwt_random_below(seed, 12)) {
    case 0:
        return LW_JOINT_PRISMATIC;
    case 1:
        return LW_JOINT_SPHERICAL;
    case 2:
        return LW_JOINT_UNIVERSAL;
    default:
        return LW_JOINT_REVOLUTE;
    }
}

static void add_branches(creature *c, int s, int count, int parent, uint64_t *seed)
{
    for (int i = 0; i < count && c->nbranch < MAX_BRANCHES; i++)
        c->branch[c->nbranch++] =
            (branch){.species = s, .parent = parent, .seed = *seed + 97 * (uint64_t)c->nbranch};
}

static creature creature_of(uint64_t seed)
{
    static const lw_joint_type trunks[] = {LW_JOINT_FREE, LW_JOINT_REVOLUTE, LW_JOINT_FIXED};
    creature c = {.trunk = trunks[seed % 3], .nspecies = 1 + lwt_random_below(&seed, MAX_SPECIES)};
    for (int s = 0; s < c.nspecies; s++) {
        species *of = &c.species[s];
        *of = (species){.length = 1 + lwt_random_below(&seed, MAX_LENGTH),
                        .on = s > 0 && lwt_random_below(&seed, 3) ? 0 : -1};
        for (int j = 0; j < of->length; j++) of->link[j] = (link){type_of(&seed), axis_of(&seed)};
        const int count = 2 + lwt_random_below(&seed, s == 0 ? 4 : 8), branches = c.nbranch;
        if (of->on < 0) add_branches(&c, s, count, -1, &seed);
        for (int i = 0; i < branches && of->on >= 0; i++)
            if (c.branch[i].species == of->on) add_branches(&c, s, count, i, &seed);
    }
    return c;
}

static lw_body add_body(lw_builder *builder, living *l, lw_body parent, const link *of, int index,
                        uint64_t *seed)
{
    lw_error error;
    lw_body body;
    const double out = lwt_random(seed, 0.2, 0.4), side = lwt_random_below(seed, 2) ? 0.1 : 0;
    const lw_body_desc desc = {.mass = lwt_random(seed, 1, 2),
                               .inertia = {0.2, 0.25, 0.3, 0.02, 0.01, -0.03},
                               .com = {lwt_random(seed, -0.2, 0.2), lwt_random(seed, 0, 0.2), 0.1},
                               .pose = {.position = {out, side, 0}},
                               .in = parent};
    const lw_joint_desc joint = {.type = of->type,
                                 .body1 = parent,
                                 .placement = LW_PLACED_FRAMES,
                                 .frame1 = {{out, side, 0}, of->axis},
                                 .frame2 = {{0, 0, 0}, of->axis}};
    lw_joint_desc placed = joint;
    const bool scalar = of->type == LW_JOINT_REVOLUTE || of->type == LW_JOINT_PRISMATIC;
    if (l->driven && scalar && lwt_random_below(seed, 4) == 0) {
        const lw_function_desc sine = {
            .type = LW_FUNCTION_SINE, .amplitude = 0.7, .omega = 3, .phase = index};
        assert_int_equal(
            lw_builder_add_function(builder, &sine, &placed.coordinate[0].motion, &error), LW_OK);
    }
    assert_int_equal(lw_builder_add_body(builder, &desc, &body, &error), LW_OK);
    placed.body2 = body;
    if (lw_builder_add_joint(builder, &placed, &l->joint[index], &error) != LW_OK)
        fail_msg("%s", error.text);
    return body;
}

// Branches in the given order, after the species that carries them.
static living bring_to_life_driven(const creature *c, bool backwards, bool driven)
{
    living l = {.njoint = 1, .driven = driven};
    lw_builder *builder;
    lw_error error;
    lw_body tip[MAX_BRANCHES];
    int first[MAX_BRANCHES];
    uint64_t seed = 11;
    const link root = {c->trunk, {1, 0, 0, 0}};
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    const lw_body trunk = add_body(builder, &l, (lw_body){0}, &root, 0, &seed);
    for (int i = 0; i < c->nbranch; i++) {
        first[i] = l.njoint;
        l.njoint += c->species[c->branch[i].species].length;
    }
    assert_true(l.njoint <= MAX_BODIES);
    for (int s = 0; s < c->nspecies; s++)
        for (int k = 0; k < c->nbranch; k++) {
            const int i = backwards ? c->nbranch - 1 - k : k;
            const branch *b = &c->branch[i];
            uint64_t own = b->seed;
            if (b->species != s) continue;
            tip[i] = b->parent < 0 ? trunk : tip[b->parent];
            for (int j = 0; j < c->species[s].length; j++)
                tip[i] = add_body(builder, &l, tip[i], &c->species[s].link[j], first[i] + j, &own);
        }
    if (lw_model_create(builder, &l.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    return l;
}

static living bring_to_life(const creature *c, bool backwards)
{
    return bring_to_life_driven(c, backwards, false);
}

// Coordinates and speeds of every joint, drawn in the creature's order.
static double *state_of(const living *l, uint64_t seed)
{
    const lw_model *m = l->model;
    double *x = lwt_reals(m->tree_nq + m->tree_nv + 1);
    for (int i = 0; i < l->njoint; i++) {
        int q, nq, v, nv;
        assert_int_equal(lw_model_joint_tree(m, l->joint[i], &q, &nq, &v, &nv), LW_OK);
        double norm = 0;
        for (int k = 0; k < nq; k++) x[q + k] = lwt_random(&seed, -1, 1);
        for (int k = 0; k < nv; k++) x[m->tree_nq + v + k] = lwt_random(&seed, -1, 1);
        if (nq == nv) continue;
        for (int k = nq - 4; k < nq; k++) norm += x[q + k] * x[q + k];
        for (int k = nq - 4; k < nq; k++) x[q + k] /= sqrt(norm);
    }
    return x;
}

static const lwi_kernel_plan *plan_of(const lw_model *model, int branches, lwi_arena *arena)
{
    lwi_kernel_plan *plan;
    lwi_arena_init(arena, NULL);
    assert_int_equal(lwi_kernel_plan_create_chosen(
                         model, (lwi_k_choice){LWI_K_AUTO, branches, false, 0}, arena, &plan),
                     LW_OK);
    assert_non_null(plan);
    return plan;
}

#define FOR_CREATURES(c, l)                                                                        \
    for (uint64_t seed = 1; seed <= NTREES; seed++)                                                \
        for (creature c = creature_of(seed), *once_ = &c; once_; once_ = NULL)                     \
            for (living l = bring_to_life(&c, false); l.model;                                     \
                 lw_model_destroy(l.model), l.model = NULL)

// ------------------------------------------------------------------------------------------- tests

// As trees of test_kernel.c; the condition of these grows with up to a hundred bodies.
static void branches_agree_with_the_generic_recursion_in_every_width(void **state)
{
    int stages = 0, padded = 0, beyond = 0;
    (void)state;
    FOR_CREATURES(c, l)
    {
        lwi_arena arena;
        const lwi_kernel_plan *plan = plan_of(l.model, LWI_K_AUTO, &arena);
        for (int i = 0; i < plan->nstage; i++) {
            const lwi_k_stage *stage = &plan->stage[i];
            stages += stage->lanes > 0;
            padded += stage->lanes && stage->branches * stage->length > stage->end - stage->first;
            beyond += stage->lanes && plan->step[stage->end - 1].fetch >= 0;
        }
        double *x = state_of(&l, seed);
        check_model(l.model, 0, x, NULL, 1e-11, "seed", seed);
        free(x);
        lwi_arena_free(&arena);
    }
    assert_true(stages > NTREES / 2 && padded > 0 && beyond > 0);
}

// Some of the batched branches have rotors, others none.
static void branches_with_rotors_agree_in_every_width(void **state)
{
    int stages = 0;
    (void)state;
    FOR_CREATURES(c, l)
    {
        lwi_arena arena;
        lw_model *model = lwt_with_rotors(l.model, seed);
        const lwi_kernel_plan *plan = plan_of(model, LWI_K_AUTO, &arena);
        for (int i = 0; i < plan->nstage && model->nrotor > 0; i++)
            stages += plan->stage[i].lanes > 0;
        double *x = state_of(&l, seed);
        check_model(model, 0, x, NULL, 1e-11, "with rotors, seed", seed);
        for (int w = 0; w < LWI_COUNT(widths) && seed % 3 == 0; w++)
            if (lwi_kernels_of(widths[w])) check_batch(model, x, seed, widths[w]);
        free(x);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
    assert_true(stages > NTREES / 3);
}

// Positions of stages at which some of the joints side by side have a prescribed motion and others have none.
static int mixed_positions(const lw_model *model)
{
    lwi_arena arena;
    lwi_kernel *kernel;
    int count = 0;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_create_prescribed(model, 1, &arena, &kernel), LW_OK);
    assert_non_null(kernel);
    for (int i = 0; i < kernel->plan->nstage; i++) {
        const lwi_k_stage *stage = &kernel->plan->stage[i];
        for (int j = 0; j < stage->length && stage->lanes; j++) {
            int driven = 0, beside = 0;
            for (int r = 0; r < stage->branches; r++) {
                if (stage->branch[r] + j >= stage->branch[r + 1]) continue;
                driven += kernel->plan->step[stage->branch[r] + j].driven;
                beside++;
            }
            count += driven > 0 && driven < beside;
        }
    }
    lwi_arena_free(&arena);
    return count;
}

// Driven joints stay in lanes with free ones: rates, and the power of the drives.
static void branches_with_drives_agree_in_every_width(void **state)
{
    int mixed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= NTREES; seed++) {
        const creature c = creature_of(seed);
        living l = bring_to_life_driven(&c, false, true);
        double *x = state_of(&l, seed);
        mixed += mixed_positions(l.model);
        check_model(l.model, 0.3, x, NULL, 1e-11, "with drives, seed", seed);
        free(x);
        lw_model_destroy(l.model);
    }
    assert_true(mixed > NTREES / 2);
}

static void instances_have_the_bits_of_single_branches(void **state)
{
    (void)state;
    FOR_CREATURES(c, l)
    {
        if (seed % 3) continue;
        double *x = state_of(&l, seed);
        for (int w = 0; w < LWI_COUNT(widths); w++)
            if (lwi_kernels_of(widths[w])) check_batch(l.model, x, seed, widths[w]);
        free(x);
    }
}

// At rest most of what is summed is zero, of either sign.
static void a_tree_at_rest_has_the_same_bits_too(void **state)
{
    (void)state;
    FOR_CREATURES(c, l)
    {
        if (seed % 5) continue;
        double *x = state_of(&l, seed);
        for (int i = 0; i < l.model->tree_nv; i++) x[l.model->tree_nq + i] = 0;
        for (int i = 0; i < l.model->tree_nq && seed % 2; i++)
            if (l.model->tree_nq == l.model->tree_nv) x[i] = 0;
        check_model(l.model, 0, x, NULL, 1e-11, "at rest, seed", seed);
        free(x);
    }
}

// Every body is in one stage; the bodies of a batch are of one kind, and their parents form a batch of an earlier
// stage, for any choice of options.
static void branches_of_different_joints_are_not_mixed(void **state)
{
    (void)state;
    FOR_CREATURES(c, l)
    {
        lwi_arena arena;
        const lwi_kernel_plan *plan = plan_of(l.model, 2, &arena);
        int at = 0;
        for (int i = 0; i < plan->nstage; i++) {
            const lwi_k_stage *stage = &plan->stage[i];
            assert_int_equal(stage->first, at);
            at = stage->end;
            for (int r = 0; r < stage->branches; r++)
                for (int k = stage->branch[r], j = 0; k < stage->branch[r + 1]; k++, j++) {
                    const lwi_k_step *step = &plan->step[k], *lead = &plan->step[stage->first + j];
                    assert_int_equal(step->kind, lead->kind);
                    assert_int_equal(step->slot, lead->slot + r);
                    if (j) assert_int_equal(step->parent, plan->step[k - 1].slot);
                }
        }
        assert_int_equal(at, plan->nstep);
        lwi_arena_free(&arena);
    }
}

// Sums have another order: rounding times the condition, as against the generic recursion.
static void renumbered_bodies_move_alike(void **state)
{
    (void)state;
    FOR_CREATURES(c, l)
    {
        living other = bring_to_life(&c, true);
        const int nq = l.model->tree_nq, n = nq + l.model->tree_nv + 1;
        double *x = state_of(&l, seed), *y = state_of(&other, seed);
        double *xdot = lwt_reals(n), *ydot = lwt_reals(n), max = 0, off = 0;
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            rates(l.model, formulations[f], 0, 0, x, NULL, xdot);
            rates(other.model, formulations[f], 0, 0, y, NULL, ydot);
            for (int i = 0; i < l.njoint; i++) {
                int qx, qy, nqx, vx, vy, nv;
                lw_model_joint_tree(l.model, l.joint[i], &qx, &nqx, &vx, &nv);
                lw_model_joint_tree(other.model, other.joint[i], &qy, &nqx, &vy, &nv);
                for (int k = 0; k < nv; k++) {
                    max = fmax(max, fabs(xdot[nq + vx + k]));
                    off = fmax(off, fabs(xdot[nq + vx + k] - ydot[nq + vy + k]));
                }
            }
            if (!(off <= 1e-11 * (1 + max)))
                fail_msg("seed %llu: renumbered bodies are %.3g off", (unsigned long long)seed,
                         off);
        }
        lw_model_destroy(other.model);
        free(x);
        free(y);
        free(xdot);
        free(ydot);
    }
}

// Batched legs, each with a slider and a chain of hinges on its tip; the chains differ, so they are swept one by one,
// the first one right after the leg that carries it.
static void bodies_on_the_last_branch_are_transmitted(void **state)
{
    static const int rows[2] = {1, 3};
    const link hinge = {LW_JOINT_REVOLUTE, {1, 0, 0, 0}},
               slider = {LW_JOINT_PRISMATIC, {1, 0, 0, 0}};
    living l = {0};
    lw_builder *builder;
    lw_error error;
    uint64_t seed = 3;
    (void)state;
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    const link root = {LW_JOINT_FREE, {1, 0, 0, 0}};
    const lw_body trunk = add_body(builder, &l, (lw_body){0}, &root, l.njoint++, &seed);
    for (int leg = 0; leg < 2; leg++) {
        lw_body tip = trunk;
        for (int j = 0; j < 6; j++) tip = add_body(builder, &l, tip, &hinge, l.njoint++, &seed);
        add_body(builder, &l, tip, &slider, l.njoint++, &seed);
        for (int j = 0; j < rows[leg]; j++)
            tip = add_body(builder, &l, tip, &hinge, l.njoint++, &seed);
    }
    if (lw_model_create(builder, &l.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    lwi_arena arena;
    const lwi_kernel_plan *plan = plan_of(l.model, LWI_K_AUTO, &arena);
    bool follows = false;
    for (int i = 1; i < plan->nstage; i++)
        follows = follows || (plan->stage[i - 1].lanes && !plan->stage[i].lanes &&
                              plan->step[plan->stage[i].first].parent ==
                                  plan->step[plan->stage[i].first - 1].slot);
    assert_true(follows);
    double *x = state_of(&l, seed);
    check_model(l.model, 0, x, NULL, 1e-11, "rows of", 3);
    for (int w = 0; w < LWI_COUNT(widths); w++)
        if (lwi_kernels_of(widths[w])) check_batch(l.model, x, seed, widths[w]);
    free(x);
    lwi_arena_free(&arena);
    lw_model_destroy(l.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_on_the_last_branch_are_transmitted),
        cmocka_unit_test(branches_agree_with_the_generic_recursion_in_every_width),
        cmocka_unit_test(branches_with_rotors_agree_in_every_width),
        cmocka_unit_test(branches_with_drives_agree_in_every_width),
        cmocka_unit_test(instances_have_the_bits_of_single_branches),
        cmocka_unit_test(a_tree_at_rest_has_the_same_bits_too),
        cmocka_unit_test(branches_of_different_joints_are_not_mixed),
        cmocka_unit_test(renumbered_bodies_move_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

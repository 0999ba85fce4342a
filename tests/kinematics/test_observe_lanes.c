// test_observe_lanes.c -- kernels of an observation: links, bodies, sums and hinges in lanes have the bits of one after the other.
#include "tree/tree_cases.h"
#include "base/simd/lanes.h"
#include "kinematics/kernels.h"
#include "support/mechanism.h"

static void observe_bodies(const lw_model *model, lwi_tree_work *tree,
                           const lwi_observe_kernels *kernels, lwi_snapshot *m)
{
    for (int k = 0; k < model->nnode; k++) {
        const int node[LWI_LANES] = {k, 0, 0, k, k, 0, k, 0};
        kernels->bodies(model, tree, node, true, true, m);
    }
}

// Bodies in lanes of any width have the bits of the generic functions.
static void bodies_in_lanes_change_no_bit(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, LWT_ALL)
    {
        const lw_model *model = c.model;
        const size_t nbody = (size_t)model->nbody, nnode = (size_t)model->nnode;
        lwi_tree_work tree;
        lwi_snapshot m, plain;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_tree_work_create(model, &arena, &tree), LW_OK);
        assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
        assert_int_equal(lwi_snapshot_create(model, &arena, &plain), LW_OK);
        double(*F)[6] = lwi_arena_push(&arena, nnode, sizeof *F);
        lwi_tree_evaluate(model, &tree, c.t, c.q, c.v, c.input);
        lwi_tree_world(model, tree.link, tree.R, tree.r);
        lwi_tree_newton_euler(model, &tree, c.v, c.v);
        memcpy(F, tree.F, nnode * sizeof *F);
        lwi_tree_bodies(model, (const double(*)[9])tree.R, (const double(*)[3])tree.r,
                        (const double(*)[6])tree.V, plain.R, plain.r, plain.v, NULL);
        for (int width = 1; width <= LWI_LANES; width *= 2) {
            const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
            if (!kernels) continue;
            observe_bodies(model, &tree, kernels, &m);
            lwi_tree_sum_wrenches(model, &tree);
            assert_memory_equal(tree.F, F, nnode * sizeof *F);
            for (int k = 0; k < model->nnode; k++) {
                const int b = model->node[k].body;
                double quat[4];
                quat_from_matrix(quat, plain.R[b]);
                assert_memory_equal(m.R[b], plain.R[b], sizeof m.R[b]);
                assert_memory_equal(m.r[b], plain.r[b], sizeof m.r[b]);
                assert_memory_equal(m.v[b], plain.v[b], sizeof m.v[b]);
                assert_memory_equal(m.quat[b], quat, sizeof quat);
            }
            if (width == 1) memcpy(plain.a, m.a, nbody * sizeof *m.a);
            if (width == 1) memcpy(plain.al, m.al, nbody * sizeof *m.al);
            assert_memory_equal(m.a, plain.a, lwi_observe_kernels_of(1) ? nbody * sizeof *m.a : 0);
            assert_memory_equal(m.al, plain.al,
                                lwi_observe_kernels_of(1) ? nbody * sizeof *m.al : 0);
        }
        lwi_arena_free(&arena);
    }
}

static bool is_by_rows(const lwi_node *node)
{
    return lwi_node_is_universal(node) || (node->type->id == LW_JOINT_REVOLUTE && !node->driven);
}

// Links of hinges and universal joints, poses and velocities of bodies.
static void links_and_bodies_have_the_same_bits(const lwt_tree *c, const lwi_link_kernels *kernels,
                                                const double (*R)[9], const double (*r)[3],
                                                const double (*V)[6], const lwi_tree_work *tree,
                                                lwi_arena *arena)
{
    const lw_model *model = c->model;
    const size_t nbody = (size_t)model->nbody;
    lwi_snapshot m, plain;
    lwi_link *link = LWI_PUSH(arena, lwi_link, model->nnode);
    assert_int_equal(lwi_snapshot_create(model, arena, &m), LW_OK);
    assert_int_equal(lwi_snapshot_create(model, arena, &plain), LW_OK);
    assert_non_null(link);
    for (int k = 0; k < model->nnode; k++) {
        const bool by_rows = is_by_rows(&model->node[k]);
        double speed[3];
        assert_int_equal(kernels->positions(model, link, k, k + 1, c->q, c->v), k + by_rows);
        if (by_rows) {
            lwi_link one = link[k];
            lwi_link_position(model, k, c->t, c->q + model->node[k].iq, &one);
            lwi_link_rates(model, k, c->t, c->v + model->node[k].iv, &one);
            assert_memory_equal(&link[k], &one, sizeof one);
            assert_memory_equal(&link[k], &tree->link[k], sizeof one);
        }
        lwi_tree_place_body(model, k, R[k], r[k], plain.R, plain.r);
        const int b = model->node[k].body;
        v3_cross(speed, V[k] + 3, model->node[k].c_r);
        v3_add(speed, speed, V[k]);
        m3_mul_v(plain.v[b], R[k], speed);
        m3_mul_v(plain.w[b], R[k], V[k] + 3);
    }
    kernels->place(model, 0, model->nnode, R, r, m.R, m.r);
    kernels->body_velocities(model, 0, model->nnode, R, V, m.v, m.w);
    assert_memory_equal(m.R, plain.R, nbody * sizeof *m.R);
    assert_memory_equal(m.r, plain.r, nbody * sizeof *m.r);
    assert_memory_equal(m.v, plain.v, nbody * sizeof *m.v);
    assert_memory_equal(m.w, plain.w, nbody * sizeof *m.w);
    memset(m.w, 0, nbody * sizeof *m.w);
    kernels->angular(model, 0, model->nnode, R, V, m.w);
    assert_memory_equal(m.w, plain.w, nbody * sizeof *m.w);
}

static void momenta_have_the_same_bits(const lw_model *model, const lwi_link_kernels *kernels,
                                       const double (*V)[6], double (*P)[6])
{
    kernels->momenta(model, 0, model->nnode, V, P);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double plain[6];
        inertia_mul(plain, node->mass, node->h, node->J, V[k]);
        assert_memory_equal(P[k], plain, sizeof plain);
    }
}

// Of hinges and universal joints; those of other joints are there before.
static void accelerations_have_the_same_bits(const lwt_tree *c, const lwi_link_kernels *kernels,
                                             lwi_tree_work *tree)
{
    const lw_model *model = c->model;
    const double *g = model->gravity, base[6] = {-g[0], -g[1], -g[2]};
    lwi_tree_accelerations(model, tree, c->v, c->v);
    for (int k = 0; k < model->nnode; k++)
        for (int relative = 1; relative >= 0; relative--) {
            const lwi_node *node = &model->node[k];
            const lwi_link *link = &tree->link[k];
            double A[6] = {0}, bias[6];
            if (node->parent < 0)
                motion_to(A, link->R, link->r, base);
            else if (!relative)
                motion_to(A, link->R, link->r, tree->A[node->parent]);
            lwi_tree_bias(model, k, tree, c->v, bias);
            v6_add(A, A, bias);
            for (int j = 0; j < node->nv; j++) v6_axpy(A, c->v[node->iv + j], link->S[j]);
            v6_zero(tree->A[k]);
            const int next =
                kernels->accelerations(model, tree->link, k, k + 1, (const double(*)[6])tree->V,
                                       c->v, c->v, relative, tree->A);
            assert_int_equal(next, k + is_by_rows(node));
            assert_memory_equal(tree->A[k], A, next > k ? sizeof A : 0);
            v6_copy(tree->A[k], A);
        }
}

// One number that is not finite is found anywhere.
static void numbers_that_are_not_finite_are_found(void **state)
{
    (void)state;
    double x[40];
    for (int width = 1; width <= LWI_LANES; width *= 2) {
        const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
        for (int n = 0; kernels && n <= 40; n++) {
            for (int i = 0; i < n; i++) x[i] = i % 2 ? -1e308 : 1e308;
            assert_true(kernels->finite(x, n));
            for (int i = 0; i < n; i++) {
                const double keep = x[i], wrong[] = {NAN, INFINITY, -INFINITY};
                x[i] = wrong[i % 3];
                assert_false(kernels->finite(x, n));
                x[i] = keep;
            }
        }
    }
}

// Entries [count][n] that lie `step` apart, in memory that ends with the last one.
static double *entries(int n, int step, int count)
{
    const size_t size = (size_t)((count - 1) * step + n);
    double *x = malloc(size * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < size; i++) x[i] = (double)i - 7.5;
    return x;
}

// Copies of entries: all of their numbers, nothing else, nothing read behind them.
static void entries_are_copied_and_nothing_else(void **state)
{
    (void)state;
    enum { ROOM = 200, TO = 9 };
    int copied = 0;
    const lwi_observe_kernels *widest = lwi_observe_kernels_of(0);
    for (int width = 1; width <= LWI_LANES; width *= 2) {
        const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
        for (int n = 1; kernels && kernels->copy && n <= 8; n++)
            for (int step = n; step <= n + 3; step++)
                for (int count = 1; count <= 11; count++) {
                    double row[ROOM], *from = entries(n, step, count);
                    for (int i = 0; i < ROOM; i++) row[i] = i + 0.25;
                    const bool done = kernels->copy(from, step, row, TO, n, count);
                    for (int i = 0; i < ROOM; i++) {
                        const bool inside = done && i / TO < count && i % TO < n;
                        assert_true(row[i] == (inside ? from[i / TO * step + i % TO] : i + 0.25));
                    }
                    copied += done;
                    free(from);
                }
    }
    assert_true(copied > 0 || !widest || !widest->copy);
}

// Quaternions in a row keep the sign that is nearest to the row before.
static void quaternions_of_rows_keep_their_sign(void **state)
{
    (void)state;
    enum { COUNT = 9, TO = 7 };
    for (int width = 1; width <= LWI_LANES; width *= 2) {
        const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
        double *from = entries(4, 4, COUNT), row[COUNT * TO], before[COUNT * TO];
        for (int i = 0; i < COUNT * TO; i++) row[i] = before[i] = i % 5 - 2;
        if (kernels && kernels->continue_quaternions)
            kernels->continue_quaternions(from, 4, row, TO, COUNT);
        for (int i = 0; kernels && kernels->continue_quaternions && i < COUNT; i++) {
            double q[4];
            memcpy(q, from + 4 * i, sizeof q);
            quat_continue(q, before + TO * i);
            assert_memory_equal(row + TO * i, q, sizeof q);
            assert_memory_equal(row + TO * i + 4, before + TO * i + 4, (TO - 4) * sizeof *q);
        }
        free(from);
    }
}

// World frames, velocities and sums of wrenches by rows: those of their definitions, of all bits.
static void links_by_rows_change_no_bit(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, LWT_ALL)
    {
        const lw_model *model = c.model;
        const size_t n = (size_t)model->nnode;
        lwi_tree_work tree;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_tree_work_create(model, &arena, &tree), LW_OK);
        double(*R)[9] = lwi_arena_push(&arena, n, sizeof *R);
        double(*r)[3] = lwi_arena_push(&arena, n, sizeof *r);
        double(*V)[6] = lwi_arena_push(&arena, n, sizeof *V);
        double(*F)[6] = lwi_arena_push(&arena, n, sizeof *F);
        lwi_tree_position(model, c.t, c.q, tree.link);
        lwi_tree_rates(model, c.t, c.v, tree.link);
        for (int k = 0; k < model->nnode; k++) {
            const lwi_node *node = &model->node[k];
            const lwi_link *link = &tree.link[k];
            const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[6] = {0};
            const int up = node->parent;
            if (up < 0) {
                memcpy(R[k], link->R, sizeof R[k]);
                v3_copy(r[k], link->r);
            } else {
                m3_mul(R[k], R[up], link->R);
                m3_mul_v(r[k], R[up], link->r);
                v3_add(r[k], r[k], r[up]);
            }
            motion_to(V[k], up < 0 ? identity : link->R, up < 0 ? zero : link->r,
                      up < 0 ? zero : V[up]);
            for (int j = 0; j < node->nv; j++) v6_axpy(V[k], c.v[node->iv + j], link->S[j]);
            if (node->driven) v6_add(V[k], V[k], link->sigma);
            for (int i = 0; i < 6; i++) F[k][i] = sin(6 * k + i);
        }
        for (int width = 1; width <= LWI_LANES; width *= 2) {
            const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
            if (!kernels || !kernels->links.world) continue;
            kernels->links.world(model, tree.link, 0, model->nnode, tree.R, tree.r);
            kernels->links.velocities(model, tree.link, 0, model->nnode, c.v, tree.V);
            assert_memory_equal(tree.R, R, n * sizeof *R);
            assert_memory_equal(tree.r, r, n * sizeof *r);
            assert_memory_equal(tree.V, V, n * sizeof *V);
            links_and_bodies_have_the_same_bits(&c, &kernels->links, (const double(*)[9])R,
                                                (const double(*)[3])r, (const double(*)[6])V, &tree,
                                                &arena);
            accelerations_have_the_same_bits(&c, &kernels->links, &tree);
            memcpy(tree.F, F, n * sizeof *F);
            kernels->links.wrenches(model, tree.link, 0, model->nnode, tree.F);
            memcpy(V, F, n * sizeof *F);
            for (int k = model->nnode - 1; k > 0; k--)
                if (model->node[k].parent >= 0)
                    force_add_from(V[model->node[k].parent], tree.link[k].R, tree.link[k].r, V[k]);
            assert_memory_equal(tree.F, V, n * sizeof *F);
            memcpy(V, tree.V, n * sizeof *V);
            momenta_have_the_same_bits(model, &kernels->links, (const double(*)[6])V, tree.F);
        }
        lwi_arena_free(&arena);
    }
}

// Sums over bodies and reactions of joints in lanes: those of one after the other, of all bits.
static void sums_and_reactions_in_lanes_change_no_bit(void **state)
{
    (void)state;
    int found[2] = {0};
    LWT_FOR_TREES(c, 40, LWT_REVERSED)
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_tree_work tree;
        lwi_snapshot m;
        lwi_body_sums plain = {0};
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        assert_int_equal(lwi_tree_work_create(model, &arena, &tree), LW_OK);
        lwi_tree_evaluate(model, &tree, c.t, c.q, c.v, c.input);
        lwi_tree_world(model, tree.link, tree.R, tree.r);
        lwi_tree_newton_euler(model, &tree, c.v, c.v);
        for (int b = 1; b < model->nbody; b++) {
            double p[3], L[3], angular[3];
            v3_scale(p, model->body[b].mass, m.v[b]);
            s3_mul_v(L, model->body[b].inertia, m.w[b]);
            m3_mul_v(angular, m.R[b], L);
            plain.kinetic += 0.5 * (v3_dot(m.v[b], p) + v3_dot(m.w[b], L));
            v3_add(plain.momentum, plain.momentum, p);
            v3_add(plain.angular_momentum, plain.angular_momentum, angular);
            v3_cross_add(plain.angular_momentum, m.r[b], p);
        }
        for (int width = 1; width <= LWI_LANES; width *= 2) {
            const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
            lwi_body_sums sums = {0};
            if (!kernels) continue;
            for (int b = 1; b < model->nbody; b += width)
                kernels->energies(model, &m, b, model->nbody - b, &sums);
            assert_memory_equal(&sums, &plain, sizeof sums);
            for (int k = 0; k < model->nnode; k++) {
                const int node[LWI_LANES] = {k, k, k, k, k, k, k, k};
                const int joint = model->node[k].joint;
                const bool reversed = model->node[k].reversed;
                double F[6];
                if (joint < 0 || model->nforce + model->nrotor > 0) continue;
                if (reversed ? model->node[k].parent < 0 : !kernels->links.reactions) continue;
                lwi_tree_reaction(model, &tree, k, F);
                memset(m.reaction[joint], 0, sizeof F);
                if (reversed)
                    kernels->reversed_reactions(model, &tree, node, &m);
                else
                    kernels->links.reactions(model, &tree, k, k + 1, m.reaction);
                for (int i = 0; i < 6; i++) assert_true(m.reaction[joint][i] == F[i]);
                found[reversed]++;
            }
        }
        lwi_arena_free(&arena);
    }
    assert_true(found[1] > 0);
    if (lwi_observe_kernels_of(4) || lwi_observe_kernels_of(8)) assert_true(found[0] > 0);
}

// Speeds and their rates of hinges in lanes, as if they closed loops, have the bits of one joint; angles the same in every
// width.
static void hinges_in_lanes_are_those_of_joints(void **state)
{
    (void)state;
    int found = 0;
    LWT_FOR_TREES(c, 40, LWT_ALL)
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        double(*al)[3] = lwi_arena_push(&arena, (size_t)model->nbody, sizeof *al);
        assert_non_null(al);
        for (int b = 0; b < model->nbody; b++) {
            m3_mul_v(m.w_world[b], m.R[b], m.w[b]);
            m3_mul_v(al[b], m.R[b], m.al[b]);
        }
        const lwi_motion motion = {.R = (const double(*)[9])m.R,
                                   .r = (const double(*)[3])m.r,
                                   .v = (const double(*)[3])m.v,
                                   .w = (const double(*)[3])m.w_world,
                                   .q = m.q};
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            const int all[LWI_LANES] = {j, j, j, j, j, j, j, j};
            if (!lwi_joint_is_hinge(joint->type) || joint->mount.present || joint->merged) continue;
            double q, u, same = NAN; // angle of the lanes before, of all widths
            lwi_joint_read_hinge(model, j, &motion, &q, &u);
            const double rate =
                lwi_joint_hinge_acceleration(model, j, &motion, (const double(*)[3])al);
            for (int width = 1; width <= LWI_LANES; width *= 2) {
                const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
                double angle[LWI_LANES], speed[2][LWI_LANES], rates[LWI_LANES];
                if (!kernels) continue;
                for (int l = 0; l < width; l++) angle[l] = m.q[joint->iq];
                kernels->hinges(model, all, motion.R, motion.w, NULL, angle, speed[0], NULL);
                kernels->hinges(model, all, motion.R, motion.w, (const double(*)[3])al, NULL,
                                speed[1], rates);
                for (int l = 0; l < width; l++, found++) {
                    assert_true(fabs(angle[l] - q) <= 4 * DBL_EPSILON * (1 + fabs(q)));
                    assert_true(angle[l] == same || isnan(same));
                    assert_true(speed[0][l] == u && speed[1][l] == u && rates[l] == rate);
                    same = angle[l];
                }
            }
        }
        lwi_arena_free(&arena);
    }
    assert_true(found > 0 || !lwi_observe_kernels_of(0));
}

// All around, and more than one revolution.
static void angles_in_lanes_are_those_of_the_motion(void **state)
{
    (void)state;
    static const double eps = 8 * DBL_EPSILON, turn = 6.283185307179586476925286766559;
    lw_model *model = lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 2});
    lwi_arena arena;
    lwi_snapshot m;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    lwi_snapshot_start(model, &m);
    for (int i = -1000; i <= 1000; i++)
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            const int all[LWI_LANES] = {j, j, j, j, j, j, j, j};
            const double q = i * (turn / 128) + (i % 3) * 1e-9;
            double Rz[9], F2[9], R1[9];
            rot_z(Rz, cos(q), sin(q));
            m3_mul(R1, m.R[joint->body1], joint->R1);
            m3_mul(F2, R1, Rz);
            m3_mul_t(m.R[joint->body2], F2, joint->R2);
            for (int width = 1; width <= LWI_LANES; width *= 2) {
                const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
                double angle[LWI_LANES], speed[LWI_LANES];
                if (!kernels) continue;
                for (int l = 0; l < width; l++) angle[l] = q + 0.4 * turn * (1 - l % 3);
                kernels->hinges(model, all, (const double(*)[9])m.R, (const double(*)[3])m.w, NULL,
                                angle, speed, NULL);
                for (int l = 0; l < width; l++)
                    assert_true(fabs(angle[l] - q) <= eps * (1 + fabs(q)));
            }
        }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_in_lanes_change_no_bit),
        cmocka_unit_test(links_by_rows_change_no_bit),
        cmocka_unit_test(numbers_that_are_not_finite_are_found),
        cmocka_unit_test(entries_are_copied_and_nothing_else),
        cmocka_unit_test(quaternions_of_rows_keep_their_sign),
        cmocka_unit_test(sums_and_reactions_in_lanes_change_no_bit),
        cmocka_unit_test(hinges_in_lanes_are_those_of_joints),
        cmocka_unit_test(angles_in_lanes_are_those_of_the_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

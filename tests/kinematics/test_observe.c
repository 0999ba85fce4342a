// test_observe.c -- energies, momenta, residuals, merged bodies and mobility from one snapshot.
#include "tree/tree_cases.h"
#include "base/simd/lanes.h"
#include "kinematics/kernels.h"
#include "support/mechanism.h"

static void near(const char *what, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s: %.17g and %.17g differ by %g > %g", what, a, b, fabs(a - b), tolerance);
}

// One tree formulation at a state that is not its start, everything observed.
static void observe_tree(const lwt_tree *c, lwi_arena *arena, lwi_snapshot *m)
{
    lwi_work *aba = lwt_work(c->model, &lwi_formulation_aba);
    double *x = lwt_reals(aba->layout.nx);
    memcpy(x, c->q, (size_t)c->model->tree_nq * sizeof *x);
    memcpy(x + c->model->tree_nq, c->v, (size_t)c->model->tree_nv * sizeof *x);
    lwt_observe(aba, c->t, x, c->input, arena, m);
    free(x);
    lwi_work_destroy(aba);
}

// ------------------------------------------------------------------------------------------ system

// A body in any attitude: T = m v^2/2 + w.I w/2, V = -m g.r, p = m v, L = r x p + R I w.
static void one_body_has_its_closed_form(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lwt_body(b, &(lw_body_desc){
                    .mass = 2,
                    .inertia = {0.3, 0.4, 0.5, 0, 0, 0},
                    .pose = {.position = {1, 2, 3}, .orientation = {sqrt(0.5), 0, 0, sqrt(0.5)}},
                    .has_velocity = 1,
                    .velocity = {0.5, -1, 2},
                    .angular_velocity = {1, 2, 3}});
    lw_model *model = lwt_model(b);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_totals s;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    lwi_snapshot_start(model, &m);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &s);
    near("T", s.kinetic, 0.25 + 1 + 4 + 0.5 * (0.3 + 1.6 + 4.5), 1e-14);
    near("V", s.potential, 2 * 9.81 * 2, 1e-14);
    const double p[3] = {1, -2, 4}; // I w = (0.3, 0.8, 1.5), 90 degrees about z: (-0.8, 0.3, 1.5)
    const double L[3] = {2 * 4 + 3 * 2 - 0.8, 3 * 1 - 1 * 4 + 0.3, -1 * 2 - 2 * 1 + 1.5};
    for (int i = 0; i < 3; i++) {
        near("p", s.momentum[i], p[i], 1e-14);
        near("L", s.angular_momentum[i], L[i], 1e-13);
        near("residual", s.residual[i], 0, 0);
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// Momentum balance of what floats: dp/dt = m g, dL/dt = sum r x m g when only internal forces act;
// as a difference of the momenta at two times.
static void momenta_follow_newton(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 20, LWT_MULTI | LWT_QUASI)
    {
        const lw_model *model = c.model;
        lwi_work *dense = lwt_work(model, &lwi_formulation_dense);
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals s;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
        double dp[3] = {0}, dL[3] = {0}, *x = lwt_reals(dense->layout.nx);
        lwt_ok(lwi_formulation_dense.enter(dense, &m, x), &dense->error);
        for (int i = 0; i < 4; i++) {
            double *y = lwt_reals(dense->layout.nx), t = c.t;
            lwi_snapshot there;
            memcpy(y, x, (size_t)dense->layout.nx * sizeof *x);
            lwt_integrate(dense, &t, y, c.input, lwt_offset[i], 1);
            lwt_observe(dense, t, y, c.input, &arena, &there);
            lwi_observe_system(model, LW_OBSERVE_ENERGY, &there, &s);
            v3_axpy(dp, lwt_weight[i], s.momentum);
            v3_axpy(dL, lwt_weight[i], s.angular_momentum);
            free(y);
        }
        double f[3] = {0}, n[3] = {0}; // gravity and the reactions at the ground
        for (int b = 1; b < model->nbody; b++) {
            double mg[3];
            v3_scale(mg, model->body[b].mass, model->gravity);
            v3_add(f, f, mg);
            v3_cross_add(n, m.r[b], mg);
        }
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            if (joint->body1 != 0 && joint->body2 != 0) continue;
            const double sign = joint->body1 == 0 ? 1 : -1;
            double p[3], torque[3];
            m3_mul_v(p, m.R[joint->body2], joint->r2);
            v3_add(p, p, m.r[joint->body2]);
            v3_cross(torque, p, m.reaction[j]);
            v3_add(torque, torque, m.reaction[j] + 3);
            v3_axpy(f, sign, m.reaction[j]);
            v3_axpy(n, sign, torque);
        }
        // the difference's truncation and the Runge-Kutta step's error, both of order h^4
        for (int i = 0; i < 3; i++) {
            lwt_close(&c, "force", i, dp[i], f[i], 1e-6);
            lwt_close(&c, "torque", i, dL[i], n[i], 1e-6);
        }
        free(x);
        lwi_work_destroy(dense);
        lwi_arena_free(&arena);
    }
}

// ------------------------------------------------------------------------------------------- lanes

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

// Links of hinges, poses and velocities of bodies.
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
        const bool hinge = model->node[k].type->id == LW_JOINT_REVOLUTE && !model->node[k].driven;
        double speed[3];
        assert_int_equal(kernels->hinges(model, link, k, k + 1, c->q, c->v), hinge ? k + 1 : k);
        if (hinge) {
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
}

// Of hinges; those of other joints are there before.
static void accelerations_have_the_same_bits(const lwt_tree *c, const lwi_link_kernels *kernels,
                                             lwi_tree_work *tree)
{
    const lw_model *model = c->model;
    const double *g = model->gravity, base[6] = {-g[0], -g[1], -g[2]};
    lwi_tree_accelerations(model, tree, c->v, c->v);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double A[6], bias[6];
        motion_to(A, tree->link[k].R, tree->link[k].r,
                  node->parent < 0 ? base : tree->A[node->parent]);
        lwi_tree_bias(model, k, tree, c->v, bias);
        v6_add(A, A, bias);
        for (int j = 0; j < node->nv; j++) v6_axpy(A, c->v[node->iv + j], tree->link[k].S[j]);
        assert_memory_equal(tree->A[k], A, sizeof A);
        v6_zero(tree->A[k]);
        const int next = kernels->accelerations(model, tree->link, k, k + 1,
                                                (const double(*)[6])tree->V, c->v, c->v, tree->A);
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
        }
        lwi_arena_free(&arena);
    }
}

// Sums over bodies and reactions of joints in lanes: those of one after the other, of all bits.
static void sums_and_reactions_in_lanes_change_no_bit(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, 0)
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_tree_work tree;
        lwi_snapshot m;
        lwi_body_sums plain = {0};
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
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
                double F[6];
                if (joint < 0 || model->node[k].reversed || model->nforce + model->nrotor > 0)
                    continue;
                lwi_tree_reaction(model, &tree, k, F);
                kernels->reactions(model, &tree, node, &m);
                for (int i = 0; i < 6; i++) assert_true(m.reaction[joint][i] == F[i]);
            }
        }
        lwi_arena_free(&arena);
    }
}

// Angles, speeds and their rates of hinges in lanes, as if they closed loops: those of one joint, of all bits.
static void hinges_in_lanes_change_no_bit(void **state)
{
    (void)state;
    int found = 0;
    LWT_FOR_TREES(c, 40, LWT_ALL)
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
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
            double q, u;
            lwi_joint_read_hinge(model, j, &motion, &q, &u);
            const double rate =
                lwi_joint_hinge_acceleration(model, j, &motion, (const double(*)[3])al);
            for (int width = 1; width <= LWI_LANES; width *= 2) {
                const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
                double cosine[LWI_LANES], sine[LWI_LANES], speed[2][LWI_LANES], rates[LWI_LANES];
                if (!kernels) continue;
                kernels->hinge_motion(model, all, motion.R, motion.w, cosine, sine, speed[0]);
                kernels->hinge_motion(model, all, motion.R, motion.w, NULL, sine, speed[1]);
                kernels->hinge_rates(model, all, motion.R, motion.w, (const double(*)[3])al, rates);
                for (int l = 0; l < width; l++, found++) {
                    assert_true(angle_continue(atan2(sine[l], cosine[l]), m.q[joint->iq]) == q);
                    assert_true(speed[0][l] == u && speed[1][l] == u && rates[l] == rate);
                }
            }
        }
        lwi_arena_free(&arena);
    }
    assert_true(found > 0 || !lwi_observe_kernels_of(0));
}

// --------------------------------------------------------------------------------------- residuals

static void residuals_vanish_on_the_constraints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals s;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
        lwi_observe_system(c.model, LW_OBSERVE_REACTION, &m, &s);
        // world positions and velocities up to 1e2, accelerations up to 1e3
        lwt_close(&c, "position", 0, s.residual[0], 0, 1e-12);
        lwt_close(&c, "velocity", 0, s.residual[1], 0, 1e-11);
        lwt_close(&c, "acceleration", 0, s.residual[2], 0, 1e-9);
        lwi_arena_free(&arena);
    }
}

// Bodies in any motion at constant accelerations, up to t^3; what is merged follows its carrier.
static void drift(const lw_model *model, const lwi_snapshot *from, double t, lwi_snapshot *to)
{
    to->t = from->t + t;
    memcpy(to->q, from->q, (size_t)model->nq * sizeof *to->q);
    for (int b = 1; b < model->nbody; b++) {
        if (model->body[b].carrier != b) continue;
        double axis[3], turn[9];
        v3_copy(to->r[b], from->r[b]);
        v3_axpy(to->r[b], t, from->v[b]);
        v3_axpy(to->r[b], 0.5 * t * t, from->a[b]);
        v3_scale(axis, t, from->w[b]);
        v3_axpy(axis, 0.5 * t * t, from->al[b]);
        const double angle = v3_norm(axis);
        v3_scale(axis, angle != 0 ? 1 / angle : 0, axis);
        rot_axis(turn, axis, angle);
        m3_mul(to->R[b], from->R[b], turn);
        v3_copy(to->v[b], from->v[b]);
        v3_axpy(to->v[b], t, from->a[b]);
        v3_copy(to->w[b], from->w[b]);
        v3_axpy(to->w[b], t, from->al[b]);
        v3_copy(to->a[b], from->a[b]);
        v3_copy(to->al[b], from->al[b]);
    }
}

static void same_residuals_in_every_width(const lw_model *model, const lwi_snapshot *m, int j)
{
    const lwi_joint *joint = &model->joint[j];
    const lwi_observe_kernels *widest = lwi_observe_kernels_of(0);
    int lanes[LWI_LANES];
    if (!widest || !joint->type->points || joint->merged || joint->ndriven || joint->mount.present)
        return;
    for (int k = 0; k < joint->type->nc; k++)
        if (joint->type->row[k].kind == LWI_ROW_ATTITUDE) return;
    for (int l = 0; l < LWI_LANES; l++) lanes[l] = j;
    for (int width = 1; width <= LWI_LANES; width *= 2) {
        const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
        double a[3] = {0}, b[3] = {0};
        if (!kernels) continue;
        widest->residuals(model, m, lanes, 3, a);
        kernels->residuals(model, m, lanes, 3, b);
        assert_memory_equal(a, b, sizeof a);
    }
}

// The largest residuals of the mechanism are those of its joints one by one, also off the constraints.
static void largest_residuals_are_those_of_joints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        const lw_model *model = c.model;
        double e[3][LWI_CLOSURE_ROWS], largest[3] = {0}, all[3];
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
        for (int b = 1; b < model->nbody; b++)
            for (int i = 0; i < 3; i++) {
                m.r[b][i] += lwt_random(&c.state, -1, 1);
                m.v[b][i] += lwt_random(&c.state, -1, 1);
                m.w[b][i] += lwt_random(&c.state, -1, 1);
                m.a[b][i] += lwt_random(&c.state, -1, 1);
                m.al[b][i] += lwt_random(&c.state, -1, 1);
            }
        lwi_observe_residuals(model, LW_OBSERVE_REACTION, &m, all);
        for (int j = 0; j < model->njoint; j++) {
            const int n = lwi_joint_residual(model, j, &m, e[0], e[1], e[2]);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < n; k++) largest[i] = fmax(largest[i], fabs(e[i][k]));
        }
        for (int i = 0; i < 3; i++)
            lwt_close(&c, "largest residual", i, all[i], largest[i], 1e-12 * (1 + largest[i]));
        for (int j = 0; j < model->njoint; j++) same_residuals_in_every_width(model, &m, j);
        lwi_arena_free(&arena);
    }
}

// Off the constraints residuals show what is wrong, and each level is the derivative of the one
// above, with drives and mounts in motion.
static void residuals_differentiate_each_other(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, LWT_ALL & ~LWT_CUSTOM) // custom rows promise it on the joint only
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_snapshot m, there;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
        assert_int_equal(lwi_snapshot_create(model, &arena, &there), LW_OK);
        for (int b = 1; b < model->nbody; b++)
            for (int i = 0; i < 3; i++) {
                m.r[b][i] += lwt_random(&c.state, -0.05, 0.05);
                m.v[b][i] = lwt_random(&c.state, -1, 1);
                m.w[b][i] = lwt_random(&c.state, -1, 1);
                m.a[b][i] = lwt_random(&c.state, -1, 1);
                m.al[b][i] = lwt_random(&c.state, -1, 1);
            }
        for (int j = 0; j < model->njoint; j++) {
            double e[3][LWI_CLOSURE_ROWS], x[3][LWI_CLOSURE_ROWS], d[2][LWI_CLOSURE_ROWS] = {{0}};
            const int n = lwi_joint_residual(model, j, &m, e[0], e[1], e[2]);
            assert_int_equal(
                n, model->joint[j].merged ? 0 : model->joint[j].type->nc + model->joint[j].ndriven);
            for (int i = 0; i < 4; i++) {
                drift(model, &m, lwt_offset[i], &there);
                lwi_joint_residual(model, j, &there, x[0], x[1], x[2]);
                for (int k = 0; k < n; k++) {
                    d[0][k] += lwt_weight[i] * x[0][k];
                    d[1][k] += lwt_weight[i] * x[1][k];
                }
            }
            for (int k = 0; k < n; k++) {
                lwt_close(&c, "phidot of joint", j, e[1][k], d[0][k], LWT_DERIVATIVE_TOLERANCE);
                lwt_close(&c, "phiddot of joint", j, e[2][k], d[1][k], LWT_DERIVATIVE_TOLERANCE);
            }
        }
        lwi_arena_free(&arena);
    }
}

// A body moved off its joint: the residual is how far; a joint driven wrongly: by how much.
static void residuals_measure_what_is_wrong(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1);
    lw_joint_desc desc = {.type = LW_JOINT_REVOLUTE, .body2 = A, .axis = {0, 0, 1}};
    desc.coordinate[0].motion = lwt_function(
        b, &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.5, .omega = 2});
    desc.has_q = desc.has_qd = 1;
    desc.qd[0] = 1;
    lwt_add(b, &desc);
    lw_model *model = lwt_model(b);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_totals s;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    lwi_snapshot_start(model, &m);
    v3_set(m.a[1], -0.5, 0, 0); // w = 1, no angular acceleration: sin'' = 0 at t = 0
    lwi_observe_system(model, LW_OBSERVE_REACTION, &m, &s);
    for (int i = 0; i < 3; i++) near("on the constraints", s.residual[i], 0, 1e-15);
    m.r[1][1] += 1e-3;
    m.v[1][2] -= 2e-3;
    m.a[1][1] += 3e-3;
    lwi_observe_system(model, LW_OBSERVE_REACTION, &m, &s);
    near("position", s.residual[0], 1e-3, 1e-15);
    near("velocity", s.residual[1], 2e-3, 1e-15);
    near("acceleration", s.residual[2], 3e-3, 1e-15);
    lwi_snapshot_start(model, &m);
    m.t = 0.1; // the drive has advanced, the body has not
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &s);
    near("drive", s.residual[0], 0.5 * sin(0.2), 1e-15);
    near("drive", s.residual[1], 1 - cos(0.2), 1e-15);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ merged

// Massless bodies on a rotating arm, one behind the other, with a force on the outer one and a rod
// hanging on it: they move as points of the arm, and every body is balanced.
static void merged_bodies_follow_and_balance(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        lw_builder *b = lwt_builder();
        const lw_body arm = lwt_rod(b, "arm", 0, 0, 1, 0, 2);
        const lw_body inner =
            lwt_body(b, &(lw_body_desc){.name = "inner", .pose.position = {1, 0.2, 0.1}});
        const lw_body outer =
            lwt_body(b, &(lw_body_desc){.name = "outer",
                                        .pose = {.position = {1.2, 0.5, 0},
                                                 .orientation = {2 / sqrt(5), 0, 1 / sqrt(5), 0}}});
        const lw_body wall =
            lwt_body(b, &(lw_body_desc){.name = "bracket", .pose.position = {-1, 0, 0}});
        const lw_body rod = lwt_rod(b, "rod", 1.2, 0.5, 1.2, -0.5, 1);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = wall,
                               .body2 = arm,
                               .has_qd = 1,
                               .has_q = 1,
                               .axis = {0, 0, 1}};
        hinge.qd[0] = 3;
        lwt_add(b, &(lw_joint_desc){.name = "w", .type = LW_JOINT_FIXED, .body2 = wall});
        lwt_add(b, &hinge);
        lwt_add(b, &(lw_joint_desc){.name = "i",
                                    .type = LW_JOINT_FIXED,
                                    .at = {1, 0, 0},
                                    .body1 = reversed ? inner : arm,
                                    .body2 = reversed ? arm : inner});
        lwt_add(b, &(lw_joint_desc){.name = "o",
                                    .type = LW_JOINT_FIXED,
                                    .at = {1.1, 0.3, 0},
                                    .body1 = reversed ? outer : inner,
                                    .body2 = reversed ? inner : outer});
        lw_joint_desc last = {.type = LW_JOINT_UNIVERSAL,
                              .body1 = outer,
                              .body2 = rod,
                              .at = {1.2, 0.5, 0},
                              .axis = {0, 0, 1},
                              .axis2 = {1, 0, 0},
                              .has_qd = 1,
                              .has_q = 1};
        last.coordinate[1].stiffness = 3, last.coordinate[1].at = 0.4;
        last.coordinate[0].damping = 0.2;
        last.qd[0] = -1, last.qd[1] = 2;
        lwt_add(b, &last);
        lwt_wrench(b, &(lw_wrench_desc){.body = outer,
                                        .point = {0.1, 0.2, 0.3},
                                        .force = {1, 2, 3},
                                        .torque = {-1, 0, 2}});
        lwt_spring(b,
                   &(lw_spring_desc){.body1 = inner, .body2 = rod, .stiffness = 10, .damping = 1});
        lw_model *model = lwt_model(b);
        assert_int_equal(model->nmerged, 3);
        const lwi_formulation *formulations[] = {&lwi_formulation_aba, &lwi_formulation_dense};
        for (int f = 0; f < 2; f++) {
            lwi_work *work = lwt_work(model, formulations[f]);
            lwi_arena arena;
            lwi_snapshot m;
            lwi_arena_init(&arena, NULL);
            assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
            double *x = lwt_reals(work->layout.nx), t = 0;
            lwi_snapshot_start(model, &m);
            lwt_ok(work->formulation->enter(work, &m, x), &work->error);
            lwt_integrate(work, &t, x, NULL, 1e-3, 200);
            lwt_observe(work, t, x, NULL, &arena, &m);
            const double q = m.q[model->joint[1].iq], qd = m.qd[model->joint[1].iv];
            const double qdd = m.qdd[model->joint[1].iv];
            const double p[3] = {1.2 * cos(q) - 0.5 * sin(q), 1.2 * sin(q) + 0.5 * cos(q), 0};
            near("x", m.r[outer.index][0], p[0], 1e-9);
            near("y", m.r[outer.index][1], p[1], 1e-9);
            near("vx", m.v[outer.index][0], -qd * p[1], 1e-8);
            near("vy", m.v[outer.index][1], qd * p[0], 1e-8);
            near("ax", m.a[outer.index][0], -qdd * p[1] - qd * qd * p[0], 1e-7);
            near("ay", m.a[outer.index][1], qdd * p[0] - qd * qd * p[1], 1e-7);
            // outer's own axes: rotated by 2 atan(1/2) about y
            near("wx", m.w[outer.index][0], -0.8 * qd, 1e-8);
            near("wz", m.w[outer.index][2], 0.6 * qd, 1e-8);
            near("alz", m.al[outer.index][2], 0.6 * qdd, 1e-7);
            double R[9];
            quat_matrix(R, m.quat[outer.index]);
            for (int i = 0; i < 9; i++) near("R", R[i], m.R[outer.index][i], 1e-14);
            near("bracket", m.r[wall.index][0], -1, 0);
            near("bracket", v3_norm(m.v[wall.index]), 0, 0);
            near("balance", lwt_imbalance(model, NULL, &m), 0, 1e-8); // drift of dense, order four
            for (int j = 0; j < model->njoint; j++) assert_int_equal(m.unique[j], 1);
            free(x);
            lwi_work_destroy(work);
            lwi_arena_free(&arena);
        }
        lw_model_destroy(model);
    }
}

// Every body of random trees, merged ones too, is balanced by what is observed.
static void every_body_is_balanced(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        observe_tree(&c, &arena, &m);
        double size = 1; // forces and moments about mass centres some lengths apart
        for (int j = 0; j < c.model->njoint; j++)
            size = fmax(size, sqrt(v6_dot(m.reaction[j], m.reaction[j])));
        lwt_close(&c, "balance", 0, lwt_imbalance(c.model, c.input, &m) / size, 0, 1e-12);
        lwi_arena_free(&arena);
    }
}

// ---------------------------------------------------------------------------------------- mobility

static void same_mobility(const lw_model *model, const lw_check *check, const lw_redundancy *joints,
                          const lw_check *check2, const lw_redundancy *joints2)
{
    for (int j = 0; j < model->njoint; j++) {
        assert_int_equal(joints[j].rows, joints2[j].rows);
        assert_int_equal(joints[j].dependent, joints2[j].dependent);
        assert_int_equal(joints[j].open, joints2[j].open);
        assert_int_equal(joints[j].axes, joints2[j].axes);
    }
    assert_int_equal(check->rank, check2->rank);
    assert_int_equal(check->dof_generic, check2->dof_generic);
    assert_int_equal(check->conflict_joint, check2->conflict_joint);
    assert_true(check->kept == check2->kept && check->dropped == check2->dropped &&
                check->conflict == check2->conflict);
}

// With the ranks that a simulation has found it is the same, and steps are as if it had not been asked.
static void same_by_simulation(const lw_model *model, const char *formulation,
                               const lw_check *check, const lw_redundancy *joints)
{
    enum { ASKED, NOT_ASKED };
    lw_redundancy known[16];
    lw_error error;
    lw_check found;
    lw_options options;
    const lw_observation *o[2];
    lw_sim *sim[2];
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", formulation, &error), &error);
    for (int i = 0; i < 2; i++) {
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim[i], &error), &error);
        lwt_ok(lw_sim_step(sim[i], 1e-3), lw_sim_error(sim[i]));
        if (i == ASKED) lwt_ok(lw_sim_mobility(sim[i], &found, known, &error), &error);
        lwt_ok(lw_sim_step(sim[i], 1e-2), lw_sim_error(sim[i]));
        lwt_ok(lw_sim_observe(sim[i], LW_OBSERVE_REACTION, &o[i]), lw_sim_error(sim[i]));
    }
    same_mobility(model, &found, known, check, joints);
    assert_memory_equal(o[ASKED]->qd, o[NOT_ASKED]->qd, (size_t)model->nv * sizeof(double));
    assert_memory_equal(o[ASKED]->reaction, o[NOT_ASKED]->reaction,
                        (size_t)model->njoint * sizeof *o[ASKED]->reaction);
    assert_int_equal(lw_sim_mobility(sim[ASKED], &found, NULL, &error), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_mobility(NULL, &found, known, &error), LW_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) lw_sim_destroy(sim[i]);
}

// One search for the ranks reports what two do, bit for bit.
static void same_by_one_search(const lw_model *model, const lw_check *check)
{
    lw_redundancy alone[16], joints[16];
    lw_error error;
    lw_check found;
    lwt_ok(lw_model_redundancy(model, alone, &error), &error);
    lwt_ok(lw_model_mobility(model, &found, joints, &error), &error);
    same_mobility(model, &found, joints, check, alone);
    assert_int_equal(lw_model_mobility(model, &found, NULL, &error), LW_ERR_ARGUMENT);
    if (check->dof > check->dof_generic) return; // a run from rest is refused
    same_by_simulation(model, "rcr", &found, joints);
    same_by_simulation(model, "hdca", &found, joints);
    same_by_simulation(model, "index3", &found, joints);
}

static void check_mobility(lw_model *model, int rows, int rank, int dof, int generic,
                           const int *expected)
{
    lw_check check;
    lw_error error;
    int dependent[16];
    assert_true(model->njoint <= 16);
    lwt_ok(lw_model_check(model, &check, dependent, &error), &error);
    assert_int_equal(check.rows, rows);
    assert_int_equal(check.rank, rank);
    assert_int_equal(check.dof, dof);
    assert_int_equal(check.dof_generic, generic);
    assert_int_equal(check.redundant, rows - rank);
    for (int j = 0; j < model->njoint; j++)
        assert_int_equal(dependent[j], expected ? expected[j] : 0);
    assert_true(check.residual[0] < 1e-12 && check.residual[1] < 1e-12);
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    same_by_one_search(model, &check);
    lw_model_destroy(model);
}

// Four-bar of revolutes with ground pivots (0, 0), (d, 0); cranks are at an angle.
static lw_builder *four_bar(double d, double angle, lw_joint_type third, lw_joint_type last)
{
    const double x = cos(angle), y = sin(angle);
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, x, y, 1), B = lwt_rod(b, "B", x, y, x + d, y, 1);
    const lw_body C = lwt_rod(b, "C", d, 0, x + d, y, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, x, y);
    lwt_joint(b, third, "j3", B, C, x + d, y);
    lwt_joint(b, last, "j4", C, lwt_ground, d, 0);
    return b;
}

// Degrees of freedom, redundant rows and the joints they belong to are those counted by hand: in
// space a planar four-bar has 20 equations of which three are spare; a parallelogram that lies flat
// has one more degree of freedom than near that position.
static void mobility_of_known_mechanisms(void **state)
{
    (void)state;
    static const int third_of_four[] = {0, 0, 3, 0}, flat[] = {0, 0, 4, 0};
    check_mobility(lwt_model(four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE)), 20, 17, 1,
                   1, third_of_four);
    check_mobility(lwt_model(four_bar(1.5, 0.9, LW_JOINT_SPHERICAL, LW_JOINT_CYLINDRICAL)), 17, 17,
                   1, 1, NULL);
    check_mobility(lwt_model(four_bar(1.5, 0, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE)), 20, 16, 2, 1,
                   flat);

    // a gear removes one degree of freedom of an open chain
    lw_builder *b = lwt_builder();
    const double ratio[] = {0, 2};
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1), B = lwt_rod(b, "B", 1, 0, 2, 0, 1);
    const lw_joint j1 = lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    const lw_joint j2 = lwt_joint(b, LW_JOINT_UNIVERSAL, "j2", A, B, 1, 0);
    lwt_coupling(b,
                 &(lw_coupling_desc){.joint = j2, .of = j1, .polynomial = ratio, .npolynomial = 2});
    check_mobility(lwt_model(b), 10, 10, 2, 2, NULL);

    // a driven crank leaves no degree of freedom; a massless body on a fixed joint adds none
    b = four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE);
    const lw_body tip = lwt_body(b, &(lw_body_desc){.name = "tip", .pose.position = {2, 2, 0}});
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_FIXED, .body1 = {1}, .body2 = tip});
    const lw_body D = lwt_rod(b, "D", 5, 0, 6, 0, 1);
    lw_joint_desc crank = {
        .type = LW_JOINT_REVOLUTE, .body2 = D, .at = {5, 0, 0}, .axis = {0, 0, 1}};
    crank.coordinate[0].motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT});
    lwt_add(b, &crank);
    const int sixth[] = {0, 0, 3, 0, 0, 0};
    check_mobility(lwt_model(b), 26, 23, 1, 1, sixth);
}

// What redundancy leaves open is reported joint by joint and axis by axis: in a planar four-bar the force
// across the plane and the torques about axes in it, everywhere; nothing where the last two joints give
// way.  A row is charged to the joint that closes the loop.
static void open_reactions_of_known_mechanisms(void **state)
{
    (void)state;
    lw_redundancy joints[4];
    lw_error error;
    lw_joint loop[4];
    lw_check check;
    lw_model *model = lwt_model(four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE));
    lwt_ok(lw_model_redundancy(model, joints, &error), &error);
    assert_int_equal(lw_model_loop(model, 0, loop, 4), 4);
    assert_int_equal(lw_model_loop(model, 1, loop, 4), 0);
    for (int j = 0; j < 4; j++) {
        assert_int_equal(joints[j].rows, 5);
        assert_int_equal(joints[j].dependent, j == loop[0].index ? 3 : 0);
        assert_int_equal(joints[j].open, 3);
        assert_int_equal(joints[j].axes, 1u << 2 | 1u << 3 | 1u << 4); // z force, x and y torque
    }
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    assert_true(check.kept > 1e-2 && check.dropped < 1e-14 && check.conflict < 1e-14);
    lw_model_destroy(model);

    model = lwt_model(four_bar(1.5, 0.9, LW_JOINT_SPHERICAL, LW_JOINT_CYLINDRICAL));
    lwt_ok(lw_model_redundancy(model, joints, &error), &error);
    for (int j = 0; j < 4; j++) assert_int_equal(joints[j].dependent + joints[j].open, 0);
    lw_model_destroy(model);
}

// Two drives on a mechanism of one degree of freedom with different accelerations contradict each other.
static void drives_that_contradict_loops_are_found(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        lw_builder *b = lwt_builder();
        const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1), B = lwt_rod(b, "B", 0, 1, 1, 1, 1);
        const lw_body C = lwt_rod(b, "C", 1, 0, 1, 1, 1);
        for (int side = 0; side < 2; side++) {
            const double square[3] = {0, 0, side && !fits ? 0.5 : 1};
            lw_joint_desc crank = {.type = LW_JOINT_REVOLUTE,
                                   .body2 = side ? C : A,
                                   .at = {side, 0, 0},
                                   .axis = {0, 0, 1}};
            crank.coordinate[0].motion = lwt_function(
                b, &(lw_function_desc){
                       .type = LW_FUNCTION_POLYNOMIAL, .coefficients = square, .ncoefficient = 3});
            lwt_add(b, &crank);
        }
        lwt_joint(b, LW_JOINT_REVOLUTE, "j3", A, B, 0, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j4", B, C, 1, 1);
        lw_model *model = lwt_model(b);
        lw_check check;
        lw_error error;
        lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
        assert_int_equal(check.redundant, 4);
        assert_int_equal(check.dof, 0);
        assert_true(fits ? check.conflict < 1e-14 : check.conflict > 1e-2);
        lw_model_destroy(model);
    }
}

static lw_model *chain(int n, bool spring)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "rod %d", i);
        const lw_body next = lwt_rod(b, name, i, 0, i + 1, 0, 1);
        snprintf(name, sizeof name, "pin %d", i);
        lwt_joint(b, LW_JOINT_REVOLUTE, name, last, next, i, 0);
        last = next;
    }
    const lw_spring_desc desc = {
        .name = "spring", .body1 = lwt_ground, .body2 = last, .stiffness = 1};
    lw_error error;
    if (spring) lwt_ok(lw_builder_add_spring(b, &desc, &error), &error);
    return lwt_model(b);
}

// Plans of a chain of n bodies: a comb is as deep as it is long, halves are not; both have the same root.
static void plans_of_a_chain(void **state)
{
    (void)state;
    enum { BODIES = 64 };
    lw_model *model = chain(BODIES, false);
    lw_plan_info comb, balanced;
    lw_error error;
    lwt_ok(lw_model_plan(model, "comb", &comb, &error), &error);
    lwt_ok(lw_model_plan(model, "balanced", &balanced, &error), &error);
    assert_string_equal(comb.kind, "comb");
    assert_string_equal(balanced.kind, "balanced");
    assert_true(comb.depth >= BODIES - 2 && balanced.depth <= 8); // log2 of 64 is 6, the ground
    assert_true(balanced.critical < comb.critical / 4 && comb.work <= balanced.work);
    assert_int_equal(lw_model_plan(model, "heap", &comb, &error), LW_ERR_ARGUMENT);
    lw_model_destroy(model);
}

static lw_plan_info plan_of_chain(int n, bool spring)
{
    lw_model *model = chain(n, spring);
    lw_plan_info info;
    lw_error error;
    lwt_ok(lw_model_plan(model, "balanced", &info, &error), &error);
    lw_model_destroy(model);
    return info;
}

// Four times as long a chain has two more levels of joins, of at most 10 rows closed and 5 open on either side, and in
// each pass one more body for each further segment of 64; a recursion would have 3000 more.
static void evaluation_of_a_chain_grows_by_levels_and_segments(void **state)
{
    (void)state;
    enum { SHORT = 1000, LONG = 4000, JOIN = 5 * 10 * 10 + 3 * 25 * 6 * 2 };
    const lw_plan_info small = plan_of_chain(SHORT, false), large = plan_of_chain(LONG, false);
    assert_int_equal(small.pass, 128 + SHORT / 64); // a segment twice, and its borders
    assert_int_equal(large.pass, 128 + LONG / 64);
    assert_int_equal(large.depth, small.depth + 2);
    assert_true(large.critical - small.critical <= 2.0 * JOIN);
    assert_true(large.evaluation - small.evaluation <=
                2.0 * JOIN + 60 * ((LONG - SHORT) / 64 + 1.0));
    assert_true(large.evaluation > large.critical && large.evaluation < 1.4 * small.evaluation);
    assert_int_equal(plan_of_chain(200, false).pass, 200); // one segment: the recursion
    // one thread computes the forces
    const lw_plan_info pushed = plan_of_chain(SHORT, true);
    assert_int_equal(pushed.forces, small.forces + 1);
    assert_true(pushed.evaluation > small.evaluation);
    assert_int_equal(pushed.pass, small.pass);
}

// Trees have no redundant rows: dof is that of the tree for any contents.
static void trees_have_no_redundant_rows(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 30, LWT_ALL)
    {
        lw_check check;
        lw_error error;
        lwt_ok(lw_model_check(c.model, &check, NULL, &error), &error);
        assert_int_equal(check.redundant, 0);
        assert_int_equal(check.dof, lw_model_tree_dof(c.model));
        assert_int_equal(check.dof_generic, check.dof);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_body_has_its_closed_form),
        cmocka_unit_test(momenta_follow_newton),
        cmocka_unit_test(residuals_vanish_on_the_constraints),
        cmocka_unit_test(bodies_in_lanes_change_no_bit),
        cmocka_unit_test(links_by_rows_change_no_bit),
        cmocka_unit_test(numbers_that_are_not_finite_are_found),
        cmocka_unit_test(sums_and_reactions_in_lanes_change_no_bit),
        cmocka_unit_test(hinges_in_lanes_change_no_bit),
        cmocka_unit_test(largest_residuals_are_those_of_joints),
        cmocka_unit_test(residuals_differentiate_each_other),
        cmocka_unit_test(residuals_measure_what_is_wrong),
        cmocka_unit_test(merged_bodies_follow_and_balance),
        cmocka_unit_test(every_body_is_balanced),
        cmocka_unit_test(mobility_of_known_mechanisms),
        cmocka_unit_test(open_reactions_of_known_mechanisms),
        cmocka_unit_test(drives_that_contradict_loops_are_found),
        cmocka_unit_test(plans_of_a_chain),
        cmocka_unit_test(evaluation_of_a_chain_grows_by_levels_and_segments),
        cmocka_unit_test(trees_have_no_redundant_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_tree.c -- kinematics of the spanning tree against numerical derivatives and against itself.
#include "tree/tree_cases.h"

#include "kinematics/tree_state.h"
#include "spatial/rotation.h"

enum { NTREES = 60 };

typedef struct poses {
    lwi_tree_work w;
    lwi_arena arena;
} poses;

static void poses_create(poses *p, const lw_model *model)
{
    lwi_arena_init(&p->arena, NULL);
    assert_int_equal(lwi_tree_work_create(model, &p->arena, &p->w), LW_OK);
}

static void place(poses *p, const lw_model *model, double t, const double *q, const double *v)
{
    lwi_tree_work *w = &p->w;
    lwi_tree_position(model, t, q, w->link);
    lwi_tree_rates(model, t, v, w->link);
    lwi_tree_velocity(model, w->link, v, w->V);
    lwi_tree_world(model, w->link, w->R, w->r);
    lwi_tree_bodies(model, (const double(*)[9])w->R, (const double(*)[3])w->r,
                    (const double(*)[6])w->V, w->body_R, w->body_r, w->body_v, w->body_w);
}

// adds weight * (R0' R, R0' r) to a numerical derivative of a pose in moving axes
static void add_pose(double dR[9], double dr[3], double weight, const double *R0, const double *R,
                     const double *r)
{
    double E[9], e[3];
    m3_tmul(E, R0, R);
    m3_tmul_v(e, R0, r);
    for (int i = 0; i < 9; i++) dR[i] += weight * E[i];
    v3_axpy(dr, weight, e);
}

typedef struct derivative {
    double dR[9], dr[3];        // of a pose
    double dS[6][6], dsigma[6]; // of components
} derivative;

static void check_twist(const lwt_tree *c, const char *what, int index, const derivative *d,
                        const double *v, const double *w)
{
    const double turn[3] = {d->dR[7], d->dR[2], d->dR[3]}; // axial vector of R'Rdot
    for (int i = 0; i < 3; i++) {
        lwt_close(c, what, index, v[i], d->dr[i], LWT_DERIVATIVE_TOLERANCE);
        lwt_close(c, what, index, w[i], turn[i], LWT_DERIVATIVE_TOLERANCE);
    }
}

// V = X V + S u + sigma is the velocity of the frames, Sdot and sigma_dot are the derivatives of
// the components of S and sigma: all joint types, reversed, driven, mounted, merged bodies.
static void velocities_are_derivatives_of_poses(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        poses here, there;
        poses_create(&here, m);
        poses_create(&there, m);
        double *qdot = lwt_reals(m->tree_nq), *q = lwt_reals(m->tree_nq);
        derivative *link = lwt_zeros((size_t)m->nnode, sizeof *link);
        derivative *body = lwt_zeros((size_t)m->nbody, sizeof *body);
        place(&here, m, c.t, c.q, c.v);
        lwi_tree_kinematics(m, here.w.link, c.v, qdot);
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < m->tree_nq; i++) q[i] = c.q[i] + lwt_offset[s] * qdot[i];
            place(&there, m, c.t + lwt_offset[s], q, c.v);
            for (int k = 0; k < m->nnode; k++) {
                const lwi_link *l = &there.w.link[k];
                add_pose(link[k].dR, link[k].dr, lwt_weight[s], here.w.R[k], there.w.R[k],
                         there.w.r[k]);
                for (int j = 0; j < m->node[k].nv; j++)
                    v6_axpy(link[k].dS[j], lwt_weight[s], l->S[j]);
                v6_axpy(link[k].dsigma, lwt_weight[s], l->sigma);
            }
            for (int b = 0; b < m->nbody; b++)
                add_pose(body[b].dR, body[b].dr, lwt_weight[s], here.w.body_R[b], there.w.body_R[b],
                         there.w.body_r[b]);
        }
        for (int k = 0; k < m->nnode; k++) {
            const lwi_link *l = &here.w.link[k];
            check_twist(&c, "velocity of node", k, &link[k], here.w.V[k], here.w.V[k] + 3);
            for (int i = 0; i < 6; i++) {
                lwt_close(&c, "sigma_dot of node", k, l->sigma_dot[i], link[k].dsigma[i],
                          LWT_DERIVATIVE_TOLERANCE);
                for (int j = 0; j < m->node[k].nv; j++)
                    lwt_close(&c, "Sdot of node", k, l->Sdot[j][i], link[k].dS[j][i],
                              LWT_DERIVATIVE_TOLERANCE);
            }
        }
        for (int b = 0; b < m->nbody; b++) {
            double v[3], w[3];
            m3_tmul_v(v, here.w.body_R[b], here.w.body_v[b]);
            m3_tmul_v(w, here.w.body_R[b], here.w.body_w[b]);
            check_twist(&c, "velocity of body", b, &body[b], v, w);
        }
        free(qdot);
        free(q);
        free(link);
        free(body);
        lwi_arena_free(&here.arena);
        lwi_arena_free(&there.arena);
    }
}

// The relative motion of a joint's frames, from the motion of its bodies, is that of its
// coordinates and speeds, driven ones included; the mount is taken off.
static void relative_motion_is_the_joints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        poses here;
        poses_create(&here, m);
        place(&here, m, c.t, c.q, c.v);
        lwi_tree_work *w = &here.w;
        for (int j = 0; j < m->njoint; j++) {
            const lwi_joint *joint = &m->joint[j];
            if (joint->node < 0) continue;
            const lwi_link *link = &w->link[joint->node];
            double R[9], r[3], V[6], Rq[9], rq[3], S[6][6], Vq[6] = {0};
            lwi_joint_relative(m, j, c.t, (const double(*)[9])w->body_R,
                               (const double(*)[3])w->body_r, (const double(*)[3])w->body_v,
                               (const double(*)[3])w->body_w, R, r, V);
            joint->type->pose(&joint->par, link->q, Rq, rq);
            joint->type->subspace(&joint->par, link->q, S);
            for (int i = 0; i < joint->type->nv; i++) v6_axpy(Vq, link->u[i], S[i]);
            // rounding of a dozen rotations and of world positions and velocities up to some 10
            const double tol = 1e-12;
            for (int i = 0; i < 9; i++) lwt_close(&c, "R of joint", j, R[i], Rq[i], tol);
            for (int i = 0; i < 3; i++) lwt_close(&c, "r of joint", j, r[i], rq[i], tol);
            for (int i = 0; i < 6; i++) lwt_close(&c, "V of joint", j, V[i], Vq[i], tol);
        }
        lwi_arena_free(&here.arena);
    }
}

// Joint arrays and body twists of a snapshot contain all of the state: gathering returns it, and
// the snapshot of its joints has the same bodies.
static void snapshots_contain_the_state(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        poses here;
        lwi_snapshot a, b;
        poses_create(&here, m);
        assert_int_equal(lwi_snapshot_create(m, &here.arena, &a), LW_OK);
        assert_int_equal(lwi_snapshot_create(m, &here.arena, &b), LW_OK);
        double *q = lwt_reals(m->tree_nq + 1), *v = lwt_reals(m->tree_nv);
        lwi_tree_evaluate(m, &here.w, c.t, c.q, c.v, c.input);
        lwi_tree_observe(m, &here.w, c.t, c.v, NULL, LW_OBSERVE_TWIST, &a);
        lwi_tree_gather(m, a.q, a.qd, (const double(*)[3])a.r, (const double(*)[4])a.quat,
                        (const double(*)[3])a.v, (const double(*)[3])a.w, q, v);
        for (int k = 0; k < m->nnode; k++) {
            const lwi_node *n = &m->node[k];
            // a floating base's quaternion comes back with either sign
            const double sign =
                n->joint < 0 && v6_dot((double[6]){q[n->iq + 3], q[n->iq + 4], q[n->iq + 5],
                                                   q[n->iq + 6], 0, 0},
                                       (double[6]){c.q[n->iq + 3], c.q[n->iq + 4], c.q[n->iq + 5],
                                                   c.q[n->iq + 6], 0, 0}) < 0
                    ? -1
                    : 1;
            for (int i = 0; i < n->nq; i++)
                lwt_close(&c, "q of node", k, (i < 3 ? 1 : sign) * q[n->iq + i], c.q[n->iq + i],
                          1e-14);
            for (int i = 0; i < n->nv; i++)
                lwt_close(&c, "v of node", k, v[n->iv + i], c.v[n->iv + i], 1e-14);
            if (n->joint >= 0) continue;
            memcpy(b.quat[n->body], a.quat[n->body], sizeof a.quat[0]);
            memcpy(b.r[n->body], a.r[n->body], sizeof a.r[0]);
            memcpy(b.v[n->body], a.v[n->body], sizeof a.v[0]);
            memcpy(b.w[n->body], a.w[n->body], sizeof a.w[0]);
        }
        memcpy(b.q, a.q, (size_t)m->nq * sizeof *b.q);
        memcpy(b.qd, a.qd, (size_t)m->nv * sizeof *b.qd);
        lwi_snapshot_from_joints(m, c.t, &b);
        for (int k = 0; k < m->nnode; k++)
            for (int i = 0; i < 3; i++) {
                const int body = m->node[k].body;
                lwt_close(&c, "r of body", body, b.r[body][i], a.r[body][i], 1e-12);
                lwt_close(&c, "v of body", body, b.v[body][i], a.v[body][i], 1e-12);
                lwt_close(&c, "w of body", body, b.w[body][i], a.w[body][i], 1e-12);
            }
        free(q);
        free(v);
        lwi_arena_free(&here.arena);
    }
}

// The snapshot at the start is that of the model: observing the start of the tree gives the same.
static void start_is_consistent(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        poses here;
        lwi_snapshot a, b;
        poses_create(&here, m);
        assert_int_equal(lwi_snapshot_create(m, &here.arena, &a), LW_OK);
        assert_int_equal(lwi_snapshot_create(m, &here.arena, &b), LW_OK);
        lwi_snapshot_start(m, &a);
        lwi_tree_evaluate(m, &here.w, 0, m->tree_q0, m->tree_v0, c.input);
        lwi_tree_observe(m, &here.w, 0, m->tree_v0, NULL, LW_OBSERVE_TWIST, &b);
        for (int k = 0; k < m->nnode; k++) {
            const int body = m->node[k].body;
            for (int i = 0; i < 3; i++) {
                lwt_close(&c, "r of body", body, a.r[body][i], b.r[body][i], 1e-12);
                lwt_close(&c, "v of body", body, a.v[body][i], b.v[body][i], 1e-12);
                lwt_close(&c, "w of body", body, a.w[body][i], b.w[body][i], 1e-12);
            }
            for (int i = 0; i < 9; i++)
                lwt_close(&c, "R of body", body, a.R[body][i], b.R[body][i], 1e-12);
        }
        lwi_arena_free(&here.arena);
    }
}

// Blocks of the state follow one another without gap, and quaternions are whole.
static void layout_covers_the_state(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        lwi_arena arena;
        lwi_layout layout;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_tree_layout(c.model, &arena, LWI_SPEED, &layout), LW_OK);
        int next = 0;
        for (int i = 0; i < layout.nblock; i++) {
            assert_int_equal(layout.block[i].first, next);
            assert_true(layout.block[i].n > 0);
            if (layout.block[i].kind == LWI_QUATERNION) assert_int_equal(layout.block[i].n, 4);
            next += layout.block[i].n;
        }
        assert_int_equal(next, layout.nx);
        assert_int_equal(layout.nx, c.model->tree_nq + c.model->tree_nv + c.model->carries_work);
        lwi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_are_derivatives_of_poses),
        cmocka_unit_test(relative_motion_is_the_joints),
        cmocka_unit_test(snapshots_contain_the_state),
        cmocka_unit_test(start_is_consistent),
        cmocka_unit_test(layout_covers_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

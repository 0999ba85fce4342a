// placement.c -- poses, velocities and Jacobians of points of bodies.
//
// With the world frame (R_k, r_k) of the link of node k and its motion subspace S_k, linear part first about r_k, an
// ancestor of the body moves the point P by
//     w = R_k S_k_angular u,   v_P = R_k S_k_linear u + w x (P - r_k)
// and with the loops closed J B, B of manifold.h.
#include "analysis/placement.h"

#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for kinematics");
}

static lw_status create(lw_kinematics *k, const char *independent, lw_error *error)
{
    const lw_model *model = k->model;
    k->at = (lwi_chosen){.model = model,
                         .names = lwi_arena_text(&k->arena, independent ? independent : "")};
    k->q = LWI_PUSH(&k->arena, double, model->tree_nq);
    k->still = LWI_PUSH(&k->arena, double, model->tree_nv);
    k->tree = LWI_PUSH(&k->arena, double, 6 * (size_t)model->tree_nv);
    if (!k->at.names || !k->q || !k->still || !k->tree) return no_memory(error);
    TRY(lwi_chosen_choose(&k->at, 0, model->tree_q0, error));
    TRY(lwi_chosen_tangent(&k->at, 0, model->tree_q0, error)); // also of trees, which keep it
    return lwi_placement_set(k, 0, model->tree_q0, model->tree_v0, error);
}

lw_status lw_kinematics_create(const lw_model *model, const char *independent,
                               lw_kinematics **kinematics, lw_error *error)
{
    if (!model || !kinematics)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_kinematics_create: a model and a result are needed");
    lw_kinematics *k = lwi_allocate(&model->arena.allocator, sizeof *k);
    if (!k) return no_memory(error);
    *k = (lw_kinematics){.model = model};
    lwi_arena_init(&k->arena, &model->arena.allocator);
    const lw_status status = create(k, independent, error);
    if (status == LW_OK)
        *kinematics = k;
    else
        lw_kinematics_destroy(k);
    return status;
}

void lw_kinematics_destroy(lw_kinematics *k)
{
    if (!k) return;
    const lw_allocator allocator = k->arena.allocator;
    lwi_chosen_leave(&k->at);
    lwi_arena_free(&k->arena);
    lwi_release(&allocator, k);
}

// ------------------------------------------------------------------------------------------- state

static bool all_finite(const double *x, int n)
{
    double sum = 0; // x - x is NaN if x is not finite
    for (int i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0;
}

// Frames and velocities of the links.  A tree has no rows, and always the same tangent.
static lw_status move_links(lw_kinematics *k, double t, const double *q, const double *v,
                            lw_error *error)
{
    const lw_model *model = k->model;
    if (k->at.manifold.m > 0) return lwi_chosen_rows(&k->at, t, q, v, error);
    lwi_tree_work *tree = &k->at.manifold.constraints->tree;
    if (!all_finite(q, model->tree_nq) || !all_finite(v, model->tree_nv))
        return lwi_fail(error, LW_ERR_NOT_FINITE, "the state is not finite");
    lwi_tree_links_of(model, t, 0, model->nnode, q, v, tree->link);
    lwi_tree_velocity(model, tree->link, v, tree->V);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    lwi_tree_joints(model, tree->link, v, tree->joint_q, tree->joint_qd);
    return LW_OK;
}

// After move_links at (q, v).
static lw_status take_state(lw_kinematics *k, double t, const double *q, const double *v,
                            lw_error *error)
{
    if (k->at.manifold.m > 0) TRY(lwi_chosen_factor(&k->at, t, q, v, error));
    memmove(k->q, q, (size_t)k->model->tree_nq * sizeof *q);
    return LW_OK;
}

lw_status lwi_placement_set(lw_kinematics *k, double t, const double *q, const double *v,
                            lw_error *error)
{
    if (!v) v = k->still;
    TRY(move_links(k, t, q, v, error));
    return take_state(k, t, q, v, error);
}

lw_status lw_kinematics_set(lw_kinematics *k, double t, const double *q, const double *v,
                            lw_error *error)
{
    if (!k || !q)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_kinematics_set: coordinates are needed");
    for (int i = 0; i < k->model->tree_nq; i++)
        if (!isfinite(q[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE, "q[%d] is %g, expected a number", i, q[i]);
    if (!v) v = k->still;
    TRY(move_links(k, t, q, v, error));
    const lwi_manifold *m = &k->at.manifold;
    for (int i = 0; i < m->m; i++) {
        if (fabs(m->phi[i]) <= LWI_CLOSURE_TOLERANCE * (1 + k->model->length)) continue;
        const lw_joint joint = lw_constraints_joint(m->constraints, i);
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "coordinates do not satisfy joint '%s', residual %.3g m or rad",
                        k->model->joint[joint.index].name, m->phi[i]);
    }
    return take_state(k, t, q, v, error);
}

int lw_kinematics_dof(const lw_kinematics *k)
{
    return k ? k->at.manifold.f : 0;
}

lw_status lw_kinematics_coordinate_name(const lw_kinematics *k, int index, char *text, size_t size)
{
    if (!k || !text || index < 0 || index >= k->at.manifold.f) return LW_ERR_ARGUMENT;
    lwi_manifold_name(&k->at.manifold, index, false, text, size);
    return LW_OK;
}

int lw_kinematics_coordinate_speed(const lw_kinematics *k, int index)
{
    return k && index >= 0 && index < k->at.manifold.f ? k->at.manifold.independent[index] : -1;
}

lw_status lw_kinematics_tangent(const lw_kinematics *k, double *B)
{
    if (!k || !B) return LW_ERR_ARGUMENT;
    const lwi_manifold *m = &k->at.manifold;
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->f; j++) B[i * m->f + j] = m->B[j * m->n + i];
    return LW_OK;
}

// ------------------------------------------------------------------------------------ points, bodies

static lw_status check_point(const lw_kinematics *k, lw_body body, lw_vec3 point)
{
    if (body.index < 0 || body.index >= k->model->nbody) return LW_ERR_ARGUMENT;
    return isfinite(point.x + point.y + point.z) ? LW_OK : LW_ERR_NOT_FINITE;
}

// World rotation of a body and place of a point of its frame.  The node that moves it; -1: the ground.
static int place(const lw_kinematics *k, int b, lw_vec3 point, double R[9], double P[3])
{
    const lwi_tree_work *tree = &k->at.manifold.constraints->tree;
    const lwi_body *body = &k->model->body[b];
    const int i = k->model->body_node[body->carrier];
    double arm[3] = {point.x - body->com[0], point.y - body->com[1], point.z - body->com[2]}, Rc[9],
           c[3];
    if (i < 0) {
        m3_identity(R);
        P[0] = point.x, P[1] = point.y, P[2] = point.z;
        return i;
    }
    const lwi_node *node = &k->model->node[i];
    m3_mul(Rc, tree->R[i], node->c_R);
    m3_mul(R, Rc, body->carrier_R);
    m3_mul_v(P, R, arm);
    m3_mul_v(c, Rc, body->carrier_r);
    v3_add(P, P, c);
    m3_mul_v(c, tree->R[i], node->c_r);
    v3_add(P, P, c);
    v3_add(P, P, tree->r[i]);
    return i;
}

lw_status lw_kinematics_point(lw_kinematics *k, lw_body body, lw_vec3 point,
                              lw_point_motion *motion)
{
    double R[9], arm[3];
    if (!k || !motion) return LW_ERR_ARGUMENT;
    TRY(check_point(k, body, point));
    const lwi_tree_work *tree = &k->at.manifold.constraints->tree;
    *motion = (lw_point_motion){0};
    const int i = place(k, body.index, point, R, motion->position);
    quat_from_matrix(motion->quaternion, R);
    if (i < 0) return LW_OK;
    m3_mul_v(motion->velocity, tree->R[i], tree->V[i]);
    m3_mul_v(motion->angular_velocity, tree->R[i], tree->V[i] + 3);
    v3_sub(arm, motion->position, tree->r[i]);
    v3_cross_add(motion->velocity, motion->angular_velocity, arm);
    return LW_OK;
}

// Column of speed j of node at: v of the point, w.
static void column(const lwi_tree_work *tree, int k, int j, const double P[3], double v[3],
                   double w[3])
{
    const double *S = tree->link[k].S[j];
    double arm[3], c[3];
    m3_mul_v(w, tree->R[k], S + 3);
    m3_mul_v(v, tree->R[k], S);
    v3_sub(arm, P, tree->r[k]);
    v3_cross(c, w, arm);
    v3_add(v, v, c);
}

lw_status lw_kinematics_tree_jacobian(lw_kinematics *k, lw_body body, lw_vec3 point, lw_axes axes,
                                      double *J)
{
    if (!k || !J) return LW_ERR_ARGUMENT;
    TRY(check_point(k, body, point));
    const lw_model *model = k->model;
    const lwi_tree_work *tree = &k->at.manifold.constraints->tree;
    const size_t n = (size_t)model->tree_nv;
    double R[9], P[3];
    memset(J, 0, 6 * n * sizeof *J);
    for (int i = place(k, body.index, point, R, P); i >= 0; i = model->node[i].parent) {
        for (int j = 0; j < model->node[i].nv; j++) {
            double x[6], own[6];
            column(tree, i, j, P, x, x + 3);
            if (axes == LW_AXES_BODY) {
                memcpy(own, x, sizeof own);
                m3_tmul_v(x, R, own);
                m3_tmul_v(x + 3, R, own + 3);
            }
            for (size_t r = 0; r < 6; r++) J[r * n + (size_t)(model->node[i].iv + j)] = x[r];
        }
    }
    return LW_OK;
}

lw_status lw_kinematics_jacobian(lw_kinematics *k, lw_body body, lw_vec3 point, lw_axes axes,
                                 double *J)
{
    if (!k || !J) return LW_ERR_ARGUMENT;
    const lwi_manifold *m = &k->at.manifold;
    TRY(lw_kinematics_tree_jacobian(k, body, point, axes, k->tree));
    for (int r = 0; r < 6; r++) { // B is 1 in the rows of the independent speeds
        const double *const row = k->tree + r * m->n;
        double *const to = J + r * m->f;
        for (int j = 0; j < m->f; j++) to[j] = row[m->independent[j]];
        for (int i = 0; i < m->n - m->f; i++)
            for (int j = 0; j < m->f; j++)
                to[j] += row[m->dependent[i]] * m->B[j * m->n + m->dependent[i]];
    }
    return LW_OK;
}

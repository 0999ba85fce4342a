// motion.c -- the motion of a mechanism with loops: from a start, snapshot or tree; coordinates of joints;
// displacements; closing of positions.
#include "system/system.h"

#include "base/assert.h"

#include "kinematics/kernels.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- sources

void lwi_system_place_merged(lwi_system *s)
{
    const lw_model *model = s->model;
    m3_identity(s->R[0]);
    for (int i = 1; i < model->nbody; i++) {
        const lwi_body *body = &model->body[i];
        const int base = body->carrier;
        if (base == i) continue;
        double arm[3];
        m3_mul(s->R[i], s->R[base], body->carrier_R);
        m3_mul_v(arm, s->R[base], body->carrier_r);
        v3_add(s->r[i], s->r[base], arm);
        v3_cross(s->v[i], s->w[base], arm);
        v3_add(s->v[i], s->v[i], s->v[base]);
        v3_copy(s->w[i], s->w[base]);
    }
}

void lwi_system_start(lwi_system *s)
{
    const lw_model *model = s->model;
    for (int b = 0; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        v3_copy(s->r[b], body->r0);
        quat_matrix(s->R[b], body->quat0);
        v3_copy(s->v[b], body->v0);
        m3_mul_v(s->w[b], s->R[b], body->w0);
    }
    if (model->nq) memcpy(s->q, model->q0, (size_t)model->nq * sizeof *s->q);
    if (model->nv) memcpy(s->qd, model->v0, (size_t)model->nv * sizeof *s->qd);
    lwi_system_place_merged(s);
}

void lwi_system_from_snapshot(lwi_system *s, const lwi_snapshot *snapshot)
{
    const lw_model *model = s->model;
    for (int b = 1; b < model->nbody; b++) {
        if (model->body[b].carrier != b) continue;
        v3_copy(s->r[b], snapshot->r[b]);
        memcpy(s->R[b], snapshot->R[b], sizeof s->R[b]);
        v3_copy(s->v[b], snapshot->v[b]);
        m3_mul_v(s->w[b], snapshot->R[b], snapshot->w[b]);
    }
    if (model->nq) memcpy(s->q, snapshot->q, (size_t)model->nq * sizeof *s->q);
    if (model->nv) memcpy(s->qd, snapshot->qd, (size_t)model->nv * sizeof *s->qd);
    lwi_system_place_merged(s);
}

// The motion of a tree, node by node.
typedef struct tree_job {
    lwi_system *s;
    lwi_tree_work *tree;
    double t;
    const double *q, *v;
    bool place_only;
} tree_job;

static void position_nodes(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_links_of(of->s->model, of->t, first, end, of->q, NULL, of->tree->link);
}

static void place_bodies(void *user, int first, int end)
{
    const tree_job *of = user;
    const lwi_tree_work *tree = of->tree;
    lwi_system *s = of->s;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const bool together = kernels && kernels->links.place;
    if (together)
        kernels->links.place(s->model, first, end, (const double(*)[9])tree->R,
                             (const double(*)[3])tree->r, s->R, s->r);
    for (int k = first; k < end; k++) {
        const lwi_node *node = &s->model->node[k];
        if (!together) lwi_tree_place_body(s->model, k, tree->R[k], tree->r[k], s->R, s->r);
        if (node->joint >= 0)
            memcpy(s->q + s->model->joint[node->joint].iq, tree->link[k].q,
                   (size_t)node->type->nq * sizeof *s->q);
    }
}

static void place_merged(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_system *s = of->s;
    for (int i = first; i < end; i++)
        lwi_tree_ride(s->model, s->model->merged[i], NULL, s->R, s->r, NULL);
}

void lwi_system_place_tree(lwi_system *s, lwi_tree_passes *passes, double t, const double *q,
                           lwi_tree_work *tree)
{
    tree_job of = {.s = s, .tree = tree, .t = t, .q = q};
    lwi_pool_for(s->pool, s->model->nnode, position_nodes, &of);
    lwi_tree_pass_world(passes, tree->link, tree->R, tree->r);
    m3_identity(s->R[0]);
    v3_set(s->r[0], 0, 0, 0);
    lwi_pool_for(s->pool, s->model->nnode, place_bodies, &of);
    if (s->model->nmerged) lwi_pool_for(s->pool, s->model->nmerged, place_merged, &of);
}

// From the velocities in world axes in s->y.
static void move_bodies(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_work *tree = of->tree;
    lwi_system *s = of->s;
    double arm[3];
    for (int k = first; k < end; k++) {
        const int b = s->model->node[k].body;
        const double *V = s->y[k];
        v3_sub(arm, s->r[b], tree->r[k]);
        v3_cross(s->v[b], V + 3, arm);
        v3_add(s->v[b], s->v[b], V);
        v3_copy(s->w[b], V + 3);
        m3_tmul_v(tree->V[k], tree->R[k], V);
        m3_tmul_v(tree->V[k] + 3, tree->R[k], V + 3);
        lwi_tree_speeds(s->model, k, &tree->link[k], of->v, s->qd);
    }
}

static void move_merged(void *user, int first, int end)
{
    lwi_system *s = user;
    for (int i = first; i < end; i++) {
        const int b = s->model->merged[i], carrier = s->model->body[b].carrier;
        double arm[3];
        m3_mul_v(arm, s->R[carrier], s->model->body[b].carrier_r);
        v3_copy(s->w[b], s->w[carrier]);
        v3_cross(s->v[b], s->w[b], arm);
        v3_add(s->v[b], s->v[b], s->v[carrier]);
    }
}

void lwi_system_move_merged(lwi_system *s)
{
    v3_set(s->v[0], 0, 0, 0);
    v3_set(s->w[0], 0, 0, 0);
    if (s->model->nmerged) lwi_pool_for(s->pool, s->model->nmerged, move_merged, s);
}

void lwi_system_move_tree(lwi_system *s, lwi_tree_passes *passes, const double *v,
                          lwi_tree_work *tree)
{
    tree_job of = {.s = s, .tree = tree, .v = v};
    lwi_tree_pass_velocity(passes, tree->link, (const double(*)[9])tree->R,
                           (const double(*)[3])tree->r, v, s->y);
    lwi_pool_for(s->pool, s->model->nnode, move_bodies, &of);
    lwi_system_move_merged(s);
}

static void read_joint(lwi_system *s, int j, double t, bool place_only)
{
    const lwi_joint *joint = &s->model->joint[j];
    double q[LW_JOINT_MAX_NQ];
    if (joint->type->nq == 0 || joint->merged) return;
    lwi_joint_read_motion(s->model, j, t, &s->motion, q, place_only ? NULL : s->qd + joint->iv);
    memcpy(s->q + joint->iq, q, (size_t)joint->type->nq * sizeof *q);
}

static void read_loops(void *user, int first, int end)
{
    const tree_job *of = user;
    for (int i = first; i < end; i++)
        read_joint(of->s, of->s->model->loop[i], of->t, of->place_only);
}

void lwi_system_read_loops(lwi_system *s, double t, bool place_only)
{
    tree_job of = {.s = s, .t = t, .place_only = place_only};
    lwi_pool_for(s->pool, s->model->nloop, read_loops, &of);
}

bool lwi_system_needs_coordinates(const lw_model *model)
{
    if (model->force_needs & LWI_NEEDS_JOINT) return true; // formulas may read joints too
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].type->callbacks) return true;
    return model->ncoupling + model->nrotor > 0;
}

void lwi_system_read_joint(lwi_system *s, int j, double t)
{
    LWI_ASSERT_INDEX(j, s->model->njoint);
    read_joint(s, j, t, false);
}

void lwi_system_read_joints(lwi_system *s, double t)
{
    for (int j = 0; j < s->model->njoint; j++) read_joint(s, j, t, false);
}

// With the axes x, y of both frames,  A = x1.x2 + y1.y2,  B = y1.x2 - x1.y2,  q = atan2(B, A):  the result of
// lwi_row_angle for joints of any kind, in a tenth of the operations.  For a relative rotation dt
//     dA = n_A . dt,  n_A = x2 x x1 + y2 x y1,    dB = n_B . dt,  n_B = x2 x y1 - y2 x x1
//     dq = (A n_B - B n_A) . dt / (A^2 + B^2)
double lwi_system_hinge_angle(const lwi_system *s, const lwi_joint *joint, double near, double n[3])
{
    double x1[3], y1[3], x2[3], y2[3], F1[9], F2[9], nA[3] = {0}, nB[3] = {0}, back[3];
    m3_mul(F1, s->R[joint->body1], joint->R1);
    m3_mul(F2, s->R[joint->body2], joint->R2);
    for (int i = 0; i < 3; i++) {
        x1[i] = F1[3 * i], y1[i] = F1[3 * i + 1];
        x2[i] = F2[3 * i], y2[i] = F2[3 * i + 1];
    }
    const double A = v3_dot(x1, x2) + v3_dot(y1, y2), B = v3_dot(y1, x2) - v3_dot(x1, y2);
    v3_cross_add(nA, x2, x1);
    v3_cross_add(nA, y2, y1);
    v3_scale(back, -1, x1);
    v3_cross_add(nB, x2, y1);
    v3_cross_add(nB, y2, back);
    const double square = A * A + B * B;
    for (int i = 0; i < 3; i++) n[i] = (A * nB[i] - B * nA[i]) / square;
    return angle_continue(atan2(B, A), near);
}

void lwi_system_carry_coordinates(lwi_system *s, const lwi_auxiliary *auxiliary, int first, int end,
                                  double t)
{
    for (int i = first; i < end; i++) {
        const int j = auxiliary->item[i].joint;
        const lwi_joint *joint = &s->model->joint[j];
        double q[LW_JOINT_MAX_NQ], n[3];
        if (i > 0 && auxiliary->item[i - 1].joint == j) continue; // done with the joint's first
        if (lwi_joint_is_hinge(joint->type) && !joint->mount.present) {
            s->q[joint->iq] = lwi_system_hinge_angle(s, joint, s->q[joint->iq], n);
        } else {
            lwi_joint_read_motion(s->model, j, t, &s->motion, q, NULL);
            memcpy(s->q + joint->iq, q, (size_t)joint->type->nq * sizeof *q);
        }
    }
}

// ----------------------------------------------------------------------------------- displacements

void lwi_system_move(lwi_system *s, const double (*x)[6])
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const double angle = v3_norm(x[k] + 3);
        v3_add(s->r[b], s->r[b], x[k]);
        if (!(angle > 0)) continue;
        double about[3], turn[9], R[9], quat[4];
        v3_scale(about, 1 / angle, x[k] + 3);
        rot_axis(turn, about, angle);
        m3_mul(R, turn, s->R[b]);
        quat_from_matrix(quat, R); // normalised: remains a rotation after many moves
        quat_matrix(s->R[b], quat);
    }
    lwi_system_place_merged(s);
}

// Coordinates of every joint, continued from q.
static void read_coordinates(lwi_system *s, double t)
{
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        double q[LW_JOINT_MAX_NQ];
        if (joint->merged || joint->type->nq == 0) continue;
        lwi_joint_read_motion(s->model, j, t, &s->motion, q, NULL);
        memcpy(s->q + joint->iq, q, (size_t)joint->type->nq * sizeof *q);
    }
}

// diagonal := S_rr.  Returns the largest of the values, for rows scaled to length one, in lengths of the
// mechanism.
static double largest_scaled(lwi_system *s, const double *value, double *diagonal)
{
    double largest = 0;
    for (int e = 0; e < s->plan.graph.nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int k = 0; k < edge->rows; k++) {
            double square = 0;
            for (int i = 0; i < edge->n; i++) {
                const int at = 6 * (s->plan.slot[e] + i) + k;
                square += v6_dot(lwi_elim_J(s->elim)[at], lwi_elim_G(s->elim)[at]);
            }
            const int row = s->plan.row[e] + k;
            diagonal[row] = square;
            if (square > 0) largest = fmax(largest, fabs(value[row]) / (s->length * sqrt(square)));
        }
    }
    return largest;
}

double lwi_system_residual(const lwi_system *s)
{
    double largest = 0;
    for (int i = 0; i < s->nrow; i++)
        if (!(fabs(s->phi[i]) <= largest)) largest = fabs(s->phi[i]); // also if not a number
    return largest;
}

// mu = residual^2 gives quadratic convergence if the distance from the constraints is proportional to the
// residual, also with redundant rows.  The lower bound keeps factors of redundant rows regular: four digits
// above round-off.
#define MIN_DAMPING 1e-12

// Factors with eps = mu S_rr.  eps: in S_rr [nrow], out eps.
static lw_status factor_damped(lwi_system *s, double mu, double *eps)
{
    LWI_ASSERT(mu >= MIN_DAMPING);
    for (int k = 0; k < s->nrow; k++) eps[k] = eps[k] > 0 ? mu * eps[k] : 1;
    for (int k = s->nrow; k < s->plan.nrow; k++) eps[k] *= MIN_DAMPING; // links stay rigid
    return lwi_elim_factor(s->elim, eps);
}

bool lwi_system_close(lwi_system *s, double t, double tolerance, int max_steps)
{
    LWI_ASSERT(tolerance > 0 && max_steps >= 0);
    double before = INFINITY;
    for (int i = 0;; i++) {
        lwi_system_rows(s, t);
        const double residual = lwi_system_residual(s);
        // converged: at the tolerance, and only round-off remains
        if (residual <= tolerance && (residual == 0 || residual > 0.1 * before || i == 0))
            return true;
        if (i == max_steps || !isfinite(residual)) return residual <= tolerance;
        before = residual;
        lwi_system_geometric(s);
        double *eps = s->row[0];
        const double e = largest_scaled(s, s->phi, eps), mu = fmax(e * e, MIN_DAMPING);
        if (factor_damped(s, mu, eps) != LW_OK) return false;
        for (int k = 0; k < s->nrow; k++) s->c[k] = -s->phi[k];
        memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
        lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
        lwi_system_move(s, (const double(*)[6])s->x);
        read_coordinates(s, t);
    }
}

double lwi_system_unmet(lwi_system *s, double pivot)
{
    double *eps = s->row[0], *left = s->row[1];
    const double e = largest_scaled(s, s->phi, eps), mu = fmax(pivot, fmax(e * e, MIN_DAMPING));
    const double asked = largest_scaled(s, s->b, eps);
    if (!(asked > 0) || factor_damped(s, mu, eps) != LW_OK) return 0;
    for (int k = 0; k < s->nrow; k++) s->c[k] = -s->b[k];
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    lwi_system_rates_of(s, (const double(*)[6])s->x, left);
    for (int k = 0; k < s->nrow; k++) left[k] += s->b[k];
    for (int k = s->nrow; k < s->plan.nrow; k++) left[k] = 0; // links
    return largest_scaled(s, left, eps) / asked;
}

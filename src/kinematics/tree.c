// tree.c -- kinematics of the spanning tree
//
//   V = X V_parent + S u + sigma                                            [naudet2003, (1)]
//
// A joint gives the pose (R12, r12) and the velocity S u of F2 relative to the moved frame F1',
// which has the pose (Rm, rm) of the mount in F1 and moves with the twist Vm.  Together, in axes of F2,
//
//   A = (Rm, rm)(R12, r12)                             pose of F2 in F1
//   V_rel = S_free u + sigma,  sigma = S_driven qd(t) + X12 Vm
//   sigma_dot = Sdot_driven qd + S_driven qdd + X12 Am - (S u) x X12 Vm
//
// with X12 taking motions from F1' to F2; its derivative is -(S u) x X12.  A node of a reversed
// joint has F1 as its link frame and F2 on the parent.  With X21 taking motions from F2 to F1 and
// d/dt X21 = X21 (V_rel x):
//
//   S_rev = -X21 S,   Sdot_rev = -X21 (V_rel x S + Sdot),   the same for sigma.
#include "kinematics/tree.h"

#include "base/assert.h"

#include "kinematics/kernels.h"
#include "spatial/inertia.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------ mounts

void lwi_mount_eval(const lw_model *model, const lwi_mount *mount, double t, double Rm[9],
                    double rm[3], double Vm[6], double Am[6])
{
    m3_identity(Rm);
    v3_set(rm, 0, 0, 0);
    v6_zero(Vm);
    v6_zero(Am);
    if (!mount->present) return;
    double shift[3][3], phi[3], rdot[3], rddot[3], turning[3];
    for (int i = 0; i < 3; i++) {
        lwi_function_eval(model->function, mount->shift[i], t, shift[i]);
        rm[i] = shift[i][0];
        rdot[i] = shift[i][1];
        rddot[i] = shift[i][2];
    }
    lwi_function_eval(model->function, mount->turn, t, phi);
    rot_axis(Rm, mount->about, phi[0]);
    // in moved axes: Vm = [Rm' rdot; phid about], Am = [Rm' rddot - w x Rm' rdot; phidd about]
    m3_tmul_v(Vm, Rm, rdot);
    v3_scale(Vm + 3, phi[1], mount->about);
    m3_tmul_v(Am, Rm, rddot);
    v3_cross(turning, Vm + 3, Vm);
    v3_sub(Am, Am, turning);
    v3_scale(Am + 3, phi[2], mount->about);
}

static const lwi_mount *mount_of(const lw_model *model, const lwi_node *node)
{
    if (node->joint < 0 || !model->joint[node->joint].mount.present) return NULL;
    return &model->joint[node->joint].mount;
}

// --------------------------------------------------------------------------------- one joint's
// part

// What a joint and its mount do at one instant, in axes of F2 about its origin.
typedef struct joint_state {
    double R12[9], r12[3]; // F2 in F1'
    double R[9], r[3];     // F2 in F1
    double S[LW_JOINT_MAX_NV][6];
    double mounted[6];     // X12 Vm
    double mounted_dot[6]; // X12 Am
} joint_state;

static bool is_driven(const lw_model *model, const lwi_node *node, int k)
{
    LWI_ASSERT_INDEX(k, LW_JOINT_MAX_NV);
    return node->joint >= 0 && model->joint[node->joint].motion[k].index > 0;
}

static bool any_driven(const lw_model *model, const lwi_node *node)
{
    return node->joint >= 0 && model->joint[node->joint].ndriven > 0;
}

// All coordinates of the joint: free ones from q, driven ones from their functions.
static void set_coordinates(const lw_model *model, const lwi_node *node, double t, const double *q,
                            lwi_link *link)
{
    if (!any_driven(model, node)) {
        if (node->nq > 0) memcpy(link->q, q, (size_t)node->nq * sizeof *q); // else q may be NULL
        return;
    }
    // only joints with speeds that are derivatives of their coordinates can be driven
    const lwi_joint *joint = &model->joint[node->joint];
    for (int k = 0; k < node->type->nv; k++) {
        lwi_function_eval(model->function, joint->motion[k], t, link->drive[k]);
        link->q[k] = link->drive[k][0];
    }
    for (int j = 0; j < node->nq; j++) link->q[node->column[j]] = q[j];
}

static void set_speeds(const lw_model *model, const lwi_node *node, const double *u, lwi_link *link)
{
    if (any_driven(model, node))
        for (int k = 0; k < node->type->nv; k++) link->u[k] = link->drive[k][1];
    for (int j = 0; j < node->nv; j++) link->u[node->column[j]] = u[j];
}

static void eval_joint(const lw_model *model, const lwi_node *node, double t, const lwi_link *link,
                       joint_state *s)
{
    node->type->pose(node->par, link->q, s->R12, s->r12);
    node->type->subspace(node->par, link->q, s->S);
    v6_zero(s->mounted);
    v6_zero(s->mounted_dot);
    const lwi_mount *mount = mount_of(model, node);
    if (!mount) {
        memcpy(s->R, s->R12, sizeof s->R);
        v3_copy(s->r, s->r12);
        return;
    }
    double Rm[9], rm[3], Vm[6], Am[6];
    lwi_mount_eval(model, mount, t, Rm, rm, Vm, Am);
    m3_mul(s->R, Rm, s->R12);
    m3_mul_v(s->r, Rm, s->r12);
    v3_add(s->r, s->r, rm);
    motion_to(s->mounted, s->R12, s->r12, Vm);
    motion_to(s->mounted_dot, s->R12, s->r12, Am);
}

// a = -X21 b
static void reverse(const joint_state *s, double *a, const double *b)
{
    double c[6];
    motion_from(c, s->R, s->r, b);
    for (int i = 0; i < 6; i++) a[i] = -c[i];
}

// A hinge without drive and mount: R = X_R Rz(q), or X_R Rz(-q) of a reversed one.
static void place_hinge(const lwi_node *node, double q, lwi_link *link)
{
    const double *X = node->X_R, c = cos(q), s = node->reversed ? -sin(q) : sin(q);
    link->q[0] = q;
    for (int i = 0; i < 9; i += 3) {
        link->R[i] = X[i] * c + X[i + 1] * s;
        link->R[i + 1] = X[i + 1] * c - X[i] * s;
        link->R[i + 2] = X[i + 2];
    }
    v3_copy(link->r, node->X_r);
    v6_zero(link->sigma);
    v6_zero(link->S[0]);
    link->S[0][5] = node->reversed ? -1 : 1;
}

// R = X_R Rz(q0) Rx(q1)
static void place_universal(const lwi_node *node, const double *q, lwi_link *link)
{
    const double c0 = cos(q[0]), s0 = sin(q[0]), c1 = cos(q[1]), s1 = sin(q[1]);
    const double R[9] = {c0, -s0 * c1, s0 * s1, s0, c0 * c1, -c0 * s1, 0, s1, c1};
    link->q[0] = q[0], link->q[1] = q[1];
    m3_mul(link->R, node->X_R, R);
    v3_copy(link->r, node->X_r);
    v6_zero(link->sigma);
    v6_zero(link->S[0]);
    link->S[0][4] = s1, link->S[0][5] = c1;
    v6_zero(link->S[1]);
    link->S[1][3] = 1;
}

void lwi_link_position(const lw_model *model, int k, double t, const double *q, lwi_link *link)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    LWI_ASSERT(model->node[k].parent < k);
    const lwi_node *node = &model->node[k];
    joint_state s;
    if (node->type->id == LW_JOINT_REVOLUTE && !node->driven) {
        place_hinge(node, q[0], link);
        return;
    }
    if (lwi_node_is_universal(node)) {
        place_universal(node, q, link);
        return;
    }
    set_coordinates(model, node, t, q, link);
    eval_joint(model, node, t, link, &s);

    v6_copy(link->sigma, s.mounted);
    for (int i = 0; node->driven && i < node->type->nv; i++)
        if (is_driven(model, node, i)) v6_axpy(link->sigma, link->drive[i][1], s.S[i]);
    for (int j = 0; j < node->nv; j++) v6_copy(link->S[j], s.S[node->column[j]]);

    double R[9], r[3]; // link frame in the inboard joint frame
    if (node->reversed) {
        m3_transpose(R, s.R);
        m3_tmul_v(r, s.R, s.r);
        v3_scale(r, -1, r);
        reverse(&s, link->sigma, link->sigma);
        for (int j = 0; j < node->nv; j++) reverse(&s, link->S[j], link->S[j]);
    } else {
        memcpy(R, s.R, sizeof R);
        v3_copy(r, s.r);
    }
    m3_mul(link->R, node->X_R, R);
    m3_mul_v(link->r, node->X_R, r);
    v3_add(link->r, link->r, node->X_r);
}

// Sdot and sigma_dot of the joint, then those of the reversed joint if it is.
static void general_rates(const lw_model *model, const lwi_node *node, double t, lwi_link *link)
{
    joint_state s;
    double Sdot[LW_JOINT_MAX_NV][6], own[6] = {0}, sigma[6], c[6];
    node->type->subspace_rate(node->par, link->q, link->u, Sdot);
    if (!node->reversed && !node->driven) { // without mount
        v6_zero(link->sigma_dot);
        for (int j = 0; j < node->nv; j++) v6_copy(link->Sdot[j], Sdot[node->column[j]]);
        return;
    }
    eval_joint(model, node, t, link, &s);
    for (int i = 0; i < node->type->nv; i++) v6_axpy(own, link->u[i], s.S[i]);

    motion_cross(c, own, s.mounted);
    for (int i = 0; i < 6; i++) link->sigma_dot[i] = s.mounted_dot[i] - c[i];
    v6_copy(sigma, s.mounted);
    for (int i = 0; i < node->type->nv; i++) {
        if (!is_driven(model, node, i)) continue;
        v6_axpy(sigma, link->drive[i][1], s.S[i]);
        v6_axpy(link->sigma_dot, link->drive[i][1], Sdot[i]);
        v6_axpy(link->sigma_dot, link->drive[i][2], s.S[i]);
    }
    for (int j = 0; j < node->nv; j++) v6_copy(link->Sdot[j], Sdot[node->column[j]]);
    if (!node->reversed) return;

    double V_rel[6];
    v6_add(V_rel, own, s.mounted);
    motion_cross(c, V_rel, sigma);
    v6_add(c, c, link->sigma_dot);
    reverse(&s, link->sigma_dot, c);
    for (int j = 0; j < node->nv; j++) {
        motion_cross(c, V_rel, s.S[node->column[j]]);
        v6_add(c, c, link->Sdot[j]);
        reverse(&s, link->Sdot[j], c);
    }
}

void lwi_link_rates(const lw_model *model, int k, double t, const double *u, lwi_link *link)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    const lwi_node *node = &model->node[k];
    set_speeds(model, node, u, link);
    if (lwi_node_is_universal(node)) {
        v6_zero(link->Sdot[0]);
        link->Sdot[0][4] = u[1] * link->S[0][5];
        link->Sdot[0][5] = -u[1] * link->S[0][4];
        v6_zero(link->Sdot[1]);
        v6_zero(link->sigma_dot);
        return;
    }
    if (!node->type->constant_axis || node->driven) {
        general_rates(model, node, t, link);
        return;
    }
    // one degree of freedom about an axis that is fixed in both bodies
    v6_zero(link->Sdot[0]);
    v6_zero(link->sigma_dot);
}

void lwi_link_kinematics(const lw_model *model, int k, const lwi_link *link, const double *u,
                         double *qdot)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    const lwi_node *node = &model->node[k];
    if (node->type->scalar || any_driven(model, node))
        memcpy(qdot, u, (size_t)node->nv * sizeof *u);
    else
        node->type->kinematics(node->par, link->q, u, qdot);
}

// ---------------------------------------------------------------------------------- the whole tree

int lwi_tree_common_node(const lw_model *model, int a, int b)
{
    while (a != b) { // parents have smaller numbers
        int *later = a > b ? &a : &b;
        *later = model->node[*later].parent;
    }
    return a;
}

// NULL: none.
static const lwi_link_kernels *link_kernels(void)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    return kernels && kernels->links.positions ? &kernels->links : NULL;
}

void lwi_tree_links_of(const lw_model *model, double t, int first, int end, const double *q,
                       const double *v, lwi_link *link)
{
    const lwi_link_kernels *kernels = link_kernels();
    for (int k = first; k < end; k++) {
        if (kernels && (k = kernels->positions(model, link, k, end, q, v)) >= end) return;
        const lwi_node *node = &model->node[k];
        lwi_link_position(model, k, t, q + node->iq, &link[k]);
        if (v) lwi_link_rates(model, k, t, v + node->iv, &link[k]);
    }
}

void lwi_tree_position(const lw_model *model, double t, const double *q, lwi_link *link)
{
    lwi_tree_links_of(model, t, 0, model->nnode, q, NULL, link);
}

void lwi_tree_rates(const lw_model *model, double t, const double *v, lwi_link *link)
{
    for (int k = 0; k < model->nnode; k++)
        lwi_link_rates(model, k, t, v + model->node[k].iv, &link[k]);
}

void lwi_joint_metric_solve(int nv, double (*S)[6], double *b)
{
    LWI_ASSERT(nv >= 0 && nv <= 6);
    double L[6][6];
    if (nv == 1) {
        LWI_ASSERT(v6_dot(S[0], S[0]) > 0);
        b[0] /= v6_dot(S[0], S[0]);
        return;
    }
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) L[i][j] = v6_dot(S[i], S[j]);
    cholesky6(L, nv, 0); // columns of S are independent at all coordinates
    cholesky6_forward(L, nv, b);
    cholesky6_backward(L, nv, b);
}

void lwi_tree_world(const lw_model *model, const lwi_link *link, double (*R)[9], double (*r)[3])
{
    lwi_tree_world_of(model, link, 0, model->nnode, R, r);
}

void lwi_tree_world_of(const lw_model *model, const lwi_link *link, int first, int end,
                       double (*R)[9], double (*r)[3])
{
    const lwi_link_kernels *kernels = link_kernels();
    if (kernels) {
        kernels->world(model, link, first, end, R, r);
        return;
    }
    for (int k = first; k < end; k++) {
        const int parent = model->node[k].parent;
        LWI_ASSERT(parent < k);
        if (parent < 0) {
            memcpy(R[k], link[k].R, sizeof R[k]);
            v3_copy(r[k], link[k].r);
            continue;
        }
        m3_mul(R[k], R[parent], link[k].R);
        m3_mul_v(r[k], R[parent], link[k].r);
        v3_add(r[k], r[k], r[parent]);
    }
}

void lwi_tree_velocity(const lw_model *model, const lwi_link *link, const double *v, double (*V)[6])
{
    lwi_tree_velocity_of(model, link, 0, model->nnode, v, V);
}

void lwi_tree_velocity_of(const lw_model *model, const lwi_link *link, int first, int end,
                          const double *v, double (*V)[6])
{
    const lwi_link_kernels *kernels = link_kernels();
    if (kernels) {
        kernels->velocities(model, link, first, end, v, V);
        return;
    }
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        if (node->parent < 0)
            v6_zero(V[k]);
        else
            motion_to(V[k], link[k].R, link[k].r, V[node->parent]);
        for (int j = 0; j < node->nv; j++) v6_axpy(V[k], v[node->iv + j], link[k].S[j]);
        if (node->driven) v6_axpy(V[k], 1, link[k].sigma);
    }
}

// ------------------------------------------------------------------------------- bodies and joints

void lwi_tree_place_body(const lw_model *model, int k, const double R[9], const double r[3],
                         double (*body_R)[9], double (*body_r)[3])
{
    const lwi_node *node = &model->node[k];
    const int b = node->body;
    LWI_ASSERT(b > 0 && b < model->nbody);
    m3_mul(body_R[b], R, node->c_R);
    m3_mul_v(body_r[b], R, node->c_r);
    v3_add(body_r[b], body_r[b], r);
}

void lwi_tree_bodies(const lw_model *model, const double (*R)[9], const double (*r)[3],
                     const double (*V)[6], double (*body_R)[9], double (*body_r)[3],
                     double (*body_v)[3], double (*body_w)[3])
{
    const lwi_link_kernels *kernels = link_kernels();
    LWI_ASSERT(V || (!body_v && !body_w));
    if (kernels)
        kernels->place(model, 0, model->nnode, R, r, body_R, body_r);
    else
        for (int k = 0; k < model->nnode; k++)
            lwi_tree_place_body(model, k, R[k], r[k], body_R, body_r);
    lwi_tree_body_velocities(model, R, V, body_R, body_r, body_v, body_w);
}

void lwi_tree_body_velocities(const lw_model *model, const double (*R)[9], const double (*V)[6],
                              double (*body_R)[9], double (*body_r)[3], double (*body_v)[3],
                              double (*body_w)[3])
{
    lwi_tree_body_velocities_of(model, R, V, 0, model->nnode, body_v, body_w);
    lwi_tree_other_bodies(model, R, V, body_R, body_r, body_v, body_w);
}

void lwi_tree_body_velocities_of(const lw_model *model, const double (*R)[9], const double (*V)[6],
                                 int first, int end, double (*body_v)[3], double (*body_w)[3])
{
    double c[3];
    const lwi_link_kernels *kernels = link_kernels();
    if (kernels && body_v && body_w) {
        kernels->body_velocities(model, first, end, R, V, body_v, body_w);
        return;
    }
    for (int k = first; (body_v || body_w) && k < end; k++) {
        const lwi_node *node = &model->node[k];
        const int b = node->body;
        if (body_v) { // of the mass centre: v + w x c
            v3_cross(c, V[k] + 3, node->c_r);
            v3_add(c, c, V[k]);
            m3_mul_v(body_v[b], R[k], c);
        }
        if (body_w) m3_mul_v(body_w[b], R[k], V[k] + 3);
    }
}

void lwi_tree_other_bodies(const lw_model *model, const double (*R)[9], const double (*V)[6],
                           double (*body_R)[9], double (*body_r)[3], double (*body_v)[3],
                           double (*body_w)[3])
{
    m3_identity(body_R[0]);
    v3_set(body_r[0], 0, 0, 0);
    if (body_v) v3_set(body_v[0], 0, 0, 0);
    if (body_w) v3_set(body_w[0], 0, 0, 0);
    for (int i = 0; i < model->nmerged; i++) { // they move with their carriers
        const int b = model->merged[i], carrier = model->body[b].carrier;
        LWI_ASSERT_INDEX(carrier, model->nbody);
        if (body_w) v3_copy(body_w[b], body_w[carrier]);
        double w[3] = {0};
        const int k = model->body_node[carrier];
        if (body_v && k >= 0) m3_mul_v(w, R[k], V[k] + 3);
        lwi_tree_ride(model, b, w, body_R, body_r, body_v);
    }
}

void lwi_tree_ride(const lw_model *model, int b, const double w[3], double (*body_R)[9],
                   double (*body_r)[3], double (*body_v)[3])
{
    LWI_ASSERT_INDEX(b, model->nbody);
    LWI_ASSERT(model->body[b].carrier != b);
    const lwi_body *body = &model->body[b];
    double arm[3];
    m3_mul(body_R[b], body_R[body->carrier], body->carrier_R);
    m3_mul_v(arm, body_R[body->carrier], body->carrier_r);
    v3_add(body_r[b], body_r[body->carrier], arm);
    if (!body_v) return;
    v3_cross(arm, w, arm);
    v3_add(body_v[b], body_v[body->carrier], arm);
}

void lwi_tree_speeds(const lw_model *model, int k, const lwi_link *link, const double *v,
                     double *qd)
{
    const lwi_node *node = &model->node[k];
    if (node->joint < 0) return;
    const lwi_joint *joint = &model->joint[node->joint];
    if (joint->ndriven > 0)
        for (int i = 0; i < node->type->nv; i++) qd[joint->iv + i] = link->drive[i][1];
    for (int j = 0; j < node->nv; j++) qd[joint->iv + node->column[j]] = v[node->iv + j];
}

void lwi_tree_joints(const lw_model *model, const lwi_link *link, const double *v, double *q,
                     double *qd)
{
    lwi_tree_joints_of(model, link, 0, model->nnode, v, q, qd);
}

void lwi_tree_joints_of(const lw_model *model, const lwi_link *link, int first, int end,
                        const double *v, double *q, double *qd)
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0) continue;
        memcpy(q + model->joint[node->joint].iq, link[k].q, (size_t)node->type->nq * sizeof *q);
        if (qd) lwi_tree_speeds(model, k, &link[k], v, qd);
    }
}

void lwi_tree_gather(const lw_model *model, const double *q, const double *qd,
                     const double (*body_r)[3], const double (*body_quat)[4],
                     const double (*body_v)[3], const double (*body_w)[3], double *tree_q,
                     double *tree_v)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double *nq = tree_q + node->iq, *nv = tree_v + node->iv;
        if (node->joint < 0) { // floating base: link frame in the mass centre, body axes
            LWI_ASSERT(node->nq == 7 && node->nv == 6);
            double R[9];
            v3_copy(nq, body_r[node->body]);
            quat_normalize(nq + 3, body_quat[node->body]);
            quat_matrix(R, nq + 3);
            m3_tmul_v(nv, R, body_v[node->body]);
            v3_copy(nv + 3, body_w[node->body]);
            continue;
        }
        const lwi_joint *joint = &model->joint[node->joint];
        for (int j = 0; j < node->nq; j++)
            nq[j] = q[joint->iq + (joint->ndriven > 0 ? node->column[j] : j)];
        for (int j = 0; j < node->nv; j++) nv[j] = qd[joint->iv + node->column[j]];
    }
}

void lwi_tree_scatter(const lw_model *model, const double *tree_q, const double *tree_v, double *q,
                      double *qd, double (*body_r)[3], double (*body_quat)[4], double (*body_v)[3],
                      double (*body_w)[3])
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const double *nq = tree_q + node->iq, *nv = tree_v + node->iv;
        if (node->joint < 0) {
            double R[9];
            v3_copy(body_r[node->body], nq);
            quat_normalize(body_quat[node->body], nq + 3);
            quat_matrix(R, body_quat[node->body]);
            m3_mul_v(body_v[node->body], R, nv);
            v3_copy(body_w[node->body], nv + 3);
            continue;
        }
        const lwi_joint *joint = &model->joint[node->joint];
        for (int j = 0; j < node->nq; j++)
            q[joint->iq + (joint->ndriven > 0 ? node->column[j] : j)] = nq[j];
        for (int j = 0; j < node->nv; j++) qd[joint->iv + node->column[j]] = nv[j];
    }
}

// World frame of a joint on one of its bodies: origin p from the mass centre, rotation Rw.
static void joint_frame(const double *body_R, const double *R, const double *r, double *Rw,
                        double *p)
{
    m3_mul(Rw, body_R, R);
    m3_mul_v(p, body_R, r);
}

void lwi_joint_relative(const lw_model *model, int joint, double t, const double (*body_R)[9],
                        const double (*body_r)[3], const double (*body_v)[3],
                        const double (*body_w)[3], double R[9], double r[3], double V[6])
{
    LWI_ASSERT_INDEX(joint, model->njoint);
    const lwi_joint *j = &model->joint[joint];
    const int b1 = j->body1, b2 = j->body2;
    double R1[9], R2[9], p1[3], p2[3], d[3], Rm[9], rm[3], Vm[6], Am[6];
    joint_frame(body_R[b1], j->R1, j->r1, R1, p1);
    joint_frame(body_R[b2], j->R2, j->r2, R2, p2);

    // F2 in F1: d from P1 to P2
    for (int i = 0; i < 3; i++) d[i] = (body_r[b2][i] + p2[i]) - (body_r[b1][i] + p1[i]);
    m3_tmul(R, R1, R2);
    m3_tmul_v(r, R1, d);
    lwi_mount_eval(model, &j->mount, t, Rm, rm, Vm, Am);
    if (j->mount.present) {
        double relative[9];
        v3_sub(r, r, rm);
        m3_tmul_v(r, Rm, r);
        m3_tmul(relative, Rm, R);
        memcpy(R, relative, sizeof relative);
    }
    if (!V) return;

    // velocity of P2 minus that of the point of body 1 that is there, angular velocities
    double v[3], w[3], mounted[6];
    v3_sub(v, body_v[b2], body_v[b1]);
    v3_cross_add(v, body_w[b2], p2);
    v3_add(d, d, p1);
    v3_cross(w, body_w[b1], d);
    v3_sub(v, v, w);
    v3_sub(w, body_w[b2], body_w[b1]);
    m3_tmul_v(V, R2, v);
    m3_tmul_v(V + 3, R2, w);
    if (!j->mount.present) return;
    motion_to(mounted, R, r, Vm);
    for (int i = 0; i < 6; i++) V[i] -= mounted[i];
}

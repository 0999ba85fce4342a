// cut.c -- rows of cut joints in the coordinates of the tree, and their generic rank.
//
// The row e of E = J W N'^-1 for a row J_r follows from one inward sweep of the wrenches J_r' on the bodies,
//     e_k = L^-1 S' f,   f_parent += X' (f - U L'^-1 e_k)               [anderson2003, (16)-(18)]
// and N'^-1 y from one outward sweep,
//     vdot_k = L'^-1 (y_k - L^-1 U' X A_parent),   A = X A_parent + S vdot_k   [anderson2003, (26)-(29)]
// Both are steps of tree/articulated.c.  Cost: O(n) per row.
#include "loops/cut_state.h"

#include "base/assert.h"
#include "kinematics/displacement.h"
#include "spatial/rotation.h"

#include <stdio.h>

lwi_motion lwi_cut_motion(const lwi_tree_work *tree)
{
    return (lwi_motion){.R = (const double(*)[9])tree->body_R,
                        .r = (const double(*)[3])tree->body_r,
                        .v = (const double(*)[3])tree->body_v,
                        .w = (const double(*)[3])tree->body_w,
                        .q = tree->joint_q};
}

// ------------------------------------------------------------------------------------- evaluation

void lwi_cut_read(const lwi_cut *cut, lwi_tree_work *tree, double t, bool place_only)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        double now[LW_JOINT_MAX_NQ];
        if (joint->type->nq == 0) continue;
        lwi_joint_read_motion(model, model->loop[i], t, &motion, now,
                              place_only ? NULL : tree->joint_qd + joint->iv);
        memcpy(tree->joint_q + joint->iq, now, (size_t)joint->type->nq * sizeof *now);
    }
}

void lwi_cut_place_tree(const lw_model *model, lwi_tree_work *tree, double t, const double *q,
                        const double *v)
{
    lwi_tree_links_of(model, t, 0, model->nnode, q, v, tree->link);
    lwi_tree_velocity(model, tree->link, v, tree->V);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    lwi_tree_bodies(model, (const double(*)[9])tree->R, (const double(*)[3])tree->r,
                    (const double(*)[6])tree->V, tree->body_R, tree->body_r, tree->body_v,
                    tree->body_w);
    lwi_tree_joints(model, tree->link, v, tree->joint_q, tree->joint_qd);
}

void lwi_cut_place(lwi_cut *cut, lwi_tree_work *tree, double t, const double *q, const double *v)
{
    lwi_cut_place_tree(cut->model, tree, t, q, v);
    lwi_cut_read(cut, tree, t, false);
}

void lwi_cut_add_wrench(const lw_model *model, const lwi_tree_work *tree, int k, double scale,
                        const double world[6], double wrench[6])
{
    double f[6];
    m3_tmul_v(f, tree->R[k], world);
    m3_tmul_v(f + 3, tree->R[k], world + 3);
    v3_cross_add(f + 3, model->node[k].c_r, f);
    v6_axpy(wrench, scale, f);
}

// Wrenches of the efforts of cut joints.  Returns their power beyond effort times joint speed [W].
static double cut_efforts(lwi_cut *cut, lwi_tree_work *tree, double t)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    bool any = false;
    double power = 0;
    memset(cut->wrench, 0, (size_t)model->nbody * sizeof *cut->wrench);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const double *effort = tree->loads.effort + joint->iv;
        bool acts = false;
        for (int k = 0; k < joint->type->nv; k++) {
            acts = acts || effort[k] != 0;
            power -= effort[k] * tree->joint_qd[joint->iv + k];
        }
        if (!acts) continue;
        lwi_joint_apply_effort(model, model->loop[i], t, &motion, effort, cut->wrench);
        any = true;
    }
    for (int k = 0; any && k < model->nnode; k++) {
        const int b = model->node[k].body;
        lwi_cut_add_wrench(model, tree, k, 1, cut->wrench[b], tree->wrench[k]);
        power +=
            v3_dot(cut->wrench[b], tree->body_v[b]) + v3_dot(cut->wrench[b] + 3, tree->body_w[b]);
    }
    return any ? power : 0;
}

double lwi_cut_loads(lwi_cut *cut, lwi_tree_work *tree, double t, const double *v,
                     const double *inputs)
{
    memset(tree->wrench, 0, (size_t)cut->model->nnode * sizeof *tree->wrench);
    lwi_tree_loads(cut->model, tree, t, v, inputs);
    return cut->model->nforce ? cut_efforts(cut, tree, t) : 0;
}

// ---------------------------------------------------------------------------------------------
// rows

// Closure i: cut joints, then couplings.
static void closure_of(const lwi_cut *cut, int i, double t, const lwi_motion *motion,
                       lwi_closure_level level, lwi_closure *c)
{
    const lw_model *model = cut->model;
    if (i < model->nloop)
        lwi_joint_closure(model, model->loop[i], t, motion, level, c);
    else
        lwi_coupling_closure(model, i - model->nloop, t, motion, level, c);
}

static bool has_axes_at_rest(const lwi_cut *cut, int i)
{
    return cut->at_rest && i < cut->model->nloop && cut->at_rest[i];
}

// The couple of the force - a on body 1: d x a less than at the point of body 2.
static void put_at_own_point(const lw_model *model, int i, const lwi_tree_work *tree,
                             lwi_closure *c)
{
    const lwi_joint *joint = &model->joint[model->loop[i]];
    double arm[3], d[3];
    LWI_ASSERT(c->body[0] == joint->body1);
    m3_mul_v(d, tree->body_R[joint->body2], joint->r2);
    v3_add(d, d, tree->body_r[joint->body2]);
    v3_sub(d, d, tree->body_r[joint->body1]);
    m3_mul_v(arm, tree->body_R[joint->body1], joint->r1);
    v3_sub(d, arm, d);
    for (int k = 0; k < 3; k++) v3_cross_add(c->J[0][k] + 3, d, c->J[0][k]);
}

// w x (w x arm) of the point r of a body.
static void centripetal(const lwi_tree_work *tree, int body, const double r[3], double a[3])
{
    double arm[3], v[3];
    m3_mul_v(arm, tree->body_R[body], r);
    v3_cross(v, tree->body_w[body], arm);
    v3_cross(a, tree->body_w[body], v);
}

void lwi_cut_gamma_at_rest(lwi_cut *cut, const lwi_tree_work *tree)
{
    for (int i = 0; i < cut->model->nloop; i++) {
        const lwi_joint *joint = &cut->model->joint[cut->model->loop[i]];
        double a1[3], a2[3];
        if (!has_axes_at_rest(cut, i)) continue;
        centripetal(tree, joint->body1, joint->r1, a1);
        centripetal(tree, joint->body2, joint->r2, a2);
        v3_sub(a1, a1, a2);
        for (int k = 0; k < 3; k++) // J of body 1: - the axis
            cut->gamma[cut->first[i] + k] = v3_dot(cut->closure[i].J[0][k], a1);
    }
}

// phi, J V + b, and what else J A + gamma needs.                             [anderson2003, (30), (31)]
void lwi_cut_rows(lwi_cut *cut, const lwi_tree_work *tree, double t, lwi_closure_level level)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < cut->count; i++) {
        lwi_closure *c = &cut->closure[i];
        closure_of(cut, i, t, &motion, level, c);
        if (has_axes_at_rest(cut, i)) put_at_own_point(model, i, tree, c);
        if (cut->nrotor && i < model->nloop)
            lwi_joint_rotor_rows(model, model->loop[i], t, &motion, level, c);
        LWI_ASSERT(c->n == cut->first[i + 1] - cut->first[i]);
        LWI_ASSERT(c->nbody <= LWI_CLOSURE_BODIES);
        for (int r = 0; r < c->n; r++) {
            const int row = cut->first[i] + r;
            double rate = c->b[r], square = 0;
            LWI_ASSERT_INDEX(row, cut->m);
            for (int s = 0; s < c->nbody; s++) {
                const double *J = c->J[s][r];
                const int b = c->body[s];
                rate += v3_dot(J, tree->body_v[b]) + v3_dot(J + 3, tree->body_w[b]);
                square += v3_dot(J, J) + v3_dot(J + 3, J + 3) / (cut->length * cut->length);
            }
            cut->phi[row] = c->phi[r];
            cut->b[row] = c->b[r];
            cut->rate[row] = rate;
            cut->gamma[row] = level == LWI_CLOSURE_RATES ? c->gamma[r] : 0;
            cut->len[row] = square > 0 ? sqrt(square) : 1; // a zero row is never independent
        }
    }
    for (int i = 0; i < cut->nrotor; i++)
        cut->rate[cut->rotor_row[i]] = 0; // by definition of the rotor's speed
}

double lwi_cut_gap(const lwi_cut *cut, const lwi_tree_work *tree, double t)
{
    const lwi_motion motion = lwi_cut_motion(tree);
    double max = 0;
    for (int i = 0; i < cut->count; i++) {
        lwi_closure c;
        closure_of(cut, i, t, &motion, LWI_CLOSURE_PHI, &c);
        for (int r = 0; r < c.n; r++) max = fmax(max, fabs(c.phi[r]));
    }
    return max;
}

// Rows of E go inward together: `four` has a number of each.
typedef double four
    __attribute__((vector_size(LWI_CUT_ROWS * sizeof(double)), aligned(8), may_alias));

// r = R a, r = R' a, r += a x b, as those of one vector; r must not be a or b
static inline void turn(four *r, const double *R, const four *a)
{
    for (int i = 0; i < 3; i++) r[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static inline void turn_back(four *r, const double *R, const four *a)
{
    for (int i = 0; i < 3; i++) r[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

static inline void cross_add(four *r, const double *a, const four *b)
{
    r[0] += a[1] * b[2] - a[2] * b[1];
    r[1] += a[2] * b[0] - a[0] * b[2];
    r[2] += a[0] * b[1] - a[1] * b[0];
}

// Wrenches of the rows at a node, zero if no other body has added to them.
static four *reach(const lwi_cut *cut, int k)
{
    if (!cut->reached[k]) memset(cut->inward[k], 0, sizeof cut->inward[k]);
    cut->reached[k] = true;
    return (four *)cut->inward[k];
}

// The wrenches J_r' of n rows from `first` on, on body number s of the closure.
static void begin_inward(const lwi_cut *cut, const lwi_tree_work *tree, const lwi_closure *c, int s,
                         int first, int n, int k)
{
    four world[6], g[6], *f = reach(cut, k);
    for (int i = 0; i < 6; i++)
        for (int l = 0; l < LWI_CUT_ROWS; l++)
            world[i][l] = c->J[s][first + (l < n ? l : 0)][i]; // others repeat the first
    turn_back(g, tree->R[k], world);
    turn_back(g + 3, tree->R[k], world + 3);
    cross_add(g + 3, cut->model->node[k].c_r, g);
    for (int i = 0; i < 6; i++) f[i] += g[i];
}

// lwi_articulated_inward of the rows: to the speeds z of a node, and to its parent.
static void pass_inward(const lwi_cut *cut, const lwi_node *at, const lwi_link *link,
                        lwi_articulated *a, four *f, four z[6])
{
    four g[6];
    for (int j = 0; j < at->nv; j++) {
        const double *S = link->S[j];
        z[j] = S[0] * f[0] + S[1] * f[1] + S[2] * f[2] + S[3] * f[3] + S[4] * f[4] + S[5] * f[5];
    }
    for (int i = 0; i < at->nv; i++) { // cholesky6_forward
        for (int k = 0; k < i; k++) z[i] -= a->L[i][k] * z[k];
        z[i] *= a->L[i][i];
    }
    if (at->parent < 0) return;
    four y[6];
    for (int j = 0; j < at->nv; j++) y[j] = z[j];
    for (int i = at->nv - 1; i >= 0; i--) { // cholesky6_backward
        for (int k = i + 1; k < at->nv; k++) y[i] -= a->L[k][i] * y[k];
        y[i] *= a->L[i][i];
    }
    for (int j = 0; j < at->nv; j++)
        for (int i = 0; i < 6; i++) f[i] += -y[j] * a->U[j][i];
    four *up = reach(cut, at->parent);
    turn(g, link->R, f);
    turn(g + 3, link->R, f + 3);
    cross_add(g + 3, link->r, g);
    for (int i = 0; i < 6; i++) up[i] += g[i];
}

// n rows of E, e [n][cut->n], from the wrenches J_r' on the bodies of closure c, from number `first` on.
//                                                                      [anderson2003, (16), (25)]
static void inward(const lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node,
                   const lwi_closure *c, int first, int n, double *e)
{
    const lw_model *model = cut->model;
    int top = -1;
    LWI_ASSERT(n >= 1 && n <= LWI_CUT_ROWS);
    for (int s = 0; s < c->nbody; s++) {
        const int k = model->body_node[c->body[s]];
        LWI_ASSERT_INDEX(k, model->nnode); // a moving body
        begin_inward(cut, tree, c, s, first, n, k);
        if (k > top) top = k;
    }
    for (int k = top; k >= 0; k--) {
        const lwi_node *at = &model->node[k];
        four z[6];
        LWI_ASSERT(at->parent < k && at->iv + at->nv <= model->tree_nv);
        if (!cut->reached[k]) continue;
        cut->reached[k] = false;
        pass_inward(cut, at, &tree->link[k], &node[k], (four *)cut->inward[k], z);
        for (int j = 0; j < at->nv; j++)
            for (int l = 0; l < n; l++) e[l * cut->n + at->iv + j] = z[j][l];
    }
}

// The matrix E E' of the multipliers, by a decomposition of E'.                 [anderson2003, (32)]
void lwi_cut_factor(lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node, int rank,
                    double threshold)
{
    LWI_ASSERT(rank <= cut->n && rank <= cut->m);
    LWI_ASSERT(cut->n == cut->model->tree_nv + cut->nrotor);
    const size_t n = (size_t)cut->n;
    memset(cut->cod.a, 0, n * (size_t)cut->m * sizeof *cut->cod.a);
    for (int i = 0; i < cut->count; i++)
        for (int r = 0; r < cut->closure[i].n; r += LWI_CUT_ROWS) {
            const int row = cut->first[i] + r, left = cut->closure[i].n - r;
            const int count = left < LWI_CUT_ROWS ? left : LWI_CUT_ROWS;
            double *e = cut->cod.a + (size_t)row * n;
            inward(cut, tree, node, &cut->closure[i], r, count, e);
            for (int l = 0; l < count; l++, e += n)
                for (size_t k = 0; k < n; k++) e[k] /= cut->len[row + l];
        }
    for (int i = 0; i < cut->nrotor; i++) {
        const int row = cut->rotor_row[i], at = cut->model->tree_nv + i;
        LWI_ASSERT_INDEX(row, cut->m);
        LWI_ASSERT_INDEX(at, cut->n);
        cut->cod.a[(size_t)row * n + (size_t)at] = -cut->rotor_scale[i] / cut->len[row];
    }
    lwi_cod_factor(&cut->cod, rank, threshold);
    LWI_ASSERT(cut->cod.rank >= 0 && cut->cod.rank <= cut->n && cut->cod.rank <= cut->m);
}

void lwi_cut_solve(lwi_cut *cut, double *target)
{
    for (int i = 0; i < cut->m; i++) LWI_ASSERT(!(cut->len[i] <= 0));
    for (int i = 0; i < cut->m; i++) cut->lambda[i] = -target[i] / cut->len[i];
    memset(cut->y, 0, (size_t)cut->n * sizeof *cut->y);
    lwi_cod_nearest(&cut->cod, cut->y, cut->lambda); // y + E' lambda = 0, E y = -target
    for (int i = 0; i < cut->n; i++) cut->y[i] = -cut->y[i];
    for (int i = 0; i < cut->m; i++) cut->lambda[i] /= cut->len[i];
}

// With y = E' lambda: zeta lambda of all nodes at once.                   [anderson2003, (25), (28), (29)]
void lwi_cut_apply(const lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node,
                   const double *y, double *v)
{
    const lw_model *model = cut->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *at = &model->node[k];
        const lwi_link *link = &tree->link[k];
        double *A = cut->transmitted[k], s[6];
        LWI_ASSERT(at->parent < k);
        v6_zero(A);
        if (at->parent >= 0) motion_to(A, link->R, link->r, cut->transmitted[at->parent]);
        lwi_articulated_outward(at, link, &node[k], NULL, NULL, y + at->iv, A, s);
        for (int j = 0; j < at->nv; j++) v[at->iv + j] += s[j];
    }
}

// a = g + R (A + al x c + w x (v + w x c)) at the mass centre c.  A is the derivative of the components of V
// in a frame that accelerates with g.
void lwi_cut_accelerations(lwi_cut *cut, const lwi_tree_work *tree, double *JA)
{
    const lw_model *model = cut->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *at = &model->node[k];
        const double *A = tree->A[k], *V = tree->V[k];
        double *a = cut->a[at->body], speed[3];
        v3_cross(speed, V + 3, at->c_r);
        v3_add(speed, speed, V);
        v3_cross(a, A + 3, at->c_r);
        v3_cross_add(a, V + 3, speed);
        v3_add(a, a, A);
        m3_mul_v(a, tree->R[k], a);
        v3_add(a, a, model->gravity);
        m3_mul_v(cut->al[at->body], tree->R[k], A + 3);
    }
    for (int i = 0; JA && i < cut->count; i++) {
        const lwi_closure *c = &cut->closure[i];
        for (int r = 0; r < c->n; r++) {
            double sum = 0;
            for (int s = 0; s < c->nbody; s++)
                sum += v3_dot(c->J[s][r], cut->a[c->body[s]]) +
                       v3_dot(c->J[s][r] + 3, cut->al[c->body[s]]);
            JA[cut->first[i] + r] = sum;
        }
    }
}

// The wrenches J' lambda on the bodies.                                           [anderson2003, (20)]
void lwi_cut_wrenches(const lwi_cut *cut, const lwi_tree_work *tree, const double *lambda,
                      double (*wrench)[6])
{
    for (int i = 0; i < cut->count; i++) {
        const lwi_closure *c = &cut->closure[i];
        for (int s = 0; s < c->nbody; s++) {
            const int k = cut->model->body_node[c->body[s]];
            double f[6] = {0};
            for (int r = 0; r < c->n; r++) v6_axpy(f, lambda[cut->first[i] + r], c->J[s][r]);
            lwi_cut_add_wrench(cut->model, tree, k, 1, f, wrench[k]);
        }
    }
}

int lwi_cut_row_owner(const lwi_cut *cut, int i)
{
    LWI_ASSERT_INDEX(i, cut->m);
    int c = 0;
    while (c + 1 < cut->count && i >= cut->first[c + 1]) c++;
    return c < cut->model->nloop ? cut->model->loop[c] : -1 - (c - cut->model->nloop);
}

// ---------------------------------------------------------------------------------------- factors

lw_status lwi_cut_factor_tree(const lw_model *model, lwi_tree_work *tree, lwi_articulated *node,
                              double t, const double *rotor, lw_error *error)
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        double Y[6][6];
        TRY(lwi_articulated_factor(model, tree, node, k, t, rotor + model->node[k].iv, error));
        lwi_articulated_give(model, tree, node, k, Y);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------- generic
// rank

// Factors of the tree with unit masses and inertias length^2: the rank depends on geometry alone.
static lw_status factor_geometry(lwi_cut *cut, lwi_tree_work *tree, lwi_articulated *node,
                                 lw_error *error)
{
    const lw_model *model = cut->model;
    const double turn = cut->length * cut->length;
    for (int k = 0; k < model->nnode; k++) {
        double J[6] = {turn, turn, turn};
        s3_add_point(J, 1, model->node[k].c_r);
        inertia_rigid(&node[k].M, 1, model->node[k].c_r, J);
    }
    return lwi_cut_factor_tree(model, tree, node, 0, cut->no_rotor,
                               error); // rotors have no geometry
}

// Rows and their rank at tree coordinates q, t = 0.
static lw_status rank_at(lwi_cut *cut, lwi_tree_work *tree, lwi_articulated *node, const double *q,
                         const double *still, double threshold, lw_error *error)
{
    lwi_cut_place(cut, tree, 0, q, still);
    lwi_cut_rows(cut, tree, 0, LWI_CLOSURE_POSITION);
    TRY(factor_geometry(cut, tree, node, error));
    // unit column of the rotor: a longer one would make other rows seem redundant
    for (int i = 0; i < cut->nrotor; i++) cut->rotor_scale[i] = cut->len[cut->rotor_row[i]];
    lwi_cut_factor(cut, tree, node, -1, threshold);
    // Pivots are relative to the largest one.  If all rows are redundant, that one is rounding; an independent
    // row moves these unit masses by about one.
    if (cut->cod.rank && !(cut->cod.norm[0] > LWI_CUT_RANK)) cut->cod.rank = 0;
    return LW_OK;
}

static double largest(int n, const double *x)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

typedef struct rank_search {
    double *q, *du, *still, *target; ///< [tree_nq], [n], [n], [m]
} rank_search;

// Moves q by a step of the given size in a null direction of the rows, selected by `seed`.
static void step_along_motions(lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node,
                               int seed, double size, rank_search *l)
{
    memset(l->du, 0, (size_t)cut->n * sizeof *l->du);
    lwi_cut_scatter(cut->n, seed, cut->y);
    memset(cut->y, 0, (size_t)cut->cod.rank * sizeof *cut->y);
    lwi_cod_q(&cut->cod, false, cut->y);
    lwi_cut_apply(cut, tree, node, cut->y, l->du);
    double max = 0; // of displacements and rotations, in lengths of the mechanism
    for (int k = 0; k < cut->model->nnode; k++)
        max = fmax(max, fmax(v3_norm(cut->transmitted[k]) / cut->length,
                             v3_norm(cut->transmitted[k] + 3)));
    for (int k = 0; k < cut->n; k++) l->du[k] *= max > 0 ? size / max : 0;
    lwi_displace(cut->model, l->q, l->du);
}

// Gauss-Newton iteration to the constraint manifold.  A null step of size h violates the constraints by h^2 and
// rotates redundant rows by as much; rows that become independent there have angles of order h.
// `threshold` separates the two.
static lw_status close_positions(lwi_cut *cut, lwi_tree_work *tree, lwi_articulated *node,
                                 double threshold, rank_search *l, bool *closed, lw_error *error)
{
    const int max = 20; // converges quadratically, in six iterations as a rule
    const double enough = 1e-11 * (1 + cut->length); // far below the angles that decide the rank
    *closed = false;
    for (int i = 0; i < max; i++) {
        TRY(rank_at(cut, tree, node, l->q, l->still, threshold, error));
        if (largest(cut->m, cut->phi) < enough) {
            *closed = true;
            break;
        }
        for (int k = 0; k < cut->m; k++) l->target[k] = -cut->phi[k];
        lwi_cut_solve(cut, l->target);
        memset(l->du, 0, (size_t)cut->n * sizeof *l->du);
        lwi_cut_apply(cut, tree, node, cut->y, l->du);
        lwi_displace(cut->model, l->q, l->du);
    }
    return LW_OK;
}

static lw_status find_rank(lwi_cut *cut, lwi_tree_work *tree, lwi_articulated *node,
                           double threshold, rank_search *l, lw_error *error)
{
    // [rad], or lengths of the mechanism: large enough to leave a singular position, where pivots grow with the
    // step; small enough for h^2 to be well below h
    static const double sizes[] = {0.02, 0.03, 0.05};
    const lw_model *model = cut->model;
    const size_t bytes = (size_t)model->tree_nq * sizeof(double);
    const int min = cut->n < cut->m ? cut->n : cut->m;
    memcpy(tree->joint_q, model->q0, (size_t)model->nq * sizeof(double));
    TRY(rank_at(cut, tree, node, model->tree_q0, l->still, threshold, error));
    cut->rank = cut->cod.rank;
    if (cut->rank == cut->n) return LW_OK; // no motion
    for (int i = 0; i < LWI_COUNT(sizes) && cut->rank < min; i++) {
        bool closed;
        memcpy(l->q, model->tree_q0, bytes);
        TRY(rank_at(cut, tree, node, l->q, l->still, threshold, error));
        step_along_motions(cut, tree, node, i, sizes[i], l);
        // 0.2: between h and 1
        TRY(close_positions(cut, tree, node, 0.2 * sizes[i], l, &closed, error));
        if (!closed) continue;
        TRY(rank_at(cut, tree, node, l->q, l->still, threshold, error));
        if (cut->cod.rank > cut->rank) cut->rank = cut->cod.rank;
    }
    LWI_ASSERT(cut->rank >= 0 && cut->rank <= min);
    memcpy(tree->joint_q, model->q0, (size_t)model->nq * sizeof(double));
    return LW_OK;
}

// -------------------------------------------------------------------------------------------
// create

static int rotors_on_cuts(const lw_model *model)
{
    int n = 0;
    for (int i = 0; i < model->nloop; i++) n += model->joint[model->loop[i]].nrotor;
    return n;
}

static lw_status create_rows(const lw_model *model, bool rotors, lwi_arena *arena, lwi_cut *cut)
{
    *cut = (lwi_cut){.model = model,
                     .count = model->nloop + model->ncoupling,
                     .n = model->tree_nv,
                     .length = model->length};
    const int max = rotors ? rotors_on_cuts(model) : 0;
    cut->rotor_row = LWI_PUSH(arena, int, max);
    cut->rotor_scale = LWI_PUSH(arena, double, max);
    if (!cut->rotor_row || !cut->rotor_scale) return LW_ERR_MEMORY;
    cut->first = LWI_PUSH(arena, int, cut->count + 1);
    if (!cut->first) return LW_ERR_MEMORY;
    for (int i = 0; i < cut->count; i++) {
        cut->first[i] = cut->m;
        cut->m += i < model->nloop ? lwi_joint_row_count(model, model->loop[i]) : 1;
        for (int k = 0; rotors && i < model->nloop && k < model->joint[model->loop[i]].nrotor; k++)
            cut->rotor_row[cut->nrotor++] = cut->m++;
    }
    cut->n += cut->nrotor;
    cut->first[cut->count] = cut->m;
    LWI_ASSERT(cut->nrotor == max);
#define GET(field, count) ((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))
    const bool ok = GET(cut->closure, cut->count) && GET(cut->phi, cut->m) &&
                    GET(cut->rate, cut->m) && GET(cut->b, cut->m) && GET(cut->gamma, cut->m) &&
                    GET(cut->len, cut->m) && GET(cut->wrench, model->nbody) &&
                    GET(cut->a, model->nbody) && GET(cut->al, model->nbody);
#undef GET
    return ok ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_cut_create_rows(const lw_model *model, lwi_arena *arena, lwi_cut *cut)
{
    return create_rows(model, false, arena, cut);
}

lw_status lwi_cut_create_rows_rotors(const lw_model *model, lwi_arena *arena, lwi_cut *cut)
{
    TRY(create_rows(model, true, arena, cut));
    int n = 0;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        for (int k = 0; k < joint->type->nv; k++)
            if (joint->rotor[k] > 0) cut->rotor_scale[n++] = 1 / sqrt(joint->rotor[k]);
    }
    return LW_OK;
}

// Whether the paths of the joint's bodies in the tree meet at the ground, or at a body that is fixed to it.
static bool base_is_ground(const lw_model *model, const lwi_joint *joint)
{
    int k = lwi_tree_common_node(model, joint->body1 ? model->body_node[joint->body1] : -1,
                                 joint->body2 ? model->body_node[joint->body2] : -1);
    while (k >= 0 && model->node[k].nv == 0 && !model->node[k].driven) k = model->node[k].parent;
    return k < 0;
}

lw_status lwi_cut_use_axes_at_rest(lwi_cut *cut, bool hinges, lwi_arena *arena)
{
    const lw_model *model = cut->model;
    cut->at_rest = LWI_PUSH(arena, bool, model->nloop);
    if (!cut->at_rest) return LW_ERR_MEMORY;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        cut->at_rest[i] = joint->type->points && !joint->mount.present && joint->body1 &&
                          base_is_ground(model, joint) &&
                          (hinges || !lwi_joint_is_hinge(joint->type));
    }
    return LW_OK;
}

// Memory for the decompositions.
static bool allocate(lwi_cut *cut, rank_search *l, lwi_arena *arena)
{
    const lw_model *model = cut->model;
    double *a, *rest;
    int *pivot;
#define GET(field, count) ((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))
    const bool ok = GET(cut->y, cut->n) && GET(cut->lambda, cut->m) &&
                    GET(cut->transmitted, model->nnode) && GET(cut->inward, model->nnode) &&
                    GET(cut->reached, model->nnode) && GET(a, (size_t)cut->n * (size_t)cut->m) &&
                    GET(rest, lwi_cod_doubles(cut->n, cut->m)) && GET(pivot, cut->m) &&
                    GET(l->q, model->tree_nq) && GET(l->du, cut->n) && GET(l->still, cut->n) &&
                    GET(l->target, cut->m) && GET(cut->no_rotor, model->tree_nv);
#undef GET
    if (ok) lwi_cod_init(&cut->cod, cut->n, cut->m, a, rest, pivot);
    return ok;
}

lw_status lwi_cut_create(const lw_model *model, double threshold, lwi_arena *arena,
                         lwi_tree_work *tree, lwi_articulated *node, lwi_cut *cut, lw_error *error)
{
    rank_search l;
    double *rotor_scale;
    TRY(lwi_cut_create_rows_rotors(model, arena, cut));
    if (!allocate(cut, &l, arena)) return LW_ERR_MEMORY;
    rotor_scale = cut->rotor_scale; // restored below
    if (!(cut->rotor_scale = LWI_PUSH(arena, double, cut->nrotor))) return LW_ERR_MEMORY;
    const lw_status status = cut->m ? find_rank(cut, tree, node, threshold, &l, error) : LW_OK;
    cut->rotor_scale = rotor_scale;
    return status;
}

// reactions.c -- reactions of minimum norm of a mechanism of loop clusters, loop by loop.
//
// Problem: J' lambda = f for the rows of all joints, |lambda| minimal.  Input: the reactions of the tree's joints with the
// loops open, at the accelerations of the closed mechanism.  Output: those of all joints.  Cost: O(loops).
//
// The wrench w of the joint that closes a loop is added to the reactions of the joints between its two bodies.  In these
// the efforts of the loop's dependent coordinates y must vanish: with the columns of W_y for their motions [clusters.h]
//
//     W_y' w = tau_y,                                                                                        (1)
//
// tau_y from the reactions so far.  Loops outside of others come first, since their w acts on the coordinates of these.
// Independent coordinates need no equation: the accelerations satisfy theirs.
//
// (1) determines w up to N z, W_y' N = 0: one self-stress for each redundant row of the loop, if its other coordinates move
// in the range of W_y.  Those of joints that it shares may not, as where another loop locks one of a universal joint: then
// self-stresses are of several loops, which is left to the factorisation of all bodies.  Rows of these joints are
// unit forces and torques at right angles, so the norm of lambda is that of the reactions F about the joints' points:
// with T z what z adds to them,
//
//     (T'T) z = -T'F                                                                                         (2)
//
// N is orthonormal and part of T, so T'T has no eigenvalue below one.  Blocks of loops that share joints differ from zero.
// Where a mechanism moves in a plane and forces act in it, self-stresses act across it, and z = 0.
#include "methods/rcr/clusters/reactions.h"

#include "base/assert.h"
#include "base/block_cholesky.h"
#include "kinematics/kernels.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 5,   // of a hinge
    NULLS = 3,  // most redundant rows of a loop: one block
    SHARED = 8, // loops at a joint with which each shares it, on average at most
};

// What motions of other coordinates may have outside of the range of W_y: more than positions drift.
#define OUTSIDE 1e-5

// A joint between the bodies of a loop.
typedef struct step {
    int node, joint;
    double side;  // +1: between body 2 of the closing joint and the branch point, -1: body 1
    double share; // of a wrench on body 2 in the reaction of the joint: +1, -1
} step;

// Two loops that share a joint.
typedef struct pair {
    int step[2], loop[2]; // the later loop first
    int block;            // -1: one loop with itself
} pair;

// The rows of a loop at a state: forces along the axes of the world, for a hinge torques about the axes x, y of F2.
// W_y = Q R by reflectors I - b u u'.
typedef struct rows {
    int n, m;         // rows, dependent coordinates
    const int *speed; // [m] of these
    double x[3], y[3];
    double u[ROWS][ROWS], b[ROWS];
} rows;

struct lwi_cluster_reactions {
    const lw_model *model;
    int nloop, npair;
    int *first;           // [nloop + 1] first step of each loop
    step *step;           // [first[nloop]]
    pair *pair;           // [npair]
    lwi_block_cholesky A; // T'T by loops, the last loop first, in blocks of 3 x 3
    double (*point)[3];   // [nnode] P2 of the node's joint
    double (*end)[3];     // [nloop] P2 of the closing joint
    rows *rows;           // [nloop]
    double across[3];     // size of what moves a loop out of planes across the axes of the world
    int *n;               // [nloop] self-stresses
    double (*null)[NULLS][6];   // [nloop] N, about `end`
    double (*torque)[NULLS][3]; // [first[nloop]] their torques about the points of the steps
    double (*z)[6];             // [nloop] the first three numbers are used
};

// ------------------------------------------------------------------------------------------ create

static bool has_unit_rows(const lwi_joint *joint)
{
    for (int k = 0; k < joint->type->nc; k++) {
        const lwi_row_kind kind = joint->type->row[k].kind;
        if (kind == LWI_ROW_THREAD || kind == LWI_ROW_LENGTH || kind == LWI_ROW_CALLBACK)
            return false;
    }
    return true;
}

static bool is_supported(const lwi_clusters *c, const lw_model *model)
{
    if (model->driven || model->nrotor || c->ncoupling || c->parts.ndrive) return false;
    for (int i = 0; i < model->nloop; i++)
        if (lwi_joint_is_rigid(model->joint[model->loop[i]].type)) return false;
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged && !has_unit_rows(&model->joint[j])) return false;
    return true;
}

// +1: the reaction of the node's joint acts on the node, -1: on its parent.
static inline double sign_of(const lwi_node *node)
{
    return node->reversed ? -1 : 1;
}

// Nodes between the bodies of a closing joint and their branch point; `to` NULL: they are only counted.
static int find_steps(const lw_model *model, int joint, step *to)
{
    const lwi_joint *closing = &model->joint[joint];
    int a = model->body_node[closing->body1], b = model->body_node[closing->body2], n = 0;
    while (a != b) {
        const bool second = b > a;
        const int node = second ? b : a;
        const double side = second ? 1 : -1;
        if (to)
            to[n] = (step){.node = node,
                           .joint = model->node[node].joint,
                           .side = side,
                           .share = -side * sign_of(&model->node[node])};
        n++;
        if (second)
            b = model->node[node].parent;
        else
            a = model->node[node].parent;
    }
    return n;
}

// The steps at each node: list[at[k]] ... list[at[k + 1] - 1], in the order of the loops.
static bool sort_steps(const lwi_cluster_reactions *r, lwi_arena *scratch, int **at, int **list)
{
    const int nnode = r->model->nnode, total = r->first[r->nloop];
    int *fill = LWI_PUSH(scratch, int, nnode + 1);
    *at = LWI_PUSH(scratch, int, nnode + 1);
    *list = LWI_PUSH(scratch, int, total);
    if (!fill || !*at || !*list) return false;
    for (int s = 0; s < total; s++) (*at)[r->step[s].node + 1]++;
    for (int k = 0; k < nnode; k++) (*at)[k + 1] += (*at)[k];
    memcpy(fill, *at, (size_t)nnode * sizeof *fill);
    for (int s = 0; s < total; s++) (*list)[fill[r->step[s].node]++] = s;
    return true;
}

static long count_pairs(const lwi_cluster_reactions *r, const int *at)
{
    long n = 0;
    for (int k = 0; k < r->model->nnode; k++) {
        const long of = at[k + 1] - at[k];
        n += of * (of + 1) / 2;
    }
    return n;
}

static void list_pairs(lwi_cluster_reactions *r, const int *at, const int *list, const int *loop)
{
    for (int k = 0; k < r->model->nnode; k++)
        for (int i = at[k]; i < at[k + 1]; i++)
            for (int j = at[k]; j <= i; j++)
                r->pair[r->npair++] = (pair){.step = {list[i], list[j]},
                                             .loop = {loop[list[i]], loop[list[j]]},
                                             .block = -1};
}

static int column_of(const lwi_cluster_reactions *r, int loop)
{
    return r->nloop - 1 - loop;
}

// The pattern of T'T.
static lw_status find_blocks(lwi_cluster_reactions *r, lwi_arena *scratch, lwi_arena *arena)
{
    int(*at)[2] = lwi_arena_push(scratch, (size_t)r->npair, sizeof *at), n = 0;
    if (!at) return LW_ERR_MEMORY;
    for (int i = 0; i < r->npair; i++) {
        const pair *p = &r->pair[i];
        if (p->loop[0] == p->loop[1]) continue;
        at[n][0] = column_of(r, p->loop[1]), at[n++][1] = column_of(r, p->loop[0]);
    }
    TRY(lwi_block_cholesky_create(r->nloop, n, (const int(*)[2])at, arena, &r->A));
    for (int i = 0; i < r->npair; i++) {
        pair *p = &r->pair[i];
        if (p->loop[0] == p->loop[1]) continue;
        p->block =
            lwi_block_cholesky_find(&r->A, column_of(r, p->loop[1]), column_of(r, p->loop[0]));
    }
    return LW_OK;
}

// *sparse: the loops share joints with a small number of others, and T'T fills in little.
static lw_status make_pairs(lwi_cluster_reactions *r, lwi_arena *scratch, lwi_arena *arena,
                            bool *sparse)
{
    int *at, *list, *loop = LWI_PUSH(scratch, int, r->first[r->nloop]);
    *sparse = false;
    if (!loop || !sort_steps(r, scratch, &at, &list)) return LW_ERR_MEMORY;
    const long n = count_pairs(r, at);
    if (n > (long)SHARED * r->first[r->nloop]) return LW_OK;
    for (int i = 0; i < r->nloop; i++)
        for (int s = r->first[i]; s < r->first[i + 1]; s++) loop[s] = i;
    r->pair = LWI_PUSH(arena, pair, n);
    if (!r->pair) return LW_ERR_MEMORY;
    list_pairs(r, at, list, loop);
    LWI_ASSERT(r->npair == n);
    TRY(find_blocks(r, scratch, arena));
    *sparse = r->A.first[r->nloop] <= SHARED * r->nloop;
    return LW_OK;
}

static lw_status make(const lwi_clusters *c, lwi_cluster_reactions *r, lwi_arena *scratch,
                      lwi_arena *arena, bool *sparse)
{
    const lw_model *model = r->model;
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    r->nloop = c->nloop;
    GET(r->first, r->nloop + 1);
    for (int i = 0; i < r->nloop; i++)
        r->first[i + 1] = r->first[i] + find_steps(model, model->loop[i], NULL);
    GET(r->step, r->first[r->nloop]);
    for (int i = 0; i < r->nloop; i++) find_steps(model, model->loop[i], r->step + r->first[i]);
    TRY(make_pairs(r, scratch, arena, sparse));
    if (!*sparse) return LW_OK;
    GET(r->point, model->nnode);
    GET(r->end, r->nloop);
    GET(r->rows, r->nloop);
    GET(r->n, r->nloop);
    GET(r->null, r->nloop);
    GET(r->torque, r->first[r->nloop]);
    GET(r->z, r->nloop);
    return LW_OK;
#undef GET
}

lw_status lwi_cluster_reactions_create(const lwi_clusters *c, const lw_model *model,
                                       lwi_arena *arena, lwi_cluster_reactions **out)
{
    lwi_arena scratch;
    bool sparse = false;
    *out = NULL;
    if (!is_supported(c, model)) return LW_OK;
    lwi_cluster_reactions *r = LWI_PUSH(arena, lwi_cluster_reactions, 1);
    if (!r) return LW_ERR_MEMORY;
    r->model = model;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make(c, r, &scratch, arena, &sparse);
    lwi_arena_free(&scratch);
    if (status == LW_OK && sparse) *out = r;
    return status;
}

// ------------------------------------------------------------------------------------------- loops

// P2 of a joint.
static void point_of(const lwi_joint *joint, const lwi_tree_work *tree, double P[3])
{
    m3_mul_v(P, tree->body_R[joint->body2], joint->r2);
    v3_add(P, P, tree->body_r[joint->body2]);
}

static void place_points(const lwi_cluster_reactions *r, const lwi_tree_work *tree)
{
    const lw_model *model = r->model;
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint >= 0)
            point_of(&model->joint[model->node[k].joint], tree, r->point[k]);
    for (int i = 0; i < r->nloop; i++) point_of(&model->joint[model->loop[i]], tree, r->end[i]);
}

static void closing_rows(const lwi_joint *joint, const lwi_tree_work *tree, rows *to)
{
    const double *R = tree->body_R[joint->body2], *F2 = joint->R2;
    to->n = lwi_joint_is_hinge(joint->type) ? ROWS : 3;
    if (to->n == 3) return;
    m3_mul_v(to->x, R, (const double[3]){F2[0], F2[3], F2[6]});
    m3_mul_v(to->y, R, (const double[3]){F2[1], F2[4], F2[7]});
}

// Of a unit of speed iv: w, what it is in the rows of the loop, and its effort in the reactions so far, if they are given.
static double column_of_speed(const lwi_cluster_reactions *r, const lwi_tree_work *tree, int loop,
                              int k, int iv, double side, const double (*reaction)[6],
                              double w[ROWS])
{
    const lwi_node *node = &r->model->node[k];
    const rows *of = &r->rows[loop];
    const double *S = tree->link[k].S[iv - node->iv];
    const double *R = tree->R[k];
    double v[3] = {0}, turn[3], arm[3], at[3];
    if (lwi_joint_is_hinge(node->type)) {
        v3_set(turn, S[5] * R[2], S[5] * R[5], S[5] * R[8]);
    } else {
        m3_mul_v(v, R, S);
        m3_mul_v(turn, R, S + 3);
    }
    double effort = 0;
    if (reaction) {
        const double *F = reaction[node->joint];
        v3_sub(arm, r->point[k], tree->r[k]);
        v3_cross(at, turn, arm);
        v3_add(at, at, v);
        effort = v3_dot(F, at) + v3_dot(F + 3, turn);
    }
    v3_sub(arm, r->end[loop], tree->r[k]);
    v3_cross_add(v, turn, arm);
    v3_scale(w, side, v);
    w[3] = w[4] = 0;
    if (of->n > 3) w[3] = side * v3_dot(turn, of->x), w[4] = side * v3_dot(turn, of->y);
    return sign_of(node) * effort;
}

// x -= b u u'x
static inline void subtract_reflection(const double *restrict u, double b, double *restrict x)
{
    double sum = 0;
    for (int i = 0; i < ROWS; i++) sum += u[i] * x[i];
    sum *= b;
    for (int i = 0; i < ROWS; i++) x[i] -= sum * u[i];
}

// W_y = Q R: W_y in `u`, R [column][row].  Loops over all rows have constant ends: those of a ball have zeros behind.
static bool reflect(rows *of, double R[ROWS][ROWS])
{
    for (int c = 0; c < of->m; c++) {
        double square = 0, *u = of->u[c];
        for (int i = 0; i < c; i++) R[c][i] = u[i], u[i] = 0;
        for (int i = 0; i < ROWS; i++) square += u[i] * u[i];
        const double size = sqrt(square);
        if (!(size > 0 && size < INFINITY)) return false;
        R[c][c] = u[c] > 0 ? -size : size;
        of->b[c] = 1 / (square - u[c] * R[c][c]);
        u[c] -= R[c][c];
        for (int k = c + 1; k < of->m; k++) subtract_reflection(u, of->b[c], of->u[k]);
    }
    return true;
}

// x := Q x
static void turn_back(const rows *of, double x[ROWS])
{
    for (int c = of->m - 1; c >= 0; c--) subtract_reflection(of->u[c], of->b[c], x);
}

static void wrench_of(const rows *of, const double *x, double w[6])
{
    v3_copy(w, x);
    v3_set(w + 3, 0, 0, 0);
    if (of->n == 3) return;
    v3_scale(w + 3, x[3], of->x);
    v3_axpy(w + 3, x[4], of->y);
}

// F += s [f; n + (P - point) x f]
static inline void add_wrench(double F[6], double s, const double w[6], const double P[3],
                              const double point[3])
{
    double arm[3], n[3];
    v3_sub(arm, P, point);
    v3_cross(n, arm, w);
    v3_axpy(F, s, w);
    for (int i = 0; i < 3; i++) F[3 + i] += s * (w[3 + i] + n[i]);
}

static void add_to_steps(const lwi_cluster_reactions *r, int loop, const double w[6],
                         double (*reaction)[6])
{
    for (int s = r->first[loop]; s < r->first[loop + 1]; s++) {
        const step *at = &r->step[s];
        add_wrench(reaction[at->joint], at->share, w, r->end[loop], r->point[at->node]);
    }
}

static double side_of(const lwi_cluster_reactions *r, int loop, int node)
{
    for (int s = r->first[loop]; s < r->first[loop + 1]; s++)
        if (r->step[s].node == node) return r->step[s].side;
    return 0;
}

// What takes the loop out of the planes across the axes of the world: its axis, motions of its dependent coordinates.
static void add_across(lwi_cluster_reactions *r, const rows *of)
{
    for (int axis = 0; axis < 3; axis++) {
        if (r->across[axis] > 0) continue;
        double sum = fabs(of->x[axis]) + fabs(of->y[axis]);
        for (int i = 0; i < of->m; i++)
            sum += fabs(of->u[i][axis]) + fabs(of->u[i][3]) + fabs(of->u[i][4]);
        r->across[axis] = sum;
    }
}

// (1)
static bool close_loop(lwi_cluster_reactions *r, const lwi_clusters *c, const lwi_cluster *cluster,
                       const lwi_tree_work *tree, double (*reaction)[6])
{
    const int loop = cluster->loop, joint = r->model->loop[loop], m = cluster->ny;
    double x[LWI_CLUSTER_DEPENDENT] = {0}, R[ROWS][ROWS] = {{0}};
    rows *of = &r->rows[loop];
    closing_rows(&r->model->joint[joint], tree, of);
    of->m = m, of->speed = cluster->iv + cluster->nx;
    r->n[loop] = of->n - m;
    if (m > of->n || of->n - m > NULLS) return false;
    for (int i = 0; i < m; i++) {
        const int iv = cluster->iv[cluster->nx + i], k = c->node_of[iv];
        x[i] = column_of_speed(r, tree, loop, k, iv, side_of(r, loop, k),
                               (const double(*)[6])reaction, of->u[i]);
    }
    add_across(r, of);
    if (!reflect(of, R)) return false;
    for (int i = 0; i < m; i++) { // R' x = tau
        for (int k = 0; k < i; k++) x[i] -= R[i][k] * x[k];
        x[i] /= R[i][i];
    }
    turn_back(of, x);
    wrench_of(of, x, reaction[joint]);
    add_to_steps(r, loop, reaction[joint], reaction);
    return true;
}

// ------------------------------------------------------------------------------------ minimum norm

// Whether loops move, and reactions act, in planes across one axis of the world: N is across the plane then, without forces
// in it and torques about the axis, if the rows in the plane, two forces, are not redundant.
static bool is_planar(const lwi_cluster_reactions *r, const double (*reaction)[6])
{
    double sum[6] = {0};
    if (r->across[0] != 0 && r->across[1] != 0 && r->across[2] != 0) return false;
    for (int i = 0; i < r->nloop; i++)
        if (r->rows[i].n != ROWS || r->rows[i].m != 2) return false;
    for (int j = 0; j < r->model->njoint; j++)
        for (int i = 0; i < 6 && !r->model->joint[j].merged; i++) sum[i] += fabs(reaction[j][i]);
    for (int i = 0; i < 3; i++)
        if (r->across[i] == 0 && sum[i] == 0 && sum[3 + (i + 1) % 3] == 0 &&
            sum[3 + (i + 2) % 3] == 0)
            return true;
    return false;
}

static bool is_dependent(const rows *of, int iv)
{
    for (int i = 0; i < of->m; i++)
        if (of->speed[i] == iv) return true;
    return false;
}

// Are N'w below what drift makes, for the motions w of all coordinates of the loop?
static bool are_self_stresses(const lwi_cluster_reactions *r, const lwi_tree_work *tree, int loop)
{
    const rows *of = &r->rows[loop];
    for (int s = r->first[loop]; s < r->first[loop + 1]; s++) {
        const lwi_node *node = &r->model->node[r->step[s].node];
        for (int iv = node->iv; iv < node->iv + node->nv; iv++) {
            double w[ROWS], size = 0, outside = 0;
            if (is_dependent(of, iv)) continue;
            column_of_speed(r, tree, loop, r->step[s].node, iv, r->step[s].side, NULL, w);
            for (int i = 0; i < ROWS; i++) size += w[i] * w[i];
            for (int c = 0; c < of->m; c++) subtract_reflection(of->u[c], of->b[c], w);
            for (int i = of->m; i < ROWS; i++) outside += w[i] * w[i];
            if (!(outside <= OUTSIDE * OUTSIDE * size)) return false;
        }
    }
    return true;
}

// N, and the torques of its wrenches about the points of the joints.
static void put_null(const lwi_cluster_reactions *r, int i)
{
    const rows *of = &r->rows[i];
    for (int n = 0; n < r->n[i]; n++) {
        double *N = r->null[i][n], unit[ROWS] = {0};
        unit[of->m + n] = 1;
        turn_back(of, unit);
        wrench_of(of, unit, N);
        for (int s = r->first[i]; s < r->first[i + 1]; s++) {
            double arm[3];
            v3_sub(arm, r->end[i], r->point[r->step[s].node]);
            v3_cross(r->torque[s][n], arm, N);
            v3_add(r->torque[s][n], r->torque[s][n], N + 3);
        }
    }
}

// T'T
static void put_products(lwi_cluster_reactions *r)
{
    for (int i = 0; i < r->nloop; i++) {
        double *to = r->A.diagonal[column_of(r, i)];
        memset(to, 0, 9 * sizeof *to);
        for (int n = 0; n < NULLS; n++) to[4 * n] = 1; // N'N, or of no self-stress
    }
    for (int i = 0; i < r->A.first[r->nloop]; i++)
        memset(r->A.below[i], 0, 9 * sizeof r->A.below[i][0]);
    for (int i = 0; i < r->npair; i++) {
        const pair *p = &r->pair[i];
        const int a = p->loop[0], b = p->loop[1];
        const double sign = r->step[p->step[0]].side * r->step[p->step[1]].side;
        double *to = p->block < 0 ? r->A.diagonal[column_of(r, a)] : r->A.below[p->block];
        for (int m = 0; m < r->n[a]; m++) // columns are those of the later loop
            for (int n = 0; n < r->n[b]; n++)
                to[3 * m + n] +=
                    sign * (v3_dot(r->null[a][m], r->null[b][n]) +
                            v3_dot(r->torque[p->step[0]][m], r->torque[p->step[1]][n]));
    }
}

// z := -T'F
static void put_right_sides(const lwi_cluster_reactions *r, const double (*reaction)[6])
{
    for (int i = 0; i < r->nloop; i++) {
        double *z = r->z[column_of(r, i)];
        v3_set(z, 0, 0, 0);
        for (int n = 0; n < r->n[i]; n++) {
            z[n] = -v6_dot(r->null[i][n], reaction[r->model->loop[i]]);
            for (int s = r->first[i]; s < r->first[i + 1]; s++) {
                const double *F = reaction[r->step[s].joint];
                z[n] -=
                    r->step[s].share * (v3_dot(r->null[i][n], F) + v3_dot(r->torque[s][n], F + 3));
            }
        }
    }
}

static bool add_self_stresses(lwi_cluster_reactions *r, const lwi_tree_work *tree,
                              double (*reaction)[6])
{
    static const int at[3] = {0, 1, 2};
    for (int i = 0; i < r->nloop; i++) {
        if (r->n[i] > 0 && !are_self_stresses(r, tree, i)) return false;
        put_null(r, i);
    }
    put_products(r);
    put_right_sides(r, (const double(*)[6])reaction);
    if (!lwi_block_cholesky_factor_half(&r->A, 0, &LWI_ALONE)) return false;
    lwi_block_cholesky_solve_half(&r->A, 0, at, &LWI_ALONE, r->z);
    for (int i = 0; i < r->nloop; i++) {
        const double *z = r->z[column_of(r, i)];
        double w[6] = {0};
        for (int n = 0; n < r->n[i]; n++) v6_axpy(w, z[n], r->null[i][n]);
        v6_add(reaction[r->model->loop[i]], reaction[r->model->loop[i]], w);
        add_to_steps(r, i, w, reaction);
    }
    return true;
}

// ------------------------------------------------------------------------------------------- joints

// Takes the efforts of the free coordinates, which are round-off, out of the reaction of a joint of the tree.
static void remove_efforts(const lwi_cluster_reactions *r, const lwi_tree_work *tree, int k,
                           double F[6])
{
    const lwi_node *node = &r->model->node[k];
    const lwi_joint *joint = &r->model->joint[node->joint];
    const double *R = tree->body_R[joint->body2], *F2 = joint->R2;
    double S[LW_JOINT_MAX_NV][6], T[LW_JOINT_MAX_NV][6], own[6], R2[9], out[6] = {0};
    if (node->nv == 0) return;
    if (lwi_joint_is_hinge(node->type)) {
        double axis[3];
        m3_mul_v(axis, R, (const double[3]){F2[2], F2[5], F2[8]});
        v3_axpy(F + 3, -v3_dot(axis, F + 3), axis);
        return;
    }
    m3_mul(R2, R, F2);
    m3_tmul_v(own, R2, F);
    m3_tmul_v(own + 3, R2, F + 3);
    node->type->subspace(node->par, tree->link[k].q, S);
    node->type->effort(node->par, tree->link[k].q, T);
    for (int i = 0; i < node->nv; i++) v6_axpy(out, -v6_dot(S[i], own), T[i]);
    m3_mul_v(own, R2, out);
    m3_mul_v(own + 3, R2, out + 3);
    v6_add(F, F, own);
}

bool lwi_cluster_reactions_find(lwi_cluster_reactions *r, const lwi_clusters *c,
                                const lwi_tree_work *tree, double (*reaction)[6])
{
    double sum = 0;
    for (int i = 0; i < r->nloop; i++) memset(reaction[r->model->loop[i]], 0, sizeof *reaction);
    place_points(r, tree);
    v3_set(r->across, 0, 0, 0);
    for (int i = c->ncluster - 1; i >= 0; i--)
        if (c->cluster[i].loop >= 0 && !close_loop(r, c, &c->cluster[i], tree, reaction))
            return false;
    if (!is_planar(r, (const double(*)[6])reaction) && !add_self_stresses(r, tree, reaction))
        return false;
    for (int k = 0; k < r->model->nnode; k++)
        if (r->model->node[k].joint >= 0)
            remove_efforts(r, tree, k, reaction[r->model->node[k].joint]);
    const lwi_observe_kernels *kernels = r->model->nmerged ? NULL : lwi_observe_kernels_of(0);
    if (kernels) return kernels->finite(reaction[0], 6 * r->model->njoint);
    for (int j = 0; j < r->model->njoint; j++)
        for (int i = 0; i < 6 && !r->model->joint[j].merged; i++)
            sum += reaction[j][i] - reaction[j][i];
    return sum == 0;
}

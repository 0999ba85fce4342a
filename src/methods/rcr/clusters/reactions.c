// reactions.c -- reactions of a mechanism of loop clusters, loop by loop; of minimum norm where rows are redundant.
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
// Where many loops share one joint, as legs do a crank, these are some columns U for the reaction there, and
//
//     (A + U U')^-1 = A^-1 - A^-1 U (1 + U'A^-1 U)^-1 U'A^-1                                                  (3)
//
// with an A that has the other joints alone.
// Where a mechanism moves in a plane and forces act in it, self-stresses act across it, and z = 0.
//
// Without redundant rows (1) is all: N has no columns.
//
// W_y, its factors and N of all loops are found in lanes (simd/loops.c), then w loop by loop.
#include "methods/rcr/clusters/reactions.h"

#include "base/assert.h"
#include "base/block_cholesky.h"
#include "base/cpu.h"
#include "base/linear.h"
#include "kinematics/kernels.h"
#include "methods/rcr/clusters/loops.h"

#include <math.h>
#include <string.h>

LWI_ISA_BUILDS(lwi_loop_kernels, lwi_loop_kernels);

enum {
    ROWS = LWI_LOOP_ROWS,
    NULLS = LWI_LOOP_NULLS,
    FILLED =
        16, // blocks of the factors of T'T for each loop: more than the factorisation over bodies takes
    HUB = 8,   // loops at a joint: more are a product of a small number of columns
    HUBS = 4,  // such joints, at most
    PARTS = 6, // of a reaction
};

typedef lwi_loop_step step;
typedef lwi_loop_coordinate coordinate;

// Two loops that share a joint.
typedef struct pair {
    int step[2], loop[2]; // the later loop first
    int block;            // of A
} pair;

struct lwi_cluster_reactions {
    const lw_model *model;
    bool redundant; // some rows are: else there are no pairs and no self-stresses
    bool reversed;  // some joints of the tree are
    int nloop, npair;
    int *first;               // [nloop + 1] first step of each loop
    step *step;               // [first[nloop]]
    pair *pair;               // [npair]
    lwi_block_cholesky A;     // T'T by loops, the last loop first, in blocks of 3 x 3
    int nhub, *hub_first;     // [nhub + 1] joints with more than HUB loops
    int *hub_step, *hub_loop; // [hub_first[nhub]] the steps there, in the order of the loops
    double (*response)[6];    // [PARTS nhub][nloop] A^-1 U
    const lwi_loop_kernels *kernels;
    // of the planned partition
    bool planned, fits;
    unsigned char *partition;  // [tree_nv]
    int *first_coordinate;     // [nloop + 1]
    coordinate *coordinate;    // [first_coordinate[nloop]] of the steps, dependent ones first
    int *rows, *dependent, *n; // [nloop] rows, dependent coordinates, self-stresses
    int *order;                // [nloop] loops with equal numbers one after the other
    int *same;                 // [nloop] how many these are, at the first of them
    // at a state
    const double (*at)[3]; // [nnode] P2 of the node's joint: origins of link frames, or `point`
    double (*point)[3];    // [nnode] where joints are reversed
    lwi_loop_state *state; // [nloop]
    double (*torque)[NULLS][3]; // [first[nloop]] of N about the points of the steps
    double across[3]; // size of what moves a loop out of planes across the axes of the world
    bool planar;      // at the last state: needs no self-stresses
    double (*z)[6];   // [nloop] the first three numbers are used
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

static bool is_hub(const int *at, int k)
{
    return at[k + 1] - at[k] > HUB;
}

static long count_pairs(const lwi_cluster_reactions *r, const int *at)
{
    long n = 0;
    for (int k = 0; k < r->model->nnode; k++) {
        const long of = is_hub(at, k) ? 0 : at[k + 1] - at[k];
        n += of * (of - 1) / 2;
    }
    return n;
}

static void list_pairs(lwi_cluster_reactions *r, const int *at, const int *list, const int *loop)
{
    for (int k = 0; k < r->model->nnode; k++)
        for (int i = at[k]; i < at[k + 1] && !is_hub(at, k); i++)
            for (int j = at[k]; j < i; j++)
                r->pair[r->npair++] =
                    (pair){.step = {list[i], list[j]}, .loop = {loop[list[i]], loop[list[j]]}};
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
        LWI_ASSERT(p->loop[1] < p->loop[0]);
        at[n][0] = column_of(r, p->loop[1]), at[n++][1] = column_of(r, p->loop[0]);
    }
    TRY(lwi_block_cholesky_create(r->nloop, n, (const int(*)[2])at, arena, &r->A));
    for (int i = 0; i < r->npair; i++) {
        pair *p = &r->pair[i];
        p->block =
            lwi_block_cholesky_find(&r->A, column_of(r, p->loop[1]), column_of(r, p->loop[0]));
    }
    return LW_OK;
}

// *pays: the hubs are not so many that their columns cost more than blocks.
static lw_status list_hubs(lwi_cluster_reactions *r, const int *at, const int *list,
                           const int *loop, lwi_arena *arena, bool *pays)
{
    int total = 0;
    for (int k = 0; k < r->model->nnode; k++)
        if (is_hub(at, k)) r->nhub++, total += at[k + 1] - at[k];
    *pays = r->nhub <= HUBS;
    if (!*pays || !r->nhub) return LW_OK;
    r->hub_first = LWI_PUSH(arena, int, r->nhub + 1);
    r->hub_step = LWI_PUSH(arena, int, total);
    r->hub_loop = LWI_PUSH(arena, int, total);
    r->response = lwi_arena_push(arena, (size_t)(PARTS * r->nhub * r->nloop), sizeof *r->response);
    if (!r->hub_first || !r->hub_step || !r->hub_loop || !r->response) return LW_ERR_MEMORY;
    for (int k = 0, h = 0, n = 0; k < r->model->nnode; k++) {
        if (!is_hub(at, k)) continue;
        for (int i = at[k]; i < at[k + 1]; i++, n++)
            r->hub_step[n] = list[i], r->hub_loop[n] = loop[list[i]];
        r->hub_first[++h] = n;
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
    bool pays;
    for (int i = 0; i < r->nloop; i++)
        for (int s = r->first[i]; s < r->first[i + 1]; s++) loop[s] = i;
    TRY(list_hubs(r, at, list, loop, arena, &pays));
    if (!pays) return LW_OK;
    r->pair = LWI_PUSH(arena, pair, n);
    if (!r->pair) return LW_ERR_MEMORY;
    list_pairs(r, at, list, loop);
    LWI_ASSERT(r->npair == n);
    TRY(find_blocks(r, scratch, arena));
    *sparse = r->A.first[r->nloop] <= FILLED * r->nloop;
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
    *sparse = !r->redundant;
    if (r->redundant) TRY(make_pairs(r, scratch, arena, sparse));
    if (!*sparse) return LW_OK;
    GET(r->first_coordinate, r->nloop + 1);
    for (int i = 0; i < r->nloop; i++) {
        r->first_coordinate[i + 1] = r->first_coordinate[i];
        for (int s = r->first[i]; s < r->first[i + 1]; s++)
            r->first_coordinate[i + 1] += model->node[r->step[s].node].nv;
    }
    GET(r->coordinate, r->first_coordinate[r->nloop]);
    GET(r->partition, model->tree_nv);
    GET(r->rows, r->nloop);
    GET(r->dependent, r->nloop);
    GET(r->n, r->nloop);
    GET(r->order, r->nloop);
    GET(r->same, r->nloop);
    for (int k = 0; k < model->nnode; k++)
        r->reversed |= model->node[k].joint >= 0 && model->node[k].reversed;
    if (r->reversed) GET(r->point, model->nnode);
    GET(r->state, r->nloop);
    GET(r->torque, r->first[r->nloop]);
    GET(r->z, r->nloop);
    return LW_OK;
#undef GET
}

lw_status lwi_cluster_reactions_create(const lwi_clusters *c, const lw_model *model, bool redundant,
                                       int width, lwi_arena *arena, lwi_cluster_reactions **out)
{
    lwi_arena scratch;
    bool sparse = false;
    const int isa = lwi_isa_of(width);
    *out = NULL;
    if (isa < 0 || !builds[isa] || !is_supported(c, model)) return LW_OK;
    lwi_cluster_reactions *r = LWI_PUSH(arena, lwi_cluster_reactions, 1);
    if (!r) return LW_ERR_MEMORY;
    r->model = model;
    r->redundant = redundant;
    r->kernels = builds[isa];
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make(c, r, &scratch, arena, &sparse);
    lwi_arena_free(&scratch);
    if (status == LW_OK && sparse) *out = r;
    return status;
}

// -------------------------------------------------------------------------------------------- plan

static bool is_among(const coordinate *list, int n, int node, int column)
{
    for (int i = 0; i < n; i++)
        if (list[i].node == node && list[i].column == column) return true;
    return false;
}

// @return false: a dependent coordinate is not of the loop
static bool list_coordinates(lwi_cluster_reactions *r, const lwi_clusters *c,
                             const lwi_cluster *cluster)
{
    const lw_model *model = r->model;
    const int i = cluster->loop, m = cluster->ny;
    coordinate *to = r->coordinate + r->first_coordinate[i];
    int n = 0;
    if (m > ROWS || r->first_coordinate[i] + m > r->first_coordinate[i + 1]) return false;
    for (int y = 0; y < m; y++) {
        const int iv = cluster->iv[cluster->nx + y], k = c->node_of[iv];
        for (int s = r->first[i]; s < r->first[i + 1]; s++)
            if (r->step[s].node == k)
                to[n++] = (coordinate){.node = k,
                                       .column = iv - model->node[k].iv,
                                       .side = (float)r->step[s].side,
                                       .sign = (float)sign_of(&model->node[k])};
        if (n != y + 1) return false;
    }
    for (int s = r->first[i]; s < r->first[i + 1]; s++)
        for (int j = 0; j < model->node[r->step[s].node].nv; j++)
            if (!is_among(to, m, r->step[s].node, j))
                to[n++] = (coordinate){
                    .node = r->step[s].node, .column = j, .side = (float)r->step[s].side};
    LWI_ASSERT(r->first_coordinate[i] + n == r->first_coordinate[i + 1]);
    r->dependent[i] = m;
    r->rows[i] = model->joint[model->loop[i]].type->nc;
    r->n[i] = r->rows[i] - m;
    return r->n[i] >= 0 && r->n[i] <= NULLS;
}

static int coordinates_of(const lwi_cluster_reactions *r, int i)
{
    return r->first_coordinate[i + 1] - r->first_coordinate[i];
}

static int steps_of(const lwi_cluster_reactions *r, int i)
{
    return r->first[i + 1] - r->first[i];
}

static bool are_alike(const lwi_cluster_reactions *r, int i, int j)
{
    return r->rows[i] == r->rows[j] && r->dependent[i] == r->dependent[j] &&
           coordinates_of(r, i) == coordinates_of(r, j) && steps_of(r, i) == steps_of(r, j);
}

// Numbers of loops of clusters are small, and so are those of their kinds.
static void order_loops(lwi_cluster_reactions *r)
{
    int n = 0;
    for (int i = 0; i < r->nloop; i++) r->same[i] = 0; // not in the order yet
    for (int i = 0; i < r->nloop; i++) {
        if (r->same[i]) continue;
        for (int j = i; j < r->nloop; j++)
            if (!r->same[j] && are_alike(r, i, j)) r->order[n++] = j, r->same[j] = 1;
    }
    for (int first = 0, end; first < r->nloop; first = end) {
        for (end = first + 1; end < r->nloop && are_alike(r, r->order[first], r->order[end]);)
            end++;
        r->same[first] = end - first;
    }
}

bool lwi_cluster_reactions_fit(lwi_cluster_reactions *r, const lwi_clusters *c)
{
    const size_t bytes = (size_t)r->model->tree_nv;
    if (r->planned && !memcmp(r->partition, c->planned, bytes)) return r->fits;
    memcpy(r->partition, c->planned, bytes);
    r->planned = r->fits = true;
    for (int i = 0; i < r->nloop; i++) r->rows[i] = 0;
    for (int i = 0; i < c->ncluster; i++)
        if (c->cluster[i].nloop > 1 || // (1) is one system of several loops
            (c->cluster[i].loop >= 0 && !list_coordinates(r, c, &c->cluster[i])))
            r->fits = false;
    for (int i = 0; i < r->nloop; i++)
        r->fits = r->fits && r->rows[i] > 0 && (r->redundant || r->n[i] == 0);
    if (r->fits) order_loops(r);
    return r->fits;
}

// ------------------------------------------------------------------------------------------- loops

// P2 of the joints of the tree: the origin of the link frame, or that of F2 on the parent.
static void place_points(lwi_cluster_reactions *r, const lwi_tree_work *tree)
{
    const lw_model *model = r->model;
    r->at = (const double(*)[3])tree->r;
    if (!r->reversed) return;
    r->at = (const double(*)[3])r->point;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0) continue;
        v3_copy(r->point[k], tree->r[k]);
        if (!node->reversed) continue;
        const lwi_joint *joint = &model->joint[node->joint];
        m3_mul_v(r->point[k], tree->body_R[joint->body2], joint->r2);
        v3_add(r->point[k], r->point[k], tree->body_r[joint->body2]);
    }
}

// The states of loops with equal numbers; lanes without a loop repeat the first one.
static bool solve_alike(lwi_cluster_reactions *r, const int *loop, int count, lwi_loop_batch *b)
{
    const int width = r->kernels->width, first = loop[0];
    bool valid = true;
    b->rows = r->rows[first];
    b->dependent = r->dependent[first];
    b->coordinates = coordinates_of(r, first);
    b->steps = steps_of(r, first);
    for (int n = 0; n < count; n += width) {
        for (int l = 0; l < width; l++) {
            const int i = loop[n + l < count ? n + l : n];
            b->joint[l] = r->model->loop[i];
            b->coordinate[l] = r->coordinate + r->first_coordinate[i];
            b->step[l] = r->step + r->first[i];
            b->state[l] = &r->state[i];
            b->torque[l] = r->torque + r->first[i];
        }
        valid = r->kernels->solve(b) && valid;
    }
    return valid;
}

// *follow: false where self-stresses are of several loops.  @return false: a loop has dependent rows of another number
static bool find_states(lwi_cluster_reactions *r, const lwi_tree_work *tree, bool null,
                        bool *follow)
{
    lwi_loop_batch b = {
        .model = r->model, .tree = tree, .point = r->at, .null = null, .follow = true};
    bool valid = true;
    for (int n = 0; n < r->nloop; n += r->same[n])
        valid = solve_alike(r, r->order + n, r->same[n], &b) && valid;
    v3_copy(r->across, b.across);
    *follow = b.follow;
    return valid;
}

static void add_to_steps(const lwi_cluster_reactions *r, int loop, const double w[6],
                         double (*reaction)[6])
{
    r->kernels->pass_on(r->step + r->first[loop], steps_of(r, loop), w, r->state[loop].end, r->at,
                        reaction);
}

// (1)
static void close_loop(const lwi_cluster_reactions *r, int loop, double (*reaction)[6])
{
    double *w = reaction[r->model->loop[loop]];
    r->kernels->close(r->model, &r->state[loop], r->coordinate + r->first_coordinate[loop],
                      r->dependent[loop], (const double(*)[6])reaction, w);
    add_to_steps(r, loop, w, reaction);
}

// ------------------------------------------------------------------------------------ minimum norm

// Whether loops move, and reactions act, in planes across one axis of the world: N is across the plane then, without forces
// in it and torques about the axis, if the rows in the plane, two forces, are not redundant.
static bool is_planar(const lwi_cluster_reactions *r, const double (*reaction)[6])
{
    double sum[6] = {0};
    if (r->across[0] != 0 && r->across[1] != 0 && r->across[2] != 0) return false;
    for (int i = 0; i < r->nloop; i++)
        if (r->rows[i] != ROWS || r->dependent[i] != 2) return false;
    const bool merged = r->model->nmerged > 0;
    for (int j = 0; j < r->model->njoint; j++) {
        if (merged && r->model->joint[j].merged) continue;
        for (int i = 0; i < 6; i++) sum[i] += fabs(reaction[j][i]);
    }
    for (int i = 0; i < 3; i++)
        if (r->across[i] == 0 && sum[i] == 0 && sum[3 + (i + 1) % 3] == 0 &&
            sum[3 + (i + 2) % 3] == 0)
            return true;
    return false;
}

// T'T, or A
static void put_products(lwi_cluster_reactions *r)
{
    for (int i = 0; i < r->nloop; i++) {
        double *to = r->A.diagonal[column_of(r, i)];
        memcpy(to, r->state[i].product, sizeof r->state[i].product);
    }
    for (int i = 0; r->nhub && i < r->hub_first[r->nhub]; i++) {
        const int loop = r->hub_loop[i];
        const double(*torque)[3] = (const double(*)[3])r->torque[r->hub_step[i]];
        r->kernels->products(&r->state[loop], torque, r->n[loop], &r->state[loop], torque,
                             r->n[loop], -1, r->A.diagonal[column_of(r, loop)]);
    }
    for (int i = 0; i < r->A.first[r->nloop]; i++)
        memset(r->A.below[i], 0, 9 * sizeof r->A.below[i][0]);
    for (int i = 0; i < r->npair; i++) {
        const pair *p = &r->pair[i];
        const int a = p->loop[0], b = p->loop[1];
        const double sign = r->step[p->step[0]].side * r->step[p->step[1]].side;
        r->kernels->products(&r->state[a], (const double(*)[3])r->torque[p->step[0]], r->n[a],
                             &r->state[b], (const double(*)[3])r->torque[p->step[1]], r->n[b], sign,
                             r->A.below[p->block]); // columns are those of the later loop
    }
}

// z := -T'F
static void put_right_sides(const lwi_cluster_reactions *r, const double (*reaction)[6])
{
    for (int i = 0; i < r->nloop; i++) {
        double *z = r->z[column_of(r, i)];
        v3_set(z, 0, 0, 0);
        r->kernels->right_side(r->step + r->first[i], steps_of(r, i), &r->state[i],
                               (const double(*)[NULLS][3])(r->torque + r->first[i]), r->n[i],
                               reaction[r->model->loop[i]], reaction, z);
    }
}

// x [columns] := A^-1 x
static void solve_for(const lwi_cluster_reactions *r, double (*x)[6])
{
    static const int at[3] = {0, 1, 2};
    lwi_block_cholesky_solve_half(&r->A, 0, at, &LWI_ALONE, x);
}

// What self-stress m of a loop puts on part p of the reaction at a hub, where it has a step.
static double part_of_stress(const lwi_cluster_reactions *r, int at, int m, int p)
{
    const int s = r->hub_step[at];
    const lwi_loop_state *state = &r->state[r->hub_loop[at]];
    return r->step[s].side * (p < 3 ? state->null[m][p] : r->torque[s][m][p - 3]);
}

// Row p of hub h of U'x.
static double times_hub(const lwi_cluster_reactions *r, int h, int p, const double (*x)[6])
{
    double sum = 0;
    for (int i = r->hub_first[h]; i < r->hub_first[h + 1]; i++)
        for (int m = 0; m < r->n[r->hub_loop[i]]; m++)
            sum += part_of_stress(r, i, m, p) * x[column_of(r, r->hub_loop[i])][m];
    return sum;
}

// r->response := A^-1 U
static void find_responses(lwi_cluster_reactions *r)
{
    memset(r->response, 0, (size_t)(PARTS * r->nhub * r->nloop) * sizeof *r->response);
    for (int h = 0; h < r->nhub; h++)
        for (int p = 0; p < PARTS; p++) {
            double(*x)[6] = r->response + (size_t)((PARTS * h + p) * r->nloop);
            for (int i = r->hub_first[h]; i < r->hub_first[h + 1]; i++)
                for (int m = 0; m < r->n[r->hub_loop[i]]; m++)
                    x[column_of(r, r->hub_loop[i])][m] = part_of_stress(r, i, m, p);
            solve_for(r, x);
        }
}

// z := (A + U U')^-1 b from A^-1 b.                                                                        (3)
static bool join_hubs(lwi_cluster_reactions *r)
{
    const int n = PARTS * r->nhub;
    double S[PARTS * HUBS * PARTS * HUBS], y[PARTS * HUBS];
    if (!n) return true;
    find_responses(r);
    for (int i = 0; i < n; i++) {
        y[i] = times_hub(r, i / PARTS, i % PARTS, (const double(*)[6])r->z);
        for (int j = 0; j <= i; j++)
            S[n * i + j] =
                (i == j) + times_hub(r, i / PARTS, i % PARTS,
                                     (const double(*)[6])(r->response + (size_t)(j * r->nloop)));
    }
    if (lwi_cholesky(n, S, 0) >= 0) return false;
    lwi_lower_solve(n, S, y);
    lwi_lower_tsolve(n, S, y);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < r->nloop; i++)
            for (int m = 0; m < NULLS; m++) r->z[i][m] -= y[j] * r->response[j * r->nloop + i][m];
    return true;
}

static bool add_self_stresses(lwi_cluster_reactions *r, double (*reaction)[6])
{
    put_products(r);
    put_right_sides(r, (const double(*)[6])reaction);
    if (!lwi_block_cholesky_factor_half(&r->A, 0, &LWI_ALONE)) return false;
    solve_for(r, r->z);
    if (!join_hubs(r)) return false;
    for (int i = 0; i < r->nloop; i++) {
        double w[6];
        r->kernels->stress(&r->state[i], r->n[i], r->z[column_of(r, i)], w,
                           reaction[r->model->loop[i]]);
        add_to_steps(r, i, w, reaction);
    }
    return true;
}

// ------------------------------------------------------------------------------------------- joints

// The same where the link frame is F2 and efforts act along S.
static void remove_along(const double R[9], const lwi_link *link, int nv, double F[6])
{
    double own[6], out[6] = {0};
    m3_tmul_v(own, R, F);
    m3_tmul_v(own + 3, R, F + 3);
    for (int i = 0; i < nv; i++) v6_axpy(out, -v6_dot(link->S[i], own), link->S[i]);
    m3_mul_v(own, R, out);
    m3_mul_v(own + 3, R, out + 3);
    v6_add(F, F, own);
}

// Torques about z1 = (0, s, c) and x2 of F2, the link frame.
static void remove_torques(const double R[9], const lwi_link *link, double n[3])
{
    const double s = link->S[0][4], c = link->S[0][5];
    double own[3];
    m3_tmul_v(own, R, n);
    const double first = s * own[1] + c * own[2], out[3] = {-own[0], -first * s, -first * c};
    m3_mul_v(own, R, out);
    v3_add(n, n, own);
}

static void remove_in_general(const lwi_node *node, const double R[9], const double F2[9],
                              const lwi_link *link, double F[6])
{
    double S[LW_JOINT_MAX_NV][6], T[LW_JOINT_MAX_NV][6], own[6], R2[9], out[6] = {0};
    m3_mul(R2, R, F2);
    m3_tmul_v(own, R2, F);
    m3_tmul_v(own + 3, R2, F + 3);
    node->type->subspace(node->par, link->q, S);
    node->type->effort(node->par, link->q, T);
    for (int i = 0; i < node->nv; i++) v6_axpy(out, -v6_dot(S[i], own), T[i]);
    m3_mul_v(own, R2, out);
    m3_mul_v(own + 3, R2, out + 3);
    v6_add(F, F, own);
}

// Takes the efforts of the free coordinates, which are round-off, out of the reaction of a joint of the tree.
static inline void remove_efforts(const lwi_cluster_reactions *r, const lwi_tree_work *tree, int k,
                                  double F[6])
{
    const lwi_node *node = &r->model->node[k];
    const double *own_R = tree->R[k];
    if (node->nv == 0) return;
    if (lwi_joint_is_hinge(node->type) && !node->reversed) {
        const double axis[3] = {own_R[2], own_R[5], own_R[8]};
        v3_axpy(F + 3, -v3_dot(axis, F + 3), axis);
        return;
    }
    const lwi_joint *joint = &r->model->joint[node->joint];
    const double *R = tree->body_R[joint->body2], *F2 = joint->R2;
    if (lwi_joint_is_hinge(node->type)) {
        double axis[3];
        m3_mul_v(axis, R, (const double[3]){F2[2], F2[5], F2[8]});
        v3_axpy(F + 3, -v3_dot(axis, F + 3), axis);
    } else if (lwi_node_is_universal(node)) {
        remove_torques(own_R, &tree->link[k], F + 3);
    } else if (node->type->effort == node->type->subspace && !node->reversed && !node->driven) {
        remove_along(own_R, &tree->link[k], node->nv, F);
    } else {
        remove_in_general(node, R, F2, &tree->link[k], F);
    }
}

bool lwi_cluster_reactions_find(lwi_cluster_reactions *r, const lwi_clusters *c,
                                const lwi_tree_work *tree, double (*reaction)[6])
{
    double sum = 0;
    if (!lwi_cluster_reactions_fit(r, c)) return false;
    place_points(r, tree);
    const bool null = r->redundant && !r->planar; // as the last time
    bool follow;
    if (!find_states(r, tree, null, &follow)) return false;
    for (int i = c->ncluster - 1; i >= 0; i--)
        if (c->cluster[i].loop >= 0) close_loop(r, c->cluster[i].loop, reaction);
    r->planar = r->redundant && is_planar(r, (const double(*)[6])reaction);
    if (r->redundant && !r->planar) {
        if (!null && !find_states(r, tree, true, &follow)) return false;
        if (!follow || !add_self_stresses(r, reaction)) return false;
    }
    for (int k = 0; k < r->model->nnode; k++) {
        k = r->kernels->remove_efforts(r->model, tree, k, r->model->nnode, reaction);
        if (k < r->model->nnode && r->model->node[k].joint >= 0)
            remove_efforts(r, tree, k, reaction[r->model->node[k].joint]);
    }
    const lwi_observe_kernels *kernels = r->model->nmerged ? NULL : lwi_observe_kernels_of(0);
    if (kernels) return kernels->finite(reaction[0], 6 * r->model->njoint);
    for (int j = 0; j < r->model->njoint; j++)
        for (int i = 0; i < 6 && !r->model->joint[j].merged; i++)
            sum += reaction[j][i] - reaction[j][i];
    return sum == 0;
}

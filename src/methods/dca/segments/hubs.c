// hubs.c -- the bodies between the paths of a net (hubs.h).
#include "methods/dca/segments/hubs.h"

#include "base/assert.h"
#include "loops/cut.h"
#include "tree/normal_form/build.h"
#include "spatial/inertia.h"
#include "spatial/rotation.h"

#include <float.h>

enum { ROWS = LWI_PATH_HANDLE };

// A pivot above this share of its row is a new direction: at positions closed to round-off.
#define RANK LWI_SYSTEM_RANK

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

// ------------------------------------------------------------------------------------------ create

static void closure_of(const lwi_hubs *hubs, int joint, double t, lwi_closure *closure)
{
    lwi_joint_closure(hubs->model, joint, t, &hubs->system->motion, LWI_CLOSURE_POSITION, closure);
}

static void add_edge(lwi_hubs *hubs, lwi_hub_edge edge)
{
    edge.row = hubs->nrow;
    edge.core = -1;
    hubs->nrow += edge.rows;
    hubs->edge[hubs->nedge++] = edge;
}

// Returns the edge, -1: the joint has no rows.
static int add_joint(lwi_hubs *hubs, int joint)
{
    const lw_model *model = hubs->model;
    lwi_closure closure;
    if (joint < 0 || lwi_joint_row_count(model, joint) == 0) return -1;
    closure_of(hubs, joint, 0, &closure);
    lwi_hub_edge edge = {.joint = joint, .rows = closure.n, .n = closure.nbody};
    for (int i = 0; i < closure.nbody; i++)
        edge.body[i] = hubs->plan->hub_of[model->body_node[closure.body[i]]];
    add_edge(hubs, edge);
    return hubs->nedge - 1;
}

static int add_path_edge(lwi_hubs *hubs, int path)
{
    const lwi_net_path *own = &hubs->plan->path[path];
    add_edge(hubs, (lwi_hub_edge){.joint = -1 - path,
                                  .rows = ROWS,
                                  .n = own->from < 0 ? 1 : 2,
                                  .body = {own->to, own->from}});
    return hubs->nedge - 1;
}

static lw_status make_edges(lwi_hubs *hubs, lwi_arena *arena)
{
    const lw_model *model = hubs->model;
    const lwi_net_plan *plan = hubs->plan;
    GET(hubs->edge, plan->nhub + model->nloop);
    GET(hubs->loop_edge, model->nloop);
    for (int h = 0; h < plan->nhub; h++) {
        const int path = plan->hub[h].path;
        hubs->hub[h].core = -1;
        hubs->hub[h].edge = path < 0 ? add_joint(hubs, model->node[plan->hub[h].node].joint)
                                     : add_path_edge(hubs, path);
    }
    for (int i = 0; i < model->nloop; i++) {
        const int e = hubs->loop_edge[i] = add_joint(hubs, model->loop[i]);
        for (int k = 0; e >= 0 && k < hubs->edge[e].n; k++)
            for (int h = hubs->edge[e].body[k]; h >= 0; h = plan->hub[h].parent) {
                if (hubs->hub[h].core == 0) break;
                hubs->hub[h].core = 0; // numbered below
            }
    }
    GET(hubs->c, hubs->nrow);
    GET(hubs->lambda, hubs->nrow);
    GET(hubs->sum, hubs->nrow);
    GET(hubs->c0, hubs->nrow);
    return LW_OK;
}

static bool in_core(const lwi_hubs *hubs, const lwi_hub_edge *edge)
{
    return hubs->hub[edge->body[0]].core >= 0 &&
           (edge->n < 2 || hubs->hub[edge->body[1]].core >= 0);
}

// The hubs between the ground and joints that close loops, with a compliance for each path between them.
static lw_status make_core(lwi_hubs *hubs, lwi_pool *pool, lwi_arena *arena)
{
    int nbody = 0, nedge = 0;
    lwi_plan_edge *edge;
    GET(edge, hubs->nedge);
    for (int h = 0; h < hubs->plan->nhub; h++)
        if (hubs->hub[h].core >= 0) hubs->hub[h].core = nbody++;
    for (int e = 0; e < hubs->nedge; e++) {
        lwi_hub_edge *own = &hubs->edge[e];
        if (!in_core(hubs, own)) continue;
        lwi_plan_edge *to = &edge[own->core = nedge++];
        *to = (lwi_plan_edge){.rows = own->rows, .n = own->n, .ground = own->n < 2};
        for (int i = 0; i < own->n; i++) to->body[i] = hubs->hub[own->body[i]].core;
        if (own->joint < 0) to->body[to->n++] = nbody++;
    }
    const lwi_plan_graph graph = {nbody, nedge, edge};
    TRY(lwi_plan_create(&graph, LW_PLAN_AUTO, arena, &hubs->order));
    TRY(lwi_elim_create(&hubs->order, arena, &hubs->elim));
    if (pool && lwi_elim_worth_threads(hubs->elim))
        TRY(lwi_elim_threads(hubs->elim, pool, LWI_ELIM_BY_SUBTREE, arena));
    GET(hubs->z, nbody);
    GET(hubs->core_c, hubs->order.nrow);
    GET(hubs->core_lambda, hubs->order.nrow);
    return LW_OK;
}

lw_status lwi_hubs_create(const lwi_net_paths *paths, lwi_tree_work *tree, lwi_system *system,
                          lwi_pool *pool, lwi_arena *arena, lwi_hubs *hubs)
{
    const lwi_net_plan *plan = paths->plan;
    *hubs = (lwi_hubs){
        .model = system->model, .plan = plan, .paths = paths, .tree = tree, .system = system};
    GET(hubs->hub, plan->nhub);
    GET(hubs->path, plan->npath);
    GET(hubs->x, plan->nhub);
    TRY(make_edges(hubs, arena));
    return hubs->model->nloop ? make_core(hubs, pool, arena) : LW_OK;
}

// ------------------------------------------------------------------------------------------- poses

// The five components of the velocity at a point of a body, in axes R, from that of its mass centre.
static void components(double X[5][6], const double R[9], const double point[3],
                       const double centre[3])
{
    double arm[3];
    v3_sub(arm, point, centre);
    for (int c = 0; c < ROWS; c++) {
        const int column = c < 2 ? c : c - 2;
        const double axis[3] = {R[column], R[3 + column], R[6 + column]};
        v6_zero(X[c]);
        if (c < 2) {
            v3_copy(X[c] + 3, axis);
        } else {
            v3_copy(X[c], axis);
            v3_cross(X[c] + 3, arm, axis);
        }
    }
}

static lwi_k_frame frame_of(const double R[9], const double r[3])
{
    lwi_k_frame f;
    memcpy(f.R, R, sizeof f.R);
    v3_copy(f.r, r);
    return f;
}

static int body_of(const lwi_hubs *hubs, int hub)
{
    return hubs->model->node[hubs->plan->hub[hub].node].body;
}

static void place_head(lwi_hubs *hubs, int i)
{
    static const double world[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3];
    const lwi_net_path *path = &hubs->plan->path[i];
    lwi_hub_path *own = &hubs->path[i];
    const int k = path->from < 0 ? -1 : hubs->plan->hub[path->from].node;
    const lwi_k_frame carrier =
        k < 0 ? frame_of(world, origin) : frame_of(hubs->tree->R[k], hubs->tree->r[k]);
    lwi_k_frame head;
    lwi_k_compose(&head, &carrier, &path->head);
    memcpy(own->R, head.R, sizeof own->R);
    v3_copy(own->r, head.r);
    if (k >= 0) components(own->X, own->R, own->r, hubs->system->r[body_of(hubs, path->from)]);
}

// The next head at the tip of a path, in the world.
static lwi_k_frame tip_of(const lwi_hubs *hubs, int i)
{
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    const lwi_k_frame head = frame_of(hubs->path[i].R, hubs->path[i].r);
    lwi_k_frame tip;
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) tip.R[3 * k + c] = end->R[3 * c + k][l];
        tip.r[c] = end->r[c][l];
    }
    lwi_k_compose(&tip, &head, &tip);
    return tip;
}

// Link frame of a hub at the tip of a path.
static void place_at_tip(lwi_hubs *hubs, int h, const lwi_k_frame *tip, const double *q)
{
    const lwi_net_hub *hub = &hubs->plan->hub[h];
    const lwi_net_path *path = &hubs->plan->path[hub->path];
    const lwi_k_frame turn = lwi_k_screw_z(path->angle + q[hubs->model->node[hub->node].iq], 0);
    lwi_k_frame f;
    lwi_k_compose(&f, tip, &turn);
    lwi_k_compose(&f, &f, &path->link);
    memcpy(hubs->tree->R[hub->node], f.R, sizeof f.R);
    v3_copy(hubs->tree->r[hub->node], f.r);
}

static void place_at_joint(const lwi_hubs *hubs, int k)
{
    lwi_tree_work *tree = hubs->tree;
    const lwi_link *link = &tree->link[k];
    const int parent = hubs->model->node[k].parent;
    if (parent < 0) {
        memcpy(tree->R[k], link->R, sizeof tree->R[k]);
        v3_copy(tree->r[k], link->r);
        return;
    }
    m3_mul(tree->R[k], tree->R[parent], link->R);
    m3_mul_v(tree->r[k], tree->R[parent], link->r);
    v3_add(tree->r[k], tree->r[k], tree->r[parent]);
}

void lwi_hubs_place(lwi_hubs *hubs, double t, const double *q)
{
    const lw_model *model = hubs->model;
    const lwi_net_plan *plan = hubs->plan;
    lwi_tree_work *tree = hubs->tree;
    lwi_system *s = hubs->system;
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) place_head(hubs, i);
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node, path = plan->hub[h].path;
        const lwi_node *node = &model->node[k];
        lwi_k_frame tip;
        lwi_link_position(model, k, t, q + node->iq, &tree->link[k]);
        if (path >= 0) {
            tip = tip_of(hubs, path);
            place_at_tip(hubs, h, &tip, q);
        } else {
            place_at_joint(hubs, k);
        }
        m3_mul(s->R[node->body], tree->R[k], node->c_R);
        m3_mul_v(s->r[node->body], tree->R[k], node->c_r);
        v3_add(s->r[node->body], s->r[node->body], tree->r[k]);
        if (path >= 0) components(hubs->path[path].Y, tip.R, tip.r, s->r[node->body]);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            place_head(hubs, plan->carries[i]);
    }
}

// --------------------------------------------------------------------------------------- matrices

static int triangle(int i, int k)
{
    return i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

// The inertia of a hub's body.
static void own_inertia(const lwi_hubs *hubs, int h, double I[6][6])
{
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const int b = body_of(hubs, h);
    const lwi_body *body = &hubs->model->body[b];
    double J[6];
    s3_rotate(J, hubs->system->R[b], body->inertia);
    memset(I, 0, sizeof(double[6][6]));
    for (int i = 0; i < 3; i++) {
        I[i][i] = body->mass;
        for (int k = 0; k < 3; k++) I[3 + i][3 + k] = J[at[i][k]];
    }
}

// I += X'M X of a path that the hub carries.
static void add_path(const lwi_hubs *hubs, int i, double I[6][6])
{
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    const double(*X)[6] = (const double(*)[6])hubs->path[i].X;
    for (int r = 0; r < ROWS; r++) {
        double MX[6] = {0};
        for (int c = 0; c < ROWS; c++) v6_axpy(MX, end->M[triangle(r, c)][l], X[c]);
        for (int k = 0; k < 6; k++) v6_axpy(I[k], X[r][k], MX);
    }
}

// x := K x
static void apply_mobility(lwi_hub *hub, double x[6])
{
    cholesky6_forward(hub->L, 6, x);
    cholesky6_backward(hub->L, 6, x);
}

// Y, -T'X of a path's edge.
static void path_rows(const lwi_hubs *hubs, lwi_hub_edge *edge)
{
    const int i = -1 - edge->joint;
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    memcpy(edge->J[0], hubs->path[i].Y, sizeof hubs->path[i].Y);
    for (int r = 0; edge->n > 1 && r < ROWS; r++) {
        v6_zero(edge->J[1][r]);
        for (int c = 0; c < ROWS; c++)
            v6_axpy(edge->J[1][r], -end->T[ROWS * c + r][l], hubs->path[i].X[c]);
    }
}

static void joint_rows(const lwi_hubs *hubs, lwi_hub_edge *edge, double t)
{
    lwi_closure closure;
    closure_of(hubs, edge->joint, t, &closure);
    for (int i = 0; i < closure.nbody; i++)
        memcpy(edge->J[i], closure.J[i], (size_t)closure.n * sizeof *closure.J[i]);
}

// The compliance of a path between two rows.
static double compliance(const lwi_hubs *hubs, const lwi_hub_edge *edge, int r, int c)
{
    int l;
    if (edge->joint >= 0) return 0;
    const lwi_path_end *end =
        lwi_net_end(hubs->paths, hubs->plan->path[-1 - edge->joint].whole, &l);
    return end->L[triangle(r, c)][l];
}

// Number of the hub among the bodies of its edge.
static int side_of(const lwi_hub_edge *edge, int h)
{
    return edge->n > 1 && edge->body[1] == h;
}

// Eliminates the joint of a hub: S, U, and what the hub that carries it gets.                         (19)
static bool eliminate(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    if (hub->edge < 0) return true;
    const lwi_hub_edge *edge = &hubs->edge[hub->edge];
    const int n = edge->rows, side = side_of(edge, h);
    const double(*J)[6] = edge->J[side];
    for (int r = 0; r < n; r++) {
        double KJ[6];
        v6_copy(KJ, J[r]);
        apply_mobility(hub, KJ);
        for (int c = r; c < n; c++) hub->S[c][r] = v6_dot(KJ, J[c]) + compliance(hubs, edge, r, c);
    }
    if (cholesky6(hub->S, n, 64 * DBL_EPSILON) >= 0) return false;
    if (edge->n < 2) return true;
    double(*I)[6] = hubs->hub[edge->body[1 - side]].I;
    for (int k = 0; k < 6; k++) { // columns
        double u[6];
        for (int r = 0; r < n; r++) u[r] = edge->J[1 - side][r][k];
        cholesky6_forward(hub->S, n, u);
        for (int r = 0; r < n; r++) hub->U[r][k] = u[r];
    }
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 6; k++) v6_axpy(I[k], hub->U[r][k], hub->U[r]);
    return true;
}

// J and G of the elimination.
static void fill_core(lwi_hubs *hubs)
{
    double(*J)[6] = lwi_elim_J(hubs->elim), (*G)[6] = lwi_elim_G(hubs->elim);
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        if (edge->core < 0) continue;
        const int at = 6 * hubs->order.slot[edge->core], own = at + 6 * edge->n;
        for (int i = 0; i < edge->n; i++)
            for (int r = 0; r < edge->rows; r++) {
                v6_copy(J[at + 6 * i + r], edge->J[i][r]);
                v6_copy(G[at + 6 * i + r], edge->J[i][r]);
                apply_mobility(&hubs->hub[edge->body[i]], G[at + 6 * i + r]);
            }
        for (int r = 0; edge->joint < 0 && r < ROWS; r++) {
            J[own + r][r] = 1;
            for (int c = 0; c < ROWS; c++) G[own + r][c] = compliance(hubs, edge, r, c);
        }
    }
}

// Inertias of the hubs, rows; false: an inertia is singular.
static bool fill(lwi_hubs *hubs, double t)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) {
        own_inertia(hubs, h, hubs->hub[h].I);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            add_path(hubs, plan->carries[i], hubs->hub[h].I);
    }
    for (int e = 0; e < hubs->nedge; e++)
        if (hubs->edge[e].joint < 0)
            path_rows(hubs, &hubs->edge[e]);
        else
            joint_rows(hubs, &hubs->edge[e], t);
    for (int h = plan->nhub - 1; h >= 0; h--) { // those that are carried first
        lwi_hub *hub = &hubs->hub[h];
        memcpy(hub->L, hub->I, sizeof hub->L);
        if (cholesky6(hub->L, 6, 64 * DBL_EPSILON) >= 0) return false;
        if (hub->core < 0 && !eliminate(hubs, h)) return false;
    }
    if (hubs->elim) fill_core(hubs);
    return true;
}

int lwi_hubs_find_ranks(lwi_hubs *hubs, double t)
{
    int rank = 0;
    if (!fill(hubs, t)) return -1;
    if (!hubs->elim) return 0;
    if (lwi_elim_find_ranks(hubs->elim, RANK, &rank) != LW_OK) return -1;
    return hubs->order.nrow - rank;
}

// --------------------------------------------------------------------------------------- solution

static bool is_free(const lwi_node *node)
{
    return node->parent < 0 && lwi_joint_is_free(node->type) && !node->reversed;
}

// b += a wrench [f; n] in axes of the link about its origin.
static void add_from_link(const lwi_hubs *hubs, int k, int hub, double sign, const double wrench[6],
                          double b[6])
{
    const lwi_tree_work *tree = hubs->tree;
    double f[3], n[3], arm[3];
    m3_mul_v(f, tree->R[k], wrench);
    m3_mul_v(n, tree->R[k], wrench + 3);
    v3_sub(arm, tree->r[k], hubs->system->r[body_of(hubs, hub)]);
    v3_cross_add(n, arm, f);
    v3_axpy(b, sign, f);
    v3_axpy(b + 3, sign, n);
}

// Momenta of the hubs' own joints, W = S (S'S)^-1 p: + on the hub and - on the one that carries it, also if this is
// through a path: of that, p of the first joint at its head.  `world`: momenta of free bodies, in world axes.
//                                                                                      [chadaj2017, (10)]
static void put_momenta(lwi_hubs *hubs, bool world, const double *p)
{
    const lwi_net_plan *plan = hubs->plan;
    const lwi_tree_work *tree = hubs->tree;
    for (int h = 0; h < plan->nhub; h++) v6_zero(hubs->hub[h].b);
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node;
        const lwi_node *node = &hubs->model->node[k];
        lwi_hub *hub = &hubs->hub[h];
        double a[6];
        memcpy(a, p + node->iv, (size_t)node->nv * sizeof *a);
        if (world && is_free(node)) {
            m3_tmul_v(a, tree->R[k], p + node->iv);
            m3_tmul_v(a + 3, tree->R[k], p + node->iv + 3);
        }
        lwi_joint_metric_solve(node->nv, tree->link[k].S, a);
        v6_zero(hub->W);
        for (int j = 0; j < node->nv; j++) v6_axpy(hub->W, a[j], tree->link[k].S[j]);
        add_from_link(hubs, k, h, 1, hub->W, hub->b);
        if (plan->hub[h].path < 0 && plan->hub[h].parent >= 0)
            add_from_link(hubs, k, plan->hub[h].parent, -1, hub->W,
                          hubs->hub[plan->hub[h].parent].b);
    }
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        const double *R = hubs->path[i].R, first = p[plan->iv[path->first]];
        if (path->from < 0) continue;
        for (int k = 0; k < 3; k++) hubs->hub[path->from].b[3 + k] -= R[3 * k + 2] * first;
    }
}

// x := b - X'z of all paths; `first`: z includes what the known part of the heads' motion adds.
static void take_wrenches(lwi_hubs *hubs, bool first)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) v6_copy(hubs->x[h], hubs->hub[h].b);
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        const lwi_hub_path *own = &hubs->path[i];
        int l;
        const lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
        for (int c = 0; path->from >= 0 && c < ROWS; c++) {
            double z = end->z[c][l];
            for (int k = 0; first && k < ROWS; k++) z += end->M[triangle(c, k)][l] * own->kX[k];
            v6_axpy(hubs->x[path->from], -z, own->X[c]);
        }
    }
}

// c of all edges: motion that a path's tip has by itself, that of joints; without the velocities of the hubs.
static void take_motion(lwi_hubs *hubs, bool first)
{
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        const int i = -1 - edge->joint;
        double *c = hubs->c + edge->row;
        int l;
        if (i < 0) {
            memcpy(c, hubs->c0 + edge->row, (size_t)edge->rows * sizeof *c);
            continue;
        }
        const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
        for (int r = 0; r < ROWS; r++) {
            c[r] = end->e[r][l] - hubs->path[i].kY[r];
            for (int k = 0; first && k < ROWS; k++)
                c[r] += end->T[ROWS * k + r][l] * hubs->path[i].kX[k];
        }
    }
}

// y of a hub that closes no loop, and what the one that carries it gets.                             (19)
static void pass_inward(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    double x[6];
    if (hub->core >= 0 || hub->edge < 0) return;
    const lwi_hub_edge *edge = &hubs->edge[hub->edge];
    const int side = side_of(edge, h);
    v6_copy(x, hubs->x[h]);
    apply_mobility(hub, x);
    for (int r = 0; r < edge->rows; r++)
        hub->y[r] = hubs->c[edge->row + r] - v6_dot(edge->J[side][r], x);
    cholesky6_forward(hub->S, edge->rows, hub->y);
    for (int r = 0; edge->n > 1 && r < edge->rows; r++)
        v6_axpy(hubs->x[edge->body[1 - side]], hub->y[r], hub->U[r]);
}

static void solve_core(lwi_hubs *hubs)
{
    memset(hubs->z, 0, (size_t)hubs->order.graph.nbody * sizeof *hubs->z);
    for (int h = 0; h < hubs->plan->nhub; h++) {
        const int k = hubs->hub[h].core;
        if (k < 0) continue;
        v6_copy(hubs->z[k], hubs->x[h]);
        apply_mobility(&hubs->hub[h], hubs->z[k]);
    }
    for (int back = 0; back < 2; back++) {
        if (back) lwi_elim_solve(hubs->elim, hubs->z, hubs->core_c, hubs->core_lambda, 1);
        for (int e = 0; e < hubs->nedge; e++) {
            const lwi_hub_edge *edge = &hubs->edge[e];
            if (edge->core < 0) continue;
            double *own = (back ? hubs->lambda : hubs->c) + edge->row;
            double *core = (back ? hubs->core_lambda : hubs->core_c) + hubs->order.row[edge->core];
            memcpy(back ? own : core, back ? core : own, (size_t)edge->rows * sizeof *own);
        }
    }
    for (int h = 0; h < hubs->plan->nhub; h++)
        if (hubs->hub[h].core >= 0) v6_copy(hubs->x[h], hubs->z[hubs->hub[h].core]);
}

// lambda and x of a hub that closes no loop, from x of the one that carries it.
static void pass_outward(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    if (hub->core >= 0) return;
    if (hub->edge >= 0) {
        const lwi_hub_edge *edge = &hubs->edge[hub->edge];
        const int side = side_of(edge, h);
        double *lambda = hubs->lambda + edge->row;
        for (int r = 0; r < edge->rows; r++) {
            lambda[r] = hub->y[r];
            if (edge->n > 1) lambda[r] -= v6_dot(hub->U[r], hubs->x[edge->body[1 - side]]);
        }
        cholesky6_backward(hub->S, edge->rows, lambda);
        for (int r = 0; r < edge->rows; r++) v6_axpy(hubs->x[h], lambda[r], edge->J[side][r]);
    }
    apply_mobility(hub, hubs->x[h]);
}

// x and lambda from the right sides x, c; adds both to V and `sum`.
static void solve(lwi_hubs *hubs)
{
    const int nhub = hubs->plan->nhub;
    for (int h = nhub - 1; h >= 0; h--) pass_inward(hubs, h);
    if (hubs->elim) solve_core(hubs);
    for (int h = 0; h < nhub; h++) pass_outward(hubs, h);
    for (int h = 0; h < nhub; h++) v6_add(hubs->hub[h].V, hubs->hub[h].V, hubs->x[h]);
    for (int i = 0; i < hubs->nrow; i++) hubs->sum[i] += hubs->lambda[i];
}

// The solution at the ends of all paths: `again`: corrections.
static void give_ends(lwi_hubs *hubs, bool again)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        int l;
        lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
        lwi_lanes *V = again ? end->V : end->V0, *f = again ? end->f : end->f0;
        const double *tip =
            path->to < 0 ? NULL : hubs->lambda + hubs->edge[hubs->hub[path->to].edge].row;
        for (int c = 0; c < ROWS; c++) {
            V[c][l] = path->from < 0 ? 0 : v6_dot(hubs->path[i].X[c], hubs->x[path->from]);
            if (!again) V[c][l] += hubs->path[i].kX[c];
            f[c][l] = tip ? tip[c] : 0;
        }
    }
}

// Gravity in axes of the heads; no weight beyond the tips, it is in the loads there.
static void give_gravity(lwi_hubs *hubs)
{
    for (int i = 0; i < hubs->plan->npath; i++) {
        double g[3];
        int l;
        lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
        m3_tmul_v(g, hubs->path[i].R, hubs->model->gravity);
        for (int c = 0; c < 3; c++) end->g[c][l] = g[c], end->hb[c][l] = 0;
        end->mb[l] = 0;
    }
}

static void solve_first(lwi_hubs *hubs)
{
    take_wrenches(hubs, true);
    take_motion(hubs, true);
    for (int h = 0; h < hubs->plan->nhub; h++) v6_zero(hubs->hub[h].V);
    for (int i = 0; i < hubs->nrow; i++) hubs->sum[i] = 0;
    solve(hubs);
    give_ends(hubs, false);
}

// Velocities: nothing is known of the motion but what the hubs have.
static void still(lwi_hubs *hubs)
{
    for (int i = 0; i < hubs->plan->npath; i++)
        for (int c = 0; c < ROWS; c++) hubs->path[i].kX[c] = hubs->path[i].kY[c] = 0;
    for (int i = 0; i < hubs->nrow; i++) hubs->c0[i] = 0;
}

bool lwi_hubs_solve(lwi_hubs *hubs, double t, const double *p)
{
    if (!fill(hubs, t)) return false;
    if (hubs->elim && lwi_elim_factor(hubs->elim, NULL) != LW_OK) return false;
    put_momenta(hubs, true, p);
    still(hubs);
    solve_first(hubs);
    give_gravity(hubs);
    return true;
}

// Less what the first solution has, of the momenta and of the motion of every edge.                   (8)
static void residuals(lwi_hubs *hubs)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) {
        double I[6][6];
        own_inertia(hubs, h, I);
        for (int r = 0; r < 6; r++) hubs->x[h][r] -= v6_dot(I[r], hubs->hub[h].V);
    }
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        const int bodies =
            edge->joint < 0 ? 1 : edge->n; // the wrench at a head is in z of the path
        for (int r = edge->row, k = 0; k < edge->rows; r++, k++)
            for (int i = 0; i < bodies; i++) {
                v6_axpy(hubs->x[edge->body[i]], hubs->sum[r], edge->J[i][k]);
                hubs->c[r] -= v6_dot(edge->J[i][k], hubs->hub[edge->body[i]].V);
            }
    }
}

static void solve_again(lwi_hubs *hubs)
{
    take_wrenches(hubs, false);
    take_motion(hubs, false);
    residuals(hubs);
    solve(hubs);
    give_ends(hubs, true);
}

// The velocity of a hub, for the rows of its joints and in its link.
static void give_velocity(lwi_hubs *hubs, int h)
{
    const int k = hubs->plan->hub[h].node, b = body_of(hubs, h);
    const lwi_node *node = &hubs->model->node[k];
    double *V = hubs->tree->V[k], c[3];
    v3_copy(hubs->system->v[b], hubs->hub[h].V);
    v3_copy(hubs->system->w[b], hubs->hub[h].V + 3);
    m3_tmul_v(V, hubs->tree->R[k], hubs->hub[h].V);
    m3_tmul_v(V + 3, hubs->tree->R[k], hubs->hub[h].V + 3);
    v3_cross(c, node->c_r, V + 3); // of the link's origin: v + c x w
    v3_add(V, V, c);
}

void lwi_hubs_again(lwi_hubs *hubs)
{
    solve_again(hubs);
    for (int h = 0; h < hubs->plan->nhub; h++) give_velocity(hubs, h);
}

const double *lwi_hubs_multipliers(const lwi_hubs *hubs, int loop)
{
    const int e = hubs->loop_edge[loop];
    return e < 0 ? NULL : hubs->sum + hubs->edge[e].row;
}

// ------------------------------------------------------------------------------------------ speeds

// Whether x [n] are all finite.
static bool finite_entries(const double *x, int n)
{
    double nothing = 0;
    for (int i = 0; i < n; i++) nothing += 0 * x[i];
    return nothing == 0;
}

// Speed, or acceleration, of the joint at the tip of a path that carries hub h.
static double relative_at_tip(const lwi_hubs *hubs, int h)
{
    const lwi_net_path *path = &hubs->plan->path[hubs->plan->hub[h].path];
    const double *Y = hubs->path[hubs->plan->hub[h].path].Y[0], *w = hubs->hub[h].V + 3;
    const double *X = hubs->path[hubs->plan->hub[h].path].Y[1];
    double z[3];
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, path->segment + path->nsegment - 1, &l);
    v3_cross(z, Y + 3, X + 3); // the axis, of the other two
    return v3_dot(z, w) - end->axial[l];
}

// Speeds, or accelerations, of the first joints of paths: less those of the hubs that carry them.
static void less_heads(const lwi_hubs *hubs, double *u)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        const double *R = hubs->path[i].R;
        if (path->from < 0) continue;
        const double *w = hubs->hub[path->from].V + 3;
        u[plan->iv[path->first]] -= R[2] * w[0] + R[5] * w[1] + R[8] * w[2];
    }
}

// qdot = H'(V_B - V_A)                                                            [chadaj2017, (46)]
bool lwi_hubs_speeds(lwi_hubs *hubs, double *u)
{
    const lwi_net_plan *plan = hubs->plan;
    const lwi_tree_work *tree = hubs->tree;
    bool finite = true;
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node, path = plan->hub[h].path;
        const lwi_node *node = &hubs->model->node[k];
        const lwi_link *link = &tree->link[k];
        double own[6], before[6] = {0}, *to = u + node->iv;
        v6_copy(own, tree->V[k]);
        if (path < 0 && node->parent >= 0)
            motion_to(before, link->R, link->r, tree->V[node->parent]);
        for (int i = 0; i < 6; i++) own[i] -= before[i];
        for (int j = 0; j < node->nv; j++) to[j] = v6_dot(link->S[j], own);
        lwi_joint_metric_solve(node->nv, tree->link[k].S, to);
        if (path >= 0) to[0] = relative_at_tip(hubs, h);
        finite = finite && finite_entries(to, node->nv);
    }
    less_heads(hubs, u);
    return finite;
}

// ------------------------------------------------------------------------------------------- rates

// Moves the load of a path to the hub that carries it, and gives it what it needs at its tip.
static void pass_load(lwi_hubs *hubs, int i)
{
    const lwi_net_path *path = &hubs->plan->path[i];
    const double *g = hubs->model->gravity;
    double f[3] = {0}, n[3] = {0}, h[3], c[3], arm[3];
    int l;
    lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    const lwi_k_frame tip = tip_of(hubs, i);
    if (path->to >= 0) { // about the point at the tip
        const double *T = hubs->hub[path->to].T;
        v3_sub(arm, hubs->system->r[body_of(hubs, path->to)], tip.r);
        v3_copy(f, T);
        v3_cross(n, arm, f);
        v3_add(n, n, T + 3);
    }
    m3_tmul_v(c, tip.R, n);
    for (int k = 0; k < 3; k++) end->load[k][l] = c[k];
    m3_tmul_v(c, tip.R, f);
    for (int k = 0; k < 3; k++) end->load[3 + k][l] = c[k];
    if (path->from < 0) return;
    double *T = hubs->hub[path->from].T;
    const double *centre = hubs->system->r[body_of(hubs, path->from)];
    v3_sub(arm, tip.r, centre);
    v3_cross_add(n, arm, f);
    for (int k = 0; k < 3; k++) h[k] = end->h[k][l]; // weight of the path, about its head
    m3_mul_v(c, hubs->path[i].R, h);
    v3_sub(arm, hubs->path[i].r, centre);
    v3_axpy(c, end->m[l], arm);
    v3_cross_add(n, c, g);
    v3_axpy(f, end->m[l], g);
    v3_add(T, T, f);
    v3_add(T + 3, T + 3, n);
}

void lwi_hubs_loads(lwi_hubs *hubs, const double (*load)[6])
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) {
        const int b = body_of(hubs, h);
        v6_copy(hubs->hub[h].T, load[b]);
        v3_axpy(hubs->hub[h].T, hubs->model->body[b].mass, hubs->model->gravity);
    }
    for (int h = plan->nhub - 1; h >= 0; h--) { // children first
        const int parent = plan->hub[h].parent;
        const double *T = hubs->hub[h].T;
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            pass_load(hubs, plan->carries[i]);
        if (plan->hub[h].path >= 0 || parent < 0) continue;
        double arm[3], n[3];
        v3_sub(arm, hubs->system->r[body_of(hubs, h)], hubs->system->r[body_of(hubs, parent)]);
        v3_cross(n, arm, T);
        v3_add(n, n, T + 3);
        v3_add(hubs->hub[parent].T, hubs->hub[parent].T, T);
        v3_add(hubs->hub[parent].T + 3, hubs->hub[parent].T + 3, n);
    }
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) pass_load(hubs, i);
}

// A wrench about a body's mass centre, world axes, in axes of its link about its origin.
static void to_link(const lwi_hubs *hubs, int k, const double wrench[6], double out[6])
{
    lwi_cut_add_wrench(hubs->model, hubs->tree, k, 1, wrench, out);
}

// pdot = S'(T - V x* P) + Sdot'P of the joint of a hub; P = W + J'lambda.                [naudet2003, (35)]
static void joint_rates(lwi_hubs *hubs, int h, double t, const double *u, double *pdot)
{
    const int k = hubs->plan->hub[h].node;
    const lwi_node *node = &hubs->model->node[k];
    lwi_link *link = &hubs->tree->link[k];
    double P[6], T[6] = {0}, balance[6];
    const int e = hubs->hub[h].edge;
    v6_copy(P, hubs->hub[h].W);
    if (e >= 0) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        const int side = side_of(edge, h);
        double wrench[6] = {0};
        for (int r = 0; r < edge->rows; r++)
            v6_axpy(wrench, hubs->sum[edge->row + r], edge->J[side][r]);
        to_link(hubs, k, wrench, P);
    }
    to_link(hubs, k, hubs->hub[h].T, T);
    force_cross(balance, hubs->tree->V[k], P);
    for (int i = 0; i < 6; i++) balance[i] = T[i] - balance[i];
    if (!node->type->constant_axis) lwi_link_rates(hubs->model, k, t, u + node->iv, link);
    for (int j = 0; j < node->nv; j++) {
        pdot[node->iv + j] = v6_dot(link->S[j], balance);
        if (!node->type->constant_axis) pdot[node->iv + j] += v6_dot(link->Sdot[j], P);
    }
}

// fdot = T_f,  ndot = T_n - v x f, world axes about the link's origin.
static void free_rates(const lwi_hubs *hubs, int h, const double *p, double *pdot)
{
    const int k = hubs->plan->hub[h].node;
    const double *T = hubs->hub[h].T;
    double arm[3], v[3], turning[3], *to = pdot + hubs->model->node[k].iv;
    v6_copy(to, T);
    v3_sub(arm, hubs->system->r[body_of(hubs, h)], hubs->tree->r[k]);
    v3_cross_add(to + 3, arm, T);
    m3_mul_v(v, hubs->tree->R[k], hubs->tree->V[k]);
    v3_cross(turning, v, p + hubs->model->node[k].iv);
    v3_sub(to + 3, to + 3, turning);
}

bool lwi_hubs_rates(lwi_hubs *hubs, double t, const double *p, const double *u, double *pdot)
{
    bool finite = true;
    for (int h = 0; h < hubs->plan->nhub; h++) {
        const lwi_node *node = &hubs->model->node[hubs->plan->hub[h].node];
        if (is_free(node))
            free_rates(hubs, h, p, pdot);
        else
            joint_rates(hubs, h, t, u, pdot);
        finite = finite && finite_entries(pdot + node->iv, node->nv);
    }
    return finite;
}

void lwi_hubs_efforts(const lwi_hubs *hubs, const double *effort, double *pdot)
{
    for (int h = 0; h < hubs->plan->nhub; h++) {
        const int k = hubs->plan->hub[h].node;
        const lwi_node *node = &hubs->model->node[k];
        const double *from = effort + node->iv;
        double world[6], *to = pdot + node->iv;
        if (is_free(node)) {
            m3_mul_v(world, hubs->tree->R[k], from);
            m3_mul_v(world + 3, hubs->tree->R[k], from + 3);
            from = world;
        }
        for (int j = 0; j < node->nv; j++) to[j] += from[j];
    }
}

// ----------------------------------------------------------------------------------- accelerations

// Of a body's point away from its mass centre, by its angular velocity.
static void centripetal(double a[3], const double w[3], const double point[3],
                        const double centre[3])
{
    double arm[3], v[3];
    v3_sub(arm, point, centre);
    v3_cross(v, w, arm);
    v3_cross(a, w, v);
}

// Velocity of a hub at the tip of a path, from that of the hub at its head and the speeds.
static void move_at_tip(lwi_hubs *hubs, int h, double speed)
{
    const lwi_net_hub *hub = &hubs->plan->hub[h];
    const lwi_net_path *path = &hubs->plan->path[hub->path];
    const lwi_k_frame tip = tip_of(hubs, hub->path);
    double w[3] = {0}, v[3] = {0}, arm[3], x[3], y[3], *V = hubs->hub[h].V;
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    if (path->from >= 0) { // at the point of the tip
        const double *by = hubs->hub[path->from].V;
        v3_sub(arm, tip.r, hubs->system->r[body_of(hubs, path->from)]);
        v3_cross(v, by + 3, arm);
        v3_add(v, v, by);
        v3_copy(w, by + 3);
    }
    for (int i = 0; i < 3; i++) x[i] = end->W[i][l], y[i] = end->Wv[i][l];
    x[2] += speed;
    m3_mul_v(arm, tip.R, x);
    v3_add(w, w, arm);
    m3_mul_v(arm, tip.R, y);
    v3_add(v, v, arm);
    v3_sub(arm, hubs->system->r[body_of(hubs, h)], tip.r);
    v3_cross_add(v, w, arm);
    v3_copy(V, v);
    v3_copy(V + 3, w);
    // the part of the handle's acceleration that velocities have
    double a[3], turning[3];
    m3_tmul_v(turning, tip.R, w);
    hubs->path[hub->path].kY[0] = -turning[1] * speed; // - (w x z) u
    hubs->path[hub->path].kY[1] = turning[0] * speed;
    centripetal(a, w, tip.r, hubs->system->r[body_of(hubs, h)]);
    m3_tmul_v(hubs->path[hub->path].kY + 2, tip.R, a);
}

static void move_at_joint(lwi_hubs *hubs, int h, const double *u)
{
    const int k = hubs->plan->hub[h].node;
    const lwi_node *node = &hubs->model->node[k];
    const lwi_link *link = &hubs->tree->link[k];
    double V[6] = {0}, v[3];
    if (node->parent >= 0) motion_to(V, link->R, link->r, hubs->tree->V[node->parent]);
    for (int j = 0; j < node->nv; j++) v6_axpy(V, u[node->iv + j], link->S[j]);
    v3_cross(v, V + 3, node->c_r);
    v3_add(v, v, V);
    m3_mul_v(hubs->hub[h].V, hubs->tree->R[k], v);
    m3_mul_v(hubs->hub[h].V + 3, hubs->tree->R[k], V + 3);
}

// The angular velocity of the body before the head, and the part of its acceleration that velocities have, with
// weight as if the ground were accelerated upwards.
static void move_head(lwi_hubs *hubs, int i)
{
    const lwi_net_path *path = &hubs->plan->path[i];
    lwi_hub_path *own = &hubs->path[i];
    double a[3] = {0}, w[3] = {0};
    int l;
    lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    if (path->from >= 0) {
        const double *by = hubs->hub[path->from].V + 3;
        m3_tmul_v(w, own->R, by);
        centripetal(a, by, own->r, hubs->system->r[body_of(hubs, path->from)]);
    } else {
        v3_scale(a, -1, hubs->model->gravity);
    }
    for (int c = 0; c < 3; c++) end->W0[c][l] = w[c];
    own->kX[0] = own->kX[1] = 0;
    m3_tmul_v(own->kX + 2, own->R, a);
}

void lwi_hubs_move(lwi_hubs *hubs, const double *u)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) move_head(hubs, i);
    for (int h = 0; h < plan->nhub; h++) {
        if (plan->hub[h].path >= 0)
            move_at_tip(hubs, h, u[hubs->model->node[plan->hub[h].node].iv]);
        else
            move_at_joint(hubs, h, u);
        give_velocity(hubs, h);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            move_head(hubs, plan->carries[i]);
    }
}

// J A = - gamma; A has weight as if the ground were accelerated upwards.
static void take_gammas(lwi_hubs *hubs, double t)
{
    const double *g = hubs->model->gravity;
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        double *c = hubs->c0 + edge->row;
        if (edge->joint < 0) continue;
        lwi_joint_closure_gamma(hubs->model, edge->joint, t, &hubs->system->motion, c);
        for (int r = 0; r < edge->rows; r++) {
            c[r] = -c[r];
            for (int i = 0; i < edge->n; i++) c[r] -= v3_dot(edge->J[i][r], g);
        }
    }
}

bool lwi_hubs_accelerate(lwi_hubs *hubs, double t, const double *effort, const double (*load)[6])
{
    const lwi_net_plan *plan = hubs->plan;
    if (!fill(hubs, t)) return false;
    if (hubs->elim && lwi_elim_factor(hubs->elim, NULL) != LW_OK) return false;
    put_momenta(hubs, false, effort);
    for (int h = 0; h < plan->nhub; h++) {
        const double *w = hubs->hub[h].V + 3;
        double I[6][6], L[3], n[3];
        own_inertia(hubs, h, I);
        for (int r = 0; r < 3; r++) L[r] = v3_dot(I[3 + r] + 3, w);
        v3_cross(n, w, L);
        v6_add(hubs->hub[h].b, hubs->hub[h].b, load[body_of(hubs, h)]);
        v3_sub(hubs->hub[h].b + 3, hubs->hub[h].b + 3, n);
    }
    take_gammas(hubs, t);
    solve_first(hubs);
    return true;
}

void lwi_hubs_accelerate_again(lwi_hubs *hubs)
{
    solve_again(hubs);
    for (int h = 0; h < hubs->plan->nhub; h++) {
        const int b = body_of(hubs, h);
        v3_add(hubs->system->a[b], hubs->hub[h].V, hubs->model->gravity);
        v3_copy(hubs->system->al[b], hubs->hub[h].V + 3);
    }
}

// Rates of the speeds of a joint between hubs; of a free body those of R'v and R'w.
static void joint_accelerations(const lwi_hubs *hubs, int h, double t, double *udot)
{
    const lw_model *model = hubs->model;
    const lwi_system *s = hubs->system;
    const lwi_node *node = &model->node[hubs->plan->hub[h].node];
    double qdd[LW_JOINT_MAX_NV], c[3], *to = udot + node->iv;
    if (node->joint >= 0) {
        if (node->nv == 0) return;
        lwi_joint_read_acceleration(model, node->joint, t, &s->motion, (const double(*)[3])s->a,
                                    (const double(*)[3])s->al, qdd);
        for (int i = 0; i < node->nv; i++) to[i] = qdd[node->column[i]];
        return;
    }
    const int b = node->body; // R'(a - w x v), R'al
    v3_cross(c, s->v[b], s->w[b]);
    v3_add(c, c, s->a[b]);
    m3_tmul_v(to, s->R[b], c);
    m3_tmul_v(to + 3, s->R[b], s->al[b]);
}

bool lwi_hubs_accelerations(lwi_hubs *hubs, double t, double *udot)
{
    const lwi_net_plan *plan = hubs->plan;
    bool finite = true;
    for (int h = 0; h < plan->nhub; h++) {
        const lwi_node *node = &hubs->model->node[plan->hub[h].node];
        if (plan->hub[h].path < 0)
            joint_accelerations(hubs, h, t, udot);
        else
            udot[node->iv] = relative_at_tip(hubs, h);
        finite = finite && finite_entries(udot + node->iv, node->nv);
    }
    less_heads(hubs, udot);
    return finite;
}

// hubs.c -- the bodies between the paths of a net: their mechanism, and where they are (hubs.h).
#include "methods/dca/segments/hubs_steps.h"

#include "tree/body_forces.h"

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

// ------------------------------------------------------------------------------------------ create

void lwi_hubs_closure(const lwi_hubs *hubs, int joint, double t, lwi_closure_level level,
                      lwi_closure *closure)
{
    lwi_joint_closure(hubs->model, joint, t, &hubs->system->motion, level, closure);
    lwi_joint_rotor_rows(hubs->model, joint, t, &hubs->system->motion, level, closure);
}

static void add_edge(lwi_hubs *hubs, lwi_hub_edge edge)
{
    edge.row = hubs->nrow;
    edge.core = edge.bar = -1;
    hubs->nrow += edge.rows;
    hubs->edge[hubs->nedge++] = edge;
}

// Returns the edge, -1: the joint has no rows.
static int add_joint(lwi_hubs *hubs, int joint)
{
    const lw_model *model = hubs->model;
    lwi_closure closure;
    if (joint < 0 || lwi_joint_row_count(model, joint) + model->joint[joint].nrotor == 0) return -1;
    lwi_hubs_closure(hubs, joint, 0, LWI_CLOSURE_POSITION, &closure);
    lwi_hub_edge edge = {.joint = joint,
                         .loop = -1,
                         .rows = closure.n,
                         .n = closure.nbody,
                         .nrotor = model->joint[joint].nrotor};
    for (int k = 0, r = edge.rows - edge.nrotor; r < edge.rows; k++)
        if (model->joint[joint].rotor[k] != 0) edge.slack[r++] = 1 / model->joint[joint].rotor[k];
    for (int i = 0; i < closure.nbody; i++)
        edge.body[i] = hubs->plan->hub_of[model->body_node[closure.body[i]]];
    add_edge(hubs, edge);
    return hubs->nedge - 1;
}

static int add_path_edge(lwi_hubs *hubs, int path)
{
    const lwi_net_path *own = &hubs->plan->path[path];
    add_edge(hubs, (lwi_hub_edge){.joint = -1 - path,
                                  .loop = -1,
                                  .rows = LWI_PATH_HANDLE,
                                  .n = own->from < 0 ? 1 : 2,
                                  .body = {own->to, own->from}});
    return hubs->nedge - 1;
}

// Where a joint that closes a loop attaches.
static void begin_closing(lwi_hubs *hubs, int loop, const lwi_net_tie *tie)
{
    const lw_model *model = hubs->model;
    const lwi_joint *joint = &model->joint[model->loop[loop]];
    lwi_hub_closing *own = &hubs->closing[loop];
    for (int s = 0; s < 2; s++) {
        const int node = model->body_node[s ? joint->body2 : joint->body1];
        own->path[s] = tie ? tie->path[s] : -1;
        own->hub[s] = own->path[s] >= 0 || node < 0 ? -1 : hubs->plan->hub_of[node];
        own->start[s] = own->path[s] >= 0 ? hubs->plan->path[own->path[s]].from : own->hub[s];
        own->compliant = own->compliant || own->path[s] >= 0;
    }
}

// Has the joint of a hub fewer rows than the one that closes a loop through it?  The elimination is then cheaper with it.
static bool is_narrow(const lwi_hubs *hubs, int h)
{
    const lwi_hub *hub = &hubs->hub[h];
    const int rows = hub->edge < 0 ? 0 : hubs->edge[hub->edge].rows;
    return rows < lwi_joint_row_count(hubs->model, hubs->model->loop[hub->through]);
}

// Hubs that two sides of joints that close loops reach are the core, and all that carry these.
static lw_status find_core(lwi_hubs *hubs, lwi_arena *arena)
{
    const int nhub = hubs->plan->nhub;
    int *sides;
    GET(sides, nhub);
    for (int h = 0; h < nhub; h++) hubs->hub[h].core = hubs->hub[h].through = hubs->hub[h].bar = -1;
    for (int i = 0; i < hubs->model->nloop; i++)
        for (int s = 0; s < 2; s++) {
            const int h = hubs->closing[i].start[s];
            if (h < 0 || lwi_joint_row_count(hubs->model, hubs->model->loop[i]) == 0) continue;
            sides[h]++;
            hubs->hub[h].through = i, hubs->hub[h].side = s;
        }
    for (int h = nhub - 1; h >= 0; h--) {
        const int parent = hubs->plan->hub[h].parent;
        if (sides[h] == 1 && is_narrow(hubs, h))
            sides[h] = 2, hubs->hub[h].core = 0; // its `through` remains
        else if (sides[h] > 1)
            hubs->hub[h].core = 0, hubs->hub[h].through = -1; // numbered below
        if (parent < 0 || sides[h] == 0) continue;
        sides[parent] += sides[h];
        hubs->hub[parent].through = hubs->hub[h].through;
        hubs->hub[parent].side = hubs->hub[h].side;
    }
    return LW_OK;
}

// The core hub, or the ground, that the joint which closes a loop through hub h has on its other side.
static bool faces_core(const lwi_hubs *hubs, int h)
{
    const lwi_hub *hub = &hubs->hub[h];
    const int other = hubs->closing[hub->through].start[1 - hub->side];
    return other != h && (other < 0 || hubs->hub[other].core >= 0);
}

// Hubs of the core that a single loop closes through, but with a joint of fewer rows, leave it: that joint becomes
// an edge between the hub that carries it and the one on the loop's other side.
static void make_bars(lwi_hubs *hubs)
{
    for (int h = 0; h < hubs->plan->nhub; h++) {
        lwi_hub *hub = &hubs->hub[h];
        if (hub->core < 0 || hub->through < 0) continue;
        if (hub->edge < 0 || hubs->edge[hub->edge].joint < 0 || !faces_core(hubs, h)) {
            hub->through = -1;
            continue;
        }
        hub->core = -1;
        hub->bar = 0; // numbered below
    }
}

static void add_bar(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_edge *own = &hubs->edge[hub->edge];
    lwi_hub_edge *to = &hubs->edge[hub->bar = hubs->nedge++];
    const int side[2] = {own->n > 1 ? own->body[own->body[0] == h] : -1,
                         hubs->closing[hub->through].start[1 - hub->side]};
    *to = (lwi_hub_edge){.joint = own->joint,
                         .loop = -1,
                         .rows = own->rows,
                         .row = own->row,
                         .bar = h,
                         .ground = side[0] < 0 || side[1] < 0,
                         .core = -1};
    for (int s = 0; s < 2; s++)
        if (side[s] >= 0 && (s == 0 || side[1] != side[0])) to->body[to->n++] = side[s];
    hubs->edge[hubs->loop_edge[hub->through]].eliminated = true;
}

// Between the hubs of the core that its sides reach.
static int add_closing(lwi_hubs *hubs, int loop)
{
    lwi_hub_closing *own = &hubs->closing[loop];
    const int joint = hubs->model->loop[loop];
    lwi_hub_edge edge = {
        .joint = joint, .loop = loop, .rows = lwi_joint_row_count(hubs->model, joint)};
    if (edge.rows == 0) return -1;
    for (int s = 0; s < 2; s++) {
        int h = own->start[s];
        for (; h >= 0 && hubs->hub[h].core < 0; h = hubs->plan->hub[h].parent)
            own->compliant = true;
        own->at[s] = -1;
        if (h < 0) continue;
        own->at[s] = edge.n > 0 && edge.body[0] == h ? 0 : edge.n++;
        edge.body[own->at[s]] = h;
    }
    add_edge(hubs, edge);
    return hubs->nedge - 1;
}

static lw_status make_edges(lwi_hubs *hubs, lwi_arena *arena)
{
    const lw_model *model = hubs->model;
    const lwi_net_plan *plan = hubs->plan;
    const lwi_net_tie **tie;
    GET(hubs->edge, plan->nhub + 2 * model->nloop); // with bars
    GET(hubs->loop_edge, model->nloop);
    GET(hubs->closing, model->nloop);
    GET(tie, model->nloop);
    for (int h = 0; h < plan->nhub; h++) {
        const int path = plan->hub[h].path;
        hubs->hub[h].edge = path < 0 ? add_joint(hubs, model->node[plan->hub[h].node].joint)
                                     : add_path_edge(hubs, path);
    }
    for (int i = 0; i < plan->ntie; i++) tie[plan->tie[i].loop] = &plan->tie[i];
    for (int i = 0; i < model->nloop; i++) begin_closing(hubs, i, tie[i]);
    TRY(find_core(hubs, arena));
    make_bars(hubs);
    for (int i = 0; i < model->nloop; i++) hubs->loop_edge[i] = add_closing(hubs, i);
    for (int h = 0; h < plan->nhub; h++)
        if (hubs->hub[h].bar >= 0) add_bar(hubs, h);
    GET(hubs->c, hubs->nrow);
    GET(hubs->lambda, hubs->nrow);
    GET(hubs->sum, hubs->nrow);
    GET(hubs->b, hubs->nrow);
    GET(hubs->c0, hubs->nrow);
    return LW_OK;
}

static bool in_core(const lwi_hubs *hubs, const lwi_hub_edge *edge)
{
    for (int i = 0; i < edge->n; i++)
        if (hubs->hub[edge->body[i]].core < 0) return false;
    return !edge->eliminated;
}

// Does an edge act on the ground too?
static bool on_ground(const lwi_hubs *hubs, const lwi_hub_edge *edge)
{
    if (edge->bar >= 0) return edge->ground;
    if (edge->loop < 0) return edge->n < 2;
    const int *at = hubs->closing[edge->loop].at;
    return at[0] < 0 || at[1] < 0;
}

// The hubs between the ground and joints that close loops, with a compliance for each path between them.
lw_status lwi_hubs_make_core(lwi_hubs *hubs, lwi_pool *pool, lwi_arena *arena)
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
        *to = (lwi_plan_edge){.rows = own->ncore, .n = own->n, .ground = on_ground(hubs, own)};
        for (int i = 0; i < own->n; i++) to->body[i] = hubs->hub[own->body[i]].core;
        if (has_compliance(hubs, own)) to->body[to->n++] = nbody++;
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

// Forces act on hubs, and on bodies merged with these or the ground.
static lw_status list_merged(lwi_hubs *hubs, lwi_arena *arena)
{
    const lw_model *model = hubs->model;
    bool *used;
    GET(used, model->nbody);
    GET(hubs->merged, model->nmerged);
    lwi_body_forces_mark(model, used);
    for (int i = 0; i < model->nmerged; i++)
        if (used[model->merged[i]]) hubs->merged[hubs->nmerged++] = model->merged[i];
    return LW_OK;
}

lw_status lwi_hubs_create(const lwi_net_paths *paths, lwi_tree_work *tree, lwi_system *system,
                          lwi_arena *arena, lwi_hubs *hubs)
{
    const lwi_net_plan *plan = paths->plan;
    *hubs = (lwi_hubs){
        .model = system->model, .plan = plan, .paths = paths, .tree = tree, .system = system};
    GET(hubs->hub, plan->nhub);
    GET(hubs->path, plan->npath);
    GET(hubs->x, plan->nhub);
    TRY(list_merged(hubs, arena));
    return make_edges(hubs, arena);
}

// ------------------------------------------------------------------------------------------- poses

// The five components of the velocity at a point of a body, in axes R, from that of its mass centre.
static void components(double X[5][6], const double R[9], const double point[3],
                       const double centre[3])
{
    double arm[3];
    v3_sub(arm, point, centre);
    for (int c = 0; c < LWI_PATH_HANDLE; c++) {
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

static void place_tip(lwi_hubs *hubs, int i)
{
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    const lwi_k_frame head = frame_of(hubs->path[i].R, hubs->path[i].r);
    lwi_k_frame tip; // from the head
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) tip.R[3 * k + c] = end->R[3 * c + k][l];
        tip.r[c] = end->r[c][l];
    }
    lwi_k_compose(&hubs->path[i].tip, &head, &tip);
}

int lwi_hubs_body_at_tip(const lwi_hubs *hubs, int i)
{
    const lwi_net_path *path = &hubs->plan->path[i];
    if (path->to >= 0) return body_of(hubs, path->to);
    return path->tie < 0 ? -1 : hubs->model->node[path->tip].body;
}

void lwi_hubs_wrench_at_tip(const lwi_hubs *hubs, int i, const double T[6], double out[6])
{
    const lwi_k_frame *tip = &hubs->path[i].tip;
    double arm[3], n[3];
    v3_sub(arm, hubs->system->r[lwi_hubs_body_at_tip(hubs, i)], tip->r);
    v3_cross(n, arm, T);
    v3_add(n, n, T + 3);
    m3_tmul_v(out, tip->R, n);
    m3_tmul_v(out + 3, tip->R, T);
}

// The body of node k, from the pose of its link.
static void place_body(const lwi_hubs *hubs, int k)
{
    const lwi_node *node = &hubs->model->node[k];
    const lwi_tree_work *tree = hubs->tree;
    lwi_system *s = hubs->system;
    m3_mul(s->R[node->body], tree->R[k], node->c_R);
    m3_mul_v(s->r[node->body], tree->R[k], node->c_r);
    v3_add(s->r[node->body], s->r[node->body], tree->r[k]);
}

// The ends of a path, and its last body if this is at a tie.
static void place_path(lwi_hubs *hubs, int i)
{
    const lwi_net_path *path = &hubs->plan->path[i];
    place_head(hubs, i);
    place_tip(hubs, i);
    if (path->tie < 0) return;
    lwi_k_frame f;
    lwi_k_compose(&f, &hubs->path[i].tip, &path->link);
    memcpy(hubs->tree->R[path->tip], f.R, sizeof f.R);
    v3_copy(hubs->tree->r[path->tip], f.r);
    place_body(hubs, path->tip);
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

// lwi_hub.metric; it exists, for columns of S are independent at all coordinates.
static void factor_metric(int nv, double (*S)[6], double (*L)[6])
{
    for (int i = 0; i < nv; i++)
        for (int k = 0; k <= i; k++) L[i][k] = v6_dot(S[i], S[k]);
    if (nv > 1) cholesky6(L, nv, 0);
}

void lwi_hubs_place(lwi_hubs *hubs, double t, const double *q)
{
    const lw_model *model = hubs->model;
    const lwi_net_plan *plan = hubs->plan;
    lwi_tree_work *tree = hubs->tree;
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) place_path(hubs, i);
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node, path = plan->hub[h].path;
        const lwi_node *node = &model->node[k];
        const lwi_k_frame *tip = path < 0 ? NULL : &hubs->path[path].tip;
        lwi_link_position(model, k, t, q + node->iq, &tree->link[k]);
        factor_metric(node->nv, tree->link[k].S, hubs->hub[h].metric);
        if (tip)
            place_at_tip(hubs, h, tip, q);
        else
            place_at_joint(hubs, k);
        place_body(hubs, k);
        if (tip) components(hubs->path[path].Y, tip->R, tip->r, hubs->system->r[node->body]);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            place_path(hubs, plan->carries[i]);
    }
    for (int i = 0; i < hubs->nmerged; i++)
        lwi_tree_ride(model, hubs->merged[i], NULL, hubs->system->R, hubs->system->r, NULL);
}

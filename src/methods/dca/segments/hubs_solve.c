// hubs_solve.c -- velocities of the hubs of a net and wrenches at the tips of paths, or accelerations (hubs.h).
#include "methods/dca/segments/hubs_steps.h"

#include "loops/cut.h"

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

void lwi_hubs_put_momenta(lwi_hubs *hubs, bool world, const double *p)
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
        apply_metric(hub, node->nv, a);
        v6_zero(hub->W);
        for (int j = 0; j < node->nv; j++) add_row(hub->W, a[j], tree->link[k].S[j]);
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

// x := b - X'z of all paths; `known`: z includes what the known part of the heads' motion adds.
static void take_wrenches(lwi_hubs *hubs, bool known)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) v6_copy(hubs->x[h], hubs->hub[h].b);
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        const lwi_hub_path *own = &hubs->path[i];
        double less[LWI_PATH_HANDLE];
        int l;
        const lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
        if (path->from < 0) continue;
        for (int c = 0; c < LWI_PATH_HANDLE; c++) {
            double z = end->z[c][l];
            for (int k = 0; known && k < LWI_PATH_HANDLE; k++)
                z += end->M[triangle(c, k)][l] * own->kX[k] +
                     end->T[LWI_PATH_HANDLE * c + k][l] * own->known[k];
            less[c] = -z;
        }
        add_rows(hubs->x[path->from], LWI_PATH_HANDLE, less, (const double(*)[6])own->X);
    }
}

// Motion that the tip of path i has without the velocities of the hubs and the wrench beyond it.
static void own_motion(const lwi_hubs *hubs, int i, bool known, double c[LWI_PATH_HANDLE])
{
    const lwi_hub_path *own = &hubs->path[i];
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    for (int r = 0; r < LWI_PATH_HANDLE; r++) {
        c[r] = end->e[r][l] - own->kY[r];
        for (int k = 0; known && k < LWI_PATH_HANDLE; k++)
            c[r] += end->T[LWI_PATH_HANDLE * k + r][l] * own->kX[k] -
                    end->L[triangle(r, k)][l] * own->known[k];
    }
}

// c of all edges: motion that a path's tip has by itself, that of joints; without the velocities of the hubs.
static void take_motion(lwi_hubs *hubs, bool known)
{
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        double *c = hubs->c + edge->row, own[LWI_PATH_HANDLE];
        if (edge->bar >= 0) continue; // rows of a joint
        if (edge->joint < 0) {
            own_motion(hubs, -1 - edge->joint, known, c);
            continue;
        }
        memcpy(c, hubs->c0 + edge->row, (size_t)edge->rows * sizeof *c);
        for (int s = 0; edge->loop >= 0 && s < 2; s++) {
            const lwi_hub_closing *closing = &hubs->closing[edge->loop];
            if (closing->path[s] < 0) continue;
            own_motion(hubs, closing->path[s], known, own);
            for (int r = 0; r < edge->rows; r++)
                for (int k = 0; k < LWI_PATH_HANDLE; k++) c[r] -= closing->B[s][r][k] * own[k];
        }
    }
}

// y of the rows that are eliminated with a hub that is not in the core.
static void take_y(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h);
    double x[6];
    if (!with.edge) return;
    v6_copy(x, hubs->x[h]);
    apply_mobility(hub, x);
    for (int r = 0; r < with.edge->rows; r++)
        hub->y[r] = hubs->c[with.edge->row + r] - v6_dot(with.J[r], x);
    cholesky6_forward(hub->S, with.edge->rows, hub->y);
}

// The rows that are left of a hub, without the motion that it has by itself.
static void less_motion(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h), left = rows_left(hubs, h);
    double x[6], lambda[6];
    v6_copy(x, hubs->x[h]);
    if (with.edge) {
        memcpy(lambda, hub->y, sizeof lambda);
        cholesky6_backward(hub->S, with.edge->rows, lambda);
        add_rows(x, with.edge->rows, lambda, with.J);
    }
    apply_mobility(hub, x);
    for (int r = 0; r < left.edge->rows; r++) hubs->c[left.edge->row + r] -= v6_dot(left.J[r], x);
}

// y of a hub that is not in the core, and what the one on the other side of its rows gets.           (19)
static void pass_inward(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h);
    if (hub->core >= 0) return;
    take_y(hubs, h);
    if (hub->through >= 0) less_motion(hubs, h);
    if (with.to >= 0)
        add_rows(hubs->x[with.to], with.edge->rows, hub->y, (const double(*)[6])hub->U);
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
        if (back) lwi_elim_solve(hubs->elim, hubs->z, hubs->core_c, hubs->core_lambda, 0);
        for (int e = 0; e < hubs->nedge; e++) {
            const lwi_hub_edge *edge = &hubs->edge[e];
            if (edge->core < 0) continue;
            double *own = (back ? hubs->lambda : hubs->c) + edge->row;
            double *core = (back ? hubs->core_lambda : hubs->core_c) + hubs->order.row[edge->core];
            for (int r = 0; back && r < edge->rows; r++) own[r] = 0;
            for (int k = 0; k < edge->ncore; k++) {
                if (back)
                    own[edge->core_row[k]] = core[k];
                else
                    core[k] = own[edge->core_row[k]];
            }
        }
    }
    for (int h = 0; h < hubs->plan->nhub; h++)
        if (hubs->hub[h].core >= 0) v6_copy(hubs->x[h], hubs->z[hubs->hub[h].core]);
}

// lambda and x of a hub that is not in the core, from x of the one on the other side of its rows.
static void pass_outward(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h), left = rows_left(hubs, h);
    if (hub->core >= 0) return;
    if (left.edge) {
        add_rows(hubs->x[h], left.edge->rows, hubs->lambda + left.edge->row, left.J);
        take_y(hubs, h);
    }
    if (with.edge) {
        double *lambda = hubs->lambda + with.edge->row;
        for (int r = 0; r < with.edge->rows; r++) {
            lambda[r] = hub->y[r];
            if (with.to >= 0) lambda[r] -= v6_dot(hub->U[r], hubs->x[with.to]);
        }
        cholesky6_backward(hub->S, with.edge->rows, lambda);
        add_rows(hubs->x[h], with.edge->rows, lambda, with.J);
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

// The wrench at the tip of path i: multipliers of its rows, or of the joint at its tie.
static void wrench_at_tip(const lwi_hubs *hubs, int i, double f[LWI_PATH_HANDLE])
{
    const lwi_net_path *path = &hubs->plan->path[i];
    for (int c = 0; c < LWI_PATH_HANDLE; c++) f[c] = 0;
    if (path->to >= 0)
        memcpy(f, hubs->lambda + hubs->edge[hubs->hub[path->to].edge].row,
               LWI_PATH_HANDLE * sizeof *f);
    if (path->tie < 0) return;
    const int loop = hubs->plan->tie[path->tie].loop;
    const lwi_hub_closing *own = &hubs->closing[loop];
    const lwi_hub_edge *edge = &hubs->edge[hubs->loop_edge[loop]];
    for (int r = 0; r < edge->rows; r++)
        for (int c = 0; c < LWI_PATH_HANDLE; c++)
            f[c] -= own->B[own->path[0] != i][r][c] * hubs->lambda[edge->row + r];
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
        double tip[LWI_PATH_HANDLE];
        wrench_at_tip(hubs, i, tip);
        for (int c = 0; c < LWI_PATH_HANDLE; c++) {
            V[c][l] = path->from < 0 ? 0 : v6_dot(hubs->path[i].X[c], hubs->x[path->from]);
            if (!again) V[c][l] += hubs->path[i].kX[c];
            f[c][l] = tip[c];
            if (!again) f[c][l] += hubs->path[i].known[c];
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

void lwi_hubs_solve_first(lwi_hubs *hubs, bool known)
{
    take_wrenches(hubs, known);
    take_motion(hubs, known);
    for (int h = 0; h < hubs->plan->nhub; h++) v6_zero(hubs->hub[h].V);
    for (int i = 0; i < hubs->nrow; i++) hubs->sum[i] = 0;
    solve(hubs);
    give_ends(hubs, false);
}

// Velocities: nothing is known of the motion but what the hubs have, and drives and mounts of their joints.
static void still(lwi_hubs *hubs)
{
    for (int i = 0; i < hubs->plan->npath; i++)
        for (int c = 0; c < LWI_PATH_HANDLE; c++) hubs->path[i].kX[c] = hubs->path[i].kY[c] = 0;
    for (int i = 0; i < hubs->nrow; i++) hubs->c0[i] = -hubs->b[i];
}

void lwi_hubs_solve(lwi_hubs *hubs, const double *p)
{
    lwi_hubs_put_momenta(hubs, true, p);
    still(hubs);
    lwi_hubs_solve_first(hubs, false);
    give_gravity(hubs);
}

// As speeds of momenta, but efforts on free bodies are in axes of these.
void lwi_hubs_respond(lwi_hubs *hubs, const double *effort)
{
    lwi_hubs_put_momenta(hubs, false, effort);
    still(hubs);
    lwi_hubs_solve_first(hubs, false);
}

// Of a joint that closes a loop, on the hubs that it attaches to; what the paths have is in their z and e.
static void closing_residuals(lwi_hubs *hubs, const lwi_hub_edge *edge)
{
    const lwi_hub_closing *own = &hubs->closing[edge->loop];
    for (int s = 0; s < 2; s++) {
        const int h = own->hub[s];
        if (h < 0) continue;
        add_rows(hubs->x[h], edge->rows, hubs->sum + edge->row, (const double(*)[6])own->J[s]);
        for (int k = 0; k < edge->rows; k++)
            hubs->c[edge->row + k] -= v6_dot(own->J[s][k], hubs->hub[h].V);
    }
}

// Less what the first solution has, of the momenta and of the motion of every edge.                   (8)
static void residuals(lwi_hubs *hubs)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) {
        const lwi_hub *hub = &hubs->hub[h];
        double L[3];
        s3_mul_v(L, hub->J, hub->V + 3);
        v3_axpy(hubs->x[h], -hubs->model->body[body_of(hubs, h)].mass, hub->V);
        v3_sub(hubs->x[h] + 3, hubs->x[h] + 3, L);
    }
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        if (edge->bar >= 0) continue; // rows of a joint
        if (edge->loop >= 0) {
            closing_residuals(hubs, edge);
            continue;
        }
        const int bodies =
            edge->joint < 0 ? 1 : edge->n; // the wrench at a head is in z of the path
        for (int i = 0; i < bodies; i++) {
            const int h = edge->body[i];
            add_rows(hubs->x[h], edge->rows, hubs->sum + edge->row, (const double(*)[6])edge->J[i]);
            for (int k = 0; k < edge->rows; k++)
                hubs->c[edge->row + k] -= v6_dot(edge->J[i][k], hubs->hub[h].V);
        }
        for (int k = edge->rows - edge->nrotor; k < edge->rows; k++)
            hubs->c[edge->row + k] -= edge->slack[k] * hubs->sum[edge->row + k];
    }
}

void lwi_hubs_solve_again(lwi_hubs *hubs)
{
    take_wrenches(hubs, false);
    take_motion(hubs, false);
    residuals(hubs);
    solve(hubs);
    give_ends(hubs, true);
}

void lwi_hubs_give_velocity(lwi_hubs *hubs, int h)
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

void lwi_hubs_give_driven(lwi_hubs *hubs, int h, const double *u)
{
    const lw_model *model = hubs->model;
    const int k = hubs->plan->hub[h].node;
    const lwi_node *node = &model->node[k];
    const lwi_link *link = &hubs->tree->link[k];
    if (!node->driven) return;
    memcpy(hubs->system->q + model->joint[node->joint].iq, link->q,
           (size_t)node->type->nq * sizeof *link->q);
    lwi_tree_speeds(model, k, link, u, hubs->system->qd);
}

void lwi_hubs_move_merged(lwi_hubs *hubs)
{
    lwi_system *s = hubs->system;
    for (int i = 0; i < hubs->nmerged; i++) {
        const int b = hubs->merged[i];
        v3_copy(s->w[b], s->w[hubs->model->body[b].carrier]);
        lwi_tree_ride(hubs->model, b, s->w[b], s->R, s->r, s->v);
    }
}

void lwi_hubs_again(lwi_hubs *hubs)
{
    lwi_hubs_solve_again(hubs);
    for (int h = 0; h < hubs->plan->nhub; h++) lwi_hubs_give_velocity(hubs, h);
    lwi_hubs_move_merged(hubs);
}

void lwi_hubs_transmitted(const lwi_hubs *hubs, int h, double P[6])
{
    const int k = hubs->plan->hub[h].node, e = hubs->hub[h].edge;
    v6_copy(P, hubs->hub[h].W);
    if (e < 0) return;
    const lwi_hub_edge *edge = &hubs->edge[e];
    const int side = side_of(edge, h);
    double wrench[6] = {0};
    add_rows(wrench, edge->rows, hubs->sum + edge->row, (const double(*)[6])edge->J[side]);
    lwi_cut_add_wrench(hubs->model, hubs->tree, k, 1, wrench, P);
}

const double *lwi_hubs_multipliers(const lwi_hubs *hubs, int loop)
{
    const int e = hubs->loop_edge[loop];
    return e < 0 ? NULL : hubs->sum + hubs->edge[e].row;
}

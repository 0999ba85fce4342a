// hubs_momenta.c -- speeds of the hubs of a net, and rates of their momenta (hubs.h).
#include "methods/dca/segments/hubs_steps.h"

#include "loops/cut.h"
#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------ speeds

double lwi_hubs_relative_at_tip(const lwi_hubs *hubs, int h)
{
    const lwi_net_path *path = &hubs->plan->path[hubs->plan->hub[h].path];
    const double *Y = hubs->path[hubs->plan->hub[h].path].Y[0], *w = hubs->hub[h].V + 3;
    const double *X = hubs->path[hubs->plan->hub[h].path].Y[1];
    double z[3];
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, path->segment + path->nsegment - 1, &l);
    v3_cross(z, Y + 3, X + 3); // the axis, of the other two
    return v3_dot(z, w) - end->turning[2][l];
}

void lwi_hubs_less_heads(const lwi_hubs *hubs, double *u)
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

// Velocity of the last body of a path at a tie, for the rows of the joint there.
static void tie_velocity(lwi_hubs *hubs, int i)
{
    const lwi_net_path *path = &hubs->plan->path[i];
    const lwi_k_frame *tip = &hubs->path[i].tip;
    const int b = lwi_hubs_body_at_tip(hubs, i);
    double V[6], arm[3], *v = hubs->system->v[b], *w = hubs->system->w[b];
    int l, last;
    const lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    const lwi_path_end *segment =
        lwi_net_end(hubs->paths, path->segment + path->nsegment - 1, &last);
    for (int c = 0; c < LWI_PATH_HANDLE; c++) { // e of the second pass is the first solution
        double *to = &V[c < 2 ? c : c + 1];
        *to = end->e[c][l];
        for (int k = 0; k < LWI_PATH_HANDLE; k++)
            *to += end->T[LWI_PATH_HANDLE * k + c][l] * end->V[k][l] -
                   end->L[triangle(c, k)][l] * end->f[k][l];
    }
    V[2] = segment->turning[2][last];
    m3_mul_v(w, tip->R, V);
    m3_mul_v(v, tip->R, V + 3);
    v3_sub(arm, hubs->system->r[b], tip->r);
    v3_cross_add(v, w, arm);
}

// Of a driven joint: its motion, for forces, and its share in the momenta.
static void give_driven(lwi_hubs *hubs, int h, const double *u)
{
    double P[6];
    lwi_hubs_give_driven(hubs, h, u);
    lwi_hubs_transmitted(hubs, h, P);
    hubs->prescribed += v6_dot(P, hubs->tree->link[hubs->plan->hub[h].node].sigma);
}

// qdot = H'(V_B - V_A)                                                            [chadaj2017, (46)]
bool lwi_hubs_speeds(lwi_hubs *hubs, double *u)
{
    const lwi_net_plan *plan = hubs->plan;
    const lwi_tree_work *tree = hubs->tree;
    bool finite = true;
    hubs->prescribed = 0;
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node, path = plan->hub[h].path;
        const lwi_node *node = &hubs->model->node[k];
        const lwi_link *link = &tree->link[k];
        double own[6], before[6] = {0}, *to = u + node->iv;
        v6_copy(own, tree->V[k]);
        if (path < 0 && node->parent >= 0)
            motion_to(before, link->R, link->r, tree->V[node->parent]);
        if (node->driven) v6_add(before, before, link->sigma);
        for (int i = 0; i < 6; i++) own[i] -= before[i];
        for (int j = 0; j < node->nv; j++) to[j] = v6_dot(link->S[j], own);
        apply_metric(&hubs->hub[h], node->nv, to);
        if (path >= 0) to[0] = lwi_hubs_relative_at_tip(hubs, h);
        finite = finite && finite_entries(to, node->nv);
        if (node->driven) give_driven(hubs, h, u);
    }
    lwi_hubs_less_heads(hubs, u);
    return finite;
}

void lwi_hubs_move_ties(lwi_hubs *hubs)
{
    for (int i = 0; i < hubs->plan->npath; i++)
        if (hubs->plan->path[i].tie >= 0) tie_velocity(hubs, i);
}

// ------------------------------------------------------------------------------------------- rates

// Moves the load of a path to the hub that carries it, and gives it what it needs at its tip.
static void pass_load(lwi_hubs *hubs, int i, const double (*load)[6])
{
    const lwi_net_path *path = &hubs->plan->path[i];
    const double *g = hubs->model->gravity;
    double f[3] = {0}, n[3] = {0}, h[3], c[3], arm[3], own[6] = {0};
    int l;
    lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    const lwi_k_frame *tip = &hubs->path[i].tip;
    const int b = lwi_hubs_body_at_tip(hubs, i);
    if (b >= 0) // weight of the last body of a path is the path's
        lwi_hubs_wrench_at_tip(hubs, i, path->to >= 0 ? hubs->hub[path->to].T : load[b], own);
    for (int k = 0; k < 6; k++) end->load[k][l] = own[k];
    m3_mul_v(n, tip->R, own);
    m3_mul_v(f, tip->R, own + 3);
    if (path->from < 0) return;
    double *T = hubs->hub[path->from].T;
    const double *centre = hubs->system->r[body_of(hubs, path->from)];
    v3_sub(arm, tip->r, centre);
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
            pass_load(hubs, plan->carries[i], load);
        if (plan->hub[h].path >= 0 || parent < 0) continue;
        double arm[3], n[3];
        v3_sub(arm, hubs->system->r[body_of(hubs, h)], hubs->system->r[body_of(hubs, parent)]);
        v3_cross(n, arm, T);
        v3_add(n, n, T + 3);
        v3_add(hubs->hub[parent].T, hubs->hub[parent].T, T);
        v3_add(hubs->hub[parent].T + 3, hubs->hub[parent].T + 3, n);
    }
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) pass_load(hubs, i, load);
}

// pdot = S'(T - V x* P) + Sdot'P of the joint of a hub; P = W + J'lambda.                [naudet2003, (35)]
// The work of drives and mounts: as in tree/momenta.c.
static void joint_rates(lwi_hubs *hubs, int h, double t, const double *u, double *pdot)
{
    const int k = hubs->plan->hub[h].node;
    const lwi_node *node = &hubs->model->node[k];
    lwi_link *link = &hubs->tree->link[k];
    const bool turns = !node->type->constant_axis || node->driven;
    double P[6], T[6] = {0}, balance[6];
    lwi_hubs_transmitted(hubs, h, P);
    lwi_cut_add_wrench(hubs->model, hubs->tree, k, 1, hubs->hub[h].T, T);
    force_cross(balance, hubs->tree->V[k], P);
    for (int i = 0; i < 6; i++) balance[i] = T[i] - balance[i];
    if (turns) lwi_link_rates(hubs->model, k, t, u + node->iv, link);
    for (int j = 0; j < node->nv; j++) {
        pdot[node->iv + j] = v6_dot(link->S[j], balance);
        if (turns) pdot[node->iv + j] += v6_dot(link->Sdot[j], P);
    }
    if (!node->driven) return;
    for (int i = 0; i < 6; i++) balance[i] = -balance[i]; // what the joint transmits, less Pdot
    hubs->prescribed_rate +=
        lwi_tree_drive_power(hubs->model, k, hubs->tree, balance) - v6_dot(P, link->sigma_dot);
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
    hubs->prescribed_rate = 0;
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

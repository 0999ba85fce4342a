// hubs_accelerations.c -- accelerations of the hubs of a net (hubs.h).
#include "methods/dca/segments/hubs_steps.h"

#include "spatial/rotation.h"

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

// Velocity of the body at the tip of path i, at the given speed of the joint there, from that of the hub at its head.
static void move_at_tip(lwi_hubs *hubs, int i, double speed, double V[6])
{
    const lwi_net_path *path = &hubs->plan->path[i];
    const lwi_k_frame *tip = &hubs->path[i].tip;
    const double *centre = hubs->system->r[lwi_hubs_body_at_tip(hubs, i)];
    double w[3] = {0}, v[3] = {0}, arm[3], x[3], y[3];
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, path->whole, &l);
    if (path->from >= 0) { // at the point of the tip
        const double *by = hubs->hub[path->from].V;
        v3_sub(arm, tip->r, hubs->system->r[body_of(hubs, path->from)]);
        v3_cross(v, by + 3, arm);
        v3_add(v, v, by);
        v3_copy(w, by + 3);
    }
    for (int k = 0; k < 3; k++) x[k] = end->W[k][l], y[k] = end->Wv[k][l];
    x[2] += speed;
    m3_mul_v(arm, tip->R, x);
    v3_add(w, w, arm);
    m3_mul_v(arm, tip->R, y);
    v3_add(v, v, arm);
    v3_sub(arm, centre, tip->r);
    v3_cross_add(v, w, arm);
    v3_copy(V, v);
    v3_copy(V + 3, w);
    // the part of the handle's acceleration that velocities have
    double a[3], turning[3];
    m3_tmul_v(turning, tip->R, w);
    hubs->path[i].kY[0] = -turning[1] * speed; // - (w x z) u
    hubs->path[i].kY[1] = turning[0] * speed;
    centripetal(a, w, tip->r, centre);
    m3_tmul_v(hubs->path[i].kY + 2, tip->R, a);
}

static void move_at_joint(lwi_hubs *hubs, int h, const double *u)
{
    const int k = hubs->plan->hub[h].node;
    const lwi_node *node = &hubs->model->node[k];
    const lwi_link *link = &hubs->tree->link[k];
    double V[6] = {0}, v[3];
    if (node->parent >= 0) motion_to(V, link->R, link->r, hubs->tree->V[node->parent]);
    for (int j = 0; j < node->nv; j++) v6_axpy(V, u[node->iv + j], link->S[j]);
    if (node->driven) v6_add(V, V, link->sigma);
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

// The head of a path, and its last body if this is at a tie.
static void move_path(lwi_hubs *hubs, int i)
{
    double V[6];
    move_head(hubs, i);
    if (hubs->plan->path[i].tie < 0) return;
    const int b = lwi_hubs_body_at_tip(hubs, i);
    move_at_tip(hubs, i, 0, V);
    v3_copy(hubs->system->v[b], V);
    v3_copy(hubs->system->w[b], V + 3);
}

void lwi_hubs_move(lwi_hubs *hubs, const double *u)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from < 0) move_path(hubs, i);
    for (int h = 0; h < plan->nhub; h++) {
        if (plan->hub[h].path >= 0)
            move_at_tip(hubs, plan->hub[h].path, u[hubs->model->node[plan->hub[h].node].iv],
                        hubs->hub[h].V);
        else
            move_at_joint(hubs, h, u);
        lwi_hubs_give_velocity(hubs, h);
        lwi_hubs_give_driven(hubs, h, u);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            move_path(hubs, plan->carries[i]);
    }
    lwi_hubs_move_merged(hubs);
}

// J A = - gamma, with the gamma of the rows in c0; A has weight as if the ground were accelerated upwards.
static void take_gammas(lwi_hubs *hubs)
{
    const double *g = hubs->model->gravity;
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        double *c = hubs->c0 + edge->row;
        if (edge->joint < 0 || edge->bar >= 0) continue;
        for (int r = 0; r < edge->rows; r++) {
            c[r] = -c[r];
            if (edge->loop >= 0) c[r] -= v3_dot(hubs->closing[edge->loop].pull[r], g);
            for (int i = 0; edge->loop < 0 && i < edge->n; i++) c[r] -= v3_dot(edge->J[i][r], g);
        }
    }
}

void lwi_hubs_tip_loads(lwi_hubs *hubs, const double (*load)[6])
{
    for (int i = 0; i < hubs->plan->npath; i++) {
        double own[6] = {0};
        if (hubs->plan->path[i].tie >= 0 && load)
            lwi_hubs_wrench_at_tip(hubs, i, load[lwi_hubs_body_at_tip(hubs, i)], own);
        hubs->paths->tip[i] = -own[2];
        for (int c = 0; c < LWI_PATH_HANDLE; c++) hubs->path[i].known[c] = -own[c < 2 ? c : c + 1];
    }
}

void lwi_hubs_accelerate(lwi_hubs *hubs, const double *effort, const double (*load)[6])
{
    const lwi_net_plan *plan = hubs->plan;
    lwi_hubs_put_momenta(hubs, false, effort);
    for (int h = 0; h < plan->nhub; h++) {
        const double *w = hubs->hub[h].V + 3;
        double L[3], n[3];
        s3_mul_v(L, hubs->hub[h].J, w);
        v3_cross(n, w, L);
        v6_add(hubs->hub[h].b, hubs->hub[h].b, load[body_of(hubs, h)]);
        v3_sub(hubs->hub[h].b + 3, hubs->hub[h].b + 3, n);
    }
    take_gammas(hubs);
    lwi_hubs_solve_first(hubs, true);
}

void lwi_hubs_accelerate_again(lwi_hubs *hubs)
{
    lwi_hubs_solve_again(hubs);
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
            udot[node->iv] = lwi_hubs_relative_at_tip(hubs, h);
        finite = finite && finite_entries(udot + node->iv, node->nv);
    }
    lwi_hubs_less_heads(hubs, udot);
    return finite;
}

// F . sigma of tree joints; of loops, with J V = -b of their rows, -lambda . b.
double lwi_hubs_drive_power(const lwi_hubs *hubs)
{
    const lwi_net_plan *plan = hubs->plan;
    double power = 0, F[6];
    for (int h = 0; h < plan->nhub; h++) {
        const int k = plan->hub[h].node;
        if (!hubs->model->node[k].driven) continue;
        lwi_hubs_transmitted(hubs, h, F);
        power += lwi_tree_drive_power(hubs->model, k, hubs->tree, F);
    }
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        if (edge->loop < 0) continue;
        for (int r = edge->row; r < edge->row + edge->rows; r++) power -= hubs->sum[r] * hubs->b[r];
    }
    return power;
}

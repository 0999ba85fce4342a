// hubs_matrices.c -- inertias of the hubs of a net, rows of their joints and of closings, and their ranks (hubs.h).
#include "methods/dca/segments/hubs_steps.h"

#include <float.h>

// A pivot above this share of its row is a new direction: at positions closed to round-off.
#define RANK LWI_SYSTEM_RANK

// The inertia of the body of a hub, [mass 1, 0; 0, J].
static void set_own_inertia(lwi_hubs *hubs, int h)
{
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const int b = body_of(hubs, h);
    const lwi_body *body = &hubs->model->body[b];
    lwi_hub *hub = &hubs->hub[h];
    s3_rotate(hub->J, hubs->system->R[b], body->inertia);
    memset(hub->I, 0, sizeof hub->I);
    for (int i = 0; i < 3; i++) {
        hub->I[i][i] = body->mass;
        for (int k = 0; k < 3; k++) hub->I[3 + i][3 + k] = hub->J[at[i][k]];
    }
}

// The lower triangle of I += x y', by pairs of columns: the last pair of a row may write one entry above the diagonal,
// which nothing reads.
static inline void add_lower(double (*I)[6], const double x[6], const double y[6])
{
    for (int r = 0; r < 6; r++)
        for (int c = 0; c <= r; c += 2) {
            const lwi_pair sum = lwi_pair_load(I[r] + c) + x[r] * lwi_pair_load(y + c);
            memcpy(I[r] + c, &sum, sizeof sum);
        }
}

// X := L^-1 X of n rows, all six columns side by side.
static inline void forward_rows(double (*L)[6], int n, double (*X)[6])
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) add_row(X[i], -L[i][k], X[k]);
        for (int c = 0; c < 6; c += 2) {
            const lwi_pair scaled = L[i][i] * lwi_pair_load(X[i] + c);
            memcpy(X[i] + c, &scaled, sizeof scaled);
        }
    }
}

// The lower triangle of I += X'M X of a path that the hub carries.
static void add_path(const lwi_hubs *hubs, int i, double I[6][6])
{
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    const double(*X)[6] = (const double(*)[6])hubs->path[i].X;
    for (int r = 0; r < LWI_PATH_HANDLE; r++) {
        double MX[6] = {0};
        for (int c = 0; c < LWI_PATH_HANDLE; c++) add_row(MX, end->M[triangle(r, c)][l], X[c]);
        add_lower(I, X[r], MX);
    }
}

// Y, -T'X of a path's edge.
static void path_rows(const lwi_hubs *hubs, lwi_hub_edge *edge)
{
    const int i = -1 - edge->joint;
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    memcpy(edge->J[0], hubs->path[i].Y, sizeof hubs->path[i].Y);
    for (int r = 0; edge->n > 1 && r < LWI_PATH_HANDLE; r++) {
        v6_zero(edge->J[1][r]);
        for (int c = 0; c < LWI_PATH_HANDLE; c++)
            add_row(edge->J[1][r], -end->T[LWI_PATH_HANDLE * c + r][l], hubs->path[i].X[c]);
    }
}

// The closure of the joint of an edge, and what is by row: b, and gamma.
static void close_joint(const lwi_hubs *hubs, const lwi_hub_edge *edge, double t, bool gammas,
                        lwi_closure *closure)
{
    lwi_hubs_closure(hubs, edge->joint, t, gammas ? LWI_CLOSURE_GAMMA : LWI_CLOSURE_POSITION,
                     closure);
    const size_t bytes = (size_t)closure->n * sizeof *closure->b;
    memcpy(hubs->b + edge->row, closure->b, bytes);
    if (gammas) memcpy(hubs->c0 + edge->row, closure->gamma, bytes);
}

static void joint_rows(const lwi_hubs *hubs, lwi_hub_edge *edge, double t, bool gammas)
{
    lwi_closure closure;
    close_joint(hubs, edge, t, gammas, &closure);
    for (int i = 0; i < closure.nbody; i++)
        memcpy(edge->J[i], closure.J[i], (size_t)closure.n * sizeof *closure.J[i]);
}

// What rows J on a body of a joint that closes a loop would have for mobility if it were loose, at least.
static void add_loose(const lwi_hubs *hubs, lwi_hub_closing *own, int b, int n,
                      const double (*J)[6])
{
    const lwi_body *body = &hubs->model->body[b];
    const double trace = body->inertia[0] + body->inertia[1] + body->inertia[2];
    for (int r = 0; r < n; r++) {
        v3_add(own->pull[r], own->pull[r], J[r]);
        if (body->mass > 0) own->loose[r] += v3_dot(J[r], J[r]) / body->mass;
        if (trace > 0) own->loose[r] += v3_dot(J[r] + 3, J[r] + 3) / trace;
    }
}

// Side s of a joint at the tip of path i, with the rows J on the body there.                       (20)
static void tip_rows(const lwi_hubs *hubs, lwi_hub_closing *own, int s, int n, const double (*J)[6])
{
    enum { HANDLE = LWI_PATH_HANDLE };
    const int i = own->path[s];
    const lwi_k_frame *tip = &hubs->path[i].tip;
    double arm[3], W[HANDLE][6], L[HANDLE][6];
    int l;
    const lwi_path_end *end = lwi_net_end(hubs->paths, hubs->plan->path[i].whole, &l);
    v3_sub(arm, tip->r, hubs->system->r[lwi_hubs_body_at_tip(hubs, i)]); // from the mass centre
    for (int c = 0; c < HANDLE; c++) {
        v6_zero(W[c]);
        for (int k = 0; own->start[s] >= 0 && k < HANDLE; k++)
            add_row(W[c], end->T[HANDLE * k + c][l], hubs->path[i].X[k]);
        for (int k = 0; k < HANDLE; k++) L[c][k] = end->L[triangle(c, k)][l];
        L[c][HANDLE] = 0;
    }
    for (int r = 0; r < n; r++) {
        double *B = own->B[s][r], couple[3], rotated[3], BL[6] = {0};
        v3_cross(couple, J[r], arm);
        v3_add(couple, couple, J[r] + 3);
        m3_tmul_v(rotated, tip->R, couple);
        B[0] = rotated[0], B[1] = rotated[1];
        m3_tmul_v(B + 2, tip->R, J[r]);
        v6_zero(own->J[s][r]);
        for (int c = 0; c < HANDLE; c++) {
            add_row(own->J[s][r], B[c], W[c]);
            add_row(BL, B[c], L[c]);
        }
        for (int k = 0; k <= r; k++)
            for (int c = 0; c < HANDLE; c++) own->C[r][k] += BL[c] * own->B[s][k][c];
    }
}

// Rows of side s act on hub h, which is in the core, or on the way to it.
static void put_rows(lwi_hubs *hubs, int loop, int s, int h, const double (*J)[6])
{
    lwi_hub_edge *edge = &hubs->edge[hubs->loop_edge[loop]];
    lwi_hub *hub = &hubs->hub[h];
    for (int r = 0; r < edge->rows; r++) {
        if (hub->core < 0) {
            v6_copy(hub->Jt[r], J[r]);
            continue;
        }
        double *to = edge->J[hubs->closing[loop].at[s]][r];
        v6_add(to, to, J[r]);
    }
}

static void closing_rows(lwi_hubs *hubs, lwi_hub_edge *edge, double t, bool gammas)
{
    lwi_hub_closing *own = &hubs->closing[edge->loop];
    const int body1 = hubs->model->joint[edge->joint].body1;
    lwi_closure closure;
    close_joint(hubs, edge, t, gammas, &closure);
    memset(edge->J, 0, sizeof edge->J);
    memset(own->C, 0, sizeof own->C);
    memset(own->pull, 0, sizeof own->pull);
    memset(own->loose, 0, sizeof own->loose);
    for (int i = 0; i < closure.nbody; i++) {
        const int s = closure.body[i] != body1;
        const double(*J)[6] = (const double(*)[6])closure.J[i];
        add_loose(hubs, own, closure.body[i], closure.n, J);
        if (own->path[s] >= 0)
            tip_rows(hubs, own, s, closure.n, J);
        else
            memcpy(own->J[s], J, (size_t)closure.n * sizeof *J);
        if (own->start[s] >= 0)
            put_rows(hubs, edge->loop, s, own->start[s], (const double(*)[6])own->J[s]);
    }
}

// The compliance of a path between two rows, or of a rotor.
static double compliance(const lwi_hubs *hubs, const lwi_hub_edge *edge, int r, int c)
{
    int l;
    if (edge->bar >= 0) return edge->C[r > c ? r : c][r > c ? c : r];
    if (edge->loop >= 0) return hubs->closing[edge->loop].C[r > c ? r : c][r > c ? c : r];
    if (edge->joint >= 0) return r == c ? edge->slack[r] : 0;
    const lwi_path_end *end =
        lwi_net_end(hubs->paths, hubs->plan->path[-1 - edge->joint].whole, &l);
    return end->L[triangle(r, c)][l];
}

// Rows J on the hub on the other side of what is eliminated, of a bar; on the hub that carries its joint they stay.
static void put_bar(lwi_hubs *hubs, int h, int to, const double (*J)[6])
{
    const lwi_hub_rows own = own_rows(hubs, h);
    lwi_hub_edge *bar = &hubs->edge[hubs->hub[h].bar];
    for (int i = 0; i < bar->n; i++)
        for (int r = 0; r < bar->rows; r++) {
            v6_zero(bar->J[i][r]);
            if (bar->body[i] == own.to) v6_add(bar->J[i][r], bar->J[i][r], own.J_to[r]);
            if (bar->body[i] == to) v6_add(bar->J[i][r], bar->J[i][r], J[r]);
        }
}

// The rows that are left of a hub move to the one on the other side of those that are eliminated with it.   (21)
static void move_rows(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h), left = rows_left(hubs, h);
    const int n = left.edge->rows, m = with.edge ? with.edge->rows : 0;
    double(*C)[6] = hub->bar < 0 ? hubs->closing[hub->through].C : hubs->edge[hub->bar].C;
    double KJ[6][6], A[6][6], J[6][6] = {{0}}; // A: column by column
    for (int r = 0; r < n; r++) {
        v6_copy(KJ[r], left.J[r]);
        apply_mobility(hub, KJ[r]);
        for (int k = 0; k < m; k++) A[r][k] = v6_dot(with.J[k], KJ[r]);
        cholesky6_forward(hub->S, m, A[r]);
        for (int k = 0; k <= r; k++) {
            if (hub->bar >= 0) C[r][k] = r == k ? left.edge->slack[r] : 0;
            C[r][k] += v6_dot(left.J[k], KJ[r]);
            for (int c = 0; c < m; c++) C[r][k] -= A[r][c] * A[k][c];
        }
        for (int c = 0; with.to >= 0 && c < m; c++) add_row(J[r], -A[r][c], hub->U[c]);
    }
    if (hub->bar >= 0)
        put_bar(hubs, h, with.to, (const double(*)[6])J);
    else if (with.to >= 0)
        put_rows(hubs, hub->through, hub->side, with.to, (const double(*)[6])J);
}

// The lower triangle of S = J K J' + the compliance of the rows, with K = L'^-1 L^-1.
static void set_own_compliance(const lwi_hubs *hubs, const lwi_hub_rows *with, lwi_hub *hub)
{
    const int n = with->edge->rows;
    double Z[6][6] = {{0}}; // L^-1 J': rows of J side by side
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 6; k++) Z[k][r] = with->J[r][k];
    forward_rows(hub->L, 6, Z);
    memset(hub->S, 0, sizeof hub->S);
    for (int k = 0; k < 6; k++) add_lower(hub->S, Z[k], Z[k]);
    for (int r = 0; has_compliance(hubs, with->edge) && r < n; r++)
        for (int c = 0; c <= r; c++) hub->S[r][c] += compliance(hubs, with->edge, r, c);
}

// Eliminates a hub and its joint, or a loop: S, U, and what the hub on the other side of that gets.       (19)
static bool eliminate(lwi_hubs *hubs, int h)
{
    lwi_hub *hub = &hubs->hub[h];
    const lwi_hub_rows with = rows_with(hubs, h);
    if (with.edge) {
        const int n = with.edge->rows;
        set_own_compliance(hubs, &with, hub);
        if (cholesky6(hub->S, n, 64 * DBL_EPSILON) >= 0) return false;
        if (with.to >= 0) {
            memcpy(hub->U, with.J_to, (size_t)n * sizeof *hub->U);
            forward_rows(hub->S, n, hub->U);
        }
        for (int r = 0; with.to >= 0 && r < n; r++)
            add_lower(hubs->hub[with.to].I, hub->U[r], hub->U[r]);
    }
    if (hub->through >= 0) move_rows(hubs, h);
    return true;
}

// The mobility that row r of a joint at the tips of paths has is round-off.
static bool is_round_off(const lwi_hubs *hubs, const lwi_hub_edge *edge, int r, double mobility)
{
    return edge->loop >= 0 && has_compliance(hubs, edge) &&
           !(mobility > RANK * hubs->closing[edge->loop].loose[r]);
}

// J and G of the elimination.  @return false: a row is lost in round-off
static bool fill_core(lwi_hubs *hubs)
{
    double(*J)[6] = lwi_elim_J(hubs->elim), (*G)[6] = lwi_elim_G(hubs->elim);
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        if (edge->core < 0) continue;
        const int at = 6 * hubs->order.slot[edge->core], own = at + 6 * edge->n;
        for (int k = 0; k < edge->ncore; k++) {
            const int r = edge->core_row[k];
            double mobility = 0;
            for (int i = 0; i < edge->n; i++) {
                v6_copy(J[at + 6 * i + k], edge->J[i][r]);
                v6_copy(G[at + 6 * i + k], edge->J[i][r]);
                apply_mobility(&hubs->hub[edge->body[i]], G[at + 6 * i + k]);
                mobility += v6_dot(J[at + 6 * i + k], G[at + 6 * i + k]);
            }
            if (!has_compliance(hubs, edge)) continue;
            J[own + k][k] = 1;
            for (int c = 0; c < edge->ncore; c++)
                G[own + k][c] = compliance(hubs, edge, r, edge->core_row[c]);
            if (is_round_off(hubs, edge, r, mobility + G[own + k][k])) return false;
        }
    }
    return true;
}

// L, and L' above its diagonal.
static bool factor(lwi_hub *hub)
{
    memcpy(hub->L, hub->I, sizeof hub->L);
    if (cholesky6(hub->L, 6, 64 * DBL_EPSILON) >= 0) return false;
    for (int r = 1; r < 6; r++)
        for (int c = 0; c < r; c++) hub->L[c][r] = hub->L[r][c];
    return true;
}

// Inertias of the hubs, rows; false: an inertia is singular.
static bool fill(lwi_hubs *hubs, double t, bool gammas)
{
    const lwi_net_plan *plan = hubs->plan;
    for (int h = 0; h < plan->nhub; h++) {
        set_own_inertia(hubs, h);
        for (int i = plan->from_hub[h]; i < plan->from_hub[h + 1]; i++)
            add_path(hubs, plan->carries[i], hubs->hub[h].I);
    }
    for (int e = 0; e < hubs->nedge; e++)
        if (hubs->edge[e].bar >= 0)
            continue; // below
        else if (hubs->edge[e].joint < 0)
            path_rows(hubs, &hubs->edge[e]);
        else if (hubs->edge[e].loop >= 0)
            closing_rows(hubs, &hubs->edge[e], t, gammas);
        else
            joint_rows(hubs, &hubs->edge[e], t, gammas);
    for (int core = 0; core < 2; core++)
        for (int h = plan->nhub - 1; h >= 0; h--) { // those that are carried first
            lwi_hub *hub = &hubs->hub[h];
            if ((hub->core >= 0) != core) continue;
            if (!factor(hub)) return false;
            if (!core && !eliminate(hubs, h)) return false;
        }
    return !hubs->elim || fill_core(hubs);
}

bool lwi_hubs_factor(lwi_hubs *hubs, double t, bool gammas)
{
    return fill(hubs, t, gammas) && (!hubs->elim || lwi_elim_factor(hubs->elim, NULL) == LW_OK);
}

void lwi_hubs_gammas(lwi_hubs *hubs, double t)
{
    lwi_closure closure;
    for (int e = 0; e < hubs->nedge; e++) {
        const lwi_hub_edge *edge = &hubs->edge[e];
        if (edge->joint < 0 || edge->bar >= 0) continue;
        if (edge->nrotor)
            close_joint(hubs, edge, t, true, &closure);
        else
            lwi_joint_closure_gamma(hubs->model, edge->joint, t, &hubs->system->motion,
                                    hubs->c0 + edge->row);
    }
}

// The rows of an edge that the elimination has.
static void choose_rows(lwi_hubs *hubs, lwi_hub_edge *edge)
{
    for (int r = edge->ncore = 0; !edge->eliminated && r < edge->rows; r++) {
        double mobility = compliance(hubs, edge, r, r);
        for (int i = 0; i < edge->n; i++) {
            double KJ[6];
            v6_copy(KJ, edge->J[i][r]);
            apply_mobility(&hubs->hub[edge->body[i]], KJ);
            mobility += v6_dot(KJ, edge->J[i][r]);
        }
        if (is_round_off(hubs, edge, r, mobility))
            hubs->nlost++;
        else
            edge->core_row[edge->ncore++] = r;
    }
}

lw_status lwi_hubs_connect(lwi_hubs *hubs, double t, lwi_pool *pool, lwi_arena *arena, bool *found)
{
    *found = fill(hubs, t, false);
    if (!*found) return LW_OK;
    for (int e = 0; e < hubs->nedge; e++) choose_rows(hubs, &hubs->edge[e]);
    return lwi_hubs_make_core(hubs, pool, arena);
}

int lwi_hubs_find_ranks(lwi_hubs *hubs, double t)
{
    int rank = 0;
    if (!fill(hubs, t, false)) return -1;
    if (!hubs->elim) return 0;
    if (lwi_elim_find_ranks(hubs->elim, RANK, &rank) != LW_OK) return -1;
    return hubs->nlost + hubs->order.nrow - rank;
}

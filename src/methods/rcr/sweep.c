// sweep.c -- the matrix pass: every node's system, solved for dependent and independent speeds, and its message.
//
// With the rows of a node's system (system.c) transformed to R y_D + G_b b + g = 0 on top,
//
//     y_D = P b + p,   P = -R^-1 G_b,   p = -R^-1 g                         (35), (40), (47), (55)
//     H_bb += E P + P' E',   E = H_bD + P' H_DD / 2                         (49), (57), (58), (60)
//     H -= Y'Y,   Y = L^-1 H_Ib,   L L' = H_II                              (61)-(63), (65), (66)
//
// (49), (58): P holds the columns of delta = S' + chi S' that carry the motion of the parent and of the base to a
// dependent joint; the sums (50)-(54) over a loop are not formed.  Numbers (n) are those of [anderson2003].
#include "methods/rcr/unconstrained.h"

#include "base/assert.h"
#include "methods/rcr/independent.h"
#include "methods/rcr/system.h"
#include "system/singular.h"

#include <float.h>
#include <string.h>

// Ten of sixteen digits are lost at such a pivot.
#define SINGULAR_PIVOT 1e-10

// ------------------------------------------------------------------------------------------ pivots

static bool candidate(const lwi_rcr *e, const lwi_rcr_system *s, int column)
{
    const int speed = s->f->y[column];
    if (s->taken[column]) return false;
    if (lwi_rcr_is_fixed(s->mode)) return e->dependent[speed];
    return s->mode == LWI_RCR_FIND_RANKS || !lwi_rcr_is_independent(e, speed);
}

static double part(const lwi_rcr_system *s, int first, int column)
{
    double square = 0;
    for (int i = first; i < s->f->kept; i++) {
        const double g = s->G[i * s->n + column];
        square += g * g;
    }
    return sqrt(square);
}

// True if rows from `first` on act on other bodies.  The rows of a loop that has reached its base do not: they get no
// better pivot later.
static bool is_open(const lwi_rcr_system *s, int first)
{
    if (s->node->up < 0) return false;
    for (int i = first; i < s->f->kept; i++)
        for (int j = s->ny; j < s->nc; j++)
            if (fabs(s->G[i * s->n + j]) > LWI_RCR_ABSENT) return true;
    return false;
}

// Speeds of this system; with those that already wait at the node that receives its message, if these are many.
static int width(const lwi_rcr *e, const lwi_rcr_system *s)
{
    const int waiting = s->node->up < 0 ? 0 : e->waiting[s->node->up];
    return waiting > LWI_RCR_LONG ? waiting + s->ny : s->ny;
}

// Pivots that are accepted: the wider the system, the smaller.
static double sufficient_pivot(const lwi_rcr *e, const lwi_rcr_system *s)
{
    const bool fixed = lwi_rcr_is_fixed(s->mode);
    const int speeds = width(e, s);
    if (speeds > LWI_RCR_LONG) {
        const double narrower = (double)LWI_RCR_LONG / speeds;
        const double limit = fixed ? LWI_RCR_DELAY_LONG : LWI_RCR_THETA_LONG;
        return fmin(s->pivot, limit * narrower * narrower * narrower);
    }
    return !fixed && speeds > LWI_RCR_WIDE ? fmin(s->pivot, LWI_RCR_THETA_WIDE) : s->pivot;
}

// Reflects rows until the dependent speeds have an upper triangle; at[0 .. nd) are their columns.  The norm of the
// remaining part of a column is its pivot, sqrt(Delta) of (37), (41), (45).
static void choose_dependent(lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    const double enough = sufficient_pivot(e, s);
    for (f->nd = 0; f->nd < f->kept; f->nd++) {
        int best = -1;
        double max = 0;
        for (int j = 0; j < s->ny; j++) {
            if (!candidate(e, s, j)) continue;
            const double size = part(s, f->nd, j);
            if (size > max) max = size, best = j;
        }
        if (best < 0 || max < SINGULAR_PIVOT) break;
        if (max < enough && is_open(s, f->nd)) break;
        lwi_rcr_reflect(f->kept, f->nd, s->nc, s->n, s->G, best,
                        f->reflect + (size_t)f->nd * (size_t)(f->kept + 1), s->scratch);
        LWI_ASSERT(!s->taken[best]);
        s->at[f->nd] = best;
        s->taken[best] = true;
        if (!lwi_rcr_is_fixed(s->mode)) e->fresh[f->y[best]] = 1;
        if (max < e->min_pivot) e->min_pivot = max, e->min_pivot_speed = f->y[best];
    }
}

// at[nd ..]: independent speeds, delayed ones, bodies.
static void sort_columns(const lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    int at = f->nd;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < s->ny; j++) {
            if (s->taken[j]) continue;
            bool wait = s->node->up >= 0 && f->nd < f->kept;
            if (wait && !(lwi_rcr_is_fixed(s->mode) && e->dependent[f->y[j]]))
                wait = part(s, f->nd, j) > LWI_RCR_ABSENT;
            if (wait == (pass == 1)) s->at[at++] = j;
        }
        if (pass == 0) f->ni = at - f->nd;
    }
    LWI_ASSERT(at == s->ny); // every speed is in one class
    f->nz = at - f->nd - f->ni;
    f->nb = f->nz + 6 * s->node->nbody;
    f->nout = s->node->up >= 0 ? f->kept - f->nd : 0;
    LWI_ASSERT(f->nout >= 0 && f->nd <= f->kept && f->kept <= f->nin);
    for (; at < s->nc; at++) s->at[at] = at;
}

static lw_status singular(const lwi_rcr *e, int k, double t, lw_error *error)
{
    const int joint = e->model->node[k].joint;
    if (joint >= 0) return lwi_singular_fail(e->model, joint, t, e->min_row, error);
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "singular position at t = %.9g s: the constraints of the loops through body "
                    "'%s' depend on each other here, but not nearby (pivot %.1e)",
                    t, e->model->body[e->model->node[k].body].name, e->min_row);
}

// True if no row determines a speed here and none is dropped: rows need not be orthonormal.
static bool only_carries(const lwi_rcr *e, const lwi_rcr_system *s, int want)
{
    const lwi_rcr_front *f = s->f;
    if (!lwi_rcr_is_fixed(s->mode) || want != f->nin || s->node->up < 0) return false;
    for (int j = 0; j < s->ny; j++)
        if (e->dependent[f->y[j]]) return false;
    return true;
}

// Orthonormalises the rows of a system.  Where none is dropped they are not sorted, once that is known: e->as_chosen.
// H, which ranks do not need, keeps them meanwhile.
static int orthonormal(const lwi_rcr *e, lwi_rcr_system *s, int want)
{
    lwi_rcr_front *f = s->f;
    const int n = f->nin;
    const bool again = want < 0 && e->as_chosen && n <= s->nc;
    const size_t row = (size_t)s->nc * sizeof(double);
    LWI_ASSERT(!again || !s->form);
    for (int i = 0; i < n && again; i++) memcpy(s->H + i * s->nc, s->G + i * s->n, row);
    const int kept =
        lwi_rcr_orthonormal(n, s->nc, s->n, s->G, want, s->rank, f->mix, f->norm, f->pick, s->B);
    if (!again || kept < n) return kept;
    for (int i = 0; i < n; i++) memcpy(s->G + i * s->n, s->H + i * s->nc, row);
    return lwi_rcr_orthonormal(n, s->nc, s->n, s->G, n, s->rank, f->mix, f->norm, f->pick, s->B);
}

static lw_status divide(lwi_rcr *e, lwi_rcr_system *s, double t, lw_error *error)
{
    lwi_rcr_front *f = s->f;
    lwi_rcr_node *node = &e->node[s->k];
    int want = s->mode == LWI_RCR_FIND_RANKS ? -1 : node->rank - f->below;
    LWI_ASSERT(want >= 0 || s->mode == LWI_RCR_FIND_RANKS);
    if (want > f->nin) want = f->nin;
    f->kept = want;
    f->rows_unchanged = only_carries(e, s, want);
    if (want != 0 && !f->rows_unchanged) {
        const int max = f->nin < s->nc ? f->nin : s->nc;
        f->mix = lwi_rcr_push(e, (size_t)f->nin * (size_t)(want < 0 ? max : want));
        f->kept = orthonormal(e, s, want);
    }
    LWI_ASSERT(f->kept >= 0 && f->kept <= f->nin);
    if (want < 0 && f->kept < f->nin && f->kept < s->nc)
        e->max_dropped = fmax(e->max_dropped, f->norm[f->kept]);
    for (int i = 0; i < f->kept && !f->rows_unchanged; i++)
        if (f->norm[i] < e->min_row) e->min_row = f->norm[i], e->min_row_node = s->k;
    if (e->min_row < SINGULAR_PIVOT) return singular(e, s->k, t, error);
    if (s->mode == LWI_RCR_FIND_RANKS) node->rank = f->below + f->kept;
    const int max = s->ny < f->kept ? s->ny : f->kept;
    f->reflect = lwi_rcr_push(e, (size_t)max * (size_t)(f->kept + 1));
    choose_dependent(e, s);
    sort_columns(e, s);
    for (int j = 0; j < s->ny; j++) s->map[j] = f->y[s->at[j]], f->from[j] = s->at[j];
    if (s->ny) memcpy(f->y, s->map, (size_t)s->ny * sizeof *f->y);
    f->below += f->nd;
    if (s->node->up >= 0 || f->nd == f->kept) return LW_OK;
    e->min_pivot = 0;
    return singular(e, s->k, t, error);
}

// ------------------------------------------------------------------------------------------ reduce

// to := entries at[first ..] of a row of the system.
static void gather(const lwi_rcr_system *s, const double *restrict row, int first,
                   double *restrict to)
{
    int i = first;
    for (; i < s->ny; i++) to[i - first] = row[s->at[i]];
    memcpy(to + i - first, row + i, (size_t)(s->nc - i) * sizeof *to);
}

// R, P and HD: the coefficients of (40), (47), (55); S P and S p stand for delta, chi   (48), (49)
static void solve_rows(lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    const int nd = f->nd, m = f->ni + f->nb, n = s->n;
    f->R = lwi_rcr_push(e, (size_t)(nd * nd));
    f->P = lwi_rcr_push(e, (size_t)(nd * m));
    f->HD = lwi_rcr_push(e, (size_t)(nd * (nd + m)));
    for (int i = nd - 1; i >= 0; i--) {
        double *restrict P = f->P + i * m, *R = f->R + i * nd;
        const double *G = s->G + i * n;
        for (int j = 0; j < nd; j++) R[j] = G[s->at[j]];
        gather(s, G, nd, P);
        for (int l = i + 1; l < nd; l++) {
            const double *restrict other = f->P + l * m;
            for (int j = 0; j < m; j++) P[j] += R[l] * other[j];
        }
        LWI_ASSERT(R[i] != 0);
        const double inverse = -1 / R[i];
        for (int j = 0; j < m; j++) P[j] *= inverse;
        if (s->form) gather(s, s->H + s->at[i] * s->nc, 0, f->HD + i * (nd + m));
    }
}

// B [m][m], upper triangle := H_bb with the dependent speeds substituted.         (57), (58), (60)
static void eliminate_dependent(const lwi_rcr_system *s, double *restrict B, double *restrict E)
{
    const lwi_rcr_front *f = s->f;
    const int nd = f->nd, m = f->ni + f->nb, speeds = s->ny - nd;
    for (int i = 0; i < m; i++) {
        LWI_ASSERT_INDEX(s->at[nd + i], s->nc);
        const double *row = s->H + s->at[nd + i] * s->nc;
        if (i < speeds)
            gather(s, row, nd, B + i * m);
        else
            memcpy(B + i * m + i, row + nd + i, (size_t)(m - i) * sizeof *B);
    }
    for (int d = 0; d < nd; d++) {
        const double *restrict P = f->P + d * m, *HD = f->HD + d * (nd + m);
        memcpy(E, HD + nd, (size_t)m * sizeof *E);
        for (int l = 0; l < nd; l++) {
            const double *restrict other = f->P + l * m;
            const double half = 0.5 * HD[l];
            for (int i = 0; i < m; i++) E[i] += half * other[i];
        }
        for (int i = 0; i < m; i++) {
            double *restrict b = B + i * m;
            const double Ei = E[i], Pi = P[i];
            for (int j = i; j < m; j++) b[j] += Ei * P[j] + Pi * E[j];
        }
    }
}

static lw_status no_inertia(const lwi_rcr *e, int speed, double t, lw_error *error)
{
    const lw_model *model = e->model;
    int k = 0;
    LWI_ASSERT_INDEX(speed, model->tree_nv);
    while (speed < model->node[k].iv || speed >= model->node[k].iv + model->node[k].nv) k++;
    const int joint = model->node[k].joint;
    return lwi_fail(
        error, LW_ERR_SINGULAR,
        "%s '%s': nothing resists its speed %d at t = %.9g s: what moves with it has no "
        "inertia there",
        joint < 0 ? "floating body" : "joint",
        joint < 0 ? model->body[model->node[k].body].name : model->joint[joint].name,
        speed - model->node[k].iv, t);
}

// L, Y and the message H (upper triangle) from B of order ni + nb.                      (61)-(66)
static lw_status eliminate_independent(lwi_rcr *e, lwi_rcr_system *s, const double *B, double t,
                                       lw_error *error)
{
    lwi_rcr_front *f = s->f;
    const int ni = f->ni, nb = f->nb, m = ni + nb;
    for (int i = 0; i < ni; i++) {
        // rounding of S'IS: a few units in the last place of its terms
        const double min = 64 * DBL_EPSILON * fabs(s->H[s->at[f->nd + i] * (s->nc + 1)]);
        double *restrict Y = f->Y + i * nb, *restrict L = f->L + i * ni;
        for (int j = 0; j < i; j++) {
            L[j] = B[j * m + i];
            for (int l = 0; l < j; l++) L[j] -= L[l] * f->L[j * ni + l];
            L[j] /= f->L[j * ni + j];
        }
        double pivot = B[i * m + i];
        for (int l = 0; l < i; l++) pivot -= L[l] * L[l];
        if (!(pivot > min)) return no_inertia(e, f->y[f->nd + i], t, error);
        LWI_ASSERT(pivot > 0);
        L[i] = sqrt(pivot);
        memcpy(Y, B + i * m + ni, (size_t)nb * sizeof *Y);
        for (int l = 0; l < i; l++)
            for (int b = 0; b < nb; b++) Y[b] -= L[l] * f->Y[l * nb + b];
        const double inverse = 1 / L[i];
        for (int b = 0; b < nb; b++) Y[b] *= inverse;
    }
    for (int a = 0; a < nb; a++) {
        double *restrict H = f->H + a * nb;
        memcpy(H + a, B + (ni + a) * m + ni + a, (size_t)(nb - a) * sizeof *H);
        for (int i = 0; i < ni; i++) {
            const double *restrict Y = f->Y + i * nb;
            const double Ya = Y[a];
            for (int b = a; b < nb; b++) H[b] -= Ya * Y[b];
        }
    }
    return LW_OK;
}

// True if the columns have not been permuted: then B is H.
static bool is_in_order(const lwi_rcr_system *s)
{
    bool order = s->f->nd == 0;
    for (int j = 0; j < s->ny; j++) order = order && s->at[j] == j;
    return order;
}

// Memory for L, Y and the message H, in all modes: what a mode needs is reserved for the others.
static void push_form(lwi_rcr *e, lwi_rcr_front *f)
{
    const size_t ni = (size_t)f->ni, nb = (size_t)f->nb;
    f->L = lwi_rcr_push(e, ni * ni);
    f->Y = lwi_rcr_push(e, ni * nb);
    f->H = lwi_rcr_push(e, nb * nb);
}

// The quadratic form without the speeds.
static lw_status reduce_form(lwi_rcr *e, lwi_rcr_system *s, double t, lw_error *error)
{
    const bool order = is_in_order(s);
    if (!order) eliminate_dependent(s, s->B, s->scratch);
    return eliminate_independent(e, s, order ? s->H : s->B, t, error);
}

static void send_rows(lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    f->G = lwi_rcr_push(e, (size_t)(f->nout * f->nb));
    LWI_ASSERT(f->nd + f->ni + f->nz == s->ny && f->nb == f->nz + 6 * s->node->nbody);
    for (int r = 0; r < f->nout; r++)
        gather(s, s->G + (f->nd + r) * s->n, f->nd + f->ni, f->G + r * f->nb);
    f->h = lwi_rcr_push(e, (size_t)f->nb);
    f->hD = lwi_rcr_push(e, (size_t)f->nd);
    f->p = lwi_rcr_push(e, (size_t)f->nd);
    f->z = lwi_rcr_push(e, (size_t)f->ni);
}

static lw_status eliminate_node(lwi_rcr *e, lwi_rcr_system *s, double t, lw_error *error)
{
    if (!lwi_rcr_fill(e, s)) return LW_ERR_MEMORY;
    TRY(divide(e, s, t, error));
    solve_rows(e, s);
    push_form(e, s->f);
    if (s->form) TRY(reduce_form(e, s, t, error));
    send_rows(e, s);
    return LW_OK;
}

// Scratch of the vector passes at a node, with that of lwi_rcr_minimum_norm.
static size_t scratch_of(const lwi_rcr_front *f, const lwi_rcr_node *node)
{
    const size_t n = (size_t)(f->ny + 6 * (node->nbody + 1)), nin = (size_t)f->nin;
    LWI_ASSERT(f->kept <= f->nin);
    return 2 * n + 2 * nin + nin * (size_t)lwi_rcr_minimum_norm_basis(f->nin, f->kept);
}

static lw_status eliminate_any(lwi_rcr *e, int k, lwi_rcr_mode mode, double pivot, double rank,
                               double t, lw_error *error)
{
    int fails;
    if (lwi_rcr_unconstrained(e, k, mode, &fails))
        return fails < 0 ? LW_OK : no_inertia(e, e->front[k].y[fails], t, error);
    lwi_rcr_system s = {.f = &e->front[k],
                        .node = &e->node[k],
                        .k = k,
                        .mode = mode,
                        .pivot = pivot,
                        .rank = rank,
                        .form = mode == LWI_RCR_FIXED};
    return eliminate_node(e, &s, t, error);
}

// Adds the system of node k to the sizes, after its children; false if the elimination takes longer than
// allowed.  Steps are never limited.
static bool affordable(lwi_rcr *e, lwi_rcr_mode mode, int k, const lwi_cost_features *row,
                       lwi_cost_features *sum)
{
    if (!(e->limit > 0) || lwi_rcr_is_fixed(mode)) return true;
    lwi_rcr_count_front(e, k);
    const lwi_rcr_front *f = &e->front[k];
    const double n = f->ny + 6.0 * e->node[k].nbody + f->nin;
    sum->fronts += n * n;
    sum->cubes += n * n * n;
    return lwi_cost_by_row(row, sum) <= e->limit;
}

lw_status lwi_rcr_eliminate(lwi_rcr *e, lwi_rcr_mode mode, double pivot, double rank, double t,
                            lw_error *error)
{
    const size_t speeds = (size_t)e->model->tree_nv;
    e->used = 0;
    e->passes++;
    e->min_pivot = e->min_row = 1;
    e->max_dropped = 0;
    e->reduced = false;
    e->min_pivot_speed = e->min_row_node = -1;
    if (!lwi_rcr_is_fixed(mode) && speeds) memset(e->fresh, 0, speeds);
    if (e->model->nnode) memset(e->waiting, 0, (size_t)e->model->nnode * sizeof *e->waiting);
    e->ndependent = 0;
    size_t widest = 0;
    const lwi_cost_features *row = lwi_cost_row(LWI_RCR_ELIMINATION);
    lwi_cost_features sum = {0};
    for (int k = e->model->nnode - 1; k >= 0; k--) {
        if (!affordable(e, mode, k, row, &sum))
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "formulation rcr: too many loops are open at once");
        TRY(eliminate_any(e, k, mode, pivot, rank, t, error));
        e->ndependent += e->front[k].nd;
        if (e->node[k].up >= 0) e->waiting[e->node[k].up] += e->front[k].nz;
        LWI_ASSERT(e->front[k].nd <= e->front[k].ny);
        LWI_ASSERT(e->node[k].up < k); // its message is read later
        const size_t wide = scratch_of(&e->front[k], &e->node[k]);
        if (wide > widest) widest = wide;
    }
    if (e->used + widest > e->need) e->need = e->used + widest;
    LWI_ASSERT(mode == LWI_RCR_FIND_RANKS ? e->ndependent <= e->cut->m
                                          : e->ndependent == lwi_rcr_rank(e));
    if (e->used + widest > e->room) return LW_ERR_MEMORY;
    e->reduced = mode == LWI_RCR_FIXED;
    return LW_OK;
}

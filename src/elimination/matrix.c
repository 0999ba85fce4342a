// matrix.c -- matrix pass and vector passes at one node.
//
// Matrix pass: assembles the front from the blocks J G' and the updates of the children, then eliminates its
// closed edges:
//     C = (D' xi D)^-1 and W = D C D' of a joint                                [chadaj2017, (26)-(28)]
//     xi of the compound, here the Schur complement U = - Z' D Z                [chadaj2017, (34)-(35)]
//     C = (1/alpha + Phi_q delta Phi_q')^-1, delta of the compound              [malczyk2019, (35)-(38)]
// Vector passes: right sides up [chadaj2017, (36); malczyk2019, (39)], multipliers down [chadaj2017, (29);
// malczyk2019, (34)].
// Cost at a node with c closed of f rows: c f^2 / 2 multiplications, twice that without symmetry.
#include "elimination/dense_blocks.h"
#include "elimination/lanes.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------ matrix pass

enum { SMALL = 256 }; // entries: cleared as a whole

void lwi_elim_clear_upper(int n, double *A, int ld, int first, int end, int step)
{
    const bool small = n * ld <= SMALL && step == 1 && end - first == n;
    if (small) memset(A, 0, (size_t)(n * ld) * sizeof *A);
    for (int r = first; r < end && !small; r += step) {
        const int from = r < LWI_EDGE_ROWS ? 0 : r - LWI_EDGE_ROWS;
        memset(A + r * ld + from, 0, (size_t)(ld - from) * sizeof *A);
    }
}

// Blocks are listed by the edges of their rows.
lwi_elim_blocks lwi_elim_own_blocks(const lwi_elim *elim, lwi_plan_span span, int rows, int ld,
                                    const lwi_team *team)
{
    const lwi_elim_block *block = elim->block + span.first;
    int at[2], row[2]; // first and behind the last
    if (team->parts == 1) return (lwi_elim_blocks){block, span.n, 0, rows};
    for (int i = 0; i < 2; i++) {
        at[i] = (int)((long)span.n * (team->part + i) / team->parts);
        while (at[i] > 0 && at[i] < span.n && block[at[i]].at / ld == block[at[i] - 1].at / ld)
            at[i]++;
        row[i] = at[i] == 0 ? 0 : at[i] == span.n ? rows : block[at[i]].at / ld;
    }
    return (lwi_elim_blocks){block + at[0], at[1] - at[0], row[0], row[1]};
}

// With J = D' S', G = J M^-1 these are the blocks D' xi D of single bodies [chadaj2017, (15)-(16), (24)] and Phi_q delta
// Phi_q' [malczyk2019, (24)-(27)].
void lwi_elim_put_blocks(const lwi_elim *elim, const lwi_elim_blocks *own, int ld,
                         double (*left)[6], double (*right)[6], double *R)
{
    if (elim->kernels) {
        elim->kernels->blocks(own->block, own->n, ld, left, right, R);
        return;
    }
    for (int i = 0; i < own->n; i++) {
        const lwi_elim_block *b = &own->block[i];
        const double(*J)[6] = (const double(*)[6])(left + 6 * b->J);
        LWI_ASSERT(b->m >= 1 && b->m <= LWI_EDGE_ROWS && b->n >= 1 && b->n <= LWI_EDGE_ROWS);
        LWI_ASSERT(b->at >= own->first * ld && b->at + (b->m - 1) * ld + b->n <= own->end * ld);
        const double(*G)[6] = (const double(*)[6])(right + 6 * b->G);
#define PRODUCT(n, unused) lwi_block_product(b->m, n, J, G, R + b->at, ld, b->add)
        LWI_WITH_EDGE_ROWS(b->n, PRODUCT, 0)
#undef PRODUCT
    }
}

// Notes S_rr of rows first ... end - 1 and adds eps to it: 1/alpha of [malczyk2019, (35)].
static void put_diagonal(lwi_elim *elim, const lwi_elim_front *N, int first, int end)
{
    double *S = elim->S + N->row;
    for (int r = first; r < end; r++) S[r] = N->R[r * (N->ld + 1)];
    if (!elim->regular) return;
    const double *eps = elim->eps + N->row;
    for (int r = first; r < end; r++) N->R[r * (N->ld + 1)] = S[r] += eps[r];
}

// Adds a block of m rows and n columns, or its upper triangle, to another.
LWI_INLINE void add_block(const int m, const int n, const bool upper, const double *from, int lf,
                          const int step, double *to, int lt)
{
    for (int r = 0; r < m; r++)
        for (int s = upper ? r : 0; s < n; s++) to[r * lt + s] += from[r * lf + s * step];
}

// Adds the update U of a child, rows and columns by its moves, to [R U] of its parent: terms xi22A + xi11B of
// (27) and of the recursions [chadaj2017, (27), (34)-(35); malczyk2019, (36)-(38)].  Edges of two and three
// rows are common cases.
LWI_INLINE void add_child(const lwi_elim *elim, const lwi_elim_front *N,
                          const lwi_elim_front *child, const double *leaves, int lu, const int step,
                          double *R, double *U)
{
    const lwi_elim_move *move = elim->move + child->move.first;
    for (int a = 0; a < child->move.n; a++) {
        const int row = move[a].to, m = move[a].n;
        LWI_ASSERT(row >= 0 && row + m <= N->nc + N->no && move[a].from + m <= child->no);
        double *to = row < N->nc ? R + row * N->ld : U + (row - N->nc) * N->lu - N->nc;
        const int lt = row < N->nc ? N->ld : N->lu;
        const double *from = leaves + move[a].from * lu * step;
        for (int b = a; b < child->move.n; b++) {
            const double *block = from + move[b].from * step;
            double *at = to + move[b].to;
            const int n = move[b].n;
            if (m == 2 && n == 2 && a == b)
                add_block(2, 2, true, block, lu * step, step, at, lt);
            else if (m == 2 && n == 2)
                add_block(2, 2, false, block, lu * step, step, at, lt);
            else if (m == 3 && n == 3 && a == b)
                add_block(3, 3, true, block, lu * step, step, at, lt);
            else if (m == 3 && n == 3)
                add_block(3, 3, false, block, lu * step, step, at, lt);
            else if (m == 3 && n == 6)
                add_block(3, 6, false, block, lu * step, step, at, lt);
            else if (m == 6 && a == b)
                add_block(6, 6, true, block, lu * step, step, at, lt);
            else
                add_block(m, n, a == b, block, lu * step, step, at, lt);
        }
    }
}

// Rows of a front are shared one by one: the first one from `at` on that is this thread's, less `at`.
static int first_own(int at, const lwi_team *team)
{
    return team->parts == 1 ? 0 : (team->part + team->parts - at % team->parts) % team->parts;
}

// The same of the rows of the front that are this thread's.
static void add_rows(const lwi_elim *elim, const lwi_elim_front *N, const lwi_elim_front *child,
                     const double *leaves, int lu, int step, double *R, double *U,
                     const lwi_team *team)
{
    const lwi_elim_move *move = elim->move + child->move.first;
    for (int a = 0; a < child->move.n; a++)
        for (int r = first_own(move[a].to, team); r < move[a].n; r += team->parts) {
            const int row = move[a].to + r;
            double *to = row < N->nc ? R + row * N->ld : U + (row - N->nc) * N->lu - N->nc;
            const double *from = leaves + (move[a].from + r) * lu * step;
            for (int b = a; b < child->move.n; b++)
                for (int s = b == a ? r : 0; s < move[b].n; s++)
                    to[move[b].to + s] += from[(move[b].from + s) * step];
        }
}

// The batch that holds the factors of a node, or NULL.
static const lwi_elim_batch *in_lanes(const lwi_elim *elim, int node)
{
    return elim->laned ? elim->task[elim->task_of[node]].batch : NULL;
}

static void add_children(const lwi_elim *elim, const lwi_elim_front *N, const lwi_team *team)
{
    const int own = first_own(N->nc, team);
    for (int two = 0; two <= elim->unsymmetric && !N->bare; two++)
        lwi_elim_clear_upper(N->no, two ? N->V : N->U, N->lu, own, N->no, team->parts);
    const int *child = elim->plan->item + N->child.first;
    for (int i = 0; i < N->child.n; i++) {
        const lwi_elim_front *C = &elim->front[child[i]];
        const lwi_elim_batch *g = in_lanes(elim, child[i]);
        const int lane = elim->lane_of[child[i]];
        for (int two = 0; two <= elim->unsymmetric; two++) {
            double *R = two ? N->Q : N->R, *U = two ? N->V : N->U;
            const double *leaves = g ? (two ? g->V : g->U)[0] + lane : two ? C->V : C->U;
            if (team->parts > 1)
                add_rows(elim, N, C, leaves, g ? g->no : C->lu, g ? LWI_ELIM_LANES : 1, R, U, team);
            else if (g)
                add_child(elim, N, C, leaves, g->no, LWI_ELIM_LANES, R, U);
            else
                add_child(elim, N, C, leaves, C->lu, 1, R, U);
        }
    }
}

// Eliminates the closed edges one after the other: factors of S_cc = D' (xi11B + xi22A) D [chadaj2017,
// (26)-(27)], and the Schur complement of the open rows [chadaj2017, (34)-(35); malczyk2019, (36)-(38)].
// A team shares the columns of an edge, then the rows below; each entry is computed as by one thread.
// Returns the row that failed, or -1.
static int eliminate_edges(lwi_elim *elim, const lwi_elim_front *N, const lwi_team *team)
{
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    const int end = N->nc + N->no, ld = N->ld, part = team->part, parts = team->parts;
    for (int i = 0, r = 0; i < N->edge.n; r += edge[i].m, i++) {
        double a[6][6], d[6], *R = N->R + r * ld;
        const int m = edge[i].m, next = r + m;
        const double *S = elim->S + N->row + r;
        int failed = -1;
#define ELIMINATE(n, unused)                                                                       \
    lwi_block_load(n, R + r, ld, a);                                                               \
    failed = lwi_block_factor(n, a, S, LWI_ELIM_ROUND, d);                                         \
    if (failed < 0) lwi_block_columns(n, end - next, a, R + r, ld, part, parts);                   \
    lwi_team_meet(team);                                                                           \
    if (part == 0) lwi_block_store(n, a, R + r, ld);                                               \
    if (failed >= 0) break;                                                                        \
    lwi_block_update(n, R, R, ld, d, next, N->nc, end, N->R, ld, false, part, parts);              \
    lwi_block_update(n, R + N->nc, R + N->nc, ld, d, 0, N->no, N->no, N->U, N->lu,                 \
                     N->bare && i == 0, part, parts)
        LWI_WITH_EDGE_ROWS(m, ELIMINATE, 0)
#undef ELIMINATE
        lwi_team_meet(team);
        if (failed >= 0) return r + failed;
        LWI_ASSERT(next <= N->nc);
    }
    return -1;
}

// The same without symmetry: delta12 and delta21 differ, the transposed update is formed separately
// [malczyk2019, (37)].
static int eliminate_edges_unsymmetric(lwi_elim *elim, const lwi_elim_front *N,
                                       const lwi_team *team)
{
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    const int end = N->nc + N->no, ld = N->ld, part = team->part, parts = team->parts;
    for (int i = 0, r = 0; i < N->edge.n; r += edge[i].m, i++) {
        double a[6][6], b[6][6], d[6], *R = N->R + r * ld, *Q = N->Q + r * ld;
        const int m = edge[i].m, next = r + m;
        const double *S = elim->S + N->row + r;
        const bool bare = N->bare && i == 0;
        int failed = -1;
#define ELIMINATE(n, unused)                                                                       \
    lwi_block_load(n, R + r, ld, a), lwi_block_load(n, Q + r, ld, b);                              \
    failed = lwi_block_factor_unsymmetric(n, a, b, S, LWI_ELIM_ROUND, elim->indefinite, d);        \
    if (failed < 0) lwi_block_columns(n, end - next, b, R + r, ld, part, parts);                   \
    if (failed < 0) lwi_block_columns(n, end - next, a, Q + r, ld, part, parts);                   \
    lwi_team_meet(team);                                                                           \
    if (part == 0) lwi_block_store(n, a, R + r, ld), lwi_block_store(n, b, Q + r, ld);             \
    if (failed >= 0) break;                                                                        \
    lwi_block_update(n, Q, R, ld, d, next, N->nc, end, N->R, ld, false, part, parts);              \
    lwi_block_update(n, R, Q, ld, d, next, N->nc, end, N->Q, ld, false, part, parts);              \
    lwi_block_update(n, Q + N->nc, R + N->nc, ld, d, 0, N->no, N->no, N->U, N->lu, bare, part,     \
                     parts);                                                                       \
    lwi_block_update(n, R + N->nc, Q + N->nc, ld, d, 0, N->no, N->no, N->V, N->lu, bare, part,     \
                     parts)
        LWI_WITH_EDGE_ROWS(m, ELIMINATE, 0)
#undef ELIMINATE
        lwi_team_meet(team);
        if (failed >= 0) return r + failed;
    }
    return -1;
}

static void note_pivots(const lwi_elim *elim, const lwi_elim_front *N, lwi_elim_state *state)
{
    const double *S = elim->S + N->row;
    for (int r = 0; r < N->nc; r++) {
        const double inverse = N->R[r * (N->ld + 1)]; // of the pivot
        LWI_ASSERT((inverse > 0 || elim->indefinite) && isfinite(inverse));
        const double share = elim->indefinite ? fabs(S[r] * inverse) : S[r] * inverse;
        if (share > state->max_ratio) state->max_ratio = share, state->max_ratio_row = r;
    }
}

// Clears the factors of a failed node: its parent receives no update.
static void clear_factors(const lwi_elim *elim, const lwi_elim_front *N)
{
    const size_t R = (size_t)N->nc * (size_t)N->ld * sizeof *N->R;
    const size_t U = (size_t)N->no * (size_t)N->lu * sizeof *N->U;
    memset(N->R, 0, R), memset(N->U, 0, U);
    if (elim->unsymmetric) memset(N->Q, 0, R), memset(N->V, 0, U);
}

static void note_failure(const lwi_elim *elim, const lwi_elim_front *N, int row,
                         lwi_elim_state *state)
{
    LWI_ASSERT_INDEX(row, N->nc);
    const double pivot = N->R[row * (N->ld + 1)], S = elim->S[N->row + row];
    state->status = isfinite(pivot) && isfinite(S) ? LW_ERR_SINGULAR : LW_ERR_NOT_FINITE;
    state->max_ratio = pivot > 0 ? S / pivot : HUGE_VAL;
    state->max_ratio_row = row;
}

bool lwi_elim_regular(const lwi_elim *elim, const lwi_elim_front *N)
{
    for (int r = 0; r < N->nc && elim->regular; r++)
        if (!(elim->eps[N->row + r] > 0)) return false;
    return elim->regular || elim->assembled;
}

enum { SAMPLED = 8 }; // the first matrix pass and every eighth one

// Whether the diagonal blocks J G' are symmetric, as they are for K = K'; not finite numbers pass.  Used by an
// assertion only.
__attribute__((unused)) static bool symmetric_blocks(const lwi_elim_blocks *own,
                                                     const double *front, int ld)
{
    for (int i = 0; i < own->n; i++) {
        const lwi_elim_block *b = &own->block[i];
        if (b->at / ld != b->at % ld) continue;
        for (int r = 0; r < b->m; r++)
            for (int c = 0; c < r; c++) {
                const double *R = front + b->at, size = R[r * (ld + 1)] * R[c * (ld + 1)];
                const double gap = R[r * ld + c] - R[c * ld + r];
                if (gap * gap > 1e-8 * fabs(size)) return false;
            }
    }
    return true;
}

// Assembles the front: the equations of a compound between its rows, of bodies and of the compounds that it
// joins [chadaj2017, (17)-(22); malczyk2019, (28)-(33)].  A team shares the edges, then the rows.
static void put_front(lwi_elim *elim, const lwi_elim_front *N, const lwi_team *team)
{
    const int ld = N->ld;
    const lwi_elim_blocks own = lwi_elim_own_blocks(elim, N->block, N->nc, ld, team);
    for (int two = 0; two <= elim->unsymmetric && !elim->assembled; two++) {
        double *R = two ? N->Q : N->R;
        if (N->clear) lwi_elim_clear_upper(N->nc, R, ld, own.first, own.end, 1);
        lwi_elim_put_blocks(elim, &own, ld, two ? elim->G : elim->J, two ? elim->J : elim->G, R);
    }
    LWI_ASSERT(elim->passes % SAMPLED != 1 || elim->assembled || elim->unsymmetric ||
               symmetric_blocks(&own, N->R, ld));
    put_diagonal(elim, N, own.first, own.end);
    lwi_team_meet(team);
    add_children(elim, N, team);
}

// What a node does with eliminated edges, or a row that failed: it may be eliminated once more, with rank decisions.
static void check_edges(lwi_elim *elim, int node, int failed)
{
    const lwi_elim_front *N = &elim->front[node];
    lwi_elim_state *state = &elim->state[node];
    if (failed < 0) note_pivots(elim, N, state);
    const double inactive_below = lwi_elim_inactive_below(elim, node);
    const bool inactive =
        inactive_below > 0 && (failed >= 0 || state->max_ratio * inactive_below > 1);
    if (inactive || (failed >= 0 && elim->find_ranks)) // also if there are rows of zeros
        state->ranked = true, state->max_ratio = 0, put_front(elim, N, &LWI_ALONE);
    else if (failed >= 0)
        note_failure(elim, N, failed, state);
}

// Part 0 of a team does what takes little time.
void lwi_elim_eliminate(lwi_elim *elim, int node, const lwi_team *team)
{
    const lwi_elim_front *N = &elim->front[node];
    lwi_elim_state *state = &elim->state[node];
    const bool first = team->part == 0;
    LWI_ASSERT(N->nc >= 0 && N->no >= 0 && N->ld >= N->nc + N->no + 1 && N->lu >= N->no + 1);
    if (first) *state = (lwi_elim_state){.status = LW_OK, .kept = N->nc};
    if (!N->nc) return;
    const int rank = elim->generic_rank[node];
    LWI_ASSERT(rank >= -1 && rank <= N->nc);
    if (first && !elim->unsymmetric)
        state->ranked = elim->find_ranks ? N->loop
                                         : ((rank >= 0 && rank < N->nc) ||
                                            (elim->pivots && elim->pivots[node])) &&
                                               !lwi_elim_regular(elim, N);
    put_front(elim, N, team);
    lwi_team_meet(team);
    if (!state->ranked) {
        const int failed =
            (elim->unsymmetric ? eliminate_edges_unsymmetric : eliminate_edges)(elim, N, team);
        if (first) check_edges(elim, node, failed);
        lwi_team_meet(team);
    }
    if (state->ranked) lwi_elim_rank_eliminate(elim, node, team);
    if (!first || state->status == LW_OK) return;
    state->kept = N->nc; // no row was dropped by decision
    clear_factors(elim, N);
}

// ------------------------------------------------------------------------------------ vector pass

// y = c - eps lambda - J x of the rows closed here: the right side D' (V_B - V_A) at x0 [chadaj2017,
// (23)-(24)], beta of [malczyk2019, (35)].
static void right_side(const lwi_elim *elim, const lwi_elim_front *N)
{
    double *y = N->v;
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    for (int i = 0; i < N->edge.n; i++) {
        const lwi_elim_edge *e = &edge[i];
        for (int r = 0; r < e->m; r++) y[r] = elim->c[e->row + r];
        if (elim->refining && elim->regular) {
            const double *eps = elim->eps + N->row + (y - N->v);
            for (int r = 0; r < e->m; r++) y[r] -= eps[r] * elim->lambda[e->row + r];
        }
        for (int k = 0; k < e->n; k++) {
            const double(*J)[6] = (const double(*)[6])(elim->J + 6 * (e->slot + k));
            const double *x = elim->x[e->body[k]];
            for (int r = 0; r < e->m; r++) y[r] -= lwi_dot6(J[r], x);
        }
        y += e->m;
    }
}

// z = L^-1 y_c, y_o -= Z' z: the free velocities xi10, xi20 of the compound [chadaj2017, (36)], the bias terms
// delta13, delta23 [malczyk2019, (39)].
void lwi_elim_up(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    if (!N->nc) return;
    memset(N->v + N->nc, 0, (size_t)(N->no + 1) * sizeof *N->v);
    if (!elim->assembled) right_side(elim, N);
    const int *child = elim->plan->item + N->child.first;
    for (int i = 0; i < N->child.n; i++) {
        const lwi_elim_front *C = &elim->front[child[i]];
        const lwi_elim_batch *g = in_lanes(elim, child[i]);
        const lwi_elim_move *move = elim->move + C->move.first;
        const double *from = g ? g->v[C->nc] + elim->lane_of[child[i]] : C->v + C->nc;
        const int step = g ? LWI_ELIM_LANES : 1;
        for (int a = 0; a < C->move.n; a++) {
            double *to = N->v + move[a].to;
            const double *some = from + move[a].from * step;
            if (move[a].n == 3) // common case
                to[0] += some[0], to[1] += some[step], to[2] += some[2 * step];
            else
                for (int r = 0; r < move[a].n; r++) to[r] += some[r * step];
        }
    }
    if (elim->state[node].ranked) {
        lwi_elim_rank_up(elim, node);
        return;
    }
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    const int end = N->nc + N->no;
    for (int i = 0, r = 0; i < N->edge.n; r += edge[i].m, i++) {
        const int m = edge[i].m;
        const double *R = (elim->unsymmetric ? N->Q : N->R) + r * (N->ld + 1);
#define UP(n, unused) lwi_block_up(n, end - r - m, R, N->ld, N->v + r)
        LWI_WITH_EDGE_ROWS(m, UP, 0)
#undef UP
    }
}

// lambda_c = L'^-1 (D^-1 z - Z lambda_o): impulses or forces of the closed rows from those of the open ones
// [chadaj2017, (29); malczyk2019, (34)-(35)].  A root is the whole mechanism: it has no open rows, its edges to
// the ground are closed like all others [chadaj2017, (37)-(39), (41)-(43)].
void lwi_elim_back_substitute(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    LWI_ASSERT(N->parent >= 0 ? N->parent > node : N->no == 0);
    if (N->parent >= 0) {
        const double *above = elim->front[N->parent].v;
        const lwi_elim_move *move = elim->move + N->move.first;
        for (int a = 0; a < N->move.n; a++)
            for (int r = 0; r < move[a].n; r++)
                N->v[N->nc + move[a].from + r] = above[move[a].to + r];
    }
    if (elim->state[node].ranked) {
        lwi_elim_rank_down(elim, node);
        return;
    }
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    const int end = N->nc + N->no;
    for (int i = N->edge.n - 1, r = N->nc; i >= 0; i--) {
        const int m = edge[i].m;
        r -= m;
        const double *R = N->R + r * (N->ld + 1);
#define DOWN(n, unused) lwi_block_down(n, end - r - m, R, N->ld, N->v + r)
        LWI_WITH_EDGE_ROWS(m, DOWN, 0)
#undef DOWN
    }
}

// lambda, and x += G' lambda of the rows closed here: the velocities of the bodies from the impulses
// [chadaj2017, (15)-(16)], the increments from the forces [malczyk2019, (24)-(25)].
void lwi_elim_down(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    if (!N->nc) return;
    lwi_elim_back_substitute(elim, node);
    if (elim->assembled) return;
    const double *lambda = N->v;
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    for (int i = 0; i < N->edge.n; i++) {
        const lwi_elim_edge *e = &edge[i];
        double *out = elim->lambda + e->row;
        for (int r = 0; r < e->m; r++) out[r] = elim->refining ? out[r] + lambda[r] : lambda[r];
        for (int k = 0; k < e->n; k++) {
            const double(*G)[6] = (const double(*)[6])(elim->G + 6 * (e->slot + k));
            double *x = elim->x[e->body[k]];
            lwi_pair a = lwi_pair_load(x), b = lwi_pair_load(x + 2), c = lwi_pair_load(x + 4);
            for (int r = 0; r < e->m; r++) {
                a += lambda[r] * lwi_pair_load(G[r]);
                b += lambda[r] * lwi_pair_load(G[r] + 2);
                c += lambda[r] * lwi_pair_load(G[r] + 4);
            }
            lwi_pair_store(x, a), lwi_pair_store(x + 2, b), lwi_pair_store(x + 4, c);
        }
        lambda += e->m;
    }
}

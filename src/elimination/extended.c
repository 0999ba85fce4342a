// extended.c -- the elimination in double-double arithmetic, if pivots are round-off in doubles.
//
// A compound is known by its compliance at its open rows, C = J K J' + U, and U cancels J K J' along every
// direction in which the compound is much heavier than its bodies at these rows: n rods that move across their
// plane only together have 1/n^3 of the compliance of one, a rope with a load that of the load.  Where two such
// compounds are joined the pivot is that small share of its row; where it is below LWI_ELIM_LOST, doubles leave
// too few digits for refinement, and with 106 bits sixteen more are there.  Nothing else is different: the plan,
// the order of the operations and the ranks are those of matrix.c and rank.c.
//
// Where pivots are good enough for refinement to converge, factors stay in doubles and only the residual, x and
// lambda have twice the digits (lwi_elim_refine_extended): a body between much heavier ones has x as the small
// difference of large G' lambda.
//
// Nodes with dependent rows are eliminated in doubles (rank.c), their fronts rounded.  Passes run on the calling
// thread.  Updates of children are on a stack, since the nodes of a subtree are numbered without gaps.
//
// G = J K in doubles has round-off of the size that must not be there: the caller adds what it misses
// (lwi_elim_G_low).
#include "base/double_double.h"
#include "elimination/lanes.h"

#include <string.h>

typedef struct lwi_elim_extended {
    double (*G_low)[6];            ///< [6 * slots] G + G_low = J K
    double (*x_low)[6];            ///< [bodies]
    double *lambda_low;            ///< [rows]
    double (*dx)[6], *r, *dlambda; ///< of a refinement
    lwi_dd **R;    ///< [nnode] [nc][nc + no]: [L' Z] above the diagonal, 1/D on it; NULL: none
    lwi_dd **v;    ///< [nnode] [nc + no]
    lwi_dd *stack; ///< updates [no][no] not yet added to the parent's front, upper part
    int *top;      ///< [nnode] first entry of the node's update
} extended;

// ---------------------------------------------------------------------------------------- creation

// First entries of the updates in the stack; returns its size.
static size_t place_updates(const lwi_elim *elim, int *top)
{
    size_t size = 0;
    int used = 0;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const int end = used + N->no * N->no;
        if (size < (size_t)end) size = (size_t)end;
        for (int i = 0; i < N->child.n; i++) {
            const int c = elim->plan->item[N->child.first + i];
            if (used > top[c]) used = top[c];
        }
        top[k] = used;
        used += N->no * N->no;
    }
    return size;
}

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

lw_status lwi_elim_extend(lwi_elim *elim, lwi_arena *arena)
{
    const int slots = elim->plan->slot[elim->plan->graph.nedge], nbody = elim->plan->graph.nbody;
    extended *e = LWI_PUSH(arena, extended, 1);
    if (!e) return LW_ERR_MEMORY;
    GET(e->G_low, 6 * (size_t)slots);
    GET(e->x_low, nbody);
    GET(e->lambda_low, elim->plan->nrow);
    GET(e->dx, nbody);
    GET(e->r, elim->plan->nrow);
    GET(e->dlambda, elim->plan->nrow);
    elim->extended = e;
    return LW_OK;
}

lw_status lwi_elim_extend_factors(lwi_elim *elim, lwi_arena *arena)
{
    extended *e = elim->extended;
    size_t R = 0, v = 0;
    LWI_ASSERT(e);
    for (int k = 0; k < elim->nnode; k++) {
        const size_t width = (size_t)(elim->front[k].nc + elim->front[k].no);
        R += (size_t)elim->front[k].nc * width;
        v += width;
    }
    lwi_dd *Rs, *vs;
    lwi_dd **Rk, **vk;
    GET(Rk, elim->nnode);
    GET(vk, elim->nnode);
    GET(e->top, elim->nnode);
    GET(Rs, R);
    GET(vs, v);
    GET(e->stack, place_updates(elim, e->top));
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        Rk[k] = Rs, vk[k] = vs;
        Rs += (size_t)N->nc * (size_t)(N->nc + N->no);
        vs += N->nc + N->no;
    }
    e->R = Rk, e->v = vk;
    return LW_OK;
}

#undef GET

bool lwi_elim_has_extended_factors(const lwi_elim *elim)
{
    return elim->extended && elim->extended->R;
}

double (*lwi_elim_G_low(lwi_elim *elim))[6]
{
    return elim->extended ? elim->extended->G_low : NULL;
}

// ------------------------------------------------------------------------------------------ matrix

static void put_blocks(const lwi_elim *elim, const lwi_elim_front *N, lwi_dd *R)
{
    const int width = N->nc + N->no;
    memset(R, 0, (size_t)N->nc * (size_t)width * sizeof *R);
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        lwi_dd *to = R + b->at / N->ld * width + b->at % N->ld;
        for (int r = 0; r < b->m; r++)
            for (int c = 0; c < b->n; c++) {
                const double *J = elim->J[6 * b->J + r], *G = elim->G[6 * b->G + c];
                const double *low = elim->extended->G_low[6 * b->G + c];
                lwi_dd sum = to[r * width + c];
                for (int k = 0; k < 6; k++)
                    sum = lwi_dd_add_scaled(sum, J[k], (lwi_dd){G[k], low[k]});
                to[r * width + c] = sum;
            }
    }
}

// Adds the update of child c to [R U] of its parent.
static void add_child(const lwi_elim *elim, const lwi_elim_front *N, int c, lwi_dd *R, lwi_dd *U)
{
    const lwi_elim_front *child = &elim->front[c];
    const lwi_elim_move *move = elim->move + child->move.first;
    const lwi_dd *from = elim->extended->stack + elim->extended->top[c];
    const int width = N->nc + N->no;
    for (int a = 0; a < child->move.n; a++)
        for (int r = 0; r < move[a].n; r++) {
            const int row = move[a].to + r;
            lwi_dd *to = row < N->nc ? R + row * width : U + (row - N->nc) * N->no - N->nc;
            const lwi_dd *leaf = from + (move[a].from + r) * child->no;
            for (int b = a; b < child->move.n; b++)
                for (int s = a == b ? r : 0; s < move[b].n; s++) {
                    lwi_dd *entry = &to[move[b].to + s];
                    *entry = lwi_dd_add(*entry, leaf[move[b].from + s]);
                }
        }
}

// Assembles [R U] of a node.  S_rr of its rows is noted.
static void put_front(lwi_elim *elim, int node, lwi_dd *U)
{
    const lwi_elim_front *N = &elim->front[node];
    lwi_dd *R = elim->extended->R[node];
    put_blocks(elim, N, R);
    for (int r = 0; r < N->nc; r++) elim->S[N->row + r] = R[r * (N->nc + N->no + 1)].high;
    memset(U, 0, (size_t)N->no * (size_t)N->no * sizeof *U);
    for (int i = 0; i < N->child.n; i++)
        add_child(elim, N, elim->plan->item[N->child.first + i], R, U);
}

// S_cc = L D L', Z, U.  Returns the row with a lost pivot, or -1.
static int eliminate(lwi_elim *elim, int node, double min_pivot, lwi_dd *U)
{
    const lwi_elim_front *N = &elim->front[node];
    lwi_elim_state *state = &elim->state[node];
    const int nc = N->nc, no = N->no, width = nc + no;
    lwi_dd *R = elim->extended->R[node];
    for (int k = 0; k < nc; k++) {
        lwi_dd *row = R + k * width;
        const double S = elim->S[N->row + k], pivot = row[k].high;
        N->R[k * (N->ld + 1)] = pivot; // reported if it is lost
        if (!(pivot > min_pivot * S && pivot <= 2 * S)) return k;
        if (S > state->max_ratio * pivot) state->max_ratio = S / pivot, state->max_ratio_row = k;
        const lwi_dd inverse = lwi_dd_inverse(row[k]);
        for (int i = k + 1; i < width; i++) {
            const lwi_dd l = lwi_dd_mul(row[i], inverse);
            lwi_dd *to = i < nc ? R + i * width : U + (i - nc) * no - nc;
            for (int j = i; j < width; j++) to[j] = lwi_dd_less(to[j], l, row[j]);
        }
        for (int j = k + 1; j < width; j++) row[j] = lwi_dd_mul(row[j], inverse);
        row[k] = inverse;
    }
    return -1;
}

// Rounds the factors to the front in doubles, where null vectors are continued with them.
static void round_factors(const lwi_elim_front *N, const lwi_dd *R)
{
    const int width = N->nc + N->no;
    for (int r = 0; r < N->nc; r++)
        for (int j = r; j < width; j++) N->R[r * N->ld + j] = R[r * width + j].high;
}

// Elimination with rank decisions, in doubles.
static void eliminate_ranked(lwi_elim *elim, int node, lwi_dd *U)
{
    const lwi_elim_front *N = &elim->front[node];
    elim->state[node].max_ratio = 0;
    put_front(elim, node, U);
    round_factors(N, elim->extended->R[node]);
    for (int i = 0; i < N->no; i++)
        for (int j = i; j < N->no; j++) N->U[i * N->lu + j] = U[i * N->no + j].high;
    lwi_elim_rank_eliminate(elim, node, &LWI_ALONE);
    for (int i = 0; i < N->no; i++)
        for (int j = i; j < N->no; j++) U[i * N->no + j] = (lwi_dd){N->U[i * N->lu + j], 0};
}

static void note_failure(const lwi_elim *elim, int node, int row)
{
    const lwi_elim_front *N = &elim->front[node];
    lwi_elim_state *state = &elim->state[node];
    const double pivot = N->R[row * (N->ld + 1)], S = elim->S[N->row + row];
    state->status = isfinite(pivot) && isfinite(S) ? LW_ERR_SINGULAR : LW_ERR_NOT_FINITE;
    state->max_ratio = pivot > 0 ? S / pivot : HUGE_VAL;
    state->max_ratio_row = row;
}

static void eliminate_node(lwi_elim *elim, int node)
{
    extended *e = elim->extended;
    const lwi_elim_front *N = &elim->front[node];
    lwi_elim_state *state = &elim->state[node];
    const int rank = elim->generic_rank[node];
    *state = (lwi_elim_state){.status = LW_OK, .kept = N->nc};
    if (!N->nc) {
        memset(e->stack + e->top[node], 0, (size_t)N->no * (size_t)N->no * sizeof *e->stack);
        return;
    }
    int top = e->top[node]; // above the updates of the children
    for (int i = 0; i < N->child.n; i++) {
        const int c = elim->plan->item[N->child.first + i];
        const int end = e->top[c] + elim->front[c].no * elim->front[c].no;
        if (top < end) top = end;
    }
    lwi_dd *U = e->stack + top;
    state->ranked = rank >= 0 && rank < N->nc;
    if (!state->ranked) {
        put_front(elim, node, U);
        const int failed =
            eliminate(elim, node, N->loop ? LWI_ELIM_ROUND : LWI_ELIM_ROUND_EXTENDED, U);
        const double inactive_below = lwi_elim_inactive_below(elim, node);
        if (inactive_below > 0 && (failed >= 0 || state->max_ratio * inactive_below > 1))
            state->ranked = true;
        else if (failed >= 0)
            note_failure(elim, node, failed);
        else
            round_factors(N, e->R[node]);
    }
    if (state->ranked) eliminate_ranked(elim, node, U);
    const size_t entries = (size_t)N->no * (size_t)N->no;
    if (state->status != LW_OK) memset(U, 0, entries * sizeof *U);
    memmove(e->stack + e->top[node], U, entries * sizeof *U);
}

void lwi_elim_extended_matrix(lwi_elim *elim)
{
    LWI_ASSERT(lwi_elim_has_extended_factors(elim) && !elim->unsymmetric && !elim->regular);
    for (int k = 0; k < elim->nnode; k++) eliminate_node(elim, k);
}

// ----------------------------------------------------------------------------------------- vectors

// y = c - J x of the rows closed here.
static void right_side(const lwi_elim *elim, const lwi_elim_front *N, lwi_dd *y)
{
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    for (int i = 0; i < N->edge.n; i++)
        for (int r = 0; r < edge[i].m; r++, y++) {
            *y = (lwi_dd){elim->c[edge[i].row + r], 0};
            for (int k = 0; k < edge[i].n; k++) {
                const double *J = elim->J[6 * (edge[i].slot + k) + r];
                const double *x = elim->x[edge[i].body[k]];
                for (int j = 0; j < 6; j++) *y = lwi_dd_add_scaled(*y, -J[j], (lwi_dd){x[j], 0});
            }
        }
}

static void to_front(const lwi_elim_front *N, const lwi_dd *v)
{
    for (int i = 0; i < N->nc + N->no; i++) N->v[i] = v[i].high;
}

static void from_front(const lwi_elim_front *N, lwi_dd *v)
{
    for (int i = 0; i < N->nc + N->no; i++) v[i] = (lwi_dd){N->v[i], 0};
}

static void up(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    const lwi_dd *R = elim->extended->R[node];
    lwi_dd *v = elim->extended->v[node];
    const int width = N->nc + N->no;
    if (!N->nc) return;
    memset(v + N->nc, 0, (size_t)N->no * sizeof *v);
    right_side(elim, N, v);
    for (int i = 0; i < N->child.n; i++) {
        const int c = elim->plan->item[N->child.first + i];
        const lwi_elim_front *C = &elim->front[c];
        const lwi_elim_move *move = elim->move + C->move.first;
        const lwi_dd *from = elim->extended->v[c] + C->nc;
        for (int a = 0; a < C->move.n && C->nc; a++)
            for (int r = 0; r < move[a].n; r++)
                v[move[a].to + r] = lwi_dd_add(v[move[a].to + r], from[move[a].from + r]);
    }
    if (elim->state[node].ranked) {
        to_front(N, v);
        lwi_elim_rank_up(elim, node);
        from_front(N, v);
        return;
    }
    for (int k = 0; k < N->nc; k++)
        for (int j = k + 1; j < width; j++) v[j] = lwi_dd_less(v[j], R[k * width + j], v[k]);
}

static void back_substitute(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    const lwi_dd *R = elim->extended->R[node];
    lwi_dd *v = elim->extended->v[node];
    const int width = N->nc + N->no;
    const lwi_elim_move *move = elim->move + N->move.first;
    for (int a = 0; a < N->move.n && N->parent >= 0; a++)
        for (int r = 0; r < move[a].n; r++)
            v[N->nc + move[a].from + r] = elim->extended->v[N->parent][move[a].to + r];
    if (elim->state[node].ranked) {
        to_front(N, v);
        lwi_elim_rank_down(elim, node);
        from_front(N, v);
        return;
    }
    for (int k = N->nc - 1; k >= 0; k--) {
        v[k] = lwi_dd_mul(v[k], R[k * width + k]);
        for (int j = k + 1; j < width; j++) v[k] = lwi_dd_less(v[k], R[k * width + j], v[j]);
    }
}

// lambda, and x += G' lambda of the rows closed here.
static void down(lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    const lwi_dd *lambda = elim->extended->v[node];
    if (!N->nc) return;
    back_substitute(elim, node);
    const lwi_elim_edge *edge = elim->edge + N->edge.first;
    for (int i = 0; i < N->edge.n; lambda += edge[i++].m)
        for (int r = 0; r < edge[i].m; r++) {
            elim->lambda[edge[i].row + r] = lambda[r].high;
            for (int k = 0; k < edge[i].n; k++) {
                const int at = 6 * (edge[i].slot + k) + r, body = edge[i].body[k];
                double *high = elim->x[body], *low = elim->extended->x_low[body];
                for (int j = 0; j < 6; j++) {
                    const lwi_dd G = {elim->G[at][j], elim->extended->G_low[at][j]};
                    const lwi_dd x = {high[j], low[j]}, minus = {-lambda[r].high, -lambda[r].low};
                    const lwi_dd sum = lwi_dd_less(x, minus, G);
                    high[j] = sum.high, low[j] = sum.low;
                }
            }
        }
}

void lwi_elim_extended_vectors(lwi_elim *elim)
{
    LWI_ASSERT(elim->in_extended);
    memset(elim->extended->x_low, 0,
           (size_t)elim->plan->graph.nbody * sizeof *elim->extended->x_low);
    for (int k = 0; k < elim->nnode; k++) up(elim, k);
    for (int k = elim->nnode - 1; k >= 0; k--) down(elim, k);
}

// -------------------------------------------------------------------------------------- refinement

// x := x0 + G' lambda
static void put_x(lwi_elim *elim, const double (*x0)[6], double (*x)[6], const double *lambda)
{
    const extended *e = elim->extended;
    const size_t bytes = (size_t)elim->plan->graph.nbody * sizeof *x;
    memcpy(x, x0, bytes);
    memset(e->x_low, 0, bytes);
    for (int i = 0; i < elim->plan->graph.nedge; i++) {
        const lwi_elim_edge *edge = &elim->edge[i];
        for (int r = 0; r < edge->m; r++) {
            const int row = edge->row + r;
            const lwi_dd minus = {-lambda[row], -e->lambda_low[row]};
            for (int k = 0; k < edge->n; k++) {
                const int at = 6 * (edge->slot + k) + r;
                double *high = x[edge->body[k]], *low = e->x_low[edge->body[k]];
                for (int j = 0; j < 6; j++) {
                    const lwi_dd G = {elim->G[at][j], e->G_low[at][j]};
                    const lwi_dd sum = lwi_dd_less((lwi_dd){high[j], low[j]}, minus, G);
                    high[j] = sum.high, low[j] = sum.low;
                }
            }
        }
    }
}

// r := c - J x
static void put_residual(const lwi_elim *elim, const double (*x)[6], const double *c)
{
    const extended *e = elim->extended;
    for (int i = 0; i < elim->plan->graph.nedge; i++) {
        const lwi_elim_edge *edge = &elim->edge[i];
        for (int r = 0; r < edge->m; r++) {
            lwi_dd sum = {c[edge->row + r], 0};
            for (int k = 0; k < edge->n; k++) {
                const double *J = elim->J[6 * (edge->slot + k) + r];
                const double *high = x[edge->body[k]], *low = e->x_low[edge->body[k]];
                for (int j = 0; j < 6; j++)
                    sum = lwi_dd_add_scaled(sum, -J[j], (lwi_dd){high[j], low[j]});
            }
            e->r[edge->row + r] = sum.high;
        }
    }
}

void lwi_elim_refine_extended(lwi_elim *elim, const double (*x0)[6], double (*x)[6],
                              const double *c, double *lambda, bool first)
{
    const extended *e = elim->extended;
    LWI_ASSERT(e && !elim->regular && !elim->unsymmetric);
    if (first) memset(e->lambda_low, 0, (size_t)elim->plan->nrow * sizeof *lambda);
    if (first) put_x(elim, x0, x, lambda);
    put_residual(elim, (const double(*)[6])x, c);
    memset(e->dx, 0, (size_t)elim->plan->graph.nbody * sizeof *e->dx);
    lwi_elim_solve(elim, e->dx, e->r, e->dlambda, 0);
    for (int i = 0; i < elim->plan->nrow; i++) {
        const lwi_dd sum =
            lwi_dd_add((lwi_dd){lambda[i], e->lambda_low[i]}, (lwi_dd){e->dlambda[i], 0});
        lambda[i] = sum.high, e->lambda_low[i] = sum.low;
    }
    put_x(elim, x0, x, lambda);
}

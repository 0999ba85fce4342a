// elimination.c -- creation of the engine, and the calls.
#include "elimination/lanes.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

// --------------------------------------------------------------------------------------- creation

// Where the lists are filled; `place`, `start` are of the node at hand.
typedef struct maker {
    lwi_elim *dual;
    lwi_arena arena; ///< for the time of creation
    int *first;      ///< [nbody + 1] slots at each body
    int *slot, *edge_of;
    int *order; ///< [nedge] in the order of elimination
    int *place; ///< [nedge] first row in the front at hand
    int nedge, nblock, nmove;
} maker;

static lw_status body_slots(maker *m)
{
    const lwi_plan *plan = m->dual->plan;
    const int nbody = plan->graph.nbody, nslot = plan->slot[plan->graph.nedge];
    int *fill = LWI_PUSH(&m->arena, int, nbody);
    m->first = LWI_PUSH(&m->arena, int, nbody + 1);
    m->slot = LWI_PUSH(&m->arena, int, nslot);
    m->edge_of = LWI_PUSH(&m->arena, int, nslot);
    m->order = LWI_PUSH(&m->arena, int, plan->graph.nedge);
    m->place = LWI_PUSH(&m->arena, int, plan->graph.nedge);
    if (!fill || !m->first || !m->slot || !m->edge_of || !m->order || !m->place)
        return LW_ERR_MEMORY;
    for (int e = 0; e < plan->graph.nedge; e++)
        for (int i = 0; i < plan->graph.edge[e].n && plan->graph.edge[e].rows; i++)
            m->first[plan->graph.edge[e].body[i] + 1]++;
    for (int b = 0; b < nbody; b++) m->first[b + 1] += m->first[b];
    for (int e = 0; e < plan->graph.nedge; e++)
        for (int i = 0; i < plan->graph.edge[e].n && plan->graph.edge[e].rows; i++) {
            const int b = plan->graph.edge[e].body[i], at = m->first[b] + fill[b]++;
            m->slot[at] = plan->slot[e] + i;
            m->edge_of[at] = e;
        }
    return LW_OK;
}

// Closed edges of all nodes, in order; sizes of the fronts.
static void list_edges(maker *m)
{
    lwi_elim *dual = m->dual;
    const lwi_plan *plan = dual->plan;
    int row = 0;
    for (int k = 0; k < plan->nnode; k++) {
        const lwi_plan_node *node = &plan->node[k];
        lwi_elim_front *N = &dual->front[k];
        *N = (lwi_elim_front){.nc = node->closed_rows,
                              .no = node->open_rows,
                              .row = row,
                              .parent = node->parent,
                              .first = node->child.n ? INT_MAX : k,
                              .edge = {m->nedge, node->closed.n},
                              .child = node->child,
                              .loop = node->loop};
        N->ld = lwi_elim_row_length(N->nc + N->no);
        N->lu = lwi_elim_row_length(N->no);
        row += N->nc;
        for (int i = 0; i < node->child.n; i++) {
            const int first = dual->front[plan->item[node->child.first + i]].first;
            if (N->first > first) N->first = first;
        }
        for (int i = 0; i < node->closed.n; i++) {
            const int e = plan->item[node->closed.first + i];
            const lwi_edge *edge = &plan->graph.edge[e];
            lwi_elim_edge *to = &dual->edge[m->nedge];
            *to = (lwi_elim_edge){e, plan->row[e], edge->rows, plan->slot[e], edge->n, {0}};
            memcpy(to->body, edge->body, sizeof to->body);
            m->order[e] = m->nedge++;
        }
    }
}

static void place_rows(maker *m, int k)
{
    const lwi_plan *plan = m->dual->plan;
    const lwi_plan_node *node = &plan->node[k];
    int row = 0;
    for (int i = 0; i < node->closed.n; i++) {
        const int e = plan->item[node->closed.first + i];
        m->place[e] = row;
        row += plan->graph.edge[e].rows;
    }
    for (int i = 0; i < node->open.n; i++) {
        const int e = plan->item[node->open.first + i];
        m->place[e] = row;
        row += plan->graph.edge[e].rows;
    }
}

static bool holds(const lwi_edge *edge, int body)
{
    bool found = false;
    for (int i = 0; i < edge->n; i++) found |= edge->body[i] == body;
    return found;
}

// Blocks of the rows of edge e at body number i of it: with itself and what is closed later.
static void list_blocks_at(maker *m, const lwi_elim_front *N, int e, int i)
{
    lwi_elim *dual = m->dual;
    const lwi_plan *plan = dual->plan;
    const int b = plan->graph.edge[e].body[i];
    for (int j = m->first[b]; j < m->first[b + 1]; j++) {
        const int f = m->edge_of[j];
        if (m->order[f] < m->order[e]) continue;
        lwi_elim_block block = {.J = plan->slot[e] + i,
                                .G = m->slot[j],
                                .at = m->place[e] * N->ld + m->place[f],
                                .m = (unsigned char)plan->graph.edge[e].rows,
                                .n = (unsigned char)plan->graph.edge[f].rows};
        for (int k = 0; k < i; k++)
            block.add |= holds(&plan->graph.edge[f], plan->graph.edge[e].body[k]);
        dual->block[m->nblock++] = block;
    }
}

// Entries of S_cc (both triangles of diagonal blocks) and S_co that blocks cover.
static void list_blocks(maker *m, int k)
{
    lwi_elim *dual = m->dual;
    lwi_elim_front *N = &dual->front[k];
    const lwi_plan_node *node = &dual->plan->node[k];
    N->block.first = m->nblock;
    double covered = 0, whole = (double)N->nc * N->no;
    for (int i = 0; i < node->closed.n; i++) {
        const int e = dual->plan->item[node->closed.first + i];
        const int rows = dual->plan->graph.edge[e].rows;
        for (int s = 0; s < dual->plan->graph.edge[e].n; s++) list_blocks_at(m, N, e, s);
        whole += rows * (N->nc - m->place[e]);
    }
    N->block.n = m->nblock - N->block.first;
    for (int j = N->block.first; j < m->nblock; j++)
        if (!dual->block[j].add) covered += dual->block[j].m * dual->block[j].n;
    N->clear = covered < whole;
}

// The open rows of node c in the front at hand: neighbours that stay neighbours are one move.
static void list_moves(maker *m, const lwi_elim_front *N, int c)
{
    lwi_elim *dual = m->dual;
    const lwi_plan *plan = dual->plan;
    lwi_elim_front *C = &dual->front[c];
    C->move.first = m->nmove;
    for (int i = 0, from = 0; i < plan->node[c].open.n; i++) {
        const int e = plan->item[plan->node[c].open.first + i];
        const int rows = plan->graph.edge[e].rows, to = m->place[e];
        lwi_elim_move *last = m->nmove > C->move.first ? &dual->move[m->nmove - 1] : NULL;
        if (last && last->to + last->n == to && to != N->nc)
            last->n += rows;
        else
            dual->move[m->nmove++] = (lwi_elim_move){from, to, rows};
        from += rows;
    }
    C->move.n = m->nmove - C->move.first;
}

static void list_all(maker *m)
{
    lwi_elim *dual = m->dual;
    list_edges(m);
    for (int k = 0; k < dual->nnode; k++) {
        lwi_elim_front *N = &dual->front[k];
        place_rows(m, k);
        list_blocks(m, k);
        N->bare = true;
        for (int i = 0; i < N->child.n; i++) {
            const int c = dual->plan->item[N->child.first + i];
            list_moves(m, N, c);
            for (int j = 0; j < dual->front[c].move.n; j++)
                N->bare &= dual->move[dual->front[c].move.first + j].to < N->nc;
        }
    }
}

// Room for the lists: a block for each pair of slots at a body.
static lw_status list_room(maker *m, lwi_arena *arena)
{
    lwi_elim *dual = m->dual;
    const lwi_plan *plan = dual->plan;
    size_t blocks = 0, moves = 0;
    for (int b = 0; b < plan->graph.nbody; b++) {
        const size_t n = (size_t)(m->first[b + 1] - m->first[b]);
        blocks += n * (n + 1) / 2;
    }
    for (int k = 0; k < plan->nnode; k++) moves += (size_t)plan->node[k].open.n;
    if (blocks > INT_MAX || moves > INT_MAX) return LW_ERR_MEMORY;
    dual->front = LWI_PUSH(arena, lwi_elim_front, plan->nnode);
    dual->edge = LWI_PUSH(arena, lwi_elim_edge, plan->graph.nedge);
    dual->block = LWI_PUSH(arena, lwi_elim_block, blocks);
    dual->move = LWI_PUSH(arena, lwi_elim_move, moves);
    return dual->front && dual->edge && dual->block && dual->move ? LW_OK : LW_ERR_MEMORY;
}

static lw_status lists(lwi_elim *dual, lwi_arena *arena)
{
    maker m = {.dual = dual};
    lwi_arena_init(&m.arena, &arena->allocator);
    lw_status status = body_slots(&m);
    if (status == LW_OK) status = list_room(&m, arena);
    if (status == LW_OK) list_all(&m);
    lwi_arena_free(&m.arena);
    return status;
}

static lw_status find_homes(lwi_elim *dual, lwi_arena *arena)
{
    const lwi_plan *plan = dual->plan;
    dual->home = LWI_PUSH(arena, int, plan->graph.nbody);
    if (!dual->home) return LW_ERR_MEMORY;
    for (int k = 0; k < plan->nnode; k++)
        for (int i = 0; i < plan->node[k].body.n; i++)
            dual->home[plan->item[plan->node[k].body.first + i]] = k;
    return LW_OK;
}

// Numbers of all fronts, each kind in one block in the order of the sweep.
static lw_status front_room(lwi_elim *dual, lwi_arena *arena)
{
    size_t R = 0, U = 0, v = 0, null = 0, swap = 0, C = 0, turn = 0;
    for (int k = 0; k < dual->nnode; k++) {
        const lwi_elim_front *N = &dual->front[k];
        // places in R are counted by int
        if ((double)N->nc * N->ld > INT_MAX || (double)N->no * N->lu > INT_MAX)
            return LW_ERR_MEMORY;
        R += (size_t)N->nc * (size_t)N->ld;
        U += (size_t)N->no * (size_t)N->lu;
        v += (size_t)N->ld;
        null += (size_t)N->nc * (size_t)N->nc;
        swap += (size_t)N->nc;
        if (!N->loop) continue;
        C += (size_t)N->no * (size_t)N->no;
        turn += (size_t)N->no;
    }
    double *Cs = LWI_PUSH(arena, double, C);
    int *turns = LWI_PUSH(arena, int, turn);
    if (!Cs || !turns) return LW_ERR_MEMORY;
    double *Rs = LWI_PUSH(arena, double, R), *Us = LWI_PUSH(arena, double, U);
    double *vs = LWI_PUSH(arena, double, v), *nulls = LWI_PUSH(arena, double, null);
    int *swaps = LWI_PUSH(arena, int, swap);
    dual->null = LWI_PUSH(arena, double *, dual->nnode);
    dual->swap = LWI_PUSH(arena, int *, dual->nnode);
    if (!Rs || !Us || !vs || !nulls || !swaps || !dual->null || !dual->swap) return LW_ERR_MEMORY;
    for (int k = 0; k < dual->nnode; k++) {
        lwi_elim_front *N = &dual->front[k];
        N->R = Rs, N->U = Us, N->v = vs;
        dual->null[k] = nulls, dual->swap[k] = swaps;
        Rs += (size_t)N->nc * (size_t)N->ld;
        Us += (size_t)N->no * (size_t)N->lu;
        vs += N->ld;
        nulls += (size_t)N->nc * (size_t)N->nc;
        swaps += N->nc;
        if (!N->loop) continue;
        N->C = Cs, N->turn = turns;
        Cs += (size_t)N->no * (size_t)N->no;
        turns += N->no;
    }
    return LW_OK;
}

bool lwi_elim_lanes(lwi_elim *dual, int width)
{
    const lwi_elim_kernels *texts = width < 0 ? NULL : lwi_elim_kernels_of(width);
    if (width >= 0 && !texts) return false;
    dual->texts = texts;
    return true;
}

static lw_status units(lwi_elim *dual, lwi_arena *arena)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = lwi_elim_bundle(dual, &scratch, arena);
    lwi_arena_free(&scratch);
    dual->texts = lwi_elim_kernels_of(0);
    return status;
}

lw_status lwi_elim_unsymmetric(lwi_elim *dual, lwi_arena *arena)
{
    size_t Q = 0, V = 0;
    for (int k = 0; k < dual->nnode; k++) {
        const lwi_elim_front *N = &dual->front[k];
        Q += (size_t)N->nc * (size_t)N->ld;
        V += (size_t)N->no * (size_t)N->lu;
    }
    double *Qs = LWI_PUSH(arena, double, Q), *Vs = LWI_PUSH(arena, double, V);
    if (!Qs || !Vs) return LW_ERR_MEMORY;
    for (int k = 0; k < dual->nnode; k++) {
        lwi_elim_front *N = &dual->front[k];
        N->Q = Qs, N->V = Vs;
        Qs += (size_t)N->nc * (size_t)N->ld;
        Vs += (size_t)N->no * (size_t)N->lu;
    }
    return lwi_elim_batch_two(dual, arena);
}

lw_status lwi_elim_create(const lwi_plan *plan, lwi_arena *arena, lwi_elim **out)
{
    lwi_elim *dual = LWI_PUSH(arena, lwi_elim, 1);
    if (!dual) return LW_ERR_MEMORY;
    dual->plan = plan;
    dual->nnode = plan->nnode;
    TRY(lists(dual, arena));
    TRY(find_homes(dual, arena));
    TRY(front_room(dual, arena));
    TRY(units(dual, arena));
    const size_t slots = (size_t)plan->slot[plan->graph.nedge], rows = (size_t)plan->nrow;
    dual->J = (double(*)[6])LWI_PUSH(arena, double, 36 * slots);
    dual->G = (double(*)[6])LWI_PUSH(arena, double, 36 * slots);
    dual->S = LWI_PUSH(arena, double, rows);
    dual->scale = LWI_PUSH(arena, double, rows);
    dual->eps = LWI_PUSH(arena, double, rows);
    dual->learnt = LWI_PUSH(arena, int, plan->nnode);
    dual->usual = LWI_PUSH(arena, double, plan->nnode);
    dual->state = LWI_PUSH(arena, lwi_elim_state, plan->nnode);
    if (!dual->J || !dual->G || !dual->S || !dual->scale || !dual->eps || !dual->learnt ||
        !dual->usual || !dual->state)
        return LW_ERR_MEMORY;
    lwi_elim_forget(dual);
    for (int k = 0; k < dual->nnode; k++) dual->state[k].kept = dual->front[k].nc;
    *out = dual;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- calls

double (*lwi_elim_J(lwi_elim *dual))[6]
{
    if (!atomic_load_explicit(&dual->touched, memory_order_relaxed))
        atomic_store_explicit(&dual->touched, true, memory_order_relaxed);
    return dual->J;
}

double (*lwi_elim_G(lwi_elim *dual))[6]
{
    return dual->G;
}

// The first node that failed; others may have failed because of it.
static int failed_node(const lwi_elim *dual)
{
    for (int k = 0; k < dual->nnode; k++)
        if (dual->state[k].status != LW_OK) return k;
    return -1;
}

static void take_eps(lwi_elim *dual, const double *eps)
{
    dual->regular = eps != NULL;
    double *to = dual->eps;
    for (int i = 0; i < dual->plan->graph.nedge && eps; i++) {
        const lwi_elim_edge *e = &dual->edge[i];
        for (int r = 0; r < e->m; r++) *to++ = eps[e->row + r];
    }
}

// Groups in lanes, or node by node.
void lwi_elim_set_laned(lwi_elim *dual, bool laned)
{
    if (laned && !dual->laned)
        for (int u = 0; u < dual->ngroup; u++)
            for (int l = 0; l < dual->unit[u].lanes; l++) {
                const int k = dual->unit[u].node[l];
                dual->state[k] = (lwi_elim_state){.status = LW_OK, .kept = dual->front[k].nc};
            }
    dual->laned = laned;
    dual->spread = false;
}

static bool lost_a_pivot(const lwi_elim *dual)
{
    for (int u = 0; u < dual->ngroup && dual->laned; u++)
        if (dual->unit[u].group->failed) return true;
    return false;
}

bool lwi_elim_all_kept(const lwi_elim *dual)
{
    if (lost_a_pivot(dual)) return false;
    bool kept = true;
    for (int u = dual->laned ? dual->ngroup : 0; u < dual->nunit; u++)
        for (int l = 0; l < dual->unit[u].lanes; l++)
            kept &= dual->state[dual->unit[u].node[l]].status == LW_OK;
    return kept;
}

static lw_status factor(lwi_elim *dual, const double *eps, bool two)
{
    dual->learn = false;
    dual->two = two;
    take_eps(dual, eps);
    lwi_elim_set_laned(dual, dual->texts && dual->ngroup && dual->whole);
    atomic_store_explicit(&dual->touched, false, memory_order_relaxed);
    lwi_elim_sweep_matrix(dual);
    if (lost_a_pivot(dual)) { // where and why
        lwi_elim_set_laned(dual, false);
        lwi_elim_sweep_matrix(dual);
    }
    const int failed = failed_node(dual);
    return failed < 0 ? LW_OK : dual->state[failed].status;
}

lw_status lwi_elim_factor(lwi_elim *dual, const double *eps)
{
    return factor(dual, eps, false);
}

lw_status lwi_elim_judge(lwi_elim *dual)
{
    dual->judged = true;
    const lw_status status = factor(dual, NULL, false);
    dual->judged = false;
    return status;
}

lw_status lwi_elim_factor_unsymmetric(lwi_elim *dual, const double *eps)
{
    return dual->both ? factor(dual, eps, true) : LW_ERR_ARGUMENT;
}

static void find_whole(lwi_elim *dual)
{
    dual->whole = true;
    for (int u = 0; u < dual->ngroup; u++)
        for (int l = 0; l < dual->unit[u].lanes; l++) {
            const int k = dual->unit[u].node[l];
            dual->whole &= dual->learnt[k] < 0 || dual->learnt[k] == dual->front[k].nc;
        }
}

lw_status lwi_elim_learn(lwi_elim *dual, double threshold, int *rank)
{
    dual->learn = true;
    dual->two = false;
    lwi_elim_set_laned(dual, false);
    dual->threshold = threshold;
    take_eps(dual, NULL);
    lwi_elim_sweep_matrix(dual);
    dual->learn = false;
    const int failed = failed_node(dual);
    if (failed >= 0) return dual->state[failed].status;
    int sum = 0;
    for (int k = 0; k < dual->nnode; k++) {
        const int kept = dual->state[k].kept;
        if (dual->learnt[k] < kept) dual->learnt[k] = kept;
        sum += kept;
    }
    find_whole(dual);
    if (rank) *rank = sum;
    return LW_OK;
}

void lwi_elim_forget(lwi_elim *dual)
{
    for (int k = 0; k < dual->nnode; k++) dual->learnt[k] = -1;
    dual->whole = true;
}

int lwi_elim_rank(const lwi_elim *dual)
{
    int sum = 0;
    for (int k = 0; k < dual->nnode; k++)
        sum += dual->learnt[k] < 0 ? dual->front[k].nc : dual->learnt[k];
    return sum;
}

// Edge, and row of it, of a node's row.
static const lwi_elim_edge *edge_of(const lwi_elim *dual, int node, int *row)
{
    const lwi_elim_edge *e = dual->edge + dual->front[node].edge.first;
    while (*row >= e->m) *row -= (e++)->m;
    return e;
}

// What lanes keep is told to the nodes' states when it is asked for.
void lwi_elim_note_groups(const lwi_elim *dual)
{
    for (int u = 0; u < dual->ngroup && dual->laned; u++) {
        const lwi_elim_batch *g = dual->unit[u].group;
        for (int l = 0; l < g->lanes; l++) {
            lwi_elim_state *state = &dual->state[dual->unit[u].node[l]];
            state->most = 0;
            for (int r = 0; r < g->nc; r++) {
                const double share = g->S[r][l] * g->R[r * (g->nc + g->no + 1)][l];
                if (share > state->most) state->most = share, state->most_row = r;
            }
        }
    }
}

lwi_pivots lwi_elim_pivots(const lwi_elim *dual)
{
    lwi_pivots p = {.least = 1, .edge = -1, .row = -1, .dropped = 0, .dropped_edge = -1};
    const int failed = failed_node(dual);
    double most = 0;
    int least_at = failed, dropped_at = -1;
    lwi_elim_note_groups(dual);
    for (int k = 0; k < dual->nnode; k++) {
        if (failed < 0 && dual->state[k].most > most) most = dual->state[k].most, least_at = k;
        if (dual->state[k].kept < dual->front[k].nc && dual->state[k].dropped >= p.dropped)
            p.dropped = dual->state[k].dropped, dropped_at = k;
    }
    if (least_at >= 0) {
        p.least = 1 / dual->state[least_at].most;
        p.row = dual->state[least_at].most_row;
        p.edge = edge_of(dual, least_at, &p.row)->edge;
    }
    if (dropped_at >= 0) {
        int row = dual->state[dropped_at].dropped_row;
        p.dropped_edge = edge_of(dual, dropped_at, &row)->edge;
    }
    return p;
}

void lwi_elim_solve(lwi_elim *dual, double (*x)[6], const double *c, double *lambda, int refine)
{
    dual->x = x;
    dual->c = c;
    dual->lambda = lambda;
    lwi_elim_sweep_vectors(dual, refine);
}

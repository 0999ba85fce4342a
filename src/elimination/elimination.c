// elimination.c -- creation of the elimination from a plan: edges, blocks and moves of all fronts, memory;
// and the public calls.
#include "elimination/lanes.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

// --------------------------------------------------------------------------------------- creation

// State of the creation; `place` and the block lists are those of the current node.
typedef struct maker {
    lwi_elim *elim;
    lwi_arena arena; ///< temporary
    int *first;      ///< [nbody + 1] first slot of each body
    int *slot, *edge_of;
    int *order; ///< [nedge] position in the order of elimination
    int *place; ///< [nedge] first row in the current front
    int nedge, nblock, nmove;
    size_t block_room, move_room;
} maker;

static lw_status body_slots(maker *m)
{
    const lwi_plan *plan = m->elim->plan;
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
            m->first[lwi_plan_bodies(&plan->graph.edge[e])[i] + 1]++;
    for (int b = 0; b < nbody; b++) m->first[b + 1] += m->first[b];
    for (int e = 0; e < plan->graph.nedge; e++)
        for (int i = 0; i < plan->graph.edge[e].n && plan->graph.edge[e].rows; i++) {
            const int b = lwi_plan_bodies(&plan->graph.edge[e])[i], at = m->first[b] + fill[b]++;
            LWI_ASSERT(at < m->first[b + 1]);
            m->slot[at] = plan->slot[e] + i;
            m->edge_of[at] = e;
        }
    return LW_OK;
}

// Closed edges of all nodes, in order; sizes of the fronts.
static void list_edges(maker *m)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    int row = 0;
    for (int k = 0; k < plan->nnode; k++) {
        const lwi_plan_node *node = &plan->node[k];
        lwi_elim_front *N = &elim->front[k];
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
            const int first = elim->front[plan->item[node->child.first + i]].first;
            LWI_ASSERT_INDEX(plan->item[node->child.first + i], k); // children before parents
            if (N->first > first) N->first = first;
        }
        for (int i = 0; i < node->closed.n; i++) {
            const int e = plan->item[node->closed.first + i];
            const lwi_plan_edge *edge = &plan->graph.edge[e];
            lwi_elim_edge *to = &elim->edge[m->nedge];
            LWI_ASSERT_INDEX(e, plan->graph.nedge);
            LWI_ASSERT(m->nedge < plan->graph.nedge && plan->closer[e] == k);
            LWI_ASSERT(edge->rows >= 1 && edge->rows <= LWI_EDGE_ROWS);
            *to = (lwi_elim_edge){e,       plan->row[e],         edge->rows, plan->slot[e],
                                  edge->n, lwi_plan_bodies(edge)};
            m->order[e] = m->nedge++;
        }
    }
    LWI_ASSERT(row == plan->nrow);
}

static void place_rows(maker *m, int k)
{
    const lwi_plan *plan = m->elim->plan;
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
    LWI_ASSERT(row == node->closed_rows + node->open_rows);
}

// Whether edges e and f meet at one of the first n bodies of e.
static bool meet_before(const lwi_plan_edge *e, int n, const lwi_plan_edge *f)
{
    const int *of_e = lwi_plan_bodies(e), *of_f = lwi_plan_bodies(f);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < f->n; k++)
            if (of_e[i] == of_f[k]) return true;
    return false;
}

// Blocks of the rows of edge e at its body number i: with itself and with the edges closed later.
static void list_blocks_at(maker *m, const lwi_elim_front *N, int e, int i)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    const int b = lwi_plan_bodies(&plan->graph.edge[e])[i];
    for (int j = m->first[b]; j < m->first[b + 1]; j++) {
        const int f = m->edge_of[j];
        if (m->order[f] < m->order[e]) continue;
        LWI_ASSERT(m->place[e] + plan->graph.edge[e].rows <= N->nc);
        LWI_ASSERT(m->place[f] + plan->graph.edge[f].rows <= N->nc + N->no);
        LWI_ASSERT((size_t)m->nblock < m->block_room);
        const lwi_elim_block block = {
            .J = plan->slot[e] + i,
            .G = m->slot[j],
            .at = m->place[e] * N->ld + m->place[f],
            .m = (unsigned char)plan->graph.edge[e].rows,
            .n = (unsigned char)plan->graph.edge[f].rows,
            .add = i > 0 && (e == f || meet_before(&plan->graph.edge[e], i, &plan->graph.edge[f]))};
        elim->block[m->nblock++] = block;
    }
}

// Lists the blocks of node k, and whether they cover all entries of S_cc (both triangles of diagonal blocks)
// and S_co.
static void list_blocks(maker *m, int k)
{
    lwi_elim *elim = m->elim;
    lwi_elim_front *N = &elim->front[k];
    const lwi_plan_node *node = &elim->plan->node[k];
    N->block.first = m->nblock;
    double covered = 0, whole = (double)N->nc * N->no;
    for (int i = 0; i < node->closed.n; i++) {
        const int e = elim->plan->item[node->closed.first + i];
        const int rows = elim->plan->graph.edge[e].rows;
        for (int s = 0; s < elim->plan->graph.edge[e].n; s++) list_blocks_at(m, N, e, s);
        whole += rows * (N->nc - m->place[e]);
    }
    N->block.n = m->nblock - N->block.first;
    for (int j = N->block.first; j < m->nblock; j++)
        if (!elim->block[j].add) covered += elim->block[j].m * elim->block[j].n;
    N->clear = covered < whole;
}

// Blocks of the open rows of edge e at its body number i, in the subtree of the node: with itself and with the open edges after
// it.  Returns their number; lists them if `fill`.
static int open_blocks_at(maker *m, const lwi_elim_front *N, int k, int e, int i, bool fill)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    const int b = lwi_plan_bodies(&plan->graph.edge[e])[i];
    int count = 0;
    if (elim->entry_node[b] < N->first || elim->entry_node[b] > k) return 0;
    for (int j = m->first[b]; j < m->first[b + 1]; j++) {
        const int f = m->edge_of[j];
        if (plan->closer[f] <= k || m->order[f] < m->order[e]) continue;
        count++;
        if (!fill) continue;
        LWI_ASSERT((size_t)m->nblock < m->block_room);
        elim->block[m->nblock++] =
            (lwi_elim_block){.J = plan->slot[e] + i,
                             .G = m->slot[j],
                             .at = (m->place[e] - N->nc) * N->no + m->place[f] - N->nc,
                             .m = (unsigned char)plan->graph.edge[e].rows,
                             .n = (unsigned char)plan->graph.edge[f].rows,
                             .add = true};
    }
    return count;
}

// The blocks of C, of nodes that close loops.
static int open_blocks(maker *m, int k, bool fill)
{
    const lwi_plan *plan = m->elim->plan;
    const lwi_plan_span open = plan->node[k].open;
    int count = 0;
    for (int a = 0; a < open.n && plan->node[k].loop; a++) {
        const int e = plan->item[open.first + a];
        for (int i = 0; i < plan->graph.edge[e].n; i++)
            count += open_blocks_at(m, &m->elim->front[k], k, e, i, fill);
    }
    return count;
}

// Moves of the open rows of node c to the current front: the open handles of a compound are those of the
// compounds that it joins [chadaj2017, (32)-(33)].  Rows that remain neighbours are one move.
static void list_moves(maker *m, const lwi_elim_front *N, int c)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    lwi_elim_front *C = &elim->front[c];
    C->move.first = m->nmove;
    for (int i = 0, from = 0; i < plan->node[c].open.n; i++) {
        const int e = plan->item[plan->node[c].open.first + i];
        const int rows = plan->graph.edge[e].rows, to = m->place[e];
        LWI_ASSERT(to >= 0 && to + rows <= N->nc + N->no);
        LWI_ASSERT((size_t)m->nmove < m->move_room);
        lwi_elim_move *last = m->nmove > C->move.first ? &elim->move[m->nmove - 1] : NULL;
        if (last && last->to + last->n == to && to != N->nc)
            last->n += rows;
        else
            elim->move[m->nmove++] = (lwi_elim_move){from, to, rows};
        from += rows;
        LWI_ASSERT(from <= C->no);
    }
    C->move.n = m->nmove - C->move.first;
}

static void list_all(maker *m)
{
    lwi_elim *elim = m->elim;
    for (int k = 0; k < elim->nnode; k++) {
        lwi_elim_front *N = &elim->front[k];
        place_rows(m, k);
        list_blocks(m, k);
        N->open.first = m->nblock;
        N->open.n = open_blocks(m, k, true);
        N->bare = true;
        for (int i = 0; i < N->child.n; i++) {
            const int c = elim->plan->item[N->child.first + i];
            list_moves(m, N, c);
            for (int j = 0; j < elim->front[c].move.n; j++)
                N->bare &= elim->move[elim->front[c].move.first + j].to < N->nc;
        }
    }
}

static lw_status find_entry_nodes(lwi_elim *elim, lwi_arena *arena)
{
    const lwi_plan *plan = elim->plan;
    elim->entry_node = LWI_PUSH(arena, int, plan->graph.nbody);
    if (!elim->entry_node) return LW_ERR_MEMORY;
    for (int k = 0; k < plan->nnode; k++)
        for (int i = 0; i < plan->node[k].body.n; i++)
            elim->entry_node[plan->item[plan->node[k].body.first + i]] = k;
    return LW_OK;
}

static lw_status list_room(maker *m, lwi_arena *arena)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    for (int k = 0; k < plan->nnode; k++) m->move_room += (size_t)plan->node[k].open.n;
    if (m->move_room > INT_MAX) return LW_ERR_MEMORY;
    elim->front = LWI_PUSH(arena, lwi_elim_front, plan->nnode);
    elim->edge = LWI_PUSH(arena, lwi_elim_edge, plan->graph.nedge);
    elim->move = LWI_PUSH(arena, lwi_elim_move, m->move_room);
    return elim->front && elim->edge && elim->move ? LW_OK : LW_ERR_MEMORY;
}

// Memory of the blocks: one for each pair of slots at a body, and those of open rows.
static lw_status block_room(maker *m, lwi_arena *arena)
{
    lwi_elim *elim = m->elim;
    const lwi_plan *plan = elim->plan;
    for (int b = 0; b < plan->graph.nbody; b++) {
        const size_t n = (size_t)(m->first[b + 1] - m->first[b]);
        m->block_room += n * (n + 1) / 2;
    }
    for (int k = 0; k < plan->nnode; k++) m->block_room += (size_t)open_blocks(m, k, false);
    if (m->block_room > INT_MAX) return LW_ERR_MEMORY;
    elim->block = LWI_PUSH(arena, lwi_elim_block, m->block_room);
    return elim->block ? LW_OK : LW_ERR_MEMORY;
}

static lw_status make_lists(lwi_elim *elim, lwi_arena *arena)
{
    maker m = {.elim = elim};
    lwi_arena_init(&m.arena, &arena->allocator);
    lw_status status = body_slots(&m);
    if (status == LW_OK) status = list_room(&m, arena);
    if (status == LW_OK) list_edges(&m);
    if (status == LW_OK) status = block_room(&m, arena);
    if (status == LW_OK) list_all(&m);
    lwi_arena_free(&m.arena);
    return status;
}

// Takes over the lists of an elimination with the same plan; the fronts have other memory.
static lw_status take_lists(lwi_elim *elim, const lwi_elim *first, lwi_arena *arena)
{
    elim->edge = first->edge, elim->block = first->block, elim->move = first->move;
    elim->entry_node = first->entry_node;
    elim->nshape = first->nshape;
    elim->front = LWI_PUSH(arena, lwi_elim_front, elim->nnode);
    if (!elim->front) return LW_ERR_MEMORY;
    for (int k = 0; k < elim->nnode; k++) {
        lwi_elim_front *N = &elim->front[k];
        *N = first->front[k];
        N->R = N->U = N->v = N->Q = N->V = N->C = NULL;
        N->perm = NULL;
    }
    return LW_OK;
}

static lw_status lists(lwi_elim *elim, lwi_arena *arena)
{
    const lwi_elim *first = elim->common ? elim->common->first : NULL;
    if (first && first->plan->node == elim->plan->node) return take_lists(elim, first, arena);
    TRY(find_entry_nodes(elim, arena));
    return make_lists(elim, arena);
}

// Memory of all fronts, each kind of array contiguous in the order of the sweep.
lw_status lwi_elim_front_room(lwi_elim *elim, lwi_arena *arena)
{
    size_t R = 0, v = 0, null = 0, swap = 0, perm = 0;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        // indices into R are int
        if ((double)N->nc * N->ld > INT_MAX || (double)N->no * N->lu > INT_MAX)
            return LW_ERR_MEMORY;
        R += (size_t)N->nc * (size_t)N->ld;
        v += (size_t)N->ld;
        null += (size_t)N->nc * (size_t)N->nc;
        swap += (size_t)N->nc;
        if (N->loop) perm += (size_t)N->no;
    }
    TRY(lwi_elim_update_room(elim, arena));
    int *perms = LWI_PUSH(arena, int, perm);
    double *Rs = LWI_PUSH(arena, double, R);
    double *vs = LWI_PUSH(arena, double, v), *nulls = LWI_PUSH(arena, double, null);
    int *swaps = LWI_PUSH(arena, int, swap);
    elim->null = LWI_PUSH(arena, double *, elim->nnode);
    elim->swap = LWI_PUSH(arena, int *, elim->nnode);
    if (!perms || !Rs || !vs || !nulls || !swaps || !elim->null || !elim->swap)
        return LW_ERR_MEMORY;
    for (int k = 0; k < elim->nnode; k++) {
        lwi_elim_front *N = &elim->front[k];
        N->R = Rs, N->v = vs;
        elim->null[k] = nulls, elim->swap[k] = swaps;
        Rs += (size_t)N->nc * (size_t)N->ld;
        vs += N->ld;
        nulls += (size_t)N->nc * (size_t)N->nc;
        swaps += N->nc;
        if (!N->loop) continue;
        N->perm = perms;
        perms += N->no;
    }
    return LW_OK;
}

bool lwi_elim_lanes(lwi_elim *elim, int width)
{
    const lwi_elim_kernels *kernels = width < 0 ? NULL : lwi_elim_kernels_of(width);
    if (width >= 0 && !kernels) return false;
    elim->kernels = kernels;
    elim->dense = kernels ? kernels : lwi_elim_kernels_of(1);
    return true;
}

static lw_status tasks(lwi_elim *elim, lwi_arena *arena)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = lwi_elim_create_tasks(elim, &scratch, arena);
    lwi_arena_free(&scratch);
    elim->kernels = elim->dense = lwi_elim_kernels_of(0);
    return status;
}

lw_status lwi_elim_unsymmetric(lwi_elim *elim, lwi_arena *arena)
{
    size_t Q = 0;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        Q += (size_t)N->nc * (size_t)N->ld;
    }
    double *Qs = LWI_PUSH(arena, double, Q);
    if (!Qs) return LW_ERR_MEMORY;
    for (int k = 0; k < elim->nnode; k++) {
        lwi_elim_front *N = &elim->front[k];
        N->Q = Qs;
        Qs += (size_t)N->nc * (size_t)N->ld;
    }
    TRY(lwi_elim_update_room_unsymmetric(elim, arena));
    return lwi_elim_batch_unsymmetric(elim, arena);
}

lw_status lwi_elim_create(const lwi_plan *plan, lwi_arena *arena, lwi_elim **out)
{
    return lwi_elim_create_with(plan, NULL, arena, out);
}

lw_status lwi_elim_create_with(const lwi_plan *plan, lwi_elim_updates *common, lwi_arena *arena,
                               lwi_elim **out)
{
    lwi_elim *elim = LWI_PUSH(arena, lwi_elim, 1);
    if (!elim) return LW_ERR_MEMORY;
    elim->common = common;
    LWI_ASSERT(plan && plan->nnode >= 0 && plan->kind != LW_PLAN_AUTO);
    elim->plan = plan;
    elim->nnode = plan->nnode;
    TRY(lists(elim, arena));
    const lwi_elim_front *last = elim->nnode ? &elim->front[elim->nnode - 1] : NULL;
    LWI_INVARIANT((last ? last->row + last->nc : 0) == plan->nrow,
                  NULL); // every row is closed once
    TRY(tasks(elim, arena));
    const size_t slots = (size_t)plan->slot[plan->graph.nedge], rows = (size_t)plan->nrow;
    elim->J = (double(*)[6])LWI_PUSH(arena, double, 36 * slots);
    elim->G = (double(*)[6])LWI_PUSH(arena, double, 36 * slots);
    elim->S = LWI_PUSH(arena, double, rows);
    elim->scale = LWI_PUSH(arena, double, rows);
    elim->eps = LWI_PUSH(arena, double, rows);
    elim->generic_rank = LWI_PUSH(arena, int, plan->nnode);
    elim->reference_pivot = LWI_PUSH(arena, double, plan->nnode);
    elim->state = LWI_PUSH(arena, lwi_elim_state, plan->nnode);
    if (!elim->J || !elim->G || !elim->S || !elim->scale || !elim->eps || !elim->generic_rank ||
        !elim->reference_pivot || !elim->state)
        return LW_ERR_MEMORY;
    lwi_elim_clear_ranks(elim);
    for (int k = 0; k < elim->nnode; k++) elim->state[k].kept = elim->front[k].nc;
    if (common && common->arena == arena && !common->first) common->first = elim;
    *out = elim;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- calls

double (*lwi_elim_J(lwi_elim *elim))[6]
{
    if (!atomic_load_explicit(&elim->J_changed, memory_order_relaxed))
        atomic_store_explicit(&elim->J_changed, true, memory_order_relaxed);
    return elim->J;
}

double (*lwi_elim_G(lwi_elim *elim))[6]
{
    return elim->G;
}

const double (*lwi_elim_rows(const lwi_elim *elim))[6]
{
    return (const double(*)[6])elim->J;
}

// The first node that failed; later failures may be consequences.
static int failed_node(const lwi_elim *elim)
{
    for (int k = 0; k < elim->nnode; k++)
        if (elim->state[k].status != LW_OK) return k;
    return -1;
}

static void take_eps(lwi_elim *elim, const double *eps)
{
    elim->regular = eps != NULL;
    double *to = elim->eps;
    for (int i = 0; i < elim->plan->graph.nedge && eps; i++) {
        const lwi_elim_edge *e = &elim->edge[i];
        for (int r = 0; r < e->m; r++) {
            LWI_ASSERT(!(eps[e->row + r] < 0));
            *to++ = eps[e->row + r];
        }
    }
}

// Switches batches to lanes, or to node by node.
void lwi_elim_set_laned(lwi_elim *elim, bool laned)
{
    if (laned && !elim->laned)
        for (int u = 0; u < elim->nbatch; u++)
            for (int l = 0; l < elim->task[u].lanes; l++) {
                const int k = elim->task[u].node[l];
                elim->state[k] = (lwi_elim_state){.status = LW_OK, .kept = elim->front[k].nc};
            }
    elim->laned = laned;
    elim->in_fronts = false;
}

static bool lost_a_pivot(const lwi_elim *elim)
{
    for (int u = 0; u < elim->nbatch && elim->laned; u++)
        if (elim->task[u].batch->failed) return true;
    return false;
}

bool lwi_elim_all_kept(const lwi_elim *elim)
{
    if (lost_a_pivot(elim)) return false;
    bool kept = true;
    for (int u = elim->laned ? elim->nbatch : 0; u < elim->ntask; u++)
        for (int l = 0; l < elim->task[u].lanes; l++)
            kept &= elim->state[elim->task[u].node[l]].status == LW_OK;
    return kept;
}

long lwi_elim_matrix_passes(const lwi_elim *elim)
{
    return elim->passes;
}

static lw_status factor(lwi_elim *elim, const double *eps, bool two, bool lanes)
{
    elim->passes++;
    LWI_ASSERT(!two || elim->has_unsymmetric);
    LWI_ASSERT(!elim->assembled);
    elim->in_extended = false;
    elim->find_ranks = false;
    elim->unsymmetric = two;
    take_eps(elim, eps);
    lwi_elim_set_laned(elim, elim->kernels && elim->nbatch && lanes);
    atomic_store_explicit(&elim->J_changed, false, memory_order_relaxed);
    lwi_elim_sweep_matrix(elim);
    const bool repeat = lost_a_pivot(elim);
    if (repeat && lwi_elim_has_extended_factors(elim) && !eps && !two)
        return LW_ERR_SINGULAR; // lwi_elim_lost
    if (repeat) {               // node by node: finds the row
        lwi_elim_set_laned(elim, false);
        lwi_elim_sweep_matrix(elim);
    }
    const int failed = failed_node(elim);
    return failed < 0 ? LW_OK : elim->state[failed].status;
}

lw_status lwi_elim_factor_extended(lwi_elim *elim)
{
    LWI_ASSERT(lwi_elim_has_extended_factors(elim) && !elim->assembled);
    elim->find_ranks = false;
    elim->unsymmetric = false;
    take_eps(elim, NULL);
    lwi_elim_set_laned(elim, false);
    elim->in_extended = true;
    lwi_elim_extended_matrix(elim);
    const int failed = failed_node(elim);
    return failed < 0 ? LW_OK : elim->state[failed].status;
}

bool lwi_elim_is_extended(const lwi_elim *elim)
{
    return elim->in_extended;
}

bool lwi_elim_lost(const lwi_elim *elim)
{
    if (!lwi_elim_has_extended_factors(elim) || elim->in_extended) return false;
    if (lost_a_pivot(elim)) return true;
    const int failed = failed_node(elim);
    return failed >= 0 && elim->state[failed].status == LW_ERR_SINGULAR &&
           !elim->front[failed].loop;
}

double lwi_elim_tree_pivot(const lwi_elim *elim)
{
    double max_ratio = 1;
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++)
        if (!elim->front[k].loop) max_ratio = fmax(max_ratio, elim->state[k].max_ratio);
    return 1 / max_ratio;
}

double lwi_elim_relative_pivot(const lwi_elim *elim)
{
    double smallest = 1;
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++) {
        const double reference = elim->reference_pivot[k];
        if (elim->front[k].loop && reference > 0 && elim->state[k].max_ratio > 0)
            smallest = fmin(smallest, 1 / (elim->state[k].max_ratio * reference));
    }
    return smallest;
}

lw_status lwi_elim_factor(lwi_elim *elim, const double *eps)
{
    return factor(elim, eps, false, elim->full_rank);
}

lw_status lwi_elim_factor_regular(lwi_elim *elim, const double *eps)
{
    LWI_ASSERT(eps);
    return factor(elim, eps, false, true);
}

lw_status lwi_elim_check_pivots(lwi_elim *elim)
{
    elim->pivots_only = true;
    const lw_status status = factor(elim, NULL, false, elim->full_rank);
    elim->pivots_only = false;
    return status;
}

lw_status lwi_elim_factor_unsymmetric(lwi_elim *elim, const double *eps)
{
    LWI_INVARIANT(elim->has_unsymmetric, NULL);
    return factor(elim, eps, true, elim->full_rank);
}

lw_status lwi_elim_factor_indefinite(lwi_elim *elim, const double *eps)
{
    LWI_INVARIANT(elim->has_unsymmetric, NULL);
    elim->indefinite = true;
    const lw_status status = factor(elim, eps, true, elim->full_rank);
    elim->indefinite = false;
    return status;
}

static void find_full_rank(lwi_elim *elim)
{
    elim->full_rank = true;
    for (int u = 0; u < elim->nbatch; u++)
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int k = elim->task[u].node[l];
            elim->full_rank &=
                elim->generic_rank[k] < 0 || elim->generic_rank[k] == elim->front[k].nc;
        }
}

lw_status lwi_elim_find_ranks(lwi_elim *elim, double threshold, int *rank)
{
    LWI_ASSERT(threshold > 0 && threshold < 1);
    elim->passes++;
    elim->find_ranks = true;
    elim->unsymmetric = elim->in_extended = false;
    lwi_elim_set_laned(elim, false);
    elim->threshold = threshold;
    take_eps(elim, NULL);
    lwi_elim_sweep_matrix(elim);
    elim->find_ranks = false;
    const int failed = failed_node(elim);
    if (failed >= 0) return elim->state[failed].status;
    int sum = 0;
    for (int k = 0; k < elim->nnode; k++) {
        const int kept = elim->state[k].kept;
        LWI_ASSERT(kept >= 0 && kept <= elim->front[k].nc);
        if (elim->generic_rank[k] < kept) elim->generic_rank[k] = kept;
        sum += kept;
    }
    LWI_INVARIANT(sum >= 0 && sum <= elim->plan->nrow, NULL);
    find_full_rank(elim);
    if (rank) *rank = sum;
    return LW_OK;
}

void lwi_elim_clear_ranks(lwi_elim *elim)
{
    for (int k = 0; k < elim->nnode; k++) elim->generic_rank[k] = -1;
    elim->full_rank = true;
}

void lwi_elim_get_ranks(const lwi_elim *elim, int *rank)
{
    memcpy(rank, elim->generic_rank, (size_t)elim->nnode * sizeof *rank);
}

void lwi_elim_put_ranks(lwi_elim *elim, const int *rank)
{
    memcpy(elim->generic_rank, rank, (size_t)elim->nnode * sizeof *rank);
    find_full_rank(elim);
}

void lwi_elim_pivot_at(lwi_elim *elim, const bool *nodes)
{
    elim->pivots = nodes;
}

int lwi_elim_rank(const lwi_elim *elim)
{
    int sum = 0;
    for (int k = 0; k < elim->nnode; k++)
        sum += elim->generic_rank[k] < 0 ? elim->front[k].nc : elim->generic_rank[k];
    return sum;
}

const lwi_elim_edge *lwi_elim_edge_of_row(const lwi_elim *elim, int node, int *row)
{
    LWI_ASSERT_INDEX(node, elim->nnode);
    LWI_ASSERT_INDEX(*row, elim->front[node].nc);
    const lwi_elim_edge *e = elim->edge + elim->front[node].edge.first;
    while (*row >= e->m) *row -= (e++)->m;
    return e;
}

// Copies the pivots of lanes to the states of their nodes, on request only.
void lwi_elim_note_batches(const lwi_elim *elim)
{
    for (int u = 0; u < elim->nbatch && elim->laned; u++) {
        const lwi_elim_batch *g = elim->task[u].batch;
        for (int l = 0; l < g->lanes; l++) {
            lwi_elim_state *state = &elim->state[elim->task[u].node[l]];
            state->max_ratio = 0;
            for (int r = 0; r < g->nc; r++) {
                const double share = g->S[r][l] * g->R[r * (g->nc + g->no + 1)][l];
                if (share > state->max_ratio) state->max_ratio = share, state->max_ratio_row = r;
            }
        }
    }
}

lwi_elim_pivot_info lwi_elim_pivots(const lwi_elim *elim)
{
    lwi_elim_pivot_info p = {.min = 1, .edge = -1, .row = -1, .dropped = 0, .dropped_edge = -1};
    const int failed = failed_node(elim);
    double max_ratio = 0;
    int min_at = failed, dropped_at = -1;
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++) {
        if (failed < 0 && elim->state[k].max_ratio > max_ratio)
            max_ratio = elim->state[k].max_ratio, min_at = k;
        if (elim->state[k].kept < elim->front[k].nc && elim->state[k].dropped >= p.dropped)
            p.dropped = elim->state[k].dropped, dropped_at = k;
    }
    if (min_at >= 0) {
        p.min = 1 / elim->state[min_at].max_ratio;
        p.row = elim->state[min_at].max_ratio_row;
        p.edge = lwi_elim_edge_of_row(elim, min_at, &p.row)->edge;
    }
    if (dropped_at >= 0) {
        int row = elim->state[dropped_at].dropped_row;
        p.dropped_edge = lwi_elim_edge_of_row(elim, dropped_at, &row)->edge;
    }
    return p;
}

void lwi_elim_solve(lwi_elim *elim, double (*x)[6], const double *c, double *lambda, int refine)
{
    LWI_ASSERT(refine >= 0 && x && (elim->plan->nrow == 0 || (c && lambda)));
    elim->x = x;
    elim->c = c;
    elim->lambda = lambda;
    if (elim->in_extended)
        lwi_elim_extended_vectors(elim);
    else
        lwi_elim_sweep_vectors(elim, 0, refine);
}

void lwi_elim_refine(lwi_elim *elim, double (*x)[6], const double *c, double *lambda)
{
    LWI_ASSERT(!elim->in_extended && x);
    elim->x = x;
    elim->c = c;
    elim->lambda = lambda;
    lwi_elim_sweep_vectors(elim, 1, 1);
}

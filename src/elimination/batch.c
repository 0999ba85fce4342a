// batch.c -- isomorphic subtrees side by side: selection of batches, their memory and lists.
//
// Batches are selected by shape: full ones first, the largest subtrees first, then those that leave lanes
// empty.  The selection follows from the plan only.
#include "elimination/lanes.h"

#include <stdlib.h>
#include <string.h>

typedef struct choice {
    lwi_elim *elim;
    lwi_arena *scratch, *arena;
    int *shape, nshape;
    int *size;         ///< [nnode] number of nodes of the subtree
    int *first, *node; ///< nodes of shape s: node[first[s]] ... in their order
    int *order;        ///< [nshape] shapes by size, the largest first
    bool *taken;       ///< [nnode] in a batch
    bool *above;       ///< [nnode] a descendant is in a batch
    int nbatch;
} choice;

// ------------------------------------------------------------------------------------------ choice

static lw_status sort_nodes(choice *c)
{
    const int n = c->elim->nnode;
    c->size = LWI_PUSH(c->scratch, int, n);
    c->first = LWI_PUSH(c->scratch, int, c->nshape + 1);
    c->node = LWI_PUSH(c->scratch, int, n);
    c->order = LWI_PUSH(c->scratch, int, c->nshape);
    c->taken = LWI_PUSH(c->scratch, bool, n);
    c->above = LWI_PUSH(c->scratch, bool, n);
    int *at = LWI_PUSH(c->scratch, int, n + 2);
    if (!c->size || !c->first || !c->node || !c->order || !c->taken || !c->above || !at)
        return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) {
        c->size[k] = k - c->elim->front[k].first + 1;
        if (c->shape[k] >= 0) c->first[c->shape[k] + 1]++;
    }
    for (int s = 0; s < c->nshape; s++) c->first[s + 1] += c->first[s];
    for (int s = 0; s < c->nshape; s++) at[s] = c->first[s];
    for (int k = 0; k < n; k++)
        if (c->shape[k] >= 0) c->node[at[c->shape[k]]++] = k;
    // counting sort by size
    memset(at, 0, (size_t)(n + 2) * sizeof *at);
    for (int s = 0; s < c->nshape; s++) at[n - c->size[c->node[c->first[s]]] + 1]++;
    for (int i = 0; i <= n; i++) at[i + 1] += at[i];
    for (int s = 0; s < c->nshape; s++) c->order[at[n - c->size[c->node[c->first[s]]]]++] = s;
    return LW_OK;
}

static void take(choice *c, const int *node, int lanes)
{
    for (int l = 0; l < lanes; l++) {
        const lwi_elim_front *front = c->elim->front;
        for (int k = front[node[l]].first; k <= node[l]; k++) c->taken[k] = true;
        for (int k = front[node[l]].parent; k >= 0 && !c->above[k]; k = front[k].parent)
            c->above[k] = true;
    }
}

static lwi_elim_task *task_of(const choice *c, int node)
{
    return &c->elim->task[c->elim->task_of[node]];
}

// The tasks of a batch of subtrees: one for node i of all subtrees.
static lw_status create_batch(choice *c, const int *root, int lanes)
{
    LWI_ASSERT(lanes >= LWI_ELIM_MIN_LANES && lanes <= LWI_ELIM_LANES);
    lwi_elim *elim = c->elim;
    const int n = c->size[root[0]];
    for (int i = 0; i < n; i++) {
        lwi_elim_task *u = &elim->task[elim->ntask];
        *u = (lwi_elim_task){.lanes = lanes, .parent = -1};
        for (int l = 0; l < LWI_ELIM_LANES; l++) {
            const int lane = l < lanes ? l : lanes - 1;
            u->node[l] = elim->front[root[lane]].first + i;
            elim->task_of[u->node[l]] = elim->ntask;
            elim->lane_of[u->node[l]] = lane;
        }
        u->batch = LWI_PUSH(c->arena, lwi_elim_batch, 1);
        if (!u->batch) return LW_ERR_MEMORY;
        TRY(lwi_elim_batch_room(elim, u->node, lanes, c->arena, u->batch));
        elim->ntask++;
    }
    take(c, root, lanes);
    return LW_OK;
}

// Forms batches of at least `min_lanes` lanes of the nodes not taken yet.
static lw_status choose(choice *c, int min_lanes)
{
    for (int i = 0; i < c->nshape; i++) {
        const int s = c->order[i];
        int root[LWI_ELIM_LANES], lanes = 0, left = 0;
        for (int j = c->first[s]; j < c->first[s + 1]; j++)
            left += !c->taken[c->node[j]] && !c->above[c->node[j]];
        for (int j = c->first[s]; j < c->first[s + 1] && left + lanes >= min_lanes; j++) {
            if (c->taken[c->node[j]] || c->above[c->node[j]]) continue;
            root[lanes++] = c->node[j];
            left--;
            if (lanes < LWI_ELIM_LANES && left) continue;
            if (lanes >= min_lanes) TRY(create_batch(c, root, lanes));
            lanes = 0;
        }
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- lists

// Edges and slots of lane l of a batch.
static void list_slots(const lwi_elim *elim, int node, int l, lwi_elim_batch *g)
{
    const lwi_elim_front *N = &elim->front[node];
    int own = 0, at = 0;
    for (int i = 0; i < N->edge.n; i++) {
        const lwi_elim_edge *e = &elim->edge[N->edge.first + i];
        lwi_elim_batch_edge *to = &g->edge[i];
        to->row[l] = e->row, to->m = e->m, to->at = at, to->slot = own, to->n = e->n;
        at += e->m;
        for (int k = 0; k < e->n; k++, own++) {
            g->slot[own].from[l] = e->slot + k;
            g->slot[own].body[l] = e->body[k];
            g->slot[own].m = e->m;
        }
    }
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        const int place = lwi_elim_slot_place(elim, node, b->G);
        LWI_ASSERT_INDEX(place, g->nown + N->block.n);
        g->slot[place].from[l] = b->G;
        g->slot[place].m = b->n;
        if (g->nslot <= place) g->nslot = place + 1;
    }
    g->row[l] = N->row;
}

static void list_blocks(const lwi_elim *elim, int node, lwi_elim_batch *g)
{
    const lwi_elim_front *N = &elim->front[node];
    const int width = g->nc + g->no;
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        const int J = lwi_elim_slot_place(elim, node, b->J);
        const int G = lwi_elim_slot_place(elim, node, b->G);
        const int row = b->at / N->ld, column = b->at % N->ld;
        LWI_ASSERT(J >= 0 && G >= 0 && J < g->nslot && G < g->nslot);
        LWI_ASSERT(row + b->m <= g->nc && column + b->n <= width);
        g->block[i] = (lwi_elim_batch_block){.J = g->slot[J].at,
                                             .G = g->slot[G].at,
                                             .at = row * width + column,
                                             .m = b->m,
                                             .n = b->n,
                                             .add = b->add,
                                             .upper = row == column};
    }
}

// Memory of a batch's front.
static lw_status front_room(lwi_arena *arena, lwi_elim_batch *g)
{
    const size_t width = (size_t)(g->nc + g->no);
#define GET(what, count)                                                                           \
    if (!((what) = lwi_arena_push(arena, (size_t)(count), sizeof(lwi_elim_lane))))                 \
    return LW_ERR_MEMORY
    GET(g->R, (size_t)g->nc * width);
    GET(g->v, width);
    GET(g->S, g->nc);
    GET(g->J, 6 * g->rows);
    GET(g->G, 6 * g->rows);
    return LW_OK;
}

lw_status lwi_elim_batch_room(const lwi_elim *elim, const int *node, int lanes, lwi_arena *arena,
                              lwi_elim_batch *g)
{
    const lwi_elim_front *N = &elim->front[node[0]];
    *g = (lwi_elim_batch){.lanes = lanes,
                          .nc = N->nc,
                          .no = N->no,
                          .nown = lwi_elim_own_slots(elim, node[0]),
                          .nedge = N->edge.n,
                          .nblock = N->block.n,
                          .nchild = N->child.n,
                          .bare = N->bare,
                          .clear = N->clear,
                          .min_pivot = LWI_ELIM_ROUND};
    g->nslot = g->nown;
    g->slot = LWI_PUSH(arena, lwi_elim_batch_slot, g->nown + N->block.n);
    g->edge = LWI_PUSH(arena, lwi_elim_batch_edge, N->edge.n);
    g->block = LWI_PUSH(arena, lwi_elim_batch_block, N->block.n);
    g->child = LWI_PUSH(arena, lwi_elim_batch_child, N->child.n);
    if (!g->slot || !g->edge || !g->block || !g->child) return LW_ERR_MEMORY;
    for (int l = 0; l < LWI_ELIM_LANES; l++) {
        LWI_ASSERT(elim->front[node[l]].nc == N->nc && elim->front[node[l]].no == N->no);
        list_slots(elim, node[l], l, g);
    }
    for (int i = 0; i < g->nslot; i++) {
        g->slot[i].at = g->rows;
        g->rows += g->slot[i].m;
    }
    list_blocks(elim, node[0], g);
    return front_room(arena, g);
}

// First row in the parent of the m open rows from row `from` on; -1: not contiguous there.
static int target(const lwi_elim_move *move, int n, int from, int m)
{
    for (int a = 0; a < n; a++)
        if (from >= move[a].from && from + m <= move[a].from + move[a].n)
            return move[a].to + from - move[a].from;
    return -1;
}

// Checks whether the node is a join of segments of a chain (lwi_elim_join).
static void find_join(const lwi_elim *elim, const lwi_elim_front *N, lwi_elim_join *to)
{
    const int m = N->nc;
    lwi_elim_join join = {.m = m, .from = {-1, -1}};
    if ((m != 3 && m != 5) || N->no % m || N->no > 2 * m || N->edge.n != 1) return;
    join.n = N->no / m;
    for (int o = 0; o < join.n; o++) {
        if (N->parent < 0) return;
        join.above[o] = target(elim->move + N->move.first, N->move.n, o * m, m);
        if (join.above[o] < 0) return;
    }
    for (int i = 0; i < N->child.n; i++) {
        const lwi_elim_front *c = &elim->front[elim->plan->item[N->child.first + i]];
        const lwi_elim_move *move = elim->move + c->move.first;
        if (c->no != m && c->no != 2 * m) return;
        if (target(move, c->move.n, 0, m) != 0) return;
        if (c->no == m) continue;
        const int at = target(move, c->move.n, m, m), o = at / m - 1;
        if (at < m || at % m || join.from[o] >= 0) return;
        join.from[o] = i;
    }
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        const int column = b->at % N->ld;
        if (column % m || b->n != m) return;
        if (column) join.own[column / m - 1] = true;
    }
    *to = join;
}

// Links a batch with its children and parent, once all batches exist.
static void connect(choice *c, lwi_elim_task *u)
{
    const lwi_elim *elim = c->elim;
    const lwi_elim_front *N = &elim->front[u->node[0]];
    lwi_elim_batch *g = u->batch;
    for (int i = 0; i < N->child.n; i++) {
        const int child = elim->plan->item[N->child.first + i];
        const lwi_elim_front *C = &elim->front[child];
        g->child[i] =
            (lwi_elim_batch_child){task_of(c, child)->batch, elim->move + C->move.first, C->move.n};
    }
    g->move = elim->move + N->move.first;
    g->nmove = N->move.n;
    g->join = (lwi_elim_join){.m = 0};
    find_join(elim, N, &g->join);
    for (int o = 0; o < g->join.n; o++) g->over[o] = g->v + g->nc + o * g->join.m;
    if (N->parent >= 0 && task_of(c, N->parent)->batch) {
        g->parent = task_of(c, N->parent)->batch;
        for (int o = 0; o < g->join.n; o++) g->over[o] = g->parent->v + g->join.above[o];
        u->parent = elim->task_of[N->parent];
        return;
    }
    for (int l = 0; l < LWI_ELIM_LANES; l++) {
        const lwi_elim_front *lane = &elim->front[u->node[l]];
        g->to[l] = elim->move + lane->move.first;
        g->above[l] = lane->parent >= 0 ? elim->front[lane->parent].v : NULL;
    }
}

// The same for a single node; u->single remains NULL if it is no join.
static lw_status create_single(const choice *c, lwi_elim_task *u)
{
    const lwi_elim *elim = c->elim;
    const lwi_elim_front *N = &elim->front[u->node[0]];
    lwi_elim_single single = {.elim = elim, .R = N->R, .U = N->U, .v = N->v, .nchild = N->child.n};
    find_join(elim, N, &single.join);
    if (!single.join.m) return LW_OK;
    for (int o = 0; o < single.join.n; o++)
        single.over[o] = elim->front[N->parent].v + single.join.above[o];
    single.child = LWI_PUSH(c->arena, lwi_elim_single_child, N->child.n);
    u->single = LWI_PUSH(c->arena, lwi_elim_single, 1);
    if (!single.child || !u->single) return LW_ERR_MEMORY;
    for (int i = 0; i < N->child.n; i++) {
        const int child = elim->plan->item[N->child.first + i];
        single.child[i] = (lwi_elim_single_child){.front = &elim->front[child],
                                                  .batch = task_of(c, child)->batch,
                                                  .lane = elim->lane_of[child]};
    }
    *u->single = single;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- units

// Found once for all eliminations that have the same lists.
static lw_status find_shapes(choice *c)
{
    lwi_elim *elim = c->elim;
    const int n = elim->nnode;
    c->shape = LWI_PUSH(c->scratch, int, n);
    if (!c->shape) return LW_ERR_MEMORY;
    c->nshape = elim->nshape;
    for (int k = 0; k < n && elim->nshape; k++) c->shape[k] = elim->front[k].shape;
    if (elim->nshape) return LW_OK;
    TRY(lwi_elim_shapes(elim, c->scratch, c->shape, &c->nshape));
    for (int k = 0; k < n; k++) elim->front[k].shape = c->shape[k];
    elim->nshape = c->nshape;
    return LW_OK;
}

static lw_status choose_all(choice *c)
{
    TRY(find_shapes(c));
    TRY(sort_nodes(c));
    TRY(choose(c, LWI_ELIM_LANES));
    TRY(choose(c, LWI_ELIM_LANES / 2));
    return choose(c, LWI_ELIM_MIN_LANES);
}

lw_status lwi_elim_create_tasks(lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena)
{
    const int n = elim->nnode;
    choice c = {.elim = elim, .scratch = scratch, .arena = arena};
    elim->task = LWI_PUSH(arena, lwi_elim_task, n);
    elim->task_of = LWI_PUSH(arena, int, n);
    elim->lane_of = LWI_PUSH(arena, int, n);
    if (!elim->task || !elim->task_of || !elim->lane_of) return LW_ERR_MEMORY;
    TRY(choose_all(&c));
    elim->nbatch = elim->ntask;
    TRY(lwi_elim_front_room(elim, arena));
    LWI_ASSERT(elim->ntask <= n);
    for (int k = 0; k < n; k++) {
        if (c.taken[k]) continue;
        elim->task_of[k] = elim->ntask;
        elim->task[elim->ntask++] = (lwi_elim_task){.lanes = 1, .parent = -1, .node = {k}};
    }
    for (int i = 0; i < elim->ntask; i++) {
        lwi_elim_task *u = &elim->task[i];
        const int parent = elim->front[u->node[0]].parent;
        if (u->batch) {
            connect(&c, u);
            continue;
        }
        if (parent >= 0) u->parent = elim->task_of[parent];
        LWI_ASSERT(u->parent < 0 || u->parent > i);
        TRY(create_single(&c, u));
    }
    return lwi_elim_batch_updates(elim, true, arena);
}

lw_status lwi_elim_batch_unsymmetric(lwi_elim *elim, lwi_arena *arena)
{
    for (int i = 0; i < elim->nbatch; i++) {
        lwi_elim_batch *g = elim->task[i].batch;
        GET(g->Q, g->nc * (g->nc + g->no));
    }
    for (int i = elim->nbatch; i < elim->ntask; i++) {
        const lwi_elim_front *N = &elim->front[elim->task[i].node[0]];
        lwi_elim_single *single = elim->task[i].single;
        if (single) single->Q = N->Q, single->V = N->V;
    }
    elim->has_unsymmetric = true;
    return lwi_elim_batch_updates(elim, !elim->team, arena);
}

// -------------------------------------------------------------------------------------- what is left

// The update U, V of a batch is read by its parent only: on one thread, where batches are processed in order,
// memory can be reused afterwards.
typedef struct left {
    int size;
    lwi_elim_lane *U, *V;
} left;

// Memory of a given size: reused or new.
static lw_status take_left(const lwi_elim *elim, left *free, int *nfree, lwi_arena *arena, left *to)
{
    for (int i = *nfree - 1; i >= 0; i--)
        if (free[i].size == to->size) {
            *to = free[i];
            free[i] = free[--*nfree];
            return LW_OK;
        }
    GET(to->U, to->size);
    if (elim->has_unsymmetric) GET(to->V, to->size);
    return LW_OK;
#undef GET
}

lw_status lwi_elim_batch_updates(lwi_elim *elim, bool shared, lwi_arena *arena)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    left *free = LWI_PUSH(&scratch, left, elim->nbatch);
    lw_status status = free ? LW_OK : LW_ERR_MEMORY;
    int nfree = 0;
    for (int i = 0; i < elim->nbatch && status == LW_OK; i++) {
        lwi_elim_batch *g = elim->task[i].batch;
        left to = {.size = g->no * g->no};
        status = take_left(elim, free, &nfree, arena, &to);
        g->U = to.U, g->V = to.V;
        for (int k = 0; k < g->nchild && shared; k++) {
            const lwi_elim_batch *c = g->child[k].batch;
            free[nfree++] = (left){c->no * c->no, c->U, c->V};
        }
    }
    lwi_arena_free(&scratch);
    return status;
}

// shape.c -- shapes of nodes, to find isomorphic subtrees.
//
// Two nodes have the same shape if their fronts have equal sizes, their edges and blocks equal places, and
// their children, in order, equal shapes and moves: then one kernel call can process both with different
// numbers. Cost: one key per node, of length proportional to its lists, in a hash table.
#include "elimination/lanes.h"

#include <stdint.h>
#include <string.h>

/** Maximum number of open rows of nodes in lanes: larger fronts gain nothing. */
enum { MAX_OPEN = 30 };

// Keys of the shapes found, in a hash table with open addressing.
typedef struct table {
    lwi_arena *scratch;
    int **key, *length;   ///< [count]
    int *bucket, nbucket; ///< [nbucket] shape + 1, 0: empty; nbucket is a power of two
    int count;
    int *draft; ///< the current key
    int n;
} table;

static uint32_t hash(const int *key, int n)
{
    uint32_t h = 2166136261u; // FNV-1a
    for (int i = 0; i < n; i++) h = (h ^ (uint32_t)key[i]) * 16777619u;
    return h ^ h >> 15;
}

// Number of the shape with the current key, which is added if it is new; -1: no memory.
static int shape_of(table *t)
{
    uint32_t at = hash(t->draft, t->n) & (uint32_t)(t->nbucket - 1);
    for (; t->bucket[at]; at = (at + 1) & (uint32_t)(t->nbucket - 1)) {
        const int s = t->bucket[at] - 1;
        if (t->length[s] == t->n && !memcmp(t->key[s], t->draft, (size_t)t->n * sizeof(int)))
            return s;
    }
    int *key = LWI_PUSH(t->scratch, int, t->n);
    LWI_ASSERT(2 * t->count < t->nbucket); // the table keeps free places
    if (!key) return -1;
    memcpy(key, t->draft, (size_t)t->n * sizeof *key);
    t->key[t->count] = key;
    t->length[t->count] = t->n;
    t->bucket[at] = t->count + 1;
    return t->count++;
}

// ------------------------------------------------------------------------------------------- keys

int lwi_elim_own_slots(const lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    int n = 0;
    for (int i = 0; i < N->edge.n; i++) n += elim->edge[N->edge.first + i].n;
    return n;
}

int lwi_elim_slot_place(const lwi_elim *elim, int node, int slot)
{
    const lwi_elim_front *N = &elim->front[node];
    int own = 0, other = 0;
    for (int i = 0; i < N->edge.n; i++) {
        const lwi_elim_edge *e = &elim->edge[N->edge.first + i];
        if (slot >= e->slot && slot < e->slot + e->n) return own + slot - e->slot;
        own += e->n;
    }
    // other slots are numbered by their first block
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        if (b->G == slot) return own + other;
        bool fresh = true;
        for (int k = 0; k < N->edge.n; k++) {
            const lwi_elim_edge *e = &elim->edge[N->edge.first + k];
            fresh &= b->G < e->slot || b->G >= e->slot + e->n;
        }
        for (int k = 0; k < i && fresh; k++) fresh = elim->block[N->block.first + k].G != b->G;
        other += fresh;
    }
    return -1;
}

static void put(table *t, int number)
{
    t->draft[t->n++] = number;
}

static void put_moves(table *t, const lwi_elim *elim, const lwi_elim_front *C)
{
    put(t, C->move.n);
    for (int a = 0; a < C->move.n; a++) {
        const lwi_elim_move *move = &elim->move[C->move.first + a];
        put(t, move->from), put(t, move->to), put(t, move->n);
    }
}

static void draft_key(table *t, const lwi_elim *elim, int node, const int *shape)
{
    const lwi_elim_front *N = &elim->front[node];
    t->n = 0;
    put(t, N->nc), put(t, N->no);
    put(t, N->edge.n), put(t, N->block.n), put(t, N->child.n);
    for (int i = 0; i < N->edge.n; i++) {
        const lwi_elim_edge *e = &elim->edge[N->edge.first + i];
        put(t, e->m), put(t, e->n);
    }
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        put(t, lwi_elim_slot_place(elim, node, b->J));
        put(t, lwi_elim_slot_place(elim, node, b->G));
        put(t, b->at), put(t, b->m), put(t, b->n), put(t, b->add);
    }
    for (int i = 0; i < N->child.n; i++) {
        const int child = elim->plan->item[N->child.first + i];
        put(t, shape[child]);
        put_moves(t, elim, &elim->front[child]);
    }
}

static int key_length(const lwi_elim *elim, int node)
{
    const lwi_elim_front *N = &elim->front[node];
    int n = 5 + 2 * N->edge.n + 6 * N->block.n;
    for (int i = 0; i < N->child.n; i++)
        n += 2 + 3 * elim->front[elim->plan->item[N->child.first + i]].move.n;
    return n;
}

// Whether lanes can process the node, given that they can process its children.
static bool fit(const lwi_elim *elim, int node, const int *shape)
{
    const lwi_elim_front *N = &elim->front[node];
    if (N->loop || N->nc < 1 || N->nc > LWI_EDGE_ROWS || N->no > MAX_OPEN) return false;
    for (int i = 0; i < N->child.n; i++)
        if (shape[elim->plan->item[N->child.first + i]] < 0) return false;
    return true;
}

lw_status lwi_elim_shapes(const lwi_elim *elim, lwi_arena *scratch, int *shape, int *count)
{
    LWI_ASSERT(shape && count);
    const int n = elim->nnode;
    table t = {.scratch = scratch, .nbucket = 16};
    int longest = 0;
    while (t.nbucket < 2 * n) t.nbucket *= 2;
    for (int k = 0; k < n; k++) {
        const lwi_elim_front *N = &elim->front[k];
        if (N->nc > LWI_EDGE_ROWS || N->no > MAX_OPEN) continue;
        const int length = key_length(elim, k);
        if (longest < length) longest = length;
    }
    t.key = LWI_PUSH(scratch, int *, n);
    t.length = LWI_PUSH(scratch, int, n);
    t.bucket = LWI_PUSH(scratch, int, t.nbucket);
    t.draft = LWI_PUSH(scratch, int, longest);
    if (!t.key || !t.length || !t.bucket || !t.draft) return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) {
        shape[k] = -1;
        if (!fit(elim, k, shape)) continue;
        draft_key(&t, elim, k, shape);
        LWI_ASSERT(t.n == key_length(elim, k) && t.n <= longest);
        if ((shape[k] = shape_of(&t)) < 0) return LW_ERR_MEMORY;
    }
    *count = t.count;
    return LW_OK;
}

// subtrees.c -- recursions over a tree with subtrees shared by threads (subtrees.h).
#include "kinematics/subtrees.h"

#include "base/assert.h"

/** Subtrees have at most this share of the nodes of one thread. */
enum { SUBTREES_OF_A_THREAD = 8 };

/** A subtree, or a node above all subtrees. */
typedef struct range {
    int first, end;
} range;

struct lwi_subtrees {
    lwi_pool *pool;
    int nrange, parts;
    range *range; // [nrange] in the order of the nodes
    bool *above;  // [nrange] a node above all subtrees
    int *of_part; // [parts + 1] first range of each thread; nodes above are passed over
    bool *failed; // [parts]
    // of a recursion
    void (*outward)(void *user, int first, int end);
    lwi_inward inward;
    void *user;
};

// Nodes of each subtree.
static void count_nodes(const lw_model *model, int *size)
{
    for (int k = 0; k < model->nnode; k++) size[k] = 1;
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        LWI_ASSERT(parent < k);
        if (parent >= 0) size[parent] += size[k];
    }
}

// The largest subtrees of `limit` nodes and fewer.
static void divide(const lw_model *model, const int *size, int limit, lwi_subtrees *s)
{
    for (int k = 0; k < model->nnode;) {
        const bool above = size[k] > limit;
        s->above[s->nrange] = above;
        s->range[s->nrange] = (range){k, above ? k + 1 : k + size[k]};
        k = s->range[s->nrange++].end;
    }
}

// Consecutive subtrees with about the same number of nodes to each thread.
static void share(lwi_subtrees *s)
{
    long below = 0, done = 0;
    int part = 0;
    for (int i = 0; i < s->nrange; i++)
        if (!s->above[i]) below += s->range[i].end - s->range[i].first;
    for (int i = 0; i < s->nrange; i++) {
        const long own = s->above[i] ? 0 : s->range[i].end - s->range[i].first;
        while (own && part + 1 < s->parts && (2 * done + own) * s->parts >= 2 * below * (part + 1))
            s->of_part[++part] = i;
        done += own;
    }
    while (part < s->parts) s->of_part[++part] = s->nrange;
}

lw_status lwi_subtrees_create(const lw_model *model, lwi_pool *pool, lwi_arena *arena,
                              lwi_subtrees **subtrees)
{
    *subtrees = NULL;
    if (!pool) return LW_OK;
    lwi_subtrees *s = LWI_PUSH(arena, lwi_subtrees, 1);
    int *size = LWI_PUSH(arena, int, model->nnode);
    if (!s || !size) return LW_ERR_MEMORY;
    s->pool = pool;
    s->parts = lwi_pool_count(pool);
    s->range = LWI_PUSH(arena, range, model->nnode);
    s->above = LWI_PUSH(arena, bool, model->nnode);
    s->of_part = LWI_PUSH(arena, int, s->parts + 1);
    s->failed = LWI_PUSH(arena, bool, s->parts);
    if (!s->range || !s->above || !s->of_part || !s->failed) return LW_ERR_MEMORY;
    count_nodes(model, size);
    divide(model, size, model->nnode / (SUBTREES_OF_A_THREAD * s->parts) + 1, s);
    share(s);
    *subtrees = s;
    return LW_OK;
}

static void part_outward(void *user, int part, int end)
{
    const lwi_subtrees *s = user;
    for (int i = s->of_part[part]; i < s->of_part[end]; i++)
        if (!s->above[i]) s->outward(s->user, s->range[i].first, s->range[i].end);
}

void lwi_subtrees_outward(lwi_subtrees *s, const lw_model *model,
                          void (*nodes)(void *user, int first, int end), void *user)
{
    if (!s) {
        if (model->nnode) nodes(user, 0, model->nnode);
        return;
    }
    s->outward = nodes, s->user = user;
    for (int i = 0; i < s->nrange; i++)
        if (s->above[i]) nodes(user, s->range[i].first, s->range[i].end);
    lwi_pool_for(s->pool, s->parts, part_outward, s);
}

static void part_inward(void *user, int part, int end)
{
    lwi_subtrees *s = user;
    bool valid = true;
    for (int i = s->of_part[end] - 1; i >= s->of_part[part] && valid; i--)
        if (!s->above[i]) valid = s->inward.nodes(s->user, s->range[i].first, s->range[i].end);
    s->failed[part] = !valid;
}

bool lwi_subtrees_inward(lwi_subtrees *s, const lw_model *model, lwi_inward of, void *user)
{
    if (!s) { // a root of the forest has no parent to give to
        if (model->nnode > 0 && !of.nodes(user, 0, model->nnode)) return false;
        if (model->nnode > 0) of.give(user, 0);
        return true;
    }
    s->inward = of, s->user = user;
    lwi_pool_for(s->pool, s->parts, part_inward, s);
    for (int i = 0; i < s->parts; i++)
        if (s->failed[i]) return false;
    for (int i = s->nrange - 1; i >= 0; i--) {
        const int root = s->range[i].first;
        if (s->above[i] && !of.nodes(user, root, root + 1)) return false;
        of.give(user, root);
    }
    return true;
}

bool lwi_subtrees_inward_from(lwi_subtrees *s, lwi_pool *pool, const lw_model *model,
                              void (*start)(void *user, int first, int end), lwi_inward of,
                              bool *alone, void *user)
{
    *alone = !s;
    lwi_pool_for(pool, model->nnode, start, user);
    if (lwi_subtrees_inward(s, model, of, user)) return true;
    if (*alone) return false;
    *alone = true;
    start(user, 0, model->nnode);
    return lwi_subtrees_inward(NULL, model, of, user);
}

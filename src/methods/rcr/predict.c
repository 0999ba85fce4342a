// predict.c -- the cost of `rcr` from the graph, before anything is set up.
//
// The elimination is followed symbolically: a message is a list of bodies and a number of rows.  Node k has the
// bodies of the messages that it receives, those of its closures, and its parent; its own speeds are determined by as
// many of the rows, the others are sent on.  At most six rows per body are independent, so no more are sent.
// Redundant rows count as independent: for planar loops systems are up to half as large again as in an elimination.
// Delayed speeds are not counted.
#include "methods/rcr/rcr.h"

#include "base/assert.h"

#include <math.h>

// What a node sends.
typedef struct message {
    int next;    // the next one to the same node; -1: the last
    int n, rows; // bodies; rows
    int *body;   // [n]
} message;

typedef struct prediction {
    const lw_model *model;
    lwi_arena arena;
    message *sent;       // [nnode]
    int *first;          // [nnode] first message to each node; -1: none
    int *stamp;          // [nnode] last node that listed a body
    int *entry, *follow; // [nnode], [closures] linked lists of the closures that enter at a node
    int *list;           // [nnode] scratch
    lwi_cost_features *f;
} prediction;

static int closure_rows(const lw_model *model, int i)
{
    return i < model->nloop ? lwi_joint_row_count(model, model->loop[i]) : 1;
}

static bool create(prediction *p)
{
    const lw_model *model = p->model;
    const int n = model->nnode, count = model->nloop + model->ncoupling;
    p->sent = LWI_PUSH(&p->arena, message, n);
    p->first = LWI_PUSH(&p->arena, int, n);
    p->stamp = LWI_PUSH(&p->arena, int, n);
    p->entry = LWI_PUSH(&p->arena, int, n);
    p->list = LWI_PUSH(&p->arena, int, n);
    p->follow = LWI_PUSH(&p->arena, int, count);
    if (!p->sent || !p->first || !p->stamp || !p->entry || !p->list || !p->follow) return false;
    for (int k = 0; k < n; k++) p->first[k] = p->stamp[k] = p->entry[k] = -1;
    for (int i = 0; i < count; i++) {
        int node[LWI_CLOSURE_BODIES], last = -1;
        const int bodies = lwi_rcr_closure_nodes(model, i, node);
        for (int s = 0; s < bodies; s++)
            if (node[s] > last) last = node[s];
        if (last >= 0) p->follow[i] = p->entry[last], p->entry[last] = i;
    }
    return true;
}

static void add_body(prediction *p, int k, int body, int *n)
{
    LWI_ASSERT(body <= k);
    if (body == k || p->stamp[body] == k) return;
    p->stamp[body] = k;
    p->list[(*n)++] = body;
}

// The system of node k: bodies in p->list, rows that arrive.
static int list_bodies(prediction *p, int k, int *rows, bool *plain)
{
    const int parent = p->model->node[k].parent;
    int n = 0;
    *rows = 0;
    if (parent >= 0) add_body(p, k, parent, &n);
    const int own = n;
    for (int c = p->first[k]; c >= 0; c = p->sent[c].next) {
        for (int i = 0; i < p->sent[c].n; i++) add_body(p, k, p->sent[c].body[i], &n);
        *rows += p->sent[c].rows;
    }
    for (int i = p->entry[k]; i >= 0; i = p->follow[i]) {
        int node[LWI_CLOSURE_BODIES];
        const int bodies = lwi_rcr_closure_nodes(p->model, i, node);
        for (int s = 0; s < bodies; s++) add_body(p, k, node[s], &n);
        *rows += closure_rows(p->model, i);
    }
    *plain = n == own;
    return n;
}

static bool send(prediction *p, int k, int n, int rows)
{
    int up = -1;
    for (int i = 0; i < n; i++)
        if (p->list[i] > up) up = p->list[i];
    if (up < 0) return true; // nothing remains
    message *m = &p->sent[k];
    *m = (message){.next = p->first[up], .n = n, .body = LWI_PUSH(&p->arena, int, n)};
    m->rows = rows < 6 * n ? rows : 6 * n;
    if (!m->body) return false;
    for (int i = 0; i < n; i++) m->body[i] = p->list[i];
    p->first[up] = k;
    return true;
}

static bool follow_node(prediction *p, int k)
{
    const int nv = p->model->node[k].nv;
    int rows;
    bool plain;
    const int n = list_bodies(p, k, &rows, &plain);
    const double size = nv + 6.0 * n + rows;
    if (rows == 0 && plain) {
        p->f->unconstrained++;
    } else {
        p->f->nodes++;
        p->f->plain += plain;
        p->f->fronts += size * size;
        p->f->cubes += size * size * size;
    }
    return send(p, k, n, rows > nv ? rows - nv : 0);
}

// Features of the dense path; `most` bounds the walk to the ground.
static void count_paths(const lw_model *model, double limit, lwi_cost_features *f)
{
    double rows = 0;
    const int count = model->nloop + model->ncoupling;
    const lwi_cost_features *row = lwi_cost_row(LWI_RCR_DENSE_PATH);
    for (int i = 0; i < count; i++) {
        int node[LWI_CLOSURE_BODIES];
        const int n = lwi_rcr_closure_nodes(model, i, node), m = closure_rows(model, i);
        rows += m;
        if (lwi_cost_by_row(row, f) > limit) continue;
        f->row_paths += m * lwi_rcr_bodies_below(model, n, node, model->nnode);
    }
    f->reflections = lwi_rcr_reflections(f->speeds, rows, fmin(f->speeds, rows));
    f->paths = f->row_paths;
    lwi_rcr_count_rows(rows, rows >= f->speeds,
                       f); // rows of balls, seldom redundant, are fewer
}

static lw_status follow(prediction *p, double limit)
{
    const lwi_cost_features *row = lwi_cost_row(LWI_RCR_ELIMINATION);
    if (!create(p)) return LW_ERR_MEMORY;
    for (int k = p->model->nnode - 1; k >= 0; k--) {
        if (!follow_node(p, k)) return LW_ERR_MEMORY;
        if (lwi_cost_by_row(row, p->f) > limit) break;
    }
    return LW_OK;
}

lw_status lwi_rcr_predict(const lw_model *model, double limit, const lw_allocator *allocator,
                          lwi_cost_features *f, double *seconds)
{
    prediction p = {.model = model, .f = f};
    *f = (lwi_cost_features){.one = 1,
                             .bodies = model->nnode,
                             .speeds = model->tree_nv,
                             .closures = model->nloop + model->ncoupling};
    count_paths(model, limit, f);
    const double dense = lwi_cost_estimate(LWI_RCR_DENSE_PATH, f);
    lwi_arena_init(&p.arena, allocator);
    const lw_status status = follow(&p, fmax(limit, 0));
    lwi_arena_free(&p.arena);
    *seconds = fmin(dense, lwi_cost_estimate(LWI_RCR_ELIMINATION, f));
    return status;
}

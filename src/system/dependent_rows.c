// dependent_rows.c -- the joints that redundant rows are charged to (dependent_rows.h).
//
// In the speeds u of the tree the rows of a joint that closes a loop are G u.  They are eliminated in the order of the model,
// those of one joint with pivoting; what the rows before leave of a row is zero where it depends on them.  Rows have entries
// only at the joints of their loop, so a row meets those of the loops that share joints with it.
//
// Where that decides nothing, or has too much to do, the null vectors of the elimination are reduced one by one from their
// last joint on; each takes a row there that no other has.
#include "system/dependent_rows.h"

#include "base/assert.h"
#include "kinematics/tree_state.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

static bool closes_loop(const lwi_system *s, int e)
{
    const int j = s->edge_joint[e];
    return j < 0 || s->model->joint[j].node < 0;
}

static int rows_without_rotors(const lwi_system *s, int e)
{
    const int j = s->edge_joint[e];
    return j >= 0 && s->nrotor ? lwi_joint_row_count(s->model, j) : s->plan.graph.edge[e].rows;
}

// Rotors come last.
static int bodies_without_rotors(const lwi_system *s, int e)
{
    const int *body = lwi_plan_bodies(&s->plan.graph.edge[e]), first = s->model->nnode;
    int n = s->plan.graph.edge[e].n;
    while (n > 0 && body[n - 1] >= first && body[n - 1] < first + s->nrotor) n--;
    return n;
}

// ------------------------------------------------------------------------------------ what is next

// Numbers, each of them once.
typedef struct heap {
    int order;  // 1: the smallest one is the first, -1: the largest one
    int *at, n; // [numbers] the first one at 0
    bool *has;  // [numbers]
} heap;

static void push(heap *h, int x)
{
    if (h->has[x]) return;
    int i = h->n++;
    h->has[x] = true;
    for (; i > 0 && h->order * h->at[(i - 1) / 2] > h->order * x; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = x;
}

static int pop(heap *h)
{
    const int top = h->at[0], last = h->at[--h->n];
    int i = 0;
    for (int child = 1; child < h->n; i = child, child = 2 * i + 1) {
        child += child + 1 < h->n && h->order * h->at[child + 1] < h->order * h->at[child];
        if (h->order * h->at[child] >= h->order * last) break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    h->has[top] = false;
    return top;
}

// ------------------------------------------------------------------------------- rows in speeds

// What is left of a row of length one that depends on those before, and of one that does not.
#define DEPENDENT 1e-9
#define INDEPENDENT 1e-5
// Entries below this are round-off.
#define NO_ENTRY 1e-14
// Entries that are kept, and those that are changed, for each row of the mechanism: at most so many. A square net of n x n
// meshes keeps n^2 / 22 of them and changes n^2 / 4.
enum { KEPT = 256, CHANGED = 4096 };

// A row that was kept: of length one at its pivot.
typedef struct pivot {
    int column, n;
    int *at;       // [n] other columns
    double *value; // [n]
} pivot;

typedef struct echelon {
    const lwi_system *s;
    lwi_arena *scratch;
    lwi_link *link;
    double (*R)[9], (*r)[3]; // [nnode]
    double *size;            // [speeds] of the motion by each one
    pivot *list;
    int npivot;
    int *pivot_at;        // [speeds] number of the pivot there; -1: none
    double *row;          // [LWI_EDGE_ROWS][speeds] the rows of one joint
    int *column, n;       // [speeds] where these may have entries
    bool *has;            // [speeds] they may
    heap pivots;          // that are to be taken out of a row, the first one first
    double kept, changed; // so far
} echelon;

static lw_status create(const lwi_system *s, lwi_arena *scratch, echelon *c)
{
    const lw_model *model = s->model;
    const size_t n = (size_t)model->tree_nv, nnode = (size_t)model->nnode;
    int rows = 0;
    for (int e = 0; e < s->nedge; e++)
        if (closes_loop(s, e)) rows += s->plan.graph.edge[e].rows;
    *c = (echelon){.s = s,
                   .scratch = scratch,
                   .link = lwi_arena_push(scratch, nnode, sizeof *c->link),
                   .R = lwi_arena_push(scratch, nnode, sizeof *c->R),
                   .r = lwi_arena_push(scratch, nnode, sizeof *c->r),
                   .size = LWI_PUSH(scratch, double, n),
                   .list = LWI_PUSH(scratch, pivot, rows),
                   .pivot_at = LWI_PUSH(scratch, int, n),
                   .row = LWI_PUSH(scratch, double, LWI_EDGE_ROWS *n),
                   .column = LWI_PUSH(scratch, int, n),
                   .has = LWI_PUSH(scratch, bool, n),
                   .pivots = {.order = 1,
                              .at = LWI_PUSH(scratch, int, rows),
                              .has = LWI_PUSH(scratch, bool, rows)}};
    for (size_t i = 0; c->pivot_at && i < n; i++) c->pivot_at[i] = -1;
    return c->link && c->R && c->r && c->size && c->list && c->pivot_at && c->row && c->column &&
                   c->has && c->pivots.at && c->pivots.has
               ? LW_OK
               : LW_ERR_MEMORY;
}

// The tree at the motion of the system.
static lw_status place_tree(echelon *c)
{
    const lwi_system *s = c->s;
    const lw_model *model = s->model;
    double *q = LWI_PUSH(c->scratch, double, model->tree_nq),
           *u = LWI_PUSH(c->scratch, double, model->tree_nv),
           (*quat)[4] = lwi_arena_push(c->scratch, (size_t)model->nbody, sizeof *quat);
    if (!q || !u || !quat) return LW_ERR_MEMORY;
    for (int b = 0; b < model->nbody; b++) quat_from_matrix(quat[b], s->R[b]);
    lwi_tree_gather(model, s->q, s->qd, (const double(*)[3])s->r, (const double(*)[4])quat,
                    (const double(*)[3])s->v, (const double(*)[3])s->w, q, u);
    lwi_tree_position(model, 0, q, c->link);
    lwi_tree_world(model, c->link, c->R, c->r);
    for (int k = 0; k < model->nnode; k++)
        for (int i = 0; i < model->node[k].nv; i++) {
            const double *S = c->link[k].S[i];
            const double size = sqrt(v3_dot(S, S) / (s->length * s->length) + v3_dot(S + 3, S + 3));
            c->size[model->node[k].iv + i] = size > 0 ? size : 1;
        }
    return LW_OK;
}

// Adds to row r what speeds of node k do to it: J acts on the body with its mass centre at `centre`.
static void add_node(echelon *c, int r, int k, const double J[6], const double centre[3],
                     double scale)
{
    const lwi_node *node = &c->s->model->node[k];
    double *row = c->row + (size_t)r * (size_t)c->s->model->tree_nv, arm[3];
    v3_sub(arm, centre, c->r[k]);
    for (int i = 0; i < node->nv; i++) {
        double v[3], w[3];
        m3_mul_v(v, c->R[k], c->link[k].S[i]);
        m3_mul_v(w, c->R[k], c->link[k].S[i] + 3);
        v3_cross_add(v, w, arm);
        row[node->iv + i] += (v3_dot(J, v) + v3_dot(J + 3, w)) * scale / c->size[node->iv + i];
    }
}

static void add_column(echelon *c, int k)
{
    const lwi_node *node = &c->s->model->node[k];
    for (int i = node->iv; i < node->iv + node->nv; i++) {
        if (c->has[i]) continue;
        c->has[i] = true;
        c->column[c->n++] = i;
    }
}

// The rows of edge e, each of length one in the metric of the geometry.
static void fill(echelon *c, int e)
{
    const lwi_system *s = c->s;
    const lw_model *model = s->model;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const int *body = lwi_plan_bodies(edge);
    const double(*J)[6] = (const double(*)[6])lwi_elim_J(s->elim) + 6 * s->plan.slot[e];
    const int rows = rows_without_rotors(s, e), bodies = bodies_without_rotors(s, e);
    double scale[LWI_EDGE_ROWS];
    int top = -1;
    for (int r = 0; r < rows; r++) {
        double square = 0;
        for (int i = 0; i < bodies; i++)
            square += v3_dot(J[6 * i + r], J[6 * i + r]) +
                      v3_dot(J[6 * i + r] + 3, J[6 * i + r] + 3) / (s->length * s->length);
        scale[r] = square > 0 ? 1 / (sqrt(square) * s->length) : 1;
    }
    if (s->edge_joint[e] >= 0 && bodies == 2) // motions of both do nothing
        top = lwi_tree_common_node(model, lwi_system_node_of(s, body[0]),
                                   lwi_system_node_of(s, body[1]));
    for (int i = 0; i < bodies; i++) {
        const int last = lwi_system_node_of(s, body[i]);
        double centre[3];
        m3_mul_v(centre, c->R[last], model->node[last].c_r);
        v3_add(centre, centre, c->r[last]);
        for (int k = last; k != top; k = model->node[k].parent) {
            add_column(c, k);
            for (int r = 0; r < rows; r++) add_node(c, r, k, J[6 * i + r], centre, scale[r]);
            c->changed += rows * model->node[k].nv;
        }
    }
}

// Takes the pivots before, in their order, out of all rows of a joint.
static void reduce_rows(echelon *c, int rows)
{
    const size_t stride = (size_t)c->s->model->tree_nv;
    for (int i = 0; i < c->n; i++)
        if (c->pivot_at[c->column[i]] >= 0) push(&c->pivots, c->pivot_at[c->column[i]]);
    while (c->pivots.n > 0) {
        const pivot *p = &c->list[pop(&c->pivots)];
        for (int i = 0; i < p->n; i++) {
            const int at = p->at[i];
            if (c->has[at]) continue;
            c->has[at] = true;
            c->column[c->n++] = at;
            if (c->pivot_at[at] >= 0) push(&c->pivots, c->pivot_at[at]);
        }
        for (int r = 0; r < rows; r++) {
            double *row = c->row + (size_t)r * stride;
            const double part = row[p->column];
            row[p->column] = 0;
            if (part == 0) continue;
            for (int i = 0; i < p->n; i++) row[p->at[i]] -= part * p->value[i];
            c->changed += p->n;
        }
    }
}

// Keeps row r, of which the largest entry is in that column, without round-off.
static lw_status keep_row(echelon *c, const double *row, int column)
{
    pivot *p = &c->list[c->npivot];
    p->at = LWI_PUSH(c->scratch, int, c->n);
    p->value = LWI_PUSH(c->scratch, double, c->n);
    if (!p->at || !p->value) return LW_ERR_MEMORY;
    p->column = column;
    for (int i = 0; i < c->n; i++) {
        const int at = c->column[i];
        if (at == column || !(fabs(row[at]) > NO_ENTRY * fabs(row[column]))) continue;
        p->at[p->n] = at;
        p->value[p->n++] = row[at] / row[column];
    }
    c->kept += c->n;
    c->pivot_at[column] = c->npivot++;
    return LW_OK;
}

// The largest entry of rows first ... rows - 1.
static double largest_entry(const echelon *c, int first, int rows, int *row, int *column)
{
    const size_t stride = (size_t)c->s->model->tree_nv;
    double largest = -1;
    for (int r = first; r < rows; r++)
        for (int i = 0; i < c->n; i++) {
            const double entry = fabs(c->row[(size_t)r * stride + (size_t)c->column[i]]);
            if (entry > largest) largest = entry, *row = r, *column = c->column[i];
        }
    return largest;
}

// Rows of a joint without the pivots before: takes pivots until what is left depends on them.
static lw_status take_pivots(echelon *c, int rows, int *dependent, bool *certain)
{
    const size_t stride = (size_t)c->s->model->tree_nv;
    for (int k = 0; k < rows; k++) {
        int best = k, column = 0;
        const double largest = largest_entry(c, k, rows, &best, &column);
        double *top = c->row + (size_t)k * stride, *other = c->row + (size_t)best * stride;
        if (!(largest > INDEPENDENT)) {
            *certain = *certain && largest < DEPENDENT; // a number that is not finite is neither
            *dependent = rows - k;
            return LW_OK;
        }
        for (int i = 0; i < c->n; i++) {
            const double entry = top[c->column[i]];
            top[c->column[i]] = other[c->column[i]], other[c->column[i]] = entry;
        }
        TRY(keep_row(c, top, column));
        for (int r = k + 1; r < rows; r++) {
            double *row = c->row + (size_t)r * stride;
            const double part = row[column] / top[column];
            for (int i = 0; i < c->n; i++) row[c->column[i]] -= part * top[c->column[i]];
            row[column] = 0;
            c->changed += c->n;
        }
    }
    *dependent = 0;
    return LW_OK;
}

static void clear(echelon *c, int rows)
{
    const size_t stride = (size_t)c->s->model->tree_nv;
    for (int i = 0; i < c->n; i++) {
        c->has[c->column[i]] = false;
        for (int r = 0; r < rows; r++) c->row[(size_t)r * stride + (size_t)c->column[i]] = 0;
    }
    c->n = 0;
}

lw_status lwi_dependent_by_speeds(const lwi_system *s, lwi_arena *scratch, int *dependent,
                                  bool *certain)
{
    echelon c;
    const double rows_of_all = 1 + s->nrow;
    *certain = true;
    memset(dependent, 0, (size_t)s->nedge * sizeof *dependent);
    TRY(create(s, scratch, &c));
    TRY(place_tree(&c));
    for (int e = 0; e < s->nedge && *certain; e++) {
        const int rows = rows_without_rotors(s, e);
        if (!closes_loop(s, e)) continue;
        fill(&c, e);
        reduce_rows(&c, rows);
        TRY(take_pivots(&c, rows, &dependent[e], certain));
        clear(&c, rows);
        if (c.kept > KEPT * rows_of_all || c.changed > CHANGED * rows_of_all) *certain = false;
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------- null vectors

// Vectors are kept where they are not negligible, in the rows of joints that close loops.
typedef struct charge {
    int at, nedge; // the row taken; edges with values
    int *edge;     // [nedge]
    double *value; // [their rows]
    double pivot;  // the value of row `at`
} charge;

typedef struct charges {
    lwi_system *s;
    lwi_arena *arena; // scratch
    double *null;     // [rows of the elimination] the present vector
    charge *list;     // [nrow] of edge e: from plan.row[e] on, in the order taken
    int *dependent;   // [nedge] how many those are
    heap edges;       // [edges of the plan] of the present vector, the last one first
    int *stack;       // [nodes] scratch
} charges;

// A part of a null vector below this is round-off.
#define NULL_PART 1e-6
// Parts below this are not kept.
#define NO_PART (1e-3 * NULL_PART)

// As fmax, which is a call.
static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

static double largest_row(const charges *c, int e)
{
    const int *row = c->s->plan.row;
    const double *null = c->null;
    double largest = 0;
    for (int i = row[e]; i < row[e + 1]; i++) largest = larger(largest, fabs(null[i]));
    return largest;
}

static void clear_edge(const charges *c, int e)
{
    const int *row = c->s->plan.row;
    for (int i = row[e]; i < row[e + 1]; i++) c->null[i] = 0;
}

// Null vector q of a node, its largest row 1, restricted to joints that close loops; false: there is none.
static bool take_vector(charges *c, int node, int q)
{
    const lwi_system *s = c->s;
    double largest = 0;
    const int n = lwi_elim_null_local(s->elim, node, q, c->null, c->edges.at, c->stack);
    for (int i = 0; i < n; i++) largest = larger(largest, largest_row(c, c->edges.at[i]));
    c->edges.n = 0; // places before i are free
    for (int i = 0; i < n; i++) {
        const int e = c->edges.at[i];
        if (e >= s->nedge || !closes_loop(s, e) || !(largest_row(c, e) > NO_PART * largest)) {
            clear_edge(c, e);
            continue;
        }
        for (int r = s->plan.row[e]; r < s->plan.row[e + 1]; r++) c->null[r] /= largest;
        push(&c->edges, e);
    }
    return n > 0;
}

// Takes out of the vector what rows of edge e are charged with already; returns the largest row
// left.
static int reduce(charges *c, int e)
{
    const lwi_plan *plan = &c->s->plan;
    double *null = c->null;
    int best = plan->row[e];
    for (int k = 0; k < c->dependent[e]; k++) {
        const charge *taken = &c->list[plan->row[e] + k];
        const double part = null[taken->at] / taken->pivot, *value = taken->value;
        for (int i = 0; i < taken->nedge; i++) {
            const int f = taken->edge[i];
            LWI_ASSERT(f <= e);
            if (f != e) push(&c->edges, f);
            for (int r = plan->row[f]; r < plan->row[f + 1]; r++) null[r] -= part * *value++;
        }
        null[taken->at] = 0;
    }
    for (int i = plan->row[e]; i < plan->row[e + 1]; i++)
        if (fabs(null[i]) > fabs(null[best])) best = i;
    return best;
}

// Charges the vector to a row of edge e; the other edges are those in the heap.
static lw_status take(charges *c, int e, int row)
{
    const lwi_plan *plan = &c->s->plan;
    const double *null = c->null;
    charge *taken = &c->list[plan->row[e] + c->dependent[e]++];
    *taken = (charge){.at = row, .pivot = null[row]};
    int rows = plan->row[e + 1] - plan->row[e];
    for (int i = 0; i < c->edges.n; i++)
        rows += plan->row[c->edges.at[i] + 1] - plan->row[c->edges.at[i]];
    taken->edge = LWI_PUSH(c->arena, int, c->edges.n + 1);
    taken->value = LWI_PUSH(c->arena, double, rows);
    if (!taken->edge || !taken->value) return LW_ERR_MEMORY;
    double *value = taken->value;
    for (int i = -1; i < c->edges.n; i++) {
        const int f = i < 0 ? e : c->edges.at[i];
        if (i >= 0 && !(largest_row(c, f) > NO_PART)) continue;
        taken->edge[taken->nedge++] = f;
        for (int r = plan->row[f]; r < plan->row[f + 1]; r++) *value++ = null[r];
    }
    return LW_OK;
}

static lw_status charge_vector(charges *c)
{
    const lwi_system *s = c->s;
    lw_status status = LW_OK;
    bool taken = false;
    while (c->edges.n > 0) {
        const int e = pop(&c->edges);
        if (!taken && c->dependent[e] < s->plan.graph.edge[e].rows) {
            const int row = reduce(c, e);
            taken = fabs(c->null[row]) > NULL_PART;
            if (taken) status = take(c, e, row);
        }
        clear_edge(c, e);
    }
    return status;
}

lw_status lwi_dependent_by_null_vectors(lwi_system *s, lwi_arena *scratch, int *dependent)
{
    charges c = {.s = s,
                 .arena = scratch,
                 .null = LWI_PUSH(scratch, double, s->plan.nrow),
                 .list = LWI_PUSH(scratch, charge, s->nrow),
                 .dependent = dependent,
                 .edges = {.order = -1,
                           .at = LWI_PUSH(scratch, int, s->plan.graph.nedge),
                           .has = LWI_PUSH(scratch, bool, s->nedge)},
                 .stack = LWI_PUSH(scratch, int, s->plan.nnode)};
    if (!c.null || !c.list || !c.edges.at || !c.edges.has || !c.stack) return LW_ERR_MEMORY;
    memset(dependent, 0, (size_t)s->nedge * sizeof *dependent);
    for (int k = s->nrow ? lwi_elim_null_next(s->elim, 0) : s->plan.nnode; k < s->plan.nnode;
         k = lwi_elim_null_next(s->elim, k + 1))
        for (int q = 0; take_vector(&c, k, q); q++) TRY(charge_vector(&c));
    return LW_OK;
}

lw_status lwi_dependent_rows(lwi_system *s, int redundant, lwi_arena *scratch, int *dependent)
{
    bool certain;
    int found = 0;
    TRY(lwi_dependent_by_speeds(s, scratch, dependent, &certain));
    for (int e = 0; e < s->nedge; e++) found += dependent[e];
    return certain && found == redundant ? LW_OK
                                         : lwi_dependent_by_null_vectors(s, scratch, dependent);
}

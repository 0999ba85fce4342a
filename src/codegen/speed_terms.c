// speed_terms.c -- derivatives of recursive Newton-Euler, as values           [carpentier2018, singh2022]
//
// The equations are those of src/tree/derivatives.c, with its psi, psi2, drift and B:  with V, A of the frame before speed j,
//
//     psi = V x S,   psi2 = A x S + V x psi,   drift = V_before x S + V_after x S
//     df_q = S x* f + I psi2 + B psi           df_v = I drift + B S               (of the subtree)
//
// Nodes on fixed joints are merged into the node that carries them.  Each coordinate of a joint is a step with a frame before it;
// the speeds of a spherical or free joint share one step.
#include "codegen/speed_terms.h"

#include "codegen/paths.h"
#include "spatial/inertia.h"

#include <string.h>

/** A screw, linear part first, or a body's motion. */
typedef struct screw {
    val l[3], w[3];
} screw;

/** Inertia, momentum and wrench of a body, then of its subtree, in world axes about the world's origin. */
typedef struct inertia {
    double m;
    val h[3], J[6];
    val p[3];       ///< linear momentum
    val B[9];       ///< B_a, the part of B that gives a torque (src/tree/derivatives.c)
    val f[3], n[3]; ///< wrench
} inertia;

/** The node that carries a node on fixed joints, and the inertia of all nodes that one carries. */
typedef struct rigid {
    int on;               ///< the node itself, or the one that carries it; -1: the ground
    double R[9], r[3];    ///< its link frame in that of `on`
    double m, h[3], J[6]; ///< of all that is fixed on it, about its link frame
} rigid;

typedef struct terms {
    const lwi_walk *walk;
    lwi_codegen_graph *graph;
    const lw_model *model;
    const val *vdot;
    val *term;
    rigid *rigid;               // [nnode]
    lwi_place *place, *before;  // [nnode], [tree nv]
    lwi_column *column;         // [tree nv]
    screw *S, *V, *A;           // [tree nv]; [nnode] velocity and acceleration of a node
    screw *V_before, *A_before; // [tree nv] of the frame before each speed
    screw *gained;              // [nnode] sum of S vdot over the speeds from the ground to a node
    inertia *body;              // [nnode]
} terms;

static void add_product(lwi_codegen_graph *g, val a[3], val x, const val b[3])
{
    for (int i = 0; i < 3; i++) a[i] = madd(g, a[i], x, b[i]);
}

// c = a x b of motions
static screw screw_cross(lwi_codegen_graph *g, const screw *a, const screw *b)
{
    screw c;
    lwi_cross(g, c.l, a->w, b->l);
    lwi_cross_add(g, c.l, a->l, b->w);
    lwi_cross(g, c.w, a->w, b->w);
    return c;
}

static screw sum(lwi_codegen_graph *g, screw a, const screw *b)
{
    lwi_add(g, 3, a.l, b->l);
    lwi_add(g, 3, a.w, b->w);
    return a;
}

// ------------------------------------------------------------------------------------------- nodes

static bool is_fixed(const lw_model *m, const lwi_node *node)
{
    return node->type->nv == 0 && !(node->joint >= 0 && m->joint[node->joint].mount.present);
}

// (R, r) := the frame (Q, p) of the frame of `parent`, in the frame of the node that carries `parent`; NULL: the ground
static void compose(const rigid *parent, const double Q[9], const double p[3], double R[9],
                    double r[3])
{
    if (!parent) {
        memcpy(R, Q, 9 * sizeof *R);
        memcpy(r, p, 3 * sizeof *r);
        return;
    }
    m3_mul(R, parent->R, Q);
    m3_mul_v(r, parent->R, p);
    v3_add(r, r, parent->r);
}

static const rigid *parent_of(const terms *t, int k)
{
    const int parent = t->model->node[k].parent;
    return parent < 0 ? NULL : &t->rigid[parent];
}

static void find_rigid(const terms *t, int k)
{
    const lwi_node *node = &t->model->node[k];
    rigid *own = &t->rigid[k];
    double h[3], J[6];
    *own = (rigid){.on = k, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (is_fixed(t->model, node)) {
        own->on = parent_of(t, k) ? parent_of(t, k)->on : -1;
        compose(parent_of(t, k), node->X_R, node->X_r, own->R, own->r);
    }
    if (own->on < 0) return;
    rigid *body = &t->rigid[own->on];
    m3_mul_v(h, own->R, node->h);
    s3_rotate(J, own->R, node->J);
    s3_shift(J, node->mass, h, own->r);
    v3_axpy(h, node->mass, own->r);
    body->m += node->mass;
    for (int i = 0; i < 3; i++) body->h[i] += h[i];
    for (int i = 0; i < 6; i++) body->J[i] += J[i];
}

// The node that carries the parent; -1: the ground.
static int moving_parent(const terms *t, int k)
{
    return parent_of(t, k) ? parent_of(t, k)->on : -1;
}

static bool moves(const terms *t, int k)
{
    return t->rigid[k].on == k;
}

// ------------------------------------------------------------------------------------------ motion

static screw velocity(lwi_codegen_graph *g, const lwi_place *p)
{
    screw V;
    for (int i = 0; i < 3; i++) V.l[i] = p->v[i], V.w[i] = p->w[i];
    lwi_cross_add(g, V.l, p->r, p->w);
    return V;
}

// Spatial acceleration about the world's origin, less gravity, with the part `gained` of the accelerations vdot.
static screw acceleration(const terms *t, const lwi_place *p, const screw *gained)
{
    lwi_codegen_graph *g = t->graph;
    screw A;
    val c[3];
    lwi_cross(g, c, p->w, p->v);
    for (int i = 0; i < 3; i++) A.l[i] = sub(g, p->a[i], c[i]), A.w[i] = p->al[i];
    lwi_cross_add(g, A.l, p->r, p->al);
    for (int i = 0; i < 3; i++) A.l[i] = add(g, A.l[i], lit(g, t->walk->elements->ground[i]));
    return sum(g, A, gained);
}

static void add_screw(lwi_codegen_graph *g, screw *a, val x, const screw *b)
{
    add_product(g, a->l, x, b->l);
    add_product(g, a->w, x, b->w);
}

static screw zero_screw(lwi_codegen_graph *g)
{
    screw a;
    lwi_zero(g, 3, a.l);
    lwi_zero(g, 3, a.w);
    return a;
}

static bool is_ball(const lwi_node *node)
{
    return node->type->quaternion >= 0;
}

static void place_node(terms *t, int k)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    lwi_codegen_graph *g = t->graph;
    const lwi_node *node = &t->model->node[k];
    const int parent = moving_parent(t, k);
    lwi_place *p = &t->place[k];
    lwi_node moved = *node;
    if (parent < 0)
        lwi_place_start(g, p, identity, origin);
    else
        *p = t->place[parent];
    compose(parent_of(t, k), node->X_R, node->X_r, moved.X_R, moved.X_r);
    lwi_place_node(t->walk, &moved, p, &t->column[node->iv], &t->before[node->iv]);
    for (int j = node->iv; j < node->iv + node->nv; j++) {
        const lwi_column *c = &t->column[j];
        for (int i = 0; i < 3; i++) t->S[j].l[i] = c->l[i], t->S[j].w[i] = c->w[i];
        lwi_cross_add(g, t->S[j].l, c->at, c->w);
    }
}

// The speed of step j of a node, counted from the ground.
static int step(const lwi_node *node, int j)
{
    return node->iv + (node->reversed && !is_ball(node) ? node->nv - 1 - j : j);
}

// V, A of a node with prescribed motions, from the motion of its frames.
static void move_driven(terms *t, int k)
{
    const lwi_node *node = &t->model->node[k];
    screw gained = t->gained[k];
    for (int i = node->nv - 1; i >= 0; i--) {
        const int j = step(node, i);
        add_screw(t->graph, &gained, neg(t->graph, t->vdot[j]), &t->S[j]);
        t->V_before[j] = velocity(t->graph, &t->before[j]);
        t->A_before[j] = acceleration(t, &t->before[j], &gained);
    }
    t->V[k] = velocity(t->graph, &t->place[k]);
    t->A[k] = acceleration(t, &t->place[k], &t->gained[k]);
}

// V, A of other nodes, from the motion before: V += S v, A += S vdot + (V x S) v, with all speeds of a spherical or free joint at once.
static void move_freely(terms *t, int k)
{
    lwi_codegen_graph *g = t->graph;
    const lwi_node *node = &t->model->node[k];
    screw own = zero_screw(g);
    for (int i = 0; i < node->nv; i++) {
        const int j = step(node, i);
        t->V_before[j] = t->V[k];
        t->A_before[j] = t->A[k];
        add_screw(g, &own, lwi_walk_speed(t->walk, j), &t->S[j]);
        if (is_ball(node) && i + 1 < node->nv) continue;
        const screw rate = screw_cross(g, &t->V[k], &own);
        t->V[k] = sum(g, t->V[k], &own);
        t->A[k] = sum(g, t->A[k], &rate);
        for (int l = is_ball(node) ? 0 : i; l <= i; l++)
            add_screw(g, &t->A[k], t->vdot[step(node, l)], &t->S[step(node, l)]);
        own = zero_screw(g);
    }
}

static void move_node(terms *t, int k)
{
    lwi_codegen_graph *g = t->graph;
    const lwi_node *node = &t->model->node[k];
    const int parent = moving_parent(t, k);
    t->V[k] = parent < 0 ? zero_screw(g) : t->V[parent];
    t->A[k] = parent < 0 ? zero_screw(g) : t->A[parent];
    t->gained[k] = parent < 0 ? zero_screw(g) : t->gained[parent];
    for (int i = 0; parent < 0 && i < 3; i++) t->A[k].l[i] = lit(g, t->walk->elements->ground[i]);
    for (int i = 0; i < node->nv; i++)
        add_screw(g, &t->gained[k], t->vdot[step(node, i)], &t->S[step(node, i)]);
    if (node->driven)
        move_driven(t, k);
    else
        move_freely(t, k);
}

// ----------------------------------------------------------------------------------------- inertia

static int entry(int i, int j)
{
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    return at[3 * i + j];
}

// The inertia of a node, known about its link frame, in world axes about the world's origin.
static void place_inertia(lwi_codegen_graph *g, const rigid *body, const lwi_place *p, inertia *b)
{
    const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    val h[3], J[6], T[9], s[3];
    b->m = body->m;
    lwi_literals(g, 3, h, body->h);
    lwi_literals(g, 6, J, body->J);
    lwi_rotate(g, h, p->R, h);
    for (int i = 0; i < 3; i++) lwi_symmetric(g, T + 3 * i, J, p->R + 3 * i);
    const val half = lit(g, b->m / 2);
    for (int i = 0; i < 3; i++) s[i] = madd(g, h[i], half, p->r[i]);
    for (int i = 0; i < 3; i++) b->h[i] = madd(g, s[i], half, p->r[i]);
    const val sr = lwi_codegen_dot(g, 3, s, p->r), twice = add(g, sr, sr);
    for (int k = 0; k < 6; k++) {
        const int i = row[k], j = column[k];
        val x = lwi_codegen_dot(g, 3, T + 3 * i, p->R + 3 * j);
        x = msub(g, msub(g, x, s[i], p->r[j]), p->r[i], s[j]);
        b->J[k] = i == j ? add(g, x, twice) : x;
    }
}

// The wrench I a: f = m l + w x h, n = h x l + J w, of the motion a = [l; w]
static void apply(lwi_codegen_graph *g, const inertia *b, const screw *a, val f[3], val n[3])
{
    val c[3];
    for (int i = 0; i < 3; i++) f[i] = mul(g, lit(g, b->m), a->l[i]);
    lwi_cross_add(g, f, a->w, b->h);
    lwi_symmetric(g, n, b->J, a->w);
    lwi_cross(g, c, b->h, a->l);
    lwi_add(g, 3, n, c);
}

// B = -J W~ - (J W)~ + W~ J + 2 ((h.v) 1 - v h')
static void find_B(lwi_codegen_graph *g, inertia *b, const screw *V)
{
    val K[9], JW[3];
    for (int i = 0; i < 3; i++) {
        const val row[3] = {b->J[entry(i, 0)], b->J[entry(i, 1)], b->J[entry(i, 2)]};
        lwi_cross(g, K + 3 * i, row, V->w); // J W~
    }
    lwi_symmetric(g, JW, b->J, V->w);
    const val hv = lwi_codegen_dot(g, 3, b->h, V->l);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            val x = add(g, K[3 * i + j], K[3 * j + i]);
            const val vh = mul(g, V->l[i], b->h[j]);
            x = neg(g, add(g, x, add(g, vh, vh)));
            if (i == j) x = add(g, x, add(g, hv, hv));
            if ((i + 1) % 3 == j) x = add(g, x, JW[3 - i - j]); // - (J W)~
            if ((j + 1) % 3 == i) x = sub(g, x, JW[3 - i - j]);
            b->B[3 * i + j] = x;
        }
}

static void find_body(terms *t, int k)
{
    lwi_codegen_graph *g = t->graph;
    inertia *b = &t->body[k];
    const screw V = t->V[k], A = t->A[k];
    val P[3];
    place_inertia(g, &t->rigid[k], &t->place[k], b);
    apply(g, b, &V, b->p, P);
    apply(g, b, &A, b->f, b->n);
    lwi_cross_add(g, b->f, V.w, b->p);
    lwi_cross_add(g, b->n, V.w, P);
    lwi_cross_add(g, b->n, V.l, b->p);
    find_B(g, b, &V);
}

static void add_body(lwi_codegen_graph *g, inertia *a, const inertia *b)
{
    a->m += b->m;
    lwi_add(g, 3, a->h, b->h);
    lwi_add(g, 6, a->J, b->J);
    lwi_add(g, 3, a->p, b->p);
    lwi_add(g, 9, a->B, b->B);
    lwi_add(g, 3, a->f, b->f);
    lwi_add(g, 3, a->n, b->n);
}

// ------------------------------------------------------------------------------------------- terms

// [f; n] += B w
static void add_B(lwi_codegen_graph *g, const inertia *b, const val w[3], val f[3], val n[3])
{
    val c[3];
    lwi_cross(g, c, w, b->p);
    for (int i = 0; i < 3; i++) {
        f[i] = add(g, f[i], add(g, c[i], c[i]));
        n[i] = add(g, n[i], lwi_codegen_dot(g, 3, b->B + 3 * i, w));
    }
}

static void put(const terms *t, int first, int j, int n, const val *x)
{
    for (int i = 0; i < n; i++) t->term[(first + i) * t->model->tree_nv + j] = x[i];
}

static void put_both(const terms *t, int first, int j, const val l[3], const val w[3])
{
    put(t, first, j, 3, l);
    put(t, first + 3, j, 3, w);
}

static void find_terms(terms *t, int k, int j)
{
    lwi_codegen_graph *g = t->graph;
    const inertia *b = &t->body[k];
    const screw *S = &t->S[j], *V = &t->V_before[j], *A = &t->A_before[j];
    const screw *after = is_ball(&t->model->node[k]) ? &t->V[k] : NULL; // else V x S is the same
    const screw psi = screw_cross(g, V, S), more = screw_cross(g, V, &psi);
    const screw psi2 = sum(g, screw_cross(g, A, S), &more);
    const screw again = after ? screw_cross(g, after, S) : psi, drift = sum(g, psi, &again);
    val f[3], n[3], x[3], y[3];
    put_both(t, LWI_TERM_S, j, S->l, S->w);
    put_both(t, LWI_TERM_ACCEL_Q, j, psi2.l, psi2.w);
    put_both(t, LWI_TERM_ACCEL_V, j, drift.l, drift.w);
    put(t, LWI_TERM_RATE_Q, j, 3, psi.w);
    apply(g, b, S, f, n);
    put_both(t, LWI_TERM_IS, j, f, n);
    lwi_cross(g, x, b->p, S->l); // B' S
    for (int i = 0; i < 3; i++) {
        const val column[3] = {b->B[i], b->B[3 + i], b->B[6 + i]};
        y[i] = add(g, add(g, x[i], x[i]), lwi_codegen_dot(g, 3, column, S->w));
    }
    put(t, LWI_TERM_BS, j, 3, y);
    apply(g, b, &psi2, f, n);
    lwi_cross_add(g, f, S->w, b->f); // S x* f
    lwi_cross_add(g, n, S->w, b->n);
    lwi_cross_add(g, n, S->l, b->f);
    add_B(g, b, psi.w, f, n);
    put_both(t, LWI_TERM_BY_Q, j, f, n);
    apply(g, b, &drift, f, n);
    add_B(g, b, S->w, f, n);
    put_both(t, LWI_TERM_BY_V, j, f, n);
}

lw_status lwi_speed_terms(const lwi_walk *walk, const val *vdot, val *term, lwi_arena *arena)
{
    const lw_model *m = walk->elements->model;
    terms t = {.walk = walk,
               .graph = walk->graph,
               .model = m,
               .vdot = vdot,
               .term = term,
               .rigid = LWI_PUSH(arena, rigid, m->nnode),
               .place = LWI_PUSH(arena, lwi_place, m->nnode),
               .before = LWI_PUSH(arena, lwi_place, m->tree_nv),
               .column = LWI_PUSH(arena, lwi_column, m->tree_nv),
               .V = LWI_PUSH(arena, screw, m->nnode),
               .A = LWI_PUSH(arena, screw, m->nnode),
               .V_before = LWI_PUSH(arena, screw, m->tree_nv),
               .A_before = LWI_PUSH(arena, screw, m->tree_nv),
               .gained = LWI_PUSH(arena, screw, m->nnode),
               .S = LWI_PUSH(arena, screw, m->tree_nv),
               .body = LWI_PUSH(arena, inertia, m->nnode)};
    if (!t.rigid || !t.place || !t.before || !t.column || !t.gained || !t.S || !t.V || !t.A ||
        !t.V_before || !t.A_before || !t.body)
        return LW_ERR_MEMORY;
    for (int k = 0; k < m->nnode; k++) find_rigid(&t, k);
    for (int k = 0; k < m->nnode; k++) {
        if (!moves(&t, k)) continue;
        lwi_codegen_graph_mark(walk->graph);
        place_node(&t, k);
        move_node(&t, k);
        find_body(&t, k);
    }
    for (int k = m->nnode - 1; k >= 0; k--)
        if (moves(&t, k) && moving_parent(&t, k) >= 0)
            add_body(walk->graph, &t.body[moving_parent(&t, k)], &t.body[k]);
    for (int k = 0; k < m->nnode; k++) {
        if (!moves(&t, k)) continue;
        lwi_codegen_graph_mark(walk->graph);
        for (int j = m->node[k].iv; j < m->node[k].iv + m->node[k].nv; j++) find_terms(&t, k, j);
    }
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}

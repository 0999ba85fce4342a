// reduced.c -- forward dynamics with closed loops by coordinate reduction, as values [anderson2003].
//
// The inward sweep is that of articulated bodies (articulated.c).  A joint in a loop is not eliminated: its speed s is
// delayed and goes inward with the message, which makes Gauss' function of the subtree
//
//   1/2 A'M A + p'A + sum s (F_s'A + h_s) + 1/2 sum H_st s t
//
// stationary.  F_s is the wrench per unit of s; at the joint of s, with the motion A before it,
//
//   F_s = M S    H_ss = S'M S + rotor    H_st = S'F_t    h_s = S'p - tau
//
// At the top of a block, where all of its speeds have arrived, y = K z + kappa replaces the dependent ones; an
// independent one is eliminated when no block waits for it, by  u = -(h + F'A + sum H_t t) / H.  Outward, in
// the opposite order.  That is the recursion of the paper on a fixed partition; if nothing is delayed, it is that of
// articulated bodies.
#include "codegen/reduced.h"

#include <string.h>

enum { GROUND = -1, NOWHERE = -2 };

/** What the outward sweep needs of a speed that was replaced or eliminated. */
typedef struct record {
    int block;      ///< that it was replaced in; -1: it was eliminated
    int iv, holder; ///< at the motion of this element
    bool own;       ///< before the element's own joint
    val constant, by_A[6];
    int n, *of; ///< [n] speeds
    val *by;    ///< [n]
} record;

typedef struct reduction {
    lwi_sweep *sweep;
    const lwi_closures *closures;
    lwi_loops *loops;
    lwi_arena *arena;
    int nv;
    int *holder;     // [nv] element with F in its frame, GROUND, or NOWHERE
    int *waiting;    // [nv] blocks with this speed
    val (*F)[6];     // [nv]
    val *h, *H;      // [nv], [nv][nv] at (smaller, larger)
    val **K, *kappa; // [nblock] [ny][nz] ; [nv]
    record *record;  // [nv] in the order of elimination
    int nrecord;
    val *u; // [nv]
} reduction;

static val *H_at(const reduction *x, int s, int t)
{
    return s < t ? &x->H[s * x->nv + t] : &x->H[t * x->nv + s];
}

static bool is_zero(const lwi_codegen_graph *g, val a)
{
    double number;
    return lwi_codegen_graph_known(g, a, &number) && number == 0;
}

// --------------------------------------------------------------------------------- dependent speeds

lw_status lwi_dependent_accelerations(lwi_codegen_graph *g, const lwi_elements *elements,
                                      const lwi_closures *closures, const lwi_loop_block *b, val *K,
                                      val *kappa, lwi_arena *arena)
{
    const int n = b->nz + 1, nv = elements->model->tree_nv;
    val *rhs = LWI_PUSH(arena, val, n * b->nrow), *y = LWI_PUSH(arena, val, n * b->ny);
    if (!rhs || !y) return LW_ERR_MEMORY;
    lwi_codegen_graph_note(g, "dependent speeds of the loop of joint '%s'",
                           lwi_block_name(elements, b));
    for (int i = 0; i < b->nrow; i++) {
        for (int j = 0; j < b->nz; j++)
            rhs[j * b->nrow + i] = closures->J[b->row[i] * nv + b->z[j]];
        rhs[b->nz * b->nrow + i] = closures->gamma[b->row[i]];
    }
    TRY(lwi_block_solve(g, elements, b, closures->J, n, rhs, y, arena));
    for (int i = 0; i < b->ny; i++) {
        for (int j = 0; j < b->nz; j++) K[i * b->nz + j] = y[j * b->ny + i];
        kappa[b->y[i]] = y[b->nz * b->ny + i];
    }
    return LW_OK;
}

static lw_status solve_blocks(reduction *x)
{
    for (int k = 0; k < x->loops->nblock; k++) {
        const lwi_loop_block *b = &x->loops->block[k];
        x->K[k] = LWI_PUSH(x->arena, val, b->ny * b->nz);
        if (!x->K[k]) return LW_ERR_MEMORY;
        TRY(lwi_dependent_accelerations(x->sweep->motion.graph, x->sweep->motion.elements,
                                        x->closures, b, x->K[k], x->kappa, x->arena));
        for (int i = 0; i < b->ny; i++) x->waiting[b->y[i]]++;
        for (int j = 0; j < b->nz; j++) x->waiting[b->z[j]]++;
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------- elimination

static record *new_record(reduction *x, int iv, int holder, bool own, int room)
{
    record *r = &x->record[x->nrecord];
    *r = (record){.block = -1, .iv = iv, .holder = holder, .own = own};
    r->of = LWI_PUSH(x->arena, int, room);
    r->by = LWI_PUSH(x->arena, val, room);
    if (!r->of || !r->by) return NULL;
    x->nrecord++;
    lwi_zero(x->sweep->motion.graph, 6, r->by_A);
    return r;
}

// Replaces y by sum K z + kappa.
static lw_status replace(reduction *x, const lwi_loop_block *b, const val *K, int y)
{
    lwi_codegen_graph *g = x->sweep->motion.graph;
    const int at = x->holder[y], nv = x->nv;
    const val kappa = x->kappa[y];
    lwi_codegen_graph_mark(g);
    record *r = new_record(x, y, at, false, b->nz);
    val *k = LWI_PUSH(x->arena, val, nv), *G = LWI_PUSH(x->arena, val, nv);
    if (!r || !k || !G) return LW_ERR_MEMORY;
    r->constant = kappa;
    r->block = (int)(b - x->loops->block);
    x->holder[y] = NOWHERE;
    lwi_zero(g, nv, k);
    for (int j = 0; j < b->nz; j++) {
        if (is_zero(g, K[j])) continue;
        k[b->z[j]] = K[j];
        r->of[r->n] = b->z[j];
        r->by[r->n++] = K[j];
    }
    const val Hyy = *H_at(x, y, y), h = madd(g, x->h[y], Hyy, kappa), half = lit(g, 0.5);
    if (at != GROUND)
        for (int i = 0; i < 6; i++)
            x->sweep->art[at].p[i] = madd(g, x->sweep->art[at].p[i], kappa, x->F[y][i]);
    for (int s = 0; s < nv; s++) {
        if (x->holder[s] != at) continue;
        x->h[s] = madd(g, madd(g, x->h[s], *H_at(x, y, s), kappa), k[s], h);
        for (int i = 0; i < 6; i++) x->F[s][i] = madd(g, x->F[s][i], k[s], x->F[y][i]);
        G[s] = madd(g, *H_at(x, y, s), mul(g, half, Hyy), k[s]);
    }
    for (int s = 0; s < nv; s++) {
        if (x->holder[s] != at) continue;
        const bool none = is_zero(g, k[s]);
        for (int t = s; t < nv; t++) {
            if (x->holder[t] != at || (none && is_zero(g, k[t]))) continue;
            val *H = H_at(x, s, t);
            *H = madd(g, madd(g, *H, k[s], G[t]), k[t], G[s]);
        }
    }
    return LW_OK;
}

// u from the condition that the function is stationary.
static lw_status eliminate(reduction *x, int u, bool own, lw_error *error)
{
    lwi_codegen_graph *g = x->sweep->motion.graph;
    const int at = x->holder[u], nv = x->nv;
    record *r = new_record(x, u, at, own, nv);
    val D = *H_at(x, u, u), by[6];
    double known;
    if (!r) return LW_ERR_MEMORY;
    if (lwi_codegen_graph_known(g, D, &known) && !(known > 0)) {
        const int i = lwi_element_of_speed(x->sweep->motion.elements, u);
        return lwi_articulated_singular(x->sweep, i, error);
    }
    const val Di = inverse(g, D);
    x->holder[u] = NOWHERE;
    r->constant = neg(g, mul(g, x->h[u], Di));
    for (int i = 0; i < 6; i++) {
        by[i] = mul(g, x->F[u][i], Di);
        r->by_A[i] = neg(g, by[i]);
    }
    if (at != GROUND) {
        lwi_art *M = &x->sweep->art[at];
        for (int i = 0; i < 6; i++) {
            M->p[i] = msub(g, M->p[i], by[i], x->h[u]);
            for (int j = i; j < 6; j++) {
                val *e = lwi_art_at(M, i, j);
                *e = msub(g, *e, by[i], x->F[u][j]);
            }
        }
    }
    for (int s = 0; s < nv; s++) {
        const val Hs = *H_at(x, u, s);
        if (x->holder[s] != at || is_zero(g, Hs)) continue;
        const val f = mul(g, Hs, Di);
        r->of[r->n] = s;
        r->by[r->n++] = neg(g, f);
        x->h[s] = msub(g, x->h[s], f, x->h[u]);
        for (int i = 0; i < 6; i++) x->F[s][i] = msub(g, x->F[s][i], f, x->F[u][i]);
        for (int t = s; t < nv; t++)
            if (x->holder[t] == at && !is_zero(g, *H_at(x, u, t))) {
                val *H = H_at(x, s, t);
                *H = msub(g, *H, f, *H_at(x, u, t));
            }
    }
    return LW_OK;
}

// The independent speed on `at` that no block waits for, with the fewest neighbours.
static int ready(const reduction *x, int at)
{
    const lwi_codegen_graph *g = x->sweep->motion.graph;
    int best = -1, fewest = 0;
    for (int u = 0; u < x->nv; u++) {
        if (x->holder[u] != at || x->waiting[u] > 0 || x->loops->dependent[u]) continue;
        int n = 0;
        for (int s = 0; s < x->nv; s++) n += x->holder[s] == at && !is_zero(g, *H_at(x, u, s));
        if (best < 0 || n < fewest) best = u, fewest = n;
    }
    return best;
}

// Does another block read the dependent speed y of b?
static bool is_read(const reduction *x, const lwi_loop_block *b, int y)
{
    for (const lwi_loop_block *o = b + 1; o < x->loops->block + x->loops->nblock; o++)
        for (int j = 0; j < o->nz; j++)
            if (o->z[j] == y) return true;
    return false;
}

// Blocks with their top here, the last first.  Speeds of one block alone come first: their part does not depend on the other blocks.
static lw_status finish(reduction *x, int at, lw_error *error)
{
    for (int k = x->loops->nblock - 1; k >= 0; k--) {
        const lwi_loop_block *b = &x->loops->block[k];
        if (b->top != at) continue;
        lwi_codegen_graph_note(x->sweep->motion.graph, "loop of joint '%s': reduction",
                               lwi_block_name(x->sweep->motion.elements, b));
        for (int later = 0; later < 2; later++)
            for (int i = 0; i < b->ny; i++) {
                const int y = b->y[i];
                if (is_read(x, b, y) != (later == 1)) continue;
                TRY(replace(x, b, x->K[k] + i * b->nz, y));
                x->waiting[y]--;
            }
        for (int j = 0; j < b->nz; j++) x->waiting[b->z[j]]--;
        for (int u = ready(x, at); u >= 0; u = ready(x, at)) TRY(eliminate(x, u, false, error));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ inward

static bool carries(const reduction *x, int i)
{
    for (int s = 0; s < x->nv; s++)
        if (x->holder[s] == i) return true;
    return false;
}

static bool in_loop(const reduction *x, const lwi_element *e)
{
    for (int j = 0; j < lwi_element_speeds(e); j++)
        if (x->waiting[e->iv + j] > 0) return true;
    return false;
}

// The speeds of the joint join those that wait.
static void delay(reduction *x, int i)
{
    lwi_codegen_graph *g = x->sweep->motion.graph;
    const lwi_element *e = &x->sweep->motion.elements->list[i];
    lwi_art *M = &x->sweep->art[i];
    for (int j = 0; j < lwi_element_speeds(e); j++) {
        const int u = e->iv + j;
        val S[6];
        lwi_codegen_motion_subspace(g, e, j, S);
        lwi_art_apply(g, x->F[u], M, S);
        for (int s = 0; s < x->nv; s++)
            if (x->holder[s] == i) *H_at(x, u, s) = lwi_codegen_dot(g, 6, S, x->F[s]);
        *H_at(x, u, u) = add(g, lwi_codegen_dot(g, 6, S, x->F[u]), lit(g, e->rotor));
        x->h[u] = sub(g, lwi_codegen_dot(g, 6, S, M->p), lwi_articulated_effort(x->sweep, u));
        x->holder[u] = i;
    }
}

// The message of a delayed joint, and all that wait, go to the parent.
static void pass(reduction *x, int i, const val ground[6])
{
    lwi_codegen_graph *g = x->sweep->motion.graph;
    const lwi_element *e = &x->sweep->motion.elements->list[i];
    const lwi_body_values *b = &x->sweep->motion.body[i];
    val from[6], bias[6], c[6];
    lwi_zero(g, 6, from);
    if (e->parent < 0)
        for (int k = 0; k < 6; k++) from[k] = ground[k];
    lwi_codegen_motion_carry(&x->sweep->motion, i, true, from, bias);
    for (int s = 0; s < x->nv; s++) {
        if (x->holder[s] != i) continue;
        x->h[s] = add(g, x->h[s], lwi_codegen_dot(g, 6, x->F[s], bias));
        x->holder[s] = e->parent;
        if (e->parent < 0)
            lwi_zero(g, 6, x->F[s]);
        else
            lwi_codegen_wrench_to_parent(&x->sweep->motion, i, x->F[s]);
    }
    if (e->parent < 0) return;
    for (int k = 0; k < 3; k++) c[k] = b->l[k], c[3 + k] = b->k[k];
    lwi_art_apply(g, c, &x->sweep->art[i], c);
    lwi_add(g, 6, x->sweep->art[i].p, c);
}

static lw_status inward(reduction *x, int i, const val ground[6], lw_error *error)
{
    const lwi_element *e = &x->sweep->motion.elements->list[i];
    const bool delayed = in_loop(x, e), general = delayed || carries(x, i);
    lwi_articulated_note(x->sweep, i, "inward");
    if (general) {
        delay(x, i);
        for (int j = 0; j < lwi_element_speeds(e) && !delayed; j++)
            TRY(eliminate(x, e->iv + j, true, error));
        pass(x, i, ground);
    } else {
        TRY(lwi_articulated_eliminate(x->sweep, i, error));
    }
    if (e->parent >= 0) lwi_articulated_pass(x->sweep, i);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- outward

static void recover(reduction *x, const record *r, const val A[6])
{
    lwi_codegen_graph *g = x->sweep->motion.graph;
    val u = add(g, r->constant, lwi_codegen_dot(g, 6, r->by_A, A));
    for (int k = 0; k < r->n; k++) u = madd(g, u, r->by[k], x->u[r->of[k]]);
    x->u[r->iv] = u;
}

static bool is_recorded(const reduction *x, int iv)
{
    for (int k = 0; k < x->nrecord; k++)
        if (x->record[k].iv == iv) return true;
    return false;
}

static void outward(reduction *x, int i, const val ground[6])
{
    lwi_sweep *s = x->sweep;
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const int n = lwi_element_speeds(e);
    val *A = s->motion.body[i].A, S[6];
    lwi_articulated_note(s, i, "outward");
    if (!is_recorded(x, e->iv)) {
        lwi_articulated_respond(s, i, ground);
        for (int j = 0; j < n; j++) x->u[e->iv + j] = s->pivot[i].u[j];
    } else {
        const val *from = e->parent < 0 ? ground : s->motion.body[e->parent].A;
        lwi_codegen_motion_carry(&s->motion, i, true, from, A);
        for (int k = x->nrecord - 1; k >= 0; k--) // with the motion before the joint
            if (x->record[k].own && x->record[k].holder == i) recover(x, &x->record[k], A);
        for (int j = 0; j < n; j++) {
            lwi_codegen_motion_subspace(g, e, j, S);
            for (int k = 0; k < 6; k++) A[k] = madd(g, A[k], S[k], x->u[e->iv + j]);
        }
    }
    for (int k = x->nrecord - 1; k >= 0; k--)
        if (!x->record[k].own && x->record[k].holder == i) recover(x, &x->record[k], A);
}

// -------------------------------------------------------------------------------------------- call

static lw_status make_room(reduction *x)
{
    const size_t nv = (size_t)x->nv, nblock = (size_t)x->loops->nblock;
    lwi_codegen_graph *g = x->sweep->motion.graph;
    const int n = x->sweep->motion.elements->n;
    x->holder = LWI_PUSH(x->arena, int, nv);
    x->waiting = LWI_PUSH(x->arena, int, nv);
    x->F = lwi_arena_push(x->arena, nv, sizeof *x->F);
    x->h = LWI_PUSH(x->arena, val, nv);
    x->H = LWI_PUSH(x->arena, val, nv * nv);
    x->K = LWI_PUSH(x->arena, val *, nblock);
    x->kappa = LWI_PUSH(x->arena, val, nv);
    x->record = LWI_PUSH(x->arena, record, nv);
    x->sweep->art = LWI_PUSH(x->arena, lwi_art, n);
    x->sweep->pivot = LWI_PUSH(x->arena, lwi_pivot, n);
    if (!x->holder || !x->waiting || !x->F || !x->h || !x->H || !x->K || !x->kappa || !x->record ||
        !x->sweep->art || !x->sweep->pivot)
        return LW_ERR_MEMORY;
    lwi_zero(g, x->nv * x->nv, x->H);
    for (int i = 0; i < x->nv; i++) x->holder[i] = NOWHERE, x->waiting[i] = 0;
    return LW_OK;
}

lw_status lwi_reduced_accelerations(lwi_sweep *s, const lwi_closures *closures, val *vdot,
                                    lwi_arena *arena, lw_error *error)
{
    const lwi_elements *elements = s->motion.elements;
    reduction x = {.sweep = s,
                   .closures = closures,
                   .loops = elements->loops,
                   .arena = arena,
                   .nv = elements->model->tree_nv,
                   .u = vdot};
    val ground[6], still[6];
    TRY(make_room(&x));
    lwi_zero(s->motion.graph, 6, still);
    lwi_zero(s->motion.graph, 6, ground);
    lwi_literals(s->motion.graph, 3, ground, elements->ground);
    TRY(solve_blocks(&x));
    for (int i = 0; i < elements->n; i++) {
        lwi_codegen_graph_mark(s->motion.graph);
        lwi_articulated_start(s, i);
    }
    for (int i = elements->n - 1; i >= 0; i--) {
        TRY(finish(&x, i, error));
        TRY(inward(&x, i, ground, error));
    }
    TRY(finish(&x, GROUND, error));
    for (int k = x.nrecord - 1; k >= 0; k--) { // a part for each block
        if (k == x.nrecord - 1 || x.record[k].block != x.record[k + 1].block)
            lwi_codegen_graph_mark(s->motion.graph);
        if (x.record[k].holder == GROUND) recover(&x, &x.record[k], still);
    }
    for (int i = 0; i < elements->n; i++) outward(&x, i, ground);
    return s->motion.graph->failed ? LW_ERR_MEMORY : LW_OK;
}

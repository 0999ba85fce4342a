// articulated.c -- the two sweeps of articulated bodies in the normal form [featherstone2008]
//
// For a body with its subtree, in its frame: [f; n] = M [a; al] + p.  With U = M S,
// D = S'U, g = U/D and c = (l, k), the terms that come after the last screw:
//
//   inward    z = tau - S'p    M' = M - g U'    p' = p + M'c + g z
//             before the last screw p' += M' beta, then both are transformed to the parent
//   outward   A' = X A_parent + bias    vdot = z/D - g'A'    A = A' + S vdot
//
// A rotor is added to D alone.  Without one M'S = 0, so a hinge leaves zeros in the last row and column, a
// slider in the third.  A ball has D = C and leaves A - B C^-1 B' only; a base is on the ground and leaves
// nothing.
#include "codegen/articulated.h"

#include "codegen/refuse.h"

lw_status lwi_articulated_singular(const lwi_sweep *s, int i, lw_error *error)
{
    const lwi_element *e = &s->motion.elements->list[i];
    char name[200];
    lwi_element_name(s->motion.elements, e, name, sizeof name);
    const int joint = e->node->joint;
    const lw_model *m = s->motion.elements->model;
    return lwi_refuse(m, joint < 0 ? (lw_place){0} : lwi_joint_place(m, joint), error,
                      "nothing resists %s: the bodies that it moves have no inertia there", name);
}

// Rigid body and bias wrench.
void lwi_articulated_start(const lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const double A[6] = {e->m, e->m, e->m}, *h = e->h;
    const double B[9] = {0, h[2], -h[1], -h[2], 0, h[0], h[1], -h[0], 0}; // -(h x)
    lwi_literals(g, 6, s->art[i].A, A);
    lwi_literals(g, 9, s->art[i].B, B);
    lwi_literals(g, 6, s->art[i].C, e->J);
    if (s->bias)
        lwi_codegen_motion_wrench(&s->motion, i, s->art[i].p);
    else
        lwi_zero(g, 6, s->art[i].p);
}

// ------------------------------------------------------------------------------------------ inward

val lwi_articulated_effort(const lwi_sweep *s, int iv)
{
    if (s->bias) return lwi_codegen_motion_effort(&s->motion, s->tau, iv);
    return lwi_codegen_graph_input(s->motion.graph, s->tau, iv);
}

// M -= g U' over the upper triangle
static void reduce(lwi_codegen_graph *g, lwi_art *M, const val column[6], const val U[6])
{
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            val *e = lwi_art_at(M, i, j);
            *e = msub(g, *e, column[i], U[j]);
        }
}

// A row and column that is zero because of M'S = 0
static void clear(lwi_codegen_graph *g, lwi_art *M, int row)
{
    for (int i = 0; i < 6; i++) *lwi_art_at(M, i, row) = lit(g, 0);
}

static bool eliminate_screw(lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const lwi_body_values *b = &s->motion.body[i];
    lwi_art *M = &s->art[i];
    lwi_pivot *x = &s->pivot[i];
    val S[6], U[6], c[6], D;
    double known;
    lwi_codegen_motion_subspace(g, e, 0, S);
    lwi_art_apply(g, U, M, S);
    D = add(g, lwi_codegen_dot(g, 6, S, U), lit(g, e->rotor));
    if (lwi_codegen_graph_known(g, D, &known) && !(known > 0)) return false;
    const val Di = inverse(g, D);
    for (int k = 0; k < 6; k++) x->g[0][k] = mul(g, U[k], Di);
    const bool bare = e->rotor == 0;
    if (bare && e->slide == 0) x->g[0][5] = S[5]; // +-1
    if (bare && e->turn == 0) x->g[0][2] = S[2];
    x->z[0] = sub(g, lwi_articulated_effort(s, e->iv), lwi_codegen_dot(g, 6, S, M->p));
    x->y[0] = mul(g, x->z[0], Di);

    reduce(g, M, x->g[0], U);
    if (bare && e->slide == 0) clear(g, M, 5);
    if (bare && e->turn == 0) clear(g, M, 2);
    for (int k = 0; k < 3; k++) c[k] = b->l[k], c[3 + k] = b->k[k];
    lwi_art_apply(g, U, M, c);
    lwi_add(g, 6, M->p, U);
    for (int k = 0; k < 6; k++) M->p[k] = madd(g, M->p[k], x->g[0][k], x->z[0]);
    return true;
}

static bool eliminate_ball(lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const lwi_body_values *b = &s->motion.body[i];
    lwi_art *M = &s->art[i];
    lwi_pivot *x = &s->pivot[i];
    val D[6][6], effort[3], c[6];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) D[j][k] = *lwi_art_at(M, 3 + j, 3 + k);
    if (!lwi_factorise(g, 3, D, &x->factor)) return false;
    for (int j = 0; j < 3; j++) {
        effort[j] = lwi_articulated_effort(s, e->iv + j);
        x->z[j] = sub(g, effort[j], M->p[3 + j]);
    }
    lwi_factor_forward(g, &x->factor, x->z);
    for (int k = 0; k < 3; k++) { // L^-1 B', column by column
        val column[3];
        for (int j = 0; j < 3; j++) column[j] = M->B[3 * k + j];
        lwi_factor_forward(g, &x->factor, column);
        for (int j = 0; j < 3; j++) x->g[j][k] = column[j];
    }
    for (int j = 0; j < 3; j++) {
        val row[6];
        lwi_zero(g, 6, row);
        for (int k = 0; k < 3; k++) row[k] = mul(g, x->g[j][k], x->factor.inverse[j]);
        x->y[j] = mul(g, x->z[j], x->factor.inverse[j]);
        for (int k = 3; k < 6; k++) x->g[j][k] = lit(g, 0);
        reduce(g, M, row, x->g[j]);
        for (int k = 0; k < 3; k++) M->p[k] = madd(g, M->p[k], x->g[j][k], x->y[j]);
        for (int k = 0; k < 3; k++) x->g[j][k] = row[k];
    }
    lwi_zero(g, 9, M->B);
    lwi_zero(g, 6, M->C);
    for (int k = 0; k < 3; k++) c[k] = b->l[k], c[3 + k] = b->k[k], M->p[3 + k] = effort[k];
    lwi_art_apply(g, c, M, c);
    lwi_add(g, 6, M->p, c);
    return true;
}

// A prescribed motion: its acceleration is a part of the bias.
static void pass_prescribed(lwi_sweep *s, int i)
{
    const lwi_body_values *b = &s->motion.body[i];
    val c[6];
    for (int k = 0; k < 3; k++) c[k] = b->l[k], c[3 + k] = b->k[k];
    lwi_art_apply(s->motion.graph, c, &s->art[i], c);
    lwi_add(s->motion.graph, 6, s->art[i].p, c);
}

// All six: A = M^-1 (tau - p)
static bool eliminate_base(lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    lwi_art *M = &s->art[i];
    lwi_pivot *x = &s->pivot[i];
    val D[6][6];
    for (int j = 0; j < 6; j++)
        for (int k = 0; k < 6; k++) D[j][k] = *lwi_art_at(M, j, k);
    if (!lwi_factorise(g, 6, D, &x->factor)) return false;
    for (int j = 0; j < 6; j++) x->z[j] = sub(g, lwi_articulated_effort(s, e->iv + j), M->p[j]);
    lwi_factor_forward(g, &x->factor, x->z);
    for (int j = 0; j < 6; j++) x->y[j] = mul(g, x->z[j], x->factor.inverse[j]);
    return true;
}

// Transforms M' and p' before the joint to the parent's frame and adds them there.
void lwi_articulated_pass(lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const lwi_body_values *b = &s->motion.body[i];
    lwi_art M = s->art[i];
    val beta[6], p[6];
    const bool screw = e->kind == LWI_K_HINGE || e->kind == LWI_K_SCREW;
    if (screw)
        lwi_art_turn(g, &b->theta, &M);
    else
        lwi_art_rotate(g, b->R, &M);
    lwi_zero(g, 6, beta);
    for (int k = 0; k < 3; k++) beta[k] = b->beta[k];
    lwi_art_apply(g, p, &M, beta);
    lwi_add(g, 6, M.p, p);
    if (screw) {
        lwi_art_shift(g, 2, b->d, &M);
        lwi_art_turn(g, &b->alpha, &M);
        lwi_art_shift(g, 0, lit(g, e->a), &M);
        lwi_art_shift(g, 1, lit(g, e->b), &M);
        lwi_art_shift(g, 2, lit(g, e->delta), &M);
        lwi_art_turn(g, &b->phi, &M);
    } else {
        for (int k = 0; k < 3; k++) lwi_art_shift(g, k, b->r[k], &M);
    }
    lwi_art_add(g, &s->art[e->parent], &M);
}

// ----------------------------------------------------------------------------------------- outward

void lwi_articulated_respond(lwi_sweep *s, int i, const val ground[6])
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const int n = lwi_element_speeds(e);
    lwi_pivot *x = &s->pivot[i];
    const val *from = e->parent < 0 ? ground : s->motion.body[e->parent].A;
    val *A = s->motion.body[i].A, S[6];
    lwi_codegen_motion_carry(&s->motion, i, s->bias, from, x->free_A);
    for (int j = 0; j < n; j++) {
        x->u[j] = x->y[j];
        if (e->kind != LWI_K_BASE)
            x->u[j] = sub(g, x->u[j], lwi_codegen_dot(g, 6, x->g[j], x->free_A));
    }
    if (n > 1) lwi_factor_backward(g, &x->factor, x->u);
    for (int k = 0; k < 6; k++) A[k] = x->free_A[k];
    for (int j = 0; j < n; j++) {
        // for a ball and a base that is the whole motion; g of a screw contains S
        if (n > 1) x->u[j] = sub(g, x->u[j], x->free_A[6 - n + j]);
        lwi_codegen_motion_subspace(g, e, j, S);
        for (int k = 0; k < 6; k++) A[k] = madd(g, A[k], S[k], x->u[j]);
    }
}

lw_status lwi_articulated_eliminate(lwi_sweep *s, int i, lw_error *error)
{
    const lwi_k_kind kind = s->motion.elements->list[i].kind;
    if (s->motion.elements->list[i].driven) {
        pass_prescribed(s, i);
        return LW_OK;
    }
    const bool regular = kind == LWI_K_BALL   ? eliminate_ball(s, i)
                         : kind == LWI_K_BASE ? eliminate_base(s, i)
                                              : eliminate_screw(s, i);
    return regular ? LW_OK : lwi_articulated_singular(s, i, error);
}

void lwi_articulated_note(const lwi_sweep *s, int i, const char *what)
{
    char name[90];
    lwi_element_name(s->motion.elements, &s->motion.elements->list[i], name, sizeof name);
    lwi_codegen_graph_note(s->motion.graph, "%s: %s", name, what);
}

lw_status lwi_sweeps(lwi_sweep *s, const double ground[3], lwi_arena *arena, lw_error *error)
{
    const lwi_elements *elements = s->motion.elements;
    val still[6];
    s->art = LWI_PUSH(arena, lwi_art, elements->n);
    s->pivot = LWI_PUSH(arena, lwi_pivot, elements->n);
    if (!s->art || !s->pivot) return LW_ERR_MEMORY;
    for (int i = 0; i < elements->n; i++) {
        lwi_codegen_graph_mark(s->motion.graph);
        lwi_articulated_start(s, i);
    }
    for (int i = elements->n - 1; i >= 0; i--) {
        lwi_articulated_note(s, i, "inward");
        TRY(lwi_articulated_eliminate(s, i, error));
        if (elements->list[i].parent >= 0) lwi_articulated_pass(s, i);
    }
    lwi_zero(s->motion.graph, 6, still);
    lwi_literals(s->motion.graph, 3, still, ground);
    for (int i = 0; i < elements->n; i++) {
        lwi_articulated_note(s, i, "outward");
        lwi_articulated_respond(s, i, still);
    }
    return LW_OK;
}

// p has M c already: the acceleration without the bias terms that come after the screw.
static val power_of_motion(const lwi_sweep *s, int i)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const lwi_body_values *b = &s->motion.body[i];
    val A[6], F[6], S[6];
    for (int k = 0; k < 3; k++)
        A[k] = sub(g, b->A[k], b->l[k]), A[3 + k] = sub(g, b->A[3 + k], b->k[k]);
    lwi_codegen_motion_subspace(g, e, 0, S);
    lwi_art_apply(g, F, &s->art[i], A);
    lwi_add(g, 6, F, s->art[i].p);
    return mul(g, lwi_codegen_dot(g, 6, S, F), lwi_walk_speed(s->motion.walk, e->iv));
}

// Efforts times speeds; those of prescribed motions are S'(M A + p).
lw_status lwi_articulated_power(const lwi_sweep *s, lwi_arena *arena, val *power)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_elements *elements = s->motion.elements;
    val *each = LWI_PUSH(arena, val, elements->n);
    if (!each) return LW_ERR_MEMORY;
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        lwi_codegen_graph_mark(g);
        each[i] = e->driven ? power_of_motion(s, i) : lit(g, 0);
        for (int j = 0; j < lwi_element_speeds(e); j++)
            each[i] = madd(g, each[i], lwi_articulated_effort(s, e->iv + j),
                           lwi_walk_speed(s->motion.walk, e->iv + j));
    }
    *power = lwi_codegen_sum(g, elements->n, each);
    return LW_OK;
}

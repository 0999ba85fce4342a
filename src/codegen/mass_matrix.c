// mass_matrix.c -- generates the joint-space mass matrix: composite bodies [featherstone2008]
//
// A body with its subtree, joints locked, is a rigid body of ten numbers: m, h, J.
//   M_kk = S_k'Ic S_k + rotor,  M_lk = S_l' (X' ... X') Ic S_k  for every l towards the ground
#include "codegen/functions.h"
#include "codegen/motion.h"

typedef struct rigid {
    double m;
    val h[3], J[6];
} rigid;

// The ten numbers as an inertia, and back: rotations and shifts are those of articulated inertias.
static void to_art(lwi_codegen_graph *g, const rigid *b, lwi_art *M)
{
    lwi_zero(g, 6, M->p);
    lwi_zero(g, 9, M->B);
    for (int i = 0; i < 6; i++) M->A[i] = lit(g, i < 3 ? b->m : 0), M->C[i] = b->J[i];
    M->B[1] = b->h[2], M->B[2] = neg(g, b->h[1]);
    M->B[3] = neg(g, b->h[2]), M->B[5] = b->h[0];
    M->B[6] = b->h[1], M->B[7] = neg(g, b->h[0]);
}

// Shifts m, h, J from a frame with origin r and the same axes:
// J += 2 h.r 1 - h r' - r h' + m (r.r 1 - r r'), h += m r
static void shift(lwi_codegen_graph *g, rigid *b, const val r[3])
{
    val s[3]; // 2 h + m r: J += (s.r) 1 - sym(s r')
    for (int i = 0; i < 3; i++) s[i] = madd(g, add(g, b->h[i], b->h[i]), lit(g, b->m), r[i]);
    val sr[3];
    for (int i = 0; i < 3; i++) sr[i] = mul(g, s[i], r[i]);
    b->J[0] = add(g, b->J[0], add(g, sr[1], sr[2]));
    b->J[1] = add(g, b->J[1], add(g, sr[0], sr[2]));
    b->J[2] = add(g, b->J[2], add(g, sr[0], sr[1]));
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 3; k++) { // h_i r_j + r_i h_j + m r_i r_j
        const int i = pair[k][0], j = pair[k][1];
        const val x = madd(g, b->h[i], lit(g, b->m), r[i]);
        b->J[3 + k] = sub(g, b->J[3 + k], madd(g, mul(g, x, r[j]), b->h[j], r[i]));
    }
    for (int i = 0; i < 3; i++) b->h[i] = madd(g, b->h[i], lit(g, b->m), r[i]);
}

static void turn(lwi_codegen_graph *g, rigid *b, const lwi_turn *t)
{
    lwi_art M;
    lwi_zero(g, 6, M.A);
    lwi_zero(g, 9, M.B);
    lwi_zero(g, 6, M.p);
    for (int i = 0; i < 6; i++) M.C[i] = b->J[i];
    lwi_art_turn(g, t, &M);
    for (int i = 0; i < 6; i++) b->J[i] = M.C[i];
    lwi_turn_out(g, t, b->h);
}

// J := R J R', h := R h
static void rotate(lwi_codegen_graph *g, rigid *b, const val R[9])
{
    lwi_art M;
    lwi_zero(g, 6, M.p);
    lwi_zero(g, 9, M.B);
    lwi_zero(g, 6, M.C);
    for (int i = 0; i < 6; i++) M.A[i] = b->J[i];
    lwi_art_rotate(g, R, &M);
    for (int i = 0; i < 6; i++) b->J[i] = M.A[i];
    lwi_rotate(g, b->h, R, b->h);
}

// Transforms the composite body of i to its parent's frame and adds it there.
static void pass_inward(const lwi_codegen_motion *m, int i, rigid *all)
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    const lwi_body_values *b = &m->body[i];
    rigid c = all[i];
    if (e->kind == LWI_K_HINGE || e->kind == LWI_K_SCREW) {
        const val d[3] = {lit(g, 0), lit(g, 0), b->d};
        const val r[3] = {lit(g, e->a), lit(g, e->b), lit(g, e->delta)};
        turn(g, &c, &b->theta);
        shift(g, &c, d);
        turn(g, &c, &b->alpha);
        shift(g, &c, r);
        turn(g, &c, &b->phi);
    } else {
        rotate(g, &c, b->R);
        shift(g, &c, b->r);
    }
    rigid *parent = &all[e->parent];
    parent->m += c.m;
    lwi_add(g, 3, parent->h, c.h);
    lwi_add(g, 6, parent->J, c.J);
}

static void output(lwi_codegen_graph *g, const lwi_elements *elements, int M, int row, int column,
                   val x)
{
    const int n = elements->model->tree_nv;
    lwi_codegen_graph_output(g, M, row * n + column, x);
    if (row != column) lwi_codegen_graph_output(g, M, column * n + row, x);
}

// The column of one speed of body i: the momentum of its composite body, transformed inward.
static void column(const lwi_codegen_motion *m, int i, int j, int M, const rigid *all)
{
    lwi_codegen_graph *g = m->graph;
    const lwi_elements *elements = m->elements;
    const lwi_element *e = &elements->list[i];
    lwi_art I;
    val F[6], S[6];
    to_art(g, &all[i], &I);
    lwi_codegen_motion_subspace(g, e, j, S);
    lwi_art_apply(g, F, &I, S);
    for (int k = 0; k <= j; k++) {
        lwi_codegen_motion_subspace(g, e, k, S);
        const val own = lwi_codegen_dot(g, 6, S, F);
        output(g, elements, M, e->iv + k, e->iv + j, k == j ? add(g, own, lit(g, e->rotor)) : own);
    }
    for (int l = i; elements->list[l].parent >= 0;) {
        lwi_codegen_wrench_to_parent(m, l, F);
        l = elements->list[l].parent;
        for (int k = 0; k < lwi_element_speeds(&elements->list[l]); k++) {
            lwi_codegen_motion_subspace(g, &elements->list[l], k, S);
            output(g, elements, M, elements->list[l].iv + k, e->iv + j,
                   lwi_codegen_dot(g, 6, S, F));
        }
    }
}

static bool related(const lwi_elements *elements, int i, int k)
{
    while (i > k) i = elements->list[i].parent;
    return i == k;
}

// Entries of bodies on different branches are zero.
static void zeros(lwi_codegen_graph *g, const lwi_elements *elements, int M)
{
    for (int i = 0; i < elements->n; i++)
        for (int k = 0; k < i; k++) {
            const lwi_element *a = &elements->list[i], *b = &elements->list[k];
            if (related(elements, i, k)) continue;
            for (int x = 0; x < lwi_element_speeds(a); x++)
                for (int y = 0; y < lwi_element_speeds(b); y++)
                    output(g, elements, M, a->iv + x, b->iv + y, lit(g, 0));
        }
}

lw_status lwi_generate_mass_matrix(lwi_codegen_graph *g, const lwi_elements *elements,
                                   lwi_arena *arena, lw_error *error)
{
    (void)error;
    lwi_codegen_motion m;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, 0, arena, &walk));
    const int M = lwi_codegen_graph_result(g, "M");
    rigid *all = LWI_PUSH(arena, rigid, elements->n);
    if (!all) return LW_ERR_MEMORY;
    TRY(lwi_codegen_motion_create(&walk, arena, &m));
    lwi_codegen_motion_pose(&m);
    for (int i = 0; i < elements->n; i++) {
        all[i].m = elements->list[i].m;
        lwi_literals(g, 3, all[i].h, elements->list[i].h);
        lwi_literals(g, 6, all[i].J, elements->list[i].J);
    }
    for (int i = elements->n - 1; i >= 0; i--)
        if (elements->list[i].parent >= 0) pass_inward(&m, i, all);
    for (int i = 0; i < elements->n; i++)
        for (int j = 0; j < lwi_element_speeds(&elements->list[i]); j++) column(&m, i, j, M, all);
    zeros(g, elements, M);
    return LW_OK;
}

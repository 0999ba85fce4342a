// hinges.c -- the articulated-body recursion at hinges, three components of a vector side by side.
//
// Compiled once per ISA build (base/cpu.h).  Defines lwi_hinge_kernels_<ISA>.
//
// Problem: the sweeps of aba.c at nodes with S = (0, 0, 0, 0, 0, s), s = 1 or -1.  M S is a column of M, the pivot S'M S a
// number on its diagonal; both are read and not computed.  The other operations are those of articulated.c, aba.c and
// inertia.h, one by one and none fused: the same bits.
// Cost: some 600 instructions per node.
#include "tree/simd/hinges.h"

#include "base/simd/sums.h"

#include <float.h>

#define TABLE_2(isa) lwi_hinge_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_hinge_kernels TABLE(ISA);

#if WIDEST > 1

#include "spatial/rows.inl"

typedef struct inertia {
    row A[3], B[3], C[3];
} inertia;

typedef struct spatial {
    row lin, ang;
} spatial;

static INLINE inertia load_inertia(const lwi_inertia *M)
{
    inertia I;
    load_symmetric(M->A, I.A);
    load_rows(M->B, I.B);
    load_symmetric(M->C, I.C);
    return I;
}

static INLINE spatial load_spatial(const double *x)
{
    return (spatial){load_four(x), load_three(x + 3)};
}
static INLINE void store_spatial(double *x, spatial a)
{
    store_four(x, a.lin);
    store_three(x + 3, a.ang);
}

// inertia_apply
static INLINE spatial apply(const inertia *I, spatial V)
{
    row BT[3];
    row_transpose(I->B, BT);
    return (spatial){combine(I->A, V.lin) + combine(BT, V.ang),
                     combine(I->C, V.ang) + combine(I->B, V.lin)};
}

// inertia_reduce
static INLINE void reduce(inertia *I, spatial y)
{
    const row v[3] = {EACH(y.lin, 0), EACH(y.lin, 1), EACH(y.lin, 2)};
    const row w[3] = {EACH(y.ang, 0), EACH(y.ang, 1), EACH(y.ang, 2)};
    for (int i = 0; i < 3; i++) {
        I->A[i] -= v[i] * y.lin;
        I->B[i] -= v[i] * y.ang;
        I->C[i] -= w[i] * y.ang;
    }
}

// r x M, column by column
static INLINE void cross_rows(const double *r, const row M[3], row to[3])
{
    const row x = all(r[0]), y = all(r[1]), z = all(r[2]);
    to[0] = y * M[2] - z * M[1];
    to[1] = z * M[0] - x * M[2];
    to[2] = x * M[1] - y * M[0];
}

// The numbers [6] of a symmetric matrix with T[j][i], i <= j, added to J.
static INLINE void add_symmetric(double *J, row T0, row T1, row T2)
{
    typedef double pair __attribute__((vector_size(16)));
    typedef double stored_pair __attribute__((vector_size(16), aligned(8), may_alias));
    const row diagonal = __builtin_shufflevector(T0, T1, 0, 5, 4, 4);
    store_four(J, load_four(J) + __builtin_shufflevector(diagonal, T2, 0, 1, 6, 2));
    *(stored_pair *)(J + 4) += (stored_pair)(pair)_mm256_castpd256_pd128((__m256d)T2);
}

// inertia_add_from.  Products with R' have the columns as rows.
static INLINE void give_inertia(lwi_inertia *to, const lwi_link *link, const inertia *I)
{
    const double *R = link->R, *r = link->r;
    row K[3], KT[3], T[3], AR[3], B[3], C[3], rK[3], mirrored[3];
    for (int i = 0; i < 3; i++) K[i] = product(R, i, I->A);
    row_transpose(K, KT);
    for (int i = 0; i < 3; i++) T[i] = product(R, i, KT);
    add_symmetric(to->A, T[0], T[1], T[2]);
    AR[0] =
        __builtin_shufflevector(__builtin_shufflevector(T[0], T[1], 0, 4, 2, 6), T[2], 0, 1, 4, 5);
    AR[1] = __builtin_shufflevector(T[1], PICK(T[2], 1, 1, 1), 0, 1, 4, 5);
    AR[2] = T[2];

    for (int i = 0; i < 3; i++) K[i] = product(R, i, I->B);
    row_transpose(K, KT);
    for (int i = 0; i < 3; i++) T[i] = product(R, i, KT);
    row_transpose(T, B);
    cross_rows(r, AR, K);
    row_transpose(K, KT);
    load_rows(to->B, K);
    for (int i = 0; i < 3; i++) {
        const row b = B[i] + KT[i];
        AR[i] = B[i] + b;
        K[i] += b;
    }
    store_rows(to->B, K);

    for (int i = 0; i < 3; i++) K[i] = product(R, i, I->C);
    row_transpose(K, KT);
    for (int i = 0; i < 3; i++) C[i] = product(R, i, KT);
    cross_rows(r, AR, rK);
    row_transpose(rK, mirrored);
    for (int i = 0; i < 3; i++) C[i] += all(0.5) * (rK[i] + mirrored[i]);
    add_symmetric(to->C, C[0], C[1], C[2]);
}

static INLINE bool is_hinge(const lwi_node *node)
{
    return node->type->id == LW_JOINT_REVOLUTE && !node->driven;
}

// force_add_from
static INLINE void give_force(double *to, const lwi_link *link, spatial f)
{
    row R[3], RT[3];
    spatial sum = load_spatial(to);
    load_rows(link->R, R);
    row_transpose(R, RT);
    const row lin = combine(RT, f.lin);
    sum.lin += lin;
    sum.ang += combine(RT, f.ang) + row_cross(load_four(link->r), lin);
    store_spatial(to, sum);
}

static INLINE double dot6(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static int inward(const lwi_aba_sweep *of, int k, int first)
{
    for (; k >= first; k--) {
        const lwi_node *node = &of->model->node[k];
        const lwi_link *link = &of->work->link[k];
        lwi_articulated *a = &of->node[k];
        const double *B = a->M.B;
        double *size = of->work->size[k];
        if (!is_hinge(node)) return k;
        const double s = link->S[0][5];
        inertia I = load_inertia(&a->M);
        const row signs = all(s);
        // + 0: as the sums of products with zeros
        const spatial U = {signs * (row){B[2], B[5], B[8], 0} + 0, signs * I.C[2] + 0};
        const double rotor = of->model->tree_rotor[node->iv];
        const double pivot = s * (s * a->M.C[2] + 0) + rotor;
        // the bound of lwi_tree_factor
        const double bound =
            (a->M.A[0] + a->M.A[1] + a->M.A[2]) * 0 + (a->M.C[0] + a->M.C[1] + a->M.C[2]);
        if (!(pivot > LWI_PIVOT_UNKNOWN * bound) || !(pivot > 0) || !(pivot <= DBL_MAX)) return k;
        const double inverse = 1 / sqrt(pivot);
        memcpy(size, a->M.A, 3 * sizeof *size);
        memcpy(size + 3, a->M.C, 3 * sizeof *size);
        store_spatial(a->U[0], U);
        a->L[0][0] = inverse;
        const double effort = of->work->effort[node->iv] + (of->tau ? of->tau[node->iv] : 0);
        a->b[0] = effort - dot6(link->S[0], a->p) - dot6(a->U[0], a->c);
        if (node->parent < 0 || k == first) continue;
        const row scale = all(inverse);
        const spatial Y = {scale * U.lin, scale * U.ang}, c = load_spatial(a->c);
        spatial p = apply(&I, c);
        const spatial own = load_spatial(a->p);
        const row b = all(inverse * a->b[0]);
        p.lin = p.lin + own.lin + b * Y.lin, p.ang = p.ang + own.ang + b * Y.ang;
        reduce(&I, Y);
        give_inertia(&of->node[node->parent].M, link, &I);
        give_force(of->node[node->parent].p, link, p);
    }
    return k;
}

static int outward(const lwi_aba_sweep *of, int k, int end)
{
    const double *g = of->model->gravity;
    const spatial base = {{-g[0], -g[1], -g[2], 0}, all(0)};
    for (; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        const lwi_link *link = &of->work->link[k];
        const lwi_articulated *a = &of->node[k];
        double *to = of->work->A[k];
        row R[3];
        if (!is_hinge(node)) return k;
        spatial A = node->parent < 0 ? base : load_spatial(of->work->A[node->parent]);
        load_rows(link->R, R);
        row_motion_to(R, load_four(link->r), &A.lin, &A.ang);
        store_spatial(to, A);
        const double s = (a->b[0] - dot6(a->U[0], to)) * a->L[0][0] * a->L[0][0];
        const spatial c = load_spatial(a->c);
        of->vdot[node->iv] = s;
        A.lin = A.lin + c.lin + all(s) * load_four(link->S[0]);
        A.ang = A.ang + c.ang + all(s) * load_four(link->S[0] + 3);
        store_spatial(to, A);
    }
    return k;
}

// As start_node of aba.c, with the short way of lwi_tree_bias.
static int start(const lwi_aba_sweep *of, int k, int end)
{
    for (; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        lwi_articulated *a = &of->node[k];
        const double *V = of->work->V[k];
        const double *h = node->h;
        row J[3];
        if (!is_hinge(node)) return k;
        const double turn = of->v[node->iv] * of->work->link[k].S[0][5];
        inertia_rigid(&a->M, node->mass, h, node->J);
        load_symmetric(node->J, J);
        const spatial v = load_spatial(V), wrench = load_spatial(of->work->wrench[k]);
        const row first = load_four(h);
        const spatial P = {row_cross(v.ang, first) + all(node->mass) * v.lin,
                           combine(J, v.ang) + row_cross(first, v.lin)};
        const row n = row_cross(v.ang, P.ang) + row_cross(v.lin, P.lin);
        store_spatial(a->p, (spatial){row_cross(v.ang, P.lin) - wrench.lin, n - wrench.ang});
        v3_set(a->c, V[1] * turn, -(V[0] * turn), 0);
        v3_set(a->c + 3, V[4] * turn, -(V[3] * turn), 0);
    }
    return k;
}

const lwi_hinge_kernels TABLE(ISA) = {start, inward, outward};

#else

const lwi_hinge_kernels TABLE(ISA) = {NULL, NULL, NULL};

#endif

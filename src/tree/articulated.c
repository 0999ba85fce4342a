// articulated.c -- the steps of the articulated-body recursion at one node; equations: articulated.h.
#include "tree/articulated.h"

#include "base/assert.h"

// [anderson2003, (19)]
lw_status lwi_articulated_factor(const lw_model *model, const lwi_tree_work *work,
                                 lwi_articulated *node, int k, double t, const double *rotor,
                                 lw_error *error)
{
    const lwi_node *own = &model->node[k];
    lwi_link *link = &work->link[k];
    lwi_articulated *a = &node[k];
    LWI_ASSERT(own->nv >= 0 && own->nv <= 6);
    for (int j = 0; j < own->nv; j++) inertia_apply(a->U[j], &a->M, link->S[j]);
    return lwi_tree_factor(model, work, k, t, &a->M, a->U, rotor, a->L, error);
}

// [anderson2003, (14), (18)]
void lwi_articulated_give(const lw_model *model, const lwi_tree_work *work, lwi_articulated *node,
                          int k, double (*Y)[6])
{
    const lwi_node *own = &model->node[k];
    const lwi_link *link = &work->link[k];
    lwi_articulated *a = &node[k];
    LWI_ASSERT(own->parent < k);
    if (own->parent < 0) return;
    lwi_inertia reduced = a->M;
    articulated_reduce(own->nv, a->L, a->U, &reduced, Y);
    inertia_add_from(&node[own->parent].M, link->R, link->r, &reduced);
}

// The function for a number of speeds, with fixed loop lengths for the frequent ones.
#define OF_SPEEDS(nv, variant)                                                                     \
    switch (nv) {                                                                                  \
    case 1:                                                                                        \
        variant(1);                                                                                \
        break;                                                                                     \
    case 2:                                                                                        \
        variant(2);                                                                                \
        break;                                                                                     \
    case 3:                                                                                        \
        variant(3);                                                                                \
        break;                                                                                     \
    default:                                                                                       \
        variant(nv);                                                                               \
        break;                                                                                     \
    }
#define INLINED static inline __attribute__((always_inline))

INLINED void inward(int nv, const lwi_node *node, const lwi_link *link, lwi_articulated *a,
                    const double *tau, double f[6], double *e)
{
    double z[6];
    for (int j = 0; j < nv; j++) {
        const double along = v6_dot(link->S[j], f);
        z[j] = tau ? tau[j] + along : along;
    }
    cholesky6_forward(a->L, nv, z);
    for (int j = 0; j < nv; j++) e[j] = z[j];
    if (node->parent < 0) return;
    cholesky6_backward(a->L, nv, z);
    for (int j = 0; j < nv; j++) v6_axpy(f, -z[j], a->U[j]);
}

void lwi_articulated_inward(const lwi_node *node, const lwi_link *link, lwi_articulated *a,
                            const double *tau, double f[6], double *e)
{
    LWI_ASSERT(node->nv <= 6);
#define INWARD(nv) inward(nv, node, link, a, tau, f, e)
    OF_SPEEDS(node->nv, INWARD)
#undef INWARD
}

INLINED void outward(int nv, const lwi_link *link, lwi_articulated *a, const double *b,
                     const double *c, const double *y, double A[6], double *s)
{
    for (int j = 0; j < nv; j++) {
        const double taken = v6_dot(a->U[j], A);
        s[j] = b ? b[j] - taken : -taken;
    }
    cholesky6_forward(a->L, nv, s);
    for (int j = 0; y && j < nv; j++) s[j] += y[j];
    cholesky6_backward(a->L, nv, s);
    if (c) v6_add(A, A, c);
    for (int j = 0; j < nv; j++) v6_axpy(A, s[j], link->S[j]);
}

void lwi_articulated_outward(const lwi_node *node, const lwi_link *link, lwi_articulated *a,
                             const double *b, const double *c, const double *y, double A[6],
                             double *s)
{
    LWI_ASSERT(node->nv <= 6);
#define OUTWARD(nv) outward(nv, link, a, b, c, y, A, s)
    OF_SPEEDS(node->nv, OUTWARD)
#undef OUTWARD
}

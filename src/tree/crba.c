// crba.c -- joint-space mass matrix by composite bodies                          [featherstone2008]
//
//     Mc = M + sum over children X' Mc X       inertia of the subtree with its joints locked
//     M_kk = S_k' Mc_k S_k + rotors,  M_lk = S_l' (X' ... X') Mc_k S_k for every ancestor l of k
//
// Input: positions of the links.  Output: M, symmetric, [tree_nv][tree_nv].  Cost: O(n depth).
#include "tree/crba.h"

#include "base/assert.h"

void lwi_crba(const lw_model *model, const lwi_link *link, lwi_inertia *composite, double *M)
{
    const size_t n = (size_t)model->tree_nv;
    memset(M, 0, n * n * sizeof *M);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        inertia_rigid(&composite[k], node->mass, node->h, node->J);
    }
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        if (node->parent >= 0)
            inertia_add_from(&composite[node->parent], link[k].R, link[k].r, &composite[k]);
        for (int j = 0; j < node->nv; j++) {
            const size_t column = (size_t)(node->iv + j);
            LWI_ASSERT(column < n);
            double F[6], G[6];
            inertia_apply(F, &composite[k], link[k].S[j]);
            for (int i = 0; i <= j; i++) {
                const size_t row = (size_t)(node->iv + i);
                M[row * n + column] = M[column * n + row] = v6_dot(link[k].S[i], F);
            }
            M[column * n + column] += model->tree_rotor[column];
            // momentum of the composite body, projected on the joints of its ancestors
            for (int l = k; model->node[l].parent >= 0;) {
                force_from(G, link[l].R, link[l].r, F);
                v6_copy(F, G);
                l = model->node[l].parent;
                LWI_ASSERT_INDEX(l, k);
                for (int i = 0; i < model->node[l].nv; i++) {
                    const size_t row = (size_t)(model->node[l].iv + i);
                    M[row * n + column] = M[column * n + row] = v6_dot(link[l].S[i], F);
                }
            }
        }
    }
}

// factor.c -- L D L' of values; no square roots.
#include "codegen/factor.h"

bool lwi_factorise(lwi_codegen_graph *g, int n, val D[6][6], lwi_factor *f)
{
    val U[6][6]; // U_ij = (L diag)_ij, i >= j
    f->n = n;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            U[i][j] = D[i][j];
            for (int k = 0; k < j; k++) U[i][j] = msub(g, U[i][j], f->L[i][k], U[j][k]);
        }
        double pivot;
        if (lwi_codegen_graph_known(g, U[j][j], &pivot) && !(pivot > 0)) return false;
        f->inverse[j] = inverse(g, U[j][j]);
        for (int i = j + 1; i < n; i++) f->L[i][j] = mul(g, U[i][j], f->inverse[j]);
    }
    return true;
}

void lwi_factor_forward(lwi_codegen_graph *g, const lwi_factor *f, val *x)
{
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < i; k++) x[i] = msub(g, x[i], f->L[i][k], x[k]);
}

void lwi_factor_backward(lwi_codegen_graph *g, const lwi_factor *f, val *x)
{
    for (int i = f->n - 1; i >= 0; i--)
        for (int k = i + 1; k < f->n; k++) x[i] = msub(g, x[i], f->L[k][i], x[k]);
}

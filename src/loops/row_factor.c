// row_factor.c -- rows of cut joints in lanes: their wrenches on the bodies, and multipliers.  Equations: row_factor.h.
#include "loops/row_factor.h"

#include "base/assert.h"
#include "base/cpu.h"

#include <string.h>

LWI_ISA_BUILDS(lwi_row_kernels, lwi_row_kernels);

const lwi_row_kernels *lwi_row_kernels_of(int isa)
{
    return builds[isa];
}

lw_status lwi_row_factor_create(const lwi_cut *cut, lwi_arena *arena, lwi_row_factor *rows)
{
    const int n = cut->n, m = cut->m, nblock = (m + LWI_LANES - 1) / LWI_LANES;
    const int isa = lwi_isa_of(0);
    *rows = (lwi_row_factor){
        .kernels = builds[isa < 0 ? LWI_ISA_SCALAR : isa], // always built: Kernels.cmake
        .n = n,
        .m = m,
        .nblock = nblock};
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(rows->E, (size_t)n * (size_t)nblock);
    GET(rows->R, (size_t)m * (size_t)nblock);
    GET(rows->D, nblock);
    GET(rows->c, nblock);
    GET(rows->h, nblock);
    GET(rows->column, n);
    GET(rows->f, cut->model->nnode);
    GET(rows->reached, cut->model->nnode);
#undef GET
    return LW_OK;
}

// The wrench J' of a row of length one on body number s of a closure, in a lane.
static void add_wrench(lwi_row_factor *rows, const lwi_cut *cut, const lwi_tree_work *tree,
                       const lwi_closure *c, int s, int r, int row)
{
    const int k = cut->model->body_node[c->body[s]], l = row % LWI_LANES;
    const double unit = 1 / cut->len[row], *R = tree->R[k];
    double g[6];
    if (!rows->reached[k]) memset(rows->f[k], 0, sizeof rows->f[k]);
    rows->reached[k] = true;
    m3_tmul_v(g, R, c->J[s][r]);
    m3_tmul_v(g + 3, R, c->J[s][r] + 3);
    v3_cross_add(g + 3, cut->model->node[k].c_r, g);
    for (int i = 0; i < 6; i++) rows->f[k][i][l] += unit * g[i];
}

double lwi_row_factor_place(lwi_row_factor *rows, const lwi_cut *cut, const lwi_tree_work *tree,
                            const lwi_articulated *node)
{
    const lw_model *model = cut->model;
    int top = -1;
    LWI_ASSERT(rows->n == cut->n && rows->m == cut->m && cut->nrotor == 0);
    memset(rows->E, 0, (size_t)rows->n * (size_t)rows->nblock * sizeof *rows->E);
    for (int i = 0, row = 0; i < cut->count; i++) {
        const lwi_closure *c = &cut->closure[i];
        for (int r = 0; r < c->n; r++, row++) {
            for (int s = 0; s < c->nbody; s++) {
                add_wrench(rows, cut, tree, c, s, r, row);
                if (model->body_node[c->body[s]] > top) top = model->body_node[c->body[s]];
            }
            if (row % LWI_LANES < LWI_LANES - 1 && row < rows->m - 1) continue;
            rows->kernels->inward(model, tree->link, node, rows, top, row / LWI_LANES);
            top = -1;
        }
    }
    return rows->kernels->factor(rows);
}

void lwi_row_factor_nearest(const lwi_row_factor *rows, const double *c, double *y)
{
    memset(rows->c, 0, (size_t)rows->nblock * sizeof *rows->c);
    memcpy(rows->c, c, (size_t)rows->m * sizeof *c);
    rows->kernels->nearest(rows, y);
}

void lwi_row_factor_multipliers(const lwi_row_factor *rows, double *lambda)
{
    const double *h = (const double *)rows->h;
    const size_t stride = (size_t)rows->nblock * LWI_LANES;
    for (int i = rows->m - 1; i >= 0; i--) { // R lambda = -h
        const double *R = (const double *)rows->R + (size_t)i * stride;
        double sum = -h[i];
        for (int j = i + 1; j < rows->m; j++) sum -= R[j] * lambda[j];
        lambda[i] = sum;
    }
}

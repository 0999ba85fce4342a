// row_factor.c -- the inward sweep of eight rows, and their decomposition, for one instruction set.
//
// Equations, input, output and cost: loops/row_factor.h.  Compiled once per ISA build (base/cpu.h); eight numbers side by
// side are the compiler's vectors, for any width of the machine.  Defines lwi_row_kernels_<ISA>.
#include "loops/row_factor.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// about functions that pass vectors: all of them are inlined
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINED static inline __attribute__((always_inline))

typedef double row8 __attribute__((vector_size(64), may_alias));
typedef double row4 __attribute__((vector_size(32), may_alias));
typedef double row2 __attribute__((vector_size(16), may_alias));

INLINED double total(const row8 *x)
{
    row4 a, b;
    row2 c, d;
    memcpy(&a, x, sizeof a);
    memcpy(&b, (const char *)x + sizeof a, sizeof b);
    a += b;
    memcpy(&c, &a, sizeof c);
    memcpy(&d, (const char *)&a + sizeof c, sizeof d);
    c += d;
    return c[0] + c[1];
}

// ------------------------------------------------------------------------------------------ inward

INLINED row8 dot3(const double *a, const row8 *x)
{
    return a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
}

// e = L^-1 S'f of a node, and f - U L'^-1 e in its parent's frame.                  [anderson2003, (16)-(18)]
INLINED void pass(int nv, const lwi_link *link, const lwi_articulated *a, row8 *f, row8 *g, row8 *E,
                  size_t stride)
{
    row8 z[6];
    for (int i = 0; i < nv; i++) {
        z[i] = dot3(link->S[i], f) + dot3(link->S[i] + 3, f + 3);
        for (int k = 0; k < i; k++) z[i] -= a->L[i][k] * z[k];
        z[i] *= a->L[i][i];
        E[(size_t)i * stride] = z[i];
    }
    if (!g) return;
    for (int i = nv - 1; i >= 0; i--) {
        for (int k = i + 1; k < nv; k++) z[i] -= a->L[k][i] * z[k];
        z[i] *= a->L[i][i];
        for (int j = 0; j < 6; j++) f[j] -= z[i] * a->U[i][j];
    }
    const double *R = link->R, *r = link->r;
    for (int i = 0; i < 3; i++) g[i] = dot3(R + 3 * i, f), g[3 + i] = dot3(R + 3 * i, f + 3);
    g[3] += r[1] * g[2] - r[2] * g[1];
    g[4] += r[2] * g[0] - r[0] * g[2];
    g[5] += r[0] * g[1] - r[1] * g[0];
}

static void inward(const lw_model *model, const lwi_link *link, const lwi_articulated *node,
                   const lwi_row_factor *rows, int top, int block)
{
    const size_t stride = (size_t)rows->nblock;
    for (int k = top; k >= 0; k--) {
        const lwi_node *at = &model->node[k];
        const int p = at->parent;
        row8 f[6], g[6], *E = (row8 *)rows->E + (size_t)at->iv * stride + block;
        if (!rows->reached[k]) continue;
        LWI_ASSERT(p < k && at->iv + at->nv <= rows->n);
        rows->reached[k] = false;
        for (int i = 0; i < 6; i++) f[i] = *(const row8 *)rows->f[k][i];
        switch (at->nv) { // fixed loop lengths
#define CASE(nv)                                                                                   \
    case nv:                                                                                       \
        pass(nv, &link[k], &node[k], f, p < 0 ? NULL : g, E, stride);                              \
        break
            CASE(1);
            CASE(2);
            CASE(3);
#undef CASE
        default:
            pass(at->nv, &link[k], &node[k], f, p < 0 ? NULL : g, E, stride);
            break;
        }
        if (p < 0) continue;
        row8 *up = (row8 *)rows->f[p];
        for (int i = 0; i < 6; i++) {
            if (rows->reached[p]) g[i] += up[i];
            up[i] = g[i];
        }
        rows->reached[p] = true;
    }
}

// ---------------------------------------------------------------------------------- decomposition

// E'a over the rows of block b, in two partial sums.
INLINED row8 products(const lwi_row_factor *rows, const double *a, int b)
{
    const size_t stride = (size_t)rows->nblock;
    const row8 *E = (const row8 *)rows->E + b;
    row8 first = {0}, second = {0};
    int i = 0;
    for (; i + 1 < rows->n; i += 2) {
        first += a[i] * E[(size_t)i * stride];
        second += a[i + 1] * E[(size_t)(i + 1) * stride];
    }
    if (i < rows->n) first += a[i] * E[(size_t)i * stride];
    return first + second;
}

static double factor(const lwi_row_factor *rows)
{
    const int n = rows->n, nblock = rows->nblock;
    const size_t stride = (size_t)nblock;
    double smallest = INFINITY, largest = 0, *a = rows->column;
    for (int k = 0; k < rows->m; k++) {
        const int own = k / LWI_LANES, lane = k % LWI_LANES;
        lwi_lanes *R = rows->R + (size_t)k * stride;
        for (int i = 0; i < n; i++) a[i] = rows->E[(size_t)i * stride + (size_t)own][lane];
        row8 g = products(rows, a, own);
        const double d = g[lane];
        if (!(d > 0) || !(d < INFINITY)) return 0;
        smallest = d < smallest ? d : smallest;
        largest = d > largest ? d : largest;
        const double inverse = 1 / d;
        rows->D[own][lane] = inverse;
        for (int b = own; b < nblock; b++) {
            row8 *E = (row8 *)rows->E + b;
            if (b > own) g = products(rows, a, b);
            g *= inverse;
            for (int l = 0; b == own && l <= lane; l++) g[l] = 0;
            *(row8 *)R[b] = g;
            for (int i = 0; i < n; i++) E[(size_t)i * stride] -= a[i] * g;
        }
    }
    return sqrt(smallest / largest);
}

static void nearest(const lwi_row_factor *rows, double *y)
{
    const int nblock = rows->nblock;
    const size_t stride = (size_t)nblock;
    for (int k = 0; k < rows->m; k++) { // c := R'^-1 c
        const double c = rows->c[k / LWI_LANES][k % LWI_LANES];
        const row8 *R = (const row8 *)rows->R + (size_t)k * stride;
        for (int b = k / LWI_LANES; b < nblock; b++) *(row8 *)rows->c[b] -= c * R[b];
    }
    for (int b = 0; b < nblock; b++) {
        row8 *h = (row8 *)rows->h[b];
        *h = *(const row8 *)rows->D[b] * (*(const row8 *)rows->c[b] - products(rows, y, b));
    }
    for (int i = 0; i < rows->n; i++) {
        const row8 *E = (const row8 *)rows->E + (size_t)i * stride;
        row8 sum = E[0] * *(const row8 *)rows->h[0];
        for (int b = 1; b < nblock; b++) sum += E[b] * *(const row8 *)rows->h[b];
        y[i] += total(&sum);
    }
}

#define TABLE_3(isa) lwi_row_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_row_kernels TABLE_2(ISA);
const lwi_row_kernels TABLE_2(ISA) = {.inward = inward, .factor = factor, .nearest = nearest};

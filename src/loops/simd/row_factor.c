// row_factor.c -- the inward sweep of eight rows, and their decomposition, for one instruction set.
//
// Equations, input, output and cost: loops/row_factor.h.  Compiled once per ISA build (base/cpu.h); eight numbers side by
// side are vectors of the machine's width, one after the other: gcc takes wider ones apart in memory.  Defines
// lwi_row_kernels_<ISA>.
#include "loops/row_factor.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#if defined __AVX512F__
#define WIDTH 8
#elif defined __AVX__
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define INLINED static inline __attribute__((always_inline))

typedef double vector __attribute__((vector_size(8 * WIDTH), may_alias));
typedef int64_t bits __attribute__((vector_size(8 * WIDTH), may_alias, aligned(8)));

// Lanes l ... of eight numbers.
INLINED vector *at(lwi_lanes *x, int l)
{
    return (vector *)((double *)x + l);
}

// Sum of eight numbers: halves, then quarters.
INLINED double total(const lwi_lanes *x)
{
    const double *a = *x;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

// ------------------------------------------------------------------------------------------ inward

INLINED vector dot3(const double *a, const vector *x)
{
    return a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
}

// e = L^-1 S'f of a node, and f - U L'^-1 e in its parent's frame, g.                [anderson2003, (16)-(18)]
INLINED void pass(int nv, const lwi_link *link, const lwi_articulated *a, vector *f, vector *g,
                  lwi_lanes *E, size_t stride, int l)
{
    vector z[6];
    for (int i = 0; i < nv; i++) {
        z[i] = dot3(link->S[i], f) + dot3(link->S[i] + 3, f + 3);
        for (int k = 0; k < i; k++) z[i] -= a->L[i][k] * z[k];
        z[i] *= a->L[i][i];
        *at(E + (size_t)i * stride, l) = z[i];
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

// A vector of the wrenches f of a node; `up`: those of its parent, NULL: the ground; `reached`: they are not zero.
INLINED void pass_on(int nv, const lwi_link *link, const lwi_articulated *a, lwi_lanes *of,
                     lwi_lanes *up, bool reached, lwi_lanes *E, size_t stride, int l)
{
    vector f[6], g[6];
    for (int i = 0; i < 6; i++) f[i] = *at(of + i, l);
    pass(nv, link, a, f, up ? g : NULL, E, stride, l);
    for (int i = 0; i < 6 && up; i++) {
        if (reached) g[i] += *at(up + i, l);
        *at(up + i, l) = g[i];
    }
}

static void inward(const lw_model *model, const lwi_link *link, const lwi_articulated *node,
                   const lwi_row_factor *rows, int top, int block)
{
    const size_t stride = (size_t)rows->nblock;
    for (int k = top; k >= 0; k--) {
        const lwi_node *here = &model->node[k];
        const int p = here->parent;
        lwi_lanes *E = rows->E + (size_t)here->iv * stride + block, *up = p < 0 ? NULL : rows->f[p];
        const bool reached = up && rows->reached[p];
        if (!rows->reached[k]) continue;
        LWI_ASSERT(p < k && here->iv + here->nv <= rows->n);
        rows->reached[k] = false;
        if (up) rows->reached[p] = true;
        for (int l = 0; l < LWI_LANES; l += WIDTH) {
            switch (here->nv) { // fixed loop lengths
#define CASE(nv)                                                                                   \
    case nv:                                                                                       \
        pass_on(nv, &link[k], &node[k], rows->f[k], up, reached, E, stride, l);                    \
        break
                CASE(1);
                CASE(2);
                CASE(3);
#undef CASE
            default:
                pass_on(here->nv, &link[k], &node[k], rows->f[k], up, reached, E, stride, l);
                break;
            }
        }
    }
}

// ---------------------------------------------------------------------------------- decomposition

// A vector of E'a over the rows of block b, in two partial sums.
INLINED vector products(const lwi_row_factor *rows, const double *a, int b, int l)
{
    const size_t stride = (size_t)rows->nblock;
    lwi_lanes *E = rows->E + b;
    vector first = {0}, second = {0};
    int i = 0;
    for (; i + 1 < rows->n; i += 2) {
        first += a[i] * *at(E + (size_t)i * stride, l);
        second += a[i + 1] * *at(E + (size_t)(i + 1) * stride, l);
    }
    if (i < rows->n) first += a[i] * *at(E + (size_t)i * stride, l);
    return first + second;
}

// Zero in lanes up to `lane`.
INLINED vector behind(vector x, int lane, int l)
{
    static const int64_t all[2 * LWI_LANES] = {0,  0,  0,  0,  0,  0,  0,  0,
                                               -1, -1, -1, -1, -1, -1, -1, -1};
    return (vector)((bits)x & *(const bits *)(all + LWI_LANES - 1 - lane + l));
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
        for (int l = 0; l < LWI_LANES; l += WIDTH) *at(R + own, l) = products(rows, a, own, l);
        const double d = R[own][lane];
        if (!(d > 0) || !(d < INFINITY)) return 0;
        smallest = d < smallest ? d : smallest;
        largest = d > largest ? d : largest;
        const double inverse = 1 / d;
        rows->D[own][lane] = inverse;
        for (int b = own; b < nblock; b++)
            for (int l = 0; l < LWI_LANES; l += WIDTH) {
                vector g = b > own ? products(rows, a, b, l) : *at(R + own, l);
                g *= inverse;
                if (b == own) g = behind(g, lane, l);
                *at(R + b, l) = g;
                for (int i = 0; i < n; i++) *at(rows->E + (size_t)i * stride + b, l) -= a[i] * g;
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
        lwi_lanes *R = rows->R + (size_t)k * stride;
        for (int b = k / LWI_LANES; b < nblock; b++)
            for (int l = 0; l < LWI_LANES; l += WIDTH) *at(rows->c + b, l) -= c * *at(R + b, l);
    }
    for (int b = 0; b < nblock; b++)
        for (int l = 0; l < LWI_LANES; l += WIDTH)
            *at(rows->h + b, l) =
                *at(rows->D + b, l) * (*at(rows->c + b, l) - products(rows, y, b, l));
    for (int i = 0; i < rows->n; i++) {
        _Alignas(64) lwi_lanes sum;
        lwi_lanes *E = rows->E + (size_t)i * stride;
        for (int l = 0; l < LWI_LANES; l += WIDTH) {
            vector x = *at(E, l) * *at(rows->h, l);
            for (int b = 1; b < nblock; b++) x += *at(E + b, l) * *at(rows->h + b, l);
            *at(&sum, l) = x;
        }
        y[i] += total(&sum);
    }
}

#define TABLE_3(isa) lwi_row_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_row_kernels TABLE_2(ISA);
const lwi_row_kernels TABLE_2(ISA) = {.inward = inward, .factor = factor, .nearest = nearest};

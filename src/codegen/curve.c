// curve.c -- curves through points as values: the piece is chosen by comparisons with the points.
//
// Each piece is a cubic c0 + h (c1 + h (c2 + h c3)) in h = x - x_i; beyond the ends are two more.
#include "codegen/curve.h"

#include <math.h>

typedef struct piece {
    double at, c[4];
} piece;

// Piece i between points i and i + 1.
static piece piece_of(const lwi_table *t, int i)
{
    const double *x = t->axis[0].x + i, *y = t->y + i, h = x[1] - x[0], chord = (y[1] - y[0]) / h;
    if (t->slope2) {
        const double *m = t->slope2 + i;
        return (piece){
            x[0], {y[0], chord - h * (2 * m[0] + m[1]) / 6, m[0] / 2, (m[1] - m[0]) / (6 * h)}};
    }
    if (!t->slope[0]) return (piece){x[0], {y[0], chord, 0, 0}};
    const double *d = t->slope[0] + i;
    return (piece){
        x[0], {y[0], d[0], (3 * chord - 2 * d[0] - d[1]) / h, (d[0] + d[1] - 2 * chord) / (h * h)}};
}

// Beyond an end: a straight line, the value there, or no number.
static piece piece_beyond(const lwi_table *t, bool last)
{
    const lwi_axis *a = &t->axis[0];
    const piece p = piece_of(t, last ? a->n - 2 : 0);
    const double h = last ? a->x[a->n - 1] - p.at : 0;
    const double slope = p.c[1] + h * (2 * p.c[2] + 3 * h * p.c[3]);
    piece end = {last ? a->x[a->n - 1] : a->x[0], {t->y[last ? a->n - 1 : 0], slope, 0, 0}};
    if (a->ends == LW_ENDS_CLAMPED) end.c[1] = 0;
    if (a->ends == LW_ENDS_ERROR) end.c[0] = NAN;
    return end;
}

// Number k of a piece (0: its place, then c), of -1 and n - 1 those beyond the ends.
static double number_of(const lwi_table *t, int i, int k)
{
    const int n = t->axis[0].n;
    const piece p = i < 0        ? piece_beyond(t, false)
                    : i >= n - 1 ? piece_beyond(t, true)
                                 : piece_of(t, i);
    return k == 0 ? p.at : p.c[k - 1];
}

// Where piece i ends.  That of the last one is still a point of a curve that ends in an error.
static double end_of(const lwi_axis *a, int i)
{
    const double x = a->x[i + 1];
    return i == a->n - 2 && a->ends == LW_ENDS_ERROR ? nextafter(x, INFINITY) : x;
}

// Number k of the piece at x, among pieces first to last.
static val chosen(lwi_codegen_graph *g, const lwi_table *t, val x, int first, int last, int k)
{
    if (first == last) return lit(g, number_of(t, first, k));
    const int middle = first + (last - first) / 2;
    const val left = sub(g, x, lit(g, end_of(&t->axis[0], middle)));
    return lwi_codegen_graph_select(g, left, chosen(g, t, x, first, middle, k),
                                    chosen(g, t, x, middle + 1, last, k));
}

val lwi_curve_of(lwi_codegen_graph *g, const lwi_table *t, val x)
{
    const lwi_axis *a = &t->axis[0];
    const bool periodic = a->ends == LW_ENDS_PERIODIC;
    if (periodic) {
        const double period = a->x[a->n - 1] - a->x[0];
        const val turns = mul(g, lit(g, 1 / period), sub(g, x, lit(g, a->x[0])));
        x = msub(g, x, lit(g, period), lwi_codegen_graph_op(g, LWI_OP_FLOOR, turns, turns));
    }
    const int first = periodic ? 0 : -1, last = periodic ? a->n - 2 : a->n - 1;
    const val h = sub(g, x, chosen(g, t, x, first, last, 0));
    val y = lit(g, 0);
    for (int k = 4; k > 0; k--) y = madd(g, chosen(g, t, x, first, last, k), h, y);
    return y;
}

// algebra.h -- values, vectors and inertias of a graph, written like numbers.
//
// The conventions are those of spatial/: linear part first, symmetric matrices xx yy zz xy xz yz.
// Results may be stored over operands.
#ifndef LWI_CODEGEN_ALGEBRA_H
#define LWI_CODEGEN_ALGEBRA_H

#include "codegen/graph.h"

typedef lwi_codegen_value val;

static inline val lit(lwi_codegen_graph *g, double x)
{
    return lwi_codegen_graph_literal(g, x);
}
static inline val add(lwi_codegen_graph *g, val a, val b)
{
    return lwi_codegen_graph_op(g, LWI_OP_ADD, a, b);
}
static inline val sub(lwi_codegen_graph *g, val a, val b)
{
    return lwi_codegen_graph_op(g, LWI_OP_SUB, a, b);
}
static inline val mul(lwi_codegen_graph *g, val a, val b)
{
    return lwi_codegen_graph_op(g, LWI_OP_MUL, a, b);
}
static inline val neg(lwi_codegen_graph *g, val a)
{
    return lwi_codegen_graph_op(g, LWI_OP_NEG, a, a);
}
// 1/a
static inline val inverse(lwi_codegen_graph *g, val a)
{
    return lwi_codegen_graph_op(g, LWI_OP_DIV, lit(g, 1), a);
}
// a + x y, a - x y
static inline val madd(lwi_codegen_graph *g, val a, val x, val y)
{
    return add(g, a, mul(g, x, y));
}
static inline val msub(lwi_codegen_graph *g, val a, val x, val y)
{
    return sub(g, a, mul(g, x, y));
}

// ----------------------------------------------------------------------------------------- vectors

void lwi_zero(lwi_codegen_graph *g, int n, val *a);
void lwi_literals(lwi_codegen_graph *g, int n, val *a, const double *x);
/** a += b */
void lwi_add(lwi_codegen_graph *g, int n, val *a, const val *b);
/** c = a - b */
void lwi_difference(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3]);
val lwi_codegen_dot(lwi_codegen_graph *g, int n, const val *a, const val *b);
/** The sum of values of several parts of the mechanism: a separate part, so that equal ones stay so (repeat.h). */
val lwi_codegen_sum(lwi_codegen_graph *g, int n, const val *a);
/** c = a x b */
void lwi_cross(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3]);
/** c += a x b */
void lwi_cross_add(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3]);
/** b = R a, b = R'a for a row-major R [9] */
void lwi_rotate(lwi_codegen_graph *g, val b[3], const val R[9], const val a[3]);
void lwi_rotate_back(lwi_codegen_graph *g, val b[3], const val R[9], const val a[3]);
/** C = A B */
void lwi_product(lwi_codegen_graph *g, val C[9], const val A[9], const val B[9]);
/** b = J a for a symmetric J [6] */
void lwi_symmetric(lwi_codegen_graph *g, val b[3], const val J[6], const val a[3]);
/** Rotation of a quaternion (w, x, y, z), evaluated at q/|q|. */
void lwi_quaternion(lwi_codegen_graph *g, val R[9], const val q[4]);

// --------------------------------------------------------------------------------------- rotations

/** A rotation about a coordinate axis: cosine, sine, and their products for symmetric blocks. */
typedef struct lwi_turn {
    val c, s, cs, ss, c2, s2;
    int x, y; ///< its two coordinates: 0 1 about z, 1 2 about x
} lwi_turn;

lwi_turn lwi_turn_z(lwi_codegen_graph *g, val c, val s);
lwi_turn lwi_turn_x(lwi_codegen_graph *g, val c, val s);
/** Transforms components from the rotated axes to the axes before the rotation; and back. */
void lwi_turn_out(lwi_codegen_graph *g, const lwi_turn *turn, val a[3]);
void lwi_turn_in(lwi_codegen_graph *g, const lwi_turn *turn, val a[3]);

// ---------------------------------------------------------------------------------------- inertias

/** Articulated inertia and bias wrench:  [f; n] = [A B; B' C] [a; al] + p. */
typedef struct lwi_art {
    val A[6], B[9], C[6], p[6];
} lwi_art;

/** Row and column i of the 6 x 6 matrix. */
val *lwi_art_at(lwi_art *M, int i, int j);
/** b = M a */
void lwi_art_apply(lwi_codegen_graph *g, val b[6], lwi_art *M, const val a[6]);
/** M += N */
void lwi_art_add(lwi_codegen_graph *g, lwi_art *M, const lwi_art *N);
/** The same inertia in the axes before a rotation. */
void lwi_art_turn(lwi_codegen_graph *g, const lwi_turn *turn, lwi_art *M);
/** The same for any rotation R. */
void lwi_art_rotate(lwi_codegen_graph *g, const val R[9], lwi_art *M);
/** Shifts an inertia to the point from which its origin is d along axis i: B = Bbar - A r~,
 *  C = Cbar + sym(r~ (Bbar + B)). */
void lwi_art_shift(lwi_codegen_graph *g, int i, val d, lwi_art *M);

#endif

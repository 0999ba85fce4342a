// algebra.c -- vectors, rotations and articulated inertias of values.
#include "codegen/algebra.h"

// ----------------------------------------------------------------------------------------- vectors

void lwi_zero(lwi_codegen_graph *g, int n, val *a)
{
    for (int i = 0; i < n; i++) a[i] = lit(g, 0);
}

void lwi_literals(lwi_codegen_graph *g, int n, val *a, const double *x)
{
    for (int i = 0; i < n; i++) a[i] = lit(g, x[i]);
}

void lwi_add(lwi_codegen_graph *g, int n, val *a, const val *b)
{
    for (int i = 0; i < n; i++) a[i] = add(g, a[i], b[i]);
}

void lwi_difference(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3])
{
    for (int i = 0; i < 3; i++) c[i] = sub(g, a[i], b[i]);
}

val lwi_codegen_dot(lwi_codegen_graph *g, int n, const val *a, const val *b)
{
    val sum = lit(g, 0);
    for (int i = 0; i < n; i++) sum = madd(g, sum, a[i], b[i]);
    return sum;
}

val lwi_codegen_sum(lwi_codegen_graph *g, int n, const val *a)
{
    val sum = lit(g, 0);
    lwi_codegen_graph_mark(g);
    for (int i = 0; i < n; i++) sum = add(g, sum, a[i]);
    return sum;
}

void lwi_cross(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3])
{
    const val x = msub(g, mul(g, a[1], b[2]), a[2], b[1]);
    const val y = msub(g, mul(g, a[2], b[0]), a[0], b[2]);
    const val z = msub(g, mul(g, a[0], b[1]), a[1], b[0]);
    c[0] = x, c[1] = y, c[2] = z;
}

void lwi_cross_add(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3])
{
    val d[3];
    lwi_cross(g, d, a, b);
    lwi_add(g, 3, c, d);
}

void lwi_rotate(lwi_codegen_graph *g, val b[3], const val R[9], const val a[3])
{
    const val c[3] = {a[0], a[1], a[2]};
    for (int i = 0; i < 3; i++) b[i] = lwi_codegen_dot(g, 3, R + 3 * i, c);
}

void lwi_rotate_back(lwi_codegen_graph *g, val b[3], const val R[9], const val a[3])
{
    const val c[3] = {a[0], a[1], a[2]};
    for (int i = 0; i < 3; i++) {
        const val column[3] = {R[i], R[3 + i], R[6 + i]};
        b[i] = lwi_codegen_dot(g, 3, column, c);
    }
}

void lwi_product(lwi_codegen_graph *g, val C[9], const val A[9], const val B[9])
{
    val D[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const val column[3] = {B[j], B[3 + j], B[6 + j]};
            D[3 * i + j] = lwi_codegen_dot(g, 3, A + 3 * i, column);
        }
    for (int i = 0; i < 9; i++) C[i] = D[i];
}

void lwi_symmetric(lwi_codegen_graph *g, val b[3], const val J[6], const val a[3])
{
    const val full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    lwi_rotate(g, b, full, a);
}

void lwi_quaternion(lwi_codegen_graph *g, val R[9], const val q[4])
{
    const val s = mul(g, lit(g, 2), inverse(g, lwi_codegen_dot(g, 4, q, q)));
    val sq[4], ww[3], d[3];
    for (int i = 0; i < 4; i++) sq[i] = mul(g, s, q[i]);
    for (int i = 0; i < 3; i++) d[i] = mul(g, sq[1 + i], q[1 + i]); // 2xx, 2yy, 2zz
    for (int i = 0; i < 3; i++) ww[i] = mul(g, sq[0], q[1 + i]);    // 2wx, 2wy, 2wz
    const val xy = mul(g, sq[1], q[2]), xz = mul(g, sq[1], q[3]), yz = mul(g, sq[2], q[3]);
    const val one = lit(g, 1);
    R[0] = sub(g, one, add(g, d[1], d[2]));
    R[4] = sub(g, one, add(g, d[0], d[2]));
    R[8] = sub(g, one, add(g, d[0], d[1]));
    R[1] = sub(g, xy, ww[2]), R[3] = add(g, xy, ww[2]);
    R[2] = add(g, xz, ww[1]), R[6] = sub(g, xz, ww[1]);
    R[5] = sub(g, yz, ww[0]), R[7] = add(g, yz, ww[0]);
}

// ----------------------------------------------------------------------------------------- rotations

static lwi_turn turn(lwi_codegen_graph *g, val c, val s, int x, int y)
{
    const val cs = mul(g, c, s), ss = mul(g, s, s);
    return (lwi_turn){.c = c,
                      .s = s,
                      .cs = cs,
                      .ss = ss,
                      .c2 = sub(g, lit(g, 1), add(g, ss, ss)),
                      .s2 = add(g, cs, cs),
                      .x = x,
                      .y = y};
}

lwi_turn lwi_turn_z(lwi_codegen_graph *g, val c, val s)
{
    return turn(g, c, s, 0, 1);
}

lwi_turn lwi_turn_x(lwi_codegen_graph *g, val c, val s)
{
    return turn(g, c, s, 1, 2);
}

// (x, y) := [c -s; s c] (x, y)
static void turn_pair(lwi_codegen_graph *g, const lwi_turn *t, val *x, val *y)
{
    const val x1 = msub(g, mul(g, t->c, *x), t->s, *y);
    *y = madd(g, mul(g, t->s, *x), t->c, *y);
    *x = x1;
}

void lwi_turn_out(lwi_codegen_graph *g, const lwi_turn *t, val a[3])
{
    turn_pair(g, t, &a[t->x], &a[t->y]);
}

void lwi_turn_in(lwi_codegen_graph *g, const lwi_turn *t, val a[3])
{
    lwi_turn back = *t;
    back.s = neg(g, t->s);
    turn_pair(g, &back, &a[t->x], &a[t->y]);
}

// [a b; b d] := R [a b; b d] R'
static void turn_symmetric(lwi_codegen_graph *g, const lwi_turn *t, val *a, val *b, val *d)
{
    const val e = sub(g, *a, *d), y = madd(g, mul(g, t->ss, e), t->s2, *b);
    *b = madd(g, mul(g, t->cs, e), t->c2, *b);
    *a = sub(g, *a, y);
    *d = add(g, *d, y);
}

// [a b; e d] := R [a b; e d] R'
static void turn_general(lwi_codegen_graph *g, const lwi_turn *t, val *a, val *b, val *e, val *d)
{
    const val u = sub(g, *a, *d), w = add(g, *b, *e);
    const val y = madd(g, mul(g, t->ss, u), t->cs, w);
    const val x = msub(g, mul(g, t->cs, u), t->ss, w);
    *a = sub(g, *a, y);
    *b = add(g, *b, x);
    *e = add(g, *e, x);
    *d = add(g, *d, y);
}

// ---------------------------------------------------------------------------------------- inertias

// index of the element of a symmetric 3 x 3 matrix
static int packed(int i, int j)
{
    return i == j ? i : i + j + 2;
}

val *lwi_art_at(lwi_art *M, int i, int j)
{
    if (i < 3 && j < 3) return &M->A[packed(i, j)];
    if (i >= 3 && j >= 3) return &M->C[packed(i - 3, j - 3)];
    return i < 3 ? &M->B[3 * i + j - 3] : &M->B[3 * j + i - 3];
}

void lwi_art_apply(lwi_codegen_graph *g, val b[6], lwi_art *M, const val a[6])
{
    val sum[6];
    for (int i = 0; i < 6; i++) {
        val row[6];
        for (int j = 0; j < 6; j++) row[j] = *lwi_art_at(M, i, j);
        sum[i] = lwi_codegen_dot(g, 6, row, a);
    }
    for (int i = 0; i < 6; i++) b[i] = sum[i];
}

void lwi_art_add(lwi_codegen_graph *g, lwi_art *M, const lwi_art *N)
{
    lwi_add(g, 6, M->A, N->A);
    lwi_add(g, 9, M->B, N->B);
    lwi_add(g, 6, M->C, N->C);
    lwi_add(g, 6, M->p, N->p);
}

void lwi_art_turn(lwi_codegen_graph *g, const lwi_turn *t, lwi_art *M)
{
    const int x = t->x, y = t->y, z = 3 - x - y;
    val *B = M->B;
    turn_symmetric(g, t, &M->A[x], &M->A[packed(x, y)], &M->A[y]);
    turn_pair(g, t, &M->A[packed(x, z)], &M->A[packed(y, z)]);
    turn_general(g, t, &B[3 * x + x], &B[3 * x + y], &B[3 * y + x], &B[3 * y + y]);
    turn_pair(g, t, &B[3 * z + x], &B[3 * z + y]);
    turn_pair(g, t, &B[3 * x + z], &B[3 * y + z]);
    turn_symmetric(g, t, &M->C[x], &M->C[packed(x, y)], &M->C[y]);
    turn_pair(g, t, &M->C[packed(x, z)], &M->C[packed(y, z)]);
    lwi_turn_out(g, t, M->p);
    lwi_turn_out(g, t, M->p + 3);
}

static void rotate_symmetric(lwi_codegen_graph *g, const val R[9], val A[6])
{
    const val full[9] = {A[0], A[3], A[4], A[3], A[1], A[5], A[4], A[5], A[2]};
    val RA[9];
    lwi_product(g, RA, R, full);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) A[packed(i, j)] = lwi_codegen_dot(g, 3, RA + 3 * i, R + 3 * j);
}

void lwi_art_rotate(lwi_codegen_graph *g, const val R[9], lwi_art *M)
{
    val RB[9];
    rotate_symmetric(g, R, M->A);
    rotate_symmetric(g, R, M->C);
    lwi_product(g, RB, R, M->B);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) M->B[3 * i + j] = lwi_codegen_dot(g, 3, RB + 3 * i, R + 3 * j);
    lwi_rotate(g, M->p, R, M->p);
    lwi_rotate(g, M->p + 3, R, M->p + 3);
}

// With x, y, z the axes from i on, cyclically, and r = d e_x: column y of B loses d A[., z],
// column z gains d A[., y]; the rest follows.
void lwi_art_shift(lwi_codegen_graph *g, int i, val d, lwi_art *M)
{
    const int x = i, y = (i + 1) % 3, z = (i + 2) % 3;
    val *B = M->B, *C = M->C, before[9];
    for (int k = 0; k < 9; k++) before[k] = B[k];
    for (int k = 0; k < 3; k++) {
        B[3 * k + y] = msub(g, B[3 * k + y], d, M->A[packed(k, z)]);
        B[3 * k + z] = madd(g, B[3 * k + z], d, M->A[packed(k, y)]);
    }
    C[y] = msub(g, C[y], d, add(g, before[3 * z + y], B[3 * z + y]));
    C[z] = madd(g, C[z], d, add(g, before[3 * y + z], B[3 * y + z]));
    val *yz = &C[packed(y, z)], *xy = &C[packed(x, y)], *xz = &C[packed(x, z)];
    *yz = madd(g, *yz, d, sub(g, B[3 * y + y], before[3 * z + z]));
    *xy = msub(g, *xy, d, before[3 * z + x]);
    *xz = madd(g, *xz, d, before[3 * y + x]);
    M->p[3 + y] = msub(g, M->p[3 + y], d, M->p[z]);
    M->p[3 + z] = madd(g, M->p[3 + z], d, M->p[y]);
}

// join.inl -- two consecutive segments, or compounds of them, become one (blocks.h).  Included once per width.
//
// A and, beyond its tip, B meet in a joint that transmits f, and moves with V_B:
//
//     f = Q x + Y'y,    V_B = Y x - Z y,    x = T_A'V + e_A,    y = T_B f_B + z_B                             (5)
//     Q = (M_B^-1 + L_A)^-1,    Z = (L_A^-1 + M_B)^-1,    Y = (1 + L_A M_B)^-1
//
// which is the assembly [chadaj2017, (26)-(36)] with handles of five components.
// M_B and L_A may be singular: neither is inverted, and no difference of nearly equal numbers is formed (7).
// first: of the components that are unknown; LWI_PATH_FORCES where all joints are balls, 0 otherwise.
// Equations (n): docs/theory/segments.md.

#define N5 LWI_PATH_HANDLE

// A symmetric matrix M = K d K', and 1/d + K'L K = X x X'; U = X'^-1, upper triangular, and N = K U, so that
// (M^-1 + L)^-1 = N x^-1 N'.
typedef struct NAME(factors) {
    real K[N5][N5], inverse_d[N5], U[N5][N5], N[N5][N5], inverse_x[N5];
} NAME(factors);

// M = K d K' without exchanges.  A pivot that is rounding of its diagonal counts as 1e-300.
static INLINE void NAME(factor)(NAME(factors) * F, const real *M, int first)
{
    real rest[LWI_PATH_TRIANGLE];
    for (int i = 0; i < LWI_PATH_TRIANGLE; i++) rest[i] = M[i];
    for (int j = first; j < N5; j++) {
        const real d = rest[TRIANGLE(j, j)], limit = M[TRIANGLE(j, j)] * 1e-15;
        const mask nothing = NAME(at_most)(d, limit);
        F->inverse_d[j] = NAME(select)(nothing, NAME(splat)(1e300), 1 / d);
        const real inverse = NAME(select)(nothing, ZERO, F->inverse_d[j]);
        for (int i = first; i < N5; i++)
            F->K[i][j] = i == j ? ONE : i > j ? rest[TRIANGLE(i, j)] * inverse : ZERO;
        for (int i = j + 1; i < N5; i++)
            for (int c = j + 1; c <= i; c++)
                LESS(rest[TRIANGLE(i, c)], F->K[i][j], rest[TRIANGLE(c, j)]);
    }
}

// x, U, N of F, and Q = N x^-1 N'.
static INLINE void NAME(soften)(NAME(factors) * F, const real *L, int first, real *Q)
{
    real P[N5][N5], rest[LWI_PATH_TRIANGLE];
    for (int i = first; i < N5; i++) // P = L K
        for (int j = first; j < N5; j++) {
            P[i][j] = L[TRIANGLE(i, j)];
            for (int c = j + 1; c < N5; c++) MORE(P[i][j], L[TRIANGLE(i, c)], F->K[c][j]);
        }
    for (int i = first; i < N5; i++)
        for (int j = first; j <= i; j++) {
            real sum = i == j ? P[i][j] + F->inverse_d[i] : P[i][j];
            for (int c = i + 1; c < N5; c++) MORE(sum, F->K[c][i], P[c][j]);
            rest[TRIANGLE(i, j)] = sum;
        }
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            F->N[i][j] = F->K[i][j];
            F->U[i][j] = i == j ? ONE : ZERO;
        }
    for (int j = first; j < N5; j++) {
        F->inverse_x[j] = 1 / rest[TRIANGLE(j, j)];
        for (int i = j + 1; i < N5; i++) {
            const real x = rest[TRIANGLE(i, j)] * F->inverse_x[j];
            for (int c = j + 1; c <= i; c++) LESS(rest[TRIANGLE(i, c)], x, rest[TRIANGLE(c, j)]);
            for (int c = first; c < N5; c++) LESS(F->N[c][i], x, F->N[c][j]);
            for (int c = first; c <= j; c++) LESS(F->U[c][i], x, F->U[c][j]);
        }
    }
    for (int i = first; i < N5; i++)
        for (int j = first; j <= i; j++) {
            real sum = ZERO;
            for (int c = first; c < N5; c++) MORE(sum, F->N[i][c] * F->inverse_x[c], F->N[j][c]);
            Q[TRIANGLE(i, j)] = sum;
        }
}

// Y = (1 + L M)^-1 = K'^-1 d^-1 U x^-1 N'.  U is exactly zero below its diagonal, so that the large 1/d of a pivot that is
// none multiplies no rounding error.
static INLINE void NAME(transfer)(const NAME(factors) * F, int first, real Y[N5][N5])
{
    real G[N5][N5];
    for (int c = first; c < N5; c++)
        for (int i = N5 - 1; i >= first; i--) {
            real v = i <= c ? F->U[i][c] * F->inverse_d[i] * F->inverse_x[c] : ZERO;
            for (int j = i + 1; j <= c; j++) LESS(v, F->K[j][i], G[j][c]);
            G[i][c] = v;
        }
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            Y[i][j] = G[i][i] * F->N[j][i];
            for (int c = i + 1; c < N5; c++) MORE(Y[i][j], G[i][c], F->N[j][c]);
        }
}

// X = A S, S symmetric.
static INLINE void NAME(times_symmetric)(real X[N5][N5], real A[N5][N5], const real *S, int first)
{
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            X[i][j] = A[i][first] * S[TRIANGLE(first, j)];
            for (int c = first + 1; c < N5; c++) MORE(X[i][j], A[i][c], S[TRIANGLE(c, j)]);
        }
}
// to = from + X A', its lower triangle.
static INLINE void NAME(add_product)(lwi_lanes *to, const lwi_lanes *from, real X[N5][N5],
                                     real A[N5][N5], int first, int l)
{
    for (int i = first; i < N5; i++)
        for (int j = first; j <= i; j++) {
            real sum = AT(from[TRIANGLE(i, j)]);
            for (int c = first; c < N5; c++) MORE(sum, X[i][c], A[j][c]);
            AT(to[TRIANGLE(i, j)]) = sum;
        }
}

// M = M_A + T_A Q T_A',  T = T_A Y'T_B,  L = L_B + T_B'Z T_B                                                (6)
static INLINE void NAME(join_matrices)(const lwi_path_end *A, const lwi_path_end *B,
                                       lwi_path_end *to, int first, int l)
{
    NAME(factors) F;
    real LA[LWI_PATH_TRIANGLE], MB[LWI_PATH_TRIANGLE], Q[LWI_PATH_TRIANGLE], Z[LWI_PATH_TRIANGLE];
    real Y[N5][N5], TA[N5][N5], TB[N5][N5], X[N5][N5]; // TB: transposed
    NAME(load)(LA, A->L, LWI_PATH_TRIANGLE, l);
    NAME(load)(MB, B->M, LWI_PATH_TRIANGLE, l);
    NAME(factor)(&F, LA, first);
    NAME(soften)(&F, MB, first, Z);
    NAME(factor)(&F, MB, first);
    NAME(soften)(&F, LA, first, Q);
    NAME(transfer)(&F, first, Y);
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            if (j <= i) AT(to->Q[TRIANGLE(i, j)]) = Q[TRIANGLE(i, j)];
            if (j <= i) AT(to->Z[TRIANGLE(i, j)]) = Z[TRIANGLE(i, j)];
            AT(to->Y[N5 * i + j]) = Y[i][j];
            TA[i][j] = AT(A->T[N5 * i + j]);
            TB[j][i] = AT(B->T[N5 * i + j]);
        }
    NAME(times_symmetric)(X, TA, Q, first);
    NAME(add_product)(to->M, A->M, X, TA, first, l);
    NAME(times_symmetric)(X, TB, Z, first);
    NAME(add_product)(to->L, B->L, X, TB, first, l);
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            X[i][j] = TA[i][first] * Y[j][first];
            for (int c = first + 1; c < N5; c++) MORE(X[i][j], TA[i][c], Y[j][c]);
        }
    for (int i = first; i < N5; i++)
        for (int j = first; j < N5; j++) {
            real sum = X[i][first] * TB[j][first];
            for (int c = first + 1; c < N5; c++) MORE(sum, X[i][c], TB[j][c]);
            AT(to->T[N5 * i + j]) = sum;
        }
}

// f = Q x + Y'y,  V = Y x - Z y of a join                                                                   (5)
static INLINE void NAME(meet)(const lwi_path_end *join, const real *x, const real *y, real *f,
                              real *V, int first, int l)
{
    for (int i = first; i < N5; i++) {
        f[i] = V[i] = ZERO;
        for (int c = first; c < N5; c++) {
            MORE(f[i], AT(join->Q[TRIANGLE(i, c)]), x[c]);
            MORE(f[i], AT(join->Y[N5 * c + i]), y[c]);
            MORE(V[i], AT(join->Y[N5 * i + c]), x[c]);
            LESS(V[i], AT(join->Z[TRIANGLE(i, c)]), y[c]);
        }
    }
}

// What A's tip and B's head bring to the join by themselves; `again`: about the first solution (8).
static INLINE void NAME(jump)(const lwi_path_end *A, const lwi_path_end *B, bool again, real *x,
                              real *y, int l)
{
    NAME(load)(x, A->e, N5, l);
    NAME(load)(y, B->z, N5, l);
    for (int i = 0; again && i < N5; i++) {
        x[i] -= AT(B->V0[i]);
        y[i] -= AT(A->f0[i]);
    }
}

// z = z_A + T_A f,  e = e_B + T_B'V with the f and V of V_head = 0, f_tip = 0                               (6)
static INLINE void NAME(join_vectors)(const lwi_path_end *A, const lwi_path_end *B,
                                      lwi_path_end *to, bool again, int first, int l)
{
    real x[N5], y[N5], f[N5], V[N5];
    NAME(jump)(A, B, again, x, y, l);
    NAME(meet)(to, x, y, f, V, first, l);
    for (int i = 0; i < first; i++) AT(to->z[i]) = AT(A->z[i]);
    for (int i = first; i < N5; i++) {
        real z = AT(A->z[i]), e = AT(B->e[i]);
        for (int c = first; c < N5; c++) {
            MORE(z, AT(A->T[N5 * i + c]), f[c]);
            MORE(e, AT(B->T[N5 * c + i]), V[c]);
        }
        AT(to->z[i]) = z;
        AT(to->e[i]) = e;
    }
}

// V and f at both sides of the join, from those of the compound's ends.
static INLINE void NAME(split_vectors)(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from,
                                       bool again, int first, int l)
{
    const lwi_lanes *V_head = again ? from->V : from->V0, *f_tip = again ? from->f : from->f0;
    real x[N5], y[N5], f[N5], V[N5];
    NAME(jump)(A, B, again, x, y, l);
    for (int i = first; i < N5; i++)
        for (int c = first; c < N5; c++) {
            MORE(x[i], AT(A->T[N5 * c + i]), AT(V_head[c]));
            MORE(y[i], AT(B->T[N5 * i + c]), AT(f_tip[c]));
        }
    for (int i = 0; i < first; i++) f[i] = V[i] = ZERO;
    NAME(meet)(from, x, y, f, V, first, l);
    NAME(store)(again ? A->f : A->f0, f, N5, l);
    NAME(store)(again ? B->V : B->V0, V, N5, l);
    for (int i = 0; i < N5; i++) {
        AT((again ? A->V : A->V0)[i]) = AT(V_head[i]);
        AT((again ? B->f : B->f0)[i]) = AT(f_tip[i]);
    }
}

// x, of axes that a compound's part has at its tip, in axes of its head: R x.
static INLINE void NAME(rotate_back)(real *to, const lwi_path_end *part, const real *x, int l)
{
    for (int i = 0; i < 3; i++)
        to[i] = SUM3(AT(part->R[i]), x[0], AT(part->R[3 + i]), x[1], AT(part->R[6 + i]), x[2]);
}
// R'x
static INLINE void NAME(rotate)(real *to, const lwi_path_end *part, const real *x, int l)
{
    for (int i = 0; i < 3; i++)
        to[i] = SUM3(AT(part->R[3 * i]), x[0], AT(part->R[3 * i + 1]), x[1], AT(part->R[3 * i + 2]),
                     x[2]);
}

// R, r, h, m of the compound.
static INLINE void NAME(join_poses)(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to,
                                    int l)
{
    const real mass = AT(B->m);
    real x[3], y[3];
    for (int c = 0; c < 3; c++) {
        NAME(load)(x, B->R + 3 * c, 3, l);
        NAME(rotate_back)(y, A, x, l);
        NAME(store)(to->R + 3 * c, y, 3, l);
    }
    NAME(load)(x, B->r, 3, l);
    NAME(rotate_back)(y, A, x, l);
    for (int i = 0; i < 3; i++) AT(to->r[i]) = AT(A->r[i]) + y[i];
    NAME(load)(x, B->h, 3, l);
    NAME(rotate_back)(y, A, x, l);
    for (int i = 0; i < 3; i++) AT(to->h[i]) = AT(A->h[i]) + MAD(mass, AT(A->r[i]), y[i]);
    AT(to->m) = AT(A->m) + mass;
}

// g of both heads; hb, mb: what is beyond their tips.
static INLINE void NAME(split_poses)(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from,
                                     int l)
{
    const real mass = AT(from->mb);
    real g[3], h[3], x[3];
    NAME(load)(g, from->g, 3, l);
    NAME(store)(A->g, g, 3, l);
    NAME(rotate)(x, A, g, l);
    NAME(store)(B->g, x, 3, l);
    NAME(load)(h, from->hb, 3, l);
    NAME(store)(B->hb, h, 3, l);
    NAME(rotate_back)(x, B, h, l);
    for (int i = 0; i < 3; i++) AT(A->hb[i]) = AT(B->h[i]) + MAD(mass, AT(B->r[i]), x[i]);
    AT(B->mb) = mass;
    AT(A->mb) = mass + AT(B->m);
}

// W = R_B'W_A + W_B, Wv = R_B'(Wv_A + W_A x r_B) + Wv_B
static INLINE void NAME(join_velocities)(const lwi_path_end *A, const lwi_path_end *B,
                                         lwi_path_end *to, int l)
{
    real x[3], y[3], v[3], r[3];
    NAME(load)(x, A->W, 3, l);
    NAME(load)(v, A->Wv, 3, l);
    NAME(load)(r, B->r, 3, l);
    NAME(add_cross)(v, x, r);
    NAME(rotate)(y, B, x, l);
    for (int i = 0; i < 3; i++) AT(to->W[i]) = AT(B->W[i]) + y[i];
    NAME(rotate)(y, B, v, l);
    for (int i = 0; i < 3; i++) AT(to->Wv[i]) = AT(B->Wv[i]) + y[i];
}

// W0 of B: R_A'W0 + W_A
static INLINE void NAME(split_velocities)(lwi_path_end *A, lwi_path_end *B,
                                          const lwi_path_end *from, int l)
{
    real x[3], y[3];
    NAME(load)(x, from->W0, 3, l);
    NAME(store)(A->W0, x, 3, l);
    NAME(rotate)(y, A, x, l);
    for (int i = 0; i < 3; i++) AT(B->W0[i]) = AT(A->W[i]) + y[i];
}
// Loads beyond the tips of both.
static INLINE void NAME(split_loads)(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from,
                                     int l)
{
    real x[3], n[3], f[3], r[3];
    NAME(load)(x, from->load, 3, l);
    NAME(store)(B->load, x, 3, l);
    NAME(rotate_back)(n, B, x, l);
    NAME(load)(x, from->load + 3, 3, l);
    NAME(store)(B->load + 3, x, 3, l);
    NAME(rotate_back)(f, B, x, l);
    NAME(load)(r, B->r, 3, l);
    NAME(add_cross)(n, r, f);
    NAME(store)(A->load, n, 3, l);
    NAME(store)(A->load + 3, f, 3, l);
}
#undef N5

// segment.inl -- the passes over the bodies of one segment per lane (blocks.h).  Included once per width.
//
// In: WIDTH with lane.inl, sincos.inl, vectors.inl, pose.inl.  Lanes l .. l + WIDTH - 1 of a block.
// Equations (n): docs/theory/segments.md.

// ------------------------------------------------------------------------------------------ inward

// The articulated inertia of the bodies beyond:  [n; f] = [J H; H' m] [w; v], with what the tip passes on:
// T [n of 5; f of 5], L.
typedef struct NAME(inertia) {
    real J[6], H[9], m[6];
    real Tn[5][3], Tf[5][3], L[15];
} NAME(inertia);

// M about the point inside of the one it is about, o away:  H' = H + o~ m,
// J' = J + (o~ (H + H')' + (H + H') o~') / 2.                                                          (2)
static INLINE void NAME(shift)(NAME(inertia) * M, const real *o)
{
    const real half[3] = {0.5 * o[0], 0.5 * o[1], 0.5 * o[2]};
    real K[9];
    for (int i = 0; i < 9; i++) K[i] = M->H[i];
    for (int c = 0; c < 3; c++) {
        const real column[3] = {M->m[ENTRY(0, c)], M->m[ENTRY(1, c)], M->m[ENTRY(2, c)]};
        for (int i = 0; i < 3; i++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3;
            MORE(M->H[3 * i + c], o[a], column[b]);
            LESS(M->H[3 * i + c], o[b], column[a]);
        }
    }
    for (int i = 0; i < 9; i++) K[i] += M->H[i];
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        MORE(M->J[i], o[a], K[3 * i + b]);
        LESS(M->J[i], o[b], K[3 * i + a]);
        // entries off the diagonal, a with i: (o x row a)_i and (o x row i)_a
        real *J = &M->J[ENTRY(i, a)];
        MORE(*J, half[a], K[3 * a + b]);
        LESS(*J, half[b], K[3 * a + a]);
        MORE(*J, half[b], K[3 * i + i]);
        LESS(*J, half[i], K[3 * i + b]);
    }
}

// The same of what is beyond a ball, where J = H = 0 and T has no couples: H' = o~ m, J' = o~ H''.
static INLINE void NAME(shift_from_ball)(NAME(inertia) * M, const real *o)
{
    for (int c = 0; c < 3; c++) {
        const real column[3] = {M->m[ENTRY(0, c)], M->m[ENTRY(1, c)], M->m[ENTRY(2, c)]};
        for (int i = 0; i < 3; i++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3;
            M->H[3 * i + c] = DIFF(o[a], column[b], o[b], column[a]);
        }
    }
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        M->J[i] = DIFF(o[a], M->H[3 * i + b], o[b], M->H[3 * i + a]);
        M->J[ENTRY(i, a)] = DIFF(o[a], M->H[3 * a + b], o[b], M->H[3 * a + a]);
    }
    for (int c = LWI_PATH_FORCES; c < 5; c++) NAME(cross)(M->Tn[c], o, M->Tf[c]);
}

static INLINE void NAME(add_body)(NAME(inertia) * M, const lwi_path_link *own, real mass, int l)
{
    const real h[3] = {AT(own->h[0]), AT(own->h[1]), AT(own->h[2])};
    for (int i = 0; i < 6; i++) M->J[i] += AT(own->J[i]);
    M->H[1] -= h[2], M->H[2] += h[1];
    M->H[3] += h[2], M->H[5] -= h[0];
    M->H[6] -= h[1], M->H[7] += h[0];
    for (int i = 0; i < 3; i++) M->m[i] += mass;
}

// M -= U g', the joint's part (2).
static INLINE void NAME(eliminate)(NAME(inertia) * M, const real *U, const real *g)
{
    for (int i = 0; i < 3; i++) {
        LESS(M->J[i], U[i], g[i]);
        LESS(M->m[i], U[3 + i], g[3 + i]);
        for (int c = 0; c < 3; c++) LESS(M->H[3 * i + c], U[i], g[3 + c]);
    }
    LESS(M->J[3], U[0], g[1]);
    LESS(M->J[4], U[0], g[2]);
    LESS(M->J[5], U[1], g[2]);
    LESS(M->m[3], U[3], g[4]);
    LESS(M->m[4], U[3], g[5]);
    LESS(M->m[5], U[4], g[5]);
}

// M, T, L at the tip, where nothing is beyond but what it passes on: columns of R.
static INLINE void NAME(start_at_tip)(NAME(inertia) * M, const lwi_path_end *end, int l)
{
    for (int i = 0; i < 6; i++) M->J[i] = M->m[i] = ZERO;
    for (int i = 0; i < 9; i++) M->H[i] = ZERO;
    for (int i = 0; i < 15; i++) M->L[i] = ZERO;
    for (int c = 0; c < 5; c++)
        for (int i = 0; i < 3; i++) {
            const real axis = AT(end->R[3 * (c < 2 ? c : c - 2) + i]);
            M->Tn[c][i] = c < 2 ? axis : ZERO;
            M->Tf[c][i] = c < 2 ? ZERO : axis;
        }
}

// M, T, L of the five components that a cut has: the head's axis is z.  Between balls the others stay zero.
static INLINE void NAME(keep_ends)(const NAME(inertia) * M, lwi_path_end *end, int unknown, int l)
{
    const real *J = M->J, *H = M->H, *m = M->m;
    const real lower[15] = {J[0], J[3], J[1], H[0], H[3], m[0], H[1], H[4],
                            m[3], m[1], H[2], H[5], m[4], m[5], m[2]};
    for (int c = unknown; c < 5; c++) {
        for (int i = unknown; i <= c; i++) {
            AT(end->M[TRIANGLE(c, i)]) = lower[TRIANGLE(c, i)];
            AT(end->L[TRIANGLE(c, i)]) = M->L[TRIANGLE(c, i)];
        }
        for (int i = 0; i < 3; i++) AT(end->T[10 + 5 * i + c]) = M->Tf[c][i];
        for (int i = 0; unknown == 0 && i < 2; i++) AT(end->T[5 * i + c]) = M->Tn[c][i];
    }
}

// The sums of vectors of (2): z = [n; f], e.
typedef struct NAME(vectors) {
    real n[3], f[3], e[5];
} NAME(vectors);

// T about the point inside, less the joint's part, and L and e (2): column by column, which needs few registers.
static INLINE void NAME(pass_tip)(NAME(inertia) * M, real *e, const lwi_path_body *body,
                                  lwi_path_link *own, bool screw, const real *g, real Di, real y,
                                  int l)
{
    real a[3], o[3], t[5];
    NAME(load)(a, own->a, 3, l);
    NAME(load)(o, own->o, 3, l);
#pragma GCC unroll 5
    for (int c = 0, n = 0; c < 5; c++) {
        NAME(add_cross)(M->Tn[c], o, M->Tf[c]);
        t[c] = NAME(dot)(a, M->Tn[c]);
        if (screw) t[c] = SUM2(AT(body->turn), t[c], AT(body->slide), NAME(dot)(a, M->Tf[c]));
        for (int i = 0; i < 3; i++) {
            LESS(M->Tn[c][i], g[i], t[c]);
            LESS(M->Tf[c][i], g[3 + i], t[c]);
        }
        const real tD = t[c] * Di;
        for (int d = 0; d <= c; d++, n++) MORE(M->L[n], tD, t[d]);
        AT(own->t[c]) = tD;
        if (e) MORE(e[c], t[c], y);
    }
}

// (2) at a hinge or screw; right: p or effort.
static INLINE mask NAME(inward_axis)(NAME(inertia) * M, NAME(vectors) * v,
                                     const lwi_path_body *body, lwi_path_link *own, bool screw,
                                     bool vectors, real right, int l)
{
    real a[3], U[6], g[6], along, D, y = ZERO, sum = (M->J[0] + M->J[1]) + M->J[2];
    NAME(load)(a, own->a, 3, l);
    NAME(symmetric_times)(U, M->J, a);
    for (int i = 0; i < 3; i++)
        U[3 + i] = SUM3(M->H[i], a[0], M->H[3 + i], a[1], M->H[6 + i], a[2]);
    D = NAME(dot)(a, U);
    if (screw) {
        const real turn = AT(body->turn), slide = AT(body->slide);
        real m[3];
        NAME(symmetric_times)(m, M->m, a);
        for (int i = 0; i < 3; i++) {
            const real H = SUM3(M->H[3 * i], a[0], M->H[3 * i + 1], a[1], M->H[3 * i + 2], a[2]);
            U[i] = SUM2(turn, U[i], slide, H);
            U[3 + i] = SUM2(turn, U[3 + i], slide, m[i]);
        }
        D = SUM2(turn, NAME(dot)(a, U), slide, NAME(dot)(a, U + 3));
        sum = SUM2(turn * turn, sum, slide * slide, (M->m[0] + M->m[1]) + M->m[2]);
    }
    D += AT(body->rotor);
    const real Di = 1 / D;
    const mask valid = NAME(well_posed)(Di, sum);
    for (int i = 0; i < 6; i++) g[i] = U[i] * Di;
    NAME(eliminate)(M, U, g);
    NAME(store)(own->g, g, 6, l);
    AT(own->Di) = Di;
    if (vectors) {
        along = NAME(dot)(a, v->n);
        if (screw) along = SUM2(AT(body->turn), along, AT(body->slide), NAME(dot)(a, v->f));
        y = (right - along) * Di;
        for (int i = 0; i < 3; i++) {
            MORE(v->n[i], U[i], y);
            MORE(v->f[i], U[3 + i], y);
        }
        AT(own->y) = y;
    }
    NAME(pass_tip)(M, vectors ? v->e : NULL, body, own, screw, g, Di, y, l);
    return valid;
}

// J = K d K', 1 on the diagonal of K.
typedef struct NAME(pivots) {
    real K[3], inverse[3]; // entries 10, 20, 21; 1/d
} NAME(pivots);

// x := J^-1 x
static INLINE void NAME(solve)(const NAME(pivots) * J, real *x)
{
    LESS(x[1], J->K[0], x[0]);
    LESS(x[2], J->K[1], x[0]);
    LESS(x[2], J->K[2], x[1]);
    for (int i = 0; i < 3; i++) x[i] = x[i] * J->inverse[i];
    LESS(x[1], J->K[2], x[2]);
    LESS(x[0], J->K[1], x[2]);
    LESS(x[0], J->K[0], x[1]);
}

static INLINE mask NAME(factor_ball)(NAME(pivots) * to, const real *J, real rotor)
{
    const real sum = (J[0] + J[1]) + J[2];
    const real a = J[3], b = J[4];
    to->inverse[0] = 1 / (J[0] + rotor);
    to->K[0] = a * to->inverse[0];
    to->K[1] = b * to->inverse[0];
    const real c = NMAD(to->K[1], a, J[5]);
    to->inverse[1] = 1 / (NMAD(to->K[0], a, J[1]) + rotor);
    to->K[2] = c * to->inverse[1];
    to->inverse[2] = 1 / (NMAD(to->K[2], c, NMAD(to->K[1], b, J[2])) + rotor);
    mask valid = NAME(well_posed)(to->inverse[0], sum);
    for (int i = 1; i < 3; i++) valid &= NAME(well_posed)(to->inverse[i], sum);
    return valid;
}

// Of a ball all of n is known, P = R p.
static INLINE void NAME(ball_momentum)(real *P, const lwi_path_link *own, const double *const *p,
                                       int j, int l)
{
    const real a = NAME(read)(p, j, l), b = NAME(read)(p, j + 1, l), c = NAME(read)(p, j + 2, l);
    for (int i = 0; i < 3; i++)
        P[i] = SUM3(a, AT(own[0].a[i]), b, AT(own[1].a[i]), c, AT(own[2].a[i]));
}

// x := 0, but in lanes with padding, where `keep` is 1.
static INLINE void NAME(clear)(real *x, int n, bool padding, real keep)
{
    for (int i = 0; i < n; i++) x[i] = padding ? x[i] * keep : ZERO;
}

// T and L of (2) at a ball; T_n of the columns is about its point.
static INLINE void NAME(pass_tip_ball)(NAME(inertia) * M, const NAME(pivots) * J, real G[3][3],
                                       lwi_path_link *own, int unknown, int l)
{
#pragma GCC unroll 5
    for (int c = unknown; c < 5; c++) {
        real X[3];
        for (int i = 0; i < 3; i++) X[i] = M->Tn[c][i];
        NAME(solve)(J, X);
        for (int i = 0; i < 3; i++) AT(own[i].t[c]) = X[i];
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < 3; i++) LESS(M->Tf[c][a], G[a][i], M->Tn[c][i]);
        for (int d = unknown; d <= c; d++)
            for (int i = 0; i < 3; i++) MORE(M->L[TRIANGLE(c, d)], X[i], M->Tn[d][i]);
    }
}

// (2) at a ball; S is the unit matrix: the joint takes J, H, and the couples of T away; G = J^-1 H, X = J^-1 T_n.
static INLINE mask NAME(inward_ball)(NAME(inertia) * M, NAME(vectors) * v,
                                     const lwi_path_body *body, lwi_path_link *own, bool padding,
                                     int unknown, bool vectors, const double *const *p, int j,
                                     int l)
{
    NAME(pivots) J;
    real G[3][3], P[3], w[3]; // G: [column]
    const mask valid = NAME(factor_ball)(&J, M->J, AT(body->rotor));
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) G[c][i] = M->H[3 * i + c];
        NAME(solve)(&J, G[c]);
        for (int i = 0; i < 3; i++) AT(own[i].g[3 + c]) = G[c][i];
    }
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++)
            for (int i = 0; i < 3; i++) LESS(M->m[ENTRY(a, b)], M->H[3 * i + a], G[b][i]);
    NAME(pass_tip_ball)(M, &J, G, own, unknown, l);
    NAME(store)(own[0].g, J.K, 3, l);
    NAME(store)(own[1].g, J.inverse, 3, l);
    const real keep = AT(body->padding);
    if (vectors) {
        NAME(ball_momentum)(P, own, p, j, l);
        for (int i = 0; i < 3; i++) w[i] = P[i] - v->n[i];
        NAME(solve)(&J, w);
        for (int c = unknown; c < 5; c++) v->e[c] = v->e[c] + NAME(dot)(M->Tn[c], w);
        for (int i = 0; i < 3; i++) {
            for (int c = 0; c < 3; c++) MORE(v->f[c], M->H[3 * i + c], w[i]);
            v->n[i] = padding ? MAD(keep, v->n[i], P[i]) : P[i];
            AT(own[i].y) = w[i];
        }
    }
    if (unknown > 0) return valid; // what is beyond the next ball has none of these
    NAME(clear)(M->J, 6, padding, keep);
    NAME(clear)(M->H, 9, padding, keep);
    for (int c = 0; c < 5; c++) NAME(clear)(M->Tn[c], 3, padding, keep);
    return valid;
}

// (2) from the tip to the head; `vectors`: z and e too.  Returns the lanes with well conditioned pivots.
static INLINE mask NAME(inward)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                                NAME(kinds) kinds, const double *const *p, int n, bool vectors,
                                int l)
{
    NAME(inertia) M;
    NAME(vectors) v;
    mask valid = ~NAME(bits)(ZERO);
    const int unknown = NAME(unknown)(kinds);
    NAME(start_at_tip)(&M, end, l);
    for (int c = 0; c < 5; c++) v.e[c] = ZERO;
    for (int i = 0; i < 3; i++) v.n[i] = AT(end->next[2]) * AT(end->R[6 + i]), v.f[i] = ZERO;
    for (int c = 0; c < unknown; c++)
        for (int i = 0; i < 3; i++) MORE(v.n[i], AT(end->next[c]), AT(end->R[3 * c + i]));
    for (int j = n - 1; j >= 0; j--) {
        j = NAME(first_place)(kinds, j);
        const int kind = NAME(kind)(kinds, j);
        lwi_path_link *own = &link[j];
        real o[3];
        NAME(load)(o, own->o, 3, l);
        if (unknown > 0)
            NAME(shift_from_ball)(&M, o);
        else
            NAME(shift)(&M, o);
        NAME(add_body)(&M, own, AT(body[j].m), l);
        if (vectors) NAME(add_cross)(v.n, o, v.f);
        for (int c = 0; unknown == 0 && kind >= LWI_PATH_BALL && c < 5; c++)
            NAME(add_cross)(M.Tn[c], o, M.Tf[c]);
        if (kind == LWI_PATH_HINGE)
            valid &= NAME(inward_axis)(&M, &v, &body[j], own, false, vectors,
                                       vectors ? NAME(read)(p, j, l) : ZERO, l);
        else if (kind == LWI_PATH_SCREW)
            valid &= NAME(inward_axis)(&M, &v, &body[j], own, true, vectors,
                                       vectors ? NAME(read)(p, j, l) : ZERO, l);
        else
            valid &= NAME(inward_ball)(&M, &v, &body[j], own, kind == LWI_PATH_SOME_BALLS, unknown,
                                       vectors, p, j, l);
    }
    NAME(keep_ends)(&M, end, unknown, l);
    NAME(store)(end->e, v.e, 5, l);
    NAME(store)(end->z, v.n, 2, l);
    NAME(store)(end->z + 2, v.f, 3, l);
    return valid;
}

// ------------------------------------------------------------------------------- the second pass

// The wrench [n; f] at the tip in axes of the head, of the components x that are unknown and those that are known.
static INLINE void NAME(from_tip)(real *n, real *f, const lwi_path_end *end, const real *x,
                                  int unknown, int l)
{
    real couple[3];
    NAME(load)(couple, end->next, 3, l);
    for (int c = unknown; c < LWI_PATH_FORCES; c++) couple[c] = x[c];
    for (int i = 0; i < 3; i++) {
        const real a = AT(end->R[i]), b = AT(end->R[3 + i]), c = AT(end->R[6 + i]);
        n[i] = SUM3(a, couple[0], b, couple[1], c, couple[2]);
        f[i] = SUM3(a, x[2], b, x[3], c, x[4]);
    }
}

// The five components of a motion [w; v] in axes of the next head.
static INLINE void NAME(to_tip)(real *x, const lwi_path_end *end, const real *V, int l)
{
    for (int c = 0; c < 5; c++) {
        const lwi_lanes *axis = end->R + 3 * (c < 2 ? c : c - 2);
        const real *part = c < 2 ? V : V + 3;
        x[c] = SUM3(AT(axis[0]), part[0], AT(axis[1]), part[1], AT(axis[2]), part[2]);
    }
}

// The speed of a joint that a motion V of its inner body leaves: y - g.V.
static INLINE real NAME(speed)(const lwi_path_link *own, real y, const real *V, int l)
{
    const real turn = SUM3(AT(own->g[0]), V[0], AT(own->g[1]), V[1], AT(own->g[2]), V[2]);
    const real slide = SUM3(AT(own->g[3]), V[3], AT(own->g[4]), V[4], AT(own->g[5]), V[5]);
    return y - (turn + slide);
}

// z of (8): M V0 more.
static INLINE void NAME(add_head)(real *z, const lwi_path_end *end, const real *V0, int unknown,
                                  int l)
{
    for (int i = unknown; i < 5; i++)
        for (int c = unknown; c < 5; c++) MORE(z[i], AT(end->M[TRIANGLE(i, c)]), V0[c]);
}

// The head's motion, [w; v], from its five components.
static INLINE void NAME(head_motion)(real *V, const real *x)
{
    V[0] = x[0], V[1] = x[1], V[2] = ZERO;
    V[3] = x[2], V[4] = x[3], V[5] = x[4];
}

// z of (8) at a hinge or screw, and y.
static INLINE void NAME(again_axis)(real *n, real *f, const lwi_path_body *body, lwi_path_link *own,
                                    bool screw, real right, int l)
{
    real a[3];
    NAME(load)(a, own->a, 3, l);
    real along = NAME(dot)(a, n);
    if (screw) along = SUM2(AT(body->turn), along, AT(body->slide), NAME(dot)(a, f));
    along = right - along;
    for (int i = 0; i < 3; i++) {
        MORE(n[i], AT(own->g[i]), along);
        MORE(f[i], AT(own->g[3 + i]), along);
    }
    AT(own->y) = along * AT(own->Di);
}

// The same at a ball (15).
static INLINE void NAME(again_ball)(real *n, real *f, const lwi_path_body *body, lwi_path_link *own,
                                    bool padding, const double *const *p, int j, int l)
{
    NAME(pivots) J;
    real P[3], w[3];
    NAME(load)(J.K, own[0].g, 3, l);
    NAME(load)(J.inverse, own[1].g, 3, l);
    NAME(ball_momentum)(P, own, p, j, l);
    for (int i = 0; i < 3; i++) {
        w[i] = P[i] - n[i];
        for (int c = 0; c < 3; c++) MORE(f[c], AT(own[i].g[3 + c]), w[i]);
    }
    for (int i = 0; i < 3; i++) n[i] = padding ? MAD(AT(body->padding), n[i], P[i]) : P[i];
    NAME(solve)(&J, w);
    for (int i = 0; i < 3; i++) AT(own[i].y) = w[i];
}

// The angular velocity beyond a ball: y - G v.
static INLINE void NAME(beyond_ball)(real *w, const lwi_path_body *body, const lwi_path_link *own,
                                     bool padding, const real *y, const real *V, int l)
{
    for (int i = 0; i < 3; i++) {
        const real part = SUM3(AT(own[i].g[3]), V[3], AT(own[i].g[4]), V[4], AT(own[i].g[5]), V[5]);
        w[i] = y[i] - part;
        if (padding) w[i] = MAD(AT(body->padding), V[i], w[i]);
    }
}

// V of the outer body of a hinge or screw: V + S u.
static INLINE void NAME(add_speed)(real *V, const lwi_path_body *body, const lwi_path_link *own,
                                   bool screw, real u, int l)
{
    real turn = u;
    if (screw) turn = AT(body->turn) * u;
    for (int i = 0; i < 3; i++) {
        MORE(V[i], AT(own->a[i]), turn);
        if (screw) MORE(V[3 + i], AT(own->a[i]), AT(body->slide) * u);
    }
}

// z and e about V0 and f0, and y of the bodies (8); `bias`: of accelerations, with b and c (11).
static INLINE void NAME(again)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                               NAME(kinds) kinds, const double *const *p, int n, bool bias, int l)
{
    real V0[5], f0[5], V[6], zn[3], zf[3], x[5];
    NAME(load)(V0, end->V0, 5, l);
    NAME(load)(f0, end->f0, 5, l);
    NAME(from_tip)(zn, zf, end, f0, NAME(unknown)(kinds), l);
    for (int j = n - 1; j >= 0; j--) {
        j = NAME(first_place)(kinds, j);
        const int kind = NAME(kind)(kinds, j);
        lwi_path_link *own = &link[j];
        real o[3];
        NAME(load)(o, own->o, 3, l);
        NAME(add_cross)(zn, o, zf);
        for (int i = 0; bias && i < 3; i++) {
            zn[i] += AT(own->b[i]);
            zf[i] += AT(own->b[3 + i]);
        }
        if (kind == LWI_PATH_HINGE)
            NAME(again_axis)(zn, zf, &body[j], own, false, NAME(read)(p, j, l), l);
        else if (kind == LWI_PATH_SCREW)
            NAME(again_axis)(zn, zf, &body[j], own, true, NAME(read)(p, j, l), l);
        else
            NAME(again_ball)(zn, zf, &body[j], own, kind == LWI_PATH_SOME_BALLS, p, j, l);
    }
    NAME(head_motion)(V, V0);
    for (int j = 0; j < n; j++) {
        const int kind = NAME(kind)(kinds, j);
        const lwi_path_link *own = &link[j];
        real o[3], w[3];
        NAME(load)(o, own->o, 3, l);
        if (kind >= LWI_PATH_BALL) {
            const real y[3] = {AT(own->y), AT(own[1].y), AT(own[2].y)};
            NAME(beyond_ball)(w, &body[j], own, kind == LWI_PATH_SOME_BALLS, y, V, l);
            for (int i = 0; i < 3; i++) V[i] = w[i];
            j += 2;
        } else {
            const real u = NAME(speed)(own, AT(own->y), V, l);
            NAME(add_speed)(V, &body[j], own, kind == LWI_PATH_SCREW, u, l);
        }
        NAME(add_cross)(V + 3, V, o);
    }
    NAME(to_tip)(x, end, V, l);
    for (int i = 0; bias && i < 5; i++) x[i] += AT(end->c[i]);
    for (int i = NAME(unknown)(kinds); i < 5; i++) AT(end->e[i]) = x[i];
    real z[5] = {zn[0], zn[1], zf[0], zf[1], zf[2]};
    NAME(add_head)(z, end, V0, NAME(unknown)(kinds), l);
    NAME(store)(end->z, z, 5, l);
}

// ----------------------------------------------------------------------------------------- outward

// The solution at the ends: both passes together.
static INLINE void NAME(whole)(real *x, const lwi_lanes *first, const lwi_lanes *correction, int l)
{
    for (int i = 0; i < 5; i++) x[i] = AT(first[i]) + AT(correction[i]);
}

// y of a place less (t/D).f, of its share of what the tip passes on.
static INLINE real NAME(less_tip)(const lwi_path_link *own, const real *f, int unknown, int l)
{
    const real tip = SUM2(AT(own->t[unknown]), f[unknown], AT(own->t[unknown + 1]), f[unknown + 1]);
    real sum = MAD(AT(own->t[4]), f[4], tip);
    if (unknown == 0) sum = MAD(AT(own->t[2]), f[2], MAD(AT(own->t[3]), f[3], sum));
    return AT(own->y) - sum;
}

// The three speeds of a ball: those beyond it less those before it, in its own axes; V becomes that beyond.
static INLINE void NAME(ball_speeds)(real *V, const lwi_path_body *body, const lwi_path_link *own,
                                     bool padding, int unknown, const real *f, real *u, int l)
{
    real y[3], w[3], turn[3];
    for (int i = 0; i < 3; i++) y[i] = NAME(less_tip)(&own[i], f, unknown, l);
    NAME(beyond_ball)(w, body, own, padding, y, V, l);
    for (int i = 0; i < 3; i++) {
        turn[i] = w[i] - V[i];
        V[i] = w[i];
    }
    for (int i = 0; i < 3; i++)
        u[i] = SUM3(AT(own[i].a[0]), turn[0], AT(own[i].a[1]), turn[1], AT(own[i].a[2]), turn[2]);
}

// Speeds (3), or accelerations; `keep`: velocities of the bodies.  Returns zero where all are finite.
static INLINE real NAME(speeds)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                                NAME(kinds) kinds, double *const *u, int n, bool keep, int l)
{
    real f[5], x[5], V[6], nothing = ZERO;
    NAME(load)(f, end->f, 5, l);
    NAME(whole)(x, end->V0, end->V, l);
    NAME(head_motion)(V, x);
    for (int j = 0; j < n; j++) {
        const int kind = NAME(kind)(kinds, j);
        lwi_path_link *own = &link[j];
        real o[3], speed[3];
        NAME(load)(o, own->o, 3, l);
        if (kind >= LWI_PATH_BALL) {
            NAME(ball_speeds)
            (V, &body[j], own, kind == LWI_PATH_SOME_BALLS, NAME(unknown)(kinds), f, speed, l);
            for (int i = 0; i < 3; i++) {
                NAME(write)(u, j + i, l, speed[i]);
                MORE(nothing, speed[i], ZERO);
            }
            j += 2;
        } else {
            speed[0] = NAME(speed)(own, NAME(less_tip)(own, f, 0, l), V, l);
            NAME(write)(u, j, l, speed[0]);
            MORE(nothing, speed[0], ZERO);
            NAME(add_speed)(V, &body[j], own, kind == LWI_PATH_SCREW, speed[0], l);
        }
        if (keep) NAME(store)(own->V, V, 6, l);
        NAME(add_cross)(V + 3, V, o);
    }
    for (int c = lwi_path_only_balls(kinds.all) ? 0 : 2; c < 3; c++)
        AT(end->turning[c]) =
            SUM3(AT(end->R[3 * c]), V[0], AT(end->R[3 * c + 1]), V[1], AT(end->R[3 * c + 2]), V[2]);
    return nothing;
}

// Rates of the momenta (4): n, f, h, m are those of all bodies beyond the joint; `loaded`: with loads beyond the tip,
// [A; B] about the joint.
static INLINE real NAME(rates)(const lwi_path_body *body, const lwi_path_link *link,
                               const lwi_path_end *end, NAME(kinds) kinds, double *const *rate,
                               int n, bool loaded, int l)
{
    real tip[5], N[3], f[3], h[3], g[3], A[3], B[3], m = AT(end->mb), nothing = ZERO;
    NAME(whole)(tip, end->f0, end->f, l);
    NAME(from_tip)(N, f, end, tip, NAME(unknown)(kinds), l);
    for (int i = 0; i < 3; i++) {
        g[i] = AT(end->g[i]);
        h[i] = SUM3(AT(end->R[i]), AT(end->hb[0]), AT(end->R[3 + i]), AT(end->hb[1]),
                    AT(end->R[6 + i]), AT(end->hb[2]));
        A[i] = SUM3(AT(end->R[i]), AT(end->load[0]), AT(end->R[3 + i]), AT(end->load[1]),
                    AT(end->R[6 + i]), AT(end->load[2]));
        B[i] = SUM3(AT(end->R[i]), AT(end->load[3]), AT(end->R[3 + i]), AT(end->load[4]),
                    AT(end->R[6 + i]), AT(end->load[5]));
    }
    for (int j = n - 1; j >= 0; j--) {
        j = NAME(first_place)(kinds, j);
        const int kind = NAME(kind)(kinds, j);
        const lwi_path_link *own = &link[j];
        real o[3], own_h[3], V[6], J[6], JV[3], x[3];
        const real mass = AT(body[j].m);
        NAME(load)(o, own->o, 3, l);
        NAME(load)(own_h, own->h, 3, l);
        NAME(load)(V, own->V, 6, l);
        NAME(load)(J, own->J, 6, l);
        NAME(add_cross)(N, o, f);
        NAME(symmetric_times)(JV, J, V);
        NAME(add_cross)(N, own_h, V + 3);
        NAME(add_cross)(f, V, own_h);
        for (int i = 0; i < 3; i++) {
            N[i] += JV[i];
            MORE(f[i], mass, V[3 + i]);
            h[i] += MAD(m, o[i], own_h[i]);
        }
        m += mass;
        NAME(cross)(x, N, V);
        NAME(add_cross)(x, f, V + 3);
        NAME(add_cross)(x, h, g);
        if (loaded) {
            NAME(add_cross)(A, o, B);
            for (int i = 0; i < 3; i++) x[i] += A[i];
        }
        if (kind == LWI_PATH_SCREW) { // (16)
            const real turn = AT(body[j].turn), slide = AT(body[j].slide);
            real y[3];
            NAME(cross)(y, f, V);
            for (int i = 0; i < 3; i++) {
                if (loaded) y[i] += B[i];
                x[i] = SUM2(turn, x[i], slide, MAD(m, g[i], y[i]));
            }
        }
        for (int i = 0; i < (kind >= LWI_PATH_BALL ? 3 : 1); i++) {
            const lwi_lanes *a = own[i].a;
            const real along = SUM3(AT(a[0]), x[0], AT(a[1]), x[1], AT(a[2]), x[2]);
            NAME(write)(rate, j + i, l, along);
            MORE(nothing, along, ZERO);
        }
    }
    return nothing;
}

// ----------------------------------------------------------------------------------- accelerations

// The angular velocity of the body beyond place j relative to the one before it.
static INLINE void NAME(turning)(real *turn, const lwi_path_body *body, const lwi_path_link *own,
                                 int kind, const double *const *u, int j, int l)
{
    real speed = NAME(read)(u, j, l);
    if (kind == LWI_PATH_SCREW) speed = AT(body->turn) * speed;
    for (int i = 0; i < 3; i++) turn[i] = AT(own->a[i]) * speed;
    for (int k = 1; kind >= LWI_PATH_BALL && k < 3; k++) {
        const real more = NAME(read)(u, j + k, l);
        for (int i = 0; i < 3; i++) MORE(turn[i], AT(own[k].a[i]), more);
    }
}

// W, Wv: the velocity of the tip, relative to the body before the head.
static INLINE void NAME(velocity)(const lwi_path_body *body, const lwi_path_link *link,
                                  lwi_path_end *end, NAME(kinds) kinds, const double *const *u,
                                  int n, int l)
{
    real w[3] = {ZERO, ZERO, ZERO}, v[3] = {ZERO, ZERO, ZERO};
    for (int j = 0; j < n; j++) {
        const int kind = NAME(kind)(kinds, j);
        const lwi_path_link *own = &link[j];
        real o[3], turn[3];
        NAME(load)(o, own->o, 3, l);
        NAME(turning)(turn, &body[j], own, kind, u, j, l);
        for (int i = 0; i < 3; i++) {
            w[i] += turn[i];
            if (kind == LWI_PATH_SCREW)
                MORE(v[i], AT(own->a[i]), AT(body[j].slide) * NAME(read)(u, j, l));
        }
        NAME(add_cross)(v, w, o);
        if (kind >= LWI_PATH_BALL) j += 2;
    }
    for (int c = 0; c < 3; c++) {
        const real x = AT(end->R[3 * c]), y = AT(end->R[3 * c + 1]), z = AT(end->R[3 * c + 2]);
        AT(end->W[c]) = SUM3(x, w[0], y, w[1], z, w[2]);
        AT(end->Wv[c]) = SUM3(x, v[0], y, v[1], z, v[2]);
    }
}

// a += (w x axis) speed
static INLINE void NAME(coriolis)(real *a, const real *w, const lwi_path_link *own, real speed,
                                  int l)
{
    real axis[3], x[3];
    NAME(load)(axis, own->a, 3, l);
    NAME(cross)(x, w, axis);
    for (int i = 0; i < 3; i++) MORE(a[i], x[i], speed);
}

// b and c (11): al and a are the accelerations without joint accelerations, head at rest.
static INLINE void NAME(bias)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                              NAME(kinds) kinds, const double *const *u, int n, int l)
{
    real w[3], al[3] = {ZERO, ZERO, ZERO}, a[3] = {ZERO, ZERO, ZERO};
    NAME(load)(w, end->W0, 3, l);
    for (int j = 0; j < n; j++) {
        const int kind = NAME(kind)(kinds, j);
        lwi_path_link *own = &link[j];
        const real mass = AT(body[j].m);
        real turn[3], o[3], h[3], J[6], wJ[3], wh[3], wo[3], n_[3], f[3];
        if (kind == LWI_PATH_SCREW) // 2 w x S u
            NAME(coriolis)(a, w, own, 2 * (AT(body[j].slide) * NAME(read)(u, j, l)), l);
        NAME(turning)(turn, &body[j], own, kind, u, j, l);
        NAME(add_cross)(al, w, turn);
        for (int i = 0; i < 3; i++) w[i] += turn[i];
        NAME(load)(o, own->o, 3, l);
        NAME(load)(h, own->h, 3, l);
        NAME(load)(J, own->J, 6, l);
        NAME(symmetric_times)(n_, J, al);
        NAME(symmetric_times)(wJ, J, w);
        NAME(cross)(wh, w, h);
        NAME(cross)(wo, w, o);
        NAME(add_cross)(n_, h, a);
        NAME(add_cross)(n_, w, wJ);
        for (int i = 0; i < 3; i++) f[i] = mass * a[i];
        NAME(add_cross)(f, al, h);
        NAME(add_cross)(f, w, wh);
        NAME(store)(own->b, n_, 3, l);
        NAME(store)(own->b + 3, f, 3, l);
        NAME(add_cross)(a, al, o);
        NAME(add_cross)(a, w, wo);
        if (kind >= LWI_PATH_BALL) j += 2;
    }
    const real A[6] = {al[0], al[1], al[2], a[0], a[1], a[2]};
    real c[5];
    NAME(to_tip)(c, end, A, l);
    NAME(store)(end->c, c, 5, l);
    AT(end->c[5]) = SUM3(AT(end->R[6]), al[0], AT(end->R[7]), al[1], AT(end->R[8]), al[2]);
}

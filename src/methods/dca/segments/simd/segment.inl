// segment.inl -- the passes over the bodies of one segment per lane (blocks.h).  Included once per width.
//
// In: WIDTH with lane.inl, sincos.inl, vectors.inl.  Lanes l .. l + WIDTH - 1 of a block.
// Equations (n): docs/theory/segments.md.

// ------------------------------------------------------------------------------------------- poses

// J of a body, about its joint's point, from own axes to axes of the head: [x y z] J [x y z]'.
static INLINE void NAME(rotate_inertia)(const lwi_lanes *own, const real *x, const real *y,
                                        const real *z, lwi_lanes *to, int l)
{
    const real xx = AT(own[0]), yy = AT(own[1]), zz = AT(own[2]);
    const real xy = AT(own[3]), xz = AT(own[4]), yz = AT(own[5]);
    real a[3], b[3], c[3];
    for (int i = 0; i < 3; i++) {
        a[i] = SUM3(x[i], xx, y[i], xy, z[i], xz);
        b[i] = SUM3(x[i], xy, y[i], yy, z[i], yz);
        c[i] = SUM3(x[i], xz, y[i], yz, z[i], zz);
    }
    AT(to[0]) = SUM3(a[0], x[0], b[0], y[0], c[0], z[0]);
    AT(to[1]) = SUM3(a[1], x[1], b[1], y[1], c[1], z[1]);
    AT(to[2]) = SUM3(a[2], x[2], b[2], y[2], c[2], z[2]);
    AT(to[3]) = SUM3(a[0], x[1], b[0], y[1], c[0], z[1]);
    AT(to[4]) = SUM3(a[0], x[2], b[0], y[2], c[0], z[2]);
    AT(to[5]) = SUM3(a[1], x[2], b[1], y[2], c[1], z[2]);
}

// The axes (x, y, z) rotated about z by (c, s): x and y change.
static INLINE void NAME(rotate_axes)(real *x, real *y, real c, real s)
{
    for (int i = 0; i < 3; i++) {
        const real rotated = SUM2(c, x[i], s, y[i]);
        y[i] = DIFF(c, y[i], s, x[i]);
        x[i] = rotated;
    }
}

// Axes, points, m c and inertias of all bodies in axes of the head; of the segment R, r, h, m.
// Returns the lanes with angles that are not too large.
static INLINE mask NAME(pose)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                              const double *const *q, int n, int l)
{
    real x[3] = {ONE, ZERO, ZERO}, y[3] = {ZERO, ONE, ZERO}, z[3] = {ZERO, ZERO, ONE};
    real r[3] = {ZERO, ZERO, ZERO}, h[3] = {ZERO, ZERO, ZERO}, m = ZERO;
    mask valid = ~NAME(bits)(ZERO);
    for (int j = 0; j < n; j++) {
        const lwi_path_body *own = &body[j];
        lwi_path_link *to = &link[j];
        const real angle = AT(own->angle) + NAME(read)(q, j, l), mass = AT(own->m);
        real s, c;
        valid &= NAME(at_most)(NAME(absolute)(angle), NAME(splat)(LWI_K_LARGEST_ANGLE));
        NAME(sincos)(angle, &s, &c);
        NAME(rotate_axes)(x, y, c, s);
        for (int i = 0; i < 3; i++) {
            const real o = SUM3(x[i], AT(own->o[0]), y[i], AT(own->o[1]), z[i], AT(own->o[2]));
            const real hi = SUM3(x[i], AT(own->h[0]), y[i], AT(own->h[1]), z[i], AT(own->h[2]));
            AT(to->a[i]) = z[i];
            AT(to->o[i]) = o;
            AT(to->h[i]) = hi;
            h[i] += MAD(mass, r[i], hi);
            r[i] += o;
        }
        m += mass;
        NAME(rotate_inertia)(own->J, x, y, z, to->J, l);
        NAME(rotate_axes)(y, z, AT(own->ca), AT(own->sa)); // about x, to the next joint's axis
    }
    NAME(store)(end->R, x, 3, l);
    NAME(store)(end->R + 3, y, 3, l);
    NAME(store)(end->R + 6, z, 3, l);
    NAME(store)(end->r, r, 3, l);
    NAME(store)(end->h, h, 3, l);
    AT(end->m) = m;
    return valid;
}

// ------------------------------------------------------------------------------------------ inward

// The articulated inertia of the bodies beyond:  [n; f] = [J H; H' m] [w; v], with what the tip passes on:
// T [n of 5; f of 5], L.
typedef struct NAME(inertia) {
    real J[6], H[9], m[6];
    real Tn[5][3], Tf[5][3], L[15];
} NAME(inertia);

// M and T about the point inside of the one they are about, o away:  H' = H + o~ m,
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
    for (int c = 0; c < 5; c++) NAME(add_cross)(M->Tn[c], o, M->Tf[c]);
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

// M -= U g', and of T and L the joint's part (2).
static INLINE void NAME(eliminate)(NAME(inertia) * M, const real *U, const real *g, const real *t,
                                   const real *tD)
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
    for (int c = 0; c < 5; c++)
        for (int i = 0; i < 3; i++) {
            LESS(M->Tn[c][i], g[i], t[c]);
            LESS(M->Tf[c][i], g[3 + i], t[c]);
        }
    for (int c = 0, n = 0; c < 5; c++)
        for (int d = 0; d <= c; d++, n++) MORE(M->L[n], tD[c], t[d]);
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

// M, T, L of the five components that a cut has: the head's axis is z.
static INLINE void NAME(keep_ends)(const NAME(inertia) * M, lwi_path_end *end, int l)
{
    const real *J = M->J, *H = M->H, *m = M->m;
    const real lower[15] = {J[0], J[3], J[1], H[0], H[3], m[0], H[1], H[4],
                            m[3], m[1], H[2], H[5], m[4], m[5], m[2]};
    NAME(store)(end->M, lower, 15, l);
    NAME(store)(end->L, M->L, 15, l);
    for (int c = 0; c < 5; c++) {
        AT(end->T[c]) = M->Tn[c][0];
        AT(end->T[5 + c]) = M->Tn[c][1];
        for (int i = 0; i < 3; i++) AT(end->T[10 + 5 * i + c]) = M->Tf[c][i];
    }
}

// (2) from the tip to the head; `vectors`: z and e too.  Returns the lanes with well conditioned pivots.
static INLINE mask NAME(inward)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                                const double *const *p, int n, bool vectors, int l)
{
    NAME(inertia) M;
    mask valid = ~NAME(bits)(ZERO);
    real e[5], zn[3], zf[3];
    NAME(start_at_tip)(&M, end, l);
    for (int c = 0; c < 5; c++) e[c] = ZERO;
    for (int i = 0; i < 3; i++) zn[i] = AT(end->next) * AT(end->R[6 + i]), zf[i] = ZERO;
    for (int j = n - 1; j >= 0; j--) {
        lwi_path_link *own = &link[j];
        real o[3], a[3], U[6], g[6], t[5], tD[5];
        NAME(load)(o, own->o, 3, l);
        NAME(load)(a, own->a, 3, l);
        NAME(shift)(&M, o);
        NAME(add_body)(&M, own, AT(body[j].m), l);
        NAME(symmetric_times)(U, M.J, a);
        for (int i = 0; i < 3; i++)
            U[3 + i] = SUM3(M.H[i], a[0], M.H[3 + i], a[1], M.H[6 + i], a[2]);
        const real D = NAME(dot)(a, U) + AT(body[j].rotor), Di = 1 / D;
        valid &= NAME(well_posed)(Di, (M.J[0] + M.J[1]) + M.J[2]);
        for (int i = 0; i < 6; i++) g[i] = U[i] * Di;
        for (int c = 0; c < 5; c++) {
            t[c] = NAME(dot)(a, M.Tn[c]);
            tD[c] = t[c] * Di;
        }
        NAME(eliminate)(&M, U, g, t, tD);
        NAME(store)(own->g, g, 6, l);
        NAME(store)(own->t, tD, 5, l);
        AT(own->Di) = Di;
        if (!vectors) continue;
        NAME(add_cross)(zn, o, zf);
        const real y = (NAME(read)(p, j, l) - NAME(dot)(a, zn)) * Di;
        for (int i = 0; i < 3; i++) {
            MORE(zn[i], U[i], y);
            MORE(zf[i], U[3 + i], y);
        }
        for (int c = 0; c < 5; c++) MORE(e[c], t[c], y);
        AT(own->y) = y;
    }
    NAME(keep_ends)(&M, end, l);
    NAME(store)(end->e, e, 5, l);
    NAME(store)(end->z, zn, 2, l);
    NAME(store)(end->z + 2, zf, 3, l);
    return valid;
}

// ------------------------------------------------------------------------------- the second pass

// The wrench [n; f] at the tip in axes of the head: x holds the five components, `along` the sixth.
static INLINE void NAME(from_tip)(real *n, real *f, const lwi_path_end *end, const real *x,
                                  real along, int l)
{
    for (int i = 0; i < 3; i++) {
        const real a = AT(end->R[i]), b = AT(end->R[3 + i]), c = AT(end->R[6 + i]);
        n[i] = SUM3(a, x[0], b, x[1], c, along);
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
static INLINE void NAME(add_head)(real *z, const lwi_path_end *end, const real *V0, int l)
{
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 5; c++) MORE(z[i], AT(end->M[TRIANGLE(i, c)]), V0[c]);
}

// The head's motion, [w; v], from its five components.
static INLINE void NAME(head_motion)(real *V, const real *x)
{
    V[0] = x[0], V[1] = x[1], V[2] = ZERO;
    V[3] = x[2], V[4] = x[3], V[5] = x[4];
}

// z and e about V0 and f0, and y of the bodies (8); `bias`: of accelerations, with b and c (11).
static INLINE void NAME(again)(lwi_path_link *link, lwi_path_end *end, const double *const *p,
                               int n, bool bias, int l)
{
    real V0[5], f0[5], V[6], zn[3], zf[3], x[5];
    NAME(load)(V0, end->V0, 5, l);
    NAME(load)(f0, end->f0, 5, l);
    NAME(from_tip)(zn, zf, end, f0, AT(end->next), l);
    for (int j = n - 1; j >= 0; j--) {
        lwi_path_link *own = &link[j];
        real o[3], a[3];
        NAME(load)(o, own->o, 3, l);
        NAME(load)(a, own->a, 3, l);
        NAME(add_cross)(zn, o, zf);
        for (int i = 0; bias && i < 3; i++) {
            zn[i] += AT(own->b[i]);
            zf[i] += AT(own->b[3 + i]);
        }
        const real along = NAME(read)(p, j, l) - NAME(dot)(a, zn);
        for (int i = 0; i < 3; i++) {
            MORE(zn[i], AT(own->g[i]), along);
            MORE(zf[i], AT(own->g[3 + i]), along);
        }
        AT(own->y) = along * AT(own->Di);
    }
    NAME(head_motion)(V, V0);
    for (int j = 0; j < n; j++) {
        const lwi_path_link *own = &link[j];
        real o[3];
        NAME(load)(o, own->o, 3, l);
        const real u = NAME(speed)(own, AT(own->y), V, l);
        for (int i = 0; i < 3; i++) MORE(V[i], AT(own->a[i]), u);
        NAME(add_cross)(V + 3, V, o);
    }
    NAME(to_tip)(x, end, V, l);
    for (int i = 0; bias && i < 5; i++) x[i] += AT(end->c[i]);
    NAME(store)(end->e, x, 5, l);
    real z[5] = {zn[0], zn[1], zf[0], zf[1], zf[2]};
    NAME(add_head)(z, end, V0, l);
    NAME(store)(end->z, z, 5, l);
}

// ----------------------------------------------------------------------------------------- outward

// The solution at the ends: both passes together.
static INLINE void NAME(whole)(real *x, const lwi_lanes *first, const lwi_lanes *correction, int l)
{
    for (int i = 0; i < 5; i++) x[i] = AT(first[i]) + AT(correction[i]);
}

// Speeds (3), or accelerations; `keep`: velocities of the bodies.  Returns zero where all are finite.
static INLINE real NAME(speeds)(lwi_path_link *link, lwi_path_end *end, double *const *u, int n,
                                bool keep, int l)
{
    real f[5], x[5], V[6], nothing = ZERO;
    NAME(load)(f, end->f, 5, l);
    NAME(whole)(x, end->V0, end->V, l);
    NAME(head_motion)(V, x);
    for (int j = 0; j < n; j++) {
        lwi_path_link *own = &link[j];
        real o[3], tip = SUM2(AT(own->t[0]), f[0], AT(own->t[1]), f[1]);
        tip = MAD(AT(own->t[2]), f[2], MAD(AT(own->t[3]), f[3], MAD(AT(own->t[4]), f[4], tip)));
        const real speed = NAME(speed)(own, AT(own->y) - tip, V, l);
        NAME(write)(u, j, l, speed);
        MORE(nothing, speed, ZERO);
        NAME(load)(o, own->o, 3, l);
        for (int i = 0; i < 3; i++) MORE(V[i], AT(own->a[i]), speed);
        if (keep) NAME(store)(own->V, V, 6, l);
        NAME(add_cross)(V + 3, V, o);
    }
    AT(end->axial) = SUM3(AT(end->R[6]), V[0], AT(end->R[7]), V[1], AT(end->R[8]), V[2]);
    return nothing;
}

// Rates of the momenta (4): n, f, h, m are those of all bodies beyond the joint; `loaded`: with loads beyond the tip,
// [A; B] about the joint.
static INLINE real NAME(rates)(const lwi_path_body *body, const lwi_path_link *link,
                               const lwi_path_end *end, double *const *rate, int n, bool loaded,
                               int l)
{
    real tip[5], N[3], f[3], h[3], g[3], A[3], B[3], m = AT(end->mb), nothing = ZERO;
    NAME(whole)(tip, end->f0, end->f, l);
    NAME(from_tip)(N, f, end, tip, AT(end->next), l);
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
        const real along = SUM3(AT(own->a[0]), x[0], AT(own->a[1]), x[1], AT(own->a[2]), x[2]);
        NAME(write)(rate, j, l, along);
        MORE(nothing, along, ZERO);
    }
    return nothing;
}

// ----------------------------------------------------------------------------------- accelerations

// W, Wv: the velocity of the tip, relative to the body before the head.
static INLINE void NAME(velocity)(const lwi_path_link *link, lwi_path_end *end,
                                  const double *const *u, int n, int l)
{
    real w[3] = {ZERO, ZERO, ZERO}, v[3] = {ZERO, ZERO, ZERO};
    for (int j = 0; j < n; j++) {
        const real speed = NAME(read)(u, j, l);
        real o[3];
        NAME(load)(o, link[j].o, 3, l);
        for (int i = 0; i < 3; i++) MORE(w[i], AT(link[j].a[i]), speed);
        NAME(add_cross)(v, w, o);
    }
    for (int c = 0; c < 3; c++) {
        const real x = AT(end->R[3 * c]), y = AT(end->R[3 * c + 1]), z = AT(end->R[3 * c + 2]);
        AT(end->W[c]) = SUM3(x, w[0], y, w[1], z, w[2]);
        AT(end->Wv[c]) = SUM3(x, v[0], y, v[1], z, v[2]);
    }
}

// b and c (11): al and a are the accelerations without joint accelerations, head at rest.
static INLINE void NAME(bias)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                              const double *const *u, int n, int l)
{
    real w[3], al[3] = {ZERO, ZERO, ZERO}, a[3] = {ZERO, ZERO, ZERO};
    NAME(load)(w, end->W0, 3, l);
    for (int j = 0; j < n; j++) {
        lwi_path_link *own = &link[j];
        const real speed = NAME(read)(u, j, l), mass = AT(body[j].m);
        real axis[3], o[3], h[3], J[6], wJ[3], wh[3], wo[3], n_[3], f[3], x[3];
        NAME(load)(axis, own->a, 3, l);
        NAME(load)(o, own->o, 3, l);
        NAME(load)(h, own->h, 3, l);
        NAME(load)(J, own->J, 6, l);
        NAME(cross)(x, w, axis);
        for (int i = 0; i < 3; i++) {
            MORE(al[i], x[i], speed);
            MORE(w[i], axis[i], speed);
        }
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
    }
    const real A[6] = {al[0], al[1], al[2], a[0], a[1], a[2]};
    real c[5];
    NAME(to_tip)(c, end, A, l);
    NAME(store)(end->c, c, 5, l);
    AT(end->c[5]) = SUM3(AT(end->R[6]), al[0], AT(end->R[7]), al[1], AT(end->R[8]), al[2]);
}

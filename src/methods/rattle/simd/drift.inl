// drift.inl -- the first kick and the drift of a body in each lane; the equations are those of drift.c and newton.c.
//
// Input: state, loads and wrenches of the bodies.  Output: the numbers from `kick` to `off`.  Cost: constant per body, mainly
// Newton's iterations for the rotation vector: those of all lanes until the last one has ended.

/** The numbers of lwi_rattle_body that the drift reads, and those that it writes. */
typedef struct given {
    real mass, J[6], mobility[6];
    real r[3], quat[4], P[3], Pi[3];
    real er[3], eq[4], eP[3], ePi[3];
    real R[9], f[6], wrench[6], origin[3];
} given;

typedef struct drifted {
    real kick[6], theta[3], r1[3], quat1[4], er1[3], eq1[4], dPi[3], Pi1[3], R1[9], local[3],
        off[6];
} drifted;

_Static_assert(sizeof(given) == LWI_RATTLE_GIVEN * sizeof(real), "numbers that the drift reads");
_Static_assert(sizeof(drifted) == LWI_RATTLE_DRIFT * sizeof(real), "numbers that it writes");
_Static_assert(offsetof(lwi_rattle_body, kick) == LWI_RATTLE_GIVEN * sizeof(double) &&
                   offsetof(lwi_rattle_body, f1) ==
                       (LWI_RATTLE_GIVEN + LWI_RATTLE_DRIFT) * sizeof(double),
               "they are consecutive");

// Below this square of the angle by series.
#define SMALL 0.25
// The square of pi.
#define LARGE 9.869604401089358

// b, c and their derivatives by t.
static INLINE void coefficients(real t, real *b, real *c, real *bt, real *ct)
{
    static const double series[] = {1.0 / 12,         1.0 / 720,      1.0 / 30240,
                                    1.0 / 1209600,    1.0 / 47900160, 691 / 1307674368000.0,
                                    1 / 74724249600.0};
    *c = *ct = ZERO;
    for (int i = 6; i >= 0; i--) {
        *ct = MAD(*ct, t, *c);
        *c = MAD(*c, t, C(series[i]));
    }
    *b = NMAD(*c, t, C(1));
    *bt = -(*c) - *ct * t;
    const mask small = NAME(at_most)(t, C(SMALL));
    if (!NAME(lanes_of)(~small)) return;
    const real angle = NAME(root)(t), half = C(0.5) * angle;
    real sine, cosine;
    NAME(sincos)(half, &sine, &cosine);
    const real cot = cosine / sine, B = half * cot, over = C(1) / t, k = (C(1) - B) * over;
    const real dB = (cot - half * MAD(cot, cot, C(1))) / (C(4) * angle);
    *b = NAME(select)(small, *b, B);
    *c = NAME(select)(small, *c, k);
    *bt = NAME(select)(small, *bt, dB);
    *ct = NAME(select)(small, *ct, -(dB + k) * over);
}

// x of G' x = a by cofactors.
static INLINE void solve(const real A[9], const real a[3], real x[3])
{
    real B[9];
    B[0] = DIFF(A[4], A[8], A[5], A[7]), B[1] = DIFF(A[2], A[7], A[1], A[8]);
    B[2] = DIFF(A[1], A[5], A[2], A[4]), B[3] = DIFF(A[5], A[6], A[3], A[8]);
    B[4] = DIFF(A[0], A[8], A[2], A[6]), B[5] = DIFF(A[2], A[3], A[0], A[5]);
    B[6] = DIFF(A[3], A[7], A[4], A[6]), B[7] = DIFF(A[1], A[6], A[0], A[7]);
    B[8] = DIFF(A[0], A[4], A[1], A[3]);
    const real over = C(1) / SUM3(A[0], B[0], A[1], B[3], A[2], B[6]);
    times(x, B, a);
    for (int i = 0; i < 3; i++) x[i] *= over;
}

// Newton's increment of x for G(x) = a.
static INLINE void increment(const real J[6], const real a[3], const real x[3], real dx[3])
{
    const real full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    real y[3], z[3], b, c, bt, ct, gap[3], A[9];
    symmetric_times(y, J, x);
    const real t = dot(x, x), s = dot(x, y);
    coefficients(t, &b, &c, &bt, &ct);
    cross(z, x, y);
    const real cs = c * s, two_ct_s = C(2) * ct * s, two_bt = C(2) * bt, two_c = C(2) * c;
    for (int i = 0; i < 3; i++) gap[i] = a[i] - SUM3(b, y[i], C(0.5), z[i], cs, x[i]);
    const real X[9] = {ZERO, -x[2], x[1], x[2], ZERO, -x[0], -x[1], x[0], ZERO};
    const real Y[9] = {ZERO, -y[2], y[1], y[2], ZERO, -y[0], -y[1], y[0], ZERO};
    for (int i = 0; i < 3; i++) {
        const real one = SUM2(two_bt, y[i], two_ct_s, x[i]), two = two_c * x[i];
        for (int j = 0; j < 3; j++) {
            const int at = 3 * i + j;
            const real XJ =
                SUM3(X[3 * i], full[j], X[3 * i + 1], full[3 + j], X[3 * i + 2], full[6 + j]);
            A[at] = MAD(one, x[j], MAD(two, y[j], SUM2(b, full[at], C(0.5), XJ - Y[at])));
        }
        A[4 * i] += cs;
    }
    solve(A, gap, dx);
}

enum { MAX_ITERATIONS = 20 };

// An increment below this share of the vector is the last one: Newton's error is its square.
#define LAST 1e-9

// theta with G(theta) = a, from theta; not a number: none below pi.
static INLINE void rotation(const real J[6], const real a[3], real x[3])
{
    real last = C(INFINITY);
    mask open = NAME(at_most)(ZERO, ZERO);
    for (int i = 0; i < MAX_ITERATIONS && NAME(lanes_of)(open); i++) {
        real dx[3];
        const real before = dot(x, x);
        increment(J, a, x, dx);
        const real size = dot(dx, dx);
        // open lanes take an increment that falls; NaN and angles beyond pi end as NaN
        const mask falls = NAME(at_most)(size, last) & ~NAME(at_most)(last, size) & open;
        const mask lost = open & (~NAME(at_most)(before, C(LARGE)) | ~NAME(at_most)(size, size));
        for (int k = 0; k < 3; k++) {
            const real next = NAME(select)(falls, x[k] + dx[k], x[k]);
            x[k] = NAME(select)(lost, C(NAN), next);
        }
        last = size;
        open = falls & ~lost & ~NAME(at_most)(size, C(LAST * LAST) * before);
    }
}

// dq := q o exp(theta / 2) - q; R1 of the sum: quat_matrix.
static INLINE void turn(const real q[4], const real x[3], real dq[4])
{
    const real angle = NAME(root)(dot(x, x));
    real sine, cosine;
    NAME(sincos)(C(0.25) * angle, &sine, &cosine);
    const mask large = ~NAME(at_most)(angle, C(1e-8));
    const real k = NAME(select)(large, C(2) * sine * cosine / angle, C(0.5));
    const real w = C(-2) * sine * sine, a = k * x[0], b = k * x[1], c = k * x[2];
    dq[0] = NMAD(q[3], c, NMAD(q[2], b, DIFF(q[0], w, q[1], a)));
    dq[1] = NMAD(q[3], b, SUM3(q[0], a, q[1], w, q[2], c));
    dq[2] = MAD(q[3], a, NMAD(q[1], c, SUM2(q[0], b, q[2], w)));
    dq[3] = MAD(q[3], w, NMAD(q[2], a, SUM2(q[0], c, q[1], b)));
}

static INLINE void matrix(const real q[4], real R[9])
{
    const real w = q[0], x = q[1], y = q[2], z = q[3], one = C(1);
    const real s = C(2) / MAD(z, z, SUM3(w, w, x, x, y, y));
    R[0] = NMAD(s, SUM2(y, y, z, z), one), R[1] = s * DIFF(x, y, w, z), R[2] = s * SUM2(x, z, w, y);
    R[3] = s * SUM2(x, y, w, z), R[4] = NMAD(s, SUM2(x, x, z, z), one), R[5] = s * DIFF(y, z, w, x);
    R[6] = s * DIFF(x, z, w, y), R[7] = s * SUM2(y, z, w, x), R[8] = NMAD(s, SUM2(x, x, y, y), one);
}

static INLINE void kick(const given *g, real half, drifted *d)
{
    real torque[3];
    transposed_times(torque, g->R, g->wrench + 3);
    for (int i = 0; i < 3; i++) {
        d->kick[i] = half * (g->f[i] + g->wrench[i]);
        d->kick[3 + i] = half * (g->f[3 + i] + torque[i]);
    }
}

static INLINE void move(const given *g, real h, drifted *d)
{
    const real per_mass = h / g->mass;
    for (int i = 0; i < 3; i++) {
        const real P = g->P[i] + (g->eP[i] + d->kick[i]);
        d->er1[i] = g->er[i];
        d->r1[i] = add(g->r[i], per_mass * P, &d->er1[i]);
        const real rounded = d->r1[i] - g->origin[i];
        d->local[i] = rounded + d->er1[i];
        d->off[i] = d->er1[i] - (d->local[i] - rounded);
    }
}

static INLINE void rotate(const given *g, real h, drifted *d)
{
    real y[3], z[3], dq[4], sum[4], e[3];
    symmetric_times(y, g->J, d->theta);
    cross(z, d->theta, y);
    for (int i = 0; i < 3; i++) {
        d->dPi[i] = d->kick[3 + i] - z[i] / h;
        d->Pi1[i] = g->Pi[i] + (g->ePi[i] + d->dPi[i]);
    }
    turn(g->quat, d->theta, dq);
    for (int i = 0; i < 4; i++) sum[i] = g->quat[i] + (g->eq[i] + dq[i]);
    const real longer =
        C(0.5) * (MAD(sum[3], sum[3], SUM3(sum[0], sum[0], sum[1], sum[1], sum[2], sum[2])) - C(1));
    for (int i = 0; i < 4; i++) {
        d->eq1[i] = g->eq[i];
        d->quat1[i] = add(g->quat[i], NMAD(longer, sum[i], dq[i]), &d->eq1[i]);
    }
    matrix(d->quat1, d->R1);
    // the quaternion's remainder as a rotation in body axes: twice the vector of q* o eq
    const real *q = d->quat1, *r = d->eq1;
    e[0] = C(2) * NMAD(q[2], r[3], MAD(q[3], r[2], DIFF(q[0], r[1], q[1], r[0])));
    e[1] = C(2) * NMAD(q[3], r[1], MAD(q[1], r[3], DIFF(q[0], r[2], q[2], r[0])));
    e[2] = C(2) * NMAD(q[1], r[2], MAD(q[2], r[1], DIFF(q[0], r[3], q[3], r[0])));
    times(d->off + 3, d->R1, e);
}

static void drift(lwi_rattle_body *body, double h, bool first)
{
    const double *from[WIDTH];
    double *to[WIDTH];
    given g;
    drifted d;
    for (int l = 0; l < WIDTH; l++) from[l] = &body[l].mass, to[l] = body[l].theta;
    from_rows(from, LWI_RATTLE_GIVEN, &g.mass);
    kick(&g, C(0.5 * h), &d);
    real a[3];
    for (int i = 0; i < 3; i++) a[i] = C(h) * (g.Pi[i] + (g.ePi[i] + d.kick[3 + i]));
    if (first)
        symmetric_times(d.theta, g.mobility, a);
    else
        from_rows((const double *const *)to, 3, d.theta);
    rotation(g.J, a, d.theta);
    move(&g, C(h), &d);
    rotate(&g, C(h), &d);
    for (int l = 0; l < WIDTH; l++) to[l] = body[l].kick;
    to_rows(d.kick, LWI_RATTLE_DRIFT, to);
}

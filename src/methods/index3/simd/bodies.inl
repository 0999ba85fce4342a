// bodies.inl -- part of lanes.c: bodies in a step, from the state and back to it.  The equations are those of
// step.c, tangent.c and project.c [malczyk2019, (15)-(27), (43)-(45), (58)-(60)] in six coordinates.
// Input: state at the beginning, multipliers.  Output: pose and velocity at the end, K.  Cost: constant per body.

// Rotations up to one radian: series in the square of the angle, up to round-off; no root, no quotient, short
// dependency chains.
#define NEAR 1.0
static const double near_cosine[] = {1.0 / 2,       1.0 / 24,        1.0 / 720,        1.0 / 40320,
                                     1.0 / 3628800, 1.0 / 479001600, 1.0 / 87178291200}; // 1/(2k)!
static const double near_sine[] = {
    1.0 / 6,        1.0 / 120,        1.0 / 5040,         1.0 / 362880,
    1.0 / 39916800, 1.0 / 6227020800, 1.0 / 1307674368000}; // 1/(2k + 1)!
static const double near_factor[] = {
    1.0 / 12,
    1.0 / 720,
    1.0 / 30240,
    1.0 / 1209600,
    1.0 / 47900160,
    691 / 1307674368000.0,
    1.0 / 74724249600,
    3617 / 10670622842880000.0,
    43867 / 5109094217170944000.0,
    174611 / 802857662698291200000.0}; // |B_2k|/(2k)!, Bernoulli's numbers

static INLINE real series(const double *c, const int n, real x)
{
    real sum = C(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) sum = MAD(sum, x, C(c[i]));
    return sum;
}

// Quaternion (c, u) of the rotation theta, and c of T^-1 = 1 + theta~/2 + c theta~^2.
static INLINE void exponential(const real theta[3], real part[4], real *c_of_inverse)
{
    const real square = dot(theta, theta), y = C(-0.25) * square;
    const mask near = NAME(at_most)(square, C(NEAR));
    real cosine = MAD(y, series(near_cosine, LWI_COUNT(near_cosine), y), C(1));
    real k = C(0.5) * MAD(y, series(near_sine, LWI_COUNT(near_sine), y), C(1));
    real factor = series(near_factor, LWI_COUNT(near_factor), square);
    if (NAME(lanes_of)(near) != (1u << WIDTH) - 1) {
        const real angle = NAME(root)(square);
        real s, c;
        NAME(sincos)(C(0.5) * angle, &s, &c);
        const real quotient = s / NAME(select)(near, C(1), angle);
        const real cotangent = c / NAME(select)(near, C(1), s);
        const real far = NMAD(C(0.5) * angle, cotangent, C(1)) / NAME(select)(near, C(1), square);
        cosine = NAME(select)(near, cosine, c);
        k = NAME(select)(near, k, quotient);
        factor = NAME(select)(near, factor, far);
    }
    part[0] = cosine;
    for (int i = 0; i < 3; i++) part[1 + i] = k * theta[i];
    *c_of_inverse = factor;
}

static INLINE void move(const lwi_index3_lanes *s, lwi_index3_lane_body *b, int l)
{
    const real one = C(2 / s->h);
    real q[4], theta[3], factor, R0[9], R[9], wn[3], w[3];
    load(theta, b->theta, 3, l);
    exponential(theta, q, &factor);
    AT(b->factor) = factor;
    for (int i = 0; i < 3; i++) wn[i] = MSUB(one, theta[i], AT(b->w0[i]));
    // rows of R0 rotate by the inverse: x E = x + 2 c x cross u + 2 (x cross u) cross u
    load(R0, b->R0, 9, l);
    for (int i = 0; i < 9; i += 3) {
        real once[3], again[3];
        cross(once, R0 + i, q + 1);
        cross(again, once, q + 1);
        for (int k = 0; k < 3; k++) R[i + k] = MAD(C(2), MAD(q[0], once[k], again[k]), R0[i + k]);
    }
    times(w, R, wn);
    store(b->R, R, 9, l);
    store(b->w, w, 3, l);
}

// Accelerations by the trapezoidal rule [malczyk2019, (15)-(16)]; aln body axes.
static INLINE void accelerations(const lwi_index3_lanes *s, const lwi_index3_lane_body *b,
                                 real an[3], real aln[3], int l)
{
    const real two = C(4 / (s->h * s->h));
    for (int i = 0; i < 3; i++) {
        an[i] = MSUB(two, AT(b->r[i]) - AT(b->r0[i]), AT(b->a0[i]));
        aln[i] = MSUB(two, AT(b->theta[i]), AT(b->al0[i]));
    }
}

// Reads n numbers of every lane from x; unused lanes read `none`.
static INLINE void read_rows(const double *x, const lwi_index3_lane_offset *row, const double *none,
                             const int n, real *to, int l)
{
    const double *from[WIDTH];
    for (int i = 0; i < WIDTH; i++) from[i] = row->at[l + i] < 0 ? none : x + row->at[l + i];
    from_rows(from, n, to);
}

// Writes n numbers of every lane to x; unused lanes are not written.
static INLINE void write_rows(const real *from, const int n, double *x,
                              const lwi_index3_lane_offset *row, int l)
{
    double *to[WIDTH], nowhere[8];
    for (int i = 0; i < WIDTH; i++) to[i] = row->at[l + i] < 0 ? nowhere : x + row->at[l + i];
    to_rows(from, n, to);
}

// For unused lanes: a pose, and from entry 4 on zeros.
static const double no_body[10] = {0, 0, 0, 1};

// Starts at the predicted end of a step.
static INLINE void begin(const lwi_index3_lanes *s, int block, int l)
{
    lwi_index3_lane_body *b = &s->body[block];
    real pose[7], u[6], a[6];
    read_rows(s->state, &s->pose[block], no_body, 7, pose, l);
    read_rows(s->state, &s->speed[block], no_body + 4, 6, u, l);
    read_rows(s->state, &s->acceleration[block], no_body + 4, 6, a, l);
    const real w = pose[3], x = pose[4], y = pose[5], z = pose[6];
    const real half = C(0.5) * MAD(z, z, SUM3(w, w, x, x, y, y)), f = C(1) / half;
    AT(b->R0[0]) = NMAD(f, SUM2(y, y, z, z), C(1));
    AT(b->R0[4]) = NMAD(f, SUM2(x, x, z, z), C(1));
    AT(b->R0[8]) = NMAD(f, SUM2(x, x, y, y), C(1));
    AT(b->R0[1]) = f * DIFF(x, y, w, z), AT(b->R0[3]) = f * SUM2(x, y, w, z);
    AT(b->R0[2]) = f * SUM2(x, z, w, y), AT(b->R0[6]) = f * DIFF(x, z, w, y);
    AT(b->R0[5]) = f * DIFF(y, z, w, x), AT(b->R0[7]) = f * SUM2(y, z, w, x);
    const real h = C(s->h), h2 = C(0.5 * s->h), twice = C(4 / s->h);
    for (int i = 0; i < 3; i++) {
        AT(b->r[i]) = MAD(h, MAD(h2, a[i], u[i]), pose[i]);
        AT(b->theta[i]) = h * MAD(h2, a[3 + i], u[3 + i]);
        AT(b->a0[i]) = MAD(twice, u[i], a[i]), AT(b->al0[i]) = MAD(twice, u[3 + i], a[3 + i]);
    }
    store(b->r0, pose, 3, l);
    store(b->quat, pose + 3, 4, l);
    store(b->v0, u, 3, l);
    store(b->w0, u + 3, 3, l);
    move(s, b, l);
}

// Adds force and torque of a joint's point rows.  F: multipliers, arm: of a side.
static INLINE void wrench(real sum[6], const real F[3], const real arm[3])
{
    for (int k = 0; k < 3; k++) sum[k] += F[k];
    cross_add(sum + 3, arm, F);
}

// The same for axis rows.
static INLINE void torques(const lwi_index3_lanes *s, const lwi_index3_lane_source *from, real n[3],
                           int l)
{
    real f[LWI_INDEX3_AXES], normal[3 * LWI_INDEX3_AXES];
    fetch(f, s->edge[0].side[0].f, from, LWI_INDEX3_AXES, l);
    fetch(normal, s->edge[0].side[0].normal, from, 3 * LWI_INDEX3_AXES, l);
    for (int k = 0; k < LWI_INDEX3_AXES; k++)
        for (int i = 0; i < 3; i++) n[i] = MAD(f[k], normal[3 * k + i], n[i]);
}

// The same for rows of all kinds.
static INLINE void mixed_wrench(const lwi_index3_lanes *s, const lwi_index3_lane_source *from,
                                const real *f, real sum[6], int l)
{
    real J[6 * LWI_INDEX3_MAX_ROWS];
    fetch(J, s->rows[0].J, from, 6 * LWI_INDEX3_MAX_ROWS, l);
    for (int r = 0; r < LWI_INDEX3_MAX_ROWS; r++)
        for (int i = 0; i < 6; i++) sum[i] = MAD(f[r], J[6 * r + i], sum[i]);
}

static INLINE void add_joints(const lwi_index3_lanes *s, int block, real sum[6], int l)
{
    const lwi_index3_lane_incident *incident = &s->incident[block];
    for (int i = 0; i < incident->n; i++) {
        const lwi_index3_lane_source *from = &incident->from[i];
        real F[3], arm[3];
        fetch(F, s->edge[0].side[0].F, from, 3, l);
        fetch(arm, s->edge[0].side[0].arm, from, 3, l);
        wrench(sum, F, arm);
        if (incident->axes[i]) torques(s, from, sum + 3, l);
    }
    for (int i = 0; i < incident->nmixed; i++) {
        real f[LWI_INDEX3_MAX_ROWS];
        fetch(f, s->rows[0].f, &incident->mixed[i], LWI_INDEX3_MAX_ROWS, l);
        mixed_wrench(s, &incident->mixed[i], f, sum, l);
    }
}

// rr -= F s' - (s.F) 1
static INLINE void auxiliary(real rr[9], const real s[3], const real F[3])
{
    const real sF = dot(s, F);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) rr[3 * i + k] = NMAD(F[i], s[k], rr[3 * i + k]);
        rr[4 * i] += sF;
    }
}

// Forces of all joints and their stiffness: of forces at points, and of axes.
static INLINE void add_joints_with_stiffness(const lwi_index3_lanes *s, int block, real sum[6],
                                             real rr[9], int l)
{
    const lwi_index3_lane_incident *incident = &s->incident[block];
    for (int i = 0; i < incident->n; i++) {
        const lwi_index3_lane_source *from = &incident->from[i];
        const lwi_index3_lane_side *side = s->edge[0].side;
        real F[3], arm[3], more[9];
        fetch(F, side->F, from, 3, l);
        fetch(arm, side->arm, from, 3, l);
        wrench(sum, F, arm);
        auxiliary(rr, arm, F);
        if (!incident->axes[i]) continue;
        torques(s, from, sum + 3, l);
        fetch(more, side->rr, from, 9, l);
        for (int k = 0; k < 9; k++) rr[k] += more[k];
    }
    for (int i = 0; i < incident->nmixed; i++) {
        real in[LWI_INDEX3_MAX_ROWS + 9]; // f, rr
        fetch(in, s->rows[0].f, &incident->mixed[i], LWI_COUNT(in), l);
        mixed_wrench(s, &incident->mixed[i], in, sum, l);
        for (int k = 0; k < 9; k++) rr[k] += in[LWI_INDEX3_MAX_ROWS + k];
    }
    if (!s->load) return;
    for (int i = 0; i < 6; i++) sum[i] += AT(s->load[block].f[i]);
    for (int i = 0; i < 9; i++) rr[i] += AT(s->load[block].rr[i]);
}

// [J + h/2 (w~ J - (J w)~)] T^-1, world axes
static INLINE void gyroscopic(real A[9], const real J[9], const real w[3], const real L[3],
                              const real theta[3], real factor, real half)
{
    for (int j = 0; j < 3; j++) {
        const real column[3] = {J[j], J[3 + j], J[6 + j]};
        real c[3];
        cross(c, w, column);
        for (int i = 0; i < 3; i++) A[3 * i + j] = MAD(half, c[i], column[i]);
    }
    A[1] = MAD(half, L[2], A[1]), A[2] = NMAD(half, L[1], A[2]);
    A[3] = NMAD(half, L[2], A[3]), A[5] = MAD(half, L[0], A[5]);
    A[6] = MAD(half, L[1], A[6]), A[7] = NMAD(half, L[0], A[7]);
    for (int i = 0; i < 9; i += 3) { // a row times theta~ is the row cross theta
        real once[3], twice[3];
        cross(once, A + i, theta);
        cross(twice, once, theta);
        for (int k = 0; k < 3; k++)
            A[i + k] = MAD(factor, twice[k], MAD(C(0.5), once[k], A[i + k]));
    }
}

// K = A^-1; returns the lanes in which the symmetric part of A is positive definite
static INLINE mask invert(const real A[9], real K[9])
{
    const real xy = C(0.5) * (A[1] + A[3]), xz = C(0.5) * (A[2] + A[6]),
               yz = C(0.5) * (A[5] + A[7]);
    const real minor = DIFF(A[0], A[4], xy, xy);
    const real products = SUM2(A[0] * yz, yz, A[4] * xz, xz);
    const real determinant = MAD(C(2) * xy * xz, yz, MSUB(A[8], minor, products));
    const real c0 = DIFF(A[4], A[8], A[5], A[7]), c1 = DIFF(A[5], A[6], A[3], A[8]),
               c2 = DIFF(A[3], A[7], A[4], A[6]);
    const real f = C(1) / SUM3(A[0], c0, A[1], c1, A[2], c2);
    K[0] = c0 * f, K[3] = c1 * f, K[6] = c2 * f;
    K[1] = DIFF(A[2], A[7], A[1], A[8]) * f;
    K[4] = DIFF(A[0], A[8], A[2], A[6]) * f;
    K[7] = DIFF(A[1], A[6], A[0], A[7]) * f;
    K[2] = DIFF(A[1], A[5], A[2], A[4]) * f;
    K[5] = DIFF(A[2], A[3], A[0], A[5]) * f;
    K[8] = DIFF(A[0], A[4], A[1], A[3]) * f;
    return ~(NAME(at_most)(A[0], C(0)) | NAME(at_most)(minor, C(0)) |
             NAME(at_most)(determinant, C(0)));
}

// Full K from the blocks of the uncoupled K.
static INLINE void full_of_parts(const lwi_index3_lanes *s, int block, int l)
{
    lwi_lanes *to = s->full[block].K;
    const lwi_index3_lane_body *b = &s->body[block];
    for (int i = 0; i < LWI_INDEX3_FULL_ENTRIES; i++) AT(to[i]) = ZERO;
    for (int i = 0; i < 3; i++) {
        AT(to[7 * i]) = AT(b->lin);
        for (int k = 0; k < 3; k++) AT(to[6 * (3 + i) + 3 + k]) = AT(b->K[3 * i + k]);
    }
}

// Full K of [m + eta tt, eta tr; eta rt, A], by Gauss-Jordan in place; the uncoupled K if a pivot is not
// positive.
static void full_leaf(const lwi_index3_lanes *s, int block, const real A[9], real eta, int l)
{
    const lwi_index3_lane_body *b = &s->body[block];
    const lwi_index3_lane_load *load = &s->load[block];
    const bool all = s->level > 1;
    const real half = C(all ? 0 : 0.5), weight = C(all ? 1 : 0.5), free = AT(b->free);
    real B[6][6];
    mask lost = NAME(at_most)(C(1), ZERO);
    full_of_parts(s, block, l);
    if (!s->level) return;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int at = 3 * i + k, back = 3 * k + i;
            B[i][k] = eta * MAD(half, AT(load->tt[back]), weight * AT(load->tt[at]));
            B[i][3 + k] = eta * MAD(half, AT(load->rt[back]), weight * AT(load->tr[at]));
            B[3 + i][k] = eta * MAD(half, AT(load->tr[back]), weight * AT(load->rt[at]));
            B[3 + i][3 + k] = A[at];
        }
    for (int i = 0; i < 3; i++) B[i][i] += AT(b->mass);
    for (int p = 0; p < 6; p++) {
        lost |= NAME(at_most)(B[p][p], ZERO);
        const real inverse = C(1) / B[p][p];
        B[p][p] = C(1);
        for (int k = 0; k < 6; k++) B[p][k] *= inverse;
        for (int i = 0; i < 6; i++) {
            if (i == p) continue;
            const real f = B[i][p];
            B[i][p] = ZERO;
            for (int k = 0; k < 6; k++) B[i][k] = NMAD(f, B[p][k], B[i][k]);
        }
    }
    for (int i = 0; i < LWI_INDEX3_FULL_ENTRIES; i++) {
        lwi_lanes *to = &s->full[block].K[i];
        AT(*to) = NAME(select)(lost, AT(*to), eta * free * B[i / 6][i % 6]);
    }
}

// Newton's matrix of a body; J: its inertia, world axes; rr: stiffness
static INLINE void leaf(const lwi_index3_lanes *s, lwi_index3_lane_body *b, const real J[9],
                        const real w[3], const real L[3], const real rr[9], const real R[9], int l)
{
    const real eta = C(0.25 * s->h * s->h), keep = eta * AT(b->free);
    real A[9], K[9], theta[3], body[3];
    load(body, b->theta, 3, l);
    times(theta, R, body);
    if (s->level > 1)
        gyroscopic(A, J, w, L, theta, AT(b->factor), C(0.5 * s->h));
    else
        for (int i = 0; i < 9; i++) A[i] = J[i];
    for (int i = 0; i < 3 && s->level; i++)
        for (int j = 0; j < 3; j++) {
            const real mean = C(0.5) * (rr[3 * i + j] + rr[3 * j + i]);
            A[3 * i + j] = MAD(eta, s->level > 1 ? rr[3 * i + j] : mean, A[3 * i + j]);
        }
    const mask valid = invert(A, K);
    if (NAME(lanes_of)(valid) !=
        (1u << WIDTH) - 1) { // compression that outweighs the inertia is omitted
        real mobility[6], M[9];
        load(mobility, b->mobility, 6, l);
        rotate(M, R, mobility);
        for (int i = 0; i < 9; i++) K[i] = NAME(select)(valid, K[i], M[i]);
    }
    for (int i = 0; i < 9; i++) AT(b->K[i]) = keep * K[i];
    AT(b->lin) = eta * AT(b->inverse_mass);
    if (!s->full || !s->is_full[b - s->body]) return;
    for (int i = 0; i < 9; i++) A[i] = NAME(select)(valid, A[i], J[i]);
    full_leaf(s, (int)(b - s->body), A, eta, l);
}

// x += K f for a full K
static INLINE void full_response(const lwi_index3_lanes *s, int block, const real f[6], real x[6],
                                 int l)
{
    const lwi_lanes *K = s->full[block].K;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) x[i] = MAD(AT(K[6 * i + k]), f[k], x[i]);
}

// x := K f
static INLINE void apply(const lwi_index3_lanes *s, lwi_index3_lane_body *b, const real f[6], int l)
{
    real K[9], x[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    if (s->full && s->is_full[b - s->body]) {
        full_response(s, (int)(b - s->body), f, x, l);
        store(b->x, x, 6, l);
        return;
    }
    load(K, b->K, 9, l);
    times(x, K, f + 3);
    for (int i = 0; i < 3; i++) AT(b->x[i]) = AT(b->lin) * f[i], AT(b->x[3 + i]) = x[i];
}

static INLINE void balance(const lwi_index3_lanes *s, int block, int l)
{
    lwi_index3_lane_body *b = &s->body[block];
    real R[9], J6[6], J[9], w[3], an[3], aln[3], al[3], L[3], rate[3], f[6], rr[9];
    load(R, b->R, 9, l);
    load(J6, b->J, 6, l);
    load(w, b->w, 3, l);
    accelerations(s, b, an, aln, l);
    rotate(J, R, J6);
    times(L, J, w);
    times(al, R, aln);
    times(rate, J, al);
    for (int i = 0; i < 3; i++) {
        f[i] = NMAD(AT(b->mass), an[i], AT(b->weight[i]));
        f[3 + i] = -rate[i];
    }
    cross_add(f + 3, L, w);
    for (int i = 0; i < 9; i++) rr[i] = C(0);
    add_joints_with_stiffness(s, block, f, rr, l);
    if (!s->keep) leaf(s, b, J, w, L, rr, R, l);
    apply(s, b, f, l);
}

// x += K J' lambda
static INLINE void add_response(const lwi_index3_lanes *s, int block, real x[6], int l)
{
    const lwi_index3_lane_body *b = &s->body[block];
    real f[6], K[9];
    for (int i = 0; i < 6; i++) f[i] = C(0);
    add_joints(s, block, f, l);
    if (s->full && s->is_full[block]) {
        load(x, b->x, 6, l);
        full_response(s, block, f, x, l);
        return;
    }
    load(K, b->K, 9, l);
    for (int i = 0; i < 3; i++) {
        x[i] = MAD(AT(b->lin), f[i], AT(b->x[i]));
        x[3 + i] = AT(b->x[3 + i]);
        for (int k = 0; k < 3; k++) x[3 + i] = MAD(K[3 * i + k], f[3 + k], x[3 + i]);
    }
}

static INLINE void take(const lwi_index3_lanes *s, int block, int l)
{
    lwi_index3_lane_body *b = &s->body[block];
    real x[6], R[9], theta[3], u[3], once[3], twice[3];
    add_response(s, block, x, l);
    store(b->x, x, 6, l);
    load(R, b->R, 9, l);
    load(theta, b->theta, 3, l);
    transposed_times(u, R, x + 3);
    cross(once, theta, u);
    cross(twice, theta, once);
    for (int i = 0; i < 3; i++) {
        AT(b->r[i]) += x[i];
        AT(b->theta[i]) = theta[i] + MAD(AT(b->factor), twice[i], MAD(C(0.5), once[i], u[i]));
    }
    AT(b->size) = AT(b->counts) * MAD(AT(b->reach2), dot(u, u), dot(x, x));
    move(s, b, l);
}

static INLINE void masses(const lwi_index3_lanes *s, lwi_index3_lane_body *b, int l)
{
    const real one = C(2 / s->h);
    real R[9], mobility[6], K[9];
    for (int i = 0; i < 3; i++) {
        AT(b->x[i]) = MSUB(one, AT(b->r[i]) - AT(b->r0[i]), AT(b->v0[i]));
        AT(b->x[3 + i]) = AT(b->w[i]);
    }
    if (s->keep) return;
    load(R, b->R, 9, l);
    load(mobility, b->mobility, 6, l);
    rotate(K, R, mobility);
    for (int i = 0; i < 9; i++) AT(b->K[i]) = AT(b->free) * K[i];
    AT(b->lin) = AT(b->inverse_mass);
    if (s->full && s->is_full[b - s->body]) full_of_parts(s, (int)(b - s->body), l);
}

static INLINE void take_speeds(const lwi_index3_lanes *s, int block, int l)
{
    lwi_index3_lane_body *b = &s->body[block];
    real x[6], R[9], an[3], aln[3], al[3];
    add_response(s, block, x, l);
    store(b->v, x, 3, l);
    store(b->w, x + 3, 3, l);
    load(R, b->R, 9, l);
    accelerations(s, b, an, aln, l);
    times(al, R, aln);
    store(b->x, an, 3, l);
    store(b->x + 3, al, 3, l);
}

// Writes the state at the end to x; the quaternion keeps its sign.
static INLINE void finish(const lwi_index3_lanes *s, int block, int l)
{
    const lwi_index3_lane_body *b = &s->body[block];
    real x[6], R[9], w[3], pose[7], u[6], a[6], theta[3], factor, p[4], q[4], n[4];
    add_response(s, block, x, l);
    load(R, b->R, 9, l);
    load(w, b->w, 3, l);
    for (int i = 0; i < 3; i++) a[i] = x[i];
    transposed_times(a + 3, R, x + 3);
    load(u, b->v, 3, l);
    transposed_times(u + 3, R, w);
    load(pose, b->r, 3, l);
    load(p, b->quat, 4, l);
    load(theta, b->theta, 3, l);
    exponential(theta, q, &factor);
    n[0] = DIFF(p[0], q[0], p[1], q[1]) - SUM2(p[2], q[2], p[3], q[3]);
    n[1] = SUM2(p[0], q[1], p[1], q[0]) + DIFF(p[2], q[3], p[3], q[2]);
    n[2] = SUM2(p[0], q[2], p[2], q[0]) + DIFF(p[3], q[1], p[1], q[3]);
    n[3] = SUM2(p[0], q[3], p[3], q[0]) + DIFF(p[1], q[2], p[2], q[1]);
    const real square = MAD(n[3], n[3], dot(n, n)), along = MAD(n[3], p[3], dot(n, p));
    const real unit = C(1) / NAME(root)(square);
    const real f = NAME(select)(NAME(at_most)(C(0), along), unit, -unit);
    for (int i = 0; i < 4; i++) pose[3 + i] = f * n[i];
    write_rows(pose, 7, s->state, &s->pose[block], l);
    write_rows(u, 6, s->state, &s->speed[block], l);
    write_rows(a, 6, s->state, &s->acceleration[block], l);
}

// segments.inl -- one long branch cut into segments of equal length; the recursions process the segments in
// lanes.
//
// Problem: articulated-body recursion of a long chain in parallel lanes.  Input: phases `pose` to `bias` of
// the bodies.  Output: accelerations of the branch; its articulated inertia at the base.  Cost: O(n / lanes)
// for the sweeps, one join for each segment.
//
// Body j of segment r is at slot first + R j + r.  A segment is attached to the last body of the previous
// segment, the first one to the body that carries the branch: its base, with unknown motion.  It carries the
// next segment, the last one the bodies beyond the branch; the wrench f at this tip is unknown.  Both enter
// linearly:
//
//   prefix    w_tip = C w_base + w                      rotation and relative angular velocity
//   columns   T takes a wrench at the tip to the base:  t = T_5,  T := X' (T - g t)
//             A_tip = T'A_base + e - L f,               e = sum T'(b, k) + t y,  L = sum t't / D
//   join      f = I A_tip + p of the segments beyond:   I := I_r + T Q T',  Q = (1 + I L)^-1 I
//   outward   every body then has  y - t.f / D  for y
//
// Segments, cuts and the order of joins depend on the topology only, so that every width gives the same
// bits.

// ------------------------------------------------------------------------------------------- lanes

// Sweeps take some bodies of all segments at a time, what the first cache holds: not many if a block is read once for each of
// several registers, h is then the first lane of each.
enum { VARIANT(PARTS) = LWI_LANES / WIDTH, VARIANT(FEW) = 12, VARIANT(MANY) = 36 };
static INLINE int VARIANT(bodies_at_a_time)(segment_positions of)
{
    return of.segments > WIDTH ? VARIANT(FEW) : VARIANT(MANY);
}
#define EVERY_PART(of, from, to)                                                                   \
    for (int from = 0, to, count_ = VARIANT(bodies_at_a_time)(of);                                 \
         to = from + count_ < (of).length ? from + count_ : (of).length, from < (of).length;       \
         from = to)                                                                                \
        for (int h = 0; h < (of).segments; h += WIDTH)

// Angular velocity w and the columns x, y of the rotation, from position `from` to `to`.
static void VARIANT(prefix_part)(segment_positions of, int half, int from, int to, real w[3],
                                 real x[3], real y[3])
{
    real a[3][3] = {{w[0], w[1], w[2]}, {x[0], x[1], x[2]}, {y[0], y[1], y[2]}};
    segment_positions at = at_position(of, from, half);
    for (int j = from; j < to; j++, next_position(&at)) {
        const int l = 0, kl = 0;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pose *pose = at.pose;
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
#define PREFIX(shape)                                                                              \
    for (int i = 0; i < 3; i++) VARIANT(to_hinge)(k, kl, theta, shape, a[i]);
        OF_AXIS(*at.shape, PREFIX)
#undef PREFIX
        a[0][2] += AT(pose->v);
    }
    for (int i = 0; i < 3; i++) w[i] = a[0][i], x[i] = a[1][i], y[i] = a[2][i];
}

// Poses; C and w of the segments.  Two columns of the rotation are sufficient.
static mask VARIANT(prefix)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                            const lwi_k_state *state)
{
    const segment_positions of = positions_of(plan, stage, state);
    real w[VARIANT(PARTS)][3], x[VARIANT(PARTS)][3], y[VARIANT(PARTS)][3], z[3];
    mask valid = ~NAME(bits)(ZERO);
    for (int r = 0; r < VARIANT(PARTS); r++)
        for (int i = 0; i < 3; i++) {
            w[r][i] = ZERO;
            x[r][i] = ZERO + (i == 0);
            y[r][i] = ZERO + (i == 1);
        }
    EVERY_PART(of, from, to)
    {
        // without the recursion: sines are long, the processor overlaps those of several bodies
        segment_positions at = at_position(of, from, h);
        for (int j = from; j < to; j++, next_position(&at))
            valid &= VARIANT(pose_screw)(at.screw, 0, at.joint, at.pose, true, plan->forward, 0);
        VARIANT(prefix_part)(of, h, from, to, w[h / WIDTH], x[h / WIDTH], y[h / WIDTH]);
    }
    for (int l = 0; l < of.segments; l += WIDTH) {
        const int r = l / WIDTH;
        CROSS(z, x[r], y[r]);
        for (int i = 0; i < 3; i++) {
            AT(of.segment->C[3 * i]) = x[r][i];
            AT(of.segment->C[3 * i + 1]) = y[r][i];
            AT(of.segment->C[3 * i + 2]) = z[i];
            AT(of.segment->w[i]) = w[r][i];
        }
    }
    return valid;
}

static void VARIANT(velocities_part)(segment_positions of, int half, int from, int to, real last[3])
{
    real w[3] = {last[0], last[1], last[2]};
    segment_positions at = at_position(of, from, half);
    for (int j = from; j < to; j++, next_position(&at)) {
        const int l = 0, kl = 0;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pose *pose = at.pose;
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
#define SPIN(shape) VARIANT(to_hinge)(k, kl, theta, shape, w);
        OF_AXIS(*at.shape, SPIN)
#undef SPIN
        w[2] += AT(pose->v);
        for (int i = 0; i < 3; i++) AT(at.bias->w[i]) = w[i];
        VARIANT(bias_wrench)(at.body, l, at.bias, l);
        VARIANT(bias_screw)(k, kl, pose, true, at.bias, l);
    }
    for (int i = 0; i < 3; i++) last[i] = w[i];
}

static void VARIANT(segment_velocities)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                        const lwi_k_state *state)
{
    const segment_positions of = positions_of(plan, stage, state);
    real w[VARIANT(PARTS)][3];
    for (int l = 0; l < of.segments; l += WIDTH)
        for (int i = 0; i < 3; i++) w[l / WIDTH][i] = AT(of.segment->w[i]);
    EVERY_PART(of, from, to) VARIANT(velocities_part)(of, h, from, to, w[h / WIDTH]);
}

// Positions j = from ... to, inward.  The sweeps below alternate, some bodies each, so that the output of
// one is still in the cache when the next reads it.
static void VARIANT(segment_inward)(segment_positions of, int half, int from, int to)
{
    ART M;
    VARIANT(clear)(&M);
    VARIANT(fetch)(&of.segment->art, half, &M);
    segment_positions at = at_position(of, from + 1, half);
    for (int j = from; j >= to; j--) {
        previous_position(&at);
        const int l = 0;
        VARIANT(hinge_inward)
        (at.body, at.screw, l, at.pose, at.bias, at.pivot, l, *at.shape, &M);
    }
    VARIANT(park)(&of.segment->art, half, &M, true);
}

// COLUMNS columns of T from `first` on, their part of e, and the entries t of every body.
enum { VARIANT(COLUMNS) = 3 };

// Transforms a wrench x with n_z = 0 from a hinge to its parent.
static INLINE void VARIANT(pass_column)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                        int shape, real x[6])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    const real a = K(k->a);
    TURN_VECTOR(theta, x[0], x[1]);
    TURN_VECTOR(theta, x[3], x[4]);
    if (shape & LWI_K_ALONG) {
        LESS(x[3], K(k->shift), x[1]);
        MORE(x[4], K(k->shift), x[0]);
    }
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_VECTOR(alpha, x[1], x[2]);
        x[5] = alpha.s * x[4];
        x[4] = alpha.c * x[4];
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        TURN_RIGHT(x[1], x[2]);
        x[5] = x[4];
        x[4] = ZERO;
    } else {
        x[5] = ZERO;
    }
    if (shape & LWI_K_APART) {
        LESS(x[4], a, x[2]);
        MORE(x[5], a, x[1]);
    }
}

static INLINE void VARIANT(columns)(segment_positions of, int half, int first, int from, int to,
                                    bool biased)
{
    enum { N = VARIANT(COLUMNS) };
    real T[N][6], e[N];
    for (int i = 0, l = half; i < N; i++) {
        e[i] = AT(of.segment->e[first + i]);
        for (int j = 0; j < 6; j++) T[i][j] = AT(of.segment->T[6 * j + first + i]);
    }
    segment_positions at = at_position(of, from + 1, half);
    for (int j = from; j >= to; j--) {
        previous_position(&at);
        const int l = 0, kl = 0;
        const lwi_k_pose *pose = at.pose;
        const lwi_k_bias *bias = at.bias;
        const lwi_k_pivot *pivot = at.pivot;
        const lwi_k_screw *k = at.screw;
        const real g0 = AT(pivot->g[0]), g1 = AT(pivot->g[1]), g2 = AT(pivot->g[2]),
                   g3 = AT(pivot->g[3]), g4 = AT(pivot->g[4]), yi = AT(pivot->y);
        const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]),
                   k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
        for (int i = 0; i < N; i++) {
            real *x = T[i];
            const real t = x[5];
            AT(at.row->t[first + i]) = t;
            LESS(x[0], g0, t);
            LESS(x[1], g1, t);
            LESS(x[2], g2, t);
            LESS(x[3], g3, t);
            LESS(x[4], g4, t);
            MORE(e[i], t, yi);
            if (!biased) continue;
            MORE(e[i], x[0], b0);
            MORE(e[i], x[1], b1);
            MORE(e[i], x[2], b2);
            MORE(e[i], x[3], k0);
            MORE(e[i], x[4], k1);
        }
#define PASS(shape)                                                                                \
    for (int i = 0; i < N; i++) VARIANT(pass_column)(k, kl, pose, l, shape, T[i]);
        OF_SHAPE(*at.shape, PASS)
#undef PASS
    }
    for (int i = 0, l = half; i < N; i++) {
        AT(of.segment->e[first + i]) = e[i];
        for (int j = 0; j < 6; j++) AT(of.segment->T[6 * j + first + i]) = T[i][j];
    }
}

// Rows first ... end - 1 of L = sum t't / D, lower triangle row by row.
static INLINE void VARIANT(compliance_rows)(segment_positions of, int half, int from, int to,
                                            int first, int end)
{
    const int start = first * (first + 1) / 2, count = end * (end + 1) / 2 - start;
    lwi_lanes *sum = of.segment->L + start;
    real L[21];
    for (int e = 0, l = half; e < count; e++) L[e] = AT(sum[e]);
    segment_positions at = at_position(of, from + 1, half);
    for (int j = from; j >= to; j--) {
        previous_position(&at);
        const int l = 0;
        const real Di = AT(at.pivot->Di);
        real t[6];
        for (int i = 0; i < end; i++) t[i] = AT(at.row->t[i]);
        for (int i = first, e = 0; i < end; i++) {
            const real s = t[i] * Di;
            for (int c = 0; c <= i; c++, e++) MORE(L[e], s, t[c]);
        }
    }
    for (int e = 0, l = half; e < count; e++) AT(sum[e]) = L[e];
}

// The 21 sums fill 32 registers; 16 take half of them at a time.
static void VARIANT(compliance)(segment_positions of, int half, int from, int to)
{
    if (WIDEST == 8) {
        VARIANT(compliance_rows)(of, half, from, to, 0, 6);
    } else {
        VARIANT(compliance_rows)(of, half, from, to, 0, 4);
        VARIANT(compliance_rows)(of, half, from, to, 4, 6);
    }
}

// Initial values of the elimination at the tip of a segment.
static void VARIANT(segment_clear)(lwi_k_segment *segment, int half)
{
    const int l = half;
    ART M;
    VARIANT(clear)(&M);
    VARIANT(park)(&segment->art, half, &M, true);
    for (int i = 0; i < 36; i++) AT(segment->T[i]) = ZERO;
    for (int i = 0; i < 6; i++) AT(segment->T[7 * i]) = ZERO + 1;
    for (int i = 0; i < 6; i++) AT(segment->e[i]) = ZERO;
    for (int i = 0; i < 21; i++) AT(segment->L[i]) = ZERO;
    for (int i = 0; i < 3; i++) AT(segment->art.h[i]) = ZERO;
}

// All of the segments that does not depend on the other segments.
static void VARIANT(segment_elimination)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                         const lwi_k_state *state)
{
    const segment_positions of = positions_of(plan, stage, state);
    for (int h = 0; h < stage->segments; h += WIDTH) VARIANT(segment_clear)(of.segment, h);
    const int count = VARIANT(bodies_at_a_time)(of);
    for (int from = of.length - 1; from >= 0; from -= count) {
        const int to = from - count + 1 < 0 ? 0 : from - count + 1;
        for (int h = 0; h < stage->segments; h += WIDTH) {
            VARIANT(segment_inward)(of, h, from, to);
            for (int i = 0; i < 6; i += VARIANT(COLUMNS))
                VARIANT(columns)(of, h, i, from, to, true);
            VARIANT(compliance)(of, h, from, to);
        }
    }
}

// y - t.f / D of a body, f: wrench at the tip.
static INLINE real VARIANT(less_tip)(const lwi_k_pivot *pivot, const lwi_k_row *row, int l,
                                     const real f[6])
{
    real sum = AT(row->t[0]) * f[0];
    for (int i = 1; i < 6; i++) MORE(sum, AT(row->t[i]), f[i]);
    return NMAD(sum, AT(pivot->Di), AT(pivot->y));
}

// y - t.f / D, and A of the body.
static mask VARIANT(outward_part)(segment_positions of, int half, int from, int to, real last[6],
                                  const real f[6])
{
    real A[6];
    mask valid = ~NAME(bits)(ZERO);
    for (int i = 0; i < 6; i++) A[i] = last[i];
    segment_positions at = at_position(of, from, half);
    for (int j = from; j < to; j++, next_position(&at)) {
        const int l = 0, kl = 0;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pivot *pivot = at.pivot;
        valid &= VARIANT(well_posed)(AT(pivot->Di), AT(pivot->diagonal));
        const real y = VARIANT(less_tip)(pivot, at.row, l, f);
#define OUTWARD(shape)                                                                             \
    VARIANT(hinge_outward)                                                                         \
    (k, kl, at.pose, at.bias, pivot, at.motion, l, y, shape, A);
        OF_SHAPE(*at.shape, OUTWARD)
#undef OUTWARD
    }
    for (int i = 0; i < 6; i++) last[i] = A[i];
    return valid;
}

static mask VARIANT(segment_outward)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                     const lwi_k_state *state)
{
    const segment_positions of = positions_of(plan, stage, state);
    real A[VARIANT(PARTS)][6], f[VARIANT(PARTS)][6];
    mask valid = ~NAME(bits)(ZERO);
    for (int l = 0; l < of.segments; l += WIDTH)
        for (int i = 0; i < 6; i++) {
            A[l / WIDTH][i] = AT(of.segment->A[i]);
            f[l / WIDTH][i] = AT(of.segment->f[i]);
        }
    EVERY_PART(of, from, to)
    valid &= VARIANT(outward_part)(of, h, from, to, A[h / WIDTH], f[h / WIDTH]);
    // the next segment or branch reads A of the last body
    for (int h = 0; h < of.segments; h += WIDTH) {
        const segment_positions at = at_position(of, of.length - 1, h);
        for (int i = 0, l = 0; i < 6; i++) AT(at.motion->A[i]) = A[h / WIDTH][i];
    }
    return valid;
}
#undef EVERY_PART

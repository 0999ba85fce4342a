// mixed.inl -- part of lanes.c: edges with rows of all kinds, [force; torque].  Rows of points and axes are
// computed here, the others come from the scalar fallback (fallback.c); the equations are those of joints.inl.
// Input and output: as there, with up to six rows per edge.  Cost: constant per edge.

// Expands rows of points and axes of a joint to [force; torque], with their sign at each body.
static INLINE void expand(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    for (int side = 0; side < 2; side++) {
        const lwi_index3_lane_side *from = &s->edge[block].side[side];
        lwi_index3_lane_rows *to = &j->rows[side];
        const real sign = C(side ? 1 : -1);
        real arm[3], n[3];
        load(arm, from->arm, 3, l);
        for (int k = 0; k < 3; k++) {
            const real unit[3] = {k == 0 ? sign : ZERO, k == 1 ? sign : ZERO, k == 2 ? sign : ZERO};
            cross(n, arm, unit);
            store(to->J + 6 * k, unit, 3, l);
            store(to->J + 6 * k + 3, n, 3, l);
        }
        for (int k = 0; k < axes; k++) {
            load(n, from->normal[k], 3, l);
            for (int i = 0; i < 3; i++)
                AT(to->J[6 * (3 + k) + i]) = ZERO, AT(to->J[6 * (3 + k) + 3 + i]) = sign * n[i];
        }
    }
}

// Row r of the multipliers in x.
static INLINE real mixed_start(const lwi_index3_lanes *s, int block, int r, int l)
{
    real x = ZERO;
    for (int i = 0; i < WIDTH; i++)
        if (s->lambda[block].at[l + i] >= 0) LANE(x, i) = s->state[s->lambda[block].at[l + i] + r];
    return x;
}

static INLINE void mixed_multipliers(const lwi_index3_lanes *s, int block, int l)
{
    for (int r = 0; r < s->joint[block].count; r++)
        AT(s->edge[block].lambda[r]) = mixed_start(s, block, r, l);
}

static INLINE void mixed_put(const lwi_index3_lanes *s, int block, int l)
{
    for (int r = 0; r < s->joint[block].count; r++) {
        const real x = next(s, block, r, l);
        for (int i = 0; i < WIDTH; i++)
            if (s->lambda[block].at[l + i] >= 0)
                s->state[s->lambda[block].at[l + i] + r] = LANE(x, i);
    }
}

static INLINE void mixed_rows(const lwi_index3_lanes *s, int block, const bool own, int l)
{
    if (s->joint[block].axes < 0) return;
    rows(s, block, LWI_INDEX3_AXES, own, l);
    expand(s, block, LWI_INDEX3_AXES, l);
}

// Stiffness of rows of points and axes only: that of others comes from the fallback.
static INLINE void mixed_stiffness(const lwi_index3_lanes *s, int block, const real *lambda, int l)
{
    lwi_index3_lane_edge *e = &s->edge[block];
    real known[LWI_INDEX3_MAX_ROWS], rr[9], arm[3], F[3];
    for (int r = 0; r < LWI_INDEX3_MAX_ROWS; r++)
        known[r] = lambda[r] * AT(s->mixed[block].base[r]);
    stiffness(e, known, LWI_INDEX3_AXES, l);
    for (int side = 0; side < 2; side++) {
        load(rr, e->side[side].rr, 9, l);
        load(arm, e->side[side].arm, 3, l);
        for (int i = 0; i < 3; i++) F[i] = side ? known[i] : -known[i];
        auxiliary(rr, arm, F);
        store(s->joint[block].rows[side].rr, rr, 9, l);
    }
}

static INLINE void mixed_act(const lwi_index3_lane_joint *j, const real *lambda, int l)
{
    for (int side = 0; side < j->sides; side++) store(j->rows[side].f, lambda, j->count, l);
}

static INLINE void mixed_rows_forces(const lwi_index3_lanes *s, int block, int l)
{
    real lambda[LWI_INDEX3_MAX_ROWS];
    mixed_rows(s, block, true, l);
    load(lambda, s->edge[block].lambda, LWI_INDEX3_MAX_ROWS, l);
    mixed_act(&s->joint[block], lambda, l);
    if (s->joint[block].axes >= 0 && !s->keep) mixed_stiffness(s, block, lambda, l);
}

// -------------------------------------------------------------------------------------------- blocks

enum { MAX_METRIC = LWI_INDEX3_FULL_ENTRIES };

static INLINE void fetch_metric(const lwi_index3_lanes *s, real *K,
                                const lwi_index3_lane_source *from, bool full, int l)
{
    if (full)
        fetch(K, s->full[0].K, from, LWI_INDEX3_FULL_ENTRIES, l);
    else
        fetch(K, s->body[0].K, from, METRIC, l);
}

// x = K f, or K' f
static INLINE void response_of(const real *K, const bool full, const bool transposed,
                               const real f[6], real x[6])
{
    if (full) {
        for (int i = 0; i < 6; i++) {
            x[i] = K[transposed ? i : 6 * i] * f[0];
            for (int k = 1; k < 6; k++)
                x[i] = MAD(K[transposed ? 6 * k + i : 6 * i + k], f[k], x[i]);
        }
        return;
    }
    for (int i = 0; i < 3; i++) x[i] = K[9] * f[i];
    if (transposed)
        transposed_times(x + 3, K, f + 3);
    else
        times(x + 3, K, f + 3);
}

// J_e K J_f'; rows one after the other
static void mixed_product(const real *K, bool full, bool transposed, const real *e, int ne,
                          const real *f, int nf, real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS])
{
    for (int k = 0; k < nf; k++) {
        real x[6];
        if (full && transposed)
            response_of(K, true, true, f + 6 * k, x);
        else if (full)
            response_of(K, true, false, f + 6 * k, x);
        else if (transposed)
            response_of(K, false, true, f + 6 * k, x);
        else
            response_of(K, false, false, f + 6 * k, x);
        for (int i = 0; i < ne; i++) {
            const real *row = e + 6 * i;
            S[i][k] = SUM3(row[3], x[3], row[4], x[4], row[5], x[5]) + dot(row, x);
        }
    }
}

static INLINE void mixed_diagonal(const lwi_index3_lanes *s, int block, const bool two, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    const lwi_index3_lane_mixed *of = &s->mixed[block];
    const int n = j->count;
    real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS], T[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS],
        J[6 * LWI_INDEX3_MAX_ROWS], K[MAX_METRIC];
    real D[LWI_INDEX3_MAX_ROWS]; // diagonal of whole bodies
    for (int r = 0; r < LWI_INDEX3_MAX_ROWS; r++) {
        D[r] = ZERO;
        for (int c = 0; c < LWI_INDEX3_MAX_ROWS; c++) S[r][c] = ZERO;
    }
    for (int side = 0; side < j->sides; side++) {
        fetch_metric(s, K, j->full ? &j->full_of[side] : &j->body[side], j->full, l);
        load(J, j->rows[side].J, 6 * n, l);
        mixed_product(K, j->full, false, J, n, J, n, T);
        const real parts = AT(of->parts[side]);
        for (int r = 0; r < n; r++) {
            D[r] += T[r][r];
            for (int c = 0; c < n; c++) S[r][c] += j->split ? parts * T[r][c] : T[r][c];
        }
    }
    real trace = AT(of->hard[0]) * D[0];
    for (int r = 1; r < n; r++) trace = MAD(AT(of->hard[r]), D[r], trace);
    const real eps = s->absolute > 0 ? C(s->absolute) : trace * AT(s->edge[block].relative);
    for (int r = 0; r < n; r++) S[r][r] += MAD(AT(of->hard[r]), eps, AT(of->soft[r]));
    AT(s->edge[block].eps) = eps;
    put(j->place.R, &j->place, n, n, S, false, true, l);
    if (two) put(j->place.Q, &j->place, n, n, S, true, true, l);
}

// y = c - J x to the elimination; `hold`: 0 for applied forces, which change with the change of x alone
static INLINE void mixed_right(const lwi_index3_lanes *s, int block, const real *c, bool hold,
                               int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    real y[LWI_INDEX3_MAX_ROWS], x[6], J[6];
    for (int r = 0; r < j->count; r++) y[r] = c[r];
    for (int side = 0; side < j->sides; side++) {
        BODY(x, x);
        for (int r = 0; r < j->count; r++) {
            load(J, j->rows[side].J + 6 * r, 6, l);
            y[r] -= SUM3(J[3], x[3], J[4], x[4], J[5], x[5]) + dot(J, x);
        }
    }
    for (int r = 0; r < j->count && hold; r++) y[r] = AT(s->mixed[block].hard[r]) * y[r];
    for (int r = 0; r < j->count; r++)
        if (j->straight)
            *(stored *)(j->v[0] + r * j->step + l) = y[r];
        else
            scatter(y[r], j->v, r * j->step, l);
}

static void mixed_newton(const lwi_index3_lanes *s, int block, int l)
{
    real c[LWI_INDEX3_MAX_ROWS];
    for (int r = 0; r < LWI_INDEX3_MAX_ROWS; r++) c[r] = -AT(s->edge[block].phi[r]);
    if (!s->keep) mixed_diagonal(s, block, s->level > 1, l);
    mixed_right(s, block, c, false, l);
}

static void mixed_speeds(const lwi_index3_lanes *s, int block, int l)
{
    real c[LWI_INDEX3_MAX_ROWS];
    if (!s->keep) mixed_diagonal(s, block, false, l);
    load(c, s->mixed[block].c, LWI_INDEX3_MAX_ROWS, l);
    mixed_right(s, block, c, s->keep, l);
}

static void mixed_gammas(const lwi_index3_lanes *s, int block, int l)
{
    const lwi_index3_lane_mixed *of = &s->mixed[block];
    real c[LWI_INDEX3_MAX_ROWS], known[LWI_INDEX3_MAX_ROWS], start[LWI_INDEX3_MAX_ROWS];
    load(c, of->c, LWI_INDEX3_MAX_ROWS, l);
    if (s->joint[block].axes >= 0) {
        gammas_of(s, block, LWI_INDEX3_AXES, known, l);
        for (int r = 0; r < 3 + LWI_INDEX3_AXES; r++) c[r] = MAD(AT(of->base[r]), known[r], c[r]);
    }
    if (s->follow) {
        for (int r = 0; r < s->joint[block].count; r++) start[r] = mixed_start(s, block, r, l);
        follow(s, block, start, c, s->joint[block].count, l);
    }
    mixed_right(s, block, c, s->keep, l);
}

static INLINE void mixed_impulses(const lwi_index3_lanes *s, int block, const bool more, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    real lambda[LWI_INDEX3_MAX_ROWS];
    for (int r = 0; r < j->count; r++) {
        lambda[r] = solution(j, r, l);
        if (more)
            AT(s->edge[block].lambda[r]) =
                MAD(AT(s->mixed[block].hard[r]), lambda[r], AT(s->edge[block].lambda[r]));
    }
    mixed_act(j, lambda, l);
}

// -------------------------------------------------------------------------------------------- pairs

static void mixed_pair(const lwi_index3_lanes *s, const lwi_index3_lane_pair *p, const bool two,
                       int l)
{
    const int ne = p->count[0], nf = p->count[1];
    real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS], K[MAX_METRIC], e[6 * LWI_INDEX3_MAX_ROWS],
        f[6 * LWI_INDEX3_MAX_ROWS];
    fetch(e, s->rows[0].J, &p->side[0], 6 * ne, l);
    fetch(f, s->rows[0].J, &p->side[1], 6 * nf, l);
    fetch_metric(s, K, &p->body, p->full, l);
    for (int pass = 0; pass <= two; pass++) {
        mixed_product(K, p->full, pass > 0, e, ne, f, nf, S);
        for (int r = 0; r < ne && p->split; r++)
            for (int c = 0; c < nf; c++) S[r][c] = AT(p->sign) * S[r][c];
        if (p->add)
            add(pass ? p->place.Q : p->place.R, p, ne, nf, S, l);
        else
            put(pass ? p->place.Q : p->place.R, &p->place, ne, nf, S, false, false, l);
    }
}

// joints.inl -- part of lanes.c: joints, their rows, right sides and multipliers.  The equations are those of
// step.c and project.c [malczyk2019, (34)-(35), (52)-(53), (65)-(66)] for point and axis rows.
// Input: poses, velocities and K of both bodies.  Output: blocks J K J', right sides y, forces of the multipliers.
// Cost: constant per joint.

// R, r of a body
enum { POSE = 12 };
#define BODY(first, from) fetch(first, s->body[0].from, &j->body[side], LWI_COUNT(first), l)

// `own`: body 1 is loaded at its own point (lwi_index3_own_points), else at body 2's.
static INLINE void rows(const lwi_index3_lanes *s, int block, const int axes, const bool own, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    lwi_index3_lane_edge *e = &s->edge[block];
    real pose[2][POSE], c[3], arm1[3], arm2[3], far[3];
    for (int side = 0; side < 2; side++) BODY(pose[side], R);
    load(c, e->r1, 3, l);
    times(arm1, pose[0], c);
    load(c, e->r2, 3, l);
    times(arm2, pose[1], c);
    for (int i = 0; i < 3; i++) {
        far[i] = pose[1][9 + i] + arm2[i] - pose[0][9 + i];
        AT(e->phi[i]) = far[i] - arm1[i];
    }
    if (!own) store(e->own, arm1, 3, l);
    store(e->side[0].arm, own ? arm1 : far, 3, l);
    store(e->side[1].arm, arm2, 3, l);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3];
        load(c, e->axis1[k], 3, l);
        times(a1, pose[0], c);
        load(c, e->axis2[k], 3, l);
        times(a2, pose[1], c);
        AT(e->phi[3 + k]) = dot(a1, a2);
        cross(c, a2, a1);
        store(e->a1[k], a1, 3, l);
        store(e->a2[k], a2, 3, l);
        store(e->side[0].normal[k], c, 3, l);
        store(e->side[1].normal[k], c, 3, l);
    }
}

// Forces of the multipliers on both bodies.
static INLINE void act(lwi_index3_lane_edge *e, const real *lambda, const int axes, int l)
{
    for (int side = 0; side < 2; side++) {
        lwi_index3_lane_side *at = &e->side[side];
        for (int i = 0; i < 3; i++) AT(at->F[i]) = side ? lambda[i] : -lambda[i];
        for (int k = 0; k < axes; k++) AT(at->f[k]) = side ? lambda[3 + k] : -lambda[3 + k];
    }
}

// Stiffness of axis rows: a force along one axis at the other.
static INLINE void stiffness(lwi_index3_lane_edge *e, const real *lambda, const int axes, int l)
{
    real rr[2][9];
    for (int i = 0; i < 9; i++) rr[0][i] = rr[1][i] = C(0);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3], F1[3], F2[3];
        load(a1, e->a1[k], 3, l);
        load(a2, e->a2[k], 3, l);
        for (int i = 0; i < 3; i++) F1[i] = lambda[3 + k] * a2[i], F2[i] = lambda[3 + k] * a1[i];
        auxiliary(rr[0], a1, F1);
        auxiliary(rr[1], a2, F2);
    }
    for (int side = 0; side < 2; side++) store(e->side[side].rr, rr[side], 9, l);
}

// needed if rows of all kinds share a body
static INLINE void expand(const lwi_index3_lanes *s, int block, const int axes, int l);

static INLINE void rows_alone(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    rows(s, block, axes, false, l);
    if (s->joint[block].rows) expand(s, block, axes, l);
}

static INLINE void rows_forces(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    lwi_index3_lane_edge *e = &s->edge[block];
    real lambda[LWI_INDEX3_MAX_ROWS];
    rows(s, block, axes, true, l);
    if (s->joint[block].rows) expand(s, block, axes, l);
    load(lambda, e->lambda, 3 + axes, l);
    act(e, lambda, axes, l);
    if (axes && !s->keep) stiffness(e, lambda, axes, l);
}

// A joint's rows at a body: the arm of its points, the torques of its normals.
typedef struct rows_at {
    real arm[3], normal[LWI_INDEX3_AXES][3];
} rows_at;

// J_e K J_f' of a body, both with the sign of a second body
static INLINE void product(const real K[9], real lin, const rows_at *e, const int ne,
                           const rows_at *f, const int nf,
                           real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS])
{
    real Y[9], c[3], x[3]; // K (arm_f)~
    for (int i = 0; i < 9; i += 3) cross(Y + i, K + i, f->arm);
    for (int k = 0; k < 3; k++) {
        const real column[3] = {Y[k], Y[3 + k], Y[6 + k]};
        cross(c, column, e->arm);
        c[k] += lin;
        for (int i = 0; i < 3; i++) S[i][k] = c[i];
        for (int i = 0; i < ne; i++) S[3 + i][k] = dot(e->normal[i], column);
    }
    for (int k = 0; k < nf; k++) {
        times(x, K, f->normal[k]);
        cross(c, x, e->arm);
        for (int i = 0; i < 3; i++) S[i][3 + k] = c[i];
        for (int i = 0; i < ne; i++) S[3 + i][3 + k] = dot(e->normal[i], x);
    }
}

static INLINE void load_rows(rows_at *to, const lwi_index3_lane_side *side, const int axes, int l)
{
    load(to->arm, side->arm, 3, l);
    for (int k = 0; k < axes; k++) load(to->normal[k], side->normal[k], 3, l);
}

enum { METRIC = 10 };

// S_ee + eps of a joint: the inverse of C in [malczyk2019, (35)] for single bodies.
static INLINE void diagonal(const lwi_index3_lanes *s, int block, const int axes, const bool two,
                            int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    const int n = 3 + axes;
    real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS], T[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS],
        K[METRIC], trace;
    rows_at at;
    for (int side = 0; side < 2; side++) {
        BODY(K, K);
        load_rows(&at, &s->edge[block].side[side], axes, l);
        product(K, K[9], &at, axes, &at, axes, side ? T : S);
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) S[r][c] += T[r][c];
    trace = S[0][0];
    for (int r = 1; r < n; r++) trace += S[r][r];
    const real eps = s->absolute > 0 ? C(s->absolute) : trace * AT(s->edge[block].relative);
    for (int r = 0; r < n; r++) S[r][r] += eps;
    AT(s->edge[block].eps) = eps;
    put(j->place.R, &j->place, n, n, S, false, true, l);
    if (two) put(j->place.Q, &j->place, n, n, S, true, true, l);
}

// c -= eps / unit (lambda - start) where multipliers follow those of the motion (regularise.c)
static INLINE void follow(const lwi_index3_lanes *s, int block, const real *start, real *c,
                          const int n, int l)
{
    const lwi_index3_lane_edge *e = &s->edge[block];
    const real share = AT(e->follows) * AT(e->eps) * C(1 / s->unit);
    for (int r = 0; r < n; r++) c[r] = NMAD(share, AT(e->lambda[r]) - start[r], c[r]);
}

// Row r of the elimination's lambda.
static INLINE real solution(const lwi_index3_lane_joint *j, int r, int l)
{
    real one = C(0);
    if (j->straight) return *(const stored *)(j->v[0] + r * j->step + l);
    for (int i = 0; i < WIDTH; i++) LANE(one, i) = j->v[l + i][r * j->step];
    return one;
}

// Multipliers that the next step starts from.
static INLINE real next(const lwi_index3_lanes *s, int block, int r, int l)
{
    const lwi_index3_lane_edge *e = &s->edge[block];
    if (!s->follow) return AT(e->lambda[r]);
    return MAD(AT(e->follows) * C(s->unit), solution(&s->joint[block], r, l), AT(e->lambda[r]));
}

// y = c - J x to the elimination
static INLINE void right(const lwi_index3_lanes *s, int block, const int axes, const real *c, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    const lwi_index3_lane_edge *e = &s->edge[block];
    real x[2][6], y[LWI_INDEX3_MAX_ROWS], arm[3], theta[3];
    for (int side = 0; side < 2; side++) BODY(x[side], x);
    for (int i = 0; i < 3; i++) y[i] = c[i] - (x[1][i] - x[0][i]);
    load(arm, e->side[1].arm, 3, l);
    cross_add(y, arm, x[1] + 3); // minus w x arm
    load(arm, e->side[0].arm, 3, l);
    cross_add(y, x[0] + 3, arm);
    for (int i = 0; i < 3; i++) theta[i] = x[1][3 + i] - x[0][3 + i];
    for (int k = 0; k < axes; k++) {
        real normal[3];
        load(normal, e->side[1].normal[k], 3, l);
        y[3 + k] = c[3 + k] - dot(normal, theta);
    }
    for (int r = 0; r < 3 + axes; r++)
        if (j->straight)
            *(stored *)(j->v[0] + r * j->step + l) = y[r];
        else
            scatter(y[r], j->v, r * j->step, l);
}

static INLINE void newton(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real c[LWI_INDEX3_MAX_ROWS];
    for (int r = 0; r < 3 + axes; r++) c[r] = -AT(s->edge[block].phi[r]);
    if (!s->keep) diagonal(s, block, axes, s->level > 1, l);
    right(s, block, axes, c, l);
}

static INLINE void speeds(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real c[LWI_INDEX3_MAX_ROWS];
    if (!s->keep) diagonal(s, block, axes, false, l);
    for (int r = 0; r < 3 + axes; r++) c[r] = C(0);
    right(s, block, axes, c, l);
}

// Forces of the elimination's lambda; `more`: also added to the multipliers.
static INLINE void impulses(const lwi_index3_lanes *s, int block, const int axes, bool more, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    lwi_index3_lane_edge *e = &s->edge[block];
    real lambda[LWI_INDEX3_MAX_ROWS];
    for (int r = 0; r < 3 + axes; r++) {
        lambda[r] = solution(j, r, l);
        if (more) AT(e->lambda[r]) += lambda[r];
    }
    act(e, lambda, axes, l);
}

static INLINE void multipliers(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real lambda[LWI_INDEX3_MAX_ROWS];
    read_rows(s->state, &s->lambda[block], no_body, 3 + axes, lambda, l);
    store(s->edge[block].lambda, lambda, 3 + axes, l);
}

static INLINE void put_multipliers(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real lambda[LWI_INDEX3_MAX_ROWS];
    for (int r = 0; r < 3 + axes; r++) lambda[r] = next(s, block, r, l);
    write_rows(lambda, 3 + axes, s->state, &s->lambda[block], l);
}

// w x (w x a)
static INLINE void centripetal(real c[3], const real w[3], const real a[3])
{
    real once[3];
    cross(once, w, a);
    cross(c, w, once);
}

// -gamma
static INLINE void gammas_of(const lwi_index3_lanes *s, int block, const int axes, real *c, int l)
{
    const lwi_index3_lane_joint *j = &s->joint[block];
    const lwi_index3_lane_edge *e = &s->edge[block];
    real V[2][6], arm1[3], arm2[3], d[3], dd[3], x[3], y[3], far[3];
    for (int side = 0; side < 2; side++) BODY(V[side], v);
    const real *w1 = V[0] + 3, *w2 = V[1] + 3;
    load(arm1, e->own, 3, l);
    load(arm2, e->side[1].arm, 3, l);
    load(d, e->phi, 3, l);
    for (int i = 0; i < 3; i++) dd[i] = V[1][i] - V[0][i], far[i] = d[i] - arm1[i];
    cross_add(dd, w2, arm2);
    cross_add(dd, arm1, w1);
    centripetal(x, w2, arm2);
    centripetal(y, w1, far); // w1 x (w1 x d) - w1 x (w1 x arm1)
    for (int i = 0; i < 3; i++) c[i] = -(x[i] + y[i]), dd[i] = C(2) * dd[i];
    cross_add(c, w1, dd);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3];
        load(a1, e->a1[k], 3, l);
        load(a2, e->a2[k], 3, l);
        cross(x, w1, a1);
        cross(y, w2, a2);
        const real mixed = C(2) * dot(x, y);
        centripetal(x, w1, a1);
        centripetal(y, w2, a2);
        c[3 + k] = -(mixed + dot(x, a2) + dot(a1, y));
    }
}

static INLINE void gammas(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real c[LWI_INDEX3_MAX_ROWS], start[LWI_INDEX3_MAX_ROWS];
    gammas_of(s, block, axes, c, l);
    if (s->follow) {
        read_rows(s->state, &s->lambda[block], no_body, 3 + axes, start, l);
        follow(s, block, start, c, 3 + axes, l);
    }
    right(s, block, axes, c, l);
}

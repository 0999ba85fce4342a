// terms.inl -- what bodies and speeds contribute to the derivatives of inverse dynamics, W of them in the lanes of a register.
// Included by derivatives.c; the equations are in tree/derivatives.c.

#if defined __AVX512F__
#define LWI_LANES_OF(e) ((row){e(0), e(1), e(2), e(3), e(4), e(5), e(6), e(7)})
#elif defined __AVX__
#define LWI_LANES_OF(e) ((row){e(0), e(1), e(2), e(3)})
#else
#define LWI_LANES_OF(e) ((row){e(0), e(1)})
#endif

/** One structure of doubles for each lane. */
typedef struct sources {
    const double *lane[W];
} sources;
typedef struct targets {
    double *lane[W];
} targets;

static inline void gather(const sources *from, int at, int n, row *to)
{
    LWI_UNROLL
    for (int i = 0; i < n; i++) {
#define LWI_LANE(l) from->lane[l][at + i]
        to[i] = LWI_LANES_OF(LWI_LANE);
#undef LWI_LANE
    }
}

static inline void scatter(const targets *to, int at, int n, const row *from)
{
    LWI_UNROLL
    for (int i = 0; i < n; i++)
        LWI_UNROLL for (int l = 0; l < W; l++) to->lane[l][at + i] = from[i][l];
}

static inline void store_all(double *const *to, int at, int n, const row *from)
{
    LWI_UNROLL
    for (int i = 0; i < n; i++) *(row *)(to[i] + at) = from[i];
}

static inline void load_all(double *const *from, int at, int n, row *to)
{
    LWI_UNROLL
    for (int i = 0; i < n; i++) to[i] = load(from[i] + at);
}

// ------------------------------------------------------------------------------- as spatial/motion.h

static inline void add(row *to, int n, const row *a)
{
    LWI_UNROLL
    for (int i = 0; i < n; i++) to[i] += a[i];
}

static inline void cross(row c[3], const row a[3], const row b[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void cross_add(row c[3], const row a[3], const row b[3])
{
    row own[3];
    cross(own, a, b);
    add(c, 3, own);
}

static inline void cross_motion(row c[6], const row a[6], const row b[6])
{
    cross(c, a + 3, b);
    cross_add(c, a, b + 3);
    cross(c + 3, a + 3, b + 3);
}

static inline void cross_force(row c[6], const row a[6], const row f[6])
{
    cross(c, a + 3, f);
    cross(c + 3, a + 3, f + 3);
    cross_add(c + 3, a, f);
}

static inline row dot(const row a[3], const row b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void multiply_vector(row r[3], const row R[9], const row a[3])
{
    LWI_UNROLL
    for (int i = 0; i < 3; i++) r[i] = dot(R + 3 * i, a);
}

static inline void multiply_symmetric(row r[3], const row J[6], const row a[3])
{
    r[0] = J[0] * a[0] + J[3] * a[1] + J[4] * a[2];
    r[1] = J[3] * a[0] + J[1] * a[1] + J[5] * a[2];
    r[2] = J[4] * a[0] + J[5] * a[1] + J[2] * a[2];
}

// K = R J R'
static inline void rotate_symmetric(row K[6], const row R[9], const row J[6])
{
    row B[9];
    LWI_UNROLL
    for (int i = 0; i < 3; i++) multiply_symmetric(B + 3 * i, J, R + 3 * i);
    K[0] = dot(B, R), K[1] = dot(B + 3, R + 3), K[2] = dot(B + 6, R + 6);
    K[3] = dot(B, R + 3), K[4] = dot(B, R + 6), K[5] = dot(B + 3, R + 6);
}

// J about another point, from which that of J is at r: as s3_shift.
static inline void shift_symmetric(row J[6], row m, const row h[3], const row r[3])
{
    row u[3];
    LWI_UNROLL
    for (int i = 0; i < 3; i++) u[i] = h[i] + m * 0.5 * r[i];
    J[0] += (r[1] * u[1] + r[2] * u[2]) * 2.0;
    J[1] += (r[0] * u[0] + r[2] * u[2]) * 2.0;
    J[2] += (r[0] * u[0] + r[1] * u[1]) * 2.0;
    J[3] -= r[0] * u[1] + u[0] * r[1];
    J[4] -= r[0] * u[2] + u[0] * r[2];
    J[5] -= r[1] * u[2] + u[1] * r[2];
}

// ----------------------------------------------------------------------------------------- subtrees

/** lwi_subtree in lanes; the order of its fields. */
typedef struct subtrees {
    row m, h[3], J[6], p[3], Ba[9], f[6];
} subtrees;
enum { SUBTREE = sizeof(lwi_subtree) / sizeof(double) };
_Static_assert(SUBTREE == 28 && sizeof(subtrees) == SUBTREE * sizeof(row), "the same fields");

static inline void apply_inertia(const subtrees *s, const row x[6], row out[6])
{
    cross(out, x + 3, s->h);
    LWI_UNROLL
    for (int i = 0; i < 3; i++) out[i] += s->m * x[i];
    multiply_symmetric(out + 3, s->J, x + 3);
    cross_add(out + 3, s->h, x);
}

// B x
static inline void apply_velocity(const subtrees *s, const row x[6], row out[6])
{
    cross(out, x + 3, s->p);
    LWI_UNROLL
    for (int i = 0; i < 3; i++) out[i] *= 2.0;
    multiply_vector(out + 3, s->Ba, x + 3);
}

// The angular part of B'x.
static inline void apply_velocity_back(const subtrees *s, const row x[6], row w[3])
{
    row rotated[3];
    cross(rotated, s->p, x);
    LWI_UNROLL
    for (int i = 0; i < 3; i++)
        w[i] = s->Ba[i] * x[3] + s->Ba[3 + i] * x[4] + s->Ba[6 + i] * x[5] + rotated[i] * 2.0;
}

// The lower half of B: W~ J - J W~ is symmetric.
static inline void find_velocity_matrix(subtrees *s, const row V[6])
{
    const row *w = V + 3, *J = s->J, *h = s->h;
    const row xy = w[1] * J[5] - w[2] * J[1] + w[2] * J[0] - w[0] * J[4],
              xz = w[1] * J[2] - w[2] * J[5] + w[0] * J[3] - w[1] * J[0],
              yz = w[2] * J[4] - w[0] * J[2] + w[0] * J[1] - w[1] * J[3];
    row l[3], *Ba = s->Ba;
    multiply_symmetric(l, J, w);
    Ba[0] = (w[1] * J[4] - w[2] * J[3] + h[1] * V[1] + h[2] * V[2]) * 2.0;
    Ba[4] = (w[2] * J[3] - w[0] * J[5] + h[0] * V[0] + h[2] * V[2]) * 2.0;
    Ba[8] = (w[0] * J[5] - w[1] * J[4] + h[0] * V[0] + h[1] * V[1]) * 2.0;
    Ba[1] = xy + l[2] - V[0] * 2.0 * h[1], Ba[3] = xy - l[2] - V[1] * 2.0 * h[0];
    Ba[2] = xz - l[1] - V[0] * 2.0 * h[2], Ba[6] = xz + l[1] - V[2] * 2.0 * h[0];
    Ba[5] = yz + l[0] - V[1] * 2.0 * h[2], Ba[7] = yz - l[0] - V[2] * 2.0 * h[1];
}

// Of bodies alone; `inertia`: mass, first moment, inertia about the origin of their links, with the frames (R, r).
static inline void find_own(const sources *inertia, const sources *R, const sources *r,
                            const sources *motion, subtrees *s)
{
    row own[10], frame[9], at[3], VA[12], rotated[3], P[6], f[6];
    gather(inertia, 0, 10, own);
    gather(R, 0, 9, frame);
    gather(r, 0, 3, at);
    gather(motion, 0, 12, VA);
    s->m = own[0];
    multiply_vector(rotated, frame, own + 1);
    rotate_symmetric(s->J, frame, own + 4);
    shift_symmetric(s->J, s->m, rotated, at);
    LWI_UNROLL
    for (int i = 0; i < 3; i++) s->h[i] = s->m * at[i] + rotated[i];
    apply_inertia(s, VA, P);
    LWI_UNROLL
    for (int i = 0; i < 3; i++) s->p[i] = P[i];
    find_velocity_matrix(s, VA);
    apply_inertia(s, VA + 6, s->f);
    cross_force(f, VA, P);
    add(s->f, 6, f);
}

static inline int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void find_subtrees(const lw_model *model, const lwi_screws *screws, double (*R)[9],
                          double (*r)[3], lwi_subtree *subtree)
{
    static const double still[12]; // of a body that the ground carries
    for (int first = 0; first < model->nnode; first += W) {
        sources inertia, of_R, of_r, motion;
        targets to;
        subtrees s;
        LWI_UNROLL
        for (int l = 0; l < W; l++) {
            const int k = smaller(first + l, model->nnode - 1), last = screws->last[k];
            inertia.lane[l] = &model->node[k].mass;
            of_R.lane[l] = R[k], of_r.lane[l] = r[k];
            motion.lane[l] = last < 0 ? still : screws->screw[last].V;
            to.lane[l] = &subtree[k].m;
        }
        find_own(&inertia, &of_R, &of_r, &motion, &s);
        scatter(&to, 0, SUBTREE, &s.m);
    }
}

static void sum_subtrees(const lw_model *model, lwi_subtree *subtree)
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        if (parent < 0) continue;
        const double *from = &subtree[k].m;
        double *to = &subtree[parent].m;
        LWI_UNROLL
        for (int i = 0; i < SUBTREE / W * W; i += W)
            *(row *)(to + i) = load(to + i) + load(from + i);
        LWI_UNROLL
        for (int i = SUBTREE / W * W; i < SUBTREE; i++) to[i] += from[i];
    }
}

// ------------------------------------------------------------------------------------------- speeds

// psi, psi2 and drift; `alone`: each element has one speed, so that V_before x S is V_after x S.
static inline void find_rates(const sources *S_of, const sources *before_of, const sources *at_of,
                              const sources *after_of, bool alone, row S[6], row rate[6],
                              row rate2[6], row drift[6])
{
    row at[12], term[6];
    gather(S_of, 0, 6, S);
    gather(at_of, 0, 12, at);
    cross_motion(rate, at, S);
    cross_motion(rate2, at + 6, S);
    cross_motion(term, at, rate);
    add(rate2, 6, term);
    if (alone) {
        LWI_UNROLL
        for (int i = 0; i < 6; i++) drift[i] = rate[i] + rate[i];
        return;
    }
    row V[6];
    gather(before_of, 0, 6, V);
    cross_motion(drift, V, S);
    gather(after_of, 0, 6, V);
    cross_motion(term, V, S);
    add(drift, 6, term);
}

static void fill_speeds(const lw_model *model, const lwi_screws *screws, const lwi_speed_arrays *to,
                        double (*rate)[6])
{
    const double base[12] = {[6] = -model->gravity[0], -model->gravity[1], -model->gravity[2]};
    for (int first = 0; first < model->tree_nv; first += W) {
        sources S_of, before, at, after;
        targets rate_to;
        bool alone = true;
        row S[6], own[6], rate2[6], drift[6];
        LWI_UNROLL
        for (int l = 0; l < W; l++) {
            const int i = smaller(first + l, model->tree_nv - 1);
            const lwi_screw *e = &screws->screw[screws->of_speed[i]];
            const double *V_before = e->before < 0 ? base : screws->screw[e->before].V;
            const bool one = e->nspeed == 1;
            alone = alone && one;
            S_of.lane[l] = screws->S[i];
            at.lane[l] = e->follows ? V_before : e->V;
            before.lane[l] = one ? at.lane[l] : V_before;
            after.lane[l] = one ? at.lane[l] : e->V;
            rate_to.lane[l] = rate[i];
        }
        find_rates(&S_of, &before, &at, &after, alone, S, own, rate2, drift);
        store_all(to->S, first, 6, S);
        store_all(to->rate2, first, 6, rate2);
        store_all(to->drift, first, 6, drift);
        store_all(to->rate_w, first, 3, own + 3);
        scatter(&rate_to, 0, 6, own);
    }
}

/** lwi_speed_terms in lanes; the order of its fields. */
typedef struct speed_terms {
    row q[6], v[6], IS[6], Bt[3], tilt[6];
} speed_terms;
enum { TERMS = sizeof(lwi_speed_terms) / sizeof(double) };
_Static_assert(TERMS == 27 && sizeof(speed_terms) == TERMS * sizeof(row), "the same fields");

static void fill_terms(const lw_model *model, const lwi_screws *screws, const lwi_subtree *subtree,
                       const lwi_speed_arrays *arrays, double (*rate)[6], lwi_speed_terms *terms)
{
    for (int first = 0; first < model->tree_nv; first += W) {
        sources tree_of, rate_of;
        targets to;
        subtrees tree;
        speed_terms t;
        row S[6], own[6], rate2[6], drift[6], part[6];
        LWI_UNROLL
        for (int l = 0; l < W; l++) {
            const int i = smaller(first + l, model->tree_nv - 1);
            tree_of.lane[l] = &subtree[screws->screw[screws->of_speed[i]].node].m;
            rate_of.lane[l] = rate[i];
            to.lane[l] = terms[i].q;
        }
        gather(&tree_of, 0, SUBTREE, &tree.m);
        gather(&rate_of, 0, 6, own);
        load_all(arrays->S, first, 6, S);
        load_all(arrays->rate2, first, 6, rate2);
        load_all(arrays->drift, first, 6, drift);
        apply_inertia(&tree, S, t.IS);
        apply_velocity_back(&tree, S, t.Bt);
        cross_force(t.tilt, S, tree.f);
        apply_inertia(&tree, rate2, t.q);
        apply_velocity(&tree, own, part);
        add(t.q, 6, part);
        add(t.q, 6, t.tilt);
        apply_inertia(&tree, drift, t.v);
        apply_velocity(&tree, S, part);
        add(t.v, 6, part);
        scatter(&to, 0, TERMS, t.q);
    }
}

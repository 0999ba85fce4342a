// bodies.inl -- motion of bodies, and the wrenches that they need, from the motion of the link frames; a body per lane.
//
// The operations are those of the generic functions (tree.c, tree_state.c, rnea.c), one by one and none fused: the same
// bits.
//
// Input: R, r, V, A, wrench of the nodes.  Output: the snapshot, F = M A + V x* M V - wrench.  Cost: constant per body.

/** Constants of a node: as lwi_node has them, one after the other. */
typedef struct node_constants {
    real mass, h[3], J[6], c_R[9], c_r[3];
} node_constants;

_Static_assert(offsetof(lwi_node, c_r) + 3 * sizeof(double) - offsetof(lwi_node, mass) ==
                   sizeof(node_constants) / WIDTH,
               "the constants of a node are consecutive");

/** Motion of the link frames. */
typedef struct link_motion {
    real R[9], r[3], V[6], A[6];
} link_motion;

// c = a x b
static INLINE void plain_cross(real *c, const real *a, const real *b)
{
    const real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
    c[0] = x, c[1] = y;
}

// c += a x b
static INLINE void plain_cross_add(real *c, const real *a, const real *b)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] += a[j] * b[k] - a[k] * b[j];
    }
}

// c = R a
static INLINE void plain_turn(real *c, const real *R, const real *a)
{
    real to[3];
    for (int i = 0; i < 3; i++) to[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
    for (int i = 0; i < 3; i++) c[i] = to[i];
}

// c = R' a
static INLINE void plain_turn_back(real *c, const real *R, const real *a)
{
    real to[3];
    for (int i = 0; i < 3; i++) to[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
    for (int i = 0; i < 3; i++) c[i] = to[i];
}

// The momentum of the body about the origin of the link frame at velocity V.
static INLINE void momentum(const node_constants *k, const real *V, real *P)
{
    const real *w = V + 3, *J = k->J;
    plain_cross(P, w, k->h);
    for (int i = 0; i < 3; i++) P[i] += k->mass * V[i];
    P[3] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
    P[4] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
    P[5] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
    plain_cross_add(P + 3, k->h, V);
}

// q[i], q[j], q[k], q[l] := a, b, c, d where `m`
static INLINE void choose(mask m, const real from[4], real q[4])
{
    for (int i = 0; i < 4; i++) q[i] = NAME(select)(m, from[i], q[i]);
}

// quat_from_matrix
static INLINE void find_quaternion(const real *R, real q[4])
{
    const real one = NAME(splat)(1), trace = R[0] + R[4] + R[8];
    const real u[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    const real v[3] = {R[7] + R[5], R[2] + R[6], R[3] + R[1]};
    const real x[4] = {u[0], one + R[0] - R[4] - R[8], v[2], v[1]};
    const real y[4] = {u[1], v[2], one + R[4] - R[8] - R[0], v[0]};
    const real z[4] = {u[2], v[1], v[0], one + R[8] - R[0] - R[4]};
    real largest = trace;
    q[0] = one + trace, q[1] = u[0], q[2] = u[1], q[3] = u[2];
    mask above = ~NAME(at_most)(R[0], largest);
    choose(above, x, q);
    largest = NAME(select)(above, R[0], largest);
    above = ~NAME(at_most)(R[4], largest);
    choose(above, y, q);
    largest = NAME(select)(above, R[4], largest);
    choose(~NAME(at_most)(R[8], largest), z, q);
    const real s = one / NAME(root)(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= s;
}

// Numbers [nbody][n] of the bodies of the lanes.
static INLINE void store(const real *from, int n, const int *b, double *of)
{
    double *to[WIDTH];
    for (int l = 0; l < WIDTH; l++) to[l] = of + (size_t)n * (size_t)b[l];
    to_rows(from, n, to);
}

static INLINE void store_pose(const node_constants *k, const link_motion *m, const int *b,
                              lwi_snapshot *to)
{
    real R[9], r[3], q[4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = m->R[3 * i] * k->c_R[j] + m->R[3 * i + 1] * k->c_R[3 + j] +
                           m->R[3 * i + 2] * k->c_R[6 + j];
    plain_turn(r, m->R, k->c_r);
    for (int i = 0; i < 3; i++) r[i] += m->r[i];
    find_quaternion(R, q);
    store(R, 9, b, to->R[0]);
    store(r, 3, b, to->r[0]);
    store(q, 4, b, to->quat[0]);
}

// v + w x c of the mass centre c in link axes.
static INLINE void speed_of_centre(const node_constants *k, const link_motion *m, real v[3])
{
    plain_cross(v, m->V + 3, k->c_r);
    for (int i = 0; i < 3; i++) v[i] += m->V[i];
}

static INLINE void store_twist(const node_constants *k, const link_motion *m, const int *b,
                               lwi_snapshot *to)
{
    real v[3], w[3];
    speed_of_centre(k, m, v);
    plain_turn(v, m->R, v);
    plain_turn_back(w, k->c_R, m->V + 3);
    store(v, 3, b, to->v[0]);
    store(w, 3, b, to->w[0]);
}

static INLINE void store_accelerations(const lw_model *model, const node_constants *k,
                                       const link_motion *m, const int *b, lwi_snapshot *to)
{
    real v[3], a[3], al[3];
    speed_of_centre(k, m, v);
    plain_cross(a, m->A + 3, k->c_r);
    plain_cross_add(a, m->V + 3, v);
    for (int i = 0; i < 3; i++) a[i] += m->A[i];
    plain_turn(a, m->R, a);
    for (int i = 0; i < 3; i++) a[i] += model->gravity[i];
    plain_turn_back(al, k->c_R, m->A + 3);
    store(a, 3, b, to->a[0]);
    store(al, 3, b, to->al[0]);
}

static INLINE void store_wrench(const node_constants *k, const link_motion *m, const int *node,
                                const lwi_tree_work *work)
{
    real F[6], P[6], c[6], wrench[6];
    load(work->wrench[0], node, 6, wrench);
    momentum(k, m->A, F);
    momentum(k, m->V, P);
    plain_cross(c, m->V + 3, P);
    plain_cross(c + 3, m->V + 3, P + 3);
    plain_cross_add(c + 3, m->V, P);
    for (int i = 0; i < 6; i++) F[i] = F[i] + c[i] + -wrench[i];
    store(F, 6, node, work->F[0]);
}

static void bodies(const lw_model *model, const lwi_tree_work *work, const int *node,
                   bool accelerations, bool wrenches, lwi_snapshot *to)
{
    const double *from[WIDTH];
    int b[WIDTH];
    node_constants k;
    link_motion m;
    for (int l = 0; l < WIDTH; l++) {
        const lwi_node *of = &model->node[node[l]];
        from[l] = (const double *)(const void *)((const char *)of + offsetof(lwi_node, mass));
        b[l] = of->body;
    }
    from_rows(from, (int)(sizeof k / sizeof(real)), &k.mass);
    load(work->R[0], node, 9, m.R);
    load(work->r[0], node, 3, m.r);
    store_pose(&k, &m, b, to);
    load(work->V[0], node, 6, m.V);
    store_twist(&k, &m, b, to);
    if (!accelerations) return;
    load(work->A[0], node, 6, m.A);
    store_accelerations(model, &k, &m, b, to);
    if (wrenches) store_wrench(&k, &m, node, work);
}

// As lwi_tree_reaction of reversed joints between nodes, without efforts: F2 is on the parent, which gets the opposite
// wrench.
static void reversed_reactions(const lw_model *model, const lwi_tree_work *work, const int *node,
                               lwi_snapshot *to)
{
    const double *link[WIDTH], *mount[WIDTH];
    int joint[WIDTH], parent[WIDTH];
    real own[12], X[12], R[9], R2[9], F[6], f[6], n[3]; // R, then r of frames
    for (int l = 0; l < WIDTH; l++) {
        const lwi_node *of = &model->node[node[l]];
        joint[l] = of->joint, parent[l] = of->parent;
        link[l] = work->link[node[l]].R, mount[l] = of->X_R;
    }
    from_rows(link, 12, own);
    from_rows(mount, 12, X);
    load(work->R[0], parent, 9, R);
    load(work->F[0], node, 6, F);
    plain_turn(f, own, F);
    plain_turn(f + 3, own, F + 3);
    plain_cross_add(f + 3, own + 9, f);
    plain_cross(n, f, X + 9);
    for (int i = 0; i < 3; i++) n[i] += f[3 + i];
    plain_turn_back(F, X, f);
    plain_turn_back(F + 3, X, n);
    for (int i = 0; i < 6; i++) F[i] = -F[i];
    for (int i = 0; i < 9; i++) {
        const real *a = R + i - i % 3, *b = X + i % 3;
        R2[i] = a[0] * b[0] + a[1] * b[3] + a[2] * b[6];
    }
    plain_turn(F, R2, F);
    plain_turn(F + 3, R2, F + 3);
    store(F, 6, joint, to->reaction[0]);
}

/** Constants of a body: as lwi_body has them, one after the other. */
typedef struct body_constants {
    real mass, J[6];
} body_constants;

_Static_assert(offsetof(lwi_body, inertia) - offsetof(lwi_body, mass) == sizeof(double),
               "the constants of a body are consecutive");

_Static_assert(offsetof(lwi_body_sums, momentum) == sizeof(double),
               "kinetic is in front of momentum");

// sum[i] += a[i], then b[i] where there is one, of the first `count` lanes, one after the other.
static INLINE void add_lanes(const real *a, const real *b, int n, int count, double *sum)
{
#if WIDTH == 1
    for (int i = 0; i < n && count > 0; i++) {
        sum[i] += a[i];
        if (b) sum[i] += b[i];
    }
#else
    real first[WIDTH], second[WIDTH], all = some(sum, n);
    for (int k = 0; k < WIDTH; k++) first[k] = k < n ? a[k] : ZERO;
    for (int k = 0; b && k < WIDTH; k++) second[k] = k < n ? b[k] : ZERO;
    transpose(first);
    if (b) transpose(second);
    for (int l = 0; l < WIDTH && l < count; l++) {
        all += first[l];
        if (b) all += second[l];
    }
    put_some(all, sum, n);
#endif
}

// As lwi_observe_energies: the sums are those of one body after the other.
static void energies(const lw_model *model, const lwi_snapshot *m, int first, int count,
                     lwi_body_sums *sums)
{
    const double *from[WIDTH];
    int b[WIDTH];
    body_constants k;
    real R[9], r[3], v[3], w[3], p[3], L[3], shifted[3];
    for (int l = 0; l < WIDTH; l++) {
        b[l] = l < count ? first + l : first;
        from[l] = (const double *)(const void *)((const char *)&model->body[b[l]] +
                                                 offsetof(lwi_body, mass));
    }
    from_rows(from, 7, &k.mass);
    load(m->R[0], b, 9, R);
    load(m->r[0], b, 3, r);
    load(m->v[0], b, 3, v);
    load(m->w[0], b, 3, w);
    for (int i = 0; i < 3; i++) p[i] = k.mass * v[i];
    const real *J = k.J;
    L[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
    L[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
    L[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
    const real T = NAME(splat)(0.5) * ((v[0] * p[0] + v[1] * p[1] + v[2] * p[2]) +
                                       (w[0] * L[0] + w[1] * L[1] + w[2] * L[2]));
    plain_turn(L, R, L);
    plain_cross(shifted, r, p);
    const real linear[4] = {T, p[0], p[1], p[2]}; // `kinetic` is in front of `momentum`
    add_lanes(linear, NULL, 4, count, &sums->kinetic);
    add_lanes(L, shifted, 3, count, sums->angular_momentum);
}

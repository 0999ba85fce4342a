// planar.inl -- clusters with parallel axes, in their plane: positions and velocities have two components, angles add.
//
// The same steps in space: clusters.c.  Entries of blocks that the plane does not need are not written.
// Rotations about z:  z x (x, y) = (-y, x).
// Equations, input, output and cost: those of clusters.c, restricted to the plane.

// (x, y) += s z x (a, b).
static INLINE void NAME(planar_rotate_add)(real *x, real s, const real *a)
{
    LESS(x[0], s, a[1]);
    MORE(x[1], s, a[0]);
}

static INLINE void NAME(planar_load)(real *x, const lwi_lanes *from, int l)
{
    x[0] = AT(from[0]);
    x[1] = AT(from[1]);
}

static INLINE void NAME(planar_store)(lwi_lanes *to, const real *x, int l)
{
    AT(to[0]) = x[0];
    AT(to[1]) = x[1];
}

// y = x rotated by the angle with cosine c and sine s.
static INLINE void NAME(planar_rotate)(real *y, real c, real s, const real *x)
{
    y[0] = DIFF(c, x[0], s, x[1]);
    y[1] = SUM2(s, x[0], c, x[1]);
}

// Origin and mass centre of step n, with the cosine c and sine s of its angle, which are entries 0 and 3 of R.
static INLINE void NAME(planar_pose)(const lwi_cluster_block *b, int n, real c, real s, int l)
{
    const lwi_cluster_step *step = &b->shape->step[n];
    const lwi_cluster_link *link = &b->link[n];
    lwi_cluster_pose *pose = &b->pose[n];
    real x[2], d[2] = {NAME(splat)(0), NAME(splat)(0)};
    AT(pose->R[0]) = c;
    AT(pose->R[3]) = s;
    if (step->has_offset) {
        NAME(planar_load)(d, link->r, l);
        if (step->parent >= 0) {
            const lwi_cluster_pose *parent = &b->pose[step->parent];
            NAME(planar_rotate)(x, AT(parent->R[0]), AT(parent->R[3]), d);
            d[0] = x[0], d[1] = x[1];
        }
        NAME(planar_store)(pose->d, d, l);
    }
    if (step->parent >= 0) {
        NAME(planar_load)(x, b->pose[step->parent].r, l);
        d[0] += x[0], d[1] += x[1];
    }
    NAME(planar_store)(pose->r, d, l);
    if (step->body >= 0) {
        NAME(planar_load)(x, link->c, l);
        NAME(planar_rotate)(d, c, s, x);
        NAME(planar_store)(pose->c, d, l);
    }
}

static INLINE mask NAME(planar_poses)(const lwi_cluster_block *b, const double *q, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real angle[LWI_CLUSTER_STEPS], sine[LWI_CLUSTER_STEPS], cosine[LWI_CLUSTER_STEPS];
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const int p = s->step[n].parent;
        angle[n] = NAME(cluster_gather)(q, b->iq[s->step[n].at], l) + AT(b->link[n].angle);
        if (p >= 0) angle[n] += angle[p];
    }
    const mask valid = NAME(cluster_sincos)(angle, s->nstep, sine, cosine);
    UNROLL
    for (int n = 0; n < s->nstep; n++) NAME(planar_pose)(b, n, cosine[n], sine[n], l);
    return valid;
}

// Closing point of the loop's body 1 or 2.
static INLINE void NAME(planar_end)(const lwi_cluster_block *b, int side, real *P, int l)
{
    const int n = b->shape->closing[0].close[side];
    real x[2];
    NAME(planar_load)(P, b->ends->P[side], l);
    if (n < 0) return;
    NAME(planar_rotate)(x, AT(b->pose[n].R[0]), AT(b->pose[n].R[3]), P);
    for (int i = 0; i < 2; i++) P[i] = AT(b->pose[n].r[i]) + x[i];
}

static INLINE void NAME(planar_levers)(const lwi_cluster_block *b, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real P[2], x[2];
    NAME(planar_end)(b, 1, P, l);
    NAME(planar_store)(b->closed->P[1], P, l);
    UNROLL
    for (int k = 0; k < s->closing[0].n; k++) {
        const int n = s->closing[0].path[k];
        lwi_lanes *p = b->lever[k];
        for (int i = 0; i < 2; i++) x[i] = P[i] - AT(b->pose[n].r[i]);
        AT(p[0]) = s->step[n].side[0] > 0 ? -x[1] : x[1];
        AT(p[1]) = s->step[n].side[0] > 0 ? x[0] : -x[0];
    }
}

static INLINE void NAME(planar_inertia)(const lwi_cluster_block *b, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx;
    real v[LWI_CLUSTER_STEPS][LWI_CLUSTER_KNOWN][2], w[LWI_CLUSTER_STEPS][LWI_CLUSTER_KNOWN];
    real M[LWI_CLUSTER_KNOWN][LWI_CLUSTER_KNOWN];
    for (int i = 0; i < nx; i++)
        for (int j = 0; j <= i; j++) M[i][j] = NAME(splat)(0);
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        const lwi_cluster_pose *pose = &b->pose[n];
        const int p = step->parent;
        real c[2], vc[LWI_CLUSTER_KNOWN][2];
        for (int j = 0; j < nx; j++) {
            if (!(step->moved_by >> j & 1)) continue;
            v[n][j][0] = v[n][j][1] = w[n][j] = NAME(splat)(0);
            if (p >= 0 && (s->step[p].moved_by >> j & 1)) {
                v[n][j][0] = v[p][j][0], v[n][j][1] = v[p][j][1], w[n][j] = w[p][j];
                NAME(planar_load)(c, pose->d, l);
                NAME(planar_rotate_add)(v[n][j], w[p][j], c);
            }
            if (step->at >= nx)
                w[n][j] += AT(b->K[(step->at - nx) * nx + j]);
            else if (step->at == j)
                w[n][j] += 1;
        }
        if (step->body < 0) continue;
        NAME(planar_load)(c, pose->c, l);
        const real m = AT(b->link[n].m), J = AT(b->link[n].J[2]);
        for (int i = 0; i < nx; i++) {
            if (!(step->moved_by >> i & 1)) continue;
            lwi_cluster_column *keep = &b->column[step->body * nx + i];
            vc[i][0] = v[n][i][0], vc[i][1] = v[n][i][1];
            NAME(planar_rotate_add)(vc[i], w[n][i], c);
            NAME(planar_store)(keep->v, vc[i], l);
            AT(keep->w[2]) = w[n][i];
            for (int j = 0; j <= i; j++) {
                if (!(step->moved_by >> j & 1)) continue;
                MORE(M[i][j], m, SUM2(vc[i][0], vc[j][0], vc[i][1], vc[j][1]));
                MORE(M[i][j], J * w[n][i], w[n][j]);
            }
        }
    }
    for (int i = 0; i < nx; i++)
        for (int j = 0; j <= i; j++) AT(b->M[i * (i + 1) / 2 + j]) = M[i][j];
}

static INLINE mask NAME(planar_place)(const lwi_cluster_block *b, const double *q, real unit,
                                      real *ratio2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    mask valid = NAME(planar_poses)(b, q, l);
    if (s->nclosing) {
        NAME(planar_levers)(b, l);
        if (s->ny) valid &= NAME(cluster_closure)(b, unit, ratio2, true, l);
    }
    NAME(planar_inertia)(b, l);
    return valid;
}

/** Of a step: angular velocity and its derivative, acceleration of its origin. */
typedef struct NAME(planar_motion) {
    real w, al, a[2];
} NAME(planar_motion);

// Accelerations of steps at zero x.., y..; rotations have none.
static INLINE void NAME(planar_move)(const lwi_cluster_block *b, int n, const double *v,
                                     NAME(planar_motion) * motion, int l)
{
    const lwi_cluster_step *step = &b->shape->step[n];
    NAME(planar_motion) *own = &motion[n];
    real d[2];
    own->w = NAME(cluster_gather)(v, b->iv[step->at], l);
    own->a[0] = own->a[1] = own->al = NAME(splat)(0);
    if (step->parent < 0) return;
    const NAME(planar_motion) *parent = &motion[step->parent];
    const real square = parent->w * parent->w;
    NAME(planar_load)(d, b->pose[n].d, l);
    for (int i = 0; i < 2; i++) own->a[i] = NMAD(square, d[i], parent->a[i]);
    own->w += parent->w;
}

static INLINE void NAME(planar_bias)(const lwi_cluster_block *b, const NAME(planar_motion) * motion,
                                     real unit, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real g[2], x[LWI_CLUSTER_DEPENDENT], turn = NAME(splat)(0);
    g[0] = g[1] = NAME(splat)(0);
    for (int side = 0; side < 2; side++) {
        const int n = s->closing[0].close[side];
        if (n < 0) continue;
        const real square = motion[n].w * motion[n].w;
        for (int i = 0; i < 2; i++) {
            const real lever = AT(b->closed->P[1][i]) - AT(b->pose[n].r[i]);
            const real a = NMAD(square, lever, motion[n].a[i]);
            g[i] = side ? g[i] + a : g[i] - a;
        }
        turn = side ? turn + motion[n].w : turn - motion[n].w;
    }
    if (s->nrate) AT(b->rate[0]) = turn * AT(b->ends->z[1][2]);
    for (int i = 0; i < 2; i++) g[i] *= unit;
    for (int k = 0; k < s->closing[0].ny; k++)
        x[s->step[s->closing[0].path[k]].at - s->nx] =
            -SUM2(g[0], AT(b->lever[k][0]), g[1], AT(b->lever[k][1]));
    cluster_solve_c1(b, x, l);
    NAME(cluster_store)(b->k, x, s->ny, l);
}

static INLINE void NAME(planar_force)(const lwi_cluster_block *b, const double *qd,
                                      const double *tau, real unit, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx;
    NAME(planar_motion) motion[LWI_CLUSTER_STEPS];
    real f[LWI_CLUSTER_KNOWN];
    UNROLL
    for (int n = 0; n < s->nstep; n++) NAME(planar_move)(b, n, qd, motion, l);
    if (s->nclosing) NAME(planar_bias)(b, motion, unit, l);
    for (int j = 0; j < nx; j++) f[j] = NAME(splat)(0);
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        const lwi_cluster_link *link = &b->link[n];
        NAME(planar_motion) *own = &motion[n];
        const int p = step->parent;
        real c[2];
        if (step->has_dependent && p >= 0 && s->step[p].has_dependent) { // add the effect of k
            NAME(planar_load)(c, b->pose[n].d, l);
            // replaces the centripetal part by that of the parent's present acceleration
            const real square = motion[p].w * motion[p].w;
            for (int i = 0; i < 2; i++) own->a[i] = NMAD(square, c[i], motion[p].a[i]);
            NAME(planar_rotate_add)(own->a, motion[p].al, c);
            own->al = motion[p].al;
        }
        if (step->at >= nx) own->al += AT(b->k[step->at - nx]);
        if (step->body < 0) continue;
        const real square = own->w * own->w, m = AT(link->m);
        real a[2];
        NAME(planar_load)(c, b->pose[n].c, l);
        for (int i = 0; i < 2; i++) {
            a[i] = NMAD(square, c[i], own->a[i] + AT(b->constants->minus_gravity[i]));
        }
        NAME(planar_rotate_add)(a, own->al, c);
        const real T = AT(link->J[2]) * own->al;
        for (int i = 0; i < 2; i++) a[i] *= m;
        for (int j = 0; j < nx; j++) {
            if (!(step->moved_by >> j & 1)) continue;
            const lwi_cluster_column *column = &b->column[step->body * nx + j];
            f[j] += SUM3(a[0], AT(column->v[0]), a[1], AT(column->v[1]), T, AT(column->w[2]));
        }
    }
    NAME(cluster_efforts)(b, tau, f, l);
    NAME(cluster_store)(b->f, f, nx, l);
}

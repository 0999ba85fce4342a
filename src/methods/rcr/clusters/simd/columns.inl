// columns.inl -- K = -(W_y'W_y)^-1 W_y'W_x and the projected inertia of the clusters of a block, COLUMNS known coordinates at a time.
//
// Included by space.inl with COLUMNS 1 and, where a block has one lane and the machine four, with COLUMNS 4: known coordinates
// take the lanes that clusters do not use.  Operations and their order are the same for each column, and so are the bits.
//
// Input: poses of the steps, rows W and the factor of W_y'W_y.  Output: K, inertias over x.  Cost: constant per block of a shape.

#define OF_COLUMNS_3(f, n) f##_c##n
#define OF_COLUMNS_2(f, n) OF_COLUMNS_3(f, n)
#define OF_COLUMNS(f) OF_COLUMNS_2(f, COLUMNS)
#if COLUMNS == 4
#define columns real_w4
#define SPREAD(x) splat_w4(x)
#define FUSED(f) f##_w4
#define ENTRY(x, j) ((x)[j]) // of column j
#else
#define columns real
#define SPREAD(x) (x)
#define FUSED(f) NAME(f)
#define ENTRY(x, j) (x)
#endif
#define GROUPS ((LWI_CLUSTER_KNOWN + COLUMNS - 1) / COLUMNS)
#define ADD_TO(x, a, b) ((x) = FUSED(fma)(a, b, x))
#define TAKE_FROM(x, a, b) ((x) = FUSED(fnma)(a, b, x))

static INLINE columns OF_COLUMNS(cluster_dot3)(const real *a, const columns *b)
{
    return FUSED(fma)(SPREAD(a[2]), b[2], FUSED(fma)(SPREAD(a[1]), b[1], SPREAD(a[0]) * b[0]));
}
// c += a x b
static INLINE void OF_COLUMNS(cluster_cross_to)(columns *c, const columns *a, const real *b)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        ADD_TO(c[i], a[j], SPREAD(b[k]));
        TAKE_FROM(c[i], a[k], SPREAD(b[j]));
    }
}

// 1 in column `at` of those from `first` on.
static INLINE columns OF_COLUMNS(cluster_unit)(int at, int first)
{
#if COLUMNS == 4
    static const double unit[7] = {0, 0, 0, 1, 0, 0, 0};
    real_w4 x;
    memcpy(&x, &unit[3 - (at - first)], sizeof x);
    return x;
#else
    (void)at, (void)first;
    return NAME(splat)(1);
#endif
}

// Of columns of K from K[0] on; those beyond the last one are other entries of the block, and not used.
static INLINE columns OF_COLUMNS(cluster_row)(const lwi_lanes *K, int l)
{
#if COLUMNS == 4
    return (real_w4){AT(K[0]), AT(K[1]), AT(K[2]), AT(K[3])};
#else
    return AT(K[0]);
#endif
}

// x [ny] := (W_y'W_y)^-1 x, by L D L'.                               [anderson2003, (45)]
static INLINE void OF_COLUMNS(cluster_solve)(const lwi_cluster_block *b, columns *x, int l)
{
    const int ny = b->shape->ny, separate = b->shape->separate;
    const uint8_t *first = b->shape->first;
    const lwi_lanes *factor = b->factor, *Di = factor + ny * (ny - 1) / 2, *row = factor;
    UNROLL
    for (int i = 1; i < ny; row += i, i++) {
        columns sum = x[i];
        UNROLL
        for (int j = first[i]; j < i; j++) TAKE_FROM(sum, SPREAD(AT(row[j])), x[j]);
        x[i] = sum;
    }
    UNROLL
    for (int i = 0; i < ny; i++) x[i] *= SPREAD(AT(Di[i]));
    UNROLL
    for (int i = ny - 2; i >= 0; i--) {
        const int shared = i < separate ? separate : i + 1;
        const int end = i < separate ? b->shape->end[i] : 0; // of its loop
        columns sum = x[i];
        UNROLL
        for (int j = i + 1; j < end; j++)
            TAKE_FROM(sum, SPREAD(AT(factor[j * (j - 1) / 2 + i])), x[j]);
        row = factor + shared * (shared - 1) / 2 + i;
        UNROLL
        for (int j = shared; j < ny; row += j, j++) TAKE_FROM(sum, SPREAD(AT(*row)), x[j]);
        x[i] = sum;
    }
}

// x [ny] -= (W_y'W_y)^-1 W_y'r with the rows r = [displacement; rotation] + W_y x + W_x e of each loop, e the units of x from
// column `first` on, or zero (-1): what normal equations have lost.  Errors of K are efforts: they disturb the accelerations of
// light bodies.
static INLINE void OF_COLUMNS(cluster_refine)(const lwi_cluster_block *b, columns (*row)[6],
                                              int first, real unit, columns *x, int l)
{
    const lwi_cluster_shape *s = b->shape;
    columns more[LWI_CLUSTER_DEPENDENT];
    for (int i = 0; i < s->ny; i++) more[i] = SPREAD(NAME(splat)(0));
    for (int g = 0; g < s->nclosing; g++) {
        const lwi_cluster_closing *closing = &s->closing[g];
        const lwi_lanes(*lever)[3] = (const lwi_lanes(*)[3])b->lever + closing->first;
        const lwi_lanes(*turn)[3] = (const lwi_lanes(*)[3])b->turn + closing->first;
        columns *r = row[g];
        UNROLL
        for (int k = 0; k < closing->n; k++) {
            const int at = closing->at[k];
            if (at < s->nx && (first < 0 || at < first || at >= first + COLUMNS)) continue;
            const columns z = at < s->nx ? OF_COLUMNS(cluster_unit)(at, first) : x[at - s->nx];
            for (int i = 0; i < 3; i++) ADD_TO(r[i], z, SPREAD(AT(lever[k][i])));
            if (!(closing->oblique >> k & 1)) continue;
            for (int i = 0; i < 3; i++) ADD_TO(r[3 + i], z, SPREAD(AT(turn[k][i])));
        }
        UNROLL
        for (int k = 0; k < closing->ny; k++) {
            real p[3];
            columns *to = &more[closing->at[k] - s->nx];
            NAME(cluster_load)(p, lever[k], 3, l);
            ADD_TO(*to, SPREAD(unit), OF_COLUMNS(cluster_dot3)(p, r));
            if (!(closing->oblique >> k & 1)) continue;
            NAME(cluster_load)(p, turn[k], 3, l);
            *to += OF_COLUMNS(cluster_dot3)(p, r + 3);
        }
    }
    OF_COLUMNS(cluster_solve)(b, more, l);
    for (int i = 0; i < s->ny; i++) x[i] -= more[i];
}

// Adds the squared motions of the dependent coordinates of units of x from `first` on, loop by loop.
static INLINE void OF_COLUMNS(cluster_ratios)(const lwi_cluster_block *b, const columns *x,
                                              int first, real *ratio2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_lanes *size = b->size + s->nx;
    columns square[LWI_CLUSTER_DEPENDENT];
    UNROLL
    for (int i = 0; i < s->ny; i++) square[i] = x[i] * x[i];
    UNROLL
    for (int g = 0; g < s->nclosing; g++) {
        const lwi_cluster_closing *closing = &s->closing[g];
        columns sum = SPREAD(NAME(splat)(0));
        UNROLL
        for (int k = 0; k < closing->ny; k++) {
            const int i = closing->at[k] - s->nx;
            ADD_TO(sum, square[i], SPREAD(AT(size[i])));
        }
        for (int j = 0; j < COLUMNS && first + j < s->nx; j++)
            MORE(ratio2[g], ENTRY(sum, j), AT(b->inverse[first + j]));
    }
}

// K = -(W_y'W_y)^-1 W_y'W_x from B = W_y'W_x [anderson2003, (47)].  ratio2 := the largest squared ratio of the dependent
// motions of a loop to a known motion.
static INLINE void OF_COLUMNS(cluster_dependence)(const lwi_cluster_block *b,
                                                  real (*B)[CLUSTER_COLUMNS], real unit,
                                                  real *ratio2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx, ny = s->ny;
    real sum[LWI_CLUSTER_CLOSINGS];
    for (int g = 0; g < s->nclosing; g++) sum[g] = NAME(splat)(0);
    UNROLL
    for (int first = 0; first < nx; first += COLUMNS) {
        columns x[LWI_CLUSTER_DEPENDENT];
        UNROLL
        for (int i = 0; i < ny; i++) {
            memcpy(&x[i], &B[i][first], sizeof x[i]);
            x[i] = -x[i];
        }
        OF_COLUMNS(cluster_solve)(b, x, l);
        if (NAME(cluster_refines)(s)) {
            columns row[LWI_CLUSTER_CLOSINGS][6];
            for (int i = 0; i < 6 * s->nclosing; i++) row[i / 6][i % 6] = SPREAD(NAME(splat)(0));
            OF_COLUMNS(cluster_refine)(b, row, first, unit, x, l);
        }
        UNROLL
        for (int i = 0; i < ny; i++)
            for (int j = 0; j < COLUMNS && first + j < nx; j++)
                AT(b->K[i * nx + first + j]) = ENTRY(x[i], j);
        OF_COLUMNS(cluster_ratios)(b, x, first, sum, l);
    }
    for (int g = 0; g < s->nclosing; g++)
        *ratio2 = NAME(select)(NAME(at_most)(sum[g], *ratio2), *ratio2, sum[g]);
}

// -------------------------------------------------------------------------------------- inertia

// Motions of a step for units of x: velocity of its origin and angular velocity, base axes.
typedef struct OF_COLUMNS(cluster_motions) {
    columns v[3], w[3];
} OF_COLUMNS(cluster_motions);

// Of step n from those of its parent (NULL: none), for x from `first` on.
static INLINE void OF_COLUMNS(cluster_column)(const lwi_cluster_block *b, int n, int first,
                                              const real *axis,
                                              const OF_COLUMNS(cluster_motions) * parent,
                                              OF_COLUMNS(cluster_motions) * own, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_step *step = &s->step[n];
    if (parent) {
        *own = *parent;
    } else {
        for (int i = 0; i < 3; i++) own->v[i] = own->w[i] = SPREAD(NAME(splat)(0));
    }
    if (parent && step->has_offset) {
        real d[3];
        NAME(cluster_load)(d, b->pose[n].d, 3, l);
        OF_COLUMNS(cluster_cross_to)(own->v, own->w, d);
    }
    const int y = step->at - s->nx;
    columns rate;
    if (y < 0) {
        if (step->at < first || step->at >= first + COLUMNS) return;
        rate = OF_COLUMNS(cluster_unit)(step->at, first);
    } else {
        rate = OF_COLUMNS(cluster_row)(b->K + y * s->nx + first, l);
    }
    for (int i = 0; i < 3 && step->turn; i++) ADD_TO(own->w[i], rate, SPREAD(axis[i]));
    if (!step->slide) return;
    rate *= SPREAD(AT(b->link[n].slide));
    for (int i = 0; i < 3; i++) ADD_TO(own->v[i], rate, SPREAD(axis[i]));
}

// Of a body for units of x: velocity of the mass centre, momentum P; angular velocity and momentum H, axes of the body.
typedef struct OF_COLUMNS(cluster_momenta) {
    columns v[3], P[3], w[3], H[3];
} OF_COLUMNS(cluster_momenta);

static INLINE void OF_COLUMNS(cluster_momentum)(const lwi_cluster_link *link, const real *R,
                                                const real *c,
                                                const OF_COLUMNS(cluster_motions) * own,
                                                OF_COLUMNS(cluster_momenta) * body, int l)
{
    real J[6];
    NAME(cluster_load)(J, link->J, 6, l);
    const real row[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    for (int k = 0; k < 3; k++) body->v[k] = own->v[k];
    OF_COLUMNS(cluster_cross_to)(body->v, own->w, c);
    for (int k = 0; k < 3; k++) {
        const real column[3] = {R[k], R[3 + k], R[6 + k]};
        body->w[k] = OF_COLUMNS(cluster_dot3)(column, own->w);
        body->P[k] = SPREAD(AT(link->m)) * body->v[k];
    }
    for (int k = 0; k < 3; k++) body->H[k] = OF_COLUMNS(cluster_dot3)(row + 3 * k, body->w);
}

// B += momentum P and angular momentum H (body axes) of a body, about the base's origin.
static INLINE void OF_COLUMNS(cluster_couple)(const real *R, const real *r, const columns *P,
                                              const columns *H, columns *B)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        columns angular = OF_COLUMNS(cluster_dot3)(R + 3 * i, H);
        ADD_TO(angular, SPREAD(r[j]), P[k]);
        TAKE_FROM(angular, SPREAD(r[k]), P[j]);
        B[i] += P[i];
        B[3 + i] += angular;
    }
}

// M [nx] += a body's part.
static INLINE void OF_COLUMNS(cluster_project)(const lwi_cluster_block *b, int n,
                                               const OF_COLUMNS(cluster_momenta) * body,
                                               columns (*M)[GROUPS])
{
    const lwi_cluster_shape *s = b->shape;
    UNROLL
    for (int i = 0; i < s->nx; i++) {
        const OF_COLUMNS(cluster_momenta) *of = &body[i / COLUMNS];
        real P[3], H[3];
        if (!(s->step[n].moved_by >> i & 1)) continue;
        for (int k = 0; k < 3; k++)
            P[k] = ENTRY(of->P[k], i % COLUMNS), H[k] = ENTRY(of->H[k], i % COLUMNS);
        UNROLL
        for (int g = 0; g <= i / COLUMNS; g++) {
            if (!(s->step[n].moved_by >> g * COLUMNS & ((1u << COLUMNS) - 1))) continue;
            M[i][g] +=
                OF_COLUMNS(cluster_dot3)(P, body[g].v) + OF_COLUMNS(cluster_dot3)(H, body[g].w);
        }
    }
}

static INLINE void OF_COLUMNS(cluster_inertia)(const lwi_cluster_block *b, real (*axis)[3], int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx, ngroup = (nx + COLUMNS - 1) / COLUMNS;
    const unsigned all = (1u << COLUMNS) - 1;
    OF_COLUMNS(cluster_motions) own[LWI_CLUSTER_STEPS][GROUPS];
    columns M[LWI_CLUSTER_KNOWN][GROUPS], B[GROUPS][6];
    real C[LWI_CLUSTER_SPATIAL];
    for (int i = 0; i < nx; i++)
        for (int g = 0; g <= i / COLUMNS; g++) M[i][g] = SPREAD(NAME(splat)(0));
    for (int i = 0; i < LWI_CLUSTER_SPATIAL && s->floats; i++) C[i] = NAME(splat)(0);
    for (int i = 0; i < 6 * ngroup && s->floats; i++) B[i / 6][i % 6] = SPREAD(NAME(splat)(0));
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        const lwi_cluster_pose *pose = &b->pose[n];
        const int p = step->parent;
        const unsigned moved_by = step->moved_by, inboard = p < 0 ? 0 : s->step[p].moved_by;
        UNROLL
        for (int g = 0; g < ngroup; g++) {
            const int first = g * COLUMNS;
            if (!(moved_by >> first & all)) continue;
            OF_COLUMNS(cluster_column)
            (b, n, first, axis[n], inboard >> first & all ? &own[p][g] : NULL, &own[n][g], l);
        }
        if (step->body < 0) continue;
        const lwi_cluster_link *link = &b->link[n];
        OF_COLUMNS(cluster_momenta) body[GROUPS];
        real c[3], r[3], R[9];
        NAME(cluster_load)(c, pose->c, 3, l);
        NAME(cluster_load)(R, pose->R, 9, l);
        for (int k = 0; k < 3; k++) r[k] = AT(pose->r[k]) + c[k];
        if (s->floats) NAME(cluster_spatial)(link, R, r, C, l);
        UNROLL
        for (int g = 0; g < ngroup; g++) {
            if (!(moved_by >> g * COLUMNS & all)) continue;
            OF_COLUMNS(cluster_momentum)(link, R, c, &own[n][g], &body[g], l);
            if (s->floats) OF_COLUMNS(cluster_couple)(R, r, body[g].P, body[g].H, B[g]);
            for (int j = 0; j < COLUMNS && g * COLUMNS + j < nx; j++) {
                lwi_cluster_column *keep = &b->column[step->body * nx + g * COLUMNS + j];
                for (int k = 0; k < 3; k++) {
                    AT(keep->v[k]) = ENTRY(body[g].v[k], j);
                    AT(keep->w[k]) = ENTRY(body[g].w[k], j);
                }
            }
        }
        OF_COLUMNS(cluster_project)(b, n, body, M);
    }
    for (int i = 0; i < nx; i++)
        for (int j = 0; j <= i; j++)
            AT(b->M[i * (i + 1) / 2 + j]) = ENTRY(M[i][j / COLUMNS], j % COLUMNS);
    if (!s->floats) return;
    NAME(cluster_store)(b->C, C, LWI_CLUSTER_SPATIAL, l);
    for (int i = 0; i < 6 * nx; i++)
        AT(b->B[i]) = ENTRY(B[i / 6 / COLUMNS][i % 6], i / 6 % COLUMNS);
}

#undef OF_COLUMNS_3
#undef OF_COLUMNS_2
#undef OF_COLUMNS
#undef columns
#undef SPREAD
#undef FUSED
#undef ENTRY
#undef GROUPS
#undef ADD_TO
#undef TAKE_FROM
#undef COLUMNS

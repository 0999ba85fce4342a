// tree.inl -- along the tree of clusters, one after the other: speeds outward, inertias and forces inward,
// accelerations outward.  Included at WIDTH 1.
//
//     M += E' M_b E,   f += E'(M_b kappa + f_b)      into the parent of cluster b, inward
//                                                               [anderson2003, (14), (15), (62)-(66)]
//     x.._w = -M_ww^-1 (M_wa x.._a + f_w),  y.. = K x.. + k              outward
//                                                                 [anderson2003, (55), (67), (70)]
//
// On a floating base B and h are passed along, and are summed on the base (base.c).
//
// A cluster's own independent coordinates w are eliminated; the remaining system is over a.  Symmetric
// matrices are lower triangles row by row.
// Input: K, k, M, f of all clusters, independent speeds v [nv].  Output: all speeds, vdot [nv].  Cost: O(clusters).

#define LOWER(i, j) ((i) * ((i) + 1) / 2 + (j))
#define EITHER(i, j) ((i) >= (j) ? LOWER(i, j) : LOWER(j, i))
#define OF_LANE(array, i) ((array)[(i)*LWI_LANES])
// Eight consecutive numbers are vectors of the machine's width, one after the other: gcc takes wider ones apart in memory.
// Products and sums of these are not fused.
#if defined __AVX512F__
#define ROW_WIDTH 8
#elif defined __AVX__
#define ROW_WIDTH 4
#else
#define ROW_WIDTH 2
#endif
typedef double row_part __attribute__((vector_size(8 * ROW_WIDTH), may_alias, aligned(8)));
#define ROW_PARTS (LWI_LANES / ROW_WIDTH)
#define PART(row, p) (((row_part *)(row))[p])

// The function for a cluster's size, with constant loop lengths for frequent sizes: one or two coordinates that are
// passed through, planar loops, and loops between universal joints.
#define OF_SIZE(cluster, variant)                                                                  \
    switch ((cluster)->size) {                                                                     \
    case LWI_CLUSTER_SIZE(0, 1, 0, 0):                                                             \
        variant(0, 1, 0, 0);                                                                       \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(0, 2, 0, 0):                                                             \
        variant(0, 2, 0, 0);                                                                       \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 1, 1):                                                             \
        variant(1, 1, 1, 1);                                                                       \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 2, 1):                                                             \
        variant(1, 1, 2, 1);                                                                       \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 3, 1):                                                             \
        variant(1, 1, 3, 1);                                                                       \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(2, 2, 3, 2):                                                             \
        variant(2, 2, 3, 2);                                                                       \
        break;                                                                                     \
    default:                                                                                       \
        variant((cluster)->na, (cluster)->nx, (cluster)->ny, (cluster)->inboard);                  \
        break;                                                                                     \
    }

// ------------------------------------------------------------------------------------------ speeds

static INLINE void cluster_speeds(const lwi_cluster *cluster, int nx, int ny, double *v)
{
    double x[LWI_CLUSTER_KNOWN];
    for (int j = 0; j < nx; j++) x[j] = v[cluster->iv[j]];
    for (int y = 0; y < ny; y++) {
        double sum = 0;
        for (int j = 0; j < nx; j++) MORE(sum, OF_LANE(cluster->K, y * nx + j), x[j]);
        v[cluster->iv[nx + y]] = sum;
    }
}

// All speeds from the independent ones in v [nv].               [anderson2003, (34), (47)]
static void clusters_speeds(const lwi_clusters *c, double *v)
{
    for (int i = 0; i < c->ncluster; i++) {
        const lwi_cluster *cluster = &c->cluster[i];
#define SPEEDS(na, nx, ny, inboard) cluster_speeds(cluster, nx, ny, v)
        OF_SIZE(cluster, SPEEDS)
#undef SPEEDS
    }
}

// ------------------------------------------------------------------------------------------ inward

// Eliminates the cluster's own coordinates.  Their rows remain as they were at their elimination, with 1/D on the
// diagonal.
static INLINE bool cluster_eliminate(int na, int nx, double *M, double *f)
{
    bool valid = true;
    for (int i = nx - 1; i >= na; i--) {
        double *row = M + LOWER(i, 0);
        const double D = row[i], Di = 1 / D;
        valid = valid && D > 0;
        row[i] = Di;
        for (int j = 0; j < i; j++) {
            const double g = row[j] * Di;
            for (int k = 0; k <= j; k++) LESS(M[LOWER(j, k)], g, row[k]);
            LESS(f[j], g, f[i]);
        }
    }
    return valid;
}

// Sums C and h of all clusters on their bases, lane by lane.
static void clusters_base_loads(const lwi_clusters *c)
{
    for (int n = 0; n < c->nblock; n++) {
        const lwi_cluster_block *b = &c->block[n];
        if (!b->shape->floats) continue;
        if (b->base >= 0) {
            lwi_cluster_base *base = &c->base[b->base];
            for (int i = 0; i < LWI_CLUSTER_BASE_LOAD; i++)
                for (int p = 0; p < ROW_PARTS; p++)
                    PART(base->cluster_load[i], p) += PART(b->C[i], p);
            base->lanes = LWI_LANES;
            continue;
        }
        for (int l = 0; l < b->count; l++) {
            lwi_cluster_base *base = &c->base[b->at_base_motion[l] / LWI_CLUSTER_BASE_MOTION];
            for (int i = 0; i < LWI_CLUSTER_BASE_LOAD; i++) base->cluster_load[i][l] += b->C[i][l];
            if (base->lanes <= l) base->lanes = l + 1;
        }
    }
}

// A row of B: 6 numbers and zeros.
typedef struct base_row {
    row_part part[ROW_PARTS];
} base_row;

static INLINE double of_row(const base_row *row, int i)
{
    return row->part[i / ROW_WIDTH][i % ROW_WIDTH];
}

// Rows B of a cluster on a floating base, with those of its children.
static INLINE void cluster_gather_base(const lwi_cluster *cluster, int nx, base_row *B)
{
    for (int j = 0; j < nx; j++) {
        const double *b = cluster->B + 6 * j * LWI_LANES;
        for (int p = 0; p < ROW_PARTS; p++) {
            row_part x = {0};
            for (int i = 0; i < ROW_WIDTH && p * ROW_WIDTH + i < 6; i++)
                x[i] = OF_LANE(b, p * ROW_WIDTH + i);
            if (cluster->has_children) x += PART(cluster->base_rows[j], p);
            B[j].part[p] = x;
        }
    }
}

// Eliminates the cluster's own coordinates from B and from the base; M, f as cluster_eliminate
// leaves them.
static INLINE void cluster_eliminate_base(lwi_cluster_base *base, int na, int nx, const double *M,
                                          const double *f, base_row *B)
{
    for (int i = nx - 1; i >= na; i--) {
        const double *row = M + LOWER(i, 0);
        for (int p = 0; p < ROW_PARTS; p++) {
            const row_part taken = B[i].part[p] * row[i]; // 1/D
            for (int j = 0; j < i; j++) B[j].part[p] -= row[j] * taken;
            for (int j = 0; j < 6; j++) PART(base->E[j], p) -= of_row(&B[i], j) * taken;
            PART(base->e, p) -= f[i] * taken;
        }
    }
}

// Passes the rows B over a to the nx of the parent; driven coordinates act on the base.
static INLINE void cluster_pass_base(const lwi_clusters *c, const lwi_cluster *cluster, int na,
                                     int nx, const base_row *B)
{
    lwi_cluster_base *base = &c->base[cluster->base];
    for (int j = 0; j < na; j++) {
        if (!cluster->to && !(cluster->driven >> j & 1)) continue;
        const double kappa =
            cluster->to ? cluster->kappa[j][0] : c->drive[cluster->iv[j] - c->nfree];
        for (int p = 0; p < ROW_PARTS; p++) PART(base->e, p) += kappa * B[j].part[p];
    }
    for (int x = 0; x < nx && cluster->to; x++)
        for (int p = 0; p < ROW_PARTS; p++) {
            row_part sum = {0};
            if (!cluster->first) sum = PART(cluster->to_base_rows[x], p);
            for (int j = 0; j < na; j++) sum += OF_LANE(cluster->E[j], x) * B[j].part[p];
            PART(cluster->to_base_rows[x], p) = sum;
        }
}

// Passes the reduced system over a to the nx of the parent, among which all of a are: rows of E are units.
static INLINE void cluster_pass_same(const lwi_cluster *cluster, int na, int nx, const double *M,
                                     const double *f)
{
    double *to_M = cluster->to, *to_f = to_M + LOWER(nx, 0);
    for (int i = 0; i < LOWER(nx, 0) + nx && cluster->first; i++) to_M[i] = 0;
    for (int i = 0; i < na; i++) {
        const int x = cluster->in_parent[i];
        to_f[x] += f[i];
        for (int j = 0; j <= i; j++) {
            const int z = cluster->in_parent[j];
            to_M[EITHER(x, z)] += M[LOWER(i, j)];
        }
    }
}

// Passes the reduced system over a to the nx of the parent.
static INLINE void cluster_pass_inward(const lwi_cluster *cluster, int na, int nx, const double *M,
                                       const double *f)
{
    double *to_M = cluster->to, *to_f = to_M + LOWER(nx, 0);
    double row[LWI_CLUSTER_KNOWN][LWI_CLUSTER_KNOWN], bias[LWI_CLUSTER_KNOWN];
    for (int i = 0; i < na; i++) {
        bias[i] = f[i];
        for (int j = 0; j < na; j++) MORE(bias[i], M[EITHER(i, j)], cluster->kappa[j][0]);
        for (int x = 0; x < nx; x++) {
            row[i][x] = 0;
            for (int j = 0; j < na; j++)
                MORE(row[i][x], M[EITHER(i, j)], OF_LANE(cluster->E[j], x));
        }
    }
    for (int x = 0; x < nx; x++) {
        double sum = cluster->first ? 0 : to_f[x];
        for (int i = 0; i < na; i++) MORE(sum, OF_LANE(cluster->E[i], x), bias[i]);
        to_f[x] = sum;
        for (int z = 0; z <= x; z++) {
            sum = cluster->first ? 0 : to_M[LOWER(x, z)];
            for (int i = 0; i < na; i++) MORE(sum, OF_LANE(cluster->E[i], x), row[i][z]);
            to_M[LOWER(x, z)] = sum;
        }
    }
}

static INLINE bool cluster_inward(const lwi_clusters *c, const lwi_cluster *cluster, int na, int nx,
                                  int inboard)
{
    double M[LOWER(LWI_CLUSTER_KNOWN, 0)], f[LWI_CLUSTER_KNOWN];
    base_row B[LWI_CLUSTER_KNOWN];
    const bool floats = cluster->base >= 0;
    for (int i = 0; i < nx; i++) {
        f[i] = OF_LANE(cluster->f, i);
        for (int j = 0; j <= i; j++) M[LOWER(i, j)] = OF_LANE(cluster->M, LOWER(i, j));
    }
    if (cluster->has_children) {
        for (int i = 0; i < LOWER(nx, 0); i++) M[i] += cluster->sum[i];
        for (int i = 0; i < nx; i++) f[i] += cluster->sum[LOWER(nx, 0) + i];
    }
    if (floats) cluster_gather_base(cluster, nx, B);
    LWI_ASSERT(na <= nx && nx <= LWI_CLUSTER_KNOWN && inboard <= LWI_CLUSTER_KNOWN);
    bool valid = true;
    if (na < nx) {
        valid = cluster_eliminate(na, nx, M, f);
        if (floats) {
            cluster_eliminate_base(&c->base[cluster->base], na, nx, M, f, B);
            for (int i = na; i < nx; i++) memcpy(cluster->base_rows[i], &B[i], sizeof B[i]);
        }
        for (int i = 0; i < LOWER(nx, 0); i++) cluster->sum[i] = M[i];
        for (int i = 0; i < nx; i++) cluster->sum[LOWER(nx, 0) + i] = f[i];
    }
    if (floats) cluster_pass_base(c, cluster, na, inboard, B);
    if (!cluster->to) return valid;
    if (na * inboard > 1 && cluster->same)
        cluster_pass_same(cluster, na, inboard, M, f);
    else
        cluster_pass_inward(cluster, na, inboard, M, f);
    return valid;
}

// ----------------------------------------------------------------------------------------- outward

static INLINE void cluster_outward(const lwi_clusters *c, const lwi_cluster *cluster, int na,
                                   int nx, int ny, double *vdot)
{
    const double *M = cluster->sum, *f = M + LOWER(nx, 0);
    double x[LWI_CLUSTER_KNOWN];
    for (int i = 0; i < na; i++) x[i] = vdot[cluster->iv[i]];
    LWI_ASSERT(nx <= LWI_CLUSTER_KNOWN);
    for (int i = na; i < nx; i++) {
        double sum = f[i];
        for (int j = 0; j < i; j++) MORE(sum, M[LOWER(i, j)], x[j]);
        for (int k = 0; k < 6 && cluster->base >= 0; k++)
            MORE(sum, cluster->base_rows[i][k], c->base[cluster->base].A[k]);
        vdot[cluster->iv[i]] = x[i] = -sum * M[LOWER(i, i)];
    }
    for (int y = 0; y < ny; y++) {
        double sum = OF_LANE(cluster->k, y);
        for (int j = 0; j < nx; j++) MORE(sum, OF_LANE(cluster->K, y * nx + j), x[j]);
        vdot[cluster->iv[nx + y]] = sum;
    }
}

// E and kappa of a forwarded coordinate over the parent's x: the row K in the cluster that has it, times E of all
// clusters up to `to`, times the rows of these in the parent.
static void forward(const lwi_clusters *c, const lwi_cluster_forwarded *to)
{
    double row[LWI_CLUSTER_KNOWN], kappa = to->k[0];
    const lwi_cluster *at = &c->cluster[to->from];
    for (int j = 0; j < at->nx; j++) row[j] = OF_LANE(to->K, j);
    for (; at != &c->cluster[to->to]; at = &c->cluster[at->parent]) {
        LWI_ASSERT(at->to); // clusters below `to` have parents
        double next[LWI_CLUSTER_KNOWN] = {0};
        for (int j = 0; j < at->na; j++) {
            MORE(kappa, row[j], at->kappa[j][0]);
            for (int x = 0; x < at->inboard; x++) MORE(next[x], row[j], OF_LANE(at->E[j], x));
        }
        for (int x = 0; x < at->inboard; x++) row[x] = next[x];
    }
    for (int x = 0; x < to->nx; x++) OF_LANE(to->E, x) = to->same ? row[x] : 0;
    for (int j = 0; j < at->nx && !to->same; j++) {
        MORE(kappa, row[j], to->more[j][0]);
        for (int x = 0; x < to->nx; x++) MORE(OF_LANE(to->E, x), row[j], OF_LANE(to->row[j], x));
    }
    to->kappa[0] = kappa;
}

// vdot [nv]; false if a mass is not positive.
static bool clusters_solve(const lwi_clusters *c, double *vdot)
{
    bool valid = true;
    for (int i = 0; i < c->nforwarded; i++) forward(c, &c->forwarded[i]);
    clusters_base_loads(c);
    for (int i = c->ncluster - 1; i >= 0; i--) {
        const lwi_cluster *cluster = &c->cluster[i];
#define INWARD(na, nx, ny, inboard) valid = cluster_inward(c, cluster, na, nx, inboard) && valid
        OF_SIZE(cluster, INWARD)
#undef INWARD
    }
    if (!valid || !lwi_clusters_solve_bases(c, vdot)) return false;
    for (int i = 0; i < c->ncluster; i++) {
        const lwi_cluster *cluster = &c->cluster[i];
#define OUTWARD(na, nx, ny, inboard) cluster_outward(c, cluster, na, nx, ny, vdot)
        OF_SIZE(cluster, OUTWARD)
#undef OUTWARD
    }
    return true;
}

#undef LOWER
#undef EITHER
#undef OF_LANE
#undef PART
#undef ROW_PARTS
#undef ROW_WIDTH
#undef OF_SIZE

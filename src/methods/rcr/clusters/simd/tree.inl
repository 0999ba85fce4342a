// tree.inl -- along the tree of cells, one after the other: speeds outward, inertias and
// forces inward, accelerations outward.  Included at WIDTH 1.
//
//     M += E' M_b E,   f += E'(M_b kappa + f_b)          into the parent of cell b, inward
//     xdd_w = -M_ww^-1 (M_wa xdd_a + f_w),  ydd = K xdd + k                         outward
//
// On what floats B and h go along, and what is left meets on the body (base.c).
//
// A cell's own independent coordinates w are eliminated; what is left is over a.  Symmetric
// matrices are lower triangles row by row.

#define LOWER(i, j) ((i) * ((i) + 1) / 2 + (j))
#define EITHER(i, j) ((i) >= (j) ? LOWER(i, j) : LOWER(j, i))
#define OF_LANE(array, i) ((array)[(i)*LWI_LANES])

// The text for a cell's size, with loops of known length for the sizes that machines are made of:
// one or two freedoms that pass through, planar loops and loops between universal joints.
#define OF_SIZE(cell, text)                                                                        \
    switch ((cell)->size) {                                                                        \
    case LWI_CLUSTER_SIZE(0, 1, 0, 0):                                                             \
        text(0, 1, 0, 0);                                                                          \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 1, 1):                                                             \
        text(1, 1, 1, 1);                                                                          \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 2, 1):                                                             \
        text(1, 1, 2, 1);                                                                          \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(1, 1, 3, 1):                                                             \
        text(1, 1, 3, 1);                                                                          \
        break;                                                                                     \
    case LWI_CLUSTER_SIZE(2, 2, 3, 2):                                                             \
        text(2, 2, 3, 2);                                                                          \
        break;                                                                                     \
    default:                                                                                       \
        text((cell)->na, (cell)->nx, (cell)->ny, (cell)->inboard);                                 \
        break;                                                                                     \
    }

// ------------------------------------------------------------------------------------------ speeds

static INLINE void cell_speeds(const lwi_cluster *cell, int nx, int ny, double *v)
{
    double x[LWI_CLUSTER_KNOWN];
    for (int j = 0; j < nx; j++) x[j] = v[cell->iv[j]];
    for (int y = 0; y < ny; y++) {
        double sum = 0;
        for (int j = 0; j < nx; j++) MORE(sum, OF_LANE(cell->K, y * nx + j), x[j]);
        v[cell->iv[nx + y]] = sum;
    }
}

// All speeds from the independent ones in v [nv].
static void cells_speeds(const lwi_clusters *c, double *v)
{
    for (int i = 0; i < c->ncell; i++) {
        const lwi_cluster *cell = &c->cell[i];
#define SPEEDS(na, nx, ny, inboard) cell_speeds(cell, nx, ny, v)
        OF_SIZE(cell, SPEEDS)
#undef SPEEDS
    }
}

// ------------------------------------------------------------------------------------------ inward

// Takes the cell's own coordinates out.  Their rows stay as they were when it was their turn, with
// 1/D on the diagonal.
static INLINE bool cell_eliminate(int na, int nx, double *M, double *f)
{
    bool sure = true;
    for (int i = nx - 1; i >= na; i--) {
        double *row = M + LOWER(i, 0);
        const double D = row[i], Di = 1 / D;
        sure = sure && D > 0;
        row[i] = Di;
        for (int j = 0; j < i; j++) {
            const double g = row[j] * Di;
            for (int k = 0; k <= j; k++) LESS(M[LOWER(j, k)], g, row[k]);
            LESS(f[j], g, f[i]);
        }
    }
    return sure;
}

// C and h of all cells on what carries them, lanes apart.
static void cells_carried(const lwi_clusters *c)
{
    for (int n = 0; n < c->nblock; n++) {
        const lwi_cluster_block *b = &c->block[n];
        if (!b->shape->floats) continue;
        if (b->base >= 0) {
            double(*sum)[LWI_LANES] = c->base[b->base].carried;
            for (int i = 0; i < LWI_CLUSTER_CARRIED; i++) *(row8 *)sum[i] += *(const row8 *)b->C[i];
            continue;
        }
        for (int l = 0; l < b->count; l++)
            for (int i = 0; i < LWI_CLUSTER_CARRIED; i++)
                c->base[b->at_sway[l] / LWI_CLUSTER_SWAY].carried[i][l] += b->C[i][l];
    }
}

// The rows B of a cell on what floats, before its coordinates are taken out.
static INLINE void cell_gather_felt(const lwi_cluster *cell, int nx, row8 *B)
{
    for (int j = 0; j < nx; j++) {
        const double *b = cell->B + 6 * j * LWI_LANES;
        B[j] = (row8){OF_LANE(b, 0), OF_LANE(b, 1), OF_LANE(b, 2),
                      OF_LANE(b, 3), OF_LANE(b, 4), OF_LANE(b, 5)};
        if (cell->fed) B[j] += *(const row8 *)cell->felt[j];
    }
}

// Takes the coordinates out of B and of what stands on the base; M, f as cell_eliminate leaves them.
static INLINE void cell_eliminate_felt(lwi_cluster_base *base, int na, int nx, const double *M,
                                       const double *f, row8 *B)
{
    for (int i = nx - 1; i >= na; i--) {
        const double *row = M + LOWER(i, 0);
        const row8 taken = B[i] * row[i]; // 1/D
        for (int j = 0; j < i; j++) B[j] -= row[j] * taken;
        for (int j = 0; j < 6; j++) *(row8 *)base->E[j] -= B[i][j] * taken;
        *(row8 *)base->e -= f[i] * taken;
    }
}

// B of a cell, over its a, in terms of the nx of its parent; what is prescribed acts on the base.
static INLINE void cell_pass_felt(const lwi_clusters *c, const lwi_cluster *cell, int na, int nx,
                                  const row8 *B)
{
    lwi_cluster_base *base = &c->base[cell->base];
    for (int j = 0; j < na; j++) {
        if (!cell->to && !(cell->driven >> j & 1)) continue;
        const double kappa = cell->to ? cell->kappa[j][0] : c->drive[cell->iv[j] - c->nfree];
        *(row8 *)base->e += kappa * B[j];
    }
    for (int x = 0; x < nx && cell->to; x++) {
        row8 sum = {0};
        if (!cell->first) sum = *(const row8 *)cell->to_felt[x];
        for (int j = 0; j < na; j++) sum += OF_LANE(cell->E[j], x) * B[j];
        *(row8 *)cell->to_felt[x] = sum;
    }
}

// What is left of a cell, over its a, in terms of the nx of its parent.
static INLINE void cell_pass_on(const lwi_cluster *cell, int na, int nx, const double *M,
                                const double *f)
{
    double *to_M = cell->to, *to_f = to_M + LOWER(nx, 0);
    double row[LWI_CLUSTER_KNOWN][LWI_CLUSTER_KNOWN], felt[LWI_CLUSTER_KNOWN];
    for (int i = 0; i < na; i++) {
        felt[i] = f[i];
        for (int j = 0; j < na; j++) MORE(felt[i], M[EITHER(i, j)], cell->kappa[j][0]);
        for (int x = 0; x < nx; x++) {
            row[i][x] = 0;
            for (int j = 0; j < na; j++) MORE(row[i][x], M[EITHER(i, j)], OF_LANE(cell->E[j], x));
        }
    }
    for (int x = 0; x < nx; x++) {
        double sum = cell->first ? 0 : to_f[x];
        for (int i = 0; i < na; i++) MORE(sum, OF_LANE(cell->E[i], x), felt[i]);
        to_f[x] = sum;
        for (int z = 0; z <= x; z++) {
            sum = cell->first ? 0 : to_M[LOWER(x, z)];
            for (int i = 0; i < na; i++) MORE(sum, OF_LANE(cell->E[i], x), row[i][z]);
            to_M[LOWER(x, z)] = sum;
        }
    }
}

static INLINE bool cell_inward(const lwi_clusters *c, const lwi_cluster *cell, int na, int nx,
                               int inboard)
{
    double M[LOWER(LWI_CLUSTER_KNOWN, 0)], f[LWI_CLUSTER_KNOWN];
    row8 B[LWI_CLUSTER_KNOWN];
    const bool floats = cell->base >= 0;
    for (int i = 0; i < nx; i++) {
        f[i] = OF_LANE(cell->f, i);
        for (int j = 0; j <= i; j++) M[LOWER(i, j)] = OF_LANE(cell->M, LOWER(i, j));
    }
    if (cell->fed) {
        for (int i = 0; i < LOWER(nx, 0); i++) M[i] += cell->sum[i];
        for (int i = 0; i < nx; i++) f[i] += cell->sum[LOWER(nx, 0) + i];
    }
    if (floats) cell_gather_felt(cell, nx, B);
    bool sure = true;
    if (na < nx) {
        sure = cell_eliminate(na, nx, M, f);
        if (floats) {
            cell_eliminate_felt(&c->base[cell->base], na, nx, M, f, B);
            for (int i = na; i < nx; i++) *(row8 *)cell->felt[i] = B[i];
        }
        for (int i = 0; i < LOWER(nx, 0); i++) cell->sum[i] = M[i];
        for (int i = 0; i < nx; i++) cell->sum[LOWER(nx, 0) + i] = f[i];
    }
    if (floats) cell_pass_felt(c, cell, na, inboard, B);
    if (cell->to) cell_pass_on(cell, na, inboard, M, f);
    return sure;
}

// ----------------------------------------------------------------------------------------- outward

static INLINE void cell_outward(const lwi_clusters *c, const lwi_cluster *cell, int na, int nx,
                                int ny, double *vdot)
{
    const double *M = cell->sum, *f = M + LOWER(nx, 0);
    double x[LWI_CLUSTER_KNOWN];
    for (int i = 0; i < na; i++) x[i] = vdot[cell->iv[i]];
    for (int i = na; i < nx; i++) {
        double sum = f[i];
        for (int j = 0; j < i; j++) MORE(sum, M[LOWER(i, j)], x[j]);
        for (int k = 0; k < 6 && cell->base >= 0; k++)
            MORE(sum, cell->felt[i][k], c->base[cell->base].A[k]);
        vdot[cell->iv[i]] = x[i] = -sum * M[LOWER(i, i)];
    }
    for (int y = 0; y < ny; y++) {
        double sum = OF_LANE(cell->k, y);
        for (int j = 0; j < nx; j++) MORE(sum, OF_LANE(cell->K, y * nx + j), x[j]);
        vdot[cell->iv[nx + y]] = sum;
    }
}

// A coordinate of a cell over x of its parent: K of the cell that has it, E of all between that one and
// the one whose x tells it, and rows of these in the parent.
static void relay(const lwi_clusters *c, const lwi_cluster_relay *way)
{
    double row[LWI_CLUSTER_KNOWN], kappa = way->k[0];
    const lwi_cluster *at = &c->cell[way->from];
    for (int j = 0; j < at->nx; j++) row[j] = OF_LANE(way->K, j);
    for (; at != &c->cell[way->to]; at = &c->cell[at->parent]) {
        double next[LWI_CLUSTER_KNOWN] = {0};
        for (int j = 0; j < at->na; j++) {
            MORE(kappa, row[j], at->kappa[j][0]);
            for (int x = 0; x < at->inboard; x++) MORE(next[x], row[j], OF_LANE(at->E[j], x));
        }
        for (int x = 0; x < at->inboard; x++) row[x] = next[x];
    }
    for (int x = 0; x < way->nx; x++) OF_LANE(way->E, x) = way->same ? row[x] : 0;
    for (int j = 0; j < at->nx && !way->same; j++) {
        MORE(kappa, row[j], way->more[j][0]);
        for (int x = 0; x < way->nx; x++) MORE(OF_LANE(way->E, x), row[j], OF_LANE(way->row[j], x));
    }
    way->kappa[0] = kappa;
}

// vdot [nv]; false where a mass is not positive.
static bool cells_solve(const lwi_clusters *c, double *vdot)
{
    bool sure = true;
    for (int i = 0; i < c->nrelay; i++) relay(c, &c->relay[i]);
    cells_carried(c);
    for (int i = c->ncell - 1; i >= 0; i--) {
        const lwi_cluster *cell = &c->cell[i];
#define INWARD(na, nx, ny, inboard) sure = cell_inward(c, cell, na, nx, inboard) && sure
        OF_SIZE(cell, INWARD)
#undef INWARD
    }
    if (!sure || !lwi_clusters_solve_bases(c, vdot)) return false;
    for (int i = 0; i < c->ncell; i++) {
        const lwi_cluster *cell = &c->cell[i];
#define OUTWARD(na, nx, ny, inboard) cell_outward(c, cell, na, nx, ny, vdot)
        OF_SIZE(cell, OUTWARD)
#undef OUTWARD
    }
    return true;
}

#undef LOWER
#undef EITHER
#undef OF_LANE
#undef OF_SIZE

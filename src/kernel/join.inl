// join.inl -- runs.inl between the runs: one run after the other, plain doubles.

typedef struct joined {
    double I[6][6], p[6]; // of everything beyond a cut
    double Q[6][6], q[6]; // f = Q T'A_base + q
} joined;

// w of every base: run->w becomes what the run starts with.
static void join_velocities(const lwi_kernel_plan *plan, lwi_k_run *run)
{
    double w[3] = {0, 0, 0};
    for (int r = 0; r < plan->runs; r++) {
        double tip[3];
        for (int i = 0; i < 3; i++)
            tip[i] = run->w[i][r] + (run->C[3 * i][r] * w[0] + run->C[3 * i + 1][r] * w[1] +
                                     run->C[3 * i + 2][r] * w[2]);
        for (int i = 0; i < 3; i++) {
            run->w[i][r] = w[i];
            w[i] = tip[i];
        }
    }
}

static void read_art(const lwi_k_art *art, int r, double I[6][6], double p[6])
{
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            I[i][j] = art->A[place[i][j]][r];
            I[i][3 + j] = I[3 + j][i] = art->B[3 * i + j][r];
            I[3 + i][3 + j] = art->C[place[i][j]][r];
        }
    for (int i = 0; i < 6; i++) p[i] = art->p[i][r];
}

// Q = (1 + I L)^-1 I = (I^-1 + L)^-1 without an inverse, for both may be singular: L = sum of
// d l l' (Cholesky), and each term takes Q l (Q l)' d / (1 + d l'Q l) away, whose denominator is at
// least one.  Pivots of L that are rounding of their diagonal are dropped.
static void soften(const lwi_k_run *run, int r, double Q[6][6])
{
    double L[6][6];
    for (int i = 0, e = 0; i < 6; i++)
        for (int j = 0; j <= i; j++, e++) L[i][j] = run->L[e][r];
    for (int j = 0; j < 6; j++) {
        const double least = 64 * DBL_EPSILON * run->L[j * (j + 3) / 2][r], d = L[j][j];
        if (!(d > least)) continue;
        double Ql[6], lQl = 0;
        for (int i = 0; i < 6; i++) {
            Ql[i] = Q[i][j] * d;
            for (int k = j + 1; k < 6; k++) Ql[i] += Q[i][k] * L[k][j];
        }
        lQl = Ql[j] * d;
        for (int k = j + 1; k < 6; k++) lQl += Ql[k] * L[k][j];
        const double s = 1 / (d + lQl), inverse = 1 / d; // both l and Ql are d times too large
        for (int i = 0; i < 6; i++) {
            const double si = s * Ql[i];
            for (int k = 0; k <= i; k++) Q[i][k] -= si * Ql[k];
        }
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < i; k++) Q[k][i] = Q[i][k];
        for (int i = j + 1; i < 6; i++) {
            const double factor = L[i][j] * inverse;
            for (int k = j + 1; k <= i; k++) L[i][k] -= factor * L[k][j];
        }
    }
}

// What is beyond the tip of run r, (I, p), becomes what is beyond its base.
static void join_inward(const lwi_k_run *run, int r, joined *at, joined *base)
{
    double T[6][6], TQ[6][6], x[6], I[6][6], p[6];
    read_art(&run->art, r, I, p);
    memcpy(at->Q, at->I, sizeof at->Q);
    soften(run, r, at->Q);
    for (int i = 0; i < 6; i++) { // x = e - L p
        x[i] = run->e[i][r];
        for (int j = 0; j < 6; j++) {
            const int e = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
            x[i] -= run->L[e][r] * at->p[j];
            T[i][j] = run->T[6 * i + j][r];
        }
    }
    for (int i = 0; i < 6; i++) { // q = Q (e - L p) + p
        at->q[i] = at->p[i];
        for (int j = 0; j < 6; j++) at->q[i] += at->Q[i][j] * x[j];
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            TQ[i][j] = 0;
            for (int k = 0; k < 6; k++) TQ[i][j] += T[i][k] * at->Q[k][j];
        }
    for (int i = 0; i < 6; i++) {
        base->p[i] = p[i];
        for (int j = 0; j < 6; j++) base->p[i] += T[i][j] * at->q[j];
        for (int j = 0; j <= i; j++) {
            double sum = I[i][j];
            for (int k = 0; k < 6; k++) sum += TQ[i][k] * T[j][k];
            base->I[i][j] = base->I[j][i] = sum;
        }
    }
}

// A of the next run's base from A of this one's, and the wrench between.
static void join_outward(lwi_k_run *run, int r, const joined *at, double A[6])
{
    double x[6], f[6];
    for (int i = 0; i < 6; i++) {
        x[i] = 0;
        for (int j = 0; j < 6; j++) x[i] += run->T[6 * j + i][r] * A[j];
    }
    for (int i = 0; i < 6; i++) {
        f[i] = at->q[i];
        for (int j = 0; j < 6; j++) f[i] += at->Q[i][j] * x[j];
        run->f[i][r] = f[i];
    }
    for (int i = 0; i < 6; i++) {
        A[i] = x[i] + run->e[i][r];
        for (int j = 0; j < 6; j++) {
            const int e = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
            A[i] -= run->L[e][r] * f[j];
        }
    }
}

// Of the ground: x in the frame of the first hinge, turned about z, where its row of T starts.
static void on_the_ground(const lwi_kernel_plan *plan, const double x[3], double turned[3])
{
    const double c = plan->screw[0].cphi[0], s = plan->screw[0].sphi[0];
    turned[0] = c * x[0] + s * x[1];
    turned[1] = c * x[1] - s * x[0];
    turned[2] = x[2];
}

// A: of the ground; it becomes that of the last run's base.
static void join_motions(const lwi_kernel_plan *plan, lwi_k_run *run, double A[6])
{
    joined at[LWI_LANES];
    const int last = plan->runs - 1;
    read_art(&run->art, last, at[last - 1].I, at[last - 1].p);
    for (int r = last - 1; r > 0; r--) join_inward(run, r, &at[r], &at[r - 1]);
    joined ground;
    join_inward(run, 0, &at[0], &ground);
    for (int r = 0; r <= last; r++) {
        for (int i = 0; i < 6; i++) run->A[i][r] = A[i], run->f[i][r] = 0;
        if (r < last) join_outward(run, r, &at[r], A);
    }
}

static void join_runs(const lwi_kernel_plan *plan, lwi_k_run *run)
{
    const double *g = plan->gravity, up[3] = {-g[0], -g[1], -g[2]};
    double A[6] = {0};
    on_the_ground(plan, up, A);
    join_motions(plan, run, A);
}

// Of momenta: V, P* of what is beyond each tip, gravity, first moments.
static void join_momenta(const lwi_kernel_plan *plan, lwi_k_run *run)
{
    double V[6] = {0}, g[3], h[3] = {0, 0, 0};
    join_motions(plan, run, V);
    on_the_ground(plan, plan->gravity, g);
    for (int r = 0; r < plan->runs; r++) {
        const double x = g[0], y = g[1], z = g[2];
        for (int i = 0; i < 3; i++) {
            run->g[i][r] = g[i];
            g[i] = run->C[3 * i][r] * x + run->C[3 * i + 1][r] * y + run->C[3 * i + 2][r] * z;
        }
    }
    for (int r = plan->runs - 1; r >= 0;
         r--) { // h at the base: the run's, and C' of what is beyond
        const double x = h[0], y = h[1], z = h[2];
        for (int i = 0; i < 3; i++) {
            run->h[i][r] = h[i];
            h[i] =
                run->art.h[i][r] + (run->C[i][r] * x + run->C[3 + i][r] * y + run->C[6 + i][r] * z);
        }
    }
}

// root.c -- the inner end of a path (root.h).
#include "methods/dca/segments/root.h"

#include "base/assert.h"
#include "spatial/inertia.h"
#include "spatial/rotation.h"

#include <float.h>

void lwi_path_root_init(const lwi_path_base *base, const double gravity[3], lwi_path_root *root)
{
    const double *R = base->head.R, *o = base->head.r;
    *root = (lwi_path_root){.base = base};
    v3_copy(root->gravity, gravity);
    m3_identity(root->R);
    if (!base->nv) return;
    for (int k = 0; k < 6; k++) { // columns: unit motions
        double w[3] = {k == 0, k == 1, k == 2}, v[3] = {k == 3, k == 4, k == 5}, head[3], turn[3];
        v3_cross_add(v, w, o);
        m3_tmul_v(turn, R, w);
        m3_tmul_v(head, R, v);
        root->X[0][k] = turn[0], root->X[1][k] = turn[1];
        for (int i = 0; i < 3; i++) root->X[2 + i][k] = head[i];
    }
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const double *h = base->h;
    const double H[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            root->I[i][k] = base->J[at[i][k]];
            root->I[i][3 + k] = root->I[3 + k][i] = H[i][k];
        }
        root->I[3 + i][3 + i] = base->m;
    }
}

// The momenta of a free body are in world axes, those of a ball in its own.
void lwi_path_root_place(lwi_path_root *root, const double *q, const double *p)
{
    const lwi_path_base *base = root->base;
    if (base->nv) {
        double turn[9];
        quat_matrix(turn, q + base->iq);
        m3_mul(root->R, base->in.R, turn);
    }
    m3_tmul_v(root->g, root->R, root->gravity);
    if (base->nv == 3) v3_copy(root->p, p + base->iv);
    if (base->nv < 6) return;
    m3_tmul_v(root->p + 3, root->R, p + base->iv);
    m3_tmul_v(root->p, root->R, p + base->iv + 3);
}

static int triangle(int i, int k)
{
    return i >= k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

// The inertia of the base and of the path that it carries, I + X'M X, factored.                        (9)
static bool factor(lwi_path_root *root, const lwi_path_end *whole)
{
    const int n = root->base->nv;
    double MX[5][6];
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < n; k++) {
            MX[i][k] = 0;
            for (int c = 0; c < 5; c++) MX[i][k] += whole->M[triangle(i, c)][0] * root->X[c][k];
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = root->I[i][k];
            for (int c = 0; c < 5; c++) sum += root->X[c][i] * MX[c][k];
            root->L[i][k] = sum;
        }
    return cholesky6(root->L, n, 64 * DBL_EPSILON) < 0;
}

// The motion of the base that takes its momenta, less what the path has (z) and what the base itself has.
static void solve(const lwi_path_root *root, const lwi_path_end *whole, double first, double x[6])
{
    const int n = root->base->nv;
    for (int k = 0; k < n; k++) {
        x[k] = root->p[k];
        if (k < 3) x[k] -= root->base->head.R[3 * k + 2] * first; // about the joint's axis
        for (int c = 0; c < 5; c++) x[k] -= root->X[c][k] * whole->z[c][0];
        for (int i = 0; i < n; i++) x[k] -= root->I[k][i] * root->V[i];
    }
    LWI_ASSERT(n == 0 || n == 3 || n == 6);
    double(*L)[6] = (double(*)[6])root->L;
    cholesky6_forward(L, n, x);
    cholesky6_backward(L, n, x);
}

static void move_head(const lwi_path_root *root, const double x[6], lwi_lanes *V)
{
    for (int i = 0; i < 5; i++) {
        V[i][0] = 0;
        for (int k = 0; k < root->base->nv; k++) V[i][0] += root->X[i][k] * x[k];
    }
}

bool lwi_path_root_solve(lwi_path_root *root, lwi_path_end *whole, double first)
{
    double g[3];
    memset(root->V, 0, sizeof root->V);
    if (!factor(root, whole)) return false;
    solve(root, whole, first, root->V);
    move_head(root, root->V, whole->V0);
    m3_tmul_v(g, root->base->head.R, root->g);
    for (int i = 0; i < 3; i++) {
        whole->g[i][0] = g[i];
        whole->hb[i][0] = 0;
    }
    for (int i = 0; i < 5; i++) whole->f0[i][0] = whole->f[i][0] = 0;
    whole->mb[0] = 0;
    return true;
}

void lwi_path_root_again(lwi_path_root *root, lwi_path_end *whole, double first)
{
    double x[6] = {0};
    solve(root, whole, first, x);
    move_head(root, x, whole->V);
    for (int k = 0; k < root->base->nv; k++) root->V[k] += x[k];
    const double *R = root->base->head.R;
    root->axial = R[2] * root->V[0] + R[5] * root->V[1] + R[8] * root->V[2];
}

// Balance of the whole about the base's origin: f' = m g, n' = h x g - v x f.
bool lwi_path_root_rates(const lwi_path_root *root, const lwi_path_end *whole, const double *p,
                         double *u, double *pdot)
{
    const lwi_path_base *base = root->base;
    const int iv = base->iv;
    if (!base->nv) return true;
    const double m = base->m + whole->m[0];
    const double path[3] = {whole->h[0][0], whole->h[1][0], whole->h[2][0]};
    double h[3], n[3];
    m3_mul_v(h, base->head.R, path);
    v3_axpy(h, whole->m[0], base->head.r);
    v3_add(h, h, base->h);
    v3_cross(n, h, root->g);
    double *angular = u + iv + base->nv - 3, *rate = pdot + iv + base->nv - 3, nothing = 0;
    v3_copy(angular, root->V);
    if (base->nv == 3) { // body axes
        v3_cross_add(n, root->p, root->V);
        v3_copy(rate, n);
    } else {
        double v[3];
        v3_copy(u + iv, root->V + 3);
        m3_mul_v(rate, root->R, n);
        m3_mul_v(v, root->R, root->V + 3);
        v3_cross_add(rate, p + iv, v);
        v3_scale(pdot + iv, m, root->gravity);
    }
    for (int i = 0; i < base->nv; i++) nothing += 0 * u[iv + i] + 0 * pdot[iv + i];
    return nothing == 0;
}

void lwi_path_root_efforts(const lwi_path_root *root, const double *effort, double *pdot)
{
    const lwi_path_base *base = root->base;
    double *to = pdot + base->iv;
    const double *from = effort + base->iv;
    if (base->nv == 3) v3_add(to, to, from);
    for (int i = 0; i < 6 && base->nv == 6; i += 3) {
        double world[3];
        m3_mul_v(world, root->R, from + i);
        v3_add(to + i, to + i, world);
    }
}

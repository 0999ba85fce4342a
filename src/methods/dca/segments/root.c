// root.c -- the inner end of a path (root.h).
#include "methods/dca/segments/root.h"

#include "base/assert.h"
#include "spatial/inertia.h"
#include "spatial/rotation.h"

#include <float.h>

void lwi_path_root_init(const lwi_path_base *base, const double gravity[3], lwi_path_root *root)
{
    const double *R = base->head.R, *o = base->head.r;
    LWI_ASSERT(base->nv == 0 || base->nv == 3 || base->nv == 6);
    *root = (lwi_path_root){.base = base};
    v3_copy(root->gravity, gravity);
    m3_identity(root->R);
    if (!base->nv) return;
    for (int k = 0; k < 6; k++) { // columns: unit motions
        double w[3] = {k == 0, k == 1, k == 2}, v[3] = {k == 3, k == 4, k == 5}, wh[3], vh[3];
        v3_cross_add(v, w, o);
        m3_tmul_v(wh, R, w);
        m3_tmul_v(vh, R, v);
        root->X[0][k] = wh[0], root->X[1][k] = wh[1];
        for (int i = 0; i < 3; i++) root->X[2 + i][k] = vh[i];
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

void lwi_path_root_place(lwi_path_root *root, const double *q)
{
    const lwi_path_base *base = root->base;
    if (base->nv) {
        double R[9];
        quat_matrix(R, q + base->iq);
        m3_mul(root->R, base->in.R, R);
    }
    m3_tmul_v(root->g, root->R, root->gravity);
}

// ---------------------------------------------------------------------------------------- solution

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

// The motion of the base by which, added to `motion`, the whole has the wrench P: what is missing are P less
// I motion, less z of the path, and less what the first joint transmits about its axis.                (9)
static void solve(lwi_path_root *root, const double z[5], double first, const double motion[6],
                  double x[6])
{
    const int n = root->base->nv;
    for (int k = 0; k < n; k++) {
        x[k] = root->P[k];
        if (k < 3) x[k] -= root->base->head.R[3 * k + 2] * first;
        for (int c = 0; c < 5; c++) x[k] -= root->X[c][k] * z[c];
        for (int i = 0; i < 6; i++) x[k] -= root->I[k][i] * motion[i];
    }
    cholesky6_forward(root->L, n, x);
    cholesky6_backward(root->L, n, x);
}

// The head's five components, from x [nv] of the base.
static void head_of(const lwi_path_root *root, const double *x, double head[5])
{
    for (int i = 0; i < 5; i++) {
        head[i] = 0;
        for (int k = 0; k < root->base->nv; k++) head[i] += root->X[i][k] * x[k];
    }
}

// The component of w about the first joint's axis.
static double about_axis(const lwi_path_root *root, const double w[3])
{
    const double *R = root->base->head.R;
    return R[2] * w[0] + R[5] * w[1] + R[8] * w[2];
}

// The second pass: z is the whole's at the first solution.
static void correct(lwi_path_root *root, lwi_path_end *whole, double first, double motion[6])
{
    double x[6] = {0}, z[5], head[5];
    for (int i = 0; i < 5; i++) z[i] = whole->z[i][0];
    solve(root, z, first, motion, x);
    head_of(root, x, head);
    for (int i = 0; i < 5; i++) {
        whole->V[i][0] = head[i];
        whole->f[i][0] = 0;
    }
    for (int k = 0; k < root->base->nv; k++) motion[k] += x[k];
    root->axial = about_axis(root, motion);
}

// ----------------------------------------------------------------------------------------- momenta

// The momenta of a free body are in world axes, those of a ball in its own.
static void take_momenta(lwi_path_root *root, const double *p)
{
    const lwi_path_base *base = root->base;
    if (base->nv == 3) v3_copy(root->P, p + base->iv);
    if (base->nv < 6) return;
    m3_tmul_v(root->P + 3, root->R, p + base->iv);
    m3_tmul_v(root->P, root->R, p + base->iv + 3);
}

bool lwi_path_root_solve(lwi_path_root *root, lwi_path_end *whole, const double *p, double first)
{
    double g[3], z[5], head[5];
    const double nothing[6] = {0};
    take_momenta(root, p);
    if (!factor(root, whole)) return false;
    for (int i = 0; i < 5; i++) z[i] = whole->z[i][0];
    memset(root->V, 0, sizeof root->V);
    solve(root, z, first, nothing, root->V);
    head_of(root, root->V, head);
    m3_tmul_v(g, root->base->head.R, root->g);
    for (int i = 0; i < 3; i++) {
        whole->g[i][0] = g[i];
        whole->hb[i][0] = 0;
    }
    for (int i = 0; i < 5; i++) {
        whole->V0[i][0] = head[i];
        whole->f0[i][0] = 0;
    }
    whole->mb[0] = 0;
    return true;
}

void lwi_path_root_again(lwi_path_root *root, lwi_path_end *whole, double first)
{
    correct(root, whole, first, root->V);
}

static bool finite_entries(const double *x, int n)
{
    double nothing = 0;
    for (int i = 0; i < n; i++) nothing += 0 * x[i];
    return nothing == 0;
}

// Balance of the whole about the base's origin: f' = m g, n' = h x g - v x f.
bool lwi_path_root_rates(const lwi_path_root *root, const lwi_path_end *whole, const double *p,
                         double *u, double *pdot)
{
    const lwi_path_base *base = root->base;
    const int iv = base->iv;
    if (!base->nv) return true;
    const double path[3] = {whole->h[0][0], whole->h[1][0], whole->h[2][0]};
    double h[3], n[3], v[3];
    m3_mul_v(h, base->head.R, path);
    v3_axpy(h, whole->m[0], base->head.r);
    v3_add(h, h, base->h);
    v3_cross(n, h, root->g);
    v3_copy(u + iv + base->nv - 3, root->V);
    if (base->nv == 6) v3_copy(u + iv, root->V + 3);
    if (!pdot) return finite_entries(u + iv, base->nv);
    double *rate = pdot + iv + base->nv - 3;
    if (base->nv == 3) { // body axes
        v3_cross_add(n, root->P, root->V);
        v3_copy(rate, n);
    } else {
        m3_mul_v(rate, root->R, n);
        m3_mul_v(v, root->R, root->V + 3);
        v3_cross_add(rate, p + iv, v);
        v3_scale(pdot + iv, base->m + whole->m[0], root->gravity);
    }
    return finite_entries(u + iv, base->nv) && finite_entries(pdot + iv, base->nv);
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

// ----------------------------------------------------------------------------------- accelerations

void lwi_path_root_velocity(lwi_path_root *root, lwi_path_end *whole, const double *u)
{
    const lwi_path_base *base = root->base;
    const double *own = u + base->iv;
    double w[3];
    memset(root->V, 0, sizeof root->V);
    if (base->nv) v3_copy(root->V, own + base->nv - 3);
    if (base->nv == 6) v3_copy(root->V + 3, own);
    m3_tmul_v(w, base->head.R, root->V);
    for (int i = 0; i < 3; i++) whole->W0[i][0] = w[i];
}

void lwi_path_root_rest(lwi_path_root *root)
{
    memset(root->V, 0, sizeof root->V);
    memset(root->g, 0, sizeof root->g);
}

// P := efforts less the wrench that the velocity of the base needs, w x J w and w x (w x h).
static void take_efforts(lwi_path_root *root, const double *effort)
{
    const lwi_path_base *base = root->base;
    const double *w = root->V;
    double L[3], n[3], v[3], f[3];
    memset(root->P, 0, sizeof root->P);
    if (!base->nv) return;
    v3_copy(root->P, effort + base->iv + base->nv - 3);
    if (base->nv == 6) v3_copy(root->P + 3, effort + base->iv);
    s3_mul_v(L, base->J, w);
    v3_cross(n, w, L);
    v3_cross(v, w, base->h);
    v3_cross(f, w, v);
    v3_sub(root->P, root->P, n);
    v3_sub(root->P + 3, root->P + 3, f);
}

// The head's acceleration without that of the base's unknowns; A: those of the base that are known, less gravity.
static void known_motion(const lwi_path_root *root, double A[6], double head[5])
{
    const lwi_path_base *base = root->base;
    double v[3], a[3], h[3];
    for (int i = 0; i < 6; i++) A[i] = 0;
    if (base->nv < 6) v3_scale(A + 3, -1, root->g);
    v3_cross(v, root->V, base->head.r);
    v3_cross(a, root->V, v);
    v3_add(a, a, A + 3);
    m3_tmul_v(h, base->head.R, a);
    head[0] = head[1] = 0;
    for (int i = 0; i < 3; i++) head[2 + i] = h[i];
}

bool lwi_path_root_accelerate(lwi_path_root *root, lwi_path_end *whole, const double *effort,
                              double first)
{
    double z[5], known[5], x[6] = {0}, head[5];
    take_efforts(root, effort);
    if (!factor(root, whole)) return false;
    known_motion(root, root->A, known);
    for (int i = 0; i < 5; i++) {
        z[i] = whole->z[i][0];
        for (int c = 0; c < 5; c++) z[i] += whole->M[triangle(i, c)][0] * known[c];
    }
    solve(root, z, first, root->A, x);
    head_of(root, x, head);
    for (int k = 0; k < root->base->nv; k++) root->A[k] += x[k];
    for (int i = 0; i < 5; i++) {
        whole->V0[i][0] = known[i] + head[i];
        whole->f0[i][0] = 0;
    }
    return true;
}

void lwi_path_root_accelerate_again(lwi_path_root *root, lwi_path_end *whole, double first)
{
    correct(root, whole, first, root->A);
}

bool lwi_path_root_accelerations(const lwi_path_root *root, double *udot)
{
    const lwi_path_base *base = root->base;
    double *to = udot + base->iv, turning[3];
    if (base->nv == 0) return true;
    v3_copy(to + base->nv - 3, root->A);
    if (base->nv == 6) { // components in moving axes: a - w x v
        v3_cross(turning, root->V, root->V + 3);
        v3_add(to, root->A + 3, root->g);
        v3_sub(to, to, turning);
    }
    return finite_entries(to, base->nv);
}

// path_cases.h -- long paths of hinges, and the plain recursion over their bodies in extended precision.
#ifndef LWT_PATH_CASES_H
#define LWT_PATH_CASES_H

#include "methods/dca/segments/path.h"
#include "tree/chain_cases.h"

/** COIL: random axes and offsets; STRAIGHT: rods on one line at q = 0, axes across it at random; PLANAR: parallel axes,
 *  so that M and L of a segment are singular. */
typedef enum lwt_path_kind { LWT_COIL, LWT_STRAIGHT, LWT_PLANAR } lwt_path_kind;
enum { LWT_PATH_KINDS = 3 };

typedef struct lwt_path {
    lw_model *model;
    double *q, *p; ///< [tree nq], [tree nv]
} lwt_path;

static inline const char *lwt_path_name(lwt_path_kind kind)
{
    static const char *const names[] = {"coil", "straight", "planar"};
    return names[kind];
}

static inline lw_joint_desc lwt_path_hinge(lwt_path_kind kind, int i, uint64_t *seed)
{
    const double quarter = acos(0), angle = lwt_random(seed, -3, 3);
    lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                           .placement = LW_PLACED_FRAMES,
                           .frame1 = {{i > 0 ? lwt_random(seed, 0.5, 1.5) : 0, 0, 0}, {1, 0, 0, 0}},
                           .has_q = 1};
    lw_quat on = lwt_axis_angle(-quarter, 1, 0, 0); // z along y
    if (kind == LWT_STRAIGHT) on = lwt_axis_angle(angle, 1, 0, 0);
    if (kind == LWT_COIL) {
        on = lwt_axis_angle(angle, 0.6, 0, 0.8);
        hinge.frame1.position.y = lwt_random(seed, -0.3, 0.3);
        hinge.frame1.position.z = lwt_random(seed, -0.3, 0.3);
    }
    hinge.frame1.orientation = hinge.frame2.orientation = on;
    return hinge;
}

/** A path of n hinges; masses within a factor of `ratio`; `base`: of the body that carries it, or -1: the ground.
 *  Universal joints in place of `universal` of three hinges. */
static inline lwt_path lwt_path_create(int n, lwt_path_kind kind, double ratio, int base,
                                       double stiffness, bool universal)
{
    lwt_path c = {0};
    lw_builder *builder;
    lw_error error;
    lw_body body = {0};
    lw_joint joint;
    uint64_t seed = (uint64_t)n + 7 * (uint64_t)kind;
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    lw_builder_gravity(builder, (lw_vec3){1, -7, 6});
    for (int i = base < 0 ? 0 : -1; i < n; i++) {
        const double m = lwt_random(&seed, 0.5, 1.5) * pow(ratio, lwt_random(&seed, -0.5, 0.5));
        const lw_body_desc rod = {.mass = m,
                                  .inertia = {0.05 * m, 0.09 * m, 0.12 * m},
                                  .com = {0.5, kind == LWT_COIL ? 0.1 : 0, 0}};
        lw_joint_desc hinge = lwt_path_hinge(kind, i < 0 ? 0 : i + (base >= 0), &seed);
        if (i < 0) hinge.type = (lw_joint_type)base;
        if (universal && i % 3 == 2) hinge.type = LW_JOINT_UNIVERSAL;
        if (i >= 0 && hinge.type == LW_JOINT_REVOLUTE) {
            hinge.coordinate[0] =
                (lw_coordinate_desc){.stiffness = stiffness, .damping = 0.1 * stiffness};
            hinge.q[0] = kind == LWT_STRAIGHT ? 0 : lwt_random(&seed, -3, 3);
        }
        hinge.body1 = body;
        assert_int_equal(lw_builder_add_body(builder, &rod, &body, &error), LW_OK);
        hinge.body2 = body;
        if (lw_builder_add_joint(builder, &hinge, &joint, &error) != LW_OK)
            fail_msg("%s", error.text);
    }
    if (lw_model_create(builder, &c.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    c.q = lwt_reals(c.model->tree_nq);
    c.p = lwt_reals(c.model->tree_nv);
    memcpy(c.q, c.model->tree_q0, (size_t)c.model->tree_nq * sizeof *c.q);
    for (int i = 0; i < c.model->tree_nv; i++) c.p[i] = lwt_random(&seed, -1, 1);
    return c;
}

static inline void lwt_path_destroy(lwt_path *c)
{
    lw_model_destroy(c->model);
    free(c->q);
    free(c->p);
}

// ------------------------------------------------------------------ recursion in extended precision
//
// World axes, one body after the other, from the raw frames of the model: nothing of the segments is used.

typedef long double lwt_real;

typedef struct lwt_path_body {
    lwt_real R[9], a[3], o[3], h[3], J[3][3], U[6], D, y, V[6], m;
} lwt_path_body;

static inline lwt_real lwt_x(const lwt_real *a, const lwt_real *b, int i)
{
    return a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline void lwt_path_poses(const lwi_k_parts *parts, const double *q, lwt_path_body *body)
{
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int k = 0; k < parts->n; k++) {
        const lwi_k_part *part = &parts->part[k];
        lwt_path_body *b = &body[k];
        const lwt_real one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, *P = k ? body[k - 1].R : one;
        const lwt_real c = cosl(q[part->iq]), s = sinl(part->sign * (lwt_real)q[part->iq]);
        for (int i = 0; i < 3; i++) {
            lwt_real F[3] = {0};
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++) F[j] += P[3 * i + l] * part->in.R[3 * l + j];
            b->R[3 * i] = c * F[0] + s * F[1];
            b->R[3 * i + 1] = c * F[1] - s * F[0];
            b->R[3 * i + 2] = F[2];
            b->a[i] = part->sign * F[2];
            b->h[i] = 0;
            for (int j = 0; j < 3; j++) b->h[i] += b->R[3 * i + j] * part->h[j];
            if (k == 0) continue;
            body[k - 1].o[i] = 0;
            for (int j = 0; j < 3; j++) body[k - 1].o[i] += P[3 * i + j] * part->in.r[j];
        }
        b->m = part->m;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                b->J[i][j] = b->o[i] = 0;
                for (int x = 0; x < 9; x++)
                    b->J[i][j] +=
                        b->R[3 * i + x / 3] * part->J[at[x / 3][x % 3]] * b->R[3 * j + x % 3];
            }
    }
}

// The momentum of a body, [n; f], at V; n and f are added to.
static inline void lwt_path_momentum(const lwt_path_body *b, const lwt_real *V, lwt_real *n,
                                     lwt_real *f)
{
    for (int i = 0; i < 3; i++) {
        n[i] += b->J[i][0] * V[0] + b->J[i][1] * V[1] + b->J[i][2] * V[2] + lwt_x(b->h, V + 3, i);
        f[i] += b->m * V[3 + i] + lwt_x(V, b->h, i);
    }
}

static inline void lwt_path_velocities(lwt_path_body *body, int n, const lwt_real *u)
{
    lwt_real V[6] = {0};
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 3; i++) V[i] += body[k].a[i] * u[k];
        memcpy(body[k].V, V, sizeof V);
        for (int i = 0; i < 3; i++) V[3 + i] += lwt_x(V, body[k].o, i);
    }
}

/** p := momenta of the speeds u [n], rounded. */
static inline void lwt_path_momenta(const lwi_k_parts *parts, const double *q, const double *u,
                                    double *p)
{
    lwt_path_body *body = lwt_zeros((size_t)parts->n, sizeof *body);
    lwt_real *speed = lwt_zeros((size_t)parts->n, sizeof *speed), n[3] = {0}, f[3] = {0};
    for (int k = 0; k < parts->n; k++) speed[k] = u[k];
    lwt_path_poses(parts, q, body);
    lwt_path_velocities(body, parts->n, speed);
    for (int k = parts->n - 1; k >= 0; k--) {
        const lwt_path_body *b = &body[k];
        for (int i = 0; i < 3; i++) n[i] += lwt_x(b->o, f, i);
        lwt_path_momentum(b, b->V, n, f);
        p[k] = (double)(b->a[0] * n[0] + b->a[1] * n[1] + b->a[2] * n[2]);
    }
    free(speed);
    free(body);
}

// The articulated inertia of the bodies beyond body k, about its joint, and the momenta without speed z.
static inline void lwt_path_shift(lwt_real M[6][6], lwt_real z[6], const lwt_real *o)
{
    for (int c = 0; c < 6; c++) {
        const lwt_real f[3] = {M[3][c], M[4][c], M[5][c]};
        for (int i = 0; i < 3; i++) M[i][c] += lwt_x(o, f, i);
    }
    for (int c = 0; c < 6; c++)
        for (int i = 0; i < 3; i++) M[c][i] += lwt_x(o, M[c] + 3, i);
    for (int i = 0; i < 3; i++) z[i] += lwt_x(o, z + 3, i);
}

static inline void lwt_path_inward(lwt_path_body *body, int n, const lwt_real *right)
{
    lwt_real M[6][6] = {{0}}, z[6] = {0};
    for (int k = n - 1; k >= 0; k--) {
        lwt_path_body *b = &body[k];
        lwt_path_shift(M, z, b->o);
        const lwt_real *h = b->h, H[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                M[i][j] += b->J[i][j];
                M[i][3 + j] += H[i][j];
                M[3 + j][i] += H[i][j];
            }
            M[3 + i][3 + i] += b->m;
        }
        b->D = 0, b->y = right[k];
        for (int i = 0; i < 6; i++)
            b->U[i] = M[i][0] * b->a[0] + M[i][1] * b->a[1] + M[i][2] * b->a[2];
        for (int i = 0; i < 3; i++) b->D += b->a[i] * b->U[i], b->y -= b->a[i] * z[i];
        b->y /= b->D;
        for (int i = 0; i < 6; i++) {
            z[i] += b->U[i] * b->y;
            for (int j = 0; j <= i; j++) M[j][i] = M[i][j] = M[i][j] - b->U[i] * b->U[j] / b->D;
        }
    }
}

/** u and pdot [n] of the momenta p, which have no efforts. */
static inline void lwt_path_reference(const lwi_k_parts *parts, const double gravity[3],
                                      const double *q, const double *p, lwt_real *u, lwt_real *pdot)
{
    lwt_path_body *body = lwt_zeros((size_t)parts->n, sizeof *body);
    const lwt_real g[3] = {gravity[0], gravity[1], gravity[2]};
    lwt_real V[6] = {0}, n[3] = {0}, f[3] = {0}, h[3] = {0}, m = 0;
    for (int k = 0; k < parts->n; k++) u[k] = p[k];
    lwt_path_poses(parts, q, body);
    lwt_path_inward(body, parts->n, u);
    for (int k = 0; k < parts->n; k++) {
        lwt_path_body *b = &body[k];
        u[k] = b->y;
        for (int i = 0; i < 6; i++) u[k] -= b->U[i] * V[i] / b->D;
        for (int i = 0; i < 3; i++) V[i] += b->a[i] * u[k];
        memcpy(b->V, V, sizeof V);
        for (int i = 0; i < 3; i++) V[3 + i] += lwt_x(V, b->o, i);
    }
    for (int k = parts->n - 1; k >= 0; k--) {
        const lwt_path_body *b = &body[k];
        for (int i = 0; i < 3; i++) {
            n[i] += lwt_x(b->o, f, i);
            h[i] += m * b->o[i] + b->h[i];
        }
        m += b->m;
        lwt_path_momentum(b, b->V, n, f);
        pdot[k] = 0;
        for (int i = 0; i < 3; i++)
            pdot[k] += b->a[i] * (lwt_x(n, b->V, i) + lwt_x(f, b->V + 3, i) + lwt_x(h, g, i));
    }
    free(body);
}

/** udot [n] of the speeds u, without efforts. */
static inline void lwt_path_accelerations(const lwi_k_parts *parts, const double gravity[3],
                                          const double *q, const double *u, lwt_real *udot)
{
    lwt_path_body *body = lwt_zeros((size_t)parts->n, sizeof *body);
    lwt_real *speed = lwt_zeros((size_t)parts->n, sizeof *speed), n[3] = {0}, f[3] = {0};
    lwt_real(*B)[6] = lwt_zeros((size_t)parts->n, sizeof *B), A[6] = {0};
    for (int k = 0; k < parts->n; k++) speed[k] = u[k];
    lwt_path_poses(parts, q, body);
    lwt_path_velocities(body, parts->n, speed);
    for (int i = 0; i < 3; i++) A[3 + i] = -gravity[i];
    for (int k = 0; k < parts->n; k++) { // wrenches of the motion without joint accelerations
        const lwt_path_body *b = &body[k];
        const lwt_real *w = b->V;
        lwt_real L[3], wh[3], wo[3];
        for (int i = 0; i < 3; i++) A[i] += lwt_x(w, b->a, i) * speed[k];
        for (int i = 0; i < 3; i++) {
            L[i] = b->J[i][0] * w[0] + b->J[i][1] * w[1] + b->J[i][2] * w[2];
            wh[i] = lwt_x(w, b->h, i);
            wo[i] = lwt_x(w, b->o, i);
        }
        lwt_path_momentum(b, A, B[k], B[k] + 3);
        for (int i = 0; i < 3; i++) {
            B[k][i] += lwt_x(w, L, i);
            B[k][3 + i] += lwt_x(w, wh, i);
        }
        for (int i = 0; i < 3; i++) A[3 + i] += lwt_x(A, b->o, i) + lwt_x(w, wo, i);
    }
    for (int k = parts->n - 1; k >= 0;
         k--) { // efforts that they need, which the accelerations have to give
        const lwt_path_body *b = &body[k];
        for (int i = 0; i < 3; i++) n[i] += lwt_x(b->o, f, i);
        for (int i = 0; i < 3; i++) n[i] += B[k][i], f[i] += B[k][3 + i];
        speed[k] = -(b->a[0] * n[0] + b->a[1] * n[1] + b->a[2] * n[2]);
    }
    lwt_path_inward(body, parts->n, speed);
    for (int i = 0; i < 6; i++) A[i] = 0;
    for (int k = 0; k < parts->n; k++) {
        const lwt_path_body *b = &body[k];
        udot[k] = b->y;
        for (int i = 0; i < 6; i++) udot[k] -= b->U[i] * A[i] / b->D;
        for (int i = 0; i < 3; i++) A[i] += b->a[i] * udot[k];
        for (int i = 0; i < 3; i++) A[3 + i] += lwt_x(A, b->o, i);
    }
    free(B);
    free(speed);
    free(body);
}

/** Largest error of a [n] by the largest value of b. */
static inline double lwt_path_error(const double *a, const lwt_real *b, int n)
{
    lwt_real error = 0, size = 0;
    for (int i = 0; i < n; i++) {
        if (!(fabsl(a[i] - b[i]) <= error)) error = fabsl(a[i] - b[i]);
        size = fmaxl(size, fabsl(b[i]));
    }
    return (double)(error / size);
}

#endif

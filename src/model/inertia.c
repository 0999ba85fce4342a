// inertia.c -- physical checks of the bodies' inertia, and its repair.
//
// Bodies that fixed joints connect move as one: only the inertia of all of them together must be that
// of a mass distribution.  Exporters divide such groups in ways that are not.
#include "model/model.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Principal moments in ascending order: eigenvalues of a symmetric 3 x 3 matrix by Jacobi
// rotations.
static void principal_moments(const double J[6], double e[3])
{
    double A[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
    for (int sweep = 0; sweep < 30; sweep++) // converges quadratically, five sweeps are typical
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[p][q] == 0) continue;
                const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    const double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 3; k++) {
                    const double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
                }
            }
    for (int k = 0; k < 3; k++) e[k] = A[k][k];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (e[k] > e[k + 1]) {
                const double swap = e[k];
                e[k] = e[k + 1], e[k + 1] = swap;
            }
}

// Round-off of rotated inertia is 1e-15, files have six digits and more.
#define INERTIA_TOLERANCE 1e-6
// Principal moments as small relative to the largest of the model are round-off if they are not possible.
#define TRACE 1e-14

typedef enum verdict { POSSIBLE, VIOLATED, INDEFINITE } verdict;

static verdict verdict_on(const double e[3])
{
    if (e[0] < -INERTIA_TOLERANCE * fmax(fabs(e[0]), fabs(e[2]))) return INDEFINITE;
    return e[0] + e[1] >= (1 - INERTIA_TOLERANCE) * e[2] ? POSSIBLE : VIOLATED;
}

// The matrix trace(J)/2 - J has the eigenvalues (e1 + e2 - e0)/2, ... of principal moments e: where it is positive definite
// by more than round-off, they satisfy the triangle inequality.
static bool is_possible(const double J[6])
{
    const double half = 0.5 * (J[0] + J[1] + J[2]), smallest = 1e-9 * half;
    const double a = half - J[0], x = -J[3] / a, y = -J[4] / a; // Cholesky: pivots a, b, c
    const double b = half - J[1] + x * J[3], z = -J[5] + x * J[4];
    const double c = half - J[2] + y * J[4] - z * z / b;
    return a > smallest && b > smallest && c > smallest;
}

// ------------------------------------------------------------------------------------ rigid groups

/** Bodies that fixed joints connect, [nbody] each. */
typedef struct groups {
    int *of;          ///< first body of the group; 0: fixed to the ground
    double (*R)[9];   ///< axes of the body in those of the first
    double (*r)[3];   ///< its mass centre from that of the first
    double *mass;     ///< of the group, at its first body
    double (*com)[3]; ///< of the group, at its first body, from the mass centre of that
    double (*J)[6];   ///< about it
} groups;

static void sum_groups(const lw_model *m, const groups *g)
{
    for (int i = 1; i < m->nbody; i++) {
        g->mass[g->of[i]] += m->body[i].mass;
        v3_axpy(g->com[g->of[i]], m->body[i].mass, g->r[i]);
    }
    for (int i = 1; i < m->nbody; i++)
        if (g->mass[i] > 0) v3_scale(g->com[i], 1 / g->mass[i], g->com[i]);
    for (int i = 1; i < m->nbody; i++) {
        double I[6], d[3], *J = g->J[g->of[i]];
        const double mass = m->body[i].mass;
        s3_rotate(I, g->R[i], m->body[i].inertia);
        v3_sub(d, g->r[i], g->com[g->of[i]]);
        for (int k = 0; k < 6; k++) J[k] += I[k];
        for (int k = 0; k < 3; k++) J[k] += mass * (v3_dot(d, d) - d[k] * d[k]);
        J[3] -= mass * d[0] * d[1], J[4] -= mass * d[0] * d[2], J[5] -= mass * d[1] * d[2];
    }
}

static lw_status create_groups(lw_model *m, const lwi_rigid_graph *graph, groups *g)
{
    const int n = m->nbody;
    int *queue = LWI_PUSH(&m->arena, int, n);
    g->of = LWI_PUSH(&m->arena, int, n), g->mass = LWI_PUSH(&m->arena, double, n);
    g->R = lwi_arena_push(&m->arena, (size_t)n, sizeof *g->R);
    g->r = lwi_arena_push(&m->arena, (size_t)n, sizeof *g->r);
    g->com = lwi_arena_push(&m->arena, (size_t)n, sizeof *g->com);
    g->J = lwi_arena_push(&m->arena, (size_t)n, sizeof *g->J);
    if (!queue || !g->of || !g->mass || !g->R || !g->r || !g->com || !g->J) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) g->of[i] = -1;
    for (int first = 0; first < n; first++) {
        if (g->of[first] >= 0) continue;
        int head = 0, tail = 0;
        queue[tail++] = first, g->of[first] = first;
        m3_identity(g->R[first]);
        while (head < tail) {
            const int a = queue[head++];
            for (int i = graph->first[a]; i < graph->first[a + 1]; i++) {
                const lw_joint_desc *j = &m->desc.joint[graph->joint[i]];
                const int b = j->body1.index == a ? j->body2.index : j->body1.index;
                double R[9], r[3];
                if (g->of[b] >= 0) continue;
                lwi_rigid_pose(m, j, a, b, R, r);
                m3_mul(g->R[b], g->R[a], R);
                m3_mul_v(r, g->R[a], r);
                v3_add(g->r[b], g->r[a], r);
                g->of[b] = first;
                queue[tail++] = b;
            }
        }
    }
    sum_groups(m, g);
    return LW_OK;
}

// Is the inertia of all bodies together possible that are fixed to this one?
static bool possible_together(const groups *g, int body)
{
    double e[3];
    if (g->of[body] == 0) return true; // it does not move
    principal_moments(g->J[g->of[body]], e);
    return verdict_on(e) == POSSIBLE;
}

// ------------------------------------------------------------------------------------------ bodies

// The same number is added about all axes, which keeps the principal axes.
static lw_status repair(lw_model *m, const lw_body_desc *d, double J[6], const double e[3])
{
    const double more = e[2] - e[0] - e[1];
    for (int k = 0; k < 3; k++) J[k] += more;
    return lwi_model_warn(
        m, d->place,
        "body '%s': no mass distribution has its inertia, principal moments %.9g, "
        "%.9g, %.9g; repaired: %.3g is added to each",
        d->name, e[0], e[1], e[2], more);
}

static lw_status report(lw_model *m, const lw_body_desc *d, const double e[3], verdict found,
                        bool together, lw_error *error)
{
    const char *more = together ? "; together with the bodies fixed to it, it is possible" : "";
    const bool warn = together || d->inertia_check == LW_INERTIA_ACCEPT ||
                      (found == VIOLATED && d->inertia_check == LW_INERTIA_WARN);
    if (found == INDEFINITE && warn)
        return lwi_model_warn(
            m, d->place, "body '%s': inertia is indefinite, principal moments %.9g, %.9g, %.9g%s",
            d->name, e[0], e[1], e[2], more);
    if (found == INDEFINITE)
        return lwi_model_fail(
            &m->desc, d->place, error,
            "body '%s': inertia is indefinite, principal moments %.9g, %.9g, %.9g; "
            "expected none below zero (`--inertia-check repair` changes it, `accept` does not)",
            d->name, e[0], e[1], e[2]);
    if (warn)
        return lwi_model_warn(
            m, d->place,
            "body '%s': inertia violates the triangle inequality, principal moments "
            "%.9g + %.9g < %.9g: no mass distribution has it%s",
            d->name, e[0], e[1], e[2], more);
    return lwi_model_fail(&m->desc, d->place, error,
                          "body '%s': inertia violates the triangle inequality, principal moments "
                          "%.9g + %.9g < %.9g: no mass distribution has it (`inertia_check: warn` "
                          "accepts it)",
                          d->name, e[0], e[1], e[2]);
}

static double largest_element(const double J[6])
{
    double largest = 0;
    for (int k = 0; k < 6; k++) largest = fmax(largest, fabs(J[k]));
    return largest;
}

lw_status lwi_check_inertias(lw_model *m, const lwi_rigid_graph *graph, lw_error *error)
{
    double largest = 0, e[3];
    groups g = {NULL};
    for (int i = 1; i < m->nbody; i++) largest = fmax(largest, largest_element(m->body[i].inertia));
    for (int i = 1; i < m->nbody; i++) {
        const lw_body_desc *d = &m->desc.body[i];
        double *J = m->body[i].inertia;
        if (is_possible(J)) continue;
        principal_moments(J, e);
        const verdict found = verdict_on(e);
        if (found == POSSIBLE) continue;
        if (largest_element(J) <= TRACE * largest) {
            memset(J, 0, 6 * sizeof *J);
            continue;
        }
        if (!g.of && create_groups(m, graph, &g) != LW_OK)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for rigid groups");
        const bool together = possible_together(&g, i);
        TRY(d->inertia_check == LW_INERTIA_REPAIR && !together
                ? repair(m, d, J, e)
                : report(m, d, e, found, together, error));
    }
    return LW_OK;
}

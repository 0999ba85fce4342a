// problem.c -- random graphs with numbers.
#include "elimination/problem.h"
#include "base/linear.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u; // xorshift64*: the same numbers everywhere

void problem_seed(unsigned seed)
{
    state = 88172645463325252u + 7919u * (uint64_t)seed;
    for (int i = 0; i < 8; i++) problem_uniform();
}

double problem_uniform(void)
{
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (double)((state * 2685821657736338717u) >> 11) / 4503599627370496.0 - 1;
}

static int draw(int n) // 0 ... n-1
{
    const int i = (int)(0.5 * (problem_uniform() + 1) * n);
    return i < n ? i : n - 1;
}

static void *room(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) abort();
    return block;
}

void problem_init(problem *p, int nbody)
{
    memset(p, 0, sizeof *p);
    p->graph.nbody = nbody;
    p->row = room(1, sizeof *p->row);
    p->slot = room(1, sizeof *p->slot);
}

void problem_free(problem *p)
{
    void *blocks[] = {p->edge, p->row, p->slot, p->K, p->J, p->G, p->x0, p->c};
    for (int i = 0; i < LWI_COUNT(blocks); i++) free(blocks[i]);
    memset(p, 0, sizeof *p);
}

void problem_edge(problem *p, int rows, bool ground, int n, const int *body)
{
    const int e = p->graph.nedge++;
    if (e >= p->room) {
        p->room = 2 * e + 8;
        p->edge = realloc(p->edge, (size_t)p->room * sizeof *p->edge);
        p->row = realloc(p->row, (size_t)(p->room + 1) * sizeof *p->row);
        p->slot = realloc(p->slot, (size_t)(p->room + 1) * sizeof *p->slot);
        if (!p->edge || !p->row || !p->slot) abort();
    }
    p->edge[e] = (lwi_plan_edge){.rows = rows, .n = n, .ground = ground};
    for (int i = 0; i < n; i++) p->edge[e].body[i] = body[i];
    p->row[e + 1] = p->nrow += rows;
    p->slot[e + 1] = p->nslot += n;
    p->graph.edge = p->edge;
}

static void pair(problem *p, int rows, int a, int b)
{
    const int body[] = {a, b};
    problem_edge(p, rows, false, 2, body);
}

// ----------------------------------------------------------------------------------------- graphs

void problem_chain(problem *p, int n, int rows)
{
    problem_init(p, n);
    problem_edge(p, rows, true, 1, (const int[]){0});
    for (int b = 1; b < n; b++) pair(p, rows, b - 1, b);
}

void problem_tree(problem *p, int n)
{
    problem_init(p, n);
    problem_edge(p, 1 + draw(6), true, 1, (const int[]){0});
    for (int b = 1; b < n; b++) {
        const int other = draw(b);
        if (draw(2))
            pair(p, 1 + draw(6), other, b);
        else
            pair(p, 1 + draw(6), b, other);
    }
}

void problem_loops(problem *p, int n, int extra)
{
    problem_init(p, n);
    problem_edge(p, 1 + draw(3), true, 1, (const int[]){0});
    for (int b = 1; b < n; b++) pair(p, 1 + draw(3), draw(b), b);
    for (int i = 0; i < extra; i++) {
        int body[LWI_EDGE_BODIES], count = 0;
        const int want = 2 + draw(3);
        while (count < want && count < n) {
            const int b = draw(n);
            int k = 0;
            while (k < count && body[k] != b) k++;
            if (k == count) body[count++] = b;
        }
        problem_edge(p, 1, draw(3) == 0, count, body);
    }
}

void problem_ladder(problem *p, int rungs, int rows)
{
    problem_init(p, 2 * rungs); // two stiles joined by rungs
    for (int i = 0; i < rungs; i++) {
        if (i) pair(p, rows, 2 * i - 2, 2 * i), pair(p, rows, 2 * i - 1, 2 * i + 1);
        pair(p, rows, 2 * i, 2 * i + 1);
    }
    problem_edge(p, rows, true, 1, (const int[]){0});
}

void problem_grid(problem *p, int w, int h, int rows)
{
    problem_init(p, w * h);
    for (int i = 0; i < w * h; i++) {
        if (i % w) pair(p, rows, i - 1, i);
        if (i >= w) pair(p, rows, i - w, i);
    }
}

void problem_star(problem *p, int branches, int length, int rows)
{
    problem_init(p, 1 + branches * length);
    for (int i = 0; i < branches; i++)
        for (int k = 0; k < length; k++) pair(p, rows, k ? i * length + k : 0, i * length + k + 1);
}

// ---------------------------------------------------------------------------------------- numbers

void problem_right_side(problem *p)
{
    for (int e = 0; e < p->graph.nedge; e++)
        for (int r = 0; r < p->edge[e].rows; r++) p->c[p->row[e] + r] = 0;
    for (int b = 0; b < p->graph.nbody; b++)
        for (int k = 0; k < 6; k++) p->x0[b][k] = problem_uniform();
    double(*x)[6] = room((size_t)p->graph.nbody, sizeof *x);
    for (int b = 0; b < p->graph.nbody; b++)
        for (int k = 0; k < 6; k++) x[b][k] = problem_uniform();
    for (int e = 0; e < p->graph.nedge; e++)
        for (int i = 0; i < p->edge[e].n; i++)
            for (int r = 0; r < p->edge[e].rows; r++) {
                const int b = p->edge[e].body[i], at = 6 * (p->slot[e] + i) + r;
                for (int k = 0; k < 6; k++) {
                    p->c[p->row[e] + r] += p->J[at][k] * x[b][k];
                    p->G[at][k] = 0;
                    for (int l = 0; l < 6; l++) p->G[at][k] += p->J[at][l] * p->K[b][l][k];
                }
            }
    free(x);
}

static void metrics(problem *p)
{
    p->K = room((size_t)p->graph.nbody, sizeof *p->K);
    p->x0 = room((size_t)p->graph.nbody, sizeof *p->x0);
    p->J = room(6 * (size_t)p->nslot, sizeof *p->J);
    p->G = room(6 * (size_t)p->nslot, sizeof *p->G);
    p->c = room((size_t)p->nrow, sizeof *p->c);
    for (int b = 0; b < p->graph.nbody; b++) {
        double B[6][6];
        for (int i = 0; i < 36; i++) B[i / 6][i % 6] = problem_uniform();
        for (int i = 0; i < 6; i++)
            for (int j = 0; j <= i; j++) {
                double s = i == j ? 0.5 : 0;
                for (int k = 0; k < 6; k++) s += B[i][k] * B[j][k];
                p->K[b][i][j] = p->K[b][j][i] = s;
            }
    }
}

void problem_numbers(problem *p)
{
    metrics(p);
    for (int e = 0; e < p->graph.nedge; e++)
        for (int s = p->slot[e]; s < p->slot[e + 1]; s++)
            for (int r = 0; r < p->edge[e].rows; r++)
                for (int k = 0; k < 6; k++) p->J[6 * s + r][k] = problem_uniform();
    problem_right_side(p);
}

// Rows of a revolute joint with axis z at a point at `arm` from the mass centre.
static void revolute(double (*J)[6], double sign, const double arm[2])
{
    memset(J, 0, 5 * sizeof *J);
    for (int r = 0; r < 3; r++) J[r][r] = sign;
    J[0][5] = -sign * arm[1], J[1][5] = sign * arm[0]; // v + w x arm
    J[2][3] = sign * arm[1], J[2][4] = -sign * arm[0];
    J[3][3] = J[4][4] = sign;
}

void problem_four_bars(problem *p, int posts, double angle)
{
    const int n = 2 * posts - 1; // post 0, coupler, post 1, ...
    problem_init(p, n);
    for (int i = 0; i < posts; i++) problem_edge(p, 5, true, 1, (const int[]){2 * i});
    for (int b = 1; b < n; b++) pair(p, 5, b - 1, b);
    metrics(p);
    // every post has its own length and mass centre, so that only the geometry repeats
    const double c = cos(angle), s = sin(angle), span = 1.3;
    for (int i = 0; i < posts; i++) {
        const double low[] = {-0.4 * c, -0.4 * s}, high[] = {0.6 * c, 0.6 * s};
        const double left[] = {-0.5 * span, 0}, right[] = {0.5 * span, 0};
        revolute(p->J + 6 * p->slot[i], 1, low);
        if (i) { // coupler i-1 ends here
            const int e = posts + 2 * i - 1;
            revolute(p->J + 6 * p->slot[e], 1, right);
            revolute(p->J + 6 * (p->slot[e] + 1), -1, high);
        }
        if (i + 1 < posts) {
            const int e = posts + 2 * i;
            revolute(p->J + 6 * p->slot[e], 1, high);
            revolute(p->J + 6 * (p->slot[e] + 1), -1, left);
        }
    }
    problem_right_side(p);
}

// --------------------------------------------------------------------------------------- measures

void problem_load(const problem *p, lwi_elim *elim)
{
    const size_t size = 6 * (size_t)p->nslot * sizeof *p->J;
    memcpy(lwi_elim_J(elim), p->J, size);
    memcpy(lwi_elim_G(elim), p->G, size);
}

double problem_residual(const problem *p, double (*x)[6], const double *eps, const double *lambda)
{
    double worst = 0;
    for (int e = 0; e < p->graph.nedge; e++)
        for (int r = 0; r < p->edge[e].rows; r++) {
            const int row = p->row[e] + r;
            double sum = eps ? eps[row] * lambda[row] - p->c[row] : -p->c[row];
            double size = fabs(p->c[row]) + DBL_MIN;
            for (int i = 0; i < p->edge[e].n; i++)
                for (int k = 0; k < 6; k++) {
                    const double term =
                        p->J[6 * (p->slot[e] + i) + r][k] * x[p->edge[e].body[i]][k];
                    sum += term;
                    size += fabs(term);
                }
            if (!(fabs(sum) <= worst * size)) worst = fabs(sum) / size;
        }
    return worst;
}

double problem_null_error(const problem *p, const double *n)
{
    double(*f)[6] = room((size_t)p->graph.nbody, sizeof *f), max = 0, size = DBL_MIN;
    for (int e = 0; e < p->graph.nedge; e++)
        for (int i = 0; i < p->edge[e].n; i++)
            for (int r = 0; r < p->edge[e].rows; r++)
                for (int k = 0; k < 6; k++) {
                    const double term = p->J[6 * (p->slot[e] + i) + r][k] * n[p->row[e] + r];
                    f[p->edge[e].body[i]][k] += term;
                    if (fabs(term) > size) size = fabs(term);
                }
    for (int i = 0; i < 6 * p->graph.nbody; i++)
        if (!(fabs(f[i / 6][i % 6]) <= max)) max = fabs(f[i / 6][i % 6]);
    free(f);
    return max / size;
}

void problem_diagonal(const problem *p, double *S)
{
    for (int e = 0; e < p->graph.nedge; e++)
        for (int r = 0; r < p->edge[e].rows; r++) {
            S[p->row[e] + r] = 0;
            for (int i = 0; i < p->edge[e].n; i++)
                for (int k = 0; k < 6; k++) {
                    const int at = 6 * (p->slot[e] + i) + r;
                    S[p->row[e] + r] += p->J[at][k] * p->G[at][k];
                }
        }
}

// ------------------------------------------------------------------------------------------- dense

// Columns L'J' scaled to length one, K = L L'.
static void columns(const problem *p, double (*L)[36], double *a, double *scale)
{
    const int n = 6 * p->graph.nbody;
    for (int b = 0; b < p->graph.nbody; b++) {
        memcpy(L[b], p->K[b], sizeof L[b]);
        lwi_cholesky(6, L[b], 0);
    }
    for (int e = 0; e < p->graph.nedge; e++)
        for (int r = 0; r < p->edge[e].rows; r++) {
            double *column = a + (size_t)(p->row[e] + r) * (size_t)n, length = 0;
            for (int i = 0; i < p->edge[e].n; i++) {
                const int b = p->edge[e].body[i];
                const double *J = p->J[6 * (p->slot[e] + i) + r];
                for (int k = 0; k < 6; k++)
                    for (int l = k; l < 6; l++) column[6 * b + k] += L[b][6 * l + k] * J[l];
            }
            for (int k = 0; k < n; k++) length += column[k] * column[k];
            scale[p->row[e] + r] = length > 0 ? 1 / sqrt(length) : 0;
            for (int k = 0; k < n; k++) column[k] *= scale[p->row[e] + r];
        }
}

double problem_dense(const problem *p, double (*x)[6], double *lambda, int *rank)
{
    const int n = 6 * p->graph.nbody, m = p->nrow;
    double(*L)[36] = room((size_t)p->graph.nbody, sizeof *L);
    double *a = room((size_t)n * (size_t)m, sizeof *a), *scale = room((size_t)m, sizeof *scale);
    double *rest = room(lwi_cod_doubles(n, m), sizeof *rest), *y = room((size_t)n, sizeof *y);
    int *pivot = room((size_t)m, sizeof *pivot);
    columns(p, L, a, scale);
    lwi_cod cod;
    lwi_cod_init(&cod, n, m, a, rest, pivot);
    lwi_cod_factor(&cod, -1, 1e-8);
    for (int e = 0; e < p->graph.nedge; e++)
        for (int r = 0; r < p->edge[e].rows; r++) {
            double s = p->c[p->row[e] + r];
            for (int i = 0; i < p->edge[e].n; i++)
                for (int k = 0; k < 6; k++)
                    s -= p->J[6 * (p->slot[e] + i) + r][k] * p->x0[p->edge[e].body[i]][k];
            lambda[p->row[e] + r] = s * scale[p->row[e] + r];
        }
    lwi_cod_nearest(&cod, y, lambda); // y + A lambda = 0, A'y = c - J x0
    for (int r = 0; r < m; r++) lambda[r] *= -scale[r];
    for (int b = 0; b < p->graph.nbody; b++)
        for (int i = 0; i < 6; i++) {
            x[b][i] = p->x0[b][i];
            for (int k = 0; k <= i; k++) x[b][i] += L[b][6 * i + k] * y[6 * b + k];
        }
    if (rank) *rank = cod.rank;
    const double small = cod.small;
    void *blocks[] = {L, a, scale, rest, y, pivot};
    for (int i = 0; i < LWI_COUNT(blocks); i++) free(blocks[i]);
    return small;
}

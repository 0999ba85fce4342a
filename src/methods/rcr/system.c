// system.c -- one node's system: its own inertia, the messages of its children, the closures that enter.
//
// Columns: the node's own speeds, speeds delayed by its children, the other bodies, and at first the node's own
// motion x_k, which x_k = X x_parent + S y replaces [anderson2003, (8), (9)].  Rows of closures enter at the
// highest of their bodies [anderson2003, (30), (31), (33)].  Numbers (n) are those of [anderson2003].
// Of the quadratic form H [nc][nc] the upper triangle is valid, of its rows of speeds all entries; the rows of
// x_k are K [6][n].
#include "methods/rcr/system.h"

#include "base/assert.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ memory

static size_t doubles(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

void lwi_rcr_count_front(lwi_rcr *e, int k)
{
    const lwi_rcr_node *node = &e->node[k];
    lwi_rcr_front *f = &e->front[k];
    f->ny = e->model->node[k].nv;
    f->nin = f->below = 0;
    for (int i = 0; i < node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[node->child[i]];
        f->ny += child->nz;
        f->nin += child->nout;
        f->below += child->below;
    }
    for (int i = 0; i < node->nclosure; i++) f->nin += e->cut->closure[node->closure[i]].n;
}

static void count(lwi_rcr *e, lwi_rcr_system *s)
{
    const lwi_rcr_front *f = s->f;
    lwi_rcr_count_front(e, s->k);
    s->ny = f->ny;
    s->nc = s->ny + 6 * s->node->nbody;
    s->plain = s->node->plain && f->ny == e->model->node[s->k].nv;
    s->n = s->plain ? s->nc : s->nc + 6;
    LWI_ASSERT(!s->plain || s->node->nbody <= 1);
}

// Memory for the largest possible result of this system, and scratch.
static bool allocate(lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    const size_t n = (size_t)s->n, ny = (size_t)s->ny, nc = (size_t)s->nc, nin = (size_t)f->nin;
    const size_t max = ny < nin ? ny : nin; // dependent speeds
    const size_t kept = nc < nin ? nc : nin;
    const size_t ints = doubles((2 * ny + nin) * sizeof(int));
    const size_t stays = ints + nin + nin * kept + max * (nin + 1) + 2 * max * max + 2 * max * nc +
                         ny * nc + ny * ny + nc * nc + nin * nc + nin + 2 * nc + 2 * max + ny;
    const size_t own = s->plain ? 0 : 6 * n;
    const size_t passes = nc * nc + own + nin * n + (nc * nc > 2 * nin ? nc * nc : 2 * nin) + n +
                          doubles(2 * n * sizeof(int)) + doubles(ny);
    if (e->used + stays + passes > e->need) e->need = e->used + stays + passes;
    if (e->used + stays + passes > e->room) return false;
    f->y = lwi_rcr_push(e, ints);
    f->from = f->y + ny;
    f->pick = f->from + ny;
    f->norm = lwi_rcr_push(e, nin);
    f->row = lwi_rcr_push(e, nin);
    double *top = e->pool + e->room;
    s->H = top -= nc * nc;
    s->K = top -= own;
    s->G = top -= nin * n;
    s->B = top -= nc * nc > 2 * nin ? nc * nc : 2 * nin; // also scratch of lwi_rcr_orthonormal
    s->scratch = top -= n;
    s->at = (int *)(top -= doubles(2 * n * sizeof(int)));
    s->map = s->at + n;
    s->taken = (bool *)(top -= doubles(ny));
    LWI_ASSERT(top >= e->pool + e->used); // scratch from above, results from below
    if (!s->plain && nc && s->form) memset(s->H, 0, nc * nc * sizeof(double));
    if (own && s->form) memset(s->K, 0, own * sizeof(double));
    if (!s->plain && nin) memset(s->G, 0, nin * n * sizeof(double));
    if (ny) memset(s->taken, 0, ny * sizeof *s->taken);
    return true;
}

// ----------------------------------------------------------------------------------------- collect

// a += b, blocks of 6 by 6.
static void add_block(double *a, int a_stride, const double *b, int b_stride)
{
    for (int i = 0; i < 6; i++) {
        double *to = a + i * a_stride;
        const double *from = b + i * b_stride;
        for (int j = 0; j < 6; j++) to[j] += from[j];
    }
}

static void add_triangle(double *a, int a_stride, const double *b, int b_stride)
{
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) a[i * a_stride + j] += b[i * b_stride + j];
}

// Copies the upper triangle of a body's block to the lower one.
static void symmetric(double *K, int stride)
{
    for (int i = 1; i < 6; i++)
        for (int j = 0; j < i; j++) K[stride * i + j] = K[stride * j + i];
}

// Adds a child's quadratic form.  Its delayed speeds begin at column z; one of its bodies is this
// node.
static void add_form(lwi_rcr_system *s, const lwi_rcr_front *child, const lwi_rcr_node *below,
                     int z)
{
    const int n = s->n, nc = s->nc, nb = child->nb, nbody = below->nbody, own = s->node->nbody;
    LWI_ASSERT(below->up == s->k && nb == child->nz + 6 * nbody);
    LWI_ASSERT(z + child->nz <= s->ny);
    for (int j = 0; j < child->nz; j++) {
        const double *from = child->H + j * nb;
        double *to = s->H + (z + j) * nc;
        for (int i = j; i < child->nz; i++) to[z + i] = s->H[(z + i) * nc + z + j] = from[i];
        from += child->nz;
        for (int b = 0; b < nbody; b++, from += 6) {
            if (below->slot[b] == own)
                for (int i = 0; i < 6; i++) s->K[i * n + z + j] = from[i];
            else
                v6_copy(to + s->ny + 6 * below->slot[b], from);
        }
    }
    for (int a = 0; a < nbody; a++) {
        const double *from = child->H + (child->nz + 6 * a) * nb + child->nz;
        LWI_ASSERT(below->slot[a] >= 0 && below->slot[a] <= own);
        const bool mine = below->slot[a] == own;
        double *to = mine ? s->K : s->H + (s->ny + 6 * below->slot[a]) * nc;
        add_triangle(to + s->ny + 6 * below->slot[a], mine ? n : nc, from + 6 * a, nb);
        for (int b = a + 1; b < nbody; b++) // both in descending order: this node is first
            add_block(to + s->ny + 6 * below->slot[b], mine ? n : nc, from + 6 * b, nb);
    }
}

static void add_messages(lwi_rcr *e, lwi_rcr_system *s, int *row)
{
    int z = e->model->node[s->k].nv;
    for (int i = 0; i < s->node->nchild; i++) {
        const int c = s->node->child[i];
        const lwi_rcr_front *child = &e->front[c];
        const lwi_rcr_node *below = &e->node[c];
        if (s->form) add_form(s, child, below, z);
        for (int r = 0; r < child->nout; r++, ++*row) {
            const double *from = child->G + r * child->nb;
            double *to = s->G + *row * s->n;
            for (int j = 0; j < child->nz; j++) to[z + j] = from[j];
            from += child->nz;
            for (int b = 0; b < below->nbody; b++, from += 6)
                v6_copy(to + s->ny + 6 * below->slot[b], from);
        }
        for (int j = 0; j < child->nz; j++) s->f->y[z++] = child->y[child->nd + child->ni + j];
    }
    LWI_ASSERT(z == s->ny);
}

// Rows of the closures that enter here: relative motion of the bodies of a joint, and its known part.   (33)
static void add_closures(const lwi_rcr *e, lwi_rcr_system *s, int *row)
{
    for (int i = 0; i < s->node->nclosure; i++) {
        const int index = s->node->closure[i];
        const lwi_closure *c = &e->cut->closure[index];
        const double *len = e->cut->len + e->cut->first[index];
        for (int b = 0; b < c->nbody; b++) {
            LWI_ASSERT(e->model->body_node[c->body[b]] <= s->k);
            const int other = e->model->body_node[c->body[b]];
            int slot = 0;
            while (slot < s->node->nbody && s->node->body[slot] != other) slot++;
            LWI_ASSERT(slot < s->node->nbody || other == s->k);
            for (int r = 0; r < c->n; r++) { // about the origin, in units of the length
                double *to = s->G + (*row + r) * s->n + s->ny + 6 * slot, J[6];
                v3_scale(J, 1 / len[r], c->J[b][r]);
                v3_scale(J + 3, 1 / (len[r] * e->length), c->J[b][r] + 3);
                v3_cross_add(J + 3, e->c[other], J);
                v6_add(to, to, J);
            }
        }
        *row += c->n;
    }
}

// to [n] := S' K, rows of K [6][n].
static void project_rows(int n, const double *S, const double *K, double *restrict to)
{
    const double *K0 = K, *K1 = K0 + n, *K2 = K1 + n, *K3 = K2 + n, *K4 = K3 + n, *K5 = K4 + n;
    for (int v = 0; v < n; v++)
        to[v] =
            S[0] * K0[v] + S[1] * K1[v] + S[2] * K2[v] + S[3] * K3[v] + S[4] * K4[v] + S[5] * K5[v];
}

// Moves wrenches in all columns.
static void move_rows(int n, const double d[3], double *K)
{
    const double *restrict f0 = K, *restrict f1 = K + n, *restrict f2 = K + 2 * n;
    double *restrict t0 = K + 3 * n, *restrict t1 = K + 4 * n, *restrict t2 = K + 5 * n;
    const double x = d[0], y = d[1], z = d[2];
    for (int v = 0; v < n; v++) t0[v] += y * f2[v] - z * f1[v];
    for (int v = 0; v < n; v++) t1[v] += z * f0[v] - x * f2[v];
    for (int v = 0; v < n; v++) t2[v] += x * f1[v] - y * f0[v];
}

// Adds X'K to the parent's rows and columns of the upper triangle.
static void add_parent(const lwi_rcr *e, lwi_rcr_system *s, int parent)
{
    const int n = s->n, nc = s->nc, nv = e->model->node[s->k].nv;
    const double *d = e->d[s->k];
    double *K = s->K, *own = s->H + parent * nc + parent;
    move_rows(n, d, K);
    for (int i = 0; i < 6; i++) {
        const double *row = K + i * n;
        double *to = s->H + (parent + i) * nc;
        for (int v = nv; v < parent; v++) s->H[v * nc + parent + i] += row[v];
        for (int v = parent + 6; v < nc; v++) to[v] += row[v];
    }
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            own[i * nc + j] += K[i * n + parent + j] + K[j * n + parent + i];
    for (int i = 0; i < 6; i++) {
        double *row = K + i * n + nc;
        rcr_move_wrench(d, row);
        for (int j = i; j < 6; j++) own[i * nc + j] += row[j];
    }
}

// Substitutes x_k = X x_parent + S y in the quadratic form.                              (14), (39), (43)
static void substitute_form(const lwi_rcr *e, lwi_rcr_system *s, int parent)
{
    const int n = s->n, nc = s->nc, nv = e->model->node[s->k].nv;
    const double *d = e->d[s->k];
    double(*S)[6] = e->S + e->model->node[s->k].iv;
    symmetric(s->K + nc, n);
    for (int j = 0; j < nv; j++) {
        double *row = s->H + j * nc, u[6], *w = s->scratch;
        project_rows(n, S[j], s->K, w);
        for (int i = 0; i <= j; i++) row[i] = s->H[i * nc + j] = v6_dot(w + nc, S[i]);
        row[j] += e->rotor[e->model->node[s->k].iv + j];
        for (int v = nv; v < s->ny; v++) row[v] = s->H[v * nc + j] = w[v];
        for (int v = s->ny; v < nc; v++) row[v] = w[v];
        if (parent < 0) continue;
        v6_copy(u, w + nc);
        rcr_move_wrench(d, u);
        v6_add(row + parent, row + parent, u);
    }
    if (parent >= 0) add_parent(e, s, parent);
}

// The same in the rows.
static void substitute_rows(const lwi_rcr *e, lwi_rcr_system *s, int parent)
{
    const int n = s->n, nc = s->nc, nv = e->model->node[s->k].nv;
    double(*S)[6] = e->S + e->model->node[s->k].iv;
    for (int r = 0; r < s->f->nin; r++) {
        double *row = s->G + r * n, g[6];
        v6_copy(g, row + nc);
        for (int j = 0; j < nv; j++) row[j] = v6_dot(g, S[j]);
        rcr_move_wrench(e->d[s->k], g);
        if (parent >= 0) v6_add(row + parent, row + parent, g);
    }
}

static void substitute(const lwi_rcr *e, lwi_rcr_system *s)
{
    const int parent = s->node->parent_at < 0 ? -1 : s->ny + 6 * s->node->parent_at;
    LWI_ASSERT(parent < 0 || parent + 6 <= s->nc);
    substitute_rows(e, s, parent);
    if (s->form) substitute_form(e, s, parent);
}

// The same for a plain node: only this node's motion and its parent's occur, as in trees and in loops on the ground
// without neighbours.
static void fill_plain_form(const lwi_rcr *e, lwi_rcr_system *s)
{
    const int nv = s->ny, n = s->n;
    const double *d = e->d[s->k];
    double K[36], (*S)[6] = e->S + e->model->node[s->k].iv;
    memcpy(K, e->I[s->k], sizeof K);
    lwi_rcr_rotors_inertia(e, s->k, K);
    for (int i = 0; i < s->node->nchild; i++) add_triangle(K, 6, e->front[s->node->child[i]].H, 6);
    symmetric(K, 6);
    for (int j = 0; j < nv; j++) {
        double u[6];
        project_rows(6, S[j], K, u);
        for (int i = 0; i <= j; i++) s->H[j * n + i] = s->H[i * n + j] = v6_dot(u, S[i]);
        s->H[j * n + j] += e->rotor[e->model->node[s->k].iv + j];
        if (n == nv) continue;
        rcr_move_wrench(d, u);
        v6_copy(s->H + j * n + nv, u);
    }
    if (n == nv) return;
    for (int i = 0; i < 6; i++) rcr_move_wrench(d, K + 6 * i); // K X, then X'K X
    move_rows(6, d, K);
    for (int i = 0; i < 6; i++) v6_copy(s->H + (nv + i) * n + nv, K + 6 * i);
}

// A row g of the motion x_k, with the speeds and the parent's motion substituted.
static void put_plain_row(const lwi_rcr *e, const lwi_rcr_system *s, double g[6], double *row)
{
    const int nv = s->ny;
    double(*S)[6] = e->S + e->model->node[s->k].iv;
    for (int j = 0; j < nv; j++) row[j] = v6_dot(g, S[j]);
    rcr_move_wrench(e->d[s->k], g);
    if (s->n > nv) v6_copy(row + nv, g);
}

static void fill_plain_rows(const lwi_rcr *e, lwi_rcr_system *s)
{
    double *row = s->G, g[6];
    for (int i = 0; i < s->node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[s->node->child[i]];
        for (int r = 0; r < child->nout; r++, row += s->n) {
            v6_copy(g, child->G + 6 * r);
            put_plain_row(e, s, g, row);
        }
    }
    for (int i = 0; i < s->node->nclosure; i++) {
        const int index = s->node->closure[i];
        const lwi_closure *c = &e->cut->closure[index];
        const double *len = e->cut->len + e->cut->first[index];
        for (int r = 0; r < c->n; r++, row += s->n) {
            v3_scale(g, 1 / len[r], c->J[0][r]);
            v3_scale(g + 3, 1 / (len[r] * e->length), c->J[0][r] + 3);
            v3_cross_add(g + 3, e->c[s->k], g);
            put_plain_row(e, s, g, row);
        }
    }
    LWI_ASSERT(row == s->G + s->f->nin * s->n); // all rows received
}

bool lwi_rcr_fill(lwi_rcr *e, lwi_rcr_system *s)
{
    const lwi_node *own = &e->model->node[s->k];
    int row = 0;
    count(e, s);
    if (!allocate(e, s)) return false;
    for (int j = 0; j < own->nv; j++) s->f->y[j] = own->iv + j;
    if (s->plain) {
        fill_plain_rows(e, s);
        if (s->form) fill_plain_form(e, s);
        return true;
    }
    if (s->form) {
        for (int i = 0; i < 6; i++) v6_copy(s->K + i * s->n + s->nc, e->I[s->k] + 6 * i);
        lwi_rcr_rotors_fill(e, s);
    }
    add_messages(e, s, &row);
    add_closures(e, s, &row);
    LWI_ASSERT(row == s->f->nin);
    substitute(e, s);
    return true;
}

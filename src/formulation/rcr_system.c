// rcr_system.c -- one node's system: its own inertia, the messages of its children, the closures
// that enter.
//
// Columns: the node's own speeds, speeds delayed by its children, the other bodies, and at first
// the node's own motion x_k, which x_k = X x_parent + S y replaces.
#include "formulation/rcr_system.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ memory

static size_t doubles(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

static void count(const lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    f->ny = e->model->node[s->k].nv;
    f->nin = f->below = 0;
    for (int i = 0; i < s->node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[s->node->child[i]];
        f->ny += child->nz;
        f->nin += child->nout;
        f->below += child->below;
    }
    for (int i = 0; i < s->node->nclosure; i++) f->nin += e->cut->closure[s->node->closure[i]].n;
    s->ny = f->ny;
    s->nc = s->ny + 6 * s->node->nbody;
    s->plain = s->node->plain && f->ny == e->model->node[s->k].nv;
    s->n = s->plain ? s->nc : s->nc + 6;
}

// Memory for the largest result that this system can have, and for itself.
static bool allocate(lwi_rcr *e, lwi_rcr_system *s)
{
    lwi_rcr_front *f = s->f;
    const size_t n = (size_t)s->n, ny = (size_t)s->ny, nc = (size_t)s->nc, nin = (size_t)f->nin;
    const size_t most = ny < nin ? ny : nin; // dependent speeds
    const size_t ints = doubles((2 * ny + nin) * sizeof(int));
    const size_t stays = ints + nin + nin * nin + most * (nin + 1) + 2 * most * most +
                         2 * most * nc + ny * nc + ny * ny + nc * nc + nin * nc + nin + 2 * nc +
                         2 * most + ny;
    const size_t passes = n * n + nin * n + (nc * nc > 2 * nin ? nc * nc : 2 * nin) + n +
                          doubles(2 * n * sizeof(int)) + doubles(n * sizeof(lwi_rcr_run)) +
                          doubles(ny);
    if (e->used + stays + passes > e->most) e->most = e->used + stays + passes;
    if (e->used + stays + passes > e->room) return false;
    f->y = lwi_rcr_keep(e, ints);
    f->from = f->y + ny;
    f->pick = f->from + ny;
    f->norm = lwi_rcr_keep(e, nin);
    f->row = lwi_rcr_keep(e, nin);
    double *top = e->pool + e->room;
    s->H = top -= n * n;
    s->G = top -= nin * n;
    s->B = top -= nc * nc > 2 * nin ? nc * nc : 2 * nin; // also of lwi_rcr_orthonormal
    s->scratch = top -= n;
    s->at = (int *)(top -= doubles(2 * n * sizeof(int)));
    s->map = s->at + n;
    s->runs = (lwi_rcr_run *)(top -= doubles(n * sizeof(lwi_rcr_run)));
    s->taken = (bool *)(top -= doubles(ny));
    if (!s->plain && n) memset(s->H, 0, n * n * sizeof(double));
    if (!s->plain && nin) memset(s->G, 0, nin * n * sizeof(double));
    if (ny) memset(s->taken, 0, ny * sizeof *s->taken);
    return true;
}

// ----------------------------------------------------------------------------------------- collect

// A wrench [f; n] about the parent's origin instead of the node's: n + d x f.
static void move_wrench(const double d[3], double w[6])
{
    v3_cross_add(w + 3, d, w);
}

static int list_runs(lwi_rcr_system *s, const lwi_rcr_front *child, const lwi_rcr_node *node,
                     int *z)
{
    lwi_rcr_run *runs = s->runs;
    int n = 0;
    for (int j = 0; j < child->nz; j++, ++*z) {
        s->f->y[*z] = child->y[child->nd + child->ni + j];
        runs[n++] = (lwi_rcr_run){j, *z, 1};
    }
    for (int b = 0; b < node->nbody; b++)
        runs[n++] = (lwi_rcr_run){child->nz + 6 * b, s->ny + 6 * node->slot[b], 6};
    return n;
}

// The lower triangle of a body's block onto the upper one.
static void symmetric(double *K, int stride)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) K[stride * j + i] = K[stride * i + j];
}

static void add_messages(lwi_rcr *e, lwi_rcr_system *s, int *row)
{
    const int n = s->n;
    int z = e->model->node[s->k].nv;
    const lwi_rcr_run *runs = s->runs;
    for (int i = 0; i < s->node->nchild; i++) {
        const int c = s->node->child[i];
        const lwi_rcr_front *child = &e->front[c];
        const int nb = child->nb, nrun = list_runs(s, child, &e->node[c], &z);
        for (int a = 0; a < nrun; a++)
            for (int l = 0; l < runs[a].n; l++) {
                const double *from = child->H + (runs[a].from + l) * nb;
                double *to = s->H + (runs[a].to + l) * n;
                for (int b = 0; b < nrun; b++) {
                    if (runs[b].n == 6)
                        v6_add(to + runs[b].to, to + runs[b].to, from + runs[b].from);
                    else
                        to[runs[b].to] += from[runs[b].from];
                }
            }
        for (int r = 0; r < child->nout; r++, ++*row)
            for (int b = 0; b < nrun; b++)
                memcpy(s->G + *row * n + runs[b].to, child->G + r * nb + runs[b].from,
                       (size_t)runs[b].n * sizeof(double));
    }
}

static void add_closures(const lwi_rcr *e, lwi_rcr_system *s, int *row)
{
    for (int i = 0; i < s->node->nclosure; i++) {
        const int index = s->node->closure[i];
        const lwi_closure *c = &e->cut->closure[index];
        const double *len = e->cut->len + e->cut->first[index];
        for (int b = 0; b < c->nbody; b++) {
            const int other = e->model->body_node[c->body[b]];
            int slot = 0;
            while (slot < s->node->nbody && s->node->body[slot] != other) slot++;
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

// x_k = X x_parent + S y in the quadratic form and the rows.
static void substitute(const lwi_rcr *e, lwi_rcr_system *s)
{
    const int n = s->n, nc = s->nc, nv = e->model->node[s->k].nv;
    const int parent = s->node->parent_at < 0 ? -1 : s->ny + 6 * s->node->parent_at;
    double *K = s->H + nc * n; // rows of x_k
    const double *d = e->d[s->k];
    double(*S)[6] = e->S + e->model->node[s->k].iv;
    for (int j = 0; j < nv; j++) {
        double *row = s->H + j * n, u[6];
        for (int v = nv; v < n; v++) {
            double sum = 0;
            for (int i = 0; i < 6; i++) sum += S[j][i] * K[i * n + v];
            row[v] = sum;
        }
        v6_copy(u, row + nc);
        for (int i = 0; i <= j; i++) row[i] = s->H[i * n + j] = v6_dot(u, S[i]);
        for (int v = nv; v < nc; v++) s->H[v * n + j] = row[v];
        if (parent < 0) continue;
        move_wrench(d, u);
        for (int i = 0; i < 6; i++) {
            row[parent + i] += u[i];
            s->H[(parent + i) * n + j] += u[i];
        }
    }
    for (int r = 0; r < s->f->nin; r++) {
        double *row = s->G + r * n, g[6];
        v6_copy(g, row + nc);
        for (int j = 0; j < nv; j++) row[j] = v6_dot(g, S[j]);
        move_wrench(d, g);
        if (parent >= 0) v6_add(row + parent, row + parent, g);
    }
    if (parent < 0) return;
    for (int v = nv; v < n; v++) // X'K
        for (int i = 0; i < 3; i++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3;
            K[(3 + i) * n + v] += d[a] * K[b * n + v] - d[b] * K[a * n + v];
        }
    for (int i = 0; i < 6; i++) {
        double *row = K + i * n;
        for (int v = nv; v < nc; v++) {
            s->H[(parent + i) * n + v] += row[v];
            s->H[v * n + parent + i] += row[v];
        }
        move_wrench(d, row + nc);
        v6_add(s->H + (parent + i) * n + parent, s->H + (parent + i) * n + parent, row + nc);
    }
    symmetric(s->H + parent * n + parent, n);
}

// The same, x_k replaced at once, where nothing but this node's motion and the ground meet in it:
// all of a tree, all loops on the ground that are near nothing else [anderson2003].
static void fill_plain(const lwi_rcr *e, lwi_rcr_system *s)
{
    const int nv = s->ny, n = s->n;
    const double *d = e->d[s->k];
    double K[36], (*S)[6] = e->S + e->model->node[s->k].iv, *row = s->G;
    memcpy(K, e->I[s->k], sizeof K);
    for (int i = 0; i < s->node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[s->node->child[i]];
        for (int j = 0; j < 36; j++) K[j] += child->H[j];
        for (int r = 0; r < child->nout; r++, row += n) {
            double g[6];
            v6_copy(g, child->G + 6 * r);
            for (int j = 0; j < nv; j++) row[j] = v6_dot(g, S[j]);
            move_wrench(d, g);
            if (n > nv) v6_copy(row + nv, g);
        }
    }
    for (int i = 0; i < s->node->nclosure; i++) {
        const int index = s->node->closure[i];
        const lwi_closure *c = &e->cut->closure[index];
        const double *len = e->cut->len + e->cut->first[index];
        for (int r = 0; r < c->n; r++, row += n) {
            double g[6];
            v3_scale(g, 1 / len[r], c->J[0][r]);
            v3_scale(g + 3, 1 / (len[r] * e->length), c->J[0][r] + 3);
            v3_cross_add(g + 3, e->c[s->k], g);
            for (int j = 0; j < nv; j++) row[j] = v6_dot(g, S[j]);
            move_wrench(d, g);
            if (n > nv) v6_copy(row + nv, g);
        }
    }
    for (int j = 0; j < nv; j++) {
        double u[6];
        for (int i = 0; i < 6; i++) u[i] = v6_dot(K + 6 * i, S[j]);
        for (int i = 0; i <= j; i++) s->H[j * n + i] = s->H[i * n + j] = v6_dot(u, S[i]);
        if (n == nv) continue;
        move_wrench(d, u);
        for (int i = 0; i < 6; i++) s->H[j * n + nv + i] = s->H[(nv + i) * n + j] = u[i];
    }
    if (n == nv) return;
    for (int i = 0; i < 6; i++) move_wrench(d, K + 6 * i); // K X, then X'K X
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < 3; i++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3;
            K[(3 + i) * 6 + j] += d[a] * K[b * 6 + j] - d[b] * K[a * 6 + j];
        }
    for (int i = 0; i < 6; i++) memcpy(s->H + (nv + i) * n + nv, K + 6 * i, 6 * sizeof *K);
    symmetric(s->H + nv * n + nv, n);
}

bool lwi_rcr_fill(lwi_rcr *e, lwi_rcr_system *s)
{
    const lwi_node *own = &e->model->node[s->k];
    int row = 0;
    count(e, s);
    if (!allocate(e, s)) return false;
    for (int j = 0; j < own->nv; j++) s->f->y[j] = own->iv + j;
    if (s->plain) {
        fill_plain(e, s);
        return true;
    }
    for (int i = 0; i < 6; i++)
        memcpy(s->H + (s->nc + i) * s->n + s->nc, e->I[s->k] + 6 * i, 6 * sizeof(double));
    add_messages(e, s, &row);
    add_closures(e, s, &row);
    substitute(e, s);
    return true;
}

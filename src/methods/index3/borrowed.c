// borrowed.c -- bodies without inertia, which borrow some across joints (system/transfer.h), in Newton's equations and
// in the projections.
//
// What joints transfer is added to the matrices of both bodies before they are inverted, M + J' W J + eta stiffness.  It
// has the units of M: where K is that of M / eta, W is divided by eta as well (`unit` of the calls).  Rows with eps
// leave eps dlambda of what is transferred, which vanishes with the increments.
#include "methods/index3/index3.h"

#include <string.h>

lw_status lwi_index3_borrowed_create(lwi_index3 *d, lwi_arena *arena)
{
    const lwi_transfer *f = d->system.transfer;
    if (!f) return LW_OK;
    d->borrowed = lwi_arena_push(arena, (size_t)f->nbody, sizeof *d->borrowed);
    d->base = lwi_arena_push(arena, (size_t)d->system.nbody, sizeof *d->base);
    d->given = lwi_arena_push(arena, (size_t)d->system.nbody, sizeof *d->given);
    return d->borrowed && d->base && d->given ? LW_OK : LW_ERR_MEMORY;
}

double lwi_index3_body_mass(const lwi_index3 *d, int node)
{
    const lwi_transfer *f = d->system.transfer;
    const double mass = d->system.model->body[d->system.model->node[node].body].mass;
    const int i = f ? f->of[node] : -1;
    if (i < 0 || !f->body[i].borrows) return mass;
    return (f->body[i].M[0] + f->body[i].M[7] + f->body[i].M[14]) / 3;
}

bool lwi_index3_is_borrowed(const lwi_index3 *d, int node)
{
    return d->system.transfer && d->system.transfer->of[node] >= 0;
}

void lwi_index3_borrowed_leaves(lwi_index3 *d, double h, bool mass)
{
    lwi_system *s = &d->system;
    const lwi_transfer *f = s->transfer;
    if (!f) return;
    lwi_transfer_find(s);
    lwi_transfer_invert(s);
    for (int i = 0; i < f->nbody; i++) {
        const int k = lwi_system_node_of(s, f->body[i].body);
        memcpy(d->borrowed[i], f->body[i].K, sizeof *d->borrowed);
        if (!mass)
            lwi_index3_add_stiffness(d, k, h, lwi_system_parts_of(s, k), f->body[i].M,
                                     d->borrowed[i]);
    }
}

static void multiply(const double K[36], const double f[6], double x[6])
{
    double in[6];
    v6_copy(in, f); // may be x
    for (int i = 0; i < 6; i++) x[i] = v6_dot(K + 6 * i, in);
}

bool lwi_index3_multiply_borrowed(const lwi_index3 *d, int body, int rows, const double (*J)[6],
                                  double (*G)[6])
{
    const int i = d->system.transfer->of[body];
    for (int k = 0; k < rows && i >= 0; k++) multiply(d->borrowed[i], J[k], G[k]);
    return i >= 0;
}

// x := K x of all bodies of the elimination that borrow or give.
static void apply(const lwi_index3 *d, double (*x)[6])
{
    const lwi_transfer *f = d->system.transfer;
    for (int i = 0; i < f->nbody; i++) {
        double *of = x[f->body[i].body];
        multiply(d->borrowed[i], of, of);
    }
}

void lwi_index3_apply_borrowed(lwi_index3 *d, double unit, const double *c, double (*x)[6])
{
    lwi_system *s = &d->system;
    double(*f)[6] = d->given;
    memcpy(f, x, (size_t)s->nbody * sizeof *f);
    lwi_system_share(s, true, f);
    lwi_transfer_load(s, unit, NULL, c, f);
    lwi_index3_apply(d, x);
    apply(d, f);
    for (int i = 0; i < s->transfer->nbody; i++) {
        const int b = s->transfer->body[i].body;
        v6_copy(x[b], f[b]);
    }
}

void lwi_index3_borrow_motion(lwi_index3 *d, double unit, const double *c, double (*x)[6])
{
    const lwi_system *s = &d->system;
    if (!s->transfer) return;
    memcpy(d->base, x, (size_t)s->nbody * sizeof *x);
    memset(d->given, 0, (size_t)s->nbody * sizeof *d->given);
    lwi_transfer_load(s, unit, (const double(*)[6])d->base, c, d->given);
    apply(d, d->given);
    for (int i = 0; i < s->transfer->nbody; i++) {
        const int b = s->transfer->body[i].body;
        v6_add(x[b], x[b], d->given[b]);
    }
}

void lwi_index3_return_motion(lwi_index3 *d, double unit, const double (*x)[6], double *lambda)
{
    if (!d->system.transfer) return;
    lwi_transfer_multipliers(&d->system, unit, (const double(*)[6])d->base, x, lambda);
}

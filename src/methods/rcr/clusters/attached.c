// attached.c -- where bodies are that somebody asks for, how they move, and forces on them: between
// the lanes of a cell and the world, one body at a time; rotors likewise.
#include "methods/rcr/clusters/plan.h"

#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------ create

lw_status lwi_clusters_create_seats(lwi_clusters *c, const lw_model *model, const bool *asked,
                                    lwi_arena *arena)
{
    for (int k = 0; k < model->nnode; k++) c->nseat += asked[k];
    c->seat = LWI_PUSH(arena, lwi_cluster_seat, c->nseat);
    c->first_seat = LWI_PUSH(arena, int, c->parts.n + 1);
    if (!c->seat || !c->first_seat) return LW_ERR_MEMORY;
    int n = 0;
    for (int p = -1; p < c->parts.n; p++) { // those that ride on the ground first
        if (p >= 0) c->first_seat[p] = n;
        for (int k = 0; k < model->nnode; k++) {
            if (!asked[k] || c->parts.host[k] != p) continue;
            lwi_cluster_seat *seat = &c->seat[n++];
            lwi_k_frame body;
            memcpy(body.R, model->node[k].c_R, sizeof body.R);
            v3_copy(body.r, model->node[k].c_r);
            *seat = (lwi_cluster_seat){
                .body = model->node[k].body, .cell = -1, .floats = p < 0 ? -1 : c->base_of[p]};
            lwi_k_compose(&seat->on_part, &c->parts.offset[k], &body);
        }
    }
    c->first_seat[c->parts.n] = n;
    return LW_OK;
}

static bool is_of_base(const lwi_clusters *c, int iv)
{
    for (int i = 0; i < c->nbase; i++)
        if (iv >= c->base[i].iv && iv < c->base[i].iv + c->base[i].nv) return true;
    return false;
}

lw_status lwi_clusters_create_rotors(lwi_clusters *c, const lw_model *model, lwi_arena *arena)
{
    c->rotor = LWI_PUSH(arena, lwi_cluster_rotor, model->tree_nv);
    if (!c->rotor) return LW_ERR_MEMORY;
    for (int i = 0; i < model->tree_nv; i++)
        if (model->tree_rotor[i] > 0 && !is_of_base(c, i))
            c->rotor[c->nrotor++] = (lwi_cluster_rotor){.iv = i, .inertia = model->tree_rotor[i]};
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- place

// Along the axes of a cell in a plane, of the origin of step i.
static double height(const lwi_clusters_draft *d, int i)
{
    double sum = 0;
    for (; i >= 0; i = d->shape.step[i].parent) sum += d->in[i].r[2];
    return sum;
}

void lwi_clusters_seat(lwi_clusters *c, const lwi_clusters_draft *d, int cell)
{
    for (int i = 0; i < d->n; i++) {
        const int part = d->part[i];
        if (!d->own[i]) continue;
        for (int s = c->first_seat[part]; s < c->first_seat[part + 1]; s++) {
            lwi_cluster_seat *seat = &c->seat[s];
            const lwi_k_frame raw = lwi_clusters_raw(c, d, i);
            seat->cell = cell;
            seat->step = i;
            seat->base = d->base;
            seat->height = height(d, i);
            lwi_k_compose(&seat->on_step, &raw, &seat->on_part);
        }
    }
}

// -------------------------------------------------------------------------------------- evaluation

// Turn of a step about the axis that all have, and its origin, mass centre from there: base axes.
static void read_pose(const lwi_cluster_block *b, const lwi_cluster_seat *seat, int lane,
                      double R[9], double r[3], double c[3])
{
    const lwi_cluster_pose *pose = &b->pose[seat->step];
    if (b->shape->flat) {
        rot_z(R, pose->R[0][lane], pose->R[3][lane]);
        v3_set(r, pose->r[0][lane], pose->r[1][lane], seat->height);
        v3_set(c, pose->c[0][lane], pose->c[1][lane], b->link[seat->step].c[2][lane]);
        return;
    }
    for (int i = 0; i < 9; i++) R[i] = pose->R[i][lane];
    for (int i = 0; i < 3; i++) r[i] = pose->r[i][lane], c[i] = pose->c[i][lane];
}

// Number j of its x: what a unit speed does to it, v of the part's mass centre in base axes, w in its own.
static void read_column(const lwi_cluster_block *b, const lwi_cluster_seat *seat, int lane, int j,
                        double v[3], double w[3])
{
    const lwi_cluster_step *step = &b->shape->step[seat->step];
    const lwi_cluster_column *column = &b->column[step->body * b->shape->nx + j];
    const bool flat = b->shape->flat;
    for (int i = 0; i < 3; i++) {
        v[i] = flat && i == 2 ? 0 : column->v[i][lane];
        w[i] = flat && i < 2 ? 0 : column->w[i][lane];
    }
}

// From what floats to the world: a body, its mass centre and their velocities there.
static void ride(const lwi_cluster_base *base, double R[9], double r[3], double speed[3],
                 double turn[3])
{
    const lwi_link *link = &base->link;
    double own[9], place[3], v[3], w[3];
    memcpy(own, R, sizeof own);
    m3_mul(R, link->R, own);
    m3_mul_v(place, link->R, r);
    m3_mul_v(v, link->R, speed);
    m3_mul_v(w, link->R, turn);
    m3_mul_v(turn, base->R, base->w);
    m3_mul_v(speed, base->R, base->v);
    v3_cross_add(speed, turn, place);
    v3_add(speed, speed, v);
    v3_add(turn, turn, w);
    v3_add(r, place, link->r);
}

void lwi_clusters_read(const lwi_clusters *c, int at, const double *v, double R[9], double r[3],
                       double speed[3], double turn[3])
{
    lwi_cluster_seat *seat = &c->seat[at];
    if (seat->cell < 0) {
        memcpy(R, seat->on_part.R, sizeof seat->on_part.R);
        v3_copy(r, seat->on_part.r);
        v3_set(speed, 0, 0, 0);
        v3_set(turn, 0, 0, 0);
        if (seat->floats >= 0) ride(&c->base[seat->floats], R, r, speed, turn);
        return;
    }
    const lwi_cluster *cell = &c->cell[seat->cell];
    const lwi_cluster_block *b = &c->block[cell->block];
    double at_r[3], com[3], place[3], vc[3] = {0}, wb[3] = {0}, w[3], now[9];
    read_pose(b, seat, cell->lane, seat->R, at_r, com);
    m3_mul_v(place, seat->R, seat->on_step.r);
    v3_sub(seat->arm, place, com);
    for (int j = 0; j < cell->nx; j++) {
        double cv[3], cw[3];
        if (!(b->shape->step[seat->step].felt >> j & 1)) continue;
        read_column(b, seat, cell->lane, j, cv, cw);
        v3_axpy(vc, v[cell->iv[j]], cv);
        v3_axpy(wb, v[cell->iv[j]], cw);
    }
    m3_mul_v(w, seat->R, wb);
    v3_cross_add(vc, w, seat->arm);
    m3_mul_v(speed, seat->base.R, vc);
    m3_mul_v(turn, seat->base.R, w);
    m3_mul(now, seat->R, seat->on_step.R);
    m3_mul(R, seat->base.R, now);
    v3_add(place, place, at_r);
    m3_mul_v(r, seat->base.R, place);
    v3_add(r, r, seat->base.r);
    v3_copy(seat->place, r);
    if (seat->floats >= 0) ride(&c->base[seat->floats], R, r, speed, turn);
}

// The wrench at a point of what floats, link axes, on the body.
static void load_base(lwi_cluster_base *base, const double r[3], const double f[3],
                      const double n[3])
{
    double moment[3], own[3];
    v3_copy(moment, n);
    v3_cross_add(moment, r, f);
    m3_tmul_v(own, base->axes, f);
    v3_sub(base->e, base->e, own);
    m3_tmul_v(own, base->axes, moment);
    v3_sub(base->e + 3, base->e + 3, own);
}

void lwi_clusters_load(const lwi_clusters *c, int at, const double wrench[6])
{
    const lwi_cluster_seat *seat = &c->seat[at];
    double force[3], moment[3], f[3], n[3], own[3];
    v3_copy(force, wrench);
    v3_copy(moment, wrench + 3);
    if (seat->floats >= 0) {
        lwi_cluster_base *base = &c->base[seat->floats];
        m3_tmul_v(force, base->link.R, wrench);
        m3_tmul_v(moment, base->link.R, wrench + 3);
        load_base(base, seat->cell < 0 ? seat->on_part.r : seat->place, force, moment);
    }
    if (seat->cell < 0) return;
    const lwi_cluster *cell = &c->cell[seat->cell];
    const lwi_cluster_block *b = &c->block[cell->block];
    m3_tmul_v(f, seat->base.R, force);
    m3_tmul_v(n, seat->base.R, moment);
    v3_cross_add(n, seat->arm, f);
    m3_tmul_v(own, seat->R, n);
    for (int j = 0; j < cell->nx; j++) {
        double v[3], w[3];
        if (!(b->shape->step[seat->step].felt >> j & 1)) continue;
        read_column(b, seat, cell->lane, j, v, w);
        b->f[j][cell->lane] -= v3_dot(v, f) + v3_dot(w, own);
    }
}

// ------------------------------------------------------------------------------------------ drives

// Forces that are known do not balance the bodies' inertia; what is left does the work of the drives, for
// reactions of joints do none:  P = sum of x.'(M x.. + f) over all cells.
double lwi_clusters_drive_power(const lwi_clusters *c, const double *v, const double *vdot,
                                const double *effort)
{
    double power = 0;
    for (int n = 0; n < c->ncell; n++) {
        const lwi_cluster *cell = &c->cell[n];
        for (int i = 0; i < cell->nx; i++) {
            double felt = cell->f[i * LWI_LANES];
            for (int k = 0; k < 6 && cell->base >= 0; k++)
                felt += cell->B[(6 * i + k) * LWI_LANES] * c->base[cell->base].A[k];
            for (int j = 0; j < cell->nx; j++) {
                const int row = i > j ? i : j, column = i > j ? j : i;
                felt += cell->M[(row * (row + 1) / 2 + column) * LWI_LANES] * vdot[cell->iv[j]];
            }
            power += felt * v[cell->iv[i]];
        }
    }
    for (int i = c->nfree; i < c->nv; i++) power -= effort[i - c->nfree] * v[i];
    return power;
}

// ------------------------------------------------------------------------------------------ rotors
//
// An inertia I on coordinate z.. = e x.. + kappa, e a row of 1 or of K:  M += e' I e,  f += e' I kappa.

void lwi_clusters_rotors(const lwi_clusters *c)
{
    for (int n = 0; n < c->nrotor; n++) {
        const lwi_cluster_rotor *rotor = &c->rotor[n];
        const lwi_cluster *cell = &c->cell[rotor->cell];
        const int l = cell->lane, nx = cell->nx, y = rotor->z - nx;
        const lwi_cluster_block *b = &c->block[cell->block];
        if (y < 0) {
            b->M[rotor->z * (rotor->z + 3) / 2][l] += rotor->inertia;
            continue;
        }
        for (int i = 0; i < nx; i++)
            for (int j = 0; j <= i; j++)
                b->M[i * (i + 1) / 2 + j][l] +=
                    rotor->inertia * b->K[y * nx + i][l] * b->K[y * nx + j][l];
    }
}

void lwi_clusters_rotor_forces(const lwi_clusters *c)
{
    for (int n = 0; n < c->nrotor; n++) {
        const lwi_cluster_rotor *rotor = &c->rotor[n];
        const lwi_cluster *cell = &c->cell[rotor->cell];
        const int l = cell->lane, nx = cell->nx, y = rotor->z - nx;
        const lwi_cluster_block *b = &c->block[cell->block];
        for (int j = 0; j < nx && y >= 0; j++)
            b->f[j][l] += rotor->inertia * b->K[y * nx + j][l] * b->k[y][l];
    }
}

// attached.c -- attached bodies: their motions and the forces on them, between the lanes of a cluster and the world,
// one body at a time; rotors likewise.  Cost: O(1) per body and coordinate of its cluster.
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"
#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------ create

static lwi_cluster_attached attached_body(const lwi_clusters *c, const lw_model *model, int node)
{
    const int part = c->parts.part_of[node];
    lwi_cluster_attached attached = {
        .body = model->node[node].body, .cluster = -1, .floats = part < 0 ? -1 : c->base_of[part]};
    lwi_k_frame body;
    memcpy(body.R, model->node[node].c_R, sizeof body.R);
    v3_copy(body.r, model->node[node].c_r);
    lwi_k_compose(&attached.on_part, &c->parts.offset[node], &body);
    return attached;
}

lw_status lwi_clusters_create_attached(lwi_clusters *c, const lw_model *model, const bool *needed,
                                       lwi_arena *arena)
{
    const int nparts = c->parts.n, *part_of = c->parts.part_of;
    for (int k = 0; k < model->nnode; k++) c->nattached += needed[k];
    int *first = LWI_PUSH(arena, int, nparts + 1);
    c->attached = LWI_PUSH(arena, lwi_cluster_attached, c->nattached);
    c->first_attached = first;
    if (!c->attached || !first) return LW_ERR_MEMORY;
    // Sorted by parts, those on the ground first: first[p] is the number on part p, then where the next one goes.
    int ground = 0, at = 0;
    for (int p = 0; p <= nparts; p++) first[p] = 0;
    for (int k = 0; k < model->nnode; k++)
        if (needed[k]) part_of[k] < 0 ? at++ : first[part_of[k]]++;
    for (int p = 0; p <= nparts; p++) {
        const int count = first[p];
        first[p] = at;
        at += count;
    }
    LWI_ASSERT(at == c->nattached);
    for (int k = 0; k < model->nnode; k++)
        if (needed[k])
            c->attached[part_of[k] < 0 ? ground++ : first[part_of[k]]++] =
                attached_body(c, model, k);
    for (int p = nparts; p > 0; p--) first[p] = first[p - 1];
    first[0] = ground;
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

// Coordinate of the origin of step i along the common axis of a planar cluster.
static double height(const lwi_cluster_draft *d, int i)
{
    double sum = 0;
    for (; i >= 0; i = d->shape.step[i].parent) sum += d->in[i].r[2];
    return sum;
}

void lwi_clusters_attach(lwi_clusters *c, const lwi_cluster_draft *d, int cluster)
{
    for (int i = 0; i < d->n; i++) {
        const int part = d->part[i];
        if (!d->own[i]) continue;
        for (int s = c->first_attached[part]; s < c->first_attached[part + 1]; s++) {
            lwi_cluster_attached *attached = &c->attached[s];
            const lwi_k_frame raw = lwi_clusters_raw(c, d, i);
            LWI_ASSERT(cluster == c->ncluster);
            attached->cluster = cluster;
            attached->step = i;
            attached->base = d->base;
            attached->height = height(d, i);
            lwi_k_compose(&attached->on_step, &raw, &attached->on_part);
        }
    }
}

// -------------------------------------------------------------------------------------- evaluation

// Pose of a step in base axes: axes R, origin r, and mass centre c from the origin.
static void read_pose(const lwi_cluster_block *b, const lwi_cluster_attached *attached, int lane,
                      double R[9], double r[3], double c[3])
{
    LWI_ASSERT_INDEX(attached->step, b->shape->nstep);
    const lwi_cluster_pose *pose = &b->pose[attached->step];
    if (b->shape->planar) {
        rot_z(R, pose->R[0][lane], pose->R[3][lane]);
        v3_set(r, pose->r[0][lane], pose->r[1][lane], attached->height);
        v3_set(c, pose->c[0][lane], pose->c[1][lane], b->link[attached->step].c[2][lane]);
        return;
    }
    for (int i = 0; i < 9; i++) R[i] = pose->R[i][lane];
    for (int i = 0; i < 3; i++) r[i] = pose->r[i][lane], c[i] = pose->c[i][lane];
}

// For a unit of x_j: velocity v of the part's mass centre in base axes, angular velocity w in the
// part's axes.
static void read_column(const lwi_cluster_block *b, const lwi_cluster_attached *attached, int lane,
                        int j, double v[3], double w[3])
{
    const lwi_cluster_step *step = &b->shape->step[attached->step];
    LWI_ASSERT(step->body >= 0 && j < b->shape->nx);
    const lwi_cluster_column *column = &b->column[step->body * b->shape->nx + j];
    const bool planar = b->shape->planar;
    for (int i = 0; i < 3; i++) {
        v[i] = planar && i == 2 ? 0 : column->v[i][lane];
        w[i] = planar && i < 2 ? 0 : column->w[i][lane];
    }
}

// Pose and velocities of a body and its mass centre, from the axes of a floating base to the world.
static void to_world(const lwi_cluster_base *base, double R[9], double r[3], double speed[3],
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

void lwi_clusters_read_attached(const lwi_clusters *c, int at, const double *v, double R[9],
                                double r[3], double speed[3], double turn[3])
{
    LWI_ASSERT_INDEX(at, c->nattached);
    lwi_cluster_attached *attached = &c->attached[at];
    if (attached->cluster < 0) {
        memcpy(R, attached->on_part.R, sizeof attached->on_part.R);
        v3_copy(r, attached->on_part.r);
        v3_set(speed, 0, 0, 0);
        v3_set(turn, 0, 0, 0);
        if (attached->floats >= 0) to_world(&c->base[attached->floats], R, r, speed, turn);
        return;
    }
    const lwi_cluster *cluster = &c->cluster[attached->cluster];
    const lwi_cluster_block *b = &c->block[cluster->block];
    double at_r[3], com[3], place[3], vc[3] = {0}, wb[3] = {0}, w[3], now[9];
    read_pose(b, attached, cluster->lane, attached->R, at_r, com);
    m3_mul_v(place, attached->R, attached->on_step.r);
    v3_sub(attached->arm, place, com);
    for (int j = 0; j < cluster->nx; j++) {
        double cv[3], cw[3];
        if (!(b->shape->step[attached->step].moved_by >> j & 1)) continue;
        read_column(b, attached, cluster->lane, j, cv, cw);
        v3_axpy(vc, v[cluster->iv[j]], cv);
        v3_axpy(wb, v[cluster->iv[j]], cw);
    }
    m3_mul_v(w, attached->R, wb);
    v3_cross_add(vc, w, attached->arm);
    m3_mul_v(speed, attached->base.R, vc);
    m3_mul_v(turn, attached->base.R, w);
    m3_mul(now, attached->R, attached->on_step.R);
    m3_mul(R, attached->base.R, now);
    v3_add(place, place, at_r);
    m3_mul_v(r, attached->base.R, place);
    v3_add(r, r, attached->base.r);
    v3_copy(attached->place, r);
    if (attached->floats >= 0) to_world(&c->base[attached->floats], R, r, speed, turn);
}

// Adds a wrench at a point of a floating base (link axes) to the load on the base.
static void load_base(lwi_cluster_base *base, const double r[3], const double f[3],
                      const double n[3])
{
    double snapshot[3], own[3];
    v3_copy(snapshot, n);
    v3_cross_add(snapshot, r, f);
    m3_tmul_v(own, base->axes, f);
    v3_sub(base->e, base->e, own);
    m3_tmul_v(own, base->axes, snapshot);
    v3_sub(base->e + 3, base->e + 3, own);
}

void lwi_clusters_load_attached(const lwi_clusters *c, int at, const double wrench[6])
{
    const lwi_cluster_attached *attached = &c->attached[at];
    double force[3], snapshot[3], f[3], n[3], own[3];
    v3_copy(force, wrench);
    v3_copy(snapshot, wrench + 3);
    if (attached->floats >= 0) {
        lwi_cluster_base *base = &c->base[attached->floats];
        m3_tmul_v(force, base->link.R, wrench);
        m3_tmul_v(snapshot, base->link.R, wrench + 3);
        load_base(base, attached->cluster < 0 ? attached->on_part.r : attached->place, force,
                  snapshot);
    }
    if (attached->cluster < 0) return;
    const lwi_cluster *cluster = &c->cluster[attached->cluster];
    const lwi_cluster_block *b = &c->block[cluster->block];
    m3_tmul_v(f, attached->base.R, force);
    m3_tmul_v(n, attached->base.R, snapshot);
    v3_cross_add(n, attached->arm, f);
    m3_tmul_v(own, attached->R, n);
    for (int j = 0; j < cluster->nx; j++) {
        double v[3], w[3];
        if (!(b->shape->step[attached->step].moved_by >> j & 1)) continue;
        read_column(b, attached, cluster->lane, j, v, w);
        b->f[j][cluster->lane] -= v3_dot(v, f) + v3_dot(w, own);
    }
}

// ------------------------------------------------------------------------------------------ drives

// Reactions do no work, so the power of the drives is that of the forces that do not balance the inertia:
// P = sum of x.'(M x.. + f) over all clusters.
double lwi_clusters_drive_power(const lwi_clusters *c, const double *v, const double *vdot,
                                const double *effort)
{
    double power = 0;
    for (int n = 0; n < c->ncluster; n++) {
        const lwi_cluster *cluster = &c->cluster[n];
        for (int i = 0; i < cluster->nx; i++) {
            double force = cluster->f[i * LWI_LANES];
            for (int k = 0; k < 6 && cluster->base >= 0; k++)
                force += cluster->B[(6 * i + k) * LWI_LANES] * c->base[cluster->base].A[k];
            for (int j = 0; j < cluster->nx; j++) {
                const int row = i > j ? i : j, column = i > j ? j : i;
                force +=
                    cluster->M[(row * (row + 1) / 2 + column) * LWI_LANES] * vdot[cluster->iv[j]];
            }
            power += force * v[cluster->iv[i]];
        }
    }
    for (int i = c->nfree; i < c->nv; i++) power -= effort[i - c->nfree] * v[i];
    return power;
}

// ------------------------------------------------------------------------------------------ rotors
//
// An inertia I on coordinate z.. = e x.. + kappa, with e a row of 1 or of K:  M += e' I e,  f += e' I kappa.

void lwi_clusters_rotors(const lwi_clusters *c)
{
    for (int n = 0; n < c->nrotor; n++) {
        const lwi_cluster_rotor *rotor = &c->rotor[n];
        const lwi_cluster *cluster = &c->cluster[rotor->cluster];
        const int l = cluster->lane, nx = cluster->nx, y = rotor->z - nx;
        const lwi_cluster_block *b = &c->block[cluster->block];
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
        const lwi_cluster *cluster = &c->cluster[rotor->cluster];
        const int l = cluster->lane, nx = cluster->nx, y = rotor->z - nx;
        const lwi_cluster_block *b = &c->block[cluster->block];
        for (int j = 0; j < nx && y >= 0; j++)
            b->f[j][l] += rotor->inertia * b->K[y * nx + j][l] * b->k[y][l];
    }
}

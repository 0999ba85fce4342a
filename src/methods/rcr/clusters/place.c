// place.c -- frames of the steps with cheap rotations, shapes, lanes.
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"
#include "methods/rcr/clusters/shapes.h"

#include "spatial/rotation.h"

#include <stdlib.h>

typedef lwi_cluster_draft draft;

// ------------------------------------------------------------------------------------------ memory

void *lwi_clusters_push(lwi_clusters *c, size_t count, size_t size)
{
    const size_t bytes = (count * size + 63) / 64 * 64;
    LWI_ASSERT(c->used % 64 == 0 && c->used <= c->room);
    if (c->used + bytes > c->room) return NULL;
    void *at = c->pool + c->used;
    c->used += bytes;
    memset(at, 0, bytes);
    return at;
}

static size_t lanes_of(const lwi_cluster_shape *s)
{
    const size_t nx = (size_t)s->nx, ny = (size_t)s->ny;
    const size_t floating = s->floats ? 6 * nx + LWI_CLUSTER_SPATIAL + 6 : 0;
    return ny * (ny + 1) / 2 + ny * nx + ny + nx * (nx + 1) / 2 + nx + (size_t)s->nrate + floating;
}

static size_t levers_of(const lwi_cluster_shape *s)
{
    size_t n = 0;
    for (int g = 0; g < s->nclosing; g++) n += s->closing[g].n;
    return n;
}

size_t lwi_clusters_block_bytes(const lwi_cluster_shape *s)
{
    const size_t nz = (size_t)s->nstep, nclosing = (size_t)s->nclosing, nrate = (size_t)s->nrate;
    return nz * (sizeof(lwi_cluster_link) + sizeof(lwi_cluster_pose) + 2 * sizeof(lwi_lanes)) +
           2 * levers_of(s) * sizeof(lwi_lanes[3]) +
           nclosing * (sizeof(lwi_cluster_ends) + sizeof(lwi_cluster_closed)) +
           sizeof(lwi_cluster_constants) + (size_t)(s->nbody * s->nx) * sizeof(lwi_cluster_column) +
           (2 * nz + 1 + nrate) * sizeof(int32_t[LWI_LANES]) + lanes_of(s) * sizeof(lwi_lanes) +
           64 * 15;
}

// ------------------------------------------------------------------------------------------ frames

static int step_of(const draft *d, int part)
{
    for (int i = 0; i < d->n; i++)
        if (d->part[i] == part) return i;
    return -1;
}

// Reverses frames of reversed joints: z along the motion of a positive speed.
static void flip(const lwi_k_part *part, lwi_k_frame *f)
{
    static const lwi_k_frame half = {{1, 0, 0, 0, -1, 0, 0, 0, -1}, {0, 0, 0}};
    if (part->sign < 0) lwi_k_compose(f, f, &half);
}

// From the frame of the parts on the base to the base axes of the cluster.
static void from_base_parent(lwi_k_frame *f, const draft *d)
{
    m3_transpose(f->R, d->base.R);
    m3_mul_v(f->r, f->R, d->base.r);
    v3_scale(f->r, -1, f->r);
}

// Frame of step i before its motion in the parent's part frame (base: in its axes), both reversed
// if need be.
static void inboard(const lwi_clusters *c, const draft *d, int i, lwi_k_frame *f)
{
    const lwi_k_part *part = &c->parts.part[d->part[i]];
    *f = part->in;
    flip(part, f);
    lwi_k_frame back = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    if (d->shape.step[i].parent < 0)
        from_base_parent(&back, d);
    else
        flip(&c->parts.part[part->parent], &back); // its own inverse
    lwi_k_compose(f, &back, f);
}

// Angle of x on the common normal with the axis of the first step on p that is not parallel.
static double common_normal_angle(const lwi_clusters *c, const draft *d, int p)
{
    for (int i = 0; i < d->n; i++) {
        lwi_k_frame f;
        if (d->shape.step[i].parent != p) continue;
        inboard(c, d, i, &f);
        if (hypot(f.R[2], f.R[5]) > lwi_clusters_parallel) return atan2(f.R[2], -f.R[5]);
    }
    return 0;
}

// f := a rotation about z, then f.
static void rotate_frame(lwi_k_frame *f, double angle)
{
    const double c = cos(angle), s = sin(angle), x = f->r[0], y = f->r[1];
    for (int k = 0; k < 3; k++) {
        const double along = f->R[k], across = f->R[3 + k];
        f->R[k] = c * along - s * across;
        f->R[3 + k] = s * along + c * across;
    }
    f->r[0] = c * x - s * y;
    f->r[1] = s * x + c * y;
}

// Orientation of a step in its parent; rotations about its own axis are added to its angle.
static void set_step_frame(const lwi_clusters *c, draft *d, int i)
{
    static const double square[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    lwi_cluster_step *step = &d->shape.step[i];
    lwi_k_frame *f = &d->in[i];
    inboard(c, d, i, f);
    if (step->parent >= 0) rotate_frame(f, -d->phi[step->parent]);
    const bool same = step->ball ? abs(step->ball) > 1
                                 : hypot(f->R[2], f->R[5]) <= lwi_clusters_parallel && f->R[8] > 0;
    const bool right = !step->ball && fabs(f->R[8]) <= lwi_clusters_parallel &&
                       fabs(f->R[2]) <= lwi_clusters_parallel && f->R[5] < 0;
    step->axes = (int8_t)(same ? LWI_CLUSTER_SAME : right ? LWI_CLUSTER_SQUARE : LWI_CLUSTER_ANY);
    double psi = 0, T[9];
    if (same) psi = atan2(f->R[3], f->R[0]);
    if (right) {
        m3_tmul(T, square, f->R);
        psi = atan2(T[3], T[0]);
    }
    d->phi[i] = step->ball ? 0 : common_normal_angle(c, d, i); // of a ball: by its quaternion
    if (!step->turn) { // without rotation: compensated by phi
        d->phi[i] = -psi;
        if (step->axes == LWI_CLUSTER_ANY) d->phi[i] = 0;
    }
    d->angle[i] = psi + d->phi[i];
    if (i == 0 && d->on < 0) v3_set(f->r, 0, 0, 0); // zero up to rounding
    step->has_offset = v3_norm(f->r) > 0 || step->slide;
}

void lwi_clusters_set_frames(const lwi_clusters *c, draft *d)
{
    d->on = c->base_of[d->part[0]];
    LWI_ASSERT(d->on < c->nbase);
    d->shape.floats = d->on >= 0;
    d->base = c->parts.part[d->part[0]].in;
    flip(&c->parts.part[d->part[0]], &d->base);
    if (d->on >= 0) { // all clusters of a base have its axes
        memcpy(d->base.R, c->base[d->on].axes, sizeof d->base.R);
        v3_set(d->base.r, 0, 0, 0);
    }
    for (int i = 0; i < d->n; i++) {
        const lwi_k_part *part = &c->parts.part[d->part[i]];
        lwi_cluster_step *step = &d->shape.step[i];
        step->parent = (int8_t)step_of(d, part->parent);
        LWI_ASSERT(step->parent < i);
        step->turn = part->turn != 0;
        step->slide = part->slide != 0;
        step->ball = (int8_t)part->axis_of_ball;
    }
    for (int i = 0; i < d->n; i++) set_step_frame(c, d, i);
}

lwi_k_frame lwi_clusters_raw(const lwi_clusters *c, const draft *d, int i)
{
    lwi_k_frame raw = {.r = {0, 0, 0}};
    rot_z(raw.R, cos(d->phi[i]), -sin(d->phi[i]));
    flip(&c->parts.part[d->part[i]], &raw);
    return raw;
}

// True if the axis of step i is parallel to that of closing joint g.  along: by side, the axis of the joint is the z axis of
// its body.
static bool is_parallel(const draft *d, int g, int i, const bool along[2])
{
    const lwi_cluster_shape *s = &d->shape;
    const int side = s->step[i].side[g] > 0;
    if (!along[side] || s->step[i].ball) return false;
    for (int p = s->closing[g].close[side]; p != i; p = s->step[p].parent)
        if (p < 0 || s->step[p].axes != LWI_CLUSTER_SAME || s->step[p].ball) return false;
    return true;
}

int lwi_clusters_side(const lwi_cluster_loop *loop, int p)
{
    for (int i = 0; i < loop->n; i++)
        if (loop->part[i] == p) return loop->side[i];
    return 0;
}

static void close_loop(const lwi_clusters *c, draft *d, int g, lwi_cluster_draft_end *at)
{
    lwi_cluster_shape *s = &d->shape;
    lwi_cluster_closing *to = &s->closing[g];
    const lwi_cluster_loop *loop = d->loop[g];
    bool along[2];
    to->kind = (int8_t)loop->kind;
    to->rate = (uint8_t)s->nrate;
    s->nrate += loop->kind == LWI_CLUSTER_UNIVERSAL ? 2 : loop->kind == LWI_CLUSTER_HINGE;
    for (int side = 0; side < 2; side++) {
        lwi_k_frame back;
        const int p = step_of(d, loop->end[side]);
        to->close[side] = (int8_t)p;
        if (p < 0)
            from_base_parent(&back, d);
        else
            back = lwi_clusters_raw(c, d, p);
        m3_mul_v(at->P[side], back.R, loop->P[side]);
        v3_add(at->P[side], at->P[side], back.r);
        m3_mul_v(at->z[side], back.R, loop->z[side]);
        m3_mul_v(at->x[side], back.R, loop->x[side]);
        along[side] = hypot(at->z[side][0], at->z[side][1]) <= lwi_clusters_parallel;
    }
    to->along = along[1] || loop->kind == LWI_CLUSTER_BALL; // the axis of a ball is not used
    to->at_rest = loop->kind != LWI_CLUSTER_HINGE && d->on < 0;
    for (int i = 0; i < loop->n; i++) to->at_rest = to->at_rest && loop->side[i];
    s->planar = s->planar &&
                (loop->kind == LWI_CLUSTER_BALL || (loop->kind == LWI_CLUSTER_HINGE && along[1]));
    for (int i = 0; i < d->n; i++) {
        lwi_cluster_step *step = &s->step[i];
        const int side = lwi_clusters_side(loop, d->part[i]);
        step->side[g] = (int8_t)side;
        if (!side || !step->turn || loop->kind == LWI_CLUSTER_BALL) continue;
        if (loop->kind != LWI_CLUSTER_HINGE || !is_parallel(d, g, i, along)) {
            step->oblique = (uint8_t)(step->oblique | 1u << g);
            s->planar = false;
        }
    }
}

// The steps of each loop, the dependent ones first, in the order of their coordinates.
static void set_paths(lwi_cluster_shape *s)
{
    int total = 0;
    for (int g = 0; g < s->nclosing; g++) {
        lwi_cluster_closing *to = &s->closing[g];
        to->first = (uint8_t)total;
        for (int at = 0; at < s->nstep; at++) {
            const int z = (at + s->nx) % s->nstep; // y, then x
            for (int n = 0; n < s->nstep; n++)
                if (s->step[n].at == z && s->step[n].side[g]) {
                    to->at[to->n] = (uint8_t)z;
                    to->oblique |= (uint16_t)((s->step[n].oblique >> g & 1) << to->n);
                    to->path[to->n++] = (uint8_t)n;
                }
            if (z >= s->nx) to->ny = to->n;
        }
        total += to->n;
    }
}

static void set_pattern(lwi_cluster_shape *s)
{
    int loops[LWI_CLUSTER_DEPENDENT] = {0}, loop[LWI_CLUSTER_DEPENDENT] = {0};
    for (int i = 0; i < s->ny; i++) s->first[i] = (uint8_t)i;
    for (int g = 0; g < s->nclosing; g++)
        for (int k = 0; k < s->closing[g].ny; k++) {
            const int i = s->closing[g].at[k] - s->nx;
            const int first = s->closing[g].at[0] - s->nx; // they are sorted
            if (first < s->first[i]) s->first[i] = (uint8_t)first;
            loops[i]++, loop[i] = g;
        }
    while (s->nclosing > 1 && s->separate < s->ny && loops[s->separate] == 1) s->separate++;
    for (int i = s->separate - 1; i >= 0; i--)
        s->end[i] =
            i + 1 < s->separate && loop[i + 1] == loop[i] ? s->end[i + 1] : (uint8_t)(i + 1);
}

void lwi_clusters_close(const lwi_clusters *c, draft *d, lwi_cluster_draft_end *at)
{
    d->shape.nclosing = d->nloop;
    if (d->nloop > 1) d->shape.planar = false; // kernels in the plane are for one closing point
    for (int g = 0; g < d->nloop; g++) close_loop(c, d, g, &at[g]);
    set_paths(&d->shape);
    set_pattern(&d->shape);
}

static void set_link(const lwi_clusters *c, const draft *d, int i, lwi_cluster_link *link, int l)
{
    const lwi_k_part *part = &c->parts.part[d->part[i]];
    for (int k = 0; k < 9; k++) link->X[k][l] = d->in[i].R[k];
    for (int k = 0; k < 3; k++) link->r[k][l] = d->in[i].r[k];
    link->angle[l] = d->angle[i];
    link->slide[l] = part->slide;
    link->m[l] = part->m;
    if (d->shape.step[i].body < 0) return;
    const lwi_k_frame raw = lwi_clusters_raw(c, d, i);
    double h[3], J[6], com[3], back[6] = {0};
    m3_mul_v(h, raw.R, part->h);
    s3_rotate(J, raw.R, part->J);
    v3_scale(com, part->m > 0 ? 1 / part->m : 0, h);
    s3_add_point(back, part->m, com);
    for (int k = 0; k < 3; k++) link->c[k][l] = com[k];
    for (int k = 0; k < 6; k++) link->J[k][l] = J[k] - back[k];
}

static void set_lane(const lwi_clusters *c, const draft *d, const lwi_cluster *cluster,
                     const lwi_cluster_block *b, const lwi_cluster_draft_end *at, int l)
{
    lwi_cluster_constants *constants = (lwi_cluster_constants *)b->constants;
    double gravity[3];
    m3_tmul_v(gravity, d->base.R, c->gravity);
    for (int k = 0; k < 3; k++) constants->minus_gravity[k][l] = d->on < 0 ? -gravity[k] : 0;
    for (int g = 0; g < d->shape.nclosing; g++) {
        lwi_cluster_ends *ends = (lwi_cluster_ends *)&b->ends[g];
        const int rate = d->shape.closing[g].rate;
        const int end = g + 1 < d->shape.nclosing ? d->shape.closing[g + 1].rate : d->shape.nrate;
        for (int i = rate; i < end; i++) b->rate_at[i][l] = d->loop[g]->rate_at + i - rate;
        for (int k = 0; k < 6; k++) {
            ends->P[k / 3][k % 3][l] = at[g].P[k / 3][k % 3];
            ends->z[k / 3][k % 3][l] = at[g].z[k / 3][k % 3];
            ends->x[k / 3][k % 3][l] = at[g].x[k / 3][k % 3];
        }
    }
    for (int i = 0; i < d->n; i++) {
        set_link(c, d, i, (lwi_cluster_link *)&b->link[i], l);
        LWI_ASSERT_INDEX(cluster->iv[i], c->nv);
        const double size = c->scale[cluster->iv[i]] * c->scale[cluster->iv[i]];
        ((lwi_lanes *)b->size)[i][l] = size;
        ((lwi_lanes *)b->inverse)[i][l] = size > 0 ? 1 / size : 0;
        b->iv[i][l] = cluster->iv[i];
        b->at_base_motion[l] = d->on < 0 ? 0 : LWI_CLUSTER_BASE_MOTION * d->on;
        b->iq[d->shape.step[i].at][l] = c->parts.part[d->part[i]].iq;
    }
}

static void repeat_numbers(size_t n, lwi_lanes *a)
{
    for (size_t i = 0; i < n; i++)
        for (int l = 1; l < LWI_LANES; l++) a[i][l] = a[i][0];
}

static void repeat_indices(int n, int32_t (*a)[LWI_LANES])
{
    for (int i = 0; i < n; i++)
        for (int l = 1; l < LWI_LANES; l++) a[i][l] = a[i][0];
}

// Lanes without a cluster repeat the first one.
static void repeat_first_lane(const lwi_cluster_block *b)
{
    const lwi_cluster_shape *s = b->shape;
    const size_t nz = (size_t)s->nstep, lane = sizeof(lwi_lanes);
    repeat_numbers(sizeof *b->constants / lane, (lwi_lanes *)b->constants);
    repeat_numbers((size_t)s->nclosing * sizeof *b->ends / lane, (lwi_lanes *)b->ends);
    repeat_numbers(nz * sizeof *b->link / lane, (lwi_lanes *)b->link);
    repeat_numbers(nz, (lwi_lanes *)b->size);
    repeat_numbers(nz, (lwi_lanes *)b->inverse);
    repeat_indices(s->nstep, b->iv);
    repeat_indices(s->nstep, b->iq);
    repeat_indices(s->nrate, b->rate_at);
    for (int l = 1; l < LWI_LANES; l++) b->at_base_motion[l] = b->at_base_motion[0];
}

static bool create_block(lwi_clusters *c, const lwi_cluster_shape *s, lwi_cluster_block *b)
{
    const size_t nx = (size_t)s->nx, ny = (size_t)s->ny, nz = (size_t)s->nstep;
    const size_t nclosing = (size_t)s->nclosing, nrate = (size_t)s->nrate;
    *b = (lwi_cluster_block){.shape = s, .variant = -1, .base = -1};
    for (int i = 0; i < LWI_COUNT(lwi_cluster_shapes); i++)
        if (memcmp(lwi_cluster_shapes[i], s, sizeof *s) == 0) b->variant = i;
    b->link = lwi_clusters_push(c, nz, sizeof *b->link);
    b->constants = lwi_clusters_push(c, 1, sizeof *b->constants);
    b->ends = lwi_clusters_push(c, nclosing, sizeof *b->ends);
    b->size = lwi_clusters_push(c, nz, sizeof *b->size);
    b->inverse = lwi_clusters_push(c, nz, sizeof *b->inverse);
    b->closed = lwi_clusters_push(c, nclosing, sizeof *b->closed);
    b->pose = lwi_clusters_push(c, nz, sizeof *b->pose);
    b->lever = lwi_clusters_push(c, 2 * levers_of(s), sizeof *b->lever);
    b->column = lwi_clusters_push(c, (size_t)s->nbody * nx, sizeof *b->column);
    b->iq = lwi_clusters_push(c, nz, sizeof *b->iq);
    b->iv = lwi_clusters_push(c, nz, sizeof *b->iv);
    b->rate_at = lwi_clusters_push(c, nrate, sizeof *b->rate_at);
    b->at_base_motion = lwi_clusters_push(c, LWI_LANES, sizeof *b->at_base_motion);
    lwi_lanes *all = lwi_clusters_push(c, lanes_of(s), sizeof *all);
    if (!b->link || !b->constants || !b->size || !b->inverse || !b->ends || !b->closed ||
        !b->pose || !b->lever || !b->column || !b->iq || !b->iv || !b->rate_at ||
        !b->at_base_motion || !all)
        return false;
    b->turn = b->lever + levers_of(s);
    b->factor = all, all += ny * (ny + 1) / 2;
    b->K = all, all += ny * nx;
    b->k = all, all += ny;
    b->M = all, all += nx * (nx + 1) / 2;
    b->f = all, all += nx;
    b->rate = all, all += nrate;
    if (!s->floats) return true;
    b->base_motion = c->base_motion[0].w;
    b->B = all, all += 6 * nx;
    b->C = all, all += LWI_CLUSTER_SPATIAL;
    b->h = all;
    LWI_ASSERT((unsigned char *)(all + 6) <= c->pool + c->used);
    return true;
}

// Where a constant shape has hinges with axes of any orientation and is equal else, these are of any orientation here too.
static void generalise_axes(draft *d)
{
    for (int i = 0; i < LWI_COUNT(lwi_cluster_shapes); i++) {
        const lwi_cluster_shape *to = lwi_cluster_shapes[i];
        lwi_cluster_shape s;
        if (d->shape.nstep != to->nstep) continue;
        memcpy(&s, &d->shape, sizeof s); // padding too: compared as memory
        for (int n = 0; n < s.nstep; n++)
            if (s.step[n].turn && to->step[n].axes == LWI_CLUSTER_ANY)
                s.step[n].axes = LWI_CLUSTER_ANY;
        if (memcmp(&s, to, sizeof s) != 0) continue;
        for (int n = 0; n < s.nstep; n++) {
            if (d->shape.step[n].axes == s.step[n].axes) continue;
            d->shape.step[n].axes = LWI_CLUSTER_ANY;
            d->angle[n] = d->phi[n]; // the rest is in its frame
        }
    }
}

// A lane among clusters of the same shape.
bool lwi_clusters_place(lwi_clusters *c, draft *d, lwi_cluster *cluster,
                        const lwi_cluster_draft_end *closing)
{
    generalise_axes(d);
    int shape = 0, at = c->nblock - 1;
    while (shape < c->nshape && memcmp(&c->shape[shape], &d->shape, sizeof d->shape) != 0) shape++;
    if (shape == c->nshape) {
        if (c->nshape == c->max_shapes) return false;
        memcpy(&c->shape[c->nshape++], &d->shape,
               sizeof d->shape); // padding too: compared as memory
    }
    while (at >= 0 && c->block[at].shape != &c->shape[shape]) at--;
    if (at < 0 || c->block[at].count == LWI_LANES) {
        at = c->nblock;
        if (at == c->max_blocks || !create_block(c, &c->shape[shape], &c->block[at])) return false;
        c->nblock++;
    }
    lwi_cluster_block *b = &c->block[at];
    LWI_ASSERT(b->count < LWI_LANES && b->shape == &c->shape[shape]);
    cluster->block = at;
    cluster->lane = b->count++;
    LWI_ASSERT_INDEX(cluster->lane, LWI_LANES);
    set_lane(c, d, cluster, b, closing, cluster->lane);
    if (cluster->lane == 0) repeat_first_lane(b);
    cluster->K = b->K[0] + cluster->lane;
    cluster->k = b->k[0] + cluster->lane;
    cluster->M = b->M[0] + cluster->lane;
    cluster->f = b->f[0] + cluster->lane;
    cluster->sum =
        lwi_clusters_push(c, (size_t)(cluster->nx * (cluster->nx + 3) / 2), sizeof *cluster->sum);
    cluster->base = d->on;
    if (d->on < 0) return cluster->sum != NULL;
    cluster->B = b->B[0] + cluster->lane;
    if (cluster->lane == 0) b->first_base = d->on;
    if (b->first_base != d->on) b->first_base = -1;
    b->base = b->count == LWI_LANES ? b->first_base : -1;
    cluster->base_rows = lwi_clusters_push(c, (size_t)cluster->nx, sizeof *cluster->base_rows);
    return cluster->sum != NULL && cluster->base_rows != NULL;
}

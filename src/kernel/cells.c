// cells.c -- which loops can be cells, and the plan of cells for a partition of the speeds.
//
// A plan is made in three steps:
//   order   bodies that only independent speeds move come first; then, one at a time, the loop with
//           the fewest speeds that are not known yet, which become dependent on the others in it;
//           then what hangs on loops
//   join    the cell that introduced the last of a cell's known coordinates must have them all: so
//           cells are a tree
//   place   frames that make turns cheap, shapes, lanes
#include "kernel/cells_shapes.h"

#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct entry {
    int loop, count, next;
} entry;

typedef struct lwi_cells_scratch {
    int *introduced;   // [nv] cell that has a coordinate first; -1: none yet
    int *first, *list; // loops of each part: list[first[p] .. first[p + 1])
    bool *done;        // [nloop]
    int *count;        // [nloop] speeds that are not known; WAITING: nor those of its base
    entry *entry;      // stacks by count, with entries that are out of date
    int nentry, head[LWI_CELL_STEPS + 1];
} scratch;

enum { WAITING = LWI_CELL_STEPS + 1 };

// ------------------------------------------------------------------------------------------ create

static bool has_cell(const lw_model *model)
{
    if (model->nloop == 0 || model->ncoupling || model->driven) return false;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const lw_joint_type id = joint->type->id;
        if ((id != LW_JOINT_REVOLUTE && id != LW_JOINT_SPHERICAL) || joint->mount.present)
            return false;
    }
    return true;
}

// Parts from the joint's bodies to the ground, those of the loop with a side.
static bool find_path(const lwi_k_part *part, lwi_cell_loop *loop)
{
    int way[2][LWI_CELL_STEPS], n[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int p = loop->end[s]; p >= 0; p = part[p].parent) {
            if (n[s] == LWI_CELL_STEPS) return false;
            way[s][n[s]++] = p;
        }
    // descending lists, merged: what is in both is not in the loop
    int i = 0, j = 0, m = 0;
    int list[2 * LWI_CELL_STEPS];
    int8_t side[2 * LWI_CELL_STEPS];
    while (i < n[0] || j < n[1]) {
        const int a = i < n[0] ? way[0][i] : -1, b = j < n[1] ? way[1][j] : -1;
        list[m] = a > b ? a : b;
        side[m++] = (int8_t)(a == b ? 0 : a > b ? -1 : 1);
        i += a >= b;
        j += b >= a;
    }
    if (m > LWI_CELL_STEPS) return false;
    loop->n = m;
    for (int k = 0; k < m; k++) loop->part[k] = list[m - 1 - k], loop->side[k] = side[m - 1 - k];
    return true;
}

static bool set_loop(const lw_model *model, const lwi_k_parts *parts, int i, lwi_cell_loop *loop)
{
    const lwi_joint *joint = &model->joint[model->loop[i]];
    loop->pin = joint->type->id == LW_JOINT_REVOLUTE;
    for (int s = 0; s < 2; s++) {
        const int k = model->body_node[s ? joint->body2 : joint->body1];
        lwi_k_frame F, body;
        memcpy(F.R, s ? joint->R2 : joint->R1, sizeof F.R);
        v3_copy(F.r, s ? joint->r2 : joint->r1);
        loop->end[s] = k < 0 ? -1 : parts->host[k];
        if (k >= 0) {
            memcpy(body.R, model->node[k].c_R, sizeof body.R);
            v3_copy(body.r, model->node[k].c_r);
            lwi_k_compose(&F, &body, &F);
            lwi_k_compose(&F, &parts->offset[k], &F);
        }
        v3_copy(loop->P, F.r); // that of body 2 in the end
        v3_set(loop->z[s], F.R[2], F.R[5], F.R[8]);
    }
    return find_path(parts->part, loop);
}

static bool list_loops(lwi_cells *c, scratch *s, lwi_arena *arena)
{
    int total = 0;
    for (int i = 0; i < c->nloop; i++) total += c->loop[i].n;
    s->introduced = LWI_PUSH(arena, int, c->nv);
    s->first = LWI_PUSH(arena, int, c->parts.n + 1);
    s->list = LWI_PUSH(arena, int, total);
    s->done = LWI_PUSH(arena, bool, c->nloop);
    s->count = LWI_PUSH(arena, int, c->nloop);
    // one for each loop, one for each of its coordinates that becomes known
    s->entry = LWI_PUSH(arena, entry, c->nloop + total);
    if (!s->introduced || !s->first || !s->list || !s->done || !s->count || !s->entry) return false;
    for (int i = 0; i < c->nloop; i++)
        for (int k = 0; k < c->loop[i].n; k++) s->first[c->loop[i].part[k] + 1]++;
    for (int p = 0; p < c->parts.n; p++) s->first[p + 1] += s->first[p];
    for (int i = c->nloop - 1; i >= 0; i--) // first[p] from the end of its list to the start
        for (int k = 0; k < c->loop[i].n; k++) s->list[--s->first[c->loop[i].part[k] + 1]] = i;
    memmove(s->first, s->first + 1, (size_t)c->parts.n * sizeof *s->first);
    s->first[c->parts.n] = total;
    return true;
}

static size_t lanes_of(const lwi_cell_shape *s)
{
    const size_t nx = (size_t)s->nx, ny = (size_t)s->ny;
    return ny * (ny + 1) / 2 + 6 + ny * nx + ny + nx * (nx + 1) / 2 + nx + 1;
}

static size_t block_bytes(const lwi_cell_shape *s)
{
    const size_t nz = (size_t)s->nstep;
    return nz * (sizeof(lwi_cell_link) + sizeof(lwi_cell_pose)) + sizeof(lwi_cell_whole) +
           (size_t)(s->nbody * s->nx) * sizeof(lwi_cell_column) +
           (2 * nz + 1) * sizeof(int32_t[LWI_LANES]) + lanes_of(s) * sizeof(lwi_lanes) + 64 * 9;
}

// Memory for all partitions but those with many shapes, which are left to the generic text.
static lw_status create_memory(lwi_cells *c, const lw_model *model, lwi_arena *arena)
{
    enum { SHAPES = 24 };
    lwi_cell_shape widest = {0};
    for (int i = 0; i < c->nloop; i++)
        if (c->loop[i].n > widest.nstep) widest.nstep = c->loop[i].n;
    for (int k = 0; k < c->parts.n; k++) { // a body on its own
        int depth = 0;
        for (int p = k; p >= 0 && depth <= LWI_CELL_KNOWN; p = c->parts.part[p].parent) depth++;
        if (depth > widest.nstep) widest.nstep = depth;
    }
    widest.nx = widest.ny = (widest.nstep + 1) / 2; // the largest product
    widest.nbody = widest.nstep;
    c->most_cells = c->nloop + model->nnode;
    c->most_shapes = SHAPES;
    c->most_blocks = c->most_cells / LWI_LANES + SHAPES;
    const size_t sum = LWI_CELL_KNOWN * (LWI_CELL_KNOWN + 1) * sizeof(double) + 64;
    c->room = (size_t)c->most_blocks * block_bytes(&widest) + (size_t)c->most_cells * sum;
    c->unit = LWI_PUSH(arena, lwi_lanes, LWI_CELL_KNOWN * LWI_CELL_KNOWN + 1);
    for (int i = 0; c->unit && i < LWI_CELL_KNOWN; i++) c->unit[i * LWI_CELL_KNOWN + i][0] = 1;
    c->dependent = LWI_PUSH(arena, unsigned char, c->nv);
    c->cell = LWI_PUSH(arena, lwi_cell, c->most_cells);
    c->block = LWI_PUSH(arena, lwi_cell_block, c->most_blocks);
    c->shape = LWI_PUSH(arena, lwi_cell_shape, c->most_shapes);
    c->pool = LWI_PUSH(arena, unsigned char, c->room);
    return c->unit && c->dependent && c->cell && c->block && c->shape && c->pool ? LW_OK
                                                                                 : LW_ERR_MEMORY;
}

lw_status lwi_cells_create(const lw_model *model, double length, const double *scale,
                           const int *carried, lwi_arena *arena, lwi_cells **out)
{
    *out = NULL;
    if (!has_cell(model)) return LW_OK;
    lwi_cells *c = LWI_PUSH(arena, lwi_cells, 1);
    if (!c) return LW_ERR_MEMORY;
    *c = (lwi_cells){.nloop = model->nloop,
                     .nv = model->tree_nv,
                     .scale = scale,
                     .per_length2 = 1 / (length * length),
                     .loop = LWI_PUSH(arena, lwi_cell_loop, model->nloop),
                     .node_of = LWI_PUSH(arena, int, model->tree_nv),
                     .scratch = LWI_PUSH(arena, scratch, 1)};
    if (!c->loop || !c->node_of || !c->scratch) return LW_ERR_MEMORY;
    v3_copy(c->gravity, model->gravity);
    TRY(lwi_k_parts_create(model, arena, &c->parts));
    if (c->parts.n < 1) return LW_OK;
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv; j++) c->node_of[model->node[k].iv + j] = k;
    for (int i = 0; i < c->nloop; i++) {
        c->loop[i].carried = carried[i];
        if (!set_loop(model, &c->parts, i, &c->loop[i])) return LW_OK;
    }
    if (!list_loops(c, c->scratch, arena)) return LW_ERR_MEMORY;
    TRY(create_memory(c, model, arena));
    *out = c;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- place

static void *take(lwi_cells *c, size_t count, size_t size)
{
    const size_t bytes = (count * size + 63) / 64 * 64;
    if (c->used + bytes > c->room) return NULL;
    void *at = c->pool + c->used;
    c->used += bytes;
    memset(at, 0, bytes);
    return at;
}

// A cell while it is put together.
typedef struct draft {
    int n, part[LWI_CELL_STEPS];
    const lwi_cell_loop *loop; // NULL: a body on its own
    lwi_cell_shape shape;
    lwi_k_frame base;               // base -> world: that of the first step before its motion
    double phi[LWI_CELL_STEPS];     // frame -> raw frame of the part: turn about z
    lwi_k_frame in[LWI_CELL_STEPS]; // frame before its own motion in the parent's
    double angle[LWI_CELL_STEPS];
} draft;

// Below this axes are parallel to round-off, as in the normal form of trees.
static const double parallel = 16 * DBL_EPSILON;

static int step_of(const draft *d, int part)
{
    for (int i = 0; i < d->n; i++)
        if (d->part[i] == part) return i;
    return -1;
}

// Turns frames that the tree passes backwards: z along the motion of a positive speed.
static void flip(const lwi_k_part *part, lwi_k_frame *f)
{
    static const lwi_k_frame half = {{1, 0, 0, 0, -1, 0, 0, 0, -1}, {0, 0, 0}};
    if (part->sign < 0) lwi_k_compose(f, f, &half);
}

static void from_world(lwi_k_frame *f, const draft *d)
{
    m3_transpose(f->R, d->base.R);
    m3_mul_v(f->r, f->R, d->base.r);
    v3_scale(f->r, -1, f->r);
}

// Frame of step i before its motion in the parent's raw one (ground: in base axes), both flipped.
static void inboard(const lwi_cells *c, const draft *d, int i, lwi_k_frame *f)
{
    const lwi_k_part *part = &c->parts.part[d->part[i]];
    *f = part->in;
    flip(part, f);
    lwi_k_frame back = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    if (part->parent < 0)
        from_world(&back, d);
    else
        flip(&c->parts.part[part->parent], &back); // its own inverse
    lwi_k_compose(f, &back, f);
}

// The first step on p whose axis is not parallel to its own wants x on their common normal.
static double wanted(const lwi_cells *c, const draft *d, int p)
{
    for (int i = 0; i < d->n; i++) {
        lwi_k_frame f;
        if (d->shape.step[i].parent != p) continue;
        inboard(c, d, i, &f);
        if (hypot(f.R[2], f.R[5]) > parallel) return atan2(f.R[2], -f.R[5]);
    }
    return 0;
}

static void turn_frame(lwi_k_frame *f, double before, double after)
{
    lwi_k_frame a = {{0}, {0, 0, 0}}, b = a;
    rot_z(a.R, cos(before), sin(before));
    rot_z(b.R, cos(after), sin(after));
    lwi_k_compose(f, f, &b);
    lwi_k_compose(f, &a, f);
}

// How a step stands to its parent; what turns about its own axis joins its angle.
static void settle(const lwi_cells *c, draft *d, int i)
{
    static const double square[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    lwi_cell_step *step = &d->shape.step[i];
    lwi_k_frame *f = &d->in[i];
    inboard(c, d, i, f);
    turn_frame(f, step->parent < 0 ? 0 : -d->phi[step->parent], 0);
    const bool same = hypot(f->R[2], f->R[5]) <= parallel && f->R[8] > 0;
    const bool right = fabs(f->R[8]) <= parallel && fabs(f->R[2]) <= parallel && f->R[5] < 0;
    step->axes = (int8_t)(same ? LWI_CELL_SAME : right ? LWI_CELL_SQUARE : LWI_CELL_ANY);
    double psi = 0, T[9];
    if (same) psi = atan2(f->R[3], f->R[0]);
    if (right) {
        m3_tmul(T, square, f->R);
        psi = atan2(T[3], T[0]);
    }
    d->phi[i] = wanted(c, d, i);
    if (!step->turn) { // cannot turn back
        d->phi[i] = -psi;
        if (step->axes == LWI_CELL_ANY) d->phi[i] = 0;
    }
    d->angle[i] = psi + d->phi[i];
    if (i == 0) v3_set(f->r, 0, 0, 0); // but for rounding
    step->away = v3_norm(f->r) > 0 || step->slide;
}

// Is the axis of step i parallel to that of the joint that closes its side?  along: whether the end
// of that side has an axis that is.
static bool is_parallel(const draft *d, int i, const bool along[2])
{
    const lwi_cell_shape *s = &d->shape;
    const int side = d->loop->side[i] > 0;
    if (!along[side]) return false;
    for (int p = s->close[side]; p != i; p = s->step[p].parent)
        if (p < 0 || s->step[p].axes != LWI_CELL_SAME) return false;
    return true;
}

// Closing point and axis in the frame of body 2.
static void set_closure(const lwi_cells *c, draft *d, double P[3], double z[3])
{
    lwi_cell_shape *s = &d->shape;
    const lwi_cell_loop *loop = d->loop;
    bool along[2];
    s->closed = true;
    s->pin = loop->pin;
    for (int side = 0; side < 2; side++) {
        lwi_k_frame back = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
        const int p = s->close[side] = (int)step_of(d, loop->end[side]);
        if (p < 0) {
            from_world(&back, d);
        } else {
            flip(&c->parts.part[loop->end[side]], &back);
            turn_frame(&back, -d->phi[p], 0);
        }
        m3_mul_v(P, back.R, loop->P);
        v3_add(P, P, back.r);
        m3_mul_v(z, back.R, loop->z[side]);
        along[side] = hypot(z[0], z[1]) <= parallel;
    }
    s->along = along[1];
    s->flat = s->flat && (along[1] || !loop->pin);
    for (int i = 0; i < d->n; i++) {
        s->step[i].side = loop->side[i];
        s->step[i].tilts =
            loop->pin && loop->side[i] && s->step[i].turn && !is_parallel(d, i, along);
        s->flat = s->flat && !s->step[i].tilts;
    }
}

static void set_link(const lwi_cells *c, const draft *d, int i, lwi_cell_link *link, int l)
{
    const lwi_k_part *part = &c->parts.part[d->part[i]];
    for (int k = 0; k < 9; k++) link->X[k][l] = d->in[i].R[k];
    for (int k = 0; k < 3; k++) link->r[k][l] = d->in[i].r[k];
    link->angle[l] = d->angle[i];
    link->slide[l] = part->slide;
    link->m[l] = part->m;
    if (d->shape.step[i].body < 0) return;
    lwi_k_frame raw = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    double h[3], J[6], com[3], back[6] = {0};
    flip(part, &raw);
    turn_frame(&raw, -d->phi[i], 0);
    m3_mul_v(h, raw.R, part->h);
    s3_rotate(J, raw.R, part->J);
    v3_scale(com, 1 / part->m, h);
    s3_add_point(back, part->m, com);
    for (int k = 0; k < 3; k++) link->c[k][l] = com[k];
    for (int k = 0; k < 6; k++) link->J[k][l] = J[k] - back[k];
}

static void set_lane(const lwi_cells *c, const draft *d, const lwi_cell *cell,
                     const lwi_cell_block *b, const double P[3], const double z[3], int l)
{
    lwi_cell_whole *whole = (lwi_cell_whole *)b->whole;
    double fall[3];
    m3_tmul_v(fall, d->base.R, c->gravity);
    for (int k = 0; k < 3; k++) {
        whole->fall[k][l] = -fall[k];
        whole->P[k][l] = P[k];
        whole->z[k][l] = z[k];
    }
    for (int i = 0; i < d->n; i++) {
        set_link(c, d, i, (lwi_cell_link *)&b->link[i], l);
        const double size = c->scale[cell->iv[i]] * c->scale[cell->iv[i]];
        whole->size[i][l] = size;
        whole->inverse[i][l] = 1 / size;
        b->iv[i][l] = cell->iv[i];
        b->iq[d->shape.step[i].at][l] = c->parts.part[d->part[i]].iq;
    }
}

static bool create_block(lwi_cells *c, const lwi_cell_shape *s, lwi_cell_block *b)
{
    const size_t nx = (size_t)s->nx, ny = (size_t)s->ny, nz = (size_t)s->nstep;
    *b = (lwi_cell_block){.shape = s, .text = -1};
    for (int i = 0; i < LWI_COUNT(lwi_cell_shapes); i++)
        if (memcmp(lwi_cell_shapes[i], s, sizeof *s) == 0) b->text = i;
    b->link = take(c, nz, sizeof *b->link);
    b->whole = take(c, 1, sizeof *b->whole);
    b->pose = take(c, nz, sizeof *b->pose);
    b->column = take(c, (size_t)s->nbody * nx, sizeof *b->column);
    b->iq = take(c, nz, sizeof *b->iq);
    b->iv = take(c, nz, sizeof *b->iv);
    b->carried = take(c, LWI_LANES, sizeof *b->carried);
    lwi_lanes *all = take(c, lanes_of(s), sizeof *all);
    if (!b->link || !b->whole || !b->pose || !b->column || !b->iq || !b->iv || !b->carried || !all)
        return false;
    for (int l = 0; l < LWI_LANES; l++) b->carried[l] = -1;
    b->factor = all, all += ny * (ny + 1) / 2;
    b->P = all, all += 3;
    b->z = all, all += 3;
    b->K = all, all += ny * nx;
    b->k = all, all += ny;
    b->M = all, all += nx * (nx + 1) / 2;
    b->f = all, all += nx;
    b->rate = all;
    return true;
}

// A lane among cells of the same shape.
static bool place(lwi_cells *c, const draft *d, lwi_cell *cell, const double P[3],
                  const double z[3])
{
    int shape = 0, at = c->nblock - 1;
    while (shape < c->nshape && memcmp(&c->shape[shape], &d->shape, sizeof d->shape) != 0) shape++;
    if (shape == c->nshape) {
        if (c->nshape == c->most_shapes) return false;
        memcpy(&c->shape[c->nshape++], &d->shape, sizeof d->shape); // padding too
    }
    while (at >= 0 && c->block[at].shape != &c->shape[shape]) at--;
    if (at < 0 || c->block[at].count == LWI_LANES) {
        at = c->nblock;
        if (at == c->most_blocks || !create_block(c, &c->shape[shape], &c->block[at])) return false;
        c->nblock++;
        for (int l = 1; l < LWI_LANES; l++) set_lane(c, d, cell, &c->block[at], P, z, l);
    }
    lwi_cell_block *b = &c->block[at];
    cell->block = at;
    cell->lane = b->count++;
    set_lane(c, d, cell, b, P, z, cell->lane);
    for (int l = cell->lane; d->loop && l < (cell->lane ? cell->lane + 1 : LWI_LANES); l++)
        b->carried[l] = d->loop->carried; // padding repeats the first
    cell->K = b->K[0] + cell->lane;
    cell->k = b->k[0] + cell->lane;
    cell->M = b->M[0] + cell->lane;
    cell->f = b->f[0] + cell->lane;
    cell->sum = take(c, (size_t)(cell->nx * (cell->nx + 3) / 2), sizeof *cell->sum);
    return cell->sum != NULL;
}

// -------------------------------------------------------------------------------------------- join

// Coordinates: those of cells before it, its own independent ones, dependent ones.
static bool sort_coordinates(const lwi_cells *c, draft *d, lwi_cell *cell)
{
    const int *introduced = c->scratch->introduced;
    int at = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < d->n; i++) {
            const int iv = c->parts.part[d->part[i]].iv;
            const int class = introduced[iv] >= 0 ? 0 : c->dependent[iv] ? 2 : 1;
            if (class != pass) continue;
            cell->iv[at] = iv;
            d->shape.step[i].at = (int8_t)at++;
        }
        if (pass == 0) d->shape.na = at;
        if (pass == 1) d->shape.nx = at;
    }
    d->shape.ny = at - d->shape.nx;
    d->shape.nstep = at;
    cell->na = (int8_t)d->shape.na;
    cell->nx = (int8_t)d->shape.nx;
    cell->ny = (int8_t)d->shape.ny;
    return d->shape.nx <= LWI_CELL_KNOWN && d->shape.ny <= LWI_CELL_DEPENDENT;
}

// The cell that the coordinates `a` come from.  Nothing passes between where the cell adds none.
static bool find_parent(const lwi_cells *c, lwi_cell *cell)
{
    const int *introduced = c->scratch->introduced;
    int at = -1;
    for (int i = 0; i < cell->na && cell->na < cell->nx + cell->ny; i++)
        if (introduced[cell->iv[i]] > at) at = introduced[cell->iv[i]];
    if (at >= 0) {
        const lwi_cell *parent = &c->cell[at];
        const lwi_cell_block *b = &c->block[parent->block];
        cell->parent = at;
        cell->to = parent->sum;
        cell->inboard = parent->nx;
        for (int i = 0; i < cell->na; i++) {
            int z = 0;
            while (z < parent->nx + parent->ny && parent->iv[z] != cell->iv[i]) z++;
            const int y = z - parent->nx;
            if (y == parent->ny) return false;
            cell->E[i] = y < 0 ? c->unit[z * LWI_CELL_KNOWN] : b->K[y * parent->nx] + parent->lane;
            cell->kappa[i] =
                y < 0 ? c->unit[LWI_CELL_KNOWN * LWI_CELL_KNOWN] : b->k[y] + parent->lane;
        }
    }
    cell->size = LWI_CELL_SIZE(cell->na, cell->nx, cell->ny, cell->inboard);
    return true;
}

// Bits of the coordinates that move a step, and whether dependent ones do.
static void set_motions(const lwi_cells *c, draft *d)
{
    lwi_cell_shape *s = &d->shape;
    s->flat = true;
    for (int i = 0; i < d->n; i++) {
        lwi_cell_step *step = &s->step[i];
        const lwi_k_part *part = &c->parts.part[d->part[i]];
        const bool own = step->at >= s->na; // its body is introduced here
        step->body = (int8_t)(own && part->m > 0 ? s->nbody++ : -1);
        if (step->parent >= 0) {
            step->felt = s->step[step->parent].felt;
            step->waits = s->step[step->parent].waits;
        }
        if (step->at < s->nx)
            step->felt = (uint8_t)(step->felt | 1u << step->at);
        else
            step->waits = true, step->felt = (uint8_t)((1u << s->nx) - 1);
        s->flat = s->flat && step->axes == LWI_CELL_SAME && !step->slide;
    }
}

static bool add_cell(lwi_cells *c, draft *d)
{
    lwi_cell *cell = &c->cell[c->ncell];
    double P[3] = {0, 0, 0}, z[3] = {0, 0, 1};
    *cell = (lwi_cell){0};
    if (!sort_coordinates(c, d, cell)) return false;
    d->base = c->parts.part[d->part[0]].in;
    flip(&c->parts.part[d->part[0]], &d->base);
    for (int i = 0; i < d->n; i++) {
        const lwi_k_part *part = &c->parts.part[d->part[i]];
        lwi_cell_step *step = &d->shape.step[i];
        step->parent = (int8_t)step_of(d, part->parent);
        step->turn = part->turn != 0;
        step->slide = part->slide != 0;
    }
    for (int i = 0; i < d->n; i++) settle(c, d, i);
    set_motions(c, d);
    d->shape.close[0] = d->shape.close[1] = -1;
    if (d->loop) set_closure(c, d, P, z);
    if (!find_parent(c, cell) || !place(c, d, cell, P, z)) return false;
    for (int i = cell->na; i < d->n; i++) c->scratch->introduced[cell->iv[i]] = c->ncell;
    c->ncell++;
    return true;
}

// ------------------------------------------------------------------------------------------- order

// A cell for the node whose last part is `last`, with everything between it and the ground.
static bool add_body(lwi_cells *c, int last)
{
    draft d;
    memset(&d, 0, sizeof d); // shapes are compared as memory
    int n = 0;
    for (int p = last; p >= 0; p = c->parts.part[p].parent) n++;
    if (n > LWI_CELL_STEPS) return false;
    d.n = n;
    for (int p = last; p >= 0; p = c->parts.part[p].parent) d.part[--n] = p;
    return add_cell(c, &d);
}

// Nodes all of whose coordinates are known and not yet introduced; `roots`: no other speed moves
// them.
static bool add_bodies(lwi_cells *c, bool roots)
{
    const lwi_k_part *part = c->parts.part;
    const int *introduced = c->scratch->introduced;
    for (int i = 0; i < c->parts.n;) {
        int last = i;
        bool ready = true, there = introduced[part[i].iv] >= 0;
        while (last + 1 < c->parts.n && c->node_of[part[last + 1].iv] == c->node_of[part[i].iv])
            last++;
        for (int p = i; p <= last; p++) {
            ready = ready && !c->dependent[part[p].iv];
            there = there && introduced[part[p].iv] >= 0;
        }
        if (roots)
            ready = ready && (part[i].parent < 0 || introduced[part[part[i].parent].iv] >= 0);
        if (!there && !roots && !ready) return false; // a dependent speed that no loop tells
        if (!there && ready && !add_body(c, last)) return false;
        i = last + 1;
    }
    return true;
}

static int unknown(const lwi_cells *c, const lwi_cell_loop *loop)
{
    int n = 0;
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        if (!c->dependent[iv] || c->scratch->introduced[iv] >= 0) continue;
        if (!loop->side[i]) return WAITING;
        n++;
    }
    return n;
}

static void offer(lwi_cells *c, int loop)
{
    scratch *s = c->scratch;
    const int count = unknown(c, &c->loop[loop]);
    if (s->done[loop] || count == s->count[loop]) return;
    s->count[loop] = count;
    if (count == WAITING) return;
    s->entry[s->nentry] = (entry){loop, count, s->head[count]};
    s->head[count] = s->nentry++;
}

// The loop with the fewest unknown speeds; -1: none is left.
static int next_loop(scratch *s)
{
    for (int count = 0; count <= LWI_CELL_STEPS; count++)
        while (s->head[count] >= 0) {
            const entry *e = &s->entry[s->head[count]];
            s->head[count] = e->next;
            if (!s->done[e->loop] && s->count[e->loop] == count) return e->loop;
        }
    return -1;
}

static void offer_all(lwi_cells *c)
{
    scratch *s = c->scratch;
    s->nentry = 0;
    for (int i = 0; i <= LWI_CELL_STEPS; i++) s->head[i] = -1;
    for (int i = c->nloop - 1; i >= 0; i--) {
        s->done[i] = false;
        s->count[i] = -1;
        offer(c, i);
    }
}

// The loops that have coordinates of this one.
static void offer_neighbours(lwi_cells *c, const lwi_cell_loop *loop)
{
    const scratch *s = c->scratch;
    for (int i = 0; i < loop->n; i++)
        for (int k = s->first[loop->part[i]]; k < s->first[loop->part[i] + 1]; k++)
            offer(c, s->list[k]);
}

static bool add_loops(lwi_cells *c)
{
    scratch *s = c->scratch;
    offer_all(c);
    for (int n = 0; n < c->nloop; n++) {
        const int at = next_loop(s);
        draft d;
        if (at < 0) return false;
        memset(&d, 0, sizeof d);
        d.loop = &c->loop[at];
        d.n = d.loop->n;
        memcpy(d.part, d.loop->part, sizeof d.part);
        s->done[at] = true;
        if (!add_cell(c, &d)) return false;
        offer_neighbours(c, d.loop);
    }
    return true;
}

// ------------------------------------------------------------------------------------- preference

// Columns whose part across those taken before is below this are no new direction: far above
// rounding and drift, far below what good partitions have.
#define DIRECTION 1e-3

// Takes the columns of class `dependent` that are new directions, the largest part first; taken
// ones leave the basis q [n].  Returns how many there are then.
static int take_directions(lwi_cells *c, const lwi_cell_loop *loop, int number, int dependent,
                           lwi_cells_column *column, const void *user, double (*q)[6], int n)
{
    double w[LWI_CELL_STEPS][6], length[LWI_CELL_STEPS];
    bool open[LWI_CELL_STEPS] = {false};
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        open[i] = loop->side[i] && c->scratch->introduced[iv] < 0 && c->dependent[iv] == dependent;
        if (!open[i]) continue;
        column(user, number, loop->side[i], iv, w[i]);
        length[i] = sqrt(v3_dot(w[i], w[i]) + v3_dot(w[i] + 3, w[i] + 3));
        for (int k = 0; k < n; k++) {
            const double part = v3_dot(w[i], q[k]) + v3_dot(w[i] + 3, q[k] + 3);
            for (int j = 0; j < 6; j++) w[i][j] -= part * q[k][j];
        }
    }
    for (;;) {
        int best = -1;
        double most = 0;
        for (int i = 0; i < loop->n; i++) {
            if (!open[i]) continue;
            const double part = sqrt(v3_dot(w[i], w[i]) + v3_dot(w[i] + 3, w[i] + 3));
            if (n < 6 && part > DIRECTION * length[i] && part > most) most = part, best = i;
        }
        if (best < 0) break;
        for (int j = 0; j < 6; j++) q[n][j] = w[best][j] / most;
        open[best] = false;
        c->dependent[c->parts.part[loop->part[best]].iv] = 2; // decided
        for (int i = 0; i < loop->n; i++) {
            if (!open[i]) continue;
            const double share = v3_dot(w[i], q[n]) + v3_dot(w[i] + 3, q[n] + 3);
            for (int j = 0; j < 6; j++) w[i][j] -= share * q[n][j];
        }
        n++;
    }
    return n;
}

// A loop's own dependent speeds: of those that were, as many as are independent directions, then
// others while there are new ones.
static void decide(lwi_cells *c, int number, lwi_cells_column *column, const void *user)
{
    const lwi_cell_loop *loop = &c->loop[number];
    double q[6][6];
    const int n = take_directions(c, loop, number, 1, column, user, q, 0);
    take_directions(c, loop, number, 0, column, user, q, n);
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        if (c->scratch->introduced[iv] >= 0) continue;
        c->scratch->introduced[iv] = 0;
        c->dependent[iv] = c->dependent[iv] == 2;
    }
}

static void introduce_roots(lwi_cells *c)
{
    const lwi_k_part *part = c->parts.part;
    for (int i = 0; i < c->parts.n;) {
        bool free = part[i].parent < 0 || c->scratch->introduced[part[part[i].parent].iv] >= 0;
        int last = i;
        for (; last < c->parts.n && c->node_of[part[last].iv] == c->node_of[part[i].iv]; last++)
            free = free && !c->dependent[part[last].iv];
        for (; i < last; i++)
            if (free) c->scratch->introduced[part[i].iv] = 0;
    }
}

bool lwi_cells_prefer(lwi_cells *c, lwi_cells_column *column, const void *user, bool anew,
                      unsigned char *dependent)
{
    const size_t n = (size_t)c->nv;
    scratch *s = c->scratch;
    int before = 0, after = 0;
    c->made = false;
    memcpy(c->dependent, dependent, n);
    for (int i = 0; anew && i < c->nloop; i++)
        for (int k = 0; k < c->loop[i].n; k++)
            if (c->loop[i].side[k]) c->dependent[c->parts.part[c->loop[i].part[k]].iv] = 1;
    for (int i = 0; i < c->nv; i++) s->introduced[i] = -1;
    introduce_roots(c);
    offer_all(c);
    for (int k = 0; k < c->nloop; k++) {
        const int at = next_loop(s);
        if (at < 0) return false;
        s->done[at] = true;
        decide(c, at, column, user);
        offer_neighbours(c, &c->loop[at]);
    }
    for (int i = 0; i < c->nv; i++) before += dependent[i], after += c->dependent[i];
    if (before != after || memcmp(dependent, c->dependent, n) == 0) return false;
    memcpy(dependent, c->dependent, n);
    return true;
}

// ------------------------------------------------------------------------------------------- plan

// Who passes on to whom.  Inward, cells come in descending order.
static void mark_first(const lwi_cells *c)
{
    for (int i = c->ncell - 1; i >= 0; i--) {
        lwi_cell *cell = &c->cell[i];
        if (!cell->to) continue;
        cell->first = !c->cell[cell->parent].fed;
        c->cell[cell->parent].fed = true;
    }
}

bool lwi_cells_plan(lwi_cells *c, const unsigned char *dependent)
{
    const size_t n = (size_t)c->nv;
    if (c->made && memcmp(c->dependent, dependent, n) == 0) return c->fits;
    memcpy(c->dependent, dependent, n);
    c->made = true;
    c->ncell = c->nblock = c->nshape = 0;
    c->used = 0;
    for (int i = 0; i < c->nv; i++) c->scratch->introduced[i] = -1;
    c->fits = add_bodies(c, true) && add_loops(c) && add_bodies(c, false);
    mark_first(c);
    return c->fits;
}

// clusters.c -- which loops can be cells, and the plan of cells for a partition of the speeds.
//
// A plan is made in three steps:
//   order   bodies that only independent speeds move come first; then, one at a time, the loop with
//           the fewest speeds that are not known yet, which become dependent on the others in it;
//           then what hangs on loops
//   join    one cell before it must have a cell's known coordinates, or what tells them: so cells are
//           a tree
//   place   frames that make turns cheap, shapes, lanes
#include "methods/rcr/clusters/plan.h"

#include "spatial/rotation.h"

typedef lwi_clusters_draft draft;
typedef lwi_clusters_scratch scratch;

// ------------------------------------------------------------------------------------------ create

static bool has_cell(const lw_model *model)
{
    if (model->nloop + model->ncoupling == 0) return false;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const lw_joint_type id = joint->type->id;
        if ((id != LW_JOINT_REVOLUTE && id != LW_JOINT_SPHERICAL) || joint->mount.present ||
            joint->ndriven > 0)
            return false;
    }
    return true;
}

static int base_of(const lwi_clusters *c, int part)
{
    return part < 0 ? -1 : c->base_of[part];
}

// The next part on the way to the base; -1: there is none.
static int inboard_of(const lwi_clusters *c, int part)
{
    const int next = c->parts.part[part].parent;
    return next >= 0 && c->parts.part[next].floats ? -1 : next;
}

// Parts from the joint's bodies to their base, those of the loop with a side.
bool lwi_clusters_find_path(const lwi_clusters *c, lwi_cluster_loop *loop)
{
    if (base_of(c, loop->end[0]) != base_of(c, loop->end[1])) return false;
    int way[2][LWI_CLUSTER_STEPS], n[2] = {0, 0};
    for (int s = 0; s < 2; s++) {
        const int end = loop->end[s];
        const bool there = end < 0 || c->parts.part[end].floats;
        for (int p = there ? -1 : end; p >= 0; p = inboard_of(c, p)) {
            if (n[s] == LWI_CLUSTER_STEPS) return false;
            way[s][n[s]++] = p;
        }
    }
    // descending lists, merged: what is in both is not in the loop
    int i = 0, j = 0, m = 0;
    int list[2 * LWI_CLUSTER_STEPS];
    int8_t side[2 * LWI_CLUSTER_STEPS];
    while (i < n[0] || j < n[1]) {
        const int a = i < n[0] ? way[0][i] : -1, b = j < n[1] ? way[1][j] : -1;
        list[m] = a > b ? a : b;
        side[m++] = (int8_t)(a == b ? 0 : a > b ? -1 : 1);
        i += a >= b;
        j += b >= a;
    }
    if (m == 0 || m > LWI_CLUSTER_STEPS) return false;
    loop->n = m;
    for (int k = 0; k < m; k++) loop->part[k] = list[m - 1 - k], loop->side[k] = side[m - 1 - k];
    return true;
}

static bool set_loop(const lw_model *model, const lwi_clusters *c, int i, lwi_cluster_loop *loop)
{
    const lwi_k_parts *parts = &c->parts;
    const lwi_joint *joint = &model->joint[model->loop[i]];
    loop->pin = joint->type->id == LW_JOINT_REVOLUTE;
    loop->law = -1;
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
        v3_copy(loop->P[s], F.r);
        v3_set(loop->z[s], F.R[2], F.R[5], F.R[8]);
    }
    return lwi_clusters_find_path(c, loop);
}

static bool list_loops(lwi_clusters *c, scratch *s, lwi_arena *arena)
{
    int total = 0;
    for (int i = 0; i < c->nloop; i++) total += c->loop[i].n;
    s->introduced = LWI_PUSH(arena, int, c->nv);
    s->first = LWI_PUSH(arena, int, c->parts.n + 1);
    s->list = LWI_PUSH(arena, int, total);
    s->done = LWI_PUSH(arena, bool, c->nloop);
    s->count = LWI_PUSH(arena, int, c->nloop);
    // one for each loop, one for each of its coordinates that becomes known
    s->entry = LWI_PUSH(arena, lwi_clusters_entry, c->nloop + total);
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

// Memory for all partitions but those with many shapes, which are left to the generic text.
static lw_status create_memory(lwi_clusters *c, const lw_model *model, lwi_arena *arena)
{
    enum { SHAPES = 24 };
    lwi_cluster_shape widest = {0};
    for (int i = 0; i < c->nloop; i++)
        if (c->loop[i].n > widest.nstep) widest.nstep = c->loop[i].n;
    for (int k = 0; k < c->parts.n; k++) { // a body on its own
        int depth = 0;
        for (int p = k; p >= 0 && depth <= LWI_CLUSTER_KNOWN; p = inboard_of(c, p)) depth++;
        if (depth > widest.nstep) widest.nstep = depth;
    }
    widest.nx = widest.ny = (widest.nstep + 1) / 2; // the largest product
    widest.nbody = widest.nstep;
    widest.floats = c->nbase > 0;
    c->most_cells = c->nloop + model->nnode;
    c->most_shapes = SHAPES;
    c->most_blocks = c->most_cells / LWI_LANES + SHAPES;
    const size_t felt = c->nbase > 0 ? LWI_CLUSTER_KNOWN * sizeof(lwi_lanes) : 0;
    const size_t sum = LWI_CLUSTER_KNOWN * (LWI_CLUSTER_KNOWN + 1) * sizeof(double) + 64 + felt;
    c->most_relays = 2 * c->nloop; // as machines have them: legs between two loops
    const size_t relay = (LWI_CLUSTER_KNOWN / 2 + 1) * sizeof(lwi_lanes);
    c->room = (size_t)c->most_blocks * lwi_clusters_block_bytes(&widest) +
              (size_t)c->most_cells * sum + (size_t)c->most_relays * relay;
    c->relay = LWI_PUSH(arena, lwi_cluster_relay, c->most_relays);
    c->unit = LWI_PUSH(arena, lwi_lanes, LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN + LWI_CLUSTER_KNOWN);
    for (int i = 0; c->unit && i < LWI_CLUSTER_KNOWN; i++)
        c->unit[i * LWI_CLUSTER_KNOWN + i][0] = 1;
    c->dependent = LWI_PUSH(arena, unsigned char, c->nv);
    c->cell = LWI_PUSH(arena, lwi_cluster, c->most_cells);
    c->block = LWI_PUSH(arena, lwi_cluster_block, c->most_blocks);
    c->shape = LWI_PUSH(arena, lwi_cluster_shape, c->most_shapes);
    c->pool = LWI_PUSH(arena, unsigned char, c->room);
    return c->unit && c->dependent && c->cell && c->block && c->shape && c->pool && c->relay
               ? LW_OK
               : LW_ERR_MEMORY;
}

lw_status lwi_clusters_create(const lw_model *model, double length, const double *scale,
                              const int *carried, const bool *asked, lwi_arena *arena,
                              lwi_clusters **out)
{
    *out = NULL;
    if (!has_cell(model)) return LW_OK;
    lwi_clusters *c = LWI_PUSH(arena, lwi_clusters, 1);
    if (!c) return LW_ERR_MEMORY;
    const int nloop = model->nloop + model->ncoupling;
    *c = (lwi_clusters){.nloop = nloop,
                        .nfree = model->tree_nv,
                        .per_length2 = 1 / (length * length),
                        .loop = LWI_PUSH(arena, lwi_cluster_loop, nloop),
                        .scratch = LWI_PUSH(arena, scratch, 1)};
    if (!c->loop || !c->scratch) return LW_ERR_MEMORY;
    v3_copy(c->gravity, model->gravity);
    TRY(lwi_k_parts_create(model, arena, &c->parts));
    if (c->parts.n < 1) return LW_OK;
    c->nv = c->nfree + c->parts.ndrive;
    c->node_of = LWI_PUSH(arena, int, c->nv);
    c->scale = LWI_PUSH(arena, double, c->nv);
    c->drive = LWI_PUSH(arena, double, c->parts.ndrive);
    if (!c->node_of || !c->scale || !c->drive) return LW_ERR_MEMORY;
    TRY(lwi_clusters_create_bases(c, model, arena));
    if (c->nfree) memcpy(c->scale, scale, (size_t)c->nfree * sizeof *scale);
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv; j++) c->node_of[model->node[k].iv + j] = k;
    for (int i = 0; i < c->parts.ndrive; i++)
        c->node_of[c->nfree + i] = model->joint[c->parts.drive[i].joint].node;
    for (int i = 0; i < model->nloop; i++) {
        c->loop[i].carried = carried[i];
        if (!set_loop(model, c, i, &c->loop[i])) return LW_OK;
    }
    bool all;
    TRY(lwi_clusters_create_laws(c, model, arena, &all));
    if (!all) return LW_OK;
    if (!list_loops(c, c->scratch, arena)) return LW_ERR_MEMORY;
    TRY(create_memory(c, model, arena));
    TRY(lwi_clusters_create_seats(c, model, asked, arena));
    TRY(lwi_clusters_create_rotors(c, model, arena));
    *out = c;
    return LW_OK;
}
// -------------------------------------------------------------------------------------------- join

// Coordinates: those of cells before it, its own independent ones, dependent ones.
static bool sort_coordinates(const lwi_clusters *c, draft *d, lwi_cluster *cell)
{
    const int *introduced = c->scratch->introduced;
    int at = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < d->n; i++) {
            const int iv = c->parts.part[d->part[i]].iv;
            const bool driven = iv >= c->nfree;
            const int class = driven || introduced[iv] >= 0 ? 0 : c->dependent[iv] ? 2 : 1;
            if (class != pass) continue;
            if (driven && at < LWI_CLUSTER_KNOWN) cell->driven = (uint8_t)(cell->driven | 1u << at);
            d->own[i] = introduced[iv] < 0;
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
    return d->shape.nx <= LWI_CLUSTER_KNOWN && d->shape.ny <= LWI_CLUSTER_DEPENDENT;
}

static int index_of(const lwi_cluster *cell, int iv)
{
    const int nz = cell->nx + cell->ny;
    for (int z = 0; z < nz; z++)
        if (cell->iv[z] == iv) return z;
    return -1;
}

static bool is_driven(const lwi_cluster *cell, int i)
{
    return i < cell->na && (cell->driven >> i & 1);
}

// Has cell `here` all that moves cell `of`?
static bool knows_all(const lwi_cluster *here, const lwi_cluster *of)
{
    for (int j = 0; j < of->nx; j++)
        if (!is_driven(of, j) && index_of(here, of->iv[j]) < 0) return false;
    return true;
}

// The cell over whose x all of a cell's coordinates `a` can be told that are not driven; -1: there is
// none.  at[i]: one whose x tells coordinate i, from the one that has it first outboard of it.
static int meeting(const lwi_clusters *c, const lwi_cluster *cell, int at[LWI_CLUSTER_KNOWN])
{
    int way[LWI_CLUSTER_KNOWN] = {0};
    for (int i = 0; i < cell->na; i++)
        at[i] = is_driven(cell, i) ? -1 : c->scratch->introduced[cell->iv[i]];
    for (;;) {
        int last = -1;
        bool all = true;
        for (int i = 0; i < cell->na; i++)
            if (at[i] > last) last = at[i];
        if (last < 0) return -1; // no other cell moves this one
        const lwi_cluster *here = &c->cell[last];
        for (int i = 0; i < cell->na; i++)
            all = all && (at[i] == last || is_driven(cell, i) || index_of(here, cell->iv[i]) >= 0 ||
                          knows_all(here, &c->cell[at[i]]));
        if (all) return last;
        // what moves `here` must be what moves the cell before it
        if (!here->to || here->na < here->nx) return -1;
        for (int i = 0; i < cell->na; i++) {
            if (at[i] != last) continue;
            if (++way[i] > LWI_CLUSTER_WAY) return -1;
            at[i] = here->parent;
        }
    }
}

// Coordinate iv of a cell over its x: rows and what is added, numbers LWI_LANES apart.  What is
// prescribed is told anywhere.  False where the cell does not have it.
static bool row_of(const lwi_clusters *c, const lwi_cluster *cell, int iv, const double **row,
                   const double **more)
{
    if (iv >= c->nfree) {
        *row = c->unit[LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN];
        *more = &c->drive[iv - c->nfree];
        return true;
    }
    const int z = index_of(cell, iv), y = z - cell->nx;
    if (z < 0) return false;
    *row = y < 0 ? c->unit[z * LWI_CLUSTER_KNOWN] : cell->K + y * cell->nx * LWI_LANES;
    *more = y < 0 ? c->unit[LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN] : cell->k + y * LWI_LANES;
    return true;
}

// E and kappa of coordinate i, which x of cell `to` tells: made in every evaluation.
static bool add_relay(lwi_clusters *c, lwi_cluster *cell, int i, int to)
{
    const int from = c->scratch->introduced[cell->iv[i]];
    const lwi_cluster *parent = &c->cell[cell->parent], *end = &c->cell[to];
    if (c->nrelay == c->most_relays) return false;
    lwi_cluster_relay *relay = &c->relay[c->nrelay++];
    double *E = lwi_clusters_take(c, (size_t)cell->inboard + 1, sizeof(lwi_lanes));
    if (!E) return false;
    *relay = (lwi_cluster_relay){.from = from,
                                 .to = to,
                                 .nx = cell->inboard,
                                 .same = to == cell->parent,
                                 .E = E,
                                 .kappa = E + cell->inboard * LWI_LANES};
    row_of(c, &c->cell[from], cell->iv[i], &relay->K, &relay->k);
    for (int j = 0; j < end->nx && !relay->same; j++)
        row_of(c, parent, end->iv[j], &relay->row[j], &relay->more[j]);
    cell->E[i] = relay->E;
    cell->kappa[i] = relay->kappa;
    return true;
}

// Is there a coordinate in `a` that other cells tell?
static bool is_moved(const lwi_cluster *cell)
{
    for (int i = 0; i < cell->na; i++)
        if (!is_driven(cell, i)) return true;
    return false;
}

// The cell that the coordinates `a` come from.  Nothing passes between where the cell adds none.
static bool find_parent(lwi_clusters *c, const draft *d, lwi_cluster *cell)
{
    bool adds = false;
    for (int i = 0; i < d->n; i++) adds = adds || d->own[i];
    if (adds && is_moved(cell)) {
        int by[LWI_CLUSTER_KNOWN];
        const int at = meeting(c, cell, by);
        if (at < 0) return false;
        cell->parent = at;
        cell->to = c->cell[at].sum;
        cell->to_felt = c->cell[at].felt;
        cell->inboard = c->cell[at].nx;
        for (int i = 0; i < cell->na; i++)
            if (!row_of(c, &c->cell[at], cell->iv[i], &cell->E[i], &cell->kappa[i]) &&
                !add_relay(c, cell, i, by[i]))
                return false;
    }
    cell->size = LWI_CLUSTER_SIZE(cell->na, cell->nx, cell->ny, cell->inboard);
    return true;
}

// Bits of the coordinates that move a step, and whether dependent ones do.
static void set_motions(const lwi_clusters *c, draft *d)
{
    lwi_cluster_shape *s = &d->shape;
    s->flat = !s->floats; // what floats turns about any axis
    for (int i = 0; i < d->n; i++) {
        lwi_cluster_step *step = &s->step[i];
        const lwi_k_part *part = &c->parts.part[d->part[i]];
        const bool counts =
            part->m > 0 || c->first_seat[d->part[i]] < c->first_seat[d->part[i] + 1];
        step->body = (int8_t)(d->own[i] && counts ? s->nbody++ : -1);
        if (step->parent >= 0) {
            step->felt = s->step[step->parent].felt;
            step->waits = s->step[step->parent].waits;
        }
        if (step->at < s->nx)
            step->felt = (uint8_t)(step->felt | 1u << step->at);
        else
            step->waits = true, step->felt = (uint8_t)((1u << s->nx) - 1);
        s->flat = s->flat && step->axes == LWI_CLUSTER_SAME && !step->slide;
    }
}

static bool add_cell(lwi_clusters *c, draft *d)
{
    lwi_cluster *cell = &c->cell[c->ncell];
    double P[2][3] = {{0}}, z[2][3] = {{0, 0, 1}, {0, 0, 1}};
    *cell = (lwi_cluster){0};
    if (!sort_coordinates(c, d, cell)) return false;
    lwi_clusters_settle(c, d);
    set_motions(c, d);
    d->shape.close[0] = d->shape.close[1] = -1;
    const bool law = d->loop && d->loop->law >= 0;
    if (law && cell->ny > 1) return false;
    if (d->loop && !law) lwi_clusters_close(c, d, P, z);
    if (!find_parent(c, d, cell) || !lwi_clusters_place(c, d, cell, P, z)) return false;
    for (int i = 0; i < d->n; i++)
        if (d->own[i]) c->scratch->introduced[c->parts.part[d->part[i]].iv] = c->ncell;
    lwi_clusters_seat(c, d, c->ncell);
    if (law) c->law[d->loop->law].cell = cell->ny ? c->ncell : -1;
    c->ncell++;
    return true;
}

// ------------------------------------------------------------------------------------------- order

// A cell for the node whose last part is `last`, with everything between it and the ground.
static bool add_body(lwi_clusters *c, int last)
{
    draft d;
    memset(&d, 0, sizeof d); // shapes are compared as memory
    int n = 0;
    for (int p = last; p >= 0; p = inboard_of(c, p)) n++;
    if (n > LWI_CLUSTER_STEPS) return false;
    d.n = n;
    for (int p = last; p >= 0; p = inboard_of(c, p)) d.part[--n] = p;
    return add_cell(c, &d);
}

// Nodes all of whose coordinates are known and not yet introduced; `roots`: no other speed moves
// them.
static bool add_bodies(lwi_clusters *c, bool roots)
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
static bool add_loops(lwi_clusters *c)
{
    scratch *s = c->scratch;
    lwi_clusters_offer_all(c);
    for (int n = 0; n < c->nloop; n++) {
        const int at = lwi_clusters_next_loop(c);
        draft d;
        if (at < 0) return false;
        memset(&d, 0, sizeof d);
        d.loop = &c->loop[at];
        d.n = d.loop->n;
        memcpy(d.part, d.loop->part, sizeof d.part);
        s->done[at] = true;
        if (!add_cell(c, &d)) return false;
        lwi_clusters_offer_neighbours(c, d.loop);
    }
    return true;
}

// ------------------------------------------------------------------------------------------- plan

// Who passes on to whom.  Inward, cells come in descending order.
static void mark_first(const lwi_clusters *c)
{
    for (int i = c->ncell - 1; i >= 0; i--) {
        lwi_cluster *cell = &c->cell[i];
        if (!cell->to) continue;
        cell->first = !c->cell[cell->parent].fed;
        c->cell[cell->parent].fed = true;
    }
}

// All that float are there before any cell; false where a loop is to tell how one of them moves.
static bool introduce_bases(lwi_clusters *c)
{
    for (int i = 0; i < c->nbase; i++)
        for (int j = 0; j < c->base[i].nv; j++) {
            if (c->dependent[c->base[i].iv + j]) return false;
            c->scratch->introduced[c->base[i].iv + j] = 0;
        }
    return true;
}

bool lwi_clusters_plan(lwi_clusters *c, const unsigned char *dependent)
{
    const size_t n = (size_t)c->nfree;
    if (c->made && memcmp(c->dependent, dependent, n) == 0) return c->fits;
    memcpy(c->dependent, dependent, n);
    c->made = true;
    c->ncell = c->nblock = c->nshape = c->nrelay = 0;
    c->used = 0;
    for (int i = 0; i < c->nv; i++) c->scratch->introduced[i] = -1;
    c->fits = introduce_bases(c) && add_bodies(c, true) && add_loops(c) && add_bodies(c, false);
    mark_first(c);
    for (int i = 0; i < c->nrotor && c->fits; i++) {
        lwi_cluster_rotor *rotor = &c->rotor[i];
        rotor->cell = c->scratch->introduced[rotor->iv];
        rotor->z = index_of(&c->cell[rotor->cell], rotor->iv);
    }
    return c->fits;
}

// clusters.c -- which loops can be clusters, and the plan of clusters for a partition of the speeds.
//
// A plan is made in three steps:
//   order   bodies moved by independent speeds only; then, repeatedly, the loop with the fewest unknown
//           speeds, which are the dependent ones of its cluster, or loops that together have rows for
//           theirs; then the bodies that loops carry
//   join    each cluster gets a parent: an earlier cluster with x that determine all its known coordinates, so
//           that clusters form a tree
//   place   frames with cheap rotations, shapes, lanes
//
// Cost: O(clusters).  [anderson2003, section 3.1] numbers the bodies of one loop; a plan does so for all.
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <stdlib.h>

typedef lwi_cluster_draft draft;
typedef lwi_cluster_scratch scratch;

// ------------------------------------------------------------------------------------------ create

// LWI_CLUSTER_BALL, ...; -1: another joint.
static int kind_of(const lwi_joint_type *type)
{
    if (lwi_joint_is_ball(type)) return LWI_CLUSTER_BALL;
    if (lwi_joint_is_hinge(type)) return LWI_CLUSTER_HINGE;
    if (lwi_joint_is_universal(type)) return LWI_CLUSTER_UNIVERSAL;
    return lwi_joint_is_rigid(type) ? LWI_CLUSTER_FIXED : -1;
}

static bool can_have_clusters(const lw_model *model)
{
    if (model->nloop + model->ncoupling == 0) return false;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (kind_of(joint->type) < 0) return false;
        if (joint->mount.present || joint->ndriven > 0) return false;
    }
    return true;
}

static int base_of(const lwi_clusters *c, int part)
{
    return part < 0 ? -1 : c->base_of[part];
}

// The next part towards the base; -1: none.
static int inboard_of(const lwi_clusters *c, int part)
{
    const int next = c->parts.part[part].parent;
    LWI_ASSERT(next < part);
    return next >= 0 && c->parts.part[next].floats ? -1 : next;
}

// Parts between the joint's bodies and their base; those of the loop have a side.
bool lwi_clusters_find_path(const lwi_clusters *c, lwi_cluster_loop *loop)
{
    if (base_of(c, loop->end[0]) != base_of(c, loop->end[1])) return false;
    int way[2][LWI_CLUSTER_LOOP], n[2] = {0, 0};
    for (int s = 0; s < 2; s++) {
        const int end = loop->end[s];
        const bool there = end < 0 || c->parts.part[end].floats;
        for (int p = there ? -1 : end; p >= 0; p = inboard_of(c, p)) {
            if (n[s] == LWI_CLUSTER_LOOP) return false;
            way[s][n[s]++] = p;
        }
    }
    // merges descending lists: parts on both branches are below the branch point, outside the loop
    int i = 0, j = 0, m = 0;
    int list[2 * LWI_CLUSTER_LOOP];
    int8_t side[2 * LWI_CLUSTER_LOOP];
    while (i < n[0] || j < n[1]) {
        const int a = i < n[0] ? way[0][i] : -1, b = j < n[1] ? way[1][j] : -1;
        list[m] = a > b ? a : b;
        side[m++] = (int8_t)(a == b ? 0 : a > b ? -1 : 1);
        i += a >= b;
        j += b >= a;
    }
    LWI_ASSERT(m <= n[0] + n[1]);
    if (m == 0 || m > LWI_CLUSTER_LOOP) return false;
    loop->n = m;
    for (int k = 0; k < m; k++) loop->part[k] = list[m - 1 - k], loop->side[k] = side[m - 1 - k];
    return true;
}

// Coordinates without symmetry: by multiples of an irrational number.
static double scattered(int i)
{
    const double turns = 0.6180339887498949 * (i + 1);
    return 2 * (turns - (double)(int)turns) - 1;
}

// Frames of the parts of a loop away from any special position; loops need not be closed.
static void scatter(const lwi_clusters *c, const lwi_cluster_loop *loop, lwi_k_frame *at)
{
    for (int i = 0; i < loop->n; i++) {
        const lwi_k_part *part = &c->parts.part[loop->part[i]];
        const double q = part->sign * scattered(loop->part[i]);
        lwi_k_frame own = {.r = {0, 0, part->slide * q}};
        rot_z(own.R, cos(part->turn * q), sin(part->turn * q));
        at[i] = part->in;
        for (int p = 0; p < i; p++)
            if (loop->part[p] == part->parent) lwi_k_compose(&at[i], &at[p], &part->in);
        lwi_k_compose(&at[i], &at[i], &own);
    }
}

// Effect of a unit of the coordinate of a part on the rows of the loop's joint at P: rotations about n axes.
static void scattered_column(const lwi_k_part *part, const lwi_k_frame *at, const double P[3],
                             int n, const double (*about)[3], double w[6])
{
    const double axis[3] = {at->R[2], at->R[5], at->R[8]};
    double arm[3];
    v6_zero(w);
    v3_scale(w, part->slide, axis);
    if (part->turn != 0) {
        v3_sub(arm, P, at->r);
        v3_cross_add(w, axis, arm);
        for (int i = 0; i < n; i++) w[3 + i] = v3_dot(axis, about[i]);
    }
}

// The largest rank of the rows of a loop: that away from special positions, where it need not be closed.
static int largest_rank(const lwi_clusters *c, const lwi_cluster_loop *loop)
{
    static const int rotations[] = {[LWI_CLUSTER_BALL] = 0,
                                    [LWI_CLUSTER_HINGE] = 2,
                                    [LWI_CLUSTER_FIXED] = 3,
                                    [LWI_CLUSTER_UNIVERSAL] = 1};
    lwi_k_frame at[LWI_CLUSTER_LOOP], end[2] = {{.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    double P[3], z[3], about[3][3], q[6][6]; // x, y, z
    int rank = 0;
    end[1] = end[0];
    scatter(c, loop, at);
    for (int i = 0; i < loop->n; i++)
        for (int s = 0; s < 2; s++)
            if (loop->part[i] == loop->end[s]) end[s] = at[i];
    m3_mul_v(P, end[1].R, loop->P[1]);
    v3_add(P, P, end[1].r);
    m3_mul_v(about[2], end[1].R, loop->z[1]);
    m3_mul_v(about[0], end[1].R, loop->x[1]);
    v3_cross(about[1], about[2], about[0]);
    if (loop->kind == LWI_CLUSTER_UNIVERSAL) { // about the normal of its axes
        m3_mul_v(z, end[0].R, loop->z[0]);
        v3_cross(about[0], z, (const double[3]){about[0][0], about[0][1], about[0][2]});
    }
    for (int i = 0; i < loop->n && rank < 6; i++) {
        double w[6];
        if (!loop->side[i]) continue;
        scattered_column(&c->parts.part[loop->part[i]], &at[i], P, rotations[loop->kind],
                         (const double(*)[3])about, w);
        const double whole = sqrt(v6_dot(w, w));
        for (int k = 0; k < rank; k++) v6_axpy(w, -v6_dot(w, q[k]), q[k]);
        const double size = sqrt(v6_dot(w, w));
        if (!(size > 1e-6 * whole)) continue;
        for (int k = 0; k < 6; k++) q[rank][k] = w[k] / size;
        rank++;
    }
    return rank;
}

static bool set_loop(const lw_model *model, const lwi_clusters *c, int i, lwi_cluster_loop *loop)
{
    const lwi_k_parts *parts = &c->parts;
    const lwi_joint *joint = &model->joint[model->loop[i]];
    loop->kind = kind_of(joint->type);
    loop->coupling = -1;
    for (int s = 0; s < 2; s++) {
        const int k = model->body_node[s ? joint->body2 : joint->body1];
        lwi_k_frame F, body;
        memcpy(F.R, s ? joint->R2 : joint->R1, sizeof F.R);
        v3_copy(F.r, s ? joint->r2 : joint->r1);
        loop->end[s] = k < 0 ? -1 : parts->part_of[k];
        if (k >= 0) {
            memcpy(body.R, model->node[k].c_R, sizeof body.R);
            v3_copy(body.r, model->node[k].c_r);
            lwi_k_compose(&F, &body, &F);
            lwi_k_compose(&F, &parts->offset[k], &F);
        }
        v3_copy(loop->P[s], F.r);
        v3_set(loop->z[s], F.R[2], F.R[5], F.R[8]);
        v3_set(loop->x[s], F.R[0], F.R[3], F.R[6]);
    }
    if (!lwi_clusters_find_path(c, loop)) return false;
    loop->rank = largest_rank(c, loop);
    return true;
}

static bool list_loops(lwi_clusters *c, scratch *s, lwi_arena *arena)
{
    int total = 0;
    for (int i = 0; i < c->nloop; i++) total += c->loop[i].n;
    s->introduced = LWI_PUSH(arena, int, c->nv);
    s->first = LWI_PUSH(arena, int, c->parts.n + 1);
    s->list = LWI_PUSH(arena, int, total);
    s->counted = LWI_PUSH(arena, bool, c->nv);
    s->done = LWI_PUSH(arena, bool, c->nloop);
    s->touched = LWI_PUSH(arena, bool, c->nloop);
    s->changed = LWI_PUSH(arena, lwi_cluster_change, c->nloop);
    s->count = LWI_PUSH(arena, int, c->nloop);
    // an entry for each loop, and for each of its coordinates that becomes known
    s->entry = LWI_PUSH(arena, lwi_cluster_queue_entry, c->nloop + total);
    if (!s->introduced || !s->first || !s->list || !s->counted || !s->done || !s->touched ||
        !s->changed || !s->count || !s->entry)
        return false;
    for (int i = 0; i < c->nloop; i++)
        for (int k = 0; k < c->loop[i].n; k++) s->first[c->loop[i].part[k] + 1]++;
    for (int p = 0; p < c->parts.n; p++) s->first[p + 1] += s->first[p];
    for (int i = c->nloop - 1; i >= 0;
         i--) // fills each list backwards; first[p] moves from its end to its start
        for (int k = 0; k < c->loop[i].n; k++) s->list[--s->first[c->loop[i].part[k] + 1]] = i;
    memmove(s->first, s->first + 1, (size_t)c->parts.n * sizeof *s->first);
    s->first[c->parts.n] = total;
    LWI_ASSERT(c->parts.n == 0 || s->first[0] == 0);
    return true;
}

// Nodes that can have separate clusters (add_bodies), upper bound: those that move, without dependent speeds.
static int free_nodes(const lwi_clusters *c, const lw_model *model, int dependent)
{
    int widest = 1, moving = 0;
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].nv > widest) widest = model->node[k].nv;
    for (int p = 0; p < c->parts.n; p++)
        moving += p == 0 || c->node_of[c->parts.part[p].iv] != c->node_of[c->parts.part[p - 1].iv];
    const int held = (dependent + widest - 1) / widest;
    return held < moving ? moving - held : 0;
}

// A block with as many steps that takes most memory.
static lwi_cluster_shape widest(const lwi_clusters *c, int nstep, int nclosing)
{
    const int half = (nstep + 1) / 2; // maximizes the product
    return (lwi_cluster_shape){.nstep = nstep,
                               .closing = {{.n = (uint8_t)nstep}},
                               .nx = half < LWI_CLUSTER_KNOWN ? half : LWI_CLUSTER_KNOWN,
                               .ny = half < LWI_CLUSTER_DEPENDENT ? half : LWI_CLUSTER_DEPENDENT,
                               .nclosing = nclosing,
                               .nrate = 2 * nclosing,
                               .floats = c->nbase > 0};
}

// Bytes of the blocks: one cluster in each, the longest ones first.  A body is of one cluster.
static size_t block_room(const lwi_clusters *c)
{
    int count[LWI_CLUSTER_LOOP + 1] = {0}; // of clusters, by steps
    size_t room = 0, columns = 0;
    for (int i = 0; i < c->nloop; i++) count[c->loop[i].n]++;
    for (int k = 0; k < c->parts.n; k++) { // a body without a loop
        int depth = 0;
        for (int p = k; p >= 0 && depth <= LWI_CLUSTER_KNOWN; p = inboard_of(c, p)) depth++;
        count[depth]++;
    }
    for (int steps = LWI_CLUSTER_LOOP, left = c->max_blocks; steps > 0; steps--) {
        const size_t n = (size_t)(count[steps] < left ? count[steps] : left);
        const lwi_cluster_shape shape = widest(c, steps, 1);
        room += n * lwi_clusters_block_bytes(&shape);
        columns += n * (size_t)(shape.nstep * shape.nx) * sizeof(lwi_cluster_column);
        left -= (int)n;
    }
    const size_t limit = (size_t)(c->parts.n * LWI_CLUSTER_KNOWN) * sizeof(lwi_cluster_column);
    return room + (columns < limit ? columns : limit);
}

// Memory for all partitions except those with many shapes, which the elimination evaluates.
static lw_status create_memory(lwi_clusters *c, const lw_model *model, int dependent,
                               lwi_arena *arena)
{
    enum { SHAPES = 24 };
    c->max_clusters = c->nloop + free_nodes(c, model, dependent);
    c->max_shapes = c->max_clusters < SHAPES ? c->max_clusters : SHAPES;
    c->max_blocks = c->max_clusters / LWI_LANES + SHAPES;
    if (c->max_blocks > c->max_clusters) c->max_blocks = c->max_clusters;
    const size_t base_rows = c->nbase > 0 ? LWI_CLUSTER_KNOWN * sizeof(lwi_lanes) : 0;
    const size_t sum =
        LWI_CLUSTER_KNOWN * (LWI_CLUSTER_KNOWN + 1) * sizeof(double) + 64 + base_rows;
    c->max_forwarded = 2 * c->nloop; // for machines with two forwarded coordinates per loop
    const size_t forwarded = (LWI_CLUSTER_KNOWN / 2 + 1) * sizeof(lwi_lanes);
    c->room = block_room(c) + (size_t)c->max_clusters * sum + (size_t)c->max_forwarded * forwarded;
    c->forwarded = LWI_PUSH(arena, lwi_cluster_forwarded, c->max_forwarded);
    c->unit = LWI_PUSH(arena, lwi_lanes, LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN + LWI_CLUSTER_KNOWN);
    for (int i = 0; c->unit && i < LWI_CLUSTER_KNOWN; i++)
        c->unit[i * LWI_CLUSTER_KNOWN + i][0] = 1;
    c->planned = LWI_PUSH(arena, unsigned char, c->nfree);
    c->dependent = LWI_PUSH(arena, unsigned char, c->nv);
    c->cluster = LWI_PUSH(arena, lwi_cluster, c->max_clusters);
    c->block = LWI_PUSH(arena, lwi_cluster_block, c->max_blocks);
    c->shape = LWI_PUSH(arena, lwi_cluster_shape, c->max_shapes);
    c->pool = LWI_PUSH(arena, unsigned char, c->room);
    return c->unit && c->planned && c->dependent && c->cluster && c->block && c->shape && c->pool &&
                   c->forwarded
               ? LW_OK
               : LW_ERR_MEMORY;
}

// Nodes on balls: quaternions.
static lw_status list_balls(lwi_clusters *c, const lw_model *model, lwi_arena *arena)
{
    c->ball = LWI_PUSH(arena, int, model->nnode);
    if (!c->ball) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++)
        if (lwi_joint_is_ball(model->node[k].type) &&
            c->parts.part[c->parts.part_of[k]].axis_of_ball)
            c->ball[c->nball++] = k;
    return LW_OK;
}

lw_status lwi_clusters_create(const lw_model *model, double length, const double *scale,
                              const int *rate_at, const bool *needed, int dependent,
                              lwi_arena *arena, lwi_clusters **out)
{
    *out = NULL;
    if (!can_have_clusters(model)) return LW_OK;
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
    TRY(lwi_k_parts_create_balls(model, arena, &c->parts));
    if (c->parts.n < 1) return LW_OK;
    c->nv = c->nfree + c->parts.ndrive;
    LWI_ASSERT(c->parts.ndrive >= 0);
    c->node_of = LWI_PUSH(arena, int, c->nv);
    c->scale = LWI_PUSH(arena, double, c->nv);
    c->drive = LWI_PUSH(arena, double, c->parts.ndrive);
    if (!c->node_of || !c->scale || !c->drive) return LW_ERR_MEMORY;
    TRY(lwi_clusters_create_bases(c, model, arena));
    TRY(list_balls(c, model, arena));
    if (c->nfree) memcpy(c->scale, scale, (size_t)c->nfree * sizeof *scale);
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv; j++) c->node_of[model->node[k].iv + j] = k;
    for (int i = 0; i < c->parts.ndrive; i++)
        c->node_of[c->nfree + i] = model->joint[c->parts.drive[i].joint].node;
    for (int i = 0; i < model->nloop; i++) {
        c->loop[i].rate_at = rate_at[i];
        if (!set_loop(model, c, i, &c->loop[i])) return LW_OK;
    }
    bool all;
    TRY(lwi_clusters_create_couplings(c, model, arena, &all));
    if (!all) return LW_OK;
    if (!list_loops(c, c->scratch, arena)) return LW_ERR_MEMORY;
    TRY(create_memory(c, model, dependent, arena));
    TRY(lwi_clusters_create_attached(c, model, needed, arena));
    TRY(lwi_clusters_create_rotors(c, model, arena));
    *out = c;
    return LW_OK;
}
// -------------------------------------------------------------------------------------------- join

// Number of the only loop of the draft with a part between its ends; nloop: several, or none.
static int only_loop(const draft *d, int part)
{
    int only = d->nloop, n = 0;
    for (int g = 0; g < d->nloop; g++)
        if (lwi_clusters_side(d->loop[g], part)) only = g, n++;
    return n == 1 ? only : d->nloop;
}

// Order of the coordinates: those of earlier clusters, own independent ones, dependent ones; of these first those of each
// loop alone, which are eliminated without effect on other loops.
static bool sort_coordinates(const lwi_clusters *c, draft *d, lwi_cluster *cluster)
{
    const int *introduced = c->scratch->introduced;
    int at = 0;
    for (int pass = 0; pass < 3 + d->nloop; pass++) {
        for (int i = 0; i < d->n; i++) {
            const int iv = c->parts.part[d->part[i]].iv;
            const bool driven = iv >= c->nfree;
            const int class = driven || introduced[iv] >= 0 ? 0
                              : c->dependent[iv]            ? 2 + only_loop(d, d->part[i])
                                                            : 1;
            if (class != pass) continue;
            if (driven && at < LWI_CLUSTER_KNOWN)
                cluster->driven = (uint8_t)(cluster->driven | 1u << at);
            d->own[i] = introduced[iv] < 0;
            cluster->iv[at] = iv;
            d->shape.step[i].at = (int8_t)at++;
        }
        if (pass == 0) d->shape.na = at;
        if (pass == 1) d->shape.nx = at;
    }
    LWI_ASSERT(at == d->n); // every coordinate is in one class
    d->shape.ny = at - d->shape.nx;
    d->shape.nstep = at;
    LWI_ASSERT(d->n <= LWI_CLUSTER_STEPS);
    cluster->na = (int8_t)d->shape.na;
    cluster->nx = (int8_t)d->shape.nx;
    cluster->ny = (int8_t)d->shape.ny;
    return d->shape.nx <= LWI_CLUSTER_KNOWN && d->shape.ny <= LWI_CLUSTER_DEPENDENT;
}

static int index_of(const lwi_cluster *cluster, int iv)
{
    const int nz = cluster->nx + cluster->ny;
    for (int z = 0; z < nz; z++)
        if (cluster->iv[z] == iv) return z;
    return -1;
}

static bool is_driven(const lwi_cluster *cluster, int i)
{
    return i < cluster->na && (cluster->driven >> i & 1);
}

// True if cluster `here` has all coordinates that move cluster `of`.
static bool has_all_coordinates(const lwi_cluster *here, const lwi_cluster *of)
{
    for (int j = 0; j < of->nx; j++)
        if (!is_driven(of, j) && index_of(here, of->iv[j]) < 0) return false;
    return true;
}

// The lowest common cluster: the outermost one with x that determine all coordinates `a` of the cluster that are not
// driven; -1: none.  at[i]: a cluster with x that determine coordinate i, searched inward from the one that
// introduces it.
static int lowest_common_cluster(const lwi_clusters *c, const lwi_cluster *cluster,
                                 int at[LWI_CLUSTER_KNOWN])
{
    int way[LWI_CLUSTER_KNOWN] = {0};
    for (int i = 0; i < cluster->na; i++)
        at[i] = is_driven(cluster, i) ? -1 : c->scratch->introduced[cluster->iv[i]];
    for (;;) {
        int last = -1;
        bool all = true;
        for (int i = 0; i < cluster->na; i++)
            if (at[i] > last) last = at[i];
        if (last < 0) return -1; // moved by no other cluster
        LWI_ASSERT_INDEX(last, c->ncluster);
        const lwi_cluster *here = &c->cluster[last];
        for (int i = 0; i < cluster->na; i++)
            all = all &&
                  (at[i] == last || is_driven(cluster, i) || index_of(here, cluster->iv[i]) >= 0 ||
                   has_all_coordinates(here, &c->cluster[at[i]]));
        if (all) return last;
        // the parent must determine all that moves `here`
        if (!here->to || here->na < here->nx) return -1;
        for (int i = 0; i < cluster->na; i++) {
            if (at[i] != last) continue;
            if (++way[i] > LWI_CLUSTER_PATH) return -1;
            at[i] = here->parent;
        }
    }
}

// Coordinate iv over the x of a cluster that has it: row, and constant term; entries are LWI_LANES apart.  Driven
// coordinates have a zero row in every cluster.  @return false if the cluster does not have it
static bool row_of(const lwi_clusters *c, const lwi_cluster *cluster, int iv, const double **row,
                   const double **more)
{
    if (iv >= c->nfree) {
        *row = c->unit[LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN];
        *more = &c->drive[iv - c->nfree];
        return true;
    }
    const int z = index_of(cluster, iv), y = z - cluster->nx;
    if (z < 0) return false;
    *row = y < 0 ? c->unit[z * LWI_CLUSTER_KNOWN] : cluster->K + y * cluster->nx * LWI_LANES;
    *more = y < 0 ? c->unit[LWI_CLUSTER_KNOWN * LWI_CLUSTER_KNOWN] : cluster->k + y * LWI_LANES;
    return true;
}

// E and kappa of coordinate i over the x of cluster `to`: computed in every evaluation (forwarded).
static bool add_forwarded(lwi_clusters *c, lwi_cluster *cluster, int i, int to)
{
    const int from = c->scratch->introduced[cluster->iv[i]];
    LWI_ASSERT_INDEX(from, c->ncluster);
    LWI_ASSERT_INDEX(to, c->ncluster);
    const lwi_cluster *parent = &c->cluster[cluster->parent], *end = &c->cluster[to];
    if (c->nforwarded == c->max_forwarded) return false;
    lwi_cluster_forwarded *forwarded = &c->forwarded[c->nforwarded++];
    double *E = lwi_clusters_push(c, (size_t)cluster->inboard + 1, sizeof(lwi_lanes));
    if (!E) return false;
    *forwarded = (lwi_cluster_forwarded){.from = from,
                                         .to = to,
                                         .nx = cluster->inboard,
                                         .same = to == cluster->parent,
                                         .E = E,
                                         .kappa = E + cluster->inboard * LWI_LANES};
    row_of(c, &c->cluster[from], cluster->iv[i], &forwarded->K, &forwarded->k);
    for (int j = 0; j < end->nx && !forwarded->same; j++)
        row_of(c, parent, end->iv[j], &forwarded->row[j], &forwarded->more[j]);
    cluster->E[i] = forwarded->E;
    cluster->kappa[i] = forwarded->kappa;
    return true;
}

// True if `a` has coordinates that are not driven.
static bool is_moved(const lwi_cluster *cluster)
{
    for (int i = 0; i < cluster->na; i++)
        if (!is_driven(cluster, i)) return true;
    return false;
}

// Sets `same` and the places of `a` among the x of the parent.
static void find_places(lwi_cluster *cluster, const lwi_cluster *parent)
{
    cluster->same = true;
    for (int i = 0; i < cluster->na; i++) {
        const int z = index_of(parent, cluster->iv[i]);
        cluster->same = cluster->same && z >= 0 && z < parent->nx && !is_driven(cluster, i);
        cluster->in_parent[i] = (int8_t)z;
    }
}

// Parent of the cluster.  One that introduces no coordinate sends nothing and needs none.
static bool find_parent(lwi_clusters *c, const draft *d, lwi_cluster *cluster)
{
    bool adds = false;
    for (int i = 0; i < d->n; i++) adds = adds || d->own[i];
    if (adds && is_moved(cluster)) {
        int by[LWI_CLUSTER_KNOWN];
        const int at = lowest_common_cluster(c, cluster, by);
        if (at < 0) return false;
        LWI_ASSERT_INDEX(at, c->ncluster); // parents come first
        cluster->parent = at;
        cluster->to = c->cluster[at].sum;
        cluster->to_base_rows = c->cluster[at].base_rows;
        cluster->inboard = c->cluster[at].nx;
        find_places(cluster, &c->cluster[at]);
        for (int i = 0; i < cluster->na; i++)
            if (!row_of(c, &c->cluster[at], cluster->iv[i], &cluster->E[i], &cluster->kappa[i]) &&
                !add_forwarded(c, cluster, i, by[i]))
                return false;
    }
    cluster->size = LWI_CLUSTER_SIZE(cluster->na, cluster->nx, cluster->ny, cluster->inboard);
    return true;
}

// moved_by: coordinates x that move a step; has_dependent: dependent ones do.
static void set_motions(const lwi_clusters *c, draft *d)
{
    lwi_cluster_shape *s = &d->shape;
    s->planar = !s->floats; // a floating base rotates about any axis
    for (int i = 0; i < d->n; i++) {
        lwi_cluster_step *step = &s->step[i];
        const lwi_k_part *part = &c->parts.part[d->part[i]];
        const bool counts =
            part->m > 0 || c->first_attached[d->part[i]] < c->first_attached[d->part[i] + 1];
        LWI_ASSERT(step->parent < i && step->at < s->nstep);
        step->body = (int8_t)(d->own[i] && counts ? s->nbody++ : -1);
        if (step->parent >= 0) {
            step->moved_by = s->step[step->parent].moved_by;
            step->has_dependent = s->step[step->parent].has_dependent;
        }
        if (step->at < s->nx)
            step->moved_by = (uint8_t)(step->moved_by | 1u << step->at);
        else
            step->has_dependent = true, step->moved_by = (uint8_t)((1u << s->nx) - 1);
        s->planar = s->planar && step->axes == LWI_CLUSTER_SAME && !step->slide && !step->ball;
    }
}

static bool add_cluster(lwi_clusters *c, draft *d)
{
    LWI_ASSERT(d->n > 0 && d->n <= LWI_CLUSTER_STEPS);
    if (c->ncluster == c->max_clusters) return false;
    lwi_cluster *cluster = &c->cluster[c->ncluster];
    lwi_cluster_draft_end at[LWI_CLUSTER_CLOSINGS];
    *cluster =
        (lwi_cluster){.loop = d->nloop ? (int)(d->loop[0] - c->loop) : -1, .nloop = d->nloop};
    if (!sort_coordinates(c, d, cluster)) return false;
    lwi_clusters_set_frames(c, d);
    set_motions(c, d);
    const bool coupling = d->nloop && d->loop[0]->coupling >= 0;
    if (coupling && cluster->ny > 1) return false;
    if (d->nloop && !coupling) lwi_clusters_close(c, d, at);
    if (!find_parent(c, d, cluster) || !lwi_clusters_place(c, d, cluster, at)) return false;
    for (int i = 0; i < d->n; i++)
        if (d->own[i]) c->scratch->introduced[c->parts.part[d->part[i]].iv] = c->ncluster;
    lwi_clusters_attach(c, d, c->ncluster);
    if (coupling) c->coupling[d->loop[0]->coupling].cluster = cluster->ny ? c->ncluster : -1;
    c->ncluster++;
    return true;
}

// ------------------------------------------------------------------------------------------- order

// Adds a cluster for the node with the last part `last`: all parts between it and the base.
static bool add_body(lwi_clusters *c, int last)
{
    draft d;
    memset(&d, 0, sizeof d); // padding too: shapes are compared as memory
    int n = 0;
    for (int p = last; p >= 0; p = inboard_of(c, p)) n++;
    if (n > LWI_CLUSTER_STEPS) return false;
    d.n = n;
    for (int p = last; p >= 0; p = inboard_of(c, p)) d.part[--n] = p;
    return add_cluster(c, &d);
}

// Adds clusters for nodes with known coordinates that are not introduced.  roots: only those moved
// by no other speed.
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
        if (!there && !roots && !ready) return false; // a dependent speed that no loop determines
        if (!there && ready && !add_body(c, last)) return false;
        i = last + 1;
    }
    return true;
}

// Adds the parts of a loop that the draft does not have, parents first.
static bool add_parts(draft *d, const lwi_cluster_loop *loop)
{
    for (int i = 0; i < loop->n; i++) {
        int at = d->n;
        while (at > 0 && d->part[at - 1] > loop->part[i]) at--;
        if (at > 0 && d->part[at - 1] == loop->part[i]) continue;
        if (d->n == LWI_CLUSTER_STEPS) return false;
        memmove(d->part + at + 1, d->part + at, (size_t)(d->n++ - at) * sizeof *d->part);
        d->part[at] = loop->part[i];
    }
    return true;
}

static bool add_loops(lwi_clusters *c)
{
    scratch *s = c->scratch;
    lwi_clusters_queue_all(c, true);
    for (int n = 0; n < c->nloop;) {
        const int at = lwi_clusters_next_loop(c);
        int group[LWI_CLUSTER_CLOSINGS] = {at};
        draft d;
        if (at < 0) return false;
        memset(&d, 0, sizeof d);
        d.nloop = s->count[at] > c->loop[at].rank ? lwi_clusters_group(c, at, group) : 1;
        for (int g = 0; g < d.nloop; g++) {
            d.loop[g] = &c->loop[group[g]];
            s->done[group[g]] = true;
            if (!add_parts(&d, d.loop[g])) return false;
        }
        if (!d.nloop || !add_cluster(c, &d)) return false;
        for (int g = 0; g < d.nloop; g++) lwi_clusters_queue_neighbours(c, d.loop[g]);
        n += d.nloop;
    }
    return true;
}

// ------------------------------------------------------------------------------------------- plan

// Marks clusters with children, and of these the first child in the inward order (descending).
static void mark_first(const lwi_clusters *c)
{
    for (int i = c->ncluster - 1; i >= 0; i--) {
        lwi_cluster *cluster = &c->cluster[i];
        if (!cluster->to) continue;
        LWI_ASSERT(cluster->parent < i);
        cluster->first = !c->cluster[cluster->parent].has_children;
        c->cluster[cluster->parent].has_children = true;
    }
}

// Floating bases are introduced before any cluster.  False if a loop would determine the motion of
// a base.
static bool introduce_bases(lwi_clusters *c)
{
    for (int i = 0; i < c->nbase; i++)
        for (int j = 0; j < c->base[i].nv; j++) {
            if (c->dependent[c->base[i].iv + j]) return false;
            c->scratch->introduced[c->base[i].iv + j] = 0;
        }
    return true;
}

// Clusters of the partition.  roots: bodies that only independent speeds move have separate clusters; else those
// between the ends of loops are of the clusters of these, which need not have a common cluster before them then.
static bool make_plan(lwi_clusters *c, bool roots)
{
    c->ncluster = c->nblock = c->nshape = c->nforwarded = 0;
    c->used = 0;
    for (int i = 0; i < c->nv; i++) c->scratch->introduced[i] = -1;
    return introduce_bases(c) && (!roots || add_bodies(c, true)) && add_loops(c) &&
           add_bodies(c, false);
}

bool lwi_clusters_plan(lwi_clusters *c, const unsigned char *dependent)
{
    const size_t n = (size_t)c->nfree;
    if (c->made && memcmp(c->planned, dependent, n) == 0) return c->fits;
    memcpy(c->planned, dependent, n);
    memcpy(c->dependent, dependent, n);
    c->made = true;
    c->plans++;
    c->fits = make_plan(c, true) || make_plan(c, false);
    c->coupled = false;
    for (int i = 0; i < c->ncluster; i++) c->coupled |= c->cluster[i].nloop > 1;
    mark_first(c);
    for (int i = 0; i < c->nrotor && c->fits; i++) {
        lwi_cluster_rotor *rotor = &c->rotor[i];
        rotor->cluster = c->scratch->introduced[rotor->iv];
        LWI_ASSERT_INDEX(rotor->cluster, c->ncluster);
        rotor->z = index_of(&c->cluster[rotor->cluster], rotor->iv);
        LWI_ASSERT(rotor->z >= 0);
    }
    return c->fits;
}

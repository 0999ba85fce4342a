// evaluate.c -- evaluations of `rcr` by loop clusters: from the state to its rates.
#include "methods/rcr/clusters/evaluate.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "kinematics/displacement.h"
#include "methods/rcr/rcr.h"
#include "methods/rcr/clusters/loads.h"
#include "methods/rcr/clusters/kernels.h"
#include "methods/rcr/clusters/reactions.h"
#include "model/signals/functions.h"

#include <math.h>
#include <string.h>

// The last rates.  An output row is at the state of the evaluation that ends the step before it or begins the one after
// it, and each takes what the other has found, once: calls repeated at one state cost and test all that they do.
typedef enum purpose { FOR_NOTHING, FOR_RATES, FOR_ROW } purpose;

typedef struct found {
    purpose what;
    long plan;                    // of lwi_clusters.plans
    double t, *x, *inputs, *xdot; // [nx], [inputs], [nx]; the speeds are those of the evaluation
    double min;
} found;

struct lwi_rcr_clusters {
    const lwi_cluster_kernels *kernels;
    // for so many clusters of a block, or the last ones of it
    const lwi_cluster_kernels *of_count[LWI_LANES + 1];
    lwi_clusters *clusters;
    lwi_rcr_loads loads;
    lwi_cluster_reactions *reactions; // NULL: not loop by loop
    unsigned char *other;             // [tree_nv] scratch: a partition
    // if something is driven or floats, or is on a ball: of the tree, then of the drives
    double *q, *v, *vdot;
    double *effort; // [ndrive] efforts of forces on driven coordinates
    double *change; // [tree_nv + ndrive] scratch: of coordinates
    found found;
};

LWI_ISA_BUILDS(lwi_cluster_kernels, lwi_cluster_kernels);

const lwi_cluster_kernels *lwi_cluster_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

// ------------------------------------------------------------------------------------------ create

static lw_status prepare_found(lwi_work *work, found *f)
{
    lwi_arena *arena = &work->arena;
    f->x = LWI_PUSH(arena, double, work->layout.nx);
    f->xdot = LWI_PUSH(arena, double, work->layout.nx);
    f->inputs = LWI_PUSH(arena, double, work->model->desc.ninput);
    return f->x && f->xdot && f->inputs ? LW_OK : LW_ERR_MEMORY;
}

// The narrowest kernels with a lane for each of `count` clusters, so that few lanes are computed for nothing.  The bits of
// results do not depend on the width.
static const lwi_cluster_kernels *kernels_for(int count)
{
    for (int width = 1; width < LWI_LANES; width *= 4) {
        const lwi_cluster_kernels *kernels = lwi_cluster_kernels_of(width);
        if (kernels && width >= count) return kernels;
    }
    return lwi_cluster_kernels_of(0);
}

static void choose_widths(lwi_rcr_clusters *clusters, int lanes)
{
    clusters->kernels = lwi_cluster_kernels_of(lanes);
    for (int n = 1; n <= LWI_LANES; n++)
        clusters->of_count[n] = lanes ? clusters->kernels : kernels_for(n);
    const lwi_cluster_kernels *k = clusters->kernels;
    LWI_ASSERT(k->any.place && k->any.force && k->gap2 && k->offsets && k->speeds && k->solve);
}

lw_status lwi_rcr_clusters_create(lwi_work *work, lwi_rcr_clusters **out)
{
    const lw_model *model = work->model;
    const lwi_rcr_work *d = work->data;
    *out = NULL;
    if (work->lanes == LWI_NO_KERNEL || !lwi_cluster_kernels_of(work->lanes)) return LW_OK;
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0) return LW_OK;
    bool known;
    lwi_rcr_clusters *clusters = LWI_PUSH(&work->arena, lwi_rcr_clusters, 1);
    int *rate_at = LWI_PUSH(&work->arena, int, model->nloop);
    bool *needed = LWI_PUSH(&work->arena, bool, model->nnode);
    if (clusters) clusters->other = LWI_PUSH(&work->arena, unsigned char, model->tree_nv);
    if (!clusters || !rate_at || !needed || !clusters->other) return LW_ERR_MEMORY;
    TRY(lwi_rcr_loads_create(model, &work->arena, &clusters->loads, needed, &known));
    if (!known) return LW_OK;
    for (int i = 0, k = 0; i < model->nloop; i++) { // joints in increasing order, in both lists
        rate_at[i] = -1;
        for (; k < d->auxiliary.n && d->auxiliary.item[k].joint <= model->loop[i]; k++)
            if (d->auxiliary.item[k].joint == model->loop[i] && rate_at[i] < 0)
                rate_at[i] = d->auxiliary.at + k;
    }
    choose_widths(clusters, work->lanes);
    TRY(lwi_clusters_create(model, d->e.length, d->e.scale, rate_at, needed, lwi_rcr_rank(&d->e),
                            &work->arena, &clusters->clusters));
    if (!clusters->clusters) return LW_OK;
    const lwi_clusters *c = clusters->clusters;
    const int ndrive = c->parts.ndrive, n = model->tree_nq + ndrive; // nq >= nv
    clusters->change = LWI_PUSH(&work->arena, double, model->tree_nv + ndrive);
    if (!clusters->change) return LW_ERR_MEMORY;
    if (ndrive || c->nbase || c->nball) {
        clusters->q = LWI_PUSH(&work->arena, double, n);
        clusters->v = LWI_PUSH(&work->arena, double, n);
        clusters->vdot = LWI_PUSH(&work->arena, double, n);
        clusters->effort = LWI_PUSH(&work->arena, double, ndrive);
        if (!clusters->q || !clusters->v || !clusters->vdot || !clusters->effort)
            return LW_ERR_MEMORY;
    }
    TRY(prepare_found(work, &clusters->found));
    TRY(lwi_cluster_reactions_create(clusters->clusters, model, d->reactions != NULL, work->lanes,
                                     &work->arena, &clusters->reactions));
    *out = clusters;
    return LW_OK;
}

// -------------------------------------------------------------------------------------- partition

// Effect of a unit of speed iv on the rows of the joint or coupling that closes the loop.
static void column(const void *user, int loop, int side, int iv, double w[6])
{
    const lwi_rcr_work *d = user;
    const lwi_rcr *e = &d->e;
    const lw_model *model = e->model;
    v6_zero(w);
    if (loop >= model->nloop) { // a coupling: its dependent coordinate has side 1
        const lwi_coupling *source = &model->coupling[loop - model->nloop];
        const lwi_cluster_coupling *coupling =
            &d->clusters->clusters->coupling[loop - model->nloop];
        double p[2];
        lwi_clusters_coupling_slopes(
            coupling, d->tree.joint_q[model->joint[source->of].iq + source->with], p);
        w[0] = side > 0 ? 1 : -p[0];
        return;
    }
    const lwi_joint *joint = &model->joint[model->loop[loop]];
    const lwi_closure *c = &d->cut.closure[loop];
    const int body = side > 0 ? joint->body2 : joint->body1;
    int at = 0;
    LWI_ASSERT_INDEX(iv, model->tree_nv);
    LWI_ASSERT(body > 0);
    const int k = d->clusters->clusters->node_of[iv];
    while (at < c->nbody - 1 && c->body[at] != body) at++;
    const double *S = e->S[iv];
    double arm[3], v[6];
    v3_sub(arm, d->tree.body_r[body], d->tree.r[k]);
    v3_scale(v, e->length, S);
    v3_copy(v + 3, S + 3);
    v3_cross_add(v, S + 3, arm);
    for (int r = 0; r < c->n; r++)
        w[r] = v6_dot(c->J[at][r], v) / (d->cut.len[d->cut.first[loop] + r] * e->length);
}

// Smallest pivot of a partition in the elimination; 0: it is singular.
static double min_pivot_of(lwi_rcr_work *d, double t, unsigned char *dependent)
{
    lw_error error;
    d->e.dependent = dependent;
    return lwi_rcr_factor(&d->e, LWI_RCR_SPEEDS, t, &error) == LW_OK ? d->e.min_pivot : 0;
}

// Whether the pivots of a partition are above the limit of a new choice, or equal to those of the other one up to rounding.
static bool is_good(lwi_work *work, double t, const double *x, unsigned char *dependent,
                    unsigned char *other)
{
    lwi_rcr_work *d = work->data;
    const double far = 0.5 * (d->theta + d->keep);
    if (lwi_rcr_clusters_pivot(work, t, x, other) > far) return true;
    const double min = min_pivot_of(d, t, other);
    return min > far || min > 0.99 * min_pivot_of(d, t, dependent);
}

void lwi_rcr_clusters_prefer(lwi_work *work, double t, const double *x, unsigned char *dependent)
{
    lwi_rcr_work *d = work->data;
    unsigned char *const before = d->e.dependent, *other = d->clusters->other;
    const size_t n = (size_t)work->model->tree_nv;
    for (int all_loops = 0; all_loops < 2; all_loops++) {
        memcpy(other, dependent, n);
        if (!lwi_clusters_prefer(d->clusters->clusters, column, d, all_loops, other)) {
            if (all_loops == 0) break; // suitable already
            continue;
        }
        if (!lwi_rcr_clusters_fit(d->clusters, other)) continue; // the elimination evaluates it
        if (!is_good(work, t, x, dependent, other)) continue;
        memcpy(dependent, other, n);
        break;
    }
    d->e.dependent = before;
}

// -------------------------------------------------------------------------------------- evaluation

static bool all_finite(int n, const double *x)
{
    lwi_lanes nothing = {0}; // x - x is not 0 if x is not finite
    double sum = 0;
    for (; n >= LWI_LANES; n -= LWI_LANES, x += LWI_LANES)
        for (int l = 0; l < LWI_LANES; l++) nothing[l] += x[l] - x[l];
    for (int l = 0; l < n; l++) sum += x[l] - x[l];
    for (int l = 0; l < LWI_LANES; l++) sum += nothing[l];
    return sum == 0;
}

// Rates of auxiliary states and work.
static void other_rates(const lwi_rcr_work *d, const lwi_clusters *c, double drives, double *xdot)
{
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        for (int k = 0; k < b->shape->nrate; k++)
            for (int l = 0; l < b->count; l++) xdot[b->rate_at[k][l]] = b->rate[k][l];
    }
    if (d->auxiliary.at_work >= 0) xdot[d->auxiliary.at_work] = d->tree.power + drives;
}

bool lwi_rcr_clusters_fit(const lwi_rcr_clusters *clusters, const unsigned char *dependent)
{
    lwi_clusters *c = clusters->clusters;
    return lwi_clusters_plan(c, dependent) && c->ncluster > 0;
}

int lwi_rcr_clusters_count(const lwi_rcr_clusters *clusters)
{
    return clusters->clusters->made && clusters->clusters->fits ? clusters->clusters->ncluster : 0;
}

void lwi_rcr_clusters_cost(const lwi_rcr_clusters *clusters, double *steps, double *products)
{
    *steps = *products = 0;
    if (lwi_rcr_clusters_count(clusters)) lwi_clusters_count(clusters->clusters, steps, products);
}

// q: coordinates of tree and drives at (t, x); also speeds and accelerations of the drives.
static const double *drive(const lw_model *model, lwi_rcr_clusters *clusters, double t,
                           const double *x)
{
    const lwi_clusters *c = clusters->clusters;
    const int n = model->tree_nq;
    if (!c->parts.ndrive) return x;
    memcpy(clusters->q, x, (size_t)n * sizeof *x);
    for (int i = 0; i < c->parts.ndrive; i++) {
        const lwi_k_drive *of = &c->parts.drive[i];
        double f[3];
        lwi_function_eval(model->function, model->joint[of->joint].motion[of->coordinate], t, f);
        clusters->q[n + i] = f[0];
        clusters->v[model->tree_nv + i] = f[1];
        clusters->vdot[model->tree_nv + i] = c->drive[i] = f[2];
    }
    return clusters->q;
}

// Motion of driven coordinates, for forces.
static void set_driven_motion(const lw_model *model, const lwi_rcr_clusters *clusters,
                              lwi_tree_work *tree)
{
    const lwi_k_parts *parts = &clusters->clusters->parts;
    for (int i = 0; i < parts->ndrive; i++) {
        const lwi_joint *joint = &model->joint[parts->drive[i].joint];
        tree->joint_q[joint->iq + parts->drive[i].coordinate] = clusters->q[model->tree_nq + i];
        tree->joint_qd[joint->iv + parts->drive[i].coordinate] = clusters->v[model->tree_nv + i];
    }
}

static double drive_power(const lw_model *model, const lwi_rcr_clusters *clusters,
                          const lwi_tree_work *tree)
{
    const lwi_k_parts *parts = &clusters->clusters->parts;
    if (!parts->ndrive) return 0;
    for (int i = 0; i < parts->ndrive; i++) {
        const lwi_k_drive *of = &parts->drive[i];
        clusters->effort[i] = tree->loads.effort[model->joint[of->joint].iv + of->coordinate];
    }
    return lwi_clusters_drive_power(clusters->clusters, clusters->v, clusters->vdot,
                                    clusters->effort);
}

// The phases of the clusters from lane l on.
static const lwi_cluster_phases *phases(const lwi_rcr_clusters *clusters,
                                        const lwi_cluster_block *b, int l, int *width)
{
    const lwi_cluster_kernels *kernels = clusters->of_count[b->count - l];
    *width = kernels->width;
    return lwi_cluster_phases_of(kernels, b);
}

// The narrowest ones for the largest block.
static const lwi_cluster_kernels *kernels_of_all(const lwi_rcr_clusters *clusters)
{
    const lwi_clusters *c = clusters->clusters;
    int count = 1;
    for (int i = 0; i < c->nblock && count < LWI_LANES; i++)
        count = c->block[i].count > count ? c->block[i].count : count;
    return clusters->of_count[count];
}

static bool place_blocks(const lwi_rcr_clusters *clusters, const double *q, double *max_ratio2)
{
    const lwi_clusters *c = clusters->clusters;
    bool valid = true;
    *max_ratio2 = 0;
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        for (int l = 0, width = 0; l < b->count; l += width)
            valid =
                phases(clusters, b, l, &width)->place(b, q, c->per_length2, max_ratio2, l) && valid;
    }
    return valid;
}

static void force_blocks(const lwi_rcr_clusters *clusters, const double *v, const double *tau)
{
    const lwi_clusters *c = clusters->clusters;
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        for (int l = 0, width = 0; l < b->count; l += width)
            phases(clusters, b, l, &width)->force(b, v, tau, c->per_length2, l);
    }
}

// Everything that depends on positions alone.
static bool place(lwi_rcr_clusters *clusters, const double *q, double *max_ratio2)
{
    clusters->found.what = FOR_NOTHING; // `margin` is that of the last place
    const double laws = lwi_clusters_place_couplings(clusters->clusters, q);
    if (!place_blocks(clusters, q, max_ratio2)) return false;
    *max_ratio2 = fmax(*max_ratio2, laws);
    lwi_clusters_rotors(clusters->clusters);
    return true;
}

// Whether the elimination need not take over from the smallest pivot `min` of the present plan.
static bool is_large(const lwi_clusters *c, double min)
{
    return min > (c->coupled ? LWI_CLUSTER_COUPLED_DELAY : LWI_RCR_DELAY);
}

double lwi_rcr_clusters_pivot(const lwi_work *work, double t, const double *x,
                              const unsigned char *dependent)
{
    const lwi_rcr_work *d = work->data;
    double max_ratio2;
    if (!lwi_clusters_plan(d->clusters->clusters, dependent)) return 0;
    const double *q = drive(work->model, d->clusters, t, x);
    return place(d->clusters, q, &max_ratio2) ? 1 / sqrt(1 + max_ratio2) : 0;
}

// The smallest pivot of lanes of a block, after `place` or, with q, there: kernels for constant shapes place as fast.
static double pivot_of(const lwi_rcr_clusters *clusters, const lwi_cluster_block *b,
                       const double *q, int l, int *width)
{
    const lwi_cluster_kernels *kernels = clusters->of_count[b->count - l];
    const lwi_cluster_phases *own = lwi_cluster_phases_of(kernels, b);
    const double per_length2 = clusters->clusters->per_length2;
    double ratio2 = 0;
    *width = kernels->width;
    if (q && own == &kernels->any) return kernels->pivot_at(b, q, per_length2, l);
    if (q && !own->place(b, q, per_length2, &ratio2, l)) return 0;
    return own->pivot(b, l);
}

// The smallest one of all loops that joints close.  Of couplings it is not known.
static double smallest_pivot(const lwi_rcr_clusters *clusters, const double *q)
{
    const lwi_clusters *c = clusters->clusters;
    double smallest = 1;
    for (int i = 0; i < c->nblock && smallest > 0; i++) {
        const lwi_cluster_block *b = &c->block[i];
        if (b->shape->ny && !b->shape->nclosing) return 0;
        for (int l = 0, width = 0; l < b->count && b->shape->ny; l += width)
            smallest = fmin(smallest, pivot_of(clusters, b, q, l, &width));
    }
    return smallest;
}

double lwi_rcr_clusters_margin(const lwi_rcr_clusters *clusters)
{
    return sqrt(smallest_pivot(clusters, NULL));
}

double lwi_rcr_clusters_margin_at(lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    lwi_rcr_clusters *clusters = d->clusters;
    const lwi_rcr_choice *choice = work->discrete;
    if (!choice->made || !lwi_rcr_clusters_fit(clusters, choice->dependent)) return 0;
    clusters->found.what = FOR_NOTHING; // as `place`
    return sqrt(smallest_pivot(clusters, drive(work->model, clusters, t, x)));
}

double lwi_rcr_clusters_gap(lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_clusters *c = d->clusters->clusters;
    double loops2;
    const unsigned char *dependent =
        choice->made ? choice->dependent : lwi_rcr_start_partition(work);
    if (!dependent || !lwi_clusters_plan(c, dependent)) return INFINITY;
    const double *q = drive(work->model, d->clusters, t, x);
    if (!kernels_of_all(d->clusters)->gap2(c, q, &loops2)) return INFINITY;
    return fmax(sqrt(loops2), lwi_clusters_coupling_gap(c, q));
}

// A loop that needs a longer change of a coordinate, in lengths of the mechanism or radians, is not closed; the square of
// the last one is round-off, also where rows depend on each other nearly.
#define LONGEST_CHANGE 0.5
#define LAST_CHANGE 1e-9

// Moves the dependent coordinates of x by K and k.  @return the longest change
static double displace(const lwi_rcr_clusters *clusters, double *x)
{
    const lwi_clusters *c = clusters->clusters;
    double *change = clusters->change, longest = 0;
    memset(change, 0, (size_t)c->nv * sizeof *change);
    for (int i = 0; i < c->ncluster; i++) {
        const lwi_cluster *cluster = &c->cluster[i];
        const lwi_cluster_block *b = &c->block[cluster->block];
        for (int y = 0; y < cluster->ny; y++) {
            const int at = cluster->nx + y, iv = cluster->iv[at];
            double sum = cluster->k[y * LWI_LANES];
            for (int j = 0; j < cluster->nx; j++)
                sum += cluster->K[(y * cluster->nx + j) * LWI_LANES] * change[cluster->iv[j]];
            change[iv] = sum;
            longest = fmax(longest, fabs(sum) * c->scale[iv]);
            if (lwi_joint_is_ball(c->model->node[c->node_of[iv]].type)) continue;
            x[b->iq[at][cluster->lane]] += sum;
        }
    }
    for (int i = 0; i < c->nball; i++) {
        const lwi_node *node = &c->model->node[c->ball[i]];
        const double *moved = change + node->iv;
        if (moved[0] == 0 && moved[1] == 0 && moved[2] == 0) continue; // the same bits
        lwi_displace_joint(&c->model->joint[node->joint], x + node->iq, moved);
    }
    return longest;
}

bool lwi_rcr_clusters_close(lwi_work *work, double t, double *x, double gap)
{
    enum { FEW = 6 };
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_clusters *c = d->clusters->clusters;
    const unsigned char *dependent =
        choice->made ? choice->dependent : lwi_rcr_start_partition(work);
    if (!dependent || !lwi_rcr_clusters_fit(d->clusters, dependent)) return false;
    for (int i = 0; i < FEW; i++) {
        double max_ratio2;
        const double *q = drive(work->model, d->clusters, t, x);
        if (!place(d->clusters, q, &max_ratio2)) return false;
        if (!is_large(c, 1 / sqrt(1 + max_ratio2))) return false;
        d->clusters->kernels->offsets(c);
        lwi_clusters_coupling_offsets(c, q);
        const double change = displace(d->clusters, x);
        const double left = change * change * fmax(1, d->e.length); // of the residual, about
        if (change <= LAST_CHANGE || left <= gap) return true;
        if (!(change <= LONGEST_CHANGE)) return false;
    }
    return false;
}

// qdot: the speeds, except for floating bases and balls.
static void coordinate_rates(const lw_model *model, const lwi_clusters *c, const double *x,
                             const double *v, double *qdot)
{
    int iq = 0, iv = 0;
    for (int i = 0, k = 0; i + k <= c->nbase + c->nball;) {
        const lwi_cluster_base *base = i < c->nbase ? &c->base[i] : NULL;
        if (k < c->nball && (!base || c->ball[k] < base->node)) base = NULL;
        const int at = base ? base->node : k < c->nball ? c->ball[k] : -1;
        const lwi_node *node = at < 0 ? NULL : &model->node[at];
        const int n = (node ? node->iv : model->tree_nv) - iv;
        LWI_ASSERT(n >= 0); // nodes are sorted
        memcpy(qdot + iq, v + iv, (size_t)n * sizeof *v);
        if (!node) return;
        if (base)
            lwi_link_kinematics(model, at, &base->link, v + node->iv, qdot + node->iq), i++;
        else
            node->type->kinematics(node->par, x + node->iq, v + node->iv, qdot + node->iq), k++;
        iq = node->iq + node->nq;
        iv = node->iv + node->nv;
    }
}

// Independent speeds v [tree_nv, then of the drives] to all of them; `min` as lwi_rcr_clusters_rates.
static bool find_speeds(lwi_work *work, double t, const double *x, double *v, double *min,
                        const double **q)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_clusters *c = d->clusters->clusters;
    double max_ratio2;
    if (!lwi_clusters_plan(c, choice->dependent)) return false;
    *q = drive(model, d->clusters, t, x);
    if (!place(d->clusters, *q, &max_ratio2)) return false;
    LWI_ASSERT(!(max_ratio2 < 0));
    *min = 1 / sqrt(1 + max_ratio2);
    if (!is_large(c, *min)) return false;
    memcpy(v, x + model->tree_nq, (size_t)model->tree_nv * sizeof *v);
    d->clusters->kernels->speeds(c, v);
    return true;
}

// After find_speeds.
static bool find_accelerations(lwi_work *work, double t, const double *x, const double *q,
                               const double *v, const double *inputs, double *vdot)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_clusters *c = d->clusters->clusters;
    const bool loaded = model->nforce || d->tree.added;
    lwi_clusters_place_bases(c, t, q);
    lwi_clusters_move_bases(c, t, v);
    LWI_ASSERT(c->nv == model->tree_nv + c->parts.ndrive);
    if (loaded && c->parts.ndrive) set_driven_motion(model, d->clusters, &d->tree);
    if (loaded) lwi_rcr_loads_apply(work, &d->clusters->loads, c, t, x, v, inputs);
    lwi_clusters_coupling_forces(c, q, v);
    force_blocks(d->clusters, v, loaded ? d->tree.effort : NULL);
    if (loaded) lwi_clusters_load_bases(c, d->tree.effort);
    if (loaded) lwi_rcr_loads_pass(work, &d->clusters->loads, c);
    lwi_clusters_rotor_forces(c);
    return d->clusters->kernels->solve(c, vdot);
}

// Speeds and accelerations have room for those of the drives.
static bool has_others(const lwi_clusters *c)
{
    return c->parts.ndrive > 0 || c->nbase > 0 || c->nball > 0;
}

static bool find_rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot, double *min)
{
    const lw_model *model = work->model;
    const lwi_rcr_work *d = work->data;
    const lwi_clusters *c = d->clusters->clusters;
    const int nq = model->tree_nq, nv = model->tree_nv;
    const bool other = has_others(c);
    double *v = other ? d->clusters->v : xdot; // coordinates without N(q): qdot = u
    double *vdot = other ? d->clusters->vdot : xdot + nq;
    const double *q;
    if (!find_speeds(work, t, x, v, min, &q)) return false;
    if (!find_accelerations(work, t, x, q, v, inputs, vdot)) return false;
    if (other) {
        coordinate_rates(model, c, x, v, xdot);
        memcpy(xdot + nq, vdot, (size_t)nv * sizeof *xdot);
    }
    if (!all_finite(nq + nv, xdot)) return false;
    other_rates(d, c, drive_power(model, d->clusters, &d->tree), xdot);
    return true;
}

// Modes of forces and added efforts are not in the state.  Only rows without multipliers take evaluations.
static bool may_share(const lwi_work *work)
{
    const lwi_rcr_work *d = work->data;
    return (d->reactions || d->clusters->reactions) && work->model->nmode == 0 && !d->tree.added;
}

// At this state, partition and time: speeds do not depend on inputs.
static bool is_at(const lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    const found *f = &d->clusters->found;
    const lwi_clusters *c = d->clusters->clusters;
    const lwi_rcr_choice *choice = work->discrete;
    return f->what != FOR_NOTHING && t == f->t &&
           !memcmp(x, f->x, (size_t)work->layout.nx * sizeof *x) && f->plan == c->plans &&
           !memcmp(choice->dependent, c->planned, (size_t)c->nfree);
}

static bool is_found(const lwi_work *work, double t, const double *x, const double *inputs,
                     purpose what)
{
    const lwi_rcr_work *d = work->data;
    const found *f = &d->clusters->found;
    const size_t ninput = (size_t)work->model->desc.ninput;
    return f->what == what && is_at(work, t, x) &&
           (!ninput || !memcmp(inputs, f->inputs, ninput * sizeof *inputs));
}

// New rates, which are kept.
static bool renew_rates(lwi_work *work, double t, const double *x, const double *inputs,
                        purpose what, double *xdot, double *min)
{
    const lwi_rcr_work *d = work->data;
    found *f = &d->clusters->found;
    const size_t nx = (size_t)work->layout.nx, ninput = (size_t)work->model->desc.ninput;
    if (!find_rates(work, t, x, inputs, xdot, min)) return false;
    if (!may_share(work)) return true;
    f->what = what;
    f->plan = d->clusters->clusters->plans;
    f->t = t;
    f->min = *min;
    memcpy(f->x, x, nx * sizeof *x);
    if (xdot != f->xdot) memcpy(f->xdot, xdot, nx * sizeof *x);
    if (ninput) memcpy(f->inputs, inputs, ninput * sizeof *inputs);
    return true;
}

bool lwi_rcr_clusters_rates(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot, double *min)
{
    const lwi_rcr_work *d = work->data;
    found *f = &d->clusters->found;
    if (!is_found(work, t, x, inputs, FOR_ROW))
        return renew_rates(work, t, x, inputs, FOR_RATES, xdot, min);
    memcpy(xdot, f->xdot, (size_t)work->layout.nx * sizeof *xdot);
    *min = f->min;
    f->what = FOR_NOTHING;
    return true;
}

bool lwi_rcr_clusters_speeds(lwi_work *work, double t, const double *x, double *v, double *min)
{
    const lwi_rcr_work *d = work->data;
    const int nv = work->model->tree_nv;
    const bool other = has_others(d->clusters->clusters);
    double *speeds = other ? d->clusters->v : v;
    const double *q;
    if (!find_speeds(work, t, x, speeds, min, &q) || !all_finite(nv, speeds)) return false;
    if (other) memcpy(v, speeds, (size_t)nv * sizeof *v);
    return true;
}

// Those of the rates that were found last.
static const double *found_speeds(const lwi_rcr_clusters *clusters)
{
    return has_others(clusters->clusters) ? clusters->v : clusters->found.xdot;
}

bool lwi_rcr_clusters_motion(lwi_work *work, double t, const double *x, const double *inputs,
                             double *v, double *vdot)
{
    const lwi_rcr_work *d = work->data;
    found *f = &d->clusters->found;
    const size_t bytes = (size_t)work->model->tree_nv * sizeof *v;
    double min;
    if (!vdot && !is_at(work, t, x)) return lwi_rcr_clusters_speeds(work, t, x, v, &min);
    if (!vdot) {
        memcpy(v, found_speeds(d->clusters), bytes);
        return true;
    }
    if (is_found(work, t, x, inputs, FOR_RATES)) {
        f->what = FOR_NOTHING;
    } else {
        lwi_states_set(work, x, f->xdot);
        const bool done = renew_rates(work, t, x, inputs, FOR_ROW, f->xdot, &min);
        lwi_states_set(work, x, NULL);
        if (!done) return false;
    }
    memcpy(v, found_speeds(d->clusters), bytes);
    memcpy(vdot, f->xdot + work->model->tree_nq, bytes);
    return true;
}

bool lwi_rcr_clusters_have_reactions(const lwi_rcr_clusters *clusters)
{
    return clusters->reactions != NULL;
}

bool lwi_rcr_clusters_fit_reactions(const lwi_rcr_clusters *clusters,
                                    const unsigned char *dependent)
{
    return clusters->reactions && lwi_rcr_clusters_fit(clusters, dependent) &&
           lwi_cluster_reactions_fit(clusters->reactions, clusters->clusters);
}

bool lwi_rcr_clusters_find_reactions(const lwi_work *work, double (*reaction)[6])
{
    const lwi_rcr_work *d = work->data;
    return lwi_cluster_reactions_find(d->clusters->reactions, d->clusters->clusters, &d->tree,
                                      reaction);
}

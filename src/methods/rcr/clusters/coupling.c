// coupling.c -- couplings of two coordinates that close clusters.
//
//     q_0 = p(q_1):   q_0.. = p' q_1.. + p'' q_1.^2
//
// K and k of the cluster are one number each, with either of the two coordinates as the dependent one.
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"

// ------------------------------------------------------------------------------------------ create

// The part of coordinate k of a joint of the tree; -1: none.
static int part_of(const lw_model *model, const lwi_k_parts *parts, int joint, int k)
{
    const int node = model->joint[joint].node;
    if (node < 0) return -1;
    int iv = -1;
    for (int j = 0; j < model->node[node].nv; j++)
        if (model->node[node].column[j] == k) iv = model->node[node].iv + j;
    for (int i = 0; i < parts->ndrive; i++)
        if (parts->drive[i].joint == joint && parts->drive[i].coordinate == k)
            iv = model->tree_nv + i;
    for (int p = 0; p < parts->n; p++)
        if (parts->part[p].iv == iv) return p;
    return -1;
}

static bool set_coupling(const lw_model *model, int i, lwi_clusters *c)
{
    const lwi_coupling *source = &model->coupling[i];
    lwi_cluster_loop *loop = &c->loop[model->nloop + i];
    lwi_cluster_coupling *coupling = &c->coupling[i];
    const int part[2] = {part_of(model, &c->parts, source->joint, source->coordinate),
                         part_of(model, &c->parts, source->of, source->with)};
    *loop = (lwi_cluster_loop){.coupling = i, .rank = 1, .rate_at = -1, .end = {part[0], part[1]}};
    *coupling = (lwi_cluster_coupling){.c = source->c, .n = source->n, .cluster = -1};
    if (part[0] < 0 || part[1] < 0 || c->parts.part[part[0]].floats ||
        c->parts.part[part[1]].floats || !lwi_clusters_find_path(c, loop))
        return false;
    for (int s = 0; s < 2; s++) {
        coupling->iq[s] = c->parts.part[part[s]].iq;
        coupling->iv[s] = c->parts.part[part[s]].iv;
    }
    for (int k = 0; k < loop->n; k++) // only these two coordinates enter the coupling
        loop->side[k] = (int8_t)(loop->part[k] == part[0] ? 1 : loop->part[k] == part[1] ? -1 : 0);
    return true;
}

lw_status lwi_clusters_create_couplings(lwi_clusters *c, const lw_model *model, lwi_arena *arena,
                                        bool *all)
{
    *all = true;
    c->ncoupling = model->ncoupling;
    c->coupling = LWI_PUSH(arena, lwi_cluster_coupling, c->ncoupling);
    if (!c->coupling) return LW_ERR_MEMORY;
    for (int i = 0; i < c->ncoupling; i++) *all = *all && set_coupling(model, i, c);
    return LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

void lwi_clusters_coupling_slopes(const lwi_cluster_coupling *coupling, double x, double p[2])
{
    p[0] = p[1] = 0;
    for (int i = coupling->n - 1; i >= 1; i--) {
        p[1] = p[1] * x + p[0]; // Horner's scheme of p' and its derivative
        p[0] = p[0] * x + i * coupling->c[i];
    }
}

// q_0 - p(q_1)
static double gap_of(const lwi_cluster_coupling *coupling, const double *q)
{
    double p = 0;
    for (int k = coupling->n - 1; k >= 0; k--) p = p * q[coupling->iq[1]] + coupling->c[k];
    return q[coupling->iq[0]] - p;
}

double lwi_clusters_coupling_gap(const lwi_clusters *c, const double *q)
{
    double max = 0;
    for (int i = 0; i < c->ncoupling; i++) max = fmax(max, fabs(gap_of(&c->coupling[i], q)));
    return max;
}

// A coupling in its cluster at coordinates q.
typedef struct coupling_here {
    const lwi_cluster *cluster;
    const lwi_cluster_block *block;
    double p[2]; // first and second derivative
    bool direct; // coordinate 0 depends on 1; else 1 on 0
    int known;   // index of the known one in x
} coupling_here;

// False if the coupling closes no cluster of the partition.
static bool look_up(const lwi_clusters *c, const lwi_cluster_coupling *coupling, const double *q,
                    coupling_here *here)
{
    if (coupling->cluster < 0) return false;
    const lwi_cluster *cluster = here->cluster = &c->cluster[coupling->cluster];
    here->block = &c->block[cluster->block];
    here->direct = cluster->iv[cluster->nx] == coupling->iv[0];
    here->known = 0;
    while (cluster->iv[here->known] != coupling->iv[here->direct]) here->known++;
    LWI_ASSERT(here->known < cluster->nx && cluster->ny == 1);
    lwi_clusters_coupling_slopes(coupling, q[coupling->iq[1]], here->p);
    return true;
}

double lwi_clusters_place_couplings(const lwi_clusters *c, const double *q)
{
    double max_ratio2 = 0;
    for (int i = 0; i < c->ncoupling; i++) {
        coupling_here found;
        if (!look_up(c, &c->coupling[i], q, &found)) continue;
        const lwi_cluster *cluster = found.cluster;
        const double K = found.direct ? found.p[0] : 1 / found.p[0];
        const double unit = c->scale[cluster->iv[found.known]];
        const double ratio = unit > 0 ? c->scale[cluster->iv[cluster->nx]] / unit : 0;
        LWI_ASSERT_INDEX(cluster->lane, LWI_LANES);
        found.block->K[found.known][cluster->lane] = K; // the others are zero
        max_ratio2 = fmax(max_ratio2, K * K * ratio * ratio);
    }
    return max_ratio2;
}

void lwi_clusters_coupling_forces(const lwi_clusters *c, const double *q, const double *v)
{
    for (int i = 0; i < c->ncoupling; i++) {
        coupling_here found;
        if (!look_up(c, &c->coupling[i], q, &found)) continue;
        const double rate = v[c->coupling[i].iv[1]], more = found.p[1] * rate * rate;
        found.block->k[0][found.cluster->lane] = found.direct ? more : -more / found.p[0];
    }
}

void lwi_clusters_coupling_offsets(const lwi_clusters *c, const double *q)
{
    for (int i = 0; i < c->ncoupling; i++) {
        coupling_here found;
        if (!look_up(c, &c->coupling[i], q, &found)) continue;
        const double gap = gap_of(&c->coupling[i], q);
        found.block->k[0][found.cluster->lane] = found.direct ? -gap : gap / found.p[0];
    }
}

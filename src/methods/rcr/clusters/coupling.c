// coupling.c -- couplings of two coordinates as what closes a cell.
//
//     q_0 = p(q_1):   q_0.. = p' q_1.. + p'' q_1.^2
//
// K and k of the cell are one number each, for either of the two as the one that depends on the other.
#include "methods/rcr/clusters/plan.h"

// ------------------------------------------------------------------------------------------ create

// The part of coordinate k of a joint in the tree; -1: it has none.
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

static bool set_law(const lw_model *model, int i, lwi_clusters *c)
{
    const lwi_coupling *coupling = &model->coupling[i];
    lwi_cluster_loop *loop = &c->loop[model->nloop + i];
    lwi_cluster_law *law = &c->law[i];
    const int part[2] = {part_of(model, &c->parts, coupling->joint, coupling->coordinate),
                         part_of(model, &c->parts, coupling->of, coupling->with)};
    *loop = (lwi_cluster_loop){.law = i, .carried = -1, .end = {part[0], part[1]}};
    *law = (lwi_cluster_law){.c = coupling->c, .n = coupling->n, .cell = -1};
    if (part[0] < 0 || part[1] < 0 || c->parts.part[part[0]].floats ||
        c->parts.part[part[1]].floats || !lwi_clusters_find_path(c, loop))
        return false;
    for (int s = 0; s < 2; s++) {
        law->iq[s] = c->parts.part[part[s]].iq;
        law->iv[s] = c->parts.part[part[s]].iv;
    }
    for (int k = 0; k < loop->n; k++) // only these two are in the loop
        loop->side[k] = (int8_t)(loop->part[k] == part[0] ? 1 : loop->part[k] == part[1] ? -1 : 0);
    return true;
}

lw_status lwi_clusters_create_laws(lwi_clusters *c, const lw_model *model, lwi_arena *arena,
                                   bool *all)
{
    *all = true;
    c->nlaw = model->ncoupling;
    c->law = LWI_PUSH(arena, lwi_cluster_law, c->nlaw);
    if (!c->law) return LW_ERR_MEMORY;
    for (int i = 0; i < c->nlaw; i++) *all = *all && set_law(model, i, c);
    return LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

void lwi_clusters_law(const lwi_cluster_law *law, double x, double p[2])
{
    p[0] = p[1] = 0;
    for (int i = law->n - 1; i >= 1; i--) {
        p[1] = p[1] * x + p[0]; // Horner's scheme of p', differentiated
        p[0] = p[0] * x + i * law->c[i];
    }
}

double lwi_clusters_law_gap(const lwi_clusters *c, const double *q)
{
    double most = 0;
    for (int i = 0; i < c->nlaw; i++) {
        const lwi_cluster_law *law = &c->law[i];
        double p = 0;
        for (int k = law->n - 1; k >= 0; k--) p = p * q[law->iq[1]] + law->c[k];
        most = fmax(most, fabs(q[law->iq[0]] - p));
    }
    return most;
}

// A law in its cell at coordinates q.
typedef struct law_here {
    const lwi_cluster *cell;
    const lwi_cluster_block *block;
    double p[2]; // first and second derivative
    bool direct; // coordinate 0 depends on 1, else 1 on 0
    int known;   // where the known one is among x
} law_here;

// False where the law closes no cell of the partition.
static bool look_up(const lwi_clusters *c, const lwi_cluster_law *law, const double *q,
                    law_here *here)
{
    if (law->cell < 0) return false;
    const lwi_cluster *cell = here->cell = &c->cell[law->cell];
    here->block = &c->block[cell->block];
    here->direct = cell->iv[cell->nx] == law->iv[0];
    here->known = 0;
    while (cell->iv[here->known] != law->iv[here->direct]) here->known++;
    lwi_clusters_law(law, q[law->iq[1]], here->p);
    return true;
}

double lwi_clusters_laws(const lwi_clusters *c, const double *q)
{
    double steepest = 0;
    for (int i = 0; i < c->nlaw; i++) {
        law_here law;
        if (!look_up(c, &c->law[i], q, &law)) continue;
        const lwi_cluster *cell = law.cell;
        const double K = law.direct ? law.p[0] : 1 / law.p[0];
        const double unit = c->scale[cell->iv[law.known]];
        const double ratio = unit > 0 ? c->scale[cell->iv[cell->nx]] / unit : 0;
        law.block->K[law.known][cell->lane] = K; // the others are zero
        steepest = fmax(steepest, K * K * ratio * ratio);
    }
    return steepest;
}

void lwi_clusters_law_forces(const lwi_clusters *c, const double *q, const double *v)
{
    for (int i = 0; i < c->nlaw; i++) {
        law_here law;
        if (!look_up(c, &c->law[i], q, &law)) continue;
        const double rate = v[c->law[i].iv[1]], more = law.p[1] * rate * rate;
        law.block->k[0][law.cell->lane] = law.direct ? more : -more / law.p[0];
    }
}

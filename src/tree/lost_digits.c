// lost_digits.c -- digits that recursions along a tree lose where bodies differ very much in mass.
#include "tree/lost_digits.h"

#include "spatial/motion.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Ratios of masses and of inertias below which errors are small.
#define MASS_RATIO 1e5
#define INERTIA_RATIO 1e8

bool lwi_bodies_differ(const lw_model *model)
{
    double smallest[2] = {INFINITY, INFINITY}, largest[2] = {0};
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const double size[2] = {node->mass, node->J[0] + node->J[1] + node->J[2]};
        for (int i = 0; i < 2; i++) {
            if (!(size[i] > 0)) continue; // massless: nothing can be lost
            smallest[i] = fmin(smallest[i], size[i]);
            largest[i] = fmax(largest[i], size[i]);
        }
    }
    return largest[0] > MASS_RATIO * smallest[0] || largest[1] > INERTIA_RATIO * smallest[1];
}

static void triple(double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] *= 3;
}

static lw_status triple_model(const lw_model *model, lwi_arena *arena, lw_model *tripled)
{
    *tripled = *model;
    tripled->node = LWI_PUSH(arena, lwi_node, model->nnode);
    tripled->tree_rotor = LWI_PUSH(arena, double, model->tree_nv);
    if (!tripled->node || !tripled->tree_rotor) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++) {
        lwi_node *node = &tripled->node[k];
        *node = model->node[k];
        node->mass *= 3;
        triple(node->h, 3), triple(node->J, 6);
    }
    for (int i = 0; i < model->tree_nv; i++) tripled->tree_rotor[i] = 3 * model->tree_rotor[i];
    return LW_OK;
}

lw_status lwi_lost_digits_create(lwi_work *work, lwi_lost_digits *digits)
{
    const lw_model *model = work->model;
    if (!lwi_bodies_differ(model)) return LW_OK;
    lw_model *tripled = LWI_PUSH(&work->arena, lw_model, 1);
    digits->xdot = LWI_PUSH(&work->arena, double, work->layout.nx);
    digits->v = LWI_PUSH(&work->arena, double, model->tree_nv);
    digits->tripled_p = LWI_PUSH(&work->arena, double, model->tree_nv);
    if (!tripled || !digits->xdot || !digits->v || !digits->tripled_p) return LW_ERR_MEMORY;
    digits->tripled = tripled;
    return triple_model(model, &work->arena, tripled);
}

void lwi_triple_loads(const lw_model *model, lwi_tree_work *work)
{
    for (int k = 0; k < model->nnode; k++) triple(work->wrench[k], 6);
    triple(work->effort, model->tree_nv);
}

double lwi_acceleration_scale(const lw_model *model, double (*V)[6])
{
    double largest = v3_norm(model->gravity);
    for (int k = 0; k < model->nnode; k++) {
        double centre[3];
        v3_copy(centre, V[k]);
        v3_cross_add(centre, V[k] + 3, model->node[k].c_r);
        const double speed = fmax(v3_norm(V[k]), v3_norm(centre));
        largest = fmax(largest, v3_norm(V[k] + 3) * speed);
    }
    return largest;
}

// Largest translation of a link's origin or mass centre by the speeds a - b, or rotation.
static void largest_motion(const lw_model *model, const lwi_link *link, const double *a,
                           const double *b, double (*V)[6], double largest[2])
{
    static const double ground[6] = {0};
    largest[0] = largest[1] = 0;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double centre[3];
        motion_to(V[k], link[k].R, link[k].r, node->parent < 0 ? ground : V[node->parent]);
        for (int j = 0; j < node->nv; j++) {
            const int i = node->iv + j;
            v6_axpy(V[k], (a ? a[i] : 0) - b[i], link[k].S[j]);
        }
        v3_copy(centre, V[k]);
        v3_cross_add(centre, V[k] + 3, node->c_r);
        largest[0] = fmax(largest[0], fmax(v3_norm(V[k]), v3_norm(centre)));
        largest[1] = fmax(largest[1], v3_norm(V[k] + 3));
    }
}

double lwi_motion_difference(const lw_model *model, const lwi_link *link, const double *a,
                             const double *b, double minimum, double (*V)[6])
{
    double size[2], off[2];
    largest_motion(model, link, NULL, b, V, size);
    largest_motion(model, link, a, b, V, off);
    size[0] = fmax(size[0], minimum);
    const int rotation = size[0] == 0; // nothing translates: flywheels
    return size[rotation] > 0 ? off[rotation] / size[rotation] : 0;
}

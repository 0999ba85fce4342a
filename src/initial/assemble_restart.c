// assemble_restart.c -- another start where the nearest configuration leaves loops open.
//
// Least squares ends where the gaps balance one another, which may be a local minimum.  The gaps that are left are in the
// loops that do not close: those are started again, with other coordinates of the joints in them, and the rest of the
// mechanism stays where it is, so that the legs of a walker are closed one after the other.
#include "initial/assemble.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Gaps below this are closed by undamped steps [lengths of the mechanism, rad].
#define NEARLY_CLOSED 1e-3

int lwi_assembler_open(const lwi_assembler *a, double tolerance)
{
    int n = 0;
    for (int e = 0; e < a->first_hold; e++) n += lwi_assembler_edge_residual(a, e) > tolerance;
    return n;
}

double lwi_assembler_gap(const lwi_assembler *a)
{
    double sum = 0;
    for (int r = 0; r < a->plan.row[a->first_hold]; r++) sum += a->residual[r] * a->residual[r];
    return sqrt(sum);
}

// ---------------------------------------------------------------------------- open loops

// The joints of the tree between two bodies.  Parents have lower numbers than their children.
static void mark_path(lwi_assembler *a, int body1, int body2)
{
    int k[2] = {a->model->body_node[body1], a->model->body_node[body2]};
    while (k[0] != k[1]) {
        int *later = &k[k[1] > k[0]];
        const lwi_node *node = &a->model->node[*later];
        LWI_ASSERT(node->parent < *later);
        if (node->joint >= 0) a->moves[node->joint] = true;
        *later = node->parent;
    }
}

static void mark_joint(lwi_assembler *a, int j)
{
    mark_path(a, a->model->joint[j].body1, a->model->joint[j].body2);
}

static void mark_open(lwi_assembler *a, double tolerance)
{
    memset(a->moves, 0, (size_t)a->model->njoint * sizeof *a->moves);
    lwi_assembler_residual(a, false, NULL);
    for (int e = 0; e < a->first_hold; e++) {
        if (!(lwi_assembler_edge_residual(a, e) > tolerance)) continue;
        const lwi_assembler_edge *edge = &a->edge[e];
        if (edge->joint >= 0) {
            mark_joint(a, edge->joint);
        } else {
            mark_joint(a, a->model->coupling[edge->coupling].joint);
            mark_joint(a, a->model->coupling[edge->coupling].of);
        }
    }
    for (int j = 0; j < a->model->njoint; j++)
        if (a->given[j] >= 0) a->moves[j] = false; // as the user gives it
}

// ---------------------------------------------------------------------------- other coordinates

// A number in [-1, 1), the same for the same arguments.
static double spread(int number, int joint, int k)
{
    unsigned long long x = ((unsigned long long)number << 40) ^ ((unsigned long long)joint << 4);
    x = (x ^ (unsigned long long)k) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u; // splitmix64
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

// How far a start is from the first one: rotations [rad], displacements [lengths of the mechanism].
static double amplitude(int number, bool angle)
{
    static const double angles[] = {0.3, 1, 3}, lengths[] = {0.03, 0.1, 0.3};
    return angle ? angles[number % LWI_COUNT(angles)] : lengths[number % LWI_COUNT(lengths)];
}

static double other_coordinate(const lwi_assembler *a, int j, int k, int number)
{
    const lwi_joint *joint = &a->model->joint[j];
    const lw_limits_desc *limits = &a->model->desc.joint[j].coordinate[k].limits;
    const double drawn = a->drawn[joint->iq + k];
    const bool angle = (joint->type->angles >> k) & 1;
    if (limits->has_lower && limits->has_upper) {
        const double middle = (limits->lower + limits->upper) / 2;
        const double half = (limits->upper - limits->lower) / 2;
        if (number > 1) return middle + half * spread(number, j, k);
        return drawn >= limits->lower && drawn <= limits->upper ? drawn : middle;
    }
    if (number == 1) return drawn;
    return drawn + amplitude(number, angle) * (angle ? 1 : a->length) * spread(number, j, k);
}

// A ball joint is rotated from its attitude at the first start.
static void other_attitude(const lwi_assembler *a, int j, int number, double quat[4])
{
    const double *drawn = a->drawn + a->model->joint[j].iq;
    double turn[4] = {1, 0, 0, 0};
    if (number > 1)
        for (int k = 0; k < 3; k++) turn[1 + k] = amplitude(number, true) * spread(number, j, k);
    quat_normalize(turn, turn);
    quat_mul(quat, drawn, turn);
}

static void other_coordinates(const lwi_assembler *a, int j, int number, double *q)
{
    const lwi_joint *joint = &a->model->joint[j];
    memcpy(q, a->drawn + joint->iq, (size_t)joint->type->nq * sizeof *q);
    if (lwi_joint_is_ball(joint->type))
        other_attitude(a, j, number, q);
    else if (joint->type->scalar)
        for (int k = 0; k < joint->type->nv; k++) q[k] = other_coordinate(a, j, k, number);
}

void lwi_assembler_restart(lwi_assembler *a, double tolerance, int number)
{
    const lw_model *model = a->model;
    mark_open(a, tolerance);
    for (int b = 0; b < model->nbody; b++) {
        memcpy(a->old_R[b], a->R[b], sizeof a->R[b]);
        memcpy(a->old_r[b], a->r[b], sizeof a->r[b]);
    }
    for (int k = 0; k < model->nnode; k++) {
        const int j = model->node[k].joint;
        if (j < 0 || !a->moves[j]) {
            lwi_assembler_place_as_before(a, k);
            continue;
        }
        double *q = a->q + model->joint[j].iq;
        other_coordinates(a, j, number, q);
        lwi_assembler_place_by(a, k, q);
    }
    lwi_assembler_read(a);
}

int lwi_assembler_descend(lwi_assembler *a)
{
    enum { MAX_STEPS = 300 };
    double damping = 1e-3;
    int n = 0;
    lwi_assembler_geometric(a);
    while (lwi_assembler_residual(a, false, NULL) > NEARLY_CLOSED * a->length) {
        if (n == MAX_STEPS || !lwi_assembler_damped_step(a, &damping)) return n;
        n++;
    }
    return n + lwi_assembler_close(a);
}

// What depends on revolutions.
static void mark_counted(lwi_assembler *a)
{
    const lw_model *model = a->model;
    memset(a->moves, 0, (size_t)model->njoint * sizeof *a->moves);
    for (int j = 0; j < model->njoint; j++)
        a->moves[j] = model->joint[j].ndriven > 0 || model->joint[j].type->has_pitch ||
                      a->given[j] >= 0 || !model->joint[j].type->scalar || model->joint[j].merged;
    for (int i = 0; i < model->ncoupling; i++)
        a->moves[model->coupling[i].joint] = a->moves[model->coupling[i].of] = true;
}

void lwi_assembler_unwind(lwi_assembler *a)
{
    const double revolution = 2 * acos(-1);
    mark_counted(a);
    for (int j = 0; j < a->model->njoint; j++) {
        const lwi_joint *joint = &a->model->joint[j];
        for (int k = 0; !a->moves[j] && k < joint->type->nv; k++) {
            const lw_limits_desc *limits = &a->model->desc.joint[j].coordinate[k].limits;
            if (!((joint->type->angles >> k) & 1)) continue;
            const double middle = limits->has_lower && limits->has_upper
                                      ? (limits->lower + limits->upper) / 2
                                      : a->drawn[joint->iq + k];
            double *q = &a->q[joint->iq + k];
            *q -= revolution * nearbyint((*q - middle) / revolution);
        }
    }
    lwi_assembler_read(a);
}

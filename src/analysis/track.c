// track.c -- the motion that the columns of a table prescribe.
//
// Derivatives that the table does not have are those of the polynomial through seven rows, with weights for any
// distances [fornberg1988].
#include "analysis/track.h"

#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 7 };

typedef struct reader {
    lwi_track *track;
    lw_result *result;
    lwi_arena *arena;
} reader;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the motion");
}

// --------------------------------------------------------------------------------------- columns

static lw_status read_column(reader *r, int column, double **values, lw_error *error)
{
    *values = LWI_PUSH(r->arena, double, r->track->rows);
    if (!*values) return no_memory(error);
    return lw_result_read(r->result, column, 0, r->track->rows, *values, error);
}

// NULL where the table has no column item.NAME.part.
static lw_status find(reader *r, const char *item, const char *name, const char *part, int number,
                      double **values, lw_error *error)
{
    char text[600];
    int column;
    lw_error ignored;
    if (number < 0)
        snprintf(text, sizeof text, "%s.%s.%s", item, name, part);
    else
        snprintf(text, sizeof text, "%s.%s.%s%d", item, name, part, number);
    *values = NULL;
    if (lw_result_find_column(r->result, text, &column, &ignored) != LW_OK) return LW_OK;
    return read_column(r, column, values, error);
}

static lw_status find_list(reader *r, const char *item, const char *name, const char *const *part,
                           int n, double **values, lw_error *error)
{
    for (int i = 0; i < n; i++) TRY(find(r, item, name, part[i], -1, &values[i], error));
    return LW_OK;
}

static lw_status find_scalars(reader *r, const lwi_node *node, lw_error *error)
{
    const char *name = r->track->model->joint[node->joint].name;
    for (int i = 0; i < node->nv; i++) {
        const int k = node->column[i];
        TRY(find(r, "joint", name, "q", k, &r->track->q[node->iq + i], error));
        TRY(find(r, "joint", name, "qd", k, &r->track->v[node->iv + i], error));
        TRY(find(r, "joint", name, "qdd", k, &r->track->a[node->iv + i], error));
    }
    return LW_OK;
}

// Joints with quaternions, and floating bases.
static lw_status find_rotations(reader *r, const lwi_node *node, lw_error *error)
{
    static const char *const q[] = {"x", "y", "z", "qw", "qx", "qy", "qz"},
                             *const v[] = {"vx", "vy", "vz", "wx", "wy", "wz"},
                             *const a[] = {"ax", "ay", "az", "alx", "aly", "alz"};
    const lw_model *model = r->track->model;
    const bool base = node->joint < 0;
    const char *item = base ? "body" : "joint",
               *name = base ? model->desc.body[node->body].name : model->joint[node->joint].name;
    const int skip = node->nv == 3 ? 3 : 0; // a ball has no displacements
    TRY(find_list(r, item, name, q + skip, node->nq, r->track->q + node->iq, error));
    TRY(find_list(r, item, name, v + skip, node->nv, r->track->v + node->iv, error));
    return find_list(r, item, name, a + skip, node->nv, r->track->a + node->iv, error);
}

// ----------------------------------------------------------------------------------- derivatives

// Weights of the first derivative at z of the polynomial through x [n].                [fornberg1988]
static void derivative_weights(double z, int n, const double *x, double *weight)
{
    double c[POINTS][2] = {{1, 0}}, c1 = 1, c4 = x[0] - z;
    for (int i = 1; i < n; i++) {
        const double c5 = c4;
        double c2 = 1;
        c4 = x[i] - z;
        for (int j = 0; j < i; j++) {
            const double c3 = x[i] - x[j];
            c2 *= c3;
            if (j == i - 1) {
                c[i][1] = c1 * (c[i - 1][0] - c5 * c[i - 1][1]) / c2;
                c[i][0] = -c1 * c5 * c[i - 1][0] / c2;
            }
            c[j][1] = (c4 * c[j][1] - c[j][0]) / c3;
            c[j][0] = c4 * c[j][0] / c3;
        }
        c1 = c2;
    }
    for (int i = 0; i < n; i++) weight[i] = c[i][1];
}

static double *derivative(reader *r, const double *values)
{
    const lwi_track *t = r->track;
    const int n = t->rows < POINTS ? (int)t->rows : POINTS;
    double *rate = LWI_PUSH(r->arena, double, t->rows);
    for (long i = 0; rate && i < t->rows; i++) {
        double weight[POINTS];
        long first = i - n / 2;
        if (first < 0) first = 0;
        if (first > t->rows - n) first = t->rows - n;
        derivative_weights(t->time[i], n, t->time + first, weight);
        for (int k = 0; k < n; k++) rate[i] += weight[k] * values[first + k];
    }
    return rate;
}

static lw_status differentiate(reader *r, const lwi_node *node, lw_error *error)
{
    lwi_track *t = r->track;
    for (int i = 0; i < node->nv; i++) {
        const double *q = node->type->scalar ? t->q[node->iq + i] : NULL;
        double **v = &t->v[node->iv + i], **a = &t->a[node->iv + i];
        if (!*v && q && !(*v = derivative(r, q))) return no_memory(error);
        // of bases, velocities are components in world axes; their derivatives are the accelerations
        if (!*a && *v && !(*a = derivative(r, *v))) return no_memory(error);
    }
    return LW_OK;
}

static lw_status check_times(const reader *r, lw_error *error)
{
    const lwi_track *t = r->track;
    for (long i = 1; i < t->rows; i++)
        if (!(t->time[i] > t->time[i - 1]))
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "motion: row %ld has the time %.10g s after %.10g s; expected times "
                            "that increase",
                            i, t->time[i], t->time[i - 1]);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- create

static lw_status read(reader *r, lw_error *error)
{
    lwi_track *t = r->track;
    const lw_model *model = t->model;
    int time = 0, found = 0;
    lw_error ignored;
    if (t->rows == 0) return lwi_fail(error, LW_ERR_ARGUMENT, "motion: the result has no rows");
    lw_result_find_column(r->result, "time", &time, &ignored);
    TRY(read_column(r, time, &t->time, error));
    TRY(check_times(r, error));
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        TRY(node->type->scalar ? find_scalars(r, node, error) : find_rotations(r, node, error));
        TRY(differentiate(r, node, error));
    }
    for (int i = 0; i < model->tree_nv; i++) found += lwi_track_has(t, i);
    if (found) return LW_OK;
    const char *first = "NAME"; // an example
    for (int k = model->nnode; k-- > 0;)
        if (model->node[k].type->scalar && model->node[k].nv > 0 && model->node[k].joint >= 0)
            first = model->joint[model->node[k].joint].name;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "motion: no column is a coordinate of the spanning tree, of joints that close "
                    "no loop; expected columns like 'joint.%.100s.q0'",
                    first);
}

lw_status lwi_track_create(const lw_model *model, lw_result *result, lwi_arena *arena,
                           lwi_track *track, lw_error *error)
{
    *track = (lwi_track){.model = model, .rows = lw_result_row_count(result)};
    track->q = LWI_PUSH(arena, double *, model->tree_nq);
    track->v = LWI_PUSH(arena, double *, model->tree_nv);
    track->a = LWI_PUSH(arena, double *, model->tree_nv);
    if (!track->q || !track->v || !track->a) return no_memory(error);
    return read(&(reader){track, result, arena}, error);
}

static const lwi_node *node_of_speed(const lw_model *model, int speed)
{
    int k = 0;
    while (speed >= model->node[k].iv + model->node[k].nv) k++;
    return &model->node[k];
}

bool lwi_track_has(const lwi_track *t, int speed)
{
    const lwi_node *node = node_of_speed(t->model, speed);
    if (!t->v[speed] || !t->a[speed]) return false;
    if (node->type->scalar) return t->q[node->iq + speed - node->iv] != NULL;
    for (int i = 0; i < node->nq; i++)
        if (!t->q[node->iq + i]) return false;
    return true;
}

// Speeds of a floating base are components in axes of the body:  d/dt (R'v) = R'a - w x R'v.
static void into_body_axes(const lwi_node *node, const double *q, double *v, double *vdot)
{
    double R[9], c[3], world[3];
    quat_matrix(R, q + node->iq + 3);
    v3_copy(world, v + node->iv);
    m3_tmul_v(v + node->iv, R, world);
    v3_copy(world, vdot + node->iv);
    m3_tmul_v(vdot + node->iv, R, world);
    v3_cross(c, v + node->iv + 3, v + node->iv);
    v3_sub(vdot + node->iv, vdot + node->iv, c);
}

void lwi_track_row(const lwi_track *t, long row, double *q, double *v, double *vdot)
{
    const lw_model *model = t->model;
    for (int i = 0; i < model->tree_nq; i++)
        if (t->q[i]) q[i] = t->q[i][row];
    for (int i = 0; i < model->tree_nv; i++) {
        if (!lwi_track_has(t, i)) continue;
        v[i] = t->v[i][row], vdot[i] = t->a[i][row];
    }
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint < 0 && lwi_track_has(t, model->node[k].iv))
            into_body_axes(&model->node[k], q, v, vdot);
}

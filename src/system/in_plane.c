// in_plane.c -- the smallest pivot of a mechanism that moves in a plane, from the rows within it.
//
// Where bodies have their mass centres in the plane of their joints, rows within it do not meet those across it, and
// pivots are those of two problems, each with about half of the rows (kinematics/planar_rows.c).  Rows across depend on
// each other by three for each loop, which takes rank decisions and null vectors, but it is the same three in every
// configuration: their smallest pivot comes to zero nowhere.  A mechanism is in a singular position where the rows
// within depend on each other.  Near one they are enough.
//
// The pivots within are those of the elimination of all rows: nodes close the same edges, and pivot where it does.
#include "system/in_plane.h"

#include "kinematics/planar_rows.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Pivots of rows across vary little; one within below this part of the smallest of them, as of the last pass of all rows, is
// the smallest of all.
#define SMALLER 0.8
// Largest distance of a mass centre from the plane of its joints, in lengths of the mechanism: round-off.
#define FLAT 1e-11

// Whether the rows put no torques across the plane on the bodies, at any motion in it.
static bool is_flat(const lwi_system *s, int j, int axis, const lwi_closure *c)
{
    const lwi_joint *joint = &s->model->joint[j];
    double R[9];
    m3_mul(R, s->R[joint->body1], joint->R1);
    const double n[3] = {R[axis], R[3 + axis], R[6 + axis]};
    for (int i = 0; i < c->nbody; i++)
        for (int k = 0; k < c->n; k++) {
            double across[3];
            v3_cross(across, n, c->J[i][k] + 3);
            if (!(v3_norm(across) <= FLAT * s->length)) return false;
        }
    return true;
}

// Whether the wrenches of these rows are forces at P2 along axes of F1.
static bool has_forces_alone(const lwi_joint *joint, unsigned rows)
{
    if (joint->mount.present || joint->ndriven || joint->body1 == joint->body2 ||
        !lwi_joint_has_simple_rows(joint->type))
        return false;
    for (int k = 0; k < joint->type->nc; k++)
        if (rows >> k & 1 && joint->type->row[k].kind == LWI_ROW_AXES) return false;
    return true;
}

// The rows of each edge within the plane, and how many; which rows are across.  false: an edge has none within, or they meet
// those across.
static bool split_rows(const lwi_system *s, const signed char *axis, lwi_in_plane *p, int *count)
{
    for (int e = 0; e < s->nedge; e++) {
        const int j = s->edge_joint[e];
        count[e] = 0;
        for (int k = 0; k < s->plan.graph.edge[e].rows; k++) {
            const bool across = lwi_planar_is_across(&s->model->joint[j], k, axis[j]);
            p->across[s->plan.row[e] + k] = across;
            if (!across) p->rows[e] |= 1u << k, count[e]++;
        }
        lwi_closure c;
        if (count[e] == 0) return false;
        lwi_joint_closure_of_rows(s->model, j, 0, &s->motion, p->rows[e], &c);
        if (!is_flat(s, j, axis[j], &c)) return false;
        p->forces[e] = has_forces_alone(&s->model->joint[j], p->rows[e]);
    }
    return true;
}

static lw_status create(const lwi_system *s, const signed char *axis, int *count, lwi_arena *arena,
                        lwi_in_plane *p)
{
    lwi_elim *elim;
    p->rows = LWI_PUSH(arena, unsigned, s->nedge);
    p->forces = LWI_PUSH(arena, bool, s->nedge);
    p->across = LWI_PUSH(arena, bool, s->plan.nrow);
    if (!p->rows || !p->forces || !p->across) return LW_ERR_MEMORY;
    if (!split_rows(s, axis, p, count)) return LW_OK;
    TRY(lwi_plan_with_rows(&s->plan, count, arena, &p->plan));
    TRY(lwi_elim_create(&p->plan, arena, &elim));
    TRY(lwi_elim_pivot_as(elim, s->elim, arena));
    p->elim = elim;
    return LW_OK;
}

lw_status lwi_in_plane_create(const lwi_system *s, lwi_arena *arena, lwi_in_plane *p)
{
    const lw_model *model = s->model;
    *p = (lwi_in_plane){.elim = NULL};
    if (model->ncoupling || s->nrotor || s->split.npart || s->nrow == 0) return LW_OK;
    lwi_arena scratch;
    bool planar = false;
    int redundant = 0;
    lwi_arena_init(&scratch, &arena->allocator);
    signed char *axis = LWI_PUSH(&scratch, signed char, model->njoint);
    int *count = LWI_PUSH(&scratch, int, s->nedge);
    lw_status status = axis && count ? LW_OK : LW_ERR_MEMORY;
    if (status == LW_OK)
        status = lwi_planar_axes(model, &arena->allocator, axis, &planar, &redundant);
    if (status == LW_OK && planar && s->nrow - s->generic_rank == redundant)
        status = create(s, axis, count, arena, p);
    lwi_arena_free(&scratch);
    return status;
}

// J and G of one row on one body: the force f at `arm` from its mass centre.
static inline void put_force(const double f[3], const double arm[3], double ang, double J[6],
                             double G[6])
{
    double n[3];
    v3_cross(n, arm, f);
    for (int i = 0; i < 3; i++) J[i] = G[i] = f[i], J[3 + i] = n[i], G[3 + i] = ang * n[i];
}

// J and G of an edge with forces alone: those of lwi_joint_closure_of_rows.
static void place_forces(const lwi_system *s, const lwi_joint *joint, unsigned rows, double ang,
                         double (*J)[6], double (*G)[6])
{
    const lwi_motion *m = &s->motion;
    const int body1 = joint->body1, body2 = joint->body2, second = body1 ? 6 : 0;
    double arm1[3], arm2[3], P2[3];
    m3_mul_v(P2, m->R[body2], joint->r2);
    v3_add(P2, m->r[body2], P2);
    v3_sub(arm1, P2, m->r[body1]);
    v3_sub(arm2, P2, m->r[body2]);
    for (int k = 0; rows; k++, rows >>= 1) {
        if (!(rows & 1)) continue;
        const double *own = joint->R1 + joint->type->row[k].i;
        double f[3], back[3];
        m3_mul_v(f, m->R[body1], (const double[3]){own[0], own[3], own[6]});
        v3_scale(back, -1, f);
        if (body1) put_force(back, arm1, ang, *J, *G);
        if (body2) put_force(f, arm2, ang, J[second], G[second]);
        J++, G++;
    }
}

// J and G of an edge.
static void place_edge(const lwi_in_plane *p, const lwi_system *s, int e, double t)
{
    const double ang = 1 / (s->length * s->length);
    double(*J)[6] = lwi_elim_J(p->elim) + 6 * p->plan.slot[e];
    double(*G)[6] = lwi_elim_G(p->elim) + 6 * p->plan.slot[e];
    if (p->forces[e]) {
        place_forces(s, &s->model->joint[s->edge_joint[e]], p->rows[e], ang, J, G);
        return;
    }
    lwi_closure c;
    lwi_joint_closure_of_rows(s->model, s->edge_joint[e], t, &s->motion, p->rows[e], &c);
    for (int i = 0; i < c.nbody; i++, J += 6, G += 6)
        for (int k = 0; k < c.n; k++) {
            v6_copy(J[k], c.J[i][k]);
            v3_copy(G[k], c.J[i][k]);
            v3_scale(G[k] + 3, ang, c.J[i][k] + 3);
        }
}

bool lwi_in_plane_pivot(lwi_in_plane *p, const lwi_system *s, double t, double *pivot, int *edge)
{
    if (!p->elim || !(p->last < SMALLER * p->across_pivot)) return false;
    for (int e = 0; e < s->nedge; e++) place_edge(p, s, e, t);
    const lw_status status = lwi_elim_check_pivots(p->elim);
    if (status != LW_OK && status != LW_ERR_SINGULAR) return false;
    const lwi_elim_pivot_info within = lwi_elim_pivots(p->elim);
    *pivot = p->last = fmax(0, within.min), *edge = within.edge;
    return p->last < SMALLER * p->across_pivot;
}

void lwi_in_plane_note(lwi_in_plane *p, const lwi_system *s)
{
    if (!p->elim) return;
    p->across_pivot = lwi_elim_smallest_pivot(s->elim, p->across);
    p->last = lwi_elim_pivots(s->elim).min;
}

// hdca_cases.h -- the mechanisms of the paper and others, and tools for tests of the Hamiltonian
// form.
#ifndef LWT_HDCA_CASES_H
#define LWT_HDCA_CASES_H

#include "support/mechanism.h"

#include "methods/dca/hdca.h"
#include "support/random_model.h"

#define HDCA (&lwi_formulation_hdca)
#define DENSE (&lwi_formulation_dense)

static inline void lwt_near(const char *what, int index, double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance) return;
    fail_msg("%s %d: %.17g, expected %.17g (off by %.2e, %.2e allowed)", what, index, a, b,
             fabs(a - b), tolerance);
}

static inline lwi_work *lwt_work_kappa(const lw_model *model, const lwi_formulation *formulation,
                                       lw_options *options, const char *kappa)
{
    lwi_work *work;
    lw_error error;
    lw_options_default(options);
    lwt_ok(lw_options_set(options, "kappa", kappa, &error), &error);
    lwt_ok(lwi_work_create_options(model, formulation, NULL, 0, options, &work, &error), &error);
    return work;
}

// ------------------------------------------------------------------------------ the paper's cases

/** A link of 1 kg and J = 1 from (x1, z1) to (x2, z2), its x axis along it; everything rotated by Q.
 */
static inline lw_body lwt_link(lw_builder *b, const char *name, const double from[2],
                               const double to[2], const double Q[4])
{
    const double half =
        0.5 * atan2(-(to[1] - from[1]), to[0] - from[0]); // about +y: x rotates downwards
    const double own[4] = {cos(half), 0, sin(half), 0};
    const double middle[3] = {(from[0] + to[0]) / 2, 0, (from[1] + to[1]) / 2};
    double R[9], r[3], quat[4];
    quat_matrix(R, Q);
    m3_mul_v(r, R, middle);
    quat_mul(quat, Q, own);
    return lwt_body(b,
                    &(lw_body_desc){.name = name,
                                    .mass = 1,
                                    .inertia = {1, 1, 1, 0, 0, 0},
                                    .pose = {.position = {r[0], r[1], r[2]},
                                             .orientation = {quat[0], quat[1], quat[2], quat[3]}}});
}

static inline lw_joint lwt_hinge(lw_builder *b, const char *name, lw_body body1, lw_body body2,
                                 const double at[2], lw_cut cut, const double Q[4])
{
    double R[9], r[3], y[3];
    quat_matrix(R, Q);
    m3_mul_v(r, R, (const double[3]){at[0], 0, at[1]});
    m3_mul_v(y, R, (const double[3]){0, 1, 0});
    return lwt_add(b, &(lw_joint_desc){.name = name,
                                       .type = LW_JOINT_REVOLUTE,
                                       .body1 = body1,
                                       .body2 = body2,
                                       .at = {r[0], r[1], r[2]},
                                       .axis = {y[0], y[1], y[2]},
                                       .cut = cut});
}

/** Links between n + 1 points, hinged end to end; the last hinge goes from the ground to the last
 * link and is cut. */
static inline void lwt_arch(lw_builder *b, char name, const double (*p)[2], int n, lw_body first,
                            lw_body last, lw_body *link, const char *cut, const double Q[4])
{
    char text[32];
    lw_body before = first;
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%c%d", name, i);
        link[i] = lwt_link(b, text, p[i], p[i + 1], Q);
        snprintf(text, sizeof text, "%c%d%d", name, i, i);
        lwt_hinge(b, text, before, link[i], p[i], LW_CUT_NEVER, Q);
        before = link[i];
    }
    lwt_hinge(b, cut, last, before, p[n], LW_CUT_PREFER, Q);
}

/** Case 1, 2 or 3 of [chadaj2017]: four links, eight links, four links that carry four; all
 * bodies and gravity are rotated by Q. */
static inline lw_model *lwt_case_rotated(int which, const double Q[4])
{
    const double h = sqrt(3) / 2;
    const double one[5][2] = {{-2 * h, 0}, {-h, 0.5}, {0, 0}, {h, 0.5}, {2 * h, 0}};
    const double two[9][2] = {{-4 * h, 0}, {-3 * h, 0.5}, {-2 * h, 1},  {-h, 0.5}, {0, 0},
                              {h, 0.5},    {2 * h, 1},    {3 * h, 0.5}, {4 * h, 0}};
    const double outer[5][2] = {{-1.5, 0}, {-0.5, 0}, {0, -h}, {0.5, 0}, {1.5, 0}};
    const double inner[5][2] = {{-0.5, 0}, {-0.5, -1}, {0, -1 - h}, {0.5, -1}, {0.5, 0}};
    lw_builder *b = lwt_builder();
    lw_body link[8];
    double R[9], g[3];
    quat_matrix(R, Q);
    m3_mul_v(g, R, (const double[3]){0, 0, -9.81});
    lw_builder_gravity(b, (lw_vec3){g[0], g[1], g[2]});
    if (which == 1) lwt_arch(b, 'p', one, 4, lwt_ground, lwt_ground, link, "cut", Q);
    if (which == 2) lwt_arch(b, 'p', two, 8, lwt_ground, lwt_ground, link, "cut", Q);
    if (which == 3) {
        lwt_arch(b, 'p', outer, 4, lwt_ground, lwt_ground, link, "cut", Q);
        lwt_arch(b, 'q', inner, 4, link[0], link[3], link + 4, "inner", Q);
    }
    return lwt_model(b);
}

static inline lw_model *lwt_case(int which)
{
    return lwt_case_rotated(which, (const double[4]){1, 0, 0, 0});
}

/** The ends of the bodies are the points K of the paper: height of the outer end of link `index`. */
static inline double lwt_height(const lwi_snapshot *m, int body)
{
    const double half[3] = {0.5, 0, 0};
    double end[3];
    m3_mul_v(end, m->R[body], half);
    return m->r[body][2] + end[2];
}

// --------------------------------------------------------------------------------- spatial loops

/** A chain of three bodies on universal, prismatic and spherical joints, with a spring and dampers;
 * with `loop` a cut spherical joint holds its tip. */
static inline lw_model *lwt_model_s(bool loop)
{
    const double J[6] = {.1, .2, .3, 0, 0, 0}, mass[3] = {1, 2, 1.5};
    const lw_quat rotated = {.5, .5, .5, .5}, straight = {1, 0, 0, 0};
    const double norm = sqrt(.81 + .01 + .04 + .09);
    lw_builder *b = lwt_builder();
    lw_body body[3];
    lw_builder_gravity(b, (lw_vec3){0, 0, -9.81});
    for (int i = 0; i < 3; i++) {
        lw_body_desc desc = {.mass = mass[i]};
        memcpy(desc.inertia, J, sizeof J);
        body[i] = lwt_body(b, &desc);
    }
    lwt_add(b, &(lw_joint_desc){.name = "universal",
                                .type = LW_JOINT_UNIVERSAL,
                                .body2 = body[0],
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {.orientation = rotated},
                                .frame2 = {{0, 0, .5}, rotated},
                                .has_q = 1,
                                .q = {.3, -.4},
                                .cut = LW_CUT_NEVER});
    lwt_add(b, &(lw_joint_desc){.name = "prismatic",
                                .type = LW_JOINT_PRISMATIC,
                                .body1 = body[0],
                                .body2 = body[1],
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {{0, 0, -.5}, straight},
                                .frame2 = {{0, 0, .3}, straight},
                                .has_q = 1,
                                .q = {.2},
                                .coordinate = {{.stiffness = 50, .damping = 1, .at = .1}},
                                .cut = LW_CUT_NEVER});
    lwt_add(b, &(lw_joint_desc){.name = "spherical",
                                .type = LW_JOINT_SPHERICAL,
                                .body1 = body[1],
                                .body2 = body[2],
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {{.1, 0, -.3}, straight},
                                .frame2 = {{0, 0, .4}, straight},
                                .has_q = 1,
                                .q = {.9 / norm, .1 / norm, -.2 / norm, .3 / norm},
                                .damping = .2,
                                .cut = LW_CUT_NEVER});
    if (loop)
        lwt_add(b, &(lw_joint_desc){
                       .name = "cut",
                       .type = LW_JOINT_SPHERICAL,
                       .body2 = body[2],
                       .placement = LW_PLACED_FRAMES,
                       .frame1 = {{1.148722422138, 0.776668229495, -1.655886499817}, straight},
                       .frame2 = {{0, 0, -.4}, straight},
                       .cut = LW_CUT_PREFER});
    return lwt_model(b);
}

// ---------------------------------------------------------------------------------- at an instant

/** Motion, accelerations and unique reactions of two observations of a model. */
static inline void lwt_same(const lw_model *model, const lwi_snapshot *a, const lwi_snapshot *b,
                            double tolerance)
{
    for (int i = 1; i < model->nbody; i++) {
        if (model->body[i].carrier != i) continue;
        for (int k = 0; k < 3; k++) {
            lwt_near("position of body", i, a->r[i][k], b->r[i][k], tolerance);
            lwt_near("velocity of body", i, a->v[i][k], b->v[i][k],
                     tolerance * (1 + v3_norm(b->v[i])));
            lwt_near("rotation of body", i, a->w[i][k], b->w[i][k],
                     tolerance * (1 + v3_norm(b->w[i])));
            lwt_near("acceleration of body", i, a->a[i][k], b->a[i][k],
                     tolerance * (1 + v3_norm(b->a[i])));
            lwt_near("angular acceleration of body", i, a->al[i][k], b->al[i][k],
                     tolerance * (1 + v3_norm(b->al[i])));
        }
    }
    for (int i = 0; i < model->nq; i++) lwt_near("coordinate", i, a->q[i], b->q[i], tolerance);
    for (int i = 0; i < model->nv; i++) {
        lwt_near("speed", i, a->qd[i], b->qd[i], tolerance * (1 + fabs(b->qd[i])));
        lwt_near("joint acceleration", i, a->qdd[i], b->qdd[i], tolerance * (1 + fabs(b->qdd[i])));
    }
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged) continue;
        assert_int_equal(a->unique[j], b->unique[j]);
        const double size = v3_norm(b->reaction[j]) + v3_norm(b->reaction[j] + 3);
        for (int k = 0; b->unique[j] && k < 6; k++)
            lwt_near("reaction of joint", j, a->reaction[j][k], b->reaction[j][k],
                     tolerance * (1 + size));
    }
}

/** The model's start as a state. */
static inline double *lwt_start(lwi_work *work)
{
    lwi_arena arena;
    lwi_snapshot start;
    double *x = lwt_vector(work->layout.nx);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(work->model, &arena, &start), LW_OK);
    lwi_snapshot_start(work->model, &start);
    lwt_ok(work->formulation->enter(work, &start, x), &work->error);
    lwi_arena_free(&arena);
    return x;
}

/** Adds random momenta. */
static inline void lwt_kick(const lwi_work *work, uint64_t seed, double size, double *x)
{
    for (int i = 0; i < work->model->tree_nv; i++)
        x[work->model->tree_nq + i] += lwt_random(&seed, -size, size);
}

// ------------------------------------------------------------------- rates of momenta,
// accelerations

// Central differences of order eight.
static const double lwt_eighth[4] = {4 / 5.0, -1 / 5.0, 4 / 105.0, -1 / 280.0};

// d/dt of all joint speeds along the flow of the state, against the accelerations of the algebraic
// formulation, which uses neither momenta nor impulses.
static inline void lwt_check_flow(lwi_work *work, double t, const double *x, const double *inputs,
                                  double tolerance)
{
    const lw_model *model = work->model;
    const int nx = work->layout.nx;
    const double h = 5e-4; // h^8 of rates of 50/s and eps/h are both below 1e-12
    double *xdot = lwt_vector(nx), *y = lwt_vector(nx), *derivative = lwt_vector(model->nv);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_arena_init(&arena, NULL);
    lwt_ok(work->formulation->rates(work, t, x, inputs, xdot), &work->error);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (int i = 0; i < nx; i++) y[i] = x[i] + k * h * xdot[i];
        lwt_ok(work->formulation->observe(work, t + k * h, y, inputs, LW_OBSERVE_TWIST, &m),
               &work->error);
        const double weight = (k < 0 ? -1 : 1) * lwt_eighth[abs(k) - 1] / h;
        for (int i = 0; i < model->nv; i++) derivative[i] += weight * m.qd[i];
    }
    lwt_observe(work, t, x, inputs, &arena, &m);
    for (int i = 0; i < model->nv; i++)
        lwt_near("derivative of speed", i, derivative[i], m.qdd[i],
                 tolerance * (1 + fabs(m.qdd[i])));
    lwi_arena_free(&arena);
    free(xdot);
    free(y);
    free(derivative);
}

// -------------------------------------------------------------------------------------- impulses

/** Impulse [force; moment about the mass centre] of a joint on its body2 at the last evaluation. */
static inline void lwt_impulse(const lwi_work *work, double t, const char *name, double impulse[6])
{
    const lwi_system *system = lwi_hdca_system(work);
    lw_joint joint;
    lwi_closure rows;
    assert_int_equal(lw_model_find_joint(work->model, name, &joint), LW_OK);
    lwi_joint_closure(work->model, joint.index, t, &system->motion, LWI_CLOSURE_POSITION, &rows);
    const double *sigma = system->lambda + system->plan.row[system->joint_edge[joint.index]];
    const int body = work->model->joint[joint.index].body2;
    v6_zero(impulse);
    for (int i = 0; i < rows.nbody; i++)
        for (int k = 0; rows.body[i] == body && k < rows.n; k++)
            v6_axpy(impulse, sigma[k], rows.J[i][k]);
}

#endif

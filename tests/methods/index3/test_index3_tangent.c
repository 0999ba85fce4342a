// test_index3_tangent.c -- Newton's matrices of index3 against central differences of the wrenches
// they are derivatives of [malczyk2019]: applied forces, joints' forces, gyroscopic terms.
#include "support/mechanism.h"
#include "support/random_model.h"

#include "methods/index3/index3.h"

// ------------------------------------------------------------------------------------------ probe

enum { MOST = 2 }; // moving bodies

// A formulation at a given motion, and wrenches on its bodies around it.
typedef struct probe {
    lw_model *model;
    lwi_work *work;
    lwi_index3 *d;
    double h, e, R[MOST][9], r[MOST][3], v[MOST][3], w[MOST][3]; // w: body axes
    double lambda[16];                                           // held
} probe;

static lw_options options; // must outlive the workspaces

static probe probe_of(lw_model *model)
{
    probe p = {.model = model, .h = 1e-3, .e = 1e-6}; // e: of the differences
    lw_error error;
    lw_options_default(&options);
    lwt_ok(
        lwi_work_create_options(model, &lwi_formulation_index3, NULL, 0, &options, &p.work, &error),
        &error);
    p.d = p.work->data;
    lwi_system *s = &p.d->system;
    lwi_system_start(s);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        memcpy(p.R[k], s->R[b], sizeof p.R[k]);
        v3_copy(p.r[k], s->r[b]);
        v3_copy(p.v[k], s->v[b]);
        m3_tmul_v(p.w[k], s->R[b], s->w[b]);
    }
    return p;
}

static void done(probe *p)
{
    lwi_work_destroy(p->work);
    lw_model_destroy(p->model);
}

// The motion with x [MOST][6] added to the poses, 2/h x to the velocities as the trapezoidal rule
// has it.
static void place(probe *p, double x[MOST][6])
{
    lwi_system *s = &p->d->system;
    for (int k = 0; k < p->model->nnode; k++) {
        const int b = p->model->node[k].body;
        const double angle = v3_norm(x[k] + 3);
        double axis[3] = {1, 0, 0}, E[9], w[3];
        v3_add(s->r[b], p->r[k], x[k]);
        if (angle > 0) v3_scale(axis, 1 / angle, x[k] + 3);
        rot_axis(E, axis, angle);
        m3_mul(s->R[b], E, p->R[k]);
        v3_copy(s->v[b], p->v[k]);
        v3_axpy(s->v[b], 2 / p->h, x[k]);
        m3_tmul_v(w, p->R[k], x[k] + 3);
        v3_scale(w, 2 / p->h, w);
        v3_add(w, w, p->w[k]);
        m3_mul_v(s->w[b], s->R[b], w);
    }
    lwi_system_place_merged(s);
    lwi_system_read_joints(s, 0);
}

// Forces of the model and of the joints; torques in body axes, rotated by the attitude at x = 0.
static void wrenches(probe *p, double x[MOST][6], double f[MOST][6])
{
    lwi_system *s = &p->d->system;
    place(p, x);
    lwi_system_rows(s, 0);
    lwi_system_forces(s, 0, NULL);
    lwi_system_applied(s, 0, &s->loads, s->x);
    lwi_index3_multipliers_from_world(p->d, p->lambda, p->d->row);
    lwi_system_add_wrenches(s, 1, p->d->row, s->x);
    for (int k = 0; k < p->model->nnode; k++) {
        double n[3];
        m3_tmul_v(n, s->R[p->model->node[k].body], s->x[k] + 3);
        v3_copy(f[k], s->x[k]);
        m3_mul_v(f[k] + 3, p->R[k], n);
    }
}

// -d wrench / d x by central differences.
static void differences(probe *p, double K[6 * MOST][6 * MOST])
{
    const double e = p->e;
    for (int j = 0; j < 6 * p->model->nnode; j++) {
        double plus[MOST][6] = {{0}}, minus[MOST][6] = {{0}}, f[MOST][6], g[MOST][6];
        plus[j / 6][j % 6] = e, minus[j / 6][j % 6] = -e;
        wrenches(p, plus, f);
        wrenches(p, minus, g);
        for (int i = 0; i < 6 * p->model->nnode; i++)
            K[i][j] = (g[i / 6][i % 6] - f[i / 6][i % 6]) / (2 * e);
    }
}

// The same by Newton's matrices: rows of couplers and the own derivative of each body.
static void newton(probe *p, double K[6 * MOST][6 * MOST])
{
    lwi_index3 *d = p->d;
    lwi_system *s = &d->system;
    double zero[MOST][6] = {{0}}, f[MOST][6];
    wrenches(p, zero, f);
    lwi_index3_stiffnesses(d, 0, NULL, d->row);
    lwi_index3_force_rows(d, 0, p->h, NULL);
    memset(K, 0, 6 * MOST * sizeof *K);
    for (int k = 0; k < p->model->nnode; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                K[6 * k + i][6 * k + j] = d->stiffness[k].tt[3 * i + j];
                K[6 * k + i][6 * k + 3 + j] = d->stiffness[k].tr[3 * i + j];
                K[6 * k + 3 + i][6 * k + j] = d->stiffness[k].rt[3 * i + j];
                K[6 * k + 3 + i][6 * k + 3 + j] = d->stiffness[k].rr[3 * i + j];
            }
    for (int e = s->nedge - d->ncoupler; e < s->nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int r = 0; r < edge->rows; r++)
            for (int a = 0; a < edge->n; a++)
                for (int b = 0; b < edge->n; b++)
                    for (int i = 0; i < 6; i++)
                        for (int j = 0; j < 6; j++)
                            K[6 * edge->body[a] + i][6 * edge->body[b] + j] +=
                                lwi_elim_J(s->elim)[6 * (s->plan.slot[e] + a) + r][i] *
                                lwi_elim_J(s->elim)[6 * (s->plan.slot[e] + b) + r][j] /
                                d->compliance[s->plan.row[e] + r - d->first_compliance];
    }
}

enum { ALL = 0, OWN = 1, OWN_SECOND = 2 };

// Compares all blocks, or those of each body with itself, or the second body's; to `relative` of
// the largest entry.
static void agree(const char *what, probe *p, int which, double relative)
{
    double a[6 * MOST][6 * MOST], b[6 * MOST][6 * MOST], largest = 0;
    const int n = 6 * p->model->nnode;
    newton(p, a);
    differences(p, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(b[i][j]));
    assert_true(largest > 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (which != ALL && i / 6 != j / 6) continue;
            if (which == OWN_SECOND && i < n - 6) continue;
            if (fabs(a[i][j] - b[i][j]) > relative * largest)
                fail_msg("%s: entry %d, %d is %.9g, by differences %.9g (of %.3g)", what, i, j,
                         a[i][j], b[i][j], largest);
        }
}

// -------------------------------------------------------------------------------------- mechanisms

// Two floating bodies of isotropic inertia: without gyroscopic moments.
static void two_bodies(lw_builder *b, lw_body body[2])
{
    const lw_vec3 at[2] = {{0.3, -0.2, 0.5}, {1.1, 0.6, -0.4}};
    const lw_quat to_world[2] = {{0.8, 0.2, -0.4, 0.4}, {0.5, -0.5, 0.1, 0.7}};
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int i = 0; i < 2; i++)
        body[i] =
            lwt_body(b, &(lw_body_desc){.mass = 1 + i,
                                        .inertia = {1, 1, 1, 0, 0, 0},
                                        .pose = {.position = at[i], .orientation = to_world[i]}});
}

static void springs_in_tension(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_body body[2];
    two_bodies(b, body);
    const lw_spring_desc spring = {.body1 = body[0],
                                   .body2 = body[1],
                                   .point1 = {0.1, 0.3, -0.2},
                                   .point2 = {-0.2, 0.1, 0.4},
                                   .stiffness = 500,
                                   .length = 0.2,
                                   .damping = 3};
    lw_spring_desc ground = spring;
    ground.body2 = lwt_ground, ground.point2 = (lw_vec3){2, 1, -1};
    lwt_spring(b, &spring);
    lwt_spring(b, &ground);
    probe p = probe_of(lwt_model(b));
    agree("springs", &p, ALL, 1e-7);
    done(&p);
}

static void bushings(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_body body[2];
    two_bodies(b, body);
    // frames parallel at the start, their origins apart
    lw_bushing_desc bushing = {.body1 = body[0],
                               .body2 = body[1],
                               .at = {0.7, 0.1, 0.2},
                               .has_at = 1,
                               .stiffness = {300, 200, 500, 40, 60, 50},
                               .damping = {3, 2, 5, 0.4, 0.6, 0.5}};
    lwt_bushing(b, &bushing);
    probe p = probe_of(lwt_model(b));
    agree("bushing", &p, ALL, 1e-7); // relaxed: nothing but its rows
    p.r[1][0] += 0.2, p.r[1][2] -= 0.1;
    agree("strained bushing", &p, OWN, 1e-7);
    done(&p);
}

// Efforts of springs, stops and friction on a joint coordinate; the joint's own forces are none.
static void joint_coordinates(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        lw_builder *b = lwt_builder();
        lw_body body[2];
        two_bodies(b, body);
        lw_joint_desc joint = {.type = kind ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE,
                               .body1 = body[0],
                               .body2 = body[1],
                               .at = {0.7, 0.1, 0.2},
                               .axis = {0.6, 0, 0.8},
                               .has_qd = 1,
                               .qd = {0.4}};
        lw_coordinate_desc *c = &joint.coordinate[0];
        c->stiffness = 70, c->damping = 2, c->at = -0.3;
        c->friction = (lw_friction_desc){.coulomb = 0.5, .viscous = 0.3, .speed = 0.6};
        c->limits = (lw_limits_desc){.has_upper = 1, .upper = -0.1, .stiffness = 200, .damping = 4};
        lwt_add(b, &joint);
        probe p = probe_of(lwt_model(b));
        // the rotating efforts couple the bodies, in addition to the row: 1e-4 of it at this step
        p.h = 1e-5, p.e = 1e-8; // speeds change by 2e-3
        agree(kind ? "prismatic coordinate" : "revolute coordinate", &p, ALL, 1e-4);
        agree(kind ? "prismatic coordinate" : "revolute coordinate", &p, OWN, 1e-7);
        done(&p);
    }
}

static void contacts(void **state)
{
    (void)state;
    for (int plane = 0; plane < 2; plane++) {
        lw_builder *b = lwt_builder();
        lw_body body[2];
        two_bodies(b, body);
        lw_stop_desc stop = {.body1 = body[0],
                             .body2 = body[1],
                             .point1 = {0.1, 0.2, 0},
                             .point2 = {0, -0.1, 0.1},
                             .stiffness = 1e4,
                             .dissipation = 0.1,
                             .radius = 1,
                             .radius2 = plane ? 0 : 1,
                             .normal = {0, plane ? 0.6 : 0, plane ? 0.8 : 0}};
        lwt_stop(b, &stop);
        lw_model *model = lwt_model(b);
        probe p = probe_of(model);
        // to a depth of 1e-3: the normal's turning is that part of the spring
        double n[3], c[3], q[3];
        const lwi_stop_par *par = model->force[0].par;
        m3_mul_v(c, p.R[0], par->point1), v3_add(c, c, p.r[0]);
        m3_mul_v(q, p.R[1], par->point2), v3_add(q, q, p.r[1]);
        v3_sub(n, c, q);
        if (plane) m3_mul_v(n, p.R[1], par->normal);
        const double depth =
            plane ? par->radius - (v3_dot(n, c) - v3_dot(n, q)) : par->radius - v3_norm(n);
        v3_scale(n, (depth - 1e-3) / (plane ? 1 : v3_norm(n)), n);
        v3_add(p.r[0], p.r[0], n);
        agree(plane ? "sphere on a plane" : "sphere on a sphere", &p, plane ? OWN : ALL, 2e-3);
        done(&p);
    }
}

static void wrenches_of_one_body(void **state)
{
    (void)state;
    for (int axes = 0; axes < 2; axes++) {
        lw_builder *b = lwt_builder();
        lw_body body[2];
        two_bodies(b, body);
        const lw_wrench_desc wrench = {.body = body[0],
                                       .point = {0.2, -0.3, 0.5},
                                       .force = {3, 2, -4},
                                       .torque = {1, -2, 0.5},
                                       .body_axes = axes};
        lwt_wrench(b, &wrench);
        probe p = probe_of(lwt_model(b));
        agree(axes ? "wrench in body axes" : "wrench in world axes", &p, ALL, 1e-7);
        done(&p);
    }
}

// Forces of joints, at any multipliers: own-body derivatives.  Point rows act at body 1's point as well as
// body 2's: for body 1 the derivative differs off the joint, and is the same on it.
static void joints(void **state)
{
    (void)state;
    static const struct {
        lw_joint_type type;
        int which;
    } cases[] = {{LW_JOINT_SPHERICAL, OWN_SECOND},
                 {LW_JOINT_REVOLUTE, OWN_SECOND},
                 {LW_JOINT_UNIVERSAL, OWN_SECOND},
                 {LW_JOINT_CYLINDRICAL, OWN},
                 {LW_JOINT_PRISMATIC, OWN},
                 {LW_JOINT_PLANAR, OWN},
                 {LW_JOINT_SCREW, OWN}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_builder *b = lwt_builder();
        lw_body body[2];
        two_bodies(b, body);
        lw_joint_desc joint = {.type = cases[i].type,
                               .body1 = body[0],
                               .body2 = body[1],
                               .at = {0.7, 0.1, 0.2},
                               .axis = {0.6, 0, 0.8},
                               .axis2 = {0.8, 0, -0.6},
                               .pitch = cases[i].type == LW_JOINT_SCREW ? 0.3 : 0};
        lwt_add(b, &joint);
        probe p = probe_of(lwt_model(b));
        for (int k = 0; k < p.d->system.nrow; k++) p.lambda[k] = cos(1 + 2.3 * k);
        char name[40];
        snprintf(name, sizeof name, "joint type %d", (int)cases[i].type);
        agree(name, &p, cases[i].which, 1e-7);
        done(&p);
    }
}

// A distance joint in tension: a spring across its line, between both bodies.
static void ropes(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_body body[2];
    two_bodies(b, body);
    const lw_pose frame[2] = {{.position = {0.1, 0.3, -0.2}}, {.position = {-0.2, 0.1, 0.4}}};
    for (int ground = 0; ground < 2; ground++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_DISTANCE,
                                    .body1 = ground ? lwt_ground : body[0],
                                    .body2 = body[1],
                                    .placement = LW_PLACED_FRAMES,
                                    .frame1 = frame[0],
                                    .frame2 = frame[1]});
    probe p = probe_of(lwt_model(b));
    p.lambda[0] = -3, p.lambda[1] = -2;
    agree("ropes", &p, ALL, 1e-7);
    done(&p);
}

// Coordinates of joints at both bodies coupled by a polynomial; the bodies of one joint are those of the
// other: all own-body derivatives.
static void couplings(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        lw_builder *b = lwt_builder();
        lw_body body[2];
        lw_error error;
        two_bodies(b, body);
        const double polynomial[3] = {0, -1.5, 0.8};
        lw_coupling_desc coupling = {.polynomial = polynomial, .npolynomial = 3};
        for (int i = 0; i < 2; i++) {
            const lw_joint_desc joint = {.type =
                                             slides == i ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE,
                                         .body1 = i ? body[0] : lwt_ground,
                                         .body2 = body[i],
                                         .at = {0.7, 0.1 + i, 0.2},
                                         .axis = {0.6, 0, 0.8}};
            lwt_ok(lw_builder_add_joint(b, &joint, i ? &coupling.joint : &coupling.of, &error),
                   &error);
        }
        lwt_coupling(b, &coupling);
        probe p = probe_of(lwt_model(b));
        const lwi_system *c = &p.d->system;
        p.lambda[c->plan.row[c->nedge - p.d->ncoupler - 1]] = 2;
        agree(slides ? "revolute of prismatic" : "prismatic of revolute", &p, OWN, 1e-7);
        done(&p);
    }
}

// Moves body k of the probe as the bead at `at` does from q = 0.
static void slide_bead(probe *p, int k, const double at[3])
{
    static const double q[2] = {0.4, 0.3};
    double R[9], r[3], arm[3], to_world[9];
    lwt_bead.pose(lwt_bead.user, q, R, r);
    v3_sub(arm, p->r[k], at);
    m3_mul_v(p->r[k], R, arm);
    v3_add(p->r[k], p->r[k], at);
    v3_add(p->r[k], p->r[k], r);
    m3_mul(to_world, R, p->R[k]);
    memcpy(p->R[k], to_world, sizeof to_world);
}

// e less its parts along n orthonormal vectors; false: nothing is left.
static bool orthonormal(int n, double (*v)[6], const double e[6])
{
    v6_copy(v[n], e);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++) v6_axpy(v[n], -v6_dot(v[k], v[n]), v[k]);
    const double size = sqrt(v6_dot(v[n], v[n]));
    for (int i = 0; i < 6 && size > 0; i++) v[n][i] /= size;
    return size > 1e-3;
}

// A bead that rotates on a curved wire, a type of the caller.  Its rows rotate within their span,
// and its coordinates off the joint are as it likes to read them; what is left, and Newton needs, is
// the change along motions that the joint admits of forces that do work there.
static void custom_joints(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_body body[2];
    two_bodies(b, body);
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_CUSTOM,
                                .custom = &lwt_bead,
                                .body2 = body[0],
                                .at = {0.7, 0.1, 0.2}});
    probe p = probe_of(lwt_model(b));
    double a[6 * MOST][6 * MOST], by[6 * MOST][6 * MOST], v[7][6];
    slide_bead(&p, 0, (const double[3]){0.7, 0.1, 0.2});
    for (int k = 0; k < p.d->system.nrow; k++) p.lambda[k] = cos(1 + 2.3 * k);
    newton(&p, a);
    differences(&p, by);
    int n = 0;
    for (int k = 0; k < 4; k++) n += orthonormal(n, v, lwi_elim_J(p.d->system.elim)[k]);
    for (int i = 0; i < 6; i++) {
        double unit[6] = {0};
        unit[i] = 1;
        n += orthonormal(n, v, unit);
    }
    assert_int_equal(n, 6);
    for (int i = 4; i < 6; i++)
        for (int j = 4; j < 6; j++) {
            double one = 0, other = 0;
            for (int k = 0; k < 6; k++)
                one += v[i][k] * v6_dot(a[k], v[j]), other += v[i][k] * v6_dot(by[k], v[j]);
            if (fabs(one - other) > 1e-7 || (i == j && fabs(one) < 1e-3))
                fail_msg("custom: %d, %d is %.9g, by differences %.9g", i, j, one, other);
        }
    done(&p);
}

// d/d rotation of eta (J dw/dt + w x J w) with w, dw/dt of the trapezoidal rule, theta added to.
static void gyroscopic_terms(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const double J[6] = {0.3, 0.7, 0.5, 0.05, -0.02, 0.08}, e = 1e-6;
    lwt_body(b, &(lw_body_desc){.mass = 1, .inertia = {0.3, 0.7, 0.5, 0.05, -0.02, 0.08}});
    probe p = probe_of(lwt_model(b));
    lwi_index3_body *body = &p.d->body[0];
    const double theta[3] = {0.3, -0.2, 0.4}, w0[3] = {2, -1, 3}, al0[3] = {4, 2, -3}, h = 0.1;
    double g[2][3], A[9], product[9];
    v3_copy(body->theta, theta);
    for (int i = 0; i < 3; i++) body->wn[i] = 2 / h * theta[i] - w0[i];
    lwi_index3_stiffnesses(p.d, 0, NULL, p.d->row);
    lwi_index3_leaves(p.d, h);
    for (int j = 0; j < 3; j++) {
        for (int side = 0; side < 2; side++) { // `exp(theta~) exp(turn~)`: the log of the product
            double dtheta[3] = {0}, E[9], D[9], R[9], quat[4], t[3], w[3], al[3], L[3], axis[3];
            dtheta[j] = side ? e : -e;
            v3_scale(axis, 1 / v3_norm(theta), theta);
            rot_axis(E, axis, v3_norm(theta));
            const double unit[3] = {j == 0, j == 1, j == 2};
            rot_axis(D, unit, dtheta[j]);
            m3_mul(R, E, D);
            quat_from_matrix(quat, R);
            if (quat[0] < 0)
                for (int i = 0; i < 4; i++) quat[i] = -quat[i];
            const double s = v3_norm(quat + 1);
            v3_scale(t, 2 * atan2(s, quat[0]) / s, quat + 1);
            for (int i = 0; i < 3; i++) {
                w[i] = 2 / h * t[i] - w0[i];
                al[i] = 4 / (h * h) * t[i] - 4 / h * w0[i] - al0[i];
            }
            s3_mul_v(g[side], J, al);
            s3_mul_v(L, J, w);
            v3_cross_add(g[side], w, L);
        }
        for (int i = 0; i < 3; i++) A[3 * i + j] = 0.25 * h * h * (g[1][i] - g[0][i]) / (2 * e);
    }
    m3_mul(product, A, p.d->leaf[0].ang); // the body's axes are the world's
    for (int i = 0; i < 9; i++)
        if (fabs(product[i] - 0.25 * h * h * (i % 4 == 0)) > 1e-9)
            fail_msg("entry %d of A K: %.9g", i, product[i]);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_in_tension),
        cmocka_unit_test(bushings),
        cmocka_unit_test(joint_coordinates),
        cmocka_unit_test(contacts),
        cmocka_unit_test(wrenches_of_one_body),
        cmocka_unit_test(joints),
        cmocka_unit_test(gyroscopic_terms),
        cmocka_unit_test(ropes),
        cmocka_unit_test(couplings),
        cmocka_unit_test(custom_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

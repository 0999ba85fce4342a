// test_closure.c -- constraint rows between bodies: each is the derivative of the one above, on the
// joint and off it; wrenches balance; drives, mounts, couplings and reactions.
#include "base/linear.h"
#include "tree/tree_cases.h"
#include "model/joint_cases.h"
#include "support/mechanism.h"

#include "kinematics/closure.h"
#include "kinematics/tree.h"

// ---------------------------------------------------------------------- motions at five instants

enum { NOW = 4, SHOTS }; // four offsets of the difference formula, then the middle

typedef struct shot {
    double t;
    double (*R)[9], (*r)[3], (*v)[3], (*w)[3], *q;
} shot;

typedef struct film {
    const lw_model *model;
    shot shot[SHOTS];
    double (*a)[3], (*al)[3]; // in the middle, by differences of v and w
    lwi_arena arena;
} film;

static film film_create(const lw_model *model)
{
    film f = {.model = model};
    const size_t nbody = (size_t)model->nbody;
    lwi_arena_init(&f.arena, NULL);
    for (int i = 0; i < SHOTS; i++) {
        shot *s = &f.shot[i];
        s->R = lwi_arena_push(&f.arena, nbody, sizeof *s->R);
        s->r = lwi_arena_push(&f.arena, nbody, sizeof *s->r);
        s->v = lwi_arena_push(&f.arena, nbody, sizeof *s->v);
        s->w = lwi_arena_push(&f.arena, nbody, sizeof *s->w);
        s->q = lwi_arena_push(&f.arena, (size_t)model->nq, sizeof *s->q);
        m3_identity(s->R[0]);
    }
    f.a = lwi_arena_push(&f.arena, nbody, sizeof *f.a);
    f.al = lwi_arena_push(&f.arena, nbody, sizeof *f.al);
    return f;
}

static void differentiate(film *f)
{
    for (int b = 0; b < f->model->nbody; b++)
        for (int i = 0; i < 4; i++) {
            v3_axpy(f->a[b], lwt_weight[i], f->shot[i].v[b]);
            v3_axpy(f->al[b], lwt_weight[i], f->shot[i].w[b]);
        }
}

static lwi_motion motion_at(const film *f, int i)
{
    const shot *s = &f->shot[i];
    return (lwi_motion){.R = (const double(*)[9])s->R,
                        .r = (const double(*)[3])s->r,
                        .v = (const double(*)[3])s->v,
                        .w = (const double(*)[3])s->w,
                        .q = s->q};
}

// Free coordinates and speeds of a node at the time h later, udot = a.
static void flow_node(const lwi_node *n, const double *q, const double *u, const double *a,
                      double h, double *q_end, double *u_end)
{
    for (int j = 0; j < n->nv; j++) u_end[j] = u[j] + h * a[j];
    if (n->nq == n->nv) {
        for (int j = 0; j < n->nq; j++) q_end[j] = q[j] + h * u[j] + 0.5 * h * h * a[j];
        return;
    }
    const joint_case c = {.type = *n->type, .par = *n->par};
    flow(&c, q, u, a, h, q_end);
}

// The tree moves as its joints let it; all joints stay closed.
static film film_of_tree(lwt_tree *c)
{
    const lw_model *model = c->model;
    film f = film_create(model);
    double *a = lwi_arena_push(&f.arena, (size_t)model->tree_nv, sizeof *a);
    double *q = lwi_arena_push(&f.arena, (size_t)model->tree_nq, sizeof *q);
    double *u = lwi_arena_push(&f.arena, (size_t)model->tree_nv, sizeof *u);
    lwi_link *link = lwi_arena_push(&f.arena, (size_t)model->nnode, sizeof *link);
    double(*R)[9] = lwi_arena_push(&f.arena, (size_t)model->nnode, sizeof *R);
    double(*r)[3] = lwi_arena_push(&f.arena, (size_t)model->nnode, sizeof *r);
    double(*V)[6] = lwi_arena_push(&f.arena, (size_t)model->nnode, sizeof *V);
    for (int i = 0; i < model->tree_nv; i++) a[i] = lwt_random(&c->state, -1, 1);
    for (int i = 0; i < SHOTS; i++) {
        shot *s = &f.shot[i];
        const double h = i == NOW ? 0 : lwt_offset[i];
        s->t = c->t + h;
        for (int k = 0; k < model->nnode; k++) {
            const lwi_node *n = &model->node[k];
            flow_node(n, c->q + n->iq, c->v + n->iv, a + n->iv, h, q + n->iq, u + n->iv);
        }
        lwi_tree_position(model, s->t, q, link);
        lwi_tree_world(model, link, R, r);
        lwi_tree_velocity(model, link, u, V);
        lwi_tree_bodies(model, (const double(*)[9])R, (const double(*)[3])r, (const double(*)[6])V,
                        s->R, s->r, s->v, s->w);
        lwi_tree_joints(model, link, u, s->q, NULL);
    }
    differentiate(&f);
    return f;
}

// Every body anywhere near its place and in any uniformly accelerated motion: no joint is closed.
static film film_of_bodies(const lw_model *model, uint64_t *state)
{
    film f = film_create(model);
    for (int b = 1; b < model->nbody; b++) {
        double R[9], x[4] = {1}, turn[9], r[3], v[3], w[3], a[3], al[3];
        for (int i = 0; i < 3; i++) {
            r[i] = model->body[b].r0[i] + lwt_random(state, -0.2, 0.2);
            x[1 + i] = lwt_random(state, -0.1, 0.1);
            v[i] = lwt_random(state, -1, 1);
            w[i] = lwt_random(state, -1, 1);
            a[i] = lwt_random(state, -1, 1);
            al[i] = lwt_random(state, -1, 1);
        }
        quat_matrix(R, model->body[b].quat0);
        quat_matrix(turn, x);
        for (int i = 0; i < SHOTS;
             i++) { // R = exp(w h) exp(al h^2 / 2) `turn` R0, w and al at h = 0
            shot *s = &f.shot[i];
            const double h = i == NOW ? 0 : lwt_offset[i], speed = v3_norm(w), gain = v3_norm(al);
            double e[3], rate[9], bend[9], A[9], B[9], c[3];
            s->t = 0.4 + h;
            v3_scale(e, 1 / speed, w);
            rot_axis(rate, e, speed * h);
            v3_scale(e, 1 / gain, al);
            rot_axis(bend, e, 0.5 * gain * h * h);
            m3_mul(A, bend, turn);
            m3_mul(B, rate, A);
            m3_mul(s->R[b], B, R);
            m3_mul_v(c, rate, al); // w + exp(w h) al h
            v3_copy(s->w[b], w);
            v3_axpy(s->w[b], h, c);
            v3_copy(s->r[b], r);
            v3_axpy(s->r[b], h, v);
            v3_axpy(s->r[b], 0.5 * h * h, a);
            v3_copy(s->v[b], v);
            v3_axpy(s->v[b], h, a);
        }
    }
    for (int i = 0; i < SHOTS; i++)
        memcpy(f.shot[i].q, model->q0, (size_t)model->nq * sizeof *model->q0);
    differentiate(&f);
    return f;
}

// ---------------------------------------------------------------------------------------- checks

// Rows of joint `item`, or of coupling `item` - njoint.
static void closure_at(const film *f, int item, int i, lwi_closure *c)
{
    const lwi_motion motion = motion_at(f, i);
    memset(c, 0xff, sizeof *c); // what is left unset shows as a NaN
    if (item < f->model->njoint)
        lwi_joint_closure(f->model, item, f->shot[i].t, &motion, LWI_CLOSURE_RATES, c);
    else
        lwi_coupling_closure(f->model, item - f->model->njoint, f->shot[i].t, &motion,
                             LWI_CLOSURE_RATES, c);
}

static double times(const lwi_closure *c, int k, const double (*linear)[3],
                    const double (*angular)[3])
{
    double sum = 0;
    for (int i = 0; i < c->nbody; i++)
        sum += v3_dot(c->J[i][k], linear[c->body[i]]) + v3_dot(c->J[i][k] + 3, angular[c->body[i]]);
    return sum;
}

static void close_to(const film *f, uint64_t seed, const char *what, int item, int k, double a,
                     double b, double tolerance)
{
    if (fabs(a - b) <= tolerance * (1 + fabs(b))) return;
    const char *type = item < f->model->njoint ? f->model->joint[item].type->name : "coupling";
    fail_msg("seed %llu, item %d (%s), row %d: %s %.12g, expected %.12g (%.2g off)",
             (unsigned long long)seed, item, type, k, what, a, b, fabs(a - b));
}

enum {
    MOST = 6 * 13,
    MAX_ROWS = 18
}; // wrenches on the bodies of a tree; rows of two joints and more

// Orthonormal directions of the rows of an item, as wrenches on all bodies.
typedef struct span {
    int n;
    double basis[MAX_ROWS][MOST];
} span;

static int add_rows(const film *f, int item, span *s)
{
    int independent = 0;
    lwi_closure c;
    closure_at(f, item, NOW, &c);
    for (int k = 0; k < c.n; k++) {
        double *row = s->basis[s->n];
        memset(row, 0, sizeof s->basis[0]);
        for (int i = 0; i < c.nbody; i++) v6_copy(row + 6 * c.body[i], c.J[i][k]);
        const double size = lwi_reject(MOST, s->n, s->basis[0], row);
        if (size < 1e-6) continue;
        for (int i = 0; i < MOST; i++) row[i] /= size;
        s->n++;
        independent++;
    }
    return independent;
}

// J V + b is the derivative of phi, J A + gamma that of J V + b, in the middle of the film.
static void check_rates(const film *f, uint64_t seed, int item, int rows)
{
    lwi_closure now, there;
    double phidot[LWI_CLOSURE_ROWS] = {0}, phiddot[LWI_CLOSURE_ROWS] = {0};
    closure_at(f, item, NOW, &now);
    for (int i = 0; i < 4; i++) {
        const shot *s = &f->shot[i];
        closure_at(f, item, i, &there);
        for (int k = 0; k < rows; k++) {
            phidot[k] += lwt_weight[i] * there.phi[k];
            phiddot[k] +=
                lwt_weight[i] *
                (times(&there, k, (const double(*)[3])s->v, (const double(*)[3])s->w) + there.b[k]);
        }
    }
    const shot *s = &f->shot[NOW];
    for (int k = 0; k < rows; k++) {
        const double JV = times(&now, k, (const double(*)[3])s->v, (const double(*)[3])s->w);
        const double JA = times(&now, k, (const double(*)[3])f->a, (const double(*)[3])f->al);
        close_to(f, seed, "phidot", item, k, JV + now.b[k], phidot[k], LWT_DERIVATIVE_TOLERANCE);
        close_to(f, seed, "phiddot", item, k, JA + now.gamma[k], phiddot[k],
                 LWT_DERIVATIVE_TOLERANCE);
    }
}

// Jdot is the derivative of the rows' wrenches about the points of space where the mass centres
// are, up to what `gauge` spans (NULL: exactly).
static void check_wrench_rates(const film *f, uint64_t seed, int item, int rows, const span *gauge)
{
    lwi_closure now, there;
    double rest[LWI_CLOSURE_ROWS][MOST] = {{0}};
    closure_at(f, item, NOW, &now);
    for (int i = 0; i < 4; i++) {
        closure_at(f, item, i, &there);
        for (int k = 0; k < rows; k++)
            for (int n = 0; n < there.nbody; n++) {
                const int b = there.body[n];
                double arm[3], torque[3], *to = rest[k] + 6 * b;
                v3_sub(arm, f->shot[i].r[b], f->shot[NOW].r[b]);
                v3_cross(torque, arm, there.J[n][k]);
                v6_axpy(to, lwt_weight[i], there.J[n][k]);
                v3_axpy(to + 3, lwt_weight[i], torque);
            }
    }
    for (int k = 0; k < rows; k++) {
        for (int n = 0; n < now.nbody; n++) v6_axpy(rest[k] + 6 * now.body[n], -1, now.Jdot[n][k]);
        if (gauge) lwi_reject(MOST, gauge->n, gauge->basis[0], rest[k]);
        for (int i = 0; i < MOST; i++)
            close_to(f, seed, "wrench rate", item, k, rest[k][i], 0, 10 * LWT_DERIVATIVE_TOLERANCE);
    }
}

// Force and moment about the origin of the world of a row's wrenches on all bodies are zero, and so
// are those of their derivatives; where the ground takes part it has what is missing.
static void check_balance(const film *f, uint64_t seed, int item)
{
    lwi_closure c;
    closure_at(f, item, NOW, &c);
    if (item < f->model->njoint && c.nbody < 2) return;
    for (int k = 0; k < c.n; k++) {
        double sum[6] = {0}, rate[6] = {0};
        for (int i = 0; i < c.nbody; i++) {
            const double *r = f->shot[NOW].r[c.body[i]];
            v6_add(sum, sum, c.J[i][k]);
            v3_cross_add(sum + 3, r, c.J[i][k]);
            v6_add(rate, rate, c.Jdot[i][k]);
            v3_cross_add(rate + 3, r, c.Jdot[i][k]);
        }
        for (int i = 0; i < 6; i++) { // positions up to ten, velocities up to a hundred
            close_to(f, seed, "sum", item, k, sum[i], 0, 1e-14);
            close_to(f, seed, "sum of rates", item, k, rate[i], 0, 1e-11);
        }
    }
}

#define FOR_EACH_JOINT(model, j)                                                                   \
    for (int j = 0; j < (model)->njoint; j++)                                                      \
        if (!(model)->joint[j].merged)

// ----------------------------------------------------------------------------------------- tests

// On closed joints, with drives and mounts in motion, all rows of all types.
static void rows_of_closed_joints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        film f = film_of_tree(&c);
        FOR_EACH_JOINT(c.model, j)
        {
            lwi_closure now;
            closure_at(&f, j, NOW, &now);
            assert_int_equal(now.n, lwi_joint_row_count(c.model, j));
            for (int k = 0; k < now.n; k++) close_to(&f, c.seed, "phi", j, k, now.phi[k], 0, 1e-13);
            check_rates(&f, c.seed, j, now.n);
            span own = {0};
            assert_int_equal(add_rows(&f, j, &own), now.n); // all independent
            const bool exact = c.model->joint[j].type->id != LW_JOINT_CUSTOM;
            check_wrench_rates(&f, c.seed, j, now.n, exact ? NULL : &own);
            check_balance(&f, c.seed, j);
        }
        lwi_arena_free(&f.arena);
    }
}

// Off their joints the rows of the built-in types are the same exact functions.
static void rows_of_open_joints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        film f = film_of_bodies(c.model, &c.state);
        FOR_EACH_JOINT(c.model, j)
        {
            check_balance(&f, c.seed, j);
            if (c.model->joint[j].type->id == LW_JOINT_CUSTOM) continue;
            check_rates(&f, c.seed, j, lwi_joint_row_count(c.model, j));
            check_wrench_rates(&f, c.seed, j, lwi_joint_row_count(c.model, j), NULL);
        }
        lwi_arena_free(&f.arena);
    }
}

// At level POSITION velocities are not read, and what is computed is the same.
static void positions_need_no_velocities(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 20, LWT_ALL)
    {
        film f = film_of_tree(&c);
        lwi_motion motion = motion_at(&f, NOW);
        motion.v = motion.w = NULL;
        FOR_EACH_JOINT(c.model, j)
        {
            lwi_closure full, half;
            closure_at(&f, j, NOW, &full);
            lwi_joint_closure(c.model, j, c.t, &motion, LWI_CLOSURE_POSITION, &half);
            assert_int_equal(half.n, full.n);
            assert_int_equal(half.nbody, full.nbody);
            for (int k = 0; k < full.n; k++) {
                close_to(&f, c.seed, "phi", j, k, half.phi[k], full.phi[k], 0);
                close_to(&f, c.seed, "b", j, k, half.b[k], full.b[k], 0);
                for (int i = 0; i < full.nbody; i++)
                    assert_memory_equal(half.J[i][k], full.J[i][k], sizeof full.J[i][k]);
            }
        }
        lwi_arena_free(&f.arena);
    }
}

// A polynomial between coordinates of any two joints, neighbours that share a body among them.
static void rows_of_couplings(void **state)
{
    (void)state;
    int shared = 0, tried = 0;
    LWT_FOR_TREES(c, 120, LWT_ALL & ~LWT_DRIVES)
    {
        static const double P[4] = {0.3, -0.7, 0.4, 0.2};
        lw_model *model = c.model;
        int found[2], n = 0, with[2];
        FOR_EACH_JOINT(model, j)
        {
            if (n == 2 || !model->joint[j].type->scalar || model->joint[j].type->nv == 0) continue;
            found[n] = j;
            with[n++] = lwt_random_below(&c.state, model->joint[j].type->nv);
        }
        if (n < 2) continue;
        lwi_coupling pair = {.joint = found[0],
                             .coordinate = with[0],
                             .of = found[1],
                             .with = with[1],
                             .c = P,
                             .n = 4};
        lwi_coupling *own = model->coupling;
        const int ncoupling = model->ncoupling;
        model->coupling = &pair, model->ncoupling = 1;
        const int item = model->njoint;
        const bool exact = model->joint[found[0]].type->coordinate[0].kind &&
                           model->joint[found[1]].type->coordinate[0].kind;
        if (exact) {
            film open = film_of_bodies(model, &c.state);
            check_rates(&open, c.seed, item, 1);
            check_wrench_rates(&open, c.seed, item, 1, NULL);
            lwi_arena_free(&open.arena);
        }
        film f = film_of_tree(&c);
        span gauge = {0};
        lwi_closure now;
        closure_at(&f, item, NOW, &now);
        check_rates(&f, c.seed, item, 1);
        add_rows(&f, found[0], &gauge);
        add_rows(&f, found[1], &gauge);
        check_wrench_rates(&f, c.seed, item, 1, exact ? NULL : &gauge);
        const lwi_joint *a = &model->joint[found[0]], *b = &model->joint[found[1]];
        bool ground = !a->body1 || !a->body2 || !b->body1 || !b->body2;
        if (!ground) check_balance(&f, c.seed, item);
        const int bodies[4] = {a->body1, a->body2, b->body1, b->body2};
        int different = 0;
        for (int i = 0; i < 4; i++) {
            bool again = bodies[i] == 0;
            for (int k = 0; k < i; k++) again |= bodies[k] == bodies[i];
            different += !again;
        }
        assert_int_equal(now.nbody, different);
        shared += different < 4 && !ground;
        tried++;
        lwi_arena_free(&f.arena);
        model->coupling = own, model->ncoupling = ncoupling;
    }
    assert_true(tried > 30);
    assert_true(shared > 3);
}

// A rod with a length that is a polynomial of time, with and without a position error.
static void rows_of_a_distance_with_moving_length(void **state)
{
    (void)state;
    static const double length[4] = {1, 0, 0.5, -0.3};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        lw_builder *b = lwt_builder();
        const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1), B = lwt_rod(b, "B", 1, 1, 2, 1.5, 1);
        const lw_signal follows = lwt_function(
            b, &(lw_function_desc){
                   .type = LW_FUNCTION_POLYNOMIAL, .coefficients = length, .ncoefficient = 4});
        lwt_add(b, &(lw_joint_desc){.name = "rod",
                                    .type = LW_JOINT_DISTANCE,
                                    .body1 = seed % 3 ? A : lwt_ground,
                                    .body2 = B,
                                    .placement = LW_PLACED_FRAMES,
                                    .frame1 = {.position = {seed % 3 ? 0.5 : 1, 0, 0}},
                                    .frame2 = {.position = {-sqrt(1.25) / 2, 0, 0}},
                                    .length_of = follows});
        lw_model *model = lwt_model(b);
        film f = film_of_bodies(model, &random);
        check_rates(&f, seed, 0, 1);
        check_wrench_rates(&f, seed, 0, 1, NULL);
        check_balance(&f, seed, 0);
        lwi_arena_free(&f.arena);
        lw_model_destroy(model);
    }
}

// What `dense` observes on a tree: coordinates, speeds and their derivatives are read from the
// bodies; every reaction is one of multipliers of the joint's rows; and with them as wrenches on
// the bodies, efforts and loads, all bodies are balanced.
static void reactions_and_efforts_balance_the_bodies(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, LWT_ALL)
    {
        const lw_model *model = c.model;
        const size_t nbody = (size_t)model->nbody;
        film f = film_of_tree(&c);
        const lwi_motion motion = motion_at(&f, NOW);
        lwi_work *dense = lwt_work(model, &lwi_formulation_dense);
        lwi_work *aba = lwt_work(model, &lwi_formulation_aba);
        double *x = lwt_reals(aba->layout.nx), *y = lwt_reals(dense->layout.nx);
        lwi_snapshot m;
        memcpy(x, c.q, (size_t)model->tree_nq * sizeof *x);
        memcpy(x + model->tree_nq, c.v, (size_t)model->tree_nv * sizeof *x);
        lwt_observe(aba, c.t, x, c.input, &f.arena, &m);
        lwt_ok(lwi_formulation_dense.enter(dense, &m, y), &dense->error);
        lwt_observe(dense, c.t, y, c.input, &f.arena, &m);

        lwi_loads loads = {.wrench = lwi_arena_push(&f.arena, nbody, sizeof *loads.wrench),
                           .effort = lwi_arena_push(&f.arena, (size_t)model->nv, sizeof(double))};
        double(*al)[3] = lwi_arena_push(&f.arena, nbody, sizeof *al);
        for (size_t b = 0; b < nbody; b++) m3_mul_v(al[b], m.R[b], m.al[b]);
        const lwi_kin kin = {
            .R = motion.R, .r = motion.r, .v = motion.v, .w = motion.w, .q = m.q, .qd = m.qd};
        lwi_forces_apply(model, &kin, c.t, c.input, &loads);
        lwi_loads_to_carriers(model, &kin, &loads);
        FOR_EACH_JOINT(model, j)
        {
            const lwi_joint *joint = &model->joint[j];
            double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], qdd[LW_JOINT_MAX_NV];
            lwi_joint_read_motion(model, j, c.t, &motion, q, u);
            lwi_joint_read_acceleration(model, j, c.t, &motion, (const double(*)[3])m.a,
                                        (const double(*)[3])al, qdd);
            for (int k = 0; k < joint->type->nq; k++)
                close_to(&f, c.seed, "q", j, k, q[k], m.q[joint->iq + k], 1e-12);
            for (int k = 0; k < joint->type->nv; k++) { // accelerations up to 1e3
                close_to(&f, c.seed, "u", j, k, u[k], m.qd[joint->iv + k], 1e-11);
                close_to(&f, c.seed, "qdd", j, k, qdd[k], m.qdd[joint->iv + k], 1e-9);
            }
            lwi_joint_apply_effort(model, j, c.t, &motion, loads.effort + joint->iv, loads.wrench);

            lwi_closure closure;
            double lambda[LWI_CLOSURE_ROWS] = {0}, F[LWI_CLOSURE_ROWS][6], whole[6];
            closure_at(&f, j, NOW, &closure);
            double A[36], b[6], rest[LWI_CLOSURE_ROWS * 6 + 64];
            int pivot[6];
            lwi_cod cod;
            for (int k = 0; k < closure.n; k++) {
                lambda[k] = 1;
                lwi_joint_reaction(model, j, &motion, &closure, lambda, F[k]);
                lambda[k] = 0;
                memcpy(A + 6 * k, F[k], sizeof F[k]);
            }
            assert_true(lwi_cod_doubles(6, closure.n) <= sizeof rest / sizeof *rest);
            if (closure.n) {
                lwi_cod_init(&cod, 6, closure.n, A, rest, pivot);
                lwi_cod_factor(&cod, closure.n, 0);
                memcpy(b, m.reaction[j], sizeof b);
                lwi_cod_solve(&cod, b, lambda);
            }
            lwi_joint_reaction(model, j, &motion, &closure, lambda, whole);
            const double size = v3_norm(m.reaction[j]) + v3_norm(m.reaction[j] + 3);
            for (int k = 0; k < 6; k++)
                close_to(&f, c.seed, "reaction", j, k, whole[k], m.reaction[j][k],
                         1e-11 * (1 + size));
            for (int i = 0; i < closure.nbody; i++)
                for (int k = 0; k < closure.n; k++)
                    v6_axpy(loads.wrench[closure.body[i]], lambda[k], closure.J[i][k]);
        }
        for (int b = 1; b < model->nbody; b++) {
            const lwi_body *body = &model->body[b];
            double p[3], n[3], L[3], rate[3];
            if (body->carrier != b) continue;
            v3_sub(p, m.a[b], model->gravity);
            v3_scale(p, body->mass, p);
            s3_mul_v(n, body->inertia, m.al[b]);
            s3_mul_v(L, body->inertia, m.w[b]);
            v3_cross(rate, m.w[b], L);
            v3_add(n, n, rate);
            m3_mul_v(n, m.R[b], n);
            for (int i = 0; i < 3; i++) {
                lwt_close(&c, "force on body", b, loads.wrench[b][i], p[i], 1e-9);
                lwt_close(&c, "torque on body", b, loads.wrench[b][3 + i], n[i], 1e-9);
            }
        }
        free(x);
        free(y);
        lwi_work_destroy(aba);
        lwi_work_destroy(dense);
        lwi_arena_free(&f.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_closed_joints),
        cmocka_unit_test(rows_of_open_joints),
        cmocka_unit_test(positions_need_no_velocities),
        cmocka_unit_test(rows_of_couplings),
        cmocka_unit_test(rows_of_a_distance_with_moving_length),
        cmocka_unit_test(reactions_and_efforts_balance_the_bodies),
    };
    return cmocka_run_group_tests_name("closure", tests, NULL, NULL);
}

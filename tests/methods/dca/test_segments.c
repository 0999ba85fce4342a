// test_segments.c -- long paths of hinges in segments: errors are those of the recursion over the bodies, and bits do
// not depend on lanes and threads.
#include "kinematics/tree_state.h"
#include "methods/dca/path_cases.h"
#include "methods/dca/segments/divide.h"

#include "support/mechanism.h"

// ------------------------------------------------------------------------------------------- tools

static lwi_path *path_of(const lw_model *model, int length, int width, lwi_pool *pool,
                         lwi_arena *arena)
{
    lwi_path_plan *plan;
    lwi_path *path;
    assert_int_equal(lwi_path_plan_create(model, (lwi_path_choice){1, length}, arena, &plan),
                     LW_OK);
    if (!plan) return NULL;
    assert_int_equal(lwi_path_create(model, plan, width, pool, arena, &path), LW_OK);
    return path;
}

/** Rates by a formulation; `lanes` as lwi_work.lanes. */
static lw_status rates_by(const lwi_formulation *formulation, const lw_model *model, int lanes,
                          const double *x, double *xdot, lw_error *error)
{
    lwi_work *work;
    assert_int_equal(lwi_work_create_lanes(model, formulation, NULL, lanes, &work, error), LW_OK);
    const lw_status status = formulation->rates(work, 0, x, NULL, xdot);
    *error = work->error;
    lwi_work_destroy(work);
    return status;
}

// ------------------------------------------------------------------------------------------ errors

typedef struct accuracy {
    int n;
    lwt_path_kind kind;
    double ratio;
    int length;
} accuracy;

static void compare(const accuracy *c, const char *what, const double *got, const double *plain,
                    const lwt_real *ref)
{
    const double error = lwt_path_error(got, ref, c->n),
                 plain_error = lwt_path_error(plain, ref, c->n);
    if (getenv("LW_SHOW"))
        printf("%d %s %g length %d: error of %s %.2g, of the recursion %.2g\n", c->n,
               lwt_path_name(c->kind), c->ratio, c->length, what, error, plain_error);
    if (!(error <= 10 * plain_error + 4e-14))
        fail_msg("%d %s, masses %g, length %d: error of %s %.3g, of the recursion %.3g", c->n,
                 lwt_path_name(c->kind), c->ratio, c->length, what, error, plain_error);
}

// Errors of speeds, momentum rates and accelerations, of segments and of the plain recursions in doubles.
static void check_accuracy(const accuracy *c)
{
    lwt_path chain = lwt_path_create(c->n, c->kind, c->ratio, -1, 0, false);
    const int n = c->n;
    double *x = lwt_reals(2 * n), *xdot = lwt_reals(2 * n), *u = lwt_reals(n), *pdot = lwt_reals(n);
    lwt_real *ref = lwt_zeros((size_t)(2 * n), sizeof *ref);
    lwi_arena arena;
    lwi_k_parts parts;
    lw_error error;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_k_parts_create(chain.model, &arena, &parts), LW_OK);
    assert_int_equal(parts.n, n);
    memcpy(x, chain.q, (size_t)n * sizeof *x);
    lwt_path_momenta(&parts, chain.q, chain.p, x + n);
    lwt_path_reference(&parts, chain.model->gravity, x, x + n, ref, ref + n);
    lwt_ok(rates_by(&lwi_formulation_momenta, chain.model, LWI_NO_KERNEL, x, xdot, &error), &error);
    lwi_path *path = path_of(chain.model, c->length, 0, NULL, &arena);
    assert_non_null(path);
    assert_true(lwi_path_rates(path, x, x + n, u, pdot));
    compare(c, "speeds", u, xdot, ref);
    compare(c, "rates", pdot, xdot + n, ref + n);

    memcpy(x + n, chain.p, (size_t)n * sizeof *x); // as speeds
    lwt_path_accelerations(&parts, chain.model->gravity, x, x + n, ref);
    lwt_ok(rates_by(&lwi_formulation_aba, chain.model, LWI_NO_KERNEL, x, xdot, &error), &error);
    assert_true(lwi_path_accelerations(path, x, x + n, NULL, true, u));
    compare(c, "accelerations", u, xdot + n, ref);
    assert_true(lwi_path_accelerations(path, x, x + n, NULL, false, pdot));
    assert_memory_equal(u, pdot, (size_t)n * sizeof *u); // with new factors
    lwi_arena_free(&arena);
    free(x), free(xdot), free(u), free(pdot), free(ref);
    lwt_path_destroy(&chain);
}

static void errors_are_those_of_the_recursion(void **state)
{
    (void)state;
    static const accuracy cases[] = {
        {8, LWT_COIL, 1, 1},         {8, LWT_COIL, 1, 2},        {9, LWT_COIL, 1, 16},
        {50, LWT_COIL, 1, 3},        {128, LWT_COIL, 1, 2},      {128, LWT_COIL, 1, 64},
        {128, LWT_STRAIGHT, 1, 3},   {128, LWT_PLANAR, 1, 2},    {300, LWT_COIL, 1e6, 16},
        {300, LWT_STRAIGHT, 1e6, 2}, {1024, LWT_PLANAR, 1, 32},  {1024, LWT_COIL, 1e6, 2},
        {1024, LWT_STRAIGHT, 1, 64}, {4096, LWT_COIL, 1, 128},   {4096, LWT_COIL, 1e6, 32},
        {8192, LWT_COIL, 1, 64},     {8192, LWT_STRAIGHT, 1, 0}, {8192, LWT_PLANAR, 1, 0},
        {30000, LWT_COIL, 1, 0},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) check_accuracy(&cases[i]);
}

// ----------------------------------------------------------------------------------------- threads

/** Every thread that a path is shared with computes its part of the groups. */
static void every_thread_works(void **state)
{
    (void)state;
    lwt_path c = lwt_path_create(4200, LWT_COIL, 1, -1, 0, false);
    double *out = lwt_reals(2 * 4200);
    for (int threads = 1; threads <= 16; threads *= 2) {
        lwi_arena arena;
        lwi_pool *pool;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        lwt_ok(lwi_pool_create(threads, NULL, &pool, &error), &error);
        lwi_path *path = path_of(c.model, 0, 0, pool, &arena);
        assert_non_null(path);
        for (int i = 0; i < 3; i++) assert_true(lwi_path_rates(path, c.q, c.p, out, out + 4200));
        const int used = lwi_path_threads(path), groups = lwi_path_plan_of(path)->groups;
        assert_int_equal(used, threads); // 240 bodies at least for each of them
        long sum = 0;
        for (int t = 0; t < used; t++) {
            const long done = lwi_path_groups_done(path, t);
            assert_in_range(done, 9 * (groups / used), 9 * (groups / used + 1)); // three passes
            sum += done;
        }
        assert_int_equal(sum, 9 * groups);
        lwi_pool_destroy(pool);
        lwi_arena_free(&arena);
    }
    free(out);
    lwt_path_destroy(&c);
}

// ------------------------------------------------------------------------------ bases, other joints

// Rates by segments against those of another evaluation.
static void check_rates(const lw_model *model, const lwi_formulation *formulation,
                        const lwi_formulation *other, const double *x, double tolerance)
{
    const int nq = model->tree_nq, nv = model->tree_nv, nx = nq + nv + 1;
    double *a = lwt_reals(nx), *b = lwt_reals(nx), size[2] = {1, 1};
    lw_error error;
    lwt_ok(rates_by(formulation, model, 0, x, a, &error), &error);
    lwt_ok(rates_by(other, model, LWI_NO_KERNEL, x, b, &error), &error);
    for (int i = 0; i < nq + nv; i++) size[i >= nq] = fmax(size[i >= nq], fabs(b[i]));
    for (int i = 0; i < nq + nv; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * size[i >= nq]))
            fail_msg("%s: %s %d: %.17g, expected %.17g", formulation->name,
                     i < nq ? "speed" : "rate", i, a[i], b[i]);
    free(a), free(b);
}

// Observations by segments and by the elimination.
static void check_observations(const lw_model *model, const lwi_formulation *formulation,
                               const double *x, double tolerance)
{
    lwi_snapshot m[2];
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    for (int i = 0; i < 2; i++) {
        lwi_work *work;
        lw_error error;
        assert_int_equal(
            lwi_work_create_lanes(model, formulation, NULL, i ? LWI_NO_KERNEL : 0, &work, &error),
            LW_OK);
        lwt_observe(work, 0, x, NULL, &arena, &m[i]);
        lwi_work_destroy(work);
    }
    double size[4] = {1, 1, 1, 1};
    const double *got[4] = {m[0].r[0], m[0].v[0], m[0].a[0], m[0].reaction[0]};
    const double *other[4] = {m[1].r[0], m[1].v[0], m[1].a[0], m[1].reaction[0]};
    const int n[4] = {3 * model->nbody, 3 * model->nbody, 3 * model->nbody, 6 * model->njoint};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n[k]; i++) size[k] = fmax(size[k], fabs(other[k][i]));
        for (int i = 0; i < n[k]; i++)
            if (!(fabs(got[k][i] - other[k][i]) <= tolerance * size[k]))
                fail_msg("%s: quantity %d, %d: %.17g, expected %.17g", formulation->name, k, i,
                         got[k][i], other[k][i]);
    }
    assert_memory_equal(m[0].unique, m[1].unique, (size_t)model->njoint);
    lwi_arena_free(&arena);
}

// What is counted without a plan is what the plan has.
static void check_counts(const lw_model *model)
{
    lwi_arena arena;
    lwi_path_plan *plan;
    lwi_path_counts counts, have = {0};
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_path_plan_create(model, (lwi_path_choice){0}, &arena, &plan), LW_OK);
    for (int s = 0; plan && s < LWI_LANES * plan->groups; s++) {
        const lwi_path_body *body = plan->body + s % plan->groups * plan->length;
        const int l = s / plan->groups;
        for (int j = 0; j < plan->length; j++) {
            const int k = plan->place[s * plan->length + j];
            if (k < 0) continue;
            if (plan->joint[k].kind == LWI_PATH_BALL)
                have.balls++;
            else if (body[j].ca[l] == 0 || body[j].sa[l] == 0)
                have.square++;
            else
                have.others++;
        }
    }
    assert_int_equal(lwi_path_count(model, NULL, &counts), LW_OK);
    assert_int_equal(counts.balls, have.balls);
    assert_int_equal(counts.square, have.square);
    assert_int_equal(counts.others, have.others);
    lwi_arena_free(&arena);
}

// hdca against `momenta` and its own elimination, dca against aba, observations.  With a free base the momenta of hdca are
// in world axes: `momenta` is no reference.
static void check_model(lwt_path c)
{
    const int nq = c.model->tree_nq, nv = c.model->tree_nv;
    double *x = lwt_reals(nq + nv + 1);
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    memcpy(x, c.q, (size_t)nq * sizeof *x);
    memcpy(x + nq, c.p, (size_t)nv * sizeof *x);
    lwi_path *path = path_of(c.model, 0, 0, NULL, &arena);
    double *out = LWI_PUSH(&arena, double, 2 * nv);
    assert_true(path && lwi_path_rates(path, x, x + nq, out, out + nv)); // segments are used
    assert_true(lwi_path_accelerations(path, x, x + nq, NULL, false, out));
    check_rates(c.model, &lwi_formulation_dca, &lwi_formulation_aba, x, 1e-8);
    check_rates(c.model, &lwi_formulation_hdca, &lwi_formulation_hdca, x, 1e-8);
    if (c.model->node[0].nv < 6)
        check_rates(c.model, &lwi_formulation_hdca, &lwi_formulation_momenta, x, 1e-8);
    check_observations(c.model, &lwi_formulation_hdca, x, 1e-7);
    check_observations(c.model, &lwi_formulation_dca, x, 1e-7);
    check_counts(c.model);
    lwi_arena_free(&arena);
    free(x);
    lwt_path_destroy(&c);
}

static void bases_and_universal_joints(void **state)
{
    (void)state;
    check_model(lwt_path_create(300, LWT_COIL, 1, -1, 3, false));
    check_model(lwt_path_create(300, LWT_COIL, 1, LW_JOINT_SPHERICAL, 2, false));
    check_model(lwt_path_create(300, LWT_COIL, 1, LW_JOINT_FREE, 0, false));
    check_model(lwt_path_create(300, LWT_COIL, 1, -1, 3, true));
}

// ------------------------------------------------------------------------------- joints of all kinds

enum {
    REVERSED = 1,
    ROTORS = 2,
    MERGED = 4,
    LOADS = 8,
    SLIDERS = 16, // screws, cylindrical and planar joints too
    BALLS = 32,
    ONLY_BALLS = 64,
    ON_BODY = 128, // on a body that is free
    ALL_ROTORS = 256,
    DRIVE = 512,
    ONE_SLIDER = 1024,
    SOME_HINGES = 2048 // with ONLY_BALLS
};

// The kind of joint i.
static lw_joint_type type_of(int i, unsigned flags)
{
    if ((flags & ON_BODY) && i == 0) return LW_JOINT_FREE;
    if ((flags & SOME_HINGES) && (i == 0 || i == 40)) return LW_JOINT_REVOLUTE;
    if (flags & ONLY_BALLS) return LW_JOINT_SPHERICAL;
    if ((flags & ONE_SLIDER) && i == 1) return LW_JOINT_PRISMATIC;
    if ((flags & BALLS) && i > 0 && (i % 5 == 2 || i / 20 % 4 == 3)) return LW_JOINT_SPHERICAL;
    if (!(flags & SLIDERS)) return LW_JOINT_REVOLUTE;
    if (i % 7 == 0) return LW_JOINT_PRISMATIC; // the first one too
    return i % 11 == 5   ? LW_JOINT_SCREW
           : i % 13 == 1 ? LW_JOINT_CYLINDRICAL
           : i % 17 == 3 ? LW_JOINT_PLANAR
                         : LW_JOINT_REVOLUTE;
}

// Forces that read poses and velocities of bodies: one of each kind, at bodies all along the path.
static void add_loads(lw_builder *b, const lw_body *body, int n)
{
    lw_error error;
    lwt_ok(lw_builder_add_spring(b,
                                 &(lw_spring_desc){.body1 = lwt_ground,
                                                   .body2 = body[n / 3],
                                                   .point1 = {3, 4, 5},
                                                   .stiffness = 40,
                                                   .damping = 2,
                                                   .length = 1},
                                 &error),
           &error);
    lwt_ok(lw_builder_add_spring(
               b,
               &(lw_spring_desc){
                   .body1 = body[0], .body2 = body[n - 2], .point2 = {0, 1, 0}, .stiffness = 30},
               &error),
           &error);
    lwt_ok(lw_builder_add_wrench(b,
                                 &(lw_wrench_desc){.body = body[n - 1],
                                                   .point = {0.5, 0, 0},
                                                   .force = {20, -300, 10},
                                                   .torque = {1, 2, 3},
                                                   .body_axes = true},
                                 &error),
           &error);
    for (int i = 0; i < n; i += 7)
        lwt_ok(lw_builder_add_drag(
                   b,
                   &(lw_drag_desc){
                       .body = body[i], .quadratic = 0.3, .angular = 0.1, .flow = {4, 0, 0}},
                   &error),
               &error);
    lwt_ok(lw_builder_add_bushing(b,
                                  &(lw_bushing_desc){.body1 = body[n / 4],
                                                     .body2 = body[n / 4 + 1],
                                                     .stiffness = {50, 60, 70, 8, 9, 10},
                                                     .damping = {1, 2, 3, 1, 2, 3}},
                                  &error),
           &error);
    lwt_ok(lw_builder_add_stop(b,
                               &(lw_stop_desc){.body1 = body[n / 2],
                                               .body2 = body[n / 2 + 2],
                                               .radius = 2,
                                               .radius2 = 3, // overlap: two joints are between
                                               .stiffness = 500,
                                               .dissipation = 0.1},
                               &error),
           &error);
}

static lw_signal constant(lw_builder *b)
{
    lw_signal signal;
    lw_error error;
    lwt_ok(lw_builder_add_function(
               b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = 0.3}, &signal, &error),
           &error);
    return signal;
}

// A path of n joints along x with every kind of joint that the flags name.
static lwt_path mixed(int n, unsigned flags)
{
    lwt_path c = {0};
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground, *body = lwt_zeros((size_t)n, sizeof *body);
    lw_error error;
    uint64_t seed = flags + 1;
    for (int i = 0; i < n; i++) {
        const lw_body rod =
            lwt_body(b, &(lw_body_desc){.mass = lwt_random(&seed, 0.5, 2),
                                        .inertia = {0.1, 0.2, 0.25, 0.01, 0, 0.02},
                                        .pose.position = {i + 0.5, lwt_random(&seed, -1, 1), 0}});
        const lw_joint_type type = type_of(i, flags);
        const bool back = (flags & REVERSED) && i % 3 == 1 && type != LW_JOINT_SPHERICAL;
        const double h = lwt_random(&seed, 0.3, 2.8), t = lwt_random(&seed, -3, 3);
        lw_joint_desc joint = {.type = type,
                               .body1 = back ? rod : last,
                               .body2 = back ? last : rod,
                               .at = {i, 0, 0},
                               .axis = {sin(h) * cos(t), sin(h) * sin(t), cos(h)},
                               .pitch = type == LW_JOINT_SCREW ? 0.2 : 0};
        const bool scalar = type == LW_JOINT_REVOLUTE || type == LW_JOINT_PRISMATIC;
        if (scalar && ((flags & ALL_ROTORS) || ((flags & ROTORS) && i % 16)))
            joint.coordinate[0].rotor = 0.5;
        if ((flags & DRIVE) && i == n / 2) joint.coordinate[0].motion = constant(b);
        lwt_add(b, &joint);
        last = body[i] = rod;
        if (!(flags & MERGED) || i % 5) continue;
        const lw_body tail = lwt_body(
            b, &(lw_body_desc){.mass = 1, .inertia = {0.1, 0.1, 0.1}, .pose.position = {i, 1, 1}});
        lwt_add(b, &(lw_joint_desc){
                       .type = LW_JOINT_FIXED, .body1 = rod, .body2 = tail, .at = {i, 1, 0}});
    }
    if (flags & LOADS) add_loads(b, body, n);
    free(body);
    lwt_ok(lw_model_create(b, &c.model, &error), &error);
    lw_builder_destroy(b);
    c.q = lwt_reals(c.model->tree_nq);
    c.p = lwt_reals(c.model->tree_nv);
    for (int i = 0; i < c.model->tree_nq; i++) c.q[i] = lwt_random(&seed, -3, 3);
    for (int i = 0; i < c.model->tree_nv; i++) c.p[i] = lwt_random(&seed, -1, 1);
    return c;
}

// -------------------------------------------------------------------------------------------- bits

// Speeds, rates and accelerations, twice, of segments of 16 joints.
static void evaluate_twice(const lwt_path *c, int width, int threads, double *out)
{
    const int n = c->model->tree_nv;
    lwi_arena arena;
    lwi_pool *pool;
    lw_error error;
    lwi_arena_init(&arena, NULL);
    lwt_ok(lwi_pool_create(threads, NULL, &pool, &error), &error);
    lwi_path *path = path_of(c->model, 16, width, pool, &arena);
    for (int again = 0; path && again < 2; again++) {
        assert_true(lwi_path_rates(path, c->q, c->p, out, out + n));
        assert_true(lwi_path_accelerations(path, c->q, c->p, c->p, true, out + 2 * n));
    }
    lwi_pool_destroy(pool);
    lwi_arena_free(&arena);
}

static void check_bits(lwt_path c)
{
    static const int width[] = {1, 4, 8}, threads[] = {1, 2, 3, 5, 8, 16};
    const int n = 3 * c.model->tree_nv;
    double *first = lwt_reals(n), *out = lwt_reals(n);
    evaluate_twice(&c, 1, 1, first);
    for (int w = 0; w < LWI_COUNT(width); w++)
        for (int t = 0; t < LWI_COUNT(threads); t++) {
            if (!lwi_path_kernels_of(width[w])) continue;
            evaluate_twice(&c, width[w], threads[t], out);
            if (memcmp(first, out, (size_t)n * sizeof *out) != 0)
                fail_msg("%d speeds: other bits with %d lanes and %d threads", n / 3, width[w],
                         threads[t]);
        }
    free(first);
    free(out);
    lwt_path_destroy(&c);
}

static void bits_are_those_of_any_lanes_and_threads(void **state)
{
    (void)state;
    static const int size[] = {1, 7, 8, 9, 255, 1030, 3001};
    if (!lwi_path_kernels_of(1)) return;
    for (int i = 0; i < LWI_COUNT(size); i++)
        check_bits(lwt_path_create(size[i], LWT_COIL, 1, -1, 0, false));
    check_bits(mixed(1200, ONLY_BALLS));
    check_bits(mixed(1200, ONLY_BALLS | SOME_HINGES));
    check_bits(mixed(1200, SLIDERS | BALLS | REVERSED));
}

// Speeds at q + h qdot, p + h pdot.
static void speeds_along(const lwt_path *c, lwi_path *path, double h, const double *qdot,
                         const double *pdot, double *u)
{
    const int nq = c->model->tree_nq, nv = c->model->tree_nv;
    double *q = lwt_reals(nq), *p = lwt_reals(nv), *rate = lwt_reals(nv);
    for (int i = 0; i < nq; i++) q[i] = c->q[i] + h * qdot[i];
    for (int i = 0; i < nv; i++) p[i] = c->p[i] + h * pdot[i];
    assert_true(lwi_path_rates(path, q, p, u, rate));
    free(q), free(p), free(rate);
}

/** Accelerations are the rates of the speeds along the motion: speeds and rates of the momenta of hdca, and accelerations
 *  of dca, agree by themselves, without another formulation. */
static void accelerations_are_the_rates_of_speeds(void **state)
{
    (void)state;
    static const unsigned flags[] = {0, ONLY_BALLS, ONLY_BALLS | SOME_HINGES,
                                     SLIDERS | BALLS | REVERSED | MERGED};
    const double h = 1e-5;
    for (int k = 0; k < LWI_COUNT(flags); k++) {
        lwt_path c = mixed(60, flags[k]);
        const int nq = c.model->tree_nq, nv = c.model->tree_nv;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        lwi_path *path = path_of(c.model, 8, 0, NULL, &arena);
        assert_non_null(path);
        double *u = lwt_reals(nv), *pdot = lwt_reals(nv), *udot = lwt_reals(nv),
               *before = lwt_reals(nv), *after = lwt_reals(nv), *qdot = lwt_reals(nq), size = 0;
        for (int i = 0; i < nv; i++) c.p[i] *= 0.01;
        assert_true(lwi_path_rates(path, c.q, c.p, u, pdot));
        assert_true(lwi_path_accelerations(path, c.q, u, NULL, true, udot));
        lwi_tree_kinematics_free(c.model, c.q, u, qdot);
        speeds_along(&c, path, -h, qdot, pdot, before);
        speeds_along(&c, path, h, qdot, pdot, after);
        for (int i = 0; i < nv; i++) size = fmax(size, fabs(udot[i]));
        for (int i = 0; i < nv; i++) {
            const double slope = (after[i] - before[i]) / (2 * h);
            if (!(fabs(slope - udot[i]) <= 1e-6 * size))
                fail_msg("flags %u, speed %d: %.12g, by differences %.12g of %.3g", flags[k], i,
                         udot[i], slope, size);
        }
        free(u), free(pdot), free(udot), free(before), free(after), free(qdot);
        lwi_arena_free(&arena);
        lwt_path_destroy(&c);
    }
}

static bool has_path(const lw_model *model)
{
    lwi_arena arena;
    lwi_path_plan *plan;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_path_plan_create(model, (lwi_path_choice){0}, &arena, &plan), LW_OK);
    const bool found = plan != NULL;
    lwi_arena_free(&arena);
    check_counts(model);
    return found;
}

static void reversed_joints_rotors_rigidly_joined_bodies_and_loads(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < SLIDERS; flags++) check_model(mixed(270, flags));
}

static void joints_of_any_kind_at_any_place(void **state)
{
    (void)state;
    static const unsigned flags[] = {SLIDERS,
                                     BALLS,
                                     SLIDERS | BALLS,
                                     SLIDERS | BALLS | REVERSED | ROTORS | MERGED | LOADS,
                                     ONLY_BALLS,
                                     ONLY_BALLS | MERGED | LOADS,
                                     ONLY_BALLS | ON_BODY,
                                     ONLY_BALLS | SOME_HINGES | LOADS,
                                     BALLS | ON_BODY | LOADS};
    for (int i = 0; i < LWI_COUNT(flags); i++)
        for (int n = 270; n < 275; n++) check_model(mixed(n, flags[i]));
}

/** Of one group with the slider, the other has no padding. */
static void a_slider_lengthens_its_own_group(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_path_plan *plan;
    lwt_path c = mixed(512, ONE_SLIDER);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_path_plan_create(c.model, (lwi_path_choice){0}, &arena, &plan), LW_OK);
    assert_non_null(plan);
    assert_int_equal(plan->groups, 2);
    assert_int_equal(plan->places[0], 33);
    assert_int_equal(plan->places[1], 32);
    assert_int_equal(plan->all[1], LWI_PATH_HINGE);
    for (int l = 0; l < LWI_LANES; l++)
        for (int j = 0; j < plan->places[1]; j++)
            assert_true(plan->place[(l * plan->groups + 1) * plan->length + j] >= 0);
    lwi_arena_free(&arena);
    check_model(c);
}

/** Models that are no path of hinges have the general elimination. */
static void other_models_are_left_alone(void **state)
{
    (void)state;
    static const unsigned other[] = {DRIVE, ALL_ROTORS, SLIDERS | ON_BODY};
    for (int i = 0; i < LWI_COUNT(other); i++) {
        lwt_path c = mixed(270, other[i]);
        assert_false(has_path(c.model));
        lwt_path_destroy(&c);
    }
    for (int n = LWI_PATH_MINIMUM - 1; n <= LWI_PATH_MINIMUM; n++) {
        lwt_path c = mixed(n, 0);
        assert_int_equal(has_path(c.model), n == LWI_PATH_MINIMUM);
        lwt_path_destroy(&c);
    }
}

// ------------------------------------------------------------------------------------------- joins

// A semidefinite matrix of the given rank, its lower triangle.
static void semidefinite(lwi_lanes *to, int l, int rank, uint64_t *seed)
{
    double x[5][5];
    for (int r = 0; r < rank; r++)
        for (int i = 0; i < 5; i++) x[r][i] = lwt_random(seed, -1, 1);
    for (int i = 0, n = 0; i < 5; i++)
        for (int k = 0; k <= i; k++, n++) {
            to[n][l] = 0;
            for (int r = 0; r < rank; r++) to[n][l] += x[r][i] * x[r][k];
        }
}

static void random_end(lwi_path_end *end, uint64_t *seed)
{
    for (int l = 0; l < LWI_LANES; l++) { // ranks 0 to 5 of M and L in the lanes
        semidefinite(end->M, l, (int)lwt_random(seed, 0, 5.99), seed);
        semidefinite(end->L, l, (int)lwt_random(seed, 0, 5.99), seed);
        for (int i = 0; i < 25; i++) end->T[i][l] = lwt_random(seed, -1, 1);
        for (int i = 0; i < 5; i++)
            end->z[i][l] = lwt_random(seed, -1, 1), end->e[i][l] = lwt_random(seed, -1, 1);
        for (int i = 0; i < 9; i++) end->R[i][l] = i % 4 == 0;
    }
}

/** A (B C) = (A B) C, also where M and L are zero or singular. */
static void joins_are_associative(void **state)
{
    (void)state;
    const lwi_path_kernels *kernels = lwi_path_kernels_of(0);
    lwi_arena arena;
    uint64_t seed = 3;
    lwi_arena_init(&arena, NULL);
    lwi_path_end *e = LWI_PUSH(&arena, lwi_path_end, 7);
    for (int trial = 0; kernels && trial < 200; trial++) {
        for (int i = 0; i < 3; i++) random_end(&e[i], &seed);
        kernels->up[0][LWI_PATH_MOMENTA](&e[0], &e[1], &e[3], LWI_LANES);
        kernels->up[0][LWI_PATH_MOMENTA](&e[3], &e[2], &e[4], LWI_LANES);
        kernels->up[0][LWI_PATH_MOMENTA](&e[1], &e[2], &e[5], LWI_LANES);
        kernels->up[0][LWI_PATH_MOMENTA](&e[0], &e[5], &e[6], LWI_LANES);
        const double *a = e[4].M[0], *b = e[6].M[0];
        for (int i = 0; i < (15 + 25 + 15 + 5 + 5) * LWI_LANES; i++)
            if (!(fabs(a[i] - b[i]) <= 1e-9 * (1 + fabs(b[i]))))
                fail_msg("trial %d, entry %d, lane %d: %.17g, %.17g", trial, i / LWI_LANES,
                         i % LWI_LANES, a[i], b[i]);
    }
    lwi_arena_free(&arena);
}

// Entries of a handle that couples at a ball have are zero.
static void without_couples(lwi_path_end *end)
{
    for (int l = 0; l < LWI_LANES; l++)
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 5; k++) {
                end->T[5 * i + k][l] = end->T[5 * k + i][l] = 0;
                if (k < i) continue;
                const int at = k * (k + 1) / 2 + i;
                end->M[at][l] = end->L[at][l] = 0;
            }
            end->e[i][l] = 0;
        }
}

/** Joins at balls, where couples are known, are those of all components. */
static void joins_at_balls(void **state)
{
    (void)state;
    const lwi_path_kernels *kernels = lwi_path_kernels_of(0);
    lwi_arena arena;
    uint64_t seed = 5;
    lwi_arena_init(&arena, NULL);
    lwi_path_end *e = LWI_PUSH(&arena, lwi_path_end, 4);
    for (int trial = 0; kernels && trial < 100; trial++) {
        for (int i = 0; i < 2; i++) {
            random_end(&e[i], &seed);
            without_couples(&e[i]);
        }
        for (int balls = 0; balls < 2; balls++)
            kernels->up[balls][LWI_PATH_MOMENTA](&e[0], &e[1], &e[2 + balls], LWI_LANES);
        const double *all = e[2].M[0], *forces = e[3].M[0];
        for (int i = 0; i < (15 + 25 + 15 + 5 + 5) * LWI_LANES; i++)
            if (!(fabs(all[i] - forces[i]) <= 1e-9 * (1 + fabs(all[i]))))
                fail_msg("trial %d, entry %d, lane %d: %.17g, %.17g", trial, i / LWI_LANES,
                         i % LWI_LANES, forces[i], all[i]);
    }
    lwi_arena_free(&arena);
}

// ---------------------------------------------------------------------------------------- declined

/** What segments cannot evaluate has the general elimination's result or error. */
static void declined_states_are_decided_by_the_elimination(void **state)
{
    (void)state;
    const int n = 300;
    static const double angle[] = {1e7, NAN, INFINITY};
    lwt_path c = lwt_path_create(n, LWT_COIL, 1, -1, 0, false);
    double *x = lwt_reals(2 * n), *a = lwt_reals(2 * n), *b = lwt_reals(2 * n);
    for (int i = 0; i < LWI_COUNT(angle); i++) {
        lw_error mine, other;
        memcpy(x, c.q, (size_t)n * sizeof *x);
        memcpy(x + n, c.p, (size_t)n * sizeof *x);
        x[n / 2] = angle[i];
        const lw_status status = rates_by(&lwi_formulation_hdca, c.model, 0, x, a, &mine);
        assert_int_equal(status,
                         rates_by(&lwi_formulation_hdca, c.model, LWI_NO_KERNEL, x, b, &other));
        assert_int_equal(status == LW_OK, isfinite(angle[i]));
        assert_string_equal(mine.text, other.text);
        if (status == LW_OK) assert_memory_equal(a, b, (size_t)(2 * n) * sizeof *a);
    }
    free(x), free(a), free(b);
    lwt_path_destroy(&c);
}

/** The parts of a simulation have one division, also where there is none. */
static void a_simulation_is_divided_once(void **state)
{
    (void)state;
    for (int segments = 0; segments < 2; segments++) {
        lw_model *model = lwt_generated(
            (lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = segments ? 400 : 4});
        lwi_shared shared;
        lwi_arena arena;
        lwi_path_plan *path[2];
        lwi_net_plan *net[2];
        lwi_shared_init(NULL, &shared);
        lwi_arena_init(&arena, NULL);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(lwi_divide(model, &shared, &arena, &path[i], &net[i]), LW_OK);
            assert_null(net[i]);
        }
        assert_true(shared.divided);
        assert_int_equal(path[0] != NULL, segments);
        assert_ptr_equal(path[1], path[0]);
        assert_null(arena.chunks); // nothing is left there
        lwi_arena_free(&arena);
        lwi_shared_free(&shared);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_recursion),
        cmocka_unit_test(bits_are_those_of_any_lanes_and_threads),
        cmocka_unit_test(every_thread_works),
        cmocka_unit_test(bases_and_universal_joints),
        cmocka_unit_test(reversed_joints_rotors_rigidly_joined_bodies_and_loads),
        cmocka_unit_test(joints_of_any_kind_at_any_place),
        cmocka_unit_test(a_slider_lengthens_its_own_group),
        cmocka_unit_test(accelerations_are_the_rates_of_speeds),
        cmocka_unit_test(other_models_are_left_alone),
        cmocka_unit_test(joins_are_associative),
        cmocka_unit_test(joins_at_balls),
        cmocka_unit_test(a_simulation_is_divided_once),
        cmocka_unit_test(declined_states_are_decided_by_the_elimination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

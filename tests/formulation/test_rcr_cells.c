// test_rcr_cells.c -- evaluations of `rcr` by cells in lanes against its general elimination,
// absolute coordinates, and themselves in other widths.
//
// Mechanisms fall from rest under gravity of any direction, so their states are on the constraints
// to what Runge and Kutta leave (below 1e-12 here).  What cells lose is what normal equations lose:
// digits of the smallest pivot they accept.
#include "formulation/rcr_cases.h"

#include "formulation/rcr_cells.h"
#include "kernel/kernels.h"

#include <float.h>

// Rounding of a few dozen operations, magnified by the smallest pivot that cells accept.
#define TOLERANCE (64 * DBL_EPSILON / LWI_CELL_PIVOT)

static const int widths[] = {1, 4, 8};

// -------------------------------------------------------------------------------------- mechanisms

/** A place in space: points and directions of a mechanism drawn near the origin are turned there.
 */
typedef struct site {
    lw_builder *b;
    double R[9];
    int nbody;
} site;

static lw_vec3 turned(const site *s, double x, double y, double z)
{
    const double a[3] = {x, y, z};
    double r[3];
    m3_mul_v(r, s->R, a);
    return (lw_vec3){r[0], r[1], r[2]};
}

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static site new_site(uint64_t *seed, bool straight)
{
    site s = {.b = lwt_builder()};
    double q[4] = {1, 0, 0, 0};
    for (int i = 0; i < 4 && !straight; i++) q[i] = draw(seed);
    quat_matrix(s.R, q);
    const double g[3] = {5 * draw(seed), -9 + draw(seed), 5 * draw(seed)};
    lw_builder_gravity(s.b, turned(&s, g[0], g[1], g[2]));
    return s;
}

/** A body with its mass centre there, no axis of its inertia along anything. */
static lw_body blob(site *s, double x, double y, double z, double mass)
{
    const double i = 0.02 * (1 + 0.3 * (s->nbody++ % 4)) * mass;
    return lwt_body(s->b,
                    &(lw_body_desc){.mass = mass,
                                    .inertia = {i, 1.3 * i, 1.7 * i, 0.1 * i, -0.2 * i, 0.15 * i},
                                    .pose = {.position = turned(s, x, y, z)}});
}

static lw_joint pin(site *s, lw_joint_type type, lw_body a, lw_body b, const double at[3],
                    const double axis[3], lw_cut cut)
{
    return lwt_add(s->b, &(lw_joint_desc){.type = type,
                                          .body1 = a,
                                          .body2 = b,
                                          .at = turned(s, at[0], at[1], at[2]),
                                          .axis = turned(s, axis[0], axis[1], axis[2]),
                                          .cut = cut});
}

#define AT(x, y, z)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        x, y, z                                                                                    \
    }
static const double X[3] = {1, 0, 0}, Y[3] = {0, 1, 0}, Z[3] = {0, 0, 1};

/** Crank, coupler and rocker on `base` with their first pivot at (x, y, z); the rocker. */
static lw_body four_bar(site *s, lw_body base, double x, double y, double z)
{
    const lw_body crank = blob(s, x + 0.05, y + 0.1, z, 1),
                  coupler = blob(s, x + 0.5, y + 0.4, z + 0.1, 2);
    const lw_body rocker = blob(s, x + 0.8, y + 0.2, z - 0.1, 1.5);
    pin(s, LW_JOINT_REVOLUTE, base, crank, AT(x, y, z), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, coupler, AT(x + 0.1, y + 0.25, z), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, base, rocker, AT(x + 0.7, y - 0.1, z), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, coupler, rocker, AT(x + 0.9, y + 0.5, z), Z, LW_CUT_PREFER);
    return rocker;
}

/** A crank on the ground, a slider along a tilted rail, a rod between. */
static void crank_slider(site *s, double x, double y)
{
    const lw_body crank = blob(s, x, y + 0.1, 0, 1), rod = blob(s, x + 0.4, y + 0.2, 0.05, 0.7);
    const lw_body slider = blob(s, x + 0.9, y, 0, 2);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, crank, AT(x, y, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, rod, AT(x + 0.05, y + 0.25, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_PRISMATIC, lwt_ground, slider, AT(x + 0.9, y, 0), AT(1, 0.2, 0), LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, slider, rod, AT(x + 0.85, y, 0), Z, LW_CUT_PREFER);
}

/** Posts on universal joints with rungs between their tips, all leaning. */
static void ladder(site *s, int n, double y)
{
    lw_body last = {0};
    for (int i = 0; i <= n; i++) {
        const lw_body post = blob(s, i + 0.1, y + 0.05, 0.5, 1);
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                       .body1 = lwt_ground,
                                       .body2 = post,
                                       .at = turned(s, i, y, 0),
                                       .axis = turned(s, 1, 0, 0),
                                       .axis2 = turned(s, 0, 1, 0)});
        if (i > 0) {
            const lw_body rung = blob(s, i - 0.3, y + 0.2, 0.9, 0.8);
            pin(s, LW_JOINT_REVOLUTE, last, rung, AT(i - 0.75, y + 0.2, 1), Y, LW_CUT_AUTO);
            pin(s, LW_JOINT_REVOLUTE, rung, post, AT(i + 0.25, y + 0.2, 1), Y, LW_CUT_PREFER);
        }
        last = post;
    }
}

/** Two legs of three parallel hinges each: a platform that only lifts.  One of five rows is
 *  redundant, four speeds depend on the fifth. */
static void sarrus(site *s, double x)
{
    const lw_body a1 = blob(s, x - 0.6, 0, 0.3, 1), a2 = blob(s, x - 0.6, 0, 0.8, 1);
    const lw_body b1 = blob(s, x, -0.6, 0.3, 1), b2 = blob(s, x, -0.6, 0.8, 1);
    const lw_body top = blob(s, x, 0, 1.1, 2);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, a1, AT(x - 0.5, 0, 0), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, a1, a2, AT(x - 0.9, 0, 0.5), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, a2, top, AT(x - 0.5, 0, 1), Y, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, b1, AT(x, -0.5, 0), X, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, b1, b2, AT(x, -0.9, 0.5), X, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, b2, top, AT(x, -0.5, 1), X, LW_CUT_PREFER);
}

/** Seven hinges in no special position: five speeds depend on the sixth. */
static void seven_hinges(site *s, double x)
{
    static const double at[7][3] = {{0, 0, 0},       {0.3, 0.5, 0.2},  {0.8, 0.7, -0.1},
                                    {1.3, 0.4, 0.3}, {1.4, -0.2, 0.1}, {1, -0.6, -0.2},
                                    {0.4, -0.5, 0.1}};
    static const double axis[7][3] = {{0, 0, 1},      {1, 0.2, 0.3}, {0.1, 1, 0.2}, {0.3, -0.2, 1},
                                      {1, 0.4, -0.3}, {0.2, 1, 0.5}, {-0.4, 0.3, 1}};
    lw_body last = lwt_ground;
    for (int i = 0; i < 7; i++) {
        const lw_body next =
            i == 6 ? lwt_ground
                   : blob(s, x + (at[i][0] + at[i + 1][0]) / 2, (at[i][1] + at[i + 1][1]) / 2,
                          (at[i][2] + at[i + 1][2]) / 2, 1);
        pin(s, LW_JOINT_REVOLUTE, last, next, AT(x + at[i][0], at[i][1], at[i][2]), axis[i],
            i == 6 ? LW_CUT_PREFER : LW_CUT_AUTO);
        last = next;
    }
}

/** Hinges that hang on something one after the other. */
static void limb(site *s, lw_body base, double x, double y, int n)
{
    for (int i = 0; i < n; i++) {
        const lw_body next = blob(s, x + 0.2 * i + 0.1, y, 0.1, 0.5);
        pin(s, LW_JOINT_REVOLUTE, base, next, AT(x + 0.2 * i, y, 0), i % 2 ? Y : Z, LW_CUT_AUTO);
        base = next;
    }
}

/** Closed by a ball: three speeds depend on the others. */
static void ball_loop(site *s, double x)
{
    const lw_body a = blob(s, x + 0.1, 0.3, 0.1, 1), b = blob(s, x + 0.6, 0.6, 0, 1);
    const lw_body c = blob(s, x + 1, 0.2, 0.1, 1);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, a, AT(x, 0, 0), AT(0.1, 0.2, 1), LW_CUT_AUTO);
    lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                   .body1 = a,
                                   .body2 = b,
                                   .at = turned(s, x + 0.2, 0.5, 0),
                                   .axis = turned(s, 0, 0, 1),
                                   .axis2 = turned(s, 0, 1, 0)});
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, c, AT(x + 1, 0, 0), AT(0.3, 0, 1), LW_CUT_AUTO);
    pin(s, LW_JOINT_SPHERICAL, b, c, AT(x + 1, 0.5, 0.1), Z, LW_CUT_PREFER);
}

typedef enum lwt_kind {
    FOUR_BARS,     ///< a chain of n: each cell on the rod of the one before
    CRANK_SLIDERS, ///< a row, each on the ground
    LADDER,
    SARRUS,
    SEVEN_HINGES,
    BALLS,
    TREE,  ///< four-bars on rockers, limbs before and behind
    MIXED, ///< some of all
    NKIND
} lwt_kind;

static void add_tree(site *s, int n)
{
    lw_body rocker[16] = {four_bar(s, lwt_ground, 0, 0, 0)};
    for (int i = 1; i < n; i++)
        rocker[i] = four_bar(s, rocker[(i - 1) / 2], 0.7 + i, 0.3 - i % 2, 0.2 * i);
    limb(s, rocker[n - 1], 2, 2, 1);
    limb(s, lwt_ground, -1, -1, 3);
}

static lw_model *build(lwt_kind kind, int n, bool straight, uint64_t *seed)
{
    site s = new_site(seed, straight);
    switch (kind) {
    case FOUR_BARS: {
        lw_body last = lwt_ground;
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = lwt_ground,
                                      .body2 = last = blob(&s, 0, 0.5, 0, 1),
                                      .at = turned(&s, 0, 0, 0),
                                      .axis = turned(&s, 0, 0, 1)});
        for (int i = 1; i <= n; i++) { // rods of the same size lean by turns
            const double lean = 0.1 * (i % 3);
            const lw_body span = blob(&s, i - 0.5, 1, 0, 1), rod = blob(&s, i, 0.4, 0.1, 1);
            const double before = 0.1 * ((i - 1) % 3);
            pin(&s, LW_JOINT_REVOLUTE, last, span, AT(i - 1 + before, 1, 0), Z, LW_CUT_AUTO);
            pin(&s, LW_JOINT_REVOLUTE, lwt_ground, rod, AT(i, 0, 0), Z, LW_CUT_AUTO);
            pin(&s, LW_JOINT_REVOLUTE, span, rod, AT(i + lean, 1, 0), Z, LW_CUT_PREFER);
            last = rod;
        }
        break;
    }
    case CRANK_SLIDERS:
        for (int i = 0; i < n; i++) crank_slider(&s, 2 * i, 0.1 * (i % 3));
        break;
    case LADDER:
        ladder(&s, n, 0);
        break;
    case SARRUS:
        for (int i = 0; i < n; i++) sarrus(&s, 3 * i);
        break;
    case SEVEN_HINGES:
        for (int i = 0; i < n; i++) seven_hinges(&s, 3 * i);
        break;
    case BALLS:
        for (int i = 0; i < n; i++) ball_loop(&s, 3 * i);
        break;
    case TREE:
        add_tree(&s, n);
        break;
    default:
        for (int i = 0; i < n; i++) {
            four_bar(&s, lwt_ground, 2 * i, 5, 0);
            crank_slider(&s, 2 * i, 7);
        }
        ladder(&s, n, 10);
        seven_hinges(&s, 0);
        add_tree(&s, 2);
        break;
    }
    return lwt_model(s.b);
}

// --------------------------------------------------------------------------------------
// evaluations

static lwi_work *work_of(const lw_model *model, int lanes)
{
    lwi_work *work;
    lw_error error;
    lwt_ok(lwi_work_create_lanes(model, RCR, NULL, lanes, &work, &error), &error);
    return work;
}

// A run from the model's start.
static lwt_run fall(const lw_model *model, int lanes)
{
    lwi_moment start;
    lwt_run r = {.model = model, .work = work_of(model, lanes)};
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    assert_int_equal(lwi_moment_create(model, &r.arena, &start), LW_OK);
    lwi_moment_start(model, &start);
    lwt_ok(RCR->enter(r.work, &start, r.x), &r.work->error);
    return r;
}

static void step_on(lwt_run *r, int steps)
{
    const double h = 1e-3; // h^5: local errors far below the tolerance
    lwt_integrate(r->work, &r->t, r->x, NULL, h, steps);
}

// By cells with the partition of `from`; false: they leave it to the general text.
static bool by_cells(const lwt_run *from, int lanes, double *xdot, double *least)
{
    lwi_work *work = work_of(from->model, lanes);
    lwi_rcr_work *d = work->data;
    bool done = false;
    memcpy(work->discrete, from->work->discrete, work->ndiscrete);
    if (d->cells) done = lwi_rcr_cells_rates(work, from->t, from->x, NULL, xdot, least);
    lwi_work_destroy(work);
    return done;
}

// By the general text with that partition; its smallest pivot.
static double by_text(const lwt_run *from, double *xdot)
{
    lwi_work *work = work_of(from->model, LWI_NO_KERNEL);
    memcpy(work->discrete, from->work->discrete, work->ndiscrete);
    lwt_ok(RCR->rates(work, from->t, from->x, NULL, xdot), &work->error);
    const double least = lwt_rcr(&(lwt_run){.work = work})->e.least;
    lwi_work_destroy(work);
    return least;
}

static double difference(int n, const double *a, const double *b)
{
    double most = 1, off = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i]));
        off = fmax(off, fabs(a[i] - b[i]));
    }
    return off / most;
}

// Accelerations of tree joints by absolute coordinates at the run's state.
static void by_dense(lwt_run *r, double *vdot)
{
    lwi_moment a, b;
    lwt_observe(r->work, r->t, r->x, NULL, &r->arena, &a);
    lwt_run d = lwt_run_from(r->model, DENSE, &a);
    lwt_observe(d.work, r->t, d.x, NULL, &d.arena, &b);
    for (int k = 0; k < r->model->nnode; k++) {
        const lwi_node *node = &r->model->node[k];
        for (int j = 0; j < node->nv; j++)
            vdot[node->iv + j] = b.qdd[r->model->joint[node->joint].iv + j];
    }
    lwt_run_end(&d);
}

typedef struct findings {
    double generic, dense, ratio;
    int done, asked;
} findings;

static void compare(lwt_run *r, const char *what, findings *worst)
{
    const int n = r->work->layout.nx, nv = r->model->tree_nv;
    double *generic = lwt_vector(n), *cells = lwt_vector(n), *other = lwt_vector(n);
    double least, general = by_text(r, generic);
    worst->asked++;
    if (by_cells(r, widths[0], cells, &least)) {
        worst->done++;
        worst->ratio = fmax(worst->ratio, least / general);
        const double off = difference(n, generic, cells);
        worst->generic = fmax(worst->generic, off);
        if (!(off <= TOLERANCE)) fail_msg("%s, t = %g: cells are %.3g off", what, r->t, off);
        by_dense(r, other);
        const double dense = difference(nv, other, cells + nv);
        worst->dense = fmax(worst->dense, dense);
        // absolute coordinates carry their own errors: those of the square of 6 n equations
        if (!(dense <= 100 * TOLERANCE)) fail_msg("%s: cells are %.3g off dense", what, dense);
        for (int w = 1; w < LWI_COUNT(widths); w++) {
            if (!lwi_kernels_of(widths[w])) continue;
            assert_true(by_cells(r, widths[w], other, &least));
            if (memcmp(cells, other, (size_t)n * sizeof *cells))
                fail_msg("%s: %d lanes give other bits than one", what, widths[w]);
        }
    }
    free(generic);
    free(cells);
    free(other);
}

static void check_kind(lwt_kind kind, int n, const char *what, int falls)
{
    findings worst = {0};
    for (int i = 0; i < falls; i++) {
        uint64_t seed = 1000 * (uint64_t)kind + (uint64_t)i;
        lw_model *model = build(kind, n, i == 0, &seed);
        lwt_run r = fall(model, 1);
        for (int k = 0; k < 4; k++) {
            step_on(&r, 40);
            compare(&r, what, &worst);
        }
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    print_message("%s, %d: by cells %d of %d, off %.1e, off dense %.1e, pivots %.2f\n", what, n,
                  worst.done, worst.asked, worst.generic, worst.dense, worst.ratio);
    // most states are not close to singular positions
    if (2 * worst.done < worst.asked)
        fail_msg("%s: cells did %d of %d", what, worst.done, worst.asked);
}

// The accelerations, the speeds and the rates of cut joints are those of the general elimination
// and of absolute coordinates, in any attitude; all widths have the same bits.
static void cells_agree(void **state)
{
    (void)state;
    check_kind(FOUR_BARS, 1, "one four-bar", 3);
    check_kind(FOUR_BARS, 9, "four-bars", 3);
    check_kind(FOUR_BARS, 20, "four-bars", 2);
    check_kind(CRANK_SLIDERS, 5, "crank-sliders", 3);
    check_kind(LADDER, 1, "ladder", 3);
    check_kind(LADDER, 10, "ladder", 3);
    check_kind(SARRUS, 3, "Sarrus linkages", 3);
    check_kind(SEVEN_HINGES, 3, "seven hinges", 3);
    check_kind(BALLS, 3, "loops closed by balls", 3);
    check_kind(TREE, 4, "tree of cells", 3);
    check_kind(MIXED, 3, "mixed shapes", 3);
}

// ---------------------------------------------------------------------------------------- limits

// Springs, dampers, friction and motors of tree joints act as in the general text; their work is
// carried.
static void efforts_agree(void **state)
{
    uint64_t seed = 7;
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        site s = new_site(&seed, i == 0);
        const lw_signal force = lwt_function(
            s.b,
            &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 3, .omega = 2, .phase = 1});
        const lw_body rocker = four_bar(&s, lwt_ground, 0, 0, 0), tip = blob(&s, 1, 1, 0, 1);
        crank_slider(&s, 2, 0);
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = rocker,
                                      .body2 = tip,
                                      .at = turned(&s, 0.9, 0.7, 0),
                                      .axis = turned(&s, 0, 1, 0.2),
                                      .coordinate[0] = {.stiffness = 4, .damping = 0.3}});
        const lw_body arm = blob(&s, -1, 0.5, 0, 1);
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = arm, // passed backwards
                                      .body2 = lwt_ground,
                                      .at = turned(&s, -1, 0, 0),
                                      .axis = turned(&s, 0, 0, 1),
                                      .coordinate[0] = {.damping = 0.5, .force = force}});
        lw_model *model = lwt_model(s.b);
        lwt_run r = fall(model, 1);
        assert_true(model->carries_work);
        for (int k = 0; k < 4; k++) {
            step_on(&r, 40);
            compare(&r, "efforts", &worst);
        }
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    assert_int_equal(worst.done, worst.asked);
    print_message("efforts: off %.1e, off dense %.1e\n", worst.generic, worst.dense);
}

// A parallelogram's columns enclose the angle between rod and coupler: 0.02 rad from the flat
// position their squared sine is LWI_CELL_PIVOT.  Closer than that the evaluation is the general
// text's, to the last bit; farther it is the cells', and close to it.
static void flat_cells_are_handed_over(void **state)
{
    static const double off[] = {0.3, 0.05, 0.03, 0.01, 0.001};
    (void)state;
    for (int i = 0; i < LWI_COUNT(off); i++) {
        lw_error error;
        lw_builder *b = lwt_builder();
        lwt_ok(lw_builder_add_mechanism(b,
                                        &(lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR,
                                                             .n = 3,
                                                             .q = {1.5707963267948966 - off[i]},
                                                             .qd = {1}},
                                        &error),
               &error);
        lw_model *model = lwt_model(b);
        lwt_run r = fall(model, 1);
        const int n = r.work->layout.nx;
        double *general = lwt_vector(n), *now = lwt_vector(n), *cells = lwt_vector(n), least;
        by_text(&r, general);
        lwt_ok(RCR->rates(r.work, 0, r.x, NULL, now), &r.work->error);
        assert_int_equal(by_cells(&r, 1, cells, &least), off[i] > 0.02);
        if (off[i] > 0.02)
            assert_memory_equal(now, cells, (size_t)n * sizeof *now);
        else
            assert_memory_equal(now, general, (size_t)n * sizeof *now);
        // both texts lose the digits that the position costs, once and twice
        lwt_near("flat", i, difference(n, general, now), 0, 64 * DBL_EPSILON / (off[i] * off[i]));
        free(general);
        free(now);
        free(cells);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

static double energy_of(lwt_run *r)
{
    double sum = 0;
    lwt_run_observe(r);
    for (int b = 1; b < r->model->nbody; b++) {
        const lwi_body *body = &r->model->body[b];
        double L[3];
        s3_mul_v(L, body->inertia, r->now.w[b]);
        sum += 0.5 * (body->mass * v3_dot(r->now.v[b], r->now.v[b]) + v3_dot(r->now.w[b], L)) -
               body->mass * v3_dot(r->model->gravity, r->now.r[b]);
    }
    return sum;
}

// A run by cells keeps the energy as one by the general text does, and stays with it.
static void runs_conserve_energy(void **state)
{
    static const lwt_kind kinds[] = {LADDER, FOUR_BARS};
    (void)state;
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        uint64_t seed = 11;
        lw_model *model = build(kinds[k], 3, false, &seed);
        lwt_run a = fall(model, 0), b = fall(model, LWI_NO_KERNEL);
        const double start = energy_of(&a);
        memcpy(b.work->discrete, a.work->discrete, a.work->ndiscrete);
        step_on(&a, 400);
        step_on(&b, 400);
        // h^4 of Runge and Kutta with h = 1e-3 and motions of some 10/s: 1e-8 of energies of 100 J
        const double lost = energy_of(&a) - start, other = energy_of(&b) - start;
        lwt_near("energy", k, lost, 0, 1e-6);
        lwt_near("energy by the general text", k, lost, other, 1e-9);
        lwt_near("state", k, difference(a.work->layout.nx, a.x, b.x), 0, 1e-9);
        lwt_run_end(&a);
        lwt_run_end(&b);
        lw_model_destroy(model);
    }
}

// What cells have no text for is left alone: drives, other closures, forces at points.
static void others_have_no_cells(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint64_t seed = 3;
        site s = new_site(&seed, true);
        const lw_body rocker = four_bar(&s, lwt_ground, 0, 0, 0);
        if (i == 1)
            lw_builder_add_spring(
                s.b, &(lw_spring_desc){.body2 = rocker, .stiffness = 3, .length = 1}, NULL);
        if (i == 2) {
            const lw_body link = blob(&s, 0.5, 0.5, 0.5, 1);
            pin(&s, LW_JOINT_SPHERICAL, lwt_ground, link, AT(0, 0.5, 0.5), Z, LW_CUT_AUTO);
            pin(&s, LW_JOINT_SPHERICAL, rocker, link, AT(0.9, 0.6, 0.5), Z, LW_CUT_PREFER);
        }
        lw_model *model = lwt_model(s.b);
        lwi_work *work = work_of(model, 1);
        assert_int_equal(lwt_rcr(&(lwt_run){.work = work})->cells != NULL, i == 0);
        lwi_work_destroy(work);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_agree),
        cmocka_unit_test(efforts_agree),
        cmocka_unit_test(flat_cells_are_handed_over),
        cmocka_unit_test(runs_conserve_energy),
        cmocka_unit_test(others_have_no_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_clusters_shapes.c -- kernels for the constant shapes of loop clusters: the same bits as those for any shape; the smallest
// pivots of clusters against an inverse.
#include "methods/rcr/cluster_cases.h"
#include "cli/scene_model.h"
#include "methods/rcr/clusters/kernels.h"
#include "methods/rcr/clusters/shapes.h"

// The clusters of a run, with its partition.
static lwi_clusters *clusters_of(const lwt_run *r, lwi_arena *arena)
{
    const lw_model *model = r->model;
    const lwi_rcr_work *d = r->work->data;
    const lwi_rcr_choice *choice = r->work->discrete;
    int *rate_at = LWI_PUSH(arena, int, model->nloop);
    const bool *needed = LWI_PUSH(arena, bool, model->nnode);
    lwi_clusters *clusters = NULL;
    assert_true(rate_at && needed && choice->made);
    assert_int_equal(lwi_clusters_create(model, d->e.length, d->e.scale, rate_at, needed,
                                         lwi_rcr_rank(&d->e), arena, &clusters),
                     LW_OK);
    assert_non_null(clusters);
    assert_true(lwi_clusters_plan(clusters, choice->dependent));
    return clusters;
}

enum { NPART = 8 };

typedef struct output {
    lwi_lanes *at;
    int n;
} output;

// What the two phases leave: K, k, M, f, rates; on a floating base B, C, h.
static void parts_of(const lwi_cluster_block *b, output part[NPART])
{
    const lwi_cluster_shape *s = b->shape;
    part[0].at = b->K, part[0].n = s->ny * s->nx;
    part[1].at = b->k, part[1].n = s->ny;
    part[2].at = b->M, part[2].n = s->nx * (s->nx + 1) / 2;
    part[3].at = b->f, part[3].n = s->nx;
    part[4].at = b->rate, part[4].n = s->nrate;
    part[5].at = b->B, part[5].n = s->floats ? 6 * s->nx : 0;
    part[6].at = b->C, part[6].n = s->floats ? LWI_CLUSTER_SPATIAL : 0;
    part[7].at = b->h, part[7].n = s->floats ? 6 : 0;
}

static void discard(const lwi_cluster_block *b)
{
    output part[NPART];
    parts_of(b, part);
    for (int p = 0; p < NPART; p++)
        if (part[p].n) memset(part[p].at, -1, (size_t)part[p].n * sizeof(lwi_lanes));
    memset(b->pose, -1, (size_t)b->shape->nstep * sizeof *b->pose);
}

static int results(const lwi_cluster_block *b, double ratio, double *to)
{
    output part[NPART];
    int n = 0;
    to[n++] = ratio;
    parts_of(b, part);
    for (int p = 0; p < NPART; p++)
        for (int i = 0; i < part[p].n; i++)
            for (int l = 0; l < b->count; l++) to[n++] = part[p].at[i][l];
    return n;
}

static int evaluate(const lwi_clusters *c, const lwi_cluster_block *b, const lwt_run *r, int width,
                    bool any, double *to)
{
    const lwi_cluster_kernels *kernels = lwi_cluster_kernels_of(width);
    const lwi_cluster_phases *phases = any ? &kernels->any : lwi_cluster_phases_of(kernels, b);
    const double *v = r->x + r->model->tree_nq;
    double ratio = 0, lowest = 1;
    discard(b);
    for (int l = 0; l < b->count; l += kernels->width) {
        assert_true(phases->place(b, r->x, c->per_length2, &ratio, l));
        phases->force(b, v, v, c->per_length2, l);
        if (b->shape->nclosing) lowest = fmin(lowest, phases->pivot(b, l));
    }
    const int n = results(b, ratio, to);
    to[n] = lowest;
    return n + 1;
}

static void compare_shapes(lwt_run *r, int *seen)
{
    enum { ROOM = 4096 };
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lwi_clusters *c = clusters_of(r, &arena);
    double *expected = lwt_vector(ROOM), *found = lwt_vector(ROOM);
    lwi_clusters_place_bases(c, r->t, r->x);
    lwi_clusters_move_bases(c, r->t, r->x + r->model->tree_nq);
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        if (b->variant < 0) continue;
        seen[b->variant]++;
        for (int w = 0; w < LWI_COUNT(widths); w++) {
            if (!lwi_cluster_kernels_of(widths[w])) continue;
            const int n = evaluate(c, b, r, widths[w], true, expected);
            assert_in_range(n, 1, ROOM);
            assert_int_equal(evaluate(c, b, r, widths[w], false, found), n);
            if (memcmp(expected, found, (size_t)n * sizeof *found))
                fail_msg("shape %d in %d lanes has other bits", b->variant, widths[w]);
        }
    }
    free(expected);
    free(found);
    lwi_arena_free(&arena);
}

// Slider-cranks on the ground with a rod that is body 1 of the joint on the slide.
static lw_model *slider_cranks(int n, uint64_t *seed)
{
    site s = new_site(seed, false);
    place_on(&s, GROUND, seed);
    for (int i = 0; i < n; i++) {
        const double x = 2 * i;
        const lw_body crank = blob(&s, x, 0.1, 0, 1), rod = blob(&s, x + 0.4, 0.2, 0.05, 0.7);
        const lw_body slide = blob(&s, x + 0.9, 0, 0, 2);
        pin(&s, LW_JOINT_REVOLUTE, s.base, crank, AT(x, 0, 0), Z, LW_CUT_AUTO);
        pin(&s, LW_JOINT_REVOLUTE, crank, rod, AT(x + 0.05, 0.25, 0), Z, LW_CUT_AUTO);
        pin(&s, LW_JOINT_PRISMATIC, s.base, slide, AT(x + 0.9, 0, 0), AT(1, 0.2, 0), LW_CUT_AUTO);
        pin(&s, LW_JOINT_REVOLUTE, rod, slide, AT(x + 0.85, 0, 0), Z, LW_CUT_PREFER);
    }
    return lwt_model(s.b);
}

// A robot with the shapes of robots.
static lw_model *delta(void)
{
    lw_model *model;
    lw_error error;
    lwt_ok(scene_model(SCENE_DELTA, 0, &model, &error), &error);
    return model;
}

static lw_model *mechanism(int kind, int n)
{
    uint64_t seed = 90 + (uint64_t)n;
    switch (kind) {
    case 0:
        return build(FOUR_BARS, n, false, &seed);
    case 1:
        return build(LADDER, n, false, &seed);
    case 2:
        return build_on(FLOATING, FOUR_BARS, n, false, &seed);
    case 3:
        return slider_cranks(n, &seed);
    default:
        return delta();
    }
}

static void shapes_keep_bits(void **state)
{
    int seen[LWI_COUNT(lwi_cluster_shapes)] = {0};
    (void)state;
    for (int kind = 0; kind < 5; kind++)
        for (int n = 1; n <= 9; n += 4) {
            lw_model *model = mechanism(kind, n);
            lwt_run r = drop(model, 0);
            step_on(&r, 3, NULL);
            compare_shapes(&r, seen);
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
    for (int i = 0; i < LWI_COUNT(seen); i++)
        if (!seen[i]) fail_msg("no mechanism has shape %d", i);
}

// Diagonal of the inverse of N [n][n], which is lost; by Gauss and Jordan.
static void invert_diagonal(int n, double (*N)[LWI_CLUSTER_DEPENDENT], double *diagonal)
{
    double inverse[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT] = {{0}};
    for (int i = 0; i < n; i++) inverse[i][i] = 1;
    for (int c = 0; c < n; c++) {
        const double scale = 1 / N[c][c];
        for (int j = 0; j < n; j++) N[c][j] *= scale, inverse[c][j] *= scale;
        for (int i = 0; i < n; i++) {
            const double f = i == c ? 0 : N[i][c];
            for (int j = 0; j < n; j++) N[i][j] -= f * N[c][j], inverse[i][j] -= f * inverse[c][j];
        }
    }
    for (int i = 0; i < n; i++) diagonal[i] = inverse[i][i];
}

// The smallest pivot of W_y'W_y in any order, of lane l.
static double smallest_pivot_of(const lwi_cluster_block *b, int l)
{
    const int ny = b->shape->ny;
    const lwi_lanes *L = b->factor, *Di = b->factor + ny * (ny - 1) / 2;
    double N[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT] = {{0}}, whole[LWI_CLUSTER_DEPENDENT],
           inverse[LWI_CLUSTER_DEPENDENT], smallest = 1;
    for (int i = 0; i < ny; i++)
        for (int j = 0; j < ny; j++)
            for (int k = 0; k <= i && k <= j; k++) {
                const double a = k == i ? 1 : L[i * (i - 1) / 2 + k][l];
                const double c = k == j ? 1 : L[j * (j - 1) / 2 + k][l];
                N[i][j] += a * c / Di[k][l];
            }
    for (int i = 0; i < ny; i++) whole[i] = fmax(N[i][i], b->size[b->shape->nx + i][l]);
    invert_diagonal(ny, N, inverse);
    for (int i = 0; i < ny; i++) smallest = fmin(smallest, 1 / (inverse[i] * whole[i]));
    return smallest;
}

static double smallest_pivot(const lwt_run *r)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lwi_clusters *c = clusters_of(r, &arena);
    double smallest = 1, ratio = 0;
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        for (int l = 0; l < b->count; l++) {
            assert_true(lwi_cluster_kernels_of(1)->any.place(b, r->x, c->per_length2, &ratio, l));
            smallest = fmin(smallest, smallest_pivot_of(b, l));
        }
    }
    lwi_arena_free(&arena);
    return smallest;
}

// Margins are those of the factors, and the same bits without rates, in any width.
static void margins_need_no_rates(void **state)
{
    static const lwt_kind kinds[] = {FOUR_BARS, LADDER, SARRUS, MIXED, DELTA, STEWART_FEET};
    (void)state;
    for (int kind = 0; kind < LWI_COUNT(kinds); kind++) {
        uint64_t seed = 7 + (uint64_t)kind;
        lw_model *model = build(kinds[kind], 5, false, &seed);
        double first = -1;
        for (int w = 0; w < LWI_COUNT(widths); w++) {
            if (!lwi_cluster_kernels_of(widths[w])) continue;
            lwt_run r = drop(model, widths[w]);
            double *xdot = lwt_vector(r.work->layout.nx);
            lwt_ok(lwi_work_rates(r.work, r.t, r.x, NULL, xdot), &r.work->error);
            const double margin = lwi_work_margin(r.work, r.t, r.x), pivot = smallest_pivot(&r);
            if (!(fabs(margin * margin - pivot) < 1e-10 * pivot) || !(margin > 0 && margin < 1))
                fail_msg("kind %d: margin %g, pivot %g", (int)kinds[kind], margin, pivot);
            assert_true(lwi_work_margin_at(r.work, r.t, r.x) == margin);
            if (first < 0) first = margin;
            assert_true(margin == first);
            free(xdot);
            lwt_run_end(&r);
        }
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_keep_bits),
                                       cmocka_unit_test(margins_need_no_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_clusters_shapes.c -- kernels for the constant shapes of loop clusters: the same bits as those for any shape.
#include "methods/rcr/cluster_cases.h"
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

enum { NPART = 5 };

typedef struct output {
    lwi_lanes *at;
    int n;
} output;

// What the two phases leave: K, k, M, f, rates.
static void parts_of(const lwi_cluster_block *b, output part[NPART])
{
    const lwi_cluster_shape *s = b->shape;
    part[0].at = b->K, part[0].n = s->ny * s->nx;
    part[1].at = b->k, part[1].n = s->ny;
    part[2].at = b->M, part[2].n = s->nx * (s->nx + 1) / 2;
    part[3].at = b->f, part[3].n = s->nx;
    part[4].at = b->rate, part[4].n = s->nrate;
}

static void discard(const lwi_cluster_block *b)
{
    output part[NPART];
    parts_of(b, part);
    for (int p = 0; p < NPART; p++) memset(part[p].at, -1, (size_t)part[p].n * sizeof(lwi_lanes));
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
    const lwi_cluster_phases *phases = any ? &kernels->any : &kernels->shape[b->variant];
    const double *v = r->x + r->model->tree_nq;
    double ratio = 0;
    discard(b);
    for (int l = 0; l < b->count; l += kernels->width) {
        assert_true(phases->place(b, r->x, c->per_length2, &ratio, l));
        phases->force(b, v, v, c->per_length2, l);
    }
    return results(b, ratio, to);
}

static void compare_shapes(lwt_run *r, int *seen)
{
    enum { ROOM = 4096 };
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lwi_clusters *c = clusters_of(r, &arena);
    double *expected = lwt_vector(ROOM), *found = lwt_vector(ROOM);
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

static void shapes_keep_bits(void **state)
{
    static const lwt_kind kinds[] = {FOUR_BARS, LADDER};
    int seen[LWI_COUNT(lwi_cluster_shapes)] = {0};
    (void)state;
    for (int kind = 0; kind < LWI_COUNT(kinds); kind++)
        for (int n = 1; n <= 9; n += 4) {
            uint64_t seed = 90 + (uint64_t)n;
            lw_model *model = build(kinds[kind], n, false, &seed);
            lwt_run r = drop(model, 0);
            step_on(&r, 3, NULL);
            compare_shapes(&r, seen);
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
    for (int i = 0; i < LWI_COUNT(seen); i++)
        if (!seen[i]) fail_msg("no mechanism has shape %d", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_keep_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

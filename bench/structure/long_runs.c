// long_runs.c -- what a run over very many steps keeps: energy in blocks, constraints, momenta, wall time.
//
// usage: bench_structure MODEL --step H --rows N --every K [--blocks B] [--reverse 1] [--set KEY=VALUE]...
//
// MODEL is run over N rows, each K times H after the one before, with the options KEY of a run (formulation, integrator, step,
// order, rtol, ...).  Every row is observed up to energies, nothing is written.  K without a common factor with the steps of
// a period lets the rows meet all phases.  One object of JSON: steps; wall and CPU seconds; of E - Wnc less its first value
// the least, the largest, the mean and the largest magnitude in each of B blocks of rows (10); the largest residuals of
// position and velocity in each block; the largest change in all rows of each component of the momentum and of the angular
// momentum about the origin and about the mass centre; the positions of the bodies at the end.  With --reverse all velocities
// are reversed there, and the same steps lead back: also the largest distance of a body from where it began.
#include "cli/stopwatch.h"
#include "model/model.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 1000 };

typedef struct block {
    long rows;
    double sum, left, least, largest, position, velocity; // left: what the sum rounded off
} block;

typedef struct job {
    const char *path;
    double step;
    long rows, every, blocks, reverse;
    lw_options options;
    double mass, first, momentum[9], change[9];
    block block[MAX_BLOCKS];
} job;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "bench_structure: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    exit(1);
}

// Of the whole mechanism: momentum, angular momentum about the origin and about the mass centre.
static void momenta(const lw_model *model, const lw_observation *o, double p[9])
{
    double centre[3] = {0, 0, 0}, mass = 0;
    for (int b = 1; b < model->nbody; b++) {
        v3_axpy(centre, model->body[b].mass, o->position[b]);
        mass += model->body[b].mass;
    }
    v3_scale(centre, mass > 0 ? 1 / mass : 0, centre);
    v3_copy(p, o->momentum);
    v3_copy(p + 3, o->angular_momentum);
    v3_set(p + 6, 0, 0, 0);
    for (int b = 1; b < model->nbody; b++) { // r - centre is small where the origin is far
        double R[9], L[3], spin[3], arm[3];
        quat_matrix(R, o->quaternion[b]);
        s3_mul_v(L, model->body[b].inertia, o->angular_velocity[b]);
        m3_mul_v(spin, R, L);
        v3_add(p + 6, p + 6, spin);
        v3_sub(arm, o->position[b], centre);
        v3_scale(L, model->body[b].mass, o->velocity[b]);
        v3_cross_add(p + 6, arm, L);
    }
}

static void add_row(job *t, const lw_model *model, const lw_observation *o, long row)
{
    const double energy = o->kinetic + o->potential - o->work;
    block *b = &t->block[row > 0 ? (row - 1) * t->blocks / t->rows : 0];
    double p[9];
    momenta(model, o, p);
    if (row == 0) {
        t->first = energy;
        memcpy(t->momentum, p, sizeof p);
        return;
    }
    const double error = energy - t->first, term = error + b->left, sum = b->sum + term;
    b->left = term - (sum - b->sum);
    b->sum = sum;
    if (!(error >= b->least)) b->least = error;
    if (!(error <= b->largest)) b->largest = error;
    if (!(o->residual[0] <= b->position)) b->position = o->residual[0];
    if (!(o->residual[1] <= b->velocity)) b->velocity = o->residual[1];
    b->rows++;
    for (int i = 0; i < 9; i++) t->change[i] = fmax(t->change[i], fabs(p[i] - t->momentum[i]));
}

static void observe(job *t, lw_sim *sim, long row)
{
    const lw_observation *o;
    if (lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o) != LW_OK) stop(t->path, lw_sim_error(sim)->text);
    add_row(t, lw_sim_model(sim), o, row);
}

static void step_to(job *t, lw_sim *sim, long row)
{
    if (lw_sim_step(sim, (double)row * (double)t->every * t->step) != LW_OK)
        stop(t->path, lw_sim_error(sim)->text);
}

static double largest_distance(const double (*a)[3], const double (*b)[3], int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(a[i][k] - b[i][k]));
    return largest;
}

static void negate(const double *from, int n, double *to)
{
    for (int i = 0; i < n; i++) to[i] = -from[i];
}

// Back by the same steps; the distance from the start.
static double run_back(job *t, lw_sim *sim, const double (*start)[3])
{
    const lw_model *model = lw_sim_model(sim);
    const int n = model->nbody;
    const lw_observation *o;
    if (lw_sim_observe(sim, LW_OBSERVE_TWIST, &o) != LW_OK) stop(t->path, lw_sim_error(sim)->text);
    lw_observation back = *o;
    double(*v)[3] = calloc((size_t)n, sizeof *v), (*w)[3] = calloc((size_t)n, sizeof *w);
    double *qd = calloc((size_t)model->nv + 1, sizeof *qd);
    if (!v || !w || !qd) stop("no memory", NULL);
    negate(o->velocity[0], 3 * n, v[0]), negate(o->angular_velocity[0], 3 * n, w[0]);
    negate(o->qd, model->nv, qd);
    back.velocity = (const double(*)[3])v, back.angular_velocity = (const double(*)[3])w,
    back.qd = qd;
    if (lw_sim_set_motion(sim, &back) != LW_OK) stop(t->path, lw_sim_error(sim)->text);
    for (long row = t->rows + 1; row <= 2 * t->rows; row++) step_to(t, sim, row);
    if (lw_sim_observe(sim, LW_OBSERVE_POSE, &o) != LW_OK) stop(t->path, lw_sim_error(sim)->text);
    free(v), free(w), free(qd);
    return largest_distance(o->position, start, n);
}

// The start, or the end, of the bodies.
static double (*positions(job *t, lw_sim *sim))[3]
{
    const lw_observation *o;
    const size_t n = (size_t)lw_sim_model(sim)->nbody;
    double(*r)[3] = malloc(n * sizeof *r);
    if (!r) stop("no memory", NULL);
    if (lw_sim_observe(sim, LW_OBSERVE_POSE, &o) != LW_OK) stop(t->path, lw_sim_error(sim)->text);
    memcpy(r, o->position, n * sizeof *r);
    return r;
}

static void run(job *t, const lw_model *model)
{
    lw_error error;
    lw_sim *sim;
    if (lw_sim_create(model, &(lw_sim_desc){.options = &t->options}, &sim, &error) != LW_OK)
        stop(t->path, error.text);
    for (long k = 0; k < t->blocks; k++)
        t->block[k] = (block){.least = INFINITY, .largest = -INFINITY};
    double(*start)[3] = positions(t, sim);
    const double wall = stopwatch_wall(), cpu = stopwatch();
    observe(t, sim, 0);
    for (long row = 1; row <= t->rows; row++) {
        step_to(t, sim, row);
        observe(t, sim, row);
    }
    lw_summary s;
    lw_sim_summary(sim, &s);
    printf("{\"steps\": %ld, \"evaluations\": %ld, \"rejected\": %ld, \"seconds\": %.9g, \"wall\": "
           "%.4g, "
           "\"cpu\": %.4g, \"scale\": %.6g",
           s.steps, s.evaluations, s.rejected, s.end, stopwatch_wall() - wall, stopwatch() - cpu,
           s.energy_scale);
    double(*ends)[3] = positions(t, sim);
    printf(", \"end\": [");
    for (int b = 1; b < model->nbody; b++)
        printf("%s[%.17g, %.17g, %.17g]", b > 1 ? ", " : "", ends[b][0], ends[b][1], ends[b][2]);
    printf("]");
    if (t->reverse) printf(", \"reversal\": %.3g", run_back(t, sim, (const double(*)[3])start));
    free(start), free(ends);
    lw_sim_destroy(sim);
}

static void print_blocks(const job *t)
{
    static const char *const name[] = {"mean", "least", "largest", "position", "velocity"};
    for (int n = 0; n < 5; n++) {
        printf(", \"%s\": [", name[n]);
        for (long k = 0; k < t->blocks; k++) {
            const block *b = &t->block[k];
            const double value[] = {b->sum / (double)b->rows, b->least, b->largest, b->position,
                                    b->velocity};
            printf("%s%.10g", k ? ", " : "", value[n]);
        }
        printf("]");
    }
    printf(", \"momenta\": [");
    for (int i = 0; i < 9; i++) printf("%s%.3g", i ? ", " : "", t->change[i]);
    printf("]}\n");
}

static void set_option(job *t, char *text)
{
    lw_error error;
    char *value = strchr(text, '=');
    if (!value) stop("--set needs KEY=VALUE", text);
    *value++ = 0;
    if (lw_options_set(&t->options, text, value, &error) != LW_OK) stop(text, error.text);
}

static job read_arguments(int argc, char **argv)
{
    job t = {.blocks = 10, .every = 1};
    lw_options_default(&t.options);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            t.path = argv[i];
            continue;
        }
        if (i + 1 == argc) stop(argv[i], "a value is missing");
        char *value = argv[++i];
        if (!strcmp(argv[i - 1], "--step"))
            t.step = atof(value);
        else if (!strcmp(argv[i - 1], "--rows"))
            t.rows = atol(value);
        else if (!strcmp(argv[i - 1], "--every"))
            t.every = atol(value);
        else if (!strcmp(argv[i - 1], "--blocks"))
            t.blocks = atol(value);
        else if (!strcmp(argv[i - 1], "--reverse"))
            t.reverse = atol(value);
        else if (!strcmp(argv[i - 1], "--set"))
            set_option(&t, value);
        else
            stop("unknown option", argv[i - 1]);
    }
    if (!t.path || !(t.step > 0) || t.rows < 1 || t.every < 1)
        stop("MODEL, --step and --rows are needed", NULL);
    if (t.blocks < 1 || t.blocks > MAX_BLOCKS || t.blocks > t.rows)
        stop("--blocks is out of range", NULL);
    return t;
}

int main(int argc, char **argv)
{
    static job t;
    lw_model *model;
    lw_error error;
    t = read_arguments(argc, argv);
    if (lw_model_read(t.path, NULL, &model, NULL, &error) != LW_OK) stop(t.path, error.text);
    run(&t, model);
    print_blocks(&t);
    lw_model_destroy(model);
    return 0;
}

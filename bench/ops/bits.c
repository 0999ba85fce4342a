// bits.c -- hashes of final states, to prove that all evaluations give the same bits.
//
// Problem: a motion is a model, a formulation, an integrator and initial states.  It is computed by a
// simulation, with kernels of every width that the processor supports, and by batches of every number
// of lanes on one, two and three threads.  All final states must have the same bits.
// Output: a line per motion with its name, hash and number of evaluations.  tools/bits_table.py
// compares the lines of several builds.
//
// Exit status: 0; 1 if two evaluations differ.
#include "cli/scene_model.h"
#include "kinematics/formulation.h"
#include "integrate/integrator.h"
#include "simulate/simulation.h"
#include "tree/simd/kernels.h"

#include <linkwork/batch.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 9 }; // a full block of lanes and a remainder of one

static const double duration = 0.25; // [s]

static void stop(const char *what)
{
    fprintf(stderr, "bits: %s\n", what);
    exit(1);
}

static void check(lw_status status, const lw_error *error)
{
    if (status != LW_OK) stop(error && error->text[0] ? error->text : lw_status_text(status));
}

typedef struct motion {
    const char *name;
    scene_kind kind;
    int n;
    const char *formulation, *integrator;
} motion;

static const motion motions[] = {
    {"arm of 7, aba, rk4", SCENE_CHAIN, 7, "aba", "rk4"},
    {"arm of 7, aba, dopri54", SCENE_CHAIN, 7, "aba", "dopri54"},
    {"arm of 7, momenta, rk4", SCENE_CHAIN, 7, "momenta", "rk4"},
    {"arm of 7, momenta, dopri54", SCENE_CHAIN, 7, "momenta", "dopri54"},
    {"humanoid, aba, rk4", SCENE_HUMANOID, 0, "aba", "rk4"},
    {"humanoid, momenta, dopri54", SCENE_HUMANOID, 0, "momenta", "dopri54"},
    {"centipede of 8, aba, rk4", SCENE_CENTIPEDE, 8, "aba", "rk4"},
    {"quadruped, momenta, rk4", SCENE_QUADRUPED, 0, "momenta", "rk4"},
    {"chain of 100 in segments, aba, rk4", SCENE_CHAIN, 100, "aba", "rk4"},
    {"chain of 400 in segments, aba, rk4", SCENE_CHAIN, 400, "aba", "rk4"},
    {"tail of 400 in segments, aba, rk4", SCENE_TAIL, 400, "aba", "rk4"},
    {"chain of 16 balls, aba, dopri54", SCENE_SPHERICAL, 16, "aba", "dopri54"},
};

typedef struct job {
    const motion *of;
    lw_model *model;
    lw_options options;
    int nx;        ///< numbers of the motion
    int size;      ///< of a state, which may hold the integrator's step too
    double *start; ///< [INSTANCES + 1][size]; the last is the model's, which scales the tolerances
    uint64_t hash;
    int ways;
} job;

// FNV-1a, 64 bits (Fowler, Noll, Vo).
static uint64_t hash_of(uint64_t hash, const double *x, int n)
{
    const unsigned char *byte = (const unsigned char *)x;
    for (size_t i = 0; i < (size_t)n * sizeof *x; i++) hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}
static const uint64_t empty = 14695981039346656037u;

static bool same(job *j, uint64_t hash, const char *how, int number)
{
    if (!j->ways++) j->hash = hash;
    if (hash == j->hash) return true;
    printf("%s: %s %d differs: %016llx\n", j->of->name, how, number, (unsigned long long)hash);
    return false;
}

// -------------------------------------------------------------------------------- simulation

static lw_sim *simulation(const job *j)
{
    lw_sim *sim;
    lw_error error = {.text = ""};
    check(lw_sim_create(j->model, &(lw_sim_desc){.options = &j->options}, &sim, &error), &error);
    return sim;
}

// Initial states: the model's, perturbed at random for each instance.
static void set_starts(job *j)
{
    lw_sim *sim = simulation(j);
    uint64_t draws = 17;
    double time;
    j->nx = sim->work->layout.nx;
    j->size = lw_sim_state_size(sim);
    j->start = calloc((size_t)((INSTANCES + 1) * j->size), sizeof *j->start);
    if (!j->start) stop("no memory");
    for (int i = 0; i < INSTANCES; i++) {
        double *x = j->start + i * j->size;
        lw_sim_get_state(sim, &time, x);
        for (int k = 0; k < j->nx; k++) x[k] += 0.1 * scene_draw(&draws);
    }
    lw_sim_get_state(sim, &time, j->start + INSTANCES * j->size);
    lw_sim_destroy(sim);
}

static uint64_t by_simulation(const job *j)
{
    uint64_t hash = empty;
    double *x = calloc((size_t)j->size, sizeof *x), time;
    lw_sim *sim = simulation(j);
    for (int i = 0; i < INSTANCES; i++) {
        check(lw_sim_set_state(sim, 0, j->start + i * j->size), lw_sim_error(sim));
        check(lw_sim_step(sim, duration), lw_sim_error(sim));
        lw_sim_get_state(sim, &time, x);
        hash = hash_of(hash, x, j->nx);
    }
    lw_sim_destroy(sim);
    free(x);
    return hash;
}

static lw_status rates(void *user, double t, const double *x, double *xdot)
{
    lwi_work *work = user;
    return work->formulation->rates(work, t, x, NULL, xdot);
}

// As simulate/simulation.c, with kernels of a given width.
static uint64_t by_width(const job *j, int width)
{
    const lwi_formulation *formulation = lwi_formulation_find(j->of->formulation);
    const lwi_integrator_type *type = lwi_integrator_find(j->of->integrator);
    lwi_work *work;
    lw_error error = {.text = ""};
    uint64_t hash = empty;
    double *x = calloc(2 * (size_t)j->nx, sizeof *x), *atol = x + j->nx;
    check(lwi_work_create_lanes(j->model, formulation, NULL, width, &work, &error), &error);
    for (int k = 0; k < j->nx; k++) atol[k] = 1;
    if (formulation->scale)
        check(formulation->scale(work, 0, j->start + INSTANCES * j->size, atol), &work->error);
    for (int k = 0; k < j->nx; k++) atol[k] *= j->options.atol;
    for (int i = 0; i < INSTANCES; i++) {
        lwi_integrator *integrator;
        double t = 0;
        memcpy(x, j->start + i * j->size, (size_t)j->nx * sizeof *x);
        const lwi_problem problem = {.n = j->nx,
                                     .rates = rates,
                                     .user = work,
                                     .rtol = j->options.rtol,
                                     .atol = atol,
                                     .max_step = j->options.step};
        check(type->create(type, &problem, 0, x, NULL, &integrator, &error), &error);
        check(type->advance(integrator, &t, x, duration, duration, false, &error), &error);
        type->destroy(integrator);
        hash = hash_of(hash, x, j->nx);
    }
    lwi_work_destroy(work);
    free(x);
    return hash;
}

// ------------------------------------------------------------------------------------ batch

static uint64_t by_batch(const job *j, int lanes, int threads)
{
    lw_batch *batch;
    lw_error error = {.text = ""};
    uint64_t hash = empty;
    double *x = calloc((size_t)j->size, sizeof *x), time;
    const lw_batch_desc desc = {
        .options = &j->options, .instances = INSTANCES, .lanes = lanes, .threads = threads};
    check(lw_batch_create(j->model, &desc, &batch, &error), &error);
    for (int i = 0; i < INSTANCES; i++)
        check(lw_batch_set_state(batch, i, 0, j->start + i * j->size), lw_batch_error(batch));
    check(lw_batch_step(batch, duration), lw_batch_error(batch));
    for (int i = 0; i < INSTANCES; i++) {
        check(lw_batch_get_state(batch, i, &time, x), lw_batch_error(batch));
        hash = hash_of(hash, x, j->nx);
    }
    lw_batch_destroy(batch);
    free(x);
    return hash;
}

static bool segment(const motion *of)
{
    static const int widths[] = {1, 4, 8}, threads[] = {1, 2, 3};
    job j = {.of = of};
    lw_error error = {.text = ""};
    bool good = true;
    check(scene_model(of->kind, of->n, &j.model, &error), &error);
    lw_options_default(&j.options);
    check(lw_options_set(&j.options, "formulation", of->formulation, &error), &error);
    check(lw_options_set(&j.options, "integrator", of->integrator, &error), &error);
    if (!strcmp(of->integrator, "rk4"))
        check(lw_options_set(&j.options, "step", "0.0025", &error), &error);
    set_starts(&j);
    good &= same(&j, by_simulation(&j), "simulation", 0);
    for (int w = 0; w < 3; w++)
        if (lwi_kernels_of(widths[w]))
            good &= same(&j, by_width(&j, widths[w]), "width", widths[w]);
    for (int w = 0; w < 3; w++)
        for (int t = 0; t < 3; t++)
            good &= same(&j, by_batch(&j, widths[w], threads[t]), "batch, lanes and threads",
                         10 * widths[w] + threads[t]);
    printf("%-32s %016llx %d ways, %s\n", of->name, (unsigned long long)j.hash, j.ways,
           lwi_kernels_of(0)->name);
    free(j.start);
    lw_model_destroy(j.model);
    return good;
}

int main(void)
{
    bool good = true;
    for (size_t i = 0; i < sizeof motions / sizeof motions[0]; i++) good &= segment(&motions[i]);
    return good ? 0 : 1;
}

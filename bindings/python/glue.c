// glue.c -- see glue.h; part of the extension module that make_native.py writes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef LWPY_OWN_STREAMS
// `stdout` and `stderr` of everything in this module (CMakeLists.txt), those of the C library.
#include <dlfcn.h>
FILE *lwpy_stdout, *lwpy_stderr;
__attribute__((constructor)) static void lwpy_find_streams(void)
{
    FILE **out = dlsym(NULL, "stdout"), **err = dlsym(NULL, "stderr");
    if (out) lwpy_stdout = *out;
    if (err) lwpy_stderr = *err;
}
#endif

// Between two questions to Python [s]: a key is felt at once, the interpreter's lock costs nothing.
#define LWPY_PATIENCE 0.02

static double lwpy_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int lwpy_ask(void *handle, double *asked, double time, double end)
{
    const double now = lwpy_clock();
    if (now - *asked < LWPY_PATIENCE) return 0;
    *asked = now;
    return lwpy_on_progress(handle, time, end);
}

// ------------------------------------------------------------------------------------ simulations

static lw_status lwpy_row(void *user, const lw_observation *observation)
{
    lwpy_run *run = user;
    for (int i = 0; i < run->nwriter; i++) {
        const lw_status status = lw_writer_row(run->writer[i], observation);
        if (status < LW_OK) {
            run->failed = i;
            return status;
        }
    }
    return run->controlled ? lwpy_on_row(run->handle, (lw_observation *)observation) : LW_OK;
}

static int lwpy_progress(void *user, double time, double end)
{
    lwpy_run *run = user;
    for (int i = 0; i < run->nwriter; i++)
        if (lw_writer_poll(run->writer[i]) < LW_OK) {
            run->failed = i;
            return 1;
        }
    return lwpy_ask(run->handle, &run->asked, time, end);
}

static lw_status lwpy_sim_run(lw_sim *sim, lw_observe level, lwpy_run *run)
{
    run->failed = -1;
    run->asked = lwpy_clock();
    return (run->kinematics ? lw_sim_kinematics : lw_sim_run)(sim, level, lwpy_row, run,
                                                              lwpy_progress, run);
}

static lw_status lwpy_sim_step(lw_sim *sim, double time, lwpy_run *run)
{
    run->asked = lwpy_clock();
    return lw_sim_step_progress(sim, time, lwpy_progress, run);
}

// Whether all arrays that Python reads are at the same addresses.
static int lwpy_same_arrays(const lw_observation *a, const lw_observation *b)
{
#define SAME(array) a->array == b->array
    return SAME(position) && SAME(quaternion) && SAME(velocity) && SAME(angular_velocity) &&
           SAME(acceleration) && SAME(angular_acceleration) && SAME(q) && SAME(qd) && SAME(qdd) &&
           SAME(states) && SAME(reaction) && SAME(reaction_unique) &&
           SAME(reaction_undetermined) && SAME(impulse) && SAME(body_momentum) && SAME(p) &&
           SAME(transmitted);
#undef SAME
}

// Copies the numbers, which the next observation overwrites.  1: its arrays are those of `before`, 0: others, or there is
// none before; negative: a lw_status.
static int lwpy_sim_observe(lw_sim *sim, lw_observe level, const lw_observation *before,
                            lw_observation *copy)
{
    const lw_observation *found;
    const lw_status status = lw_sim_observe(sim, level, &found);
    if (status < LW_OK) return status;
    *copy = *found;
    return before && lwpy_same_arrays(before, copy);
}

static lw_status lwpy_inputs(void *user, const lw_observation *observation, double *inputs)
{
    return lwpy_on_inputs(user, (lw_observation *)observation, inputs);
}

static lw_status lwpy_slopes(void *user, const lw_observation *observation,
                             const lw_input_slopes *slopes)
{
    return lwpy_on_slopes(user, (lw_observation *)observation, (lw_input_slopes *)slopes);
}

static lw_status lwpy_sim_set_callback(lw_sim *sim, void *handle, int jacobian)
{
    lw_status status = lw_sim_set_callback(sim, handle ? lwpy_inputs : NULL, handle);
    if (status == LW_OK && jacobian) status = lw_sim_set_jacobian(sim, lwpy_slopes);
    if (status != LW_OK) lw_sim_set_callback(sim, NULL, NULL); // Python does not keep the handle
    return status;
}

static void lwpy_linear_set_callback(lw_linear_desc *desc, void *handle, int jacobian)
{
    desc->callback = lwpy_inputs;
    desc->jacobian = jacobian ? lwpy_slopes : NULL;
    desc->callback_user = handle;
}

// ----------------------------------------------------------------------------------------- sweeps

static lw_status lwpy_batch_inputs(void *user, const lw_batch_states *states, double *inputs)
{
    return lwpy_on_batch_inputs(user, (lw_batch_states *)states, inputs);
}

static lw_status lwpy_batch_slopes(void *user, const lw_batch_states *states,
                                   const lw_input_slopes *slopes)
{
    return lwpy_on_batch_slopes(user, (lw_batch_states *)states, (lw_input_slopes *)slopes);
}

static void lwpy_batch_set_callback(lw_batch_desc *desc, void *handle, int jacobian)
{
    desc->callback = lwpy_batch_inputs;
    desc->jacobian = jacobian ? lwpy_batch_slopes : NULL;
    desc->callback_user = handle;
}

// inputs [instances][ninput]
static lw_status lwpy_batch_set_inputs(lw_batch *batch, int ninput, const double *inputs)
{
    for (int i = 0; i < lw_batch_instances(batch); i++)
        for (int k = 0; k < ninput; k++) {
            const lw_status status = lw_batch_set_input(batch, i, k, *inputs++);
            if (status < LW_OK) return status;
        }
    return LW_OK;
}

// q [instances][nq] and qd [instances][nv] of those that have not failed.
static lw_status lwpy_batch_joints(lw_batch *batch, int nq, int nv, double *q, double *qd)
{
    const lw_observation *o;
    for (int i = 0; i < lw_batch_instances(batch); i++, q += nq, qd += nv) {
        if (lw_batch_status(batch, i) != LW_OK) continue;
        const lw_status status = lw_batch_observe(batch, i, LW_OBSERVE_TWIST, &o);
        if (status < LW_OK) return status;
        if (nq) memcpy(q, o->q, (size_t)nq * sizeof *q);
        if (nv) memcpy(qd, o->qd, (size_t)nv * sizeof *qd);
    }
    return LW_OK;
}

static size_t lwpy_row_numbers(const lwpy_sweep *run)
{
    return (size_t)run->instances * (size_t)run->columns;
}

// Room for one more row of all instances; pages of it that are not written take no memory.
static int lwpy_sweep_room(lwpy_sweep *run)
{
    if (run->rows < run->room) return 1;
    const long room = run->room ? 2 * run->room : 1;
    double *time = realloc(run->time, (size_t)room * sizeof *time);
    if (time) run->time = time;
    const size_t numbers = (size_t)room * lwpy_row_numbers(run);
    double *values = time ? realloc(run->values, (numbers ? numbers : 1) * sizeof *values) : NULL;
    if (values) run->values = values;
    if (values) run->room = room;
    return values != NULL;
}

// The rows of all instances at a time that none has reached yet.
static lw_status lwpy_sweep_begin_row(lwpy_sweep *run, double time)
{
    if (!lwpy_sweep_room(run)) return LW_ERR_MEMORY;
    const size_t row = lwpy_row_numbers(run);
    double *to = run->values + (size_t)run->rows * row;
    for (size_t k = 0; k < row; k++) to[k] = NAN;
    run->time[run->rows++] = time;
    return LW_OK;
}

static lw_status lwpy_sweep_row(void *user, lw_batch *group, double time)
{
    lwpy_sweep *run = user;
    for (int i = 0; i < run->nwriter; i++) {
        const lw_status status = lw_batch_writer_rows(run->writer[i]);
        if (status < LW_OK) {
            run->failed = i;
            return status;
        }
    }
    if (run->study) return lw_study_row(run->study, group, time);
    if (!(time > run->last)) run->sample = 0; // another group begins
    run->last = time;
    if (run->sample == run->rows) {
        const lw_status status = lwpy_sweep_begin_row(run, time);
        if (status < LW_OK) return status;
    }
    double *row = run->values + (size_t)run->sample++ * lwpy_row_numbers(run);
    for (int i = 0; i < lw_batch_instances(group); i++) {
        const double *from = lw_batch_writer_last(run->writer[0], i);
        if (!from || lw_batch_status(group, i) != LW_OK) continue;
        double *to = row + (size_t)lw_batch_number(group, i) * (size_t)run->columns;
        for (int k = 0; k < run->columns; k++) to[k] = from[run->column[k]];
    }
    return LW_OK;
}

static int lwpy_sweep_progress(void *user, double time, double end)
{
    lwpy_sweep *run = user;
    return lwpy_ask(run->handle, &run->asked, time, end);
}

static lw_status lwpy_sweep_run(lw_sweep *sweep, lwpy_sweep *run)
{
    run->failed = -1;
    run->last = NAN;
    run->asked = lwpy_clock();
    return lw_sweep_run(sweep, lwpy_sweep_row, run, lwpy_sweep_progress, run);
}

// A part of a study; Python is asked seldom.
typedef struct lwpy_part {
    void *handle;
    double asked;
} lwpy_part;

static int lwpy_part_progress(void *user, double time, double end)
{
    lwpy_part *part = user;
    return lwpy_ask(part->handle, &part->asked, time, end);
}

static lw_status lwpy_store_run(lw_store *store, int part, int threads, int lanes, void *handle)
{
    lwpy_part asked = {handle, lwpy_clock()};
    return lw_store_run(store, part, threads, lanes, lwpy_part_progress, &asked);
}

static void lwpy_sweep_summaries(const lw_sweep *sweep, lw_summary *summary)
{
    for (int i = 0; i < lw_sweep_instances(sweep); i++) lw_sweep_summary(sweep, i, &summary[i]);
}

// ------------------------------------------------------------------------------------------ texts

static lw_status lwpy_model_text(const lw_model *model, const lw_options *options, char **text,
                                 lw_error *error)
{
    size_t size = 0;
    *text = NULL;
    FILE *file = open_memstream(text, &size);
    if (!file) return LW_ERR_MEMORY;
    const lw_status status = lw_model_write(model, options, file, error);
    return fclose(file) ? LW_ERR_MEMORY : status;
}

static void lwpy_list_omitted(void *user, const char *text)
{
    fprintf(user, "%s\n", text);
}

// What the format cannot express, a line each, to be freed.
static lw_status lwpy_model_save(const lw_model *model, const lw_options *options, const char *path,
                                 char **omitted, lw_error *error)
{
    size_t size = 0;
    *omitted = NULL;
    FILE *list = open_memstream(omitted, &size);
    if (!list) return LW_ERR_MEMORY;
    const lw_status status = lw_model_save(model, options, path, lwpy_list_omitted, list, error);
    return fclose(list) && status == LW_OK ? LW_ERR_MEMORY : status;
}

static lw_status lwpy_schema_text(char **text)
{
    size_t size = 0;
    *text = NULL;
    FILE *file = open_memstream(text, &size);
    if (!file) return LW_ERR_MEMORY;
    const lw_status status = lw_schema_write(file);
    return fclose(file) ? LW_ERR_MEMORY : status;
}

// A page or a glTF file, to be freed.
static lw_status lwpy_view_text(const lw_model *model, lw_result *result, const char *title,
                                int gltf, char **text, size_t *size, lw_error *error)
{
    const lw_view_desc desc = {.title = title};
    FILE *file = open_memstream(text, size);
    if (!file) return LW_ERR_MEMORY;
    const lw_status status =
        (gltf ? lw_view_gltf : lw_view_page)(model, result, &desc, file, error);
    return fclose(file) ? LW_ERR_MEMORY : status;
}

static void lwpy_free(void *block)
{
    free(block);
}

// --------------------------------------------------------------------------------- rows of states

static lw_status lwpy_inverse_dynamics(lw_dynamics *dynamics, int count, double t, const double *q,
                                       const double *v, const double *vdot, const double *inputs,
                                       double *tau)
{
    const lw_model *model = lw_dynamics_model(dynamics);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    for (size_t i = 0; i < (size_t)count; i++) {
        const lw_status status = lw_inverse_dynamics(dynamics, t, q + i * nq, v + i * nv,
                                                     vdot + i * nv, inputs, tau + i * nv);
        if (status < LW_OK) return status;
    }
    return LW_OK;
}

static lw_status lwpy_mass_matrix(lw_dynamics *dynamics, int count, double t, const double *q,
                                  double *M)
{
    const lw_model *model = lw_dynamics_model(dynamics);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    for (size_t i = 0; i < (size_t)count; i++) {
        const lw_status status = lw_mass_matrix(dynamics, t, q + i * nq, M + i * nv * nv);
        if (status < LW_OK) return status;
    }
    return LW_OK;
}

static lw_status lwpy_inverse_derivatives(lw_dynamics *dynamics, int count, double t,
                                          const double *q, const double *v, const double *vdot,
                                          const double *inputs, double *by_q, double *by_v,
                                          double *M)
{
    const lw_model *model = lw_dynamics_model(dynamics);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    for (size_t i = 0; i < (size_t)count; i++) {
        const lw_status status = lw_inverse_dynamics_derivatives(
            dynamics, t, q + i * nq, v + i * nv, vdot + i * nv, inputs, by_q + i * nv * nv,
            by_v + i * nv * nv, M + i * nv * nv);
        if (status < LW_OK) return status;
    }
    return LW_OK;
}

static lw_status lwpy_forward_derivatives(lw_dynamics *dynamics, int count, double t,
                                          const double *q, const double *v, const double *tau,
                                          const double *inputs, double *vdot, double *by_q,
                                          double *by_v, double *by_tau)
{
    const lw_model *model = lw_dynamics_model(dynamics);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    for (size_t i = 0; i < (size_t)count; i++) {
        const lw_status status = lw_forward_dynamics_derivatives(
            dynamics, t, q + i * nq, v + i * nv, tau ? tau + i * nv : NULL, inputs, vdot + i * nv,
            by_q + i * nv * nv, by_v + i * nv * nv, by_tau + i * nv * nv);
        if (status < LW_OK) return status;
    }
    return LW_OK;
}

static lw_status lwpy_momenta(lw_dynamics *dynamics, int count, double t, const double *q,
                              const double *v, double *p)
{
    const lw_model *model = lw_dynamics_model(dynamics);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    for (size_t i = 0; i < (size_t)count; i++) {
        const lw_status status = lw_momenta(dynamics, t, q + i * nq, v + i * nv, p + i * nv);
        if (status < LW_OK) return status;
    }
    return LW_OK;
}

// off: a state whose gap may be above the limit; -1: none.
static lw_status lwpy_forward_dynamics(lw_dynamics *dynamics, int count, double t, const double *q,
                                       const double *v, const double *tau, const double *inputs,
                                       double *vdot, double limit, int *off)
{
    const size_t nq = (size_t)lw_model_tree_nq(lw_dynamics_model(dynamics));
    *off = -1;
    for (int i = 0; i < count && *off < 0; i++)
        if (!(lw_dynamics_gap(dynamics, t, q + (size_t)i * nq) <= limit)) *off = i;
    return lw_forward_dynamics_many(dynamics, count, t, q, v, tau, inputs, vdot);
}

// The largest of some rows of loops [nrow] over all states [count][nq], and the row that it is; v [nv] and
// phi [rows] are scratch.
static lw_status lwpy_off_loops(lw_constraints *constraints, int count, int nq, double t,
                                const double *q, const double *v, int nrow, const int *row,
                                double *phi, double *most, int *which)
{
    *most = 0;
    *which = -1;
    for (int i = 0; i < count; i++) {
        const lw_status status = lw_constraints_evaluate(constraints, t, q + (size_t)i * (size_t)nq,
                                                         v, phi, NULL, NULL, NULL);
        if (status < LW_OK) return status;
        for (int k = 0; k < nrow; k++)
            if (fabs(phi[row[k]]) > *most) *most = fabs(phi[row[k]]), *which = row[k];
    }
    return LW_OK;
}

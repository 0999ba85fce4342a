// glue.h -- what stands between the library and Python: runs whose rows are written without the
// interpreter, and questions to Python (a controller, Ctrl-C) that are asked seldom enough.
//
// make_native.py reads the two lists below.
#ifndef LWPY_GLUE_H
#define LWPY_GLUE_H

#include <linkwork/linkwork.h>

// ---- from Python
typedef struct lwpy_run {
    lw_writer *writer[4]; ///< every row goes to each
    int nwriter;
    int controlled; ///< lwpy_on_row is called for every row
    int kinematics; ///< positions from drives, nothing is integrated
    void *handle;   ///< for Python
    double asked;   ///< when Python was asked last [s]
    int failed;     ///< number of the writer whose row failed; -1: none
} lwpy_run;

typedef struct lwpy_sweep {
    lw_batch_writer *writer[2]; ///< [0] keeps the last rows
    int nwriter;
    int instances; ///< of all groups
    int columns;   ///< that are kept
    const int *column; ///< [columns] their numbers in a row
    double *time;   ///< [room]
    double *values; ///< [room][instances][columns]; NaN where an instance has no row
    long rows, room;
    long sample; ///< of the present group, the next one
    double last; ///< time of its last row; NaN: none
    int failed;  ///< as above
    void *handle;
    double asked;
    lw_study *study; ///< counts the rows, which are not kept; NULL: they are
} lwpy_sweep;

static lw_status lwpy_sim_run(lw_sim *sim, lw_observe level, lwpy_run *run);
static lw_status lwpy_sim_step(lw_sim *sim, double time, lwpy_run *run);
static int lwpy_sim_observe(lw_sim *sim, lw_observe level, const lw_observation *before,
                            lw_observation *copy);
static int lwpy_same_arrays(const lw_observation *a, const lw_observation *b);
static lw_status lwpy_sim_set_callback(lw_sim *sim, void *handle, int jacobian);
static void lwpy_batch_set_callback(lw_batch_desc *desc, void *handle, int jacobian);
static void lwpy_linear_set_callback(lw_linear_desc *desc, void *handle, int jacobian);
static lw_status lwpy_batch_set_inputs(lw_batch *batch, int ninput, const double *inputs);
static lw_status lwpy_batch_joints(lw_batch *batch, int nq, int nv, double *q, double *qd);
static lw_status lwpy_sweep_run(lw_sweep *sweep, lwpy_sweep *run);
static lw_status lwpy_store_run(lw_store *store, int part, int threads, int lanes, void *handle);
static void lwpy_sweep_summaries(const lw_sweep *sweep, lw_summary *summary);
static lw_status lwpy_model_text(const lw_model *model, const lw_options *options, char **text,
                                 lw_error *error);
static lw_status lwpy_model_save(const lw_model *model, const lw_options *options, const char *path,
                                 char **omitted, lw_error *error);
static lw_status lwpy_schema_text(char **text);
static lw_status lwpy_view_text(const lw_model *model, lw_result *result, const char *title, int gltf,
                                char **text, size_t *size, lw_error *error);
static void lwpy_free(void *block);
static lw_status lwpy_inverse_dynamics(lw_dynamics *dynamics, int count, double t, const double *q,
                                       const double *v, const double *vdot, const double *inputs,
                                       double *tau);
static lw_status lwpy_mass_matrix(lw_dynamics *dynamics, int count, double t, const double *q,
                                  double *M);
static lw_status lwpy_inverse_derivatives(lw_dynamics *dynamics, int count, double t,
                                          const double *q, const double *v, const double *vdot,
                                          const double *inputs, double *by_q, double *by_v,
                                          double *M);
static lw_status lwpy_forward_derivatives(lw_dynamics *dynamics, int count, double t,
                                          const double *q, const double *v, const double *tau,
                                          const double *inputs, double *vdot, double *by_q,
                                          double *by_v, double *by_tau);
static lw_status lwpy_momenta(lw_dynamics *dynamics, int count, double t, const double *q,
                              const double *v, double *p);
static lw_status lwpy_forward_dynamics(lw_dynamics *dynamics, int count, double t, const double *q,
                                       const double *v, const double *tau, const double *inputs,
                                       double *vdot, double limit, int *off);
static lw_status lwpy_off_loops(lw_constraints *constraints, int count, int nq, double t,
                                const double *q, const double *v, int nrow, const int *row,
                                double *phi, double *most, int *which);
// ---- to Python
static lw_status lwpy_on_row(void *handle, lw_observation *observation);
static int lwpy_on_progress(void *handle, double time, double end);
static lw_status lwpy_on_inputs(void *handle, lw_observation *observation, double *inputs);
static lw_status lwpy_on_batch_inputs(void *handle, lw_batch_states *states, double *inputs);
static lw_status lwpy_on_slopes(void *handle, lw_observation *observation, lw_input_slopes *slopes);
static lw_status lwpy_on_batch_slopes(void *handle, lw_batch_states *states,
                                      lw_input_slopes *slopes);
// ----

#endif

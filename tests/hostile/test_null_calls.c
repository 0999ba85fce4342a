// test_null_calls.c -- every public function with every pointer NULL in turn: no call crashes, and NULL is refused where
// it is not allowed.  The calls are written by null_calls.py from the headers.  Each runs in a separate process.
#include "support/mechanism.h"

#include <linkwork/linkwork.h>

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODEL_FILE                                                                                 \
    "linkwork: 1\n"                                                                                \
    "inputs: [u]\n"                                                                                \
    "parameters: {pp: 1}\n"                                                                        \
    "bodies: {b: {mass: pp, inertia: [1, 1, 1, 0, 0, 0]}}\n"                                       \
    "joints: {j: {type: revolute, between: [ground, b], at: [0.1, 0, 0], axis: [0, 1, 0], "        \
    "effort: {q0: u}}}\n"                                                                          \
    "simulation: {formulation: aba, integrator: rk4, step: 0.01, duration: 0.02, sample: 0.01}\n"

#define CHAIN "linkwork: 1\ngenerate: {chain: {n: 2}}\n"

typedef struct null_call {
    const char *function, *null; // null: the parameter that is NULL, "" for none
    int (*call)(void);
    int has_status, optional;
} null_call;

// ------------------------------------------------------------------------ arguments that are allowed

static const double zeros[64];
static double out[64], state[64];
static const char *const names[] = {"run", "check"};
static char text[256];
static const char *no_text;
static int number;
static long long_number;
static const lw_result_event *result_events;
static FILE *file;
static lw_error error;
static lw_summary summary;
static lw_step_times times;
static lw_options options;
static lw_plot_options plot_options;
static lw_signal function;
static lw_body body;
static lw_mesh mesh;
static lw_joint joint;
static lw_assembly assembly;
static lw_equilibrium equilibrium;
static lw_running running;
static lw_statistics statistics;
static double shape[8][6];
static double mode_places[2 * 8][3], mode_turns[2 * 8][4]; // rows, bodies
static lw_check check;
static lw_redundancy redundancy[8];
static lw_plan_info plan;
static lw_precision precision[2];
static lw_codegen_count counts[LW_CODEGEN_COUNT];
static const lw_observation *observation, *observation_out;
static const lw_impact *impact;
static lw_result *results[2], *stored;
static lw_writer *memory_writer;

static lw_model *the_lw_model, *new_lw_model;
static lw_builder *the_lw_builder, *new_lw_builder;
static lw_sim *the_lw_sim, *new_lw_sim;
static lw_batch *the_lw_batch, *new_lw_batch;
static lw_sweep *the_lw_sweep, *new_lw_sweep;
static lw_study *the_lw_study, *new_lw_study;
static lw_dynamics *the_lw_dynamics, *new_lw_dynamics;
static lw_compiled *the_lw_compiled, *new_lw_compiled;
static lw_compiled_desc lw_compiled_desc_ = {
    .cache = "null-cache", .lanes = 4, .derivatives = true};
static lw_compiled_info compiled_info;
static lw_device_batch *the_lw_device_batch, *new_lw_device_batch;
static lw_device_batch_desc lw_device_batch_desc_ = {
    .device = "cpu", .instances = 1, .cache = "null-cache"};
static lw_device_view device_view;
static unsigned char marks[8];
static lw_constraints *the_lw_constraints, *new_lw_constraints;
static lw_linear *the_lw_linear, *new_lw_linear;
static lw_inverse *the_lw_inverse, *new_lw_inverse;
static lw_kinematics *the_lw_kinematics, *new_lw_kinematics;
static lw_modes *the_lw_modes, *new_lw_modes;
static lw_sensitivity *the_lw_sensitivity, *new_lw_sensitivity;
static lw_parametric *the_lw_parametric, *new_lw_parametric;
static lw_response *the_lw_response, *new_lw_response;
static lw_measures *the_lw_measures, *new_lw_measures;
static lw_csv *the_lw_csv, *new_lw_csv;
static lw_writer *the_lw_writer, *new_lw_writer;
static lw_batch_writer *the_lw_batch_writer, *new_lw_batch_writer;
static lw_result *the_lw_result, *new_lw_result;
static lw_checkpoint *the_lw_checkpoint, *new_lw_checkpoint;
static lw_checkpoint_desc lw_checkpoint_desc_;
static lw_store *the_lw_store, *new_lw_store;
static lw_store_state store_state;
static lw_table *the_lw_table, *new_lw_table;

static const char *const vary[] = {"gravity.x"};
static lw_assemble_desc lw_assemble_desc_;
static lw_mesh_desc lw_mesh_desc_ = {.file = "a.stl"};
static lw_equilibrium_desc lw_equilibrium_desc_;
static lw_linear_desc lw_linear_desc_;
static lw_inverse_desc lw_inverse_desc_ = {.actuators = "j"};
static lw_sensitivity_desc lw_sensitivity_desc_ = {
    .options = &options, .nby = 1, .by = (const char *const[]){"pp"}, .columns = "sys.T"};
static lw_response_desc lw_response_desc_ = {.options = &options,
                                             .nby = 1,
                                             .by = (const char *const[]){"pp"},
                                             .lower = (const double[]){0.5},
                                             .upper = (const double[]){2},
                                             .nwanted = 1,
                                             .wanted = (const char *const[]){"sys.T"}};
static const lw_inverse_solution *inverse_solution;
static lw_goal goal = {.type = LW_GOAL_JOINT};
static lw_reach_desc lw_reach_desc_;
static lw_reach_report reach_report;
static lw_point_motion point_motion;
static const double *number_list;
static lw_measure_desc lw_measure_desc_ = {.name = "m", .formula = "sys.T"};
static lw_batch_desc lw_batch_desc_ = {
    .options = &options, .instances = 1, .threads = 1, .nvary = 1, .vary = vary, .values = zeros};
static lw_body_desc lw_body_desc_ = {.mass = 1, .inertia = {1, 1, 1}};
static lw_bushing_desc lw_bushing_desc_;
static lw_codegen_desc lw_codegen_desc_ = {.name = "a"};
static lw_coupling_desc lw_coupling_desc_;
static lw_design_desc lw_design_desc_ = {.nvary = 1,
                                         .vary = (const char *const[]){"gravity.x=1,2"}};
static lw_drag_desc lw_drag_desc_;
static lw_function_desc lw_function_desc_ = {.type = LW_FUNCTION_CONSTANT};
static lw_impulse_desc lw_impulse_desc_ = {.time = 1, .body = {1}, .impulse = {.x = 1}};
static lw_event_desc lw_event_desc_ = {.every = 1, .stop = true};
static lw_joint_desc lw_joint_desc_ = {.type = LW_JOINT_REVOLUTE, .body2 = {2}, .axis = {.z = 1}};
static lw_marker_desc lw_marker_desc_;
static lw_mechanism_desc lw_mechanism_desc_;
static lw_read_desc lw_read_desc_ = {.format = "yaml"};
static lw_servo_desc lw_servo_desc_;
static lw_tendon_desc lw_tendon_desc_;
static lw_sim_desc lw_sim_desc_ = {.options = &options};
static lw_spring_desc lw_spring_desc_;
static lw_stop_desc lw_stop_desc_;
static lw_store_desc lw_store_desc_ = {.options = &options, .part_rows = 1, .columns = "sys.T"};
static lw_view_desc lw_view_desc_;
static lw_wrench_desc lw_wrench_desc_;
static lw_writer_desc lw_writer_desc_;

// A callback of inputs that leaves them alone, and its Jacobian.
static lw_status leave_inputs(void *user, const lw_observation *seen, double *inputs)
{
    (void)user, (void)seen, (void)inputs;
    return LW_OK;
}
static lw_status leave_slopes(void *user, const lw_observation *seen, const lw_input_slopes *slopes)
{
    (void)user, (void)seen, (void)slopes;
    return LW_OK;
}

#include "null_calls.inc"

static void write_file(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void add_bodies(lw_builder *builder)
{
    for (int i = 0; i < 2; i++) {
        lwt_ok(lw_builder_add_body(builder, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1}}, &body,
                                   &error),
               &error);
    }
    const lw_joint_desc desc = {
        .name = "j", .type = LW_JOINT_REVOLUTE, .body2 = {1}, .axis = {.z = 1}};
    lwt_ok(lw_builder_add_joint(builder, &desc, &joint, &error), &error);
}

static lw_status take_checkpoint(void *user, const lw_observation *row)
{
    (void)row;
    return lw_checkpoint_take(the_lw_checkpoint, user, NULL, 1);
}

static void create_objects(void)
{
    write_file("null.yaml", MODEL_FILE);
    write_file("null-table.csv", "gravity.x,a.max\n1,2\n");
    mkdir("null-code", 0777);
    file = fopen("null-out.txt", "w");
    lw_options_default(&options);
    lwt_ok(lw_model_read("null.yaml", NULL, &the_lw_model, &options, &error), &error);
    lwt_ok(lw_builder_create(NULL, &the_lw_builder), &error);
    add_bodies(the_lw_builder);
    lwt_ok(lw_sim_create(the_lw_model, &lw_sim_desc_, &the_lw_sim, &error), &error);
    lw_sim_get_state(the_lw_sim, &(double){0}, state);
    lwt_ok(lw_sim_set_callback(the_lw_sim, leave_inputs, NULL), lw_sim_error(the_lw_sim));
    lwt_ok(lw_sim_set_jacobian(the_lw_sim, leave_slopes), lw_sim_error(the_lw_sim));
    lwt_ok(lw_sim_observe(the_lw_sim, LW_OBSERVE_ACCELERATION, &observation), &error);
    lw_writer_desc_ = (lw_writer_desc){.sim = the_lw_sim, .level = LW_OBSERVE_ENERGY};
    lwt_ok(lw_writer_create("null-in.csv", &lw_writer_desc_, &the_lw_writer, &error), &error);
    for (int i = 0; i < 3; i++) {
        lwt_ok(lw_writer_row(the_lw_writer, observation), &error);
        lwt_ok(lw_sim_step(the_lw_sim, 0.01 * (i + 1)), &error);
        lwt_ok(lw_sim_observe(the_lw_sim, LW_OBSERVE_ACCELERATION, &observation), &error);
    }
    lwt_ok(lw_writer_close(the_lw_writer, &error), &error);
    lwt_ok(lw_writer_create(NULL, &lw_writer_desc_, &the_lw_writer, &error), &error);
    lwt_ok(lw_writer_row(the_lw_writer, observation), &error);
    lwt_ok(lw_writer_finish(the_lw_writer, &stored, &error), &error);
    lwt_ok(lw_writer_create(NULL, &lw_writer_desc_, &memory_writer, &error), &error);
    lwt_ok(lw_writer_row(memory_writer, observation), &error);
    lwt_ok(lw_writer_create("null-rows.csv", &lw_writer_desc_, &the_lw_writer, &error), &error);
    lwt_ok(lw_result_open("null-in.csv", &the_lw_result, &error), &error);
    results[0] = results[1] = stored;
    lwt_ok(lw_csv_create(the_lw_model, LW_OBSERVE_ENERGY, "null-csv.csv", &the_lw_csv, &error),
           &error);
    lwt_ok(lw_batch_create(the_lw_model, &lw_batch_desc_, &the_lw_batch, &error), &error);
    lwt_ok(lw_sweep_create(the_lw_model, &lw_batch_desc_, &the_lw_sweep, &error), &error);
    lwt_ok(lw_study_create(the_lw_sweep, "sys.T", &the_lw_study, &error), &error);
    lwt_ok(lw_batch_writer_create("null-batch.csv", the_lw_batch, LW_OBSERVE_ENERGY,
                                  &the_lw_batch_writer, &error),
           &error);
    lwt_ok(lw_dynamics_create(the_lw_model, NULL, &the_lw_dynamics, &error), &error);
    lw_compiled_create(the_lw_model, &lw_compiled_desc_, &the_lw_compiled,
                       NULL); // not without a compiler
    lwt_ok(lw_constraints_create(the_lw_model, NULL, &the_lw_constraints, &error), &error);
    lw_device_batch_create(the_lw_model, &lw_device_batch_desc_, &the_lw_device_batch,
                           &error); // likewise
    lwt_ok(lw_linearize(the_lw_model, NULL, &the_lw_linear, &error), &error);
    lw_inverse_desc_.motion = the_lw_result;
    lwt_ok(lw_inverse_create(the_lw_model, &lw_inverse_desc_, &the_lw_inverse, &error), &error);
    lwt_ok(lw_kinematics_create(the_lw_model, NULL, &the_lw_kinematics, &error), &error);
    lwt_ok(lw_measures_create(the_lw_model, &the_lw_measures, &error), &error);
    lwt_ok(lw_modes_create(the_lw_linear, &the_lw_modes, &error), &error);
    lwt_ok(lw_sensitivity_create(the_lw_model, &lw_sensitivity_desc_, &the_lw_sensitivity, &error),
           &error);
    lwt_ok(lw_parametric_create(the_lw_model, vary, 1, &the_lw_parametric, &error), &error);
    lwt_ok(lw_response_create(the_lw_model, &lw_response_desc_, &the_lw_response, &error), &error);
    lwt_ok(lw_table_read("null-table.csv", &the_lw_table, &error), &error);
    lw_checkpoint_desc_.sim = the_lw_sim;
    lwt_ok(lw_checkpoint_create(&lw_checkpoint_desc_, &the_lw_checkpoint, &error), &error);
    lw_sim *run;
    lwt_ok(lw_sim_create(the_lw_model, &lw_sim_desc_, &run, &error), &error);
    lwt_ok(lw_sim_run(run, LW_OBSERVE_ENERGY, take_checkpoint, run, NULL, NULL), lw_sim_error(run));
    lw_sim_destroy(run);
    lwt_ok(lw_checkpoint_write(the_lw_checkpoint, "null-checkpoint", &error), &error);
    lwt_ok(lw_design_create(the_lw_model, &lw_design_desc_, &new_lw_table, &error), &error);
    lw_store_desc_.variants = new_lw_table;
    lwt_ok(lw_store_create("null-store", the_lw_model, &lw_store_desc_, &the_lw_store, &error),
           &error);
    for (int part = 0; part < 2; part++)
        lwt_ok(lw_store_run(the_lw_store, part, 1, 1, NULL, NULL), &error);
}

// Files of the tests, and those that the calls write.
static void remove_files(void)
{
    static const char *const patterns[] = {
        "null-code/*", "null-store/parts/*", "null-store/*", "null-cache/*", "null-*", "null.yaml"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        glob_t found;
        if (glob(patterns[k], 0, NULL, &found)) continue;
        for (size_t i = 0; i < found.gl_pathc; i++) remove(found.gl_pathv[i]);
        globfree(&found);
    }
}

enum { CRASHED = 1000 };

// What a call returns in a separate process: its status, negative; CRASHED + the signal.
static int outcome(const null_call *c)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
        for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], SIG_DFL);
        alarm(20);
        _exit(-c->call() & 0xff);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) ? CRASHED + WTERMSIG(how) : -WEXITSTATUS(how);
}

static void no_null_crashes_and_each_is_refused(void **unused)
{
    (void)unused;
    int crashed = 0, accepted = 0, refused = 0, tries = 0;
    create_objects();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const null_call *c = &calls[i];
        const int got = outcome(c);
        const bool is_argument = got == LW_ERR_ARGUMENT;
        tries += *c->null != 0;
        if (got > CRASHED || (!c->has_status && got)) {
            printf("%s, %s NULL: crashes (%d)\n", c->function, *c->null ? c->null : "nothing", got);
            crashed++;
        } else if (c->has_status && !c->optional && !is_argument) {
            printf("%s, %s NULL: status %d, expected LW_ERR_ARGUMENT\n", c->function, c->null, got);
            accepted++;
        } else if (c->has_status && c->optional && is_argument &&
                   (the_lw_compiled || !strstr(c->function, "compiled")) &&
                   (the_lw_device_batch || !strstr(c->function, "device"))) {
            printf("%s, %s NULL: refused, but allowed\n", c->function,
                   *c->null ? c->null : "nothing");
            refused++;
        }
    }
    printf("%d NULLs: %d crashes, %d accepted wrongly, %d refused wrongly\n", tries, crashed,
           accepted, refused);
    remove_files();
    assert_int_equal(crashed + accepted + refused, 0);
    assert_true(tries > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_null_crashes_and_each_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

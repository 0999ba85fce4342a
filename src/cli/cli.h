// cli.h -- what the verbs of the program share: arguments, messages, exit codes, progress, JSON.
//
// Adding a verb: a file with its function and a row in CLI_VERB_LIST.
#ifndef LWI_CLI_CLI_H
#define LWI_CLI_CLI_H

#include <linkwork/linkwork.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Exit codes of the program. */
#define CLI_EXIT_LIST(X)                                                                           \
    X(DONE, 0, "done")                                                                             \
    X(FAILED, 1, "the computation failed or was stopped")                                          \
    X(USE, 2, "wrong use")                                                                         \
    X(INPUT, 3, "bad input file")

#define X(name, code, text) CLI_##name = code,
typedef enum cli_exit { CLI_EXIT_LIST(X) CLI_EXIT_COUNT } cli_exit;
#undef X

/** Options in addition to those of a run (LW_OPTION_LIST): name, key, letter, value, help. */
#define CLI_OPTION_LIST(X)                                                                         \
    X(OUTPUT, "output", 'o', "FILE", "file to write, its format by the ending; repeatable")        \
    X(INITIAL, "initial", 0, "RESULT",                                                             \
      "resume from the last row of a result (.h5: exactly, or .csv)")                              \
    X(LEVEL, "level", 0, "LEVEL",                                                                  \
      "contents of rows: pose, twist, energy, acceleration, reaction (default), force, momentum")  \
    X(BATCH, "batch", 0, "TABLE",                                                                  \
      "a run for each row of a table (.csv, .h5); its columns name the varied quantities")         \
    X(VARY, "vary", 0, "NAME=VALUES",                                                              \
      "values FROM:TO:COUNT or A,B,... of a quantity, FROM:TO of a design; repeatable")            \
    X(DESIGN, "design", 0, "KIND",                                                                 \
      "variants: grid (default; every combination), lhs:N, sobol:N or random:N of what varies")    \
    X(SEED, "seed", 0, "N", "of --design: other points of the same kind (default 1)")              \
    X(SET, "set", 0, "NAME=VALUE",                                                                 \
      "value of a parameter of the model file, 5, `5 mm` or an expression; repeatable")            \
    X(COLUMNS, "columns", 0, "PATTERN,...",                                                        \
      "of a result: the columns that are written, names with * and ?; times always")               \
    X(WATCH, "watch", 0, "A,B,...", "report statistics of these result columns (* and ?)")         \
    X(TABLE, "table", 0, "FILE",                                                                   \
      "a row for each run (.csv, .h5): what varies, statistics of the measures or of --watch, "    \
      "how it ended; repeatable")                                                                  \
    X(STORE, "store", 0, "DIR",                                                                    \
      "keep the study in this folder, part by part; the same command continues it")                \
    X(CHECKPOINT, "checkpoint", 0, "FILE",                                                         \
      "write the state of the run into this file at intervals, for --resume")                      \
    X(EVENTS, "events", 0, "FILE",                                                                 \
      "write the events of the model as a table: time, name, action, row (.csv)")                  \
    X(EVERY, "every", 0, "INTERVAL",                                                               \
      "of --checkpoint: simulated time [s], or steps (1000steps); default: 20 in the run")         \
    X(RESUME, "resume", 0, "PATH",                                                                 \
      "continue the run of a checkpoint, or the study of a folder, after any end")                 \
    X(STATUS, "status", 0, "DIR", "report what the study of this folder has and what is missing")  \
    X(VERIFY, "verify", 0, "DIR",                                                                  \
      "read all parts of the study of this folder; damaged ones are removed, and --resume makes "  \
      "them")                                                                                      \
    X(MERGE, "merge", 0, "DIR", "write the table of the study of this folder (-o FILE.csv, .h5)")  \
    X(PART, "part", 0, "K/N", "make the K-th of N shares of a study with a folder, K from 1 to N") \
    X(PART_ROWS, "part-rows", 0, "N", "variants of a part (default: as many as take 20 s)")        \
    X(EXECUTOR, "engine", 0, "WHICH",                                                              \
      "what makes the parts of --store or --resume: this process (local), or by the Python "       \
      "package "                                                                                   \
      "processes, dask, mpi, ray")                                                                 \
    X(SCHEDULER, "scheduler", 0, "ADDRESS",                                                        \
      "of --engine dask or ray: one that runs (default: begin one on this machine)")               \
    X(LANES, "lanes", 0, "N",                                                                      \
      "runs of one thread in SIMD lanes: 1, 4 or 8; 0: the widest; codegen: also code for 4 or 8 " \
      "states at once")                                                                            \
    X(MODEL, "model", 0, "MODEL", "model of a result that has none (.csv)")                        \
    X(INSTANCE, "instance", 0, "K",                                                                \
      "of the result of a sweep: this instance (default: the first)")                              \
    X(BASE, "base", 0, "WHICH",                                                                    \
      "root link `fixed` to the ground or `floating`; auto: URDF fixed, SDF by its joints")        \
    X(LIMITS, "limits", 0, "HOW",                                                                  \
      "limits of joints without stiffness, all of URDF, SDF, MJCF: `auto` makes stops scaled by "  \
      "the mechanism (`auto,T`: of this time constant, default 0.02 s), K or K,C of this "         \
      "stiffness and damping; default: `ignore`, reported only")                                   \
    X(INERTIA_CHECK, "inertia-check", 0, "WHAT",                                                   \
      "inertia that no mass has: error, warn, accept or repair, for all bodies of the file")       \
    X(PACKAGE_PATH, "package-path", 0, "DIR[:DIR...]",                                             \
      "folders with packages, searched for package:// and model://")                               \
    X(MISSING_MESH, "missing-mesh", 0, "WHAT",                                                     \
      "mesh that a mass depends on and that cannot be read: error (default) or massless")          \
    X(FORMULATIONS, "formulations", 0, "A,B[:I],...",                                              \
      "formulations, each optionally with an integrator; compare: the first is the reference")     \
    X(SECONDS, "seconds", 0, "S", "time to spend on each case or formulation (default 0.25)")      \
    X(CASES, "case", 0, "A,B,...",                                                                 \
      "built-in cases, `chain` for all chains, `all`; default: a few")                             \
    X(SAMPLES, "samples", 0, "N", "samples of each case (default: by --seconds)")                  \
    X(CUT, "cut", 0, "JOINT,...", "loop-closing joints, overriding the file")                      \
    X(KEYFRAME, "keyframe", 0, "NAME", "MJCF: start at the key of this name")                      \
    X(PLAN, "plan", 0, NULL, "report elimination orders of dca and hdca and their cost")           \
    X(HOLD, "hold", 0, "A,B,...", "bodies and joints to keep in place if possible")                \
    X(NEAR, "near", 0, "JOINT=Q[:Q...],...",                                                       \
      "assemble near these coordinates [m, rad], those of a joint separated by colons")            \
    X(STARTS, "starts", 0, "N", "most starts to try where loops stay open (default 40)")           \
    X(AT, "at", 0, "STATE",                                                                        \
      "the state: `start` of the model, or the static `equilibrium`; "                             \
      "convert: a time of the result [s]")                                                         \
    X(INPUTS, "inputs", 0, "A=VALUE,...", "constant values of inputs; default: zeros")             \
    X(OUTPUTS, "outputs", 0, "A,B,...", "result columns that are outputs; default: the states")    \
    X(INDEPENDENT, "independent", 0, "JOINT,...",                                                  \
      "joints with independent coordinates, or JOINT.qK; default: chosen")                         \
    X(FROM, "from", 0, "STATE",                                                                    \
      "where the run begins: `start` of the model (default), or `rest`, its static equilibrium")   \
    X(ACTUATORS, "actuators", 0, "A,B.q1,...",                                                     \
      "coordinates of joints, or inputs, that give the efforts; default: driven ones, inputs")     \
    X(WEIGHTS, "weights", 0, "A=W,...",                                                            \
      "weights: of actuators, the sum of (weight * effort)^2 is minimum (default: 1 over the "     \
      "effort range of a servo, else 1); of columns of --fit (default 1)")                         \
    X(MOTION, "motion", 0, "RESULT",                                                               \
      "the motion: columns joint.NAME.q0, ... of a result or table; default: the drives")          \
    X(BY, "by", 0, "A,B,...", "parameters of the model file")                                      \
    X(METHOD, "method", 0, "WHICH",                                                                \
      "differences of whole runs (default), adjoint: one sweep back for any number of "            \
      "parameters, or forward: along one run, for any number of columns (optimize: of --fit); "    \
      "optimize: auto (default), what costs less")                                                 \
    X(STATISTIC, "statistic", 0, "WHICH",                                                          \
      "number of a column: last (default), mean, rms, min, max of its rows; --watch A.rms,B.max: " \
      "of each its own")                                                                           \
    X(MINIMIZE, "minimize", 0, "MEASURE",                                                          \
      "NAME or NAME.STATISTIC (last, mean, rms, min, max) of a measure or result column")          \
    X(MAXIMIZE, "maximize", 0, "MEASURE", "likewise")                                              \
    X(FIT, "fit", 0, "TABLE",                                                                      \
      "minimise the squares of the differences to these rows (.csv, .h5): `time`, result columns") \
    X(SUBJECT, "subject-to", 0, "LIMIT",                                                           \
      "`MEASURE <= NUMBER`, >= or =, in the unit of the measure; repeatable")                      \
    X(ALGORITHM, "algorithm", 0, "WHICH",                                                          \
      "slsqp (default; constraints), mma (inequalities), lbfgs (none)")                            \
    X(EVALUATIONS, "evaluations", 0, "N", "most designs to evaluate (default 200)")                \
    X(CASADI, "casadi", 0, NULL, "also external functions of CasADi, with Jacobians")              \
    X(CUDA, "cuda", 0, NULL,                                                                       \
      "also kernels for many instances (NAME.cu: CUDA C++, and C for the processor)")              \
    X(PRECISION, "precision", 0, "WHICH", "of --cuda: double (default) or single")                 \
    X(ANY, "any", 0, NULL, "any equilibrium, by Newton's method, in place of a stable one")        \
    X(REAL_TIME, "real-time", 0, NULL,                                                             \
      "index3 with the same work in every step; --pace 1: in wall-clock time")                     \
    X(RANKS, "ranks", 0, NULL,                                                                     \
      "one run by the processes of `mpirun -n P linkwork run MODEL --ranks`: dca, hdca")           \
    X(JSON, "json", 0, NULL, "print the result as JSON")                                           \
    X(QUIET, "quiet", 'q', NULL, "print nothing but errors")

/** Numbers of options. */
#define X(name, key, letter, value, help) CLI_##name,
enum {
    CLI_OPTION_LIST(X) CLI_NOPTION,
    CLI_SIMULATION = CLI_NOPTION, ///< those of LW_OPTION_LIST
    CLI_PLOTTING,                 ///< those of LW_PLOT_OPTION_LIST
    CLI_LAST                      ///< ends a list
};
#undef X

/** Options, up to CLI_LAST. */
typedef const int *cli_options;
#define CLI_OPTIONS(...) ((const int[]){__VA_ARGS__, CLI_LAST})
/** Options that several verbs have: of studies in folders, of many runs at once, of files of meshes. */
#define CLI_FOLDER                                                                                 \
    CLI_STORE, CLI_RESUME, CLI_STATUS, CLI_VERIFY, CLI_MERGE, CLI_PART, CLI_PART_ROWS,             \
        CLI_EXECUTOR, CLI_SCHEDULER
#define CLI_MANY CLI_BATCH, CLI_WATCH, CLI_TABLE, CLI_LANES
#define CLI_MESHES CLI_PACKAGE_PATH, CLI_MISSING_MESH

/** Verbs: name, operand ("X...": may be repeated, "[X]": may be left out), options, summary. */
#define CLI_VERB_LIST(X)                                                                           \
    X(run, "[MODEL]",                                                                              \
      CLI_OPTIONS(CLI_SIMULATION, CLI_OUTPUT, CLI_EVENTS, CLI_INITIAL, CLI_FROM, CLI_CHECKPOINT,   \
                  CLI_EVERY, CLI_RESUME, CLI_LEVEL, CLI_REAL_TIME, CLI_MANY, CLI_BASE, CLI_LIMITS, \
                  CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_RANKS,        \
                  CLI_JSON, CLI_QUIET),                                                            \
      "simulate, write results (-o FILE.h5, -o FILE.csv), print a summary")                        \
    X(sweep, "[MODEL]",                                                                            \
      CLI_OPTIONS(CLI_SIMULATION, CLI_OUTPUT, CLI_VARY, CLI_DESIGN, CLI_SEED, CLI_FOLDER,          \
                  CLI_LEVEL, CLI_MANY, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES,        \
                  CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON, CLI_QUIET),                            \
      "a run for every combination of values, with a line of results for each")                    \
    X(check, "MODEL",                                                                              \
      CLI_OPTIONS(CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET,      \
                  CLI_CUT, CLI_PLAN, CLI_JSON),                                                    \
      "report bodies, joints, degrees of freedom, redundant constraints and ignored input")        \
    X(assemble, "MODEL",                                                                           \
      CLI_OPTIONS(CLI_OUTPUT, CLI_HOLD, CLI_NEAR, CLI_STARTS, CLI_BASE, CLI_LIMITS,                \
                  CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_JSON, CLI_QUIET),      \
      "find the nearest configuration and velocities that satisfy all constraints (-o "            \
      "FILE.yaml)")                                                                                \
    X(kinematics, "MODEL",                                                                         \
      CLI_OPTIONS(CLI_SIMULATION, CLI_OUTPUT, CLI_LEVEL, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK,  \
                  CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON, CLI_QUIET),                \
      "the motion of a fully driven mechanism, without integration (-o FILE.h5, .csv)")            \
    X(equilibrium, "MODEL",                                                                        \
      CLI_OPTIONS(CLI_OUTPUT, CLI_INITIAL, CLI_INPUTS, CLI_ANY, CLI_BASE, CLI_LIMITS,              \
                  CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON,         \
                  CLI_QUIET),                                                                      \
      "find the static equilibrium near the start (-o FILE.yaml), and whether it is stable")       \
    X(linearize, "MODEL",                                                                          \
      CLI_OPTIONS(CLI_OUTPUT, CLI_AT, CLI_INITIAL, CLI_INPUTS, CLI_ACTUATORS, CLI_OUTPUTS,         \
                  CLI_INDEPENDENT, CLI_ANY, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES,   \
                  CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON, CLI_QUIET),                            \
      "matrices A, B, C, D of small deviations from a state (default: the start; -o FILE.json, "   \
      ".mat, .h5)")                                                                                \
    X(modes, "MODEL",                                                                              \
      CLI_OPTIONS(CLI_AT, CLI_VARY, CLI_OUTPUT, CLI_INITIAL, CLI_INPUTS, CLI_INDEPENDENT, CLI_ANY, \
                  CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET,      \
                  CLI_CUT, CLI_JSON, CLI_QUIET),                                                   \
      "natural frequencies, damping and shapes about a state (default: the equilibrium)")          \
    X(inverse, "MODEL",                                                                            \
      CLI_OPTIONS(CLI_SIMULATION, CLI_OUTPUT, CLI_ACTUATORS, CLI_WEIGHTS, CLI_MOTION, CLI_INPUTS,  \
                  CLI_INDEPENDENT, CLI_LEVEL, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, \
                  CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON, CLI_QUIET),                            \
      "efforts of actuators for a motion, of drives or of a result (-o FILE.h5, .csv)")            \
    X(sensitivity, "MODEL",                                                                        \
      CLI_OPTIONS(CLI_SIMULATION, CLI_BY, CLI_WATCH, CLI_STATISTIC, CLI_METHOD, CLI_BASE,          \
                  CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT,       \
                  CLI_JSON, CLI_QUIET),                                                            \
      "derivatives of measures or columns of a run by parameters of the file (--by A,B)")          \
    X(optimize, "MODEL",                                                                           \
      CLI_OPTIONS(CLI_SIMULATION, CLI_VARY, CLI_MINIMIZE, CLI_MAXIMIZE, CLI_FIT, CLI_SUBJECT,      \
                  CLI_WEIGHTS, CLI_ALGORITHM, CLI_METHOD, CLI_EVALUATIONS, CLI_OUTPUT, CLI_BASE,   \
                  CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT,       \
                  CLI_JSON, CLI_QUIET),                                                            \
      "parameters of the file that minimise a measure, or fit rows of data (--vary A=FROM:TO, -o " \
      "FILE.yaml)")                                                                                \
    X(compare, "MODEL",                                                                            \
      CLI_OPTIONS(CLI_SIMULATION, CLI_FORMULATIONS, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK,       \
                  CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT, CLI_JSON, CLI_QUIET),                \
      "the same run by several formulations, side by side")                                        \
    X(convert, "FILE",                                                                             \
      CLI_OPTIONS(CLI_OUTPUT, CLI_COLUMNS, CLI_EVENTS, CLI_AT, CLI_BASE, CLI_LIMITS,               \
                  CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_QUIET),                \
      "write a model as a native file (-o FILE.yaml) or a robot (.urdf, .xml), a result as .h5, "  \
      ".csv")                                                                                      \
    X(plot, "FILE...",                                                                             \
      CLI_OPTIONS(CLI_PLOTTING, CLI_OUTPUT, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES,   \
                  CLI_KEYFRAME, CLI_SET, CLI_JSON),                                                \
      "draw results, the table of a study, or with --initial the mechanism (-o FILE.svg, .png or " \
      ".pdf)")                                                                                     \
    X(view, "FILE...",                                                                             \
      CLI_OPTIONS(CLI_OUTPUT, CLI_MODEL, CLI_INSTANCE, CLI_BASE, CLI_LIMITS, CLI_INERTIA_CHECK,    \
                  CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_QUIET),                                   \
      "a page for the browser, with a model or the motion of a result, or two to compare (-o "     \
      "FILE.html), or -o FILE.gltf")                                                               \
    X(codegen, "MODEL",                                                                            \
      CLI_OPTIONS(CLI_OUTPUT, CLI_CASADI, CLI_LANES, CLI_CUDA, CLI_PRECISION, CLI_BASE,            \
                  CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_QUIET),    \
      "write standalone C of a model's dynamics (-o DIR)")                                         \
    X(info, NULL, CLI_OPTIONS(CLI_JSON),                                                           \
      "formulations, integrators, joints, forces, formats, versions")                              \
    X(schema, NULL, CLI_OPTIONS(CLI_OUTPUT), "print the JSON Schema of native model files")        \
    X(bench, "[MODEL]",                                                                            \
      CLI_OPTIONS(CLI_SIMULATION, CLI_FORMULATIONS, CLI_SECONDS, CLI_CASES, CLI_SAMPLES, CLI_BASE, \
                  CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_SET, CLI_CUT,       \
                  CLI_JSON),                                                                       \
      "time a model by every formulation, or without one the built-in cases, on this machine")

/** Options that `--help` leaves to `--help --all`, those of CLI_MANY not of verbs for many runs; of a run those of tier
 *  EXPERT (LW_OPTION_LIST). */
#define CLI_EXPERT                                                                                 \
    CLI_MANY, CLI_LIMITS, CLI_INERTIA_CHECK, CLI_MESHES, CLI_KEYFRAME, CLI_CUT, CLI_REAL_TIME

enum { CLI_MAX = 64 }; ///< options on one command line

typedef struct cli_arguments {
    const char *verb, *operand;
    bool given[CLI_NOPTION];
    const char *operands[CLI_MAX]; ///< all, where the verb takes several; operand: the first
    int noperand;
    const char *output[CLI_MAX];
    int noutput;
    const char *initial; ///< result to resume from; NULL: none
    int instance;        ///< of a sweep's result
    const char *model;   ///< of a result that has none; NULL: not given
    const char *batch;   ///< table of varied quantities; NULL: none
    const char *design;  ///< NULL: grid
    uint64_t seed;
    const char *vary[CLI_MAX];
    int nvary;
    const char *set[CLI_MAX]; ///< "NAME=VALUE"
    int nset;
    const char *table[CLI_MAX]; ///< files of --table
    int ntable;
    const char *events;                                   ///< file; NULL: none
    const char *checkpoint;                               ///< file; NULL: none
    double every;                                         ///< [s]; 0: not given
    long every_steps;                                     ///< 0: not given
    const char *store, *resume, *status, *verify, *merge; ///< folders of studies; NULL: not given
    const char *executor, *scheduler;                     ///< NULL: not given
    int share, shares;                                    ///< --part K/N; 0: not given
    int part_rows;                                        ///< 0: not given
    const char *columns;                                  ///< of `convert`; NULL: all
    const char *observed;                                 ///< columns of --watch; NULL: none
    const char *hold;                                     ///< of assemble; NULL: nothing
    const char *near;                                     ///< of assemble, likewise
    int starts;                                           ///< of assemble; 0: the default
    bool open;                                            ///< open loops are accepted
    const char *at, *inputs, *outputs, *independent;      ///< of analyses; NULL: not given
    const char *from;                                     ///< of run; NULL: not given
    const char *actuators, *weights, *motion;             ///< of inverse; NULL: not given
    const char *by, *statistic, *method;                  ///< of sensitivity; NULL: not given
    const char *minimize, *maximize, *fit;                ///< of optimize; NULL: not given
    const char *algorithm;                                ///< likewise
    const char *subject[CLI_MAX];
    int nsubject;
    int evaluations; ///< 0: not given
    int lanes;       ///< 0: not given
    lw_base base;
    const char *inertia_check;
    const char *package_path, *missing_mesh;
    lw_limits_desc limits; ///< stiffness and damping of stops; zero: none
    double limits_time;    ///< of stops scaled by the mechanism [s]; 0: none
    const char *cut;       ///< joints; NULL: none named
    const char *keyframe;  ///< of MJCF; NULL: none
    const char *formulations;
    const char *cases; ///< of bench; NULL: the default ones
    double seconds;
    int samples;      ///< 0: by `seconds`
    lw_observe level; ///< contents of rows
    bool plan, real_time, any, casadi, cuda, single_precision, json, quiet, ranks;
    struct cli_ranks *processes; ///< of run: that share it; NULL: this one alone
    struct {
        const char *key, *value;
    } setting[CLI_MAX]; ///< of LW_OPTION_LIST or LW_PLOT_OPTION_LIST, in the order given
    int nsetting;
} cli_arguments;

#define X(name, operand, options, summary) cli_exit cli_##name(const cli_arguments *arguments);
CLI_VERB_LIST(X)
#undef X

// ---- arguments.c

extern const char *const cli_levels[]; ///< [LW_OBSERVE_...] names of the contents of rows
/** The level of a name, -1 if there is none. */
int cli_level(const char *name);

/** Reads the arguments after the verb.  @return CLI_USE, with a message, for wrong ones */
cli_exit cli_parse(int argc, char **argv, const char *verb, const char *operand,
                   cli_options options, cli_arguments *arguments);
/** Is an option in a list? */
bool cli_has(cli_options options, int option);
/** The options a verb takes, one per line. */
/** @param expert  with the options that only some users need
 *  @return how many options were left out */
int cli_print_options(FILE *file, cli_options options, bool expert);
/** The key of an option that was given and is none of `expected`; NULL: there is none. */
const char *cli_other_option(const cli_arguments *arguments, cli_options expected);
/** `FILE` ends in `ending` (with the dot). */
bool cli_ends_in(const char *file, const char *ending);

// ---- messages.c

/** "linkwork: ..." on stderr; returns `code`. */
/** The number up to one of these letters or the end, which *text is moved to; false if there is none. */
bool cli_number(const char **text, const char *separators, double *value);

cli_exit cli_complain(cli_exit code, const char *format, ...) LW_PRINTF(2, 3);
/** What the last cli_complain or cli_fail reported, without file and line. */
const char *cli_last_message(void);
/** An error of the library as "file:line:column: text"; the exit code of its status. */
cli_exit cli_fail(lw_status status, const lw_error *error);
/** ", did you mean X?" or "" */
const char *cli_suggestion(char *room, size_t size, const char *name, const char *const *names,
                           int count);
/** The model of the operand, and the options: defaults, the file's, the command line's. */
cli_exit cli_read(const cli_arguments *arguments, lw_model **model, lw_options *options);
/** Writes the warnings of a model that was refused because it does not close on stderr; nothing where it was refused for
 *  another reason. */
void cli_warn_of_refused(const cli_arguments *arguments);
/** The `report` of an lw_view_desc: a warning on stderr, unless --quiet.  @param user  the cli_arguments */
void cli_warn(void *user, const char *text);
/** Is this the name of a formulation with its own step (LW_FORMULATION_OWN_STEP), and so of its integrator? */
bool cli_has_own_step(const char *name);
/** Something in the options differs from the defaults. */
bool cli_has_settings(const lw_options *options);

// ---- files.c

/** The only -o FILE, which must not be read.  A file of that name is kept until cli_end_file.
 *  @param path  out: where it is to be written, a name that no other program uses */
cli_exit cli_begin_file(const cli_arguments *arguments, const char **path);
/** `whole`: the file takes its place; otherwise it is removed, and the old one is kept. */
cli_exit cli_end_file(const cli_arguments *arguments, bool whole);
/** As cli_fail, of the file between these two calls, by its name in the call. */
cli_exit cli_fail_file(lw_status status, lw_error *error);
/** The same as a stream, stdout if there is no -o; a file that could not be written whole is an error. */
cli_exit cli_open(const cli_arguments *arguments, FILE **file);
cli_exit cli_close(const cli_arguments *arguments, FILE *file, bool whole);
/** Closes a file.  @return 0, or the errno of what could not be written */
int cli_finish(FILE *file);
/** Results go to .csv and .h5, each once, and not to a file that is read. */
cli_exit cli_check_results(const cli_arguments *arguments);
/** Refuses a --checkpoint that is a result, a file that is read, or none that can be replaced. */
cli_exit cli_check_checkpoint(const cli_arguments *arguments);
/** Can a file be written that is made later? Nothing of one that is there changes. */
cli_exit cli_check_place(const char *file);
/** Writes a text as a quoted field of a CSV file; a quote in it is doubled [rfc4180, 2]. */
void cli_put_quoted(FILE *file, const char *text);

// ---- man.c

/** `linkwork help --man|--completion|--pages ...`: what the tables here say, as manual pages and as
 *  shell completion; argv[0] is the first of these words. */
cli_exit cli_man(int argc, char **argv);

// ---- progress.c

typedef struct cli_progress {
    const char *label;
    bool bar;     ///< stderr is a terminal and --quiet is not given
    double start; ///< simulated time at which the run began
    double shown; ///< wall clock of the last drawing [s]
} cli_progress;

/** Until cli_catch_signals, SIGINT, SIGTERM and SIGHUP end the program with a message: while runs are prepared. */
void cli_name_signals(void);
/** Makes SIGINT, SIGTERM and SIGHUP end a run instead of the program: within a second of processor time, else the
 *  program ends; a second signal ends it at once. */
void cli_catch_signals(void);
/** The same for one of several processes of a run: the first one ends the run, closes its files and ends all, within 4 s
 *  of wall time, since waiting for the others uses processor time; the others ignore these signals. */
void cli_signals_of_processes(bool first);
/** An lw_interrupt: has such a signal come? */
int cli_is_stopped(void *user);
cli_progress cli_progress_start(const char *label, bool quiet, double start);
/** An lw_progress: draws the bar, says whether a signal has come. */
int cli_progress_step(void *user, double time, double end);
void cli_progress_end(const cli_progress *progress);

// ---- json.c

typedef struct cli_json {
    FILE *file;
    int depth;
    bool empty; ///< nothing in the innermost object or array yet
} cli_json;

/** Members take a key in objects, NULL in arrays.  Numbers that are not finite become null. */
void json_open(cli_json *json, const char *key, char bracket);
void json_close(cli_json *json, char bracket);
void json_text(cli_json *json, const char *key, const char *value);
void json_bool(cli_json *json, const char *key, bool value);
void json_number(cli_json *json, const char *key, double value);
void json_integer(cli_json *json, const char *key, long value);
void json_array(cli_json *json, const char *key, const double *value, int n);

#endif

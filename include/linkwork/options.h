// options.h -- the options of a run: typed fields for C, and the same options as text for files and programs.
#ifndef LINKWORK_OPTIONS_H
#define LINKWORK_OPTIONS_H

#include <linkwork/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------- choices

/** Second half of the state of rcr.  Other formulations have one of the two; auto: that one, speeds for rcr. */
#define LW_STATE_LIST(X) X(AUTO, "auto") X(SPEEDS, "speeds") X(MOMENTA, "momenta")
/** Does the integrator end a step on each output row (stop), or are rows interpolated? */
#define LW_SAMPLE_MODE_LIST(X) X(STOP, "stop") X(INTERPOLATE, "interpolate")
/** When positions are restored to the constraint manifold: auto, when off by ten tolerances. */
#define LW_PROJECT_LIST(X) X(AUTO, "auto") X(NEVER, "never") X(ALWAYS, "always")
/** At singular positions: a step across each, on the same branch (pass); ordinary steps, which may leave it (turn); the run
 *  ends before the first one (stop). */
#define LW_SINGULAR_LIST(X) X(PASS, "pass") X(TURN, "turn") X(STOP, "stop")
/** Elimination order of dca, hdca and index3: comb is sequential; auto takes the cheapest. */
#define LW_PLAN_LIST(X) X(AUTO, "auto") X(COMB, "comb") X(BALANCED, "balanced") X(MIXED, "mixed")
/** Rates by compiled code, of runs and sweeps of the program; others call lw_sim_use_compiled. */
#define LW_COMPILED_LIST(X) X(OFF, "off") X(ON, "on") X(AUTO, "auto")

/** index3: a new factorisation in each Newton iteration (full), or that of the first one (modified). */
#define LW_INDEX3_NEWTON_LIST(X) X(FULL, "full") X(MODIFIED, "modified")
/** index3: metric of the projections of velocities and accelerations: minimum kinetic energy of the change (mass), or
 *  the matrix of the last Newton iteration (tangent). */
#define LW_INDEX3_PROJECTION_LIST(X) X(NONE, "none") X(MASS, "mass") X(TANGENT, "tangent")
/** index3: equal steps, steps by the local error, or auto: equal where a step is given. */
#define LW_INDEX3_CONTROL_LIST(X) X(AUTO, "auto") X(EQUAL, "equal") X(ERROR, "error")
/** index3: in real time every step does the same work. */
#define LW_INDEX3_MODE_LIST(X) X(OFFLINE, "offline") X(REAL_TIME, "real-time")
/** index3: Newton ends by the increments of positions (q), or of multipliers as well. */
#define LW_INDEX3_STOP_LIST(X) X(Q, "q") X(Q_LAMBDA, "q+lambda")
/** index3: accelerations and reactions of rows are those of the motion, of minimum norm, by a separate solution
 *  (motion); those that the step ended with, reactions with the multipliers of both Newton's iterations and the
 *  projection of accelerations (step); or reactions with those of Newton's iterations alone, as published (newton). */
#define LW_INDEX3_OUTPUT_LIST(X) X(MOTION, "motion") X(STEP, "step") X(NEWTON, "newton")

#define X(name, text) LW_STATE_##name,
typedef enum lw_state_kind { LW_STATE_LIST(X) LW_STATE_COUNT } lw_state_kind;
#undef X
#define X(name, text) LW_SAMPLE_##name,
typedef enum lw_sample_mode { LW_SAMPLE_MODE_LIST(X) LW_SAMPLE_MODE_COUNT } lw_sample_mode;
#undef X
#define X(name, text) LW_PROJECT_##name,
typedef enum lw_project { LW_PROJECT_LIST(X) LW_PROJECT_COUNT } lw_project;
#undef X
#define X(name, text) LW_SINGULAR_##name,
typedef enum lw_singular { LW_SINGULAR_LIST(X) LW_SINGULAR_COUNT } lw_singular;
#undef X
#define X(name, text) LW_PLAN_##name,
typedef enum lw_plan { LW_PLAN_LIST(X) LW_PLAN_COUNT } lw_plan;
#undef X
#define X(name, text) LW_COMPILED_##name,
typedef enum lw_compiled_use { LW_COMPILED_LIST(X) LW_COMPILED_COUNT } lw_compiled_use;
#undef X
#define X(name, text) LW_INDEX3_NEWTON_##name,
typedef enum lw_index3_newton { LW_INDEX3_NEWTON_LIST(X) LW_INDEX3_NEWTON_COUNT } lw_index3_newton;
#undef X
#define X(name, text) LW_INDEX3_PROJECTION_##name,
typedef enum lw_index3_projection {
    LW_INDEX3_PROJECTION_LIST(X) LW_INDEX3_PROJECTION_COUNT
} lw_index3_projection;
#undef X
#define X(name, text) LW_INDEX3_CONTROL_##name,
typedef enum lw_index3_control {
    LW_INDEX3_CONTROL_LIST(X) LW_INDEX3_CONTROL_COUNT
} lw_index3_control;
#undef X
#define X(name, text) LW_INDEX3_MODE_##name,
typedef enum lw_index3_mode { LW_INDEX3_MODE_LIST(X) LW_INDEX3_MODE_COUNT } lw_index3_mode;
#undef X
#define X(name, text) LW_INDEX3_STOP_##name,
typedef enum lw_index3_stop { LW_INDEX3_STOP_LIST(X) LW_INDEX3_STOP_COUNT } lw_index3_stop;
#undef X
#define X(name, text) LW_INDEX3_OUTPUT_##name,
typedef enum lw_index3_output { LW_INDEX3_OUTPUT_LIST(X) LW_INDEX3_OUTPUT_COUNT } lw_index3_output;
#undef X

/** How index3 does a step [malczyk2019].  Defaults are those of lw_options_default. */
typedef struct lw_index3_options {
    double
        regularisation; ///< eps of a row, relative to the mean diagonal of its joint's block; 1e-14 to 1e-2
    int iterations; ///< Newton iterations at most; 0: 6, in real time 3
    double
        tolerance; ///< largest increment of a body that ends Newton [m]; 0: all iterations; not used in real time
    int coordinates;      ///< 6 per body, or 7: Euler parameters
    double penalty;       ///< absolute: eps = 1/penalty; 0: relative
    double normalisation; ///< penalty of |p| = 1 with Euler parameters; 0: `penalty`
    int tangent;          ///< 0: inertia; 1: and symmetric geometric stiffness; 2: and all of it
    lw_index3_newton newton;
    lw_index3_projection projection;
    lw_index3_control control;
    lw_index3_mode mode;
    lw_index3_stop stop;
    lw_index3_output output;
} lw_index3_options;

// ---------------------------------------------------------------------------------------- options

/** lw_options.sample: every step of the integrator is a row. */
#define LW_SAMPLE_STEPS 0.0
/** lw_options.kappa: chosen from the model; no decay. */
#define LW_KAPPA_AUTO 0.0
#define LW_KAPPA_NONE (-1.0)

/** Every option of a run: key (of the program `--key`, of the file `simulation: {key: }`, '-' for '_' in the
 *  program), type, default as text, tier (BASIC: what everyone needs; EXPERT), name of the value, help. */
#define LW_OPTION_LIST(X)                                                                          \
    X(formulation, NAME, "auto", BASIC, "NAME",                                                    \
      "equations of motion: auto or a name of `linkwork info`")                                    \
    X(integrator, NAME, "auto", BASIC, "NAME",                                                     \
      "time integrator: auto or a name of `linkwork info`")                                        \
    X(duration, REAL, "10", BASIC, "S", "simulated time [s]")                                      \
    X(step, REAL, "0", BASIC, "S",                                                                 \
      "fixed step, or largest step of adaptive integrators [s]; 0: none")                          \
    X(order, INTEGER, "0", BASIC, "N",                                                             \
      "order of rattle: 2, 4, 6, 8, of gauss: 4, 6, 8; 0: the lowest")                             \
    X(rtol, REAL, "1e-9", BASIC, "R", "relative tolerance of adaptive integrators")                \
    X(atol, REAL, "1e-9", BASIC, "A",                                                              \
      "absolute tolerance of coordinates and rates [m, rad, m/s, rad/s]")                          \
    X(atol_p, REAL, "0", EXPERT, "A",                                                              \
      "absolute tolerance of momenta; 0: atol times the joint's articulated inertia")              \
    X(state, STATE, "auto", EXPERT, "KIND",                                                        \
      "state of rcr: speeds or momenta; auto: what the formulation has, speeds for rcr")           \
    X(kappa, KAPPA, "auto", EXPERT, "RATE",                                                        \
      "rate at which hdca, and rcr with momenta, let cut impulses decay [1/s]; auto, none")        \
    X(independent, JOINTS, "auto", EXPERT, "JOINT,...",                                            \
      "independent coordinates of loops in rcr: joints of the tree, or JOINT.qK; auto: chosen by " \
      "pivots and changed when necessary")                                                         \
    X(sample, SAMPLE, "0.01", BASIC, "S",                                                          \
      "interval of the output rows [s], or `steps`: every step")                                   \
    X(columns, COLUMNS, "auto", BASIC, "PATTERN,...",                                              \
      "columns of results: names with * and ?, of reactions @F1, @F2, @body1, @body2, @MARKER; "   \
      "auto: all of the level")                                                                    \
    X(sample_mode, SAMPLE_MODE, "stop", EXPERT, "MODE",                                            \
      "stop: the integrator ends a step on each row; interpolate: rows are interpolated")          \
    X(baumgarte, GAINS, "0,0", EXPERT, "A,B",                                                      \
      "gains of lagrange [1/s]: phi'' + 2 A phi' + B^2 phi = 0; 0,0: none")                        \
    X(project, PROJECT, "auto", EXPERT, "WHEN",                                                    \
      "restore positions to the constraint manifold: auto, when off by ten tolerances; never; "    \
      "always, each step")                                                                         \
    X(singular, SINGULAR, "pass", EXPERT, "HOW",                                                   \
      "at singular positions: pass, straight on by a step across; turn, ordinary steps; stop, "    \
      "end the run before it")                                                                     \
    X(plan, PLAN, "auto", EXPERT, "KIND",                                                          \
      "elimination order of dca, hdca, index3, rattle: comb (sequential), balanced or mixed; "     \
      "auto: the cheapest")                                                                        \
    X(threads, INTEGER, "0", BASIC, "N",                                                           \
      "threads of a sweep; one run uses them in dca, hdca, index3, rattle, on trees in aba, "      \
      "momenta; 0: all for a sweep, 1 for one run")                                                \
    X(index3, INDEX3, "auto", EXPERT, "KEY=VALUE,...",                                             \
      "step of index3: regularisation, iterations, tolerance, coordinates=6|7, penalty, "          \
      "normalisation, tangent=0|1|2, newton=full|modified, projection=mass|tangent|none, "         \
      "control=auto|equal|error, mode=offline|real-time, "                                         \
      "stop=q|q+lambda, output=motion|step|newton")                                                \
    X(compiled, COMPILED, "off", EXPERT, "WHEN",                                                   \
      "rates by code that the system's compiler makes for this model: off, on, or auto: where "    \
      "the "                                                                                       \
      "run is long enough")                                                                        \
    X(max_steps, INTEGER, "0", EXPERT, "N", "give up after so many steps; 0: no limit")            \
    X(pace, REAL, "0", EXPERT, "R",                                                                \
      "simulated seconds per second of wall-clock time, 1: real time; 0: as fast as possible")

enum { LW_OPTION_STRING_SIZE = 512 }; ///< bytes that hold the text of any option

typedef struct lw_options {
#define LW_OPTION_NAME(key)                                                                        \
    char key[32]; // a name of lw_formulation_info, lw_integrator_info, or "auto"
#define LW_OPTION_REAL(key) double key;     // finite, >= 0
#define LW_OPTION_INTEGER(key) int64_t key; // >= 0
#define LW_OPTION_STATE(key) lw_state_kind key;
#define LW_OPTION_KAPPA(key) double key; // > 0 [1/s], LW_KAPPA_AUTO, LW_KAPPA_NONE
#define LW_OPTION_JOINTS(key) char key[LW_OPTION_STRING_SIZE];  // names with commas, or "auto"
#define LW_OPTION_COLUMNS(key) char key[LW_OPTION_STRING_SIZE]; // patterns with commas, or "auto"
#define LW_OPTION_SAMPLE(key) double key;                       // > 0 [s], LW_SAMPLE_STEPS
#define LW_OPTION_SAMPLE_MODE(key) lw_sample_mode key;
#define LW_OPTION_GAINS(key) double key[2]; // >= 0 [1/s]
#define LW_OPTION_PROJECT(key) lw_project key;
#define LW_OPTION_SINGULAR(key) lw_singular key;
#define LW_OPTION_PLAN(key) lw_plan key;
#define LW_OPTION_INDEX3(key) lw_index3_options key;
#define LW_OPTION_COMPILED(key) lw_compiled_use key;
#define X(key, type, fallback, tier, value, help) LW_OPTION_##type(key)
    LW_OPTION_LIST(X)
#undef X
#undef LW_OPTION_NAME
#undef LW_OPTION_REAL
#undef LW_OPTION_INTEGER
#undef LW_OPTION_STATE
#undef LW_OPTION_KAPPA
#undef LW_OPTION_JOINTS
#undef LW_OPTION_COLUMNS
#undef LW_OPTION_SAMPLE
#undef LW_OPTION_SAMPLE_MODE
#undef LW_OPTION_GAINS
#undef LW_OPTION_PROJECT
#undef LW_OPTION_SINGULAR
#undef LW_OPTION_PLAN
#undef LW_OPTION_INDEX3
#undef LW_OPTION_COMPILED
} lw_options;

/** The defaults. */
LW_API void lw_options_default(lw_options *options);
/** Sets one option by key ('-' and '_' are the same) from text.
 *  @return LW_ERR_ARGUMENT with the nearest known key or what was expected; *options is then unchanged */
LW_API lw_status lw_options_set(lw_options *options, const char *key, const char *value,
                                lw_error *error);

/** One option as text that lw_options_set reads back to the same value.
 *  @param text  [size] out, cut to fit      @return LW_ERR_ARGUMENT: there is no such key */
LW_API lw_status lw_options_get(const lw_options *options, const char *key, char *text,
                                size_t size);

typedef struct lw_option_info {
    const char *key, *value, *help; ///< as in LW_OPTION_LIST
    const char *fallback;           ///< default, as text
    bool is_real, is_integer;       ///< its text is a number
    bool expert;                    ///< tier
} lw_option_info;
LW_API int lw_option_count(void);
LW_API lw_option_info lw_option_at(int index); ///< all empty for an index out of range

#ifdef __cplusplus
}
#endif
#endif

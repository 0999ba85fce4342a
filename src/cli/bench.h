// bench.h -- what is timed by `linkwork bench`, and what comes of it.
#ifndef LWI_CLI_BENCH_H
#define LWI_CLI_BENCH_H

#include "cli/cli.h"
#include "cli/scene_model.h"
#include "cli/stopwatch.h"

#include <stdbool.h>

enum { BENCH_MAX_METHODS = 96 }; ///< of one case; of runs with all their settings

typedef struct bench_budget {
    double seconds; ///< per case and method
    int samples;    ///< 0: as the seconds allow
    int threads;
    bool compiled; ///< evaluations and runs: also by compiled code
} bench_budget;

typedef struct bench_result {
    const scene_case *of;
    const char *method;
    int bodies;
    /** One evaluation [s], or a simulated second [s/s]. */
    timing time;
    bool has_digest; ///< the method computes accelerations
    /** Of accelerations, of a batch: sum over the states, largest, first's, last's; of runs: angles at the end. */
    scene_digest digest;
    double energy_error; ///< falls: largest |E - E0| over the largest kinetic energy
    double tip;          ///< falls: height of the free end at last [m]
    double setting;      ///< runs: tolerance, or length of equal steps [s]
    double
        compiling; ///< compiled code: processor time of the compiler [s]; 0: it was compiled before
} bench_result;

/** Times every method.   @param results [BENCH_MAX_METHODS] out, *count of them */
lw_status bench_evaluations(const scene_case *of, bench_budget budget, bench_result *results,
                            int *count, lw_error *error);
/** Long paths: rates of the state by formulations, divide and conquer among them.  On several threads the clock counts,
 *  on one its processor time.   @param results [BENCH_MAX_METHODS] out, *count of them */
lw_status bench_rates(const scene_case *of, bench_budget budget, bench_result *results, int *count,
                      lw_error *error);
/** One evaluation of an instance where many are in lanes. */
lw_status bench_batch(const scene_case *of, bench_budget budget, bench_result *result,
                      lw_error *error);
/** Whole runs.   @param results [BENCH_MAX_METHODS] out, *count of them */
lw_status bench_run(const scene_case *of, bench_budget budget, bench_result *results, int *count,
                    lw_error *error);
lw_status bench_drop(const scene_case *of, bench_budget budget, bench_result *result,
                     lw_error *error);

/** The verb with a MODEL: bench_model.c. */
cli_exit bench_model(const cli_arguments *arguments);
/** Versions, processor, compiler: a line and an empty one, or members of an object. */
void bench_print_machine(void);
void bench_json_machine(cli_json *json);

#endif

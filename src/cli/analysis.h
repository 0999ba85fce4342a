// analysis.h -- what the verbs of analyses share: the model at a state, values of inputs.
#ifndef LWI_CLI_ANALYSIS_H
#define LWI_CLI_ANALYSIS_H

#include "cli/cli.h"

/** A model that starts at the state to be analysed. */
typedef struct cli_analysis {
    lw_model *model;
    lw_options options;
    double *inputs; ///< [inputs]
    double *q, *v;  ///< the state of --initial; NULL: the start of the model
    double *states; ///< likewise, of signals
    double time;    ///< of the state [s]
    bool balanced;  ///< the start is an equilibrium, which `equilibrium` describes
    lw_equilibrium equilibrium;
} cli_analysis;

/** Reads the model and the state of --initial; if `balance`, moves the model to the equilibrium. */
cli_exit cli_analysis_begin(const cli_arguments *arguments, bool balance, cli_analysis *analysis);
void cli_analysis_end(cli_analysis *analysis);
/** What lw_linearize gets for this state; valid as long as the analysis. */
lw_linear_desc cli_analysis_linear(const cli_arguments *arguments, const cli_analysis *analysis);
/** Should an analysis be made at the equilibrium?  By --at; `fallback` where it is not given. */
cli_exit cli_analysis_at(const cli_arguments *arguments, bool fallback, bool *balance);
/** The state in words: "the stable equilibrium", "the start". */
const char *cli_analysis_state(const cli_analysis *analysis);
/** The error of an analysis, with the place in the model's file, or the file. */
cli_exit cli_analysis_fail(const cli_arguments *arguments, lw_status status, lw_error *error);
/** Prints it, and the accelerations of a state that need be no equilibrium. */
void cli_print_state(const cli_analysis *analysis, const lw_linear *linear);
extern const char *const cli_stability[]; ///< [LW_STABLE...] names
/** Prints a line on what an analysis leaves out: switches, relays, events, and with `states` all states of signals. */
void cli_analysis_leaves_out(const lw_model *model, bool states);
/** Prints warnings of the equilibrium. */
void cli_analysis_warn(const lw_equilibrium *equilibrium);

#endif

// compiled.h -- runs with compiled rates: --compiled.
#ifndef LWI_CLI_COMPILED_H
#define LWI_CLI_COMPILED_H

#include "cli/cli.h"

/** lw_sim_create, and compiled rates as --compiled requires.
 *  @param compiled  out: to be destroyed after the simulation; NULL: none
 *  @param options   the formulation may be chosen */
cli_exit cli_compiled_create(const cli_arguments *arguments, const lw_model *model,
                             const lw_sim_desc *desc, lw_options *options, lw_sim **sim,
                             lw_compiled **compiled);
/** The same of all runs of a sweep, in lanes; `auto` takes what was compiled before. */
cli_exit cli_compiled_sweep(const cli_arguments *arguments, const lw_model *model,
                            const lw_batch_desc *desc, lw_options *options, lw_sweep **sweep,
                            lw_compiled **compiled);
/** Where no compiled rates are possible: an error if they are required, a line where the choice is free.
 *  @param options  without them afterwards */
cli_exit cli_compiled_exclude(const cli_arguments *arguments, lw_options *options, const char *why);
/** One line about it. */
void cli_compiled_print(const lw_compiled *compiled);
/** What could not be compiled during the runs of a sweep, once. */
void cli_compiled_warn(const cli_arguments *arguments, const lw_compiled *compiled);

#endif

// modes.h -- modes of one model, and of several.
#ifndef LWI_CLI_MODES_H
#define LWI_CLI_MODES_H

#include "cli/analysis.h"

/** The modes about the state of the analysis; the caller destroys both. */
cli_exit cli_modes_of(const cli_arguments *arguments, const cli_analysis *analysis,
                      lw_linear **linear, lw_modes **modes);
/** A page in which they move, to the file of -o. */
cli_exit cli_modes_page(const cli_arguments *arguments, const cli_analysis *analysis,
                        const lw_modes *modes);
/** Of all cases of --vary. */
cli_exit cli_modes_vary(const cli_arguments *arguments);

#endif

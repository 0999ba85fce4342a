// ranks.h -- one run by several processes that `mpirun` has started (docs/ranks.md).
//
// MPI is in a separate file, linkwork-mpi.so, that the program loads when --ranks is given; without it nothing of the
// program depends on MPI.
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "cli/cli.h"

/** What linkwork-mpi.so has. */
typedef struct cli_mpi {
    const char *version;           ///< of Linkwork
    int (*begin)(lw_ranks *ranks); ///< 0; otherwise there is no MPI to begin with
    int (*largest)(int value);     ///< of all processes
    /** Messages and bytes sent: of all processes, and of the one that has sent most; to the first process. */
    void (*totals)(double messages[2], double bytes[2]);
    void (*end)(void);
    void (*abort)(int code); ///< ends all processes
} cli_mpi;

#define CLI_MPI_SYMBOL "cli_mpi_calls"

typedef struct cli_ranks {
    lw_ranks of;
    const cli_mpi *mpi;
    bool lost; ///< this process cannot continue, and the others would wait for it
    double messages[2], bytes[2]; ///< as in `totals`, of the first process
} cli_ranks;

/** Begins; processes but the first one write nothing: `arguments` are changed. */
cli_exit cli_ranks_begin(cli_ranks *ranks, cli_arguments *arguments);
/** Whether all processes have come so far: the exit code of any that has not. */
cli_exit cli_ranks_agree(const cli_ranks *ranks, cli_exit code);
/** Ends, for all processes if this one is lost. */
void cli_ranks_end(cli_ranks *ranks, cli_exit code);

#endif

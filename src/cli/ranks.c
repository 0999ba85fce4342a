// ranks.c -- begin and end of a run by several processes (ranks.h).
#include "cli/ranks.h"

#include <dlfcn.h>
#include <string.h>

// What of the command line is of one process.
static const char *refused(const cli_arguments *a)
{
    return a->batch        ? "--batch"
           : a->checkpoint ? "--checkpoint"
           : a->resume     ? "--resume"
           : a->real_time  ? "--real-time"
                           : NULL;
}

static const cli_mpi *load(void)
{
    void *file =
        dlopen("linkwork-mpi.so", RTLD_NOW | RTLD_GLOBAL); // plugins of MPI need its symbols
    return file ? dlsym(file, CLI_MPI_SYMBOL) : NULL;
}

static cli_exit load_mpi(cli_ranks *ranks)
{
    const cli_mpi *mpi = load();
    if (!mpi)
        return cli_complain(CLI_FAILED,
                            "--ranks: %s; this program was built without MPI "
                            "(tools/install-deps --mpi, then build again), or its MPI is missing",
                            dlerror());
    if (strcmp(mpi->version, lw_version()) != 0)
        return cli_complain(CLI_FAILED,
                            "--ranks: linkwork-mpi.so is of version %.20s, this program of %s; "
                            "expected those of one build",
                            mpi->version, lw_version());
    ranks->mpi = mpi;
    return CLI_DONE;
}

cli_exit cli_ranks_begin(cli_ranks *ranks, cli_arguments *arguments)
{
    const char *other = refused(arguments);
    if (other) return cli_complain(CLI_USE, "--ranks and %s exclude one another", other);
    const cli_exit code = load_mpi(ranks);
    if (code) return code;
    if (ranks->mpi->begin(&ranks->of)) {
        ranks->mpi = NULL;
        return cli_complain(CLI_FAILED, "--ranks: MPI cannot begin; expected "
                                        "`mpirun -n P linkwork run MODEL --ranks`");
    }
    if (ranks->of.rank == 0) return CLI_DONE;
    arguments->noutput = 0;
    arguments->events = NULL;
    arguments->quiet = true;
    arguments->json = false;
    if (!freopen("/dev/null", "w", stderr))
        return CLI_FAILED; // the first process has the same messages
    return CLI_DONE;
}

cli_exit cli_ranks_agree(const cli_ranks *ranks, cli_exit code)
{
    if (!ranks) return code;
    const int all = ranks->mpi->largest(code);
    if (!all || code) return code;
    cli_complain((cli_exit)all,
                 "--ranks: another process has failed with exit status %d; expected the same files "
                 "and program on all machines",
                 all);
    return (cli_exit)all;
}

void cli_ranks_end(cli_ranks *ranks, cli_exit code)
{
    if (!ranks->mpi) return;
    if (ranks->lost)
        ranks->mpi->abort(code);
    else
        ranks->mpi->end();
    ranks->mpi = NULL;
}

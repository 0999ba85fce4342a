// ranks_mpi.c -- messages between processes by MPI: the file linkwork-mpi.so (ranks.h).
#include "cli/ranks.h"

#include <limits.h>
#include <mpi.h>

static struct counts {
    double messages, bytes;
} sent;

// Longer messages are sent in pieces: MPI counts by int.
enum { PIECE = INT_MAX / 2 };

static int piece(size_t left)
{
    return left > PIECE ? PIECE : (int)left;
}

// Its name is that of bench/ranks/ranks.py, which counts instructions without those of MPI.
static int exchange_by_mpi(void *user, int to, const void *out, size_t out_size, int from, void *in,
                           size_t in_size)
{
    const char *source = out;
    char *sink = in;
    (void)user;
    if (to >= 0) sent.messages++, sent.bytes += (double)out_size;
    do {
        const int n_out = piece(out_size), n_in = piece(in_size);
        const int failed = MPI_Sendrecv(source, n_out, MPI_BYTE, to < 0 ? MPI_PROC_NULL : to, 0,
                                        sink, n_in, MPI_BYTE, from < 0 ? MPI_PROC_NULL : from, 0,
                                        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (failed) return failed;
        source = source ? source + n_out : NULL, out_size -= (size_t)n_out;
        sink = sink ? sink + n_in : NULL, in_size -= (size_t)n_in;
        if (!out_size) to = -1;
        if (!in_size) from = -1;
    } while (out_size || in_size);
    return 0;
}

static int begin(lw_ranks *ranks)
{
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given)) return 1;
    *ranks = (lw_ranks){.size = sizeof *ranks, .exchange = exchange_by_mpi};
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    return 0;
}

static int largest(int value)
{
    int all = value;
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void totals(double messages[2], double bytes[2])
{
    const double own[2] = {sent.messages, sent.bytes};
    double sum[2] = {0}, largest_of[2] = {0};
    MPI_Reduce(own, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own, largest_of, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    messages[0] = sum[0], messages[1] = largest_of[0];
    bytes[0] = sum[1], bytes[1] = largest_of[1];
}

static void end(void)
{
    MPI_Finalize();
}

static void give_up(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define VERSION STRING(LW_VERSION_MAJOR) "." STRING(LW_VERSION_MINOR) "." STRING(LW_VERSION_PATCH)

extern const cli_mpi cli_mpi_calls;
const cli_mpi cli_mpi_calls = {VERSION, begin, largest, totals, end, give_up};

// test_hdf5_kill.c -- a writer that is killed at any time leaves a file with all rows it flushed.
//
// usage: test_hdf5_kill [KILLS [SEED]]
//
// A child writes rows of known numbers as fast as it can, flushes each or some hundreds at a time,
// and reports through a pipe how many are flushed.  It is killed after a random time; then every
// number of its file is read.
#include "io/result/hdf5_file.h"

#include <linkwork/linkwork.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NCOLUMN = 41, NX = 13 };
static const char path[] = "test_hdf5_kill.h5";

static double number(long row, int i)
{
    return (double)row * 1024 + i;
}

static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void make_names(char names[NCOLUMN][32], const char *list[NCOLUMN])
{
    static const char *const what[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz"};
    snprintf(names[0], 32, "time");
    for (int i = 1; i < NCOLUMN; i++)
        snprintf(names[i], 32, "body.b%d.%s", (i - 1) / 10, what[(i - 1) % 10]);
    for (int i = 0; i < NCOLUMN; i++) list[i] = names[i];
}

// Writes until it is killed; sends every count of flushed rows through the pipe.
static int write_forever(int pipe, bool each)
{
    static char names[NCOLUMN][32];
    const char *list[NCOLUMN];
    const lwi_result_meta meta = {.formulation = "test", .layout = "speed 13", .nx = NX};
    lwi_result_columns columns;
    lwi_hdf5_writer *writer;
    double row[NCOLUMN], x[NX];
    make_names(names, list);
    if (lwi_result_columns_of_names(list, NCOLUMN, &columns) != LW_OK) return 1;
    if (lwi_hdf5_create(path, &columns, &meta, 0, each ? 1e-9 : 1e-2, &writer, NULL)) return 1;
    for (long k = 0;; k++) {
        for (int i = 0; i < NCOLUMN; i++) row[i] = number(k, i);
        for (int i = 0; i < NX; i++) x[i] = number(k, -i);
        if (lwi_hdf5_row(writer, row, x, NULL) != LW_OK) return 1;
        const long flushed = each ? k + 1 : k - 255; // a block of 256 is flushed when it is full
        if (flushed > 0 && write(pipe, &flushed, sizeof flushed) < 0) return 1;
    }
}

// The last count received.  Reads continuously, so that the child never blocks.
static long follow(int pipe, double seconds, pid_t child)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long nanoseconds = end.tv_nsec + (long)(seconds * 1e9);
    end.tv_sec += nanoseconds / 1000000000, end.tv_nsec = nanoseconds % 1000000000;
    long counts[512], last = 0;
    bool killed = false;
    for (;;) {
        const ssize_t got = read(pipe, counts, sizeof counts);
        if (got > 0) last = counts[(size_t)got / sizeof *counts - 1];
        if (got == 0 || (got < 0 && errno != EINTR)) return last;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (killed || now.tv_sec < end.tv_sec ||
            (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec))
            continue;
        kill(child, SIGKILL);
        killed = true;
    }
}

static int complain(const char *what, long a, long b)
{
    printf("%s: %ld, %ld\n", what, a, b);
    return 1;
}

static int check_file(long flushed)
{
    lw_result *r;
    lw_error error;
    if (lw_result_open(path, &r, &error) != LW_OK) {
        if (!flushed) return 0; // killed before the first flush
        printf("%s\n", error.text);
        return 1;
    }
    const long rows = lw_result_row_count(r);
    int failed = rows < flushed ? complain("rows are missing", rows, flushed) : 0;
    double *values = malloc((size_t)(rows + 1) * sizeof *values), x[NX], t;
    if (!values || lw_result_column_count(r) != NCOLUMN) failed = complain("columns", 0, NCOLUMN);
    for (int i = 0; i < NCOLUMN && !failed; i++) {
        if (lw_result_read(r, i, 0, rows, values, &error) != LW_OK)
            failed = (printf("%s\n", error.text), 1);
        for (long k = 0; k < rows && !failed; k++)
            if (values[k] != number(k, i)) failed = complain("wrong number", k, i);
    }
    for (long k = rows - 1; k >= 0 && k > rows - 300 && !failed; k--) {
        if (lw_result_read_state(r, k, &t, x, &error) != LW_OK)
            failed = (printf("%s\n", error.text), 1);
        for (int i = 0; i < NX && !failed; i++)
            if (x[i] != number(k, -i)) failed = complain("wrong state", k, i);
    }
    free(values);
    lw_result_close(r);
    return failed;
}

static int one_kill(uint64_t *seed, long *rows)
{
    int ends[2];
    const bool each = random_bits(seed) % 2;
    const double seconds = (double)(random_bits(seed) % 1000) * 6e-5;
    remove(path);
    if (pipe(ends)) return complain("pipe", errno, 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(write_forever(ends[1], each));
    }
    close(ends[1]);
    *rows = follow(ends[0], seconds, child);
    close(ends[0]);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return complain("child", errno, 0);
    if (!WIFSIGNALED(status)) return complain("the writer ended by itself", WEXITSTATUS(status), 0);
    return check_file(*rows);
}

int main(int argc, char **argv)
{
    const long kills = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    long min = -1, max = 0, empty = 0;
    for (long k = 0; k < kills; k++) {
        long rows = 0;
        const uint64_t from = seed;
        if (one_kill(&seed, &rows)) {
            printf("kill %ld of %ld, seed %llu\n", k, kills, (unsigned long long)from);
            return 1;
        }
        min = min < 0 || rows < min ? rows : min;
        max = rows > max ? rows : max;
        empty += rows == 0;
    }
    printf("%ld kills, flushed rows from %ld to %ld, none in %ld: every file has all of them\n",
           kills, min, max, empty);
    remove(path);
    return 0;
}

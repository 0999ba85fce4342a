// progress.c -- a bar while a run lasts, and its end by a signal.
#include "cli/cli.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped; // the one thing a signal handler may touch

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

void cli_catch_signals(void)
{
    // SA_RESETHAND: a second Ctrl-C ends the program the usual way.
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_start(const char *label, bool quiet, double start)
{
    return (cli_progress){label, !quiet && isatty(STDERR_FILENO), start, wall_clock()};
}

int cli_progress_step(void *user, double time, double end)
{
    enum { WIDTH = 40 };
    const double every = 0.1; // s between drawings: smooth to the eye, free of cost
    cli_progress *progress = user;
    if (!progress->bar || wall_clock() - progress->shown < every) return stopped;

    progress->shown = wall_clock();
    const double span = end - progress->start;
    const double part = span > 0 ? (time - progress->start) / span : 1;
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < part * WIDTH ? '#' : '.';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s [%s] %3.0f %%  t = %.4g s ", progress->label, bar, 100 * part, time);
    return stopped;
}

void cli_progress_end(const cli_progress *progress)
{
    if (progress->bar) fputs("\r\033[K", stderr); // back to the margin, clear the line
}

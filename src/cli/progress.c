// progress.c -- a bar while a run lasts, and its end by a signal.
#define _XOPEN_SOURCE 700 // setitimer
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// A run that a signal stops ends between two steps, with a last row.  If it has not come to its end after so much
// processor time, or wall time if it waits for a disk, the program ends as if it were killed.  The first check is after
// less than a second, the others follow faster.  Processes that wait for one another use processor time while they wait:
// of these only the wall time counts.
#define PATIENCE_PROCESSOR 0.25                     // s
#define PATIENCE_WALL 4                             // s
enum { FIRST_CHECK = 700000, NEXT_CHECK = 100000 }; // us

static volatile sig_atomic_t stopped; // the signal; 0: none
static bool by_wall;                  // only the wall time counts
static struct timespec processor_then, wall_then;

// The default action: the end of the program.  From a handler of the same signal, when that returns.
static void end_program(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static double since(clockid_t clock, const struct timespec *then)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

// SIGALRM after `first` microseconds and then every `next`; 0: never.  The system call is safe in signal handlers.
static void set_timer(int first, int next)
{
    const struct itimerval timer = {.it_value.tv_usec = first, .it_interval.tv_usec = next};
    setitimer(ITIMER_REAL, &timer, NULL);
}

// Functions called by these two are safe in signal handlers.
static void on_alarm(int number)
{
    static const char text[] =
        "\nlinkwork: ended within a step; results have the rows up to the last flush\n";
    (void)number;
    if ((by_wall || since(CLOCK_PROCESS_CPUTIME_ID, &processor_then) < PATIENCE_PROCESSOR) &&
        since(CLOCK_MONOTONIC, &wall_then) < PATIENCE_WALL)
        return;
    if (write(STDERR_FILENO, text, sizeof text - 1) >= 0) end_program(stopped);
    end_program(stopped);
}

static void on_signal(int number)
{
    if (stopped) {
        end_program(number); // a second Ctrl-C
        return;
    }
    stopped = number;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor_then);
    clock_gettime(CLOCK_MONOTONIC, &wall_then);
    set_timer(FIRST_CHECK, NEXT_CHECK);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    if (number == SIGALRM) action.sa_flags = SA_RESTART; // what is being written goes to its end
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void on_early_signal(int number)
{
    static const char text[] = "\nlinkwork: stopped before the first run; nothing is written\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) >= 0) end_program(number);
    end_program(number);
}

void cli_name_signals(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction action;
        if (!sigaction(number[i], NULL, &action) && action.sa_handler == SIG_DFL)
            handle(number[i], on_early_signal);
    }
}

void cli_catch_signals(void)
{
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    struct sigaction hangup;
    if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN) // not below nohup
        handle(SIGHUP, on_signal);
}

void cli_signals_of_processes(bool first)
{
    if (first) {
        by_wall = true;
        cli_catch_signals();
        return;
    }
    handle(SIGINT, SIG_IGN);
    handle(SIGTERM, SIG_IGN);
    handle(SIGHUP, SIG_IGN);
}

int cli_is_stopped(void *user)
{
    (void)user;
    return stopped != 0;
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
    if (!progress->bar || wall_clock() - progress->shown < every) return stopped != 0;

    progress->shown = wall_clock();
    const double span = end - progress->start;
    const double part = span > 0 ? (time - progress->start) / span : 1;
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < part * WIDTH ? '#' : '.';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s [%s] %3.0f %%  t = %.4g s ", progress->label, bar, 100 * part, time);
    return stopped != 0;
}

void cli_progress_end(const cli_progress *progress)
{
    set_timer(0, 0);                              // the run has ended in time; its files are closed
    if (progress->bar) fputs("\r\033[K", stderr); // back to the margin, clear the line
}

// plant.c -- a mechanism in real time behind a socket: measurements out, torques in, one step in
// between.
//
//     hil_plant MODEL PORT STEPS [lockstep]
//
// Every millisecond: take the newest torque, step, wait for the clock, send what a sensor would
// see. With `lockstep` the plant waits for the answer to each measurement instead of for the clock;
// then the motion does not depend on how fast the machine is.
//
// Between the first step and the last nothing here or in the library takes memory or prints.
#define _GNU_SOURCE // mlockall
#include "link.h"

#include <linkwork/linkwork.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define STEP 1e-3                                                        // [s]
enum { PATIENCE = 20, STEPS_PER_SECOND = 1000, MAX_STEPS = 1000000000 }; // 11 days

typedef struct plant {
    lw_model *model;
    lw_sim *sim;
    int motor;         // input
    int crank, rocker; // where their hinges' angles are in q
    int crank_speed;   // in qd
    int socket;
    bool lockstep;
    long steps, answered;  // commands that came in time for a step
    long late;             // steps that ended behind the clock
    double behind, astray; // by how much at most [s]; |rocker - crank|, which are parallel [rad]
    double slowest;        // crank speed over the last tenth of the run
} plant;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double when)
{
    const double whole = floor(when);
    const struct timespec t = {(time_t)whole, (long)(1e9 * (when - whole))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {}
}

// ------------------------------------------------------------------------------------------- model

static lw_status load(plant *p, const char *path, lw_error *error)
{
    lw_options options;
    lw_joint crank, rocker;
    lw_options_default(&options);
    lw_status status = lw_model_read(path, NULL, &p->model, &options, error);
    if (status == LW_OK) status = lw_options_set(&options, "formulation", "index3", error);
    if (status == LW_OK) status = lw_options_set(&options, "index3", "mode=real-time", error);
    if (status == LW_OK) status = lw_options_set(&options, "step", "0.001", error);
    if (status == LW_OK)
        status = lw_sim_create(p->model, &(lw_sim_desc){.options = &options}, &p->sim, error);
    if (status != LW_OK) return status;
    // names once, numbers from then on
    status = lw_model_find_input(p->model, "motor", &p->motor);
    if (status == LW_OK) status = lw_model_find_joint(p->model, "A", &crank);
    if (status == LW_OK) status = lw_model_find_joint(p->model, "D", &rocker);
    if (status != LW_OK) return status;
    p->crank = lw_model_joint(p->model, crank).q_first;
    p->crank_speed = lw_model_joint(p->model, crank).v_first;
    p->rocker = lw_model_joint(p->model, rocker).q_first;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ socket

static bool listen_at(plant *p, int port)
{
    struct sockaddr_in self = hil_address(port), other;
    socklen_t size = sizeof self;
    hil_command hello;
    p->socket = hil_socket(PATIENCE);
    if (p->socket < 0 || bind(p->socket, (struct sockaddr *)&self, sizeof self) != 0 ||
        getsockname(p->socket, (struct sockaddr *)&self, &size) != 0)
        return false;
    printf("port         %d\n", ntohs(self.sin_port));
    fflush(stdout);
    return hil_receive(p->socket, &hello, sizeof hello, 0, &other) == (ssize_t)sizeof hello &&
           connect(p->socket, (struct sockaddr *)&other, sizeof other) == 0;
}

static bool report(plant *p, long k, bool last)
{
    const lw_observation *o;
    if (lw_sim_observe(p->sim, LW_OBSERVE_TWIST, &o) != LW_OK) return false;
    const hil_measurement m = {.step = (uint64_t)k,
                               .last = last,
                               .time = o->time,
                               .angle = o->q[p->crank],
                               .speed = o->qd[p->crank_speed]};
    p->astray = fmax(p->astray, fabs(o->q[p->rocker] - o->q[p->crank]));
    if (k > p->steps - p->steps / 10) p->slowest = fmin(p->slowest, m.speed);
    return send(p->socket, &m, sizeof m, 0) == (ssize_t)sizeof m;
}

// The newest command there is; in lockstep the answer to measurement k.
static bool take_command(plant *p, long k)
{
    hil_command c;
    bool any = false;
    for (;;) {
        const int how = p->lockstep && !any ? 0 : MSG_DONTWAIT;
        const ssize_t n = hil_receive(p->socket, &c, sizeof c, how, NULL);
        if (n < 0 && errno == ECONNREFUSED) return false; // the controller is gone
        if (n != (ssize_t)sizeof c) break;
        if (p->lockstep && c.step != (uint64_t)k) continue;
        any = true;
        if (lw_sim_set_input(p->sim, p->motor, c.torque) != LW_OK) return false;
        if (p->lockstep) break;
    }
    p->answered += any;
    return any || !p->lockstep; // without news the motor holds its torque
}

// -------------------------------------------------------------------------------------------- loop

static bool run(plant *p)
{
    const double began = now();
    if (!report(p, 0, false)) return false;
    for (long k = 0; k < p->steps; k++) {
        if (!take_command(p, k)) return false;
        // k / 1000, not k times 0.001: no round-off gathers
        if (lw_sim_step(p->sim, (double)(k + 1) / STEPS_PER_SECOND) != LW_OK) return false;
        const double due = began + (double)(k + 1) / STEPS_PER_SECOND, behind = now() - due;
        if (!p->lockstep && behind <= 0) wait_until(due);
        p->late += behind > 0;
        p->behind = fmax(p->behind, behind);
        if (!report(p, k + 1, k + 1 == p->steps)) return false;
    }
    return true;
}

static void tell(const plant *p)
{
    lw_step_times t;
    lw_sim_times(p->sim, &t);
    printf("steps        %ld of %g s, %ld with a new torque\n", t.steps, STEP, p->answered);
    printf("step times   %.3g s (median), %.3g s (99.9 %%), %.3g s at most; %ld too long\n",
           t.median, t.p999, t.max, t.slow);
    if (!p->lockstep) printf("pace         %ld late, by at most %.3g s\n", p->late, p->behind);
    printf("crank        at least %.4f rad/s in the last tenth; off the parallel by %.1e rad\n",
           p->slowest, p->astray);
}

int main(int argc, char **argv)
{
    const bool lockstep = argc == 5 && !strcmp(argv[4], "lockstep");
    double port, steps;
    if (argc != 4 && !lockstep) {
        fprintf(stderr, "usage: hil_plant MODEL PORT STEPS [lockstep]\n");
        return 2;
    }
    if (!hil_number("hil_plant", "PORT", argv[2], 0, 65535, true, &port) || // 0: any that is free
        !hil_number("hil_plant", "STEPS", argv[3], 1, MAX_STEPS, true, &steps))
        return 2;
    plant p = {.socket = -1, .steps = (long)steps, .slowest = HUGE_VAL, .lockstep = lockstep};
    lw_error error = {.text = ""};
    const lw_status status = load(&p, argv[1], &error);
    bool done = false;
    if (status != LW_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], error.text[0] ? error.text : lw_status_text(status));
    } else if (!listen_at(&p, (int)port)) {
        perror("hil_plant: no controller");
    } else {
        // Pages that stay, where that is allowed; and SCHED_FIFO by `chrt -f 50 hil_plant ...`
        mlockall(MCL_CURRENT | MCL_FUTURE);
        done = run(&p);
        if (!done)
            fprintf(stderr, "hil_plant: ended at t = %g s: %s\n", lw_sim_time(p.sim),
                    lw_sim_error(p.sim)->text[0] ? lw_sim_error(p.sim)->text : "no answer");
        tell(&p);
    }
    if (p.socket >= 0) close(p.socket);
    lw_sim_destroy(p.sim);
    lw_model_destroy(p.model);
    return done ? 0 : 1;
}

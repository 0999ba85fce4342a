// controller.c -- holds the crank at a speed: a second process that knows nothing of the mechanism.
//
//     hil_controller PORT [SPEED]
//
// In a laboratory this is a circuit board; it only sees angles and speeds and answers with torques.
#include "link.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE = 20 }; // seconds without a measurement

// Proportional and integral gain [N m s, N m], largest torque of the motor [N m].
static const double gain = 20, integral_gain = 400, most = 60;
static const double fastest = 100; // that a crank may be asked for [rad/s]: it turns in 60 steps

static double control(const hil_measurement *m, double wanted, double *before, double *sum)
{
    const double dt = m->time - *before, off = wanted - m->speed;
    *before = m->time;
    const double torque = gain * off + integral_gain * (*sum + off * dt);
    if (torque > most) return most; // the integral waits while the motor gives all it has
    if (torque < -most) return -most;
    *sum += off * dt;
    return torque;
}

// Says where the controller is until the plant, which may begin later, answers with where it is.
static bool meet(int s, hil_measurement *m)
{
    const hil_command hello = {0, 0};
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i < 10 * PATIENCE; i++) {
        send(s, &hello, sizeof hello, 0);
        if (hil_receive(s, m, sizeof *m, 0, NULL) == (ssize_t)sizeof *m) return true;
        if (errno != ECONNREFUSED) return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

// The next measurement.  A plant that has ended refuses answers, and the refusal comes before what it sent
// until then, its last one among it: that is read first.
static bool receive(int s, hil_measurement *m)
{
    ssize_t n = hil_receive(s, m, sizeof *m, 0, NULL);
    if (n < 0 && errno == ECONNREFUSED) n = hil_receive(s, m, sizeof *m, MSG_DONTWAIT, NULL);
    return n == (ssize_t)sizeof *m;
}

int main(int argc, char **argv)
{
    double port, wanted = 3;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: hil_controller PORT [SPEED]\n");
        return 2;
    }
    if (!hil_number("hil_controller", "PORT", argv[1], 1, 65535, true, &port) ||
        (argc > 2 &&
         !hil_number("hil_controller", "SPEED", argv[2], -fastest, fastest, false, &wanted)))
        return 2;
    const struct sockaddr_in plant = hil_address((int)port);
    const int s = hil_socket(PATIENCE);
    if (s < 0 || connect(s, (const struct sockaddr *)&plant, sizeof plant) != 0) {
        perror("hil_controller");
        return 1;
    }
    double before = 0, sum = 0;
    hil_command command = {0, 0};
    hil_measurement measured = {0, 0, 0, 0, 0};
    long answered = 0;
    for (bool got = meet(s, &measured); got; got = receive(s, &measured)) {
        if (measured.last) {
            printf("controller   %ld measurements answered\n", answered);
            close(s);
            return 0;
        }
        command.step = measured.step;
        command.torque = control(&measured, wanted, &before, &sum);
        send(s, &command, sizeof command, 0);
        answered++;
    }
    perror("hil_controller: nothing came for long");
    close(s);
    return 1;
}

// link.h -- what plant and controller send each other: one datagram each way per step, on the
// loopback.
//
// Both run on one machine, so numbers go as they lie in memory.
#ifndef HIL_LINK_H
#define HIL_LINK_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/** Plant -> controller. */
typedef struct hil_measurement {
    uint64_t step;
    uint64_t last;       ///< 1: no more follow
    double time;         ///< [s]
    double angle, speed; ///< of the crank [rad, rad/s]
} hil_measurement;

/** Controller -> plant.  Step 0 says where the controller is. */
typedef struct hil_command {
    uint64_t step; ///< of the measurement that it answers
    double torque; ///< [N m]
} hil_command;

/** The whole text as a number from `least` to `most`; else false, having said what `what` was given as. */
static inline bool hil_number(const char *program, const char *what, const char *text, double least,
                              double most, bool whole, double *number)
{
    char *end;
    const double x = strtod(text, &end);
    if (end != text && !*end && x >= least && x <= most && (!whole || (double)(long)x == x)) {
        *number = x;
        return true;
    }
    fprintf(stderr, "%s: %s is '%s', expected a %s from %.10g to %.10g\n", program, what, text,
            whole ? "whole number" : "number", least, most);
    return false;
}

static inline struct sockaddr_in hil_address(int port)
{
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/** A socket whose reads give up after so many seconds; -1: none. */
static inline int hil_socket(int patience)
{
    const struct timeval limit = {.tv_sec = patience};
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    if (s >= 0 && setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0) return s;
    if (s >= 0) close(s);
    return -1;
}

/** recvfrom() that goes on when the process was stopped for a while. */
static inline ssize_t hil_receive(int s, void *datagram, size_t size, int how,
                                  struct sockaddr_in *from)
{
    ssize_t n;
    do {
        socklen_t length = sizeof *from;
        n = recvfrom(s, datagram, size, how, (struct sockaddr *)from, from ? &length : NULL);
    } while (n < 0 && errno == EINTR);
    return n;
}

#endif

// light_chain.h -- a crank and rods with pieces that have no mass, next to none, that of a point or of a thin rod.
#ifndef LWT_LIGHT_CHAIN_H
#define LWT_LIGHT_CHAIN_H

#include "support/given.h"

/** @param frail   mass and inertia of the bodies `frail` and `tip`
 *  @param bodies  further ones, lines of the model file; as well @param joints, of which one holds `tip` */
static inline lw_model *lwt_light_chain(const char *frail, const char *bodies, const char *joints)
{
    char text[1800];
    snprintf(
        text, sizeof text,
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "bodies:\n"
        "  A: {mass: 1, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
        "  frail: {%s, position: [1.1, 0.1, 0]}\n"
        "  B: {mass: 2, inertia: [0.02, 0.2, 0.2, 0, 0, 0], position: [1.7, 0.2, 0]}\n"
        "  tip: {%s, position: [2.2, 0.3, 0.1]}\n"
        "%s"
        "joints:\n"
        "  base: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1], qd: [1]}\n"
        "  u: {type: revolute, between: [A, frail], at: [1, 0, 0], axis: [0, 1, 0], qd: [-2]}\n"
        "  v: {type: revolute, between: [frail, B], at: [1.2, 0.2, 0], axis: [0, 0.1, 1], "
        "qd: [1.5]}\n"
        "%s",
        frail, frail, bodies, joints);
    return lwt_yaml(text);
}

#endif

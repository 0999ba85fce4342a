// net_cases.h -- mechanisms of long bars: each a row of rods on hinges with axes in all directions.
#ifndef LWT_NET_CASES_H
#define LWT_NET_CASES_H

#include "support/mechanism.h"
#include "tree/chain_cases.h"

typedef struct lwt_net {
    lw_builder *builder;
    uint64_t seed;
    bool planar;      ///< all axes along z, all points in one plane
    double stiffness; ///< of the hinges
    double rotor;     ///< on some of them
    double ratio;     ///< largest by smallest mass of rods; 0: within a factor of three
    int cut,
        count; ///< the hinge of a bar that the tree must not have, counted from 1; hinges so far
    /** Changes hinge number `count` of a bar, and the rod that it carries, before it is added; NULL: none. */
    void (*change)(struct lwt_net *net, lw_joint_desc *hinge, lw_body rod);
} lwt_net;

static inline lwt_net lwt_net_begin(uint64_t seed)
{
    lwt_net net = {.builder = lwt_builder(), .seed = seed};
    lw_builder_gravity(net.builder, (lw_vec3){1, -7, 6});
    return net;
}

static inline lw_joint_desc lwt_net_hinge(lwt_net *net, lw_body body1, lw_body body2, lw_vec3 at)
{
    const double h = lwt_random(&net->seed, 0.3, 2.8), a = lwt_random(&net->seed, -3, 3);
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE,
                           .body1 = body1,
                           .body2 = body2,
                           .at = at,
                           .axis = {sin(h) * cos(a), sin(h) * sin(a), cos(h)}};
    if (net->planar) joint.axis = (lw_vec3){0, 0, 1};
    joint.axis2 = (lw_vec3){joint.axis.y, -joint.axis.x, 0};
    joint.coordinate[0] =
        (lw_coordinate_desc){.stiffness = net->stiffness, .damping = 0.1 * net->stiffness};
    return joint;
}

/** A row of n rods from one point to another, the first on a hinge at `from` that `carrier` carries; the last one. */
static inline lw_body lwt_net_bar(lwt_net *net, lw_body carrier, int n, lw_vec3 from, lw_vec3 to)
{
    lw_vec3 at = from;
    for (int i = 1; i <= n; i++) {
        const double s = (double)i / n, off = i < n ? 0.3 : 0;
        double m = lwt_random(&net->seed, 0.5, 1.5);
        if (net->ratio > 0) m *= pow(net->ratio, lwt_random(&net->seed, -0.5, 0.5));
        lw_vec3 next = {from.x + s * (to.x - from.x) + lwt_random(&net->seed, -off, off),
                        from.y + s * (to.y - from.y) + lwt_random(&net->seed, -off, off),
                        from.z + s * (to.z - from.z) + lwt_random(&net->seed, -off, off)};
        if (net->planar) next.z = from.z;
        const lw_body rod =
            lwt_body(net->builder,
                     &(lw_body_desc){.mass = m,
                                     .inertia = {0.05 * m, 0.09 * m, 0.12 * m},
                                     .pose.position = {(at.x + next.x) / 2, (at.y + next.y) / 2,
                                                       (at.z + next.z) / 2}});
        lw_joint_desc hinge = lwt_net_hinge(net, carrier, rod, at);
        if (i % 5 == 3) hinge.body1 = rod, hinge.body2 = carrier; // backwards
        if (++net->count == net->cut) hinge.cut = LW_CUT_ALWAYS;
        if (net->rotor > 0 && i % 4 == 2) hinge.coordinate[0].rotor = net->rotor;
        if (net->change) net->change(net, &hinge, rod);
        lwt_add(net->builder, &hinge);
        carrier = rod;
        at = next;
    }
    return carrier;
}

/** Joins the last rods of two bars, or one and the ground. */
static inline void lwt_net_close(lwt_net *net, lw_joint_type type, lw_body body1, lw_body body2,
                                 lw_vec3 at)
{
    lw_joint_desc joint = lwt_net_hinge(net, body1, body2, at);
    joint.type = type;
    joint.coordinate[0] = (lw_coordinate_desc){0};
    if (type == LW_JOINT_REVOLUTE) joint.coordinate[0].stiffness = net->stiffness;
    lwt_add(net->builder, &joint);
}

/** A body at a point, on a joint of the type to `carrier`; a free one with carrier 0 and type FREE. */
static inline lw_body lwt_net_hub(lwt_net *net, lw_body carrier, lw_joint_type type, lw_vec3 at)
{
    const lw_body hub = lwt_body(net->builder, &(lw_body_desc){.mass = 3,
                                                               .inertia = {1, 1.2, 1.5},
                                                               .com = {0.1, 0.2, -0.1},
                                                               .pose.position = at});
    lw_joint_desc joint = lwt_net_hinge(net, carrier, hub, at);
    joint.type = type;
    joint.coordinate[0] = (lw_coordinate_desc){.rotor = net->rotor};
    lwt_add(net->builder, &joint);
    return hub;
}

/** Branches of n rods: `depth` levels of `branches` branches at the end of each, on a hub on a joint of type `base`. */
static inline void lwt_net_branches(lwt_net *net, lw_body carrier, lw_vec3 at, int n, int branches,
                                    int depth)
{
    for (int i = 0; depth > 0 && i < branches; i++) {
        const lw_vec3 end = {at.x + (i + 1) * 0.3 * n, at.y + 0.4 * n,
                             at.z + lwt_random(&net->seed, -5, 5)};
        const lw_body last = lwt_net_bar(net, carrier, n + i, at, end);
        lwt_net_branches(net, last, end, n, branches, depth - 1);
    }
}

/** A ring of n rods in two halves, its first rod on the ground (`floating`: free). */
static inline void lwt_net_ring(lwt_net *net, bool floating, int n)
{
    const lw_vec3 top = {0, 0.5 * n, 0}, bottom = {0.2 * n, 0, 0};
    const lw_body first = lwt_net_hub(net, lwt_ground, floating ? LW_JOINT_FREE : LW_JOINT_REVOLUTE,
                                      (lw_vec3){0, 0, 0});
    const lw_body left = lwt_net_bar(net, first, n / 2, (lw_vec3){0, 0, 0}, top);
    const lw_body right = lwt_net_bar(net, first, n - n / 2, bottom, top);
    lwt_net_close(net, LW_JOINT_REVOLUTE, left, right, top);
}

/** A net of nx x ny meshes with bars of n rods; a hub at each knot, the first row on the ground. */
static inline void lwt_net_meshes(lwt_net *net, int nx, int ny, int n)
{
    enum { MOST = 8 };
    lw_body knot[MOST][MOST];
    assert_true(nx < MOST && ny < MOST);
    for (int j = 0; j <= ny; j++)
        for (int i = 0; i <= nx; i++) {
            const double size = 0.8 * n;
            const lw_vec3 at = {i * size, j * size, 0}, left = {(i - 1) * size, j * size, 0},
                          below = {i * size, (j - 1) * size, 0};
            if (j == 0) {
                knot[i][j] = lwt_net_hub(net, lwt_ground, LW_JOINT_SPHERICAL, at);
            } else {
                knot[i][j] = lwt_net_bar(net, knot[i][j - 1], n, below, at);
            }
            if (i == 0) continue;
            const lw_body last = lwt_net_bar(net, knot[i - 1][j], n, left, at);
            lwt_net_close(net, LW_JOINT_SPHERICAL, last, knot[i][j], at);
        }
}

#endif

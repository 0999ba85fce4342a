// oblique.hpp -- the chain whose operations are counted: hinges at any angle and distance.
#ifndef BENCH_OPS_OBLIQUE_HPP
#define BENCH_OPS_OBLIQUE_HPP

extern "C" {
#include "cli/scene_model.h"
}

#include <cmath>
#include <cstdio>
#include <cstdlib>

[[noreturn]] inline void oblique_stop(const char *what)
{
    fprintf(stderr, "ops: %s\n", what);
    exit(1);
}

// A chain of hinges with random link parameters (angle, distances, inertias).
inline lw_status oblique_chain(int n, lw_model **model, lw_error *error)
{
    uint64_t draws = 7;
    lw_builder *builder;
    lw_status status = lw_builder_create(NULL, &builder);
    lw_body body = {};
    const auto draw = [&](double low, double high) {
        return low + (high - low) * (scene_draw(&draws) + 1) / 2;
    };
    for (int i = 0; i < n && status == LW_OK; i++) {
        lw_body_desc d = {};
        lw_joint_desc j = {};
        lw_joint joint;
        const double half = draw(0.2, 0.7);
        d.mass = draw(1, 2);
        d.com = {draw(0.1, 0.4), draw(0.1, 0.4), draw(0.1, 0.4)};
        for (int k = 0; k < 6; k++) d.inertia[k] = k < 3 ? draw(0.2, 0.3) : draw(0.01, 0.05);
        j.type = LW_JOINT_REVOLUTE;
        j.body1 = body;
        j.placement = LW_PLACED_FRAMES;
        j.has_q = 1;
        j.frame1.position = {draw(0.2, 0.6), draw(0.1, 0.3), draw(0.1, 0.3)};
        j.frame1.orientation = {cos(half), sin(half), 0, 0};
        status = lw_builder_add_body(builder, &d, &body, error);
        j.body2 = body;
        if (status == LW_OK) status = lw_builder_add_joint(builder, &j, &joint, error);
    }
    if (status == LW_OK) status = lw_model_create(builder, model, error);
    lw_builder_destroy(builder);
    return status;
}

#endif

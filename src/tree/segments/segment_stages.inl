// segment_stages.inl -- the sweeps over a branch in segments, as many segments at once as registers have
// lanes.
//
// In:  what segments.inl, momenta_segments.inl and segments_base.inl define for each width.  Out: a function for
// every sweep and width; SEGMENTS_OF selects one for a stage.

// Functions apart, so that the sweeps over other branches keep their registers.
#define EVERY_SEGMENT(h, width) for (int h = 0; h < stage->segments; h += width)
#define SWEEP_SEGMENTS(type, sweep, width)                                                         \
    static __attribute__((noinline)) type segments_##sweep##_##width(                              \
        const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_stage *stage)
#define EVERY_LANE(valid, width) (lanes_of_w##width(valid) == (1u << (width)) - 1)
#define ALL_SEGMENTS(valid, text, width)                                                           \
    EVERY_SEGMENT(h, width)                                                                        \
    valid &= lanes_of_w##width(text##_w##width(plan, stage, state, h)) == (1u << width) - 1
#define SEGMENT_STAGES(width)                                                                      \
    SWEEP_SEGMENTS(unsigned, pose, width)                                                          \
    {                                                                                              \
        unsigned valid = 1;                                                                        \
        valid &= EVERY_LANE(prefix_w##width(plan, stage, state), width);                           \
        return valid;                                                                              \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, turning, width)                                                       \
    {                                                                                              \
        base_velocity_w1(plan, stage, state);                                                      \
        join_velocities(stage, &state->segment[stage->segment]);                                   \
        segment_velocities_w##width(plan, stage, state);                                           \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, inward, width)                                                        \
    {                                                                                              \
        segment_elimination_w##width(plan, stage, state);                                          \
        join_inertias(plan, stage, state);                                                         \
        leave_segments_w1(plan, stage, state, false);                                              \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, outward, width)                                                       \
    {                                                                                              \
        unsigned valid = 1;                                                                        \
        base_acceleration_w1(plan, stage, state);                                                  \
        join_motions(plan, stage, &state->segment[stage->segment]);                                \
        valid &= EVERY_LANE(segment_outward_w##width(plan, stage, state), width);                  \
        return valid;                                                                              \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, momenta_inward, width)                                                \
    {                                                                                              \
        momenta_elimination_w##width(plan, stage, state);                                          \
        join_inertias(plan, stage, state);                                                         \
        join_first_moments(plan, stage, state);                                                    \
        leave_segments_w1(plan, stage, state, true);                                               \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, momenta_outward, width)                                               \
    {                                                                                              \
        unsigned valid = 1;                                                                        \
        base_speed_w1(plan, stage, state);                                                         \
        join_motions(plan, stage, &state->segment[stage->segment]);                                \
        join_gravity(stage, &state->segment[stage->segment]);                                      \
        ALL_SEGMENTS(valid, segment_speeds, width);                                                \
        EVERY_SEGMENT(h, width) segment_rates_w##width(plan, stage, state, h);                     \
        return valid;                                                                              \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, moves, width)                                                         \
    {                                                                                              \
        carrier_moves_w1(plan, stage, state);                                                      \
        join_velocities(stage, &state->segment[stage->segment]);                                   \
        EVERY_SEGMENT(h, width) segment_own_motion_w##width(plan, stage, state, h);                \
        join_moves(stage, &state->segment[stage->segment]);                                        \
        EVERY_SEGMENT(h, width) segment_motion_w##width(plan, stage, state, h);                    \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_SEGMENTS(unsigned, efforts, width)                                                       \
    {                                                                                              \
        EVERY_SEGMENT(h, width) segment_own_wrench_w##width(plan, stage, state, h);                \
        join_wrenches(plan, stage, state);                                                         \
        EVERY_SEGMENT(h, width) segment_efforts_w##width(plan, stage, state, h);                   \
        leave_wrench_w1(plan, stage, state);                                                       \
        return 1;                                                                                  \
    }
#if WIDEST == 1
SEGMENT_STAGES(1)
#define SEGMENTS_OF(sweep, stage) segments_##sweep##_1(plan, state, stage)
#elif WIDEST == 4
SEGMENT_STAGES(4)
#define SEGMENTS_OF(sweep, stage) segments_##sweep##_4(plan, state, stage)
#else
SEGMENT_STAGES(4)
SEGMENT_STAGES(8)
#define SEGMENTS_OF(sweep, stage)                                                                  \
    ((stage)->segments == 4 ? segments_##sweep##_4(plan, state, stage)                             \
                            : segments_##sweep##_8(plan, state, stage))
#endif

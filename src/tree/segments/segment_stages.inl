// segment_stages.inl -- the sweeps over a limb in runs, as many of them at once as registers have
// lanes.
//
// In:  what segments.inl, momenta_segments.inl and segments_base.inl have for each width.  Out: a function for
// every sweep and width; RUNS_OF picks one for a stage.

#define EVERY_RUN(h, width) for (int h = 0; h < stage->runs; h += width)
#define SWEEP_RUNS(type, sweep, width)                                                             \
    static type runs_##sweep##_##width(const lwi_kernel_plan *plan, const lwi_k_state *state,      \
                                       const lwi_k_stage *stage)
#define ALL_RUNS(sure, text, width)                                                                \
    EVERY_RUN(h, width)                                                                            \
    sure &= lanes_of_w##width(text##_w##width(plan, stage, state, h)) == (1u << width) - 1
#define RUN_STAGES(width)                                                                          \
    SWEEP_RUNS(unsigned, pose, width)                                                              \
    {                                                                                              \
        unsigned sure = 1;                                                                         \
        ALL_RUNS(sure, prefix, width);                                                             \
        return sure;                                                                               \
    }                                                                                              \
    SWEEP_RUNS(unsigned, turning, width)                                                           \
    {                                                                                              \
        base_velocity_w1(plan, stage, state);                                                      \
        join_velocities(stage, &state->run[stage->run]);                                           \
        EVERY_RUN(h, width) run_velocities_w##width(plan, stage, state, h);                        \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_RUNS(unsigned, inward, width)                                                            \
    {                                                                                              \
        EVERY_RUN(h, width) run_elimination_w##width(plan, stage, state, h);                       \
        join_inertias(plan, stage, state);                                                         \
        leave_runs_w1(plan, stage, state, false);                                                  \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_RUNS(unsigned, outward, width)                                                           \
    {                                                                                              \
        unsigned sure = 1;                                                                         \
        base_acceleration_w1(plan, stage, state);                                                  \
        join_motions(plan, stage, &state->run[stage->run]);                                        \
        ALL_RUNS(sure, run_outward, width);                                                        \
        return sure;                                                                               \
    }                                                                                              \
    SWEEP_RUNS(unsigned, momenta_inward, width)                                                    \
    {                                                                                              \
        EVERY_RUN(h, width) momenta_elimination_w##width(plan, stage, state, h);                   \
        join_inertias(plan, stage, state);                                                         \
        join_moments(plan, stage, state);                                                          \
        leave_runs_w1(plan, stage, state, true);                                                   \
        return 1;                                                                                  \
    }                                                                                              \
    SWEEP_RUNS(unsigned, momenta_outward, width)                                                   \
    {                                                                                              \
        unsigned sure = 1;                                                                         \
        base_speed_w1(plan, stage, state);                                                         \
        join_motions(plan, stage, &state->run[stage->run]);                                        \
        join_gravity(stage, &state->run[stage->run]);                                              \
        ALL_RUNS(sure, run_speeds, width);                                                         \
        EVERY_RUN(h, width) run_rates_w##width(plan, stage, state, h);                             \
        return sure;                                                                               \
    }
#if WIDEST == 1
RUN_STAGES(1)
#define RUNS_OF(sweep, stage) runs_##sweep##_1(plan, state, stage)
#else
RUN_STAGES(4)
#if WIDEST == 8
RUN_STAGES(8)
#define RUNS_OF(sweep, stage)                                                                      \
    ((stage)->runs == 4 ? runs_##sweep##_4 : runs_##sweep##_8)(plan, state, stage)
#else
#define RUNS_OF(sweep, stage) runs_##sweep##_4(plan, state, stage)
#endif
#endif

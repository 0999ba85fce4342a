// branches.inl -- branches of a tree in lanes: the recursions of tree.inl and momenta.inl over a
// stage.  The equations are those of bodies.inl and momenta.inl.
//
// Lane r is branch r of the stage; the steps are those of the first branch, which is the longest.
// Input: quantities of the bodies that carry the branches, gathered lane by lane.  Output: inertias
// and wrenches, summed on these bodies lane by lane, the last branch first.  This is the order of
// the sequential recursion, so both give the same bits.
// Cost: one lane operation per body of the longest branch.

// x[j] := entry j of the bodies to which the branches are attached, start[j] if that is the ground.  Lanes without a branch
// get what that of the first one does.
// first: entry 0 of block 0; stride: distance of blocks [doubles].
static INLINE void VARIANT(gather_parents)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                           int half, int n, const double *first, size_t stride,
                                           const double *start, real x[])
{
    const double *from[WIDTH];
    if (plan->step[stage->branch[0]].parent < 0) {
        for (int j = 0; j < n; j++) x[j] = NAME(splat)(start[j]);
        return;
    }
    for (int r = 0; r < WIDTH; r++) {
        const int lane = half + r < stage->branches ? half + r : 0;
        const int slot = plan->step[stage->branch[lane]].parent;
        from[r] = first + (size_t)lwi_k_block(slot) * stride + lwi_k_lane(slot);
    }
    for (int j = 0; j < n; j++) {
#if WIDTH == 4
        x[j] = (real){from[0][j * LWI_LANES], from[1][j * LWI_LANES], from[2][j * LWI_LANES],
                      from[3][j * LWI_LANES]};
#else
        double lane[WIDTH];
        for (int r = 0; r < WIDTH; r++) lane[r] = from[r][j * LWI_LANES];
        memcpy(&x[j], lane, sizeof lane);
#endif
    }
}
#define BLOCKS(array, entry) (array)->entry[0], sizeof *(array) / sizeof(double)

static void VARIANT(carriers_w)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                const lwi_k_stage *stage, int half, real w[3])
{
    static const double rest[3] = {0, 0, 0};
    VARIANT(gather_parents)(plan, stage, half, 3, BLOCKS(state->bias, w), rest, w);
}

static void VARIANT(branches_turning)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                      const lwi_k_stage *stage, int half)
{
    real w[3];
    VARIANT(carriers_w)(plan, state, stage, half, w);
    const int end = stage->first + stage->length;
    for (int i = stage->first; i < end;) {
        VARIANT(body_w)(plan, state, &plan->step[i], half, w);
        i = VARIANT(hinges_turning)(plan, state, i + 1, end, half, w);
    }
}

static void VARIANT(branches_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                     const lwi_k_stage *stage, int half)
{
    ART M;
    mask valid = ~NAME(bits)(ZERO);
    VARIANT(clear)(&M);
    for (int i = stage->first + stage->length - 1; i >= stage->first; i--) {
        if (plan->step[i].begins) VARIANT(begin)(&plan->begin[i][half], &M);
        i = VARIANT(step_inward)(plan, state, i, half, &M, &valid);
        VARIANT(turn_branch)(plan, &plan->step[i], half, &M);
    }
    VARIANT(park)(&state->art[plan->nart + stage->section], half, &M, true);
    park_branches(plan, state, stage, half, WIDTH, ART_OF_ABA);
}

static void VARIANT(carriers_A)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                const lwi_k_stage *stage, int half, real A[6])
{
    const double *g = plan->gravity, minus_gravity[6] = {-g[0], -g[1], -g[2], 0, 0, 0};
    VARIANT(gather_parents)(plan, stage, half, 6, BLOCKS(state->motion, A), minus_gravity, A);
}

static void VARIANT(branches_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                      const lwi_k_stage *stage, int half)
{
    real A[6];
    VARIANT(carriers_A)(plan, state, stage, half, A);
    const int end = stage->first + stage->length;
    for (int i = stage->first; i < end;) {
        VARIANT(step_outward)(plan, state, &plan->step[i], half, A);
        i = VARIANT(hinges_outward)(plan, state, i + 1, end, half, A);
    }
}

static void VARIANT(branches_momenta_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                             const lwi_k_stage *stage, int half)
{
    const int l = half;
    lwi_k_art *room = &state->art[plan->nart + stage->section];
    ART M;
    real h[3] = {ZERO, ZERO, ZERO};
    mask valid = ~NAME(bits)(ZERO);
    VARIANT(clear)(&M);
    for (int i = stage->first + stage->length - 1; i >= stage->first; i--) {
        if (plan->step[i].begins) {
            VARIANT(begin)(&plan->begin[i][half], &M);
            for (int j = 0; j < 3; j++) h[j] = VARIANT(kept)(h[j], &plan->begin[i][half]);
        }
        i = VARIANT(step_momentum)(plan, state, i, half, &M, h, &valid);
        VARIANT(turn_momentum)(plan, &plan->step[i], half, &M, h);
    }
    VARIANT(park)(room, half, &M, true);
    for (int j = 0; j < 3; j++) AT(room->h[j]) = h[j];
    park_branches(plan, state, stage, half, WIDTH, ART_OF_MOMENTA);
}

static void VARIANT(branches_momenta_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                              const lwi_k_stage *stage, int half)
{
    static const double rest[6] = {0, 0, 0, 0, 0, 0};
    real V[6], g[3];
    VARIANT(gather_parents)(plan, stage, half, 6, BLOCKS(state->motion, A), rest, V);
    VARIANT(gather_parents)(plan, stage, half, 3, BLOCKS(state->momentum, g), plan->gravity, g);
    const int end = stage->first + stage->length;
    for (int i = stage->first; i < end;) {
        VARIANT(step_speed)(plan, state, &plan->step[i], half, V, g);
        i = VARIANT(hinges_speed)(plan, state, i + 1, end, half, V, g);
    }
}
#undef BLOCKS

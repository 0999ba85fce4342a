// positions.inl -- the arrays of a branch in segments, by the position of its bodies.
//
// A sweep over segments copies the pointers first: the compiler must assume that a store to a block changes those in the
// plan and the state, and would read them again at every body.  They are displaced to the first lane of the position, so
// that lane 0 of an entry is that lane: sweeps then need no index, and one addition for each array.

typedef struct segment_positions {
    int segments, length;
    int lane; // first lane of the position in its blocks
    const int8_t *shape;
    const lwi_k_body *body;
    const lwi_k_screw *screw;
    const lwi_k_joint *joint;
    lwi_k_pose *pose;
    lwi_k_bias *bias;
    lwi_k_pivot *pivot;
    lwi_k_row *row;
    lwi_k_motion *motion;
    lwi_k_momentum *momentum;
    lwi_k_segment *segment; // the only one
} segment_positions;

static INLINE void displace_position(segment_positions *of, int blocks, int lanes)
{
#define DISPLACE(type, array)                                                                      \
    of->array = (type *)(uintptr_t)((double *)(uintptr_t)of->array +                               \
                                    (ptrdiff_t)(sizeof(type) / sizeof(double)) * blocks + lanes)
    DISPLACE(const lwi_k_body, body);
    DISPLACE(const lwi_k_screw, screw);
    DISPLACE(const lwi_k_joint, joint);
    DISPLACE(lwi_k_pose, pose);
    DISPLACE(lwi_k_bias, bias);
    DISPLACE(lwi_k_pivot, pivot);
    DISPLACE(lwi_k_row, row);
    DISPLACE(lwi_k_motion, motion);
    DISPLACE(lwi_k_momentum, momentum);
#undef DISPLACE
    of->lane += lanes;
}

// Position 0 from the first lane on.
static inline segment_positions positions_of(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                             const lwi_k_state *state)
{
    segment_positions of = {.segments = stage->segments,
                            .length = stage->length,
                            .shape = stage->shape,
                            .body = plan->body,
                            .screw = plan->screw,
                            .joint = state->joint,
                            .pose = state->pose,
                            .bias = state->bias,
                            .pivot = state->pivot,
                            .row = state->row,
                            .motion = state->motion,
                            .momentum = state->momentum,
                            .segment = state->segment + stage->segment};
    displace_position(&of, lwi_k_block(stage->slot), 0);
    return of;
}

// Position j from lane `half` on; `of` is position 0.
static INLINE segment_positions at_position(segment_positions of, int j, int half)
{
    const int slot = of.segments * j + half;
    of.shape += j;
    displace_position(&of, lwi_k_block(slot), lwi_k_lane(slot));
    return of;
}

// From a position to the next or the previous one: of four segments two positions fill a block.
static INLINE void next_position(segment_positions *of)
{
    of->shape++;
    if (of->lane + of->segments < LWI_LANES)
        displace_position(of, 0, of->segments);
    else
        displace_position(of, 1, of->segments - LWI_LANES);
}
static INLINE void previous_position(segment_positions *of)
{
    of->shape--;
    if (of->lane >= of->segments)
        displace_position(of, 0, -of->segments);
    else
        displace_position(of, -1, LWI_LANES - of->segments);
}

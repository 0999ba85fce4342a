// positions.inl -- the arrays of a branch in segments, by the position of its bodies.
//
// A sweep over segments copies the pointers first: the compiler must assume that a store to a block changes those in the
// plan and the state, and would read them again at every body.

typedef struct segment_positions {
    int segments, length;
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

static inline segment_positions positions_of(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                             const lwi_k_state *state)
{
    const int first = lwi_k_block(stage->slot);
    return (segment_positions){.segments = stage->segments,
                               .length = stage->length,
                               .shape = stage->shape,
                               .body = plan->body + first,
                               .screw = plan->screw + first,
                               .joint = state->joint + first,
                               .pose = state->pose + first,
                               .bias = state->bias + first,
                               .pivot = state->pivot + first,
                               .row = state->row + first,
                               .motion = state->motion + first,
                               .momentum = state->momentum + first,
                               .segment = state->segment + stage->segment};
}

// Where position j of the segments from lane `half` on is: of four segments two positions fill a block.
static inline int block_of(segment_positions of, int j, int half)
{
    return lwi_k_block(of.segments * j + half);
}
static inline int lane_of(segment_positions of, int j, int half)
{
    return lwi_k_lane(of.segments * j + half);
}

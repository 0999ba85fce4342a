// segment_rows.inl -- copies the numbers of the bodies of a branch to its segments in lanes, and back.
//
// Body j of segment r is number r length + j of the array and at position j of lane r in the blocks: squares of four
// numbers are transposed.  Nothing is computed.  The last segment may be shorter; its other positions get zeros or are
// left as they are.

// Bodies of the last segment of a straight branch; the others are full.
static int last_segment(const lwi_k_stage *stage)
{
    return stage->end - stage->first - (stage->segments - 1) * stage->length;
}

#if WIDEST > 1
typedef double four __attribute__((vector_size(32)));
typedef double loose_four __attribute__((vector_size(32), may_alias, aligned(8)));

static INLINE void transpose_four(four x[4])
{
#define PICK __builtin_shufflevector
    const four a = PICK(x[0], x[1], 0, 4, 2, 6), b = PICK(x[0], x[1], 1, 5, 3, 7);
    const four c = PICK(x[2], x[3], 0, 4, 2, 6), d = PICK(x[2], x[3], 1, 5, 3, 7);
    x[0] = PICK(a, c, 0, 1, 4, 5), x[1] = PICK(b, d, 0, 1, 4, 5);
    x[2] = PICK(a, c, 2, 3, 6, 7), x[3] = PICK(b, d, 2, 3, 6, 7);
#undef PICK
}

// all bits of the first n of four numbers, n <= 0: none
static INLINE __m256i first_of_four(int n)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

// Numbers of segments l ... l + 3 in an array of `length` for each, at four positions in the blocks.
typedef struct four_segments {
    int length, count[4];     // positions of each that are left
    ptrdiff_t at[4], advance; // of positions 0 ... 3, and from one four to the next
} four_segments;

static INLINE four_segments four_segments_of(const lwi_k_stage *stage, int l, size_t stride)
{
    four_segments of = {.length = stage->length};
    const int per_block = LWI_LANES / stage->segments;
    for (int i = 0; i < 4; i++) {
        const int block = i / per_block, lane = l + i % per_block * stage->segments;
        of.count[i] = l + i + 1 < stage->segments ? of.length : last_segment(stage);
        of.at[i] = block * (ptrdiff_t)stride + lane;
    }
    of.advance = 4 / per_block * (ptrdiff_t)stride;
    return of;
}

static INLINE void four_in(four_segments of, const double *from, double *rows)
{
    for (int j = 0; j < of.length; j += 4, from += 4, rows += of.advance) {
        four x[4];
        if (j + 4 <= of.count[3])
            for (int i = 0; i < 4; i++) x[i] = *(const loose_four *)(from + i * of.length);
        else
            for (int i = 0; i < 4; i++)
                x[i] =
                    (four)_mm256_maskload_pd(from + i * of.length, first_of_four(of.count[i] - j));
        transpose_four(x);
        for (int i = 0; i < 4 && j + i < of.length; i++) *(loose_four *)(rows + of.at[i]) = x[i];
    }
}

static INLINE double four_out(four_segments of, const double *rows, double *out)
{
    four zero = {0, 0, 0, 0};
    for (int j = 0; j < of.length; j += 4, out += 4, rows += of.advance) {
        four x[4];
        for (int i = 0; i < 4; i++)
            x[i] = *(const loose_four *)(rows + of.at[j + i < of.length ? i : 0]);
        transpose_four(x);
        if (j + 4 <= of.count[3])
            for (int i = 0; i < 4; i++) *(loose_four *)(out + i * of.length) = x[i];
        else
            for (int i = 0; i < 4; i++) {
                const __m256i left = first_of_four(of.count[i] - j);
                _mm256_maskstore_pd(out + i * of.length, left, (__m256d)x[i]);
                x[i] = (four)_mm256_and_pd((__m256d)x[i], (__m256d)left);
            }
        for (int i = 0; i < 4; i++) zero += x[i] - x[i];
    }
    return (zero[0] + zero[1]) + (zero[2] + zero[3]);
}
#endif

static void segments_in(const lwi_k_stage *stage, const double *from, double *rows, size_t stride)
{
    rows += (size_t)lwi_k_block(stage->slot) * stride;
#if WIDEST > 1
    for (int l = 0; l < stage->segments && from; l += 4)
        four_in(four_segments_of(stage, l, stride), from + l * stage->length, rows);
    if (from) return;
#endif
    for (int l = 0; l < stage->segments; l++) {
        const int count = l + 1 < stage->segments ? stage->length : last_segment(stage);
        for (int j = 0; j < count; j++) {
            const int slot = stage->segments * j + l;
            rows[(size_t)lwi_k_block(slot) * stride + (size_t)lwi_k_lane(slot)] =
                from ? from[l * stage->length + j] : 0;
        }
    }
}

static double segments_out(const lwi_k_stage *stage, const double *rows, size_t stride, double *out)
{
    double nothing = 0; // x - x is NaN if x is not finite
    rows += (size_t)lwi_k_block(stage->slot) * stride;
#if WIDEST > 1
    for (int l = 0; l < stage->segments; l += 4)
        nothing += four_out(four_segments_of(stage, l, stride), rows, out + l * stage->length);
#else
    for (int l = 0; l < stage->segments; l++) {
        const int count = l + 1 < stage->segments ? stage->length : last_segment(stage);
        for (int j = 0; j < count; j++) {
            const int slot = stage->segments * j + l;
            const double x = rows[(size_t)lwi_k_block(slot) * stride + (size_t)lwi_k_lane(slot)];
            out[l * stage->length + j] = x;
            nothing += x - x;
        }
    }
#endif
    return nothing;
}

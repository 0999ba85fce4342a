// cut.c -- where a branch is cut into segments (cut.h).
//
// A segment is a chain of hinges, each of which is the first child of the previous one.  All segments of a
// branch have the same length, and each of their last bodies must have a pivot without its children:
// massless bodies between the axes of a universal joint do not.  If no body is beyond the branch, its last
// segment is padded; otherwise the remaining bodies are swept sequentially beyond the segments.
#include "tree/segments/cut.h"

enum { MAX_PERIOD = 6 };

// Number of segments of n bodies.  With four lanes eight segments cost the same per body as four, with eight lanes
// about half, but seven joins instead of three (docs/benchmarks.md).
static int segments_of(lwi_branch_choice choice, int n)
{
    if (choice.segments > 0) return choice.segments;
    return n < LWI_MIN_FOR_EIGHT_SEGMENTS ? 4 : 8;
}

// The longest row of bodies from which segments can be cut.
static void find_row(const lwi_branch_body *body, const int *branch, int n, int *first, int *count)
{
    *first = *count = 0;
    for (int i = 0, from = 0; i < n; i++) {
        const lwi_branch_body *b = &body[branch[i]];
        if (!b->segments)
            from = i + 1;
        else if (b->realigned)
            from = i;
        if (i - from + 1 > *count) *count = i - from + 1, *first = from;
    }
}

// Shapes of hinges often repeat along a chain (x, y, z; knee and ankle).  If the length of the segments is
// a multiple of the period, the bodies at one position have the same shape.  The shape of the first hinge
// is ignored: it depends on the body that carries the branch.
static int period_of_shapes(const lwi_branch_body *body, const int *row, int n)
{
    for (int period = 1; period <= MAX_PERIOD; period++) {
        bool repeats = true;
        for (int i = 1; i + period < n && repeats; i++)
            repeats = body[row[i]].shape == body[row[i + period]].shape;
        if (repeats) return period;
    }
    return 1;
}

// Cuts the whole row, or with `beyond` the longest part of it that fills all segments.
static bool cut_row(const lwi_branch_body *body, const int *row, int n, bool beyond, int segments,
                    lwi_segment_cut *cut)
{
    const int period = period_of_shapes(body, row, n);
    int length = beyond ? n / segments : (n + segments - 1) / segments;
    length += beyond ? -(length % period) : (period - length % period) % period;
    if (length == 0) return false;
    for (int i = length - 1; i < n - !beyond && i < segments * length; i += length)
        if (!body[row[i]].ends) return false;
    cut->segments = segments;
    cut->length = length;
    cut->count = beyond ? segments * length : n;
    return true;
}

bool lwi_segment_cut_branch(const lwi_branch_body *body, const int *branch, int n, bool beyond,
                            lwi_branch_choice choice, lwi_segment_cut *cut)
{
    int first, count;
    find_row(body, branch, n, &first, &count);
    beyond = beyond || first + count < n;
    for (int i = 0; i < MAX_PERIOD && count - i >= choice.min_length; i++) {
        const int segments = segments_of(choice, count - i);
        if (!cut_row(body, branch + first + i, count - i, beyond, segments, cut)) continue;
        cut->first = first + i;
        return true;
    }
    return false;
}

// cut.c -- where a limb is cut into runs.
//
// A run is a chain of hinges, each of which is the first child of the one before.  All runs of a
// limb are equally long, and their last bodies must move if let go by themselves: massless bodies
// between the axes of a universal joint do not.  Where nothing is beyond the limb its last run is
// padded; elsewhere what is left over is swept by itself beyond the runs.
#include "tree/segments/cut.h"

enum { MOST_PERIOD = 6 };

// The longest row of bodies that runs could be made of.
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

// Hinges of many chains stand to each other in turn (x, y, z; knee and ankle): runs whose lengths
// are multiples of that have bodies of one shape side by side.  How the first one stands to what
// carries it does not matter.
static int period_of_shapes(const lwi_branch_body *body, const int *row, int n)
{
    for (int period = 1; period <= MOST_PERIOD; period++) {
        bool repeats = true;
        for (int i = 1; i + period < n && repeats; i++)
            repeats = body[row[i]].shape == body[row[i + period]].shape;
        if (repeats) return period;
    }
    return 1;
}

// The whole of a row, or with `beyond` as much of it as fills all runs.
static bool cut_row(const lwi_branch_body *body, const int *row, int n, bool beyond, int segments,
                    lwi_segment_cut *cut)
{
    const int period = period_of_shapes(body, row, n);
    int length = beyond ? n / segments : (n + segments - 1) / segments;
    length += beyond ? -(length % period) : (period - length % period) % period;
    if (length == 0) return false;
    for (int i = length - 1; i < n - !beyond && i < segments * length; i += length)
        if (!body[row[i]].ends) return false;
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
    for (int i = 0; i < MOST_PERIOD && count - i >= choice.least; i++) {
        if (!cut_row(body, branch + first + i, count - i, beyond, choice.segments, cut)) continue;
        cut->first = first + i;
        return true;
    }
    return false;
}

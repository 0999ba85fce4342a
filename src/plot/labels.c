// labels.c -- the position of a name: the candidate around its mark with the lowest cost.
//
// The cost is 1 for each line covered, 2 for each mark covered, and a term for the distance.  Candidates
// outside the picture or over another name are excluded.
#include "plot/labels.h"

#include <math.h>

#define EXCLUDED 1e9
#define STRICT 3.0
#define PAD 1.5

static double overlap(double a0, double a1, double b0, double b1)
{
    return fmin(a1, b1) - fmax(a0, b0);
}

static bool boxes_meet(const double *a, const double *b)
{
    return overlap(a[0], a[0] + a[2], b[0], b[0] + b[2]) > 0 &&
           overlap(a[1], a[1] + a[3], b[1], b[1] + b[3]) > 0;
}

// Liang and Barsky: does the segment intersect the box?
static bool segment_meets(const double *s, const double *box)
{
    const double d[2] = {s[2] - s[0], s[3] - s[1]};
    double from = 0, to = 1;
    for (int k = 0; k < 2; k++) {
        const double lo = box[k] - s[k], hi = box[k] + box[2 + k] - s[k];
        if (fabs(d[k]) < 1e-9) {
            if (lo > 0 || hi < 0) return false;
            continue;
        }
        from = fmax(from, fmin(lo / d[k], hi / d[k]));
        to = fmin(to, fmax(lo / d[k], hi / d[k]));
    }
    return from <= to;
}

static bool disc_meets(const double *mark, const double *box)
{
    const double dx = mark[0] - fmin(fmax(mark[0], box[0]), box[0] + box[2]);
    const double dy = mark[1] - fmin(fmax(mark[1], box[1]), box[1] + box[3]);
    return dx * dx + dy * dy < mark[2] * mark[2];
}

// Of no interest from `limit` on.
static double cost_of(const lwi_plot_labels *l, const double *box, double cost, double limit)
{
    if (box[0] < l->x || box[1] < l->y || box[0] + box[2] > l->x + l->width ||
        box[1] + box[3] > l->y + l->height)
        return EXCLUDED;
    for (int i = 0; i < l->nplaced; i++)
        if (boxes_meet(l->placed[i], box)) return EXCLUDED;
    for (int i = 0; i < l->nsegment && cost < limit; i++) cost += segment_meets(l->segment[i], box);
    for (int i = 0; i < l->nmark && cost < limit; i++) cost += 2 * disc_meets(l->mark[i], box);
    return cost;
}

// Candidates: directions, the preferred ones first, and distances from the mark.
static const double directions[][2] = {{1, 0},       {0.8, -0.6}, {0.8, 0.6}, {-1, 0},
                                       {-0.8, -0.6}, {-0.8, 0.6}, {0, -1},    {0, 1}};
static const double distances[] = {4, 14, 28, 46};

bool lwi_plot_label_place_beside(lwi_plot_labels *l, double x, double y, double radius,
                                 double width, double size, lwi_plot_label_place *place)
{
    double best = l->strict ? STRICT : EXCLUDED, best_box[4] = {0};
    const double height = size + 2 * PAD;
    const int rings = l->strict ? 2 : LWI_COUNT(distances);
    for (int r = 0; r < rings; r++) {
        for (int k = 0; k < LWI_COUNT(directions); k++) {
            const double *d = directions[k];
            const double reach = radius + distances[r];
            // the side or corner of the box that faces the mark is at distance `reach`
            const double px = x + reach * d[0], py = y + reach * d[1];
            const double box[4] = {px - width * 0.5 * (1 - d[0] / fmax(fabs(d[0]), 0.8)),
                                   py - height * 0.5 * (1 - d[1]), width, height};
            const double cost = cost_of(l, box, 0.6 * r + 0.05 * k, best);
            if (cost >= best) continue;
            best = cost;
            for (int i = 0; i < 4; i++) best_box[i] = box[i];
            place->leader = r > 1;
        }
    }
    if (best >= (l->strict ? STRICT : EXCLUDED)) return false;
    place->x = best_box[0], place->y = best_box[1] + PAD + 0.8 * size;
    place->lead[0] = fmin(fmax(x, best_box[0]), best_box[0] + best_box[2]);
    place->lead[1] = fmin(fmax(y, best_box[1]), best_box[1] + best_box[3]);
    for (int i = 0; i < 4; i++) l->placed[l->nplaced][i] = best_box[i];
    l->nplaced++;
    return true;
}

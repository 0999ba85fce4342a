// order.c -- the order of the loops in a plan, and partitions that are determined loop by loop.
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <stdlib.h>

typedef lwi_cluster_scratch scratch;
typedef lwi_cluster_queue_entry entry;

enum { WAITING = LWI_CLUSTER_LOOP + 1 };

// ------------------------------------------------------------------------------------------- order

static int unknown(const lwi_clusters *c, const lwi_cluster_loop *loop)
{
    int n = 0;
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        if (!c->dependent[iv] || c->scratch->introduced[iv] >= 0) continue;
        if (!loop->side[i]) return WAITING;
        n++;
    }
    return n;
}

static void queue_loop(lwi_clusters *c, int loop)
{
    scratch *s = c->scratch;
    LWI_ASSERT_INDEX(loop, c->nloop);
    const int count = unknown(c, &c->loop[loop]);
    if (s->done[loop] || count == s->count[loop]) return;
    s->count[loop] = count;
    if (count == WAITING) return;
    LWI_ASSERT(s->nentry < c->nloop + s->first[c->parts.n]); // queue entries
    const bool last = s->by_rank && count > c->loop[loop].rank;
    const int at = last ? LWI_CLUSTER_LOOP + 1 + count : count;
    s->entry[s->nentry] = (entry){loop, count, s->head[at]};
    s->head[at] = s->nentry++;
}

// The loop with the fewest unknown speeds; by_rank: last those with more than their rows determine.  -1: none is left.
int lwi_clusters_next_loop(lwi_clusters *c)
{
    scratch *s = c->scratch;
    for (int at = 0; at < LWI_COUNT(s->head); at++)
        while (s->head[at] >= 0) {
            LWI_ASSERT_INDEX(s->head[at], s->nentry);
            const entry *e = &s->entry[s->head[at]];
            s->head[at] = e->next;
            if (!s->done[e->loop] && s->count[e->loop] == e->count) return e->loop;
        }
    return -1;
}

// ------------------------------------------------------------------------------------------ groups

typedef struct speeds {
    int n, iv[LWI_CLUSTER_DEPENDENT];
} speeds;

static bool contains(const speeds *of, int iv)
{
    for (int i = 0; i < of->n; i++)
        if (of->iv[i] == iv) return true;
    return false;
}

// Unknown speeds of a loop that are not in the list; appended to it if `add`.  touches: it has one of the list.
// @return their number; -1: the list is too short
static int more_unknown(const lwi_clusters *c, const lwi_cluster_loop *loop, speeds *list, bool add,
                        bool *touches)
{
    int n = 0;
    *touches = false;
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        if (!c->dependent[iv] || c->scratch->introduced[iv] >= 0) continue;
        const bool there = contains(list, iv);
        *touches = *touches || there;
        if (there) continue;
        n++;
        if (!add) continue;
        if (list->n == LWI_CLUSTER_DEPENDENT) return -1;
        list->iv[list->n++] = iv;
    }
    return n;
}

static bool is_in(const int *group, int n, int loop)
{
    for (int i = 0; i < n; i++)
        if (group[i] == loop) return true;
    return false;
}

// The loop that brings the fewest unknown speeds beyond its own rows, among those that share some with the list and parts
// with the group; -1: none.
static int closest_loop(const lwi_clusters *c, const int *group, int n, speeds *list)
{
    const scratch *s = c->scratch;
    int best = -1, fewest = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < c->loop[group[k]].n; j++) {
            const int part = c->loop[group[k]].part[j];
            for (int at = s->first[part]; at < s->first[part + 1]; at++) {
                const int i = s->list[at];
                bool touches;
                if (s->done[i] || c->loop[i].coupling >= 0 || is_in(group, n, i)) continue;
                const int more = more_unknown(c, &c->loop[i], list, false, &touches);
                const int excess = more - c->loop[i].rank;
                if (touches && (best < 0 || excess < fewest || (excess == fewest && i < best)))
                    best = i, fewest = excess;
            }
        }
    return best;
}

int lwi_clusters_group(const lwi_clusters *c, int loop, int *group)
{
    speeds list = {0};
    int n = 0, rank = 0;
    bool touches;
    if (c->loop[loop].coupling >= 0) return 0;
    for (int next = loop; next >= 0; next = closest_loop(c, group, n, &list)) {
        if (n == LWI_CLUSTER_CLOSINGS) return 0;
        group[n++] = next;
        rank += c->loop[next].rank;
        if (more_unknown(c, &c->loop[next], &list, true, &touches) < 0) return 0;
        if (list.n <= rank) return n;
    }
    return 0;
}

void lwi_clusters_queue_all(lwi_clusters *c, bool by_rank)
{
    scratch *s = c->scratch;
    s->by_rank = by_rank;
    s->nentry = 0;
    for (int i = 0; i < c->nv; i++) s->counted[i] = s->introduced[i] >= 0;
    for (int i = 0; i < LWI_COUNT(s->head); i++) s->head[i] = -1;
    for (int i = c->nloop - 1; i >= 0; i--) {
        s->done[i] = false;
        s->count[i] = -1;
        queue_loop(c, i);
    }
}

static int by_place(const void *a, const void *b)
{
    const lwi_cluster_change *x = a, *y = b;
    return x->place != y->place ? x->place - y->place : x->loop - y->loop;
}

// The first part of `loop` that the other one has, too.
static int shared_place(const lwi_cluster_loop *loop, const lwi_cluster_loop *other)
{
    for (int i = 0; i < loop->n; i++)
        for (int k = 0; k < other->n; k++)
            if (other->part[k] == loop->part[i]) return i;
    return loop->n;
}

// Queues the loops that share coordinates with this one which it has introduced, in the order of its parts.  All loops of a
// platform share some: they are counted once for each.
void lwi_clusters_queue_neighbours(lwi_clusters *c, const lwi_cluster_loop *loop)
{
    scratch *s = c->scratch;
    int n = 0;
    for (int i = 0; i < loop->n; i++) {
        const int part = loop->part[i], iv = c->parts.part[part].iv;
        if (s->counted[iv] || s->introduced[iv] < 0) continue;
        s->counted[iv] = true;
        for (int k = s->first[part]; k < s->first[part + 1]; k++) {
            const int other = s->list[k];
            if (s->touched[other]) continue;
            s->touched[other] = true;
            s->changed[n++] = (lwi_cluster_change){shared_place(loop, &c->loop[other]), other};
        }
    }
    qsort(s->changed, (size_t)n, sizeof *s->changed, by_place);
    for (int i = 0; i < n; i++) {
        s->touched[s->changed[i].loop] = false;
        queue_loop(c, s->changed[i].loop);
    }
}

// ------------------------------------------------------------------------------------- preference

// A column with a smaller part orthogonal to the accepted ones is not a new direction: far above rounding and drift,
// far below the pivots of well-conditioned partitions.
#define DIRECTION 1e-3

// Accepts columns of class `dependent` that are new directions, the largest orthogonal part first, and appends them to
// the orthonormal basis q [n].  Returns the new size of the basis.
static int take_directions(lwi_clusters *c, const lwi_cluster_loop *loop, int number, int dependent,
                           lwi_clusters_row_column *column, const void *user, double (*q)[6], int n)
{
    double w[LWI_CLUSTER_LOOP][6], length[LWI_CLUSTER_LOOP];
    bool open[LWI_CLUSTER_LOOP] = {false};
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        open[i] = loop->side[i] && c->scratch->introduced[iv] < 0 && c->dependent[iv] == dependent;
        if (!open[i]) continue;
        column(user, number, loop->side[i], iv, w[i]);
        length[i] = sqrt(v3_dot(w[i], w[i]) + v3_dot(w[i] + 3, w[i] + 3));
        for (int k = 0; k < n; k++) {
            const double part = v3_dot(w[i], q[k]) + v3_dot(w[i] + 3, q[k] + 3);
            for (int j = 0; j < 6; j++) w[i][j] -= part * q[k][j];
        }
    }
    for (;;) {
        int best = -1;
        double max = 0;
        for (int i = 0; i < loop->n; i++) {
            if (!open[i]) continue;
            const double part = sqrt(v3_dot(w[i], w[i]) + v3_dot(w[i] + 3, w[i] + 3));
            if (n < 6 && part > DIRECTION * length[i] && part > max) max = part, best = i;
        }
        if (best < 0) break;
        LWI_ASSERT(n < 6 && max > 0);
        for (int j = 0; j < 6; j++) q[n][j] = w[best][j] / max;
        open[best] = false;
        c->dependent[c->parts.part[loop->part[best]].iv] = 2; // decided
        for (int i = 0; i < loop->n; i++) {
            if (!open[i]) continue;
            const double share = v3_dot(w[i], q[n]) + v3_dot(w[i] + 3, q[n] + 3);
            for (int j = 0; j < 6; j++) w[i][j] -= share * q[n][j];
        }
        n++;
    }
    return n;
}

// The dependent speeds of a loop: first those that were dependent, as many as are new directions,
// then others.
static void decide(lwi_clusters *c, int number, lwi_clusters_row_column *column, const void *user)
{
    const lwi_cluster_loop *loop = &c->loop[number];
    double q[6][6];
    const int n = take_directions(c, loop, number, 1, column, user, q, 0);
    take_directions(c, loop, number, 0, column, user, q, n);
    for (int i = 0; i < loop->n; i++) {
        const int iv = c->parts.part[loop->part[i]].iv;
        if (c->scratch->introduced[iv] >= 0) continue;
        c->scratch->introduced[iv] = 0;
        c->dependent[iv] = c->dependent[iv] == 2;
    }
}

static void introduce_roots(lwi_clusters *c)
{
    const lwi_k_part *part = c->parts.part;
    for (int i = 0; i < c->parts.n;) {
        bool free = part[i].parent < 0 || c->scratch->introduced[part[part[i].parent].iv] >= 0;
        int last = i;
        for (; last < c->parts.n && c->node_of[part[last].iv] == c->node_of[part[i].iv]; last++)
            free = free && !c->dependent[part[last].iv];
        for (; i < last; i++)
            if (free) c->scratch->introduced[part[i].iv] = 0;
    }
}

bool lwi_clusters_prefer(lwi_clusters *c, lwi_clusters_row_column *column, const void *user,
                         bool all_loops, unsigned char *dependent)
{
    const size_t n = (size_t)c->nfree;
    scratch *s = c->scratch;
    int before = 0, after = 0;
    memcpy(c->dependent, dependent, n);
    for (int i = 0; all_loops && i < c->nloop; i++)
        for (int k = 0; k < c->loop[i].n; k++)
            if (c->loop[i].side[k] && c->parts.part[c->loop[i].part[k]].iv < c->nfree)
                c->dependent[c->parts.part[c->loop[i].part[k]].iv] = 1;
    for (int i = 0; i < c->nv; i++) s->introduced[i] = i < c->nfree ? -1 : 0;
    introduce_roots(c);
    lwi_clusters_queue_all(c, false);
    for (int k = 0; k < c->nloop; k++) {
        const int at = lwi_clusters_next_loop(c);
        if (at < 0) return false;
        LWI_ASSERT(!s->done[at]);
        s->done[at] = true;
        decide(c, at, column, user);
        lwi_clusters_queue_neighbours(c, &c->loop[at]);
    }
    for (int i = 0; i < c->nfree; i++) before += dependent[i], after += c->dependent[i];
    if (before != after || memcmp(dependent, c->dependent, n) == 0) return false;
    memcpy(dependent, c->dependent, n);
    return true;
}

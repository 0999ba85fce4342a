// chains.c -- errors of long open chains against Newton-Euler equations in long double, beside the change that the last
// bits of the state make.
//
// usage: bench_chains [N ...]      numbers of bodies; default 64 1000 10000 100000 (0.5 GB, half a minute)
//
// Errors are the largest ones by the largest value.  States are drawn at random: angles and speeds, and momenta of these
// speeds, rounded to doubles.
//
//   accelerations of speeds  last bits: of long double, where each coordinate and speed changes by up to half a unit in
//                            its last place;  aba, dca: of rates;  aba, row: of a row of results
//   speeds of momenta        rounded: of long double, at momenta rounded to doubles;  last bits: the same for coordinates
//                            and momenta;  momenta, hdca: of rates;  joined: of hdca by the general elimination
//   accelerations of momenta the same, of rows of results
#include "kinematics/formulation.h"
#include "support/long_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 3, MOST_JOINED = 20000 };

static void stop(const char *why)
{
    fprintf(stderr, "bench_chains: %s\n", why);
    exit(1);
}

static void *zeros(int n, size_t size)
{
    void *room = calloc((size_t)n, size);
    if (!room) stop("no memory");
    return room;
}

typedef struct state {
    const lw_model *model;
    int nq, nv;
    lwt_chain_reference *chain;     // at q
    lwt_real *q, *u, *p, *u_of_p;   // p: rounded momenta of u
    lwt_real *rates[2], *change[2]; // accelerations at u, and at u_of_p; room
    double *x, *xdot;
    uint64_t seed;
} state;

static state state_of(const lw_model *model)
{
    state s = {.model = model, .nq = model->tree_nq, .nv = model->tree_nv, .seed = 7};
    lwt_real **const room[] = {&s.q,        &s.u,        &s.p,         &s.u_of_p,
                               &s.rates[0], &s.rates[1], &s.change[0], &s.change[1]};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        *room[i] = zeros(s.nq + s.nv, sizeof **room[i]);
    s.x = zeros(s.nq + s.nv + 1, sizeof *s.x);
    s.xdot = zeros(s.nq + s.nv + 1, sizeof *s.xdot);
    for (int i = 0; i < s.nq; i++) s.q[i] = model->tree_q0[i];
    for (int i = 0; i < s.nv; i++) s.u[i] = lwt_draw(&s.seed);
    s.chain = lwt_chain_reference_create(model, s.q);
    if (!s.chain) stop("no memory");
    return s;
}

static void release(state *s)
{
    lwt_chain_reference_destroy(s->chain);
    lwt_real *const room[] = {s->q,        s->u,        s->p,         s->u_of_p,
                              s->rates[0], s->rates[1], s->change[0], s->change[1]};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) free(room[i]);
    free(s->x), free(s->xdot);
}

static void number(double x)
{
    printf("  %8.1e", x);
}

// ---------------------------------------------------------------------------------------- reference

// Largest changes by the last bits of q and of the other half of the state: of speeds [0] and accelerations [1].
static void last_bits(state *s, bool momenta, double most[2])
{
    lwt_real *q = zeros(s->nq, sizeof *q), *y = zeros(s->nv, sizeof *y),
             *u = zeros(s->nv, sizeof *u);
    most[0] = most[1] = 0;
    for (int i = 0; i < TRIALS; i++) {
        lwt_last_bits(s->q, s->nq, &s->seed, q);
        lwt_last_bits(momenta ? s->p : s->u, s->nv, &s->seed, y);
        lwt_chain_reference *near = lwt_chain_reference_create(s->model, q);
        if (!near) stop("no memory");
        if (momenta)
            lwt_chain_reference_speeds(near, y, u, NULL);
        else
            memcpy(u, y, (size_t)s->nv * sizeof *u);
        lwt_chain_reference_accelerations(near, u, s->change[1], NULL);
        most[0] = fmax(most[0], lwt_off(u, momenta ? s->u_of_p : s->u, s->nv));
        most[1] = fmax(most[1], lwt_off(s->change[1], s->rates[momenta], s->nv));
        lwt_chain_reference_destroy(near);
    }
    free(q), free(y), free(u);
}

// Momenta of the speeds, rounded, and what follows from them.  Returns the reference's own error: speeds of the momenta of
// the speeds.
static double round_momenta(state *s)
{
    lwt_chain_reference_accelerations(s->chain, s->u, s->rates[0], NULL);
    lwt_chain_reference_momenta(s->chain, s->u, s->p);
    lwt_chain_reference_speeds(s->chain, s->p, s->u_of_p, NULL);
    const double own = lwt_off(s->u_of_p, s->u, s->nv);
    for (int i = 0; i < s->nv; i++) s->p[i] = (double)s->p[i];
    lwt_chain_reference_speeds(s->chain, s->p, s->u_of_p, NULL);
    lwt_chain_reference_accelerations(s->chain, s->u_of_p, s->rates[1], NULL);
    return own;
}

// ------------------------------------------------------------------------------------- formulations

// Errors of rates: of speeds [0] and of the second half [1] where it has accelerations; of accelerations of a row [2].
static void evaluate(state *s, const char *name, int lanes, double off[3])
{
    const lwi_formulation *formulation = lwi_formulation_find(name);
    const bool momenta = !(formulation->flags & LWI_HAS_SPEEDS) || strcmp(name, "momenta") == 0;
    lwi_work *work;
    lwi_snapshot now;
    lwi_arena arena;
    lw_error error;
    lwi_arena_init(&arena, NULL);
    if (lwi_work_create_lanes(s->model, formulation, NULL, lanes, &work, &error) != LW_OK)
        stop(error.text);
    if (lwi_snapshot_create(s->model, &arena, &now) != LW_OK) stop("no memory");
    for (int i = 0; i < s->nq; i++) s->x[i] = (double)s->q[i];
    for (int i = 0; i < s->nv; i++) s->x[s->nq + i] = (double)(momenta ? s->p : s->u)[i];
    if (formulation->rates(work, 0, s->x, NULL, s->xdot) != LW_OK ||
        formulation->observe(work, 0, s->x, NULL, LW_OBSERVE_ACCELERATION, &now) != LW_OK)
        stop(work->error.text);
    off[0] = lwt_off_double(s->xdot, momenta ? s->u_of_p : s->u, s->nv);
    off[1] = lwt_off_double(s->xdot + s->nq, s->rates[0], s->nv);
    off[2] = lwt_off_double(now.qdd, s->rates[momenta], s->nv);
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
}

static void row(lwt_long_chain_kind kind, const char *name, int n)
{
    lw_error error = {.text = "no memory"};
    lw_model *model = lwt_long_chain(kind, n, &error);
    if (!model) stop(error.text);
    state s = state_of(model);
    double own = round_momenta(&s), of_speeds[2], of_momenta[2], aba[3], dca[3], momenta[3],
           hdca[3], joined[3] = {0};
    last_bits(&s, false, of_speeds);
    last_bits(&s, true, of_momenta);
    evaluate(&s, "aba", 0, aba);
    evaluate(&s, "dca", 0, dca);
    evaluate(&s, "momenta", 0, momenta);
    evaluate(&s, "hdca", 0, hdca);
    if (n <= MOST_JOINED) evaluate(&s, "hdca", LWI_NO_KERNEL, joined);
    printf("%7d  %-7s", n, name);
    number(of_speeds[1]), number(aba[1]), number(dca[1]), number(aba[2]);
    printf(" |"), number(own), number(lwt_off(s.u_of_p, s.u, s.nv)), number(of_momenta[0]);
    number(momenta[0]), number(hdca[0]);
    if (n <= MOST_JOINED)
        number(joined[0]);
    else
        printf("         -");
    printf(" |"), number(of_momenta[1]), number(momenta[2]), number(hdca[2]);
    printf("\n");
    fflush(stdout);
    release(&s);
    lw_model_destroy(model);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {64, 1000, 10000, 100000};
    const int rows = argc > 1 ? argc - 1 : (int)(sizeof sizes / sizeof *sizes);
    printf("%16s  %-38s | %-58s | %s\n", "", "accelerations of speeds", "speeds of momenta",
           "accelerations of momenta");
    printf("%7s  %-7s  %8s  %8s  %8s  %8s |  %8s  %8s  %8s  %8s  %8s  %8s |  %8s  %8s  %8s\n",
           "bodies", "axes", "last", "aba", "dca", "aba,", "long", "rounded", "last", "momenta",
           "hdca", "hdca,", "last", "momenta", "hdca");
    printf("%16s  %8s  %8s  %8s  %8s |  %8s  %8s  %8s  %8s  %8s  %8s |  %8s\n", "", "bits", "", "",
           "row", "double", "", "bits", "", "", "joined", "bits");
    for (int i = 0; i < rows; i++) {
        char *end = NULL;
        const long n = argc > 1 ? strtol(argv[i + 1], &end, 10) : sizes[i];
        if (n < 1 || n > 1 << 20 || (end && *end))
            stop("expected numbers of bodies from 1 to 1048576");
        row(LWT_CHAIN_RANDOM, "random", (int)n);
        row(LWT_CHAIN_SQUARE, "square", (int)n);
    }
    return 0;
}

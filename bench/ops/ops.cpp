// ops.cpp -- counts the operations of the kernels by running them.
//
// Method: the kernels of src/tree/simd are compiled here with a counting `real` (base/simd/lane.inl of
// this folder precedes theirs in the include path) and run on chains of pin joints.  Their results
// must equal those of the library bit for bit, which proves that the counted kernels are those in use.
//
// Two chains: axes at any angle and distance, as counted in naudet2003, and the chain of the
// benchmarks with perpendicular axes.  All operations are counted except sines and cosines; a division
// counts as one multiplication, as in the paper.  Gravity is included.  The paper gives 363 n - 475
// for three links or more with a prescribed wrench on each body.
//
// Output: counts a n + b, computed from two chains and checked on two others.
//
// Exit status: 0; 1 if results differ or a count of momenta exceeds the paper's.
extern "C" {
#include "base/base.h"
#include "tree/kernel.h"
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// The kernel sources are valid C and C++.
#define ISA counting
#define WIDEST 1
extern "C" {
#include "tree/simd/kernels.c"
}

#include "oblique.hpp"

namespace
{

void stop(const char *what)
{
    fprintf(stderr, "ops: %s\n", what);
    exit(1);
}

enum shape { OBLIQUE, SQUARE };

struct chain {
    int n;
    lw_model *model = nullptr;
    std::vector<double> q, v, tau, out, rate;
    chain(shape of, int n) : n(n), q(n), v(n), tau(n), out(n), rate(n)
    {
        lw_error error = {};
        std::vector<scene_body> body((size_t)n);
        scene_fill(SCENE_CHAIN, n, body.data());
        const lw_status status = of == OBLIQUE ? oblique_chain(n, &model, &error)
                                               : scene_model(SCENE_CHAIN, n, &model, &error);
        if (status != LW_OK) stop(error.text);
        scene_state(SCENE_CHAIN, body.data(), n, q.data(), v.data(), tau.data());
    }
    ~chain() { lw_model_destroy(model); }
};

typedef bool evaluation(const lwi_kernel *kernel, chain &c);

bool accelerations(const lwi_kernel *kernel, chain &c)
{
    return lwi_kernel_aba(kernel, c.q.data(), c.v.data(), c.tau.data(), c.out.data());
}
bool momenta_of(const lwi_kernel *kernel, chain &c)
{
    return lwi_kernel_momenta(kernel, c.q.data(), c.v.data(), c.out.data(), c.rate.data());
}

// Runs the counting kernel and the library's, compares the results, returns the counts.
counts segment(evaluation *evaluate, shape of, int n)
{
    chain c(of, n);
    lwi_arena arena;
    lwi_kernel *kernel = nullptr;
    lwi_arena_init(&arena, nullptr);
    if (lwi_kernel_create_chosen(c.model, 1, lwi_k_choice{0, 0}, &arena, &kernel) != LW_OK ||
        !kernel)
        stop("no kernel");
    if (!evaluate(kernel, c)) stop("the library refuses this state");
    const std::vector<double> out = c.out, rate = c.rate;
    kernel->kernels = &lwi_kernels_counting;
    bool same = false;
    for (int i = 0; i < 2 && !same; i++) {
        one_rounding = i == 0;
        counted = {};
        if (!evaluate(kernel, c)) stop("the counting text refuses this state");
        same = !memcmp(out.data(), c.out.data(), out.size() * sizeof(double)) &&
               !memcmp(rate.data(), c.rate.data(), rate.size() * sizeof(double));
    }
    const counts found = counted;
    if (!same) stop("the counting text and the library differ");
    lwi_arena_free(&arena);
    return found;
}

counts sine_and_cosine()
{
    lwi_lanes angle = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, sine, cosine;
    counted = {};
    lwi_kernels_counting.sincos(angle, sine, cosine);
    return {counted.multiplications / LWI_LANES, counted.additions / LWI_LANES,
            counted.divisions / LWI_LANES, counted.comparisons / LWI_LANES,
            counted.fused / LWI_LANES};
}

struct line {
    double per_body[3], at0[3],
        fused; // multiplications, divisions among them; additions; sum
};

// The counts of n links without sines and cosines.
void count(evaluation *evaluate, shape of, int n, double found[3], double *fused)
{
    const counts all = segment(evaluate, of, n), trig = sine_and_cosine();
    found[0] = (double)(all.multiplications + all.divisions - n * trig.multiplications);
    found[1] = (double)(all.additions - n * trig.additions);
    found[2] = found[0] + found[1];
    *fused = (double)(all.fused - n * trig.fused);
}

// The lengths are multiples of eight, so blocks have no padding, and differ by multiples of three, the
// period of the axes of the benchmark's chain.
line report(const char *name, evaluation *evaluate, shape of)
{
    const int first = 24, second = 48, others[2] = {of == OBLIQUE ? 8 : 96, 72};
    line l = {};
    double a[3], b[3], c[3], fused[3];
    count(evaluate, of, first, a, &fused[0]);
    count(evaluate, of, second, b, &fused[1]);
    for (int i = 0; i < 3; i++) {
        l.per_body[i] = (b[i] - a[i]) / (second - first);
        l.at0[i] = a[i] - first * l.per_body[i];
    }
    for (int n : others) {
        count(evaluate, of, n, c, &fused[2]);
        for (int i = 0; i < 3; i++)
            if (fabs(c[i] - (l.at0[i] + n * l.per_body[i])) > 0.5) stop("a count is not linear");
    }
    l.fused = (fused[1] - fused[0]) / (second - first);
    printf("%-16s %6.4g n %+5.4g x %6.4g n %+5.4g +  %6.4g n %+5.4g   %6.4g pairs fused\n", name,
           l.per_body[0], l.at0[0], l.per_body[1], l.at0[1], l.per_body[2], l.at0[2], l.fused);
    return l;
}

// Both counts are linear in n: comparing them at three links and their slopes covers n >= 3.
bool within(const line &l, double per_body, double at0)
{
    return l.per_body[2] <= per_body && 3 * l.per_body[2] + l.at0[2] <= 3 * per_body + at0;
}

} // namespace

int main()
{
    const double paper = 363, paper_at0 = -475;
    const counts trig = sine_and_cosine();
    printf("chains of n pin joints; multiplications (divisions among them), additions, sum\n");
    const line oblique = report("momenta oblique", momenta_of, OBLIQUE);
    const line square = report("momenta square", momenta_of, SQUARE);
    report("aba oblique", accelerations, OBLIQUE);
    report("aba square", accelerations, SQUARE);
    printf("%-16s %6.4g n %+5.4g x %6.4g n %+5.4g +  %6.4g n %+5.4g   naudet2003, momenta\n",
           "paper", 185., -245., 178., -230., paper, paper_at0);
    printf("sine and cosine, not in these: %ld x %ld + each\n", trig.multiplications,
           trig.additions);
    const bool kept = within(oblique, paper, paper_at0) && within(square, paper, paper_at0);
    if (!kept) printf("momenta: more than naudet2003 counts\n");
    return kept ? 0 : 1;
}

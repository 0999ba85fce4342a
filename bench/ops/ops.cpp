// ops.cpp -- counts the operations of the kernels by running them.
//
// The texts of src/kernel are compiled here with a `real` that counts (kernel/lane.inl of this
// folder stands before theirs), and run on chains of pin joints.  Their results must be those of
// the library bit for bit, which shows that the text counted is the text that runs.
//
// Counts are those of one recursion, per body: the difference between chains of 24 and of 16 links.
// naudet2003 states 363 n - 475 operations for momenta (185 n - 245 multiplications, 178 n - 230
// additions) with a given wrench on each body, sines and cosines not counted; with every zero and
// constant folded 351 n - 551 are reached (tests/formulation/test_momenta_count.c; divisions are
// multiplications there).  The kernels are uniform: the ends of the chain are not spared, and
// padding to blocks of eight is work, too.
//
// Exit status: 0; 1 when results differ.
extern "C" {
#include "base/base.h"
#include "kernel/kernel.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// The kernels' C is C++ as well.
#define ISA counting
#define WIDEST 1
extern "C" {
#include "kernel/kernels.inl"
}

extern "C" {
#include "cli/scene_model.h"
}

namespace
{

const double paper[2] = {185, 178}; // multiplications and additions per body

void stop(const char *what)
{
    fprintf(stderr, "ops: %s\n", what);
    exit(1);
}

struct chain {
    int n;
    lw_model *model = nullptr;
    std::vector<double> q, v, tau, out, rate;
    explicit chain(int n) : n(n), q(n), v(n), tau(n), out(n), rate(n)
    {
        lw_error error = {};
        std::vector<scene_body> body((size_t)n);
        scene_fill(SCENE_CHAIN, n, body.data());
        if (scene_model(SCENE_CHAIN, n, &model, &error) != LW_OK) stop(error.text);
        scene_state(body.data(), n, q.data(), v.data(), tau.data());
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

// Runs the counting text and the library's, compares, returns the count.
counts run(evaluation *evaluate, int n)
{
    chain c(n);
    lwi_arena arena;
    lwi_kernel *kernel = nullptr;
    lwi_arena_init(&arena, nullptr);
    if (lwi_kernel_create(c.model, 1, &arena, &kernel) != LW_OK || !kernel) stop("no kernel");
    if (kernel->plan->runs) stop("this chain is cut into runs");
    if (!evaluate(kernel, c)) stop("the library refuses this state");
    const std::vector<double> out = c.out, rate = c.rate;
    kernel->text = &lwi_kernels_counting;
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

// Operations per body but for the sine and cosine, and what is left at n = 0.
void report(const char *name, evaluation *evaluate)
{
    const counts a = run(evaluate, 16), b = run(evaluate, 24), trig = sine_and_cosine();
    const double m =
        (double)(b.multiplications - a.multiplications) / 8 - (double)trig.multiplications;
    const double s = (double)(b.additions - a.additions) / 8 - (double)trig.additions;
    const double d = (double)(b.divisions - a.divisions) / 8;
    const double at0 = (double)(a.multiplications + a.additions + a.divisions) -
                       16 * (m + s + d + (double)(trig.multiplications + trig.additions));
    const double fused = (double)(b.fused - a.fused) / 8 - (double)trig.fused;
    printf("%-8s %8.4g x %8.4g + %6.4g /   %8.4g n %+.4g    %.4g pairs fused\n", name, m, s, d,
           m + s + d, at0, fused);
}

} // namespace

int main()
{
    const counts trig = sine_and_cosine();
    printf("per body of a chain of pin joints; multiplications, additions, divisions; sum\n");
    report("momenta", momenta_of);
    report("aba", accelerations);
    printf("paper    %8.4g x %8.4g +            363 n -475    naudet2003, momenta\n", paper[0],
           paper[1]);
    printf("folded   %8d x %8d +            351 n -551    tests/formulation/test_momenta_count\n",
           178, 173);
    printf("sine and cosine, not in these: %ld x %ld + each\n", trig.multiplications,
           trig.additions);
    return 0;
}

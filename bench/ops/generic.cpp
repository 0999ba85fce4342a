// generic.cpp -- counts the operations of the generic `momenta` and `aba` by running them.
//
// Method: the sources that compute are compiled with a counting number type (source.cpp) and replace
// those of the library at link time.  Sines and cosines are not counted.  The chain is that of ops.cpp
// with axes at any angle.
// Output: multiplications, additions and their sum as a n + b, for ten links and more.
#include "number.hpp"
#include "oblique.hpp"

extern "C" {
#include "kinematics/formulation.h"
}

#include <cstdio>
#include <vector>

operations counted;

namespace
{

operations evaluate(const lwi_formulation *formulation, int n)
{
    lw_model *model = nullptr;
    lwi_work *work = nullptr;
    lw_error error = {};
    if (oblique_chain(n, &model, &error) != LW_OK ||
        lwi_work_create_lanes(model, formulation, nullptr, LWI_NO_KERNEL, &work, &error) != LW_OK)
        oblique_stop(error.text);
    std::vector<double> x(2 * (size_t)n), rates(2 * (size_t)n);
    uint64_t draws = 3;
    for (double &value : x) value = scene_draw(&draws);
    counted = {};
    if (formulation->rates(work, 0, x.data(), nullptr, rates.data()) != LW_OK)
        oblique_stop(work->error.text);
    const operations found = counted;
    lwi_work_destroy(work);
    lw_model_destroy(model);
    return found;
}

void report(const char *name, const lwi_formulation *formulation)
{
    const int first = 10, second = 20;
    const operations a = evaluate(formulation, first), b = evaluate(formulation, second);
    const double m = (double)(b.multiplications + b.divisions - a.multiplications - a.divisions) /
                     (second - first),
                 s = (double)(b.additions - a.additions) / (second - first);
    const double m0 = (double)(a.multiplications + a.divisions) - first * m,
                 s0 = (double)a.additions - first * s;
    printf("%-16s %6.4g n %+5.4g x %6.4g n %+5.4g +  %6.4g n %+5.4g   generic text\n", name, m, m0,
           s, s0, m + s, m0 + s0);
}

} // namespace

int main()
{
    report("momenta generic", &lwi_formulation_momenta);
    report("aba generic", &lwi_formulation_aba);
    return 0;
}

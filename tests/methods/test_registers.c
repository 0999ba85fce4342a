// test_registers.c -- evaluations in lanes leave no vector registers in use.
//
// While upper halves of vector registers are in use, processors take two to three times as long for code without
// vector instructions that follows: the integrator, observations, forces of the model.  Compilers clear them at
// the end of functions, but not after calls with vectors as arguments.
#include "support/mechanism.h"
#include "support/run.h"

#if defined(__x86_64__) && defined(__OPTIMIZE__) // else nothing is kept in registers, or cleared
#include <cpuid.h>

// Can the processor report which registers are in use?
static bool can_report_use(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4)) return false;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) && (c & bit_AVX);
}

// Upper halves in use: bits 2 of 256, 6 of 512 bits.
static unsigned in_use(void)
{
    unsigned a, d;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a & (1u << 2 | 1u << 6);
}

__attribute__((target("avx"))) static void clear(void)
{
    __asm__ volatile("vzeroupper" ::: "memory");
}
#else
static bool can_report_use(void)
{
    return false;
}
static unsigned in_use(void)
{
    return 0;
}
static void clear(void) {}
#endif

enum { TURNS = 5 };

static void check(lw_mechanism_desc desc, const char *what)
{
    lw_model *model = lwt_generated(desc);
    for (int i = 0; i < lw_formulation_count(); i++) {
        const lwi_formulation *f = lwi_formulation_find(lw_formulation_info(i).name);
        if (!f->rates || lwi_formulation_accepts(f, model, NULL) != LW_OK) continue;
        lwt_run r = lwt_run_start(model, f);
        double *rates = lwt_vector(r.work->layout.nx);
        bool left = true;
        for (int k = 0; k < TURNS && left; k++) { // the first sets up, others may be interrupted
            clear();
            lwt_ok(f->rates(r.work, 0, r.x, NULL, rates), &r.work->error);
            left = in_use();
        }
        if (left) fail_msg("%s by %s: upper halves of registers are in use", what, f->name);
        free(rates);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

static void none_is_left_in_use(void **state)
{
    (void)state;
    clear();
    if (!can_report_use() || in_use()) {
        print_message("this processor does not report it\n");
        skip();
    }
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 40}, "chain");
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 40, .joint = 2},
          "chain of balls");
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_TREE, .n = 31}, "tree");
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 8, .joint = 2}, "loop");
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 9, .q = {0.3}, .qd = {1}},
          "four-bars");
    check(
        (lw_mechanism_desc){
            .mechanism = LW_MECHANISM_LADDER, .n = 9, .q = {0.2, 0.3}, .qd = {0.5, 1}},
        "ladder");
    check((lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 3, .m = 3, .q = {0.3}}, "net");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_is_left_in_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

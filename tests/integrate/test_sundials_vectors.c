// test_sundials_vectors.c -- our operations on vectors have the bits of those of SUNDIALS.
#include "integrate/sundials_memory.h"

#include "support/given.h"

#include <nvector/nvector_serial.h>

#include <math.h>

enum { TERMS = 7, LONGEST = 200 };

static uint64_t state_of_random = 1;

static double random_number(void)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(state_of_random >> 11) / 4503599627370496.0 - 1;
    return x * exp(6 * x);
}

typedef struct pair {
    N_Vector ours, theirs;
} pair;

static pair make(lwi_sundials_memory *memory, SUNContext context)
{
    const pair p = {lwi_sundials_vector(memory, NULL), N_VNew_Serial(memory->n, context)};
    assert_true(p.ours && p.theirs);
    for (int i = 0; i < memory->n; i++)
        NV_Ith_S(p.ours, i) = NV_Ith_S(p.theirs, i) = random_number();
    return p;
}

static void compare(const char *what, int n, pair p)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&NV_Ith_S(p.ours, i), &NV_Ith_S(p.theirs, i), sizeof(double)) != 0)
            fail_msg("%s, %d components: [%d] is %.17g, expected %.17g", what, n, i,
                     NV_Ith_S(p.ours, i), NV_Ith_S(p.theirs, i));
}

static void compare_length(int n, SUNContext context)
{
    // SUNDIALS has other loops for 1 and -1, and for factors that are equal or opposite
    static const double factor[] = {1, -1, 0, 0.3, -0.3, 1.7};
    lwi_sundials_memory memory = {0};
    assert_true(lwi_sundials_memory_create(&memory, n, NULL, context));
    pair p[TERMS + 1];
    for (int k = 0; k <= TERMS; k++) p[k] = make(&memory, context);
    const pair z = p[TERMS];
#define BOTH(call_ours, call_theirs, what, result)                                                 \
    call_ours;                                                                                     \
    call_theirs;                                                                                   \
    compare(what, n, result)
    for (int i = 0; i < LWI_COUNT(factor); i++) {
        const double a = factor[i];
        BOTH(N_VScale(a, p[0].ours, z.ours), N_VScale(a, p[0].theirs, z.theirs), "scale", z);
        BOTH(N_VScale(a, z.ours, z.ours), N_VScale(a, z.theirs, z.theirs), "scale in place", z);
        for (int j = 0; j < LWI_COUNT(factor); j++) {
            const double b = factor[j];
            BOTH(N_VLinearSum(a, p[0].ours, b, p[1].ours, z.ours),
                 N_VLinearSum(a, p[0].theirs, b, p[1].theirs, z.theirs), "sum", z);
            BOTH(N_VLinearSum(a, p[0].ours, b, z.ours, z.ours),
                 N_VLinearSum(a, p[0].theirs, b, z.theirs, z.theirs), "sum onto the second", z);
            BOTH(N_VLinearSum(a, z.ours, b, p[1].ours, z.ours),
                 N_VLinearSum(a, z.theirs, b, p[1].theirs, z.theirs), "sum onto the first", z);
        }
    }
    for (int count = 1; count <= TERMS; count++)
        for (int first = 0; first < 2; first++) { // the result is the first term, with factor 1
            double c[TERMS];
            N_Vector ours[TERMS], theirs[TERMS];
            for (int k = 0; k < count; k++)
                c[k] = random_number(), ours[k] = p[k].ours, theirs[k] = p[k].theirs;
            if (first) c[0] = 1, ours[0] = z.ours, theirs[0] = z.theirs;
            BOTH(N_VLinearCombination(count, c, ours, z.ours),
                 N_VLinearCombination(count, c, theirs, z.theirs), "combination", z);
        }
    BOTH(N_VAbs(p[2].ours, z.ours), N_VAbs(p[2].theirs, z.theirs), "magnitudes", z);
    BOTH(N_VAddConst(p[2].ours, 0.1, z.ours), N_VAddConst(p[2].theirs, 0.1, z.theirs), "added", z);
    BOTH(N_VInv(p[2].ours, z.ours), N_VInv(p[2].theirs, z.theirs), "inverses", z);
#undef BOTH
    const double ours = N_VWrmsNorm(p[3].ours, p[4].ours),
                 theirs = N_VWrmsNorm(p[3].theirs, p[4].theirs);
    if (memcmp(&ours, &theirs, sizeof ours) != 0)
        fail_msg("norm of %d components: %.17g, expected %.17g", n, ours, theirs);
    for (int k = 0; k <= TERMS; k++) N_VDestroy(p[k].theirs);
    lwi_sundials_memory_destroy(&memory);
}

static void operations_have_the_bits_of_sundials(void **state)
{
    (void)state;
    SUNContext context;
#if SUNDIALS_VERSION_MAJOR < 7
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
#else
    assert_int_equal(SUNContext_Create(SUN_COMM_NULL, &context), 0);
#endif
    static const int length[] = {1, 2, 7, 63, 64, 65, 128, LONGEST};
    for (int i = 0; i < LWI_COUNT(length); i++) compare_length(length[i], context);
    SUNContext_Free(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations_have_the_bits_of_sundials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

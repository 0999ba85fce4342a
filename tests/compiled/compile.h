// compile.h -- compiled models for tests: a folder for each test, states, a mechanism with dead points.
#ifndef LWT_COMPILE_H
#define LWT_COMPILE_H

#include "codegen/generated.h"
#include "compiled/compiled.h"
#include "support/given.h"
#include "support/random_model.h"

#include <sys/stat.h>

__attribute__((unused)) static char cache[256];

// An empty cache of this test alone.
static inline void new_cache(const char *name)
{
    char where[200];
    assert_non_null(getcwd(where, sizeof where));
    snprintf(cache, sizeof cache, "%.150s/%s/%.20s", where, folder, name);
}

static inline lw_compiled_desc desc_of(int lanes, bool rates_only)
{
    return (lw_compiled_desc){
        .compiler = LW_C_COMPILER, .cache = cache, .lanes = lanes, .rates_only = rates_only};
}

// A compiler: the shell executes `body` before the C compiler does the work.
static inline void write_compiler(const char *name, const char *body, char path[300])
{
    char where[200];
    assert_non_null(getcwd(where, sizeof where));
    snprintf(path, 300, "%.150s/%s/%s", where, folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\ncase \"$*\" in *--version*) echo %s 1.0; exit 0;; esac\n%s\n", name,
            body);
    fprintf(file, "exec %s \"$@\"\n", LW_C_COMPILER);
    fclose(file);
    assert_int_equal(0, chmod(path, 0700));
}

// The C compiler without optimisation: for large models, which take it a minute each with the flags of users.
static inline lw_compiled_desc quick_desc_of(int lanes, bool rates_only)
{
    static char quick[300];
    lw_compiled_desc desc = desc_of(lanes, rates_only);
    write_compiler("quick", "set -- \"$@\" -O0", quick);
    desc.compiler = quick;
    return desc;
}

static inline lw_compiled *compiled(const lw_model *model, lw_compiled_desc desc)
{
    lw_compiled *c = NULL;
    lw_error error = {0};
    if (lw_compiled_create(model, &desc, &c, &error) != LW_OK) fail_msg("%s", error.text);
    return c;
}

static inline lw_model *four_bar(void)
{
    return read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
}

enum { MOST = 64, STATES = 19 };

// States that satisfy the loops, near the start.
static inline void states(const lw_compiled *c, const lw_model *model, int n, double q[],
                          double v[])
{
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    uint64_t seed = 5;
    for (int k = 0; k < n; k++) {
        double *qk = q + k * nq, *vk = v + k * nv;
        lw_model_tree_start(model, qk, vk);
        for (int i = 0; i < nq; i++) qk[i] += lwt_random(&seed, -0.1, 0.1);
        for (int i = 0; i < nv; i++) vk[i] += lwt_random(&seed, -1, 1);
        OK(lw_compiled_project(c, 0, qk, vk));
    }
}

static inline lw_sim *simulation(const lw_model *model, const char *formulation,
                                 const char *tolerance)
{
    lw_options options;
    lw_sim *sim = NULL;
    lw_error error = {0};
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", formulation, NULL));
    OK(lw_options_set(&options, "rtol", tolerance, NULL));
    OK(lw_options_set(&options, "atol", tolerance, NULL));
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    return sim;
}

// A crank of 10 m on a slider: its angles are dependent at the start, for their lever arms are the longest, and the position
// of the slider is independent, which it is not at the dead points of each revolution.
static inline lw_model *slider_crank(void)
{
    return lwt_yaml(
        "linkwork: 1\n"
        "parameters: {a: 60 deg, x: 10*cos(a) + sqrt(400 - 100*sin(a)^2)}\n"
        "bodies:\n"
        "  crank: {mass: 3, inertia: [30, 30, 30, 0, 0, 0], position: [5*cos(a), 0, 5*sin(a)]}\n"
        "  rod: {mass: 2, inertia: [60, 60, 60, 0, 0, 0], position: [5*cos(a) + x/2, 0, "
        "5*sin(a)]}\n"
        "  piston: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [x, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], qd: [3]}\n"
        "  B: {type: revolute, between: [crank, rod], at: [10*cos(a), 0, 10*sin(a)], axis: [0, 1, "
        "0]}\n"
        "  C: {type: revolute, between: [rod, piston], at: [x, 0, 0], axis: [0, 1, 0], cut: "
        "prefer}\n"
        "  D: {type: prismatic, between: [ground, piston], at: [0, 0, 0], axis: [1, 0, 0]}\n");
}

#define THIRD 1.0471975511965976 // pi / 3

// The crank at its dead point, where the slider is at its end; speeds are not consistent.
static inline void dead_point(const lw_model *model, double q[3], double v[3])
{
    int iq[3], iv[3], n;
    for (int k = 0; k < 3; k++)
        OK(lw_model_joint_tree(model, (lw_joint){k < 2 ? k : 3}, &iq[k], &n, &iv[k], &n));
    q[iq[0]] = THIRD;
    q[iq[1]] = -THIRD - asin(0.5 * sin(THIRD));
    q[iq[2]] = 30 - 5 - sqrt(400 - 75);
    v[iv[0]] = 3, v[iv[1]] = -3, v[iv[2]] = 0.5;
}

#endif

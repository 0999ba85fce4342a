// cuda.c -- a source for many instances at once: kernels with integrator, inputs and measures, around the generated functions.
//
// The source is CUDA C++ and also C17 and C++, so that tests can compile and run it on the processor.
#include "codegen/cuda.h"

#include "codegen/loops.h"

#include <string.h>

static const char introduction[] =
    "//\n"
    "// CUDA C++ for nvcc and NVRTC, with an instance for each thread.  Compilers of C17 and C++ "
    "compile it for the processor, where a\n"
    "// kernel is a loop over the instances.  Units, order of coordinates and speeds: NAME.h.\n"
    "//\n"
    "//   NAME_rk4      steps of the classical Runge-Kutta method, all of the same length\n"
    "//   NAME_dopri54  steps of Dormand and Prince, each instance with its own lengths\n"
    "//   NAME_close    the projections alone\n"
    "//\n"
    "// Status of an instance: 0; 1 + the index of the dependent speed with a pivot that is too "
    "small; "
    "-1 loops do not close; -2 numbers are\n"
    "// not finite; -3 too many steps.  It then keeps its last accepted state, and makes no more "
    "steps.\n"
    "#ifdef __CUDACC__\n"
    "#define DEVICE static __device__\n"
    "#define CONSTANT static __constant__ const\n"
    "#define KERNEL extern \"C\" __global__ void\n"
    "#define NOT_UNROLLED _Pragma(\"unroll 1\")\n"
    "#ifndef NAN // NVRTC has no headers\n"
    "#define NAN __int_as_float(0x7fffffff)\n"
    "#endif\n"
    "#ifndef INFINITY\n"
    "#define INFINITY __int_as_float(0x7f800000)\n"
    "#endif\n"
    "#else\n"
    "#include <math.h>\n"
    "#include <stddef.h>\n"
    "#define DEVICE static inline\n"
    "#define CONSTANT static const\n"
    "#define NOT_UNROLLED\n"
    "#ifdef __cplusplus\n"
    "#define KERNEL extern \"C\" void\n"
    "#else\n"
    "#define KERNEL void\n"
    "#endif\n"
    "#endif\n";

static const char single_type[] =
    "\n"
    "typedef float real;\n"
    "#ifndef __CUDACC__ // in CUDA these are functions of either type\n"
    "#define sin sinf\n"
    "#define cos cosf\n"
    "#define sqrt sqrtf\n"
    "#define fabs fabsf\n"
    "#define pow powf\n"
    "#define tan tanf\n"
    "#define asin asinf\n"
    "#define acos acosf\n"
    "#define atan atanf\n"
    "#define atan2 atan2f\n"
    "#define sinh sinhf\n"
    "#define cosh coshf\n"
    "#define tanh tanhf\n"
    "#define exp expf\n"
    "#define log logf\n"
    "#define floor floorf\n"
    "#endif\n";

static const char run_type[] =
    "\n"
    "// Entries of a state are q, v, x.  Those of all instances are side by side.\n"
    "typedef struct NAME_run {\n"
    "    int instances;\n"
    "    int intervals, steps; // inputs are constant in an interval; rk4: steps of each\n"
    "    int max_steps;        // dopri54: of an instance in an interval\n"
    "    int ncolumn, nposition; // measured; how many of them are positions\n"
    "    int fresh;            // measures begin here\n"
    "    double time, interval; // start of the first one, length\n"
    "    double rtol, atol;    // dopri54\n"
    "    const real *u, *tau;  // [intervals][NU][instances] inputs, [intervals][NV][instances] "
    "efforts; NULL: zeros\n"
    "    real *state;          // [NSTATE][instances] in, out\n"
    "    double *end;          // [instances] out: time of the state\n"
    "    int *status;          // [instances] in: those that are not 0 make no steps; out\n"
    "    int *count;           // [instances] in, out: steps so far\n"
    "    real *length;         // [instances] in, out: of the next step of dopri54; 0: not known\n"
    "    real *trajectory;     // [intervals][NSTATE][instances] out, at the ends of intervals, or "
    "the last accepted state;\n"
    "                          // NULL: not written\n"
    "    const int *column;    // [ncolumn] entries of q, v, x, then of the mass centres "
    "[NBODY][3]\n"
    "    real *measure;        // [ncolumn][3][instances] in, out: minimum, maximum, integral over "
    "time, at the ends of steps\n"
    "} NAME_run;\n";

static const char newton[] =
    "\n"
    "DEVICE int project_positions(TIMED{real t, }real q[])\n"
    "{\n"
    "    real step[NDEPENDENT + 1]; // and how far the loops are open\n"
    "    NOT_UNROLLED\n"
    "    for (int k = 0; k < 40; k++) {\n"
    "        int large = 0;\n"
    "        const int failed = position_step(TIMED{t, }q, step);\n"
    "        if (failed) return failed;\n"
    "        for (int i = 0; i < NDEPENDENT; i++) large |= !(fabs(step[i]) <= CLOSED);\n"
    "        large |= !(step[NDEPENDENT] <= (real)1e-9);\n"
    "        if (!large) return 0;\n"
    "    }\n"
    "    return -1;\n"
    "}\n"
    "\n"
    "// Makes a state satisfy the loops.\n"
    "DEVICE int close_state(real t, real *y)\n"
    "{\n"
    "    (void)t;\n"
    "    const int failed = project_positions(TIMED{t, }y);\n"
    "    return failed ? failed : project_velocities(TIMED{t, }y, y + NQ);\n"
    "}\n";

static const char open_close_state[] = "\n"
                                       "DEVICE int close_state(real t, real *y)\n"
                                       "{\n"
                                       "    (void)t, (void)y;\n"
                                       "    return 0;\n"
                                       "}\n";

static const char step_functions[] =
    "\n"
    "// ------------------------------------------------------------------------------------------ "
    "steps\n"
    "\n"
    "DEVICE int is_finite(const real *y)\n"
    "{\n"
    "    int good = 1;\n"
    "    for (int j = 0; j < NSTATE; j++) good &= y[j] - y[j] == 0;\n"
    "    return good;\n"
    "}\n"
    "\n"
    "DEVICE int step_rk4(real t, real h, const real *u, const real *y, real *next)\n"
    "{\n"
    "    real k[NSTATE], x[NSTATE];\n"
    "    for (int j = 0; j < NSTATE; j++) next[j] = x[j] = y[j];\n"
    "    NOT_UNROLLED\n"
    "    for (int s = 0; s < 4; s++) {\n"
    "        const real at = s == 0 ? 0 : s == 3 ? h : h / 2, weight = s == 0 || s == 3 ? h / 6 : "
    "h / 3;\n"
    "        const real ahead = s == 2 ? h : h / 2;\n"
    "        const int failed = slope(t + at, x, u, k);\n"
    "        if (failed) return failed;\n"
    "        for (int j = 0; j < NSTATE; j++) {\n"
    "            next[j] += weight * k[j];\n"
    "            x[j] = y[j] + ahead * k[j];\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "CONSTANT real NODE[6] = {1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};\n"
    "CONSTANT real STAGE[6][6] = {\n"
    "    {1.0 / 5},\n"
    "    {3.0 / 40, 9.0 / 40},\n"
    "    {44.0 / 45, -56.0 / 15, 32.0 / 9},\n"
    "    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},\n"
    "    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},\n"
    "    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};\n"
    "CONSTANT real DIFFERENCE[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / "
    "339200, 22.0 / 525, -1.0 / 40};\n"
    "\n"
    "// K[0] has the rates at y; *error: of the step, in tolerances.\n"
    "DEVICE int step_dopri54(const NAME_run *run, real t, real h, const real *u, const real *y, "
    "real (*K)[NSTATE], real *next,\n"
    "                        real *error)\n"
    "{\n"
    "    NOT_UNROLLED\n"
    "    for (int s = 0; s < 6; s++) {\n"
    "        for (int j = 0; j < NSTATE; j++) {\n"
    "            real sum = 0;\n"
    "            for (int i = 0; i <= s; i++) sum += STAGE[s][i] * K[i][j];\n"
    "            next[j] = y[j] + h * sum;\n"
    "        }\n"
    "        const int failed = slope(t + NODE[s] * h, next, u, K[s + 1]);\n"
    "        if (failed) return failed;\n"
    "    }\n"
    "    real square = 0;\n"
    "    for (int j = 0; j < NSTATE; j++) {\n"
    "        real sum = 0;\n"
    "        for (int i = 0; i < 7; i++) sum += DIFFERENCE[i] * K[i][j];\n"
    "        const real a = fabs(y[j]), b = fabs(next[j]);\n"
    "        const real part = h * sum / ((real)run->atol + (real)run->rtol * (a > b ? a : b));\n"
    "        square += part * part;\n"
    "    }\n"
    "    *error = sqrt(square / NSTATE);\n"
    "    return 0;\n"
    "}\n";

static const char measures[] =
    "\n"
    "// --------------------------------------------------------------------------------------- "
    "measures\n"
    "\n"
    "DEVICE void observe(const NAME_run *run, real t, const real *y, real *o)\n"
    "{\n"
    "    (void)t;\n"
    "    for (int j = 0; j < NSTATE; j++) o[j] = y[j];\n"
    "    if (run->nposition) {\n"
    "        real R[9 * NBODY];\n"
    "        kinematics(TIMED{t, }y, R, o + NSTATE);\n"
    "    }\n"
    "}\n"
    "\n"
    "// After a step of length h from the values `before`; without a step: the first values.\n"
    "DEVICE void measure(const NAME_run *run, int i, int first, real h, const real *before, const "
    "real *o)\n"
    "{\n"
    "    for (int c = 0; c < run->ncolumn; c++) {\n"
    "        real *at = run->measure + (size_t)(3 * c) * (size_t)run->instances + i;\n"
    "        real *low = at, *high = at + run->instances, *integral = high + run->instances;\n"
    "        const real x = o[run->column[c]];\n"
    "        if (first) *low = *high = x, *integral = 0;\n"
    "        if (x < *low) *low = x;\n"
    "        if (x > *high) *high = x;\n"
    "        if (!first) *integral += h / 2 * (before[run->column[c]] + x);\n"
    "    }\n"
    "}\n"
    "\n"
    "typedef struct NAME_instance {\n"
    "    real y[NSTATE], o[NSTATE + 3 * NBODY], u[NU + NV];\n"
    "    double t; // of y\n"
    "    int i, count;\n"
    "} NAME_instance;\n"
    "\n"
    "DEVICE void accept(const NAME_run *run, NAME_instance *a, double t, const real *next)\n"
    "{\n"
    "    real o[NSTATE + 3 * NBODY];\n"
    "    if (run->ncolumn) {\n"
    "        observe(run, (real)t, next, o);\n"
    "        measure(run, a->i, 0, (real)(t - a->t), a->o, o);\n"
    "        const int n = run->nposition ? NSTATE + 3 * NBODY : NSTATE;\n"
    "        for (int j = 0; j < n; j++) a->o[j] = o[j];\n"
    "    }\n"
    "    for (int j = 0; j < NSTATE; j++) a->y[j] = next[j];\n"
    "    a->t = t;\n"
    "    a->count++;\n"
    "}\n";

static const char intervals[] =
    "\n"
    "// -------------------------------------------------------------------------------------- "
    "intervals\n"
    "\n"
    "DEVICE int interval_rk4(const NAME_run *run, NAME_instance *a, double from)\n"
    "{\n"
    "    const double h = run->interval / run->steps;\n"
    "    for (int s = 0; s < run->steps; s++) {\n"
    "        real next[NSTATE];\n"
    "        int failed = step_rk4((real)(from + s * h), (real)h, a->u, a->y, next);\n"
    "        if (!failed) failed = close_state((real)(from + (s + 1) * h), next);\n"
    "        if (!failed && !is_finite(next)) failed = -2;\n"
    "        if (failed) return failed;\n"
    "        accept(run, a, s + 1 < run->steps ? from + (s + 1) * h : from + run->interval, "
    "next);\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "// A step that fails or is too far off is repeated with another length.\n"
    "DEVICE int interval_dopri54(const NAME_run *run, NAME_instance *a, double from)\n"
    "{\n"
    "    const double to = from + run->interval;\n"
    "    real K[7][NSTATE], next[NSTATE];\n"
    "    double h = run->length[a->i] > 0 ? (double)run->length[a->i] : run->interval;\n"
    "    int failed = 0, known = 0;\n"
    "    NOT_UNROLLED\n"
    "    for (int tries = 0; a->t < to; tries++) {\n"
    "        real error = 0;\n"
    "        const int last = a->t + (double)1.01 * h >= to; // no short rest is left\n"
    "        const double step = last ? to - a->t : h;\n"
    "        if (tries >= run->max_steps || !(a->t + step > a->t)) return failed ? failed : -3;\n"
    "        failed = known ? 0 : slope((real)a->t, a->y, a->u, K[0]);\n"
    "        if (failed) return failed;\n"
    "        known = 1;\n"
    "        failed = step_dopri54(run, (real)a->t, (real)step, a->u, a->y, K, next, &error);\n"
    "        if (!failed && !(is_finite(next) && error - error == 0)) failed = -2;\n"
    "        if (!failed && error <= 1) failed = close_state((real)(a->t + step), next);\n"
    "        if (failed) {\n"
    "            h = step / 5;\n"
    "            continue;\n"
    "        }\n"
    "        const real best = error > 0 ? (real)0.9 * pow(error, (real)-0.2) : 5;\n"
    "        const double proposed = step * (double)(best > 5 ? 5 : best < (real)0.2 ? (real)0.2 : "
    "best);\n"
    "        if (error <= 1) {\n"
    "            accept(run, a, last ? to : a->t + step, next);\n"
    "            for (int j = 0; j < NSTATE; j++) K[0][j] = K[6][j];\n"
    "            known = !LOOPS; // the state was changed\n"
    "        }\n"
    "        if (!(error <= 1 && last && proposed < h)) h = proposed;\n"
    "    }\n"
    "    run->length[a->i] = (real)h;\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "DEVICE void integrate(const NAME_run *run, int i, int adaptive)\n"
    "{\n"
    "    NAME_instance a;\n"
    "    const size_t n = (size_t)run->instances;\n"
    "    int failed = run->status[i];\n"
    "    if (failed && !run->trajectory) return;\n"
    "    for (int j = 0; j < NSTATE; j++) a.y[j] = run->state[j * n + i];\n"
    "    for (int j = 0; j < NU + NV; j++) a.u[j] = 0;\n"
    "    a.t = failed ? run->end[i] : run->time, a.i = i, a.count = run->count[i];\n"
    "    if (!failed && run->ncolumn) observe(run, (real)a.t, a.y, a.o);\n"
    "    if (!failed && run->ncolumn && run->fresh) measure(run, i, 1, 0, a.o, a.o);\n"
    "    for (int k = 0; k < run->intervals; k++) {\n"
    "        for (int j = 0; run->u && j < NU; j++) a.u[j] = run->u[((size_t)k * NU + j) * n + "
    "i];\n"
    "        for (int j = 0; run->tau && j < NV; j++) a.u[NU + j] = run->tau[((size_t)k * NV + j) "
    "* n + i];\n"
    "        const double from = run->time + k * run->interval;\n"
    "        if (!failed) failed = adaptive ? interval_dopri54(run, &a, from) : interval_rk4(run, "
    "&a, "
    "from);\n"
    "        for (int j = 0; run->trajectory && j < NSTATE; j++)\n"
    "            run->trajectory[((size_t)k * NSTATE + j) * n + i] = a.y[j];\n"
    "    }\n"
    "    for (int j = 0; j < NSTATE; j++) run->state[j * n + i] = a.y[j];\n"
    "    run->end[i] = a.t, run->status[i] = failed, run->count[i] = a.count;\n"
    "}\n"
    "\n"
    "DEVICE void close_loops(const NAME_run *run, int i)\n"
    "{\n"
    "    real y[NSTATE];\n"
    "    const size_t n = (size_t)run->instances;\n"
    "    if (run->status[i]) return;\n"
    "    for (int j = 0; j < NSTATE; j++) y[j] = run->state[j * n + i];\n"
    "    run->status[i] = close_state((real)run->time, y);\n"
    "    if (run->status[i]) return;\n"
    "    for (int j = 0; j < NSTATE; j++) run->state[j * n + i] = y[j];\n"
    "}\n";

static const char kernels[] =
    "\n"
    "// --------------------------------------------------------------------------------------- "
    "kernels\n"
    "\n"
    "#ifdef __CUDACC__\n"
    "#define EACH_INSTANCE const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); if (i < "
    "run.instances)\n"
    "#else\n"
    "#define EACH_INSTANCE for (int i = 0; i < run.instances; i++)\n"
    "#endif\n"
    "\n"
    "KERNEL NAME_rk4(NAME_run run)\n"
    "{\n"
    "    EACH_INSTANCE integrate(&run, i, 0);\n"
    "}\n"
    "\n"
    "KERNEL NAME_dopri54(NAME_run run)\n"
    "{\n"
    "    EACH_INSTANCE integrate(&run, i, 1);\n"
    "}\n"
    "\n"
    "// Changes the dependent coordinates and speeds of the states so that they satisfy the "
    "loops.\n"
    "KERNEL NAME_close(NAME_run run)\n"
    "{\n"
    "    EACH_INSTANCE close_loops(&run, i);\n"
    "}\n";

static const char slope[] =
    "\nDEVICE int slope(real t, const real *y, const real *u, real *k)\n"
    "{\n"
    "    return rates(t, y, y + NQ, y + NQ + NV, u, u + NU, k, k + NQ, k + NQ + NV);\n"
    "}\n";

static void print_sizes(FILE *file, const lwi_codegen_writer *w)
{
    const lw_model *m = w->model;
    const lwi_loops *loops = w->elements->loops;
    fprintf(file,
            "\nenum { NQ = %d, NV = %d, NX = %d, NU = %d, NBODY = %d, NSTATE = NQ + NV + NX };\n",
            m->tree_nq, m->tree_nv, m->nstate, m->desc.ninput, m->nbody);
    fprintf(file, "enum { LOOPS = %d, NDEPENDENT = %d };\n", loops != NULL,
            loops ? loops->ndependent : 0);
    if (loops)
        fprintf(file,
                "// Newton's method has converged: a step after it would be below round-off.\n"
                "#define CLOSED ((real)%s)\n",
                w->single ? "1e-5" : "1e-9");
}

static void print_function(FILE *file, const lwi_codegen_writer *w, const char *name, bool fails,
                           lwi_codegen_graph *graph)
{
    fprintf(file, "\nDEVICE %s %s(", fails ? "int" : "void", name);
    lwi_codegen_print_parameters(file, graph, graph->narray, "real", false);
    fputs(")\n{\n", file);
    lwi_codegen_graph_print(graph, w->single ? "float" : "double", file);
    if (fails) fputs("    return 0;\n", file);
    fputs("}\n", file);
}

// Does one of the functions below have a selection?  A function that is not called is a warning.
static bool chooses(const lwi_codegen_writer *w)
{
    const lwi_codegen_graph *g = w->graph;
    bool some = lwi_codegen_graph_has(&w->loaded_rates, LWI_OP_SELECT) ||
                lwi_codegen_graph_has(&g[LW_CODEGEN_kinematics], LWI_OP_SELECT);
    if (w->elements->loops)
        some = some || lwi_codegen_graph_has(&g[LW_CODEGEN_project_positions], LWI_OP_SELECT) ||
               lwi_codegen_graph_has(&g[LW_CODEGEN_project_velocities], LWI_OP_SELECT);
    return some;
}

static void print_functions(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_graph *g = w->graph;
    if (chooses(w)) lwi_codegen_print_choose("DEVICE real", file);
    if (w->elements->loops) lwi_codegen_print_check(file);
    print_function(file, w, "rates", true, &w->loaded_rates);
    print_function(file, w, "kinematics", false, &g[LW_CODEGEN_kinematics]);
    if (!w->elements->loops) {
        fputs(open_close_state, file);
        return;
    }
    print_function(file, w, "position_step", true, &g[LW_CODEGEN_project_positions]);
    print_function(file, w, "project_velocities", true, &g[LW_CODEGEN_project_velocities]);
    lwi_codegen_template(file, w, newton);
}

void lwi_codegen_cuda_source(FILE *file, lwi_codegen_writer *w)
{
    fprintf(file,
            "// %s.cu -- many instances of a mechanism at once, generated by Linkwork %s; do not "
            "edit.\n",
            w->name, lw_version());
    lwi_codegen_template(file, w, introduction);
    fputs(w->single ? single_type : "\ntypedef double real;\n", file);
    print_sizes(file, w);
    lwi_codegen_template(file, w, run_type);
    print_functions(file, w);
    fputs(slope, file);
    lwi_codegen_template(file, w, step_functions);
    lwi_codegen_template(file, w, measures);
    lwi_codegen_template(file, w, intervals);
    lwi_codegen_template(file, w, kernels);
}

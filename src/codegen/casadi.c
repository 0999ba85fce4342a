// casadi.c -- generated functions in CasADi's interface for external functions: pointers to arguments and results, any of
// which may be NULL, sizes as functions, and Jacobians as functions `jac_...`.
#include "codegen/casadi.h"

#include "codegen/jacobian.h"
#include "codegen/writer.h"
#include "model/model.h"

#include <string.h>

enum { MAX_INPUTS = 3, MAX_OUTPUTS = 2 };

typedef struct signature {
    int function;
    const char *in[MAX_INPUTS], *out[MAX_OUTPUTS]; // NULL: no more
} signature;

// Those with a Jacobian first.
static const signature signatures[] = {
    {LW_CODEGEN_forward_dynamics, {"q", "v", "tau"}, {"vdot"}},
    {LW_CODEGEN_inverse_dynamics, {"q", "v", "vdot"}, {"tau"}},
    {LW_CODEGEN_coordinate_rates, {"q", "v"}, {"qdot"}},
    {LW_CODEGEN_mass_matrix, {"q"}, {"M"}},
    {LW_CODEGEN_momenta, {"q", "v"}, {"p"}},
    {LW_CODEGEN_momenta_rates, {"q", "p", "tau"}, {"v", "pdot"}},
    {LW_CODEGEN_kinematics, {"q"}, {"R", "r"}},
};

static int count(const char *const *list, int limit)
{
    int n = 0;
    while (n < limit && list[n]) n++;
    return n;
}

// Rows and columns of an argument in CasADi: matrices are stored column by column.
static void shape_of(const lw_model *m, const char *name, int shape[2])
{
    shape[0] = !strcmp(name, "q") || !strcmp(name, "qdot") ? m->tree_nq
               : !strcmp(name, "R")                        ? 9
               : !strcmp(name, "r")                        ? 3
                                                           : m->tree_nv;
    shape[1] = !strcmp(name, "M")                         ? m->tree_nv
               : !strcmp(name, "R") || !strcmp(name, "r") ? m->nbody
                                                          : 1;
}

static int size_of(const lw_model *m, const char *name)
{
    int shape[2];
    shape_of(m, name, shape);
    return shape[0] * shape[1];
}

lw_status lwi_casadi_create(const lw_model *model, const lwi_elements *elements, lwi_arena *arena,
                            lwi_codegen_graph *graph, lw_error *error)
{
    for (int i = 0; i < LWI_CASADI_JACOBIANS; i++) {
        const signature *s = &signatures[i];
        const int n = count(s->in, MAX_INPUTS);
        int size[MAX_INPUTS];
        for (int k = 0; k < n; k++) size[k] = size_of(model, s->in[k]);
        TRY(lwi_codegen_generators[s->function](&graph[i], elements, arena, error));
        TRY(lwi_codegen_differentiate(&graph[i], n, size, size_of(model, s->out[0])));
        lwi_codegen_graph_live(&graph[i]);
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- printing

static void print_sparsity(FILE *file, const int shape[2])
{
    fprintf(file, "{%d, %d, 1}", shape[0], shape[1]); // 1: dense
}

// `direction` in or out: number, names and shapes of arguments.
static void print_list(FILE *file, const char *function, const char *direction, int n,
                       const char *const *list, const int (*shape)[2])
{
    fprintf(file, "EXPORT casadi_int %s_n_%s(void)\n{\n    return %d;\n}\n", function, direction,
            n);
    fprintf(file, "EXPORT const char *%s_name_%s(casadi_int i)\n{\n", function, direction);
    fputs("    static const char *const names[] = {", file);
    for (int k = 0; k < n; k++) fprintf(file, "%s\"%s\"", k ? ", " : "", list[k]);
    fprintf(file, "};\n    return i >= 0 && i < %d ? names[i] : 0;\n}\n", n);
    fprintf(file, "EXPORT const casadi_int *%s_sparsity_%s(casadi_int i)\n{\n", function,
            direction);
    fputs("    static const casadi_int shape[][3] = {", file);
    for (int k = 0; k < n; k++) {
        fputs(k ? ", " : "", file);
        print_sparsity(file, shape[k]);
    }
    fprintf(file, "};\n    return i >= 0 && i < %d ? shape[i] : 0;\n}\n", n);
}

static void print_work(FILE *file, const char *function, int nin, int nout, int numbers)
{
    fprintf(file,
            "EXPORT int %s_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, "
            "casadi_int *sz_w)\n{\n"
            "    if (sz_arg) *sz_arg = %d;\n    if (sz_res) *sz_res = %d;\n"
            "    if (sz_iw) *sz_iw = 0;\n    if (sz_w) *sz_w = %d;\n    return 0;\n}\n",
            function, nin, nout, numbers);
}

// The call of `target` with arguments and results, or room in w for those that are NULL.
static void print_call(FILE *file, const char *function, const char *target, bool fails, int nin,
                       const int (*in)[2], int nout, const int (*out)[2])
{
    int at = 0;
    fprintf(
        file,
        "EXPORT int %s(const double **arg, double **res, casadi_int *iw, double *w, int mem)\n{\n"
        "    (void)iw;\n    (void)mem;\n    %s%s(",
        function, fails ? "return " : "", target);
    for (int k = 0; k < nin; k++) {
        fprintf(file, "%sgiven(arg[%d], w + %d, %d)", k ? ", " : "", k, at, in[k][0] * in[k][1]);
        at += in[k][0] * in[k][1];
    }
    for (int k = 0; k < nout; k++) {
        fprintf(file, ", res[%d] ? res[%d] : w + %d", k, k, at);
        at += out[k][0] * out[k][1];
    }
    fputs(fails ? ");\n}\n" : ");\n    return 0;\n}\n", file);
}

static int total(int n, const int (*shape)[2])
{
    int sum = 0;
    for (int k = 0; k < n; k++) sum += shape[k][0] * shape[k][1];
    return sum;
}

static void print_function(FILE *file, const char *name, const lwi_elements *elements,
                           const signature *s)
{
    const lw_model *model = elements->model;
    int in[MAX_INPUTS][2] = {0}, out[MAX_OUTPUTS][2] = {0};
    char target[300];
    const int nin = count(s->in, MAX_INPUTS), nout = count(s->out, MAX_OUTPUTS);
    const char *function = lwi_codegen_names[s->function];
    for (int k = 0; k < nin; k++) shape_of(model, s->in[k], in[k]);
    for (int k = 0; k < nout; k++) shape_of(model, s->out[k], out[k]);
    fprintf(file, "\n// %s\n", function);
    print_list(file, function, "in", nin, s->in, (const int(*)[2])in);
    print_list(file, function, "out", nout, s->out, (const int(*)[2])out);
    print_work(file, function, nin, nout,
               total(nin, (const int(*)[2])in) + total(nout, (const int(*)[2])out));
    snprintf(target, sizeof target, "%.128s_%s", name, function);
    print_call(file, function, target, lwi_codegen_returns_code(elements, s->function), nin,
               (const int(*)[2])in, nout, (const int(*)[2])out);
}

// jac_FUNCTION: its inputs are followed by the function's output, which it does not need.
static void print_jacobian(FILE *file, const lwi_elements *elements, const signature *s,
                           lwi_codegen_graph *graph)
{
    const lw_model *model = elements->model;
    const bool fails = lwi_codegen_returns_code(elements, s->function);
    int in[MAX_INPUTS + 1][2] = {0}, out[MAX_INPUTS][2] = {0};
    char function[80], target[90], list[MAX_INPUTS][40], last[40];
    const char *in_name[MAX_INPUTS + 1] = {0}, *out_name[MAX_INPUTS] = {0};
    const int n = count(s->in, MAX_INPUTS), rows = size_of(model, s->out[0]);
    snprintf(function, sizeof function, "jac_%s", lwi_codegen_names[s->function]);
    snprintf(target, sizeof target, "values_of_%s", function);
    snprintf(last, sizeof last, "out_%s", s->out[0]);
    for (int k = 0; k < n; k++) {
        shape_of(model, s->in[k], in[k]);
        out[k][0] = rows, out[k][1] = in[k][0] * in[k][1];
        snprintf(list[k], sizeof list[k], "jac_%s_%s", s->out[0], s->in[k]);
        in_name[k] = s->in[k], out_name[k] = list[k];
    }
    shape_of(model, s->out[0], in[n]);
    in_name[n] = last;
    fprintf(file, "\n// %s\nstatic %s %s(", function, fails ? "int" : "void", target);
    for (int k = 0; k < n; k++) fprintf(file, "const double %s[], ", s->in[k]);
    for (int k = 0; k < n; k++) fprintf(file, "double jac_%d[]%s", k, k + 1 < n ? ", " : ")\n{\n");
    lwi_codegen_graph_print(graph, "double", file);
    fputs(fails ? "    return 0;\n}\n" : "}\n", file);
    print_list(file, function, "in", n + 1, in_name, (const int(*)[2])in);
    print_list(file, function, "out", n, out_name, (const int(*)[2])out);
    print_work(file, function, n + 1, n,
               total(n, (const int(*)[2])in) + total(n, (const int(*)[2])out));
    print_call(file, function, target, fails, n, (const int(*)[2])in, n, (const int(*)[2])out);
}

void lwi_casadi_print(FILE *file, const char *name, const lwi_elements *elements,
                      lwi_codegen_graph *graph)
{
    fprintf(file,
            "// %s_casadi.c -- external functions of CasADi, generated by Linkwork %s; do not "
            "edit.\n//\n"
            "// casadi.external(\"forward_dynamics\", \"./%s.so\")\n"
            "#include \"%s.h\"\n\n#include <math.h>\n\n"
            "#ifdef __cplusplus\n#define EXPORT extern \"C\"\n#else\n#define EXPORT\n#endif\n\n"
            "typedef long long int casadi_int;\n\n"
            "// An argument that is NULL is zero.\n"
            "static const double *given(const double *arg, double *room, int n)\n{\n"
            "    for (int i = 0; !arg && i < n; i++) room[i] = 0;\n"
            "    return arg ? arg : room;\n}\n",
            name, lw_version(), name, name);
    bool chooses = false;
    for (int i = 0; i < LWI_CASADI_JACOBIANS; i++)
        chooses |= lwi_codegen_graph_has(&graph[i], LWI_OP_SELECT);
    if (chooses) lwi_codegen_print_choose("static inline double", file);
    if (elements->loops) lwi_codegen_print_check(file);
    for (int i = 0; i < (int)(sizeof signatures / sizeof signatures[0]); i++) {
        if (!lwi_codegen_applies(elements, signatures[i].function)) continue;
        print_function(file, name, elements, &signatures[i]);
        if (i < LWI_CASADI_JACOBIANS) print_jacobian(file, elements, &signatures[i], &graph[i]);
    }
}

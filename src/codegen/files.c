// files.c -- the files of a generated model: header, source, example, build files.
#define _XOPEN_SOURCE 700 // open_memstream
#include "base/file.h"
#include "base/numbers.h"
#include "codegen/casadi.h"
#include "codegen/cuda.h"
#include "codegen/descriptor.h"
#include "codegen/functions.h"
#include "codegen/lanes.h"
#include "codegen/loops.h"
#include "codegen/refuse.h"
#include "codegen/sources.h"
#include "codegen/writer.h"

#include <linkwork/codegen.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const about[] = {
    [LW_CODEGEN_forward_dynamics] =
        "Accelerations vdot [NV] from efforts tau [NV], which are added to those of the model's\n"
        " *  own forces.  Where nothing resists a joint the result is not finite.",
    [LW_CODEGEN_inverse_dynamics] = "Efforts tau [NV], beyond the model's own forces, "
                                    "for accelerations vdot [NV].",
    [LW_CODEGEN_mass_matrix] = "Joint-space mass matrix M [NV][NV], symmetric.",
    [LW_CODEGEN_coordinate_rates] =
        "Time derivatives qdot [NQ] of the coordinates: the speeds, and for quaternions e w/2\n"
        " *  with a term that pulls their length to one.",
    [LW_CODEGEN_momenta] = "Joint momenta p [NV], dT/dv, from speeds v [NV].",
    [LW_CODEGEN_momenta_rates] =
        "Speeds v [NV] and rates pdot [NV] of the momenta p [NV]; efforts as in forward_dynamics.",
    [LW_CODEGEN_kinematics] =
        "Rotations R [NBODY][9], body axes to world axes, row by row, and mass centres\n"
        " *  r [NBODY][3] in world axes.  Body 0 is the ground.",
    [LW_CODEGEN_constraints] = "Residuals of the loops: phi [NROW] of positions [m, or sines of "
                               "angles], phidot [NROW] of\n"
                               " *  speeds.",
    [LW_CODEGEN_project_positions] =
        "Changes the dependent coordinates in q so that the loops close, by Newton's method;\n"
        " *  independent ones stay.  Returns 0, a number as forward_dynamics, or -1: no "
        "convergence,\n"
        " *  or to a place where the loops are open.  The operations are those of one of its "
        "steps.",
    [LW_CODEGEN_project_velocities] =
        "Replaces the dependent speeds in v by those that follow from the independent ones.",
    [LW_CODEGEN_rates] =
        "Time derivatives of all states of a run at time t: qdot [NQ], vdot [NV], and xdot [NX] of "
        "the\n"
        " *  states x [NX] of signals, with the inputs u [NU].  Returns 0, or a number as "
        "forward_dynamics\n"
        " *  of closed loops.",
    [LW_CODEGEN_margins] =
        "Squared parts margin of the dependent motions in the rows of loops that are independent "
        "of the\n"
        " *  others, relative to their lengths: 0 where forward_dynamics returns a number, at most "
        "1.",
    [LW_CODEGEN_closing_rates] =
        "Rates angledot of the angles of joints that close loops, in the order of the model's "
        "joints.",
    [LWI_CODEGEN_DERIVATIVES] = "Derivatives of the efforts that accelerations need.",
};

// What forward_dynamics says where there are loops.
static const char closed_forward[] =
    "Accelerations vdot [NV] from efforts tau [NV], which are added to those of the model's\n"
    " *  own forces, for q and v that satisfy the loops.  Returns 0, or 1 + the\n"
    " *  index of the dependent speed with a small pivot: the loops are close to a position where\n"
    " *  it does not follow from the independent ones.  vdot is then not written.";
static const char closed_inverse[] =
    "Efforts tau [NV] with M vdot + h = tau for the tree without the forces in the joints that\n"
    " *  close loops, beyond those of the model's forces.";

// ------------------------------------------------------------------------------------------ tables

// "elbow.q0" for coordinates and "elbow.v0" for speeds; a floating base has its body's name.
static void print_names(FILE *file, const lw_model *model, char letter)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const int n = letter == 'q' ? node->nq : node->nv;
        for (int i = 0; i < n; i++) {
            fputs("    \"", file);
            lwi_codegen_print_name(file, node->joint < 0 ? model->body[node->body].name
                                                         : model->joint[node->joint].name);
            fprintf(file, ".%c%d\",\n", letter, i);
        }
    }
}

static void print_numbers(FILE *file, const double *x, int n)
{
    for (int i = 0; i < n; i++) fprintf(file, "    %.17g,\n", x[i]);
}

// The joint that closes the first loop of the block of each margin.
static void print_margin_joints(FILE *file, const lwi_codegen_writer *w)
{
    const lwi_loops *l = w->elements->loops;
    fprintf(file, "const char *const %s_margin_joints[] = {\n", w->name);
    for (int k = 0; k < l->nblock; k++)
        for (int i = 0; i < l->block[k].nmargin; i++) {
            fputs("    \"", file);
            lwi_codegen_print_name(file, lwi_block_name(w->elements, &l->block[k]));
            fputs("\",\n", file);
        }
    fputs("};\n", file);
}

static void print_tables(FILE *file, const lwi_codegen_writer *w)
{
    const lw_model *m = w->model;
    fprintf(file, "const char *const %s_coordinate_names[%s_NQ] = {\n", w->name, w->upper);
    print_names(file, m, 'q');
    fprintf(file, "};\nconst char *const %s_speed_names[%s_NV] = {\n", w->name, w->upper);
    print_names(file, m, 'v');
    fprintf(file, "};\nconst char *const %s_body_names[%s_NBODY] = {\n", w->name, w->upper);
    for (int b = 0; b < m->nbody; b++) {
        fputs("    \"", file);
        lwi_codegen_print_name(file, b == 0 ? "ground" : m->body[b].name);
        fputs("\",\n", file);
    }
    fprintf(file, "};\nconst double %s_q0[%s_NQ] = {\n", w->name, w->upper);
    print_numbers(file, m->tree_q0, m->tree_nq);
    fprintf(file, "};\nconst double %s_v0[%s_NV] = {\n", w->name, w->upper);
    print_numbers(file, m->tree_v0, m->tree_nv);
    fputs("};\n", file);
    if (m->nstate > 0) {
        fprintf(file, "const double %s_x0[%s_NX] = {\n", w->name, w->upper);
        print_numbers(file, m->state0, m->nstate);
        fputs("};\n", file);
    }
    if (!w->elements->loops || w->elements->loops->ndependent == 0) return; // C has no empty arrays
    fprintf(file, "const int %s_dependent[%s_NDEPENDENT] = {", w->name, w->upper);
    for (int i = 0, n = 0; i < m->tree_nv; i++)
        if (w->elements->loops->dependent[i]) fprintf(file, n++ ? ", %d" : "%d", i);
    fputs("};\n", file);
    if (lwi_codegen_wanted(w, LW_CODEGEN_margins)) print_margin_joints(file, w);
}

// ------------------------------------------------------------------------------------------ header

static const char *joint_kind(const lwi_node *node)
{
    return node->joint < 0 ? "floating base" : node->type->name;
}

// The order of coordinates and speeds, joint by joint.
static void print_order(FILE *file, const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->nv == 0) continue;
        fprintf(file, "//   q[%d]", node->iq);
        if (node->nq > 1) fprintf(file, "..[%d]", node->iq + node->nq - 1);
        fprintf(file, "  v[%d]", node->iv);
        if (node->nv > 1) fprintf(file, "..[%d]", node->iv + node->nv - 1);
        fputs("  ", file);
        lwi_codegen_print_name(file, node->joint < 0 ? model->body[node->body].name
                                                     : model->joint[node->joint].name);
        fprintf(file, " (%s)\n", joint_kind(node));
    }
}

static void print_function(FILE *file, const lwi_codegen_writer *w, int i, const char *end)
{
    fprintf(file, "%s %s_%s(", lwi_codegen_returns_code(w->elements, i) ? "int" : "void", w->name,
            lwi_codegen_names[i]);
    lwi_codegen_print_parameters(file, &w->graph[i], lwi_codegen_parameter_count(w, i), "double",
                                 false);
    fprintf(file, ")%s", end);
}

static void print_declaration(FILE *file, const lwi_codegen_writer *w, int i)
{
    const lwi_operations n = lwi_codegen_graph_operations(&w->graph[i]);
    const bool closed = w->elements->loops;
    const char *text = closed && i == LW_CODEGEN_forward_dynamics   ? closed_forward
                       : closed && i == LW_CODEGEN_inverse_dynamics ? closed_inverse
                                                                    : about[i];
    fprintf(file, "\n/** %s\n", text);
    fprintf(file, " *  %d multiplications, %d additions", n.multiplications, n.additions);
    if (n.divisions) fprintf(file, ", %d divisions", n.divisions);
    if (n.sines) fprintf(file, ", %d sines and cosines", n.sines);
    if (n.functions) fprintf(file, ", %d other functions", n.functions);
    if (n.selections) fprintf(file, ", %d selections", n.selections);
    fputs(". */\n", file);
    print_function(file, w, i, ";\n");
}

static void print_header(FILE *file, const lwi_codegen_writer *w)
{
    const lw_model *m = w->model;
    fprintf(file,
            "// %s.h -- dynamics of one mechanism, generated by Linkwork %s; do not edit.\n//\n",
            w->name, lw_version());
    fputs("// SI units.  Coordinates and speeds, in order (quaternions scalar first, evaluated at "
          "q/|q|):\n//\n",
          file);
    print_order(file, m);
    fprintf(file, "//\n// Gravity is (%.17g, %.17g, %.17g) m/s^2.\n", m->gravity[0], m->gravity[1],
            m->gravity[2]);
    fputs("//\n// Functions read all of their inputs before they write, keep nothing, and may be "
          "called by any\n// number of threads.\n",
          file);
    fprintf(file, "#ifndef %s_GENERATED_H\n#define %s_GENERATED_H\n\n", w->upper, w->upper);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", file);
    fprintf(file, "enum { %s_NQ = %d, %s_NV = %d, %s_NX = %d, %s_NU = %d, %s_NBODY = %d };\n\n",
            w->upper, m->tree_nq, w->upper, m->tree_nv, w->upper, m->nstate, w->upper,
            m->desc.ninput, w->upper, m->nbody);
    if (w->elements->loops) {
        const int n = w->elements->loops->ndependent;
        fprintf(file,
                "/** Rows of closed loops; how many speeds depend on the others, and their "
                "indices. */\n"
                "enum { %s_NROW = %d, %s_NDEPENDENT = %d };\n",
                w->upper, w->elements->loops->m, w->upper, n);
        if (n > 0)
            fprintf(file, "extern const int %s_dependent[%s_NDEPENDENT];\n", w->name, w->upper);
        if (lwi_codegen_wanted(w, LW_CODEGEN_margins))
            fprintf(file,
                    "/** Of each number of %s_margins the joint that closes its loop. */\n"
                    "extern const char *const %s_margin_joints[];\n",
                    w->name, w->name);
        fputs("\n", file);
    }
    fprintf(file, "extern const char *const %s_coordinate_names[%s_NQ];\n", w->name, w->upper);
    fprintf(file, "extern const char *const %s_speed_names[%s_NV];\n", w->name, w->upper);
    fprintf(file, "extern const char *const %s_body_names[%s_NBODY];\n", w->name, w->upper);
    fprintf(file, "/** The model's initial state. */\nextern const double %s_q0[%s_NQ];\n", w->name,
            w->upper);
    fprintf(file, "extern const double %s_v0[%s_NV];\n", w->name, w->upper);
    if (m->nstate > 0) fprintf(file, "extern const double %s_x0[%s_NX];\n", w->name, w->upper);
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++)
        if (lwi_codegen_wanted(w, i)) print_declaration(file, w, i);
    lwi_codegen_descriptor_header(file, w, "");
    fputs("\n#ifdef __cplusplus\n}\n#endif\n#endif\n", file);
}

// ------------------------------------------------------------------------------------------ source

// The steps converge quadratically: after a step of 1e-9 the next one would be below round-off.
static const char newton[] =
    "\nint NAME_project_positions(TIMED{double t, }double q[])\n"
    "{\n"
    "    double step[UPPER_NDEPENDENT + 1]; // and how far the loops are open\n"
    "    for (int k = 0; k < 40; k++) {\n"
    "        int large = 0;\n"
    "        const int failed = position_step(TIMED{t, }q, step);\n"
    "        if (failed) return failed;\n"
    "        for (int i = 0; i <= UPPER_NDEPENDENT; i++)\n"
    "            large |= !(fabs(step[i]) <= 1e-9);\n"
    "        if (!large) return 0;\n"
    "    }\n"
    "    return -1;\n"
    "}\n";

static void print_source(FILE *file, lwi_codegen_writer *w)
{
    fprintf(file, "// %s.c -- generated by Linkwork %s; do not edit.\n#include \"%s.h\"\n\n",
            w->name, lw_version(), w->name);
    fputs("#include <math.h>\n\n", file);
    print_tables(file, w);
    lwi_codegen_pack_types(file, w);
    if (w->circular) lwi_codegen_scalar_circular(file);
    if (lwi_codegen_calls(w, LWI_OP_SELECT)) lwi_codegen_print_choose("static inline double", file);
    if (w->elements->loops) lwi_codegen_print_check(file);
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++) {
        if (!lwi_codegen_wanted(w, i)) continue;
        lwi_codegen_print_before(file, w, i, 0);
        if (i == LW_CODEGEN_project_positions) {
            fputs("\n// A step of Newton's method.\nstatic int position_step(", file);
            lwi_codegen_print_parameters(file, &w->graph[i], w->graph[i].narray, "double", false);
            fputs(")\n{\n", file);
        } else {
            fputc('\n', file);
            print_function(file, w, i, "\n{\n");
        }
        lwi_codegen_print_body(file, w, i, 0);
        if (lwi_codegen_returns_code(w->elements, i)) fputs("    return 0;\n", file);
        fputs("}\n", file);
        if (i == LW_CODEGEN_project_positions) lwi_codegen_template(file, w, newton);
    }
    lwi_codegen_descriptor_source(file, w, "");
}

// ---------------------------------------------------------------------------- example, build files

static const char example[] =
    "// example.c -- accelerations of NAME at its initial state, and the efforts they need;\n"
    "// generated by Linkwork.\n"
    "#include \"NAME.h\"\n\n"
    "#include <stdio.h>\n\n"
    "int main(void)\n"
    "{\n"
    "    double tau[UPPER_NV] = {0}, vdot[UPPER_NV], needed[UPPER_NV];\n"
    "    NAME_forward_dynamics(NAME_q0, NAME_v0, tau, vdot);\n"
    "    NAME_inverse_dynamics(NAME_q0, NAME_v0, vdot, needed);\n"
    "    printf(\"%-32s %14s %14s\\n\", \"speed\", \"acceleration\", \"effort\");\n"
    "    for (int i = 0; i < UPPER_NV; i++)\n"
    "        printf(\"%-32s %14.6g %14.6g\\n\", NAME_speed_names[i], vdot[i], "
    "needed[i]);\n"
    "    return 0;\n"
    "}\n";

static const char rates_example[] =
    "// example.c -- accelerations of NAME at its initial state; generated by Linkwork.\n"
    "#include \"NAME.h\"\n\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n\n"
    "int main(void)\n"
    "{\n"
    "    static double xdot[UPPER_NX + 1], u[UPPER_NU + 1];\n"
    "    double q[UPPER_NQ], v[UPPER_NV], qdot[UPPER_NQ], vdot[UPPER_NV];\n"
    "    memcpy(q, NAME_q0, sizeof q);\n"
    "    memcpy(v, NAME_v0, sizeof v);\n"
    "    int failed = NAME_project(0, q, v);\n"
    "    if (!failed) failed = NAME_rates(0, q, v, NAME_model.x0, u, qdot, vdot, xdot);\n"
    "    if (failed) {\n"
    "        fprintf(stderr, \"%s does not follow from the independent speeds here\\n\",\n"
    "                failed > 0 ? NAME_speed_names[failed - 1] : \"a speed\");\n"
    "        return 1;\n"
    "    }\n"
    "    printf(\"%-32s %14s\\n\", \"speed\", \"acceleration\");\n"
    "    for (int i = 0; i < UPPER_NV; i++)\n"
    "        printf(\"%-32s %14.6g\\n\", NAME_speed_names[i], vdot[i]);\n"
    "    return 0;\n"
    "}\n";

static const char makefile[] =
    "# generated by Linkwork\n"
    "# -ffp-contract=off: the same bits with and without fused multiply-add; GCC 12 needs\n"
    "# -fno-tree-slp-vectorize, too.\n"
    "CFLAGS ?= -O3 -march=native\n"
    "ALL = -std=c17 " LWI_CODEGEN_FLAGS " $(CFLAGS)\n\n"
    "example: example.c NAME.c NAME.h\n"
    "\t$(CC) $(ALL) -o $@ example.c NAME.c -lm\n\n"
    "clean:\n"
    "\trm -f example\n"
    ".PHONY: clean\n";

static const char casadi_rule[] = "\nNAME.so: NAME_casadi.c NAME.c NAME.h\n"
                                  "\t$(CC) $(ALL) -shared -fPIC -o $@ NAME_casadi.c NAME.c -lm\n";

static const char cmake_lists[] =
    "# generated by Linkwork\n"
    "cmake_minimum_required(VERSION 3.22)\n"
    "project(NAME LANGUAGES C)\n"
    "if(NOT CMAKE_BUILD_TYPE)\n"
    "    set(CMAKE_BUILD_TYPE Release)\n"
    "endif()\n"
    "add_library(NAME STATIC NAME.c)\n"
    "target_compile_features(NAME PUBLIC c_std_17)\n"
    "target_compile_options(NAME PRIVATE " LWI_CODEGEN_FLAGS ")\n"
    "target_include_directories(NAME PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
    "target_link_libraries(NAME PUBLIC m)\n"
    "add_executable(example example.c)\n"
    "target_link_libraries(example PRIVATE NAME)\n";

// ------------------------------------------------------------------------------------------- files

typedef struct output {
    const char *base, *ending; // base NULL: the name of the model
    void (*print)(FILE *, lwi_codegen_writer *);
} output;

enum { PATH = 1024 };

static lw_status path_of(const lwi_codegen_writer *w, const output *o, char path[PATH],
                         lw_error *error)
{
    const char *base = o->base ? o->base : w->name;
    if (snprintf(path, PATH, "%s/%s%s", w->directory, base, o->ending) < PATH) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: the path is too long", w->directory);
}

// A file that is there already must be a generated one.
static lw_status check_file(const lwi_codegen_writer *w, const output *o, lw_error *error)
{
    char path[PATH], head[300];
    struct stat found;
    FILE *file;
    TRY(path_of(w, o, path, error));
    if (stat(path, &found) != 0) return LW_OK;
    TRY(lwi_open_input_stream(path, &file, error));
    head[fread(head, 1, sizeof head - 1, file)] = 0;
    fclose(file);
    if (strstr(head, "generated by Linkwork")) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "%s exists and was not generated by Linkwork: expected another folder, or none "
                    "of that name; nothing is written",
                    path);
}

static lw_status write_file(lwi_codegen_writer *w, const output *o, lw_error *error)
{
    char path[PATH];
    FILE *file;
    TRY(path_of(w, o, path, error));
    TRY(lwi_open_output_stream(path, &file, error));
    o->print(file, w);
    return lwi_close_output(file, path, error);
}

static void header_file(FILE *file, lwi_codegen_writer *w)
{
    print_header(file, w);
}
static void example_file(FILE *file, lwi_codegen_writer *w)
{
    const lwi_elements *e = w->elements;
    lwi_codegen_template(file, w, e->loops || e->timed || e->signals ? rates_example : example);
}
static void make_file(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_template(file, w, makefile);
    if (w->casadi) lwi_codegen_template(file, w, casadi_rule);
}
static void cmake_file(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_template(file, w, cmake_lists);
}

static void casadi_file(FILE *file, lwi_codegen_writer *w)
{
    lwi_casadi_print(file, w->name, w->elements, w->jacobian);
}

static void lanes_header(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_lanes_header(file, w);
}
static void lanes_source(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_lanes_source(file, w);
}

static void cuda_source(FILE *file, lwi_codegen_writer *w)
{
    lwi_codegen_cuda_source(file, w);
}

// Of an allocation, in some graph.
static bool any_failed(const lwi_codegen_writer *w)
{
    bool any = w->loaded_rates.failed;
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++) any |= w->graph[i].failed;
    for (int i = 0; i < LWI_CASADI_JACOBIANS; i++) any |= w->jacobian[i].failed;
    return any;
}

static lw_status write_all(lwi_codegen_writer *w, lw_error *error)
{
    static const output outputs[] = {
        {NULL, ".h", header_file},          {NULL, ".c", print_source},
        {"example", ".c", example_file},    {"Makefile", "", make_file},
        {"CMakeLists", ".txt", cmake_file}, {NULL, "_casadi.c", casadi_file},
        {NULL, "_lanes.h", lanes_header},   {NULL, "_lanes.c", lanes_source},
        {NULL, ".cu", cuda_source}};
    const bool wanted[LWI_COUNT(outputs)] = {true,      true,         true,         true,   true,
                                             w->casadi, w->lanes > 0, w->lanes > 0, w->cuda};
    const int n = LWI_COUNT(outputs);
    if (mkdir(w->directory, 0777) != 0 && errno != EEXIST)
        return lwi_fail(error, LW_ERR_IO, "%s: %s", w->directory, strerror(errno));
    for (int i = 0; i < n; i++)
        if (wanted[i]) TRY(check_file(w, &outputs[i], error));
    for (int i = 0; i < n; i++)
        if (wanted[i]) TRY(write_file(w, &outputs[i], error));
    return any_failed(w) ? LW_ERR_MEMORY : LW_OK;
}

// ------------------------------------------------------------------------------------------- calls

static lw_status check_name(lwi_codegen_writer *w, lw_error *error)
{
    const char *name = w->name;
    bool good = name && (isalpha((unsigned char)name[0]) || name[0] == '_');
    for (int i = 0; good && name[i]; i++) {
        good = (isalnum((unsigned char)name[i]) || name[i] == '_') && i + 1 < (int)sizeof w->upper;
        w->upper[i] = (char)toupper((unsigned char)name[i]);
    }
    if (good && strcmp(name, "example") != 0) return LW_OK;
    return lwi_fail(
        error, LW_ERR_ARGUMENT,
        "name '%s' of the generated code: expected a C identifier of at most %d letters "
        "other than 'example'",
        name ? name : "", (int)sizeof w->upper - 1);
}

// Of files: their functions are plain statements.
static lw_status check_speeds(const lwi_codegen_writer *w, lw_error *error)
{
    if (w->shapes || w->model->tree_nv <= LW_CODEGEN_MAX_SPEEDS) return LW_OK;
    return lwi_refuse(w->model, (lw_place){0}, error,
                      "the model has %d degrees of freedom, more than the %d that straight-line "
                      "code is made for",
                      w->model->tree_nv, LW_CODEGEN_MAX_SPEEDS);
}

static bool is_large(const lwi_codegen_writer *w)
{
    return w->shapes && w->model->tree_nv > LW_CODEGEN_MAX_SPEEDS;
}

static lw_status build_graph(lwi_codegen_writer *w, int i, lwi_arena *arena, lw_error *error)
{
    lwi_codegen_graph *g = &w->graph[i];
    lwi_generate *const generate =
        w->shapes && i == LW_CODEGEN_rates ? lwi_generate_run_rates : lwi_codegen_generators[i];
    TRY(generate(g, w->elements, arena, error));
    if (g->failed) return LW_ERR_MEMORY;
    lwi_codegen_graph_live(g);
    return LW_OK;
}

// Compilers take time that grows with more than the length of a function.  With derivatives, which are long, all functions are
// shorter: of a humanoid a compiler takes less than half the time, a call for derivatives 1 % longer, and rates a tenth, so
// functions without derivatives may be longer.
static lwi_repeats_limits limits_of(const lwi_codegen_writer *w)
{
    return w->functions >> LWI_CODEGEN_DERIVATIVES & 1
               ? (lwi_repeats_limits){.plain = 4000, .once = 600}
               : (lwi_repeats_limits){.plain = 8000, .once = 2000};
}

// Finds the parts of a function that repeat.  lanes 0: for one state alone
static lw_status find_repeats(lwi_codegen_writer *w, int i, int lanes, lwi_arena *arena)
{
    return lwi_repeats_find(&w->graph[i], is_large(w), limits_of(w), lanes, arena, &w->repeats[i]);
}

// The statements of a function with all functions that its repeated parts are moved to.
static int statements_of(const lwi_codegen_writer *w, int i)
{
    return w->repeats[i] ? lwi_repeats_statements(w->repeats[i])
                         : lwi_codegen_graph_statements(&w->graph[i]);
}

// A function of a large model in which little repeats is generated again with `alike` parts (graph.h).  The second version is taken
// if it has at most half of the statements: code that exceeds the instruction cache is slow, and compiles slowly.  The choice
// must not depend on lanes, which have the bits of single states.
static lw_status make_alike(lwi_codegen_writer *w, int i, lwi_arena *arena, lw_error *error)
{
    enum { LITTLE = 4, SHORTER = 2 };
    lwi_codegen_graph *g = &w->graph[i], first = *g;
    TRY(find_repeats(w, i, 0, arena));
    const int n = statements_of(w, i);
    if (LITTLE * n <= lwi_codegen_graph_statements(g)) return LW_OK;
    lwi_codegen_graph_init(g, first.allocator);
    g->alike = true;
    lw_status status = build_graph(w, i, arena, error);
    if (status == LW_OK) status = find_repeats(w, i, 0, arena);
    const bool shorter = status == LW_OK && SHORTER * statements_of(w, i) <= n;
    lwi_codegen_graph_free(shorter ? &first : g);
    if (!shorter) *g = first;
    return status;
}

// Adds the time that a compiler may take for a function, and refuses functions that are too long.
static lw_status check_length(lwi_codegen_writer *w, int i, lw_error *error)
{
    enum { MAX_STATEMENTS = 600000 }; // a compiler takes minutes, and 2 GB of memory
    const int n = statements_of(w, i);
    const double seconds =
        w->repeats[i] ? lwi_repeats_seconds(w->repeats[i]) : lwi_compiler_seconds(n);
    w->seconds += (w->lanes ? 2 : 1) * seconds;
    if (n <= MAX_STATEMENTS) return LW_OK;
    return lwi_refuse(w->model, (lw_place){0}, error,
                      "the model has %d degrees of freedom and few equal parts: %s has %d "
                      "statements, for which a compiler takes some %.0f s, expected at most %d; "
                      "the library's rates (compiled: off) have no limit",
                      w->model->tree_nv, lwi_codegen_names[i], n, seconds, MAX_STATEMENTS);
}

static lw_status build_graphs(lwi_codegen_writer *w, lwi_arena *arena, lw_codegen_count *counts,
                              lw_error *error)
{
    for (int i = 0; counts && i < LW_CODEGEN_COUNT; i++) counts[i] = (lw_codegen_count){0};
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++) {
        lwi_codegen_graph *g = &w->graph[i];
        if (!lwi_codegen_wanted(w, i)) continue;
        TRY(build_graph(w, i, arena, error));
        if (is_large(w)) TRY(make_alike(w, i, arena, error));
        if (w->shapes) TRY(find_repeats(w, i, w->packs, arena));
        if (w->shapes) TRY(check_length(w, i, error));
        if (w->shapes) g->lanes = w->packs;
        if (!counts) continue;
        const lwi_operations n = lwi_codegen_graph_operations(g);
        counts[i] = (lw_codegen_count){.function = lwi_codegen_names[i],
                                       .multiplications = n.multiplications,
                                       .additions = n.additions,
                                       .divisions = n.divisions,
                                       .signs = n.signs,
                                       .sines = n.sines};
    }
    return LW_OK;
}

// The files of lw_codegen_write, or sources in memory, or kernels.
static lw_status print_all(lwi_codegen_writer *w, lwi_codegen_sources *sources, lw_error *error)
{
    if (w->kernels) {
        cuda_source(w->kernels, w);
        return any_failed(w) ? LW_ERR_MEMORY : LW_OK;
    }
    if (!sources) return write_all(w, error);
    static void (*const print[])(FILE *, lwi_codegen_writer *) = {header_file, print_source,
                                                                  lanes_header, lanes_source};
    sources->closed = w->elements->loops != NULL;
    sources->dependent = sources->closed ? w->elements->loops->ndependent : 0;
    sources->margins =
        lwi_codegen_wanted(w, LW_CODEGEN_margins) ? w->graph[LW_CODEGEN_margins].noutput : 0;
    sources->seconds = w->seconds;
    sources->timed = w->elements->timed;
    sources->signals = w->elements->signals;
    sources->works = w->model->carries_work;
    for (int i = 0; i < (w->lanes > 0 ? 4 : 2); i++) {
        FILE *file = open_memstream(&sources->text[i], &sources->size[i]);
        if (!file) return LW_ERR_MEMORY;
        print[i](file, w);
        if (fclose(file) != 0) return LW_ERR_MEMORY;
    }
    return any_failed(w) ? LW_ERR_MEMORY : LW_OK;
}

static lw_status generate(lwi_codegen_writer *w, const lw_allocator *allocator, lwi_arena *arena,
                          lw_codegen_count *counts, lwi_codegen_sources *sources, lw_error *error)
{
    lwi_elements elements;
    lwi_numbers numbers;
    TRY(check_speeds(w, error));
    TRY(lwi_elements_create(w->model, w->partition, allocator, arena, &elements, error));
    if (w->casadi && (elements.timed || elements.signals))
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "no functions of CasADi can be generated of a model with prescribed "
                        "motions, signals or inputs");
    w->elements = &elements;
    TRY(build_graphs(w, arena, counts, error));
    if (w->casadi) TRY(lwi_casadi_create(w->model, &elements, arena, w->jacobian, error));
    if (w->cuda) TRY(lwi_generate_loaded_rates(&w->loaded_rates, &elements, arena, error));
    lwi_codegen_graph_live(&w->loaded_rates);
    if (!lwi_numbers_begin(&numbers)) return LW_ERR_MEMORY;
    const lw_status status = print_all(w, sources, error);
    lwi_numbers_end(&numbers);
    return status;
}

// Files, or in memory if `sources` is not NULL.
static lw_status write_model(lwi_codegen_writer *w, const lw_allocator *allocator,
                             lw_codegen_count *counts, lwi_codegen_sources *sources,
                             lw_error *error)
{
    lwi_arena arena;
    TRY(check_name(w, error));
    if (w->lanes != 0 && w->lanes != 4 && w->lanes != 8)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lanes of generated code: expected 4 or 8, found %d", w->lanes);
    if (w->single && !w->cuda)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "single precision of generated code: expected with CUDA only");
    lwi_arena_init(&arena, allocator);
    lwi_codegen_graph_init(&w->loaded_rates, allocator);
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++) lwi_codegen_graph_init(&w->graph[i], allocator);
    for (int i = 0; i < LWI_CASADI_JACOBIANS; i++)
        lwi_codegen_graph_init(&w->jacobian[i], allocator);
    lw_status status = generate(w, allocator, &arena, counts, sources, error);
    if (status == LW_ERR_MEMORY)
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the generator");
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++) lwi_codegen_graph_free(&w->graph[i]);
    for (int i = 0; i < LWI_CASADI_JACOBIANS; i++) lwi_codegen_graph_free(&w->jacobian[i]);
    lwi_codegen_graph_free(&w->loaded_rates);
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_codegen_write(const lw_model *model, const lw_codegen_desc *desc,
                           const char *directory, lw_codegen_count *counts, lw_error *error)
{
    LWI_DESC(lw_codegen_desc, desc, error);
    if (!model || !desc || !directory)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, desc or directory is NULL");
    lwi_codegen_writer w = {.model = model,
                            .name = desc->name,
                            .directory = directory,
                            .casadi = desc->casadi,
                            .lanes = desc->lanes,
                            .cuda = desc->cuda,
                            .single = desc->single_precision,
                            .circular = desc->lanes > 0,
                            .functions = (1u << LW_CODEGEN_COUNT) - 1};
    return write_model(&w, desc->allocator, counts, NULL, error);
}

lw_status lwi_codegen_print_sources(const lw_model *model, unsigned functions, int lanes, int packs,
                                    const lwi_partition *partition, const lw_allocator *allocator,
                                    lwi_codegen_sources *sources, lw_error *error)
{
    lwi_codegen_writer w = {.model = model,
                            .name = LWI_CODEGEN_SOURCE,
                            .partition = partition,
                            .lanes = lanes,
                            .packs = packs,
                            .circular = true,
                            .shapes = true,
                            .functions = functions};
    *sources = (lwi_codegen_sources){0};
    const lw_status status = write_model(&w, allocator, NULL, sources, error);
    if (status != LW_OK) lwi_codegen_free_sources(sources);
    return status;
}

lw_status lwi_codegen_print_kernels(const lw_model *model, bool single,
                                    const lw_allocator *allocator, FILE *file, lw_error *error)
{
    lwi_codegen_writer w = {.model = model,
                            .name = LWI_CODEGEN_SOURCE,
                            .cuda = true,
                            .single = single,
                            .kernels = file,
                            .functions = 1u << LW_CODEGEN_kinematics |
                                         1u << LW_CODEGEN_project_positions |
                                         1u << LW_CODEGEN_project_velocities};
    return write_model(&w, allocator, NULL, NULL, error);
}

void lwi_codegen_free_sources(lwi_codegen_sources *sources)
{
    for (int i = 0; i < LWI_CODEGEN_SOURCES; i++) free(sources->text[i]); // open_memstream's
    *sources = (lwi_codegen_sources){0};
}

// descriptor.c -- the struct that describes a generated model, and the projection that it has.
#include "codegen/descriptor.h"

#include "codegen/loops.h"

// The same of all models, so that a program may include several headers.
static const char type[] =
    "\n#ifndef LINKWORK_GENERATED\n"
    "#define LINKWORK_GENERATED\n"
    "/** A generated model: what a loader needs. */\n"
    "typedef struct linkwork_generated {\n"
    "    int version; // of this struct: 1\n"
    "    int nq, nv, nx, nu; // coordinates, speeds, states of signals, inputs\n"
    "    const double *q0, *v0, *x0; // the start; x0 NULL: there are none\n"
    "    int (*rates)(double t, const double q[], const double v[], const double x[],\n"
    "                 const double u[], double qdot[], double vdot[], double xdot[]);\n"
    "    int (*project)(double t, double q[], double v[]);\n"
    "} linkwork_generated;\n"
    "#endif\n";

static const char lanes_type[] =
    "\n#ifndef LINKWORK_GENERATED_WIDE\n"
    "#define LINKWORK_GENERATED_WIDE\n"
    "/** A generated model in lanes; t has the time of each lane. */\n"
    "typedef struct linkwork_generated_lanes {\n"
    "    int version; // of this struct: 1\n"
    "    int lanes;\n"
    "    int (*rates)(const double t[], const double q[], const double v[], const double x[],\n"
    "                 const double u[], double qdot[], double vdot[], double xdot[]);\n"
    "    int (*project)(const double t[], double q[], double v[]);\n"
    "} linkwork_generated_lanes;\n"
    "#endif\n";

static const char project[] = "\n/** Closes the loops at time t: project_positions, then "
                              "project_velocities; returns 0, or what "
                              "they return.\n"
                              " *  Without loops it changes nothing. */\n"
                              "int NAME_project(double t, double q[], double v[]);\n";

static const char declaration[] = "extern const linkwork_generated NAME_model;\n";

static const char lanes_project[] =
    "int NAME_lanes_project(const double t[], double q[], double v[]);\n";

static const char lanes_declaration[] = "extern const linkwork_generated_lanes NAME_lanes_model;\n";

static const char closed_project[] =
    "    (void)t;\n"
    "    const int failed = NAME_project_positions(TIMED{t, }q);\n"
    "    return failed ? failed : NAME_project_velocities(TIMED{t, }q, v);\n";

static const char closed_lanes_project[] =
    "    (void)t;\n"
    "    const int failed = NAME_lanes_project_positions(TIMED{t, }q);\n"
    "    return failed | NAME_lanes_project_velocities(TIMED{t, }q, v);\n";

static const char open_project[] = "    (void)t, (void)q, (void)v;\n"
                                   "    return 0;\n";

void lwi_codegen_descriptor_header(FILE *file, const lwi_codegen_writer *w, const char *kind)
{
    const bool lanes = kind[0];
    if (!w->shapes) lwi_codegen_template(file, w, lanes ? lanes_type : type);
    lwi_codegen_template(file, w, lanes ? lanes_project : project);
    if (!w->shapes) lwi_codegen_template(file, w, lanes ? lanes_declaration : declaration);
}

void lwi_codegen_descriptor_source(FILE *file, const lwi_codegen_writer *w, const char *kind)
{
    const bool lanes = kind[0], states = w->model->nstate > 0;
    lwi_codegen_template(
        file, w,
        lanes ? "\nint NAME_lanes_project(const double t[], double q[], double v[])\n{\n"
              : "\nint NAME_project(double t, double q[], double v[])\n{\n");
    lwi_codegen_template(file, w,
                         !w->elements->loops ? open_project
                         : lanes             ? closed_lanes_project
                                             : closed_project);
    fputs("}\n", file);
    if (w->shapes) return;
    lwi_codegen_template(
        file, w,
        lanes ? "\nconst linkwork_generated_lanes NAME_lanes_model = {\n"
                "    1, LANES, NAME_lanes_rates, NAME_lanes_project,\n};\n"
              : "\nconst linkwork_generated NAME_model = {\n    1, UPPER_NQ, UPPER_NV, "
                "UPPER_NX, UPPER_NU, NAME_q0, NAME_v0, ");
    if (!lanes)
        lwi_codegen_template(file, w,
                             states ? "NAME_x0, NAME_rates, NAME_project,\n};\n"
                                    : "0, NAME_rates, NAME_project,\n};\n");
}

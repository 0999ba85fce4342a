// writer.c -- names and parameters of the generated functions.
#include "codegen/writer.h"

#include "codegen/closing.h"
#include "codegen/loops.h"

#include <string.h>

#define IN(name) "const double " name "[]"
#define OUT(name) "double " name "[]"
const char *const lwi_codegen_parameters[] = {
    [LW_CODEGEN_forward_dynamics] = IN("q") ", " IN("v") ", " IN("tau") ", " OUT("vdot"),
    [LW_CODEGEN_inverse_dynamics] = IN("q") ", " IN("v") ", " IN("vdot") ", " OUT("tau"),
    [LW_CODEGEN_mass_matrix] = IN("q") ", " OUT("M"),
    [LW_CODEGEN_coordinate_rates] = IN("q") ", " IN("v") ", " OUT("qdot"),
    [LW_CODEGEN_momenta] = IN("q") ", " IN("v") ", " OUT("p"),
    [LW_CODEGEN_momenta_rates] = IN("q") ", " IN("p") ", " IN("tau") ", " OUT("v") ", " OUT("pdot"),
    [LW_CODEGEN_kinematics] = IN("q") ", " OUT("R") ", " OUT("r"),
    [LW_CODEGEN_constraints] = IN("q") ", " IN("v") ", " OUT("phi") ", " OUT("phidot"),
    [LW_CODEGEN_project_positions] = OUT("q"),
    [LW_CODEGEN_project_velocities] = IN("q") ", " OUT("v"),
    [LW_CODEGEN_rates] = "double t, " IN("q") ", " IN("v") ", " IN("x") ", " IN("u") ", " OUT(
        "qdot") ", " OUT("vdot") ", " OUT("xdot"),
    [LW_CODEGEN_closing_rates] = IN("q") ", " IN("v") ", " OUT("angledot"),
    [LW_CODEGEN_margins] = IN("q") ", " OUT("margin"),
};

const char *const lwi_codegen_names[] = {
#define X(name, summary) #name,
    LW_CODEGEN_LIST(X)
#undef X
};

lwi_generate *const lwi_codegen_generators[] = {
#define X(name, summary) lwi_generate_##name,
    LW_CODEGEN_LIST(X)
#undef X
};

bool lwi_codegen_applies(const lwi_elements *elements, int i)
{
    const bool closed = elements->loops;
    if (i == LW_CODEGEN_closing_rates) return closed && lwi_closing_angles(elements->model) > 0;
    if (i == LW_CODEGEN_momenta_rates) return !closed;
    if (i == LW_CODEGEN_margins) return closed && elements->loops->ndependent > 0;
    if (i == LW_CODEGEN_constraints || i == LW_CODEGEN_project_positions ||
        i == LW_CODEGEN_project_velocities)
        return closed;
    return true;
}

bool lwi_codegen_wanted(const lwi_codegen_writer *w, int i)
{
    return (w->functions >> i & 1u) && lwi_codegen_applies(w->elements, i);
}

bool lwi_codegen_returns_code(const lwi_elements *elements, int i)
{
    if (i == LW_CODEGEN_rates) return true;
    return elements->loops &&
           (i == LW_CODEGEN_forward_dynamics || i == LW_CODEGEN_project_positions ||
            i == LW_CODEGEN_project_velocities);
}

void lwi_codegen_template(FILE *file, const lwi_codegen_writer *w, const char *text)
{
    while (*text) {
        if (!strncmp(text, "NAME", 4)) {
            fputs(w->name, file);
            text += 4;
        } else if (!strncmp(text, "UPPER", 5)) {
            fputs(w->upper, file);
            text += 5;
        } else if (!strncmp(text, "LANES", 5)) {
            fprintf(file, "%d", w->lanes);
            text += 5;
        } else {
            fputc(*text++, file);
        }
    }
}

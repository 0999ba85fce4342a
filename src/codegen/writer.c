// writer.c -- names and parameters of the generated functions.
#include "codegen/writer.h"

#include "codegen/closing.h"
#include "codegen/loops.h"

#include <string.h>

const char *const lwi_codegen_names[] = {
#define X(name, summary) #name,
    LW_CODEGEN_LIST(X)
#undef X
        "derivatives",
};

lwi_generate *const lwi_codegen_generators[] = {
#define X(name, summary) lwi_generate_##name,
    LW_CODEGEN_LIST(X)
#undef X
        lwi_generate_derivatives,
};

bool lwi_codegen_applies(const lwi_elements *elements, int i)
{
    const bool closed = elements->loops, timed = elements->timed;
    if (i == LW_CODEGEN_closing_rates) return closed && lwi_closing_angles(elements->model) > 0;
    if (i == LW_CODEGEN_momenta) return !timed;
    if (i == LW_CODEGEN_momenta_rates) return !closed && !timed;
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
           (i == LW_CODEGEN_forward_dynamics || i == LWI_CODEGEN_DERIVATIVES ||
            i == LW_CODEGEN_project_positions || i == LW_CODEGEN_project_velocities);
}

void lwi_codegen_print_parameters(FILE *file, const lwi_codegen_graph *g, int n, const char *type,
                                  bool vectors)
{
    for (int a = 0; a < n; a++) {
        const bool number = g->scalar[a] && !vectors;
        fprintf(file, "%s%s%s %s%s", a ? ", " : "", g->result[a] || number ? "" : "const ", type,
                g->array[a], number ? "" : "[]");
    }
}

void lwi_codegen_print_before(FILE *file, const lwi_codegen_writer *w, int i, int lanes)
{
    if (w->repeats[i]) lwi_repeats_print_tables(w->repeats[i], lwi_codegen_names[i], lanes, file);
}

void lwi_codegen_print_body(FILE *file, lwi_codegen_writer *w, int i, int lanes)
{
    if (w->repeats[i])
        lwi_repeats_print(w->repeats[i], lwi_codegen_names[i], lanes, file);
    else
        lwi_codegen_graph_print(&w->graph[i], lanes ? "real" : "double", file);
}

int lwi_codegen_parameter_count(const lwi_codegen_writer *w, int i)
{
    return w->graph[i].narray - (i == LW_CODEGEN_project_positions); // the step is another's
}

bool lwi_codegen_calls(const lwi_codegen_writer *w, lwi_op op)
{
    bool calls = false;
    for (int i = 0; i < LWI_CODEGEN_FUNCTIONS; i++)
        calls |= lwi_codegen_graph_has(&w->graph[i], op);
    return calls;
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
        } else if (!strncmp(text, "TIMED{", 6)) { // TIMED{text}: where positions depend on time
            const size_t length = strcspn(text, "}");
            if (w->elements->timed) fwrite(text + 6, 1, length - 6, file);
            text += length + 1;
        } else {
            fputc(*text++, file);
        }
    }
}

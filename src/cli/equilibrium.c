// equilibrium.c -- linkwork equilibrium: the static equilibrium of a mechanism, and whether it is stable.
#include "cli/analysis.h"

#include <math.h>
#include <string.h>

#define ROUND_OFF 1e-12 // of the largest reaction

// Coordinates and reactions of all joints at the equilibrium; where reactions cannot be found, `failed` [size] has the
// reason, else "".  The caller destroys *sim.
static cli_exit observe(const cli_analysis *a, lw_sim **sim, const lw_observation **seen,
                        char *failed, size_t size)
{
    *failed = 0;
    lw_error error = {0};
    lw_status status = lw_sim_create(a->model, NULL, sim, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    for (int i = 0; i < lw_model_input_count(a->model); i++)
        lw_sim_set_input(*sim, i, a->inputs[i]);
    status = lw_sim_observe(*sim, LW_OBSERVE_ENERGY, seen);
    if (status == LW_OK && lw_sim_observe(*sim, LW_OBSERVE_REACTION, seen) != LW_OK) {
        snprintf(failed, size, "no reactions: %s", lw_sim_error(*sim)->text);
        status = lw_sim_observe(*sim, LW_OBSERVE_ENERGY, seen);
    }
    return status == LW_OK ? CLI_DONE : cli_fail(status, lw_sim_error(*sim));
}

static const char *const component[6] = {"fx", "fy", "fz", "tx", "ty", "tz"};

static bool has_reaction(const cli_analysis *a, const lw_observation *seen, int joint)
{
    return seen->level >= LW_OBSERVE_REACTION &&
           !lw_model_joint(a->model, (lw_joint){joint}).merged;
}

// The largest force, torque.
static void find_largest(const cli_analysis *a, const lw_observation *seen, double largest[2])
{
    largest[0] = largest[1] = 0;
    for (int j = 0; j < lw_model_joint_count(a->model); j++)
        for (int i = 0; i < 6 && has_reaction(a, seen, j); i++)
            largest[i / 3] = fmax(largest[i / 3], fabs(seen->reaction[j][i]));
}

static void print_undetermined(const cli_analysis *a, const lw_observation *seen)
{
    bool any = false;
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        if (!has_reaction(a, seen, j) || !seen->reaction_undetermined[j]) continue;
        if (!any)
            printf("             statically indeterminate, the smallest are given; components in "
                   "axes of the first frame:\n");
        any = true;
        printf("             %-24s", lw_model_joint_name(a->model, (lw_joint){j}));
        for (int i = 0; i < 6; i++)
            if (seen->reaction_undetermined[j] >> i & 1) printf(" %s", component[i]);
        putchar('\n');
    }
}

static void print_components(void)
{
    printf("reactions    %-24s", "on the second body");
    for (int i = 0; i < 6; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s [%s]", component[i], i < 3 ? "N" : "N m");
        printf(" %12s", text);
    }
    putchar('\n');
}

// Force, torque on body2 in world axes, as the columns joint.NAME.fx, ... of results; without round-off.
static void print_reactions(const cli_analysis *a, const lw_observation *seen)
{
    double largest[2];
    find_largest(a, seen, largest);
    bool any = false;
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        if (!has_reaction(a, seen, j)) continue;
        if (!any) print_components();
        any = true;
        printf("reaction     %-24s", lw_model_joint_name(a->model, (lw_joint){j}));
        for (int i = 0; i < 6; i++) {
            const double x = seen->reaction[j][i];
            printf(" %12.6g", fabs(x) <= ROUND_OFF * largest[i / 3] ? 0 : x);
        }
        putchar('\n');
    }
    print_undetermined(a, seen);
}

static void json_reactions(cli_json *json, const cli_analysis *a, const lw_observation *seen)
{
    json_open(json, "reactions", '{');
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        if (!has_reaction(a, seen, j)) continue;
        json_open(json, lw_model_joint_name(a->model, (lw_joint){j}), '{');
        json_array(json, "force", seen->reaction[j], 3);
        json_array(json, "torque", seen->reaction[j] + 3, 3);
        json_open(json, "undetermined", '[');
        for (int i = 0; i < 6; i++)
            if (seen->reaction_undetermined[j] >> i & 1) json_text(json, NULL, component[i]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void print_report(const cli_arguments *arguments, const cli_analysis *a,
                         const lw_observation *seen)
{
    const lw_equilibrium *e = &a->equilibrium;
    printf("model        %s\n", arguments->operand);
    printf("equilibrium  %s, %d dof, %d steps, the last of %.1e rad or lengths\n",
           cli_stability[e->stability], e->dof, e->iterations, e->last);
    if (e->states) {
        printf("signals      %d state%s in equilibrium too", e->states, e->states == 1 ? "" : "s");
        if (e->held) printf(", %d with the value of the start", e->held);
        putchar('\n');
        if (e->unstable)
            printf("             %d mode%s of the linearised equations grow%s\n", e->unstable,
                   e->unstable == 1 ? "" : "s", e->unstable == 1 ? "s" : "");
    }
    if (e->unstable && !e->states)
        printf("             %d displacement%s the potential\n", e->unstable,
               e->unstable == 1 ? " lowers" : "s lower");
    if (e->indifferent && !e->states)
        printf("             %d displacement%s no force\n", e->indifferent,
               e->indifferent == 1 ? " meets" : "s meet");
    if (e->dof && !e->states)
        printf("softest      %.6g 1/s^2, mostly %s\n", e->softest + 0.0, e->coordinate); // no -0
    printf("potential    %.9g J\n", seen->potential);
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        const lw_joint_info joint = lw_model_joint(a->model, (lw_joint){j});
        if (joint.nq == 0 || joint.merged) continue;
        printf("joint        %-24s", joint.name);
        for (int k = 0; k < joint.nq; k++) printf(" %16.9g", seen->q[joint.q_first + k]);
        putchar('\n');
    }
    print_reactions(a, seen);
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
}

static void json_report(const cli_arguments *arguments, const cli_analysis *a,
                        const lw_observation *seen, const char *failed)
{
    const lw_equilibrium *e = &a->equilibrium;
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_bool(&json, "stable", e->stability == LW_STABLE);
    json_text(&json, "stability", cli_stability[e->stability]);
    json_integer(&json, "dof", e->dof);
    json_integer(&json, "unstable", e->unstable);
    json_integer(&json, "indifferent", e->indifferent);
    json_integer(&json, "iterations", e->iterations);
    json_number(&json, "last_step", e->last);
    json_integer(&json, "states", e->states);
    json_integer(&json, "states_held", e->held);
    if (!e->states) json_number(&json, "softest", e->softest);
    if (!e->states) json_text(&json, "softest_coordinate", e->coordinate);
    json_integer(&json, "dry_friction", e->friction);
    json_number(&json, "potential", seen->potential);
    json_open(&json, "joints", '{');
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        const lw_joint_info joint = lw_model_joint(a->model, (lw_joint){j});
        json_array(&json, joint.name, seen->q + joint.q_first, joint.merged ? 0 : joint.nq);
    }
    json_close(&json, '}');
    json_open(&json, "bodies", '{');
    for (int b = 1; b < lw_model_body_count(a->model); b++) {
        json_open(&json, lw_model_body_name(a->model, (lw_body){b}), '{');
        json_array(&json, "position", seen->position[b], 3);
        json_array(&json, "quaternion", seen->quaternion[b], 4);
        json_close(&json, '}');
    }
    json_close(&json, '}');
    json_reactions(&json, a, seen);
    json_open(&json, "warnings", '[');
    if (*failed) json_text(&json, NULL, failed);
    json_close(&json, ']');
    json_close(&json, '}');
}

static cli_exit write_model(const cli_arguments *arguments, const cli_analysis *a)
{
    FILE *file = NULL;
    lw_error error = {0};
    if (!arguments->noutput) return CLI_DONE;
    const cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status =
        lw_model_write(a->model, cli_has_settings(&a->options) ? &a->options : NULL, file, &error);
    const cli_exit closed = cli_close(arguments, file, status == LW_OK);
    return closed || status == LW_OK ? closed : cli_fail(status, &error);
}

cli_exit cli_equilibrium(const cli_arguments *arguments)
{
    cli_analysis a;
    lw_sim *sim = NULL;
    const lw_observation *seen = NULL;
    char failed[sizeof(lw_error)];
    for (int i = 0; i < arguments->noutput; i++)
        if (!cli_ends_in(arguments->output[i], ".yaml") &&
            !cli_ends_in(arguments->output[i], ".yml"))
            return cli_complain(CLI_USE, "%s: models are written as .yaml", arguments->output[i]);
    cli_exit code = cli_analysis_begin(arguments, true, &a);
    if (!code) code = observe(&a, &sim, &seen, failed, sizeof failed);
    if (!code) code = write_model(arguments, &a);
    if (!code && arguments->json)
        json_report(arguments, &a, seen, failed);
    else if (!code && !arguments->quiet)
        print_report(arguments, &a, seen);
    if (!code && *failed && !arguments->quiet)
        fprintf(stderr, "warning: %s: %s\n", arguments->operand, failed);
    if (!code && !arguments->quiet) cli_analysis_warn(&a.equilibrium);
    if (!code && !arguments->quiet) cli_analysis_leaves_out(a.model, false);
    lw_sim_destroy(sim);
    cli_analysis_end(&a);
    return code;
}

// singular.c -- messages about singular positions.
#include "system/singular.h"

#include <stdio.h>
#include <string.h>

// Of a loop with more joints than this only the first are named.
enum { MAX_JOINTS = 12 };

void lwi_singular_owner(const lw_model *model, int joint, char *text, size_t size)
{
    if (joint >= 0) {
        snprintf(text, size, "joint '%.100s'", model->joint[joint].name);
        return;
    }
    const lwi_coupling *c = &model->coupling[-1 - joint];
    snprintf(text, size, "the coupling of joints '%.60s' and '%.60s'", model->joint[c->joint].name,
             model->joint[c->of].name);
}

// Lists the names of those of n joints (NULL: all) that are driven or on moving mounts, as far as they fit;
// returns how many there are.
static int driven_of(const lw_model *model, int n, const lw_joint *joints, char *text, size_t size)
{
    int count = 0;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        const lwi_joint *joint = &model->joint[joints ? joints[i].index : i];
        if (joint->ndriven == 0 && !joint->mount.present) continue;
        count++;
        const int more =
            snprintf(text + used, size - used, "%s'%.100s'", used ? ", " : "", joint->name);
        if (more < 0 || (size_t)more >= size - used)
            text[used] = 0;
        else
            used += (size_t)more;
    }
    return count;
}

// Joints of the smallest loop through the joint, itself among them; returns how many, 0: it is in no loop.
static int loop_of(const lw_model *model, int joint, lw_joint joints[MAX_JOINTS])
{
    int best = -1, shortest = 0;
    for (int l = 0; l < model->nloop; l++) {
        const int n = lw_model_loop(model, l, joints, MAX_JOINTS);
        bool member = false;
        for (int i = 0; i < n && i < MAX_JOINTS; i++) member = member || joints[i].index == joint;
        if (member && (best < 0 || n < shortest)) best = l, shortest = n;
    }
    return best < 0 ? 0 : lw_model_loop(model, best, joints, MAX_JOINTS);
}

void lwi_singular_names(const lw_model *model, int joint, char *text, size_t size)
{
    lw_joint joints[MAX_JOINTS];
    lwi_singular_owner(model, joint, text, size);
    size_t used = strlen(text);
    if (joint < 0) return;
    const int n = loop_of(model, joint, joints), fit = n < MAX_JOINTS ? n : MAX_JOINTS;
    const char *before = " and those of ";
    for (int i = 0; i < fit; i++) {
        if (joints[i].index == joint) continue;
        const int more = snprintf(text + used, size - used, "%s'%s'", before,
                                  model->joint[joints[i].index].name);
        if (more < 0 || (size_t)more >= size - used) { // no truncated names
            text[used] = 0;
            return;
        }
        used += (size_t)more;
        before = ", ";
    }
    if (n > fit && size - used > 5) memcpy(text + used, ", ...", 6);
}

// Length of what callers put before it, as "the initial state at t = 0: ".
enum { BEFORE = 48 };
#define FORMAT                                                                                     \
    "singular position at t = %.9g s: the constraints of %s depend on each other "                 \
    "here, but not nearby (pivot %.1e); %s%s"

// "singular position at t = 1 s: the constraints of ... depend on each other here, ...", then `advice`, `choices`.
// If that is too long, fewer joints are named; if the first alone is too much, the choices are left out.
static lw_status fail(const lw_model *model, int joint, double t, double pivot, const char *advice,
                      const char *choices, lw_error *error)
{
    char which[320];
    size_t size = sizeof which;
    lwi_singular_owner(model, joint, which, sizeof which);
    const int limit = (int)sizeof error->text - BEFORE,
              room = limit - snprintf(NULL, 0, FORMAT, t, "", pivot, advice, choices);
    if (room <= (int)strlen(which))
        choices = "";
    else if (choices[0] && (size_t)room < size)
        size = (size_t)room;
    lwi_singular_names(model, joint, which, size);
    return lwi_fail(error, LW_ERR_SINGULAR, FORMAT, t, which, pivot, advice, choices);
}

lw_status lwi_singular_fail(const lw_model *model, int joint, double t, double pivot,
                            lw_error *error)
{
    return fail(
        model, joint, t, pivot,
        "the continuation of the motion is not determined: end the run before, or start it a "
        "little off",
        "", error);
}

lw_status lwi_singular_fail_speeds(const lw_model *model, int joint, double t, double pivot,
                                   int body, double off, const char *choices, lw_error *error)
{
    char advice[320];
    snprintf(advice, sizeof advice,
             "no motion leads on with the velocities given, that of body '%.100s' would change by "
             "%.3g m/s or rad/s at once: start a little off, with velocities that fit there",
             model->body[body].name, off);
    return fail(model, joint, t, pivot, advice, choices, error);
}

lw_status lwi_singular_fail_rest(const lw_model *model, int joint, double t, double pivot,
                                 const char *choices, lw_error *error)
{
    return fail(model, joint, t, pivot,
                "from rest the loads do not single out one motion: give velocities, which may be "
                "small, or start a little off",
                choices, error);
}

lw_status lwi_singular_fail_stop(const lw_model *model, int joint, double t, double pivot,
                                 const char *end, lw_error *error)
{
    char advice[160];
    snprintf(advice, sizeof advice,
             "%s, as asked (singular: stop); pass steps across, on the same branch", end);
    return fail(model, joint, t, pivot, advice, "", error);
}

lw_status lwi_singular_fail_pass(const lw_model *model, int joint, double t, double pivot,
                                 int steps, lw_error *error)
{
    char advice[320];
    snprintf(
        advice, sizeof advice,
        "no step leads across it, and %d ordinary ones have come no farther: other tolerances or "
        "another formulation may, or singular: stop",
        steps);
    return fail(model, joint, t, pivot, advice, "", error);
}

lw_status lwi_singular_fail_driven(const lw_model *model, int joint, double t, double pivot,
                                   lw_error *error)
{
    lw_joint joints[MAX_JOINTS];
    char names[160], advice[320];
    const int n = joint < 0 ? 0 : loop_of(model, joint, joints);
    int count = driven_of(model, n < MAX_JOINTS ? n : MAX_JOINTS, joints, names, sizeof names);
    if (count == 0) count = driven_of(model, model->njoint, NULL, names, sizeof names);
    snprintf(advice, sizeof advice,
             "the drive%s of joint%s %s %s at a dead point, where these joints lock: end the run "
             "before, or drive another joint",
             count > 1 ? "s" : "", count > 1 ? "s" : "", names, count > 1 ? "are" : "is");
    return fail(model, joint, t, pivot, advice, "", error);
}

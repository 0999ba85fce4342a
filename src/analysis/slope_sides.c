// slope_sides.c -- what two sides of a slope have in common.
#include "analysis/slope_sides.h"

#include "model/forces/servo_law.h"

#include <string.h>

bool lwi_sides_same_numbers(const double *a, const double *b, int n)
{
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

// What signals with states have besides.
static bool same_states(const lw_function_desc *a, const lw_function_desc *b)
{
    const double x[] = {a->initial, a->time, a->range[0], a->range[1], a->kp,
                        a->ki,      a->kd,   a->filter,   a->tracking};
    const double y[] = {b->initial, b->time, b->range[0], b->range[1], b->kp,
                        b->ki,      b->kd,   b->filter,   b->tracking};
    const bool shape = a->nstate == b->nstate && a->nnumerator == b->nnumerator &&
                       a->ndenominator == b->ndenominator;
    return shape && lwi_sides_same_numbers(x, y, LWI_COUNT(x)) &&
           lwi_sides_same_numbers(a->states, b->states, a->nstate) &&
           lwi_sides_same_numbers(a->numerator, b->numerator, a->nnumerator) &&
           lwi_sides_same_numbers(a->denominator, b->denominator, a->ndenominator);
}

static bool same_formulas(const lw_function_desc *a, const lw_function_desc *b)
{
    return same_text(a->formula, b->formula) && same_text(a->formula2, b->formula2) &&
           same_text(a->reference_rate, b->reference_rate) &&
           same_text(a->measured_rate, b->measured_rate);
}

// Except the strings of formulas.
static bool same_function(const lw_function_desc *a, const lw_function_desc *b)
{
    const double x[] = {a->value, a->offset, a->amplitude, a->omega, a->phase,
                        a->rate,  a->from,   a->to,        a->start, a->end};
    const double y[] = {b->value, b->offset, b->amplitude, b->omega, b->phase,
                        b->rate,  b->from,   b->to,        b->start, b->end};
    const bool shape = a->type == b->type && a->ncoefficient == b->ncoefficient &&
                       a->npoint == b->npoint && a->npoint2 == b->npoint2 && a->nterm == b->nterm;
    const int n = a->npoint, values = a->type == LW_FUNCTION_MAP ? n * a->npoint2 : n;
    return shape && lwi_sides_same_numbers(x, y, LWI_COUNT(x)) &&
           lwi_sides_same_numbers(a->coefficients, b->coefficients, a->ncoefficient) &&
           lwi_sides_same_numbers(a->t, b->t, n) && lwi_sides_same_numbers(a->y, b->y, values) &&
           lwi_sides_same_numbers(a->x2, b->x2, a->npoint2) && same_states(a, b);
}

// What a joint with drives does may follow from these at some times alone.
static bool same_joint(const lwi_joint *a, const lwi_joint *b)
{
    return a->par.pitch == b->par.pitch &&
           (a->par.length == b->par.length || !a->length_of.index) &&
           lwi_sides_same_numbers(a->mount.about, b->mount.about, 3);
}

// Do the formulas of function i differ in numbers alone?
static bool same_programs(const lw_model *a, const lw_model *b, int i)
{
    for (int k = 0; k < LWI_FUNCTION_FORMULAS; k++) {
        const lwi_formula *f = lwi_function_formula(&a->function[i], k),
                          *g = lwi_function_formula(&b->function[i], k);
        if (!f != !g || (f && (f->ncode != g->ncode || f->nname != g->nname))) return false;
        for (int c = 0; f && c < f->ncode; c++)
            if (f->code[c].operation != g->code[c].operation ||
                f->code[c].index != g->code[c].index)
                return false;
        for (int c = 0; f && c < f->nname; c++)
            if (f->name[c].kind != g->name[c].kind || f->name[c].index != g->name[c].index)
                return false;
    }
    return true;
}

bool lwi_sides_formulas_differ(const lw_model *a, const lw_model *b)
{
    for (int i = 0; i < a->desc.nfunction && i < b->desc.nfunction; i++)
        if (!same_formulas(&a->desc.function[i], &b->desc.function[i])) return true;
    return false;
}

// Functions that only forces and rates of states read: in a model without motions that functions prescribe.
static bool same_but_for_numbers(const lw_model *a, const lw_model *b, int i)
{
    if (!same_function(&a->desc.function[i], &b->desc.function[i])) return false;
    if (same_formulas(&a->desc.function[i], &b->desc.function[i])) return true;
    return !a->driven && a->nmode == 0 && same_programs(a, b, i);
}

bool lwi_sides_same_at_all_times(const lw_model *a, const lw_model *b)
{
    bool same = a->desc.nfunction == b->desc.nfunction;
    for (int i = 0; same && i < a->desc.nfunction; i++) same = same_but_for_numbers(a, b, i);
    for (int j = 0; same && a->driven && j < a->njoint; j++)
        same = same_joint(&a->joint[j], &b->joint[j]);
    return same;
}

bool lwi_sides_servos_differ(const lwi_force *a, const lwi_force *b)
{
    const lwi_servo_par *x = a->par, *y = b->par;
    const double own[] = {x->stall, x->per_speed, x->per_lag, x->effort_rate},
                 other[] = {y->stall, y->per_speed, y->per_lag, y->effort_rate};
    bool same = x->n == y->n && memcmp(&x->law, &y->law, sizeof x->law) == 0 &&
                lwi_sides_same_numbers(own, other, LWI_COUNT(own));
    for (int k = 0; same && k < x->n; k++) same = x->share[k].c == y->share[k].c;
    return !same;
}

bool lwi_sides_may_pause(const lwi_force *a, const lwi_force *b)
{
    if (a->type == &lwi_force_joint_friction) {
        const lwi_joint_friction_par *x = a->par, *y = b->par;
        return x->coulomb != y->coulomb || x->viscous != y->viscous || x->speed != y->speed;
    }
    if (a->type == &lwi_force_joint_stop) {
        const lwi_joint_stop_par *x = a->par, *y = b->par;
        return x->at != y->at || x->stiffness != y->stiffness || x->damping != y->damping;
    }
    if (a->type == &lwi_force_joint_rotor) {
        const lwi_joint_rotor_par *x = a->par, *y = b->par;
        return x->inertia != y->inertia;
    }
    if (a->type == &lwi_force_wrench) {
        const lwi_wrench_par *x = a->par, *y = b->par;
        return !lwi_sides_same_numbers(x->point, y->point, 3) ||
               !lwi_sides_same_numbers(x->force, y->force, 3) ||
               !lwi_sides_same_numbers(x->torque, y->torque, 3);
    }
    return a->type == &lwi_force_servo || a->type == &lwi_force_tendon ||
           a->type == &lwi_force_stop;
}

bool lwi_sides_markers_differ(const lw_model *a, const lw_model *b)
{
    for (int i = 0; i < a->desc.nmarker && i < b->desc.nmarker; i++) {
        const lw_pose *p = &a->desc.marker[i].pose, *q = &b->desc.marker[i].pose;
        if (!lwi_sides_same_numbers(&p->position.x, &q->position.x, 3) ||
            !lwi_sides_same_numbers(&p->orientation.w, &q->orientation.w, 4))
            return true;
    }
    return false;
}

bool lwi_sides_measures_differ(const lw_model *a, const lw_model *b)
{
    for (int i = 0; i < a->desc.nmeasure && i < b->desc.nmeasure; i++)
        if (strcmp(a->desc.measure[i].formula, b->desc.measure[i].formula) != 0) return true;
    return false;
}

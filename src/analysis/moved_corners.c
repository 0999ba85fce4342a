// moved_corners.c -- corners and jumps in time that parameters move.
//
// A formula of time like where(t > start, 1, 0) is no event: steps do not end at its jump, and the derivative of the run by
// `start` lacks the part of the jump.  Such operations are searched once for the formulas that forces and rates read.
#include "analysis/recording.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>

// Do numbers that signal s depends on change with the parameter?
static bool reaches(const lwi_model_numbers *n, const bool *changes, int s)
{
    for (int i = n->first_reached[s - 1]; i < n->first_reached[s]; i++)
        if (changes[n->reached[i]]) return true;
    return false;
}

// in_formula [ncode] := which instructions change with the parameter; its constants are those from `at` on.
static void find_changes(const lwi_model_numbers *n, const bool *changes,
                         const lwi_formula *formula, int *at, bool *in_formula)
{
    for (int c = 0; c < formula->ncode; c++) {
        const lwi_instruction *in = &formula->code[c];
        const lwi_formula_name *name =
            in->operation == LWI_FORMULA_READ ? &formula->name[in->index] : NULL;
        in_formula[c] = name && name->kind == LWI_READ_SIGNAL && name->index > 0 &&
                        reaches(n, changes, name->index);
        if (in->operation != LWI_FORMULA_NUMBER) continue;
        LWI_ASSERT(*at < n->nconstant && n->constant[*at].instruction == c);
        in_formula[c] = changes[(*at)++];
    }
}

// A parameter by which `changes` [constants] of the formulas change.
static void search(lwi_recording *s, const char *parameter, const bool *changes, bool *in_formula)
{
    const lw_model *model = s->model;
    const lwi_model_numbers *n = &s->numbers;
    const lwi_now now = {.inputs = s->inputs, .functions = model->function};
    int at = 0;
    for (int i = 0; i < model->desc.nfunction; i++) {
        while (at < n->nconstant && n->constant[at].function < i) at++;
        for (int k = 0; k < LWI_FUNCTION_FORMULAS && model->function[i].read; k++) {
            const lwi_formula *formula = lwi_function_formula(&model->function[i], k);
            if (!formula) continue;
            find_changes(n, changes, formula, &at, in_formula);
            const double t = lwi_formula_moved_corner(formula, &now, in_formula, 0, s->duration);
            if (t >= s->duration || *s->corner) continue;
            char name[160];
            lwi_recording_name_function(model, i, name, sizeof name);
            s->worst = LWI_DERIVATIVES_CORNER;
            snprintf(s->corner, LWI_ADJOINT_WARNING,
                     "%s: parameter '%.60s' moves a corner or a jump in time, at about t = %.4g s: "
                     "the derivative by it lacks this; compare with method `differences`, or take "
                     "an event",
                     name, parameter, t);
        }
    }
}

lw_status lwi_recording_find_moved_corners(lwi_recording *s)
{
    bool *changes = LWI_PUSH(&s->arena, bool, s->numbers.nconstant),
         *in_formula = LWI_PUSH(&s->arena, bool, LWI_FORMULA_SIZE);
    if (!changes || !in_formula) return LW_ERR_MEMORY;
    for (int k = 0; k < s->nslope && !*s->corner; k++) {
        bool any = false;
        for (int c = 0; c < s->numbers.nconstant; c++) changes[c] = false;
        for (int i = 0; i < s->slope[k].count; i++) {
            const int c = s->slope[k].number[i] - s->numbers.constants;
            if (c >= 0 && s->slope[k].change[i] != 0) changes[c] = any = true;
        }
        if (any) search(s, s->slope[k].name, changes, in_formula);
    }
    return LW_OK;
}

// slope_fields.c -- derivatives of masses, inertias and springs by parameters, and of models by these.
#include "analysis/slope_fields.h"

#include "analysis/dependence.h"
#include "batch/vary.h"
#include "loops/cut_state.h"
#include "model/signals/formula.h"

#include <math.h>
#include <string.h>

#define ROUND_OFF                                                                                  \
    1e-9 // of changes of the start [rad, m, 1/s, signals] by changes of parameters by their values
#define SAME 1e-13 // of the value of a field and its expression

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

/** A number of the description that the file states by an expression of parameters. */
typedef struct field {
    int list, item;  ///< LWI_STATED_BODY or LWI_STATED_JOINT
    unsigned offset; ///< of a double in the item's description
    int slot;        ///< node of the body, or behind the nodes the joint
    int group;       ///< fields that are varied together; -1: no slope
    double value, step;
    lwi_formula program;
    const bool *on; ///< [nby] parameters that it depends on
    int *number, count;
    double *change; ///< [count] derivatives of the model's numbers by the field
} field;

typedef struct fields {
    const lwi_slopes_desc *d;
    const lwi_slopes_listed *l;
    lwi_dependence dependence;
    bool *taken; ///< [nby] acts through fields alone, as far as is known
    field *field;
    int n, ngroup;
    // parameters of the file
    double *value; ///< [nparameter] SI
    lwi_formula *program;
    double *unit;       ///< [nparameter] of the program's value
    int *order, norder; ///< those that depend on the list, each behind those that it depends on
    int *index;         ///< [nby] in the file; -1: no parameter of the file
} fields;

// ------------------------------------------------------------------------------------- expressions

// Names are variables, by their index in the file.
static lw_status find_name(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                           lw_error *error)
{
    (void)error;
    const int k = lwi_dependence_find(user, name, length);
    if (k < 0) return LW_ERR_ARGUMENT;
    if (symbol)
        *symbol = (lwi_formula_symbol){
            .variable = true, .index = k, .dimension = {.kind = LWI_DIMENSION_UNKNOWN}};
    return LW_OK;
}

static lw_status compile(const fields *f, const char *text, lwi_arena *arena, lwi_formula *program)
{
    const lwi_formula_scope scope = {
        .user = (void *)(uintptr_t)f->dependence.stated, .find = find_name, .constant = true};
    return lwi_formula_build(text, &scope, arena, program, NULL);
}

static double evaluate(const lwi_formula *program, const double *value)
{
    const lwi_now now = {.variables = value};
    return lwi_formula_value(program, &now);
}

static bool same(double a, double b)
{
    return fabs(a - b) <= SAME * (fabs(a) + fabs(b));
}

static void refuse(fields *f, const bool *on)
{
    for (int k = 0; k < f->d->nby; k++) f->taken[k] = f->taken[k] && !on[k];
}

static bool any_taken(const fields *f, const bool *on)
{
    for (int k = 0; k < f->d->nby; k++)
        if (on[k] && f->taken[k]) return true;
    return false;
}

static bool is_listed(const fields *f, int j)
{
    for (int k = 0; k < f->d->nby; k++)
        if (f->index[k] == j) return true;
    return false;
}

// Program of a parameter that depends on others; numbers without a unit are in that of the parameter.
static lw_status compile_parameter(fields *f, int j, lwi_arena *arena)
{
    const lwi_named_statement *p = &f->dependence.stated->parameter[j];
    const bool *on = f->dependence.on + j * f->d->nby;
    const lw_status status = compile(f, p->text, arena, &f->program[j]);
    if (status == LW_ERR_MEMORY) return status;
    if (status == LW_OK) {
        const double value = evaluate(&f->program[j], f->value);
        f->unit[j] = same(value, p->value) ? 1 : p->unit_value;
        if (same(value * f->unit[j], p->value) && (p->value != 0 || p->unit_value == 1)) {
            f->order[f->norder++] = j;
            return LW_OK;
        }
    }
    refuse(f, on);
    return LW_OK;
}

// Puts parameters behind those that they depend on; a file has no cycles.
static void sort_parameters(fields *f)
{
    int done = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = done; i < f->norder; i++) {
            const lwi_formula *program = &f->program[f->order[i]];
            bool ready = true;
            for (int c = 0; c < program->ncode; c++)
                for (int k = done; k < f->norder && ready; k++)
                    ready = program->code[c].operation != LWI_FORMULA_VARIABLE ||
                            program->code[c].index != f->order[k];
            if (!ready) continue;
            const int j = f->order[i];
            f->order[i] = f->order[done];
            f->order[done++] = j;
            moved = true;
        }
    }
    f->norder = done;
}

static lw_status compile_parameters(fields *f, lwi_arena *arena)
{
    const lwi_statements *s = f->dependence.stated;
    for (int j = 0; j < s->nparameter; j++) f->value[j] = s->parameter[j].value;
    for (int j = 0; j < s->nparameter; j++) {
        const bool *on = f->dependence.on + j * f->d->nby;
        if (!is_listed(f, j) && any_taken(f, on)) TRY(compile_parameter(f, j, arena));
    }
    sort_parameters(f);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ fields

// Number `at` of a list on one line, "[0, a + b, \"hypot(c, d)\"]", or the only one of no list, without quotes.
static const char *element(const char *text, int at, lwi_arena *arena)
{
    char *to = LWI_PUSH(arena, char, strlen(text) + 1);
    int k = 0, n = 0;
    bool quoted = false;
    if (!to) return NULL;
    const bool list = *text == '[';
    for (const char *c = text + list; *c && !(list && !quoted && *c == ']'); c++) {
        if (*c == '"') {
            quoted = !quoted;
        } else if (*c == ',' && list && !quoted) {
            k++;
        } else {
            if (*c == '\\' && quoted && c[1]) c++;
            if (k == at) to[n++] = *c;
        }
    }
    to[n] = 0;
    return to + strspn(to, " ");
}

static const char *item_of(const lw_model *model, const field *x)
{
    return x->list == LWI_STATED_BODY ? (const char *)&model->desc.body[x->item]
                                      : (const char *)&model->desc.joint[x->item];
}

static bool is_spring_of_joint(unsigned offset)
{
    const size_t first = offsetof(lw_joint_desc, coordinate), size = sizeof(lw_coordinate_desc);
    if (offset == offsetof(lw_joint_desc, damping)) return true;
    if (offset < first || offset >= first + LW_JOINT_MAX_NV * size) return false;
    const size_t in = (offset - first) % size;
    return in == offsetof(lw_coordinate_desc, stiffness) ||
           in == offsetof(lw_coordinate_desc, damping) || in == offsetof(lw_coordinate_desc, at);
}

// How many fields an entry has; 0: it is none of these, or its item is none of the tree.
static int count_fields(const lw_model *model, const lwi_statement *s, int *slot)
{
    if (s->list == LWI_STATED_BODY && s->item > 0) {
        *slot = model->body_node[model->body[s->item].carrier];
        if (*slot < 0) return 0;
        return s->offset == offsetof(lw_body_desc, mass)      ? 1
               : s->offset == offsetof(lw_body_desc, inertia) ? 6
                                                              : 0;
    }
    if (s->list != LWI_STATED_JOINT || s->item < 0 || model->joint[s->item].node < 0) return 0;
    *slot = model->nnode + s->item;
    return is_spring_of_joint(s->offset) ? 1 : 0;
}

// Step by the value, of inertias by the largest of the body.
static double step_of(const fields *f, const field *x)
{
    double size = fabs(x->value);
    if (x->list == LWI_STATED_BODY && x->offset >= offsetof(lw_body_desc, inertia))
        for (int i = 0; i < 6; i++)
            size = fmax(size, fabs(f->d->model->desc.body[x->item].inertia[i]));
    return f->d->relative * (size > 0 ? size : 1);
}

static lw_status add_field(fields *f, const lwi_statement *s, int slot, int at, lwi_arena *arena)
{
    const lwi_statements *stated = f->dependence.stated;
    field *x = &f->field[f->n];
    bool *on = LWI_PUSH(arena, bool, f->d->nby);
    const char *text = element(stated->text + s->text, at, arena);
    if (!on || !text) return LW_ERR_MEMORY;
    lwi_dependence_add(&f->dependence, text, on);
    if (!any_taken(f, on)) return LW_OK;
    *x = (field){.list = s->list,
                 .item = s->item,
                 .offset = s->offset + (unsigned)at * (unsigned)sizeof(double),
                 .slot = slot,
                 .group = -1,
                 .on = on};
    memcpy(&x->value, item_of(f->d->model, x) + x->offset, sizeof x->value);
    x->step = step_of(f, x);
    const lw_status status = compile(f, text, arena, &x->program);
    if (status == LW_ERR_MEMORY) return status;
    if (status == LW_OK && same(evaluate(&x->program, f->value), x->value))
        f->n++;
    else
        refuse(f, on);
    return LW_OK;
}

// Fields that follow from the shapes of a body are of no simple kind.
static bool has_density(const lwi_statements *s, int body)
{
    for (int i = 0; i < s->n; i++)
        if (s->entry[i].list == LWI_STATED_BODY && s->entry[i].item == body &&
            !strcmp(s->entry[i].key->name, "density"))
            return true;
    return false;
}

static lw_status find_fields(fields *f, lwi_arena *arena)
{
    const lwi_statements *s = f->dependence.stated;
    bool *on = LWI_PUSH(arena, bool, f->d->nby);
    f->field = LWI_PUSH(arena, field, 6 * (size_t)s->n);
    if (!on || !f->field) return LW_ERR_MEMORY;
    for (int i = 0; i < s->npoint; i++) {
        memset(on, 0, (size_t)f->d->nby * sizeof *on);
        lwi_dependence_add(&f->dependence, s->point[i].text, on);
        refuse(f, on);
    }
    for (int i = 0; i < s->n; i++) {
        int slot = -1;
        memset(on, 0, (size_t)f->d->nby * sizeof *on);
        lwi_dependence_add(&f->dependence, s->text + s->entry[i].text, on);
        if (!any_taken(f, on)) continue;
        int n = s->entry[i].key ? count_fields(f->d->model, &s->entry[i], &slot) : 0;
        if (n && s->entry[i].list == LWI_STATED_BODY && has_density(s, s->entry[i].item)) n = 0;
        if (n == 0) refuse(f, on);
        for (int k = 0; k < n; k++) TRY(add_field(f, &s->entry[i], slot, k, arena));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------- models by fields

// Each field in the first group without another one of its body or joint.
static void assign_groups(fields *f)
{
    for (int i = 0; i < f->n; i++) {
        int group = 0;
        if (!any_taken(f, f->field[i].on)) continue;
        for (int k = 0; k < i; k++)
            if (f->field[k].slot == f->field[i].slot && f->field[k].group >= group)
                group = f->field[k].group + 1;
        f->field[i].group = group;
        if (group >= f->ngroup) f->ngroup = group + 1;
    }
}

// The model with other fields [n].  They need not be possible together: a rod without inertia about its axis has none
// that could change alone.
static lw_status make_model(const fields *f, const lw_model *model, const double *value,
                            const lw_allocator *allocator, lw_model **varied, lw_error *error)
{
    struct lw_builder builder = {.allocator = *allocator, .desc = model->desc};
    lwi_description *desc = &builder.desc;
    lwi_arena arena;
    lwi_arena_init(&arena, allocator);
    desc->stated = (lwi_statements){0};
    desc->remake = (lwi_remake){0};
    desc->body = LWI_PUSH(&arena, lw_body_desc, desc->nbody);
    desc->joint = LWI_PUSH(&arena, lw_joint_desc, desc->njoint);
    lw_status status = LW_ERR_MEMORY;
    if (desc->body && desc->joint) {
        memcpy(desc->body, model->desc.body, (size_t)desc->nbody * sizeof *desc->body);
        if (desc->njoint)
            memcpy(desc->joint, model->desc.joint, (size_t)desc->njoint * sizeof *desc->joint);
        for (int i = 0; i < desc->nbody; i++) desc->body[i].inertia_check = LW_INERTIA_ACCEPT;
        for (int i = 0; i < f->n; i++) {
            const field *x = &f->field[i];
            char *item = x->list == LWI_STATED_BODY ? (char *)&desc->body[x->item]
                                                    : (char *)&desc->joint[x->item];
            memcpy(item + x->offset, &value[i], sizeof value[i]);
        }
        status = lw_model_create(&builder, varied, error);
    } else {
        no_memory(error);
    }
    lwi_arena_free(&arena);
    return status;
}

typedef struct varied_group {
    const fields *f;
    int group;
    double *value; // [n] scratch
} varied_group;

static lw_status make_variant(void *user, const lw_model *model, int steps,
                              const lw_allocator *allocator, lw_model **varied, lw_error *error)
{
    const varied_group *v = user;
    for (int i = 0; i < v->f->n; i++) {
        const field *x = &v->f->field[i];
        v->value[i] = x->value + (x->group == v->group ? steps * x->step : 0);
    }
    return make_model(v->f, model, v->value, allocator, varied, error);
}

// Is a change of the model one of numbers alone?
static bool of_numbers(const fields *f, const lwi_slope *whole)
{
    if (!whole->local || whole->nforce > 0 || lwi_slope_changes_motion(whole, f->d->model, true))
        return false;
    for (int i = 0; i < 2 * f->d->model->tree_nv + f->d->model->nstate; i++)
        if (fabs(whole->start[i]) > ROUND_OFF) return false;
    return true;
}

// Slot of a number of the model; -1: it has none.
static int slot_of_number(const lwi_slopes_desc *d, int i)
{
    const lwi_model_numbers *n = d->numbers;
    if (i >= n->inertia && i < n->frame) return (i - n->inertia) / 10;
    if (i < n->spring || i >= n->gravity) return -1;
    return d->model->nnode + d->model->node[n->of[(i - n->spring) / LWI_NUMBERS_SPRING].node].joint;
}

// The field of a group that a number belongs to; NULL: none.
static field *owner_of(const fields *f, int group, int number)
{
    const int slot = slot_of_number(f->d, number);
    for (int i = 0; i < f->n && slot >= 0; i++)
        if (f->field[i].group == group && f->field[i].slot == slot) return &f->field[i];
    return NULL;
}

static lw_status split_group(const fields *f, int group, const lwi_slope *whole, lwi_arena *arena)
{
    for (int i = 0; i < f->n; i++) {
        field *x = &f->field[i];
        if (x->group != group) continue;
        x->number = LWI_PUSH(arena, int, whole->count);
        x->change = LWI_PUSH(arena, double, whole->count);
        if (!x->number || !x->change) return LW_ERR_MEMORY;
    }
    for (int i = 0; i < whole->count; i++) {
        field *x = owner_of(f, group, whole->number[i]);
        x->number[x->count] = whole->number[i];
        x->change[x->count++] = whole->change[i] / x->step;
    }
    return LW_OK;
}

static bool all_owned(const fields *f, int group, const lwi_slope *whole)
{
    for (int i = 0; i < whole->count; i++)
        if (!owner_of(f, group, whole->number[i])) return false;
    return true;
}

static lw_status make_group(fields *f, int group, lwi_arena *arena, lw_error *error)
{
    lwi_slope whole;
    varied_group v = {f, group, LWI_PUSH(arena, double, f->n)};
    if (!v.value) return no_memory(error);
    const lwi_slope_variants of = {"fields", make_variant, &v};
    lw_status status = lwi_slope_create_of(f->d->model, f->d->numbers, &of, 1, arena, &whole, NULL);
    if (status == LW_ERR_MEMORY) return no_memory(error);
    bool separates = status == LW_OK;
    if (separates) {
        status = lwi_slope_test(&whole, f->d->numbers, &f->l->probe, arena, error);
        separates = status == LW_OK && of_numbers(f, &whole) && all_owned(f, group, &whole);
        if (separates) status = split_group(f, group, &whole, arena);
        lwi_slope_destroy(&whole);
        if (status != LW_OK) return status == LW_ERR_MEMORY ? no_memory(error) : status;
    }
    for (int i = 0; i < f->n && !separates; i++)
        if (f->field[i].group == group) refuse(f, f->field[i].on);
    return LW_OK;
}

// ------------------------------------------------------------------------------- fields by parameters

// Derivative of each field [n] by parameter k, in its unit.
static void differentiate(fields *f, int k, double (*side)[LWI_SLOPE_SIDES], double *by)
{
    static const int steps[LWI_SLOPE_SIDES] = LWI_SLOPE_STEPS;
    const lwi_statements *s = f->dependence.stated;
    const double unit = s->parameter[f->index[k]].unit_value, step = f->l->parameter[k].step;
    for (int e = 0; e < LWI_SLOPE_SIDES; e++) {
        f->value[f->index[k]] = s->parameter[f->index[k]].value + steps[e] * step * unit;
        for (int i = 0; i < f->norder; i++) {
            const int j = f->order[i];
            if (f->dependence.on[j * f->d->nby + k])
                f->value[j] = f->unit[j] * evaluate(&f->program[j], f->value);
        }
        for (int i = 0; i < f->n; i++)
            if (f->field[i].on[k]) side[i][e] = evaluate(&f->field[i].program, f->value);
    }
    for (int i = 0; i < f->n; i++)
        by[i] = f->field[i].on[k] ? lwi_slope_difference(side[i], step) : 0;
    f->value[f->index[k]] = s->parameter[f->index[k]].value;
    for (int i = 0; i < f->norder; i++) f->value[f->order[i]] = s->parameter[f->order[i]].value;
}

// dense [numbers] is zero before and after.
static lw_status combine(const fields *f, int k, const double *by, const double *start,
                         double *dense, lwi_arena *arena, lwi_slope *slope)
{
    int count = 0;
    for (int i = 0; i < f->n; i++)
        for (int c = 0; by[i] != 0 && c < f->field[i].count; c++)
            dense[f->field[i].number[c]] += by[i] * f->field[i].change[c];
    for (int i = 0; i < f->d->numbers->n; i++) count += dense[i] != 0;
    *slope = (lwi_slope){.name = f->d->by[k],
                         .step = f->l->parameter[k].step,
                         .local = true,
                         .by_fields = true,
                         .number = LWI_PUSH(arena, int, count),
                         .change = LWI_PUSH(arena, double, count),
                         .start = (double *)(uintptr_t)start};
    if (!slope->number || !slope->change) return LW_ERR_MEMORY;
    for (int i = 0; i < f->d->numbers->n; i++) {
        if (dense[i] == 0) continue;
        slope->number[slope->count] = i;
        slope->change[slope->count++] = dense[i];
        dense[i] = 0;
    }
    return LW_OK;
}

static lw_status make_slopes(fields *f, double *dense, lwi_arena *arena, lwi_slope *slope)
{
    double *by = LWI_PUSH(arena, double, f->n);
    double(*side)[LWI_SLOPE_SIDES] = lwi_arena_push(arena, (size_t)f->n, sizeof *side);
    const double *start = LWI_PUSH(arena, double, 2 * f->d->model->tree_nv + f->d->model->nstate);
    if (!by || !side || !start) return LW_ERR_MEMORY;
    for (int k = 0; k < f->d->nby; k++) {
        if (!f->taken[k]) continue;
        differentiate(f, k, side, by);
        TRY(combine(f, k, by, start, dense, arena, &slope[k]));
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------- all of them in the file

/** The model of the file with other parameters, and that of the description with the fields that follow. */
typedef struct file_and_fields {
    const fields *f;
    lwi_vary *vary;    // [n] of the file
    double *parameter; // [n] their values
    int n;
    const double *value;     // [fields]
    const lw_model *of_file; // the side of the file
} file_and_fields;

enum { SIDE_OF_FILE = -2 }; // the first; the others have the fields

static lw_status make_side(void *user, const lw_model *model, int steps,
                           const lw_allocator *allocator, lw_model **varied, lw_error *error)
{
    file_and_fields *w = user;
    if (steps != SIDE_OF_FILE) return make_model(w->f, model, w->value, allocator, varied, error);
    TRY(lwi_vary_model(model, w->f->l->document, w->vary, w->n, w->parameter, NULL, NULL, allocator,
                       varied, error));
    w->of_file = *varied;
    return LW_OK;
}

// Has the model the fields?
static bool has_fields(const fields *f, const lw_model *model, const double *value)
{
    for (int i = 0; i < f->n; i++) {
        const field *x = &f->field[i];
        double stated;
        memcpy(&stated, item_of(model, x) + x->offset, sizeof stated);
        if (fabs(stated - value[i]) > SAME * (fabs(stated) + fabs(value[i]) + x->step))
            return false;
    }
    return true;
}

// value [n] := fields where each parameter that is taken differs by a part of its step at random.
static lw_status vary_all(fields *f, double *value, lwi_arena *arena, file_and_fields *w,
                          lw_error *error)
{
    const lwi_statements *s = f->dependence.stated;
    const int nby = f->d->nby;
    double *part = LWI_PUSH(arena, double, nby);
    if (!part) return LW_ERR_MEMORY;
    lwi_cut_scatter(nby, 7, part);
    for (int k = 0; k < nby; k++) {
        if (!f->taken[k] && !f->l->held[k]) continue;
        const lwi_slope_parameter *p = &f->l->parameter[k];
        const double step = f->taken[k] ? 2 * p->step * (0.5 + 0.5 * part[k]) : 0;
        TRY(lwi_vary_resolve(f->d->model, p->name, &w->vary[w->n], error));
        w->parameter[w->n++] = p->value + step;
        if (f->taken[k]) f->value[f->index[k]] += step * s->parameter[f->index[k]].unit_value;
    }
    for (int i = 0; i < f->norder; i++)
        f->value[f->order[i]] = f->unit[f->order[i]] * evaluate(&f->program[f->order[i]], f->value);
    for (int i = 0; i < f->n; i++) value[i] = evaluate(&f->field[i].program, f->value);
    for (int j = 0; j < s->nparameter; j++) f->value[j] = s->parameter[j].value;
    return LW_OK;
}

// Varies all of the parameters together: is the model of the file that of the description with the same fields?
static lw_status test_together(fields *f, lwi_arena *arena, bool *agree, lw_error *error)
{
    lwi_slope whole;
    double *value = LWI_PUSH(arena, double, f->n);
    file_and_fields w = {.f = f,
                         .vary = LWI_PUSH(arena, lwi_vary, f->d->nby),
                         .parameter = LWI_PUSH(arena, double, f->d->nby),
                         .value = value};
    if (!value || !w.vary || !w.parameter) return LW_ERR_MEMORY;
    TRY(vary_all(f, value, arena, &w, error));
    *agree = false;
    const lwi_slope_variants of = {"fields", make_side, &w};
    // the weight of that side is 1/12
    const lw_status status =
        lwi_slope_create_of(f->d->model, f->d->numbers, &of, 1.0 / 12, arena, &whole, NULL);
    if (status != LW_OK) return status == LW_ERR_MEMORY ? status : LW_OK;
    const lw_status tested = lwi_slope_test(&whole, f->d->numbers, &f->l->probe, arena, error);
    *agree = tested == LW_OK && whole.count == 0 && of_numbers(f, &whole) &&
             has_fields(f, w.of_file, value);
    lwi_slope_destroy(&whole);
    return tested;
}

static lw_status begin(fields *f, lwi_arena *arena)
{
    const lwi_statements *s = &f->d->model->desc.stated;
    const int nby = f->d->nby;
    TRY(lwi_dependence_create(s, f->d->by, nby, arena, &f->dependence));
    f->taken = LWI_PUSH(arena, bool, nby);
    f->index = LWI_PUSH(arena, int, nby);
    f->value = LWI_PUSH(arena, double, s->nparameter);
    f->unit = LWI_PUSH(arena, double, s->nparameter);
    f->program = LWI_PUSH(arena, lwi_formula, s->nparameter);
    f->order = LWI_PUSH(arena, int, s->nparameter);
    if (!f->taken || !f->index || !f->value || !f->unit || !f->program || !f->order)
        return LW_ERR_MEMORY;
    for (int k = 0; k < nby; k++) {
        f->index[k] = lwi_dependence_find(s, f->d->by[k], (int)strlen(f->d->by[k]));
        f->taken[k] = f->index[k] >= 0;
    }
    return LW_OK;
}

static int count_taken(const fields *f, const int *fields_of)
{
    int n = 0;
    for (int k = 0; k < f->d->nby; k++) {
        f->taken[k] = f->taken[k] && fields_of[k] > 0;
        n += f->taken[k];
    }
    return n;
}

// Slopes of parameters with fields.  @return false in *worth: fewer than the variants that they need
static lw_status choose(fields *f, lwi_arena *arena, bool *worth)
{
    int *fields_of = LWI_PUSH(arena, int, f->d->nby);
    if (!fields_of) return LW_ERR_MEMORY;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->d->nby; k++) fields_of[k] += f->field[i].on[k];
    const int n = count_taken(f, fields_of);
    assign_groups(f);
    *worth = n > f->ngroup + 1;
    return LW_OK;
}

static lw_status make_all(fields *f, lwi_arena *arena, lwi_slope *slope, bool *made,
                          lw_error *error)
{
    bool worth = false, agree = false;
    TRY(begin(f, arena));
    if (!f->d->together) return LW_OK;
    TRY(compile_parameters(f, arena));
    TRY(find_fields(f, arena));
    TRY(choose(f, arena, &worth));
    if (!worth) return LW_OK;
    for (int i = 0; i < f->ngroup; i++) TRY(make_group(f, i, arena, error));
    double *dense = LWI_PUSH(arena, double, f->d->numbers->n);
    if (!dense) return LW_ERR_MEMORY;
    TRY(make_slopes(f, dense, arena, slope));
    TRY(test_together(f, arena, &agree, error));
    for (int k = 0; k < f->d->nby; k++) made[k] = agree && f->taken[k];
    return LW_OK;
}

lw_status lwi_slopes_by_fields(const lwi_slopes_desc *d, const lwi_slopes_listed *l,
                               lwi_arena *arena, lwi_slope *slope, bool *made, lw_error *error)
{
    fields f = {.d = d, .l = l};
    memset(made, 0, (size_t)d->nby * sizeof *made);
    const lw_status status = make_all(&f, arena, slope, made, error);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

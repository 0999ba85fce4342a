// formula_build.c -- what remains of a formula that has been parsed: its program with names, and facts about it.
#include "model/signals/formula_parser.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- facts

static bool is_kinked(lwi_operation operation)
{
    switch (operation) {
    case LWI_FORMULA_ABS:
    case LWI_FORMULA_SIGN:
    case LWI_FORMULA_MIN:
    case LWI_FORMULA_MAX:
    case LWI_FORMULA_FLOOR:
    case LWI_FORMULA_CEIL:
    case LWI_FORMULA_MOD:
    case LWI_FORMULA_WHERE:
        return true;
    default:
        return operation >= LWI_FORMULA_LESS && operation <= LWI_FORMULA_NOT;
    }
}

// A scope without names, but quoted ones without a coordinate behind them are signals.
static lw_status no_name(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                         lw_error *error)
{
    (void)user, (void)error;
    if (name[0] != '\'' || lwi_formula_quoted_length(name) != length) return LW_ERR_ARGUMENT;
    if (symbol) *symbol = (lwi_formula_symbol){.signal = true};
    return LW_OK;
}

lwi_formula_facts lwi_formula_facts_of(const char *text)
{
    lwi_formula_parser p;
    const lwi_formula_scope scope = {.find = no_name, .any_signal = true};
    lwi_formula_facts facts = {0};
    if (lwi_formula_parse(&p, text, &scope, NULL, NULL) != LW_OK) return facts;
    for (int i = 0; i < p.ncode; i++) facts.kinked = facts.kinked || is_kinked(p.code[i].operation);
    for (int k = 0; k < p.nname && !facts.reads_state; k++) {
        if (p.name[k].kind == LWI_READ_SIGNAL) continue;
        facts.reads_state = true;
        facts.at = p.name[k].at;
        facts.length = p.name[k].length;
    }
    return facts;
}

// ----------------------------------------------------------------------------------------- program

const char *lwi_formula_item(lwi_arena *arena, const char *text, const lwi_formula_name *name,
                             int item)
{
    const int end = name->at + name->length;
    char *joint = LWI_PUSH(arena, char, end - item + 1);
    if (!joint) return NULL;
    const char *from = text + item;
    int n = 0;
    if (*from != '\'') {
        const int word =
            name->kind == LWI_READ_SIGNAL ? name->length : lwi_formula_word_length(text, item);
        memcpy(joint, from, (size_t)word);
        return joint;
    }
    for (from++; from[0] != '\'' || from[1] == '\''; from++) {
        joint[n++] = *from;
        from += *from == '\'';
    }
    return joint;
}

lw_status lwi_formula_build(const char *text, const lwi_formula_scope *scope, lwi_arena *arena,
                            lwi_formula *formula, lw_error *error)
{
    lwi_formula_parser p;
    lwi_formula f = {0};
    TRY(lwi_formula_parse(&p, text, scope, NULL, error));
    f.text = lwi_arena_text(arena, text);
    f.code = LWI_PUSH(arena, lwi_instruction, p.ncode);
    f.name = LWI_PUSH(arena, lwi_formula_name, p.nname);
    if (!f.text || !f.code || !f.name) return LW_ERR_MEMORY;
    memcpy(f.code, p.code, (size_t)p.ncode * sizeof *f.code);
    f.ncode = p.ncode;
    f.nname = p.nname;
    f.dimension = p.dimension[0];
    for (int k = 0; k < p.nname; k++) {
        f.name[k] = p.name[k];
        f.name[k].joint = lwi_formula_item(arena, text, &p.name[k], p.name[k].item);
        if (!f.name[k].joint) return LW_ERR_MEMORY;
        if (p.name[k].kind != LWI_READ_DISTANCE) continue;
        f.name[k].other = lwi_formula_item(arena, text, &p.name[k], p.name[k].item2);
        if (!f.name[k].other) return LW_ERR_MEMORY;
    }
    *formula = f;
    return LW_OK;
}

void lwi_formula_link(lwi_formula *formula)
{
    for (int i = 0; i < formula->ncode; i++) {
        lwi_instruction *instruction = &formula->code[i];
        if (instruction->operation == LWI_FORMULA_COORDINATE ||
            instruction->operation == LWI_FORMULA_SPEED)
            instruction->index = formula->name[instruction->index].index;
    }
}

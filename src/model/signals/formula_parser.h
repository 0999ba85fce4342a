// formula_parser.h -- the state of the parser of formulas, for its parts: rules, dimensions, results, other names.
#ifndef LWI_MODEL_SIGNALS_FORMULA_PARSER_H
#define LWI_MODEL_SIGNALS_FORMULA_PARSER_H

#include "model/signals/formula.h"

// A piece of text that lwi_formula_rewrite replaces: the name of a constant, or of a joint's coordinate.
typedef struct lwi_formula_edit {
    int at, length;
    double value;
    int name; // of a coordinate: in the parser's list; -1: of a constant
} lwi_formula_edit;

typedef struct lwi_formula_parser {
    const char *text;
    int at;           // next character
    int depth, stack; // now
    lw_error *error;
    const lwi_formula_scope *scope; // NULL: none
    lwi_formula_edit *edit;         // [LWI_FORMULA_SIZE] NULL: not kept
    int nedit;
    bool literal;            // so far no name and no operation but a sign
    bool mixed, mixed_angle; // as in lwi_formula_result
    bool cycles, pi;         // a number or a name in Hz; the name pi
    int ncode, nname;
    lwi_dimension dimension[LWI_FORMULA_STACK + 1];
    int where[LWI_FORMULA_SIZE]; // each instruction came from
    lwi_instruction code[LWI_FORMULA_SIZE];
    lwi_formula_name name[LWI_FORMULA_NAMES];
} lwi_formula_parser;

/** Parses the whole text.
 *  @param edits  [LWI_FORMULA_SIZE] out; NULL: not kept */
lw_status lwi_formula_parse(lwi_formula_parser *parser, const char *text,
                            const lwi_formula_scope *scope, lwi_formula_edit *edits,
                            lw_error *error);
/** Length of the word at byte `at`; 0 where there is none. */
int lwi_formula_word_length(const char *text, int at);
/** Length of a quoted name, its quotes included; 0: it does not end. */
int lwi_formula_quoted_length(const char *text);
/** Dimension of an operation on the operands that are the last of the stack. */
lw_status lwi_formula_dimension(lwi_formula_parser *parser, lwi_operation operation, int at,
                                int length, lwi_dimension *result);
/** The name of the item at byte `item` of the text without quotes; NULL: no memory. */
const char *lwi_formula_item(lwi_arena *arena, const char *text, const lwi_formula_name *name,
                             int item);

#endif

// formula.h -- functions written as text: "2*sin(3*t)", "-40*rope.q0 - 3*rope.qd0"; expressions of names: "rho*pi*r^2".
//
// The text becomes a program in postfix order: operands first, then the operation that takes them
// from a stack and leaves one value.  Nothing but the arena is allocated, evaluation needs none.
#ifndef LWI_MODEL_SIGNALS_FORMULA_H
#define LWI_MODEL_SIGNALS_FORMULA_H

#include "base/base.h"
#include "model/signals/units.h"

enum {
    LWI_FORMULA_LENGTH = 4000, ///< bytes of text
    LWI_FORMULA_LEVELS = 64,   ///< parentheses, functions, signs and powers inside each other
    LWI_FORMULA_DEPTH =
        LWI_FORMULA_LEVELS + 2, ///< rules inside each other: an operator around them, the outermost
    LWI_FORMULA_SIZE = 1000,    ///< instructions: numbers, names and operations
    LWI_FORMULA_STACK = LWI_FORMULA_LEVELS + 2, ///< values that wait for their operation
    LWI_FORMULA_NAMES = 64                      ///< different joint coordinates and speeds
};

struct lwi_kin;
struct lwi_function;

/** Everything that a signal may depend on. */
typedef struct lwi_now {
    double t;                ///< [s]
    const double *inputs;    ///< NULL: zeros
    const double *q, *qd;    ///< [model nq], [model nv] of all joints
    const double *variables; ///< of the scope of a formula (lwi_formula_scope); NULL: none are read
    const struct lwi_kin *kin; ///< motions of bodies; NULL: what reads bodies is not a number
    const struct lwi_function
        *functions;       ///< of the model, which formulas name; set by lwi_signal_value
    const double *states; ///< [model nstate] of signals; NULL: those of the start
} lwi_now;

/** A line s -> (t, q, qd, length and rate of a spring) along which signals are differentiated: the derivatives of these
 *  by s.  A reading of bodies, a state of a signal or a number of a formula changes as s.  Everything else is held. */
typedef struct lwi_seed {
    double t;
    int iq, iv; ///< in lwi_now q, qd; -1: none
    double q, qd;
    int spring; ///< number of the spring in the model; -1: none
    double length, rate;
    const struct lwi_probe *probe;        ///< NULL: none
    const struct lwi_instruction *number; ///< a number of a formula, which changes as s; NULL: none
    int state;                            ///< 1 + index of a state of a signal; 0: none
} lwi_seed;

/** Leaves, which have no operands. */
#define LWI_FORMULA_LEAF_LIST(X) X(NUMBER) X(TIME) X(COORDINATE) X(SPEED) X(VARIABLE) X(READ)

/** Operators: symbol and operands. */
#define LWI_FORMULA_OPERATOR_LIST(X)                                                               \
    X(ADD, "+", 2)                                                                                 \
    X(SUBTRACT, "-", 2)                                                                            \
    X(MULTIPLY, "*", 2)                                                                            \
    X(DIVIDE, "/", 2)                                                                              \
    X(POWER, "^", 2)                                                                               \
    X(NEGATE, "-", 1)                                                                              \
    X(LESS, "<", 2)                                                                                \
    X(LESS_EQUAL, "<=", 2)                                                                         \
    X(GREATER, ">", 2)                                                                             \
    X(GREATER_EQUAL, ">=", 2)                                                                      \
    X(EQUAL, "==", 2)                                                                              \
    X(NOT_EQUAL, "!=", 2)                                                                          \
    X(AND, "and", 2)                                                                               \
    X(OR, "or", 2)                                                                                 \
    X(NOT, "not", 1)

/** Functions: name, operands, how it is called. */
#define LWI_FORMULA_FUNCTION_LIST(X)                                                               \
    X(SIN, "sin", 1, "sin(x)")                                                                     \
    X(COS, "cos", 1, "cos(x)")                                                                     \
    X(TAN, "tan", 1, "tan(x)")                                                                     \
    X(ASIN, "asin", 1, "asin(x)")                                                                  \
    X(ACOS, "acos", 1, "acos(x)")                                                                  \
    X(ATAN, "atan", 1, "atan(x)")                                                                  \
    X(ATAN2, "atan2", 2, "atan2(y, x)")                                                            \
    X(HYPOT, "hypot", 2, "hypot(x, y)")                                                            \
    X(SINH, "sinh", 1, "sinh(x)")                                                                  \
    X(COSH, "cosh", 1, "cosh(x)")                                                                  \
    X(TANH, "tanh", 1, "tanh(x)")                                                                  \
    X(EXP, "exp", 1, "exp(x)")                                                                     \
    X(LOG, "log", 1, "log(x)")                                                                     \
    X(LOG10, "log10", 1, "log10(x)")                                                               \
    X(SQRT, "sqrt", 1, "sqrt(x)")                                                                  \
    X(ABS, "abs", 1, "abs(x)")                                                                     \
    X(SIGN, "sign", 1, "sign(x)")                                                                  \
    X(MIN, "min", 2, "min(x, y, ...)")                                                             \
    X(MAX, "max", 2, "max(x, y, ...)")                                                             \
    X(FLOOR, "floor", 1, "floor(x)")                                                               \
    X(CEIL, "ceil", 1, "ceil(x)")                                                                  \
    X(MOD, "mod", 2, "mod(x, period)")                                                             \
    X(STEP, "step", 3, "step(x, start, end)")                                                      \
    X(WHERE, "where", 3, "where(condition, yes, no)")

typedef enum lwi_operation {
#define X(name) LWI_FORMULA_##name,
    LWI_FORMULA_LEAF_LIST(X)
#undef X
#define X(name, text, operands) LWI_FORMULA_##name,
        LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) LWI_FORMULA_##name,
            LWI_FORMULA_FUNCTION_LIST(X)
#undef X
                LWI_FORMULA_OPERATION_COUNT
} lwi_operation;

typedef struct lwi_instruction {
    lwi_operation operation;
    int index; ///< COORDINATE, SPEED: in lwi_now q, qd once linked, before that in `name`; VARIABLE: in `variables`; READ: in `name`
    double value; ///< NUMBER
} lwi_instruction;

/** What a name of a formula reads. */
typedef enum lwi_reading {
    LWI_READ_JOINT,    ///< a coordinate or a speed
    LWI_READ_SIGNAL,   ///< a function or an input
    LWI_READ_BODY,     ///< a component of the motion of its mass centre
    LWI_READ_MARKER,   ///< a component of its motion
    LWI_READ_SPRING,   ///< length or rate
    LWI_READ_DISTANCE, ///< of two markers, or its rate
    LWI_READ_COUNT
} lwi_reading;

/** Components of bodies and markers, as the columns of results are called: position and velocity in world axes, angular
 *  velocity in axes of the body or marker. */
#define LWI_FORMULA_COMPONENT_LIST(X) X(x) X(y) X(z) X(vx) X(vy) X(vz) X(wx) X(wy) X(wz)
enum { LWI_FORMULA_COMPONENTS = 9 };

struct lwi_probe;

/** A quantity that the formula reads. */
typedef struct lwi_formula_name {
    lwi_reading kind;
    const char *joint, *other; ///< name of the item; DISTANCE: of the second marker
    int coordinate;            ///< JOINT: k of qk, qdk; BODY, MARKER: component; else 1: the rate
    bool speed;
    int at, length;  ///< where the text names it first
    int item, item2; ///< where the names of the items are
    int index;       ///< JOINT: in lwi_now q or qd, once linked; SIGNAL: lw_signal.index
    const struct lwi_probe *probe; ///< BODY ... DISTANCE: once linked
} lwi_formula_name;

typedef struct lwi_formula {
    const char *text;
    lwi_instruction *code;
    lwi_formula_name *name;
    int ncode, nname;
    lwi_dimension dimension; ///< of its value
} lwi_formula;

/** What a name means. */
typedef struct lwi_formula_symbol {
    bool variable; ///< read from lwi_now.variables at `index`; else the constant `value`
    bool signal;   ///< a function or input: `index` is that of lw_signal
    double value;
    int index;
    lwi_dimension dimension;
    bool cycles; ///< a frequency in Hz, or a product of one
} lwi_formula_symbol;

/** Names that a text may use besides t, pi, e, functions and joints, such as parameters of a model or outputs of a run.
 *  A name is of words with dots or @ between, "rho", "A.x", "joint.A.fx@tip"; other characters are in quotes. */
typedef struct lwi_formula_scope {
    void *user;
    /** @param name    not ended by a zero byte
     *  @param symbol  out; NULL: is there such a name?
     *  @return LW_ERR_ARGUMENT: there is no such name; another status, with its error: it has no value */
    lw_status (*find)(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                      lw_error *error);
    const char *const *names; ///< [nname] for suggestions; may be NULL
    int nname;
    bool constant;      ///< neither t nor joints may be read
    bool any_signal;    ///< unknown names are signals, with index 0
    const char *prefix; ///< lwi_formula_rewrite: before names of joints; NULL: none
    /** lwi_formula_rewrite: does the coordinate change its sign?  NULL: none does */
    bool (*negated)(void *user, const char *joint, int coordinate, bool speed);
} lwi_formula_scope;

/** An expression that is a number: its value in SI. */
typedef struct lwi_formula_result {
    double value;
    lwi_dimension dimension;
    bool literal; ///< a number, perhaps with sign and unit, without names and operations
    bool
        mixed; ///< a quantity is added to a number without a unit, or multiplied by a name without one
    bool mixed_angle; ///< the same of an angle
    bool cycles;      ///< it has a frequency in Hz, and no factor pi
} lwi_formula_result;

/** Value of an expression of constants.   @return LW_ERR_MODEL, as lwi_formula_check */
lw_status lwi_formula_number(const char *text, const lwi_formula_scope *scope,
                             lwi_formula_result *result, lw_error *error);
/** The text with the values of its scope's constants in place of their names, and other names of joints: what
 *  lwi_formula_check takes.
 *  @param rewritten  in the arena */
lw_status lwi_formula_rewrite(const char *text, const lwi_formula_scope *scope, lwi_arena *arena,
                              const char **rewritten, lw_error *error);
/** Is the word one that no name of a scope may be: t, pi, a function, an operator? */
bool lwi_formula_is_reserved(const char *word);
/** A name as formulas write it, as `find` of a scope gets it: one word that is not reserved, or in quotes.
 *  @param word  out, without quotes
 *  @return false: it has several parts, is reserved or does not fit */
bool lwi_formula_plain_name(const char *name, int length, char *word, size_t size);
/** Is the text a word: letters, digits and _, a letter first? */
bool lwi_formula_is_word(const char *text);

/** Checks the text.  The error names the character, quotes the place and the nearest known name.
 *  @return LW_ERR_MODEL */
lw_status lwi_formula_check(const char *text, lw_error *error);
/** The same with names of a scope.
 *  @param signals  [LWI_FORMULA_NAMES] out: lw_signal.index of the functions and inputs that it names; may be NULL
 *  @param nsignal  out, their number; may be NULL */
lw_status lwi_formula_check_in(const char *text, const lwi_formula_scope *scope, int *signals,
                               int *nsignal, lw_error *error);
/** The program of a text.  Formulas that read joints must be linked before they are evaluated.
 *  @param scope  names that it may use; NULL: none */
lw_status lwi_formula_build(const char *text, const lwi_formula_scope *scope, lwi_arena *arena,
                            lwi_formula *formula, lw_error *error);
/** Puts the indices of the names (lwi_formula_name.index) into the program. */
void lwi_formula_link(lwi_formula *formula);

typedef struct lwi_formula_facts {
    bool reads_state; ///< joint coordinates or speeds, or other quantities of the state, by itself
    bool kinked;      ///< by an operation with a slope that may jump: abs, min, where, ...
    int at, length;   ///< of the first coordinate or speed in the text
} lwi_formula_facts;
/** Facts of a text that has been checked. */
lwi_formula_facts lwi_formula_facts_of(const char *text);

/** "<message> (character 3)", the text around it, and a mark below. */
lw_status lwi_formula_fail(const char *text, int at, int length, lw_error *error,
                           const char *format, ...) LW_PRINTF(5, 6);

/** What a name reads that is not of a joint. */
double lwi_formula_reading(const lwi_formula_name *name, const lwi_now *now);
/** How many values an operation takes; 0 of a leaf. */
int lwi_formula_operands(lwi_operation operation);
/** One operation on its operands: what evaluation does, and what the parser does to numbers. */
double lwi_formula_operate(lwi_operation operation, const double *x);
double lwi_formula_value(const lwi_formula *formula, const lwi_now *now);
/** f[0..2]: value and first two derivatives along the seed.  Where a slope jumps, those to come. */
void lwi_formula_jet(const lwi_formula *formula, const lwi_now *now, const lwi_seed *seed,
                     double f[3]);
/** Where derivatives by what formulas read go. */
typedef struct lwi_gradient_sink {
    void *user;
    /** @param leaf  that reads a coordinate, a speed or a probe      @param by  the derivative, a part of it */
    void (*add)(void *user, const lwi_formula *formula, const lwi_instruction *leaf, double by);
} lwi_gradient_sink;
enum { LWI_GRADIENT_SIZE = 128 }; ///< instructions of formulas that have a gradient
/** Adds `by` times the derivatives by everything that the formula reads of a motion, backward through the program.  Where
 *  a slope jumps, that to larger operands.        @pre ncode <= LWI_GRADIENT_SIZE */
void lwi_formula_gradient(const lwi_formula *formula, const lwi_now *now, double by,
                          const lwi_gradient_sink *to);
/** About when, in a time between `from` and `to`, operations on time, and on what `changes` [ncode], but on no motion, first
 *  pass a corner or a jump; INFINITY: never.  Times within a 2000th of each other are one. */
double lwi_formula_moved_corner(const lwi_formula *formula, const lwi_now *now, const bool *changes,
                                double from, double to);
/** f[0..2]: value and first two time derivatives of a formula of t alone; where a derivative jumps,
 *  those to come. */
void lwi_formula_rates(const lwi_formula *formula, double t, double f[3]);
/** Partial derivative by name k, a joint coordinate or speed; NAN: another name. */
double lwi_formula_partial(const lwi_formula *formula, const lwi_now *now, int k);

#endif

// test_model_errors.c -- every mistake in a model file is reported with its place, its item, what was
// wrong and what was expected, through document, reader, builder and model.
#include <linkwork/io.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct mistake {
    const char *text;
    lw_status status;
    int line, column;
    const char *say; ///< parts of the message, separated by '|'
} mistake;

static void check(const mistake *m)
{
    static const lw_read_desc yaml = {.format = "yaml"};
    lw_model *model = NULL;
    lw_error error;
    const lw_status status =
        lw_model_parse(m->text, strlen(m->text), "bad.yaml", &yaml, &model, NULL, &error);
    if (status != m->status)
        fail_msg("status %d, expected %d (%s) for\n%s", status, m->status, error.text, m->text);
    assert_null(model);
    assert_int_equal(status, error.status);
    assert_string_equal("bad.yaml", error.file);
    if (error.line != m->line || error.column != m->column)
        fail_msg("at %d:%d, expected %d:%d: %s\n%s", error.line, error.column, m->line, m->column,
                 error.text, m->text);
    char parts[512];
    snprintf(parts, sizeof parts, "%s", m->say);
    for (char *part = strtok(parts, "|"); part; part = strtok(NULL, "|"))
        if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
    // nothing was truncated
    assert_true(strlen(error.text) < sizeof error.text - 1);
}

static void check_all(const mistake *list, size_t count)
{
    for (size_t i = 0; i < count; i++) check(&list[i]);
}
#define CHECK_ALL(list) check_all(list, sizeof(list) / sizeof *(list))

#define UNIT "mass: 1, inertia: [1, 1, 1, 0, 0, 0]"
#define HEAD "linkwork: 1\nbodies:\n  a: {" UNIT "}\n  b: {" UNIT "}\n" // lines 1 to 4
#define JOINT HEAD "joints:\n  j: {type: revolute, between: [ground, a], at: [0, 0, 0], " // 6

// What is missing in the file is not a fault of its last section.
static void a_file_without_bodies(void **state)
{
    (void)state;
    static const lw_read_desc yaml = {.format = "yaml"};
    static const char text[] = "linkwork: 1\nsimulation: {duration: 1}\n";
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(LW_ERR_PARSE,
                     lw_model_parse(text, strlen(text), "bad.yaml", &yaml, &model, NULL, &error));
    assert_string_equal("key 'bodies' is missing: bodies by name", error.text);
}

static void documents(void **state)
{
    (void)state;
    static const mistake list[] = {
        {"linkwork: 1\nbodies: {a: {mass: 1}\n", LW_ERR_PARSE, 3, 1, "flow mapping"},
        {"linkwork: 1\n\tbodies: {}\n", LW_ERR_PARSE, 2, 1, "tab character"},
        {"linkwork: 1\nbodies:\n\ta: {mass: 1}\n", LW_ERR_PARSE, 3, 1, "tab character|by spaces"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1}\n  a: {mass: 2}\n", LW_ERR_PARSE, 4, 3,
         "key 'a' occurs twice|line 3"},
        {"- 1\n- 2\n", LW_ERR_PARSE, 1, 1, "begins with `linkwork: 1`|a list of 2"},
        {"bodies: {a: {mass: 1}}\n", LW_ERR_PARSE, 1, 1, "`linkwork: 1` is missing"},
        {"linkwork: 2\nbodies: {}\n", LW_ERR_PARSE, 1, 11, "version 2|expected 1"},
        {"linkwork: one\nbodies: {}\n", LW_ERR_PARSE, 1, 11, "expected a number|found 'one'"},
    };
    CHECK_ALL(list);
}

static void keys(void **state)
{
    (void)state;
    static const mistake list[] = {
        {"linkwork: 1\nbodys: {}\n", LW_ERR_PARSE, 2, 1,
         "unknown key 'bodys'|did you mean 'bodies'|gravity"},
        {"linkwork: 1\n", LW_ERR_PARSE, 1, 1, "key 'bodies' is missing"},
        {"linkwork: 1\nbodies: []\n", LW_ERR_PARSE, 2, 9,
         "bodies: expected a map of names, found a list of 0"},
        {"linkwork: 1\nbodies:\n", LW_ERR_PARSE, 2, 8, "expected a map of names, found nothing"},
        {"linkwork: 1\nbodies:\n  a: {weight: 1}\n", LW_ERR_PARSE, 3, 7,
         "body 'a': unknown key 'weight'|allowed: mass, density, inertia"},
        {"linkwork: 1\nbodies:\n  a: {inertia: [1, 1, 1, 0, 0, 0]}\n", LW_ERR_PARSE, 3, 3,
         "body 'a': key 'mass' is missing: mass [kg]"},
        {"linkwork: 1\nbodies:\n  a: 5\n", LW_ERR_PARSE, 3, 6,
         "body 'a': expected a map|found '5'"},
        {"linkwork: 1\nbodies:\n  a: {mass: heavy}\n", LW_ERR_PARSE, 3, 13,
         "body 'a': mass: unknown name 'heavy', expected a parameter"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, com: [1, 2]}\n", LW_ERR_PARSE, 3, 21,
         "body 'a': com: expected a list of 3 numbers, found a list of 2"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, com: [1, 2, x]}\n", LW_ERR_PARSE, 3, 28,
         "body 'a': com: unknown name 'x'"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, inertia: {x: 1}}\n", LW_ERR_PARSE, 3, 25,
         "expected a list of 6 numbers, found a map of 1 keys"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, inertia_check: wrn}\n", LW_ERR_PARSE, 3, 31,
         "inertia_check: unknown word 'wrn', did you mean 'warn'? expected one of error, warn"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, shape: {boxx: [1, 1, 1]}}\n", LW_ERR_PARSE, 3, 24,
         "unknown shape 'boxx', did you mean 'box'|known: box, sphere, cylinder, capsule"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, shape: {box: [1, -1, 1]}}\n", LW_ERR_MODEL, 3, 3,
         "body 'a': shape has sizes 1, -1, 1, expected numbers >= 0"},
        {"linkwork: 1\nbodies:\n  a: {mass: 1, shape: box}\n", LW_ERR_PARSE, 3, 23,
         "{box: [1, 2, 3]}|found 'box'"},
        {"linkwork: 1\nbodies:\n  \"\": {mass: 1}\n", LW_ERR_PARSE, 3, 3,
         "the name of a body is empty"},
        {"linkwork: 1\nbodies:\n  \"a\\x07\": {mass: 1}\n", LW_ERR_PARSE, 3, 3,
         "control character"},
        {"linkwork: 1\ngenerate: {chian: {n: 3}}\n", LW_ERR_PARSE, 2, 12,
         "unknown mechanism 'chian', did you mean 'chain'|known are chain tree loop n_four_bar "
         "ladder net"},
        {"linkwork: 1\ngenerate: {chain: {n: 2.5}}\n", LW_ERR_PARSE, 2, 23,
         "expected a whole number"},
        {"linkwork: 1\ngenerate: {chain: {n: 1e12}}\n", LW_ERR_PARSE, 2, 23,
         "expected a whole number"},
        {"linkwork: 1\ngravity: 9.81\nbodies: {a: {mass: 1}}\n", LW_ERR_PARSE, 2, 10,
         "gravity: expected a list of 3 numbers, found '9.81'"},
        {HEAD "functions:\n  f: {type: formula}\n", LW_ERR_PARSE, 6, 3,
         "function 'f': key 'of' is missing: formula"},
        {HEAD "functions:\n  f: {type: formula, of: 2*sinn(t)}\n", LW_ERR_MODEL, 6, 26,
         "function 'f': unknown function 'sinn', did you mean 'sin'? (character 3)\n    2*sinn(t)\n"
         "      ^^^^"},
        {HEAD "functions: {f: {type: formula, of: \"2*A.q0\"}}\n", LW_ERR_MODEL, 5, 36,
         "function 'f': there is no joint 'A' (character 3)"},
        {JOINT "spring: {q0: {force: {type: formula, of: 'j.q1'}}}}\n", LW_ERR_MODEL, 6, 101,
         "joint 'j' has no coordinate q1; it is revolute and has 1 (character 1)"},
        {JOINT "motion: {q0: {type: formula, of: t*j.qd0}}}\n", LW_ERR_MODEL, 6, 3,
         "joint 'j': motion follows a formula that reads j.qd0, expected one of t alone"},
        {"linkwork: 1\nsignals: {u: {type: switch, value: 0}}\n"
         "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints: {j: {type: revolute, "
         "between: [ground, a], frame1: {}, frame2: {}, motion: {q0: u}}}\n",
         LW_ERR_MODEL, 4, 10,
         "joint 'j': motion follows a signal with states, expected one of t alone"},
        // formulas of events have no names: messages name the event, and measures in the formula
        {JOINT "}\nevents: {e: {when: 'foo.q0 > 1', stop: true}}\n", LW_ERR_MODEL, 7, 20,
         "event 'e': when: there is no joint 'foo'"},
        {JOINT "}\nevents: {e: {when: 'j.q0 > > 1', stop: true}}\n", LW_ERR_MODEL, 7, 20,
         "event 'e': when: expected a number, a name or"},
        {JOINT "}\nevents: {e: {when: 'joint.j.fx > 1', stop: true}}\n", LW_ERR_MODEL, 7, 20,
         "event 'e': when: |reactions and energies are known in rows only, found 'fx'"},
        {JOINT "}\nmeasures: {load: joint.j.fx}\nevents: {e: {when: load > 1, stop: true}}\n",
         LW_ERR_MODEL, 8, 20,
         "event 'e': when: |found 'fx' (character 12), with the formula of measure 'load'\n"},
        {HEAD "simulation: {durations: 1}\n", LW_ERR_PARSE, 5, 14,
         "simulation: unknown key 'durations', did you mean 'duration'"},
        {HEAD "simulation: {duration: soon}\n", LW_ERR_PARSE, 5, 24,
         "simulation.duration: unknown name"},
        {HEAD "simulation: {duration: -1}\n", LW_ERR_PARSE, 5, 24,
         "simulation: duration: -1 is not"},
        {HEAD "simulation: {sample: often}\n", LW_ERR_PARSE, 5, 22,
         "simulation: sample: 'often' is not"},
        {HEAD "simulation: {sample: 2*often}\n", LW_ERR_PARSE, 5, 22,
         "simulation.sample: unknown name 'often'"},
        {HEAD "simulation:\n  index3:\n    coordinates: 7\n    tangent: 5\n", LW_ERR_PARSE, 8, 14,
         "simulation: index3: tangent: '5' is not 0, 1 or 2"},
        {HEAD "inputs: {a: 1}\n", LW_ERR_PARSE, 5, 9, "inputs: expected a list"},
        {HEAD "inputs: [a, b, a]\n", LW_ERR_MODEL, 5, 16,
         "input 'a': this name is used already (line 5)"},
        {HEAD "functions: {f: 1}\ninputs: [f]\n", LW_ERR_MODEL, 6, 10,
         "input 'f': this is the name of a function"},
    };
    CHECK_ALL(list);
}

static void rotors(void **state)
{
    (void)state;
    static const mistake list[] = {
        {JOINT "rotor: {q0: -0.1}}\n", LW_ERR_MODEL, 6, 72,
         "joint 'j': rotor.q0 is -0.1, expected a number >= 0"},
        {JOINT "rotor: {q1: 0.1}}\n", LW_ERR_PARSE, 6, 68, "q1"},
        {JOINT "rotor: 0.1}\n", LW_ERR_PARSE, 6, 67, "rotor: expected"},
    };
    CHECK_ALL(list);
}

static void bodies(void **state)
{
    (void)state;
#define B "linkwork: 1\nbodies:\n  a: "
    static const mistake list[] = {
        {B "{mass: -1}\n", LW_ERR_MODEL, 3, 13, "body 'a': mass is -1, expected a number >= 0"},
        {B "{mass: 1, inertia: [1, 1, -1, 0, 0, 0]}\n", LW_ERR_MODEL, 3, 3,
         "body 'a': inertia is indefinite, principal moments -1, 1, 1"},
        {B "{mass: 1, inertia: [1, 1, 1, 2, 0, 0]}\n", LW_ERR_MODEL, 3, 3,
         "body 'a': inertia is indefinite"},
        {B "{mass: 1, inertia: [1, 1, 3, 0, 0, 0]}\n", LW_ERR_MODEL, 3, 3,
         "body 'a': inertia violates the triangle inequality|1 + 1 < 3|inertia_check: warn"},
        {B "{" UNIT ", orientation: [1, 1, 0, 0]}\n", LW_ERR_MODEL, 3, 3,
         "body 'a': orientation [1, 1, 0, 0] has length 1.41421|unit quaternion"},
        {B "{" UNIT ", orientation: [0, 0, 0, 0]}\n", LW_ERR_MODEL, 3, 58,
         "body 'a': orientation: is zero, expected a unit quaternion"},
        {B "{" UNIT ", inertia_axes: [0.9, 0, 0, 0]}\n", LW_ERR_MODEL, 3, 3,
         "inertia_axes|length 0.9"},
        {B "{" UNIT ", in: c}\n  b: {" UNIT "}\n", LW_ERR_MODEL, 3, 49,
         "body 'a': in: there is no body 'c'"},
        {B "{" UNIT ", in: bb}\n  b1: {" UNIT "}\n", LW_ERR_MODEL, 3, 49,
         "no body 'bb', did you mean 'b1'?"},
        {B "{" UNIT ", in: b}\n  b: {" UNIT ", in: a}\n", LW_ERR_MODEL, 4, 49, "placed in itself"},
        {B "{" UNIT ", in: a}\n", LW_ERR_MODEL, 3, 49,
         "body 'a': in: body 'a' is placed in itself"},
        {B "{" UNIT ", in: [a]}\n", LW_ERR_PARSE, 3, 49,
         "expected the name of a body, found a list of 1"},
        {B "{" UNIT ", in: world}\n  world: {" UNIT "}\n", LW_ERR_MODEL, 3, 49,
         "there is a body 'world'|`ground`"},
        {"linkwork: 1\nbodies:\n  ground: {mass: 1}\n", LW_ERR_MODEL, 3, 3,
         "body 'ground': this name stands for"},
        {B "{mass: 0}\n", LW_ERR_MODEL, 3, 3, "body 'a' floats and has no mass or no inertia"},
        {"linkwork: 1\nbodies: {}\n", LW_ERR_MODEL, 2, 9, "no bodies, expected at least one"},
    };
    CHECK_ALL(list);
#undef B
}

static void joints(void **state)
{
    (void)state;
#define J(text) HEAD "joints:\n  j: {" text "}\n"
    static const mistake list[] = {
        {J("between: [ground, a], at: [0, 0, 0]"), LW_ERR_PARSE, 6, 3,
         "joint 'j': key 'type' is missing"},
        {J("type: revolut, between: [ground, a], at: [0, 0, 0]"), LW_ERR_PARSE, 6, 13,
         "joint 'j': type: unknown word 'revolut', did you mean 'revolute'? expected one of fixed, "
         "revolute"},
        {J("type: custom, between: [ground, a], at: [0, 0, 0]"), LW_ERR_PARSE, 6, 13,
         "unknown word 'custom'"},
        {J("type: fixed, at: [0, 0, 0]"), LW_ERR_PARSE, 6, 3,
         "joint 'j': key 'between' is missing"},
        {J("type: fixed, between: [ground, a]"), LW_ERR_PARSE, 6, 3,
         "its place is missing, expected `at`"},
        {J("type: distance, between: [ground, a]"), LW_ERR_PARSE, 6, 3,
         "expected `point1` and `point2`"},
        {J("type: fixed, between: ground, at: [0, 0, 0]"), LW_ERR_PARSE, 6, 29,
         "a list of two bodies"},
        {J("type: fixed, between: [ground, c], at: [0, 0, 0]"), LW_ERR_MODEL, 6, 38,
         "joint 'j': between: there is no body 'c'"},
        {J("type: fixed, between: [a, a], at: [0, 0, 0]"), LW_ERR_MODEL, 6, 3,
         "joins body 'a' with itself"},
        {J("type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 0]"), LW_ERR_MODEL, 6,
         66, "joint 'j': axis: is the zero vector, expected a direction"},
        {J("type: revolute, between: [ground, a], axis: [0, 0, 1]"), LW_ERR_PARSE, 6, 3,
         "key 'at' is missing, required by 'axis'"},
        {J("type: revolute, between: [ground, a], frame1: {}"), LW_ERR_PARSE, 6, 3,
         "key 'frame2' is missing, required by 'frame1'"},
        {J("type: revolute, between: [ground, a], at: [0, 0, 0], frame1: {}, frame2: {}"),
         LW_ERR_PARSE, 6, 60, "'at' and 'frame1' are two ways to place a joint"},
        {J("type: distance, between: [ground, a], point1: [0, 0, 1], frame2: {}"), LW_ERR_PARSE, 6,
         64, "'point1' and 'frame2' are two ways"},
        {J("type: distance, between: [ground, a], at: [0, 0, 0]"), LW_ERR_PARSE, 6, 45,
         "'at' does not belong to a distance joint"},
        {J("type: revolute, between: [ground, a], at: [0, 0, 0], pitch: 1"), LW_ERR_PARSE, 6, 60,
         "'pitch' does not belong to a revolute joint"},
        {J("type: screw, between: [ground, a], at: [0, 0, 0]"), LW_ERR_PARSE, 6, 3,
         "key 'pitch' is missing"},
        {J("type: universal, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]"), LW_ERR_MODEL,
         6, 3, "a universal joint needs axis2"},
        {J("type: universal, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], axis2: [0, 1, "
           "1]"),
         LW_ERR_MODEL, 6, 3, "meet at 45 deg, expected 90"},
        {J("type: distance, between: [ground, a], point1: [0, 0, 1], point2: [0, 0, 0], length: 0"),
         LW_ERR_MODEL, 6, 91, "length: is 0, expected a number > 0"},
        {J("type: distance, between: [ground, a], point1: [0, 0, 1], point2: [0, 0, 0], length: 2"),
         LW_ERR_MODEL, 6, 3, "its points are 1 m apart at the start, length is 2"},
        {J("type: distance, between: [ground, a], point1: [0, 0, 0], point2: [0, 0, 0]"),
         LW_ERR_MODEL, 6, 3, "points of a distance joint coincide"},
        {J("type: revolute, between: [ground, a], at: [0, 0, 0], q: [0, 1]"), LW_ERR_PARSE, 6, 63,
         "joint 'j': q: expected a list of 1 number, found a list of 2"},
        {J("type: spherical, between: [ground, a], at: [0, 0, 0], q: [2, 0, 0, 0]"), LW_ERR_MODEL,
         6, 3, "joint 'j': q [2, 0, 0, 0] has length 2"},
        {J("type: fixed, between: [ground, a], at: [0, 0, 0], q: []"), LW_ERR_PARSE, 6, 57,
         "'q' does not belong to a fixed joint"},
        {J("type: revolute, between: [ground, a], frame1: {positions: [0, 0, 0]}, frame2: {}"),
         LW_ERR_PARSE, 6, 54,
         "joint 'j': frame1: unknown key 'positions', did you mean 'position'"},
        {J("type: revolute, between: [ground, a], frame1: {orientation: [1, 0, 0, 1]}, frame2: {}"),
         LW_ERR_MODEL, 6, 3, "joint 'j': orientation of frame1 [1, 0, 0, 1] has length 1.41421"},
        {J("type: prismatic, between: [ground, a], frame1: {position: [1, 0, 0]}, frame2: {}"),
         LW_ERR_MODEL, 6, 3, "joint 'j'|does not close at the assembly configuration|1 m off"},
        {J("type: revolute, between: [ground, a], at: [0, 0, 0], cut: maybe"), LW_ERR_PARSE, 6, 65,
         "cut: unknown word 'maybe'|auto, prefer, never"},
        {"linkwork: 1\nbodies:\n  a: {mass: 0}\njoints:\n  j: {type: revolute, between: [ground, "
         "a], at: [0, 0, 0]}\n",
         LW_ERR_MODEL, 5, 3, "joint 'j': body 'a' and all it carries have no inertia"},
        {HEAD "joints:\n"
              "  j: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n"
              "  k: {type: revolute, between: [a, b], at: [0, 0, 0]}\n"
              "  l: {type: prismatic, between: [b, ground], frame1: {}, frame2: {position: [1, 0, "
              "0]}}\n",
         LW_ERR_MODEL, 8, 3, "joint 'l'|does not close"},
        {HEAD "joints:\n"
              "  j: {type: revolute, between: [ground, a], at: [0, 0, 0], cut: never}\n"
              "  k: {type: revolute, between: [a, b], at: [1, 0, 0], cut: never}\n"
              "  l: {type: revolute, between: [b, ground], at: [2, 0, 0], cut: never}\n",
         LW_ERR_MODEL, 7, 3, "joint 'k': `cut: never`"},
        {HEAD "joints:\n"
              "  j: {type: revolute, between: [ground, a], at: [0, 0, 0], cut: always}\n"
              "  k: {type: revolute, between: [a, b], at: [1, 0, 0]}\n",
         LW_ERR_MODEL, 6, 3, "joint 'j': `cut: always`|in no loop"},
        {"linkwork: 1\nbodies:\n  a: {" UNIT ", velocity: [1, 0, 0]}\n"
         "joints:\n  j: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n",
         LW_ERR_MODEL, 3, 3, "body 'a': its velocity breaks joint 'j' by 1 m/s"},
    };
    CHECK_ALL(list);
#undef J
}

static void drives_and_signals(void **state)
{
    (void)state;
#define INPUT "inputs: [motor]\n"
#define J(text)                                                                                    \
    HEAD INPUT "joints:\n  j: {type: revolute, between: [ground, a], at: [0, 0, 0], " text "}\n"
    static const mistake list[] = {
        {J("motion: {q0: motor}"), LW_ERR_MODEL, 7, 3,
         "joint 'j': motion follows input 'motor', expected a function"},
        {J("motion: {q0: moto}"), LW_ERR_MODEL, 7, 73,
         "joint 'j': motion.q0: there is no function or input 'moto', did you mean 'motor'?"},
        {J("motion: {q0: .5}"), LW_ERR_PARSE, 7, 73,
         "motion.q0: expected a number as in JSON|found '.5'"},
        {J("motion: {q1: 1}"), LW_ERR_PARSE, 7, 69,
         "motion.q1: unknown coordinate, those of a revolute joint are q0"},
        {J("motion: {all: 1}"), LW_ERR_PARSE, 7, 69, "unknown coordinate"},
        {J("motion: 1"), LW_ERR_PARSE, 7, 68, "expected a map of coordinates, like {q0: ...}"},
        {J("motion: {q0: [1]}"), LW_ERR_PARSE, 7, 73,
         "a number, the name of a function or input, or a function"},
        {J("motion: {q0: {amplitude: 1}}"), LW_ERR_PARSE, 7, 73,
         "motion.q0: key 'type' is missing: type of the function"},
        {J("motion: {q0: {type: sine, amplitude: 1}}"), LW_ERR_PARSE, 7, 73,
         "key 'omega' is missing"},
        {J("motion: {q0: {type: sine, amplitude: 1, omega: 1, rate: 1}}"), LW_ERR_PARSE, 7, 110,
         "'rate' does not belong to a sine function"},
        {J("motion: {q0: {type: step, to: 1, start: 2, end: 1}}"), LW_ERR_MODEL, 7, 73,
         "joint 'j': motion.q0: function: step ends at 1"},
        {J("spring: {q0: {stiffnes: 1}}"), LW_ERR_PARSE, 7, 74,
         "spring.q0: unknown key 'stiffnes'"},
        {J("spring: {q0: {stiffness: soft}}"), LW_ERR_PARSE, 7, 85,
         "spring.q0.stiffness: unknown name 'soft'"},
        {J("spring: {all: {damping: 1}}"), LW_ERR_MODEL, 7, 3,
         "damping of `all` is for spherical and free joints"},
        {J("spring: {all: {stiffness: 1}}"), LW_ERR_PARSE, 7, 75,
         "spring.all: unknown key 'stiffness'"},
        {J("effort: {q0: {type: table, t: [0, 1], y: [0]}}"), LW_ERR_MODEL, 7, 73,
         "t has 2 numbers and y 1"},
        {J("effort: {q0: {type: table, t: [1, 0], y: [0, 1]}}"), LW_ERR_MODEL, 7, 73,
         "time 2 of the table"},
        {J("effort: {q0: {type: polynomial, coefficients: []}}"), LW_ERR_PARSE, 7, 106,
         "one or more numbers"},
        {J("mount: {turn: motor}"), LW_ERR_MODEL, 7, 3, "mount turn follows input 'motor'"},
        {J("mount: {shift: [0, 0]}"), LW_ERR_PARSE, 7, 75, "mount.shift: expected a list of three"},
        {J("mount: {turn: 1, about: [0, 0, 0]}"), LW_ERR_MODEL, 7, 84,
         "mount.about: is the zero vector"},
        {J("mount: {shiftt: [0, 0, 0]}"), LW_ERR_PARSE, 7, 68,
         "mount: unknown key 'shiftt', did you mean 'shift'"},
        {HEAD "joints:\n  j: {type: spherical, between: [ground, a], at: [0, 0, 0], spring: {q0: "
              "{stiffness: 1}}}\n",
         LW_ERR_MODEL, 6, 3, "a spherical joint has no scalar coordinate q0"},
        {HEAD "functions:\n  f: {type: sum, terms: [g, 1]}\n  g: {type: sum, terms: [f]}\n",
         LW_ERR_MODEL, 7, 26,
         "function 'g': terms: function 'f' depends on itself: 'f' -> 'g' -> 'f'"},
        {HEAD "functions:\n  f: {type: sum, terms: []}\n", LW_ERR_PARSE, 6, 25,
         "one or more functions"},
        {HEAD INPUT "functions:\n  f: {type: sum, terms: [motor]}\n", LW_ERR_MODEL, 7, 3,
         "function 'f': term 1 of the sum is an input"},
        {HEAD "functions:\n  f: g\n", LW_ERR_PARSE, 6, 6, "function 'f': unknown name 'g'"},
    };
    CHECK_ALL(list);
#undef J
#undef INPUT
}

static void forces_and_other_items(void **state)
{
    (void)state;
    static const mistake list[] = {
        {HEAD "forces:\n  f: {between: [a, b]}\n", LW_ERR_PARSE, 6, 3,
         "force 'f': key 'type' is missing"},
        {HEAD "forces:\n  f: {type: rubber}\n", LW_ERR_PARSE, 6, 13,
         "expected one of spring, wrench"},
        {HEAD "forces:\n  f: {type: spring, between: [a, c]}\n", LW_ERR_MODEL, 6, 34,
         "spring 'f': between: there is no body 'c'"},
        {HEAD "forces:\n  f: {type: spring, between: [a, b], body: a}\n", LW_ERR_PARSE, 6, 38,
         "spring 'f': unknown key 'body'"},
        {HEAD "forces:\n  f: {type: spring, between: [a, b], length: -1}\n", LW_ERR_MODEL, 6, 46,
         "spring 'f': length is -1, expected a number >= 0"},
        {HEAD "forces:\n  f: {type: bushing, between: [a, b], stiffness: [1, 1, 1, 1, -2, 1]}\n",
         LW_ERR_MODEL, 6, 63, "bushing 'f': stiffness is -2, expected a number >= 0"},
        {HEAD "generate: {chain: {n: 0}}\n", LW_ERR_MODEL, 5, 23,
         "mechanism 'chain': n is 0, expected a number >= 1"},
        {HEAD "impulses: {i: {time: 0, body: a}}\n", LW_ERR_MODEL, 5, 22,
         "impulse 'i': time is 0, expected a number > 0"},
        {HEAD "forces:\n  f: {type: wrench, force: [1, 0, 0]}\n", LW_ERR_PARSE, 6, 3,
         "key 'body' is missing"},
        {HEAD "forces:\n  f: {type: wrench, body: ground}\n", LW_ERR_MODEL, 6, 3,
         "wrench 'f': acts on the ground"},
        {HEAD "forces:\n  f: {type: wrench, body: a, axes: mine}\n", LW_ERR_PARSE, 6, 36,
         "one of world, body"},
        {HEAD "forces:\n  f: {type: wrench, body: a, scale: nothing}\n", LW_ERR_MODEL, 6, 37,
         "scale: there is no function or input 'nothing'"},
        {HEAD "markers:\n  m: {body: c}\n", LW_ERR_MODEL, 6, 13,
         "marker 'm': body: there is no body 'c'"},
        {HEAD "markers:\n  m: {position: [0, 0, 0]}\n", LW_ERR_PARSE, 6, 3,
         "marker 'm': key 'body' is missing"},
        {HEAD "markers:\n  m: {body: a, orientation: [3, 0, 0, 0]}\n", LW_ERR_MODEL, 6, 3,
         "length 3"},
        {JOINT "}\ncouplings:\n  - {joint: k, coordinate: q0, of: j, with: q0, polynomial: [1]}\n",
         LW_ERR_MODEL, 8, 13, "couplings[0]: joint: there is no joint 'k'"},
        {JOINT "}\ncouplings:\n  - {joint: j, coordinate: x, of: j, with: q0, polynomial: [1]}\n",
         LW_ERR_PARSE, 8, 28, "coordinate: expected a coordinate"},
        {JOINT "}\ncouplings:\n  - {joint: j, coordinate: q1, of: j, with: q0, polynomial: [1]}\n",
         LW_ERR_MODEL, 8, 5, "coupling of joint 'j': no scalar coordinate q1"},
        {JOINT "}\ncouplings:\n  - {joint: j, coordinate: q0, of: j, with: q0, polynomial: [1]}\n",
         LW_ERR_MODEL, 8, 5, "couples q0 with itself"},
        {JOINT "}\ncouplings:\n  - {joint: j, coordinate: q0, of: j, with: q0}\n", LW_ERR_PARSE, 8,
         5, "couplings[0]: key 'polynomial' is missing"},
    };
    CHECK_ALL(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
        cmocka_unit_test(a_file_without_bodies),
        cmocka_unit_test(keys),
        cmocka_unit_test(rotors),
        cmocka_unit_test(bodies),
        cmocka_unit_test(joints),
        cmocka_unit_test(drives_and_signals),
        cmocka_unit_test(forces_and_other_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

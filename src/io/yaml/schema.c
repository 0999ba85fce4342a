// schema.c -- JSON Schema (draft 2020-12) of the native model file, from the tables of keys.c.
#include "io/yaml/values.h"
#include "methods/index3/index3.h"

#include <linkwork/io.h>

#include "base/base.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

// ["a", "b"]
static void put_words(FILE *f, const char *const *words, int count)
{
    fputs("[", f);
    for (int i = 0, n = 0; i < count; i++) {
        if (!words[i]) continue;
        if (n++) fputs(", ", f);
        put_text(f, words[i]);
    }
    fputs("]", f);
}

static void put_reference(FILE *f, const char *title)
{
    fprintf(f, "\"$ref\": \"#/$defs/%s\"", title);
}

// A number or an expression.
#define NUMBER "\"$ref\": \"#/$defs/number\""
#define INTEGER                                                                                    \
    "\"type\": [\"integer\", \"string\"], \"minLength\": 1, \"not\": {\"$ref\": "                  \
    "\"#/$defs/number_text\"}"

#define NOT_ZERO ", \"allOf\": [{\"not\": {\"const\": 0}}]"

// The type and the bounds of numbers, as lwi_yaml_check_range.
static const char *number_type(const lwi_yaml_key *key)
{
    static const char *const types[2][5] = {
        {NUMBER, NUMBER ", \"minimum\": 0", NUMBER ", \"exclusiveMinimum\": 0",
         NUMBER ", \"minimum\": 1", NUMBER NOT_ZERO},
        {INTEGER, INTEGER ", \"minimum\": 0", INTEGER ", \"exclusiveMinimum\": 0",
         INTEGER ", \"minimum\": 1", INTEGER NOT_ZERO}};
    return types[key->kind == LWI_KEY_INTEGER][key->range];
}

static void put_array(FILE *f, int count, const char *items)
{
    fprintf(f, "\"type\": \"array\", \"items\": {%s}, \"minItems\": %d, \"maxItems\": %d", items,
            count, count);
}

// A file, or vertices and triangles.
static void put_mesh(FILE *f)
{
    fputs(
        "\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"type\": \"object\", "
        "\"additionalProperties\": false, \"properties\": {\"vertices\": {\"type\": \"array\", "
        "\"items\": {\"type\": \"number\"}}, \"triangles\": {\"type\": \"array\", \"items\": "
        "{\"type\": \"integer\", \"minimum\": 0}}}, \"required\": [\"vertices\"]}]}, \"scale\": {",
        f);
    put_array(f, 3, "\"type\": \"number\"");
    fputs("}", f);
}

// Three numbers or the name of a point.
static void put_position(FILE *f)
{
    fputs("\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {", f);
    put_array(f, 3, NUMBER);
    fputs("}]", f);
}

static void put_shape(FILE *f)
{
    fputs("\"type\": \"object\", \"additionalProperties\": false, \"properties\": {", f);
    for (int s = LW_SHAPE_NONE + 1; s < LW_SHAPE_COUNT; s++) {
        fprintf(f, "%s\"%s\": {", s > 1 ? ", " : "", lwi_yaml_shape_names[s]);
        if (s == LW_SHAPE_MESH) {
            put_mesh(f);
            continue;
        }
        if (lwi_yaml_shape_sizes[s] == 1) fputs("\"anyOf\": [{" NUMBER ", \"minimum\": 0}, {", f);
        put_array(f, lwi_yaml_shape_sizes[s], NUMBER ", \"minimum\": 0");
        fputs(lwi_yaml_shape_sizes[s] == 1 ? "}]}" : "}", f);
    }
    fputs(", \"position\": {", f);
    put_position(f);
    fputs("}, \"orientation\": {", f);
    put_array(f, 4, NUMBER);
    fputs("}, \"color\": {\"type\": \"array\", \"items\": {" NUMBER ", \"minimum\": 0, "
          "\"maximum\": 1}, \"minItems\": 3, \"maxItems\": 4}}, \"oneOf\": [",
          f);
    for (int s = LW_SHAPE_NONE + 1; s < LW_SHAPE_COUNT; s++)
        fprintf(f, "%s{\"required\": [\"%s\"]}", s > 1 ? ", " : "", lwi_yaml_shape_names[s]);
    fputs("]", f);
}

// One shape or a list of them.
static void put_shapes(FILE *f)
{
    fputs("\"anyOf\": [{", f);
    put_shape(f);
    fputs("}, {\"type\": \"array\", \"minItems\": 1, \"items\": {", f);
    put_shape(f);
    fputs("}}]", f);
}

// ----------------------------------------------------------------------------------------- options

// What an option allows is decided by the code that sets it.
static bool option_takes(const char *key, const char *text)
{
    lw_options options;
    lw_options_default(&options);
    return lw_options_set(&options, key, text, NULL) == LW_OK;
}

static bool option_takes_number(const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return option_takes(key, text);
}

static void put_option_number(FILE *f, const char *key)
{
    const bool whole = option_takes(key, "1") && !option_takes(key, "1.5");
    const bool zero = option_takes(key, "0");
    int power = 0; // 10^power is allowed, and none of a lower power
    while (power > -300 && option_takes_number(key, pow(10, power - 1))) power--;
    const bool bounded = power < 0 && power > -300;
    if (zero && bounded) fputs("\"anyOf\": [{\"const\": 0}, {", f);
    fprintf(f,
            "\"type\": [\"%s\", \"string\"], \"minLength\": 1, \"not\": {\"$ref\": "
            "\"#/$defs/number_text\"}",
            whole ? "integer" : "number");
    if (bounded)
        fprintf(f, ", \"minimum\": 1e%d", power);
    else
        fprintf(f, ", \"%s\": 0", zero ? "minimum" : "exclusiveMinimum");
    if (!option_takes(key, "1")) {
        fputs(", \"exclusiveMaximum\": 1", f);
    } else if (whole) {
        int64_t largest = 1, over = INT64_C(1000000000000000000);
        while (over - largest > 1) {
            const int64_t middle = largest + (over - largest) / 2;
            *(option_takes_number(key, (double)middle) ? &largest : &over) = middle;
        }
        fprintf(f, ", \"maximum\": %lld", (long long)largest);
    }
    if (zero && bounded) fputs("}]", f);
}

// Words, a number, two numbers.
static void put_option(FILE *f, const char *key)
{
    if (option_takes(key, "any text")) {
        fputs("\"type\": [\"string\", \"number\"], \"minLength\": 1", f);
        return;
    }
#define X(name, text) text,
    static const char *const words[] = {LW_STATE_LIST(X) LW_SAMPLE_MODE_LIST(X) LW_PROJECT_LIST(X)
                                            LW_SINGULAR_LIST(X) LW_PLAN_LIST(X)
                                                LW_COMPILED_LIST(X) "none",
                                        "steps"};
#undef X
    int n = 0;
    fputs("\"anyOf\": [{\"enum\": [", f);
    for (int i = 0; i < LWI_COUNT(words); i++) {
        int first = 0;
        while (strcmp(words[first], words[i]) != 0) first++;
        if (first < i || !option_takes(key, words[i])) continue;
        fprintf(f, "%s\"%s\"", n++ ? ", " : "", words[i]);
    }
    for (int i = 0; i < lw_formulation_count(); i++)
        if (option_takes(key, lw_formulation_info(i).name))
            fprintf(f, "%s\"%s\"", n++ ? ", " : "", lw_formulation_info(i).name);
    for (int i = 0; i < lw_integrator_count() && strcmp(key, "integrator") == 0; i++)
        if (option_takes(key, lw_integrator_info(i).name))
            fprintf(f, "%s\"%s\"", n++ ? ", " : "", lw_integrator_info(i).name);
    fputs("]}", f);
    if (option_takes(key, "on")) // to readers of YAML 1.1 `on` and `off` are no words
        fputs(", {\"type\": \"boolean\"}", f);
    if (option_takes(key, "0.5"))
        fputs(", {\"type\": [\"number\", \"string\"], \"exclusiveMinimum\": 0, \"minLength\": 1, "
              "\"not\": {\"$ref\": \"#/$defs/number_text\"}}",
              f);
    if (option_takes(key, "1,1"))
        fputs(", {\"type\": \"string\", \"pattern\": \"^[^,]+,[^,]+$\"}", f);
    fputs("]", f);
}

// One of the keys of `index3` with any value, as a regular expression.
static void put_index3_pair(FILE *f, const lwi_index3_key *keys, int n)
{
    for (int i = 0; i < n; i++) fprintf(f, "%s%s", i ? "|" : "(", keys[i].name);
    fputs(")=[^=,]+", f);
}

// A text or a map.
static void put_index3(FILE *f)
{
    int n;
    const lwi_index3_key *keys = lwi_index3_keys(&n);
    fputs("\"anyOf\": [{\"type\": \"string\", \"pattern\": \"^(auto|", f);
    put_index3_pair(f, keys, n);
    fputs("(,", f);
    put_index3_pair(f, keys, n);
    fputs(")*)$\"}, {\"type\": \"object\", \"additionalProperties\": false, \"minProperties\": 1, "
          "\"properties\": {",
          f);
    for (int i = 0; i < n; i++) {
        fprintf(f, "%s\"%s\": {\"description\": \"%s\", ", i ? ", " : "", keys[i].name,
                keys[i].expected);
        if (keys[i].type == LWI_INDEX3_CHOICE) {
            fputs("\"enum\": ", f);
            put_words(f, keys[i].word, (int)keys[i].max + 1);
        } else {
            fprintf(f, "\"type\": \"%s\", \"minimum\": %g, \"maximum\": %g",
                    keys[i].type == LWI_INDEX3_WHOLE ? "integer" : "number", keys[i].min,
                    keys[i].max);
        }
        fputs("}", f);
    }
    fputs("}}]", f);
}

static bool is_position(const lwi_yaml_key *key)
{
    lwi_dimension d[2] = {{LWI_DIMENSION_NONE}};
    const lwi_dimension length = {LWI_DIMENSION_KNOWN, {LWI_POWER}};
    return lwi_yaml_key_dimensions(key, d) > 0 && lwi_dimension_same(d[0], length);
}

// The schema of a value, without the braces.
static void put_kind(FILE *f, const lwi_yaml_key *key)
{
    static const char number[] = NUMBER, name[] = "\"type\": \"string\", \"minLength\": 1";
    static const char signal[] = "\"$ref\": \"#/$defs/signal\"";
    const lwi_yaml_object *object = key->more; // for the kinds that have one
    // clang-format off
    switch (key->kind) {
    case LWI_KEY_VERSION: fprintf(f, "\"const\": %d", (int)LWI_FORMAT_VERSION); return;
    case LWI_KEY_NUMBER:
    case LWI_KEY_INTEGER: fputs(number_type(key), f); return;
    case LWI_KEY_OPTION_NUMBER: put_option_number(f, key->name); return;
    case LWI_KEY_NUMBERS: put_array(f, key->count, number_type(key)); return;
    case LWI_KEY_LIST:
        fprintf(f, "\"type\": \"array\", \"items\": {%s}, \"minItems\": 1", number);
        return;
    case LWI_KEY_ROWS:
        fprintf(f,
                "\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {%s}, \"minItems\": 2}, "
                "\"minItems\": 2",
                number);
        return;
    case LWI_KEY_START:
        fprintf(f, "\"type\": \"array\", \"items\": {%s}, \"minItems\": 1, \"maxItems\": %d",
                number, key->count ? LW_JOINT_MAX_NV : LW_JOINT_MAX_NQ);
        return;
    case LWI_KEY_VECTOR:
        if (is_position(key))
            put_position(f);
        else
            put_array(f, 3, number);
        return;
    case LWI_KEY_DIRECTION: put_array(f, 3, number); return;
    case LWI_KEY_QUATERNION: put_array(f, 4, number); return;
    case LWI_KEY_SWITCH:
    case LWI_KEY_WORD:
        fputs("\"enum\": ", f);
        put_words(f, key->more, key->count);
        return;
    case LWI_KEY_BODY:
    case LWI_KEY_FRAME:
    case LWI_KEY_JOINT: fputs(name, f); return;
    case LWI_KEY_PAIR: put_array(f, 2, name); return;
    case LWI_KEY_COORDINATE: fputs("\"type\": \"string\", \"pattern\": \"^q[0-9]$\"", f); return;
    case LWI_KEY_SIGNAL:
    case LWI_KEY_FORMULA:
    case LWI_KEY_FUNCTION: fputs(signal, f); return;
    case LWI_KEY_SET:
        fprintf(f, "\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": {%s}", signal);
        return;
    case LWI_KEY_LENGTH:
        fprintf(f, "%s, \"exclusiveMinimum\": 0", signal); // a bound of numbers alone
        return;
    case LWI_KEY_SIGNALS: put_array(f, key->count, signal); return;
    case LWI_KEY_TERMS:
        fprintf(f, "\"type\": \"array\", \"items\": {%s}, \"minItems\": 1", signal);
        return;
    case LWI_KEY_STRING: fputs("\"type\": [\"string\", \"number\"]", f); return;
    case LWI_KEY_SHAPES: put_shapes(f); return;
    case LWI_KEY_OBJECT: put_reference(f, object->title); return;
    case LWI_KEY_OBJECTS:
        fputs("\"type\": \"array\", \"minItems\": 1, \"items\": {", f);
        put_reference(f, object->title);
        fputs("}", f);
        return;
    case LWI_KEY_EACH: {
        const lwi_yaml_key *element = key->more;
        fputs("\"type\": \"object\", \"additionalProperties\": false, "
              "\"patternProperties\": {\"^q[0-5]$\": {", f);
        put_kind(f, element);
        fputs("}}", f);
        if (element->more != &lwi_yaml_coordinate_object) return; // springs may have `all`
        fputs(", \"properties\": {\"all\": {", f);
        put_reference(f, lwi_yaml_isotropic_object.title);
        fputs("}}", f);
        return;
    }
    // clang-format on
    case LWI_KEY_OPTION_MAP:
        put_index3(f);
        return;
    case LWI_KEY_OPTION:
    case LWI_KEY_OPTION_EITHER:
        put_option(f, key->name);
        return;
    case LWI_KEY_NAMES:
        fprintf(f, "\"type\": \"array\", \"uniqueItems\": true, \"items\": {%s}", name);
        return;
    case LWI_KEY_SETTINGS:
        fprintf(f, "\"type\": \"object\", \"additionalProperties\": {%s}", number);
        return;
    case LWI_KEY_FILES:
        fputs("\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#\"}", f);
        return;
    case LWI_KEY_POINTS:
        fputs("\"type\": \"object\", \"additionalProperties\": {", f);
        put_array(f, 3, number);
        fputs("}", f);
        return;
    case LWI_KEY_ITEMS: {
        const bool may_be_number =
            object == &lwi_yaml_function_object || object == &lwi_yaml_parameter_object;
        fputs("\"type\": \"object\", \"additionalProperties\": {", f);
        const bool may_be_text =
            object == &lwi_yaml_measure_object || strcmp(key->name, "signals") == 0;
        if (may_be_number && !may_be_text) fprintf(f, "\"anyOf\": [{%s}, {", number);
        if (may_be_text) fputs("\"anyOf\": [{\"type\": [\"string\", \"number\"]}, {", f);
        put_reference(f, object->title);
        fputs(may_be_number || may_be_text ? "}]}" : "}", f);
        return;
    }
    case LWI_KEY_ITEM_LIST:
        fputs("\"type\": \"array\", \"items\": {", f);
        put_reference(f, object->title);
        fputs("}", f);
        return;
    case LWI_KEY_MECHANISMS:
        fputs("\"type\": \"object\", \"additionalProperties\": false, \"properties\": {", f);
        for (int i = 0; i < LW_MECHANISM_COUNT; i++) {
            fprintf(f, "%s\"%s\": {", i ? ", " : "", lwi_yaml_mechanism_names[i]);
            put_reference(f, lwi_yaml_mechanism_object.title);
            fputs("}", f);
        }
        fputs("}", f);
        return;
    case LWI_KEY_FORCES:
        fputs("\"type\": \"object\", \"additionalProperties\": {\"oneOf\": [", f);
        for (int i = 0; i < LWI_FORCE_ITEMS; i++) {
            fputs(i ? "}, {" : "{", f);
            put_reference(f, lwi_force_items[i]->keys->title);
        }
        fputs("}]}", f);
        return;
    }
}

// ----------------------------------------------------------------------------------------- objects

static unsigned all_types(const lwi_yaml_object *object)
{
    if (object == &lwi_yaml_mechanism_object) return ~(~0u << LW_MECHANISM_COUNT);
    if (!object->type) return 1u;
    unsigned all = 0;
    for (int t = 0; t < object->ntype; t++)
        if (object->type[t]) all |= 1u << t;
    return all;
}

static void put_properties(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    fprintf(f, "%s\"properties\": {", indent);
    if (object->type) {
        fprintf(f, "%s  \"type\": {\"enum\": ", indent);
        put_words(f, object->type, object->ntype);
        fputs("},", f);
    }
    for (int i = 0; i < object->nkey; i++) {
        fprintf(f, "%s%s  \"%s\": {\"description\": ", i ? "," : "", indent, object->key[i].name);
        put_text(f, object->key[i].help);
        fputs(", ", f);
        put_kind(f, &object->key[i]);
        fputs("}", f);
    }
    fprintf(f, "%s}", indent);
}

// Options with `-` for `_`, as on the command line, one form at a time.
static void put_dashed(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    char name[64];
    const char *before = "";
    for (int both = 0; both < 2; both++) {
        fprintf(f, ",%s\"%s\": %s", indent, both ? "allOf" : "patternProperties", both ? "[" : "{");
        before = "";
        for (int i = 0; i < object->nkey; i++) {
            const lwi_yaml_key *key = &object->key[i];
            if (!strchr(key->name, '_')) continue;
            snprintf(name, sizeof name, "%s", key->name);
            for (char *c = name; *c; c++)
                if (*c == '_') *c = '-';
            if (both) {
                fprintf(f, "%s{\"not\": {\"required\": [\"%s\", \"%s\"]}}", before, key->name,
                        name);
            } else {
                fprintf(f, "%s\"^%s$\": {", before, name);
                put_kind(f, key);
                fputs("}", f);
            }
            before = ", ";
        }
        fputs(both ? "]" : "}", f);
    }
}

static void put_required(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    const char *before = "";
    const unsigned all = all_types(object);
    fprintf(f, ",%s\"required\": [", indent);
    if (object->type) {
        fputs("\"type\"", f);
        before = ", ";
    }
    for (int i = 0; i < object->nkey; i++) {
        if ((object->key[i].required & all) != all) continue;
        fprintf(f, "%s\"%s\"", before, object->key[i].name);
        before = ", ";
    }
    fputs("]", f);
}

// {"type": {"enum": [...]}} for a bit set of types.
static void put_type_set(FILE *f, const lwi_yaml_object *object, unsigned types)
{
    const char *before = "";
    fputs("{\"type\": {\"enum\": [", f);
    for (int t = 0; t < object->ntype; t++) {
        if (!(types >> t & 1u) || !object->type[t]) continue;
        fprintf(f, "%s\"%s\"", before, object->type[t]);
        before = ", ";
    }
    fputs("]}}", f);
}

// Conditions of keys that belong to some types only, or are required by some types only.
static void put_conditions(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    const unsigned all = all_types(object);
    const char *before = ",";
    bool any = false;
    for (int i = 0; i < object->nkey; i++) {
        const lwi_yaml_key *key = &object->key[i];
        const unsigned types = key->types & all, required = key->required & all;
        if (types && types != all) {
            fprintf(f, "%s%s%s  {\"if\": {\"required\": [\"%s\"]}, \"then\": {\"properties\": ",
                    before, any ? "" : indent, any ? indent : "\"allOf\": [", key->name);
            put_type_set(f, object, types);
            fputs("}}", f);
            any = true;
        }
        if (required && required != all) {
            fprintf(f, ",%s  {\"if\": {\"properties\": ", indent);
            put_type_set(f, object, required);
            fprintf(f, "}, \"then\": {\"required\": [\"%s\"]}}", key->name);
        }
    }
    if (any) fprintf(f, "%s]", indent);
}

// Conditions of forms: the required keys of exactly one form are present, and each key of a form needs them.
static void put_forms(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    const char *before = "";
    bool any = false;
    for (int i = 0; i < object->nkey; i++) any = any || object->key[i].form != LWI_FORM_ANY;
    if (!any) return;
    fprintf(f, ",%s\"oneOf\": [", indent);
    for (int form = LWI_FORM_ANY + 1; form < LWI_FORM_COUNT; form++) {
        const char *const *keys = lwi_yaml_form_keys[form];
        fprintf(f, "%s{\"required\": ", form > 1 ? ", " : "");
        put_words(f, keys, strcmp(keys[0], keys[1]) ? 2 : 1);
        fputs("}", f);
    }
    fprintf(f, "],%s\"dependentRequired\": {", indent);
    for (int i = 0; i < object->nkey; i++) {
        if (object->key[i].form == LWI_FORM_ANY) continue;
        const char *const *keys = lwi_yaml_form_keys[object->key[i].form];
        fprintf(f, "%s\"%s\": ", before, object->key[i].name);
        put_words(f, keys, strcmp(keys[0], keys[1]) ? 2 : 1);
        before = ", ";
    }
    fputs("}", f);
}

static void put_object(FILE *f, const lwi_yaml_object *object, const char *indent)
{
    fprintf(f, "%s\"description\": ", indent);
    put_text(f, object->help);
    fprintf(f, ",%s\"type\": \"object\",%s\"additionalProperties\": false,", indent, indent);
    put_properties(f, object, indent);
    put_required(f, object, indent);
    if (object->type) put_conditions(f, object, indent);
    if (object == &lwi_yaml_simulation_object) put_dashed(f, object, indent);
    put_forms(f, object, indent);
    if (object == &lwi_yaml_body_object)
        fprintf(f,
                ",%s\"anyOf\": [{\"required\": [\"mass\"]}, {\"required\": [\"density\"]}],"
                "%s\"dependentSchemas\": {\"density\": {\"required\": [\"shape\"], \"not\": "
                "{\"anyOf\": "
                "[{\"required\": [\"com\"]}, {\"required\": [\"inertia\"]}, {\"required\": "
                "[\"inertia_axes\"]}]}}}",
                indent, indent);
}

static void put_definition(FILE *file, const lwi_yaml_object *object)
{
    fprintf(file, ",\n    \"%s\": {", object->title);
    put_object(file, object, "\n      ");
    fputs("\n    }", file);
}

lw_status lw_schema_write(FILE *file)
{
    static const lwi_yaml_object *const before[] = {
        &lwi_yaml_parameter_object, &lwi_yaml_include_object,    &lwi_yaml_function_object,
        &lwi_yaml_body_object,      &lwi_yaml_joint_object,      &lwi_yaml_pose_object,
        &lwi_yaml_mount_object,     &lwi_yaml_coordinate_object, &lwi_yaml_limits_object,
        &lwi_yaml_friction_object,  &lwi_yaml_isotropic_object,  &lwi_yaml_coupling_object};
    static const lwi_yaml_object *const after[] = {
        &lwi_yaml_marker_object, &lwi_yaml_measure_object,   &lwi_yaml_impulse_object,
        &lwi_yaml_event_object,  &lwi_yaml_mechanism_object, &lwi_yaml_simulation_object};
    if (!file) return LW_ERR_ARGUMENT;
    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"",
          file);
    fprintf(file, "%s, version %d\",", lwi_yaml_file_object.help, (int)LWI_FORMAT_VERSION);
    put_object(file, &lwi_yaml_file_object, "\n  ");
    fputs(",\n  \"anyOf\": [{\"required\": [\"bodies\"]}, {\"required\": [\"generate\"]}, "
          "{\"required\": [\"include\"]}]",
          file);
    fputs(",\n  \"$defs\": {\n    \"signal\": {\n      \"description\": \"a constant, the name of "
          "a function or an input, or a function\",\n      \"anyOf\": [{\"type\": \"number\"}, "
          "{\"type\": \"string\", \"minLength\": 1}, {\"$ref\": \"#/$defs/function\"}]\n    }",
          file);
    fputs(
        ",\n    \"number_text\": {\n      \"description\": \"a number in quotes, which is a "
        "text\",\n"
        "      \"type\": \"string\", \"pattern\": "
        "\"^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$\"\n    },\n"
        "    \"number\": {\n      \"description\": \"a number, a quantity like 5 mm, or an "
        "expression of parameters\",\n      \"type\": [\"number\", \"string\"], \"minLength\": 1, "
        "\"not\": {\"$ref\": \"#/$defs/number_text\"}\n    }",
        file);
    for (int i = 0; i < LWI_COUNT(before); i++) put_definition(file, before[i]);
    for (int i = 0; i < LWI_FORCE_ITEMS; i++) {
        const lwi_yaml_object *keys = lwi_force_items[i]->keys;
        put_definition(file, keys);
        for (int k = 0; k < keys->nkey; k++)
            if (keys->key[k].kind == LWI_KEY_OBJECTS ||
                (keys->key[k].kind == LWI_KEY_OBJECT && keys->key[k].more != &lwi_yaml_pose_object))
                put_definition(file, keys->key[k].more);
    }
    for (int i = 0; i < LWI_COUNT(after); i++) put_definition(file, after[i]);
    fputs("\n  }\n}\n", file);
    return fflush(file) == 0 && !ferror(file) ? LW_OK : LW_ERR_IO;
}

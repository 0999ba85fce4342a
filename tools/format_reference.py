#!/usr/bin/env python3
"""Writes the reference of the native model file, a page of Markdown, from its JSON Schema.

usage: linkwork schema | format_reference.py [-o PAGE]

Every part is a section with a table: key, allowed values, meaning.  Required keys are
marked.  An unknown construct of the schema ends the program: nothing is left out silently.
"""
import argparse
import json
import re
import sys

KNOWN = {"$schema", "$ref", "$defs", "title", "description", "type", "enum", "const", "anyOf", "oneOf", "allOf",
         "items", "minItems", "maxItems", "uniqueItems", "minLength", "pattern", "properties", "required",
         "additionalProperties", "patternProperties", "minimum", "maximum", "exclusiveMinimum",
         "exclusiveMaximum", "default", "minProperties", "maxProperties", "not", "if", "then", "else",
         "dependentRequired", "dependentSchemas", "propertyNames", "prefixItems", "format"}


def check_known(part, place="schema"):
    """Raises for a keyword that this page would not show."""
    for key, value in part.items():
        if key not in KNOWN:
            raise ValueError("%s: keyword '%s' is not known" % (place, key))
        inside = {"properties": value, "$defs": value, "patternProperties": value,
                  "dependentSchemas": value}.get(key)
        if inside is not None:
            for name, one in inside.items():
                check_known(one, "%s.%s" % (place, name))
        elif key in ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames") \
                and isinstance(value, dict):
            check_known(value, "%s.%s" % (place, key))
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for one in value:
                check_known(one, "%s.%s" % (place, key))


def link(reference):
    if reference == "#":
        return "[model](#the-file)"
    name = reference.rsplit("/", 1)[1]
    return "[%s](#part-%s)" % (name.replace("_", " "), name.replace("_", "-"))


def bounds(part):
    words = [sign + " " + json.dumps(part[key]) for key, sign in (
        ("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in part]
    return " " + ", ".join(words) if words else ""


def count(part):
    least, most = part.get("minItems"), part.get("maxItems")
    if least is not None and least == most:
        return "%d " % least
    if least is not None and most is not None:
        return "%d to %d " % (least, most)
    return "" if not least else "at least %d " % least


def plural(text):
    return "numbers" if text == "number" else "texts" if text == "text" else text


def pattern(text):
    """^q[0-5]$: `q0` to `q5`."""
    match = re.fullmatch(r"\^(\w+)\[(\d)-(\d)\]\$", text)
    if not match:
        raise ValueError("pattern '%s' is not known" % text)
    return "`%s%s` to `%s%s`" % (match[1], match[2], match[1], match[3])


def value(part):
    """The allowed values, in words."""
    if "$ref" in part:
        return link(part["$ref"])
    if "const" in part:
        return "`%s`" % json.dumps(part["const"]).strip('"')
    if "enum" in part:
        return ", ".join("`%s`" % (v if isinstance(v, str) else json.dumps(v)) for v in part["enum"])
    for key in ("anyOf", "oneOf"):
        if key in part and part.get("type") != "object":
            return " or ".join(dict.fromkeys(value(one) for one in part[key]))
    kind = part.get("type")
    if isinstance(kind, list):
        return " or ".join(value(dict(part, type=one)) for one in kind)
    if kind == "array":
        return "list of %s%s" % (count(part), plural(value(part.get("items", {}))))
    if kind == "object":
        inside = part.get("additionalProperties")
        if isinstance(inside, dict):
            return "by name: " + value(inside)
        keys = [pattern(k) + ": " + value(v) for k, v in part.get("patternProperties", {}).items()]
        keys += ["`%s`: %s" % (k, value(v)) for k, v in part.get("properties", {}).items()]
        return "keys " + ", ".join(keys)
    names = {"string": "text", "number": "number", "integer": "whole number", "boolean": "`true`, `false`",
             "null": "nothing"}
    return names.get(kind, "anything") + bounds(part)


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("$", "\\$")


def hoist(part, name, defs):
    """Objects defined in place get a separate section, `name`; equal ones share it."""
    if isinstance(part, list):
        return [hoist(one, name, defs) for one in part]
    if not isinstance(part, dict):
        return part
    new = {key: {k: hoist(v, name + "_" + k, defs) for k, v in inside.items()} if key == "properties"
           else hoist(inside, name, defs) for key, inside in part.items()}
    if not new.get("properties") or "patternProperties" in new:
        return new
    told = {key: new.pop(key) for key in ("description",) if key in new}
    for known, one in defs.items():
        if one == new:
            return dict(told, **{"$ref": "#/$defs/" + known})
    if name in defs:
        raise ValueError("two different kinds of '%s'" % name)
    defs[name] = new
    return dict(told, **{"$ref": "#/$defs/" + name})


def names(values):
    return ", ".join("`%s`" % v for v in values)


def rules(part):
    """{key: which types have it} and {key: which types need it} from the conditions of a part."""
    types, have, need = part.get("properties", {}).get("type", {}).get("enum", []), {}, {}
    for rule in part.get("allOf", []):
        if "not" in rule:  # options in both forms
            continue
        test, then = rule["if"], rule["then"]
        if set(test) == {"required"} and set(then) == {"properties"}:
            kinds = then["properties"]["type"]["enum"]
            others = [t for t in types if t not in kinds]
            have[test["required"][0]] = (
                "only for " + names(kinds) if len(kinds) <= len(others) else "not for " + names(others))
        elif set(test) == {"properties"} and set(then) == {"required"}:
            for key in then["required"]:
                need[key] = need.get(key, []) + test["properties"]["type"]["enum"]
        else:
            raise ValueError("a condition is not known: %s" % json.dumps(rule))
    return have, need


def remarks(part):
    """Sentences below a table: which keys replace each other, which go together."""
    out = []
    groups = [one["required"] for one in part.get("oneOf", []) + part.get("anyOf", [])]
    if groups:
        out.append("Needed: " + ", or ".join(" with ".join("`%s`" % k for k in one) for one in groups) + ".")
    for key, others in part.get("dependentRequired", {}).items():
        if not any(key in one for one in groups):
            out.append("`%s` goes with %s." % (key, names(k for k in others if k != key)))
    for key, rule in part.get("dependentSchemas", {}).items():
        without = [k for one in rule["not"]["anyOf"] for k in one["required"]]
        out.append("`%s` goes with %s, without %s." % (key, names(rule["required"]), names(without)))
    return ["", " ".join(out)] if out else []


def table(part):
    required, (have, need) = set(part.get("required", [])), rules(part)
    rows = ["| key | value | meaning |", "|---|---|---|"]
    for name, one in part.get("properties", {}).items():
        meaning = [one["description"]] if "description" in one else []
        meaning += [have[name]] if name in have else []
        if name in need:
            whole = have.get(name) == "only for " + names(need[name])
            meaning.append("needed there" if whole else "needed for " + names(need[name]))
        rows.append("| `%s`%s | %s | %s |" % (name, " **needed**" if name in required else "",
                                              cell(value(one)), cell("; ".join(meaning))))
    return rows + remarks(part) + [""]


def page(schema):
    defs = dict(schema["$defs"])
    top = {name: hoist(part, name, defs) for name, part in schema["properties"].items()}
    for name, part in schema["$defs"].items():
        inside = {key: hoist(one, name + "_" + key, defs) for key, one in part.get("properties", {}).items()}
        defs[name] = dict(part, properties=inside) if inside else part
    out = ["# Keys of the model file", "",
           "Made from `linkwork schema` when this page was built; [the model file](model-file.md) explains them "
           "with examples. A key that is not listed is an error, and so is a value of another kind: messages "
           "name file, line and column. `linkwork schema` prints this as JSON Schema for editors.", "",
           "## The file", ""] + table(dict(schema, properties=top))
    for name, part in defs.items():
        out += ["", "(part-%s)=" % name.replace("_", "-"), "## %s" % name.replace("_", " "), ""]
        if part.get("description"):
            out += [cell(part["description"][0].upper() + part["description"][1:]) + ".", ""]
        out += table(part) if part.get("properties") else ["Value: %s." % value(part), ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    schema = json.load(sys.stdin)
    try:
        check_known(schema)
        text = page(schema)
    except ValueError as error:
        print("format_reference: %s" % error, file=sys.stderr)
        return 1
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

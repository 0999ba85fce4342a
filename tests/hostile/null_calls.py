#!/usr/bin/env python3
"""Writes the calls of test_null_calls.c: every public function with every pointer NULL in turn.

usage: null_calls.py HEADERS OUTPUT

HEADERS is the folder of the public headers.  The rule that is tested is in linkwork.h: a pointer may be NULL where
the header says so (OPTIONAL below, and every lw_error, callback, user pointer and allocator); any other NULL is
LW_ERR_ARGUMENT of a call that returns a status, and has no effect in the others.
"""
import glob
import os
import re
import sys

# pointers of these names may be NULL everywhere
OPTIONAL_NAMES = {"error", "user", "row_user", "progress_user", "progress", "row", "omitted", "allocator", "interrupt"}

# what the comments of the headers allow besides: function, parameters
OPTIONAL = {
    "lw_model_assemble": "desc report", "lw_model_equilibrium": "desc balanced report", "lw_linearize": "desc",
    "lw_kinematics_create": "independent", "lw_kinematics_set": "v", "lw_kinematics_reach": "desc gaps report",
    "lw_inverse_create": "desc", "lw_inverse_solve": "solution", "lw_inverse_motion": "solution",
    "lw_inverse_row": "solution", "lw_inverse_state": "q v vdot", "lw_model_actuate": "actuators", "lw_modes_shape": "re im", "lw_modes_coordinates": "re im", "lw_modes_states": "re im", "lw_modes_motion": "desc", "lw_batch_writer_create": "path", "lw_sweep_writer_create": "path",
    "lw_compiled_create": "desc", "lw_compiled_predict": "desc", "lw_compiled_search": "desc", "lw_compiled_forward_dynamics": "tau",
    "lw_compiled_forward_dynamics_many": "tau failed", "lw_compiled_rates": "x inputs xdot",
    "lw_compiled_rates_many": "x inputs xdot failed", "lw_compiled_project_many": "failed",
    "lw_compiled_forward_dynamics_derivatives": "x tau inputs",
    "lw_compiled_forward_dynamics_derivatives_many": "x tau inputs failed",
    "lw_compiled_inverse_dynamics_derivatives": "x inputs", "lw_compiled_inverse_dynamics_derivatives_many": "x inputs failed",
    "lw_device_batch_run": "inputs efforts trajectory",
    "lw_codegen_write": "counts", "lw_forward_dynamics": "tau inputs", "lw_forward_dynamics_many": "tau inputs",
    "lw_parametric_inverse": "inputs", "lw_parametric_forward": "tau inputs", "lw_inverse_dynamics": "inputs", "lw_inverse_dynamics_derivatives": "inputs",
    "lw_forward_dynamics_derivatives": "tau inputs", "lw_momenta_rates": "tau inputs", "lw_constraints_evaluate": "phi rate J gamma",
    "lw_constraints_tree": "M h inputs", "lw_model_read": "desc options", "lw_model_parse": "options",
    "lw_model_write": "options", "lw_model_save": "options", "lw_model_format_of": "path", "lw_plot_results": "options", "lw_work_precision": "reference",
    "lw_plot_mechanism": "result options", "lw_plot_plan": "options", "lw_result_restore": "how", "lw_result_convert_columns": "columns",
    "lw_writer_create": "path", "lw_model_check": "dependent", "lw_view_page": "result desc",
    "lw_view_gltf": "result desc", "lw_csv_close": "csv", "lw_writer_close": "writer",
    "lw_batch_writer_close": "writer", "lw_builder_cut": "joints", "lw_sim_create": "desc",
    "lw_builder_add_function": "function", "lw_builder_add_input": "name input", "lw_builder_add_body": "body",
    "lw_model_remake": "set", "lw_builder_add_joint": "joint", "lw_builder_add_mesh": "mesh", "lw_sim_apply_impulse": "impact",
    "lw_batch_apply_impulse": "impact", "lw_study_create": "columns", "lw_plot_table": "options",
    "lw_model_joint_tree": "q_first nq v_first nv", "lw_batch_get_state": "time x",
    "lw_result_read_state": "time", "lw_sensitivity_at": "error", "lw_response_evaluate": "jacobian", "lw_store_part_rows": "first", "lw_checkpoint_take": "measures", "lw_checkpoint_restore": "measures", "lw_store_verify": "report",
    "lw_sim_check_jacobian": "largest",
}

# an argument that works, by function and parameter, by parameter, by type
BY_FUNCTION = {
    ("lw_device_batch_read", "to"): "out", ("lw_device_batch_write", "from"): "zeros",
    ("lw_device_batch_write", "on_device"): "false", ("lw_device_batch_step", "time"): "1",
    ("lw_device_batch_run", "inputs"): "NULL", ("lw_device_batch_run", "efforts"): "NULL",
    ("lw_device_batch_run", "trajectory"): "NULL",
    ("lw_response_evaluate", "x"): "(const double[]){1}",
    ("lw_store_create", "folder"): '"null-store"', ("lw_store_open", "folder"): '"null-store"',
    ("lw_linear_write_hdf5", "path"): '"null-linear.h5"',
    ("lw_store_merge", "path"): '"null-out.csv"', ("lw_checkpoint_write", "path"): '"null-checkpoint"',
    ("lw_checkpoint_read", "path"): '"null-checkpoint"',
    ("lw_model_read", "path"): '"null.yaml"', ("lw_result_open", "path"): '"null-in.csv"',
    ("lw_table_read", "path"): '"null-table.csv"', ("lw_table_read_study", "path"): '"null-table.csv"',
    ("lw_result_select_instance", "instance"): "-1", ("lw_table_write", "path"): '"null-out.csv"', ("lw_study_row", "study"): "the_lw_study",
    ("lw_study_create", "columns"): '"sys.T"', ("lw_plot_table", "name"): '"table"',
    ("lw_csv_create", "path"): '"null-out.csv"',
    ("lw_writer_create", "path"): '"null-out.csv"', ("lw_batch_writer_create", "path"): '"null-out.csv"',
    ("lw_sweep_writer_create", "path"): '"null-out.csv"', ("lw_result_convert", "path"): '"null-out.csv"',
    ("lw_result_convert_columns", "path"): '"null-out.csv"',
    ("lw_options_set", "key"): '"step"', ("lw_options_set", "value"): '"0.5"', ("lw_options_get", "key"): '"step"',
    ("lw_plot_set", "key"): '"title"', ("lw_plot_set", "value"): '"a"', ("lw_vary_check", "name"): '"gravity.x"',
    ("lw_model_find_body", "name"): '"b"', ("lw_model_find_joint", "name"): '"j"',
    ("lw_model_find_input", "name"): '"u"', ("lw_result_find_column", "name"): '"time"',
    ("lw_nearest", "name"): '"rum"', ("lw_nearest", "names"): "names", ("lw_model_plan", "kind"): '"comb"',
    ("lw_work_precision", "names"): "names", ("lw_plot_results", "names"): "names",
    ("lw_model_remake", "set"): "names", ("lw_model_remake", "nset"): "0", ("lw_builder_cut", "joints"): '"j"', ("lw_builder_warn", "format"): '"%d"',
    ("lw_builder_add_input", "name"): '"w"', ("lw_codegen_write", "directory"): '"null-code"',
    ("lw_codegen_write", "counts"): "counts", ("lw_model_export", "format"): '"urdf"',
    ("lw_model_format_of", "path"): '"null.yaml"', ("lw_model_save", "path"): '"null-save.yaml"',
    ("lw_work_precision", "count"): "2", ("lw_plot_results", "count"): "2", ("lw_nearest", "count"): "2",
    ("lw_number_read", "text"): '"1"', ("lw_model_actuate", "actuators"): '"j"', ("lw_model_actuate", "release"): "false",
    ("lw_inverse_set_weight", "actuator"): '"j"', ("lw_inverse_set_weight", "weight"): "1",
    ("lw_parametric_create", "by"): "vary", ("lw_parametric_create", "nby"): "1", ("lw_inverse_solve", "q"): "zeros", ("lw_kinematics_create", "independent"): '"j"', ("lw_kinematics_reach", "goals"): "&goal",
    ("lw_kinematics_reach", "report"): "&reach_report", ("lw_kinematics_point", "motion"): "&point_motion", ("lw_batch_set_state", "x"): "state", ("lw_sim_set_state", "x"): "state",
    ("lw_writer_finish", "writer"): "memory_writer", ("lw_model_parse", "text"): "MODEL_FILE",
    ("lw_sim_step", "time"): "0.05",
    ("lw_sim_step_progress", "time"): "0.05", ("lw_work_precision", "reference"): '"run"',
    ("lw_model_parse", "length"): "strlen(MODEL_FILE)", ("lw_sim_set_motion", "motion"): "observation",
    ("lw_plot_results", "results"): "results", ("lw_work_precision", "results"): "results",
    ("lw_plot_mechanism", "result"): "NULL", ("lw_result_read_state", "result"): "stored",
    ("lw_result_restore", "result"): "stored", ("lw_result_convert", "result"): "stored",
    ("lw_result_convert_columns", "result"): "stored", ("lw_result_convert_columns", "columns"): '"time"',
    ("lw_constraints_tree", "M"): "out", ("lw_view_page", "result"): "NULL", ("lw_view_gltf", "result"): "NULL",
    ("lw_modes_motion", "rows"): "2", ("lw_modes_motion", "r"): "mode_places", ("lw_modes_motion", "quat"): "mode_turns",
    ("lw_plot_results", "options"): "NULL", ("lw_modes_shape", "re"): "shape", ("lw_modes_shape", "im"): "shape",
}
BY_NAME = {
    "array": "LW_DEVICE_STATE", "intervals": "1", "length": "0.1",
    "failed": "marks",
    "file": '"null-out.svg"', "source": '"a"', "name": '"null"', "text": "text", "how": "text", "size": "sizeof text",
    "how_size": "sizeof text", "time": "0", "t": "0", "count": "1", "tolerance": "0", "index": "0", "instance": "0", "input": "0",
    "parameter": "0", "statistic": "LW_STATISTIC_LAST", "row": "0", "first": "0", "room": "8", "loop": "0", "column": "0", "duration": "0.1", "value": "0", "level":
    "LW_OBSERVE_ENERGY", "body": "(lw_body){1}", "joint": "(lw_joint){0}", "marker": "0", "measure": "0", "event": "0", "function": "0", "mesh": "(lw_mesh){1}", "place": "(lw_place){0}", "reference": "NULL",
    "acceleration": "(lw_vec3){0}", "point": "(lw_vec3){0}", "axes": "LW_AXES_WORLD", "part": "0", "rows": "1", "threads": "1", "lanes": "1", "status": "LW_OK",
}
BY_TYPE = {
    "lw_device_view *": "&device_view",
    "const double *": "zeros", "lw_compiled_info *": "&compiled_info", "double *": "out", "int *": "&number", "lw_error *": "&error",
    "FILE *": "file", "void *": "NULL", "const lw_allocator *": "NULL", "lw_progress": "NULL", "lw_row": "NULL", "lw_input_callback": "NULL", "lw_input_jacobian": "NULL", "lw_interrupt": "NULL",
    "lw_batch_row": "NULL", "callback": "NULL", "lw_summary *": "&summary", "lw_step_times *": "&times",
    "lw_store_state *": "&store_state", "lw_store_damage": "NULL", "lw_options *": "&options", "const lw_options *": "&options", "lw_plot_options *": "&plot_options",
    "const lw_plot_options *": "&plot_options", "lw_signal *": "&function", "lw_body *": "&body", "lw_mesh *": "&mesh", "lw_joint *": "&joint",
    "lw_assembly *": "&assembly", "lw_equilibrium *": "&equilibrium", "lw_running *": "&running", "const lw_running *": "&running",
    "lw_statistics *": "&statistics", "lw_check *": "&check", "lw_redundancy *": "redundancy",
    "lw_plan_info *": "&plan", "lw_precision *": "precision", "const lw_observation *": "observation",
    "const lw_observation **": "&observation_out", "const lw_inverse_solution **": "&inverse_solution",
    "const double **": "&number_list", "const lw_result_event **": "&result_events", "long *": "&long_number", "const lw_impact **": "&impact",
}


def prototypes(folder):
    """(result type, name, [(type, parameter)]) of every public function."""
    for header in sorted(glob.glob(os.path.join(folder, "*.h"))):
        with open(header, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"//.*", "", text)
        text = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)
        for match in re.finditer(r"LW_API\s+([^;{]+);", text):
            prototype = " ".join(match.group(1).split())
            prototype = re.sub(r"\)\s*LW_PRINTF.*", ")", prototype)
            head, inside = prototype.split("(", 1)
            result, name = re.fullmatch(r"(.*?)\s*(\blw_\w+)", head).groups()
            yield result.strip(), name, [parameter(p) for p in split(inside.rsplit(")", 1)[0])]


def split(text):
    """Parameters at commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in parts if p not in ("void", "")]


def parameter(text):
    if text == "...":
        return "...", ""
    if "(*" in text:
        return "callback", re.search(r"\(\*(\w+)\)", text).group(1)
    text = re.sub(r"(\w+)\[\d+\]$", r"*\1", text)  # an array is a pointer
    kind, name = re.fullmatch(r"(.*?)(\w+)", text).groups()
    return re.sub(r"\s*\*", " *", kind).replace("* *", "**").strip(), name


def argument(function, kind, name):
    """An expression for it, or NULL."""
    if (function, name) in BY_FUNCTION:
        return BY_FUNCTION[function, name]
    if kind == "...":
        return "1"
    if kind in BY_TYPE:
        return BY_TYPE[kind]
    if kind.endswith("**") and "const char" not in kind and not kind.startswith("const"):
        return f"&new_{kind.split()[0]}"
    described = re.fullmatch(r"const (lw_\w+_desc) \*", kind)
    if described:
        return f"&{described.group(1)}_"
    handle = re.fullmatch(r"(?:const )?(lw_\w+) \*", kind)
    if handle:
        return f"the_{handle.group(1)}"
    if name in BY_NAME:
        return BY_NAME[name]
    raise SystemExit(f"null_calls.py: no argument known for {function}({kind} {name}): add one")


def is_pointer(kind):
    return "*" in kind or kind in ("callback", "lw_interrupt", "lw_progress", "lw_row", "lw_batch_row", "lw_store_damage")


def calls():
    for result, name, parameters in prototypes(sys.argv[1]):
        pointers = [i for i, (kind, _) in enumerate(parameters) if is_pointer(kind)]
        if not pointers:
            continue
        valid = [argument(name, kind, p) for kind, p in parameters]
        known = OPTIONAL.get(name, "").split()
        for p in known:
            if p not in [q for _, q in parameters]:
                raise SystemExit(f"null_calls.py: {name} has no parameter {p}")
        for i in [None] + pointers:
            none = "no_text" if i is not None and parameters[i][1] == "format" else "NULL"  # the compiler reads formats
            given = [(none if k == i else v) for k, v in enumerate(valid)]
            optional = i is None or parameters[i][1] in OPTIONAL_NAMES or parameters[i][1] in known
            yield result, name, "" if i is None else parameters[i][1], given, optional


def main():
    lines, rows = [], []
    for n, (result, name, null, given, optional) in enumerate(calls()):
        call = f"{name}({', '.join(given)})"
        body = f"return (int){call};" if result == "lw_status" else f"(void){call}; return 0;"
        if result == "void":
            body = f"{call}; return 0;"
        lines.append(f"static int call_{n}(void) {{ {body} }}")
        rows.append(f'    {{"{name}", "{null}", call_{n}, {int(result == "lw_status")}, {int(optional)}}},')
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("// written by null_calls.py\n" + "\n".join(lines) + "\n\nstatic const null_call calls[] = {\n" +
                   "\n".join(rows) + "\n};\n")


if __name__ == "__main__":
    main()

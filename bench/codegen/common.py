"""What the benchmarks of generated code share: calls of programs, models, and the main program of a file and its table."""
import argparse
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def call(*command, **keywords):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **keywords).stdout


def model_path(program, name, file, assembled, folder):
    """A model of the repository, or `name`.yaml in `folder`, which `linkwork assemble` makes of it."""
    path = os.path.join(ROOT, file)
    if not assembled:
        return path
    closed = os.path.join(folder, name + ".yaml")
    call(program, "assemble", path, "-o", closed, "-q")
    return closed


def conditions(arguments):
    """Processor, commit, compilers and rounds."""
    build = json.loads(call(arguments.program, "bench", "--case", "chain-7", "--seconds", "0.01", "--json"))
    return {"cpu": build["cpu"], "commit": build["commit"], "library": f"{build['compiler']}, {build['flags']}",
            "compiler": call(arguments.compiler, "--version").split("\n")[0], "rounds": arguments.rounds}


def argument_parser(about):
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--table", metavar="FILE")
    return parser


def main(parser, measure, print_table):
    """Prints the table of what `measure` returns of the arguments, or of the file of --table."""
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as file:
            print_table(json.load(file))
        return 0
    if not arguments.program:
        parser.error("--program is missing")
    found = measure(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")
    print_table(found)
    return 0

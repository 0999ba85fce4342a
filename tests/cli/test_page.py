#!/usr/bin/env python3
"""A page is typed literally: its models and every command that runs the program.

usage: test_page.py PAGE LINKWORK SOURCES

A ```yaml block is saved under the name of the `# NAME.yaml` comment it starts with; lines of ```sh
blocks that begin with build/bin/linkwork are run in order, in a folder where that file is.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile


def main():
    page, program, sources = (os.path.abspath(a) for a in sys.argv[1:4])
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "build/bin"))
        os.symlink(program, os.path.join(folder, "build/bin/linkwork"))
        os.symlink(os.path.join(sources, "examples"), os.path.join(folder, "examples"))
        for language, text in blocks:
            name = re.match(r"# (\S+\.yaml)", text)
            if language == "yaml" and name:
                with open(os.path.join(folder, name.group(1)), "w", encoding="utf-8") as file:
                    file.write(text)
            if language != "sh":
                continue
            for line in text.splitlines():
                if not line.startswith("build/bin/linkwork"):
                    continue
                print("$ " + line, flush=True)
                ran += 1
                command = shlex.split(line, comments=True)
                if subprocess.run(command, cwd=folder, check=False, timeout=120).returncode:
                    print("this line does not work")
                    return 1
    print("%d commands work" % ran)
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""tools/install-deps checks the version of SUNDIALS, not only its headers, and tools of developers with --develop only.

usage: test_install_deps.py TOOL
"""
import os
import subprocess
import sys
import tempfile


def missing(tool, major):
    """What is said to be missing where SUNDIALS of this major version comes first."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("sundials/sundials_config.h", f"#define SUNDIALS_VERSION_MAJOR {major}\n"),
                           ("arkode/arkode_erkstep.h", "")):
            os.makedirs(os.path.dirname(os.path.join(folder, name)))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([tool, "--no-install"], env={**os.environ, "CPATH": folder},
                              capture_output=True, text=True, check=False).stderr


def missing_without(tool, program, *options):
    """What is reported missing where programs with names that begin with `program` are not in PATH."""
    with tempfile.TemporaryDirectory() as folder:
        for where in os.environ["PATH"].split(os.pathsep):
            for name in os.listdir(where) if os.path.isdir(where) else []:
                if not name.startswith(program) and not os.path.lexists(os.path.join(folder, name)):
                    os.symlink(os.path.join(where, name), os.path.join(folder, name))
        return subprocess.run([tool, "--no-install", *options], env={**os.environ, "PATH": folder},
                              capture_output=True, text=True, check=False).stderr


def main():
    for program in ("clang-format", "cppcheck", "gcovr"):
        assert program in missing_without(sys.argv[1], program, "--develop"), program
        assert program not in missing_without(sys.argv[1], program), program
    assert "SUNDIALS 6" in missing(sys.argv[1], 5)
    assert "SUNDIALS" not in missing(sys.argv[1], 6)
    return 0


if __name__ == "__main__":
    sys.exit(main())

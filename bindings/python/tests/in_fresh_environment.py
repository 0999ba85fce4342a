#!/usr/bin/env python3
"""pip installs the package from the sources in a fresh environment, and its tests pass there.

usage: in_fresh_environment.py SOURCES PROGRAM [TEST ...]

TEST  only these: test_kinds, ...

With CI in the environment the library has the flags of the program, which ccache has compiled already; with
CI_NIGHTLY=all, and without CI, those of a release.

Exit status 77, skipped, where there is no venv module, no header of Python or no index of packages.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

SKIPPED = 77


def call(*command, **more):
    print("$ " + " ".join(command), flush=True)
    return subprocess.run(command, check=False, **more).returncode


def skip(why):
    print(f"SKIPPED: the Python package is NOT tested: {why}")
    return SKIPPED


def flags_of(program):
    """Settings of pip for the flags with which the program was built: ccache then has the objects of the library."""
    with open(os.path.join(os.path.dirname(program), "../CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    flags = cache.get("CMAKE_C_FLAGS_" + cache.get("CMAKE_BUILD_TYPE", "").upper())
    if flags is None:
        return []
    values = {"CMAKE_C_FLAGS_RELEASE": flags, **{name: cache[name] for name in ("LW_HIDDEN", "LW_ISA", "LW_WERROR")}}
    return [f"--config-settings=cmake.define.{name}={value}" for name, value in values.items()]


def main():
    sources, program = (os.path.abspath(a) for a in sys.argv[1:3])
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return skip("the headers of Python are missing (python3-dev; tools/install-deps)")
    environment = dict(os.environ, LINKWORK_PROGRAM=program, MPLBACKEND="Agg", PIP_NO_INPUT="1",
                       PIP_DISABLE_PIP_VERSION_CHECK="1")
    environment.pop("PYTHONPATH", None)
    settings = []
    if shutil.which("ccache"):
        environment.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CCACHE_NOHASHDIR="1")
        if environment.get("CI") and environment.get("CI_NIGHTLY") != "all":
            settings = flags_of(program)
    with tempfile.TemporaryDirectory() as folder:
        venv = os.path.join(folder, "venv")
        if call(sys.executable, "-m", "venv", venv):
            return skip("no environment can be made (python3-venv; tools/install-deps)")
        python = os.path.join(venv, "bin", "python")
        began = time.monotonic()
        if call(python, "-m", "pip", "download", "--quiet", "--no-deps", "--timeout", "10", "--retries", "1",
                "--dest", folder, "cffi", env=environment, stderr=subprocess.DEVNULL):
            return skip("pip reaches no index of packages")
        if call(python, "-m", "pip", "install", "--quiet", "--no-compile", *settings, sources + "[test]",
                env=environment):
            return 1
        print(f"installed in {time.monotonic() - began:.0f} s", flush=True)
        if os.environ.get("CI"):  # large; their tests are skipped, told by pytest, where this fails
            call(python, "-m", "pip", "install", "--quiet", "--no-compile", "mujoco", "pin", env=environment)
            if os.environ.get("CI_NIGHTLY") == "all":  # its compiler takes minutes for the tests of the bridge
                call(python, "-m", "pip", "install", "--quiet", "jax", env=environment)
        tests = os.path.join(sources, "bindings/python/tests")
        return call(python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--rootdir", folder,
                    "-c", os.path.join(sources, "pyproject.toml"),
                    *([os.path.join(tests, name + ".py") for name in sys.argv[3:]] or [tests]), cwd=folder,
                    env=environment)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A project outside builds against the installed library, by find_package and by pkg-config.

usage: test_install.py CMAKE BUILD SOURCES C_COMPILER [SANITIZERS]
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

LISTS = """cmake_minimum_required(VERSION 3.22)
project(outside C)
find_package(linkwork 0.1 REQUIRED)
add_executable(outside step.c)
target_link_libraries(outside PRIVATE linkwork::linkwork m)
"""


def call(*command, **more):
    print("$ " + " ".join(command), flush=True)
    subprocess.run(command, check=True, timeout=300, **more)


def main():
    cmake, build, sources, compiler = sys.argv[1:5]
    sanitizers = "".join(sys.argv[5:6])
    flags = "-fsanitize=" + sanitizers if sanitizers else ""
    with tempfile.TemporaryDirectory() as folder:
        prefix, outside = os.path.join(folder, "installed"), os.path.join(folder, "outside")
        call(cmake, "--install", build, "--prefix", prefix, stdout=subprocess.DEVNULL)
        call(os.path.join(prefix, "bin/linkwork"), "--version")

        os.mkdir(outside)
        shutil.copy(os.path.join(sources, "examples/c/step.c"), outside)
        with open(os.path.join(outside, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(LISTS)
        call(cmake, "-S", outside, "-B", outside + "/build", "-DCMAKE_PREFIX_PATH=" + prefix,
             "-DCMAKE_C_COMPILER=" + compiler, "-DCMAKE_C_FLAGS=" + flags, stdout=subprocess.DEVNULL)
        call(cmake, "--build", outside + "/build", stdout=subprocess.DEVNULL)
        call(outside + "/build/outside")

        found = [os.path.join(where, "linkwork.pc") for where, _, names in os.walk(prefix)
                 if "linkwork.pc" in names]
        if shutil.which("pkg-config") and found:
            library = os.path.dirname(os.path.dirname(found[0]))
            told = subprocess.run(
                ["pkg-config", "--define-prefix", "--cflags", "--libs", "linkwork"], check=True,
                stdout=subprocess.PIPE, text=True,
                env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found[0])}).stdout.split()
            call(compiler, *shlex.split(flags), outside + "/step.c", "-o", outside + "/told", *told,
                 "-lm", "-Wl,-rpath," + library)
            call(outside + "/told", stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())

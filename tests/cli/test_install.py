#!/usr/bin/env python3
"""The installed tree works from elsewhere: the program with its pages and examples, and projects
that build against the library by find_package and by pkg-config.

usage: test_install.py CMAKE BUILD SOURCES C_COMPILER [SANITIZERS]
"""
import glob
import os
import re
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
    return subprocess.run(command, check=True, timeout=300, **more)


def said(*command, **more):
    return call(*command, stdout=subprocess.PIPE, text=True, **more).stdout


def try_program(prefix, folder, env=None):
    """It runs a shipped model from a separate folder."""
    program = os.path.join(prefix, "bin/linkwork")
    crane = os.path.join(prefix, "share/doc/linkwork/examples/models/crane.yaml")
    call(program, "--version", env=env)
    said(program, "run", crane, "--duration", "0.1", "-o", "crane.csv", cwd=folder, env=env)
    with open(os.path.join(folder, "crane.csv"), encoding="utf-8") as file:
        assert file.readline().startswith("time,"), "crane.csv has no header"
    said(program, "run", crane, "--duration", "0.1", "-o", "crane.h5", cwd=folder, env=env)
    try_modules(prefix, program, folder, env)
    return program


def try_modules(prefix, program, folder, env):
    """What calls HDF5 and cairo is found where it is unpacked; without it a message says so, and the rest works."""
    def tried(*arguments):
        return subprocess.run((program,) + arguments, cwd=folder, env=env, text=True, stderr=subprocess.PIPE, check=False)
    for module in glob.glob(os.path.join(prefix, "lib/**/linkwork/*.so"), recursive=True):
        name = os.path.splitext(os.path.basename(module))[0]
        draw = ("plot", "crane.h5", "-o", "crane.png") if name == "cairo" else ("convert", "crane.h5", "-o", "again.csv")
        done = tried(*draw)
        assert done.returncode == 0, done.stderr
        os.rename(module, module + ".away")
        done = tried(*draw)
        os.rename(module + ".away", module)
        assert done.returncode and "linkwork/%s.so: cannot open" % name in done.stderr, done.stderr
        assert tried("plot", "crane.csv", "-o", "crane.svg").returncode == 0


LOADS = """import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
os.chdir("/")
error, result = ctypes.create_string_buffer(4096), ctypes.c_void_p()
library.lw_result_open(sys.argv[2].encode(), ctypes.byref(result), error)
print(error.raw.replace(b"\\0", b""))
"""


def try_paths(prefix, folder):
    """The modules are found by a library that was loaded by a relative path, or through a link in another folder."""
    found = glob.glob(os.path.join(prefix, "lib/**/liblinkwork.so.*.*.*"), recursive=True)
    if not found:
        return  # an archive
    library = found[0]
    link, damaged = os.path.join(folder, "linked.so"), os.path.join(folder, "damaged.h5")
    os.symlink(library, link)
    with open(damaged, "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n" + 64 * b"x")
    for path in (os.path.relpath(library, folder), link):
        text = said(sys.executable, "-c", LOADS, path, damaged, cwd=folder)
        assert "damaged.h5" in text and "cannot be loaded" not in text, text


def try_pages(prefix, program, env=None):
    """A page per verb with every option that --help lists; groff finds nothing to complain about."""
    verbs = re.findall(r"^  (\w+)", said(program, "--help", env=env), re.M)
    assert "run" in verbs
    for verb in verbs:
        page = os.path.join(prefix, "share/man/man1/linkwork-%s.1" % verb)
        with open(page, encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        for option in re.findall(r"^ .*?(--[\w-]+)", said(program, verb, "--help", "--all", env=env), re.M):
            assert option in text, "%s: no %s" % (page, option)
    if shutil.which("groff"):
        for page in glob.glob(os.path.join(prefix, "share/man/man1/*.1")):
            errors = call("groff", "-man", "-ww", "-Tutf8", page, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True).stderr
            assert not errors, errors


def try_completion(prefix):
    """bash completes verbs, options and names of formulations."""
    file = os.path.join(prefix, "share/bash-completion/completions/linkwork")
    for words, expected in ((["linkwork", "comp"], "compare"),
                            (["linkwork", "run", "--dur"], "--duration"),
                            (["linkwork", "run", "--formulation", "mom"], "momenta"),
                            (["linkwork", "run", "--level", "mom"], "momentum"),
                            (["linkwork", "run", "crane"], "")):
        script = "source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _linkwork; echo ${COMPREPLY[@]}" % (
            shlex.quote(file), " ".join(words), len(words) - 1)
        found = said("bash", "-c", script).strip()
        assert found == expected, "%s: '%s', not '%s'" % (words, found, expected)


def try_library(prefix, folder, sources, cmake, compiler, flags):
    """A project outside builds against it and runs."""
    outside = os.path.join(folder, "outside")
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
        flags_too = said("pkg-config", "--cflags", "--libs", "linkwork",
                    env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found[0])}).split()
        call(compiler, *shlex.split(flags), outside + "/step.c", "-o", outside + "/flags", *flags_too,
             "-lm", "-Wl,-rpath," + library)
        call(outside + "/flags", stdout=subprocess.DEVNULL)


def main():
    cmake, build, sources, compiler = sys.argv[1:5]
    sanitizers = "".join(sys.argv[5:6])
    flags = "-fsanitize=" + sanitizers if sanitizers else ""
    with tempfile.TemporaryDirectory() as folder:
        first, prefix = os.path.join(folder, "installed"), os.path.join(folder, "moved")
        call(cmake, "--install", build, "--prefix", first, stdout=subprocess.DEVNULL)
        os.rename(first, prefix)
        program = try_program(prefix, folder)
        if sys.platform == "linux" and not sanitizers:  # Python has no sanitizers to load
            try_paths(prefix, folder)
        try_pages(prefix, program)
        if shutil.which("bash"):
            try_completion(prefix)
        try_library(prefix, folder, sources, cmake, compiler, flags)
    return 0


if __name__ == "__main__":
    sys.exit(main())

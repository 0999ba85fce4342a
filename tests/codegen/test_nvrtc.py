"""Kernels of `linkwork codegen --cuda` are CUDA: NVRTC compiles them for compute capability 9.0, without a warning.

usage: test_nvrtc.py LINKWORK SOURCE

Needs no GPU, but NVRTC: the Python package nvidia-cuda-nvrtc-cu12, or the library of a CUDA toolkit; skipped (77) where neither is.
With --report it prints the compiler's registers and memory of each kernel.
"""
import ctypes
import importlib.util
import os
import subprocess
import sys
import tempfile
import time

MODELS = ["examples/models/ur5.urdf", "examples/models/four_bar.yaml", "examples/models/wishbone_corner.yaml",
          "examples/index3-2019/reference/P5-single-loop.yaml", "examples/models/kapitza.yaml"]
# A curve that is no number beyond its ends, and functions of libm.
CURVE = """linkwork: 1
inputs: [u1]
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}
joints: {j: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], friction: {q0: {coulomb: 1, speed: 0.1}}}}
signals: {c: {type: curve, of: u1, x: [-1, 0, 1], y: [1, 2, 5], ends: error}}
forces: {g: {type: wrench, body: a, force_of: [c, 0, 0]}}
"""


def library():
    """libnvrtc of the package or of the system, or None."""
    names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    try:
        spec = importlib.util.find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        spec = None
    for folder in (spec.submodule_search_locations if spec else []):
        names = [os.path.join(folder, "lib", name) for name in names] + names
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def string_of(nvrtc, program, size, get):
    n = ctypes.c_size_t()
    assert size(program, ctypes.byref(n)) == 0
    text = ctypes.create_string_buffer(n.value)
    assert get(program, text) == 0
    return text.raw


def compile(nvrtc, path):
    """The log of the compiler, after the check that it has made code for the processor."""
    with open(path, "rb") as file:
        source = file.read()
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, path.encode(), 0, None, None) == 0
    options = [b"--gpu-architecture=sm_90", b"--ptxas-options=-v"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = string_of(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).rstrip(b"\0").decode()
    assert status == 0, log
    assert "warning" not in log.lower(), log
    code = string_of(nvrtc, program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    name = os.path.basename(path)[:-3].encode()
    for kernel in (b"_rk4", b"_dopri54", b"_close"):
        assert name + kernel in code, "%s has no kernel %s" % (path, kernel)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log


def report(log):
    kernel = "?"
    for line in log.splitlines():
        if "Compiling entry function" in line:
            kernel = line.split("'")[1]
        elif "bytes stack frame" in line and kernel:
            frame = line.split("  ")[-1].strip()
        elif "Used" in line and kernel:
            print("  %-28s %s; %s" % (kernel, line.split(":")[1].split(",")[0].strip(), frame))
            kernel = None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--report"]
    program, source = arguments[:2]
    nvrtc = library()
    if nvrtc is None:
        print("SKIPPED: there is no NVRTC (pip install nvidia-cuda-nvrtc-cu12): kernels are not compiled as CUDA")
        return 77
    for model in arguments[2:] or [os.path.join(source, model) for model in MODELS] + ["curve.yaml"]:
        for precision in ("double", "single"):
            with tempfile.TemporaryDirectory() as folder:
                if model == "curve.yaml":
                    model = os.path.join(folder, model)
                    with open(model, "w", encoding="utf-8") as file:
                        file.write(CURVE)
                subprocess.run([program, "codegen", model, "--cuda", "--precision", precision, "-q", "-o", folder],
                               check=True)
                [path] = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cu")]
                began = time.time()
                log = compile(nvrtc, path)
                print("%s, %s: %.1f s" % (os.path.basename(model), precision, time.time() - began))
                if "--report" in sys.argv:
                    report(log)
    return 0


if __name__ == "__main__":
    sys.exit(main())

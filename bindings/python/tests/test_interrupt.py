"""Ctrl-C ends long calls soon, in the main thread and without losing the rows."""
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys, threading, time
import linkwork as lw

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
model = lw.Model.from_dict({"generate": {"chain": {"n": 32, "seed": 1}}})
sim = lw.Simulation(model)
calls = {
    "simulate": lambda: lw.simulate(model, 1e6, level="pose", sample=1),
    "step": lambda: sim.step(1e6),
    "batch": lambda: lw.simulate_batch(model, {"joint.joint1.q0": [0.1] * 16}, 1e6, sample=1, level="pose"),
}
WORK = 0.3  # [s] of the processor, however long it takes to get them: only the call, which lasts for hours, uses so many

def interrupt(began):
    while time.process_time() - began < WORK:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

began = time.process_time()
threading.Thread(target=interrupt, args=(began,)).start()
try:
    calls[sys.argv[1]]()
except KeyboardInterrupt as caught:
    run = getattr(caught, "trajectory", None)
    if sys.argv[1] == "simulate":
        assert run.rows >= 1 and run.time[-1] < 1e6
    if sys.argv[1] == "step":
        assert 0 < sim.time < 1e6
        sim.step(0.01)
    assert WORK <= time.process_time() - began < WORK + 5
    print("stopped")
"""


@pytest.mark.parametrize("call", ["simulate", "step", "batch"])
def test_ctrl_c(call):
    done = subprocess.run([sys.executable, "-c", SCRIPT, call], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.stdout == "stopped\n" and done.stderr == "" and done.returncode == 0, done.stderr

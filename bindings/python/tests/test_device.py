"""Batches on devices: the processor, and a driver that stands for NVIDIA's."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import MODELS, SOURCES

import linkwork as lw
from linkwork import _device

pytestmark = pytest.mark.skipif(shutil.which(os.environ.get("CC", "cc")) is None, reason="no C compiler")
ARM = MODELS / "ur5.urdf"
N = 9


def made(device="cpu", **more):
    return lw.DeviceBatch(ARM, N, device=device, integrator="rk4", step=0.001, **more)


def started(batch, seed=1):
    rng = np.random.default_rng(seed)
    batch.state.set(batch.state.numpy() + rng.uniform(-0.1, 0.1, (12, N)))
    return rng.uniform(-1, 1, (6, N))


def test_arrays_of_dlpack_are_the_same_memory():
    batch = made(measure=[0, 15])
    assert batch.state.shape == (12, N) and batch.inputs.shape == (0, N) and batch.measures.shape == (6, N)
    efforts = started(batch)
    batch.efforts.set(efforts)
    seen = np.from_dlpack(batch.state)
    before = seen.copy()
    assert np.array_equal(np.asarray(batch.state), before)
    batch.step(0.02)
    assert batch.time == 0.02 and not np.array_equal(seen, before)
    assert np.array_equal(seen, batch.state.numpy())
    assert (np.from_dlpack(batch.status) == 0).all() and (np.from_dlpack(batch.steps) == 20).all()
    low, high, integral = batch.measures.numpy()[:3]
    assert (low <= np.minimum(before[0], seen[0])).all() and (high >= np.maximum(before[0], seen[0])).all()
    assert ((0.02 * low <= integral) & (integral <= 0.02 * high)).all()
    address = seen.ctypes.data
    state = batch.state
    del batch, state
    assert seen.ctypes.data == address and np.isfinite(seen).all()  # the memory is kept
    with pytest.raises(BufferError):
        made().state.__dlpack__(copy=True)


def test_intervals_in_one_launch_are_steps():
    one, two = made(), made()
    efforts = np.stack([started(one), started(two)]) * np.array([1, -1])[:, None, None]
    out = np.empty((2, 12, N))
    assert one.run(2, 0.01, efforts=efforts, out=out) is out
    for k in range(2):
        two.efforts.set(efforts[k])
        two.step(0.01 * (k + 1))
        assert np.array_equal(out[k], two.state.numpy())
    with pytest.raises(lw.ArgumentError, match=r"efforts: shape \(1, 6, 9\)"):
        one.run(2, 0.01, efforts=efforts[:1].copy())
    with pytest.raises(lw.ArgumentError, match="efforts: strides"):
        one.run(2, 0.01, efforts=efforts.transpose(0, 2, 1).copy().transpose(0, 2, 1))
    with pytest.raises(lw.ArgumentError, match="expected an array of DLPack"):
        one.run(2, 0.01, efforts=[1, 2])


def test_runs_are_those_of_a_simulation():
    batch = lw.DeviceBatch(MODELS / "four_bar.yaml", 2, device="cpu", rtol=1e-11, atol=1e-11)
    sim = lw.Simulation(lw.load(MODELS / "four_bar.yaml"), rtol=1e-11, atol=1e-11)
    batch.step(0.5)
    sim.step(0.5)
    q = np.array(sim.observe("pose").q)  # of all joints: those of the tree are among them
    for x in batch.state.numpy()[:3, 1]:
        assert np.abs(q - x).min() < 1e-8


def test_jax_shares_the_memory():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    batch = made()
    efforts = jax.numpy.asarray(started(batch))
    batch.efforts.set(efforts)
    assert np.array_equal(np.asarray(efforts), batch.efforts.numpy())
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(batch.state)), batch.state.numpy())


def test_torch_shares_the_memory():
    torch = pytest.importorskip("torch")
    batch = made()
    seen = torch.from_dlpack(batch.state)
    seen[0, 0] = 0.25
    assert batch.state.numpy()[0, 0] == 0.25


def test_mistakes_are_named():
    with pytest.raises(lw.ArgumentError, match="device 'gpu': expected cuda, cuda:N or cpu"):
        made("gpu")
    with pytest.raises(lw.ArgumentError, match="precision"):
        made(precision="half")
    with pytest.raises(lw.ArgumentError, match="values: "):
        made().state.set(np.zeros(7))
    small = made(precision="single")
    assert small.state.dtype == np.float32
    with pytest.raises(lw.ArgumentError, match="type"):
        small.run(1, 0.01, efforts=np.zeros((1, 6, N)))


CUDA = """
import numpy as np
import linkwork as lw
from linkwork import _device

ends = []
for device in ("cuda", "cpu"):
    batch = lw.DeviceBatch(%r, 300, device=device, integrator="rk4", step=0.001, nvrtc=%r if device == "cuda" else None)
    rng = np.random.default_rng(1)
    batch.state.set(batch.state.numpy() + rng.uniform(-0.1, 0.1, (12, 300)))
    batch.efforts.set(rng.uniform(-1, 1, (6, 300)))
    batch.step(0.02)
    ends.append(batch.state.numpy())
assert np.allclose(*ends, atol=1e-12), "the devices differ"
one, two = (lw.DeviceBatch(%r, 300, device="cuda", nvrtc=%r) for _ in range(2))
assert one.name == "Fake 40" and one.state.__dlpack_device__() == (2, 0)
one.step(0.01)
two.state.set(one.state)  # within the device
assert np.array_equal(one.state.numpy(), two.state.numpy())
try:
    np.from_dlpack(one.state)
    raise SystemExit("numpy took memory of a GPU")
except (RuntimeError, BufferError):
    pass
try:
    batch.state.set(one.state)
    raise SystemExit("memory of a GPU was taken as the processor's")
except lw.ArgumentError as error:
    assert "expected (1, 0)" in str(error), error
print("right")
"""


def test_arrays_for_results_can_be_written():
    batch = made()
    out = np.zeros((2, *batch.state.shape))
    out.flags.writeable = False
    with pytest.raises((lw.ArgumentError, BufferError), match="read-?only"):
        batch.run(2, 0.1, out=out)
    assert not out.any()


@pytest.mark.parametrize("folder, name", [("cu13", "libnvrtc.so.13"), ("cuda_nvrtc", "libnvrtc.so.12")])
def test_nvrtc_is_found_in_packages_of_nvidia(tmp_path, monkeypatch, folder, name):
    path = tmp_path / "nvidia" / folder / "lib" / name
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    for module in [m for m in sys.modules if m.split(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, module)
    assert _device._nvrtc() == str(path)


def test_the_driver_is_called(tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("libcuda.so.1 is a name of Linux")
    for name in ("libcuda.so.1", "libnvrtc.so.12"):
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-fPIC", "-shared", f"-Wl,-soname,{name}",
                        SOURCES / "tests/device/fake_cuda.c", "-o", tmp_path / name, "-ldl"], check=True)
    nvrtc = str(tmp_path / "libnvrtc.so.12")
    done = subprocess.run([sys.executable, "-c", CUDA % (str(ARM), nvrtc, str(ARM), nvrtc)], text=True,
                          capture_output=True, env=dict(os.environ, LD_LIBRARY_PATH=str(tmp_path)), check=False)
    assert done.stdout == "right\n", done.stderr


def test_without_a_driver_it_is_said():
    code = "import linkwork as lw\ntry:\n    lw.DeviceBatch(%r, 1)\nexcept lw.Error as error:\n    print(error)" % str(ARM)
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert "device cuda" in done.stdout or done.stdout == ""  # a machine with a GPU

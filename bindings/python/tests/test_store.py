"""Studies in folders: every engine gives the table of one sweep, bit for bit."""
import concurrent.futures
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork import _store

SPACE = {"l": "400:600", "c": "normal:2:0.3", "body.arm.mass": [-1, 1, 2]}  # a third of them cannot run
STUDY = {"design": "sobol:24", "seed": 3, "duration": 0.2}


def same(a, b):
    assert list(a) == list(b) and a.failures == b.failures and a.units == b.units
    for name in a:
        assert np.array_equal(a[name], b[name], equal_nan=True), name


@pytest.fixture
def whole(path):
    return lw.sweep(path, SPACE, threads=1, **STUDY)


def test_folder_threads_and_processes(path, whole, tmp_path):
    seen = []
    same(lw.sweep(path, SPACE, store=tmp_path / "a", part_rows=5, progress=lambda *of: seen.append(of) and False, **STUDY),
         whole)
    assert seen[0] == (0, 24) and len(seen) == 5
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        same(lw.sweep(path, SPACE, store=tmp_path / "b", part_rows=2, executor=pool, **STUDY), whole)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        same(lw.sweep(path, SPACE, store=tmp_path / "c", part_rows=3, executor=pool, **STUDY), whole)
    same(lw.sweep(path, SPACE, store=tmp_path / "c", **STUDY), whole)  # complete: nothing is run
    store = lw.Store(tmp_path / "c")
    assert store.parts == 8 and store.missing() == [] and store.state().failed == sum(map(bool, whole.failures)) > 0
    store.merge(tmp_path / "merged.csv")
    whole.save(tmp_path / "whole.csv")
    assert (tmp_path / "merged.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_parts_are_counted_once_not_after_each(path, tmp_path, monkeypatch):
    counts, state = [], _store.Store.state
    monkeypatch.setattr(_store.Store, "state", lambda self: counts.append(1) or state(self))
    lw.sweep(path, SPACE, store=tmp_path / "n", part_rows=1, **STUDY)
    assert len(counts) == 1


def test_dask(path, whole, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        same(lw.sweep(path, SPACE, store=tmp_path / "d", part_rows=1, executor=client, **STUDY), whole)


def test_a_stopped_study_continues(path, whole, tmp_path):
    with pytest.raises(lw.StoppedError, match="3 of 8 parts"):
        lw.sweep(path, SPACE, store=tmp_path / "s", part_rows=3, progress=lambda done, rows: done >= 9, **STUDY)
    assert len(lw.Store(tmp_path / "s").missing()) == 5
    same(lw.sweep(path, SPACE, store=tmp_path / "s", **STUDY), whole)


def test_a_process_pool_that_is_killed(path, whole, tmp_path):
    pool = concurrent.futures.ProcessPoolExecutor(1)
    pid = pool.submit(os.getpid).result()
    threading.Timer(0.05, os.kill, (pid, signal.SIGKILL)).start()
    try:
        lw.sweep(path, SPACE, store=tmp_path / "k", part_rows=1, executor=pool, **{**STUDY, "duration": 200})
    except lw.StoppedError as stopped:
        assert "the same call continues" in str(stopped)
    else:
        pytest.fail("the study has ended before its process was killed")
    finally:
        pool.shutdown()


def test_damaged_parts_and_other_studies(path, whole, tmp_path):
    lw.sweep(path, SPACE, store=tmp_path / "s", part_rows=3, **STUDY)
    part = sorted((tmp_path / "s" / "parts").iterdir())[2]
    part.write_bytes(part.read_bytes().replace(b"1", b"2", 1))
    store = lw.Store(tmp_path / "s")
    with pytest.raises(lw.ParseError, match="damaged"):
        store.table()
    assert store.verify() == 1 and store.missing() == [2]
    with pytest.raises(lw.ArgumentError, match="1 of 8 parts are missing"):
        store.table()
    same(lw.sweep(path, SPACE, store=tmp_path / "s", **STUDY), whole)
    with pytest.raises(lw.ArgumentError, match="its variants differs"):
        lw.sweep(path, SPACE, store=tmp_path / "s", **{**STUDY, "seed": 4})
    with pytest.raises(lw.ArgumentError, match="expected a folder"):
        lw.sweep(path, SPACE, executor=1, **STUDY)
    with pytest.raises(lw.ArgumentError, match="int is none"):
        lw.sweep(path, SPACE, store=tmp_path / "n", part_rows=3, executor=1, **STUDY)
    with pytest.raises(lw.FileError):
        lw.Store(tmp_path / "nothing")


def test_the_module_makes_parts(path, whole, tmp_path):
    with pytest.raises(lw.StoppedError):
        lw.sweep(path, SPACE, store=tmp_path / "s", part_rows=3, progress=lambda done, rows: done > 0, **STUDY)
    words = [sys.executable, "-m", "linkwork.engine", str(tmp_path / "s"), "--workers", "2"]
    done = subprocess.run([*words, "--table", str(tmp_path / "t.csv")], capture_output=True, text=True, check=True)
    assert "8 of 8 complete" in done.stdout
    whole.save(tmp_path / "whole.csv")
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    missing = subprocess.run([*words[:-2], "--engine", "ray"], capture_output=True, text=True, check=False)
    if missing.returncode:
        assert "pip install linkwork[ray]" in missing.stderr


def test_the_table_as_parquet(path, whole, tmp_path):
    pandas = pytest.importorskip("pandas")
    if not any(importlib.util.find_spec(name) for name in ("pyarrow", "fastparquet")):
        pytest.skip("neither pyarrow nor fastparquet is installed")
    folder = tmp_path / "s"
    lw.sweep(path, SPACE, store=folder, part_rows=3, **STUDY)
    merge = [sys.executable, "-m", "linkwork.engine", str(folder), "--merge"]
    subprocess.run([*merge, str(tmp_path / "t.parquet")], check=True)
    read = pandas.read_parquet(tmp_path / "t.parquet")
    pandas.testing.assert_frame_equal(read, whole.to_pandas(), check_exact=True)
    lost = subprocess.run([*merge, str(tmp_path / "none" / "t.parquet")], capture_output=True, text=True, check=False)
    assert lost.returncode == 1 and "none" in lost.stderr
    assert [f.name for f in tmp_path.glob("t.parquet*")] == ["t.parquet"]


def processes_of(folder):
    """Processes with the folder on their command line: a driver, and workers that were forked from it."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if os.fsencode(folder) in file.read():
                    found.append(int(name))
        except OSError:
            pass  # it has ended
    return found


@pytest.mark.skipif(not os.path.exists("/proc/self/cmdline"), reason="no /proc here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_driver(path, tmp_path, number):
    folder = tmp_path / "w"
    with pytest.raises(lw.StoppedError):
        lw.sweep(path, SPACE, store=folder, part_rows=1, progress=lambda done, rows: True, **{**STUDY, "duration": 2000})
    words = [sys.executable, "-m", "linkwork.engine", str(folder), "--workers", "2"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as driver:
        until = time.monotonic() + 60
        while len(processes_of(folder)) < 3 and driver.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert len(processes_of(folder)) >= 3
        driver.send_signal(number)
    while processes_of(folder) and time.monotonic() < until:
        time.sleep(0.1)
    left = processes_of(folder)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert not left


def test_every_worker_has_a_part(path, whole, tmp_path, monkeypatch):
    class Many(concurrent.futures.Executor):
        """Begins when each of its workers has two parts."""

        _max_workers, waiting = 6, []

        def submit(self, function, *words, **more):
            self.waiting.append((concurrent.futures.Future(), function, words))
            last = self.waiting[-1][0]
            if len(self.waiting) == 12:
                for future, call, given in self.waiting:
                    future.set_result(call(*given))
                self.waiting.clear()
            return last

    calls = []
    monkeypatch.setattr(_store, "WINDOW", 2)
    same(lw.sweep(path, SPACE, store=tmp_path / "m", part_rows=1, executor=Many(),
                  progress=lambda *of: calls.append(of) or len(calls) > 40, **STUDY), whole)


def test_engines_are_chosen_by_what_they_are():
    class Fake:
        __name__ = "ray"

        @staticmethod
        def remote(**options):
            return lambda function: function

    assert isinstance(_store._engine(Fake()), _store._Ray)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert type(_store._engine(pool)) is _store._Futures


def test_the_time_left_is_known_after_three_parts():
    from linkwork import engine

    line = engine._Line(None, True)
    texts = [line.text(done, 1000, seconds) for done, seconds in ((0, 0), (10, 1), (10, 1.5), (20, 2), (30, 3), (40, 400))]
    assert texts == ["0 of 1000 variants", "10 of 1000 variants, 10/s", "10 of 1000 variants, 6.67/s", "20 of 1000 variants, 10/s",
                     "30 of 1000 variants, 10/s, 97 s left", "40 of 1000 variants, 0.1/s, 2.7 h left"]

#!/usr/bin/env python3
"""What a study on Dask takes more than one sweep: processor and wall time of both, in turn.

usage: overhead.py --program LINKWORK [--rows N] [--duration T] [--parts N] [--workers N] [--tries K]

Needs the Python package with distributed.  The cluster is one of this machine, which has begun and has opened a study before: what is
measured is a study on a cluster that runs.  Processor time is that of the scheduler, the driver and the workers together; it depends
little on what else the machine does, wall time does.  Workers are processes of one thread with the library of the package, the
sweep is one process of the program with as many threads: differences of processes and threads are in the result, too.  Writes overhead.json here; `bench/chaos/chaos.py --report` adds
it to docs/reports/studies.md.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "../../examples/models/four_bar.yaml")


def measured(work, processor):
    """Processor and wall time [s] of a call."""
    cpu, wall = processor(), time.monotonic()
    work()
    return {"processor": processor() - cpu, "wall": time.monotonic() - wall}


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    import linkwork as lw
    from distributed import Client

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--duration", type=float, default=1.0)
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tries", type=int, default=3)
    o = parser.parse_args()
    tries = []
    with tempfile.TemporaryDirectory() as folder, Client(n_workers=o.workers, threads_per_worker=1, dashboard_address=None) as client:

        def study(name, rows, parts):
            lw.sweep(MODEL, {"gravity.y": f"-9.81:-1:{rows}"}, "sys.T", duration=o.duration, store=os.path.join(folder, name),
                     part_rows=-(-rows // parts), executor=client)

        def sweep():
            subprocess.run([o.program, "sweep", MODEL, "--vary", f"gravity.y=-9.81:-1:{o.rows}", "--duration", str(o.duration), "--watch",
                            "sys.T", "--threads", str(o.workers), "--table", os.path.join(folder, "bare.csv"), "-q"], check=True)

        def of_cluster():
            own = time.process_time()  # the driver, with the scheduler in one of its threads
            return own + sum(client.run(time.process_time).values())

        study("warm", 100, 2 * o.workers)
        for k in range(o.tries):
            tries.append({"dask": measured(lambda k=k: study(f"s{k}", o.rows, o.parts), of_cluster), "bare": measured(sweep, of_children)})
            print(tries[-1], flush=True)
            client.run(lambda: None)
            lw.Store(os.path.join(folder, f"s{k}")).merge(os.path.join(folder, "merged.csv"))
            with open(os.path.join(folder, "merged.csv"), "rb") as one, open(os.path.join(folder, "bare.csv"), "rb") as other:
                assert one.read() == other.read()
    with open(os.path.join(HERE, "overhead.json"), "w", encoding="utf-8") as file:
        json.dump({"rows": o.rows, "parts": o.parts, "workers": o.workers, "duration": o.duration, "load": os.getloadavg()[0], "tries": tries},
                  file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

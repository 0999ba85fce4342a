#!/usr/bin/env python3
"""Plant and controller of examples/hil, two processes: in lockstep the motion is that of the control loop
whatever the machine is doing; against the clock it is only asked that both come to their ends.

usage: test_hil.py PLANT CONTROLLER MODEL
"""
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

PLANT, CONTROLLER, MODEL = sys.argv[1:4]
WANTED = 3.0  # rad/s


def play(steps, *how):
    """What the plant says after so many steps with a controller."""
    with subprocess.Popen([PLANT, MODEL, "0", str(steps), *how], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as plant:
        try:
            port = plant.stdout.readline().split()[1]
            controller = subprocess.run([CONTROLLER, port, str(WANTED)], capture_output=True,
                                        text=True, timeout=60, check=False)
            out, err = plant.communicate(timeout=60)
        except BaseException:
            plant.kill()
            raise
    if plant.returncode or controller.returncode:
        raise AssertionError(f"{plant.returncode}, {controller.returncode}: {err}{controller.stderr}")
    return out


class Hil(unittest.TestCase):
    def test_lockstep_turns_the_crank_through_singular_positions(self):
        # 1.5 s at 3 rad/s from 30 degrees: past 180 degrees, where all links are in line
        out = play(1500, "lockstep")
        self.assertIn("1500 of 0.001 s, 1500 with a new torque", out)
        speed, astray = map(float, re.search(r"at least ([\d.e+-]+) .* by ([\d.e+-]+) rad", out).groups())
        # gravity's 7.8 N m at 3 rad/s is held to 0.06 rad/s by these gains (examples/hil/README.md)
        self.assertGreater(speed, WANTED - 0.1)
        # in line, hinges miss each other only by the square of this angle: 1e-4 is 4e-9 m
        self.assertLess(astray, 1e-4)
        self.assertEqual(play(1500, "lockstep").splitlines()[-1], out.splitlines()[-1])

    def test_with_the_clock_both_end(self):
        out = play(200)
        self.assertIn("steps        200", out)
        self.assertRegex(out, r"pace +\d+ late")

    def test_a_controller_that_lags_behind_ends_too(self):
        with subprocess.Popen([PLANT, MODEL, "0", "150"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as plant:
            port = plant.stdout.readline().split()[1]
            with subprocess.Popen([CONTROLLER, port], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as controller:
                time.sleep(0.05)
                controller.send_signal(signal.SIGSTOP)
                plant.communicate(timeout=60)  # its last words wait at the controller's
                controller.send_signal(signal.SIGCONT)
                out, err = controller.communicate(timeout=60)
        self.assertEqual((plant.returncode, controller.returncode), (0, 0), err)
        self.assertIn("measurements answered", out)

    def test_the_controller_may_begin_first(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        with subprocess.Popen([CONTROLLER, port, str(WANTED)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as controller:
            plant = subprocess.run([PLANT, MODEL, port, "50", "lockstep"], capture_output=True,
                                   text=True, timeout=60, check=False)
            out, err = controller.communicate(timeout=60)
        self.assertEqual((plant.returncode, controller.returncode), (0, 0), plant.stderr + err)
        self.assertIn("50 measurements answered", out)

    def test_who_is_left_alone_says_so(self):
        with subprocess.Popen([PLANT, MODEL, "0", "1000000"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as plant:
            port = plant.stdout.readline().split()[1]
            with subprocess.Popen([CONTROLLER, port], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as controller:
                time.sleep(1)
                controller.kill()
            try:
                _, err = plant.communicate(timeout=30)
            except BaseException:
                plant.kill()
                raise
        self.assertEqual(plant.returncode, 1)
        self.assertIn("ended at t = ", err)

    def test_wrong_use_is_told(self):
        done = subprocess.run([PLANT], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        done = subprocess.run([PLANT, "nothing.yaml", "0", "1"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing.yaml", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

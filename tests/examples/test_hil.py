#!/usr/bin/env python3
"""Plant and controller of examples/hil, two processes: in lockstep the motion is that of the control loop
for any load of the machine; against the clock it is only asked that both come to their ends.

usage: test_hil.py PLANT CONTROLLER MODEL
"""
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import unittest

PLANT, CONTROLLER, MODEL = sys.argv[1:4]
WANTED = 3.0  # rad/s
MEASUREMENT = struct.Struct("=QQddd")  # link.h
COMMAND = struct.Struct("=Qd")


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
        # this test is the plant, so that the controller surely has met it before it is stopped
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plant:
            plant.bind(("127.0.0.1", 0))
            plant.settimeout(60)
            with subprocess.Popen([CONTROLLER, str(plant.getsockname()[1])], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as controller:
                _, where = plant.recvfrom(COMMAND.size)
                plant.sendto(MEASUREMENT.pack(0, 0, 0.0, 0.5, 0.0), where)
                while not self.answers(plant, 0):
                    pass
                controller.send_signal(signal.SIGSTOP)
                for step in range(1, 5):  # what waits when the controller continues; then there is none
                    plant.sendto(MEASUREMENT.pack(step, step == 4, 1e-3 * step, 0.5, 0.0), where)
                plant.close()
                controller.send_signal(signal.SIGCONT)
                out, err = controller.communicate(timeout=60)
        self.assertEqual(controller.returncode, 0, err)
        self.assertIn("4 measurements answered", out)

    @staticmethod
    def answers(plant, step):
        """Whether the next command is the answer to this measurement (it says where it is, too)."""
        of, torque = COMMAND.unpack(plant.recv(COMMAND.size))
        return of == step and torque != 0

    @staticmethod
    def free_port():
        """A port that stays free: the system gives away only those from 32768 on."""
        for port in random.SystemRandom().sample(range(20000, 30000), 100):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                try:
                    free.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
        raise AssertionError("none of 100 ports is free")

    def test_the_controller_may_begin_first(self):
        port = str(self.free_port())
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
            port = int(plant.stdout.readline().split()[1])
            try:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as controller:
                    controller.settimeout(60)
                    controller.connect(("127.0.0.1", port))
                    controller.send(COMMAND.pack(0, 0.0))
                    self.assertEqual(len(controller.recv(MEASUREMENT.size)), MEASUREMENT.size)
                _, err = plant.communicate(timeout=60)
            except BaseException:
                plant.kill()
                raise
        self.assertEqual(plant.returncode, 1)
        self.assertIn("ended at t = ", err)

    def test_wrong_use_is_reported(self):
        done = subprocess.run([PLANT], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        done = subprocess.run([PLANT, "nothing.yaml", "0", "1"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing.yaml", done.stderr)

    def refuses(self, expected, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), command)
        self.assertIn(expected, done.stderr)

    def test_what_is_no_number_is_refused(self):
        for port in ("", "abc", "12x", "-1", "65536", "5000.5", "1e9", "nan", "0x", "99999999999999999999"):
            expected = f"PORT is '{port}', expected a whole number from "
            self.refuses("hil_plant: " + expected + "0 to 65535", PLANT, MODEL, port, "1")
            self.refuses("hil_controller: " + expected + "1 to 65535", CONTROLLER, port)
        self.refuses("PORT is '0'", CONTROLLER, "0")  # a controller has to know where the plant is
        for steps in ("", "ten", "10s", "0", "-5", "1.5", "inf", "1e30"):
            self.refuses(f"STEPS is '{steps}', expected a whole number", PLANT, MODEL, "0", steps)
        for speed in ("", "fast", "3rad", "nan", "inf"):
            self.refuses(f"SPEED is '{speed}', expected a number", CONTROLLER, "5000", speed)

    def test_words_too_many_are_refused(self):
        self.refuses("usage: hil_plant", PLANT, MODEL, "0", "1", "lockstepp")
        self.refuses("usage: hil_plant", PLANT, MODEL, "0", "1", "lockstep", "more")
        self.refuses("usage: hil_controller", CONTROLLER, "5000", "3", "more")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

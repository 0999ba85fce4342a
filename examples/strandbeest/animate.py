#!/usr/bin/env python3
"""Draws the walking machine as an animated SVG (SMIL) from one turn of its crank, simulated by the program.

usage: animate.py --program PROGRAM [--pairs N] [--frames N] PICTURE.svg

The crank is driven at a constant speed, so the motion is periodic and the picture repeats without a jump.  A body
moves by the pose in the result's rows; a foot's path is that of its marker.  The ground moves with the
foot that stands on it.  The background is transparent and the colours suit a light and a dark page.
Needs nothing but Python and the program.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile

import walker

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reports import read_table

SCALE = 300            # pixels per metre
CRANK = walker.HOLY["m"] * walker.CENTIMETRE
SPEED = -2.4           # of the crank [rad/s]; a turn takes 2.6 s
LEFT, TOP, RIGHT, BOTTOM = -1.09, 0.38, 1.09, -0.96 # of the picture [m]
LINK, SIDE, JOINT, TRACE = "#8b949e", ("#3b82f6", "#e07b1a"), "#6e7781", "#8b949e"
TICKS = 6              # marks of the ground per step of a foot
# the parts of a leg: the points of each, open for a rod and closed for a triangle
RODS = {"j": ("crank", "upper"), "k": ("crank", "lower"), "c": ("pivot", "lower"), "f": ("far", "knee")}
TRIANGLES = {"bde": ("pivot", "upper", "far"), "ghi": ("lower", "knee", "foot")}


def turn(program, pairs, frames):
    """Columns of one turn of the driven crank, `frames` intervals."""
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "walker.yaml"), os.path.join(folder, "walker.csv")
        with open(model, "w", encoding="utf-8") as file:
            file.write(walker.walker(pairs, "fixed", SPEED, driven=True))
        period = 2 * math.pi / abs(SPEED)
        subprocess.run([program, "run", model, "--duration", repr(period), "--sample", repr(period / frames), "-q",
                        "-o", result], check=True)
        return {name: column[:frames + 1] for name, column in read_table(result).items()}


def px(metres):
    return f"{SCALE * metres + 0.0:.1f}"


def points(coordinates):
    return " ".join(f"{px(x)},{px(-z)}" for x, z in coordinates)


def animate(kind, values, more=""):
    return (f'<animateTransform attributeName="transform" type="{kind}" dur="{2 * math.pi / abs(SPEED):.2f}s" '
            f'repeatCount="indefinite"{more} values="{";".join(values)}"/>')


def moving(columns, body, shapes):
    """A group of shapes that are drawn about a body's mass centre, moved by its poses."""
    x, z = columns[f"body.{body}.x"], columns[f"body.{body}.z"]
    angles = [2 * math.atan2(b, a) for a, b in zip(columns[f"body.{body}.qw"], columns[f"body.{body}.qy"])]
    for i in range(1, len(angles)):  # continuous, so that frames are interpolated the short way
        angles[i] -= 2 * math.pi * round((angles[i] - angles[i - 1]) / (2 * math.pi))
    return ["<g>", *shapes, animate("translate", [f"{px(a)},{px(-b)}" for a, b in zip(x, z)]),
            animate("rotate", [f"{math.degrees(a) + 0.0:.1f}" for a in angles], ' additive="sum"'), "</g>"]


def leg(columns, name, angle, side):
    """The six bodies of a leg, triangles behind rods."""
    at = walker.leg(angle, side)
    out = []
    for part, corners in {**TRIANGLES, **RODS}.items():
        body = f"{name}_{part}"
        cx, cz = columns[f"body.{body}.x"][0], columns[f"body.{body}.z"][0]
        here = [(at[c][0] - cx, at[c][1] - cz) for c in corners]
        if part in TRIANGLES:
            colour = SIDE[side > 0]
            shape = f'<polygon points="{points(here)}" fill="{colour}" fill-opacity=".35" stroke="{colour}"/>'
        else:
            shape = f'<polyline points="{points(here)}" stroke="{LINK}"/>'
        pins = [f'<circle cx="{px(x)}" cy="{px(-z)}" r="4" fill="{JOINT}" stroke="none"/>'
                for corner, (x, z) in zip(corners, here) if corner != "foot"]
        out += moving(columns, body, [shape, *pins])
    return out


def crank(columns, angle):
    """The web of a pair's crank."""
    x, z = (CRANK * math.cos(angle), CRANK * math.sin(angle))
    return moving(columns, "shaft", [f'<line x1="0" y1="0" x2="{px(x)}" y2="{px(-z)}" stroke="{JOINT}" '
                                     'stroke-width="7"/>', f'<circle r="6" fill="{JOINT}" stroke="none"/>'])


def ground(columns, feet):
    """A line at the height of the feet that stand, with marks that move with the foot that is lowest."""
    heights = {f: columns[f"marker.{f}.z"] for f in feet}
    frames = len(columns["time"])
    floor = min(min(h) for h in heights.values())
    shift = [0.0]
    for i in range(1, frames):
        low = min(feet, key=lambda f: heights[f][i - 1] + heights[f][i])
        shift.append(shift[-1] + columns[f"marker.{low}.x"][i] - columns[f"marker.{low}.x"][i - 1])
    gap = abs(shift[-1]) / (len(feet) * TICKS)
    first, count = LEFT - abs(shift[-1]), int((RIGHT - LEFT + 2 * abs(shift[-1])) / gap) + 1
    marks = "".join(f"M{px(first + gap * i)},0l-8,9" for i in range(count))
    level = -SCALE * floor + 3
    return [f'<line x1="{px(LEFT)}" y1="{level:.1f}" x2="{px(RIGHT)}" y2="{level:.1f}" stroke="{LINK}" stroke-width="2"/>',
            f'<g transform="translate(0,{level:.1f})"><path d="{marks}" stroke="{LINK}" stroke-width="1.5">',
            animate("translate", [f"{px(s)},0" for s in shift]), "</path></g>"]


def picture(columns, pairs):
    feet = [f"{letter}{i + 1}_foot" for i in range(pairs) for letter in "lr"]
    width, height = SCALE * (RIGHT - LEFT), SCALE * (TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
           f'viewBox="{px(LEFT)} {px(-TOP)} {width:.1f} {height:.1f}" fill="none" stroke-width="4" '
           'stroke-linecap="round" stroke-linejoin="round">',
           f"<title>A walking machine after Theo Jansen: {walker.LOOPS_PER_PAIR * pairs} closed loops</title>",
           "<!-- made by examples/strandbeest/animate.py -->"]
    out += ground(columns, feet)
    for i in reversed(range(pairs)):  # the pair in front last
        angle = 2 * math.pi * i / pairs
        out.append(f'<g opacity="{1 - 0.7 * i / max(1, pairs - 1):.2f}">' if i else "<g>")
        for side, letter in ((-1, "l"), (1, "r")):
            if not i:
                path = zip(columns[f"marker.{letter}1_foot.x"], columns[f"marker.{letter}1_foot.z"])
                out.append(f'<polygon points="{points(path)}" stroke="{TRACE}" stroke-width="1.5" '
                           'stroke-dasharray="2 5"/>')
            out += leg(columns, f"{letter}{i + 1}", angle, side)
        out += crank(columns, angle) + ["</g>"]
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="the walking machine as an animated SVG")
    parser.add_argument("--program", required=True)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("picture")
    arguments = parser.parse_args()
    columns = turn(os.path.abspath(arguments.program), arguments.pairs, arguments.frames)
    with open(arguments.picture, "w", encoding="utf-8") as file:
        file.write(picture(columns, arguments.pairs))


if __name__ == "__main__":
    main()

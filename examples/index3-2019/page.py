"""The page of the report: tables and answers from results.json, which report.py writes.  Nothing is measured here."""
import paper
from study import H, SIZES, micro, power
from reports import exponent, table

BREAKS = "breaks down"


def known(value, prototype):
    """A number, and the prototype's in brackets."""
    return f"{power(value)} ({power(prototype)})"


# ------------------------------------------------------------------------------------------- tables

def pendulum(found):
    rows = []
    for name, r in found.items():
        (off, least, last), forces = paper.PENDULUM[name], paper.PENDULUM_FORCE[name]
        rows.append([name, known(r["off"], off), power(r["force"]["rows"]) if name == "default" else "–",
                     *(known(r["force"][k], forces[k]) for k in ("step", "newton")),
                     power(r["cpos"]), power(r["cvel"]), power(r["cacc"]), known(r["least"], least), known(r["last"], last)])
    return table(["", "largest position error of A [m]", "of the force at joint 1 [N]", "of that of the steps",
                  "of Newton's multipliers alone", "position residual", "velocity residual", "acceleration residual",
                  "minimum energy [J]", "energy at 10 s [J]"], rows)


def four_bar(found):
    rows = []
    for r in found:
        head = [r["reading"], r["method"], f"{r['time']:g}"]
        if "ends" in r:
            rows.append(head + [f"{BREAKS} at {r['ends']:.1f} s"] + [BREAKS] * 4)
            continue
        rows.append(head + [power(r["off"]) if "off" in r else "–", power(r["branch"]), power(r["cpos"]), power(r["cvel"]),
                            f"{power(r['least'])} ... {power(r['most'])}"])
    return table(["reading", "", "time [s]", "position error of A [m]", "coupler off its branch [m]", "position residual",
                  "velocity residual", "energy [J]"], rows)


def passages(found):
    return table(["largest error of the force [N]", "I, h = 0.01 s", "I, 0.001 s", "II, 0.01 s", "II, 0.001 s"],
                 [[f"`output={output}`", *map(power, errors)] for output, errors in found.items()])


def chain(found):
    rows = []
    for name, r in found["methods"].items():
        least, last = paper.CHAIN[name]
        rows.append([name, f"{r['least']:.2f} at {r['least_at']:.2f} s ({least})", f"{r['last']:.2f} ({last})",
                     f"{r['kinetic']:.0f} at {r['kinetic_at']:.2f} s", ", ".join(map(power, r["tip"])), power(r["cpos"]),
                     power(r["cvel"])])
    rows.append(["the paper", f"{paper.CHAIN_PAPER[0]} at {paper.CHAIN_KINETIC[1]} s", f"about {paper.CHAIN_PAPER[1]}",
                 f"at {paper.CHAIN_KINETIC[1]} s", "–", "–", "–"])
    text = table(["", "minimum energy [J]", "energy at 10 s [J]", "largest kinetic energy [J]",
                  "error of the tip at 1, 3, 5 s [m]", "position residual", "velocity residual"], rows)
    low, high = paper.CHAIN_1024
    return text + (f"\n\nThe paper's method with other penalties {failures(found)}.\n\n"
                   f"1024 links: {found['1024']:.2f} J after 10 s (prototype: {high} to {low}).")


def failures(found):
    return "ends " + ", ".join(f"at {end:.2f} s with {penalty}" for penalty, end in found["penalties"].items())


def orders(found):
    return table(["", "largest error of", "h", "h/2", "h/4", "ratios", "hdca against dense"],
                 [[r["case"], r["what"], *map(power, r["errors"]), ", ".join(f"{x:.2f}" for x in r["ratios"]),
                   power(r["between"])] for r in found])


def through(found):
    return table(["h [s]", "position error of A [m]", "coupler off its branch [m]", "minimum energy [J]"],
                 [[f"{r['h']:g}", power(r["off"]), power(r["branch"]), power(r["least"])] for r in found])


def performance(times):
    rows = []
    for n in SIZES:
        r = times["chains"][str(n)]
        one, two = r["one"], r["two"]
        rows.append([n, micro(one), f"{1e6 * one / n:.2f}", f"{1000 * one:.3g}", f"{H / one:.3g}",
                     f"{r['instructions'] / n:.0f}" if "instructions" in r else "",
                     f"{100 - r['projections']:.0f}, {r['projections']:.0f}", micro(two), f"{one / two:.2f}",
                     f"{50 * one / two:.0f} %"])
    return table(["links", "a step [us]", "per link [us]", "10 s of motion [s]", "real-time factor", "instructions per link",
                  "Newton, projections [%]", "two threads [us]", "speedup", "efficiency"], rows)


def variants(accuracy, times):
    rows = []
    for text, r in accuracy.items():
        t = times[text]
        rows.append([f"`{text}`" if text else "default, three iterations", micro(t["step"]), t.get("instructions", ""),
                     f"{r['least']:.1f}", f"{r['last']:.1f}", power(r["tip"]), power(r["cpos"])])
    return table(["`mode=real-time`", "a step [us]", "instructions", "minimum energy [J]", "energy at 10 s [J]",
                  "error of the tip at 5 s [m]", "position residual"], rows)


def jitter(times):
    rows = []
    for name, r in times.items():
        i = r.get("instructions")
        rows.append([name, r["steps"], *(micro(r[k]) for k in ("median", "p99", "p999", "worst")), r["slow"],
                     f"{i['least']} to {i['most']} ({100 * i['spread']:.2g} %)" if i else "–"])
    return table(["", "steps", "median [us]", "99 %", "99.9 %", "worst", "longer than 10 ms", "instructions of a step"], rows)


# ------------------------------------------------------------------------------------------ answers

def shared_from(chains):
    """The smallest chain from which on two threads are a fifth faster; None: there is none."""
    slow = [n for n in SIZES if chains[str(n)]["one"] < 1.2 * chains[str(n)]["two"]]
    faster = [n for n in SIZES if not slow or n > slow[-1]]
    return faster[0] if faster else None


def answers(accuracy, times):
    """The first table of the page."""
    default, own = accuracy["pendulum"]["default"], accuracy["pendulum"]["paper"]
    ratios = [x for r in accuracy["orders"] for x in r["ratios"]]
    residuals = [own[k] for k in ("cpos", "cvel", "cacc")]
    hour = next(r for r in accuracy["four-bar"] if r["time"] > 1000)
    ended = [r for r in accuracy["four-bar"] if "ends" in r]
    methods = accuracy["chain"]["methods"]
    peak = abs(methods["default"]["kinetic"] / paper.CHAIN_KINETIC[0] - 1)
    chains = times["chains"]
    large = [n for n in SIZES if n >= 16]
    growth = exponent(large, [chains[str(n)]["one"] for n in large])
    shares, from_n = times["shares"], shared_from(chains)
    return [
        ("the double pendulum agrees with commercial software", True, default["off"] < 5e-3 and min(ratios) > 3.4,
         f"with explicit integration at 1e-12 to {power(default['off'])} m in 10 s, the error of the rule: halving the step "
         f"divides errors by {min(ratios):.2f} to {max(ratios):.2f} (below)"),
        ("position constraints have the smallest errors, then velocities, then accelerations", True,
         residuals == sorted(residuals), ", ".join(map(power, residuals)) + " by the paper's method"),
        ("the energy stays near zero with a slight loss", True, -0.05 < own["least"] <= own["last"] <= 0,
         f"{power(own['last'])} J after 10 s; the default loses {default['least'] / own['least']:.2f} times as much"),
        ("the four-bar passes its singular position again and again, with redundant constraints", True,
         hour["branch"] < 1e-11,
         f"for an hour too ({power(hour['branch'])} m off its branch); but " +
         ("; ".join(f"the paper's method breaks down in reading {r['reading']} at {r['ends']:.1f} s" for r in ended)
          or "no method breaks down")),
        ("the chain of 128 needs a penalty of 1e9; with 1e6 to 1e8 it fails", True, len(accuracy["chain"]["penalties"]) == 3,
         f"{failures(accuracy['chain'])}. The default has no penalty to choose: ε is relative to the rows"),
        (f"its energy drops to {paper.CHAIN_PAPER[0]} J at {paper.CHAIN_KINETIC[1]} s and returns to {paper.CHAIN_PAPER[1]} J",
         False, abs(methods["paper"]["last"] - paper.CHAIN_PAPER[1]) < 3,
         f"{methods['paper']['least']:.2f} J at {methods['paper']['least_at']:.2f} s, but {methods['paper']['last']:.2f} J at "
         f"10 s by its method, as the prototype ({paper.CHAIN['paper'][1]}); by the default {methods['default']['least']:.2f} "
         f"and {methods['default']['last']:.2f} J"),
        (f"the kinetic energy is largest at {paper.CHAIN_KINETIC[1]} s", True,
         abs(methods["default"]["kinetic_at"] - paper.CHAIN_KINETIC[1]) < 0.015,
         f"and is that of explicit integration to {100 * peak:.2g} %"),
        ("time grows linearly with the number of bodies", True, 0.85 < growth < 1.15,
         f"as the power {growth:.2f} of it from {large[0]} to {large[-1]} links"),
        (f"Newton's iterations take {paper.SHARES[0]} % of it, each projection {paper.SHARES[1]} %", True,
         abs(shares["tangent"][0] - paper.SHARES[0]) < 10,
         f"{shares['tangent'][0]:.0f} % and {shares['tangent'][1]:.0f} % for both with `projection=tangent`, where they use "
         f"Newton's factors, too; {shares['default'][0]:.0f} % and {shares['default'][1]:.0f} % by default, with factors for both"),
        ("128 bodies in real time need four cores", False, chains["128"]["one"] > H,
         f"one core is {H / chains['128']['one']:.0f} times faster than real time, with 1024 "
         f"{H / chains['1024']['one']:.0f} times"),
        ("four and more cores are faster from 64 bodies on", None, None,
         "not measured: there are two cores. Two threads are a fifth faster " +
         (f"from {from_n} links on" if from_n else "in no case") + "; shorter chains are not shared"),
    ]


def parts(results):
    """The tables of the page."""
    accuracy, times = results["accuracy"], results["times"]
    method, keys = accuracy["method"], accuracy["paper's method"]
    return {
        "method": f"`--index3 {method}`" if method != "auto" else "its defaults",
        "paper": f"*paper*: `--index3\n{keys}`,\npenalty and iterations as the case has them.",
        "pendulum": pendulum(accuracy["pendulum"]), "four-bar": four_bar(accuracy["four-bar"]),
        "hour": f"{3600 / H:.0f} steps and some {round(accuracy['passages in an hour'], -2):.0f} passages",
        "passages": passages(accuracy["passages"]), "chain": chain(accuracy["chain"]),
        "orders": orders(accuracy["orders"]), "through": through(accuracy["through"]),
        "machine": times["machine"], "priority": f"with priority (`chrt -f {times['priority']}`)" if times["priority"]
        else "without priority", "times": performance(times),
        "variants": variants(accuracy["variants"], times["variants"]), "jitter": jitter(times["jitter"])}

#!/usr/bin/env python3
"""run_blocks.py finds what is wrong with a page: each kind of block that does not work, and stale output.

usage: test_run_blocks.py LINKWORK
"""
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_blocks.py")
MODEL = "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"


def block(language, text):
    return "```%s\n%s\n```\n" % (language, text)


PRINTS = block("sh", "echo 3 bodies, 1.250 kg in 0.5 s of wall time; echo residual 1e-12")
GOOD = [
    (block("sh", "true"), "1 sh"),
    (block("yaml", MODEL), "1 yaml"),
    (block("python", "x = 1"), "1 python"),
    (block("python", "print(1 +\n 2)") + "<!-- output -->\n" + block("text", "3"), "1 output"),
    (block("c", "int f(void);"), "1 c"),
    ("<!-- with\nint main(void)\n{\n@block@\n}\n-->\n" + block("c", "return 0;"), "1 c"),
    (block("csv", "a,b\n1,2"), "1 csv"),
    (PRINTS + "<!-- output -->\n" + block("text", "3 bodies, 1.251 kg in 77 s of wall time\nresidual 8e-11"),
     "1 output"),
    (block("sh", "echo residual 1e-12") + "<!-- output -->\n" + block("text", "residual 0"), "1 output"),
    (block("sh", "echo 3 bodies 7; echo b; echo c") + "<!-- output -->\n" + block("text", "3 ... 7\n..."),
     "1 output"),
    (block("sh", "true") + "<!-- not run: so -->\n" + block("rust", "let x;"), "1 not run"),
    (block("", "plain") + block("sh", "true"), "1 plain text"),
    (block("sh", "true") + "    linkwork run MODEL --rtol 1e-6\n", "1 usage lines"),
]
BAD = [
    (block("sh", "false\ntrue"), "status 1"),
    (block("sh", "echo $UNSET_OF_THIS_TEST"), "status"),
    (block("yaml", MODEL.replace("mass: 1", "mass: -1")), "mass is -1"),
    (block("python", "x = "), "invalid syntax"),
    (block("python", "raise RuntimeError('so')"), "RuntimeError: so"),
    (block("c", "int f(void) { return g(); }"), "status 1"),
    (block("csv", "a,b\n1"), "not of equal length"),
    (block("rust", "let x;"), "nothing runs blocks of 'rust'"),
    ("<!-- not run: -->\n" + block("sh", "false"), "without a reason"),
    (block("sh", "echo 3 bodies") + "<!-- output -->\n" + block("text", "4 bodies"), "the page says"),
    (block("sh", "echo 3 bodies") + "<!-- output -->\n" + block("text", "3 joints"), "the page says"),
    (block("sh", "echo 1.25") + "<!-- output -->\n" + block("text", "1.30"), "the page says"),
    (block("sh", "echo a; echo b") + "<!-- output -->\n" + block("text", "a"), "the page does not have"),
    (block("sh", "true") + "    linkwork run MODEL --no-such-option 1\n", "no option --no-such-option"),
    (block("sh", "true") + "    linkwork nothing MODEL\n", "status 2"),
    ("nothing to run\n", "0 blocks run"),
]


def run(page):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "page.md"), "w", encoding="utf-8") as file:
            file.write(page)
        done = subprocess.run([sys.executable, RUNNER, "--program", PROGRAM, "--sources", folder, "--python",
                               sys.executable, "page.md"], check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    for page, expected in GOOD:
        status, text = run(page)
        assert status == 0 and expected in text, (page, expected, text)
    for page, expected in BAD:
        status, text = run(page)
        assert status == 1 and expected in text, (page, expected, text)
    print("%d pages that work, %d that do not" % (len(GOOD), len(BAD)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

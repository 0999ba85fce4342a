#!/usr/bin/env python3
"""Tests tools/check_figures.py on a small tree.

usage: test_check_figures.py ROOT
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
GOOD = """# Page
Steps of 0.01 s for 10 s, three times; at most 255 bytes. The chain has 128 bodies.

<!-- table x: made by tools/doc_tables.py -->

| a | 1.5 | 2.5 |
It takes 3.2 us.

<!-- end of table -->

```sh
echo 5 ms
```
"""
TYPED = ("It takes 3.2 us.", "One evaluation needs 1.5 to\n2 times as many.", "The page has 0.6 MB.", "It took 12 s.",
         "Set-up takes 39 % fewer.", "About 20 000 instructions.", "| a | 0.19 | 0.50 |", "0.8 to 1.2 of the time of one")
LIST = "# comment\nallow docs/page.md: at most 255 bytes\n"


def run(folder, page, budget, *options, status=0):
    for path, text in (("docs/page.md", page), ("tools/figures.list", budget)):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/check_figures.py"), "--root", folder, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == status, (page, options, done.returncode, done.stdout, done.stderr)
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        assert run(folder, GOOD, LIST) == ""
        for typed in TYPED:
            said = run(folder, GOOD + typed + "\n", LIST, status=1)
            assert "docs/page.md:14" in said, (typed, said)
            run(folder, GOOD + typed + "\n", LIST + "1 docs/page.md\n")
        assert "255 bytes" in run(folder, GOOD, "", status=1)
        assert "'at most 9 ms' is not in docs/page.md" in run(folder, GOOD, LIST + "allow docs/page.md: at most 9 ms\n",
                                                              status=1)
        # counts fall and never rise
        for before, after in (("5", "2"), ("2", "2"), ("1", "1")):
            run(folder, GOOD + TYPED[0] + "\n" + TYPED[2] + "\n", LIST + before + " docs/page.md\n", "--update",
                status=0 if before != "1" else 1)
            with open(os.path.join(folder, "tools/figures.list"), encoding="utf-8") as file:
                assert file.read() == LIST + after + " docs/page.md\n", (before, after)
        run(folder, GOOD, LIST + "3 docs/page.md\n", "--update")
        with open(os.path.join(folder, "tools/figures.list"), encoding="utf-8") as file:
            assert file.read() == LIST
    return 0


if __name__ == "__main__":
    sys.exit(main())
